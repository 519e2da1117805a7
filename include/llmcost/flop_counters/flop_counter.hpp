// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

// What another counter counts, as data: prices over what is heard of a pass, and which figures it prints.
namespace llmcost {

/// What a counter adds for a call: so many times each amount of `call_amounts`.
struct call_cost {
    std::int8_t products = 0;
    std::int8_t input_elements_times_columns = 0;
    std::int8_t inputs = 0;
    std::int8_t outputs = 0;
    std::int8_t bias_elements = 0;
    std::int8_t biased_outputs = 0;
    std::int8_t addmm_outputs = 0;
    std::int8_t affine_inputs = 0;
    std::int8_t path_flops = 0;
    std::int8_t unfused_products = 0;
    std::int8_t output_positions = 0;
    std::int8_t rows = 0;  ///< only less
    std::int8_t divided_by = 1;
};

/// Whether tensors have values: Python makes some operations of meta tensors out of others, which counters hear then.
enum class tensor_kind : std::uint8_t { meta, real };
inline constexpr std::size_t tensor_kinds = 2;
inline constexpr std::string_view tensors_names[tensor_kinds]{"meta", "real"};

/// When a rule holds.
enum class tensor_condition : std::uint8_t { any, meta, real };

/// What a counter adds for calls of a function: the first rule counts that fits name, class and tensors.
struct counter_rule {
    std::string_view name;               ///< of `observed_call`
    std::string_view module_class = "";  ///< class of the module; empty: any, `*X`: those that end so
    tensor_condition condition = tensor_condition::any;
    call_cost first_cost{};   ///< of its first figure
    call_cost second_cost{};  ///< of its second
    std::string_view reason = "";
    std::string_view source = "";  ///< file and function of the counter
};

/// What a figure of a counter is the sum of.
enum class figure_source : std::uint8_t {
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

struct counter_figure_spec {
    std::string_view name;
    figure_source source;
};

/// Which figure of llmcost's a counter's first one is held against: ADD and MULT, multiplications of matrices and
/// convolutions, or what FlopCounterMode says of a training step.
enum class reference_metric : std::uint8_t { flops, macs, step_flops };

/// A closed formula over sizes.
enum class closed_formula : std::uint8_t { none, llm_profiler, six_n_d, palm };

/// A counter: what it is, what it prints, and how it comes to that.
struct flop_counter {
    std::string_view name;
    std::string_view title;
    std::string_view version;
    std::string_view counts;  ///< in a sentence
    reference_metric compared = reference_metric::flops;
    std::span<const counter_figure_spec> figures{};
    std::span<const counter_rule> rules{};
    std::string_view unheard = "";  ///< why what no rule names is not counted
    std::string_view unheard_source = "";
    closed_formula formula = closed_formula::none;
};

}  // namespace llmcost
