// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bert.hpp>

namespace llmcost::arch {

namespace roberta_detail {

/// Padding moves positions, so that every sequence looks up its own.
constexpr tensor sum_embeddings(const layer_context& ctx, trace& t) {
    const tensor x = t.add(word_embeddings(ctx, t), segment_embeddings(ctx, t));
    return norm_embeddings(ctx, t, t.add(x, position_embeddings(ctx, t, t.load().batch)));
}
constexpr tensor embed(const layer_context& ctx, trace& t) { return embed_in_module(ctx, t, sum_embeddings); }

/// Computes language-head logits. In some related models, the head is declared before the base model, so that its
/// decoder names the tied weight.
constexpr tensor compute_lm_head_logits(const layer_context& ctx, trace& t, const tensor& x, bool named_first) {
    const module_info lm_head{.name = "lm_head", .class_of_module = ctx.class_of("LMHead"), .module_role = role::head};
    const std::int64_t width = ctx.config.hidden_size;
    t.enter(lm_head);
    declare_lm_head_bias(ctx.config, t);
    const tensor h = t.unary(torch_function::stored_gelu, op::gelu, t.call("dense", linear{width, width, true}, x));
    const tensor normed = t.call("layer_norm", norm_module{norm_kind::layer, width}, h);
    return t.leave(lm_head, mlm_logits(ctx.config, t, normed, named_first));
}
constexpr tensor lm_head_logits(const layer_context& ctx, trace& t, const tensor_pair& out) {
    return compute_lm_head_logits(ctx, t, out.first, false);
}
constexpr tensor lm_head_logits_named_first(const layer_context& ctx, trace& t, const tensor_pair& out) {
    return compute_lm_head_logits(ctx, t, out.first, true);
}
constexpr tensor score_with(const layer_context& ctx, trace& t, const tensor_pair& out, score_part compute_logits) {
    if (ctx.config.head == head_kind::sequence_classification) return classify_first_state(ctx, t, out.first);
    return forward_encoder_head(ctx, t, out, compute_logits);
}
constexpr tensor score(const layer_context& ctx, trace& t, const tensor_pair& out) {
    return score_with(ctx, t, out, lm_head_logits);
}
constexpr tensor score_named_first(const layer_context& ctx, trace& t, const tensor_pair& out) {
    return score_with(ctx, t, out, lm_head_logits_named_first);
}
inline constexpr head_set pooled{head_kind::none, head_kind::multiple_choice};
constexpr tensor forward(const layer_context& ctx, trace& t) { return forward_encoder_model(ctx, t, {score, pooled}); }

/// Classes that are made with their head before the model (modeling_xlm_roberta.py, `XLMRobertaForMaskedLM`).
constexpr tensor sum_embeddings_named_later(const layer_context& ctx, trace& t) {
    const bool tied = ctx.config.tie_word_embeddings &&
                      (ctx.config.head == head_kind::masked_lm || ctx.config.head == head_kind::causal_lm);
    const embedding token_embedding{ctx.config.vocab_size, ctx.config.hidden_size, false, {"", "Embedding"}, tied};
    tensor x = t.call("word_embeddings", token_embedding, shape{t.load().batch, t.load().sequence});
    x = t.add(x, segment_embeddings(ctx, t));
    return norm_embeddings(ctx, t, t.add(x, position_embeddings(ctx, t, t.load().batch)));
}
constexpr tensor embed_named_later(const layer_context& ctx, trace& t) {
    return embed_in_module(ctx, t, sum_embeddings_named_later);
}
constexpr tensor forward_head_first(const layer_context& ctx, trace& t) {
    return forward_encoder_model(ctx, t, {score_named_first, pooled});
}

/// Parses `config.json`; positions start after the padding index (modeling_roberta.py,
/// `create_position_ids_from_input_ids`).
constexpr void parse_config(config_view json, model_config& config) {
    parse_decoding_encoder(json, config);
    config.position_offset = json.non_negative("pad_token_id", 1) + 1;
    if (config.position_offset >= config.max_position_embeddings)
        throw_invalid_value(json, "pad_token_id", "one of the first positions");
}

/// Sums embeddings without a norm; each block has a norm before it, and one final norm follows the layers.
constexpr tensor sum_embeddings_plainly(const layer_context& ctx, trace& t) {
    const tensor x = t.add(word_embeddings(ctx, t), segment_embeddings(ctx, t));
    return dropout(t, "dropout", t.add(x, position_embeddings(ctx, t, t.load().batch)));
}
constexpr tensor embed_plainly(const layer_context& ctx, trace& t) {
    return embed_in_module(ctx, t, sum_embeddings_plainly);
}
constexpr tensor encode_xl(const layer_context& ctx, trace& t) {
    return forward_encoder_with(ctx, t, {.type = ctx.class_of("Encoder"), .last_norm = "LayerNorm"});
}
constexpr tensor layer_xl(const layer_context& ctx, trace& t, const tensor& x) {
    return bert_layer_with_norms(ctx, t, x,
                                 {.attention = "self_attn_layer_norm", .layer = "LayerNorm", .drops = false});
}

constexpr tensor layer_prelayernorm(const layer_context& ctx, trace& t, const tensor& x) {
    return bert_layer_with_norms(ctx, t, x, {.attention = "LayerNorm", .intermediate = "LayerNorm"});
}
/// Runs the encoder layers, then the final norm, which belongs to the base model.
constexpr tensor encode_prelayernorm(const layer_context& ctx, trace& t) {
    return bert_layers::apply_norm_if_named(ctx, t, "LayerNorm", forward_encoder(ctx, t));
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

// transformers/models/xlm_roberta: RoBERTa, whose language head is declared after the base model
inline constexpr model_spec xlm_roberta = [](model_spec spec) {
    spec.model_type = "xlm-roberta";
    spec.class_prefix = "XLMRoberta";
    spec.defaults.vocab_size = 30522;
    spec.forward = roberta_detail::forward_head_first;
    spec.embed_tokens = roberta_detail::embed_named_later;
    return spec;
}(roberta);

// transformers/models/camembert: the same
inline constexpr model_spec camembert = [](model_spec spec) {
    spec.model_type = "camembert";
    spec.class_prefix = "Camembert";
    return spec;
}(xlm_roberta);

// transformers/models/data2vec: modeling_data2vec_text.py, RoBERTa under another name
inline constexpr model_spec data2vec_text = [](model_spec spec) {
    spec.model_type = "data2vec-text";
    spec.class_prefix = "Data2VecText";
    spec.names.base_model = "data2vec_text";
    spec.defaults.vocab_size = 30522;
    return spec;
}(roberta);

// transformers/models/xlm_roberta_xl: norms before blocks, none over embeddings, a final norm after the layers
inline constexpr model_spec xlm_roberta_xl = [](model_spec spec) {
    spec.model_type = "xlm-roberta-xl";
    spec.class_prefix = "XLMRobertaXL";
    spec.base_model = roberta_detail::encode_xl;
    spec.embed_tokens = roberta_detail::embed_plainly;
    spec.decoder_layer = roberta_detail::layer_xl;
    spec.defaults.vocab_size = 250880;
    spec.defaults.hidden_size = 2560;
    spec.defaults.intermediate_size = 10240;
    spec.defaults.num_hidden_layers = 36;
    spec.defaults.num_attention_heads = 32;
    spec.defaults.max_position_embeddings = 514;
    spec.defaults.type_vocab_size = 1;
    return spec;
}(roberta);

// transformers/models/roberta_prelayernorm: norms before blocks, and a final norm after the layers
inline constexpr model_spec roberta_prelayernorm = [](model_spec spec) {
    spec.model_type = "roberta-prelayernorm";
    spec.class_prefix = "RobertaPreLayerNorm";
    spec.base_model = roberta_detail::encode_prelayernorm;
    spec.decoder_layer = roberta_detail::layer_prelayernorm;
    spec.names.base_model = "roberta_prelayernorm";
    return spec;
}(roberta);

}  // namespace llmcost::arch
