// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace llmcost {

// clang-format off
/// Element types of ggml; the values are those in files.
enum class ggml_type : std::uint32_t {
    f32 = 0, f16 = 1, q4_0 = 2, q4_1 = 3, q5_0 = 6, q5_1 = 7, q8_0 = 8, q8_1 = 9, q2_k = 10, q3_k = 11, q4_k = 12,
    q5_k = 13, q6_k = 14, q8_k = 15, iq2_xxs = 16, iq2_xs = 17, iq3_xxs = 18, iq1_s = 19, iq4_nl = 20, iq3_s = 21,
    iq2_s = 22, iq4_xs = 23, i8 = 24, i16 = 25, i32 = 26, i64 = 27, f64 = 28, iq1_m = 29, bf16 = 30, tq1_0 = 34,
    tq2_0 = 35, mxfp4 = 39, nvfp4 = 40, q1_0 = 41, q2_0 = 42
};
// clang-format on

/// One line per type: its name, elements of a block, bytes of a block.
struct ggml_type_row {
    ggml_type type;
    const char* name;
    std::uint32_t block;
    std::uint32_t bytes;
};

// Bytes of a block are its parts in ggml-common.h: halves of 2, scales, then the elements' bits.
inline constexpr ggml_type_row ggml_types[]{
    {ggml_type::f32, "F32", 1, 4},
    {ggml_type::f16, "F16", 1, 2},
    {ggml_type::bf16, "BF16", 1, 2},
    {ggml_type::f64, "F64", 1, 8},
    {ggml_type::i8, "I8", 1, 1},
    {ggml_type::i16, "I16", 1, 2},
    {ggml_type::i32, "I32", 1, 4},
    {ggml_type::i64, "I64", 1, 8},
    {ggml_type::q1_0, "Q1_0", 128, 2 + 16},
    {ggml_type::q2_0, "Q2_0", 64, 2 + 16},
    {ggml_type::q4_0, "Q4_0", 32, 2 + 16},
    {ggml_type::q4_1, "Q4_1", 32, 2 + 2 + 16},
    {ggml_type::q5_0, "Q5_0", 32, 2 + 4 + 16},
    {ggml_type::q5_1, "Q5_1", 32, 2 + 2 + 4 + 16},
    {ggml_type::q8_0, "Q8_0", 32, 2 + 32},
    // as in ggml-common.h; gguf-py has 40, from when these two were floats
    {ggml_type::q8_1, "Q8_1", 32, 2 + 2 + 32},
    {ggml_type::q2_k, "Q2_K", 256, 16 + 64 + 2 + 2},
    {ggml_type::q3_k, "Q3_K", 256, 32 + 64 + 12 + 2},
    {ggml_type::q4_k, "Q4_K", 256, 2 + 2 + 12 + 128},
    {ggml_type::q5_k, "Q5_K", 256, 2 + 2 + 12 + 32 + 128},
    {ggml_type::q6_k, "Q6_K", 256, 128 + 64 + 16 + 2},
    {ggml_type::q8_k, "Q8_K", 256, 4 + 256 + 32},
    {ggml_type::iq2_xxs, "IQ2_XXS", 256, 2 + 64},
    {ggml_type::iq2_xs, "IQ2_XS", 256, 2 + 64 + 8},
    {ggml_type::iq2_s, "IQ2_S", 256, 2 + 64 + 8 + 8},
    {ggml_type::iq3_xxs, "IQ3_XXS", 256, 2 + 96},
    {ggml_type::iq3_s, "IQ3_S", 256, 2 + 64 + 8 + 32 + 4},
    {ggml_type::iq1_s, "IQ1_S", 256, 2 + 32 + 16},
    {ggml_type::iq1_m, "IQ1_M", 256, 32 + 16 + 8},
    {ggml_type::iq4_nl, "IQ4_NL", 32, 2 + 16},
    {ggml_type::iq4_xs, "IQ4_XS", 256, 2 + 2 + 4 + 128},
    {ggml_type::tq1_0, "TQ1_0", 256, 48 + 4 + 2},
    {ggml_type::tq2_0, "TQ2_0", 256, 64 + 2},
    {ggml_type::mxfp4, "MXFP4", 32, 1 + 16},
    {ggml_type::nvfp4, "NVFP4", 64, 4 + 32},
};

/// The line of a type; nothing for a number that is none.
[[nodiscard]] constexpr const ggml_type_row* find_ggml_type(std::uint32_t type) noexcept {
    for (const ggml_type_row& row : ggml_types)
        if (static_cast<std::uint32_t>(row.type) == type) return &row;
    return nullptr;
}
[[nodiscard]] constexpr const ggml_type_row& row_of(ggml_type type) noexcept {
    return *find_ggml_type(static_cast<std::uint32_t>(type));
}

}  // namespace llmcost
