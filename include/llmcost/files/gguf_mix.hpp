// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include <llmcost/files/ggml_type.hpp>

// The argument of llama-quantize: which mix of types a file gets.
namespace llmcost::detail {

enum class gguf_mix : std::uint8_t { f16, bf16, q8_0, q4_0, q4_k_s, q4_k_m, q5_k_m, q6_k, q2_k, q3_k_m, iq4_xs };
struct gguf_mix_entry {
    gguf_mix quant_mix;
    std::string_view name;
    ggml_type type;  ///< of tensors that no rule is about
};
inline constexpr gguf_mix_entry gguf_mixes[]{
    {gguf_mix::f16, "f16", ggml_type::f16},          {gguf_mix::bf16, "bf16", ggml_type::bf16},
    {gguf_mix::q8_0, "q8_0", ggml_type::q8_0},       {gguf_mix::q4_0, "q4_0", ggml_type::q4_0},
    {gguf_mix::q4_k_s, "q4_k_s", ggml_type::q4_k},   {gguf_mix::q4_k_m, "q4_k_m", ggml_type::q4_k},
    {gguf_mix::q5_k_m, "q5_k_m", ggml_type::q5_k},   {gguf_mix::q6_k, "q6_k", ggml_type::q6_k},
    {gguf_mix::q2_k, "q2_k", ggml_type::q2_k},       {gguf_mix::q3_k_m, "q3_k_m", ggml_type::q3_k},
    {gguf_mix::iq4_xs, "iq4_xs", ggml_type::iq4_xs},
};

/// The line of a mix; null where there is none of this name.
[[nodiscard]] constexpr const gguf_mix_entry* lookup_gguf_mix(std::string_view name) noexcept {
    for (const gguf_mix_entry& row : gguf_mixes)
        if (row.name == name) return &row;
    return nullptr;
}

}  // namespace llmcost::detail
