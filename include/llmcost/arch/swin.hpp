// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/swinv2.hpp>
#include <llmcost/layers/mlp.hpp>

namespace llmcost::arch {

namespace swin_detail {

using swinv2_detail::own, swinv2_detail::stage_sizes, swinv2_detail::window, swinv2_detail::qkv_bias, swinv2_detail::ratio,
    swinv2_detail::depths, swinv2_detail::heads;

/// A bias for each distance in a window, looked up in a table: (1, H, window², window²).
constexpr value bias_of_distance(trace& t, std::int64_t heads, std::int64_t window) {
    const std::int64_t side = 2 * window - 1, places = window * window;
    const value table = t.param("relative_position_bias_table", {side * side, heads});
    const value picked = t.gather(table, {places * places, heads}).view({places, places, heads});
    return t.contiguous(picked.permute({2, 0, 1})).unsqueeze(0);
}

/// The same as a module.
struct position_bias {
    class_name named;
    std::int64_t heads, window;

    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr value describe(trace& t) const { return bias_of_distance(t, heads, window); }
};

/// Attention within windows: one mask of distances and of the shift.
struct attention {
    const site& here;
    const stage_sizes& dims;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Attention"); }
    constexpr value describe(trace& t, const value& x, const value* shift) const {
        const std::int64_t width = dims.width, heads = dims.heads, windows = x.dim(0), places = x.dim(1);
        const auto project = [&](literal name) {
            const value all = t.call(name, linear{width, width, here.dims.own[qkv_bias] != 0}, x);
            return all.view({windows, places, heads, width / heads}).transpose(1, 2);
        };
        const value q = project("q_proj"), k = project("k_proj"), v = project("v_proj");
        value mask = t.call("relative_position_bias", position_bias{here.type("RelativePositionBias"), heads, dims.window});
        if (shift != nullptr) {
            const std::int64_t n = shift->dim(0);
            const value each = shift->unsqueeze(1).unsqueeze(0).expand({windows / n, n, 1, places, places});
            mask = t.add(mask, t.reshape(each, {windows, 1, places, places}));
        }
        const value mixed = eager_attention(t, q, k, v, all_positions(places).where, {.mask = &mask});
        return t.call("o_proj", linear{width, width, true}, t.contiguous(t.reshape(mixed, {windows, places, -1})));
    }
};

/// The same in two modules, scores divided, the two masks added one after the other.
struct divided_attention {
    const site& here;
    const stage_sizes& dims;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Attention"); }
    constexpr value describe(trace& t, const value& x, const value* shift) const {
        const std::int64_t width = dims.width, heads = dims.heads, windows = x.dim(0), places = x.dim(1);
        const module_info self{.name = "self", .type = here.type("SelfAttention")};
        t.enter(self);
        const auto project = [&](literal name) {
            const value all = t.call(name, linear{width, width, here.dims.own[qkv_bias] != 0}, x);
            return all.view({windows, places, heads, width / heads}).transpose(1, 2);
        };
        const value q = project("query"), k = project("key"), v = project("value");
        const recorder::fused_guard fused{t, fused_attention(q, heads, all_positions(places).where, places)};
        value scores = t.div(t.matmul(q, k.transpose(-1, -2)));
        scores = t.add(scores, bias_of_distance(t, heads, dims.window));
        if (shift != nullptr) {
            const std::int64_t n = shift->dim(0);
            scores = t.add(scores.view({windows / n, n, heads, places, places}), shift->unsqueeze(1).unsqueeze(0));
            scores = scores.view({windows, heads, places, places});
        }
        const value seen = dropout(t, "dropout", t.softmax(scores), dropout_of::attention);
        const value mixed = t.contiguous(t.matmul(seen, v).permute({0, 2, 1, 3})).view({windows, places, width});
        t.leave(self, mixed);
        return swinv2_detail::project(here, t, "SelfOutput", width, width, mixed, dropout_of::attention);
    }
};

/// Tokens in windows through an attention and back: (B, rows · columns, width) -> the same.
template <class Attention>
constexpr value within_windows(const site& here, trace& t, const stage_sizes& dims, bool shifted, bool drops,
                               const value& x) {
    const std::int64_t window = dims.window, batch = x.dim(0), width = dims.width;
    const auto rest = [&](std::int64_t n) { return (window - n % window) % window; };
    const std::int64_t below = rest(dims.rows), right = rest(dims.columns);
    const std::int64_t rows = dims.rows + below, columns = dims.columns + right;
    value h = t.pad(x.view({batch, dims.rows, dims.columns, width}), 1, below, right);
    if (shifted) h = swinv2_detail::roll(t, h);
    h = swinv2_detail::part(t, h, window);
    const value mask = shifted ? swinv2_detail::mask_of_shift(t, rows, columns, window) : value{};
    h = t.call("attention", Attention{here, dims}, h, shifted ? &mask : nullptr);
    if (drops) h = dropout(t, "dropout", h);
    const extents parted{batch, rows / window, columns / window, window, window, width};
    h = t.contiguous(h.view(parted).transpose(2, 3)).view({batch, rows, columns, width});
    if (shifted) h = swinv2_detail::roll(t, h);
    if (below > 0) h = t.slice(h, 1, dims.rows);
    if (right > 0) h = t.slice(h, 2, dims.columns);
    return t.contiguous(h).view({batch, dims.rows * dims.columns, width});
}

struct block {
    const site& here;
    const stage_sizes& dims;
    bool shifted, drops_path;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Layer"); }
    constexpr value describe(trace& t, const value& x) const {
        const norm<norm_kind::layer> layer_norm{dims.width};
        const value normed = t.call("layernorm_before", layer_norm, x);
        const value h = within_windows<attention>(here, t, dims, shifted, true, normed);
        const value middle = t.add(x, t.call("drop_path", drop_path_module{here.row.prefix, drops_path}, h));
        const any_mlp feed{
            mlp_kind::plain,  dims.width, times_ratio(here.dims, ratio, dims.width),           here.dims.hidden_act,
            here.type("MLP"), true,       {.up = "fc1", .down = "fc2", .act = "activation_fn"}};
        return t.add(dropout(t, "dropout", t.call("mlp", feed, t.call("layernorm_after", layer_norm, middle))), middle);
    }
};

struct donut_block {
    const site& here;
    const stage_sizes& dims;
    bool shifted, drops_path;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Layer"); }
    constexpr value describe(trace& t, const value& x) const {
        const norm<norm_kind::layer> layer_norm{dims.width};
        const std::int64_t inner = times_ratio(here.dims, ratio, dims.width);
        const module_info intermediate{.name = "intermediate", .type = here.type("Intermediate"), .what = role::mlp};
        const value normed = t.call("layernorm_before", layer_norm, x);
        value h = within_windows<divided_attention>(here, t, dims, shifted, false, normed);
        const value middle = t.add(x, t.call("drop_path", drop_path_module{"Donut", drops_path}, h));
        h = t.call("layernorm_after", layer_norm, middle);
        t.enter(intermediate);
        h = t.call("dense", linear{dims.width, inner, true}, h);
        h = t.leave(intermediate, t.call("intermediate_act_fn", activation_module{here.dims.hidden_act}, h));
        return t.add(middle, swinv2_detail::project(here, t, "Output", inner, dims.width, h));
    }
};

/// A stage's states as images, which nothing reads.
constexpr void hand_out_as_images(trace& t, const value& x, std::int64_t rows, std::int64_t columns) {
    const recorder::off_loss_guard unread{t};
    (void)t.contiguous(x.view({x.dim(0), rows, columns, x.dim(2)}).permute({0, 3, 1, 2}));
}

/// Patches along the shorter side of a stage.
constexpr std::int64_t fewest_patches(std::int64_t height, std::int64_t width, std::int64_t patch, std::int64_t stage) {
    std::int64_t n = ((height < width ? height : width) + patch - 1) / patch;
    for (; stage > 0; --stage) n = (n + 1) / 2;
    return n;
}

/// Stages of such blocks; a window never reaches beyond the fewest patches of a side.
///
/// A layer that once saw a single window along a side never shifts again (`set_shift_and_window_size` overwrites its
/// `shift_size`): it is described as after images of the configuration's own size, whatever the size of these.
template <class Block, bool Images>
constexpr value stages(const site& here, trace& t) {
    const sizes& dims = here.dims;
    const std::int64_t patch = dims.vision.patch_size, reach = dims.own[window];
    const module_info encoder{.name = "encoder", .type = here.type("Encoder")};
    const value pixels = images_of(here, t);
    value x = swinv2_detail::embed(here, t, pixels);
    std::int64_t rows = (pixels.dim(2) + patch - 1) / patch, columns = (pixels.dim(3) + patch - 1) / patch;
    t.enter(encoder);
    for (std::int64_t i = 0; i < dims.num_hidden_layers; ++i) {
        const std::int64_t least = fewest_patches(pixels.dim(2), pixels.dim(3), patch, i);
        const std::int64_t usual = fewest_patches(dims.vision.image_height, dims.vision.image_width, patch, i);
        if (least < reach) report_description("images have fewer patches along a side than a window, in the last stages");
        const bool shifts = least > reach && usual > reach && reach / 2 > 0;
        const stage_sizes at{dims.embedding_size << i, of_stage(dims, heads, i), rows, columns, reach, shifts};
        const module_info module{.name = "layers", .index = i, .type = here.type("Stage")};
        t.enter(module);
        x = swinv2_detail::blocks_of<Block>(here, t, i, at, x);
        if (i + 1 < dims.num_hidden_layers) {
            x = swinv2_detail::merge(here, t, at, x, true);
            rows = (rows + 1) / 2, columns = (columns + 1) / 2;
        }
        if (Images) hand_out_as_images(t, x, rows, columns);
        t.leave(module, x);
    }
    return t.leave(encoder, x);
}

constexpr value base(const site& here, trace& t) {
    const value x = stages<block, true>(here, t);
    return swinv2_detail::pool(here, t, t.call("layernorm", norm<norm_kind::layer>{x.dim(2)}, x));
}
constexpr value donut_base(const site& here, trace& t) {
    return swinv2_detail::pool(here, t, stages<donut_block, false>(here, t));
}

}  // namespace swin_detail

/// Attention within windows that every other block shifts, in stages.
///
/// Source: transformers/models/swin/modeling_swin.py.
constexpr value describe_swin(const site& here, trace& t) {
    return describe_image_model(here, t, here.row.names.base, here.row.base, classify_linear);
}

// transformers/models/swin: configuration_swin.py, modeling_swin.py
inline constexpr architecture swin = [](architecture a) {
    a.model_type = "swin", a.prefix = "Swin", a.describe = describe_swin, a.base = swin_detail::base, a.names.base = "swin";
    a.read = read_swin;
    return a;
}(swinv2);

// transformers/models/donut: configuration_donut_swin.py, modeling_donut_swin.py; no norm behind its stages
inline constexpr architecture donut_swin = [](architecture a) {
    a.model_type = "donut-swin", a.prefix = "DonutSwin", a.base = swin_detail::donut_base, a.names.base = "donut";
    return a;
}(swin);

}  // namespace llmcost::arch
