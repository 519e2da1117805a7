// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/trace/scope.hpp>
#include <llmcost/trace/tensor.hpp>
#include <llmcost/trace/trace.hpp>

// Arguments of the layers and functions of a custom model.
namespace llmcost::custom {

/// Valid values of an argument.
enum class argument_kind : std::uint8_t {
    size,      ///< at least 1; a list if `is_list`
    amount,    ///< at least 0
    integer,   ///< of either sign
    truth,     ///< true or false
    shape,     ///< sizes, at most one of which is -1
    axes,      ///< dimensions; negative values count from the end
    choice,    ///< one of `choices`
    rate,      ///< a rate from 0 to 1; costs depend only on whether it is 0
    no_figure  ///< any value; costs do not depend on it
};

/// Maximum numbers of arguments, and of numbers in all arguments of a call.
inline constexpr std::size_t max_arguments = 14;
inline constexpr std::size_t max_numbers = 48;

/// An argument with its name in PyTorch.
struct argument_row {
    literal name = "";
    argument_kind kind = argument_kind::size;
    bool required = true;
    std::int64_t default_value = 0;  ///< default value
    bool is_list = false;            ///< one number per dimension; a single number applies to all
    literal choices = "";            ///< valid names, separated by spaces, in the order of their numbers
};

constexpr argument_row required_argument(literal name, argument_kind kind = argument_kind::size) {
    return {name, kind};
}
constexpr argument_row required_argument_list(literal name, argument_kind kind = argument_kind::size) {
    return {.name = name, .kind = kind, .is_list = true};
}
constexpr argument_row optional_argument(literal name, argument_kind kind, std::int64_t default_value) {
    return {.name = name, .kind = kind, .required = false, .default_value = default_value};
}
constexpr argument_row optional_argument_list(literal name, argument_kind kind, std::int64_t default_value) {
    return {.name = name, .kind = kind, .required = false, .default_value = default_value, .is_list = true};
}
constexpr argument_row optional_argument_name(literal name, literal choices) {
    return {.name = name, .kind = argument_kind::choice, .required = false, .choices = choices};
}
constexpr argument_row accept_and_ignore(literal name) {
    return {.name = name, .kind = argument_kind::no_figure, .required = false};
}
constexpr argument_row dropout_rate(literal name = "p") {
    return {.name = name, .kind = argument_kind::rate, .required = false, .default_value = 1};
}

/// Evaluated arguments of a call.
class arguments {
public:
    /// True if the argument is given.
    [[nodiscard]] bool has(std::size_t i) const noexcept { return count_[i] != 0; }
    [[nodiscard]] int size(std::size_t i) const noexcept { return count_[i]; }
    [[nodiscard]] std::int64_t operator[](std::size_t i) const noexcept {
        return has(i) ? numbers_[first_[i]] : rows_[i].default_value;
    }
    [[nodiscard]] std::int64_t at(std::size_t i, int k) const noexcept {
        return has(i) ? numbers_[first_[i] + k] : rows_[i].default_value;
    }
    /// The argument with one number per dimension.
    [[nodiscard]] shape expand_to_rank(std::size_t i, int rank) const;
    /// The argument as a list of its given length.
    [[nodiscard]] shape shape_argument(std::size_t i) const;
    /// Number of results that the description names.
    [[nodiscard]] int results() const noexcept { return results_; }

    void begin(const argument_row* rows, int results) noexcept;
    void open(std::size_t i) noexcept;
    void push(std::int64_t n);

private:
    const argument_row* rows_ = nullptr;
    std::int64_t numbers_[max_numbers];
    std::uint8_t first_[max_arguments], count_[max_arguments], num_numbers_ = 0;
    std::size_t open_argument_ = 0;
    int results_ = 1;
};

/// Input and output tensors of a call.
struct operands {
    const tensor* in;
    int count;
    tensor* out;  ///< `arguments::results()` tensors, at least one

    const tensor& operator[](int i) const noexcept { return in[i]; }
};

/// Integers that the forward pass creates (positions).
///
/// `visible_pairs` marks them. No other integer tensor uses this field.
[[nodiscard]] constexpr tensor made_integers(const shape& sizes) {
    tensor v = empty_tensor(sizes);
    v.visible_pairs = 1;
    return v;
}
[[nodiscard]] constexpr bool are_made(const tensor& integers) noexcept { return integers.visible_pairs != 0; }

using layer_function = void (*)(trace&, const arguments&, const operands&);

/// A layer with its class name in PyTorch or Transformers, or a function with its name.
struct layer_row {
    literal name = "";
    layer_function forward = nullptr;
    argument_row arguments[max_arguments]{};
    int min_inputs = 1;
    int max_inputs = 1;
    role module_role = role::none;
    bool is_leaf = true;
    int results = 1;      ///< number of results; 0: as many as the description names
    int max_results = 0;  ///< further results that the description may name; 0: none

    [[nodiscard]] constexpr std::size_t argument_count() const noexcept {
        std::size_t n = 0;
        while (n < max_arguments && !is_empty(arguments[n].name)) ++n;
        return n;
    }
};

}  // namespace llmcost::custom

#ifndef LLMCOST_COMPILED
#include <llmcost/custom/impl/arguments.ipp>  // IWYU pragma: export
#endif
