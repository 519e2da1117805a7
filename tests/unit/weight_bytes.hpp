// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

// Files of weights, byte by byte.
namespace llmcost::testing {

inline std::string little(std::uint64_t value, std::size_t bytes) {
    std::string out;
    for (std::size_t i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xFF);
    return out;
}

/// A header with its length and so many bytes of data.
inline std::string safetensors_bytes(std::string_view header, std::size_t data) {
    return little(header.size(), 8) + std::string(header) + std::string(data, '\0');
}

/// Writes a GGUF file from its parts.
struct gguf_bytes {
    std::string entries{};
    std::string table{};
    std::uint64_t entry_count = 0;
    std::uint64_t tensor_count = 0;
    std::uint64_t offset = 0;
    std::uint64_t alignment = 32;

    static std::string text(std::string_view s) { return little(s.size(), 8) + std::string(s); }
    gguf_bytes& raw(std::string_view key, std::uint32_t type, const std::string& value) {
        entries += text(key) + little(type, 4) + value;
        ++entry_count;
        return *this;
    }
    gguf_bytes& integer(std::string_view key, std::uint32_t value) { return raw(key, 4, little(value, 4)); }
    gguf_bytes& string(std::string_view key, std::string_view value) { return raw(key, 8, text(value)); }
    gguf_bytes& real(std::string_view key, float value) {
        std::uint32_t bits = 0;
        std::memcpy(&bits, &value, sizeof bits);
        return raw(key, 6, little(bits, 4));
    }
    /// Sizes are as files have them, the densest first.
    gguf_bytes& tensor_at(std::uint64_t begin, std::string_view name, const std::vector<std::uint64_t>& sizes,
                          std::uint32_t type, std::uint64_t bytes) {
        table += text(name) + little(sizes.size(), 4);
        for (const std::uint64_t size : sizes) table += little(size, 8);
        table += little(type, 4) + little(begin, 8);
        ++tensor_count;
        offset = (begin + bytes + alignment - 1) / alignment * alignment;
        return *this;
    }
    gguf_bytes& tensor(std::string_view name, const std::vector<std::uint64_t>& sizes, std::uint32_t type,
                       std::uint64_t bytes) {
        return tensor_at(offset, name, sizes, type, bytes);
    }
    [[nodiscard]] std::string header(std::uint32_t version = 3) const {
        return "GGUF" + little(version, 4) + little(tensor_count, 8) + little(entry_count, 8) + entries + table;
    }
    [[nodiscard]] std::string file(std::uint32_t version = 3) const {
        std::string out = header(version);
        out.resize((out.size() + alignment - 1) / alignment * alignment, '\0');
        return out + std::string(offset, '\0');
    }
};

}  // namespace llmcost::testing
