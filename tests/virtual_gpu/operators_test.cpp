// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// What a calibration measures, by the program's own code: each kernel at the smallest shapes of the sweep.
#include "../../bench/gpu.hpp"

#include <llmcost/cuda/sweep.hpp>
#include <llmcost/devices/all.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

using namespace llmcost;
using namespace llmcost::cuda;

namespace {

std::string group_name(const sweep_point& p) {
    return std::string(p.shape.type->name) + ' ' + std::string(p.kernel) + ' ' + std::string(p.shape.operand->name) +
           ' ' + std::string(p.shape.variant);
}

/// Of each family, kernel, operand and word the point that moves and computes least.
std::vector<sweep_point> smallest(const std::vector<sweep_point>& sweep) {
    std::map<std::string, sweep_point> minimum;
    const auto size_of = [](const sweep_point& p) { return p.shape.work().bytes + p.shape.work().flops; };
    for (const sweep_point& p : sweep) {
        const auto [entry, fresh] = minimum.try_emplace(group_name(p), p);
        if (!fresh && size_of(p) < size_of(entry->second)) entry->second = p;
    }
    std::vector<sweep_point> all;
    for (const auto& [key, p] : minimum) all.push_back(p);
    return all;
}

std::vector<sweep_point> sweep_of(std::int64_t gpus) {
    return calibration_sweep({find_device("h200"),
                              {find_operand_type("bfloat16"), find_operand_type("float16"), find_operand_type("fp8")},
                              false,
                              gpus});
}

}  // namespace

TEST_CASE("every kernel of a sweep runs") {
    virtual_gpu::at_hand().gpus = 2;
    bench::operator_runner run;
    for (const sweep_point& p : smallest(sweep_of(2))) {
        CAPTURE(group_name(p));
        const bench::outcome o = run(p.shape, p.kernel, copies_of(p.shape, 1e-5));
        CHECK(o.refused == "");
        CHECK(o.seconds > 0);
        CHECK(o.kernel == p.kernel);
    }
    virtual_gpu::at_hand().gpus = 1;
    CHECK(virtual_gpu::take_complaints().empty());
}

TEST_CASE("scores of any number of keys become shares") {
    bench::operator_runner run;
    for (const string_ref operand : {string_ref("bfloat16"), string_ref("float32")})
        for (const std::int64_t keys : {1, 1001, 4097}) {
            const operator_shape shape{find_operator_type("softmax"), {32, keys}, find_operand_type(operand)};
            const bench::outcome o = run(shape, "softmax", 4);
            CHECK(o.refused == "");
            CHECK(o.seconds > 0);
        }
    CHECK(virtual_gpu::take_complaints().empty());
}

TEST_CASE("a GPU of compute capability 7.5 refuses what it has no units for, and runs everything else") {
    virtual_gpu::at_hand().major = 7;
    virtual_gpu::at_hand().minor = 5;
    {
        bench::operator_runner run;
        for (const sweep_point& p : smallest(sweep_of(1))) {
            CAPTURE(group_name(p));
            const bool halves = p.shape.operand->name == "bfloat16" || p.shape.operand->name == "fp8";
            const string_ref family = p.shape.type->name;
            const bool units = family == "gemm" || family == "batched_gemm" || family == "moe" ||
                               std::string(family).ends_with("attention");
            const bench::outcome o = run(p.shape, p.kernel, 4);
            CHECK(o.refused.empty() == !(halves && units));
        }
    }
    virtual_gpu::at_hand() = virtual_gpu::board{};
    CHECK(virtual_gpu::take_complaints().empty());
}
