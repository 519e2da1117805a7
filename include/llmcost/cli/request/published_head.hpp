// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/base/config_view.hpp>
#include <llmcost/cli/request/model_source.hpp>

namespace llmcost::cli {

/// Gives the model the language model head of its checkpoint, and adds the choice to its source, if there is one.
///
/// A weight file decides: its head is separate if the file has both tables, with different values. Without a weight
/// file, the type and `tie_word_embeddings` decide.
void use_published_head(parsed_model& read, config_view config);

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/request/impl/published_head.ipp>  // IWYU pragma: export
#endif
