// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen2_moe.hpp>
#include <llmcost/layers/gated_delta_net.hpp>
#include <llmcost/reading/delta_nets.hpp>
#include <llmcost/walks/further_tokens.hpp>

namespace llmcost::arch {

namespace qwen3_next_detail {

/// Every query brings a gate along, whose sigmoid scales what it found.
constexpr value attend(const site& here, trace& t, const value& x) {
    const decoder_names& n = here.row.names;
    const std::int64_t d = here.dims.head_dim, heads = here.dims.num_attention_heads;
    const std::int64_t narrow = here.dims.num_key_value_heads * d, batch = x.dim(0), sequence = x.dim(1);
    qkv of;
    of.q = project(here, t, n.q, 2 * heads * d, x).view({batch, sequence, heads, 2 * d}).slice(-1, d);
    const value gate = t.reshape(of.q, {batch, sequence, -1});
    of.k = project(here, t, n.k, narrow, x), of.v = project(here, t, n.v, narrow, x);
    const value found = attend_with(here, t, of);
    return join(here, t, t.mul(found, t.sigmoid(gate)));
}

/// A gated delta net; `Apart`: a projection for each of its parts (Qwen3.5).
template <bool Apart>
constexpr value recur(const site& here, trace& t, const value& x) {
    const delta_sizes& d = here.dims.delta;
    const delta_rule_sizes rule{here.dims.hidden_size, d.num_key_heads, d.num_value_heads,   d.key_head_dim,
                                d.value_head_dim,      d.conv_kernel,   here.dims.hidden_act};
    return t.call(here.row.names.recurrent, gated_delta_net{rule, here.row.prefix, Apart}, x);
}

}  // namespace qwen3_next_detail

/// Experts as in Qwen3-MoE.
constexpr void read_qwen3_next(config_view config, sizes& s) {
    read_experts(config, s, "num_experts");
    read_balance(config, s);
    s.moe.shared_intermediate_size = config.positive("shared_expert_intermediate_size", 512);
    read_delta_nets(config, s);
    plan_delta_nets(config, s, expert_places(config, s));
}

// transformers/models/qwen3_next: gated delta nets, gated attention, experts with a shared one
inline constexpr architecture qwen3_next = [](architecture a) {
    a.model_type = "qwen3_next", a.prefix = "Qwen3Next", a.read = read_qwen3_next, a.norm = norm_kind::rms_plus_one;
    a.names.base_under_answers = "transformer";
    a.masks = mask_rule::full_and_present, a.joins_rotated = true;
    a.recur = qwen3_next_detail::recur<false>, a.attend = qwen3_next_detail::attend;
    a.kinds = attention_kinds | mixer_kind::recurrent, a.predict = predict_by_last_layer;
    a.qk_norm = qk_norm_kind::per_head;
    a.defaults =
        sizes{.vocab_size = 151936,
              .hidden_size = 2048,
              .intermediate_size = 5632,
              .num_hidden_layers = 48,
              .num_attention_heads = 16,
              .num_key_value_heads = 2,
              .head_dim = 256,
              .max_position_embeddings = 32768,
              .moe = {.num_experts = 512, .num_experts_per_tok = 10, .intermediate_size = 512, .norm_topk_prob = true}};
    return a;
}(qwen2_moe);

}  // namespace llmcost::arch
