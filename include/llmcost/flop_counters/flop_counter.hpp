// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

// FLOP counters as data: costs of observed calls, and the results that a counter prints.
namespace llmcost {

/// Cost of a call: a coefficient for each amount of `call_amounts`.
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
    std::int8_t rows = 0;  ///< at most 0
    std::int8_t divided_by = 1;
};

/// Whether tensors have values. Python decomposes some operations of meta tensors, which counters observe.
enum class tensor_kind : std::uint8_t { meta, real };
inline constexpr std::size_t tensor_kinds = 2;
inline constexpr std::string_view tensors_names[tensor_kinds]{"meta", "real"};

/// Tensors for which a rule is valid.
enum class tensor_condition : std::uint8_t { any, meta, real };

/// Cost of calls of a function. The first rule with matching name, class and tensors counts.
struct counter_rule {
    std::string_view name;               ///< name of `observed_call`
    std::string_view module_class = "";  ///< module class; empty: any, `*X`: classes with suffix X
    tensor_condition condition = tensor_condition::any;
    call_cost first_cost{};   ///< of the counter's first result
    call_cost second_cost{};  ///< of the counter's second result
    std::string_view reason = "";
    std::string_view source = "";  ///< file and function of the counter
};

/// Definition of a counter's result.
enum class figure_source : std::uint8_t {
    first_prices,  ///< sum over all calls
    second_prices,
    parameters,  ///< of the model, tied tensors once
    trainable,
    hooked_parameters,  ///< of called modules with a hook, tied tensors in each module
    module_products,    ///< parameters of modules times the batch, those of convolutions times all positions
    listed_parameters,  ///< of all called modules, tied tensors in each module
    listed_trainable,
    twice_outputs,  ///< bytes of the outputs of modules with parameters, twice for their gradients
    listed_bytes,   ///< bytes of the parameters of leaf modules
    formula_flops,  ///< result of a closed formula
    formula_part    ///< another result of the formula
};

struct counter_figure_spec {
    std::string_view name;
    figure_source source;
};

/// llmcost's result that corresponds to the counter's first one.
///
/// ADD and MULT; multiplications of matrix products and convolutions; or FLOPs of a training step in FlopCounterMode.
enum class reference_metric : std::uint8_t { flops, macs, step_flops };

/// A closed formula of model sizes.
enum class closed_formula : std::uint8_t { none, llm_profiler, six_n_d, palm };

/// A counter: its name, its results and their definition.
struct flop_counter {
    std::string_view name;
    std::string_view title;
    std::string_view version;
    std::string_view counts;  ///< what it counts, as text
    reference_metric compared = reference_metric::flops;
    std::span<const counter_figure_spec> figures{};
    std::span<const counter_rule> rules{};
    std::string_view unheard = "";  ///< why calls without a rule are not counted
    std::string_view unheard_source = "";
    closed_formula formula = closed_formula::none;
};

}  // namespace llmcost
