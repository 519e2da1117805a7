// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/args/tables.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::cli::detail {

LLMCOST_INLINE void append_csv(std::string& out, std::string_view field) {
    if (field.find_first_of(",\"\r\n") == std::string_view::npos) {
        out += field;
        return;
    }
    out += '"';
    for (const char c : field) {
        if (c == '"') out += '"';
        out += c;
    }
    out += '"';
}

/// A text field without control characters that a spreadsheet does not read as a formula.
///
/// Source: OWASP, CSV Injection.
LLMCOST_INLINE std::string csv_text(std::string_view field) {
    const std::string text = printable(field);
    const bool has_sign = text.size() > 1 && (text[0] == '-' || text[0] == '+') &&
                          std::string_view("0123456789.").find(text[1]) == std::string_view::npos && text != "-inf";
    return has_sign || text.starts_with('=') || text.starts_with('@') ? '\'' + text : text;
}

LLMCOST_INLINE void append_markdown(std::string& out, std::string_view field) {
    out += ' ';
    char previous = ' ';
    for (const char c : printable(field)) {
        if (std::string_view("|*_<`").find(c) != std::string_view::npos || (previous == ']' && c == '(')) out += '\\';
        out += previous = c;
    }
    out += " |";
}

LLMCOST_INLINE void append_latex(std::string& out, std::string_view field) {
    for (const char c : printable(field)) {
        if (std::string_view("#$%&_{}").find(c) != std::string_view::npos) {
            out += '\\';
            out += c;
        } else if (c == '\\' || c == '~' || c == '^')
            out += c == '\\' ? "\\textbackslash{}" : c == '~' ? "\\textasciitilde{}" : "\\textasciicircum{}";
        else
            out += c;
    }
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE std::string csv(const table& t) {
    std::string out;
    const auto line = [&](std::size_t n, auto field) {
        for (std::size_t i = 0; i < n; ++i) {
            if (i > 0) out += ',';
            detail::append_csv(out, field(i));
        }
        out += '\n';
    };
    line(t.columns.size(), [&](std::size_t i) { return detail::csv_text(t.columns[i].title); });
    for (const auto& row : t.rows) line(row.size(), [&](std::size_t i) { return detail::csv_text(row[i]); });
    return out;
}

LLMCOST_INLINE std::string markdown(const table& t) {
    std::string out = "|", rule = "|";
    for (const auto& c : t.columns) {
        detail::append_markdown(out, c.title);
        rule += c.number || c.is_right_aligned ? " ---: |" : " --- |";
    }
    out += '\n' + rule + '\n';
    for (const auto& row : t.rows) {
        out += '|';
        for (std::size_t i = 0; i < row.size(); ++i)
            detail::append_markdown(out, t.columns[i].number ? grouped(row[i]) : row[i]);
        out += '\n';
    }
    return out;
}

LLMCOST_INLINE std::string plain(const table& t) {
    std::vector<std::size_t> widths;
    for (std::size_t i = 0; i < t.columns.size(); ++i) {
        std::size_t w = width_of(t.columns[i].title);
        for (const auto& row : t.rows)
            w = std::max(w, t.columns[i].number ? row[i].size() + (row[i].empty() ? 0 : (row[i].size() - 1) / 3)
                                                : width_of(printable(row[i])));
        widths.push_back(w);
    }
    std::string out;
    const auto line = [&](auto field) {
        std::string text;
        for (std::size_t i = 0; i < t.columns.size(); ++i) {
            if (i > 0) text += "  ";
            text += t.columns[i].number || t.columns[i].is_right_aligned ? right(field(i), widths[i])
                                                                         : left(field(i), widths[i]);
        }
        out += text.substr(0, text.find_last_not_of(' ') + 1) + '\n';
    };
    line([&](std::size_t i) { return t.columns[i].title; });
    for (const auto& row : t.rows)
        line([&](std::size_t i) { return t.columns[i].number ? grouped(row[i]) : printable(row[i]); });
    return out;
}

/// The table as LaTeX for the package booktabs; digits in groups of three.
[[nodiscard]] LLMCOST_INLINE std::string latex(const table& t) {
    std::string out = "% \\usepackage{booktabs}\n\\begin{tabular}{";
    for (const auto& c : t.columns) out += c.number || c.is_right_aligned ? 'r' : 'l';
    out += "}\n\\toprule\n";
    const auto line = [&](auto field) {
        for (std::size_t i = 0; i < t.columns.size(); ++i) {
            if (i > 0) out += " & ";
            detail::append_latex(out, field(i));
        }
        out += " \\\\\n";
    };
    line([&](std::size_t i) { return t.columns[i].title; });
    out += "\\midrule\n";
    for (const auto& row : t.rows) line([&](std::size_t i) { return t.columns[i].number ? grouped(row[i]) : row[i]; });
    return out + "\\bottomrule\n\\end{tabular}\n";
}

LLMCOST_INLINE std::string written(const table& t, output_format format) {
    switch (format) {
        case output_format::csv: return csv(t);
        case output_format::markdown: return markdown(t);
        case output_format::latex: return latex(t);
        case output_format::text:
        case output_format::json: break;
    }
    return plain(t);
}

}  // namespace llmcost::cli
