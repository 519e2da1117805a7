// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/model/model_spec.hpp>

namespace llmcost {

/// How a model is split over devices: heads and inner features over `tensor` of them, sequences over `data` groups of
/// those; routed experts over `expert` groups, each expert over `expert_tensor` devices.
struct parallel_config {
    std::int64_t tensor_parallel_size = 1;
    std::int64_t data_parallel_size = 1;
    std::int64_t expert_tensor_parallel_size = 1;
    std::int64_t expert_parallel_size = 1;

    [[nodiscard]] constexpr std::int64_t world_size() const noexcept {
        return tensor_parallel_size * data_parallel_size;
    }
    /// Places for so many routed experts: as many in each group, those left over taken by copies (TensorRT-LLM's
    /// `num_slots`, SGLang's `--ep-num-redundant-experts`).
    [[nodiscard]] constexpr std::int64_t num_expert_slots(std::int64_t experts) const noexcept {
        return (experts + expert_parallel_size - 1) / expert_parallel_size * expert_parallel_size;
    }
};

/// A model on `data` groups of `tensor` devices each, its routed experts, if it has any, in `expert` groups of all of
/// these.
[[nodiscard]] constexpr parallel_config make_parallel_config(const model& m, std::int64_t tensor, std::int64_t data = 1,
                                                             std::int64_t expert = 1) noexcept {
    const bool shares = m.config.moe.num_experts > 1 && expert > 0;
    return {tensor, data, shares ? tensor * data / expert : 1, expert};
}

/// Why a model cannot be split so; empty: it can.
[[nodiscard]] constexpr literal parallel_config_error(const model& m, const parallel_config& parallel) noexcept {
    const model_config& sharded_config = m.config;
    const auto divides = [&](std::int64_t n) { return n % parallel.tensor_parallel_size == 0; };
    if (parallel.tensor_parallel_size < 1 || parallel.data_parallel_size < 1 ||
        parallel.expert_tensor_parallel_size < 1 || parallel.expert_parallel_size < 1)
        return "needs at least one device";
    if (parallel.tensor_parallel_size > 1 && m.spec->is_fixed_trace)
        return "a description has no parts for several devices: write those of one";
    if (!divides(sharded_config.num_attention_heads)) return "attention heads do not divide by it";
    if (sharded_config.num_key_value_heads % parallel.tensor_parallel_size != 0 &&
        parallel.tensor_parallel_size % sharded_config.num_key_value_heads != 0)
        return "key and value heads neither divide by it nor divide it";
    if (!divides(sharded_config.intermediate_size) || !divides(sharded_config.moe.shared_intermediate_size))
        return "inner features do not divide by it";
    if (!divides(sharded_config.delta.num_key_heads) || !divides(sharded_config.delta.num_value_heads))
        return "heads of the delta rule do not divide by it";
    if (!divides(sharded_config.ssm.intermediate_size) || !divides(sharded_config.ssm.num_heads))
        return "state spaces do not divide by it";
    for (std::size_t i = 0; i < m.text_model_spec().family_keys.size; ++i)
        if (m.text_model_spec().family_keys.entries[i].split == tensor_parallel_split::sharded &&
            !divides(sharded_config.family[i]))
            return "sizes of this family do not divide by it";
    if (parallel.expert_parallel_size > 1 && parallel.expert_parallel_size > sharded_config.moe.num_experts)
        return "there are more groups than experts";
    if (sharded_config.moe.intermediate_size % parallel.expert_tensor_parallel_size != 0)
        return "an expert's features do not divide by its devices";
    if (sharded_config.moe.num_experts > 1 &&
        parallel.expert_parallel_size * parallel.expert_tensor_parallel_size != parallel.world_size())
        return "experts are on another number of devices than attention";
    return "";
}

/// What each device of a split model computes, described as a smaller model: its share of heads and inner features, at
/// least one key and value head, its rows of the vocabulary. Routed experts stay whole: kernels are told how they are
/// split.
[[nodiscard]] constexpr model shard_model(model m, const parallel_config& parallel) noexcept {
    const std::int64_t n = parallel.tensor_parallel_size;
    if (n == 1) return m;
    model_config& sharded_config = m.config;
    sharded_config.num_attention_heads /= n;
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
