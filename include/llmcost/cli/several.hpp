// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/cli/adapter_option.hpp>
#include <llmcost/cli/answers.hpp>
#include <llmcost/cli/figure_rows.hpp>
#include <llmcost/cli/question.hpp>
#include <llmcost/cli/row_problem.hpp>
#include <llmcost/cli/subject.hpp>
#include <llmcost/cli/sweep.hpp>
#include <llmcost/cli/tables.hpp>
#include <llmcost/cli/workload_columns.hpp>

// Several models or workloads in one table: a row each, with an error where one has no answer.
namespace llmcost::cli {

/// Bytes that the cache takes for one more token of a short sequence.
[[nodiscard]] inline count cache_bytes_per_token(const model& m, workload load) {
    if (!reads_sound_alone(m)) load = load.text_alone();
    load.batch = load.sequence = load.past = 1;
    const count two = count_model(m, load).cache_bytes;
    load.past = 0;
    return two - count_model(m, load).cache_bytes;
}

/// Whether a metric counts bytes.
[[nodiscard]] inline bool is_bytes(const metric& m) noexcept { return m.name.find("bytes") != std::string_view::npos; }

/// A figure of a table as a place in a picture.
struct plotted_figure {
    std::string line;  ///< what it belongs to
    double x = 0, y = 0;
};

/// Where a combination of lists stands in a picture: across it runs the longest one.
struct plotted_place {
    double x = 0;
    std::string others{};  ///< values of the other lists, each behind a line break
};
[[nodiscard]] inline plotted_place place_in(const sweep& work, std::size_t combination) {
    plotted_place out;
    for (std::size_t k = 0; k < work.axes().size(); ++k) {
        const std::int64_t value = work.axes()[k].values[work.place(combination, k)];
        if (k == work.longest())
            out.x = static_cast<double>(value);
        else
            out.others += '\n' + std::string(work.axes()[k].name()) + ' ' + grouped(count(value));
    }
    return out;
}

/// The table of a command line that names several models, or several workloads of one.
class several_table final : public subject_sink {
public:
    /// Understands a command line that asks something of a model, as `understand` does.
    using understanding = question (*)(const arguments&, const read_subject&, std::span<const command* const>);

    several_table(const sweep& work, const arguments& args, const program& io, understanding understand)
        : work_(work),
          args_(args),
          io_(io),
          understand_(understand),
          format_(static_cast<output_format>(args.choice(option::format))),
          rows_(io) {
        for (const std::string_view word : args.words())
            if (const metric* m = find_metric(word); m != nullptr && std::find(list_.begin(), list_.end(), m) == list_.end())
                list_.push_back(m);
        if (list_.empty()) {
            constexpr std::array<std::string_view, 4> of_models{"params", "active", "weight_bytes", "flops"};
            constexpr std::array<std::string_view, 4> of_work{"flops", "torch_flops", "act", "cache_bytes"};
            for (const std::string_view name : work.any() ? of_work : of_models) list_.push_back(find_metric(name));
        }
        caches_ = args.words().empty() && !work.any();
        exact_ = format_ == output_format::csv || format_ == output_format::json;
        rows_.add_column("name"), rows_.add_column("model_type");
        if (args.has(option::as)) rows_.add_column("as");
        if (args.has(option::adapter)) rows_.add_column("adapter");
        if (exact_) rows_.add_column("scope");
        said_ = columns_of_workload(args, work, exact_);
        for (const workload_column* c : said_)
            rows_.add_column(std::string(c->title), c->is_number() ? column_kind::number : column_kind::text);
        before_workload_ = rows_.columns() - said_.size();
        for (const metric* m : list_)
            rows_.add_column(std::string(m->name), is_bytes(*m) ? column_kind::bytes : column_kind::figure);
        if (caches_) rows_.add_column("cache_bytes_per_token", column_kind::bytes);
    }

    void put(const read_subject& read) override {
        if (args_.has(option::adapter) && read.subject.policy == nullptr) refuse(option::adapter.name, "takes one model");
        for (const option_row& o : {option::scopes, option::tensors, option::tree, option::unused, option::training})
            if (args_.has(o)) refuse(o.name, work_.any() ? "takes one workload" : "takes one model; several are a table");
        if (!work_.any()) return put(read, args_, 0);
        std::exception_ptr first;
        bool answered = false;
        for (std::size_t i = 0; i < work_.size(); ++i) {
            const arguments asked = work_.at(i);
            const std::string problem = detail::problem_of([&] {
                try {
                    put(read, asked, i);
                } catch (const error& e) {
                    if (e.code() == errc::usage && !first) first = std::current_exception();
                    throw;
                }
            });
            answered = answered || problem.empty();
            if (!problem.empty()) fail(read.found.who.name, problem, &asked);
        }
        if (!answered && first) std::rethrow_exception(first);
    }
    void fail(std::string name, std::string problem) override { fail(std::move(name), std::move(problem), nullptr); }

    /// The table, and notes on it to the standard error.
    [[nodiscard]] answered answer() {
        if (beyond_ > 0)
            io_.err << "llmcost: " << first_beyond_ << ": the tokens are beyond the model's context (" << beyond_ << " of "
                    << rows_.size() << (work_.any() ? " rows)\n" : " models)\n");
        return rows_.answer(format_);
    }
    /// The metrics that are its columns.
    [[nodiscard]] const std::vector<const metric*>& list() const noexcept { return list_; }
    /// Its figures of the metrics that count what the first one does, by what they belong to.
    [[nodiscard]] const std::vector<plotted_figure>& plotted() const noexcept { return plotted_; }
    /// The models that it has rows of.
    [[nodiscard]] const std::vector<std::string>& models() const noexcept { return models_; }

private:
    /// A row: a model at a workload.
    void put(const read_subject& read, const arguments& asked, std::size_t combination) {
        const question q = understand_(asked, read, io_.commands);
        const figures f = read_scope(q, list_).total.front();
        const std::string_view type = q.subject.kind->model_type;
        std::vector<std::string> row{q.who.name, q.who.type.value_or(std::string(type))};
        if (args_.has(option::as)) row.emplace_back(type);
        if (args_.has(option::adapter)) row.push_back(printable(args_.text(option::adapter)));
        if (exact_) row.push_back(printable(detail::name_of_scope(q)));
        for (const workload_column* c : said_) row.push_back(c->of(q, asked));
        const bool works = !q.asked.scope || q.asked.scope->kind != scope_kind::parameter;
        for (const metric* m : list_) row.push_back(works || is_parameter_metric(*m) ? digits(m->of(f)) : "");
        if (caches_) row.push_back(digits(cache_bytes_per_token(q.subject, q.work.base)));
        if (beyond_context(q.subject, longest_of(q.work, q.phases)) && ++beyond_ == 1) first_beyond_ = q.who.name;
        if (models_.empty() || models_.back() != q.who.name) models_.push_back(q.who.name);
        if (work_.any()) plot(q, f, combination);
        rows_.add(std::move(row));
    }
    void fail(std::string name, std::string problem, const arguments* asked) {
        std::vector<std::string> row(rows_.columns());
        row.front() = std::move(name);
        for (std::size_t i = 0; asked != nullptr && i < said_.size(); ++i)
            row[before_workload_ + i] = asked->text(said_[i]->option);
        rows_.add(std::move(row), std::move(problem));
    }
    /// Notes the figures of a row for a picture: across it runs the longest list.
    void plot(const question& q, const figures& f, std::size_t combination) {
        const std::string name = q.who.name, scope = q.asked.scope ? " of " + printable(q.asked.scope->word) : "";
        const plotted_place place = place_in(work_, combination);
        for (const metric* m : list_) {
            if (is_bytes(*m) != is_bytes(*list_.front())) continue;
            if (args_.words().empty() && m != list_.front()) continue;  // elements and FLOPs are no one axis
            plotted_.push_back(
                {name + '\n' + std::string(m->name) + scope + place.others, place.x, static_cast<double>(m->of(f))});
        }
    }
    const sweep& work_;
    const arguments& args_;
    const program& io_;
    understanding understand_;
    output_format format_;
    std::vector<const metric*> list_;
    std::vector<const workload_column*> said_;
    bool caches_ = false;              ///< the cache's column is there: nothing else was asked for
    bool exact_ = false;               ///< for scripts: a row says all of what it is of
    std::size_t before_workload_ = 0;  ///< columns
    figure_rows rows_;
    std::size_t beyond_ = 0;
    std::string first_beyond_;
    std::vector<std::string> models_;
    std::vector<plotted_figure> plotted_;
};

}  // namespace llmcost::cli
