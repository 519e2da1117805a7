// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

// What another counter counts, as data: prices over what is heard of a pass, and which figures it prints.
namespace llmcost {

/// What a counter adds for a call: so many times each amount of `heard_amounts`.
struct heard_price {
    std::int8_t products = 0;
    std::int8_t by_columns = 0;
    std::int8_t inputs = 0;
    std::int8_t outputs = 0;
    std::int8_t added = 0;
    std::int8_t biased_outputs = 0;
    std::int8_t addmm_outputs = 0;
    std::int8_t affine_inputs = 0;
    std::int8_t path_flops = 0;
    std::int8_t unfused_products = 0;
    std::int8_t places = 0;
    std::int8_t rows = 0;  ///< only less
    std::int8_t divided_by = 1;
};

/// Whether tensors have values: Python makes some operations of meta tensors out of others, which counters hear then.
enum class tensors : std::uint8_t { meta, real };
inline constexpr std::size_t tensor_kinds = 2;
inline constexpr std::string_view tensors_names[tensor_kinds]{"meta", "real"};

/// When a rule holds.
enum class holds_for : std::uint8_t { both, meta, real };

/// What a counter adds for calls of a function: the first rule counts that fits name, class and tensors.
struct call_rule {
    std::string_view name;         ///< of `heard_call`
    std::string_view within = "";  ///< class of the module; empty: any, `*X`: those that end so
    holds_for when = holds_for::both;
    heard_price first{};   ///< of its first figure
    heard_price second{};  ///< of its second
    std::string_view reason = "";
    std::string_view source = "";  ///< file and function of the counter
};

/// What a figure of a counter is the sum of.
enum class figure_of : std::uint8_t {
    first_prices,  ///< of all calls
    second_prices,
    parameters,  ///< of the model, a tied tensor once
    trainable,
    hooked_parameters,  ///< of called modules that rules name by their class, a tied tensor in each
    module_products,    ///< parameters of modules times the batch, of convolutions times all places
    listed_parameters,  ///< of every module that is called, a tied tensor in each
    listed_trainable,
    twice_outputs,  ///< bytes of what modules with parameters return, for a gradient each
    listed_bytes,   ///< bytes of the parameters of modules without children
    formula_flops,  ///< of a closed formula
    formula_part    ///< a further figure of it
};

struct figure_row {
    std::string_view name;
    figure_of what;
};

/// Which figure of llmcost's a counter's first one is held against: ADD and MULT, multiplications of matrices and
/// convolutions, or what FlopCounterMode says of a training step.
enum class opposite_figure : std::uint8_t { flops, macs, step_flops };

/// A closed formula over sizes.
enum class closed_formula : std::uint8_t { none, llm_profiler, six_n_d, palm };

/// A counter: what it is, what it prints, and how it comes to that.
struct convention {
    std::string_view name;
    std::string_view title;
    std::string_view version;
    std::string_view counts;  ///< in a sentence
    opposite_figure compared = opposite_figure::flops;
    std::span<const figure_row> figures{};
    std::span<const call_rule> rules{};
    std::string_view unheard = "";  ///< why what no rule names is not counted
    std::string_view unheard_source = "";
    closed_formula formula = closed_formula::none;
};

}  // namespace llmcost
