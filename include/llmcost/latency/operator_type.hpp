// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/latency/kernel_work_formulas.hpp>
#include <llmcost/latency/operand_types.hpp>
#include <llmcost/latency/roofline.hpp>

namespace llmcost {

/// The role of an operator's size in a calibration.
enum class size_role : std::uint8_t {
    axis,         ///< varies with the workload: times are interpolated along it, on a logarithmic scale
    layer_shape,  ///< constant per layer: corrections are those of this layer shape, or of near ones
    work_only,    ///< affects only the work
    additive      ///< adds to the time of the operator without it
};

/// A size of an operator, with its name in tables and options.
struct operator_size {
    string_ref name{};
    size_role role = size_role::work_only;
    std::int64_t default_value = 0;  ///< if not given; 0 for required sizes, and for windows, where it means none
    bool required = false;
    bool is_past_length = false;    ///< number of cached tokens
    bool is_launch_count = false;   ///< number of sequential launches
    string_ref upper_bound_size{};  ///< another size of the operator, which is an upper bound
    string_ref multiple_size{};     ///< another size of the operator, which must be a multiple
    std::int64_t minimum = 1;       ///< ignored by a default of 0
    std::int64_t maximum = max_input;
};

/// The backward kernels of an operator.
enum class backward_rule : std::uint8_t {
    two_times_forward,  ///< one kernel of equal work per input
    products,           ///< for (m, k) x (k, n): the products (m, n) x (n, k) and (n, m) x (m, k)
    attention,          ///< fused: five products instead of two (FlashAttention-2, arXiv 2307.08691, section 3.1.2)
    same_as_forward     ///< a collective
};

/// Default efficiencies of an operator without measurements.
struct default_efficiency_model {
    roofline roofline_model{};
    typical_interval interval{};  ///< over all measured devices
};

inline constexpr std::size_t max_operator_sizes = 7;

/// The supported values of `variant_column`.
struct variant_names {
    string_ref (*get)(std::size_t i) = nullptr;  ///< returns an empty string after the last
    bool accepts_other_names = false;            ///< also accepts other names
};

/// An operator type: its sizes (first axes, then layer shape), its variants and its work.
struct operator_type {
    string_ref name;
    string_ref help;
    string_ref operand_column;
    string_ref variant_column{};    ///< additional property of kernels; empty: none
    string_ref default_variant{};   ///< empty: the name of the operand type
    string_ref fallback_variant{};  ///< variant whose kernels replace unmeasured ones; empty: none
    variant_names variants{};
    operator_size sizes[max_operator_sizes];
    std::size_t size_count;
    std::size_t num_axes;
    std::size_t num_layer_shape_sizes;
    kernel_work (*work)(const std::int64_t* sizes, const operand_type& operand, string_ref variant);
    default_efficiency_model default_efficiency;
    default_efficiency_model quantized_efficiency;  ///< for activations that are quantized inside the operator
    backward_rule backward = backward_rule::two_times_forward;
    string_ref
        companion_type{};  ///< another operator type: the engine's own implementation, or the computation of scales
    string_ref companion_variant{};  ///< the variant with a companion; empty: all
    typical_interval (*interval_of_variant)(string_ref variant) = nullptr;  ///< if variants have different intervals
    bool has_engine_specific_experts = false;                               ///< engines have their own kernels for it

    /// Index of the additive size; `size_count` if there is none.
    [[nodiscard]] constexpr std::size_t additive_size_index() const noexcept {
        std::size_t i = num_axes + num_layer_shape_sizes;
        while (i < size_count && sizes[i].role != size_role::additive) ++i;
        return i;
    }
};

/// An operator: its type, its sizes in the order of the type, its operand type and variant.
struct operator_shape {
    const operator_type* type = nullptr;
    std::int64_t sizes[max_operator_sizes]{};
    const operand_type* operand = nullptr;
    string_ref variant{};
    [[nodiscard]] constexpr kernel_work work() const { return type->work(sizes, *operand, variant); }
    [[nodiscard]] constexpr const std::int64_t* layer_shape() const noexcept { return sizes + type->num_axes; }
    /// Number of sequential launches. Tables and commands give the time of one, estimates that of all.
    [[nodiscard]] constexpr std::int64_t num_launches() const noexcept {
        for (std::size_t i = 0; i < type->size_count; ++i)
            if (type->sizes[i].is_launch_count) return sizes[i];
        return 1;
    }
    /// A size by name; 0 if the type does not have it.
    [[nodiscard]] constexpr std::int64_t size(string_ref name) const noexcept {
        for (std::size_t i = 0; i < type->size_count; ++i)
            if (type->sizes[i].name == name) return sizes[i];
        return 0;
    }
};

}  // namespace llmcost
