// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>

#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/device_options.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/commands/timed_operations.hpp>
#include <llmcost/custom/custom_model.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/graph/operator_table.hpp>
#include <llmcost/graph/pass_graph.hpp>
#include <llmcost/kernels/kernel_library.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/report/json_report.hpp>
#include <llmcost/report/json_writer.hpp>
#include <llmcost/serving/operator_times.hpp>

// The common part of `llmcost ops` and `llmcost levels`: the graph of a pass, with times for `--device`.
namespace llmcost::cli {

namespace option {

inline constexpr option_spec timed_on = with_help(option::device,
                                                  "device for the times of operations: a name from llmcost devices, a "
                                                  "datasheet file, or here (the calibrated local GPU)");
inline constexpr option_spec largest{
    .name = "--top", .value = "N", .type = value_type::number, .help = "number of rows (default: all)"};

}  // namespace option

/// The options that describe a pass and the device on which it is timed.
inline constexpr std::array pass_options =
    concatenate(with_section("Model", model_options),
                with_section("Workload", std::array{option::batch, option::sequence, option::past,
                                                    option::encoder_sequence, option::logits, option::attention}),
                with_section("Multimodal inputs", multimodal_options),
                with_section("Hardware and engine",
                             concatenate(std::array{option::timed_on, option::calibration}, torch_pass_options)),
                with_section("Precision", std::array{option::dtype, option::activation_dtype, option::cache_dtype}));

/// The graph of a pass of a model.
struct drawn_pass {
    std::shared_ptr<const custom_model> custom{};  ///< owner of the specs of `subject`; null for built-in types
    model subject{};
    model_name name_of_model{};
    workload load{};
    operator_graph graph{};
    const device* target_device = nullptr;  ///< null: not timed
    std::string on_title{};
    timed_operations timed{};
    std::shared_ptr<kernel_library> kernels{};

    [[nodiscard]] const operator_times& times() const noexcept { return timed.times; }
    [[nodiscard]] seconds_of_operations seconds() const { return timed.seconds(); }
    /// The time of the pass: the sum of the kernels, or the host time if that is longer.
    [[nodiscard]] double step_seconds() const { return std::max(times().device_seconds, times().host_seconds); }
};

/// Builds the graph of the pass of a command line, or of a training step. Throws: `usage`.
[[nodiscard]] drawn_pass draw_pass(const arguments& args, const program& io, bool training = false);

/// `gpt2, 1 x 1,024 tokens, float32`, and the device of the times.
[[nodiscard]] std::string title_of(const drawn_pass& d);

/// Writes the workload, the engine and the time of the pass.
void write_pass(json_writer& json, const drawn_pass& d);

/// The shortest text that parses to this number.
[[nodiscard]] std::string exact(double x);

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/plotted_pass.ipp>  // IWYU pragma: export
#endif
