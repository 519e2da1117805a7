// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/image_stages.hpp>
#include <llmcost/forward/images.hpp>
#include <llmcost/layers/mlp.hpp>
#include <llmcost/layers/norm.hpp>

namespace llmcost::arch {

namespace focalnet_detail {

inline constexpr std::int64_t maximum = 5;  // maximum number of stages; each has an entry in three lists

enum family_config_index : std::uint8_t {
    overlaps,     ///< overlapping patches
    scales,       ///< one scale per channel for the output of a block
    norms_last,   ///< norms after blocks instead of before
    norms_inner,  ///< a norm inside the modulation
    divides,      ///< the sum over levels is divided by their number
    drops,
    ratio,  ///< MLP size divided by hidden size
    depths,
    levels = depths + maximum,
    windows = levels + maximum
};
inline constexpr family_key family_keys[]{{"use_conv_embed", 0, family_key_type::boolean},
                                          {"use_layerscale", 0, family_key_type::boolean},
                                          {"use_post_layernorm", 0, family_key_type::boolean},
                                          {"use_post_layernorm_in_modulation", 0, family_key_type::boolean},
                                          {"normalize_modulator", 0, family_key_type::boolean},
                                          {.type = family_key_type::computed},
                                          {.type = family_key_type::computed}};

/// `nn.GELU`, independent of `hidden_act`.
struct plain_gelu : activation_module {
    constexpr plain_gelu() noexcept : activation_module{activation::gelu} {}
    [[nodiscard]] constexpr class_name type_name() const { return {"", "GELU"}; }
};

/// Patch embedding with padding to complete patches: (B, channels, height, width) -> (B, width, height', width').
constexpr tensor project(const layer_context& ctx, trace& t, std::int64_t width, std::int64_t patch, bool stem,
                         tensor x) {
    const auto missing = [&](std::int64_t side) { return side % patch == 0 ? 0 : patch - side % patch; };
    if (const std::int64_t padding = missing(x.dim(3)); padding != 0) x = t.pad_images(x, 0, padding);
    if (const std::int64_t padding = missing(x.dim(2)); padding != 0) x = t.pad_images(x, padding, 0);
    convolution_2d conv{x.dim(1), width, patch, patch};
    if (ctx.config.family[overlaps])
        conv = stem ? convolution_2d{x.dim(1), width, 7, 4, 2} : convolution_2d{x.dim(1), width, 3, 2, 1};
    return t.call("projection", conv, x);
}

/// Focal modulation: multiplies each position by context aggregated at several scales.
struct modulation {
    const layer_context& ctx;
    std::int64_t width;
    std::int64_t stage;

    static constexpr role module_role = role::mixer;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Modulation"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t count = stage_entry(ctx.config, levels, stage),
                           window = stage_entry(ctx.config, windows, stage);
        const tensor all = t.call("projection_in", linear{width, 2 * width + count + 1, true}, x);
        const tensor mixed = t.contiguous(all.permute({0, 3, 1, 2}));
        const tensor q = mixed.slice(1, width), gates = mixed.slice(1, count + 1);
        tensor focal_context = mixed.slice(1, width), sum;
        for (std::int64_t k = 0; k < count; ++k) {
            const module_info level{.name = "focal_layers", .index = k, .class_of_module = {"", "Sequential"}};
            const std::int64_t kernel = 2 * k + window;
            t.enter(level);
            focal_context =
                t.call("0", convolution_2d{width, width, kernel, 1, kernel / 2, width, false}, focal_context);
            focal_context = t.leave(level, t.call("1", plain_gelu{}, focal_context));
            const tensor gated = t.mul(focal_context, t.slice(gates, 1, 1));
            sum = k == 0 ? t.add_scalar(gated) : t.add(sum, gated);  // the first level is added to zero
        }
        const tensor global = t.call("activation", plain_gelu{}, t.mean(t.mean(focal_context, 2, true), 3, true));
        sum = t.add(sum, t.mul(global, t.slice(gates, 1, 1)));
        if (ctx.config.family[divides]) sum = t.div_scalar(sum);
        tensor out = t.mul(q, t.call("projection_context", convolution_2d{width, width}, sum));
        out = t.contiguous(out.permute({0, 2, 3, 1}));
        if (ctx.config.family[norms_inner]) out = t.call("layernorm", norm_module{norm_kind::layer, width}, out);
        return dropout(t, "projection_dropout", t.call("projection_out", linear{width, width, true}, out));
    }
};

struct mlp_block {
    const layer_context& ctx;
    std::int64_t width;

    static constexpr role module_role = role::mlp;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Mlp"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t inner = times_ratio(ctx.config, ratio, width);
        tensor h = t.call("activation", activation_module{ctx.config.hidden_act},
                          t.call("fc1", linear{width, inner, true}, x));
        h = t.call("fc2", linear{inner, width, true}, dropout(t, "drop", h));
        return dropout(t, "drop", h);
    }
};

struct layer {
    const layer_context& ctx;
    std::int64_t width, stage, rows, columns;
    bool drops_path;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Layer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const bool scaled = ctx.config.family[scales] != 0, last = ctx.config.family[norms_last] != 0;
        const tensor first = scaled ? t.param("gamma_1", {width}) : tensor{};
        const tensor second = scaled ? t.param("gamma_2", {width}) : tensor{};
        const norm_module layer_norm{norm_kind::layer, width};
        const drop_path_module path{ctx.spec.class_prefix, drops_path};
        const std::int64_t batch = x.dim(0);
        tensor h = last ? x : t.call("norm1", layer_norm, x);
        h = t.call("modulation", modulation{ctx, width, stage}, h.view({batch, rows, columns, width}));
        h = h.view({batch, rows * columns, width});
        if (last) h = t.call("norm1", layer_norm, h);
        const tensor middle = t.add(x, t.call("drop_path", path, scaled ? t.mul(first, h) : t.mul_scalar(h)));
        const mlp_block block{ctx, width};
        h = last ? t.call("norm2", layer_norm, t.call("mlp", block, middle))
                 : t.call("mlp", block, t.call("norm2", layer_norm, middle));
        return t.add(middle, t.call("drop_path", path, scaled ? t.mul(second, h) : t.mul_scalar(h)));
    }
};

/// Tokens of a stage with their number of rows and columns.
struct grid {
    tensor tokens;
    std::int64_t rows;
    std::int64_t columns;
};

constexpr tensor flat(const tensor& image) { return image.view({image.dim(0), image.dim(1), -1}).transpose(1, 2); }

constexpr grid stage(const layer_context& ctx, trace& t, std::int64_t i, const grid& input) {
    const std::int64_t width = ctx.config.embedding_size << i, depth = stage_entry(ctx.config, depths, i);
    const module_info module{.name = "stages", .index = i, .class_of_module = ctx.class_of("Stage")};
    t.enter(module);
    grid out = input;
    tensor& x = out.tokens;
    // rates grow linearly over all layers, from zero in the first to `drop_path_rate` in the last
    const bool drops_path = ctx.config.family[drops] != 0;
    x = t.call({"layers", 0}, layer{ctx, width, i, input.rows, input.columns, drops_path && i > 0}, x);
    for (loop layer_loop = t.loop_modules(depth - 1, x, 1); layer_loop.next();)
        x = t.call({"layers", layer_loop.index()}, layer{ctx, width, i, input.rows, input.columns, drops_path}, x);
    if (i + 1 < ctx.config.num_hidden_layers) {
        const module_info downsample{.name = "downsample", .class_of_module = ctx.class_of("PatchEmbeddings")};
        const tensor image = t.reshape(x.transpose(1, 2), {x.dim(0), -1, input.rows, input.columns});
        t.enter(downsample);
        const tensor h = project(ctx, t, 2 * width, 2, false, image);
        x = t.leave(downsample, t.call("norm", norm_module{norm_kind::layer, 2 * width}, flat(h)));
        out.rows = h.dim(2);
        out.columns = h.dim(3);
    }
    t.leave(module);
    return out;
}

constexpr grid embed(const layer_context& ctx, trace& t) {
    const std::int64_t width = ctx.config.embedding_size;
    const module_info embeddings{
        .name = "embeddings", .class_of_module = ctx.class_of("Embeddings"), .module_role = role::embedding};
    const module_info patches{.name = "patch_embeddings", .class_of_module = ctx.class_of("PatchEmbeddings")};
    t.enter(embeddings);
    t.enter(patches);
    const tensor h = project(ctx, t, width, ctx.config.vision.patch_size, true, image_input(ctx, t));
    t.leave(patches);
    const tensor tokens = dropout(t, "dropout", t.call("norm", norm_module{norm_kind::layer, width}, flat(h)));
    t.leave(embeddings);
    return {tokens, h.dim(2), h.dim(3)};
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    grid x = embed(ctx, t);
    const module_info encoder{.name = "encoder", .class_of_module = ctx.class_of("Encoder")};
    t.enter(encoder);
    for (std::int64_t i = 0; i < ctx.config.num_hidden_layers; ++i) x = stage(ctx, t, i, x);
    t.leave(encoder);
    const tensor tokens = t.call("layernorm", norm_module{norm_kind::layer, x.tokens.dim(2)}, x.tokens);
    const recorder::detach_guard unread{t, ctx.config.head == head_kind::none};
    const module_info pooler{.name = "pooler", .class_of_module = {"", "AdaptiveAvgPool1d"}, .is_leaf = true};
    t.enter(pooler);
    const tensor pooled = t.leave(pooler, t.mean(tokens.transpose(1, 2), -1));
    return ctx.config.head == head_kind::none ? tokens : pooled;
}

inline constexpr dropout_key dropout_rates[]{{dropout_position::hidden, "hidden_dropout_prob"}};

}  // namespace focalnet_detail

/// Traces FocalNet: stages of focal modulation.
///
/// Source: transformers/models/focalnet/modeling_focalnet.py.
constexpr tensor forward_focalnet(const layer_context& ctx, trace& t) {
    return forward_image_model(ctx, t, "focalnet", focalnet_detail::base, classify_linear);
}

constexpr void parse_focalnet(config_view json, model_config& config) {
    using namespace focalnet_detail;
    config.vision = parse_image_size(json, 224);
    config.vision.patch_size = json.positive("patch_size", 4);
    config.embedding_size = json.positive("embed_dim", 96);
    const std::int64_t n = config.num_hidden_layers =
        parse_stages(json, "depths", {2, 2, 6, 2}, config.family, depths, maximum);
    if (n > 4 && (!json.contains("focal_levels") || !json.contains("focal_windows")))
        throw_invalid_value(json, "depths", "at most the length of focal_levels and focal_windows");
    parse_stages_of(json, "focal_levels", {2, 2, 2, 2}, config.family, levels, n, maximum);
    parse_stages_of(json, "focal_windows", {3, 3, 3, 3}, config.family, windows, n, maximum);
    for (std::int64_t i = 0; i < n; ++i)
        if (stage_entry(config, windows, i) % 2 == 0) throw_invalid_value(json, "focal_windows", "odd numbers");
    config.family[drops] = json.real("drop_path_rate", 0.1) > 0.0;
    parse_ratio(json, "mlp_ratio", 4.0, config.family, ratio);
    if (times_ratio(config, ratio, config.embedding_size) < 1)
        throw_invalid_value(json, "mlp_ratio", "a ratio with at least one feature");
    (void)checked_size(json, "embed_dim", config.embedding_size, std::int64_t{1} << n);
}

// Source: transformers/models/focalnet: configuration_focalnet.py, modeling_focalnet.py
inline constexpr model_spec focalnet = [](model_spec spec) {
    spec.model_type = "focalnet";
    spec.class_prefix = "FocalNet";
    spec.forward = forward_focalnet;
    spec.parse_config = parse_focalnet;
    spec.family_keys = focalnet_detail::family_keys;
    spec.dropout_keys = focalnet_detail::dropout_rates;
    return spec;
}(image_classifier(activation::gelu));

}  // namespace llmcost::arch
