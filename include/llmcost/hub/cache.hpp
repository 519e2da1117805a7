// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/files/regular_file.hpp>
#include <llmcost/hub/folder.hpp>
#include <llmcost/hub/hash.hpp>
#include <llmcost/hub/text.hpp>
#include <llmcost/text/error.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>

// The cache that the Hugging Face tools share: blobs, snapshots, refs (hub-docs docs/hub/local-cache.md).
namespace llmcost::detail::hub {

/// The first `maximum` bytes of a regular file; nothing for anything else, which may be a pipe without a writer.
inline std::optional<std::string> read_cached(const std::filesystem::path& path, std::size_t maximum) {
    std::string ignored;
    bool is_complete = false;
    const open_file file = open_regular_at(AT_FDCWD, path.c_str(), ignored);
    std::string text = file ? read_prefix(file, maximum, is_complete) : std::string();
    return is_complete ? std::optional(std::move(text)) : std::nullopt;
}

/// The content of a file of at most `maximum` bytes where it is what `blob` names.
inline std::optional<std::string> read_named(const std::filesystem::path& path, std::string_view blob,
                                             std::uint64_t maximum) {
    const auto limit = static_cast<std::size_t>(maximum);
    // one byte more, to see that there is no more
    std::optional<std::string> content = read_cached(path, limit + (limit < SIZE_MAX ? 1 : 0));
    return content && content->size() <= maximum && is_named(*content, blob) ? content : std::nullopt;
}

/// What a cache has of a file.
enum class found { missing, damaged, complete };

/// One repository in the cache. Names are checked before they get here.
class repo_cache {
public:
    repo_cache(const std::filesystem::path& cache_dir, std::string_view repo_name) : cache_dir_(cache_dir) {
        std::string folder = "models--" + std::string(repo_name);
        if (const std::size_t slash = folder.find('/'); slash != std::string::npos) folder.replace(slash, 1, "--");
        folder_ = folder;
        root_ = cache_dir_ / folder_;
    }

    /// The commit that `revision` named at the last request to the hub; nothing where that is not known.
    std::optional<std::string> commit_of(std::string_view revision) const {
        if (is_commit(revision)) return std::string(revision);
        const auto text = read_cached(root_ / "refs" / revision, 64);
        if (!text || !is_commit(trim(*text))) return std::nullopt;
        return std::string(trim(*text));
    }

    std::filesystem::path snapshot(std::string_view commit, std::string_view filename) const {
        return root_ / "snapshots" / commit / filename;
    }

    /// What the cache has of a file; a file counts as complete where its name does not identify its content, or that
    /// is too large.
    found lookup(std::string_view commit, std::string_view filename, std::uint64_t maximum) const {
        const std::filesystem::path path = snapshot(commit, filename);
        std::error_code failure;
        if (!std::filesystem::is_regular_file(path, failure)) return found::missing;
        const std::string blob = std::filesystem::read_symlink(path, failure).filename().string();
        if (failure || !is_blob(blob) || std::filesystem::file_size(path, failure) > maximum) return found::complete;
        return read_named(path, blob, maximum) ? found::complete : found::damaged;
    }

    /// True where the file of this commit has the content of this blob.
    bool has(std::string_view commit, std::string_view filename, std::string_view blob, std::uint64_t maximum) const {
        return read_named(snapshot(commit, filename), blob, maximum).has_value();
    }

    /// True where the hub has reported before that the commit has no such file.
    bool known_absent(std::string_view commit, std::string_view filename) const {
        std::error_code ignored;
        return std::filesystem::is_regular_file(root_ / ".no_exist" / commit / filename, ignored);
    }

    /// The content of a blob of at most `maximum` bytes; nothing where there is none or it is damaged.
    std::optional<std::string> read_blob(std::string_view blob, std::uint64_t maximum) const {
        return read_named(root_ / "blobs" / blob, blob, maximum);
    }

    /// Makes `content` the file of this commit: a blob and a relative link to it, or a real file.
    void store(std::string_view commit, std::string_view filename, std::string_view blob, std::string_view content,
               bool symlinks) const {
        tag();
        const std::filesystem::path below = std::filesystem::path("snapshots") / commit / filename;
        if (symlinks) {
            if (!read_blob(blob, content.size())) write(std::filesystem::path("blobs") / blob, content, ".incomplete");
            unfinished link(cache_dir_, folder_ / below, ".incomplete");
            std::filesystem::path target = std::filesystem::path("..") / "..";
            for (const char c : filename) {
                if (c == '/') target /= "..";
            }
            if (link.link(target / "blobs" / blob)) return link.finish();
        }
        write(below, content, ".incomplete");
    }

    /// Stores the commit of a branch or tag; does nothing for a commit or where it is known.
    void store_ref(std::string_view revision, std::string_view commit) const {
        if (!is_commit(revision) && commit_of(revision) != commit) {
            write(std::filesystem::path("refs") / revision, commit, ".tmp");
        }
    }

    /// Stores that the commit has no such file.
    void store_absent(std::string_view commit, std::string_view filename) const {
        write(std::filesystem::path(".no_exist") / commit / filename, {}, ".tmp");
    }

private:
    void write(const std::filesystem::path& below, std::string_view content, std::string_view suffix) const {
        write_atomically(cache_dir_, folder_ / below, content, suffix);
    }

    /// Marks the cache so that backups leave it out (bford.info/cachedir); the cache works without.
    void tag() const try {
        if (!std::filesystem::exists(std::filesystem::symlink_status(cache_dir_ / "CACHEDIR.TAG"))) {
            write_atomically(cache_dir_, "CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n", ".tmp");
        }
    } catch (const std::exception&) {
        return;
    }

    std::filesystem::path cache_dir_;
    std::filesystem::path folder_;  ///< of the repository, below the cache's
    std::filesystem::path root_;    ///< the same with the cache's
};

}  // namespace llmcost::detail::hub
