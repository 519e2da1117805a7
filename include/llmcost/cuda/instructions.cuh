// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

// Inline assembly of the GPU kernels.
namespace llmcost::cuda::detail {

// Hides the value of a number from the compiler.
static __device__ void forget(float& x) { asm volatile("" : "+f"(x)); }
static __device__ void forget(__half& x) { asm volatile("" : "+h"(reinterpret_cast<unsigned short&>(x))); }
static __device__ void forget(__nv_bfloat16& x) { asm volatile("" : "+h"(reinterpret_cast<unsigned short&>(x))); }

/// The timer of all multiprocessors.
static __device__ std::uint64_t global_nanoseconds() {
    std::uint64_t now = 0;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

}  // namespace llmcost::cuda::detail
