// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/memory/module_names.hpp>

namespace llmcost {

/// How a model is fine-tuned beside or instead of all its parameters.
enum class adapter_kind : std::uint8_t {
    none,
    lora,      ///< two products of a low rank beside a linear layer (arXiv 2106.09685); rsLoRA scales them otherwise
    dora,      ///< the same with a magnitude for each output, of weights whose norm is worked out in every pass
               ///< (2402.09353)
    ia3,       ///< a factor for each feature (2205.05638)
    prompt,    ///< tokens in front of the text (2104.08691)
    p_tuning,  ///< the same, made by a perceptron (2103.10385)
    prefix,    ///< keys and values of tokens in front of the text, for every layer (2101.00190)
    norms,     ///< copies of norms alone (LN tuning, 2312.11420)
    bitfit,    ///< biases alone (2106.10199)
    frozen     ///< nothing beside, and all but some modules is trained
};

/// Which biases an adapter trains besides.
enum class adapter_bias : std::uint8_t { none, all, lora_only };

/// A rank for the modules whose paths an expression names.
struct adapter_rank {
    path_expression path_pattern;
    std::int64_t rank;
};

/// Tokens of one table that are trained, by the end of its path; empty: the table of words.
struct trained_tokens {
    std::string table{};
    std::int64_t tokens = 0;
};

/// An adapter, as PEFT's configuration says it.
struct adapter {
    adapter_kind kind = adapter_kind::none;
    std::int64_t rank = 8;
    bool unit_scale = false;   ///< what LoRA adds is multiplied by one
    std::int64_t tokens = 20;  ///< of a prompt
    bool projects = false;     ///< a perceptron makes the keys and values of a prefix
    bool one_side = false;     ///< the decoder behind an encoder has no tokens of its own
    std::int64_t hidden = 0;   ///< width of the perceptron that makes a prompt; 0: the model's
    adapter_bias bias = adapter_bias::none;
    bool all_linear = false;
    bool drops = false;        ///< `lora_dropout` is above zero
    bool second_bias = false;  ///< the second product has a bias (`lora_bias`)
    module_names targets{};
    module_names excluded{};
    module_names feedforward{};             ///< of IA3: those whose input is scaled
    std::vector<std::int64_t> layers{};     ///< of a list; none: all
    std::vector<std::string> lists{};       ///< names of such lists; none: any
    std::vector<adapter_rank> ranks{};      ///< the first that names a module has it
    std::vector<std::string> parameters{};  ///< ends of paths of parameters that are adapted themselves
    std::vector<std::string> saved{};       ///< modules that are trained as copies (`modules_to_save`)
    std::vector<trained_tokens> rows{};     ///< of tables (`trainable_token_indices`)
    std::vector<std::string> frozen{};      ///< of `frozen`: roles, or ends of paths

    /// Whether it stands beside modules and names none.
    [[nodiscard]] bool needs_targets() const noexcept {
        const bool is_module_based = is_low_rank() || kind == adapter_kind::ia3 || kind == adapter_kind::norms;
        return is_module_based && !all_linear && targets.empty() && parameters.empty();
    }
    [[nodiscard]] bool is_low_rank() const noexcept { return kind == adapter_kind::lora || kind == adapter_kind::dora; }
    /// Whether it is LoRA beside layers and nothing more.
    [[nodiscard]] bool is_plain_lora() const noexcept {
        return kind == adapter_kind::lora && saved.empty() && rows.empty() && parameters.empty();
    }
    /// Whether it puts tokens in front of the text.
    [[nodiscard]] bool is_prompt() const noexcept {
        return kind == adapter_kind::prompt || kind == adapter_kind::p_tuning;
    }

    /// Whether tokens that nobody wrote come before the text in one way or another.
    [[nodiscard]] bool adds_tokens() const noexcept { return is_prompt() || kind == adapter_kind::prefix; }

    /// Whether a module is one that is trained as a copy, or lies in one.
    [[nodiscard]] bool saves_module(std::string_view path) const {
        return std::ranges::any_of(saved, [&](const std::string& name) { return module_names::is_part(path, name); });
    }
    /// Whether its targets name a module (peft/tuners/tuners_utils.py, `check_target_module_exists`).
    [[nodiscard]] bool targets_module(std::string_view path) const {
        if (!targets.names(path) || excluded.names(path) || saves_module(path)) return false;
        return layers.empty() || std::ranges::find(layers, layer_of(path)) != layers.end();
    }
    /// The same of a linear layer, all of which it may name.
    [[nodiscard]] bool names_linear(std::string_view path) const {
        return all_linear ? !excluded.names(path) && !saves_module(path) : targets_module(path);
    }
    /// The rank beside a module or a parameter.
    [[nodiscard]] std::int64_t rank_at(std::string_view path) const {
        const auto match =
            std::ranges::find_if(ranks, [&](const adapter_rank& r) { return r.path_pattern.matches(path); });
        return match == ranks.end() ? rank : match->rank;
    }

private:
    /// The number that a path has in its outermost list; -1 where it is in none.
    [[nodiscard]] std::int64_t layer_of(std::string_view path) const {
        std::string_view before_last, last;
        for (std::string_view rest = path; !rest.empty();) {
            const std::size_t dot = rest.find('.');
            const std::string_view segment = rest.substr(0, dot);
            const bool is_list_index = dot != std::string_view::npos && !segment.empty() && segment.size() < 10 &&
                                       segment.find_first_not_of("0123456789") == std::string_view::npos;
            // without names of lists, PEFT's expression wants a module around the list
            const bool listed = lists.empty()
                                    ? !before_last.empty()
                                    : std::ranges::any_of(lists, [&](const std::string& l) { return l == last; });
            if (is_list_index && listed) {
                std::int64_t n = 0;
                for (const char c : segment) n = n * 10 + (c - '0');
                return n;
            }
            before_last = last;
            last = segment;
            rest.remove_prefix(dot == std::string_view::npos ? rest.size() : dot + 1);
        }
        return -1;
    }
};

/// The parts of a list.
[[nodiscard]] inline std::vector<std::string> split_list(std::string_view list, char delimiter) {
    std::vector<std::string> out;
    while (!list.empty()) {
        const std::size_t at = list.find(delimiter);
        out.emplace_back(list.substr(0, at));
        list.remove_prefix(at == std::string_view::npos ? list.size() : at + 1);
    }
    return out;
}

}  // namespace llmcost
