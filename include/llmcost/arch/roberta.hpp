// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bert.hpp>
#include <llmcost/forward/roberta_heads.hpp>

namespace llmcost::arch {

namespace roberta_detail {

/// Padding moves positions, so that every sequence looks up its own.
constexpr tensor sum_embeddings(const layer_context& ctx, trace& t) {
    const tensor tokens = word_embeddings(ctx, t);
    const tensor x = t.add(tokens, segment_embeddings(ctx, t));
    return norm_embeddings(ctx, t, t.add(x, position_embeddings(ctx, t, t.load().batch)));
}

constexpr tensor embed(const layer_context& ctx, trace& t) {
    register_position_buffers(ctx, t);
    return embed_in_module(ctx, t, sum_embeddings);
}

constexpr tensor forward(const layer_context& ctx, trace& t) {
    return forward_encoder_model(ctx, t, {roberta_heads::score, roberta_heads::pooled});
}

/// Parses `config.json`; positions start after the padding index (modeling_roberta.py,
/// `create_position_ids_from_input_ids`).
constexpr void parse_config(config_view json, model_config& config) {
    parse_decoding_encoder(json, config);
    config.position_offset = json.non_negative("pad_token_id", 1) + 1;
    if (config.position_offset >= config.max_position_embeddings)
        throw_invalid_value(json, "pad_token_id", "one of the first positions");
}

}  // namespace roberta_detail

// transformers/models/roberta: positions follow padding, a language head of its own
inline constexpr model_spec roberta = [](model_spec spec) {
    spec.model_type = "roberta";
    spec.class_prefix = "Roberta";
    spec.forward = roberta_detail::forward;
    spec.parse_config = roberta_detail::parse_config;
    spec.embed_tokens = roberta_detail::embed;
    spec.supported_heads = {head_kind::none,
                            head_kind::causal_lm,
                            head_kind::masked_lm,
                            head_kind::sequence_classification,
                            head_kind::token_classification,
                            head_kind::question_answering,
                            head_kind::multiple_choice};
    spec.names.base_model = "roberta";
    spec.names.causal_lm_class = "ForCausalLM";
    spec.defaults.vocab_size = 50265;
    return spec;
}(bert);

}  // namespace llmcost::arch
