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

#include <llmcost/serving/ragged.hpp>

// Calls that take prompts and sequences which decode together.
namespace llmcost::bench {

/// What a kernel does with sequences of one new token beside prompts, where nobody measured both in one call.
struct known_mixing {
    std::string_view device, kernel;
    taken_decodes takes;
};
// FlashAttention-2 lets heads share keys only where all sequences have one new token (flash-attention,
// csrc/flash_attn/flash_api.cpp, mha_varlen_fwd: seqlenq_ngroups_swapped), FlashAttention-3 always does
// (hopper/heuristics.h, should_pack_gqa); vLLM takes the latter on Hopper alone. Both engines make one call for all of a
// step (vllm/v1/attention/backends/flash_attn.py, forward; sglang/srt/layers/attention/flashattention_backend.py,
// forward_extend for ForwardMode.MIXED).
inline constexpr known_mixing known_mixings[]{
    {"a100_sxm_80gb", "vllm_flash_attn", taken_decodes::in_tiles},
    {"h100_sxm", "vllm_flash_attn_fa3", taken_decodes::in_launch},
    {"h200_sxm", "vllm_flash_attn_fa3", taken_decodes::in_launch},
    {"h200_sxm", "vllm_flash_attn", taken_decodes::in_launch},
    {"h200_sxm", "fa3", taken_decodes::in_launch},
};

/// log2(measured / predicted) of mixed calls: by the kernel of prompts for all, or each by its own.
struct errors_of_calls {
    std::vector<double> together, apart;
};

/// The same sequences as a prompt of one token each.
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
    const auto kernel_of = [&](operator_shape shape, const table& t, const owned_calibration& by) {
        shape.variant = t.variant;
        known_kernel k{.what = {.name = "attention", .shape = shape}, .known = &by.c};
        k.where = by.c.residual.locate(shape.site());
        return k;
    };
    for (const mixed_call& call : prompts.mixed) {
        const known_kernel prompt = kernel_of(call.prompt, prompts, of_prompts);
        known_kernel taken = kernel_of(as_prompts(call.decodes, call.prompt), prompts, of_prompts);
        taken.what.launch = 0;
        double together = 0;
        for (const latency_estimate& each : estimates_of(d, {prompt, taken})) together += each.seconds;
        const double apart =
            predicted_seconds(d, prompt) + predicted_seconds(d, kernel_of(call.decodes, decodes, of_decodes));
        e.together.push_back(std::log2(call.seconds / together));
        e.apart.push_back(std::log2(call.seconds / apart));
    }
    return e;
}

}  // namespace llmcost::bench
