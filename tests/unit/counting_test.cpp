// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/llmcost.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>

// docs/counting.md says what operations and layers cost; here its tables meet the code.
namespace {

using namespace llmcost;
using llmcost::count;  // not <algorithm>'s

constexpr std::array<std::string_view, 12> names{"ADD",  "MULT", "DIV",  "SQRT", "EXP", "LOG",
                                                 "TANH", "ERF",  "TRIG", "POW",  "NEG", "CMP"};

template <class T>
std::array<long long, 12> in_order(const primitives<T>& p) {
    const auto number = [](const T& n) {
        if constexpr (std::is_same_v<T, count>)
            return static_cast<long long>(n.to_64());
        else
            return static_cast<long long>(n);
    };
    return {number(p.add),  number(p.mult), number(p.div),  number(p.sqrt), number(p.exp), number(p.log),
            number(p.tanh), number(p.erf),  number(p.trig), number(p.pow),  number(p.neg), number(p.cmp)};
}

std::string document() {
    std::ifstream in(std::string(LLMCOST_TEST_DIR) + "/../docs/counting.md");
    std::ostringstream all;
    all << in.rdbuf();
    return all.str();
}

std::string listed(const std::array<long long, 12>& numbers) {
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i)
        if (numbers[i] != 0)
            text += (text.empty() ? "" : ", ") + std::string(names[i]) + " " + std::to_string(numbers[i]);
    return text.empty() ? "–" : text;
}

std::string_view format_label(saved_tensors saved) {
    switch (saved) {
        case saved_tensors::none: return "–";
        case saved_tensors::input: return "input";
        case saved_tensors::output: return "result";
        case saved_tensors::input_and_output: return "input and result";
        case saved_tensors::other_operand: return "other operand, if an operand requires a gradient";
        case saved_tensors::divisor_or_both: return "divisor; dividend if the divisor requires a gradient";
        case saved_tensors::input_and_row_statistics: return "input and row statistics";
        case saved_tensors::both_inputs: return "both inputs";
        case saved_tensors::second_input: return "source";
    }
    return "";
}

std::string_view format_label(gradient_size_kind gradient) {
    switch (gradient) {
        case gradient_size_kind::as_input: return "input";
        case gradient_size_kind::as_output: return "output";
        case gradient_size_kind::already_summed: return "–";
    }
    return "";
}

/// Operations whose backward executes something, or whose gradients arrive otherwise than most.
std::string table_of_backward() {
    std::string text =
        "| operation | first input | second input | per row | per element of an input | gradient size |\n"
        "|---|---|---|---|---|---|\n";
    for (const backward_op_cost& p : backward_table) {
        const backward_op_cost plain{p.kind, {}, {}};
        if (p.first == plain.first && p.second == plain.second && p.per_row == plain.per_row &&
            p.gradient_size == plain.gradient_size)
            continue;
        const std::string factor = p.mult_per_element != 0 ? "MULT " + std::to_string(p.mult_per_element) : "–";
        text += "| `" + std::string(op_cost_of(p.kind).name) + "` | " + listed(in_order(p.first)) + " | " +
                listed(in_order(p.second)) + " | " + listed(in_order(p.per_row)) + " | " + factor + " | " +
                std::string(format_label(p.gradient_size)) + " |\n";
    }
    return text;
}

std::string table_of_operations() {
    std::string text =
        "| operation | per unit of work | per row | FLOPs | saved for backward |\n|---|---|---|---|---|\n";
    for (const op_cost& p : op_costs)
        text += "| `" + std::string(p.name) + "` | " + listed(in_order(p.per_work)) + " | " +
                listed(in_order(p.per_row)) + " | " + std::to_string(p.torch_flops) + " | " +
                std::string(format_label(p.saved)) + " |\n";
    return text;
}

/// What a description of a row of k elements costs, as `ADD 2k - 1, DIV k`; it must be linear in k.
template <class Describe>
std::string price_of_row(Describe forward) {
    const auto report_of = [&](std::int64_t k) {
        trace t{workload{}};
        forward(t, k);
        return in_order(primitives_of(t.totals()));
    };
    const auto ten = report_of(10), eleven = report_of(11), thirty = report_of(30);
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const long long slope = eleven[i] - ten[i], rest = ten[i] - 10 * slope;
        CHECK(thirty[i] == 30 * slope + rest);
        if (slope == 0 && rest == 0) continue;
        text += (text.empty() ? "" : ", ") + std::string(names[i]) + " ";
        if (slope != 0) text += (slope == 1 ? "" : std::to_string(slope)) + "k";
        if (slope != 0 && rest != 0) text += rest < 0 ? " - " : " + ";
        if (rest != 0) text += std::to_string(slope != 0 && rest < 0 ? -rest : rest);
    }
    return text;
}

void check_row(const std::string& doc, const std::string& name, const std::string& text) {
    const std::string line = "| " + name + " | " + text + " |\n";
    CHECK_MESSAGE(doc.find(line) != std::string::npos, "docs/counting.md should say: " << line);
}

}  // namespace

TEST_CASE("the document has the table of operations") {
    const std::string table = table_of_operations();
    CHECK_MESSAGE(document().find("\n" + table + "\n") != std::string::npos, "docs/counting.md should have:\n"
                                                                                 << table);
    const std::string backward = table_of_backward();
    CHECK_MESSAGE(document().find("\n" + backward + "\n") != std::string::npos, "docs/counting.md should have:\n"
                                                                                    << backward);
}

TEST_CASE("the document has every primitive and every role") {
    const std::string doc = document();
    for (const std::string_view name : names) {
        CAPTURE(name);
        const std::string text(name);
        CHECK((doc.find("| " + text + " |") != std::string::npos || doc.find("| " + text + ", ") != std::string::npos ||
               doc.find(", " + text + " |") != std::string::npos));
    }
    for (std::size_t i = 1; i < std::size(role_names); ++i) {
        CAPTURE(role_names[i]);
        CHECK(doc.find("`" + std::string(role_names[i]) + "`") != std::string::npos);
    }
}

TEST_CASE("rows cost what the document says") {
    const std::string doc = document();
    const auto row = [](trace& t, std::int64_t k) { return t.input({1, k}); };
    const auto check = [&](const char* name, auto forward) { check_row(doc, name, price_of_row(forward)); };
    check("mean", [&](trace& t, std::int64_t k) { (void)t.mean(row(t, k), -1); });
    check("maximum", [&](trace& t, std::int64_t k) { (void)t.amax(row(t, k), -1); });
    check("softmax", [&](trace& t, std::int64_t k) { (void)t.softmax(row(t, k)); });
    check("log-softmax", [&](trace& t, std::int64_t k) { (void)t.log_softmax(row(t, k)); });
    check("sum, cumulative sum", [&](trace& t, std::int64_t k) { (void)t.sum(row(t, k), -1); });
    check("sum, cumulative sum", [&](trace& t, std::int64_t k) { (void)t.cumsum(row(t, k), -1); });
    const auto check_norm = [&]<norm_kind Kind>(const char* name, bool weight, bool bias) {
        check(name, [&](trace& t, std::int64_t k) {
            t.call("norm", norm_module{Kind, k, {}, weight, bias}, row(t, k));
        });
    };
    check_norm.operator()<norm_kind::rms>("RMS norm (Llama, OLMo 2, T5)", true, false);
    check_norm.operator()<norm_kind::rms_cast_last>("RMS norm (Llama, OLMo 2, T5)", true, false);
    check_norm.operator()<norm_kind::rms_float_variance>("RMS norm (Llama, OLMo 2, T5)", true, false);
    check_norm.operator()<norm_kind::rms>("RMS norm without weight", false, false);
    check_norm.operator()<norm_kind::layer>("layer norm with weight and bias", true, true);
    check_norm.operator()<norm_kind::layer>("layer norm with weight only", true, false);
    check_norm.operator()<norm_kind::layer>("layer norm without parameters", false, false);
    check_norm.operator()<norm_kind::layer_spelled>("layer norm from elementary operations (Cohere)", true, false);
    check("one query over k keys, head of 8", [](trace& t, std::int64_t k) {
        const tensor q = t.input({1, 1, 1, 8}), keys = t.input({1, 1, k, 8}), mask = t.input({1, 1, 1, k});
        const attention_pattern pattern{.query_length = 1, .cached_length = k - 1, .num_previous_tokens = k - 1};
        (void)attention_forward(t, q, keys, keys, pattern, {.mask = &mask});
    });
}

TEST_CASE("Gemma's norm costs more per call, not per row") {
    const auto adds = [](std::int64_t rows, auto layer) {
        trace t{workload{}};
        t.call("norm", layer, t.input({rows, 64}));
        return primitives_of(t.totals()).add;
    };
    for (const std::int64_t rows : {1, 5})
        CHECK(adds(rows, norm_module{norm_kind::rms_plus_one, 64}) ==
              adds(rows, norm_module{norm_kind::rms, 64}) + count(64));
}

TEST_CASE("activations cost what the document says") {
    std::string doc = document();
    doc.erase(0, doc.find("| activation | cost |"));
    REQUIRE(!doc.empty());
    for (const activation_row& a : activation_table) {
        CAPTURE(a.name);
        trace t{workload{}};
        (void)activate(t, a.kind, t.input({1}));
        const std::string price_text = " | " + listed(in_order(primitives_of(t.totals()))) + " |\n";
        const std::size_t position = doc.find("`" + std::string(a.name) + "`");
        REQUIRE(position != std::string::npos);
        const std::size_t end = doc.find('\n', position);
        CHECK_MESSAGE(doc.substr(position, end + 1 - position).ends_with(price_text),
                      "docs/counting.md should say: " << price_text);
    }
}
