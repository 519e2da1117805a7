// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/command.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/commands/ops_options.hpp>
#include <llmcost/cli/commands/plotted_pass.hpp>
#include <llmcost/graph/operator_table.hpp>
#include <llmcost/report/metrics.hpp>
#include <llmcost/text/messages.hpp>

// `llmcost ops`: the operations of a pass.
namespace llmcost::cli {

namespace detail {

/// The sort key of rows, largest first.
bool precedes(sort_field field, const operator_costs& a, const operator_costs& b);

/// Filters and sorts the rows as the command line requests. Throws: `usage` if no row matches.
template <class Row, class Has>
void choose_rows(std::vector<Row>& rows, const arguments& args, Has has) {
    if (args.has(option::filter)) {
        const std::string_view name = args.text(option::filter);
        std::erase_if(rows, [&](const Row& row) { return !has(row, name); });
        if (rows.empty()) throw_usage("--filter", "no name, operation or class contains " + quote(name));
    }
    if (args.has(option::sort)) {
        const auto field = static_cast<sort_field>(args.choice(option::sort));
        std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
            return field == sort_field::name ? a.name < b.name : precedes(field, a.costs, b.costs);
        });
    }
    const auto maximum = static_cast<std::size_t>(args.number(option::largest, max_input));
    if (rows.size() > maximum) rows.resize(maximum);
}

/// The cost columns: a few in text, all in the other formats.
class cost_columns {
public:
    cost_columns(bool all, bool has_saved, bool timed, double total_seconds)
        : has_all_columns_(all), has_saved_(has_saved), has_times_(timed), total_seconds_(total_seconds) {}

    void titles(table& t) const;
    /// Adds the costs to a row. `moves`: the numbers of bytes are known.
    void append(std::vector<std::string>& row, const operator_costs& c, bool moves = true) const;

private:
    bool has_all_columns_, has_saved_, has_times_;
    double total_seconds_;
};

/// The options of `llmcost ops` in addition to those of the pass.
struct requested_rows {
    table_options choice{};
    bool grouped = false;
    row_group group_by = row_group::kind;
    output_format format = output_format::text;
};

}  // namespace detail

/// Runs `llmcost ops`.
[[nodiscard]] command_output run_ops(const arguments& args, const program& io);

inline constexpr std::array ops_options =
    concatenate(pass_options,
                with_section("Training", std::array{option::backward,
                                                    with_help(option::training,
                                                              "of --engine torch: a training step, with its loss and "
                                                              "optimizer"),
                                                    option::optimizer}),
                with_section("Output", std::array{option::bookkeeping, option::expand, option::group, option::sort,
                                                  option::filter, option::largest, option::format}),
                help_option);

inline constexpr std::array<command_example, 4> ops_examples{{
    {"llmcost ops --model openai-community/gpt2 --batch 4", "one row per operation; equal layers are combined"},
    {"llmcost ops --model Qwen/Qwen3-8B --device h200 --sort time --top 10", "the ten slowest operations"},
    {"llmcost ops --model Qwen/Qwen3-8B --backward --group kind --sort kept",
     "bytes saved for backward, by operation type"},
    {"llmcost ops --model Qwen/Qwen3-0.6B --device h200 --engine torch --training --sort time --top 20",
     "the slowest operators of a training step, as PyTorch's profiler lists them"},
}};

inline constexpr command ops_command{
    .name = "ops",
    .summary = "List the operations of a pass: shapes, FLOPs, bytes, time",
    .usage = "(--model NAME | --config FILE) [options]",
    .description =
        "Computes the operations of a forward pass as the reference implementation executes them: shapes,\n"
        "FLOPs, bytes and arithmetic intensity. With --device, estimates the time of each operation.\n"
        "With --engine torch, lists the ATen operators as PyTorch's profiler does.\n",
    .options = ops_options,
    .run = run_ops,
    .examples = ops_examples};

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/ops.ipp>  // IWYU pragma: export
#endif
