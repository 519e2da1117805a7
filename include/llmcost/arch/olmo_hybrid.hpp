// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/olmo2.hpp>
#include <llmcost/layers/gated_delta_net.hpp>

namespace llmcost::arch {

namespace olmo_hybrid_detail {

enum family_config_index : std::uint8_t { rotates, doubles_beta };
inline constexpr family_key family_keys[]{
    {.type = family_key_type::computed},  // there is a `rope_theta`
    {"linear_allow_neg_eigval", 1, family_key_type::boolean},
};

/// A gated delta net with a projection and a gate for each of its parts.
struct delta_net {
    const layer_context& ctx;

    static constexpr role module_role = role::mixer;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("GatedDeltaNet"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const gated_delta_net_config& d = ctx.config.delta;
        const std::int64_t width = ctx.config.hidden_size, batch = x.dim(0), sequence = x.dim(1);
        const gated_delta_net_dims rule{
            width,         d.num_key_heads,      d.num_value_heads, d.key_head_dim, d.value_head_dim,
            d.conv_kernel, ctx.config.hidden_act};
        const std::int64_t keys_width = rule.key_dim(), values_width = rule.value_dim();
        const tensor a_log = t.float32_param("A_log", {d.num_value_heads}),
                     dt_bias = t.param("dt_bias", {d.num_value_heads});
        const auto projected = [&](literal name, std::int64_t features) {
            return t.call(name, linear{width, features}, x);
        };
        const tensor q = projected("q_proj", keys_width), k = projected("k_proj", keys_width);
        const tensor qkv_states = t.cat({q, k, projected("v_proj", values_width)}, -1).transpose(1, 2);
        const convolution_weights kernel =
            declare_conv_weights(t, "conv1d", 2 * keys_width + values_width, d.conv_kernel, false);
        const tensor mixed = causal_convolution(t, qkv_states, kernel, rule.act).transpose(1, 2);
        const auto heads = [&](std::int64_t all, std::int64_t head_dim) {
            return mixed.slice(-1, all).view({batch, sequence, -1, head_dim});
        };
        delta_rule::inputs in;
        in.query = heads(keys_width, d.key_head_dim);
        in.key = heads(keys_width, d.key_head_dim);
        in.value_ = heads(values_width, d.value_head_dim);
        in.beta = t.sigmoid(projected("b_proj", d.num_value_heads));
        if (ctx.config.family[doubles_beta]) in.beta = t.mul_scalar(in.beta);
        const tensor rate = t.neg(t.exp(t.to(a_log, dtype::float32)));
        in.decay =
            t.mul(rate, t.softplus(t.add(t.to(projected("a_proj", d.num_value_heads), dtype::float32), dt_bias)));
        const tensor rows = t.reshape(delta_rule::cached(t, in, rule), {-1, d.value_head_dim});
        const tensor gate = t.reshape(projected("g_proj", values_width), {-1, d.value_head_dim});
        const tensor normed =
            t.call("o_norm", gated_rms_norm{d.value_head_dim, ctx.class_of("RMSNormGated")}, rows, gate);
        return t.call("o_proj", linear{values_width, width}, t.reshape(normed, {batch, sequence, -1}));
    }
};

constexpr tensor recurrent_block(const layer_context& ctx, trace& t, const tensor& x) {
    return t.call(ctx.spec.names.recurrent_block, delta_net{ctx}, x);
}

constexpr decoder_inputs prepare_inputs(const layer_context& ctx, trace& t) {
    decoder_inputs c = make_masks(ctx, t);
    if (ctx.config.family[rotates]) compute_rotary_embeddings(ctx, t, c.full);
    return c;
}

/// Attention as in OLMo 2, perhaps without positions.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    query_key_value qkv = project_qkv(ctx, t, x);
    apply_qk_norm(ctx, t, qkv, qkv.query.dim(-1), qkv.key.dim(-1));
    split_heads(ctx, qkv);
    transpose_heads(qkv);
    if (ctx.config.family[rotates]) apply_rotary(ctx, t, qkv);
    update_kv_cache(ctx, t, qkv);
    return output_projection(ctx, t, scaled_dot_product_attention(ctx, t, qkv));
}

/// Decoder layer with norms after the blocks in attention layers, and before them in recurrent layers.
constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    return ctx.layer.token_mixer == token_mixer_kind::recurrent ? pre_norm_layer(ctx, t, x)
                                                                : post_norm_layer(ctx, t, x);
}

/// True if the configuration disables RoPE explicitly: `rope_theta` is null.
constexpr bool denies_rope(config_view json) {
    const auto rope = detail::rope_parameters(json);
    const config_view place = rope && rope->contains("rope_theta") ? *rope : json;
    const auto theta = place.find("rope_theta");
    return theta && theta->is_null();
}

constexpr void parse_config(config_view json, model_config& config) {
    gated_delta_net_config& d = config.delta;
    const auto parse_or_default = [&](literal key, std::int64_t default_value) {
        const auto found = json.find(key);
        return found && !found->is_null() ? found->as_positive() : default_value;
    };
    d.num_key_heads = parse_or_default("linear_num_key_heads", config.num_attention_heads);
    d.num_value_heads = parse_or_default("linear_num_value_heads", config.num_attention_heads);
    d.key_head_dim = parse_or_default("linear_key_head_dim", 3 * config.hidden_size / (4 * d.num_key_heads));
    if (d.key_head_dim == 0) throw_invalid_value(json, "linear_num_key_heads", "heads of at least one element");
    d.value_head_dim = parse_or_default("linear_value_head_dim", 2 * d.key_head_dim);
    d.conv_kernel = json.positive("linear_conv_kernel_dim", 4);
    if (d.num_value_heads % d.num_key_heads != 0)
        throw_invalid_value(json, "linear_num_value_heads", "a multiple of linear_num_key_heads");
    (void)checked_size(json, "linear_key_head_dim", d.num_key_heads, d.key_head_dim);
    (void)checked_size(json, "linear_value_head_dim", d.num_value_heads, d.value_head_dim);
    config.family[rotates] = !denies_rope(json);
    config.sliding_window = 0;
    if (parse_layer_types(json, config, token_mixer_kind::recurrent)) return;
    const std::int64_t n = config.num_hidden_layers;
    set_layers(json, config, [&](std::int64_t i) {
        const bool attends = i % 4 == 3 || (n < 4 && i == n - 1);
        return layer_spec{attends ? token_mixer_kind::full_attention : token_mixer_kind::recurrent};
    });
}

}  // namespace olmo_hybrid_detail

// transformers/models/olmo_hybrid: configuration_olmo_hybrid.py, modeling_olmo_hybrid.py; gated delta nets between OLMo
// 3's attention layers
inline constexpr model_spec olmo_hybrid = [](model_spec spec) {
    spec.model_type = "olmo_hybrid";
    spec.class_prefix = "OlmoHybrid";
    spec.supported_heads = language_heads;
    spec.parse_config = olmo_hybrid_detail::parse_config;
    spec.family_keys = olmo_hybrid_detail::family_keys;
    spec.prepare_inputs = olmo_hybrid_detail::prepare_inputs;
    spec.decoder_layer = olmo_hybrid_detail::decoder_layer;
    spec.attention = olmo_hybrid_detail::attention;
    spec.recurrent_block = olmo_hybrid_detail::recurrent_block;
    spec.mask_policy = mask_kind::full_and_present;
    spec.supported_layers = attention_layers | token_mixer_kind::recurrent;
    spec.names.layer_class = "AttentionDecoderLayer";
    spec.names.recurrent_layer_class = "LinearAttentionDecoderLayer";
    spec.defaults.vocab_size = 100352;
    spec.defaults.hidden_size = 3840;
    spec.defaults.num_attention_heads = 30;
    spec.defaults.max_position_embeddings = 65536;
    return spec;
}(olmo2);

}  // namespace llmcost::arch
