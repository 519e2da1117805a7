// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <llmcost/cuda/handles.cuh>
#include <llmcost/latency/operator_types.hpp>

struct cudnnContext;  // cuDNN's handle points to one

// What every operator that is measured has: kernels with memory of their own.
namespace llmcost::cuda {

class communicators;

/// How a launch is timed: as a node of a graph between events, or issued by the host, by its clock.
enum class issued_by : std::uint8_t { graph, host };

/// An operator with its memory, launched on a stream; copy i of several reads and writes buffers of its own.
class device_operator {
public:
    virtual ~device_operator() = default;
    virtual void launch(int copy, cudaStream_t cuda_stream) = 0;
    /// As measurements call it.
    [[nodiscard]] virtual std::string kernel() const = 0;
    [[nodiscard]] virtual issued_by issued() const { return issued_by::graph; }
    /// Waits for launches that are not on the stream.
    virtual void wait() {}
    /// Bytes of device memory that it holds.
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

protected:
    device_operator() = default;
    device_operator(const device_operator&) = delete;
    device_operator& operator=(const device_operator&) = delete;

    /// Memory of this operator.
    [[nodiscard]] memory hold(std::size_t bytes) {
        const std::size_t allocated_bytes = std::max<std::size_t>(bytes, 256);
        memory m = allocate(allocated_bytes);
        bytes_ += allocated_bytes;
        return m;
    }

private:
    std::size_t bytes_ = 0;
};

/// What operators are made with: libraries, and how much of the device they may take.
struct workplace {
    cublasLtHandle_t lt = nullptr;
    cublasHandle_t blas = nullptr;
    cudnnContext* cudnn = nullptr;                ///< null where it is not there
    communicators* nccl_communicators = nullptr;  ///< of the GPUs of this process; null where NCCL is not there
    std::size_t cache_bytes = 0;                  ///< of the last level
    std::size_t memory_limit = 0;                 ///< bytes that one operator may hold
    int copies = 1;                               ///< launches, each with its own buffers

    /// How many sets of buffers are rotated, so that twice the cache is used between two uses of one set: at most the
    /// number of launches, and as many as memory allows. Throws where not even one fits.
    [[nodiscard]] int sets(std::size_t bytes_of_each, std::size_t shared = 0) const {
        if (bytes_of_each + shared > memory_limit) throw not_supported("more memory than an operator may hold");
        const std::size_t set_bytes = std::max<std::size_t>(bytes_of_each, 1);
        const std::size_t wanted = 1 + 2 * cache_bytes / set_bytes, fitting = (memory_limit - shared) / set_bytes;
        return static_cast<int>(std::min({wanted, fitting, static_cast<std::size_t>(std::max(copies, 1))}));
    }
};

namespace detail {

/// Normally distributed numbers, by Box and Muller's transform of a hash: a product of zeros draws less power.
template <class T>
__global__ void fill_normal(T* out, std::size_t n, float deviation) {
    for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < n;
         i += std::size_t{gridDim.x} * blockDim.x) {
        std::uint64_t h = (i + 1) * 0x9e3779b97f4a7c15ULL;
        h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ULL;
        h ^= h >> 27;
        const float u = (static_cast<float>(h & 0xffffff) + 1) / 16777217.0f,
                    v = static_cast<float>(h >> 40) / 16777216.0f;
        out[i] = T(deviation * sqrtf(-2 * logf(u)) * cospif(2 * v));
    }
}

/// Bytes of an element.
[[nodiscard]] inline std::size_t width_of(cudaDataType_t type) {
    return type == CUDA_R_32F ? 4 : type == CUDA_R_8F_E4M3 ? 1 : 2;
}

/// Fills memory with normally distributed numbers of a type.
inline void fill(const memory& m, std::size_t n, cudaDataType_t type, float deviation) {
    const auto fill_typed = [&]<class T>(T* out) { launch(fill_normal<T>, 1024, 256, nullptr, out, n, deviation); };
    if (type == CUDA_R_32F)
        fill_typed(static_cast<float*>(m.get()));
    else if (type == CUDA_R_16F)
        fill_typed(static_cast<__half*>(m.get()));
    else if (type == CUDA_R_16BF)
        fill_typed(static_cast<__nv_bfloat16*>(m.get()));
    else
        fill_typed(static_cast<__nv_fp8_e4m3*>(m.get()));
    check(cudaDeviceSynchronize(), "fill");  // the streams that operators run on do not wait for this one
}

/// Operands that kernels here read, as CUDA's libraries call them.
struct element_type {
    const operand_type* operand;
    cudaDataType_t type;
};
inline constexpr element_type element_types[]{
    {find_operand_type("float32"), CUDA_R_32F},
    {find_operand_type("bfloat16"), CUDA_R_16BF},
    {find_operand_type("float16"), CUDA_R_16F},
    {find_operand_type("fp8"), CUDA_R_8F_E4M3},
};

/// The type of an operand's elements; throws for those that no kernel here reads.
[[nodiscard]] inline cudaDataType_t type_of(const operand_type& operand) {
    for (const element_type& e : element_types)
        if (e.operand == &operand) return e.type;
    throw not_supported("no kernel here reads " + std::string(operand.name));
}

/// As many blocks as the work has, up to a limit: each thread iterates over the remaining work.
[[nodiscard]] inline unsigned blocks_for(std::size_t work, std::size_t threads, std::size_t maximum = 65536) {
    return static_cast<unsigned>(std::clamp<std::size_t>((work + threads - 1) / threads, 1, maximum));
}

}  // namespace detail

}  // namespace llmcost::cuda
