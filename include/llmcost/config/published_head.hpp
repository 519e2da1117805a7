// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/base/config_view.hpp>
#include <llmcost/base/maybe.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/model/model_spec.hpp>

// The language model head of published checkpoints. `parse_model` describes a model that is built from a configuration;
// its head is tied as the class of the reference ties it.
namespace llmcost {

/// The model with a head that has its own table.
constexpr model with_separate_head(model m) noexcept {
    m.config.tie_word_embeddings = false;
    return m;
}

/// The reason why checkpoints of a model have a separate head that the model, as built, does not have; empty if none.
///
/// Source: transformers/modeling_utils.py, `tie_weights`: two tables with different values are not tied. Transformers 4
/// read `tie_word_embeddings` of the text model, Transformers 5 reads that of the composite model.
constexpr literal separate_head_reason(const model& m, config_view json) {
    const head_kind head = m.config.head;
    if (!m.config.tie_word_embeddings || (head != head_kind::conditional_generation && head != head_kind::causal_lm))
        return "";
    constexpr literal key = "tie_word_embeddings";
    const bool is_composite = !is_empty(m.spec->text_model.key);
    const auto nested_json = is_composite ? json.optional_object(m.spec->text_model.key) : maybe<config_view>{};
    if (m.text_model_spec().published_head == published_head_kind::untied_by_key &&
        !(is_composite ? !nested_json || nested_json->boolean(key, true) : json.boolean(key, true)))
        return "tie_word_embeddings is false";
    const bool is_tied_by_text =
        nested_json ? nested_json->boolean(key, m.text_model_spec().defaults.tie_word_embeddings) : true;
    if (m.spec->published_head == published_head_kind::untied_by_text_model && !json.contains(key) && !is_tied_by_text)
        return "the text model does not tie it";
    return "";
}

}  // namespace llmcost
