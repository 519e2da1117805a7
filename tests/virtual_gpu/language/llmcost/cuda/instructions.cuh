// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

// Stands before the header of this name where a virtual GPU runs kernels: no PTX for x86.
namespace llmcost::cuda::detail {

inline void forget(float&) {}
inline void forget(__half&) {}
inline void forget(__nv_bfloat16&) {}

inline std::uint64_t global_nanoseconds() { return virtual_gpu::global_nanoseconds(); }

}  // namespace llmcost::cuda::detail
