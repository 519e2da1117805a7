// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <string_view>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/request/request.hpp>

// The front page of a model, in 80 columns.
namespace llmcost::cli {

/// A figure and the name of its column.
struct named_count {
    std::string name;
    count value;
};

namespace detail {

/// The metrics of the table on the front page.
inline constexpr std::array<std::string_view, 6> page_metrics{"add", "mult", "div", "sqrt", "exp", "flops"};

/// The title of the workload, e.g. `Prefill, batch 1, sequence 1,024`.
std::string work_title(const request& q, const model_metrics& total);

/// The number of new tokens, images, recordings or samples of a workload.
count tokens_of(const request& q);

}  // namespace detail

/// The front page of a model at a workload.
[[nodiscard]] std::string front_page(const request& q);

/// The figures of the front page as a table: the model, its roles, then modules without a role.
///
/// With a training step, its first row also has saved bytes and backward counts.
[[nodiscard]] table front_table(const request& q);

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/pages/impl/front_page.ipp>  // IWYU pragma: export
#endif
