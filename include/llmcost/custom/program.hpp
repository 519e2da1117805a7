// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/custom/arguments.hpp>
#include <llmcost/custom/expression.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/trace/scope.hpp>

// A parsed description: steps whose tensor names are resolved to slots.
namespace llmcost::custom {

/// Whether a text is the name of a Python class, with or without its module.
[[nodiscard]] constexpr bool is_class_name(std::string_view text) noexcept {
    bool good =
        !text.empty() && text.size() <= 128 && text.front() != '.' && (text.front() < '0' || text.front() > '9');
    for (const char c : text)
        good = good &&
               ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.');
    return good;
}

/// Kind of a built-in module.
enum class part_kind : std::uint8_t { attention, mlp, layer, base };

/// A built-in model, of which the description uses one module.
struct library_part {
    model full_model;
    part_kind kind = part_kind::attention;
};

/// Name of the output of the previous step.
inline constexpr string_ref previous_step = "previous";

/// A reference to a tensor of a block, or to all tensors of a list.
struct tensor_reference {
    static constexpr std::uint16_t previous = 0xffff;  ///< the output of the previous step

    std::uint16_t slot = 0;
    bool list = false;
    bool pop = false;  ///< the last tensor of a list, which is removed from it
};

/// Kind of a step of a block.
enum class step_kind : std::uint8_t {
    module,     ///< a layer of the layer table, as a module
    function,   ///< a function of the function table, without a module
    container,  ///< a module around steps of this block
    part,       ///< a module of a built-in model
    block,      ///< a block of the description, with or without a module
    residual,   ///< steps with a residual connection
    parallel,   ///< branches with the same input, and an operation that joins them
    choice,     ///< steps if a number is not zero, otherwise other steps
    parameter,  ///< a parameter of the enclosing module
    buffer,     ///< a buffer of the enclosing module
    refusal     ///< an error message of the description
};

/// The numbers of one argument.
struct argument_binding {
    std::uint8_t argument = 0;
    std::vector<expression> numbers{};
};

/// A piece of a module name, and the number after it.
struct name_part {
    literal text = "";
    expression number{};
};

struct step;
using steps = std::vector<step>;

struct step {
    step_kind kind = step_kind::function;
    bool inlined = false;  ///< of a block: without a module
    bool indexed = false;  ///< repetitions differ, and are traced one by one
    bool differs = false;  ///< of a built-in module: its layers are of several kinds
    bool repeated = false;
    bool is_not_executed = false;    ///< its parameters are declared, but not executed
    bool reuses_parameters = false;  ///< of a module that was called before
    bool numbered = false;           ///< its name is its index in the container
    bool in_place = false;           ///< a sum overwrites its first operand
    bool is_leaf = false;
    role module_role = role::none;
    std::vector<name_part> name_parts{};  ///< before `name`, if the name contains numbers
    literal name = "";
    bool integers = false;      ///< a buffer of integers
    std::int64_t in_list = -1;  ///< index in a list of modules; -1: none
    bool counted = false;       ///< the index is `first`
    literal type = "";          ///< class name; of a `refusal`: the message
    const layer_row* row = nullptr;
    std::uint16_t block = 0;                   ///< index of the block or the built-in model
    std::int16_t index_slot = -1;              ///< variable of the repetition index; -1: none
    expression times{}, first{}, condition{};  ///< `first`: first index of a repetition or a list
    std::vector<argument_binding> arguments{};
    std::vector<tensor_reference> inputs{};   ///< empty: the output of the previous step
    std::vector<tensor_reference> outputs{};  ///< names of the results
    steps body{}, alternative_body{};
    std::vector<steps> branches{};
    std::string pointer{};  ///< JSON pointer of the step
};

/// Whether steps include modules and functions.
struct block_contents {
    bool modules = false, functions = false;

    void add(const block_contents& c) noexcept;
};

/// A block of a description: arguments and steps.
struct block {
    std::string name;
    std::vector<std::string> arguments{};
    std::vector<std::vector<expression>> default_arguments{};  ///< default values; empty: required
    std::vector<tensor_reference> inputs{};
    std::vector<tensor_reference> outputs{};  ///< empty: the output of the last step
    std::uint16_t variables = 0, slots = 0, lists = 0;
    bool is_nonlinear = false;  ///< a number is not a polynomial of the arguments
    steps body{};
    block_contents contents{};
};

/// An input of the model.
struct input {
    std::string name;
    std::vector<expression> shape{};
    bool integers = false;
    std::string pointer{};  ///< JSON pointer of the input
};

/// A parsed description. The first block is the model.
struct program {
    expression_store numbers{};
    std::vector<block> blocks{};
    std::vector<input> inputs{};
    std::vector<library_part> parts{};
    std::deque<std::string> names{};  ///< storage of the names in steps
    std::int64_t image_height = 0, image_width = 0;
    bool is_nonlinear = false;  ///< a number is not a polynomial of the workload
    literal type = "Model";     ///< class name of the model
    std::string file{};         ///< file name, for messages

    [[nodiscard]] literal keep(std::string_view text);
};

}  // namespace llmcost::custom

#ifndef LLMCOST_COMPILED
#include <llmcost/custom/impl/program.ipp>  // IWYU pragma: export
#endif
