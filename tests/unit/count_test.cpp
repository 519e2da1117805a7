// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/base/count.hpp>

#include <doctest/doctest.h>

#include <compare>
#include <cstdint>
#include <limits>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

using llmcost::count;
using llmcost::count_text;
using llmcost::overflow_error;

namespace {

std::string text(count n) { return std::string(count_text{n}.view()); }

count power(std::uint64_t base, int exponent) {
    count n(1);
    for (int i = 0; i < exponent; ++i) n *= count(base);
    return n;
}

const count largest = count::from_uint128(~count::uint128{});
constexpr std::string_view largest_text = "340282366920938463463374607431768211455";

}  // namespace

TEST_CASE("known large numbers") {
    CHECK(text(count{}) == "0");
    CHECK(text(count(1)) == "1");
    CHECK(text(count(10)) == "10");
    CHECK(text(count(std::numeric_limits<std::uint64_t>::max())) == "18446744073709551615");
    CHECK(text(power(2, 64)) == "18446744073709551616");
    CHECK(text(power(2, 127)) == "170141183460469231731687303715884105728");
    CHECK(text(power(3, 80)) == "147808829414345923316083210206383297601");
    CHECK(text(power(10, 38)) == "100000000000000000000000000000000000000");
    CHECK(text(largest) == largest_text);

    count factorial(1);
    for (int n = 2; n <= 34; ++n) factorial *= count(n);
    CHECK(text(factorial) == "295232799039604140847618609643520000000");

    count fibonacci, next(1);
    for (int n = 0; n < 186; ++n) {
        const count previous = fibonacci;
        fibonacci = next;
        if (n < 185) next += previous;
    }
    CHECK(text(fibonacci) == "332825110087067562321196029789634457848");

    count product(1);
    for (const std::uint64_t prime :
         {3ULL, 5ULL, 17ULL, 257ULL, 641ULL, 65537ULL, 274177ULL, 6700417ULL, 67280421310721ULL})
        product *= count(prime);
    CHECK(product == largest);
}

TEST_CASE("nothing wraps: one more than the largest is an overflow") {
    CHECK_THROWS_AS((void)(largest + count(1)), overflow_error);
    CHECK_THROWS_AS((void)(count(1) + largest), overflow_error);
    CHECK_THROWS_AS((void)(largest + largest), overflow_error);
    CHECK(largest + count{} == largest);
    CHECK((largest - count(1)) + count(1) == largest);

    CHECK_THROWS_AS((void)(count{} - count(1)), overflow_error);
    CHECK_THROWS_AS((void)(power(2, 64) - power(2, 65)), overflow_error);
    CHECK(power(2, 64) - count(1) == count(std::numeric_limits<std::uint64_t>::max()));
    CHECK(largest - largest == count{});

    CHECK_THROWS_AS((void)(power(2, 64) * power(2, 64)), overflow_error);
    CHECK_THROWS_AS((void)(largest * count(2)), overflow_error);
    CHECK_THROWS_AS((void)(count(2) * largest), overflow_error);
    CHECK_THROWS_AS((void)(power(3, 80) * count(3)), overflow_error);
    CHECK_THROWS_AS((void)(power(10, 38) * count(10)), overflow_error);
    CHECK((power(2, 64) - count(1)) * (power(2, 64) + count(1)) == largest);
    CHECK((largest / count(3)) * count(3) == largest);
    CHECK_THROWS_AS((void)((largest / count(3) + count(1)) * count(3)), overflow_error);
    CHECK(largest * count{} == count{});
    CHECK(count{} * largest == count{});
    CHECK(largest * count(1) == largest);
}

TEST_CASE("a negative number is no count") {
    CHECK_THROWS_AS((void)count(-1), overflow_error);
    CHECK_THROWS_AS((void)count(std::numeric_limits<std::int64_t>::min()), overflow_error);
    CHECK_THROWS_AS((void)count(static_cast<signed char>(-128)), overflow_error);
    CHECK(count(std::numeric_limits<std::int64_t>::max()).to_64() == 9223372036854775807U);
}

TEST_CASE("division rounds down, and by nothing is an overflow") {
    CHECK(count(7) / count(2) == count(3));
    CHECK(count(1) / count(2) == count{});
    CHECK(power(10, 38) / power(10, 19) == power(10, 19));
    CHECK(text(largest / count(10)) == largest_text.substr(0, 38));
    CHECK_THROWS_AS((void)(count(1) / count{}), overflow_error);
}

TEST_CASE("counts are ordered across 64 bits") {
    const std::vector<count> ascending{
        count{},       count(1), power(2, 63), power(2, 64) - count(1), power(2, 64), power(2, 64) + count(1),
        power(2, 127), largest};
    for (std::size_t i = 0; i < ascending.size(); ++i)
        for (std::size_t k = 0; k < ascending.size(); ++k) {
            CHECK((ascending[i] < ascending[k]) == (i < k));
            CHECK((ascending[i] == ascending[k]) == (i == k));
            CHECK((ascending[i] > ascending[k]) == (i > k));
            CHECK((ascending[i] <= ascending[k]) == (i <= k));
            CHECK((ascending[i] >= ascending[k]) == (i >= k));
        }
}

TEST_CASE("only what fits is given in 64 bits") {
    CHECK(count(5).fits_64());
    CHECK((power(2, 64) - count(1)).fits_64());
    CHECK((power(2, 64) - count(1)).to_64() == std::numeric_limits<std::uint64_t>::max());
    CHECK_FALSE(power(2, 64).fits_64());
    CHECK_THROWS_WITH_AS((void)power(2, 64).to_64(), "overflow: the figure exceeds 64 bits", overflow_error);
    CHECK_THROWS_AS((void)largest.to_64(), overflow_error);
}

TEST_CASE("as a double, a count is the nearest one or its neighbour") {
    CHECK(static_cast<double>(count{}) == 0.0);
    CHECK(static_cast<double>(power(2, 52)) == 4503599627370496.0);
    CHECK(static_cast<double>(power(2, 100)) == 1267650600228229401496703205376.0);
    CHECK(static_cast<double>(power(10, 30)) == doctest::Approx(1e30).epsilon(1e-15));
    CHECK(static_cast<double>(largest) == doctest::Approx(3.402823669209385e38).epsilon(1e-15));
}

TEST_CASE("decimal text has every digit") {
    count n;
    std::string digits;
    for (int i = 0; i < 38; ++i) {
        const int digit = (i * 7 + 1) % 10;
        n = n * count(10) + count(digit);
        digits += static_cast<char>('0' + digit);
        CHECK(text(n) == digits);
    }
}

TEST_CASE("a count is written to a stream and converted with a check") {
    std::ostringstream out;
    out << largest << ' ' << count() << ' ' << count(7);
    CHECK(out.str() == std::string(largest_text) + " 0 7");
    CHECK(static_cast<int>(count(7)) == 7);
    CHECK(static_cast<std::int8_t>(count(127)) == 127);
    CHECK_THROWS_AS((void)static_cast<std::int8_t>(count(128)), overflow_error);
    CHECK_THROWS_AS((void)static_cast<std::uint32_t>(power(2, 32)), overflow_error);
    CHECK_THROWS_AS((void)static_cast<std::int64_t>(power(2, 63)), overflow_error);
    CHECK(static_cast<std::uint64_t>(power(2, 63)) == std::uint64_t{1} << 63);
}
