// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/args/device_options.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/devices/all.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::cli::detail {

LLMCOST_INLINE std::vector<std::string_view> device_names(const program&) {
    std::vector<std::string_view> names;
    for (const device& d : devices) names.emplace_back(d.names[0]);
    for (const device& d : llmcost::detail::devices_by_memory.rows) names.emplace_back(d.names[0]);
    names.emplace_back("here");
    return names;
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE void reject_device_count(const arguments& args) {
    for (const std::string_view text : args.all(option::device)) {
        const std::size_t end = text.find_first_not_of("0123456789");
        if (end == 0 || end == std::string_view::npos || find_device(text) != nullptr) continue;
        std::string_view name = text.substr(end);
        const std::size_t sign = name.find_first_not_of(' ');
        if (sign == std::string_view::npos || (name[sign] != 'x' && name[sign] != 'X' && name[sign] != '*')) continue;
        name.remove_prefix(sign + 1);
        const device* const known = find_device(name);
        if (known == nullptr) continue;
        std::string use = "--device " + std::string(std::string_view(known->names[0])), counts;
        for (const std::string_view option_name : {"--devices", "--shards", "--tp"})
            for (const option_spec& row : args.options())
                if (row.name == option_name)
                    counts.append(counts.empty() ? " " : " or ")
                        .append(option_name)
                        .append(" ")
                        .append(text.substr(0, end));
        throw_usage(option::device.name, "expected one device, found " + quote(text) + "; use " + use + counts);
    }
}

}  // namespace llmcost::cli
