// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/distributed/simai_workload.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/distributed/pipeline_stage.hpp>
#include <llmcost/distributed/training_parallelism.hpp>
#include <llmcost/distributed/training_rank.hpp>
#include <llmcost/memory/replay_observer.hpp>
#include <llmcost/trace/collective.hpp>

namespace llmcost::detail {

/// A collective in a workload of SimAI; without a name: none.
struct simai_collective {
    std::string name{};
    std::uint64_t bytes = 0;

    [[nodiscard]] bool empty() const noexcept { return name.empty(); }
};

/// A line of a workload of SimAI: forward, input gradients, weight gradients.
struct simai_line {
    std::string name{};
    std::array<simai_collective, 3> collectives{};
};

/// `ALLREDUCE`, `ALLTOALL_EP`. A suffix names groups other than those of the column.
[[nodiscard]] LLMCOST_INLINE simai_collective to_simai(const collective_event& c) {
    constexpr std::string_view names[num_collective_kinds]{"",         "ALLREDUCE", "ALLGATHER", "REDUCESCATTER",
                                                           "ALLTOALL", "BROADCAST", "",          ""};
    const bool is_expert = c.axis == mesh_axis::expert;
    const bool is_expert_data = c.axis == mesh_axis::expert_data;
    return {std::string(names[static_cast<std::size_t>(c.kind)]) + (is_expert        ? "_EP"
                                                                    : is_expert_data ? "_DP_EP"
                                                                                     : ""),
            std::max(c.in_bytes, c.out_bytes)};
}

/// The lines of a rank. SimAI executes gradients from the last line to the first.
[[nodiscard]] LLMCOST_INLINE std::vector<simai_line> simai_lines_of(const training_rank& rank) {
    constexpr std::size_t forward = 0, input_gradient = 1, weight_gradient = 2;
    std::vector<simai_line> lines, forward_lines, backward_lines;
    for (const collective_event& c : rank.collectives) {
        if (c.axis == mesh_axis::pipeline) continue;
        simai_line line{.name = c.module.empty() ? "model" : c.module};
        std::ranges::replace(line.name, ' ', '_');
        if (is_of_data_ranks(c)) {
            line.collectives[weight_gradient] = to_simai(c);
            lines.push_back(std::move(line));
        } else if (c.phase == training_phase::forward) {
            line.collectives[forward] = to_simai(c);
            forward_lines.push_back(std::move(line));
        } else {
            // the last forward of the module whose backward is not known yet
            const auto place = std::find_if(forward_lines.rbegin(), forward_lines.rend(), [&](const simai_line& l) {
                return l.name == line.name && l.collectives[input_gradient].empty();
            });
            if (place == forward_lines.rend()) backward_lines.push_back(std::move(line));
            (place == forward_lines.rend() ? backward_lines.back() : *place).collectives[input_gradient] = to_simai(c);
        }
    }
    lines.insert(lines.end(), forward_lines.begin(), forward_lines.end());
    lines.insert(lines.end(), backward_lines.rbegin(), backward_lines.rend());
    return lines;
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE std::string simai_error(const training_parallelism& parallel) {
    return parallel.context > 1 ? "SimAI has no group for --cp" : std::string();
}

LLMCOST_INLINE std::string simai_workload_of(const training_rank& rank, const training_parallelism& parallel,
                                             const simai_compute& compute) {
    const std::vector<detail::simai_line> lines = detail::simai_lines_of(rank);
    std::uint64_t message_bytes = 0;
    for (const collective_event& c : rank.collectives)
        if (c.peer >= 0) message_bytes = std::max({message_bytes, c.in_bytes, c.out_bytes});
    // nanoseconds of a line that has a collective in a column; of each line if none has
    const std::array<double, 3> sums{compute.forward_nanoseconds, compute.backward_nanoseconds, 0};
    std::array<bool, 3> is_used{};
    std::array<std::uint64_t, 3> times{};
    for (std::size_t column = 0; column < times.size(); ++column) {
        const auto parts =
            std::ranges::count_if(lines, [&](const detail::simai_line& l) { return !l.collectives[column].empty(); });
        is_used[column] = parts > 0;
        const auto num_parts = static_cast<double>(parts > 0 ? parts : std::max<std::ptrdiff_t>(1, std::ssize(lines)));
        times[column] = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(sums[column] / num_parts));
    }
    const auto number = [](std::int64_t n) { return std::to_string(n); };
    std::string out = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: " + number(parallel.tensor) +
                      " ep: " + number(parallel.expert) + " pp: " + number(parallel.pipeline) +
                      " vpp: " + number(parallel.stages_per_rank) + " ga: " + number(parallel.microbatches) +
                      " all_gpus: " + number(parallel.world_size()) + " checkpoints: 0 checkpoint_initiates: 0" +
                      " pp_comm: " + std::to_string(message_bytes) + '\n' + std::to_string(lines.size()) + '\n';
    constexpr std::string_view process_time = "100";
    for (const detail::simai_line& line : lines) {
        out += line.name + "\t-1";
        for (std::size_t column = 0; column < line.collectives.size(); ++column) {
            const detail::simai_collective& c = line.collectives[column];
            out += '\t' + std::to_string(is_used[column] && c.empty() ? 1 : times[column]) + '\t' +
                   (c.empty() ? "NONE" : c.name) + '\t' + std::to_string(c.bytes);
        }
        out += '\t' + std::string(process_time) + '\n';
    }
    return out;
}

}  // namespace llmcost
