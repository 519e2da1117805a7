// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/pages/step_time.hpp>
#include <llmcost/cli/request/memory_fit.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/distributed/training_rank.hpp>
#include <llmcost/memory/category.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/report/chart.hpp>

// The output of `llmcost train`: text with bars, a table, JSON and charts.
namespace llmcost::cli::detail {

/// Choices of `--precision`.
enum precision_choice : int {
    precision_fp32,
    precision_bf16,
    precision_bf16_mixed,
    precision_fp16_mixed,
    precision_fp8_mixed,
    precision_fp16,
    precision_auto  ///< the dtype of the configuration
};

struct precision_spec {
    std::string_view name;
    dtype products;            ///< type whose peak FLOP/s is the reference of MFU
    std::string_view meaning;  ///< explanation below the output; empty: none
};
inline constexpr precision_spec precisions[]{
    {"fp32", dtype::float32, ""},
    {"bf16", dtype::bfloat16, ""},
    {"bf16-mixed", dtype::bfloat16, ""},
    {"fp16-mixed", dtype::float16, "fp16-mixed: autocast and GradScaler, without the 12 bytes of GradScaler"},
    {"fp8-mixed", dtype::float8_e4m3fn,
     "fp8-mixed: weights in bf16, linear layers except the head in fp8 (torchao), without temporary casts"},
    {"fp16", dtype::float16, ""}};

/// The measured time of a step in seconds, and the peak of the device in FLOP/s; 0: not set.
struct measured_step {
    double seconds = 0;
    double peak = 0;
    std::string device_title{};
    dtype type = dtype::unspecified;

    [[nodiscard]] bool measured() const noexcept { return seconds > 0; }
    [[nodiscard]] double share(count flops) const noexcept { return static_cast<double>(flops) / (seconds * peak); }
};

/// Changes of a command line with which a step fits, and the memory that it then requires.
struct fitting_change {
    std::string change{};  ///< options: `--recompute full`
    count needed{};
};

/// The settings that decide on the memory of a step: `bf16, sdpa, adamw, lora:r=16`.
[[nodiscard]] std::string training_assumptions(const model& m, const workload& load, const training_plan& plan,
                                               int precision, std::string_view adapter_label);

/// A training step: its request and its results.
struct training_response {
    const parsed_model& read;
    workload load;
    training_plan plan;
    int precision;
    std::string adapter_label;
    memory_limit limit;
    measured_step took;
    training_run run;
    std::optional<step_estimate> estimate{};    ///< of `--device`; none without it
    std::int64_t epoch_tokens = 0;              ///< of `--tokens`; 0: not set
    std::optional<fitting_change> fits_with{};  ///< the first change with which it fits, if it does not
    bool is_compiled = false;                   ///< `torch.compile`
    std::vector<training_rank> ranks{};         ///< of `--ranks`

    /// Bytes that the step needs: its peak, on a CUDA device with the workspaces of libraries.
    [[nodiscard]] count needed() const {
        return count(run.memory.peak.bytes.total) + count(run.memory.library_workspace_bytes);
    }
    // FLOPs of all accumulated batches of a step
    [[nodiscard]] count forward_flops() const {
        return run.pass_metrics.torch_flops * count(plan.schedule.gradient_accumulation_steps);
    }
    [[nodiscard]] count backward_flops() const;
};

// the labels of the categories, in the order of `memory_category_names`
inline constexpr std::string_view category_labels[num_memory_categories]{
    "parameters", "buffers", "gradients", "activations", "backward temporaries", "optimizer", "inputs"};

/// A bar for the fraction `part / total` of `columns` characters; at least one character if `part` is not 0.
[[nodiscard]] std::string bar_of(count part, count total, std::size_t columns);

/// `Training step of 4 x 512 tokens · adamw · fp32 · eager attention`.
[[nodiscard]] std::string train_title(const training_response& t);

[[nodiscard]] std::string train_page(const training_response& t);

[[nodiscard]] std::string train_json(const training_response& t);

/// The memory categories at the peak as a bar chart.
[[nodiscard]] svg_picture peak_picture(const training_response& t);

/// Memory over time, and the categories at the peak.
[[nodiscard]] svg_picture train_picture(const training_response& t);

/// A table with snapshots as columns and categories as rows.
[[nodiscard]] table train_table(const training_response& t);

}  // namespace llmcost::cli::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/pages/impl/train_page.ipp>  // IWYU pragma: export
#endif
