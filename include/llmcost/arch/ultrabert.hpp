// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/config/encoder.hpp>
#include <llmcost/forward/encoder_model.hpp>
#include <llmcost/forward/prediction_head.hpp>

namespace llmcost::arch {

namespace ultrabert_detail {

constexpr decoder_inputs prepare_inputs(const layer_context& ctx, trace& t) {
    return bidirectional_or_local(ctx, t, ctx.config.sliding_window);
}

/// Two projections through a bottleneck and a vocabulary projection in one module, and an identity module.
constexpr tensor lm_head_logits(const layer_context& ctx, trace& t, const tensor& x) {
    const module_info head{
        .name = "head", .class_of_module = ctx.class_of("PredictionHead"), .module_role = role::head};
    t.enter(head);
    tensor h = ultrabert_heads::transform(ctx, t, x);
    h = t.leave(
        head, t.call("decoder",
                     linear{ctx.config.hidden_size, ctx.config.vocab_size, false, ctx.config.tie_word_embeddings}, h));
    return t.call("decoder", identity{"Identity"}, h);
}

constexpr tensor score(const layer_context& ctx, trace& t, const tensor_pair& out) {
    if (ctx.config.head == head_kind::question_answering) return question_answering_logits(t, out.first);
    if (ctx.config.head == head_kind::masked_lm)
        return ultrabert_detail::lm_head_logits(ctx, t, logits_to_keep(t, out.first));
    const bool sequences = ctx.config.head == head_kind::sequence_classification;
    const tensor x =
        t.call("head", identity{"Identity"},
               sequences ? modernbert_heads::pool(t, out.first, ctx.config.family[ultrabert_heads::pools_mean] != 0)
                         : out.first);
    return t.call("classifier", head_linear{{ctx.config.hidden_size, ctx.config.num_labels, true}},
                  dropout(t, "drop", x));
}

constexpr tensor forward(const layer_context& ctx, trace& t) { return forward_encoder_model(ctx, t, {.score = score}); }

/// Older files list the window of each layer; without a list, every third layer has full attention.
constexpr void plan(config_view json, model_config& config) {
    const auto windows = json.optional_array("attention_windows");
    const auto window_of = [&](std::int64_t i) { return (*windows)[static_cast<std::uint32_t>(i)].as_non_negative(); };
    if (windows)
        for (std::int64_t i = static_cast<std::int64_t>(windows->size()) - 1; i >= 0; --i)
            if (window_of(i) > 0) config.sliding_window = window_of(i);
    if (parse_layer_types(json, config)) return;
    if (windows && static_cast<std::int64_t>(windows->size()) != config.num_hidden_layers)
        throw_invalid_value(json, "attention_windows", "a list with one window per hidden layer");
    set_layers(json, config, [&](std::int64_t i) {
        const bool slides = windows ? window_of(i) > 0 : (i + 1) % 3 != 0;
        return layer_spec{slides ? token_mixer_kind::sliding_attention : token_mixer_kind::full_attention};
    });
}

constexpr void parse_config(config_view json, model_config& config) {
    plan(json, config);
    if (config.head == head_kind::question_answering && config.num_labels != 2)
        throw_invalid_value(json, json.contains("num_labels") ? "num_labels" : "id2label",
                            "two labels under a question-answering head");
    if (config.hidden_size % config.num_attention_heads != 0)
        throw_invalid_value(json, "num_attention_heads", "a divisor of hidden_size");
    const string_ref pooling = json.string("classifier_pooling", "cls");
    config.family[ultrabert_heads::pools_mean] = pooling == "mean";
    if (pooling != "mean" && pooling != "cls") throw_invalid_value(json, "classifier_pooling", "\"cls\" or \"mean\"");
}

}  // namespace ultrabert_detail

// transformers/models/ultrabert: Llama that looks ahead, some layers through windows around each token
inline constexpr model_spec ultrabert = [](model_spec spec) {
    spec.model_type = "ultrabert";
    spec.class_prefix = "Ultrabert";
    spec.forward = ultrabert_detail::forward;
    spec.parse_config = ultrabert_detail::parse_config;
    spec.family_keys = ultrabert_heads::family_keys;
    spec.prepare_inputs = ultrabert_detail::prepare_inputs;
    spec.attention = local_attention;
    spec.has_rotary_per_token_mixer = true;
    spec.has_float32_masked_lm_loss = true;
    spec.supported_heads = {head_kind::none, head_kind::masked_lm, head_kind::sequence_classification,
                            head_kind::token_classification, head_kind::question_answering};
    spec.defaults.max_position_embeddings = 32768;
    spec.defaults.sliding_window = 128;
    spec.defaults.head = head_kind::masked_lm;
    return spec;
}(llama);

}  // namespace llmcost::arch
