// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <llmcost/cuda/handles.cuh>
#include <llmcost/cuda/sweep.hpp>

// Operators of a sweep as kernels on a stream.
namespace llmcost::cuda {

namespace detail {

/// The clock of a multiprocessor in MHz over 20 µs: its cycles by the global timer.
static __global__ void read_clock(double* megahertz) {
    std::uint64_t begin = 0, now = 0;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
    const long long cycles = clock64();
    do asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    while (now - begin < 20000);
    *megahertz = 1e3 * static_cast<double>(clock64() - cycles) / static_cast<double>(now - begin);
}

/// Normally distributed numbers, by Box and Muller's transform of a hash: a product of zeros draws less power.
template <class T>
__global__ void fill_normal(T* out, std::size_t n, float deviation) {
    for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < n;
         i += std::size_t{gridDim.x} * blockDim.x) {
        std::uint64_t h = (i + 1) * 0x9e3779b97f4a7c15ULL;
        h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ULL;
        h ^= h >> 27;
        const float u = (static_cast<float>(h & 0xffffff) + 1) / 16777217.0f, v = static_cast<float>(h >> 40) / 16777216.0f;
        out[i] = T(deviation * sqrtf(-2 * logf(u)) * cospif(2 * v));
    }
}

/// One block per row: x · rsqrt(mean(x²) + ε) · weight, read once into registers where it fits.
template <int Threads>
__global__ void rms_norm(const __nv_bfloat162* x, const __nv_bfloat162* weight, __nv_bfloat162* out, int pairs) {
    __shared__ float partial[Threads / 32];
    const __nv_bfloat162* row = x + static_cast<std::size_t>(blockIdx.x) * pairs;
    float sum = 0;
    for (int i = threadIdx.x; i < pairs; i += Threads) {
        const float2 v = __bfloat1622float2(row[i]);
        sum += v.x * v.x + v.y * v.y;
    }
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffU, sum, step);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 1; i < Threads / 32; ++i) sum += partial[i];
        partial[0] = rsqrtf(sum / static_cast<float>(2 * pairs) + 1e-6f);
    }
    __syncthreads();
    const float scale = partial[0];
    for (int i = threadIdx.x; i < pairs; i += Threads) {
        const float2 v = __bfloat1622float2(row[i]), w = __bfloat1622float2(weight[i]);
        out[static_cast<std::size_t>(blockIdx.x) * pairs + i] = __floats2bfloat162_rn(v.x * scale * w.x, v.y * scale * w.y);
    }
}

/// out = a · x, eight elements at a time.
static __global__ void scaled(const uint4* x, uint4* out, std::size_t n, float a) {
    for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < n;
         i += std::size_t{gridDim.x} * blockDim.x) {
        uint4 v = x[i];
        auto* pairs = reinterpret_cast<__nv_bfloat162*>(&v);
        for (int k = 0; k < 4; ++k) pairs[k] = __hmul2(pairs[k], __float2bfloat162_rn(a));
        out[i] = v;
    }
}

}  // namespace detail

/// An operator with its memory, launched on a stream; copy i of several reads and writes buffers of its own.
class device_operator {
public:
    virtual ~device_operator() = default;
    virtual void launch(int copy, cudaStream_t on) = 0;
    [[nodiscard]] virtual std::string kernel() const = 0;
};

/// A product of rows with a weight by cuBLASLt: (m, k) x (n, k)ᵀ, weights rotated through memory larger than the cache.
class matrix_product final : public device_operator {
public:
    matrix_product(cublasLtHandle_t lt, const sweep_point& p, int copies, std::size_t cache_bytes) : lt_(lt) {
        const auto m = static_cast<std::uint64_t>(p.sizes[0]), n = static_cast<std::uint64_t>(p.sizes[1]);
        const auto k = static_cast<std::uint64_t>(p.sizes[2]);
        const bool eight = p.operand->weight_bytes == 1;
        const cudaDataType_t in = eight ? CUDA_R_8F_E4M3 : p.operand == find_operand("float16") ? CUDA_R_16F : CUDA_R_16BF;
        const cudaDataType_t out = in == CUDA_R_16F ? CUDA_R_16F : CUDA_R_16BF;
        const std::size_t weight = n * k * (eight ? 1 : 2);
        weights_ =
            1 + static_cast<int>(std::min<std::size_t>(2 * cache_bytes / weight, static_cast<std::size_t>(copies - 1)));
        for (int i = 0; i < weights_; ++i) w_.push_back(filled(n * k, in));
        x_ = filled(m * k, in), y_ = allocate(m * n * 2), workspace_ = allocate(workspace_bytes);
        check(cublasLtMatmulDescCreate(operation_.address(), CUBLAS_COMPUTE_32F, CUDA_R_32F), "cublasLtMatmulDescCreate");
        const cublasOperation_t turned = CUBLAS_OP_T;
        check(cublasLtMatmulDescSetAttribute(operation_.get(), CUBLASLT_MATMUL_DESC_TRANSA, &turned, sizeof turned),
              "cublasLtMatmulDescSetAttribute");
        check(cublasLtMatrixLayoutCreate(a_.address(), in, k, n, static_cast<std::int64_t>(k)),
              "cublasLtMatrixLayoutCreate");
        check(cublasLtMatrixLayoutCreate(b_.address(), in, k, m, static_cast<std::int64_t>(k)),
              "cublasLtMatrixLayoutCreate");
        check(cublasLtMatrixLayoutCreate(d_.address(), out, n, m, static_cast<std::int64_t>(n)),
              "cublasLtMatrixLayoutCreate");
        matmul_preference preference;
        check(cublasLtMatmulPreferenceCreate(preference.address()), "cublasLtMatmulPreferenceCreate");
        const std::size_t most = workspace_bytes;
        check(cublasLtMatmulPreferenceSetAttribute(preference.get(), CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &most,
                                                   sizeof most),
              "cublasLtMatmulPreferenceSetAttribute");
        int found = 0;
        check(cublasLtMatmulAlgoGetHeuristic(lt_, operation_.get(), a_.get(), b_.get(), d_.get(), d_.get(), preference.get(),
                                             1, &chosen_, &found),
              "cublasLtMatmulAlgoGetHeuristic");
        if (found == 0) throw cuda_error("cuBLASLt has no kernel for this product");
    }
    void launch(int copy, cudaStream_t on) override {
        const float one = 1, zero = 0;
        check(cublasLtMatmul(lt_, operation_.get(), &one, w_[static_cast<std::size_t>(copy % weights_)].get(), a_.get(),
                             x_.get(), b_.get(), &zero, y_.get(), d_.get(), y_.get(), d_.get(), &chosen_.algo,
                             workspace_.get(), workspace_bytes, on),
              "cublasLtMatmul");
    }
    [[nodiscard]] std::string kernel() const override { return "cublasLt"; }

private:
    static constexpr std::size_t workspace_bytes = std::size_t{32} << 20;

    static memory filled(std::size_t n, cudaDataType_t type) {
        memory m = allocate(n * (type == CUDA_R_8F_E4M3 ? 1 : 2));
        if (type == CUDA_R_16F)
            detail::fill_normal<<<1024, 256>>>(static_cast<__half*>(m.get()), n, 0.5f);
        else if (type == CUDA_R_16BF)
            detail::fill_normal<<<1024, 256>>>(static_cast<__nv_bfloat16*>(m.get()), n, 0.5f);
        else  // half as many pairs of a bfloat16's bytes: finite numbers of eight bits of every size
            detail::fill_normal<<<1024, 256>>>(static_cast<__nv_bfloat16*>(m.get()), n / 2, 0.5f);
        check(cudaDeviceSynchronize(), "fill");
        return m;
    }

    cublasLtHandle_t lt_;
    int weights_ = 1;
    std::vector<memory> w_;
    memory x_, y_, workspace_;
    matmul_descriptor operation_;
    matrix_layout a_, b_, d_;
    cublasLtMatmulHeuristicResult_t chosen_{};
};

/// An RMS norm, or a map, of m rows of k elements in bfloat16.
class row_operator final : public device_operator {
public:
    row_operator(const sweep_point& p, int copies, std::size_t cache_bytes)
        : norms_(p.family == find_family("norm")),
          rows_(static_cast<int>(p.sizes[0])),
          width_(static_cast<int>(p.sizes[1])) {
        const std::size_t bytes = static_cast<std::size_t>(rows_) * static_cast<std::size_t>(width_) * 2;
        buffers_ = 1 + static_cast<int>(std::min<std::size_t>(cache_bytes / bytes, static_cast<std::size_t>(copies - 1)));
        for (int i = 0; i < buffers_; ++i) {
            in_.push_back(allocate(bytes)), out_.push_back(allocate(bytes));
            detail::fill_normal<<<1024, 256>>>(static_cast<__nv_bfloat16*>(in_.back().get()), bytes / 2, 1.0f);
        }
        weight_ = allocate(static_cast<std::size_t>(width_) * 2);
        check(cudaMemset(weight_.get(), 0x3c, static_cast<std::size_t>(width_) * 2), "cudaMemset");
        check(cudaDeviceSynchronize(), "fill");
    }
    void launch(int copy, cudaStream_t on) override {
        const auto i = static_cast<std::size_t>(copy % buffers_);
        if (norms_) {
            detail::rms_norm<256><<<static_cast<unsigned>(rows_), 256, 0, on>>>(
                static_cast<const __nv_bfloat162*>(in_[i].get()), static_cast<const __nv_bfloat162*>(weight_.get()),
                static_cast<__nv_bfloat162*>(out_[i].get()), width_ / 2);
        } else {
            const std::size_t n = static_cast<std::size_t>(rows_) * static_cast<std::size_t>(width_) / 8;
            const auto blocks = static_cast<unsigned>(std::min<std::size_t>((n + 255) / 256, 65536));
            detail::scaled<<<blocks, 256, 0, on>>>(static_cast<const uint4*>(in_[i].get()),
                                                   static_cast<uint4*>(out_[i].get()), n, 0.5f);
        }
        check(cudaGetLastError(), "launch");
    }
    [[nodiscard]] std::string kernel() const override { return norms_ ? "rms_norm" : "scaled"; }

private:
    bool norms_;
    int rows_, width_, buffers_ = 1;
    std::vector<memory> in_, out_;
    memory weight_;
};

/// The operator of a point.
[[nodiscard]] inline std::unique_ptr<device_operator> make_operator(cublasLtHandle_t lt, const sweep_point& p, int copies,
                                                                    std::size_t cache_bytes) {
    if (p.family == find_family("gemm")) return std::make_unique<matrix_product>(lt, p, copies, cache_bytes);
    return std::make_unique<row_operator>(p, copies, cache_bytes);
}

}  // namespace llmcost::cuda
