// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/cuda/measured_table.hpp>
#include <llmcost/cuda/sampling.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>

using namespace llmcost;
using namespace llmcost::cuda;

namespace {

/// A timer without a GPU: a true time with configurable noise, outliers and clocks.
struct simulated_timer {
    double truth = 10e-6;
    double noise = 0.01;
    int every = 0;  ///< one in so many samples takes twice as long; 0: none
    double slow_clock = 0;
    int calls = 0;

    std::pair<double, double> operator()() {
        ++calls;
        const double wobble = std::sin(calls * 12.9898) * 43758.5453;
        double t = truth * (1 + noise * 2 * (wobble - std::floor(wobble) - 0.5));
        double clock = 1980;
        if (every != 0 && calls % every == 0) {
            t *= 2;
            clock = slow_clock != 0 ? slow_clock : clock;
        }
        return {t, clock};
    }
};

std::string folder() {
    const std::filesystem::path path = std::filesystem::temp_directory_path() / "llmcost_calibrate_test";
    std::filesystem::remove_all(path);
    std::filesystem::create_directories(path);
    return path.string();
}
std::string text_of(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("a quiet timer needs the least samples, a noisy one more, none for ever") {
    const sampler quiet = sampled(simulated_timer{.noise = 0.0001});
    CHECK(quiet.counted() == 5);
    CHECK(quiet.median() == doctest::Approx(10e-6).epsilon(0.001));
    const sampler noisy = sampled(simulated_timer{.noise = 0.05});
    CHECK(noisy.counted() > 20);
    CHECK(noisy.spread() <= 0.005);
    CHECK(noisy.median() == doctest::Approx(10e-6).epsilon(0.02));
    const sampler wild = sampled(simulated_timer{.noise = 0.9});
    CHECK(wild.counted() <= 400);
    const sampler slow = sampled(simulated_timer{.truth = 0.02, .noise = 0.5});
    CHECK(slow.counted() == 5);  // the time is spent
}

TEST_CASE("outliers do not move the median, and throttled samples do not count") {
    CHECK(sampled(simulated_timer{.every = 7}).median() == doctest::Approx(10e-6).epsilon(0.01));
    const sampler throttled = sampled(simulated_timer{.every = 2, .slow_clock = 1000});
    CHECK(throttled.dropped() > 0);
    CHECK(throttled.median() == doctest::Approx(10e-6).epsilon(0.01));
    int calls = 0;
    const sampler fell = sampled([&] { return std::pair(0.02, calls++ == 0 ? 1980.0 : 1000.0); });
    CHECK(calls < 30);  // the clock fell for good: what counts must do
    CHECK(fell.median() == 0.02);
    sampler unknown{sampling_rule{}};
    for (int i = 0; i < 5; ++i) unknown.add(1e-6, 0);  // no clock could be read
    CHECK(unknown.counted() == 5);
    CHECK(unknown.done());
}

TEST_CASE("a table keeps what it has, and a later run goes on where one was cut") {
    const std::string path = folder() + "/h200_sxm__gemm__cuda__13.0__gemm_perf.csv";
    const operator_type& gemm = *find_operator_type("gemm");
    const operator_shape first{&gemm, {1, 4096, 4096}, find_operand_type("bfloat16")},
        second{&gemm, {2, 4096, 4096}, find_operand_type("bfloat16")};
    {
        measured_table t(path, gemm);
        CHECK_FALSE(t.has(first, "cublasLt"));
        t.add(first, "cublasLt", 12.5e-6);
        CHECK(t.has(first, "cublasLt"));
    }
    CHECK(text_of(path) == "kernel_source,gemm_dtype,m,n,k,latency_us\ncublasLt,bfloat16,1,4096,4096,12.5\n");
    std::ofstream(path, std::ios::app) << "cublasLt,bfloat16,2,40";  // killed while it wrote
    measured_table reopened(path, gemm);
    CHECK(reopened.size() == 1);
    CHECK(reopened.has(first, "cublasLt"));
    CHECK_FALSE(reopened.has(second, "cublasLt"));
    reopened.add(second, "cublasLt", 13e-6);
    CHECK(text_of(path).ends_with("12.5\ncublasLt,bfloat16,2,4096,4096,13\n"));
    CHECK_THROWS_AS(measured_table(path, *find_operator_type("norm")), std::runtime_error);
    const operator_shape third{&gemm, {4, 4096, 4096}, find_operand_type("bfloat16")};
    reopened.mark_failed(third, "cublasLt");  // it broke the device
    CHECK(reopened.has(third, "cublasLt"));
    measured_table later(path, gemm);
    CHECK(later.has(third, "cublasLt"));
    CHECK(later.size() == 2);
    CHECK_FALSE(later.has(third, "other"));
}
