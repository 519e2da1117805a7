// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <llmcost/memory/gathered_keeper.hpp>
#include <llmcost/memory/parameter_keeper.hpp>
#include <llmcost/memory/zero_keeper.hpp>

namespace llmcost::detail {

/// Who holds the parameters of a device.
[[nodiscard]] inline std::unique_ptr<parameter_keeper> keeper_of(const tape& of, const training_schedule& plan,
                                                                 memory_timeline& out, memory_meter& now) {
    if (plan.shards > 1) {
        switch (plan.shares) {
            case sharing::replicas: break;
            case sharing::optimizer:
            case sharing::gradients: return std::make_unique<zero_keeper>(of, plan, out, now);
            case sharing::weights: return std::make_unique<zero_3_keeper>(of, plan, out, now);
            case sharing::layers: return std::make_unique<gathered_keeper>(of, plan, out, now);
        }
    }
    return std::make_unique<parameter_keeper>(of, plan, out, now);
}

/// Plays a tape forwards, as a whole or a part of it again.
class forward_player {
public:
    forward_player(const forward_player&) = delete;
    forward_player& operator=(const forward_player&) = delete;

protected:
    using category = memory_category;

    struct held_tensor {
        bool lives = false;
        bool is_leaf = false;  ///< of autograd's graph, which lives as long as that does
        category is = category::activations;
        std::int32_t saved_by = 0;   ///< nodes whose backward still needs it
        std::int32_t gradient = -1;  ///< of backward's
        std::uint64_t parts = 0;     ///< bytes of gradients of views into it, which will be joined
    };
    /// What checkpointing wraps: its nodes, the last that packs something, what it is handed.
    struct tape_region {
        std::int32_t first = -1, last = -1, stop = -1;
        bool made = false;
        std::vector<std::int32_t> arguments{};
        std::vector<std::int32_t> away{};  ///< those that wait in the host's memory
    };

    forward_player(const tape& of, const training_schedule& plan, memory_timeline& out)
        : of_(of),
          plan_(plan),
          out_(out),
          now_(out),
          parameters_(keeper_of(of, plan, out, now_)),
          held_(of.tensors.size()),
          goes_back_(of.tensors.size()) {
        now_.add(category::buffers, of.buffers);
        now_.add(category::others, plan.inputs);
        for (const tape_tensor& t : of.tensors)
            if (t.made_by < 0) now_.add(category::others, t.bytes);
        for (const tape_node& n : of.nodes)
            if (n.goes_back && n.output >= 0) goes_back_[static_cast<std::size_t>(n.output)] = true;
        parameters_->begin();
    }
    ~forward_player() = default;

    /// Notes a moment where a layer ends.
    void note(std::int32_t layer, bool ends) {
        if (step_ != plan_.steps || !last_ || !ends) return;
        now_.note(layer < 0 ? std::string() : of_.regions[static_cast<std::size_t>(layer)]);
    }
    [[nodiscard]] std::uint64_t bytes_of(std::int32_t t) const { return tensor(t).bytes * tensor(t).times; }
    [[nodiscard]] const tape_node& node(std::int32_t i) const { return of_.nodes[static_cast<std::size_t>(i)]; }
    [[nodiscard]] const tape_tensor& tensor(std::int32_t t) const { return of_.tensors[static_cast<std::size_t>(t)]; }
    held_tensor& held(std::int32_t t) { return held_[static_cast<std::size_t>(t)]; }

    void make(std::int32_t t, category is = category::activations) {
        held_tensor& h = held(t);
        if (h.lives || tensor(t).made_by < 0) return;
        h.lives = true, h.is = is;
        now_.add(is, bytes_of(t));
    }
    void free(std::int32_t t) {
        held_tensor& h = held(t);
        if (!h.lives || h.is_leaf) return;
        h.lives = false;
        now_.take(h.is, bytes_of(t));
    }
    void forward() {
        now_.begin(step_, "forward");
        parameters_->forward_begins();
        std::uint64_t offloaded = plan_.recompute == recomputation::none ? 0 : hold_arguments();
        for (std::size_t i = 0; i < of_.nodes.size(); ++i) {
            const tape_node& n = of_.nodes[i];
            if (n.region >= 0 && (i == 0 || of_.nodes[i - 1].region != n.region)) parameters_->enter(n.region);
            make(n.output);
            for (const tape_edge& e : n.inputs)
                if (e.tensor >= 0 && e.wants_gradient && !goes_back_[static_cast<std::size_t>(e.tensor)])
                    held(e.tensor).is_leaf = true;
            if (is_offloaded(n))
                offloaded += send(n);
            else if (!forgets(n))
                keep(n);
            now_.look(price_of(n.kind).name);
            for (const tape_edge& e : n.inputs) drop_unless_read(e.tensor, i);
            drop_unless_read(n.output, i);
            const bool ends = i + 1 == of_.nodes.size() || of_.nodes[i + 1].region != n.region;
            if (n.region >= 0 && ends) parameters_->leave(n.region);
            note(n.region, ends);
        }
        parameters_->forward_ends();
        if (first_) out_.saved_bytes = saved(), out_.offloaded += offloaded;
    }
    void keep(const tape_node& n) {
        for (const std::int32_t s : n.saved) make(s), ++held(s).saved_by;
        now_.add(category::activations, n.kept_besides + n.kept_integers);
    }
    /// What would be kept goes to the host, from where it was made; integers stay.
    std::uint64_t send(const tape_node& n) {
        std::uint64_t made = n.kept_besides;
        for (const std::int32_t s : n.saved)
            if (!held(s).lives && tensor(s).made_by >= 0) made += bytes_of(s);
        now_.add(category::activations, n.kept_integers);
        now_.pass(category::activations, made, price_of(n.kind).name);
        return n.saved_views + n.kept_besides;
    }
    void release(const tape_node& n) {
        if (!is_offloaded(n)) {
            for (const std::int32_t s : n.saved)
                if (--held(s).saved_by == 0 && s != of_.loss) free(s);
            now_.take(category::activations, n.kept_besides);
        }
        now_.take(category::activations, n.kept_integers);
    }
    /// Lets go of a tensor that neither a later node nor backward reads.
    void drop_unless_read(std::int32_t t, std::size_t node) {
        if (t < 0 || t == of_.returned || t == of_.loss || held(t).saved_by > 0) return;
        if (tensor(t).last_read <= static_cast<std::int32_t>(node)) free(t);
    }
    [[nodiscard]] std::uint64_t saved() {
        std::uint64_t bytes = 0;
        for (std::size_t t = 0; t < held_.size(); ++t)
            if (held_[t].saved_by > 0) bytes += bytes_of(static_cast<std::int32_t>(t));
        for (const tape_node& n : of_.nodes) bytes += forgets(n) || is_offloaded(n) ? 0 : n.kept_besides;
        return bytes;
    }

    // ---- what is made again

    /// What of checkpointing a node is in; -1: nothing.
    [[nodiscard]] std::int32_t region_index(const tape_node& n) const noexcept {
        switch (plan_.recompute) {
            case recomputation::none: return -1;
            case recomputation::selective: return n.core;
            case recomputation::full: return n.region < plan_.recomputed_layers ? n.region : -1;
        }
        return -1;
    }
    [[nodiscard]] bool forgets(const tape_node& n) const noexcept { return region_index(n) >= 0; }
    /// What backward needs of it waits in the host's memory; what is made again has no part in that.
    [[nodiscard]] bool is_offloaded(const tape_node& n) const noexcept { return plan_.offloads_activations && !forgets(n); }
    [[nodiscard]] tape_region& region_of(const tape_node& n) { return regions_[static_cast<std::size_t>(region_index(n))]; }
    /// What is wrapped holds what it is handed until its backward is over; bytes of what waits in the host's memory instead:
    /// what gradients go back to, the others are no arguments but names (torch/utils/checkpoint.py, `_NoopSaveInputs`).
    std::uint64_t hold_arguments() {
        regions_.assign(plan_.recompute == recomputation::full ? of_.regions.size() : static_cast<std::size_t>(of_.cores),
                        {});
        std::uint64_t offloaded = 0;
        for (std::size_t i = 0; i < of_.nodes.size(); ++i) {
            const tape_node& n = of_.nodes[i];
            if (!forgets(n)) continue;
            tape_region& r = region_of(n);
            if (r.first < 0) r.first = static_cast<std::int32_t>(i);
            r.last = static_cast<std::int32_t>(i);
            if (packs(n)) r.stop = static_cast<std::int32_t>(i);
            for (const tape_edge& e : n.inputs) {
                if (e.tensor < 0 || tensor(e.tensor).made_by >= r.first ||
                    std::ranges::find(r.arguments, e.tensor) != r.arguments.end() ||
                    std::ranges::find(r.away, e.tensor) != r.away.end())
                    continue;
                if (plan_.offloads_activations && e.wants_gradient)
                    r.away.push_back(e.tensor), offloaded += bytes_of(e.tensor);
                else
                    r.arguments.push_back(e.tensor), ++held(e.tensor).saved_by;
            }
        }
        return offloaded;
    }
    /// Whether autograd packs something of it, weights included.
    [[nodiscard]] static bool packs(const tape_node& n) noexcept {
        return n.goes_back && (!n.saved.empty() || n.kept_besides > 0 || price_of(n.kind).torch_flops != 0);
    }
    /// Runs it again until the last tensor that its backward needs is there (`early_stop`).
    void make_again(tape_region& r) {
        r.made = true;
        for (const std::int32_t t : r.away) make(t, category::temporaries), ++held(t).saved_by;
        std::vector<std::int32_t> last(of_.tensors.size(), -1);
        for (std::int32_t i = r.first; i <= r.stop; ++i)
            for (const tape_edge& e : node(i).inputs)
                if (e.tensor >= 0) last[static_cast<std::size_t>(e.tensor)] = i;
        for (std::int32_t i = r.first; i <= r.stop; ++i) {
            const tape_node& n = node(i);
            const bool runs = i < r.stop || std::ranges::find(n.saved, n.output) != n.saved.end();
            if (runs) make(n.output), out_.recomputed_flops += first_ ? n.torch_flops : 0;
            keep(n);
            now_.look(price_of(n.kind).name);
            const auto drop_read = [&](std::int32_t t) {
                if (t >= 0 && held(t).saved_by == 0 && last[static_cast<std::size_t>(t)] <= i) free(t);
            };
            for (const tape_edge& e : n.inputs) drop_read(e.tensor);
            drop_read(n.output);
        }
        for (const std::int32_t t : r.away)
            if (--held(t).saved_by == 0) free(t);
    }
    void finish(const tape_region& r) {
        for (const std::int32_t t : r.arguments)
            if (--held(t).saved_by == 0) free(t);
    }

    const tape& of_;
    const training_schedule& plan_;
    memory_timeline& out_;
    memory_meter now_;
    std::unique_ptr<parameter_keeper> parameters_;
    std::vector<held_tensor> held_;
    std::vector<tape_region> regions_;
    std::vector<bool> goes_back_;  ///< of tensors: some operation that writes it does
    int step_ = 0;
    bool first_ = false;  ///< the first pass of all
    bool last_ = false;   ///< the last pass of a step
};

}  // namespace llmcost::detail
