// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// Fits the overhead of engines to measured serving runs, and reports how far predictions are from them:
//
//     fit_engines ACCURACY.md CONFIGS CALIBRATIONS SOURCE RUNS.csv [TRACES]
//
// TRACES is a folder of runs that take no part in any fit (trace_runs.hpp). CONFIGS has org__name.json for each model
// of the runs. The fit uses runs on one node of devices whose kernels have been measured; each model's errors are
// those of constants that were fitted without it. Runs whose columns contradict their id (`…_c64_tp4_ep4_…`: 64
// concurrent requests on four devices) are read by the id.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include <llmcost/kernels/fit.hpp>

#include "registry.hpp"
#include "serving_runs.hpp"
#include "trace_runs.hpp"

namespace {

using namespace llmcost;
using namespace serving_runs;
using constants = detail::roofline_point;

/// An engine with these constants of a step.
engine apply_step_constants(const engine& base_engine, const constants& step) {
    engine e = base_engine;
    e.kernel_time_factor = std::exp(step[0]);
    e.host_seconds_per_step = 1e-3 * std::fabs(step[1]);
    e.host_seconds_per_sequence = 1e-5 * std::fabs(step[2]);
    return e;
}
/// Whether a run is of an engine. The engine of a run may have constants of a calibration.
bool is_of(const engine& base_engine, const run& r) { return r.serving_engine->name == base_engine.name; }
served_times times(const engine& e, const run& r) { return in_closed_form(e, r); }

/// Mean of robust errors of logarithms, every model with the same weight. Runs that are several times `soft` off have
/// ever less weight (Cauchy), as kernels of another version than was measured do.
double loss(const std::vector<const run*>& runs, const std::function<double(const run&)>& ratio, double soft) {
    std::map<std::string, std::pair<double, double>> of_model;
    for (const run* r : runs) {
        const double scaled_error = std::log(ratio(*r)) / soft;
        of_model[r->model].first += std::log1p(scaled_error * scaled_error);
        of_model[r->model].second += 1;
    }
    double sum = 0;
    for (const auto& [name, part] : of_model) sum += part.first / part.second;
    return sum / static_cast<double>(of_model.size());
}
/// Robust error of TTFT, with a free factor of the prompt's kernel time for each model. The factor keeps the errors of
/// a model's kernels out of the constants of a request, and takes no part in predictions.
double request_loss(const engine& e, const std::vector<const run*>& runs, double soft) {
    std::map<std::string, std::vector<const run*>> of_model;
    for (const run* r : runs) of_model[r->model].push_back(r);
    double sum = 0;
    for (const auto& [name, model_runs] : of_model) {
        double minimum = INFINITY;
        for (double octave = -1; octave <= 1; octave += 0.05) {
            const auto ratio = [&](const run& r) {
                run scaled = r;
                scaled.kernels.prefill.seconds *= std::exp2(octave);
                return times(e, scaled).ttft / r.ttft;
            };
            minimum = std::min(minimum, loss(model_runs, ratio, soft) + 0.05 * octave * octave);
        }
        sum += minimum;
    }
    return sum / static_cast<double>(of_model.size());
}

/// The constants that fit the runs best; those that the runs hardly determine stay near one overlap and no host time.
engine fit(const engine& base_engine, const std::vector<const run*>& runs) {
    const auto of_step = [&](const constants& p) {
        const engine e = apply_step_constants(base_engine, p);
        const double pulled = std::pow(p[0] / 0.15, 2) + std::pow(p[1] / 2, 2) + std::pow(p[2] / 5, 2);
        return loss(
                   runs, [&](const run& r) { return times(e, r).tpot / r.tpot; }, 0.05) +
               0.05 * pulled;
    };
    engine best = apply_step_constants(base_engine, detail::simplex_minimum(of_step, {-0.05, 0.5, 1, 0}));
    const auto of_request = [&](const engine& e) {
        return request_loss(e, runs, 0.05) + 0.02 * std::pow(e.host_seconds_per_request / 0.05, 2);
    };
    best.host_seconds_per_request = 0;
    double minimum = INFINITY;
    for (engine e = best; e.host_seconds_per_request < 0.5;
         e.host_seconds_per_request = std::max(1e-3, 1.02 * e.host_seconds_per_request))
        if (const double candidate_loss = of_request(e); candidate_loss < minimum) {
            minimum = candidate_loss;
            best = e;
        }
    return best;
}

/// Robust error with a factor of each model near 1. The factor keeps the errors of a model's kernels out of the
/// constants, and takes no part in predictions.
double model_scaled_loss(const std::vector<const run*>& runs, const std::function<double(const run&)>& ratio,
                         double soft) {
    std::map<std::string, std::vector<double>> of_model;
    for (const run* r : runs) of_model[r->model].push_back(std::log(ratio(*r)));
    double pulled = 0;
    std::map<std::string, double> factor;
    for (auto& [name, logs] : of_model) {
        std::nth_element(logs.begin(), logs.begin() + static_cast<std::ptrdiff_t>(logs.size() / 2), logs.end());
        factor[name] = logs[logs.size() / 2];
        pulled += std::pow(factor[name] / 0.5, 2);
    }
    return loss(
               runs, [&](const run& r) { return ratio(r) * std::exp(-factor[r.model]); }, soft) +
           pulled / static_cast<double>(of_model.size());
}

/// The constants whose simulations fit the runs best: each in turn is moved, by steps that halve, as long as the error
/// decreases. Those that the runs hardly determine stay near one overlap and no host time. About fifty runs take part.
host_times fit_simulated(const engine& base_engine, const std::vector<const run*>& all) {
    std::vector<const run*> runs;
    for (std::size_t i = 0; i < all.size(); i += 1 + all.size() / 50) runs.push_back(all[i]);
    using values = std::array<double, 4>;
    const auto with_these = [&](const values& p) {
        return host_times{
            base_engine.name, std::exp(p[0]), 1e-3 * p[1], 1e-5 * p[2], host_times_of(base_engine.name).layer_seconds,
            1e-2 * p[3]};
    };
    const auto objective = [&](const values& p) {
        for (std::size_t i = 1; i < p.size(); ++i)
            if (p[i] < 0) return static_cast<double>(INFINITY);
        const host_times host = with_these(p);
        std::map<const run*, served_times> simulated_times;
        for (const run* r : runs) simulated_times[r] = simulated(host, *r);
        const double pulled =
            std::pow(p[0] / 0.1, 2) + std::pow(p[1] / 2, 2) + std::pow(p[2] / 5, 2) + std::pow(p[3] / 5, 2);
        const auto tpot = [&](const run& r) { return simulated_times[&r].tpot / r.tpot; };
        const auto ttft = [&](const run& r) { return simulated_times[&r].ttft / r.ttft; };
        return loss(runs, tpot, 0.05) + model_scaled_loss(runs, ttft, 0.1) + 0.02 * pulled;
    };
    // inference-sim @f90a1e3a, testdata/trained_physics_iter29.json, fits 15.6 ms per request to vLLM's runs on H100:
    // runs that send each request after the previous answer hardly determine it
    const bool is_vllm = base_engine.name == string_ref("vllm");
    values best{-0.02, 0.1, 0.2, is_vllm ? 1.56 : 1}, step{0.04, 0.3, 0.3, is_vllm ? 0.0 : 1};
    double minimum = objective(best);
    for (int round = 0; round < 6; ++round)
        for (std::size_t i = 0; i < best.size(); ++i) {
            if (step[i] == 0) continue;
            bool nearer = false;
            for (const double to : {step[i], -step[i]})
                for (int times = 0; times < 6; ++times) {
                    values next = best;
                    next[i] += to;
                    const double candidate_loss = objective(next);
                    if (!(candidate_loss < minimum)) break;
                    minimum = candidate_loss;
                    best = next;
                    nearer = true;
                }
            if (!nearer) step[i] /= 2;
        }
    return with_these(best);
}

double median(std::vector<double> values) {
    if (values.empty()) return NAN;
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
    return values[values.size() / 2];
}
std::string percent(const std::vector<double>& values) {
    if (values.empty()) return "-";
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.1f %%", 100 * median(values));
    return text.data();
}

/// Both predictions of a run.
struct run_prediction {
    served_times closed, simulated, kernels;
};
run_prediction predictions(const engine& e, const host_times& host, const run& r) {
    return {times(e, r), serving_runs::simulated(host, r), times({}, r)};
}

/// Errors of a group of runs: of time per token, of time to the first token of few requests and of many; in a closed
/// form and simulated.
struct errors {
    std::vector<double> tpot[2], low_concurrency_ttft[2], high_concurrency_ttft[2], kernels;

    void add(const run_prediction& predicted, const run& r) {
        const auto relative_error = [](double p, double measured) { return std::fabs(p / measured - 1); };
        const served_times* const estimates[]{&predicted.closed, &predicted.simulated};
        for (std::size_t i = 0; i < 2; ++i) {
            tpot[i].push_back(relative_error(estimates[i]->tpot, r.tpot));
            (r.load.concurrency <= 4 ? low_concurrency_ttft : high_concurrency_ttft)[i].push_back(
                relative_error(estimates[i]->ttft, r.ttft));
        }
        kernels.push_back(relative_error(predicted.kernels.tpot, r.tpot));
    }
    [[nodiscard]] std::string row() const {
        std::string text = std::to_string(kernels.size()) + " | " + percent(kernels) + " | ";
        for (const auto* samples : {&tpot, &low_concurrency_ttft, &high_concurrency_ttft})
            text += percent((*samples)[0]) + " | " + percent((*samples)[1]) + " | ";
        text.back() = '\n';
        return text;
    }
};

/// Logarithms of measured over predicted, of one model on one device: of the time per token and of the first token, in
/// closed form and simulated.
struct logs {
    std::array<std::vector<double>, 4> values;

    void add(const run_prediction& predicted, const run& r) {
        const double pairs[][2]{{r.tpot, predicted.closed.tpot},
                                {r.ttft, predicted.closed.ttft},
                                {r.tpot, predicted.simulated.tpot},
                                {r.ttft, predicted.simulated.ttft}};
        for (std::size_t i = 0; i < values.size(); ++i) values[i].push_back(std::log2(pairs[i][0] / pairs[i][1]));
    }
};
/// Suffix of a device: its runs with the constants of all models, as users have them.
constexpr const char* as_fitted = " as fitted";
/// By device and model, for one engine and one kind of evidence.
using logs_by_model = std::map<std::pair<std::string, std::string>, logs>;
/// The logarithms of all models of a device.
std::map<std::string, logs> by_device(const logs_by_model& all) {
    std::map<std::string, logs> out;
    for (const auto& [key, one] : all)
        for (std::size_t i = 0; i < one.values.size(); ++i)
            out[key.first].values[i].insert(out[key.first].values[i].end(), one.values[i].begin(), one.values[i].end());
    return out;
}

/// Takes in the shortest interval around the prediction that nine in ten of these logarithms lie in.
void widen(relative_interval& e, std::vector<double> log_ratios) {
    if (log_ratios.empty()) return;
    std::sort(log_ratios.begin(), log_ratios.end());
    const auto num_covered = static_cast<std::size_t>(std::ceil(0.9 * static_cast<double>(log_ratios.size())));
    relative_interval best{log_ratios.front(), log_ratios.back()};
    for (std::size_t i = 0; i + num_covered <= log_ratios.size(); ++i) {
        const relative_interval interval{std::min(log_ratios[i], 0.0), std::max(log_ratios[i + num_covered - 1], 0.0)};
        if (i == 0 || interval.high - interval.low < best.high - best.low) best = interval;
    }
    e.low = std::min(e.low, best.low);
    e.high = std::max(e.high, best.high);
}
/// In two digits, outwards.
relative_interval settled(relative_interval e) {
    return {std::floor(100 * e.low) / 100, std::ceil(100 * e.high) / 100};
}
std::string format_interval(relative_interval e) {
    std::array<char, 48> text{};
    std::snprintf(text.data(), text.size(), "{%.2f, %.2f}", e.low, e.high);
    return text.data();
}
/// The share of runs that an interval holds, of the group that it holds least of.
template <class Groups>
double min_inside(const Groups& all, std::size_t metric, relative_interval e) {
    double minimum = 1;
    for (const auto& [group, one] : all) {
        double num_covered = 0;
        for (const double x : one.values[metric]) num_covered += x >= e.low && x <= e.high ? 1 : 0;
        if (!one.values[metric].empty())
            minimum = std::min(minimum, num_covered / static_cast<double>(one.values[metric].size()));
    }
    return minimum;
}

/// A folder that has the calibrations of all devices but some, as long as it lives.
class calibrations_without {
public:
    calibrations_without(const std::filesystem::path& all, const std::string& path_prefix,
                         const std::vector<std::string>& devices)
        : path_(std::filesystem::absolute(path_prefix + ".without-" + devices.front())) {
        std::filesystem::remove_all(path_);
        std::filesystem::create_directories(path_);
        for (const auto& entry : std::filesystem::directory_iterator(all))
            if (entry.is_directory() &&
                std::find(devices.begin(), devices.end(), entry.path().filename().string()) == devices.end())
                std::filesystem::create_directory_symlink(std::filesystem::absolute(entry.path()),
                                                          path_ / entry.path().filename());
    }
    ~calibrations_without() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    calibrations_without(const calibrations_without&) = delete;
    calibrations_without& operator=(const calibrations_without&) = delete;
    [[nodiscard]] std::string path() const { return path_.string(); }

private:
    std::filesystem::path path_;
};

/// Below ten nanoseconds, or as small a part of a step, is none.
double settled(double constant) { return constant < 1e-8 ? 0 : constant; }

constexpr const char* head =
    "<!-- SPDX-FileCopyrightText: 2026 The llmcost authors -->\n"
    "<!-- SPDX-License-Identifier: Apache-2.0 -->\n"
    "# Accuracy of serving predictions\n"
    "\n"
    "Generated by `fit_engines` (bench/fit_engines.cpp). Do not edit this page. Errors are medians of |predicted / "
    "measured - 1|.\n"
    "\n"
    "- `held out`: runs on one node of H100 or H200, whose kernels were measured. The constants of the engine were "
    "fitted to\n"
    "  the runs of the other models.\n"
    "- `elsewhere`: runs on other devices or on several nodes. They are predicted with constants that were fitted to "
    "all models.\n"
    "- `kernels alone`: TPOT without any fitted constant.\n"
    "- `few`, `many`: up to 4 concurrent requests, more than 4.\n"
    "- `s`: the simulation (docs/serving.md), which has separate constants. The other columns are the closed form of\n"
    "  `llmcost serve`. The simulation sends ten requests per client, and all clients start at time 0. The "
    "measurements are\n"
    "  compared with its means over all requests.\n"
    "\n"
    "InferenceX draws the lengths of its requests between 80 % and 100 % of the nominal length. Predictions use 90 %."
    "\n"
    "If the recipe of a run delays prefills, its prediction does, too (TensorRT-LLM with Llama, 1,024 input and output "
    "tokens,\n"
    "fewer than eight devices). The InferenceX runs of gpt-oss in vLLM use Marlin expert kernels "
    "(VLLM_MXFP4_USE_MARLIN), which\n"
    "were not measured for these layers. They are predicted with Triton kernels; for long prompts, this prediction is "
    "half of\n"
    "the measured time.\n"
    "\n";
constexpr const char* intervals_head =
    "\n"
    "## Intervals\n"
    "\n"
    "This table lists intervals of the ratio measured / predicted, by evidence of the prediction "
    "(`serving_evidence`).\n"
    "\"There\" is the device of the prediction. Each interval contains 90 % of the runs of every device. "
    "Weaker\n"
    "evidence never has a narrower interval.\n"
    "\n"
    "- `inside`: fraction of the runs that are inside the interval. The first number is the lowest fraction of a "
    "device. The\n"
    "  second number is the lowest fraction of a model on a device.\n"
    "- Runs on B200 are predicted with the constants of H100 and H200.\n"
    "- Runs are also predicted without the calibrations of their own chip, and without any calibration. Such a run\n"
    "  counts for the evidence that its prediction still has.\n"
    "\n"
    "| engine | evidence | runs | TPOT | inside | TTFT | inside | TPOT, s | inside | TTFT, s | inside |\n"
    "|---|---|---|---|---|---|---|---|---|---|---|\n";
constexpr const char* traces_head =
    "\n"
    "## Third-party runs\n"
    "\n"
    "No fit uses these runs (sources: bench/trace_runs.hpp). Each cell contains the measured value and the relative "
    "error of the\n"
    "simulation: +10 % is a simulated time that is 10 % too long. The host times are those of the fit above. "
    "Percentiles are over\n"
    "all requests.\n"
    "\n"
    "| run | TTFT, mean | p99 | TPOT, mean | p99 | end-to-end latency, mean | p99 |\n"
    "|---|---|---|---|---|---|---|\n";
constexpr const char* columns = "runs | kernels alone | TPOT | s | TTFT, few | s | TTFT, many | s |\n";

int fit_all(const std::vector<std::string>& arguments) {
    if (arguments.size() != 5 && arguments.size() != 6)
        throw std::runtime_error("usage: fit_engines ACCURACY.md CONFIGS CALIBRATIONS SOURCE RUNS.csv [TRACES]");
    std::ifstream in(arguments[4], std::ios::binary);
    if (!in) throw std::runtime_error(arguments[4] + ": cannot be read");
    std::size_t corrected = 0;
    const std::string rows_of_runs = as_ids_mean(in, corrected);
    cli::serve_table table(arguments[1], arguments[2], parts::registry);
    const std::vector<run> runs = runs_of(table, rows_of_runs);
    // again without the measurements of the device, and without any measurements
    const calibrations_without no_hopper(arguments[2], arguments[0], {"h100_sxm", "h200_sxm"});
    const calibrations_without no_blackwell(arguments[2], arguments[0], {"b200_sxm"});
    cli::serve_table without_hopper(arguments[1], no_hopper.path(), parts::registry),
        without_blackwell(arguments[1], no_blackwell.path(), parts::registry),
        without_any(arguments[1], "none", parts::registry);
    std::vector<run> poorer;
    for (cli::serve_table* t : {&without_hopper, &without_blackwell, &without_any})
        for (run& r : runs_of(*t, rows_of_runs)) {
            const bool hopper = r.system != "b200_sxm";
            if (t != &without_any && hopper != (t == &without_hopper)) continue;
            r.system += t == &without_any ? " without any" : " without its own";
            poorer.push_back(std::move(r));
        }

    std::string page = head, rows;
    page += "Runs: " + arguments[3] + ".\nFor " + std::to_string(corrected) +
            " of these runs, values come from the run id instead of the columns (`as_ids_mean` in "
            "bench/serving_runs.hpp).\n\n| | "
            "engine | "
            "device | model | " +
            std::string(columns) + "|---|---|---|---|---|---|---|---|---|---|---|---|\n";
    errors held_out_errors;
    std::map<std::string, host_times> fitted_hosts;
    std::map<std::pair<std::string, serving_evidence>, logs_by_model> by_evidence;
    for (const engine& base_engine : engines) {
        const std::string name(base_engine.name);
        std::vector<const run*> engine_runs;
        std::set<std::string> models;
        for (const run& r : runs)
            if (is_of(base_engine, r) && r.fitted) {
                engine_runs.push_back(&r);
                models.insert(r.model);
            }
        if (engine_runs.empty()) continue;
        const engine fitted_engine = fit(base_engine, engine_runs);
        const host_times host = fitted_hosts[name] = fit_simulated(base_engine, engine_runs);
        std::map<std::tuple<bool, std::string, std::string>, errors> groups;
        for (const std::string& model : models) {
            std::vector<const run*> others;
            for (const run* r : engine_runs)
                if (r->model != model) others.push_back(r);
            if (others.empty()) continue;
            const engine held_out_engine = fit(base_engine, others);
            const host_times host_without = fit_simulated(base_engine, others);
            for (const run* r : engine_runs) {
                if (r->model != model) continue;
                const run_prediction p = predictions(held_out_engine, host_without, *r);
                groups[{false, r->system, model}].add(p, *r);
                held_out_errors.add(p, *r);
                by_evidence[{name, r->evidence}][{r->system, model}].add(p, *r);
                by_evidence[{name, r->evidence}][{r->system + as_fitted, model}].add(
                    predictions(fitted_engine, host, *r), *r);
            }
        }
        for (const run& r : runs)
            if (is_of(base_engine, r) && !r.fitted) {
                const run_prediction p = predictions(fitted_engine, host, r);
                groups[{true, r.system, r.model}].add(p, r);
                by_evidence[{name, r.evidence}][{r.system, r.model}].add(p, r);
            }
        for (const run& r : poorer)
            if (is_of(base_engine, r))
                by_evidence[{name, r.evidence}][{r.system, r.model}].add(predictions(fitted_engine, host, r), r);
        for (const auto& [key, e] : groups) {
            const auto& [elsewhere, system, model] = key;
            rows += std::string(elsewhere ? "| elsewhere | " : "| held out | ") + name + " | " + system + " | " +
                    model + " | " + e.row();
        }
        const auto flag = [](bool is_set) { return is_set ? "true" : "false"; };
        std::printf(
            "    {.name = \"%s\", .kernel_software = \"%s\", .has_static_scales = %s, .has_8bit_cache = %s,\n"
            "     .has_8bit_prefill_attention = %s, .kernel_time_factor = %.3g, .host_seconds_per_step = %.3g,\n"
            "     .host_seconds_per_sequence = %.3g, .host_seconds_per_request = %.3g, .queueing_steps = %.3g},\n",
            name.c_str(), std::string(base_engine.kernel_software).c_str(), flag(base_engine.has_static_scales),
            flag(base_engine.has_8bit_cache), flag(base_engine.has_8bit_prefill_attention),
            fitted_engine.kernel_time_factor, settled(fitted_engine.host_seconds_per_step),
            settled(fitted_engine.host_seconds_per_sequence), fitted_engine.host_seconds_per_request,
            fitted_engine.queueing_steps);
        std::printf(
            "    {.engine = \"%s\", .overlap = %.3g, .step_seconds = %.3g, .sequence_seconds = %.3g,\n"
            "     .layer_seconds = %.3g, .request_seconds = %.3g},\n",
            name.c_str(), host.overlap, settled(host.step_seconds), settled(host.sequence_seconds),
            settled(host.layer_seconds), host.request_seconds);
    }
    page += rows + "| held out | all | h100_sxm, h200_sxm | all | " + held_out_errors.row() + intervals_head;
    constexpr const char* names[]{"measured_runs", "measured_kernels", "fallback_kernels", "datasheet"};
    constexpr const char* intervals[]{"tpot", "ttft", "simulated_tpot", "simulated_ttft"};
    for (const engine& base_engine : engines) {
        std::array<std::array<relative_interval, 4>, std::size(names)> widest{};  // weaker evidence is no narrower
        std::array<std::size_t, std::size(names)> num_runs{};
        const auto of_kind = [&](std::size_t k) -> const logs_by_model& {
            return by_evidence[{std::string(base_engine.name), static_cast<serving_evidence>(k)}];
        };
        for (std::size_t k = 0; k < num_runs.size(); ++k) {
            if (k > 0) widest[k] = widest[k - 1];
            for (const auto& [device_name, one] : by_device(of_kind(k))) {
                if (!device_name.ends_with(as_fitted)) num_runs[k] += one.values[0].size();
                for (std::size_t i = 0; i < one.values.size(); ++i) widen(widest[k][i], one.values[i]);
            }
        }
        for (std::size_t k = num_runs.size() - 1; k-- > 0;)  // without runs, an interval is that of weaker evidence
            if (widest[k][0].low == 0 && widest[k][0].high == 0) widest[k] = widest[k + 1];
        for (std::size_t k = 0; k < num_runs.size(); ++k) {
            std::string row = "| " + std::string(base_engine.name) + " | " +
                              description_of(static_cast<serving_evidence>(k)) + " | " + std::to_string(num_runs[k]);
            std::string constant =
                "    {.engine = \"" + std::string(base_engine.name) + "\", .evidence = serving_evidence::" + names[k];
            for (std::size_t i = 0; i < 4; ++i) {
                const relative_interval e = settled(widest[k][i]);
                std::array<char, 80> text{};
                std::snprintf(text.data(), text.size(), " | %.2f to %.2f | %.0f %%, %.0f %%", std::exp2(e.low),
                              std::exp2(e.high), std::floor(100 * min_inside(by_device(of_kind(k)), i, e)),
                              std::floor(100 * min_inside(of_kind(k), i, e)));
                row += text.data();
                constant += std::string(", .") + intervals[i] + " = " + format_interval(e);
            }
            if (num_runs[k] > 0) page += row + " |\n";
            std::printf("%s},\n", constant.c_str());
        }
    }
    if (arguments.size() == 6) {
        const auto host = [&](const char* name) {
            const auto fitted = fitted_hosts.find(name);
            return fitted == fitted_hosts.end() ? host_times_of(name) : fitted->second;
        };
        trace_runs::page others;
        const engine &vllm = *find_engine("vllm"), &sglang = *find_engine("sglang");
        trace_runs::add_llmservingsim(others, arguments[5], arguments[2], vllm, host("vllm"));
        trace_runs::add_inference_perf(others, arguments[5], arguments[2], vllm, host("vllm"));
        trace_runs::add_token_position(others, arguments[5], arguments[2], vllm, host("vllm"));
        trace_runs::add_pd_ratio(others, arguments[5], arguments[1], arguments[2], sglang, host("sglang"));
        page += traces_head + others.text();
    }
    std::ofstream out(arguments[0], std::ios::binary);
    out << page;
    if (!out.flush()) throw std::runtime_error(arguments[0] + ": cannot be written");
    return 0;
}

}  // namespace

int main(int count, char** values) try {
    return fit_all({values + 1, values + count});
} catch (const std::exception& e) {
    std::cerr << "fit_engines: " << e.what() << '\n';
    return 1;
}
