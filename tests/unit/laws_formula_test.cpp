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
std::vector<workload> around_edges(const region& r, const workload& base_workload) {
    std::vector<workload> all;
    const auto add = [&](std::int64_t batch, std::int64_t sequence, std::int64_t past) {
        workload w = base_workload;
        w.batch = batch;
        w.sequence = sequence;
        w.past = past;
        if (w.is_valid()) all.push_back(w);
    };
    for (const std::int64_t step : {-1, 0, 1}) {
        for (const std::int64_t bound : {r.batch.low, r.batch.high})
            add(bound + step, base_workload.sequence, base_workload.past);
        for (const std::int64_t bound : {r.sequence.low, r.sequence.high})
            add(base_workload.batch, bound + step, base_workload.past);
        for (const std::int64_t bound : {r.past.low, r.past.high})
            add(base_workload.batch, base_workload.sequence, bound + step);
        for (const std::int64_t bound : {r.total.low, r.total.high}) {
            add(base_workload.batch, bound - base_workload.past + step, base_workload.past);
            add(base_workload.batch, base_workload.sequence, bound - base_workload.sequence + step);
        }
    }
    add(64, base_workload.sequence + 4000, base_workload.past);
    add(64, base_workload.sequence, base_workload.past + 100000);
    add(7, base_workload.sequence + 129, base_workload.past + 31);
    return all;
}

/// Where no form is exact, and walks answer.
const law_exceptions traced_types{
    {"longt5", "pads to blocks of one length, and sums whole blocks of another"},
    {"qwen4_exp qwen4_exp_text", "blocks of a few tokens leave no grid among sequences that are padded to chunks"},
    {"musicgen_melody", "hears as much as the text is long unless told, so that its table ends along neither"},
    {"reformer", "buckets follow the logarithm of a text's chunks (`LSHSelfAttention._set_num_buckets`)"},
    {"funnel", "lengths that halve unevenly are rounded in every block (`FunnelAttentionStructure.pool_tensor`)"}};

/// Verifies decode steps: one token of each of several sequences.
const law_exceptions traced_steps{
    {"rwkv", "states without tokens meet all tokens of a batch, which goes on as its square (`RwkvSelfAttention`)"},
    {"funnel", "one token is no whole number of the last block's"}};

}  // namespace

TEST_CASE("an evaluator answers what a walk counts, on both sides of every edge of a region") {
    std::vector<workload> loads{{.sequence = 9},
                                {.batch = 3, .sequence = 1, .past = 50},
                                {.batch = 2, .sequence = 300, .head = logits::last},
                                {.batch = 2, .sequence = 100, .past = 5000},
                                {.batch = 2, .sequence = 7, .encoder_sequence = 20, .cache = dtype::float8_e4m3fn}};
    for (std::size_t i = 0; i < 3; ++i) {
        loads.push_back(loads[i]);
        loads.back().attention = attention_scores::causal;
    }
    for_all(loads, [&](const model& m, const workload& load) {
        const workload base_workload = with_storage_types(load, storage_types_of(m, load));
        const closed_form form(m, base_workload);
        const std::string_view type(m.spec->model_type);
        const bool steps = base_workload.sequence == 1 && base_workload.batch > 1;
        const bool is_traced = is_exception(traced_types, type) || (steps && is_exception(traced_steps, type));
        if (!is_traced)
            CHECK(form.contains_workload(base_workload));  // so that forms, not walks, are what is held below
        cost_evaluator answers(m);
        for (const workload& w : around_edges(form.valid_region(), base_workload)) {
            llmcost::model_metrics expected;
            try {
                expected = count_model(m, w);
            } catch (const workload_error&) {
                continue;  // positions that the model has not
            } catch (const overflow_error&) {
                continue;  // a tensor that a walk cannot hold; a form has none
            }
            INFO(text_of(w));
            CHECK(unequal(answers(w), expected) == "");
            if (form.contains_workload(w)) CHECK(unequal(form(w), expected) == "");
            if (form.contains_workload(w)) CHECK(form.flops(w) == expected.flops());
        }
    });
}

TEST_CASE("one form answers for every past of a decoding step, and for every prompt's length") {
    for_models(
        [&](const golden_model& g) {
            // windows, tables of positions and kernels end below these
            const workload decode =
                fitted(g.built, {.batch = 2, .sequence = 1, .past = 20000, .weights = dtype::float32});
            const workload prefill = fitted(g.built, {.batch = 2, .sequence = 20000, .weights = dtype::float32});
            const bool is_traced = is_exception(traced_steps, g.golden.model_type);
            for (const workload& w : {decode, prefill}) {
                if (is_traced && w.sequence == 1) continue;
                const closed_form form(g.built, w);
                CHECK(form.exact());
                CHECK(form.contains_workload(with_storage_types(w, storage_types_of(g.built, w))));
            }
            if (is_traced) return;
            const closed_form steps(g.built, decode);
            for (std::int64_t past = decode.past; past > decode.past * 3 / 4; past -= 7) {
                workload w = with_storage_types(decode, storage_types_of(g.built, decode));
                w.past = past;
                CHECK(steps.contains_workload(w));
            }
        },
        {{"longt5", "pads to blocks of one length, and sums whole blocks of another"},
         {"deepseek_v4 qwen4_exp qwen4_exp_text",
          "a few tokens become one entry, so that a form ends with each of these"},
         {"musicgen_melody", "hears as much as the text is long unless told, so that its table ends along neither"},
         {"reformer", "buckets follow the logarithm of a text's chunks (`LSHSelfAttention._set_num_buckets`)"}});
}
