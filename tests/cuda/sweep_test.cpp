// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "../../bench/fit_tables.hpp"

#include <llmcost/cuda/routing.hpp>
#include <llmcost/cuda/sweep.hpp>
#include <llmcost/devices/all.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace llmcost;
using namespace llmcost::cuda;

namespace {

const device& h200() { return *find_device("h200"); }

std::vector<sweep_point> sweep_of(bool full, std::int64_t gpus = 1) {
    return calibration_sweep(
        {&h200(), {find_operand_type("bfloat16"), find_operand_type("float16"), find_operand_type("fp8")}, full, gpus});
}

/// What makes a point another one.
std::string name_of(const sweep_point& p) {
    const operator_shape& s = p.shape;
    std::string name = std::string(s.type->name) + ' ' + std::string(p.kernel) + ' ' + std::string(s.operand->name) +
                       ' ' + std::string(s.variant);
    for (std::size_t i = 0; i < s.type->size_count; ++i) name += ' ' + std::to_string(s.sizes[i]);
    return name;
}

/// Seconds of a point with a sampler that runs until its time limit. Memory is filled at 200 GB/s, cuDNN plans for half
/// a second, buffers of eight GPUs take a tenth. A sample includes the launch of its graph and the reading of the
/// clock.
double seconds_of_point(const sweep_point& p) {
    const double t = predicted_seconds(h200(), p.shape, nullptr, {});
    const double graph = p.shape.num_launches() > 1 ? t : t * copies_of(p.shape, t);
    const double samples = std::clamp(0.05 / graph, 5.0, 400.0);
    const string_ref family = p.shape.type->name;
    const double set_up = family == "nccl" ? 0.1 : p.kernel == "cudnn" ? 0.5 : 0.02;
    return set_up + std::max(p.shape.work().bytes, 150e6) / 200e9 + 0.002 +
           (4 + samples) * (graph + 150e-6 + (family == "launch" ? 0.3e-6 * static_cast<double>(p.shape.sizes[0]) : 0));
}

/// The time of a GPU whose kernels follow one roofline, within 2 %.
double simulated_seconds(const operator_shape& s) {
    constexpr roofline truth{5e-6, 0.6, 0.7, 2};
    const datasheet_seconds terms = roofline_terms(h200(), s.work());
    return std::max(truth(terms.compute, terms.memory), roofline_seconds(h200(), s.work()));
}
double noise(std::size_t i) {
    const double wobble = std::sin(static_cast<double>(i) * 12.9898) * 43758.5453;
    return 1 + 0.04 * (wobble - std::floor(wobble) - 0.5);
}

std::filesystem::path fresh_folder(const char* name) {
    const std::filesystem::path path = std::filesystem::temp_directory_path() / name;
    std::filesystem::remove_all(path);
    std::filesystem::create_directories(path);
    return path;
}

}  // namespace

TEST_CASE("a sweep has every point once, with sizes that its family has and work that can be priced") {
    for (const bool full : {false, true}) {
        std::set<std::string> encoded_features, families;
        for (const sweep_point& p : sweep_of(full, 8)) {
            const operator_shape& s = p.shape;
            REQUIRE(s.type != nullptr);
            REQUIRE(s.operand != nullptr);
            CAPTURE(name_of(p));
            CHECK(encoded_features.insert(name_of(p)).second);
            families.insert(std::string(s.type->name));
            for (std::size_t i = 0; i < s.type->size_count; ++i) {
                if (s.type->sizes[i].required) CHECK(s.sizes[i] > 0);
                CHECK(s.sizes[i] >= 0);
            }
            CHECK(has_peak(h200(), s.work()));
            CHECK(predicted_seconds(h200(), s, nullptr, {}) > 0);
            CHECK(predicted_seconds(h200(), s, nullptr, {}) <= 0.02);
            CHECK_FALSE(p.kernel.empty());
        }
        // latent attention, engines' own all-reduces and the dispatch of tokens are theirs alone
        for (const operator_type& f : operator_families)
            CHECK(families.contains(std::string(f.name)) ==
                  (f.name != "context_mla" && f.name != "generation_mla" && f.name != "custom_allreduce" &&
                   f.name != "linear_attention" && f.name != "network" && f.name != "deepep" &&
                   f.name != "network_all_to_all"));
    }
}

TEST_CASE("a sweep is the same every time, and a full one has more") {
    const auto names = [](const std::vector<sweep_point>& sweep) {
        std::vector<std::string> all;
        for (const sweep_point& p : sweep) all.push_back(name_of(p));
        return all;
    };
    CHECK(names(sweep_of(false)) == names(sweep_of(false)));
    CHECK(sweep_of(true).size() > 1.5 * static_cast<double>(sweep_of(false).size()));
}

TEST_CASE("a sweep fits into its time on an H200") {
    for (const bool full : {false, true}) {
        double spent = 0;
        for (const sweep_point& p : sweep_of(full)) spent += seconds_of_point(p);
        CHECK(spent <= sweep_seconds(full));
        CHECK(spent > 0.4 * sweep_seconds(full));
    }
}

TEST_CASE("a run that is out of time has some of everything, says what it left, and goes on with that") {
    const std::vector<sweep_point> sweep = sweep_of(false);
    std::set<std::string> done;
    double clock = 0;
    const auto run = [&](double budget) {
        return measure_sweep(
            sweep, budget, [&] { return clock; }, [&](const sweep_point& p) { return done.contains(name_of(p)); },
            [&](const sweep_point& p) -> std::string {
                clock += seconds_of_point(p);
                if (p.kernel == "cudnn" && p.shape.sizes[0] == 16) return "refused";
                done.insert(name_of(p));
                return {};
            });
    };
    const double tenth = sweep_seconds(false) / 10;
    const sweep_report first = run(tenth);
    CHECK(clock < tenth + 1);
    CHECK(first.left_out > 0);
    CHECK(first.known == 0);
    CHECK(first.measured == done.size());
    std::set<std::string> measured_groups, all_groups;
    const auto group_name = [](const sweep_point& p) {
        return std::string(p.shape.type->name) + ' ' + std::string(p.kernel) + ' ' +
               std::string(p.shape.operand->name) + ' ' + std::string(p.shape.variant);
    };
    for (const sweep_point& p : sweep) {
        all_groups.insert(group_name(p));
        if (done.contains(name_of(p))) measured_groups.insert(group_name(p));
    }
    CHECK(measured_groups == all_groups);
    clock = 0;
    const sweep_report second = run(1e9);
    CHECK(second.known == first.measured);
    CHECK(second.left_out == 0);
    CHECK(second.refused.at("refused") > 0);
    CHECK(second.known + second.measured + second.refused.at("refused") == sweep.size());
}

TEST_CASE("a part of a sweep has sizes from all over their range") {
    const std::vector<sweep_point> sweep = sweep_of(true);
    std::set<std::int64_t> rows, columns;
    for (std::size_t i = 0; i < sweep.size() / 8; ++i) {
        const operator_shape& s = sweep[i].shape;
        if (s.type->name == "gemm" && s.operand->name == "bfloat16") {
            rows.insert(s.sizes[0]);
            columns.insert(s.sizes[1]);
        }
    }
    CHECK(*rows.begin() <= 4);
    CHECK(*rows.rbegin() >= 4096);
    CHECK(rows.size() >= 8);
    CHECK(columns.size() >= 8);  // of 13
}

TEST_CASE("launches in a graph are as many as ten milliseconds hold, and of empty kernels those that are asked for") {
    const operator_shape gemm{find_operator_type("gemm"), {1, 1, 1}, find_operand_type("bfloat16")};
    CHECK(copies_of(gemm, 1e-6) == 20);
    CHECK(copies_of(gemm, 1e-3) == 10);
    CHECK(copies_of(gemm, 1) == 4);
    CHECK(copies_of({find_operator_type("launch"), {1000, 1}, find_operand_type("bfloat16"), "graph"}, 1e-6) == 1000);
}

TEST_CASE("rows are spread over experts evenly, or by a power law, none of them lost") {
    for (const std::int64_t tokens : {1, 7, 64, 4096})
        for (const string_ref spread : {string_ref("balanced"), string_ref("power_law_1.2")}) {
            const std::vector<std::int64_t> rows = expert_rows(tokens, 8, 128, spread);
            CHECK(std::accumulate(rows.begin(), rows.end(), std::int64_t{0}) == tokens * 8);
            CHECK(*std::max_element(rows.begin(), rows.end()) <= tokens);
            CHECK(*std::min_element(rows.begin(), rows.end()) >= 0);
        }
    const std::vector<std::int64_t> even = expert_rows(4096, 8, 128, "balanced"),
                                    uneven = expert_rows(4096, 8, 128, "power_law_1.2");
    CHECK(even.front() == even.back());
    CHECK(uneven.front() > 5 * uneven[64]);
    CHECK_THROWS_AS((void)expert_rows(1, 8, 4, "balanced"), std::runtime_error);
    CHECK_THROWS_AS((void)expert_rows(1, 2, 4, "odd"), std::runtime_error);
}

TEST_CASE("a simulated GPU's tables are read as they were written, and fits find its times again") {
    const std::filesystem::path folder = fresh_folder("llmcost_sweep_test");
    std::map<const operator_type*, measured_table> tables;
    std::map<const operator_type*, std::size_t> rows;
    std::size_t i = 0;
    for (const sweep_point& p : sweep_of(false, 8)) {
        const std::string family(p.shape.type->name);
        const auto entry = tables.try_emplace(
            p.shape.type, (folder / ("h200_sxm__" + family + "__cuda__13.0__" + family + "_perf.csv")).string(),
            *p.shape.type);
        entry.first->second.add(p.shape, p.kernel, simulated_seconds(p.shape) * noise(++i));
        CHECK(entry.first->second.has(p.shape, p.kernel));
        ++rows[p.shape.type];
    }
    std::vector<std::string> paths;
    for (const auto& of_family : tables) {
        const operator_type* family = of_family.first;
        const measured_table& written = of_family.second;
        CAPTURE(std::string(family->name));
        paths.push_back(written.path());
        std::size_t read = 0;
        for (const bench::table& t : bench::read_tables(written.path(), "a test", "own")) {
            CAPTURE(t.kernel);
            CAPTURE(t.label());
            read += t.rows.size();
            const bench::owned_calibration c = bench::fit(t, t.rows, h200());
            std::vector<double> errors;
            for (const bench::measurement& r : t.rows) {
                operator_shape s = r.shape;
                s.variant = t.variant;
                errors.push_back(std::fabs(std::log(estimate(h200(), s, &c.c).seconds / simulated_seconds(s))));
                CHECK(written.has(s, t.kernel));
            }
            CHECK(bench::quantile(errors, 0.5) < 0.02);
            CHECK(bench::quantile(errors, 1) < 0.06);
            const std::vector<double> log_ratios = bench::held_out_ratios(t, bench::left_out::shapes, h200());
            if (t.rows.size() > 20) CHECK(bench::median_error(log_ratios) < 0.04);
        }
        CHECK(read == rows.at(family));
    }
    bench::fit_tables(folder / "calibrations", folder / "accuracy.md", "a test", "own", paths);
    CHECK(std::filesystem::exists(folder / "calibrations/h200_sxm/launch/cuda-13.0/bfloat16-graph.json"));
    CHECK(std::filesystem::exists(folder / "calibrations/h200_sxm/elementwise/cuda-13.0/float32-silu_mul.json"));
    CHECK(std::filesystem::exists(folder / "calibrations/h200_sxm/nccl/cuda-13.0/bfloat16-alltoall.json"));
}

TEST_CASE("a kernel with a single row has no rows held out, and an interval at least a tenth wide") {
    const std::filesystem::path folder = fresh_folder("llmcost_single_row_test");
    const operator_type& family = *find_operator_type("launch");
    const std::string path = (folder / "h200_sxm__launch__cuda__13.0__launch_perf.csv").string();
    measured_table(path, family).add({&family, {10, 1}, find_operand_type("bfloat16"), "graph"}, "empty", 10 * 2e-6);
    const std::vector<bench::table> tables = bench::read_tables(path, "a test", "own");
    REQUIRE(tables.size() == 1);
    CHECK(bench::held_out_ratios(tables[0], bench::left_out::shapes, h200()).empty());
    const bench::owned_calibration c = bench::fit(tables[0], tables[0].rows, h200());
    const cross_validation_error e = bench::error_in_sample(tables[0], h200(), c.c);
    CHECK(e.num_rows == 0);
    CHECK(e.low <= -std::log2(1.1));
    CHECK(e.high >= std::log2(1.1));
    operator_shape extrapolated{&family, {500, 1}, find_operand_type("bfloat16"), "graph"};
    CHECK(estimate(h200(), extrapolated, &c.c).seconds / 500 == doctest::Approx(2e-6).epsilon(0.02));
    bench::fit_tables(folder / "calibrations", folder / "accuracy.md", "a test", "own", {path});
    CHECK(std::filesystem::exists(folder / "calibrations/h200_sxm/launch/cuda-13.0/bfloat16-graph.json"));
}

// An H200's tables (tests/fit/h200). A chain takes as long in one thread as in 32: no fit to operations per second
// predicts that.
TEST_CASE("chains and launches that were left out of a fit are predicted to a few percent") {
    for (const auto& [family, limit] : {std::pair("primitive", 0.02), std::pair("launch", 0.06)}) {
        const std::string name(family);
        const std::string path = LLMCOST_TEST_DIR "/fit/h200/h200_sxm__" + name + "__cuda__13.0__" + name + "_perf.csv";
        std::vector<double> left_out;
        for (const bench::table& t : bench::read_tables(path, "a test", "own")) {
            const std::vector<double> logs = bench::leave_one_out_ratios(t, h200());
            CHECK(logs.size() == t.rows.size());
            left_out.insert(left_out.end(), logs.begin(), logs.end());
        }
        CHECK(bench::median_error(left_out) < limit);
    }
}

TEST_CASE("rows of a table are chosen by operand type and variant, and its source is next to it") {
    const std::filesystem::path folder = fresh_folder("llmcost_selected_table_test");
    const std::string path = LLMCOST_TEST_DIR "/fit/h200/h200_sxm__elementwise__cuda__13.0__elementwise_perf.csv";
    bench::fit_tables(folder / "calibrations", folder / "accuracy.md", "someone", "own", {path + ":float32 add"});
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder / "calibrations"))
        if (entry.is_regular_file()) files.push_back(entry.path().filename().string());
    CHECK(files == std::vector<std::string>{"float32-add.json"});
    std::ifstream file(folder / "calibrations/h200_sxm/elementwise/cuda-13.0/float32-add.json");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    CHECK(text.find("llmcost-calibrate @H200") != std::string::npos);
    CHECK(text.find("someone") == std::string::npos);
    CHECK_THROWS_WITH(bench::fit_tables(folder / "none", folder / "none.md", "someone", "own", {path + ":float16"}),
                      (path + ":float16: no rows of float16").c_str());
}
