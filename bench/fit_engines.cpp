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
#include <charconv>
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

#include <llmcost/cli/serve_table.hpp>
#include <llmcost/latency/fit.hpp>
#include <llmcost/llmcost.hpp>
#include <llmcost/registry.hpp>

namespace {

using namespace llmcost;
using constants = detail::roofline_point;

/// A run with what its prediction is made of; seconds.
struct run {
    std::string model, system;
    const engine* by = nullptr;
    serving_load load{};
    load_kernels kernels{};
    double tpot = 0, ttft = 0;  ///< measured
    bool fitted = false;
};

/// The number behind a mark in a run's id; 0 where there is none.
std::int64_t number_behind(const std::string& id, const std::string& mark) {
    std::int64_t n = 0;
    if (const std::size_t at = id.find(mark); at != std::string::npos)
        std::from_chars(id.data() + at + mark.size(), id.data() + id.size(), n);
    return n;
}
/// Whether a run's id says another concurrency or number of devices than its columns: some have tensor and expert
/// parallelism multiplied, others the requests of one of several groups.
bool contradicts_itself(const cli::serve_table& table, const cli::serving_run& r) {
    const std::string id = table.word("id");
    const std::int64_t requests = number_behind(id, "_c"), devices = number_behind(id, "_tp");
    const auto said = [&](const char* column) { return table.word(column).empty() ? 1 : std::stoll(table.word(column)); };
    return (requests != 0 && static_cast<double>(requests) != r.load.concurrency) ||
           (devices != 0 && devices != said("tp_size") * said("attention_dp_size"));
}

/// InferenceX draws lengths evenly between four fifths of what is asked for and all of it (its client's
/// `--random-range-ratio 0.8`); runs of others have the very lengths. Its ids begin with a day, or with `dsr1`.
cli::serving_run with_mean_lengths(const cli::serve_table& table, cli::serving_run r) {
    const std::string id = table.word("id");
    if (!id.starts_with("20") && !id.starts_with("dsr1")) return r;
    r.load.input = std::max<std::int64_t>(1, r.load.input * 9 / 10);
    r.load.output = std::max<std::int64_t>(1, r.load.output * 9 / 10);
    return r;
}

/// InferenceX serves Llama on TensorRT-LLM, 1024 tokens in and out on fewer than eight devices, with
/// `batch_wait_timeout_iters: 20` (benchmarks/70b_fp8_h200_trt_slurm.sh, 70b_fp8_b200_trt_slurm.sh).
cli::serving_run held_back(const cli::serve_table& table, cli::serving_run r) {
    const std::string id = table.word("id");
    const bool llama = id.find("_llama_3_1_70b_") != std::string::npos && id.find("_trtllm_") != std::string::npos;
    if (llama && table.word("isl") == "1024" && table.word("osl") == "1024" && r.devices < 8) r.load.batch_wait = 20;
    return r;
}

run read_run(const cli::serve_table& table, const cli::serving_run& r) {
    run out;
    out.model = r.model, out.system = r.where->names[0], out.by = r.by;
    out.load = r.load, out.kernels = r.on->kernels(r.load);
    out.tpot = 1e-3 * std::stod(table.word("silicon_tpot_ms")), out.ttft = 1e-3 * std::stod(table.word("silicon_ttft_ms"));
    // one node, of a chip whose attention and experts were measured
    out.fitted = r.devices <= execution::most_devices_of_a_node && (out.system == "h100_sxm" || out.system == "h200_sxm");
    return out;
}

/// An engine with these constants of a step.
engine with(const engine& by, const constants& step) {
    engine e = by;
    e.overlap = std::exp(step[0]), e.step_seconds = 1e-3 * std::fabs(step[1]);
    e.sequence_seconds = 1e-5 * std::fabs(step[2]);
    return e;
}
load_times times(const engine& e, const run& r) { return server::times(e, r.load, r.kernels); }

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

/// Errors of a group of runs: of time per token, of time to the first token of few requests and of many.
struct errors {
    std::vector<double> tpot, few, many, kernels;

    void add(const engine& e, const run& r) {
        const auto off = [](double predicted, double measured) { return std::fabs(predicted / measured - 1); };
        const load_times t = times(e, r);
        tpot.push_back(off(t.tpot, r.tpot));
        kernels.push_back(off(times({}, r).tpot, r.tpot));
        (r.load.concurrency <= 4 ? few : many).push_back(off(t.ttft, r.ttft));
    }
    [[nodiscard]] std::string row() const {
        return std::to_string(tpot.size()) + " | " + percent(tpot) + " | " + percent(kernels) + " | " + percent(few) +
               " | " + percent(many) + " |\n";
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
    "measured in these layers: they are predicted by Triton's, with half of the measured time for long prompts.\n\n";
constexpr const char* columns = "runs | time per token | kernels alone | first token, few | first token, many |\n";

int fit_all(const std::vector<std::string>& arguments) {
    if (arguments.size() != 5)
        throw std::runtime_error("usage: fit_engines ACCURACY.md CONFIGS CALIBRATIONS SOURCE RUNS.csv");
    std::ifstream in(arguments[4], std::ios::binary);
    if (!in) throw std::runtime_error(arguments[4] + ": cannot be read");
    cli::serve_table table(arguments[1], arguments[2], every_model);
    (void)table.read_header(in);
    std::vector<run> runs;
    std::size_t left_out = 0;
    while (table.next(in)) {
        const cli::serving_run r = table.current();
        if (contradicts_itself(table, r))
            ++left_out;
        else
            runs.push_back(read_run(table, held_back(table, with_mean_lengths(table, r))));
    }
    std::string page = head, rows;
    page +=
        "Runs: " + arguments[3] + "; left out are " + std::to_string(left_out) +
        " whose ids say\nanother number of devices or of requests than their columns.\n\n| | engine | device | model | " +
        std::string(columns) + "|---|---|---|---|---|---|---|---|---|\n";
    errors held_out;
    for (const engine& by : engines) {
        std::vector<const run*> own;
        std::set<std::string> models;
        for (const run& r : runs)
            if (r.by == &by && r.fitted) own.push_back(&r), models.insert(r.model);
        if (own.empty()) continue;
        const engine whole = fit(by, own);
        std::map<std::tuple<bool, std::string, std::string>, errors> groups;
        std::vector<double> of_tpot, of_ttft;
        for (const std::string& model : models) {
            std::vector<const run*> others;
            for (const run* r : own)
                if (r->model != model) others.push_back(r);
            if (others.empty()) continue;
            const engine without = fit(by, others);
            for (const run* r : own) {
                if (r->model != model) continue;
                groups[{false, r->system, model}].add(without, *r), held_out.add(without, *r);
                of_tpot.push_back(std::log2(r->tpot / times(without, *r).tpot));
                of_ttft.push_back(std::log2(r->ttft / times(without, *r).ttft));
            }
        }
        for (const run& r : runs)
            if (r.by == &by && !r.fitted) groups[{true, r.system, r.model}].add(whole, r);
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
