// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include <llmcost/base/config_view.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/json.hpp>
#include <llmcost/latency/calibration.hpp>
#include <llmcost/latency/correction_factors.hpp>
#include <llmcost/latency/operand_types.hpp>
#include <llmcost/latency/operator_types.hpp>

namespace llmcost {

/// The kernels of a calibration file and the memory that they refer to. Moving it preserves references.
class calibration_document {
public:
    /// Parses a calibration (docs/latency.md). Throws: `config_error` with a JSON pointer.
    explicit calibration_document(const config_document& file);
    calibration_document(calibration_document&&) noexcept = default;
    calibration_document& operator=(calibration_document&&) noexcept = default;

    /// The measured device.
    [[nodiscard]] string_ref device_name() const noexcept { return device_; }
    [[nodiscard]] const std::vector<kernel_calibration>& kernels() const noexcept { return kernels_; }

private:
    /// Bounds measurements, so that times are finite.
    static double positive(config_view object, literal key, double minimum = 1e-6);
    /// log2 of a ratio.
    static double octaves(config_view object, literal key, double minimum, double maximum);
    /// Ascending non-negative integers.
    const std::vector<std::int64_t>& rising_numbers(config_view list);
    /// Parses integers in a string, which is much faster than a JSON array.
    ///
    /// With `group_size`, a comma follows each group except the last.
    const std::vector<std::int64_t>& numbers_in(config_view json, literal key, std::size_t group_size,
                                                std::int64_t minimum, std::int64_t maximum);
    [[noreturn]] static void fail_numbers(config_view json, literal key, const std::string& expected, std::size_t n) {
        throw_invalid_value(json, key, (expected + " number " + std::to_string(n)).c_str());
    }
    /// One number per layer shape.
    const std::vector<std::int64_t>& parse_layer_shape_list(config_view json, literal key, std::size_t count,
                                                            std::int64_t minimum);
    /// Throws: `config_error` for an unknown key, so that a misspelled key does not count as missing.
    static void check_keys(config_view object, std::initializer_list<literal> keys);
    template <class Row, std::size_t count>
    static std::string require_one_of(const Row (&table)[count]) {
        std::string names;
        for (const Row& row : table) names += (names.empty() ? "one of " : ", ") + std::string(row.name);
        return names;
    }
    void parse_kernel(config_view json);
    static mixed_decode_kind parse_mixed_decode_mode(config_view json, string_ref family);
    static cross_validation_error read_error(config_view json);
    correction_table parse_correction(config_view json, const operator_type& family);

    std::vector<std::shared_ptr<const char[]>> characters_;
    string_ref device_{};
    std::vector<kernel_calibration> kernels_;
    std::deque<std::vector<std::int64_t>>
        numbers_;  // referenced by the correction tables; a deque does not move its elements
    std::deque<std::vector<double>> octaves_;
    std::deque<std::vector<string_ref>> pages_;
};

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/kernels/impl/calibration_file.ipp>  // IWYU pragma: export
#endif
