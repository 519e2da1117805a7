// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/hub/url.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <llmcost/base/inline.hpp>
#include <llmcost/hub/curl.hpp>
#include <llmcost/hub/headers.hpp>
#include <llmcost/hub/text.hpp>
#include <llmcost/text/error.hpp>

namespace llmcost::detail::hub {

LLMCOST_INLINE bool is_loopback_address(std::string_view host) {
    if (!host.starts_with("127.")) return false;
    int octets = 0;
    bool valid = true;
    split(host, '.', [&](std::string_view part) {
        const bool digits = part.size() <= 3 && !part.empty() && (part.size() == 1 || part.front() != '0');
        valid = valid && digits && parse_number(part).value_or(256) <= 255;
        ++octets;
    });
    return valid && octets == 4;
}

LLMCOST_INLINE std::optional<http_url> parse_url(const curl_functions& curl, const std::string& text,
                                                 const http_url* base) {
    for (const char c : text) {
        if (is_control(c) || c == ' ') return std::nullopt;
    }
    const std::unique_ptr<CURLU, decltype(&::curl_url_cleanup)> parts(curl.url(), curl.url_cleanup);
    if (!parts || text.size() > 8000) return std::nullopt;
    const auto set = [&](CURLUPart part, const char* value) {
        return curl.url_set(parts.get(), part, value, CURLU_DISALLOW_USER) == CURLUE_OK;
    };
    const auto get = [&](CURLUPart part, unsigned flags = 0) {
        char* value = nullptr;
        if (curl.url_get(parts.get(), part, &value, flags) != CURLUE_OK) return std::string();
        const std::unique_ptr<char, decltype(&::curl_free)> owner(value, curl.free);
        return std::string(value);
    };
    if (base != nullptr && !set(CURLUPART_URL, base->text.c_str())) return std::nullopt;
    if (!set(CURLUPART_URL, text.c_str()) || !set(CURLUPART_FRAGMENT, nullptr)) return std::nullopt;
    http_url url{get(CURLUPART_URL),
                 {},
                 lower_case(get(CURLUPART_SCHEME)),
                 lower_case(get(CURLUPART_HOST)),
                 get(CURLUPART_PORT, CURLU_DEFAULT_PORT)};
    if (url.text.empty() || url.host.empty() || (url.scheme != "http" && url.scheme != "https")) {
        return std::nullopt;
    }
    if (!set(CURLUPART_QUERY, nullptr)) return std::nullopt;
    url.place = printable(get(CURLUPART_URL));
    return url;
}

LLMCOST_INLINE bool may_follow(const http_url& source, const http_url& to) {
    return to.scheme == "https" || source.same_origin(to) ||
           (source.scheme == "http" && source.loopback() && to.loopback());
}

}  // namespace llmcost::detail::hub
