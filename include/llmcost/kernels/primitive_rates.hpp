// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/base/string_ref.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/kernels/kernel_database.hpp>
#include <llmcost/latency/calibration.hpp>
#include <llmcost/latency/operand_types.hpp>

// Latency and throughput of single operations of a GPU's compute units.
namespace llmcost {

/// Latency and throughput of a primitive for one operand type.
struct primitive_rate {
    string_ref operation{};  ///< of `vector_costs`
    const operand_type* operand = nullptr;
    const device* target_device = nullptr;
    double latency_seconds = 0;        ///< from an operation to the next one that needs its result
    double operations_per_second = 0;  ///< of all compute units, with independent operations in all threads
    const kernel_calibration* latency_source = nullptr;     ///< null: datasheet
    const kernel_calibration* throughput_source = nullptr;  ///< null: datasheet

    /// Cycles of the clock that the fp32 peak implies; 0 if unknown.
    [[nodiscard]] double latency_cycles() const noexcept { return latency_seconds * target_device->clock_hertz(); }
    /// Operations per cycle and compute unit; 0 if unknown.
    [[nodiscard]] double operations_per_cycle() const noexcept {
        const double cycles = target_device->clock_hertz() * target_device->num_compute_units;
        return cycles > 0 ? operations_per_second / cycles : 0;
    }
};

/// The rate of a primitive, from the slope of the times of two chain lengths.
///
/// Latency: kernel `chained`, one chain in one thread: (t(n₂) − t(n₁)) / (n₂ − n₁). Throughput: kernel `interleaved`,
/// the largest measured number of threads: threads · (n₂ − n₁) / (t(n₂) − t(n₁)). The constant part of both times, the
/// launch, cancels. n₁ and n₂ are the shortest and the longest measured chain.
///
/// `query`: device, software, version and operand. Throws: `usage` as `kernel_database::find_kernel`.
[[nodiscard]] primitive_rate find_primitive_rate(kernel_database& database, kernel_query query, string_ref operation);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/kernels/impl/primitive_rates.ipp>  // IWYU pragma: export
#endif
