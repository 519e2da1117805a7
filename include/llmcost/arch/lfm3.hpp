// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/lfm2.hpp>

namespace llmcost::arch {

namespace lfm3_detail {

enum family_config_index : std::uint8_t { norms_after, gates };
inline constexpr family_key family_keys[]{
    {"use_sandwich_norm", 1, family_key_type::boolean},
    {"use_attention_gate", 1, family_key_type::boolean},
};

/// A gate of one number per head on what attention finds.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t d = ctx.config.head_dim;
    query_key_value qkv = project_qkv(ctx, t, x);
    split_heads(ctx, qkv);
    apply_qk_norm(ctx, t, qkv, d, d);
    transpose_heads(qkv);
    for (tensor* const operand : {&qkv.query, &qkv.key})
        *operand = rotate(t, rotary_style::rotate_half_float32, *operand, ctx.inputs->cos, ctx.inputs->sin);
    update_kv_cache(ctx, t, qkv);
    tensor found =
        attention_forward(t, qkv.query, qkv.key, qkv.value, ctx.inputs->pattern, {.mask = &ctx.inputs->mask});
    if (ctx.config.family[gates]) {
        const tensor logits = t.call("g_proj", linear{ctx.config.hidden_size, ctx.config.num_attention_heads}, x);
        found = t.mul(found, t.sigmoid(logits).unsqueeze(-1));
    }
    return output_projection(ctx, t, t.contiguous(t.reshape(found, {x.dim(0), x.dim(1), -1})));
}

constexpr decoder_inputs prepare_inputs(const layer_context& ctx, trace& t) {
    return prepare_inputs_per_token_mixer(ctx, t, {ctx.config.head_dim, ctx.config.head_dim},
                                          rotary_style::rotate_half_float32);
}

/// Norms before and after each block; with identities instead of the norms after blocks in some models.
constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const bool norms = ctx.config.family[norms_after] != 0;
    const auto apply_post_norm = [&](literal name, const tensor& h) {
        return norms ? apply_norm(ctx, t, name, h) : t.call(name, identity{"Identity"}, h);
    };
    tensor h = mix_tokens(ctx, t, apply_norm(ctx, t, "operator_norm", x));
    const tensor middle = t.add(x, apply_post_norm("post_operator_norm", h));
    h = ctx.spec.mlp(ctx, t, apply_norm(ctx, t, "ffn_norm", middle));
    return t.add(middle, apply_post_norm("post_ffn_norm", h));
}

/// Checks the RoPE parameters of each layer kind, which rotate complete heads.
constexpr void check_rope(config_view json, literal kind) {
    const auto all = json.optional_object("rope_parameters");
    if (!all) return;
    const config_view place = all->object(kind);
    if (detail::has_type_of_rope(place, "default") || detail::has_type_of_rope(place, "proportional")) return;
    bool known = false;
    for (const literal type : {"linear", "yarn", "llama3"}) known = known || detail::has_type_of_rope(place, type);
    if (!known) throw_unsupported(place, "rope_type", "unsupported RoPE type for one layer type");
    if (place.real("partial_rotary_factor", 1) != 1)
        throw_invalid_value(place, "partial_rotary_factor", "1, because complete heads are rotated");
}

constexpr token_mixer_kind mixer_by_rule(std::int64_t i) noexcept {
    if (i % 4 == 2) return token_mixer_kind::full_attention;
    return i % 4 == 0 && i > 0 ? token_mixer_kind::sliding_attention : token_mixer_kind::recurrent;
}

constexpr void parse_config(config_view json, model_config& config) {
    config.hidden_act = activation::silu;
    config.ssm.conv_kernel = json.positive("conv_L_cache", 7);
    config.ssm.use_bias = json.boolean("conv_bias", false);
    const auto list = json.optional_array("layer_types");
    if (list && static_cast<std::int64_t>(list->size()) != config.num_hidden_layers)
        throw_invalid_value(json, "layer_types", "a list with one kind per hidden layer");
    set_layers(json, config, [&](std::int64_t i) {
        if (!list) return layer_spec{mixer_by_rule(i)};
        const string_ref name = (*list)[static_cast<std::uint32_t>(i)].as_string();
        if (name == "conv") return layer_spec{token_mixer_kind::recurrent};
        if (name == "sliding_attention") return layer_spec{token_mixer_kind::sliding_attention};
        if (name != "full_attention") throw_unsupported(json, "layer_types", "unsupported layer type");
        return layer_spec{token_mixer_kind::full_attention};
    });
    if (config.head_dim % 2 != 0) throw_invalid_value(json, "head_dim", "an even number");
    if (config.layers.contains(token_mixer_kind::full_attention, config.num_hidden_layers))
        check_rope(json, "full_attention");
    if (config.layers.contains(token_mixer_kind::sliding_attention, config.num_hidden_layers))
        check_rope(json, "sliding_attention");
}

}  // namespace lfm3_detail

// transformers/models/lfm3: LFM2 with sliding windows, gated attention, and norms after blocks
inline constexpr model_spec lfm3 = [](model_spec spec) {
    spec.model_type = "lfm3";
    spec.class_prefix = "Lfm3";
    spec.parse_config = lfm3_detail::parse_config;
    spec.family_keys = lfm3_detail::family_keys;
    spec.decoder_layer = lfm3_detail::decoder_layer;
    spec.attention = lfm3_detail::attention;
    spec.mask_policy = mask_kind::present;
    spec.prepare_inputs = lfm3_detail::prepare_inputs;
    spec.rotary = rotary_style::none;
    spec.names.o_proj = "o_proj";
    spec.names.q_norm = "q_norm";
    spec.names.k_norm = "k_norm";
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.defaults.vocab_size = 128000;
    spec.defaults.hidden_size = 2048;
    spec.defaults.intermediate_size = 7680;
    spec.defaults.num_hidden_layers = 24;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.num_key_value_heads = 4;
    spec.defaults.head_dim = 128;
    spec.defaults.sliding_window = 256;
    return spec;
}(lfm2);

}  // namespace llmcost::arch
