// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <llmcost/base/workload.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/distributed/training_memory.hpp>
#include <llmcost/distributed/training_parallelism.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/serving/parallel_training.hpp>
#include <llmcost/serving/step.hpp>

// The search for the fastest parallel configuration of a training job over devices, under memory.
namespace llmcost {

/// A way to train that all sizes of a job have in common: rules that place parameters, sharding and recomputation.
///
/// Memory and time have a workload and a plan of their own, as `llmcost train` has them.
struct training_variant {
    split_rules rules = split_rules::megatron;
    workload load{};
    training_plan plan{};
    megatron_settings settings{};
    workload timed_load{};
    training_plan timed_plan{};
    training_job job{};  ///< without sizes

    [[nodiscard]] bool is_fully_sharded() const noexcept { return job.sharding == sharding_strategy::fsdp; }
    /// In a pipeline, FSDP stages stay gathered during a step (`set_fsdp_of_job`).
    [[nodiscard]] bool allows_pipeline() const noexcept { return !is_fully_sharded() || !job.reshards_after_forward; }
    /// The rules of PyTorch do not distribute routed experts here.
    [[nodiscard]] bool allows_expert_parallelism() const noexcept { return rules == split_rules::megatron; }
};

/// What is searched. A size of 0: all sizes.
struct training_search_space {
    std::int64_t devices = 1;
    std::int64_t global_batch = 1;   ///< sequences of a step
    std::int64_t sequence = 1;       ///< tokens of a sequence
    std::uint64_t memory_bytes = 0;  ///< of a device; 0: no limit
    std::int64_t tensor = 0, pipeline = 0, context = 0, expert = 0, data = 0;
    std::int64_t batch = 0;  ///< sequences of a microbatch
    std::size_t num_results = 5;
};

/// A parallel configuration of a job.
struct training_candidate {
    std::size_t variant = 0;  ///< index of the `training_variant`
    training_parallelism parallel{};
    std::int64_t batch = 1;           ///< sequences of a microbatch
    double minimum_seconds = 0;       ///< lower bound of the step time
    std::uint64_t minimum_bytes = 0;  ///< lower bound of the peak memory of the largest rank
};

/// A parallel configuration with its time and memory.
struct evaluated_training {
    training_candidate candidate{};
    parallel_training_cost cost{};
    std::uint64_t peak_bytes = 0;  ///< of the largest rank
};

/// The result of a search on one number of devices.
struct training_search_result {
    std::int64_t devices = 1;
    std::vector<evaluated_training> best{};       ///< by step time
    std::vector<evaluated_training> pareto{};     ///< from the fastest to twice its time: each needs 5 % less memory
    std::optional<evaluated_training> nearest{};  ///< the least memory, if nothing fits
    std::uint64_t num_candidates = 0;
    std::uint64_t num_out_of_memory = 0;  ///< by lower bounds or by their exact memory
    std::uint64_t num_timed = 0;          ///< whose exact time was computed
};

/// Searches parallel configurations of a training job.
///
///     tensor: powers of two within a node; pipeline: divisors of the remaining devices, up to one layer per stage;
///     stages per rank: 1, or any number that divides the layers equally if the microbatches are a multiple of the
///     pipeline ranks; context: powers of two with at least 4096 tokens per rank; expert: divisors of the experts;
///     data: the remaining devices; microbatch: 1, 2, 4, 8 and 16 sequences.
///
/// A candidate is excluded without its exact values if
/// - its parameters, gradients and optimizer state alone exceed the memory,
/// - the activations of the microbatches in flight exceed the rest, or
/// - `minimum_step_seconds` exceeds the time of the best candidates, and its memory that of a faster one.
///
/// Candidates with equal work per microbatch share one trace, and their time without communication; candidates with
/// equal sizes of a rank share one recorded pass.
class training_search {
public:
    /// `is_supported`: whether the model can be divided so; sizes of pipeline and data parallelism are arbitrary.
    training_search(const model& memory_model, const model& timed_model, const execution& execution,
                    const device& device, kernel_source& kernels, std::vector<training_variant> variants,
                    std::function<bool(const training_parallelism&)> is_supported);
    ~training_search();
    training_search(const training_search&) = delete;
    training_search& operator=(const training_search&) = delete;

    [[nodiscard]] training_search_result operator()(const training_search_space& space);
    [[nodiscard]] const std::vector<training_variant>& variants() const noexcept { return variants_; }

private:
    struct state;

    std::vector<training_variant> variants_;
    std::unique_ptr<state> state_;
};

/// Bytes of parameters, gradients and optimizer state of a pipeline rank with `dense` and `experts` parameters before
/// they are divided over ranks, or less.
///
///     Megatron: 6 · P / tp + 12 · P / (tp · dp · cp), with 16-bit parameters; experts over ep · etp and their
///     data-parallel ranks. Without the distributed optimizer 18 · P / tp.
///     FSDP: 16 · P / (tp · dp · cp), and in a pipeline 2 · P / tp gathered.
///
/// Source: see `set_megatron_state`.
[[nodiscard]] double minimum_state_bytes(double dense, double experts, const training_variant& variant,
                                         const training_parallelism& parallel) noexcept;

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/serving/impl/training_search.ipp>  // IWYU pragma: export
#endif
