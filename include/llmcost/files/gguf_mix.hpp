// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include <llmcost/files/ggml_type.hpp>

// The argument of llama-quantize: which mix of types a file gets.
namespace llmcost::detail {

// clang-format off
enum class gguf_mix : std::uint8_t {
    f16, bf16, q8_0, q4_0, q4_1, q5_0, q5_1, q2_k_s, q2_k, q3_k_s, q3_k_m, q3_k_l, q4_k_s, q4_k_m, q5_k_s, q5_k_m, q6_k,
    iq1_s, iq1_m, iq2_xxs, iq2_xs, iq2_s, iq2_m, iq3_xxs, iq3_xs, iq3_s, iq3_m, iq4_nl, iq4_xs, tq1_0, tq2_0, mxfp4_moe
};
// clang-format on
struct gguf_mix_entry {
    gguf_mix quant_mix;
    std::string_view name;
    ggml_type type;  ///< of tensors that no rule is about
};
// Source: llama.cpp, src/llama-quant.cpp, `llama_ftype_get_default_type`.
inline constexpr gguf_mix_entry gguf_mixes[]{
    {gguf_mix::f16, "f16", ggml_type::f16},          {gguf_mix::bf16, "bf16", ggml_type::bf16},
    {gguf_mix::q8_0, "q8_0", ggml_type::q8_0},       {gguf_mix::q4_0, "q4_0", ggml_type::q4_0},
    {gguf_mix::q4_1, "q4_1", ggml_type::q4_1},       {gguf_mix::q5_0, "q5_0", ggml_type::q5_0},
    {gguf_mix::q5_1, "q5_1", ggml_type::q5_1},       {gguf_mix::q4_k_s, "q4_k_s", ggml_type::q4_k},
    {gguf_mix::q4_k_m, "q4_k_m", ggml_type::q4_k},   {gguf_mix::q5_k_s, "q5_k_s", ggml_type::q5_k},
    {gguf_mix::q5_k_m, "q5_k_m", ggml_type::q5_k},   {gguf_mix::q6_k, "q6_k", ggml_type::q6_k},
    {gguf_mix::q2_k, "q2_k", ggml_type::q2_k},       {gguf_mix::q2_k_s, "q2_k_s", ggml_type::q2_k},
    {gguf_mix::q3_k_s, "q3_k_s", ggml_type::q3_k},   {gguf_mix::q3_k_m, "q3_k_m", ggml_type::q3_k},
    {gguf_mix::q3_k_l, "q3_k_l", ggml_type::q3_k},   {gguf_mix::iq1_s, "iq1_s", ggml_type::iq1_s},
    {gguf_mix::iq1_m, "iq1_m", ggml_type::iq1_m},    {gguf_mix::iq2_xxs, "iq2_xxs", ggml_type::iq2_xxs},
    {gguf_mix::iq2_xs, "iq2_xs", ggml_type::iq2_xs}, {gguf_mix::iq2_s, "iq2_s", ggml_type::iq2_xs},
    {gguf_mix::iq2_m, "iq2_m", ggml_type::iq2_s},    {gguf_mix::iq3_xxs, "iq3_xxs", ggml_type::iq3_xxs},
    {gguf_mix::iq3_xs, "iq3_xs", ggml_type::iq3_s},  {gguf_mix::iq3_s, "iq3_s", ggml_type::iq3_s},
    {gguf_mix::iq3_m, "iq3_m", ggml_type::iq3_s},    {gguf_mix::iq4_nl, "iq4_nl", ggml_type::iq4_nl},
    {gguf_mix::iq4_xs, "iq4_xs", ggml_type::iq4_xs}, {gguf_mix::tq1_0, "tq1_0", ggml_type::tq1_0},
    {gguf_mix::tq2_0, "tq2_0", ggml_type::tq2_0},    {gguf_mix::mxfp4_moe, "mxfp4_moe", ggml_type::mxfp4},
};

/// The line of a mix; null where there is none of this name.
[[nodiscard]] constexpr const gguf_mix_entry* lookup_gguf_mix(std::string_view name) noexcept {
    for (const gguf_mix_entry& row : gguf_mixes)
        if (row.name == name) return &row;
    return nullptr;
}

}  // namespace llmcost::detail
