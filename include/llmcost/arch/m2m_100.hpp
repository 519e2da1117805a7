// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bart.hpp>

namespace llmcost::arch {

namespace m2m_100_detail {

enum own : std::uint8_t { pad_token = stack_own::count };
inline constexpr own_key keys[]{{"decoder_layers", 12},
                                {"decoder_attention_heads", 16},
                                {"decoder_ffn_dim", 4096},
                                {"encoder_ffn_dim", 4096},
                                {"pad_token_id", 1, own_value::non_negative}};

/// Rows of a buffer of sines, picked for every token.
///
/// Beyond the buffer the reference makes another one, which no later pass makes again (`make_weights`): refused here.
struct sinusoidal_positions {
    const site& here;

    static constexpr role what = role::embedding;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return here.type("SinusoidalPositionalEmbedding"); }
    constexpr value describe(trace& t, std::int64_t length) const {
        const std::int64_t rows = here.dims.max_position_embeddings + 2, width = here.dims.hidden_size;
        const std::int64_t batch = t.load().batch;
        return t.gather(dense({rows, width}, t.activation_type()), {batch * length, width}).view({batch, length, width});
    }
};

constexpr value positions(const site& here, trace& t, std::int64_t length, bool decodes) {
    const std::int64_t asked = decodes ? t.load().past + length : length;
    t.positions(here.dims.max_position_embeddings + 1 - here.dims.own[pad_token], asked);
    return t.call("embed_positions", sinusoidal_positions{here}, length);
}

inline constexpr stack_style style{
    .norm_first = true, .norm_embedding = "", .norm_last = "layer_norm", .logits_bias = false, .positions = positions};

}  // namespace m2m_100_detail

/// Sines as positions that padding moves, norms in front of blocks.
///
/// Source: transformers/models/m2m_100/modeling_m2m_100.py.
constexpr value describe_m2m_100(const site& here, trace& t) { return describe_stacks(here, t, m2m_100_detail::style); }

constexpr void read_m2m_100(config_view config, sizes& s) {
    read_stacks(config, s);
    if (s.own[m2m_100_detail::pad_token] > s.max_position_embeddings)
        fail_value(config, "pad_token_id", "one of the positions");
}

// transformers/models/m2m_100: configuration_m2m_100.py, modeling_m2m_100.py
inline constexpr architecture m2m_100 = [](architecture a) {
    a.model_type = "m2m_100", a.prefix = "M2M100", a.describe = describe_m2m_100, a.read = read_m2m_100;
    a.own = m2m_100_detail::keys;
    a.heads = {head_kind::none, head_kind::conditional_generation};
    a.defaults.vocab_size = 128112, a.defaults.hidden_act = activation::relu, a.defaults.num_labels = 2;
    a.defaults.head = head_kind::conditional_generation;
    return a;
}(bart);

}  // namespace llmcost::arch
