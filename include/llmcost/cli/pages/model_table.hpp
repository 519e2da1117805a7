// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/command.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/sweep.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/pages/figure_rows.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/cli/request/request.hpp>
#include <llmcost/cli/request/workload_columns.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/report/metrics.hpp>

// A table of several models or workloads, one row each. A row without a result has an error.
namespace llmcost::cli {

/// The KV cache bytes of one more token of a short sequence.
[[nodiscard]] count cache_bytes_per_token(const model& m, workload load);

/// Whether a metric counts bytes.
[[nodiscard]] inline bool is_bytes(const metric& m) noexcept { return m.name.find("bytes") != std::string_view::npos; }

/// A figure of a table as a point of a chart.
struct plotted_figure {
    std::string line;  ///< name of the line
    double x = 0, y = 0;
};

/// The position of a combination of lists in a chart: the x axis is the longest list.
struct plot_position {
    double x = 0;
    std::string other_values{};  ///< values of the other lists, each preceded by a line break
};
[[nodiscard]] plot_position place_in(const workload_sweep& work, std::size_t combination);

/// The table of several models, or of several workloads of one model.
class model_table final : public model_sink {
public:
    /// Parses the request of a model, as `understand` does.
    using understanding = request (*)(const arguments&, const parsed_model&, std::span<const command* const>);

    model_table(const workload_sweep& work, const arguments& args, const program& io, understanding understand);

    void add(const parsed_model& read) override;
    void fail(std::string name, std::string problem) override { fail(std::move(name), std::move(problem), nullptr); }

    /// The table; prints its warnings to stderr.
    [[nodiscard]] command_output answer();
    /// The metrics of the columns.
    [[nodiscard]] const std::vector<const metric*>& list() const noexcept { return list_; }
    /// The figures of all metrics with the unit of the first one.
    [[nodiscard]] const std::vector<plotted_figure>& plotted() const noexcept { return plotted_; }
    /// The models of the rows.
    [[nodiscard]] const std::vector<std::string>& models() const noexcept { return models_; }

private:
    /// Adds a row: a model at a workload.
    void add_row(const parsed_model& read, const arguments& combination_args, std::size_t combination);
    void fail(std::string name, std::string problem, const arguments* combination_args);
    /// Adds the figures of a row to the chart; its x axis is the longest list.
    void plot(const request& q, const model_metrics& f, std::size_t combination);
    const workload_sweep& work_;
    const arguments& args_;
    const program& io_;
    understanding understand_;
    output_format format_;
    std::vector<const metric*> list_;
    std::vector<const workload_column*> workload_columns_;
    bool has_cache_column_ = false;        ///< the table has the default columns, with KV cache bytes
    bool has_all_keys_ = false;            ///< output for scripts: each row has all its keys
    std::size_t num_leading_columns_ = 0;  ///< number of columns before those of the workload
    figure_rows rows_;
    std::size_t num_exceeding_context_ = 0;
    std::string first_exceeding_context_;
    std::vector<std::string> models_;
    std::vector<plotted_figure> plotted_;
};

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/pages/impl/model_table.ipp>  // IWYU pragma: export
#endif
