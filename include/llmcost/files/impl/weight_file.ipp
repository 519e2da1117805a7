// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/files/weight_file.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>

#include <llmcost/base/inline.hpp>
#include <llmcost/files/regular_file.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::detail {

LLMCOST_INLINE split_path split(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return {".", path};
    return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

LLMCOST_INLINE bool is_folder(const std::string& path) {
    struct stat facts {};
    return ::stat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode);
}

LLMCOST_INLINE bool exists(const std::string& path) {
    struct stat facts {};
    return ::lstat(path.c_str(), &facts) == 0;
}

LLMCOST_INLINE weight_file::weight_file(const std::string& path) : position_(printable(path)) {
    std::string reason;
    file_ = open_regular_at(AT_FDCWD, path.c_str(), reason);
    if (!file_) throw error(errc::io, position_, reason);
    struct stat facts {};
    if (::fstat(file_.get(), &facts) != 0 || facts.st_size < 0)
        throw error(errc::io, position_, "cannot be read: " + std::generic_category().message(errno));
    size_ = static_cast<std::uint64_t>(facts.st_size);
}

LLMCOST_INLINE void weight_file::read(std::uint64_t offset, char* to, std::size_t n) const {
    while (n > 0) {
        const ssize_t got = ::pread(file_.get(), to, n, static_cast<off_t>(offset));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) throw error(errc::io, position_, "cannot be read: " + std::generic_category().message(errno));
        if (got == 0) throw error(errc::io, position_, "ends before its length");
        offset += static_cast<std::uint64_t>(got);
        to += got;
        n -= static_cast<std::size_t>(got);
    }
}

LLMCOST_INLINE std::uint64_t little_endian(const char* bytes, std::size_t n) noexcept {
    std::uint64_t value = 0;
    for (std::size_t i = n; i-- > 0;) value = value << 8U | static_cast<unsigned char>(bytes[i]);
    return value;
}

}  // namespace llmcost::detail
