// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/files/regular_file.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <llmcost/base/inline.hpp>
#include <llmcost/text/error.hpp>

namespace llmcost::detail {

LLMCOST_INLINE open_file& open_file::operator=(open_file&& source) noexcept {
    std::swap(descriptor_, source.descriptor_);
    return *this;
}

LLMCOST_INLINE open_file open_regular_at(int folder, const char* name, std::string& reason, int flags) {
    // without O_NONBLOCK, opening a pipe would wait for its writer
    open_file file(::openat(folder, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY | flags));
    struct stat facts {};
    if (!file || ::fstat(file.get(), &facts) != 0) {
        reason = "cannot be opened: " + std::generic_category().message(errno);
        return {};
    }
    if (S_ISREG(facts.st_mode)) return file;
    reason = std::string("expected a regular file, found ") + (S_ISDIR(facts.st_mode)    ? "a folder"
                                                               : S_ISFIFO(facts.st_mode) ? "a pipe"
                                                                                         : "a device");
    return {};
}

LLMCOST_INLINE std::string read_prefix(const open_file& file, std::size_t maximum, bool& is_complete) {
    constexpr std::size_t block = 65'536;
    std::string text;
    for (;;) {
        const std::size_t previous_size = text.size();
        const std::size_t wanted = maximum - previous_size < block ? maximum - previous_size : block;
        text.resize(previous_size + wanted);
        const ssize_t size = wanted == 0 ? 0 : ::read(file.get(), text.data() + previous_size, wanted);
        text.resize(previous_size + (size > 0 ? static_cast<std::size_t>(size) : 0));
        if (size < 0 && errno == EINTR) continue;
        is_complete = size == 0;
        if (size <= 0) return text;
    }
}

LLMCOST_INLINE std::uint64_t file_bytes(const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

LLMCOST_INLINE std::string read_regular_file(const std::string& path, std::size_t maximum,
                                             const std::string& location) {
    std::string reason;
    const open_file file = open_regular_at(AT_FDCWD, path.c_str(), reason);
    if (!file) throw error(errc::io, location, reason);
    bool is_complete = false;
    std::string text = read_prefix(file, maximum, is_complete);
    if (!is_complete) throw error(errc::io, location, "cannot be read: " + std::generic_category().message(errno));
    return text;
}

}  // namespace llmcost::detail
