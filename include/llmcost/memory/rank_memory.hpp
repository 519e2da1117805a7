// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/maybe.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/memory/block_pool.hpp>
#include <llmcost/memory/inference.hpp>
#include <llmcost/memory/kv_cache_layers.hpp>
#include <llmcost/memory/rank_parameters.hpp>
#include <llmcost/memory/sglang_memory.hpp>
#include <llmcost/memory/window_pools.hpp>
#include <llmcost/model/model_spec.hpp>

// The memory of each rank of a model that an inference engine divides over devices.
namespace llmcost {

/// The memory of the ranks of a model in an inference engine.
class rank_memory {
public:
    /// All weights have the element type of the workload.
    ///
    /// Throws: `description_error` if a pipeline has more stages than layers, or no layers with a KV cache.
    rank_memory(const model& m, const workload& load, const engine_memory_profile& engine,
                const inference_sharding& sharding = {});

    /// The weights are those of a quantized checkpoint.
    ///
    /// `stored_total`: bytes of all its tensors. `stored_bytes_of(path)`: bytes of a parameter of the whole model.
    /// Bytes without a parameter are divided by the number of devices.
    template <class StoredBytes>
    rank_memory(const model& m, const workload& load, const engine_memory_profile& engine,
                const inference_sharding& sharding, count stored_total, const StoredBytes& stored_bytes_of)
        : rank_memory(m, load, engine, sharding) {
        has_own_weights_ = false;
        std::vector<rank_parameter> parameters = parameters_of(m, load);
        count without_parameter = stored_total;
        for (rank_parameter& p : parameters) {
            const count stored = stored_bytes_of(p.path);
            without_parameter = without_parameter > stored ? without_parameter - stored : count{};
            p.rank_bytes = stored * p.rank_elements / p.elements;
        }
        set_padding(m, parameters);
        if (sharding.world_size() == 1)
            stages_.front().weight_bytes = stored_total;
        else
            set_weights(m, parameters, without_parameter);
    }

    /// The weights have the types in which an engine runs them.
    rank_memory(const model& m, const workload& load, const engine_memory_profile& engine,
                const inference_sharding& sharding, const weight_element_bytes& element_bytes);

    /// Adds weights that each rank has in addition: those of an adapter.
    void add_weights(count bytes_per_rank);
    /// Adds the weights and the KV cache of a draft model, which runs on the last stage.
    ///
    /// Source: vllm/v1/worker/gpu_model_runner.py, `get_kv_cache_spec` (layers of the draft model are part of the
    /// pool).
    void add_draft_model(const rank_memory& draft);

    /// The model of one tensor-parallel rank.
    [[nodiscard]] const model& shard() const noexcept { return shard_; }
    [[nodiscard]] const engine_memory_profile& engine() const noexcept { return engine_; }
    [[nodiscard]] std::int64_t num_stages() const noexcept { return static_cast<std::int64_t>(stages_.size()); }
    [[nodiscard]] layer_range layers(std::int64_t stage) const;

    /// The memory of each rank of a pipeline stage.
    [[nodiscard]] inference_memory of_stage(const workload& load, std::int64_t stage) const;
    /// The stage with the most memory.
    [[nodiscard]] std::int64_t largest_stage(const workload& load) const;
    /// The memory of each rank of the stage with the most memory.
    [[nodiscard]] inference_memory largest(const workload& load) const { return of_stage(load, largest_stage(load)); }
    /// The KV cache that `device_bytes` leave in a stage; none for a model without a cache.
    ///
    /// The activations are those of the profile run. An engine without one has those of the workload.
    [[nodiscard]] maybe<kv_cache_capacity> capacity(const workload& load, std::int64_t stage,
                                                    std::uint64_t device_bytes) const;
    /// The KV cache of the stage that has the fewest requests of the length of the workload.
    ///
    /// `memory`, `fit`, `serve`, `simulate` and `plan` have this capacity.
    /// Source: vllm/v1/core/kv_cache_utils.py, `get_kv_cache_configs` (the minimum over all workers).
    [[nodiscard]] maybe<kv_cache_capacity> capacity(const workload& load, std::uint64_t device_bytes) const;

    /// The KV cache of a stage in `bytes` for it; none for an engine without a block table.
    [[nodiscard]] maybe<kv_cache_capacity> capacity_in(const workload& load, std::int64_t stage, count bytes) const;

    /// The pools of SGLang in each rank of a stage, on a device of `device_bytes`.
    ///
    ///     available = (device − CUDA context) · mem_fraction_static − weights − tables.
    ///
    /// Source: sglang 0.5.23, srt/mem_cache/kv_cache_configurator.py, `_profile_available_bytes`.
    [[nodiscard]] sglang_pools token_pools(const workload& load, std::int64_t stage, std::uint64_t device_bytes) const;
    /// The fraction of the device and the sizes of a step that SGLang chooses for `device_bytes`.
    [[nodiscard]] sglang_defaults token_pool_defaults(std::uint64_t device_bytes) const;

    /// Device memory that a step requires, with what the engine leaves unused next to the KV cache.
    ///
    /// It is compared with `usable_bytes_of`. Pools of windows have equal shares of the KV cache. The pools of SGLang
    /// have their part of the device, a step has the rest:
    ///
    ///     static = (device − CUDA context) · mem_fraction_static
    ///     max(device − static + weights + tables + pools, static + CUDA context + activations).
    ///
    /// `memory`: that of the largest stage for `load`.
    [[nodiscard]] count reserved_bytes(const workload& load, const inference_memory& memory,
                                       std::uint64_t device_bytes) const;

private:
    /// Bytes of weights and pools in SGLang, on a device of `device_bytes`.
    [[nodiscard]] double static_bytes(std::uint64_t device_bytes) const;

    [[nodiscard]] std::vector<rank_parameter> parameters_of(const model& m, const workload& load) const;

    /// Divides the weights among the stages. `without_parameter`: bytes of tensors that are no parameter.
    void set_weights(const model& m, const std::vector<rank_parameter>& parameters, count without_parameter);

    /// Sets `stage_padding_bytes`, in vLLM.
    void set_padding(const model& m, const std::vector<rank_parameter>& parameters);

    struct stage_state {
        count weight_bytes;
        count table_bytes;
        count padding_bytes;
        std::vector<kv_cache_layer> layers;  ///< of `pool`
        std::optional<block_pool> pool;
        kv_cache_size draft_cache{};  ///< of a draft model without a hybrid cache manager
        count added_bytes{};          ///< weights of an adapter and of a draft model
    };
    /// The layers of a stage; without a pipeline, all layers.
    [[nodiscard]] layer_range pool_layers(std::int64_t stage) const;
    void update_pool(stage_state& s) const;
    [[nodiscard]] count weight_bytes(const stage_state& s) const;
    [[nodiscard]] inference_rank rank_of(const stage_state& s) const;
    [[nodiscard]] const uniform_kv_cache& uniform_cache() const;
    [[nodiscard]] bool has_cache(const stage_state& s) const;
    [[nodiscard]] bool has_block_table(const stage_state& s) const;
    /// The blocks of a stage without a hybrid cache manager.
    [[nodiscard]] block_pool uniform_pool(std::int64_t stage) const;
    /// The pools of SGLang as one KV cache: that of the pool that limits requests of the length of the workload.
    [[nodiscard]] kv_cache_capacity capacity_of_token_pools(const workload& load, std::int64_t stage,
                                                            std::uint64_t device_bytes) const;
    /// Whether the engine is SGLang and its pools are described: not those of encoder-decoders and of models without
    /// attention.
    [[nodiscard]] bool has_token_pools(std::int64_t stage) const;
    /// Whether an option of TensorRT-LLM sets attention windows.
    [[nodiscard]] bool has_window_pools() const noexcept {
        return engine_.attention_windows.size > 0 && shard_.config.encoder.num_hidden_layers == 0;
    }
    [[nodiscard]] window_pool_layout window_layout(const workload& load, std::int64_t stage) const;
    /// Replaces the blocks of a KV cache by those of the pool that limits requests of the length of the workload.
    void set_window_pools(const workload& load, kv_cache_capacity& capacity) const;
    [[nodiscard]] sglang_pool_layout pool_layout(const workload& load, std::int64_t stage) const;

    model shard_;
    engine_memory_profile engine_;
    inference_sharding sharding_;
    workload minimal_load_;  ///< one token, in the element types of the workload
    std::int64_t vocab_size_;
    bool has_own_weights_;  ///< weights have the element type of the workload, and nothing is divided
    std::vector<stage_state> stages_;
    maybe<count> profile_peak_bytes_{};
    mutable std::optional<uniform_kv_cache> uniform_cache_{};  ///< of the shard; set on first use
};

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/memory/impl/rank_memory.ipp>  // IWYU pragma: export
#endif
