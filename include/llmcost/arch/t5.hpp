// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/reader.hpp>
#include <llmcost/forward/encoder_decoder.hpp>
#include <llmcost/layers/heads.hpp>

namespace llmcost::arch {

namespace t5_detail {

enum family_config_index : std::uint8_t { buckets, gated, scales_output, biases_everywhere };
inline constexpr family_key family_keys[]{
    {"relative_attention_num_buckets", 32},
    {.type = family_key_type::computed},  // a gate in the feed-forward block
    {.type = family_key_type::computed},  // last hidden states times a constant before the head
    {.type = family_key_type::computed},  // each layer makes a bias of its own, not the first one for all
};
inline constexpr family_key umt5_keys[]{
    family_keys[0], family_keys[1], family_keys[2], {.default_value = 1, .type = family_key_type::computed}};

inline constexpr dropout_key dropout_rates[]{{dropout_position::hidden, "dropout_rate", 0.1},
                                             {dropout_position::attention, "dropout_rate", 0.1},
                                             {dropout_position::classifier, "classifier_dropout"}};

constexpr tensor normed(trace& t, literal name, literal prefix, const tensor& x) {
    return t.call(name, norm_module{norm_kind::rms_float_variance, x.dim(-1), {prefix, "LayerNorm"}}, x);
}

/// Norm, attention, dropout, residual: the first and, in a decoder, the second part of a block.
struct attention_part {
    const model_config& config;
    literal prefix;
    bool decodes;
    const tensor* encoded;  ///< what cross attention reads; none: over itself
    const attention_pattern& pattern;
    const tensor* mask;
    tensor& bias;  ///< made by the first block, read by all

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const {
        return {prefix, encoded != nullptr ? "LayerCrossAttention" : "LayerSelfAttention"};
    }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const sequence_attention_sizes s{config.hidden_size,
                                         config.num_attention_heads,
                                         config.head_dim,
                                         false,
                                         decodes,
                                         {prefix, "Attention"},
                                         "q",
                                         "k",
                                         "v",
                                         "o",
                                         config.family[buckets]};
        const tensor h = normed(t, "layer_norm", prefix, x);
        const tensor out = encoded != nullptr
                               ? t.call("EncDecAttention", cross_attention{s}, h, *encoded, pattern, mask, &bias)
                               : t.call("SelfAttention", sequence_attention{s}, h, h, pattern, mask, &bias);
        return t.add(x, dropout(t, "dropout", out));
    }
};

/// The feed-forward block, plain or gated, with dropout before its last projection.
struct dense_block {
    const model_config& config;
    literal prefix;

    static constexpr role module_role = role::mlp;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const {
        return {prefix, config.family[gated] ? "DenseGatedActDense" : "DenseActDense"};
    }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const linear in{config.hidden_size, config.intermediate_size};
        tensor h =
            t.call("act", activation_module{config.hidden_act}, t.call(config.family[gated] ? "wi_0" : "wi", in, x));
        if (config.family[gated]) h = t.mul(h, t.call("wi_1", in, x));
        return t.call("wo", linear{config.intermediate_size, config.hidden_size}, dropout(t, "dropout", h));
    }
};

struct layer_ff {
    const model_config& config;
    literal prefix;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {prefix, "LayerFF"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor h = t.call("DenseReluDense", dense_block{config, prefix}, normed(t, "layer_norm", prefix, x));
        return t.add(x, dropout(t, "dropout", h));
    }
};

/// What all blocks of a stack read and share.
struct stack_values {
    bool decodes = false;
    attention_pattern pattern{};
    attention_pattern cross_pattern{};
    tensor mask{};
    tensor encoded{};
    tensor bias{};
    tensor cross_bias{};
};

struct block {
    const model_config& config;
    literal prefix;
    stack_values& stack;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {prefix, "Block"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor* mask = stack.decodes ? &stack.mask : nullptr;
        tensor local_bias, local_cross_bias;
        const bool shared = config.family[biases_everywhere] == 0;
        const attention_part self_attention{
            config, prefix, stack.decodes, nullptr, stack.pattern, mask, shared ? stack.bias : local_bias};
        tensor h = t.call({"layer", 0}, self_attention, x);
        if (stack.decodes) {
            tensor& bias = shared ? stack.cross_bias : local_cross_bias;
            const attention_part cross{config, prefix, true, &stack.encoded, stack.cross_pattern, nullptr, bias};
            h = t.call({"layer", 1}, cross, h);
        }
        return t.call({"layer", stack.decodes ? 2 : 1}, layer_ff{config, prefix}, h);
    }
};

/// Embedding, unless token embeddings are given, blocks (the first one makes the biases), last norm, dropout around
/// them.
constexpr tensor forward_stack(const layer_context& ctx, trace& t, std::int64_t layers, std::int64_t length,
                               stack_values& stack, const tensor* inputs_embeds = nullptr) {
    const embedding token_embedding{ctx.config.vocab_size, ctx.config.hidden_size, false, {"", "Embedding"}, true};
    tensor x;
    {
        const recorder::not_executed_guard skipped_lookup{t, inputs_embeds != nullptr};
        x = t.call("embed_tokens", token_embedding, shape{t.load().batch, length});
    }
    if (inputs_embeds != nullptr) x = *inputs_embeds;
    if (stack.decodes) stack.mask = eager_mask(t, stack.pattern, t.load().batch);
    x = dropout(t, "dropout", x);
    if (layers > 0) x = t.call({"block", 0}, block{ctx.config, ctx.spec.class_prefix, stack}, x);
    for (loop other_loop = t.loop_modules(layers - 1, x, 1); other_loop.next();)
        x = t.call({"block", other_loop.index()}, block{ctx.config, ctx.spec.class_prefix, stack}, x);
    return dropout(t, "dropout", normed(t, "final_layer_norm", ctx.spec.class_prefix, x));
}

/// Declares the embedding table shared by both stacks; no pass calls it by this name.
constexpr void declare_shared_embeddings(const model_config& config, trace& t) {
    embedding{config.vocab_size, config.hidden_size}.declare(t, "shared");
}

/// Runs the embeddings and the encoder; given token embeddings come from the shared table.
constexpr tensor forward_t5_encoder(const layer_context& ctx, trace& t, std::int64_t length,
                                    const tensor* inputs_embeds = nullptr) {
    if (inputs_embeds == nullptr) declare_shared_embeddings(ctx.config, t);
    const module_info encoder{
        .name = "encoder", .class_of_module = ctx.class_of("Stack"), .module_role = role::encoder};
    t.enter(encoder);
    stack_values stack{.decodes = false, .pattern = {.query_length = length, .is_causal = false}};
    return t.leave(encoder, forward_stack(ctx, t, ctx.config.encoder.num_hidden_layers, length, stack, inputs_embeds));
}

/// Runs embeddings, encoder and decoder; with a past, the encoder output is an input.
constexpr tensor forward_with_inputs_embeds(const layer_context& ctx, trace& t, const tensor* inputs_embeds) {
    const workload& load = t.load();
    const std::int64_t length = encoder_length(load);
    stack_values stack{.decodes = true};
    {
        const recorder::not_executed_guard done{t, is_encoder_cached(load)};
        stack.encoded = forward_t5_encoder(ctx, t, length, inputs_embeds);
    }
    if (is_encoder_cached(load)) stack.encoded = t.input({load.batch, length, ctx.config.hidden_size});
    stack.pattern = attention_pattern_of(t, 0);
    stack.cross_pattern = {.query_length = length, .is_causal = false};
    const module_info decoder{
        .name = "decoder", .class_of_module = ctx.class_of("Stack"), .module_role = role::decoder};
    t.enter(decoder);
    return t.leave(decoder, forward_stack(ctx, t, ctx.config.num_hidden_layers, load.sequence, stack));
}
constexpr tensor forward_seq2seq(const layer_context& ctx, trace& t) {
    return forward_with_inputs_embeds(ctx, t, nullptr);
}

constexpr tensor forward_encoder_only(const layer_context& ctx, trace& t) {
    return forward_t5_encoder(ctx, t, t.load().sequence);
}

/// The part of a model before its head: both stacks in place, or a model of its own under `transformer`.
constexpr tensor forward_stacks(const layer_context& ctx, trace& t) {
    const module_info encoder{.name = "transformer", .class_of_module = ctx.class_of("EncoderModel")};
    const module_info model_info{.name = "transformer", .class_of_module = ctx.class_of("Model")};
    switch (ctx.config.head) {
        case head_kind::encoder: return forward_encoder_only(ctx, t);
        case head_kind::token_classification: return forward_in_module(encoder, forward_encoder_only, ctx, t);
        case head_kind::sequence_classification: return forward_in_module(model_info, forward_seq2seq, ctx, t);
        default: return forward_seq2seq(ctx, t);
    }
}

constexpr tensor compute_logits(const layer_context& ctx, trace& t, tensor x) {
    if (ctx.config.head == head_kind::none || ctx.config.head == head_kind::encoder) return x;
    const recorder::not_executed_guard unused{t, t.load().head == logits::none};
    switch (ctx.config.head) {
        case head_kind::token_classification: {
            const linear labels{ctx.config.hidden_size, ctx.config.num_labels, true};
            return t.call("classifier", head_linear{labels}, dropout(t, "dropout", x, dropout_position::classifier));
        }
        case head_kind::sequence_classification: {
            const classification_head labels{ctx.config.hidden_size, ctx.config.num_labels,
                                             ctx.class_of("ClassificationHead")};
            return t.call("classification_head", labels, state_at_last_token(t, x));
        }
        case head_kind::question_answering: return question_answering_logits(t, x);
        default: break;
    }
    if (t.load().head == logits::last) x = t.slice(x, 1, 1);
    if (ctx.config.family[scales_output]) x = t.mul_scalar(x);
    return t.call("lm_head", head_linear{{ctx.config.hidden_size, ctx.config.vocab_size, false, true}}, x);
}

constexpr tensor forward_model(const layer_context& ctx, trace& t) {
    const tensor x = forward_stacks(ctx, t);
    return t.select_model_output(x, compute_logits(ctx, t, x));
}

}  // namespace t5_detail

/// An encoder-decoder with relative positions and pre-norms, bare or under its head, or its encoder by itself.
///
/// Source: transformers/models/t5/modeling_t5.py.
constexpr tensor forward_t5(const layer_context& ctx, trace& t) {
    return forward_in_module({.class_of_module = {ctx.spec.class_prefix, name_of(ctx.config.head)}},
                             t5_detail::forward_model, ctx, t);
}

/// Both stacks and their feed-forward blocks, with these defaults.
constexpr void parse_t5_stacks(config_view json, model_config& config, std::int64_t layers, string_ref projection) {
    reject_sliding_window(json);
    config.encoder.num_hidden_layers = config.num_hidden_layers;
    config.num_hidden_layers = json.non_negative("num_decoder_layers", json.non_negative("num_layers", layers));
    if (config.num_hidden_layers == 0 && config.head != head_kind::encoder &&
        config.head != head_kind::token_classification)
        throw_invalid_value(json, json.contains("num_decoder_layers") ? "num_decoder_layers" : "num_layers",
                            "a decoder with layers");
    if (config.head == head_kind::question_answering && config.num_labels != 2)
        throw_invalid_value(json, json.contains("num_labels") ? "num_labels" : "id2label",
                            "two labels under a question-answering head");
    string_ref kind = json.string("feed_forward_proj", projection);
    bool gated = kind.starts_with("gated-");
    if (gated) kind.remove_prefix(6);
    if (gated && kind == "gelu") kind = "gelu_new";
    gated = json.boolean("is_gated_act", gated);  // a value in a saved configuration takes precedence
    config.family[t5_detail::gated] = gated;
    kind = json.string("dense_act_fn", kind);
    config.hidden_act = activation_named(json, "feed_forward_proj", kind);
}

/// Parses `config.json` of T5, which always ties its embeddings. The key controls the output scaling
/// (configuration_t5.py, `__post_init__`).
constexpr void parse_t5(config_view json, model_config& config) {
    parse_t5_stacks(json, config, 6, "relu");
    config.family[t5_detail::scales_output] =
        json.boolean("scale_decoder_outputs", json.boolean("tie_word_embeddings", true));
}

// transformers/models/t5: configuration_t5.py, modeling_t5.py
inline constexpr model_spec t5{
    .model_type = "t5",
    .class_prefix = "T5",
    .forward = forward_t5,
    .parse_config = parse_t5,
    .family_keys = t5_detail::family_keys,
    .dropout_keys = t5_detail::dropout_rates,
    .rotary = rotary_style::none,
    .supported_heads = {head_kind::none, head_kind::conditional_generation, head_kind::encoder,
                        head_kind::sequence_classification, head_kind::token_classification,
                        head_kind::question_answering},
    .config_keys = {{"hidden_size", "d_model", key_rule::standard_name_first},
                    {"num_attention_heads", "num_heads", key_rule::standard_name_first},
                    {"num_hidden_layers", "num_layers", key_rule::standard_name_first},
                    {"head_dim", "d_kv", key_rule::standard_name_first},
                    {"intermediate_size", "d_ff", key_rule::family_name_only},
                    absent_num_key_value_heads},
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
constexpr void parse_mt5(config_view json, model_config& config) {
    parse_t5_stacks(json, config, 8, "gated-gelu");
    config.family[t5_detail::scales_output] = false;
}

// transformers/models/mt5: configuration_mt5.py, modeling_mt5.py
inline constexpr model_spec mt5 = [](model_spec spec) {
    spec.model_type = "mt5";
    spec.class_prefix = "MT5";
    spec.parse_config = parse_mt5;
    spec.defaults.vocab_size = 250112;
    spec.defaults.intermediate_size = 1024;
    spec.defaults.num_hidden_layers = 8;
    spec.defaults.num_attention_heads = 6;
    return spec;
}(t5);

/// Outputs are scaled where embeddings are tied, which they always are (configuration_umt5.py, `__post_init__`).
constexpr void parse_umt5(config_view json, model_config& config) {
    parse_mt5(json, config);
    config.family[t5_detail::scales_output] = true;
}

// transformers/models/umt5: a bias of relative positions in each layer
inline constexpr model_spec umt5 = [](model_spec spec) {
    spec.model_type = "umt5";
    spec.class_prefix = "UMT5";
    spec.parse_config = parse_umt5;
    spec.family_keys = t5_detail::umt5_keys;
    return spec;
}(mt5);

}  // namespace llmcost::arch
