// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bert.hpp>

namespace llmcost::arch {

namespace nystromformer_detail {

enum own : std::uint8_t { kernel, landmarks, segments };
inline constexpr own_key keys[]{
    {"conv_kernel_size", 65},
    {"num_landmarks", 64},
    {"segment_means_seq_len", 64},
};

/// Two rows of the table stand in front of the first position.
constexpr value sum_embeddings(const site& here, trace& t) {
    value x = t.add(word_embeddings(here, t), segment_embeddings(here, t));
    t.in_place(op::add, x, position_embeddings(here, t));
    return norm_embeddings(here, t, x);
}
constexpr value embed(const site& here, trace& t) {
    make_padding_mask(t);
    return embed_within(here, t, sum_embeddings);
}

/// With as many landmarks as tokens in a segment all scores are made; values are convolved over neighbours besides.
constexpr value attend(const site& here, trace& t, const value& x) {
    const std::int64_t width = here.dims.hidden_size, heads = here.dims.num_attention_heads, k = here.dims.own[kernel];
    const std::int64_t batch = x.dim(0), sequence = x.dim(1);
    qkv of;
    project_in_heads(t, x, width, heads, {}, of.q, of.k, of.v);
    value mixed;
    {
        const recorder::fused_guard fused{t, fused_attention(of.q, heads, here.shared->where, sequence)};
        of.q = t.div(of.q), of.k = t.div(of.k);
        mixed = t.matmul(t.softmax(t.matmul(of.q, of.k.transpose(-1, -2))), of.v);
    }
    const module_info conv{.name = "conv", .type = {"", "Conv2d"}, .leaf = true};
    t.enter(conv);
    const value weight = t.param("weight", {heads, 1, k, 1});
    t.in_place(op::add, mixed, t.leave(conv, t.convolution(of.v, weight, false, {.groups = heads, .padding = {k / 2, 0}})));
    return t.contiguous(mixed.permute({0, 2, 1, 3})).view({batch, sequence, width});
}

constexpr value score_words(const site& here, trace& t, const two_values& out) {
    const module_info cls{.name = "cls", .type = here.type("OnlyMLMHead"), .what = role::head};
    t.enter(cls);
    return t.leave(cls, transform_and_score(here, t, out.first));
}
constexpr value choose(const site& here, trace& t, const value& x) {
    const std::int64_t width = here.dims.hidden_size;
    const value h = t.unary(op::relu, t.call("pre_classifier", linear{width, width, true}, t.select(x, 1)));
    return t.call("classifier", head_linear{{width, 1, true}}, h);
}
constexpr value score(const site& here, trace& t, const two_values& out) {
    if (here.dims.head == head_kind::sequence_classification)
        return classify_first_state(here, t, out.first, here.dims.hidden_act);
    if (here.dims.head == head_kind::multiple_choice) return choose(here, t, out.first);
    return score_states(here, t, out, score_words, false);
}
constexpr value describe(const site& here, trace& t) { return describe_encoder(here, t, {.score = score}); }

constexpr void read(config_view config, sizes& s) {
    read_encoder_alone(config, s);
    if (s.own[kernel] % 2 == 0) fail_value(config, "conv_kernel_size", "an odd number");
    if (s.own[landmarks] != s.own[segments])
        fail_unsupported(config, "num_landmarks", "no row describes fewer landmarks than tokens of a segment");
    if (config.boolean("inv_coeff_init_option", false))
        fail_unsupported(config, "inv_coeff_init_option", "the reference fails to read it");
    s.max_position_embeddings += 2, s.first_position = 2;
}

}  // namespace nystromformer_detail

// transformers/models/nystromformer: BERT with convolved values, no pooler
inline constexpr architecture nystromformer = [](architecture a) {
    a.model_type = "nystromformer", a.prefix = "Nystromformer", a.describe = nystromformer_detail::describe;
    a.read = nystromformer_detail::read, a.own = nystromformer_detail::keys, a.embed = nystromformer_detail::embed;
    a.attend = nystromformer_detail::attend;
    a.heads = {head_kind::none,
               head_kind::masked_lm,
               head_kind::sequence_classification,
               head_kind::token_classification,
               head_kind::question_answering,
               head_kind::multiple_choice};
    a.names.base = "nystromformer";
    a.defaults.vocab_size = 30000, a.defaults.max_position_embeddings = 510, a.defaults.hidden_act = activation::gelu_new;
    a.defaults.head = head_kind::masked_lm;
    a.drops = headless_encoder_dropout;
    return a;
}(bert);

}  // namespace llmcost::arch
