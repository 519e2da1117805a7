// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/report/json_writer.hpp>

using namespace llmcost::cli;
using llmcost::count;
using llmcost::printable;

TEST_CASE("counts are grouped, scaled and put into units of 1024") {
    CHECK(grouped(count(0)) == "0");
    CHECK(grouped(count(999)) == "999");
    CHECK(grouped(count(1'235'814'400)) == "1,235,814,400");
    CHECK(scaled(count(9'999)) == "9,999");
    CHECK(scaled(count(10'000)) == "10.00 k");
    CHECK(scaled(count(12'345)) == "12.35 k");
    CHECK(scaled(count(999'949)) == "999.9 k");
    CHECK(scaled(count(999'950)) == "1.000 M");
    CHECK(scaled(count(1'235'814'400)) == "1.236 G");
    CHECK(scaled(count::from_uint128(~count::uint128{})) == "340,282,367 Q");
    CHECK(in_bytes(count(1'023)) == "1,023 B");
    CHECK(in_bytes(count(1'024)) == "1.00 KiB");
    CHECK(in_bytes(count(1'047'552)) == "1,023 KiB");
    CHECK(in_bytes(count(1'048'064)) == "1.00 MiB");
    CHECK(in_bytes(count(2'471'628'800)) == "2.30 GiB");
    CHECK(in_bytes(count(4'294'967'296)) == "4.00 GiB");
    CHECK(percent(count(1), count(3)) == "33.3 %");
    CHECK(percent(count(1), count(0)) == "0.0 %");
    CHECK(percent(count(0), count(3)) == "0.0 %");
    CHECK(percent(count(4), count(10000)) == "0.04 %");
    CHECK(percent(count(5), count(10000)) == "0.1 %");
    CHECK(percent(count(4), count(100000)) == "<0.01 %");
}

// llm-profiler divides by 1000 while it can, prints whole values as integers and others with two decimals
TEST_CASE("numbers in the manner of llm-profiler") {
    CHECK(profiler_number(count(16)) == "16");
    CHECK(profiler_number(count(0)) == "0");
    CHECK(profiler_number(count(999)) == "999");
    CHECK(profiler_number(count(1'000)) == "1\t(10^3)");
    CHECK(profiler_number(count(58'284'507'140)) == "58.28\t(10^9)");
    CHECK(profiler_number(count(59'019'874'340)) == "59.02\t(10^9)");
    CHECK(profiler_number(count(327'891'365)) == "327.89\t(10^6)");
    CHECK(profiler_number(count(117'304'381'480)) == "117.30\t(10^9)");
    CHECK(profiler_number(count(2'684'354'560)) == "2.68\t(10^9)");
}

TEST_CASE("texts from outside cannot steer a terminal") {
    CHECK(printable("org/name") == "org/name");
    CHECK(printable("größer") == "größer");
    CHECK(printable("a\x1b[31mb\n\x7f") == "a\\x1b[31mb\\x0a\\x7f");
    CHECK(printable("\xC2\x9b"
                    "31m") == "\\u009b31m");  // the one-byte form of ESC [
    CHECK(printable("\xE2\x80\xAE"
                    "evil") == "\\u202eevil");  // right to left
    CHECK(printable("\xFF\xC3") == "\\xff\\xc3");
    CHECK(printable(std::string_view("\0", 1)) == "\\x00");
    CHECK(printable("\U0001F600 é 字") == "\U0001F600 é 字");
}

TEST_CASE("what nobody sees is written out, for people and in JSON") {
    const std::pair<const char*, const char*> unseen[]{
        {"\u00ad", "\\u00ad"}, {"\u061c", "\\u061c"},   {"\u180e", "\\u180e"},  {"\u200b", "\\u200b"},
        {"\u200d", "\\u200d"}, {"\u200f", "\\u200f"},   {"\u2028", "\\u2028"},  {"\u202a", "\\u202a"},
        {"\u202e", "\\u202e"}, {"\u2060", "\\u2060"},   {"\u2066", "\\u2066"},  {"\u2069", "\\u2069"},
        {"\ufeff", "\\ufeff"}, {"\xC2\x80", "\\u0080"}, {"\xC2\x9F", "\\u009f"}};
    for (const auto& [text, written] : unseen) {
        CHECK(printable(text) == written);
        CHECK(llmcost::json_writer(0).value(text).text() == '"' + std::string(written) + '"');
    }
    CHECK(printable("\U000E0041") == "\\U000e0041");
    CHECK(printable("\u200a\u2010\u202f\u205f\u2070") == "\u200a\u2010\u202f\u205f\u2070");
}

TEST_CASE("JSON is UTF-8, whatever its strings hold") {
    const auto quoted = [](std::string_view text) {
        const std::string all = llmcost::json_writer(0).value(text).text();
        CHECK(nlohmann::json::accept(all));
        return all;
    };
    CHECK(quoted("a \"b\" \\ größer \U0001F600") == "\"a \\\"b\\\" \\\\ größer \U0001F600\"");
    CHECK(quoted(std::string_view("\0\x1b\x7f\n", 4)) == "\"\\u0000\\u001b\\u007f\\u000a\"");
    CHECK(quoted("\U000E0041") == "\"\\udb40\\udc41\"");
    CHECK(nlohmann::json::parse(quoted("\U000E0041")) == "\U000E0041");
    CHECK(quoted("a\xFF\xC3\xED\xA0\x80z") == "\"a\uFFFD\uFFFD\uFFFD\uFFFD\uFFFDz\"");
}

TEST_CASE("columns are counted in characters") {
    CHECK(width_of("1 × 2") == 5);
    CHECK(right("×", 3) == "  ×");
    CHECK(left("×", 3) == "×  ");
    CHECK(left("long", 2) == "long");
    CHECK(wrapped(std::vector<std::string>{"one", "two", "", "three"}, 9, "  ") == "one · two\n  three\n");
}

TEST_CASE("tables as text, CSV and Markdown") {
    const table t{{{"name"}, {"n", true}}, {{"a,\"b\"", "1234567"}, {"c|d_e", "1"}}};
    CHECK(plain(t) == "name           n\na,\"b\"  1,234,567\nc|d_e          1\n");
    CHECK(csv(t) == "name,n\n\"a,\"\"b\"\"\",1234567\nc|d_e,1\n");
    CHECK(markdown(t) == "| name | n |\n| --- | ---: |\n| a,\"b\" | 1,234,567 |\n| c\\|d\\_e | 1 |\n");
}
