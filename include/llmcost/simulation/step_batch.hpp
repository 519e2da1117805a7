// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace llmcost {

/// New tokens of a prompt behind others of it.
struct prefill_chunk {
    std::int64_t num_tokens = 0, cached_length = 0;
};

/// Who is in a step, or in several that are alike but for the tokens that were written meanwhile.
struct step_batch {
    std::int64_t num_steps = 0;     ///< 0: nobody has anything to do
    std::int64_t num_decodes = 0;   ///< sequences that write
    double mean_decode_length = 0;  ///< mean number of their tokens before the first of the steps
    std::vector<prefill_chunk> prefills{};
    std::vector<std::size_t> first_scheduled{};  ///< requests of which something is computed for the first time
    std::vector<std::size_t> first_token{};      ///< whose prompt ends here: they have their first token behind it
    std::vector<std::size_t> finished{};         ///< whose last token is written in the last of the steps
    std::int64_t num_new_decodes = 0;            ///< of those that write, how many do so for the first time
};

/// Where a request stands in an engine.
struct request_progress {
    std::int64_t num_computed_tokens = 0;  ///< tokens in the cache before it writes
    std::int64_t num_prompt_tokens =
        0;  ///< and how many there will be: its prompt, and what it had written before it was preempted
    std::int64_t num_output_tokens = 0;  ///< tokens before its prompt was computed again
    double num_pages = 0;                ///< of its own
    std::int64_t first_decode_step = 0;  ///< the turn before its first one as one that writes
    std::int64_t prefill_batch = 0;      ///< the batch that its prompt ended in
    std::int64_t finish_step = 0;        ///< the turn in which it writes its last token
    std::int64_t num_cached_tokens = 0;  ///< tokens of its prompt that were found in the cache
    std::int64_t num_preemptions = 0;
    double queued_at = 0;          ///< it waits in this engine
    std::uint32_t generation = 0;  ///< how often it was put down: what an older one left behind in a queue is void
    enum class request_state : std::uint8_t {
        not_queued,
        waiting,
        prefill,
        decoding,
        finished
    } state = request_state::not_queued;  ///< ended: holds pages
};

}  // namespace llmcost
