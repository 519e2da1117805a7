// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bert.hpp>

namespace llmcost::arch {

namespace layoutlm_detail {

enum family_config_index : std::uint8_t { coordinates };

inline constexpr family_key family_keys[]{{"max_2d_position_embeddings", 1024}};

/// Words with their places in the text and on the page; a text has no boxes, so that zeros are looked up.
constexpr tensor sum_embeddings(const layer_context& ctx, trace& t) {
    register_position_ids(ctx, t);
    const tensor tokens = word_embeddings(ctx, t);
    tensor x = t.add(tokens, position_embeddings(ctx, t));
    for (const literal name : {"x_position_embeddings", "y_position_embeddings"})  // left and right, upper and lower
        for (loop side = t.loop_calls(2, x); side.next();)
            x = t.add(x, embedding_lookup(ctx, t, name, ctx.config.family[coordinates]));
    for (const literal name : {"h_position_embeddings", "w_position_embeddings"})
        x = t.add(x, embedding_lookup(ctx, t, name, ctx.config.family[coordinates]));
    return norm_embeddings(ctx, t, t.add(x, segment_embeddings(ctx, t)));
}

constexpr tensor embed(const layer_context& ctx, trace& t) { return embed_in_module(ctx, t, sum_embeddings); }

/// A mask of ones is turned into zeros that every layer adds: (B, 1, 1, S).
constexpr decoder_inputs prepare_inputs(const layer_context& ctx, trace& t) {
    decoder_inputs c = causal_or_bidirectional(ctx, t);
    const tensor ones = t.to(t.full({t.load().batch, 1, 1, t.load().sequence}), t.activation_type());
    c.full.mask = t.mul_scalar(t.add_scalar(ones));
    return c;
}

constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    query_key_value qkv;
    project_to_heads(t, x, ctx.config.hidden_size, ctx.config.num_attention_heads, {}, qkv.query, qkv.key, qkv.value);
    return bidirectional_sdpa(ctx, t, qkv, true);
}

constexpr tensor score(const layer_context& ctx, trace& t, const tensor_pair& out) {
    return forward_encoder_head(ctx, t, out, score_in_mlm_cls);
}

/// Every head has the pooler below it.
constexpr tensor forward(const layer_context& ctx, trace& t) {
    return forward_encoder_model(ctx, t, {score, ctx.spec.supported_heads});
}

}  // namespace layoutlm_detail

// transformers/models/layoutlm: BERT with places on a page
inline constexpr model_spec layoutlm = [](model_spec spec) {
    spec.model_type = "layoutlm";
    spec.class_prefix = "LayoutLM";
    spec.forward = layoutlm_detail::forward;
    spec.parse_config = parse_encoder_only;
    spec.family_keys = layoutlm_detail::family_keys;
    spec.embed_tokens = layoutlm_detail::embed;
    spec.prepare_inputs = layoutlm_detail::prepare_inputs;
    spec.attention = layoutlm_detail::attention;
    spec.supported_heads = {head_kind::none, head_kind::masked_lm, head_kind::sequence_classification,
                            head_kind::token_classification, head_kind::question_answering};
    spec.names.base_model = "layoutlm";
    spec.defaults.head = head_kind::masked_lm;
    spec.dropout_keys = headless_encoder_dropout;
    return spec;
}(bert);

}  // namespace llmcost::arch
