// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <llmcost/memory/gathered_keeper.hpp>

// DeepSpeed's ZeRO with its defaults (deepspeed/runtime/zero/config.py): gradients contiguous, 5e8 elements in a bucket.
namespace llmcost::detail {

/// A buffer that gradients are copied into as they come; when the next one has no room they are reduced together.
class reduce_bucket {
public:
    static constexpr std::uint64_t size = 500'000'000;  ///< elements

    explicit reduce_bucket(memory_meter& now) : now_(now) {}
    [[nodiscard]] bool has_room(const tape_parameter& p) const noexcept { return used_ + p.elements <= size; }
    /// Takes a gradient that is there; one too large for it stays where it is.
    void add(const tape_parameter& p) {
        used_ += p.elements, bytes_ += p.bytes;
        parameters_.push_back(&p);
        if (p.elements <= size) now_.take(memory_category::gradients, p.bytes);
    }
    /// Bytes of what is in it.
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
    [[nodiscard]] const std::vector<const tape_parameter*>& parameters() const noexcept { return parameters_; }
    void clear() {
        for (const tape_parameter* p : parameters_)
            if (p->elements > size) now_.take(memory_category::gradients, p->bytes);
        parameters_.clear(), used_ = bytes_ = 0;
    }

private:
    memory_meter& now_;
    std::uint64_t used_ = 0, bytes_ = 0;
    std::vector<const tape_parameter*> parameters_;
};

/// Stages 1 and 2: trained weights lie in one tensor, of which each device moves an equal part, a copy of it in 32 bits.
///
/// Source: deepspeed/runtime/zero/stage_1_and_2.py: `__init__` (two elements and devices to a multiple), `setup_buckets`,
/// `reduce_independent_p_g_buckets_and_remove_grads`, `reduce_ipg_grads`, `copy_grads_in_partition`, `step`. The figures
/// are those of the first device.
class zero_keeper final : public parameter_keeper {
public:
    zero_keeper(const tape& of, const training_schedule& plan, memory_timeline& out, memory_meter& now)
        : parameter_keeper(of, plan, out, now), bucket_(now) {
        const auto devices = static_cast<std::uint64_t>(plan.shards);
        for (const tape_parameter* p : trained_) elements_ += p->elements, each_ = element_bytes(*p);
        elements_ = (elements_ + 2 * devices - 1) / (2 * devices) * (2 * devices);
        part_ = elements_ / devices;
        places_.resize(of.parameters.size());
        std::uint64_t before = 0;
        for (const tape_parameter* p : trained_) {
            if (p->elements == 0) continue;
            place_of(*p) = {before / part_, (before + p->elements - 1) / part_};
            if (before < part_) own_ += p->bytes;
            before += p->elements;
        }
    }
    void begin() override {
        for (const tape_parameter& p : of_.parameters)
            if (!p.trained) now_.add(category::parameters, p.bytes);
        now_.add(category::parameters, elements_ * each_);
        hold_state(4 * part_);
    }
    void backward_ends(bool last) override {
        if (!shares_gradients() && last)
            for (const tape_parameter* p : waiting_) move(*p);
        if (!shares_gradients() && !last) return;
        waiting_.clear(), reduce();
        now_.take(category::gradients, buffer_), buffer_ = 0;
        if (holds_sum_)
            now_.take(category::gradients, collected_);  // added to those of the pass before
        else
            given_ = collected_;
        holds_sum_ = collected_ > 0, collected_ = 0;
    }
    void end() override { holds_sum_ = false, parameter_keeper::end(); }

protected:
    void take_gradient(const tape_parameter& p, state_of_parameter& s) override {
        if (!s.has_gradient) now_.add(category::gradients, p.bytes);
        if (buffer_ == 0) buffer_ = reduce_bucket::size * each_, now_.add(category::gradients, buffer_);
        now_.look("grad");
        if (shares_gradients()) return move(p);
        if (!s.has_gradient) waiting_.push_back(&p);
        s.has_gradient = true;
    }
    std::uint64_t hand_over() override {
        if (plan_.offloads_optimizer) return 0;
        now_.add(category::optimizer, part_ * each_), now_.look("flatten");
        std::uint64_t wide = part_ * each_;
        if (each_ < 4) {
            wide = part_ * 4;
            now_.add(category::optimizer, wide), now_.look("copy"), now_.take(category::optimizer, part_ * each_);
        }
        now_.take(category::gradients, given_), given_ = 0;
        return wide;
    }
    [[nodiscard]] std::vector<tape_parameter> handed() const override {
        tape_parameter all;
        all.sizes = {static_cast<std::int64_t>(part_)}, all.elements = part_, all.bytes = 4 * part_;
        return {all};
    }

private:
    [[nodiscard]] bool shares_gradients() const noexcept { return plan_.shares == sharing::gradients; }
    /// The first and the last device whose parts a parameter reaches into.
    struct place {
        std::uint64_t first = 0, last = 0;
    };
    [[nodiscard]] place& place_of(const tape_parameter& p) {
        return places_[static_cast<std::size_t>(&p - of_.parameters.data())];
    }
    void move(const tape_parameter& p) {
        if (!bucket_.has_room(p)) reduce();
        bucket_.add(p);
    }
    void reduce() {
        if (bucket_.parameters().empty()) return;
        // slices for several devices are joined before they are summed, those for one lie side by side
        place all = place_of(*bucket_.parameters().front());
        for (const tape_parameter* p : bucket_.parameters())
            all = {std::min(all.first, place_of(*p).first), std::max(all.last, place_of(*p).last)};
        if (all.first < all.last) now_.pass(category::gradients, bucket_.bytes(), "flatten");
        if (all.first == 0 && collected_ == 0 && !plan_.offloads_optimizer)
            collected_ = own_, now_.add(category::gradients, own_), now_.look("reduce");
        bucket_.clear();
    }

    reduce_bucket bucket_;
    std::uint64_t elements_ = 0, part_ = 0, each_ = 0;  ///< of all, of one device; bytes of one
    std::uint64_t own_ = 0;                             ///< bytes of gradients that the first device's part reaches into
    std::uint64_t buffer_ = 0;                          ///< bytes of the bucket's buffer
    std::uint64_t collected_ = 0;                       ///< bytes of this pass's own gradients
    bool holds_sum_ = false;                            ///< of passes before
    std::vector<place> places_;
    std::vector<const tape_parameter*> waiting_;
};

/// Stage 3: each parameter flattened and cut, zeros behind; small ones stay whole. Layers are gathered as `fully_shard`
/// does.
///
/// Source: deepspeed/runtime/zero/partition_parameters.py, `_aligned_size`; parameter_offload.py,
/// `param_persistence_threshold`; config.py, `sub_group_size`; stage3.py, `_setup_for_real_optimizer`.
class zero_3_keeper final : public gathered_keeper {
public:
    static constexpr std::uint64_t stays_whole = 100'000;       ///< elements
    static constexpr std::uint64_t group_size = 1'000'000'000;  ///< elements of a device that are moved together

    zero_3_keeper(const tape& of, const training_schedule& plan, memory_timeline& out, memory_meter& now)
        : gathered_keeper(of, plan, out, now), bucket_(now) {}
    void begin() override {
        gathered_keeper::begin();
        std::uint64_t part_elements = 0;
        for (const tape_parameter& p : of_.parameters)
            if (p.elements <= stays_whole) now_.add(category::parameters, p.bytes);
        for (const tape_parameter* p : trained_) {
            const tape_parameter own = part(*p);
            part_elements += own.elements;
            now_.add(category::gradients, own.bytes), each_ = element_bytes(*p);
        }
        hold_state(4 * part_elements);
        now_.add(category::gradients, reduce_bucket::size * each_);
    }
    void come_out_of(std::int32_t layer, bool) override { give_back(layer); }
    void backward_ends(bool) override { give_back(-1), reduce(); }

protected:
    [[nodiscard]] std::uint64_t gathered(const tape_parameter& p) const override {
        return p.elements <= stays_whole ? 0 : padded(p);
    }
    [[nodiscard]] tape_parameter part(const tape_parameter& p) const override {
        tape_parameter out = p;
        const auto devices = static_cast<std::uint64_t>(plan_.shards);
        out.elements = (p.elements + devices - 1) / devices;
        out.sizes = {static_cast<std::int64_t>(out.elements)}, out.bytes = out.elements * element_bytes(p);
        return out;
    }
    void take_gradient(const tape_parameter& p, state_of_parameter&) override {
        now_.add(category::gradients, p.bytes), now_.look("grad");
        if (!bucket_.has_room(p)) reduce();
        bucket_.add(p);
    }
    /// A group of so many elements after the other.
    void move_all(bool first) override {
        std::vector<tape_parameter> group;
        std::uint64_t elements = 0;
        const auto move = [&] {
            const std::uint64_t wide = plan_.offloads_optimizer ? 0 : 4 * elements;
            now_.add(category::optimizer, wide), now_.look("copy");
            step(group, first);
            now_.take(category::optimizer, wide);
            group.clear(), elements = 0;
        };
        for (const tape_parameter* p : trained_) {
            group.push_back(part(*p)), elements += group.back().elements;
            group.back().bytes = 4 * group.back().elements;
            if (elements >= group_size) move();
        }
        if (!group.empty()) move();
    }

private:
    void give_back(std::int32_t layer) { now_.take(category::parameters, group_of(layer).gathered); }
    void reduce() {
        std::uint64_t padded_bytes = 0;
        for (const tape_parameter* p : bucket_.parameters()) padded_bytes += padded(*p);
        now_.pass(category::gradients, padded_bytes, "reduce_scatter");
        bucket_.clear();
    }

    reduce_bucket bucket_;
    std::uint64_t each_ = 0;
};

}  // namespace llmcost::detail
