// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

namespace apertus_detail {

enum own : std::uint8_t { learns_activation };
inline constexpr own_key keys[]{
    {.otherwise = 1, .value = own_value::computed},  // xIELU, whose module has parameters
};

/// Two curves with parameters, of which each element takes one.
///
/// Source: transformers/activations.py, `XIELUActivation._xielu_python`.
struct xielu {
    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] static constexpr class_name type() { return {"", "XIELUActivation"}; }
    static constexpr value describe(trace& t, const value& x) {
        const value positive = t.param("alpha_p", {1}), negative = t.param("alpha_n", {1});
        const value p = t.softplus(positive), n = t.add(t.softplus(negative));
        const value above = t.add(t.mul(t.mul(p, x), x), t.mul(x));
        const value below = t.sub(t.unary(op::expm1, t.minimum(x, trace::buffer({}))), x);
        return t.where(above, t.add(t.mul(below, n), t.mul(x)));
    }
};

/// down(act(up(x))).
struct feed_forward {
    site here;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("MLP"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, inner = here.dims.intermediate_size;
        return t.call("down_proj", linear{inner, width},
                      t.call("act_fn", xielu{}, t.call("up_proj", linear{width, inner}, x)));
    }
};

constexpr value feed(const site& here, trace& t, const value& x) {
    if (here.dims.own[learns_activation] != 0) return t.call("mlp", feed_forward{here}, x);
    return llmcost::feed_forward(here, t, x);
}

constexpr void read(config_view config, sizes& s) {
    plan_one_mask(config, s);
    const auto act = config.optional_string("hidden_act");
    s.own[learns_activation] = !act || *act == "xielu";
    if (act && *act != "xielu") s.hidden_act = activation_named(config, "hidden_act", *act);
}

}  // namespace apertus_detail

// transformers/models/apertus: norms of queries and keys per head, a feed-forward block without a gate that learns its curve
inline constexpr architecture apertus = [](architecture a) {
    a.heads = {head_kind::none, head_kind::causal_lm, head_kind::token_classification};
    a.model_type = "apertus", a.prefix = "Apertus", a.read = apertus_detail::read, a.own = apertus_detail::keys;
    a.feed = apertus_detail::feed, a.feed_forward = mlp_kind::plain, a.qk_norm = qk_norm_kind::per_head_transposed;
    a.names.norm_before_attention = "attention_layernorm", a.names.norm_before_feed_forward = "feedforward_layernorm";
    a.defaults.vocab_size = 131072, a.defaults.intermediate_size = 14336, a.defaults.max_position_embeddings = 65536;
    a.keys[0] = no_mlp_bias, a.keys[1] = {"hidden_act", "", key_rule::absent};
    return a;
}(llama);

}  // namespace llmcost::arch
