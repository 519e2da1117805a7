// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// What the virtual GPU's libraries demand: each demand is failed here once.
#include <llmcost/cuda/collectives.cuh>
#include <llmcost/cuda/experts.cuh>
#include <llmcost/cuda/fused_attention.cuh>
#include <llmcost/cuda/products.cuh>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "board.hpp"

using namespace llmcost::cuda;
using namespace virtual_gpu;

namespace {

product_shape of_eight_bits() {
    product_shape p;
    p.m = 3;
    p.n = 32;
    p.k = 64;
    p.in = CUDA_R_8F_E4M3;
    return p;
}

}  // namespace

TEST_CASE("products that cuBLASLt does not take") {
    lt_handle lt;
    check(cublasLtCreate(lt.address()), "cublasLtCreate");
    const auto refused = [&](const product_shape& p) {
        set_error_message("");
        CHECK_THROWS_AS(product_plan(lt.get(), p), not_supported);
        return last_error_message();
    };
    CHECK_NOTHROW(product_plan(lt.get(), of_eight_bits()));
    product_shape p = of_eight_bits();
    p.k = 56;
    CHECK(contains(refused(p), "no multiples of 16"));
    p = of_eight_bits();
    p.n = 24;
    CHECK(contains(refused(p), "no multiples of 16"));
    p = of_eight_bits();
    p.second_by_columns = false;
    CHECK(contains(refused(p), "turned"));
    at_hand().major = 8;
    at_hand().minor = 0;
    CHECK(contains(refused(of_eight_bits()), "before compute capability 8.9"));
    at_hand() = board{};
    p = of_eight_bits();
    p.in = CUDA_R_16F;
    p.out = CUDA_R_16BF;
    CHECK(contains(refused(p), "types"));
    p = product_shape{};
    p.m = 0;
    p.n = 1;
    p.k = 1;
    CHECK(contains(refused(p), "without elements"));
}

TEST_CASE("operands, results and workspaces of a product lie in memory as a whole") {
    lt_handle lt;
    check(cublasLtCreate(lt.address()), "cublasLtCreate");
    product_shape p;
    p.batch = 2;
    p.m = 3;
    p.n = 16;
    p.k = 32;
    const product_plan plan(lt.get(), p);
    const std::size_t sizes[]{2 * 3 * 32 * 2, 2 * 16 * 32 * 2, 2 * 3 * 16 * 2, product_plan::workspace_bytes};
    const auto launched = [&](int operand, std::size_t missing_bytes, std::size_t offset_bytes) {
        std::vector<memory> m;
        std::vector<char*> operands;
        for (int i = 0; i < 4; ++i) {
            m.push_back(allocate(sizes[i] + 256 - (i == operand ? 256 + missing_bytes : 0)));
            operands.push_back(static_cast<char*>(m.back().get()) + (i == operand ? offset_bytes : 0));
        }
        return complaints_of([&] {
            try {
                plan.launch(operands[0], operands[1], operands[2], operands[3], nullptr);
            } catch (const cuda_error&) {
                set_error_message(last_error_message() + " refused");
            }
        });
    };
    CHECK(launched(-1, 0, 0).empty());
    CHECK(contains(launched(0, 2, 0), "second operand"));  // cuBLASLt's second is the first
    CHECK(contains(launched(1, 2, 0), "first operand"));
    CHECK(contains(launched(2, 2, 0), "a product has"));
    CHECK(contains(launched(3, 1, 0), "the workspace"));
    set_error_message("");
    CHECK(launched(1, 0, 2).empty());
    CHECK(contains(last_error_message(), "less aligned"));
    const memory m = allocate(std::size_t{1} << 26);
    CHECK(contains(complaints_of([&] { CHECK_THROWS(plan.launch(m.get(), nullptr, m.get(), m.get(), nullptr)); }),
                   "lies in no memory"));
}

TEST_CASE("grouped products read pointers on the GPU and sizes on the host") {
    blas_handle blas;
    check(cublasCreate(blas.address()), "cublasCreate");
    const memory m = allocate(1 << 16), pointers = allocate(sizeof(void*));
    void* const address = m.get();
    check(cudaMemcpy(pointers.get(), &address, sizeof address, cudaMemcpyHostToDevice), "copy");
    const cublasOperation_t transposed = CUBLAS_OP_T, straight = CUBLAS_OP_N;
    const float one = 1, zero = 0;
    const auto code = [&](const void* const* operands, const int* depth, int rows, int leading) {
        const int columns = 16, groups = 1;
        return cublasGemmGroupedBatchedEx(blas.get(), &transposed, &straight, &columns, &rows, depth, &one, operands,
                                          CUDA_R_16BF, &leading, operands, CUDA_R_16BF, &leading, &zero,
                                          static_cast<void* const*>(pointers.get()), CUDA_R_16BF, &columns, 1, &groups,
                                          CUBLAS_COMPUTE_32F);
    };
    const int depth = 32;
    const auto* const on_gpu = static_cast<const void* const*>(pointers.get());
    CHECK(code(on_gpu, &depth, 4, 32) == CUBLAS_STATUS_SUCCESS);
    CHECK(code(on_gpu, &depth, 4, 16) == CUBLAS_STATUS_INVALID_VALUE);
    CHECK(code(on_gpu, static_cast<const int*>(m.get()), 4, 32) == CUBLAS_STATUS_INVALID_VALUE);
    const void* const on_host[]{m.get()};
    CHECK(contains(complaints_of([&] { CHECK(code(on_host, &depth, 4, 32) == CUBLAS_STATUS_INVALID_VALUE); }),
                   "no memory"));
    CHECK(contains(complaints_of([&] { CHECK(code(on_gpu, &depth, 4000, 32) != CUBLAS_STATUS_SUCCESS); }),
                   "goes on for"));
}

TEST_CASE("descriptors of cuDNN are whole before they end, and closed after") {
    cudnn_descriptor d;
    check(cudnnBackendCreateDescriptor(CUDNN_BACKEND_MATMUL_DESCRIPTOR, d.address()), "create");
    CHECK(cudnnBackendFinalize(d.get()) == CUDNN_STATUS_BAD_PARAM);
    const cudnnDataType_t computed = CUDNN_DATA_FLOAT;
    const auto set = [&] {
        return cudnnBackendSetAttribute(d.get(), CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &computed);
    };
    CHECK(set() == CUDNN_STATUS_SUCCESS);
    CHECK(cudnnBackendFinalize(d.get()) == CUDNN_STATUS_SUCCESS);
    CHECK(set() == CUDNN_STATUS_BAD_PARAM);
}

TEST_CASE("attention by cuDNN has tensors that lie in memory as a whole") {
    llmcost::operator_shape s;
    s.type = llmcost::find_operator_type("context_attention");
    s.operand = llmcost::find_operand_type("bfloat16");
    s.sizes[0] = 1;
    s.sizes[1] = 8;
    s.sizes[2] = 4;
    s.sizes[3] = 2;
    s.sizes[4] = 64;
    const cudnn_handle handle = make_cudnn();
    const attention_shape is(s);
    attention_plan plan(is, handle.get());
    const auto launched = [&](std::size_t missing) {
        const memory q = allocate(2 * is.queries()), k = allocate(2 * is.keys()), v = allocate(2 * is.keys() - missing),
                     out = allocate(2 * is.queries()), workspace = allocate(plan.workspace_bytes());
        return complaints_of([&] {
            try {
                plan.launch(q.get(), k.get(), v.get(), out.get(), workspace.get(), nullptr);
            } catch (const not_supported&) {
            }
        });
    };
    CHECK(launched(0).empty());
    CHECK(contains(launched(2), "a tensor of cuDNN's"));
}

TEST_CASE("a collective that one rank does not call would wait for ever") {
    at_hand().gpus = 2;
    {
        std::vector<communicator> all;
        ncclComm_t made[2];
        check(ncclCommInitAll(made, 2, nullptr), "ncclCommInitAll");
        for (const ncclComm_t c : made) all.emplace_back(c);
        std::vector<stream> streams;
        std::vector<memory> buffers;
        for (int i = 0; i < 2; ++i) {
            const on_device device_guard(i);
            streams.push_back(make_stream());
            buffers.push_back(allocate(64));
        }
        const auto call = [&](std::size_t i, std::size_t n) {
            void* buffer = buffers[i].get();
            return ncclAllReduce(buffer, buffer, n, ncclFloat32, ncclSum, made[i], streams[i].get());
        };
        const auto run_group = [&](std::size_t first, std::size_t second) {
            return complaints_of([&] {
                (void)ncclGroupStart();
                (void)call(0, first);
                if (second != 0) (void)call(1, second);
                (void)ncclGroupEnd();
            });
        };
        CHECK(run_group(16, 16).empty());
        CHECK(contains(run_group(16, 0), "would wait for ever"));
        CHECK(contains(run_group(16, 8), "would wait for ever"));
        CHECK(contains(run_group(17, 17), "goes on for 64"));
        const auto lone = complaints_of([&] {
            (void)ncclGroupStart();
            (void)ncclSend(buffers[0].get(), 4, ncclFloat32, 1, made[0], streams[0].get());
            (void)ncclGroupEnd();
        });
        CHECK(contains(lone, "no peer meets"));
        CHECK(ncclCommInitAll(made, 3, nullptr) != ncclSuccess);
    }
    at_hand().gpus = 1;
}
