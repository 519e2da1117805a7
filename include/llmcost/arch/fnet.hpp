// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bert.hpp>

namespace llmcost::arch {

namespace fnet_detail {

/// The sum of words, segments and positions, normed and projected.
constexpr value sum_embeddings(const site& here, trace& t) {
    value x = t.add(word_embeddings(here, t), segment_embeddings(here, t));
    t.in_place(op::add, x, position_embeddings(here, t));
    const std::int64_t width = here.dims.hidden_size;
    x = t.call("LayerNorm", norm<norm_kind::layer>{width}, x);
    return dropout(t, "dropout", t.call("projection", linear{width, width, true}, x));
}
constexpr value embed(const site& here, trace& t) { return embed_within(here, t, sum_embeddings); }

/// `torch.fft.fftn` over tokens and features, of which the real part is kept: a call without a price, written here as the
/// complex copy of its input and its complex result.
struct fourier_transform {
    const site& here;

    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return here.type("BasicFourierTransform"); }
    constexpr value describe(trace& t, const value& x) const { return t.copy(t.copy(x)); }
};

constexpr value layer(const site& here, trace& t, const value& x) {
    const module_info fourier{.name = "fourier", .type = here.type("FourierTransform"), .what = role::mixer};
    const module_info output{.name = "output", .type = here.type("BasicOutput")};
    t.enter(fourier);
    const value h = t.call("self", fourier_transform{here}, x);
    t.enter(output);
    const value normed = t.call("LayerNorm", norm<norm_kind::layer>{here.dims.hidden_size}, t.add(x, h));
    return feed_as_bert(here, t, t.leave(fourier, t.leave(output, normed)));
}

/// Every class has a pooler, whether it reads it or not.
inline constexpr encoder_heads heads{
    .score = bert_detail::score,
    .pooled = {head_kind::none, head_kind::masked_lm, head_kind::pretraining, head_kind::next_sentence,
               head_kind::sequence_classification, head_kind::token_classification, head_kind::question_answering,
               head_kind::multiple_choice},
};
constexpr value describe(const site& here, trace& t) { return describe_encoder(here, t, heads); }

constexpr void read(config_view config, sizes& s) {
    if (config.boolean("use_tpu_fourier_optimizations", false))
        fail_unsupported(config, "use_tpu_fourier_optimizations", "no row describes transforms as products of matrices");
    read_encoder_of_heads(config, s);
    s.num_attention_heads = s.num_key_value_heads = 0;
}

}  // namespace fnet_detail

// transformers/models/fnet: configuration_fnet.py, modeling_fnet.py; BERT with Fourier transforms in attention's place
inline constexpr architecture fnet = [](architecture a) {
    a.model_type = "fnet", a.prefix = "FNet", a.describe = fnet_detail::describe;
    a.read = fnet_detail::read, a.embed = fnet_detail::embed, a.layer = fnet_detail::layer, a.attend = nullptr;
    a.heads = {head_kind::none,
               head_kind::masked_lm,
               head_kind::pretraining,
               head_kind::next_sentence,
               head_kind::sequence_classification,
               head_kind::token_classification,
               head_kind::question_answering,
               head_kind::multiple_choice};
    a.names.base = "fnet";
    a.keys[0] = {"num_attention_heads", "", key_rule::absent}, a.keys[1] = {"head_dim", "", key_rule::absent};
    a.defaults.vocab_size = 32000, a.defaults.type_vocab_size = 4, a.defaults.num_attention_heads = 0;
    a.defaults.hidden_act = activation::gelu_new, a.defaults.head = head_kind::pretraining;
    a.drops = headless_encoder_dropout;
    return a;
}(bert);

}  // namespace llmcost::arch
