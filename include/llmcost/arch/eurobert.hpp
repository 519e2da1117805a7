// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/config/encoder.hpp>
#include <llmcost/forward/encoder_model.hpp>

// EuroBERT. Derived from Llama, with bidirectional attention and without a KV cache.
//
// Source: transformers/models/eurobert

namespace llmcost::arch {

namespace eurobert_detail {

enum class pooling : std::uint8_t { first, mean, late };

enum family_config_index : std::uint8_t { pooled_by };

inline constexpr family_key family_keys[]{{.type = family_key_type::computed}};  // `pooling`

/// Sequence classification from the first state, from the mean of all states, or as the mean of all tokens' logits.
constexpr tensor classify_sequence(const layer_context& ctx, trace& t, const tensor& x) {
    const auto pooling_mode = static_cast<pooling>(ctx.config.family[pooled_by]);
    const std::int64_t width = ctx.config.hidden_size;
    const tensor pooled = pooling_mode == pooling::first  ? t.select(x, 1)
                          : pooling_mode == pooling::mean ? t.mean(x, 1)
                                                          : x;
    const tensor h = t.call("activation", gelu_module{}, t.call("dense", linear{width, width, true}, pooled));
    const tensor labels = t.call("classifier", head_linear{{width, ctx.config.num_labels, true}}, h);
    return pooling_mode == pooling::late ? t.mean(labels, 1) : labels;
}

constexpr tensor score(const layer_context& ctx, trace& t, const tensor_pair& out) {
    const model_config& config = ctx.config;
    if (config.head == head_kind::sequence_classification) return classify_sequence(ctx, t, out.first);
    if (config.head == head_kind::token_classification)
        return t.call("classifier", head_linear{{config.hidden_size, config.num_labels, true}}, out.first);
    const linear lm_head{config.hidden_size, config.vocab_size, config.mlp_bias, config.tie_word_embeddings};
    return t.call("lm_head", head_linear{lm_head}, logits_to_keep(t, out.first));
}

constexpr tensor forward(const layer_context& ctx, trace& t) { return forward_encoder_model(ctx, t, {.score = score}); }

constexpr void parse_config(config_view json, model_config& config) {
    config.sliding_window = 0;
    const string_ref pooling_name = json.string("classifier_pooling", "late");
    const bool first = pooling_name == "bos", mean = pooling_name == "mean";
    config.family[pooled_by] = static_cast<std::int64_t>(first ? pooling::first : mean ? pooling::mean : pooling::late);
    if (!first && !mean && pooling_name != "late")
        throw_invalid_value(json, "classifier_pooling", "\"bos\", \"mean\" or \"late\"");
}

}  // namespace eurobert_detail

inline constexpr model_spec eurobert = [](model_spec spec) {
    spec.model_type = "eurobert";
    spec.class_prefix = "EuroBert";
    spec.forward = eurobert_detail::forward;
    spec.parse_config = eurobert_detail::parse_config;
    spec.family_keys = eurobert_detail::family_keys;
    spec.prepare_inputs = bidirectional_with_rotary;
    spec.attention = local_attention;
    spec.has_float32_masked_lm_loss = true;
    spec.supported_heads = {head_kind::none, head_kind::masked_lm, head_kind::sequence_classification,
                            head_kind::token_classification};
    spec.defaults.vocab_size = 128256;
    spec.defaults.hidden_size = 768;
    spec.defaults.intermediate_size = 3072;
    spec.defaults.num_hidden_layers = spec.defaults.num_attention_heads = 12;
    spec.defaults.max_position_embeddings = 8192;
    spec.defaults.head = head_kind::masked_lm;
    return spec;
}(llama);

}  // namespace llmcost::arch
