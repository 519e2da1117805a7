// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bart.hpp>
#include <llmcost/forward/sinusoidal_positions.hpp>

namespace llmcost::arch {

namespace m2m_100_detail {

enum family_config_index : std::uint8_t { pad_token = stack_config::count };

inline constexpr family_key family_keys[]{{"decoder_layers", 12},
                                          {"decoder_attention_heads", 16},
                                          {"decoder_ffn_dim", 4096},
                                          {"encoder_ffn_dim", 4096},
                                          {"pad_token_id", 1, family_key_type::non_negative}};

constexpr tensor positions(const layer_context& ctx, trace& t, std::int64_t length, bool decodes) {
    const std::int64_t num_positions = decodes ? t.load().past + length : length;
    t.check_positions(ctx.config.max_position_embeddings + 1 - ctx.config.family[pad_token], num_positions);
    // a longer table would replace this one (`make_weights`); no later pass makes it again
    const sinusoidal_positions table{ctx.config.max_position_embeddings + 2, ctx.config.hidden_size,
                                     ctx.class_of("SinusoidalPositionalEmbedding")};
    return t.call("embed_positions", table, t.load().batch, length);
}

inline constexpr stack_style style{
    .norm_first = true, .norm_embedding = "", .norm_last = "layer_norm", .logits_bias = false, .positions = positions};

}  // namespace m2m_100_detail

/// Sines as positions that padding moves, norms before blocks.
///
/// Source: transformers/models/m2m_100/modeling_m2m_100.py.
constexpr tensor forward_m2m_100(const layer_context& ctx, trace& t) {
    return forward_sequence_model(ctx, t, m2m_100_detail::style);
}

constexpr void parse_m2m_100(config_view json, model_config& config) {
    parse_stacks(json, config);
    if (config.family[m2m_100_detail::pad_token] > config.max_position_embeddings)
        throw_invalid_value(json, "pad_token_id", "one of the positions");
}

// transformers/models/m2m_100: configuration_m2m_100.py, modeling_m2m_100.py
inline constexpr model_spec m2m_100 = [](model_spec spec) {
    spec.model_type = "m2m_100";
    spec.class_prefix = "M2M100";
    spec.forward = forward_m2m_100;
    spec.parse_config = parse_m2m_100;
    spec.family_keys = m2m_100_detail::family_keys;
    spec.supported_heads = {head_kind::none, head_kind::conditional_generation};
    spec.defaults.vocab_size = 128112;
    spec.defaults.hidden_act = activation::relu;
    spec.defaults.num_labels = 2;
    spec.defaults.head = head_kind::conditional_generation;
    return spec;
}(bart);

}  // namespace llmcost::arch
