// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/config/experts.hpp>
#include <llmcost/config/state_space.hpp>
#include <llmcost/forward/state_space_model.hpp>

// Granite MoE Hybrid. Derived from Llama, with these differences:
//  - Mamba-2 layers;
//  - a shared MLP and optional experts;
//  - Granite's multipliers.
//
// Source: transformers/models/granitemoehybrid

namespace llmcost::arch {

namespace granitemoehybrid_detail {

enum family_config_index : std::uint8_t { rotates, weighs_balance };

inline constexpr family_key family_keys[]{
    {.type = family_key_type::computed},  // 1 = `position_embedding_type` is "rope"; otherwise no positions
    {.type = family_key_type::computed},  // load-balancing loss, from logits in float32
};

constexpr tensor recurrent_block(const layer_context& ctx, trace& t, const tensor& x) {
    return mamba2_block(ctx, t, x, "MambaLayer");
}

constexpr decoder_inputs prepare_inputs(const layer_context& ctx, trace& t) {
    decoder_inputs c = make_masks(ctx, t);
    if (ctx.config.family[rotates]) compute_rotary_embeddings(ctx, t, c.full);
    return c;
}

constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    query_key_value qkv = project_qkv(ctx, t, x);
    split_heads(ctx, qkv);
    transpose_heads(qkv);
    if (ctx.config.family[rotates])
        for (tensor* const operand : {&qkv.query, &qkv.key})
            *operand = rotate(t, rotary_style::rotate_half, *operand, ctx.inputs->cos, ctx.inputs->sin);
    update_kv_cache(ctx, t, qkv);
    return output_projection(ctx, t, scaled_dot_product_attention(ctx, t, qkv));
}

/// Top-k router: top-k logits in float32, then a softmax over these.
struct top_k_router {
    layer_context ctx;

    static constexpr role module_role = role::router;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("TopKRouter"); }
    constexpr tensor_pair forward(trace& t, const tensor& tokens) const {
        const tensor weight = t.param("weight", {ctx.config.moe.num_experts, ctx.config.hidden_size});
        const tensor logits = t.to(t.linear(tokens, weight), dtype::float32);
        return {logits, t.to(t.softmax_method(t.topk(logits, ctx.config.moe.num_experts_per_tok)), tokens.type)};
    }
};

struct routed_block {
    layer_context ctx;

    static constexpr role module_role = role::mlp;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("MoE"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor tokens = t.reshape(x, {-1, ctx.config.hidden_size});
        const tensor weights = t.call("router", top_k_router{ctx}, tokens).second;
        return call_experts(ctx, t, tokens, weights).view({x.dim(0), x.dim(1), ctx.config.hidden_size});
    }
};

/// MLP or MoE block: a shared MLP, and routed experts where the layer has them.
constexpr tensor mlp(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t inner = ctx.config.moe.shared_intermediate_size;
    if (!ctx.layer.has_experts) return call_mlp(ctx, t, "shared_mlp", inner, x);
    const tensor routed = t.call("block_sparse_moe", routed_block{ctx}, x);
    return t.add(routed, call_mlp(ctx, t, "shared_mlp", inner, x));
}

constexpr tensor process_logits(const layer_context& ctx, trace& t, const tensor& logits) {
    const tensor out = t.div_scalar(logits);
    const recorder::detach_guard unread{t};
    const model_config& config = ctx.config;
    if (config.family[weighs_balance])
        load_balancing_loss(t, config.num_hidden_layers, t.load().batch * t.load().sequence, config.moe,
                            dtype::float32);
    return out;
}

constexpr void parse_config(config_view json, model_config& config) {
    parse_mamba2_mixers(json, config);
    config.moe.num_experts = json.non_negative("num_local_experts", config.moe.num_experts);
    if (config.moe.num_experts > 0) parse_experts(json, config, "num_local_experts");
    config.family[weighs_balance] = json.boolean("output_router_logits", false) && config.moe.num_experts > 0;
    config.moe.intermediate_size = config.intermediate_size;
    config.moe.shared_intermediate_size = json.positive("shared_intermediate_size", 1024);
    config.sliding_window = 0;
    config.mlp_bias = false;
    const auto positions = json.find("position_embedding_type");
    config.family[rotates] = positions && positions->is_string() && positions->as_string() == "rope";
    if (config.family[rotates]) {
        config.rope_scaling = detail::parse_frequency_rule(json, "full_attention");
        if (config.head_dim % 2 != 0)
            throw_unsupported(json, "num_attention_heads", "heads with an odd size are not supported with RoPE");
        config.rotary_dim = config.head_dim;
    }
    if (json.contains("layers_block_type"))
        throw_unsupported(json, "layers_block_type", "not supported; use layer_types");
    const bool listed = parse_layer_types(json, config, token_mixer_kind::recurrent);
    const layer_plan listed_layers = config.layers;
    set_layers(json, config, [&](std::int64_t i) {
        return layer_spec{listed ? listed_layers[i].token_mixer : token_mixer_kind::recurrent,
                          config.moe.num_experts > 0};
    });
}

}  // namespace granitemoehybrid_detail

inline constexpr model_spec granitemoehybrid = [](model_spec spec) {
    spec.model_type = "granitemoehybrid";
    spec.class_prefix = "GraniteMoeHybrid";
    spec.supported_heads = language_heads;
    spec.parse_config = granitemoehybrid_detail::parse_config;
    spec.family_keys = granitemoehybrid_detail::family_keys;
    spec.embed_tokens = embed_tokens_scaled;
    spec.add_residual = add_scaled_residual;
    spec.process_logits = granitemoehybrid_detail::process_logits;
    spec.prepare_inputs = granitemoehybrid_detail::prepare_inputs;
    spec.recurrent_block = granitemoehybrid_detail::recurrent_block;
    spec.attention = granitemoehybrid_detail::attention;
    spec.mlp = granitemoehybrid_detail::mlp;
    spec.rotary = rotary_style::none;
    spec.mask_policy = mask_kind::full_and_present;
    spec.dense_mlp = mlp_kind::fused_gated;
    spec.supported_layers = attention_layers | token_mixer_kind::recurrent;
    spec.names.recurrent_block = "mamba";
    spec.names.mlp_modules = {.gate = "input_linear", .down = "output_linear", .act = "activation"};
    spec.defaults.moe = {.num_experts = 8, .num_experts_per_tok = 2};
    return spec;
}(llama);

}  // namespace llmcost::arch
