// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

namespace qwen_detail {

enum own : std::uint8_t { seq_length, scales_long_queries };
inline constexpr own_key keys[]{{"seq_length", 2048}, {"use_logn_attn", 1, own_value::boolean}};

/// Queries of texts longer than those it learnt from are scaled by their positions.
constexpr value attend(const site& here, trace& t, const value& x) {
    const own_sizes& own = here.dims.own;
    const workload& load = t.load();
    qkv of = project_qkv_as_one(here, t, x);
    if (own[scales_long_queries] == 0) return join(here, t, attend_with(here, t, of));
    t.edge(axis::total, own[seq_length] + 1);
    split_heads(here, of);
    heads_first(of);
    turn(here, t, of);
    remember(here, t, of);
    if (load.past + load.sequence > own[seq_length]) of.q = t.mul(of.q, trace::buffer({1, 1, load.sequence, 1}));
    return join(here, t, look_up(here, t, of));
}

/// Both projections of a block share its inner width.
constexpr void read(config_view config, sizes& s) {
    plan_one_mask(config, s);
    s.attention_bias = true;
    s.output_bias = s.mlp_bias = !config.boolean("no_bias", true);
    if (s.intermediate_size % 2 != 0) fail_value(config, "intermediate_size", "an even number");
    s.intermediate_size /= 2;
    const double part = config.real("rotary_pct", 1.0);
    if (part != 1.0) s.rotary_dim = whole_pairs(s.head_dim, part);
}

}  // namespace qwen_detail

// modeling_qwen.py of Qwen/Qwen-7B: Llama under GPT-2's names, one projection with biases for queries, keys and values
inline constexpr architecture qwen = [](architecture a) {
    a.model_type = "qwen", a.prefix = "QWen", a.remote_code = true, a.read = qwen_detail::read, a.own = qwen_detail::keys;
    a.attend = qwen_detail::attend, a.heads = language_heads, a.drops = {};
    a.names.causal_lm_type = "LMHeadModel", a.names.base = "transformer", a.names.layer_type = "Block";
    a.names.embed_tokens = "wte", a.names.layers = "h", a.names.norm = "ln_f", a.names.norm_type = "RMSNorm";
    a.names.attention = "attn", a.names.q = "c_attn", a.names.o = "c_proj";
    a.names.mlp = {.gate = "w2", .up = "w1", .down = "c_proj", .act = ""};
    a.names.norm_before_attention = "ln_1", a.names.norm_before_feed_forward = "ln_2";
    a.keys[0] = no_attention_bias, a.keys[1] = no_mlp_bias, a.keys[2] = no_key_value_heads;
    a.keys[3] = {"head_dim", "kv_channels"};
    a.defaults.vocab_size = 151936, a.defaults.intermediate_size = 22016, a.defaults.max_position_embeddings = 8192;
    a.defaults.head_dim = 128;
    return a;
}(llama);

}  // namespace llmcost::arch
