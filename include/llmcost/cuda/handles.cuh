// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

// Handles of CUDA and cuBLAS that release themselves, and calls that throw.
namespace llmcost::cuda {

/// A call that CUDA or a library of it refused.
struct cuda_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};
/// A shape that a kernel does not support, or that does not fit in memory: it is left out, while others continue.
struct not_supported : std::runtime_error {
    using std::runtime_error::runtime_error;
};

inline void check(cudaError_t code, const char* call) {
    if (code != cudaSuccess) throw cuda_error(std::string(call) + ": " + cudaGetErrorString(code));
}
inline void check(cublasStatus_t code, const char* call) {
    if (code == CUBLAS_STATUS_SUCCESS) return;
    const std::string message = std::string(call) + ": " + cublasGetStatusString(code);
    if (code == CUBLAS_STATUS_NOT_SUPPORTED || code == CUBLAS_STATUS_ARCH_MISMATCH) throw not_supported(message);
    throw cuda_error(message);
}

/// A handle that a function destroys; moves, does not copy.
template <class Handle, auto Destroy>
class owned {
public:
    owned() = default;
    explicit owned(Handle h) noexcept : handle_(h) {}
    owned(owned&& source) noexcept : handle_(std::exchange(source.handle_, nullptr)) {}
    owned& operator=(owned&& source) noexcept {
        std::swap(handle_, source.handle_);
        return *this;
    }
    ~owned() {
        if (handle_ != nullptr) Destroy(handle_);
    }
    [[nodiscard]] Handle get() const noexcept { return handle_; }
    [[nodiscard]] Handle* address() noexcept { return &handle_; }

private:
    Handle handle_ = nullptr;
};

using stream = owned<cudaStream_t, cudaStreamDestroy>;
using event = owned<cudaEvent_t, cudaEventDestroy>;
using graph = owned<cudaGraph_t, cudaGraphDestroy>;
using graph_exec = owned<cudaGraphExec_t, cudaGraphExecDestroy>;
using memory = owned<void*, cudaFree>;
using blas_handle = owned<cublasHandle_t, cublasDestroy>;
using lt_handle = owned<cublasLtHandle_t, cublasLtDestroy>;
using matmul_descriptor = owned<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>;
using matrix_layout = owned<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;
using matmul_preference = owned<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy>;

inline memory allocate(std::size_t bytes) {
    memory m;
    const cudaError_t code = cudaMalloc(m.address(), bytes);
    if (code == cudaErrorMemoryAllocation) {
        (void)cudaGetLastError();  // an allocation that failed breaks nothing else
        throw not_supported("no room in memory");
    }
    check(code, "cudaMalloc");
    return m;
}
inline stream make_stream() {
    stream s;
    check(cudaStreamCreateWithFlags(s.address(), cudaStreamNonBlocking), "cudaStreamCreate");
    return s;
}
inline event make_event() {
    event e;
    check(cudaEventCreate(e.address()), "cudaEventCreate");
    return e;
}

/// Puts a kernel on a stream, so many blocks of so many threads.
template <class... Parameters>
void launch(void (*kernel)(Parameters...), unsigned blocks, unsigned threads, cudaStream_t cuda_stream,
            std::type_identity_t<Parameters>... arguments) {
    cudaLaunchConfig_t grid{};
    grid.gridDim = dim3(blocks);
    grid.blockDim = dim3(threads);
    grid.stream = cuda_stream;
    check(cudaLaunchKernelEx(&grid, kernel, arguments...), "launch");
}

/// What `record` puts on a stream, as a graph that can be launched again and again.
template <class Record>
[[nodiscard]] graph_exec captured(cudaStream_t cuda_stream, Record record) {
    check(cudaStreamBeginCapture(cuda_stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
    graph g;
    try {
        record();
    } catch (...) {
        cudaStreamEndCapture(cuda_stream, g.address());
        throw;
    }
    check(cudaStreamEndCapture(cuda_stream, g.address()), "cudaStreamEndCapture");
    graph_exec e;
    check(cudaGraphInstantiate(e.address(), g.get(), 0), "cudaGraphInstantiate");
    return e;
}

}  // namespace llmcost::cuda
