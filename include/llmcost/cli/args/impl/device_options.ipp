// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/args/device_options.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
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

namespace detail {

/// The number and the name of `8xH100`, `8 x H100`, `8*h100`, `h100x8` or `h100:8`; two empty texts for other forms.
LLMCOST_INLINE std::pair<std::string_view, std::string_view> split_device_count(std::string_view text) {
    constexpr std::string_view digits = "0123456789", signs = "xX*:";
    const auto trimmed = [](std::string_view part) {
        while (part.starts_with(' ')) part.remove_prefix(1);
        while (part.ends_with(' ')) part.remove_suffix(1);
        return part;
    };
    if (const std::size_t end = text.find_first_not_of(digits); end != 0 && end != std::string_view::npos) {
        const std::string_view rest = trimmed(text.substr(end));
        if (!rest.empty() && signs.find(rest.front()) != std::string_view::npos)
            return {text.substr(0, end), trimmed(rest.substr(1))};
    }
    const std::size_t last = text.find_last_not_of(digits);
    if (last == std::string_view::npos || last + 1 == text.size()) return {};
    const std::string_view rest = trimmed(text.substr(0, last + 1));
    if (rest.empty() || signs.find(rest.back()) == std::string_view::npos) return {};
    return {text.substr(last + 1), trimmed(rest.substr(0, rest.size() - 1))};
}

}  // namespace detail

LLMCOST_INLINE void reject_device_count(const arguments& args) {
    for (const std::string_view text : args.all(option::device)) {
        const auto [number, name] = detail::split_device_count(text);
        const device* const known = number.empty() || find_device(text) != nullptr ? nullptr : find_device(name);
        if (known == nullptr) continue;
        std::string use = "--device " + std::string(std::string_view(known->names[0])), counts;
        for (const std::string_view option_name : {"--devices", "--shards", "--tp"})
            for (const option_spec& row : args.options())
                if (row.name == option_name)
                    counts.append(counts.empty() ? " " : " or ").append(option_name).append(" ").append(number);
        throw_usage(option::device.name, "expected one device, found " + quote(text) + "; use " + use + counts);
    }
}

}  // namespace llmcost::cli
