// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/deepseek.hpp>
#include <llmcost/layers/kimi_delta.hpp>
#include <llmcost/reading/latent_attention.hpp>

namespace llmcost::arch {

namespace kimi_linear_detail {

enum own : std::uint8_t { linear_heads, linear_head_dim, conv_kernel };
inline constexpr own_key keys[]{
    {"linear_num_heads", 32},
    {"linear_head_dim", 128},
    {"linear_conv_kernel_dim", 4},
};

/// How much of every element of a head is kept: -exp(A) · softplus(f + bias), the softplus written out.
struct forget_gate {
    std::int64_t width, heads, dim;
    literal prefix;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {prefix, "ForgetGate"}; }
    constexpr value describe(trace& t, const value& x) const {
        const value bias = t.param("dt_bias", {heads * dim}), a_log = t.param("A_log", {1, 1, heads, 1});
        const value low = t.call("f_a_proj", linear{width, dim}, x);
        const value f = t.to(t.call("f_b_proj", linear{dim, heads * dim}, low), dtype::float32);
        const value biased = t.add(f, t.to(bias, dtype::float32).view({1, 1, -1}));
        const value g = biased.view({x.dim(0), x.dim(1), heads, dim});
        const value rate = t.exp(t.to(a_log, dtype::float32));
        const value grown = t.unary(op::log, t.add(t.exp(g)));
        return t.mul(t.neg(rate), t.binary(op::where, g, grown));
    }
};

struct gates {
    std::int64_t width, heads, dim;
    literal prefix;

    constexpr value decay(trace& t, const value& x) const {
        return t.call("forget_gate", forget_gate{width, heads, dim, prefix}, x);
    }
    constexpr value output(trace& t, const value& x) const {
        return t.call("g_b_proj", linear{dim, heads * dim}, t.call("g_a_proj", linear{width, dim}, x));
    }
};

constexpr value recur(const site& here, trace& t, const value& x) {
    const own_sizes& own = here.dims.own;
    const std::int64_t width = here.dims.hidden_size, heads = own[linear_heads], dim = own[linear_head_dim];
    const kimi_delta_attention<gates> layer{
        width, heads, dim, own[conv_kernel], here.dims.hidden_act, here.row.prefix, {width, heads, dim, here.row.prefix}};
    return t.call(here.row.names.recurrent, layer, x);
}

/// Experts by their names in Kimi's files, which go before those of DeepSeek's.
constexpr void read_mixture(config_view config, sizes& s) {
    const auto either = [&](literal first, literal second) { return config.contains(first) ? first : second; };
    moe_sizes& m = s.moe;
    const literal number = either("num_experts", "num_local_experts"), groups = either("num_expert_group", "n_group");
    const literal each = either("num_experts_per_token", "num_experts_per_tok");
    m.num_experts = config.positive(number, m.num_experts);
    m.num_experts_per_tok = config.positive(each, m.num_experts_per_tok);
    if (m.num_experts_per_tok > m.num_experts) fail_value(config, each, "at most the number of experts");
    m.intermediate_size = config.positive("moe_intermediate_size", m.intermediate_size);
    m.norm_topk_prob = config.boolean(either("moe_renormalize", "norm_topk_prob"), m.norm_topk_prob);
    const literal shared = either("num_shared_experts", "n_shared_experts");
    m.shared_intermediate_size = checked_width(config, shared, config.positive(shared, 1), m.intermediate_size);
    m.limits_groups = true;
    m.n_group = config.positive(groups, m.n_group), m.topk_group = config.positive("topk_group", m.topk_group);
    if (m.num_experts % m.n_group != 0) fail_value(config, groups, "a divisor of the number of experts");
    if (m.topk_group > m.n_group) fail_value(config, "topk_group", "at most as many as there are groups");
    if (m.num_experts / m.n_group < 2) fail_value(config, groups, "at most half as many groups as experts");
}

/// Layers of both kinds, by `layer_types` or a rule, experts behind the first dense ones.
template <class Attends>
constexpr void plan(config_view config, sizes& s, std::int64_t dense, const Attends& attends) {
    const bool listed = read_layer_types(config, s, mixer_kind::recurrent);
    const layer_plan given = s.layers;
    plan_layers(config, s, [&](std::int64_t i) {
        const mixer_kind by_rule = attends(i) ? mixer_kind::full_attention : mixer_kind::recurrent;
        return layer_kind{listed ? given[i].mixer : by_rule, is_sparse(config, s, i, i >= dense)};
    });
}

/// Checkpoints keep what linear attention needs in an object of its own, with layers counted from one.
constexpr void read(config_view config, sizes& s) {
    read_latent_attention(config, s);
    s.tie_word_embeddings = false;  // `_tied_weights_keys` is empty
    read_mixture(config, s);
    layer_set full, linear;
    bool lists = false;
    if (const auto apart = config.optional_object("linear_attn_config")) {
        s.own[linear_head_dim] = apart->positive("head_dim", s.own[linear_head_dim]);
        s.own[linear_heads] = apart->positive("num_heads", s.own[linear_heads]);
        s.own[conv_kernel] = apart->positive("short_conv_kernel_size", s.own[conv_kernel]);
        const auto attend = apart->optional_array("full_attn_layers"), keep = apart->optional_array("kda_layers");
        lists = attend.has_value() && keep.has_value();
        if (lists) full = layer_set(*attend), linear = layer_set(*keep);
    }
    (void)checked_width(config, "linear_head_dim", s.own[linear_heads], 3 * s.own[linear_head_dim]);
    plan(config, s, config.non_negative("first_k_dense_replace", 1), [&](std::int64_t i) {
        if (!lists) return i > 0 && i % 4 == 0;
        if (i + 1 >= layer_plan::longest || full.has(i + 1) == linear.has(i + 1))
            fail_unsupported(config, "linear_attn_config", "a layer that is in none of its lists, or in both");
        return full.has(i + 1);
    });
}

}  // namespace kimi_linear_detail

// transformers/models/kimi_linear: Kimi delta attention, latent attention without positions, DeepSeek V3's experts
inline constexpr architecture kimi_linear = [](architecture a) {
    a.model_type = "kimi_linear", a.prefix = "KimiLinear", a.heads = language_heads;
    a.read = kimi_linear_detail::read, a.own = kimi_linear_detail::keys, a.recur = kimi_linear_detail::recur;
    a.kinds = attention_kinds | mixer_kind::recurrent, a.masks = mask_rule::full_and_present;
    a.rotated = rotation::none, a.names.recurrent = "self_attn";
    a.keys[1] = {"max_position_embeddings", "model_max_length"};
    a.predict = nullptr;
    a.defaults =
        sizes{.vocab_size = 163840,
              .hidden_size = 2304,
              .intermediate_size = 9216,
              .num_hidden_layers = 27,
              .num_attention_heads = 32,
              .num_key_value_heads = 32,
              .max_position_embeddings = 1048576,
              .moe = {.num_experts = 256, .num_experts_per_tok = 8, .intermediate_size = 1024, .norm_topk_prob = true},
              .mla = {.kv_lora_rank = 512, .qk_nope_head_dim = 128, .qk_rope_head_dim = 64, .v_head_dim = 128}};
    return a;
}(deepseek_v3);

}  // namespace llmcost::arch
