// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "../golden/golden_file.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

using namespace llmcost::testing;

namespace {

constexpr const char* head = "llmcost-golden 1\nname tiny\nmodel_type llama\narchitecture Tiny\ndevice meta\n";

golden_file read_text(const std::string& text) {
    std::istringstream in(text);
    return read_golden(in, "tiny.golden");
}

/// The message of the error that reading throws; empty where it throws none.
std::string complaint_of_golden(const std::string& text) {
    try {
        (void)read_text(text);
    } catch (const llmcost::error& e) {
        CHECK(e.code() == llmcost::errc::bad_value);
        return e.what();
    }
    return {};
}

std::string parent_of(const std::string& path) {
    const auto dot = path.rfind('.');
    return dot == std::string::npos ? std::string() : path.substr(0, dot);
}

void check_figures(const golden_run& run) {
    std::map<std::string, golden_figures> children;
    for (const auto& [path, counts] : *run.modules) {
        golden_figures& sum = children[parent_of(path)];
        for (std::size_t i = 0; i < sum.values.size(); ++i) sum.values[i] += counts.values[i];
    }
    for (const auto& entry : children) {
        const auto& parent = entry.first;
        const golden_figures& sum = entry.second;
        CAPTURE(parent);
        REQUIRE((parent.empty() || run.modules->contains(parent)));
        const golden_figures& parent_figures = parent.empty() ? run.total : run.modules->at(parent);
        for (std::size_t i = 0; i < sum.values.size(); ++i) {
            CAPTURE(figure_names[i]);
            CHECK(sum.values[i] <= parent_figures.values[i]);
        }
    }
}

void check_run(const golden_file& file, const golden_run& run) {
    CHECK((run.kind == "prefill" || run.kind == "extend" || run.kind == "decode"));
    CHECK((run.kind == "prefill") == (run.past == 0));
    CHECK((run.kind == "decode") == (run.past > 0 && run.sequence == 1));
    CHECK(run.batch > 0);
    CHECK(run.sequence > 0);
    // torch's counter prices matrix products and convolutions, two per multiplication, and nothing else.
    CHECK(run.torch_flops % 2 == 0);
    CHECK(run.torch_flops / 2 <= run.total[figure::mult]);
    if (run.cache) {
        std::uint64_t cached_elements = 0;
        for (const auto& layer : run.cache->layers)
            for (const llmcost::testing::tensor_shape& shape : layer) cached_elements += elements(shape);
        CHECK(cached_elements == run.cache->total);
    }
    if (!run.modules) return;
    for (const auto& entry : *run.modules) {
        CAPTURE(entry.first);
        CHECK(file.classes.contains(entry.first));
    }
    check_figures(run);
}

}  // namespace

TEST_CASE("every golden keeps what holds by definition") {
    const auto paths = golden_paths(std::filesystem::path(LLMCOST_TEST_DIR) / "golden");
    REQUIRE(!paths.empty());
    for (const auto& path : paths) {
        CAPTURE(path);
        const golden_file file = read_golden(path);
        CHECK(std::filesystem::is_regular_file(file.config_path));
        CHECK(!file.model_type.empty());
        CHECK(!file.architecture.empty());
        CHECK((!file.runs.empty() || !file.errors.empty()));

        std::uint64_t sum = 0;
        for (const auto& entry : file.tensors) {
            const std::string& name = entry.first;
            CAPTURE(name);
            sum += elements(entry.second);
            const std::string module = parent_of(name);
            CHECK((module.empty() || file.classes.contains(module)));
            CHECK(!file.tied.contains(name));
        }
        CHECK(sum == file.parameters);
        for (const auto& entry : file.classes) {
            CAPTURE(entry.first);
            const std::string parent = parent_of(entry.first);
            CHECK((parent.empty() || file.classes.contains(parent)));
        }
        for (const golden_run& run : file.runs) {
            CAPTURE(run.kind);
            CAPTURE(run.batch);
            CAPTURE(run.sequence);
            CAPTURE(run.past);
            check_run(file, run);
        }
    }
}

TEST_CASE("index lists expand to their product") {
    const golden_file file = read_text(std::string(head) +
                                       "parameters 21\ntensors 7\n- a.[0,2-3].b.[0-1].weight 3\n- c 1x1x3\n"
                                       "runs 0\nend\n");
    const std::vector<std::string> expected{"a.0.b.0.weight",
                                            "a.0.b.1.weight",
                                            "a.2.b.0.weight",
                                            "a.2.b.1.weight",
                                            "a.3.b.0.weight",
                                            "a.3.b.1.weight",
                                            "c"};
    std::vector<std::string> names;
    for (const auto& [name, shape] : file.tensors) names.push_back(name);
    CHECK(names == expected);
    CHECK(file.tensors.at("c") == llmcost::testing::tensor_shape{1, 1, 3});
}

TEST_CASE("runs, training and errors are read field by field") {
    const golden_file file = read_text(
        std::string(head) +
        "# a comment\n\nparameters 0\ntied 1\n- head.weight\nruns 1\nrun decode 2 1 30 43\n"
        "total 1 2 3 4 5 6 7 8 9 10 11 12 13 14\ntorch_flops 4\nunknown upsample 3\nunknown col2im 1\n"
        "cache 28 3\n- [0,2] 1x2 3x4\n- 1\nmodules 1\n- a 0 0 0 0 0 0 0 0 0 0 0 0 5 18446744073709551615\n"
        "training 3 67 80 10 20 30 1 2 3 4 5 6 7 8 9 10 11 12\n"
        "training_bfloat16 3 67 80 10 20 15 0 0 0 0 0 0 0 0 0 0 0 0\nerror extend two\\nlines and a \\\\\nend\n");
    CHECK(file.tied == std::set<std::string>{"head.weight"});
    REQUIRE(file.runs.size() == 1);
    const golden_run& run = file.runs[0];
    CHECK(run.kind == "decode");
    CHECK(run.batch == 2);
    CHECK(run.sequence == 1);
    CHECK(run.past == 30);
    CHECK(run.encoder_sequence == 43);
    CHECK(run.total[figure::add] == 1);
    CHECK(run.total[figure::written] == 14);
    CHECK(run.torch_flops == 4);
    CHECK(run.unknown == std::map<std::string, std::uint64_t>{{"col2im", 1}, {"upsample", 3}});
    REQUIRE(run.cache);
    CHECK(run.cache->total == 28);
    CHECK(run.cache->layers ==
          std::vector<std::vector<llmcost::testing::tensor_shape>>{{{1, 2}, {3, 4}}, {}, {{1, 2}, {3, 4}}});
    REQUIRE(run.modules);
    CHECK(run.modules->at("a")[figure::out] == 5);
    CHECK(run.modules->at("a")[figure::written] == UINT64_MAX);
    REQUIRE(file.trainings.size() == 2);
    CHECK(file.trainings[0].encoder_sequence == 80);
    CHECK(file.trainings[0].forward_torch_flops == 10);
    CHECK(file.trainings[0].backward_torch_flops == 20);
    CHECK(file.trainings[0].saved_bytes == 30);
    CHECK(file.trainings[0].backward[0] == 1);
    CHECK(file.trainings[0].backward[11] == 12);
    CHECK(file.trainings[0].type == llmcost::dtype::float32);
    CHECK(file.trainings[1].saved_bytes == 15);
    CHECK(file.trainings[1].type == llmcost::dtype::bfloat16);
    CHECK(file.errors == std::map<std::string, std::string>{{"extend", "two\nlines and a \\"}});
}

TEST_CASE("a malformed golden names its line") {
    const std::string ok(head);
    CHECK(complaint_of_golden(ok + "runs 0\nend\n") == "");
    CHECK(complaint_of_golden("llmcost-golden 2\n") ==
          "tiny.golden:1: expected llmcost-golden 1, found \"llmcost-golden 2\"");
    CHECK(complaint_of_golden("").starts_with("tiny.golden:0: "));
    CHECK(complaint_of_golden(ok + "runs 0\n").starts_with("tiny.golden:6: "));
    CHECK(complaint_of_golden(ok + "runs 1\nend\n").starts_with("tiny.golden:7: "));
    CHECK(complaint_of_golden(ok + "runs 0\nend\nend\n").starts_with("tiny.golden:8: "));
    CHECK(complaint_of_golden(ok + "colour red\nend\n").starts_with("tiny.golden:6: "));
    CHECK(complaint_of_golden(ok + "parameters -1\n").starts_with("tiny.golden:6: "));
    CHECK(complaint_of_golden(ok + "parameters 18446744073709551616\n").starts_with("tiny.golden:6: "));
    CHECK(complaint_of_golden(ok + "figures ADD MULT\n").starts_with("tiny.golden:6: "));
    CHECK(complaint_of_golden(ok + "tensors 2\n- a 3\nruns 0\n").starts_with("tiny.golden:8: "));
    CHECK(complaint_of_golden(ok + "tensors 1\n- a.[0-1] 3\n").starts_with("tiny.golden:7: "));
    CHECK(complaint_of_golden(ok + "tensors 2\n- a 3\n- a 3\n").starts_with("tiny.golden:8: "));
    CHECK(complaint_of_golden(ok + "tensors 2\n- a.[1-0] 3\n").starts_with("tiny.golden:7: "));
    CHECK(complaint_of_golden(ok + "tensors 2\n- a.[0-1 3\n").starts_with("tiny.golden:7: "));
    CHECK(complaint_of_golden(ok + "runs 1\ntorch_flops 4\n").starts_with("tiny.golden:7: "));
    CHECK(complaint_of_golden(ok + "runs 1\nrun decode 2 1 30\n").starts_with("tiny.golden:7: "));
    CHECK(complaint_of_golden(ok + "runs 1\nrun decode 2 1 30 0\ntotal 1 2 3\n").starts_with("tiny.golden:8: "));
    CHECK(complaint_of_golden(ok + "runs 1\nrun decode 2 1 30 0\ncache 2 1\n- 1 2\n").starts_with("tiny.golden:9: "));
}

TEST_CASE("a golden that is not there is an io error") {
    try {
        (void)read_golden(std::filesystem::path(LLMCOST_TEST_DIR) / "golden" / "nobody__nothing.golden");
        FAIL("read a file that does not exist");
    } catch (const llmcost::error& e) {
        CHECK(e.code() == llmcost::errc::io);
    }
}
