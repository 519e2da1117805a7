// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>

#include <llmcost/base/count.hpp>
#include <llmcost/base/dtype.hpp>

namespace llmcost {

/// No tensor of the described models has more dimensions (Mamba-2's chunked scan has six).
inline constexpr int max_rank = 6;

/// Sizes of a tensor, outermost first.
struct shape {
    std::int64_t size[max_rank]{};
    int rank = 0;

    constexpr shape() noexcept = default;
    // one for each rank: compilers take longer over lists than over arguments
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

    /// The i-th of them; one alone means all dimensions.
    [[nodiscard]] constexpr std::int64_t at_or_uniform(int i) const noexcept { return size[rank == 1 ? 0 : i]; }
};

/// Elements of a tensor of these sizes; beyond 2^63 is an overflow, strides of an empty tensor included.
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

/// What flows between operations: sizes and strides as PyTorch has them, the storage behind, and whether a gradient is
/// wanted. Views share a storage; an operation that copies gives its result a new one.
struct tensor {
    std::int64_t size[max_rank]{};
    std::int64_t stride[max_rank]{};
    std::uint64_t numel = 0;          ///< product of the sizes, or the visible ones of causal scores
    std::uint64_t storage_numel = 0;  ///< of the whole storage behind, however little of it is viewed
    std::int64_t visible_pairs = 0;   ///< causal scores: visible (query, key) pairs of one matrix; 0: all of them
    std::int32_t storage_id = no_storage_id;
    std::int32_t rank = 0;
    dtype type = dtype::float32;
    bool requires_grad = false;

    /// Parameters, buffers and integer tensors: autograd's memory does not count them. To a listener parameters are
    /// numbered from -2 downwards in the order in which they are declared.
    static constexpr std::int32_t no_storage_id = -1;
    /// Whether it lies in memory that the pass made.
    [[nodiscard]] constexpr bool is_stored() const noexcept { return storage_id >= 0; }

    [[nodiscard]] constexpr int normalize_dim(int dim) const {
        const int d = dim < 0 ? dim + rank : dim;
        if (d < 0 || d >= rank) throw_description_error("no such dimension");
        return d;
    }
    [[nodiscard]] constexpr std::int64_t dim(int d) const { return size[normalize_dim(d)]; }

    /// As `Tensor.is_contiguous()`: dimensions of one element do not matter, nor any of an empty tensor.
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

    /// Whether four dimensions lie in memory as channels-last images (c10/core/MemoryFormat.h,
    /// `is_channels_last_strides_2d_s4`).
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
        if (i != rank) throw_description_error("permute: every dimension once");
        return v;
    }
    [[nodiscard]] constexpr tensor unsqueeze(int dim) const {
        const int d = dim < 0 ? dim + rank + 1 : dim;
        if (rank == max_rank || d < 0 || d > rank) throw_description_error("unsqueeze: no such place");
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
    /// Elements `start`, `start + step`, … , `length` of them, along a dimension.
    [[nodiscard]] constexpr tensor slice(int dim, std::int64_t length, std::int64_t step = 1) const {
        const int d = normalize_dim(dim);
        if (length < 0 || step < 1 || (length > 0 && (length - 1) * step >= size[d]))
            throw_description_error("slice: beyond the dimension");
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
    /// Repeats dimensions of one element without a copy; a rank that grows does so in front.
    [[nodiscard]] constexpr tensor expand(shape target_shape) const {
        tensor v = *this;
        const int shift = target_shape.rank - rank;
        if (shift < 0) throw_description_error("expand: fewer dimensions");
        v.rank = target_shape.rank;
        for (int i = target_shape.rank - 1; i >= 0; --i) {
            const std::int64_t dim_size = i >= shift ? size[i - shift] : 1;
            const std::int64_t step = i >= shift ? stride[i - shift] : 0;
            v.size[i] = target_shape.size[i];
            v.stride[i] = dim_size == target_shape.size[i] && i >= shift ? step : 0;
            if (dim_size != target_shape.size[i] && dim_size != 1)
                throw_description_error("expand: a dimension of more than one element");
        }
        v.numel = num_elements(v.size, v.rank);
        return v;
    }
    /// Strides of the view with these sizes; false where only a copy can have them (ATen's `computeStride`).
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
        // a dimension of one may stand at any stride, beyond 2^63 too
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
    /// As `Tensor.view`, `-1` allowed once; a description that asks for an impossible view is wrong.
    [[nodiscard]] constexpr tensor view(shape target_shape) const {
        tensor v;
        if (!try_view(infer_shape(target_shape), v)) throw_description_error("view: not possible without a copy");
        return v;
    }
    /// `to` with its one `-1` replaced by what remains; other sizes must hold as many elements as these.
    [[nodiscard]] constexpr shape infer_shape(shape target_shape) const {
        std::uint64_t all = 1, known = 1;
        for (int i = 0; i < rank; ++i) all *= static_cast<std::uint64_t>(size[i]);  // no overflow: the value exists
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
            if (known == 0 || all % known != 0) throw_description_error("view: -1 does not come out even");
            out.size[open] = static_cast<std::int64_t>(all / known);
        } else if (known != all) {
            throw_description_error("view: other number of elements");
        }
        return out;
    }
    /// `torch.view_as_complex`: pairs of the last dimension, of size two, become one element.
    [[nodiscard]] constexpr tensor view_as_complex() const {
        if (rank < 1 || size[rank - 1] != 2 || stride[rank - 1] != 1)
            throw_description_error("view_as_complex: no pairs");
        tensor v = *this;
        --v.rank;
        for (int i = 0; i < v.rank; ++i) v.stride[i] /= 2;
        v.numel /= 2;
        v.storage_numel /= 2;
        v.type = dtype::complex64;
        return v;
    }
    /// `torch.view_as_real`: every complex element becomes a pair.
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
    /// Elements that lie apart in memory: those that a broadcast repeats count once.
    [[nodiscard]] constexpr std::uint64_t unique_numel() const noexcept {
        std::uint64_t n = numel;
        for (int i = 0; i < rank; ++i)
            if (stride[i] == 0 && size[i] > 0) n /= static_cast<std::uint64_t>(size[i]);
        return n;
    }
    /// Strides of four dimensions laid out as channels-last images.
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

/// What a module returns that returns two tensors.
struct tensor_pair {
    tensor first{};
    tensor second{};
};

/// A contiguous value of these sizes, without a storage of its own yet.
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

/// 1: `inner` must lie outside of `outer` in memory, -1: as it is, 0: the operands do not tell (TensorIterator's rule).
constexpr int compare_strides(const tensor* const* operands, int n, const tensor& out, int outer, int inner) noexcept {
    for (int k = 0; k < n; ++k) {
        const tensor& v = *operands[k];
        const int a = outer - out.rank + v.rank, b = inner - out.rank + v.rank;
        // a broadcast dimension tells nothing
        if (a < 0 || b < 0 || v.size[a] != out.size[outer] || v.size[b] != out.size[inner]) continue;
        if (v.stride[a] == 0 || v.stride[b] == 0) continue;
        if (v.stride[a] < v.stride[b]) return -1;
        if (v.stride[a] > v.stride[b]) return 1;
        if (out.size[outer] > out.size[inner]) return 1;
    }
    return 0;
}

/// Strides of a new output whose dimensions are ordered as the operands' strides are.
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

/// Contiguous, steps along dimensions of one element included: these take part in the layout of a broadcast result.
constexpr bool is_strictly_contiguous(const tensor& v) noexcept {
    std::int64_t expected = 1;
    for (int i = v.rank - 1; i >= 0; --i) {
        if (v.stride[i] != expected) return false;
        expected *= v.size[i];
    }
    return true;
}

}  // namespace detail

/// Sizes and strides of an elementwise result: broadcast, and laid out as TensorIterator lays out a new output
/// (aten/src/ATen/TensorIterator.cpp: `compute_fast_setup_type`, `reorder_dimensions`).
///
/// Plain operands, broadcast or not, give a contiguous result; only others need the general rule.
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
