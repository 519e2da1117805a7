// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <llmcost/simulation/request.hpp>

namespace llmcost {

/// The state of a request in an engine.
enum class request_state : std::uint8_t {
    not_queued,
    waiting,
    loading,  ///< its prefix is loaded from lower tiers
    loaded,   ///< it waits for a step after its prefix was loaded
    prefill,
    decoding,
    finished  ///< its pages are not freed yet
};

/// The progress of a request in an engine.
struct request_progress {
    std::int64_t num_computed_tokens = 0;  ///< prompt tokens in the KV cache
    std::int64_t num_prompt_tokens = 0;    ///< tokens to prefill: the prompt, and the output before a preemption
    std::int64_t num_output_tokens = 0;    ///< output tokens before the last preemption
    double num_pages = 0;                  ///< allocated pages, without those of prefix blocks
    std::int64_t first_decode_step = 0;    ///< decode steps of the engine before the request began to decode
    std::int64_t prefill_batch = 0;        ///< index of the batch in which its prefill completed
    std::int64_t finish_step = 0;          ///< decode step of the engine that produces its last token
    std::int64_t num_cached_tokens = 0;    ///< prompt tokens found in the prefix cache when first scheduled
    std::int64_t num_loaded_tokens = 0;    ///< those of them that were loaded from lower tiers
    std::int64_t num_preemptions = 0;
    double queued_at = 0;          ///< s, when it entered the waiting queue
    std::uint32_t generation = 0;  ///< how often its pages were freed; invalidates entries in `decoding_requests`
    request_state state = request_state::not_queued;
};

/// The requests of a simulation, by request id, and the progress of each.
struct request_table {
    const std::vector<simulated_request>& requests;
    std::vector<request_progress>& progress;
};

}  // namespace llmcost
