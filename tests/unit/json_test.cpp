// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/json.hpp>

#include "../fuzz/config_exercise.hpp"
#include "thrown_by.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <clocale>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

using llmcost::config_document;
using llmcost::config_limits;
using llmcost::config_view;
using llmcost::errc;
using llmcost::error;
using llmcost::parse_config;
using llmcost::read_config_file;
using llmcost::testing::thrown_by;
using namespace std::string_literals;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::string refusal_of_text(std::string_view text, const config_limits& limits = {}) {
    return thrown_by([&] { (void)parse_config(text, "x.json", limits); });
}

struct temporary_folder {
    std::filesystem::path path =
        std::filesystem::temp_directory_path() / ("llmcost_json_test_" + std::to_string(unique()));
    temporary_folder() { std::filesystem::create_directories(path); }
    ~temporary_folder() { std::filesystem::remove_all(path); }
    temporary_folder(const temporary_folder&) = delete;
    temporary_folder& operator=(const temporary_folder&) = delete;

    [[nodiscard]] std::string file(const std::string& name, const std::string& content) const {
        std::ofstream(path / name, std::ios::binary) << content;
        return (path / name).string();
    }

private:
    static long long unique() { return std::chrono::steady_clock::now().time_since_epoch().count(); }
};

}  // namespace

TEST_CASE("a long string is the one that is written, wherever it stands, and what follows it keeps its place") {
    for (std::size_t length = 60; length < 70; ++length) {
        const std::string plain(length, 'p');
        for (const std::string& written :
             {plain, plain + "\\\"" + plain, "\xC3\xA9" + plain, plain + "\\u0041", "[{,:" + plain}) {
            const std::string prefix =
                std::string(4096, ' ') + "{\"" + plain + "\":1,\"short\":\"" + written + "\",\"b\":[\"" + plain + "\",";
            llmcost::testing::exercise_config(prefix + "2.5]}");
            const std::string text = prefix + "NaN],\"c\":\"d\"";
            const config_document document = parse_config(text + "}", "x.json");
            const config_view root = document.root();
            CHECK(root.integer(plain.c_str()) == 1);
            CHECK(root.array("b")[0].as_string() == plain);
            CHECK(std::isnan(root.array("b")[1].node().real));
            CHECK(root.string("c") == "d");
            const std::size_t characters = text.size() - (written[0] == '\xC3' ? 1 : 0);
            CHECK(refusal_of_text(text + ",}").starts_with("x.json:1:" + std::to_string(characters + 2) + ": "));
            CHECK(refusal_of_text(text + ",\"c\":1}") == "x.json: /c: duplicated key");
            CHECK(refusal_of_text(text + ",\"" + plain + "\":1}").ends_with(": duplicated key"));
        }
        const std::string prefix = std::string(4096, ' ') + "{\"a\":\"";
        const std::string place = "x.json:1:" + std::to_string(prefix.size() + length + 1) + ": ";
        CHECK(refusal_of_text(prefix + plain).starts_with(place));
        CHECK(refusal_of_text(prefix + plain + "\n\"}").starts_with(place));
    }
}

TEST_CASE("a configuration is read as it stands") {
    const config_document document = parse_config(
        R"({"model_type": "llama", "hidden_size": 2048, "rms_norm_eps": 1e-05, "tie": true, "head_dim": null,
            "rope_scaling": {"factor": 32.0, "nested": {"deep": [1, [2, 3], {}]}}, "layer_types": ["a", "b\n\u00e9\ud83d\ude00"],
            "empty": [], "minus": -3})",
        "x.json");
    const config_view root = document.root();
    CHECK(document.name() == "x.json");
    CHECK(root.size() == 9);
    CHECK(root.string("model_type") == "llama");
    CHECK(root.positive("hidden_size") == 2048);
    CHECK(root.real("rms_norm_eps") == 1e-05);
    CHECK(root.boolean("tie"));
    CHECK(root.find("head_dim")->is_null());
    CHECK(root.integer("minus") == -3);
    CHECK(root.object("rope_scaling").positive("factor") == 32);
    CHECK(root.object("rope_scaling").object("nested").array("deep")[1][1].as_integer() == 3);
    CHECK(root.array("layer_types")[1].as_string() == "b\n\u00e9\U0001F600");
    CHECK(root.array("empty").size() == 0);
    llmcost::testing::require_tree(root);
}

TEST_CASE("infinities and NaN are read however they are written") {
    const config_document document = parse_config(
        R"({"limit": [0.0, Infinity, -Infinity, NaN], "text": "NaN \" Infinity", "tagged": {"__float__": "Infinity"},
            "list": [{"__float__": "-Infinity"}, {"__float__": "NaN"}], "large": 1E400, "small": -1e999, "tiny": 1e-999,
            "other": {"__float__": "nan"}, "more": {"__float__": "NaN", "x": 1}, "number": {"__float__": 1}})",
        "x.json");
    const config_view root = document.root();
    const config_view limit = root.array("limit");
    CHECK(limit.size() == 4);
    CHECK(limit[0].as_real() == 0.0);
    CHECK(limit[1].as_extended_real() == infinity);
    CHECK(limit[2].as_extended_real() == -infinity);
    CHECK(std::isnan(limit[3].as_extended_real()));
    CHECK(root.string("text") == "NaN \" Infinity");
    CHECK(root.find("tagged")->as_extended_real() == infinity);
    CHECK(root.array("list")[0].as_extended_real() == -infinity);
    CHECK(std::isnan(root.array("list")[1].as_extended_real()));
    CHECK(root.find("large")->as_extended_real() == infinity);
    CHECK(root.find("small")->as_extended_real() == -infinity);
    CHECK(root.real("tiny") == 0.0);
    CHECK(root.find("other")->is_object());
    CHECK(root.object("more").size() == 2);
    CHECK(root.find("number")->is_object());
    llmcost::testing::require_tree(root);

    const auto get_error = [&](const char* key) {
        return thrown_by([&] { document.read_with([&](config_view c) { return c.positive(key); }); });
    };
    CHECK(get_error("large") == "x.json: /large: expected a positive integer, found 1E400");
    CHECK(get_error("tagged") == "x.json: /tagged: expected a positive integer, found Infinity");
    CHECK(thrown_by([&] { document.read_with([](config_view c) { return c.real("tagged"); }); }) ==
          "x.json: /tagged: expected a finite number, found Infinity");
}

TEST_CASE("what only looks like an infinity is refused") {
    CHECK(refusal_of_text("{\"a\": Infinityx}") ==
          "x.json:1:7: invalid JSON: syntax error while parsing value - invalid literal");
    CHECK(refusal_of_text("{\"a\": +Infinity}") ==
          "x.json:1:7: invalid JSON: syntax error while parsing value - invalid literal");
    CHECK(refusal_of_text("{\"a\": NaN NaN}").starts_with("x.json:1:11: invalid JSON"));
    CHECK(refusal_of_text("{NaN: 1}").starts_with("x.json:1:"));
    CHECK(refusal_of_text("{\"a\": inf}").starts_with("x.json:1:7: invalid JSON"));
    CHECK(refusal_of_text("{\"a\": 0x1p9999}").starts_with("x.json:1:"));
    CHECK(refusal_of_text("{\"a\": NaN, \"b\": 01e999}").starts_with("x.json:1:"));
    CHECK(refusal_of_text("{\"a\": NaN, \"b\": 1.e999}").starts_with("x.json:1:19: invalid JSON"));
}

TEST_CASE("whole numbers beyond 64 bits become reals and are refused as integers") {
    const config_document document = parse_config(
        R"({"fits": 9223372036854775807, "least": -9223372036854775808, "a": 9223372036854775808, "b": 18446744073709551616,
            "model_max_length": 1000000000000000019884624838656, "c": -9223372036854775809})",
        "x.json");
    const config_view root = document.root();
    CHECK(root.integer("fits") == INT64_MAX);
    CHECK(root.integer("least") == INT64_MIN);
    CHECK(root.real("a") == 9223372036854775808.0);
    CHECK(root.real("b") == 18446744073709551616.0);
    CHECK(root.real("model_max_length") == 1e30);
    const auto get_error = [&](const char* key) {
        return thrown_by([&] { document.read_with([&](config_view c) { return c.integer(key); }); });
    };
    CHECK(get_error("a") == "x.json: /a: expected an integer, found 9223372036854775808 (out of range)");
    CHECK(get_error("c") == "x.json: /c: expected an integer, found -9223372036854775809 (out of range)");
    CHECK(get_error("model_max_length") ==
          "x.json: /model_max_length: expected an integer, found 1000000000000000019884624838656 (out of range)");
}

TEST_CASE("what is not JSON is refused with line and column") {
    CHECK(refusal_of_text("{\"a\":1,}") ==
          "x.json:1:8: invalid JSON: syntax error while parsing object key - unexpected '}'; expected string literal");
    CHECK(refusal_of_text("{\n  \"\u00e9\": tru\n}").starts_with("x.json:2:11: invalid JSON: "));
    CHECK(refusal_of_text("{\"a\":1} x").starts_with("x.json:1:9: "));
    CHECK(refusal_of_text("{\"a\":1").starts_with("x.json:1:7: "));
    CHECK(refusal_of_text("{'a':1}").starts_with("x.json:1:2: "));
    CHECK(refusal_of_text("// c\n{}").starts_with("x.json:1:1: "));
    CHECK(refusal_of_text("{}\0{}"s) == "x.json:1:3: invalid JSON: a NUL character");
    CHECK(refusal_of_text("{\"a\":\"x\0y\"}"s) == "x.json:1:8: invalid JSON: a NUL character");
    CHECK(refusal_of_text("{\"a\":\"x\ny\"}").starts_with("x.json:1:8: "));
    CHECK(refusal_of_text("{\"a\":\"\xff\"}").starts_with("x.json:1:7: invalid JSON: "));
    CHECK(refusal_of_text("{\"a\":\"\\ud800\"}").starts_with("x.json:1:13: "));
    CHECK(refusal_of_text("\x1b[31m").find('\x1b') == std::string::npos);
    CHECK(refusal_of_text("") == "x.json: expected a JSON object, found nothing");
    CHECK(refusal_of_text(" \r\n\t") == "x.json: expected a JSON object, found nothing");
    CHECK(refusal_of_text("\xEF\xBB\xBF\n") == "x.json: expected a JSON object, found nothing");
    CHECK(refusal_of_text("\xFF\xFE{\0}\0"s) == "x.json: expected UTF-8, found UTF-16");
    CHECK(refusal_of_text("[]") == "x.json: expected a JSON object, found an empty array");
    CHECK(refusal_of_text("32") == "x.json: expected a JSON object, found 32");
    CHECK(refusal_of_text("NaN") == "x.json: expected a JSON object, found NaN");
    CHECK(refusal_of_text("{\"__float__\": \"NaN\"}") == "x.json: expected a JSON object, found NaN");

    const std::string endless = refusal_of_text("{\"a\": \"" + std::string(1000000, 'x'));
    CHECK(endless.starts_with("x.json:1:1000008: invalid JSON: "));
    CHECK(endless.size() < 200);
}

TEST_CASE("a byte order mark is not part of the text") {
    CHECK(parse_config("\xEF\xBB\xBF{\"a\": 1}", "x.json").root().positive("a") == 1);
    CHECK(refusal_of_text("\xEF\xBB\xBF{a}").starts_with("x.json:1:2: "));
    CHECK(refusal_of_text("\xEF\xBB\xBF\xEF\xBB\xBF{}").starts_with("x.json:1:"));
}

TEST_CASE("a key that stands twice is refused") {
    CHECK(refusal_of_text(R"({"a": {"b": 1, "c": 2, "b": 3}})") == "x.json: /a/b: duplicated key");
    CHECK(refusal_of_text(R"({"ab": 1, "a\u0062": 2})") == "x.json: /ab: duplicated key");
    CHECK(refusal_of_text(R"({"": 1, "": 2})") == "x.json: /: duplicated key");
    CHECK(refusal_of_text(R"({"l": [0, {"x/y": 1, "x/y": 1}]})") == "x.json: /l/1/x~1y: duplicated key");
    CHECK(parse_config(R"({"a": {"b": 1}, "b": {"a": 1}})", "x.json").root().size() == 2);

    std::string long_object = "{";
    for (int i = 0; i < 5000; ++i) long_object += "\"k" + std::to_string(i) + "\": 0, ";
    CHECK(parse_config(long_object + "\"k5000\": 0}", "x.json").root().size() == 5001);
    CHECK(refusal_of_text(long_object + "\"k2500\": 0}") == "x.json: /k2500: duplicated key");
}

TEST_CASE("limits hold") {
    const auto nested = [](int levels) {
        std::string text = "{\"a\": ";
        for (int i = 1; i < levels; ++i) text += "[";
        for (int i = 1; i < levels; ++i) text += "]";
        return text + "}";
    };
    CHECK(parse_config(nested(64), "x.json").root().size() == 1);
    CHECK(refusal_of_text(nested(65)).ends_with("/0: expected at most 64 levels of arrays and objects"));
    CHECK(refusal_of_text(std::string(3000000, '[')).ends_with("expected at most 64 levels of arrays and objects"));
    CHECK(refusal_of_text(R"({"a": {"b": [[]]}})", {.depth = 3}) ==
          "x.json: /a/b/0: expected at most 3 levels of arrays and objects");

    CHECK(parse_config("{\"a\": [1, 2]}", "x.json", {.nodes = 4}).root().size() == 1);
    CHECK(refusal_of_text("{\"a\": [1, 2, 3]}", {.nodes = 4}) == "x.json: expected at most 4 values");
    CHECK(parse_config("{\"a\":1}", "x.json", {.text = 7}).root().size() == 1);
    CHECK(refusal_of_text("{\"a\":1} ", {.text = 7}) == "x.json: expected at most 7 bytes");

    std::string flood = "{\"a\":[0";
    while (flood.size() < 4000000) flood += ",0";
    CHECK(refusal_of_text(flood + "]}") == "x.json: expected at most 1048576 values");
}

TEST_CASE("megabytes of labels are read and counted") {
    std::string text = "{\"id2label\": {\"0\": \"l\"";
    for (int i = 1; i < 60000; ++i) text += ", \"" + std::to_string(i) + "\": \"label " + std::to_string(i) + "\"";
    text += "}, \"hidden_size\": 8}";
    CHECK(text.size() > 1000000);
    const config_document document = parse_config(text, "x.json");
    CHECK(document.root().object("id2label").size() == 60000);
    CHECK(document.root().positive("hidden_size") == 8);
}

TEST_CASE("files and streams") {
    const temporary_folder folder;
    const std::string good = folder.file("good.json", "{\"a\": 1}");
    CHECK(read_config_file(good).root().positive("a") == 1);
    CHECK(read_config_file(good).name() == good);
    CHECK(thrown_by([&] { (void)read_config_file(folder.file("empty.json", "")); }) ==
          folder.path.string() + "/empty.json: expected a JSON object, found nothing");

    const std::string absent = (folder.path / "absent.json").string();
    CHECK(thrown_by([&] { (void)read_config_file(absent); }, errc::io).starts_with(absent + ": cannot be opened: "));
    CHECK(thrown_by([&] { (void)read_config_file(folder.path.string()); }, errc::io) ==
          folder.path.string() + ": a folder without a config.json; it holds empty.json, good.json");
    const std::string config_path = folder.file("config.json", "{\"a\": 3}");
    CHECK(read_config_file(folder.path.string()).root().positive("a") == 3);
    CHECK(read_config_file(folder.path.string()).name() == config_path);

    std::istringstream in("{\"a\": 2}");
    CHECK(read_config_file(in, "standard input").root().positive("a") == 2);
    std::istringstream wrong("{\"a\": 2");
    CHECK(thrown_by([&] { (void)read_config_file(wrong, "standard input"); }).starts_with("standard input:1:8: "));
}

TEST_CASE("no more of a large file is read than the limit") {
    std::istringstream in(std::string(20000000, ' '));
    CHECK(thrown_by([&] { (void)read_config_file(in, "large"); }) == "large: expected at most 4194304 bytes");
    const std::streamoff read = in.tellg();
    CHECK(read > 4194304);
    CHECK(read <= 4194304 + 65536);

    std::istringstream exact("{\"a\": 1}" + std::string(4194304 - 8, ' '));
    CHECK(read_config_file(exact, "exact").root().positive("a") == 1);
}

TEST_CASE("every problem of a configuration has its code") {
    const config_document document =
        parse_config(R"({"model_type": "lama", "num_attention_heads": "32"})", "configs/x.json");
    CHECK(thrown_by([&] { document.read_with([](config_view c) { return c.positive("num_attention_heads"); }); }) ==
          "configs/x.json: /num_attention_heads: expected a positive integer, found \"32\"");
    CHECK(thrown_by([&] { document.read_with([](config_view c) { return c.positive("hidden_size"); }); },
                    errc::missing_key) == "configs/x.json: /hidden_size: missing; expected a positive integer");
    CHECK(thrown_by(
              [&] { document.read_with([](config_view c) { llmcost::throw_unsupported(c, "x", "not described"); }); },
              errc::unsupported) == "configs/x.json: /x: not described");
    CHECK(thrown_by(
              [&] {
                  document.read_with(
                      [](config_view c) { llmcost::fail_unknown_model_type(c, "model_type", "is not known"); });
              },
              errc::unknown_model_type) == "configs/x.json: /model_type: \"lama\" is not known");
    CHECK(document.read_with([](config_view c) { return c.size(); }) == 2);

    try {
        document.read_with([](config_view c) { return c.positive("num_attention_heads"); });
    } catch (const error& problem) {
        CHECK(problem.location() == "configs/x.json: /num_attention_heads");
    }
    CHECK(thrown_by([] {
              llmcost::throw_error({llmcost::config_problem::bad_value, "/a", "wrong"}, "");
          }) == "/a: wrong");
    CHECK(thrown_by([] {
              llmcost::throw_error({llmcost::config_problem::bad_value, "", "wrong"}, "x.json");
          }) == "x.json: wrong");
}

TEST_CASE("copies are apart and keep what they look at") {
    config_document copy = [] {
        config_document first = parse_config(R"({"a": "short", "b": {"c": [1, 2]}})", "x.json");
        config_document second = first;
        second.set("b.c.0", "a value of the copy alone");
        CHECK(first.root().object("b").array("c")[0].as_integer() == 1);
        return second;
    }();
    const config_view original_root = copy.root();
    const config_document moved = std::move(copy);
    CHECK(original_root.string("a") == "short");
    CHECK(moved.root().object("b").array("c")[0].as_string() == "a value of the copy alone");
}

TEST_CASE("numbers are read and shown alike where the decimal point is a comma") {
    const std::string prefix = std::setlocale(LC_NUMERIC, nullptr);
    bool comma = false;
    for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8"})
        comma = comma || std::setlocale(LC_NUMERIC, name) != nullptr;
    if (!comma) MESSAGE("no locale with a decimal comma is installed: tried in the locale that is set");
    const config_document document = parse_config(R"({"a": 1.5, "b": 1.5e400})", "x.json");
    CHECK(document.root().real("a") == 1.5);
    CHECK(document.root().find("b")->as_extended_real() == infinity);
    CHECK(thrown_by([&] { document.read_with([](config_view c) { return c.integer("a"); }); }) ==
          "x.json: /a: expected an integer, found 1.5");
    std::setlocale(LC_NUMERIC, prefix.c_str());
}

TEST_CASE("what the fuzzer kept still holds") {
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(LLMCOST_TEST_DIR "/fuzz/corpus/config")) {
        std::ifstream in(entry.path(), std::ios::binary);
        const std::string input((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
        INFO(entry.path().string());
        CHECK_NOTHROW(llmcost::testing::exercise_config(input));
        ++files;
    }
    CHECK(files >= 40);
}
