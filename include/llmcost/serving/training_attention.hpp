// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/latency/operand_types.hpp>
#include <llmcost/latency/operator_type.hpp>

// Attention kernels of training programs.
namespace llmcost {

/// A kernel of fused attention: the fractions of a peak that its forward and backward passes reach.
///
/// The peak of kernels written for Ampere is that of its instructions (`mma.sync`): 2,048 FLOPs per clock and
/// multiprocessor, on any later device. The peak of the others is that of the datasheet.
struct attention_kernel_spec {
    literal name = "";
    double forward = 0, backward = 0;                ///< head dimension of 128
    double narrow_forward = 0, narrow_backward = 0;  ///< head dimension of at most 64
    bool uses_ampere_instructions = false;
    double forward_score_bytes = 0, backward_score_bytes = 0;  ///< read and written per query-key pair; 0: fused
    double launches = 1;                                       ///< kernels of the forward pass
};

// flash1, flash2: FlashAttention-2, arXiv 2307.08691, section 1 (forward 30 to 50 %, backward 25 to 35 % of an A100;
// FlashAttention-2 up to 73 % and 63 %) and figure 7 (335 TFLOP/s on an H100, which is 73 % of its mma.sync peak).
// flash3: `scaled_dot_product_attention` of PyTorch 2.11 on H100 and H200 (torch/kernel_time.hpp).
// unfused: batched products of all pairs, a fused kernel for scale, mask and softmax, dropout. In half precision,
// forward writes the scores, reads and writes them for softmax and dropout with its mask, and reads them: 13 bytes.
// Backward does so for the gradients and reads the probabilities: 19 bytes. Source: Megatron-LM,
// core/transformer/dot_product_attention.py and core/fusions/fused_softmax.py.
// clang-format off
inline constexpr attention_kernel_spec attention_kernels[]{
    {"unfused", 0.35, 0.35, 0.30, 0.30, false, 13, 19, 9},
    {"flash1", 0.40, 0.30, 0.40, 0.30, true},
    {"flash2", 0.65, 0.56, 0.56, 0.48, true},
    {"flash3", 0.60, 0.43, 0.40, 0.30, false},
};
// clang-format on

/// The kernel with this name; null if there is none.
[[nodiscard]] constexpr const attention_kernel_spec* find_attention_kernel(string_ref name) noexcept {
    for (const attention_kernel_spec& k : attention_kernels)
        if (name == k.name) return &k;
    return nullptr;
}

/// Whether a kernel of a step computes fused attention over new tokens.
[[nodiscard]] bool is_fused_attention(const operator_shape& shape) noexcept;

/// Seconds of attention in a training step.
///
/// `flops`: of the causal forward pass, of `pairs` query-key pairs without a mask. Fused backward has 2.5 times as many
/// FLOPs, as it computes the scores again. Unfused attention computes all pairs, and twice as many FLOPs in backward.
[[nodiscard]] double attention_seconds(const device& device, const attention_kernel_spec& kernel, double flops,
                                       double pairs, std::int64_t head_dim, bool is_backward) noexcept;

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/serving/impl/training_attention.ipp>  // IWYU pragma: export
#endif
