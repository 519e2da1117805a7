// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel_tables.hpp"
#include "layout_tables.hpp"

#include <llmcost/devices.hpp>
#include <llmcost/latency/calibration.hpp>
#include <llmcost/latency/fit.hpp>
#include <llmcost/report/json_writer.hpp>

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

// Fitting calibrations to tables of measurements (docs/latency.md).
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
struct seen_along {
    bool any = false;
    bool between = false;
    double value = 0;
};
inline seen_along look_along(const std::vector<double>& values, const std::vector<bool>& known,
                             const std::vector<std::int64_t>& axis, std::size_t first, std::size_t step, std::size_t at) {
    std::ptrdiff_t low = static_cast<std::ptrdiff_t>(at) - 1;
    std::size_t high = at + 1;
    const auto cell = [&](std::size_t i) { return first + i * step; };
    while (low >= 0 && !known[cell(static_cast<std::size_t>(low))]) --low;
    while (high < axis.size() && !known[cell(high)]) ++high;
    if (low < 0 && high == axis.size()) return {};
    if (low < 0) return {true, false, values[cell(high)]};
    const double before = values[cell(static_cast<std::size_t>(low))];
    if (high == axis.size()) return {true, false, before};
    const double from = octave(axis[static_cast<std::size_t>(low)]), to = octave(axis[high]);
    const double share = (octave(axis[at]) - from) / (to - from);
    return {true, true, before * (1 - share) + values[cell(high)] * share};
}

/// Fills what was not measured: from both sides along both axes where there are some, else from the nearest.
inline void fill(std::vector<double>& values, std::vector<bool> known, const std::vector<std::int64_t> (&axes)[2]) {
    const std::size_t columns = axes[1].size();
    for (const bool extends : {false, true, true}) {
        std::vector<double> filled = values;
        std::vector<bool> now = known;
        for (std::size_t i = 0; i < axes[0].size(); ++i)
            for (std::size_t k = 0; k < columns; ++k) {
                const std::size_t at = i * columns + k;
                if (known[at]) continue;
                const seen_along a = look_along(values, known, axes[0], k, columns, i);
                const seen_along b = look_along(values, known, axes[1], i * columns, 1, k);
                if (a.between || b.between)
                    filled[at] = a.between && b.between ? (a.value + b.value) / 2 : a.between ? a.value : b.value;
                else if (extends && (a.any || b.any))
                    filled[at] = b.any ? b.value : a.value;
                else
                    continue;
                now[at] = true;
            }
        values = std::move(filled), known = std::move(now);
    }
}

/// The shape of a site at a place on its axes: its given sizes are those of the nearest measurement in proportion along the
/// last axis (elements that are moved, keys of an encoder), tokens that stand before the new ones the fewest.
inline operator_shape shape_near(const std::vector<const measurement*>& measured, const std::int64_t (&along)[2]) {
    const operator_family& family = *measured.front()->shape.family;
    const std::size_t last = family.axes - 1, given = family.axes + family.sites;
    operator_shape shape = measured.front()->shape;
    double least = INFINITY;
    for (const measurement* r : measured) {
        if (family.size_count == given) break;
        double distance = 0;
        for (std::size_t a = 0; a < family.axes; ++a) distance += std::fabs(octave(r->shape.sizes[a]) - octave(along[a]));
        if (distance < least) least = distance, shape = r->shape;
    }
    const double share =
        static_cast<double>(along[last]) / static_cast<double>(std::max<std::int64_t>(shape.sizes[last], 1));
    for (std::size_t i = given; i < family.size_count; ++i) {
        if (family.sizes[i].past)
            for (const measurement* r : measured) shape.sizes[i] = std::min(shape.sizes[i], r->shape.sizes[i]);
        else
            shape.sizes[i] = std::llround(static_cast<double>(shape.sizes[i]) * share);
    }
    for (std::size_t a = 0; a < family.axes; ++a) shape.sizes[a] = along[a];
    return shape;
}

/// The roofline, and what every site deviates from it: times made rising along the axes, so that more never takes less.
inline owned_calibration fit(const table& t, const std::vector<measurement>& rows, const device& d) {
    const operator_family& family = *t.family;
    owned_calibration out;
    out.c.family = family.name, out.c.software = t.software, out.c.version = t.version, out.c.kernel = t.kernel;
    out.c.operand = rows.front().shape.operand->name, out.c.variant = t.variant, out.c.work_share = t.work_share();
    const auto timing_of = [&](operator_shape shape, double seconds) {
        shape.variant = t.variant;
        const datasheet_seconds s = seconds_of(d, llmcost::detail::work_of(shape, &out.c));
        return timing{s.compute, s.memory, seconds};
    };
    std::vector<timing> timings;
    std::map<std::vector<std::int64_t>, std::vector<const measurement*>> sites;
    for (const measurement& r : rows) {
        timings.push_back(timing_of(r.shape, r.seconds));
        for (std::size_t a = 0; a < family.axes; ++a) out.axes[a].push_back(r.shape.sizes[a]);
        sites[{r.shape.site(), r.shape.site() + family.sites}].push_back(&r);
    }
    for (std::size_t a = family.axes; a < 2; ++a) out.axes[a].push_back(1);
    out.c.base = fit_roofline(timings, 4000, t.least_launch);
    for (std::vector<std::int64_t>& axis : out.axes) {
        std::sort(axis.begin(), axis.end());
        axis.erase(std::unique(axis.begin(), axis.end()), axis.end());
        // below the first place another axis' deviations would be held on a smaller roofline, and times could fall along it
        if (family.axes > 1 && axis.front() > 1) axis.insert(axis.begin(), 1);
    }
    const std::size_t columns = out.axes[1].size(), cells = out.axes[0].size() * columns;
    const std::size_t per_page = std::max<std::size_t>(1, page_characters / cells);
    for (const auto& [site, measured] : sites) {
        const auto place = [&](std::size_t a, std::int64_t n) {
            return static_cast<std::size_t>(std::lower_bound(out.axes[a].begin(), out.axes[a].end(), n) -
                                            out.axes[a].begin());
        };
        std::vector<double> base(cells), values(cells), times(cells);
        std::vector<bool> known(cells);
        std::vector<int> n(cells);
        const auto log_base = [&](const operator_shape& shape) {
            const timing at = timing_of(shape, 0);
            return std::log2(out.c.base(at.compute, at.memory));
        };
        for (std::size_t i = 0; i < cells; ++i) {
            std::int64_t along[2]{};
            for (std::size_t a = 0; a < family.axes; ++a) along[a] = out.axes[a][a == 0 ? i / columns : i % columns];
            base[i] = log_base(shape_near(measured, along));
        }
        for (const measurement* r : measured) {
            const std::size_t row = place(0, r->shape.sizes[0]);
            const std::size_t at = row * columns + (family.axes > 1 ? place(1, r->shape.sizes[1]) : 0);
            values[at] = (values[at] * n[at] + std::log2(r->seconds) - log_base(r->shape)) / (n[at] + 1);
            known[at] = true, ++n[at];
        }
        fill(values, known, out.axes);
        for (std::size_t i = 0; i < cells; ++i) times[i] = base[i] + values[i];
        times = rising(times, out.axes[0].size());
        for (std::size_t i = 0; i < cells; ++i) values[i] = times[i] - base[i];

        if (out.centres.size() % per_page == 0) out.pages.emplace_back();
        out.sites.insert(out.sites.end(), site.begin(), site.end());
        const auto [least, most] = std::minmax_element(values.begin(), values.end());
        const std::int64_t centre = std::lround((*least + *most) / 2 / residual_step);
        std::int64_t unit = 1;
        while ((*most - *least) / 2 > (residual_character::most - 1) * static_cast<double>(unit) * residual_step) unit *= 2;
        out.centres.push_back(centre), out.units.push_back(unit);
        for (std::size_t i = 0; i < cells; ++i) {
            const auto log_time = [&](std::int64_t units) {
                return base[i] + static_cast<double>(centre + unit * units) * residual_step;
            };
            double before = -INFINITY;  // rounded times must rise, too
            if (i >= columns) before = times[i - columns];
            if (i % columns != 0) before = std::max(before, times[i - 1]);
            std::int64_t units =
                std::lround((values[i] / residual_step - static_cast<double>(centre)) / static_cast<double>(unit));
            while (log_time(units) < before && units < residual_character::most) ++units;
            times[i] = log_time(units);
            out.pages.back() += residual_character::from(units);
        }
    }
    for (const std::string& page : out.pages) out.views.emplace_back(page);
    residual_table& r = out.c.residual;
    r.step = residual_step, r.columns = family.sites, r.site_count = out.centres.size(), r.sites = out.sites.data();
    r.centres = out.centres.data(), r.units = out.units.data();
    for (std::size_t a = 0; a < 2; ++a) r.axis[a] = out.axes[a].data(), r.length[a] = out.axes[a].size();
    r.pages = out.views.data(), r.sites_per_page = per_page;
    return out;
}

/// Six digits: more would only make files longer.
inline double rounded(double x) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.6g", x);
    return std::stod(digits);
}

inline double quantile(std::vector<double> values, double q) {
    const auto at = static_cast<std::ptrdiff_t>(q * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), values.begin() + at, values.end());
    return values[static_cast<std::size_t>(at)];
}

/// log2(measured / predicted) of what is left out, by a kernel or without one.
inline std::vector<double> ratios(const table& t, left_out by, const device& d, const kernel_calibration* known) {
    std::vector<double> logs;
    for (const measurement& r : t.rows) {
        if (!r.is_held_out(by)) continue;
        operator_shape shape = r.shape;
        shape.variant = t.variant;
        logs.push_back(std::log2(r.seconds / estimate(d, shape, known).seconds));
    }
    return logs;
}
/// The same by a fit to the rest; nothing where too few are left or left out.
inline std::vector<double> held_out(const table& t, left_out by, const device& d) {
    std::vector<measurement> kept;
    for (const measurement& r : t.rows)
        if (!r.is_held_out(by)) kept.push_back(r);
    if (kept.empty() || kept.size() == t.rows.size()) return {};
    const owned_calibration part = fit(t, kept, d);
    return ratios(t, by, d, &part.c);
}

inline double median_error(const std::vector<double>& logs) {
    if (logs.empty()) return NAN;
    std::vector<double> off;
    for (const double x : logs) off.push_back(std::fabs(std::exp2(x) - 1));
    return quantile(off, 0.5);
}

/// Where nine in ten measurements lie, as factors of the prediction.
inline std::string factors(const std::vector<double>& logs) {
    if (logs.empty()) return "-";
    char text[64];
    std::snprintf(text, sizeof text, "%.2f to %.2f", std::exp2(quantile(logs, 0.05)), std::exp2(quantile(logs, 0.95)));
    return text;
}

inline void write(json_writer& json, const owned_calibration& o) {
    const kernel_calibration& c = o.c;
    json.object().member("family", c.family).member("software", c.software).member("version", c.version);
    json.member("kernel", c.kernel).member("operand", c.operand);
    if (!c.variant.empty()) json.member("variant", c.variant);
    if (c.work_share != 1) json.member("work_share", rounded(c.work_share));
    json.key("roofline").object().member("launch_us", rounded(c.base.launch * 1e6));
    json.member("compute_efficiency", rounded(c.base.compute_efficiency));
    json.member("bandwidth_efficiency", rounded(c.base.bandwidth_efficiency))
        .member("smoothness", rounded(c.base.smoothness))
        .end_object();
    json.key("held_out").object().member("rows", c.error.rows).member("median", rounded(c.error.median));
    json.member("low", rounded(c.error.low)).member("high", rounded(c.error.high)).end_object();
    json.key("residual").object().member("step", c.residual.step);
    json.key("axes").array();
    for (std::size_t a = 0; a < find_family(c.family)->axes; ++a) {
        json.array(true);
        for (const std::int64_t n : o.axes[a]) json.value(n);
        json.end_array();
    }
    json.end_array().key("sites").array(true);
    for (const std::int64_t n : o.sites) json.value(n);
    json.end_array().key("centres").array(true);
    for (const std::int64_t n : o.centres) json.value(n);
    json.end_array().key("units").array(true);
    for (const std::int64_t n : o.units) json.value(n);
    json.end_array().member("sites_per_page", static_cast<std::int64_t>(c.residual.sites_per_page)).key("pages").array();
    for (const std::string& page : o.pages) json.value(page);
    json.end_array().end_object().end_object();
}

inline void write_file(const std::filesystem::path& path, const std::string& text) {
    std::ofstream out(path, std::ios::binary);
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    if (!out.flush()) throw std::runtime_error(path.string() + ": cannot be written");
}

inline constexpr const char* page_head =
    "# How far predictions are from measurements\n\n"
    "Made by `fit_kernels` (bench/fit_kernels.cpp) from the tables that docs/latency.md names; not written by hand. Errors "
    "are\n"
    "|predicted / measured - 1| where nothing was fitted to the measurement: one shape in five left out, by a hash of the\n"
    "shape; again one site in five (the sizes of a layer: n and k, heads, experts) left out with all that was measured\n"
    "there; and the datasheet with typical efficiencies. Nine in ten of the measurements are within the interval, as a\n"
    "factor of the prediction.\n\n"
    "| family | device | measured by | shapes | median error | interval | of a new site | uncalibrated | interval |\n"
    "|---|---|---|---|---|---|---|---|---|\n";
inline constexpr const char* details_head =
    "\n| family | device | software | kernel | operand | shapes | median error | of a new site | uncalibrated |\n"
    "|---|---|---|---|---|---|---|---|---|\n";

struct errors_of_kernels {
    std::vector<double> all, of_sites, uncalibrated;

    void add(const errors_of_kernels& more) {
        all.insert(all.end(), more.all.begin(), more.all.end());
        of_sites.insert(of_sites.end(), more.of_sites.begin(), more.of_sites.end());
        uncalibrated.insert(uncalibrated.end(), more.uncalibrated.begin(), more.uncalibrated.end());
    }
};

inline std::string percent(const std::vector<double>& logs) {
    if (logs.empty()) return "-";
    char text[32];
    std::snprintf(text, sizeof text, "%.1f %%", 100 * rounded(median_error(logs)));
    return text;
}

/// The interval of a kernel that has too few shapes to leave some out: twice what its own deviate from the roofline that was
/// fitted to them, and a tenth at least.
inline held_out_error error_in_sample(const table& t, const device& d, kernel_calibration fitted) {
    fitted.residual = {};
    std::vector<double> logs;
    for (measurement r : t.rows) {
        r.shape.variant = t.variant;
        logs.push_back(std::log2(r.seconds / estimate(d, r.shape, &fitted).seconds));
    }
    const double least = std::log2(1.1);
    return {0, median_error(logs), std::min(-least, 2 * quantile(logs, 0.05)), std::max(least, 2 * quantile(logs, 0.95))};
}

inline errors_of_kernels fit_and_write(json_writer& json, const table& t, const device& d) {
    operator_shape first = t.rows.front().shape;
    first.variant = t.variant;
    if (!can_price(d, first.work()))
        throw std::runtime_error(t.system + ": no peak or bandwidth for " + t.words() + " in its datasheet");
    const errors_of_kernels e{held_out(t, left_out::shapes, d), held_out(t, left_out::sites, d),
                              ratios(t, left_out::shapes, d, nullptr)};
    owned_calibration whole = fit(t, t.rows, d);
    if (e.all.empty())
        whole.c.error = error_in_sample(t, d, whole.c);
    else
        whole.c.error = {static_cast<std::int64_t>(e.all.size()), median_error(e.all), std::min(0.0, quantile(e.all, 0.05)),
                         std::max(0.0, quantile(e.all, 0.95))};
    write(json, whole);
    return e;
}

/// Fits all kernels of these tables: calibrations into DEVICE/FAMILY/SOFTWARE-VERSION/OPERAND-VARIANT.json below a folder,
/// and a page of errors on what was left out. Source and licence are of tables in our own layout; others have theirs.
inline void fit_tables(const std::filesystem::path& output, const std::filesystem::path& accuracy, const std::string& source,
                       const std::string& licence, const std::vector<std::string>& paths) {
    // by family in their order, then by device, then by software
    std::map<std::pair<const operator_family*, std::string>, std::map<std::string, std::vector<table>>> files;
    const auto sort_in = [&](std::vector<table> tables) {
        for (table& t : tables) {
            const device* d = find_device(t.system);
            if (d == nullptr) throw std::runtime_error("no device " + t.system);
            t.system = std::string(d->names[0]);
            files[{t.family, t.system}][t.software + '-' + t.version].push_back(std::move(t));
        }
    };
    layout_reader others;
    for (const std::string& path : paths)
        if (layout_of(path) != nullptr)
            others.read(path);
        else
            sort_in(read_tables(path, source, licence));
    sort_in(others.tables());
    std::string summary, details;
    for (const auto& [key, of_software] : files) {
        const auto& [family, name] = key;
        const device* d = find_device(name);
        const std::string kind(family->name);
        const std::filesystem::path folder = output / name / kind;
        std::filesystem::create_directories(folder);
        std::map<std::string, errors_of_kernels> of_sources;  // laboratories measure differently: none hides in another
        for (const auto& [software, tables] : of_software) {
            std::map<std::string, json_writer>
                files_of;  // a file for each operand and variant: few of them are read at a time
            for (const table& t : tables) {
                const std::string operand(find_operand(t.operand)->name), variant = t.variant.empty() ? "" : '-' + t.variant;
                const auto [file, fresh] = files_of.try_emplace(operand + variant, 1);
                json_writer& json = file->second;
                if (fresh) {
                    json.object().member("device", name).member("source", t.source).member("licence", t.licence);
                    json.key("kernels").array();
                }
                const errors_of_kernels e = fit_and_write(json, t, *d);
                of_sources[t.source].add(e);
                details += "| " + kind + " | " + name + " | " + t.software + ' ' + t.version + " | " + t.kernel + " | " +
                           t.words() + " | " + (e.all.empty() ? "0, its own fit" : std::to_string(e.all.size())) + " | " +
                           percent(e.all) + " | " + percent(e.of_sites) + " | " + percent(e.uncalibrated) + " |\n";
            }
            std::filesystem::create_directories(folder / software);
            for (auto& [file, json] : files_of)
                write_file(folder / software / (file + ".json"), json.end_array().end_object().text() + '\n');
        }
        for (const auto& [whose, errors] : of_sources)
            summary += "| " + kind + " | " + name + " | " + whose.substr(0, whose.find(" @")) + " | " +
                       std::to_string(errors.all.size()) + " | " + percent(errors.all) + " | " + factors(errors.all) +
                       " | " + percent(errors.of_sites) + " | " + percent(errors.uncalibrated) + " | " +
                       factors(errors.uncalibrated) + " |\n";
    }
    std::string not_taken;
    for (const auto& [reason, rows] : others.not_taken)
        not_taken += (not_taken.empty() ? "\nTimes that were not taken: " : "; ") + std::to_string(rows) + ", " + reason;
    write_file(accuracy, page_head + summary + (not_taken.empty() ? "" : not_taken + ".\n") + details_head + details);
}

}  // namespace llmcost::bench
