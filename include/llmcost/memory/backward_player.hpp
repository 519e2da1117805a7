// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <llmcost/graph/backward_graph.hpp>
#include <llmcost/memory/forward_player.hpp>

namespace llmcost::detail {

/// Plays a tape backwards: gradients of tensors, from the operation that makes them to the one that reads them.
class backward_player : public forward_player {
protected:
    backward_player(const tape& of, const training_schedule& plan, memory_timeline& out)
        : forward_player(of, plan, out), uses_(of.parameters.size()) {}
    ~backward_player() = default;

    /// What no gradient will reach dies with the outputs that it belongs to.
    void let_go_of_outputs() {
        reached_.assign(of_.nodes.size(), false);
        std::vector<char> wanted(of_.tensors.size(), false);
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
    void backward() {
        now_.begin("backward");
        now_.add(category::activations, 4);  // what backward begins with: one
        gradients_.clear();
        parameters_->backward_begins();
        if (of_.loss >= 0) held(of_.loss).gradient = new_gradient(0);
        for (std::size_t i = of_.nodes.size(); i-- > 0;) {
            const tape_node& n = of_.nodes[i];
            if (reached_[i] && n.region >= 0 && n.region != layer_) parameters_->go_back_into(layer_ = n.region);
            if (forgets(n) && reached_[i] && !region_of(n).made) make_again(region_of(n));
            if (reached_[i])
                go_back(n);
            else if (forgets(n) && region_of(n).made && static_cast<std::int32_t>(i) <= region_of(n).stop)
                release(n);
            if (forgets(n) && region_of(n).first == static_cast<std::int32_t>(i)) finish(region_of(n));
            const bool ends = i == 0 || of_.nodes[i - 1].region != n.region;
            if (ends && layer_ >= 0 && layer_ == n.region) parameters_->come_out_of(layer_, goes_on_before(i)), layer_ = -1;
            note(n.region, ends);
        }
        now_.take(category::activations, 4);
        parameters_->backward_ends(last_);
    }
    void let_go_of_loss() {
        if (of_.loss >= 0) free(of_.loss);
        for (std::size_t i = 0; i < held_.size(); ++i) {  // leaves that are no parameters, and their gradients
            held_tensor& t = held_[i];
            t.is_leaf = false, free(static_cast<std::int32_t>(i));
            drop(t.gradient), t.gradient = -1;
            now_.take(category::temporaries, t.parts), t.parts = 0;
        }
    }

private:
    /// A gradient's memory, which several tensors may share for a while.
    struct gradient_memory {
        std::uint64_t bytes = 0;
        int holders = 0;
        bool is_view = false;  ///< of a product in other sizes, which no sum is written into
        category of = category::temporaries;
    };
    /// What arrives for a parameter, from each place that reads it.
    struct parameter_use {
        int awaited = 0;
        std::int32_t gradient = -1;
    };

    /// Whether gradients of a layer that begins at a node go on to what is in front of it.
    [[nodiscard]] bool goes_on_before(std::size_t first) const {
        const std::int32_t layer = of_.nodes[first].region;
        for (std::size_t i = first; i < of_.nodes.size() && of_.nodes[i].region == layer; ++i)
            for (const tape_edge& e : of_.nodes[i].inputs)
                if (reached_[i] && e.wants_gradient && e.tensor >= 0 &&
                    tensor(e.tensor).made_by < static_cast<std::int32_t>(first))
                    return true;
        return false;
    }
    void go_back(const tape_node& n) {
        const std::string_view name = price_of(n.kind).name;
        join_parts(held(n.output), tensor(n.output).bytes);
        const std::int32_t arrived = held(n.output).gradient;
        held(n.output).gradient = -1;
        made_.clear();
        const std::uint64_t fetched = n.made_in_backward + (is_offloaded(n) ? n.saved_views + n.kept_besides : 0);
        if (fetched > 0) now_.add(category::temporaries, fetched), now_.look("copy");
        for (const tape_edge& e : n.inputs)
            made_.push_back(!e.wants_gradient ? -1
                            : n.has_gradients ? handed_on(e)
                            : passes(n, e)    ? shared(arrived)
                                              : fresh(n, e, name));
        now_.take(category::temporaries, fetched), drop(arrived),
            release(n);  // before what it made meets other gradients (autograd's engine.cpp, `evaluate_function`)
        for (std::size_t i = 0; i < made_.size(); ++i) {
            const tape_edge& e = n.inputs[i];
            if (made_[i] < 0 || e.tensor < 0) continue;
            if (e.bytes < tensor(e.tensor).bytes)
                keep_part(held(e.tensor), made_[i]);
            else
                meet(held(e.tensor).gradient, made_[i]);
        }
        // a product's bias is its first input (derivatives.yaml, `addmm`)
        const bool is_product = price_of(n.kind).torch_flops != 0;
        for (std::size_t k = 0; k < made_.size(); ++k) {
            const std::size_t i = is_product ? made_.size() - 1 - k : k;
            if (made_[i] >= 0 && n.inputs[i].parameter >= 0) arrive(n.inputs[i].parameter, made_[i]);
        }
    }
    /// Whether backward hands the gradient on as it is.
    [[nodiscard]] bool passes(const tape_node& n, const tape_edge& e) const {
        const bool whole = e.bytes == n.output_bytes;
        return whole && !n.own_backward && hands_on_gradient(n.kind, &e == &n.inputs.front());
    }
    /// A gradient that a node makes; where the operation sees a tensor repeated, it is summed.
    std::int32_t fresh(const tape_node& n, const tape_edge& e, std::string_view name) {
        const std::uint64_t own =
            e.tensor >= 0 ? tensor(e.tensor).bytes : of_.parameters[static_cast<std::size_t>(e.parameter)].bytes;
        const std::uint64_t seen =
            backward_of(n.kind).gradient == arrives::as_output && n.output_bytes > e.bytes ? n.output_bytes : e.bytes;
        // `pow_backward` multiplies by a power times its exponent (torch/csrc/autograd/FunctionsManual.cpp)
        const std::uint64_t formula = n.kind == op::integer_power ? 2 * e.bytes : 0;
        now_.add(category::temporaries, formula);
        const std::int32_t wide = new_gradient(e.tensor >= 0 || seen > own ? seen : own);
        gradients_[static_cast<std::size_t>(wide)].is_view = price_of(n.kind).torch_flops != 0;
        now_.look(name);
        now_.take(category::temporaries, formula);
        if (seen <= own) return wide;
        const std::int32_t summed = new_gradient(own);
        now_.look("sum");
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
        now_.look("cat");
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
            now_.look("add");
            drop(place);
            place = sum;
        }
        drop(g);
    }
    void arrive(std::int32_t parameter, std::int32_t g) {
        parameter_use& use = uses_[static_cast<std::size_t>(parameter)];
        meet(use.gradient, g);
        if (--use.awaited > 0) return;
        parameters_->expect();
        drop(use.gradient), use.gradient = -1;
        parameters_->give(parameter);
    }
    /// A gradient that forward has made and saved, which is let go of as saved when it is handed on.
    std::int32_t handed_on(const tape_edge& e) { return new_gradient(e.bytes, category::activations); }
    std::int32_t new_gradient(std::uint64_t bytes, category of = category::temporaries) {
        gradients_.push_back({.bytes = bytes, .holders = 1, .of = of});
        now_.add(of, bytes);
        return static_cast<std::int32_t>(gradients_.size()) - 1;
    }
    std::int32_t shared(std::int32_t g) {
        ++gradients_[static_cast<std::size_t>(g)].holders;
        return g;
    }
    void drop(std::int32_t g) {
        if (g < 0) return;
        gradient_memory& m = gradients_[static_cast<std::size_t>(g)];
        if (--m.holders == 0) now_.take(m.of, m.bytes);
    }

    std::vector<parameter_use> uses_;
    std::vector<gradient_memory> gradients_;
    std::vector<std::int32_t> made_;  ///< gradients of the inputs of the node that goes back
    std::vector<char> reached_;       ///< of nodes: whether a gradient comes to them
    std::int32_t layer_ = -1;         ///< that backward is in
};

}  // namespace llmcost::detail
