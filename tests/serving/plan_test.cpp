// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "../unit/laws.hpp"
#include "unmeasured.hpp"

#include <llmcost/presets.hpp>
#include <llmcost/serving/step_time_model.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

using namespace llmcost;
using namespace llmcost::testing;

namespace {

double predict_traced_seconds(const model& m, const workload& load, const execution& execution_config) {
    unmeasured no_measurements;
    double sum = 0;
    for (const known_kernel& k :
         match_kernels(kernels_of(m, load, execution_config), execution_config, no_measurements))
        sum += static_cast<double>(k.kernel.num_runs) * predicted_seconds(h200, k);
    return sum;
}

}  // namespace

TEST_CASE("a step's plan and its walk have the same kernels, for every model and workload") {
    unmeasured no_measurements;
    for_models([&](const golden_model& g) {
        execution decoding;
        decoding.is_decode_step = true;
        step_time_model plan(g.built, {}, h200, no_measurements), decodes(g.built, decoding, h200, no_measurements);
        for (const auto& [batch, sequence, past] : std::vector<std::array<std::int64_t, 3>>{{1, 1, 1},
                                                                                            {7, 1, 33},
                                                                                            {64, 1, 900},
                                                                                            {3, 1, 20000},
                                                                                            {1, 2, 0},
                                                                                            {3, 65, 0},
                                                                                            {2, 300, 0},
                                                                                            {5, 1500, 0},
                                                                                            {1, 9000, 0},
                                                                                            {2, 5, 40},
                                                                                            {1, 1, 700},
                                                                                            {1, 64, 512},
                                                                                            {3, 700, 100},
                                                                                            {2, 3000, 6000},
                                                                                            {1, 20000, 1},
                                                                                            {4, 2, 30000},
                                                                                            {1, 1, 0},
                                                                                            {1, 300, 300}}) {
            const workload load =
                fitted(g.built, {.batch = batch, .sequence = sequence, .past = past, .head = logits::last});
            if (load.sequence != sequence || load.past != past) continue;
            INFO(text_of(load));
            CHECK(plan.seconds(batch, sequence, past) ==
                  doctest::Approx(predict_traced_seconds(g.built, load, {})).epsilon(1e-12));
            CHECK(decodes.seconds(batch, sequence, past) ==
                  doctest::Approx(predict_traced_seconds(g.built, load, decoding)).epsilon(1e-12));
        }
    });
}

TEST_CASE("plans hold for whatever does not pad to chunks, so that sweeps are fast") {
    unmeasured no_measurements;
    for (const model& m : {presets::llama_3_2_1b, presets::llama_3_1_70b, presets::deepseek_v3, presets::gpt_oss_20b}) {
        step_time_model plan(m, {}, h200, no_measurements);
        for (const std::int64_t batch : {1, 2}) {
            CHECK(plan.has_closed_form(batch, 1, 5));
            CHECK(plan.has_closed_form(batch, 5, 0));
            CHECK(plan.has_closed_form(batch, 5, 5));
        }
    }
}

TEST_CASE("a size is found from its values, halves of squares too") {
    using size = std::int64_t (*)(std::int64_t, std::int64_t, std::int64_t);
    const size sizes[]{
        [](std::int64_t b, std::int64_t, std::int64_t p) { return 3 + 7 * b + 2 * p + 4 * b * p; },
        [](std::int64_t b, std::int64_t s, std::int64_t) { return 3 - 2 * b + 5 * s + b * s * (s + 1) / 2; },
        [](std::int64_t b, std::int64_t s, std::int64_t p) {
            return b * (s * (s + 1) / 2 + s * p) + 6 * p * p - 9 * b * p;
        },
    };
    for (std::size_t r = 0; r < std::size(sizes); ++r)
        for (const kernel_region& region : step_regions[r]) {
            const size_polynomial found =
                size_polynomial::interpolate(region.base_point, region.all_monomials, [&](std::size_t i) {
                    const step_shape shape = region.base_point.monomial_after(monomials[i]);
                    return sizes[r](shape.batch, shape.sequence, shape.past);
                });
            const monomial_values check_point(region.check_point.batch, region.check_point.sequence,
                                              region.check_point.past);
            std::int64_t twice = 0;
            for (std::size_t i = 0; i < monomial_count; ++i) twice += found.twice[i] * check_point.integer[i];
            CHECK(twice ==
                  2 * sizes[r](region.check_point.batch, region.check_point.sequence, region.check_point.past));
        }
}
