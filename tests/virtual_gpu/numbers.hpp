// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <llmcost/cuda/handles.cuh>

#include "board.hpp"

// Numbers on the GPU and on the host, for tests that compare kernels with double precision.
namespace virtual_gpu {

/// Until it ends, kernels run as a whole, of whatever size.
class full_kernel_guard {
public:
    full_kernel_guard() { at_hand().max_threads = std::numeric_limits<std::uint64_t>::max(); }
    ~full_kernel_guard() { at_hand().max_threads = board{}.max_threads; }
    full_kernel_guard(const full_kernel_guard&) = delete;
    full_kernel_guard& operator=(const full_kernel_guard&) = delete;
};

/// The distance of neighbours at one.
template <class T>
inline const double spacing = std::exp2(-23);
template <>
inline const double spacing<__half> = std::exp2(-10);
template <>
inline const double spacing<__nv_bfloat16> = std::exp2(-7);

template <class T>
double as_double(T x) {
    return static_cast<double>(static_cast<float>(x));
}

/// Irregular numbers between -2 and 2, the same every time, as a type has them.
template <class T>
std::vector<T> some_numbers(std::size_t n, std::uint64_t seed) {
    std::vector<T> all;
    for (std::size_t i = 0; i < n; ++i) {
        seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
        all.push_back(T(static_cast<float>(seed >> 40) / 4194304.0f - 2.0f));
    }
    return all;
}

/// Memory of exactly these numbers, so that an index beyond them is found.
template <class T>
llmcost::cuda::memory on_gpu(const std::vector<T>& numbers) {
    llmcost::cuda::memory m = llmcost::cuda::allocate(numbers.size() * sizeof(T));
    llmcost::cuda::check(cudaMemcpy(m.get(), numbers.data(), numbers.size() * sizeof(T), cudaMemcpyHostToDevice),
                         "copy");
    llmcost::cuda::check(cudaDeviceSynchronize(), "copy");
    return m;
}
template <class T>
std::vector<T> from_gpu(const void* address, std::size_t n) {
    llmcost::cuda::check(cudaDeviceSynchronize(), "copy");
    std::vector<T> numbers(n);
    llmcost::cuda::check(cudaMemcpy(numbers.data(), address, n * sizeof(T), cudaMemcpyDeviceToHost), "copy");
    return numbers;
}

}  // namespace virtual_gpu
