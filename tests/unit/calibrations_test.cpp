// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/devices/all.hpp>
#include <llmcost/kernels/calibration_file.hpp>
#include <llmcost/latency/calibration.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <sstream>
#include <string>
#include <vector>

// What ships in configs/calibrations, and what was measured.
using namespace llmcost;

namespace {

const std::filesystem::path calibrations = LLMCOST_TEST_DIR "/../configs/calibrations";

/// Every shipped file: DEVICE/FAMILY/SOFTWARE-VERSION/OPERAND-VARIANT.json.
std::vector<std::filesystem::path> shipped() {
    std::vector<std::filesystem::path> all;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(calibrations))
        if (entry.is_regular_file()) all.push_back(entry.path());
    return all;
}
calibration_document read(const std::filesystem::path& path) {
    return calibration_document(read_config_file(path.string()));
}
operator_shape shape_of(const kernel_calibration& c, std::initializer_list<std::int64_t> sizes) {
    operator_shape shape;
    shape.type = find_operator_type(c.family);
    shape.operand = find_operand_type(c.operand);
    shape.variant = c.variant;
    std::copy(sizes.begin(), sizes.end(), shape.sizes);
    return shape;
}

}  // namespace

TEST_CASE("shipped calibrations: more never takes less time, and no time beats physics") {
    std::size_t kernels = 0;
    for (const std::filesystem::path& path : shipped()) {
        const calibration_document file = read(path);
        const device* d = find_device(file.device_name());
        REQUIRE(d != nullptr);
        const std::filesystem::path of_software = path.parent_path(), of_family = of_software.parent_path();
        CHECK(d->names[0] == of_family.parent_path().filename().string());
        for (const kernel_calibration& c : file.kernels()) {
            INFO(d->names[0] << ' ' << c.family << ' ' << c.software << ' ' << c.version << ' ' << c.kernel << ' '
                             << c.operand << ' ' << c.variant);
            ++kernels;
            CHECK(c.family == of_family.filename().string());
            CHECK(of_software.filename().string() == std::string(c.software) + '-' + std::string(c.version));
            const std::string variant = c.variant.empty() ? "" : '-' + std::string(c.variant);
            CHECK(path.filename().string() == std::string(find_operand_type(c.operand)->name) + variant + ".json");
            CHECK(c.error.num_rows > 2);
            CHECK(c.error.median < 0.15);
            const correction_table& r = c.correction;
            int num_decreases = 0, beaten = 0;
            for (std::size_t s = 0; s < r.num_layer_shapes; s += 13) {
                operator_shape shape = shape_of(c, {});
                const operator_type& f = *shape.type;
                std::copy(r.sites + s * r.columns, r.sites + (s + 1) * r.columns, shape.sizes + f.num_axes);
                const std::int64_t others[] = {1, 3, 40};
                for (std::size_t axis = 0; axis < f.num_axes; ++axis)
                    for (const std::int64_t other_size : others) {
                        if (f.num_axes == 1 && other_size > 1) continue;
                        if (f.num_axes == 2) shape.sizes[1 - axis] = other_size;
                        double previous_seconds = 0;
                        for (std::int64_t n = 1; n < 200000; n += 1 + n / 5) {
                            shape.sizes[axis] = n;
                            const latency_estimate e = estimate(*d, shape, &c);
                            if (e.seconds < previous_seconds * (1 - 1e-9)) ++num_decreases;
                            if (e.seconds < roofline_seconds(*d, detail::work_of(shape, &c)) || e.lower > e.seconds ||
                                e.upper < e.seconds)
                                ++beaten;
                            previous_seconds = e.seconds;
                        }
                    }
            }
            CHECK(num_decreases == 0);
            CHECK(beaten == 0);
        }
    }
    CHECK(kernels == 362);
}

// a deviation is fitted to one roofline; laid on another it falls where that one rises
TEST_CASE("what stands in for something else never takes less time for more") {
    for (const std::filesystem::path& path : shipped()) {
        const calibration_document file = read(path);
        const device& measured_device = *find_device(file.device_name());
        for (const kernel_calibration& c : file.kernels()) {
            const correction_table& r = c.correction;
            operator_shape shape = shape_of(c, {});
            const operator_type& f = *shape.type;
            if (r.num_layer_shapes == 0) continue;
            for (std::size_t i = 0; i < f.size_count; ++i) shape.sizes[i] = f.sizes[i].default_value;
            std::copy_n(r.sites + r.num_layer_shapes / 2 * r.columns, r.columns, shape.sizes + f.num_axes);
            const auto count_decreases = [&](const device& d, operator_shape shape) {
                int n = 0;
                for (std::size_t axis = 0; axis < f.num_axes; ++axis) {
                    double previous_seconds = 0;
                    if (f.num_axes == 2) shape.sizes[1 - axis] = 500;
                    for (shape.sizes[axis] = 1; shape.sizes[axis] < 100000;
                         shape.sizes[axis] += 1 + shape.sizes[axis] / 6) {
                        const double seconds = estimate(d, shape, &c).seconds;
                        n += seconds < previous_seconds * (1 - 1e-9) ? 1 : 0;
                        previous_seconds = seconds;
                    }
                }
                return n;
            };
            INFO(measured_device.names[0] << ' ' << c.family << ' ' << c.software << ' ' << c.operand << ' '
                                          << c.variant);
            for (const literal elsewhere : {"h100_sxm", "b200_sxm", "l40s"})
                if (const device* d = find_device(elsewhere); has_peak(*d, shape.work()))
                    CHECK(count_decreases(*d, shape) == 0);
            operator_shape neighbor_shape = shape;
            for (std::size_t i = 0; i < f.num_layer_shape_sizes; ++i) neighbor_shape.sizes[f.num_axes + i] += 1;
            CHECK(count_decreases(measured_device, neighbor_shape) == 0);
            if (f.variant_column.empty()) continue;
            operator_shape variant_shape = shape;
            for (const literal other_variant : {"bfloat16", "fp8", "balanced"}) {
                if ((f.name == "moe") != (string_ref(other_variant) == "balanced")) continue;
                variant_shape.variant = other_variant;
                CHECK(count_decreases(measured_device, variant_shape) == 0);
            }
        }
    }
}

// Llama-3.1-8B's attention in vLLM 0.19.0 (LLMServingSim): one unit processes all keys of a tile of queries. So 16
// tokens after 8,192 take as long as 128, and seven times as long as one decode that all units share.
TEST_CASE("prompts behind others take what their longest part takes") {
    struct row {
        const char* device;
        std::int64_t fresh, past;
        double microseconds;
    };
    const row rows[] = {{"rtx_4090", 16, 8192, 264.3},
                        {"rtx_4090", 128, 8192, 266.0},
                        {"rtx_4090", 512, 8192, 536.6},
                        {"rtx_4090", 1024, 4096, 620.2},
                        {"rtx_4090", 2048, 8192, 2400.9},
                        {"rtx_pro_6000_blackwell_server", 16, 16384, 368.6},
                        {"rtx_pro_6000_blackwell_server", 512, 8192, 358.9}};  // 256 tiles on 188 units: two waves
    for (const row& r : rows) {
        const calibration_document file =
            read(calibrations / r.device / "context_attention" / "vllm-0.19.0" / "bfloat16-bfloat16.json");
        const kernel_calibration& c = file.kernels()[0];
        const auto estimated = [&](const kernel_calibration* known) {
            return estimate(*find_device(r.device), shape_of(c, {1, r.fresh, 32, 8, 128, 0, r.past}), known);
        };
        INFO(r.device << ' ' << r.fresh << ' ' << r.past);
        CHECK(estimated(&c).seconds * 1e6 == doctest::Approx(r.microseconds).epsilon(0.1));
        CHECK(estimated(nullptr).lower * 1e6 < r.microseconds);
        CHECK(estimated(nullptr).upper * 1e6 > r.microseconds);
    }
}

TEST_CASE("tokens before a prompt: more of either never takes less time") {
    for (const std::filesystem::path& path : shipped()) {
        const calibration_document file = read(path);
        const device* d = find_device(file.device_name());
        for (const kernel_calibration& c : file.kernels()) {
            operator_shape shape = shape_of(c, {});
            const operator_type& f = *shape.type;
            const std::size_t past = f.additive_size_index();
            if (past == f.size_count || !f.sizes[past].is_past_length) continue;
            INFO(d->names[0] << ' ' << c.family << ' ' << c.software << ' ' << c.kernel << ' ' << c.operand << ' '
                             << c.variant);
            const correction_table& r = c.correction;
            int num_decreases = 0, jumps = 0;
            for (std::size_t s = 0; s < r.num_layer_shapes; s += 13) {
                std::copy(r.sites + s * r.columns, r.sites + (s + 1) * r.columns, shape.sizes + f.num_axes);
                for (const std::int64_t batch : {1, 8})
                    for (const std::size_t axis : {std::size_t{1}, past}) {
                        shape.sizes[0] = batch;
                        shape.sizes[1] = 64;
                        shape.sizes[past] = 0;
                        const double seconds_without_past = estimate(*d, shape, &c).seconds;
                        shape.sizes[past] = 1;  // 64 pairs next to 2,080
                        jumps += estimate(*d, shape, &c).seconds > 1.05 * seconds_without_past ? 1 : 0;
                        shape.sizes[past] = 16000;
                        double previous_seconds = 0;
                        for (std::int64_t n = 1; n < 100000; n += 1 + n / 5) {
                            shape.sizes[axis] = n;
                            const double seconds = estimate(*d, shape, &c).seconds;
                            num_decreases += seconds < previous_seconds * (1 - 1e-9) ? 1 : 0;
                            previous_seconds = seconds;
                        }
                    }
            }
            CHECK(num_decreases == 0);
            CHECK(jumps == 0);
        }
    }
}

// rows of the tables that the calibrations were fitted to
TEST_CASE("shipped calibrations give what was measured") {
    struct row {
        const char* device;
        const char* family;
        const char* software;
        const char* operand;
        const char* variant;
        std::initializer_list<std::int64_t> sizes;
        double microseconds;
    };
    const row rows[] = {
        {"h200_sxm", "gemm", "trtllm", "bfloat16", "", {1, 32, 32}, 2.544},
        {"h100_sxm", "gemm", "trtllm", "bfloat16", "", {1, 32, 32}, 2.5813},
        {"a100_sxm_80gb", "gemm", "sglang", "bfloat16", "", {1, 32, 64}, 2.6604},
        {"b200_sxm", "gemm", "vllm", "bfloat16", "", {1, 32, 32}, 1.7078},
        {"l40s", "gemm", "trtllm", "bfloat16", "", {1, 32, 32}, 1.9744},
        {"h200_sxm", "gemm", "trtllm", "fp8_block", "", {32768, 51200, 16384}, 52008},
        {"h200_sxm", "context_attention", "trtllm", "bfloat16", "fp8", {1, 1, 1, 1, 64, 0}, 15.744},
        {"h200_sxm", "generation_attention", "vllm", "bfloat16", "bfloat16", {1, 1, 1, 1, 64, 128}, 10.016},
        {"h200_sxm", "context_mla", "trtllm", "bfloat16", "bfloat16", {1, 32, 1}, 15.691},
        {"h200_sxm", "generation_mla", "trtllm", "bfloat16", "bfloat16", {1, 3, 1}, 13.221},
        {"h200_sxm", "moe", "trtllm", "w4a16_mxfp4", "power_law_1.01", {1, 2880, 2880, 4, 32, 1, 1}, 76.096},
        {"h100_sxm", "nccl", "nccl", "half", "all_gather", {1024, 2}, 5.14},
        {"h200_sxm", "custom_allreduce", "trtllm", "bfloat16", "", {256, 2}, 2.6189},
        {"h200_sxm", "computescale", "trtllm", "fp8", "", {1, 64}, 7.0869},
        {"h100_sxm", "scale_matrix", "trtllm", "fp8", "", {1, 32}, 1.3099},
        {"h100_sxm", "gemm", "torch", "float32", "", {1024, 2560, 2560}, 383.55},
        {"a100_pcie_80gb", "batched_gemm", "torch", "float32", "", {64, 1024, 64, 1024}, 525.75},
        {"a100_sxm_80gb", "norm", "sarathi", "float16", "", {32768, 4096}, 825.5},
        {"l4", "softmax", "torch", "float32", "", {32768, 5120}, 5700.9},
        {"a100_sxm_80gb", "elementwise", "sarathi", "float16", "silu_mul", {32768, 14336}, 2768.5},
        {"rtx_4090", "elementwise", "vllm", "bfloat16", "silu_mul", {2048, 14336}, 168.94},
        {"a100_sxm_80gb", "elementwise", "eager", "float16", "gelu", {1048576, 1}, 47.8},
        {"h200_sxm", "gemm", "cuda", "float32", "", {1024, 4096, 4096}, 706.991},
        {"h200_sxm", "primitive", "cuda", "float32", "exp", {8192, 1}, 182.73},
        {"h200_sxm", "launch", "cuda", "bfloat16", "graph", {100, 1}, 100 * 0.7152},
    };
    for (const row& r : rows) {
        double nearest = INFINITY;
        for (const std::filesystem::path& path : shipped()) {
            if (path.parent_path().parent_path() != calibrations / r.device / r.family) continue;
            const calibration_document file = read(path);
            for (const kernel_calibration& c : file.kernels()) {
                if (c.software != r.software || find_operand_type(c.operand) != find_operand_type(r.operand) ||
                    c.variant != r.variant)
                    continue;
                const double seconds = estimate(*find_device(r.device), shape_of(c, r.sizes), &c).seconds;
                nearest = std::fmin(nearest, std::fabs(seconds * 1e6 / r.microseconds - 1));
            }
        }
        CHECK_MESSAGE(nearest < 0.1, r.device << ' ' << r.family << ' ' << r.operand << ' ' << r.variant);
    }
}

// rows of NeuSight's table, float32 on four boards; Vidur's and vLLM's gathered rows lie on both sides of them
TEST_CASE("what nobody measured here lies in the interval of its operation, not of any map") {
    struct row {
        const char* device;
        const char* operation;
        std::int64_t m, k;
        double microseconds;
    };
    const row rows[] = {
        {"a100_pcie_80gb", "add", 196608, 2048, 2861.56},
        {"a100_pcie_80gb", "power_scalar", 32768, 3072, 548.966},
        {"a100_pcie_80gb", "tanh", 32768, 1280, 213.286},
        {"a100_pcie_40gb", "add", 32768, 1280, 384.499},
        {"a100_pcie_40gb", "power_scalar", 32768, 8192, 1596.15},
        {"a100_pcie_40gb", "tanh", 131072, 4096, 3106.53},
        {"l4", "add", 196608, 2048, 20388.7},
        {"l4", "power_scalar", 65536, 4096, 9141.11},
        {"l4", "tanh", 524288, 2048, 36540.3},
        {"t4", "add", 65536, 2048, 6579.58},
        {"t4", "power_scalar", 65536, 1280, 2782.79},
        {"t4", "tanh", 786432, 2048, 54450.2},
    };
    const auto estimated = [](const row& r, string_ref operation) {
        return estimate(*find_device(r.device),
                        {find_operator_type("elementwise"), {r.m, r.k}, find_operand_type("float32"), operation},
                        nullptr);
    };
    for (const row& r : rows) {
        const latency_estimate operation_estimate = estimated(r, r.operation), map_estimate = estimated(r, "map");
        CHECK(operation_estimate.lower <= r.microseconds * 1e-6);
        CHECK(operation_estimate.upper >= r.microseconds * 1e-6);
        CHECK(operation_estimate.upper / operation_estimate.seconds < 0.5 * map_estimate.upper / map_estimate.seconds);
    }
    CHECK(find_elementwise_operation("something_else").interval.high ==
          find_elementwise_operation("map").interval.high);
}

TEST_CASE("the page of errors says what the calibrations say") {
    std::ifstream in(LLMCOST_TEST_DIR "/../docs/accuracy.md");
    std::ostringstream text;
    text << in.rdbuf();
    const std::string page = text.str();
    for (const std::filesystem::path& path : shipped()) {
        const calibration_document file = read(path);
        for (const kernel_calibration& c : file.kernels()) {
            char error[64];
            std::snprintf(error, sizeof error, " | %lld | %.1f %% |", static_cast<long long>(c.error.num_rows),
                          100 * c.error.median);
            const auto line_with = [&](string_ref operand) {
                return "| " + std::string(c.family) + " | " + std::string(file.device_name()) + " | " +
                       std::string(c.software) + ' ' + std::string(c.version) + " | " + std::string(c.kernel) + " | " +
                       std::string(operand) + (c.variant.empty() ? "" : ' ' + std::string(c.variant)) + error;
            };
            bool is_listed = page.find(line_with(c.operand)) != std::string::npos;
            for (const string_ref alias : find_operand_type(c.operand)->aliases)
                is_listed = is_listed || page.find(line_with(alias)) != std::string::npos;
            CHECK_MESSAGE(is_listed, "docs/accuracy.md should have: " << line_with(c.operand));
        }
    }
}
