// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <llmcost/memory/parameter_keeper.hpp>

namespace llmcost::detail {

/// Each device holds a part of every parameter, and gathers a layer for as long as it runs, as PyTorch's `fully_shard` does
/// where it wraps each layer, then the model.
///
/// Parts are rows of the first dimension, as many as the first device has, zeros behind the last ones. What is gathered
/// arrives in one buffer and is copied out of it; in forward the buffer stays until the next one is full, in backward the
/// next layer's is filled ahead. Gradients of a layer are copied into one buffer, of which each device gets its part.
/// Sources: torch/distributed/fsdp/_fully_shard/_fsdp_param.py, `_init_sharded_param`; _fsdp_param_group.py,
/// `wait_for_unshard`, `post_backward`; _fsdp_collectives.py, `foreach_all_gather`, `foreach_reduce`.
class gathered_keeper : public parameter_keeper {
public:
    gathered_keeper(const tape& of, const training_schedule& plan, memory_timeline& out, memory_meter& now)
        : parameter_keeper(of, plan, out, now), groups_(of.regions.size() + 1) {}
    void begin() override {
        for (const tape_parameter& p : of_.parameters) {
            now_.add(category::parameters, part(p).bytes);
            group_of(p.region).gathered += gathered(p);
        }
    }
    void forward_begins() override { order_.clear(), gather(-1); }
    void enter(std::int32_t layer) override { order_.push_back(layer), gather(layer); }
    void leave(std::int32_t layer) override { now_.take(category::parameters, group_of(layer).gathered); }
    void forward_ends() override { now_.take(category::parameters, arrived_), arrived_ = 0; }
    void backward_begins() override { next_ = order_.size(), fill_ahead(); }
    void go_back_into(std::int32_t layer) override {
        const std::uint64_t bytes = group_of(layer).gathered;
        while (!is_ahead(layer) && next_ > 0) fill_ahead();
        now_.pass(category::parameters, bytes, "all_gather");  // copied out of its buffer
        fill_ahead();
    }
    void come_out_of(std::int32_t layer, bool of_gradients) override {
        if (of_gradients)
            reduce(layer);
        else
            last_.push_back(layer);
    }
    void backward_ends(bool) override {
        reduce(-1);
        for (std::size_t i = last_.size(); i-- > 0;) reduce(last_[i]);
        last_.clear();
        now_.take(category::gradients, reduced_), reduced_ = 0;
    }
    void end() override {
        for (group& g : groups_) g.kept = false;
        parameter_keeper::end();
    }

protected:
    struct group {
        std::uint64_t gathered = 0;   ///< bytes, zeros behind included
        std::uint64_t gradients = 0;  ///< bytes of its gradients that wait to be summed
        std::uint64_t reduced = 0;    ///< the same with zeros behind
        bool kept = false;            ///< a part of them, since the last step
    };
    [[nodiscard]] group& group_of(std::int32_t layer) { return groups_[static_cast<std::size_t>(layer + 1)]; }
    /// The part of a parameter that the first device holds.
    [[nodiscard]] virtual tape_parameter part(const tape_parameter& p) const {
        tape_parameter out = p;
        if (p.sizes.empty() || p.elements == 0) return out;
        const std::int64_t rows = (p.sizes[0] + plan_.shards - 1) / plan_.shards;
        out.elements = p.elements / static_cast<std::uint64_t>(p.sizes[0]) * static_cast<std::uint64_t>(rows);
        out.sizes[0] = rows, out.bytes = out.elements * element_bytes(p);
        return out;
    }
    /// Bytes of a parameter with the zeros behind its parts.
    [[nodiscard]] std::uint64_t padded(const tape_parameter& p) const {
        return part(p).bytes * static_cast<std::uint64_t>(plan_.shards);
    }
    [[nodiscard]] virtual std::uint64_t gathered(const tape_parameter& p) const { return padded(p); }
    [[nodiscard]] std::vector<tape_parameter> handed() const override {
        std::vector<tape_parameter> out;
        out.reserve(trained_.size());
        for (const tape_parameter* p : trained_) out.push_back(part(*p));
        return out;
    }
    void take_gradient(const tape_parameter& p, state_of_parameter&) override {
        group_of(p.region).gradients += p.bytes, group_of(p.region).reduced += padded(p);
        now_.add(category::gradients, p.bytes), now_.look("grad");
    }

private:
    void fill(std::uint64_t bytes) { now_.add(category::parameters, bytes), now_.look("all_gather"); }
    void gather(std::int32_t layer) {
        const std::uint64_t bytes = group_of(layer).gathered;
        fill(bytes);
        now_.take(category::parameters, arrived_);
        now_.add(category::parameters, bytes), now_.look("all_gather");
        arrived_ = bytes;
    }
    [[nodiscard]] bool is_ahead(std::int32_t layer) const { return next_ < order_.size() && order_[next_] == layer; }
    void fill_ahead() {
        if (next_ > 0) fill(group_of(order_[--next_]).gathered);
    }
    /// Gives back what was gathered, and keeps a part of the gradients.
    void reduce(std::int32_t layer) {
        group& g = group_of(layer);
        now_.take(category::parameters, g.gathered);
        now_.take(category::gradients, reduced_), reduced_ = 0;
        if (g.gradients == 0) return;
        now_.add(category::gradients, g.reduced), now_.look("reduce_scatter");
        now_.take(category::gradients, g.gradients);
        const std::uint64_t kept = g.reduced / static_cast<std::uint64_t>(plan_.shards);
        now_.add(category::gradients, kept), now_.look("reduce_scatter");
        if (g.kept)
            now_.take(category::gradients, kept);  // added to the part of the pass before
        else
            given_ += kept, g.kept = true;
        reduced_ = g.reduced;
        g.gradients = g.reduced = 0;
    }

    std::vector<group> groups_;
    std::vector<std::int32_t> order_;  ///< layers as forward runs them
    std::vector<std::int32_t> last_;   ///< layers whose inputs want no gradient: they wait for the end of backward
    std::size_t next_ = 0;             ///< of `order_`: whose buffer was filled ahead
    std::uint64_t arrived_ = 0;        ///< the buffer that the layer before was copied out of
    std::uint64_t reduced_ = 0;        ///< the buffer that the layer before was summed in
};

}  // namespace llmcost::detail
