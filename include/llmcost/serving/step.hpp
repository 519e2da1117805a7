// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <llmcost/devices/device.hpp>
#include <llmcost/latency/calibration.hpp>
#include <llmcost/latency/correction_factors.hpp>
#include <llmcost/latency/operand_types.hpp>
#include <llmcost/latency/operator_types.hpp>
#include <llmcost/latency/roofline.hpp>
#include <llmcost/serving/curve.hpp>
#include <llmcost/serving/model_kernel.hpp>

namespace llmcost {

/// A source of kernel calibrations.
class kernel_source {
public:
    /// The calibration of an operator's kernel; null if it was not measured.
    virtual const kernel_calibration* find(const operator_shape&) = 0;
    /// Factor of the time of an operator's kernels, fitted to runs of an engine (`kernel_time_factors`).
    [[nodiscard]] virtual double time_factor(const operator_shape&, [[maybe_unused]] bool is_decode_step) const {
        return 1;
    }

protected:
    ~kernel_source() = default;
};

/// A kernel of a model with its calibration.
struct known_kernel {
    model_kernel kernel;
    const kernel_calibration* calibration = nullptr;
    correction_table::layer_shape_position layer_shape_position{};
    const operator_type* companion_type =
        nullptr;  ///< the engine's own all-reduce; or the quantization that a product with static scales saves
    const kernel_calibration* companion_calibration = nullptr;
    correction_table::layer_shape_position companion_position{};
    measured_curve curve{}, companion_curve{};  ///< of both, if only sizes along the axes vary; otherwise empty
    double time_factor = 1;                     ///< factor of the time (`kernel_source::time_factor`)

    /// The shape of the companion operator for the sizes of this kernel.
    [[nodiscard]] operator_shape companion_shape_at(const operator_shape& base_shape) const;
    [[nodiscard]] operator_shape companion_shape() const { return companion_shape_at(kernel.shape); }
    [[nodiscard]] bool is_collective() const { return kernel.shape.work().uses_links; }
    /// Whether the measured kernel includes the companion, which need not run.
    [[nodiscard]] bool includes_companion() const { return companion_type != nullptr && !is_collective(); }
};

/// The time of a kernel at its measured sizes, without a saved companion; empty if it was not measured.
[[nodiscard]] measured_curve curve_of(const device& d, const known_kernel& k);

/// Seconds of a kernel of a model.
///
/// An engine uses its own all-reduce if that is faster than NCCL's. A product with static scales saves their
/// computation: the difference at the measured sizes, made monotonic. The result includes `time_factor`.
[[nodiscard]] double predicted_seconds(const device& d, const known_kernel& k);

/// Seconds of a kernel of a model, with their interval and bound.
[[nodiscard]] latency_estimate estimate(const device& d, const known_kernel& k);

/// The cost of kernels that run one after the other.
struct step_cost {
    double seconds = 0;
    double flops = 0;
    double bytes = 0;     ///< to and from memory
    double launches = 0;  ///< kernel launches
    double high_precision_busy = 0,
           low_precision_busy = 0;  ///< seconds at the peak rate of units of at least 16 bits, and of fewer
    double memory_busy = 0;         ///< seconds at the memory bandwidth for necessary traffic
    double link_busy = 0;           ///< seconds at the bandwidth of links between devices

    step_cost& operator+=(const step_cost& cost) noexcept { return add(cost, 1); }
    /// Adds a cost `times` times.
    step_cost& add(const step_cost& cost, double times) noexcept;
    [[nodiscard]] step_cost operator*(double times) const noexcept { return step_cost{}.add(*this, times); }
    /// The cost if the host needs `seconds_per_launch` per kernel. The host runs ahead; the slower of both counts.
    [[nodiscard]] step_cost issued_in(double seconds_per_launch) const noexcept;
};

/// The cost of all runs of a kernel.
[[nodiscard]] step_cost cost_of(const device& d, const known_kernel& k);

/// The time of several kernels with its interval and the bound of most of them.
struct step_time {
    double seconds = 0;
    double lower = 0;
    double upper = 0;
    roofline_bound bound = roofline_bound::launch;
};

/// A sum of kernel times. Errors of different kernels are independent, those of the runs of one kernel are equal.
class summed_time {
public:
    void add(const latency_estimate& e, double times) noexcept;
    /// The time if the host needs `host_seconds` ± 50 % for the launches. The longer of both counts.
    [[nodiscard]] step_time issued_in(double host_seconds) const noexcept;

private:
    double seconds_ = 0, lower_variance_ = 0, upper_variance_ = 0, seconds_by_bound_[3]{};
};

/// Host time of a framework per operation, for dispatch, allocation and launch.
///
/// Source: ai-dynamo/aiconfigurator @095f58a5, custom_allreduce of vLLM 0.24.0 on H200. vLLM's all-reduce takes 20.5 µs
/// eagerly and 4.7 µs in a graph.
inline constexpr double framework_seconds_per_operation = 16e-6;

/// Host seconds per kernel launch; 0 in a CUDA graph.
[[nodiscard]] double seconds_per_launch(const execution& execution, const device& device, kernel_source& kernels);

/// Finds the calibrations of kernels.
[[nodiscard]] std::vector<known_kernel> match_kernels(std::vector<model_kernel> all, const execution& execution,
                                                      kernel_source& kernels);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/serving/impl/step.ipp>  // IWYU pragma: export
#endif
