// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu.hpp"

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
#include <stdexcept>
#include <string>
#include <vector>

namespace llmcost::bench {

namespace {

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

/// CUDA's version: 13.0.
std::string cuda_version() {
    int runtime = 0;
    cuda::check(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
    return std::to_string(runtime / 1000) + '.' + std::to_string(runtime % 1000 / 10);
}

/// Forgets what a refused call left behind; whether the device still runs anything.
bool goes_on() {
    (void)cudaGetLastError();
    return cudaDeviceSynchronize() == cudaSuccess;
}

constexpr double until_warm = 0.5;  ///< s

/// The most that may be asked of one operator in measured mode, so that models of any size fit beside the context.
constexpr std::size_t memory_of_one = std::size_t{1800} << 20;

}  // namespace

std::string no_gpu() {
    int devices = 0;
    cudaError_t code = cudaGetDeviceCount(&devices);
    if (code != cudaSuccess) return cudaGetErrorString(code);
    if (devices == 0) return "none was found";
    cudaFuncAttributes kernel{};  // asking for one loads all, or has the driver compile them, before any time is taken
    code = cudaFuncGetAttributes(&kernel, cuda::detail::fill_normal<float>);
    if (code != cudaErrorNoKernelImageForDevice) return code == cudaSuccess ? "" : cudaGetErrorString(code);
    const cuda::gpu_properties gpu = gpu_at_hand();
    return gpu.name + " has compute capability " + std::to_string(gpu.major) + '.' + std::to_string(gpu.minor) +
           ", kernels here are for 7.5 and later";
}

cuda::gpu_properties gpu_at_hand() {
    cudaDeviceProp gpu{};
    cuda::check(cudaGetDeviceProperties(&gpu, 0), "cudaGetDeviceProperties");
    const auto attribute = [](cudaDeviceAttr which) {
        int value = 0;
        cuda::check(cudaDeviceGetAttribute(&value, which, 0), "cudaDeviceGetAttribute");
        return value;
    };
    return {gpu.name,
            gpu.major,
            gpu.minor,
            gpu.multiProcessorCount,
            attribute(cudaDevAttrClockRate) * 1e-3,
            attribute(cudaDevAttrMemoryClockRate) * 1e-3,
            gpu.memoryBusWidth,
            static_cast<double>(gpu.totalGlobalMem),
            static_cast<double>(gpu.l2CacheSize)};
}

void calibrate(const device& on, const std::filesystem::path& folder, bool full) {
    cudaDeviceProp gpu{};
    cuda::check(cudaGetDeviceProperties(&gpu, 0), "cudaGetDeviceProperties");
    const device* const known = &on;
    const std::string version = cuda_version();
    std::printf("%s as %s: %d multiprocessors, %d MB of cache, CUDA %s\n", gpu.name, std::string(known->names[0]).c_str(),
                gpu.multiProcessorCount, gpu.l2CacheSize >> 20, version.c_str());
    std::vector<const operand_row*> operands{find_operand("bfloat16"), find_operand("float16")};
    if (gpu.major * 10 + gpu.minor >= 89) operands.push_back(find_operand("fp8"));
    int gpus = 0;
    cuda::check(cudaGetDeviceCount(&gpus), "cudaGetDeviceCount");
    const std::vector<cuda::sweep_point> sweep = cuda::calibration_sweep({known, operands, full, gpus});
    const std::string name(known->names[0]);
    std::map<const operator_family*, cuda::measured_table> tables = tables_of(sweep, folder / "measured", name, version);
    const auto begun = std::chrono::steady_clock::now();
    const cuda::device_context context;
    cuda::warm_up(until_warm);
    std::size_t at = 0;
    const auto measure = [&](const cuda::sweep_point& p) -> std::string {
        std::string why = std::string(p.shape.family->name) + ' ' + std::string(p.kernel) + ": ";
        ++at;
        try {
            const int copies = cuda::copies_of(p.shape, predicted_seconds(*known, p.shape, nullptr, {}));
            const auto op = cuda::make_operator(context, p.shape, p.kernel, copies);
            const cuda::sampler samples = cuda::measured(*op, copies);
            if (!(samples.median() > 0)) throw cuda::not_supported("took no time");
            tables.at(p.shape.family).add(p.shape, p.kernel, samples.median());
            std::printf("\r[%zu/%zu] %.0f s, %s %s %s %lld %lld %lld: %.2f us, spread %.1f %%        ", at, sweep.size(),
                        since(begun), std::string(p.shape.family->name).c_str(), std::string(p.kernel).c_str(),
                        std::string(p.shape.operand->name).c_str(), static_cast<long long>(p.shape.sizes[0]),
                        static_cast<long long>(p.shape.sizes[1]), static_cast<long long>(p.shape.sizes[2]),
                        1e6 * samples.median(), 100 * samples.spread());
            std::fflush(stdout);
            return {};
        } catch (const cuda::not_supported& e) {
            why += e.what();
        } catch (const cuda::cuda_error& e) {
            why += e.what();
        }
        if (goes_on()) return why;
        tables.at(p.shape.family).give_up(p.shape, p.kernel);
        throw cuda::cuda_error(why + "; nothing runs on the device any more: the same call goes on behind this operator");
    };
    const double budget = cuda::sweep_seconds(full);
    const auto known_before = [&](const cuda::sweep_point& p) { return tables.at(p.shape.family).has(p.shape, p.kernel); };
    std::exception_ptr broke;  // what was measured before is fitted all the same
    try {
        print(cuda::run_sweep(
                  sweep, budget, [&] { return since(begun); }, known_before, measure),
              budget);
    } catch (const cuda::cuda_error&) {
        broke = std::current_exception();
    }
    std::vector<std::string> paths;
    for (const auto& [family, table] : tables)
        if (table.size() != 0) paths.push_back(table.path());
    if (paths.empty() && !broke) throw std::runtime_error("nothing could be measured");
    std::printf("fitting\n");
    fit_tables(folder / "calibrations", folder / "accuracy.md", std::string("measured on ") + gpu.name, "own", paths, known);
    if (broke) std::rethrow_exception(broke);
}

struct operator_runner::parts {
    cuda::device_context context{memory_of_one};
};

operator_runner::operator_runner() : parts_(std::make_unique<parts>()) { cuda::warm_up(until_warm); }
operator_runner::~operator_runner() = default;

std::optional<operator_runner::result> operator_runner::operator()(const operator_shape& shape) {
    constexpr int copies = 4;
    try {
        const auto op = cuda::make_operator(parts_->context, shape, {}, copies);
        const cuda::sampler samples = cuda::measured(*op, copies);
        std::size_t available = 0, all = 0;
        cuda::check(cudaMemGetInfo(&available, &all), "cudaMemGetInfo");
        return result{samples.median(), op->kernel(), static_cast<std::int64_t>(all - available)};
    } catch (const cuda::not_supported&) {
        if (!goes_on()) throw;
    } catch (const cuda::cuda_error&) {
        if (!goes_on()) throw;
    }
    return std::nullopt;
}

}  // namespace llmcost::bench
