// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

namespace stablelm_detail {

/// Where the configuration says so, queries and keys are normed, each head by a module of its own.
constexpr value attend(const site& here, trace& t, const value& x) {
    const decoder_names& n = here.row.names;
    qkv of = project_qkv(here, t, x);
    split_heads(here, of);
    heads_first(of);
    if (here.dims.qk_norm) {
        const auto per_head = [&](literal name, const value& heads) {
            return t.call(name, norm_of_each_head{heads.dim(1), here.dims.head_dim, here.type("LayerNormPerHead")}, heads);
        };
        of.q = per_head(n.q_norm, of.q), of.k = per_head(n.k_norm, of.k);
    }
    turn(here, t, of);
    remember(here, t, of);
    return join(here, t, look_up(here, t, of));
}

constexpr value layer(const site& here, trace& t, const value& x) {
    return here.dims.parallel_residual ? layer_in_parallel(here, t, x) : layer_normed_before(here, t, x);
}

inline constexpr dropout_key dropout_rates[]{{dropout_of::hidden, "hidden_dropout"},
                                             {dropout_of::attention, "attention_dropout"},
                                             {dropout_of::classifier, "hidden_dropout", 0},
                                             {dropout_of::classifier, "classifier_dropout", as_before}};

}  // namespace stablelm_detail

constexpr void read_stablelm(config_view config, sizes& s) {
    plan_one_mask(config, s);
    share_among_heads(config, s, {"num_attention_heads"});
    s.attention_bias = config.boolean("use_qkv_bias", false);
    s.output_bias = false;
    s.parallel_residual = config.boolean("use_parallel_residual", false);
    s.qk_norm = config.boolean("qk_layernorm", false);
    s.rotary_dim =
        static_cast<std::int64_t>(static_cast<double>(s.head_dim) * detail::read_partial_rotary_factor(config, 0.25));
}

// transformers/models/stablelm: layer norms, a quarter of each head rotated, dropout after the feed-forward block
inline constexpr architecture stablelm = [](architecture a) {
    a.heads = decoder_heads;
    a.model_type = "stablelm", a.prefix = "StableLm", a.read = read_stablelm, a.norm = norm_kind::layer,
    a.joins_rotated = true;
    a.attend = stablelm_detail::attend, a.layer = stablelm_detail::layer, a.names.q_norm = "q_layernorm",
    a.names.k_norm = "k_layernorm";
    a.names.feed_forward_dropout = "dropout";
    a.defaults.vocab_size = 50304, a.defaults.hidden_size = 2560, a.defaults.intermediate_size = 6912;
    a.defaults.num_key_value_heads = 32, a.defaults.max_position_embeddings = 4096;
    a.keys[0] = no_mlp_bias;
    a.drops = stablelm_detail::dropout_rates;
    return a;
}(llama);

}  // namespace llmcost::arch
