// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel_tables.hpp"

#include <llmcost/kernels/fit.hpp>
#include <llmcost/latency/calibration.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Fitting one kernel to its measurements (docs/latency.md).
namespace llmcost::bench {

inline constexpr double residual_step = 1.0 / 128;     // half a percent
inline constexpr std::size_t page_characters = 60000;  // a compiler must take literals of 65536

/// A calibration with the memory that it looks at.
struct owned_calibration {
    kernel_calibration c;
    std::vector<std::int64_t> sites, centres, units, axes[2];
    std::vector<std::string> pages;
    std::vector<string_ref> views;
};

inline double octave(std::int64_t n) { return std::log2(static_cast<double>(n < 1 ? 1 : n)); }

/// What is measured around a place along one axis: interpolated where it lies between two, else the nearest.
struct axis_estimate {
    bool has_neighbor = false;
    bool is_interpolated = false;
    double value = 0;
    double octaves = 0;  ///< to the nearest, where it lies between none
};
inline axis_estimate interpolate_axis(const std::vector<double>& values, const std::vector<bool>& known,
                                      const std::vector<std::int64_t>& axis, std::size_t first, std::size_t step,
                                      std::size_t index) {
    std::ptrdiff_t low = static_cast<std::ptrdiff_t>(index) - 1;
    std::size_t high = index + 1;
    const auto cell = [&](std::size_t i) { return first + i * step; };
    while (low >= 0 && !known[cell(static_cast<std::size_t>(low))]) --low;
    while (high < axis.size() && !known[cell(high)]) ++high;
    if (low < 0 && high == axis.size()) return {};
    if (low < 0) return {true, false, values[cell(high)], octave(axis[high]) - octave(axis[index])};
    const double low_value = values[cell(static_cast<std::size_t>(low))];
    if (high == axis.size())
        return {true, false, low_value, octave(axis[index]) - octave(axis[static_cast<std::size_t>(low)])};
    const double low_octave = octave(axis[static_cast<std::size_t>(low)]), to = octave(axis[high]);
    const double share = (octave(axis[index]) - low_octave) / (to - low_octave);
    return {true, true, low_value * (1 - share) + values[cell(high)] * share};
}

/// Fills what was not measured: from both sides along both axes where there are some, else from the nearest.
inline void fill(std::vector<double>& values, std::vector<bool> known, const std::vector<std::int64_t> (&axes)[2]) {
    const std::size_t columns = axes[1].size();
    for (const bool extends : {false, true, true}) {
        std::vector<double> filled = values;
        std::vector<bool> now = known;
        for (std::size_t i = 0; i < axes[0].size(); ++i)
            for (std::size_t k = 0; k < columns; ++k) {
                const std::size_t index = i * columns + k;
                if (known[index]) continue;
                const axis_estimate a = interpolate_axis(values, known, axes[0], k, columns, i);
                const axis_estimate b = interpolate_axis(values, known, axes[1], i * columns, 1, k);
                if (a.is_interpolated || b.is_interpolated)
                    filled[index] = a.is_interpolated && b.is_interpolated ? (a.value + b.value) / 2
                                    : a.is_interpolated                    ? a.value
                                                                           : b.value;
                else if (extends && (a.has_neighbor || b.has_neighbor))
                    filled[index] = b.has_neighbor && (!a.has_neighbor || b.octaves <= a.octaves) ? b.value : a.value;
                else
                    continue;
                now[index] = true;
            }
        values = std::move(filled);
        known = std::move(now);
    }
}

/// The shape of a site at a place on its axes; no size is added. Its given sizes are those of the nearest measurement,
/// in proportion along the last axis (elements that are moved, keys of an encoder).
inline operator_shape shape_near(const std::vector<const measurement*>& measured,
                                 const std::int64_t (&coordinates)[2]) {
    const operator_type& family = *measured.front()->shape.type;
    const std::size_t last = family.num_axes - 1, first_scaled = family.num_axes + family.num_layer_shape_sizes;
    operator_shape shape = measured.front()->shape;
    double minimum = INFINITY;
    for (const measurement* r : measured) {
        if (family.size_count == first_scaled) break;
        double distance = 0;
        for (std::size_t a = 0; a < family.num_axes; ++a)
            distance += std::fabs(octave(r->shape.sizes[a]) - octave(coordinates[a]));
        if (distance < minimum) {
            minimum = distance;
            shape = r->shape;
        }
    }
    const double share =
        static_cast<double>(coordinates[last]) / static_cast<double>(std::max<std::int64_t>(shape.sizes[last], 1));
    for (std::size_t i = first_scaled; i < family.size_count; ++i) {
        if (family.sizes[i].role == size_role::additive)
            shape.sizes[i] = 0;
        else
            shape.sizes[i] = std::llround(static_cast<double>(shape.sizes[i]) * share);
    }
    for (std::size_t a = 0; a < family.num_axes; ++a) shape.sizes[a] = coordinates[a];
    return shape;
}

/// The default roofline of an operator type, slower by the mean ratio of measurements. One size along a critical path
/// does not determine more.
inline roofline scaled_typical(const operator_shape& shape, const std::vector<timing>& timings) {
    roofline scaled = llmcost::detail::typical_of(shape).roofline_model;
    double log_ratio = 0;
    for (const timing& t : timings) log_ratio += std::log(t.measured / scaled(t.compute, t.memory));
    const double ratio = std::exp(log_ratio / static_cast<double>(timings.size()));
    scaled.launch *= ratio;
    scaled.compute_efficiency /= ratio;
    return scaled;
}

/// The roofline, and what every site deviates from it: times made rising along the axes, so that more never takes less.
inline owned_calibration fit(const table& t, const std::vector<measurement>& rows, const device& d) {
    const operator_type& family = *t.family;
    owned_calibration out;
    out.c.device = t.system;
    out.c.past_bandwidth_efficiency = t.past_bandwidth_efficiency;
    out.c.family = family.name;
    out.c.software = t.software;
    out.c.version = t.version;
    out.c.kernel = t.kernel;
    out.c.operand = rows.front().shape.operand->name;
    out.c.variant = t.variant;
    out.c.work_fraction = t.work_share();
    const auto timing_of = [&](operator_shape shape, double seconds) {
        shape.variant = t.variant;
        const datasheet_seconds s = roofline_terms(d, llmcost::detail::work_of(shape, &out.c));
        return timing{s.compute, s.memory, seconds};
    };
    std::vector<timing> timings;
    std::map<std::vector<std::int64_t>, std::vector<const measurement*>> sites;
    for (const measurement& r : rows) {
        timings.push_back(timing_of(r.shape, r.seconds));
        for (std::size_t a = 0; a < family.num_axes; ++a) out.axes[a].push_back(r.shape.sizes[a]);
        sites[{r.shape.layer_shape(), r.shape.layer_shape() + family.num_layer_shape_sizes}].push_back(&r);
    }
    for (std::size_t a = family.num_axes; a < 2; ++a) out.axes[a].push_back(1);
    for (std::vector<std::int64_t>& axis : out.axes) {
        std::sort(axis.begin(), axis.end());
        axis.erase(std::unique(axis.begin(), axis.end()), axis.end());
        // below the first place another axis' deviations would be held on a smaller roofline, and times could fall
        // along it
        if (family.num_axes > 1 && axis.front() > 1) axis.insert(axis.begin(), 1);
    }
    const bool has_critical_path =
        std::any_of(rows.begin(), rows.end(), [](const measurement& r) { return r.shape.work().has_critical_path(); });
    out.c.roofline_model = has_critical_path && out.axes[0].size() == 1
                               ? scaled_typical(rows.front().shape, timings)
                               : fit_roofline(timings, 4000, t.min_launch, has_critical_path ? 16 : 1);
    const std::size_t columns = out.axes[1].size(), cells = out.axes[0].size() * columns;
    const std::size_t per_page = std::max<std::size_t>(1, page_characters / cells);
    for (const auto& [layer_shape, measured] : sites) {
        const auto place = [&](std::size_t a, std::int64_t n) {
            return static_cast<std::size_t>(std::lower_bound(out.axes[a].begin(), out.axes[a].end(), n) -
                                            out.axes[a].begin());
        };
        std::vector<double> base(cells), values(cells), times(cells);
        std::vector<bool> known(cells);
        std::vector<int> n(cells);
        const auto log_base = [&](const operator_shape& shape) {
            const timing terms = timing_of(shape, 0);
            return std::log2(out.c.roofline_model(terms.compute, terms.memory));
        };
        for (std::size_t i = 0; i < cells; ++i) {
            std::int64_t coordinates[2]{};
            for (std::size_t a = 0; a < family.num_axes; ++a)
                coordinates[a] = out.axes[a][a == 0 ? i / columns : i % columns];
            base[i] = log_base(shape_near(measured, coordinates));
        }
        const std::size_t added = family.additive_size_index();
        for (const measurement* r : measured) {
            if (added < family.size_count && r->shape.sizes[added] != 0) continue;  // the roofline has what that adds
            const std::size_t row = place(0, r->shape.sizes[0]);
            const std::size_t index = row * columns + (family.num_axes > 1 ? place(1, r->shape.sizes[1]) : 0);
            values[index] = (values[index] * n[index] + std::log2(r->seconds) - log_base(r->shape)) / (n[index] + 1);
            known[index] = true;
            ++n[index];
        }
        fill(values, known, out.axes);
        for (std::size_t i = 0; i < cells; ++i) times[i] = base[i] + values[i];
        times = make_monotonic(times, out.axes[0].size());
        for (std::size_t i = 0; i < cells; ++i) values[i] = times[i] - base[i];

        if (out.centres.size() % per_page == 0) out.pages.emplace_back();
        out.sites.insert(out.sites.end(), layer_shape.begin(), layer_shape.end());
        const auto [minimum, maximum] = std::minmax_element(values.begin(), values.end());
        const std::int64_t centre = std::lround((*minimum + *maximum) / 2 / residual_step);
        std::int64_t unit = 1;
        while ((*maximum - *minimum) / 2 > (correction_code::max_units - 1) * static_cast<double>(unit) * residual_step)
            unit *= 2;
        out.centres.push_back(centre);
        out.units.push_back(unit);
        for (std::size_t i = 0; i < cells; ++i) {
            const auto log_time = [&](std::int64_t units) {
                return base[i] + static_cast<double>(centre + unit * units) * residual_step;
            };
            double min_log_time = -INFINITY;  // rounded times must rise, too
            if (i >= columns) min_log_time = times[i - columns];
            if (i % columns != 0) min_log_time = std::max(min_log_time, times[i - 1]);
            std::int64_t units =
                std::lround((values[i] / residual_step - static_cast<double>(centre)) / static_cast<double>(unit));
            while (log_time(units) < min_log_time && units < correction_code::max_units) ++units;
            times[i] = log_time(units);
            out.pages.back() += correction_code::encode(units);
        }
    }
    for (const std::string& page : out.pages) out.views.emplace_back(page);
    correction_table& r = out.c.correction;
    r.step = residual_step;
    r.columns = family.num_layer_shape_sizes;
    r.num_layer_shapes = out.centres.size();
    r.sites = out.sites.data();
    r.centres = out.centres.data();
    r.units = out.units.data();
    for (std::size_t a = 0; a < 2; ++a) {
        r.axis[a] = out.axes[a].data();
        r.length[a] = out.axes[a].size();
    }
    r.pages = out.views.data();
    r.sites_per_page = per_page;
    return out;
}

}  // namespace llmcost::bench
