// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

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
        if (descriptor_ >= 0) ::close(descriptor_);
    }

    explicit operator bool() const noexcept { return descriptor_ >= 0; }
    /// The descriptor, which stays with the object; -1 where there is none.
    [[nodiscard]] int get() const noexcept { return descriptor_; }
    /// Closes the file and returns the error number that this gives; 0 for none.
    [[nodiscard]] int close() noexcept { return ::close(std::exchange(descriptor_, -1)) == 0 ? 0 : errno; }

private:
    int descriptor_ = -1;
};

/// The regular file `name` in `folder`, open to be read, else an empty object and why; `flags` are added to `open`'s.
[[nodiscard]] open_file open_regular_at(int folder, const char* name, std::string& reason, int flags = 0);

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
