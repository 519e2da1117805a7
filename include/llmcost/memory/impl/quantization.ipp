// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/memory/quantization.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <llmcost/base/inline.hpp>
#include <llmcost/memory/name_pattern.hpp>
#include <llmcost/memory/vllm_kernels.hpp>

namespace llmcost {

LLMCOST_INLINE std::optional<module_rule> module_rule::read(kind means, std::string_view text) {
    module_rule out{means, std::string(text), {}, true};
    const bool card = means == kind::part_or_card;
    if (means != kind::expression && means != kind::segments && !card) return out;
    out.pattern = card ? name_pattern::parse_wildcard(text) : name_pattern::parse(text);
    return out.pattern ? std::optional(std::move(out)) : std::nullopt;
}

LLMCOST_INLINE bool module_rule::matches_module(std::string_view name) const {
    switch (means) {
        case kind::name: return name == text;
        case kind::expression: return pattern->begins(name, false);
        case kind::segments: return name.ends_with(text) || pattern->begins(name, true);
        case kind::ending: return name.ends_with(text);
        case kind::part_or_card: break;
    }
    return name.find(text) != std::string_view::npos || pattern->begins(name, false);
}

LLMCOST_INLINE expert_weight_format expert_weight_format_of(const quantization& plan) {
    if (plan.none() || plan.groups.empty()) return expert_weight_format::unquantized;
    const quantization_group& group = plan.groups.front();
    const weight_layout& layout = group.experts ? *group.experts : group.layout;
    if (plan.method == "mxfp4") return expert_weight_format::mxfp4;
    if (layout.type != "float8_e4m3fn") return expert_weight_format::other;
    if (layout.block_outputs == 0) return expert_weight_format::float8_per_tensor;
    if (layout.block_outputs == 1 && layout.block_inputs == 0) return expert_weight_format::float8_per_channel;
    return layout.block_outputs > 1 && layout.block_inputs > 1 ? expert_weight_format::float8_blocks
                                                               : expert_weight_format::other;
}

}  // namespace llmcost
