// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/pages/model_table.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/analysis/minimal_workload.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/find_metric.hpp>
#include <llmcost/cli/args/metric_query.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/row_error.hpp>
#include <llmcost/cli/args/selection.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/sweep.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/args/workload_request.hpp>
#include <llmcost/cli/pages/figure_rows.hpp>
#include <llmcost/cli/pages/response.hpp>
#include <llmcost/cli/request/adapter_option.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/cli/request/request.hpp>
#include <llmcost/cli/request/stored_weights.hpp>
#include <llmcost/cli/request/totals.hpp>
#include <llmcost/cli/request/workload_columns.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/report/json_report.hpp>
#include <llmcost/report/metrics.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>
#include <llmcost/trace/scope.hpp>

namespace llmcost::cli {

LLMCOST_INLINE count cache_bytes_per_token(const model& m, workload load) {
    if (!is_audio_only(m)) load = load.without_multimodal_inputs();
    load.batch = load.sequence = load.past = 1;
    const count two = count_model(m, load).cache_bytes;
    load.past = 0;
    return two - count_model(m, load).cache_bytes;
}

LLMCOST_INLINE plot_position place_in(const workload_sweep& work, std::size_t combination) {
    plot_position out;
    for (std::size_t k = 0; k < work.axes().size(); ++k) {
        const std::int64_t value = work.axes()[k].values[work.place(combination, k)];
        if (k == work.max_length())
            out.x = static_cast<double>(value);
        else
            out.other_values += '\n' + std::string(work.axes()[k].name()) + ' ' + grouped(count(value));
    }
    return out;
}

LLMCOST_INLINE model_table::model_table(const workload_sweep& work, const arguments& args, const program& io,
                                        understanding understand)
    : work_(work),
      args_(args),
      io_(io),
      understand_(understand),
      format_(static_cast<output_format>(args.choice(option::format))),
      rows_(io) {
    for (const std::string_view text : args.positional())
        if (const metric* m = find_metric(text);
            m != nullptr && std::find(list_.begin(), list_.end(), m) == list_.end())
            list_.push_back(m);
    if (list_.empty()) {
        constexpr std::array<std::string_view, 4> of_models{"params", "active", "weight_bytes", "flops"};
        constexpr std::array<std::string_view, 4> of_work{"flops", "torch_flops", "act", "cache_bytes"};
        for (const std::string_view name : work.has_axes() ? of_work : of_models) list_.push_back(find_metric(name));
    }
    has_cache_column_ = args.positional().empty() && !work.has_axes();
    has_all_keys_ = format_ == output_format::csv || format_ == output_format::json;
    rows_.add_column("name");
    rows_.add_column("model_type");
    if (args.has(option::read_as_type)) rows_.add_column("as");
    if (args.has(option::adapter)) rows_.add_column("adapter");
    if (has_all_keys_) rows_.add_column("scope");
    workload_columns_ = columns_of_workload(args, work, has_all_keys_);
    for (const workload_column* c : workload_columns_)
        rows_.add_column(std::string(c->title), c->is_number() ? column_kind::number : column_kind::text);
    num_leading_columns_ = rows_.columns() - workload_columns_.size();
    for (const metric* m : list_)
        rows_.add_column(std::string(m->name), is_bytes(*m) ? column_kind::bytes : column_kind::figure);
    if (has_cache_column_) rows_.add_column("cache_bytes_per_token", column_kind::bytes);
}

LLMCOST_INLINE void model_table::add(const parsed_model& read) {
    if (args_.has(option::adapter) && read.subject.policy == nullptr)
        throw_usage(option::adapter.name, "supports only one model");
    for (const option_spec& o : {option::scopes, option::tensors, option::tree, option::unused, option::training})
        if (args_.has(o))
            throw_usage(o.name, work_.has_axes() ? "supports only one workload"
                                                 : "supports only one model; several models are a table");
    if (!work_.has_axes()) return add_row(read, args_, 0);
    std::exception_ptr first;
    bool answered = false;
    for (std::size_t i = 0; i < work_.size(); ++i) {
        const arguments combination_args = work_.at(i);
        const std::string problem = detail::problem_of([&] {
            try {
                add_row(read, combination_args, i);
            } catch (const error& e) {
                if (e.code() == errc::usage && !first) first = std::current_exception();
                throw;
            }
        });
        answered = answered || problem.empty();
        if (!problem.empty()) fail(read.found.name_of_model.name, problem, &combination_args);
    }
    if (!answered && first) std::rethrow_exception(first);
}

LLMCOST_INLINE command_output model_table::answer() {
    if (num_exceeding_context_ > 0)
        io_.err << "llmcost: warning: " << first_exceeding_context_ << ": the context length of the model is exceeded ("
                << num_exceeding_context_ << " of " << rows_.size() << (work_.has_axes() ? " rows)\n" : " models)\n");
    return rows_.answer(format_);
}

LLMCOST_INLINE void model_table::add_row(const parsed_model& read, const arguments& combination_args,
                                         std::size_t combination) {
    const request q = understand_(combination_args, read, io_.commands);
    if (includes_weight_bytes(q.metrics)) require_known_layout(read);
    const model_metrics f = compute_scope(q, list_).total.front();
    const std::string_view type = q.model.spec->model_type;
    std::vector<std::string> row{q.name_of_model.name, q.name_of_model.type.value_or(std::string(type))};
    if (args_.has(option::read_as_type)) row.emplace_back(type);
    if (args_.has(option::adapter)) row.push_back(printable(args_.text(option::adapter)));
    if (has_all_keys_) row.push_back(printable(detail::name_of_scope(q)));
    for (const workload_column* c : workload_columns_) row.push_back(c->format_value(q, combination_args));
    const bool works = !q.metrics.scope || q.metrics.scope->kind != scope_kind::parameter;
    for (const metric* m : list_) row.push_back(works || is_parameter_metric(*m) ? digits(m->value_of(f)) : "");
    if (has_cache_column_) row.push_back(digits(cache_bytes_per_token(q.model, q.workload.base_workload)));
    if (exceeds_context(q.model, longest_sequence(q.workload, q.phases)) && ++num_exceeding_context_ == 1)
        first_exceeding_context_ = q.name_of_model.name;
    if (models_.empty() || models_.back() != q.name_of_model.name) models_.push_back(q.name_of_model.name);
    if (work_.has_axes()) plot(q, f, combination);
    rows_.add(std::move(row));
}

LLMCOST_INLINE void model_table::fail(std::string name, std::string problem, const arguments* combination_args) {
    std::vector<std::string> row(rows_.columns());
    row.front() = std::move(name);
    for (std::size_t i = 0; combination_args != nullptr && i < workload_columns_.size(); ++i)
        row[num_leading_columns_ + i] = combination_args->text(workload_columns_[i]->option);
    rows_.add(std::move(row), std::move(problem));
}

LLMCOST_INLINE void model_table::plot(const request& q, const model_metrics& f, std::size_t combination) {
    const std::string name = q.name_of_model.name,
                      scope = q.metrics.scope ? " of " + printable(q.metrics.scope->name) : "";
    const plot_position place = place_in(work_, combination);
    for (const metric* m : list_) {
        if (is_bytes(*m) != is_bytes(*list_.front())) continue;
        if (args_.positional().empty() && m != list_.front()) continue;  // elements and FLOPs cannot share an axis
        plotted_.push_back({name + '\n' + std::string(m->name) + scope + place.other_values, place.x,
                            static_cast<double>(m->value_of(f))});
    }
}

}  // namespace llmcost::cli
