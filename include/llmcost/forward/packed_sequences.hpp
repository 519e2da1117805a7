// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/forward/multimodal.hpp>
#include <llmcost/layers/attention.hpp>
#include <llmcost/layers/convolution.hpp>
#include <llmcost/layers/linear.hpp>
#include <llmcost/layers/rotary.hpp>

// Vision encoders with packed sequences: patches of all images in one sequence, attention within images or windows.
//
// Shapes: S = patches of all images, d = head_dim.
namespace llmcost {

/// Consecutive sequences of equal length in a packed sequence.
struct packed_sequence_group {
    std::int64_t length = 0;
    std::int64_t num_sequences = 0;
};

/// Sequence lengths of a packed sequence: full images, or windows of up to four shapes.
struct packed_sequences {
    packed_sequence_group groups[4]{};
    int count = 0;

    constexpr void add(std::int64_t length, std::int64_t num_sequences) noexcept {
        if (length > 0 && num_sequences > 0) groups[count++] = {length, num_sequences};
    }
};

/// Images as grids of patches. A video has one grid per frame.
struct packed_images {
    std::int64_t frames = 1;  ///< number of grids of all images
    std::int64_t rows = 1;
    std::int64_t columns = 1;

    [[nodiscard]] constexpr std::int64_t patches() const noexcept { return frames * rows * columns; }
    [[nodiscard]] constexpr packed_sequences full_images() const noexcept {
        packed_sequences runs;
        runs.add(rows * columns, frames);
        return runs;
    }
    /// Windows of `side` · `side` merged patches, smaller at the right and bottom border.
    ///
    /// Source: transformers/vision_utils.py, `get_vision_window_index`.
    [[nodiscard]] constexpr packed_sequences windows(std::int64_t merge, std::int64_t side) const noexcept {
        const std::int64_t unit = merge * merge, down = rows / merge, merged_columns = columns / merge;
        const std::int64_t below = down % side, right = merged_columns % side;
        packed_sequences runs;
        runs.add(side * side * unit, down / side * (merged_columns / side) * frames);
        runs.add(side * right * unit, down / side * frames);
        runs.add(below * side * unit, merged_columns / side * frames);
        runs.add(below * right * unit, frames);
        return runs;
    }
};

/// A tensor that represents `n` equal tensors, concatenated along `dim`.
[[nodiscard]] constexpr tensor window_tiling(const tensor& part, int dim, std::int64_t n) {
    tensor all = part;
    all.size[part.normalize_dim(dim)] *= n;
    all.numel *= static_cast<std::uint64_t>(n);
    return all;
}

/// Attention within each sequence: q, k, v (S, heads, d) -> (S, heads · d).
///
/// The reference splits the sequence for every implementation except flash attention.
/// Source: transformers/models/qwen2_5_vl/modeling_qwen2_5_vl.py, `Qwen2_5_VLVisionAttention.forward`.
constexpr tensor packed_scaled_dot_product_attention(trace& t, const tensor& q, const tensor& k, const tensor& v,
                                                     const packed_sequences& runs) {
    const std::int64_t rows = q.dim(0);
    const auto batch = [](const tensor& x) { return x.transpose(0, 1).unsqueeze(0); };
    const tensor queries = batch(q), keys = batch(k), values = batch(v);
    tensor parts[4];
    for (int i = 0; i < runs.count; ++i) {
        const std::int64_t length = runs.groups[i].length;
        tensor one = trace::buffer({1});
        for (loop layer_loop = t.loop_time_steps(runs.groups[i].num_sequences, one); layer_loop.next();)
            parts[i] = attention_forward(t, queries.slice(2, length), keys.slice(2, length), values.slice(2, length),
                                         {.query_length = length, .is_causal = false}, {.has_float32_softmax = true});
        parts[i] = window_tiling(parts[i], 1, runs.groups[i].num_sequences);
    }
    return t.contiguous(t.reshape(t.cat(parts, runs.count, 1), {rows, -1}));
}

/// Cosines and sines of patch positions: (S, d) each. Rows and columns use half of the frequencies each.
///
/// Source: transformers/models/qwen2_5_vl/modeling_qwen2_5_vl.py, `Qwen2_5_VLVisionRotaryEmbedding`.
struct packed_position_table {
    std::int64_t dim;
    class_name named;

    static constexpr role module_role = role::rotary;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor_pair forward(trace& t, std::int64_t patches) const {
        const recorder::no_grad_guard constants{t};
        t.register_buffer({2, (dim / 2 + 1) / 2}, dtype::float32);  // `inv_freq` and `original_inv_freq`
        if (dim % 4 != 0) {  // the reference's tables do not have the size of its heads
            if (has_vision_inputs(t))
                throw_description_error("two-axis rotary positions require head_dim to be a multiple of 4");
            return {trace::buffer({patches, dim}), trace::buffer({patches, dim})};
        }
        const tensor angles = t.mul(t.full({patches, 2, 1}), t.buffer({dim / 4}));
        const auto table = [&](const tensor& x) {
            const tensor half = t.cat({x.select(1), x.select(1)}, -1);
            return t.cat({half, half}, -1);
        };
        const tensor cos = t.mul_scalar(t.cos(angles)), sin = t.mul_scalar(t.sin(angles));
        return {table(cos), table(sin)};
    }
};

/// Inputs of packed attention: image grids and rotary tables.
struct packed_attention_pattern {
    packed_images pictures{};
    tensor cos{};
    tensor sin{};
};

/// Packed attention of a vision encoder.
struct packed_attention {
    class_name named;
    std::int64_t heads;
    const packed_attention_pattern& made;
    packed_sequences runs;
    bool bias = true;      ///< of the query, key and value projections
    bool bias_out = true;  ///< of the output projection
    class_name normed{};   ///< class of the query and key norms, per head; empty: none

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    /// Attention within each sequence with RoPE, followed by the output projection: (S, width) -> (S, width).
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t rows = x.dim(0), width = x.dim(1);
        const tensor all =
            t.call("qkv", linear{width, 3 * width, bias}, x).view({rows, 3, heads, -1}).permute({1, 0, 2, 3});
        const tensor operand = all.select(0);
        tensor q = operand, k = operand;
        if (!is_empty(normed.suffix)) {
            const norm_module per_head{norm_kind::rms, operand.dim(-1), normed};
            q = t.call("q_norm", per_head, q);
            k = t.call("k_norm", per_head, k);
        }
        const auto rotate_float32 = [&](const tensor& part) {
            return t.to(rotate(t, rotary_style::rotate_half, t.to(part, dtype::float32), made.cos, made.sin),
                        part.type);
        };
        q = rotate_float32(q);
        k = rotate_float32(k);
        return t.call("proj", linear{width, width, bias_out},
                      packed_scaled_dot_product_attention(t, q, k, operand, runs));
    }
};

/// Interpolation weights of S patches along one axis: (S, taps).
///
/// Source: transformers/vision_utils.py, `_interpolation_axis_taps_weights` with `align_corners`.
constexpr tensor bilinear_taps(trace& t, std::int64_t patches) {
    const tensor place = t.div_scalar(t.mul_scalar(t.full({patches})));
    const tensor floor = t.floor(place);
    const tensor distance = t.abs(t.add(t.sub(place, floor).view({patches, 1}), trace::buffer({2})));
    return t.clamp_min(t.add_scalar(distance));
}

/// Learned position embeddings of a square grid, interpolated at the patches of all images: (S, width).
///
/// Source: transformers/models/qwen3_vl/modeling_qwen3_vl.py, `Qwen3VLVisionModel.forward`.
constexpr tensor resampled_positions(trace& t, literal name, std::int64_t places, std::int64_t width,
                                     std::int64_t patches) {
    const auto taps = [&] {
        const recorder::no_grad_guard constants{t};
        return bilinear_taps(t, patches);
    };
    const tensor down = taps(), column_taps = taps();
    const tensor weights = t.mul(down.view({patches, 2, 1}), column_taps.view({patches, 1, 2})).view({patches, 4, 1});
    const tensor found = t.call(name, embedding{places, width}, shape{patches, 4});
    return t.sum(t.mul(found, weights), 1);
}

// Family keys of the pixel bounds of images and videos, the first entries in the family's table.
enum pixel_bound : std::uint8_t { min_pixels, max_pixels, min_video_pixels, max_video_pixels, pixel_bounds };

/// Resizes an image to multiples of `factor` and to a number of pixels within bounds, preserving its aspect ratio.
///
/// `frames`: Qwen3-VL and GLM-4V count the pixels of all frames of a video (image_processing_glm4v.py).
/// Throws: `description_error` if the aspect ratio exceeds 200.
/// Source: transformers/models/qwen2_vl/image_processing_qwen2_vl.py, `smart_resize`.
struct resized {
    std::int64_t height;
    std::int64_t width;
};
struct resize_bounds {
    std::int64_t factor;
    std::int64_t minimum;
    std::int64_t maximum;
    std::int64_t frames = 1;     ///< the bounds apply to the pixels of all frames
    bool enlarges_thin = false;  ///< first enlarges images with a side shorter than `factor`
};
constexpr std::int64_t nearest_multiple(std::int64_t n, std::int64_t factor) noexcept {
    const std::int64_t q = n / factor, twice = n % factor * 2;
    return (twice > factor || (twice == factor && q % 2 != 0) ? q + 1 : q) * factor;  // Python's round: half to even
}
constexpr resized smart_resize(std::int64_t height, std::int64_t width, const resize_bounds& to) {
    const std::int64_t longer = height > width ? height : width, shorter = height > width ? width : height;
    if (longer > 200 * shorter)
        throw_description_error("image: the aspect ratio exceeds 200, the limit of the processor");
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
        const auto multiple = static_cast<std::int64_t>(side / f) * to.factor;
        return multiple > to.factor ? multiple : to.factor;
    };
    const auto up = [&](double side) {
        const auto multiple = static_cast<std::int64_t>(side / f);
        return (static_cast<double>(multiple) < side / f ? multiple + 1 : multiple) * to.factor;
    };
    if (area > count(to.maximum)) {
        const double beta = __builtin_sqrt(pixels / static_cast<double>(to.maximum));
        return {down(h / beta), down(w / beta)};
    }
    if (area < count(to.minimum)) {
        const double beta = __builtin_sqrt(static_cast<double>(to.minimum) / pixels);
        return {up(h * beta), up(w * beta)};
    }
    return out;
}

/// Encoder layer with separate projections and attention within full images: (S, width) -> (S, width).
///
///     h = x + attention(norm(x))
///     y = h + mlp(norm(h))
///
/// Source: transformers/models/video_llama_3/modeling_video_llama_3.py, `VideoLlama3VisionEncoderLayer`.
struct packed_encoder_layer {
    layer_context ctx;
    const packed_attention_pattern& made;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("VisionEncoderLayer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t rows = x.dim(0), width = x.dim(1);
        const norm_module layer_norm{norm_kind::layer, width};
        const linear projection{width, width, true};
        const tensor normed = t.call("layer_norm1", layer_norm, x);
        const module_info attention{
            .name = "self_attn", .class_of_module = ctx.class_of("VisionAttention"), .module_role = role::attn};
        t.enter(attention);
        const auto heads = [&](literal name) {
            return t.call(name, projection, normed).view({rows, ctx.config.num_attention_heads, -1});
        };
        const auto rotate_float32 = [&](const tensor& part) {
            return t.to(rotate(t, rotary_style::rotate_half, t.to(part, dtype::float32), made.cos, made.sin),
                        part.type);
        };
        const tensor q = heads("q_proj"), k = heads("k_proj"), v = heads("v_proj");
        const tensor rotated_q = rotate_float32(q), rotated_k = rotate_float32(k);
        const tensor mixed =
            packed_scaled_dot_product_attention(t, rotated_q, rotated_k, v, made.pictures.full_images());
        const tensor middle = t.add(x, t.leave(attention, t.call("out_proj", projection, mixed)));
        const mlp_module mlp_block{mlp_kind::plain,
                                   width,
                                   ctx.config.intermediate_size,
                                   ctx.config.hidden_act,
                                   ctx.class_of("VisionMLP"),
                                   true,
                                   {.up = "fc1", .down = "fc2", .act = "activation_fn"}};
        return t.add(middle, t.call("mlp", mlp_block, t.call("layer_norm2", layer_norm, middle)));
    }
};

/// Learned position embeddings of a square grid, interpolated at the patch centers: (S, width).
///
/// Taps outside of the grid use border entries or have weight zero.
///
/// Source: transformers/vision_utils.py, `_interpolation_axis_taps_weights` without `align_corners`.
constexpr tensor resample_patch_centers(trace& t, literal name, std::int64_t places, std::int64_t width,
                                        std::int64_t patches, bool has_zero_padding = false) {
    const auto taps = [&] {
        const recorder::no_grad_guard constants{t};
        const tensor scaled = t.div_scalar(t.mul_scalar(t.add_scalar(t.full({patches}))));
        const tensor place = t.add_scalar(scaled);  // - 0.5
        const tensor floor = t.floor(place);
        const tensor distance = t.abs(t.add(t.sub(place, floor).view({patches, 1}), trace::buffer({2})));
        const tensor weights = t.clamp_min(t.add_scalar(distance));
        return has_zero_padding ? t.mul_scalar(weights) : weights;
    };
    const tensor down = taps(), column_taps = taps();
    const tensor weights = t.mul(down.view({patches, 2, 1}), column_taps.view({patches, 1, 2})).view({patches, 4, 1});
    const tensor found = t.call(name, embedding{places, width}, shape{patches, 4});
    return t.sum(t.mul(found, weights), 1);
}

}  // namespace llmcost
