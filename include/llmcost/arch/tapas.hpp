// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bert.hpp>

namespace llmcost::arch {

namespace tapas_detail {

/// Maximum number of segment types.
inline constexpr std::size_t max_kinds = 12;

enum family_config_index : std::uint8_t { resets, kinds, first_kind };

inline constexpr family_key family_keys[first_kind + max_kinds]{
    {"reset_position_index_per_cell", 1, family_key_type::boolean},
    {.type = family_key_type::computed},  // how many entries `type_vocab_sizes` has
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
};

inline constexpr std::int64_t published[]{3, 256, 256, 2, 256, 256, 10};

/// The names of tables, one for each kind of segments.
inline constexpr literal table_names[max_kinds]{
    "token_type_embeddings_0", "token_type_embeddings_1", "token_type_embeddings_2",  "token_type_embeddings_3",
    "token_type_embeddings_4", "token_type_embeddings_5", "token_type_embeddings_6",  "token_type_embeddings_7",
    "token_type_embeddings_8", "token_type_embeddings_9", "token_type_embeddings_10", "token_type_embeddings_11",
};

/// The first position of each cell of a table: as floats, reduced over cells (`reduce_min`).
constexpr void find_cells(const layer_context& ctx, trace& t) {
    const std::int64_t batch = t.load().batch;
    const std::int64_t cells = ctx.config.family[first_kind + 1] * ctx.config.family[first_kind + 2];
    tensor minimum = t.clone(t.full({cells * batch}));
    t.index_add(minimum, t.full({batch * t.load().sequence}));
    (void)t.clone(minimum);
}

constexpr tensor sum_embeddings(const layer_context& ctx, trace& t) {
    const std::int64_t batch = t.load().batch, sequence = t.load().sequence,
                       maximum = ctx.config.max_position_embeddings;
    if (ctx.config.family[resets] != 0) find_cells(ctx, t);
    const tensor token_embeddings = word_embeddings(ctx, t);
    if (ctx.config.family[resets] == 0) t.check_positions(maximum, sequence);  // else positions end with the table
    const embedding places{maximum, ctx.config.hidden_size};
    tensor x = t.add(token_embeddings, t.call("position_embeddings", places, shape{batch, sequence}));
    for (std::int64_t i = 0; i < ctx.config.family[kinds]; ++i) {
        const auto index = static_cast<std::size_t>(i);
        t.add_(x, embedding_lookup(ctx, t, table_names[index], ctx.config.family[first_kind + index]));
    }
    return norm_embeddings(ctx, t, x);
}

constexpr tensor embed(const layer_context& ctx, trace& t) {
    make_padding_mask(t);
    return embed_in_module(ctx, t, sum_embeddings);
}

constexpr tensor score(const layer_context& ctx, trace& t, const tensor_pair& out) {
    return forward_encoder_head(ctx, t, out, score_in_mlm_cls);
}

constexpr tensor forward(const layer_context& ctx, trace& t) {
    return forward_encoder_model(ctx, t, {score, {head_kind::none, head_kind::sequence_classification}});
}

constexpr void parse_config(config_view json, model_config& config) {
    if (json.boolean("add_cross_attention", false))
        throw_unsupported(json, "add_cross_attention", "this model type is not supported as a decoder");
    parse_encoder_only(json, config);
    const auto type_vocab_sizes = json.optional_array("type_vocab_sizes");
    const std::size_t n = type_vocab_sizes ? type_vocab_sizes->size() : sizeof published / sizeof *published;
    if (n > max_kinds) throw_unsupported(json, "type_vocab_sizes", "more than 12 segment types are not supported");
    if (n < 3 && config.family[resets] != 0)
        throw_invalid_value(json, "type_vocab_sizes", "at least three sizes, because positions are relative to cells");
    config.family[kinds] = static_cast<std::int64_t>(n);
    for (std::size_t i = 0; i < n; ++i)
        config.family[first_kind + i] =
            type_vocab_sizes ? (*type_vocab_sizes)[static_cast<std::uint32_t>(i)].as_positive() : published[i];
    if (config.family[resets] != 0)
        (void)checked_size(json, "type_vocab_sizes", config.family[first_kind + 1], config.family[first_kind + 2]);
}

}  // namespace tapas_detail

// transformers/models/tapas: BERT with segments for columns, rows and ranks of a table
inline constexpr model_spec tapas = [](model_spec spec) {
    spec.model_type = "tapas";
    spec.class_prefix = "Tapas";
    spec.forward = tapas_detail::forward;
    spec.parse_config = tapas_detail::parse_config;
    spec.family_keys = tapas_detail::family_keys;
    spec.embed_tokens = tapas_detail::embed;
    spec.attention = divided_attention;
    spec.supported_heads = {head_kind::none, head_kind::masked_lm, head_kind::sequence_classification};
    spec.names.base_model = "tapas";
    spec.defaults.max_position_embeddings = 1024;
    spec.defaults.type_vocab_size = 0;
    spec.defaults.head = head_kind::masked_lm;
    spec.dropout_keys = headless_encoder_dropout;
    return spec;
}(bert);

}  // namespace llmcost::arch
