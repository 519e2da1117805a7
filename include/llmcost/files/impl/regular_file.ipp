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
#include <llmcost/files/system.hpp>
#include <llmcost/text/error.hpp>

namespace llmcost::detail {

LLMCOST_INLINE open_file& open_file::operator=(open_file&& source) noexcept {
    std::swap(descriptor_, source.descriptor_);
    return *this;
}

LLMCOST_INLINE open_file open_regular(const std::string& path, std::string& reason) {
    open_file file(sys::open(path, sys::open_mode::read));
    const int failure = errno;
    const sys::file_kind kind = file ? sys::facts_of(file.get()).kind : sys::file_kind::missing;
    switch (kind) {
        case sys::file_kind::regular: return file;
        case sys::file_kind::missing: reason = "cannot be opened: " + std::generic_category().message(failure); break;
        case sys::file_kind::folder: reason = "expected a regular file, found a folder"; break;
        case sys::file_kind::pipe: reason = "expected a regular file, found a pipe"; break;
        case sys::file_kind::device: reason = "expected a regular file, found a device"; break;
    }
    return {};
}

LLMCOST_INLINE std::string read_prefix(const open_file& file, std::size_t maximum, bool& is_complete) {
    constexpr std::size_t block = 65'536;
    std::string text;
    for (;;) {
        const std::size_t previous_size = text.size();
        const std::size_t wanted = maximum - previous_size < block ? maximum - previous_size : block;
        text.resize(previous_size + wanted);
        const std::int64_t size = wanted == 0 ? 0 : sys::read(file.get(), text.data() + previous_size, wanted);
        text.resize(previous_size + (size > 0 ? static_cast<std::size_t>(size) : 0));
        if (size < 0 && errno == EINTR) continue;
        is_complete = size == 0;
        if (size <= 0) return text;
    }
}

LLMCOST_INLINE std::uint64_t file_bytes(const std::string& path) { return sys::facts_of(path).size; }

LLMCOST_INLINE std::string read_regular_file(const std::string& path, std::size_t maximum,
                                             const std::string& location) {
    std::string reason;
    const open_file file = open_regular(path, reason);
    if (!file) throw error(errc::io, location, reason);
    bool is_complete = false;
    std::string text = read_prefix(file, maximum, is_complete);
    if (!is_complete) throw error(errc::io, location, "cannot be read: " + std::generic_category().message(errno));
    return text;
}

}  // namespace llmcost::detail
