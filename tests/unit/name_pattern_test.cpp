// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/memory/name_pattern.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using namespace llmcost;

TEST_CASE("expressions mean what Python's re means by them") {
    const auto begins = [](std::string_view text, std::string_view name, bool at_boundary) {
        const auto pattern = name_pattern::parse(text);
        return pattern ? static_cast<int>(pattern->begins(name, at_boundary)) : -1;
    };
    CHECK(begins("model.layers.*.self_attn", "model.layers.3.self_attn.q_proj", true) == 1);
    CHECK(begins("model.layers.1", "model.layers.1.mlp", true) == 1);
    CHECK(begins("model.layers.1", "model.layers.11.mlp", true) == 0);
    CHECK(begins("mlp.gate", "mlp.gate_proj", true) == 0);
    CHECK(begins("mlp.gate", "mlp.gate_proj", false) == 1);
    CHECK(begins(R"(.*mlp\.(gate|up|gate_up|down)_proj.*)", "layers.0.mlp.up_proj", false) == 1);
    CHECK(begins(R"(.*mlp\.(gate|up|gate_up|down)_proj.*)", "layers.0.mlp.experts.0.up_proj", false) == 0);
    CHECK(begins("a{2,3}b", "aaab", false) == 1);
    CHECK(begins("a{2,3}b", "aaaab", false) == 0);
    CHECK(begins(R"([^.]+\.\d+$)", "layers.12", false) == 1);
    CHECK(begins(R"([^.]+\.\d+$)", "layers.12.x", false) == 0);
    CHECK(begins("^(?:a|b|)c", "bc", false) == 1);
    CHECK(begins("x|", "abc", false) == 1);
    CHECK(begins("", "abc", true) == 0);
    CHECK(begins(R"(.*\bmlp\b)", "layers.mlp.up", false) == 1);
    CHECK(begins(R"(.*\bmlp\b)", "layers.my_mlp.up", false) == 0);
    CHECK(begins(R"(\b)", "a", false) == 1);
    for (const char* bad : {"*.self_attn", "(a", "a)", "[a", "a**", "(?!mlp).*", R"(\B)", R"((a)\1)", "a{1000}", "a\\"})
        CHECK(begins(bad, "a", false) == -1);
    CHECK(begins(std::string(513, 'a'), "a", false) == -1);
    CHECK(begins("((a{64}){64}){64}", "a", false) == -1);
    // what makes an expression that goes back take forever
    CHECK(begins("(a*)*b", std::string(200, 'a'), false) == 0);
    CHECK(begins("(a|aa)+$", std::string(200, 'a') + 'c', false) == 0);
    CHECK(name_pattern::parse_wildcard("model.layers.*.mlp*")->begins("model.layers.1.mlp.up_proj", false));
    CHECK_FALSE(name_pattern::parse_wildcard("layers.?")->begins("layers.11", false));
}
