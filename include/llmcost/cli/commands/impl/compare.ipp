// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/compare.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/bundled/bundled_config.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/find_metric.hpp>
#include <llmcost/cli/args/metric_query.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/selection.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/sweep.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/args/workload_request.hpp>
#include <llmcost/cli/commands/memory.hpp>
#include <llmcost/cli/commands/shell.hpp>
#include <llmcost/cli/commands/timed_operations.hpp>
#include <llmcost/cli/pages/compare_page.hpp>
#include <llmcost/cli/pages/model_table.hpp>
#include <llmcost/cli/pages/response.hpp>
#include <llmcost/cli/pages/sweep_plot.hpp>
#include <llmcost/cli/request/model_name.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/cli/request/parse_deployment.hpp>
#include <llmcost/cli/request/parse_request.hpp>
#include <llmcost/cli/request/rank_options.hpp>
#include <llmcost/cli/request/request.hpp>
#include <llmcost/cli/request/stored_weights.hpp>
#include <llmcost/cli/request/totals.hpp>
#include <llmcost/cli/request/workload_columns.hpp>
#include <llmcost/memory/inference.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/report/json_report.hpp>
#include <llmcost/report/metrics.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>
#include <llmcost/text/nearest_name.hpp>
#include <llmcost/trace/scope.hpp>

namespace llmcost::cli::detail {

/// Whether an argument is a metric, role, class, path or pattern, and not a model name.
LLMCOST_INLINE bool is_query_term(std::string_view name, const program& io) {
    if (find_metric(name) != nullptr || role_from(name) != role::none || name == "all") return true;
    const bool path = name.find('/') != std::string_view::npos || name.ends_with(".json") || name.ends_with(".gguf");
    const bool scope = name.find('*') != std::string_view::npos || name.find('.') != std::string_view::npos;
    return !path && scope && !is_model_argument(name, io);
}

/// Whether an argument is similar to a metric or role and is not the name of a known model.
LLMCOST_INLINE bool is_misspelled_query_term(std::string_view text, const program& io) {
    std::error_code none;
    if (text.find('/') != std::string_view::npos || is_model_argument(text, io) ||
        std::filesystem::exists(std::filesystem::path(std::string(text)), none))
        return false;
    name_suggestions near(text);
    for (const metric& m : metrics) near.add_candidate(m.name);
    for (const std::string_view name : role_names) near.add_candidate(name);
    return near.is_near();
}

LLMCOST_INLINE void comparing::add(const parsed_model& read) {
    try {
        compared_model out{read.found.name_of_model.name,
                           read.found.name_of_model.type.value_or(std::string(read.subject.spec->model_type))};
        for (std::size_t i = 0; i < work_.size(); ++i) {
            const arguments combination_args = work_.at(i);
            const request q = understand(combination_args, read, io_.commands);
            if (includes_weight_bytes(q.metrics)) require_known_layout(read);
            if (figures_.empty()) select_metrics(q);
            compared_work one{printable(name_of_scope(q)), {}, {}, {}};
            for (const workload_column* c : columns_of_workload(args_, work_, true))
                one.workload.push_back(c->format_value(q, combination_args));
            one.workload_label = make_workload_label(one.workload);
            one.values = values_of(q, read, combination_args);
            out.works.push_back(std::move(one));
        }
        models_.push_back(std::move(out));
    } catch (const error& e) {
        if (e.code() == errc::usage) problem_ = std::current_exception();
        throw;
    }
}

LLMCOST_INLINE void comparing::fail(std::string name, std::string problem) {
    if (problem_) std::rethrow_exception(problem_);
    throw error(errc::bad_value, name, problem);
}

LLMCOST_INLINE void comparing::select_metrics(const request& q) {
    const auto add = [&](std::string_view name, const metric* m, bool bytes) {
        figures_.push_back({std::string(name), m, bytes});
    };
    std::vector<const metric*> list = metrics_of(q.metrics, true, q.workload.base_workload.has_multimodal_inputs());
    if (q.metrics.metrics.empty()) {
        for (const std::string_view first :
             {"cache_bytes", "weight_bytes", "macs", "torch_flops", "active_flops", "flops", "active", "params"}) {
            const auto match = std::find(list.begin(), list.end(), find_metric(first));
            if (match != list.end()) std::rotate(list.begin(), match, match + 1);
        }
    }
    for (const metric* m : list) add(m->name, m, is_bytes(*m));
    if (!q.metrics.empty()) return;
    add(per_token, nullptr, true);
    add(total_memory, nullptr, true);
    if (!is_torch()) return;
    for (const std::string_view name : {device_time, host_time})
        figures_.push_back({.name = std::string(name), .is_nanoseconds = true});
}

LLMCOST_INLINE std::string comparing::make_workload_label(const std::vector<std::string>& values) const {
    std::string out;
    const auto columns = columns_of_workload(args_, work_, true);
    for (std::size_t i = 0; i < columns.size(); ++i)
        out += (out.empty() ? "" : ", ") + std::string(columns[i]->title) + ' ' +
               (columns[i]->is_number() ? grouped(values[i]) : values[i]);
    return out;
}

LLMCOST_INLINE std::vector<std::optional<count>> comparing::values_of(const request& q, const parsed_model& read,
                                                                      const arguments& combination_args) {
    std::vector<const metric*> list;
    for (const compared_figure& f : figures_)
        if (f.metric_definition != nullptr && f.name != "saved_bytes") list.push_back(f.metric_definition);
    const model_metrics f = compute_scope(q, list).total.front();
    const bool works = !q.metrics.scope || q.metrics.scope->kind != scope_kind::parameter;
    const bool is_forward_pass = q.workload.kind == workload_kind::forward_pass;
    std::optional<torch_step> step;
    if (is_torch() && is_forward_pass && q.metrics.empty())
        step = time_torch_pass(combination_args, deployment_of(combination_args, read, io_), q.workload.base_workload);
    std::vector<std::optional<count>> out;
    for (const compared_figure& figure : figures_) {
        std::optional<count>& value = out.emplace_back();
        if (figure.is_nanoseconds) {
            const auto nanoseconds = [](double seconds) {
                return count(static_cast<std::uint64_t>(1e9 * seconds + 0.5));
            };
            if (step) value = nanoseconds(figure.name == device_time ? step->device_seconds : step->host_seconds);
        } else if (figure.name == "saved_bytes") {
            if (is_forward_pass && q.workload.base_workload.past == 0)
                value = compute_scope(q, {figure.metric_definition}).total.front().saved_bytes;
        } else if (figure.metric_definition != nullptr) {
            if (works || is_parameter_metric(*figure.metric_definition)) value = figure.metric_definition->value_of(f);
        } else if (figure.name == per_token) {
            value = cache_bytes_per_token(q.model, q.workload.base_workload);
        } else if (is_forward_pass) {
            workload load = q.workload.base_workload;
            load.head = logits::last;
            value = ranks_of(q.model, read.stored, load, profile_for_model(engine_memory_, args_, q.model, load))
                        .largest(load)
                        .total_bytes();
        }
    }
    return out;
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE command_output run_compare(const arguments& typed, const program& io) {
    arguments args = typed;
    std::size_t names = 0;
    if (!args.has(option::model) && !args.has(option::config))
        while (names < args.positional().size() && !detail::is_query_term(args.positional()[names], io) &&
               !(names > 1 && detail::is_misspelled_query_term(args.positional()[names], io)))
            ++names;
    args.require_positional(option::model, names);
    if (args.text(option::allocator) == torch_engine_name) {
        if (!args.has(option::device)) throw_usage("--engine", "torch requires --device");
    } else {
        for (const option_spec& o : {option::device, option::torch_execution, option::torch_host, option::tf32,
                                     option::precision, option::implementation})
            if (args.has(o)) throw_usage(o.name, "requires --engine torch");
    }
    const workload_sweep work(args, swept_options);
    (void)parse_workload(work.at(0));
    check_plot(args, true, {});
    detail::comparing models(work, args, io);
    if (!io.read_each(args, io, models)) throw_usage("compare", "requires at least two models: llmcost compare A B");
    return written_comparison(std::move(models).take(), args, work);
}

LLMCOST_INLINE std::vector<std::string_view> compare_completions(const program& io) {
    std::vector<std::string_view> completions = bundled_names(io);
    for (const metric& m : metrics) completions.push_back(m.name);
    for (const std::string_view name : role_names)
        if (role_from(name) != role::none) completions.push_back(name);
    return completions;
}

}  // namespace llmcost::cli
