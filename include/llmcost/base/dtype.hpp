// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/base/string_ref.hpp>

namespace llmcost {

/// Element types with the names of PyTorch. `unspecified` means the type of the configuration.
enum class dtype : std::uint8_t {
    unspecified,
    float32,
    float16,
    bfloat16,
    float64,
    float8_e4m3fn,
    float8_e5m2,
    int8,
    int4,
    complex64
};

/// An element type: its name, an accepted alias and its size in bits.
struct dtype_row {
    dtype type;
    literal name;
    literal alias;
    int bits;
};

// clang-format off
inline constexpr dtype_row dtype_table[]{
    {dtype::float32,       "float32",       "fp32", 32},
    {dtype::float16,       "float16",       "fp16", 16},
    {dtype::bfloat16,      "bfloat16",      "bf16", 16},
    {dtype::float64,       "float64",       "fp64", 64},
    {dtype::float8_e4m3fn, "float8_e4m3fn", "fp8",   8},
    {dtype::float8_e5m2,   "float8_e5m2",   "",      8},
    {dtype::int8,          "int8",          "i8",    8},
    {dtype::int4,          "int4",          "i4",    4},
    {dtype::complex64,     "complex64",     "",     64},
};
// clang-format on

/// Bits per element; 0 for `unspecified`.
[[nodiscard]] constexpr int bits_of(dtype type) noexcept {
    for (const auto& row : dtype_table)
        if (row.type == type) return row.bits;
    return 0;
}

/// The PyTorch name of an element type.
[[nodiscard]] constexpr literal name_of(dtype type) noexcept {
    for (const auto& row : dtype_table)
        if (row.type == type) return row.name;
    return "unspecified";
}

/// The element type named `bfloat16`, `torch.bfloat16` or `bf16`. Returns `unspecified` for an unknown name.
[[nodiscard]] constexpr dtype dtype_from(string_ref name) noexcept {
    if (name.starts_with("torch.")) name.remove_prefix(6);
    for (const auto& row : dtype_table)
        if (!name.empty() && (row.name == name || row.alias == name)) return row.type;
    return dtype::unspecified;
}

}  // namespace llmcost
