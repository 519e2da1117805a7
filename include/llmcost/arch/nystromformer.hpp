// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bert.hpp>
#include <llmcost/forward/encoder_model.hpp>

namespace llmcost::arch {

namespace nystromformer_detail {

enum family_config_index : std::uint8_t { kernel, landmarks, segments };

inline constexpr family_key family_keys[]{
    {"conv_kernel_size", 65},
    {"num_landmarks", 64},
    {"segment_means_seq_len", 64},
};

constexpr tensor embed(const layer_context& ctx, trace& t) {
    make_padding_mask(t);
    t.register_integer_buffer(2 * (ctx.config.max_position_embeddings - 2));  // `position_ids`, `token_type_ids`
    return embed_in_module(ctx, t, sum_embeddings_in_place);
}

/// With as many landmarks as tokens in a segment all scores are made; values are convolved over neighbours besides.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = ctx.config.hidden_size, heads = ctx.config.num_attention_heads,
                       k = ctx.config.family[kernel];
    const std::int64_t batch = x.dim(0), sequence = x.dim(1);
    query_key_value qkv;
    project_to_heads(t, x, width, heads, {}, qkv.query, qkv.key, qkv.value);
    tensor mixed;
    {
        const recorder::fused_kernel_guard fused{
            t, fused_attention_kernel(qkv.query, heads, ctx.inputs->pattern, sequence)};
        qkv.query = t.div_scalar(qkv.query);
        qkv.key = t.div_scalar(qkv.key);
        mixed = t.matmul(t.softmax(t.matmul(qkv.query, qkv.key.transpose(-1, -2))), qkv.value);
    }
    const module_info conv{.name = "conv", .class_of_module = {"", "Conv2d"}, .is_leaf = true};
    t.enter(conv);
    const tensor weight = t.param("weight", {heads, 1, k, 1});
    t.add_(mixed, t.leave(conv, t.conv(qkv.value, weight, false, {.groups = heads, .padding = {k / 2, 0}})));
    return t.contiguous(mixed.permute({0, 2, 1, 3})).view({batch, sequence, width});
}

constexpr tensor choose(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = ctx.config.hidden_size;
    const tensor h = t.relu(t.call("pre_classifier", linear{width, width, true}, t.select(x, 1)));
    return t.call("classifier", head_linear{{width, 1, true}}, h);
}

constexpr tensor score(const layer_context& ctx, trace& t, const tensor_pair& out) {
    if (ctx.config.head == head_kind::sequence_classification)
        return classify_first_state(ctx, t, out.first, ctx.config.hidden_act);
    if (ctx.config.head == head_kind::multiple_choice) return choose(ctx, t, out.first);
    return forward_encoder_head(ctx, t, out, score_in_mlm_cls, false);
}

constexpr tensor forward(const layer_context& ctx, trace& t) { return forward_encoder_model(ctx, t, {.score = score}); }

constexpr void parse_config(config_view json, model_config& config) {
    parse_encoder_only(json, config);
    if (config.family[kernel] % 2 == 0) throw_invalid_value(json, "conv_kernel_size", "an odd number");
    if (config.family[landmarks] != config.family[segments])
        throw_unsupported(json, "num_landmarks", "fewer landmarks than tokens of a segment are not supported");
    if (json.boolean("inv_coeff_init_option", false))
        throw_unsupported(json, "inv_coeff_init_option", "not supported by the reference");
    config.max_position_embeddings += 2;
    config.position_offset = 2;
}

}  // namespace nystromformer_detail

// transformers/models/nystromformer: BERT with convolved values, no pooler
inline constexpr model_spec nystromformer = [](model_spec spec) {
    spec.model_type = "nystromformer";
    spec.class_prefix = "Nystromformer";
    spec.forward = nystromformer_detail::forward;
    spec.parse_config = nystromformer_detail::parse_config;
    spec.family_keys = nystromformer_detail::family_keys;
    spec.embed_tokens = nystromformer_detail::embed;
    spec.attention = nystromformer_detail::attention;
    spec.supported_heads = {head_kind::none,
                            head_kind::masked_lm,
                            head_kind::sequence_classification,
                            head_kind::token_classification,
                            head_kind::question_answering,
                            head_kind::multiple_choice};
    spec.names.base_model = "nystromformer";
    spec.defaults.vocab_size = 30000;
    spec.defaults.max_position_embeddings = 510;
    spec.defaults.hidden_act = activation::gelu_new;
    spec.defaults.head = head_kind::masked_lm;
    spec.dropout_keys = headless_encoder_dropout;
    return spec;
}(bert);

}  // namespace llmcost::arch
