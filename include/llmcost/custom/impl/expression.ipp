// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/custom/expression.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>

namespace llmcost::custom {

LLMCOST_INLINE std::int64_t expression_store::evaluate(const expression& e, const variable_frame& f) const {
    if (e.constant()) return e.number;
    std::int64_t stack[deepest_stack]{};
    std::size_t n = 0;
    for (std::uint32_t position = e.first; position < e.first + e.count; ++position) {
        const instruction& i = code[position];
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
                stack[n - 1] = apply_binary(instruction_kind::subtract, 0, stack[n - 1]);
                break;
            case instruction_kind::negation: stack[n - 1] = stack[n - 1] == 0; break;
            case instruction_kind::jump: position += static_cast<std::uint32_t>(i.operand); break;
            case instruction_kind::jump_unless:
                if (stack[--n] == 0) position += static_cast<std::uint32_t>(i.operand);
                break;
            default: --n; stack[n - 1] = apply_binary(i.kind, stack[n - 1], stack[n]);
        }
    }
    return stack[0];
}

LLMCOST_INLINE std::int64_t expression_store::item(std::int64_t list, std::int64_t index) const {
    const std::vector<std::int64_t>& all = lists[static_cast<std::size_t>(list)];
    const auto size = static_cast<std::int64_t>(all.size());
    if (index < -size || index >= size) throw_description_error("list index out of range");
    return all[static_cast<std::size_t>(index < 0 ? index + size : index)];
}

LLMCOST_INLINE std::int64_t expression_store::apply_binary(instruction_kind kind, std::int64_t a, std::int64_t b) {
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
    if (b == -1) return kind == instruction_kind::remainder ? 0 : apply_binary(instruction_kind::subtract, 0, a);
    const std::int64_t rest = a % b;
    const bool has_sign_mismatch = rest != 0 && (rest < 0) != (b < 0);
    if (kind == instruction_kind::remainder) return has_sign_mismatch ? rest + b : rest;
    if (kind == instruction_kind::divide && rest != 0)
        throw_description_error("the division / has a remainder; use // to round down");
    if (kind == instruction_kind::divide_up) return a / b + (rest != 0 && !has_sign_mismatch);
    return a / b - has_sign_mismatch;
}

}  // namespace llmcost::custom
