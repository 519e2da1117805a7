// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/serving/training_candidates.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/distributed/pipeline_schedule.hpp>
#include <llmcost/distributed/training_parallelism.hpp>
#include <llmcost/model/model_spec.hpp>

namespace llmcost::detail {

LLMCOST_INLINE std::vector<std::int64_t> values_of(std::int64_t given, std::vector<std::int64_t> all) {
    return given > 0 ? std::vector<std::int64_t>{given} : std::move(all);
}

LLMCOST_INLINE std::vector<std::int64_t> powers_of_two(std::int64_t maximum) {
    std::vector<std::int64_t> out;
    for (std::int64_t n = 1; n <= maximum; n *= 2) out.push_back(n);
    return out;
}

LLMCOST_INLINE std::vector<std::int64_t> divisors_of(std::int64_t n) {
    std::vector<std::int64_t> out;
    for (std::int64_t d = 1; d * d <= n; ++d)
        if (n % d == 0) {
            out.push_back(d);
            if (d != n / d) out.push_back(n / d);
        }
    std::ranges::sort(out);
    return out;
}

LLMCOST_INLINE searched_sizes::searched_sizes(const training_search_space& space, const model& m,
                                              std::int64_t devices_per_node) {
    constexpr std::int64_t min_context_tokens = 4096, max_batch = 16;
    const std::int64_t experts = m.config.moe.num_experts;
    layers = std::max<std::int64_t>(m.config.num_hidden_layers, 1);
    tensor = values_of(space.tensor, powers_of_two(std::min(devices_per_node, space.devices)));
    context = values_of(space.context, powers_of_two(std::max<std::int64_t>(1, space.sequence / min_context_tokens)));
    expert = values_of(space.expert, experts > 1 ? divisors_of(experts) : std::vector<std::int64_t>{1});
    batch = values_of(space.batch, powers_of_two(max_batch));
}

LLMCOST_INLINE bool supports_schedule(const training_parallelism& parallel, std::int64_t layers) {
    const std::int64_t ranks = parallel.pipeline, stages = parallel.stages_per_rank;
    const bool is_1f1b = parallel.schedule == "1f1b";
    if (ranks == 1) return is_1f1b;
    if (is_1f1b) return stages == 1 && parallel.microbatches >= ranks;
    // the formulas of `alive_activations` require a multiple of the ranks, and a V twice as many
    if (stages == 1 || layers % (stages * ranks) != 0 || parallel.microbatches % ranks != 0) return false;
    const int required = distributed::required_stages_per_rank(distributed::parse_schedule_name(parallel.schedule));
    return required == 0 || (stages == required && parallel.microbatches >= required * ranks);
}

}  // namespace llmcost::detail
