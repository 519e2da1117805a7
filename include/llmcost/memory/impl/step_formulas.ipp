// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/memory/step_formulas.hpp>

#include <cstdint>
#include <string_view>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/trace/layer_plan.hpp>

namespace llmcost {

LLMCOST_INLINE std::string_view why_formula_undefined(const model& m) noexcept {
    const model_config& d = m.config;
    if (d.vocab_size == 0) return "the model reads no tokens";
    if (m.text_spec != nullptr) return "the model has components in addition to its text model";
    if (d.encoder.num_hidden_layers > 0) return "the model has an encoder and a decoder";
    if (d.moe.num_experts > 0) return "the model has experts, so a token does not use all parameters";
    if (d.num_attention_heads == 0) return "the model has no attention heads";
    if (d.layers.contains(token_mixer_kind::recurrent, d.num_hidden_layers)) return "not every layer has attention";
    return {};
}

LLMCOST_INLINE count palm_step_flops(const model& m, count parameters, count tokens, count sequence) {
    const auto to_count = [](std::int64_t n) { return count(static_cast<std::uint64_t>(n)); };
    const count heads = to_count(m.config.num_attention_heads) * to_count(m.config.head_dim);
    return flops_6nd(parameters, tokens) + tokens * count(12) * to_count(m.config.num_hidden_layers) * heads * sequence;
}

}  // namespace llmcost
