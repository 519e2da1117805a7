// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/analysis/counts.hpp>

// What any model can be asked, so that its parameters can be told.
namespace llmcost {

/// Whether a model does nothing without sound.
[[nodiscard]] inline bool is_audio_only(const model& m) {
    if (!m.spec->modalities.has_audio) return false;
    try {
        (void)count_model(m, {.sequence = 1});
    } catch (const description_error&) {
        return true;
    }
    return false;
}

/// A pass over one token; of a model that does nothing without sound, with a second of it.
[[nodiscard]] inline workload minimal_workload(const model& m) {
    workload load{.sequence = 1, .past = 0, .head = logits::all};
    if (is_audio_only(m)) load.audio_milliseconds = 1000;
    return load;
}

/// Whether tokens that come later could use what a model keeps of earlier ones.
[[nodiscard]] inline bool has_kv_cache(const model& m) {
    workload later = minimal_workload(m);
    later.past = 1;
    return !(count_model(m, later).cache_elements == count{});
}

}  // namespace llmcost
