// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/roberta.hpp>
#include <llmcost/layers/einsum.hpp>

namespace llmcost::arch {

namespace longformer_detail {

/// Different windows that a row has room for; a layer's word is which one it has.
inline constexpr std::uint8_t most_windows = 8;

enum own : std::uint8_t { widest, first_window };
inline constexpr own_key keys[first_window + most_windows]{
    {.value = own_value::computed}, {.value = own_value::computed}, {.value = own_value::computed},
    {.value = own_value::computed}, {.value = own_value::computed}, {.value = own_value::computed},
    {.value = own_value::computed}, {.value = own_value::computed}, {.value = own_value::computed},
};

/// Tokens with the padding to whole windows.
[[nodiscard]] constexpr std::int64_t padded(const site& here, std::int64_t sequence) {
    const std::int64_t window = here.dims.own[widest];
    return (sequence + window - 1) / window * window;
}

/// Chunks that overlap: a view with so many rows, each chunk beginning so many rows after the one before (`as_strided`).
///
/// Backward adds the gradients of all chunks into one tensor (FunctionsManual.cpp, `as_strided_backward`).
constexpr value overlapping(trace& t, const value& x, std::int64_t chunks, std::int64_t rows, std::int64_t step) {
    value v = x.unsqueeze(1);
    v.size[1] = chunks, v.size[2] = rows;
    v.stride[1] = step * x.stride[1];
    v.elements = elements_of(v.size, v.rank);
    if (chunks > 1 && x.requires_grad) t.backward({.add = count(v.elements)});
    return t.cut(x, v);
}

/// A part of a tensor, cut along two dimensions.
constexpr value part(trace& t, const value& x, int a, std::int64_t m, int b, std::int64_t n) {
    return t.slice(t.slice(x, a, m), b, n);
}

/// What stands outside of a text, at its begin or its end, is set to minus infinity (`_mask_invalid_locations`).
constexpr void hide_outside(trace& t, value& scores, std::int64_t w) {
    for (int mask = 0; mask < 4; ++mask) (void)t.constant({w, w + 1}, scores.type);  // ones, a triangle, turned twice
    for (int end = 0; end < 2; ++end) {
        const value in = part(t, scores, 1, w, 3, w + 1);
        (void)t.constant({in.dim(0), in.dim(1), in.dim(2), in.dim(3)}, in.type);
        t.copy_into(scores, t.where(in));
    }
}

/// Products of each query with the keys w before and after it, (B, L, heads, 2 w + 1) (`_sliding_chunks_query_key_matmul`).
constexpr value score_windows(trace& t, const value& q, const value& k, std::int64_t w) {
    const std::int64_t batch = q.dim(0), length = q.dim(1), heads = q.dim(2), d = q.dim(3), chunks = length / w - 1;
    const auto chunked = [&](const value& x) {
        return overlapping(t, t.reshape(x.transpose(1, 2), {batch * heads, length, d}), chunks, 2 * w, w);
    };
    const value left = chunked(q), right = chunked(k);
    value all = t.pad(einsum(t, "bcxd,bcyd->bcxy", left, right), 2, 1);
    all = all.view({batch * heads, chunks, 2 * w, 2 * w + 1});
    value scores = t.constant({batch * heads, chunks + 1, w, 2 * w + 1}, q.type);
    t.copy_into(scores, part(t, all, 2, w, 3, w + 1));
    t.copy_into(scores, part(t, t.select(all, 1), 1, w, 2, w + 1));
    t.copy_into(scores, part(t, all, 2, w, 3, w));
    t.copy_into(scores, part(t, t.select(all, 1), 1, w - 1, 2, w - 1));
    scores = scores.view({batch, heads, length, 2 * w + 1}).transpose(2, 1);
    hide_outside(t, scores, w);
    return scores;
}

/// Values in windows, weighed: (B, L, heads, d) (`_sliding_chunks_matmul_attn_probs_value`).
constexpr value mix_windows(trace& t, const value& weights, const value& v, std::int64_t w) {
    const std::int64_t batch = v.dim(0), length = v.dim(1), heads = v.dim(2), d = v.dim(3), chunks = length / w;
    value shares = t.reshape(weights.transpose(1, 2), {batch * heads, chunks, w, 2 * w + 1});
    const value values = t.pad(t.reshape(v.transpose(1, 2), {batch * heads, length, d}), 1, 2 * w);
    const value spans = overlapping(t, values, chunks, 3 * w, w);
    shares = t.pad(shares, 3, w + 1).view({batch * heads, chunks, w * (3 * w + 2)});
    shares = t.slice(shares, 2, w * (3 * w + 1)).view({batch * heads, chunks, w, 3 * w + 1});
    const value mixed = einsum(t, "bcwd,bcdh->bcwh", t.slice(shares, 3, 3 * w), spans);
    return mixed.view({batch, heads, length, d}).transpose(1, 2);
}

/// Attention through windows; no token is seen by all, as nobody says which.
constexpr value attend(const site& here, trace& t, const value& x) {
    const std::int64_t width = here.dims.hidden_size, heads = here.dims.num_attention_heads, d = here.dims.head_dim;
    const std::int64_t batch = x.dim(0), length = x.dim(1), w = here.dims.own[first_window + here.kind.own] / 2;
    if (w == 0) report_description("longformer: a layer without a window");
    const linear projection{width, width, true};
    const value turned = x.transpose(0, 1);
    const auto project = [&](literal name) { return t.call(name, projection, turned); };
    const auto split = [&](const value& all) { return all.view({length, batch, heads, d}).transpose(0, 1); };
    value q = project("query");
    const value k = project("key"), v = project("value");
    {
        const recorder::idle_guard none_is_global{t};
        for (const literal name : {"query_global", "key_global", "value_global"}) (void)project(name);
    }
    const recorder::fused_guard fused{
        t, fused_attention(dense({batch, heads, length, d}, x.type), heads, here.shared->where, length)};
    t.in_place(op::div, q);
    value scores = score_windows(t, split(q), split(k), w);
    const value mask = t.where(t.constant({batch, length, 1, 1}, x.type)), ones = t.constant({batch, length, 1, 1}, x.type);
    t.in_place(op::add, scores, score_windows(t, ones, mask, w));
    value weights = t.where(t.softmax(t.to(scores, dtype::float32)));
    weights = drop(t, t.to(weights, x.type), dropout_of::attention);
    const value mixed = mix_windows(t, weights, split(v), w);
    return t.contiguous(t.reshape(mixed.transpose(0, 1), {length, batch, width})).transpose(0, 1);
}

/// Words with their padding, and a mask that is made whole for the row that is read of it.
constexpr value embed(const site& here, trace& t) {
    const std::int64_t batch = t.load().batch, sequence = t.load().sequence, length = padded(here, sequence);
    const std::int64_t width = here.dims.hidden_size;
    const extents ids{batch, length};
    t.chunked(here.dims.own[widest]);
    value mask = t.constant({batch, sequence});
    if (length > sequence) mask = t.pad(mask, 1, length - sequence);
    t.positions(here.dims.max_position_embeddings - here.dims.first_position, sequence);
    const module_info embeddings{.name = "embeddings", .type = here.type("Embeddings"), .what = role::embedding};
    t.enter(embeddings);
    const value words = t.call("word_embeddings", embedding{here.dims.vocab_size, width}, ids);
    value x = t.add(words, t.call("position_embeddings", embedding{here.dims.max_position_embeddings, width}, ids));
    x = t.add(x, t.call("token_type_embeddings", embedding{here.dims.type_vocab_size, width}, ids));
    x = t.leave(embeddings, norm_embeddings(here, t, x));
    (void)t.unary(op::clamp, mask);
    (void)eager_mask(t, {.sequence = length, .causal = false}, batch);
    return x;
}

/// Layers over whole windows, whose padding is cut off at last.
constexpr value encode(const site& here, trace& t) {
    const value x = here.row.embed(here, t);
    const decoder_context shared = here.row.prepare(here, t);
    const module_info encoder{.name = "encoder", .type = here.type("Encoder")};
    t.enter(encoder);
    return t.leave(encoder, t.slice(describe_layers(here, t, shared, x), 1, t.load().sequence));
}

constexpr void read(config_view config, sizes& s) {
    roberta_detail::read(config, s);
    if (s.is_decoder) fail_unsupported(config, "is_decoder", "no row describes this type as a decoder");
    if (config.boolean("onnx_export", false)) fail_unsupported(config, "onnx_export", "no row describes the form for ONNX");
    const auto given = config.find("attention_window");
    const bool listed = given && given->is_array();
    if (listed && static_cast<std::int64_t>(given->size()) != s.num_hidden_layers)
        fail_value(config, "attention_window", "a window, or a list with one per hidden layer");
    const std::int64_t same = listed ? 0 : config.positive("attention_window", 512);
    std::uint8_t known = 0;
    plan_layers(config, s, [&](std::int64_t i) {
        const std::int64_t window = listed ? (*given)[static_cast<std::uint32_t>(i)].as_positive() : same;
        if (window % 2 != 0) fail_value(config, "attention_window", "even windows");
        std::uint8_t n = 0;
        while (n < known && s.own[first_window + n] != window) ++n;
        if (n == most_windows) fail_unsupported(config, "attention_window", "no row has room for more than 8 windows");
        if (n == known) s.own[first_window + known++] = window;
        s.own[widest] = window > s.own[widest] ? window : s.own[widest];
        return layer_kind{.own = n};
    });
    for (std::uint8_t n = 0; n < known; ++n)
        if (s.own[widest] % s.own[first_window + n] != 0)
            fail_value(config, "attention_window", "windows that divide the widest one");
}

}  // namespace longformer_detail

// transformers/models/longformer: RoBERTa with attention through windows, in chunks
inline constexpr architecture longformer = [](architecture a) {
    a.model_type = "longformer", a.prefix = "Longformer", a.read = longformer_detail::read;
    a.own = longformer_detail::keys, a.base = longformer_detail::encode, a.embed = longformer_detail::embed;
    a.attend = longformer_detail::attend, a.kinds.own = longformer_detail::most_windows - 1;
    a.heads = {head_kind::none, head_kind::masked_lm, head_kind::token_classification};
    a.names.base = "longformer", a.defaults.vocab_size = 30522, a.defaults.head = head_kind::masked_lm;
    a.drops = headless_encoder_dropout;
    return a;
}(roberta);

}  // namespace llmcost::arch
