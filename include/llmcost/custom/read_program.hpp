// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/config_view.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/custom/arguments.hpp>
#include <llmcost/custom/function_table.hpp>
#include <llmcost/custom/layer_table.hpp>
#include <llmcost/custom/program.hpp>
#include <llmcost/custom/read_expression.hpp>
#include <llmcost/text/nearest_name.hpp>

// Parses a description: a JSON file with sizes, layers, connections and blocks.
namespace llmcost::custom {

[[nodiscard]] inline std::string_view as_view(string_ref text) { return {text.data(), text.size()}; }

/// The JSON pointer of a value, for later messages.
[[nodiscard]] std::string pointer_of(config_view node);

/// A class name without its module: `torch.nn.Linear` becomes `Linear`.
[[nodiscard]] std::string_view without_module(std::string_view name);

template <std::size_t N>
[[nodiscard]] const layer_row* find_row(const layer_row (&table)[N], std::string_view name) {
    for (const layer_row& row : table)
        if (name == row.name) return &row;
    return nullptr;
}

/// Checks that an object has no other keys than these.
void check_keys(config_view object, const std::vector<std::string_view>& known);

[[nodiscard]] constexpr bool is_of_name(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Parses a name that becomes part of a module path.
[[nodiscard]] std::string_view parse_name(config_view node, std::string_view name);

[[nodiscard]] inline std::string_view parse_name(config_view node) {
    return parse_name(node, as_view(node.as_string()));
}

/// True if a tensor has integer elements.
[[nodiscard]] bool parse_integers(config_view node);

/// Global names of a description: sizes and workload variables.
class global_names : public name_table {
public:
    std::vector<std::pair<std::string, meaning>> sizes;

    [[nodiscard]] const meaning* size(std::string_view name) const;
    void insert(const std::string& name, meaning symbol);
    [[nodiscard]] std::optional<meaning> find(std::string_view name) const override;
    void add_candidates(name_suggestions& near) const override;
};

/// Names of a block: its arguments, repetition indices and tensors, in addition to the global names.
class block_names : public name_table {
public:
    block_names(const global_names& all, block& current_block) : globals_(all), block_(current_block) {
        for (const std::string& a : current_block.arguments) variables_.emplace_back(a, current_block.variables++);
    }

    [[nodiscard]] std::optional<meaning> find(std::string_view name) const override;
    void add_candidates(name_suggestions& near) const override;
    /// Opens the scope of a repetition, whose index can have a name.
    struct repetition_names {
        std::int16_t slot = -1;
        std::size_t variables, tensors;
        std::int64_t read_before;
        bool writes_before;
    };
    repetition_names open_repetition(std::string_view index);
    /// Closes the scope, so that later steps cannot read its tensors. Returns whether the repetitions differ.
    bool close_repetition(const repetition_names& r, std::size_t inside_before);
    [[nodiscard]] std::size_t first_inside() const noexcept { return first_inside_; }

    /// The slot of a tensor that a step names. `list[]` appends to a list.
    tensor_reference define(config_view node);
    tensor_reference define_name(std::string_view name, bool list = false);
    [[nodiscard]] tensor_reference find_tensor(config_view node);

private:
    struct tensor_name {
        std::string_view name;
        bool list = false, pop = false;
    };
    static tensor_name name_of(config_view node);

    const global_names& globals_;
    block& block_;
    std::vector<std::pair<std::string, std::int64_t>> variables_{};
    std::vector<std::pair<std::string, tensor_reference>> tensors_{};
    mutable std::int64_t last_read_variable_ = -1;  ///< the innermost variable that was read
    std::size_t first_inside_ = 0;                  ///< index of the first tensor in the innermost repetition
    bool has_outer_writes_ = false;                 ///< a repetition writes a tensor from outside
};

}  // namespace llmcost::custom

#ifndef LLMCOST_COMPILED
#include <llmcost/custom/impl/read_program.ipp>  // IWYU pragma: export
#endif
