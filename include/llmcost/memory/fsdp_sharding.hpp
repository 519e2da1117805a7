// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <llmcost/memory/category.hpp>
#include <llmcost/memory/fsdp_units.hpp>
#include <llmcost/memory/memory_tracker.hpp>
#include <llmcost/memory/parameter_sharding.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/tape.hpp>
#include <llmcost/trace/collective.hpp>

namespace llmcost::detail {

/// FSDP: each device has a shard of every parameter and gathers a unit while it runs.
///
/// Models PyTorch's `fully_shard`, applied to each layer and then to the model.
///
/// - Shards are rows of the first dimension, padded with zeros to the size of the first device's shard.
/// - All-gather fills one buffer, which is copied out. In forward, the buffer lives until the next one is full.
/// - In backward, the buffer of the unit before it in the order of forward is prefetched.
/// - Gradients of a unit are copied into one buffer for reduce-scatter, in HSDP followed by an all-reduce.
///
/// Source: torch/distributed/fsdp/_fully_shard/_fsdp_param.py, `_init_sharded_param`; _fsdp_param_group.py,
/// `wait_for_unshard`, `_backward_prefetch`, `post_backward`; _fsdp_collectives.py, `foreach_all_gather`,
/// `foreach_reduce`; _fsdp_state.py, `_root_post_backward_final_callback`.
class fsdp_sharding : public parameter_sharding {
public:
    fsdp_sharding(const tape& tape, const training_schedule& plan, memory_timeline& out, memory_tracker& tracker);
    void allocate_parameters() override;
    void pre_forward_model() override;
    void before_forward(std::size_t node) override;
    void after_forward(std::size_t node) override;
    void post_forward_model() override;
    void pre_backward_model() override;
    void before_backward(std::size_t node) override;
    void after_backward(std::size_t node, const std::vector<char>& is_reached) override;
    void post_backward_model(bool) override;
    void zero_gradients() override;

protected:
    struct shard_size {
        std::uint64_t elements = 0, bytes = 0;
    };
    struct unit_state {
        fsdp_unit unit;
        std::uint64_t unsharded_bytes = 0;           ///< bytes, including padding
        std::uint64_t unreduced_gradient_bytes = 0;  ///< bytes of gradients that are not reduced yet
        std::uint64_t padded_gradient_bytes = 0;     ///< bytes of these gradients as reduced, including padding
        std::uint64_t shard_gradient_bytes = 0;      ///< bytes of their shards
        std::uint64_t post_forward_bytes = 0;        ///< shards over fewer ranks, from forward to backward
        bool is_unsharded = false;
        bool is_in_backward = false;      ///< its backward has begun and is not over
        bool has_gradient_shard = false;  ///< a reduced shard since the last step
    };
    /// The data-parallel ranks of a parameter.
    [[nodiscard]] std::int64_t ranks_of(const tape_parameter& p) const noexcept {
        return p.is_distributed_expert ? plan_.expert_data_parallel_size : plan_.data_parallel_size;
    }
    /// The shard of a parameter on the first device, in the stored type.
    [[nodiscard]] virtual tape_parameter shard_of(const tape_parameter& p) const;
    /// The size of the shard of a parameter of the tape.
    [[nodiscard]] const shard_size& shard_size_of(const tape_parameter& p) const {
        return shards_[static_cast<std::size_t>(&p - tape_.parameters.data())];
    }
    /// Bytes of a parameter including the padding of its shards, in the type in which it is gathered.
    [[nodiscard]] std::uint64_t padded_bytes(const tape_parameter& p) const;
    [[nodiscard]] virtual std::uint64_t unsharded_bytes_of(const tape_parameter& p) const { return padded_bytes(p); }
    [[nodiscard]] std::vector<tape_parameter> optimizer_parameters() const override;
    void store_gradient(const tape_parameter& p, parameter_state&) override;
    /// Called when the backward of a unit is complete, or at the end of backward if its inputs need no gradient.
    virtual void post_backward(unit_state& u);
    [[nodiscard]] unit_state& model_unit() { return units_.front(); }
    void free_unsharded(unit_state& u);

private:
    /// Gathers a unit, unless it is unsharded. In backward, from the shards that forward has left.
    void all_gather(unit_state& u, bool is_backward);
    void unshard(unit_state& u);
    void pre_backward(unit_state& u);
    /// Frees the gathered parameters and reduces the gradients to a shard.
    void reduce_scatter(unit_state& u);
    void report(collective_kind kind, mesh_axis axis, std::int64_t ranks, std::uint64_t in_bytes,
                std::uint64_t out_bytes, const unit_state& u, bool is_gradient);
    /// Whether the gradient of a unit reaches nodes before it, so that autograd runs its post-backward hook.
    [[nodiscard]] bool propagates(const unit_state& u, const std::vector<char>& is_reached) const;
    /// The data-parallel ranks of a unit, and their dimension of the mesh.
    [[nodiscard]] std::int64_t ranks_of(const fsdp_unit& unit) const noexcept {
        return unit.is_expert_unit ? plan_.expert_data_parallel_size : plan_.data_parallel_size;
    }
    [[nodiscard]] mesh_axis axis_of(const fsdp_unit& unit) const noexcept {
        return unit.is_expert_unit                  ? mesh_axis::expert_data
               : plan_.fsdp.is_data_axis_named_fsdp ? mesh_axis::fully_sharded
                                                    : mesh_axis::data;
    }
    [[nodiscard]] bool is_reduced_in_pass() const noexcept {
        return plan_.sync != gradient_sync::last || is_last_pass();
    }

    std::vector<unit_state> units_;
    std::vector<shard_size> shards_{};        ///< by parameter, from `allocate_parameters` on
    std::vector<std::size_t> forward_order_;  ///< indices of units in the order in which forward ends
    bool is_forward_ = true;
    std::uint64_t all_gather_buffer_bytes_ = 0;      ///< buffer of the previous unit's all-gather
    std::uint64_t reduce_scatter_buffer_bytes_ = 0;  ///< buffer of the previous unit's reduce-scatter
};

}  // namespace llmcost::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/memory/impl/fsdp_sharding.ipp>  // IWYU pragma: export
#endif
