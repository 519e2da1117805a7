// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bert.hpp>

namespace llmcost::arch {

namespace roformer_detail {

enum own : std::uint8_t { summary, rotates_values };
inline constexpr own_key keys[]{
    {.value = own_value::computed},  // `summary_form`
    {"rotary_value", 0, own_value::boolean},
};

/// Sines and cosines of positions, a table that gradients do not train; no embedding of tokens.
struct position_table {
    std::int64_t rows;
    std::int64_t width;
    class_name named;

    static constexpr role what = role::rotary;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr value describe(trace& t, const extents& places) const {
        return t.gather(t.frozen("weight", {rows, width}), {places.size[0], width});
    }
};

constexpr value sum_embeddings(const site& here, trace& t) {
    const value words = word_embeddings(here, t);
    return norm_embeddings(here, t, t.add(words, segment_embeddings(here, t)));
}
constexpr value embed(const site& here, trace& t) {
    return project_embeddings(here, t, embed_within(here, t, sum_embeddings));
}

/// The encoder looks up its positions once for all layers.
constexpr value encode(const site& here, trace& t) {
    const std::int64_t sequence = t.load().sequence, past = here.dims.is_decoder ? t.load().past : 0;
    make_padding_mask(t);
    const value x = here.row.embed(here, t);
    decoder_context shared = here.row.prepare(here, t);
    const module_info encoder{.name = "encoder", .type = here.type("Encoder")};
    t.enter(encoder);
    t.positions(here.dims.max_position_embeddings, past + sequence);
    const position_table table{here.dims.max_position_embeddings, here.dims.head_dim,
                               here.type("SinusoidalPositionalEmbedding")};
    shared.full.own[0] = t.call("embed_positions", table, extents{sequence}).unsqueeze(0);
    return t.leave(encoder, describe_layers(here, t, shared, x));
}

/// Halves of the table, each number twice: (1, S, d).
constexpr value doubled(trace& t, const value& table) {
    const value half = table.slice(-1, table.dim(-1) / 2).unsqueeze(-1);
    return t.cat({half, half}, -1).view({1, table.dim(1), table.dim(2)});
}

/// Queries and keys, or values too, are turned by pairs.
constexpr value attend(const site& here, trace& t, const value& x) {
    const encoder_reach reach = bert_layers::reach_of(here);
    value q, k, v;
    project_in_heads(t, x, here.dims.hidden_size, here.dims.num_attention_heads, {}, q, k, v);
    const value sin = doubled(t, here.shared->own[0]), cos = doubled(t, here.shared->own[0]);
    q = rotate<rotation::interleaved>(t, q, cos, sin), k = rotate<rotation::interleaved>(t, k, cos, sin);
    if (here.dims.own[rotates_values] != 0) v = rotate<rotation::interleaved>(t, v, cos, sin);
    if (reach.where.causal) k = update_cache(t, k, reach.where), v = update_cache(t, v, reach.where);
    return look_up_dividing(t, q, k, v, reach);
}
constexpr value layer(const site& here, trace& t, const value& x) {
    return bert_layer_with(here, t, x, {}, "SelfAttention");
}

constexpr value score(const site& here, trace& t, const two_values& out) {
    if (here.dims.head == head_kind::sequence_classification)
        return classify_first_state(here, t, out.first, here.dims.hidden_act);
    if (here.dims.head == head_kind::multiple_choice) return choose_by_summary(here, t, out.first, here.dims.own[summary]);
    return score_states(here, t, out, score_in_cls, false);
}
constexpr value describe(const site& here, trace& t) { return describe_encoder(here, t, {.score = score}); }

constexpr void read(config_view config, sizes& s) {
    read_encoder_decoding(config, s);
    s.embedding_size = config.positive("embedding_size", s.hidden_size);
    if (s.head_dim % 2 != 0) fail_unsupported(config, "num_attention_heads", "heads of an odd width have no pairs");
    s.own[summary] = read_summary(config, {});
    check_summary(config, s, s.own[summary]);
}

}  // namespace roformer_detail

// transformers/models/roformer: BERT with rotated heads, no pooler
inline constexpr architecture roformer = [](architecture a) {
    a.model_type = "roformer", a.prefix = "RoFormer", a.describe = roformer_detail::describe;
    a.read = roformer_detail::read, a.own = roformer_detail::keys, a.base = roformer_detail::encode;
    a.embed = roformer_detail::embed, a.layer = roformer_detail::layer, a.attend = roformer_detail::attend;
    a.heads = {head_kind::none,
               head_kind::causal_lm,
               head_kind::masked_lm,
               head_kind::sequence_classification,
               head_kind::token_classification,
               head_kind::question_answering,
               head_kind::multiple_choice};
    a.names.base = "roformer", a.names.causal_lm_type = "ForCausalLM";
    a.defaults.vocab_size = 50000, a.defaults.max_position_embeddings = 1536;
    a.drops = headless_encoder_dropout;
    return a;
}(bert);

}  // namespace llmcost::arch
