// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bart.hpp>

// FSMT. Derived from BART.
//
// Source: transformers/models/fsmt: configuration_fsmt.py, modeling_fsmt.py

namespace llmcost::arch {

namespace fsmt_detail {

enum family_config_index : std::uint8_t { src_vocab_size = stack_config::count, pad_token };
inline constexpr family_key family_keys[]{
    {"decoder_layers", 12},    {"decoder_attention_heads", 16}, {"decoder_ffn_dim", 4096},
    {"encoder_ffn_dim", 4096}, {"src_vocab_size", 42024},       {"pad_token_id", 1, family_key_type::non_negative}};

/// Attention with the sequence first: (S, B, width). The matmuls use flattened batches.
constexpr tensor attention(const layer_context&, trace& t, const stack_sizes& s, const tensor& x, const tensor* source,
                           const attention_pattern& self_pattern, const tensor* mask) {
    const std::int64_t d = s.width / s.heads, sequence = x.dim(0), batch = x.dim(1), flat = batch * s.heads;
    const linear projection{s.width, s.width, true};
    const tensor& source_states = source != nullptr ? *source : x;
    const attention_pattern pattern = s.decodes && source == nullptr
                                          ? self_pattern
                                          : attention_pattern{.query_length = source_states.dim(0), .is_causal = false};
    const bool from_cache = source != nullptr && is_encoder_cached(t.load());
    tensor k, v;
    {
        const recorder::not_executed_guard unused{t, from_cache};
        const tensor family_keys = t.call("k_proj", projection, source_states),
                     values = t.call("v_proj", projection, source_states);
        k = family_keys.view({-1, batch, s.heads, d}).permute({1, 2, 0, 3});
        v = values.view({-1, batch, s.heads, d}).permute({1, 2, 0, 3});
    }
    if (from_cache) {
        k = v = trace::buffer({batch, s.heads, source_states.dim(0), d});
        t.add_to_cache(k);
        t.add_to_cache(v);
    } else if (s.decodes) {
        k = update_kv_cache(t, k, pattern);
        v = update_kv_cache(t, v, pattern);
    }
    const tensor q = t.mul_scalar(t.call("q_proj", projection, x)).view({-1, flat, d}).transpose(0, 1);
    const tensor heads = q.view({batch, s.heads, sequence, d});
    tensor out;
    {
        const recorder::fused_kernel_guard fused{t, fused_attention_kernel(heads, s.heads, pattern, k.dim(2))};
        const tensor family_keys = t.reshape(k, {flat, -1, d}), values = t.reshape(v, {flat, -1, d});
        const std::int64_t length = family_keys.dim(1);
        const bool sparse = pattern.is_causal && t.load().attention == attention_scores::causal;
        tensor scores = t.bmm(op::batched_matmul, q, family_keys.transpose(1, 2), sparse ? pattern.visible_pairs() : 0);
        if (mask != nullptr && !sparse)
            scores = t.add(scores.view({batch, s.heads, sequence, length}), *mask).view({flat, sequence, length});
        out = t.bmm(functional_dropout(t, t.softmax(scores), dropout_position::attention), values).transpose(0, 1);
    }
    return t.call("out_proj", projection, t.contiguous(out).view({sequence, batch, s.width}));
}

inline constexpr stack_style style{.attend_in_encoder = attention, .attend_in_decoder = attention};

/// Removes the class prefix from the stack sizes.
constexpr stack_sizes plain(stack_sizes s) {
    s.prefix = "";
    return s;
}

/// Sinusoidal position embeddings. Padding shifts positions.
///
/// Throws: a position error for more positions than the table has; the reference would create a larger table.
constexpr tensor positions(const layer_context& ctx, trace& t, std::int64_t length, bool decodes) {
    check_positions(ctx, t, length, decodes);
    const std::int64_t rows = ctx.config.max_position_embeddings + ctx.config.family[pad_token] + 1;
    const embedding table{rows, ctx.config.hidden_size, false, {"", "SinusoidalPositionalEmbedding"}};
    return t.call("embed_positions", table, shape{t.load().batch, length});
}

constexpr tensor encoder(const layer_context& ctx, trace& t) {
    const workload& load = t.load();
    const std::int64_t length = encoder_length(load), width = ctx.config.hidden_size;
    {
        const recorder::not_executed_guard done{t, is_encoder_cached(load)};
        const module_info module{
            .name = "encoder", .class_of_module = ctx.class_of("Encoder"), .module_role = role::encoder};
        t.enter(module);
        const tensor token_embeddings =
            t.call("embed_tokens", embedding{ctx.config.family[src_vocab_size], width}, shape{load.batch, length});
        const tensor scaled = t.mul_scalar(token_embeddings);
        const tensor placed = t.add(scaled, positions(ctx, t, length, false));
        tensor x = functional_dropout(t, placed, dropout_position::hidden).transpose(0, 1);
        const stack_sizes stack_config = plain(encoder_stack_of(ctx));
        // layer 0 reads a transposed tensor, the others the contiguous output of a norm
        x = t.call({"layers", 0}, stack_layer{ctx, style, stack_config, nullptr}, x);
        for (loop layer = t.loop_modules(ctx.config.encoder.num_hidden_layers - 1, x, 1); layer.next();)
            x = t.call({"layers", layer.index()}, stack_layer{ctx, style, stack_config, nullptr}, x);
        t.leave(module);
        if (!is_encoder_cached(load)) return x.transpose(0, 1);
    }
    return t.input({load.batch, length, width});
}

/// The decoder with its output projection. Only training uses a causal mask (`_prepare_fsmt_decoder_inputs`).
constexpr tensor decoder(const layer_context& ctx, trace& t, const tensor& states) {
    const workload& load = t.load();
    const std::int64_t width = ctx.config.hidden_size, vocab_size = ctx.config.vocab_size;
    const bool tied = ctx.config.tie_word_embeddings;
    const module_info module{
        .name = "decoder", .class_of_module = ctx.class_of("Decoder"), .module_role = role::decoder};
    const tensor encoded = states.transpose(0, 1);
    decoder_reach reach{.encoded = &encoded, .pattern = attention_pattern_of(t, 0)};
    if (t.is_training()) reach.mask = t.copy(t.full({load.sequence, load.sequence}));
    t.enter(module);
    const tensor places = positions(ctx, t, load.sequence, true);
    const embedding table{vocab_size, width, false, {"", "Embedding"}, tied};
    tensor x = t.mul_scalar(t.call("embed_tokens", table, shape{load.batch, load.sequence}));
    t.add_(x, places);
    x = functional_dropout(t, x, dropout_position::hidden).transpose(0, 1);
    const stack_sizes stack_config = plain(decoder_stack_of(ctx));
    const stack_layer repeated_layer{ctx, style, stack_config, &reach, t.is_training()};
    x = t.call({"layers", 0}, repeated_layer, x);
    for (loop layer = t.loop_modules(ctx.config.num_hidden_layers - 1, x, 1); layer.next();)
        x = t.call({"layers", layer.index()}, repeated_layer, x);
    x = x.transpose(0, 1);
    const recorder::not_executed_guard unused{t, load.head == logits::none};
    const tensor head_input = load.head == logits::last ? t.slice(x, 1, 1) : x;
    const tensor scores = t.call("output_projection", head_linear{{width, vocab_size, false, tied}}, head_input);
    return t.leave(module, t.select_model_output(x, scores));
}

constexpr tensor forward_encoder_and_decoder(const layer_context& ctx, trace& t) {
    return decoder(ctx, t, encoder(ctx, t));
}

}  // namespace fsmt_detail

/// Traces FSMT: layers with the sequence first. The decoder computes the logits in every class.
///
/// Source: transformers/models/fsmt/modeling_fsmt.py.
constexpr tensor forward_fsmt(const layer_context& ctx, trace& t) {
    const class_name type = ctx.class_of("Model");
    if (ctx.config.head == head_kind::none)
        return forward_in_module({.class_of_module = type}, fsmt_detail::forward_encoder_and_decoder, ctx, t);
    const module_info model_info{.class_of_module = {ctx.spec.class_prefix, name_of(ctx.config.head)}};
    t.enter(model_info);
    return t.leave(model_info, forward_in_module({.name = "model", .class_of_module = type},
                                                 fsmt_detail::forward_encoder_and_decoder, ctx, t));
}

constexpr void parse_fsmt(config_view json, model_config& config) {
    parse_stacks(json, config);
    if (config.tie_word_embeddings)
        config.family[fsmt_detail::src_vocab_size] = config.vocab_size;  // encoder and decoder share one table
}

inline constexpr model_spec fsmt = [](model_spec spec) {
    spec.model_type = "fsmt";
    spec.class_prefix = "FSMT";
    spec.forward = forward_fsmt;
    spec.parse_config = parse_fsmt;
    spec.family_keys = fsmt_detail::family_keys;
    spec.supported_heads = {head_kind::none, head_kind::conditional_generation};
    spec.config_keys.add("vocab_size", "tgt_vocab_size", key_rule::standard_name_first);
    spec.defaults.vocab_size = 42024;
    spec.defaults.hidden_act = activation::relu;
    spec.defaults.num_labels = 2;
    spec.defaults.tie_word_embeddings = false;
    spec.defaults.head = head_kind::conditional_generation;
    return spec;
}(bart);

}  // namespace llmcost::arch
