// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel_fit.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <vector>

#include <llmcost/serving/mixed_batch.hpp>

// Calls that take prompts and sequences which decode together.
namespace llmcost::bench {

/// How a kernel treats decoding sequences in a call with prompts, where no mixed call was measured.
struct known_mixing {
    std::string_view device, kernel;
    mixed_decode_kind mixed_decode_mode;
};
// FlashAttention-2 lets heads share keys only where all sequences have one new token (flash-attention,
// csrc/flash_attn/flash_api.cpp, mha_varlen_fwd: seqlenq_ngroups_swapped), FlashAttention-3 always does
// (hopper/heuristics.h, should_pack_gqa); vLLM takes the latter on Hopper alone. Both engines make one call for all of
// a step (vllm/v1/attention/backends/flash_attn.py, forward; sglang/srt/layers/attention/flashattention_backend.py,
// forward_extend for ForwardMode.MIXED).
inline constexpr known_mixing known_mixings[]{
    {"a100_sxm_80gb", "vllm_flash_attn", mixed_decode_kind::as_prefill_tiles},
    {"h100_sxm", "vllm_flash_attn_fa3", mixed_decode_kind::same_launch},
    {"h200_sxm", "vllm_flash_attn_fa3", mixed_decode_kind::same_launch},
    {"h200_sxm", "vllm_flash_attn", mixed_decode_kind::same_launch},
    {"h200_sxm", "fa3", mixed_decode_kind::same_launch},
};

/// log2(measured / predicted) of mixed calls: by the kernel of prompts for all, or each by its own.
struct errors_of_calls {
    std::vector<double> combined, separate;
};

/// Decoding sequences as prompts of one token each.
inline operator_shape as_prompts(const operator_shape& decodes, const operator_shape& prompt) {
    operator_shape shape = prompt;
    const std::int64_t* const s = decodes.sizes;  // batch, past, heads, key and value heads, width, window, proposed
    const std::int64_t sizes[]{s[0], s[6] + 1, s[2], s[3], s[4], s[5], s[1]};
    std::copy(std::begin(sizes), std::end(sizes), shape.sizes);
    return shape;
}

inline errors_of_calls errors_of_mixed(const table& prompts, const table& decodes, const device& d) {
    errors_of_calls e;
    if (prompts.mixed.empty()) return e;
    const owned_calibration of_prompts = fit(prompts, prompts.rows, d), of_decodes = fit(decodes, decodes.rows, d);
    const auto kernel_of = [&](operator_shape shape, const table& t, const owned_calibration& calibration) {
        shape.variant = t.variant;
        known_kernel k{.kernel = {.module_path = "attention", .shape = shape}, .calibration = &calibration.c};
        k.layer_shape_position = calibration.c.correction.find_position(shape.layer_shape());
        return k;
    };
    for (const mixed_call& call : prompts.mixed) {
        const known_kernel prompt = kernel_of(call.prompt, prompts, of_prompts);
        known_kernel decode_kernel = kernel_of(as_prompts(call.decodes, call.prompt), prompts, of_prompts);
        decode_kernel.kernel.shared_launch_index = 0;
        double combined_seconds = 0;
        for (const latency_estimate& call_estimate : estimates_of(d, {prompt, decode_kernel}))
            combined_seconds += call_estimate.seconds;
        const double separate_seconds =
            predicted_seconds(d, prompt) + predicted_seconds(d, kernel_of(call.decodes, decodes, of_decodes));
        e.combined.push_back(std::log2(call.seconds / combined_seconds));
        e.separate.push_back(std::log2(call.seconds / separate_seconds));
    }
    return e;
}

}  // namespace llmcost::bench
