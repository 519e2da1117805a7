// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>

#include <llmcost/files/ggml_type.hpp>
#include <llmcost/files/gguf_mix.hpp>

// The tensors of a file that llama-quantize gives another type than that of its mix.
namespace llmcost::detail {

/// The tensors that the rules distinguish (`tensor_category`).
enum class gguf_category : std::uint8_t {
    output,      ///< the head, or a tied embedding table
    token_embd,  ///< an embedding table that is not tied
    attn_v,      ///< values, alone or with queries and keys
    attn_k,
    attn_q,
    attn_output,
    ffn_down,
    ffn_gate_up,
    other
};

/// A set of mixes.
struct gguf_mix_set {
    std::uint64_t bits = 0;

    constexpr gguf_mix_set(std::initializer_list<gguf_mix> mixes) {
        for (const gguf_mix mix : mixes) bits |= std::uint64_t{1} << static_cast<unsigned>(mix);
    }
    /// All other mixes.
    [[nodiscard]] constexpr gguf_mix_set operator~() const noexcept {
        gguf_mix_set others = *this;
        others.bits = ~bits;
        return others;
    }
    [[nodiscard]] constexpr bool contains(gguf_mix mix) const noexcept {
        return (bits >> static_cast<unsigned>(mix) & 1U) != 0;
    }
};

/// When a rule applies. `i` is the index of the tensor or of its layer, `n` their number.
enum class gguf_condition : std::uint8_t {
    always,
    shared_keys,             ///< 4 or more heads share a key
    shared_keys_or_experts,  ///< or the model has 4 or more experts
    eight_experts,
    not_eight_experts,
    no_importance_matrix,
    first_two,        ///< i < 2
    first_four,       ///< i < 4
    first_sixteenth,  ///< i < n / 16
    first_eighth,     ///< i < n / 8
    first_eighth_with_importance_matrix,
    first_eighth_without_importance_matrix,
    inner,                       ///< n / 8 ≤ i < 7 n / 8
    more_bits,                   ///< the first and the last eighth, and every third one in between
    more_bits_of_eight_experts,  ///< `more_bits`, in a model with 8 experts
};

struct gguf_type_rule {
    gguf_category category;
    gguf_mix_set mixes;
    gguf_condition condition;
    ggml_type type;
};

/// The mixes of 1 and 2 bits, whose rules are complete: no other rule changes their values.
inline constexpr gguf_mix_set gguf_mixes_below_3_bits{gguf_mix::iq1_s,  gguf_mix::iq1_m, gguf_mix::iq2_xxs,
                                                      gguf_mix::iq2_xs, gguf_mix::iq2_s, gguf_mix::iq2_m};

// The first rule that applies determines the type.
// Source: llama.cpp, src/llama-quant.cpp, `llama_tensor_get_type_impl`.
// clang-format off
inline constexpr gguf_type_rule gguf_type_rules[]{
    {gguf_category::output, {gguf_mix::mxfp4_moe, gguf_mix::q8_0}, gguf_condition::always, ggml_type::q8_0},
    {gguf_category::output, {gguf_mix::iq1_s, gguf_mix::iq1_m, gguf_mix::iq2_xxs, gguf_mix::iq2_xs, gguf_mix::iq2_s, gguf_mix::iq2_m, gguf_mix::iq3_xxs}, gguf_condition::always, ggml_type::q5_k},

    {gguf_category::token_embd, {gguf_mix::iq1_s, gguf_mix::iq1_m, gguf_mix::iq2_xxs, gguf_mix::iq2_xs}, gguf_condition::always, ggml_type::q2_k},
    {gguf_category::token_embd, {gguf_mix::iq2_s, gguf_mix::iq2_m, gguf_mix::iq3_xxs}, gguf_condition::always, ggml_type::iq3_s},
    {gguf_category::token_embd, {gguf_mix::tq1_0, gguf_mix::tq2_0}, gguf_condition::always, ggml_type::q4_k},

    {gguf_category::attn_v, gguf_mixes_below_3_bits, gguf_condition::shared_keys_or_experts, ggml_type::q4_k},
    {gguf_category::attn_v, {gguf_mix::iq2_s, gguf_mix::iq2_m}, gguf_condition::always, ggml_type::iq3_s},
    {gguf_category::attn_v, gguf_mixes_below_3_bits, gguf_condition::always, ggml_type::q2_k},
    {gguf_category::attn_v, {gguf_mix::q2_k, gguf_mix::q2_k_s, gguf_mix::iq3_xxs, gguf_mix::iq3_xs, gguf_mix::iq3_s}, gguf_condition::shared_keys, ggml_type::q4_k},
    {gguf_category::attn_v, {gguf_mix::q2_k}, gguf_condition::always, ggml_type::q3_k},
    {gguf_category::attn_v, {gguf_mix::iq3_xxs}, gguf_condition::no_importance_matrix, ggml_type::iq3_s},
    {gguf_category::attn_v, {gguf_mix::iq3_m}, gguf_condition::always, ggml_type::q4_k},
    {gguf_category::attn_v, {gguf_mix::q3_k_m}, gguf_condition::first_two, ggml_type::q5_k},
    {gguf_category::attn_v, {gguf_mix::q3_k_m}, gguf_condition::always, ggml_type::q4_k},
    {gguf_category::attn_v, {gguf_mix::q3_k_l}, gguf_condition::always, ggml_type::q5_k},
    {gguf_category::attn_v, {gguf_mix::iq4_nl, gguf_mix::iq4_xs}, gguf_condition::shared_keys, ggml_type::q5_k},
    {gguf_category::attn_v, {gguf_mix::q4_k_m, gguf_mix::q5_k_m}, gguf_condition::more_bits, ggml_type::q6_k},
    {gguf_category::attn_v, {gguf_mix::q4_k_s}, gguf_condition::first_four, ggml_type::q5_k},

    {gguf_category::attn_k, gguf_mixes_below_3_bits, gguf_condition::eight_experts, ggml_type::q4_k},
    {gguf_category::attn_k, ~gguf_mixes_below_3_bits, gguf_condition::eight_experts, ggml_type::q8_0},
    {gguf_category::attn_k, {gguf_mix::iq3_xs}, gguf_condition::always, ggml_type::iq3_xxs},
    {gguf_category::attn_k, {gguf_mix::iq3_xxs}, gguf_condition::always, ggml_type::iq2_s},
    {gguf_category::attn_q, {gguf_mix::iq3_xs}, gguf_condition::always, ggml_type::iq3_xxs},
    {gguf_category::attn_q, {gguf_mix::iq3_xxs}, gguf_condition::always, ggml_type::iq2_s},

    {gguf_category::attn_output, {gguf_mix::iq1_s, gguf_mix::iq1_m, gguf_mix::iq2_xxs, gguf_mix::iq2_xs, gguf_mix::iq2_s, gguf_mix::iq2_m, gguf_mix::q2_k, gguf_mix::iq3_xs, gguf_mix::iq3_xxs, gguf_mix::q3_k_s, gguf_mix::q3_k_m, gguf_mix::iq4_nl, gguf_mix::q4_k_s, gguf_mix::q4_k_m, gguf_mix::iq3_s, gguf_mix::iq3_m, gguf_mix::iq4_xs}, gguf_condition::eight_experts, ggml_type::q5_k},
    {gguf_category::attn_output, {gguf_mix::iq1_s, gguf_mix::iq1_m}, gguf_condition::not_eight_experts, ggml_type::iq2_xxs},
    {gguf_category::attn_output, {gguf_mix::iq2_s, gguf_mix::iq2_m, gguf_mix::iq3_xxs}, gguf_condition::not_eight_experts, ggml_type::iq3_s},
    {gguf_category::attn_output, {gguf_mix::q2_k}, gguf_condition::not_eight_experts, ggml_type::q3_k},
    {gguf_category::attn_output, {gguf_mix::q3_k_m, gguf_mix::iq3_m}, gguf_condition::not_eight_experts, ggml_type::q4_k},
    {gguf_category::attn_output, {gguf_mix::q3_k_l}, gguf_condition::not_eight_experts, ggml_type::q5_k},

    {gguf_category::ffn_down, {gguf_mix::iq2_s, gguf_mix::iq2_m}, gguf_condition::first_eighth, ggml_type::iq3_s},
    {gguf_category::ffn_down, gguf_mixes_below_3_bits, gguf_condition::first_eighth, ggml_type::q2_k},
    {gguf_category::ffn_down, {gguf_mix::q2_k}, gguf_condition::always, ggml_type::q3_k},
    {gguf_category::ffn_down, {gguf_mix::q2_k_s, gguf_mix::iq3_m}, gguf_condition::first_eighth, ggml_type::q4_k},
    {gguf_category::ffn_down, {gguf_mix::iq3_xxs}, gguf_condition::first_eighth_without_importance_matrix, ggml_type::q4_k},
    {gguf_category::ffn_down, {gguf_mix::iq3_xxs}, gguf_condition::no_importance_matrix, ggml_type::q3_k},
    {gguf_category::ffn_down, {gguf_mix::iq3_m}, gguf_condition::more_bits_of_eight_experts, ggml_type::q4_k},
    {gguf_category::ffn_down, {gguf_mix::q3_k_m}, gguf_condition::first_sixteenth, ggml_type::q5_k},
    {gguf_category::ffn_down, {gguf_mix::q3_k_m}, gguf_condition::always, ggml_type::q4_k},
    {gguf_category::ffn_down, {gguf_mix::q3_k_l}, gguf_condition::always, ggml_type::q5_k},
    {gguf_category::ffn_down, {gguf_mix::q4_k_m, gguf_mix::q5_k_m}, gguf_condition::more_bits, ggml_type::q6_k},
    {gguf_category::ffn_down, {gguf_mix::iq4_nl, gguf_mix::iq4_xs}, gguf_condition::first_eighth_without_importance_matrix, ggml_type::q5_k},
    {gguf_category::ffn_down, {gguf_mix::q4_k_s}, gguf_condition::first_eighth, ggml_type::q5_k},
    {gguf_category::ffn_down, {gguf_mix::q4_0}, gguf_condition::first_eighth_with_importance_matrix, ggml_type::q4_1},
    {gguf_category::ffn_down, {gguf_mix::q5_0}, gguf_condition::first_eighth_with_importance_matrix, ggml_type::q5_1},

    {gguf_category::ffn_gate_up, {gguf_mix::iq3_xs}, gguf_condition::inner, ggml_type::iq3_xxs},
};
// clang-format on

}  // namespace llmcost::detail
