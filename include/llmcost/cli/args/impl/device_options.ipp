// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/args/device_options.hpp>

#include <string_view>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/devices/all.hpp>
#include <llmcost/devices/device.hpp>

namespace llmcost::cli::detail {

LLMCOST_INLINE std::vector<std::string_view> device_names(const program&) {
    std::vector<std::string_view> names;
    for (const device& d : devices) names.emplace_back(d.names[0]);
    names.emplace_back("here");
    return names;
}

}  // namespace llmcost::cli::detail
