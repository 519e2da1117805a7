// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/args/parallelism_options.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/schedule_options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/distributed/training_parallelism.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::cli::detail {

LLMCOST_INLINE std::vector<std::string_view> schedule_names(const program&) {
    return {"gpipe", "1f1b", "interleaved", "looped-bfs", "interleaved-zero-bubble", "zbv", "dualpipev"};
}

LLMCOST_INLINE training_parallelism read_training_parallelism(const arguments& args) {
    training_parallelism out;
    out.rules = static_cast<split_rules>(args.choice(option::split));
    out.tensor = args.number(option::training_tp, 1);
    out.pipeline = args.number(option::training_pp, 1);
    out.context = args.number(option::training_cp, 1);
    out.data = args.number(option::shards, 1);
    out.data_replicate = args.number(option::replicas, 1);
    out.expert = args.number(option::training_ep, 1);
    out.expert_tensor = args.number(option::training_etp, 1);
    const int plan = args.choice(option::tp_plan);
    out.has_sequence_parallel = plan > 0 || args.has(option::sequence_parallel);
    out.has_loss_parallel = plan > 1;
    out.schedule = args.text(option::pipeline_schedule, "1f1b");
    out.stages_per_rank = args.number(option::stages_per_rank, 1);
    out.microbatches = args.number(option::microbatches, out.pipeline * out.stages_per_rank);
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
