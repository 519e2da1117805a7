// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/hub/curl.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace llmcost::detail::hub {

/// True for exactly four decimal octets that start with 127; anything else that looks like it is a name for DNS.
bool is_loopback_address(std::string_view host);

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
std::optional<http_url> parse_url(const curl_functions& curl, const std::string& text, const http_url* base = nullptr);

/// Whether a redirect keeps to the rules: never from https to http, and http to another origin on loopback alone.
bool may_follow(const http_url& source, const http_url& to);

}  // namespace llmcost::detail::hub

#ifndef LLMCOST_COMPILED
#include <llmcost/hub/impl/url.ipp>  // IWYU pragma: export
#endif
