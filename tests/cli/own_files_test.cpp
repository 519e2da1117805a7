// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <llmcost/files/user_files.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

using namespace llmcost;
using namespace llmcost::testing;
using nlohmann::json;

namespace {

/// A home with what llmcost-calibrate leaves of a GPU without a datasheet: 100 TFLOP/s, 1000 GB/s, products in 7 µs at
/// least.
class calibrated_home {
public:
    calibrated_home() : root_(std::filesystem::temp_directory_path() / "llmcost_own_files_test") {
        std::filesystem::remove_all(root_);
        const auto user_folder = root_ / "llmcost";
        write(user_folder / "here", "nvidia_x\n");
        write(
            user_folder / "devices" / "nvidia_x.json",
            R"({"name": "NVIDIA X", "peak_tflops": {"bf16": 100}, "memory": {"bandwidth_gbps": 1000, "gigabytes": 16}})");
        for (const auto& [device, launch] : {std::pair{"nvidia_x", 7}, std::pair{"h200_sxm", 9000}})
            write(user_folder / "calibrations" / device / "gemm" / "cuda-13.0" / "bfloat16.json",
                  R"({"device": ")" + std::string(device) + R"(", "source": "a test", "licence": "own", "kernels": [
                     {"family": "gemm", "software": "cuda", "version": "13.0", "kernel": "cublasLt", "operand": "bfloat16",
                      "roofline": {"launch_us": )" +
                      std::to_string(launch) + R"(, "compute_efficiency": 0.5,
                                   "bandwidth_efficiency": 0.5, "smoothness": 2},
                      "held_out": {"rows": 10, "median": 0.05, "low": -0.1, "high": 0.1}}]})");
        if (const char* previous = std::getenv("XDG_DATA_HOME")) previous_ = previous;
        setenv("XDG_DATA_HOME", root_.c_str(), 1);
    }
    ~calibrated_home() {
        previous_.empty() ? unsetenv("XDG_DATA_HOME") : setenv("XDG_DATA_HOME", previous_.c_str(), 1);
        std::filesystem::remove_all(root_);
    }
    calibrated_home(const calibrated_home&) = delete;
    calibrated_home& operator=(const calibrated_home&) = delete;

private:
    static void write(const std::filesystem::path& path, const std::string& text) {
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path) << text;
    }
    std::filesystem::path root_;
    std::string previous_;
};

}  // namespace

TEST_CASE("what was measured here is read without being named") {
    const calibrated_home home;
    const std::string gemm = "op gemm --m 64 --n 10 --k 10 --format json --device ";
    for (const char* name : {"here", "nvidia_x"}) {
        INFO(name);
        const json user_device = json::parse(printed(gemm + name));
        CHECK(user_device["seconds"].get<double>() == doctest::Approx(7e-6).epsilon(0.01));
        CHECK(user_device["calibration"]["software"] == "cuda");
    }
    // one's own goes before what is shipped, unless the kernels of some software are asked for
    CHECK(json::parse(printed(gemm + "h200"))["seconds"].get<double>() == doctest::Approx(9e-3).epsilon(0.01));
    CHECK(json::parse(printed(gemm + "h200 --calibration none"))["seconds"].get<double>() < 1e-4);
    const std::string serve =
        "serve --model meta-llama/Llama-3.2-1B --input 100 --output 10 --concurrency 2 --device here";
    CHECK(json::parse(printed(serve + " --format json"))["tpot_seconds"].get<double>() > 113 * 7e-6);
}

TEST_CASE("a program that has measured nothing says so") {
    CHECK(refused("op gemm --m 1 --n 1 --k 1 --device here").find("no measurements of this machine") !=
          std::string::npos);
    CHECK(refused("op gemm --m 1 --n 1 --k 1 --device nvidia_x").find("no device or file 'nvidia_x'") !=
          std::string::npos);
}
