// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/forward/encoder_decoder.hpp>
#include <llmcost/layers/heads.hpp>

// Encoder and decoder stacks with relative position biases (T5).
namespace llmcost::t5_stacks {

enum family_config_index : std::uint8_t { buckets, gated, scales_output, biases_everywhere };
inline constexpr family_key family_keys[]{
    {"relative_attention_num_buckets", 32},
    {.type = family_key_type::computed},  // a gate in the feed-forward block
    {.type = family_key_type::computed},  // last hidden states times a constant before the head
    {.type = family_key_type::computed},  // each layer makes a bias of its own, not the first one for all
};

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
    const linear lm_head{ctx.config.hidden_size, ctx.config.vocab_size, false, ctx.config.tie_word_embeddings};
    return t.call("lm_head", head_linear{lm_head}, x);
}

}  // namespace llmcost::t5_stacks
