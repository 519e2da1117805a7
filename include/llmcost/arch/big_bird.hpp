// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bert.hpp>
#include <llmcost/reading/sparse_blocks.hpp>
#include <llmcost/walks/sparse_blocks.hpp>

namespace llmcost::arch {

namespace big_bird_detail {

enum own : std::uint8_t { block_size, random_blocks, scales_words, sparse };
inline constexpr own_key keys[]{{"block_size", 64},
                                {"num_random_blocks", 3, own_value::non_negative},
                                {"rescale_embeddings", 0, own_value::boolean},
                                {.otherwise = 1, .value = own_value::computed}};

[[nodiscard]] constexpr sparse_blocks blocks_of(const site& here) noexcept {
    return {here.dims.own[block_size], here.dims.own[random_blocks]};
}
/// Whether a text of so many tokens goes through blocks, padded or not.
[[nodiscard]] constexpr bool is_sparse(const site& here, std::int64_t sequence) noexcept {
    return here.dims.own[sparse] != 0 && sequence > blocks_of(here).longest_in_full();
}

/// Words, segments and positions, normed behind dropout.
constexpr value sum_embeddings(const site& here, trace& t) {
    value x = word_embeddings(here, t);
    if (here.dims.own[scales_words] != 0) x = t.mul(x);
    x = t.add(x, segment_embeddings(here, t));
    t.in_place(op::add, x, position_embeddings(here, t));
    return t.call("LayerNorm", norm<norm_kind::layer>{here.dims.hidden_size}, dropout(t, "dropout", x));
}

/// Whole blocks of words, where there are blocks; what a cache held would have no place in them.
constexpr value embed(const site& here, trace& t) {
    t.owns_buffer(count(2 * 8) * count(here.dims.max_position_embeddings));  // `position_ids`, `token_type_ids`
    workload load = t.load();
    const sparse_blocks blocks = blocks_of(here);
    if (here.dims.own[sparse] != 0) t.edge(axis::sequence, blocks.longest_in_full() + 1);
    if (!is_sparse(here, load.sequence)) return embed_within(here, t, sum_embeddings);
    t.chunked(blocks.size);
    t.positions(here.dims.max_position_embeddings / blocks.size * blocks.size, load.sequence);
    if ((blocks.random == 0 || load.past > 0) && !t.idle())
        report_positions(blocks.longest_in_full(), load.past + load.sequence);
    load.sequence = blocks.padded(load.sequence);
    const recorder::workload_guard whole{t, load};
    return embed_within(here, t, sum_embeddings);
}

/// A mask of words and padding, and what is made of it: that of neighbours, or a decoder's of all before.
constexpr decoder_context prepare(const site& here, trace& t) {
    const std::int64_t sequence = t.load().sequence, batch = t.load().batch;
    value text = t.constant({batch, t.load().past + sequence});
    if (!is_sparse(here, sequence)) return all_or_before(here, t);
    const sparse_blocks blocks = blocks_of(here);
    if (const std::int64_t more = blocks.padded(sequence) - sequence; more > 0) text = t.pad(text, 1, more);
    decoder_context c;
    c.full.where = all_positions(blocks.padded(sequence)).where;
    c.full.own[0] = text, c.full.own[1] = band_of(t, blocks, text);
    return c;
}

constexpr value attend(const site& here, trace& t, const value& x) {
    value q, k, v;
    project_in_heads(t, x, here.dims.hidden_size, here.dims.num_attention_heads, {}, q, k, v, here.dims.attention_bias);
    if (is_sparse(here, x.dim(1))) {
        if (bert_layers::reach_of(here).where.causal) t.cache_nothing();
        return attend_in_blocks(t, q, k, v, blocks_of(here), here.shared->own[0], here.shared->own[1]);
    }
    const encoder_reach reach = bert_layers::reach_of(here);
    if (reach.where.causal) k = update_cache(t, k, reach.where), v = update_cache(t, v, reach.where);
    return look_up_dividing(t, q, k, v, reach);
}

/// A layer whose attention is named as it was built, although a short text puts full attention in its place.
constexpr value layer(const site& here, trace& t, const value& x) {
    const literal inner = here.dims.own[sparse] != 0 ? "BlockSparseAttention" : "SelfAttention";
    const value a = t.call("attention", bert_layers::attention_block{here, {}, inner}, x);
    declare_bert_cross_attention(here, t, a, {}, "SelfAttention");
    return feed_as_bert(here, t, a);
}

/// A dense layer and its activation, modules of the model's own; classes of texts do not read it.
constexpr value pool(const site& here, trace& t, const value& x) {
    const recorder::off_loss_guard unread{t, here.dims.head == head_kind::sequence_classification};
    const std::int64_t width = here.dims.hidden_size;
    const value first = t.call("pooler", linear{width, width, true}, t.select(x, 1));
    return t.call("activation", activation_module{activation::tanh}, first);
}

/// The padding to whole blocks is cut off at last, of states that scores of choices do not read.
constexpr value cut_off_padding(const site& here, trace& t, const value& x) {
    const recorder::off_loss_guard unread{t, here.dims.head == head_kind::multiple_choice};
    return x.dim(1) == t.load().sequence ? x : t.slice(x, 1, t.load().sequence);
}

/// Answers behind a feed-forward block; words of the question are kept out of them.
constexpr value answer(const site& here, trace& t, const value& x) {
    const module_info head{.name = "qa_classifier", .type = here.type("ForQuestionAnsweringHead"), .what = role::head};
    t.enter(head);
    const value wide = t.call("intermediate", bert_layers::intermediate_block{here}, dropout(t, "dropout", x));
    const bert_layers::output_block narrow{here.dims.intermediate_size, here.dims.hidden_size, here.type("Output")};
    const value h = t.call("output", bert_layers::feed_forward_output{narrow}, wide, x);
    const value scores = t.leave(head, t.call("qa_outputs", linear{here.dims.hidden_size, 2, true}, h));
    const value question = t.mul(trace::buffer({x.dim(0), x.dim(1), 1}));
    return start_of_answers(t, t.sub(scores, question));
}

constexpr value score(const site& here, trace& t, const two_values& out) {
    switch (here.dims.head) {
        case head_kind::question_answering: return answer(here, t, out.first);
        case head_kind::sequence_classification: return classify_first_state(here, t, out.first, here.dims.hidden_act);
        case head_kind::multiple_choice:
            return t.call("classifier", head_linear{{here.dims.hidden_size, 1, true}}, dropout(t, "dropout", out.second));
        default: return score_states(here, t, out, score_in_cls);
    }
}

inline constexpr encoder_heads heads{
    .score = score,
    .pooled = {head_kind::none, head_kind::causal_lm, head_kind::masked_lm, head_kind::pretraining,
               head_kind::sequence_classification, head_kind::token_classification, head_kind::multiple_choice},
    .pool = pool,
    .last = cut_off_padding,
};
constexpr value describe(const site& here, trace& t) { return describe_encoder(here, t, heads); }

/// Beside an encoder's states nothing is sparse (`BigBirdModel.__init__`).
constexpr void read(config_view config, sizes& s) {
    if (s.head == head_kind::question_answering) s.num_labels = 2;  // `BigBirdForQuestionAnswering.__init__`
    read_encoder_decoding(config, s);
    s.attention_bias = config.boolean("use_bias", true);
    s.own[sparse] = read_sparse_blocks(config, s.own[block_size], s.own[random_blocks]) && !s.add_cross_attention;
}

}  // namespace big_bird_detail

// transformers/models/big_bird: BERT whose long texts are attended to in blocks
inline constexpr architecture big_bird = [](architecture a) {
    a.drops = {}, a.model_type = "big_bird", a.prefix = "BigBird", a.describe = big_bird_detail::describe;
    a.read = big_bird_detail::read, a.own = big_bird_detail::keys, a.embed = big_bird_detail::embed;
    a.prepare = big_bird_detail::prepare, a.layer = big_bird_detail::layer, a.attend = big_bird_detail::attend;
    a.heads = {head_kind::none,
               head_kind::causal_lm,
               head_kind::masked_lm,
               head_kind::pretraining,
               head_kind::sequence_classification,
               head_kind::token_classification,
               head_kind::question_answering,
               head_kind::multiple_choice};
    a.names.causal_lm_type = "ForCausalLM";
    a.defaults.vocab_size = 50358, a.defaults.max_position_embeddings = 4096;
    a.defaults.hidden_act = activation::gelu_new;
    return a;
}(bert);

}  // namespace llmcost::arch
