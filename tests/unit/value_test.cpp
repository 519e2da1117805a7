// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "torch_programs.hpp"

#include <llmcost/trace/tensor.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

using namespace llmcost;
using namespace llmcost::testing;

namespace {

/// The view that a line of a program asks for.
tensor viewed(const statement& s, const tensor& x) {
    const auto number = [&](std::size_t i) { return static_cast<int>(std::stoll(s.arguments.at(i))); };
    if (s.operation == "transpose") return x.transpose(number(1), number(2));
    if (s.operation == "unsqueeze") return x.unsqueeze(number(1));
    if (s.operation == "squeeze") return x.squeeze(number(1));
    if (s.operation == "select") return x.select(number(1));
    if (s.operation == "slice") return x.slice(number(1), number(2), number(3));
    if (s.operation == "expand") return x.expand(extents_from(s.arguments.at(1)));
    const std::vector<std::int64_t> order = sizes_from(s.arguments.at(1));
    const auto dimension_of = [&](std::size_t i) { return static_cast<int>(order[i]); };
    switch (order.size()) {
        case 1: return x.permute({dimension_of(0)});
        case 2: return x.permute({dimension_of(0), dimension_of(1)});
        case 3: return x.permute({dimension_of(0), dimension_of(1), dimension_of(2)});
        case 4: return x.permute({dimension_of(0), dimension_of(1), dimension_of(2), dimension_of(3)});
        default:
            return x.permute({dimension_of(0), dimension_of(1), dimension_of(2), dimension_of(3), dimension_of(4)});
    }
}

}  // namespace

TEST_CASE("views are what torch makes of them, and only those that torch can make") {
    std::size_t views = 0, copies = 0;
    for (const torch_program& program : read_programs()) {
        if (program.kind != "view") continue;
        std::map<std::string, tensor> values;
        for (const statement& s : program.statements) {
            INFO("line " << program.line << ": " << s.name << " " << s.operation);
            if (s.operation == "buffer") {
                values[s.name] = empty_tensor(extents_from(s.arguments.at(0)));
            } else if (s.operation == "reshape") {
                tensor v;
                const bool is_view = values.at(s.arguments.at(0)).try_view(extents_from(s.arguments.at(1)), v);
                CHECK(is_view != s.has('n'));
                if (is_view) CHECK(disagreement(s, v) == "");
                ++(is_view ? views : copies);
                continue;
            } else {
                values[s.name] = viewed(s, values.at(s.arguments.at(0)));
            }
            const tensor& v = values.at(s.name);
            CHECK(disagreement(s, v) == "");
            CHECK(v.numel == num_elements(v.size, v.rank));
        }
    }
    CHECK(views > 50);
    CHECK(copies > 20);
}

TEST_CASE("pairs become complex numbers and pairs again") {
    const tensor pairs = empty_tensor({2, 3, 2});
    const tensor numbers = pairs.view_as_complex();
    CHECK(numbers.rank == 2);
    CHECK(numbers.numel == 6);
    CHECK(numbers.type == dtype::complex64);
    CHECK(numbers.stride[0] == 3);
    CHECK(numbers.stride[1] == 1);
    const tensor real_pairs = numbers.view_as_real();
    CHECK(real_pairs.rank == 3);
    CHECK(real_pairs.numel == 12);
    CHECK(real_pairs.storage_numel == 12);
    CHECK(real_pairs.type == dtype::float32);
    CHECK(real_pairs.is_contiguous());
    CHECK_THROWS_AS((void)empty_tensor({2, 3}).view_as_complex(), description_error);
    CHECK_THROWS_AS((void)empty_tensor({2, 2}).transpose(0, 1).view_as_complex(), description_error);
}

TEST_CASE("one open size of a view is what remains") {
    const tensor x = empty_tensor({4, 6});
    CHECK(x.view({-1}).size[0] == 24);
    CHECK(x.view({2, -1, 3}).size[1] == 4);
    CHECK_THROWS_AS((void)x.view({-1, -1}), description_error);
    CHECK_THROWS_AS((void)x.view({5, -1}), description_error);
    CHECK_THROWS_AS((void)x.view({0, -1}), description_error);
    CHECK_THROWS_AS((void)x.view({25}), description_error);
    CHECK_THROWS_AS((void)x.transpose(0, 1).view({24}), description_error);
}

TEST_CASE("what is no view of a tensor is a wrong description") {
    const tensor x = empty_tensor({4, 6});
    CHECK_THROWS_AS((void)x.dim(2), description_error);
    CHECK_THROWS_AS((void)x.dim(-3), description_error);
    CHECK_THROWS_AS((void)x.transpose(0, 2), description_error);
    CHECK_THROWS_AS((void)x.permute({0}), description_error);
    CHECK_THROWS_AS((void)x.unsqueeze(3), description_error);
    CHECK_THROWS_AS((void)x.slice(0, 5), description_error);
    CHECK_THROWS_AS((void)x.slice(1, 4, 2), description_error);
    CHECK_THROWS_AS((void)x.slice(1, 2, 0), description_error);
    CHECK_THROWS_AS((void)x.slice(1, -1), description_error);
    CHECK_THROWS_AS((void)x.expand({6}), description_error);
    CHECK_THROWS_AS((void)x.expand({4, 12}), description_error);
    CHECK_THROWS_AS((void)empty_tensor({1, 1, 1, 1, 1, 1}).unsqueeze(0), description_error);
    using n = std::int64_t;
    static_assert(std::is_constructible_v<shape, n, n, n, n, n, n>);
    static_assert(!std::is_constructible_v<shape, n, n, n, n, n, n, n>);
    CHECK(x.slice(1, 3, 2).stride[1] == 2);
    CHECK(x.squeeze(0).rank == 2);
}

TEST_CASE("operands that do not broadcast are a wrong description") {
    const tensor a = empty_tensor({4, 6}), b = empty_tensor({4, 5}), c = empty_tensor({1, 6});
    tensor out;
    const tensor* const mismatched[2] = {&a, &b};
    CHECK_THROWS_AS(set_elementwise_layout(mismatched, 2, out), description_error);
    const tensor* const broadcast[2] = {&a, &c};
    set_elementwise_layout(broadcast, 2, out);
    CHECK(out.numel == 24);
}

TEST_CASE("a tensor of 2^63 elements overflows, one of less does not") {
    constexpr std::int64_t half = std::int64_t{1} << 31;
    CHECK(empty_tensor({half, half}).numel == std::uint64_t{1} << 62);
    CHECK_THROWS_AS((void)empty_tensor({half, half, 2}), overflow_error);
    CHECK_THROWS_AS((void)empty_tensor({half, half, half}), overflow_error);
    CHECK_THROWS_AS((void)empty_tensor({half, half, 1}).expand({half, half, 2}), overflow_error);
}
