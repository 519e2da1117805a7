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
                                       bool has_distributed_optimizer, bool is_padded) {
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
        const std::uint64_t n = buffer_elements(stage.parameters, is_routed, std::max<std::int64_t>(ranks, 1),
                                                has_distributed_optimizer && is_padded);
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

LLMCOST_INLINE recorded_training record_rank(const model& m, const workload& load, const training_plan& plan,
                                             std::int64_t tensor) {
    parallel_config sizes;
    sizes.tensor_parallel_size = tensor;
    return record_training(shard_model(m, sizes), load, plan, true);
}

LLMCOST_INLINE model megatron_model_of(const model& m, workload& load, training_plan& plan,
                                       const training_parallelism& parallel, const megatron_settings& settings) {
    model padded = m;
    padded.config.vocab_size = padded_vocabulary(m.config.vocab_size, settings.vocabulary_multiple, parallel.tensor);
    load.implementation = attention_implementation::sdpa;
    load.uses_cpu_kernels = load.has_training_cache = false;
    if (load.cuda_capability == 0) load.cuda_capability = 90;
    plan.loss = training_loss::labels;
    return padded;
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

LLMCOST_INLINE recorded_job record_job(const model& m, workload load, training_plan plan,
                                       const training_parallelism& parallel, const megatron_settings& settings) {
    const bool is_megatron = parallel.rules == split_rules::megatron;
    load.sequence = (load.sequence + parallel.context - 1) / parallel.context;
    model padded = m;
    recorded_job out;
    out.settings = settings;
    out.cuda_capability = load.cuda_capability > 0 ? load.cuda_capability : 90;
    if (is_megatron) padded = detail::megatron_model_of(m, load, plan, parallel, settings);
    std::optional<tensor_parallel_policy> policy;
    const bool divides_layers = parallel.tensor > 1 || parallel.expert > 1;
    if (!is_megatron && divides_layers && find_tensor_parallel_plan(padded))
        plan.parallel_policy = &policy.emplace(padded, parallel, 0);
    recorded_training recorded = policy ? record_training(policy->shard(padded), load, plan, true)
                                        : detail::record_rank(padded, load, plan, parallel.tensor);
    training_schedule& schedule = out.schedule = recorded.plan.schedule;
    schedule.tensor_parallel_size = parallel.tensor;
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
        out.pass = megatron_tape_of(recorded.pass, undivided.pass, options);
        schedule.data_parallel_size = 1;
        schedule.cuda_capability = 0;  // bytes of tensors
        schedule.has_master_weights = false;
        schedule.has_float32_gradients = true;
        schedule.optimizer = find_optimizer("none");
        schedule.num_steps = 1;
    } else {
        if (policy) policy->mark_parameters(recorded.pass, schedule.sharding == sharding_strategy::fsdp);
        out.pass = std::move(recorded.pass);
        if (parallel.has_sequence_parallel && parallel.tensor > 1 && !policy)
            divide_sequence(out.pass,
                            sequence_divided_tensors(out.pass, detail::record_rank(padded, load, plan, 1).pass),
                            parallel.tensor);
    }
    out.regions = layer_regions_of(out.pass, m.config.num_hidden_layers);
    out.signatures = detail::layer_signatures(out.pass, out.regions);
    return out;
}

LLMCOST_INLINE std::vector<std::uint64_t> saved_bytes_of_layers(const recorded_job& recorded) {
    const auto num_layers = static_cast<std::int64_t>(recorded.regions.size());
    const auto signature = [&](std::int64_t layer) { return recorded.signatures[static_cast<std::size_t>(layer)]; };
    const auto saved = [&](std::int64_t first, std::int64_t end) {
        return stage_memory_of(stage_tape_of(recorded.pass, recorded.regions, {first, end}), recorded.schedule, false)
            .saved_bytes;
    };
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> added;  // by the signatures of two layers
    for (std::int64_t i = 1; i + 2 < num_layers; ++i) {
        const auto [found, is_new] = added.try_emplace({signature(i), signature(i + 1)});
        if (!is_new) continue;
        const std::uint64_t one = saved(i, i + 1), two = saved(i, i + 2);
        found->second = two > one ? two - one : 0;
    }
    std::vector<std::uint64_t> out(static_cast<std::size_t>(num_layers));
    for (std::int64_t i = 0; i < num_layers; ++i) {
        const auto found = added.find({signature(std::max<std::int64_t>(i - 1, 0)), signature(i)});
        if (found != added.end()) out[static_cast<std::size_t>(i)] = found->second;
    }
    return out;
}

LLMCOST_INLINE training_schedule stage_schedule_of(const recorded_job& recorded, const training_parallelism& parallel) {
    training_schedule schedule = recorded.schedule;
    schedule.expert_data_parallel_size = parallel.expert_data() / parallel.data_replicate;
    if (parallel.rules != split_rules::megatron) detail::set_fsdp_of_job(schedule, parallel);
    return schedule;
}

LLMCOST_INLINE stage_memory stage_memory_of(recorded_job& recorded, const stage_layers& layers,
                                            const training_parallelism& parallel, const training_schedule& schedule,
                                            bool is_padded) {
    const bool is_megatron = parallel.rules == split_rules::megatron;
    const bool is_last = layers.end == static_cast<std::int64_t>(recorded.regions.size());
    std::vector<std::uint64_t> key(recorded.signatures.begin() + layers.first,
                                   recorded.signatures.begin() + layers.end);
    key.push_back((layers.first == 0 ? 1U : 0U) + (is_last ? 2U : 0U));
    auto stage = recorded.stages.find(key);
    if (stage == recorded.stages.end())
        stage = recorded.stages.emplace(key, stage_tape_of(recorded.pass, recorded.regions, layers)).first;
    const bool has_accumulation = parallel.microbatches > 1;
    key.push_back(has_accumulation ? 1 : 0);
    key.push_back(static_cast<std::uint64_t>(schedule.recompute));
    if (!is_megatron) {
        key.push_back(static_cast<std::uint64_t>(schedule.data_parallel_size));
        key.push_back(static_cast<std::uint64_t>(schedule.expert_data_parallel_size));
        key.push_back(schedule.fsdp.reshards_after_forward ? 1 : 0);
        key.push_back(static_cast<std::uint64_t>(schedule.sync));
    }
    auto found = recorded.memory.find(key);
    if (found == recorded.memory.end())
        found = recorded.memory.emplace(key, stage_memory_of(stage->second, schedule, has_accumulation)).first;
    stage_memory memory = found->second;
    if (is_megatron) {
        set_megatron_state(memory, stage->second, parallel, recorded.settings.has_distributed_optimizer, is_padded);
        memory.workspace_bytes =
            placeholder_gradient_bytes(stage->second) + megatron_workspace_bytes(recorded.cuda_capability, is_last);
    }
    return memory;
}

LLMCOST_INLINE std::vector<stage_memory> stage_memory_of(recorded_job& recorded, const training_parallelism& parallel) {
    const training_schedule schedule = stage_schedule_of(recorded, parallel);
    const auto num_layers = static_cast<std::int64_t>(recorded.regions.size());
    std::vector<stage_memory> out;
    std::vector<std::uint64_t> previous;
    for (const stage_layers& layers : divide_layers(num_layers, parallel.pipeline * parallel.stages_per_rank,
                                                    parallel.first_stage_layers, parallel.last_stage_layers)) {
        std::vector<std::uint64_t> signatures(recorded.signatures.begin() + layers.first,
                                              recorded.signatures.begin() + layers.end);
        signatures.push_back((layers.first == 0 ? 1U : 0U) + (layers.end == num_layers ? 2U : 0U));
        out.push_back(signatures == previous ? out.back() : stage_memory_of(recorded, layers, parallel, schedule));
        previous = std::move(signatures);
    }
    return out;
}

LLMCOST_INLINE training_job_memory training_memory_of(recorded_job& recorded, const training_parallelism& parallel) {
    training_job_memory out;
    out.stages = stage_memory_of(recorded, parallel);
    const bool has_pipeline = out.stages.size() > 1;
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

LLMCOST_INLINE training_job_memory training_memory_of(const model& m, workload load, training_plan plan,
                                                      const training_parallelism& parallel,
                                                      const megatron_settings& settings) {
    recorded_job recorded = record_job(m, std::move(load), std::move(plan), parallel, settings);
    return training_memory_of(recorded, parallel);
}

}  // namespace llmcost
