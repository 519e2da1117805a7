// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include <llmcost/memory/quantized_weights.hpp>
#include <llmcost/report/bytes_as_stored.hpp>
#include <llmcost/serving/model_kernel.hpp>

// A checkpoint's bytes as an execution is told them (`execution::stored`).
namespace llmcost {

/// The tensors of a quantised checkpoint by the parameters that they hold or stand beside.
[[nodiscard]] inline bytes_as_stored as_stored(const stored_weights& weights) {
    bytes_as_stored out;
    for (const weight_bytes_row& row : weights.rows) out.add(row.parameter, count(row.bytes), row.format);
    return out;
}

/// Bytes of weights by what serving tells apart.
[[nodiscard]] inline weight_parts parts_as_stored(const model& m, const bytes_as_stored& stored) {
    const model_listing listing = list_model(m, {.sequence = 1, .past = 0, .head = logits::all});
    const std::vector<count> bytes = bytes_by_scope(stored, listing);
    const auto scope = [&](std::ptrdiff_t i) -> const scope_figures& { return listing.scopes[static_cast<std::size_t>(i)]; };
    weight_parts out;
    for (std::size_t i = 0; i < listing.scopes.size(); ++i) {
        const role what = listing.scopes[i].what;
        bool inside = false;  // of a module that has been counted
        for (std::ptrdiff_t at = listing.scopes[i].parent; at >= 0; at = scope(at).parent)
            inside = inside || scope(at).what == what;
        if (inside) continue;
        if (what == role::embedding || what == role::head) out.kept += static_cast<double>(bytes[i].to_64());
        if (what == role::experts) out.routed += static_cast<double>(bytes[i].to_64());
    }
    out.others = static_cast<double>(stored.total.to_64()) - out.kept - out.routed;
    return out;
}

}  // namespace llmcost
