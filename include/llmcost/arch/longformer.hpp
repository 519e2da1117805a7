// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/roberta.hpp>
#include <llmcost/layers/einsum.hpp>

namespace llmcost::arch {

namespace longformer_detail {

/// Maximum number of distinct window sizes; the layer's kind is the index of its window.
inline constexpr std::uint8_t max_windows = 8;

enum family_config_index : std::uint8_t { widest, first_window };
inline constexpr family_key family_keys[first_window + max_windows]{
    {.type = family_key_type::computed}, {.type = family_key_type::computed}, {.type = family_key_type::computed},
    {.type = family_key_type::computed}, {.type = family_key_type::computed}, {.type = family_key_type::computed},
    {.type = family_key_type::computed}, {.type = family_key_type::computed}, {.type = family_key_type::computed},
};

/// Returns the sequence length padded to complete windows.
[[nodiscard]] constexpr std::int64_t padded(const layer_context& ctx, std::int64_t sequence) {
    const std::int64_t window = ctx.config.family[widest];
    return (sequence + window - 1) / window * window;
}

/// Chunks that overlap: a view with so many rows, each chunk beginning so many rows after the one before
/// (`as_strided`).
///
/// Backward adds the gradients of all chunks into one tensor (FunctionsManual.cpp, `as_strided_backward`).
constexpr tensor overlapping(trace& t, const tensor& x, std::int64_t chunks, std::int64_t rows, std::int64_t step) {
    tensor v = x.unsqueeze(1);
    v.size[1] = chunks;
    v.size[2] = rows;
    v.stride[1] = step * x.stride[1];
    v.numel = num_elements(v.size, v.rank);
    if (chunks > 1 && x.requires_grad) t.add_backward_cost({.add = count(v.numel)});
    return t.slice_with_gradient(x, v);
}

/// A part of a tensor, cut along two dimensions.
constexpr tensor part(trace& t, const tensor& x, int a, std::int64_t m, int b, std::int64_t n) {
    return t.slice(t.slice(x, a, m), b, n);
}

/// Sets scores outside the text, at its start and its end, to minus infinity (`_mask_invalid_locations`).
constexpr void hide_outside(trace& t, tensor& scores, std::int64_t w) {
    for (int mask = 0; mask < 4; ++mask) (void)t.full({w, w + 1}, scores.type);  // ones, a triangle, turned twice
    for (int end = 0; end < 2; ++end) {
        const tensor in = part(t, scores, 1, w, 3, w + 1);
        (void)t.full({in.dim(0), in.dim(1), in.dim(2), in.dim(3)}, in.type);
        t.copy_into_slice(scores, t.masked_fill(in));
    }
}

/// Products of each query with the keys w before and after it, (B, L, heads, 2 w + 1)
/// (`_sliding_chunks_query_key_matmul`).
constexpr tensor score_windows(trace& t, const tensor& q, const tensor& k, std::int64_t w) {
    const std::int64_t batch = q.dim(0), length = q.dim(1), heads = q.dim(2), d = q.dim(3), chunks = length / w - 1;
    const auto chunked = [&](const tensor& x) {
        return overlapping(t, t.reshape(x.transpose(1, 2), {batch * heads, length, d}), chunks, 2 * w, w);
    };
    const tensor left = chunked(q), right = chunked(k);
    tensor all = t.pad(einsum(t, "bcxd,bcyd->bcxy", left, right), 2, 1);
    all = all.view({batch * heads, chunks, 2 * w, 2 * w + 1});
    tensor scores = t.full({batch * heads, chunks + 1, w, 2 * w + 1}, q.type);
    t.copy_into_slice(scores, part(t, all, 2, w, 3, w + 1));
    t.copy_into_slice(scores, part(t, t.select(all, 1), 1, w, 2, w + 1));
    t.copy_into_slice(scores, part(t, all, 2, w, 3, w));
    t.copy_into_slice(scores, part(t, t.select(all, 1), 1, w - 1, 2, w - 1));
    scores = scores.view({batch, heads, length, 2 * w + 1}).transpose(2, 1);
    hide_outside(t, scores, w);
    return scores;
}

/// Values in windows, weighed: (B, L, heads, d) (`_sliding_chunks_matmul_attn_probs_value`).
constexpr tensor matmul_window_values(trace& t, const tensor& weights, const tensor& v, std::int64_t w) {
    const std::int64_t batch = v.dim(0), length = v.dim(1), heads = v.dim(2), d = v.dim(3), chunks = length / w;
    tensor shares = t.reshape(weights.transpose(1, 2), {batch * heads, chunks, w, 2 * w + 1});
    const tensor values = t.pad(t.reshape(v.transpose(1, 2), {batch * heads, length, d}), 1, 2 * w);
    const tensor spans = overlapping(t, values, chunks, 3 * w, w);
    shares = t.pad(shares, 3, w + 1).view({batch * heads, chunks, w * (3 * w + 2)});
    shares = t.slice(shares, 2, w * (3 * w + 1)).view({batch * heads, chunks, w, 3 * w + 1});
    const tensor mixed = einsum(t, "bcwd,bcdh->bcwh", t.slice(shares, 3, 3 * w), spans);
    return mixed.view({batch, heads, length, d}).transpose(1, 2);
}

/// Sliding-window self-attention without global tokens, because the workload selects none.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = ctx.config.hidden_size, heads = ctx.config.num_attention_heads, d = ctx.config.head_dim;
    const std::int64_t batch = x.dim(0), length = x.dim(1),
                       w = ctx.config.family[first_window + ctx.layer.family_tag] / 2;
    if (w == 0) throw_description_error("longformer: a layer without a window");
    const linear projection{width, width, true};
    const tensor transposed = x.transpose(0, 1);
    const auto project = [&](literal name) { return t.call(name, projection, transposed); };
    const auto split = [&](const tensor& all) { return all.view({length, batch, heads, d}).transpose(0, 1); };
    tensor q = project("query");
    const tensor k = project("key"), v = project("value");
    {
        const recorder::not_executed_guard none_is_global{t};
        for (const literal name : {"query_global", "key_global", "value_global"}) (void)project(name);
    }
    const recorder::fused_kernel_guard fused{
        t, fused_attention_kernel(empty_tensor({batch, heads, length, d}, x.type), heads, ctx.inputs->pattern, length)};
    t.div_(q);
    tensor scores = score_windows(t, split(q), split(k), w);
    const tensor mask = t.masked_fill(t.full({batch, length, 1, 1}, x.type)),
                 ones = t.full({batch, length, 1, 1}, x.type);
    t.add_(scores, score_windows(t, ones, mask, w));
    tensor weights = t.masked_fill(t.softmax(t.to(scores, dtype::float32)));
    weights = functional_dropout(t, t.to(weights, x.type), dropout_position::attention);
    const tensor mixed = matmul_window_values(t, weights, split(v), w);
    return t.contiguous(t.reshape(mixed.transpose(0, 1), {length, batch, width})).transpose(0, 1);
}

/// Token embeddings of the padded sequence. The mask is built for all rows, and one row is read.
constexpr tensor embed(const layer_context& ctx, trace& t) {
    const std::int64_t batch = t.load().batch, sequence = t.load().sequence, length = padded(ctx, sequence);
    const std::int64_t width = ctx.config.hidden_size;
    const shape ids{batch, length};
    t.set_chunk_size(ctx.config.family[widest]);
    tensor mask = t.full({batch, sequence});
    if (length > sequence) mask = t.pad(mask, 1, length - sequence);
    t.check_positions(ctx.config.max_position_embeddings - ctx.config.position_offset, sequence);
    const module_info embeddings{
        .name = "embeddings", .class_of_module = ctx.class_of("Embeddings"), .module_role = role::embedding};
    t.enter(embeddings);
    const tensor token_embeddings = t.call("word_embeddings", embedding{ctx.config.vocab_size, width}, ids);
    tensor x = t.add(token_embeddings,
                     t.call("position_embeddings", embedding{ctx.config.max_position_embeddings, width}, ids));
    x = t.add(x, t.call("token_type_embeddings", embedding{ctx.config.type_vocab_size, width}, ids));
    x = t.leave(embeddings, norm_embeddings(ctx, t, x));
    (void)t.clamp(mask);
    (void)eager_mask(t, {.query_length = length, .is_causal = false}, batch);
    return x;
}

/// Runs the layers on complete windows, then removes the padding.
constexpr tensor encode(const layer_context& ctx, trace& t) {
    const tensor x = ctx.spec.embed_tokens(ctx, t);
    const decoder_inputs shared = ctx.spec.prepare_inputs(ctx, t);
    const module_info encoder{.name = "encoder", .class_of_module = ctx.class_of("Encoder")};
    t.enter(encoder);
    return t.leave(encoder, t.slice(forward_layers(ctx, t, shared, x), 1, t.load().sequence));
}

constexpr void parse_config(config_view json, model_config& config) {
    roberta.parse_config(json, config);
    if (config.is_causal) throw_unsupported(json, "is_decoder", "this model type is not supported as a decoder");
    if (json.boolean("onnx_export", false)) throw_unsupported(json, "onnx_export", "ONNX export is not supported");
    const auto attention_window = json.find("attention_window");
    const bool listed = attention_window && attention_window->is_array();
    if (listed && static_cast<std::int64_t>(attention_window->size()) != config.num_hidden_layers)
        throw_invalid_value(json, "attention_window", "a window, or a list with one per hidden layer");
    const std::int64_t shared_window = listed ? 0 : json.positive("attention_window", 512);
    std::uint8_t known = 0;
    set_layers(json, config, [&](std::int64_t i) {
        const std::int64_t window =
            listed ? (*attention_window)[static_cast<std::uint32_t>(i)].as_positive() : shared_window;
        if (window % 2 != 0) throw_invalid_value(json, "attention_window", "even windows");
        std::uint8_t n = 0;
        while (n < known && config.family[first_window + n] != window) ++n;
        if (n == max_windows)
            throw_unsupported(json, "attention_window", "more than 8 distinct windows are not supported");
        if (n == known) config.family[first_window + known++] = window;
        config.family[widest] = window > config.family[widest] ? window : config.family[widest];
        return layer_spec{.family_tag = n};
    });
    for (std::uint8_t n = 0; n < known; ++n)
        if (config.family[widest] % config.family[first_window + n] != 0)
            throw_invalid_value(json, "attention_window", "windows that divide the widest one");
}

}  // namespace longformer_detail

// transformers/models/longformer: RoBERTa with attention through windows, in chunks
inline constexpr model_spec longformer = [](model_spec spec) {
    spec.model_type = "longformer";
    spec.class_prefix = "Longformer";
    spec.parse_config = longformer_detail::parse_config;
    spec.family_keys = longformer_detail::family_keys;
    spec.base_model = longformer_detail::encode;
    spec.embed_tokens = longformer_detail::embed;
    spec.attention = longformer_detail::attention;
    spec.supported_layers.max_family_tag = longformer_detail::max_windows - 1;
    spec.supported_heads = {head_kind::none, head_kind::masked_lm, head_kind::token_classification};
    spec.names.base_model = "longformer";
    spec.defaults.vocab_size = 30522;
    spec.defaults.head = head_kind::masked_lm;
    spec.dropout_keys = headless_encoder_dropout;
    return spec;
}(roberta);

}  // namespace llmcost::arch
