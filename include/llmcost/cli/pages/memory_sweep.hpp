// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/cli/args/row_error.hpp>
#include <llmcost/cli/args/sweep.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/pages/figure_rows.hpp>
#include <llmcost/cli/pages/sweep_plot.hpp>
#include <llmcost/cli/request/memory_fit.hpp>

// A table of the memory of several workloads, and whether each one fits.
namespace llmcost::cli {

/// The memory of all combinations of the lists in a command line, as a table with an optional chart.
///
/// `load_of(args)` returns the workload of a combination. `row_of(args, load)` returns its bytes in the order of
/// `names`; the last one is the total.
template <class LoadOf, class RowOf>
[[nodiscard]] command_output swept_bytes(const arguments& args, const program& io, const workload_sweep& work,
                                         const std::string& model, const memory_limit& limit,
                                         std::span<const std::string_view> names, LoadOf load_of, RowOf row_of) {
    const auto format = static_cast<output_format>(args.choice(option::format));
    const bool exact = format == output_format::csv || format == output_format::json;
    struct part {
        option_spec option;
        std::int64_t workload::*member;
    };
    std::vector<part> parts;
    for (const part& p : {part{option::batch, &workload::batch},
                          {option::sequence, &workload::sequence},
                          {option::past, &workload::past},
                          {option::encoder_sequence, &workload::encoder_sequence}}) {
        const bool usual = p.option.is(option::sequence);
        const bool is_explicit =
            exact && has_option(args.options(), p.option.name) && !p.option.is(option::encoder_sequence);
        if (usual || is_explicit || args.has(p.option)) parts.push_back(p);
    }
    figure_rows rows(io);
    rows.add_column("name");
    for (const part& p : parts) rows.add_column(std::string(p.option.name.substr(2)), column_kind::number);
    for (const std::string_view name : names) rows.add_column(std::string(name), column_kind::bytes);
    if (limit.is_set()) rows.add_column("fits", column_kind::truth);
    std::vector<plotted_figure> plotted;
    bool fits = true, answered_any = false;
    std::exception_ptr first;
    for (std::size_t i = 0; i < work.size(); ++i) {
        const arguments combination_args = work.at(i);
        const workload load = load_of(combination_args);
        std::vector<std::string> row{model};
        for (const part& p : parts) row.push_back(std::to_string(load.*p.member));
        std::string problem = detail::problem_of([&] {
            try {
                const std::vector<count> bytes = row_of(combination_args, load);
                const plot_position place = place_in(work, i);
                for (std::size_t k = 0; k < bytes.size(); ++k) {
                    row.push_back(digits(bytes[k]));
                    if (work.axes().size() == 1 || k + 1 == bytes.size())
                        plotted.push_back({model + '\n' + std::string(names[k]) + place.other_values, place.x,
                                           static_cast<double>(bytes[k])});
                }
                fits = fits && (!limit.is_set() || limit.fits(bytes.back()));
                if (limit.is_set()) row.emplace_back(limit.fits(bytes.back()) ? "true" : "false");
            } catch (const error& e) {
                if (e.code() == errc::usage && !first) first = std::current_exception();
                throw;
            }
        });
        answered_any = answered_any || problem.empty();
        rows.add(std::move(row), std::move(problem));
    }
    if (!answered_any && first) std::rethrow_exception(first);
    command_output out = rows.answer(format, fits ? exit_code::ok : exit_code::does_not_fit);
    std::vector<chart_limit> limits;
    if (limit.is_set()) limits.push_back({limit.label, static_cast<double>(limit.bytes)});
    if (args.has(option::plot)) add_plot(out, args, chart_of(work, plotted, "bytes", true), limits);
    return out;
}

}  // namespace llmcost::cli
