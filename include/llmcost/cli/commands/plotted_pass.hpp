// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <utility>

#include <llmcost/cli/args/device_options.hpp>
#include <llmcost/cli/commands/default_command.hpp>
#include <llmcost/cli/commands/latency.hpp>
#include <llmcost/cli/request/parse_deployment.hpp>
#include <llmcost/graph/operator_table.hpp>
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
                with_section("Hardware and engine", std::array{option::timed_on, option::calibration}),
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
    operator_times times{};
    std::shared_ptr<kernel_library> kernels{};

    [[nodiscard]] seconds_of_operations seconds() const { return {times.forward, times.backward}; }
    /// The time of the pass: the sum of the kernels, or the host time if that is longer.
    [[nodiscard]] double step_seconds() const { return std::max(times.device_seconds, times.host_seconds); }
};

namespace detail {

/// The execution of single operations in the element types of a workload.
inline execution eager_on(const deployment& p, const arguments& args, workload& load) {
    execution execution = p.execution;
    if (args.has(option::dtype)) {
        const operand_type* const type = &require_operand_type("--dtype", name_of(load.weights));
        execution = execution_of({}, *p.device, {type, type}, {}, launch_mode::eager);
    }
    execution.launch = launch_mode::eager;
    if (load.weights == dtype::unspecified) load.weights = dtype_from(execution.linear_type->name);
    if (load.activations == dtype::unspecified) load.activations = dtype_from(execution.unquantized_type()->name);
    return execution;
}

}  // namespace detail

/// Builds the graph of the pass of a command line, or of a training step. Throws: `usage`.
[[nodiscard]] inline drawn_pass draw_pass(const arguments& args, const program& io, bool training = false) {
    drawn_pass d;
    workload_request work = parse_workload(args);
    d.load = work.base_workload;
    execution execution;
    if (args.has(option::timed_on)) {
        deployment p = io.place(args, io);
        d.subject = p.model;
        d.custom = std::move(p.custom);
        d.name_of_model = std::move(p.name_of_model);
        d.target_device = p.device;
        d.kernels = std::move(p.kernels);
        execution = detail::eager_on(p, args, d.load);
        d.on_title = printable(d.target_device->title);
    } else {
        parsed_model read = io.read(args, io);
        d.subject = read.subject;
        d.custom = std::move(read.custom);
        d.name_of_model = std::move(read.found.name_of_model);
    }
    if (training && d.load.past > 0)
        throw_usage(option::past.name, "not supported in training: backward through a KV cache");
    d.load.training = training;
    complete_workload(d.subject, args, d.load);
    work.base_workload = d.load;
    require_supported_workload(d.subject, args, work);
    check_size(d.subject, d.load);
    d.graph = graph_of(d.subject, d.load);
    if (d.target_device != nullptr)
        d.times = operator_times_of(d.subject, d.load, execution, *d.target_device, *d.kernels);
    warn_if_context_exceeded(io.err, d.name_of_model.name, d.subject,
                             std::max(d.load.past + d.load.sequence, d.load.encoder_sequence));
    return d;
}

/// `gpt2, 1 x 1,024 tokens, float32`, and the device of the times.
[[nodiscard]] inline std::string title_of(const drawn_pass& d) {
    std::string out = printable(d.name_of_model.name) + ", " + detail::step_label(d.subject, d.load) + ", " +
                      std::string(name_of(storage_types_of(d.subject, d.load).activations));
    if (d.target_device == nullptr) return out + '\n';
    out += "\nOperations executed one by one on " + d.on_title + ": " + detail::duration(d.times.device_seconds) +
           "; " + grouped(count(d.times.kernels)) + " kernels, " + detail::duration(d.times.host_seconds) +
           " host time\n";
    return out;
}

/// Writes the workload and the time of the pass.
inline void write_pass(json_writer& json, const drawn_pass& d) {
    const storage_types types = storage_types_of(d.subject, d.load);
    json.member("model", d.name_of_model.name).member("batch", d.load.batch);
    if (unit_of(d.subject, d.load) == input_unit::token)
        json.member("sequence", d.load.sequence).member("past", d.load.past);
    json.member("dtype", name_of(types.weights)).member("activation_dtype", name_of(types.activations));
    json.key("device");
    d.target_device == nullptr ? json.null() : json.value(d.target_device->names[0]);
    json.key("seconds");
    d.target_device == nullptr ? json.null() : json.value(d.times.device_seconds);
    json.key("host_seconds");
    d.target_device == nullptr ? json.null() : json.value(d.times.host_seconds);
    json.key("kernels");
    d.target_device == nullptr ? json.null() : json.value(count(d.times.kernels));
}

/// The shortest text that parses to this number.
[[nodiscard]] inline std::string exact(double x) {
    std::array<char, 32> digits{};
    return {digits.data(), std::to_chars(digits.begin(), digits.end(), x).ptr};
}

}  // namespace llmcost::cli
