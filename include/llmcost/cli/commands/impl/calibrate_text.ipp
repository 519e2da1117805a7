// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/calibrate_text.hpp>

#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/commands/serve_table.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/report/json_writer.hpp>
#include <llmcost/serving/calibration_fit.hpp>
#include <llmcost/serving/engine_calibration.hpp>
#include <llmcost/serving/engines.hpp>
#include <llmcost/serving/prediction_intervals.hpp>
#include <llmcost/serving/server.hpp>
#include <llmcost/simulation/host_times.hpp>
#include <llmcost/simulation/scheduling_policy.hpp>
#include <llmcost/simulation/simulate.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::cli::detail {

LLMCOST_INLINE void write_held_out_error(json_writer& json, std::string_view name, const held_out_error& e) {
    json.key(name).object().member("rows", e.rows).member("median", e.median);
    json.member("low", e.interval.low).member("high", e.interval.high).end_object();
}

LLMCOST_INLINE std::string calibration_json(const engine_calibration& c) {
    json_writer json;
    json.object().member("engine", c.engine);
    if (!c.version.empty()) json.member("version", c.version);
    json.member("device", c.device).member("source", c.source).key("models").array(true);
    for (const std::string& model : c.models) json.value(model);
    json.end_array().member("rows", c.rows).key("constants").object();
    for (std::size_t i = 0; i < calibrated_constant_count; ++i)
        json.member(std::string_view(calibrated_constants[i].name), c.constants[i]);
    json.end_object().key("held_out").object();
    write_held_out_error(json, "tpot", c.tpot);
    write_held_out_error(json, "ttft", c.ttft);
    if (c.simulated_tpot.rows > 0) write_held_out_error(json, "simulated_tpot", c.simulated_tpot);
    if (c.simulated_ttft.rows > 0) write_held_out_error(json, "simulated_ttft", c.simulated_ttft);
    json.end_object().end_object();
    return json.text() + "\n";
}

/// Whether a prediction of the rows changes by more than 0.1 % if a constant moves by the width of its prior.
LLMCOST_INLINE bool affects_rows(const calibration_rows& data, std::size_t index) {
    const constant_values shipped = shipped_constants(*data.shipped);
    constant_values moved = shipped;
    const calibrated_constant& c = calibrated_constants[index];
    moved[index] = c.is_logarithmic ? moved[index] * std::exp(c.width) : moved[index] + c.width;
    for (const measured_load& row : data.rows) {
        const load_measurements a = predict(*data.shipped, shipped, row), b = predict(*data.shipped, moved, row);
        const auto differs = [](double before, double after) { return std::fabs(after / before - 1) > 1e-3; };
        if (row.measured.ttft_seconds > 0 && differs(a.ttft_seconds, b.ttft_seconds)) return true;
        if (differs(a.tpot_seconds, b.tpot_seconds)) return true;
    }
    return false;
}

/// One sentence about a constant: how far it moved, and what the difference consists of.
LLMCOST_INLINE std::string constant_reason(const calibrate_response& r, std::size_t index) {
    const calibrated_constant& c = calibrated_constants[index];
    const double shipped = shipped_constants(*r.data.shipped)[index], fitted = r.calibration.constants[index];
    if (!affects_rows(r.data, index)) return "no run depends on it";
    const double distance = prior_distance(index, fitted, shipped);
    if (std::fabs(distance) < 0.1) return "the runs agree with the shipped value";
    const std::string direction = distance > 0 ? "longer" : "shorter", about = std::string(c.description);
    return direction + ": " + about;
}

/// The value of a constant with its unit.
LLMCOST_INLINE std::string constant_text(std::size_t index, double value) {
    return calibrated_constants[index].is_logarithmic ? formatted("%.3f", value) : value == 0 ? "0" : duration(value);
}

LLMCOST_INLINE std::string percent_of(double share) { return formatted("%.1f %%", 100 * share); }

/// The interval of a metric as factors of an estimate.
LLMCOST_INLINE std::string factor_range(const relative_interval& e) {
    return formatted("%.2f to %.2f", std::exp2(e.low), std::exp2(e.high));
}

LLMCOST_INLINE table constants_table(const calibrate_response& r) {
    table t{{{"constant"},
             {"shipped", false, true},
             {"fitted", false, true},
             {"moved by prior widths", false, true},
             {"reason"}},
            {}};
    const constant_values shipped = shipped_constants(*r.data.shipped);
    for (std::size_t i = 0; i < calibrated_constant_count; ++i)
        t.rows.push_back({std::string(calibrated_constants[i].name), constant_text(i, shipped[i]),
                          constant_text(i, r.calibration.constants[i]),
                          formatted("%+.2f", prior_distance(i, r.calibration.constants[i], shipped[i])),
                          constant_reason(r, i)});
    return t;
}

LLMCOST_INLINE table errors_table(const calibrate_response& r) {
    table t{{{"metric"}, {"runs", true}, {"shipped", false, true}, {"held out", false, true}, {"90 % interval"}}, {}};
    const auto add = [&](std::string name, const std::vector<double>& shipped, const held_out_error& e) {
        if (e.rows > 0)
            t.rows.push_back({std::move(name), std::to_string(e.rows),
                              shipped.empty() ? "" : percent_of(median_error(shipped)), percent_of(e.median),
                              factor_range(e.interval) + " of the estimate"});
    };
    add("TTFT", r.shipped.ttft, r.calibration.ttft);
    add("TPOT", r.shipped.tpot, r.calibration.tpot);
    add("TTFT, simulated", {}, r.calibration.simulated_ttft);
    add("TPOT, simulated", {}, r.calibration.simulated_tpot);
    return t;
}

LLMCOST_INLINE std::string calibrate_text(const calibrate_response& r, std::string_view out_file) {
    const engine_calibration& c = r.calibration;
    std::string models;
    for (const std::string& model : c.models) models += (models.empty() ? "" : ", ") + printable(model);
    std::string text = c.engine + (c.version.empty() ? "" : ' ' + printable(c.version)) + " on " + r.data.device_title +
                       ", " + grouped(count(c.rows)) + (c.rows == 1 ? " run of " : " runs of ") + models + "\n\n" +
                       plain(constants_table(r)) + "Priors: " + formatted("%g", r.prior_scale) +
                       " times their widths, which predicts held-out runs best\n" +
                       "\nMedian error, shipped and fitted without the predicted run:\n" + plain(errors_table(r));
    if (c.rows == 1) text += "One run cannot be held out against itself: the error is that of the shipped constants\n";
    text += out_file.empty()
                ? "\nNot written (see --out)\n"
                : "\nWritten: " + printable(out_file) + "; use --calibration " + printable(out_file) + '\n';
    return text;
}

LLMCOST_INLINE std::string calibrate_json(const calibrate_response& r) {
    const constant_values shipped = shipped_constants(*r.data.shipped);
    json_writer json;
    json.object().member("engine", r.calibration.engine).member("device", r.calibration.device);
    json.member("rows", r.calibration.rows).member("prior_scale", r.prior_scale).key("constants").array();
    for (std::size_t i = 0; i < calibrated_constant_count; ++i) {
        json.object().member("name", std::string_view(calibrated_constants[i].name)).member("shipped", shipped[i]);
        json.member("fitted", r.calibration.constants[i]);
        json.member("moved_by_prior_widths", prior_distance(i, r.calibration.constants[i], shipped[i]));
        json.member("reason", constant_reason(r, i)).end_object();
    }
    json.end_array();
    json.key("shipped_error").object().member("tpot", median_error(r.shipped.tpot));
    json.member("ttft", median_error(r.shipped.ttft)).end_object().key("held_out").object();
    write_held_out_error(json, "tpot", r.calibration.tpot);
    write_held_out_error(json, "ttft", r.calibration.ttft);
    json.end_object().end_object();
    return json.text() + "\n";
}

}  // namespace llmcost::cli::detail
