// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// Fits what engines add to their kernels to measured serving runs, and says how far predictions are from them:
//
//     fit_engines ACCURACY.md CONFIGS CALIBRATIONS SOURCE RUNS.csv
//
// CONFIGS has org__name.json for each model of the runs. Fitted are runs on one node of devices whose kernels have been
// measured; each model's errors are those of constants that were fitted without it. Runs whose columns say something else
// than their own id (`…_c64_tp4_ep4_…`: 64 requests at a time on four devices) are left out.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <exception>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include <llmcost/latency/fit.hpp>

#include "rows.hpp"
#include "serving_runs.hpp"

namespace {

using namespace llmcost;
using namespace serving_runs;
using constants = detail::roofline_point;

/// An engine with these constants of a step.
engine with(const engine& by, const constants& step) {
    engine e = by;
    e.overlap = std::exp(step[0]), e.step_seconds = 1e-3 * std::fabs(step[1]);
    e.sequence_seconds = 1e-5 * std::fabs(step[2]);
    return e;
}
served_times times(const engine& e, const run& r) { return in_closed_form(e, r); }

/// Mean of what a robust error makes of logarithms, every model with the same weight: runs that are several times `soft` off
/// weigh ever less (Cauchy), as kernels of another version than was measured do.
double loss(const std::vector<const run*>& runs, const std::function<double(const run&)>& ratio, double soft) {
    std::map<std::string, std::pair<double, double>> of_model;
    for (const run* r : runs) {
        const double off = std::log(ratio(*r)) / soft;
        of_model[r->model].first += std::log1p(off * off);
        of_model[r->model].second += 1;
    }
    double sum = 0;
    for (const auto& [name, part] : of_model) sum += part.first / part.second;
    return sum / static_cast<double>(of_model.size());
}
/// The same of the first token, whose prompt may take a factor of its own in every model: it keeps the errors of a model's
/// kernels out of the constants of a request, and takes no part in predictions.
double request_loss(const engine& e, const std::vector<const run*>& runs, double soft) {
    std::map<std::string, std::vector<const run*>> of_model;
    for (const run* r : runs) of_model[r->model].push_back(r);
    double sum = 0;
    for (const auto& [name, own] : of_model) {
        double least = INFINITY;
        for (double octave = -1; octave <= 1; octave += 0.05) {
            const auto ratio = [&](const run& r) {
                run scaled = r;
                scaled.kernels.prompt.seconds *= std::exp2(octave);
                return times(e, scaled).ttft / r.ttft;
            };
            least = std::min(least, loss(own, ratio, soft) + 0.05 * octave * octave);
        }
        sum += least;
    }
    return sum / static_cast<double>(of_model.size());
}

/// The constants that follow runs best; those that the runs hardly tell stay near one overlap and no host time.
engine fit(const engine& by, const std::vector<const run*>& runs) {
    const auto of_step = [&](const constants& p) {
        const engine e = with(by, p);
        const double pulled = std::pow(p[0] / 0.15, 2) + std::pow(p[1] / 2, 2) + std::pow(p[2] / 5, 2);
        return loss(
                   runs, [&](const run& r) { return times(e, r).tpot / r.tpot; }, 0.05) +
               0.05 * pulled;
    };
    engine best = with(by, detail::simplex_minimum(of_step, {-0.05, 0.5, 1, 0}));
    const auto of_request = [&](const engine& e) {
        return request_loss(e, runs, 0.05) + 0.02 * std::pow(e.request_seconds / 0.05, 2);
    };
    best.request_seconds = 0;
    double least = INFINITY;
    for (engine e = best; e.request_seconds < 0.5; e.request_seconds = std::max(1e-3, 1.02 * e.request_seconds))
        if (const double here = of_request(e); here < least) least = here, best = e;
    return best;
}

/// The same beside a factor of each model's own, near 1: it keeps the errors of a model's kernels out of the constants, and
/// takes no part in predictions.
double loss_beside_factors(const std::vector<const run*>& runs, const std::function<double(const run&)>& ratio, double soft) {
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

/// The constants with which simulations follow runs best: one after the other is moved, by steps that halve, as long as that
/// brings them nearer. Those that the runs hardly tell stay near one overlap and no host time. About fifty runs take part.
host_times fit_simulated(const engine& by, const std::vector<const run*>& all) {
    std::vector<const run*> runs;
    for (std::size_t i = 0; i < all.size(); i += 1 + all.size() / 50) runs.push_back(all[i]);
    using values = std::array<double, 4>;
    const auto with_these = [&](const values& p) {
        return host_times{by.name, std::exp(p[0]), 1e-3 * p[1], 1e-5 * p[2], host_times_of(by.name).layer_seconds, 1e-2 * p[3]};
    };
    const auto off = [&](const values& p) {
        for (std::size_t i = 1; i < p.size(); ++i)
            if (p[i] < 0) return static_cast<double>(INFINITY);
        const host_times host = with_these(p);
        std::map<const run*, served_times> of;
        for (const run* r : runs) of[r] = simulated(host, *r);
        const double pulled = std::pow(p[0] / 0.1, 2) + std::pow(p[1] / 2, 2) + std::pow(p[2] / 5, 2) +
                              std::pow(p[3] / 5, 2);
        const auto tpot = [&](const run& r) { return of[&r].tpot / r.tpot; };
        const auto ttft = [&](const run& r) { return of[&r].ttft / r.ttft; };
        return loss(runs, tpot, 0.05) + loss_beside_factors(runs, ttft, 0.1) + 0.02 * pulled;
    };
    values best{-0.02, 0.1, 0.2, 1}, step{0.04, 0.3, 0.3, 1};
    double least = off(best);
    for (int round = 0; round < 6; ++round)
        for (std::size_t i = 0; i < best.size(); ++i) {
            bool nearer = false;
            for (const double to : {step[i], -step[i]})
                for (int times = 0; times < 6; ++times) {
                    values next = best;
                    next[i] += to;
                    const double here = off(next);
                    if (!(here < least)) break;
                    least = here, best = next, nearer = true;
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
struct both {
    served_times closed, simulated, kernels;
};
both predictions(const engine& e, const host_times& host, const run& r) {
    return {times(e, r), serving_runs::simulated(host, r), times({}, r)};
}

/// Errors of a group of runs: of time per token, of time to the first token of few requests and of many; in a closed form
/// and simulated.
struct errors {
    std::vector<double> tpot[2], few[2], many[2], kernels;

    void add(const both& predicted, const run& r) {
        const auto off = [](double p, double measured) { return std::fabs(p / measured - 1); };
        const served_times* const each[]{&predicted.closed, &predicted.simulated};
        for (std::size_t i = 0; i < 2; ++i) {
            tpot[i].push_back(off(each[i]->tpot, r.tpot));
            (r.load.concurrency <= 4 ? few : many)[i].push_back(off(each[i]->ttft, r.ttft));
        }
        kernels.push_back(off(predicted.kernels.tpot, r.tpot));
    }
    [[nodiscard]] std::string row() const {
        std::string text = std::to_string(kernels.size()) + " | " + percent(kernels) + " | ";
        for (const auto* of : {&tpot, &few, &many}) text += percent((*of)[0]) + " | " + percent((*of)[1]) + " | ";
        text.back() = '\n';
        return text;
    }
};

/// What nine in ten of these logarithms lie between.
std::string nine_in_ten(std::vector<double> logs) {
    if (logs.empty()) return "{}";
    std::sort(logs.begin(), logs.end());
    const auto at = [&](double share) {
        return logs[static_cast<std::size_t>(share * static_cast<double>(logs.size() - 1))];
    };
    std::array<char, 48> text{};
    std::snprintf(text.data(), text.size(), "{%.2f, %.2f}", at(0.05), at(0.95));
    return text.data();
}

/// Below ten nanoseconds, or as small a part of a step, is none.
double settled(double constant) { return constant < 1e-8 ? 0 : constant; }

constexpr const char* head =
    "# How far predicted serving is from measured runs\n\n"
    "Made by `fit_engines` (bench/fit_engines.cpp); not written by hand. Errors are medians of |predicted / measured - 1|.\n"
    "An engine's constants are fitted to runs on one node of H100 or H200, whose kernels have been measured. There each\n"
    "model's errors are those of constants fitted without it; elsewhere (other devices, several nodes) of the constants\n"
    "of all. `kernels alone` is the time per token without any constant. Few: up to 4 requests at a time.\n"
    "Lengths of InferenceX's runs are drawn between four fifths of what their columns say and all of it: they are "
    "predicted\n"
    "for nine tenths. Where its recipe holds prompts back (TensorRT-LLM with Llama, 1024 tokens in and out, fewer than "
    "eight\n"
    "devices) predictions do so too. Its runs of gpt-oss on vLLM use Marlin's experts (VLLM_MXFP4_USE_MARLIN), which "
    "nobody\n"
    "measured in these layers: they are predicted by Triton's, with half of the measured time for long prompts.\n"
    "`s` is the simulation (docs/serving.md) with constants of its own, beside the closed form of `llmcost serve`. It sends\n"
    "ten requests of each client, all first ones at once; means over all are held against the columns.\n\n";
constexpr const char* columns =
    "runs | kernels alone | time per token | s | first token, few | s | first token, many | s |\n";

int fit_all(const std::vector<std::string>& arguments) {
    if (arguments.size() != 5)
        throw std::runtime_error("usage: fit_engines ACCURACY.md CONFIGS CALIBRATIONS SOURCE RUNS.csv");
    std::ifstream in(arguments[4], std::ios::binary);
    if (!in) throw std::runtime_error(arguments[4] + ": cannot be read");
    cli::serve_table table(arguments[1], arguments[2], parts::rows);
    (void)table.read_header(in);
    std::vector<run> runs;
    std::size_t left_out = 0;
    while (table.next(in)) {
        const cli::serving_run r = table.current();
        if (contradicts_itself(table, r))
            ++left_out;
        else
            runs.push_back(read_run(table, r));
    }
    std::string page = head, rows;
    page +=
        "Runs: " + arguments[3] + "; left out are " + std::to_string(left_out) +
        " whose ids say\nanother number of devices or of requests than their columns.\n\n| | engine | device | model | " +
        std::string(columns) + "|---|---|---|---|---|---|---|---|---|---|---|---|\n";
    errors held_out;
    for (const engine& by : engines) {
        std::vector<const run*> own;
        std::set<std::string> models;
        for (const run& r : runs)
            if (r.by == &by && r.fitted) own.push_back(&r), models.insert(r.model);
        if (own.empty()) continue;
        const engine whole = fit(by, own);
        const host_times host = fit_simulated(by, own);
        std::map<std::tuple<bool, std::string, std::string>, errors> groups;
        std::vector<double> of_tpot, of_ttft, of_simulated_tpot, of_simulated_ttft;
        for (const std::string& model : models) {
            std::vector<const run*> others;
            for (const run* r : own)
                if (r->model != model) others.push_back(r);
            if (others.empty()) continue;
            const engine without = fit(by, others);
            const host_times host_without = fit_simulated(by, others);
            for (const run* r : own) {
                if (r->model != model) continue;
                const both p = predictions(without, host_without, *r);
                groups[{false, r->system, model}].add(p, *r), held_out.add(p, *r);
                of_tpot.push_back(std::log2(r->tpot / p.closed.tpot));
                of_ttft.push_back(std::log2(r->ttft / p.closed.ttft));
                of_simulated_tpot.push_back(std::log2(r->tpot / p.simulated.tpot));
                of_simulated_ttft.push_back(std::log2(r->ttft / p.simulated.ttft));
            }
        }
        for (const run& r : runs)
            if (r.by == &by && !r.fitted) groups[{true, r.system, r.model}].add(predictions(whole, host, r), r);
        for (const auto& [key, e] : groups) {
            const auto& [elsewhere, system, model] = key;
            rows += std::string(elsewhere ? "| elsewhere | " : "| held out | ") + std::string(by.name) + " | " + system +
                    " | " + model + " | " + e.row();
        }
        std::printf("    {\"%s\", \"%s\", %s, %s, %s, %.3g, %.3g, %.3g, %.3g, %.3g, %.3g, %s, %s},\n",
                    std::string(by.name).c_str(), std::string(by.software).c_str(), by.static_scales ? "true" : "false",
                    by.narrow_cache ? "true" : "false", by.narrow_prompts ? "true" : "false", whole.overlap,
                    settled(whole.step_seconds), settled(whole.sequence_seconds), whole.request_seconds, whole.steps_waited,
                    whole.memory_share, nine_in_ten(of_tpot).c_str(), nine_in_ten(of_ttft).c_str());
        std::printf("    {\"%s\", %.3g, %.3g, %.3g, %.3g, %.3g, %s, %s},\n", std::string(by.name).c_str(), host.overlap, settled(host.step_seconds), settled(host.sequence_seconds),
                    settled(host.layer_seconds), host.request_seconds, nine_in_ten(of_simulated_tpot).c_str(),
                    nine_in_ten(of_simulated_ttft).c_str());
    }
    page += rows + "| held out | all | h100_sxm, h200_sxm | all | " + held_out.row();
    std::ofstream out(arguments[0], std::ios::binary);
    out << page;
    if (!out.flush()) throw std::runtime_error(arguments[0] + ": cannot be written");
    return 0;
}

}  // namespace

int main(int count, char** values) try { return fit_all({values + 1, values + count}); } catch (const std::exception& e) {
    std::cerr << "fit_engines: " << e.what() << '\n';
    return 1;
}
