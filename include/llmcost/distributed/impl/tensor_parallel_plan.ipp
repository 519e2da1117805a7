// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/distributed/tensor_parallel_plan.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string_view>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/distributed/tensor_parallel_plans.hpp>
#include <llmcost/model/model_spec.hpp>

namespace llmcost::detail {

/// Removes the text before a delimiter, with the delimiter, and returns it.
[[nodiscard]] LLMCOST_INLINE std::string_view take_until(std::string_view& text, char delimiter) {
    const std::size_t end = std::min(text.find(delimiter), text.size());
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return part;
}

/// A style and a name of it in the plans.
struct tensor_parallel_style_name {
    std::string_view name;
    tensor_parallel_style style;
};

/// Source: transformers/distributed/tensor_parallel.py, `ALL_PARALLEL_STYLES`; `colwise_rep` is its older name of
/// `colwise_gather_output`.
inline constexpr tensor_parallel_style_name tensor_parallel_style_names[]{
    {"all_reduce", tensor_parallel_style::all_reduce},
    {"colwise", tensor_parallel_style::colwise},
    {"colwise_gather_output", tensor_parallel_style::colwise_gather_output},
    {"colwise_rep", tensor_parallel_style::colwise_gather_output},
    {"embedding_colwise", tensor_parallel_style::embedding_colwise},
    {"embedding_rowwise", tensor_parallel_style::embedding_rowwise},
    {"local_params", tensor_parallel_style::local_params},
    {"mla_kv_a_proj", tensor_parallel_style::mla_kv_a_proj},
    {"moe_identity_expert", tensor_parallel_style::moe_identity_expert},
    {"moe_tp_experts", tensor_parallel_style::moe_tp_experts},
    {"packed_colwise", tensor_parallel_style::packed_colwise},
    {"packed_rowwise", tensor_parallel_style::packed_rowwise},
    {"replicate", tensor_parallel_style::replicate},
    {"replicated_with_grad_allreduce", tensor_parallel_style::replicated_with_grad_allreduce},
    {"rowwise", tensor_parallel_style::rowwise},
    {"rowwise_split_input", tensor_parallel_style::rowwise_split_input}};

[[nodiscard]] LLMCOST_INLINE tensor_parallel_style parse_tensor_parallel_style(std::string_view name) {
    const auto* const found = std::ranges::find(tensor_parallel_style_names, name, &tensor_parallel_style_name::name);
    return found == std::ranges::end(tensor_parallel_style_names) ? tensor_parallel_style::none : found->style;
}

/// Whether a path ends with a pattern in which `*` is the index of a layer.
[[nodiscard]] LLMCOST_INLINE bool ends_with_pattern(std::string_view path, std::string_view pattern) {
    while (true) {
        const std::size_t dot = path.rfind('.'), pattern_dot = pattern.rfind('.');
        const std::string_view segment = path.substr(dot + 1), expected = pattern.substr(pattern_dot + 1);
        const bool is_index = !segment.empty() && segment.find_first_not_of("0123456789") == std::string_view::npos;
        if (expected == "*" ? !is_index : segment != expected) return false;
        if (pattern_dot == std::string_view::npos) return true;
        if (dot == std::string_view::npos) return false;
        path = path.substr(0, dot);
        pattern = pattern.substr(0, pattern_dot);
    }
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE tensor_parallel_style tensor_parallel_plan::style_of(std::string_view path) const {
    for (const tensor_parallel_rule& rule : rules)
        if (detail::ends_with_pattern(path, rule.pattern)) return rule.style;
    if (path == "lm_head" || path.ends_with(".lm_head")) return head;
    const bool is_embedding = path == "embed_tokens" || path.ends_with(".embed_tokens");
    return is_embedding && !rules.empty() ? tensor_parallel_style::embedding_rowwise : tensor_parallel_style::none;
}

LLMCOST_INLINE std::optional<tensor_parallel_plan> find_tensor_parallel_plan(const model& m) {
    const std::string_view type = m.text_model_spec().model_type;
    std::string_view text = detail::tensor_parallel_plans;
    std::vector<std::string_view> plans;
    for (std::string_view line = detail::take_until(text, '\n'); !line.empty(); line = detail::take_until(text, '\n'))
        plans.push_back(line);
    while (!text.empty()) {
        std::string_view line = detail::take_until(text, '\n');
        if (detail::take_until(line, ' ') != type) continue;
        tensor_parallel_plan out;
        std::size_t index = 0;
        for (const char digit : detail::take_until(line, ' '))
            index = 10 * index + static_cast<std::size_t>(digit - '0');
        out.head = detail::parse_tensor_parallel_style(detail::take_until(line, ' '));
        out.distributes_experts = line == "1";
        for (std::string_view rules = plans[index]; !rules.empty() && rules != "-";) {
            std::string_view rule = detail::take_until(rules, ';');
            const std::string_view pattern = detail::take_until(rule, '=');
            out.rules.push_back({pattern, detail::parse_tensor_parallel_style(rule)});
        }
        return out;
    }
    return std::nullopt;
}

}  // namespace llmcost
