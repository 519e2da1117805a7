// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/pages/rank_page.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/distributed/pipeline_action.hpp>
#include <llmcost/distributed/pipeline_ranks.hpp>
#include <llmcost/distributed/pipeline_schedule.hpp>
#include <llmcost/distributed/schedule_communication.hpp>
#include <llmcost/distributed/training_parallelism.hpp>
#include <llmcost/distributed/training_rank.hpp>
#include <llmcost/memory/replay_observer.hpp>
#include <llmcost/report/json_writer.hpp>
#include <llmcost/trace/collective.hpp>

namespace llmcost::cli::detail {

[[nodiscard]] LLMCOST_INLINE std::string_view name_of_phase(training_phase phase) {
    constexpr std::string_view names[]{"forward", "backward", "clip", "optimizer"};
    return names[static_cast<std::size_t>(phase)];
}

[[nodiscard]] LLMCOST_INLINE std::string_view type_name(const collective_event& c) {
    return c.has_integers ? "int64" : std::string_view(name_of(c.type));
}

LLMCOST_INLINE void write_collective(json_writer& json, const collective_event& c) {
    json.object().member("op", std::string_view(name_of(c.kind)));
    json.member("group", std::string_view(name_of(c.axis))).member("group_size", c.group_size);
    json.member("in_bytes", count(c.in_bytes)).member("out_bytes", count(c.out_bytes));
    json.member("dtype", type_name(c)).member("phase", name_of_phase(c.phase));
    json.member("module", c.module);
    if (c.peer >= 0) json.member("peer", c.peer);
    json.end_object();
}

LLMCOST_INLINE void write_ranks(json_writer& json, const std::vector<training_rank>& ranks) {
    json.key("ranks").array();
    for (const training_rank& r : ranks) {
        json.object().member("rank", r.rank).member("parameters_bytes", count(r.parameters_bytes));
        if (r.padded_parameters_bytes > 0) json.member("padded_parameters_bytes", count(r.padded_parameters_bytes));
        json.member("gradients_bytes", count(r.gradients_bytes)).member("buffers_bytes", count(r.buffers_bytes));
        json.member("optimizer_bytes", count(r.optimizer_bytes));
        if (r.saved_bytes) json.member("saved_bytes", count(*r.saved_bytes));
        json.key("flops").object();
        if (r.stages.empty())
            json.member("forward", r.forward_flops).member("backward", r.backward_flops);
        else
            json.member("all", r.forward_flops + r.backward_flops);
        json.end_object();
        if (!r.stages.empty()) {
            json.key("stages").array(true);
            for (const std::int64_t stage : r.stages) json.value(stage);
            json.end_array();
        }
        json.key("parameters").object();
        for (const parameter_shard& p : r.parameters) {
            json.key(p.name).array(true).array(true);
            for (const std::int64_t size : p.sizes) json.value(size);
            json.end_array().value(count(p.bytes)).end_array();
        }
        json.end_object().key("collectives").array();
        for (const collective_event& c : r.collectives) write_collective(json, c);
        json.end_array().end_object();
    }
    json.end_array();
}

LLMCOST_INLINE void write_schedule(json_writer& json, const training_parallelism& parallel) {
    if (parallel.pipeline == 1) return;
    const distributed::pipeline_schedule schedule = schedule_of(parallel);
    const distributed::ranked_actions order = distributed::pytorch_pipeline_order(schedule);
    const distributed::ranked_actions executed = distributed::add_communication(schedule);
    json.key("schedule").array();
    for (std::size_t rank = 0; rank < order.size(); ++rank) {
        json.object().member("rank", static_cast<std::int64_t>(rank));
        json.member("actions", distributed::actions_text(order[rank]));
        json.member("with_communication", distributed::actions_text(executed[rank])).end_object();
    }
    json.end_array();
}

/// Equal collectives of a rank.
struct collective_sum {
    collective_event event;
    std::int64_t times = 0;
};

[[nodiscard]] LLMCOST_INLINE std::vector<collective_sum> sum_collectives(const std::vector<collective_event>& all) {
    std::vector<collective_sum> out;
    for (const collective_event& c : all) {
        const auto place = std::ranges::find_if(out, [&](const collective_sum& s) {
            const collective_event& e = s.event;
            return e.kind == c.kind && e.axis == c.axis && e.group_size == c.group_size && e.in_bytes == c.in_bytes &&
                   e.out_bytes == c.out_bytes && e.type == c.type && e.has_integers == c.has_integers &&
                   e.phase == c.phase;
        });
        if (place == out.end())
            out.push_back({c, 1});
        else
            ++place->times;
    }
    return out;
}

LLMCOST_INLINE std::string rank_lines(const std::vector<training_rank>& ranks) {
    std::string out = "\n  " + left("rank", 8) + right("parameters", 12) + right("gradients", 12) +
                      right("optimizer", 12) + right("collectives", 13) + '\n';
    for (const training_rank& r : ranks)
        out += "  " + left(std::to_string(r.rank), 8) + right(in_bytes(count(r.parameters_bytes)), 12) +
               right(in_bytes(count(r.gradients_bytes)), 12) + right(in_bytes(count(r.optimizer_bytes)), 12) +
               right(grouped(count(r.collectives.size())), 13) + '\n';
    const auto same_collectives = [](const training_rank& a, const training_rank& b) {
        return std::ranges::equal(a.collectives, b.collectives,
                                  [](const collective_event& x, const collective_event& y) {
                                      return x.kind == y.kind && x.in_bytes == y.in_bytes &&
                                             x.out_bytes == y.out_bytes && x.module == y.module;
                                  });
    };
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        if (i > 0 && same_collectives(ranks[i], ranks[i - 1])) continue;
        out += "Collectives of rank " + std::to_string(ranks[i].rank) + " in a step\n  " + left("operation", 16) +
               left("group", 14) + left("phase", 10) + left("type", 10) + right("times", 8) + right("in", 11) +
               right("out", 11) + '\n';
        for (const collective_sum& s : sum_collectives(ranks[i].collectives))
            out += "  " + left(std::string_view(name_of(s.event.kind)), 16) +
                   left(std::string(std::string_view(name_of(s.event.axis))) + ' ' + std::to_string(s.event.group_size),
                        14) +
                   left(name_of_phase(s.event.phase), 10) + left(type_name(s.event), 10) +
                   right(grouped(count(s.times)), 8) + right(in_bytes(count(s.event.in_bytes)), 11) +
                   right(in_bytes(count(s.event.out_bytes)), 11) + '\n';
    }
    return out;
}

}  // namespace llmcost::cli::detail
