// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/serving/engine_calibration.hpp>

#include <cstddef>

#include <llmcost/base/inline.hpp>
#include <llmcost/latency/kernel_work_formulas.hpp>
#include <llmcost/latency/operator_types.hpp>
#include <llmcost/serving/engines.hpp>

namespace llmcost {

LLMCOST_INLINE kernel_class kernel_class_of(const operator_shape& shape) {
    const operator_type& type = *shape.type;
    const kernel_work work = shape.work();
    if (work.uses_network) return kernel_class::network;
    if (work.uses_links) return kernel_class::collectives;
    if (type.has_engine_specific_experts) return kernel_class::experts;
    if (type.backward == backward_rule::products) return kernel_class::products;
    if (type.backward != backward_rule::attention) return kernel_class::others;
    for (std::size_t i = 0; i < type.num_axes; ++i)
        if (type.sizes[i].is_past_length) return kernel_class::decode_attention;
    return kernel_class::prefill_attention;
}

LLMCOST_INLINE constant_values shipped_constants(const engine& e) {
    constant_values values{};
    for (std::size_t i = 0; i < calibrated_constant_count; ++i)
        values[i] = calibrated_constants[i].member != nullptr ? e.*calibrated_constants[i].member : 1;
    return values;
}

LLMCOST_INLINE engine with_constants(const engine& e, const constant_values& values) {
    engine changed = e;
    for (std::size_t i = 0; i < calibrated_constant_count; ++i)
        if (calibrated_constants[i].member != nullptr) changed.*calibrated_constants[i].member = values[i];
    return changed;
}

LLMCOST_INLINE kernel_time_factors factors_of(const constant_values& values) {
    kernel_time_factors factors;
    for (std::size_t i = 0; i < calibrated_constant_count; ++i)
        if (calibrated_constants[i].is_prefill_factor)
            factors.prefill = values[i];
        else if (calibrated_constants[i].member == nullptr)
            factors.values[static_cast<std::size_t>(calibrated_constants[i].kernels)] = values[i];
    return factors;
}

}  // namespace llmcost
