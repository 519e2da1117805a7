// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include <llmcost/kernels/shelf.hpp>
#include <llmcost/serving/intervals.hpp>
#include <llmcost/serving/kernels.hpp>
#include <llmcost/serving/step.hpp>

// Whose measurements a server's times stand on.
namespace llmcost {

/// Whether engines' own constants are fitted to runs on a device, on so many of them (bench/fit_engines).
[[nodiscard]] constexpr bool has_fitted_runs(const device& on, std::int64_t devices) noexcept {
    return devices <= execution::most_devices_of_a_node && (on.names[0] == "h100_sxm" || on.names[0] == "h200_sxm");
}

/// What the times of a model on a device under an engine stand on: by the kernels of a prompt of so many tokens, and of its
/// share of as many steps in which sixteen sequences write behind them, each by its share of the time.
[[nodiscard]] inline serving_evidence evidence_of(const model& whole, const execution& how, const engine& by,
                                                  const device& on, kernel_source& from, std::int64_t devices,
                                                  std::int64_t tokens = 1024) {
    constexpr std::int64_t sequences = 16;
    double all = 0, own = 0, none = 0;
    for (const bool writes : {false, true}) {
        execution here = how;
        here.decodes = writes;
        const workload step = writes ? workload{.batch = sequences, .sequence = 1, .past = tokens, .head = logits::last}
                                     : workload{.sequence = tokens, .past = 0, .head = logits::last};
        for (const known_kernel& k : with_measurements(kernels_of(whole, step, here), here, from)) {
            const double seconds =
                cost_of(on, k).seconds * (writes ? static_cast<double>(tokens) / static_cast<double>(sequences) : 1);
            all += seconds;
            if (k.known == nullptr)
                none += seconds;
            else if (!k.known->of_another_device && !stands_in(*k.what.shape.family, std::string_view(by.software), k.known))
                own += seconds;
        }
    }
    if (none > all / 2 || devices > how.node) return serving_evidence::datasheet;  // no run over several nodes was measured
    if (own < 0.75 * all) return serving_evidence::stand_ins;
    return has_fitted_runs(on, devices) ? serving_evidence::runs : serving_evidence::kernels;
}

}  // namespace llmcost
