// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/layers/mlp.hpp>
#include <llmcost/layers/norm.hpp>
#include <llmcost/reading/images.hpp>
#include <llmcost/walks/images.hpp>

namespace llmcost::arch {

namespace focalnet_detail {

inline constexpr std::int64_t most = 5;  // stages: three lists of them

enum own : std::uint8_t {
    overlaps,     ///< patches
    scales,       ///< a factor for each channel of what a block adds
    norms_last,   ///< norms behind blocks, not in front
    norms_inner,  ///< a norm inside of a modulation
    divides,      ///< what all levels add up to, by their number
    drops,
    ratio,  ///< features inside of a feed-forward block to those around it
    depths,
    levels = depths + most,
    windows = levels + most
};
inline constexpr own_key keys[]{{"use_conv_embed", 0, own_value::boolean},
                                {"use_layerscale", 0, own_value::boolean},
                                {"use_post_layernorm", 0, own_value::boolean},
                                {"use_post_layernorm_in_modulation", 0, own_value::boolean},
                                {"normalize_modulator", 0, own_value::boolean},
                                {.value = own_value::computed},
                                {.value = own_value::computed}};

/// `nn.GELU`, whatever `hidden_act` says.
struct plain_gelu : activation_module {
    constexpr plain_gelu() noexcept : activation_module{activation::gelu} {}
    [[nodiscard]] constexpr class_name type() const { return {"", "GELU"}; }
};

/// A convolution over patches of so many pixels, padded to whole ones: (B, channels, height, width) -> the same, smaller.
constexpr value project(const site& here, trace& t, std::int64_t width, std::int64_t patch, bool stem, value x) {
    const auto missing = [&](std::int64_t side) { return side % patch == 0 ? 0 : patch - side % patch; };
    if (const std::int64_t more = missing(x.dim(3)); more != 0) x = t.pad_images(x, 0, more);
    if (const std::int64_t more = missing(x.dim(2)); more != 0) x = t.pad_images(x, more, 0);
    convolution_2d dims{x.dim(1), width, patch, patch};
    if (here.dims.own[overlaps])
        dims = stem ? convolution_2d{x.dim(1), width, 7, 4, 2} : convolution_2d{x.dim(1), width, 3, 2, 1};
    return t.call("projection", dims, x);
}

/// Each place times what lies around it, at several distances.
struct modulation {
    const site& here;
    std::int64_t width;
    std::int64_t stage;

    static constexpr role what = role::mixer;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Modulation"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t count = of_stage(here.dims, levels, stage), window = of_stage(here.dims, windows, stage);
        const value all = t.call("projection_in", linear{width, 2 * width + count + 1, true}, x);
        const value mixed = t.contiguous(all.permute({0, 3, 1, 2}));
        const value q = mixed.slice(1, width), gates = mixed.slice(1, count + 1);
        value around = mixed.slice(1, width), sum;
        for (std::int64_t k = 0; k < count; ++k) {
            const module_info level{.name = "focal_layers", .index = k, .type = {"", "Sequential"}};
            const std::int64_t kernel = 2 * k + window;
            t.enter(level);
            around = t.call("0", convolution_2d{width, width, kernel, 1, kernel / 2, width, false}, around);
            around = t.leave(level, t.call("1", plain_gelu{}, around));
            const value gated = t.mul(around, t.slice(gates, 1, 1));
            sum = k == 0 ? t.add(gated) : t.add(sum, gated);  // zero is added to the first
        }
        const value global = t.call("activation", plain_gelu{}, t.mean(t.mean(around, 2, true), 3, true));
        sum = t.add(sum, t.mul(global, t.slice(gates, 1, 1)));
        if (here.dims.own[divides]) sum = t.div(sum);
        value out = t.mul(q, t.call("projection_context", convolution_2d{width, width}, sum));
        out = t.contiguous(out.permute({0, 2, 3, 1}));
        if (here.dims.own[norms_inner]) out = t.call("layernorm", norm<norm_kind::layer>{width}, out);
        return dropout(t, "projection_dropout", t.call("projection_out", linear{width, width, true}, out));
    }
};

struct feed_forward {
    const site& here;
    std::int64_t width;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Mlp"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t inner = times_ratio(here.dims, ratio, width);
        value h =
            t.call("activation", activation_module{here.dims.hidden_act}, t.call("fc1", linear{width, inner, true}, x));
        h = t.call("fc2", linear{inner, width, true}, dropout(t, "drop", h));
        return dropout(t, "drop", h);
    }
};

struct layer {
    const site& here;
    std::int64_t width, stage, rows, columns;
    bool drops_path;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Layer"); }
    constexpr value describe(trace& t, const value& x) const {
        const bool scaled = here.dims.own[scales] != 0, last = here.dims.own[norms_last] != 0;
        const value first = scaled ? t.param("gamma_1", {width}) : value{};
        const value second = scaled ? t.param("gamma_2", {width}) : value{};
        const norm<norm_kind::layer> layer_norm{width};
        const drop_path_module path{here.row.prefix, drops_path};
        const std::int64_t batch = x.dim(0);
        value h = last ? x : t.call("norm1", layer_norm, x);
        h = t.call("modulation", modulation{here, width, stage}, h.view({batch, rows, columns, width}));
        h = h.view({batch, rows * columns, width});
        if (last) h = t.call("norm1", layer_norm, h);
        const value middle = t.add(x, t.call("drop_path", path, scaled ? t.mul(first, h) : t.mul(h)));
        const feed_forward block{here, width};
        h = last ? t.call("norm2", layer_norm, t.call("mlp", block, middle))
                 : t.call("mlp", block, t.call("norm2", layer_norm, middle));
        return t.add(middle, t.call("drop_path", path, scaled ? t.mul(second, h) : t.mul(h)));
    }
};

/// Tokens of a stage, and how many rows and columns of them there are.
struct grid {
    value tokens;
    std::int64_t rows;
    std::int64_t columns;
};

constexpr value flat(const value& image) { return image.view({image.dim(0), image.dim(1), -1}).transpose(1, 2); }

constexpr grid stage(const site& here, trace& t, std::int64_t i, const grid& from) {
    const std::int64_t width = here.dims.embedding_size << i, depth = of_stage(here.dims, depths, i);
    const module_info module{.name = "stages", .index = i, .type = here.type("Stage")};
    t.enter(module);
    grid out = from;
    value& x = out.tokens;
    // rates grow from zero in the first layer of all to `drop_path_rate` in the last
    const bool drops_path = here.dims.own[drops] != 0;
    x = t.call({"layers", 0}, layer{here, width, i, from.rows, from.columns, drops_path && i > 0}, x);
    for (repetition each = t.repeat(depth - 1, x, 1); each.next();)
        x = t.call({"layers", each.index()}, layer{here, width, i, from.rows, from.columns, drops_path}, x);
    if (i + 1 < here.dims.num_hidden_layers) {
        const module_info downsample{.name = "downsample", .type = here.type("PatchEmbeddings")};
        const value image = t.reshape(x.transpose(1, 2), {x.dim(0), -1, from.rows, from.columns});
        t.enter(downsample);
        const value h = project(here, t, 2 * width, 2, false, image);
        x = t.leave(downsample, t.call("norm", norm<norm_kind::layer>{2 * width}, flat(h)));
        out.rows = h.dim(2), out.columns = h.dim(3);
    }
    t.leave(module);
    return out;
}

constexpr grid embed(const site& here, trace& t) {
    const std::int64_t width = here.dims.embedding_size;
    const module_info embeddings{.name = "embeddings", .type = here.type("Embeddings"), .what = role::embedding};
    const module_info patches{.name = "patch_embeddings", .type = here.type("PatchEmbeddings")};
    t.enter(embeddings);
    t.enter(patches);
    const value h = project(here, t, width, here.dims.vision.patch_size, true, images_of(here, t));
    t.leave(patches);
    const value tokens = dropout(t, "dropout", t.call("norm", norm<norm_kind::layer>{width}, flat(h)));
    t.leave(embeddings);
    return {tokens, h.dim(2), h.dim(3)};
}

constexpr value base(const site& here, trace& t) {
    grid x = embed(here, t);
    const module_info encoder{.name = "encoder", .type = here.type("Encoder")};
    t.enter(encoder);
    for (std::int64_t i = 0; i < here.dims.num_hidden_layers; ++i) x = stage(here, t, i, x);
    t.leave(encoder);
    const value tokens = t.call("layernorm", norm<norm_kind::layer>{x.tokens.dim(2)}, x.tokens);
    const recorder::off_loss_guard unread{t, here.dims.head == head_kind::none};
    const module_info pooler{.name = "pooler", .type = {"", "AdaptiveAvgPool1d"}, .leaf = true};
    t.enter(pooler);
    const value pooled = t.leave(pooler, t.mean(tokens.transpose(1, 2), -1));
    return here.dims.head == head_kind::none ? tokens : pooled;
}

inline constexpr dropout_key dropout_rates[]{{dropout_of::hidden, "hidden_dropout_prob"}};

}  // namespace focalnet_detail

/// Places modulated by what lies around them, in stages.
///
/// Source: transformers/models/focalnet/modeling_focalnet.py.
constexpr value describe_focalnet(const site& here, trace& t) {
    return describe_image_model(here, t, "focalnet", focalnet_detail::base, classify_linear);
}

constexpr void read_focalnet(config_view config, sizes& s) {
    using namespace focalnet_detail;
    s.vision = read_images(config, 224);
    s.vision.patch_size = config.positive("patch_size", 4);
    s.embedding_size = config.positive("embed_dim", 96);
    const std::int64_t n = s.num_hidden_layers = read_stages(config, "depths", {2, 2, 6, 2}, s.own, depths, most);
    if (n > 4 && (!config.contains("focal_levels") || !config.contains("focal_windows")))
        fail_value(config, "depths", "no more stages than focal_levels and focal_windows have");
    read_stages_of(config, "focal_levels", {2, 2, 2, 2}, s.own, levels, n, most);
    read_stages_of(config, "focal_windows", {3, 3, 3, 3}, s.own, windows, n, most);
    for (std::int64_t i = 0; i < n; ++i)
        if (of_stage(s, windows, i) % 2 == 0) fail_value(config, "focal_windows", "odd numbers");
    s.own[drops] = config.real("drop_path_rate", 0.1) > 0.0;
    read_ratio(config, "mlp_ratio", 4.0, s.own, ratio);
    if (times_ratio(s, ratio, s.embedding_size) < 1) fail_value(config, "mlp_ratio", "a ratio that leaves a feature");
    (void)checked_width(config, "embed_dim", s.embedding_size, std::int64_t{1} << n);
}

// transformers/models/focalnet: configuration_focalnet.py, modeling_focalnet.py
inline constexpr architecture focalnet{
    .model_type = "focalnet",
    .prefix = "FocalNet",
    .describe = describe_focalnet,
    .read = read_focalnet,
    .own = focalnet_detail::keys,
    .drops = focalnet_detail::dropout_rates,
    .rotated = rotation::none,
    .any_image = true,
    .heads = {head_kind::none, head_kind::image_classification},
    .defaults = image_defaults(activation::gelu),
};

}  // namespace llmcost::arch
