// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/graph_devices.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/device_options.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/cli/request/memory_fit.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/graph/module_graph.hpp>
#include <llmcost/graph/split.hpp>
#include <llmcost/kernels/kernel_library.hpp>
#include <llmcost/memory/adapter.hpp>
#include <llmcost/serving/default_execution.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/serving/operation_times.hpp>
#include <llmcost/serving/step.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::cli::detail {

LLMCOST_INLINE double read_rate(std::string_view option_name, std::string_view text) {
    const auto wrong = [&] {
        throw_usage(option_name, "expected a bandwidth such as 10GB/s or 1Gbit/s, found " + quote(text));
    };
    if (!text.ends_with("/s")) wrong();
    std::string size(text.substr(0, text.size() - 2));
    const bool bits = size.ends_with("bit");
    if (bits) size.replace(size.size() - 3, 3, "B");
    if (!size.ends_with("B")) wrong();
    return static_cast<double>(read_bytes(option_name, size)) / (bits ? 8 : 1);
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE checkpoint_types graph_types(const arguments& args, const parsed_model& read) {
    if (args.has(option::linear_dtype)) return detail::requested_types(args, read.found.document);
    return detail::stored_types_of(read.found.document, read.subject, "--dtype");
}

LLMCOST_INLINE graph_device graph_device_of(std::string_view option_name, std::string_view name, const arguments& args,
                                            checkpoint_types types) {
    graph_device d;
    d.kernels =
        std::make_shared<kernel_library>(std::string(name), "", "", std::string(args.text(option::calibration)));
    d.kernels->set_type_sources("--dtype", "--dtype");
    d.target_device = &d.kernels->target_device(option_name);
    types.products = executed_type_of(types.products, {}, *d.target_device);
    types.experts = executed_type_of(types.experts, {}, *d.target_device);
    d.execution_config = execution_of({}, *d.target_device, types, {}, launch_mode::eager);
    return d;
}

LLMCOST_INLINE split_request read_split(const arguments& args, const checkpoint_types& types) {
    split_request out;
    std::vector<std::string> names =
        args.has(option::stages) ? split_list(args.text(option::stages), ',') : std::vector<std::string>{};
    const std::int64_t n = args.number(option::split, static_cast<std::int64_t>(names.size()), 1);
    if (names.empty() && !args.has(option::device))
        throw_usage("--split", "requires --stage-devices, or --device for all stages");
    if (names.empty() && n > 1000) throw_usage("--split", "expected at most 1000 devices, found " + std::to_string(n));
    if (names.empty()) names.assign(static_cast<std::size_t>(n), std::string(args.text(option::device)));
    if (static_cast<std::int64_t>(names.size()) != n)
        throw_usage("--stage-devices",
                    "expected " + std::to_string(n) + " devices, one per stage, found " + std::to_string(names.size()));
    for (const std::string& name : names) {
        const auto match = std::ranges::find(names, name);
        const auto index = static_cast<std::size_t>(match - names.begin());
        out.devices.push_back(index < out.devices.size() ? out.devices[index]
                                                         : graph_device_of("--stage-devices", name, args, types));
        require_known_memory(*out.devices.back().target_device);
        out.names.push_back(printable(out.devices.back().target_device->title));
    }
    if (n > 1 && !args.has(option::link)) throw_usage("--link", "required: the bandwidth between stages, e.g. 10GB/s");
    if (args.has(option::link))
        for (const std::string& rate : split_list(args.text(option::link), ','))
            out.links.push_back(detail::read_rate("--link", rate));
    const auto num_links = static_cast<std::size_t>(n - 1);
    if (out.links.size() == 1 && num_links > 0) out.links.assign(num_links, out.links.front());
    if (n > 1 && out.links.size() != num_links)
        throw_usage("--link", "expected one bandwidth, or " + std::to_string(num_links) + ", found " +
                                  std::to_string(out.links.size()));
    return out;
}

LLMCOST_INLINE pipeline_device stage_of(const parsed_model& read, const workload& load, const node_graph& g,
                                        const graph_device& d) {
    pipeline_device out;
    const std::vector<double> seconds =
        operation_seconds(read.subject, load, d.execution_config, *d.target_device, *d.kernels);
    const double per_launch = seconds_per_launch(d.execution_config, *d.target_device, *d.kernels);
    for (const graph_node& p : g.parts) {
        double all = 0, host = 0;
        for (auto i = static_cast<std::size_t>(p.first); i < static_cast<std::size_t>(p.end); ++i) {
            all += seconds[i];
            host += seconds[i] > 0 ? per_launch : 0;
        }
        out.seconds.push_back(all);
        out.host_seconds.push_back(host);
    }
    out.memory = memory_limit_on(*d.target_device).bytes;
    return out;
}

}  // namespace llmcost::cli
