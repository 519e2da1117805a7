// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/hub/headers.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <llmcost/base/inline.hpp>
#include <llmcost/hub/text.hpp>

namespace llmcost::detail::hub {

LLMCOST_INLINE bool http_header::add_line(std::string_view line) {
    bytes_ += line.size();
    if (bytes_ > max_bytes) return false;
    line = trim(line);
    if (line.starts_with("HTTP/")) {
        fields_.clear();
        const std::size_t blank = line.find(' ');
        const auto number = blank == std::string_view::npos ? std::nullopt : parse_number(line.substr(blank + 1, 3));
        status_ = number.value_or(0);
        has_end_marker_ = !line.starts_with("HTTP/1");
    } else if (const std::size_t colon = line.find(':'); colon != std::string_view::npos) {
        fields_.emplace_back(lower_case(trim(line.substr(0, colon))), trim(line.substr(colon + 1)));
    }
    return true;
}

LLMCOST_INLINE std::string_view http_header::get(std::string_view name) const noexcept {
    for (const auto& field : fields_) {
        if (field.first == name) return field.second;
    }
    return {};
}

LLMCOST_INLINE std::optional<std::uint64_t> quota_wait(std::string_view ratelimit) {
    std::optional<std::uint64_t> wait;
    split(ratelimit, ',', [&](std::string_view quota) {
        std::optional<std::uint64_t> remaining;
        std::optional<std::uint64_t> reset;
        split(quota, ';', [&](std::string_view parameter) {
            const std::size_t equals = (std::min)(parameter.find('='), parameter.size());
            const std::string_view key = trim(parameter.substr(0, equals));
            const std::string_view value = trim(parameter.substr((std::min)(equals + 1, parameter.size())));
            if (key == "r") remaining = parse_number(value);
            if (key == "t") reset = parse_number(value);
        });
        if (remaining == std::uint64_t{0} && reset) wait = (std::max)(wait.value_or(0), *reset);
    });
    return wait;
}

LLMCOST_INLINE std::optional<std::uint64_t> wanted_wait(const http_header& header) {
    if (const auto wait = quota_wait(header.get("ratelimit"))) return wait;
    return parse_number(header.get("retry-after"));
}

LLMCOST_INLINE file_facts read_facts(const http_header& header) {
    const auto get_first = [&](std::string_view first, std::string_view second) {
        const std::string_view value = header.get(first);
        return value.empty() ? header.get(second) : value;
    };
    const bool redirect = header.status() >= 300;
    return {std::string(header.get("x-repo-commit")), std::string(bare_etag(get_first("x-linked-etag", "etag"))),
            parse_number(redirect ? header.get("x-linked-size") : get_first("x-linked-size", "content-length"))};
}

}  // namespace llmcost::detail::hub
