// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include <llmcost/hub/cache.hpp>
#include <llmcost/hub/client.hpp>
#include <llmcost/hub/options.hpp>  // IWYU pragma: export
#include <llmcost/hub/signals.hpp>
#include <llmcost/hub/text.hpp>
#include <llmcost/text/error.hpp>

// Files of the Hugging Face Hub, through the cache that its tools share.
//
// - `parse_repo_id`: "org/name@revision" -> `repo_id`.
// - `find_in_cache`: the cached file; never uses the network.
// - `download`: the current file of the Hub.
// - `fetch`: the cached file, otherwise a download.
namespace llmcost {

/// A model repository at a revision.
struct repo_id {
    std::string name;               ///< "org/name", or "name" for the oldest repositories
    std::string revision = "main";  ///< a branch, a tag, "refs/pr/N" or a commit
};

/// A file in the cache.
struct hub_file {
    std::filesystem::path path;
    std::string commit;                    ///< commit of the repository, 40 hexadecimal digits
    std::optional<std::string> content{};  ///< the file, if the cache could not be written
};

/// Parses `org/name` or `org/name@revision`.
///
/// Throws: `error` with `bad_value` if no repository can have this name.
[[nodiscard]] repo_id parse_repo_id(std::string_view text);

namespace detail::hub {

/// Calls `write`, which is optional, and ignores errors if the cache cannot be written.
template <class Write>
void if_possible(const Write& write) {
    try {
        write();
    } catch (const error&) {
        return;
    }
}

}  // namespace detail::hub

/// The cached file of exactly this revision. Never uses the network and never writes.
///
/// A branch or tag refers to the commit of its last download. No other revision is used instead. A damaged ref or file
/// counts as missing.
///
/// Throws: `error` with `bad_value` for an invalid name.
[[nodiscard]] std::optional<hub_file> find_in_cache(const repo_id& id, std::string_view filename,
                                                    const hub_options& options);

/// Downloads the current file of the Hub into the cache, unless it is cached.
///
/// The cache contains only complete files, even after an error.
///
/// Throws: `error` with `not_found` if the file is missing, `no_access` if it is private or gated, `network` if the Hub
/// cannot be reached or its response is invalid, `io` if the cache cannot be written.
hub_file download(const repo_id& id, std::string_view filename, const hub_options& options);

/// The cached file, otherwise a download. Commands that name a model use this function.
///
/// If the cache cannot be written, `hub_file::content` holds the file.
///
/// Throws: `error` with `not_found`, without network access, if the Hub has reported that this commit has no such file.
/// For a branch or tag, which may have moved since, this applies only offline.
hub_file fetch(const repo_id& id, std::string_view filename, const hub_options& options);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/hub/impl/hub.ipp>  // IWYU pragma: export
#endif
