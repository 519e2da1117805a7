// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/detail/hub_text.hpp>
#include <llmcost/error.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

// The cache that the Hugging Face tools share: blobs, snapshots, refs (hub-docs docs/hub/local-cache.md).
namespace llmcost::detail::hub {

[[noreturn]] inline void fail_io(const std::filesystem::path& path, std::string_view what, std::error_code why) {
    throw error(errc::io, printable(path.string()), std::string(what) + ": " + printable(why.message()));
}

/// A name beside `target` that nobody else takes, in the spelling of the Hugging Face tools.
inline std::filesystem::path beside(const std::filesystem::path& target, std::string_view suffix) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::random_device random;
    std::string name = target.filename().string() + '.';
    for (auto bits = random(), count = 8U; count > 0; --count, bits >>= 4U) name += digits[bits & 0xfU];
    return target.parent_path() / (name + std::string(suffix));
}

/// A file or link under a temporary name, which becomes its target whole or leaves no trace.
class unfinished {
public:
    unfinished(std::filesystem::path target, std::string_view suffix)
        : target_(std::move(target)), path_(beside(target_, suffix)) {
        std::error_code failure;
        std::filesystem::create_directories(target_.parent_path(), failure);
        if (failure) fail_io(target_.parent_path(), "cannot create the folder", failure);
    }
    unfinished(const unfinished&) = delete;
    unfinished& operator=(const unfinished&) = delete;
    ~unfinished() {
        std::error_code ignored;
        if (!finished_) std::filesystem::remove(path_, ignored);
    }

    const std::filesystem::path& path() const noexcept { return path_; }

    /// Writes `content` and waits until it is on the disk, so that a rename never leads to an empty file.
    void write(std::string_view content) {
        const int file = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file < 0) fail_io(path_, "cannot create the file", {errno, std::generic_category()});
        int failure = 0;
        while (!content.empty() && failure == 0) {
            const ssize_t written = ::write(file, content.data(), content.size());
            if (written >= 0) content.remove_prefix(static_cast<std::size_t>(written));
            if (written < 0 && errno != EINTR) failure = errno;
        }
        if (failure == 0 && ::fsync(file) != 0) failure = errno;
        if (::close(file) != 0 && failure == 0) failure = errno;
        if (failure != 0) fail_io(path_, "cannot write the file", {failure, std::generic_category()});
    }

    void finish() {
        std::error_code failure;
        std::filesystem::rename(path_, target_, failure);
        if (failure) fail_io(target_, "cannot put the file in its place", failure);
        finished_ = true;
    }

private:
    std::filesystem::path target_;
    std::filesystem::path path_;
    bool finished_ = false;
};

inline void write_atomically(const std::filesystem::path& target, std::string_view content, std::string_view suffix) {
    unfinished file(target, suffix);
    file.write(content);
    file.finish();
}

inline std::optional<std::string> read_small_file(const std::filesystem::path& path, std::size_t most) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored)) return std::nullopt;
    std::ifstream in(path, std::ios::binary);
    std::string text(most, '\0');
    in.read(text.data(), static_cast<std::streamsize>(most));
    text.resize(static_cast<std::size_t>(in.gcount()));
    if (in.bad()) return std::nullopt;
    return text;
}

/// One repository in the cache. Names are checked before they get here.
class repo_cache {
public:
    repo_cache(const std::filesystem::path& cache_dir, std::string_view repo_name) : cache_dir_(cache_dir) {
        std::string folder = "models--" + std::string(repo_name);
        if (const std::size_t slash = folder.find('/'); slash != std::string::npos) folder.replace(slash, 1, "--");
        root_ = cache_dir_ / folder;
    }

    /// The commit that `revision` stood for when it was last asked; nothing where that is not known.
    std::optional<std::string> commit_of(std::string_view revision) const {
        if (is_commit(revision)) return std::string(revision);
        const auto text = read_small_file(root_ / "refs" / revision, 64);
        if (!text || !is_commit(trim(*text))) return std::nullopt;
        return std::string(trim(*text));
    }

    std::filesystem::path snapshot(std::string_view commit, std::string_view filename) const {
        return root_ / "snapshots" / commit / filename;
    }

    /// True where the file is there to be read: neither a folder nor a link into nothing.
    bool has(std::string_view commit, std::string_view filename) const {
        std::error_code ignored;
        return std::filesystem::is_regular_file(snapshot(commit, filename), ignored);
    }

    /// True where the hub has said before that the commit has no such file.
    bool known_absent(std::string_view commit, std::string_view filename) const {
        std::error_code ignored;
        return std::filesystem::is_regular_file(root_ / ".no_exist" / commit / filename, ignored);
    }

    /// The size in bytes of a blob; nothing where it is not cached.
    std::optional<std::uint64_t> blob_size(std::string_view blob) const {
        std::error_code failure;
        const std::uintmax_t size = std::filesystem::file_size(root_ / "blobs" / blob, failure);
        return failure ? std::nullopt : std::optional<std::uint64_t>(size);
    }

    /// The content of a blob of this size; nothing where there is none such.
    std::optional<std::string> read_blob(std::string_view blob, std::uint64_t size) const {
        if (blob_size(blob) != size) return std::nullopt;
        auto content = read_small_file(root_ / "blobs" / blob, static_cast<std::size_t>(size));
        return content && content->size() == size ? content : std::nullopt;
    }

    /// Makes `content` the file of this commit: a blob and a relative link to it, or a real file.
    void put(std::string_view commit, std::string_view filename, std::string_view blob, std::string_view content,
             bool symlinks) const {
        tag();
        if (symlinks) {
            if (blob_size(blob) != content.size()) write_atomically(root_ / "blobs" / blob, content, ".incomplete");
            unfinished link(snapshot(commit, filename), ".incomplete");
            std::filesystem::path target = std::filesystem::path("..") / "..";
            for (const char c : filename) {
                if (c == '/') target /= "..";
            }
            std::error_code failure;
            std::filesystem::create_symlink(target / "blobs" / blob, link.path(), failure);
            if (!failure) return link.finish();
        }
        write_atomically(snapshot(commit, filename), content, ".incomplete");
    }

    /// Remembers what a branch or tag stands for; does nothing for a commit or where it is known.
    void put_ref(std::string_view revision, std::string_view commit) const {
        if (!is_commit(revision) && commit_of(revision) != commit) {
            write_atomically(root_ / "refs" / revision, commit, ".tmp");
        }
    }

    /// Remembers that the commit has no such file.
    void put_absent(std::string_view commit, std::string_view filename) const {
        write_atomically(root_ / ".no_exist" / commit / filename, {}, ".tmp");
    }

private:
    /// Marks the cache so that backups leave it out (bford.info/cachedir); the cache works without.
    void tag() const try {
        const std::filesystem::path path = cache_dir_ / "CACHEDIR.TAG";
        if (!std::filesystem::exists(path)) {
            write_atomically(path, "Signature: 8a477f597d28d172789f06886806bc55\n", ".tmp");
        }
    } catch (const std::exception&) {
        return;
    }

    std::filesystem::path cache_dir_;
    std::filesystem::path root_;
};

}  // namespace llmcost::detail::hub
