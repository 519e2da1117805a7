// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/layers/heads.hpp>
#include <llmcost/reading/reader.hpp>
#include <llmcost/walks/encoder_decoder.hpp>

namespace llmcost::arch {

namespace t5_detail {

enum own : std::uint8_t { buckets, gated, scales_output, biases_everywhere };
inline constexpr own_key keys[]{
    {"relative_attention_num_buckets", 32},
    {.value = own_value::computed},  // a gate in the feed-forward block
    {.value = own_value::computed},  // last hidden states times a constant before the head
    {.value = own_value::computed},  // each layer makes a bias of its own, not the first one for all
};
inline constexpr own_key umt5_keys[]{keys[0], keys[1], keys[2], {.otherwise = 1, .value = own_value::computed}};

inline constexpr dropout_key dropout_rates[]{{dropout_of::hidden, "dropout_rate", 0.1},
                                             {dropout_of::attention, "dropout_rate", 0.1},
                                             {dropout_of::classifier, "classifier_dropout"}};

constexpr value normed(trace& t, literal name, literal prefix, const value& x) {
    return t.call(name, norm<norm_kind::rms_float_variance>{x.dim(-1), {prefix, "LayerNorm"}}, x);
}

/// Norm, attention, dropout, residual: the first and, in a decoder, the second part of a block.
struct attention_part {
    const sizes& dims;
    literal prefix;
    bool decodes;
    const value* encoded;  ///< what cross attention reads; none: over itself
    const context& where;
    const value* mask;
    value& bias;  ///< made by the first block, read by all

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const {
        return {prefix, encoded != nullptr ? "LayerCrossAttention" : "LayerSelfAttention"};
    }
    constexpr value describe(trace& t, const value& x) const {
        const sequence_attention_sizes s{dims.hidden_size,
                                         dims.num_attention_heads,
                                         dims.head_dim,
                                         false,
                                         decodes,
                                         {prefix, "Attention"},
                                         "q",
                                         "k",
                                         "v",
                                         "o",
                                         dims.own[buckets]};
        const value h = normed(t, "layer_norm", prefix, x);
        const value out = encoded != nullptr ? t.call("EncDecAttention", cross_attention{s}, h, *encoded, where, mask, &bias)
                                             : t.call("SelfAttention", sequence_attention{s}, h, h, where, mask, &bias);
        return t.add(x, dropout(t, "dropout", out));
    }
};

/// The feed-forward block, plain or gated, with dropout before its last projection.
struct dense_block {
    const sizes& dims;
    literal prefix;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const {
        return {prefix, dims.own[gated] ? "DenseGatedActDense" : "DenseActDense"};
    }
    constexpr value describe(trace& t, const value& x) const {
        const linear in{dims.hidden_size, dims.intermediate_size};
        value h = t.call("act", activation_module{dims.hidden_act}, t.call(dims.own[gated] ? "wi_0" : "wi", in, x));
        if (dims.own[gated]) h = t.mul(h, t.call("wi_1", in, x));
        return t.call("wo", linear{dims.intermediate_size, dims.hidden_size}, dropout(t, "dropout", h));
    }
};

struct feed_forward_part {
    const sizes& dims;
    literal prefix;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {prefix, "LayerFF"}; }
    constexpr value describe(trace& t, const value& x) const {
        const value h = t.call("DenseReluDense", dense_block{dims, prefix}, normed(t, "layer_norm", prefix, x));
        return t.add(x, dropout(t, "dropout", h));
    }
};

/// What all blocks of a stack read and share.
struct stack_values {
    bool decodes = false;
    context where{};
    context across{};
    value mask{};
    value encoded{};
    value bias{};
    value cross_bias{};
};

struct block {
    const sizes& dims;
    literal prefix;
    stack_values& stack;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {prefix, "Block"}; }
    constexpr value describe(trace& t, const value& x) const {
        const value* mask = stack.decodes ? &stack.mask : nullptr;
        value own_bias, own_cross_bias;
        const bool shared = dims.own[biases_everywhere] == 0;
        const attention_part own{dims, prefix, stack.decodes, nullptr, stack.where, mask, shared ? stack.bias : own_bias};
        value h = t.call({"layer", 0}, own, x);
        if (stack.decodes) {
            value& bias = shared ? stack.cross_bias : own_cross_bias;
            const attention_part cross{dims, prefix, true, &stack.encoded, stack.across, nullptr, bias};
            h = t.call({"layer", 1}, cross, h);
        }
        return t.call({"layer", stack.decodes ? 2 : 1}, feed_forward_part{dims, prefix}, h);
    }
};

/// Embedding, unless words are given, blocks (the first one makes the biases), last norm, dropout around them.
constexpr value describe_stack(const site& here, trace& t, std::int64_t layers, std::int64_t length, stack_values& stack,
                               const value* given = nullptr) {
    const embedding words{here.dims.vocab_size, here.dims.hidden_size, false, {"", "Embedding"}, true};
    value x;
    {
        const recorder::idle_guard looked_up{t, given != nullptr};
        x = t.call("embed_tokens", words, extents{t.load().batch, length});
    }
    if (given != nullptr) x = *given;
    if (stack.decodes) stack.mask = eager_mask(t, stack.where, t.load().batch);
    x = dropout(t, "dropout", x);
    if (layers > 0) x = t.call({"block", 0}, block{here.dims, here.row.prefix, stack}, x);
    for (repetition other = t.repeat(layers - 1, x, 1); other.next();)
        x = t.call({"block", other.index()}, block{here.dims, here.row.prefix, stack}, x);
    return dropout(t, "dropout", normed(t, "final_layer_norm", here.row.prefix, x));
}

/// The table of words that both stacks name as theirs; no pass calls it by this name.
constexpr void declare_words(const sizes& dims, trace& t) {
    embedding{dims.vocab_size, dims.hidden_size}.declare(t, "shared");
}

/// Words and the encoder: all that an encoder's model has; words that are given were looked up in the shared table.
constexpr value describe_encoder(const site& here, trace& t, std::int64_t length, const value* given = nullptr) {
    if (given == nullptr) declare_words(here.dims, t);
    const module_info encoder{.name = "encoder", .type = here.type("Stack"), .what = role::encoder};
    t.enter(encoder);
    stack_values stack{.decodes = false, .where = {.sequence = length, .causal = false}};
    return t.leave(encoder, describe_stack(here, t, here.dims.encoder.num_hidden_layers, length, stack, given));
}

/// Words, encoder and decoder; the encoder's output is given where a past says that it has run.
constexpr value describe_both_over(const site& here, trace& t, const value* given) {
    const workload& load = t.load();
    const std::int64_t length = encoder_length(load);
    stack_values stack{.decodes = true};
    {
        const recorder::idle_guard done{t, encoder_is_done(load)};
        stack.encoded = describe_encoder(here, t, length, given);
    }
    if (encoder_is_done(load)) stack.encoded = t.input({load.batch, length, here.dims.hidden_size});
    stack.where = context_of(t, 0);
    stack.across = {.sequence = length, .causal = false};
    const module_info decoder{.name = "decoder", .type = here.type("Stack"), .what = role::decoder};
    t.enter(decoder);
    return t.leave(decoder, describe_stack(here, t, here.dims.num_hidden_layers, load.sequence, stack));
}
constexpr value describe_both(const site& here, trace& t) { return describe_both_over(here, t, nullptr); }

constexpr value describe_encoder_alone(const site& here, trace& t) { return describe_encoder(here, t, t.load().sequence); }

/// The part of a model in front of its head: both stacks in place, or a model of its own under `transformer`.
constexpr value describe_stacks(const site& here, trace& t) {
    const module_info encoder{.name = "transformer", .type = here.type("EncoderModel")};
    const module_info whole{.name = "transformer", .type = here.type("Model")};
    switch (here.dims.head) {
        case head_kind::encoder: return describe_encoder_alone(here, t);
        case head_kind::token_classification: return describe_within(encoder, describe_encoder_alone, here, t);
        case head_kind::sequence_classification: return describe_within(whole, describe_both, here, t);
        default: return describe_both(here, t);
    }
}

constexpr value describe_scores(const site& here, trace& t, value x) {
    if (here.dims.head == head_kind::none || here.dims.head == head_kind::encoder) return x;
    const recorder::idle_guard unused{t, t.load().head == logits::none};
    switch (here.dims.head) {
        case head_kind::token_classification: {
            const linear labels{here.dims.hidden_size, here.dims.num_labels, true};
            return t.call("classifier", head_linear{labels}, dropout(t, "dropout", x, dropout_of::classifier));
        }
        case head_kind::sequence_classification: {
            const classification_head labels{here.dims.hidden_size, here.dims.num_labels, here.type("ClassificationHead")};
            return t.call("classification_head", labels, state_of_end(t, x));
        }
        case head_kind::question_answering: return answer_scores(t, x);
        default: break;
    }
    if (t.load().head == logits::last) x = t.slice(x, 1, 1);
    if (here.dims.own[scales_output]) x = t.mul(x);
    return t.call("lm_head", head_linear{{here.dims.hidden_size, here.dims.vocab_size, false, true}}, x);
}

constexpr value describe_whole(const site& here, trace& t) {
    const value x = describe_stacks(here, t);
    return t.returns(x, describe_scores(here, t, x));
}

}  // namespace t5_detail

/// An encoder-decoder with relative positions and pre-norms, bare or under its head, or its encoder by itself.
///
/// Source: transformers/models/t5/modeling_t5.py.
constexpr value describe_t5(const site& here, trace& t) {
    return describe_within({.type = {here.row.prefix, name_of(here.dims.head)}}, t5_detail::describe_whole, here, t);
}

/// Both stacks and their feed-forward blocks, with these defaults.
constexpr void read_t5_stacks(config_view config, sizes& s, std::int64_t layers, string_ref projection) {
    refuse_window(config);
    s.encoder.num_hidden_layers = s.num_hidden_layers;
    s.num_hidden_layers = config.non_negative("num_decoder_layers", config.non_negative("num_layers", layers));
    if (s.num_hidden_layers == 0 && s.head != head_kind::encoder && s.head != head_kind::token_classification)
        fail_value(config, config.contains("num_decoder_layers") ? "num_decoder_layers" : "num_layers",
                   "a decoder with layers");
    if (s.head == head_kind::question_answering && s.num_labels != 2)
        fail_value(config, config.contains("num_labels") ? "num_labels" : "id2label",
                   "two labels under a question-answering head");
    string_ref kind = config.string("feed_forward_proj", projection);
    bool gated = kind.starts_with("gated-");
    if (gated) kind.remove_prefix(6);
    if (gated && kind == "gelu") kind = "gelu_new";
    gated = config.boolean("is_gated_act", gated);  // what a saved configuration says of itself counts
    s.own[t5_detail::gated] = gated;
    kind = config.string("dense_act_fn", kind);
    s.hidden_act = activation_named(config, "feed_forward_proj", kind);
}

/// T5 ties its embeddings always; the key says whether outputs are scaled (configuration_t5.py, `__post_init__`).
constexpr void read_t5(config_view config, sizes& s) {
    read_t5_stacks(config, s, 6, "relu");
    s.own[t5_detail::scales_output] = config.boolean("scale_decoder_outputs", config.boolean("tie_word_embeddings", true));
}

// transformers/models/t5: configuration_t5.py, modeling_t5.py
inline constexpr architecture t5{
    .model_type = "t5",
    .prefix = "T5",
    .describe = describe_t5,
    .read = read_t5,
    .own = t5_detail::keys,
    .drops = t5_detail::dropout_rates,
    .rotated = rotation::none,
    .heads = {head_kind::none, head_kind::conditional_generation, head_kind::encoder, head_kind::sequence_classification,
              head_kind::token_classification, head_kind::question_answering},
    .keys = {{"hidden_size", "d_model", key_rule::standard_first},
             {"num_attention_heads", "num_heads", key_rule::standard_first},
             {"num_hidden_layers", "num_layers", key_rule::standard_first},
             {"head_dim", "d_kv", key_rule::standard_first},
             {"intermediate_size", "d_ff", key_rule::written_only},
             no_key_value_heads},
    .defaults = {.vocab_size = 32128,
                 .hidden_size = 512,
                 .intermediate_size = 2048,
                 .num_hidden_layers = 6,
                 .num_attention_heads = 8,
                 .head_dim = 64,
                 .head = head_kind::conditional_generation,
                 .tie_word_embeddings = true},
};

/// As T5, but outputs are never scaled, and gated blocks are what a file leaves out (configuration_mt5.py).
constexpr void read_mt5(config_view config, sizes& s) {
    read_t5_stacks(config, s, 8, "gated-gelu");
    s.own[t5_detail::scales_output] = false;
}

// transformers/models/mt5: configuration_mt5.py, modeling_mt5.py
inline constexpr architecture mt5 = [](architecture a) {
    a.model_type = "mt5", a.prefix = "MT5", a.read = read_mt5;
    a.defaults.vocab_size = 250112, a.defaults.intermediate_size = 1024;
    a.defaults.num_hidden_layers = 8, a.defaults.num_attention_heads = 6;
    return a;
}(t5);

/// Outputs are scaled where embeddings are tied, which they always are (configuration_umt5.py, `__post_init__`).
constexpr void read_umt5(config_view config, sizes& s) {
    read_mt5(config, s);
    s.own[t5_detail::scales_output] = true;
}

// transformers/models/umt5: a bias of relative positions in each layer
inline constexpr architecture umt5 = [](architecture a) {
    a.model_type = "umt5", a.prefix = "UMT5", a.read = read_umt5, a.own = t5_detail::umt5_keys;
    return a;
}(mt5);

}  // namespace llmcost::arch
