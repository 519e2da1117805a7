// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/cli/adapter_option.hpp>
#include <llmcost/cli/question.hpp>
#include <llmcost/cli/row_problem.hpp>
#include <llmcost/cli/subject.hpp>
#include <llmcost/cli/tables.hpp>
#include <llmcost/report/json_writer.hpp>

// Several models in one table: a row each, with an error where one has no answer.
namespace llmcost::cli {

/// Bytes that the cache takes for one more token of a short sequence.
[[nodiscard]] inline count cache_bytes_per_token(const model& m, workload load) {
    load.batch = load.sequence = load.past = 1;
    const count two = count_model(m, load).cache_bytes;
    load.past = 0;
    return two - count_model(m, load).cache_bytes;
}

/// The table of a command line that names several models.
class several_table final : public subject_sink {
public:
    /// Understands a command line that asks something of a model, as `understand` does.
    using understanding = question (*)(const arguments&, const read_subject&, std::span<const command* const>);

    several_table(const arguments& args, const program& io, understanding understand)
        : args_(args), io_(io), understand_(understand), format_(static_cast<output_format>(args.choice(option::format))) {
        for (const std::string_view word : args.words())
            if (const metric* m = find_metric(word); m != nullptr && std::find(list_.begin(), list_.end(), m) == list_.end())
                list_.push_back(m);
        if (list_.empty())
            for (const std::string_view name : {"params", "active", "weight_bytes", "flops"})
                list_.push_back(find_metric(name));
        caches_ = args.words().empty();
        sequence_ = !args.has(option::requests) && !args.has(option::input);
        table_.columns = {{"name"}, {"model_type"}};
        if (args.has(option::as)) table_.columns.push_back({"as"});
        if (sequence_) table_.columns.push_back({"sequence", true});
        for (const metric* m : list_) table_.columns.push_back({std::string(m->name), true});
        if (caches_) table_.columns.push_back({"cache_bytes_per_token", true});
    }

    void put(const read_subject& read) override {
        for (const option_row& o : {option::scopes, option::tensors, option::tree, option::unused, option::training, option::adapter})
            if (args_.has(o)) refuse(o.name, "is of one model; several are a table");
        const question q = understand_(args_, read, io_.commands);
        const figures f = read_scope(q, list_).total.front();
        const std::string_view type = q.subject.kind->model_type;
        std::vector<std::string> row{q.who.name, q.who.type.value_or(std::string(type))};
        if (args_.has(option::as)) row.emplace_back(type);
        if (sequence_) row.push_back(std::to_string(q.work.base.sequence));
        const bool works = !q.asked.scope || q.asked.scope->kind != scope_kind::parameter;
        for (const metric* m : list_) row.push_back(works || is_parameter_metric(*m) ? digits(m->of(f)) : "");
        if (caches_) row.push_back(digits(cache_bytes_per_token(q.subject, q.work.base)));
        if (beyond_context(q.subject, longest_of(q.work, q.phases)) && ++beyond_ == 1) first_beyond_ = q.who.name;
        add(std::move(row), {});
    }
    void fail(std::string name, std::string problem) override {
        if (++failed_ == 1) first_failed_ = name + ": " + problem;
        std::vector<std::string> row(table_.columns.size());
        row.front() = std::move(name);
        add(std::move(row), std::move(problem));
    }
    /// The table, and notes on it to the standard error.
    [[nodiscard]] answered answer() {
        if (beyond_ > 0)
            io_.err << "llmcost: " << first_beyond_ << ": the tokens are beyond the model's context (" << beyond_ << " of "
                    << table_.rows.size() << " models)\n";
        if (failed_ > 0) detail::note_on_rows(io_.err, first_failed_, failed_, table_.rows.size());
        return {text(), failed_ > 0 ? exit_code::rows : exit_code::ok};
    }

private:
    void add(std::vector<std::string> row, std::string problem) {
        table_.rows.push_back(std::move(row));
        errors_.push_back(std::move(problem));
    }
    std::string text() {
        if (format_ == output_format::json) return lines();
        if (format_ == output_format::text) scale();
        if (format_ == output_format::csv || failed_ > 0) {
            table_.columns.push_back({"error"});
            for (std::size_t i = 0; i < errors_.size(); ++i) table_.rows[i].push_back(std::move(errors_[i]));
        }
        return written(table_, format_);
    }
    /// Three digits and units for people; columns stay on the right.
    void scale() {
        for (std::size_t c = 0; c < table_.columns.size(); ++c) {
            table::column& column = table_.columns[c];
            if (!column.number || column.title == "sequence") continue;
            const bool bytes = column.title.find("bytes") != std::string::npos;
            std::size_t wide = column.title.size();
            for (auto& row : table_.rows) {
                if (!row[c].empty()) row[c] = bytes ? in_bytes(read_digits(row[c])) : scaled(read_digits(row[c]));
                wide = std::max(wide, width_of(row[c]));
            }
            for (auto& row : table_.rows) row[c] = right(row[c], wide);
            column = {right(column.title, wide)};
        }
    }
    static count read_digits(std::string_view text) {
        count n;
        for (const char c : text) n = n * count(10) + count(c - '0');
        return n;
    }
    /// One JSON object on a line for each model.
    [[nodiscard]] std::string lines() const {
        std::string out;
        for (std::size_t i = 0; i < table_.rows.size(); ++i) {
            json_writer json(0);
            json.object();
            for (std::size_t c = 0; c < table_.columns.size(); ++c) {
                const std::string& cell = table_.rows[i][c];
                json.key(table_.columns[c].title);
                if (cell.empty())
                    json.null();
                else if (table_.columns[c].number)
                    json.value(read_digits(cell));
                else
                    json.value(cell);
            }
            json.key("error");
            if (errors_[i].empty())
                json.null();
            else
                json.value(errors_[i]);
            out += json.end_object().text() + '\n';
        }
        return out;
    }

    const arguments& args_;
    const program& io_;
    understanding understand_;
    output_format format_;
    std::vector<const metric*> list_;
    bool caches_ = false;    ///< the cache's column is there: nothing else was asked for
    bool sequence_ = false;  ///< the work is one pass
    table table_;
    std::vector<std::string> errors_;
    std::size_t failed_ = 0, beyond_ = 0;
    std::string first_failed_, first_beyond_;
};

}  // namespace llmcost::cli
