// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/hub/cache.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <llmcost/base/inline.hpp>
#include <llmcost/files/regular_file.hpp>
#include <llmcost/hub/folder.hpp>
#include <llmcost/hub/hash.hpp>
#include <llmcost/hub/text.hpp>
#include <llmcost/text/error.hpp>

namespace llmcost::detail::hub {

/// The first `maximum` bytes of a regular file; nothing for anything else, which may be a pipe without a writer.
LLMCOST_INLINE std::optional<std::string> read_cached(const std::filesystem::path& path, std::size_t maximum) {
    std::string ignored;
    bool is_complete = false;
    const open_file file = open_regular(path.string(), ignored);
    std::string text = file ? read_prefix(file, maximum, is_complete) : std::string();
    return is_complete ? std::optional(std::move(text)) : std::nullopt;
}

LLMCOST_INLINE std::optional<std::string> read_named(const std::filesystem::path& path, std::string_view blob,
                                                     std::uint64_t maximum) {
    const auto limit = static_cast<std::size_t>(maximum);
    // one byte more, to see that there is no more
    std::optional<std::string> content = read_cached(path, limit + (limit < SIZE_MAX ? 1 : 0));
    return content && content->size() <= maximum && is_named(*content, blob) ? content : std::nullopt;
}

LLMCOST_INLINE repo_cache::repo_cache(const std::filesystem::path& cache_dir, std::string_view repo_name)
    : cache_dir_(cache_dir) {
    std::string folder = "models--" + std::string(repo_name);
    if (const std::size_t slash = folder.find('/'); slash != std::string::npos) folder.replace(slash, 1, "--");
    folder_ = folder;
    root_ = cache_dir_ / folder_;
}

LLMCOST_INLINE std::optional<std::string> repo_cache::commit_of(std::string_view revision) const {
    if (is_commit(revision)) return std::string(revision);
    const auto text = read_cached(root_ / "refs" / revision, 64);
    if (!text || !is_commit(trim(*text))) return std::nullopt;
    return std::string(trim(*text));
}

LLMCOST_INLINE found repo_cache::lookup(std::string_view commit, std::string_view filename,
                                        std::uint64_t maximum) const {
    const std::filesystem::path path = snapshot(commit, filename);
    std::error_code failure;
    if (!std::filesystem::is_regular_file(path, failure)) return found::missing;
    const std::string blob = std::filesystem::read_symlink(path, failure).filename().string();
    if (failure || !is_blob(blob) || std::filesystem::file_size(path, failure) > maximum) return found::complete;
    return read_named(path, blob, maximum) ? found::complete : found::damaged;
}

LLMCOST_INLINE bool repo_cache::is_known_absent(std::string_view commit, std::string_view filename) const {
    std::error_code ignored;
    return std::filesystem::is_regular_file(root_ / ".no_exist" / commit / filename, ignored);
}

LLMCOST_INLINE void repo_cache::store(std::string_view commit, std::string_view filename, std::string_view blob,
                                      std::string_view content, bool symlinks) const {
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

LLMCOST_INLINE void repo_cache::store_ref(std::string_view revision, std::string_view commit) const {
    if (!is_commit(revision) && commit_of(revision) != commit) {
        write(std::filesystem::path("refs") / revision, commit, ".tmp");
    }
}

LLMCOST_INLINE void repo_cache::tag() const try {
    if (!std::filesystem::exists(std::filesystem::symlink_status(cache_dir_ / "CACHEDIR.TAG"))) {
        write_atomically(cache_dir_, "CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n", ".tmp");
    }
} catch (const std::exception&) {
    return;
}

}  // namespace llmcost::detail::hub
