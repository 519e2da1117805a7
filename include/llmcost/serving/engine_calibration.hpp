// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/latency/operator_types.hpp>
#include <llmcost/serving/engines.hpp>
#include <llmcost/serving/prediction_intervals.hpp>

// Constants of an engine that runs of one deployment determine, and the factors of its kernel times.
namespace llmcost {

/// Kernels whose times have one factor.
enum class kernel_class : std::uint8_t {
    products,           ///< matrix products with weights
    prefill_attention,  ///< fused attention of new tokens
    decode_attention,   ///< fused attention over the KV cache
    experts,            ///< grouped products of routed experts
    collectives,        ///< over the links of a node
    network,            ///< between nodes
    others              ///< fused elementwise kernels, norms, quantization, recurrent layers
};
inline constexpr std::size_t kernel_class_count = 7;

/// The class of an operator's kernels.
[[nodiscard]] kernel_class kernel_class_of(const operator_shape& shape);

/// Factors of kernel times, by class. 1: as measured alone.
struct kernel_time_factors {
    std::array<double, kernel_class_count> values{1, 1, 1, 1, 1, 1, 1};
    double prefill = 1;  ///< of all kernels in steps with prefills

    [[nodiscard]] double factor(kernel_class c, bool is_decode_step) const noexcept {
        return values[static_cast<std::size_t>(c)] * (is_decode_step ? 1 : prefill);
    }
};

/// A constant of the model of an engine that measured runs determine.
///
/// Its prior is normal around the shipped value: of its logarithm with standard deviation `width`, or, if the value may
/// be 0, of the value itself.
struct calibrated_constant {
    string_ref name;
    string_ref description;
    double engine::*member = nullptr;  ///< null: the factor of `kernels`, or of prefills
    bool is_prefill_factor = false;
    kernel_class kernels = kernel_class::others;
    bool is_logarithmic = true;
    double width = 0;
};

// Widths. `kernel_time_factor`, host times: those of the fit of the shipped constants (bench/fit_engines.cpp, `fit`).
// Kernel classes: efficiencies of one kernel differ by 12 to 25 % between generations (KernelSight-LM, arXiv
// 2606.28565), and as much between versions of an engine. Prompt token: tokenizers take 20 s per GB of text on a server
// (huggingface/tokenizers, README.md). This is 5 us per token of 4 bytes on one of 64 cores. Queueing: one to two and
// a half steps.
inline constexpr calibrated_constant calibrated_constants[]{
    {.name = "kernel_time_factor",
     .description = "kernels overlap, or are faster or slower than alone",
     .member = &engine::kernel_time_factor,
     .width = 0.15},
    {.name = "host_seconds_per_step",
     .description = "scheduler, input preparation and sampling of a step",
     .member = &engine::host_seconds_per_step,
     .is_logarithmic = false,
     .width = 2e-3},
    {.name = "host_seconds_per_sequence",
     .description = "sampling and detokenization of a running sequence",
     .member = &engine::host_seconds_per_sequence,
     .is_logarithmic = false,
     .width = 5e-5},
    {.name = "host_seconds_per_request",
     .description = "HTTP server, admission and client of a request",
     .member = &engine::host_seconds_per_request,
     .is_logarithmic = false,
     .width = 0.05},
    {.name = "host_seconds_per_prompt_token",
     .description = "tokenizer, and copies of the prompt between processes",
     .member = &engine::host_seconds_per_prompt_token,
     .is_logarithmic = false,
     .width = 5e-6},
    {.name = "queueing_steps",
     .description = "steps that are scheduled before a new prefill",
     .member = &engine::queueing_steps,
     .width = 0.5},
    {.name = "prefill_time_factor",
     .description = "kernels of many tokens, which computation limits, against those of few, which memory limits",
     .is_prefill_factor = true,
     .width = 0.25},
    {.name = "products_time_factor",
     .description = "matrix products of this version of the engine",
     .kernels = kernel_class::products,
     .width = 0.25},
    {.name = "prefill_attention_time_factor",
     .description = "attention kernel of prompts",
     .kernels = kernel_class::prefill_attention,
     .width = 0.25},
    {.name = "decode_attention_time_factor",
     .description = "attention kernel over the KV cache",
     .kernels = kernel_class::decode_attention,
     .width = 0.25},
    {.name = "experts_time_factor",
     .description = "kernels of routed experts, and the distribution of tokens over them",
     .kernels = kernel_class::experts,
     .width = 0.25},
    {.name = "collectives_time_factor",
     .description = "all-reduce and all-to-all over links",
     .kernels = kernel_class::collectives,
     .width = 0.25},
    {.name = "network_time_factor",
     .description = "collectives between nodes",
     .kernels = kernel_class::network,
     .width = 0.25},
    {.name = "others_time_factor",
     .description = "fusion of elementwise kernels, norms and quantization",
     .kernels = kernel_class::others,
     .width = 0.25},
};
inline constexpr std::size_t calibrated_constant_count = sizeof calibrated_constants / sizeof *calibrated_constants;

/// Values of `calibrated_constants`, in its order.
using constant_values = std::array<double, calibrated_constant_count>;

/// The shipped values of an engine.
[[nodiscard]] constant_values shipped_constants(const engine& e);
/// An engine with other values.
[[nodiscard]] engine with_constants(const engine& e, const constant_values& values);
/// The factors of kernel times.
[[nodiscard]] kernel_time_factors factors_of(const constant_values& values);

/// Errors of rows that took no part in the fit.
struct held_out_error {
    std::int64_t rows = 0;
    double median = 0;             ///< of |predicted / measured - 1|
    relative_interval interval{};  ///< of log2(measured / predicted)
};

/// The constants of an engine on one device, fitted to its own runs (docs/calibrate-engine.md).
struct engine_calibration {
    std::string path;  ///< its file; empty if it was not read
    std::string engine, version, device;
    std::string source;               ///< the runs
    std::vector<std::string> models;  ///< of the runs
    std::int64_t rows = 0;
    constant_values constants{};
    held_out_error tpot{}, ttft{};                      ///< of the closed form
    held_out_error simulated_tpot{}, simulated_ttft{};  ///< of the simulation; without rows: not simulated
};

/// Whether a calibration has runs of a model. Compares the last part of names: `org/name`, `DIR/org__name.json`.
[[nodiscard]] bool has_runs_of(const engine_calibration& c, std::string_view model);

/// The part of a calibration that applies to a model.
///
/// - With runs of the model, or without names of models: all of it.
/// - With runs of several other models: its constants, without its errors (`rows` is 0).
/// - With runs of one other model, and `has_shipped_runs`: nothing. The shipped constants are those of runs of several
///   models on this device.
/// - Otherwise: its host times of steps and sequences, and half of the logarithms of its kernel factors. Half of the
///   error of kernel times is taken to be that of the model. Requests, queueing and prefills are as shipped.
///   On 866 runs on B200, this changes the median error of TPOT from 17.0 to 11.5 %. That of TTFT
///   changes from 25.7 to 26.3 % (tests/oracle/calibrate_engines.py). All constants as they are would worsen both on
///   H100 and H200.
[[nodiscard]] std::optional<engine_calibration> calibration_for_model(const engine_calibration& c,
                                                                      std::string_view model, bool has_shipped_runs);

/// A note about a calibration without runs of a model; empty if it has some.
[[nodiscard]] std::string model_calibration_note(const engine_calibration& c, std::string_view model,
                                                 bool has_shipped_runs);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/serving/impl/engine_calibration.ipp>  // IWYU pragma: export
#endif
