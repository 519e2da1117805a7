// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <llmcost/memory/parameter_sharding.hpp>

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
    fsdp_sharding(const tape& tape, const training_schedule& plan, memory_timeline& out, memory_tracker& now)
        : parameter_sharding(tape, plan, out, now), groups_(tape.regions.size() + 1) {}
    void allocate_parameters() override {
        for (const tape_parameter& p : tape_.parameters) {
            now_.allocate(category::parameters, shard_of(p).bytes);
            group_of(p.region_id).unsharded_bytes += unsharded_bytes_of(p);
        }
    }
    void pre_forward_model() override {
        forward_order_.clear();
        unshard(-1);
    }
    void pre_forward(std::int32_t layer) override {
        forward_order_.push_back(layer);
        unshard(layer);
    }
    void post_forward(std::int32_t layer) override { now_.free(category::parameters, group_of(layer).unsharded_bytes); }
    void post_forward_model() override {
        now_.free(category::parameters, all_gather_buffer_bytes_);
        all_gather_buffer_bytes_ = 0;
    }
    void pre_backward_model() override {
        next_prefetch_ = forward_order_.size();
        prefetch_next();
    }
    void pre_backward(std::int32_t layer) override {
        const std::uint64_t bytes = group_of(layer).unsharded_bytes;
        while (!is_prefetched(layer) && next_prefetch_ > 0) prefetch_next();
        now_.allocate_temporary(category::parameters, bytes, "all_gather");  // copied out of its buffer
        prefetch_next();
    }
    void post_backward(std::int32_t layer, bool of_gradients) override {
        if (of_gradients)
            reduce_scatter(layer);
        else
            deferred_layers_.push_back(layer);
    }
    void post_backward_model(bool) override {
        reduce_scatter(-1);
        for (std::size_t i = deferred_layers_.size(); i-- > 0;) reduce_scatter(deferred_layers_[i]);
        deferred_layers_.clear();
        now_.free(category::gradients, reduce_scatter_buffer_bytes_);
        reduce_scatter_buffer_bytes_ = 0;
    }
    void zero_gradients() override {
        for (parameter_group& g : groups_) g.has_gradient_shard = false;
        parameter_sharding::zero_gradients();
    }

protected:
    struct parameter_group {
        std::uint64_t unsharded_bytes = 0;           ///< bytes, including padding
        std::uint64_t unreduced_gradient_bytes = 0;  ///< bytes of gradients that are not reduced yet
        std::uint64_t padded_gradient_bytes = 0;     ///< bytes of these gradients, including padding
        bool has_gradient_shard = false;             ///< a reduced shard since the last step
    };
    [[nodiscard]] parameter_group& group_of(std::int32_t layer) { return groups_[static_cast<std::size_t>(layer + 1)]; }
    /// The shard of a parameter on the first device.
    [[nodiscard]] virtual tape_parameter shard_of(const tape_parameter& p) const {
        tape_parameter out = p;
        if (p.sizes.empty() || p.elements == 0) return out;
        const std::int64_t rows = (p.sizes[0] + plan_.data_parallel_size - 1) / plan_.data_parallel_size;
        out.elements = p.elements / static_cast<std::uint64_t>(p.sizes[0]) * static_cast<std::uint64_t>(rows);
        out.sizes[0] = rows;
        out.bytes = out.elements * element_bytes(p);
        return out;
    }
    /// Bytes of a parameter including the padding of its shards.
    [[nodiscard]] std::uint64_t padded_bytes(const tape_parameter& p) const {
        return shard_of(p).bytes * static_cast<std::uint64_t>(plan_.data_parallel_size);
    }
    [[nodiscard]] virtual std::uint64_t unsharded_bytes_of(const tape_parameter& p) const { return padded_bytes(p); }
    [[nodiscard]] std::vector<tape_parameter> optimizer_parameters() const override {
        std::vector<tape_parameter> out;
        out.reserve(trained_.size());
        for (const tape_parameter* p : trained_) out.push_back(shard_of(*p));
        return out;
    }
    void store_gradient(const tape_parameter& p, parameter_state&) override {
        group_of(p.region_id).unreduced_gradient_bytes += p.bytes;
        group_of(p.region_id).padded_gradient_bytes += padded_bytes(p);
        now_.allocate(category::gradients, p.bytes);
        now_.update_peak("grad");
    }

private:
    void all_gather(std::uint64_t bytes) {
        now_.allocate(category::parameters, bytes);
        now_.update_peak("all_gather");
    }
    void unshard(std::int32_t layer) {
        const std::uint64_t bytes = group_of(layer).unsharded_bytes;
        all_gather(bytes);
        now_.free(category::parameters, all_gather_buffer_bytes_);
        now_.allocate(category::parameters, bytes);
        now_.update_peak("all_gather");
        all_gather_buffer_bytes_ = bytes;
    }
    [[nodiscard]] bool is_prefetched(std::int32_t layer) const {
        return next_prefetch_ < forward_order_.size() && forward_order_[next_prefetch_] == layer;
    }
    void prefetch_next() {
        if (next_prefetch_ > 0) all_gather(group_of(forward_order_[--next_prefetch_]).unsharded_bytes);
    }
    /// Frees the gathered parameters and reduces the gradients to a shard.
    void reduce_scatter(std::int32_t layer) {
        parameter_group& g = group_of(layer);
        now_.free(category::parameters, g.unsharded_bytes);
        now_.free(category::gradients, reduce_scatter_buffer_bytes_);
        reduce_scatter_buffer_bytes_ = 0;
        if (g.unreduced_gradient_bytes == 0) return;
        now_.allocate(category::gradients, g.padded_gradient_bytes);
        now_.update_peak("reduce_scatter");
        now_.free(category::gradients, g.unreduced_gradient_bytes);
        const std::uint64_t shard_bytes =
            g.padded_gradient_bytes / static_cast<std::uint64_t>(plan_.data_parallel_size);
        now_.allocate(category::gradients, shard_bytes);
        now_.update_peak("reduce_scatter");
        if (g.has_gradient_shard)
            now_.free(category::gradients, shard_bytes);  // added to the shard of the previous pass
        else {
            stored_gradient_bytes_ += shard_bytes;
            g.has_gradient_shard = true;
        }
        reduce_scatter_buffer_bytes_ = g.padded_gradient_bytes;
        g.unreduced_gradient_bytes = g.padded_gradient_bytes = 0;
    }

    std::vector<parameter_group> groups_;
    std::vector<std::int32_t> forward_order_;  ///< layers in forward order
    std::vector<std::int32_t>
        deferred_layers_;  ///< layers whose inputs need no gradient; their reduce-scatter is at the end of backward
    std::size_t next_prefetch_ = 0;                  ///< index in `forward_order_` of the last prefetched layer
    std::uint64_t all_gather_buffer_bytes_ = 0;      ///< buffer of the previous layer's all-gather
    std::uint64_t reduce_scatter_buffer_bytes_ = 0;  ///< buffer of the previous layer's reduce-scatter
};

}  // namespace llmcost::detail
