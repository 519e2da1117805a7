// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/hub/client.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <llmcost/base/inline.hpp>
#include <llmcost/hub/curl.hpp>
#include <llmcost/hub/headers.hpp>
#include <llmcost/hub/options.hpp>
#include <llmcost/hub/text.hpp>
#include <llmcost/hub/url.hpp>
#include <llmcost/text/error.hpp>

namespace llmcost::detail::hub {

LLMCOST_INLINE void check_token(std::string_view token, std::string_view source) {
    bool good = token.size() <= 4096;
    for (const char c : token) good = good && c > 0x20 && c < 0x7f;
    if (!good) {
        throw error(errc::bad_value, printable(source),
                    "expected a token of at most 4096 visible ASCII characters, without blanks and line ends");
    }
}

/// The token to send: the option, else what the token file holds; empty for none.
LLMCOST_INLINE std::string find_token(const hub_options& options) {
    if (!options.token.empty()) {
        check_token(options.token, "hub_options::token (HF_TOKEN)");
        return options.token;
    }
    std::error_code failure;
    if (options.token_file.empty() || !std::filesystem::exists(options.token_file, failure)) return {};
    std::string token = read_token_file(options.token_file);
    check_token(token, options.token_file.string());
    return token;
}

LLMCOST_INLINE hub_client::hub_client(const hub_options& options)
    : options_(options),
      curl_(curl()),
      connection_(curl_),
      endpoint_(read_endpoint()),
      token_(find_token(options)),
      deadline_(clock::now() + options.total_timeout) {}

LLMCOST_INLINE http_url hub_client::url_of(const std::string& path) const {
    std::string base = endpoint_.text;
    while (base.ends_with('/')) base.pop_back();
    const auto url = parse_url(curl_, base + '/' + path);
    if (!url) throw error(errc::bad_value, endpoint_.place, "cannot ask for " + printable(path));
    return *url;
}

LLMCOST_INLINE hub_answer hub_client::send_request(bool head, http_url url, bool with_token) {
    bool token_allowed = with_token && !token_.empty() && is_token_allowed(url);
    for (int redirects = 0;; ++redirects) {
        http_answer answer = send_with_retries(head, url, token_allowed);
        if (!is_redirect(answer.header.status())) {
            return {std::move(answer), url, url, token_allowed, token_allowed};
        }
        const std::string target(answer.header.get("location"));
        const auto next = parse_url(curl_, target, &url);
        if (target.empty() || !next || !may_follow(url, *next)) {
            throw error(errc::network, url.place,
                        "a redirect that is not followed, to " + (next ? '"' + next->place + '"' : redact(target)));
        }
        const bool leaves = !url.same_origin(*next);
        if (head && leaves && !answer.header.get("x-repo-commit").empty()) {
            return {std::move(answer), url, *next, token_allowed, false};
        }
        if (redirects == max_redirects) throw error(errc::network, url.place, "more than 5 redirects");
        token_allowed = token_allowed && !leaves;
        url = *next;
    }
}

LLMCOST_INLINE bool hub_client::is_worth_another_attempt(const http_answer& answer) {
    if (!answer.failure.empty()) {
        return answer.code == CURLE_OPERATION_TIMEDOUT || answer.code == CURLE_GOT_NOTHING ||
               answer.code == CURLE_SEND_ERROR || answer.code == CURLE_RECV_ERROR ||
               answer.code == CURLE_PARTIAL_FILE || answer.code == CURLE_HTTP2 || answer.code == CURLE_HTTP2_STREAM;
    }
    const std::uint64_t status = answer.header.status();
    return status == 408 || status == 429 || (status >= 500 && status <= 504 && status != 501);
}

LLMCOST_INLINE std::string hub_client::redact(const std::string& target) {
    if (target.find('@') != std::string::npos)
        return "a URL that may contain a user name and a password, so it is not printed";
    return '"' + printable(target.substr(0, target.find_first_of("?#")), 80) + '"';
}

LLMCOST_INLINE http_url hub_client::read_endpoint() const {
    const auto url = parse_url(curl_, options_.endpoint);
    if (!url || url->text.find('?') != std::string::npos) {
        throw error(errc::bad_value, "HF_ENDPOINT",
                    "expected an http or https URL without a user name, a password and a query");
    }
    return *url;
}

LLMCOST_INLINE http_answer hub_client::send_with_retries(bool head, const http_url& url, bool token_allowed) {
    http_request request;
    request.head = head;
    request.url = url.text;
    if (token_allowed) request.token = token_;
    request.ca_file = options_.ca_file;
    request.loopback = url.loopback();
    request.max_size = options_.max_size;
    request.connect_timeout = head ? options_.etag_timeout : options_.download_timeout;
    request.silence_timeout = request.connect_timeout;

    std::chrono::milliseconds backoff = (std::min)(options_.first_wait, options_.longest_wait);
    for (int attempt = 1;; ++attempt) {
        const auto left = time_left();
        if (left <= left.zero()) throw error(errc::network, url.place, "no answer in time" + limit());
        request.total_timeout = head ? (std::min)(options_.etag_timeout, left) : left;
        http_answer answer = connection_.send(request);
        bool should_retry = attempt < options_.attempts && is_worth_another_attempt(answer);
        const auto wait = should_retry ? wait_before_next(answer, url, backoff) : left.zero();
        should_retry = should_retry && wait < time_left();
        if (!answer.failure.empty() && !should_retry) {
            throw error(errc::network, url.place, printable(answer.failure) + tries(attempt));
        }
        if (!should_retry) return answer;
        options_.sleep(wait);
        backoff = (std::min)(backoff * 2, options_.longest_wait);
    }
}

LLMCOST_INLINE std::chrono::milliseconds hub_client::wait_before_next(const http_answer& answer, const http_url& url,
                                                                      std::chrono::milliseconds backoff) const {
    const auto wanted = answer.failure.empty() ? wanted_wait(answer.header) : std::nullopt;
    if (!wanted) return backoff;
    const auto longest = std::chrono::floor<std::chrono::seconds>(options_.longest_wait).count();
    if (longest < 0 || *wanted > static_cast<std::uint64_t>(longest)) {
        throw error(errc::network, url.place,
                    "HTTP " + std::to_string(answer.header.status()) + ": the server requests a wait of " +
                        std::to_string(*wanted) + " seconds before the next attempt");
    }
    return std::chrono::seconds(static_cast<std::int64_t>(*wanted));
}

}  // namespace llmcost::detail::hub
