// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <llmcost/files/ggml_type.hpp>
#include <llmcost/files/stored_tensor.hpp>
#include <llmcost/files/weight_file.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>

// The header of a GGUF file (version 2 or 3, little-endian): metadata and the table of tensors.
namespace llmcost {

/// How much of a file is read before it is refused.
struct gguf_limits {
    std::uint64_t header = std::uint64_t{256} << 20U;  ///< bytes in front of the weights
    std::uint64_t entries = 65'536;                    ///< of metadata
    std::uint64_t tensors = std::uint64_t{1} << 20U;
    std::uint64_t name = 65'535;        ///< bytes of a key or of a tensor's name
    std::uint64_t text_bytes = 65'536;  ///< bytes of a text that are stored
    std::uint64_t items = 4'096;        ///< numbers of an array that are stored; none of an array of texts
    std::uint64_t all_items = std::uint64_t{1} << 18U;  ///< numbers of all arrays that are stored
};

/// A value of the metadata.
struct gguf_value {
    enum class kind : std::uint8_t { integer, real, boolean, text, array };
    kind type = kind::integer;
    std::int64_t integer = 0;  ///< of integers and booleans; integers from 2^63 on are reals
    double real = 0;
    std::string text{};               ///< of texts, their beginning
    std::uint64_t size = 0;           ///< of texts and arrays
    std::vector<gguf_value> items{};  ///< of arrays of numbers, their beginning
};

/// The content of one GGUF file, or of all parts of a split one.
struct gguf_file {
    std::string name;  ///< for messages
    std::uint32_t version = 0;
    std::uint64_t alignment = 32;
    std::uint64_t data_begin = 0;  ///< where the weights begin in the first file
    std::uint64_t bytes = 0;       ///< of all files
    std::unordered_map<std::string, gguf_value> metadata;
    stored_tensors weights;

    /// The value of a key, or nothing.
    [[nodiscard]] const gguf_value* find(std::string_view key) const;
};

namespace detail {

/// Goes through the bytes in front of the weights, once, and never beyond the file or the limit.
class gguf_reader {
public:
    gguf_reader(const weight_file& file, const gguf_limits& limits);

    [[nodiscard]] std::uint64_t position() const noexcept { return position_; }
    [[noreturn]] void fail(const std::string& message) const { file_.fail(position_, message); }
    /// Throws where a field would reach beyond the end.
    void need(std::uint64_t n, const char* label) const;
    void skip(std::uint64_t n, const char* label);
    void bytes(char* to, std::size_t n, const char* label);
    std::uint64_t number(std::size_t n, const char* label);
    /// Reads a text and stores its first `kept` bytes.
    std::string text(std::uint64_t max_bytes, std::uint64_t& size, const char* label);
    /// The number of elements of an array that are stored.
    std::uint64_t keep(std::uint64_t n);
    std::string short_name(const char* label);

private:
    static constexpr std::size_t block_size = 65'536;
    void fill();

    const weight_file& file_;
    const gguf_limits& limits_;
    std::uint64_t end_;
    std::uint64_t position_ = 0;
    std::uint64_t block_begin_ = 0;
    std::uint64_t block_end_ = 0;
    std::uint64_t num_items_ = 0;
    std::unique_ptr<char[]> block_;
};

inline constexpr std::uint32_t gguf_text = 8, gguf_array = 9;
/// Bytes of a number or a truth value of this type; 0 for others.
constexpr std::size_t gguf_bytes(std::uint32_t type) noexcept {
    constexpr std::size_t bytes[]{1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    return type < sizeof bytes / sizeof *bytes ? bytes[type] : 0;
}

/// Up to the next multiple of a power of two; below 2^64 for numbers below 2^63.
constexpr std::uint64_t padded(std::uint64_t n, std::uint64_t alignment) noexcept {
    return (n + alignment - 1) / alignment * alignment;
}

}  // namespace detail

/// The metadata and tensors of a GGUF file; for a split file, the path is that of its first part and all parts are
/// read.
///
/// Throws `io` for what cannot be read, `bad_value` with file and byte for what is no such file.
[[nodiscard]] gguf_file read_gguf(const std::string& path, const gguf_limits& limits = {});

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/files/impl/gguf.ipp>  // IWYU pragma: export
#endif
