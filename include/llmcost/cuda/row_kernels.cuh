// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp8.h>

#include <cstddef>
#include <cstdint>

// Kernels that read rows and write rows, sixteen bytes at a time, computed in float32.
namespace llmcost::cuda::detail {

/// Elements of a type in sixteen bytes.
template <class T>
inline constexpr int in_pack = 16 / static_cast<int>(sizeof(T));
/// Elements of a rotated head, as most models have them.
inline constexpr int rotary_width = 128;

/// A sum and another, or a sum and a maximum, of a block's threads; every thread gets them.
template <int Threads, class Join>
__device__ float2 block_reduce(float2 mine, Join reduce_op) {
    __shared__ float2 partial[Threads / 32];
    for (int step = 16; step > 0; step /= 2) {
        const float2 peer{__shfl_xor_sync(0xffffffffU, mine.x, step), __shfl_xor_sync(0xffffffffU, mine.y, step)};
        mine = reduce_op(mine, peer);
    }
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = mine;
    __syncthreads();
    mine = partial[0];
    for (int i = 1; i < Threads / 32; ++i) mine = reduce_op(mine, partial[i]);
    return mine;
}
struct both_sums {
    __device__ float2 operator()(float2 a, float2 b) const { return {a.x + b.x, a.y + b.y}; }
};
/// Of a maximum and the sum of exponentials below it (Milakov and Gimelshein, arXiv 1805.02867).
struct maximum_and_sum {
    __device__ float2 operator()(float2 a, float2 b) const {
        const float2 larger = a.x > b.x ? a : b, smaller = a.x > b.x ? b : a;
        if (smaller.y == 0) return larger;
        return {larger.x, larger.y + smaller.y * __expf(smaller.x - larger.x)};
    }
};

/// One block per row: x · rsqrt(mean(x²) + ε) · weight; with a mean (x - mean) · rsqrt(variance + ε) · weight + bias.
template <class T, bool HasMean, int Threads>
__global__ void norm_rows(const uint4* x, const uint4* weight, const uint4* bias, uint4* out, int packs) {
    const uint4* row = x + static_cast<std::size_t>(blockIdx.x) * packs;
    float2 sums{0, 0};
    for (int i = threadIdx.x; i < packs; i += Threads) {
        const uint4 v = row[i];
        for (int k = 0; k < in_pack<T>; ++k) {
            const float e = static_cast<float>(reinterpret_cast<const T*>(&v)[k]);
            sums.x += e;
            sums.y += e * e;
        }
    }
    sums = block_reduce<Threads>(sums, both_sums{});
    const float n = static_cast<float>(packs * in_pack<T>), mean = HasMean ? sums.x / n : 0.0f;
    const float scale = rsqrtf(sums.y / n - mean * mean + 1e-6f);
    for (int i = threadIdx.x; i < packs; i += Threads) {
        const uint4 v = row[i], w = weight[i], b = HasMean ? bias[i] : uint4{};
        uint4 result;
        for (int k = 0; k < in_pack<T>; ++k) {
            const float e = static_cast<float>(reinterpret_cast<const T*>(&v)[k]);
            float y = (e - mean) * scale * static_cast<float>(reinterpret_cast<const T*>(&w)[k]);
            if (HasMean) y += static_cast<float>(reinterpret_cast<const T*>(&b)[k]);
            reinterpret_cast<T*>(&result)[k] = T(y);
        }
        out[static_cast<std::size_t>(blockIdx.x) * packs + i] = result;
    }
}

/// One block per row: exp(x - max(x)) / sum of those, the maximum and the sum found in one pass.
template <class T, int Threads>
__global__ void softmax_rows(const uint4* x, uint4* out, int packs) {
    const uint4* row = x + static_cast<std::size_t>(blockIdx.x) * packs;
    float2 max_and_sum{-INFINITY, 0};
    for (int i = threadIdx.x; i < packs; i += Threads) {
        const uint4 v = row[i];
        for (int k = 0; k < in_pack<T>; ++k)
            max_and_sum = maximum_and_sum{}(max_and_sum, {static_cast<float>(reinterpret_cast<const T*>(&v)[k]), 1});
    }
    max_and_sum = block_reduce<Threads>(max_and_sum, maximum_and_sum{});
    const float share = 1 / max_and_sum.y;
    for (int i = threadIdx.x; i < packs; i += Threads) {
        const uint4 v = row[i];
        uint4 result;
        for (int k = 0; k < in_pack<T>; ++k)
            reinterpret_cast<T*>(&result)[k] =
                T(__expf(static_cast<float>(reinterpret_cast<const T*>(&v)[k]) - max_and_sum.x) * share);
        out[static_cast<std::size_t>(blockIdx.x) * packs + i] = result;
    }
}

struct scaled_by {
    float factor = 0.5f;
    int additions = 0;  ///< further additions, in sequence
    __device__ float operator()(float a, float /*unread*/) const {
        float x = a * factor;
        for (int i = 0; i < additions; ++i) x += factor;
        return x;
    }
};
struct added {
    __device__ float operator()(float a, float b) const { return a + b; }
};
/// silu(gate) · up
struct silu_times {
    __device__ float operator()(float a, float b) const { return a / (1 + __expf(-a)) * b; }
};
/// x · Φ(x)
struct gelu_of {
    __device__ float operator()(float a, float /*unread*/) const { return 0.5f * a * (1 + erff(a * 0.70710678f)); }
};
struct identity {
    __device__ float operator()(float a, float /*unread*/) const { return a; }
};

/// out = f(a), or f(a, b), element by element.
template <class T, int Reads, class Function>
__global__ void mapped(const uint4* a, const uint4* b, uint4* out, std::size_t packs, Function f) {
    for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < packs;
         i += std::size_t{gridDim.x} * blockDim.x) {
        const uint4 v = a[i], w = Reads == 2 ? b[i] : uint4{};
        uint4 result;
        for (int k = 0; k < in_pack<T>; ++k)
            reinterpret_cast<T*>(&result)[k] = T(f(static_cast<float>(reinterpret_cast<const T*>(&v)[k]),
                                                   static_cast<float>(reinterpret_cast<const T*>(&w)[k])));
        out[i] = result;
    }
}

/// Rows of heads, each turned by its row's angles: (x, y) -> (x · cos - y · sin, y · cos + x · sin) for halves of a
/// head.
template <class T>
__global__ void rotated(const uint4* x, const uint4* cosines, const uint4* sines, uint4* out, std::size_t rows,
                        int packs) {
    constexpr int half = rotary_width / 2 / in_pack<T>;
    const std::size_t pairs = rows * static_cast<std::size_t>(packs) / 2;
    for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < pairs;
         i += std::size_t{gridDim.x} * blockDim.x) {
        const std::size_t head = i / half, offset = i % half, row = 2 * i / static_cast<std::size_t>(packs);
        const std::size_t low = head * 2 * half + offset;
        const uint4 a = x[low], b = x[low + half], c = cosines[row * half + offset], s = sines[row * half + offset];
        uint4 first, second;
        for (int k = 0; k < in_pack<T>; ++k) {
            const float p = static_cast<float>(reinterpret_cast<const T*>(&a)[k]);
            const float q = static_cast<float>(reinterpret_cast<const T*>(&b)[k]);
            const float cosine = static_cast<float>(reinterpret_cast<const T*>(&c)[k]);
            const float sine = static_cast<float>(reinterpret_cast<const T*>(&s)[k]);
            reinterpret_cast<T*>(&first)[k] = T(p * cosine - q * sine);
            reinterpret_cast<T*>(&second)[k] = T(q * cosine + p * sine);
        }
        out[low] = first;
        out[low + half] = second;
    }
}

/// Rows of a table by their numbers.
static __global__ void gathered(const uint4* table, const std::int32_t* numbers, uint4* out, std::size_t rows,
                                int packs) {
    const std::size_t all = rows * static_cast<std::size_t>(packs);
    for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < all;
         i += std::size_t{gridDim.x} * blockDim.x) {
        const std::size_t row = i / static_cast<std::size_t>(packs), column = i % static_cast<std::size_t>(packs);
        out[i] = table[static_cast<std::size_t>(numbers[row]) * static_cast<std::size_t>(packs) + column];
    }
}

/// The largest magnitude of all elements; bits of floats that are not negative rise with them.
static __global__ void largest_magnitude(const uint4* x, std::size_t packs, int* out) {
    float maximum = 0;
    for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < packs;
         i += std::size_t{gridDim.x} * blockDim.x) {
        const uint4 v = x[i];
        for (int k = 0; k < 8; ++k)
            maximum = fmaxf(maximum, fabsf(static_cast<float>(reinterpret_cast<const __nv_bfloat16*>(&v)[k])));
    }
    for (int step = 16; step > 0; step /= 2) maximum = fmaxf(maximum, __shfl_xor_sync(0xffffffffU, maximum, step));
    if (threadIdx.x % 32 == 0) atomicMax(out, __float_as_int(maximum));
}

/// Eight bits of a scaled element each (e4m3, saturated).
static __global__ void quantised(const uint4* x, uint2* out, std::size_t packs, float scale) {
    for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < packs;
         i += std::size_t{gridDim.x} * blockDim.x) {
        const uint4 v = x[i];
        uint2 result;
        for (int k = 0; k < 4; ++k) {
            const float2 pair = __bfloat1622float2(reinterpret_cast<const __nv_bfloat162*>(&v)[k]);
            reinterpret_cast<__nv_fp8x2_storage_t*>(&result)[k] =
                __nv_cvt_float2_to_fp8x2(float2{pair.x * scale, pair.y * scale}, __NV_SATFINITE, __NV_E4M3);
        }
        out[i] = result;
    }
}

}  // namespace llmcost::cuda::detail
