// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/forward/packed_sequences.hpp>

// Vision encoders with native image resolution: patches of all images in one packed sequence.
namespace llmcost {

/// Number of table entries per axis in the resampling of position embeddings.
enum class place_taps : std::uint8_t {
    two,  ///< bilinear
    four  ///< bicubic, Keys' kernel
};

/// Interpolation weights of `n` patches along one axis: (n, taps).
///
/// Table indices are integers and have no cost.
/// Source: transformers/vision_utils.py, `_interpolation_axis_taps_weights`.
constexpr tensor weights_of_axis(trace& t, std::int64_t n, place_taps taps, bool aligns_corners) {
    const std::int64_t rows = taps == place_taps::two ? 2 : 4;
    const tensor index = t.full({n});
    const tensor source = aligns_corners ? t.div_scalar(t.mul_scalar(index))
                                         : t.sub(t.div_scalar(t.mul_scalar(t.add_scalar(index))), trace::buffer({}));
    const tensor below = t.floor(source);
    const tensor distance = t.abs(t.sub(t.sub(source.unsqueeze(1), below.unsqueeze(1)), trace::buffer({rows})));
    if (taps == place_taps::two) return t.relu(t.add_scalar(distance));  // (1 − d).clamp(min=0)
    const tensor near = t.add_scalar(t.mul(t.mul(t.add_scalar(t.mul_scalar(distance)), distance), distance));
    const tensor outer_weights =
        t.add_scalar(t.mul(t.add_scalar(t.mul(t.add_scalar(t.mul_scalar(distance)), distance)), distance));
    return t.where(near, outer_weights);
}

/// Position embeddings of `n` patches, interpolated from a square table: table (entries, width) -> (n, width).
///
/// Cost in addition to the weights: MULT taps²·n·width, ADD (taps² − 1)·n·width.
/// Source: transformers, `get_vision_interpolation_indices_and_weights`, `F.embedding_bag`.
constexpr tensor resampled_places(trace& t, const tensor& table, std::int64_t n, place_taps taps, bool aligns_corners) {
    const auto axis = [&] { return weights_of_axis(t, n, taps, aligns_corners); };
    const tensor rows = axis(), columns = axis();
    tensor weights = t.mul(rows.unsqueeze(2), columns.unsqueeze(1));
    weights = t.to(weights.view({n, -1}), table.type);
    tensor out = empty_tensor({n, table.dim(1)}, table.type);
    const tensor* const in[1] = {&table};
    t.record_op(taps == place_taps::two ? op::bilinear : op::bicubic, count(out.numel), {}, out, in, 1);
    weights.requires_grad = out.requires_grad;
    t.save_for_backward(weights);
    return out;
}

/// Resized image size and number of tokens in Qwen2-VL's processor. One token is a square of `merge` · `merge` patches.
///
/// Throws: `description_error` if the workload has no image size.
[[nodiscard]] constexpr media_shape resized_to_patches(const workload& load, std::int64_t patch, std::int64_t merge,
                                                       std::int64_t minimum, std::int64_t maximum) {
    if (load.image_height == 0) throw_description_error("image size required: set --image WIDTHxHEIGHT");
    const std::int64_t step = patch * merge;
    const resized to =
        smart_resize(load.image_height, load.image_width, {.factor = step, .minimum = minimum, .maximum = maximum});
    return {.num_tokens = (to.height / step) * (to.width / step), .height = to.height, .width = to.width};
}

/// The images of the workload as grids of patches.
[[nodiscard]] constexpr packed_images pack_images(const workload& load, std::int64_t patch) noexcept {
    return {.frames = load.batch, .rows = load.image_height / patch, .columns = load.image_width / patch};
}

/// The workload of a vision encoder. Without images, it has one image of one token, for the declaration.
[[nodiscard]] constexpr workload packed_workload(const trace& t, const media_shape& shape, std::int64_t step) noexcept {
    if (!has_images(t)) return image_workload(t.load(), 1, step, step);
    return image_workload(t.load(), images_in(t), shape.height, shape.width);
}

/// Traces a text model after `insert(token_embeddings)`, which runs the vision encoder on packed images.
///
/// `step`: the side of a token in pixels. Without images, the encoder is declared only.
template <class Insert>
constexpr tensor forward_text_after_packed_images(const layer_context& ctx, trace& t, std::int64_t step,
                                                  const Insert& insert) {
    return forward_text_after_encoder(ctx, t, "language_model", [&](const tensor& token_embeddings) {
        const bool has_image_inputs = has_images(t);
        const recorder::not_executed_guard no_pixels{t, !has_image_inputs};
        const media_shape shape =
            has_image_inputs ? ctx.model.spec->compute_media_shapes(ctx.model, t.load()).image : media_shape{};
        const recorder::workload_guard encoder_workload{t, packed_workload(t, shape, step)};
        return insert(token_embeddings);
    });
}

}  // namespace llmcost
