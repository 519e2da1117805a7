// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// Ticks of an axis and their labels.
namespace llmcost {

enum class axis_scale { linear, logarithmic };
/// The unit of an axis: numbers in powers of 1000, bytes in powers of 1024, or integers with all digits.
enum class axis_unit { number, bytes, digits };

struct chart_axis {
    std::string title;
    axis_scale scale = axis_scale::linear;
    axis_unit unit = axis_unit::number;
};

struct axis_tick {
    double value = 0;
    std::string label;
};

/// A label with at most three digits and a unit (`2.5 T`, `512 MiB`), or with all digits.
[[nodiscard]] std::string tick_label(double value, axis_unit unit);

/// The smallest round step that is at least `minimum`: 1, 2 or 5 times a power of ten; a power of two for bytes.
[[nodiscard]] double round_step(double minimum, axis_unit unit);

/// Round values of an interval, about as many as requested. A logarithmic axis has powers, a short one also 2 and 5
/// times these.
[[nodiscard]] std::vector<axis_tick> axis_ticks(double low, double high, const chart_axis& axis, std::size_t about);

/// Thins ticks out so that labels do not overlap. The last one always remains.
[[nodiscard]] std::vector<axis_tick> thinned(std::vector<axis_tick> ticks, double available_width,
                                             double (*width_of)(std::string_view));

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/report/impl/ticks.ipp>  // IWYU pragma: export
#endif
