// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/report/ticks.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/inline.hpp>

namespace llmcost {

LLMCOST_INLINE std::string tick_label(double value, axis_unit unit) {
    std::array<char, 64> buffer{};
    if (unit == axis_unit::digits) {
        std::snprintf(buffer.data(), buffer.size(),
                      std::fabs(value) < 1e15 && value == std::floor(value) ? "%.0f" : "%.4g", value);
        std::string out(buffer.data());
        if (out.find_first_not_of("0123456789") == std::string::npos)
            for (std::size_t position = out.size(); position > 3; position -= 3) out.insert(position - 3, 1, ',');
        return out;
    }
    const double unit_base = unit == axis_unit::bytes ? 1024 : 1000;
    constexpr std::string_view prefixes = "kMGTPEZYRQ";
    std::size_t power = 0;
    while (std::fabs(value) >= unit_base * 0.9995 && power < prefixes.size()) {
        value /= unit_base;
        ++power;
    }
    std::snprintf(buffer.data(), buffer.size(), std::fabs(value) >= 999.5 ? "%.0f" : "%.3g", value);
    std::string out(buffer.data());
    if (unit == axis_unit::bytes)
        return out + ' ' + (power == 0 ? "B" : (power == 1 ? "K" : std::string(1, prefixes[power - 1])) + "iB");
    return power == 0 ? out : out + ' ' + prefixes[power - 1];
}

LLMCOST_INLINE double round_step(double minimum, axis_unit unit) {
    if (!(minimum > 0)) return 1;
    if (unit == axis_unit::bytes) return std::exp2(std::ceil(std::log2(minimum)));
    const double power = std::pow(10, std::floor(std::log10(minimum)));
    for (const double times : {1.0, 2.0, 5.0})
        if (power * times >= minimum * (1 - 1e-9)) return power * times;
    return power * 10;
}

LLMCOST_INLINE std::vector<axis_tick> axis_ticks(double low, double high, const chart_axis& axis, std::size_t about) {
    std::vector<double> values;
    const double maximum = static_cast<double>(std::max<std::size_t>(1, about));
    if (axis.scale == axis_scale::linear) {
        const double step = round_step((high - low) / maximum, axis.unit);
        const double first = std::ceil(low / step - 1e-9);
        for (double k = first; k * step <= high * (1 + 1e-12) && values.size() < 64; ++k)
            values.push_back(k * step + 0.0);  // converts -0 to 0
    } else {
        const double base = axis.unit == axis_unit::bytes ? 2 : 10;
        const double log_begin = std::log(low) / std::log(base), to = std::log(high) / std::log(base);
        const double exponent_step = std::max(1.0, std::round((to - log_begin) / maximum));
        const double stride =
            base > 2 ? exponent_step : round_step(exponent_step, axis_unit::number);  // powers of two: 1, 2, 5, 10
        for (double k = std::ceil(log_begin / stride - 1e-9) * stride; k <= to + 1e-9; k += stride)
            values.push_back(std::pow(base, k));
        if (values.size() < 3 && base > 2) {
            values.clear();
            for (double k = std::floor(log_begin); k <= to; ++k)
                for (const double times : {1.0, 2.0, 5.0})
                    if (const double v = times * std::pow(base, k); v >= low * (1 - 1e-9) && v <= high * (1 + 1e-9))
                        values.push_back(v);
        }
    }
    std::vector<axis_tick> out;
    for (const double v : values) out.push_back({v, tick_label(v, axis.unit)});
    return out;
}

LLMCOST_INLINE std::vector<axis_tick> thinned(std::vector<axis_tick> ticks, double available_width,
                                              double (*width_of)(std::string_view)) {
    double widest = 0;
    for (const axis_tick& t : ticks) widest = std::max(widest, width_of(t.label));
    const auto fit = std::max<std::size_t>(1, static_cast<std::size_t>(available_width / (widest + 10)));
    const std::size_t stride = (ticks.size() + fit - 1) / fit;
    if (stride <= 1) return ticks;
    std::vector<axis_tick> out;
    for (std::size_t i = (ticks.size() - 1) % stride; i < ticks.size(); i += stride) out.push_back(std::move(ticks[i]));
    return out;
}

}  // namespace llmcost
