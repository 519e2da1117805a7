// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/devices/all.hpp>
#include <llmcost/kernels/fit.hpp>
#include <llmcost/latency/calibration.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

using namespace llmcost;

namespace {

// noise without a generator: the same everywhere
double noise(int i) {
    return std::sin(i * 12.9898) * 43758.5453 - std::floor(std::sin(i * 12.9898) * 43758.5453) - 0.5;
}

}  // namespace

// devices of a collective: 2, 4, 8
TEST_CASE("sites of one number lie on a line, and hold at its ends") {
    const std::int64_t sites[] = {2, 4, 8}, centres[] = {0, 4, 10}, units[] = {1, 1, 1}, axis[] = {1};
    const std::string none(1, correction_code::encode(0));
    const string_ref pages[] = {none, none, none};
    correction_table r;
    r.step = 0.5;
    r.columns = 1;
    r.num_layer_shapes = 3;
    r.sites = sites;
    r.centres = centres;
    r.units = units;
    r.axis[0] = axis;
    r.length[0] = 1;
    r.pages = pages;
    const auto correction_of = [&](std::int64_t devices) {
        const std::int64_t message = 1;
        return r(&devices, &message);
    };
    CHECK(correction_of(1) == 0);
    CHECK(correction_of(4) == 2);
    CHECK(correction_of(8) == 5);
    CHECK(correction_of(3) == doctest::Approx(2 * std::log2(1.5)));
    CHECK(correction_of(6) == doctest::Approx(2 + 3 * std::log2(1.5)));
    CHECK(correction_of(16) == 5);
    CHECK(correction_of(1024) == 5);
}

TEST_CASE("a roofline is its launch, its bounds, and smooth between them") {
    const roofline r{1e-6, 0.5, 0.8, 2};
    CHECK(r(0, 0) == 1e-6);
    CHECK(r(1e-3, 0) == doctest::Approx(1e-6 + 2e-3));
    CHECK(r(0, 1e-3) == doctest::Approx(1e-6 + 1.25e-3));
    CHECK(r(0.3e-3, 0.64e-3) == doctest::Approx(1e-6 + 1e-3));  // 0.6 and 0.8: a right triangle
    CHECK(roofline{0, 1, 1, 64}(3e-3, 4e-3) == doctest::Approx(4e-3));
    CHECK(r.bound(1e-7, 1e-7) == roofline_bound::launch);
    CHECK(r.bound(1e-3, 1e-3) == roofline_bound::compute);
    CHECK(r.bound(1e-4, 1e-3) == roofline_bound::memory);
    for (double c = 1e-9; c < 1; c *= 1.7)
        for (double m = 1e-9; m < 1; m *= 1.7) {
            CHECK(r(c, m) >= 1e-6 + std::fmax(c / 0.5, m / 0.8) * (1 - 1e-12));
            CHECK(r(c * 1.1, m) > r(c, m) * (1 - 1e-12));
            CHECK(r(c, m * 1.1) > r(c, m) * (1 - 1e-12));
        }
}

TEST_CASE("residuals are characters that a file can hold") {
    for (int units = -40; units <= 40; ++units) {
        const char c = correction_code::encode(units);
        CHECK(correction_code::units(c) == units);
        CHECK(correction_code::is_one(c));
        CHECK(c != '"');
        CHECK(c != '\\');
    }
    CHECK(correction_code::encode(1000) == correction_code::encode(40));
    CHECK(correction_code::encode(-1000) == correction_code::encode(-40));
    for (const char c : {'a', 'E', '\0', '\\', '"', '!', ' ', '\x7f'}) CHECK_FALSE(correction_code::is_one(c));
}

TEST_CASE("residuals lie between those of neighbours, in octaves") {
    const std::int64_t sites[] = {64, 64, 64, 256}, centres[] = {0, 10}, units[] = {1, 2}, axis[] = {1, 4, 64};
    const auto text = [](int a, int b, int c) {
        return std::string{correction_code::encode(a), correction_code::encode(b), correction_code::encode(c)};
    };
    const std::string first = text(0, 8, -8), second = text(4, 4, 4);
    const string_ref pages[] = {first, second};
    correction_table r;
    r.step = 0.5;
    r.columns = 2;
    r.num_layer_shapes = 2;
    r.sites = sites;
    r.centres = centres;
    r.units = units;
    r.axis[0] = axis;
    r.length[0] = 3;
    r.pages = pages;
    const auto correction_of = [&](std::int64_t n, std::int64_t k, std::int64_t m) {
        const std::int64_t layer_shape[] = {n, k};
        return r(layer_shape, &m);
    };
    CHECK(correction_of(64, 64, 1) == 0);
    CHECK(correction_of(64, 64, 4) == 4);
    CHECK(correction_of(64, 64, 2) == doctest::Approx(2));
    CHECK(correction_of(64, 64, 16) == doctest::Approx(0));
    CHECK(correction_of(64, 64, 1000) == -4);
    CHECK(correction_of(64, 256, 7) == 9);  // (10 + 2 · 4) steps
    CHECK(correction_of(64, 128, 1) ==
          doctest::Approx(4.5 * 0.5));            // the mean of both, an octave from each: half of it
    CHECK(correction_of(64, 64 * 1024, 1) == 0);  // too far to tell
    CHECK(r.interpolate(0, 2).low == 1);
    CHECK(r.interpolate(0, 2).high == 4);
    CHECK(r.interpolate(0, 2).share == doctest::Approx(0.5));
    CHECK(r.interpolate(0, 4).share == 0);
    CHECK(r.interpolate(0, 100).low == 100);
    CHECK(correction_table{}(sites, axis) == 0);
}

TEST_CASE("residuals along two axes") {
    const std::int64_t sites[] = {8}, centres[] = {0}, units[] = {1}, first[] = {1, 4}, second[] = {1, 16, 64};
    std::string cells;
    for (const int c : {0, 4, 8, 10, 14, 18}) cells += correction_code::encode(c);
    const string_ref pages[] = {cells};
    correction_table r;
    r.step = 1;
    r.columns = 1;
    r.num_layer_shapes = 1;
    r.sites = sites;
    r.centres = centres;
    r.units = units;
    r.axis[0] = first;
    r.length[0] = 2;
    r.axis[1] = second;
    r.length[1] = 3;
    r.pages = pages;
    const auto correction_of = [&](std::int64_t a, std::int64_t b) {
        const std::int64_t place[] = {a, b};
        return r(sites, place);
    };
    CHECK(correction_of(1, 1) == 0);
    CHECK(correction_of(1, 64) == 8);
    CHECK(correction_of(4, 16) == 14);
    CHECK(correction_of(2, 4) == doctest::Approx(7));  // half way along both
    CHECK(correction_of(100, 1000) == 18);
}

TEST_CASE("a size is bound by one that its operator has") {
    for (const operator_type& f : operator_families) {
        operator_shape shape{.type = &f};
        std::fill(shape.sizes, shape.sizes + f.size_count, 1);
        for (const operator_size& size : f.sizes)
            for (const string_ref bound_name : {size.upper_bound_size, size.multiple_size})
                CHECK((bound_name.empty() || shape.size(bound_name) == 1));
        CHECK(shape.size("no size") == 0);
    }
}

TEST_CASE("operands have the names that engines use") {
    CHECK(find_operand_type("bf16") == find_operand_type("bfloat16"));
    CHECK(find_operand_type("half") == find_operand_type("fp16"));
    CHECK(find_operand_type("half")->name == "float16");
    CHECK(find_operand_type("") == nullptr);
    CHECK(find_operand_type("bf17") == nullptr);
}

TEST_CASE("a fit finds the constants behind noisy measurements, outliers or not") {
    const roofline truth{3e-6, 0.7, 0.8, 2};
    for (const bool outliers : {false, true}) {
        std::vector<timing> timings;
        for (int i = 0; i < 3000; ++i) {
            const double c = std::exp2(i * 37 % 97 / 8.0) * 1e-7, m = std::exp2(i * 53 % 89 / 8.0) * 1e-7;
            const double noise_factor = outliers && i % 20 == 0 ? 3 : 1 + 0.04 * noise(i);
            timings.push_back({c, m, truth(c, m) * noise_factor});
        }
        const roofline found = fit_roofline(timings);
        CHECK(found.launch == doctest::Approx(truth.launch).epsilon(0.03));
        CHECK(found.compute_efficiency == doctest::Approx(truth.compute_efficiency).epsilon(0.03));
        CHECK(found.bandwidth_efficiency == doctest::Approx(truth.bandwidth_efficiency).epsilon(0.03));
        CHECK(found.smoothness == doctest::Approx(truth.smoothness).epsilon(0.1));
    }
}

TEST_CASE("falling neighbours are pooled") {
    CHECK(make_monotonic({}) == std::vector<double>{});
    CHECK(make_monotonic({1, 2, 3}) == std::vector<double>{1, 2, 3});
    CHECK(make_monotonic({1, 3, 2, 4}) == std::vector<double>{1, 2.5, 2.5, 4});
    CHECK(make_monotonic({3, 2, 1}) == std::vector<double>{2, 2, 2});
    CHECK(make_monotonic({1, 5, 3, 1, 9}) == std::vector<double>{1, 3, 3, 3, 9});
}

TEST_CASE("a grid is made rising along both axes") {
    CHECK(make_monotonic({1, 2, 3, 4}, 2) == std::vector<double>{1, 2, 3, 4});
    CHECK(make_monotonic({1, 3, 2, 4}, 2) == std::vector<double>{1, 3, 2, 4});
    CHECK(make_monotonic({4, 4, 1, 4}, 2) == std::vector<double>{2.5, 4, 2.5, 4});
    std::vector<double> noisy;
    for (int i = 0; i < 6; ++i)
        for (int k = 0; k < 7; ++k) noisy.push_back(0.3 * i + 0.2 * k + noise(7 * i + k));
    const std::vector<double> risen = make_monotonic(noisy, 6);
    for (std::size_t i = 0; i < risen.size(); ++i) {
        CHECK((i < 7 || risen[i] >= risen[i - 7]));
        CHECK((i % 7 == 0 || risen[i] >= risen[i - 1]));
        CHECK(std::fabs(risen[i] - noisy[i]) < 0.7);
    }
}

// by hand: pairs that causal attention sees
TEST_CASE("parts beyond every integer are divided among units") {
    constexpr device d{.num_compute_units = 2};
    constexpr double num_parts = 1e30;  // a conversion to an integer would be undefined
    static_assert(flops_with_occupancy(
                      d, {.flops = 1, .num_tiles = num_parts, .max_tile_flops = 1, .min_tile_flops = 1}) == num_parts);
    CHECK(flops_with_occupancy(d, {.flops = 1, .num_tiles = 3, .max_tile_flops = 1, .min_tile_flops = 1}) == 4);
}

TEST_CASE("attention's work is its visible pairs") {
    CHECK(detail::visible_pairs(4, 0, 0) == 10);
    CHECK(detail::visible_pairs(4, 6, 0) == 34);
    CHECK(detail::visible_pairs(1, 99, 0) == 100);
    for (const int past : {0, 1, 3, 10})
        for (const int fresh : {1, 2, 5, 9})
            for (const int window : {1, 2, 4, 30}) {
                int pairs = 0;
                for (int i = 1; i <= fresh; ++i) pairs += past + i < window ? past + i : window;
                CHECK(detail::visible_pairs(fresh, past, window) == pairs);
            }
    operator_shape shape;
    shape.type = find_operator_type("context_attention");
    shape.operand = find_operand_type("bf16");
    shape.variant = "fp8";
    const std::int64_t sizes[] = {2, 3, 8, 4, 64, 0, 0};
    std::copy(std::begin(sizes), std::end(sizes), shape.sizes);
    CHECK(shape.work().flops == 4 * 2 * 8 * 64 * 6);
    CHECK(shape.work().bytes ==
          2 * 2 * 3 * 8 * 64 * 2 + 2 * 2 * 3 * 4 * 64);  // queries, output; keys, values of one byte
}
