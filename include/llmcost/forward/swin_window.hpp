// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/config/image_stages.hpp>
#include <llmcost/forward/images.hpp>
#include <llmcost/layers/norm.hpp>

// Swin: attention within windows of patches, with shifted windows in every other block (arXiv 2103.14030).
//
// Shapes: B = batch, H = heads, width = hidden size of the stage.
namespace llmcost::swin_window {

enum family_config_index : std::uint8_t { window, qkv_bias, ratio, drops, depths, heads = depths + max_stages };

/// A stage: its width and heads, tokens in rows and columns, and how far a window reaches.
struct stage_sizes {
    std::int64_t width, heads, rows, columns, window;
    bool shifts;  ///< every other block's windows lie between those of the one before
};

/// (B, rows, columns, C) -> (B · windows, window², C).
constexpr tensor part(trace& t, const tensor& x, std::int64_t window) {
    const std::int64_t rows = x.dim(1) / window, columns = x.dim(2) / window, width = x.dim(3);
    const tensor windows = x.view({x.dim(0), rows, window, columns, window, width}).transpose(2, 3);
    return t.contiguous(windows).view({x.dim(0) * rows * columns, window * window, width});
}

/// Scores of places that the shift has brought together from afar, minus a hundred: (windows, window², window²).
constexpr tensor mask_of_shift(trace& t, std::int64_t rows, std::int64_t columns, std::int64_t window) {
    const tensor regions = part(t, t.full({1, rows, columns, 1}, t.activation_type()), window).squeeze(-1);
    return t.masked_fill(t.masked_fill(t.sub(regions.unsqueeze(1), regions.unsqueeze(2))));
}

/// Projects tokens of windows and splits them into heads: (windows, places, width) -> (windows, H, places, width / H).
constexpr tensor project_heads(trace& t, literal name, const stage_sizes& stage, bool has_bias, const tensor& x) {
    const tensor projected = t.call(name, linear{stage.width, stage.width, has_bias}, x);
    return projected.view({x.dim(0), x.dim(1), stage.heads, stage.width / stage.heads}).transpose(1, 2);
}

/// `torch.roll` of rows and columns.
constexpr tensor roll(trace& t, const tensor& x) { return t.copy(x); }

/// Merges four neighbours into one token of twice the width, with a norm before or after the projection.
constexpr tensor merge(const layer_context& ctx, trace& t, const stage_sizes& stage, const tensor& x,
                       bool norm_first = false) {
    const std::int64_t width = stage.width, rows = (stage.rows + 1) / 2, columns = (stage.columns + 1) / 2,
                       batch = x.dim(0);
    const module_info downsample{.name = "downsample", .class_of_module = ctx.class_of("PatchMerging")};
    t.enter(downsample);
    tensor h = x.view({batch, stage.rows, stage.columns, width});
    if (stage.rows % 2 != 0 || stage.columns % 2 != 0) h = t.pad(h, 1, stage.rows % 2, stage.columns % 2);
    const auto neighbour = [&] { return t.slice(t.slice(h, 1, rows, 2), 2, columns, 2); };
    const tensor a = neighbour(), b = neighbour(), c = neighbour(), d = neighbour();
    h = t.cat({a, b, c, d}, -1).view({batch, rows * columns, 4 * width});
    if (norm_first) h = t.call("norm", norm_module{norm_kind::layer, 4 * width}, h);
    h = t.call("reduction", linear{4 * width, 2 * width}, h);
    if (norm_first) return t.leave(downsample, h);
    return t.leave(downsample, t.call("norm", norm_module{norm_kind::layer, 2 * width}, h));
}

/// The blocks of a stage, of which every other one shifts.
template <class Block>
constexpr tensor blocks_of(const layer_context& ctx, trace& t, std::int64_t i, const stage_sizes& stage, tensor x) {
    const std::int64_t depth = stage_entry(ctx.config, depths, i), pairs = depth / 2;
    // rates grow from zero in the first block of all
    const bool drops_path = ctx.config.family[drops] != 0;
    const auto pair = [&](std::int64_t block_index, bool drops_first) {
        x = t.call({"blocks", block_index}, Block{ctx, stage, false, drops_first}, x);
        x = t.call({"blocks", block_index + 1}, Block{ctx, stage, stage.shifts, drops_path}, x);
    };
    if (pairs > 0) pair(0, drops_path && i > 0);
    for (loop layer_loop = t.loop_modules(pairs - 1, x, 1); layer_loop.next();)
        pair(2 * layer_loop.index(), drops_path);
    if (depth % 2 != 0)
        x = t.call({"blocks", depth - 1}, Block{ctx, stage, false, drops_path && (i > 0 || depth > 1)}, x);
    return x;
}

constexpr tensor embed(const layer_context& ctx, trace& t, tensor pixels) {
    const vision_config& image = ctx.config.vision;
    const std::int64_t width = ctx.config.embedding_size, patch = image.patch_size;
    const module_info embeddings{
        .name = "embeddings", .class_of_module = ctx.class_of("Embeddings"), .module_role = role::embedding};
    const module_info patches{.name = "patch_embeddings", .class_of_module = ctx.class_of("PatchEmbeddings")};
    t.enter(embeddings);
    t.enter(patches);
    if (pixels.dim(3) % patch != 0) pixels = t.pad_images(pixels, 0, patch - pixels.dim(3) % patch);
    if (pixels.dim(2) % patch != 0) pixels = t.pad_images(pixels, patch - pixels.dim(2) % patch, 0);
    const tensor h = t.call("projection", convolution_2d{image.num_channels, width, patch, patch}, pixels);
    const tensor tokens = t.leave(patches, as_tokens(h));
    return t.leave(embeddings, dropout(t, "dropout", t.call("norm", norm_module{norm_kind::layer, width}, tokens)));
}

/// Returns the mean of all tokens, which a bare model returns in addition to the tokens.
constexpr tensor pool(const layer_context& ctx, trace& t, const tensor& x) {
    const bool bare = ctx.config.head == head_kind::none;
    const recorder::detach_guard unread{t, bare};
    const module_info pooler{.name = "pooler", .class_of_module = {"", "AdaptiveAvgPool1d"}, .is_leaf = true};
    t.enter(pooler);
    const tensor pooled = t.leave(pooler, t.mean(x.transpose(1, 2), -1));
    return bare ? x : pooled;
}

/// A bias for each distance in a window, looked up in a table: (1, H, window², window²).
constexpr tensor bias_of_distance(trace& t, std::int64_t heads, std::int64_t window) {
    t.register_integer_buffer(window * window * window * window);  // `relative_position_index`
    const std::int64_t side = 2 * window - 1, places = window * window;
    const tensor table = t.param("relative_position_bias_table", {side * side, heads});
    const tensor picked = t.gather(table, {places * places, heads}).view({places, places, heads});
    return t.contiguous(picked.permute({2, 0, 1})).unsqueeze(0);
}

/// Tokens in windows through an attention and back: (B, rows · columns, width) -> the same.
template <class Attention>
constexpr tensor within_windows(const layer_context& ctx, trace& t, const stage_sizes& stage, bool shifted, bool drops,
                                const tensor& x) {
    const std::int64_t window = stage.window, batch = x.dim(0), width = stage.width;
    const auto rest = [&](std::int64_t n) { return (window - n % window) % window; };
    const std::int64_t below = rest(stage.rows), right = rest(stage.columns);
    const std::int64_t rows = stage.rows + below, columns = stage.columns + right;
    tensor h = t.pad(x.view({batch, stage.rows, stage.columns, width}), 1, below, right);
    if (shifted) h = roll(t, h);
    h = part(t, h, window);
    const tensor mask = shifted ? mask_of_shift(t, rows, columns, window) : tensor{};
    h = t.call("attention", Attention{ctx, stage}, h, shifted ? &mask : nullptr);
    if (drops) h = dropout(t, "dropout", h);
    const shape parted{batch, rows / window, columns / window, window, window, width};
    h = t.contiguous(h.view(parted).transpose(2, 3)).view({batch, rows, columns, width});
    if (shifted) h = roll(t, h);
    if (below > 0) h = t.slice(h, 1, stage.rows);
    if (right > 0) h = t.slice(h, 2, stage.columns);
    return t.contiguous(h).view({batch, stage.rows * stage.columns, width});
}

/// A stage's states as images, which nothing reads.
constexpr void return_as_images(trace& t, const tensor& x, std::int64_t rows, std::int64_t columns) {
    const recorder::detach_guard unread{t};
    (void)t.contiguous(x.view({x.dim(0), rows, columns, x.dim(2)}).permute({0, 3, 1, 2}));
}

/// Patches along the shorter side of a stage.
constexpr std::int64_t fewest_patches(std::int64_t height, std::int64_t width, std::int64_t patch, std::int64_t stage) {
    std::int64_t n = ((height < width ? height : width) + patch - 1) / patch;
    for (; stage > 0; --stage) n = (n + 1) / 2;
    return n;
}

/// Runs stages of such blocks; a window is limited to the smallest number of patches per side.
///
/// A layer with a single window along a side never shifts again (`set_shift_and_window_size` overwrites its
/// `shift_size`). The trace represents the state after images of the configured size, for all image sizes.
template <class Block, bool Images>
constexpr tensor stages(const layer_context& ctx, trace& t) {
    const model_config& config = ctx.config;
    const std::int64_t patch = config.vision.patch_size, reach = config.family[window];
    const module_info encoder{.name = "encoder", .class_of_module = ctx.class_of("Encoder")};
    const tensor pixels = image_input(ctx, t);
    tensor x = embed(ctx, t, pixels);
    std::int64_t rows = (pixels.dim(2) + patch - 1) / patch, columns = (pixels.dim(3) + patch - 1) / patch;
    t.enter(encoder);
    for (std::int64_t i = 0; i < config.num_hidden_layers; ++i) {
        const std::int64_t minimum = fewest_patches(pixels.dim(2), pixels.dim(3), patch, i);
        const std::int64_t usual = fewest_patches(config.vision.image_height, config.vision.image_width, patch, i);
        if (minimum < reach)
            throw_description_error(
                "the image is too small: the last stages have fewer patches along a side than a window");
        const bool shifts = minimum > reach && usual > reach && reach / 2 > 0;
        const stage_sizes sizes{
            config.embedding_size << i, stage_entry(config, heads, i), rows, columns, reach, shifts};
        const module_info module{.name = "layers", .index = i, .class_of_module = ctx.class_of("Stage")};
        t.enter(module);
        x = blocks_of<Block>(ctx, t, i, sizes, x);
        if (i + 1 < config.num_hidden_layers) {
            x = merge(ctx, t, sizes, x, true);
            rows = (rows + 1) / 2;
            columns = (columns + 1) / 2;
        }
        if (Images) return_as_images(t, x, rows, columns);
        t.leave(module, x);
    }
    return t.leave(encoder, x);
}

}  // namespace llmcost::swin_window
