// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/torch/optimizer_kernels.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/memory/optimizer.hpp>
#include <llmcost/memory/optimizer_primitives.hpp>
#include <llmcost/memory/optimizer_step.hpp>
#include <llmcost/memory/tape.hpp>
#include <llmcost/torch/kernel.hpp>
#include <llmcost/torch/optimizer_table.hpp>
#include <llmcost/trace/tensor.hpp>

namespace llmcost::detail {

/// The kernels of an optimizer in the table; empty for a name that it lacks.
[[nodiscard]] LLMCOST_INLINE std::span<const optimizer_kernel> optimizer_kernels_of(std::string_view optimizer) {
    for (const optimizer_kernel_list& row : optimizer_table)
        if (row.optimizer == optimizer) return row.kernels;
    return {};
}

[[nodiscard]] LLMCOST_INLINE bool is_in_subset(parameter_subset subset, const tape_parameter& p) {
    switch (subset) {
        case parameter_subset::all: return true;
        case parameter_subset::matrices: return p.sizes.size() > 1;
        case parameter_subset::vectors: return p.sizes.size() < 2;
        case parameter_subset::layer_matrices: return is_hidden_matrix(p);
        case parameter_subset::others: return !is_hidden_matrix(p);
    }
    return false;
}

/// The elements of a tensor of the optimizer.
[[nodiscard]] LLMCOST_INLINE std::uint64_t elements_of(optimizer_extent extent, std::int64_t rank,
                                                       const tape_parameter& p) {
    switch (extent) {
        case optimizer_extent::parameter: return p.elements;
        case optimizer_extent::row_means: return sides_of(p).rows;
        case optimizer_extent::column_means: return sides_of(p).columns;
        case optimizer_extent::means: return sides_of(p).rows + sides_of(p).columns;
        case optimizer_extent::projected: {
            if (!is_hidden_matrix(p)) return p.elements;
            const projection q(p, static_cast<std::uint64_t>(rank));
            return q.longer * q.rank;
        }
        case optimizer_extent::channels: return projection(p, static_cast<std::uint64_t>(rank)).longer;
        case optimizer_extent::scalar: return 1;
    }
    return 0;
}

[[nodiscard]] LLMCOST_INLINE dtype type_of(optimizer_type type, const tape_parameter& p) noexcept {
    switch (type) {
        case optimizer_type::float32: return dtype::float32;
        case optimizer_type::bfloat16: return dtype::bfloat16;
        case optimizer_type::own: break;
    }
    const std::uint64_t bytes = element_bytes(p);
    return bytes >= 8 ? dtype::float64 : bytes >= 4 ? dtype::float32 : dtype::bfloat16;
}

[[nodiscard]] LLMCOST_INLINE std::uint64_t bytes_of(dtype type) noexcept {
    return static_cast<std::uint64_t>(bits_of(type)) / 8;
}

/// The launches of a foreach function: each processes at most 320 chunks of 65,536 elements, and a number of tensors
/// that depends on the number of lists.
///
/// Source: aten/src/ATen/native/cuda/MultiTensorApply.cuh, `multi_tensor_apply`, `depth_to_max_tensors`.
LLMCOST_INLINE void add_foreach_kernels(std::vector<torch_kernel>& out, const optimizer_kernel& row, std::int64_t rank,
                                        const std::vector<const tape_parameter*>& parameters) {
    constexpr std::uint64_t chunk_elements = 65536;
    constexpr std::int64_t max_chunks = 320, max_tensors[]{110, 64, 48, 36, 30}, max_tensors_of_scalars = 96;
    const std::int64_t tensor_limit = row.has_scalar_list && row.num_lists == 1
                                          ? max_tensors_of_scalars
                                          : max_tensors[static_cast<std::size_t>(row.num_lists - 1)];
    torch_kernel launch;
    const auto begin = [&](std::int64_t num_tensors, dtype type) {
        launch = {};
        launch.name = row.name;
        launch.kind = row.kind;
        launch.phase = step_phase::optimizer;
        launch.type = type;
        launch.num_tensors = num_tensors;
    };
    const std::size_t first_launch = out.size();
    begin(0, dtype::float32);
    for (const tape_parameter* p : parameters) {
        const dtype type = type_of(row.write_type, *p);
        std::uint64_t elements = elements_of(row.write_extent, rank, *p);
        if (elements == 0) continue;
        if (launch.num_tensors == 0) begin(0, type);
        ++launch.num_tensors;
        while (elements > 0) {
            const auto free_elements = static_cast<std::uint64_t>(max_chunks - launch.rows) * chunk_elements;
            const std::uint64_t taken = std::min(elements, free_elements), bytes = taken * bytes_of(type);
            launch.rows += static_cast<std::int64_t>((taken + chunk_elements - 1) / chunk_elements);
            launch.columns = std::max(launch.columns, static_cast<std::int64_t>(std::min(taken, chunk_elements)));
            launch.bytes_read += static_cast<std::uint64_t>(row.reads) * bytes;
            launch.bytes_written += static_cast<std::uint64_t>(row.writes) * bytes;
            elements -= taken;
            if (launch.rows < max_chunks && (elements > 0 || launch.num_tensors < tensor_limit)) continue;
            out.push_back(launch);
            begin(elements > 0 ? 1 : 0, type);
        }
    }
    if (launch.rows > 0) out.push_back(launch);
    for (std::size_t i = first_launch + 1; i < out.size(); ++i) out[i].is_continuation = true;
}

/// The kernels of a product of the optimizer, once per repetition. An accumulated product is added to a copy.
///
/// Source: aten/src/ATen/native/cuda/Blas.cpp, `addmm_out_cuda_impl`.
LLMCOST_INLINE void add_step_product(std::vector<torch_kernel>& out, const optimizer_kernel& row,
                                     const optimizer_product& product, const tape_parameter& p) {
    torch_kernel k;
    k.name = row.name;
    k.kind = torch_kernel_kind::product;
    k.phase = step_phase::optimizer;
    k.type = product.is_bfloat16 ? dtype::bfloat16 : type_of(optimizer_type::own, p);
    k.rows = static_cast<std::int64_t>(product.rows);
    k.columns = static_cast<std::int64_t>(product.columns);
    k.inner = static_cast<std::int64_t>(product.inner);
    k.flops = 2 * product.rows * product.columns * product.inner;
    const std::uint64_t results = product.rows * product.columns;
    k.bytes_written = results * bytes_of(k.type);
    k.bytes_read = (product.rows + product.columns) * product.inner * bytes_of(k.type) +
                   (row.is_accumulated ? k.bytes_written : 0);
    k.operands[k.num_operands++] = shape(k.rows, k.inner);
    k.operands[k.num_operands++] = shape(k.inner, k.columns);
    torch_kernel copy;
    copy.name = "aten::copy_";
    copy.kind = torch_kernel_kind::copy_contiguous;
    copy.phase = step_phase::optimizer;
    copy.type = k.type;
    copy.bytes_read = copy.bytes_written = k.bytes_written;
    for (std::uint64_t i = 0; i < product.repetitions; ++i) {
        if (row.is_accumulated) out.push_back(copy);
        out.push_back(k);
    }
}

/// The kernel of a function of one parameter.
[[nodiscard]] LLMCOST_INLINE torch_kernel parameter_kernel(const optimizer_kernel& row, const optimizer_spec& optimizer,
                                                           std::int64_t rank, const tape_parameter& p) {
    torch_kernel k;
    k.name = row.name;
    k.kind = row.kind;
    k.phase = step_phase::optimizer;
    k.type = type_of(row.write_type, p);
    const std::uint64_t read = elements_of(row.read_extent, rank, p), written = elements_of(row.write_extent, rank, p);
    k.bytes_read = static_cast<std::uint64_t>(row.reads) * read * bytes_of(type_of(row.read_type, p));
    if (row.has_other_operand)
        k.bytes_read += elements_of(row.other_extent, rank, p) * bytes_of(type_of(row.other_type, p));
    k.bytes_written = static_cast<std::uint64_t>(row.writes) * written * bytes_of(k.type);
    if (row.updates_state)
        for (const std::uint64_t bytes : device_state_tensors(optimizer, rank, p)) {
            k.bytes_read += bytes;
            k.bytes_written += bytes;
        }
    const auto results = static_cast<std::int64_t>(written), elements = static_cast<std::int64_t>(read);
    if (row.kind == torch_kernel_kind::product) {  // the outer product of the means of rows and columns
        k.batch = static_cast<std::int64_t>(sides_of(p).rows) / p.sizes[p.sizes.size() - 2];
        k.rows = p.sizes[p.sizes.size() - 2];
        k.columns = p.sizes.back();
        k.inner = 1;
        k.flops = 2 * p.elements;
    } else if (row.kind == torch_kernel_kind::column_reduction) {
        k.rows = elements / std::max<std::int64_t>(results, 1);
        k.columns = results;
    } else if (row.kind == torch_kernel_kind::row_reduction) {
        k.rows = results;
        k.columns = elements / std::max<std::int64_t>(results, 1);
    }
    return k;
}

/// The kernels of a loop over parameters.
LLMCOST_INLINE void add_parameter_kernels(std::vector<torch_kernel>& out, std::span<const optimizer_kernel> rows,
                                          const optimizer_spec& optimizer, std::int64_t rank,
                                          const std::vector<tape_parameter>& parameters) {
    for (const tape_parameter& p : parameters) {
        const std::vector<optimizer_product> products = step_products(optimizer, rank, {p});
        std::size_t next_product = 0;
        for (const optimizer_kernel& row : rows) {
            if (!is_in_subset(row.subset, p) || (row.only_16_bit && element_bytes(p) > 2)) continue;
            if (row.call == optimizer_call::step_product)
                add_step_product(out, row, products[next_product++], p);
            else
                out.push_back(parameter_kernel(row, optimizer, rank, p));
        }
    }
}

/// The kernels of a foreach function, which groups parameters by their type.
///
/// Source: torch/optim/optimizer.py, `_group_tensors_by_device_and_dtype`.
LLMCOST_INLINE void add_foreach_groups(std::vector<torch_kernel>& out, const optimizer_kernel& row, std::int64_t rank,
                                       const std::vector<tape_parameter>& parameters) {
    for (const std::uint64_t size : {2U, 4U, 8U}) {
        std::vector<const tape_parameter*> group;
        for (const tape_parameter& p : parameters)
            if (is_in_subset(row.subset, p) && element_bytes(p) == size) group.push_back(&p);
        add_foreach_kernels(out, row, rank, group);
    }
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE std::vector<torch_kernel> optimizer_step_kernels(const optimizer_spec& optimizer, std::int64_t rank,
                                                                const std::vector<tape_parameter>& parameters) {
    std::vector<torch_kernel> out;
    const std::span<const optimizer_kernel> rows = detail::optimizer_kernels_of(optimizer.name);
    const auto is_foreach = [](const optimizer_kernel& row) { return row.call == optimizer_call::foreach; };
    for (auto row = rows.begin(); row != rows.end();) {
        if (is_foreach(*row)) {
            detail::add_foreach_groups(out, *row++, rank, parameters);
            continue;
        }
        const auto end = std::find_if(row, rows.end(), is_foreach);
        detail::add_parameter_kernels(out, {row, end}, optimizer, rank, parameters);
        row = end;
    }
    return out;
}

}  // namespace llmcost
