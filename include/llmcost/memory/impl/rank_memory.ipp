// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/memory/rank_memory.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/analysis/minimal_workload.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/maybe.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/graph/kv_cache_entries.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/memory/block_pool.hpp>
#include <llmcost/memory/inference.hpp>
#include <llmcost/memory/kv_cache_layers.hpp>
#include <llmcost/memory/rank_parameters.hpp>
#include <llmcost/memory/sglang_memory.hpp>
#include <llmcost/memory/window_pools.hpp>
#include <llmcost/model/model_spec.hpp>

namespace llmcost {

LLMCOST_INLINE rank_memory::rank_memory(const model& m, const workload& load, const engine_memory_profile& engine,
                                        const inference_sharding& sharding)
    : shard_(shard_of_rank(m, sharding.parallel, engine.vocabulary_multiple)),
      engine_(engine),
      sharding_(sharding),
      minimal_load_(minimal_workload(m)),
      vocab_size_(m.config.vocab_size),
      has_own_weights_(sharding.world_size() == 1) {
    const std::int64_t num_stages = sharding.pipeline_parallel_size;
    if (sharding.has_dp_attention) engine_.sglang.dp_attention_size = sharding.parallel.data_parallel_size;
    minimal_load_.weights = load.weights;
    minimal_load_.activations = load.activations;
    minimal_load_.cache = load.cache;
    if (load.encoder_sequence > 0) minimal_load_.encoder_sequence = load.encoder_sequence;
    if (num_stages > 1 && num_stages > m.config.num_hidden_layers)
        throw description_error("the pipeline has more stages than the model has layers");
    if (num_stages > 1 && list_kv_cache(m, minimal_workload(m)).empty())
        throw description_error("a pipeline needs a model whose layers have a KV cache");
    const bool has_cache = detail::has_kv_cache_manager(m, engine);
    for (std::int64_t s = 0; s < num_stages; ++s) {
        const layer_range range = num_stages == 1 ? all_layers : layers(s);
        stages_.push_back(
            {.weight_bytes = {},
             .table_bytes = engine.has_rotary_tables ? engine_table_bytes(shard_, load, range)
                            : engine.has_token_pools ? sglang_table_bytes(shard_, load, range)
                                                     : count{},
             .padding_bytes = {},
             .layers = has_cache ? kv_cache_layers_of(shard_, load, range) : std::vector<kv_cache_layer>{},
             .pool = std::nullopt});
        update_pool(stages_.back());
    }
    if (stages_.front().pool)
        profile_peak_bytes_ = profile_peak_bytes_of(shard_, load, engine, rank_of(stages_.front()));
    if (has_own_weights_ && !engine.has_rotary_tables) return;
    const std::vector<rank_parameter> parameters = parameters_of(m, load);
    set_padding(m, parameters);
    if (!has_own_weights_) set_weights(m, parameters, {});
}

LLMCOST_INLINE std::vector<rank_parameter> rank_memory::parameters_of(const model& m, const workload& load) const {
    if (!sharding_.has_dp_attention) return rank_parameters_of(m, shard_, load);
    return dp_attention_parameters_of(m, shard_, load, sharding_.parallel, engine_.vocabulary_multiple);
}

LLMCOST_INLINE void rank_memory::set_padding(const model& m, const std::vector<rank_parameter>& parameters) {
    if (!engine_.has_rotary_tables) return;
    const std::vector<count> padding = stage_padding_bytes(parameters, m, sharding_, engine_);
    for (std::size_t s = 0; s < stages_.size(); ++s) stages_[s].padding_bytes = padding[s];
}

LLMCOST_INLINE rank_memory::rank_memory(const model& m, const workload& load, const engine_memory_profile& engine,
                                        const inference_sharding& sharding, const weight_element_bytes& element_bytes)
    : rank_memory(m, load, engine, sharding) {
    has_own_weights_ = false;
    std::vector<rank_parameter> parameters = parameters_of(m, load);
    for (rank_parameter& p : parameters) {
        const double bytes_per_element = p.is_routed        ? element_bytes.routed
                                         : p.is_unquantized ? element_bytes.unquantized
                                                            : element_bytes.others;
        p.rank_bytes = count(
            static_cast<std::uint64_t>(std::llround(static_cast<double>(p.rank_elements.to_64()) * bytes_per_element)));
    }
    set_padding(m, parameters);
    set_weights(m, parameters, {});
}

LLMCOST_INLINE void rank_memory::update_pool(stage_state& s) const {
    if (!s.layers.empty()) s.pool = block_pool(s.layers, engine_.block_size, engine_.max_num_batched_tokens);
}

LLMCOST_INLINE void rank_memory::add_weights(count bytes_per_rank) {
    for (stage_state& s : stages_) s.added_bytes += bytes_per_rank / count(num_stages());
}

LLMCOST_INLINE void rank_memory::add_draft_model(const rank_memory& draft) {
    stage_state& last = stages_.back();
    const stage_state& added = draft.stages_.front();
    last.added_bytes += draft.weight_bytes(added) + added.added_bytes;
    last.layers.insert(last.layers.end(), added.layers.begin(), added.layers.end());
    update_pool(last);
    if (!added.pool) last.draft_cache = draft.uniform_cache().size;
}

LLMCOST_INLINE void rank_memory::set_weights(const model& m, const std::vector<rank_parameter>& parameters,
                                             count without_parameter) {
    const std::vector<count> weights = stage_weight_bytes(parameters, m, sharding_);
    const count rest = without_parameter / count(sharding_.world_size());
    for (std::size_t s = 0; s < stages_.size(); ++s) stages_[s].weight_bytes = weights[s] + rest;
}

LLMCOST_INLINE layer_range rank_memory::layers(std::int64_t stage) const {
    return layers_of_stage(shard_.config.num_hidden_layers, sharding_.pipeline_parallel_size, stage);
}

LLMCOST_INLINE count rank_memory::weight_bytes(const stage_state& s) const {
    return has_own_weights_ ? count_model(shard_, minimal_load_).weight_bytes : s.weight_bytes;
}

LLMCOST_INLINE inference_rank rank_memory::rank_of(const stage_state& s) const {
    return {.weight_bytes = has_own_weights_ ? maybe<count>{} : maybe<count>{s.weight_bytes},
            .pool = &s.pool,
            .vocab_size = vocab_size_,
            .num_devices = sharding_.world_size(),
            .tensor_parallel_size = sharding_.parallel.tensor_parallel_size,
            .expert_tensor_parallel_size = sharding_.parallel.expert_tensor_parallel_size,
            .expert_parallel_size = sharding_.parallel.expert_parallel_size,
            .profile_peak_bytes = profile_peak_bytes_};
}

LLMCOST_INLINE inference_memory rank_memory::of_stage(const workload& load, std::int64_t stage) const {
    const stage_state& s = stages_[static_cast<std::size_t>(stage)];
    inference_memory memory = inference_memory_of(shard_, load, engine_, rank_of(s));
    memory.weight_bytes += s.added_bytes;
    memory.table_bytes = s.table_bytes + s.padding_bytes;
    if (num_stages() > 1) {
        const count size(layers(stage).size), all(shard_.config.num_hidden_layers);
        memory.kv_cache_bytes = memory.kv_cache_bytes * size / all;
        if (!s.pool) memory.kv_cache_allocated_bytes = memory.kv_cache_allocated_bytes * size / all;
    }
    const bool has_encoder = shard_.config.encoder.num_hidden_layers > 0;
    if (engine_.has_token_pools && !has_encoder && memory.kv_cache_bytes != count{}) {
        memory.kv_cache_allocated_bytes =
            count(load.batch) *
            pool_layout(load, stage).request_bytes(load.past + load.sequence, engine_.max_num_batched_tokens);
    }
    if (has_window_pools() && memory.kv_cache_bytes != count{})
        memory.kv_cache_allocated_bytes =
            count(load.batch) * window_layout(load, stage).request_bytes(load.past + load.sequence);
    return memory;
}

LLMCOST_INLINE std::int64_t rank_memory::largest_stage(const workload& load) const {
    std::int64_t largest = 0;
    count largest_bytes;
    for (std::int64_t s = 0; s < num_stages() && num_stages() > 1; ++s) {
        const count bytes = of_stage(load, s).total_bytes();
        if (bytes <= largest_bytes) continue;
        largest_bytes = bytes;
        largest = s;
    }
    return largest;
}

LLMCOST_INLINE layer_range rank_memory::pool_layers(std::int64_t stage) const {
    return num_stages() == 1 ? all_layers : layers(stage);
}

LLMCOST_INLINE sglang_defaults rank_memory::token_pool_defaults(std::uint64_t device_bytes) const {
    // with data-parallel attention, the tensor-parallel ranks of SGLang are all ranks of a stage
    const std::int64_t tensor_parallel_size =
        sharding_.has_dp_attention ? sharding_.parallel.world_size() : sharding_.parallel.tensor_parallel_size;
    return sglang_defaults_of(shard_, engine_.sglang, device_bytes, tensor_parallel_size,
                              sharding_.pipeline_parallel_size);
}

LLMCOST_INLINE bool rank_memory::has_token_pools(std::int64_t stage) const {
    if (!engine_.has_token_pools || shard_.config.encoder.num_hidden_layers > 0) return false;
    const sglang_pool_layout layout = pool_layout(minimal_load_, stage);
    return layout.has_token_pool() || layout.has_window_pool();
}

LLMCOST_INLINE window_pool_layout rank_memory::window_layout(const workload& load, std::int64_t stage) const {
    return {shard_,
            load,
            engine_.attention_windows,
            engine_.block_size,
            engine_.max_num_batched_tokens,
            pool_layers(stage)};
}

LLMCOST_INLINE void rank_memory::set_window_pools(const workload& load, kv_cache_capacity& capacity) const {
    const window_pool_layout layout = window_layout(load, capacity.stage);
    const std::int64_t num_tokens = load.past + load.sequence, block_size = layout.block_size();
    capacity.window_pools = layout.pools_in(capacity.bytes);
    if (capacity.window_pools.empty()) return;
    const auto requests_in = [&](const window_pool& p) {
        return static_cast<double>(p.num_blocks) / static_cast<double>(layout.blocks_of_request(p, num_tokens));
    };
    const window_pool& limiting =
        *std::min_element(capacity.window_pools.begin(), capacity.window_pools.end(),
                          [&](const window_pool& a, const window_pool& b) { return requests_in(a) < requests_in(b); });
    capacity.num_groups = static_cast<std::int64_t>(capacity.window_pools.size());
    capacity.num_blocks = limiting.num_blocks;
    capacity.num_tokens = limiting.num_blocks * block_size;
    capacity.block_bytes = limiting.token_bytes * count(block_size);
    capacity.blocks_of_request = blocks_of_all_tokens(block_size);
    capacity.blocks_of_request.kinds.front().max_tokens = limiting.max_tokens;
    capacity.max_concurrency = requests_in(limiting);
    capacity.request_bytes = layout.request_bytes(num_tokens);
}

LLMCOST_INLINE sglang_pool_layout rank_memory::pool_layout(const workload& load, std::int64_t stage) const {
    sglang_pool_layout layout(shard_, load, engine_.sglang, pool_layers(stage));
    layout.add_draft_cache(stages_[static_cast<std::size_t>(stage)].draft_cache);
    return layout;
}

LLMCOST_INLINE sglang_pools rank_memory::token_pools(const workload& load, std::int64_t stage,
                                                     std::uint64_t device_bytes) const {
    const stage_state& s = stages_[static_cast<std::size_t>(stage)];
    const double available_bytes =
        static_bytes(device_bytes) - static_cast<double>(weight_bytes(s) + s.added_bytes + s.table_bytes);
    return pool_layout(load, stage)
        .pools_in(count(static_cast<std::uint64_t>(std::max(0.0, available_bytes))), load.past + load.sequence,
                  token_pool_defaults(device_bytes).chunked_prefill_size);
}

LLMCOST_INLINE double rank_memory::static_bytes(std::uint64_t device_bytes) const {
    const double free_bytes = static_cast<double>(device_bytes) - static_cast<double>(engine_.runtime_bytes);
    return std::max(0.0, free_bytes) * token_pool_defaults(device_bytes).mem_fraction_static;
}

LLMCOST_INLINE count rank_memory::reserved_bytes(const workload& load, const inference_memory& memory,
                                                 std::uint64_t device_bytes) const {
    const std::int64_t stage = largest_stage(load);
    if (has_window_pools()) {
        inference_memory in_pools = memory;
        in_pools.kv_cache_allocated_bytes =
            window_layout(load, stage).required_bytes(load.batch, load.past + load.sequence);
        return reserved_bytes_of(in_pools, engine_);
    }
    if (!has_token_pools(stage)) return reserved_bytes_of(memory, engine_);
    const count pools = pool_layout(load, stage)
                            .required_bytes(load.batch, load.past + load.sequence,
                                            token_pool_defaults(device_bytes).chunked_prefill_size);
    const count fixed(static_cast<std::uint64_t>(static_bytes(device_bytes)));
    return std::max(count(device_bytes) - fixed + memory.weight_bytes + memory.table_bytes + pools,
                    fixed + memory.runtime_bytes + memory.peak_activation_bytes);
}

LLMCOST_INLINE kv_cache_capacity rank_memory::capacity_of_token_pools(const workload& load, std::int64_t stage,
                                                                      std::uint64_t device_bytes) const {
    const sglang_pool_layout layout = pool_layout(load, stage);
    const sglang_pools pools = token_pools(load, stage, device_bytes);
    const std::int64_t num_tokens = load.past + load.sequence, page_size = layout.page_size(),
                       chunk = token_pool_defaults(device_bytes).chunked_prefill_size;
    const stage_state& s = stages_[static_cast<std::size_t>(stage)];
    kv_cache_capacity capacity;
    capacity.bytes = pools.kv_bytes + pools.mamba_bytes;
    capacity.num_tokens = pools.max_total_num_tokens;
    capacity.num_groups = pools.swa_num_tokens > 0 ? 2 : 1;
    capacity.max_concurrency = pools.max_concurrency;
    capacity.max_num_seqs = pools.max_running_requests;
    capacity.memory_fraction = token_pool_defaults(device_bytes).mem_fraction_static;
    const bool is_limited_by_windows = layout.is_limited_by_windows(num_tokens, chunk);
    const std::int64_t max_tokens = is_limited_by_windows ? layout.max_window_tokens(chunk) : 0;
    capacity.num_blocks = (is_limited_by_windows ? pools.swa_num_tokens : pools.max_total_num_tokens) / page_size;
    capacity.block_bytes = is_limited_by_windows ? layout.swa_token_bytes() * count(page_size)
                                                 : layout.token_bytes() * count(page_size) +
                                                       layout.entry_bytes() * count(page_size) / count(entry_period);
    capacity.blocks_of_request = blocks_of_all_tokens(page_size);
    capacity.blocks_of_request.kinds.front().max_tokens = max_tokens;
    capacity.request_bytes = layout.request_bytes(num_tokens, chunk);
    capacity.stage = stage;
    capacity.activation_bytes = step_peak_bytes_of(shard_, load, engine_, rank_of(s));
    capacity.used_bytes =
        weight_bytes(s) + s.added_bytes + s.table_bytes + capacity.activation_bytes + count(engine_.runtime_bytes);
    return capacity;
}

LLMCOST_INLINE const uniform_kv_cache& rank_memory::uniform_cache() const {
    if (!uniform_cache_) uniform_cache_ = uniform_kv_cache_of(shard_, minimal_load_, engine_);
    return *uniform_cache_;
}

LLMCOST_INLINE block_pool rank_memory::uniform_pool(std::int64_t stage) const {
    const uniform_kv_cache& all = uniform_cache();
    const count size(num_stages() > 1 ? layers(stage).size : 1),
        num_layers(num_stages() > 1 ? shard_.config.num_hidden_layers : 1);
    const kv_cache_size& draft = stages_[static_cast<std::size_t>(stage)].draft_cache;
    return {{.bytes_per_token = all.size.bytes_per_token * size / num_layers + draft.bytes_per_token,
             .bytes_per_sequence = all.size.bytes_per_sequence * size / num_layers + draft.bytes_per_sequence},
            all.window,
            engine_.block_size};
}

LLMCOST_INLINE bool rank_memory::has_cache(const stage_state& s) const {
    return s.pool || uniform_cache().size.bytes_per_token != count{} ||
           uniform_cache().size.bytes_per_sequence != count{};
}

LLMCOST_INLINE bool rank_memory::has_block_table(const stage_state& s) const {
    return s.pool || (engine_.has_paged_cache && !engine_.has_token_pools && uniform_cache().is_proportional);
}

LLMCOST_INLINE maybe<kv_cache_capacity> rank_memory::capacity_in(const workload& load, std::int64_t stage,
                                                                 count bytes) const {
    const stage_state& s = stages_[static_cast<std::size_t>(stage)];
    if (!has_cache(s) || !has_block_table(s)) return {};
    engine_memory_profile all = engine_;
    all.gpu_memory_utilization = 1;
    return kv_cache_capacity_of(s.pool ? *s.pool : uniform_pool(stage), all, {}, bytes.to_64(),
                                load.past + load.sequence);
}

LLMCOST_INLINE maybe<kv_cache_capacity> rank_memory::capacity(const workload& load, std::int64_t stage,
                                                              std::uint64_t device_bytes) const {
    if (has_token_pools(stage)) return capacity_of_token_pools(load, stage, device_bytes);
    const stage_state& s = stages_[static_cast<std::size_t>(stage)];
    if (!has_cache(s)) return {};
    const maybe<count> profile_peak =
        profile_peak_bytes_ ? profile_peak_bytes_ : profile_peak_bytes_of(shard_, load, engine_, rank_of(s));
    const count activations = profile_peak ? *profile_peak : step_peak_bytes_of(shard_, load, engine_, rank_of(s));
    const count used_bytes =
        weight_bytes(s) + s.added_bytes + s.table_bytes + s.padding_bytes + activations + count(engine_.runtime_bytes) +
        communication_bytes_in(engine_, sharding_.world_size(), sharding_.parallel.tensor_parallel_size);
    kv_cache_capacity capacity = kv_cache_capacity_of(s.pool ? *s.pool : uniform_pool(stage), engine_, used_bytes,
                                                      device_bytes, load.past + load.sequence);
    capacity.stage = stage;
    capacity.activation_bytes = activations;
    capacity.has_block_table = has_block_table(s);
    if (has_window_pools()) set_window_pools(load, capacity);
    return capacity;
}

LLMCOST_INLINE maybe<kv_cache_capacity> rank_memory::capacity(const workload& load, std::uint64_t device_bytes) const {
    maybe<kv_cache_capacity> tightest;
    for (std::int64_t s = 0; s < num_stages(); ++s) {
        const maybe<kv_cache_capacity> of_stage = capacity(load, s, device_bytes);
        if (of_stage && (!tightest || of_stage->max_concurrency < tightest->max_concurrency)) tightest = of_stage;
    }
    return tightest;
}

}  // namespace llmcost
