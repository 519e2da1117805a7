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

#include <llmcost/cli/commands/graph_devices.hpp>
#include <llmcost/cli/commands/memory.hpp>
#include <llmcost/cli/commands/plotted_pass.hpp>
#include <llmcost/cli/commands/train.hpp>
#include <llmcost/cli/pages/role_totals.hpp>
#include <llmcost/cli/request/parse_request.hpp>
#include <llmcost/graph/levels.hpp>
#include <llmcost/graph/module_graph.hpp>

// The data of `llmcost report`, computed by the analyses of other commands.
namespace llmcost::cli {

namespace option {

inline constexpr option_spec html{.name = "--html",
                                  .value = "FILE",
                                  .type = value_type::file,
                                  .help = "output file of the page (default: standard output)"};
inline constexpr option_spec svg{
    .name = "--svg", .value = "DIR", .type = value_type::directory, .help = "output directory, one SVG file per chart"};
inline constexpr option_spec with_step =
    with_help(option::training, "include a training step over time, with the options of this section");
inline constexpr option_spec reported_on =
    with_help(option::device, "device of the roofline and of the memory check (default: roofline of h100_sxm)");

}  // namespace option

/// The default device of a report.
inline constexpr std::string_view usual_device = "h100_sxm";

/// The options of a report that accept lists.
inline constexpr std::array report_lists{accepts_list(option::batch), accepts_list(option::sequence),
                                         accepts_list(option::past)};

/// An axis of a sweep.
struct swept_number {
    std::string name;
    std::int64_t workload::*member;
    std::vector<std::int64_t> values;
};

/// The graph of a pass with its times on a device.
struct reported_pass {
    workload load{};  ///< workload in the element types of the device
    operator_graph graph{};
    graph_device device{};
    seconds_of_operations seconds{};
    std::string problem{};  ///< why there are no times; empty: there are

    [[nodiscard]] bool timed() const noexcept { return device.target_device != nullptr; }
    [[nodiscard]] std::string device_title() const { return printable(device.target_device->title); }
};

/// The data of a report.
struct reported {
    parsed_model read;
    llmcost::cli::request request{};
    role_results roles{};
    engine_memory_profile memory_profile{};
    memory_limit limit{};
    workload memory_load{};  ///< workload of the memory section: one step
    inference_memory memory{};
    reported_pass pass{};
    std::optional<detail::training_response> step{};
    std::vector<swept_number> sweeps{};
    std::string command{};  ///< command line of this report
    bool command_names_device = false;

    [[nodiscard]] const workload& load() const { return request.workload.base_workload; }
    [[nodiscard]] bool tokens() const { return input_unit_of(request) == input_unit::token; }
};

namespace detail {

/// The command line of a report, without its output files.
inline std::string command_of(const arguments& args) {
    std::string out = "llmcost report";
    for (const option_spec& row : args.options()) {
        if (row.is(option::html) || row.is(option::svg)) continue;
        for (const std::string_view value : args.all(row)) {
            out.append(" ").append(row.name);
            const bool plain = value.find_first_of(" '\"\\$`!*?;&|<>(){}[]~#") == std::string_view::npos;
            if (row.type != value_type::none) out += plain ? " " + std::string(value) : " '" + std::string(value) + "'";
        }
    }
    return printable(out);
}

/// The axes of the sweeps: the lists of the command line, or powers of two of batch and sequence.
///
/// The default lengths end at the context length.
inline std::vector<swept_number> swept_numbers(const workload_sweep& lists, const reported& r) {
    const std::int64_t context = r.request.model.config.max_position_embeddings;
    const std::int64_t high = context > 1 ? context : 131072;
    std::int64_t low = 16;
    while (low * 1024 < high) low *= 2;
    std::vector<swept_number> out;
    const auto add = [&](const option_spec& row, std::int64_t workload::*member, bool usual, std::int64_t first,
                         std::int64_t to) {
        swept_number n{std::string(row.name.substr(2)), member, {}};
        for (const workload_sweep::axis& a : lists.axes())
            if (a.option.is(row)) n.values = a.values;
        for (std::int64_t v = first; usual && !lists.has(row) && v <= to; v *= 2) n.values.push_back(v);
        if (!n.values.empty()) out.push_back(std::move(n));
    };
    const bool cached = r.load().past > 0;
    add(option::sequence, &workload::sequence, r.tokens() && !cached, low, high);
    add(option::past, &workload::past, cached, low, high);
    add(option::batch, &workload::batch, true, 1, 256);
    return out;
}

/// Builds the graph of the pass and estimates its times on the device.
inline reported_pass draw_report(const reported& r, const arguments& args) {
    reported_pass p;
    p.load = r.load();
    const bool named = args.has(option::reported_on);
    try {
        checkpoint_types types;
        if (args.has(option::dtype))
            types.products = &require_operand_type("--dtype", name_of(p.load.weights));
        else
            types = stored_types_of(r.read.found.document, r.request.model, "--dtype");
        p.device = graph_device_of("--device", args.text(option::reported_on, usual_device), args, types);
        if (p.load.weights == dtype::unspecified)
            p.load.weights = dtype_from(p.device.execution_config.linear_type->name);
        if (p.load.activations == dtype::unspecified)
            p.load.activations = dtype_from(p.device.execution_config.unquantized_type()->name);
        p.seconds.forward = operation_seconds(r.request.model, p.load, p.device.execution_config,
                                              *p.device.target_device, *p.device.kernels);
    } catch (const error& e) {
        if (named) throw;
        p.device = {};
        p.load = r.load();
        p.problem = printable(e.what());
    }
    p.graph = graph_of(r.request.model, p.load);
    return p;
}

}  // namespace detail

/// Computes the data of a report. Throws: `usage`.
[[nodiscard]] inline std::unique_ptr<reported> read_report(const arguments& typed,
                                                           std::span<const option_spec> training, const program& io) {
    const bool trains = typed.has(option::with_step);
    for (const option_spec& row : training)
        if (typed.has(row) && !trains) throw_usage(row.name, "requires --training");
    training_plan plan;
    requested_adapter adapter;
    if (trains) {
        plan = detail::parse_training_plan(typed);
        adapter = read_adapter(typed);
    }
    const workload_sweep lists(typed, report_lists);
    const arguments args = lists.at(0);
    (void)parse_workload(args);
    auto out = std::make_unique<reported>(reported{io.read(args, io)});
    reported& r = *out;  // the training step refers to the parsed model, which must not move
    r.request = understand(args, r.read, io.commands);
    workload_request work = r.request.workload;
    require_supported_workload(r.request.model, args, work);
    check_size(r.request.model, r.load());
    r.request.disables_cache = r.read.declines_cache;
    r.request.mtp_layers = r.read.mtp_layers;
    detail::warn_on_weights(r.read, io);
    r.command = detail::command_of(typed);
    r.command_names_device = typed.has(option::reported_on);
    r.roles = compute_role_totals(r.request);
    r.memory_profile = detail::parse_engine_memory_profile(args);
    r.pass = detail::draw_report(r, args);
    if (typed.has(option::reported_on)) r.limit = memory_limit_on(*r.pass.device.target_device);
    r.memory_load = r.load();
    r.memory_load.head = logits::last;
    r.memory =
        inference_memory_of(r.request.model, r.memory_load, r.memory_profile, detail::stored_weight_bytes(r.read));
    if (trains) {
        workload load = detail::training_workload(args);
        load.sequence = r.load().sequence;
        detail::finish_training_plan(plan, adapter, args, io, r.read, load);
        r.step.emplace(detail::compute_training(args, r.read, load, plan, adapter, r.limit));
    }
    r.sweeps = detail::swept_numbers(lists, r);
    return out;
}

}  // namespace llmcost::cli
