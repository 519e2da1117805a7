// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/config/reader.hpp>
#include <llmcost/layers/causal_convolution.hpp>

// Attention with short convolutions, and logits that depend on the distance between tokens.
namespace llmcost::relative_local_attention {

enum family_config_index : std::uint8_t {
    local_heads,
    local_kv_heads,
    local_head_dim,
    relative_width,
    relative_extent,
    kernel,
    shared_experts,
    unpadded_vocab_size,
    scales_by_length
};

/// A causal convolution per channel in float32, added to its input: (B, S, channels) -> the same.
struct short_convolution {
    std::int64_t channels;
    std::int64_t kernel_size;
    class_name named;
    bool has_own_cache_entry;  ///< the cache of its state at once
    bool divides = false;      ///< the sum, by a constant

    static constexpr role module_role = role::mixer;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const convolution_weights kernel = [&] {
            const trace::float32_parameters_guard typed{t};
            return declare_conv_weights(t, "conv1d", channels, kernel_size, false);
        }();
        const tensor in_float = t.to(x, dtype::float32);
        const tensor mixed =
            causal_convolution(t, t.to(in_float.transpose(1, 2), kernel.weight.type), kernel, {}, has_own_cache_entry);
        const tensor with_residual = t.add(t.to(mixed, dtype::float32).transpose(1, 2), in_float);
        return t.to(divides ? t.div_scalar(with_residual) : with_residual, x.type);
    }
};

/// Biases of distances that each token makes for itself, (B, heads, S, T), from states (B, S, heads, width).
struct relative_logits {
    std::int64_t extent;
    class_name named;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, const tensor& states, std::int64_t length) const {
        const tensor all = t.matmul_operator(states, t.param("proj", {states.dim(-1), extent})).transpose(1, 2);
        return t.masked_fill(t.gather_with_saved_source(all, {all.dim(0), all.dim(1), all.dim(2), length}));
    }
};

/// 1 + α log(max((position + 1) / floor, 1)), (1, 1, S, 1).
constexpr tensor temperatures(trace& t, std::int64_t sequence) {
    const tensor ratio = t.clamp_min(t.div_scalar(t.full({sequence})));
    return t.add_scalar(t.mul_scalar(t.log(ratio))).view({1, 1, sequence, 1});
}

constexpr void check_local_heads(config_view json, const model_config& config, std::int64_t heads,
                                 std::int64_t kv_heads, std::int64_t head_width, std::int64_t relative) {
    if (heads % kv_heads != 0)
        throw_invalid_value(json, "swa_num_key_value_heads", "a divisor of swa_num_attention_heads");
    (void)checked_size(json, "swa_head_dim", heads, head_width);
    (void)checked_size(json, "d_rel", config.num_attention_heads, relative);
    (void)checked_size(json, "d_rel", heads, relative);
}

}  // namespace llmcost::relative_local_attention
