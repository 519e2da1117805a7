// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

// BitNet. Derived from Llama, with a norm before the last projection of each block.
//
// Source: transformers/models/bitnet

namespace llmcost::arch {

namespace bitnet_detail {

constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    return output_projection(ctx, t,
                             apply_norm(ctx, t, "attn_sub_norm", attention_from_qkv(ctx, t, project_qkv(ctx, t, x))));
}

/// MLP with an inner norm: down(norm(act(gate(x)) · up(x))).
struct mlp_block {
    layer_context ctx;

    static constexpr role module_role = role::mlp;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("MLP"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, inner = ctx.config.intermediate_size;
        const tensor gate =
            t.call("act_fn", activation_module{ctx.config.hidden_act}, t.call("gate_proj", linear{width, inner}, x));
        const tensor gated = t.mul(gate, t.call("up_proj", linear{width, inner}, x));
        return t.call("down_proj", linear{inner, width}, apply_norm(ctx, t, "ffn_sub_norm", inner, gated));
    }
};

constexpr tensor mlp(const layer_context& ctx, trace& t, const tensor& x) { return t.call("mlp", mlp_block{ctx}, x); }

constexpr void parse_config(config_view json, model_config& config) {
    set_single_mask(json, config);
    if (config.num_attention_heads * config.head_dim != config.hidden_size)
        throw_unsupported(json, "hidden_size",
                          "a hidden_size other than num_attention_heads * head_dim is not supported");
}

}  // namespace bitnet_detail

inline constexpr model_spec bitnet = [](model_spec spec) {
    spec.supported_heads = language_heads;
    spec.model_type = "bitnet";
    spec.class_prefix = "BitNet";
    spec.parse_config = bitnet_detail::parse_config;
    spec.attention = bitnet_detail::attention;
    spec.mlp = bitnet_detail::mlp;
    spec.defaults.vocab_size = 128256;
    spec.defaults.hidden_size = 2560;
    spec.defaults.intermediate_size = 6912;
    spec.defaults.num_hidden_layers = 30;
    spec.defaults.num_attention_heads = 20;
    spec.defaults.num_key_value_heads = 5;
    spec.defaults.hidden_act = activation::relu2;
    spec.config_keys.add("mlp_bias", key_rule::absent);
    return spec;
}(llama);

}  // namespace llmcost::arch
