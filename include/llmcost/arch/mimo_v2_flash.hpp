// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/config/experts.hpp>
#include <llmcost/forward/multi_token_prediction.hpp>

namespace llmcost::arch {

namespace mimo_v2_flash_detail {

enum family_config_index : std::uint8_t { v_head_dim, full_rotary, sliding_rotary };
inline constexpr family_key family_keys[]{
    {"v_head_dim", 128},
    {.type = family_key_type::computed},  // rotated elements of heads that see everything
    {.type = family_key_type::computed},  // the same of heads with windows
};

/// Scores less their maximum through a softmax of their own type (modeling_mimo_v2_flash.py,
/// `eager_attention_forward`).
constexpr tensor attention_without_sinks(const layer_context& ctx, trace& t, const query_key_value& qkv) {
    const attention_inputs& s = *ctx.inputs;
    const std::int64_t groups = qkv.query.dim(1) / qkv.key.dim(1);
    const recorder::fused_kernel_guard fused{
        t, fused_attention_kernel(qkv.query, qkv.key.dim(1), s.pattern, qkv.key.dim(2))};
    const tensor family_keys = repeat_kv(t, qkv.key, groups), values = repeat_kv(t, qkv.value, groups);
    const bool sparse = s.pattern.is_causal && t.load().attention == attention_scores::causal;
    tensor scores =
        t.mul_scalar(t.matmul(qkv.query, family_keys.transpose(2, 3), sparse ? s.pattern.visible_pairs() : 0));
    if (!sparse) scores = t.add(scores, s.mask);
    const tensor probabilities = t.softmax(t.sub(scores, t.amax(scores, -1, true)));
    const tensor features = functional_dropout(t, probabilities, dropout_position::attention);
    const tensor mixed = t.contiguous(t.matmul(features, values).transpose(1, 2));
    return t.reshape(mixed, {mixed.dim(0), mixed.dim(1), -1});
}

/// Layers with windows have twice the keys, and sinks; values are scaled and have a width of their own.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const model_config& config = ctx.config;
    const bool slides = ctx.layer.token_mixer == token_mixer_kind::sliding_attention;
    const std::int64_t batch = x.dim(0), sequence = x.dim(1), d = config.head_dim, of_v = config.family[v_head_dim];
    const std::int64_t heads = config.num_attention_heads, groups = config.num_key_value_heads * (slides ? 2 : 1);
    const tensor sinks = slides ? t.param("sinks", {heads}) : tensor{};
    const auto split = [&](literal name, std::int64_t n, std::int64_t width) {
        return project(ctx, t, name, n * width, x).view({batch, sequence, n, width}).transpose(1, 2);
    };
    query_key_value qkv;
    qkv.query = split("q_proj", heads, d);
    qkv.key = split("k_proj", groups, d);
    qkv.value = t.mul_scalar(split("v_proj", groups, of_v));
    const std::int64_t rotated = config.family[slides ? sliding_rotary : full_rotary];
    for (tensor* const operand : {&qkv.query, &qkv.key})
        *operand =
            rotate_partial(t, rotary_style::rotate_half, *operand, rotated, ctx.inputs->cos, ctx.inputs->sin, true);
    update_kv_cache(ctx, t, qkv);
    return output_projection(
        ctx, t,
        slides ? scaled_dot_product_attention(ctx, t, qkv, {.sinks = &sinks}) : attention_without_sinks(ctx, t, qkv));
}

constexpr decoder_inputs prepare_inputs(const layer_context& ctx, trace& t) {
    return prepare_inputs_per_token_mixer(ctx, t, {ctx.config.family[full_rotary], ctx.config.family[sliding_rotary]},
                                          rotary_style::rotate_half);
}

/// Layers with windows and without experts (vllm/model_executor/models/mimo_v2_mtp.py).
constexpr void multi_token_prediction(const layer_context& ctx, trace& t, const tensor& x) {
    trace_mtp_layers(ctx, t, x, {{token_mixer_kind::sliding_attention}});
}

/// Parses `config.json`; without `layer_types`, the first layer and every sixth one have full attention.
constexpr void parse_config(config_view json, model_config& config) {
    parse_grouped_experts(json, config, {.shared_key = ""});
    config.output_bias = false;
    (void)checked_size(json, "v_head_dim", config.num_attention_heads, config.family[v_head_dim]);
    if (const auto size = json.optional_positive("sliding_window_size")) config.sliding_window = *size + 1;
    const bool listed = parse_layer_types(json, config);
    const layer_plan listed_layers = config.layers;
    const sparse_layer_selection experts(json, config, 1);
    set_layers(json, config, [&](std::int64_t i) {
        const bool full = i == 0 || (i + 1) % 6 == 0;
        const token_mixer_kind default_token_mixer =
            full ? token_mixer_kind::full_attention : token_mixer_kind::sliding_attention;
        return layer_spec{listed ? listed_layers[i].token_mixer : default_token_mixer, experts.has(i)};
    });
    parse_frequencies_of_kinds(json, config, "full_attention", "sliding_attention");
    if (config.layers.contains(token_mixer_kind::full_attention, config.num_hidden_layers))
        config.family[full_rotary] = parse_rotary_dim_of_kind(json, config.head_dim, "full_attention", 0.334);
    if (!config.layers.contains(token_mixer_kind::sliding_attention, config.num_hidden_layers)) return;
    config.family[sliding_rotary] = parse_rotary_dim_of_kind(json, config.head_dim, "sliding_attention", 0.334);
    if (config.num_attention_heads % (2 * config.num_key_value_heads) != 0)
        throw_invalid_value(json, "num_key_value_heads", "half a divisor of num_attention_heads, as layers slide");
}

}  // namespace mimo_v2_flash_detail

// transformers/models/mimo_v2_flash: DeepSeek V3's experts, windows with sinks and twice the keys
inline constexpr model_spec mimo_v2_flash = [](model_spec spec) {
    spec.model_type = "mimo_v2_flash";
    spec.class_prefix = "MiMoV2Flash";
    spec.parse_config = mimo_v2_flash_detail::parse_config;
    spec.family_keys = mimo_v2_flash_detail::family_keys;
    spec.mask_policy = mask_kind::present;
    spec.supported_heads = language_heads;
    spec.rotary = rotary_style::none;
    spec.prepare_inputs = mimo_v2_flash_detail::prepare_inputs;
    spec.attention = mimo_v2_flash_detail::attention;
    spec.router = router_kind::sigmoid_grouped;
    spec.multi_token_prediction = mimo_v2_flash_detail::multi_token_prediction;
    spec.names.moe_class = "MoE";
    spec.names.router_class = "TopkRouter";
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.defaults.vocab_size = 152576;
    spec.defaults.intermediate_size = 16384;
    spec.defaults.num_hidden_layers = 48;
    spec.defaults.num_attention_heads = 64;
    spec.defaults.num_key_value_heads = 4;
    spec.defaults.head_dim = 192;
    spec.defaults.max_position_embeddings = 131072;
    spec.defaults.sliding_window = 129;
    spec.defaults.moe = {
        .num_experts = 256, .num_experts_per_tok = 8, .intermediate_size = 2048, .norm_topk_prob = true};
    return spec;
}(llama);

}  // namespace llmcost::arch
