// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <llmcost/base/version.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/commands/op.hpp>

// `llmcost report`: its page, its pictures, what it refuses. tests/browser opens the page.
namespace llmcost::testing {
namespace {

const std::string report_command = "report " + llama + " --sequence 64";

std::size_t times_in(const std::string& text, const std::string& part) {
    std::size_t n = 0;
    for (std::size_t position = text.find(part); position != std::string::npos;
         position = text.find(part, position + 1))
        ++n;
    return n;
}

std::string text_of_file(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// What a page says, without markup.
std::string text_of_page(const std::string& page) {
    std::string out;
    bool is_in_tag = false;
    for (const char c : page) {
        if (c == '<') is_in_tag = true;
        if (!is_in_tag) out += c;
        if (c == '>') {
            is_in_tag = false;
            out += ' ';
        }
    }
    return out;
}

/// The elements of a page that must be closed are, in order.
void check_nesting(const std::string& page) {
    static const std::set<std::string> void_elements{"meta", "link", "wbr", "!DOCTYPE"};
    std::vector<std::string> open;
    for (std::size_t position = page.find('<'); position != std::string::npos;
         position = page.find('<', position + 1)) {
        if (page.compare(position, 8, "<script>") == 0) position = page.find("</script>", position);
        const std::size_t end = page.find('>', position);
        REQUIRE(end != std::string::npos);
        const std::string tag = page.substr(position + 1, end - position - 1),
                          text = tag.substr(0, tag.find_first_of(" >"));
        if (tag.ends_with('/') || void_elements.contains(text) || tag == "/script") continue;
        if (tag.front() != '/') {
            open.push_back(text);
            continue;
        }
        REQUIRE(!open.empty());
        REQUIRE_MESSAGE("/" + open.back() == tag, page.substr(position, 80));
        open.pop_back();
    }
    CHECK(open.empty());
}

}  // namespace

TEST_CASE("a report is one page that fetches nothing and says what the other commands say") {
    const std::string page = printed(report_command + " --device h200 --calibration none");
    CHECK(page.starts_with("<!DOCTYPE html>\n<html lang=\"en\">"));
    CHECK(has(page, "default-src 'none'"));
    CHECK(times_in(page, "http") == times_in(page, "http-equiv") + times_in(page, "http://www.w3.org/2000/svg"));
    check_nesting(page);
    for (const std::string section : {"summary", "memory", "scopes", "roofline", "layer", "sweeps", "assumptions"}) {
        CHECK(has(page, "<a href=\"#" + section + "\">"));
        CHECK(has(page, "<section id=\"" + section + "\""));
    }
    const std::string page_text = text_of_page(page);
    const auto exact = nlohmann::json::parse(printed(llama + " --sequence 64 --format json"))["totals"];
    for (const std::string name : {"add", "mult", "exp", "flops", "torch_flops", "params", "act", "cache_bytes"})
        CHECK_MESSAGE(has(page_text, cli::grouped(exact[name].dump())), name);
    const auto memory_json = nlohmann::json::parse(printed("memory " + llama + " --sequence 64 --format json"));
    for (const std::string part : {"weights", "cache_allocated", "activations_peak", "runtime", "total"})
        CHECK_MESSAGE(has(page_text, cli::grouped(memory_json[part].dump())), part);
    const auto graph = nlohmann::json::parse(
        printed("graph " + llama + " --sequence 64 --device h200 --calibration none --level operator --format json"));
    CHECK(has(page_text,
              "equal layers combined, " + cli::detail::duration(graph["statistics"]["seconds"]) + " in total"));
    CHECK(has(page_text, "H200 SXM: 4800 GB/s, 989.4 TFLOP/s of bfloat16"));
    CHECK(has(page_text, "Written by llmcost " + std::string(llmcost::version) + ":  llmcost report --config " +
                             config_of("meta-llama__Llama-3.2-1B") +
                             " --sequence 64 --device h200 --calibration none"));
    CHECK(times_in(page, "<figure>") == 8);  // bars, boxes, roofline, layer, four sweeps
    CHECK(times_in(page, "<figcaption>") == 8);
    CHECK(times_in(page, "<caption>") == times_in(page, "<table"));
}

TEST_CASE("boxes of modules are as wide as their share, in the page as in the tree") {
    const std::string page = printed(report_command);
    const auto tree = nlohmann::json::parse(printed(llama + " --sequence 64 --format json --scopes"));
    const auto total_flops = tree["totals"]["flops"].get<double>();
    double mlp = 0;
    for (const auto& scope : tree["scopes"])
        if (scope["path"].get<std::string>().ends_with(".mlp")) mlp += scope["flops"].get<double>();
    const std::size_t position = page.find("data-path=\"model.layers.0-15.mlp\"");
    REQUIRE(position != std::string::npos);
    const std::size_t width_begin = page.find("data-wide=\"", position) + 11;
    CHECK(std::stod(page.substr(width_begin, 12)) == doctest::Approx(mlp / total_flops));
    CHECK(has(page, "<option data-unit=\"s\">time</option>"));
}

TEST_CASE("a report with a training step shows it over time and at its peak") {
    const std::string page = printed(report_command + " --batch 2 --training --precision bf16 --optimizer sgd");
    check_nesting(page);
    const auto step = nlohmann::json::parse(
        printed("train " + llama + " --sequence 64 --batch 2 --precision bf16 --optimizer sgd --format json"));
    const std::string page_text = text_of_page(page);
    for (const std::string category : {"PARAM", "GRAD", "ACT", "total"})
        CHECK_MESSAGE(has(page_text, cli::grouped(step["peak"][category].dump())), category);
    CHECK(has(page_text, "Training step of 2 x 64 tokens · sgd · bf16 · sdpa"));
    CHECK(times_in(page, "<figure>") == 10);
}

TEST_CASE("a report's lists are what is swept, their first number is the workload") {
    const std::string page_text = text_of_page(printed("report " + llama + " --batch 2,4 --sequence 16,48"));
    CHECK(has(page_text, "Prefill, batch 2, sequence 16"));
    CHECK(has(page_text, "Memory over batch, sequences of 16 tokens"));
    const std::string past = text_of_page(printed("report " + llama + " --sequence 1 --past 100,200"));
    CHECK(has(past, "Decode, batch 1, sequence 1 after 100"));
    CHECK(has(past, "FLOPs over past, 1 sequence, 1 new token each"));
}

TEST_CASE("every kind of model has a report") {
    for (const std::string name : {"google-t5__t5-small", "openai-community__gpt2", "state-spaces__mamba-130m-hf",
                                   "microsoft__resnet-101", "deepseek-ai__DeepSeek-V4-Flash-Base"}) {
        CAPTURE(name);
        if (!std::filesystem::exists(config_of(name))) continue;
        check_nesting(printed("report --config " + config_of(name)));
    }
}

TEST_CASE("a hundred layers make a page below two megabytes") {
    CHECK(printed(report_command + " --set num_hidden_layers=100 --training").size() < 2'000'000);
}

TEST_CASE("a report writes its page and its pictures into files") {
    const auto folder = std::filesystem::temp_directory_path() / "llmcost_report_test";
    std::filesystem::remove_all(folder);
    const std::string pictures = (folder / "pictures").string();
    const std::string names = printed(report_command + " --svg " + pictures);
    for (const std::string name : {"memory", "scopes", "roofline", "layer", "flops_over_sequence",
                                   "memory_over_sequence", "flops_over_batch", "memory_over_batch"}) {
        CHECK(has(names, pictures + "/" + name + ".svg\n"));
        const std::string drawn = text_of_file(pictures + "/" + name + ".svg");
        CHECK_MESSAGE(drawn.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg "), name);
        CHECK(has(drawn, "<title>"));
        CHECK(drawn.ends_with("</svg>\n"));
    }
    const std::string file = (folder / "page.html").string();
    CHECK(printed(report_command + " --html " + file) == file + '\n');
    CHECK(text_of_file(file) == printed(report_command));
    CHECK(refused(report_command + " --html " + (folder / "no" / "page.html").string(), {}, 1) ==
          "llmcost: " + (folder / "no" / "page.html").string() + ": cannot be written: No such file or directory\n");
    std::filesystem::remove_all(folder);
}

TEST_CASE("a report refuses what it would not follow") {
    CHECK(refused(report_command + " --optimizer sgd") == "llmcost: --optimizer: requires --training\n");
    CHECK(refused(report_command + " --training --past 4") == "llmcost: --training: cannot be combined with --past\n");
    CHECK(refused(report_command + " --device nothing") == refused("ops " + llama + " --device nothing"));
    CHECK(llmcost_line("report " + llama + " --sequence 100000 --batch 64 --device l4 --html /dev/null").code == 8);
}

}  // namespace llmcost::testing
