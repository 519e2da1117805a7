// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/hub/text.hpp>

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
    bool add_line(std::string_view line);

    /// The three digits of the status line; 0 where there was none.
    std::uint64_t status() const noexcept { return status_; }

    /// The first field of this name, given in lower case; an empty text where there is none.
    std::string_view get(std::string_view name) const noexcept;

    /// True where a truncated body differs from a complete one; the end of a connection alone does not show that.
    bool has_framed_body() const noexcept {
        return has_end_marker_ || !get("content-length").empty() || !get("transfer-encoding").empty();
    }

private:
    static constexpr std::size_t max_bytes = 64 * 1024;

    std::vector<std::pair<std::string, std::string>> fields_;
    std::uint64_t status_ = 0;
    std::size_t bytes_ = 0;
    bool has_end_marker_ = false;  ///< HTTP/2 and later mark the end of a body
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
std::optional<std::uint64_t> quota_wait(std::string_view ratelimit);

/// Seconds that the server requests before the next attempt; nothing where it does not give them in seconds.
std::optional<std::uint64_t> wanted_wait(const http_header& header);

/// What the hub reports about a file before it is downloaded.
struct file_facts {
    std::string commit;                 ///< of the requested revision
    std::string blob;                   ///< the content's name in the cache
    std::optional<std::uint64_t> size;  ///< bytes
};

/// The facts of an answer to HEAD, unchecked; the size of a redirect's own body is not the file's.
file_facts read_facts(const http_header& header);

}  // namespace llmcost::detail::hub

#ifndef LLMCOST_COMPILED
#include <llmcost/hub/impl/headers.ipp>  // IWYU pragma: export
#endif
