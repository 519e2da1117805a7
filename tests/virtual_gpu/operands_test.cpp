// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// Whole operators against double precision, of the very memory that they took: where operands lie, and in what order.
#include <llmcost/cuda/attention.cuh>
#include <llmcost/cuda/experts.cuh>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "memory.hpp"
#include "numbers.hpp"

using namespace llmcost;
using namespace llmcost::cuda;
using namespace virtual_gpu;

namespace {

operator_shape shape_of(const char* family, std::initializer_list<std::int64_t> sizes, const char* variant = "") {
    operator_shape s;
    s.type = find_operator_type(family);
    s.operand = find_operand_type("bfloat16");
    s.variant = variant;
    std::copy(sizes.begin(), sizes.end(), s.sizes);
    return s;
}

struct libraries {
    lt_handle lt;
    blas_handle blas;
    workplace place;

    libraries() {
        check(cublasLtCreate(lt.address()), "cublasLtCreate");
        check(cublasCreate(blas.address()), "cublasCreate");
        place.lt = lt.get();
        place.blas = blas.get();
        place.memory_limit = std::size_t{1} << 30;
    }
};

/// All numbers of a tensor that an operator took as its i-th piece of memory.
std::vector<double> tensor(const std::vector<piece>& buffers, std::size_t i, bool is_float32 = false) {
    std::vector<double> all;
    if (is_float32)
        for (const float x : from_gpu<float>(buffers[i].address, buffers[i].bytes / 4)) all.push_back(as_double(x));
    else
        for (const __nv_bfloat16 x : from_gpu<__nv_bfloat16>(buffers[i].address, buffers[i].bytes / 2))
            all.push_back(as_double(x));
    return all;
}

/// The largest distance of two tensors by the largest number of the second.
double distance(const std::vector<double>& is, const std::vector<double>& should_be) {
    double maximum = 0, largest = 0;
    for (std::size_t i = 0; i < should_be.size(); ++i) {
        const double difference = std::fabs(is[i] - should_be[i]);
        if (!(difference <= maximum)) maximum = difference;  // one that is no number as well
        largest = std::max(largest, std::fabs(should_be[i]));
    }
    return maximum / largest;
}

/// Products of bfloat16 operands are as good as the sums that bfloat16 results of theirs are rounded from.
const double rounding_tolerance = 4 * spacing<__nv_bfloat16>;

}  // namespace

TEST_CASE("attention in three kernels is attention") {
    struct attention_case {
        const char* family;
        std::initializer_list<std::int64_t> sizes;  // batch, new, heads, their keys', width, window, past
    };
    const attention_case sites[]{
        {"context_attention", {2, 5, 4, 2, 16, 0, 0}}, {"context_attention", {1, 7, 3, 1, 16, 3, 0}},
        {"context_attention", {2, 4, 2, 2, 24, 0, 5}}, {"context_attention", {1, 4, 2, 2, 24, 4, 5}},
        {"generation_attention", {3, 8, 4, 2, 16, 0}}, {"generation_attention", {1, 9, 4, 1, 16, 4}},
        {"full_attention", {2, 5, 4, 2, 16, 6}},
    };
    const full_kernel_guard guard;
    for (const attention_case& s : sites) {
        CAPTURE(s.family);
        const libraries handles;
        const std::size_t first_piece = pieces().size();
        const attention_shape is(shape_of(s.family, s.sizes));
        eager_attention op(handles.place, shape_of(s.family, s.sizes));
        const std::vector<piece> all = pieces(),
                                 buffers(all.begin() + static_cast<std::ptrdiff_t>(first_piece), all.end());
        op.launch(0, nullptr);
        const auto k = tensor(buffers, 0), v = tensor(buffers, 1), q = tensor(buffers, 2), out = tensor(buffers, 3);
        const auto batch = static_cast<std::size_t>(is.batch), heads = static_cast<std::size_t>(is.heads),
                   keys_of = heads / static_cast<std::size_t>(is.kv_heads), width = static_cast<std::size_t>(is.width),
                   fresh = static_cast<std::size_t>(is.fresh), length = static_cast<std::size_t>(is.length);
        std::vector<double> should_be(batch * heads * fresh * width);
        for (std::size_t head = 0; head < batch * heads; ++head)
            for (std::size_t row = 0; row < fresh; ++row) {
                const std::size_t to = is.causal ? length - fresh + row : length - 1;
                const auto window = static_cast<std::size_t>(is.window);
                const std::size_t first_key = window > 0 && to + 1 > window ? to + 1 - window : 0;
                const double* query = &q[(head * fresh + row) * width];
                std::vector<double> share(length);
                double sum = 0;
                for (std::size_t i = first_key; i <= to; ++i) {
                    double score = 0;
                    for (std::size_t d = 0; d < width; ++d)
                        score += query[d] * k[(head / keys_of * length + i) * width + d];
                    sum += share[i] = std::exp(score / std::sqrt(static_cast<double>(width)));
                }
                for (std::size_t i = first_key; i <= to; ++i)
                    for (std::size_t d = 0; d < width; ++d)
                        should_be[(head * fresh + row) * width + d] +=
                            share[i] / sum * v[(head / keys_of * length + i) * width + d];
            }
        REQUIRE(out.size() >= should_be.size());
        CHECK(distance(out, should_be) < rounding_tolerance);
    }
}

TEST_CASE("experts are two products with a gate between, by the rows that each meets") {
    const full_kernel_guard guard;
    for (const char* spread : {"balanced", "power_law_1.2"})
        for (const std::int64_t top_k : {1, 2}) {
            constexpr std::size_t tokens = 5, hidden = 16, inner = 24, experts = 4;
            const operator_shape shape =
                shape_of("moe", {tokens, hidden, inner, top_k, static_cast<std::int64_t>(experts), 1, 1}, spread);
            const libraries handles;
            const std::size_t first_piece = pieces().size();
            routed_experts op(handles.place, shape);
            const std::vector<piece> all = pieces(),
                                     buffers(all.begin() + static_cast<std::ptrdiff_t>(first_piece), all.end());
            check(cudaDeviceSynchronize(), "copies from the host");
            const stream cuda_stream = make_stream();
            op.launch(0, cuda_stream.get());
            const auto x = tensor(buffers, 0), out = tensor(buffers, 1), shares = tensor(buffers, 7, true);
            const auto up = tensor(buffers, 9), down = tensor(buffers, 10);
            const auto rows = expert_rows(tokens, top_k, experts, spread);
            std::vector<double> should_be(tokens * hidden);
            std::size_t row = 0;
            for (std::size_t e = 0; e < experts; ++e)
                for (std::int64_t i = 0; i < rows[e]; ++i, ++row) {
                    const double* in = &x[row % tokens * hidden];
                    std::vector<double> gated(inner);
                    for (std::size_t c = 0; c < inner; ++c) {
                        double gate = 0, up_sum = 0;
                        for (std::size_t d = 0; d < hidden; ++d) {
                            gate += in[d] * up[(e * 2 * inner + c) * hidden + d];
                            up_sum += in[d] * up[(e * 2 * inner + inner + c) * hidden + d];
                        }
                        gated[c] = gate / (1 + std::exp(-gate)) * up_sum;
                    }
                    for (std::size_t d = 0; d < hidden; ++d)
                        for (std::size_t c = 0; c < inner; ++c)
                            should_be[row % tokens * hidden + d] +=
                                shares[row] * gated[c] * down[(e * hidden + d) * inner + c];
                }
            CHECK(distance(out, should_be) < rounding_tolerance);
        }
}

TEST_CASE("a product's second operand is stored by rows or by columns") {
    const libraries handles;
    for (const bool by_columns : {true, false}) {
        constexpr std::size_t batch = 2, m = 3, n = 8, k = 16;
        product_shape p;
        p.batch = batch;
        p.m = m;
        p.n = n;
        p.k = k;
        p.second_by_columns = by_columns;
        const auto first = some_numbers<__nv_bfloat16>(batch * m * k, 1),
                   second = some_numbers<__nv_bfloat16>(batch * n * k, 2);
        const memory a = on_gpu(first), b = on_gpu(second), d = allocate(batch * m * n * 2),
                     workspace = allocate(product_plan::workspace_bytes);
        product_plan(handles.lt.get(), p).launch(a.get(), b.get(), d.get(), workspace.get(), nullptr);
        std::vector<double> is, should_be;
        for (const __nv_bfloat16 x : from_gpu<__nv_bfloat16>(d.get(), batch * m * n)) is.push_back(as_double(x));
        for (std::size_t i = 0; i < batch; ++i)
            for (std::size_t row = 0; row < m; ++row)
                for (std::size_t column = 0; column < n; ++column) {
                    double sum = 0;
                    for (std::size_t depth = 0; depth < k; ++depth)
                        sum +=
                            as_double(first[(i * m + row) * k + depth]) *
                            as_double(second[by_columns ? (i * n + column) * k + depth : (i * k + depth) * n + column]);
                    should_be.push_back(sum);
                }
        CHECK(distance(is, should_be) < rounding_tolerance);
    }
}
