// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sources.hpp"

// The order in which a call evaluates its arguments is unspecified: clang begins with the first one, g++ with the last
// one. Therefore, at most one argument of a call may record operations. Otherwise, peaks of the memory and the order of
// kernels depend on the compiler. Braces evaluate their elements in order.
namespace {

using namespace sources;

using name_set = std::set<std::string, std::less<>>;

const name_set trace_names{"t", "tracer", "trace_"};
// functions of a trace that record nothing
const name_set pure_functions{"load", "activation_type", "buffer"};
const name_set statements{"if", "for", "while", "switch", "return", "catch", "constexpr"};

struct token {
    std::string_view text{};
    std::size_t line = 0;
};

/// The words and the other characters of a source, without comments, literals and preprocessor lines.
std::vector<token> tokens_of(const std::string& code) {
    std::vector<token> tokens;
    std::size_t line = 1;
    bool is_line_start = true;
    for (std::size_t i = 0; i < code.size();) {
        const char c = code[i];
        std::size_t end = i + 1;
        const bool is_comment = code.compare(i, 2, "//") == 0, is_directive = c == '#' && is_line_start;
        if (is_comment || is_directive) {
            end = std::min(code.find('\n', i), code.size());
        } else if (c == '"' || (c == '\'' && (i == 0 || !is_word(code[i - 1])))) {
            end = std::min(after_literal(code, i), code.size());
            tokens.push_back({"literal", line});
        } else if (is_word(c)) {
            while (end < code.size() && is_word(code[end])) ++end;
            tokens.push_back({std::string_view(code).substr(i, end - i), line});
        } else if (std::isspace(static_cast<unsigned char>(c)) == 0) {
            tokens.push_back({std::string_view(code).substr(i, 1), line});
        }
        line += static_cast<std::size_t>(std::count(code.begin() + static_cast<std::ptrdiff_t>(i),
                                                    code.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
        is_line_start = c == '\n' || (is_line_start && c == ' ');
        i = end;
    }
    return tokens;
}

/// An open parenthesis, bracket or brace.
struct bracket {
    std::size_t line = 0;
    std::string callee{};     ///< of a call; otherwise empty
    bool is_body = false;     ///< of a lambda, which a call does not execute when it evaluates its arguments
    bool has_traced = false;  ///< whether the content records operations
    int traced_arguments = 0;
    // of the current argument
    bool is_traced = false;
    std::size_t num_tokens = 0;
    std::string_view last_token{};

    void end_argument() {
        // a call that receives the trace
        if (!callee.empty() && num_tokens == 1 && trace_names.contains(last_token)) has_traced = true;
        traced_arguments += is_traced;
        has_traced = has_traced || is_traced;
        is_traced = false;
        num_tokens = 0;
    }
};

/// The name before the parenthesis at `i`, with its object: `t.add`; empty if none is called.
std::string callee_of(const std::vector<token>& tokens, std::size_t i) {
    if (i == 0) return {};
    std::size_t name = i - 1;
    if (tokens[name].text == ">") {  // template arguments
        for (int depth = 0; name > 0; --name) {
            depth += tokens[name].text == ">" ? 1 : tokens[name].text == "<" ? -1 : 0;
            if (depth == 0) break;
        }
        if (name > 0) --name;
    }
    const std::string_view text = tokens[name].text;
    if (text == ")" || text == "]") return "()";  // the result of a call, or an element
    if (!is_word(text[0]) || statements.contains(text)) return {};
    if (name < 2 || tokens[name - 1].text != ".") return std::string(text);
    return std::string(tokens[name - 2].text) + '.' + std::string(text);
}

/// Calls of which several arguments record operations, as line and callee.
///
/// `members`: functions that record operations if they are called without an object.
std::vector<std::pair<std::size_t, std::string>> unsequenced_calls(const std::string& code, const name_set& members) {
    std::vector<std::pair<std::size_t, std::string>> found;
    const std::vector<token> tokens = tokens_of(code);
    std::vector<bracket> open(1);
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        const std::string_view text = tokens[i].text;
        const std::string_view previous = i > 0 ? tokens[i - 1].text : std::string_view();
        if (text == "(" || text == "[" || text == "{") {
            ++open.back().num_tokens;
            bracket next{.line = tokens[i].line};
            if (text == "(") {
                next.callee = callee_of(tokens, i);
                const std::size_t dot = next.callee.find('.');
                next.has_traced = dot == std::string::npos ? members.contains(next.callee)
                                                           : trace_names.contains(next.callee.substr(0, dot)) &&
                                                                 !pure_functions.contains(next.callee.substr(dot + 1));
            }
            next.is_body = text == "{" && (previous == ")" || previous == "]" || previous == "mutable" ||
                                           (i > 2 && tokens[i - 2].text == ">" && tokens[i - 3].text == "-"));
            open.push_back(next);
        } else if ((text == ")" || text == "]" || text == "}") && open.size() > 1) {
            bracket& last = open.back();
            last.end_argument();
            if (!last.callee.empty() && last.traced_arguments > 1) found.emplace_back(last.line, last.callee);
            const bool is_traced = last.has_traced && !last.is_body;
            open.pop_back();
            open.back().is_traced = open.back().is_traced || is_traced;
        } else if (text == ",") {
            open.back().end_argument();
        } else {
            ++open.back().num_tokens;
            open.back().last_token = text;
        }
    }
    return found;
}

/// The functions of `trace` that return a tensor and are no constants.
name_set recording_members() {
    name_set members;
    const std::string code = text_of(top / "include/llmcost/trace/trace_class.hpp");
    const std::vector<token> tokens = tokens_of(code);
    for (std::size_t i = 1; i + 3 < tokens.size(); ++i)
        if (tokens[i].text == "constexpr" && tokens[i - 1].text != "static" && tokens[i + 1].text == "tensor" &&
            tokens[i + 3].text == "(")
            members.emplace(tokens[i + 2].text);
    return members;
}

}  // namespace

TEST_CASE("at most one argument of a call records operations") {
    const std::filesystem::path trace_folder = top / "include/llmcost/trace";
    const name_set members = recording_members();
    CHECK(members.size() > 100);
    std::size_t files = 0;
    for (const std::filesystem::path& path : code_files({"include"})) {
        ++files;
        const bool is_trace = path.parent_path() == trace_folder;
        for (const auto& call : unsequenced_calls(text_of(path), is_trace ? members : name_set{})) {
            const std::string location =
                std::filesystem::relative(path, top).string() + ':' + std::to_string(call.first);
            CHECK_MESSAGE(false, location << ": the order of the arguments of " << call.second << " is unspecified");
        }
    }
    CHECK(files > 500);
}

TEST_CASE("calls with several arguments that record operations are found") {
    const auto num_found = [](const char* code) { return unsequenced_calls(code, {"binary", "to"}).size(); };
    for (const char* code : {
             "t.add(t.mul(a, b), t.exp(c));",
             "t.add(t.mul(a, b).view({1, n}), c ? t.exp(c) : c);",
             "combine(t, first(t, a), second(ctx, t, b));",
             "return t.leave(m, t.add(t.mul_scalar(x), t.mul_scalar(y)));",
             "f([&] { return g(t.exp(a), t.exp(b)); });",
             "make<kind, 2>(t.exp(a), t.exp(b));",
             "layers[i](t.exp(a), t.exp(b));",
             "return binary(op::power, to(base), to(exponent));",
             "const tensor x(t.exp(a), t.cat({t.exp(b)}, 1));",
         })
        CHECK_MESSAGE(num_found(code) == 1, code);
    for (const char* code : {
             "t.add(x, t.exp(t.mul(a, b)));",
             "t.cat({t.exp(a), t.exp(b)}, 1);",
             "tensor_pair{t.exp(a), t.exp(b)};",
             "f([&] { return t.exp(a); }, t.exp(b));",
             "f([&](const tensor& x) -> tensor { return t.exp(x); }, t.exp(b));",
             "t.full({t.load().batch, n}, t.activation_type());",
             "if (t.exp(a), t.exp(b)) {}",
             "constexpr tensor f(trace& t, const tensor& a) { return t.exp(a); }",
             "// t.add(t.exp(a), t.exp(b))",
         })
        CHECK_MESSAGE(num_found(code) == 0, code);
}
