// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace llmcost {

/// New tokens of a prompt behind others of it.
struct prompt_chunk {
    std::int64_t tokens = 0, past = 0;
};

/// Who is in a step, or in several that are alike but for the tokens that were written meanwhile.
struct step_batch {
    std::int64_t steps = 0;    ///< 0: nobody has anything to do
    std::int64_t writing = 0;  ///< sequences that write
    double past = 0;           ///< mean number of their tokens before the first of the steps
    std::vector<prompt_chunk> prompts{};
    std::vector<std::size_t> begun{};    ///< requests of which something is computed for the first time
    std::vector<std::size_t> started{};  ///< whose prompt ends here: they have their first token behind it
    std::vector<std::size_t> ended{};    ///< whose last token is written in the last of the steps
    std::int64_t joined = 0;             ///< of those that write, how many do so for the first time
};

/// Where a request stands in an engine.
struct request_progress {
    std::int64_t computed = 0;  ///< tokens in the cache before it writes
    std::int64_t wanted = 0;    ///< and how many there will be: its prompt, and what it had written before it was preempted
    std::int64_t written = 0;   ///< tokens before its prompt was computed again
    double pages = 0;           ///< of its own
    std::int64_t entered = 0;   ///< the turn before its first one as one that writes
    std::int64_t joined = 0;    ///< the batch that its prompt ended in
    std::int64_t ends = 0;      ///< the turn in which it writes its last token
    std::int64_t cached = 0;    ///< tokens of its prompt that were found in the cache
    std::int64_t preempted = 0;
    double since = 0;           ///< it waits in this engine
    std::uint32_t life = 0;     ///< how often it was put down: what an older one left behind in a queue is void
    enum class place : std::uint8_t { outside, waiting, prompt, writes, ended } at = place::outside;  ///< ended: holds pages
};

}  // namespace llmcost
