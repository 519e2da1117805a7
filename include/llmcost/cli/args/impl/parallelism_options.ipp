// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/args/parallelism_options.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/schedule_options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/distributed/megatron_tape.hpp>
#include <llmcost/distributed/training_memory.hpp>
#include <llmcost/distributed/training_parallelism.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::cli::detail {

LLMCOST_INLINE std::vector<std::string_view> schedule_names(const program&) {
    return {"gpipe", "1f1b", "interleaved", "looped-bfs", "zb-h1", "interleaved-zero-bubble", "zbv", "dualpipev"};
}

/// The element type of `--fsdp-parameter-dtype` or `--fsdp-reduce-dtype`.
[[nodiscard]] LLMCOST_INLINE dtype fsdp_type(const arguments& args, const option_spec& o) {
    constexpr dtype types[]{dtype::float32, dtype::bfloat16, dtype::float16};
    return args.has(o) ? types[args.choice(o)] : dtype::unspecified;
}

LLMCOST_INLINE void read_sharding(const arguments& args, training_schedule& step) {
    step.sync = static_cast<gradient_sync>(args.choice(option::gradient_sync));
    step.clips_gradients = args.has(option::clip);
    constexpr double mebibyte = 1024 * 1024;
    if (args.has(option::bucket_mb))
        step.bucket_bytes = static_cast<std::uint64_t>(args.real(option::bucket_mb, 0, 0, 1e6) * mebibyte);
    fsdp_options& fsdp = step.fsdp;
    fsdp.replicas = args.number(option::training_replicas, 1);
    fsdp.gathered_type = fsdp_type(args, option::fsdp_parameter_dtype);
    fsdp.reduced_type = fsdp_type(args, option::fsdp_reduce_dtype);
    const bool is_transformers =
        args.has(option::training_split) && args.text(option::training_split) == "transformers";
    fsdp.is_data_axis_named_fsdp = is_transformers;
    fsdp.wrapping =
        is_transformers ? fsdp_wrapping::transformers : static_cast<fsdp_wrapping>(args.choice(option::fsdp_wrap));
    const std::string_view reshard = args.text(option::fsdp_reshard, "true");
    fsdp.reshards_after_forward = reshard != "false";
    if (reshard != "true" && reshard != "false") {
        fsdp.reshard_size = parse_integer("--fsdp-reshard", reshard, 1);
        if (step.data_parallel_size % fsdp.reshard_size != 0)
            throw_usage("--fsdp-reshard", "expected true, false or a divisor of --dp, found " + std::string(reshard));
    }
    if (is_transformers && step.data_parallel_size > 1) step.sharding = sharding_strategy::fsdp;
    if (args.has(option::ddp) && step.sharding != sharding_strategy::ddp)
        throw_usage("--ddp", "cannot be combined with --fsdp or --zero");
    const bool is_fsdp = step.sharding == sharding_strategy::fsdp;
    for (const option_spec& o : {option::training_replicas, option::fsdp_reshard, option::fsdp_wrap,
                                 option::fsdp_parameter_dtype, option::fsdp_reduce_dtype})
        if (args.has(o) && !is_fsdp) throw_usage(o.name, "requires --fsdp");
}

LLMCOST_INLINE training_parallelism read_training_parallelism(const arguments& args) {
    training_parallelism out;
    out.rules = static_cast<split_rules>(args.choice(option::training_split));
    out.tensor = args.number(option::training_tp, 1);
    out.pipeline = args.number(option::training_pp, 1);
    out.context = args.number(option::training_cp, 1);
    out.data = args.number(option::shards, 1);
    out.data_replicate = args.number(option::training_replicas, 1);
    out.expert = args.number(option::training_ep, 1);
    out.expert_tensor = args.number(option::training_etp, 1);
    const int plan = args.choice(option::tp_plan);
    out.has_sequence_parallel = plan > 0 || args.has(option::sequence_parallel);
    out.has_loss_parallel = plan > 1;
    out.rotates_context = args.choice(option::cp_rotate) == 1;
    out.schedule = args.text(option::pipeline_schedule, "1f1b");
    out.stages_per_rank = args.number(option::stages_per_rank, 1);
    out.first_stage_layers = args.number(option::first_stage_layers, -1);
    out.last_stage_layers = args.number(option::last_stage_layers, -1);
    const std::int64_t microbatches =
        std::max(out.pipeline * out.stages_per_rank, args.number(option::accumulation, 1));
    out.microbatches = args.number(option::microbatches, microbatches);
    return out;
}

LLMCOST_INLINE bool divides_model(const training_parallelism& parallel) noexcept {
    return parallel.tensor > 1 || parallel.pipeline > 1 || parallel.context > 1 || parallel.expert > 1 ||
           parallel.expert_tensor > 1 || parallel.rules == split_rules::megatron;
}

LLMCOST_INLINE megatron_settings read_megatron_settings(const arguments& args, training_schedule& step) {
    megatron_settings out;
    const bool is_megatron = args.has(option::training_split) && args.text(option::training_split) == "megatron";
    for (const option_spec& o : {option::cp_comm_type, option::cross_entropy, option::recompute_modules})
        if (args.has(o) && !is_megatron) throw_usage(o.name, "requires --split megatron");
    constexpr int all_to_all = 2;
    out.exchanges_heads = args.choice(option::cp_comm_type) == all_to_all;
    out.loss = static_cast<vocabulary_loss>(args.choice(option::cross_entropy));
    out.has_distributed_optimizer = args.has(option::zero) && args.choice(option::zero) > 0;
    std::string_view text = args.text(option::recompute_modules);
    while (!text.empty()) {
        const std::size_t comma = text.find(',');
        const std::string_view module = text.substr(0, comma);
        if (module == "core_attn") {
            if (step.recompute == recompute_mode::none) step.recompute = recompute_mode::selective;
        } else if (module == "mlp") {
            out.recomputes_mlps = true;
        } else if (module == "moe") {
            out.recomputes_moe = true;
        } else if (module == "layernorm") {
            out.recomputes_norms = true;
        } else if (module == "moe_act") {
            out.recomputes_activations = true;
        } else {
            throw_usage("--recompute-modules",
                        "expected core_attn, layernorm, mlp, moe or moe_act, found " + quote(std::string(module)));
        }
        text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    }
    return out;
}

LLMCOST_INLINE std::vector<std::int64_t> read_ranks(const arguments& args, std::int64_t world_size) {
    std::vector<std::int64_t> out;
    std::string_view text = args.text(option::ranks);
    if (text == "all") {
        for (std::int64_t rank = 0; rank < world_size; ++rank) out.push_back(rank);
        return out;
    }
    while (!text.empty()) {
        const std::size_t comma = text.find(',');
        const std::int64_t rank = parse_integer("--ranks", text.substr(0, comma), 0);
        if (rank >= world_size)
            throw_usage("--ranks", "no rank " + std::to_string(rank) + "; the job has " + std::to_string(world_size));
        out.push_back(rank);
        text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    }
    return out;
}

}  // namespace llmcost::cli::detail
