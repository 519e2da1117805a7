// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include <llmcost/base/count.hpp>

// The kernels that versions of vLLM select, as far as they determine memory.
namespace llmcost {

/// Version of an engine: major, minor, patch.
using engine_version = std::array<int, 3>;

/// Later than all versions.
inline constexpr engine_version latest_engine_version{1 << 20, 0, 0};

/// The numbers of a version: 0, 16, 0 of `v0.16.0rc1+cu130`; `latest_engine_version` of an empty text.
[[nodiscard]] engine_version parse_engine_version(std::string_view text);

/// Device architectures for which vLLM selects other kernels.
enum class gpu_architecture : std::uint8_t {
    hopper,     ///< compute capability 9.0
    blackwell,  ///< compute capability 10.0
    rocm,       ///< AMD Instinct
    other
};

/// The architecture of a device by its name in the device table; `hopper` of an empty name.
[[nodiscard]] gpu_architecture architecture_of_device(std::string_view device_name);

/// Element type and scales of the weights of routed experts.
enum class expert_weight_format : std::uint8_t {
    unquantized,
    float8_per_tensor,
    float8_per_channel,
    float8_blocks,
    mxfp4,
    other  ///< other formats of 4 bits, and others
};

/// Kernels of routed experts.
enum class expert_kernel : std::uint8_t {
    temporary_workspace,   ///< intermediate tensors of a function: freed when it returns
    persistent_workspace,  ///< Triton and CUTLASS as a modular kernel: its workspace stays allocated
    deep_gemm,             ///< DeepGEMM, with a persistent workspace of aligned rows per expert
    flashinfer             ///< FlashInfer (CUTLASS, TensorRT-LLM): no workspace of PyTorch
};

/// The kernel of routed experts of a version of vLLM.
///
/// A modular kernel takes its workspace from a manager that never frees it. Source, by version:
/// model_executor/layers/fused_moe/unquantized_fused_moe_method.py (modular since 0.14); fused_moe/oracle/fp8.py,
/// `select_fp8_moe_backend` (0.14, 0.16), `_get_priority_backends` (since 0.17); quantization/fp8.py,
/// `get_fp8_moe_backend` (0.11 to 0.13); v1/worker/workspace.py, `WorkspaceManager`.
[[nodiscard]] expert_kernel expert_kernel_of(const engine_version& version, expert_weight_format format,
                                             gpu_architecture architecture, std::int64_t tensor_parallel_size,
                                             std::int64_t expert_parallel_size);

/// Multiples to which vLLM pads the sizes of experts in MXFP4.
struct expert_size_multiples {
    std::int64_t hidden_size = 1;
    std::int64_t intermediate_size = 1;
};

/// The multiples of the default kernel of an architecture: Triton on Hopper, FlashInfer (TensorRT-LLM) on Blackwell,
/// Triton on ROCm, otherwise Marlin.
///
/// Source: vllm/model_executor/layers/quantization/mxfp4.py, `get_mxfp4_backend`, `Mxfp4MoEMethod.create_weights`;
/// fused_moe/oracle/mxfp4.py, `mxfp4_round_up_hidden_size_and_intermediate_size`.
[[nodiscard]] expert_size_multiples mxfp4_multiples_of(gpu_architecture architecture) noexcept;

/// Routed experts in one step of a rank.
struct expert_step {
    std::int64_t num_tokens = 0;
    std::int64_t num_experts_per_tok = 0;
    std::int64_t num_experts = 0;  ///< of the rank
    std::int64_t hidden_size = 0;
    std::int64_t intermediate_size = 0;  ///< of the rank
    bool is_gated = true;
};

/// Workspace of routed experts, in elements of the activations. N: width of the first product, I: of the second.
///
///     modular: tokens · k · (max(I, H) + max(N, H))
///     DeepGEMM: rows · (max(I, H) + max(N, H)), before 0.12: rows · (N + max(I, H)),
///         rows = tokens · k + experts · 127, up to a multiple of 128
///     FlashInfer: 0.
///
/// Source: fused_moe/fused_moe.py, `TritonExperts.workspace_shapes`; fused_moe/cutlass_moe.py, `CutlassExpertsFp8`;
/// fused_moe/deep_gemm_moe.py, `DeepGemmExperts.workspace_shapes`; deep_gemm_utils.py, `compute_aligned_M`.
[[nodiscard]] count expert_workspace_elements(expert_kernel kernel, const engine_version& version,
                                              const expert_step& step);

/// Symmetric memory of the fused all-reduce of FlashInfer, which vLLM creates since 0.17 on Hopper and Blackwell.
///
///     tokens per all-reduce: max_bytes / (hidden_size · 2)
///     buffers: ranks · tokens · hidden_size · 2, flags, 3 · ranks · tokens · hidden_size · 2 bytes,
///         each up to a multiple of 512 MiB, the recommended granularity of multicast objects.
///
/// Source: vllm/config/vllm.py, `enable_allreduce_rms_fusion`; vllm/compilation/passes/fusion/allreduce_rms_fusion.py,
/// `FI_ALLREDUCE_FUSION_MAX_SIZE_MB`; flashinfer/comm/trtllm_ar.py,
/// `trtllm_create_ipc_workspace_for_all_reduce_fusion`; flashinfer/comm/mnnvl.py, `SymmDeviceMemory`.
[[nodiscard]] count fused_all_reduce_bytes(const engine_version& version, gpu_architecture architecture,
                                           std::int64_t tensor_parallel_size);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/memory/impl/vllm_kernels.ipp>  // IWYU pragma: export
#endif
