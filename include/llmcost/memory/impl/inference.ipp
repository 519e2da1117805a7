// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/memory/inference.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/analysis/layer_run.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/maybe.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/memory/block_pool.hpp>
#include <llmcost/memory/kv_cache_layers.hpp>
#include <llmcost/memory/tape.hpp>
#include <llmcost/memory/vllm_kernels.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/trace/trace.hpp>

namespace llmcost::detail {

/// Bytes of the KV cache after a prefill of `num_tokens` tokens, for one sequence.
[[nodiscard]] LLMCOST_INLINE count kv_cache_bytes_after_prefill(const model& model, workload load,
                                                                std::int64_t num_tokens) {
    load.batch = 1;
    load.past = 0;
    load.sequence = num_tokens;
    return count_model(model, load).cache_bytes;
}

/// The experts of a kernel of a trace, on one rank.
[[nodiscard]] LLMCOST_INLINE expert_step expert_step_of(const fused_kernel& experts, const engine_kernels& kernels) {
    return {.num_tokens = experts.num_tokens,
            .num_experts_per_tok = experts.num_experts_per_tok,
            .num_experts = experts.num_experts / kernels.expert_parallel_size,
            .hidden_size = experts.hidden_size,
            .intermediate_size = experts.intermediate_size / kernels.expert_tensor_parallel_size,
            .is_gated = experts.is_gated};
}

/// Peak bytes of the tensors of a traced forward pass.
///
/// A tensor is live from the operation that writes it to the last operation that reads it. Cached tensors are not
/// counted. With the kernels of an engine, neither are those that only operations of one kernel write and read.
[[nodiscard]] LLMCOST_INLINE forward_peak peak_live_bytes(const tape& pass, const engine_kernels& kernels,
                                                          dtype activations) {
    std::uint64_t live_bytes = 0;
    std::uint64_t peak_bytes = 0;
    std::uint64_t largest_workspace_bytes = 0;
    std::vector<bool> is_live(pass.tensors.size(), false);

    const auto tensor = [&](std::int32_t id) -> const tape_tensor& {
        return pass.tensors[static_cast<std::size_t>(id)];
    };
    const auto kernel_of = [&](std::int32_t node) {
        return node < 0 ? -1 : pass.nodes[static_cast<std::size_t>(node)].kernel_id;
    };
    const auto is_internal = [&](std::int32_t id) {
        const std::int32_t kernel = kernel_of(tensor(id).producer);
        return kernels.are_fused && kernel >= 0 && kernel == kernel_of(tensor(id).last_read);
    };
    // the experts of an engine return one vector per token, also if the reference returns one per token and expert
    const auto stored_bytes = [&](std::int32_t id) {
        const std::int32_t kernel = kernel_of(tensor(id).producer);
        if (!kernels.are_fused || kernel < 0) return tensor(id).bytes;
        const fused_kernel& part = pass.kernels[static_cast<std::size_t>(kernel)];
        if (part.kind != fused_kernel_kind::experts) return tensor(id).bytes;
        const count output = bytes_of(count(part.num_tokens) * count(part.hidden_size), activations);
        return std::min(tensor(id).bytes, output.to_64());
    };
    const auto allocate = [&](std::int32_t id) {
        if (id < 0 || is_live[static_cast<std::size_t>(id)] || tensor(id).is_cached || is_internal(id)) return;
        is_live[static_cast<std::size_t>(id)] = true;
        live_bytes += stored_bytes(id);
    };
    const auto free_after_last_read = [&](std::int32_t id, std::size_t node) {
        if (id < 0 || !is_live[static_cast<std::size_t>(id)] || id == pass.output) return;
        if (tensor(id).last_read > static_cast<std::int32_t>(node)) return;
        is_live[static_cast<std::size_t>(id)] = false;
        live_bytes -= stored_bytes(id);
    };

    for (std::size_t i = 0; i < pass.nodes.size(); ++i) {
        const tape_node& node = pass.nodes[i];
        allocate(node.output);
        std::uint64_t workspace_bytes = 0;
        if (kernels.are_fused && node.kernel_id >= 0) {
            const fused_kernel& kernel = pass.kernels[static_cast<std::size_t>(node.kernel_id)];
            if (kernel.kind == fused_kernel_kind::experts)
                workspace_bytes = bytes_of(expert_workspace_elements(kernels.experts, kernels.version,
                                                                     expert_step_of(kernel, kernels)),
                                           activations)
                                      .to_64();
        }
        largest_workspace_bytes = std::max(largest_workspace_bytes, workspace_bytes);
        peak_bytes = std::max(peak_bytes, live_bytes + workspace_bytes);
        for (const tape_edge& input : node.inputs) free_after_last_read(input.tensor, i);
        free_after_last_read(node.output, i);
    }
    return {.bytes = count(peak_bytes), .workspace_bytes = count(largest_workspace_bytes)};
}

LLMCOST_INLINE forward_peak forward_peak_of_full_trace(const model& model, const workload& load,
                                                       const engine_kernels& kernels) {
    tape pass;
    tape_listener listener{pass};
    trace t{with_storage_types(load, storage_types_of(model, load)), &listener};
    pass.output = listener.tensor_id(model.forward(t));
    return peak_live_bytes(pass, kernels, storage_types_of(model, load).activations);
}

/// Peak bytes of one forward pass. Traces three and four repetitions of the longest run of equal layers.
///
/// If both have the same peak, the entire model has this peak. Otherwise every layer is traced. With two repetitions,
/// no layer has both a residual of an earlier one and tables that a later one reads.
[[nodiscard]] LLMCOST_INLINE forward_peak forward_peak_of_folded_trace(const model& model, const workload& load,
                                                                       const engine_kernels& kernels) {
    constexpr std::int64_t max_repetitions = 4;
    const layer_run run = longest_layer_run(model.config.layers, model.config.num_hidden_layers, max_repetitions);
    const bool can_fold = run.repetitions > max_repetitions && model.policy == nullptr;
    if (can_fold) {
        try {
            const forward_peak shorter =
                forward_peak_of_full_trace(with_repetitions(model, run, max_repetitions - 1), load, kernels);
            const forward_peak longer =
                forward_peak_of_full_trace(with_repetitions(model, run, max_repetitions), load, kernels);
            if (shorter.bytes == longer.bytes) return longer;
        } catch (const description_error&) {
            // The model is not valid with fewer layers. Trace every layer.
        }
    }
    return forward_peak_of_full_trace(model, load, kernels);
}

/// The largest step of a chunked prefill of `load`: at most `max_num_batched_tokens` new tokens.
[[nodiscard]] LLMCOST_INLINE workload largest_chunk_of(const workload& load, const engine_memory_profile& engine) {
    const std::int64_t max_tokens = engine.max_num_batched_tokens;
    if (max_tokens <= 0 || count(load.batch) * count(load.sequence) <= count(max_tokens)) return load;

    workload chunk = load;
    chunk.sequence = std::min(load.sequence, max_tokens);
    chunk.batch = std::max<std::int64_t>(1, max_tokens / chunk.sequence);
    chunk.past = load.past + load.sequence - chunk.sequence;
    return chunk;
}

/// The forward pass of the profile run: one sequence of as many tokens as a step has.
///
/// A model with fewer positions has shorter sequences.
[[nodiscard]] LLMCOST_INLINE workload profiled_step_of(const model& model, workload load,
                                                       const engine_memory_profile& engine) {
    const std::int64_t positions = model.config.context_length();
    load.past = 0;
    load.sequence = engine.max_num_batched_tokens;
    load.batch = 1;
    if (positions > 0 && load.sequence > positions) {
        load.batch = load.sequence / positions;
        load.sequence = positions;
    }
    load.head = logits::last;
    return load;
}

[[nodiscard]] LLMCOST_INLINE engine_kernels kernels_of(const engine_memory_profile& engine,
                                                       const inference_rank& rank) {
    return {.are_fused = engine.has_fused_kernels,
            .expert_tensor_parallel_size = rank.expert_tensor_parallel_size,
            .expert_parallel_size = rank.expert_parallel_size,
            .experts = expert_kernel_of(engine.version, engine.expert_weights, engine.architecture,
                                        rank.tensor_parallel_size, rank.expert_parallel_size),
            .version = engine.version};
}

/// Whether each tensor of a step is at most as large as that of the profile run.
[[nodiscard]] LLMCOST_INLINE bool is_part_of_profiled_step(const model& model, const workload& load,
                                                           const engine_memory_profile& engine) {
    const workload profiled = profiled_step_of(model, load, engine);
    return load.past == 0 && load.head == logits::last && load.batch <= profiled.batch &&
           load.sequence <= profiled.sequence && !load.has_multimodal_inputs() && load.encoder_sequence == 0;
}

LLMCOST_INLINE bool has_kv_cache_manager(const model& model, const engine_memory_profile& engine) noexcept {
    return engine.has_hybrid_cache_manager && model.config.encoder.num_hidden_layers == 0;
}

LLMCOST_INLINE bool is_earlier_version(std::string_view version, const engine_version& limit) {
    return parse_engine_version(version) < limit;
}

}  // namespace llmcost::detail

namespace llmcost {

/// Size of the KV cache of one sequence. Computed from prefills of one and two tokens, which no sliding window limits.
[[nodiscard]] LLMCOST_INLINE kv_cache_size kv_cache_size_of(const model& model, const workload& load) {
    const count one_token = detail::kv_cache_bytes_after_prefill(model, load, 1);
    const count two_tokens = detail::kv_cache_bytes_after_prefill(model, load, 2);
    const count per_token = two_tokens > one_token ? two_tokens - one_token : count{};
    const count per_sequence = one_token > per_token ? one_token - per_token : count{};
    return {.bytes_per_token = per_token, .bytes_per_sequence = per_sequence};
}

LLMCOST_INLINE engine_memory_profile profile_with_defaults(engine_memory_profile profile, std::string_view version,
                                                           std::uint64_t device_bytes, std::string_view device_name,
                                                           std::int64_t num_compute_units) {
    if (profile.max_num_seqs == 0) return profile;
    constexpr std::uint64_t large_device = std::uint64_t{70} << 30, largest_device = std::uint64_t{160} << 30;
    const bool is_exception = device_name.find(profile.small_batch_device) != std::string_view::npos;
    if (device_bytes != 0 && (device_bytes < large_device || is_exception)) {
        profile.max_num_batched_tokens = 2048;
        profile.max_num_seqs = 256;
    }
    profile.version = parse_engine_version(version);
    profile.architecture = architecture_of_device(device_name);

    constexpr engine_version larger_steps{0, 28, 0};
    if (device_bytes >= largest_device && profile.version >= larger_steps) profile.max_num_batched_tokens = 16384;
    constexpr engine_version sorting_sampler{0, 11, 1}, top_k_kernel{0, 17, 0}, larger_utilization{0, 20, 0};
    constexpr double sorting_buffers = 9.5;
    const bool has_flashinfer_sampler =
        profile.version < sorting_sampler && profile.architecture != gpu_architecture::rocm;
    if (profile.version < top_k_kernel && !has_flashinfer_sampler) profile.sampler_buffers = sorting_buffers;
    if (num_compute_units > 0) profile.sampler_programs = num_compute_units;
    if (profile.version < top_k_kernel) profile.sampler_programs = 0;
    constexpr std::uint64_t rocm_runtime_bytes = 1280 * detail::MiB;
    if (profile.architecture == gpu_architecture::rocm) profile.runtime_bytes = rocm_runtime_bytes;
    if (profile.version < larger_utilization) profile.gpu_memory_utilization = 0.9;
    return profile;
}

LLMCOST_INLINE forward_peak forward_peak_of(const model& model, workload load, const engine_kernels& kernels) {
    load.uses_workload_dtypes = true;
    try {
        load.implementation = attention_implementation::sdpa;
        return detail::forward_peak_of_folded_trace(model, load, kernels);
    } catch (const description_error&) {
        load.implementation = attention_implementation::eager;
        return detail::forward_peak_of_folded_trace(model, load, kernels);
    }
}

LLMCOST_INLINE count sampler_peak_bytes(const model& model, const workload& load, const engine_memory_profile& engine,
                                        std::int64_t vocab_size) {
    constexpr std::uint64_t cublas_workspace = 32 * detail::MiB;
    const count hidden = count(engine.max_num_batched_tokens + engine.max_num_seqs) * count(model.config.hidden_size);
    const auto buffers = static_cast<std::uint64_t>(2 * engine.sampler_buffers);  // in halves
    const count rows_in_halves = count(buffers) * count(engine.max_num_seqs) +
                                 count(2) * count(std::min(engine.sampler_programs, engine.max_num_seqs));
    return rows_in_halves * count(vocab_size) * count(2) + bytes_of(hidden, storage_types_of(model, load).activations) +
           count(cublas_workspace);
}

LLMCOST_INLINE maybe<count> profile_peak_bytes_of(const model& model, const workload& load,
                                                  const engine_memory_profile& engine, const inference_rank& rank) {
    if (engine.max_num_seqs <= 0 || engine.is_from_log || model.config.vocab_size <= 0) return {};
    const engine_kernels kernels = detail::kernels_of(engine, rank);
    const std::int64_t vocab_size = rank.vocab_size > 0 ? rank.vocab_size : model.config.vocab_size;
    const forward_peak profiled = forward_peak_of(model, detail::profiled_step_of(model, load, engine), kernels);
    const bool is_temporary = kernels.experts == expert_kernel::temporary_workspace;
    const count persistent_workspace = is_temporary ? count{} : profiled.workspace_bytes;
    return std::max(profiled.bytes, sampler_peak_bytes(model, load, engine, vocab_size) + persistent_workspace);
}

LLMCOST_INLINE count step_peak_bytes_of(const model& model, const workload& load, const engine_memory_profile& engine,
                                        const inference_rank& rank) {
    if (engine.is_from_log) return {};
    return peak_activation_bytes(model, detail::largest_chunk_of(load, engine), detail::kernels_of(engine, rank));
}

LLMCOST_INLINE count communication_bytes_of(std::int64_t num_devices, gpu_architecture architecture) {
    if (num_devices <= 1) return {};
    if (architecture == gpu_architecture::rocm) return count((num_devices <= 4 ? 328 : 2110) * detail::MiB);
    const std::uint64_t mebibytes = num_devices <= 2 ? 430 : num_devices <= 4 ? 550 : 890;
    return count(mebibytes * detail::MiB);
}

LLMCOST_INLINE count communication_bytes_in(const engine_memory_profile& engine, std::int64_t num_devices,
                                            std::int64_t tensor_parallel_size) {
    if (engine.max_num_seqs <= 0 || engine.is_from_log) return {};
    const count of_nccl = communication_bytes_of(num_devices, engine.architecture);
    if (num_devices != tensor_parallel_size) return of_nccl;
    return of_nccl + fused_all_reduce_bytes(engine.version, engine.architecture, tensor_parallel_size);
}

LLMCOST_INLINE std::optional<block_pool> block_pool_of(const model& model, const workload& load,
                                                       const engine_memory_profile& engine, layer_range range) {
    if (!detail::has_kv_cache_manager(model, engine)) return std::nullopt;
    const std::vector<kv_cache_layer> layers = kv_cache_layers_of(model, load, range);
    if (layers.empty()) return std::nullopt;
    return block_pool(layers, engine.block_size, engine.max_num_batched_tokens);
}

LLMCOST_INLINE inference_memory inference_memory_of(const model& model, const workload& load,
                                                    const engine_memory_profile& engine, const inference_rank& rank) {
    const model_metrics metrics = count_model(model, load);
    inference_memory memory;
    memory.weight_bytes = rank.weight_bytes.value_or(metrics.weight_bytes);
    memory.kv_cache_bytes = metrics.cache_bytes;
    memory.kv_cache_allocated_bytes = metrics.cache_bytes;
    memory.runtime_bytes = count(engine.runtime_bytes);
    memory.communication_bytes = communication_bytes_in(engine, rank.num_devices, rank.tensor_parallel_size);

    const std::int64_t num_tokens = load.past + load.sequence;
    const bool has_cache = metrics.cache_elements != count{};
    std::optional<block_pool> own_pool;
    if (has_cache && rank.pool == nullptr) own_pool = block_pool_of(model, load, engine);
    const std::optional<block_pool>& hybrid_pool = rank.pool != nullptr ? *rank.pool : own_pool;
    if (has_cache && hybrid_pool) {
        memory.kv_cache_allocated_bytes = count(load.batch) * hybrid_pool->request_bytes(num_tokens);
    } else if (has_cache && engine.has_paged_cache) {
        const kv_cache_size size = kv_cache_size_of(model, load);
        const count batch(load.batch), block_size(engine.block_size);
        const bool frees_windows = !engine.caches_all_tokens && num_tokens > 2 && size.bytes_per_token != count{} &&
                                   detail::kv_cache_bytes_after_prefill(model, load, num_tokens) ==
                                       detail::kv_cache_bytes_after_prefill(model, load, num_tokens - 1);
        if (frees_windows) {
            memory.kv_cache_allocated_bytes = memory.kv_cache_bytes + batch * size.bytes_per_token * block_size;
        } else {
            const count num_blocks((num_tokens + engine.block_size - 1) / engine.block_size);
            const count sequence_bytes = size.bytes_per_token * num_blocks * block_size + size.bytes_per_sequence;
            memory.kv_cache_allocated_bytes = batch * sequence_bytes;
        }
    }

    if (engine.is_from_log) return memory;
    maybe<count> profile_peak{};
    if (has_cache)
        profile_peak =
            rank.profile_peak_bytes ? rank.profile_peak_bytes : profile_peak_bytes_of(model, load, engine, rank);
    if (profile_peak && detail::is_part_of_profiled_step(model, load, engine))
        memory.peak_activation_bytes = *profile_peak;
    else
        memory.peak_activation_bytes =
            std::max(profile_peak.value_or(count{}), step_peak_bytes_of(model, load, engine, rank));
    return memory;
}

LLMCOST_INLINE uniform_kv_cache uniform_kv_cache_of(const model& model, const workload& load,
                                                    const engine_memory_profile& engine) {
    constexpr std::int64_t max_probe_tokens = 1 << 15;
    const std::int64_t max_positions = model.config.max_position_embeddings;
    const std::int64_t num_tokens = max_positions > 0 ? std::min(max_positions, max_probe_tokens) : max_probe_tokens;
    uniform_kv_cache cache;
    cache.size = kv_cache_size_of(model, load);
    if (cache.size.bytes_per_token == count{}) return cache;
    if (engine.caches_all_tokens) {
        cache.is_proportional = cache.size.bytes_per_sequence == count{};
        return cache;
    }
    const count probed = detail::kv_cache_bytes_after_prefill(model, load, num_tokens);
    cache.is_proportional =
        cache.size.bytes_per_sequence == count{} && probed == cache.size.bytes_per_token * count(num_tokens);
    if (num_tokens > 2 && probed == detail::kv_cache_bytes_after_prefill(model, load, num_tokens - 1))
        cache.window =
            static_cast<std::int64_t>(((probed - cache.size.bytes_per_sequence) / cache.size.bytes_per_token).to_64());
    return cache;
}

LLMCOST_INLINE kv_cache_capacity kv_cache_capacity_of(const block_pool& pool, const engine_memory_profile& engine,
                                                      count used_bytes, std::uint64_t device_bytes,
                                                      std::int64_t num_tokens) {
    kv_cache_capacity capacity;
    const count usable_bytes(usable_bytes_of(engine, device_bytes));
    if (used_bytes < usable_bytes) capacity.bytes = usable_bytes - used_bytes;
    if (engine.is_fraction_of_free_memory)
        capacity.bytes = count(
            static_cast<std::uint64_t>(static_cast<double>(capacity.bytes.to_64()) * engine.gpu_memory_utilization));
    capacity.used_bytes = used_bytes;
    capacity.memory_fraction = engine.gpu_memory_utilization;
    capacity.block_bytes = pool.block_bytes();
    capacity.num_blocks = pool.num_blocks_in(capacity.bytes);
    capacity.num_tokens = pool.num_tokens_in(capacity.num_blocks);
    capacity.num_groups = static_cast<std::int64_t>(pool.groups().size());
    capacity.blocks_of_request = pool.blocks_of_requests();
    capacity.max_concurrency =
        static_cast<double>(capacity.num_blocks) / static_cast<double>(pool.num_blocks_of_request(num_tokens));
    capacity.request_bytes = pool.request_bytes(num_tokens);
    if (pool.has_compressed_entries())
        capacity.num_tokens = static_cast<std::int64_t>(capacity.max_concurrency * static_cast<double>(num_tokens));
    return capacity;
}

LLMCOST_INLINE count reserved_bytes_of(const inference_memory& memory, const engine_memory_profile& engine) {
    if (!engine.is_fraction_of_free_memory) return memory.total_bytes();
    const double unused_part = 1 / engine.gpu_memory_utilization - 1;
    return memory.total_bytes() + count(static_cast<std::uint64_t>(
                                      static_cast<double>(memory.kv_cache_allocated_bytes.to_64()) * unused_part));
}

LLMCOST_INLINE std::uint64_t usable_bytes_of(const engine_memory_profile& engine, std::uint64_t device_bytes) {
    if (engine.is_fraction_of_free_memory) return device_bytes;
    return static_cast<std::uint64_t>(static_cast<double>(device_bytes) * engine.gpu_memory_utilization);
}

}  // namespace llmcost
