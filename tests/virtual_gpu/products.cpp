// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "products.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace virtual_gpu {

namespace {

std::size_t width_of(cudaDataType_t type) {
    return type == CUDA_R_32F ? 4 : type == CUDA_R_8F_E4M3 || type == CUDA_R_8F_E5M2 ? 1 : 2;
}
bool is_eight_bits(cudaDataType_t type) { return width_of(type) == 1; }

double read(const void* p, cudaDataType_t type, std::size_t i) {
    if (type == CUDA_R_32F) return static_cast<double>(static_cast<const float*>(p)[i]);
    if (type == CUDA_R_16F) return static_cast<double>(static_cast<float>(static_cast<const __half*>(p)[i]));
    if (type == CUDA_R_16BF) return static_cast<double>(static_cast<float>(static_cast<const __nv_bfloat16*>(p)[i]));
    return static_cast<double>(static_cast<float>(static_cast<const __nv_fp8_e4m3*>(p)[i]));
}
void write(void* p, cudaDataType_t type, std::size_t i, float value) {
    if (type == CUDA_R_32F)
        static_cast<float*>(p)[i] = value;
    else if (type == CUDA_R_16F)
        static_cast<__half*>(p)[i] = __half(value);
    else if (type == CUDA_R_16BF)
        static_cast<__nv_bfloat16*>(p)[i] = __nv_bfloat16(value);
    else
        static_cast<__nv_fp8_e4m3*>(p)[i] = __nv_fp8_e4m3(value);
}

/// cuBLAS's table for CUBLAS_COMPUTE_32F with a scale of float32 (documentation of cublasLtMatmul).
bool known_types(cudaDataType_t a, cudaDataType_t b, cudaDataType_t d) {
    if (is_eight_bits(a) || is_eight_bits(b))
        return is_eight_bits(a) && is_eight_bits(b) && !(a == CUDA_R_8F_E5M2 && b == CUDA_R_8F_E5M2);
    return a == b && (a == CUDA_R_16BF || a == CUDA_R_16F || a == CUDA_R_32F) && (d == a || d == CUDA_R_32F);
}

}  // namespace

std::size_t matrix::bytes() const {
    const auto last = static_cast<std::uint64_t>(batch - 1) * static_cast<std::uint64_t>(stride);
    return (last + (columns - 1) * static_cast<std::uint64_t>(leading) + rows) * width_of(type);
}

double product::flops() const {
    return 2.0 * a.batch * static_cast<double>(m()) * static_cast<double>(n()) * static_cast<double>(k());
}
double product::bytes() const { return static_cast<double>(a.bytes() + b.bytes() + d.bytes()); }

std::string product::fault() const {
    for (const matrix* x : {&a, &b, &d}) {
        if (x->rows == 0 || x->columns == 0) return "a matrix without elements";
        if (x->rows > INT32_MAX || x->columns > INT32_MAX) return "more rows or columns than an int32 counts";
        if (x->leading < static_cast<std::int64_t>(x->rows)) return "a leading dimension below the rows";
        if (x->batch != a.batch || x->batch < 1) return "batches of different sizes";
        const bool overlaps = x->stride < x->leading * static_cast<std::int64_t>(x->columns);
        if (x->batch > 1 && overlaps && (x == &d || x->stride != 0)) return "a batch whose matrices overlap";
    }
    if ((turns_b ? b.columns : b.rows) != k()) return "operands of different depths";
    if (d.rows != m() || d.columns != n()) return "a result of another size";
    if (!known_types(a.type, b.type, d.type)) return "types that do not go together";
    const int capability = 10 * at_hand().major + at_hand().minor;
    if (a.type == CUDA_R_16BF && capability < 80) return "bfloat16 before compute capability 8.0";
    if (is_eight_bits(a.type)) {
        if (capability < 89) return "eight bits before compute capability 8.9";
        if (!turns_a || turns_b) return "eight bits, and not the first operand turned and the second straight";
        if (m() % 16 != 0 || k() % 16 != 0) return "eight bits, and sizes that are no multiples of 16";
        if (a.leading % 16 != 0 || b.leading % 16 != 0) return "eight bits, and leading dimensions of no 16 bytes";
    }
    return {};
}

std::vector<touch> product::touches(const void* at_a, const void* at_b, void* at_d) const {
    return {{at_a, a.bytes(), false, "the first operand of a product"},
            {at_b, b.bytes(), false, "the second operand of a product"},
            {at_d, d.bytes(), true, "a product"}};
}

void product::compute(const void* at_a, const void* at_b, void* at_d, float alpha) const {
    if (flops() > at_hand().max_products) return;
    const auto place = [](const matrix& x, std::size_t of_batch, std::size_t row, std::size_t column) {
        return of_batch * static_cast<std::size_t>(x.stride) + column * static_cast<std::size_t>(x.leading) + row;
    };
    for (std::size_t i = 0; i < static_cast<std::size_t>(a.batch); ++i)
        for (std::size_t row = 0; row < m(); ++row)
            for (std::size_t column = 0; column < n(); ++column) {
                double sum = 0;
                for (std::size_t depth = 0; depth < k(); ++depth)
                    sum += read(at_a, a.type, turns_a ? place(a, i, depth, row) : place(a, i, row, depth)) *
                           read(at_b, b.type, turns_b ? place(b, i, column, depth) : place(b, i, depth, column));
                write(at_d, d.type, place(d, i, row, column), alpha * static_cast<float>(sum));
            }
}

}  // namespace virtual_gpu
