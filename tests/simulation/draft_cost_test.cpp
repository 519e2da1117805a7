// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "../serving/unmeasured.hpp"

#include <llmcost/presets.hpp>
#include <llmcost/simulation/step_cost_model.hpp>

#include <doctest/doctest.h>

#include <cstdint>

using namespace llmcost;
using namespace llmcost::testing;

TEST_CASE("a draft head costs the forward passes of its kind") {
    server target(presets::llama_3_1_8b, {}, {}, h200, no_kernels);
    server draft(presets::llama_3_2_1b, {}, {}, h200, no_kernels);
    constexpr std::int64_t past = 500;
    step_batch batch;
    batch.num_steps = 1;
    batch.num_decodes = 8;
    const auto step_seconds = [&](const draft_model_config& drafts) {
        return step_cost_model(target, scheduling_policies[0], host_times{}, drafts)(batch, past).seconds;
    };
    const double overlap = host_times{}.overlap;
    const auto pass = [&](std::int64_t tokens) {
        return overlap * draft.decode_step_model()(batch.num_decodes, tokens, past).seconds;
    };
    for (const std::int64_t n : {1, 2, 5}) {
        CAPTURE(n);
        const double verification = step_seconds({.num_draft_tokens = n});
        const auto draft_seconds = [&](draft_kind kind) {
            return step_seconds({.num_draft_tokens = n, .draft_server = &draft, .kind = kind}) - verification;
        };
        const auto passes = static_cast<double>(n);
        CHECK(draft_seconds(draft_kind::none) == doctest::Approx(passes * pass(1)).epsilon(1e-9));
        CHECK(draft_seconds(draft_kind::sequential) ==
              doctest::Approx(pass(n + 1) + (passes - 1) * pass(1)).epsilon(1e-9));
        CHECK(draft_seconds(draft_kind::one_per_head) == doctest::Approx(pass(1)).epsilon(1e-9));
        CHECK(draft_seconds(draft_kind::one_per_query) == doctest::Approx(pass(n + 1)).epsilon(1e-9));
    }
}
