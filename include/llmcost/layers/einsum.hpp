// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/trace/trace.hpp>

namespace llmcost {

namespace detail {

/// An ordered list of dimension indices.
struct dimension_list {
    int indices[max_rank]{};
    int n = 0;

    constexpr void push(int d) {
        if (n == max_rank) throw_description_error("einsum: more labels than a tensor may have dimensions");
        indices[static_cast<std::size_t>(n++)] = d;
    }
    constexpr void append(const dimension_list& suffix) {
        for (int i = 0; i < suffix.n; ++i) push(suffix.indices[static_cast<std::size_t>(i)]);
    }
    [[nodiscard]] constexpr int operator[](int i) const { return indices[static_cast<std::size_t>(i)]; }
};

constexpr tensor permuted(const tensor& v, const dimension_list& order) {
    tensor out = v;
    for (int i = 0; i < order.n; ++i) {
        out.size[i] = v.size[order[i]];
        out.stride[i] = v.stride[order[i]];
    }
    return out;
}
constexpr std::int64_t size_of(const tensor& v, const dimension_list& dims) {
    std::int64_t n = 1;
    for (int i = 0; i < dims.n; ++i) n *= v.size[dims[i]];
    return n;
}

/// A view of the operand with one dimension per label of `labels`. Dimensions of missing labels have size 1.
constexpr tensor aligned(const tensor& v, string_ref operand_labels, string_ref labels) {
    if (static_cast<int>(operand_labels.size()) != v.rank)
        throw_description_error("einsum: expected one label per dimension");
    tensor out = v;
    out.rank = static_cast<int>(labels.size());
    for (int i = 0; i < out.rank; ++i) {
        const auto label_index = operand_labels.find(labels[static_cast<std::size_t>(i)]);
        out.size[i] = label_index == operand_labels.npos ? 1 : v.size[label_index];
        out.stride[i] = label_index == operand_labels.npos ? 1 : v.stride[label_index];
    }
    return out;
}

}  // namespace detail

/// `torch.einsum` of two tensors as one batched product: `einsum(t, "bih,bjh->bij", a, b)`.
///
/// Operands are copied if a view is not sufficient.
/// Cost: MULT the product of the sizes of all labels, ADD one less per result element.
/// Throws: `description_error` if a summed label occurs in only one operand, or if sizes or ranks do not match.
/// Source: aten/src/ATen/native/Linear.cpp, `einsum`, `sumproduct_pair`.
constexpr tensor einsum(trace& t, string_ref equation, const tensor& a, const tensor& b) {
    const tensor* const in[2] = {&a, &b};
    const recorder::function_call_guard call{t, {torch_function::einsum, in, 2}};
    const auto comma = equation.find(','), arrow = equation.find('-');  // of "->"
    if (comma > arrow || arrow == equation.npos) throw_description_error("einsum: expected two operands and a result");
    const string_ref result = equation.substr(arrow + 2);

    // Labels of the result, then summed labels in the order of their characters, as in ATen.
    char order[max_rank]{};
    std::size_t n = 0;
    const auto append_label = [&](char c) {
        if (n == sizeof order) throw_description_error("einsum: more labels than a tensor may have dimensions");
        order[n++] = c;
    };
    for (const char c : result) append_label(c);
    for (char c = 'A'; c <= 'z'; ++c)
        if (equation.substr(0, arrow).find(c) != equation.npos && result.find(c) == result.npos) append_label(c);
    const string_ref labels{order, n};
    const tensor left = detail::aligned(a, equation.substr(0, comma), labels);
    const tensor right = detail::aligned(b, equation.substr(comma + 1, arrow - comma - 1), labels);

    detail::dimension_list batch_dims, only_left, only_right, summed;
    for (int i = 0; i < left.rank; ++i) {
        const bool in_left = left.size[i] != 1, in_right = right.size[i] != 1;
        if (in_left && in_right && left.size[i] != right.size[i]) throw_description_error("einsum: sizes do not meet");
        if (i < static_cast<int>(result.size()))
            (in_left && in_right ? batch_dims : in_left ? only_left : only_right).push(i);
        else if (in_left && in_right)
            summed.push(i);
        else if (in_left || in_right)
            throw_description_error("einsum: a sum over a dimension of one operand");
        else
            only_right.push(i);
    }
    tensor out;
    if (summed.n == 0) {
        out = t.mul(left, right);
    } else {
        const std::int64_t rows = detail::size_of(left, only_left), columns = detail::size_of(right, only_right);
        const std::int64_t batch = detail::size_of(left, batch_dims), inner = detail::size_of(left, summed);
        detail::dimension_list l = batch_dims, r = batch_dims, o = batch_dims;
        l.append(only_left);
        l.append(summed);
        l.append(only_right);
        r.append(summed);
        r.append(only_right);
        r.append(only_left);
        o.append(only_left);
        o.append(summed);
        o.append(only_right);
        const tensor x = t.reshape(detail::permuted(left, l), {batch, rows, inner});
        const tensor y = t.reshape(detail::permuted(right, r), {batch, inner, columns});
        shape sizes;
        detail::dimension_list inverse_order = o;
        for (int i = 0; i < o.n; ++i) {
            const bool is_summed = i >= batch_dims.n + only_left.n && i < batch_dims.n + only_left.n + summed.n;
            sizes.size[sizes.rank++] = is_summed ? 1 : left.size[o[i]] != 1 ? left.size[o[i]] : right.size[o[i]];
            inverse_order.indices[static_cast<std::size_t>(o[i])] = i;
        }
        out = detail::permuted(t.bmm(x, y).view(sizes), inverse_order);
    }
    shape sizes;
    for (std::size_t i = 0; i < result.size(); ++i) sizes.size[sizes.rank++] = out.size[i];
    return out.view(sizes);
}

}  // namespace llmcost
