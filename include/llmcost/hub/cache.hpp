// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/hub/folder.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

// The cache that the Hugging Face tools share: blobs, snapshots, refs (hub-docs docs/hub/local-cache.md).
namespace llmcost::detail::hub {

/// The content of a file of at most `maximum` bytes where it is what `blob` names.
std::optional<std::string> read_named(const std::filesystem::path& path, std::string_view blob, std::uint64_t maximum);

/// What a cache has of a file.
enum class found { missing, damaged, complete };

/// One repository in the cache. Names are checked before they get here.
class repo_cache {
public:
    repo_cache(const std::filesystem::path& cache_dir, std::string_view repo_name);

    /// The commit that `revision` named at the last request to the hub; nothing where that is not known.
    std::optional<std::string> commit_of(std::string_view revision) const;

    std::filesystem::path snapshot(std::string_view commit, std::string_view filename) const {
        return root_ / "snapshots" / commit / filename;
    }

    /// What the cache has of a file; a file counts as complete where its name does not identify its content, or that
    /// is too large.
    found lookup(std::string_view commit, std::string_view filename, std::uint64_t maximum) const;

    /// True where the file of this commit has the content of this blob.
    bool has(std::string_view commit, std::string_view filename, std::string_view blob, std::uint64_t maximum) const {
        return read_named(snapshot(commit, filename), blob, maximum).has_value();
    }

    /// True where the hub has reported before that the commit has no such file.
    bool is_known_absent(std::string_view commit, std::string_view filename) const;

    /// The content of a blob of at most `maximum` bytes; nothing where there is none or it is damaged.
    std::optional<std::string> read_blob(std::string_view blob, std::uint64_t maximum) const {
        return read_named(root_ / "blobs" / blob, blob, maximum);
    }

    /// Makes `content` the file of this commit: a blob and a relative link to it, or a real file.
    void store(std::string_view commit, std::string_view filename, std::string_view blob, std::string_view content,
               bool symlinks) const;

    /// Stores the commit of a branch or tag; does nothing for a commit or where it is known.
    void store_ref(std::string_view revision, std::string_view commit) const;

    /// Stores that the commit has no such file.
    void store_absent(std::string_view commit, std::string_view filename) const {
        write(std::filesystem::path(".no_exist") / commit / filename, {}, ".tmp");
    }

private:
    void write(const std::filesystem::path& directory, std::string_view content, std::string_view suffix) const {
        write_atomically(cache_dir_, folder_ / directory, content, suffix);
    }

    /// Marks the cache so that backups leave it out (bford.info/cachedir); the cache works without.
    void tag() const;

    std::filesystem::path cache_dir_;
    std::filesystem::path folder_;  ///< of the repository, below the cache's
    std::filesystem::path root_;    ///< the same with the cache's
};

}  // namespace llmcost::detail::hub

#ifndef LLMCOST_COMPILED
#include <llmcost/hub/impl/cache.ipp>  // IWYU pragma: export
#endif
