// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/custom/function_table.hpp>

#include <cstdint>

#include <llmcost/base/count.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/custom/arguments.hpp>
#include <llmcost/layers/attention.hpp>
#include <llmcost/trace/ops.hpp>
#include <llmcost/trace/tensor.hpp>
#include <llmcost/trace/trace.hpp>

namespace llmcost::custom::function {

LLMCOST_INLINE void as_float(trace& t, const arguments& a, const operands& x) {
    shape sizes;
    for (int i = 0; i < x[0].rank; ++i) sizes.size[sizes.rank++] = x[0].size[i];
    *x.out = a[0] != 0 ? t.full(sizes) : t.to(x[0], dtype::float32);
}

LLMCOST_INLINE void pow(trace& t, const arguments& a, const operands& x) {
    if (!a.has(0)) {
        *x.out = t.unary(op::power, t.autocast_input(op::power, x[0]));
        return;
    }
    if (a[0] < 0) throw_description_error("negative exponents are not supported");
    *x.out = t.pow(x[0], static_cast<unsigned>(a[0]));
}

LLMCOST_INLINE void stack(trace& t, const arguments& a, const operands& x) {
    tensor unsqueezed[trace::max_cat_inputs];
    if (x.count > trace::max_cat_inputs) throw_description_error("stack: too many parts");
    const int dim = static_cast<int>(a[0] < 0 ? a[0] + x[0].rank + 1 : a[0]);
    for (int i = 0; i < x.count; ++i) unsqueezed[i] = x[i].unsqueeze(dim);
    *x.out = t.cat(unsqueezed, x.count, dim);
}

LLMCOST_INLINE void chunk(trace&, const arguments& a, const operands& x) {
    const int d = x[0].normalize_dim(static_cast<int>(a[0])), n = a.results();
    if (x[0].size[d] % n != 0)
        throw_description_error("chunk: the number of results does not divide the size of the dimension");
    for (int i = 0; i < n; ++i) x.out[i] = x[0].slice(d, x[0].size[d] / n);
}

LLMCOST_INLINE void split(trace&, const arguments& a, const operands& x) {
    const int d = x[0].normalize_dim(static_cast<int>(a[1]));
    std::int64_t left = x[0].size[d];
    if (a.size(0) != 1 && a.size(0) != a.results()) throw_description_error("split: expected one result name per size");
    for (int i = 0; i < a.results(); ++i) {
        const std::int64_t n = a.size(0) == 1 && left < a[0] ? left : a.at(0, a.size(0) == 1 ? 0 : i);
        x.out[i] = x[0].slice(d, n);
        left -= n;
    }
    if (left != 0) throw_description_error("split: the sizes do not add up to the size of the dimension");
}

LLMCOST_INLINE void expand(trace&, const arguments& a, const operands& x) {
    shape to = a.shape_argument(0);
    if (to.rank < x[0].rank) throw_description_error("expand: expected a size for each dimension");
    for (int i = 0; i < to.rank; ++i)
        if (to.size[i] == -1) to.size[i] = x[0].dim(i - to.rank);
    *x.out = x[0].expand(to);
}

LLMCOST_INLINE void slice(trace& t, const arguments& a, const operands& x) {
    const int d = x[0].normalize_dim(static_cast<int>(a[0]));
    const std::int64_t size = x[0].size[d];
    const auto clamp_index = [&](std::int64_t index) {
        return index < 0 ? (index + size < 0 ? 0 : index + size) : index > size ? size : index;
    };
    const std::int64_t begin = clamp_index(a[1]), end = a.has(2) ? clamp_index(a[2]) : size, step = a[3];
    *x.out = t.slice(x[0], d, end <= begin ? 0 : (end - begin + step - 1) / step, step);
}

LLMCOST_INLINE void pad(trace& t, const arguments& a, const operands& x) {
    const shape padding = a.shape_argument(0);
    if (padding.rank % 2 != 0 || padding.rank / 2 > x[0].rank)
        throw_description_error("pad: expected a pair for each dimension");
    shape to;
    for (int i = 0; i < x[0].rank; ++i) to.size[to.rank++] = x[0].size[i];
    for (int i = 0; i < padding.rank; i += 2) to.size[to.rank - 1 - i / 2] += padding.size[i] + padding.size[i + 1];
    for (int i = 0; i < to.rank; ++i)
        if (to.size[i] < 0) throw_description_error("pad: the resulting size is negative");
    *x.out = t.pad_to_shape(x[0], to);
}

LLMCOST_INLINE void index(trace& t, const arguments&, const operands& x) {
    shape to;
    if (x[0].rank < 1 || x[0].rank + x[1].rank - 1 > max_rank)
        throw_description_error("index: expected at most six dimensions");
    for (int i = 0; i < x[1].rank; ++i) to.size[to.rank++] = x[1].size[i];
    for (int i = 1; i < x[0].rank; ++i) to.size[to.rank++] = x[0].size[i];
    *x.out = t.gather(x[0], to);
}

LLMCOST_INLINE void normalize(trace& t, const arguments& a, const operands& x) {
    const tensor length = t.unary(op::compare, t.vector_norm(x[0], static_cast<int>(a[0]), true));
    shape to;
    for (int i = 0; i < x[0].rank; ++i) to.size[to.rank++] = x[0].size[i];
    *x.out = t.div(x[0], length.expand(to));
}

LLMCOST_INLINE attention_pattern make_attention_pattern(trace& t, std::int64_t window, bool causal) {
    attention_pattern c = attention_pattern_of(t, window);
    c.is_causal = causal;
    return c;
}

LLMCOST_INLINE void attention(trace& t, const arguments& a, const operands& x) {
    const attention_pattern c = make_attention_pattern(t, a[0], a[1] != 0);
    const attention_options options{.mask = x.count > 3 ? &x[3] : nullptr};
    *x.out = attention_forward(t, x[0], x[1], x[2], c, options);
}

LLMCOST_INLINE void scaled_dot_product_attention(trace& t, const arguments& a, const operands& x) {
    const attention_pattern all{
        .query_length = x[0].dim(2), .cached_length = x[1].dim(2) - x[0].dim(2), .is_causal = a[0] != 0};
    *x.out = sdpa_attention_heads(t, x[0], x[1], x[2], all, {});
}

}  // namespace llmcost::custom::function
