// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/roberta.hpp>

namespace llmcost::arch {

// transformers/models/data2vec: modeling_data2vec_text.py, RoBERTa under another name
inline constexpr model_spec data2vec_text = [](model_spec spec) {
    spec.model_type = "data2vec-text";
    spec.class_prefix = "Data2VecText";
    spec.names.base_model = "data2vec_text";
    spec.defaults.vocab_size = 30522;
    return spec;
}(roberta);

}  // namespace llmcost::arch
