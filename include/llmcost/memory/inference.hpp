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
/// sglang/srt/server_args.py for devices of 80 GB. Captured graphs are not in it, and no share of SGLang, which works its
/// own out from the device.
struct engine_memory {
    std::string_view name;
    std::uint64_t runtime;     ///< bytes of context, libraries' workspaces and buffers
    std::int64_t block;        ///< tokens that the cache is handed out in; 1: as many as there are
    std::int64_t step_tokens;  ///< tokens of a step at most; 0: whole prompts
    double share;              ///< of the device's memory that it takes at all
    bool hands_out = true;     ///< the cache lies in blocks of its own; else it is as large as the model's tensors
    bool is_measured = false;  ///< `runtime` is what a log says, tensors of a step among it
};
// clang-format off
inline constexpr engine_memory engine_memories[]{
    {"transformers", std::uint64_t{300} << 20, 1,  0,    1.00, false},
    {"vllm",         std::uint64_t{133} << 20, 16, 8192, 0.92},
    {"sglang",       std::uint64_t{300} << 20, 1,  8192, 1.00},
    {"trtllm",       std::uint64_t{300} << 20, 32, 8192, 0.90},
    {"none",         0,                        1,  0,    1.00, false},
};
// clang-format on

[[nodiscard]] constexpr const engine_memory* find_engine_memory(std::string_view name) noexcept {
    for (const engine_memory& e : engine_memories)
        if (e.name == name) return &e;
    return nullptr;
}

/// What the cache takes: bytes for each token of a sequence, and bytes of a sequence whatever its length (recurrent states).
struct cache_rate {
    count per_token{};
    count per_sequence{};
};

/// What an engine has left for the cache, and what it makes of it.
struct cache_room {
    count bytes{};
    std::int64_t blocks = 0;
    std::int64_t tokens = 0;
};

/// Memory of inference, in bytes.
struct inference_memory {
    count weights{};
    count cache{};             ///< as the model needs it
    count cache_allocated{};   ///< as the engine hands it out: whole blocks, windows not given back
    count activations_peak{};  ///< the most that a step's tensors take at a time
    count runtime{};           ///< of the engine itself, captured graphs left out

    [[nodiscard]] constexpr count total() const { return weights + cache_allocated + activations_peak + runtime; }
};

namespace detail {

/// Bytes that a sequence of so many tokens leaves in the cache.
[[nodiscard]] inline count cache_after(const model& m, workload load, std::int64_t tokens) {
    load.batch = 1, load.past = 0, load.sequence = tokens;
    return count_model(m, load).cache_bytes;
}

/// The most that tensors of a pass take at a time, each from the call that makes it to the last that reads it; what is
/// cached is not among them.
[[nodiscard]] inline count peak_of(const tape& pass) {
    std::uint64_t now = 0, most = 0;
    std::vector<bool> lives(pass.tensors.size(), false);
    for (std::size_t i = 0; i < pass.nodes.size(); ++i) {
        const tape_node& n = pass.nodes[i];
        const auto at = [&](std::int32_t t) -> const tape_tensor& { return pass.tensors[static_cast<std::size_t>(t)]; };
        const auto take = [&](std::int32_t t) {
            if (t < 0 || !lives[static_cast<std::size_t>(t)] || t == pass.returned) return;
            if (at(t).last_read > static_cast<std::int32_t>(i)) return;
            lives[static_cast<std::size_t>(t)] = false, now -= at(t).bytes;
        };
        if (n.output >= 0 && !lives[static_cast<std::size_t>(n.output)] && !at(n.output).is_cached)
            lives[static_cast<std::size_t>(n.output)] = true, now += at(n.output).bytes;
        most = std::max(most, now);
        for (const tape_edge& e : n.inputs) take(e.tensor);
        take(n.output);
    }
    return count(most);
}

/// The most that tensors of a pass of all of a model take at a time.
[[nodiscard]] inline count peak_of_walk(const model& m, const workload& load) {
    tape pass;
    tape_listener ear{pass};
    trace t{resolved(load, types_of(m, load)), &ear};
    pass.returned = ear.tensor_of(m.forward(t));
    return peak_of(pass);
}
/// The same of a model whose layers come again and again: where one time more of them takes no more, none does.
[[nodiscard]] inline count peak_of_run(const model& m, const workload& load) {
    constexpr std::int64_t most = 3;
    const layer_run run = longest_run(m.dims.layers, m.dims.num_hidden_layers, most);
    if (run.times > most && m.policy == nullptr) try {  // what stands beside layers may name some of them
            const count few = peak_of_walk(repeated(m, run, most - 1), load);
            const count more = peak_of_walk(repeated(m, run, most), load);
            if (few == more) return more;
        } catch (const description_error&) {  // fewer layers are no model
        }
    return peak_of_walk(m, load);
}

}  // namespace detail

/// What the cache of a model takes, from two lengths that no window bends.
[[nodiscard]] inline cache_rate cache_rate_of(const model& m, const workload& load) {
    const count one = detail::cache_after(m, load, 1), two = detail::cache_after(m, load, 2);
    const count token = two > one ? two - one : count{};
    return {token, one > token ? one - token : count{}};
}

/// The most that a step's tensors take at a time; attention in one call where the walk knows it, else as eager.
[[nodiscard]] inline count activations_peak(const model& m, workload load) {
    load.typed = true;
    const auto peak = [&](attention_implementation how) {
        load.implementation = how;
        return detail::peak_of_run(m, load);
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
[[nodiscard]] inline inference_memory inference_memory_of(const model& m, const workload& load, const engine_memory& by,
                                                          maybe<count> stored = {}) {
    inference_memory out;
    const figures all = count_model(m, load);
    out.weights = stored.value_or(all.weight_bytes), out.cache = out.cache_allocated = all.cache_bytes;
    if (all.cache != count{} && by.hands_out) {
        const cache_rate rate = cache_rate_of(m, load);
        const std::int64_t tokens = load.past + load.sequence, blocks = (tokens + by.block - 1) / by.block;
        // windows are given back where all layers slide; beside full layers they are kept (vllm/v1/core/kv_cache_utils.py)
        const bool slides = tokens > 2 && rate.per_token != count{} &&
                            detail::cache_after(m, load, tokens) == detail::cache_after(m, load, tokens - 1);
        const count whole = rate.per_token * count(blocks) * count(by.block) + rate.per_sequence;
        out.cache_allocated =
            slides ? out.cache + count(load.batch) * rate.per_token * count(by.block) : count(load.batch) * whole;
    }
    workload step = load;
    if (by.step_tokens > 0 && count(load.batch) * count(load.sequence) > count(by.step_tokens)) {
        step.sequence = std::min(load.sequence, by.step_tokens);  // chunks of prompts
        step.batch = std::max<std::int64_t>(1, by.step_tokens / step.sequence);
        step.past = load.past + load.sequence - step.sequence;
    }
    if (!by.is_measured) out.activations_peak = activations_peak(m, step);
    out.runtime = count(by.runtime);
    return out;
}

/// What is left for the cache of the engine's share of so many bytes, in whole blocks (vllm/v1/core/kv_cache_utils.py,
/// `get_num_blocks`); none where the engine hands out no blocks, or layers keep anything but so many bytes a token.
[[nodiscard]] inline maybe<cache_room> cache_room_of(const model& m, const workload& load, const engine_memory& by,
                                                     const inference_memory& held, std::uint64_t bytes) {
    const cache_rate rate = cache_rate_of(m, load);
    constexpr std::int64_t far = 1 << 15;
    const std::int64_t held_positions = m.dims.max_position_embeddings;
    const std::int64_t tokens = held_positions > 0 && held_positions < far ? held_positions : far;
    const bool alike = rate.per_sequence == count{} && rate.per_token != count{} &&
                       detail::cache_after(m, load, tokens) == rate.per_token * count(tokens);
    if (!by.hands_out || !alike) return {};
    const count share(static_cast<std::uint64_t>(static_cast<double>(bytes) * by.share));
    const count taken = held.weights + held.activations_peak + held.runtime;
    cache_room out;
    if (taken < share) out.bytes = share - taken;
    out.blocks = static_cast<std::int64_t>((out.bytes / (rate.per_token * count(by.block))).to_64());
    out.tokens = out.blocks * by.block;
    return out;
}

}  // namespace llmcost
