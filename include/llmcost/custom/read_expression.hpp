// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <llmcost/base/config_view.hpp>
#include <llmcost/custom/expression.hpp>
#include <llmcost/text/nearest_name.hpp>

namespace llmcost::custom {

/// Meaning of a name in an expression.
struct meaning {
    enum class symbol_kind : std::uint8_t { number, list, variable, workload };
    symbol_kind kind;
    std::int64_t operand;
};

/// Names that an expression can use.
class name_table {
public:
    [[nodiscard]] virtual std::optional<meaning> find(std::string_view name) const = 0;
    virtual void offer_all(name_suggestions& near) const = 0;

protected:
    ~name_table() = default;
};

/// Throws `bad_value` with a location in the description.
[[noreturn]] inline void refuse_at(config_view at, std::string_view message) {
    llmcost::detail::fail_at(config_problem::bad_value, at, {}, message);
}

/// Compiles expressions in Python syntax.
///
/// Operators and functions: `+ - * / // %`, comparisons, `and or not`, `a if c else b`, `list[i]`, `min`, `max`,
/// `ceil_div`.
class expression_reader {
public:
    expression_reader(expression_store& store, const name_table& names) : store_(store), names_(names) {}

    /// Compiles a number, a boolean or a string.
    [[nodiscard]] expression read(config_view at) {
        if (at.is_boolean()) return {.number = at.as_boolean()};
        if (at.is_integer()) return {.number = at.as_integer()};
        if (!at.is_string()) throw_invalid_value(at, "an integer or an expression such as \"4 * hidden_size\"");
        at_ = at;
        text_ = std::string_view(at.as_string().data(), at.as_string().size());
        place_ = 0;
        depth_ = 0;
        stack_ = 0;
        highest_ = 0;
        uses_workload_ = bends_ = varies_ = false;
        const std::size_t first = store_.code.size();
        choice();
        skip();
        if (place_ != text_.size()) refuse("expected an operator or the end");
        expression out{.first = static_cast<std::uint32_t>(first),
                       .count = static_cast<std::uint32_t>(store_.code.size() - first),
                       .uses_workload = uses_workload_,
                       .bends = bends_};
        if (varies_) return out;
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

private:
    using kind = instruction_kind;

    [[noreturn]] void refuse(std::string_view problem) const {
        std::string message =
            "in \"" + std::string(text_.substr(0, 60)) + "\", at character " + std::to_string(place_ + 1) + ": ";
        refuse_at(at_, message.append(problem));
    }
    void skip() {
        while (place_ < text_.size() && (text_[place_] == ' ' || text_[place_] == '\t')) ++place_;
    }
    static bool is_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
    static bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
    [[nodiscard]] std::string_view peek_name() const {
        std::size_t end = place_;
        while (end < text_.size() && (is_letter(text_[end]) || (end > place_ && is_digit(text_[end])))) ++end;
        return text_.substr(place_, end - place_);
    }
    bool accept(std::string_view sign) {
        skip();
        const bool is_keyword = is_letter(sign.front());
        if (is_keyword ? peek_name() != sign : !text_.substr(place_).starts_with(sign)) return false;
        place_ += sign.size();
        return true;
    }
    void expect(std::string_view sign) {
        if (!accept(sign)) refuse("expected " + std::string(sign));
    }
    void emit(kind k, std::int64_t operand, int pushed) {
        store_.code.push_back({k, operand});
        stack_ += pushed;
        if (stack_ > highest_) highest_ = stack_;
        if (highest_ > static_cast<int>(deepest_stack)) refuse("is nested too deeply");
    }
    /// Emits a jump without a target. The caller sets the target.
    std::size_t emit_jump(kind k, int pushed) {
        emit(k, 0, pushed);
        return store_.code.size() - 1;
    }
    void land(std::size_t jump) {
        store_.code[jump].operand = static_cast<std::int64_t>(store_.code.size() - jump - 1);
    }
    void enter() {
        if (++depth_ > 64) refuse("is nested too deeply");
    }

    // value `if` condition `else` other: the condition is evaluated first.
    void choice() {
        enter();
        const std::size_t begin = store_.code.size();
        parse_or();
        if (accept("if")) {
            bends_ = true;
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
    // `a or b`: a if a is not zero.
    void parse_or() {
        parse_and();
        while (accept("or")) {
            bends_ = true;
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
    void parse_and() {
        inverted();
        while (accept("and")) {
            bends_ = true;
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
    void inverted() {
        enter();
        if (accept("not")) {
            inverted();
            emit(kind::negation, 0, 0);
        } else {
            compared();
        }
        --depth_;
    }
    void compared() {
        sum();
        const auto emit_comparison = [&](kind k, bool swapped) {
            bends_ = true;
            sum();
            emit(k, 0, -1);
            if (swapped) emit(kind::negation, 0, 0);
        };
        if (accept("in")) {
            bends_ = true;
            return emit(kind::contained, parse_list_name(), 0);
        }
        if (accept("<=")) return emit_comparison(kind::less_or_equal, false);
        if (accept(">=")) return emit_comparison(kind::less_than, true);
        if (accept("==")) return emit_comparison(kind::equal, false);
        if (accept("!=")) return emit_comparison(kind::unequal, false);
        if (accept("<")) return emit_comparison(kind::less_than, false);
        if (accept(">")) return emit_comparison(kind::less_or_equal, true);
    }
    /// Parses the name of a list.
    std::int64_t parse_list_name() {
        skip();
        const std::string_view name = peek_name();
        const std::optional<meaning> found = names_.find(name);
        if (!found || found->kind != meaning::symbol_kind::list) refuse("expected the name of a list");
        place_ += name.size();
        return found->operand;
    }
    void sum() {
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
    void product() {
        signed_one();
        for (;;) {
            if (accept("*")) {
                signed_one();
                emit(kind::multiply, 0, -1);
            } else if (accept("//")) {
                bends_ = true;
                signed_one();
                emit(kind::divide_down, 0, -1);
            } else if (accept("/")) {
                bends_ = true;
                signed_one();
                emit(kind::divide, 0, -1);
            } else if (accept("%")) {
                bends_ = true;
                signed_one();
                emit(kind::remainder, 0, -1);
            } else {
                return;
            }
        }
    }
    void signed_one() {
        enter();
        if (accept("-")) {
            signed_one();
            emit(kind::negate, 0, 0);
        } else {
            one();
        }
        --depth_;
    }
    void one() {
        skip();
        if (accept("(")) {
            choice();
            return expect(")");
        }
        if (place_ < text_.size() && is_digit(text_[place_])) return digits();
        const std::string_view name = peek_name();
        if (name.empty()) refuse("expected a number, a name or (");
        const std::size_t begin = place_;
        place_ += name.size();
        if (accept("(")) return function(name, begin);
        const std::optional<meaning> found = names_.find(name);
        if (!found) {
            place_ = begin;
            name_suggestions near(name);
            names_.offer_all(near);
            refuse("unknown name " + std::string(name.substr(0, 40)) + near.suggestion_text(""));
        }
        if (found->kind == meaning::symbol_kind::list) {
            if (!accept("[")) refuse("expected [ after the name of a list");
            choice();
            expect("]");
            return emit(kind::item, found->operand, 0);
        }
        if (found->kind == meaning::symbol_kind::number) return emit(kind::number, found->operand, 1);
        varies_ = true;
        // A closed form is valid for one image size, independent of expressions.
        const bool of_images = found->operand == static_cast<std::int64_t>(workload_variable::image_height) ||
                               found->operand == static_cast<std::int64_t>(workload_variable::image_width);
        uses_workload_ = uses_workload_ || (found->kind == meaning::symbol_kind::workload && !of_images);
        emit(found->kind == meaning::symbol_kind::workload ? kind::workload : kind::variable, found->operand, 1);
    }
    void digits() {
        std::int64_t n = 0;
        for (; place_ < text_.size() && is_digit(text_[place_]); ++place_)
            if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, text_[place_] - '0', &n))
                refuse("is beyond 64 bits");
        if (place_ < text_.size() && (is_letter(text_[place_]) || text_[place_] == '.'))
            refuse("expected a whole number");
        emit(kind::number, n, 1);
    }
    void function(std::string_view name, std::size_t begin) {
        const function_name* called = nullptr;
        std::string all;
        for (const function_name& f : function_names) {
            if (name == std::string_view(f.name)) called = &f;
            all.append(all.empty() ? "" : ", ").append(f.name);
        }
        if (called == nullptr) {
            place_ = begin;
            refuse("unknown function " + std::string(name.substr(0, 40)) + "; expected one of " + all);
        }
        if (called->arity == function_arity::list) {
            const auto list = static_cast<std::size_t>(parse_list_name());
            emit(called->kind, static_cast<std::int64_t>(store_.lists[list].size()), 1);
            return expect(")");
        }
        bends_ = true;
        choice();
        int n = 1;
        for (; accept(","); ++n) {
            choice();
            emit(called->kind, 0, -1);
        }
        if (n < 2 || (called->arity == function_arity::two && n > 2)) refuse("expected two numbers in (a, b)");
        expect(")");
    }

    expression_store& store_;
    const name_table& names_;
    config_view at_{};
    std::string_view text_{};
    std::size_t place_ = 0;
    int depth_ = 0, stack_ = 0, highest_ = 0;
    bool uses_workload_ = false, bends_ = false, varies_ = false;
};

}  // namespace llmcost::custom
