// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/analysis/layer_run.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/maybe.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/memory/block_pool.hpp>
#include <llmcost/memory/kv_cache_layers.hpp>
#include <llmcost/memory/sglang_options.hpp>
#include <llmcost/memory/tape.hpp>
#include <llmcost/memory/vllm_kernels.hpp>
#include <llmcost/model/model_spec.hpp>

namespace llmcost {

/// How an inference engine uses device memory.
///
/// The numbers are documented constants, not measurements of this machine. CUDA graph memory is not included.
///
/// Source: pytorch#107667 (CUDA context); vLLM log, "non-torch memory"; vllm/config/cache.py (block size,
/// utilization); vllm/engine/arg_utils.py, `get_batch_defaults`; tensorrt_llm/llmapi/llm_args.py, `KvCacheConfig`;
/// sglang/srt/server_args.py, defaults for 80 GB devices.
struct engine_memory_profile {
    std::string_view name;
    std::uint64_t runtime_bytes;          ///< CUDA context, library workspaces and buffers
    std::int64_t block_size;              ///< tokens per KV cache block; 1: the cache is allocated per token
    std::int64_t max_num_batched_tokens;  ///< maximum number of new tokens per step; 0: the entire prompt
    double gpu_memory_utilization;        ///< fraction of device memory that the engine may use
    bool has_paged_cache = true;          ///< false: the cache has exactly the size of the model's tensors
    bool is_from_log = false;             ///< `runtime_bytes` is taken from an engine log and includes activations
    bool has_hybrid_cache_manager =
        false;                       ///< frees tokens outside of a window, and pages recurrent states (`block_pool`)
    bool has_fused_kernels = false;  ///< attention, indexers and experts are kernels of the engine
    std::int64_t vocabulary_multiple = 1;  ///< the vocabulary is padded to a multiple of this
    std::int64_t max_num_seqs = 0;         ///< requests that the profile run samples; 0: no profile run
    double sampler_buffers = 0;            ///< buffers of the sampler, each of max_num_seqs · vocab_size · 4 bytes
    bool has_rotary_tables = false;        ///< stores cosines and sines of all positions, and latent attention absorbed
    std::string_view small_batch_device{};  ///< a large device with the defaults of small ones
    bool has_llama_cpp_buffers = false;     ///< allocates buffers per device (`llama_cpp_memory_of`)
    std::int64_t sampler_programs = 0;      ///< programs of the top-k kernel, each with a row of logits in float32
    engine_version version = latest_engine_version;
    gpu_architecture architecture = gpu_architecture::hopper;
    expert_weight_format expert_weights = expert_weight_format::unquantized;
    bool has_token_pools = false;             ///< allocates pools of tokens and states (`sglang_pool_layout`)
    sglang_options sglang{};                  ///< options of the pools
    bool is_fraction_of_free_memory = false;  ///< the fraction applies to what weights and the profile run leave
    bool caches_all_tokens = false;  ///< layers with sliding windows store all tokens, unless an option sets windows
};

namespace detail {

inline constexpr std::uint64_t MiB = std::uint64_t{1} << 20;

}  // namespace detail

// SGLang derives its fraction from the device, so its fraction is 1.
// clang-format off
inline constexpr engine_memory_profile engine_memory_profiles[]{
    {.name = "transformers", .runtime_bytes = 300 * detail::MiB, .block_size = 1,  .max_num_batched_tokens = 0,
     .gpu_memory_utilization = 1.00, .has_paged_cache = false},
    {.name = "pytorch",      .runtime_bytes = 300 * detail::MiB, .block_size = 1,  .max_num_batched_tokens = 0,
     .gpu_memory_utilization = 1.00, .has_paged_cache = false},
    {.name = "vllm",         .runtime_bytes = 133 * detail::MiB, .block_size = 16, .max_num_batched_tokens = 8192,
     .gpu_memory_utilization = 0.92, .has_hybrid_cache_manager = true, .has_fused_kernels = true,
     .vocabulary_multiple = 64, .max_num_seqs = 1024, .sampler_buffers = 3.5, .has_rotary_tables = true,
     .small_batch_device = "a100", .sampler_programs = 132},
    {.name = "sglang",       .runtime_bytes = 300 * detail::MiB, .block_size = 1,  .max_num_batched_tokens = 8192,
     .gpu_memory_utilization = 1.00, .has_fused_kernels = true, .vocabulary_multiple = 64, .has_token_pools = true},
    {.name = "trtllm",       .runtime_bytes = 300 * detail::MiB, .block_size = 32, .max_num_batched_tokens = 8192,
     .gpu_memory_utilization = 0.90, .has_fused_kernels = true, .is_fraction_of_free_memory = true,
     .caches_all_tokens = true},
    {.name = "llama.cpp",    .runtime_bytes = 0,                 .block_size = 256, .max_num_batched_tokens = 512,
     .gpu_memory_utilization = 1.00, .has_paged_cache = false, .has_llama_cpp_buffers = true},
    {.name = "none",         .runtime_bytes = 0,                 .block_size = 1,  .max_num_batched_tokens = 0,
     .gpu_memory_utilization = 1.00, .has_paged_cache = false},
};
// clang-format on

/// The profile of an engine. Returns null if there is none.
[[nodiscard]] constexpr const engine_memory_profile* find_engine_memory_profile(std::string_view name) noexcept {
    for (const engine_memory_profile& profile : engine_memory_profiles)
        if (profile.name == name) return &profile;
    return nullptr;
}

namespace detail {

/// Whether `version`, such as `0.16.0` or `v0.16.0+cu130`, is earlier than `limit`.
[[nodiscard]] bool is_earlier_version(std::string_view version, const engine_version& limit);

}  // namespace detail

/// The profile of an engine with the defaults of a version and of a device.
///
///     sampler: FlashInfer before vLLM 0.11.1, a sort of all logits before 0.17, a Triton kernel since
///     gpu_memory_utilization: 0.9 before vLLM 0.20, 0.92 since
///
/// Devices below 70 GiB and the A100 have steps of 2,048 tokens and 256 requests. Others have 8,192 tokens and 1,024
/// requests. `device_bytes` 0: as others. `num_compute_units`: multiprocessors of the device; 0: 132. On ROCm, memory
/// next to PyTorch's is 1.25 GiB (log of Llama-3.3-70B-Instruct-FP8-dynamic on one MI300X, vLLM 0.11.2 to 0.16.0).
/// Source: vllm/v1/sample/ops/topk_topp_sampler.py, `TopKTopPSampler`, `apply_top_k_top_p`; topk_topp_triton.py,
/// `apply_top_k_top_p_triton`; vllm/config/cache.py; vllm/engine/arg_utils.py, `get_batch_defaults`.
[[nodiscard]] engine_memory_profile profile_with_defaults(engine_memory_profile profile, std::string_view version,
                                                          std::uint64_t device_bytes, std::string_view device_name,
                                                          std::int64_t num_compute_units = 0);

/// Size of the KV cache of one sequence: `bytes_per_token` · tokens + `bytes_per_sequence`.
struct kv_cache_size {
    count bytes_per_token{};
    count bytes_per_sequence{};  ///< independent of the length: states of recurrent layers
};

/// Device memory that remains for the KV cache.
struct kv_cache_capacity {
    count bytes{};
    std::int64_t num_blocks = 0;
    std::int64_t num_tokens = 0;
    std::int64_t num_groups = 1;  ///< groups of layers, each with its own block table
    double max_concurrency = 0;   ///< requests of the length of the workload
};

/// Memory of inference, in bytes, by component.
struct inference_memory {
    count weight_bytes{};
    count kv_cache_bytes{};            ///< required by the model
    count kv_cache_allocated_bytes{};  ///< allocated by the engine, in blocks and including windows not freed
    count peak_activation_bytes{};     ///< peak of the tensors of one step
    count runtime_bytes{};             ///< the engine's own memory, without CUDA graphs
    count table_bytes{};               ///< rotary tables and absorbed latent projections (`engine_table_bytes`)
    count communication_bytes{};       ///< buffers of NCCL and of the engine's own all-reduce

    [[nodiscard]] constexpr count total_bytes() const {
        return weight_bytes + table_bytes + kv_cache_allocated_bytes + peak_activation_bytes + runtime_bytes +
               communication_bytes;
    }
};

/// The kernels with which a model is executed.
struct engine_kernels {
    bool are_fused = false;  ///< attention, index selection and experts are one kernel each: scores are not stored
    std::int64_t expert_tensor_parallel_size = 1;  ///< devices over which each expert is divided
    std::int64_t expert_parallel_size = 1;         ///< devices over which experts are divided
    expert_kernel experts = expert_kernel::temporary_workspace;
    engine_version version = latest_engine_version;
};

/// Peak bytes of a forward pass.
struct forward_peak {
    count bytes{};            ///< with the workspace of the experts
    count workspace_bytes{};  ///< of the experts: that of the layer with the most
};

namespace detail {

/// Peak bytes of one forward pass. Traces every layer.
[[nodiscard]] forward_peak forward_peak_of_full_trace(const model& model, const workload& load,
                                                      const engine_kernels& kernels = {});
[[nodiscard]] inline count peak_activation_bytes_of_full_trace(const model& model, const workload& load,
                                                               const engine_kernels& kernels = {}) {
    return forward_peak_of_full_trace(model, load, kernels).bytes;
}

}  // namespace detail

/// Peak bytes of the activations of one step.
///
/// Attention is fused (`sdpa`) if the model supports it, otherwise `eager`.
[[nodiscard]] forward_peak forward_peak_of(const model& model, workload load, const engine_kernels& kernels = {});
[[nodiscard]] inline count peak_activation_bytes(const model& model, const workload& load,
                                                 const engine_kernels& kernels = {}) {
    return forward_peak_of(model, load, kernels).bytes;
}

/// One rank of a divided model.
struct inference_rank {
    maybe<count> weight_bytes{};                      ///< default: all weights have the element type of the workload
    const std::optional<block_pool>* pool = nullptr;  ///< the result of `block_pool_of`; default: computed
    std::int64_t vocab_size = 0;                      ///< of the whole model; 0: of the given one
    std::int64_t num_devices = 1;
    std::int64_t tensor_parallel_size = 1;
    std::int64_t expert_tensor_parallel_size = 1;
    std::int64_t expert_parallel_size = 1;
};

/// Peak bytes of the sampler in the profile run of vLLM, which fixes the memory of the KV cache.
///
///     (sampler_buffers · max_num_seqs + sampler_programs) · vocab_size · 4
///     + (max_num_batched_tokens + max_num_seqs) · hidden_size · bytes + cuBLAS workspace (32 MiB on Hopper).
///
/// Logits have half a buffer in 16 bits and one in float32. Before vLLM 0.17, a sort adds values, indices (2), an
/// initial order (2) and CUB's alternate buffers (3): 9.5. Later, probabilities and random numbers add 2: 3.5, and each
/// program of the top-k kernel has a buffer of one row.
/// Source: vllm/v1/worker/gpu_model_runner.py, `_dummy_sampler_run`; aten/src/ATen/native/cuda/SortStable.cu,
/// `segmented_sort_pairs`; aten/src/ATen/cuda/CUDABlas.cpp, `parseChosenWorkspaceSize`.
[[nodiscard]] count sampler_peak_bytes(const model& model, const workload& load, const engine_memory_profile& engine,
                                       std::int64_t vocab_size);

/// Buffers of collectives of one of `num_devices` devices in a node.
///
/// Source: vLLM logs with 2 devices: non-torch memory 0.54 and 0.55 GiB, 0.13 GiB with one. With 4 and 8 devices, what
/// logs of an H200 leave after weights, KV cache and profile: Llama-3.3-70B, Ministral-3-14B, Qwen3-235B. With 4 and 8
/// MI300X: Qwen3-235B (0.11.2) leaves 0.32 and 2.06 GiB more than one device.
[[nodiscard]] count communication_bytes_of(std::int64_t num_devices,
                                           gpu_architecture architecture = gpu_architecture::hopper);

/// The block pool of a decoder in an engine with a hybrid cache manager; none without one, or without a KV cache.
///
/// It depends on the element types of the workload, not on its sizes. `layers`: those of a pipeline stage.
[[nodiscard]] std::optional<block_pool> block_pool_of(const model& model, const workload& load,
                                                      const engine_memory_profile& engine,
                                                      layer_range layers = all_layers);

/// Memory of `load.batch` sequences at the step that reads `load.sequence` tokens after `load.past`.
///
///     total = weights + allocated KV cache + peak activations + runtime
///     allocated KV cache = batch · (bytes_per_token · block_size · ceil(tokens / block_size) + bytes_per_sequence).
///
/// An engine with a hybrid cache manager allocates `block_pool::request_bytes` for a decoder. Elsewhere, blocks outside
/// the window are freed if all layers slide, and one extra block per sequence is added instead of rounding up. Prompts
/// longer than `max_num_batched_tokens` are prefilled in chunks. An engine with a profile run reserves its peak for a
/// model with a vocabulary, whatever the workload. All results are in bytes. Throws: `description_error` if the model
/// has no forward pass for this workload. Source: vllm/v1/core/kv_cache_utils.py,
/// `get_max_concurrency_for_kv_cache_config`; vllm/v1/worker/gpu_worker.py, `determine_available_memory`.
[[nodiscard]] inference_memory inference_memory_of(const model& model, const workload& load,
                                                   const engine_memory_profile& engine,
                                                   const inference_rank& rank = {});

/// Number of KV cache blocks that fit into `device_bytes`.
///
///     bytes = device_bytes · gpu_memory_utilization − weights − tables − peak activations − runtime − communication
///     num_blocks = floor(bytes / (bytes_per_token · block_size)).
///
/// TensorRT-LLM: bytes = (device_bytes − weights − peak activations − runtime) · free_gpu_memory_fraction.
/// Source: tensorrt_llm/_torch/pyexecutor/_util.py, `KvCacheCreator._cal_max_memory`; resource_manager.py,
/// `calculate_max_num_blocks`; llmapi/llm_args.py, `KvCacheConfig` (fraction 0.9, 32 tokens, all windows full).
///
/// Returns nothing if the engine has no paged cache. Without a hybrid cache manager, returns nothing if the cache is
/// not proportional to the number of tokens: sliding windows and recurrent states. Source:
/// vllm/v1/core/kv_cache_utils.py, `get_num_blocks`.
[[nodiscard]] maybe<kv_cache_capacity> kv_cache_capacity_of(const model& model, const workload& load,
                                                            const engine_memory_profile& engine,
                                                            const inference_memory& memory, std::uint64_t device_bytes,
                                                            const std::optional<block_pool>* pool = nullptr);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/memory/impl/inference.ipp>  // IWYU pragma: export
#endif
