// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/base/config_view.hpp>

#include <array>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string_view>
#include <type_traits>

// A configuration written as a literal is read at compile time, and a bad one does not compile.
namespace {

using llmcost::config_node;
using llmcost::config_view;
using kind = config_node::kind;

constexpr double infinity = std::numeric_limits<double>::infinity();

// {"hidden_size": 32.0, "rope": {"factor": 8, "null": null}, "layer_types": ["full", "sliding", true], "tie": false,
//  "theta": 1e30, "limit": [0.0, Infinity], "negative": -1, "large": 2147483648, "half": 0.5, "empty": {}, "zero": 0,
//  "name": "llama"}
constexpr std::array<config_node, 20> nodes{{
    {.type = kind::object, .parent = 0, .end = 20, .size = 12},
    {.type = kind::real, .key = "hidden_size", .real = 32.0, .parent = 0, .end = 2},
    {.type = kind::object, .key = "rope", .parent = 0, .end = 5, .size = 2},
    {.type = kind::integer, .key = "factor", .integer = 8, .parent = 2, .end = 4},
    {.type = kind::null, .key = "null", .parent = 2, .end = 5},
    {.type = kind::array, .key = "layer_types", .parent = 0, .end = 9, .size = 3},
    {.type = kind::string, .string = "full", .parent = 5, .end = 7},
    {.type = kind::string, .string = "sliding", .parent = 5, .end = 8},
    {.type = kind::boolean, .integer = 1, .parent = 5, .end = 9},
    {.type = kind::boolean, .key = "tie", .integer = 0, .parent = 0, .end = 10},
    {.type = kind::real, .key = "theta", .real = 1e30, .parent = 0, .end = 11},
    {.type = kind::array, .key = "limit", .parent = 0, .end = 14, .size = 2},
    {.type = kind::real, .real = 0.0, .parent = 11, .end = 13},
    {.type = kind::real, .real = infinity, .parent = 11, .end = 14},
    {.type = kind::integer, .key = "negative", .integer = -1, .parent = 0, .end = 15},
    {.type = kind::integer, .key = "large", .integer = 2147483648, .parent = 0, .end = 16},
    {.type = kind::real, .key = "half", .real = 0.5, .parent = 0, .end = 17},
    {.type = kind::object, .key = "empty", .parent = 0, .end = 18},
    {.type = kind::integer, .key = "zero", .integer = 0, .parent = 0, .end = 19},
    {.type = kind::string, .key = "name", .string = "llama", .parent = 0, .end = 20},
}};
constexpr config_view json{nodes, 0};

// whether a call is a constant expression
template <class F, auto = (static_cast<void>(F{}()), 0)>
constexpr bool compiles(F) {
    return true;
}
constexpr bool compiles(...) { return false; }

static_assert(std::is_trivially_copyable_v<config_view>);
static_assert(std::is_trivially_copyable_v<config_node>);
static_assert(sizeof(config_view) <= 24);
static_assert(std::forward_iterator<llmcost::config_iterator>);

// whole numbers
static_assert(json.positive("hidden_size") == 32);
static_assert(json.integer("hidden_size") == 32);
static_assert(json.integer("negative") == -1);
static_assert(json.integer("large") == 2147483648);
static_assert(json.non_negative("zero") == 0);
static_assert(json.positive("absent", 7) == 7);
static_assert(json.positive("hidden_size", 7) == 32);
static_assert(json.object("rope").non_negative("null", 3) == 3);
static_assert(!json.object("rope").optional_positive("null").has_value());
static_assert(!json.optional_integer("absent").has_value());
static_assert(json.optional_integer("zero") == 0);
static_assert(json.find("hidden_size")->is_integer() && !json.find("half")->is_integer());
static_assert(!json.find("tie")->is_integer() && !json.find("theta")->is_integer());
static_assert(compiles([] { return json.positive("hidden_size"); }));
static_assert(!compiles([] { return json.positive("absent"); }));
static_assert(!compiles([] { return json.positive("zero"); }));
static_assert(!compiles([] { return json.positive("negative"); }));
static_assert(!compiles([] { return json.positive("large"); }));
static_assert(!compiles([] { return json.positive("large", 1); }));
static_assert(!compiles([] { return json.positive("half"); }));
static_assert(!compiles([] { return json.positive("name"); }));
static_assert(!compiles([] { return json.non_negative("negative"); }));
static_assert(!compiles([] { return json.integer("tie"); }));
static_assert(!compiles([] { return json.integer("tie", 1); }));
static_assert(!compiles([] { return json.integer("theta"); }));
static_assert(!compiles([] { return json.object("rope").integer("null"); }));

// reals
static_assert(json.real("half") == 0.5);
static_assert(json.real("zero") == 0.0);
static_assert(json.real("absent", 1.5) == 1.5);
static_assert(!json.object("rope").optional_real("null").has_value());
static_assert(json.array("limit")[1].as_extended_real() == infinity);
static_assert(!compiles([] { return json.array("limit")[1].as_real(); }));
static_assert(!compiles([] { return json.real("tie"); }));
static_assert(!compiles([] { return json.find("name")->as_extended_real(); }));

// booleans and strings
static_assert(!json.boolean("tie") && json.boolean("absent", true) && !json.boolean("tie", true));
static_assert(!json.optional_boolean("absent").has_value());
static_assert(json.string("name") == "llama" && json.string("absent", "x") == "x");
static_assert(!json.optional_string("absent").has_value());
static_assert(!compiles([] { return json.boolean("zero"); }));
static_assert(!compiles([] { return json.boolean("name", true); }));
static_assert(!compiles([] { return json.string("zero"); }));

// containers
static_assert(json.is_object() && json.size() == 12);
static_assert(json.contains("rope") && !json.contains("factor"));
static_assert(json.object("rope").find("null")->is_null());
static_assert(json.array("layer_types").size() == 3);
static_assert(json.array("layer_types")[1].as_string() == "sliding");
static_assert(json[1].key() == "rope" && json[2].key() == "layer_types" && json[11].key() == "name");
static_assert(json.optional_array("layer_types")->size() == 3 && !json.optional_array("absent").has_value());
static_assert(json.optional_object("empty")->size() == 0 && !json.optional_object("absent").has_value());
static_assert(!json.object("rope").find("null")->contains("anything"));
static_assert(!compiles([] { return json.array("layer_types")[3]; }));
static_assert(!compiles([] { return json.array("rope"); }));
static_assert(!compiles([] { return json.object("layer_types"); }));
static_assert(!compiles([] { return json.find("name")->contains("anything"); }));

constexpr int children(config_view view) {
    int n = 0;
    for (const config_view child : view) n += child.node().parent == view.index() ? 1 : 100;
    return n;
}
static_assert(children(json) == 12);
static_assert(children(json.object("rope")) == 2 && children(json.array("layer_types")) == 3);
static_assert(children(json.object("empty")) == 0 && children(*json.find("name")) == 0);

// characters
using llmcost::detail::unprintable;
using llmcost::detail::utf8_length;
static_assert(utf8_length("") == 0 && utf8_length("a") == 1 && utf8_length("\u00e9") == 2 &&
              utf8_length("\u20ac") == 3);
static_assert(utf8_length("\U0001F600") == 4);
static_assert(utf8_length("\xC0\x80") == 0 && utf8_length("\xE0\x80\x80") == 0 && utf8_length("\xF0\x80\x80\x80") == 0);
static_assert(utf8_length("\xED\xA0\x80") == 0 && utf8_length("\xF4\x90\x80\x80") == 0 &&
              utf8_length("\xF5\x80\x80\x80") == 0);
static_assert(utf8_length("\xE2\x82") == 0 && utf8_length("\x80") == 0 && utf8_length("\xC3") == 0);
static_assert(unprintable("\n") == '\n' && unprintable("\x7F") == 0x7F && unprintable("\u009b") == 0x9B);
static_assert(unprintable("\u202e") == 0x202E && unprintable("\u2066") == 0x2066 && unprintable("\u2028") == 0x2028);
static_assert(unprintable("a") == 0x110000 && unprintable("\u00e9") == 0x110000 && unprintable("\u20ac") == 0x110000);

}  // namespace
