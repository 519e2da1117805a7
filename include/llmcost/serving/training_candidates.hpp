// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <llmcost/base/workload.hpp>
#include <llmcost/distributed/training_memory.hpp>
#include <llmcost/distributed/training_parallelism.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/serving/parallel_training_cost.hpp>
#include <llmcost/serving/training_job.hpp>

// The parallel configurations that a search over a training job considers.
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
    bool distributes_experts = true;  ///< whether its rules distribute routed experts over ranks
    /// Pipeline schedules, by their names in `training_parallelism`.
    std::vector<std::string> schedules{"1f1b", "interleaved"};
};

/// What is searched. A size of 0: all sizes.
struct training_search_space {
    std::int64_t devices = 1;
    std::int64_t global_batch = 1;   ///< sequences of a step
    std::int64_t sequence = 1;       ///< tokens of a sequence
    std::uint64_t memory_bytes = 0;  ///< of a device; 0: no limit
    std::int64_t tensor = 0, pipeline = 0, context = 0, expert = 0, expert_tensor = 0, data = 0, data_replicate = 0;
    std::int64_t batch = 0;  ///< sequences of a microbatch
    std::size_t num_results = 5;
    bool is_exhaustive = false;  ///< computes the exact memory and time of every configuration, without bounds
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
    std::uint64_t num_slower = 0;         ///< by lower bounds of their time, and of their memory
    std::uint64_t num_timed = 0;          ///< whose exact time was computed
};

}  // namespace llmcost

namespace llmcost::detail {

/// The sizes of a job that `for_each_division` visits.
struct searched_sizes {
    searched_sizes(const training_search_space& space, const model& m, std::int64_t devices_per_node);

    std::int64_t layers = 1;
    std::vector<std::int64_t> tensor{}, context{}, expert{}, batch{};
};

/// The values of a size: the given one, or those of `all`.
[[nodiscard]] std::vector<std::int64_t> values_of(std::int64_t given, std::vector<std::int64_t> all);

[[nodiscard]] std::vector<std::int64_t> powers_of_two(std::int64_t maximum);

[[nodiscard]] std::vector<std::int64_t> divisors_of(std::int64_t n);

/// Whether a pipeline schedule supports the sizes of a job, and divides the layers equally if a rank has several
/// stages.
[[nodiscard]] bool supports_schedule(const training_parallelism& parallel, std::int64_t layers);

/// Calls `visit` with each division of a job over the devices: everything except microbatches and pipeline schedule.
template <class Supports, class Visit>
void for_each_division(const training_search_space& space, const std::vector<training_variant>& variants,
                       const searched_sizes& sizes, Supports supports, Visit visit) {
    training_candidate c;
    training_parallelism& p = c.parallel;
    const auto visit_experts = [&](const training_variant& variant) {
        for (const std::int64_t expert : sizes.expert) {
            if (expert > 1 && !variant.distributes_experts) continue;
            const bool divides_experts = expert > 1 && variant.rules == split_rules::megatron;
            for (const std::int64_t expert_tensor : divides_experts
                                                        ? values_of(space.expert_tensor, powers_of_two(p.tensor))
                                                        : std::vector<std::int64_t>{1}) {
                p.expert = expert;
                p.expert_tensor = expert_tensor;
                if (expert > 1 && ((p.data * p.context * p.tensor) % (expert * expert_tensor) != 0 || !supports(p)))
                    continue;
                visit(c);
            }
        }
    };
    for (c.variant = 0; c.variant < variants.size(); ++c.variant) {
        const training_variant& variant = variants[c.variant];
        p = {};
        p.rules = variant.rules;
        const bool shards = variant.is_fully_sharded() || variant.settings.has_distributed_optimizer;
        for (const std::int64_t tensor : sizes.tensor) {
            p.tensor = tensor;
            p.has_sequence_parallel = tensor > 1;
            p.has_loss_parallel = tensor > 1 && variant.job.parallel.has_loss_parallel;
            p.expert = p.expert_tensor = 1;
            if (!supports(p)) continue;
            for (const std::int64_t context : sizes.context) {
                p.context = context;
                if (space.sequence % context != 0 || space.devices % (tensor * context) != 0) continue;
                const std::int64_t remaining = space.devices / (tensor * context);
                for (const std::int64_t pipeline : values_of(space.pipeline, divisors_of(remaining))) {
                    p.pipeline = pipeline;
                    if (pipeline > sizes.layers || remaining % pipeline != 0) continue;
                    if (pipeline > 1 && !variant.allows_pipeline()) continue;
                    const std::int64_t samples = remaining / pipeline;  // ranks with different ones
                    if (space.global_batch % samples != 0) continue;
                    for (const std::int64_t replicas : variant.is_fully_sharded()
                                                           ? values_of(space.data_replicate, divisors_of(samples))
                                                           : std::vector<std::int64_t>{1}) {
                        if (samples % replicas != 0) continue;
                        p.data_replicate = replicas;
                        p.data = samples / replicas;
                        if (space.data > 0 && p.data != space.data) continue;
                        if (shards && p.data * context == 1) continue;  // nothing to shard
                        visit_experts(variant);
                    }
                }
            }
        }
    }
}

/// Calls `visit` with each configuration of a division.
template <class Visit>
void for_each_configuration(const training_search_space& space, const std::vector<training_variant>& variants,
                            const searched_sizes& sizes, training_candidate c, Visit visit) {
    training_parallelism& p = c.parallel;
    const std::int64_t samples = space.global_batch / p.num_replicas();
    for (const std::int64_t batch : sizes.batch) {
        if (samples % batch != 0) continue;
        c.batch = batch;
        p.microbatches = samples / batch;
        for (const std::string& schedule : variants[c.variant].schedules) {
            p.schedule = schedule;
            for (p.stages_per_rank = 1; p.stages_per_rank * p.pipeline <= sizes.layers; ++p.stages_per_rank) {
                if (supports_schedule(p, sizes.layers)) visit(c);
                if (p.pipeline == 1) break;
            }
        }
    }
}

}  // namespace llmcost::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/serving/impl/training_candidates.ipp>  // IWYU pragma: export
#endif
