// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/roberta.hpp>

namespace llmcost::arch {

namespace luke_detail {

enum own : std::uint8_t { entities, entity_width, aware };
inline constexpr own_key keys[]{
    {"entity_vocab_size", 500000},
    {"entity_emb_size", 256},
    {"use_entity_aware_attention", 1, own_value::boolean},
};

/// Entities, which a text alone does not have.
constexpr void declare_entities(const site& here, trace& t) {
    const recorder::idle_guard no_entities{t};
    const std::int64_t width = here.dims.hidden_size, narrow = here.dims.own[entity_width];
    const module_info m{.name = "entity_embeddings", .type = here.type("EntityEmbeddings"), .what = role::embedding};
    t.enter(m);
    const value words = t.call("entity_embeddings", embedding{here.dims.own[entities], narrow}, extents{1, 1});
    if (narrow != width) (void)t.call("entity_embedding_dense", linear{narrow, width}, words);
    (void)t.call("position_embeddings", embedding{here.dims.max_position_embeddings, width}, extents{1, 1});
    const value kinds = t.call("token_type_embeddings", embedding{here.dims.type_vocab_size, width}, extents{1, 1});
    (void)t.call("LayerNorm", norm<norm_kind::layer>{width}, kinds);
    t.leave(m);
}

constexpr value embed(const site& here, trace& t) {
    make_padding_mask(t);
    const value x = roberta_detail::embed(here, t);
    declare_entities(here, t);
    return x;
}

/// Words alone: what queries of entities would be stays aside. States are cut at the words' end after each part.
constexpr value attend(const site& here, trace& t, const value& x) {
    const linear projection{here.dims.hidden_size, here.dims.hidden_size, true};
    value q, k, v;
    project_in_heads(t, x, here.dims.hidden_size, here.dims.num_attention_heads, {}, q, k, v);
    if (here.dims.own[aware] != 0) {
        const recorder::idle_guard no_entities{t};
        for (const literal name : {"w2e_query", "e2w_query", "e2e_query"}) (void)t.call(name, projection, x);
    }
    return t.slice(look_up_dividing(t, q, k, v, bert_layers::reach_of(here)), 1, x.dim(1));
}
constexpr value layer(const site& here, trace& t, const value& x) {
    const value a = t.call("attention", bert_layers::attention_block{here}, x);
    return t.slice(feed_as_bert(here, t, t.slice(a, 1, x.dim(1))), 1, x.dim(1));
}

/// Words; beside them entities, of which there are none. Only biases are tied.
constexpr value score_words(const site& here, trace& t, const two_values& out) {
    const module_info lm_head{.name = "lm_head", .type = here.type("LMHead"), .what = role::head};
    const std::int64_t width = here.dims.hidden_size;
    t.enter(lm_head);
    declare_word_bias(here.dims, t);
    value h = t.unary(torch_function::kept_gelu, op::gelu, t.call("dense", linear{width, width, true}, out.first));
    h = t.call("layer_norm", norm<norm_kind::layer>{width}, h);
    h = t.leave(lm_head, scores_of_words(here.dims, t, h, true));
    const recorder::idle_guard no_entities{t};
    const std::int64_t narrow = here.dims.own[entity_width], n = here.dims.own[entities];
    const module_info entity_head{.name = "entity_predictions", .type = {"", "EntityPredictionHead"}, .what = role::head};
    const module_info transform{.name = "transform", .type = {"", "EntityPredictionHeadTransform"}};
    t.enter(entity_head);
    (void)t.param("bias", {n});
    t.enter(transform);
    value e = t.call("dense", linear{width, narrow, true}, out.first);
    e = t.call("transform_act_fn", activation_module{here.dims.hidden_act}, e);
    e = t.leave(transform, t.call("LayerNorm", norm<norm_kind::layer>{narrow}, e));
    (void)t.leave(entity_head, t.call("decoder", linear{narrow, n, false, here.dims.tie_word_embeddings}, e));
    return h;
}
constexpr value score(const site& here, trace& t, const two_values& out) {
    return score_states(here, t, out, score_words, false);
}
inline constexpr head_set pooled{head_kind::none, head_kind::masked_lm, head_kind::sequence_classification,
                                 head_kind::multiple_choice};
constexpr value describe(const site& here, trace& t) { return describe_encoder(here, t, {score, pooled}); }

constexpr void read(config_view config, sizes& s) {
    read_encoder_alone(config, s);
    s.first_position = config.non_negative("pad_token_id", 1) + 1;
    if (s.first_position >= s.max_position_embeddings) fail_value(config, "pad_token_id", "one of the first positions");
}

}  // namespace luke_detail

// transformers/models/luke: RoBERTa that may read entities beside words
inline constexpr architecture luke = [](architecture a) {
    a.model_type = "luke", a.prefix = "Luke", a.describe = luke_detail::describe, a.read = luke_detail::read;
    a.own = luke_detail::keys, a.embed = luke_detail::embed, a.layer = luke_detail::layer, a.attend = luke_detail::attend;
    a.heads = {head_kind::none,
               head_kind::masked_lm,
               head_kind::sequence_classification,
               head_kind::token_classification,
               head_kind::question_answering,
               head_kind::multiple_choice};
    a.names.base = "luke", a.defaults.vocab_size = 50267, a.defaults.head = head_kind::masked_lm;
    return a;
}(roberta);

}  // namespace llmcost::arch
