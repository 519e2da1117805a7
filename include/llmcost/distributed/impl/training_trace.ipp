// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/distributed/training_trace.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/distributed/collective_recorder.hpp>
#include <llmcost/distributed/training_rank.hpp>
#include <llmcost/graph/execution_trace.hpp>
#include <llmcost/memory/replay_observer.hpp>
#include <llmcost/trace/collective.hpp>

namespace llmcost::detail {

/// Whether a collective is one of data-parallel ranks: it gathers parameters or reduces gradients.
[[nodiscard]] LLMCOST_INLINE bool is_of_parameters(const collective_event& c) {
    switch (c.axis) {
        case mesh_axis::data_replicate:
        case mesh_axis::data:
        case mesh_axis::fully_sharded:
        case mesh_axis::expert_data: return true;
        default: return false;
    }
}

/// Builds the trace of one rank.
class training_trace_builder {
public:
    explicit training_trace_builder(std::int64_t rank) : rank_(static_cast<std::int32_t>(rank)) {}

    void add(const computed_part& part) {
        trace_node n{.id = next_id(), .name = part.phase == training_phase::forward ? "forward" : "backward"};
        n.data = std::exchange(results_, {});
        if (last_computation_ > 0) n.data.push_back(last_computation_);
        n.flops = part.flops;
        n.bytes = part.bytes;
        last_computation_ = n.id;
        nodes_.push_back(std::move(n));
    }
    void add(const collective_event& c) {
        trace_node n{.id = next_id(), .name = std::string(std::string_view(name_of(c.kind)))};
        if (!c.module.empty()) n.name += ' ' + c.module;
        n.bytes = c.kind == collective_kind::recv ? c.out_bytes : c.in_bytes;
        n.collective = c.kind;
        const bool is_message = c.peer >= 0, is_recv = c.kind == collective_kind::recv;
        const bool gathers = is_of_parameters(c) && c.kind == collective_kind::all_gather;
        n.kind = is_recv ? trace_kind::receive : is_message ? trace_kind::send : trace_kind::collective;
        if (is_message) {
            const auto peer = static_cast<std::int32_t>(c.peer);
            n.source_device = is_recv ? peer : rank_;
            n.to = is_recv ? rank_ : peer;
            n.tag = static_cast<std::int32_t>(c.tag);
        } else {
            std::uint64_t& last = last_of_axis_[static_cast<std::size_t>(c.axis)];
            if (last > 0) n.control.push_back(last);
            last = n.id;
        }
        if (last_computation_ > 0 && !gathers && !is_recv) n.data.push_back(last_computation_);
        const bool is_reduction = is_of_parameters(c) && !gathers;
        if (!is_reduction && n.kind != trace_kind::send) results_.push_back(n.id);
        nodes_.push_back(std::move(n));
    }
    [[nodiscard]] std::vector<trace_node> take() { return std::move(nodes_); }

private:
    [[nodiscard]] std::uint64_t next_id() const noexcept { return nodes_.size() + 1; }

    std::int32_t rank_;
    std::vector<trace_node> nodes_;
    std::vector<std::uint64_t> results_;  ///< nodes that the next computation waits for
    std::uint64_t last_computation_ = 0;
    std::array<std::uint64_t, num_mesh_axes> last_of_axis_{};
};

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE std::vector<trace_node> training_trace_of(const training_rank& rank) {
    detail::training_trace_builder builder(rank.rank);
    std::size_t part = 0;
    for (std::size_t i = 0; i <= rank.collectives.size(); ++i) {
        for (; part < rank.parts.size() && rank.parts[part].next_collective <= i; ++part) builder.add(rank.parts[part]);
        if (i < rank.collectives.size()) builder.add(rank.collectives[i]);
    }
    return builder.take();
}

}  // namespace llmcost
