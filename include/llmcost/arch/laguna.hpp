// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/reading/experts.hpp>

namespace llmcost::arch {

namespace laguna_detail {

/// How many numbers of heads the layers of one model may have.
inline constexpr std::uint8_t most_heads = 8;

enum own : std::uint8_t { caps_router, gate_per_head, full_rotary, sliding_rotary, weighs_balance, first_heads };
inline constexpr own_key keys[]{
    {.value = own_value::computed},  // logits of routers are capped
    {.value = own_value::computed},  // gates are one number per head
    {.value = own_value::computed},  // rotated elements of heads that see everything
    {.value = own_value::computed},  // the same of heads with windows
    {"output_router_logits", 0, own_value::boolean},
    {.value = own_value::computed, .divided = splits::evenly},  // heads of layers whose word is 0, and so on
    {.value = own_value::computed, .divided = splits::evenly},
    {.value = own_value::computed, .divided = splits::evenly},
    {.value = own_value::computed, .divided = splits::evenly},
    {.value = own_value::computed, .divided = splits::evenly},
    {.value = own_value::computed, .divided = splits::evenly},
    {.value = own_value::computed, .divided = splits::evenly},
    {.value = own_value::computed, .divided = splits::evenly},
};

/// Each layer has heads of its own number; what they find is gated by `open` of the layer's input, which is projected in
/// front of the positions or behind the scores.
template <class Open>
constexpr value attend_gated(const site& here, trace& t, const value& x, bool gates_first, const Open& open) {
    const sizes& dims = here.dims;
    const std::int64_t batch = x.dim(0), sequence = x.dim(1), d = dims.head_dim;
    const std::int64_t heads = dims.own[first_heads + here.kind.own], narrow = dims.num_key_value_heads * d;
    const bool per_head = dims.own[gate_per_head] != 0;
    qkv of{project(here, t, "q_proj", heads * d, x), project(here, t, "k_proj", narrow, x),
           project(here, t, "v_proj", narrow, x)};
    for (value* const each : {&of.q, &of.k, &of.v}) *each = each->view({batch, sequence, -1, d});
    norm_queries_and_keys(here, t, of, d, d);
    heads_first(of);
    const auto project_gate = [&] { return t.call("g_proj", linear{dims.hidden_size, per_head ? heads : heads * d}, x); };
    value logits;
    if (gates_first) logits = project_gate();
    const std::int64_t rotated = dims.own[here.kind.mixer == mixer_kind::sliding_attention ? sliding_rotary : full_rotary];
    for (value* const each : {&of.q, &of.k})
        *each = rotate_part(t, rotation::half, *each, rotated, here.shared->cos, here.shared->sin, true);
    remember(here, t, of);
    value found = look_up(here, t, of);
    if (!gates_first) logits = project_gate();
    const value gate = open(logits, found.type);
    if (per_head)
        found = t.mul(found.view({batch, sequence, heads, d}), gate.unsqueeze(-1)).view({batch, sequence, heads * d});
    else
        found = t.mul(found, gate);
    return join(here, t, found);
}
constexpr value attend(const site& here, trace& t, const value& x) {
    return attend_gated(here, t, x, false, [&](const value& logits, dtype type) {
        return t.to(t.softplus(t.to(logits, dtype::float32)), type);
    });
}

constexpr two_values pick(const site& here, trace& t, const value& tokens) {
    const moe_sizes& m = here.dims.moe;
    const value weight = t.param("weight", {m.num_experts, here.dims.hidden_size});
    const value correction = t.frozen("e_score_correction_bias", {m.num_experts});
    value logits = t.to(t.linear(tokens, weight), dtype::float32);
    if (here.dims.own[caps_router]) logits = t.mul(t.tanh(t.div(logits)));
    const value best = pick_corrected(t, t.sigmoid(logits), correction, m.num_experts_per_tok);
    return {logits, t.to(t.div(best, t.sum(best, -1, true)), tokens.type)};
}

constexpr value mixture(const site& here, trace& t, const value& x) {
    const value tokens = x.view({-1, here.dims.hidden_size});
    const value beside = call_mlp(here, t, "shared_experts", here.dims.moe.shared_intermediate_size, tokens);
    const value weights = call_own_router(here, t, pick, tokens);
    const value routed = t.mul(call_experts(here, t, tokens, weights));
    return t.add(routed, beside).view({x.dim(0), x.dim(1), here.dims.hidden_size});
}

constexpr value feed(const site& here, trace& t, const value& x) { return feed_by_mixture(here, t, mixture, x); }

constexpr decoder_context prepare(const site& here, trace& t) {
    return masks_and_tables_by_kind(here, t, {here.dims.own[full_rotary], here.dims.own[sliding_rotary]}, rotation::half);
}

constexpr value finish(const site& here, trace& t, const value& scores) {
    weigh_float_balance(here, t, here.dims.own[weighs_balance] != 0);
    return scores;
}

/// The word of a layer with so many heads.
constexpr std::uint8_t word_of(config_view config, sizes& s, std::int64_t heads) {
    for (std::uint8_t i = 0; i < most_heads; ++i) {
        std::int64_t& held = s.own[first_heads + i];
        if (held == 0) held = heads;
        if (held == heads) return i;
    }
    fail_value(config, "num_attention_heads_per_layer", "a list of at most 8 different numbers");
}

constexpr void read(config_view config, sizes& s) {
    read_experts(config, s, "num_experts");
    check_experts(config, s);
    s.moe.shared_intermediate_size = config.positive("shared_expert_intermediate_size", 512);
    s.own[caps_router] = config.real("moe_router_logit_softcapping", 0) > 0;
    if (config.boolean("moe_apply_router_weight_on_input", false))
        fail_value(config, "moe_apply_router_weight_on_input", "false, as the reference has no other");
    const auto gating = config.find("gating");
    s.own[gate_per_head] = !gating || (gating->is_boolean() ? gating->as_boolean() : gating->as_string() == "per-head");
    const bool listed = read_layer_types(config, s);
    const layer_plan given = s.layers;
    const auto heads = config.optional_array("num_attention_heads_per_layer");
    if (heads && static_cast<std::int64_t>(heads->size()) != s.num_hidden_layers)
        fail_value(config, "num_attention_heads_per_layer", "a list with one number per hidden layer");
    const sparse_places experts(config, s, 1);
    plan_layers(config, s, [&](std::int64_t i) {
        const std::int64_t n = heads ? (*heads)[static_cast<std::uint32_t>(i)].as_positive() : s.num_attention_heads;
        if (n % s.num_key_value_heads != 0)
            fail_value(config, "num_attention_heads_per_layer", "multiples of num_key_value_heads");
        (void)checked_width(config, "num_attention_heads_per_layer", n, s.head_dim);
        return layer_kind{listed ? given[i].mixer : mixer_kind::full_attention, experts.has(i), word_of(config, s, n)};
    });
    read_frequencies_of_kinds(config, s, "full_attention", "sliding_attention");
    if (s.layers.has(mixer_kind::full_attention, s.num_hidden_layers))
        s.own[full_rotary] =
            read_rotary_dim_of_kind(config, s.head_dim, "full_attention", config.contains("rope_parameters") ? 1.0 : 0.5);
    if (s.layers.has(mixer_kind::sliding_attention, s.num_hidden_layers))
        s.own[sliding_rotary] = read_rotary_dim_of_kind(config, s.head_dim, "sliding_attention", 1.0);
}

}  // namespace laguna_detail

// transformers/models/laguna: heads by layer, gated by softplus; a part of each head rotated, by kind of layer
inline constexpr architecture laguna = [](architecture a) {
    a.model_type = "laguna", a.prefix = "Laguna", a.read = laguna_detail::read, a.own = laguna_detail::keys;
    a.heads = language_heads, a.rotated = rotation::none, a.masks = mask_rule::present;
    a.prepare = laguna_detail::prepare, a.attend = laguna_detail::attend, a.feed = laguna_detail::feed;
    a.finish = laguna_detail::finish;
    a.kinds.own = laguna_detail::most_heads - 1;
    a.keys[0] = no_mlp_bias;
    a.defaults.vocab_size = 100352, a.defaults.hidden_size = 2048, a.defaults.intermediate_size = 8192;
    a.defaults.num_hidden_layers = 40, a.defaults.num_attention_heads = 48, a.defaults.num_key_value_heads = 8;
    a.defaults.head_dim = 128, a.defaults.max_position_embeddings = 131072, a.defaults.sliding_window = 512;
    a.defaults.moe = {.num_experts = 256, .num_experts_per_tok = 8, .intermediate_size = 512};
    return a;
}(llama);

}  // namespace llmcost::arch
