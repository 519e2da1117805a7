// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/image.hpp>
#include <llmcost/config/layer_types.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/decoder.hpp>
#include <llmcost/forward/images.hpp>
#include <llmcost/forward/sam_encoder.hpp>
#include <llmcost/forward/vision_encoder.hpp>
#include <llmcost/layers/einsum.hpp>

namespace llmcost::arch {

namespace sam_detail {

using sam_encoder::family_keys, sam_encoder::forward_vision_encoder, sam_encoder::qkv_bias,
    sam_encoder::relative_places, sam_encoder::window, sam_encoder::windowed;

/// A row of a table of distances, resampled to as many as there are, for each query and key: (length, length, d).
///
/// Source: `get_rel_pos`, which makes distances in floating-point numbers.
constexpr tensor distances(trace& t, const tensor& table, std::int64_t length) {
    const tensor queries = t.mul_scalar(trace::buffer({length, 1})),
                 family_keys = t.mul_scalar(trace::buffer({1, length}));
    (void)t.add_scalar(t.sub(queries, family_keys));
    const tensor resized = t.resample(op::linear_1d, table.unsqueeze(0).transpose(1, 2), {2 * length - 1});
    return t.gather(resized, {length, length, table.dim(1)});
}

/// Attention over a square of patches, whose scores get what rows and columns are apart: (B, H, W, width) -> the same.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t heads = ctx.config.num_attention_heads, width = ctx.config.hidden_size, d = width / heads;
    const std::int64_t batch = x.dim(0), rows = x.dim(1), columns = x.dim(2), n = rows * columns;
    const tensor all = t.call("qkv", linear{width, 3 * width, ctx.config.family[qkv_bias] != 0}, x);
    const tensor stacked_qkv =
        t.reshape(t.reshape(all, {batch, n, 3, heads, d}).permute({2, 0, 3, 1, 4}), {3, batch * heads, n, d});
    const tensor q = stacked_qkv.select(0), k = stacked_qkv.select(0), v = stacked_qkv.select(0);
    tensor scores = t.matmul(t.mul_scalar(q), k.transpose(1, 2));
    if (ctx.config.family[relative_places] != 0) {
        const vision_config& image = ctx.config.vision;
        const std::int64_t side =
            ctx.layer.family_tag == windowed ? ctx.config.family[window] : image.image_height / image.patch_size;
        const tensor by_row = t.param("rel_pos_h", {2 * side - 1, d}),
                     by_column = t.param("rel_pos_w", {2 * side - 1, d});
        const tensor of_queries = t.reshape(q, {batch * heads, rows, columns, d});
        const tensor high = einsum(t, "bhwc,hkc->bhwk", of_queries, distances(t, by_row, rows));
        const tensor relative_width = einsum(t, "bhwc,wkc->bhwk", of_queries, distances(t, by_column, columns));
        const tensor relative_bias = t.add(high.unsqueeze(4), relative_width.unsqueeze(3));
        scores = t.add(scores, t.reshape(relative_bias, {batch * heads, n, n}));
    }
    const tensor features = t.to(t.softmax(t.to(scores, dtype::float32)), x.type);
    const tensor mixed = t.matmul(features, v).view({batch, heads, rows, columns, d}).permute({0, 2, 3, 1, 4});
    return t.call("proj", linear{width, width, true}, t.reshape(mixed, {batch, rows, columns, width}));
}

/// Windows cut out of a padded image, attended to by themselves, put together again.
constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const norm_module layer_norm{norm_kind::layer, ctx.config.hidden_size};
    tensor h = t.call("layer_norm1", layer_norm, x);
    if (ctx.layer.family_tag == windowed) {
        const std::int64_t side = ctx.config.family[window], width = ctx.config.hidden_size;
        const std::int64_t rows = (x.dim(1) + side - 1) / side, columns = (x.dim(2) + side - 1) / side;
        const tensor padded = t.pad(h, 1, rows * side - x.dim(1), columns * side - x.dim(2));
        const tensor cut = padded.view({x.dim(0), rows, side, columns, side, width}).permute({0, 1, 3, 2, 4, 5});
        const tensor windows = t.contiguous(cut).view({-1, side, side, width});
        h = t.call("attn", attention_module{ctx}, windows);
        const tensor merged_windows = h.view({x.dim(0), rows, columns, side, side, width}).permute({0, 1, 3, 2, 4, 5});
        h = t.contiguous(merged_windows).view({x.dim(0), rows * side, columns * side, width});
        h = t.contiguous(t.slice(t.slice(h, 1, x.dim(1)), 2, x.dim(2)));
    } else {
        h = t.call("attn", attention_module{ctx}, h);
    }
    const tensor middle = t.add(x, h);
    const mlp_module block{mlp_kind::plain,
                           ctx.config.hidden_size,
                           ctx.config.intermediate_size,
                           ctx.config.hidden_act,
                           ctx.class_of("MLPBlock"),
                           true,
                           {.up = "lin1", .down = "lin2", .act = "act"}};
    return t.add(middle, t.call("mlp", block, t.call("layer_norm2", layer_norm, middle)));
}

/// The encoder in a module of its own.
constexpr tensor base(const layer_context& ctx, trace& t) {
    return forward_in_module({.name = "vision_encoder", .class_of_module = ctx.class_of("VisionEncoder")},
                             forward_vision_encoder, ctx, t);
}

}  // namespace sam_detail

inline constexpr submodel_spec sam_vision_encoder = [](model_spec spec) {
    spec.class_prefix = "Sam";
    spec.base_model = sam_detail::base;
    spec.parse_config = sam_encoder::parse_config;
    spec.family_keys = sam_encoder::family_keys;
    spec.supported_heads = {};
    spec.decoder_layer = sam_detail::decoder_layer;
    spec.attention = sam_detail::attention;
    spec.supported_layers.max_family_tag = sam_encoder::windowed;
    spec.names.layer_class = "VisionLayer";
    spec.names.attention_class = "VisionAttention";
    spec.config_keys.add("intermediate_size", key_rule::absent);
    spec.defaults.hidden_act = activation::gelu;
    spec.defaults.intermediate_size = 0;
    return spec;
}(shared_tower);

// transformers/models/sam: `SamVisionModel` with windowed and global layers; a component of other models
inline constexpr model_spec sam_vision_model = [](model_spec spec) {
    spec.model_type = "sam_vision_model";
    return spec;
}(sam_vision_encoder);

}  // namespace llmcost::arch
