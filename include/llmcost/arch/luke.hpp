// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/roberta.hpp>

namespace llmcost::arch {

namespace luke_detail {

enum family_config_index : std::uint8_t { entities, entity_width, aware };
inline constexpr family_key family_keys[]{
    {"entity_vocab_size", 500000},
    {"entity_emb_size", 256},
    {"use_entity_aware_attention", 1, family_key_type::boolean},
};

/// Entities, which a text alone does not have.
constexpr void declare_entities(const layer_context& ctx, trace& t) {
    const recorder::not_executed_guard no_entities{t};
    const std::int64_t width = ctx.config.hidden_size, entity_dim = ctx.config.family[entity_width];
    const module_info m{.name = "entity_embeddings",
                        .class_of_module = ctx.class_of("EntityEmbeddings"),
                        .module_role = role::embedding};
    t.enter(m);
    const tensor token_embeddings =
        t.call("entity_embeddings", embedding{ctx.config.family[entities], entity_dim}, shape{1, 1});
    if (entity_dim != width) (void)t.call("entity_embedding_dense", linear{entity_dim, width}, token_embeddings);
    (void)t.call("position_embeddings", embedding{ctx.config.max_position_embeddings, width}, shape{1, 1});
    const tensor kinds = t.call("token_type_embeddings", embedding{ctx.config.type_vocab_size, width}, shape{1, 1});
    (void)t.call("LayerNorm", norm_module{norm_kind::layer, width}, kinds);
    t.leave(m);
}

constexpr tensor embed(const layer_context& ctx, trace& t) {
    make_padding_mask(t);
    const tensor x = embed_in_module(ctx, t, roberta_detail::sum_embeddings);
    declare_entities(ctx, t);
    return x;
}

/// Words alone: what queries of entities would be stays aside. States are cut at the words' end after each part.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const linear projection{ctx.config.hidden_size, ctx.config.hidden_size, true};
    tensor q, k, v;
    project_to_heads(t, x, ctx.config.hidden_size, ctx.config.num_attention_heads, {}, q, k, v);
    if (ctx.config.family[aware] != 0) {
        const recorder::not_executed_guard no_entities{t};
        for (const literal name : {"w2e_query", "e2w_query", "e2e_query"}) (void)t.call(name, projection, x);
    }
    return t.slice(divided_score_attention(t, q, k, v, bert_layers::bidirectional_pattern_of(ctx)), 1, x.dim(1));
}
constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const tensor a = t.call("attention", bert_layers::attention_block{ctx}, x);
    return t.slice(bert_mlp(ctx, t, t.slice(a, 1, x.dim(1))), 1, x.dim(1));
}

/// Computes the logits of tokens; the workload has no entities. Only the biases are tied.
constexpr tensor lm_head_logits(const layer_context& ctx, trace& t, const tensor_pair& out) {
    const module_info lm_head{.name = "lm_head", .class_of_module = ctx.class_of("LMHead"), .module_role = role::head};
    const std::int64_t width = ctx.config.hidden_size;
    t.enter(lm_head);
    declare_lm_head_bias(ctx.config, t);
    tensor h = t.unary(torch_function::stored_gelu, op::gelu, t.call("dense", linear{width, width, true}, out.first));
    h = t.call("layer_norm", norm_module{norm_kind::layer, width}, h);
    h = t.leave(lm_head, mlm_logits(ctx.config, t, h, true));
    const recorder::not_executed_guard no_entities{t};
    const std::int64_t entity_dim = ctx.config.family[entity_width], n = ctx.config.family[entities];
    const module_info entity_head{
        .name = "entity_predictions", .class_of_module = {"", "EntityPredictionHead"}, .module_role = role::head};
    const module_info transform{.name = "transform", .class_of_module = {"", "EntityPredictionHeadTransform"}};
    t.enter(entity_head);
    (void)t.param("bias", {n});
    t.enter(transform);
    tensor e = t.call("dense", linear{width, entity_dim, true}, out.first);
    e = t.call("transform_act_fn", activation_module{ctx.config.hidden_act}, e);
    e = t.leave(transform, t.call("LayerNorm", norm_module{norm_kind::layer, entity_dim}, e));
    (void)t.leave(entity_head, t.call("decoder", linear{entity_dim, n, false, ctx.config.tie_word_embeddings}, e));
    return h;
}
constexpr tensor score(const layer_context& ctx, trace& t, const tensor_pair& out) {
    return forward_encoder_head(ctx, t, out, lm_head_logits, false);
}
inline constexpr head_set pooled{head_kind::none, head_kind::masked_lm, head_kind::sequence_classification,
                                 head_kind::multiple_choice};
constexpr tensor forward(const layer_context& ctx, trace& t) { return forward_encoder_model(ctx, t, {score, pooled}); }

constexpr void parse_config(config_view json, model_config& config) {
    parse_encoder_only(json, config);
    config.position_offset = json.non_negative("pad_token_id", 1) + 1;
    if (config.position_offset >= config.max_position_embeddings)
        throw_invalid_value(json, "pad_token_id", "one of the first positions");
}

}  // namespace luke_detail

// transformers/models/luke: RoBERTa with optional entities in addition to tokens
inline constexpr model_spec luke = [](model_spec spec) {
    spec.model_type = "luke";
    spec.class_prefix = "Luke";
    spec.forward = luke_detail::forward;
    spec.parse_config = luke_detail::parse_config;
    spec.family_keys = luke_detail::family_keys;
    spec.embed_tokens = luke_detail::embed;
    spec.decoder_layer = luke_detail::decoder_layer;
    spec.attention = luke_detail::attention;
    spec.supported_heads = {head_kind::none,
                            head_kind::masked_lm,
                            head_kind::sequence_classification,
                            head_kind::token_classification,
                            head_kind::question_answering,
                            head_kind::multiple_choice};
    spec.names.base_model = "luke";
    spec.defaults.vocab_size = 50267;
    spec.defaults.head = head_kind::masked_lm;
    return spec;
}(roberta);

}  // namespace llmcost::arch
