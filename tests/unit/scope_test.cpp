// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>

#include <llmcost/analysis/evaluator.hpp>
#include <llmcost/presets.hpp>

namespace {

using namespace llmcost;
constexpr model llama = presets::llama_3_2_1b;

TEST_CASE("a word that names nothing is an error, not a zero") {
    for (const char* name : {"attnn", "linear", "model.layers.99.self_attn", "model.layers.0.mlp.up_proj.bias",
                             "experts", "none", "", ".", "model..mlp", "model.layers.*.nothing"}) {
        CAPTURE(name);
        CHECK_THROWS_AS((void)count_model(llama, {}, scope_query{name}), scope_error);
        cost_evaluator scoped_evaluator(llama, scope_query{name});
        CHECK_THROWS_AS((void)scoped_evaluator({}), scope_error);
    }
    try {
        (void)count_model(llama, {}, scope_query{"attnn"});
    } catch (const scope_error& e) {
        CHECK(std::string(e.scope()) == "attnn");
        CHECK(!e.tied());
    }
}

TEST_CASE("a tied parameter says that another name counts it") {
    try {
        (void)count_model(llama, {}, scope_query{"lm_head.weight"});
        FAIL("a zero");
    } catch (const scope_error& e) {
        CHECK(e.tied());
    }
    CHECK(count_model(llama, {}, scope_query{"model.embed_tokens.weight"}).params == count(128'256 * 2'048));
}

TEST_CASE("an evaluator of a scope answers as counting does") {
    for (const char* name : {"attn", "Linear", "model.layers.3.mlp", "model.norm.weight", "transformer"}) {
        cost_evaluator part(llama, scope_query{name});
        for (const std::int64_t sequence : {1, 2, 17, 400})
            for (const std::int64_t past : {0, 1, 1000}) {
                const workload load{.batch = 3, .sequence = sequence, .past = past};
                CAPTURE(name);
                CHECK(part(load) == count_model(llama, load, scope_query{name}));
            }
    }
}

}  // namespace
