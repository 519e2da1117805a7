// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// cuDNN plans attention for an H200 that need not be there: its graph is one that cuDNN knows a kernel for. The driver
// is the toolkit's stub, which loads nothing.
#include <llmcost/cuda/fused_attention.cuh>

#include <cstdint>
#include <cstdio>
#include <string>

namespace {

using namespace llmcost;
using namespace llmcost::cuda;

constexpr char h200[] =
    R"({"maxGridSize":[2147483647,65535,65535],"maxBlockSize":[1024,1024,64],"regsPerBlock":65536,"multiProcessorCount":132,)"
    R"("warpSize":32,"maxSharedMemoryPerBlock":49152,"maxSharedMemoryPerBlockOptin":232448,"reservedSharedMemoryPerBlock":1024,)"
    R"("maxRegistersPerSM":65536,"maxCtasPerSM":32,"maxThreadsPerBlock":1024,"maxThreadsPerSM":2048,"pciDeviceId":0,)"
    R"("isTccDriver":0,"supportCoopLaunch":1,"smClockRateKHz":1980000,"memClockRateKHz":3201000,"l2CacheSize":62914560,)"
    R"("deviceName":"NVIDIA H200","deviceVer":900,"driverVer":13000,"cudaDeviceId":0,"totalGlobalMem":150000000000})";

struct known_shape {
    const char* family;
    std::int64_t sizes[max_operator_sizes];
    bool takes;
};
constexpr known_shape shapes[]{
    {"context_attention", {1, 512, 32, 8, 128, 0, 0}, true},
    {"context_attention", {2, 513, 16, 16, 64, 0, 100}, true},
    {"context_attention", {1, 512, 8, 4, 256, 256, 512}, true},
    {"generation_attention", {8, 4095, 32, 8, 128, 0}, true},
    {"full_attention", {8, 577, 16, 16, 64, 577}, true},
    {"context_attention", {1, 512, 32, 8, 100, 0, 0}, false},
};

/// Whether cuDNN compiles a kernel for a shape and gets as far as loading it.
bool takes(const known_shape& s, cudnnBackendDescriptor_t properties) {
    operator_shape shape;
    shape.type = find_operator_type(s.family);
    shape.operand = find_operand_type("bfloat16");
    for (std::size_t i = 0; i < max_operator_sizes; ++i) shape.sizes[i] = s.sizes[i];
    try {
        const attention_plan plan(attention_shape(shape), nullptr, properties);
        return true;
    } catch (const not_supported& e) {
        const std::string why = e.what();
        std::printf("%s: %s\n", s.family, why.c_str());
        return why.ends_with("CUDNN_STATUS_EXECUTION_FAILED_CUDA_DRIVER");
    }
}

}  // namespace

int main() {
    cudnn_descriptor properties;
    check(cudnnBackendCreateDescriptor(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, properties.address()), "device properties");
    check(cudnnBackendSetAttribute(properties.get(), CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
                                   sizeof h200 - 1, h200),
          "device properties");
    check(cudnnBackendFinalize(properties.get()), "device properties");
    int wrong = 0;
    for (const known_shape& s : shapes)
        if (takes(s, properties.get()) != s.takes) ++wrong, std::printf("  expected the opposite\n");
    return wrong == 0 ? 0 : 1;
}
