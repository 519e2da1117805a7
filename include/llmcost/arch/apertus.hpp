// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

// Apertus. Derived from Llama, with these differences:
//  - norms of queries and keys per head;
//  - an MLP without a gate and with xIELU, which has learned parameters.
//
// Source: transformers/models/apertus

namespace llmcost::arch {

namespace apertus_detail {

enum family_config_index : std::uint8_t { learns_activation };
inline constexpr family_key family_keys[]{
    {.default_value = 1, .type = family_key_type::computed},  // 1 = xIELU, whose module has parameters
};

/// xIELU: evaluates two curves with learned parameters; each element takes the value of one of them.
///
/// Source: transformers/activations.py, `XIELUActivation._xielu_python`.
struct xielu {
    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] static constexpr class_name type_name() { return {"", "XIELUActivation"}; }
    static constexpr tensor forward(trace& t, const tensor& x) {
        t.register_buffer({2}, t.activation_type());  // `beta`, `eps`
        const tensor positive = t.param("alpha_p", {1}), negative = t.param("alpha_n", {1});
        const tensor p = t.softplus(positive), n = t.add_scalar(t.softplus(negative));
        const tensor quadratic = t.mul(t.mul(p, x), x);
        const tensor above = t.add(quadratic, t.mul_scalar(x));
        const tensor exponential = t.mul(t.sub(t.expm1(t.minimum(x, trace::buffer({}))), x), n);
        return t.where(above, t.add(exponential, t.mul_scalar(x)));
    }
};

/// down(act(up(x))).
struct mlp_block {
    layer_context ctx;

    static constexpr role module_role = role::mlp;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("MLP"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, inner = ctx.config.intermediate_size;
        return t.call("down_proj", linear{inner, width},
                      t.call("act_fn", xielu{}, t.call("up_proj", linear{width, inner}, x)));
    }
};

constexpr tensor mlp(const layer_context& ctx, trace& t, const tensor& x) {
    if (ctx.config.family[learns_activation] != 0) return t.call("mlp", mlp_block{ctx}, x);
    return llmcost::default_mlp(ctx, t, x);
}

constexpr void parse_config(config_view json, model_config& config) {
    set_single_mask(json, config);
    const auto act = json.optional_string("hidden_act");
    config.family[learns_activation] = !act || *act == "xielu";
    if (act && *act != "xielu") config.hidden_act = activation_named(json, "hidden_act", *act);
}

}  // namespace apertus_detail

inline constexpr model_spec apertus = [](model_spec spec) {
    spec.supported_heads = {head_kind::none, head_kind::causal_lm, head_kind::token_classification};
    spec.model_type = "apertus";
    spec.class_prefix = "Apertus";
    spec.parse_config = apertus_detail::parse_config;
    spec.family_keys = apertus_detail::family_keys;
    spec.mlp = apertus_detail::mlp;
    spec.dense_mlp = mlp_kind::plain;
    spec.qk_norm = qk_norm_kind::per_head_transposed;
    spec.names.pre_attention_norm = "attention_layernorm";
    spec.names.pre_mlp_norm = "feedforward_layernorm";
    spec.defaults.vocab_size = 131072;
    spec.defaults.intermediate_size = 14336;
    spec.defaults.max_position_embeddings = 65536;
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.config_keys.add("hidden_act", key_rule::absent);
    return spec;
}(llama);

}  // namespace llmcost::arch
