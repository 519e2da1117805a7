// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/model/model_spec.hpp>

namespace llmcost {

/// The tensor, data and expert parallelism of a model. Each expert is sharded over `expert_tensor_parallel_size`
/// devices.
struct parallel_config {
    std::int64_t tensor_parallel_size = 1;
    std::int64_t data_parallel_size = 1;
    std::int64_t expert_tensor_parallel_size = 1;
    std::int64_t expert_parallel_size = 1;
    std::int64_t num_redundant_experts = 0;  ///< copies of experts in each layer, to balance their load

    [[nodiscard]] constexpr std::int64_t world_size() const noexcept {
        return tensor_parallel_size * data_parallel_size;
    }
    /// Slots for `experts` routed experts and the redundant ones: equally many per rank, filled with further copies.
    ///
    /// Source: TensorRT-LLM, `num_slots`; SGLang, `--ep-num-redundant-experts`; vLLM, `EPLBConfig`.
    [[nodiscard]] constexpr std::int64_t num_expert_slots(std::int64_t experts) const noexcept {
        return (experts + num_redundant_experts + expert_parallel_size - 1) / expert_parallel_size *
               expert_parallel_size;
    }
};

/// A parallel configuration with `data` ranks of `tensor` devices, and routed experts over all of these devices.
[[nodiscard]] constexpr parallel_config make_parallel_config(const model& m, std::int64_t tensor, std::int64_t data = 1,
                                                             std::int64_t expert = 1) noexcept {
    const bool shares = m.config.moe.num_experts > 1 && expert > 0;
    return {tensor, data, shares ? tensor * data / expert : 1, expert, 0};
}

/// Why a model does not support a parallel configuration; empty if it does. Completes a message about the value.
[[nodiscard]] constexpr literal parallel_config_error(const model& m, const parallel_config& parallel) noexcept {
    const model_config& sharded_config = m.config;
    const auto divides = [&](std::int64_t n) { return n % parallel.tensor_parallel_size == 0; };
    if (parallel.tensor_parallel_size < 1 || parallel.data_parallel_size < 1 ||
        parallel.expert_tensor_parallel_size < 1 || parallel.expert_parallel_size < 1)
        return "expected at least one device";
    if (parallel.tensor_parallel_size > 1 && m.spec->is_fixed_trace)
        return "a traced model cannot be split; describe the model of one device";
    if (!divides(sharded_config.num_attention_heads)) return "does not divide the number of attention heads";
    if (sharded_config.num_key_value_heads % parallel.tensor_parallel_size != 0 &&
        parallel.tensor_parallel_size % sharded_config.num_key_value_heads != 0)
        return "neither divides nor is a multiple of the number of key/value heads";
    if (!divides(sharded_config.intermediate_size) || !divides(sharded_config.moe.shared_intermediate_size))
        return "does not divide the intermediate size";
    if (!divides(sharded_config.delta.num_key_heads) || !divides(sharded_config.delta.num_value_heads))
        return "does not divide the number of delta-rule heads";
    if (!divides(sharded_config.ssm.intermediate_size) || !divides(sharded_config.ssm.num_heads))
        return "does not divide the sizes of the state space model";
    for (std::size_t i = 0; i < m.text_model_spec().family_keys.size; ++i)
        if (m.text_model_spec().family_keys.entries[i].split == tensor_parallel_split::sharded &&
            !divides(sharded_config.family[i]))
            return "does not divide the sizes of this model family";
    if (parallel.expert_parallel_size > 1 && parallel.expert_parallel_size > sharded_config.moe.num_experts)
        return "the expert-parallel size exceeds the number of experts";
    if (sharded_config.moe.intermediate_size % parallel.expert_tensor_parallel_size != 0)
        return "the devices per expert do not divide the intermediate size of an expert";
    if (sharded_config.moe.num_experts > 1 &&
        parallel.expert_parallel_size * parallel.expert_tensor_parallel_size != parallel.world_size())
        return "experts and attention use different numbers of devices";
    return "";
}

/// The shard of one device as a smaller model: its heads, intermediate features and part of the vocabulary.
///
/// A shard has at least one key/value head. Routed experts are not sharded here; their kernels have sharding sizes.
[[nodiscard]] constexpr model shard_model(model m, const parallel_config& parallel) noexcept {
    const std::int64_t n = parallel.tensor_parallel_size;
    if (n == 1) return m;
    model_config& sharded_config = m.config;
    sharded_config.num_attention_heads /= n;
    if (sharded_config.num_key_value_heads > 0)  // 0: a model without attention
        sharded_config.num_key_value_heads =
            sharded_config.num_key_value_heads > n ? sharded_config.num_key_value_heads / n : 1;
    sharded_config.intermediate_size /= n;
    sharded_config.vocab_size = (sharded_config.vocab_size + n - 1) / n;
    sharded_config.moe.shared_intermediate_size /= n;
    sharded_config.delta.num_key_heads /= n;
    sharded_config.delta.num_value_heads /= n;
    sharded_config.ssm.intermediate_size /= n;
    sharded_config.ssm.num_heads /= n;
    if (sharded_config.ssm.n_groups > 1)
        sharded_config.ssm.n_groups = sharded_config.ssm.n_groups > n ? sharded_config.ssm.n_groups / n : 1;
    sharded_config.encoder.num_attention_heads /= n;
    sharded_config.encoder.intermediate_size /= n;
    for (std::size_t i = 0; i < m.text_model_spec().family_keys.size; ++i)
        if (m.text_model_spec().family_keys.entries[i].split == tensor_parallel_split::sharded)
            sharded_config.family[i] /= n;
    for (int i = 0; i < sharded_config.layers.num_specs; ++i)
        sharded_config.layers.specs[i].intermediate_size /= static_cast<std::int32_t>(n);
    return m;
}

}  // namespace llmcost
