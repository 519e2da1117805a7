// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/commands/report_data.hpp>
#include <llmcost/cli/pages/train_page.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/graph/module_graph.hpp>
#include <llmcost/report/chart.hpp>
#include <llmcost/report/icicle.hpp>
#include <llmcost/report/layer_drawing.hpp>

// The charts of a report, each with a table of its data.
namespace llmcost::cli {

/// A chart with file name, caption and data table.
struct report_picture {
    std::string file;  ///< file name without extension
    svg_picture drawn;
    std::string caption{};
    table figures{};
};

namespace detail {

using llmcost::detail::at_place;
using llmcost::detail::length_of;
using llmcost::detail::name_in;
using llmcost::detail::tensor_label;

/// The items of a list in one line, separated by dots.
std::string join_inline(const std::vector<std::string>& texts);

/// The modules of a model as an icicle chart and as a table.
struct scope_pictures {
    icicle boxes;
    table figures{
        {{"module"}, {"class"}, {"times", true}, {"flops", true}, {"share", true}, {"params", true}, {"act", true}},
        {}};
};

/// The icicle chart of modules by metrics and time. Equal modules are one box with their sum.
scope_pictures scopes_of(const reported& r);

/// Whether a datasheet has the values that a roofline requires.
inline bool has_roofs(const device& target_device) {
    return target_device.memory_bandwidth > 0 && (target_device.bf16 > 0 || target_device.fp32 > 0);
}

/// The roofline chart of all operators with a time; the slowest ones are numbered.
report_picture roofline_picture(const reported& r);

/// The graph of one layer: leaf modules and the operations between them. A large layer has its child modules instead.
report_picture layer_picture(const reported& r);

report_picture memory_picture_of(const reported& r);

/// The memory of a training step over time, and at its peak.
std::vector<report_picture> training_pictures(const training_response& t);

}  // namespace detail

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/report_pictures.ipp>  // IWYU pragma: export
#endif
