// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace llmcost {

/// Prompt tokens of one request that a step computes.
struct prefill_chunk {
    std::int64_t num_tokens = 0;     ///< new tokens
    std::int64_t cached_length = 0;  ///< tokens of the prompt before the chunk, which are in the KV cache
};

/// The batch of one step, or of several steps that differ only in the length of the decoding requests.
struct step_batch {
    std::int64_t num_steps = 0;     ///< 0: nothing to do
    std::int64_t num_decodes = 0;   ///< requests that decode
    double mean_decode_length = 0;  ///< mean tokens of a decoding request before the first of the steps
    std::vector<prefill_chunk> prefills{};
    std::vector<std::size_t> first_scheduled{};  ///< requests that are scheduled for the first time
    std::vector<std::size_t> first_token{};      ///< requests whose first prefill completes in this step
    std::vector<std::size_t> finished{};         ///< requests whose last token is produced in the last of the steps
    double load_seconds = 0;                     ///< to load prefixes from lower tiers for its prefills
    std::int64_t num_new_decodes = 0;            ///< decoding requests in their first decode step

    [[nodiscard]] bool empty() const noexcept { return num_decodes == 0 && prefills.empty(); }

    void clear() noexcept;
};

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/simulation/impl/step_batch.ipp>  // IWYU pragma: export
#endif
