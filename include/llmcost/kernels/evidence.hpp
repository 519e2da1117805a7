// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/devices/device.hpp>
#include <llmcost/kernels/kernel_database.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/serving/engines.hpp>
#include <llmcost/serving/kernels.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/serving/prediction_intervals.hpp>
#include <llmcost/serving/step.hpp>

// The evidence for the times of a server.
namespace llmcost {

/// Whether the constants of engines are fitted to runs on `num_devices` devices (bench/fit_engines).
[[nodiscard]] constexpr bool has_measured_runs(const device& device, std::int64_t num_devices) noexcept {
    for (const fitted_device& fitted : fitted_devices)
        if (fitted.device == device.names[0]) return num_devices <= fitted.max_devices;
    return false;
}

/// The evidence for the times of a model on a device with an engine.
///
/// Kernels are weighted by their time in the prefill of `tokens` tokens and in `tokens` decode steps of 16 sequences,
/// divided by 16.
[[nodiscard]] serving_evidence find_evidence(const model& model, const execution& execution_config,
                                             const engine& engine, const device& device, kernel_source& kernels,
                                             std::int64_t devices, std::int64_t tokens = 1024);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/kernels/impl/evidence.ipp>  // IWYU pragma: export
#endif
