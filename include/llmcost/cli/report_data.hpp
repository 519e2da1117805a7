// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/cli/drawn_pass.hpp>
#include <llmcost/cli/graph_devices.hpp>
#include <llmcost/cli/memory.hpp>
#include <llmcost/cli/roles.hpp>
#include <llmcost/cli/train.hpp>
#include <llmcost/cli/understand.hpp>
#include <llmcost/graph/levels.hpp>
#include <llmcost/graph/module_graph.hpp>

// What `llmcost report` writes about, read off the analyses of other commands.
namespace llmcost::cli {

namespace option {

// clang-format off
inline constexpr option_row
    html        {"--html",     value_kind::file,   "FILE", "the page; without a file on the standard output", "Report"},
    svg         {"--svg",      value_kind::folder, "DIR",  "each picture as a file of its own there"},
    with_step   {"--training", value_kind::none,   "",     "also one training step over time, which the options above are of"},
    reported_on {"--device",   value_kind::file,   "NAME|FILE", "of the roofline; does the memory fit it? (a roofline of h100_sxm)", "Device", detail::device_words};
// clang-format on

}  // namespace option

/// The device of a report that names none.
inline constexpr std::string_view usual_device = "h100_sxm";

/// The numbers of a report, which may be lists: what is swept.
inline constexpr std::array report_lists{listed(option::batch), listed(option::sequence), listed(option::past)};

/// A number of the workload that is swept.
struct swept_number {
    std::string name;
    std::int64_t workload::*of;
    std::vector<std::int64_t> values;
};

/// A pass drawn and timed on a device.
struct reported_pass {
    workload load{};  ///< in the element types that the device runs it in
    operator_graph graph{};
    graph_device on{};
    seconds_of_operations seconds{};
    std::string problem{};  ///< why it is not timed

    [[nodiscard]] bool timed() const noexcept { return on.on != nullptr; }
    [[nodiscard]] std::string device_title() const { return printable(on.on->title); }
};

/// All that a report says.
struct reported {
    read_subject read;
    question asked{};
    roles_read roles{};
    engine_memory by{};
    room_asked room{};
    workload held_load{};  ///< of the memory: one step
    inference_memory held{};
    reported_pass pass{};
    std::optional<detail::trained> step{};
    std::vector<swept_number> sweeps{};
    std::string command{};  ///< that writes it again
    bool command_names_device = false;

    [[nodiscard]] const workload& load() const { return asked.work.base; }
    [[nodiscard]] bool tokens() const { return unit_of(asked) == input_unit::token; }
};

namespace detail {

/// The command line of a report, but for the files that it writes.
inline std::string command_of(const arguments& given) {
    std::string out = "llmcost report";
    for (const option_row& row : given.rows()) {
        if (row.is(option::html) || row.is(option::svg)) continue;
        for (const std::string_view value : given.all(row)) {
            out.append(" ").append(row.name);
            const bool plain = value.find_first_of(" '\"\\$`!*?;&|<>(){}[]~#") == std::string_view::npos;
            if (row.kind != value_kind::none) out += plain ? " " + std::string(value) : " '" + std::string(value) + "'";
        }
    }
    return printable(out);
}

/// What a report sweeps: what is a list, else powers of two of the batch and, up to the context, of the length.
inline std::vector<swept_number> swept_numbers(const sweep& lists, const reported& r) {
    const std::int64_t context = r.asked.subject.dims.max_position_embeddings;
    const std::int64_t high = context > 1 ? context : 131072;
    std::int64_t low = 16;
    while (low * 1024 < high) low *= 2;
    std::vector<swept_number> out;
    const auto add = [&](const option_row& row, std::int64_t workload::*of, bool usual, std::int64_t from, std::int64_t to) {
        swept_number n{std::string(row.name.substr(2)), of, {}};
        for (const sweep::axis& a : lists.axes())
            if (a.option.is(row)) n.values = a.values;
        for (std::int64_t v = from; usual && !lists.has(row) && v <= to; v *= 2) n.values.push_back(v);
        if (!n.values.empty()) out.push_back(std::move(n));
    };
    const bool cached = r.load().past > 0;
    add(option::sequence, &workload::sequence, r.tokens() && !cached, low, high);
    add(option::past, &workload::past, cached, low, high);
    add(option::batch, &workload::batch, true, 1, 256);
    return out;
}

/// Draws the pass of a report and times it on a device.
inline reported_pass draw_report(const reported& r, const arguments& given) {
    reported_pass p;
    p.load = r.load();
    const bool named = given.has(option::reported_on);
    try {
        stored_types types;
        if (given.has(option::dtype))
            types.products = &operand_of("--dtype", name_of(p.load.weights));
        else
            types = stored_types_of(r.read.found.document, r.asked.subject, "--dtype");
        p.on = graph_device_of("--device", given.text(option::reported_on, usual_device), given, types);
        if (p.load.weights == dtype::unspecified) p.load.weights = dtype_from(p.on.how.products->name);
        if (p.load.activations == dtype::unspecified) p.load.activations = dtype_from(p.on.how.unquantised()->name);
        p.seconds.forward = operation_seconds(r.asked.subject, p.load, p.on.how, *p.on.on, *p.on.kernels);
    } catch (const error& e) {
        if (named) throw;
        p.on = {}, p.load = r.load(), p.problem = printable(e.what());
    }
    p.graph = graph_of(r.asked.subject, p.load);
    return p;
}

}  // namespace detail

/// Reads all that a report says.
[[nodiscard]] inline std::unique_ptr<reported> read_report(const arguments& typed, std::span<const option_row> training,
                                                           const program& io) {
    const bool trains = typed.has(option::with_step);
    for (const option_row& row : training)
        if (typed.has(row) && !trains) refuse(row.name, "needs --training");
    training_plan plan;
    asked_adapter adapter;
    if (trains) plan = detail::read_training_plan(typed), adapter = read_adapter(typed);
    const sweep lists(typed, report_lists);
    const arguments given = lists.at(0);
    (void)read_job(given);
    auto out = std::make_unique<reported>(reported{io.read(given, io)});
    reported& r = *out;  // a step keeps a reference to what was read, so that it must not move
    r.asked = understand(given, r.read, io.commands);
    job work = r.asked.work;
    check_workload(r.asked.subject, given, work);
    check_size(r.asked.subject, r.load());
    r.asked.declines_cache = r.read.declines_cache, r.asked.mtp_layers = r.read.mtp_layers;
    detail::note_on_weights(r.read, io);
    r.command = detail::command_of(typed), r.command_names_device = typed.has(option::reported_on);
    r.roles = read_roles(r.asked);
    r.by = detail::engine_memory_of(given);
    r.pass = detail::draw_report(r, given);
    if (typed.has(option::reported_on)) r.room = room_on(*r.pass.on.on);
    r.held_load = r.load(), r.held_load.head = logits::last;
    r.held = inference_memory_of(r.asked.subject, r.held_load, r.by, detail::bytes_of_weights(r.read));
    if (trains) {
        workload load = detail::training_workload(given);
        load.sequence = r.load().sequence;
        detail::settle_training(plan, adapter, given, io, r.read, load);
        r.step.emplace(detail::trained_of(given, r.read, load, plan, adapter, r.room));
    }
    r.sweeps = detail::swept_numbers(lists, r);
    return out;
}

}  // namespace llmcost::cli
