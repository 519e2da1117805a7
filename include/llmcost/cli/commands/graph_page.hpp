// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <llmcost/graph/module_graph.hpp>
#include <llmcost/graph/pass_graph.hpp>
#include <llmcost/graph/split.hpp>

// The text output of `llmcost graph`: shape, nodes, cuts and split.
namespace llmcost::cli::detail {

using llmcost::detail::at_place;
using llmcost::detail::length_of;

std::string format_statistics(const node_graph& g);

std::string format_nodes(const node_graph& g);

/// The cuts as a table. `bytes_per_second` is the bandwidth of a link; 0: unknown.
std::string format_cuts(const operator_graph& graph, const node_graph& g, double bytes_per_second);

std::string format_split(const node_graph& g, const graph_split& split, const std::vector<std::string>& names,
                         const std::vector<pipeline_device>& holds);

}  // namespace llmcost::cli::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/graph_page.ipp>  // IWYU pragma: export
#endif
