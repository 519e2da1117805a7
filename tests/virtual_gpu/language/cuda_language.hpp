// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What nvcc adds to C++, for a host compiler: included before anything else in files that have kernels.
#define __shared__ static  // one thread runs all blocks, one after the other

#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "../board.hpp"
#include "../threads.hpp"

inline uint3 &threadIdx = virtual_gpu::current_place.thread, &blockIdx = virtual_gpu::current_place.block;
inline dim3 &blockDim = virtual_gpu::current_place.threads, &gridDim = virtual_gpu::current_place.blocks;

inline void __syncthreads() { virtual_gpu::wait_for_block(); }

inline float __shfl_xor_sync(unsigned mask, float mine, int lane_mask) {
    const unsigned bits = virtual_gpu::exchanged(mask, std::bit_cast<unsigned>(mine), static_cast<unsigned>(lane_mask));
    return std::bit_cast<float>(bits);
}
inline int atomicMax(int* address, int value) {
    const int previous = *address;
    if (value > previous) *address = value;
    return previous;
}
inline int __float_as_int(float x) { return std::bit_cast<int>(x); }
inline long long clock64() { return virtual_gpu::cycles(); }

namespace virtual_gpu {

inline float exponential(float x) { return std::exp(x); }

/// As the runtime's header has it: arguments become the kernel's parameters, and are copied before the call returns.
template <class... Parameters, class... Arguments>
cudaError_t launch_kernel(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...), Arguments&&... arguments) {
    const std::tuple<Parameters...> stored_arguments(std::forward<Arguments>(arguments)...);
    std::vector<touch> touches;
    const auto add = [&]<class T>(const T& argument) {
        if constexpr (std::is_pointer_v<T>)
            if (argument != nullptr)
                touches.push_back({argument, 1, !std::is_const_v<std::remove_pointer_t<T>>, "an argument of a kernel"});
    };
    std::apply([&](const auto&... parameters) { (add(parameters), ...); }, stored_arguments);
    return launch(
        *config, [kernel, stored_arguments] { std::apply(kernel, stored_arguments); }, std::move(touches));
}

}  // namespace virtual_gpu

#define __expf virtual_gpu::exponential                // the C library keeps the name for itself
#define cudaLaunchKernelEx virtual_gpu::launch_kernel  // the runtime's forgets of what type arguments are
inline float rsqrtf(float x) { return 1 / std::sqrt(x); }
inline float cospif(float x) { return static_cast<float>(std::cos(3.14159265358979323846 * static_cast<double>(x))); }

template <class T>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, T* kernel) {
    return cudaFuncGetAttributes(attributes, reinterpret_cast<const void*>(kernel));
}
