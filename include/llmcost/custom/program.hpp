// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/custom/arguments.hpp>
#include <llmcost/custom/expression.hpp>
#include <llmcost/model/model_spec.hpp>

// A description that was read: steps with names resolved to places.
namespace llmcost::custom {

/// Which part of a model a class is.
enum class part_kind : std::uint8_t { attention, mlp, layer, base };

/// A model of the library of which a description calls a part.
struct library_part {
    model full_model;
    part_kind kind = part_kind::attention;
};

/// What a step calls that which the step before made.
inline constexpr string_ref previous_step = "previous";

/// Where a tensor of a block lies, or all tensors of a list.
struct tensor_reference {
    static constexpr std::uint16_t previous = 0xffff;  ///< what the step before made

    std::uint16_t slot = 0;
    bool list = false;
    bool pop = false;  ///< the last one of a list, which it leaves
};

/// One step of a block.
enum class step_kind : std::uint8_t {
    module,     ///< a layer of the table, as a module
    function,   ///< one of the table, without a module
    container,  ///< a module around steps of this block
    part,       ///< a part of a model of the library
    block,      ///< a block of the description, as a module or without one
    residual,   ///< steps, and a sum with what went around them
    parallel,   ///< branches that read the same, and what joins them
    choice,     ///< steps where a number is not zero, else others
    parameter,  ///< a parameter of the module around
    buffer,     ///< a buffer, likewise
    refusal     ///< a sentence that says why there is no answer
};

/// An argument: numbers for the row's argument, in their order.
struct argument_binding {
    std::uint8_t argument = 0;
    std::vector<expression> numbers{};
};

/// A piece of a module's name, and the number behind it.
struct name_part {
    literal text = "";
    expression number{};
};

struct step;
using steps = std::vector<step>;

struct step {
    step_kind kind = step_kind::function;
    bool inlined = false;  ///< of a block: no module of its own
    bool indexed = false;  ///< repetitions differ, and are walked one by one
    bool differs = false;  ///< of a part: its layers are of several kinds
    bool repeated = false;
    bool is_not_executed = false;    ///< its parameters exist, and nothing runs
    bool reuses_parameters = false;  ///< of a module that was called before
    bool numbered = false;           ///< its name is its number in the container
    bool in_place = false;           ///< a sum writes into its first operand
    bool is_leaf = false;
    role module_role = role::none;
    std::vector<name_part> name_parts{};  ///< in front of `name`, where numbers are inside
    literal name = "";
    bool integers = false;      ///< what a buffer holds
    std::int64_t in_list = -1;  ///< its number where it is one of a list
    bool counted = false;       ///< that number is `first`
    literal type = "";          ///< of its class; of a refusal the sentence
    const layer_row* row = nullptr;
    std::uint16_t block = 0;                   ///< or part
    std::int16_t index_slot = -1;              ///< the number of a repetition, in the block's variables
    expression times{}, first{}, condition{};  ///< `first`: of a repetition, or of a list
    std::vector<argument_binding> arguments{};
    std::vector<tensor_reference> inputs{};   ///< none: what came before
    std::vector<tensor_reference> outputs{};  ///< names given to results
    steps body{}, alternative_body{};
    std::vector<steps> branches{};
    std::string pointer{};  ///< into the file
};

/// Whether there are modules among steps, and functions.
struct block_contents {
    bool modules = false, functions = false;

    void add(const block_contents& c) noexcept {
        modules = modules || c.modules;
        functions = functions || c.functions;
    }
};

/// A block of a description: arguments, then steps.
struct block {
    std::string name;
    std::vector<std::string> arguments{};
    std::vector<std::vector<expression>> otherwise{};  ///< empty: must be given
    std::vector<tensor_reference> inputs{};
    std::vector<tensor_reference> outputs{};  ///< none: what came last
    std::uint16_t variables = 0, slots = 0, lists = 0;
    bool bends = false;  ///< some number is no polynomial of its arguments
    steps body{};
    block_contents contents{};
};

/// What the caller hands in.
struct input {
    std::string name;
    std::vector<expression> shape{};
    bool integers = false;
    std::string pointer{};  ///< into the file
};

/// A description, read; the first block is the model.
struct program {
    expression_store numbers{};
    std::vector<block> blocks{};
    std::vector<input> inputs{};
    std::vector<library_part> parts{};
    std::deque<std::string> names{};  ///< characters that steps look at
    std::int64_t image_height = 0, image_width = 0;
    bool bends = false;      ///< some number is no polynomial of the workload
    literal type = "Model";  ///< the model's class
    std::string file{};      ///< for messages

    [[nodiscard]] literal keep(std::string_view text) {
        if (text.empty()) return "";
        names.emplace_back(text);
        return names.back().c_str();
    }
};

}  // namespace llmcost::custom
