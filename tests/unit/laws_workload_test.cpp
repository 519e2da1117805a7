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

llmcost::figures with_batch(const model& m, workload load, std::int64_t batch) {
    load.batch = batch;
    return count_model(m, load);
}

/// Elements of all softmax rows of a pass: what queries and keys, and whoever else uses a softmax, compare.
count softmax_elements(const model& m, const workload& load) {
    trace t{resolved(load, types_of(m, load))};
    m.describe(t);
    return t.sums().operations[static_cast<std::size_t>(op::softmax)].work;
}

std::int64_t pairs_by_hand(std::int64_t seen, std::int64_t sequence, std::int64_t window, window_kind kind) {
    std::int64_t pairs = 0;
    for (std::int64_t query = seen; query < seen + sequence; ++query)
        for (std::int64_t key = 0; key <= query; ++key)
            pairs += window == 0 || (kind == window_kind::sliding ? query - key < window : query / window == key / window);
    return pairs;
}

}  // namespace

// One sequence alone may be laid out otherwise than several (a dimension of one element has no order in memory, so that
// views and copies differ), hence no law for a batch of one.
TEST_CASE("from two sequences on, every figure is affine in the batch") {
    for_all(all_workloads(), [](const model& m, const workload& load) {
        const bool steps = load.sequence == 1 && !load.training;
        if (steps && is_exception(crossed_batches, std::string_view(m.kind->model_type))) return;
        std::array<std::vector<named_figure>, 4> at;
        for (std::size_t i = 0; i < at.size(); ++i) at[i] = named(with_batch(m, load, static_cast<std::int64_t>(i) + 2));
        std::string problems;
        for (std::size_t k = 0; k < at[0].size(); ++k)
            for (std::size_t i = 0; i + 2 < at.size(); ++i)
                if (at[i].at(k).value + at[i + 2].at(k).value != count(2) * at[i + 1].at(k).value)
                    problems += std::string(at[0][k].name) + " bends at " + std::to_string(i + 3) + "; ";
        CHECK(problems == "");
    });
}

TEST_CASE("visible pairs are what the new queries see, one by one") {
    for (std::int64_t seen = 0; seen <= 12; ++seen)
        for (std::int64_t sequence = 0; sequence <= 12; ++sequence)
            for (std::int64_t window = 0; window <= 14; ++window)
                for (const window_kind kind : {window_kind::sliding, window_kind::chunked}) {
                    CAPTURE(seen);
                    CAPTURE(sequence);
                    CAPTURE(window);
                    const context c{.sequence = sequence, .window = window, .seen = seen, .kind = kind};
                    CHECK(c.visible_pairs() == pairs_by_hand(seen, sequence, window, kind));
                }
    const context endless{.sequence = largest_input, .seen = largest_input};
    CHECK(endless.visible_pairs() ==
          largest_input * largest_input + largest_input / 2 * (largest_input + 1) + (largest_input + 1) / 2);
}

TEST_CASE("a context knows what a cache of its window holds") {
    for (std::int64_t past = 0; past <= 9; ++past)
        for (std::int64_t window = 0; window <= 6; ++window) {
            trace t{{.sequence = 3, .past = past}};
            const context c = context_of(t, window);
            CHECK(c.seen == past);
            CHECK(c.past == (window == 0 ? past : std::min(past, window - 1)));
            CHECK(c.length() == c.past + 3);
        }
}

// Models without a cache have nothing to extend; tokens that look ahead see nothing of a later chunk.
TEST_CASE("under causal scores, chunks of a prefill see the pairs that the whole sees") {
    constexpr std::array<std::array<std::int64_t, 3>, 6> chunks{
        {{1, 1, 1}, {5, 3, 2}, {60, 70, 9}, {120, 9, 200}, {500, 20, 3}, {4090, 7, 5000}}};
    for_all({{.batch = 2, .attention = attention_scores::causal, .weights = dtype::float32}},
            [&](const model& m, workload load) {
                if (count_model(m, load).cache == count{} || m.dims.looks_ahead) return;
                for (const auto& parts : chunks) {
                    load.encoder_sequence = 20;
                    load.past = 0, load.sequence = parts[0] + parts[1] + parts[2];
                    if (fitted(m, load).sequence < load.sequence) break;  // a table of positions ends here
                    count in_parts;
                    for (const std::int64_t part : parts) {
                        load.sequence = part;
                        if (fitted(m, load) != load) return;  // a mask that no later chunk fits (MiniMax, mixed windows)
                        in_parts += softmax_elements(m, load);
                        load.past += part;
                    }
                    load.sequence = load.past, load.past = 0;
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
        } catch (const description_error& why) {
            const std::string type(g.golden.model_type);
            CHECK(std::string_view(why.what()).find(type + ": ") == 0);
            CHECK(std::string_view(why.what()).find("--attention full") != std::string_view::npos);
            if (refused.find(type) == std::string::npos) refused += type + ' ';
            load.attention = attention_scores::full;
            CHECK(count_model(g.built, load).add > count{});
        }
    }
    CHECK(refused == "reformer prophetnet ");
}

TEST_CASE("causal scores are at most all scores, and nothing else changes its shape") {
    for_all(
        few_workloads(),
        [](const model& m, workload load) {
            load.attention = attention_scores::full;
            const llmcost::figures full = count_model(m, load);
            load.attention = attention_scores::causal;
            const llmcost::figures causal = count_model(m, load);
            CHECK(beyond(causal, full) == "");
            CHECK(causal.params == full.params);
            CHECK(causal.cache == full.cache);
        },
        unseen_types);
    bool any = false;
    for (const golden_model& g : golden_models())
        if (!is_exception(unseen_types, g.golden.model_type))
            any = any || softmax_elements(g.built, {.sequence = 9, .attention = attention_scores::causal}) <
                             softmax_elements(g.built, {.sequence = 9});
    CHECK(any);
}

/// Layers that read others' keys need no more tokens than the head does (Gemma 4).
bool shares_keys(const model& m) {
    const own_keys own = m.text_row().own;
    for (std::size_t i = 0; i < own.count; ++i)
        if (string_ref(own.first[i].key) == "num_kv_shared_layers" && m.dims.own[i] > 0) return true;
    return false;
}

/// Modules that stand beside the head, in front of it or behind, and are asked for what it is asked for.
struct beside_head {
    std::string_view type;
    std::string_view modules;
};
constexpr beside_head beside_heads[]{
    {"distilbert", "pre_classifier vocab_transform activation vocab_layer_norm"},
    {"deberta-v2", "pooler pooler.dense"},  // of classifiers alone, and no part of the model under them
    {"eurobert", "dense activation"},
    {"cvt", "layernorm"},  // of classes, which the classifier alone has
    {"poolformer", "norm"},
    {"inkling2_text", "logit_softcap"},
};
bool goes_with_head(const model& m, std::string_view path) {
    return std::ranges::any_of(beside_heads, [&](const beside_head& l) {
        return l.type == std::string_view(m.kind->model_type) && has_listed(l.modules, path);
    });
}

/// Where a text of one token is more than one position.
const law_exceptions heard_ahead{{"musicgen_melody", "what it hears stands in front of the text and gets logits as well"}};

TEST_CASE("logits of fewer positions cost the head alone") {
    for_all({{.batch = 2, .sequence = 9, .weights = dtype::float32}}, [](const model& m, workload load) {
        std::vector<model_listing> by_head;
        for (const logits head : {logits::all, logits::last, logits::none}) {
            load.head = head;
            by_head.push_back(list_model(m, load));
        }
        CHECK(beyond(by_head[1].total, by_head[0].total) == "");
        const bool shares = shares_keys(m);
        if (!shares) CHECK(beyond(by_head[2].total, by_head[1].total) == "");
        std::vector<bool> holds_head(by_head[0].scopes.size());
        for (std::size_t i = holds_head.size(); --i > 0;) {
            const scope_figures& s = by_head[0].scopes[i];
            if (s.parent >= 0 && (holds_head[i] || s.what == role::head))
                holds_head[static_cast<std::size_t>(s.parent)] = true;
        }
        std::string problems;
        for (std::size_t i = 1; i < by_head[0].scopes.size(); ++i) {
            const scope_figures& all = by_head[0].scopes[i];
            bool in_head = false;
            for (auto p = static_cast<std::ptrdiff_t>(i); p >= 0; p = by_head[0].scopes[static_cast<std::size_t>(p)].parent)
                in_head = in_head || by_head[0].scopes[static_cast<std::size_t>(p)].what == role::head;
            in_head = in_head || holds_head[i];  // a decoder, say
            for (const std::size_t k : {1U, 2U}) {
                const scope_figures* other = by_head[k].find(all.path);
                if (other == nullptr) problems += all.path + " is missing; ";
                // a dropout or what hands on around the head belongs to it in all but name
                const bool hands_on = all.type == "Dropout" || all.type == "Identity";
                if (other == nullptr || in_head || hands_on || goes_with_head(m, all.path) || (shares && k == 1)) continue;
                const std::string difference = unequal(figures_of(all.sums), figures_of(other->sums));
                if (!difference.empty()) problems += all.path + ": " + difference;
            }
        }
        CHECK(problems == "");
        load.head = logits::none;
        llmcost::figures head = count_model(m, load, scope_query{role::head});
        head.params = head.active_params = head.weight_bytes = {};
        CHECK(unequal(head, {}) == "");
        const std::string_view type(m.kind->model_type);
        if (is_exception(heard_ahead, type) || is_exception(crossed_batches, type)) return;
        load.sequence = 1;
        load.head = logits::last;
        const llmcost::figures last = count_model(m, load);
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
        const llmcost::figures first = count_model(g.built, {.sequence = 3});
        for (const workload& asked : all_workloads()) {
            if (asked.training && is_exception(untrained_types, g.golden.model_type)) continue;
            if (asked.attention == attention_scores::causal && is_exception(unseen_types, g.golden.model_type)) continue;
            const workload load = fitted(g.built, asked);
            const llmcost::figures f = count_model(g.built, load);
            CHECK(f.params == first.params);
            CHECK(f.active_params == first.active_params);
        }
        const std::string tensors = tensors_of({.sequence = 3});
        for (const workload& load : few_workloads())
            if (load.training ? !is_exception(untrained_types, g.golden.model_type)
                              : load.attention == attention_scores::full || !is_exception(unseen_types, g.golden.model_type))
                CHECK(tensors == tensors_of(fitted(g.built, load)));
        CHECK(first.active_params <= first.params);
        CHECK(first.active_params > count{});
    });
}

TEST_CASE("several threads count what one counts") {
    std::vector<std::pair<const model*, workload>> asked;
    for_all(few_workloads(), [&](const model& m, const workload& load) { asked.emplace_back(&m, load); });
    std::vector<llmcost::figures> expected;
    for (const auto& [m, load] : asked) expected.push_back(count_model(*m, load));
    std::array<std::vector<llmcost::figures>, 4> found;
    std::vector<std::thread> threads;
    for (std::vector<llmcost::figures>& mine : found)
        threads.emplace_back([&mine, &asked] {
            for (const auto& [m, load] : asked) mine.push_back(count_model(*m, load));
        });
    for (std::thread& t : threads) t.join();
    for (const std::vector<llmcost::figures>& mine : found) CHECK(mine == expected);
}
