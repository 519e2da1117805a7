// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

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
#include <llmcost/memory/window_pools.hpp>
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
    attention_window_pattern attention_windows{};  ///< windows of that option: each size has a pool
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
/// requests; since vLLM 0.28, those with at least 160 GiB have 16,384 tokens. `device_bytes` 0: 8,192 tokens.
/// `num_compute_units`: multiprocessors of the device; 0: 132. On ROCm, memory next to PyTorch's is 1.25 GiB (log of
/// Llama-3.3-70B-Instruct-FP8-dynamic on one MI300X, vLLM 0.11.2 to 0.16.0).
/// Source: vllm/v1/sample/ops/topk_topp_sampler.py, `TopKTopPSampler`, `apply_top_k_top_p`; topk_topp_triton.py,
/// `apply_top_k_top_p_triton`; vllm/config/cache.py; vllm/engine/arg_utils.py, `get_batch_defaults`.
[[nodiscard]] engine_memory_profile profile_with_defaults(engine_memory_profile profile, std::string_view version,
                                                          std::uint64_t device_bytes, std::string_view device_name,
                                                          std::int64_t num_compute_units = 0);

/// The KV cache that an engine allocates on each rank: the memory that weights, activations and the engine leave.
struct kv_cache_capacity {
    count bytes{};
    count block_bytes{};
    std::int64_t num_blocks = 0;
    std::int64_t num_tokens = 0;
    std::int64_t num_groups = 1;  ///< groups of layers, each with its own block table
    double max_concurrency = 0;   ///< requests of the length of the workload
    request_blocks blocks_of_request{};
    std::int64_t stage = 0;       ///< pipeline stage with the fewest requests
    count used_bytes{};           ///< weights, tables, activations, and the engine: what is subtracted
    count activation_bytes{};     ///< peak activations; part of `used_bytes`
    bool has_block_table = true;  ///< false: the engine has no blocks, or windows and states that are no blocks of it
    count request_bytes{};        ///< of a request of the length of the workload
    std::int64_t max_num_seqs = max_input;    ///< requests that run at the same time: slots of states and indices
    double memory_fraction = 1;               ///< of the device, before what is subtracted
    std::vector<window_pool> window_pools{};  ///< one for each window size; `num_blocks` is that of the limiting pool
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
    maybe<count> profile_peak_bytes{};  ///< the result of `profile_peak_bytes_of`; default: computed
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

/// Peak bytes of the profile run of an engine, which fixes the memory of the KV cache; none without a profile run.
///
/// The peak of the forward pass of `max_num_batched_tokens` tokens, or of the sampler. It depends on the element types
/// of the workload, not on its sizes.
[[nodiscard]] maybe<count> profile_peak_bytes_of(const model& model, const workload& load,
                                                 const engine_memory_profile& engine, const inference_rank& rank = {});

/// Peak bytes of the activations of the largest step of a workload, whose prompts are prefilled in chunks.
[[nodiscard]] count step_peak_bytes_of(const model& model, const workload& load, const engine_memory_profile& engine,
                                       const inference_rank& rank = {});

/// Buffers of collectives of one of `num_devices` devices in a node.
///
/// Source: vLLM logs with 2 devices: non-torch memory 0.54 and 0.55 GiB, 0.13 GiB with one. With 4 and 8 devices, what
/// logs of an H200 leave after weights, KV cache and profile: Llama-3.3-70B, Ministral-3-14B, Qwen3-235B. With 4 and 8
/// MI300X: Qwen3-235B (0.11.2) leaves 0.32 and 2.06 GiB more than one device.
[[nodiscard]] count communication_bytes_of(std::int64_t num_devices,
                                           gpu_architecture architecture = gpu_architecture::hopper);
/// Buffers of collectives that an engine reports in addition to `runtime_bytes`, with those of the fused all-reduce.
[[nodiscard]] count communication_bytes_in(const engine_memory_profile& engine, std::int64_t num_devices,
                                           std::int64_t tensor_parallel_size);

namespace detail {

/// Whether an engine divides the KV cache of a model by kinds of layers.
[[nodiscard]] bool has_kv_cache_manager(const model& model, const engine_memory_profile& engine) noexcept;

}  // namespace detail

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

/// The KV cache of a model in an engine without a hybrid cache manager.
struct uniform_kv_cache {
    kv_cache_size size{};
    std::int64_t window = 0;       ///< tokens, if all layers have sliding windows; 0: all tokens are stored
    bool is_proportional = false;  ///< to the number of tokens: no windows and no states
};
[[nodiscard]] uniform_kv_cache uniform_kv_cache_of(const model& model, const workload& load,
                                                   const engine_memory_profile& engine);

/// The KV cache that `used_bytes` of weights, activations and the engine leave on a device.
///
///     bytes = device_bytes · gpu_memory_utilization − used_bytes, or a fraction of the free memory (TensorRT-LLM):
///     bytes = (device_bytes − used_bytes) · gpu_memory_utilization
///     num_blocks = floor(bytes / block_bytes)
///     max_concurrency = num_blocks / blocks of a request of `num_tokens` tokens.
///
/// Source: vllm/v1/core/kv_cache_utils.py, `get_num_blocks`, `get_max_concurrency_for_kv_cache_config`;
/// vllm/v1/worker/gpu_worker.py, `determine_available_memory`; tensorrt_llm/_torch/pyexecutor/_util.py,
/// `KvCacheCreator._cal_max_memory`; resource_manager.py, `calculate_max_num_blocks`; llmapi/llm_args.py,
/// `KvCacheConfig` (fraction 0.9, 32 tokens, all windows full).
[[nodiscard]] kv_cache_capacity kv_cache_capacity_of(const block_pool& pool, const engine_memory_profile& engine,
                                                     count used_bytes, std::uint64_t device_bytes,
                                                     std::int64_t num_tokens);

/// Bytes with which `usable_bytes_of` is compared: all memory, and what an engine leaves next to the KV cache.
[[nodiscard]] count reserved_bytes_of(const inference_memory& memory, const engine_memory_profile& engine);

/// Bytes of a device that an engine may use. A fraction of the free memory does not limit other memory.
[[nodiscard]] std::uint64_t usable_bytes_of(const engine_memory_profile& engine, std::uint64_t device_bytes);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/memory/impl/inference.ipp>  // IWYU pragma: export
#endif
