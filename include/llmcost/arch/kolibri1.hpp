// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/config/experts.hpp>

namespace llmcost::arch {

namespace kolibri1_detail {

/// Self-attention with RoPE in sliding-window layers and without positions in full-attention layers.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    return attention_with_optional_rotary(ctx, t, x, ctx.layer.token_mixer == token_mixer_kind::sliding_attention,
                                          true);
}

/// Picks the largest k corrected logits in float32; the sigmoids of those picked are the weights.
struct top_k_router {
    layer_context ctx;

    static constexpr role module_role = role::router;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("TopKRouter"); }
    constexpr tensor_pair forward(trace& t, const tensor& x) const {
        const moe_config& moe = ctx.config.moe;
        const tensor tokens = t.reshape(x, {-1, ctx.config.hidden_size});
        const tensor weight = t.param("weight", {moe.num_experts, ctx.config.hidden_size});
        const tensor float_tokens = t.to(tokens, dtype::float32);
        const tensor logits = t.linear(float_tokens, t.to(weight, dtype::float32));
        {
            const recorder::detach_guard indices{t};
            (void)t.topk(t.add(logits, correction_bias(t, moe.num_experts)), moe.num_experts_per_tok);
        }
        t.save_for_backward(logits);  // by the gather
        const tensor scores = t.sigmoid(t.gather(logits, {tokens.dim(0), moe.num_experts_per_tok}));
        return {logits, moe.norm_topk_prob ? t.div(scores, t.sum(scores, -1, true)) : scores};
    }
};

struct mixture {
    layer_context ctx;

    static constexpr role module_role = role::mlp;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("SparseMoeBlock"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor weights = t.call("gate", top_k_router{ctx}, x).second;
        const tensor routed = call_experts(ctx, t, x.view({-1, ctx.config.hidden_size}), weights);
        const tensor shared = call_mlp(ctx, t, "shared_experts", ctx.config.moe.shared_intermediate_size, x);
        return t.add(routed.view({x.dim(0), x.dim(1), ctx.config.hidden_size}), shared);
    }
};

constexpr tensor mlp(const layer_context& ctx, trace& t, const tensor& x) { return t.call("mlp", mixture{ctx}, x); }

/// Every fifth layer is full; all have experts.
constexpr void parse_config(config_view json, model_config& config) {
    require_sliding_window(json);
    parse_experts(json, config, json.contains("num_local_experts") ? "num_local_experts" : "num_experts");
    validate_experts(json, config);
    config.moe.shared_intermediate_size = json.positive("shared_expert_intermediate_size", 512);
    const bool listed = parse_layer_types(json, config);
    const layer_plan listed_layers = config.layers;
    set_layers(json, config, [&](std::int64_t i) {
        const token_mixer_kind default_token_mixer =
            (i + 1) % 5 == 0 ? token_mixer_kind::full_attention : token_mixer_kind::sliding_attention;
        return layer_spec{listed ? listed_layers[i].token_mixer : default_token_mixer, true};
    });
}

}  // namespace kolibri1_detail

// transformers/models/kolibri1: norms around each block, full layers without positions, experts picked by corrected
// logits
inline constexpr model_spec kolibri1 = [](model_spec spec) {
    spec.supported_heads = language_heads;
    spec.model_type = "kolibri1";
    spec.class_prefix = "Kolibri1";
    spec.parse_config = kolibri1_detail::parse_config;
    spec.attention = kolibri1_detail::attention;
    spec.mlp = kolibri1_detail::mlp;
    spec.decoder_layer = sandwich_norm_layer;
    spec.mask_policy = mask_kind::full_and_sliding;
    spec.names.post_attention_norm = "post_self_attn_layernorm";
    spec.names.post_mlp_norm = "post_mlp_layernorm";
    spec.defaults.vocab_size = 128000;
    spec.defaults.hidden_size = 2560;
    spec.defaults.num_hidden_layers = 50;
    spec.defaults.num_attention_heads = 48;
    spec.defaults.num_key_value_heads = 4;
    spec.defaults.head_dim = 128;
    spec.defaults.max_position_embeddings = 262144;
    spec.defaults.sliding_window = 513;
    spec.defaults.moe = {.num_experts = 384, .num_experts_per_tok = 6, .intermediate_size = 512};
    spec.config_keys.add("attention_bias", key_rule::absent);
    spec.config_keys.add("mlp_bias", key_rule::absent);
    return spec;
}(llama);

}  // namespace llmcost::arch
