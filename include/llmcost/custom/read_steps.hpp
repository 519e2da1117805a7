// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include <llmcost/base/config_view.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/config/model_registry.hpp>
#include <llmcost/custom/arguments.hpp>
#include <llmcost/custom/expression.hpp>
#include <llmcost/custom/library_part.hpp>
#include <llmcost/custom/program.hpp>
#include <llmcost/custom/read_expression.hpp>
#include <llmcost/custom/read_program.hpp>

// Parses the steps of a block.
namespace llmcost::custom {

/// Parses steps with the names of their block.
class step_reader {
public:
    step_reader(program& target_program, const global_names& all, block& current_block, const model_registry* known);

    [[nodiscard]] block_names& names() noexcept { return names_; }

    [[nodiscard]] steps read_steps(config_view node);
    [[nodiscard]] std::vector<tensor_reference> read_outputs(config_view node) {
        return each_name(node, [&](config_view name) { return names_.define(name); });
    }
    [[nodiscard]] std::vector<tensor_reference> read_inputs(config_view node) {
        return each_name(node, [&](config_view name) { return names_.find_tensor(name); });
    }
    [[nodiscard]] tensor_reference define_input(string_ref name) { return names_.define_name(as_view(name)); }
    [[nodiscard]] expression number(config_view node);
    [[nodiscard]] std::vector<expression> number_list(config_view node);

    /// Whether steps include modules and functions, except those in child modules.
    [[nodiscard]] block_contents contents_of(const steps& all) const;

private:
    static constexpr std::array<std::string_view, 8> kinds{"type", "function",  "residual", "parallel",
                                                           "if",   "parameter", "buffer",   "refuse"};

    template <class Place>
    static std::vector<tensor_reference> each_name(config_view node, Place find) {
        std::vector<tensor_reference> out;
        if (node.is_string()) return {find(node)};
        for (const config_view entry : node.as_array()) out.push_back(find(entry));
        return out;
    }

    step read_step(config_view node);

    void read_kind(config_view node, std::string_view kind, step& s);

    void read_module(config_view node, step& s);
    /// Parses `"fc"`, `"layers.3"`, `"layers.{i}"` or `"layer{i + 1}"`. Without a name: the index in the container.
    void read_module_name(config_view node, step& s);
    [[nodiscard]] literal name_piece(config_view node, std::string_view text);
    [[nodiscard]] expression number_in(config_view value, std::string_view text);

    [[nodiscard]] library_module class_of_library(std::string_view name) const {
        return registry_ == nullptr ? library_module{} : find_library_class(*registry_, name);
    }
    /// True if a module of these steps computes its output itself, without child modules.
    ///
    /// A module with parameters only is not called.
    [[nodiscard]] bool is_leaf(const steps& all) const;
    [[nodiscard]] std::size_t block_called(std::string_view name) const;
    /// Throws if a block is described at or after the step that calls it.
    static void refuse_later_block(config_view node);
    void read_block_call(config_view node, step& s, std::size_t b, std::vector<std::string_view> known);

    void read_function(config_view node, step& s);

    void read_arguments(config_view node, step& s, std::vector<std::string_view> known);
    [[nodiscard]] std::vector<expression> read_argument(config_view node, const argument_row& a);

public:
    /// Throws if a number is not a valid value of an argument.
    static void check_argument(std::int64_t n, const argument_row& a, config_view node) {
        if (const literal expected = expected_of(n, a); !is_empty(expected)) throw_invalid_value(node, expected);
    }
    [[nodiscard]] static literal expected_of(std::int64_t n, const argument_row& a) noexcept;

private:
    void check_results(config_view node, const step& s) const;

    program& program_;
    block& block_;
    block_names names_;
    expression_reader numbers_;
    const model_registry* registry_;
    int depth_ = 0;
};

}  // namespace llmcost::custom

#ifndef LLMCOST_COMPILED
#include <llmcost/custom/impl/read_steps.ipp>  // IWYU pragma: export
#endif
