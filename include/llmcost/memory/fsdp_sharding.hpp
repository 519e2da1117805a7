// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <llmcost/memory/category.hpp>
#include <llmcost/memory/memory_tracker.hpp>
#include <llmcost/memory/parameter_sharding.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/tape.hpp>

namespace llmcost::detail {

/// FSDP: each device has a shard of every parameter and gathers a layer while it runs.
///
/// Models PyTorch's `fully_shard`, applied to each layer and then to the model.
///
/// - Shards are rows of the first dimension, padded with zeros to the size of the first device's shard.
/// - All-gather fills one buffer, which is copied out. In forward, the buffer lives until the next one is full.
/// - In backward, the buffer of the next layer is prefetched.
/// - Gradients of a layer are copied into one buffer for reduce-scatter.
///
/// Source: torch/distributed/fsdp/_fully_shard/_fsdp_param.py, `_init_sharded_param`; _fsdp_param_group.py,
/// `wait_for_unshard`, `post_backward`; _fsdp_collectives.py, `foreach_all_gather`, `foreach_reduce`.
class fsdp_sharding : public parameter_sharding {
public:
    fsdp_sharding(const tape& tape, const training_schedule& plan, memory_timeline& out, memory_tracker& tracker)
        : parameter_sharding(tape, plan, out, tracker), groups_(tape.regions.size() + 1) {}
    void allocate_parameters() override;
    void pre_forward_model() override;
    void pre_forward(std::int32_t layer) override;
    void post_forward(std::int32_t layer) override {
        tracker_.free(category::parameters, group_of(layer).unsharded_bytes);
    }
    void post_forward_model() override;
    void pre_backward_model() override;
    void pre_backward(std::int32_t layer) override;
    void post_backward(std::int32_t layer, bool of_gradients) override;
    void post_backward_model(bool) override;
    void zero_gradients() override;

protected:
    struct parameter_group {
        std::uint64_t unsharded_bytes = 0;           ///< bytes, including padding
        std::uint64_t unreduced_gradient_bytes = 0;  ///< bytes of gradients that are not reduced yet
        std::uint64_t padded_gradient_bytes = 0;     ///< bytes of these gradients, including padding
        bool has_gradient_shard = false;             ///< a reduced shard since the last step
    };
    [[nodiscard]] parameter_group& group_of(std::int32_t layer) { return groups_[static_cast<std::size_t>(layer + 1)]; }
    /// The shard of a parameter on the first device.
    [[nodiscard]] virtual tape_parameter shard_of(const tape_parameter& p) const;
    /// Bytes of a parameter including the padding of its shards.
    [[nodiscard]] std::uint64_t padded_bytes(const tape_parameter& p) const {
        return shard_of(p).bytes * static_cast<std::uint64_t>(plan_.data_parallel_size);
    }
    [[nodiscard]] virtual std::uint64_t unsharded_bytes_of(const tape_parameter& p) const { return padded_bytes(p); }
    [[nodiscard]] std::vector<tape_parameter> optimizer_parameters() const override;
    void store_gradient(const tape_parameter& p, parameter_state&) override;

private:
    void all_gather(std::uint64_t bytes);
    void unshard(std::int32_t layer);
    [[nodiscard]] bool is_prefetched(std::int32_t layer) const {
        return next_prefetch_ < forward_order_.size() && forward_order_[next_prefetch_] == layer;
    }
    void prefetch_next() {
        if (next_prefetch_ > 0) all_gather(group_of(forward_order_[--next_prefetch_]).unsharded_bytes);
    }
    /// Frees the gathered parameters and reduces the gradients to a shard.
    void reduce_scatter(std::int32_t layer);

    std::vector<parameter_group> groups_;
    std::vector<std::int32_t> forward_order_;  ///< layers in forward order
    std::vector<std::int32_t>
        deferred_layers_;  ///< layers whose inputs need no gradient; their reduce-scatter is at the end of backward
    std::size_t next_prefetch_ = 0;                  ///< index in `forward_order_` of the last prefetched layer
    std::uint64_t all_gather_buffer_bytes_ = 0;      ///< buffer of the previous layer's all-gather
    std::uint64_t reduce_scatter_buffer_bytes_ = 0;  ///< buffer of the previous layer's reduce-scatter
};

}  // namespace llmcost::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/memory/impl/fsdp_sharding.ipp>  // IWYU pragma: export
#endif
