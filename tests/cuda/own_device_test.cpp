// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/cuda/own_device.hpp>
#include <llmcost/devices/device_file.hpp>
#include <llmcost/json.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace llmcost;
using namespace llmcost::cuda;

namespace {

config_document file_of(const gpu_properties& gpu) { return parse_config(device_file_of(gpu), "own.json"); }

}  // namespace

// Clocks and buses are those of NVIDIA's datasheets and whitepapers. The result is compared with the datasheet itself.
// Hopper's quotes vector units at 1980 MHz and tensor units at 1830, so that no single clock gives both.
TEST_CASE("what a driver says of a GPU comes to its datasheet") {
    const gpu_properties gpus[]{
        {"NVIDIA A100-SXM4-80GB", 8, 0, 108, 1410, 1593, 5120, 80e9, 40e6},
        {"NVIDIA L40S", 8, 9, 142, 2520, 9001, 384, 48e9, 96e6},
        {"NVIDIA L4", 8, 9, 58, 2040, 6251, 192, 24e9, 48e6},
        {"NVIDIA A10", 8, 6, 72, 1695, 6251, 384, 24e9, 6e6},
        {"NVIDIA GeForce RTX 3090", 8, 6, 82, 1695, 9751, 384, 24e9, 6e6},
        {"NVIDIA GeForce RTX 4090", 8, 9, 128, 2520, 10501, 384, 24e9, 72e6},
        {"NVIDIA GeForce RTX 5090", 12, 0, 170, 2407, 14001, 512, 32e9, 96e6},
        {"Tesla V100-SXM2-32GB", 7, 0, 80, 1530, 877, 4096, 32e9, 6e6},
        {"Tesla T4", 7, 5, 40, 1590, 5001, 256, 16e9, 4e6},
    };
    for (const gpu_properties& gpu : gpus) {
        INFO(gpu.name);
        const device* sheet = datasheet_of(gpu);
        REQUIRE(sheet != nullptr);
        const config_document file = file_of(gpu);
        const device custom_device = file.read_with([](config_view root) { return parse_device(root, "own"); });
        CHECK(custom_device.title == gpu.name);
        for (const auto figure : {&device::fp32, &device::bf16, &device::fp16, &device::fp8, &device::memory_bandwidth,
                                  &device::memory_gigabytes, &device::num_compute_units, &device::cache_megabytes})
            CHECK(custom_device.*figure == doctest::Approx(sheet->*figure).epsilon(0.02));
        CHECK(custom_device.fp32_lanes == sheet->fp32_lanes);
        CHECK(sheet->clock_hertz() == doctest::Approx(gpu.clock_megahertz * 1e6).epsilon(0.02));
    }
}

TEST_CASE("a GPU that is newer than the table has the rates of its predecessor") {
    const config_document file = file_of({"NVIDIA X \"1\"", 10, 3, 100, 1000, 1000, 1024, 1e9, 1e6});
    const device custom_device = file.read_with([](config_view root) { return parse_device(root); });
    CHECK(custom_device.bf16 == 819.2);
    CHECK(custom_device.title == "NVIDIA X 1");
}

TEST_CASE("names of GPUs become datasheets and files") {
    CHECK(datasheet_of("NVIDIA H200") == find_device("h200_sxm"));
    CHECK(datasheet_of("NVIDIA GeForce RTX 4090") == find_device("rtx_4090"));
    CHECK(datasheet_of("NVIDIA RTX A2000") == find_device("rtx_a2000"));
    CHECK(datasheet_of("NVIDIA T400 4GB") == nullptr);
    CHECK(datasheet_of("NVIDIA A100-SXM4-80GB") == find_device("a100_sxm_80gb"));
    CHECK(datasheet_of("NVIDIA A100-SXM4-40GB") == find_device("a100_sxm_40gb"));
    CHECK(datasheet_of("NVIDIA A100-PCIE-40GB") == find_device("a100_pcie_40gb"));
    CHECK(datasheet_of("NVIDIA A100 80GB PCIe") == find_device("a100_pcie_80gb"));
    CHECK(file_name_of("NVIDIA RTX A2000 12GB") == "nvidia_rtx_a2000_12gb");
    CHECK(file_name_of(" (x)-") == "x");
}

TEST_CASE("a slice of a GPU, a laptop's and one with other memory are not the datasheet's") {
    const auto known = [](const char* name, int multiprocessors, double bytes) {
        return datasheet_of(gpu_properties{.name = name, .multiprocessors = multiprocessors, .memory_bytes = bytes});
    };
    CHECK(known("NVIDIA H200", 132, 150.1e9) == find_device("h200_sxm"));
    CHECK(known("NVIDIA H200 MIG 1g.18gb", 16, 17.7e9) == nullptr);
    CHECK(known("NVIDIA GeForce RTX 4090", 128, 25.3e9) == find_device("rtx_4090"));
    CHECK(known("NVIDIA GeForce RTX 4090 Laptop GPU", 76, 17e9) == nullptr);
    CHECK(known("Tesla V100-SXM2-16GB", 80, 16.9e9) == nullptr);
    CHECK(known("Tesla T4", 40, 15.6e9) == find_device("t4"));
    CHECK_THROWS((void)device_file_of({.name = "a GPU without a memory clock", .major = 12}));
}
