// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu.hpp"

#include <llmcost/cuda/operators.cuh>
#include <llmcost/cuda/timers.cuh>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace llmcost::bench {

namespace {

/// Clears the error of a refused call; returns whether the device still runs anything.
bool goes_on() {
    (void)cudaGetLastError();
    return cudaDeviceSynchronize() == cudaSuccess;
}

constexpr double until_warm = 0.5;  ///< s

}  // namespace

std::string no_gpu() {
    int devices = 0;
    cudaError_t code = cudaGetDeviceCount(&devices);
    if (code != cudaSuccess) return cudaGetErrorString(code);
    if (devices == 0) return "none was found";
    cudaFuncAttributes kernel{};  // fails on a GPU that these were not compiled for
    code = cudaFuncGetAttributes(&kernel, cuda::detail::fill_normal<float>);
    if (code != cudaErrorNoKernelImageForDevice) return code == cudaSuccess ? "" : cudaGetErrorString(code);
    const cuda::gpu_properties gpu = gpu_at_hand();
    return gpu.name + " has compute capability " + std::to_string(gpu.major) + '.' + std::to_string(gpu.minor) +
           ", kernels here are for 7.5 and later";
}

cuda::gpu_properties gpu_at_hand() {
    cudaDeviceProp gpu{};
    cuda::check(cudaGetDeviceProperties(&gpu, 0), "cudaGetDeviceProperties");
    const auto attribute = [](cudaDeviceAttr attribute_id) {
        int value = 0;
        cuda::check(cudaDeviceGetAttribute(&value, attribute_id, 0), "cudaDeviceGetAttribute");
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

int number_of_gpus() {
    int devices = 0;
    cuda::check(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
    return devices;
}

std::string cuda_version() {
    int runtime = 0;
    cuda::check(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
    return std::to_string(runtime / 1000) + '.' + std::to_string(runtime % 1000 / 10);
}

struct operator_runner::parts {
    cuda::device_context context;
};

operator_runner::operator_runner(std::size_t memory_limit)
    : parts_(std::make_unique<parts>(cuda::device_context{memory_limit})) {
    cuda::warm_up(until_warm);
}
operator_runner::~operator_runner() = default;

outcome operator_runner::operator()(const operator_shape& shape, string_ref kernel, int copies) {
    outcome o;
    try {
        const auto op = cuda::make_operator(parts_->context, shape, kernel, copies);
        const cuda::sampler samples = cuda::measured(*op, copies, parts_->context.cuda_stream());
        if (!(samples.median() > 0)) throw cuda::not_supported("took no time");
        std::size_t available = 0, all = 0;
        cuda::check(cudaMemGetInfo(&available, &all), "cudaMemGetInfo");
        return {samples.median(), samples.spread(), op->kernel(), static_cast<std::int64_t>(all - available), {}};
    } catch (const cuda::not_supported& e) {
        o.refused = e.what();
    } catch (const cuda::cuda_error& e) {
        o.refused = e.what();
    }
    if (!goes_on())
        throw device_lost(o.refused +
                          "; nothing runs on the device any more: the same call continues after this operator");
    return o;
}

}  // namespace llmcost::bench
