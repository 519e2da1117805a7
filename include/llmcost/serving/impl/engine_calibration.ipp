// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/serving/engine_calibration.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

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

LLMCOST_INLINE bool has_runs_of(const engine_calibration& c, std::string_view model) {
    const auto last_part = [](std::string name) {
        if (name.ends_with(".json")) name.resize(name.size() - 5);
        for (std::size_t i = name.find("__"); i != std::string::npos; i = name.find("__")) name.replace(i, 2, "/");
        name.erase(0, name.find_last_of('/') + 1);  // npos + 1 is 0
        for (char& letter : name)
            if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
        return name;
    };
    const std::string name = last_part(std::string(model));
    return c.models.empty() ||
           std::any_of(c.models.begin(), c.models.end(), [&](const std::string& m) { return last_part(m) == name; });
}

LLMCOST_INLINE std::optional<engine_calibration> calibration_for_model(const engine_calibration& c,
                                                                       std::string_view model, bool has_shipped_runs) {
    if (has_runs_of(c, model)) return c;
    if (c.models.size() == 1 && has_shipped_runs) return std::nullopt;
    engine_calibration part = c;
    for (held_out_error* e : {&part.tpot, &part.ttft, &part.simulated_tpot, &part.simulated_ttft}) e->rows = 0;
    if (c.models.size() > 1) return part;
    const engine* const shipped_engine = find_engine(c.engine);
    const constant_values shipped = shipped_constants(shipped_engine != nullptr ? *shipped_engine : engine{});
    for (std::size_t i = 0; i < calibrated_constant_count; ++i) {
        const calibrated_constant& constant = calibrated_constants[i];
        const bool is_kernel_factor = !constant.is_prefill_factor &&
                                      (constant.member == nullptr || constant.member == &engine::kernel_time_factor);
        const bool is_step_time =
            constant.member == &engine::host_seconds_per_step || constant.member == &engine::host_seconds_per_sequence;
        if (is_kernel_factor)
            part.constants[i] = std::sqrt(shipped[i] * part.constants[i]);
        else if (!is_step_time)
            part.constants[i] = shipped[i];
    }
    return part;
}

LLMCOST_INLINE std::string model_calibration_note(const engine_calibration& c, std::string_view model,
                                                  bool has_shipped_runs) {
    if (has_runs_of(c, model)) return {};
    const std::string begin = "has no runs of " + std::string(model) + "; using ";
    if (c.models.size() > 1) return begin + "its constants with the interval of the shipped ones";
    if (has_shipped_runs) return begin + "the shipped constants, fitted to runs of several models on this device";
    return begin + "its host times of steps, half of its kernel factors, and the interval of the shipped constants";
}

}  // namespace llmcost
