// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/tape.hpp>

namespace llmcost {

namespace detail {

/// Plays a tape forwards and backwards, and tells every moment to who watches.
class tape_player {
public:
    tape_player(const tape& of, const training_schedule& plan, memory_timeline& out)
        : of_(of), plan_(plan), out_(out), held_(of.tensors.size()), uses_(of.parameters.size()) {
        for (const tape_parameter& p : of.parameters) {
            now_.add(memory_category::parameters, p.bytes);
            if (p.trained) trained_.push_back(&p), out_.trainable += p.elements;
        }
        // optimizers go through parameters as modules declare them: layers mostly have their norms behind what they norm
        for (std::size_t i = 0; i < trained_.size();) {
            std::size_t end = i + 1;
            while (end < trained_.size() && trained_[end]->region == trained_[i]->region) ++end;
            const auto run = trained_.begin();
            if (trained_[i]->region >= 0)
                std::stable_partition(run + static_cast<std::ptrdiff_t>(i), run + static_cast<std::ptrdiff_t>(end),
                                      [](const tape_parameter* p) { return p->sizes.size() >= 2; });
            i = end;
        }
        now_.add(memory_category::buffers, of.buffers);
        now_.add(memory_category::others, plan.inputs);
        for (const tape_tensor& t : of.tensors)
            if (t.made_by < 0) now_.add(memory_category::others, t.bytes);
    }

    void play() {
        for (step_ = 1; step_ <= plan_.steps; ++step_) {
            forward();
            out_.after_forward = now_;
            let_go_of_outputs();
            backward();
            out_.after_backward = now_;
            if (of_.loss >= 0) free(of_.loss);
            update();
            out_.after_step = now_;
            end();
        }
    }

private:
    using category = memory_category;

    struct held_tensor {
        bool lives = false;
        std::int32_t saved_by = 0;   ///< nodes whose backward still needs it
        std::int32_t gradient = -1;  ///< of `gradients_`
        std::uint64_t parts = 0;     ///< bytes of gradients of views into it, which will be joined
    };
    /// A module that checkpointing wraps: its nodes, the last that packs something, what it is handed.
    struct tape_region {
        std::int32_t first = -1, last = -1, stop = -1;
        bool made = false;
        std::vector<std::int32_t> arguments{};
    };
    /// A gradient's memory, which several tensors may share for a while.
    struct gradient_memory {
        std::uint64_t bytes = 0;
        int holders = 0;
        bool is_view = false;  ///< of a product in other sizes, which no sum is written into
    };
    /// What arrives for a parameter, from each place that reads it.
    struct parameter_use {
        int awaited = 0;
        std::int32_t gradient = -1;
        bool given = false;  ///< it has had a gradient
    };

    void look(std::string_view at) {
        out_.own_peaks.raise(now_);
        if (now_.total > most_) most_ = now_.total;
        if (now_.total > out_.peak.bytes.total) out_.peak = {now_, step_, phase_, at};
    }
    /// Notes a moment where a region ends.
    void note(std::int32_t region, bool ends) {
        if (step_ != plan_.steps || !ends) return;
        const std::string path = region < 0 ? std::string() : of_.regions[static_cast<std::size_t>(region)];
        out_.moments.push_back({phase_, path, now_, most_});
        most_ = now_.total;
    }
    [[nodiscard]] std::uint64_t bytes_of(std::int32_t t) const { return tensor(t).bytes * tensor(t).times; }
    [[nodiscard]] const tape_node& node(std::int32_t i) const { return of_.nodes[static_cast<std::size_t>(i)]; }
    [[nodiscard]] const tape_tensor& tensor(std::int32_t t) const { return of_.tensors[static_cast<std::size_t>(t)]; }
    held_tensor& held(std::int32_t t) { return held_[static_cast<std::size_t>(t)]; }

    // ---- forward

    void make(std::int32_t t) {
        if (held(t).lives || tensor(t).made_by < 0) return;
        held(t).lives = true;
        now_.add(category::activations, bytes_of(t));
    }
    void free(std::int32_t t) {
        if (!held(t).lives) return;
        held(t).lives = false;
        now_.take(category::activations, bytes_of(t));
    }
    void forward() {
        phase_ = "forward";
        if (plan_.recompute == recomputation::full) hold_arguments();
        for (std::size_t i = 0; i < of_.nodes.size(); ++i) {
            const tape_node& n = of_.nodes[i];
            make(n.output);
            if (!forgets(n)) keep(n);
            look(price_of(n.kind).name);
            for (const tape_edge& e : n.inputs) drop_unless_read(e.tensor, i);
            drop_unless_read(n.output, i);
            note(n.region, i + 1 == of_.nodes.size() || of_.nodes[i + 1].region != n.region);
        }
        out_.saved_bytes = saved();
    }
    void keep(const tape_node& n) {
        for (const std::int32_t s : n.saved) make(s), ++held(s).saved_by;
        now_.add(category::activations, n.kept_besides + n.kept_integers);
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
        for (const tape_node& n : of_.nodes) bytes += forgets(n) ? 0 : n.kept_besides;
        return bytes;
    }

    // ---- layers that are made again

    [[nodiscard]] bool forgets(const tape_node& n) const noexcept {
        return plan_.recompute == recomputation::full && n.region >= 0;
    }
    [[nodiscard]] tape_region& region_of(const tape_node& n) { return regions_[static_cast<std::size_t>(n.region)]; }
    /// A wrapped module holds what it is handed until its backward is over.
    void hold_arguments() {
        regions_.assign(of_.regions.size(), {});
        for (std::size_t i = 0; i < of_.nodes.size(); ++i) {
            const tape_node& n = of_.nodes[i];
            if (n.region < 0) continue;
            tape_region& r = region_of(n);
            if (r.first < 0) r.first = static_cast<std::int32_t>(i);
            r.last = static_cast<std::int32_t>(i);
            if (packs(n)) r.stop = static_cast<std::int32_t>(i);
            for (const tape_edge& e : n.inputs) {
                if (e.tensor < 0 || tensor(e.tensor).made_by >= r.first ||
                    std::ranges::find(r.arguments, e.tensor) != r.arguments.end())
                    continue;
                r.arguments.push_back(e.tensor), ++held(e.tensor).saved_by;
            }
        }
    }
    /// Whether autograd packs something of it, weights included.
    [[nodiscard]] static bool packs(const tape_node& n) noexcept {
        return n.goes_back && (!n.saved.empty() || n.kept_besides > 0 || price_of(n.kind).torch_flops != 0);
    }
    /// Runs a module again until the last tensor that its backward needs is there (`early_stop`).
    void make_again(tape_region& r) {
        r.made = true;
        std::vector<std::int32_t> last(of_.tensors.size(), -1);
        for (std::int32_t i = r.first; i <= r.stop; ++i)
            for (const tape_edge& e : node(i).inputs)
                if (e.tensor >= 0) last[static_cast<std::size_t>(e.tensor)] = i;
        for (std::int32_t i = r.first; i <= r.stop; ++i) {
            const tape_node& n = node(i);
            const bool runs = i < r.stop || std::ranges::find(n.saved, n.output) != n.saved.end();
            if (runs) make(n.output), out_.recomputed_flops += step_ == 1 ? n.torch_flops : 0;
            keep(n);
            look(price_of(n.kind).name);
            const auto drop_read = [&](std::int32_t t) {
                if (t >= 0 && held(t).saved_by == 0 && last[static_cast<std::size_t>(t)] <= i) free(t);
            };
            for (const tape_edge& e : n.inputs) drop_read(e.tensor);
            drop_read(n.output);
        }
    }
    void finish(const tape_region& r) {
        for (const std::int32_t t : r.arguments)
            if (--held(t).saved_by == 0) free(t);
    }

    // ---- backward

    /// What no gradient will reach dies with the outputs that it belongs to.
    void let_go_of_outputs() {
        reached_.assign(of_.nodes.size(), false);
        std::vector<bool> wanted(of_.tensors.size(), false);
        if (of_.loss >= 0) wanted[static_cast<std::size_t>(of_.loss)] = true;
        for (std::size_t i = of_.nodes.size(); i-- > 0;) {
            const tape_node& n = of_.nodes[i];
            if (!n.goes_back || !wanted[static_cast<std::size_t>(n.output)]) continue;
            reached_[i] = true;
            for (const tape_edge& e : n.inputs) {
                if (!e.wants_gradient) continue;
                if (e.tensor >= 0) wanted[static_cast<std::size_t>(e.tensor)] = true;
                if (e.parameter >= 0) ++uses_[static_cast<std::size_t>(e.parameter)].awaited;
            }
        }
        for (std::size_t i = 0; i < of_.nodes.size(); ++i)
            if (!reached_[i] && !forgets(of_.nodes[i])) release(of_.nodes[i]);
        if (of_.returned >= 0 && held(of_.returned).saved_by == 0) free(of_.returned);
    }
    void release(const tape_node& n) {
        for (const std::int32_t s : n.saved)
            if (--held(s).saved_by == 0 && s != of_.loss) free(s);
        now_.take(category::activations, n.kept_besides + n.kept_integers);
    }
    void backward() {
        phase_ = "backward";
        now_.add(category::activations, 4);  // what backward begins with: one
        gradients_.clear();
        if (of_.loss >= 0) held(of_.loss).gradient = new_gradient(0);
        for (std::size_t i = of_.nodes.size(); i-- > 0;) {
            const tape_node& n = of_.nodes[i];
            if (forgets(n) && reached_[i] && !region_of(n).made) make_again(region_of(n));
            if (reached_[i])
                go_back(n);
            else if (forgets(n) && region_of(n).made && static_cast<std::int32_t>(i) <= region_of(n).stop)
                release(n);
            if (forgets(n) && region_of(n).first == static_cast<std::int32_t>(i)) finish(region_of(n));
            note(n.region, i == 0 || of_.nodes[i - 1].region != n.region);
        }
        now_.take(category::activations, 4);
    }
    void go_back(const tape_node& n) {
        const std::string_view name = price_of(n.kind).name;
        join_parts(held(n.output), tensor(n.output).bytes);
        const std::int32_t arrived = held(n.output).gradient;
        held(n.output).gradient = -1;
        made_.clear();
        for (const tape_edge& e : n.inputs)
            made_.push_back(!e.wants_gradient ? -1 : passes(n, e) ? shared(arrived) : fresh(n, e, name));
        drop(arrived), release(n);  // before what it made meets other gradients (autograd's engine.cpp, `evaluate_function`)
        for (std::size_t i = 0; i < made_.size(); ++i) {
            if (made_[i] < 0) continue;
            const tape_edge& e = n.inputs[i];
            if (e.tensor >= 0 && e.bytes < tensor(e.tensor).bytes)
                keep_part(held(e.tensor), made_[i]);
            else if (e.tensor >= 0)
                meet(held(e.tensor).gradient, made_[i]);
            if (e.parameter >= 0) arrive(e.parameter, made_[i]);
        }
    }
    /// Whether backward hands the gradient on as it is.
    [[nodiscard]] bool passes(const tape_node& n, const tape_edge& e) const {
        const bool whole = e.bytes == n.output_bytes;
        return whole && !n.own_backward &&
               (n.kind == op::add || n.kind == op::copy || n.kind == op::cat ||
                (n.kind == op::sub && &e == &n.inputs.front()));
    }
    /// A gradient that a node makes; where the operation sees a tensor repeated, it is summed.
    std::int32_t fresh(const tape_node& n, const tape_edge& e, std::string_view name) {
        const std::uint64_t own =
            e.tensor >= 0 ? tensor(e.tensor).bytes : of_.parameters[static_cast<std::size_t>(e.parameter)].bytes;
        const std::uint64_t seen =
            backward_of(n.kind).gradient == arrives::as_output && n.output_bytes > e.bytes ? n.output_bytes : e.bytes;
        const std::int32_t wide = new_gradient(e.tensor >= 0 || seen > own ? seen : own);
        gradients_[static_cast<std::size_t>(wide)].is_view = price_of(n.kind).torch_flops != 0;
        look(name);
        if (seen <= own) return wide;
        const std::int32_t summed = new_gradient(own);
        look("sum");
        drop(wide);
        return summed;
    }
    /// A gradient of a part of a tensor waits for those of the other parts.
    void keep_part(held_tensor& of, std::int32_t g) {
        const std::uint64_t bytes = gradients_[static_cast<std::size_t>(g)].bytes;
        drop(g);
        now_.add(category::temporaries, bytes), of.parts += bytes;
    }
    void join_parts(held_tensor& of, std::uint64_t whole) {
        if (of.parts == 0) return;
        meet(of.gradient, new_gradient(whole));
        look("cat");
        now_.take(category::temporaries, of.parts), of.parts = 0;
    }
    /// Two gradients of one tensor are added in place where nobody else holds the first.
    void meet(std::int32_t& place, std::int32_t g) {
        if (place < 0) {
            place = g;
            return;
        }
        gradient_memory& first = gradients_[static_cast<std::size_t>(place)];
        if (first.holders > 1 || first.is_view) {
            const std::int32_t sum = new_gradient(first.bytes);
            look("add");
            drop(place);
            place = sum;
        }
        drop(g);
    }
    void arrive(std::int32_t parameter, std::int32_t g) {
        parameter_use& use = uses_[static_cast<std::size_t>(parameter)];
        meet(use.gradient, g);
        if (--use.awaited > 0) return;
        const std::uint64_t bytes = of_.parameters[static_cast<std::size_t>(parameter)].bytes;
        drop(use.gradient);
        use.gradient = -1, use.given = true;
        now_.add(category::gradients, bytes), given_ += bytes;
        look("grad");
    }
    std::int32_t new_gradient(std::uint64_t bytes) {
        gradients_.push_back({bytes, 1});
        now_.add(category::temporaries, bytes);
        return static_cast<std::int32_t>(gradients_.size()) - 1;
    }
    std::int32_t shared(std::int32_t g) {
        ++gradients_[static_cast<std::size_t>(g)].holders;
        return g;
    }
    void drop(std::int32_t g) {
        if (g < 0) return;
        gradient_memory& m = gradients_[static_cast<std::size_t>(g)];
        if (--m.holders == 0) now_.take(category::temporaries, m.bytes);
    }

    // ---- the optimizer

    void update() {
        phase_ = "step";
        // an optimizer passes over parameters that no gradient reaches
        std::erase_if(trained_, [&](const tape_parameter* p) {
            return !uses_[static_cast<std::size_t>(p - of_.parameters.data())].given;
        });
        if (step_ == 1)
            for (const tape_parameter* p : trained_) now_.add(category::optimizer, state_of(*plan_.optimizer, *p));
        look("state");
        const std::uint64_t work = work_of(*plan_.optimizer, trained_);
        now_.add(category::optimizer, work);
        look(plan_.optimizer->name);
        now_.take(category::optimizer, work);
        note(-1, true);
    }
    void end() {
        now_.take(category::gradients, given_), given_ = 0;
        for (held_tensor& t : held_) {  // of leaves that are no parameters
            drop(t.gradient), t.gradient = -1;
            now_.take(category::temporaries, t.parts), t.parts = 0;
        }
    }

    const tape& of_;
    const training_schedule& plan_;
    memory_timeline& out_;
    std::vector<held_tensor> held_;
    std::vector<parameter_use> uses_;
    std::vector<tape_region> regions_;
    std::vector<gradient_memory> gradients_;
    std::vector<std::int32_t> made_;  ///< gradients of the inputs of the node that goes back
    std::vector<const tape_parameter*> trained_;
    std::vector<bool> reached_;
    memory_bytes now_{};
    std::uint64_t most_ = 0;   ///< the largest total since the last moment that was noted
    std::uint64_t given_ = 0;  ///< bytes of gradients that parameters have
    int step_ = 0;
    std::string_view phase_;
};

}  // namespace detail

/// Memory of a pass that is trained so many steps.
[[nodiscard]] inline memory_timeline timeline_of(const tape& pass, const training_schedule& plan) {
    memory_timeline out;
    detail::tape_player(pass, plan, out).play();
    return out;
}

}  // namespace llmcost
