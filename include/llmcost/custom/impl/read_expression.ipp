// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/custom/read_expression.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <llmcost/base/config_view.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/custom/expression.hpp>
#include <llmcost/text/nearest_name.hpp>

namespace llmcost::custom {

LLMCOST_INLINE expression expression_reader::read(config_view node) {
    if (node.is_boolean()) return {.number = node.as_boolean()};
    if (node.is_integer()) return {.number = node.as_integer()};
    if (!node.is_string()) throw_invalid_value(node, "an integer or an expression such as \"4 * hidden_size\"");
    node_ = node;
    text_ = std::string_view(node.as_string().data(), node.as_string().size());
    position_ = 0;
    depth_ = 0;
    stack_ = 0;
    max_stack_ = 0;
    uses_workload_ = is_nonlinear_ = has_variable_ = false;
    const std::size_t first = store_.code.size();
    choice();
    skip();
    if (position_ != text_.size()) refuse("expected an operator or the end");
    expression out{.first = static_cast<std::uint32_t>(first),
                   .count = static_cast<std::uint32_t>(store_.code.size() - first),
                   .uses_workload = uses_workload_,
                   .is_nonlinear = is_nonlinear_};
    if (has_variable_) return out;
    try {
        out.number = store_.evaluate(out, {});
    } catch (const description_error& e) {
        refuse(e.what());
    } catch (const overflow_error&) {
        refuse("is beyond 64 bits");
    }
    store_.code.resize(first);
    out.count = 0;
    return out;
}

LLMCOST_INLINE void expression_reader::refuse(std::string_view problem) const {
    std::string message =
        "in \"" + std::string(text_.substr(0, 60)) + "\", at character " + std::to_string(position_ + 1) + ": ";
    refuse_at(node_, message.append(problem));
}

LLMCOST_INLINE std::string_view expression_reader::peek_name() const {
    std::size_t end = position_;
    while (end < text_.size() && (is_letter(text_[end]) || (end > position_ && is_digit(text_[end])))) ++end;
    return text_.substr(position_, end - position_);
}

LLMCOST_INLINE bool expression_reader::accept(std::string_view sign) {
    skip();
    const bool is_keyword = is_letter(sign.front());
    if (is_keyword ? peek_name() != sign : !text_.substr(position_).starts_with(sign)) return false;
    position_ += sign.size();
    return true;
}

LLMCOST_INLINE void expression_reader::emit(kind k, std::int64_t operand, int pushed) {
    store_.code.push_back({k, operand});
    stack_ += pushed;
    if (stack_ > max_stack_) max_stack_ = stack_;
    if (max_stack_ > static_cast<int>(deepest_stack)) refuse("is nested too deeply");
}

LLMCOST_INLINE std::size_t expression_reader::emit_jump(kind k, int pushed) {
    emit(k, 0, pushed);
    return store_.code.size() - 1;
}

LLMCOST_INLINE void expression_reader::choice() {
    enter();
    const std::size_t begin = store_.code.size();
    parse_or();
    if (accept("if")) {
        is_nonlinear_ = true;
        const std::vector<instruction> value(store_.code.begin() + static_cast<std::ptrdiff_t>(begin),
                                             store_.code.end());
        store_.code.resize(begin);
        --stack_;
        parse_or();
        expect("else");
        const std::size_t unless = emit_jump(kind::jump_unless, -1);
        store_.code.insert(store_.code.end(), value.begin(), value.end());
        const std::size_t end_jump = emit_jump(kind::jump, 0);
        land(unless);
        choice();
        land(end_jump);
    }
    --depth_;
}

LLMCOST_INLINE void expression_reader::parse_or() {
    parse_and();
    while (accept("or")) {
        is_nonlinear_ = true;
        const std::size_t unless = emit_jump(kind::jump_unless, -1);
        emit(kind::number, 1, 1);
        const std::size_t end_jump = emit_jump(kind::jump, -1);
        land(unless);
        parse_and();
        emit(kind::number, 0, 1);
        emit(kind::unequal, 0, -1);
        land(end_jump);
    }
}

LLMCOST_INLINE void expression_reader::parse_and() {
    inverted();
    while (accept("and")) {
        is_nonlinear_ = true;
        const std::size_t unless = emit_jump(kind::jump_unless, -1);
        inverted();
        emit(kind::number, 0, 1);
        emit(kind::unequal, 0, -1);
        const std::size_t end_jump = emit_jump(kind::jump, -1);
        land(unless);
        emit(kind::number, 0, 1);
        land(end_jump);
    }
}

LLMCOST_INLINE void expression_reader::inverted() {
    enter();
    if (accept("not")) {
        inverted();
        emit(kind::negation, 0, 0);
    } else {
        compared();
    }
    --depth_;
}

LLMCOST_INLINE void expression_reader::compared() {
    sum();
    const auto emit_comparison = [&](kind k, bool swapped) {
        is_nonlinear_ = true;
        sum();
        emit(k, 0, -1);
        if (swapped) emit(kind::negation, 0, 0);
    };
    if (accept("in")) {
        is_nonlinear_ = true;
        return emit(kind::contained, parse_list_name(), 0);
    }
    if (accept("<=")) return emit_comparison(kind::less_or_equal, false);
    if (accept(">=")) return emit_comparison(kind::less_than, true);
    if (accept("==")) return emit_comparison(kind::equal, false);
    if (accept("!=")) return emit_comparison(kind::unequal, false);
    if (accept("<")) return emit_comparison(kind::less_than, false);
    if (accept(">")) return emit_comparison(kind::less_or_equal, true);
}

LLMCOST_INLINE std::int64_t expression_reader::parse_list_name() {
    skip();
    const std::string_view name = peek_name();
    const std::optional<meaning> found = names_.find(name);
    if (!found || found->kind != meaning::symbol_kind::list) refuse("expected the name of a list");
    position_ += name.size();
    return found->operand;
}

LLMCOST_INLINE void expression_reader::sum() {
    product();
    for (;;) {
        if (accept("+")) {
            product();
            emit(kind::add, 0, -1);
        } else if (accept("-")) {
            product();
            emit(kind::subtract, 0, -1);
        } else
            return;
    }
}

LLMCOST_INLINE void expression_reader::product() {
    signed_one();
    for (;;) {
        if (accept("*")) {
            signed_one();
            emit(kind::multiply, 0, -1);
        } else if (accept("//")) {
            is_nonlinear_ = true;
            signed_one();
            emit(kind::divide_down, 0, -1);
        } else if (accept("/")) {
            is_nonlinear_ = true;
            signed_one();
            emit(kind::divide, 0, -1);
        } else if (accept("%")) {
            is_nonlinear_ = true;
            signed_one();
            emit(kind::remainder, 0, -1);
        } else {
            return;
        }
    }
}

LLMCOST_INLINE void expression_reader::signed_one() {
    enter();
    if (accept("-")) {
        signed_one();
        emit(kind::negate, 0, 0);
    } else {
        parse_operand();
    }
    --depth_;
}

LLMCOST_INLINE void expression_reader::parse_operand() {
    skip();
    if (accept("(")) {
        choice();
        return expect(")");
    }
    if (position_ < text_.size() && is_digit(text_[position_])) return digits();
    const std::string_view name = peek_name();
    if (name.empty()) refuse("expected a number, a name or (");
    const std::size_t begin = position_;
    position_ += name.size();
    if (accept("(")) return function(name, begin);
    const std::optional<meaning> found = names_.find(name);
    if (!found) {
        position_ = begin;
        name_suggestions near(name);
        names_.add_candidates(near);
        refuse("unknown name " + std::string(name.substr(0, 40)) + near.suggestion_text(""));
    }
    if (found->kind == meaning::symbol_kind::list) {
        if (!accept("[")) refuse("expected [ after the name of a list");
        choice();
        expect("]");
        return emit(kind::item, found->operand, 0);
    }
    if (found->kind == meaning::symbol_kind::number) return emit(kind::number, found->operand, 1);
    has_variable_ = true;
    // A closed form is valid for one image size, independent of expressions.
    const bool of_images = found->operand == static_cast<std::int64_t>(workload_variable::image_height) ||
                           found->operand == static_cast<std::int64_t>(workload_variable::image_width);
    uses_workload_ = uses_workload_ || (found->kind == meaning::symbol_kind::workload && !of_images);
    emit(found->kind == meaning::symbol_kind::workload ? kind::workload : kind::variable, found->operand, 1);
}

LLMCOST_INLINE void expression_reader::digits() {
    std::int64_t n = 0;
    for (; position_ < text_.size() && is_digit(text_[position_]); ++position_)
        if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, text_[position_] - '0', &n))
            refuse("is beyond 64 bits");
    if (position_ < text_.size() && (is_letter(text_[position_]) || text_[position_] == '.'))
        refuse("expected a whole number");
    emit(kind::number, n, 1);
}

LLMCOST_INLINE void expression_reader::function(std::string_view name, std::size_t begin) {
    const function_name* called = nullptr;
    std::string all;
    for (const function_name& f : function_names) {
        if (name == std::string_view(f.name)) called = &f;
        all.append(all.empty() ? "" : ", ").append(f.name);
    }
    if (called == nullptr) {
        position_ = begin;
        refuse("unknown function " + std::string(name.substr(0, 40)) + "; expected one of " + all);
    }
    if (called->arity == function_arity::list) {
        const auto list = static_cast<std::size_t>(parse_list_name());
        emit(called->kind, static_cast<std::int64_t>(store_.lists[list].size()), 1);
        return expect(")");
    }
    is_nonlinear_ = true;
    choice();
    int n = 1;
    for (; accept(","); ++n) {
        choice();
        emit(called->kind, 0, -1);
    }
    if (n < 2 || (called->arity == function_arity::two && n > 2)) refuse("expected two numbers in (a, b)");
    expect(")");
}

}  // namespace llmcost::custom
