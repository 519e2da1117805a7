// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/workload.hpp>

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
    bool bends = false;          ///< not a polynomial of its variables

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
    [[nodiscard]] std::int64_t evaluate(const expression& e, const variable_frame& f) const {
        if (e.constant()) return e.number;
        std::int64_t stack[deepest_stack]{};
        std::size_t n = 0;
        for (std::uint32_t at = e.first; at < e.first + e.count; ++at) {
            const instruction& i = code[at];
            switch (i.kind) {
                case instruction_kind::number: stack[n++] = i.operand; break;
                case instruction_kind::variable: stack[n++] = f.variables[i.operand]; break;
                case instruction_kind::workload: stack[n++] = f.workload_values[i.operand]; break;
                case instruction_kind::item: stack[n - 1] = item(i.operand, stack[n - 1]); break;
                case instruction_kind::contained: {
                    const std::vector<std::int64_t>& all = lists[static_cast<std::size_t>(i.operand)];
                    stack[n - 1] = std::find(all.begin(), all.end(), stack[n - 1]) != all.end();
                    break;
                }
                case instruction_kind::negate:
                    stack[n - 1] = of_two(instruction_kind::subtract, 0, stack[n - 1]);
                    break;
                case instruction_kind::negation: stack[n - 1] = stack[n - 1] == 0; break;
                case instruction_kind::jump: at += static_cast<std::uint32_t>(i.operand); break;
                case instruction_kind::jump_unless:
                    if (stack[--n] == 0) at += static_cast<std::uint32_t>(i.operand);
                    break;
                default: --n; stack[n - 1] = of_two(i.kind, stack[n - 1], stack[n]);
            }
        }
        return stack[0];
    }

private:
    [[nodiscard]] std::int64_t item(std::int64_t list, std::int64_t at) const {
        const std::vector<std::int64_t>& all = lists[static_cast<std::size_t>(list)];
        const auto size = static_cast<std::int64_t>(all.size());
        if (at < -size || at >= size) throw_description_error("list index out of range");
        return all[static_cast<std::size_t>(at < 0 ? at + size : at)];
    }
    [[nodiscard]] static std::int64_t of_two(instruction_kind kind, std::int64_t a, std::int64_t b) {
        std::int64_t out = 0;
        switch (kind) {
            case instruction_kind::add:
                if (__builtin_add_overflow(a, b, &out)) throw_overflow_error();
                return out;
            case instruction_kind::subtract:
                if (__builtin_sub_overflow(a, b, &out)) throw_overflow_error();
                return out;
            case instruction_kind::multiply:
                if (__builtin_mul_overflow(a, b, &out)) throw_overflow_error();
                return out;
            case instruction_kind::smallest: return a < b ? a : b;
            case instruction_kind::largest: return a < b ? b : a;
            case instruction_kind::less_than: return a < b;
            case instruction_kind::less_or_equal: return a <= b;
            case instruction_kind::equal: return a == b;
            case instruction_kind::unequal: return a != b;
            default: break;
        }
        if (b == 0) throw_description_error("a division by zero");
        if (b == -1) return kind == instruction_kind::remainder ? 0 : of_two(instruction_kind::subtract, 0, a);
        const std::int64_t rest = a % b;
        const bool has_sign_mismatch = rest != 0 && (rest < 0) != (b < 0);
        if (kind == instruction_kind::remainder) return has_sign_mismatch ? rest + b : rest;
        if (kind == instruction_kind::divide && rest != 0)
            throw_description_error("the division / has a remainder; use // to round down");
        if (kind == instruction_kind::divide_up) return a / b + (rest != 0 && !has_sign_mismatch);
        return a / b - has_sign_mismatch;
    }
};

}  // namespace llmcost::custom
