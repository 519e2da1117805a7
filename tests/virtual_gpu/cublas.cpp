// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// cuBLASLt and cuBLAS of a virtual GPU: they hold callers to what their documentation demands, and compute small
// products.
#include <cublasLt.h>
#include <cublas_v2.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "board.hpp"
#include "memory.hpp"
#include "products.hpp"
#include "streams.hpp"

struct cublasLtContext {};
struct cublasContext {
    cudaStream_t stream = nullptr;
    void* workspace = nullptr;
    std::size_t workspace_bytes = 0;
};

using namespace virtual_gpu;

namespace {

struct layout_descriptor : cublasLtMatrixLayoutOpaque_t {
    matrix is;
};
struct product_descriptor : cublasLtMatmulDescOpaque_t {
    cublasComputeType_t computes = CUBLAS_COMPUTE_32F;
    cudaDataType_t scales = CUDA_R_32F;
    cublasOperation_t turns_a = CUBLAS_OP_N, turns_b = CUBLAS_OP_N;
};
struct preference_descriptor : cublasLtMatmulPreferenceOpaque_t {
    std::size_t workspace_bytes = 0;
};

constexpr std::size_t library_alignment = 256;  ///< of operands, unless a preference says less

cublasStatus_t refused(cublasStatus_t code, const std::string& reason) {
    set_error_message("cuBLAS: " + reason);
    return code;
}

template <class Described, class Handle>
cublasStatus_t made(Handle* handle, const char* kind, Described descriptor = {}) {
    *handle = new Described(descriptor);
    born(*handle, kind);
    return CUBLAS_STATUS_SUCCESS;
}
template <class Described>
cublasStatus_t destroy_handle(void* handle, const char* kind) {
    return destroyed(static_cast<Described*>(handle), kind) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}
/// An attribute's value; complains of a size that is not its own.
template <class T>
bool read_attribute(T& target, const void* source, std::size_t bytes) {
    if (bytes != sizeof(T)) {
        complain("an attribute of another size");
        return false;
    }
    std::memcpy(&target, source, bytes);
    return true;
}

/// The product that descriptors say; what cuBLAS would return for it.
cublasStatus_t read_product(product& result, cublasLtMatmulDesc_t matmul_desc, cublasLtMatrixLayout_t a,
                            cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d) {
    if (!alive(matmul_desc, "a product's description")) return CUBLAS_STATUS_INVALID_VALUE;
    for (const cublasLtMatrixLayout_t layout : {a, b, c, d})
        if (!alive(layout, "a layout")) return CUBLAS_STATUS_INVALID_VALUE;
    const auto& is = *static_cast<product_descriptor*>(matmul_desc);
    if (is.computes != CUBLAS_COMPUTE_32F || is.scales != CUDA_R_32F)
        return refused(CUBLAS_STATUS_NOT_SUPPORTED, "sums or scales of another type than float32");
    result = {static_cast<layout_descriptor*>(a)->is, static_cast<layout_descriptor*>(b)->is,
              static_cast<layout_descriptor*>(d)->is, is.turns_a == CUBLAS_OP_T, is.turns_b == CUBLAS_OP_T};
    const matrix& added = static_cast<layout_descriptor*>(c)->is;
    if (added.rows != result.d.rows || added.columns != result.d.columns || added.type != result.d.type)
        return refused(CUBLAS_STATUS_NOT_SUPPORTED, "what is added has another size or type than the result");
    const std::string reason = result.fault();
    return reason.empty() ? CUBLAS_STATUS_SUCCESS : refused(CUBLAS_STATUS_NOT_SUPPORTED, reason);
}
/// What tells an algorithm's product from others.
std::uint64_t signature(const product& p) {
    std::uint64_t h = 17;
    for (const matrix* x : {&p.a, &p.b, &p.d})
        for (const std::uint64_t v : {static_cast<std::uint64_t>(x->type), x->rows, x->columns,
                                      static_cast<std::uint64_t>(x->leading), static_cast<std::uint64_t>(x->batch)})
            h = (h ^ v) * 0x9e3779b97f4a7c15ULL;
    return h + (p.turns_a ? 1 : 0) + (p.turns_b ? 2 : 0);
}
bool aligned(const void* p, std::size_t bytes) { return reinterpret_cast<std::uintptr_t>(p) % bytes == 0; }

cublasStatus_t status_of(cudaError_t code) {
    return code == cudaSuccess ? CUBLAS_STATUS_SUCCESS
                               : refused(CUBLAS_STATUS_EXECUTION_FAILED, "nothing was launched");
}

}  // namespace

extern "C" {

// ---- cuBLASLt

cublasStatus_t cublasLtCreate(cublasLtHandle_t* output) {
    if (outside_capture() != cudaSuccess) return CUBLAS_STATUS_NOT_INITIALIZED;
    return made<cublasLtContext>(output, "cuBLASLt");
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) { return destroy_handle<cublasLtContext>(handle, "cuBLASLt"); }

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* output, cublasComputeType_t computes,
                                        cudaDataType_t scales) {
    product_descriptor p;
    p.computes = computes;
    p.scales = scales;
    return made<product_descriptor>(output, "a product's description", p);
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t handle) {
    return destroy_handle<product_descriptor>(handle, "a product's description");
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t handle, cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, std::size_t bytes) {
    if (!alive(handle, "a product's description")) return CUBLAS_STATUS_INVALID_VALUE;
    auto& p = *static_cast<product_descriptor*>(handle);
    std::int32_t operation = 0;
    if ((attribute != CUBLASLT_MATMUL_DESC_TRANSA && attribute != CUBLASLT_MATMUL_DESC_TRANSB) ||
        !read_attribute(operation, value, bytes))
        return CUBLAS_STATUS_INVALID_VALUE;
    (attribute == CUBLASLT_MATMUL_DESC_TRANSA ? p.turns_a : p.turns_b) = static_cast<cublasOperation_t>(operation);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* output, cudaDataType type, std::uint64_t rows,
                                          std::uint64_t columns, std::int64_t leading) {
    layout_descriptor l;
    l.is = {.type = type, .rows = rows, .columns = columns, .leading = leading};
    return made<layout_descriptor>(output, "a layout", l);
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t handle) {
    return destroy_handle<layout_descriptor>(handle, "a layout");
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t handle,
                                                cublasLtMatrixLayoutAttribute_t attribute, const void* value,
                                                std::size_t bytes) {
    if (!alive(handle, "a layout")) return CUBLAS_STATUS_INVALID_VALUE;
    matrix& is = static_cast<layout_descriptor*>(handle)->is;
    const bool good = attribute == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT ? read_attribute(is.batch, value, bytes)
                      : attribute == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET
                          ? read_attribute(is.stride, value, bytes)
                          : false;
    return good ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* output) {
    return made<preference_descriptor>(output, "a preference");
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t handle) {
    return destroy_handle<preference_descriptor>(handle, "a preference");
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t handle,
                                                    cublasLtMatmulPreferenceAttributes_t attribute, const void* value,
                                                    std::size_t bytes) {
    if (!alive(handle, "a preference") || attribute != CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES)
        return CUBLAS_STATUS_INVALID_VALUE;
    return read_attribute(static_cast<preference_descriptor*>(handle)->workspace_bytes, value, bytes)
               ? CUBLAS_STATUS_SUCCESS
               : CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t matmul_desc,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int num_requested,
                                              cublasLtMatmulHeuristicResult_t results[], int* found) {
    *found = 0;
    if (!alive(handle, "cuBLASLt") || !alive(preference, "a preference") || num_requested < 1)
        return CUBLAS_STATUS_INVALID_VALUE;
    product p;
    if (const cublasStatus_t code = read_product(p, matmul_desc, a, b, c, d); code != CUBLAS_STATUS_SUCCESS)
        return code;
    results[0] = {};
    results[0].algo.data[0] = signature(p);
    results[0].workspaceSize = static_cast<preference_descriptor*>(preference)->workspace_bytes;
    results[0].algo.data[1] = results[0].workspaceSize;
    results[0].state = CUBLAS_STATUS_SUCCESS;
    *found = 1;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t matmul_desc, const void* alpha,
                              const void* at_a, cublasLtMatrixLayout_t a, const void* at_b, cublasLtMatrixLayout_t b,
                              const void* beta, const void* at_c, cublasLtMatrixLayout_t c, void* at_d,
                              cublasLtMatrixLayout_t d, const cublasLtMatmulAlgo_t* algorithm, void* workspace,
                              std::size_t workspace_bytes, cudaStream_t stream) {
    if (!alive(handle, "cuBLASLt")) return CUBLAS_STATUS_NOT_INITIALIZED;
    product p;
    if (const cublasStatus_t code = read_product(p, matmul_desc, a, b, c, d); code != CUBLAS_STATUS_SUCCESS)
        return code;
    const auto invalid = [](const char* reason) { return refused(CUBLAS_STATUS_INVALID_VALUE, reason); };
    if (algorithm == nullptr || algorithm->data[0] != signature(p)) return invalid("an algorithm of another product");
    if (workspace_bytes < algorithm->data[1]) return invalid("a workspace that the algorithm does not fit into");
    if (!aligned(workspace, 16)) return invalid("a workspace that is not aligned");
    for (const void* operand : {at_a, at_b, at_c, static_cast<const void*>(at_d)})
        if (!aligned(operand, library_alignment)) return invalid("an operand that is less aligned than was said");
    float scale = 0, beta_value = 0;
    std::memcpy(&scale, alpha, sizeof scale);
    std::memcpy(&beta_value, beta, sizeof beta_value);
    if (beta_value != 0) complain("what is added to a product: nobody does so here");
    work w{seconds_of(p.bytes(), p.flops()), p.touches(at_a, at_b, at_d), [=] { p.compute(at_a, at_b, at_d, scale); }};
    w.touches.push_back({workspace, workspace_bytes, true, "the workspace of a product"});
    if (at_c != at_d) w.touches.push_back({at_c, p.d.bytes(), false, "what is added to a product"});
    return status_of(submit(stream, std::move(w)));
}

// ---- cuBLAS

cublasStatus_t cublasCreate_v2(cublasHandle_t* output) {
    if (outside_capture() != cudaSuccess) return CUBLAS_STATUS_NOT_INITIALIZED;
    return made<cublasContext>(output, "cuBLAS");
}
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) { return destroy_handle<cublasContext>(handle, "cuBLAS"); }
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
    if (!alive(handle, "cuBLAS") || stream_of(stream) == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    *handle = {.stream =
                   stream};  // "unconditionally resets the cuBLAS library workspace back to the default workspace pool"
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void* workspace, std::size_t bytes) {
    if (!alive(handle, "cuBLAS")) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!aligned(workspace, 256)) return refused(CUBLAS_STATUS_INVALID_VALUE, "a workspace that is not aligned");
    handle->workspace = workspace;
    handle->workspace_bytes = bytes;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGemmGroupedBatchedEx(cublasHandle_t handle, const cublasOperation_t turns_a[],
                                          const cublasOperation_t turns_b[], const int m[], const int n[],
                                          const int k[], const void* alpha, const void* const a[],
                                          cudaDataType_t type_a, const int leading_a[], const void* const b[],
                                          cudaDataType_t type_b, const int leading_b[], const void* beta,
                                          void* const c[], cudaDataType_t type_c, const int leading_c[], int groups,
                                          const int sizes[], cublasComputeType_t computes) {
    if (!alive(handle, "cuBLAS")) return CUBLAS_STATUS_NOT_INITIALIZED;
    const auto invalid = [](const char* reason) { return refused(CUBLAS_STATUS_INVALID_VALUE, reason); };
    if (groups < 0) return invalid("fewer groups than none");
    if (computes != CUBLAS_COMPUTE_32F)
        return refused(CUBLAS_STATUS_NOT_SUPPORTED, "sums of another type than float32");
    for (const void* of_host : {static_cast<const void*>(turns_a), static_cast<const void*>(m),
                                static_cast<const void*>(n), static_cast<const void*>(k), alpha, beta,
                                static_cast<const void*>(leading_a), static_cast<const void*>(sizes)})
        if (allocation_of(of_host) != nullptr) return invalid("an array of the GPU where the host's is asked for");
    std::size_t products = 0;
    for (int g = 0; g < groups; ++g) products += static_cast<std::size_t>(sizes[g]);
    work w;
    const std::size_t bytes = products * sizeof(void*);
    for (const void* of_gpu : {static_cast<const void*>(a), static_cast<const void*>(b), static_cast<const void*>(c)}) {
        const touch pointers{of_gpu, bytes, false, "an array of pointers to the operands of grouped products"};
        if (!in_memory(pointers)) return invalid("an array of the host where the GPU's is asked for");
        w.touches.push_back(pointers);
    }
    if (handle->workspace != nullptr)
        w.touches.push_back({handle->workspace, handle->workspace_bytes, true, "the workspace of grouped products"});
    std::size_t index = 0;
    std::vector<std::function<void()>> computations;
    for (int g = 0; g < groups; ++g) {
        product p;
        p.turns_a = turns_a[g] == CUBLAS_OP_T;
        p.turns_b = turns_b[g] == CUBLAS_OP_T;
        const auto rows = static_cast<std::uint64_t>(m[g]), columns = static_cast<std::uint64_t>(n[g]),
                   depth = static_cast<std::uint64_t>(k[g]);
        p.a = {type_a, p.turns_a ? depth : rows, p.turns_a ? rows : depth, leading_a[g]};
        p.b = {type_b, p.turns_b ? columns : depth, p.turns_b ? depth : columns, leading_b[g]};
        p.d = {type_c, rows, columns, leading_c[g]};
        if (const std::string reason = p.fault(); !reason.empty()) return refused(CUBLAS_STATUS_INVALID_VALUE, reason);
        const float scale = static_cast<const float*>(alpha)[g];
        if (static_cast<const float*>(beta)[g] != 0) complain("what is added to grouped products: nobody does so here");
        w.seconds += seconds_of(p.bytes(), p.flops());
        for (int i = 0; i < sizes[g]; ++i, ++index) {
            for (const void* operand : {a[index], b[index], static_cast<const void*>(c[index])})
                if (!aligned(operand, 16)) return invalid("an operand that is not aligned to sixteen bytes");
            for (const touch& t : p.touches(a[index], b[index], c[index])) w.touches.push_back(t);
            computations.push_back([=, a = a[index], b = b[index], d = c[index]] { p.compute(a, b, d, scale); });
        }
    }
    w.compute = [computations] {
        for (const auto& computation : computations) computation();
    };
    return status_of(submit(handle->stream, std::move(w)));
}

const char* cublasGetStatusString(cublasStatus_t code) {
    switch (code) {
        case CUBLAS_STATUS_SUCCESS: return "CUBLAS_STATUS_SUCCESS";
        case CUBLAS_STATUS_NOT_INITIALIZED: return "CUBLAS_STATUS_NOT_INITIALIZED";
        case CUBLAS_STATUS_INVALID_VALUE: return "CUBLAS_STATUS_INVALID_VALUE";
        case CUBLAS_STATUS_NOT_SUPPORTED: return "CUBLAS_STATUS_NOT_SUPPORTED";
        case CUBLAS_STATUS_EXECUTION_FAILED: return "CUBLAS_STATUS_EXECUTION_FAILED";
        default: return "another status of cuBLAS";
    }
}

}  // extern "C"
