// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/report/json_writer.hpp>
#include <llmcost/report/listing.hpp>
#include <llmcost/report/stored_bytes.hpp>
#include <llmcost/trace/ops.hpp>

namespace llmcost {

/// The name of a model and the source of its configuration.
struct model_name {
    std::string name;
    std::string source;
    std::optional<std::string> type{};  ///< `model_type` of the file, if `--as` selects another; empty: none
};

/// Optional members of the JSON report.
struct json_parts {
    bool scopes = false;
    bool tensors = false;
    bool training = false;
    const stored_bytes* weights = nullptr;  ///< bytes by parameter, if element types differ
};

namespace detail {

/// Whether the bytes saved for backward are known.
enum class saved_figure : bool { unknown, known };

void write_figures(json_writer& json, const model_metrics& f, saved_figure saved = saved_figure::unknown);

/// Writes primitives that belong to no scope of the forward pass, and their FLOPs.
void write_primitives(json_writer& json, const primitives<count>& p);

/// Writes `"name", "model_type"`, and `"as"` if another model type parses the file.
void write_name(json_writer& json, const model& m, const model_name& name);

inline std::string_view name_of(logits l) { return l == logits::all ? "all" : l == logits::last ? "last" : "none"; }
inline std::string_view name_of(attention_scores a) { return a == attention_scores::full ? "full" : "causal"; }

void write_sizes(json_writer& json, const std::vector<std::int64_t>& sizes);

/// Writes `"tensors": [{"name", "shape", "dtype"}], "tied": [name]`.
void write_tensors(json_writer& json, const model_listing& listing, const storage_types& types,
                   const stored_bytes* stored);

}  // namespace detail

/// The JSON report: model, workload, totals, and optional members.
[[nodiscard]] std::string json_report(const model& m, const model_name& name, const workload& load, json_parts parts);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/report/impl/json_report.ipp>  // IWYU pragma: export
#endif
