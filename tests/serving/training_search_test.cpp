// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "unmeasured.hpp"

#include <llmcost/devices/all.hpp>
#include <llmcost/distributed/pipeline_schedule.hpp>
#include <llmcost/distributed/stage_memory_bounds.hpp>
#include <llmcost/distributed/training_memory.hpp>
#include <llmcost/memory/rank_parameters.hpp>
#include <llmcost/presets.hpp>
#include <llmcost/serving/pipeline_time.hpp>
#include <llmcost/serving/training_bounds.hpp>
#include <llmcost/serving/training_search.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

// The search over training jobs: its bounds against exact values, its result against that without bounds.
using namespace llmcost;
using namespace llmcost::testing;

namespace {

workload load_of_job(dtype weights) {
    workload load;
    load.sequence = 1024;
    load.weights = load.activations = weights;
    load.autocast = false;
    load.uses_workload_dtypes = true;
    load.implementation = attention_implementation::sdpa;
    return load;
}

/// Megatron-LM with and without the distributed optimizer, FSDP with and without resharding.
std::vector<training_variant> variants_of(recompute_mode recompute) {
    std::vector<training_variant> out;
    for (const split_rules rules : {split_rules::megatron, split_rules::torch})
        for (const bool flag : {true, false}) {
            training_variant v;
            v.rules = rules;
            v.load = v.timed_load = load_of_job(rules == split_rules::megatron ? dtype::bfloat16 : dtype::float32);
            v.plan.schedule.recompute = recompute;
            if (rules == split_rules::megatron) {
                v.settings.has_distributed_optimizer = flag;
                v.job.sharding = flag ? sharding_strategy::zero1 : sharding_strategy::ddp;
            } else {
                v.plan.schedule.sharding = v.job.sharding = sharding_strategy::fsdp;
                v.plan.schedule.optimizer = find_optimizer("adamw:fused");
                v.plan.schedule.data_parallel_size = 2;
                v.plan.schedule.fsdp.gathered_type = dtype::bfloat16;
                v.plan.schedule.fsdp.reduced_type = dtype::float32;
                v.plan.schedule.fsdp.reshards_after_forward = v.job.reshards_after_forward = flag;
                v.plan.schedule.sync = flag ? gradient_sync::all : gradient_sync::last;
                v.job.reduces_each_microbatch = flag;
                v.schedules = {"1f1b", "interleaved", "interleaved-zero-bubble", "zbv"};
            }
            v.timed_plan = v.plan;
            v.timed_plan.schedule.sharding = sharding_strategy::ddp;
            v.timed_plan.schedule.data_parallel_size = 1;
            out.push_back(std::move(v));
        }
    return out;
}

training_search_result search(const model& m, std::vector<training_variant> variants, training_search_space space) {
    unmeasured no_measurements;
    execution on_node;
    on_node.devices_per_node = 4;
    const bool has_experts = m.config.moe.num_experts > 1;
    // gradients of experts with sequence parallelism are not known with the rules of PyTorch
    training_search of_model(m, m, on_node, *find_device("h100_sxm"), no_measurements, std::move(variants),
                             [&](const training_parallelism& p) {
                                 return has_experts ? p.tensor == 1 || p.rules == split_rules::megatron : p.expert == 1;
                             });
    return of_model(space);
}

std::string text_of(const evaluated_training& e) {
    const training_parallelism& p = e.candidate.parallel;
    std::string out = p.schedule;
    for (const std::int64_t n :
         {static_cast<std::int64_t>(e.candidate.variant), p.tensor, p.pipeline, p.stages_per_rank, p.context, p.expert,
          p.expert_tensor, p.data, p.data_replicate, e.candidate.batch})
        out += ' ' + std::to_string(n);
    return out + ": " + std::to_string(e.cost.total.seconds) + ' ' + std::to_string(e.peak_bytes);
}

std::string text_of(const std::vector<evaluated_training>& list) {
    std::string out;
    for (const evaluated_training& e : list) out += text_of(e) + '\n';
    return out;
}

/// Compares a search with the one that computes every configuration.
void check_search(const model& m, recompute_mode recompute, training_search_space space) {
    const training_search_result bounded = search(m, variants_of(recompute), space);
    space.is_exhaustive = true;
    const training_search_result exhaustive = search(m, variants_of(recompute), space);
    CHECK(text_of(bounded.best) == text_of(exhaustive.best));
    CHECK(text_of(bounded.pareto) == text_of(exhaustive.pareto));
    CHECK(bounded.num_candidates == exhaustive.num_candidates);
    CHECK(exhaustive.num_timed > 20);
    CHECK(4 * bounded.num_timed < exhaustive.num_timed);
    CHECK(bounded.num_out_of_memory + bounded.num_slower + bounded.num_timed <= bounded.num_candidates);
}

training_parallelism pipeline_of(split_rules rules, std::int64_t ranks, std::int64_t stages, std::int64_t data) {
    training_parallelism p;
    p.rules = rules;
    p.pipeline = ranks;
    p.stages_per_rank = stages;
    p.schedule = stages > 1 ? "interleaved" : "1f1b";
    p.data = data;
    p.microbatches = 2 * ranks;
    return p;
}

}  // namespace

TEST_CASE("bounds exclude no configuration of the result") {
    training_search_space space{.devices = 8, .global_batch = 8, .sequence = 1024, .memory_bytes = 0};
    check_search(presets::llama_3_2_1b, recompute_mode::none, space);
    space.memory_bytes = 24'000'000'000;
    check_search(presets::llama_3_2_1b, recompute_mode::full, space);
}

TEST_CASE("bounds exclude no configuration with experts") {
    model m = presets::qwen3_30b_a3b;
    m.config.num_hidden_layers = 8;
    const training_search_space space{
        .devices = 8, .global_batch = 8, .sequence = 1024, .memory_bytes = 80'000'000'000, .pipeline = 2, .batch = 1};
    check_search(m, recompute_mode::none, space);
}

TEST_CASE("bounds of stages are the memory of stages with as many layers, or less") {
    for (const recompute_mode recompute : {recompute_mode::none, recompute_mode::selective, recompute_mode::full})
        for (const training_variant& v : variants_of(recompute))
            for (const std::pair<int, int>& size : {std::pair{1, 1}, {2, 1}, {3, 1}, {2, 2}}) {
                const int ranks = size.first, stages = size.second;
                if (ranks > 1 && !v.allows_pipeline()) continue;
                const training_parallelism p = pipeline_of(v.rules, ranks, stages, 4);
                CAPTURE(ranks);
                CAPTURE(stages);
                CAPTURE(static_cast<int>(v.rules));
                stage_memory_bounds bounds(presets::llama_3_2_1b, v.load, v.plan, p, v.settings);
                bounds.set_schedule(v.plan.schedule, v.settings);
                const std::vector<stage_memory> minimum = bounds.stages(p);
                recorded_job job = record_job(presets::llama_3_2_1b, v.load, v.plan, p, v.settings);
                const training_job_memory exact = training_memory_of(job, p);
                REQUIRE(minimum.size() == exact.stages.size());
                for (std::size_t s = 0; s < minimum.size(); ++s) {
                    const stage_memory &a = minimum[s], &b = exact.stages[s];
                    CHECK(a.parameter_bytes <= b.parameter_bytes);
                    CHECK(a.gathered_bytes <= b.gathered_bytes);
                    CHECK(a.gradient_bytes <= b.gradient_bytes);
                    CHECK(a.optimizer_bytes <= b.optimizer_bytes);
                    CHECK(a.workspace_bytes <= b.workspace_bytes);
                    CHECK(a.saved_bytes == b.saved_bytes);
                    CHECK(a.forward_peak_bytes <= b.forward_peak_bytes);
                    CHECK(a.first_backward_peak_bytes <= b.first_backward_peak_bytes);
                    CHECK(a.backward_peak_bytes <= b.backward_peak_bytes);
                    CHECK(a.step_peak_bytes <= b.step_peak_bytes);
                }
                const std::uint64_t bound = minimum_peak_bytes(minimum, detail::unordered_schedule_of(p));
                const std::uint64_t peak = exact.largest().peak.total;
                CHECK(bound <= peak);
                CHECK(static_cast<double>(bound) > 0.8 * static_cast<double>(peak));
            }
}

TEST_CASE("the state of a rank is the bound of its memory, or more") {
    model m = presets::qwen3_30b_a3b;
    m.config.num_hidden_layers = 8;
    double dense = 0, experts = 0;
    for (const rank_parameter& p : rank_parameters_of(m, m, {.batch = 1, .sequence = 64}))
        (p.is_routed ? experts : dense) += static_cast<double>(p.elements.to_64());
    for (const training_variant& v : variants_of(recompute_mode::full))
        for (const std::int64_t tensor : {1, 2})
            for (const std::int64_t expert : {1, 4})
                for (const std::int64_t ranks : {1, 2}) {
                    if ((ranks > 1 && !v.allows_pipeline()) || (tensor > 1 && v.is_fully_sharded())) continue;
                    training_parallelism p = pipeline_of(v.rules, ranks, 1, 4 / tensor);
                    p.tensor = tensor;
                    p.has_sequence_parallel = tensor > 1;
                    p.expert = expert;
                    const training_job_memory exact = training_memory_of(m, v.load, v.plan, p, v.settings);
                    const auto pipeline = static_cast<double>(ranks);
                    CAPTURE(static_cast<int>(v.rules));
                    CAPTURE(tensor);
                    CAPTURE(expert);
                    CAPTURE(ranks);
                    const double bound = minimum_state_bytes(dense / pipeline, experts / pipeline, v, p);
                    const auto peak = static_cast<double>(exact.largest().peak.total);
                    CHECK(bound <= peak);
                    CHECK(bound > 0.3 * peak);
                }
}

TEST_CASE("a pipeline takes as long as the bound of its time, or longer") {
    for (const char* const name : {"1f1b", "interleaved", "interleaved-zero-bubble", "zbv"})
        for (const std::int64_t ranks : {2, 3, 4})
            for (const std::int64_t rounds : {2, 5}) {
                training_parallelism p;
                p.schedule = name;
                p.pipeline = ranks;
                p.microbatches = rounds * ranks;
                p.stages_per_rank = p.schedule == "1f1b" ? 1 : 2;
                const distributed::pipeline_schedule schedule = detail::timed_schedule_of(p);
                REQUIRE(!schedule.order.empty());
                for (int variant = 0; variant < 8; ++variant) {
                    std::vector<double> forward, backward;
                    for (int s = 0; s < schedule.num_stages(); ++s) {
                        forward.push_back(1 + (variant * (s + 1) * 7 % 5) * 0.3);
                        backward.push_back(1.5 + (variant * (s + 2) * 11 % 7) * 0.2);
                    }
                    const double exact = detail::pipeline_seconds(schedule, forward, backward, 0);
                    const double bound =
                        detail::minimum_pipeline_seconds(detail::unordered_schedule_of(p), forward, backward);
                    CAPTURE(name);
                    CHECK(bound <= exact);
                    CHECK(bound > 0.6 * exact);
                    if (variant == 0 && p.schedule == "1f1b") CHECK(bound == doctest::Approx(exact));
                }
            }
}
