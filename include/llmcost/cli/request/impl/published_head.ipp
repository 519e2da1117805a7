// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/request/published_head.hpp>

#include <algorithm>
#include <cstddef>
#include <string>

#include <llmcost/analysis/minimal_workload.hpp>
#include <llmcost/base/config_view.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/config/published_head.hpp>
#include <llmcost/files/check_tensors.hpp>
#include <llmcost/files/safetensors.hpp>
#include <llmcost/files/stored_tensor.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/report/listing.hpp>
#include <llmcost/text/error.hpp>

namespace llmcost::cli::detail {

/// The tensor of a file that stores a parameter; null if there is none.
LLMCOST_INLINE const stored_tensor* find_stored(const tensor_check& checked, const stored_tensors& all,
                                                const std::string& parameter) {
    const auto found = std::find(checked.parameters.begin(), checked.parameters.end(), parameter);
    return found == checked.parameters.end()
               ? nullptr
               : &all.tensors[static_cast<std::size_t>(found - checked.parameters.begin())];
}

/// Whether a safetensors file has a tied head in addition to the embeddings, with other values.
LLMCOST_INLINE bool has_separate_head(const model& built, const stored_tensors& all) {
    const workload load = minimal_workload(built);
    const model_listing tied = list_model(built, load), separate = list_model(with_separate_head(built), load);
    const tensor_check checked = check_tensors(separate, all.tensors);
    bool is_separate = false;
    for (const tensor_shape& head : separate.tensors) {
        if (std::find(tied.tied.begin(), tied.tied.end(), head.name) == tied.tied.end()) continue;
        const stored_tensor* const stored_head = find_stored(checked, all, head.name);
        if (stored_head == nullptr || head.sizes.size() < 2) continue;
        bool has_table = false, is_copy = false;
        for (const tensor_shape& table : tied.tensors) {
            if (table.sizes != head.sizes) continue;
            const stored_tensor* const stored_table = find_stored(checked, all, table.name);
            if (stored_table == nullptr || stored_table == stored_head) continue;
            has_table = true;
            is_copy = is_copy || has_equal_data(*stored_head, *stored_table);
        }
        is_separate = is_separate || (has_table && !is_copy);
    }
    return is_separate;
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE void use_published_head(parsed_model& read, config_view config) {
    const model built = read.subject;
    const head_kind head = built.config.head;
    const bool is_tied =
        built.config.tie_word_embeddings && (head == head_kind::conditional_generation || head == head_kind::causal_lm);
    if (!is_tied) return;
    const literal reason = separate_head_reason(built, config);
    bool is_separate = !is_empty(reason);
    std::string source(reason);
    if (read.found.weights) {
        const located_weights& file = *read.found.weights;
        try {
            is_separate = file.is_gguf ? file.tensors.find("output.weight") != nullptr
                                       : detail::has_separate_head(built, file.tensors);
            source = (is_separate ? "two tables in " : "one table in ") + file.name;
        } catch (const error&) {  // `stored_weights_of` reports the error
        }
    }
    if (is_separate) read.subject = with_separate_head(built);
    if (!is_separate && is_empty(reason)) return;
    read.head = (is_separate ? "separate (" : "tied (") + source + ')';
    read.found.name_of_model.source += ", head " + read.head;
}

}  // namespace llmcost::cli
