// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/pages/job_page.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/pages/rank_page.hpp>
#include <llmcost/cli/pages/step_time.hpp>
#include <llmcost/cli/pages/train_page.hpp>
#include <llmcost/cli/request/memory_fit.hpp>
#include <llmcost/distributed/pipeline_memory.hpp>
#include <llmcost/distributed/training_memory.hpp>
#include <llmcost/distributed/training_parallelism.hpp>
#include <llmcost/memory/category.hpp>
#include <llmcost/report/json_writer.hpp>

namespace llmcost::cli::detail {

/// `8 ranks: pp 2, dp 4`.
[[nodiscard]] LLMCOST_INLINE std::string mesh_label(const training_parallelism& parallel) {
    std::string out = grouped(count(parallel.world_size())) + (parallel.world_size() == 1 ? " rank" : " ranks");
    std::string separator = ": ";
    const auto add = [&](std::string_view name, std::int64_t size) {
        if (size == 1) return;
        out += separator + std::string(name) + ' ' + grouped(count(size));
        separator = ", ";
    };
    add("pp", parallel.pipeline);
    add("stages per rank", parallel.stages_per_rank);
    add("dp replicate", parallel.data_replicate);
    add("dp", parallel.data);
    add("cp", parallel.context);
    add("tp", parallel.tensor);
    add("ep", parallel.expert);
    add("etp", parallel.expert_tensor);
    return out;
}

[[nodiscard]] LLMCOST_INLINE std::string_view rules_name(split_rules rules) {
    constexpr std::string_view names[]{"torch", "transformers", "megatron"};
    return names[static_cast<std::size_t>(rules)];
}

/// `forward of microbatch 1 in stage 0`.
[[nodiscard]] LLMCOST_INLINE std::string moment_label(const rank_training_memory& rank) {
    if (rank.stage < 0) return "optimizer step";
    return std::string(rank.phase) + ", stage " + std::to_string(rank.stage) + ", microbatch " +
           std::to_string(rank.microbatch);
}

/// Whether two pipeline ranks have one row in a table.
[[nodiscard]] LLMCOST_INLINE bool is_same_row(const rank_training_memory& a, const rank_training_memory& b) {
    return a.peak == b.peak && a.num_parameters == b.num_parameters && a.phase == b.phase;
}

/// `, 1f1b, 4 microbatches`; without a pipeline `, 4 microbatches`, or nothing if a step has one.
[[nodiscard]] LLMCOST_INLINE std::string schedule_label(const training_parallelism& parallel) {
    const bool has_pipeline = parallel.pipeline > 1;
    std::string out = has_pipeline ? ", " + parallel.schedule : "";
    if (has_pipeline || parallel.microbatches > 1)
        out += ", " + grouped(count(parallel.microbatches)) +
               (parallel.microbatches == 1 ? " microbatch" : " microbatches");
    return out;
}

LLMCOST_INLINE std::string job_page(const job_response& job) {
    const training_response& t = job.training;
    std::string out = t.read.found.name_of_model.name + "\n" + train_title(t) + "\n";
    out += mesh_label(job.parallel) + "; split as " + std::string(rules_name(job.parallel.rules)) +
           schedule_label(job.parallel) + "\n\n";
    out += left("pp rank", 9) + right("ranks", 7) + right("params", 9) + right("weights", 10) + right("gradients", 10) +
           right("optimizer", 10) + right("saved", 10) + right("temp", 10) + right("peak", 10) + "  at\n";
    const std::vector<rank_training_memory>& ranks = job.memory.ranks;
    for (std::size_t first = 0; first < ranks.size();) {
        std::size_t end = first + 1;
        std::int64_t num_ranks = ranks[first].num_ranks;
        for (; end < ranks.size() && is_same_row(ranks[first], ranks[end]); ++end) num_ranks += ranks[end].num_ranks;
        const rank_training_memory& r = ranks[first];
        const auto bytes = [&](memory_category c) { return right(in_bytes(count(r.peak[c])), 10); };
        out +=
            left(end == first + 1 ? std::to_string(first) : std::to_string(first) + '-' + std::to_string(end - 1), 9) +
            right(grouped(count(num_ranks)), 7) + right(scaled(count(r.num_parameters)), 9) +
            bytes(memory_category::parameters) + bytes(memory_category::gradients) + bytes(memory_category::optimizer) +
            bytes(memory_category::activations) + bytes(memory_category::temporaries) +
            right(in_bytes(count(r.peak.total)), 10) + "  " + moment_label(r) + '\n';
        first = end;
    }
    const rank_training_memory& largest = job.largest();
    out += "\nLargest: pipeline rank " + std::to_string(largest.pipeline_rank) + ", " + in_bytes(job.needed());
    if (largest.workspace_bytes > 0)
        out += ", of which " + in_bytes(count(largest.workspace_bytes)) + " are workspaces of libraries";
    out += '\n';
    if (!t.ranks.empty()) out += rank_lines(t.ranks);
    if (t.estimate) out += estimate_lines(*t.estimate, t.epoch_tokens);
    return out + memory_fit_text(t.limit, job.needed(),
                                 training_assumptions(t.read.subject, t.load, t.plan, t.precision, t.adapter_label));
}

LLMCOST_INLINE void write_bytes(json_writer& json, std::string_view key, const memory_bytes& b) {
    json.key(key).object().member("total", count(b.total));
    for (std::size_t i = 0; i < num_memory_categories; ++i)
        json.member(memory_category_names[i], count(b.category_bytes[i]));
    json.end_object();
}

LLMCOST_INLINE void write_moment(json_writer& json, const rank_training_memory& r) {
    json.key("peak_at").object().member("phase", r.phase).key("stage");
    r.stage < 0 ? json.null() : json.value(static_cast<std::int64_t>(r.stage));
    json.key("microbatch");
    r.stage < 0 ? json.null() : json.value(static_cast<std::int64_t>(r.microbatch));
    json.end_object();
}

LLMCOST_INLINE std::string job_json(const job_response& job) {
    const training_response& t = job.training;
    const training_parallelism& p = job.parallel;
    json_writer json;
    json.object().member("model", t.read.found.name_of_model.name).member("batch", t.load.batch);
    json.member("sequence", t.load.sequence).member("world_size", p.world_size());
    json.key("parallelism").object().member("split", rules_name(p.rules)).member("tp", p.tensor);
    json.member("pp", p.pipeline).member("cp", p.context).member("dp", p.data).member("dp_replicate", p.data_replicate);
    json.member("ep", p.expert).member("etp", p.expert_tensor).member("stages_per_rank", p.stages_per_rank);
    json.member("schedule", p.schedule).member("microbatches", p.microbatches);
    json.member("sequence_parallel", p.has_sequence_parallel).end_object();
    write_bytes(json, "peak", job.largest().peak);
    write_moment(json, job.largest());
    json.key("ranks_memory").array();
    for (const rank_training_memory& r : job.memory.ranks) {
        json.object().member("pipeline_rank", r.pipeline_rank).member("ranks", r.num_ranks).key("stages").array(true);
        for (const int stage : r.stages) json.value(static_cast<std::int64_t>(stage));
        json.end_array().member("parameters", count(r.num_parameters));
        json.member("parameters_bytes", count(r.parameter_bytes)).member("gradients_bytes", count(r.gradient_bytes));
        json.member("optimizer_bytes", count(r.optimizer_bytes)).member("buffers_bytes", count(r.buffer_bytes));
        json.member("workspace_bytes", count(r.workspace_bytes)).member("saved_bytes", count(r.saved_bytes));
        if (r.gathered_bytes > 0) json.member("gathered_bytes", count(r.gathered_bytes));
        write_bytes(json, "peak", r.peak);
        write_moment(json, r);
        json.end_object();
    }
    json.end_array();
    if (!t.ranks.empty()) write_ranks(json, t.ranks);
    write_schedule(json, p);
    write_memory_fit(json, t.limit, job.needed());
    if (t.estimate) write_estimate(json, *t.estimate, t.epoch_tokens);
    json.end_object();
    return json.text() + "\n";
}

LLMCOST_INLINE table job_table(const job_response& job) {
    table out{{{"pipeline_rank", true},
               {"ranks", true},
               {"parameters", true},
               {"parameters_bytes", true},
               {"gradients_bytes", true},
               {"optimizer_bytes", true},
               {"saved_bytes", true},
               {"peak", true}},
              {}};
    for (const rank_training_memory& r : job.memory.ranks)
        out.rows.push_back({std::to_string(r.pipeline_rank), std::to_string(r.num_ranks),
                            digits(count(r.num_parameters)), digits(count(r.parameter_bytes)),
                            digits(count(r.gradient_bytes)), digits(count(r.optimizer_bytes)),
                            digits(count(r.saved_bytes)), digits(count(r.peak.total))});
    return out;
}

}  // namespace llmcost::cli::detail
