// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <llmcost/cuda/device_operator.cuh>

// Products of matrices by cuBLASLt.
namespace llmcost::cuda {

/// A batch of products (m, k) x (n, k)ᵀ, or (m, k) x (k, n), of dense matrices whose rows are contiguous and
/// consecutive.
struct product_shape {
    std::uint64_t m = 0, n = 0, k = 0;
    int batch = 1;
    cudaDataType_t in = CUDA_R_16BF, out = CUDA_R_16BF;
    bool second_by_columns = true;  ///< the second operand is (n, k), as weights are
};

/// cuBLASLt's own choice of a kernel for a product. It is launched on any operands of its shape.
///
/// cuBLASLt is column-major: it computes the transpose, (n, k) x (k, m), with the second operand first.
class product_plan {
public:
    static constexpr std::size_t workspace_bytes = std::size_t{32} << 20;

    product_plan(cublasLtHandle_t lt, const product_shape& p) : lt_(lt) {
        check(cublasLtMatmulDescCreate(operation_.address(), CUBLAS_COMPUTE_32F, CUDA_R_32F),
              "cublasLtMatmulDescCreate");
        const cublasOperation_t transpose = p.second_by_columns ? CUBLAS_OP_T : CUBLAS_OP_N;
        check(
            cublasLtMatmulDescSetAttribute(operation_.get(), CUBLASLT_MATMUL_DESC_TRANSA, &transpose, sizeof transpose),
            "cublasLtMatmulDescSetAttribute");
        layout(a_, p.in, p.second_by_columns ? p.k : p.n, p.second_by_columns ? p.n : p.k, p.batch);
        layout(b_, p.in, p.k, p.m, p.batch);
        layout(d_, p.out, p.n, p.m, p.batch);
        matmul_preference preference;
        check(cublasLtMatmulPreferenceCreate(preference.address()), "cublasLtMatmulPreferenceCreate");
        const std::size_t maximum = workspace_bytes;
        check(cublasLtMatmulPreferenceSetAttribute(preference.get(), CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &maximum,
                                                   sizeof maximum),
              "cublasLtMatmulPreferenceSetAttribute");
        int found = 0;
        check(cublasLtMatmulAlgoGetHeuristic(lt_, operation_.get(), a_.get(), b_.get(), d_.get(), d_.get(),
                                             preference.get(), 1, &chosen_, &found),
              "cublasLtMatmulAlgoGetHeuristic");
        if (found == 0 || chosen_.state != CUBLAS_STATUS_SUCCESS)
            throw not_supported("cuBLASLt has no kernel for this product");
    }
    /// d = first · second, in a workspace of `workspace_bytes`.
    void launch(const void* first, const void* second, void* d, void* workspace, cudaStream_t cuda_stream) const {
        const float one = 1, zero = 0;
        check(cublasLtMatmul(lt_, operation_.get(), &one, second, a_.get(), first, b_.get(), &zero, d, d_.get(), d,
                             d_.get(), &chosen_.algo, workspace, workspace_bytes, cuda_stream),
              "cublasLtMatmul");
    }

private:
    static void layout(matrix_layout& descriptor, cudaDataType_t type, std::uint64_t rows, std::uint64_t columns,
                       int batch) {
        check(cublasLtMatrixLayoutCreate(descriptor.address(), type, rows, columns, static_cast<std::int64_t>(rows)),
              "cublasLtMatrixLayoutCreate");
        if (batch == 1) return;
        const std::int32_t count = batch;
        const auto stride = static_cast<std::int64_t>(rows * columns);
        check(cublasLtMatrixLayoutSetAttribute(descriptor.get(), CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count,
                                               sizeof count),
              "cublasLtMatrixLayoutSetAttribute");
        check(cublasLtMatrixLayoutSetAttribute(descriptor.get(), CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride,
                                               sizeof stride),
              "cublasLtMatrixLayoutSetAttribute");
    }

    cublasLtHandle_t lt_;
    matmul_descriptor operation_;
    matrix_layout a_, b_, d_;
    cublasLtMatmulHeuristicResult_t chosen_{};
};

/// A product of rows with a weight, or a batch of products of activations; second operands are rotated.
class matrix_product final : public device_operator {
public:
    matrix_product(const workplace& resources, const operator_shape& shape) : plan_(resources.lt, shape_of(shape)) {
        const product_shape p = shape_of(shape);
        const std::size_t batch = static_cast<std::size_t>(p.batch);
        const std::size_t first = batch * p.m * p.k, second = batch * p.n * p.k, out = batch * p.m * p.n;
        const std::size_t shared =
            first * detail::width_of(p.in) + out * detail::width_of(p.out) + product_plan::workspace_bytes;
        sets_ = resources.sets(second * detail::width_of(p.in), shared);
        for (int i = 0; i < sets_; ++i) {
            second_.push_back(hold(second * detail::width_of(p.in)));
            detail::fill(second_.back(), second, p.in, 0.5f);
        }
        first_ = hold(first * detail::width_of(p.in));
        out_ = hold(out * detail::width_of(p.out));
        workspace_ = hold(product_plan::workspace_bytes);
        detail::fill(first_, first, p.in, 0.5f);
    }
    void launch(int copy, cudaStream_t cuda_stream) override {
        plan_.launch(first_.get(), second_[static_cast<std::size_t>(copy % sets_)].get(), out_.get(), workspace_.get(),
                     cuda_stream);
    }
    [[nodiscard]] std::string kernel() const override { return "cublasLt"; }

private:
    static product_shape shape_of(const operator_shape& shape) {
        const std::size_t first_size = shape.size("batch_size") != 0 ? 1 : 0;
        product_shape p;
        p.m = static_cast<std::uint64_t>(shape.sizes[first_size]);
        p.n = static_cast<std::uint64_t>(shape.sizes[first_size + 1]);
        p.k = static_cast<std::uint64_t>(shape.sizes[first_size + 2]);
        p.batch = first_size == 1 ? static_cast<int>(shape.sizes[0]) : 1;
        p.in = detail::type_of(*shape.operand);
        p.out = p.in == CUDA_R_8F_E4M3 ? CUDA_R_16BF : p.in;
        return p;
    }

    product_plan plan_;
    int sets_ = 1;
    std::vector<memory> second_;
    memory first_, out_, workspace_;
};

}  // namespace llmcost::cuda
