// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/maybe.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/memory/block_pool.hpp>
#include <llmcost/memory/inference.hpp>
#include <llmcost/memory/kv_cache_layers.hpp>
#include <llmcost/memory/parallel_config.hpp>
#include <llmcost/memory/sglang_memory.hpp>
#include <llmcost/model/model_spec.hpp>

// The memory of each rank of a model that an inference engine divides over devices.
namespace llmcost {

/// How an inference engine divides a model: tensor, data and expert parallelism, and pipeline stages.
struct inference_sharding {
    parallel_config parallel{};
    std::int64_t pipeline_parallel_size = 1;

    [[nodiscard]] constexpr std::int64_t world_size() const noexcept {
        return parallel.world_size() * pipeline_parallel_size;
    }
};

/// The decoder layers of a pipeline stage.
///
/// Each stage has `num_layers / num_stages` layers. The remainder goes to the stages before the last, from the end.
/// Source: vllm/distributed/utils.py, `get_pp_indices`.
[[nodiscard]] layer_range layers_of_stage(std::int64_t num_layers, std::int64_t num_stages, std::int64_t stage);

/// A parameter of one rank.
struct rank_parameter {
    std::string path;
    count elements{};             ///< of the whole model
    count rank_elements{};        ///< of the rank, without expert parallelism
    count rank_bytes{};           ///< of the rank, without expert parallelism
    std::int64_t layer = 0;       ///< decoder layer; −1: before the first; the number of layers: after the last
    bool is_routed = false;       ///< a routed expert
    bool is_unquantized = false;  ///< the embedding or the head
};

/// Bytes per element of the weights of an engine that runs parts of a model in different types.
struct weight_element_bytes {
    double unquantized = 2;  ///< embedding, head and adapters
    double routed = 2;       ///< routed experts
    double others = 2;
};

/// The model of one tensor-parallel rank, with the vocabulary padded to a multiple of `vocabulary_multiple`.
///
/// Source: vllm/model_executor/layers/vocab_parallel_embedding.py, `pad_vocab_size`.
[[nodiscard]] model shard_of_rank(model m, const parallel_config& parallel, std::int64_t vocabulary_multiple);

/// The parameters of a rank, of all pipeline stages, in the element type of the workload.
///
/// A parameter that tensor parallelism does not divide is replicated: norms, routers, latent projections. A tied head
/// is listed once, before the first layer.
[[nodiscard]] std::vector<rank_parameter> rank_parameters_of(const model& m, const model& shard, const workload& load);

/// Bytes of the weights of one rank of each pipeline stage.
///
///     routed experts: rank_bytes · slots / experts / (expert_parallel_size · expert_tensor_parallel_size)
///     others: rank_bytes.
[[nodiscard]] std::vector<count> stage_weight_bytes(const std::vector<rank_parameter>& parameters, const model& m,
                                                    const inference_sharding& sharding);

/// Bytes of tables that vLLM adds to the weights of a rank ("Model loading took" in its log has both).
///
///     rotary tables: positions · dims · bytes, for each rotary module of the decoder; four times with several position
///     axes
///     latent attention: layers · heads · kv_lora_rank · (qk_nope_head_dim + v_head_dim) · bytes, for the copy of
///     `kv_b_proj` that is multiplied into queries and outputs.
///
/// Source: vllm/model_executor/layers/rotary_embedding/base.py, mrope.py (`cache_max_position_num`), gemma4_rope.py;
/// vllm/model_executor/layers/attention/mla_attention.py, `process_weights_after_loading` (`W_UK_T`, `W_UV`).
[[nodiscard]] count engine_table_bytes(const model& shard, const workload& load, layer_range layers = all_layers);

/// Bytes that vLLM adds to the parameters of one rank of each pipeline stage while it loads them.
///
///     key projections without a value projection: stored twice, as a merged projection has both
///     experts of FlashInfer with one scale per tensor: I up to a multiple of 16, of 128 if they are not gated
///     16-bit experts on ROCm: 256 bytes per row if its bytes are a multiple of 512; in addition, the block of the
///     unpadded up projection, in which the allocator places the padded down projection: the difference of both
///     ROCm: 0.65 GiB, as its log has the memory of the driver (Llama-3.3-70B-Instruct-FP8-dynamic: 68.36 GiB).
///
/// Source: vllm/model_executor/models/gemma4.py, `_weight_iterator`; quantization/utils/flashinfer_utils.py,
/// `prepare_fp8_moe_layer_for_fi`; fused_moe/unquantized_fused_moe_method.py, `_maybe_pad_weight`; platforms/rocm.py,
/// `get_current_memory_usage`.
[[nodiscard]] std::vector<count> stage_padding_bytes(const std::vector<rank_parameter>& parameters, const model& m,
                                                     const inference_sharding& sharding,
                                                     const engine_memory_profile& engine);

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
        std::vector<rank_parameter> parameters = rank_parameters_of(m, shard_, load);
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

private:
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
