// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

// Lines of CSV.
namespace llmcost::detail {

/// The fields of a line of CSV without quotes (RFC 4180, except line breaks inside of fields); false where a quote is
/// still open at the end.
bool split_csv(std::string_view line, std::vector<std::string>& fields);

/// The digits of an integer that a data frame with gaps writes as `8.0`; anything else unchanged.
std::string_view integer_digits(std::string_view text);

}  // namespace llmcost::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/text/impl/csv_fields.ipp>  // IWYU pragma: export
#endif
