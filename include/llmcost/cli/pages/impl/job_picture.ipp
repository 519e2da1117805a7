// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/pages/job_picture.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/pages/job_page.hpp>
#include <llmcost/cli/request/memory_fit.hpp>
#include <llmcost/distributed/pipeline_memory.hpp>
#include <llmcost/distributed/pipeline_ranks.hpp>
#include <llmcost/distributed/pipeline_schedule.hpp>
#include <llmcost/distributed/schedule_simulation.hpp>
#include <llmcost/memory/category.hpp>
#include <llmcost/report/chart.hpp>
#include <llmcost/report/pipeline_timeline.hpp>
#include <llmcost/report/svg.hpp>
#include <llmcost/serving/parallel_training.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::cli::detail {

LLMCOST_INLINE distributed::schedule_durations stage_durations_of(const job_response& job) {
    const parallel_training_cost& cost = job.training.estimate->job->cost;
    const double passes = static_cast<double>(job.parallel.microbatches * job.parallel.stages_per_rank);
    const double forward = cost.forward.seconds / passes;
    const double backward = (cost.backward.seconds + cost.recomputed.seconds) / passes;
    distributed::schedule_durations out;
    out.forward = {forward};
    out.backward_input = out.backward_weight = {backward / 2};
    return out;
}

/// The peak of each pipeline rank, by category.
[[nodiscard]] LLMCOST_INLINE svg_picture rank_memory_picture(const job_response& job, const chart_text& labels) {
    std::vector<chart_group> groups;
    for (const rank_training_memory& r : job.memory.ranks) {
        chart_group group{"rank " + std::to_string(r.pipeline_rank), {}};
        for (std::size_t i = 0; i < num_memory_categories; ++i)
            if (const std::uint64_t bytes = r.peak.category_bytes[i]; bytes > 0)
                group.bars.push_back(
                    {std::string(memory_category_names[i]), static_cast<double>(bytes), in_bytes(count(bytes)), i});
        group.bars.push_back({"peak", static_cast<double>(r.peak.total), in_bytes(count(r.peak.total)), svg_kinds - 1});
        groups.push_back(std::move(group));
    }
    std::vector<chart_limit> limits;
    const memory_limit& limit = job.training.limit;
    if (limit.is_set()) limits.push_back({limit.label, static_cast<double>(limit.bytes)});
    return bar_chart(labels, groups, limits);
}

LLMCOST_INLINE svg_picture job_picture(const job_response& job) {
    const std::string& name = job.training.read.found.name_of_model.name;
    std::string description = "Peak memory of " + name;
    for (const rank_training_memory& r : job.memory.ranks)
        description += ", rank " + std::to_string(r.pipeline_rank) + ": " + in_bytes(count(r.peak.total));
    const chart_text memory_text{"Peak memory of each pipeline rank, " + name, description, "lc-memory"};
    if (job.parallel.pipeline == 1) return rank_memory_picture(job, memory_text);
    if (!job.training.estimate || !job.training.estimate->job)
        throw_usage("--plot", "a pipeline requires --device, for the time of its stages");
    const distributed::pipeline_schedule schedule = schedule_of(job.parallel);
    const distributed::schedule_timeline timeline = distributed::simulate(schedule, stage_durations_of(job));
    const chart_text schedule_text{std::string(distributed::schedule_name(schedule.kind)) + ", " + name,
                                   "Timeline of a training step without transfers. Bubbles: " +
                                       formatted("%.1f %%", 100 * timeline.bubble_fraction()) + " of the step.",
                                   "lc-schedule"};
    return stack_pictures(pipeline_timeline_picture(schedule_text, schedule, timeline),
                          rank_memory_picture(job, memory_text));
}

}  // namespace llmcost::cli::detail
