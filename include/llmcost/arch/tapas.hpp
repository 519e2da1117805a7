// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bert.hpp>

namespace llmcost::arch {

namespace tapas_detail {

/// Kinds of segments that a row has room for.
inline constexpr std::size_t most_kinds = 12;

enum own : std::uint8_t { resets, kinds, first_kind };
inline constexpr own_key keys[first_kind + most_kinds]{
    {"reset_position_index_per_cell", 1, own_value::boolean},
    {.value = own_value::computed},  // how many entries `type_vocab_sizes` has
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
};
inline constexpr std::int64_t published[]{3, 256, 256, 2, 256, 256, 10};

/// The names of tables, one for each kind of segments.
inline constexpr literal table_names[most_kinds]{
    "token_type_embeddings_0", "token_type_embeddings_1", "token_type_embeddings_2",  "token_type_embeddings_3",
    "token_type_embeddings_4", "token_type_embeddings_5", "token_type_embeddings_6",  "token_type_embeddings_7",
    "token_type_embeddings_8", "token_type_embeddings_9", "token_type_embeddings_10", "token_type_embeddings_11",
};

/// The first position of each cell of a table: as floats, reduced over cells (`reduce_min`).
constexpr void find_cells(const site& here, trace& t) {
    const std::int64_t batch = t.load().batch;
    const std::int64_t cells = here.dims.own[first_kind + 1] * here.dims.own[first_kind + 2];
    value least = t.clone(t.constant({cells * batch}));
    t.index_add(least, t.constant({batch * t.load().sequence}));
    (void)t.clone(least);
}

constexpr value sum_embeddings(const site& here, trace& t) {
    const std::int64_t batch = t.load().batch, sequence = t.load().sequence, most = here.dims.max_position_embeddings;
    if (here.dims.own[resets] != 0) find_cells(here, t);
    const value words = word_embeddings(here, t);
    if (here.dims.own[resets] == 0) t.positions(most, sequence);  // else positions end with the table
    const embedding places{most, here.dims.hidden_size};
    value x = t.add(words, t.call("position_embeddings", places, extents{batch, sequence}));
    for (std::int64_t i = 0; i < here.dims.own[kinds]; ++i) {
        const auto at = static_cast<std::size_t>(i);
        t.in_place(op::add, x, look_up_tokens(here, t, table_names[at], here.dims.own[first_kind + at]));
    }
    return norm_embeddings(here, t, x);
}
constexpr value embed(const site& here, trace& t) {
    make_padding_mask(t);
    return embed_within(here, t, sum_embeddings);
}

constexpr value score_words(const site& here, trace& t, const two_values& out) {
    const module_info cls{.name = "cls", .type = here.type("OnlyMLMHead"), .what = role::head};
    t.enter(cls);
    return t.leave(cls, transform_and_score(here, t, out.first));
}
constexpr value score(const site& here, trace& t, const two_values& out) { return score_states(here, t, out, score_words); }
constexpr value describe(const site& here, trace& t) {
    return describe_encoder(here, t, {score, {head_kind::none, head_kind::sequence_classification}});
}

constexpr void read(config_view config, sizes& s) {
    if (config.boolean("add_cross_attention", false))
        fail_unsupported(config, "add_cross_attention", "no row describes this type as a decoder");
    read_encoder_alone(config, s);
    const auto given = config.optional_array("type_vocab_sizes");
    const std::size_t n = given ? given->size() : sizeof published / sizeof *published;
    if (n > most_kinds) fail_unsupported(config, "type_vocab_sizes", "no row has room for more than 12 kinds of segments");
    if (n < 3 && s.own[resets] != 0)
        fail_value(config, "type_vocab_sizes", "three sizes at least, as positions are by cell");
    s.own[kinds] = static_cast<std::int64_t>(n);
    for (std::size_t i = 0; i < n; ++i)
        s.own[first_kind + i] = given ? (*given)[static_cast<std::uint32_t>(i)].as_positive() : published[i];
    if (s.own[resets] != 0) (void)checked_width(config, "type_vocab_sizes", s.own[first_kind + 1], s.own[first_kind + 2]);
}

}  // namespace tapas_detail

// transformers/models/tapas: BERT with segments for columns, rows and ranks of a table
inline constexpr architecture tapas = [](architecture a) {
    a.model_type = "tapas", a.prefix = "Tapas", a.describe = tapas_detail::describe, a.read = tapas_detail::read;
    a.own = tapas_detail::keys, a.embed = tapas_detail::embed, a.attend = attend_dividing;
    a.heads = {head_kind::none, head_kind::masked_lm, head_kind::sequence_classification};
    a.names.base = "tapas";
    a.defaults.max_position_embeddings = 1024, a.defaults.type_vocab_size = 0, a.defaults.head = head_kind::masked_lm;
    a.drops = headless_encoder_dropout;
    return a;
}(bert);

}  // namespace llmcost::arch
