// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

namespace nanochat_detail {

/// Queries and keys are normed behind their rotation.
constexpr value attend(const site& here, trace& t, const value& x) {
    qkv of = project_qkv(here, t, x);
    split_heads(here, of);
    heads_first(of);
    turn(here, t, of);
    norm_queries_and_keys(here, t, of, here.dims.head_dim, here.dims.head_dim);
    remember(here, t, of);
    return join(here, t, look_up(here, t, of));
}

/// One norm in front of all layers and behind them.
constexpr value base(const site& here, trace& t) {
    const value words = here.row.embed(here, t);
    const decoder_context shared = here.row.prepare(here, t);
    const value x = describe_layers(here, t, shared, normed(here, t, "norm", words));
    return normed(here, t, "norm", x);
}

constexpr void read(config_view config, sizes& s) {
    plan_one_mask(config, s);
    const literal cap = "final_logit_softcapping";
    s.logits_soft_cap = !config.contains(cap) || config.optional_real(cap).has_value();
}

}  // namespace nanochat_detail

// transformers/models/nanochat: norms without weights, of rotated queries and keys, and in front of the layers
inline constexpr architecture nanochat = [](architecture a) {
    a.heads = language_heads;
    a.model_type = "nanochat", a.prefix = "NanoChat", a.read = nanochat_detail::read, a.base = nanochat_detail::base;
    a.attend = nanochat_detail::attend, a.norm = norm_kind::rms_weightless;
    a.feed_forward = mlp_kind::plain, a.names.mlp = {.up = "fc1", .down = "fc2", .act = "activation_fn"};
    a.defaults.vocab_size = 50304, a.defaults.hidden_size = 768, a.defaults.intermediate_size = 8192;
    a.defaults.num_hidden_layers = 12, a.defaults.num_attention_heads = 6, a.defaults.hidden_act = activation::relu2;
    a.keys[0] = no_mlp_bias;
    return a;
}(llama);

}  // namespace llmcost::arch
