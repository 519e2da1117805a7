// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <llmcost/distributed/ddp_buckets.hpp>
#include <llmcost/distributed/training_parallelism.hpp>
#include <llmcost/memory/replay_observer.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/tape.hpp>

namespace llmcost {

/// Computation of a rank before one of its collectives.
struct computed_part {
    std::size_t next_collective = 0;  ///< index of the collective that follows
    training_phase phase{};
    std::uint64_t flops = 0;  ///< of products
    std::uint64_t bytes = 0;  ///< that the operations read and write
};

/// Collects the collectives of a step, the computation between them, and the order in which gradients are complete.
///
/// - Context parallelism: attention exchanges keys and values of all positions together, and in backward their
///   gradients in float32. Source: torch/distributed/tensor/experimental/_context_parallel/_attention.py,
///   `_templated_ring_attention`, `_templated_ring_attention_backward`, `_AllGatherRotater`, `_AllToAllRotater`.
/// - Loss parallelism: at the end of forward, all-reduces of the maximum and the sum of each token's logits, and of its
///   loss. Source: torch/distributed/tensor/parallel/loss.py, `_log_softmax`, `_nll_loss_forward`.
/// - DistributedDataParallel: the first pass of a step broadcasts the buffers, the last one reduces a bucket as soon as
///   its gradients and those of all earlier buckets are complete. Source: torch/nn/parallel/distributed.py,
///   `_check_sync_bufs_pre_fwd`; torch/csrc/distributed/c10d/reducer.cpp, `mark_bucket_ready`.
class collective_recorder final : public replay_observer {
public:
    collective_recorder(const tape& pass, const training_schedule& plan, const training_parallelism& parallel)
        : pass_(pass), plan_(plan), parallel_(parallel) {}
    /// Sets the buckets of DistributedDataParallel.
    void set_buckets(std::vector<ddp_bucket> buckets);
    /// Sets the bytes of each all-reduce of a loss over divided logits.
    void set_loss_sum(std::uint64_t bytes) noexcept { loss_sum_bytes_ = bytes; }

    void on_collective(const collective_event& event) override;
    void on_forward(std::int32_t node, bool is_recomputed) override;
    void on_backward(std::int32_t node) override;
    void on_parameter_gradient(std::int32_t parameter, bool is_accumulated) override;
    [[nodiscard]] bool observes_all_passes() const override { return true; }

    [[nodiscard]] const std::vector<collective_event>& collectives() const noexcept { return collectives_; }
    /// The computation between collectives, in order. The last part has no collective after it.
    [[nodiscard]] std::vector<computed_part> computed_parts() const;
    [[nodiscard]] const std::vector<std::int32_t>& gradient_order() const noexcept { return gradient_order_; }

private:
    [[nodiscard]] bool is_divided_attention(std::int32_t node) const {
        return parallel_.context > 1 && pass_.nodes[static_cast<std::size_t>(node)].kind == op::attention;
    }
    void begin_forward();
    void begin_backward();
    void count_work(std::int32_t node, std::uint64_t flops, std::uint64_t times, training_phase phase);
    void exchange_keys(std::int32_t node, training_phase phase);
    void exchange_gradients(std::int32_t node);
    void add(collective_event event);

    const tape& pass_;
    const training_schedule& plan_;
    training_parallelism parallel_;
    std::uint64_t loss_sum_bytes_ = 0;
    bool is_in_backward_ = true;
    std::int64_t num_passes_ = 0;
    std::vector<collective_event> collectives_;
    std::vector<computed_part> parts_;
    std::vector<std::int32_t> gradient_order_;
    std::vector<ddp_bucket> buckets_;
    std::vector<std::size_t> bucket_of_parameter_;
    std::vector<std::size_t> num_missing_;  ///< gradients, by bucket
    std::size_t next_bucket_ = 0;
};

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/distributed/impl/collective_recorder.ipp>  // IWYU pragma: export
#endif
