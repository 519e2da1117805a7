// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/cli/placement.hpp>
#include <llmcost/graph/split.hpp>
#include <llmcost/kernels/library.hpp>
#include <llmcost/memory/adapter.hpp>
#include <llmcost/serving/operation_times.hpp>

// The devices on which parts of a graph are timed, and the links between them.
namespace llmcost::cli {

namespace option {

// clang-format off
inline constexpr option_row
    split  {"--split",   value_kind::number, "N",    "the best cuts for N devices in a row, each of which holds its part", "Split"},
    stages {"--devices", value_kind::text,   "LIST", "of the split, in order: h200,l4,l4 (N times --device)"},
    link   {"--link",    value_kind::text,   "LIST", "between them: 10GB/s, 1Gbit/s; one, or one from each to the next"};
// clang-format on

}  // namespace option

namespace detail {

/// `10GB/s`, `1Gbit/s` in bytes per second.
inline double read_rate(std::string_view where, std::string_view text) {
    const auto wrong = [&] { refuse(where, "expected a rate like 10GB/s or 1Gbit/s, found " + in_quotes(text)); };
    if (!text.ends_with("/s")) wrong();
    std::string size(text.substr(0, text.size() - 2));
    const bool bits = size.ends_with("bit");
    if (bits) size.replace(size.size() - 3, 3, "B");
    if (!size.ends_with("B")) wrong();
    return static_cast<double>(read_bytes(where, size)) / (bits ? 8 : 1);
}

}  // namespace detail

/// A device that executes a pass operation by operation.
struct graph_device {
    std::shared_ptr<kernel_library> kernels{};  ///< shared: only who makes it compiles it
    const device* on = nullptr;
    execution how{};
};

/// What the tensors of products are run in: the option's type, else the checkpoint's.
inline stored_types graph_types(const arguments& given, const read_subject& read) {
    if (given.has(option::linear_dtype)) return detail::types_asked(given, read.found.document);
    return detail::stored_types_of(read.found.document, read.subject, "--dtype");
}

/// The device of a name or a file.
inline graph_device graph_device_of(std::string_view where, std::string_view name, const arguments& given,
                                    stored_types types) {
    graph_device d;
    d.kernels = std::make_shared<kernel_library>(std::string(name), "", "", std::string(given.text(option::calibration)));
    d.kernels->types_said_by("--dtype", "--dtype");
    d.on = &d.kernels->on(where);
    types.products = run_as(types.products, {}, *d.on), types.experts = run_as(types.experts, {}, *d.on);
    d.how = execution_of({}, *d.on, types, {}, issue::eager);
    return d;
}

/// The devices of a split and what is between them.
struct split_asked {
    std::vector<graph_device> devices{};
    std::vector<std::string> names{};  ///< printable
    std::vector<double> links{};       ///< bytes per second
};

inline split_asked read_split(const arguments& given, const stored_types& types) {
    split_asked out;
    std::vector<std::string> names =
        given.has(option::stages) ? split_list(given.text(option::stages), ',') : std::vector<std::string>{};
    const std::int64_t n = given.number(option::split, static_cast<std::int64_t>(names.size()), 1);
    if (names.empty() && !given.has(option::device)) refuse("--split", "needs --devices, or --device for all of them");
    if (names.empty() && n > 1000) refuse("--split", "expected at most 1000 devices, found " + std::to_string(n));
    if (names.empty()) names.assign(static_cast<std::size_t>(n), std::string(given.text(option::device)));
    if (static_cast<std::int64_t>(names.size()) != n)
        refuse("--devices", "names " + std::to_string(names.size()) + " devices for " + std::to_string(n) + " stages");
    for (const std::string& name : names) {
        const auto same = std::ranges::find(names, name);
        const auto at = static_cast<std::size_t>(same - names.begin());
        out.devices.push_back(at < out.devices.size() ? out.devices[at] : graph_device_of("--devices", name, given, types));
        check_memory(*out.devices.back().on);
        out.names.push_back(printable(out.devices.back().on->title));
    }
    if (n > 1 && !given.has(option::link)) refuse("--link", "say how fast: --link 10GB/s");
    if (given.has(option::link))
        for (const std::string& rate : split_list(given.text(option::link), ','))
            out.links.push_back(detail::read_rate("--link", rate));
    const auto between = static_cast<std::size_t>(n - 1);
    if (out.links.size() == 1 && between > 0) out.links.assign(between, out.links.front());
    if (n > 1 && out.links.size() != between)
        refuse("--link", "expected one rate, or " + std::to_string(between) + ", found " + std::to_string(out.links.size()));
    return out;
}

/// A device as a stage of a split: the times of its parts, its memory.
inline stage_device stage_of(const read_subject& read, const workload& load, const part_graph& g, const graph_device& d) {
    stage_device out;
    const std::vector<double> seconds = operation_seconds(read.subject, load, d.how, *d.on, *d.kernels);
    const double per_launch = seconds_per_launch(d.how, *d.on, *d.kernels);
    for (const graph_part& p : g.parts) {
        double all = 0, host = 0;
        for (auto i = static_cast<std::size_t>(p.first); i < static_cast<std::size_t>(p.end); ++i)
            all += seconds[i], host += seconds[i] > 0 ? per_launch : 0;
        out.seconds.push_back(all), out.host_seconds.push_back(host);
    }
    out.memory = room_on(*d.on).bytes;
    return out;
}

}  // namespace llmcost::cli
