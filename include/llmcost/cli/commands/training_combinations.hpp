// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/pages/train_page.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/model/model_spec.hpp>

// Changes of a training step with which it fits into memory.
namespace llmcost::cli::detail {

/// A single change of the command line, and the memory that it requires.
struct suggestion {
    std::string change;
    count needed{};
    bool fits = false;
    std::int64_t devices = 0;  ///< number of devices of the change; 0: unchanged
};

/// Changes of a training step with which it fits.
struct training_combination {
    suggestion change{};
    workload load{};
    training_plan plan{};
    std::string lora{};  ///< value of `--lora`; empty: unchanged
    bool is_qlora = false;
    double step_seconds = 0;  ///< 0: not estimated
    double cost = 0;          ///< device seconds per token; without a device an order of the changes
};

/// Collects single changes of a training step, and the memory that each requires.
class training_suggestions {
public:
    training_suggestions(const parsed_model& read, const workload& load, const training_plan& plan, std::uint64_t bytes)
        : read_(read), model_(read.subject), load_(load), plan_(plan), bytes_(bytes) {}

    [[nodiscard]] std::vector<suggestion> all();
    /// The minimal combinations of changes that fit on one device; if there are none, on the fewest devices.
    ///
    /// Attention without a matrix of scores and gradient accumulation are part of each combination, as they are free.
    [[nodiscard]] std::vector<training_combination> combinations() const;

private:
    void add(std::string change, const workload& load, const training_plan& plan);
    void add_attention_implementation();
    void add_recompute();
    void add_gradient_accumulation();
    void add_sharding();
    void add_lora();

    /// All combinations on a number of devices, without those that contain another one that fits.
    [[nodiscard]] std::vector<training_combination> combinations_on(std::int64_t devices) const;
    /// Whether data parallelism can shard the training state.
    [[nodiscard]] bool can_shard() const;

    const parsed_model& read_;
    const model& model_;
    const workload& load_;
    const training_plan& plan_;
    std::uint64_t bytes_;
    std::vector<suggestion> out_;
};

/// The cheapest change with which a step fits that does not; none if no combination of changes is enough.
std::optional<fitting_change> find_fitting_change(const parsed_model& read, const workload& load,
                                                  const training_plan& plan, std::uint64_t bytes);

}  // namespace llmcost::cli::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/training_combinations.ipp>  // IWYU pragma: export
#endif
