// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <llmcost/base/config_view.hpp>
#include <llmcost/base/edit_distance.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/memory/adapter.hpp>

// Reads the adapter configuration of PEFT, `adapter_config.json`.
namespace llmcost {

/// An adapter and the name of its base model.
struct adapter_file {
    adapter adapts{};
    std::string base{};  ///< name of the base model; empty if the file has none
};

namespace detail {

/// The effect of a configuration key on computation and memory.
enum class adapter_key_use : std::uint8_t {
    read,
    ignored,  ///< no effect: initialization, metadata
    refused   ///< changes computation or memory and is not supported, unless it is off
};
struct adapter_key {
    literal name;
    adapter_key_use use;
};

// Source: peft/config.py, tuners/{lora,ia3,prompt_tuning,p_tuning,ln_tuning}/config.py.
// clang-format off
inline constexpr adapter_key keys_of_all[]{
    {"peft_type", adapter_key_use::read}, {"task_type", adapter_key_use::read},
    {"base_model_name_or_path", adapter_key_use::read}, {"auto_mapping", adapter_key_use::ignored},
    {"revision", adapter_key_use::ignored}, {"inference_mode", adapter_key_use::ignored},
    {"peft_version", adapter_key_use::ignored},
};
inline constexpr adapter_key keys_of_targets[]{
    {"target_modules", adapter_key_use::read}, {"exclude_modules", adapter_key_use::read},
    {"modules_to_save", adapter_key_use::read}, {"fan_in_fan_out", adapter_key_use::ignored},
};
inline constexpr adapter_key keys_of_lora[]{
    {"r", adapter_key_use::read}, {"lora_alpha", adapter_key_use::read}, {"bias", adapter_key_use::read},
    {"use_rslora", adapter_key_use::read}, {"use_dora", adapter_key_use::read}, {"lora_bias", adapter_key_use::read},
    {"rank_pattern", adapter_key_use::read}, {"layers_to_transform", adapter_key_use::read},
    {"layers_pattern", adapter_key_use::read}, {"target_parameters", adapter_key_use::read},
    {"trainable_token_indices", adapter_key_use::read}, {"init_lora_weights", adapter_key_use::read},
    {"alpha_pattern", adapter_key_use::ignored}, {"lora_dropout", adapter_key_use::read},
    {"loftq_config", adapter_key_use::ignored}, {"eva_config", adapter_key_use::ignored},
    {"corda_config", adapter_key_use::ignored}, {"lora_ga_config", adapter_key_use::ignored},
    {"megatron_core", adapter_key_use::ignored}, {"runtime_config", adapter_key_use::ignored},
    {"qalora_group_size", adapter_key_use::ignored}, {"modules_to_tie", adapter_key_use::ignored},
    {"target_modules_to_tie", adapter_key_use::ignored}, {"enable_lora", adapter_key_use::ignored},
    {"merge_weights", adapter_key_use::ignored},
    {"layer_replication", adapter_key_use::refused}, {"use_qalora", adapter_key_use::refused},
    {"megatron_config", adapter_key_use::refused}, {"alora_invocation_tokens", adapter_key_use::refused},
    {"velora_config", adapter_key_use::refused}, {"monteclora_config", adapter_key_use::refused},
    {"use_bdlora", adapter_key_use::refused}, {"arrow_config", adapter_key_use::refused},
    {"kasa_config", adapter_key_use::refused}, {"ensure_weight_tying", adapter_key_use::refused},
};
inline constexpr adapter_key keys_of_ia3[]{
    {"feedforward_modules", adapter_key_use::read}, {"init_ia3_weights", adapter_key_use::ignored},
};
inline constexpr adapter_key keys_of_prompts[]{
    {"num_virtual_tokens", adapter_key_use::read}, {"prompt_tuning_init", adapter_key_use::ignored},
    {"prompt_tuning_init_text", adapter_key_use::ignored}, {"tokenizer_name_or_path", adapter_key_use::ignored},
    {"tokenizer_kwargs", adapter_key_use::ignored}, {"token_dim", adapter_key_use::ignored},
    {"num_transformer_submodules", adapter_key_use::read}, {"num_attention_heads", adapter_key_use::ignored},
    {"num_layers", adapter_key_use::ignored}, {"modules_to_save", adapter_key_use::read},
};
inline constexpr adapter_key keys_of_prefix[]{
    {"encoder_hidden_size", adapter_key_use::read}, {"prefix_projection", adapter_key_use::read},
    {"init_weights", adapter_key_use::ignored},
};
inline constexpr adapter_key keys_of_p_tuning[]{
    {"encoder_reparameterization_type", adapter_key_use::read}, {"encoder_hidden_size", adapter_key_use::read},
    {"encoder_num_layers", adapter_key_use::ignored}, {"encoder_dropout", adapter_key_use::ignored},
};
// clang-format on

/// A table of configuration keys.
struct adapter_keys {
    const adapter_key* rows = nullptr;
    std::size_t n = 0;

    constexpr adapter_keys() noexcept = default;
    template <std::size_t N>
    constexpr adapter_keys(const adapter_key (&table)[N]) noexcept : rows(table), n(N) {}
    [[nodiscard]] constexpr const adapter_key* begin() const noexcept { return rows; }
    [[nodiscard]] constexpr const adapter_key* end() const noexcept { return rows + n; }
};

/// Lists at most three names that are similar to a text.
template <class Names>
[[nodiscard]] std::string nearest_of(std::string_view text, const Names& names) {
    std::string out;
    const int maximum = 1 + static_cast<int>(text.size() < 64 ? text.size() / 4 : 16);
    for (int distance = 0, num_suggestions = 0; distance <= maximum && num_suggestions < 3; ++distance)
        for (const std::string_view name : names)
            if (edit_distance(text, name) == distance && num_suggestions++ < 3)
                out.append(out.empty() ? "" : ", ").append(name);
    return out.empty() ? out : "; nearest: " + out;
}

void parse_lora(config_view root, adapter& out);
void parse_ia3(config_view root, adapter& out);
void parse_norms(config_view root, adapter& out);

void parse_prompt(config_view root, adapter& out);
void parse_p_tuning(config_view root, adapter& out);
void parse_prefix(config_view root, adapter& out);

/// PEFT's name of each kind of adapter, and the function that reads it.
struct adapter_reader {
    std::string_view type;
    adapter_kind kind;
    void (*read)(config_view, adapter&);
};
inline constexpr adapter_reader adapter_readers[]{
    {"LORA", adapter_kind::lora, parse_lora},
    {"IA3", adapter_kind::ia3, parse_ia3},
    {"PROMPT_TUNING", adapter_kind::prompt, parse_prompt},
    {"P_TUNING", adapter_kind::p_tuning, parse_p_tuning},
    {"PREFIX_TUNING", adapter_kind::prefix, parse_prefix},
    {"LN_TUNING", adapter_kind::norms, parse_norms},
};

}  // namespace detail

/// Reads an adapter configuration of PEFT.
///
/// Throws: `config_error` if it is invalid, with `unsupported` if the adapter is not supported.
[[nodiscard]] adapter_file parse_adapter(config_view root);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/memory/impl/read_adapter.ipp>  // IWYU pragma: export
#endif
