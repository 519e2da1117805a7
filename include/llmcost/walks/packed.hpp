// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/layers/attention.hpp>
#include <llmcost/layers/linear.hpp>
#include <llmcost/layers/rotary.hpp>
#include <llmcost/walks/media.hpp>
#include <llmcost/layers/convolution.hpp>

// Towers that take pictures of any shape: patches of all of them in one row, attention within each picture or window.
namespace llmcost {

/// Neighbours in a packed row that attend to each other: so many runs of one length.
struct packed_run {
    std::int64_t length = 0;
    std::int64_t how_many = 0;
};

/// The runs of a packed row: whole pictures, or windows of up to four shapes.
struct packed_runs {
    packed_run of[4]{};
    int count = 0;

    constexpr void add(std::int64_t length, std::int64_t how_many) noexcept {
        if (length > 0 && how_many > 0) of[count++] = {length, how_many};
    }
};

/// A picture as a grid of patches, `frames` of them in a video; merged patches are `merge` along each side.
struct packed_pictures {
    std::int64_t frames = 1;  ///< grids of all pictures together
    std::int64_t rows = 1;
    std::int64_t columns = 1;

    [[nodiscard]] constexpr std::int64_t patches() const noexcept { return frames * rows * columns; }
    [[nodiscard]] constexpr packed_runs whole() const noexcept {
        packed_runs runs;
        runs.add(rows * columns, frames);
        return runs;
    }
    /// Windows of `side` merged patches, cut off at the right and below.
    ///
    /// Source: transformers/vision_utils.py, `get_vision_window_index`.
    [[nodiscard]] constexpr packed_runs windows(std::int64_t merge, std::int64_t side) const noexcept {
        const std::int64_t unit = merge * merge, down = rows / merge, across = columns / merge;
        const std::int64_t below = down % side, right = across % side;
        packed_runs runs;
        runs.add(side * side * unit, down / side * (across / side) * frames);
        runs.add(side * right * unit, down / side * frames);
        runs.add(below * side * unit, across / side * frames);
        runs.add(below * right * unit, frames);
        return runs;
    }
};

/// A value that stands for so many like it, side by side.
[[nodiscard]] constexpr value side_by_side(const value& part, int along, std::int64_t n) {
    value all = part;
    all.size[part.axis(along)] *= n;
    all.elements *= static_cast<std::uint64_t>(n);
    return all;
}

/// Attention within each run: q, k, v (S, heads, d) -> (S, heads · d).
///
/// Source: transformers/models/qwen2_5_vl/modeling_qwen2_5_vl.py, `Qwen2_5_VLVisionAttention.forward`, which splits a row
/// for every implementation but flash attention.
constexpr value attend_packed(trace& t, const value& q, const value& k, const value& v, const packed_runs& runs) {
    const std::int64_t rows = q.dim(0);
    const auto batch = [](const value& x) { return x.transpose(0, 1).unsqueeze(0); };
    const value queries = batch(q), keys = batch(k), values = batch(v);
    value parts[4];
    for (int i = 0; i < runs.count; ++i) {
        const std::int64_t length = runs.of[i].length;
        value one = trace::buffer({1});
        for (repetition each = t.steps(runs.of[i].how_many, one); each.next();)
            parts[i] = eager_attention(t, queries.slice(2, length), keys.slice(2, length), values.slice(2, length),
                                       {.sequence = length, .causal = false}, {.float_softmax = true});
        parts[i] = side_by_side(parts[i], 1, runs.of[i].how_many);
    }
    return t.contiguous(t.reshape(t.cat(parts, runs.count, 1), {rows, -1}));
}

/// Cosines and sines of where patches stand, (S, dim) each: rows and columns have half of the frequencies each.
///
/// Source: transformers/models/qwen2_5_vl/modeling_qwen2_5_vl.py, `Qwen2_5_VLVisionRotaryEmbedding`.
struct packed_table {
    std::int64_t dim;
    class_name named;

    static constexpr role what = role::rotary;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr two_values describe(trace& t, std::int64_t patches) const {
        const recorder::no_grad_guard constants{t};
        if (dim % 4 != 0) {  // the reference's tables then do not meet its heads
            if (sees(t)) report_description("positions of two axes need heads of a multiple of four");
            return {trace::buffer({patches, dim}), trace::buffer({patches, dim})};
        }
        t.owns_buffer(count(dim / 4 * 8));
        const value angles = t.mul(t.constant({patches, 2, 1}), t.buffer({dim / 4}));
        const auto table = [&](const value& x) {
            const value half = t.cat({x.select(1), x.select(1)}, -1);
            return t.cat({half, half}, -1);
        };
        const value cos = t.mul(t.unary(op::cos, angles)), sin = t.mul(t.unary(op::sin, angles));
        return {table(cos), table(sin)};
    }
};

/// What turns a packed row and who attends to whom, in a tower's layers.
struct packed_context {
    packed_pictures pictures{};
    value cos{};
    value sin{};
};

/// How a tower's attention of a packed row is made.
struct packed_attention {
    class_name named;
    std::int64_t heads;
    const packed_context& made;
    packed_runs runs;
    bool bias = true;              ///< of queries, keys and values
    bool bias_out = true;          ///< of the projection behind
    class_name normed{};           ///< of norms of queries and keys, per head; empty: none

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return named; }
    /// Queries and keys turned by where their patches stand, attention within runs, a projection: (S, width) -> the same.
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t rows = x.dim(0), width = x.dim(1);
        const value all = t.call("qkv", linear{width, 3 * width, bias}, x).view({rows, 3, heads, -1}).permute({1, 0, 2, 3});
        const value each = all.select(0);
        value q = each, k = each;
        if (!is_empty(normed.base)) {
            const norm<norm_kind::rms> per_head{each.dim(-1), normed};
            q = t.call("q_norm", per_head, q), k = t.call("k_norm", per_head, k);
        }
        const auto turned = [&](const value& part) {
            return t.to(rotate(t, rotation::half, t.to(part, dtype::float32), made.cos, made.sin), part.type);
        };
        q = turned(q), k = turned(k);
        return t.call("proj", linear{width, width, bias_out}, attend_packed(t, q, k, each, runs));
    }
};

/// Weights of the taps of a resampled table along one axis: (S, taps), for the places of S patches.
///
/// Source: transformers/vision_utils.py, `_interpolation_axis_taps_weights` with `align_corners`.
constexpr value bilinear_taps(trace& t, std::int64_t patches) {
    const value place = t.div(t.mul(t.constant({patches})));
    const value floor = t.unary(op::compare, place);
    const value distance = t.unary(op::compare, t.add(t.sub(place, floor).view({patches, 1}), trace::buffer({2})));
    return t.unary(op::compare, t.add(distance));
}

/// Learned positions of a square, resampled to where patches of pictures of any shape stand: (S, width).
///
/// Source: transformers/models/qwen3_vl/modeling_qwen3_vl.py, `Qwen3VLVisionModel.forward`.
constexpr value resampled_positions(trace& t, literal name, std::int64_t places, std::int64_t width, std::int64_t patches) {
    const auto taps = [&] {
        const recorder::no_grad_guard constants{t};
        return bilinear_taps(t, patches);
    };
    const value down = taps(), across = taps();
    const value weights = t.mul(down.view({patches, 2, 1}), across.view({patches, 1, 2})).view({patches, 4, 1});
    const value found = t.call(name, embedding{places, width}, extents{patches, 4});
    return t.sum(t.mul(found, weights), 1);
}

// of a whole: bounds of an image's pixels and of a video's, first in the table of its own sizes
enum pixel_bound : std::uint8_t { least_pixels, most_pixels, least_video_pixels, most_video_pixels, pixel_bounds };

/// An image's sides as multiples of `factor`, its pixels within bounds, its shape kept as far as that goes.
///
/// Source: transformers/models/qwen2_vl/image_processing_qwen2_vl.py, `smart_resize`; with `frames` as Qwen3-VL and GLM-4V
/// count a video's (image_processing_glm4v.py).
struct resized {
    std::int64_t height;
    std::int64_t width;
};
struct resize_bounds {
    std::int64_t factor;
    std::int64_t least;
    std::int64_t most;
    std::int64_t frames = 1;    ///< that the bounds hold for together
    bool enlarges_thin = false;  ///< first, what is thinner than `factor`
};
constexpr std::int64_t nearest_multiple(std::int64_t n, std::int64_t factor) noexcept {
    const std::int64_t q = n / factor, twice = n % factor * 2;
    return (twice > factor || (twice == factor && q % 2 != 0) ? q + 1 : q) * factor;  // Python's round: halves to even
}
constexpr resized smart_resize(std::int64_t height, std::int64_t width, const resize_bounds& to) {
    const std::int64_t longer = height > width ? height : width, shorter = height > width ? width : height;
    if (longer > 200 * shorter) report_description("an image more than 200 times as long as wide is refused by its processor");
    const auto f = static_cast<double>(to.factor);
    if (to.enlarges_thin && shorter < to.factor) {
        const double scale = f / static_cast<double>(shorter);
        height = static_cast<std::int64_t>(static_cast<double>(height) * scale);
        width = static_cast<std::int64_t>(static_cast<double>(width) * scale);
    }
    const double h = static_cast<double>(height), w = static_cast<double>(width);
    const double pixels = static_cast<double>(to.frames) * h * w;
    resized out{nearest_multiple(height, to.factor), nearest_multiple(width, to.factor)};
    const count area = count(to.frames) * count(out.height) * count(out.width);
    const auto down = [&](double side) {
        const auto whole = static_cast<std::int64_t>(side / f) * to.factor;
        return whole > to.factor ? whole : to.factor;
    };
    const auto up = [&](double side) {
        const auto whole = static_cast<std::int64_t>(side / f);
        return (static_cast<double>(whole) < side / f ? whole + 1 : whole) * to.factor;
    };
    if (area > count(to.most)) {
        const double beta = __builtin_sqrt(pixels / static_cast<double>(to.most));
        return {down(h / beta), down(w / beta)};
    }
    if (area < count(to.least)) {
        const double beta = __builtin_sqrt(static_cast<double>(to.least) / pixels);
        return {up(h * beta), up(w * beta)};
    }
    return out;
}

/// A block whose queries, keys and values have projections of their own: norm, attention within whole pictures, residual;
/// norm, two layers, residual. (S, width) -> the same.
///
/// Source: transformers/models/video_llama_3/modeling_video_llama_3.py, `VideoLlama3VisionEncoderLayer`.
struct packed_layer {
    site here;
    const packed_context& made;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("VisionEncoderLayer"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t rows = x.dim(0), width = x.dim(1);
        const norm<norm_kind::layer> layer_norm{width};
        const linear same{width, width, true};
        const value normed = t.call("layer_norm1", layer_norm, x);
        const module_info attention{.name = "self_attn", .type = here.type("VisionAttention"), .what = role::attn};
        t.enter(attention);
        const auto heads = [&](literal name) {
            return t.call(name, same, normed).view({rows, here.dims.num_attention_heads, -1});
        };
        const auto turned = [&](const value& part) {
            return t.to(rotate(t, rotation::half, t.to(part, dtype::float32), made.cos, made.sin), part.type);
        };
        const value q = heads("q_proj"), k = heads("k_proj"), v = heads("v_proj");
        const value turned_q = turned(q), turned_k = turned(k);
        const value mixed = attend_packed(t, turned_q, turned_k, v, made.pictures.whole());
        const value middle = t.add(x, t.leave(attention, t.call("out_proj", same, mixed)));
        const mlp<mlp_kind::plain> feed{width,
                                        here.dims.intermediate_size,
                                        here.dims.hidden_act,
                                        here.type("VisionMLP"),
                                        true,
                                        {.up = "fc1", .down = "fc2", .act = "activation_fn"}};
        return t.add(middle, t.call("mlp", feed, t.call("layer_norm2", layer_norm, middle)));
    }
};

/// Learned positions of a square, resampled from the middles of patches: (S, width). Taps outside of it are its border's,
/// or weigh nothing.
///
/// Source: transformers/vision_utils.py, `_interpolation_axis_taps_weights` without `align_corners`.
constexpr value resampled_middles(trace& t, literal name, std::int64_t places, std::int64_t width, std::int64_t patches,
                                  bool nothing_outside = false) {
    const auto taps = [&] {
        const recorder::no_grad_guard constants{t};
        const value scaled = t.div(t.mul(t.add(t.constant({patches}))));
        const value place = t.add(scaled);  // - 0.5
        const value floor = t.unary(op::compare, place);
        const value distance = t.unary(op::compare, t.add(t.sub(place, floor).view({patches, 1}), trace::buffer({2})));
        const value weights = t.unary(op::compare, t.add(distance));
        return nothing_outside ? t.mul(weights) : weights;
    };
    const value down = taps(), across = taps();
    const value weights = t.mul(down.view({patches, 2, 1}), across.view({patches, 1, 2})).view({patches, 4, 1});
    const value found = t.call(name, embedding{places, width}, extents{patches, 4});
    return t.sum(t.mul(found, weights), 1);
}

}  // namespace llmcost
