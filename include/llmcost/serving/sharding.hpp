// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/model/architecture.hpp>

namespace llmcost {

/// How a model is split over devices: heads and inner features over `tensor` of them, sequences over `data` groups of
/// those; routed experts over `expert` groups, each expert over `expert_tensor` devices.
struct sharding {
    std::int64_t tensor = 1;
    std::int64_t data = 1;
    std::int64_t expert_tensor = 1;
    std::int64_t expert = 1;

    [[nodiscard]] constexpr std::int64_t devices() const noexcept { return tensor * data; }
    /// Places for so many routed experts: as many in each group, those left over taken by copies (TensorRT-LLM's
    /// `num_slots`, SGLang's `--ep-num-redundant-experts`).
    [[nodiscard]] constexpr std::int64_t places(std::int64_t experts) const noexcept {
        return (experts + expert - 1) / expert * expert;
    }
};

/// A model on `data` groups of `tensor` devices each, its routed experts, if it has any, in `expert` groups of all of these.
[[nodiscard]] constexpr sharding shared_over(const model& m, std::int64_t tensor, std::int64_t data = 1,
                                             std::int64_t expert = 1) noexcept {
    const bool shares = m.dims.moe.num_experts > 1 && expert > 0;
    return {tensor, data, shares ? tensor * data / expert : 1, expert};
}

/// Why a model cannot be split so; empty: it can.
[[nodiscard]] constexpr literal sharding_problem(const model& m, const sharding& how) noexcept {
    const sizes& s = m.dims;
    const auto divides = [&](std::int64_t n) { return n % how.tensor == 0; };
    if (how.tensor < 1 || how.data < 1 || how.expert_tensor < 1 || how.expert < 1) return "needs at least one device";
    if (how.tensor > 1 && m.kind->as_written) return "a description has no parts for several devices: write those of one";
    if (!divides(s.num_attention_heads)) return "attention heads do not divide by it";
    if (s.num_key_value_heads % how.tensor != 0 && how.tensor % s.num_key_value_heads != 0)
        return "key and value heads neither divide by it nor divide it";
    if (!divides(s.intermediate_size) || !divides(s.moe.shared_intermediate_size))
        return "inner features do not divide by it";
    if (!divides(s.delta.num_key_heads) || !divides(s.delta.num_value_heads))
        return "heads of the delta rule do not divide by it";
    if (!divides(s.ssm.intermediate_size) || !divides(s.ssm.num_heads)) return "state spaces do not divide by it";
    for (std::size_t i = 0; i < m.text_row().own.count; ++i)
        if (m.text_row().own.first[i].divided == splits::evenly && !divides(s.own[i]))
            return "sizes of this family do not divide by it";
    if (how.expert > 1 && how.expert > s.moe.num_experts) return "there are more groups than experts";
    if (s.moe.intermediate_size % how.expert_tensor != 0) return "an expert's features do not divide by its devices";
    if (s.moe.num_experts > 1 && how.expert * how.expert_tensor != how.devices())
        return "experts are on another number of devices than attention";
    return "";
}

/// What each device of a split model computes, described as a smaller model: its share of heads and inner features, at
/// least one key and value head, its rows of the vocabulary. Routed experts stay whole: kernels are told how they are split.
[[nodiscard]] constexpr model sharded(model m, const sharding& how) noexcept {
    const std::int64_t n = how.tensor;
    if (n == 1) return m;
    sizes& s = m.dims;
    s.num_attention_heads /= n;
    s.num_key_value_heads = s.num_key_value_heads > n ? s.num_key_value_heads / n : 1;
    s.intermediate_size /= n;
    s.vocab_size = (s.vocab_size + n - 1) / n;
    s.moe.shared_intermediate_size /= n;
    s.delta.num_key_heads /= n;
    s.delta.num_value_heads /= n;
    s.ssm.intermediate_size /= n;
    s.ssm.num_heads /= n;
    if (s.ssm.n_groups > 1) s.ssm.n_groups = s.ssm.n_groups > n ? s.ssm.n_groups / n : 1;
    s.encoder.num_attention_heads /= n;
    s.encoder.intermediate_size /= n;
    for (std::size_t i = 0; i < m.text_row().own.count; ++i)
        if (m.text_row().own.first[i].divided == splits::evenly) s.own[i] /= n;
    for (int i = 0; i < s.layers.count; ++i) s.layers.kinds[i].inner /= static_cast<std::int32_t>(n);
    return m;
}

}  // namespace llmcost
