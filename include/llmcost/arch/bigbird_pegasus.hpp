// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bart.hpp>
#include <llmcost/reading/sparse_blocks.hpp>
#include <llmcost/walks/sparse_blocks.hpp>

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

[[nodiscard]] constexpr sparse_blocks blocks_of(const site& here) noexcept {
    return {here.dims.own[block_size], here.dims.own[random_blocks], true};
}
[[nodiscard]] constexpr bool is_sparse(const site& here, std::int64_t length) noexcept {
    return here.dims.own[sparse] != 0 && length > blocks_of(here).longest_in_full();
}

/// Attention named as it was built, although the first short text puts that over everything in the place of blocks.
constexpr value attend_in_encoder(const site& here, trace& t, const stack_sizes& s, const value& x, const value*,
                                  const context& where, const value*) {
    const bool bias = here.dims.attention_bias;
    const module_info self{.name = "self",
                           .type = here.type(here.dims.own[sparse] != 0 ? "BlockSparseAttention" : "SelfAttention")};
    t.enter(self);
    value q, k, v;
    project_in_heads(t, x, s.width, s.heads, {}, q, k, v, bias);
    const shared_values& made = *here.shared;
    const value found = is_sparse(here, x.dim(1)) ? attend_in_blocks(t, q, k, v, blocks_of(here), made.own[0], made.own[1])
                                                  : look_up_dividing(t, q, k, v, {.where = where});
    t.leave(self);
    return t.call("output", linear{s.width, s.width, bias}, found);
}

/// A mask of ones, of which integers are made; over all positions it hides nothing and is left out.
constexpr void prepare(const site& here, trace& t, bool decodes, shared_values& into) {
    if (decodes) return;
    const std::int64_t length = encoder_length(t.load()), batch = t.load().batch;
    const sparse_blocks blocks = blocks_of(here);
    if (here.dims.own[sparse] != 0) t.edge(axis::sequence, blocks.longest_in_full() + 1);
    (void)t.constant({batch, length});
    if (!is_sparse(here, length)) return;
    if (blocks.random == 0 && !t.idle()) report_positions(blocks.longest_in_full(), length);
    t.chunked(blocks.size);
    into.own[0] = trace::buffer({batch, blocks.padded(length)});
    into.own[1] = band_of(t, blocks, into.own[0]);
}

/// Whole blocks of words, without positions.
constexpr value lengthen(const site& here, trace& t, const value& x);

inline constexpr stack_style style{.norm_first = true,
                                   .norm_embedding = "",
                                   .norm_last = "layernorm_embedding",
                                   .encoder_attention = "EncoderAttention",
                                   .decoder_attention = "DecoderAttention",
                                   .positions = learned_positions,
                                   .prepare = prepare,
                                   .lengthen = lengthen,
                                   .attend_in_encoder = attend_in_encoder};

constexpr value lengthen(const site& here, trace& t, const value& x) {
    const std::int64_t more = blocks_of(here).padded(x.dim(1)) - x.dim(1);
    if (more == 0 || !is_sparse(here, x.dim(1))) return x;
    const recorder::called_again_guard again{t};
    return t.cat({x, words_of_stack(here, t, style, here.dims.vocab_size, more, shares_words(here, style))}, -2);
}

}  // namespace bigbird_pegasus_detail

/// Norms in front of blocks; the encoder attends to all of a short text, and sparsely to a long one.
///
/// Source: transformers/models/bigbird_pegasus/modeling_bigbird_pegasus.py.
constexpr value describe_bigbird_pegasus(const site& here, trace& t) {
    return describe_stacks(here, t, bigbird_pegasus_detail::style);
}

constexpr void read_bigbird_pegasus(config_view config, sizes& s) {
    read_stacks(config, s);
    s.attention_bias = config.boolean("use_bias", false);
    if (s.head == head_kind::causal_lm) s.tie_word_embeddings = false;  // the class names no weights that are tied
    using namespace bigbird_pegasus_detail;
    s.own[sparse] = read_sparse_blocks(config, s.own[block_size], s.own[random_blocks]);
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
