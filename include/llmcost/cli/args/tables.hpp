// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace llmcost::cli {

/// The output formats, in the order of `--format`.
enum class output_format { text, json, csv, markdown, latex };

/// A table of texts; number columns are right-aligned and contain only digits.
struct table {
    struct column {
        std::string title;
        bool number = false;
        bool is_right_aligned = false;  ///< texts with units; number columns always are
    };
    std::vector<column> columns;
    std::vector<std::vector<std::string>> rows;
};

namespace detail {

/// Appends a CSV field, quoted if necessary (RFC 4180).
void append_csv(std::string& out, std::string_view field);

}  // namespace detail

/// The table as CSV with exact digits.
[[nodiscard]] std::string csv(const table& t);

/// The table as GitHub Markdown; digits in groups of three.
[[nodiscard]] std::string markdown(const table& t);

/// The table as aligned columns for a terminal; digits in groups of three, no trailing blanks.
[[nodiscard]] std::string plain(const table& t);

/// The table in a format other than JSON.
[[nodiscard]] std::string written(const table& t, output_format format);

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/args/impl/tables.ipp>  // IWYU pragma: export
#endif
