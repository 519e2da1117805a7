// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <llmcost/graph/module_graph.hpp>
#include <llmcost/graph/split.hpp>
#include <llmcost/trace/collective.hpp>

// Execution traces for network simulators: what each device of a split computes, sends and receives, with dependencies.
namespace llmcost {

enum class trace_kind : std::uint8_t { compute, send, receive, collective };

/// A node of an execution trace. It starts when all its dependencies are done.
struct trace_node {
    std::uint64_t id = 0;  ///< of a part: its index from 1; ids of messages follow those of all parts
    std::string name;
    trace_kind kind = trace_kind::compute;
    std::vector<std::uint64_t> data{};     ///< ids of nodes whose results it reads
    std::vector<std::uint64_t> control{};  ///< ids of nodes that precede it
    double begins = 0, seconds = 0;        ///< start and duration of a part on its device
    std::uint64_t flops = 0;
    std::uint64_t bytes = 0;  ///< bytes read and written; of a message: bytes sent; of a collective: input bytes
    std::int32_t source_device = 0, to = 0, tag = 0;  ///< of a message: source device, destination device and cut
    collective_kind collective{};                     ///< kind of a collective operation
};

/// The execution trace of each device of a split, or of one device without stages.
///
/// The seconds of parts in `devices` may be empty.
[[nodiscard]] std::vector<std::vector<trace_node>> execution_traces_of(
    const node_graph& g, std::vector<graph_stage> stages = {}, const std::vector<pipeline_device>& devices = {});

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/graph/impl/execution_trace.ipp>  // IWYU pragma: export
#endif
