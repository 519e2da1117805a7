// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/swinv2.hpp>
#include <llmcost/layers/mlp.hpp>

namespace llmcost::arch {

namespace swin_detail {

using swinv2_detail::family_config_index, swinv2_detail::stage_sizes, swinv2_detail::window, swinv2_detail::qkv_bias,
    swinv2_detail::ratio, swinv2_detail::depths, swinv2_detail::heads;

/// A bias for each distance in a window, looked up in a table: (1, H, window², window²).
constexpr tensor bias_of_distance(trace& t, std::int64_t heads, std::int64_t window) {
    const std::int64_t side = 2 * window - 1, places = window * window;
    const tensor table = t.param("relative_position_bias_table", {side * side, heads});
    const tensor picked = t.gather(table, {places * places, heads}).view({places, places, heads});
    return t.contiguous(picked.permute({2, 0, 1})).unsqueeze(0);
}

/// The relative position bias as a module.
struct position_bias {
    class_name named;
    std::int64_t heads, window;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t) const { return bias_of_distance(t, heads, window); }
};

/// Attention within windows: one mask of distances and of the shift.
struct attention {
    const layer_context& ctx;
    const stage_sizes& stage;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Attention"); }
    constexpr tensor forward(trace& t, const tensor& x, const tensor* shift) const {
        const std::int64_t width = stage.width, heads = stage.heads, windows = x.dim(0), places = x.dim(1);
        const auto project = [&](literal name) {
            const tensor all = t.call(name, linear{width, width, ctx.config.family[qkv_bias] != 0}, x);
            return all.view({windows, places, heads, width / heads}).transpose(1, 2);
        };
        const tensor q = project("q_proj"), k = project("k_proj"), v = project("v_proj");
        tensor mask =
            t.call("relative_position_bias", position_bias{ctx.class_of("RelativePositionBias"), heads, stage.window});
        if (shift != nullptr) {
            const std::int64_t n = shift->dim(0);
            const tensor operand = shift->unsqueeze(1).unsqueeze(0).expand({windows / n, n, 1, places, places});
            mask = t.add(mask, t.reshape(operand, {windows, 1, places, places}));
        }
        const tensor mixed = attention_forward(t, q, k, v, full_pattern(places).pattern, {.mask = &mask});
        return t.call("o_proj", linear{width, width, true}, t.contiguous(t.reshape(mixed, {windows, places, -1})));
    }
};

/// Window attention in two modules, with divided scores and the two masks added one by one.
struct divided_attention {
    const layer_context& ctx;
    const stage_sizes& stage;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Attention"); }
    constexpr tensor forward(trace& t, const tensor& x, const tensor* shift) const {
        const std::int64_t width = stage.width, heads = stage.heads, windows = x.dim(0), places = x.dim(1);
        const module_info self{.name = "self", .class_of_module = ctx.class_of("SelfAttention")};
        t.enter(self);
        const auto project = [&](literal name) {
            const tensor all = t.call(name, linear{width, width, ctx.config.family[qkv_bias] != 0}, x);
            return all.view({windows, places, heads, width / heads}).transpose(1, 2);
        };
        const tensor q = project("query"), k = project("key"), v = project("value");
        const recorder::fused_kernel_guard fused{
            t, fused_attention_kernel(q, heads, full_pattern(places).pattern, places)};
        tensor scores = t.div_scalar(t.matmul(q, k.transpose(-1, -2)));
        scores = t.add(scores, bias_of_distance(t, heads, stage.window));
        if (shift != nullptr) {
            const std::int64_t n = shift->dim(0);
            scores = t.add(scores.view({windows / n, n, heads, places, places}), shift->unsqueeze(1).unsqueeze(0));
            scores = scores.view({windows, heads, places, places});
        }
        const tensor features = dropout(t, "dropout", t.softmax(scores), dropout_position::attention);
        const tensor mixed = t.contiguous(t.matmul(features, v).permute({0, 2, 1, 3})).view({windows, places, width});
        t.leave(self, mixed);
        return swinv2_detail::project(ctx, t, "SelfOutput", width, width, mixed, dropout_position::attention);
    }
};

/// Tokens in windows through an attention and back: (B, rows · columns, width) -> the same.
template <class Attention>
constexpr tensor within_windows(const layer_context& ctx, trace& t, const stage_sizes& stage, bool shifted, bool drops,
                                const tensor& x) {
    const std::int64_t window = stage.window, batch = x.dim(0), width = stage.width;
    const auto rest = [&](std::int64_t n) { return (window - n % window) % window; };
    const std::int64_t below = rest(stage.rows), right = rest(stage.columns);
    const std::int64_t rows = stage.rows + below, columns = stage.columns + right;
    tensor h = t.pad(x.view({batch, stage.rows, stage.columns, width}), 1, below, right);
    if (shifted) h = swinv2_detail::roll(t, h);
    h = swinv2_detail::part(t, h, window);
    const tensor mask = shifted ? swinv2_detail::mask_of_shift(t, rows, columns, window) : tensor{};
    h = t.call("attention", Attention{ctx, stage}, h, shifted ? &mask : nullptr);
    if (drops) h = dropout(t, "dropout", h);
    const shape parted{batch, rows / window, columns / window, window, window, width};
    h = t.contiguous(h.view(parted).transpose(2, 3)).view({batch, rows, columns, width});
    if (shifted) h = swinv2_detail::roll(t, h);
    if (below > 0) h = t.slice(h, 1, stage.rows);
    if (right > 0) h = t.slice(h, 2, stage.columns);
    return t.contiguous(h).view({batch, stage.rows * stage.columns, width});
}

struct block {
    const layer_context& ctx;
    const stage_sizes& stage;
    bool shifted, drops_path;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Layer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const norm_module layer_norm{norm_kind::layer, stage.width};
        const tensor normed = t.call("layernorm_before", layer_norm, x);
        const tensor h = within_windows<attention>(ctx, t, stage, shifted, true, normed);
        const tensor middle = t.add(x, t.call("drop_path", drop_path_module{ctx.spec.class_prefix, drops_path}, h));
        const mlp_module layer_mlp{mlp_kind::plain,
                                   stage.width,
                                   times_ratio(ctx.config, ratio, stage.width),
                                   ctx.config.hidden_act,
                                   ctx.class_of("MLP"),
                                   true,
                                   {.up = "fc1", .down = "fc2", .act = "activation_fn"}};
        return t.add(dropout(t, "dropout", t.call("mlp", layer_mlp, t.call("layernorm_after", layer_norm, middle))),
                     middle);
    }
};

struct donut_block {
    const layer_context& ctx;
    const stage_sizes& stage;
    bool shifted, drops_path;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Layer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const norm_module layer_norm{norm_kind::layer, stage.width};
        const std::int64_t inner = times_ratio(ctx.config, ratio, stage.width);
        const module_info intermediate{
            .name = "intermediate", .class_of_module = ctx.class_of("Intermediate"), .module_role = role::mlp};
        const tensor normed = t.call("layernorm_before", layer_norm, x);
        tensor h = within_windows<divided_attention>(ctx, t, stage, shifted, false, normed);
        const tensor middle = t.add(x, t.call("drop_path", drop_path_module{"Donut", drops_path}, h));
        h = t.call("layernorm_after", layer_norm, middle);
        t.enter(intermediate);
        h = t.call("dense", linear{stage.width, inner, true}, h);
        h = t.leave(intermediate, t.call("intermediate_act_fn", activation_module{ctx.config.hidden_act}, h));
        return t.add(middle, swinv2_detail::project(ctx, t, "Output", inner, stage.width, h));
    }
};

/// A stage's states as images, which nothing reads.
constexpr void hand_out_as_images(trace& t, const tensor& x, std::int64_t rows, std::int64_t columns) {
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
    tensor x = swinv2_detail::embed(ctx, t, pixels);
    std::int64_t rows = (pixels.dim(2) + patch - 1) / patch, columns = (pixels.dim(3) + patch - 1) / patch;
    t.enter(encoder);
    for (std::int64_t i = 0; i < config.num_hidden_layers; ++i) {
        const std::int64_t minimum = fewest_patches(pixels.dim(2), pixels.dim(3), patch, i);
        const std::int64_t usual = fewest_patches(config.vision.image_height, config.vision.image_width, patch, i);
        if (minimum < reach)
            throw_description_error(
                "the image is too small: the last stages have fewer patches along a side than a window");
        const bool shifts = minimum > reach && usual > reach && reach / 2 > 0;
        const stage_sizes at{config.embedding_size << i, of_stage(config, heads, i), rows, columns, reach, shifts};
        const module_info module{.name = "layers", .index = i, .class_of_module = ctx.class_of("Stage")};
        t.enter(module);
        x = swinv2_detail::blocks_of<Block>(ctx, t, i, at, x);
        if (i + 1 < config.num_hidden_layers) {
            x = swinv2_detail::merge(ctx, t, at, x, true);
            rows = (rows + 1) / 2;
            columns = (columns + 1) / 2;
        }
        if (Images) hand_out_as_images(t, x, rows, columns);
        t.leave(module, x);
    }
    return t.leave(encoder, x);
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    const tensor x = stages<block, true>(ctx, t);
    return swinv2_detail::pool(ctx, t, t.call("layernorm", norm_module{norm_kind::layer, x.dim(2)}, x));
}
constexpr tensor donut_base(const layer_context& ctx, trace& t) {
    return swinv2_detail::pool(ctx, t, stages<donut_block, false>(ctx, t));
}

}  // namespace swin_detail

/// Attention within windows that every other block shifts, in stages.
///
/// Source: transformers/models/swin/modeling_swin.py.
constexpr tensor forward_swin(const layer_context& ctx, trace& t) {
    return forward_image_model(ctx, t, ctx.spec.names.base_model, ctx.spec.base_model, classify_linear);
}

// transformers/models/swin: configuration_swin.py, modeling_swin.py
inline constexpr model_spec swin = [](model_spec spec) {
    spec.model_type = "swin";
    spec.class_prefix = "Swin";
    spec.forward = forward_swin;
    spec.base_model = swin_detail::base;
    spec.names.base_model = "swin";
    spec.parse_config = parse_swin;
    return spec;
}(swinv2);

// transformers/models/donut: configuration_donut_swin.py, modeling_donut_swin.py; no norm after its stages
inline constexpr model_spec donut_swin = [](model_spec spec) {
    spec.model_type = "donut-swin";
    spec.class_prefix = "DonutSwin";
    spec.base_model = swin_detail::donut_base;
    spec.names.base_model = "donut";
    return spec;
}(swin);

}  // namespace llmcost::arch
