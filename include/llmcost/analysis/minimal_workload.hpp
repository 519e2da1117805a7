// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/analysis/counts.hpp>

// Workloads that every model accepts, for example to list its parameters.
namespace llmcost {

/// Whether a model requires audio input.
[[nodiscard]] inline bool is_audio_only(const model& m) {
    if (!m.spec->modalities.has_audio) return false;
    try {
        (void)count_model(m, {.sequence = 1});
    } catch (const description_error&) {
        return true;
    }
    return false;
}

/// A forward pass over one token, with one second of audio if the model requires it.
[[nodiscard]] inline workload minimal_workload(const model& m) {
    workload load{.sequence = 1, .past = 0, .head = logits::all};
    if (is_audio_only(m)) load.audio_milliseconds = 1000;
    return load;
}

/// Whether later tokens can use a cache of earlier ones.
[[nodiscard]] inline bool has_kv_cache(const model& m) {
    workload later = minimal_workload(m);
    later.past = 1;
    return !(count_model(m, later).cache_elements == count{});
}

}  // namespace llmcost
