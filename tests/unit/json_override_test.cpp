// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/json.hpp>

#include "../fuzz/config_exercise.hpp"
#include "thrown_by.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>

using llmcost::config_document;
using llmcost::errc;
using llmcost::parse_config;
using llmcost::testing::thrown_by;

namespace {

// why a document refuses an override; it must then be as before
std::string refused_override(config_document& document, std::string_view path, std::string_view value) {
    const std::size_t nodes = document.root().node().end;
    const std::string message = thrown_by([&] { document.set(path, value); });
    CHECK(document.root().node().end == nodes);
    return message;
}

}  // namespace

TEST_CASE("values are overridden by dotted path") {
    config_document document =
        parse_config(R"({"a": {"b": [1, {"c": 3}], "d": 4}, "e": 5, "rope_scaling": null, "text": "x"})", "x.json");
    const auto root = [&] { return document.root(); };

    document.set("e", "6");
    CHECK(root().positive("e") == 6);
    document.set("a.b.1.c", "[7, [8], {\"k\": \"v\"}]");
    CHECK(root().object("a").array("b")[1].array("c")[1][0].as_integer() == 8);
    CHECK(root().object("a").array("b")[1].array("c")[2].string("k") == "v");
    CHECK(root().object("a").positive("d") == 4);
    llmcost::testing::require_tree(root());

    document.set("rope_scaling.factor", "8");
    document.set("rope_scaling.rope_type", "yarn");
    document.set("new.one.two", "1.5");
    CHECK(root().object("rope_scaling").size() == 2);
    CHECK(root().object("rope_scaling").positive("factor") == 8);
    CHECK(root().object("rope_scaling").string("rope_type") == "yarn");
    CHECK(root().object("new").object("one").real("two") == 1.5);
    CHECK(root().string("text") == "x");
    llmcost::testing::require_tree(root());

    document.set("a", "null");
    CHECK(root().find("a")->is_null());
    CHECK(root().positive("e") == 6);
    document.set("a.b", "true");
    CHECK(root().object("a").boolean("b"));
    CHECK(root().size() == 5);
    llmcost::testing::require_tree(root());
}

TEST_CASE("what follows an overridden value stays in its place") {
    config_document document = parse_config(R"({"a": [1], "b": {"c": [2, {"d": 3}]}, "e": {"f": 4}})", "x.json");
    for (const char* value : {"5", "[]", "[6, [7, 8], {\"x\": [9]}]", "{}", "null", "text"}) {
        document.set("a", value);
        llmcost::testing::require_tree(document.root());
        CHECK(document.root().object("b").array("c")[1].integer("d") == 3);
        CHECK(document.root().object("e").integer("f") == 4);
        document.set("b.c.0", value);
        llmcost::testing::require_tree(document.root());
        CHECK(document.root().object("b").array("c")[1].integer("d") == 3);
        CHECK(document.root().object("e").integer("f") == 4);
    }
}

TEST_CASE("the value of an override is JSON or else a string") {
    config_document document = parse_config("{}", "x.json");
    const auto set = [&](std::string_view value) {
        document.set("k", value);
        return *document.root().find("k");
    };
    CHECK(set("bfloat16").as_string() == "bfloat16");
    CHECK(set("\"32\"").as_string() == "32");
    CHECK(set("").as_string().empty());
    CHECK(set("True").as_string() == "True");
    CHECK(set("01").as_string() == "01");
    CHECK(set("1e").as_string() == "1e");
    CHECK(set("a b\n").as_string() == "a b\n");
    CHECK(set(" 32 ").as_integer() == 32);
    CHECK(set("-3").as_integer() == -3);
    CHECK(set("1e2").as_integer() == 100);
    CHECK(set("false").as_boolean() == false);
    CHECK(set("null").is_null());
    CHECK(set("Infinity").as_extended_real() == HUGE_VAL);
    CHECK(set("-1E400").as_extended_real() == -HUGE_VAL);
    CHECK(set("{\"__float__\": \"Infinity\"}").as_extended_real() == HUGE_VAL);
    CHECK(set("[1, 2]").size() == 2);
}

TEST_CASE("an override that cannot be is refused and changes nothing") {
    config_document document = parse_config(R"({"a": 1, "l": [1, 2], "m": []})", "x.json");
    CHECK(refused_override(document, "a.b", "2") ==
          "x.json: /a: expected an object or an array to set a value in, found 1");
    CHECK(refused_override(document, "new.l.x", "{\"a\": 1, \"a\": 2}") ==
          "x.json: value set for new.l.x: /a: duplicated key");
    CHECK(refused_override(document, "l.2", "2") == "x.json: /l/2: expected an index below 2");
    CHECK(refused_override(document, "l.-1", "2") == "x.json: /l/-1: expected an index below 2");
    CHECK(refused_override(document, "l.99999999999", "2") == "x.json: /l/99999999999: expected an index below 2");
    CHECK(refused_override(document, "m.0", "2") == "x.json: /m/0: expected nothing in an empty array");
    CHECK(refused_override(document, "", "2") == "x.json: expected a dotted path without empty parts");
    CHECK(refused_override(document, "n..b", "2") == "x.json: expected a dotted path without empty parts");
    CHECK(refused_override(document, "n", "[1, 2").starts_with("x.json: value set for n:1:6: invalid JSON"));
    CHECK(refused_override(document, "n", "\"abc").starts_with("x.json: value set for n:1:"));
    CHECK(refused_override(document, "n\x1b", "{").starts_with("x.json: value set for n\\u001b:1:"));
    CHECK_FALSE(document.root().contains("new"));

    config_document small = parse_config("{\"a\": [1]}", "x.json", {.text = 20, .depth = 3, .nodes = 7});
    CHECK(refused_override(small, "b.c.d.e", "1") ==
          "x.json: value set for b.c.d.e: expected at most 3 levels of arrays and objects");
    CHECK(refused_override(small, "b.c", "[[1]]") ==
          "x.json: value set for b.c: expected at most 3 levels of arrays and objects");
    CHECK(refused_override(small, "b", "[1,2,3,4]") == "x.json: value set for b: expected at most 7 values");
    CHECK(refused_override(small, "b", std::string(21, 'x')) == "x.json: value set for b: expected at most 20 bytes");
    small.set("b.c", "1");
    CHECK(small.root().node().end == 5);

    const std::string dots(1000000, '.');
    CHECK(refused_override(document, "k" + dots, "1").ends_with("expected at most 64 levels of arrays and objects"));
}
