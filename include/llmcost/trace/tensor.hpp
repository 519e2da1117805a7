// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>

#include <llmcost/base/count.hpp>
#include <llmcost/base/dtype.hpp>

namespace llmcost {

/// Maximum number of dimensions; the chunked scan of Mamba-2 needs six.
inline constexpr int max_rank = 6;

/// Sizes of a tensor, outermost first.
struct shape {
    std::int64_t size[max_rank]{};
    int rank = 0;

    constexpr shape() noexcept = default;
    // one constructor per rank: compilers process arguments faster than lists
    constexpr shape(std::int64_t a) noexcept : size{a}, rank(1) {}
    constexpr shape(std::int64_t a, std::int64_t b) noexcept : size{a, b}, rank(2) {}
    constexpr shape(std::int64_t a, std::int64_t b, std::int64_t c) noexcept : size{a, b, c}, rank(3) {}
    constexpr shape(std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) noexcept
        : size{a, b, c, d}, rank(4) {}
    constexpr shape(std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d, std::int64_t e) noexcept
        : size{a, b, c, d, e}, rank(5) {}
    constexpr shape(std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d, std::int64_t e,
                    std::int64_t f) noexcept
        : size{a, b, c, d, e, f}, rank(6) {}

    /// The i-th size; a single size applies to all dimensions.
    [[nodiscard]] constexpr std::int64_t at_or_uniform(int i) const noexcept { return size[rank == 1 ? 0 : i]; }
};

/// Number of elements of a tensor.
///
/// Throws: `overflow_error` beyond 2^63, also for the strides of an empty tensor.
[[nodiscard]] constexpr std::uint64_t num_elements(const std::int64_t* size, int rank) {
    std::uint64_t n = 1, nonempty_factor = 1;
    for (int i = 0; i < rank; ++i) {
        const auto product = static_cast<count::uint128>(n) * static_cast<std::uint64_t>(size[i] == 0 ? 1 : size[i]);
        if ((product >> 63) != 0) throw_overflow_error();
        n = static_cast<std::uint64_t>(product);
        if (size[i] == 0) nonempty_factor = 0;
    }
    return n * nonempty_factor;
}

/// A symbolic tensor: sizes, strides, storage and whether it needs a gradient, as in PyTorch.
///
/// Views share a storage. An operation that copies gives its result a new storage.
struct tensor {
    std::int64_t size[max_rank]{};
    std::int64_t stride[max_rank]{};
    std::uint64_t numel = 0;          ///< product of the sizes; of causal scores: the visible elements
    std::uint64_t storage_numel = 0;  ///< elements of the complete storage, independent of the view
    std::int64_t visible_pairs = 0;   ///< causal scores: visible (query, key) pairs of one matrix; 0: all
    std::int32_t storage_id = no_storage_id;
    std::int32_t rank = 0;
    dtype type = dtype::float32;
    bool requires_grad = false;

    /// Id of parameters, buffers and integer tensors, which are not part of the memory that autograd saves.
    ///
    /// With a listener, parameters are numbered downwards from -2 in the order of declaration.
    static constexpr std::int32_t no_storage_id = -1;
    /// Whether the pass allocated the memory of the tensor.
    [[nodiscard]] constexpr bool is_stored() const noexcept { return storage_id >= 0; }

    [[nodiscard]] constexpr int normalize_dim(int dim) const {
        const int d = dim < 0 ? dim + rank : dim;
        if (d < 0 || d >= rank) throw_description_error("dimension out of range");
        return d;
    }
    [[nodiscard]] constexpr std::int64_t dim(int d) const { return size[normalize_dim(d)]; }

    /// As `Tensor.is_contiguous()`: strides of dimensions with one element, and of an empty tensor, do not matter.
    [[nodiscard]] constexpr bool is_contiguous() const noexcept {
        if (numel == 0) return true;
        std::int64_t expected = 1;
        for (int i = rank - 1; i >= 0; --i) {
            if (size[i] == 1) continue;
            if (stride[i] != expected) return false;
            expected *= size[i];
        }
        return true;
    }

    /// Whether four dimensions have the memory layout channels-last.
    ///
    /// Source: c10/core/MemoryFormat.h, `is_channels_last_strides_2d_s4`.
    [[nodiscard]] constexpr bool is_channels_last() const noexcept {
        if (rank != 4 || stride[1] == 0) return false;
        std::int64_t minimum = 0;
        for (const int d : {1, 3, 2, 0}) {
            if (size[d] == 0 || stride[d] < minimum) return false;
            if (d == 0 && minimum == stride[1]) return false;
            minimum = size[d] > 1 ? stride[d] * size[d] : stride[d];
        }
        return true;
    }

    [[nodiscard]] constexpr tensor transpose(int a, int b) const {
        tensor v = *this;
        const int i = normalize_dim(a), j = normalize_dim(b);
        v.size[i] = size[j];
        v.size[j] = size[i];
        v.stride[i] = stride[j];
        v.stride[j] = stride[i];
        return v;
    }
    [[nodiscard]] constexpr tensor permute(std::initializer_list<int> order) const {
        tensor v = *this;
        int i = 0;
        for (const int source_dim : order) {
            v.size[i] = dim(source_dim);
            v.stride[i++] = stride[normalize_dim(source_dim)];
        }
        if (i != rank) throw_description_error("permute: each dimension must occur once");
        return v;
    }
    [[nodiscard]] constexpr tensor unsqueeze(int dim) const {
        const int d = dim < 0 ? dim + rank + 1 : dim;
        if (rank == max_rank || d < 0 || d > rank) throw_description_error("unsqueeze: dimension out of range");
        tensor v = *this;
        for (int i = rank; i > d; --i) {
            v.size[i] = size[i - 1];
            v.stride[i] = stride[i - 1];
        }
        v.stride[d] = d < rank ? size[d] * stride[d] : 1;
        v.size[d] = 1;
        ++v.rank;
        return v;
    }
    [[nodiscard]] constexpr tensor squeeze(int dim) const {
        const int d = normalize_dim(dim);
        if (size[d] != 1) return *this;
        tensor v = *this;
        for (int i = d; i + 1 < rank; ++i) {
            v.size[i] = size[i + 1];
            v.stride[i] = stride[i + 1];
        }
        --v.rank;
        return v;
    }
    /// A view of `length` elements with stride `step` along a dimension.
    [[nodiscard]] constexpr tensor slice(int dim, std::int64_t length, std::int64_t step = 1) const {
        const int d = normalize_dim(dim);
        if (length < 0 || step < 1 || (length > 0 && (length - 1) * step >= size[d]))
            throw_description_error("slice: out of range");
        tensor v = *this;
        v.size[d] = length;
        v.stride[d] *= step;
        v.numel = num_elements(v.size, rank);
        return v;
    }
    [[nodiscard]] constexpr tensor select(int dim) const {
        tensor v = slice(dim, 1);
        v.size[v.normalize_dim(dim)] = 1;
        return v.squeeze(dim);
    }
    /// A view that repeats dimensions of one element; additional dimensions are added in front.
    [[nodiscard]] constexpr tensor expand(shape target_shape) const {
        tensor v = *this;
        const int shift = target_shape.rank - rank;
        if (shift < 0) throw_description_error("expand: too few dimensions");
        v.rank = target_shape.rank;
        for (int i = target_shape.rank - 1; i >= 0; --i) {
            const std::int64_t dim_size = i >= shift ? size[i - shift] : 1;
            const std::int64_t step = i >= shift ? stride[i - shift] : 0;
            v.size[i] = target_shape.size[i];
            v.stride[i] = dim_size == target_shape.size[i] && i >= shift ? step : 0;
            if (dim_size != target_shape.size[i] && dim_size != 1)
                throw_description_error("expand: the expanded dimension has more than one element");
        }
        v.numel = num_elements(v.size, v.rank);
        return v;
    }
    /// Computes the view with these sizes. Returns false if only a copy can have them (ATen's `computeStride`).
    [[nodiscard]] constexpr bool try_view(shape target_shape, tensor& v) const {
        v = *this;
        v.rank = target_shape.rank;
        for (int i = 0; i < target_shape.rank; ++i) v.size[i] = target_shape.size[i];
        if (is_contiguous() || numel == 0) {
            v.make_contiguous_strides();
            return true;
        }
        int dim = target_shape.rank - 1;
        std::int64_t base = stride[rank - 1], old_run = 1, new_run = 1;
        // a dimension of one element may have any stride, also beyond 2^63
        const auto times = [](std::int64_t a, std::int64_t b) {
            return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
        };
        for (int d = rank - 1; d >= 0; --d) {
            old_run *= size[d];
            if (d != 0 && (size[d - 1] == 1 || stride[d - 1] == times(old_run, base))) continue;
            while (dim >= 0 && (new_run < old_run || target_shape.size[dim] == 1)) {
                v.stride[dim] = times(new_run, base);
                new_run *= target_shape.size[dim--];
            }
            if (new_run != old_run) return false;
            if (d > 0) {
                base = stride[d - 1];
                old_run = new_run = 1;
            }
        }
        return dim == -1;
    }
    /// `Tensor.view`; one size may be -1.
    ///
    /// Throws: `description_error` if the view is not possible.
    [[nodiscard]] constexpr tensor view(shape target_shape) const {
        tensor v;
        if (!try_view(infer_shape(target_shape), v)) throw_description_error("view: not possible without a copy");
        return v;
    }
    /// Replaces one -1 in `target_shape` by the remaining size.
    ///
    /// Throws: `description_error` if the number of elements differs.
    [[nodiscard]] constexpr shape infer_shape(shape target_shape) const {
        std::uint64_t all = 1, known = 1;
        for (int i = 0; i < rank; ++i) all *= static_cast<std::uint64_t>(size[i]);  // no overflow: the tensor exists
        int open = -1;
        for (int i = 0; i < target_shape.rank; ++i) {
            if (target_shape.size[i] >= 0)
                known *= static_cast<std::uint64_t>(target_shape.size[i]);
            else if (open >= 0)
                throw_description_error("view: -1 twice");
            else
                open = i;
        }
        shape out = target_shape;
        if (open >= 0) {
            if (known == 0 || all % known != 0)
                throw_description_error("view: no size for -1 matches the number of elements");
            out.size[open] = static_cast<std::int64_t>(all / known);
        } else if (known != all) {
            throw_description_error("view: the number of elements differs");
        }
        return out;
    }
    /// `torch.view_as_complex`: pairs of the last dimension, of size two, become one element.
    [[nodiscard]] constexpr tensor view_as_complex() const {
        if (rank < 1 || size[rank - 1] != 2 || stride[rank - 1] != 1)
            throw_description_error("view_as_complex: the last dimension must have size 2");
        tensor v = *this;
        --v.rank;
        for (int i = 0; i < v.rank; ++i) v.stride[i] /= 2;
        v.numel /= 2;
        v.storage_numel /= 2;
        v.type = dtype::complex64;
        return v;
    }
    /// `torch.view_as_real`: each complex element becomes a pair.
    [[nodiscard]] constexpr tensor view_as_real() const {
        tensor v = *this;
        for (int i = 0; i < rank; ++i) v.stride[i] *= 2;
        v.size[v.rank] = 2;
        v.stride[v.rank] = 1;
        ++v.rank;
        v.numel *= 2;
        v.storage_numel *= 2;
        v.type = dtype::float32;
        return v;
    }
    /// Number of distinct elements in memory: broadcast elements count once.
    [[nodiscard]] constexpr std::uint64_t unique_numel() const noexcept {
        std::uint64_t n = numel;
        for (int i = 0; i < rank; ++i)
            if (stride[i] == 0 && size[i] > 0) n /= static_cast<std::uint64_t>(size[i]);
        return n;
    }
    /// Sets the strides of four dimensions to the layout channels-last.
    constexpr void make_channels_last_strides() noexcept {
        std::int64_t next = 1;
        for (const int d : {1, 3, 2, 0}) {
            stride[d] = next;
            next *= size[d];
        }
    }
    constexpr void make_contiguous_strides() noexcept {
        std::uint64_t next = 1;
        for (int i = rank - 1; i >= 0; --i) {
            stride[i] = static_cast<std::int64_t>(next);
            next *= static_cast<std::uint64_t>(size[i] > 0 ? size[i] : 1);
        }
    }
};

/// The output of a module that returns two tensors.
struct tensor_pair {
    tensor first{};
    tensor second{};
};

/// A contiguous tensor of these sizes, without a storage.
[[nodiscard]] constexpr tensor empty_tensor(shape sizes, dtype type = dtype::float32) {
    tensor v;
    v.rank = sizes.rank;
    for (int i = 0; i < sizes.rank; ++i) v.size[i] = sizes.size[i];
    v.numel = v.storage_numel = num_elements(v.size, v.rank);
    v.type = type;
    v.make_contiguous_strides();
    return v;
}

namespace detail {

constexpr bool has_same_shape(const tensor& a, const tensor& b) noexcept {
    for (int i = 0; i < a.rank; ++i)
        if (a.size[i] != b.size[i]) return false;
    return true;
}

/// Compares two dimensions by stride, as TensorIterator does.
///
/// Returns 1 if `inner` must be outside of `outer`, -1 if the order is correct, 0 if the operands do not determine it.
constexpr int compare_strides(const tensor* const* operands, int n, const tensor& out, int outer, int inner) noexcept {
    for (int k = 0; k < n; ++k) {
        const tensor& v = *operands[k];
        const int a = outer - out.rank + v.rank, b = inner - out.rank + v.rank;
        // a broadcast dimension does not determine the order
        if (a < 0 || b < 0 || v.size[a] != out.size[outer] || v.size[b] != out.size[inner]) continue;
        if (v.stride[a] == 0 || v.stride[b] == 0) continue;
        if (v.stride[a] < v.stride[b]) return -1;
        if (v.stride[a] > v.stride[b]) return 1;
        if (out.size[outer] > out.size[inner]) return 1;
    }
    return 0;
}

/// Sets the strides of a new output, whose dimensions have the order of the operands' strides.
constexpr void set_elementwise_strides(const tensor* const* operands, int n, tensor& out) noexcept {
    int order[max_rank]{};  // innermost dimension first
    for (int i = 0; i < out.rank; ++i) order[i] = out.rank - 1 - i;
    for (int i = 1; i < out.rank; ++i) {
        int moving = i;
        for (int j = i - 1; j >= 0; --j) {
            const int rule = compare_strides(operands, n, out, order[j], order[moving]);
            if (rule < 0) break;
            if (rule == 0) continue;
            const int previous_dim = order[j];
            order[j] = order[moving];
            order[moving] = previous_dim;
            moving = j;
        }
    }
    std::uint64_t next = 1;
    for (int i = 0; i < out.rank; ++i) {
        out.stride[order[i]] = static_cast<std::int64_t>(next);
        next *= static_cast<std::uint64_t>(out.size[order[i]]);
    }
}

/// Contiguous including dimensions of one element, which influence the layout of a broadcast result.
constexpr bool is_strictly_contiguous(const tensor& v) noexcept {
    std::int64_t expected = 1;
    for (int i = v.rank - 1; i >= 0; --i) {
        if (v.stride[i] != expected) return false;
        expected *= v.size[i];
    }
    return true;
}

}  // namespace detail

/// Sets sizes and strides of an elementwise result: broadcast, in the layout that TensorIterator gives a new output.
///
/// Contiguous operands, broadcast or not, give a contiguous result. Only others need the general rule.
///
/// Source: aten/src/ATen/TensorIterator.cpp, `compute_fast_setup_type`, `reorder_dimensions`.
constexpr void set_elementwise_layout(const tensor* const* operands, int n, tensor& out) {
    if (n == 2 && operands[0]->rank == operands[1]->rank && operands[0]->numel == operands[1]->numel &&
        operands[0]->is_contiguous() && operands[1]->is_contiguous() &&
        detail::has_same_shape(*operands[0], *operands[1])) {
        out = *operands[0];
        return;
    }
    bool contiguous = true;
    int rank = 0;
    for (int k = 0; k < n; ++k) {
        contiguous = contiguous && detail::is_strictly_contiguous(*operands[k]);
        rank = operands[k]->rank > rank ? operands[k]->rank : rank;
    }
    out.rank = rank;
    for (int i = 0; i < rank; ++i) {
        std::int64_t size = 1;
        for (int k = 0; k < n; ++k) {
            const int operand_dim = i - rank + operands[k]->rank;
            const std::int64_t s = operand_dim >= 0 ? operands[k]->size[operand_dim] : 1;
            if (s == 1 || s == size) continue;
            if (size != 1) throw_description_error("operands do not broadcast");
            size = s;
        }
        out.size[i] = size;
    }
    out.numel = num_elements(out.size, rank);
    if (contiguous)
        out.make_contiguous_strides();
    else
        detail::set_elementwise_strides(operands, n, out);
}

}  // namespace llmcost
