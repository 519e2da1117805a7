// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/config/latent_attention.hpp>

namespace llmcost::arch {

namespace minicpm3_detail {

enum family_config_index : std::uint8_t { scales_by_integer };
inline constexpr family_key family_keys[]{
    {.type = family_key_type::computed},  // `scale_emb` is written as one, which each pass casts
};

/// Word embeddings times a constant, which is a tensor of its own where it is cast.
struct scaled_embedding : embedding {
    bool casts;

    constexpr tensor forward(trace& t, const shape& ids) const {
        if (casts)
            t.register_integer_buffer(1);  // `embed_scale`
        else
            t.register_buffer({}, t.activation_type());
        const tensor token_embeddings = embedding::forward(t, ids);
        return casts ? t.mul(token_embeddings, t.full({}, t.activation_type())) : t.mul_scalar(token_embeddings);
    }
};

constexpr tensor embed(const layer_context& ctx, trace& t) {
    const embedding token_embedding{ctx.config.vocab_size, ctx.config.hidden_size, false,
                                    ctx.class_of("ScaledWordEmbedding")};
    const bool casts = ctx.config.family[scales_by_integer] != 0;
    return t.call("embed_tokens", scaled_embedding{token_embedding, casts}, shape{t.load().batch, t.load().sequence});
}

/// Under a language model's head, all states are divided by a constant before those that it looks at are taken.
constexpr tensor forward(const layer_context& ctx, trace& t) {
    if (ctx.config.head != head_kind::causal_lm) return forward_decoder(ctx, t);
    const module_info model_info{.class_of_module = ctx.class_of(ctx.spec.names.causal_lm_class)};
    t.enter(model_info);
    const module_info base{.name = ctx.spec.names.base_model,
                           .class_of_module = ctx.class_of(ctx.spec.names.model_class)};
    const tensor x = forward_in_module(base, ctx.spec.base_model, ctx, t);
    tensor divided;
    {
        const recorder::not_executed_guard unused{t, t.load().head == logits::none};
        divided = t.div_scalar(x);
    }
    return t.leave(model_info, t.select_model_output(x, forward_head(ctx, t, divided)));
}

constexpr void parse_config(config_view json, model_config& config) {
    parse_latent_attention(json, config);
    const auto scale = json.find("scale_emb");
    (void)json.real("scale_emb", 12.0);
    config.family[scales_by_integer] = !scale || scale->type() == config_node::kind::integer;
    set_single_mask(json, config);
}

}  // namespace minicpm3_detail

// transformers/models/minicpm3: latent attention with halves rotated, constants on embeddings, residuals and last
// states
inline constexpr model_spec minicpm3 = [](model_spec spec) {
    spec.model_type = "minicpm3";
    spec.class_prefix = "MiniCPM3";
    spec.parse_config = minicpm3_detail::parse_config;
    spec.supported_heads = classifying_decoder_heads;
    spec.forward = minicpm3_detail::forward;
    spec.embed_tokens = minicpm3_detail::embed;
    spec.add_residual = add_scaled_residual;
    spec.token_mixer = latent_attention_token_mixer;
    spec.family_keys = minicpm3_detail::family_keys;
    spec.defaults = model_config{
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
    return spec;
}(llama);

}  // namespace llmcost::arch
