// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/files/weight_file.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>

#include <llmcost/base/inline.hpp>
#include <llmcost/files/regular_file.hpp>
#include <llmcost/files/system.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::detail {

LLMCOST_INLINE split_path split(const std::string& path) {
    const std::size_t slash = path.find_last_of(sys::path_separators);
    if (slash == std::string::npos) return {".", path};
    return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

LLMCOST_INLINE bool is_folder(const std::string& path) { return sys::facts_of(path).kind == sys::file_kind::folder; }

LLMCOST_INLINE bool exists(const std::string& path) {
    std::error_code failure;
    return std::filesystem::exists(std::filesystem::symlink_status(path, failure));
}

LLMCOST_INLINE weight_file::weight_file(const std::string& path) : position_(printable(path)) {
    std::string reason;
    file_ = open_regular(path, reason);
    if (!file_) throw error(errc::io, position_, reason);
    size_ = sys::facts_of(file_.get()).size;
}

LLMCOST_INLINE void weight_file::read(std::uint64_t offset, char* to, std::size_t n) const {
    while (n > 0) {
        const std::int64_t got = sys::read_at(file_.get(), to, n, offset);
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
