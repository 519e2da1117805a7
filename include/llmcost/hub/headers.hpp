// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/hub/text.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The header of an HTTP answer, and what the hub writes into it.
namespace llmcost::detail::hub {

/// The status and the header fields of one answer, fed line by line.
class http_header {
public:
    /// Takes one line as it came; false once the header is longer than any valid one.
    ///
    /// A status line begins anew, so that what came before it (100 Continue, a proxy's answer) leaves no trace.
    bool add_line(std::string_view line) {
        bytes_ += line.size();
        if (bytes_ > max_bytes) return false;
        line = trim(line);
        if (line.starts_with("HTTP/")) {
            fields_.clear();
            const std::size_t blank = line.find(' ');
            const auto number =
                blank == std::string_view::npos ? std::nullopt : parse_number(line.substr(blank + 1, 3));
            status_ = number.value_or(0);
            framed_ = !line.starts_with("HTTP/1");
        } else if (const std::size_t colon = line.find(':'); colon != std::string_view::npos) {
            fields_.emplace_back(lower_case(trim(line.substr(0, colon))), trim(line.substr(colon + 1)));
        }
        return true;
    }

    /// The three digits of the status line; 0 where there was none.
    std::uint64_t status() const noexcept { return status_; }

    /// The first field of this name, given in lower case; an empty text where there is none.
    std::string_view get(std::string_view name) const noexcept {
        for (const auto& field : fields_) {
            if (field.first == name) return field.second;
        }
        return {};
    }

    /// True where a truncated body differs from a complete one; the end of a connection alone does not show that.
    bool has_framed_body() const noexcept {
        return framed_ || !get("content-length").empty() || !get("transfer-encoding").empty();
    }

private:
    static constexpr std::size_t max_bytes = 64 * 1024;

    std::vector<std::pair<std::string, std::string>> fields_;
    std::uint64_t status_ = 0;
    std::size_t bytes_ = 0;
    bool framed_ = false;  ///< HTTP/2 and later mark the end of a body
};

/// An ETag field without the weakness mark and the quotes.
constexpr std::string_view bare_etag(std::string_view etag) noexcept {
    if (etag.starts_with("W/")) etag.remove_prefix(2);
    if (etag.size() >= 2 && etag.front() == '"' && etag.back() == '"') etag = etag.substr(1, etag.size() - 2);
    return etag;
}

/// Calls `use` with each piece of `text` between `separator`s, blanks around it removed.
template <class Use>
constexpr void split(std::string_view text, char separator, const Use& use) {
    for (;;) {
        const std::size_t end = text.find(separator);
        use(trim(text.substr(0, end)));
        if (end == std::string_view::npos) return;
        text.remove_prefix(end + 1);
    }
}

/// Seconds until an exhausted quota of a `RateLimit` field is filled again, as in `"api";r=0;t=55`.
///
/// Quotas that are not exhausted (`r` above 0) do not count. Source: draft-ietf-httpapi-ratelimit-headers-09.
inline std::optional<std::uint64_t> quota_wait(std::string_view ratelimit) {
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

/// Seconds that the server requests before the next attempt; nothing where it does not give them in seconds.
inline std::optional<std::uint64_t> wanted_wait(const http_header& header) {
    if (const auto wait = quota_wait(header.get("ratelimit"))) return wait;
    return parse_number(header.get("retry-after"));
}

/// What the hub reports about a file before it is downloaded.
struct file_facts {
    std::string commit;                 ///< of the requested revision
    std::string blob;                   ///< the content's name in the cache
    std::optional<std::uint64_t> size;  ///< bytes
};

/// The facts of an answer to HEAD, unchecked; the size of a redirect's own body is not the file's.
inline file_facts read_facts(const http_header& header) {
    const auto get_first = [&](std::string_view first, std::string_view second) {
        const std::string_view value = header.get(first);
        return value.empty() ? header.get(second) : value;
    };
    const bool redirect = header.status() >= 300;
    return {std::string(header.get("x-repo-commit")), std::string(bare_etag(get_first("x-linked-etag", "etag"))),
            parse_number(redirect ? header.get("x-linked-size") : get_first("x-linked-size", "content-length"))};
}

}  // namespace llmcost::detail::hub
