// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "laws.hpp"

#include <llmcost/layers/attention.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace llmcost;
using namespace llmcost::testing;

namespace {

llmcost::model_metrics with_batch(const model& m, workload load, std::int64_t batch) {
    load.batch = batch;
    return count_model(m, load);
}

/// Elements of all softmax rows of a pass: of queries and keys, and of other uses of a softmax.
count softmax_elements(const model& m, const workload& load) {
    trace t{with_storage_types(load, storage_types_of(m, load))};
    m.trace_with_loss(t);
    return t.totals().operations[static_cast<std::size_t>(op::softmax)].work;
}

std::int64_t pairs_by_hand(std::int64_t num_previous_tokens, std::int64_t sequence, std::int64_t window,
                           window_kind kind) {
    std::int64_t pairs = 0;
    for (std::int64_t query = num_previous_tokens; query < num_previous_tokens + sequence; ++query)
        for (std::int64_t key = 0; key <= query; ++key)
            pairs +=
                window == 0 || (kind == window_kind::sliding ? query - key < window : query / window == key / window);
    return pairs;
}

}  // namespace

// One sequence alone may be laid out otherwise than several (a dimension of one element has no order in memory, so that
// views and copies differ), hence no law for a batch of one.
TEST_CASE("from two sequences on, every figure is affine in the batch") {
    for_all(all_workloads(), [](const model& m, const workload& load) {
        const bool steps = load.sequence == 1 && !load.training;
        if (steps && is_exception(crossed_batches, std::string_view(m.spec->model_type))) return;
        std::array<std::vector<named_figure>, 4> figures;
        for (std::size_t i = 0; i < figures.size(); ++i)
            figures[i] = named(with_batch(m, load, static_cast<std::int64_t>(i) + 2));
        std::string problems;
        for (std::size_t k = 0; k < figures[0].size(); ++k)
            for (std::size_t i = 0; i + 2 < figures.size(); ++i)
                if (figures[i].at(k).value + figures[i + 2].at(k).value != count(2) * figures[i + 1].at(k).value)
                    problems += std::string(figures[0][k].name) + " bends at " + std::to_string(i + 3) + "; ";
        CHECK(problems == "");
    });
}

TEST_CASE("visible pairs are what the new queries see, one by one") {
    for (std::int64_t num_previous_tokens = 0; num_previous_tokens <= 12; ++num_previous_tokens)
        for (std::int64_t sequence = 0; sequence <= 12; ++sequence)
            for (std::int64_t window = 0; window <= 14; ++window)
                for (const window_kind kind : {window_kind::sliding, window_kind::chunked}) {
                    CAPTURE(num_previous_tokens);
                    CAPTURE(sequence);
                    CAPTURE(window);
                    const attention_pattern c{.query_length = sequence,
                                              .window = window,
                                              .num_previous_tokens = num_previous_tokens,
                                              .kind = kind};
                    CHECK(c.visible_pairs() == pairs_by_hand(num_previous_tokens, sequence, window, kind));
                }
    const attention_pattern endless{.query_length = max_input, .num_previous_tokens = max_input};
    CHECK(endless.visible_pairs() == max_input * max_input + max_input / 2 * (max_input + 1) + (max_input + 1) / 2);
}

TEST_CASE("a context knows what a cache of its window holds") {
    for (std::int64_t past = 0; past <= 9; ++past)
        for (std::int64_t window = 0; window <= 6; ++window) {
            trace t{{.sequence = 3, .past = past}};
            const attention_pattern c = attention_pattern_of(t, window);
            CHECK(c.num_previous_tokens == past);
            CHECK(c.cached_length == (window == 0 ? past : std::min(past, window - 1)));
            CHECK(c.key_length() == c.cached_length + 3);
        }
}

// Models without a cache have nothing to extend; tokens that look ahead see nothing of a later chunk.
TEST_CASE("under causal scores, chunks of a prefill see the pairs that the whole sees") {
    constexpr std::array<std::array<std::int64_t, 3>, 6> chunks{
        {{1, 1, 1}, {5, 3, 2}, {60, 70, 9}, {120, 9, 200}, {500, 20, 3}, {4090, 7, 5000}}};
    for_all({{.batch = 2, .attention = attention_scores::causal, .weights = dtype::float32}},
            [&](const model& m, workload load) {
                if (count_model(m, load).cache_elements == count{} || m.config.is_bidirectional) return;
                for (const auto& parts : chunks) {
                    load.encoder_sequence = 20;
                    load.past = 0;
                    load.sequence = parts[0] + parts[1] + parts[2];
                    if (fitted(m, load).sequence < load.sequence) break;  // a table of positions ends here
                    count in_parts;
                    for (const std::int64_t part : parts) {
                        load.sequence = part;
                        if (fitted(m, load) != load)
                            return;  // a mask that no later chunk fits (MiniMax, mixed windows)
                        in_parts += softmax_elements(m, load);
                        load.past += part;
                    }
                    load.sequence = load.past;
                    load.past = 0;
                    CAPTURE(load.sequence);
                    CHECK(in_parts == softmax_elements(m, load));
                }
            },
            {{"cpmant", "its prompt stands in front of every pass anew, and all its tokens see each other"}});
}

TEST_CASE("causal scores are refused where nobody can say what is visible, never counted in full") {
    std::string refused;
    for (const golden_model& g : golden_models()) {
        workload load{.batch = 2, .sequence = 9, .attention = attention_scores::causal, .weights = dtype::float32};
        try {
            (void)count_model(g.built, load);
        } catch (const description_error& refusal) {
            const std::string type(g.golden.model_type);
            CHECK(std::string_view(refusal.what()).find(type + ": ") == 0);
            CHECK(std::string_view(refusal.what()).find("--attention full") != std::string_view::npos);
            if (refused.find(type) == std::string::npos) refused += type + ' ';
            load.attention = attention_scores::full;
            CHECK(count_model(g.built, load).add > count{});
        }
    }
    CHECK(refused == "reformer prophetnet ");
}

TEST_CASE("causal scores are at most all scores, and nothing else changes its shape") {
    for_all(
        sample_workloads(),
        [](const model& m, workload load) {
            load.attention = attention_scores::full;
            const llmcost::model_metrics full = count_model(m, load);
            load.attention = attention_scores::causal;
            const llmcost::model_metrics causal = count_model(m, load);
            CHECK(find_exceeding(causal, full) == "");
            CHECK(causal.params == full.params);
            CHECK(causal.cache_elements == full.cache_elements);
        },
        unseen_types);
    bool has_decrease = false;
    for (const golden_model& g : golden_models())
        if (!is_exception(unseen_types, g.golden.model_type))
            has_decrease =
                has_decrease || softmax_elements(g.built, {.sequence = 9, .attention = attention_scores::causal}) <
                                    softmax_elements(g.built, {.sequence = 9});
    CHECK(has_decrease);
}

/// Layers that read others' keys need no more tokens than the head does (Gemma 4).
bool shares_keys(const model& m) {
    const family_key_table family_keys = m.text_model_spec().family_keys;
    for (std::size_t i = 0; i < family_keys.size; ++i)
        if (string_ref(family_keys.entries[i].key) == "num_kv_shared_layers" && m.config.family[i] > 0) return true;
    return false;
}

/// Modules before, after or parallel to the head that run for the same logits.
struct head_modules {
    std::string_view type;
    std::string_view modules;
};
constexpr head_modules head_module_table[]{
    {"distilbert", "pre_classifier vocab_transform activation vocab_layer_norm"},
    {"deberta-v2", "pooler pooler.dense"},  // of classifiers alone, and no part of the model under them
    {"eurobert", "dense activation"},
    {"cvt", "layernorm"},  // of classes, which the classifier alone has
    {"poolformer", "norm"},
    {"inkling2_text", "logit_softcap"},
};
bool belongs_to_head(const model& m, std::string_view path) {
    return std::ranges::any_of(head_module_table, [&](const head_modules& l) {
        return l.type == std::string_view(m.spec->model_type) && has_listed(l.modules, path);
    });
}

/// Where a text of one token is more than one position.
const law_exceptions audio_prefix_types{
    {"musicgen_melody", "what it hears stands in front of the text and gets logits as well"}};

TEST_CASE("logits of fewer positions cost the head alone") {
    for_all({{.batch = 2, .sequence = 9, .weights = dtype::float32}}, [](const model& m, workload load) {
        std::vector<model_listing> by_head;
        for (const logits head : {logits::all, logits::last, logits::none}) {
            load.head = head;
            by_head.push_back(list_model(m, load));
        }
        CHECK(find_exceeding(by_head[1].total, by_head[0].total) == "");
        const bool shares = shares_keys(m);
        if (!shares) CHECK(find_exceeding(by_head[2].total, by_head[1].total) == "");
        std::vector<bool> holds_head(by_head[0].scopes.size());
        for (std::size_t i = holds_head.size(); --i > 0;) {
            const scope_figures& s = by_head[0].scopes[i];
            if (s.parent >= 0 && (holds_head[i] || s.module_role == role::head))
                holds_head[static_cast<std::size_t>(s.parent)] = true;
        }
        std::string problems;
        for (std::size_t i = 1; i < by_head[0].scopes.size(); ++i) {
            const scope_figures& all = by_head[0].scopes[i];
            bool in_head = false;
            for (auto p = static_cast<std::ptrdiff_t>(i); p >= 0;
                 p = by_head[0].scopes[static_cast<std::size_t>(p)].parent)
                in_head = in_head || by_head[0].scopes[static_cast<std::size_t>(p)].module_role == role::head;
            in_head = in_head || holds_head[i];  // a decoder, say
            for (const std::size_t k : {1U, 2U}) {
                const scope_figures* counterpart = by_head[k].find(all.path);
                if (counterpart == nullptr) problems += all.path + " is missing; ";
                // a dropout or what hands on around the head belongs to it in all but name
                const bool hands_on = all.type == "Dropout" || all.type == "Identity";
                if (counterpart == nullptr || in_head || hands_on || belongs_to_head(m, all.path) || (shares && k == 1))
                    continue;
                const std::string difference = unequal(model_metrics_of(all.sums), model_metrics_of(counterpart->sums));
                if (!difference.empty()) problems += all.path + ": " + difference;
            }
        }
        CHECK(problems == "");
        load.head = logits::none;
        llmcost::model_metrics head = count_model(m, load, scope_query{role::head});
        head.params = head.active_params = head.weight_bytes = {};
        CHECK(unequal(head, {}) == "");
        const std::string_view type(m.spec->model_type);
        if (is_exception(audio_prefix_types, type) || is_exception(crossed_batches, type)) return;
        load.sequence = 1;
        load.head = logits::last;
        const llmcost::model_metrics last = count_model(m, load);
        load.head = logits::all;
        CHECK(unequal(last, count_model(m, load)) == "");
    });
}

TEST_CASE("parameters do not depend on the workload") {
    for_models([&](const golden_model& g) {
        const auto tensors_of = [&](const workload& load) {
            const model_listing listing = list_model(g.built, load);
            std::string text;
            for (const llmcost::tensor_shape& t : listing.tensors) {
                text += t.name;
                for (const std::int64_t n : t.sizes) text += " " + std::to_string(n);
                text += "\n";
            }
            for (const std::string& name : listing.tied) text += "tied " + name + "\n";
            return text;
        };
        const llmcost::model_metrics first = count_model(g.built, {.sequence = 3});
        for (const workload& candidate : all_workloads()) {
            if (candidate.training && is_exception(untrained_types, g.golden.model_type)) continue;
            if (candidate.attention == attention_scores::causal && is_exception(unseen_types, g.golden.model_type))
                continue;
            const workload load = fitted(g.built, candidate);
            const llmcost::model_metrics f = count_model(g.built, load);
            CHECK(f.params == first.params);
            CHECK(f.active_params == first.active_params);
        }
        const std::string tensors = tensors_of({.sequence = 3});
        for (const workload& load : sample_workloads())
            if (load.training
                    ? !is_exception(untrained_types, g.golden.model_type)
                    : load.attention == attention_scores::full || !is_exception(unseen_types, g.golden.model_type))
                CHECK(tensors == tensors_of(fitted(g.built, load)));
        CHECK(first.active_params <= first.params);
        CHECK(first.active_params > count{});
    });
}

TEST_CASE("several threads count what one counts") {
    std::vector<std::pair<const model*, workload>> cases;
    for_all(sample_workloads(), [&](const model& m, const workload& load) { cases.emplace_back(&m, load); });
    std::vector<llmcost::model_metrics> expected;
    for (const auto& [m, load] : cases) expected.push_back(count_model(*m, load));
    std::array<std::vector<llmcost::model_metrics>, 4> found;
    std::vector<std::thread> threads;
    for (std::vector<llmcost::model_metrics>& mine : found)
        threads.emplace_back([&mine, &cases] {
            for (const auto& [m, load] : cases) mine.push_back(count_model(*m, load));
        });
    for (std::thread& t : threads) t.join();
    for (const std::vector<llmcost::model_metrics>& mine : found) CHECK(mine == expected);
}
