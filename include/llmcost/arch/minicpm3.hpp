// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/reading/latent_attention.hpp>

namespace llmcost::arch {

namespace minicpm3_detail {

enum own : std::uint8_t { scales_by_integer };
inline constexpr own_key keys[]{
    {.value = own_value::computed},  // `scale_emb` is written as one, which each pass casts
};

/// Word embeddings times a constant, which is a tensor of its own where it is cast.
struct scaled_embedding : embedding {
    bool casts;

    constexpr value describe(trace& t, const extents& ids) const {
        const value words = embedding::describe(t, ids);
        return casts ? t.mul(words, t.constant({}, t.activation_type())) : t.mul(words);
    }
};

constexpr value embed(const site& here, trace& t) {
    const embedding words{here.dims.vocab_size, here.dims.hidden_size, false, here.type("ScaledWordEmbedding")};
    const bool casts = here.dims.own[scales_by_integer] != 0;
    return t.call("embed_tokens", scaled_embedding{words, casts}, extents{t.load().batch, t.load().sequence});
}

/// Under a language model's head, all states are divided by a constant before those that it looks at are taken.
constexpr value describe(const site& here, trace& t) {
    if (here.dims.head != head_kind::causal_lm) return describe_decoder(here, t);
    const module_info whole{.type = here.type(here.row.names.causal_lm_type)};
    t.enter(whole);
    const module_info base{.name = here.row.names.base, .type = here.type(here.row.names.model_type)};
    const value x = describe_within(base, here.row.base, here, t);
    value divided;
    {
        const recorder::idle_guard unused{t, t.load().head == logits::none};
        divided = t.div(x);
    }
    return t.leave(whole, t.returns(x, describe_head(here, t, divided)));
}

constexpr void read(config_view config, sizes& s) {
    read_latent_attention(config, s);
    const auto scale = config.find("scale_emb");
    (void)config.real("scale_emb", 12.0);
    s.own[scales_by_integer] = !scale || scale->type() == config_node::kind::integer;
    plan_one_mask(config, s);
}

}  // namespace minicpm3_detail

// transformers/models/minicpm3: latent attention with halves rotated, constants on embeddings, residuals and last states
inline constexpr architecture minicpm3 = [](architecture a) {
    a.model_type = "minicpm3", a.prefix = "MiniCPM3", a.read = minicpm3_detail::read, a.heads = classifying_decoder_heads;
    a.describe = minicpm3_detail::describe, a.embed = minicpm3_detail::embed, a.residual = add_scaled_residual;
    a.mix = mix_by_latent_attention, a.own = minicpm3_detail::keys;
    a.defaults = sizes{
        .vocab_size = 73448,
        .hidden_size = 2560,
        .intermediate_size = 6400,
        .num_hidden_layers = 62,
        .num_attention_heads = 40,
        .num_key_value_heads = 40,
        .max_position_embeddings = 32768,
        .tie_word_embeddings = true,
        .mla = {.q_lora_rank = 768, .kv_lora_rank = 256, .qk_nope_head_dim = 64, .qk_rope_head_dim = 32},
    };
    return a;
}(llama);

}  // namespace llmcost::arch
