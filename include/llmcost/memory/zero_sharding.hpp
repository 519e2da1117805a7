// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <llmcost/memory/category.hpp>
#include <llmcost/memory/fsdp_sharding.hpp>
#include <llmcost/memory/memory_tracker.hpp>
#include <llmcost/memory/parameter_sharding.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/tape.hpp>

// DeepSpeed ZeRO with its defaults: contiguous gradients, 5e8 elements per bucket (deepspeed/runtime/zero/config.py).
namespace llmcost::detail {

/// A bucket into which gradients are copied. When the next gradient does not fit, the bucket is reduced.
class gradient_bucket {
public:
    static constexpr std::uint64_t size = 500'000'000;  ///< capacity in elements

    explicit gradient_bucket(memory_tracker& tracker) : tracker_(tracker) {}
    [[nodiscard]] bool fits(const tape_parameter& p) const noexcept { return num_elements_ + p.elements <= size; }
    /// Adds a gradient. One that is larger than the bucket stays in its own memory.
    void add(const tape_parameter& p);
    /// Bytes of the gradients in the bucket.
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
    [[nodiscard]] const std::vector<const tape_parameter*>& parameters() const noexcept { return parameters_; }
    void clear();

private:
    memory_tracker& tracker_;
    std::uint64_t num_elements_ = 0, bytes_ = 0;
    std::vector<const tape_parameter*> parameters_;
};

/// ZeRO stages 1 and 2: trained weights are in one tensor. Each device updates an equal part, of which it has a float32
/// copy.
///
/// The figures are those of the first device.
///
/// Source: deepspeed/runtime/zero/stage_1_and_2.py: `__init__` (pads to a multiple of 2 · devices elements),
/// `setup_buckets`, `reduce_independent_p_g_buckets_and_remove_grads`, `reduce_ipg_grads`, `copy_grads_in_partition`,
/// `step`.
class zero_sharding final : public parameter_sharding {
public:
    zero_sharding(const tape& tape, const training_schedule& plan, memory_timeline& out, memory_tracker& tracker);
    void allocate_parameters() override;
    void post_backward_model(bool last) override;
    void zero_gradients() override;

protected:
    void store_gradient(const tape_parameter& p, parameter_state& s) override;
    std::uint64_t prepare_gradients_for_step() override;
    [[nodiscard]] std::vector<tape_parameter> optimizer_parameters() const override;

private:
    [[nodiscard]] bool shards_gradients() const noexcept { return plan_.sharding == sharding_strategy::zero2; }
    /// The first and the last device whose parts overlap with a parameter.
    struct partition_range {
        std::uint64_t first = 0, last = 0;
    };
    [[nodiscard]] partition_range& partition_range_of(const tape_parameter& p) {
        return partition_ranges_[static_cast<std::size_t>(&p - tape_.parameters.data())];
    }
    void add_to_bucket(const tape_parameter& p);
    void reduce();

    gradient_bucket bucket_;
    /// elements in total and per device; bytes per element
    std::uint64_t elements_ = 0, partition_elements_ = 0, element_bytes_ = 0;
    std::uint64_t own_gradient_bytes_ = 0;      ///< bytes of gradients that overlap with the first device's part
    std::uint64_t bucket_buffer_bytes_ = 0;     ///< bytes of the bucket's buffer
    std::uint64_t reduced_gradient_bytes_ = 0;  ///< bytes of the gradients of this pass
    bool has_accumulated_gradients_ = false;    ///< whether earlier passes left gradients
    std::vector<partition_range> partition_ranges_;
    std::vector<const tape_parameter*> pending_parameters_;
};

/// ZeRO stage 3: each parameter is flattened, padded and split; small ones are replicated. Layers are gathered as in
/// FSDP.
///
/// Source: deepspeed/runtime/zero/partition_parameters.py, `_aligned_size`; parameter_offload.py,
/// `param_persistence_threshold`; config.py, `sub_group_size`; stage3.py, `_setup_for_real_optimizer`.
class zero3_sharding final : public fsdp_sharding {
public:
    static constexpr std::uint64_t persistence_threshold = 100'000;  ///< elements
    static constexpr std::uint64_t sub_group_size = 1'000'000'000;   ///< elements per device that are updated together

    zero3_sharding(const tape& tape, const training_schedule& plan, memory_timeline& out, memory_tracker& tracker)
        : fsdp_sharding(tape, plan, out, tracker), bucket_(tracker) {}
    void allocate_parameters() override;
    void post_backward_model(bool) override;

protected:
    [[nodiscard]] std::uint64_t unsharded_bytes_of(const tape_parameter& p) const override {
        return p.elements <= persistence_threshold ? 0 : padded_bytes(p);
    }
    [[nodiscard]] tape_parameter shard_of(const tape_parameter& p) const override;
    void store_gradient(const tape_parameter& p, parameter_state&) override;
    void post_backward(unit_state& u) override { free_unsharded(u); }
    /// Updates one group of `sub_group_size` elements after the other.
    void step_all(bool first) override;

private:
    void reduce();

    gradient_bucket bucket_;
    std::uint64_t element_bytes_ = 0;
};

}  // namespace llmcost::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/memory/impl/zero_sharding.ipp>  // IWYU pragma: export
#endif
