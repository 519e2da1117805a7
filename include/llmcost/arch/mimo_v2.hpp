// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/reading/experts.hpp>
#include <llmcost/walks/further_tokens.hpp>

namespace llmcost::arch {

namespace mimo_v2_detail {

enum own : std::uint8_t { v_head_dim, full_rotary, sliding_rotary };
inline constexpr own_key keys[]{
    {"v_head_dim", 128},
    {.value = own_value::computed},  // rotated elements of heads that see everything
    {.value = own_value::computed},  // the same of heads with windows
};

/// Scores less their maximum through a softmax of their own type (modeling_mimo_v2_flash.py, `eager_attention_forward`).
constexpr value look_up_without_sinks(const site& here, trace& t, const qkv& of) {
    const shared_values& s = *here.shared;
    const std::int64_t groups = of.q.dim(1) / of.k.dim(1);
    const recorder::fused_guard fused{t, fused_attention(of.q, of.k.dim(1), s.where, of.k.dim(2))};
    const value keys = repeat_kv(t, of.k, groups), values = repeat_kv(t, of.v, groups);
    const bool sparse = s.where.causal && t.load().attention == attention_scores::causal;
    value scores = t.mul(t.matmul(of.q, keys.transpose(2, 3), sparse ? s.where.visible_pairs() : 0));
    if (!sparse) scores = t.add(scores, s.mask);
    const value probabilities = t.softmax(t.sub(scores, t.max_over(scores, -1, true)));
    const value seen = drop(t, probabilities, dropout_of::attention);
    const value mixed = t.contiguous(t.matmul(seen, values).transpose(1, 2));
    return t.reshape(mixed, {mixed.dim(0), mixed.dim(1), -1});
}

/// Layers with windows have twice the keys, and sinks; values are scaled and have a width of their own.
constexpr value attend(const site& here, trace& t, const value& x) {
    const sizes& dims = here.dims;
    const bool slides = here.kind.mixer == mixer_kind::sliding_attention;
    const std::int64_t batch = x.dim(0), sequence = x.dim(1), d = dims.head_dim, of_v = dims.own[v_head_dim];
    const std::int64_t heads = dims.num_attention_heads, groups = dims.num_key_value_heads * (slides ? 2 : 1);
    const value sinks = slides ? t.param("sinks", {heads}) : value{};
    const auto split = [&](literal name, std::int64_t n, std::int64_t width) {
        return project(here, t, name, n * width, x).view({batch, sequence, n, width}).transpose(1, 2);
    };
    qkv of;
    of.q = split("q_proj", heads, d);
    of.k = split("k_proj", groups, d);
    of.v = t.mul(split("v_proj", groups, of_v));
    const std::int64_t rotated = dims.own[slides ? sliding_rotary : full_rotary];
    for (value* const each : {&of.q, &of.k})
        *each = rotate_part(t, rotation::half, *each, rotated, here.shared->cos, here.shared->sin, true);
    remember(here, t, of);
    return join(here, t, slides ? look_up(here, t, of, {.sinks = &sinks}) : look_up_without_sinks(here, t, of));
}

constexpr decoder_context prepare(const site& here, trace& t) {
    return masks_and_tables_by_kind(here, t, {here.dims.own[full_rotary], here.dims.own[sliding_rotary]}, rotation::half);
}

/// Layers with windows and without experts (vllm/model_executor/models/mimo_v2_mtp.py).
constexpr void predict(const site& here, trace& t, const value& x) {
    predict_further(here, t, x, {{mixer_kind::sliding_attention}});
}

/// The first layer and every sixth see everything, unless `layer_types` says otherwise.
constexpr void read(config_view config, sizes& s) {
    read_grouped_experts(config, s, {.shared_key = ""});
    s.output_bias = false;
    (void)checked_width(config, "v_head_dim", s.num_attention_heads, s.own[v_head_dim]);
    if (const auto size = config.optional_positive("sliding_window_size")) s.sliding_window = *size + 1;
    const bool listed = read_layer_types(config, s);
    const layer_plan given = s.layers;
    const sparse_places experts(config, s, 1);
    plan_layers(config, s, [&](std::int64_t i) {
        const bool full = i == 0 || (i + 1) % 6 == 0;
        const mixer_kind by_rule = full ? mixer_kind::full_attention : mixer_kind::sliding_attention;
        return layer_kind{listed ? given[i].mixer : by_rule, experts.has(i)};
    });
    read_frequencies_of_kinds(config, s, "full_attention", "sliding_attention");
    if (s.layers.has(mixer_kind::full_attention, s.num_hidden_layers))
        s.own[full_rotary] = read_rotary_dim_of_kind(config, s.head_dim, "full_attention", 0.334);
    if (!s.layers.has(mixer_kind::sliding_attention, s.num_hidden_layers)) return;
    s.own[sliding_rotary] = read_rotary_dim_of_kind(config, s.head_dim, "sliding_attention", 0.334);
    if (s.num_attention_heads % (2 * s.num_key_value_heads) != 0)
        fail_value(config, "num_key_value_heads", "half a divisor of num_attention_heads, as layers slide");
}

}  // namespace mimo_v2_detail

// transformers/models/mimo_v2_flash: DeepSeek V3's experts, windows with sinks and twice the keys
inline constexpr architecture mimo_v2_flash = [](architecture a) {
    a.model_type = "mimo_v2_flash", a.prefix = "MiMoV2Flash", a.read = mimo_v2_detail::read;
    a.own = mimo_v2_detail::keys, a.masks = mask_rule::present, a.heads = language_heads, a.rotated = rotation::none;
    a.prepare = mimo_v2_detail::prepare, a.attend = mimo_v2_detail::attend, a.router = router_kind::sigmoid_grouped;
    a.predict = mimo_v2_detail::predict;
    a.names.moe_type = "MoE", a.names.router_type = "TopkRouter";
    a.keys[0] = no_mlp_bias;
    a.defaults.vocab_size = 152576, a.defaults.intermediate_size = 16384, a.defaults.num_hidden_layers = 48;
    a.defaults.num_attention_heads = 64, a.defaults.num_key_value_heads = 4, a.defaults.head_dim = 192;
    a.defaults.max_position_embeddings = 131072, a.defaults.sliding_window = 129;
    a.defaults.moe = {.num_experts = 256, .num_experts_per_tok = 8, .intermediate_size = 2048, .norm_topk_prob = true};
    return a;
}(llama);

}  // namespace llmcost::arch
