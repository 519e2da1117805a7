// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/layers/heads.hpp>
#include <llmcost/walks/encoder_decoder.hpp>

// Encoder-decoders with positions added to words: BART and those that were written after it.
namespace llmcost {

/// Sizes of the encoder's or the decoder's stack.
struct stack_sizes {
    std::int64_t width;
    std::int64_t heads;
    std::int64_t inner;
    activation act;
    literal prefix;
    bool decodes;
};

/// Who multiplies words by a constant.
enum class word_scale : std::uint8_t {
    module,        ///< the table of words, a class of its own
    stack,         ///< each stack
    encoder_only,  ///< the encoder
    nobody
};

struct stack_style;

/// Attention of x over itself or a source, inside of its module, as the family executes it.
using stack_attention = value (*)(const site&, trace&, const stack_sizes&, const value& x, const value* source,
                                  const context&, const value* mask);
/// A whole stack, by a family that has one of its own.
using stack_part = value (*)(const site&, trace&, const stack_style&);

/// How the stacks of a family differ from BART's.
struct stack_style {
    bool norm_first = false;                         ///< norms in front of blocks, not behind their sums
    literal norm_embedding = "layernorm_embedding";  ///< of words and positions; empty: none
    literal norm_last = "";                          ///< behind the last layer; empty: none
    bool norm_words_only = false;                    ///< the decoder's norm of embeddings leaves positions out
    bool own_mask = true;                            ///< the decoder makes a mask of ones where none is given
    bool shares_words = true;                        ///< a table in front of both stacks, where embeddings are tied
    bool logits_bias = true;                         ///< a buffer that is added to the scores of words
    word_scale scale = word_scale::module;
    literal conditional_type = "ForConditionalGeneration";
    literal decoder_type = "Decoder";
    literal encoder_attention = "Attention";
    literal decoder_attention = "Attention";
    /// Positions of so many tokens, called under `embed_positions`.
    value (*positions)(const site&, trace&, std::int64_t length, bool decodes) = nullptr;
    /// What else the layers of a stack read, made in front of them.
    void (*prepare)(const site&, trace&, bool decodes, shared_values& into) = nullptr;
    layer_part lengthen = nullptr;                ///< what stands behind an encoder's states in its layers, cut off at last
    stack_attention attend_in_encoder = nullptr;  ///< none: as BART
    stack_attention attend_in_decoder = nullptr;  ///< none: as BART
    stack_part encoder = nullptr;                 ///< none: as BART
};

/// Rates of BART and its relatives.
inline constexpr dropout_key stack_dropout[]{
    {dropout_of::hidden, "dropout", 0.1},      {dropout_of::attention, "attention_dropout"},
    {dropout_of::inner, "activation_dropout"}, {dropout_of::classifier, "classifier_dropout"},
    {dropout_of::drawn, "encoder_layerdrop"},  {dropout_of::drawn, "decoder_layerdrop"}};

/// A table of learned positions with so many rows in front of the first token's.
struct position_table : embedding {
    constexpr position_table(const site& here, std::int64_t ahead, literal named = "LearnedPositionalEmbedding")
        : embedding{here.dims.max_position_embeddings + ahead, here.dims.hidden_size, false, here.type(named), false, true} {
    }
};

/// Tokens that a stack looks up positions of, those of its cache included: more than its table has are refused.
constexpr void check_positions(const site& here, trace& t, std::int64_t length, bool decodes) {
    t.positions(here.dims.max_position_embeddings, decodes ? t.load().past + length : length);
}

/// BART's positions: looked up for every sequence in the encoder, once in the decoder; two rows more.
constexpr value learned_positions_after_two(const site& here, trace& t, std::int64_t length, bool decodes) {
    check_positions(here, t, length, decodes);
    const extents ids{decodes ? 1 : t.load().batch, length};
    return t.call("embed_positions", position_table{here, 2}, ids);
}

/// Positions looked up once for all sequences.
constexpr value learned_positions(const site& here, trace& t, std::int64_t length, bool decodes) {
    check_positions(here, t, length, decodes);
    return t.call("embed_positions", position_table{here, 0}, extents{length});
}

/// The same in a table of sines that nobody trains.
constexpr value frozen_positions(const site& here, trace& t, std::int64_t length, bool decodes) {
    check_positions(here, t, length, decodes);
    const recorder::no_grad_guard frozen{t};
    return t.call("embed_positions", position_table{here, 0, "SinusoidalPositionalEmbedding"}, extents{length});
}

/// The class of a table of words.
constexpr class_name words_type(const site& here, const stack_style& style) {
    return style.scale == word_scale::module ? here.type("ScaledWordEmbedding") : class_name{"", "Embedding"};
}

/// Words of a stack, whose table is the one in front of both where embeddings are tied.
constexpr value words_of_stack(const site& here, trace& t, const stack_style& style, std::int64_t rows, std::int64_t length,
                               bool shared) {
    const bool module = style.scale == word_scale::module;
    const embedding words{rows, here.dims.hidden_size, module, words_type(here, style), shared};
    return t.call("embed_tokens", words, extents{t.load().batch, length});
}

constexpr bool shares_words(const site& here, const stack_style& style) {
    return style.shares_words && here.dims.tie_word_embeddings && here.dims.head != head_kind::causal_lm;
}

constexpr value stack_norm(trace& t, literal name, const value& x) {
    return t.call(name, norm<norm_kind::layer>{x.dim(-1)}, x);
}

/// A module that attends by a family's own function.
struct own_stack_attention {
    const site& here;
    const stack_sizes& dims;
    stack_attention attend;
    class_name named;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr value describe(trace& t, const value& x, const value* source, const context& where, const value* mask) const {
        return attend(here, t, dims, x, source, where, mask);
    }
};
struct own_stack_cross_attention : own_stack_attention {
    static constexpr role what = role::cross_attn;
};

/// Attention and what stands around it.
constexpr value stack_attention_block(const site& here, trace& t, const stack_style& style, const stack_sizes& s,
                                      const value& x, const value* source, const context& where, const value* mask) {
    const literal name = source != nullptr ? "encoder_attn" : "self_attn";
    const literal norm_name = source != nullptr ? "encoder_attn_layer_norm" : "self_attn_layer_norm";
    const class_name named{s.prefix, s.decodes ? style.decoder_attention : style.encoder_attention};
    const stack_attention attend = s.decodes ? style.attend_in_decoder : style.attend_in_encoder;
    const value h = style.norm_first ? stack_norm(t, norm_name, x) : x;
    value out;
    if (attend != nullptr) {
        const own_stack_attention own{here, s, attend, named};
        out = source != nullptr ? t.call(name, own_stack_cross_attention{own}, h, source, where, mask)
                                : t.call(name, own, h, source, where, mask);
    } else {
        const std::int64_t d = s.width / s.heads;
        const bool bias = here.dims.attention_bias;
        const sequence_attention_sizes sizes{s.width, s.heads,  d,        bias,     s.decodes,
                                             named,   "q_proj", "k_proj", "v_proj", "out_proj"};
        value* const no_bias = nullptr;
        out = source != nullptr ? t.call(name, cross_attention{sizes}, h, *source, where, mask, no_bias)
                                : t.call(name, sequence_attention{sizes}, h, h, where, mask, no_bias);
    }
    const value sum = t.add(x, drop(t, out, dropout_of::hidden));
    return style.norm_first ? sum : stack_norm(t, norm_name, sum);
}

constexpr value stack_feed_forward(trace& t, bool norm_first, const stack_sizes& s, const value& x) {
    value h = norm_first ? stack_norm(t, "final_layer_norm", x) : x;
    h = t.call("activation_fn", activation_module{s.act}, t.call("fc1", linear{s.width, s.inner, true}, h));
    h = t.call("fc2", linear{s.inner, s.width, true}, drop(t, h, dropout_of::inner));
    const value sum = t.add(x, drop(t, h, dropout_of::hidden));
    return norm_first ? sum : stack_norm(t, "final_layer_norm", sum);
}

/// What all layers of a decoder read: the encoder's states, where there are any, and the mask.
struct decoder_reach {
    const value* encoded = nullptr;
    context where{};
    value mask{};
};

struct stack_layer {
    site here;
    const stack_style& style;
    const stack_sizes& dims;
    const decoder_reach* reach;  ///< none: an encoder's
    bool masked = true;          ///< a decoder's layers read the mask

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {dims.prefix, dims.decodes ? "DecoderLayer" : "EncoderLayer"}; }
    constexpr value describe(trace& t, const value& x) const {
        if (reach == nullptr) {
            const context all{.sequence = x.dim(1), .causal = false};
            const value h = stack_attention_block(here, t, style, dims, x, nullptr, all, nullptr);
            return stack_feed_forward(t, style.norm_first, dims, h);
        }
        value h = stack_attention_block(here, t, style, dims, x, nullptr, reach->where, masked ? &reach->mask : nullptr);
        if (reach->encoded != nullptr) {
            h = crossed(t, h, *reach->encoded);
        } else {
            const recorder::idle_guard no_encoder{t};
            (void)crossed(t, h, h);
        }
        return stack_feed_forward(t, style.norm_first, dims, h);
    }
    constexpr value crossed(trace& t, const value& x, const value& source) const {
        const context across{.sequence = source.dim(1), .causal = false};
        return stack_attention_block(here, t, style, dims, x, &source, across, nullptr);
    }
};

/// Sizes of each stack.
[[nodiscard]] constexpr stack_sizes encoder_stack_of(const site& here) {
    const encoder_sizes& e = here.dims.encoder;
    return {here.dims.hidden_size, e.num_attention_heads, e.intermediate_size, here.dims.hidden_act, here.row.prefix, false};
}
[[nodiscard]] constexpr stack_sizes decoder_stack_of(const site& here) {
    return {here.dims.hidden_size,
            here.dims.num_attention_heads,
            here.dims.intermediate_size,
            here.dims.hidden_act,
            here.row.prefix,
            true};
}

/// Words, positions, layers and norms of an encoder.
constexpr value describe_encoder_stack(const site& here, trace& t, const stack_style& style) {
    const std::int64_t length = encoder_length(t.load());
    value x = words_of_stack(here, t, style, here.dims.vocab_size, length, shares_words(here, style));
    if (style.scale == word_scale::stack || style.scale == word_scale::encoder_only) x = t.mul(x);
    x = t.add(x, style.positions(here, t, length, false));
    if (!is_empty(style.norm_embedding)) x = stack_norm(t, style.norm_embedding, x);
    x = drop(t, x, dropout_of::hidden);
    shared_values made;
    if (style.prepare != nullptr) style.prepare(here, t, false, made);
    if (style.lengthen != nullptr) x = style.lengthen(here, t, x);
    const stack_sizes dims = encoder_stack_of(here);
    for (repetition layer = t.repeat(here.dims.encoder.num_hidden_layers, x); layer.next();)
        x = t.call({"layers", layer.index()}, stack_layer{here.at(layer, made), style, dims, nullptr}, x);
    if (!is_empty(style.norm_last)) x = stack_norm(t, style.norm_last, x);
    return x.dim(1) == length ? x : t.slice(x, 1, length);
}

constexpr value describe_encoder_module(const site& here, trace& t, const stack_style& style) {
    const workload& load = t.load();
    const recorder::idle_guard done{t, encoder_is_done(load)};
    const module_info encoder{.name = "encoder", .type = here.type("Encoder"), .what = role::encoder};
    t.enter(encoder);
    const value x = t.leave(encoder, (style.encoder != nullptr ? style.encoder : describe_encoder_stack)(here, t, style));
    return encoder_is_done(load) ? t.input({load.batch, encoder_length(load), here.dims.hidden_size}) : x;
}

constexpr value describe_decoder_module(const site& here, trace& t, const stack_style& style, const value* encoded,
                                        std::int64_t rows) {
    const workload& load = t.load();
    const module_info decoder{.name = "decoder", .type = here.type(style.decoder_type), .what = role::decoder};
    t.enter(decoder);
    decoder_reach reach{.encoded = encoded, .where = context_of(t, 0)};
    value x = words_of_stack(here, t, style, rows, load.sequence, shares_words(here, style));
    if (style.scale == word_scale::stack) x = t.mul(x);
    // a mask of ones where none is given, the causal mask, positions: modeling_bart.py, `BartDecoder.forward`
    if (style.own_mask) (void)t.constant({load.batch, reach.where.length()});
    reach.mask = eager_mask(t, reach.where, load.batch);
    const value places = style.positions(here, t, load.sequence, true);
    if (style.norm_words_only) x = stack_norm(t, style.norm_embedding, x);
    x = t.add(x, places);
    if (!style.norm_words_only && !is_empty(style.norm_embedding)) x = stack_norm(t, style.norm_embedding, x);
    x = drop(t, x, dropout_of::hidden);
    shared_values made;
    if (style.prepare != nullptr) style.prepare(here, t, true, made);
    const stack_sizes dims = decoder_stack_of(here);
    for (repetition layer = t.repeat(here.dims.num_hidden_layers, x); layer.next();)
        x = t.call({"layers", layer.index()}, stack_layer{here.at(layer, made), style, dims, &reach}, x);
    return t.leave(decoder, is_empty(style.norm_last) ? x : stack_norm(t, style.norm_last, x));
}

/// Both stacks behind the table of words that they share, or each with words of its own.
constexpr value describe_both_stacks(const site& here, trace& t, const stack_style& style, std::int64_t rows_of_decoder) {
    {
        const recorder::idle_guard unread{t, !here.dims.tie_word_embeddings};
        embedding{here.dims.vocab_size, here.dims.hidden_size, false, words_type(here, style)}.declare(t, "shared");
    }
    const value encoded = describe_encoder_module(here, t, style);
    return describe_decoder_module(here, t, style, &encoded, rows_of_decoder);
}
constexpr value describe_both_stacks(const site& here, trace& t, const stack_style& style) {
    return describe_both_stacks(here, t, style, here.dims.vocab_size);
}

/// Scores of words, to which a buffer may be added.
constexpr value describe_word_scores(const site& here, trace& t, const value& x, std::int64_t rows, bool biased,
                                     literal name = "lm_head") {
    const value kept = t.load().head == logits::last ? t.slice(x, 1, 1) : x;
    const linear head{here.dims.hidden_size, rows, false, here.dims.tie_word_embeddings};
    const value scores = t.call(name, head_linear{head}, kept);
    if (!biased) return scores;
    t.owns_buffer(count(static_cast<std::uint64_t>(rows)) * count(bits_of(t.activation_type()) / 8));
    return t.add(scores, trace::buffer({1, rows}));
}

constexpr value describe_stack_head(const site& here, trace& t, const stack_style& style, const value& x) {
    const recorder::idle_guard unused{t, t.load().head == logits::none};
    if (here.dims.head == head_kind::question_answering) return answer_scores(t, x);
    if (here.dims.head == head_kind::sequence_classification) {
        const classification_head labels{here.dims.hidden_size, here.dims.num_labels, here.type("ClassificationHead")};
        return t.call("classification_head", labels, state_of_end(t, x));
    }
    const bool biased = here.dims.head != head_kind::causal_lm && style.logits_bias;
    return describe_word_scores(here, t, x, here.dims.vocab_size, biased);
}

/// An encoder-decoder, bare or under its head, or its decoder as a language model.
///
/// The language model is given no encoder's states, so that its cross attention is parameters only.
constexpr value describe_stacks(const site& here, trace& t, const stack_style& style) {
    const class_name type = here.type("Model");
    const module_info bare{.type = type};
    if (here.dims.head == head_kind::none) {
        t.enter(bare);
        return t.leave(bare, describe_both_stacks(here, t, style));
    }
    const bool alone = here.dims.head == head_kind::causal_lm, writes = here.dims.head == head_kind::conditional_generation;
    const module_info whole{.type = {here.row.prefix, writes ? style.conditional_type : name_of(here.dims.head)}};
    const module_info base{.name = "model", .type = alone ? here.type("DecoderWrapper") : type};
    t.enter(whole);
    t.enter(base);
    const value x = t.leave(base, alone ? describe_decoder_module(here, t, style, nullptr, here.dims.vocab_size)
                                        : describe_both_stacks(here, t, style));
    return t.leave(whole, t.returns(x, describe_stack_head(here, t, style, x)));
}

}  // namespace llmcost
