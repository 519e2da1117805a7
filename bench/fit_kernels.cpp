// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// Fits calibrations of kernels to tables of measurements:
//
//     fit_kernels OUTPUT_FOLDER ACCURACY.md SOURCE LICENCE SYSTEM__gemm__SOFTWARE__VERSION__gemm_perf.csv...
//
// SOURCE and LICENCE are those of the tables, for the files. A table has the columns kernel_source, gemm_dtype, m, n, k and
// latency_us. One file per device is written, OUTPUT_FOLDER/SYSTEM.json, and a page of errors on what was left out of the
// fit: one in five shapes, by a hash, and again one in five (n, k) with all their m. What is written is then fitted to all
// of them.
#include <llmcost/devices.hpp>
#include <llmcost/latency/calibration.hpp>
#include <llmcost/latency/fit.hpp>
#include <llmcost/report/json_writer.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace llmcost;

constexpr double residual_step = 1.0 / 128;     // half a percent
constexpr std::size_t page_characters = 60000;  // a compiler must take literals of 65536

/// What is left out of a fit: single shapes, or whole (n, k).
enum class left_out { shapes, sites };

struct measurement {
    std::int64_t m = 0, n = 0, k = 0;
    double seconds = 0;

    [[nodiscard]] bool is_held_out(left_out by) const noexcept {
        std::uint64_t h = 0;
        for (const std::int64_t x : {by == left_out::shapes ? m : 0, n, k}) {
            h += static_cast<std::uint64_t>(x) + 0x9e3779b97f4a7c15U;
            h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9U;
            h = (h ^ (h >> 27)) * 0x94d049bb133111ebU;
            h ^= h >> 31;
        }
        return h % 5 == 0;
    }
};

/// One kernel's rows of a table.
struct table {
    std::string system, software, version, kernel, operand;
    std::vector<measurement> rows;
};

std::vector<std::string> split(const std::string& text, std::string_view by) {
    std::vector<std::string> parts;
    std::size_t from = 0;
    for (std::size_t at; (at = text.find(by, from)) != std::string::npos; from = at + by.size())
        parts.push_back(text.substr(from, at - from));
    parts.push_back(text.substr(from));
    return parts;
}

std::vector<table> read_tables(const std::filesystem::path& path) {
    const std::vector<std::string> name = split(path.filename().string(), "__");
    if (name.size() != 5 || name[1] != "gemm")
        throw std::runtime_error(path.string() + ": expected SYSTEM__gemm__SOFTWARE__VERSION__NAME");
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error(path.string() + ": cannot be opened");
    std::map<std::pair<std::string, std::string>, table> found;
    std::map<std::string, std::size_t> column;
    std::string text;
    for (std::size_t line = 1; std::getline(file, text); ++line) {
        if (!text.empty() && text.back() == '\r') text.pop_back();
        const std::vector<std::string> fields = split(text, ",");
        if (line == 1) {
            for (std::size_t i = 0; i < fields.size(); ++i) column[fields[i]] = i;
            continue;
        }
        const auto field = [&](const char* which) -> const std::string& {
            const auto at = column.find(which);
            if (at == column.end() || at->second >= fields.size())
                throw std::runtime_error(path.string() + ":" + std::to_string(line) + ": no column " + which);
            return fields[at->second];
        };
        table& t = found[{field("kernel_source"), field("gemm_dtype")}];
        if (t.rows.empty()) t = {name[0], name[2], name[3], field("kernel_source"), field("gemm_dtype"), {}};
        const auto number = [&](const char* which, auto& into) {
            const std::string& digits = field(which);
            const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), into);
            if (problem != std::errc{} || end != digits.data() + digits.size() || !(into > 0))
                throw std::runtime_error(path.string() + ":" + std::to_string(line) + ": expected a positive number for " +
                                         which + ", found '" + digits + "'");
        };
        measurement r;
        double microseconds = 0;
        number("m", r.m), number("n", r.n), number("k", r.k), number("latency_us", microseconds);
        r.seconds = microseconds * 1e-6;
        t.rows.push_back(r);
    }
    std::vector<table> all;
    for (auto& [key, t] : found) all.push_back(std::move(t));
    return all;
}

/// A calibration with the memory that it looks at.
struct owned_calibration {
    kernel_calibration c;
    std::vector<std::int64_t> sites, centres, units, axis;
    std::vector<std::string> pages;
    std::vector<string_ref> views;
};

/// A deviation at m, interpolated between the measured ones and held beyond them.
double interpolated(const std::vector<measurement>& measured, const std::vector<double>& logs, std::int64_t m) {
    std::size_t i = 0;
    while (i < measured.size() && measured[i].m < m) ++i;
    if (i == measured.size()) return logs.back();
    if (i == 0 || measured[i].m == m) return logs[i];
    const auto octave = [](std::int64_t n) { return std::log2(static_cast<double>(n)); };
    const double share = (octave(m) - octave(measured[i - 1].m)) / (octave(measured[i].m) - octave(measured[i - 1].m));
    return logs[i - 1] * (1 - share) + logs[i] * share;
}

/// The roofline, and what every site deviates from it: times made rising with m, so that more rows never take less.
owned_calibration fit(const table& t, const std::vector<measurement>& rows, const device& d, const operand_row& operand) {
    owned_calibration out;
    out.c.family = "gemm", out.c.software = t.software, out.c.version = t.version, out.c.kernel = t.kernel;
    out.c.operand = operand.name;
    const auto timing_of = [&](const measurement& r) {
        const datasheet_seconds s = seconds_of(d, gemm_work(r.m, r.n, r.k, operand));
        return timing{s.compute, s.memory, r.seconds};
    };
    std::vector<timing> timings;
    std::vector<std::int64_t> lengths;
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<measurement>> sites;
    for (const measurement& r : rows) {
        timings.push_back(timing_of(r));
        lengths.push_back(r.m);
        sites[{r.n, r.k}].push_back(r);
    }
    out.c.base = fit_roofline(timings);
    std::sort(lengths.begin(), lengths.end());
    lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
    out.axis = std::move(lengths);

    const std::size_t per_page = std::max<std::size_t>(1, page_characters / out.axis.size());
    for (auto& [site, measured] : sites) {
        std::sort(measured.begin(), measured.end(), [](const auto& a, const auto& b) { return a.m < b.m; });
        std::vector<double> logs;
        for (const measurement& r : measured) logs.push_back(std::log2(r.seconds));
        logs = rising(logs);
        for (std::size_t i = 0; i < logs.size(); ++i) {
            const timing at = timing_of(measured[i]);
            logs[i] -= std::log2(out.c.base(at.compute, at.memory));
        }
        if (out.sites.size() / 2 % per_page == 0) out.pages.emplace_back();
        out.sites.push_back(site.first), out.sites.push_back(site.second);
        std::vector<double> values;
        for (const std::int64_t m : out.axis) values.push_back(interpolated(measured, logs, m));
        const auto [least, most] = std::minmax_element(values.begin(), values.end());
        const std::int64_t centre = std::lround((*least + *most) / 2 / residual_step);
        std::int64_t unit = 1;
        while ((*most - *least) / 2 > (residual_character::most - 1) * static_cast<double>(unit) * residual_step) unit *= 2;
        out.centres.push_back(centre), out.units.push_back(unit);
        double before = -INFINITY;
        for (std::size_t i = 0; i < values.size(); ++i) {
            const timing at = timing_of({out.axis[i], site.first, site.second, 0});
            const double log_base = std::log2(out.c.base(at.compute, at.memory));
            const auto log_time = [&](std::int64_t units) {
                return log_base + static_cast<double>(centre + unit * units) * residual_step;
            };
            std::int64_t units =
                std::lround((values[i] / residual_step - static_cast<double>(centre)) / static_cast<double>(unit));
            while (log_time(units) < before && units < residual_character::most) ++units;  // rounded times must rise, too
            before = log_time(units);
            out.pages.back() += residual_character::from(units);
        }
    }
    for (const std::string& page : out.pages) out.views.emplace_back(page);
    residual_table& r = out.c.residual;
    r.step = residual_step, r.columns = 2, r.site_count = out.sites.size() / 2, r.sites = out.sites.data();
    r.centres = out.centres.data(), r.units = out.units.data();
    r.axis[0] = out.axis.data(), r.length[0] = out.axis.size();
    r.pages = out.views.data(), r.sites_per_page = per_page;
    return out;
}

/// Six digits: more would only make files longer.
double rounded(double x) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.6g", x);
    return std::stod(digits);
}

double quantile(std::vector<double> values, double q) {
    const auto at = static_cast<std::ptrdiff_t>(q * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), values.begin() + at, values.end());
    return values[static_cast<std::size_t>(at)];
}

/// log2(measured / predicted) of what is left out, by a kernel or without one.
std::vector<double> ratios(const table& t, left_out by, const device& d, const operand_row& operand,
                           const kernel_calibration* known) {
    std::vector<double> logs;
    for (const measurement& r : t.rows) {
        if (!r.is_held_out(by)) continue;
        const latency_estimate e = estimate(d, gemm_shape{r.m, r.n, r.k, &operand}, known);
        logs.push_back(std::log2(r.seconds / e.seconds));
    }
    return logs;
}
/// The same by a fit to the rest.
std::vector<double> held_out(const table& t, left_out by, const device& d, const operand_row& operand) {
    std::vector<measurement> kept;
    for (const measurement& r : t.rows)
        if (!r.is_held_out(by)) kept.push_back(r);
    if (kept.empty() || kept.size() == t.rows.size())
        throw std::runtime_error(t.system + ", " + t.kernel + ", " + t.operand +
                                 ": too few shapes to leave some out of the fit");
    const owned_calibration part = fit(t, kept, d, operand);
    return ratios(t, by, d, operand, &part.c);
}

double median_error(const std::vector<double>& logs) {
    std::vector<double> off;
    for (const double x : logs) off.push_back(std::fabs(std::exp2(x) - 1));
    return quantile(off, 0.5);
}

/// Where nine in ten measurements lie, as factors of the prediction.
std::string factors(const std::vector<double>& logs) {
    char text[64];
    std::snprintf(text, sizeof text, "%.2f to %.2f", std::exp2(quantile(logs, 0.05)), std::exp2(quantile(logs, 0.95)));
    return text;
}

void write(json_writer& json, const owned_calibration& o) {
    const kernel_calibration& c = o.c;
    json.object().member("family", c.family).member("software", c.software).member("version", c.version);
    json.member("kernel", c.kernel).member("operand", c.operand);
    json.key("roofline").object().member("launch_us", rounded(c.base.launch * 1e6));
    json.member("compute_efficiency", rounded(c.base.compute_efficiency));
    json.member("bandwidth_efficiency", rounded(c.base.bandwidth_efficiency))
        .member("smoothness", rounded(c.base.smoothness))
        .end_object();
    json.key("held_out").object().member("rows", c.error.rows).member("median", rounded(c.error.median));
    json.member("low", rounded(c.error.low)).member("high", rounded(c.error.high)).end_object();
    json.key("residual").object().member("step", c.residual.step);
    json.key("m").array(true);
    for (const std::int64_t m : o.axis) json.value(m);
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

void write_file(const std::filesystem::path& path, const std::string& text) {
    std::ofstream out(path, std::ios::binary);
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    if (!out.flush()) throw std::runtime_error(path.string() + ": cannot be written");
}

constexpr const char* page_head =
    "# How far predictions are from measurements\n\n"
    "Made by `fit_kernels` (bench/fit_kernels.cpp) from the tables that docs/latency.md names; not written by hand. Errors "
    "are\n"
    "|predicted / measured - 1| where nothing was fitted to the measurement: one shape in five left out, by a hash of the\n"
    "shape; again one (n, k) in five left out with all its m; and the datasheet with typical efficiencies. Nine in ten of "
    "the\n"
    "measurements are within the interval, as a factor of the prediction.\n\n"
    "| family | device | shapes | median error | interval | of a new (n, k) | uncalibrated | interval |\n"
    "|---|---|---|---|---|---|---|---|\n";
constexpr const char* details_head =
    "\n| family | device | software | kernel | operand | shapes | median error | of a new (n, k) | uncalibrated |\n"
    "|---|---|---|---|---|---|---|---|---|\n";

struct device_errors {
    std::vector<double> all, of_sites, uncalibrated;
};

int run(const std::vector<std::string>& arguments) {
    if (arguments.size() < 5)
        throw std::runtime_error("usage: fit_kernels OUTPUT_FOLDER ACCURACY.md SOURCE LICENCE TABLE.csv...");
    std::map<std::string, std::vector<table>> by_device;
    for (std::size_t i = 4; i < arguments.size(); ++i)
        for (table& t : read_tables(arguments[i])) by_device[t.system].push_back(std::move(t));
    std::string summary, details;
    for (const auto& [system, tables] : by_device) {
        const device* d = find_device(system);
        if (d == nullptr) throw std::runtime_error("no device " + system);
        json_writer json(1);
        json.object().member("device", d->names[0]);
        json.member("source", arguments[2]).member("licence", arguments[3]);
        json.key("kernels").array();
        device_errors errors;
        for (const table& t : tables) {
            const operand_row* operand = find_operand(t.operand);
            if (operand == nullptr) throw std::runtime_error(system + ": no operand " + t.operand);
            if (d->*operand->unit == 0)
                throw std::runtime_error(system + ": no peak for " + t.operand + " in its datasheet");
            const std::vector<double> off = held_out(t, left_out::shapes, *d, *operand);
            const std::vector<double> anew = held_out(t, left_out::sites, *d, *operand);
            const std::vector<double> plain = ratios(t, left_out::shapes, *d, *operand, nullptr);
            owned_calibration whole = fit(t, t.rows, *d, *operand);
            whole.c.error = {static_cast<std::int64_t>(off.size()), median_error(off), quantile(off, 0.05),
                             quantile(off, 0.95)};
            write(json, whole);
            errors.all.insert(errors.all.end(), off.begin(), off.end());
            errors.of_sites.insert(errors.of_sites.end(), anew.begin(), anew.end());
            errors.uncalibrated.insert(errors.uncalibrated.end(), plain.begin(), plain.end());
            char line[256];
            std::snprintf(line, sizeof line, "| GEMM | %s | %s %s | %s | %s | %zu | %.1f %% | %.1f %% | %.1f %% |\n",
                          d->names[0].data(), t.software.c_str(), t.version.c_str(), t.kernel.c_str(), t.operand.c_str(),
                          off.size(), 100 * rounded(median_error(off)), 100 * median_error(anew), 100 * median_error(plain));
            details += line;
        }
        json.end_array().end_object();
        write_file(std::filesystem::path(arguments[0]) / (std::string(d->names[0]) + ".json"), json.text() + '\n');
        char line[256];
        const std::string interval = factors(errors.all), plain_interval = factors(errors.uncalibrated);
        std::snprintf(line, sizeof line, "| GEMM | %s | %zu | %.1f %% | %s | %.1f %% | %.1f %% | %s |\n", d->names[0].data(),
                      errors.all.size(), 100 * median_error(errors.all), interval.c_str(),
                      100 * median_error(errors.of_sites), 100 * median_error(errors.uncalibrated), plain_interval.c_str());
        summary += line;
    }
    write_file(arguments[1], page_head + summary + details_head + details);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run({argv + 1, argv + argc});
    } catch (const std::exception& e) {
        std::fprintf(stderr, "fit_kernels: %s\n", e.what());
        return 1;
    }
}
