// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/serving/llama_cpp_server.hpp>

#include <algorithm>
#include <cstdint>

#include <llmcost/base/inline.hpp>

namespace llmcost {

LLMCOST_INLINE llama_cpp_serving_metrics llama_cpp_serving_of(const llama_cpp_load& load, double prompt_seconds,
                                                              double decode_seconds) noexcept {
    const std::int64_t running = load.num_running();
    const std::int64_t batches = (load.input_tokens + load.num_batch - 1) / load.num_batch;
    const std::int64_t steps = std::max<std::int64_t>(load.output_tokens - 1 - (running - 1) * batches, 0);
    const auto c = static_cast<double>(running);
    const double request_seconds = c * prompt_seconds + static_cast<double>(steps) * decode_seconds;
    llama_cpp_serving_metrics out;
    out.tokens_per_second = c * static_cast<double>(load.output_tokens) / request_seconds;
    out.ttft_seconds = prompt_seconds + request_seconds * static_cast<double>(load.num_users - running) / c;
    if (load.output_tokens == 1) return out;
    out.tpot_seconds = (request_seconds - prompt_seconds) / static_cast<double>(load.output_tokens - 1);
    out.tokens_per_second_per_user = 1 / out.tpot_seconds;
    return out;
}

}  // namespace llmcost
