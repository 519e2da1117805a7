// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <llmcost/files/regular_file.hpp>
#include <llmcost/text/error.hpp>

// Files of weights are larger than memory, so they are read by ranges.
namespace llmcost::detail {

/// A folder and the name of a file in it; the folder of a plain name is the working one.
struct split_path {
    std::string folder;
    std::string name;
};
split_path split(const std::string& path);

bool is_folder(const std::string& path);
bool exists(const std::string& path);

/// A regular file of known length, read by ranges.
class weight_file {
public:
    /// Throws `io` for what cannot be opened and for what is no regular file.
    explicit weight_file(const std::string& path);

    /// For messages.
    [[nodiscard]] const std::string& position() const noexcept { return position_; }
    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

    /// Throws `bad_value` at a byte.
    [[noreturn]] void fail(std::uint64_t offset, const std::string& message) const {
        throw error(errc::bad_value, position_ + ": byte " + std::to_string(offset), message);
    }
    /// Reads `n` bytes from `offset` on, which lie inside of the file; throws `io` where it has shrunk since.
    void read(std::uint64_t offset, char* to, std::size_t n) const;

private:
    std::string position_;
    open_file file_;
    std::uint64_t size_ = 0;
};

/// An unsigned number whose bytes are in little-endian order.
std::uint64_t little_endian(const char* bytes, std::size_t n) noexcept;

}  // namespace llmcost::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/files/impl/weight_file.ipp>  // IWYU pragma: export
#endif
