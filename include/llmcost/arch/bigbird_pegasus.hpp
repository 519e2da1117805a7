// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bart.hpp>

namespace llmcost::arch {

namespace bigbird_pegasus_detail {

enum own : std::uint8_t { block_size = stack_own::count, random_blocks, sparse };
inline constexpr own_key keys[]{{"decoder_layers", 16},
                                {"decoder_attention_heads", 16},
                                {"decoder_ffn_dim", 4096},
                                {"encoder_ffn_dim", 4096},
                                {"block_size", 64},
                                {"num_random_blocks", 3, own_value::non_negative},
                                {.otherwise = 1, .value = own_value::computed}};

/// Attention over everything (`BigBirdPegasusSelfAttention`).
///
/// Where sparse blocks were asked for, the first short text puts it in the place of what was built: from then on its
/// dropout, which no list of modules has, hands out what it is given.
constexpr value attend_in_encoder(const site& here, trace& t, const stack_sizes& s, const value& x, const value*,
                                  const context& where, const value*) {
    const bool bias = here.dims.attention_bias, replaces = here.dims.own[sparse] != 0;
    const std::int64_t d = s.width / s.heads, batch = x.dim(0), sequence = x.dim(1);
    const linear projection{s.width, s.width, bias};
    const auto split = [&](literal name) {
        return t.call(name, projection, x).view({batch, sequence, s.heads, d}).transpose(1, 2);
    };
    const module_info self{.name = "self", .type = here.type(replaces ? "BlockSparseAttention" : "SelfAttention")};
    t.enter(self);
    const value q = split("query"), k = split("key"), v = split("value");
    value out;
    {
        const recorder::fused_guard fused{t, fused_attention(q, s.heads, where, sequence)};
        value probabilities = t.softmax(t.div(t.matmul(q, k.transpose(-1, -2))));
        if (replaces)
            t.returned(probabilities);
        else
            probabilities = dropout(t, "dropout", probabilities, dropout_of::attention);
        out = t.contiguous(t.matmul(probabilities, v).permute({0, 2, 1, 3}));
    }
    t.leave(self);
    return t.call("output", projection, out.view({batch, sequence, s.width}));
}

/// A mask of ones, which hides nothing and is left out.
///
/// Longer texts go through sparse blocks, which nothing here describes: refused as beyond what the model holds.
constexpr void prepare(const site& here, trace& t, bool decodes, shared_values&) {
    if (decodes) return;
    const std::int64_t length = encoder_length(t.load());
    if (here.dims.own[sparse]) t.positions((5 + 2 * here.dims.own[random_blocks]) * here.dims.own[block_size], length);
    (void)t.constant({t.load().batch, length});
}

inline constexpr stack_style style{.norm_first = true,
                                   .norm_embedding = "",
                                   .norm_last = "layernorm_embedding",
                                   .encoder_attention = "EncoderAttention",
                                   .decoder_attention = "DecoderAttention",
                                   .positions = learned_positions,
                                   .prepare = prepare,
                                   .attend_in_encoder = attend_in_encoder};

}  // namespace bigbird_pegasus_detail

/// Norms in front of blocks; the encoder of a short text attends to all of it.
///
/// Source: transformers/models/bigbird_pegasus/modeling_bigbird_pegasus.py.
constexpr value describe_bigbird_pegasus(const site& here, trace& t) {
    return describe_stacks(here, t, bigbird_pegasus_detail::style);
}

constexpr void read_bigbird_pegasus(config_view config, sizes& s) {
    read_stacks(config, s);
    s.attention_bias = config.boolean("use_bias", false);
    if (s.head == head_kind::causal_lm) s.tie_word_embeddings = false;  // the class names no weights that are tied
    const string_ref type = config.string("attention_type", "block_sparse");
    if (type != "block_sparse" && type != "original_full")
        fail_value(config, "attention_type", "block_sparse or original_full");
    s.own[bigbird_pegasus_detail::sparse] = type == "block_sparse";
    (void)checked_width(config, "block_size", s.own[bigbird_pegasus_detail::block_size],
                        5 + 2 * s.own[bigbird_pegasus_detail::random_blocks]);
}

// transformers/models/bigbird_pegasus: configuration_bigbird_pegasus.py, modeling_bigbird_pegasus.py
inline constexpr architecture bigbird_pegasus = [](architecture a) {
    a.model_type = "bigbird_pegasus", a.prefix = "BigBirdPegasus", a.describe = describe_bigbird_pegasus;
    a.read = read_bigbird_pegasus, a.own = bigbird_pegasus_detail::keys;
    a.defaults.vocab_size = 96103, a.defaults.num_hidden_layers = 16, a.defaults.max_position_embeddings = 4096;
    a.defaults.num_labels = 2, a.defaults.hidden_act = activation::gelu_new;
    return a;
}(bart);

}  // namespace llmcost::arch
