// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cublas_v2.h>

#if CUBLAS_VERSION >= 120500

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <llmcost/cuda/device_operator.cuh>
#include <llmcost/cuda/routing.hpp>
#include <llmcost/cuda/row_kernels.cuh>

// Routed experts: rows gathered by expert, two grouped products with the gate between, rows summed back into tokens.
namespace llmcost::cuda {

namespace detail {

/// silu(gate) · up of rows that have both side by side.
static __global__ void gated_halves(const uint4* gate_up, uint4* out, std::size_t rows, int packs) {
    const std::size_t all = rows * static_cast<std::size_t>(packs);
    for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < all;
         i += std::size_t{gridDim.x} * blockDim.x) {
        const std::size_t row = i / static_cast<std::size_t>(packs),
                          index = 2 * row * packs + i % static_cast<std::size_t>(packs);
        const uint4 gate = gate_up[index], up = gate_up[index + static_cast<std::size_t>(packs)];
        uint4 result;
        for (int k = 0; k < 8; ++k)
            reinterpret_cast<__nv_bfloat16*>(&result)[k] =
                __nv_bfloat16(silu_times{}(static_cast<float>(reinterpret_cast<const __nv_bfloat16*>(&gate)[k]),
                                           static_cast<float>(reinterpret_cast<const __nv_bfloat16*>(&up)[k])));
        out[i] = result;
    }
}

/// Each token's rows, weighted and summed: row t + tokens · i is token t's, as experts are laid out.
static __global__ void combined(const uint4* in, const float* weights, uint4* out, std::size_t tokens, std::size_t rows,
                                int packs) {
    const std::size_t all = tokens * static_cast<std::size_t>(packs);
    for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < all;
         i += std::size_t{gridDim.x} * blockDim.x) {
        const std::size_t token = i / static_cast<std::size_t>(packs), column = i % static_cast<std::size_t>(packs);
        float sums[8]{};
        for (std::size_t row = token; row < rows; row += tokens) {
            const uint4 v = in[row * static_cast<std::size_t>(packs) + column];
            for (int k = 0; k < 8; ++k)
                sums[k] += weights[row] * static_cast<float>(reinterpret_cast<const __nv_bfloat16*>(&v)[k]);
        }
        uint4 result;
        for (int k = 0; k < 8; ++k) reinterpret_cast<__nv_bfloat16*>(&result)[k] = __nv_bfloat16(sums[k]);
        out[i] = result;
    }
}

}  // namespace detail

/// Grouped products of rows by their experts' weights (rows, k) x (n, k)ᵀ, in one call of cuBLAS.
class grouped_products {
public:
    /// Rows of an expert that meets none are no group.
    grouped_products(const std::vector<std::int64_t>& rows, std::int64_t n, std::int64_t k, const void* in,
                     const void* weights, void* out) {
        std::vector<const void*> first, second;
        std::vector<void*> results;
        const auto *x = static_cast<const __nv_bfloat16*>(in), *w = static_cast<const __nv_bfloat16*>(weights);
        auto* y = static_cast<__nv_bfloat16*>(out);
        for (std::size_t e = 0; e < rows.size(); ++e) {
            if (rows[e] == 0) continue;
            first.push_back(w + static_cast<std::int64_t>(e) * n * k);
            second.push_back(x);
            results.push_back(y);
            x += rows[e] * k;
            y += rows[e] * n;
            columns_.push_back(static_cast<int>(n));
            deep_.push_back(static_cast<int>(k));
            rows_.push_back(static_cast<int>(rows[e]));
        }
        transposed_.assign(rows_.size(), CUBLAS_OP_T);
        straight_.assign(rows_.size(), CUBLAS_OP_N);
        ones_.assign(rows_.size(), 1);
        one_.assign(rows_.size(), 1.0f);
        zero_.assign(rows_.size(), 0.0f);
        first_ = uploaded(first);
        second_ = uploaded(second);
        out_ = uploaded(results);
    }
    /// Column by column: outᵀ (n, rows) = weightᵀ (n, k) · inᵀ (k, rows); arrays of pointers are the device's, sizes
    /// the host's.
    void launch(cublasHandle_t blas) const {
        check(cublasGemmGroupedBatchedEx(blas, transposed_.data(), straight_.data(), columns_.data(), rows_.data(),
                                         deep_.data(), one_.data(), static_cast<const void* const*>(first_.get()),
                                         CUDA_R_16BF, deep_.data(), static_cast<const void* const*>(second_.get()),
                                         CUDA_R_16BF, deep_.data(), zero_.data(), static_cast<void* const*>(out_.get()),
                                         CUDA_R_16BF, columns_.data(), static_cast<int>(rows_.size()), ones_.data(),
                                         CUBLAS_COMPUTE_32F),
              "cublasGemmGroupedBatchedEx");
    }

private:
    template <class Pointer>
    static memory uploaded(const std::vector<Pointer>& pointers) {
        memory m = allocate(pointers.size() * sizeof(Pointer));
        check(cudaMemcpy(m.get(), pointers.data(), pointers.size() * sizeof(Pointer), cudaMemcpyHostToDevice),
              "cudaMemcpy");
        return m;
    }

    std::vector<cublasOperation_t> transposed_, straight_;
    std::vector<int> columns_, deep_, rows_, ones_;
    std::vector<float> one_, zero_;
    memory first_, second_, out_;
};

/// Experts of one device in bfloat16, as `moe` counts them; weights of all that live on it.
class routed_experts final : public device_operator {
public:
    routed_experts(const workplace& resources, const operator_shape& shape) : blas_(resources.blas) {
        if (detail::type_of(*shape.operand) != CUDA_R_16BF)
            throw not_supported("experts of " + std::string(shape.operand->name));
        tokens_ = static_cast<std::size_t>(shape.sizes[0]);
        hidden_ = static_cast<std::size_t>(shape.sizes[1]);
        inner_ = static_cast<std::size_t>(shape.sizes[2] / shape.sizes[5]);
        if (hidden_ % 8 != 0 || inner_ % 8 != 0) throw not_supported("experts of odd width");
        const string_ref spread = shape.variant.empty() ? shape.type->default_variant : shape.variant;
        std::vector<std::int64_t> mine;
        const std::vector<std::int64_t> all = rows_of(shape, spread);
        for (std::size_t e = 0; e < all.size(); e += static_cast<std::size_t>(shape.sizes[6])) mine.push_back(all[e]);
        for (const std::int64_t n : mine) rows_ += static_cast<std::size_t>(n);
        if (rows_ == 0) throw not_supported("experts that meet no token");
        const std::size_t up = mine.size() * 2 * inner_ * hidden_, down = mine.size() * inner_ * hidden_;
        const std::size_t intermediate_bytes =
            2 * (tokens_ * hidden_ * 2 + rows_ * (2 * hidden_ + 3 * inner_)) + 8 * rows_;
        sets_ = resources.sets(2 * (up + down), intermediate_bytes + workspace_bytes);
        x_ = hold(2 * tokens_ * hidden_);
        out_ = hold(2 * tokens_ * hidden_);
        gathered_ = hold(2 * rows_ * hidden_);
        gate_up_ = hold(4 * rows_ * inner_);
        gated_ = hold(2 * rows_ * inner_);
        down_ = hold(2 * rows_ * hidden_);
        numbers_ = hold(4 * rows_);
        shares_ = hold(4 * rows_);
        workspace_ = hold(workspace_bytes);
        detail::fill(x_, tokens_ * hidden_, CUDA_R_16BF, 1.0f);
        detail::fill(shares_, rows_, CUDA_R_32F, 0.5f);
        std::vector<std::int32_t> numbers(rows_);  // a run of rows no longer than the tokens has each of them once
        for (std::size_t i = 0; i < rows_; ++i) numbers[i] = static_cast<std::int32_t>(i % tokens_);
        check(cudaMemcpy(numbers_.get(), numbers.data(), 4 * rows_, cudaMemcpyHostToDevice), "cudaMemcpy");
        for (int i = 0; i < sets_; ++i) {
            weights_.push_back(hold(2 * up));
            detail::fill(weights_.back(), up, CUDA_R_16BF, 0.05f);
            const void* first = weights_.back().get();
            weights_.push_back(hold(2 * down));
            detail::fill(weights_.back(), down, CUDA_R_16BF, 0.05f);
            const auto n = static_cast<std::int64_t>(inner_), k = static_cast<std::int64_t>(hidden_);
            up_products_.emplace_back(mine, 2 * n, k, gathered_.get(), first, gate_up_.get());
            down_products_.emplace_back(mine, k, n, gated_.get(), weights_.back().get(), down_.get());
        }
    }
    void launch(int copy, cudaStream_t cuda_stream) override {
        const auto i = static_cast<std::size_t>(copy % sets_);
        const int hidden = static_cast<int>(hidden_ / 8), inner = static_cast<int>(inner_ / 8);
        check(cublasSetStream(blas_, cuda_stream), "cublasSetStream");  // which takes a workspace of one's own back
        check(cublasSetWorkspace(blas_, workspace_.get(), workspace_bytes), "cublasSetWorkspace");
        cuda::launch(detail::gathered, detail::blocks_for(rows_ * hidden_ / 8, 256), 256, cuda_stream,
                     static_cast<const uint4*>(x_.get()), static_cast<const std::int32_t*>(numbers_.get()),
                     static_cast<uint4*>(gathered_.get()), rows_, hidden);
        up_products_[i].launch(blas_);
        cuda::launch(detail::gated_halves, detail::blocks_for(rows_ * inner_ / 8, 256), 256, cuda_stream,
                     static_cast<const uint4*>(gate_up_.get()), static_cast<uint4*>(gated_.get()), rows_, inner);
        down_products_[i].launch(blas_);
        cuda::launch(detail::combined, detail::blocks_for(tokens_ * hidden_ / 8, 256), 256, cuda_stream,
                     static_cast<const uint4*>(down_.get()), static_cast<const float*>(shares_.get()),
                     static_cast<uint4*>(out_.get()), tokens_, rows_, hidden);
    }
    [[nodiscard]] std::string kernel() const override { return "cublas_grouped"; }

private:
    static std::vector<std::int64_t> rows_of(const operator_shape& shape, string_ref spread) {
        try {
            return expert_rows(shape.sizes[0], shape.sizes[3], shape.sizes[4], spread);
        } catch (const std::runtime_error& e) {
            throw not_supported(e.what());
        }
    }

    static constexpr std::size_t workspace_bytes = std::size_t{32} << 20;

    cublasHandle_t blas_;
    std::size_t tokens_ = 0, hidden_ = 0, inner_ = 0, rows_ = 0;
    int sets_ = 1;
    std::vector<memory> weights_;
    memory x_, out_, gathered_, gate_up_, gated_, down_, numbers_, shares_, workspace_;
    std::vector<grouped_products> up_products_, down_products_;
};

}  // namespace llmcost::cuda
#endif
