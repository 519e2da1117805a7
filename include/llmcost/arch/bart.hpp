// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/layers/heads.hpp>
#include <llmcost/reading/reader.hpp>
#include <llmcost/walks/encoder_decoder.hpp>

namespace llmcost::arch {

namespace bart_detail {

/// Learned positions, looked up for every sequence (encoder) or once (decoder); the table has two rows more.
struct position_table : embedding {
    constexpr position_table(const sizes& dims, literal prefix)
        : embedding{
              dims.max_position_embeddings + 2, dims.hidden_size, false, {prefix, "LearnedPositionalEmbedding"}, false} {}
};

/// Sizes of the encoder's or the decoder's stack.
struct stack_sizes {
    std::int64_t width;
    std::int64_t heads;
    std::int64_t inner;
    activation act;
    literal prefix;
};

/// Words of a stack, whose table is the one in front of both where embeddings are tied.
constexpr embedding words_of(const site& here) {
    const sizes& dims = here.dims;
    const bool shared = dims.tie_word_embeddings && dims.head != head_kind::causal_lm;
    return {dims.vocab_size, dims.hidden_size, true, here.type("ScaledWordEmbedding"), shared};
}

constexpr sequence_attention_sizes attention_of(const stack_sizes& s, bool caches) {
    const std::int64_t d = s.width / s.heads;
    return {s.width, s.heads, d, true, caches, {s.prefix, "Attention"}, "q_proj", "k_proj", "v_proj", "out_proj"};
}

constexpr value normed(trace& t, literal name, const value& x) { return t.call(name, norm<norm_kind::layer>{x.dim(-1)}, x); }

/// Attention of x over itself; in an encoder there is no mask.
constexpr value attend(trace& t, const stack_sizes& s, bool caches, const value& x, const context& where,
                       const value* mask) {
    const sequence_attention layer{attention_of(s, caches)};
    value* const no_bias = nullptr;
    return normed(t, "self_attn_layer_norm", t.add(x, t.call("self_attn", layer, x, x, where, mask, no_bias)));
}

constexpr value feed_forward(trace& t, const stack_sizes& s, const value& x) {
    const value h = t.call("activation_fn", activation_module{s.act}, t.call("fc1", linear{s.width, s.inner, true}, x));
    return normed(t, "final_layer_norm", t.add(x, t.call("fc2", linear{s.inner, s.width, true}, h)));
}

/// A post-norm encoder layer.
struct encoder_layer {
    stack_sizes dims;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {dims.prefix, "EncoderLayer"}; }
    constexpr value describe(trace& t, const value& x) const {
        const context all{.sequence = x.dim(1), .causal = false};
        return feed_forward(t, dims, attend(t, dims, false, x, all, nullptr));
    }
};

/// A post-norm decoder layer with attention to the encoder's states, which is not called where there are none.
struct decoder_layer {
    stack_sizes dims;
    const value* encoded;
    const context& where;
    const value& mask;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {dims.prefix, "DecoderLayer"}; }
    constexpr value describe(trace& t, const value& x) const {
        const value own = attend(t, dims, true, x, where, &mask);
        if (encoded != nullptr) return feed_forward(t, dims, crossed(t, own, *encoded));
        {
            const recorder::idle_guard no_encoder{t};
            (void)crossed(t, own, own);
        }
        return feed_forward(t, dims, own);
    }
    constexpr value crossed(trace& t, const value& x, const value& source) const {
        const context across{.sequence = source.dim(1), .causal = false};
        const cross_attention layer{attention_of(dims, true)};
        const value* const no_mask = nullptr;
        value* const no_bias = nullptr;
        const value h = t.call("encoder_attn", layer, x, source, across, no_mask, no_bias);
        return normed(t, "encoder_attn_layer_norm", t.add(x, h));
    }
};

constexpr value describe_encoder(const site& here, trace& t) {
    const workload& load = t.load();
    const std::int64_t length = encoder_length(load);
    const recorder::idle_guard done{t, encoder_is_done(load)};
    const module_info encoder{.name = "encoder", .type = here.type("Encoder"), .what = role::encoder};
    t.enter(encoder);
    value x = t.call("embed_tokens", words_of(here), extents{load.batch, length});
    t.positions(here.dims.max_position_embeddings, length);
    x = t.add(x, t.call("embed_positions", position_table{here.dims, here.row.prefix}, extents{load.batch, length}));
    x = normed(t, "layernorm_embedding", x);
    const encoder_sizes& e = here.dims.encoder;
    const stack_sizes stack{here.dims.hidden_size, e.num_attention_heads, e.intermediate_size, here.dims.hidden_act,
                            here.row.prefix};
    for (repetition layer = t.repeat(e.num_hidden_layers, x); layer.next();)
        x = t.call({"layers", layer.index()}, encoder_layer{stack}, x);
    t.leave(encoder);
    return encoder_is_done(load) ? t.input({load.batch, length, here.dims.hidden_size}) : x;
}

constexpr value describe_decoder_stack(const site& here, trace& t, const value* encoded) {
    const workload& load = t.load();
    const module_info decoder{.name = "decoder", .type = here.type("Decoder"), .what = role::decoder};
    t.enter(decoder);
    const context where = context_of(t, 0);
    // words, a mask of ones where none is given, the causal mask, positions: modeling_bart.py, `BartDecoder.forward`
    value x = t.call("embed_tokens", words_of(here), extents{load.batch, load.sequence});
    (void)t.constant({load.batch, where.length()});
    const value mask = eager_mask(t, where, load.batch);
    t.positions(here.dims.max_position_embeddings, where.length());
    const value places = t.call("embed_positions", position_table{here.dims, here.row.prefix}, extents{1, load.sequence});
    x = normed(t, "layernorm_embedding", t.add(x, places));
    const stack_sizes stack{here.dims.hidden_size, here.dims.num_attention_heads, here.dims.intermediate_size,
                            here.dims.hidden_act, here.row.prefix};
    for (repetition layer = t.repeat(here.dims.num_hidden_layers, x); layer.next();)
        x = t.call({"layers", layer.index()}, decoder_layer{stack, encoded, where, mask}, x);
    return t.leave(decoder, x);
}

constexpr value describe_both(const site& here, trace& t) {
    {
        const recorder::idle_guard unread{t,
                                          !here.dims.tie_word_embeddings};  // each stack has words of its own, tied or not
        const embedding words{here.dims.vocab_size, here.dims.hidden_size, true, here.type("ScaledWordEmbedding")};
        words.declare(t, "shared");
    }
    const value encoded = describe_encoder(here, t);
    return describe_decoder_stack(here, t, &encoded);
}

constexpr value describe_decoder_alone(const site& here, trace& t) { return describe_decoder_stack(here, t, nullptr); }

constexpr value describe_head(const site& here, trace& t, const value& x) {
    const recorder::idle_guard unused{t, t.load().head == logits::none};
    if (here.dims.head == head_kind::question_answering) return answer_scores(t, x);
    if (here.dims.head == head_kind::sequence_classification) {
        const classification_head labels{here.dims.hidden_size, here.dims.num_labels, here.type("ClassificationHead")};
        return t.call("classification_head", labels, state_of_end(t, x));
    }
    const value kept = t.load().head == logits::last ? t.slice(x, 1, 1) : x;
    const linear head{here.dims.hidden_size, here.dims.vocab_size, false, here.dims.tie_word_embeddings};
    const value scores = t.call("lm_head", head_linear{head}, kept);
    return here.dims.head == head_kind::causal_lm ? scores : t.add(scores, trace::buffer({1, here.dims.vocab_size}));
}

}  // namespace bart_detail

/// An encoder-decoder with learned positions and post-norms, bare or under its head, or its decoder as a language model.
///
/// The language model is given no encoder's states, so that its cross attention is parameters only.
/// Source: transformers/models/bart/modeling_bart.py.
constexpr value describe_bart(const site& here, trace& t) {
    const class_name type = here.type("Model");
    if (here.dims.head == head_kind::none) return describe_within({.type = type}, bart_detail::describe_both, here, t);
    const bool alone = here.dims.head == head_kind::causal_lm;
    const module_info whole{.type = {here.row.prefix, name_of(here.dims.head)}};
    t.enter(whole);
    const module_info base{.name = "model", .type = alone ? here.type("DecoderWrapper") : type};
    const source_part part = alone ? bart_detail::describe_decoder_alone : bart_detail::describe_both;
    const value x = describe_within(base, part, here, t);
    return t.leave(whole, t.returns(x, bart_detail::describe_head(here, t, x)));
}

constexpr void read_bart(config_view config, sizes& s) {
    s.encoder = {s.num_hidden_layers, s.num_attention_heads, config.positive("encoder_ffn_dim", 4096)};
    s.num_hidden_layers = config.positive("decoder_layers", 12);  // of none, the cache would forget how much it has seen
    s.num_attention_heads = s.num_key_value_heads = config.positive("decoder_attention_heads", 16);
    s.intermediate_size = config.positive("decoder_ffn_dim", 4096);
    // configuration_bart.py: `attribute_map` makes num_hidden_layers, which the cache reads, those of the encoder
    if (s.head == head_kind::causal_lm && s.num_hidden_layers > s.encoder.num_hidden_layers)
        fail_unsupported(config, "decoder_layers", "the cache of this class has as many layers as the encoder, too few");
    for (const std::int64_t heads : {s.encoder.num_attention_heads, s.num_attention_heads})
        if (s.hidden_size % heads != 0) fail_value(config, "d_model", "a multiple of the number of attention heads");
}

// transformers/models/bart: configuration_bart.py, modeling_bart.py
inline constexpr architecture bart{
    .model_type = "bart",
    .prefix = "Bart",
    .describe = describe_bart,
    .read = read_bart,
    .rotated = rotation::none,
    .heads = {head_kind::none, head_kind::causal_lm, head_kind::conditional_generation, head_kind::sequence_classification,
              head_kind::question_answering},
    .keys = {{"hidden_size", "d_model", key_rule::standard_first},
             {"num_attention_heads", "encoder_attention_heads", key_rule::standard_first},
             {"num_hidden_layers", "encoder_layers", key_rule::standard_first},
             {"hidden_act", "activation_function", key_rule::written_only}},
    .defaults = {.vocab_size = 50265,
                 .hidden_size = 1024,
                 .num_hidden_layers = 12,
                 .num_attention_heads = 16,
                 .max_position_embeddings = 1024,
                 .num_labels = 3,
                 .hidden_act = activation::gelu,
                 .tie_word_embeddings = true},
};

}  // namespace llmcost::arch
