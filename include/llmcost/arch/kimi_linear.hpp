// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/deepseek_v3.hpp>
#include <llmcost/config/latent_attention.hpp>
#include <llmcost/config/linear_attention.hpp>
#include <llmcost/layers/kimi_delta.hpp>

namespace llmcost::arch {

namespace kimi_linear_detail {

enum family_config_index : std::uint8_t { linear_heads, linear_head_dim, conv_kernel };

inline constexpr family_key family_keys[]{
    {"linear_num_heads", 32},
    {"linear_head_dim", 128},
    {"linear_conv_kernel_dim", 4},
};

/// Computes the decay of every element of a head: -exp(A) · softplus(f + bias), with the softplus unfused.
struct forget_gate {
    std::int64_t width, heads, dim;
    literal prefix;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {prefix, "ForgetGate"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor bias = t.param("dt_bias", {heads * dim}), a_log = t.param("A_log", {1, 1, heads, 1});
        const tensor low = t.call("f_a_proj", linear{width, dim}, x);
        const tensor f = t.to(t.call("f_b_proj", linear{dim, heads * dim}, low), dtype::float32);
        const tensor biased = t.add(f, t.to(bias, dtype::float32).view({1, 1, -1}));
        const tensor g = biased.view({x.dim(0), x.dim(1), heads, dim});
        const tensor rate = t.exp(t.to(a_log, dtype::float32));
        const tensor grown = t.log(t.add_scalar(t.exp(g)));
        const tensor softplus = t.where(g, grown);
        return t.mul(t.neg(rate), softplus);
    }
};

struct gates {
    std::int64_t width, heads, dim;
    literal prefix;

    constexpr tensor decay(trace& t, const tensor& x) const {
        return t.call("forget_gate", forget_gate{width, heads, dim, prefix}, x);
    }
    constexpr tensor output(trace& t, const tensor& x) const {
        return t.call("g_b_proj", linear{dim, heads * dim}, t.call("g_a_proj", linear{width, dim}, x));
    }
};

constexpr tensor recurrent_block(const layer_context& ctx, trace& t, const tensor& x) {
    const family_config& family = ctx.config.family;
    const std::int64_t width = ctx.config.hidden_size, heads = family[linear_heads], dim = family[linear_head_dim];
    const kimi_delta_attention<gates> layer{width,
                                            heads,
                                            dim,
                                            family[conv_kernel],
                                            ctx.config.hidden_act,
                                            ctx.spec.class_prefix,
                                            {width, heads, dim, ctx.spec.class_prefix}};
    return t.call(ctx.spec.names.recurrent_block, layer, x);
}

/// Checkpoints keep what linear attention needs in an object of its own, with layers counted from one.
constexpr void parse_config(config_view json, model_config& config) {
    parse_latent_attention(json, config);
    config.tie_word_embeddings = false;  // `_tied_weights_keys` is empty
    parse_kimi_experts(json, config);
    layer_set full, linear;
    bool lists = false;
    if (const auto linear_json = json.optional_object("linear_attn_config")) {
        config.family[linear_head_dim] = linear_json->positive("head_dim", config.family[linear_head_dim]);
        config.family[linear_heads] = linear_json->positive("num_heads", config.family[linear_heads]);
        config.family[conv_kernel] = linear_json->positive("short_conv_kernel_size", config.family[conv_kernel]);
        const auto attend = linear_json->optional_array("full_attn_layers"),
                   keep = linear_json->optional_array("kda_layers");
        lists = attend.has_value() && keep.has_value();
        if (lists) {
            full = layer_set(*attend);
            linear = layer_set(*keep);
        }
    }
    (void)checked_size(json, "linear_head_dim", config.family[linear_heads], 3 * config.family[linear_head_dim]);
    set_linear_attention_layers(json, config, json.non_negative("first_k_dense_replace", 1), [&](std::int64_t i) {
        if (!lists) return i > 0 && i % 4 == 0;
        if (i + 1 >= layer_plan::max_layers || full.has(i + 1) == linear.has(i + 1))
            throw_unsupported(json, "linear_attn_config", "a layer must be in exactly one of the lists");
        return full.has(i + 1);
    });
}

}  // namespace kimi_linear_detail

// transformers/models/kimi_linear: Kimi delta attention, latent attention without positions, DeepSeek V3's experts
inline constexpr model_spec kimi_linear = [](model_spec spec) {
    spec.model_type = "kimi_linear";
    spec.class_prefix = "KimiLinear";
    spec.supported_heads = language_heads;
    spec.parse_config = kimi_linear_detail::parse_config;
    spec.family_keys = kimi_linear_detail::family_keys;
    spec.recurrent_block = kimi_linear_detail::recurrent_block;
    spec.supported_layers = attention_layers | token_mixer_kind::recurrent;
    spec.mask_policy = mask_kind::full_and_present;
    spec.rotary = rotary_style::none;
    spec.names.recurrent_block = "self_attn";
    spec.config_keys.add("max_position_embeddings", "model_max_length", key_rule::family_name_first);
    spec.multi_token_prediction = nullptr;
    spec.defaults = model_config{
        .vocab_size = 163840,
        .hidden_size = 2304,
        .intermediate_size = 9216,
        .num_hidden_layers = 27,
        .num_attention_heads = 32,
        .num_key_value_heads = 32,
        .max_position_embeddings = 1048576,
        .moe = {.num_experts = 256, .num_experts_per_tok = 8, .intermediate_size = 1024, .norm_topk_prob = true},
        .mla = {.kv_lora_rank = 512, .qk_nope_head_dim = 128, .qk_rope_head_dim = 64, .v_head_dim = 128}};
    return spec;
}(deepseek_v3);

}  // namespace llmcost::arch
