// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <llmcost/memory/fsdp_sharding.hpp>

// DeepSpeed ZeRO with its defaults: contiguous gradients, 5e8 elements per bucket (deepspeed/runtime/zero/config.py).
namespace llmcost::detail {

/// A bucket into which gradients are copied. When the next gradient does not fit, the bucket is reduced.
class gradient_bucket {
public:
    static constexpr std::uint64_t size = 500'000'000;  ///< capacity in elements

    explicit gradient_bucket(memory_tracker& now) : now_(now) {}
    [[nodiscard]] bool fits(const tape_parameter& p) const noexcept { return used_ + p.elements <= size; }
    /// Adds a gradient. One that is larger than the bucket stays in its own memory.
    void add(const tape_parameter& p) {
        used_ += p.elements;
        bytes_ += p.bytes;
        parameters_.push_back(&p);
        if (p.elements <= size) now_.free(memory_category::gradients, p.bytes);
    }
    /// Bytes of the gradients in the bucket.
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
    [[nodiscard]] const std::vector<const tape_parameter*>& parameters() const noexcept { return parameters_; }
    void clear() {
        for (const tape_parameter* p : parameters_)
            if (p->elements > size) now_.free(memory_category::gradients, p->bytes);
        parameters_.clear();
        used_ = bytes_ = 0;
    }

private:
    memory_tracker& now_;
    std::uint64_t used_ = 0, bytes_ = 0;
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
    zero_sharding(const tape& tape, const training_schedule& plan, memory_timeline& out, memory_tracker& now)
        : parameter_sharding(tape, plan, out, now), bucket_(now) {
        const auto devices = static_cast<std::uint64_t>(plan.data_parallel_size);
        for (const tape_parameter* p : trained_) {
            elements_ += p->elements;
            element_bytes_ = element_bytes(*p);
        }
        elements_ = (elements_ + 2 * devices - 1) / (2 * devices) * (2 * devices);
        partition_elements_ = elements_ / devices;
        places_.resize(tape.parameters.size());
        std::uint64_t num_previous_elements = 0;
        for (const tape_parameter* p : trained_) {
            if (p->elements == 0) continue;
            partition_range_of(*p) = {num_previous_elements / partition_elements_,
                                      (num_previous_elements + p->elements - 1) / partition_elements_};
            if (num_previous_elements < partition_elements_) own_gradient_bytes_ += p->bytes;
            num_previous_elements += p->elements;
        }
    }
    void allocate_parameters() override {
        for (const tape_parameter& p : tape_.parameters)
            if (!p.is_trainable) now_.allocate(category::parameters, p.bytes);
        now_.allocate(category::parameters, elements_ * element_bytes_);
        allocate_optimizer_state(4 * partition_elements_);
    }
    void post_backward_model(bool last) override {
        if (!shards_gradients() && last)
            for (const tape_parameter* p : pending_parameters_) add_to_bucket(*p);
        if (!shards_gradients() && !last) return;
        pending_parameters_.clear();
        reduce();
        now_.free(category::gradients, bucket_buffer_bytes_);
        bucket_buffer_bytes_ = 0;
        if (has_accumulated_gradients_)
            now_.free(category::gradients, reduced_gradient_bytes_);  // added to those of the previous pass
        else
            stored_gradient_bytes_ = reduced_gradient_bytes_;
        has_accumulated_gradients_ = reduced_gradient_bytes_ > 0;
        reduced_gradient_bytes_ = 0;
    }
    void zero_gradients() override {
        has_accumulated_gradients_ = false;
        parameter_sharding::zero_gradients();
    }

protected:
    void store_gradient(const tape_parameter& p, parameter_state& s) override {
        if (!s.has_gradient) now_.allocate(category::gradients, p.bytes);
        if (bucket_buffer_bytes_ == 0) {
            bucket_buffer_bytes_ = gradient_bucket::size * element_bytes_;
            now_.allocate(category::gradients, bucket_buffer_bytes_);
        }
        now_.update_peak("grad");
        if (shards_gradients()) return add_to_bucket(p);
        if (!s.has_gradient) pending_parameters_.push_back(&p);
        s.has_gradient = true;
    }
    std::uint64_t prepare_gradients_for_step() override {
        if (plan_.offloads_optimizer) return 0;
        now_.allocate(category::optimizer, partition_elements_ * element_bytes_);
        now_.update_peak("flatten");
        std::uint64_t partition_bytes = partition_elements_ * element_bytes_;
        if (element_bytes_ < 4) {
            partition_bytes = partition_elements_ * 4;
            now_.allocate(category::optimizer, partition_bytes);
            now_.update_peak("copy");
            now_.free(category::optimizer, partition_elements_ * element_bytes_);
        }
        now_.free(category::gradients, stored_gradient_bytes_);
        stored_gradient_bytes_ = 0;
        return partition_bytes;
    }
    [[nodiscard]] std::vector<tape_parameter> optimizer_parameters() const override {
        tape_parameter all;
        all.sizes = {static_cast<std::int64_t>(partition_elements_)};
        all.elements = partition_elements_;
        all.bytes = 4 * partition_elements_;
        return {all};
    }

private:
    [[nodiscard]] bool shards_gradients() const noexcept { return plan_.sharding == sharding_strategy::zero2; }
    /// The first and the last device whose parts overlap with a parameter.
    struct partition_range {
        std::uint64_t first = 0, last = 0;
    };
    [[nodiscard]] partition_range& partition_range_of(const tape_parameter& p) {
        return places_[static_cast<std::size_t>(&p - tape_.parameters.data())];
    }
    void add_to_bucket(const tape_parameter& p) {
        if (!bucket_.fits(p)) reduce();
        bucket_.add(p);
    }
    void reduce() {
        if (bucket_.parameters().empty()) return;
        // slices for several devices are concatenated before the reduction; those for one device are already contiguous
        partition_range all = partition_range_of(*bucket_.parameters().front());
        for (const tape_parameter* p : bucket_.parameters())
            all = {std::min(all.first, partition_range_of(*p).first), std::max(all.last, partition_range_of(*p).last)};
        if (all.first < all.last) now_.allocate_temporary(category::gradients, bucket_.bytes(), "flatten");
        if (all.first == 0 && reduced_gradient_bytes_ == 0 && !plan_.offloads_optimizer) {
            reduced_gradient_bytes_ = own_gradient_bytes_;
            now_.allocate(category::gradients, own_gradient_bytes_);
            now_.update_peak("reduce");
        }
        bucket_.clear();
    }

    gradient_bucket bucket_;
    /// elements in total and per device; bytes per element
    std::uint64_t elements_ = 0, partition_elements_ = 0, element_bytes_ = 0;
    std::uint64_t own_gradient_bytes_ = 0;      ///< bytes of gradients that overlap with the first device's part
    std::uint64_t bucket_buffer_bytes_ = 0;     ///< bytes of the bucket's buffer
    std::uint64_t reduced_gradient_bytes_ = 0;  ///< bytes of the gradients of this pass
    bool has_accumulated_gradients_ = false;    ///< whether earlier passes left gradients
    std::vector<partition_range> places_;
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

    zero3_sharding(const tape& tape, const training_schedule& plan, memory_timeline& out, memory_tracker& now)
        : fsdp_sharding(tape, plan, out, now), bucket_(now) {}
    void allocate_parameters() override {
        fsdp_sharding::allocate_parameters();
        std::uint64_t part_elements = 0;
        for (const tape_parameter& p : tape_.parameters)
            if (p.elements <= persistence_threshold) now_.allocate(category::parameters, p.bytes);
        for (const tape_parameter* p : trained_) {
            const tape_parameter shard = shard_of(*p);
            part_elements += shard.elements;
            now_.allocate(category::gradients, shard.bytes);
            element_bytes_ = element_bytes(*p);
        }
        allocate_optimizer_state(4 * part_elements);
        now_.allocate(category::gradients, gradient_bucket::size * element_bytes_);
    }
    void post_backward(std::int32_t layer, bool) override { reshard(layer); }
    void post_backward_model(bool) override {
        reshard(-1);
        reduce();
    }

protected:
    [[nodiscard]] std::uint64_t unsharded_bytes_of(const tape_parameter& p) const override {
        return p.elements <= persistence_threshold ? 0 : padded_bytes(p);
    }
    [[nodiscard]] tape_parameter shard_of(const tape_parameter& p) const override {
        tape_parameter out = p;
        const auto devices = static_cast<std::uint64_t>(plan_.data_parallel_size);
        out.elements = (p.elements + devices - 1) / devices;
        out.sizes = {static_cast<std::int64_t>(out.elements)};
        out.bytes = out.elements * element_bytes(p);
        return out;
    }
    void store_gradient(const tape_parameter& p, parameter_state&) override {
        now_.allocate(category::gradients, p.bytes);
        now_.update_peak("grad");
        if (!bucket_.fits(p)) reduce();
        bucket_.add(p);
    }
    /// Updates one group of `sub_group_size` elements after the other.
    void step_all(bool first) override {
        std::vector<tape_parameter> group;
        std::uint64_t elements = 0;
        const auto add_to_bucket = [&] {
            const std::uint64_t float32_bytes = plan_.offloads_optimizer ? 0 : 4 * elements;
            now_.allocate(category::optimizer, float32_bytes);
            now_.update_peak("copy");
            step(group, first);
            now_.free(category::optimizer, float32_bytes);
            group.clear();
            elements = 0;
        };
        for (const tape_parameter* p : trained_) {
            group.push_back(shard_of(*p));
            elements += group.back().elements;
            group.back().bytes = 4 * group.back().elements;
            if (elements >= sub_group_size) add_to_bucket();
        }
        if (!group.empty()) add_to_bucket();
    }

private:
    void reshard(std::int32_t layer) { now_.free(category::parameters, group_of(layer).unsharded_bytes); }
    void reduce() {
        std::uint64_t bucket_bytes = 0;
        for (const tape_parameter* p : bucket_.parameters()) bucket_bytes += padded_bytes(*p);
        now_.allocate_temporary(category::gradients, bucket_bytes, "reduce_scatter");
        bucket_.clear();
    }

    gradient_bucket bucket_;
    std::uint64_t element_bytes_ = 0;
};

}  // namespace llmcost::detail
