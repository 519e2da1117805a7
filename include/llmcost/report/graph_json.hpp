// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/graph/graph_cuts.hpp>
#include <llmcost/graph/module_graph.hpp>
#include <llmcost/graph/pass_graph.hpp>
#include <llmcost/graph/split.hpp>
#include <llmcost/graph/statistics.hpp>
#include <llmcost/report/json_writer.hpp>

// A graph as members of a JSON object. Ids refer to `nodes` and `tensors` and start at 1.
namespace llmcost {

[[nodiscard]] constexpr literal name_of(part_kind kind) noexcept {
    constexpr literal names[]{"input", "module", "operation", "output"};
    return names[static_cast<std::size_t>(kind)];
}

namespace detail {

/// The name of a tensor: that of a parameter, otherwise its id.
[[nodiscard]] std::string tensor_name(const operator_graph& graph, std::int32_t tensor);

}  // namespace detail

void write_statistics(json_writer& json, const node_graph& g);

/// Writes `nodes` and `edges`. `bytes_per_second`: link bandwidth for edge times; 0: no times.
void write_nodes(json_writer& json, const operator_graph& graph, const node_graph& g, double bytes_per_second = 0);

void write_cuts(json_writer& json, const operator_graph& graph, const node_graph& g);

/// Writes the partition. `devices`: device names of the stages.
void write_partition(json_writer& json, const graph_split& split, const std::vector<std::string>& devices,
                     const std::vector<pipeline_device>& holds);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/report/impl/graph_json.ipp>  // IWYU pragma: export
#endif
