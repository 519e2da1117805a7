// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/granite.hpp>
#include <llmcost/config/experts.hpp>

namespace llmcost::arch {

namespace granitemoe_detail {

enum family_config_index : std::uint8_t { weighs_balance };
inline constexpr family_key family_keys[]{{"output_router_logits", 0, family_key_type::boolean}};

constexpr tensor process_logits(const layer_context& ctx, trace& t, const tensor& scores) {
    const tensor out = divide_logits_by_scale(ctx, t, scores);
    add_load_balancing_loss(ctx, t, ctx.config.family[weighs_balance] != 0);
    return out;
}

/// Router: top-k logits, then a softmax over these in float32.
constexpr tensor_pair pick(const layer_context& ctx, trace& t, const tensor& tokens) {
    const moe_config& moe = ctx.config.moe;
    const tensor weight = t.param("weight", {moe.num_experts, ctx.config.hidden_size});
    const tensor logits = t.to(t.linear(tokens, weight), dtype::float32);
    return {logits, t.to(t.softmax_method(t.topk(logits, moe.num_experts_per_tok)), tokens.type)};
}

constexpr tensor sparse_moe_block(const layer_context& ctx, trace& t, const tensor& x) {
    const tensor tokens = t.reshape(x, {-1, ctx.config.hidden_size});
    return call_experts(ctx, t, tokens, call_custom_router(ctx, t, pick, tokens)).view({x.dim(0), x.dim(1), -1});
}

/// MoE block with an optional shared expert.
constexpr tensor mlp(const layer_context& ctx, trace& t, const tensor& x) {
    const tensor routed = moe_or_dense_mlp(ctx, t, sparse_moe_block, x);
    const std::int64_t inner = ctx.config.moe.shared_intermediate_size;
    if (inner == 0) return routed;
    return t.add(routed, call_mlp(ctx, t, "shared_mlp", inner, x));
}

constexpr void parse_moe_config(config_view json, model_config& config) {
    parse_experts(json, config, "num_local_experts");
    validate_experts(json, config);
    config.moe.intermediate_size = config.intermediate_size;
}

constexpr void parse_config(config_view json, model_config& config) {
    parse_moe_config(json, config);
    set_single_mask(json, config);
    config.layers.fill({config.layers[0].token_mixer, true});
}

constexpr void parse_shared(config_view json, model_config& config) {
    parse_config(json, config);
    config.moe.shared_intermediate_size = json.non_negative("shared_intermediate_size", 0);
}

/// Attention with sinks: scales each output by the share of the softmax that the sink leaves to the keys.
///
/// Source: transformers, modeling_granite_swa.py, `eager_attention_forward`.
constexpr tensor attention_with_sinks(const layer_context& ctx, trace& t, const query_key_value& qkv,
                                      const tensor& sinks) {
    const attention_inputs& s = *ctx.inputs;
    const std::int64_t heads = qkv.query.dim(1), groups = heads / qkv.key.dim(1);
    const recorder::fused_kernel_guard fused{
        t, fused_attention_kernel(qkv.query, qkv.key.dim(1), s.pattern, qkv.key.dim(2))};
    const tensor family_keys = repeat_kv(t, qkv.key, groups), values = repeat_kv(t, qkv.value, groups);
    const bool sparse = s.pattern.is_causal && t.load().attention == attention_scores::causal;
    tensor scores =
        t.mul_scalar(t.matmul(qkv.query, family_keys.transpose(2, 3), sparse ? s.pattern.visible_pairs() : 0));
    if (!sparse) scores = t.add(scores, s.mask);
    const tensor distance = t.sub(t.logsumexp(scores, -1), sinks.view({1, heads, 1}));
    const tensor share = t.sigmoid(t.to(distance, dtype::float32));
    const tensor probabilities = t.to(t.softmax(t.to(scores, dtype::float32)), qkv.query.type);
    const tensor found = t.matmul(functional_dropout(t, probabilities, dropout_position::attention), values);
    const tensor mixed = t.mul(found, t.to(share.unsqueeze(-1), qkv.query.type));
    return t.reshape(t.contiguous(mixed.transpose(1, 2)), {mixed.dim(0), mixed.dim(2), -1});
}

/// Self-attention with sinks. Layers without a RoPE base (`family_tag` 0) have no RoPE.
constexpr tensor attend_with_sinks(const layer_context& ctx, trace& t, const tensor& x) {
    const tensor sinks = t.param("sinks", {ctx.config.num_attention_heads});
    query_key_value qkv = project_qkv(ctx, t, x);
    split_heads(ctx, qkv);
    transpose_heads(qkv);
    if (ctx.layer.family_tag != 0) apply_rotary(ctx, t, qkv);
    update_kv_cache(ctx, t, qkv);
    return output_projection(ctx, t, attention_with_sinks(ctx, t, qkv, sinks));
}

/// Maximum number of RoPE bases per model.
inline constexpr std::uint8_t max_bases = 8;

/// Traces the model with one rotary table per RoPE base.
constexpr tensor base_with_sinks(const layer_context& ctx, trace& t) {
    tensor x = ctx.spec.embed_tokens(ctx, t);
    const decoder_inputs shared = make_masks(ctx, t);
    std::uint8_t bases = 0;
    for (int i = 0; i < ctx.config.layers.num_specs; ++i)
        if (ctx.config.layers.specs[i].family_tag > bases) bases = ctx.config.layers.specs[i].family_tag;
    decoder_inputs of_base[max_bases + 1];
    of_base[0] = shared;
    const rotary_table table{ctx.config.rotary_dim, ctx.class_of(ctx.spec.names.rotary_class),
                             rotary_frequencies{ctx.config}};
    for (std::uint8_t i = 1; i <= bases; ++i) {
        of_base[i] = shared;
        const auto made = t.call({"rotary_embs", i - 1}, table, t.load().sequence);
        of_base[i].full.cos = of_base[i].sliding.cos = made.first;
        of_base[i].full.sin = of_base[i].sliding.sin = made.second;
    }
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, ctx.config.layers, x); layer_loop.next();) {
        const layer_spec kind = layer_loop.layer();
        x = t.call({ctx.spec.names.layers, layer_loop.index()},
                   decoder_layer{ctx.for_layer(layer_loop, of_base[kind.family_tag].for_layer(kind))}, x);
    }
    return apply_norm(ctx, t, ctx.spec.names.norm, x);
}

/// Numbers the RoPE bases of the layers from 1, except 0.
class rotary_bases {
public:
    constexpr rotary_bases(config_view json, const model_config& config)
        : list_(json.optional_array("layer_rope_theta")) {
        if (list_ && static_cast<std::int64_t>(list_->size()) < config.num_hidden_layers)
            throw_invalid_value(json, "layer_rope_theta", "a list with one number per hidden layer");
        if (!list_) return;
        for (const config_view entry : *list_) {
            if (entry.as_real() == 0 || number(entry.as_real()) != 0) continue;
            if (count_ == max_bases)
                throw_invalid_value(json, "layer_rope_theta", "a list of at most 8 different numbers");
            bases_[count_++] = entry.as_real();
        }
    }
    [[nodiscard]] constexpr std::uint8_t family_tag_of(std::int64_t layer) const {
        return list_ ? number((*list_)[static_cast<std::uint32_t>(layer)].as_real()) : std::uint8_t{1};
    }

private:
    [[nodiscard]] constexpr std::uint8_t number(double base) const noexcept {
        for (std::uint8_t i = 0; i < count_; ++i)
            if (bases_[i] == base) return static_cast<std::uint8_t>(i + 1);
        return 0;
    }
    maybe<config_view> list_;
    double bases_[max_bases]{};
    std::uint8_t count_ = 0;
};

/// Parses Granite MoE SWA. Without `layer_types`, every fourth layer has full attention.
constexpr void parse_swa(config_view json, model_config& config) {
    parse_moe_config(json, config);
    config.moe.shared_intermediate_size = json.non_negative("shared_intermediate_size", 0);
    const bool listed = parse_layer_types(json, config);
    const layer_plan listed_layers = config.layers;
    const rotary_bases bases(json, config);
    set_layers(json, config, [&](std::int64_t i) {
        const token_mixer_kind default_token_mixer =
            i % 4 == 0 ? token_mixer_kind::full_attention : token_mixer_kind::sliding_attention;
        return layer_spec{listed ? listed_layers[i].token_mixer : default_token_mixer, true, bases.family_tag_of(i)};
    });
}

}  // namespace granitemoe_detail

// Granite MoE. Derived from Granite, with experts weighted by a softmax over the top-k logits.
//
// Source: transformers/models/granitemoe
inline constexpr model_spec granitemoe = [](model_spec spec) {
    spec.model_type = "granitemoe";
    spec.class_prefix = "GraniteMoe";
    spec.parse_config = granitemoe_detail::parse_config;
    spec.mlp = granitemoe_detail::mlp;
    spec.family_keys = granitemoe_detail::family_keys;
    spec.process_logits = granitemoe_detail::process_logits;
    spec.names.mlp = "block_sparse_moe";
    spec.names.moe_class = "MoE";
    spec.names.router = "router";
    spec.defaults.moe.num_experts = 8;
    spec.defaults.moe.num_experts_per_tok = 2;
    spec.config_keys.add("mlp_bias", key_rule::absent);
    return spec;
}(granite);

// Granite MoE Shared. Derived from Granite MoE, with a shared expert.
//
// Source: transformers/models/granitemoeshared
inline constexpr model_spec granitemoeshared = [](model_spec spec) {
    spec.model_type = "granitemoeshared";
    spec.class_prefix = "GraniteMoeShared";
    spec.parse_config = granitemoe_detail::parse_shared;
    spec.dense_mlp = mlp_kind::fused_gated;
    spec.names.mlp_modules = {.gate = "input_linear", .up = "", .down = "output_linear", .act = "activation"};
    return spec;
}(granitemoe);

// Granite MoE SWA. Derived from Granite MoE Shared, with these differences:
//  - sliding windows;
//  - sinks that scale the attention output;
//  - a RoPE base per layer, or no RoPE.
//
// Source: transformers/models/granitemoe_swa
inline constexpr model_spec granitemoe_swa = [](model_spec spec) {
    spec.model_type = "granitemoe_swa";
    spec.class_prefix = "GraniteMoeSWA";
    spec.parse_config = granitemoe_detail::parse_swa;
    spec.base_model = granitemoe_detail::base_with_sinks;
    spec.attention = granitemoe_detail::attend_with_sinks;
    spec.mask_policy = mask_kind::full_and_sliding;
    spec.supported_layers.max_family_tag = granitemoe_detail::max_bases;
    spec.defaults.sliding_window = 128;
    return spec;
}(granitemoeshared);

}  // namespace llmcost::arch
