// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <llmcost/base/config_error.hpp>
#include <llmcost/base/config_view.hpp>
#include <llmcost/files/stored_tensor.hpp>
#include <llmcost/files/weight_file.hpp>
#include <llmcost/json.hpp>
#include <llmcost/json/builder.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>

// Headers of safetensors: 8 bytes of length, JSON with type, shape and place of every tensor, then the data, without
// gaps.
namespace llmcost {

/// How large a header or an index may be; 100 MB is the format's own limit.
struct safetensors_limits {
    std::size_t header = 100'000'000;            ///< bytes
    std::size_t values = std::size_t{1} << 21U;  ///< JSON values, some eight for each tensor
};

namespace detail {

/// Bits of one element of a type of safetensors; 0 where there is none of this name.
constexpr unsigned safetensors_bits(std::string_view type) noexcept {
    struct row {
        std::string_view type;
        unsigned bits;
    };
    constexpr row rows[]{{"BF16", 16},       {"F16", 16},        {"F32", 32}, {"F64", 64},    {"BOOL", 8},
                         {"U8", 8},          {"I8", 8},          {"U16", 16}, {"I16", 16},    {"U32", 32},
                         {"I32", 32},        {"U64", 64},        {"I64", 64}, {"F8_E4M3", 8}, {"F8_E5M2", 8},
                         {"F8_E8M0", 8},     {"F8_E4M3FNUZ", 8}, {"F4", 4},   {"F6_E2M3", 6}, {"F6_E3M2", 6},
                         {"F8_E5M2FNUZ", 8}, {"C64", 64}};
    for (const row& r : rows)
        if (r.type == type) return r.bits;
    return 0;
}

/// Where a tensor lies in the data; the node is for messages.
struct stored_range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    config_view node{};
};

/// Calls `read` with the root of a JSON text; what is wrong becomes an error at `where`.
template <class Read>
void read_json_of_weights(std::string_view text, const std::string& location, const safetensors_limits& limits,
                          const Read& read) {
    const parsed_json parsed = parse_json(text, location, {.text = limits.header, .nodes = limits.values});
    try {
        const config_view root{parsed.nodes, 0};
        read(root.as_object());
    } catch (const config_error& problem) {
        throw_error(problem, location);
    }
}

/// An index: which shard holds which tensor. Shards are in its folder.
stored_tensors read_safetensors_index(const std::string& path, const safetensors_limits& limits);

}  // namespace detail

/// Whether two tensors of safetensors files have the same type, sizes and data. Reads up to the first difference.
///
/// Throws: `io` for a file that cannot be read.
[[nodiscard]] bool has_equal_data(const stored_tensor& a, const stored_tensor& b);

/// The tensors of a safetensors file, of an index (`*.json`) with its shards, or of a model's folder:
/// `model.safetensors`, else `model.safetensors.index.json`. Reads headers only.
///
/// Throws `io` for what cannot be read, `bad_value` with file and byte or JSON pointer for what is no such file.
[[nodiscard]] stored_tensors read_safetensors(const std::string& path, const safetensors_limits& limits = {});

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/files/impl/safetensors.ipp>  // IWYU pragma: export
#endif
