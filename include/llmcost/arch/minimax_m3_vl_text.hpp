// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/minimax_m2.hpp>
#include <llmcost/forward/mlp.hpp>

namespace llmcost::arch {

namespace minimax_m3_vl_text_detail {

/// Gate and up, clamped: (up + 1) · gate · σ(α gate); x (…, 2 · inner) -> (…, inner).
constexpr tensor gated(trace& t, const tensor& gate_up) {
    const tensor half = gate_up.slice(-1, gate_up.dim(-1) / 2);
    const tensor gate = t.clamp_max(half), up = t.clamp(half);
    const tensor glu = t.mul(gate, t.sigmoid(t.mul_scalar(gate)));
    return t.mul(t.add_scalar(up), glu);
}

struct dense_block {
    std::int64_t width;
    std::int64_t inner;
    class_name named;

    static constexpr role module_role = role::mlp;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor gate_up = t.call("gate_up_proj", linear{width, 2 * inner}, x);
        return t.call("down_proj", linear{inner, width}, gated(t, gate_up));
    }
};

constexpr tensor sparse_moe_block(const layer_context& ctx, trace& t, const tensor& x) {
    const moe_config& moe = ctx.config.moe;
    const std::int64_t width = ctx.config.hidden_size;
    const tensor tokens = x.view({-1, width});
    const dense_block shared{width, moe.shared_intermediate_size, ctx.class_of(ctx.spec.names.mlp_class)};
    const tensor shared_output = t.call("shared_experts", shared, tokens);
    const tensor weights = call_custom_router(ctx, t, route_by_corrected_sigmoid, tokens);
    const routed_experts_base all{width,
                                  moe.intermediate_size,
                                  moe.num_experts,
                                  moe.num_experts_per_tok,
                                  activation::silu,
                                  ctx.class_of(ctx.spec.names.experts_class)};
    const tensor routed = t.mul_scalar(t.call("experts", with_custom_gate<true>(all, gated), tokens, weights));
    return t.add(routed, shared_output).view({x.dim(0), x.dim(1), width});
}

constexpr tensor mlp(const layer_context& ctx, trace& t, const tensor& x) {
    if (ctx.layer.has_experts) return t.call("mlp", custom_moe_module{ctx, sparse_moe_block}, x);
    const dense_block block{ctx.config.hidden_size, ctx.config.intermediate_size,
                            ctx.class_of(ctx.spec.names.mlp_class)};
    return t.call("mlp", block, x);
}

/// Layers that see blocks of keys only are not described.
constexpr void check_layers(config_view json, std::int64_t layers) {
    if (const auto types = json.optional_array("layer_types")) {
        if (static_cast<std::int64_t>(types->size()) != layers)
            throw_invalid_value(json, "layer_types", "a list with one kind per hidden layer");
        for (const config_view layer_type : *types)
            if (layer_type.as_string() != "full_attention")
                throw_unsupported(json, "layer_types", "unsupported layer type");
    } else if (const auto sparse = json.optional_object("sparse_attention_config")) {
        if (const auto sparse_attention_freq = sparse->optional_array("sparse_attention_freq"))
            for (const config_view entry : *sparse_attention_freq)
                if (entry.as_integer() != 0)
                    throw_unsupported(*sparse, "sparse_attention_freq",
                                      "attention over blocks of keys is not supported");
    }
}

constexpr void parse_config(config_view json, model_config& config) {
    config.rotary_dim = round_rotary_dim(config.head_dim, detail::parse_partial_rotary_factor(json, 1.0));
    parse_experts(json, config, json.contains("num_experts") ? "num_experts" : "num_local_experts");
    parse_load_balancing(json, config);
    validate_experts(json, config);
    config.moe.intermediate_size = config.intermediate_size;
    config.moe.shared_intermediate_size = json.positive("shared_intermediate_size", 3072);
    config.intermediate_size = json.positive("dense_intermediate_size", 12288);
    check_layers(json, config.num_hidden_layers);
    config.sliding_window = 0;
    const sparse_layer_selection listed(json, config, 0);
    const auto sparse_attention_freq =
        json.contains("mlp_layer_types") ? maybe<config_view>{} : json.optional_array("moe_layer_freq");
    if (sparse_attention_freq && static_cast<std::int64_t>(sparse_attention_freq->size()) < config.num_hidden_layers)
        throw_invalid_value(json, "moe_layer_freq", "a list with one number per hidden layer");
    set_layers(json, config, [&](std::int64_t i) {
        const bool several = sparse_attention_freq
                                 ? (*sparse_attention_freq)[static_cast<std::uint32_t>(i)].as_integer() != 0
                                 : listed.has(i);
        return layer_spec{token_mixer_kind::full_attention, several};
    });
}

}  // namespace minimax_m3_vl_text_detail

// transformers/models/minimax_m3_vl: the text model; QK-norm per head, clamped gates, a shared MLP parallel to the
// experts
inline constexpr model_spec minimax_m3_vl_text = [](model_spec spec) {
    spec.model_type = "minimax_m3_vl_text";
    spec.class_prefix = "MiniMaxM3VL";
    spec.parse_config = minimax_m3_vl_text_detail::parse_config;
    spec.mlp = minimax_m3_vl_text_detail::mlp;
    spec.norm = norm_kind::rms_plus_one;
    spec.qk_norm = qk_norm_kind::per_head;
    spec.names.model_class = "TextModel";
    spec.names.mlp_class = "DenseMLP";
    spec.config_keys.add("sliding_window", key_rule::absent);
    spec.config_keys.add("hidden_act", key_rule::absent);
    spec.defaults.hidden_size = 6144;
    spec.defaults.intermediate_size = 3072;
    spec.defaults.num_hidden_layers = 60;
    spec.defaults.num_attention_heads = 64;
    spec.defaults.num_key_value_heads = 4;
    spec.defaults.max_position_embeddings = 524288;
    spec.defaults.moe.num_experts = 128;
    spec.defaults.moe.num_experts_per_tok = 4;
    return spec;
}(minimax_m2);

}  // namespace llmcost::arch
