// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/memory/block_pool.hpp>
#include <llmcost/memory/inference.hpp>
#include <llmcost/memory/parallel_config.hpp>
#include <llmcost/model/model_spec.hpp>

// The parameters of each rank of a model that an inference engine divides over devices.
namespace llmcost {

/// How an inference engine divides a model: tensor, data and expert parallelism, and pipeline stages.
struct inference_sharding {
    parallel_config parallel{};
    std::int64_t pipeline_parallel_size = 1;
    /// The data-parallel ranks are one engine (SGLang, `--enable-dp-attention`): they divide MLPs, experts and the
    /// head, and each of them has the entire embedding.
    bool has_dp_attention = false;

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
    count elements{};               ///< of the whole model
    count rank_elements{};          ///< of the rank, without expert parallelism
    count rank_bytes{};             ///< of the rank, without expert parallelism
    std::int64_t layer = 0;         ///< decoder layer; −1: before the first; the number of layers: after the last
    bool is_routed = false;         ///< a routed expert
    bool is_unquantized = false;    ///< the embedding or the head
    bool is_embedding = false;      ///< of tokens
    bool is_mlp = false;            ///< a dense MLP of the decoder, or its shared experts
    std::int64_t row_elements = 0;  ///< of the rank: the last dimension
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

/// The parameters of a rank with data-parallel attention.
///
/// MLPs, shared experts and the head are divided by all ranks, attention by the tensor-parallel ranks of a replica. The
/// embedding is not divided. `vocabulary_multiple`: as in `shard_of_rank`.
/// Source: sglang 0.5.23, srt/models/deepseek_v2.py and qwen3.py (`enable_tp=not is_dp_attention_enabled()`,
/// `use_attn_tp_group=enable_dp_lm_head`, `attn_tp_size`).
[[nodiscard]] std::vector<rank_parameter> dp_attention_parameters_of(const model& m, const model& shard,
                                                                     const workload& load,
                                                                     const parallel_config& parallel,
                                                                     std::int64_t vocabulary_multiple);

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
///     experts in MXFP4: H and I up to multiples of the kernel (`mxfp4_multiples_of`)
///     linear layers in 8 bits on ROCm, one scale per tensor or block: 256 bytes per row of a multiple of 512 bytes
///     16-bit experts on ROCm: 256 bytes per row if its bytes are a multiple of 512; in addition, the block of the
///     unpadded up projection, in which the allocator places the padded down projection: the difference of both
///     ROCm: 0.65 GiB, as its log has the memory of the driver (Llama-3.3-70B-Instruct-FP8-dynamic: 68.36 GiB).
///
/// Source: vllm/model_executor/models/gemma4.py, `_weight_iterator`; quantization/utils/flashinfer_utils.py,
/// `prepare_fp8_moe_layer_for_fi`; quantization/utils/fp8_utils.py, `_maybe_pad_fp8_weight`;
/// fused_moe/unquantized_fused_moe_method.py, `_maybe_pad_weight`; platforms/rocm.py, `get_current_memory_usage`.
[[nodiscard]] std::vector<count> stage_padding_bytes(const std::vector<rank_parameter>& parameters, const model& m,
                                                     const inference_sharding& sharding,
                                                     const engine_memory_profile& engine);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/memory/impl/rank_parameters.ipp>  // IWYU pragma: export
#endif
