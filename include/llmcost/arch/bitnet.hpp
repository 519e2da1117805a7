// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

namespace bitnet_detail {

constexpr value attend(const site& here, trace& t, const value& x) {
    return join(here, t, normed(here, t, "attn_sub_norm", attend_with(here, t, project_qkv(here, t, x))));
}

/// down(norm(act(gate(x)) · up(x))).
struct feed_forward {
    site here;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("MLP"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, inner = here.dims.intermediate_size;
        const value gate =
            t.call("act_fn", activation_module{here.dims.hidden_act}, t.call("gate_proj", linear{width, inner}, x));
        const value gated = t.mul(gate, t.call("up_proj", linear{width, inner}, x));
        return t.call("down_proj", linear{inner, width}, norm_of(here, t, "ffn_sub_norm", inner, gated));
    }
};

constexpr value feed(const site& here, trace& t, const value& x) { return t.call("mlp", feed_forward{here}, x); }

constexpr void read(config_view config, sizes& s) {
    plan_one_mask(config, s);
    if (s.num_attention_heads * s.head_dim != s.hidden_size)
        fail_unsupported(config, "hidden_size", "the norm behind attention is as wide as it, but the heads are not");
}

}  // namespace bitnet_detail

// transformers/models/bitnet: norms in front of the last projection of each block
inline constexpr architecture bitnet = [](architecture a) {
    a.heads = language_heads;
    a.model_type = "bitnet", a.prefix = "BitNet", a.read = bitnet_detail::read;
    a.attend = bitnet_detail::attend, a.feed = bitnet_detail::feed;
    a.defaults.vocab_size = 128256, a.defaults.hidden_size = 2560, a.defaults.intermediate_size = 6912;
    a.defaults.num_hidden_layers = 30, a.defaults.num_attention_heads = 20, a.defaults.num_key_value_heads = 5;
    a.defaults.hidden_act = activation::relu2;
    a.keys[0] = no_mlp_bias;
    return a;
}(llama);

}  // namespace llmcost::arch
