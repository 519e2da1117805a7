// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/base/config_error.hpp>
#include <llmcost/base/config_view.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

using llmcost::config_error;
using llmcost::config_node;
using llmcost::config_problem;
using llmcost::config_view;
using kind = config_node::kind;

namespace {

// {"heads": VALUE}
std::array<config_node, 2> object_with(config_node value, std::string_view key = "heads") {
    value.key = key;
    value.parent = 0;
    value.end = 2;
    return {{{.type = kind::object, .end = 2, .size = 1}, value}};
}

template <class F>
config_error error_of(F f) {
    try {
        f();
    } catch (const config_error& problem) {
        return problem;
    }
    FAIL("nothing was thrown");
    return {config_problem::bad_value, "", ""};
}

std::string complaint_of_node(const config_node& value) {
    const auto nodes = object_with(value);
    return error_of([&] { (void)config_view{nodes, 0}.positive("heads"); }).what();
}

}  // namespace

TEST_CASE("a wrong value is named with its place, what was expected and what was found") {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    CHECK(complaint_of_node({.type = kind::string, .string = "32"}) ==
          "/heads: expected a positive integer, found \"32\"");
    CHECK(complaint_of_node({.type = kind::null}) == "/heads: expected a positive integer, found null");
    CHECK(complaint_of_node({.type = kind::boolean, .integer = 1}) ==
          "/heads: expected a positive integer, found true");
    CHECK(complaint_of_node({.type = kind::integer, .integer = 0}) == "/heads: expected a positive integer, found 0");
    CHECK(complaint_of_node({.type = kind::integer, .integer = INT64_MIN}) ==
          "/heads: expected a positive integer, found -9223372036854775808");
    CHECK(complaint_of_node({.type = kind::integer, .integer = 2147483648}) ==
          "/heads: expected a positive integer, found 2147483648 (out of range: at most 2147483647)");
    CHECK(complaint_of_node({.type = kind::real, .real = 0.5}) == "/heads: expected a positive integer, found 0.5");
    CHECK(complaint_of_node({.type = kind::real, .real = 1e30, .string = "1000000000000000019884624838656"}) ==
          "/heads: expected a positive integer, found 1000000000000000019884624838656 (out of range: at most "
          "2147483647)");
    CHECK(complaint_of_node({.type = kind::real, .real = -1e30, .string = "-1e30"}) ==
          "/heads: expected a positive integer, found -1e30");
    CHECK(complaint_of_node({.type = kind::real, .real = infinity, .string = "Infinity"}) ==
          "/heads: expected a positive integer, found Infinity");
    CHECK(complaint_of_node({.type = kind::real, .real = nan, .string = "NaN"}) ==
          "/heads: expected a positive integer, found NaN");
    CHECK(complaint_of_node({.type = kind::array}) == "/heads: expected a positive integer, found an empty array");
    CHECK(complaint_of_node({.type = kind::object}) == "/heads: expected a positive integer, found an empty object");
}

TEST_CASE("integers beyond 64 bits and beyond exact doubles are out of range, not rounded") {
    for (const double large : {9007199254740994.0, 1e19, -1e19, 1e300}) {
        const auto nodes = object_with({.type = kind::real, .real = large, .string = "large"});
        const config_view json{nodes, 0};
        const config_error problem = error_of([&] { (void)json.integer("heads"); });
        CHECK(problem.message() == "expected an integer, found large (out of range)");
        CHECK_FALSE(json.find("heads")->is_integer());
        CHECK(json.real("heads") == large);
    }
    const auto nodes = object_with({.type = kind::real, .real = 9007199254740992.0});
    CHECK(config_view{nodes, 0}.integer("heads") == 9007199254740992);
}

TEST_CASE("each failure carries its problem") {
    const auto nodes = object_with({.type = kind::string, .string = "swish"}, "hidden_act");
    const config_view json{nodes, 0};

    const config_error missing = error_of([&] { (void)json.string("model_type"); });
    CHECK(missing.problem() == config_problem::missing_key);
    CHECK(missing.pointer() == "/model_type");
    CHECK(missing.message() == "missing; expected a string");
    CHECK(std::string(missing.what()) == "/model_type: missing; expected a string");

    const config_error bad = error_of([&] { llmcost::throw_invalid_value(json, "hidden_act", "an activation"); });
    CHECK(bad.problem() == config_problem::bad_value);
    CHECK(std::string(bad.what()) == "/hidden_act: expected an activation, found \"swish\"");

    const config_error absent = error_of([&] { llmcost::throw_invalid_value(json, "head_dim", "a divisor"); });
    CHECK(absent.problem() == config_problem::missing_key);
    CHECK(std::string(absent.what()) == "/head_dim: missing; expected a divisor");

    const config_error unsupported =
        error_of([&] { llmcost::throw_unsupported(json, "hidden_act", "nobody knows it"); });
    CHECK(unsupported.problem() == config_problem::unsupported);
    CHECK(std::string(unsupported.what()) == "/hidden_act: nobody knows it: \"swish\"");

    const config_error unknown =
        error_of([&] { llmcost::fail_unknown_model_type(json, "model_type", "no row for it"); });
    CHECK(unknown.problem() == config_problem::unknown_model_type);
    CHECK(std::string(unknown.what()) == "/model_type: no row for it");

    const config_error root = error_of([&] { llmcost::throw_invalid_value(json, "an array"); });
    CHECK(root.pointer().empty());
    CHECK(std::string(root.what()) == "expected an array, found an object");
}

TEST_CASE("a scalar has no keys") {
    const auto nodes = object_with({.type = kind::string, .string = "yarn"}, "rope_scaling");
    const config_view scalar = *config_view{nodes, 0}.find("rope_scaling");
    CHECK(std::string(error_of([&] { (void)scalar.find("factor"); }).what()) ==
          "/rope_scaling: expected an object, found \"yarn\"");
    CHECK(std::string(error_of([&] { (void)scalar.real("factor", 1.0); }).what()) ==
          "/rope_scaling: expected an object, found \"yarn\"");
}

TEST_CASE("pointers are RFC 6901 and name array elements by index") {
    // {"a/b~c": [0, [1, {"x": null}]]}
    const std::array<config_node, 7> nodes{{
        {.type = kind::object, .end = 7, .size = 1},
        {.type = kind::array, .key = "a/b~c", .parent = 0, .end = 7, .size = 2},
        {.type = kind::integer, .parent = 1, .end = 3},
        {.type = kind::array, .parent = 1, .end = 7, .size = 2},
        {.type = kind::integer, .integer = 1, .parent = 3, .end = 5},
        {.type = kind::object, .parent = 3, .end = 7, .size = 1},
        {.type = kind::null, .key = "x", .parent = 5, .end = 7},
    }};
    const auto place = [&](std::uint32_t i) {
        return std::string(error_of([&] { llmcost::throw_invalid_value(config_view{nodes, i}, "else"); }).pointer());
    };
    CHECK(place(0).empty());
    CHECK(place(1) == "/a~1b~0c");
    CHECK(place(2) == "/a~1b~0c/0");
    CHECK(place(4) == "/a~1b~0c/1/0");
    CHECK(place(6) == "/a~1b~0c/1/1/x");
    CHECK(config_view{nodes, 1}[1][1].key().empty());
    CHECK(config_view{nodes, 1}[1][1].contains("x"));
}

TEST_CASE("what a configuration holds cannot steer a terminal nor flood it") {
    const std::string hostile = "\x1b[31m\r\n\t\"\\\x7f\u009b\u202e\u00e9\xff";
    CHECK(complaint_of_node({.type = kind::string, .string = hostile}) ==
          "/heads: expected a positive integer, found "
          "\"\\u001b[31m\\u000d\\u000a\\u0009\\\"\\\\\\u007f\\u009b\\u202e\u00e9\\xff\"");

    const std::string flood(100000, 'x');
    CHECK(complaint_of_node({.type = kind::string, .string = flood}) ==
          "/heads: expected a positive integer, found \"" + std::string(48, 'x') + "...\"");

    // characters are not cut in half: 16 of 3 bytes fit, a 17th does not
    std::string euros;
    for (int i = 0; i < 1000; ++i) euros += "\u20ac";
    CHECK(complaint_of_node({.type = kind::string, .string = euros}) ==
          "/heads: expected a positive integer, found \"" + euros.substr(0, 48) + "...\"");

    const auto nodes = object_with({.type = kind::null}, flood);
    const config_error problem = error_of([&] { (void)config_view{nodes, 0}.positive(flood.c_str()); });
    CHECK(problem.pointer() == "/" + std::string(48, 'x') + "...");
    CHECK(problem.message() == "expected a positive integer, found null");
}

TEST_CASE("pointers and messages that do not fit are cut and stay ended") {
    constexpr std::uint32_t levels = 500;
    std::vector<config_node> nodes(levels);
    for (std::uint32_t i = 0; i < levels; ++i)
        nodes[i] = {.type = i + 1 < levels ? kind::object : kind::null,
                    .key = i == 0 ? "" : "quite_a_long_key",
                    .parent = i == 0 ? 0 : i - 1,
                    .end = levels,
                    .size = i + 1 < levels ? 1U : 0U};
    const config_error deep = error_of([&] { llmcost::throw_invalid_value(config_view{nodes, levels - 1}, "else"); });
    CHECK(deep.pointer().starts_with(".../quite_a_long_key/quite"));
    CHECK(std::string_view(deep.pointer()).ends_with("..."));
    CHECK(deep.pointer().size() < 256);
    CHECK(deep.message() == "expected else, found null");

    const std::string long_text(5000, 's');
    const config_error wordy(config_problem::unsupported, std::string(5000, '/'), long_text);
    CHECK(wordy.pointer().size() < 256);
    CHECK(wordy.message().size() > 400);
    CHECK(std::string_view(wordy.message()).ends_with("s..."));
    CHECK(std::string(wordy.what()) == std::string(wordy.pointer()) + ": " + std::string(wordy.message()));
}
