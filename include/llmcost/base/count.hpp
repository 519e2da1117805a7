// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <new>  // std::exception without the cost of <exception>

#include <llmcost/base/string_ref.hpp>

namespace llmcost {

/// Thrown if a count exceeds 128 bits, a tensor 2^63 elements or a list the number of layers that can be traced.
///
/// Arithmetic never wraps around.
class overflow_error : public std::exception {
public:
    explicit overflow_error(const char* message) noexcept : message_(message) {}
    [[nodiscard]] const char* what() const noexcept override { return message_; }

private:
    const char* message_;
};

/// Thrown if a model description is invalid, for example if shapes do not match or a view is impossible.
class description_error : public std::exception {
public:
    explicit description_error(const char* message) noexcept : message_(message) {}
    /// An error with the sizes of two tensors: `linear: sizes do not match: (2, 16) and (8, 32)`.
    description_error(const char* message, const std::int64_t* first, int first_rank, const std::int64_t* second,
                      int second_rank) noexcept
        : message_(nullptr) {
        append(message);
        append(": ");
        append_sizes(first, first_rank);
        append(" and ");
        append_sizes(second, second_rank);
    }
    [[nodiscard]] const char* what() const noexcept override { return message_ != nullptr ? message_ : text_; }

private:
    void append(const char* part) noexcept {
        while (*part != '\0' && length_ + 1 < sizeof text_) text_[length_++] = *part++;
    }
    void append_sizes(const std::int64_t* sizes, int rank) noexcept {
        append("(");
        for (int i = 0; i < rank; ++i) {
            char digits[24]{};
            char* first = digits + sizeof digits - 1;
            std::uint64_t rest = sizes[i] < 0 ? 0U : static_cast<std::uint64_t>(sizes[i]);
            do *--first = static_cast<char>('0' + static_cast<int>(rest % 10));
            while ((rest /= 10) != 0);
            if (i > 0) append(", ");
            append(first);
        }
        append(")");
    }

    const char* message_;
    char text_[224]{};
    std::uint32_t length_ = 0;
};

/// Thrown if a workload needs more positions than the position table of the model has.
class workload_error : public std::exception {
public:
    workload_error(std::int64_t max_positions, std::int64_t requested_positions) noexcept
        : max_positions_(max_positions), requested_positions_(requested_positions) {}
    [[nodiscard]] const char* what() const noexcept override { return "more tokens than the model has positions for"; }
    /// Number of positions of the model.
    [[nodiscard]] std::int64_t max_positions() const noexcept { return max_positions_; }
    [[nodiscard]] std::int64_t requested_positions() const noexcept { return requested_positions_; }

private:
    std::int64_t max_positions_;
    std::int64_t requested_positions_;
};

/// Thrown if a scope query matches no part of a model, or only a parameter counted under another name.
class scope_error : public std::exception {
public:
    scope_error(const char* scope, std::size_t size, bool tied) noexcept : is_tied_(tied) {
        for (std::size_t i = 0; i < size && i + 1 < sizeof scope_; ++i) scope_[i] = scope[i];
    }
    [[nodiscard]] const char* what() const noexcept override {
        return is_tied_ ? "tied parameter: its tensor is counted under its first name"
                        : "the model has no role, class, module or parameter of this name";
    }
    /// Text of the scope query, truncated to 255 bytes.
    [[nodiscard]] const char* scope() const noexcept { return scope_; }
    [[nodiscard]] bool tied() const noexcept { return is_tied_; }

private:
    char scope_[256]{};
    bool is_tied_;
};

// Not constexpr on purpose: reached in a constant expression, the call is the compile error.
[[noreturn]] inline void throw_overflow_error(
    const char* message =
        "overflow: a count beyond 2^128, a tensor beyond 2^63 elements or a list beyond 4096 layers") {
    throw overflow_error{message};
}
[[noreturn]] inline void throw_position_error(std::int64_t max_positions, std::int64_t requested_positions) {
    throw workload_error{max_positions, requested_positions};
}
[[noreturn]] inline void throw_scope_error(const char* scope, std::size_t size, bool tied) {
    throw scope_error{scope, size, tied};
}
[[noreturn]] inline void throw_description_error(const char* message) { throw description_error{message}; }
/// Throws a `description_error` with the sizes of both tensors.
template <class Tensor>
[[noreturn]] void throw_size_error(const char* message, const Tensor& first, const Tensor& second) {
    throw description_error{message, first.size, first.rank, second.size, second.rank};
}

/// Any integer type; `std::integral` without its header.
template <class T>
concept integer = !__is_class(T) && requires(T n) {
    n % n, n << n;
};

/// An exact, non-negative 128-bit integer.
///
/// Throws: `overflow_error` if a sum or a product does not fit.
class count {
public:
    __extension__ typedef unsigned __int128 uint128;

    constexpr count() noexcept : value_(0) {}  // explicit: g++ 12 loses a default initializer in constant arrays
    template <integer T>
    constexpr count(T n) : value_(static_cast<uint128>(n)) {
        if constexpr (static_cast<T>(-1) < static_cast<T>(0))
            if (n < 0) throw_overflow_error();
    }
    static constexpr count from_uint128(uint128 w) noexcept { return count{w, 0}; }

    constexpr count& operator+=(count b) {
        value_ += b.value_;
        if (value_ < b.value_) throw_overflow_error();
        return *this;
    }
    constexpr count& operator-=(count b) {
        if (value_ < b.value_) throw_overflow_error();
        value_ -= b.value_;
        return *this;
    }
    constexpr count& operator*=(count b) {
        // a product of two 64-bit factors always fits; the division is the rare path
        if (((value_ | b.value_) >> 64) == 0) {
            value_ = static_cast<uint128>(static_cast<std::uint64_t>(value_)) * static_cast<std::uint64_t>(b.value_);
        } else {
            if (b.value_ != 0 && value_ > ~uint128{} / b.value_) throw_overflow_error();
            value_ *= b.value_;
        }
        return *this;
    }
    friend constexpr count operator+(count a, count b) { return a += b; }
    friend constexpr count operator-(count a, count b) { return a -= b; }
    friend constexpr count operator*(count a, count b) { return a *= b; }
    friend constexpr count operator/(count a, count b) {
        if (b.value_ == 0) throw_overflow_error();
        return from_uint128(a.value_ / b.value_);
    }
    friend constexpr bool operator==(count, count) noexcept = default;
    friend constexpr bool operator<(count a, count b) noexcept { return a.value_ < b.value_; }
    friend constexpr bool operator>(count a, count b) noexcept { return a.value_ > b.value_; }
    friend constexpr bool operator<=(count a, count b) noexcept { return a.value_ <= b.value_; }
    friend constexpr bool operator>=(count a, count b) noexcept { return a.value_ >= b.value_; }

    [[nodiscard]] constexpr uint128 to_uint128() const noexcept { return value_; }
    [[nodiscard]] constexpr bool fits_64() const noexcept { return (value_ >> 64) == 0; }
    [[nodiscard]] constexpr std::uint64_t to_64() const {
        if (!fits_64()) throw_overflow_error("overflow: the figure exceeds 64 bits");
        return static_cast<std::uint64_t>(value_);
    }
    /// `static_cast<int>(n)`. Throws: `overflow_error` if the type is too small.
    template <integer T>
    requires(!__is_same(T, bool)) [[nodiscard]] explicit constexpr operator T() const {
        const T n = static_cast<T>(value_);
        if (n < T{} || static_cast<uint128>(n) != value_)
            throw_overflow_error("overflow: the figure exceeds the type to which it is converted");
        return n;
    }
    /// Writes the decimal digits to any stream without including its header. `N` is `count`, without conversions.
    template <class Stream, class N>
    requires __is_same(N, count) friend constexpr auto operator<<(Stream& out, const N& n)
        -> decltype(out.write("", out.width())) {
        char digits[40]{};
        int first = 40;
        uint128 rest = n.value_;
        do {
            digits[--first] = static_cast<char>('0' + static_cast<int>(rest % 10));
            rest /= 10;
        } while (rest != 0);
        return out.write(digits + first, static_cast<decltype(out.width())>(40 - first));
    }
    [[nodiscard]] explicit constexpr operator double() const noexcept {
        return static_cast<double>(static_cast<std::uint64_t>(value_ >> 64)) * 18446744073709551616.0 +
               static_cast<double>(static_cast<std::uint64_t>(value_));
    }

private:
    constexpr count(uint128 w, int) noexcept : value_(w) {}
    uint128 value_;
};

/// Product of sizes.
///
/// Throws: `overflow_error` if it is negative or above 2^63 - 1.
template <integer... Sizes>
[[nodiscard]] constexpr std::int64_t checked_product(Sizes... sizes) {
    const count n = (count(1) * ... * count(sizes));
    if (n.to_uint128() >> 63 != 0) throw_overflow_error();
    return static_cast<std::int64_t>(n.to_64());
}

/// A count in decimal digits, without allocation: `count_text{n}.view()`.
class count_text {
public:
    explicit constexpr count_text(count n) noexcept {
        count::uint128 w = n.to_uint128();
        do {
            digits_[--first_] = static_cast<char>('0' + static_cast<int>(w % 10));
            w /= 10;
        } while (w != 0);
    }
    [[nodiscard]] constexpr string_ref view() const noexcept { return {digits_ + first_, 40U - first_}; }

private:
    char digits_[40]{};
    std::uint32_t first_ = 40;
};

}  // namespace llmcost
