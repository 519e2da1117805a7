// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/text/error.hpp>

#include <cerrno>
#include <cstddef>
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
    open_file& operator=(open_file&& source) noexcept {
        std::swap(descriptor_, source.descriptor_);
        return *this;
    }
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
[[nodiscard]] inline open_file open_regular_at(int folder, const char* name, std::string& reason, int flags = 0) {
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

/// The first `maximum` bytes of `file`; false in `whole` where reading failed on the way.
[[nodiscard]] inline std::string read_prefix(const open_file& file, std::size_t maximum, bool& is_complete) {
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

/// The first `maximum` bytes of the regular file at `path`; throws `io` at `where` for a folder, a pipe, a device or
/// nothing.
[[nodiscard]] inline std::string read_regular_file(const std::string& path, std::size_t maximum,
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
