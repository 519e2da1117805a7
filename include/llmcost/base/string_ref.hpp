// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#if __cplusplus < 202002L
#error "llmcost needs C++20: compile with -std=c++20"
#include <needs_c++20>  // no such file: the compiler stops here
#endif

#include <cstddef>
#include <cstdint>

namespace llmcost {

/// A string constant, as in model specs and tables. Compilers process thousands of them faster than string views.
using literal = const char*;

/// Whether a string constant is empty.
[[nodiscard]] constexpr bool is_empty(literal s) noexcept { return *s == '\0'; }

class string_ref;

/// A contiguous character range such as `std::string` or `std::string_view`.
template <class S>
concept string_like = requires(const S& s) {
    static_cast<const char*>(s.data()), static_cast<std::size_t>(s.size());
};

/// A non-owning string view.
///
/// Replaces `std::string_view`, whose header alone would take a third of the include budget of the library. Converts
/// from and to every string-like view type.
class string_ref {
public:
    static constexpr std::size_t npos = SIZE_MAX;

    constexpr string_ref() noexcept = default;
    constexpr string_ref(const char* c_string) noexcept
        : data_(c_string), size_(__builtin_strlen(c_string)) {}  // a builtin: a loop would be evaluated at compile time
    constexpr string_ref(const char* data, std::size_t size) noexcept : data_(data), size_(size) {}
    template <string_like S>
    requires(!__is_same(S, string_ref)) constexpr string_ref(const S& s) noexcept : data_(s.data()), size_(s.size()) {}
    template <string_like S>
    requires(!__is_same(S, string_ref) && __is_trivially_copyable(S)) [[nodiscard]] constexpr operator S()
        const noexcept {
        return S(data_, size_);
    }

    [[nodiscard]] constexpr const char* data() const noexcept { return data_; }
    [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
    [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] constexpr const char* begin() const noexcept { return data_; }
    [[nodiscard]] constexpr const char* end() const noexcept { return data_ + size_; }
    [[nodiscard]] constexpr char operator[](std::size_t i) const noexcept { return data_[i]; }
    [[nodiscard]] constexpr char front() const noexcept { return data_[0]; }

    /// At most `n` characters from position `pos`, which must not exceed the size.
    [[nodiscard]] constexpr string_ref substr(std::size_t pos, std::size_t n = npos) const noexcept {
        return {data_ + pos, n < size_ - pos ? n : size_ - pos};
    }
    constexpr void remove_prefix(std::size_t n) noexcept {
        data_ += n;
        size_ -= n;
    }
    [[nodiscard]] constexpr std::size_t find(char c) const noexcept {
        for (std::size_t i = 0; i < size_; ++i)
            if (data_[i] == c) return i;
        return npos;
    }
    [[nodiscard]] constexpr bool starts_with(string_ref prefix) const noexcept {
        return prefix.size_ <= size_ && substr(0, prefix.size_) == prefix;
    }
    [[nodiscard]] constexpr bool ends_with(string_ref suffix) const noexcept {
        return suffix.size_ <= size_ && substr(size_ - suffix.size_) == suffix;
    }

    friend constexpr bool operator==(string_ref a, string_ref b) noexcept {
        return a.size_ == b.size_ && (a.size_ == 0 || __builtin_memcmp(a.data_, b.data_, a.size_) == 0);
    }
    template <string_like S>
    requires(!__is_same(S, string_ref)) friend constexpr bool operator==(const string_ref& a, const S& b) noexcept {
        return a == string_ref(b);
    }
    friend constexpr bool operator<(string_ref a, string_ref b) noexcept {
        for (std::size_t i = 0; i < a.size_ && i < b.size_; ++i)
            if (a.data_[i] != b.data_[i])
                return static_cast<unsigned char>(a.data_[i]) < static_cast<unsigned char>(b.data_[i]);
        return a.size_ < b.size_;
    }
    /// Writes to any stream without including its header. Only for this type, so that literals use the stream's own
    /// operator.
    template <class Stream>
    friend constexpr auto operator<<(Stream& out, string_ref s) -> decltype(out.write("", out.width())) {
        return out.write(s.data(), static_cast<decltype(out.width())>(s.size()));
    }

private:
    const char* data_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace llmcost
