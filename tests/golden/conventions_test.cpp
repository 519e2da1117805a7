// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "golden_models.hpp"

#include <doctest/doctest.h>

#include <llmcost/conventions/explain.hpp>
#include <llmcost/conventions/held.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// What other counters printed (tests/golden/conventions.txt, made by tests/oracle/conventions.py), digit by digit.
using namespace llmcost::testing;

namespace {

/// A line of the file: figures of a counter by their names, or none where it failed.
struct recorded_counter {
    std::string golden, model_type;
    llmcost::workload load;
    bool sdpa = false;
    llmcost::tensors on{};
    std::string tool;
    std::vector<std::pair<std::string, std::string>> figures;
    bool failed = false;
};

/// Whether a word stands in a list parted by commas.
bool has(std::string_view list, std::string_view word) {
    return ("," + std::string(list) + ",").find("," + std::string(word) + ",") != std::string::npos;
}

std::vector<recorded_counter> recorded_counters() {
    std::ifstream in(golden_folder() / "conventions.txt");
    REQUIRE(in);
    std::vector<recorded_counter> all;
    recorded_counter now;
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        std::string first, attention, name;
        words >> first;
        if (first == "#" || first.empty()) continue;
        if (first == "model") {
            now.load = {.weights = llmcost::dtype::float32};
            words >> now.golden >> now.model_type >> now.load.batch >> now.load.sequence >> now.load.encoder_sequence;
            continue;
        }
        recorded_counter one = now;
        words >> attention >> one.tool;
        if (one.tool == "ptflops_pytorch") one.tool = "ptflops";
        if (one.tool == "ptflops_aten") one.tool = "ptflops-aten";
        while (words >> name) {
            if (name == "error") {
                one.failed = true;
                break;
            }
            std::string number;
            words >> number;
            one.figures.emplace_back(name, number);
        }
        for (const char* const how : {"eager", "sdpa"})
            for (const char* const device : {"meta", "cpu"}) {
                if (!has(attention, how) || !has(first, device)) continue;
                one.sdpa = std::string_view(how) == "sdpa";
                one.on = std::string_view(device) == "meta" ? llmcost::tensors::meta : llmcost::tensors::real;
                one.load.implementation =
                    one.sdpa ? llmcost::attention_implementation::sdpa : llmcost::attention_implementation::eager;
                all.push_back(one);
            }
    }
    return all;
}

/// fvcore's sums by operator: what is heard under a name of PyTorch's counts under one of TorchScript's.
std::string by_operator(const llmcost::convention& c, const llmcost::heard_pass& heard, std::string_view name,
                        llmcost::tensors on) {
    constexpr std::pair<std::string_view, std::string_view> names[]{{"linear", "F.linear"},
                                                                    {"matmul", "torch.matmul"},
                                                                    {"matmul", "operator @"},
                                                                    {"bmm", "torch.bmm"},
                                                                    {"addmm", "torch.addmm"},
                                                                    {"einsum", "torch.einsum"},
                                                                    {"conv", "F.conv"},
                                                                    {"conv", "F.conv_transpose"},
                                                                    {"layer_norm", "F.layer_norm"},
                                                                    {"group_norm", "F.group_norm"},
                                                                    {"batch_norm", "F.batch_norm"},
                                                                    {"batch_norm", "F.batch_norm of a batch"},
                                                                    {"upsample_bilinear2d", "F.interpolate"},
                                                                    {"adaptive_avg_pool2d", "mean"}};
    llmcost::count sum;
    for (const llmcost::heard_call& call : heard.calls)
        for (const auto& [script, python] : names)
            if (script == name && python == call.name)
                if (const llmcost::call_rule* rule = llmcost::rule_for(c, call, on))
                    sum += llmcost::charge_of(rule->first, call.amounts);
    return std::string(llmcost::count_text{sum}.view());
}

/// What differs between a record and the library; empty: nothing.
std::string difference(const recorded_counter& one, const llmcost::heard_subject& subject) {
    const llmcost::convention* const c = llmcost::find_convention(one.tool);
    REQUIRE(c != nullptr);
    const llmcost::convention_reading read = llmcost::read_convention(*c, subject, one.on);
    std::string out;
    for (const auto& [name, number] : one.figures) {
        if (name == "input_bytes") continue;  // of Python's objects: `sys.getsizeof` of a storage
        std::string ours;
        for (const llmcost::convention_figure& f : read.figures)
            if (f.name == name) ours = llmcost::count_text{f.value}.view();
        if (ours.empty()) ours = by_operator(*c, subject.pass, name, one.on);
        if (ours != number) out += " " + name + " " + ours + " instead of " + number;
    }
    llmcost::count mine, theirs;
    for (const llmcost::difference_line& line : read.lines) mine += line.ours, theirs += line.theirs;
    if (!(mine == read.ours && theirs == read.theirs())) out += " lines do not add up";
    return out;
}

std::string words_of(const recorded_counter& one) {
    return one.model_type + (one.on == llmcost::tensors::meta ? " meta" : " real") + (one.sdpa ? " sdpa " : " eager ") +
           one.tool;
}

}  // namespace

TEST_CASE("other counters are reprinted to the digit, but for those that are told") {
    struct heard {
        llmcost::heard_pass pass{};
        std::string problem{};
    };
    std::map<std::string, llmcost::model> models;
    std::map<std::string, heard> passes;
    std::set<std::string> types;
    std::set<std::string> open;  // of open_figures, those that are
    int exact = 0;
    for (const recorded_counter& one : recorded_counters()) {
        types.insert(one.model_type);
        if (!models.contains(one.golden))
            models.emplace(one.golden, built_from(read_golden(golden_folder() / (one.golden + ".golden"))));
        const llmcost::model& m = models.at(one.golden);
        const std::string key = one.golden + (one.sdpa ? " sdpa" : " eager") + std::to_string(one.load.sequence) + "x" +
                                std::to_string(one.load.batch);
        const auto [at, fresh] = passes.try_emplace(key);
        heard& listened = at->second;
        try {
            if (fresh) listened.pass = llmcost::hear(m, one.load);
        } catch (const std::exception& e) {
            listened.problem = e.what();
        }
        const std::string_view told = llmcost::not_held_because({one.tool, one.model_type, one.sdpa, one.on});
        std::string found = listened.problem;
        if (one.failed)
            found = "the tool fails";
        else if (found.empty())
            found = difference(one, llmcost::heard_subject{m, one.load, {}, listened.pass});
        if (found.empty())
            ++exact;
        else if (!one.failed || !told.empty())
            open.insert(words_of(one));
        if (!found.empty() && !one.failed) CHECK_MESSAGE(!told.empty(), words_of(one) << ":" << found);
        if (found.empty()) CHECK_MESSAGE(told.empty(), words_of(one) << " is told not to be held, and is");
    }
    CHECK(exact > 4000);
    std::vector<std::string> held;
    for (const std::string_view type : llmcost::held_types) held.emplace_back(type);
    CHECK(held == std::vector<std::string>(types.begin(), types.end()));
    for (const llmcost::open_figure& row : llmcost::open_figures) {
        std::istringstream listed{std::string(row.model_types)};
        for (std::string type; listed >> type;) {
            const bool met = std::any_of(open.begin(), open.end(), [&](const std::string& words) {
                return words.starts_with(type + " ") && (row.tool.empty() || words.ends_with(" " + std::string(row.tool)));
            });
            CHECK_MESSAGE(met, type << " " << row.tool << " is open and nothing recorded differs");
        }
    }
}

TEST_CASE("FlopCounterMode's rules say what the price table of operations says") {
    for (const golden_model& g : golden_models()) {
        INFO(g.golden.name);
        llmcost::workload load{.batch = 2, .sequence = 5, .weights = llmcost::dtype::float32};
        try {
            const llmcost::heard_pass heard = llmcost::hear(g.built, load);
            const llmcost::convention* const c = llmcost::find_convention("flop_counter");
            llmcost::count apart;  // of operations that its table lacks, whatever they multiply
            for (const llmcost::heard_call& call : heard.calls)
                if (llmcost::rule_for(*c, call, llmcost::tensors::real) == nullptr) apart += call.torch_flops;
            CHECK(llmcost::figure_value(*c, llmcost::figure_of::first_prices, heard, llmcost::tensors::real) + apart ==
                  heard.total.torch_flops);
            llmcost::count flops;
            for (const llmcost::heard_call& call : heard.calls) flops += call.flops;
            CHECK(flops == heard.total.flops());
            CHECK(heard.total == llmcost::count_model(g.built, load));
        } catch (const llmcost::workload_error&) {
        }
    }
}
