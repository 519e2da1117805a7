// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <llmcost/devices/device.hpp>
#include <llmcost/kernels/kernel_database.hpp>
#include <llmcost/latency/calibration.hpp>
#include <llmcost/latency/operand_types.hpp>
#include <llmcost/latency/operator_types.hpp>
#include <llmcost/serving/engine_calibration.hpp>
#include <llmcost/serving/step.hpp>

// The measured kernels of one engine on one device, for all operator types.
namespace llmcost {

/// Finds the calibrations of a model's kernels. Each file is read once.
class kernel_library final : public kernel_source {
public:
    kernel_library(std::string device, std::string software, std::string version, const std::string& calibration);

    /// The device. `source`: option or column for errors.
    [[nodiscard]] const device& target_device(std::string_view source = "device",
                                              device_lookup lookup = device_lookup::name_or_file) {
        return database_of("gemm").resolve_device(device_, source, lookup);
    }
    /// Sets the options or columns that errors name for the types of products and experts; empty: none.
    void set_type_sources(std::string_view products, std::string_view experts);

    /// The kernel for an operand type, variant and layer shape.
    ///
    /// Fallbacks, in this order: a device with the same chip, other software, another variant (16 bits, other token
    /// distributions, `map`). The last fallback is the same software on another device, by its efficiencies.
    const kernel_calibration* find(const operator_shape& shape) override;
    [[nodiscard]] double time_factor(const operator_shape& shape, bool is_decode_step) const override {
        return factors_.factor(kernel_class_of(shape), is_decode_step);
    }
    /// Sets the factors of kernel times. Servers that were made before keep the previous ones.
    void set_time_factors(const kernel_time_factors& factors) noexcept { factors_ = factors; }
    /// Labels of the requested kernels that are not measured on this device.
    [[nodiscard]] std::set<std::string> unmeasured_kernels() const;
    /// Whether a requested kernel has operands of this type.
    [[nodiscard]] bool has_requested(const operand_type& operand) const;
    /// Whether no requested kernel is measured on any device.
    [[nodiscard]] bool has_no_matches() const;
    /// One warning per other software whose kernels are used.
    [[nodiscard]] std::vector<std::string> warnings();

private:
    /// A requested kernel and its calibration; null if not measured.
    struct requested_kernel {
        const operator_type* family;
        const operand_type* operand;
        std::string variant;
        const kernel_calibration* kernel;
    };
    /// The cache key of a query.
    static std::string key_of(const operator_shape& shape);
    /// Whether two devices have the same chip: equal compute units and peaks, with any memory.
    static bool has_same_chip(const device& a, const device& b) noexcept;
    /// Whether the operand type of a kernel is the requested one, or both are 16-bit types.
    static bool has_same_activation_width(const kernel_calibration& c, const operand_type& requested) noexcept;
    const kernel_calibration* find_measured(kernel_database& database, kernel_query query);
    /// The engine's own kernel, or that of other software if the own one was measured with the host's launch.
    ///
    /// On devices with measured runs, the own kernel remains, as the engine's constants were fitted with it.
    const kernel_calibration* without_host_time(kernel_database& database, const kernel_query& query,
                                                const kernel_calibration& own);
    /// The kernel of the same software on the vendor's device with the nearest bandwidth, with a wider interval.
    ///
    /// Efficiencies differ by 12 to 25 % between generations (KernelSight-LM, arXiv 2606.28565;
    /// docs/accuracy-serving.md).
    const kernel_calibration* find_on_similar_device(kernel_database& database, kernel_query query);
    kernel_database& database_of(const std::string& family);

    kernel_time_factors factors_{};
    std::string device_, software_, version_;
    std::vector<std::string> calibrations_;
    std::string gemm_dtype_key_ = "dtype", experts_dtype_key_ = "experts dtype";
    std::unordered_map<std::string, kernel_database> databases_;
    std::deque<kernel_calibration> adapted_kernels_;
    std::unordered_map<std::string, requested_kernel> requested_kernels_;
    std::set<std::pair<std::string, std::string>>
        fallback_kernels_;  ///< software that is used as a fallback, and the labels of its kernels
};

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/kernels/impl/kernel_library.ipp>  // IWYU pragma: export
#endif
