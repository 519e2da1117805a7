// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "laws.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

using namespace llmcost;
using namespace llmcost::testing;

namespace {

/// What a batch of `n` must cost, since figures are affine in the batch from two on.
std::vector<named_figure> extrapolated(const model& m, workload load, std::int64_t n) {
    load.batch = 2;
    std::vector<named_figure> two = named(count_model(m, load));
    load.batch = 3;
    const std::vector<named_figure> three = named(count_model(m, load));
    for (std::size_t i = 0; i < two.size(); ++i) two[i].value += (three[i].value - two[i].value) * count(n - 2);
    return two;
}

}  // namespace

TEST_CASE("the largest batch costs what small ones promise, or overflows") {
    int compared = 0;
    for (const bool training : {false, true})
        for_all({{.sequence = 1, .weights = dtype::float32, .training = training},
                 {.sequence = 7, .encoder_sequence = 20, .weights = dtype::float32, .training = training},
                 {.sequence = 3, .past = training ? 0 : 900, .weights = dtype::float32, .training = training}},
                [&](const model& m, workload load) {
                    load.batch = max_input;
                    const auto found = counted_unless_overflow(m, load);
                    if (!found) return;
                    ++compared;
                    const std::vector<named_figure> expected = extrapolated(m, load, max_input), got = named(*found);
                    for (std::size_t i = 0; i < got.size(); ++i) {
                        CAPTURE(got[i].name);
                        CHECK(got[i].value == expected[i].value);
                    }
                });
    CHECK(compared > 0);
}

TEST_CASE("a longer sequence or past never costs less, up to the largest, or overflows") {
    for (const attention_scores scores : {attention_scores::full, attention_scores::causal})
        for_all({{.attention = scores, .weights = dtype::float32}},
                [](const model& m, workload load) {
                    llmcost::model_metrics previous;
                    for (load.sequence = 1; load.sequence <= max_input; load.sequence = load.sequence * 8 + 7) {
                        const auto found = counted_unless_overflow(m, load);
                        if (!found) break;
                        CAPTURE(load.sequence);
                        CHECK(find_exceeding(previous, *found) == "");
                        previous = *found;
                    }
                    previous = {};
                    load.sequence = 2;
                    for (load.past = 0; load.past <= max_input; load.past = load.past * 8 + 7) {
                        const auto found = counted_unless_overflow(m, load);
                        if (!found) break;
                        CAPTURE(load.past);
                        if (load.past > 7) CHECK(find_exceeding(previous, *found) == "");
                        previous = *found;
                    }
                },
                {{"deepseek_v4", "tokens that wait to become one entry are kept until they do"}});
}

TEST_CASE("the largest of everything overflows, or needs more positions than there are") {
    for (const workload& load :
         {workload{.batch = max_input, .sequence = max_input, .past = max_input, .encoder_sequence = max_input},
          workload{.batch = max_input, .sequence = max_input, .past = max_input, .attention = attention_scores::causal},
          workload{.batch = max_input, .sequence = max_input, .encoder_sequence = max_input, .training = true}})
        for_models(
            [&](const golden_model& g) {
                INFO(text_of(load));
                // where the input is pixels, the sequence means nothing
                if (count_model(g.built, {.sequence = 1}) != count_model(g.built, {.sequence = 2}))
                    CHECK_FALSE(counted_unless_overflow(g.built, load));
            },
            load.training                                ? untrained_types
            : load.attention == attention_scores::causal ? unseen_types
                                                         : law_exceptions{});
}
