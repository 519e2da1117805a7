// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/roberta.hpp>
#include <llmcost/walks/encoder_decoder.hpp>

namespace llmcost::arch {

namespace mpnet_detail {

enum own : std::uint8_t { buckets };
inline constexpr own_key keys[]{{"relative_attention_num_buckets", 32}};

constexpr value sum_embeddings(const site& here, trace& t) {
    const value words = word_embeddings(here, t);
    return norm_embeddings(here, t, t.add(words, position_embeddings(here, t, t.load().batch)));
}
constexpr value embed(const site& here, trace& t) { return embed_within(here, t, sum_embeddings); }

/// Biases of distances are made in the encoder, once for all layers and copied for each sequence.
constexpr value encode(const site& here, trace& t) {
    const std::int64_t batch = t.load().batch, sequence = t.load().sequence, heads = here.dims.num_attention_heads;
    value x = here.row.embed(here, t);
    decoder_context shared = here.row.prepare(here, t);
    const module_info encoder{.name = "encoder", .type = here.type("Encoder")};
    t.enter(encoder);
    const value bias = relative_bias(t, here.dims.own[buckets], heads, sequence, sequence);
    shared.full.own[0] = t.contiguous(bias.expand({batch, heads, sequence, sequence}));
    return t.leave(encoder, describe_layers(here, t, shared, x));
}

/// The module inside of attention, with the output projection.
constexpr value attend(const site& here, trace& t, const value& x) {
    const std::int64_t width = here.dims.hidden_size;
    const module_info attn{.name = "attn", .type = here.type("SelfAttention")};
    t.enter(attn);
    value q, k, v;
    project_in_heads(t, x, width, here.dims.num_attention_heads, {"q", "k", "v"}, q, k, v);
    const value mixed = look_up_dividing(t, q, k, v, bert_layers::reach_of(here), &here.shared->own[0]);
    const value out = t.leave(attn, t.call("o", linear{width, width, true}, mixed));
    return t.call("LayerNorm", norm<norm_kind::layer>{width}, t.add(dropout(t, "dropout", out), x));
}
constexpr value layer(const site& here, trace& t, const value& x) {
    return feed_as_bert(here, t, mix_by_attention(here, t, x));
}

/// Positions begin behind the padding's, which is the second one's whatever the configuration says.
constexpr void read(config_view config, sizes& s) {
    read_encoder_alone(config, s);
    s.first_position = 2;
    if (s.max_position_embeddings <= 2) fail_value(config, "max_position_embeddings", "more than 2");
}

}  // namespace mpnet_detail

// transformers/models/mpnet: RoBERTa with biases of distances, without segments
inline constexpr architecture mpnet = [](architecture a) {
    a.model_type = "mpnet", a.prefix = "MPNet", a.read = mpnet_detail::read, a.own = mpnet_detail::keys;
    a.base = mpnet_detail::encode, a.embed = mpnet_detail::embed, a.layer = mpnet_detail::layer;
    a.attend = mpnet_detail::attend, a.mix = mix_by_attention;
    a.heads = {head_kind::none,
               head_kind::masked_lm,
               head_kind::sequence_classification,
               head_kind::token_classification,
               head_kind::question_answering,
               head_kind::multiple_choice};
    a.names.base = "mpnet", a.names.attention = "attention";
    a.defaults.vocab_size = 30527, a.defaults.type_vocab_size = 0, a.defaults.head = head_kind::masked_lm;
    a.drops = headless_encoder_dropout;
    return a;
}(roberta);

}  // namespace llmcost::arch
