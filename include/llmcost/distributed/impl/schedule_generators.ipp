// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/distributed/schedule_generators.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

#include <llmcost/base/inline.hpp>

namespace llmcost::distributed::detail {

/// Appends actions to the order of one rank.
class order_writer {
public:
    explicit order_writer(rank_actions& actions) : actions_(&actions) {}

    void add(action_kind kind, int stage, int microbatch) { actions_->push_back({stage, kind, microbatch}); }
    void forward(int stage, int microbatch) { add(action_kind::forward, stage, microbatch); }
    void backward(int stage, int microbatch) { add(action_kind::backward, stage, microbatch); }
    void backward_input(int stage, int microbatch) { add(action_kind::backward_input, stage, microbatch); }
    void backward_weight(int stage, int microbatch) { add(action_kind::backward_weight, stage, microbatch); }
    void overlap(int stage, int microbatch, int backward_stage, int backward_microbatch) {
        actions_->push_back({stage, action_kind::overlap, microbatch, backward_stage, backward_microbatch});
    }
    /// Adds bubbles. None if `times` is negative.
    void idle(int times) {
        if (times > 0) actions_->resize(actions_->size() + static_cast<std::size_t>(times));
    }

private:
    rank_actions* actions_;
};

/// An empty order, filled by `write(rank, writer)` for each rank.
template <class Write>
ranked_actions order_of_ranks(int ranks, Write write) {
    ranked_actions order(static_cast<std::size_t>(ranks));
    for (int rank = 0; rank < ranks; ++rank) write(rank, order_writer(order[static_cast<std::size_t>(rank)]));
    return order;
}

LLMCOST_INLINE ranked_actions gpipe_order(int ranks, int microbatches) {
    return order_of_ranks(ranks, [&](int rank, order_writer out) {
        for (int i = 0; i < microbatches; ++i) out.forward(rank, i);
        for (int i = 0; i < microbatches; ++i) out.backward(rank, i);
    });
}

LLMCOST_INLINE ranked_actions one_forward_one_backward_order(int ranks, int microbatches) {
    return order_of_ranks(ranks, [&](int rank, order_writer out) {
        const int warmup = std::min(ranks - 1 - rank, microbatches);
        for (int i = 0; i < warmup; ++i) out.forward(rank, i);
        for (int i = warmup; i < microbatches; ++i) {
            out.forward(rank, i);
            out.backward(rank, i - warmup);
        }
        for (int i = microbatches - warmup; i < microbatches; ++i) out.backward(rank, i);
    });
}

LLMCOST_INLINE microbatch_rounds rounds_of(int ranks, int microbatches) {
    const int rounds = std::max(1, microbatches / ranks);
    return {rounds, microbatches / rounds};
}

/// Writes interleaved 1F1B of one rank.
class interleaved_writer {
public:
    interleaved_writer(int ranks, int stages_per_rank, int microbatches, int rank, int warmup, order_writer out)
        : ranks_(ranks),
          stages_per_rank_(stages_per_rank),
          per_round_(rounds_of(ranks, microbatches).microbatches_per_round),
          rank_(rank),
          warmup_(warmup),
          out_(out),
          next_(3, std::vector<int>(static_cast<std::size_t>(stages_per_rank))) {}

    /// Writes the forward of position `step` in the order of forwards.
    void forward(int step) { write(action_kind::forward, step / per_round_ % stages_per_rank_, 0); }
    /// Writes a backward. Positions of backwards continue those of the warmup, as in PyTorch.
    void backward(action_kind kind, int step) {
        const int round = (step - warmup_) / per_round_;
        write(kind, stages_per_rank_ - 1 - round % stages_per_rank_, kind == action_kind::backward_weight ? 2 : 1);
    }

private:
    void write(action_kind kind, int local_stage, std::size_t counter) {
        int& microbatch = next_[counter][static_cast<std::size_t>(local_stage)];
        out_.add(kind, local_stage * ranks_ + rank_, microbatch++);
    }

    int ranks_, stages_per_rank_, per_round_, rank_, warmup_;
    order_writer out_;
    std::vector<std::vector<int>> next_;  ///< next microbatch of forward, backward and weight gradient, by local stage
};

/// Forwards before the first backward of a rank; `hop` more for each rank after it.
///
/// Source: PyTorch, schedules.py, `_get_warmup_ops`.
[[nodiscard]] inline int interleaved_warmup(int ranks, int stages_per_rank, int microbatches, int rank, int hop) {
    const int of_last_rank = (stages_per_rank - 1) * rounds_of(ranks, microbatches).microbatches_per_round;
    return std::min(of_last_rank + hop * (ranks - 1 - rank), microbatches * stages_per_rank);
}

LLMCOST_INLINE ranked_actions interleaved_order(int ranks, int stages_per_rank, int microbatches) {
    return order_of_ranks(ranks, [&](int rank, order_writer out) {
        const int warmup = interleaved_warmup(ranks, stages_per_rank, microbatches, rank, 2);
        const int forwards = stages_per_rank * microbatches;
        interleaved_writer writer(ranks, stages_per_rank, microbatches, rank, warmup, out);
        out.idle(rank);
        for (int step = 0; step < warmup; ++step) writer.forward(step);
        // until the first backward of the last stage arrives at this rank
        if (warmup > 0) out.idle(stages_per_rank * ranks + 2 * (ranks - 1 - rank) - (warmup + rank));
        for (int step = warmup; step < forwards; ++step) {
            writer.forward(step);
            writer.backward(action_kind::backward, step);
        }
        for (int step = forwards; step < forwards + warmup; ++step) {
            out.idle(1);
            writer.backward(action_kind::backward, step);
        }
    });
}

/// Inserts bubbles where a forward precedes that of the previous stage, if each action takes one time step.
///
/// Source: PyTorch, schedules.py, `ScheduleInterleavedZeroBubble._add_bubbles_to_actions`. Backwards get no bubbles:
/// PyTorch only inserts them for `FULL_BACKWARD`, which this schedule does not contain.
[[nodiscard]] inline ranked_actions add_forward_bubbles(const ranked_actions& order, int num_stages, int microbatches) {
    ranked_actions result(order.size());
    std::vector<std::size_t> next(order.size());
    std::vector<bool> is_forwarded(static_cast<std::size_t>(num_stages) * static_cast<std::size_t>(microbatches));
    const auto index = [&](int stage, int microbatch) {
        return static_cast<std::size_t>(stage) * static_cast<std::size_t>(microbatches) +
               static_cast<std::size_t>(microbatch);
    };
    std::vector<std::size_t> step;  // forwards of this time step, which later ranks do not see before the next one
    for (bool is_complete = false; !is_complete;) {
        is_complete = true;
        for (std::size_t rank = 0; rank < order.size(); ++rank) {
            if (next[rank] == order[rank].size()) continue;
            is_complete = false;
            const pipeline_action& action = order[rank][next[rank]];
            const bool is_forward = action.kind == action_kind::forward;
            if (is_forward && action.stage > 0 && !is_forwarded[index(action.stage - 1, action.microbatch)]) {
                result[rank].emplace_back();
                continue;
            }
            if (is_forward) step.push_back(index(action.stage, action.microbatch));
            result[rank].push_back(action);
            ++next[rank];
        }
        for (const std::size_t i : step) is_forwarded[i] = true;
        step.clear();
    }
    return result;
}

LLMCOST_INLINE ranked_actions interleaved_zero_bubble_order(int ranks, int stages_per_rank, int microbatches) {
    const ranked_actions order = order_of_ranks(ranks, [&](int rank, order_writer out) {
        const int warmup = interleaved_warmup(ranks, stages_per_rank, microbatches, rank, 1);
        const int forwards = stages_per_rank * microbatches;
        interleaved_writer writer(ranks, stages_per_rank, microbatches, rank, warmup, out);
        out.idle(rank);
        for (int step = 0; step < warmup; ++step) writer.forward(step);
        if (warmup > 0) out.idle(ranks - 1 - rank);
        int weight = warmup;
        for (int step = warmup; step < forwards + warmup; ++step) {
            if (step < forwards) writer.forward(step);
            writer.backward(action_kind::backward_input, step);
            if (step - warmup >= rank) writer.backward(action_kind::backward_weight, weight++);
        }
        while (weight < forwards + warmup) writer.backward(action_kind::backward_weight, weight++);
    });
    return add_forward_bubbles(order, ranks * stages_per_rank, microbatches);
}

LLMCOST_INLINE ranked_actions looped_bfs_order(int ranks, int stages_per_rank, int microbatches) {
    return order_of_ranks(ranks, [&](int rank, order_writer out) {
        out.idle(rank);
        for (int local = 0; local < stages_per_rank; ++local)
            for (int i = 0; i < microbatches; ++i) out.forward(local * ranks + rank, i);
        out.idle(2 * (ranks - 1 - rank));
        for (int local = stages_per_rank - 1; local >= 0; --local)
            for (int i = microbatches - 1; i >= 0; --i) out.backward(local * ranks + rank, i);
    });
}

LLMCOST_INLINE ranked_actions zb_h1_order(int ranks, int microbatches) {
    return order_of_ranks(ranks, [&](int rank, order_writer out) {
        int forward = 0, input = 0, weight = 0;
        while (forward < std::min(ranks - 1 - rank, microbatches)) out.forward(rank, forward++);
        for (int i = 0; i < rank && forward < microbatches; ++i) {
            out.forward(rank, forward++);
            out.backward_input(rank, input++);
        }
        while (input < microbatches) {
            if (forward < microbatches) out.forward(rank, forward++);
            out.backward_input(rank, input++);
            out.backward_weight(rank, weight++);
        }
        while (weight < microbatches) out.backward_weight(rank, weight++);
    });
}

LLMCOST_INLINE ranked_actions zbv_order(int ranks, int microbatches) {
    // The pattern needs this many microbatches. If there are fewer, actions of the others become bubbles.
    const int pattern = std::max(2 * ranks - 1, microbatches);
    ranked_actions order = order_of_ranks(ranks, [&](int rank, order_writer out) {
        const int down = rank, up = 2 * ranks - 1 - rank;  // stages of the two arms of the V
        int down_forward = 0, up_forward = 0, down_input = 0, up_input = 0;
        out.idle(rank);
        for (int i = 0; i < 2 * (ranks - rank) - 1; ++i) out.forward(down, down_forward++);
        for (int i = 0; i < rank; ++i) {
            out.forward(up, up_forward++);
            out.forward(down, down_forward++);
        }
        const auto backward = [&](int stage, int& microbatch) {
            out.backward_input(stage, microbatch);
            out.backward_weight(stage, microbatch++);
        };
        for (int i = 0; i < ranks - rank; ++i) {
            out.forward(up, up_forward++);
            backward(up, up_input);
        }
        while (up_forward < down_forward || down_forward < pattern) {
            if (down_forward < pattern) out.forward(down, down_forward++);
            backward(down, down_input);
            out.forward(up, up_forward++);
            backward(up, up_input);
        }
        int down_weight = down_input, up_weight = up_input;
        for (int i = 0; i < rank; ++i) {
            out.backward_input(down, down_input++);
            out.backward_input(up, up_input++);
        }
        for (int i = 0; i < ranks - rank; ++i) {
            out.backward_input(down, down_input++);
            out.backward_weight(down, down_weight++);
        }
        while (up_weight < up_input) out.backward_weight(up, up_weight++);
        while (down_weight < down_input) out.backward_weight(down, down_weight++);
    });
    for (rank_actions& actions : order)
        for (pipeline_action& action : actions)
            if (action.microbatch >= microbatches) action = {};
    return order;
}

/// Writes DualPipeV of one rank. Each stage counts its microbatches; weight gradients follow in the order of `I`.
class dual_pipe_v_writer {
public:
    dual_pipe_v_writer(int ranks, int rank, order_writer out) : stage_{rank, 2 * ranks - 1 - rank}, out_(out) {}

    void forward(std::size_t chunk) { out_.forward(stage_[chunk], forward_[chunk]++); }
    void backward(std::size_t chunk) { out_.backward(stage_[chunk], backward_[chunk]++); }
    void backward_input(std::size_t chunk) {
        pending_.push_back({stage_[chunk], action_kind::backward_weight, backward_[chunk]});
        out_.backward_input(stage_[chunk], backward_[chunk]++);
    }
    void backward(std::size_t chunk, bool is_split) { is_split ? backward_input(chunk) : backward(chunk); }
    void overlap(std::size_t forward_chunk, std::size_t backward_chunk) {
        out_.overlap(stage_[forward_chunk], forward_[forward_chunk]++, stage_[backward_chunk],
                     backward_[backward_chunk]++);
    }
    /// The oldest weight gradient that is pending, if there is one.
    void backward_weight() {
        if (first_pending_ == pending_.size()) return;
        const pipeline_action& action = pending_[first_pending_++];
        out_.backward_weight(action.stage, action.microbatch);
    }

private:
    int stage_[2];
    int forward_[2] = {0, 0}, backward_[2] = {0, 0};
    rank_actions pending_{};
    std::size_t first_pending_ = 0;
    order_writer out_;
};

LLMCOST_INLINE ranked_actions dual_pipe_v_order(int ranks, int microbatches) {
    constexpr std::size_t down = 0, up = 1;  // arms of the V
    return order_of_ranks(ranks, [&](int rank, order_writer order) {
        dual_pipe_v_writer out(ranks, rank, order);
        const int after = ranks - 1 - rank;  // ranks after this one
        // The eight steps of the reference.
        for (int i = 0; i < 2 * after; ++i) out.forward(down);
        for (int i = 0; i < rank + 1; ++i) {
            out.forward(down);
            out.forward(up);
        }
        for (int i = 0; i < after; ++i) {
            out.backward_input(up);
            out.backward_weight();
            out.forward(up);
        }
        for (int i = 0; i < microbatches - 2 * ranks + rank + 1; ++i) {
            if (i == 0 && rank == ranks - 1) {  // not overlapped: a smaller bubble
                out.forward(down);
                out.backward(up);
            } else {
                out.overlap(down, up);
            }
            out.overlap(up, down);
        }
        for (int i = 0; i < after; ++i) {
            out.backward(up);
            out.overlap(up, down);
        }
        bool is_split = false;
        for (int i = 0; i < rank + 1; ++i) {
            const bool is_middle = i == (rank + 1) / 2;
            if (is_middle && rank % 2 == 1) is_split = true;
            out.backward(up, is_split);
            if (is_middle && rank % 2 == 0) is_split = true;
            out.backward(down, is_split);
        }
        for (int i = 0; i < after; ++i) {
            out.backward_weight();
            out.backward(down, is_split);
        }
        for (int i = 0; i < rank + 1; ++i) out.backward_weight();
    });
}

}  // namespace llmcost::distributed::detail
