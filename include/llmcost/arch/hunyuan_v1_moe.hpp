// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/config/experts.hpp>

namespace llmcost::arch {

namespace hunyuan_v1_moe_detail {

/// Weights of the k experts whose softmax is largest, normed to one, by a linear layer of its own in float32.
struct router_gate {
    layer_context ctx;

    static constexpr role module_role = role::router;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Gate"); }
    constexpr tensor forward(trace& t, const tensor& x, std::int64_t k) const {
        const tensor tokens = t.to(t.reshape(x, {-1, x.dim(-1)}), dtype::float32);
        const trace::float32_parameters_guard typed{t};
        const tensor logits = t.call("wg", linear{x.dim(-1), ctx.config.moe.num_experts}, tokens);
        tensor weights = t.topk(t.softmax(logits), k);
        t.div_(weights, t.sum(weights, -1, true));
        return weights;
    }
};

/// Routed experts, and a block that all tokens meet; a layer's word is how many experts a token picks there.
struct mixture {
    layer_context ctx;

    static constexpr role module_role = role::mlp;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Moe"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, n = ctx.config.moe.num_experts;
        const tensor shared_output = call_mlp(ctx, t, "shared_mlp", ctx.config.intermediate_size, x);
        const tensor tokens = x.view({-1, width});
        const tensor weights = t.call("gate", router_gate{ctx}, tokens, ctx.layer.family_tag);
        const routed_experts_base all{width,
                                      ctx.config.intermediate_size,
                                      n,
                                      ctx.layer.family_tag,
                                      ctx.config.hidden_act,
                                      ctx.class_of("Experts")};
        const tensor routed = t.call("experts", experts<expert_kind::gated>{all}, tokens, weights);
        return t.add(t.reshape(routed, {x.dim(0), x.dim(1), width}), shared_output);
    }
};

constexpr tensor mlp(const layer_context& ctx, trace& t, const tensor& x) { return t.call("mlp", mixture{ctx}, x); }

/// How many experts a token picks: one number, or one per layer.
constexpr void parse_picks(config_view json, model_config& config, token_mixer_kind mixer) {
    const literal key = json.contains("num_experts_per_tok") ? "num_experts_per_tok" : "moe_topk";
    const auto moe_topk = json.find(key);
    const bool listed = moe_topk && moe_topk->is_array();
    if (listed && static_cast<std::int64_t>(moe_topk->size()) < config.num_hidden_layers)
        throw_invalid_value(json, key, "a number, or a list of one per hidden layer");
    const auto picks = [&](std::int64_t i) {
        const std::int64_t k = listed     ? (*moe_topk)[static_cast<std::uint32_t>(i)].as_positive()
                               : moe_topk ? moe_topk->as_positive()
                                          : 1;
        if (k > config.moe.num_experts) throw_invalid_value(json, key, "at most the number of experts");
        if (k > 255) throw_unsupported(json, key, "unsupported number of experts per token");
        return static_cast<std::uint8_t>(k);
    };
    config.moe.num_experts_per_tok = picks(0);
    set_layers(json, config, [&](std::int64_t i) { return layer_spec{mixer, true, picks(i)}; });
}

/// What it calls dynamic with an `alpha` are frequencies that stay as they are (`compute_ntk_alpha_rope_parameters`).
constexpr void parse_config(config_view json, model_config& config) {
    if (const auto moe_topk = json.find("head_dim"); !moe_topk || moe_topk->is_null())
        throw_missing_key(json, "head_dim", "a positive integer");
    if (config.rope_scaling >= rope_scaling_kind::dynamic) {
        const auto alpha = detail::rope_parameters(json)->optional_real("alpha");
        if (alpha && *alpha != 0) config.rope_scaling = rope_scaling_kind::none;
    }
    config.moe.num_experts = json.positive(json.contains("num_local_experts") ? "num_local_experts" : "num_experts", 1);
    config.moe.intermediate_size = config.moe.shared_intermediate_size = config.intermediate_size;
    config.moe.norm_topk_prob = true;
    set_single_mask(json, config);
    parse_picks(json, config, config.layers[0].token_mixer);
}

}  // namespace hunyuan_v1_moe_detail

// transformers/models/hunyuan_v1_moe: norms of rotated queries and keys, experts in every layer
inline constexpr model_spec hunyuan_v1_moe = [](model_spec spec) {
    spec.supported_heads = classifying_decoder_heads;
    spec.model_type = "hunyuan_v1_moe";
    spec.class_prefix = "HunYuanMoEV1";
    spec.parse_config = hunyuan_v1_moe_detail::parse_config;
    spec.attention = attention_with_norm_after_rotary;
    spec.mlp = hunyuan_v1_moe_detail::mlp;
    spec.supported_layers.max_family_tag = 255;
    spec.names.q_norm = "query_layernorm";
    spec.names.k_norm = "key_layernorm";
    spec.names.base_model_for_question_answering = "model";
    spec.defaults.vocab_size = 290943;
    spec.config_keys.add("mlp_bias", key_rule::absent);
    return spec;
}(llama);

}  // namespace llmcost::arch
