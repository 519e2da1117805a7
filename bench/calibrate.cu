// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// Calibrates the GPU at hand: measures operators, keeps each as it comes, and fits calibrations to them.
//
//     llmcost-calibrate FOLDER [--full] [--device NAME]
//
// FOLDER gets measured/*.csv and calibrations/, which `llmcost --calibration FOLDER/calibrations` reads. A run that was cut
// goes on where it was. Clocks are read, never changed; throttled samples do not count.
#include "fit_tables.hpp"

#include <llmcost/cuda/operators.cuh>
#include <llmcost/cuda/sweep.hpp>
#include <llmcost/cuda/timers.cuh>
#include <llmcost/devices.hpp>

#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace {

using namespace llmcost;

enum exit_code { done = 0, failed = 1, usage = 2, no_gpu = 6 };

struct settings {
    std::filesystem::path folder;
    std::string device;
    bool full = false;
};

/// The datasheet whose name the GPU's own name contains: `NVIDIA H200` is `h200_sxm`'s `H200`.
const device* datasheet_of(std::string name) {
    for (const char* word : {"NVIDIA ", "Tesla ", "GeForce "})
        if (const std::size_t at = name.find(word); at != std::string::npos) name.erase(at, std::string(word).size());
    for (; !name.empty(); name.resize(name.find_last_of(" -") == std::string::npos ? 0 : name.find_last_of(" -")))
        if (const device* known = find_device(name)) return known;
    return nullptr;
}

/// The seconds since a time.
double since(std::chrono::steady_clock::time_point begun) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

/// A table for each family that the sweep has, in a folder, by the device's name and CUDA's version.
std::map<const operator_family*, cuda::measured_table> tables_of(const std::vector<cuda::sweep_point>& sweep,
                                                                 const std::filesystem::path& folder,
                                                                 const std::string& device, const std::string& version) {
    std::map<const operator_family*, cuda::measured_table> tables;
    std::filesystem::create_directories(folder);
    for (const cuda::sweep_point& p : sweep) {
        if (tables.contains(p.shape.family)) continue;
        const std::string family(p.shape.family->name);
        const std::string path =
            (folder / (device + "__" + family + "__cuda__" + version + "__" + family + "_perf.csv")).string();
        tables.try_emplace(p.shape.family, path, *p.shape.family);
    }
    return tables;
}

void print(const cuda::sweep_report& r, double budget) {
    std::printf("\nmeasured %zu, known %zu\n", r.measured, r.known);
    for (const auto& [why, n] : r.refused) std::printf("left out %zu: %s\n", n, why.c_str());
    if (r.left_out != 0) std::printf("left out %zu: %.0f s are used; the same call goes on with them\n", r.left_out, budget);
}

void calibrate(const settings& s) {
    cudaDeviceProp gpu{};
    cuda::check(cudaGetDeviceProperties(&gpu, 0), "cudaGetDeviceProperties");
    const device* known = s.device.empty() ? datasheet_of(gpu.name) : find_device(s.device);
    if (known == nullptr)
        throw std::runtime_error("no datasheet for '" + (s.device.empty() ? std::string(gpu.name) : s.device) +
                                 "': say --device NAME, one of llmcost devices");
    int runtime = 0;
    cuda::check(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
    const std::string version = std::to_string(runtime / 1000) + '.' + std::to_string(runtime % 1000 / 10);
    std::printf("%s as %s: %d multiprocessors, %d MB of cache, CUDA %s\n", gpu.name, std::string(known->names[0]).c_str(),
                gpu.multiProcessorCount, gpu.l2CacheSize >> 20, version.c_str());
    std::vector<const operand_row*> operands{find_operand("bfloat16"), find_operand("float16")};
    if (gpu.major * 10 + gpu.minor >= 89) operands.push_back(find_operand("fp8"));
    int gpus = 0;
    cuda::check(cudaGetDeviceCount(&gpus), "cudaGetDeviceCount");
    const std::vector<cuda::sweep_point> sweep = cuda::calibration_sweep({known, operands, s.full, gpus});
    const std::string name(known->names[0]);
    std::map<const operator_family*, cuda::measured_table> tables = tables_of(sweep, s.folder / "measured", name, version);
    const cuda::device_context context;
    const auto begun = std::chrono::steady_clock::now();
    std::size_t at = 0;
    const auto measure = [&](const cuda::sweep_point& p) -> std::string {
        const auto refused = [&](const std::exception& e) {
            ++at;
            return std::string(p.shape.family->name) + ' ' + std::string(p.kernel) + ": " + e.what();
        };
        try {
            const int copies = cuda::copies_of(p.shape, predicted_seconds(*known, p.shape, nullptr, {}));
            const auto op = cuda::make_operator(context, p.shape, p.kernel, copies);
            const cuda::sampler samples = cuda::measured(*op, copies);
            tables.at(p.shape.family).add(p.shape, op->kernel(), samples.median());
            std::printf("\r[%zu/%zu] %.0f s, %s %s %s %lld %lld %lld: %.2f us, spread %.1f %%        ", ++at, sweep.size(),
                        since(begun), std::string(p.shape.family->name).c_str(), std::string(p.kernel).c_str(),
                        std::string(p.shape.operand->name).c_str(), static_cast<long long>(p.shape.sizes[0]),
                        static_cast<long long>(p.shape.sizes[1]), static_cast<long long>(p.shape.sizes[2]),
                        1e6 * samples.median(), 100 * samples.spread());
            std::fflush(stdout);
            return {};
        } catch (const cuda::not_supported& e) {
            return refused(e);
        } catch (const cuda::cuda_error& e) {
            (void)cudaGetLastError();
            if (cudaDeviceSynchronize() != cudaSuccess) throw;  // nothing runs on this device any more
            return refused(e);
        }
    };
    const double budget = cuda::sweep_seconds(s.full);
    print(cuda::run_sweep(
              sweep, budget, [&] { return since(begun); },
              [&](const cuda::sweep_point& p) { return tables.at(p.shape.family).has(p.shape, p.kernel); }, measure),
          budget);
    std::printf("fitting\n");
    std::vector<std::string> paths;
    for (const auto& [family, table] : tables)
        if (table.size() != 0) paths.push_back(table.path());
    bench::fit_tables(s.folder / "calibrations", s.folder / "accuracy.md", std::string("measured on ") + gpu.name, "own",
                      paths);
    std::printf("llmcost op gemm --device %s --calibration %s --m 64 --n 4096 --k 4096\n", name.c_str(),
                (s.folder / "calibrations").string().c_str());
}

}  // namespace

int main(int count, char** values) {
    settings s;
    for (int i = 1; i < count; ++i) {
        const std::string word = values[i];
        if (word == "--full") {
            s.full = true;
        } else if (word == "--device" && i + 1 < count) {
            s.device = values[++i];
        } else if (!word.starts_with("-") && s.folder.empty()) {
            s.folder = word;
        } else {
            s.folder.clear();
            break;
        }
    }
    if (s.folder.empty()) {
        std::fprintf(stderr, "usage: llmcost-calibrate FOLDER [--full] [--device NAME]\n");
        return usage;
    }
    int devices = 0;
    if (const cudaError_t code = cudaGetDeviceCount(&devices); code != cudaSuccess || devices == 0) {
        std::fprintf(stderr, "llmcost-calibrate: no GPU to measure: %s\n",
                     code != cudaSuccess ? cudaGetErrorString(code) : "none was found");
        return no_gpu;
    }
    try {
        calibrate(s);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "\nllmcost-calibrate: %s\n", e.what());
        return failed;
    }
    return done;
}
