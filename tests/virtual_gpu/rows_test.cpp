// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// Row kernels against double precision. Bounds: half a spacing where a result is rounded, and of each float32 operation
// that came before 2^-24 of what it computed.
#include <llmcost/cuda/rows.cuh>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "numbers.hpp"

using namespace llmcost;
using namespace llmcost::cuda;
using namespace virtual_gpu;

namespace {

const double roundoff = std::exp2(-24);

const row_kernel& kernel_named(const std::string& name) {
    for (const row_kernel& k : row_kernels)
        if (k.name == name) return k;
    throw std::runtime_error("no kernel " + name);
}

/// The result of a kernel, by name, for two tensors and its auxiliary operands.
template <class T>
std::vector<T> made_by(const std::string& name, std::size_t rows, std::size_t width, const std::vector<T>& first,
                       const std::vector<T>& second, const memory& auxiliary, int additions = 0) {
    const full_kernel_guard guard;
    const memory a = on_gpu(first), b = second.empty() ? memory() : on_gpu(second);
    const memory out = allocate(rows * width * sizeof(T));
    const row_kernel& k = kernel_named(name);
    cuda::detail::row_arguments r;
    r.first = a.get();
    r.second = b.get();
    r.auxiliary = auxiliary.get();
    r.out = out.get();
    r.rows = rows;
    r.width = width;
    r.elements = rows * width;
    r.additions = additions;
    (sizeof(T) == 4 ? k.float32 : k.bfloat16)(r);
    return from_gpu<T>(out.get(), rows * width);
}

/// Whether a number is as expected, except for roundings of the operations before.
template <class T>
bool near(T is, double should_be, double tolerance) {
    return std::fabs(as_double(is) - should_be) <= 0.5 * spacing<T> * std::fabs(should_be) * 1.0001 + tolerance;
}

struct extent {
    std::size_t rows, width;
};
constexpr extent extents[]{{1, 8}, {3, 24}, {17, 264}, {2, 2056}, {5, 4096}};

}  // namespace

TEST_CASE_TEMPLATE("norms", T, __nv_bfloat16, float) {
    for (const bool has_mean : {false, true})
        for (const auto& [rows, width] : extents) {
            CAPTURE(width);
            const auto x = some_numbers<T>(rows * width, 1), auxiliary = some_numbers<T>(2 * width, 2);
            const auto y = made_by<T>(has_mean ? "layer_norm" : "rms_norm", rows, width, x, {}, on_gpu(auxiliary));
            std::size_t wrong = 0;
            for (std::size_t r = 0; r < rows; ++r) {
                double sum = 0, squares = 0;
                for (std::size_t i = 0; i < width; ++i) {
                    sum += as_double(x[r * width + i]);
                    squares += std::pow(as_double(x[r * width + i]), 2);
                }
                const auto n = static_cast<double>(width);
                const double mean = has_mean ? sum / n : 0;
                double variance = 0;
                for (std::size_t i = 0; i < width; ++i) variance += std::pow(as_double(x[r * width + i]) - mean, 2) / n;
                const double scale = 1 / std::sqrt(variance + 1e-6);
                // each sum has an operation per element; their difference loses what squares are larger than it
                const double tolerance = (n + 8) * roundoff * (1 + squares / n * scale * scale);
                for (std::size_t i = 0; i < width; ++i) {
                    const double w = as_double(auxiliary[i]), b = has_mean ? as_double(auxiliary[width + i]) : 0;
                    const double e = as_double(x[r * width + i]), should_be = (e - mean) * scale * w + b;
                    const double size = (std::fabs(e) + std::fabs(mean) + 1) * scale * std::fabs(w) + std::fabs(b);
                    wrong += near(y[r * width + i], should_be, tolerance * size) ? 0 : 1;
                }
            }
            CHECK(wrong == 0);
        }
}

TEST_CASE_TEMPLATE("rows become shares", T, __nv_bfloat16, float) {
    for (const auto& [rows, width] : extents) {
        CAPTURE(width);
        const auto x = some_numbers<T>(rows * width, 3);
        const auto y = made_by<T>("softmax", rows, width, x, {}, memory());
        std::size_t wrong = 0;
        for (std::size_t r = 0; r < rows; ++r) {
            double maximum = -INFINITY, sum = 0;
            for (std::size_t i = 0; i < width; ++i) maximum = std::max(maximum, as_double(x[r * width + i]));
            for (std::size_t i = 0; i < width; ++i) sum += std::exp(as_double(x[r * width + i]) - maximum);
            for (std::size_t i = 0; i < width; ++i) {
                const double should_be = std::exp(as_double(x[r * width + i]) - maximum) / sum;
                wrong += near(y[r * width + i], should_be, (4 * static_cast<double>(width) + 16) * roundoff * should_be)
                             ? 0
                             : 1;
            }
        }
        CHECK(wrong == 0);
    }
}

TEST_CASE_TEMPLATE("maps, element by element", T, __nv_bfloat16, float) {
    const auto silu = [](double a) { return a / (1 + std::exp(-a)); };
    const auto gelu = [](double a) { return 0.5 * a * (1 + std::erf(a / std::sqrt(2.0))); };
    for (const auto& [rows, width] : extents) {
        CAPTURE(width);
        const std::size_t n = rows * width;
        const auto a = some_numbers<T>(n, 4), b = some_numbers<T>(n, 5);
        const auto wrong = [&](const char* name, const std::vector<T>& second, int additions, auto should_be) {
            const auto y = made_by<T>(name, rows, width, a, second, memory(), additions);
            std::size_t count = 0;
            for (std::size_t i = 0; i < n; ++i)
                count += near(y[i], should_be(as_double(a[i]), as_double(b[i])), 16 * (1 + additions) * roundoff * 4)
                             ? 0
                             : 1;
            return count;
        };
        CHECK(wrong("scaled", {}, 0, [](double x, double) { return 0.5 * x; }) == 0);
        CHECK(wrong("scaled_hot", {}, 3, [](double x, double) { return 0.5 * x + 1.5; }) == 0);
        CHECK(wrong("added", b, 0, [](double x, double y) { return x + y; }) == 0);
        CHECK(wrong("silu_mul", b, 0, [&](double x, double y) { return silu(x) * y; }) == 0);
        CHECK(wrong("gelu", {}, 0, [&](double x, double) { return gelu(x); }) == 0);
        CHECK(wrong("copied", {}, 0, [](double x, double) { return x; }) == 0);
    }
}

TEST_CASE_TEMPLATE("heads are turned by their rows' angles", T, __nv_bfloat16, float) {
    constexpr std::size_t head = cuda::detail::rotary_width, half = head / 2;
    for (const std::size_t rows : {1, 3, 37})
        for (const std::size_t heads : {1, 3}) {
            const std::size_t width = heads * head;
            const auto x = some_numbers<T>(rows * width, 6), angles = some_numbers<T>(rows * head, 7);
            const auto y = made_by<T>("rotated", rows, width, x, {}, on_gpu(angles));
            std::size_t wrong = 0;
            for (std::size_t r = 0; r < rows; ++r)
                for (std::size_t h = 0; h < heads; ++h)
                    for (std::size_t i = 0; i < half; ++i) {
                        const std::size_t low = r * width + h * head + i;
                        const double cosine = as_double(angles[r * half + i]),
                                     sine = as_double(angles[(rows + r) * half + i]);
                        const double p = as_double(x[low]), q = as_double(x[low + half]);
                        wrong += near(y[low], p * cosine - q * sine, 16 * roundoff) ? 0 : 1;
                        wrong += near(y[low + half], q * cosine + p * sine, 16 * roundoff) ? 0 : 1;
                    }
            CHECK(wrong == 0);
        }
}

TEST_CASE_TEMPLATE("rows are gathered by their numbers", T, __nv_bfloat16, float) {
    for (const auto& [rows, width] : extents) {
        const std::size_t table = rows + 3;
        const auto x = some_numbers<T>(table * width, 8);
        std::vector<std::int32_t> numbers;
        for (std::size_t r = 0; r < rows; ++r) numbers.push_back(static_cast<std::int32_t>((r * 7 + 2) % table));
        const auto y = made_by<T>("gathered", rows, width, x, {}, on_gpu(numbers));
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < rows * width; ++i)
            wrong += as_double(y[i]) == as_double(x[static_cast<std::size_t>(numbers[i / width]) * width + i % width])
                         ? 0
                         : 1;
        CHECK(wrong == 0);
    }
}

TEST_CASE("the largest magnitude of all") {
    for (const auto& [rows, width] : extents) {
        auto x = some_numbers<__nv_bfloat16>(rows * width, 9);
        x[rows * width - 1] = __nv_bfloat16(-3.0f);  // the very last, and negative
        const memory in = on_gpu(x), out = on_gpu(std::vector<int>{0});
        const full_kernel_guard guard;
        cuda::detail::row_arguments r;
        r.first = in.get();
        r.out = out.get();
        r.rows = rows;
        r.width = width;
        kernel_named("absmax").bfloat16(r);
        CHECK(from_gpu<float>(out.get(), 1)[0] == 3.0f);
    }
}

TEST_CASE("eight bits are the nearest that there are") {
    std::vector<double> all;
    for (int code = 0; code < 256; ++code) {
        __nv_fp8_e4m3 x;
        x.__x = static_cast<__nv_fp8_storage_t>(code);
        if (!std::isnan(as_double(x))) all.push_back(as_double(x));
    }
    for (const auto& [rows, width] : extents) {
        auto x = some_numbers<__nv_bfloat16>(rows * width, 10);
        x[0] = __nv_bfloat16(5000.0f);  // beyond the largest, which is 448
        const memory in = on_gpu(x), out = allocate(rows * width);
        const full_kernel_guard guard;
        cuda::detail::row_arguments r;
        r.first = in.get();
        r.out = out.get();
        r.rows = rows;
        r.width = width;
        kernel_named("quantised").bfloat16(r);
        const auto y = from_gpu<__nv_fp8_e4m3>(out.get(), rows * width);
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < y.size(); ++i) {
            const double scaled = 0.5 * as_double(x[i]);
            double minimum = INFINITY;
            for (const double a : all) minimum = std::min(minimum, std::fabs(a - scaled));
            wrong += std::fabs(as_double(y[i]) - scaled) == minimum ? 0 : 1;
        }
        CHECK(wrong == 0);
        CHECK(as_double(y[0]) == 448);
    }
}

TEST_CASE_TEMPLATE("memory is filled with normally distributed numbers, and not beyond", T, __nv_bfloat16, __half,
                   float) {
    const full_kernel_guard guard;
    const std::size_t n = 300001;  // more than there are threads
    const memory m = allocate(n * sizeof(T));
    cuda::detail::fill(m, n, sizeof(T) == 4 ? CUDA_R_32F : std::is_same_v<T, __half> ? CUDA_R_16F : CUDA_R_16BF, 0.5f);
    double sum = 0, squares = 0, num_outliers = 0;
    for (const T x : from_gpu<T>(m.get(), n)) {
        sum += as_double(x);
        squares += as_double(x) * as_double(x);
        num_outliers += std::fabs(as_double(x)) > 1 ? 1 : 0;
    }
    const auto count = static_cast<double>(n);
    CHECK(std::fabs(sum / count) < 5 * 0.5 / std::sqrt(count));  // five standard errors
    CHECK(std::fabs(squares / count - 0.25) <
          5 * 0.25 * std::sqrt(2 / count) + 0.001);  // and the rounding of a bfloat16
    CHECK(std::fabs(num_outliers / count - 0.0455) < 5 * std::sqrt(0.0455 / count) + 0.002);  // two deviations
}
