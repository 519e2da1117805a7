// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/simulation/step_batch.hpp>

#include <llmcost/base/inline.hpp>

namespace llmcost {

LLMCOST_INLINE void step_batch::clear() noexcept {
    num_steps = 0;
    num_decodes = 0;
    mean_decode_length = 0;
    load_seconds = 0;
    prefills.clear();
    first_scheduled.clear();
    first_token.clear();
    finished.clear();
    num_new_decodes = 0;
}

}  // namespace llmcost
