// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/reading/reader.hpp>
#include <llmcost/walks/decoder.hpp>

namespace llmcost::arch {

namespace phi_detail {

/// Where the configuration says so, queries and keys are normed per head behind the transposition.
constexpr value attend(const site& here, trace& t, const value& x) {
    const std::int64_t d = here.dims.head_dim;
    qkv of = project_qkv(here, t, x);
    split_heads(here, of);
    heads_first(of);
    if (here.dims.qk_norm) norm_queries_and_keys(here, t, of, d, d);
    turn(here, t, of);
    remember(here, t, of);
    return join(here, t, look_up(here, t, of));
}

/// Attention and feed-forward block side by side, summed before the residual; one dropout serves both.
constexpr value layer(const site& here, trace& t, const value& x) {
    const value h = normed(here, t, "input_layernorm", x);
    const value a = dropout(t, "resid_dropout", mixed(here, t, h));
    const value f = dropout(t, "resid_dropout", here.row.feed(here, t, h));
    return t.add(t.add(a, f), x);
}

constexpr value embed(const site& here, trace& t) {
    return dropout(t, "embed_dropout", embed_words(here, t), dropout_of::embeddings);
}

constexpr void read(config_view config, sizes& s) {
    s.attention_bias = s.output_bias = s.mlp_bias = s.head_bias = true;
    s.qk_norm = config.boolean("qk_layernorm", false);
    if (s.qk_norm && s.head_dim != s.hidden_size / s.num_attention_heads)
        fail_value(config, "head_dim", "hidden_size / num_attention_heads, as norms of queries and keys are that wide");
    s.rotary_dim =
        static_cast<std::int64_t>(static_cast<double>(s.head_dim) * detail::read_partial_rotary_factor(config, 0.5));
    plan_one_mask(config, s);
}

inline constexpr dropout_key dropout_rates[]{{dropout_of::hidden, "resid_pdrop"},
                                             {dropout_of::embeddings, "embd_pdrop"},
                                             {dropout_of::attention, "attention_dropout"},
                                             {dropout_of::classifier, "classifier_dropout", 0.1}};

}  // namespace phi_detail

// transformers/models/phi: configuration_phi.py, modeling_phi.py; blocks side by side, a part of each head rotated
inline constexpr architecture phi = [](architecture a) {
    a.model_type = "phi", a.prefix = "Phi", a.read = phi_detail::read, a.heads = decoder_heads;
    a.embed = phi_detail::embed, a.layer = phi_detail::layer, a.attend = phi_detail::attend;
    a.norm = norm_kind::layer, a.feed_forward = mlp_kind::plain, a.joins_rotated = true;
    a.names.norm = "final_layernorm", a.names.o = "dense";
    a.names.q_norm = "q_layernorm", a.names.k_norm = "k_layernorm";
    a.names.mlp = {.up = "fc1", .down = "fc2", .act = "activation_fn"};
    a.keys[0] = no_attention_bias, a.keys[1] = no_mlp_bias;
    a.defaults.vocab_size = 51200, a.defaults.hidden_size = 2048, a.defaults.intermediate_size = 8192;
    a.defaults.num_hidden_layers = 24, a.defaults.num_attention_heads = 32, a.defaults.max_position_embeddings = 2048;
    a.defaults.hidden_act = activation::gelu_new;
    a.drops = phi_detail::dropout_rates;
    return a;
}(shared_decoder);

}  // namespace llmcost::arch
