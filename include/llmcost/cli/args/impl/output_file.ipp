// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/args/output_file.hpp>

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <llmcost/base/inline.hpp>
#include <llmcost/files/regular_file.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::detail {

/// Writes a text and closes the file; returns the error number, or 0.
[[nodiscard]] LLMCOST_INLINE int write_and_close(open_file& file, std::string_view text) {
    int failure = 0;
    while (!text.empty() && failure == 0) {
        const ssize_t written = ::write(file.get(), text.data(), text.size());
        if (written >= 0) text.remove_prefix(static_cast<std::size_t>(written));
        if (written < 0 && errno != EINTR) failure = errno;
    }
    const int closed = file.close();
    return failure != 0 ? failure : closed;
}

/// The file that a path leads to through links, and whether it may be replaced by another one.
struct output_place {
    std::string path;
    bool is_replaceable = false;
    ::mode_t mode = 0;  ///< permissions of the former file; 0: there is none
};

[[nodiscard]] LLMCOST_INLINE output_place find_output_place(const std::string& path) {
    output_place place{path, true, 0};
    std::error_code failure;
    if (const auto target = std::filesystem::canonical(path, failure); !failure) place.path = target.string();
    struct stat facts {};
    if (::stat(place.path.c_str(), &facts) == 0) {
        place.is_replaceable = S_ISREG(facts.st_mode) && facts.st_nlink == 1 && ::access(place.path.c_str(), W_OK) == 0;
        place.mode = facts.st_mode & 07777U;
    } else {
        place.is_replaceable = !std::filesystem::is_symlink(path, failure);
    }
    return place;
}

/// Writes the file directly. The former content is lost.
[[nodiscard]] LLMCOST_INLINE int overwrite(const std::string& path, std::string_view text) {
    open_file file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666));
    return file ? write_and_close(file, text) : errno;
}

/// Writes the text next to the file and gives it the file's name. Returns the error number, or 0.
[[nodiscard]] LLMCOST_INLINE int replace(const output_place& place, std::string_view text) {
    const std::string temporary = place.path + ".llmcost-" + std::to_string(::getpid());
    open_file file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
    if (!file) return errno == ENOENT || errno == ENAMETOOLONG ? errno : overwrite(place.path, text);
    if (place.mode != 0) (void)::fchmod(file.get(), place.mode);
    int failure = write_and_close(file, text);
    if (failure == 0 && ::rename(temporary.c_str(), place.path.c_str()) != 0) failure = errno;
    if (failure != 0) ::unlink(temporary.c_str());
    return failure;
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE void write_output_file(const std::string& path, std::string_view text) {
    const detail::output_place place = detail::find_output_place(path);
    const int failure = place.is_replaceable ? detail::replace(place, text) : detail::overwrite(place.path, text);
    if (failure != 0)
        throw error(errc::output, printable(path), "cannot be written: " + std::generic_category().message(failure));
}

}  // namespace llmcost
