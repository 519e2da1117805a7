// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/hub/curl.hpp>
#include <llmcost/hub/options.hpp>
#include <llmcost/hub/url.hpp>
#include <llmcost/text/error.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace llmcost::detail::hub {

/// Throws `bad_value` where `token` could break out of its header line; never shows it.
void check_token(std::string_view token, std::string_view source);

constexpr bool is_redirect(std::uint64_t status) noexcept {
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

/// An answer and who gave it.
struct hub_answer {
    http_answer answer;
    http_url url;           ///< that answered
    http_url location;      ///< where the file itself is; the same where the answer is no redirect
    bool token_sent;        ///< with the last request
    bool token_may_follow;  ///< to `location`
};

/// Sends requests to one endpoint and those it redirects to, with retries within bounds.
class hub_client {
public:
    explicit hub_client(const hub_options& options);

    /// The URL of `path`, which is percent-encoded, below the endpoint.
    http_url url_of(const std::string& path) const;

    bool is_endpoint(const http_url& url) const { return url.same_origin(endpoint_); }

    /// True where there is a token that is not sent to the endpoint, since the connection is not encrypted.
    bool token_withheld() const { return !token_.empty() && !is_token_allowed(endpoint_); }

    /// Follows redirects until an answer is none, or, for HEAD, until a redirect to another origin has the file's
    /// facts.
    ///
    /// The token goes to the endpoint's origin alone, and no further once a redirect has left it.
    hub_answer send_request(bool head, http_url url, bool with_token);

private:
    using clock = std::chrono::steady_clock;
    static constexpr int max_redirects = 5;

    static bool is_worth_another_attempt(const http_answer& answer);

    /// What a message may show of a text that is no URL: no query, and nothing of what may hold a password.
    static std::string redact(const std::string& target);

    http_url read_endpoint() const;

    bool is_token_allowed(const http_url& url) const {
        return is_endpoint(url) && (url.scheme == "https" || url.loopback());
    }

    http_answer send_with_retries(bool head, const http_url& url, bool token_allowed);

    std::chrono::milliseconds time_left() const {
        return std::chrono::floor<std::chrono::milliseconds>(deadline_ - clock::now());
    }

    std::string limit() const {
        return " (" + std::to_string(options_.total_timeout.count()) + " ms for all questions about the file together)";
    }

    static std::string tries(int attempt) {
        return attempt == 1 ? std::string() : " (" + std::to_string(attempt) + " attempts)";
    }

    std::chrono::milliseconds wait_before_next(const http_answer& answer, const http_url& url,
                                               std::chrono::milliseconds backoff) const;

    const hub_options& options_;
    const curl_functions& curl_;
    http_connection connection_;
    http_url endpoint_;
    std::string token_;
    clock::time_point deadline_;  ///< of all requests, waits included
};

}  // namespace llmcost::detail::hub

#ifndef LLMCOST_COMPILED
#include <llmcost/hub/impl/client.ipp>  // IWYU pragma: export
#endif
