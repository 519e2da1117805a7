// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <system_error>
#include <utility>

#include <llmcost/files/system.hpp>

// Files that are read completely: never a pipe that waits for a writer, never a device that has no end.
namespace llmcost::detail {

/// An open file or folder, closed with the object; false where there is none.
class open_file {
public:
    open_file() = default;
    explicit open_file(int descriptor) noexcept : descriptor_(descriptor) {}
    open_file(open_file&& source) noexcept : descriptor_(std::exchange(source.descriptor_, -1)) {}
    open_file& operator=(open_file&& source) noexcept;
    ~open_file() {
        if (descriptor_ >= 0) sys::close(descriptor_);
    }

    explicit operator bool() const noexcept { return descriptor_ >= 0; }
    /// The descriptor, which stays with the object; -1 where there is none.
    [[nodiscard]] int get() const noexcept { return descriptor_; }
    /// Closes the file and returns the error number that this gives; 0 for none.
    [[nodiscard]] int close() noexcept { return sys::close(std::exchange(descriptor_, -1)) == 0 ? 0 : errno; }

private:
    int descriptor_ = -1;
};

/// The regular file at `path`, open to be read, else an empty object and why.
[[nodiscard]] open_file open_regular(const std::string& path, std::string& reason);

/// The first `maximum` bytes of a file. `is_complete` becomes false if reading fails.
[[nodiscard]] std::string read_prefix(const open_file& file, std::size_t maximum, bool& is_complete);

/// The size of the file at `path` in bytes; 0 if it is unknown.
[[nodiscard]] std::uint64_t file_bytes(const std::string& path);

/// The first `maximum` bytes of the regular file at `path`; throws `io` at `where` for a folder, a pipe, a device or
/// nothing.
[[nodiscard]] std::string read_regular_file(const std::string& path, std::size_t maximum, const std::string& location);

}  // namespace llmcost::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/files/impl/regular_file.ipp>  // IWYU pragma: export
#endif
