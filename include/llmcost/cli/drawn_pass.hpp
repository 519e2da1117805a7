// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <utility>

#include <llmcost/cli/device_options.hpp>
#include <llmcost/cli/execution.hpp>
#include <llmcost/cli/latency.hpp>
#include <llmcost/cli/page.hpp>
#include <llmcost/graph/operator_table.hpp>
#include <llmcost/serving/operator_times.hpp>

// What `llmcost ops` and `llmcost levels` have in common: a pass as a graph, timed where a device is named.
namespace llmcost::cli {

namespace option {

// clang-format off
inline constexpr option_row
    timed_on {"--device", value_kind::file, "NAME|FILE", "also how long each operation takes there by itself", "Time", detail::device_words},
    largest  {"--top",    value_kind::number, "N",       "the first N rows alone"};
// clang-format on

}  // namespace option

/// Which pass is drawn.
inline constexpr std::array pass_options =
    joined(model_options,
           std::array{option::batch, option::sequence, option::past, option::encoder_sequence, option::image, option::images,
                      option::video, option::videos, option::audio, option::logits, option::attention, option::dtype,
                      option::activation_dtype, option::cache_dtype},
           std::array{option::timed_on, option::calibration});

/// A pass of a model, drawn.
struct drawn_pass {
    std::shared_ptr<const described_model> described{};  ///< what `subject` looks at, where a file describes it
    model subject{};
    model_identity who{};
    workload load{};
    operator_graph graph{};
    const device* on = nullptr;  ///< null: not timed
    std::string on_title{};
    operator_times times{};
    std::shared_ptr<kernel_library> kernels{};

    [[nodiscard]] seconds_of_operations seconds() const { return {times.forward, times.backward}; }
    /// Of the pass: its kernels one behind the other, or the host that issues them.
    [[nodiscard]] double step_seconds() const { return std::max(times.device_seconds, times.host_seconds); }
};

namespace detail {

/// An operation by itself in the element types of a workload, on a placement's device.
inline execution eager_on(const placement& p, const arguments& given, workload& load) {
    execution how = p.how;
    if (given.has(option::dtype)) {
        const operand_row* const type = &operand_of("--dtype", name_of(load.weights));
        how = execution_of({}, *p.on, {type, type}, {}, issue::eager);
    }
    how.issued = issue::eager;
    if (load.weights == dtype::unspecified) load.weights = dtype_from(how.products->name);
    if (load.activations == dtype::unspecified) load.activations = dtype_from(how.unquantised()->name);
    return how;
}

}  // namespace detail

/// Draws the pass that a command line names; of a training step where `training` says so.
[[nodiscard]] inline drawn_pass draw_pass(const arguments& given, const program& io, bool training = false) {
    drawn_pass d;
    job work = read_job(given);
    d.load = work.base;
    execution how;
    if (given.has(option::timed_on)) {
        placement p = io.place(given, io);
        d.subject = p.subject, d.described = std::move(p.described), d.who = std::move(p.who), d.on = p.on,
        d.kernels = std::move(p.kernels);
        how = detail::eager_on(p, given, d.load);
        d.on_title = printable(d.on->title);
    } else {
        read_subject read = io.read(given, io);
        d.subject = read.subject, d.described = std::move(read.described), d.who = std::move(read.found.who);
    }
    if (training && d.load.past > 0) refuse(option::past.name, "nothing goes back through a cache");
    d.load.training = training;
    complete_workload(d.subject, given, d.load);
    work.base = d.load;
    check_workload(d.subject, given, work);
    check_size(d.subject, d.load);
    d.graph = graph_of(d.subject, d.load);
    if (d.on != nullptr) d.times = operator_times_of(d.subject, d.load, how, *d.on, *d.kernels);
    note_on_context(io.err, d.who.name, d.subject, std::max(d.load.past + d.load.sequence, d.load.encoder_sequence));
    return d;
}

/// `gpt2, 1 x 1,024 tokens, float32`, and where it is timed.
[[nodiscard]] inline std::string title_of(const drawn_pass& d) {
    std::string out = printable(d.who.name) + ", " + detail::step_words(d.subject, d.load) + ", " +
                      std::string(name_of(types_of(d.subject, d.load).activations));
    if (d.on == nullptr) return out + '\n';
    out += "\neach operation by itself on " + d.on_title + ": " + detail::duration(d.times.device_seconds) + "; " +
           grouped(count(d.times.kernels)) + " kernels, " + detail::duration(d.times.host_seconds) +
           " of the host that issues them\n";
    return out;
}

/// What was asked, and how long all of it takes.
inline void put_pass(json_writer& json, const drawn_pass& d) {
    const storage_types types = types_of(d.subject, d.load);
    json.member("model", d.who.name).member("batch", d.load.batch);
    if (unit_of(d.subject, d.load) == input_unit::token)
        json.member("sequence", d.load.sequence).member("past", d.load.past);
    json.member("dtype", name_of(types.weights)).member("activation_dtype", name_of(types.activations));
    json.key("device");
    d.on == nullptr ? json.null() : json.value(d.on->names[0]);
    json.key("seconds");
    d.on == nullptr ? json.null() : json.value(d.times.device_seconds);
    json.key("host_seconds");
    d.on == nullptr ? json.null() : json.value(d.times.host_seconds);
    json.key("kernels");
    d.on == nullptr ? json.null() : json.value(count(d.times.kernels));
}

/// The fewest digits that read back as this number.
[[nodiscard]] inline std::string exact(double x) {
    std::array<char, 32> digits{};
    return {digits.data(), std::to_chars(digits.begin(), digits.end(), x).ptr};
}

}  // namespace llmcost::cli
