// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

namespace persimmon_detail {

/// One projection, query, key and value of each head side by side; layer norms of queries and keys, if any.
constexpr value attend(const site& here, trace& t, const value& x) {
    const std::int64_t heads = here.dims.num_attention_heads, d = here.dims.head_dim, width = here.dims.hidden_size;
    const value all = t.call("query_key_value", linear{width, 3 * width, true}, x).view({x.dim(0), x.dim(1), heads, 3, d});
    qkv of{t.select(all, 3), t.select(all, 3), t.select(all, 3)};
    if (here.dims.qk_norm) norm_queries_and_keys(here, t, of, d, d);
    heads_first(of);
    turn(here, t, of);
    remember(here, t, of);
    const value found = look_up(here, t, of);
    return t.call("dense", linear{width, width, true}, found);
}

constexpr value layer(const site& here, trace& t, const value& x) {
    const value middle = t.add(x, mixed(here, t, normed(here, t, "input_layernorm", x)));
    const value h = here.row.feed(here, t, normed(here, t, "post_attention_layernorm", middle));
    return t.add(dropout(t, "dropout", h), middle);
}

constexpr void read(config_view config, sizes& s) {
    share_among_heads(config, s, {"num_attention_heads"});
    s.num_key_value_heads = s.num_attention_heads;
    s.rotary_dim =
        static_cast<std::int64_t>(static_cast<double>(s.head_dim) * detail::read_partial_rotary_factor(config, 0.5));
    s.mlp_bias = true;
    s.qk_norm = config.boolean("qk_layernorm", true);
    plan_one_mask(config, s);
}

inline constexpr dropout_key dropout_rates[]{{dropout_of::hidden, "hidden_dropout"},
                                             {dropout_of::attention, "attention_dropout"},
                                             {dropout_of::classifier, "hidden_dropout", 0},
                                             {dropout_of::classifier, "classifier_dropout", as_before}};

}  // namespace persimmon_detail

// transformers/models/persimmon: configuration_persimmon.py, modeling_persimmon.py; half of each head rotated, squared ReLU
inline constexpr architecture persimmon = [](architecture a) {
    a.model_type = "persimmon", a.prefix = "Persimmon", a.read = persimmon_detail::read, a.heads = decoder_heads;
    a.layer = persimmon_detail::layer, a.attend = persimmon_detail::attend, a.norm = norm_kind::layer;
    a.feed_forward = mlp_kind::plain, a.joins_rotated = true;
    a.names.norm = "final_layernorm", a.names.q_norm = "q_layernorm", a.names.k_norm = "k_layernorm";
    a.names.mlp = {.up = "dense_h_to_4h", .down = "dense_4h_to_h", .act = "act"};
    a.keys[0] = no_attention_bias, a.keys[1] = no_mlp_bias;
    a.keys[2] = {"num_key_value_heads", "", key_rule::absent};
    a.defaults = sizes{.vocab_size = 262144,
                       .hidden_size = 4096,
                       .intermediate_size = 16384,
                       .num_hidden_layers = 36,
                       .num_attention_heads = 64,
                       .max_position_embeddings = 16384,
                       .hidden_act = activation::relu2};
    a.keys[3] = no_key_value_heads;
    a.drops = persimmon_detail::dropout_rates;
    return a;
}(llama);

}  // namespace llmcost::arch
