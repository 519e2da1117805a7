// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <llmcost/c/arrow.h>

// Columns as arrays of the Arrow C data interface, which own their memory.
namespace arrow {

/// A column: its type, its values and its nulls.
struct column {
    std::string name;
    std::string format;  ///< of the Arrow specification: `l` is int64, `g` is double
    std::int64_t length = 0;
    std::int64_t null_count = 0;
    std::vector<std::vector<std::byte>> buffers{};  ///< validity (empty: no nulls), then those of the format
    std::vector<column> children{};
    std::unique_ptr<column> dictionary{};
};

/// The bytes of values.
template <class T>
[[nodiscard]] std::vector<std::byte> bytes_of(const std::vector<T>& values) {
    std::vector<std::byte> bytes(values.size() * sizeof(T));
    if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
}

/// Bits of a predicate over rows, least significant first.
template <class Predicate>
[[nodiscard]] std::vector<std::byte> bits_of(std::int64_t length, Predicate is_set) {
    std::vector<std::byte> bits(static_cast<std::size_t>((length + 7) / 8));
    for (std::int64_t i = 0; i < length; ++i)
        if (is_set(static_cast<std::size_t>(i))) bits[static_cast<std::size_t>(i / 8)] |= std::byte{1} << (i % 8);
    return bits;
}

/// A column of texts.
[[nodiscard]] inline column text_column(std::string name, const std::vector<std::string>& texts) {
    std::vector<std::int32_t> offsets{0};
    std::string all;
    for (const std::string& text : texts) {
        all += text;
        offsets.push_back(static_cast<std::int32_t>(all.size()));
    }
    column out{std::move(name), "u", static_cast<std::int64_t>(texts.size())};
    out.buffers = {{}, bytes_of(offsets), bytes_of(std::vector<char>(all.begin(), all.end()))};
    return out;
}

/// Moves a column to an array; its release callback frees the memory.
void export_array(column values, ArrowArray* out);

/// The schema of a column; its release callback frees the memory.
void export_schema(const column& values, ArrowSchema* out);

}  // namespace arrow
