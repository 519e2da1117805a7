// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/layers/norm.hpp>
#include <llmcost/reading/images.hpp>
#include <llmcost/walks/encoder.hpp>
#include <llmcost/walks/images.hpp>

namespace llmcost::arch {

namespace swinv2_detail {

enum own : std::uint8_t { window, qkv_bias, ratio, drops, depths, heads = depths + most_stages };
inline constexpr own_key keys[]{
    {"window_size", 7}, {"qkv_bias", 1, own_value::boolean}, {.value = own_value::computed}, {.value = own_value::computed}};

/// A stage: its width and heads, tokens in rows and columns, and how far a window reaches.
struct stage_sizes {
    std::int64_t width, heads, rows, columns, window;
    bool shifts;  ///< every other block's windows lie between those of the one before
};

/// `F.normalize`: each row over its length, which is at least the smallest difference.
constexpr value normalize(trace& t, const value& x) {
    const value length = t.unary(op::compare, t.vector_norm(x, -1, true));
    return t.div(x, length.expand({x.dim(0), x.dim(1), x.dim(2), x.dim(3)}));
}

/// (B, rows, columns, C) -> (B · windows, window², C).
constexpr value part(trace& t, const value& x, std::int64_t window) {
    const std::int64_t rows = x.dim(1) / window, columns = x.dim(2) / window, width = x.dim(3);
    const value windows = x.view({x.dim(0), rows, window, columns, window, width}).transpose(2, 3);
    return t.contiguous(windows).view({x.dim(0) * rows * columns, window * window, width});
}

/// Scores of places that the shift has brought together from afar, minus a hundred: (windows, window², window²).
constexpr value mask_of_shift(trace& t, std::int64_t rows, std::int64_t columns, std::int64_t window) {
    const value regions = part(t, t.constant({1, rows, columns, 1}, t.activation_type()), window).squeeze(-1);
    return t.where(t.where(t.sub(regions.unsqueeze(1), regions.unsqueeze(2))));
}

/// A bias for each distance in a window, which a small network makes of the distance: (H, window², window²).
constexpr value continuous_bias(trace& t, std::int64_t heads, std::int64_t window) {
    const std::int64_t side = 2 * window - 1, places = window * window;
    const module_info network{.name = "continuous_position_bias_mlp", .type = {"", "Sequential"}};
    const module_info relu{.name = "1", .type = {"", "ReLU"}, .leaf = true};
    value distances = trace::buffer({1, side, side, 2});
    distances.type = t.activation_type();
    t.enter(network);
    value h = t.call("0", linear{2, 512, true}, distances);
    t.enter(relu);
    t.in_place(op::relu, h);
    t.leave(relu, h);
    h = t.leave(network, t.call("2", linear{512, heads}, h)).view({side * side, heads});
    const value picked = t.gather(h, {places * places, heads}).view({places, places, heads});
    return t.mul(t.sigmoid(t.contiguous(picked.permute({2, 0, 1}))));
}

struct self_attention {
    const site& here;
    const stage_sizes& dims;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("SelfAttention"); }
    constexpr value describe(trace& t, const value& x, const value* mask) const {
        const std::int64_t width = dims.width, heads = dims.heads, windows = x.dim(0), places = x.dim(1);
        const bool with_bias = here.dims.own[qkv_bias] != 0;
        const value scale = t.param("logit_scale", {heads, 1, 1});
        const auto project = [&](literal name, bool bias) {
            const value all = t.call(name, linear{width, width, bias}, x);
            return all.view({windows, places, heads, width / heads}).transpose(1, 2);
        };
        const value q = project("query", with_bias), k = project("key", false), v = project("value", with_bias);
        const value biases = continuous_bias(t, heads, dims.window).unsqueeze(0);
        const recorder::fused_guard fused{t, fused_attention(q, heads, all_positions(places).where, places)};
        const value alike = t.matmul_operator(normalize(t, q), normalize(t, k).transpose(-2, -1));
        value scores = t.mul(alike, t.exp(t.unary(op::compare, scale)));
        scores = t.add(scores, biases);
        if (mask != nullptr) {  // added twice
            const std::int64_t n = mask->dim(0);
            const value each = mask->unsqueeze(1).unsqueeze(0);
            scores = t.add(t.add(scores.view({windows / n, n, heads, places, places}), each), each);
            scores = scores.view({windows, heads, places, places});
        }
        const value mixed =
            t.matmul(dropout(t, "dropout", t.softmax(scores), dropout_of::attention), v).permute({0, 2, 1, 3});
        return t.contiguous(mixed).view({windows, places, width});
    }
};

/// A linear layer and dropout.
constexpr value project(const site& here, trace& t, literal type, std::int64_t in, std::int64_t out, const value& x,
                        dropout_of place = dropout_of::hidden) {
    const module_info output{.name = "output", .type = here.type(type)};
    t.enter(output);
    return t.leave(output, dropout(t, "dropout", t.call("dense", linear{in, out, true}, x), place));
}

/// `torch.roll` of rows and columns.
constexpr value roll(trace& t, const value& x) { return t.copy(x); }

struct block {
    const site& here;
    const stage_sizes& dims;
    bool shifted, drops_path;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Layer"); }
    constexpr value describe(trace& t, const value& x) const {
        const drop_path_module path{here.row.prefix, drops_path};
        const norm<norm_kind::layer> layer_norm{dims.width};
        const std::int64_t inner = times_ratio(here.dims, ratio, dims.width);
        const module_info intermediate{.name = "intermediate", .type = here.type("Intermediate"), .what = role::mlp};
        value h = t.call("layernorm_before", layer_norm, attend(t, x));
        const value middle = t.add(x, t.call("drop_path", path, h));
        t.enter(intermediate);
        h = t.call("dense", linear{dims.width, inner, true}, middle);
        h = t.leave(intermediate, t.call("intermediate_act_fn", activation_module{here.dims.hidden_act}, h));
        h = t.call("layernorm_after", layer_norm, project(here, t, "Output", inner, dims.width, h));
        return t.add(middle, t.call("drop_path", path, h));
    }

private:
    constexpr value attend(trace& t, const value& x) const {
        const std::int64_t window = dims.window, batch = x.dim(0), width = dims.width;
        const auto rest = [&](std::int64_t n) { return (window - n % window) % window; };
        const std::int64_t below = rest(dims.rows), right = rest(dims.columns);
        const std::int64_t rows = dims.rows + below, columns = dims.columns + right;
        const module_info attention{.name = "attention", .type = here.type("Attention"), .what = role::attn};
        value h = t.pad(x.view({batch, dims.rows, dims.columns, width}), 1, below, right);
        if (shifted) h = roll(t, h);
        h = part(t, h, window);
        const value mask = shifted ? mask_of_shift(t, rows, columns, window) : value{};
        const module_info self{.name = "self", .type = here.type("SelfAttention")};
        t.enter(attention);
        t.enter(self);
        h = t.leave(self, self_attention{here, dims}.describe(t, h, shifted ? &mask : nullptr));
        h = t.leave(attention, project(here, t, "SelfOutput", width, width, h, dropout_of::attention));
        const extents parted{batch, rows / window, columns / window, window, window, width};
        h = t.contiguous(h.view(parted).transpose(2, 3)).view({batch, rows, columns, width});
        if (shifted) h = roll(t, h);
        if (below > 0) h = t.slice(h, 1, dims.rows);
        if (right > 0) h = t.slice(h, 2, dims.columns);
        return t.contiguous(h).view({batch, dims.rows * dims.columns, width});
    }
};

/// Four neighbours become one token of twice the width, with a norm behind the projection or in front of it.
constexpr value merge(const site& here, trace& t, const stage_sizes& dims, const value& x, bool norm_first = false) {
    const std::int64_t width = dims.width, rows = (dims.rows + 1) / 2, columns = (dims.columns + 1) / 2, batch = x.dim(0);
    const module_info downsample{.name = "downsample", .type = here.type("PatchMerging")};
    t.enter(downsample);
    value h = x.view({batch, dims.rows, dims.columns, width});
    if (dims.rows % 2 != 0 || dims.columns % 2 != 0) h = t.pad(h, 1, dims.rows % 2, dims.columns % 2);
    const auto neighbour = [&] { return t.slice(t.slice(h, 1, rows, 2), 2, columns, 2); };
    const value a = neighbour(), b = neighbour(), c = neighbour(), d = neighbour();
    h = t.cat({a, b, c, d}, -1).view({batch, rows * columns, 4 * width});
    if (norm_first) h = t.call("norm", norm<norm_kind::layer>{4 * width}, h);
    h = t.call("reduction", linear{4 * width, 2 * width}, h);
    if (norm_first) return t.leave(downsample, h);
    return t.leave(downsample, t.call("norm", norm<norm_kind::layer>{2 * width}, h));
}

constexpr stage_sizes size_stage(const sizes& dims, std::int64_t i, std::int64_t rows, std::int64_t columns) {
    const std::int64_t patch = dims.vision.patch_size, resolution = (dims.vision.image_height / patch) >> i;
    const std::int64_t reach = resolution < dims.own[window] ? resolution : dims.own[window];
    return {dims.embedding_size << i,
            of_stage(dims, heads, i),
            rows,
            columns,
            reach,
            resolution > reach && dims.own[window] / 2 > 0};
}

/// The blocks of a stage, of which every other one shifts.
template <class Block>
constexpr value blocks_of(const site& here, trace& t, std::int64_t i, const stage_sizes& dims, value x) {
    const std::int64_t depth = of_stage(here.dims, depths, i), pairs = depth / 2;
    // rates grow from zero in the first block of all
    const bool drops_path = here.dims.own[drops] != 0;
    const auto pair = [&](std::int64_t at, bool drops_first) {
        x = t.call({"blocks", at}, Block{here, dims, false, drops_first}, x);
        x = t.call({"blocks", at + 1}, Block{here, dims, dims.shifts, drops_path}, x);
    };
    if (pairs > 0) pair(0, drops_path && i > 0);
    for (repetition each = t.repeat(pairs - 1, x, 1); each.next();) pair(2 * each.index(), drops_path);
    if (depth % 2 != 0) x = t.call({"blocks", depth - 1}, Block{here, dims, false, drops_path && (i > 0 || depth > 1)}, x);
    return x;
}

constexpr value stage(const site& here, trace& t, std::int64_t i, const stage_sizes& dims, const value& x) {
    const module_info module{.name = "layers", .index = i, .type = here.type("Stage")};
    t.enter(module);
    value h = blocks_of<block>(here, t, i, dims, x);
    if (i + 1 < here.dims.num_hidden_layers) h = merge(here, t, dims, h);
    return t.leave(module, h);
}

constexpr value embed(const site& here, trace& t, value pixels) {
    const vision_sizes& image = here.dims.vision;
    const std::int64_t width = here.dims.embedding_size, patch = image.patch_size;
    const module_info embeddings{.name = "embeddings", .type = here.type("Embeddings"), .what = role::embedding};
    const module_info patches{.name = "patch_embeddings", .type = here.type("PatchEmbeddings")};
    t.enter(embeddings);
    t.enter(patches);
    if (pixels.dim(3) % patch != 0) pixels = t.pad_images(pixels, 0, patch - pixels.dim(3) % patch);
    if (pixels.dim(2) % patch != 0) pixels = t.pad_images(pixels, patch - pixels.dim(2) % patch, 0);
    const value h = t.call("projection", convolution_2d{image.num_channels, width, patch, patch}, pixels);
    const value tokens = t.leave(patches, as_tokens(h));
    return t.leave(embeddings, dropout(t, "dropout", t.call("norm", norm<norm_kind::layer>{width}, tokens)));
}

/// The mean of all tokens, which a bare model hands out beside them.
constexpr value pool(const site& here, trace& t, const value& x) {
    const bool bare = here.dims.head == head_kind::none;
    const recorder::off_loss_guard unread{t, bare};
    const module_info pooler{.name = "pooler", .type = {"", "AdaptiveAvgPool1d"}, .leaf = true};
    t.enter(pooler);
    const value pooled = t.leave(pooler, t.mean(x.transpose(1, 2), -1));
    return bare ? x : pooled;
}

constexpr value base(const site& here, trace& t) {
    const sizes& dims = here.dims;
    const std::int64_t patch = dims.vision.patch_size;
    const module_info encoder{.name = "encoder", .type = here.type("Encoder")};
    const value pixels = images_of(here, t);
    value x = embed(here, t, pixels);
    std::int64_t rows = (pixels.dim(2) + patch - 1) / patch, columns = (pixels.dim(3) + patch - 1) / patch;
    t.enter(encoder);
    for (std::int64_t i = 0; i < dims.num_hidden_layers; ++i) {
        x = stage(here, t, i, size_stage(dims, i, rows, columns), x);
        rows = (rows + 1) / 2, columns = (columns + 1) / 2;
    }
    t.leave(encoder);
    return pool(here, t, t.call("layernorm", norm<norm_kind::layer>{x.dim(2)}, x));
}

inline constexpr dropout_key dropout_rates[]{{dropout_of::hidden, "hidden_dropout_prob"},
                                             {dropout_of::attention, "attention_probs_dropout_prob"}};

}  // namespace swinv2_detail

/// Cosine attention within windows that every other block shifts, in stages.
///
/// Source: transformers/models/swinv2/modeling_swinv2.py.
constexpr value describe_swinv2(const site& here, trace& t) {
    return describe_image_model(here, t, "swinv2", swinv2_detail::base, classify_linear);
}

/// Sizes of images, stages, windows, as all of Swin's family write them.
constexpr void read_swin(config_view config, sizes& s) {
    using namespace swinv2_detail;
    s.vision = read_images(config, 224);
    s.vision.patch_size = config.positive("patch_size", 4);
    s.embedding_size = config.positive("embed_dim", 96);
    const std::int64_t n = s.num_hidden_layers = read_stages(config, "depths", {2, 2, 6, 2}, s.own, depths);
    if (n > 4 && !config.contains("num_heads")) fail_value(config, "depths", "no more stages than num_heads has");
    if (read_stages(config, "num_heads", {3, 6, 12, 24}, s.own, heads) < n)
        fail_value(config, "num_heads", "a number for each stage");
    read_ratio(config, "mlp_ratio", 4.0, s.own, ratio);
    s.own[drops] = config.real("drop_path_rate", 0.1) > 0.0;
    (void)checked_width(config, "embed_dim", s.embedding_size, std::int64_t{1} << n);
    if (times_ratio(s, ratio, s.embedding_size) < 1) fail_value(config, "mlp_ratio", "a ratio that leaves a feature");
    if (config.boolean("use_absolute_embeddings", false))
        fail_unsupported(config, "use_absolute_embeddings", "no row adds positions in front of windows");
    for (std::int64_t i = 0; i < n; ++i)
        if ((s.embedding_size << i) % of_stage(s, heads, i) != 0)
            fail_value(config, "num_heads", "divisors of each stage's width");
}

constexpr void read_swinv2(config_view config, sizes& s) {
    read_swin(config, s);
    const std::int64_t n = s.num_hidden_layers;
    if (n > 4 && !config.contains("pretrained_window_sizes"))
        fail_value(config, "depths", "no more stages than num_heads and pretrained_window_sizes have");
    if (const auto windows = config.optional_array("pretrained_window_sizes");
        windows && static_cast<std::int64_t>(windows->size()) < n)
        fail_value(config, "pretrained_window_sizes", "a number for each stage");
    for (std::int64_t i = 0; i < n; ++i)
        if (swinv2_detail::size_stage(s, i, 0, 0).window < 1)
            fail_value(config, "image_size", "a row of patches in each stage");
}

// transformers/models/swinv2: configuration_swinv2.py, modeling_swinv2.py
inline constexpr architecture swinv2{
    .model_type = "swinv2",
    .prefix = "Swinv2",
    .describe = describe_swinv2,
    .read = read_swinv2,
    .own = swinv2_detail::keys,
    .drops = swinv2_detail::dropout_rates,
    .rotated = rotation::none,
    .any_image = true,
    .heads = {head_kind::none, head_kind::image_classification},
    .defaults = image_defaults(activation::gelu),
};

}  // namespace llmcost::arch
