// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <istream>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/bundled/bundled_config.hpp>
#include <llmcost/cli/args/csv_input.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/commands/run_layout.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/config/model_registry.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/json.hpp>
#include <llmcost/kernels/kernel_library.hpp>
#include <llmcost/latency/operand_types.hpp>
#include <llmcost/memory/parallel_config.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/serving/default_execution.hpp>
#include <llmcost/serving/engine_calibration.hpp>
#include <llmcost/serving/engines.hpp>
#include <llmcost/serving/server.hpp>
#include <llmcost/serving/step.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::cli {

/// A benchmark run of a server: one row of the table.
struct benchmark_run {
    server* target_server = nullptr;
    const engine* target_engine = nullptr;
    const device* target_device = nullptr;
    kernel_source* kernels = nullptr;
    const llmcost::model* subject = nullptr;
    serving_load load{};
    std::int64_t devices = 1;
    std::string model;
};

/// The largest fraction of device memory that a published recipe sets for weights that leave too little by default.
///
/// Source: SemiAnalysisAI/InferenceX, benchmarks/dsr1_fp8_b200.sh: DeepSeek-R1 in fp8 on four B200, SGLang with
/// `--mem-fraction-static 0.95`.
inline constexpr double largest_memory_share = 0.95;

/// The error message if weights and the KV cache of one request exceed the device memory; empty if they fit.
///
/// Suggests `--memory-share` if they fit with `largest_memory_share`.
/// Throws: `usage` if input and output tokens exceed the range of a 32-bit integer.
std::string out_of_memory_message(server& server, const serving_load& load, const device& target_device);

/// Predictions of benchmark runs, row by row. The input is CSV; docs/cli.md lists the columns.
class serve_table {
public:
    /// `folder` contains `org__name.json` for each model_path that is not `bundled`. `network` is the bandwidth between
    /// nodes in GB/s per device; 0: unknown.
    serve_table(std::string folder, std::string calibration, const model_registry& known, double network = 0,
                std::span<const bundled_config> bundled = {})
        : folder_(std::move(folder)),
          calibration_(std::move(calibration)),
          registry_(known),
          bundled_(bundled),
          network_(network) {}

    /// Evaluates kernels with these factors, and engines with their shipped constants, instead of a calibration.
    void set_time_factors(const kernel_time_factors& factors) { time_factors_ = factors; }
    /// Appends `predicted_ttft_ms`, `predicted_tpot_ms` and `error` to each row (`answer_rows`). A model that does not
    /// fit into the device memory is a valid result, which `error` and a warning report.
    [[nodiscard]] command_output write_predictions(std::istream& in, std::ostream& notes);

    /// Reads the header line. Throws: `usage` for duplicate and missing columns.
    std::string read_header(std::istream& in);
    /// Reads the next non-empty row; returns false at the end of the input.
    bool next(std::istream& in) { return rows_.next(in); }
    /// A field of the current row; empty if the row or the table has no such column.
    [[nodiscard]] std::string field(std::string_view name) const;
    /// The benchmark run of the current row. Throws: `usage`, with the line number.
    [[nodiscard]] benchmark_run current();

private:
    /// Whether the table reads a column of this name.
    static bool is_read(std::string_view name);
    /// A row is a run that happened. If it does not fit with the default fraction of the device memory, but with
    /// `largest_memory_share`, its engine is assumed to have had this option.
    void write_row_predictions(std::string& out, const benchmark_run& run, std::ostream& notes);
    /// The result of `make()`. Reports a position limit with the names of the columns.
    /// Throws: `usage`, and the errors of `make`.
    template <class Make>
    static auto of_row(const Make& make) -> decltype(make()) {
        try {
            return make();
        } catch (const workload_error& e) {
            throw_usage({}, "isl and osl require " + std::to_string(e.requested_positions()) +
                                " positions; the model has " + std::to_string(e.max_positions()));
        }
    }
    [[nodiscard]] std::int64_t number(std::string_view name, std::int64_t default_value) const;
    struct known_model {
        config_document file;
        model subject;
        checkpoint_types stored;
        std::string unsupported_types;  ///< why the types of the checkpoint are unknown; empty: they are known
    };
    /// The configuration of `folder`, otherwise the bundled one. Throws: `usage`, `config_error`.
    const known_model& model_of_row(const std::string& path);
    /// The operand type of a row. The type of the checkpoint replaces a missing type, and fp8 if it is fp8_block.
    /// It also replaces nvfp4 if it is w4a16_mxfp4 and the device does not support fp4.
    static const operand_type* operand(std::string_view column, const std::string& type_name,
                                       const operand_type* stored, const device& target_device);
    /// An engine on a system for a model, with its calibration if there is one.
    struct system_engine {
        llmcost::engine engine{};
        std::unique_ptr<kernel_library> kernels{};
    };
    system_engine& engine_of(const std::string& system, const engine& engine, const std::string& model);
    /// The calibration of an engine on a system; none if there is none, or if it is of others, with a note.
    const std::optional<engine_calibration>& calibration_of(const std::string& system, const engine& engine,
                                                            kernel_library& kernels);
    /// The element types in which the engine runs the current row (`executed_type_of`). Throws: `usage`.
    checkpoint_types types_of_row(const known_model& m, const engine& engine, const device& target_device,
                                  kernel_library& kernels) const;
    /// The engine of the current row; vllm by default. `dynamo-trt` is TensorRT-LLM with the frontend of Dynamo.
    ///
    /// Source: SemiAnalysisAI/InferenceX, .github/configs/nvidia-master.yaml, `framework`.
    [[nodiscard]] std::string engine_name_of_row() const;
    /// The layout of the current row, of its id if the columns contradict it. Throws: `usage`.
    run_layout layout_of_row();
    /// The parallelism of the current row. Throws: `usage` if the model does not support it.
    parallel_config parallel_of_row(const model& subject, const run_layout& layout) const;
    /// The load of the current row. Throws: `usage`.
    serving_load load_of_row(const run_layout& layout) const;
    /// The benchmark run of the current row. Servers are cached. Throws: `usage`.
    benchmark_run read_row();

    /// The device, with the bandwidth between nodes if it is known.
    const device& networked(const device& target_device);

    using server_key = std::tuple<std::string, std::string, std::string, const operand_type*, const operand_type*,
                                  std::array<std::int64_t, 4>>;
    std::string folder_, calibration_;
    model_registry registry_;
    std::span<const bundled_config> bundled_;
    double network_ = 0;
    std::map<std::string, device> devices_;
    csv_input rows_;
    std::map<std::string, std::size_t, std::less<>> column_positions_;
    std::map<std::string, known_model> models_;
    std::size_t num_larger_shares_ = 0;    ///< rows that only fit with `largest_memory_share`
    std::size_t num_layouts_of_ids_ = 0;   ///< rows whose id contradicts their columns
    std::set<std::string> warned_models_;  ///< models with a printed context-length warning
    std::map<std::tuple<std::string, std::string, std::string>, system_engine>
        engines_;  ///< by system, engine, and calibrated model or empty
    std::map<std::pair<std::string, std::string>, std::optional<engine_calibration>> calibrations_;
    std::optional<kernel_time_factors> time_factors_{};
    std::set<std::string> calibration_notes_;  ///< why a calibration does not apply to rows
    std::map<server_key, std::unique_ptr<server>> servers_;
};

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/serve_table.ipp>  // IWYU pragma: export
#endif
