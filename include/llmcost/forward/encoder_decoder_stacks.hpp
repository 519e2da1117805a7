// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/forward/encoder_decoder.hpp>
#include <llmcost/layers/heads.hpp>

// Encoder-decoders with absolute position embeddings (BART and derived families).
namespace llmcost {

/// Sizes of the encoder stack or the decoder stack.
struct stack_sizes {
    std::int64_t width;
    std::int64_t heads;
    std::int64_t inner;
    activation act;
    literal prefix;
    bool decodes;
};

/// The place where token embeddings are multiplied by a constant.
enum class embedding_scaling : std::uint8_t {
    module,        ///< the embedding module, a class of the family
    stack,         ///< encoder and decoder
    encoder_only,  ///< the encoder
    none
};

struct stack_style;

/// Family-specific attention inside its module. `source`: encoder states for cross-attention, null for self-attention.
using stack_attention = tensor (*)(const layer_context&, trace&, const stack_sizes&, const tensor& x,
                                   const tensor* source, const attention_pattern&, const tensor* mask);
/// Family-specific encoder stack.
using stack_part = tensor (*)(const layer_context&, trace&, const stack_style&);

/// Differences between a family and BART.
struct stack_style {
    bool norm_first = false;                         ///< pre-norm instead of post-norm
    literal norm_embedding = "layernorm_embedding";  ///< norm of token plus position embeddings; empty: none
    literal norm_last = "";                          ///< norm after the last layer; empty: none
    bool has_token_only_norm = false;    ///< the decoder normalizes token embeddings before adding positions
    bool has_ones_mask = true;           ///< the decoder creates a mask of ones if none is given
    bool uses_shared_embeddings = true;  ///< both stacks share an embedding table if embeddings are tied
    bool logits_bias = true;             ///< logits have a bias, which is a buffer
    embedding_scaling scale = embedding_scaling::module;
    literal conditional_type = "ForConditionalGeneration";
    literal decoder_type = "Decoder";
    literal encoder_attention = "Attention";
    literal decoder_attention = "Attention";
    /// Position embeddings of `length` tokens. The module name is `embed_positions`.
    tensor (*positions)(const layer_context&, trace&, std::int64_t length, bool decodes) = nullptr;
    /// Computes additional inputs of the layers before the first layer. Null: none.
    void (*prepare)(const layer_context&, trace&, bool decodes, attention_inputs& into) = nullptr;
    layer_forward_function lengthen =
        /// appends tokens to the encoder states before the layers; they are removed after the last layer; null: none
        nullptr;
    stack_attention attend_in_encoder = nullptr;  ///< null: as in BART
    stack_attention attend_in_decoder = nullptr;  ///< null: as in BART
    stack_part encoder = nullptr;                 ///< null: as in BART
};

/// Dropout rates of BART and derived families.
inline constexpr dropout_key stack_dropout[]{
    {dropout_position::hidden, "dropout", 0.1},          {dropout_position::attention, "attention_dropout"},
    {dropout_position::mlp, "activation_dropout"},       {dropout_position::classifier, "classifier_dropout"},
    {dropout_position::stochastic, "encoder_layerdrop"}, {dropout_position::stochastic, "decoder_layerdrop"}};

/// Learned position embeddings with `ahead` additional entries at the start.
struct position_table : embedding {
    constexpr position_table(const layer_context& ctx, std::int64_t ahead, literal named = "LearnedPositionalEmbedding")
        : embedding{ctx.config.max_position_embeddings + ahead,
                    ctx.config.hidden_size,
                    false,
                    ctx.class_of(named),
                    false,
                    true} {}
};

/// Checks that a stack has enough position embeddings. A decoder's length includes cached tokens.
constexpr void check_positions(const layer_context& ctx, trace& t, std::int64_t length, bool decodes) {
    t.check_positions(ctx.config.max_position_embeddings, decodes ? t.load().past + length : length);
}

/// Position embeddings of BART, with two additional entries. The encoder looks them up per sequence, the decoder once.
constexpr tensor learned_positions_after_two(const layer_context& ctx, trace& t, std::int64_t length, bool decodes) {
    check_positions(ctx, t, length, decodes);
    const shape ids{decodes ? 1 : t.load().batch, length};
    return t.call("embed_positions", position_table{ctx, 2}, ids);
}

/// Learned position embeddings, looked up once for all sequences: (length, width).
constexpr tensor learned_positions(const layer_context& ctx, trace& t, std::int64_t length, bool decodes) {
    check_positions(ctx, t, length, decodes);
    return t.call("embed_positions", position_table{ctx, 0}, shape{length});
}

/// Sinusoidal position embeddings without gradients, looked up once for all sequences: (length, width).
constexpr tensor frozen_positions(const layer_context& ctx, trace& t, std::int64_t length, bool decodes) {
    check_positions(ctx, t, length, decodes);
    position_table table{ctx, 0, "SinusoidalPositionalEmbedding"};
    table.is_frozen = true;
    return t.call("embed_positions", table, shape{length});
}

/// Class name of the token embedding module.
constexpr class_name embedding_class_of(const layer_context& ctx, const stack_style& style) {
    return style.scale == embedding_scaling::module ? ctx.class_of("ScaledWordEmbedding") : class_name{"", "Embedding"};
}

/// Token embeddings of a stack: (B, length, width). With `shared`, the table is tied to that of both stacks.
constexpr tensor embed_stack_tokens(const layer_context& ctx, trace& t, const stack_style& style, std::int64_t rows,
                                    std::int64_t length, bool shared) {
    const bool module = style.scale == embedding_scaling::module;
    const embedding token_embedding{rows, ctx.config.hidden_size, module, embedding_class_of(ctx, style), shared};
    return t.call("embed_tokens", token_embedding, shape{t.load().batch, length});
}

constexpr bool has_shared_embeddings(const layer_context& ctx, const stack_style& style) {
    return style.uses_shared_embeddings && ctx.config.tie_word_embeddings && ctx.config.head != head_kind::causal_lm;
}

constexpr tensor stack_norm(trace& t, literal name, const tensor& x) {
    return t.call(name, norm_module{norm_kind::layer, x.dim(-1)}, x);
}

/// A module that calls a family-specific attention function.
struct custom_stack_attention {
    const layer_context& ctx;
    const stack_sizes& config;
    stack_attention attend;
    class_name named;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, const tensor& x, const tensor* source, const attention_pattern& pattern,
                             const tensor* mask) const {
        return attend(ctx, t, config, x, source, pattern, mask);
    }
};
struct custom_stack_cross_attention : custom_stack_attention {
    static constexpr role module_role = role::cross_attn;
};

/// Attention with residual and norm: (B, S, width) -> (B, S, width).
constexpr tensor stack_attention_block(const layer_context& ctx, trace& t, const stack_style& style,
                                       const stack_sizes& s, const tensor& x, const tensor* source,
                                       const attention_pattern& pattern, const tensor* mask) {
    const literal name = source != nullptr ? "encoder_attn" : "self_attn";
    const literal norm_name = source != nullptr ? "encoder_attn_layer_norm" : "self_attn_layer_norm";
    const class_name named{s.prefix, s.decodes ? style.decoder_attention : style.encoder_attention};
    const stack_attention attend = s.decodes ? style.attend_in_decoder : style.attend_in_encoder;
    const tensor h = style.norm_first ? stack_norm(t, norm_name, x) : x;
    tensor out;
    if (attend != nullptr) {
        const custom_stack_attention custom_attention{ctx, s, attend, named};
        out = source != nullptr ? t.call(name, custom_stack_cross_attention{custom_attention}, h, source, pattern, mask)
                                : t.call(name, custom_attention, h, source, pattern, mask);
    } else {
        const std::int64_t d = s.width / s.heads;
        const bool bias = ctx.config.attention_bias;
        const sequence_attention_sizes sizes{s.width, s.heads,  d,        bias,     s.decodes,
                                             named,   "q_proj", "k_proj", "v_proj", "out_proj"};
        tensor* const no_bias = nullptr;
        out = source != nullptr ? t.call(name, cross_attention{sizes}, h, *source, pattern, mask, no_bias)
                                : t.call(name, sequence_attention{sizes}, h, h, pattern, mask, no_bias);
    }
    const tensor sum = t.add(x, functional_dropout(t, out, dropout_position::hidden));
    return style.norm_first ? sum : stack_norm(t, norm_name, sum);
}

constexpr tensor stack_mlp(trace& t, bool norm_first, const stack_sizes& s, const tensor& x) {
    tensor h = norm_first ? stack_norm(t, "final_layer_norm", x) : x;
    h = t.call("fc1", mlp_child<linear>{{s.width, s.inner, true}}, h);
    h = t.call("activation_fn", mlp_child<activation_module>{{s.act}}, h);
    h = t.call("fc2", last_mlp_child<linear>{{s.inner, s.width, true}},
               functional_dropout(t, h, dropout_position::mlp));
    const tensor sum = t.add(x, functional_dropout(t, h, dropout_position::hidden));
    return norm_first ? sum : stack_norm(t, "final_layer_norm", sum);
}

/// Inputs of all decoder layers: encoder states (null: none), attention pattern and mask.
struct decoder_reach {
    const tensor* encoded = nullptr;
    attention_pattern pattern{};
    tensor mask{};
};

struct stack_layer {
    layer_context ctx;
    const stack_style& style;
    const stack_sizes& config;
    const decoder_reach* reach;  ///< null in an encoder
    bool masked = true;          ///< the layers of a decoder use the mask

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const {
        return {config.prefix, config.decodes ? "DecoderLayer" : "EncoderLayer"};
    }
    constexpr tensor forward(trace& t, const tensor& x) const {
        if (reach == nullptr) {
            const attention_pattern all{.query_length = x.dim(1), .is_causal = false};
            const tensor h = stack_attention_block(ctx, t, style, config, x, nullptr, all, nullptr);
            return stack_mlp(t, style.norm_first, config, h);
        }
        tensor h =
            stack_attention_block(ctx, t, style, config, x, nullptr, reach->pattern, masked ? &reach->mask : nullptr);
        if (reach->encoded != nullptr) {
            h = crossed(t, h, *reach->encoded);
        } else {
            const recorder::not_executed_guard no_encoder{t};
            (void)crossed(t, h, h);
        }
        return stack_mlp(t, style.norm_first, config, h);
    }
    constexpr tensor crossed(trace& t, const tensor& x, const tensor& source) const {
        const attention_pattern cross_pattern{.query_length = source.dim(1), .is_causal = false};
        return stack_attention_block(ctx, t, style, config, x, &source, cross_pattern, nullptr);
    }
};

/// Sizes of the encoder stack.
[[nodiscard]] constexpr stack_sizes encoder_stack_of(const layer_context& ctx) {
    const encoder_config& e = ctx.config.encoder;
    return {ctx.config.hidden_size, e.num_attention_heads, e.intermediate_size,
            ctx.config.hidden_act,  ctx.spec.class_prefix, false};
}
[[nodiscard]] constexpr stack_sizes decoder_stack_of(const layer_context& ctx) {
    return {ctx.config.hidden_size, ctx.config.num_attention_heads, ctx.config.intermediate_size,
            ctx.config.hidden_act,  ctx.spec.class_prefix,          true};
}

/// Encoder stack: token and position embeddings, layers, norms. Returns (B, encoder length, width).
constexpr tensor forward_encoder_stack(const layer_context& ctx, trace& t, const stack_style& style) {
    const std::int64_t length = encoder_length(t.load());
    tensor x = embed_stack_tokens(ctx, t, style, ctx.config.vocab_size, length, has_shared_embeddings(ctx, style));
    if (style.scale == embedding_scaling::stack || style.scale == embedding_scaling::encoder_only) x = t.mul_scalar(x);
    x = t.add(x, style.positions(ctx, t, length, false));
    if (!is_empty(style.norm_embedding)) x = stack_norm(t, style.norm_embedding, x);
    x = functional_dropout(t, x, dropout_position::hidden);
    attention_inputs inputs;
    if (style.prepare != nullptr) style.prepare(ctx, t, false, inputs);
    if (style.lengthen != nullptr) x = style.lengthen(ctx, t, x);
    const stack_sizes config = encoder_stack_of(ctx);
    for (loop layer = t.loop_modules(ctx.config.encoder.num_hidden_layers, x); layer.next();)
        x = t.call({"layers", layer.index()}, stack_layer{ctx.for_layer(layer, inputs), style, config, nullptr}, x);
    if (!is_empty(style.norm_last)) x = stack_norm(t, style.norm_last, x);
    return x.dim(1) == length ? x : t.slice(x, 1, length);
}

constexpr tensor forward_encoder_module(const layer_context& ctx, trace& t, const stack_style& style) {
    const workload& load = t.load();
    const recorder::not_executed_guard done{t, is_encoder_cached(load)};
    const module_info encoder{
        .name = "encoder", .class_of_module = ctx.class_of("Encoder"), .module_role = role::encoder};
    t.enter(encoder);
    const tensor x =
        t.leave(encoder, (style.encoder != nullptr ? style.encoder : forward_encoder_stack)(ctx, t, style));
    return is_encoder_cached(load) ? t.input({load.batch, encoder_length(load), ctx.config.hidden_size}) : x;
}

constexpr tensor forward_decoder_module(const layer_context& ctx, trace& t, const stack_style& style,
                                        const tensor* encoded, std::int64_t rows) {
    const workload& load = t.load();
    const module_info decoder{
        .name = "decoder", .class_of_module = ctx.class_of(style.decoder_type), .module_role = role::decoder};
    t.enter(decoder);
    decoder_reach reach{.encoded = encoded, .pattern = attention_pattern_of(t, 0)};
    tensor x = embed_stack_tokens(ctx, t, style, rows, load.sequence, has_shared_embeddings(ctx, style));
    if (style.scale == embedding_scaling::stack) x = t.mul_scalar(x);
    // modeling_bart.py, `BartDecoder.forward`: default mask of ones, causal mask, positions.
    if (style.has_ones_mask) (void)t.full({load.batch, reach.pattern.key_length()});
    reach.mask = eager_mask(t, reach.pattern, load.batch);
    const tensor places = style.positions(ctx, t, load.sequence, true);
    if (style.has_token_only_norm) x = stack_norm(t, style.norm_embedding, x);
    x = t.add(x, places);
    if (!style.has_token_only_norm && !is_empty(style.norm_embedding)) x = stack_norm(t, style.norm_embedding, x);
    x = functional_dropout(t, x, dropout_position::hidden);
    attention_inputs inputs;
    if (style.prepare != nullptr) style.prepare(ctx, t, true, inputs);
    const stack_sizes config = decoder_stack_of(ctx);
    for (loop layer = t.loop_modules(ctx.config.num_hidden_layers, x); layer.next();)
        x = t.call({"layers", layer.index()}, stack_layer{ctx.for_layer(layer, inputs), style, config, &reach}, x);
    return t.leave(decoder, is_empty(style.norm_last) ? x : stack_norm(t, style.norm_last, x));
}

/// Encoder and decoder with a shared token embedding table, or with one table each.
constexpr tensor forward_encoder_decoder(const layer_context& ctx, trace& t, const stack_style& style,
                                         std::int64_t rows_of_decoder) {
    {
        const recorder::not_executed_guard unread{t, !ctx.config.tie_word_embeddings};
        embedding{ctx.config.vocab_size, ctx.config.hidden_size, false, embedding_class_of(ctx, style)}.declare(
            t, "shared");
    }
    const tensor encoded = forward_encoder_module(ctx, t, style);
    return forward_decoder_module(ctx, t, style, &encoded, rows_of_decoder);
}
constexpr tensor forward_encoder_decoder(const layer_context& ctx, trace& t, const stack_style& style) {
    return forward_encoder_decoder(ctx, t, style, ctx.config.vocab_size);
}

/// Logits of the language model head, plus a bias that is a buffer.
constexpr tensor stack_lm_head_logits(const layer_context& ctx, trace& t, const tensor& x, std::int64_t rows,
                                      bool biased, literal name = "lm_head") {
    const tensor selected = t.load().head == logits::last ? t.slice(x, 1, 1) : x;
    const linear head{ctx.config.hidden_size, rows, false, ctx.config.tie_word_embeddings};
    const tensor scores = t.call(name, head_linear{head}, selected);
    if (!biased) return scores;
    t.register_buffer(count(static_cast<std::uint64_t>(rows)) * count(bits_of(t.activation_type()) / 8));
    return t.add(scores, trace::buffer({1, rows}));
}

constexpr tensor forward_stack_head(const layer_context& ctx, trace& t, const stack_style& style, const tensor& x) {
    const recorder::not_executed_guard unused{t, t.load().head == logits::none};
    if (ctx.config.head == head_kind::question_answering) return question_answering_logits(t, x);
    if (ctx.config.head == head_kind::sequence_classification) {
        const classification_head labels{ctx.config.hidden_size, ctx.config.num_labels,
                                         ctx.class_of("ClassificationHead")};
        return t.call("classification_head", labels, state_at_last_token(t, x));
    }
    const bool biased = ctx.config.head != head_kind::causal_lm && style.logits_bias;
    return stack_lm_head_logits(ctx, t, x, ctx.config.vocab_size, biased);
}

/// An encoder-decoder with or without a head, or its decoder as a language model.
///
/// The language model has no encoder states. Its cross-attention is declared, but not executed.
constexpr tensor forward_sequence_model(const layer_context& ctx, trace& t, const stack_style& style) {
    const class_name type = ctx.class_of("Model");
    const module_info bare{.class_of_module = type};
    if (ctx.config.head == head_kind::none) {
        t.enter(bare);
        return t.leave(bare, forward_encoder_decoder(ctx, t, style));
    }
    const bool is_decoder_only = ctx.config.head == head_kind::causal_lm,
               writes = ctx.config.head == head_kind::conditional_generation;
    const module_info model_info{
        .class_of_module = {ctx.spec.class_prefix, writes ? style.conditional_type : name_of(ctx.config.head)}};
    const module_info base{.name = "model", .class_of_module = is_decoder_only ? ctx.class_of("DecoderWrapper") : type};
    t.enter(model_info);
    t.enter(base);
    const tensor x =
        t.leave(base, is_decoder_only ? forward_decoder_module(ctx, t, style, nullptr, ctx.config.vocab_size)
                                      : forward_encoder_decoder(ctx, t, style));
    return t.leave(model_info, t.select_model_output(x, forward_stack_head(ctx, t, style, x)));
}

inline constexpr stack_style bart_stack_style{.positions = learned_positions_after_two};

inline constexpr stack_style mbart_stack_style{
    .norm_first = true, .norm_last = "layer_norm", .positions = learned_positions_after_two};

}  // namespace llmcost
