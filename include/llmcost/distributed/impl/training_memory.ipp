// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/distributed/training_memory.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/distributed/megatron_tape.hpp>
#include <llmcost/distributed/pipeline_action.hpp>
#include <llmcost/distributed/pipeline_memory.hpp>
#include <llmcost/distributed/pipeline_ranks.hpp>
#include <llmcost/distributed/pipeline_schedule.hpp>
#include <llmcost/distributed/sequence_parallel.hpp>
#include <llmcost/distributed/stage_tape.hpp>
#include <llmcost/distributed/tensor_parallel_policy.hpp>
#include <llmcost/distributed/training_parallelism.hpp>
#include <llmcost/memory/forward_replay.hpp>
#include <llmcost/memory/optimizer.hpp>
#include <llmcost/memory/parallel_config.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/tape.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/model/model_spec.hpp>

namespace llmcost {

LLMCOST_INLINE std::int64_t padded_vocabulary(std::int64_t vocabulary, std::int64_t multiple, std::int64_t tensor) {
    const std::int64_t unit = multiple * tensor;
    return (vocabulary + unit - 1) / unit * unit;
}

LLMCOST_INLINE std::uint64_t buffer_elements(const std::vector<tape_parameter>& parameters, bool is_routed,
                                             std::int64_t num_data_ranks, bool has_distributed_optimizer) {
    const auto pad = [](std::uint64_t n, std::uint64_t unit) { return (n + unit - 1) / unit * unit; };
    std::uint64_t elements = 0;
    for (const tape_parameter& p : parameters) {
        if (p.is_routed != is_routed || !p.is_trainable) continue;
        elements = (has_distributed_optimizer ? pad(elements, 64) : elements) + p.elements;
    }
    return has_distributed_optimizer
               ? pad(elements, static_cast<std::uint64_t>(std::lcm(num_data_ranks, std::int64_t{128})))
               : elements;
}

LLMCOST_INLINE void set_megatron_state(stage_memory& memory, const tape& stage, const training_parallelism& parallel,
                                       bool has_distributed_optimizer) {
    memory.has_gradient_buffers = true;
    memory.buffer_bytes = stage.buffer_bytes;
    memory.num_parameters = memory.parameter_bytes = memory.gradient_bytes = memory.optimizer_bytes = 0;
    std::uint64_t elements = 0, bytes = 0;
    for (const tape_parameter& p : stage.parameters) {
        elements += p.elements;
        bytes += p.bytes;
        if (!p.is_trainable) memory.parameter_bytes += p.bytes;
    }
    memory.num_parameters = elements;
    const std::uint64_t element_bytes =
        elements == 0 ? 2 : std::max<std::uint64_t>(1, (bytes + elements / 2) / elements);
    const std::uint64_t state_bytes = element_bytes < 4 ? 12 : 8;  // float32 parameters, and two moments
    for (const bool is_routed : {false, true}) {
        const std::int64_t ranks =
            is_routed ? parallel.expert_data() / parallel.data_replicate : parallel.data * parallel.context;
        const std::uint64_t n =
            buffer_elements(stage.parameters, is_routed, std::max<std::int64_t>(ranks, 1), has_distributed_optimizer);
        memory.parameter_bytes += element_bytes * n;
        memory.gradient_bytes += 4 * n;
        const auto shards =
            has_distributed_optimizer ? static_cast<std::uint64_t>(std::max<std::int64_t>(ranks, 1)) : 1;
        memory.optimizer_bytes += state_bytes * (n / shards);
    }
}

LLMCOST_INLINE std::uint64_t megatron_workspace_bytes(std::int32_t cuda_capability, bool has_head) {
    constexpr std::uint64_t mebibyte = 1024 * 1024;
    const std::uint64_t engine = cuda_capability >= 90 ? 32 * mebibyte + 256 : 4 * mebibyte;
    // forward and backward have handles of their own
    return engine + (has_head ? 2 * detail::cublas_workspace_bytes(cuda_capability) : 0);
}

LLMCOST_INLINE const rank_training_memory& training_job_memory::largest() const {
    return *std::ranges::max_element(ranks, [](const rank_training_memory& a, const rank_training_memory& b) {
        return a.peak.total < b.peak.total;
    });
}

}  // namespace llmcost

namespace llmcost::detail {

/// The pass of a tensor-parallel rank, and the plan of its replay.
[[nodiscard]] LLMCOST_INLINE recorded_training record_rank(const model& m, const workload& load,
                                                           const training_plan& plan, std::int64_t tensor) {
    parallel_config sizes;
    sizes.tensor_parallel_size = tensor;
    return record_training(shard_model(m, sizes), load, plan, true);
}

/// A number per layer; layers with equal operations, tensors and parameters have equal numbers.
[[nodiscard]] LLMCOST_INLINE std::vector<std::uint64_t> layer_signatures(const tape& pass,
                                                                         const std::vector<std::int32_t>& regions) {
    std::vector<std::uint64_t> by_region(pass.regions.size());
    const auto mix = [](std::uint64_t& to, std::uint64_t value) { to = (to ^ value) * 0x100000001b3ULL; };
    for (const tape_node& n : pass.nodes) {
        if (n.region < 0) continue;
        std::uint64_t& s = by_region[static_cast<std::size_t>(n.region)];
        mix(s, static_cast<std::uint64_t>(n.kind));
        mix(s, n.output_bytes);
        mix(s, n.saved_extra_bytes);
        for (const tape_edge& e : n.inputs) mix(s, e.bytes);
    }
    std::vector<std::uint64_t> out;
    out.reserve(regions.size());
    for (const std::int32_t region : regions) out.push_back(by_region[static_cast<std::size_t>(region)]);
    return out;
}

/// Parameters are sharded over the ranks of data and context parallelism. In a pipeline, stages stay gathered during a
/// step, and the last microbatch reduces gradients.
///
/// Source: torchtitan/distributed/fsdp.py, `get_fsdp_reshard_after_forward_policy`; torchtitan/distributed/
/// parallel_dims.py (`fsdp` mesh); torch/distributed/pipelining/stage.py, `backward_maybe_with_nosync`.
LLMCOST_INLINE void set_fsdp_of_job(training_schedule& schedule, const training_parallelism& parallel) {
    if (schedule.sharding != sharding_strategy::fsdp) return;
    schedule.data_parallel_size = parallel.data * parallel.context;
    if (parallel.pipeline == 1) return;
    schedule.fsdp.reshards_after_forward = false;
    schedule.sync = gradient_sync::last;
}

/// The actions of a job without a pipeline: at most two microbatches, all others are equal to the second.
[[nodiscard]] LLMCOST_INLINE distributed::rank_actions actions_without_pipeline(std::int64_t microbatches) {
    distributed::rank_actions out;
    for (int i = 0; i < static_cast<int>(std::min<std::int64_t>(microbatches, 2)); ++i) {
        out.push_back({.stage = 0, .kind = distributed::action_kind::forward, .microbatch = i});
        out.push_back({.stage = 0, .kind = distributed::action_kind::backward, .microbatch = i});
    }
    return out;
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE training_job_memory training_memory_of(const model& m, workload load, training_plan plan,
                                                      const training_parallelism& parallel,
                                                      const megatron_settings& settings) {
    const bool is_megatron = parallel.rules == split_rules::megatron;
    load.sequence = (load.sequence + parallel.context - 1) / parallel.context;
    model padded = m;
    const std::int32_t capability = load.cuda_capability > 0 ? load.cuda_capability : 90;
    if (is_megatron) {
        padded.config.vocab_size =
            padded_vocabulary(m.config.vocab_size, settings.vocabulary_multiple, parallel.tensor);
        load.implementation = attention_implementation::sdpa;
        load.uses_cpu_kernels = load.has_training_cache = false;
        load.cuda_capability = capability;
        plan.loss = training_loss::labels;
    }
    std::optional<tensor_parallel_policy> policy;
    const bool divides_layers = parallel.tensor > 1 || parallel.expert > 1;
    if (!is_megatron && divides_layers && find_tensor_parallel_plan(padded))
        plan.parallel_policy = &policy.emplace(padded, parallel, 0);
    recorded_training recorded = policy ? record_training(policy->shard(padded), load, plan, true)
                                        : detail::record_rank(padded, load, plan, parallel.tensor);
    training_schedule schedule = recorded.plan.schedule;
    schedule.tensor_parallel_size = parallel.tensor;
    schedule.expert_data_parallel_size = parallel.expert_data() / parallel.data_replicate;
    tape pass;
    if (is_megatron) {
        megatron_options options;
        options.tensor = parallel.tensor;
        options.expert = parallel.expert;
        options.expert_tensor = parallel.expert_tensor;
        options.has_sequence_parallel = parallel.has_sequence_parallel && parallel.tensor > 1;
        options.exchanges_heads = settings.exchanges_heads && parallel.context > 1;
        options.loss = settings.loss;
        options.recomputes_attention = schedule.recompute == recompute_mode::selective;
        options.recomputes_mlps = settings.recomputes_mlps;
        options.recomputes_moe = settings.recomputes_moe;
        if ((options.recomputes_mlps || options.recomputes_moe) && schedule.recompute == recompute_mode::none)
            schedule.recompute = recompute_mode::selective;
        options.recomputes_norms = settings.recomputes_norms;
        options.recomputes_activations = settings.recomputes_activations;
        const recorded_training undivided =
            options.has_sequence_parallel ? detail::record_rank(padded, load, plan, 1) : recorded_training{};
        pass = megatron_tape_of(recorded.pass, undivided.pass, options);
        schedule.data_parallel_size = 1;
        schedule.cuda_capability = 0;  // bytes of tensors
        schedule.has_master_weights = false;
        schedule.has_float32_gradients = true;
        schedule.optimizer = find_optimizer("none");
        schedule.num_steps = 1;
    } else {
        if (policy) policy->mark_parameters(recorded.pass, schedule.sharding == sharding_strategy::fsdp);
        pass = std::move(recorded.pass);
        if (parallel.has_sequence_parallel && parallel.tensor > 1 && !policy)
            divide_sequence(pass, sequence_divided_tensors(pass, detail::record_rank(padded, load, plan, 1).pass),
                            parallel.tensor);
        detail::set_fsdp_of_job(schedule, parallel);
    }

    training_job_memory out;
    const std::vector<std::int32_t> regions = layer_regions_of(pass, m.config.num_hidden_layers);
    const std::vector<std::uint64_t> signatures = detail::layer_signatures(pass, regions);
    const std::int64_t num_stages = parallel.pipeline * parallel.stages_per_rank;
    const auto num_layers = static_cast<std::int64_t>(regions.size());
    std::map<std::vector<std::uint64_t>, stage_memory> known;
    for (const stage_layers& layers :
         divide_layers(num_layers, num_stages, parallel.first_stage_layers, parallel.last_stage_layers)) {
        std::vector<std::uint64_t> key(signatures.begin() + layers.first, signatures.begin() + layers.end);
        key.push_back((layers.first == 0 ? 1U : 0U) + (layers.end == num_layers ? 2U : 0U));
        auto found = known.find(key);
        if (found == known.end()) {
            const tape stage = stage_tape_of(pass, regions, layers);
            stage_memory memory = stage_memory_of(stage, schedule, parallel.microbatches > 1);
            if (is_megatron) {
                set_megatron_state(memory, stage, parallel, settings.has_distributed_optimizer);
                memory.workspace_bytes =
                    placeholder_gradient_bytes(stage) + megatron_workspace_bytes(capability, layers.end == num_layers);
            }
            found = known.emplace(std::move(key), memory).first;
        }
        out.stages.push_back(found->second);
    }

    const bool has_pipeline = num_stages > 1;
    const distributed::ranked_actions order =
        has_pipeline ? schedule_of(parallel).order
                     : distributed::ranked_actions{detail::actions_without_pipeline(parallel.microbatches)};
    for (std::size_t rank = 0; rank < order.size(); ++rank) {
        rank_training_memory memory = rank_memory_of(out.stages, order[rank]);
        memory.pipeline_rank = static_cast<std::int64_t>(rank);
        memory.num_ranks = parallel.world_size() / parallel.pipeline;
        out.ranks.push_back(std::move(memory));
    }
    return out;
}

}  // namespace llmcost
