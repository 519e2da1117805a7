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

/// The methods of parameter-efficient fine-tuning.
enum class adapter_kind : std::uint8_t {
    none,
    lora,      ///< low-rank products added to linear layers (arXiv 2106.09685); rsLoRA scales them differently
    dora,      ///< LoRA with a magnitude per output and a weight norm computed in each pass (2402.09353)
    ia3,       ///< a factor for each feature (2205.05638)
    prompt,    ///< trained tokens before the text (2104.08691)
    p_tuning,  ///< trained tokens before the text, computed by an MLP (2103.10385)
    prefix,    ///< keys and values of virtual tokens before the text, for each layer (2101.00190)
    norms,     ///< trains copies of norms only (LN tuning, 2312.11420)
    bitfit,    ///< trains biases only (2106.10199)
    frozen     ///< adds nothing and trains all modules except the listed ones
};

/// The biases that an adapter trains in addition.
enum class adapter_bias : std::uint8_t { none, all, lora_only };

/// A rank for the modules whose paths match an expression.
struct adapter_rank {
    path_expression path_pattern;
    std::int64_t rank;
};

/// Trained tokens of one embedding table, given by the end of its path; empty: the token embeddings.
struct trained_tokens {
    std::string table{};
    std::int64_t tokens = 0;
};

/// An adapter, as described by the configuration of PEFT.
struct adapter {
    adapter_kind kind = adapter_kind::none;
    std::int64_t rank = 8;
    bool unit_scale = false;   ///< LoRA: the scaling factor is 1
    std::int64_t tokens = 20;  ///< number of virtual tokens
    bool projects = false;     ///< an MLP computes the keys and values of a prefix
    bool one_side = false;     ///< the decoder of an encoder-decoder model has no virtual tokens
    std::int64_t hidden = 0;   ///< width of the MLP that computes a prompt; 0: that of the model
    adapter_bias bias = adapter_bias::none;
    bool all_linear = false;
    bool drops = false;        ///< `lora_dropout` is above zero
    bool second_bias = false;  ///< the second product has a bias (`lora_bias`)
    module_names targets{};
    module_names excluded{};
    module_names feedforward{};                    ///< IA3: modules whose input is scaled
    std::vector<std::int64_t> layers{};            ///< layer indices; empty: all
    std::vector<std::string> lists{};              ///< names of the layer lists; empty: any
    std::vector<adapter_rank> ranks{};             ///< the first match determines the rank
    std::vector<std::string> parameters{};         ///< path endings of parameters that are adapted themselves
    std::vector<std::string> saved{};              ///< modules that are trained as copies (`modules_to_save`)
    std::vector<trained_tokens> rows{};            ///< trained rows of embedding tables (`trainable_token_indices`)
    std::vector<std::string> frozen{};             ///< `frozen`: roles or path endings
    std::vector<std::string> frozen_parameters{};  ///< `frozen`: patterns of parameter names with `*` and `?`

    /// Whether the adapter is attached to modules but has no targets.
    [[nodiscard]] bool needs_targets() const noexcept;
    [[nodiscard]] bool is_low_rank() const noexcept { return kind == adapter_kind::lora || kind == adapter_kind::dora; }
    /// Whether the adapter is LoRA on layers and nothing else.
    [[nodiscard]] bool is_plain_lora() const noexcept {
        return kind == adapter_kind::lora && saved.empty() && rows.empty() && parameters.empty();
    }
    /// Whether the adapter adds virtual tokens before the text.
    [[nodiscard]] bool is_prompt() const noexcept {
        return kind == adapter_kind::prompt || kind == adapter_kind::p_tuning;
    }

    /// Whether the adapter adds virtual tokens, either to the text or to the cache.
    [[nodiscard]] bool adds_tokens() const noexcept { return is_prompt() || kind == adapter_kind::prefix; }

    /// Whether a module is trained as a copy, or is part of one that is.
    [[nodiscard]] bool saves_module(std::string_view path) const {
        return std::ranges::any_of(saved, [&](const std::string& name) { return module_names::is_part(path, name); });
    }
    /// Whether a module is a target.
    ///
    /// Source: peft/tuners/tuners_utils.py, `check_target_module_exists`.
    [[nodiscard]] bool targets_module(std::string_view path) const;
    /// Whether a linear layer is a target, including the option of targeting all linear layers.
    [[nodiscard]] bool names_linear(std::string_view path) const {
        return all_linear ? !excluded.names(path) && !saves_module(path) : targets_module(path);
    }
    /// The rank of the adapter at a module or a parameter.
    [[nodiscard]] std::int64_t rank_at(std::string_view path) const;

private:
    /// The index of a path in its outermost list; -1 if it is in none.
    [[nodiscard]] std::int64_t layer_of(std::string_view path) const;
};

/// Splits a list into its items.
[[nodiscard]] std::vector<std::string> split_list(std::string_view list, char delimiter);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/memory/impl/adapter.ipp>  // IWYU pragma: export
#endif
