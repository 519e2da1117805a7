// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/devices/all.hpp>
#include <llmcost/devices/device_file.hpp>
#include <llmcost/json.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>

using namespace llmcost;

namespace {

std::string complaint_of_device(std::string_view text) {
    try {
        const config_document file = parse_config(text, "mine.json");
        (void)file.read_with([](config_view root) { return parse_device(root); });
        return "";
    } catch (const error& e) {
        return e.what();
    }
}

}  // namespace

static_assert(find_device("h200_sxm") == find_device("H200-SXM"));
static_assert(find_device("H200")->memory_bandwidth == 4800);
static_assert(find_device("a100_sxm")->title == "A100 SXM 80GB");
// nvidia-smi reports 81,559 MiB; PyTorch's out-of-memory message: "total capacity of 79.11 GiB"
static_assert(find_device("h100")->memory_bytes() == 79.11 * 1024 * 1024 * 1024);
static_assert(find_device("t4")->memory_bytes() < 16e9 && find_device("rtx_4090")->memory_bytes() > 24e9);
static_assert(find_device("gaudi3")->memory_bytes() == 128e9);  // no measured value
static_assert(find_device("h2000") == nullptr && find_device("") == nullptr);
static_assert(find_device("h100_sxm")->peak(dtype::bfloat16) == 989.4e12);
static_assert(find_device("h100_sxm")->peak(dtype::float8_e4m3fn) == 1979e12);
static_assert(find_device("a100_sxm")->peak(dtype::float8_e4m3fn) == 0);
static_assert(find_device("h100_sxm")->peak(dtype::float64) == 67e12);

// names of nvidia-smi, rocm-smi and common use
static_assert(find_device("NVIDIA H100 80GB HBM3") == find_device("h100_sxm"));
static_assert(find_device("NVIDIA H100 PCIe")->memory_bandwidth == 2000);
static_assert(find_device("NVIDIA A100-SXM4-80GB") == find_device("a100_sxm_80gb"));
static_assert(find_device("NVIDIA A100 80GB PCIe") == find_device("a100_pcie_80gb"));
static_assert(find_device("A100-80GB") == find_device("a100_sxm_80gb"));
static_assert(find_device("A100-PCIE-40GB") == find_device("a100_pcie_40gb"));
static_assert(find_device("Tesla T4") == find_device("t4"));
static_assert(find_device("Tesla V100-SXM2-32GB") == find_device("v100_sxm2"));
static_assert(find_device("Tesla V100-SXM2-16GB") == nullptr);
static_assert(find_device("NVIDIA GeForce RTX 4090") == find_device("rtx_4090"));
static_assert(find_device("4090") == find_device("rtx_4090") && find_device("RTX4090") == find_device("rtx_4090"));
static_assert(find_device("NVIDIA RTX 6000 Ada Generation")->num_compute_units == 142);
static_assert(find_device("A6000")->memory_bandwidth == 768);
static_assert(find_device("NVIDIA B300 SXM6 AC") == find_device("b300_sxm"));
static_assert(find_device("NVIDIA RTX PRO 6000 Blackwell Server Edition") == find_device("rtx_pro_6000"));
static_assert(find_device("AMD Instinct MI300X") == find_device("mi300x"));
// systems of ai-dynamo/aiconfigurator
static_assert(find_device("gb200_sxm") == find_device("gb200") && find_device("gb300_sxm") == find_device("gb300"));
static_assert(find_device("h20_sxm") == find_device("h20"));
static_assert(find_device("rtx_pro_6000_server") == find_device("rtx_pro_6000_blackwell_server"));
static_assert(find_device("rtxpro6000_blackwell_server") == find_device("rtx_pro_6000_blackwell_server"));
// a package has two devices of 64 GB (ROCm documentation, gpu-arch-specs)
static_assert(find_device("AMD Instinct MI250X") == find_device("mi250x"));
static_assert(2 * find_device("mi250x_gcd")->memory_gigabytes == find_device("mi250x")->memory_gigabytes);
static_assert(2 * find_device("mi250x_gcd")->bf16 == find_device("mi250x")->bf16);
static_assert(find_device("mi250x_gcd")->num_compute_units == 110);
static_assert(find_device("DGX Spark") == find_device("NVIDIA GB10"));
static_assert(find_device("Strix Halo")->memory_bandwidth == 256);
static_assert(find_device("M3 Max") == find_device("apple_m3_max"));
static_assert(find_device("M3 Max 128GB")->memory_bytes() == 96.0 * 1024 * 1024 * 1024);  // 3/4 of 128 GiB
static_assert(find_device("4") == nullptr && find_device("NVIDIA") == nullptr && find_device("RTX") == nullptr);

TEST_CASE("each memory size and each other name is that of a device") {
    for (const device_memory_size& size : detail::device_memory_sizes) {
        INFO(std::string_view(size.title));
        const device* const base_device = find_device(size.device_name);
        REQUIRE(base_device != nullptr);
        CHECK(base_device->memory_gigabytes == 0);
        CHECK(find_device(size.names[0])->title == size.title);
        CHECK(find_device(size.names[0])->memory_bandwidth == base_device->memory_bandwidth);
    }
    for (const detail::device_alias& a : detail::device_aliases) {
        INFO(std::string_view(string_ref(a.alias)));
        REQUIRE(find_device(a.alias) != nullptr);
        CHECK(find_device(a.alias) == find_device(a.name));
    }
}

TEST_CASE("no two devices answer to one name") {
    for (const device& d : devices)
        for (const string_ref name : d.names)
            if (!name.empty())
                CHECK(std::count_if(std::begin(devices), std::end(devices),
                                    [&](const device& candidate) { return has_name(candidate, name); }) == 1);
}

TEST_CASE("the table of devices is what their files say") {
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(LLMCOST_TEST_DIR "/../configs/devices")) {
        const std::string name = entry.path().stem().string();
        INFO(name);
        const config_document file = read_config_file(entry.path().string());
        const device read = file.read_with([&](config_view root) { return parse_device(root, name); });
        const device* row = find_device(name);
        REQUIRE(row != nullptr);
        CHECK(row->names[0] == name);
        CHECK(*row == read);
        CHECK(file.root().array("sources").size() > 0);
        ++files;
    }
    CHECK(files == std::size(devices));
}

TEST_CASE("a device of one's own") {
    const config_document file = parse_config(
        R"({"name": "Desk 1", "aliases": ["desk"], "peak_tflops": {"bf16": 12.5}, "memory": {"bandwidth_gbps": 100},
            "price_per_hour": 0.25})",
        "desk.json");
    const device d = file.read_with([](config_view root) { return parse_device(root); });
    CHECK(has_name(d, "DESK-1"));
    CHECK(has_name(d, "desk"));
    CHECK_FALSE(has_name(d, "desk 2"));
    CHECK(d.peak(dtype::bfloat16) == 12.5e12);
    CHECK(d.peak(dtype::float16) == 0);
    CHECK(d.memory_gigabytes == 0);
    CHECK(d.price_per_hour == 0.25);
}

TEST_CASE("a bad file of a device names the place") {
    const std::string memory = R"("memory": {"bandwidth_gbps": 100})";
    CHECK(complaint_of_device(R"({"name": "x", )" + memory + "}") == "");
    CHECK(complaint_of_device("{" + memory + "}") == "mine.json: /name: missing; expected a string");
    for (const char* name : {"", ".", "..", "a/b", "x\\u0000", "x\\ny"})
        CHECK(complaint_of_device(R"({"name": ")" + std::string(name) + "\", " + memory + "}")
                  .starts_with("mine.json: /name: expected a name"));
    CHECK(complaint_of_device(R"({"name": "x"})") ==
          "mine.json: /memory: missing; expected the memory bandwidth in GB/s");
    CHECK(complaint_of_device(R"({"name": "x", "memory": {"gigabytes": 8}})") ==
          "mine.json: /memory/bandwidth_gbps: missing; expected the memory bandwidth in GB/s");
    CHECK(complaint_of_device(R"({"name": "x", "memory": {"bandwidth_gbps": -1}})") ==
          "mine.json: /memory/bandwidth_gbps: expected a positive number from 1e-6 to 1e9, found -1");
    CHECK(complaint_of_device(R"({"name": "x", "memory": {"bandwidth_gbps": 0}})") ==
          "mine.json: /memory/bandwidth_gbps: expected a positive number from 1e-6 to 1e9, found 0");
    CHECK(complaint_of_device(R"({"name": "x", "memory": {"bandwidth_gbps": 1e300}})")
              .starts_with("mine.json: /memory/bandwidth_gbps: expected a positive number from 1e-6 to 1e9"));
    CHECK(complaint_of_device(R"({"name": "x", "memory": {"bandwidth": 100}})") ==
          "mine.json: /memory/bandwidth: expected gigabytes, visible_gibibytes, bandwidth_gbps, cache_megabytes or "
          "type: 100");
    CHECK(complaint_of_device(R"({"name": "x", "peak_tflops": {"bfloat16": 1}, )" + memory + "}") ==
          "mine.json: /peak_tflops/bfloat16: expected fp64, fp64_tensor, fp32, tf32, bf16, fp16, fp8, int8 or fp4: 1");
    CHECK(complaint_of_device(R"({"name": "x", "watt": 1, )" + memory + "}")
              .starts_with("mine.json: /watt: expected name, aliases"));
    CHECK(complaint_of_device(R"({"name": "x", "peak_tflops": {"bf16": "fast"}, )" + memory + "}") ==
          R"(mine.json: /peak_tflops/bf16: expected a finite number, found "fast")");
    CHECK(complaint_of_device(R"({"name": "x", "aliases": ["a", "b", "c"], )" + memory + "}") ==
          "mine.json: /aliases: expected at most two aliases, found an array of 3");
}
