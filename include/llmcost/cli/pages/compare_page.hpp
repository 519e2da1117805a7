// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/sweep.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/pages/model_table.hpp>
#include <llmcost/cli/pages/sweep_plot.hpp>
#include <llmcost/cli/request/workload_columns.hpp>
#include <llmcost/report/chart.hpp>
#include <llmcost/report/json_writer.hpp>
#include <llmcost/report/metrics.hpp>

// The output of `llmcost compare`: text, tables, JSON and charts.
namespace llmcost::cli {

/// A compared figure.
struct compared_figure {
    std::string name;
    const metric* metric_definition = nullptr;  ///< null if the figure is not a metric
    bool bytes = false;
    bool is_nanoseconds = false;

    /// A value with its unit.
    [[nodiscard]] std::string text(count value) const;
};

/// The figures of one model at one workload; a figure that the model does not have is empty.
struct compared_work {
    std::string scope;
    std::vector<std::string> workload;
    std::string workload_label;
    std::vector<std::optional<count>> values;
};

struct compared_model {
    std::string name, type;
    std::vector<compared_work> works{};
};

struct comparison {
    std::vector<compared_model> models;
    std::vector<compared_figure> figures;
    std::vector<const workload_column*> columns;
    bool swept = false;

    [[nodiscard]] std::optional<count> at(std::size_t model, std::size_t work, std::size_t figure) const {
        return models[model].works[work].values[figure];
    }
    /// The ratio to the first model; none if the figure of the first model is 0 or missing.
    [[nodiscard]] std::optional<double> ratio(std::size_t model, std::size_t work, std::size_t figure) const;
    /// Whether the figure is not 0 for at least one model.
    [[nodiscard]] bool has(std::size_t work, std::size_t figure) const;
};

namespace detail {

/// The signed difference from the first model, formatted by `write`; empty if a figure is missing.
template <class Write>
std::string difference_of(const comparison& c, std::size_t model, std::size_t work, std::size_t figure,
                          const char* minus, Write write) {
    const auto a = c.at(0, work, figure), b = c.at(model, work, figure);
    if (!a || !b) return {};
    return *b < *a ? minus + write(*a - *b) : write(*b - *a);
}

}  // namespace detail

/// A comparison in the requested format, with its chart.
[[nodiscard]] command_output written_comparison(const comparison& c, const arguments& args, const workload_sweep& work);

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/pages/impl/compare_page.ipp>  // IWYU pragma: export
#endif
