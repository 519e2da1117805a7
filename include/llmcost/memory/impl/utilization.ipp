// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/memory/utilization.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/step_formulas.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/model/model_spec.hpp>

namespace llmcost::detail {

/// The reason why formulas for dense decoders do not apply to a step; empty if they apply.
[[nodiscard]] LLMCOST_INLINE std::string_view why_conventions_undefined(const model& m,
                                                                        const training_run& run) noexcept {
    const std::string_view reason = why_formula_undefined(m);
    if (reason.empty() && count(run.memory.num_trainable) != run.pass_metrics.params)
        return "not every parameter is trained";
    return reason;
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE std::array<step_flops, flops_conventions> step_flops_of(const model& m, const workload& load,
                                                                       const training_plan& plan,
                                                                       const training_run& run) {
    std::array<step_flops, flops_conventions> out;
    step_flops& exact = out[static_cast<std::size_t>(flops_convention::exact)];
    const count passes(static_cast<std::uint64_t>(plan.schedule.gradient_accumulation_steps));
    exact.model = passes * (run.pass_metrics.torch_flops + run.pass_metrics.backward_torch_flops);
    exact.hardware = exact.model + passes * count(run.memory.recomputed_flops);
    const bool uses_recompute = plan.schedule.recompute != recompute_mode::none;
    const bool recomputes_all_layers = plan.schedule.recompute == recompute_mode::full &&
                                       plan.schedule.num_recomputed_layers >= m.config.num_hidden_layers;
    const std::string_view reason = detail::why_conventions_undefined(m, run);
    for (step_flops& flops : out)
        if (&flops != &exact) flops.undefined = reason;
    if (!reason.empty()) return out;

    const auto to_count = [](std::int64_t n) { return count(static_cast<std::uint64_t>(n)); };
    const count s = to_count(load.sequence), tokens = passes * to_count(load.batch) * s,
                layers = to_count(m.config.num_hidden_layers);
    const count width = to_count(m.config.hidden_size);
    const auto per_token = [&](flops_convention convention, count parameters) {
        step_flops& f = out[static_cast<std::size_t>(convention)];
        f.model = f.hardware = palm_step_flops(m, parameters, tokens, s);
        f.has_hardware_flops = !uses_recompute;
    };
    per_token(flops_convention::palm, run.pass_metrics.params);
    per_token(flops_convention::nanogpt, run.pass_metrics.params - count(run.num_position_parameters));
    step_flops& megatron = out[static_cast<std::size_t>(flops_convention::megatron)];
    const count products = tokens * layers * width * width, scores = tokens * s * layers * width;
    const count head = count(6) * tokens * width * to_count(m.config.vocab_size);
    megatron.model = count(72) * products + count(12) * scores + head;
    megatron.hardware = recomputes_all_layers ? count(96) * products + count(16) * scores + head : megatron.model;
    megatron.has_hardware_flops = !uses_recompute || recomputes_all_layers;
    return out;
}

}  // namespace llmcost
