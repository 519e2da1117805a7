// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/analysis/layer_run.hpp>
#include <llmcost/base/maybe.hpp>
#include <llmcost/memory/tape.hpp>

namespace llmcost {

/// What an engine's own memory is, and how it hands out the rest: documented constants, no measurement of this machine.
///
/// Sources: a CUDA context, pytorch#107667; vLLM's log, "non-torch memory" of one device; blocks and shares,
/// vllm/config/cache.py, tensorrt_llm/llmapi/llm_args.py (`KvCacheConfig`); tokens of a step, the same and
/// sglang/srt/server_args.py for devices of 80 GB. Captured graphs are not in it, and no share of SGLang, which works
/// its own out from the device.
struct engine_memory_profile {
    std::string_view name;
    std::uint64_t runtime_bytes;          ///< bytes of context, libraries' workspaces and buffers
    std::int64_t block_size;              ///< tokens that the cache is handed out in; 1: as many as there are
    std::int64_t max_num_batched_tokens;  ///< tokens of a step at most; 0: whole prompts
    double gpu_memory_utilization;        ///< of the device's memory that it takes at all
    bool has_paged_cache = true;  ///< the cache lies in blocks of its own; else it is as large as the model's tensors
    bool is_from_log = false;     ///< `runtime_bytes` is what a log says, tensors of a step among it
};
// clang-format off
inline constexpr engine_memory_profile engine_memory_profiles[]{
    {"transformers", std::uint64_t{300} << 20, 1,  0,    1.00, false},
    {"vllm",         std::uint64_t{133} << 20, 16, 8192, 0.92},
    {"sglang",       std::uint64_t{300} << 20, 1,  8192, 1.00},
    {"trtllm",       std::uint64_t{300} << 20, 32, 8192, 0.90},
    {"none",         0,                        1,  0,    1.00, false},
};
// clang-format on

[[nodiscard]] constexpr const engine_memory_profile* find_engine_memory_profile(std::string_view name) noexcept {
    for (const engine_memory_profile& e : engine_memory_profiles)
        if (e.name == name) return &e;
    return nullptr;
}

/// What the cache takes: bytes for each token of a sequence, and bytes of a sequence whatever its length (recurrent
/// states).
struct kv_cache_size {
    count bytes_per_token{};
    count bytes_per_sequence{};
};

/// What an engine has left for the cache, and what it makes of it.
struct kv_cache_capacity {
    count bytes{};
    std::int64_t num_blocks = 0;
    std::int64_t num_tokens = 0;
};

/// Memory of inference, in bytes.
struct inference_memory {
    count weight_bytes{};
    count kv_cache_bytes{};            ///< as the model needs it
    count kv_cache_allocated_bytes{};  ///< as the engine hands it out: whole blocks, windows not given back
    count peak_activation_bytes{};     ///< the most that a step's tensors take at a time
    count runtime_bytes{};             ///< of the engine itself, captured graphs left out

    [[nodiscard]] constexpr count total_bytes() const {
        return weight_bytes + kv_cache_allocated_bytes + peak_activation_bytes + runtime_bytes;
    }
};

namespace detail {

/// Bytes that a sequence of so many tokens leaves in the cache.
[[nodiscard]] inline count kv_cache_bytes_after_prefill(const model& m, workload load, std::int64_t tokens) {
    load.batch = 1;
    load.past = 0;
    load.sequence = tokens;
    return count_model(m, load).cache_bytes;
}

/// The most that tensors of a pass take at a time, each from the call that makes it to the last that reads it; what is
/// cached is not among them.
[[nodiscard]] inline count peak_live_bytes(const tape& pass) {
    std::uint64_t now = 0, maximum = 0;
    std::vector<bool> lives(pass.tensors.size(), false);
    for (std::size_t i = 0; i < pass.nodes.size(); ++i) {
        const tape_node& n = pass.nodes[i];
        const auto at = [&](std::int32_t t) -> const tape_tensor& { return pass.tensors[static_cast<std::size_t>(t)]; };
        const auto free_after_last_read = [&](std::int32_t t) {
            if (t < 0 || !lives[static_cast<std::size_t>(t)] || t == pass.output) return;
            if (at(t).last_read > static_cast<std::int32_t>(i)) return;
            lives[static_cast<std::size_t>(t)] = false;
            now -= at(t).bytes;
        };
        if (n.output >= 0 && !lives[static_cast<std::size_t>(n.output)] && !at(n.output).is_cached) {
            lives[static_cast<std::size_t>(n.output)] = true;
            now += at(n.output).bytes;
        }
        maximum = std::max(maximum, now);
        for (const tape_edge& e : n.inputs) free_after_last_read(e.tensor);
        free_after_last_read(n.output);
    }
    return count(maximum);
}

/// The most that tensors of a pass of all of a model take at a time.
[[nodiscard]] inline count peak_activation_bytes_of_full_trace(const model& m, const workload& load) {
    tape pass;
    tape_listener listener{pass};
    trace t{with_storage_types(load, storage_types_of(m, load)), &listener};
    pass.output = listener.tensor_id(m.forward(t));
    return peak_live_bytes(pass);
}
/// The same of a model whose layers come again and again: where one time more of them takes no more, none does.
[[nodiscard]] inline count peak_activation_bytes_of_folded_trace(const model& m, const workload& load) {
    constexpr std::int64_t maximum = 3;
    const layer_run run = longest_layer_run(m.config.layers, m.config.num_hidden_layers, maximum);
    if (run.repetitions > maximum && m.policy == nullptr) try {  // what stands beside layers may name some of them
            const count shorter = peak_activation_bytes_of_full_trace(with_repetitions(m, run, maximum - 1), load);
            const count longer = peak_activation_bytes_of_full_trace(with_repetitions(m, run, maximum), load);
            if (shorter == longer) return longer;
        } catch (const description_error&) {  // fewer layers are no model
        }
    return peak_activation_bytes_of_full_trace(m, load);
}

}  // namespace detail

/// What the cache of a model takes, from two lengths that no window bends.
[[nodiscard]] inline kv_cache_size kv_cache_size_of(const model& m, const workload& load) {
    const count one = detail::kv_cache_bytes_after_prefill(m, load, 1),
                two = detail::kv_cache_bytes_after_prefill(m, load, 2);
    const count token = two > one ? two - one : count{};
    return {token, one > token ? one - token : count{}};
}

/// The most that a step's tensors take at a time; attention in one call where the walk knows it, else as eager.
[[nodiscard]] inline count peak_activation_bytes(const model& m, workload load) {
    load.uses_workload_dtypes = true;
    const auto peak = [&](attention_implementation implementation) {
        load.implementation = implementation;
        return detail::peak_activation_bytes_of_folded_trace(m, load);
    };
    try {
        return peak(attention_implementation::sdpa);
    } catch (const description_error&) {
        return peak(attention_implementation::eager);
    }
}

/// Memory of sequences of `past + sequence` tokens each, whose last step reads `sequence` of them.
///
/// `stored` are bytes of weights that a checkpoint keeps otherwise than in one element type.
[[nodiscard]] inline inference_memory inference_memory_of(const model& m, const workload& load,
                                                          const engine_memory_profile& engine,
                                                          maybe<count> stored_weight_bytes = {}) {
    inference_memory out;
    const model_metrics all = count_model(m, load);
    out.weight_bytes = stored_weight_bytes.value_or(all.weight_bytes);
    out.kv_cache_bytes = out.kv_cache_allocated_bytes = all.cache_bytes;
    if (all.cache_elements != count{} && engine.has_paged_cache) {
        const kv_cache_size rate = kv_cache_size_of(m, load);
        const std::int64_t tokens = load.past + load.sequence,
                           blocks = (tokens + engine.block_size - 1) / engine.block_size;
        // windows are given back where all layers slide; beside full layers they are kept
        // (vllm/v1/core/kv_cache_utils.py)
        const bool slides = tokens > 2 && rate.bytes_per_token != count{} &&
                            detail::kv_cache_bytes_after_prefill(m, load, tokens) ==
                                detail::kv_cache_bytes_after_prefill(m, load, tokens - 1);
        const count sequence_bytes =
            rate.bytes_per_token * count(blocks) * count(engine.block_size) + rate.bytes_per_sequence;
        out.kv_cache_allocated_bytes =
            slides ? out.kv_cache_bytes + count(load.batch) * rate.bytes_per_token * count(engine.block_size)
                   : count(load.batch) * sequence_bytes;
    }
    workload step = load;
    if (engine.max_num_batched_tokens > 0 &&
        count(load.batch) * count(load.sequence) > count(engine.max_num_batched_tokens)) {
        step.sequence = std::min(load.sequence, engine.max_num_batched_tokens);  // chunks of prompts
        step.batch = std::max<std::int64_t>(1, engine.max_num_batched_tokens / step.sequence);
        step.past = load.past + load.sequence - step.sequence;
    }
    if (!engine.is_from_log) out.peak_activation_bytes = peak_activation_bytes(m, step);
    out.runtime_bytes = count(engine.runtime_bytes);
    return out;
}

/// What is left for the cache of the engine's share of so many bytes, in whole blocks (vllm/v1/core/kv_cache_utils.py,
/// `get_num_blocks`); none where the engine hands out no blocks, or layers keep anything but so many bytes a token.
[[nodiscard]] inline maybe<kv_cache_capacity> kv_cache_capacity_of(const model& m, const workload& load,
                                                                   const engine_memory_profile& engine,
                                                                   const inference_memory& memory,
                                                                   std::uint64_t bytes) {
    const kv_cache_size rate = kv_cache_size_of(m, load);
    constexpr std::int64_t max_probe_tokens = 1 << 15;
    const std::int64_t max_positions = m.config.max_position_embeddings;
    const std::int64_t tokens =
        max_positions > 0 && max_positions < max_probe_tokens ? max_positions : max_probe_tokens;
    const bool is_proportional =
        rate.bytes_per_sequence == count{} && rate.bytes_per_token != count{} &&
        detail::kv_cache_bytes_after_prefill(m, load, tokens) == rate.bytes_per_token * count(tokens);
    if (!engine.has_paged_cache || !is_proportional) return {};
    const count share(static_cast<std::uint64_t>(static_cast<double>(bytes) * engine.gpu_memory_utilization));
    const count used_bytes = memory.weight_bytes + memory.peak_activation_bytes + memory.runtime_bytes;
    kv_cache_capacity out;
    if (used_bytes < share) out.bytes = share - used_bytes;
    out.num_blocks = static_cast<std::int64_t>((out.bytes / (rate.bytes_per_token * count(engine.block_size))).to_64());
    out.num_tokens = out.num_blocks * engine.block_size;
    return out;
}

}  // namespace llmcost
