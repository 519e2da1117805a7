// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include <llmcost/model/model_spec.hpp>

// Vocabularies whose logits are not aligned.
namespace llmcost::cli {

/// The model with a vocabulary that is padded to a multiple of 64; nothing if rows of 16-bit logits are aligned to 16
/// bytes without padding.
[[nodiscard]] std::optional<model> model_with_padded_vocabulary(const model& m);

/// The name of the change to a padded vocabulary.
[[nodiscard]] std::string padding_label(const model& padded);

/// A sentence that recommends a padded vocabulary; empty if it needs no padding.
[[nodiscard]] std::string padding_advice(const model& m);

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/request/impl/padded_vocabulary.ipp>  // IWYU pragma: export
#endif
