// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "laws.hpp"

#include <doctest/doctest.h>

#include <llmcost/analysis/evaluator.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

using namespace llmcost;
using namespace llmcost::testing;

namespace {

/// Workloads on both sides of every edge of a region, and a few far inside of it.
std::vector<workload> around_edges(const region& r, const workload& inside) {
    std::vector<workload> all;
    const auto add = [&](std::int64_t batch, std::int64_t sequence, std::int64_t past) {
        workload w = inside;
        w.batch = batch, w.sequence = sequence, w.past = past;
        if (w.in_range()) all.push_back(w);
    };
    for (const std::int64_t step : {-1, 0, 1}) {
        for (const std::int64_t at : {r.batch.low, r.batch.high}) add(at + step, inside.sequence, inside.past);
        for (const std::int64_t at : {r.sequence.low, r.sequence.high}) add(inside.batch, at + step, inside.past);
        for (const std::int64_t at : {r.past.low, r.past.high}) add(inside.batch, inside.sequence, at + step);
        for (const std::int64_t at : {r.total.low, r.total.high}) {
            add(inside.batch, at - inside.past + step, inside.past);
            add(inside.batch, inside.sequence, at - inside.sequence + step);
        }
    }
    add(64, inside.sequence + 4000, inside.past);
    add(64, inside.sequence, inside.past + 100000);
    add(7, inside.sequence + 129, inside.past + 31);
    return all;
}

/// Where no form is exact, and walks answer.
const law_exceptions walked_types{
    {"longt5", "pads to blocks of one length, and sums whole blocks of another"},
    {"qwen4_exp qwen4_exp_text", "blocks of a few tokens leave no grid among sequences that are padded to chunks"},
    {"musicgen_melody", "hears as much as the text is long unless told, so that its table ends along neither"},
    {"reformer", "buckets follow the logarithm of a text's chunks (`LSHSelfAttention._set_num_buckets`)"},
    {"funnel", "lengths that halve unevenly are rounded in every block (`FunnelAttentionStructure.pool_tensor`)"}};

/// The same of one token of each of several sequences.
const law_exceptions walked_steps{
    {"rwkv", "states without tokens meet all tokens of a batch, which goes on as its square (`RwkvSelfAttention`)"},
    {"funnel", "one token is no whole number of the last block's"}};

}  // namespace

TEST_CASE("an evaluator answers what a walk counts, on both sides of every edge of a region") {
    std::vector<workload> loads{{.sequence = 9},
                                {.batch = 3, .sequence = 1, .past = 50},
                                {.batch = 2, .sequence = 300, .head = logits::last},
                                {.batch = 2, .sequence = 100, .past = 5000},
                                {.batch = 2, .sequence = 7, .encoder_sequence = 20, .cache = dtype::float8_e4m3fn}};
    for (std::size_t i = 0; i < 3; ++i) loads.push_back(loads[i]), loads.back().attention = attention_scores::causal;
    for_all(loads, [&](const model& m, const workload& load) {
        const workload inside = resolved(load, types_of(m, load));
        const closed_form form(m, inside);
        const std::string_view type(m.kind->model_type);
        const bool steps = inside.sequence == 1 && inside.batch > 1;
        const bool walked = is_exception(walked_types, type) || (steps && is_exception(walked_steps, type));
        if (!walked) CHECK(form.covers(inside));  // so that forms, not walks, are what is held below
        evaluator answers(m);
        for (const workload& w : around_edges(form.where(), inside)) {
            llmcost::figures expected;
            try {
                expected = count_model(m, w);
            } catch (const workload_error&) {
                continue;  // positions that the model has not
            } catch (const overflow_error&) {
                continue;  // a tensor that a walk cannot hold; a form has none
            }
            INFO(text_of(w));
            CHECK(unequal(answers(w), expected) == "");
            if (form.covers(w)) CHECK(unequal(form(w), expected) == "");
            if (form.covers(w)) CHECK(form.flops(w) == expected.flops());
        }
    });
}

TEST_CASE("one form answers for every past of a decoding step, and for every prompt's length") {
    for_models(
        [&](const golden_model& g) {
            // windows, tables of positions and kernels end below these
            const workload decode = fitted(g.built, {.batch = 2, .sequence = 1, .past = 20000, .weights = dtype::float32});
            const workload prefill = fitted(g.built, {.batch = 2, .sequence = 20000, .weights = dtype::float32});
            const bool walked = is_exception(walked_steps, g.golden.model_type);
            for (const workload& w : {decode, prefill}) {
                if (walked && w.sequence == 1) continue;
                const closed_form form(g.built, w);
                CHECK(form.exact());
                CHECK(form.covers(resolved(w, types_of(g.built, w))));
            }
            if (walked) return;
            const closed_form steps(g.built, decode);
            for (std::int64_t past = decode.past; past > decode.past * 3 / 4; past -= 7) {
                workload w = resolved(decode, types_of(g.built, decode));
                w.past = past;
                CHECK(steps.covers(w));
            }
        },
        {{"longt5", "pads to blocks of one length, and sums whole blocks of another"},
         {"deepseek_v4 qwen4_exp qwen4_exp_text", "a few tokens become one entry, so that a form ends with each of these"},
         {"musicgen_melody", "hears as much as the text is long unless told, so that its table ends along neither"},
         {"reformer", "buckets follow the logarithm of a text's chunks (`LSHSelfAttention._set_num_buckets`)"}});
}
