// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <llmcost/base/config_error.hpp>
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
    virtual void add_candidates(name_suggestions& near) const = 0;

protected:
    ~name_table() = default;
};

/// Throws `bad_value` with a location in the description.
[[noreturn]] inline void refuse_at(config_view node, std::string_view message) {
    llmcost::detail::fail_at(config_problem::bad_value, node, {}, message);
}

/// Compiles expressions in Python syntax.
///
/// Operators and functions: `+ - * / // %`, comparisons, `and or not`, `a if c else b`, `list[i]`, `min`, `max`,
/// `ceil_div`.
class expression_reader {
public:
    expression_reader(expression_store& store, const name_table& names) : store_(store), names_(names) {}

    /// Compiles a number, a boolean or a string.
    [[nodiscard]] expression read(config_view node);

private:
    using kind = instruction_kind;

    [[noreturn]] void refuse(std::string_view problem) const;
    void skip() {
        while (position_ < text_.size() && (text_[position_] == ' ' || text_[position_] == '\t')) ++position_;
    }
    static bool is_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
    static bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
    [[nodiscard]] std::string_view peek_name() const;
    bool accept(std::string_view sign);
    void expect(std::string_view sign) {
        if (!accept(sign)) refuse("expected " + std::string(sign));
    }
    void emit(kind k, std::int64_t operand, int pushed);
    /// Emits a jump without a target. The caller sets the target.
    std::size_t emit_jump(kind k, int pushed);
    void land(std::size_t jump) {
        store_.code[jump].operand = static_cast<std::int64_t>(store_.code.size() - jump - 1);
    }
    void enter() {
        if (++depth_ > 64) refuse("is nested too deeply");
    }

    // value `if` condition `else` other: the condition is evaluated first.
    void choice();
    // `a or b`: a if a is not zero.
    void parse_or();
    void parse_and();
    void inverted();
    void compared();
    /// Parses the name of a list.
    std::int64_t parse_list_name();
    void sum();
    void product();
    void signed_one();
    void parse_operand();
    void digits();
    void function(std::string_view name, std::size_t begin);

    expression_store& store_;
    const name_table& names_;
    config_view node_{};
    std::string_view text_{};
    std::size_t position_ = 0;
    int depth_ = 0, stack_ = 0, max_stack_ = 0;
    bool uses_workload_ = false, is_nonlinear_ = false, has_variable_ = false;
};

}  // namespace llmcost::custom

#ifndef LLMCOST_COMPILED
#include <llmcost/custom/impl/read_expression.ipp>  // IWYU pragma: export
#endif
