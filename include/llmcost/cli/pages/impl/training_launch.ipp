// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/pages/training_launch.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/distributed/pipeline_schedule.hpp>
#include <llmcost/distributed/stage_tape.hpp>
#include <llmcost/distributed/training_parallelism.hpp>
#include <llmcost/memory/schedule.hpp>

namespace llmcost::cli {

LLMCOST_INLINE std::string pipeline_layout(std::int64_t num_layers, std::int64_t num_stages) {
    std::string out = "E";
    std::int64_t stage = 0;
    for (const stage_layers& layers : divide_layers(num_layers, num_stages))
        out += (stage++ > 0 ? "|t*" : "t*") + std::to_string(layers.size());
    return out + 'L';
}

}  // namespace llmcost::cli

namespace llmcost::cli::detail {

/// A command with options.
class launch_line {
public:
    explicit launch_line(std::string program, std::string_view separator)
        : text_(std::move(program)), separator_(separator) {}
    launch_line& add(std::string_view name) {
        text_ += ' ' + std::string(name);
        return *this;
    }
    launch_line& add(std::string_view name, std::string_view value) {
        text_ += ' ' + std::string(name) + std::string(separator_) + std::string(value);
        return *this;
    }
    launch_line& add(std::string_view name, std::int64_t value) { return add(name, std::to_string(value)); }
    /// A size of parallelism, if it is not 1.
    launch_line& add_size(std::string_view name, std::int64_t size) { return size > 1 ? add(name, size) : *this; }
    [[nodiscard]] const std::string& text() const noexcept { return text_; }

private:
    std::string text_;
    std::string_view separator_;
};

[[nodiscard]] LLMCOST_INLINE bool has_equal_stages(const launched_job& job) noexcept {
    return job.num_layers % (job.parallel.pipeline * job.parallel.stages_per_rank) == 0;
}

/// `torchrun --nnodes 8 --nproc-per-node 8`.
[[nodiscard]] LLMCOST_INLINE std::string torchrun_of(const launched_job& job) {
    const std::int64_t world = job.parallel.world_size(), node = std::min(world, job.devices_per_node);
    return "torchrun --nnodes " + std::to_string((world + node - 1) / node) + " --nproc-per-node " +
           std::to_string(node);
}

/// The class of a pipeline schedule in PyTorch, without `Schedule`.
[[nodiscard]] LLMCOST_INLINE std::string_view torch_schedule_name(const training_parallelism& parallel) {
    return distributed::pytorch_schedule_name(distributed::parse_schedule_name(parallel.schedule));
}

/// Why Megatron-Core does not run the schedule of a job; empty if it does.
[[nodiscard]] LLMCOST_INLINE std::string unsupported_schedule(const training_parallelism& parallel) {
    const bool is_supported =
        parallel.pipeline == 1 || parallel.schedule == "1f1b" || parallel.schedule == "interleaved";
    return is_supported ? "" : "interleaved 1F1B instead of " + std::string(torch_schedule_name(parallel));
}

/// The shards of parameters, gradients and optimizer in Megatron FSDP.
[[nodiscard]] LLMCOST_INLINE std::string_view megatron_sharding_strategy(const launched_job& job) noexcept {
    return job.reshards_after_forward ? "optim_grads_params" : "optim_grads";
}

[[nodiscard]] LLMCOST_INLINE std::string join_remarks(const std::vector<std::string>& remarks) {
    std::string out;
    for (const std::string& remark : remarks)
        if (!remark.empty()) out += (out.empty() ? "" : "; ") + remark;
    return out;
}

[[nodiscard]] LLMCOST_INLINE framework_launch torchtitan_launch(const launched_job& job) {
    const training_parallelism& p = job.parallel;
    launch_line line(torchrun_of(job) + " -m torchtitan.train --module NAME --config NAME", " ");
    line.add("--training.seq_len", job.sequence);
    // with a pipeline, a local batch has all microbatches
    line.add("--training.local_batch_size", p.pipeline > 1 ? job.batch * p.microbatches : job.batch);
    line.add("--training.global_batch_size", job.global_batch);
    const bool is_sharded = job.sharding != sharding_strategy::ddp;
    line.add("--parallelism.data_parallel_shard_degree", is_sharded ? p.data : 1);
    line.add_size("--parallelism.data_parallel_replicate_degree", is_sharded ? p.data_replicate : p.data);
    if (job.sharding == sharding_strategy::fsdp)
        line.add("--parallelism.fsdp_reshard_after_forward", job.reshards_after_forward ? "always" : "never");
    line.add_size("--parallelism.tensor_parallel_degree", p.tensor);
    line.add_size("--parallelism.context_parallel_degree", p.context);
    line.add_size("--parallelism.expert_parallel_degree", p.expert);
    if (p.pipeline > 1) {
        line.add("--parallelism.pipeline_parallel_degree", p.pipeline);
        line.add("--parallelism.pipeline_parallel_schedule", torch_schedule_name(p));
        line.add("--parallelism.pipeline_parallel_microbatch_size", job.batch);
        if (has_equal_stages(job))
            line.add("--parallelism.pipeline_parallel_layers_per_stage",
                     job.num_layers / (p.pipeline * p.stages_per_rank));
        // by default, embedding and head count as a layer each
        line.add("--parallelism.pipeline_parallel_first_stage_less_layers", 0);
        line.add("--parallelism.pipeline_parallel_last_stage_less_layers", 0);
    }
    line.add("--activation_checkpoint.mode", job.recompute == recompute_mode::none   ? "none"
                                             : job.recompute == recompute_mode::full ? "full"
                                                                                     : "selective");
    return {"torchtitan", line.text(),
            join_remarks(
                {job.sharding == sharding_strategy::zero1 ? "FSDP2 instead of a distributed optimizer" : "",
                 job.recompute == recompute_mode::selective ? "selective: operators instead of attention only" : ""})};
}

[[nodiscard]] LLMCOST_INLINE framework_launch megatron_launch(const launched_job& job) {
    const training_parallelism& p = job.parallel;
    const bool is_fsdp = job.sharding == sharding_strategy::fsdp;
    // sequence parallelism requires it before Blackwell, Megatron FSDP forbids it
    const std::string environment = p.tensor > 1 && !is_fsdp ? "CUDA_DEVICE_MAX_CONNECTIONS=1 " : "";
    launch_line line(environment + torchrun_of(job) + " pretrain_gpt.py --bf16", " ");
    line.add("--seq-length", job.sequence);
    line.add("--micro-batch-size", job.batch).add("--global-batch-size", job.global_batch);
    line.add("--tensor-model-parallel-size", p.tensor);
    line.add("--pipeline-model-parallel-size", p.pipeline);
    line.add_size("--context-parallel-size", p.context).add_size("--expert-model-parallel-size", p.expert);
    if (p.expert > 1) line.add("--expert-tensor-parallel-size", p.expert_tensor);
    if (p.tensor > 1) line.add("--sequence-parallel");
    if (p.pipeline > 1 && !has_equal_stages(job))
        line.add("--pipeline-model-parallel-layout",
                 '"' + pipeline_layout(job.num_layers, p.pipeline * p.stages_per_rank) + '"');
    else
        line.add_size("--num-virtual-stages-per-pipeline-rank", p.stages_per_rank);
    if (is_fsdp) {
        line.add("--use-megatron-fsdp").add("--data-parallel-sharding-strategy", megatron_sharding_strategy(job));
        line.add("--use-distributed-optimizer").add("--no-gradient-accumulation-fusion");
        line.add("--ckpt-format", "fsdp_dtensor");
        if (p.data_replicate > 1)
            line.add("--num-distributed-optimizer-instances", p.data_replicate)
                .add("--outer-dp-sharding-strategy", "no_shard");
    } else {
        if (job.sharding != sharding_strategy::ddp)
            line.add("--use-distributed-optimizer").add("--overlap-param-gather");
        line.add("--overlap-grad-reduce");
    }
    if (job.recompute == recompute_mode::full)
        line.add("--recompute-granularity", "full").add("--recompute-method", "uniform");
    if (job.recompute == recompute_mode::full) line.add("--recompute-num-layers", 1);
    if (job.recompute == recompute_mode::selective)
        line.add("--recompute-granularity", "selective").add("--recompute-modules", "core_attn");
    return {"Megatron-LM", line.text(),
            join_remarks({is_fsdp ? "Megatron FSDP instead of FSDP2" : "", unsupported_schedule(p)})};
}

[[nodiscard]] LLMCOST_INLINE framework_launch bridge_launch(const launched_job& job) {
    const training_parallelism& p = job.parallel;
    const bool is_fsdp = job.sharding == sharding_strategy::fsdp;
    launch_line line(torchrun_of(job) + " scripts/training/run_recipe.py --recipe NAME --mode pretrain", "=");
    line.add("dataset.seq_length", job.sequence).add("model.seq_length", job.sequence);
    line.add("train.micro_batch_size", job.batch).add("train.global_batch_size", job.global_batch);
    line.add("model.tensor_model_parallel_size", p.tensor);
    line.add("model.pipeline_model_parallel_size", p.pipeline);
    line.add("model.context_parallel_size", p.context);
    if (p.expert > 1)
        line.add("model.expert_model_parallel_size", p.expert)
            .add("model.expert_tensor_parallel_size", p.expert_tensor);
    line.add("model.sequence_parallel", p.tensor > 1 ? "true" : "false");
    if (p.pipeline > 1 && !has_equal_stages(job))
        line.add("model.pipeline_model_parallel_layout",
                 '"' + pipeline_layout(job.num_layers, p.pipeline * p.stages_per_rank) + '"');
    else
        line.add_size("model.virtual_pipeline_model_parallel_size", p.stages_per_rank);
    if (is_fsdp) {
        line.add("ddp.use_megatron_fsdp", "true")
            .add("ddp.data_parallel_sharding_strategy", megatron_sharding_strategy(job))
            .add("model.gradient_accumulation_fusion", "false")
            .add("checkpoint.ckpt_format", "fsdp_dtensor");
        if (p.data_replicate > 1)
            line.add("ddp.num_distributed_optimizer_instances", p.data_replicate)
                .add("ddp.outer_dp_sharding_strategy", "no_shard");
    }
    line.add("ddp.use_distributed_optimizer", job.sharding == sharding_strategy::ddp ? "false" : "true");
    if (job.recompute == recompute_mode::full)
        line.add("model.recompute_granularity", "full").add("model.recompute_method", "uniform");
    if (job.recompute == recompute_mode::full) line.add("model.recompute_num_layers", 1);
    if (job.recompute == recompute_mode::selective)
        line.add("model.recompute_granularity", "selective").add("model.recompute_modules", "[core_attn]");
    return {"NeMo (Megatron Bridge)", line.text(),
            join_remarks({is_fsdp ? "Megatron FSDP instead of FSDP2" : "", unsupported_schedule(p)})};
}

/// DeepSpeed reads its options from a JSON file; pipeline stages are an argument of `PipelineModule`.
[[nodiscard]] LLMCOST_INLINE framework_launch deepspeed_launch(const launched_job& job) {
    const training_parallelism& p = job.parallel;
    const auto member = [](std::string_view name, std::int64_t value) {
        return '"' + std::string(name) + "\": " + std::to_string(value);
    };
    const int stage = job.sharding == sharding_strategy::ddp    ? 0
                      : job.sharding != sharding_strategy::fsdp ? 1
                      : job.reshards_after_forward              ? 3
                                                                : 2;
    std::string json =
        "{" + member("train_batch_size", job.global_batch) + ", " +
        member("train_micro_batch_size_per_gpu", job.batch) + ", " +
        member("gradient_accumulation_steps", p.microbatches) + ", \"bf16\": {\"enabled\": true}, " +
        "\"zero_optimization\": {" + member("stage", stage) +
        (stage == 3 && p.data_replicate > 1 ? ", " + member("mics_shard_size", p.data * p.context) : "") + "}";
    if (p.tensor > 1) json += ", \"tensor_parallel\": {" + member("autotp_size", p.tensor) + '}';
    json += '}';
    std::vector<std::string> remarks;
    const auto note = [&](bool applies, const std::string& text) {
        if (applies) remarks.push_back(text);
    };
    note(p.pipeline > 1, "PipelineModule(num_stages=" + std::to_string(p.pipeline) + ')');
    note(p.pipeline > 1 && stage > 1, "no ZeRO " + std::to_string(stage) + " with a pipeline");
    note(p.stages_per_rank > 1, "no interleaved schedule");
    note(stage == 2 && p.data_replicate > 1, "ZeRO 2 over all data-parallel ranks");
    note(stage == 3 && p.data_replicate > 1, "deepspeed.zero.MiCS_Init");
    note(p.context > 1, "context parallelism: Ulysses, " + std::to_string(p.context) + " ranks");
    note(p.expert > 1, "deepspeed.moe.layer.MoE(ep_size=" + std::to_string(p.expert) + ')');
    note(job.recompute != recompute_mode::none, "deepspeed.checkpointing.checkpoint in the model");
    return {"DeepSpeed", json, join_remarks(remarks)};
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE std::vector<framework_launch> framework_launches(const launched_job& job) {
    return {detail::torchtitan_launch(job), detail::megatron_launch(job), detail::bridge_launch(job),
            detail::deepspeed_launch(job)};
}

}  // namespace llmcost::cli
