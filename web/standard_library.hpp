// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Functions of the C++20 standard library that libc++ 13, the library of Emscripten 3.1, does not have. The preset
// `web` includes this header before each source file, so that the library itself needs no second code path.
#include <version>

#if defined(_LIBCPP_VERSION) && _LIBCPP_VERSION < 14000

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <compare>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

// NOLINTBEGIN(cert-dcl58-cpp): names of the standard, with its meaning
namespace std {

template <class To, class From>
constexpr To bit_cast(const From& from) noexcept {
    return __builtin_bit_cast(To, from);
}

template <class C, class T, class A>
strong_ordering operator<=>(const basic_string<C, T, A>& a, const basic_string<C, T, A>& b) noexcept {
    return a.compare(b) <=> 0;
}

template <class T, size_t N>
constexpr auto operator<=>(const array<T, N>& a, const array<T, N>& b) -> decltype(a.front() <=> b.front()) {
    for (size_t i = 0; i < N; ++i)
        if (const auto order = a[i] <=> b[i]; order != 0) return order;
    return strong_ordering::equal;
}

/// Shortest decimal digits that read back as `value`; fixed notation unless scientific notation is shorter.
/// Source: C++20, [charconv.to.chars].
inline to_chars_result to_chars(char* first, char* last, double value) {
    array<char, 512> scientific{};
    int size = 0;
    int digits = 1;
    for (; digits <= 17; ++digits) {
        size = snprintf(scientific.data(), scientific.size(), "%.*e", digits - 1, value);
        if (strtod(scientific.data(), nullptr) == value) break;
    }
    const char* text = scientific.data();
    array<char, 512> fixed{};
    if (const char* const mark = strchr(text, 'e')) {
        const int exponent = atoi(mark + 1);
        const int decimals = digits - 1 > exponent ? digits - 1 - exponent : 0;
        const int fixed_size = snprintf(fixed.data(), fixed.size(), "%.*f", decimals, value);
        if (fixed_size <= size) {
            text = fixed.data();
            size = fixed_size;
        }
    }
    if (last - first < size) return {last, errc::value_too_large};
    memcpy(first, text, static_cast<size_t>(size));
    return {first + size, errc{}};
}

/// A number without leading blanks, plus sign and hexadecimal prefix. Source: C++20, [charconv.from.chars].
inline from_chars_result from_chars(const char* first, const char* last, double& value) {
    const string text(first, last);
    const size_t sign = text.starts_with('-') ? 1 : 0;
    const string_view rest = string_view(text).substr(sign);
    const bool is_hexadecimal = rest.starts_with("0x") || rest.starts_with("0X");
    if (is_hexadecimal) {
        value = sign == 1 ? -0.0 : 0.0;
        return {first + sign + 1, errc{}};
    }
    const bool starts_number = !rest.empty() && string_view("0123456789.iInN").find(rest.front()) != string_view::npos;
    if (!starts_number) return {first, errc::invalid_argument};
    char* end = nullptr;
    errno = 0;
    const double parsed = strtod(text.c_str(), &end);
    if (end == text.c_str()) return {first, errc::invalid_argument};
    const char* const stop = first + (end - text.c_str());
    if (errno == ERANGE) return {stop, errc::result_out_of_range};
    value = parsed;
    return {stop, errc{}};
}

namespace ranges {

template <class R, class F, class P = identity>
constexpr auto find_if(R&& range, F condition, P projection = {}) {
    auto at = std::begin(range);
    while (at != std::end(range) && !std::invoke(condition, std::invoke(projection, *at))) ++at;
    return at;
}
template <class R, class T, class P = identity>
constexpr auto find(R&& range, const T& value, P projection = {}) {
    return ranges::find_if(
        range, [&](const auto& element) { return element == value; }, projection);
}
template <class R, class F, class P = identity>
constexpr bool any_of(R&& range, F condition, P projection = {}) {
    return ranges::find_if(range, condition, projection) != std::end(range);
}
template <class R, class F, class P = identity>
constexpr bool none_of(R&& range, F condition, P projection = {}) {
    return !ranges::any_of(range, condition, projection);
}
template <class R, class F, class P = identity>
constexpr bool all_of(R&& range, F condition, P projection = {}) {
    return ranges::none_of(
        range, [&](const auto& element) { return !std::invoke(condition, element); }, projection);
}
template <class R, class F, class P = identity>
constexpr auto count_if(R&& range, F condition, P projection = {}) {
    return std::count_if(std::begin(range), std::end(range),
                         [&](const auto& element) { return std::invoke(condition, std::invoke(projection, element)); });
}
template <class R, class T, class P = identity>
constexpr auto count(R&& range, const T& value, P projection = {}) {
    return ranges::count_if(
        range, [&](const auto& element) { return element == value; }, projection);
}
template <class A, class B, class F = std::equal_to<>, class P = identity, class Q = identity>
constexpr bool equal(A&& a, B&& b, F condition = {}, P first = {}, Q second = {}) {
    return std::equal(std::begin(a), std::end(a), std::begin(b), std::end(b), [&](const auto& x, const auto& y) {
        return std::invoke(condition, std::invoke(first, x), std::invoke(second, y));
    });
}
template <class R, class F = std::less<>, class P = identity>
constexpr void sort(R&& range, F order = {}, P projection = {}) {
    std::sort(std::begin(range), std::end(range), [&](const auto& a, const auto& b) {
        return std::invoke(order, std::invoke(projection, a), std::invoke(projection, b));
    });
}
template <class R, class F = std::less<>, class P = identity>
void stable_sort(R&& range, F order = {}, P projection = {}) {
    std::stable_sort(std::begin(range), std::end(range), [&](const auto& a, const auto& b) {
        return std::invoke(order, std::invoke(projection, a), std::invoke(projection, b));
    });
}
template <class R, class F = std::less<>, class P = identity>
constexpr auto max_element(R&& range, F order = {}, P projection = {}) {
    return std::max_element(std::begin(range), std::end(range), [&](const auto& a, const auto& b) {
        return std::invoke(order, std::invoke(projection, a), std::invoke(projection, b));
    });
}
template <class R, class T>
constexpr void replace(R&& range, const T& from, const T& to) {
    std::replace(std::begin(range), std::end(range), from, to);
}
template <class R>
constexpr void reverse(R&& range) {
    std::reverse(std::begin(range), std::end(range));
}
template <class R, class O, class F>
constexpr void transform(R&& range, O out, F function) {
    std::transform(std::begin(range), std::end(range), out,
                   [&](const auto& element) { return std::invoke(function, element); });
}
template <class R, class O, class F>
constexpr void copy_if(R&& range, O out, F condition) {
    std::copy_if(std::begin(range), std::end(range), out,
                 [&](const auto& element) { return std::invoke(condition, element); });
}
template <class I, class T, class F = std::less<>, class P = identity>
constexpr I upper_bound(I first, I last, const T& value, F order = {}, P projection = {}) {
    return std::upper_bound(first, last, value, [&](const auto& a, const auto& element) {
        return std::invoke(order, a, std::invoke(projection, element));
    });
}
template <class R, class T, class F = std::less<>, class P = identity>
constexpr auto upper_bound(R&& range, const T& value, F order = {}, P projection = {}) {
    return ranges::upper_bound(std::begin(range), std::end(range), value, order, projection);
}

}  // namespace ranges
}  // namespace std
// NOLINTEND(cert-dcl58-cpp)

#endif
