// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/hub/curl.hpp>
#include <llmcost/hub/headers.hpp>
#include <llmcost/text/error.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace llmcost::detail::hub {

/// True for exactly four decimal octets that start with 127; anything else that looks like it is a name for DNS.
inline bool is_loopback_address(std::string_view host) {
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

/// A URL taken apart by libcurl, so that what is checked here is what it will connect to.
struct http_url {
    std::string text;    ///< the complete URL, absolute, without a fragment
    std::string place;   ///< the URL without its query, which may be a signature: for messages
    std::string scheme;  ///< "http" or "https"
    std::string host;    ///< in lower case
    std::string port;    ///< the scheme's own where none is written

    bool same_origin(const http_url& url) const { return scheme == url.scheme && host == url.host && port == url.port; }

    /// True where the host is this machine by its very name, so that nothing leaves it.
    bool loopback() const { return host == "localhost" || host == "[::1]" || is_loopback_address(host); }
};

/// Takes an absolute URL apart, or one relative to `base`; nothing for what is no http or https URL.
///
/// A user name or password in it is refused: libcurl would send it to the host.
inline std::optional<http_url> parse_url(const curl_functions& curl, const std::string& text,
                                         const http_url* base = nullptr) {
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

/// Whether a redirect keeps to the rules: never from https to http, and http to another origin on loopback alone.
inline bool may_follow(const http_url& source, const http_url& to) {
    return to.scheme == "https" || source.same_origin(to) ||
           (source.scheme == "http" && source.loopback() && to.loopback());
}

}  // namespace llmcost::detail::hub
