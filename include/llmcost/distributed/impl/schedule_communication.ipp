// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/distributed/schedule_communication.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/text/error.hpp>

namespace llmcost::distributed {
namespace detail {

/// Upcoming stages of each action of a rank: the distinct stages of the action and of those after it, by next use.
///
/// At most `limit` stages. Stages of one overlap are not separated, so there may be one more.
/// Source: PyTorch, schedules.py, `_add_unshard_reshard`, `next_stage_indices`.
class upcoming_stages {
public:
    upcoming_stages(const rank_actions& actions, int limit) : first_(actions.size() + 1) {
        struct use {
            int stage;
            std::size_t position;
        };
        std::vector<use> uses;  // by next use, read from the last action to the first
        for (std::size_t i = actions.size(); i-- > 0;) {
            std::vector<use> next;
            for_each_part(actions[i], [&](const pipeline_action& part) {
                if (next.empty() || next.back().stage != part.stage) next.push_back({part.stage, i});
            });
            for (const use& u : uses)
                if (std::none_of(next.begin(), next.end(), [&](const use& n) { return n.stage == u.stage; }))
                    next.push_back(u);
            uses = next;
            first_[i] = stages_.size();
            for (std::size_t k = 0; k < uses.size(); ++k) {
                if (k >= static_cast<std::size_t>(limit) && uses[k].position != uses[k - 1].position) break;
                stages_.push_back(uses[k].stage);
            }
            end_.push_back(stages_.size());
        }
    }

    [[nodiscard]] const int* begin(std::size_t action) const { return stages_.data() + first_[action]; }
    [[nodiscard]] const int* end(std::size_t action) const { return stages_.data() + end_[end_.size() - 1 - action]; }

private:
    std::vector<int> stages_{};
    std::vector<std::size_t> first_, end_{};  ///< `end_`: from the last action to the first
};

/// Adds `UNSHARD` before the first use of a stage and `RESHARD` after its last one within the residency window.
[[nodiscard]] inline rank_actions add_unshard_reshard(const rank_actions& actions, int max_active_stages) {
    rank_actions result;
    std::vector<int> active;  // in the order of their `UNSHARD`
    const upcoming_stages upcoming(actions, max_active_stages);
    for (std::size_t i = 0; i < actions.size(); ++i) {
        const int *begin = upcoming.begin(i), *end = upcoming.end(i);
        const auto evicted = std::stable_partition(active.begin(), active.end(),
                                                   [&](int stage) { return std::find(begin, end, stage) != end; });
        for (auto stage = evicted; stage != active.end(); ++stage) result.push_back({*stage, action_kind::reshard});
        active.erase(evicted, active.end());
        for (const int* stage = begin; stage != end; ++stage) {
            if (std::find(active.begin(), active.end(), *stage) != active.end()) continue;
            active.push_back(*stage);
            result.push_back({*stage, action_kind::unshard});
        }
        result.push_back(actions[i]);
    }
    for (const int stage : active) result.push_back({stage, action_kind::reshard});
    return result;
}

/// Adds `REDUCE_GRAD` after the last weight gradient of each stage, and its wait.
///
/// Source: PyTorch, schedules.py, `_add_reduce_grad`.
[[nodiscard]] inline rank_actions add_reduce_gradient(const rank_actions& actions, const pipeline_schedule& schedule,
                                                      bool defer_wait) {
    rank_actions result;
    std::vector<int> complete(static_cast<std::size_t>(schedule.num_stages()));
    int pending = -1;  // stage whose reduction has no wait yet
    const auto wait = [&] {
        if (pending >= 0) result.push_back({pending, action_kind::wait_reduce_gradient});
        pending = -1;
    };
    for (const pipeline_action& action : actions) {
        result.push_back(action);
        for_each_part(action, [&](const pipeline_action& part) {
            if (!has_weight_gradient(part.kind)) return;
            if (++complete[static_cast<std::size_t>(part.stage)] < schedule.microbatches) return;
            wait();
            result.push_back({part.stage, action_kind::reduce_gradient});
            pending = part.stage;
            if (!defer_wait) wait();
        });
    }
    wait();
    return result;
}

/// Adds `SEND` and `RECV`. The order of a rank's `RECV` is that of the senders, if each action takes one step.
///
/// Source: PyTorch, schedules.py, `_add_send_recv`.
[[nodiscard]] inline ranked_actions add_send_recv(const pipeline_schedule& schedule, const ranked_actions& order) {
    const int num_stages = schedule.num_stages();
    const auto index = [&](int stage, int microbatch) {
        return static_cast<std::size_t>(stage) * static_cast<std::size_t>(schedule.microbatches) +
               static_cast<std::size_t>(microbatch);
    };
    const std::size_t size = static_cast<std::size_t>(num_stages) * static_cast<std::size_t>(schedule.microbatches);
    std::vector<bool> has_output(size), has_gradient(size);
    const auto is_ready = [&](const pipeline_action& action) {
        bool ready = true;
        for_each_part(action, [&](const pipeline_action& part) {
            if (part.kind == action_kind::forward && part.stage > 0)
                ready = ready && has_output[index(part.stage - 1, part.microbatch)];
            if (has_input_gradient(part.kind) && part.stage < num_stages - 1)
                ready = ready && has_gradient[index(part.stage + 1, part.microbatch)];
        });
        return ready;
    };
    ranked_actions result(order.size());
    const auto transfer = [&](const pipeline_action& part, int receiver, action_kind send, action_kind recv) {
        if (receiver < 0 || receiver >= num_stages) return;
        const int sending_rank = schedule.rank_of_stage(part.stage), receiving_rank = schedule.rank_of_stage(receiver);
        if (sending_rank == receiving_rank) return;
        result[static_cast<std::size_t>(sending_rank)].push_back({part.stage, send, part.microbatch});
        result[static_cast<std::size_t>(receiving_rank)].push_back({receiver, recv, part.microbatch});
    };
    std::vector<std::size_t> next(order.size());
    for (bool is_complete = false; !is_complete;) {
        is_complete = true;
        bool has_progress = false;
        for (std::size_t rank = 0; rank < order.size(); ++rank) {
            if (next[rank] == order[rank].size()) continue;
            is_complete = false;
            const pipeline_action& action = order[rank][next[rank]];
            if (!is_ready(action)) continue;
            has_progress = true;
            ++next[rank];
            result[rank].push_back(action);
            for_each_part(action, [&](const pipeline_action& part) {
                if (part.kind == action_kind::forward) {
                    has_output[index(part.stage, part.microbatch)] = true;
                    transfer(part, part.stage + 1, action_kind::send_forward, action_kind::recv_forward);
                } else if (has_input_gradient(part.kind)) {
                    has_gradient[index(part.stage, part.microbatch)] = true;
                    transfer(part, part.stage - 1, action_kind::send_backward, action_kind::recv_backward);
                }
            });
        }
        if (is_complete || has_progress) continue;
        std::string waiting;
        for (std::size_t rank = 0; rank < order.size(); ++rank)
            if (next[rank] < order[rank].size())
                waiting += (waiting.empty() ? "" : ", ") + action_text(order[rank][next[rank]]) + " of rank " +
                           std::to_string(rank);
        throw error(errc::bad_value, "schedule " + std::string(schedule_name(schedule.kind)),
                    "the order cannot be executed: no input for " + waiting);
    }
    return result;
}

/// Adds the wait of each send: after the backward of a forward's microbatch, otherwise at the end.
///
/// Source: PyTorch, schedules.py, `_add_wait_send`.
[[nodiscard]] inline rank_actions add_wait_send(const rank_actions& actions, int num_stages, int microbatches) {
    rank_actions result;
    const auto index = [&](const pipeline_action& action) {
        return static_cast<std::size_t>(action.stage) * static_cast<std::size_t>(microbatches) +
               static_cast<std::size_t>(action.microbatch);
    };
    std::vector<bool> is_pending(static_cast<std::size_t>(num_stages) * static_cast<std::size_t>(microbatches));
    for (const pipeline_action& action : actions) {
        result.push_back(action);
        if (action.kind == action_kind::send_forward) is_pending[index(action)] = true;
        for_each_part(action, [&](const pipeline_action& part) {
            if (!has_input_gradient(part.kind) || !is_pending[index(part)]) return;
            is_pending[index(part)] = false;
            result.push_back({part.stage, action_kind::wait_send_forward, part.microbatch});
        });
    }
    for (const pipeline_action& action : actions) {
        if (action.kind == action_kind::send_forward && is_pending[index(action)])
            result.push_back({action.stage, action_kind::wait_send_forward, action.microbatch});
        if (action.kind == action_kind::send_backward)
            result.push_back({action.stage, action_kind::wait_send_backward, action.microbatch});
    }
    return result;
}

/// Moves each `RECV` before the action that needs it. Before a send to a higher rank, it receives what that rank sends,
/// so that two ranks do not wait for each other.
///
/// Source: PyTorch, schedules.py, `_defer_recv_ops`.
[[nodiscard]] inline rank_actions defer_receives(const rank_actions& actions, const pipeline_schedule& schedule,
                                                 int rank) {
    rank_actions result, deferred;
    const auto receive_if = [&](const auto& is_needed) {
        for (const pipeline_action& action : deferred)
            if (is_needed(action)) result.push_back(action);
        deferred.erase(std::remove_if(deferred.begin(), deferred.end(), is_needed), deferred.end());
    };
    for (const pipeline_action& action : actions) {
        if (action.kind == action_kind::recv_forward || action.kind == action_kind::recv_backward) {
            deferred.push_back(action);
            continue;
        }
        if (action.kind == action_kind::send_forward || action.kind == action_kind::send_backward) {
            const int receiver =
                schedule.rank_of_stage(action.stage + (action.kind == action_kind::send_forward ? 1 : -1));
            if (rank < receiver)
                receive_if([&](const pipeline_action& recv) {
                    const int sender = recv.stage + (recv.kind == action_kind::recv_forward ? -1 : 1);
                    return schedule.rank_of_stage(sender) == receiver;
                });
        }
        for_each_part(action, [&](const pipeline_action& part) {
            const bool is_forward = part.kind == action_kind::forward;
            if (!is_forward && !has_input_gradient(part.kind)) return;
            const pipeline_action needed{
                part.stage, is_forward ? action_kind::recv_forward : action_kind::recv_backward, part.microbatch};
            receive_if([&](const pipeline_action& recv) { return recv == needed; });
        });
        result.push_back(action);
    }
    return result;
}

/// Writes what the classes with one stage per rank execute on one rank. The first stage sends no gradients and
/// receives no activations; the last stage vice versa.
class single_stage_writer {
public:
    single_stage_writer(const pipeline_schedule& schedule, int stage, rank_actions& out)
        : is_first_(stage == 0), is_last_(stage == schedule.num_stages() - 1), stage_(stage), out_(&out) {}

    void recv_forward(int i) { add(action_kind::recv_forward, i, !is_first_); }
    void forward(int i) { add(action_kind::forward, i); }
    void send_forward(int i) { add(action_kind::send_forward, i, !is_last_); }
    void wait_send_forward(int i) { add(action_kind::wait_send_forward, i, !is_last_); }
    void recv_backward(int i) { add(action_kind::recv_backward, i, !is_last_); }
    void backward(int i) { add(action_kind::backward, i); }
    void send_backward(int i) { add(action_kind::send_backward, i, !is_first_); }
    void wait_send_backward(int i) { add(action_kind::wait_send_backward, i, !is_first_); }
    void reduce_gradient() {
        add(action_kind::reduce_gradient, -1);
        add(action_kind::wait_reduce_gradient, -1);
    }

private:
    void add(action_kind kind, int microbatch, bool exists = true) {
        if (exists) out_->push_back({stage_, kind, microbatch});
    }

    bool is_first_, is_last_;
    int stage_;
    rank_actions* out_;
};

inline void write_gpipe(single_stage_writer out, int microbatches) {
    for (int i = 0; i < microbatches; ++i) {
        out.recv_forward(i);
        out.forward(i);
        out.send_forward(i);
    }
    for (int i = 0; i < microbatches; ++i) out.wait_send_forward(i);
    for (int i = 0; i < microbatches; ++i) {
        out.recv_backward(i);
        out.backward(i);
        out.send_backward(i);
    }
    for (int i = 0; i < microbatches; ++i) out.wait_send_backward(i);
    out.reduce_gradient();
}

inline void write_1f1b(single_stage_writer out, int microbatches, int warmup) {
    for (int i = 0; i < warmup; ++i) {
        out.recv_forward(i);
        out.forward(i);
        if (i > 0) out.wait_send_forward(i - 1);
        if (i < warmup - 1) out.send_forward(i);
    }
    // the last send of the warmup is in one batch with the first receive of a gradient
    int forward = warmup, backward = 0;
    while (true) {
        out.send_forward(forward - 1);
        out.recv_backward(backward);
        out.wait_send_forward(forward - 1);
        out.backward(backward++);
        if (forward == microbatches) break;
        out.send_backward(backward - 1);
        out.recv_forward(forward);
        out.wait_send_backward(backward - 1);
        out.forward(forward++);
    }
    out.send_backward(backward - 1);
    for (; backward < microbatches; ++backward) {
        out.recv_backward(backward);
        out.backward(backward);
        out.wait_send_backward(backward - 1);
        out.send_backward(backward);
    }
    out.wait_send_backward(microbatches - 1);
    out.reduce_gradient();
}

}  // namespace detail

LLMCOST_INLINE ranked_actions add_communication(const pipeline_schedule& schedule, communication_options options) {
    const bool is_1f1b = schedule.kind == schedule_kind::one_forward_one_backward;
    ranked_actions order(schedule.order.size());
    if (is_1f1b || schedule.kind == schedule_kind::gpipe) {
        for (int stage = 0; stage < schedule.ranks; ++stage) {
            const detail::single_stage_writer out(schedule, stage, order[static_cast<std::size_t>(stage)]);
            const int warmup = std::min(schedule.microbatches, schedule.ranks - stage);
            is_1f1b ? detail::write_1f1b(out, schedule.microbatches, warmup)
                    : detail::write_gpipe(out, schedule.microbatches);
        }
        return order;
    }
    const int required = schedule.kind == schedule_kind::dual_pipe_v ? 2 : 1;
    if (options.max_active_stages < required)
        throw error(errc::bad_value, "schedule " + std::string(schedule_name(schedule.kind)),
                    "expected at least " + std::to_string(required) + " active stages, found " +
                        std::to_string(options.max_active_stages));
    for (std::size_t rank = 0; rank < order.size(); ++rank) {
        std::copy_if(schedule.order[rank].begin(), schedule.order[rank].end(), std::back_inserter(order[rank]),
                     [](const pipeline_action& action) { return action.kind != action_kind::idle; });
        order[rank] = detail::add_reduce_gradient(detail::add_unshard_reshard(order[rank], options.max_active_stages),
                                                  schedule, options.defer_reduce_gradient_wait);
    }
    order = detail::add_send_recv(schedule, order);
    for (int rank = 0; rank < schedule.ranks; ++rank) {
        rank_actions& actions = order[static_cast<std::size_t>(rank)];
        actions = detail::add_wait_send(actions, schedule.num_stages(), schedule.microbatches);
        if (options.defer_receives) actions = detail::defer_receives(actions, schedule, rank);
    }
    return order;
}

}  // namespace llmcost::distributed
