// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/distributed/schedule_simulation.hpp>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/text/error.hpp>

namespace llmcost::distributed {
namespace detail {

/// Seconds of one action of each stage.
class stage_seconds {
public:
    stage_seconds(std::string_view name, const std::vector<double>& seconds, int num_stages) : seconds_(seconds) {
        if (seconds.size() > 1 && seconds.size() != static_cast<std::size_t>(num_stages))
            throw error(errc::bad_value, "durations of " + std::string(name),
                        "expected one, or one for each of " + std::to_string(num_stages) + " stages, found " +
                            std::to_string(seconds.size()));
    }

    [[nodiscard]] bool empty() const noexcept { return seconds_.empty(); }
    [[nodiscard]] double operator[](int stage) const {
        if (seconds_.empty()) return 0;
        return seconds_.size() == 1 ? seconds_[0] : seconds_[static_cast<std::size_t>(stage)];
    }

private:
    std::vector<double> seconds_;
};

/// Durations of all actions of a schedule.
class action_seconds {
public:
    action_seconds(const schedule_durations& durations, int num_stages)
        : forward_("forward", durations.forward, num_stages),
          input_("backward_input", durations.backward_input, num_stages),
          weight_("backward_weight", durations.backward_weight, num_stages),
          backward_("backward", durations.backward, num_stages),
          overlap_("overlap", durations.overlap, num_stages),
          unshard_("unshard", durations.unshard, num_stages),
          reduce_("reduce_gradient", durations.reduce_gradient, num_stages) {
        if (forward_.empty()) throw error(errc::bad_value, "durations of forward", "required");
    }

    [[nodiscard]] double operator()(const pipeline_action& action) const {
        switch (action.kind) {
            case action_kind::forward: return forward_[action.stage];
            case action_kind::backward: return backward(action.stage);
            case action_kind::backward_input: return input_[action.stage];
            case action_kind::backward_weight: return weight_[action.stage];
            case action_kind::overlap:
                return overlap_.empty() ? forward_[action.stage] + backward(action.backward_stage)
                                        : overlap_[action.stage];
            case action_kind::unshard: return unshard_[action.stage];
            case action_kind::reduce_gradient: return reduce_[action.stage];
            default: return 0;
        }
    }

private:
    [[nodiscard]] double backward(int stage) const {
        return backward_.empty() ? input_[stage] + weight_[stage] : backward_[stage];
    }

    stage_seconds forward_, input_, weight_, backward_, overlap_, unshard_, reduce_;
};

/// Executes actions of all ranks. A rank that must wait is continued when the action of another rank completes.
class schedule_simulator {
public:
    schedule_simulator(const pipeline_schedule& schedule, const ranked_actions& order,
                       const schedule_durations& durations, bool has_communication)
        : schedule_(&schedule),
          order_(&order),
          seconds_(durations, schedule.num_stages()),
          transfer_seconds_{durations.forward_transfer_seconds, durations.backward_transfer_seconds},
          has_communication_(has_communication),
          num_microbatches_(static_cast<std::size_t>(schedule.microbatches)),
          ranks_(order.size()),
          unshard_ends_(static_cast<std::size_t>(schedule.num_stages())),
          reduce_ends_(unshard_ends_.size()) {
        for (auto& transfers : transfers_) transfers.resize(unshard_ends_.size() * num_microbatches_);
    }

    [[nodiscard]] schedule_timeline run() {
        timeline_.ranks.resize(order_->size());
        for (std::size_t rank = 0; rank < order_->size(); ++rank) {
            timeline_.ranks[rank].reserve((*order_)[rank].size());
            ready_.push_back(rank);
            ranks_[rank].is_ready = true;
        }
        while (!ready_.empty()) {
            const std::size_t rank = ready_.back();
            ready_.pop_back();
            ranks_[rank].is_ready = false;
            while (ranks_[rank].next < (*order_)[rank].size() && execute(rank, (*order_)[rank][ranks_[rank].next]))
                ++ranks_[rank].next;
        }
        throw_if_deadlocked();
        for (std::size_t rank = 0; rank < order_->size(); ++rank) {
            timeline_.step_seconds = std::max(timeline_.step_seconds, ranks_[rank].seconds);
            timeline_.compute_seconds.push_back(ranks_[rank].compute_seconds);
        }
        for (const double compute : timeline_.compute_seconds)
            timeline_.bubble_seconds.push_back(timeline_.step_seconds - compute);
        return std::move(timeline_);
    }

private:
    static constexpr double never = -1;
    static constexpr std::size_t forward = 0, backward = 1;  // directions of transfers

    /// What a stage and microbatch passes to the next stage (forward) or to the previous one (backward).
    struct transfer {
        double output_seconds = never;  ///< end of the action that computes it
        double send_seconds = never, recv_seconds = never;
        std::size_t send_rank = 0, send_position = 0, recv_rank = 0, recv_position = 0;  ///< in `timeline_`
        double end_seconds = never;
    };
    struct rank_state {
        std::size_t next = 0;
        double seconds = 0, compute_seconds = 0;
        double unshard_seconds = 0, reduce_seconds = 0;  ///< until when the gathers and reductions are busy
        bool is_ready = false;
    };

    [[nodiscard]] transfer& transfer_of(std::size_t direction, int stage, int microbatch) {
        return transfers_[direction]
                         [static_cast<std::size_t>(stage) * num_microbatches_ + static_cast<std::size_t>(microbatch)];
    }
    [[nodiscard]] std::size_t rank_of(int stage) const {
        return static_cast<std::size_t>(schedule_->rank_of_stage(stage));
    }
    void wake(std::size_t rank) {
        if (std::exchange(ranks_[rank].is_ready, true)) return;
        ready_.push_back(rank);
    }

    /// When the input of a forward or backward is available on its rank; `never` if it is not known yet.
    [[nodiscard]] double input_seconds(const pipeline_action& part) {
        if (part.kind == action_kind::backward_weight)
            return transfer_of(backward, part.stage, part.microbatch).output_seconds;
        const bool is_forward = part.kind == action_kind::forward;
        if (!is_forward && transfer_of(forward, part.stage, part.microbatch).output_seconds < 0) return never;
        const int source = is_forward ? part.stage - 1 : part.stage + 1;
        if (source < 0 || source == schedule_->num_stages()) return 0;
        const std::size_t direction = is_forward ? forward : backward;
        const transfer& t = transfer_of(direction, source, part.microbatch);
        if (rank_of(source) == rank_of(part.stage)) return t.output_seconds;
        if (has_communication_) return t.end_seconds;
        return t.output_seconds < 0 ? never : t.output_seconds + transfer_seconds_[direction];
    }

    /// Whether the action could be executed.
    bool execute(std::size_t rank, const pipeline_action& action) {
        rank_state& state = ranks_[rank];
        const auto index = static_cast<std::size_t>(std::max(action.stage, 0));
        switch (action.kind) {
            case action_kind::idle: return true;
            case action_kind::send_forward: return issue(rank, action, forward, action.stage, true);
            case action_kind::send_backward: return issue(rank, action, backward, action.stage, true);
            case action_kind::recv_forward: return issue(rank, action, forward, action.stage - 1, false);
            case action_kind::recv_backward: return issue(rank, action, backward, action.stage + 1, false);
            case action_kind::wait_send_forward:
                return wait(rank, action, transfer_of(forward, action.stage, action.microbatch).end_seconds);
            case action_kind::wait_send_backward:
                return wait(rank, action, transfer_of(backward, action.stage, action.microbatch).end_seconds);
            case action_kind::unshard: unshard_ends_[index] = enqueue(rank, action, state.unshard_seconds); return true;
            case action_kind::reduce_gradient:
                reduce_ends_[index] = enqueue(rank, action, state.reduce_seconds);
                return true;
            case action_kind::wait_reduce_gradient: return wait(rank, action, reduce_ends_[index]);
            case action_kind::reshard: return wait(rank, action, state.seconds);
            default: return compute(rank, action);
        }
    }

    bool compute(std::size_t rank, const pipeline_action& action) {
        rank_state& state = ranks_[rank];
        double start = state.seconds;
        bool is_available = true;
        for_each_part(action, [&](const pipeline_action& part) {
            const double input = input_seconds(part);
            is_available = is_available && input >= 0;
            start = std::max({start, input, unshard_ends_[static_cast<std::size_t>(part.stage)]});
        });
        if (!is_available) return false;
        const double seconds = seconds_(action);
        state.seconds = start + seconds;
        state.compute_seconds += seconds;
        timeline_.ranks[rank].push_back({action, start, state.seconds});
        for_each_part(action, [&](const pipeline_action& part) {
            if (part.kind == action_kind::forward) output(forward, part, part.stage + 1, state.seconds);
            if (has_input_gradient(part.kind)) output(backward, part, part.stage - 1, state.seconds);
        });
        return true;
    }

    void output(std::size_t direction, const pipeline_action& part, int consumer, double seconds) {
        transfer_of(direction, part.stage, part.microbatch).output_seconds = seconds;
        if (!has_communication_ && consumer >= 0 && consumer < schedule_->num_stages()) wake(rank_of(consumer));
    }

    /// Issues one side of a transfer.
    bool issue(std::size_t rank, const pipeline_action& action, std::size_t direction, int source, bool is_send) {
        transfer& t = transfer_of(direction, source, action.microbatch);
        const double now = ranks_[rank].seconds;
        const std::size_t position = timeline_.ranks[rank].size();
        timeline_.ranks[rank].push_back({action, now, now});
        if (is_send) {
            t.send_seconds = now, t.send_rank = rank, t.send_position = position;
        } else {
            t.recv_seconds = now, t.recv_rank = rank, t.recv_position = position;
        }
        if (t.send_seconds < 0 || t.recv_seconds < 0) return true;
        t.end_seconds = std::max(t.send_seconds, t.recv_seconds) + transfer_seconds_[direction];
        timeline_.ranks[t.send_rank][t.send_position].end_seconds = t.end_seconds;
        timeline_.ranks[t.recv_rank][t.recv_position].end_seconds = t.end_seconds;
        wake(is_send ? t.recv_rank : t.send_rank);
        return true;
    }

    /// Adds the action to a queue of the rank that is busy until `queue_seconds`. Returns its end.
    double enqueue(std::size_t rank, const pipeline_action& action, double& queue_seconds) {
        const double start = std::max(queue_seconds, ranks_[rank].seconds);
        queue_seconds = start + seconds_(action);
        timeline_.ranks[rank].push_back({action, start, queue_seconds});
        return queue_seconds;
    }

    /// The rank waits until `end_seconds`; not at all if that is not known yet.
    bool wait(std::size_t rank, const pipeline_action& action, double end_seconds) {
        if (end_seconds < 0) return false;
        rank_state& state = ranks_[rank];
        const double start = state.seconds;
        state.seconds = std::max(start, end_seconds);
        timeline_.ranks[rank].push_back({action, start, state.seconds});
        return true;
    }

    void throw_if_deadlocked() const {
        std::string waiting;
        std::size_t num_waiting = 0;
        for (std::size_t rank = 0; rank < order_->size(); ++rank) {
            if (ranks_[rank].next == (*order_)[rank].size() || ++num_waiting > 8) continue;
            waiting += (waiting.empty() ? "" : ", ") + action_text((*order_)[rank][ranks_[rank].next]) + " of rank " +
                       std::to_string(rank);
        }
        if (waiting.empty()) return;
        if (num_waiting > 8) waiting += " and " + std::to_string(num_waiting - 8) + " more";
        throw error(errc::bad_value, "schedule " + std::string(schedule_name(schedule_->kind)),
                    "deadlock: no input for " + waiting);
    }

    const pipeline_schedule* schedule_;
    const ranked_actions* order_;
    action_seconds seconds_;
    double transfer_seconds_[2];
    bool has_communication_;
    std::size_t num_microbatches_;
    std::vector<rank_state> ranks_;
    std::vector<double> unshard_ends_, reduce_ends_;
    std::vector<transfer> transfers_[2];
    std::vector<std::size_t> ready_{};
    schedule_timeline timeline_{};
};

}  // namespace detail

LLMCOST_INLINE double schedule_timeline::bubble_fraction(int rank) const {
    return step_seconds > 0 ? bubble_seconds[static_cast<std::size_t>(rank)] / step_seconds : 0;
}

LLMCOST_INLINE double schedule_timeline::bubble_fraction() const {
    const double sum = std::accumulate(bubble_seconds.begin(), bubble_seconds.end(), 0.0);
    return step_seconds > 0 ? sum / (step_seconds * static_cast<double>(bubble_seconds.size())) : 0;
}

LLMCOST_INLINE schedule_timeline simulate(const pipeline_schedule& schedule, const schedule_durations& durations) {
    return detail::schedule_simulator(schedule, schedule.order, durations, false).run();
}

LLMCOST_INLINE schedule_timeline simulate(const pipeline_schedule& schedule, const ranked_actions& order,
                                          const schedule_durations& durations) {
    return detail::schedule_simulator(schedule, order, durations, true).run();
}

}  // namespace llmcost::distributed
