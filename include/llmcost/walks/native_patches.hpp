// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/layers/attention.hpp>
#include <llmcost/walks/media.hpp>

// Towers that read images of any shape: patches of all images in one row, each image attended to by itself.
namespace llmcost {

/// How a table of places is resampled to an image's grid: rows of the table for each patch along an axis, and their weights.
enum class place_taps : std::uint8_t {
    two,  ///< bilinear
    four  ///< bicubic, Keys' kernel
};

/// Weights of an axis for `n` patches: (n, taps).
///
/// Source: transformers/vision_utils.py, `_interpolation_axis_taps_weights`; rows of the table are integers.
constexpr value weights_of_axis(trace& t, std::int64_t n, place_taps taps, bool aligns_corners) {
    const std::int64_t rows = taps == place_taps::two ? 2 : 4;
    const value index = t.constant({n});
    const value source = aligns_corners ? t.div(t.mul(index)) : t.sub(t.div(t.mul(t.add(index))), trace::buffer({}));
    const value below = t.unary(op::compare, source);  // floor
    const value distance = t.abs(t.sub(t.sub(source.unsqueeze(1), below.unsqueeze(1)), trace::buffer({rows})));
    if (taps == place_taps::two) return t.unary(op::relu, t.add(distance));  // (1 − d).clamp(min=0)
    const value near = t.add(t.mul(t.mul(t.add(t.mul(distance)), distance), distance));
    const value far = t.add(t.mul(t.add(t.mul(t.add(t.mul(distance)), distance)), distance));
    return t.where(near, far);
}

/// Places of `n` patches, rows of a square table weighted and summed: table (rows, width) -> (n, width).
///
/// MULT taps² · n · width, ADD (taps² − 1) · n · width beside the weights (`get_vision_interpolation_indices_and_weights`,
/// `F.embedding_bag`).
constexpr value resampled_places(trace& t, const value& table, std::int64_t n, place_taps taps, bool aligns_corners) {
    const auto axis = [&] { return weights_of_axis(t, n, taps, aligns_corners); };
    const value rows = axis(), columns = axis();
    value weights = t.mul(rows.unsqueeze(2), columns.unsqueeze(1));
    weights = t.to(weights.view({n, -1}), table.type);
    value out = dense({n, table.dim(1)}, table.type);
    const value* const in[1] = {&table};
    t.record(taps == place_taps::two ? op::bilinear : op::bicubic, count(out.elements), {}, out, in, 1);
    weights.requires_grad = out.requires_grad;
    t.save_for_backward(weights);
    return out;
}

/// Attention over each image by itself: q, k, v (1, heads, patches of all images, d) -> (1, patches, heads, d).
constexpr value attend_each_image(trace& t, const value& q, const value& k, const value& v, std::int64_t images,
                                  const score_options& how = {}) {
    const std::int64_t n = q.dim(2) / images;
    value found = trace::buffer({1, n, q.dim(1), v.dim(3)});
    found.type = q.type;
    for (repetition each = t.steps(images, found); each.next();) {
        const context all{.sequence = n, .causal = false};
        found = eager_attention(t, q.slice(2, n), k.slice(2, n), v.slice(2, n), all, how);
    }
    value joined = dense({1, q.dim(2), q.dim(1), v.dim(3)}, q.type);
    const value* const in[1] = {&found};
    t.record(op::cat, {}, {}, joined, in, 1);
    return joined;
}

}  // namespace llmcost
