// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/pages/role_totals.hpp>
#include <llmcost/cli/request/request.hpp>
#include <llmcost/layers/model_config.hpp>

// The upper half of the front page: what the model is, its parameters, its bytes.
namespace llmcost::cli {

namespace detail {

inline constexpr std::size_t page_width = 80;

/// The width of lines that are wrapped: that of the terminal, from 40 to 160; 80 if it is unknown.
[[nodiscard]] inline std::size_t line_width(const request& q) {
    constexpr std::size_t minimum = 40, maximum = 160;
    return q.columns == 0 ? page_width : std::clamp(q.columns, minimum, maximum);
}

/// A text with terminal colors, if colors are enabled.
inline std::string styled(const request& q, std::string_view text, const char* code) {
    return q.has_color ? "\x1b[" + std::string(code) + 'm' + std::string(text) + "\x1b[0m" : std::string(text);
}
inline std::string bold(const request& q, std::string_view text) { return styled(q, text, "1"); }
inline std::string dim(const request& q, std::string_view text) { return styled(q, text, "2"); }

inline std::string number(std::int64_t n) { return grouped(count(n)); }

/// `bfloat16 weights, float8_e5m2 activations and cache`, or one name if all types are equal.
std::string types_text(const storage_types& t);

/// The main sizes of a model.
std::vector<std::string> size_labels(const model_config& config, const workload& load);

/// The line of the model name and the line of its sizes.
std::string heading(const request& q, std::string_view type);

/// Parameters by role, one line each.
std::vector<std::string> parameter_lines(const request& q, const role_results& read);

/// A size in bytes with a note.
struct memory_line {
    std::string_view name;
    std::string value;
    std::string note{};
};

/// The lines of weights and KV cache.
std::vector<memory_line> memory_lines(const request& q, const model_metrics& total);

/// Parameters in the left column, bytes in the right one. A note that does not fit is on the next line.
std::string side_by_side(const request& q, const std::vector<std::string>& a, const std::vector<memory_line>& b);

}  // namespace detail

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/pages/impl/front_page_model.ipp>  // IWYU pragma: export
#endif
