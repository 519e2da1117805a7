// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/forward/decoder.hpp>

// The decoder of OPT, on token embeddings which multimodal inputs may replace.
namespace llmcost::opt_decoder {

enum family_config_index : std::uint8_t { norm_affine, norms_after_sums, final_norm };
inline constexpr family_key family_keys[]{
    {"layer_norm_elementwise_affine", 1, family_key_type::boolean},  // norms have parameters
    {.type = family_key_type::computed},                             // norms follow the residual sums
    {.type = family_key_type::computed},                             // a norm after the last layer
};

constexpr tensor call_layer_norm(const layer_context& ctx, trace& t, literal name, const tensor& x) {
    const bool affine = ctx.config.family[norm_affine] != 0;
    return t.call(name, norm_module{norm_kind::layer, ctx.config.hidden_size, {}, affine, affine}, x);
}

/// A mask of ones makes the positions, in floats unless a caller has made it of integers; the table has two rows more.
constexpr tensor positions(const layer_context& ctx, trace& t, bool has_mask) {
    const workload& load = t.load();
    const std::int64_t max_positions = ctx.config.max_position_embeddings;
    if (!has_mask) {
        const tensor ones = t.full({load.batch, load.past + load.sequence});
        (void)t.add_scalar(t.mul(t.cumsum(ones, 1), ones));
    }
    t.check_positions(max_positions, load.past + load.sequence);
    const embedding table{.num_embeddings = max_positions + 2,
                          .embedding_dim = ctx.config.hidden_size,
                          .named = ctx.class_of("LearnedPositionalEmbedding"),
                          .creates_indices = true};
    return t.call("embed_positions", table, shape{load.batch, load.sequence});
}

constexpr tensor embed_input_ids(const layer_context& ctx, trace& t) {
    const workload& load = t.load();
    return t.call("embed_tokens", embedding{ctx.config.vocab_size, ctx.config.embedding_size},
                  shape{load.batch, load.sequence});
}

/// Runs the decoder on token embeddings, which multimodal inputs may replace.
constexpr tensor decode(const layer_context& ctx, trace& t, tensor x, bool has_mask = false) {
    const model_config& config = ctx.config;
    const decoder_inputs shared = prepare_decoder_inputs(ctx, t);
    const tensor places = positions(ctx, t, has_mask);
    const bool projects = config.embedding_size != config.hidden_size;
    if (projects) x = t.call("project_in", linear{config.embedding_size, config.hidden_size}, x);
    x = forward_layers(ctx, t, shared, t.add(x, places));
    if (config.family[final_norm]) x = call_layer_norm(ctx, t, "final_layer_norm", x);
    return projects ? t.call("project_out", linear{config.hidden_size, config.embedding_size}, x) : x;
}

}  // namespace llmcost::opt_decoder
