// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/encoder_decoder.hpp>
#include <llmcost/reader.hpp>

namespace llmcost::arch {

namespace bart_detail {

/// Learned positions, looked up for every sequence (encoder) or once (decoder); the table has two rows more.
struct position_table : embedding {
    constexpr position_table(const shape& dims, string_ref prefix)
        : embedding{dims.max_position_embeddings + 2, dims.hidden_size, false, {prefix, "LearnedPositionalEmbedding"}, false} {}
};

/// Sizes of the encoder's or the decoder's stack.
struct stack_shape {
    std::int64_t width;
    std::int64_t heads;
    std::int64_t inner;
    activation act;
    string_ref prefix;
};

template <role What>
constexpr sequence_attention<What> attention_of(const stack_shape& s, bool caches) {
    return {{s.width, s.heads, s.width / s.heads, true, caches, {s.prefix, "Attention"}, "q_proj", "k_proj", "v_proj", "out_proj"}};
}

constexpr value normed(trace& t, string_ref name, const value& x) {
    return t.call(name, norm<norm_kind::layer>{x.dim(-1)}, x);
}

constexpr value feed_forward(trace& t, const stack_shape& s, const value& x) {
    const value h = t.call("activation_fn", activation_module{s.act}, t.call("fc1", linear{s.width, s.inner, true}, x));
    return normed(t, "final_layer_norm", t.add(x, t.call("fc2", linear{s.inner, s.width, true}, h)));
}

/// A post-norm encoder layer.
struct encoder_layer {
    stack_shape dims;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {dims.prefix, "EncoderLayer"}; }
    constexpr value describe(trace& t, const value& x) const {
        const context all{.sequence = x.dim(1), .causal = false};
        const value h = t.call("self_attn", attention_of<role::attn>(dims, false), x, x, all, static_cast<const value*>(nullptr));
        return feed_forward(t, dims, normed(t, "self_attn_layer_norm", t.add(x, h)));
    }
};

/// A post-norm decoder layer with attention to the encoder's states.
struct decoder_layer {
    stack_shape dims;
    const value& encoded;
    const context& where;
    const value& mask;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {dims.prefix, "DecoderLayer"}; }
    constexpr value describe(trace& t, const value& x) const {
        const context across{.sequence = encoded.dim(1), .causal = false};
        value h = t.call("self_attn", attention_of<role::attn>(dims, true), x, x, where, &mask);
        const value own = normed(t, "self_attn_layer_norm", t.add(x, h));
        h = t.call("encoder_attn", attention_of<role::cross_attn>(dims, true), own, encoded, across,
                   static_cast<const value*>(nullptr));
        return feed_forward(t, dims, normed(t, "encoder_attn_layer_norm", t.add(own, h)));
    }
};

constexpr value embed(trace& t, const shape& dims, string_ref prefix, std::int64_t batch, std::int64_t sequence,
                      std::int64_t position_batch) {
    const embedding words{dims.vocab_size, dims.hidden_size, true, {prefix, "ScaledWordEmbedding"}, true};
    const value x = t.call("embed_tokens", words, extents{batch, sequence});
    t.positions(dims.max_position_embeddings, sequence);
    const value places = t.call("embed_positions", position_table{dims, prefix}, extents{position_batch, sequence});
    return normed(t, "layernorm_embedding", t.add(x, places));
}

constexpr value describe_encoder(const architecture& row, const shape& dims, trace& t) {
    const workload& load = t.load();
    const std::int64_t length = encoder_length(load);
    const recorder::idle_guard done{t, encoder_is_done(load)};
    const value out = t.within({.name = "encoder", .type = {row.prefix, "Encoder"}, .what = role::encoder}, [&] {
        value x = embed(t, dims, row.prefix, load.batch, length, load.batch);
        const encoder_shape& e = dims.encoder;
        const stack_shape stack{dims.hidden_size, e.num_attention_heads, e.intermediate_size, dims.hidden_act, row.prefix};
        for (repetition layer = t.repeat(e.num_hidden_layers, x); layer.next();)
            x = t.call({"layers", layer.index()}, encoder_layer{stack}, x);
        return x;
    });
    return encoder_is_done(load) ? t.input({load.batch, length, dims.hidden_size}) : out;
}

constexpr value describe_decoder(const architecture& row, const shape& dims, trace& t, const value& encoded) {
    const workload& load = t.load();
    return t.within({.name = "decoder", .type = {row.prefix, "Decoder"}, .what = role::decoder}, [&] {
        const context where = context_of(t, 0);
        // words, a mask of ones where none is given, the causal mask, positions: modeling_bart.py, `BartDecoder.forward`
        const embedding words{dims.vocab_size, dims.hidden_size, true, {row.prefix, "ScaledWordEmbedding"}, true};
        value x = t.call("embed_tokens", words, extents{load.batch, load.sequence});
        (void)t.constant({load.batch, where.length()});
        const value mask = eager_mask(t, where, load.batch);
        t.positions(dims.max_position_embeddings, where.length());
        const value places = t.call("embed_positions", position_table{dims, row.prefix}, extents{1, load.sequence});
        x = normed(t, "layernorm_embedding", t.add(x, places));
        const stack_shape stack{dims.hidden_size, dims.num_attention_heads, dims.intermediate_size, dims.hidden_act, row.prefix};
        for (repetition layer = t.repeat(dims.num_hidden_layers, x); layer.next();)
            x = t.call({"layers", layer.index()}, decoder_layer{stack, encoded, where, mask}, x);
        return x;
    });
}

}  // namespace bart_detail

/// An encoder-decoder with learned positions and post-norms, bare or under its language head.
///
/// Source: transformers/models/bart/modeling_bart.py.
constexpr void describe_bart(const architecture& row, const shape& dims, trace& t) {
    const auto base = [&] {
        {
            const recorder::idle_guard unused{t};  // both stacks have embeddings of their own, tied to this one
            const embedding words{dims.vocab_size, dims.hidden_size, true, {row.prefix, "ScaledWordEmbedding"}};
            (void)t.call("shared", words, extents{1, 1});
        }
        const value encoded = bart_detail::describe_encoder(row, dims, t);
        return bart_detail::describe_decoder(row, dims, t, encoded);
    };
    const class_name type{row.prefix, "Model"};
    if (dims.head == head_kind::none) {
        t.within({.type = type}, base);
        return;
    }
    t.within({.type = {row.prefix, name_of(dims.head)}}, [&] {
        const value x = t.within({.name = "model", .type = type}, base);
        const recorder::idle_guard unused{t, t.load().head == logits::none};
        const value kept = t.load().head == logits::last ? x.slice(1, 1) : x;
        const linear head{dims.hidden_size, dims.vocab_size, false, dims.tie_word_embeddings};
        return t.add(t.call("lm_head", head_linear{head}, kept), trace::buffer({1, dims.vocab_size}));
    });
}

constexpr void read_bart(config_view config, shape& s) {
    s.encoder = {config.non_negative("encoder_layers", 12), config.positive("encoder_attention_heads", 16),
                 config.positive("encoder_ffn_dim", 4096)};
    s.num_hidden_layers = config.non_negative("decoder_layers", 12);
    s.num_attention_heads = s.num_key_value_heads = config.positive("decoder_attention_heads", 16);
    s.intermediate_size = config.positive("decoder_ffn_dim", 4096);
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
    .heads = {head_kind::none, head_kind::conditional_generation},
    .keys = {{"hidden_size", "d_model"},
              {"num_attention_heads", "encoder_attention_heads"},
              {"num_hidden_layers", "encoder_layers"},
              {"hidden_act", "activation_function"}},
    .defaults = {.vocab_size = 50265,
                 .hidden_size = 1024,
                 .num_hidden_layers = 12,
                 .num_attention_heads = 16,
                 .max_position_embeddings = 1024,
                 .hidden_act = activation::gelu,
                 .tie_word_embeddings = true},
};

}  // namespace llmcost::arch
