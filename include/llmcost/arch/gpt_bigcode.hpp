// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/gpt_neo.hpp>

namespace llmcost::arch {

namespace gpt_bigcode_detail {

enum own : std::uint8_t { one_key };
inline constexpr own_key keys[]{{"multi_query", 1, own_value::boolean}};

/// One projection holds all queries and one key, or queries, keys and values head by head.
constexpr value attend(const site& here, trace& t, const value& x) {
    const sizes& dims = here.dims;
    const std::int64_t width = dims.hidden_size, batch = x.dim(0), sequence = x.dim(1), d = dims.head_dim;
    const value all = t.call("c_attn", linear{width, width + 2 * dims.num_key_value_heads * d, true}, x);
    qkv of;
    if (dims.own[one_key]) {
        const value first = all.unsqueeze(1);
        of.q = first.slice(-1, width).view({batch, sequence, -1, d}).transpose(1, 2);
        of.k = of.v = first.slice(-1, d);
    } else {
        of.q = of.k = of.v = all.view({batch, sequence, dims.num_attention_heads, 3 * d}).transpose(1, 2).slice(-1, d);
    }
    remember(here, t, of);
    const value flat = look_up(here, t, of);
    return dropout(t, "resid_dropout", t.call("c_proj", linear{width, width, true}, flat));
}

constexpr void read(config_view config, sizes& s) {
    plan_one_mask(config, s);
    share_among_heads(config, s, {"n_head", "num_attention_heads"});
    if (s.intermediate_size == 0) s.intermediate_size = 4 * s.hidden_size;
    s.num_key_value_heads = s.own[one_key] ? 1 : s.num_attention_heads;
    if (config.boolean("add_cross_attention", false))
        fail_unsupported(config, "add_cross_attention", "no row describes this type with cross-attention");
}

}  // namespace gpt_bigcode_detail

// transformers/models/gpt_bigcode: configuration_gpt_bigcode.py, modeling_gpt_bigcode.py; one key for all heads
inline constexpr architecture gpt_bigcode = [](architecture a) {
    a.model_type = "gpt_bigcode", a.prefix = "GPTBigCode", a.read = gpt_bigcode_detail::read;
    a.own = gpt_bigcode_detail::keys, a.attend = gpt_bigcode_detail::attend, a.feed = gpt_neo_detail::feed;
    a.heads = decoder_heads;
    a.names.causal_lm_type = "ForCausalLM";
    a.defaults.hidden_act = activation::gelu_pytorch_tanh;
    return a;
}(gpt2);

}  // namespace llmcost::arch
