// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout_tables.hpp"
#include "mixed_calls.hpp"

#include <llmcost/devices/all.hpp>
#include <llmcost/latency/calibration.hpp>
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
#include <utility>
#include <vector>

// Calibrations from tables of measurements, and a page of their errors (docs/latency.md).
namespace llmcost::bench {

/// Six digits: more would only make files longer.
inline double rounded(double x) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.6g", x);
    return std::stod(digits);
}

inline double quantile(std::vector<double> values, double q) {
    const auto rank = static_cast<std::ptrdiff_t>(q * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), values.begin() + rank, values.end());
    return values[static_cast<std::size_t>(rank)];
}

/// log2(measured / predicted) of what is left out, by a kernel or without one.
inline std::vector<double> ratios(const table& t, left_out holdout, const device& d, const kernel_calibration* known) {
    std::vector<double> logs;
    for (const measurement& r : t.rows) {
        if (!r.is_held_out(holdout)) continue;
        operator_shape shape = r.shape;
        shape.variant = t.variant;
        logs.push_back(std::log2(r.seconds / estimate(d, shape, known).seconds));
    }
    return logs;
}
/// log2(measured / predicted) of what is left out, by a fit to the rest; nothing where too few are left or left out.
inline std::vector<double> held_out_ratios(const table& t, left_out holdout, const device& d) {
    std::vector<measurement> training_rows;
    for (const measurement& r : t.rows)
        if (!r.is_held_out(holdout)) training_rows.push_back(r);
    if (training_rows.empty() || training_rows.size() == t.rows.size()) return {};
    const owned_calibration part = fit(t, training_rows, d);
    return ratios(t, holdout, d, &part.c);
}

/// log2(measured / predicted) of each shape, by a fit to all others (leave-one-out cross-validation).
inline std::vector<double> leave_one_out_ratios(const table& t, const device& d) {
    std::vector<double> logs;
    for (std::size_t i = 0; i < t.rows.size(); ++i) {
        std::vector<measurement> training_rows = t.rows;
        training_rows.erase(training_rows.begin() + static_cast<std::ptrdiff_t>(i));
        const owned_calibration part = fit(t, training_rows, d);
        operator_shape shape = t.rows[i].shape;
        shape.variant = t.variant;
        logs.push_back(std::log2(t.rows[i].seconds / estimate(d, shape, &part.c).seconds));
    }
    return logs;
}

/// log2(measured / predicted) of all rows by the datasheet.
inline std::vector<double> uncalibrated_ratios(const table& t, const device& d) {
    std::vector<double> logs;
    for (const measurement& r : t.rows) {
        operator_shape shape = r.shape;
        shape.variant = t.variant;
        logs.push_back(std::log2(r.seconds / estimate(d, shape, nullptr).seconds));
    }
    return logs;
}

inline double median_error(const std::vector<double>& logs) {
    if (logs.empty()) return NAN;
    std::vector<double> relative_errors;
    for (const double x : logs) relative_errors.push_back(std::fabs(std::exp2(x) - 1));
    return quantile(relative_errors, 0.5);
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
    if (c.work_fraction != 1) json.member("work_share", rounded(c.work_fraction));
    if (c.mixed_decode_mode != mixed_decode_kind::separate_kernel)
        json.member("takes_decodes",
                    c.mixed_decode_mode == mixed_decode_kind::as_prefill_tiles ? "in_tiles" : "in_launch");
    if (c.past_bandwidth_efficiency != 0)
        json.member("past_bandwidth_efficiency", rounded(c.past_bandwidth_efficiency));
    json.key("roofline").object().member("launch_us", rounded(c.roofline_model.launch * 1e6));
    json.member("compute_efficiency", rounded(c.roofline_model.compute_efficiency));
    json.member("bandwidth_efficiency", rounded(c.roofline_model.bandwidth_efficiency))
        .member("smoothness", rounded(c.roofline_model.smoothness))
        .end_object();
    const auto write_error = [&](const char* key, const cross_validation_error& e) {
        json.key(key).object().member("rows", e.num_rows).member("median", rounded(e.median));
        json.member("low", rounded(e.low)).member("high", rounded(e.high)).end_object();
    };
    write_error("held_out", c.error);
    if (c.unseen_shape_error.num_rows != 0) write_error("held_out_sites", c.unseen_shape_error);
    json.key("residual").object().member("step", c.correction.step);
    json.key("axes").array();
    for (std::size_t a = 0; a < find_operator_type(c.family)->num_axes; ++a) {
        json.array(true);
        for (const std::int64_t n : o.axes[a]) json.value(n);
        json.end_array();
    }
    const auto join_numbers = [](const std::vector<std::int64_t>& numbers, std::size_t group_size) {
        std::string text;
        for (std::size_t i = 0; i < numbers.size(); ++i)
            text += (i == 0 ? "" : i % group_size == 0 ? ", " : " ") + std::to_string(numbers[i]);
        return text;
    };
    json.end_array().member("sites", join_numbers(o.sites, c.correction.columns));
    json.member("centres", join_numbers(o.centres, o.centres.size()))
        .member("units", join_numbers(o.units, o.units.size()));
    json.member("sites_per_page", static_cast<std::int64_t>(c.correction.sites_per_page)).key("pages").array();
    for (const std::string& page : o.pages) json.value(page);
    json.end_array().end_object().end_object();
}

inline void write_file(const std::filesystem::path& path, const std::string& text) {
    std::ofstream out(path, std::ios::binary);
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    if (!out.flush()) throw std::runtime_error(path.string() + ": cannot be written");
}

inline constexpr const char* page_head =
    "<!-- SPDX-FileCopyrightText: 2026 The llmcost authors -->\n"
    "<!-- SPDX-License-Identifier: Apache-2.0 -->\n"
    "# Accuracy of operator predictions\n"
    "\n"
    "Generated by `fit_kernels` (bench/fit_kernels.cpp) from the tables that docs/latency.md lists. Do not edit this "
    "page.\n"
    "\n"
    "Errors are medians of |predicted / measured - 1|. They include only measurements that were excluded from the "
    "fit:\n"
    "\n"
    "- `median error`: one shape in five is excluded, selected by a hash of the shape. `shapes` is the number of these "
    "errors.\n"
    "  If a kernel has fewer than three of them, every shape is excluded in turn.\n"
    "- `new layer shape`: one layer shape in five (n and k, heads, experts) is excluded with all its measurements.\n"
    "- `uncalibrated`: predictions from the datasheet with default efficiencies.\n"
    "\n"
    "90 % of the measurements are inside the interval, which is a factor on the predicted time.\n"
    "\n"
    "| operator type | device | measured by | shapes | median error | interval | new layer shape | uncalibrated | "
    "interval |\n"
    "|---|---|---|---|---|---|---|---|---|\n";
inline constexpr const char* calls_head =
    "\n"
    "Mixed attention calls contain prefills and decodes. No fit uses them. `together` predicts all sequences with the "
    "prefill\n"
    "kernel. `apart` predicts prefills with the prefill kernel and decodes with the decode kernel.\n"
    "\n"
    "| device | software | kernel | calls | together | interval | apart | interval |\n"
    "|---|---|---|---|---|---|---|---|\n";
inline constexpr const char* details_head =
    "\n"
    "| operator type | device | software | kernel | operand | shapes | median error | new layer shape | uncalibrated "
    "|\n"
    "|---|---|---|---|---|---|---|---|---|\n";

struct errors_of_kernels {
    std::vector<double> all, unseen_shapes, uncalibrated;

    void add(const errors_of_kernels& errors) {
        all.insert(all.end(), errors.all.begin(), errors.all.end());
        unseen_shapes.insert(unseen_shapes.end(), errors.unseen_shapes.begin(), errors.unseen_shapes.end());
        uncalibrated.insert(uncalibrated.end(), errors.uncalibrated.begin(), errors.uncalibrated.end());
    }
};

inline std::string percent(const std::vector<double>& logs) {
    if (logs.empty()) return "-";
    char text[32];
    std::snprintf(text, sizeof text, "%.1f %%", 100 * rounded(median_error(logs)));
    return text;
}

/// The interval of a kernel that has too few shapes to leave some out: twice what its own deviate from the roofline
/// that was fitted to them, and a tenth at least.
inline cross_validation_error error_in_sample(const table& t, const device& d, kernel_calibration fitted) {
    fitted.correction = {};
    std::vector<double> logs;
    for (measurement r : t.rows) {
        r.shape.variant = t.variant;
        logs.push_back(std::log2(r.seconds / estimate(d, r.shape, &fitted).seconds));
    }
    const double minimum = std::log2(1.1);
    return {0, median_error(logs), std::min(-minimum, 2 * quantile(logs, 0.05)),
            std::max(minimum, 2 * quantile(logs, 0.95))};
}

inline errors_of_kernels fit_and_write(json_writer& json, const table& t, const device& d,
                                       mixed_decode_kind mixed_decode_mode) {
    operator_shape first = t.rows.front().shape;
    first.variant = t.variant;
    if (!has_peak(d, first.work()))
        throw std::runtime_error(t.system + ": no peak or bandwidth for " + t.label() + " in its datasheet");
    errors_of_kernels e{held_out_ratios(t, left_out::shapes, d), held_out_ratios(t, left_out::sites, d),
                        ratios(t, left_out::shapes, d, nullptr)};
    constexpr std::size_t few = 3, min_rows = 4;  // errors; rows, of which three determine a line and a deviation
    if (e.all.size() < few && t.rows.size() >= min_rows) {
        e.all = leave_one_out_ratios(t, d);
        e.uncalibrated = uncalibrated_ratios(t, d);
    }
    owned_calibration calibration = fit(t, t.rows, d);
    const auto error_of = [](const std::vector<double>& logs) -> cross_validation_error {
        const auto rows = static_cast<std::int64_t>(logs.size());
        double low = std::min(0.0, quantile(logs, 0.05)), high = std::max(0.0, quantile(logs, 0.95));
        if (rows < 20) {  // too few to have one in twenty beyond: the farthest, on either side
            for (const double log_ratio : logs) high = std::max(high, std::fabs(log_ratio));
            low = -high;
        }
        return {rows, median_error(logs), low, high};
    };
    calibration.c.mixed_decode_mode = mixed_decode_mode;
    calibration.c.error = e.all.empty() ? error_in_sample(t, d, calibration.c) : error_of(e.all);
    if (!e.unseen_shapes.empty()) calibration.c.unseen_shape_error = error_of(e.unseen_shapes);
    write(json, calibration);
    return e;
}

/// A table of an argument `TABLE.csv` or `TABLE.csv:LABEL`: all of its rows, or those of an operand type, with a
/// variant or with each: `bfloat16`, `bfloat16 balanced`.
struct selected_table {
    std::string path, label;
    explicit selected_table(const std::string& argument) : path(argument) {
        constexpr std::string_view extension = ".csv:";
        const std::size_t end = argument.rfind(extension);
        if (end == std::string::npos) return;
        path = argument.substr(0, end + extension.size() - 1);
        label = argument.substr(end + extension.size());
    }
    [[nodiscard]] bool includes(const table& t) const {
        return label.empty() || label == t.operand || label == t.label();
    }
};

/// Who measured a table, under which licence it is, and whether its kernels may replace those of engines.
struct table_origin {
    std::string source, licence;
    bool replaces_engines = true;
};
/// The lines of a file SOURCE next to a table: source, licence, and `not for engines`; `other` where there is no file.
inline table_origin origin_of(const std::filesystem::path& path, const table_origin& other) {
    std::ifstream file(path.parent_path() / "SOURCE");
    table_origin origin;
    if (!std::getline(file, origin.source) || !std::getline(file, origin.licence)) return other;
    std::string use;
    origin.replaces_engines = !std::getline(file, use) || use != "not for engines";
    return origin;
}

/// Fits all kernels of these tables: calibrations into DEVICE/FAMILY/SOFTWARE-VERSION/OPERAND-VARIANT.json below a
/// folder, and a page of errors on what was left out. Source and licence are of tables in our own layout without a
/// file SOURCE; others have theirs. `own` is a device that has no datasheet here, by its first name.
inline void fit_tables(const std::filesystem::path& output, const std::filesystem::path& accuracy,
                       const std::string& source, const std::string& licence, const std::vector<std::string>& paths,
                       const device* custom_device = nullptr) {
    const auto find = [&](const std::string& name) {
        return custom_device != nullptr && custom_device->names[0] == string_ref(name) ? custom_device
                                                                                       : find_device(name);
    };
    // by family in their order, then by device, then by software
    std::map<std::pair<const operator_type*, std::string>, std::map<std::string, std::vector<table>>> files;
    const auto sort_in = [&](std::vector<table> tables) {
        for (table& t : tables) {
            const device* d = find(t.system);
            if (d == nullptr) throw std::runtime_error("no device " + t.system);
            t.system = std::string(d->names[0]);
            files[{t.family, t.system}][t.software + '-' + t.version].push_back(std::move(t));
        }
    };
    layout_reader others;
    for (const std::string& path : paths) {
        if (layout_of(path) != nullptr) {
            others.read(path);
            continue;
        }
        const selected_table selected(path);
        const table_origin origin = origin_of(selected.path, {source, licence});
        std::vector<table> tables = read_tables(selected.path, origin.source, origin.licence);
        std::erase_if(tables, [&](const table& t) { return !selected.includes(t); });
        if (tables.empty()) throw std::runtime_error(path + ": no rows of " + selected.label);
        for (table& t : tables) t.replaces_engines = origin.replaces_engines;
        sort_in(std::move(tables));
    }
    sort_in(others.tables());
    const auto find_decode_table = [&](const table& prompts) -> const table* {
        const auto decodes = files.find({find_operator_type("generation_attention"), prompts.system});
        if (prompts.family != find_operator_type("context_attention") || decodes == files.end()) return nullptr;
        for (const auto& [software, tables] : decodes->second)
            for (const table& t : tables)
                if (t.software == prompts.software && t.version == prompts.version && t.kernel == prompts.kernel &&
                    t.variant == prompts.variant)
                    return &t;
        return nullptr;
    };
    std::string summary, calls, details;
    for (const auto& [key, of_software] : files) {
        const auto& [family, name] = key;
        const device* d = find(name);
        const std::string kind(family->name);
        const std::filesystem::path folder = output / name / kind;
        std::filesystem::create_directories(folder);
        std::map<std::string, errors_of_kernels> of_sources;  // laboratories measure differently: none hides in another
        for (const auto& [software, tables] : of_software) {
            std::map<std::string, json_writer>
                files_of;  // a file for each operand and variant: few of them are read at a time
            for (table t : tables) {
                if (t.source.empty()) throw std::runtime_error("SOURCE is empty: expected who measured");
                const std::string operand(find_operand_type(t.operand)->name),
                    variant = t.variant.empty() ? "" : '-' + t.variant;
                const auto [file, fresh] = files_of.try_emplace(operand + variant, 1);
                json_writer& json = file->second;
                if (fresh) {
                    json.object().member("device", name).member("source", t.source).member("licence", t.licence);
                    if (!t.replaces_engines) json.member("replaces_engines", false);
                    json.key("kernels").array();
                }
                const table* decodes = find_decode_table(t);
                if (decodes != nullptr)  // a cache is larger than what answers for memory
                    t.past_bandwidth_efficiency =
                        std::min(1.0, fit(*decodes, decodes->rows, *d).c.roofline_model.bandwidth_efficiency);
                const errors_of_calls mixed = decodes == nullptr ? errors_of_calls{} : errors_of_mixed(t, *decodes, *d);
                mixed_decode_kind mixed_decode_mode = mixed_decode_kind::separate_kernel;
                for (const known_mixing& known : known_mixings)
                    if (kind == "context_attention" && known.device == name && known.kernel == t.kernel)
                        mixed_decode_mode = known.mixed_decode_mode;
                if (!mixed.combined.empty()) {
                    const bool is_closer = median_error(mixed.combined) < median_error(mixed.separate);
                    mixed_decode_mode =
                        is_closer ? mixed_decode_kind::as_prefill_tiles : mixed_decode_kind::separate_kernel;
                }
                const errors_of_kernels e = fit_and_write(json, t, *d, mixed_decode_mode);
                if (!mixed.combined.empty())
                    calls += "| " + name + " | " + t.software + ' ' + t.version + " | " + t.kernel + " | " +
                             std::to_string(mixed.combined.size()) + " | " + percent(mixed.combined) + " | " +
                             factors(mixed.combined) + " | " + percent(mixed.separate) + " | " +
                             factors(mixed.separate) + " |\n";
                of_sources[t.source].add(e);
                details += "| " + kind + " | " + name + " | " + t.software + ' ' + t.version + " | " + t.kernel +
                           " | " + t.label() + " | " +
                           (e.all.empty() ? "0, its own fit" : std::to_string(e.all.size())) + " | " + percent(e.all) +
                           " | " + percent(e.unseen_shapes) + " | " + percent(e.uncalibrated) + " |\n";
            }
            std::filesystem::create_directories(folder / software);
            for (auto& [file, json] : files_of)
                write_file(folder / software / (file + ".json"), json.end_array().end_object().text() + '\n');
        }
        for (const auto& [source_name, errors] : of_sources)
            summary += "| " + kind + " | " + name + " | " + source_name.substr(0, source_name.find(" @")) + " | " +
                       std::to_string(errors.all.size()) + " | " + percent(errors.all) + " | " + factors(errors.all) +
                       " | " + percent(errors.unseen_shapes) + " | " + percent(errors.uncalibrated) + " | " +
                       factors(errors.uncalibrated) + " |\n";
    }
    std::string skipped_summary;
    for (const auto& [reason, rows] : others.num_skipped)
        skipped_summary +=
            (skipped_summary.empty() ? "\nSkipped measurements:\n\n- " : "\n- ") + std::to_string(rows) + ": " + reason;
    write_file(accuracy, page_head + summary + (skipped_summary.empty() ? "" : skipped_summary + "\n") +
                             (calls.empty() ? "" : calls_head + calls) + details_head + details);
}

}  // namespace llmcost::bench
