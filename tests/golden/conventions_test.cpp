// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "golden_models.hpp"

#include <doctest/doctest.h>

#include <llmcost/flop_counters/counter_table.hpp>
#include <llmcost/flop_counters/explain.hpp>
#include <llmcost/flop_counters/verification.hpp>

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
    llmcost::tensor_kind tensor_mode{};
    std::string tool;
    std::vector<std::pair<std::string, std::string>> figures;
    bool failed = false;
};

/// Whether a word stands in a list parted by commas.
bool has(std::string_view list, std::string_view name) {
    return ("," + std::string(list) + ",").find("," + std::string(name) + ",") != std::string::npos;
}

std::vector<recorded_counter> recorded_counters() {
    std::ifstream in(golden_folder() / "conventions.txt");
    REQUIRE(in);
    std::vector<recorded_counter> all;
    recorded_counter now;
    for (std::string line; std::getline(in, line);) {
        std::istringstream line_stream(line);
        std::string first, attention, name;
        line_stream >> first;
        if (first == "#" || first.empty()) continue;
        if (first == "model") {
            now.load = {.weights = llmcost::dtype::float32};
            line_stream >> now.golden >> now.model_type >> now.load.batch >> now.load.sequence >>
                now.load.encoder_sequence;
            continue;
        }
        recorded_counter one = now;
        line_stream >> attention >> one.tool;
        if (one.tool == "ptflops_pytorch") one.tool = "ptflops";
        if (one.tool == "ptflops_aten") one.tool = "ptflops-aten";
        while (line_stream >> name) {
            if (name == "error") {
                one.failed = true;
                break;
            }
            std::string number;
            line_stream >> number;
            one.figures.emplace_back(name, number);
        }
        for (const char* const implementation : {"eager", "sdpa"})
            for (const char* const device : {"meta", "cpu"}) {
                if (!has(attention, implementation) || !has(first, device)) continue;
                one.sdpa = std::string_view(implementation) == "sdpa";
                one.tensor_mode =
                    std::string_view(device) == "meta" ? llmcost::tensor_kind::meta : llmcost::tensor_kind::real;
                one.load.implementation =
                    one.sdpa ? llmcost::attention_implementation::sdpa : llmcost::attention_implementation::eager;
                all.push_back(one);
            }
    }
    return all;
}

/// fvcore's sums by operator. An operation with a name of PyTorch counts under a name of TorchScript.
std::string by_operator(const llmcost::flop_counter& c, const llmcost::observed_pass& observed, std::string_view name,
                        llmcost::tensor_kind tensor_mode) {
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
    for (const llmcost::observed_call& call : observed.calls)
        for (const auto& [script, python] : names)
            if (script == name && python == call.name)
                if (const llmcost::counter_rule* rule = llmcost::find_rule(c, call, tensor_mode))
                    sum += llmcost::call_cost_of(rule->first_cost, call.amounts);
    return std::string(llmcost::count_text{sum}.view());
}

/// What differs between a record and the library; empty: nothing.
std::string difference(const recorded_counter& one, const llmcost::observed_model& subject) {
    const llmcost::flop_counter* const c = llmcost::find_counter(one.tool);
    REQUIRE(c != nullptr);
    const llmcost::counter_report read = llmcost::run_counter(*c, subject, one.tensor_mode);
    std::string out;
    for (const auto& [name, number] : one.figures) {
        if (name == "input_bytes") continue;  // of Python's objects: `sys.getsizeof` of a storage
        std::string ours;
        for (const llmcost::convention_figure& f : read.figures)
            if (f.name == name) ours = llmcost::count_text{f.value}.view();
        if (ours.empty()) ours = by_operator(*c, subject.pass, name, one.tensor_mode);
        if (ours != number) out += " " + name + " " + ours + " instead of " + number;
    }
    llmcost::count mine, theirs;
    for (const llmcost::difference_line& line : read.lines) {
        mine += line.ours;
        theirs += line.theirs;
    }
    if (!(mine == read.ours && theirs == read.theirs())) out += " lines do not add up";
    return out;
}

std::string format_label(const recorded_counter& one) {
    return one.model_type + (one.tensor_mode == llmcost::tensor_kind::meta ? " meta" : " real") +
           (one.sdpa ? " sdpa " : " eager ") + one.tool;
}

}  // namespace

TEST_CASE("other counters are reprinted to the digit, but for those that are told") {
    struct observation {
        llmcost::observed_pass pass{};
        std::string problem{};
    };
    std::map<std::string, llmcost::model> models;
    std::map<std::string, observation> passes;
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
        const auto [entry, fresh] = passes.try_emplace(key);
        observation& listened = entry->second;
        try {
            if (fresh) listened.pass = llmcost::observe(m, one.load);
        } catch (const std::exception& e) {
            listened.problem = e.what();
        }
        const std::string_view reason =
            llmcost::unverified_reason({one.tool, one.model_type, one.sdpa, one.tensor_mode});
        std::string found = listened.problem;
        if (one.failed)
            found = "the tool fails";
        else if (found.empty())
            found = difference(one, llmcost::observed_model{m, one.load, {}, listened.pass});
        if (found.empty())
            ++exact;
        else if (!one.failed || !reason.empty())
            open.insert(format_label(one));
        if (!found.empty() && !one.failed) CHECK_MESSAGE(!reason.empty(), format_label(one) << ":" << found);
        if (found.empty()) CHECK_MESSAGE(reason.empty(), format_label(one) << " is told not to be held, and is");
    }
    CHECK(exact > 4000);
    std::vector<std::string> verified;
    for (const std::string_view type : llmcost::verified_counter_types) verified.emplace_back(type);
    CHECK(verified == std::vector<std::string>(types.begin(), types.end()));
    for (const llmcost::unverified_figure& row : llmcost::unverified_figures) {
        std::istringstream listed{std::string(row.model_types)};
        for (std::string type; listed >> type;) {
            const bool has_match = std::any_of(open.begin(), open.end(), [&](const std::string& label) {
                return label.starts_with(type + " ") &&
                       (row.tool.empty() || label.ends_with(" " + std::string(row.tool)));
            });
            CHECK_MESSAGE(has_match, type << " " << row.tool << " is open and nothing recorded differs");
        }
    }
}

TEST_CASE("FlopCounterMode's rules say what the price table of operations says") {
    for (const golden_model& g : golden_models()) {
        INFO(g.golden.name);
        llmcost::workload load{.batch = 2, .sequence = 5, .weights = llmcost::dtype::float32};
        try {
            const llmcost::observed_pass observed = llmcost::observe(g.built, load);
            const llmcost::flop_counter* const c = llmcost::find_counter("flop_counter");
            llmcost::count missing_flops;  // of operations that its table lacks, whatever they multiply
            for (const llmcost::observed_call& call : observed.calls)
                if (llmcost::find_rule(*c, call, llmcost::tensor_kind::real) == nullptr)
                    missing_flops += call.torch_flops;
            CHECK(
                llmcost::figure_value(*c, llmcost::figure_source::first_prices, observed, llmcost::tensor_kind::real) +
                    missing_flops ==
                observed.total.torch_flops);
            llmcost::count flops;
            for (const llmcost::observed_call& call : observed.calls) flops += call.flops;
            CHECK(flops == observed.total.flops());
            CHECK(observed.total == llmcost::count_model(g.built, load));
        } catch (const llmcost::workload_error&) {
        }
    }
}
