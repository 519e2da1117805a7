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
#include <llmcost/cuda/sampling.hpp>
#include <llmcost/cuda/sweep.hpp>
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

/// Seconds of one launch among copies in a graph, and the clock in MHz that it ended with.
class graph_timer {
public:
    graph_timer(cuda::device_operator& what, int copies) : copies_(copies), stream_(cuda::make_stream()) {
        graph_ = cuda::captured(stream_.get(), [&] {
            for (int i = 0; i < copies; ++i) what.launch(i, stream_.get());
        });
        for (int i = 0; i < 3; ++i) (void)(*this)();
    }
    std::pair<double, double> operator()() {
        cuda::check(cudaEventRecord(start_.get(), stream_.get()), "cudaEventRecord");
        cuda::check(cudaGraphLaunch(graph_.get(), stream_.get()), "cudaGraphLaunch");
        cuda::check(cudaEventRecord(stop_.get(), stream_.get()), "cudaEventRecord");
        cuda::check(cudaEventSynchronize(stop_.get()), "cudaEventSynchronize");
        float milliseconds = 0;
        cuda::check(cudaEventElapsedTime(&milliseconds, start_.get(), stop_.get()), "cudaEventElapsedTime");
        cuda::detail::read_clock<<<1, 1, 0, stream_.get()>>>(static_cast<double*>(clock_.get()));
        double megahertz = 0;
        cuda::check(cudaMemcpyAsync(&megahertz, clock_.get(), sizeof megahertz, cudaMemcpyDeviceToHost, stream_.get()),
                    "cudaMemcpyAsync");
        cuda::check(cudaStreamSynchronize(stream_.get()), "cudaStreamSynchronize");
        return {1e-3 * static_cast<double>(milliseconds) / copies_, megahertz};
    }

private:
    int copies_;
    cuda::stream stream_;
    cuda::memory clock_ = cuda::allocate(sizeof(double));
    cuda::event start_ = cuda::make_event(), stop_ = cuda::make_event();
    cuda::graph_exec graph_;
};

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
    const std::vector<cuda::sweep_point> sweep = cuda::calibration_sweep(operands, s.full);
    const std::filesystem::path measured = s.folder / "measured";
    std::filesystem::create_directories(measured);
    cuda::lt_handle lt;
    cuda::check(cublasLtCreate(lt.address()), "cublasLtCreate");
    std::map<const operator_family*, cuda::measured_table> tables;
    std::vector<std::string> paths;
    for (const cuda::sweep_point& p : sweep) {
        if (tables.contains(p.family)) continue;
        const std::string family(p.family->name);
        paths.push_back(
            (measured / (std::string(known->names[0]) + "__" + family + "__cuda__" + version + "__" + family + "_perf.csv"))
                .string());
        tables.try_emplace(p.family, paths.back(), *p.family);
    }
    constexpr int copies = 20;
    const auto begun = std::chrono::steady_clock::now();
    std::size_t at = 0, fresh = 0;
    for (const cuda::sweep_point& p : sweep) {
        ++at;
        cuda::measured_table& table = tables.at(p.family);
        const std::string kernel = p.family == find_family("gemm")   ? "cublasLt"
                                   : p.family == find_family("norm") ? "rms_norm"
                                                                     : "scaled";
        if (table.has(p, kernel)) continue;
        const auto op = cuda::make_operator(lt.get(), p, copies, static_cast<std::size_t>(gpu.l2CacheSize));
        const cuda::sampler samples = cuda::sampled(graph_timer(*op, copies));
        table.add(p, op->kernel(), samples.median());
        ++fresh;
        const double spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
        std::printf("\r[%zu/%zu] %s %s %lld %lld %lld  %.1f us, spread %.1f %%, about %.0f s remain   ", at, sweep.size(),
                    std::string(p.family->name).c_str(), std::string(p.operand->name).c_str(),
                    static_cast<long long>(p.sizes[0]), static_cast<long long>(p.sizes[1]),
                    static_cast<long long>(p.sizes[2]), 1e6 * samples.median(), 100 * samples.spread(),
                    spent / static_cast<double>(fresh) * static_cast<double>(sweep.size() - at));
        std::fflush(stdout);
    }
    std::printf("\nfitting\n");
    bench::fit_tables(s.folder / "calibrations", s.folder / "accuracy.md", std::string("measured on ") + gpu.name, "own",
                      paths);
    std::printf("llmcost op gemm --device %s --calibration %s --m 64 --n 4096 --k 4096\n",
                std::string(known->names[0]).c_str(), (s.folder / "calibrations").string().c_str());
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
