// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../golden/for_models.hpp"

#include <doctest/doctest.h>

#include <llmcost/report/listing.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmcost::testing {

struct named_figure {
    std::string_view name;
    count value;
};

/// Every figure of a walk by its name.
[[nodiscard]] inline std::vector<named_figure> named(const llmcost::model_metrics& f) {
    return {{"add", f.add},
            {"mult", f.mult},
            {"div", f.div},
            {"sqrt", f.sqrt},
            {"exp", f.exp},
            {"log", f.log},
            {"tanh", f.tanh},
            {"erf", f.erf},
            {"trig", f.trig},
            {"pow", f.pow},
            {"neg", f.neg},
            {"cmp", f.cmp},
            {"params", f.params},
            {"active_params", f.active_params},
            {"cache", f.cache_elements},
            {"out", f.module_output_elements},
            {"written", f.written_elements},
            {"torch_flops", f.torch_flops},
            {"backward_torch_flops", f.backward_torch_flops},
            {"saved_bytes", f.saved_bytes},
            {"weight_bytes", f.weight_bytes},
            {"cache_bytes", f.cache_bytes},
            {"backward_add", f.backward.add},
            {"backward_mult", f.backward.mult},
            {"backward_div", f.backward.div},
            {"backward_sqrt", f.backward.sqrt},
            {"backward_exp", f.backward.exp},
            {"backward_log", f.backward.log},
            {"backward_tanh", f.backward.tanh},
            {"backward_erf", f.backward.erf},
            {"backward_trig", f.backward.trig},
            {"backward_pow", f.backward.pow},
            {"backward_neg", f.backward.neg},
            {"backward_cmp", f.backward.cmp}};
}

/// The figures for which `holds(a, b)` is false, with both values; empty where it holds for all.
template <class Holds>
[[nodiscard]] std::string violations(const llmcost::model_metrics& a, const llmcost::model_metrics& b, Holds holds) {
    const std::vector<named_figure> left = named(a), right = named(b);
    std::string text;
    for (std::size_t i = 0; i < left.size(); ++i)
        if (!holds(left[i].value, right[i].value))
            text += std::string(left[i].name) + ": " + std::string(count_text{left[i].value}.view()) + " and " +
                    std::string(count_text{right[i].value}.view()) + "; ";
    return text;
}
[[nodiscard]] inline std::string unequal(const llmcost::model_metrics& a, const llmcost::model_metrics& b) {
    return violations(a, b, [](count x, count y) { return x == y; });
}
/// The figures in which `a` is larger than `b`.
[[nodiscard]] inline std::string find_exceeding(const llmcost::model_metrics& a, const llmcost::model_metrics& b) {
    return violations(a, b, [](count x, count y) { return x <= y; });
}

/// Figures that are sums over parts: a storage that two of them keep is kept once, and gradients meet between them.
[[nodiscard]] inline llmcost::model_metrics additive(llmcost::model_metrics f) {
    f.saved_bytes = {};
    f.backward = {};
    return f;
}

[[nodiscard]] inline std::string text_of(const workload& load) {
    std::string text =
        std::to_string(load.batch) + "x" + std::to_string(load.sequence) + "@" + std::to_string(load.past);
    if (load.encoder_sequence != 0) text += " encoder " + std::to_string(load.encoder_sequence);
    if (load.head != logits::all) text += load.head == logits::last ? " last" : " none";
    if (load.attention == attention_scores::causal) text += " causal";
    if (load.training) text += " training";
    if (load.weights == dtype::bfloat16) text += " bfloat16";
    return text;
}

/// Passes of every kind: one token and many, with and without a past, both ways of scoring, what the head computes.
[[nodiscard]] inline std::vector<workload> inference_workloads() {
    std::vector<workload> all;
    for (const attention_scores scores : {attention_scores::full, attention_scores::causal})
        for (const auto& [batch, sequence, past] :
             std::vector<std::array<std::int64_t, 3>>{{1, 1, 0}, {2, 300, 0}, {1, 1, 9}, {3, 7, 5000}})
            all.push_back(
                {.batch = batch, .sequence = sequence, .past = past, .attention = scores, .weights = dtype::float32});
    all.push_back({.batch = 2, .sequence = 9, .encoder_sequence = 20, .head = logits::last, .weights = dtype::float32});
    all.push_back({.batch = 2, .sequence = 9, .past = 3, .head = logits::none, .weights = dtype::bfloat16});
    return all;
}

/// Training steps in one element type.
[[nodiscard]] inline std::vector<workload> training_workloads(dtype type) {
    std::vector<workload> all;
    for (const auto& [batch, sequence] : std::vector<std::array<std::int64_t, 2>>{{1, 1}, {1, 9}, {2, 1}, {3, 70}})
        all.push_back({.batch = batch, .sequence = sequence, .weights = type, .training = true});
    all.push_back({.batch = 2,
                   .sequence = 9,
                   .encoder_sequence = 20,
                   .attention = attention_scores::causal,
                   .weights = type,
                   .training = true});
    return all;
}

[[nodiscard]] inline std::vector<workload> all_workloads() {
    std::vector<workload> all = inference_workloads();
    for (const workload& step : training_workloads(dtype::float32)) all.push_back(step);
    return all;
}

/// A few of them, where every one is expensive.
[[nodiscard]] inline std::vector<workload> sample_workloads() {
    return {{.batch = 2, .sequence = 9, .weights = dtype::float32},
            {.batch = 1, .sequence = 1, .past = 200, .attention = attention_scores::causal, .weights = dtype::float32},
            {.batch = 2, .sequence = 9, .weights = dtype::float32, .training = true}};
}

/// The workload with its past, then its length cut to the positions that the model has.
[[nodiscard]] inline workload fitted(const model& m, workload load) {
    while (true) {
        try {
            (void)count_model(m, load);
            return load;
        } catch (const workload_error& problem) {
            std::int64_t& length = load.past > 0 ? load.past : load.sequence;
            length = std::max<std::int64_t>(load.past > 0 ? 0 : 1,
                                            length - (problem.requested_positions() - problem.max_positions()));
        } catch (const overflow_error&) {
            return load;
        }
    }
}

/// The figures, or nothing where they or the model's positions do not suffice; anything else that happens is a failure.
[[nodiscard]] inline std::optional<llmcost::model_metrics> counted_unless_overflow(const model& m,
                                                                                   const workload& load) {
    try {
        return count_model(m, load);
    } catch (const overflow_error&) {
        return std::nullopt;
    } catch (const workload_error& problem) {
        CHECK(problem.requested_positions() > problem.max_positions());
        return std::nullopt;
    } catch (const description_error& problem) {
        // an image that is smaller than a kernel: the reference builds such a model, and fails to run it
        CHECK(std::string_view(problem.what()) == "convolution: the kernel is larger than the input");
        return std::nullopt;
    } catch (const std::exception& problem) {
        FAIL_CHECK("neither a number nor an overflow: " << std::string(problem.what()));
        return std::nullopt;
    }
}

/// Whose reference takes no step as it is counted, in the mode of evaluation.
inline const law_exceptions untrained_types{
    {"reformer",
     "goes back by layers that are run again, in the mode of training alone (`ReformerLayer.backward_pass`)"}};

/// Models whose number of pairs with causal scores is undefined.
inline const law_exceptions unseen_types{
    {"reformer", "a decoder sorts tokens by hashes (`LSHSelfAttention`)"},
    {"prophetnet", "a step hides nothing, `ngram_attention_bias` the last words from later streams"}};

/// Calls `check(model, workload)` for every model of a golden and every workload, as long as the model has positions
/// for.
template <class Check>
void for_all(const std::vector<workload>& loads, Check check, const law_exceptions& exceptions = {}) {
    for_models(
        [&](const golden_model& g) {
            for (const workload& load : loads) {
                if (load.training && is_exception(untrained_types, g.golden.model_type)) continue;
                if (load.attention == attention_scores::causal && is_exception(unseen_types, g.golden.model_type))
                    continue;
                const workload run = fitted(g.built, load);
                INFO(text_of(run));
                check(g.built, run);
            }
        },
        exceptions);
}

}  // namespace llmcost::testing
