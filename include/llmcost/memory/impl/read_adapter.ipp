// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/memory/read_adapter.hpp>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/config_view.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/memory/adapter.hpp>
#include <llmcost/memory/module_names.hpp>

namespace llmcost::detail {

/// Whether a value disables a feature.
[[nodiscard]] LLMCOST_INLINE bool is_off(config_view v) {
    if (v.is_null() || ((v.is_array() || v.is_object()) && v.size() == 0)) return true;
    return v.is_boolean() && !v.as_boolean();
}

/// Rejects keys with unsupported effects, and unknown keys, which may have effects.
///
/// Throws: `config_error`.
LLMCOST_INLINE void check_keys(config_view root, std::initializer_list<adapter_keys> tables) {
    std::vector<std::string_view> names;
    for (const adapter_keys& table : tables)
        for (const adapter_key& key : table) names.emplace_back(key.name);
    for (const config_view entry : root) {
        const std::string_view name = entry.key();
        const adapter_key* known = nullptr;
        for (const adapter_keys& table : tables)
            for (const adapter_key& key : table)
                if (name == key.name) known = &key;
        if (known != nullptr && known->use != adapter_key_use::refused) continue;
        if (is_off(entry)) continue;
        const std::string reason = known != nullptr
                                       ? std::string("not supported: changes the computation or memory of the adapter")
                                       : "unknown key of this kind of adapter" + nearest_of(name, names);
        throw_unsupported(root, std::string(name).c_str(), reason.c_str());
    }
}

[[nodiscard]] LLMCOST_INLINE path_expression parse_expression(config_view node, std::string_view text) {
    auto read = path_expression::parse(text);
    if (!read) throw_unsupported(node, "unsupported regular expression");
    return std::move(*read);
}

/// The names in a list, or a single name given as a string.
[[nodiscard]] LLMCOST_INLINE std::vector<std::string> parse_strings(config_view root, literal key) {
    std::vector<std::string> out;
    const auto found = root.find(key);
    if (!found || found->is_null()) return out;
    if (found->is_string()) return {std::string(found->as_string())};
    for (const config_view name : found->as_array()) {
        if (name.as_string().empty()) throw_invalid_value(name, "a name");
        out.emplace_back(name.as_string());
    }
    return out;
}

/// Module names: a list of path endings, or a regular expression.
[[nodiscard]] LLMCOST_INLINE module_names parse_names_of_modules(config_view root, literal key) {
    module_names out;
    const auto found = root.find(key);
    if (found && found->is_string())
        out.expression = parse_expression(*found, found->as_string());
    else
        out.endings = parse_strings(root, key);
    return out;
}

/// Whether a text equals a lowercase name, ignoring case.
[[nodiscard]] LLMCOST_INLINE bool equals_ignoring_case(std::string_view text, std::string_view name) {
    const auto equals_lowercase = [](char a, char b) {
        return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
    };
    return std::ranges::equal(text, name, equals_lowercase);
}

/// Adds the head modules that training creates for a task.
///
/// Source: peft_model.py, `PeftModelForSequenceClassification` and similar.
LLMCOST_INLINE void add_modules_of_task(config_view root, adapter& out) {
    const std::string_view task = root.string("task_type", "");
    if (task == "SEQ_CLS" || task == "TOKEN_CLS") out.saved.insert(out.saved.end(), {"classifier", "score"});
    if (task == "QUESTION_ANS") out.saved.emplace_back("qa_outputs");
}

LLMCOST_INLINE void parse_targets(config_view root, adapter& out) {
    const auto targets = root.find("target_modules");
    out.all_linear = targets && targets->is_string() && equals_ignoring_case(targets->as_string(), "all-linear");
    if (!out.all_linear) out.targets = parse_names_of_modules(root, "target_modules");
    out.excluded = parse_names_of_modules(root, "exclude_modules");
    out.saved = parse_strings(root, "modules_to_save");
    add_modules_of_task(root, out);
}

LLMCOST_INLINE void parse_layers(config_view root, adapter& out) {
    const auto layers = root.find("layers_to_transform");
    out.lists = parse_strings(root, "layers_pattern");
    if (!layers || layers->is_null()) {
        if (!out.lists.empty())
            throw_invalid_value(root, "layers_to_transform", "layer indices, as layers_pattern requires them");
        return;
    }
    if (out.all_linear || out.targets.expression)
        throw_unsupported(*layers, "PEFT supports layer indices only with a list of target_modules");
    if (!layers->is_array())
        out.layers.push_back(layers->as_non_negative());
    else
        for (const config_view layer : *layers) out.layers.push_back(layer.as_non_negative());
}

LLMCOST_INLINE void parse_trained_tokens(config_view root, adapter& out) {
    const auto found = root.find("trainable_token_indices");
    if (!found || found->is_null()) return;
    const auto add = [&](config_view list, std::string table) {
        for (const config_view token : list.as_array()) (void)token.as_non_negative();
        if (list.size() == 0) throw_invalid_value(list, "token ids");
        out.rows.push_back({std::move(table), static_cast<std::int64_t>(list.size())});
    };
    if (!found->is_object())
        add(*found, {});
    else
        for (const config_view table : *found) add(table, std::string(table.key()));
}

LLMCOST_INLINE void parse_lora(config_view root, adapter& out) {
    check_keys(root, {keys_of_all, keys_of_targets, keys_of_lora});
    parse_targets(root, out);
    out.rank = root.positive("r", 8);
    const double alpha = root.real("lora_alpha", 8), rank = static_cast<double>(out.rank);
    out.unit_scale = root.boolean("use_rslora", false) ? alpha * alpha == rank : alpha == rank;
    if (root.boolean("use_dora", false)) out.kind = adapter_kind::dora;
    const double rate = root.real("lora_dropout", 0);
    if (rate < 0 || rate > 1) throw_invalid_value(root, "lora_dropout", "a rate from 0 to 1");
    out.drops = rate > 0;
    out.second_bias = root.boolean("lora_bias", false);
    if (out.second_bias && out.kind == adapter_kind::dora)
        throw_unsupported(root, "lora_bias", "PEFT does not support it with DoRA");
    const std::string_view bias = root.string("bias", "none");
    if (bias != "none" && bias != "all" && bias != "lora_only")
        throw_invalid_value(root, "bias", "\"none\", \"all\" or \"lora_only\"");
    out.bias = bias == "all" ? adapter_bias::all : bias == "none" ? adapter_bias::none : adapter_bias::lora_only;
    if (const auto ranks = root.optional_object("rank_pattern"))
        for (const config_view rank_of : *ranks)
            out.ranks.push_back(
                {parse_expression(rank_of, "(.*\\.)?(" + std::string(rank_of.key()) + ")"), rank_of.as_positive()});
    parse_layers(root, out);
    const auto parameters = root.find("target_parameters");
    if (parameters && !parameters->is_null()) (void)parameters->as_array();
    out.parameters = parse_strings(root, "target_parameters");
    if (!out.parameters.empty() && out.kind == adapter_kind::dora)
        throw_unsupported(root, "target_parameters", "PEFT does not support DoRA of parameters");
    if (!out.parameters.empty() && out.second_bias)
        throw_unsupported(root, "target_parameters", "PEFT does not support it with lora_bias");
    parse_trained_tokens(root, out);
    // MiCA freezes one of the two matrices
    if (const auto first = root.find("init_lora_weights");
        first && first->is_string() && equals_ignoring_case(first->as_string(), "mica"))
        throw_unsupported(*first, "not supported: changes which parameters are trained");
}

LLMCOST_INLINE void parse_ia3(config_view root, adapter& out) {
    check_keys(root, {keys_of_all, keys_of_targets, keys_of_ia3});
    parse_targets(root, out);
    out.feedforward = parse_names_of_modules(root, "feedforward_modules");
    if (out.targets.expression || out.feedforward.expression) return;
    for (const std::string& name : out.feedforward.endings) {
        bool targeted = out.all_linear || out.targets.empty();
        for (const std::string& target : out.targets.endings) targeted = targeted || target == name;
        if (!targeted) throw_invalid_value(root, "feedforward_modules", "a subset of target_modules");
    }
}

LLMCOST_INLINE void parse_norms(config_view root, adapter& out) {
    check_keys(root, {keys_of_all, keys_of_targets});
    parse_targets(root, out);
    if (out.all_linear) throw_invalid_value(root, "target_modules", "names of norm modules");
}

LLMCOST_INLINE void parse_tokens(config_view root, adapter& out) {
    out.tokens = root.positive("num_virtual_tokens");
    out.one_side = root.positive("num_transformer_submodules", 2) == 1;
}

LLMCOST_INLINE void parse_prompt(config_view root, adapter& out) {
    check_keys(root, {keys_of_all, keys_of_prompts});
    parse_tokens(root, out);
}

LLMCOST_INLINE void parse_p_tuning(config_view root, adapter& out) {
    check_keys(root, {keys_of_all, keys_of_prompts, keys_of_p_tuning});
    parse_tokens(root, out);
    out.hidden = root.positive("encoder_hidden_size", 0);
    if (root.string("encoder_reparameterization_type", "MLP") != "MLP")
        throw_unsupported(root, "encoder_reparameterization_type", "only MLP is supported");
}

LLMCOST_INLINE void parse_prefix(config_view root, adapter& out) {
    check_keys(root, {keys_of_all, keys_of_prompts, keys_of_prefix});
    parse_tokens(root, out);
    out.projects = root.boolean("prefix_projection", false);
    out.hidden = root.positive("encoder_hidden_size", 0);
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE adapter_file parse_adapter(config_view root) {
    adapter_file out;
    const std::string_view type = root.string("peft_type");
    std::vector<std::string_view> types;
    for (const detail::adapter_reader& kind : detail::adapter_readers) {
        types.push_back(kind.type);
        if (type != kind.type) continue;
        out.adapts.kind = kind.kind;
        kind.read(root, out.adapts);
        if (const auto base = root.optional_string("base_model_name_or_path")) out.base = std::string(*base);
        return out;
    }
    const std::string reason =
        "unsupported adapter type; expected LORA, IA3, PROMPT_TUNING, P_TUNING, PREFIX_TUNING or LN_TUNING" +
        detail::nearest_of(type, types);
    throw_unsupported(root, "peft_type", reason.c_str());
}

}  // namespace llmcost
