// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bart.hpp>

namespace llmcost::arch {

namespace marian_detail {

enum own : std::uint8_t { decoder_words = stack_own::count, shares };
inline constexpr own_key keys[]{{"decoder_layers", 12},
                                {"decoder_attention_heads", 16},
                                {"decoder_ffn_dim", 4096},
                                {"encoder_ffn_dim", 4096},
                                {.value = own_value::computed},  // rows of the decoder's table of words
                                {"share_encoder_decoder_embeddings", 1, own_value::boolean}};

inline constexpr stack_style style{
    .norm_embedding = "", .scale = word_scale::stack, .conditional_type = "MTModel", .positions = frozen_positions};
inline constexpr stack_style apart = [](stack_style s) {
    s.shares_words = false;
    return s;
}(style);

/// Stacks with words of their own, or one table in front of both, which ties those of the stacks or is read by nobody.
constexpr value both(const site& here, trace& t) {
    const bool tied = here.dims.tie_word_embeddings;
    if (here.dims.own[shares])
        return describe_both_stacks(here, t, style, tied ? here.dims.vocab_size : here.dims.own[decoder_words]);
    const value encoded = describe_encoder_module(here, t, apart);
    return describe_decoder_module(here, t, apart, &encoded, here.dims.own[decoder_words]);
}

constexpr value alone(const site& here, trace& t) {
    return describe_decoder_module(here, t, style, nullptr, here.dims.own[decoder_words]);
}

constexpr value scores(const site& here, trace& t, const value& x) {
    const recorder::idle_guard unused{t, t.load().head == logits::none};
    const bool translates = here.dims.head == head_kind::conditional_generation;
    // of the decoder by itself, only a tied head has the rows of the decoder's table
    const bool of_decoder = translates ? here.dims.own[shares] == 0 : here.dims.tie_word_embeddings;
    const std::int64_t rows = of_decoder ? here.dims.own[decoder_words] : here.dims.vocab_size;
    return describe_word_scores(here, t, x, rows, translates);
}

}  // namespace marian_detail

/// Sines as positions, norms behind blocks.
///
/// Source: transformers/models/marian/modeling_marian.py.
constexpr value describe_marian(const site& here, trace& t) {
    const class_name type = here.type("Model");
    if (here.dims.head == head_kind::none) return describe_within({.type = type}, marian_detail::both, here, t);
    const bool alone = here.dims.head == head_kind::causal_lm;
    const module_info whole{.type = here.type(alone ? "ForCausalLM" : "MTModel")};
    const module_info base{.name = "model", .type = alone ? here.type("DecoderWrapper") : type};
    t.enter(whole);
    const value x = describe_within(base, alone ? marian_detail::alone : marian_detail::both, here, t);
    return t.leave(whole, t.returns(x, marian_detail::scores(here, t, x)));
}

constexpr void read_marian(config_view config, sizes& s) {
    using namespace marian_detail;
    read_stacks(config, s);
    const std::int64_t rows = config.non_negative("decoder_vocab_size", 0);
    s.own[decoder_words] = rows == 0 ? s.vocab_size : rows;
}

// transformers/models/marian: configuration_marian.py, modeling_marian.py
inline constexpr architecture marian = [](architecture a) {
    a.model_type = "marian", a.prefix = "Marian", a.describe = describe_marian, a.read = read_marian;
    a.own = marian_detail::keys;
    a.heads = {head_kind::none, head_kind::causal_lm, head_kind::conditional_generation};
    a.defaults.vocab_size = 58101, a.defaults.num_labels = 2;
    return a;
}(bart);

}  // namespace llmcost::arch
