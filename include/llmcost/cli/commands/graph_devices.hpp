// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/graph/module_graph.hpp>
#include <llmcost/graph/split.hpp>
#include <llmcost/kernels/kernel_library.hpp>
#include <llmcost/serving/default_execution.hpp>
#include <llmcost/serving/model_kernel.hpp>

// The devices of a pipeline split, and the links between them.
namespace llmcost::cli {

namespace option {

inline constexpr option_spec split{.name = "--split",
                                   .value = "N",
                                   .type = value_type::number,
                                   .help = "find the best split into N pipeline stages on N devices"};
inline constexpr option_spec stages{
    .name = "--stage-devices",
    .value = "LIST",
    .type = value_type::text,
    .help = "devices of the stages, in order, e.g. h200,l4,l4 (default: N times --device)"};
inline constexpr option_spec link{
    .name = "--link",
    .value = "LIST",
    .type = value_type::text,
    .help = "bandwidth between stages, e.g. 10GB/s or 1Gbit/s: one value, or one per link"};

}  // namespace option

namespace detail {

/// Parses a bandwidth, e.g. `10GB/s` or `1Gbit/s`, in bytes per second. Throws: `usage`.
double read_rate(std::string_view option_name, std::string_view text);

}  // namespace detail

/// A device that executes a pass operation by operation.
struct graph_device {
    std::shared_ptr<kernel_library> kernels{};  ///< shared pointer of an incomplete type
    const device* target_device = nullptr;
    execution execution_config{};
};

/// The weight types of linear layers: `--dtype`, or those of the checkpoint.
checkpoint_types graph_types(const arguments& args, const parsed_model& read);

/// The device of a name or a datasheet file. Throws: `usage`.
graph_device graph_device_of(std::string_view option_name, std::string_view name, const arguments& args,
                             checkpoint_types types);

/// The devices of a split and the links between them.
struct split_request {
    std::vector<graph_device> devices{};
    std::vector<std::string> names{};  ///< printable names
    std::vector<double> links{};       ///< bandwidths in bytes per second
};

split_request read_split(const arguments& args, const checkpoint_types& types);

/// A device as a pipeline stage: the times of the nodes, and its memory.
pipeline_device stage_of(const parsed_model& read, const workload& load, const node_graph& g, const graph_device& d);

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/graph_devices.ipp>  // IWYU pragma: export
#endif
