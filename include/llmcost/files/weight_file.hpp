// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <llmcost/files/regular_file.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>

// Files of weights are larger than memory, so they are read by ranges.
namespace llmcost::detail {

/// A folder and the name of a file in it; the folder of a plain name is the working one.
struct split_path {
    std::string folder;
    std::string name;
};
inline split_path split(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return {".", path};
    return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

inline bool is_folder(const std::string& path) {
    struct stat facts {};
    return ::stat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode);
}
inline bool exists(const std::string& path) {
    struct stat facts {};
    return ::lstat(path.c_str(), &facts) == 0;
}

/// A regular file of known length, read by ranges.
class weight_file {
public:
    /// Throws `io` for what cannot be opened and for what is no regular file.
    explicit weight_file(const std::string& path) : position_(printable(path)) {
        std::string reason;
        file_ = open_regular_at(AT_FDCWD, path.c_str(), reason);
        if (!file_) throw error(errc::io, position_, reason);
        struct stat facts {};
        if (::fstat(file_.get(), &facts) != 0 || facts.st_size < 0)
            throw error(errc::io, position_, "cannot be read: " + std::generic_category().message(errno));
        size_ = static_cast<std::uint64_t>(facts.st_size);
    }

    /// For messages.
    [[nodiscard]] const std::string& position() const noexcept { return position_; }
    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

    /// Throws `bad_value` at a byte.
    [[noreturn]] void fail(std::uint64_t at, const std::string& message) const {
        throw error(errc::bad_value, position_ + ": byte " + std::to_string(at), message);
    }
    /// Reads `n` bytes from `at` on, which lie inside of the file; throws `io` where it has shrunk since.
    void read(std::uint64_t at, char* to, std::size_t n) const {
        while (n > 0) {
            const ssize_t got = ::pread(file_.get(), to, n, static_cast<off_t>(at));
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) throw error(errc::io, position_, "cannot be read: " + std::generic_category().message(errno));
            if (got == 0) throw error(errc::io, position_, "ends before its length");
            at += static_cast<std::uint64_t>(got);
            to += got;
            n -= static_cast<std::size_t>(got);
        }
    }

private:
    std::string position_;
    open_file file_;
    std::uint64_t size_ = 0;
};

/// An unsigned number whose bytes are in little-endian order.
inline std::uint64_t little_endian(const char* bytes, std::size_t n) noexcept {
    std::uint64_t value = 0;
    for (std::size_t i = n; i-- > 0;) value = value << 8U | static_cast<unsigned char>(bytes[i]);
    return value;
}

}  // namespace llmcost::detail
