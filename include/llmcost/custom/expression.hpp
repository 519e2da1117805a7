// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

// Integer expressions in a description: `4 * hidden_size`, `channels[i] if i < 3 else 512`.
namespace llmcost::custom {

/// Instruction of a compiled expression, which operates on a stack of integers.
enum class instruction_kind : std::uint8_t {
    number,     ///< pushes its operand
    variable,   ///< pushes a variable of the current block
    workload,   ///< pushes a variable of the workload
    item,       ///< replaces an index by that element of a list
    contained,  ///< replaces a number by whether a list contains it
    add,
    subtract,
    multiply,
    divide,  ///< exact division, without a remainder
    divide_down,
    divide_up,
    remainder,
    negate,
    smallest,
    largest,
    less_than,
    less_or_equal,
    equal,
    unequal,
    negation,  ///< `not`
    jump,
    jump_unless  ///< pops a number and jumps if it is zero
};

/// A variable of the workload in expressions.
enum class workload_variable : std::uint8_t { batch, sequence, past, image_height, image_width };

struct workload_name {
    const char* name;
    workload_variable variable;
};
inline constexpr workload_name workload_names[]{{"batch", workload_variable::batch},
                                                {"sequence", workload_variable::sequence},
                                                {"past", workload_variable::past},
                                                {"image_height", workload_variable::image_height},
                                                {"image_width", workload_variable::image_width}};

/// Arguments of a function: the name of a list, two numbers, or at least two numbers.
enum class function_arity : std::uint8_t { list, two, several };

/// A function and its instruction. For the length of a list, the instruction is the number.
struct function_name {
    const char* name;
    instruction_kind kind;
    function_arity arity;
};
inline constexpr function_name function_names[]{{"len", instruction_kind::number, function_arity::list},
                                                {"min", instruction_kind::smallest, function_arity::several},
                                                {"max", instruction_kind::largest, function_arity::several},
                                                {"ceil_div", instruction_kind::divide_up, function_arity::two}};

struct instruction {
    instruction_kind kind;
    std::int64_t operand = 0;
};

/// A compiled expression: a constant, or instructions.
struct expression {
    std::int64_t number = 0;
    std::uint32_t first = 0;     ///< index of the first instruction in the store
    std::uint32_t count = 0;     ///< number of instructions; 0: a constant
    bool uses_workload = false;  ///< depends on the workload
    bool is_nonlinear = false;   ///< not a polynomial of its variables

    [[nodiscard]] bool constant() const noexcept { return count == 0; }
};

/// Values of the variables of an expression.
struct variable_frame {
    const std::int64_t* variables = nullptr;
    const std::int64_t* workload_values = nullptr;  ///< indexed by `workload_variable`
};

/// Maximum stack depth of an expression.
inline constexpr std::size_t deepest_stack = 32;

/// Instructions of all expressions of a description, and the lists in them.
class expression_store {
public:
    std::vector<instruction> code;
    std::vector<std::vector<std::int64_t>> lists;

    /// The value of an expression.
    ///
    /// Throws: `description_error` if it is undefined, `overflow_error` if it exceeds 64 bits.
    [[nodiscard]] std::int64_t evaluate(const expression& e, const variable_frame& f) const;

private:
    [[nodiscard]] std::int64_t item(std::int64_t list, std::int64_t index) const;
    [[nodiscard]] static std::int64_t apply_binary(instruction_kind kind, std::int64_t a, std::int64_t b);
};

}  // namespace llmcost::custom

#ifndef LLMCOST_COMPILED
#include <llmcost/custom/impl/expression.ipp>  // IWYU pragma: export
#endif
