// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/base/maybe.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/layers/activation.hpp>

namespace llmcost {

/// True if the cache contains the states of recurrent layers.
[[nodiscard]] constexpr bool has_recurrent_state(const trace& t) noexcept {
    return !t.is_training() && t.load().past > 0;
}

/// Records the recurrent state of a layer in the cache.
///
/// A new state is initialized to zeros, then overwritten in place. With `records_cache` false, the caller records the
/// cache: for a state that is part of a larger cached tensor, with `trace::add_to_cache`.
/// Source: transformers/cache_utils.py, `LinearAttentionLayer`.
constexpr void cache_recurrent_state(trace& t, const shape& sizes, bool records_cache = true) {
    if (t.is_training()) return;
    if (!has_recurrent_state(t)) (void)t.full(sizes);
    if (records_cache) t.add_to_cache(trace::buffer(sizes));
}

/// Parameters of a depthwise `nn.Conv1d` that its parent module applies. Without a bias, `bias` has rank 0.
struct convolution_weights {
    tensor weight;
    tensor bias{};

    [[nodiscard]] constexpr bool biased() const noexcept { return bias.rank != 0; }
};
constexpr convolution_weights declare_conv_weights(trace& t, literal name, std::int64_t channels, std::int64_t kernel,
                                                   bool bias) {
    const module_info conv{.name = name, .class_of_module = {"", "Conv1d"}};
    t.enter(conv);
    convolution_weights weights{t.param("weight", {channels, 1, kernel})};
    if (bias) weights.bias = t.param("bias", {channels});
    t.leave(conv);
    return weights;
}

/// Causal depthwise convolution: x (B, channels, S) -> (B, channels, S). The cache stores its last inputs.
///
/// Cost: MULT B·channels·L·kernel. L is the number of computed positions.
///  - In training: S + kernel − 1.
///  - With a new cache: max(S, kernel) + kernel − 1.
///  - S + 2·kernel − 1 with a cached state, or 2 for a single token.
///
/// The activation excludes the positions after the last input.
/// Source: transformers/models/mamba/modeling_mamba.py, `causal_conv1d_fn`, `causal_conv1d_update`;
/// transformers/cache_utils.py, `LinearAttentionLayer.update_conv_state`.
constexpr tensor causal_convolution(trace& t, const tensor& x, const convolution_weights& weights,
                                    maybe<activation> activation_kind, bool records_cache = true) {
    const std::int64_t channels = x.dim(1), sequence = x.dim(2), kernel = weights.weight.dim(2);
    const shape state{x.dim(0), channels, kernel};
    const bool follows = has_recurrent_state(t), steps = follows && sequence == 1;
    cache_recurrent_state(t, state, records_cache);
    if (!t.is_training() && !follows) t.add_region_edge(workload_axis::sequence, kernel);  // shorter inputs are padded
    tensor all = x;
    if (follows)
        all = t.cat({trace::buffer(state), x}, -1);
    else if (!t.is_training() && sequence < kernel)
        all = t.pad(x, -1, kernel - sequence);
    if (weights.biased()) t.read_parameter_in_next_op(weights.bias);
    const tensor convolved = t.conv(all, weights.weight, weights.biased(), channels, 1, steps ? 0 : kernel - 1);
    const tensor features = t.slice(convolved, -1, steps ? sequence : all.dim(-1));
    const tensor out = activation_kind ? activate(t, *activation_kind, features) : features;
    return t.slice(out, -1, sequence);
}

}  // namespace llmcost
