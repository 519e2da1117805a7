// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <llmcost/graph/parameter_names.hpp>
#include <llmcost/graph/pass_graph.hpp>

namespace llmcost {

namespace detail {

/// Draws a graph while it listens to a walk.
class graph_listener final : public listener {
public:
    explicit graph_listener(operator_graph& out) : out_(out) {}

    void enter(const recorder&, const module_info& m) override {
        const std::int32_t parent = open_.empty() ? -1 : open_.back();
        std::string path = parent < 0 ? std::string() : module(parent).path;
        const auto say = [&](std::string_view segment) { path.append(path.empty() ? "" : ".").append(segment); };
        if (!is_empty(m.name)) say(m.name);
        if (m.index >= 0) say(std::to_string(m.index));
        const auto [found, fresh] = by_path_.try_emplace(path, static_cast<std::int32_t>(out_.modules.size()));
        if (fresh) {
            if (out_.modules.size() == most_modules) report_overflow();
            graph_module made;
            made.path = std::move(path), made.type = std::string(m.type.prefix) + std::string(m.type.base);
            made.what = m.what, made.parent = parent, made.index = m.index, made.leaf = m.leaf;
            made.depth = parent < 0 ? 0 : module(parent).depth + 1;
            made.first = made.end = here();
            out_.modules.push_back(std::move(made));
        }
        if (!fresh) module(found->second).calls.push_back(here());
        open_.push_back(found->second);
        calls_.push_back({fresh, here()});
    }
    void leave(const recorder&, const module_info&) override {
        graph_module& m = module(open_.back());
        const call_of_module call = calls_.back();
        open_.pop_back(), calls_.pop_back();
        if (call.first_call) {
            m.end = here();
        } else {
            for (std::int32_t i = call.from; i < here(); ++i) m.again.push_back(i);
        }
    }
    void parameter(const recorder&, literal name, const value& v, bool tied) override {
        const auto [number, fresh] = names_.declared(full_name(name), v, tied);
        if (fresh) {
            parameters_.push_back(add(v, tensor_origin::parameter, v.elements));
            tensor(parameters_.back()).name = full_name(name);
        }
        if (tied || open_.empty()) return;
        module(open_.back()).parameters += v.elements;
        module(open_.back()).owned.push_back(parameters_[static_cast<std::size_t>(number)]);
    }
    void parameter_again(const recorder&, literal name, const value& v) override { names_.called_again(full_name(name), v); }
    void cached(const recorder&, const value& v) override {
        if (const std::int32_t t = tensor_of(v); t >= 0) tensor(t).is_cached = true;
    }
    void read_beside(const recorder&, const value& v) override { beside_.push_back(input_of(v)); }
    void saved(const recorder&, const value& v) override { saved_.push_back(v); }
    void read_in_backward(const recorder&, const value& v) override { kept_.push_back(v); }
    void saved_besides(const recorder& r, count bytes) override { besides_ += (bytes * r.times()).to_64(); }
    void saved_integers(const recorder& r, count bytes) override { integers_ += (bytes * r.times()).to_64(); }
    void came_last(const recorder&, const value& v) override {
        if (!out_.operations.empty()) set(tensor_of_, static_cast<std::size_t>(v.storage), out_.operations.back().output);
    }
    void written_into(const recorder&, const value& whole, const value& part) override {
        graph_function made;
        made.behind = here(), made.writes = true, made.module = open_.empty() ? -1 : open_.back();
        made.output = tensor_of(whole), made.inputs.push_back(input_of(part));
        out_.functions.push_back(std::move(made));
    }
    void goes_through(const recorder&, const value& out, const value* const* in, int n) override {
        graph_function made;
        made.behind = here(), made.module = open_.empty() ? -1 : open_.back(), made.output = tensor_of(out);
        for (int i = 0; i < n; ++i) made.inputs.push_back(input_of(*in[i]));
        made.kept = take_kept(-1);
        out_.functions.push_back(std::move(made));
    }
    void executed(const recorder& r, const operation& o) override {
        graph_operation n;
        n.kind = o.kind, n.module = open_.empty() ? -1 : open_.back(), n.times = r.times().to_64();
        for (int i = 0; i < o.input_count; ++i) n.inputs.push_back(input_of(*o.inputs[i]));
        std::uint64_t beside = 0;
        count trained;  // of these
        for (graph_input& i : beside_) {
            beside += i.bytes;
            if (i.wants_gradient) trained += count(elements_of(i.sizes.data(), static_cast<int>(i.sizes.size())));
            n.inputs.push_back(std::move(i));
        }
        beside_.clear();
        if (o.kind == op::gather) read_ids(n, o.output);
        n.in_place = o.input_count > 0 && o.output.is_stored() && o.inputs[0]->storage == o.output.storage;
        n.output = n.in_place ? tensor_of(o.output) : add(o.output, tensor_origin::operation, o.output.storage_elements);
        if (!n.in_place && o.output.is_stored()) set(tensor_of_, static_cast<std::size_t>(o.output.storage), n.output);
        n.sizes = sizes_of(o.output), n.type = o.output.type;
        const ledger now = r.sums();
        const ledger own = now.since(before_);
        before_ = now;
        n.done = figures_of(own);
        const count times = r.times();
        n.goes_back = share_backward(own, o, times, trained, n.done.backward);
        n.bytes_read = read_by(o, times) + (count(beside) * times).to_64(),
        n.bytes_written = of_elements(o.elements_written() * times, o.output.type);
        for (const graph_input& i : n.inputs)
            if (i.tensor >= 0) tensor(i.tensor).consumers.push_back(here());
        if (n.output >= 0) tensor(n.output).producer = here();
        n.kept = take_kept(here());
        out_.operations.push_back(std::move(n));
    }
    void renamed(const recorder&, std::int32_t before, std::int32_t now) override {
        const auto from = static_cast<std::size_t>(before);
        const std::int32_t kept = from < tensor_of_.size() ? tensor_of_[from] : -1;  // what is idle was never heard of
        tensor_of_.resize(static_cast<std::size_t>(now), -1);
        tensor_of_.push_back(kept);
    }
    /// When the walk is over: what was told behind the last operation.
    void finish(const recorder& r) { hand_back(r.sums().since(before_).backward, {}); }
    /// The number of a tensor; one that no operation made was handed in. -1: nothing is stored.
    [[nodiscard]] std::int32_t tensor_of(const value& v) {
        if (const std::int32_t p = names_.number_of(v); p >= 0) return parameters_[static_cast<std::size_t>(p)];
        if (!v.is_stored()) return -1;
        const auto s = static_cast<std::size_t>(v.storage);
        if (s < tensor_of_.size() && tensor_of_[s] >= 0) return tensor_of_[s];
        const std::int32_t at = add(v, tensor_origin::handed_in, v.storage_elements);
        set(tensor_of_, s, at);
        return at;
    }

private:
    static constexpr std::size_t most_modules = 131072;

    struct call_of_module {
        bool first_call;
        std::int32_t from;
    };

    [[nodiscard]] graph_module& module(std::int32_t i) { return out_.modules[static_cast<std::size_t>(i)]; }
    [[nodiscard]] graph_tensor& tensor(std::int32_t i) { return out_.tensors[static_cast<std::size_t>(i)]; }
    [[nodiscard]] std::int32_t here() const noexcept { return static_cast<std::int32_t>(out_.operations.size()); }
    [[nodiscard]] std::string full_name(literal name) const {
        const std::string path = open_.empty() ? std::string() : out_.modules[static_cast<std::size_t>(open_.back())].path;
        return path.empty() ? std::string(name) : path + "." + std::string(name);
    }
    static void set(std::vector<std::int32_t>& in, std::size_t at, std::int32_t to) {
        if (at >= in.size()) in.resize(at + 1, -1);
        in[at] = to;
    }
    [[nodiscard]] static std::vector<std::int64_t> sizes_of(const value& v) { return {v.size, v.size + v.rank}; }
    [[nodiscard]] static std::uint64_t of_elements(count elements, dtype type) { return bytes_of(elements, type).to_64(); }
    std::int32_t add(const value& v, tensor_origin from, std::uint64_t elements) {
        const auto at = static_cast<std::int32_t>(out_.tensors.size());
        graph_tensor made;
        made.sizes = sizes_of(v), made.type = v.type, made.bytes = of_elements(count(elements), v.type), made.origin = from;
        out_.tensors.push_back(std::move(made));
        return at;
    }
    [[nodiscard]] graph_input input_of(const value& v) {
        graph_input in;
        in.sizes = sizes_of(v), in.type = v.type, in.bytes = of_elements(count(v.distinct_elements()), v.type);
        in.tensor = tensor_of(v);
        if (in.tensor < 0)
            in.tensor = add(v, tensor_origin::handed_in, v.elements);  // no memory of its own: a mask, a place
        in.producer = tensor(in.tensor).producer;
        in.is_view = tensor(in.tensor).sizes != in.sizes, in.wants_gradient = v.requires_grad;
        return in;
    }
    /// What backward will read, of an operation or, with -1, of a function; what nobody knows is a copy of what the
    /// operation overwrites.
    [[nodiscard]] std::vector<graph_input> take_kept(std::int32_t by) {
        std::vector<graph_input> all;
        const auto own = [&](std::vector<std::int64_t> sizes, dtype type, std::uint64_t bytes) {
            graph_tensor made;
            made.sizes = std::move(sizes), made.type = type, made.bytes = bytes, made.producer = by;
            made.origin = by >= 0 ? tensor_origin::operation : tensor_origin::handed_in;
            graph_input& in = all.emplace_back();
            in.tensor = static_cast<std::int32_t>(out_.tensors.size()), in.producer = by;
            in.sizes = made.sizes, in.type = type, in.bytes = bytes;
            out_.tensors.push_back(std::move(made));
        };
        for (const value& v : saved_) {
            const auto s = static_cast<std::size_t>(v.storage);
            if (by >= 0 && (s >= tensor_of_.size() || tensor_of_[s] < 0)) {
                own(sizes_of(v), v.type, of_elements(count(v.storage_elements), v.type));
                set(tensor_of_, s, all.back().tensor);
            } else {
                all.push_back(input_of(v));
            }
            tensor(all.back().tensor).is_saved = true;
        }
        for (const value& v : kept_) all.push_back(input_of(v));
        if (besides_ > 0) own({static_cast<std::int64_t>(besides_)}, dtype::int8, besides_);
        const auto integers = static_cast<std::int64_t>(integers_ / sizeof(std::int64_t));
        if (integers_ > 0) own({integers}, dtype::unspecified, integers_);
        saved_.clear(), kept_.clear(), besides_ = integers_ = 0;
        return all;
    }
    /// What rows of parameters are picked by is handed in: ids, places.
    void read_ids(graph_operation& n, const value& picked) {
        for (const graph_input& in : n.inputs)
            if (tensor(in.tensor).origin != tensor_origin::parameter) return;
        graph_tensor ids;
        ids.sizes = sizes_of(picked), ids.type = dtype::unspecified, ids.origin = tensor_origin::handed_in;
        if (!ids.sizes.empty()) ids.sizes.pop_back();
        ids.bytes = sizeof(std::int64_t);
        for (const std::int64_t size : ids.sizes) ids.bytes *= static_cast<std::uint64_t>(size);
        graph_input& in = n.inputs.emplace_back();
        in.tensor = static_cast<std::int32_t>(out_.tensors.size());
        in.sizes = ids.sizes, in.type = ids.type, in.bytes = ids.bytes;
        out_.tensors.push_back(std::move(ids));
    }
    [[nodiscard]] static std::uint64_t read_by(const operation& o, count times) {
        const reads what = price_of(o.kind).read;
        count bytes;
        for (int i = 0; i < o.input_count && what != reads::nothing; ++i) {
            const bool picked = i == 0 && what == reads::picked;
            bytes += bytes_of(count(picked ? o.output.elements : o.inputs[i]->distinct_elements()), o.inputs[i]->type);
        }
        return (bytes * times).to_64();
    }
    /// What backward of an operation executes for its inputs, each of which has this gradient alone.
    [[nodiscard]] static primitives<count> own_backward(const operation& o, count times, count beside) {
        const backward_price& price = backward_of(o.kind);
        primitives<count> plus, minus{.add = beside};
        const auto charge = [&](const primitives<std::int8_t>& of, count n) {
            for (std::size_t k = 0; k < primitive_kinds; ++k) {
                const auto member = primitive_members<count>[k];
                add_charge(plus.*member, minus.*member, of.*primitive_members<std::int8_t>[k], n);
            }
        };
        const auto numbers_of = [&](const value& v) {
            return count(v.elements) * times * count(v.type == dtype::complex64 ? 2 : 1);
        };
        charge(price.per_row, o.rows * times);
        for (int i = 0; i < o.input_count; ++i) {
            const value& in = *o.inputs[i];
            if (!in.requires_grad) continue;
            if (i < 2) charge(i == 0 ? price.first : price.second, o.work * times);
            plus.mult += numbers_of(in) * count(price.mult_per_element);
            if (price.gradient == arrives::as_output) plus.add += numbers_of(o.output);
            if (price.gradient != arrives::as_input) minus.add += numbers_of(in);
        }
        for (const auto member : primitive_members<count>)  // an empty sum spares nothing
            plus.*member = plus.*member > minus.*member ? plus.*member - minus.*member : count{};
        return plus;
    }
    /// Shares out what was told of backward since the last operation: this one's own part, and what a description tells by
    /// itself, in front of a fused call, else behind an operation. Whether this one goes back.
    bool share_backward(const ledger& told, const operation& o, count times, count beside, primitives<count>& own) {
        bool goes = o.output.requires_grad && told.sole_gradients != count{};
        if (goes && o.kind == op::attention) {
            own = told.backward;
            for (int i = 0; i < o.input_count; ++i) own.add -= count(o.inputs[i]->elements) * times;
            return true;
        }
        const primitives<count> price = goes ? own_backward(o, times, beside) : primitives<count>{};
        for (const auto member : primitive_members<count>) goes = goes && !(told.backward.*member < price.*member);
        if (goes) own = price;
        hand_back(told.backward, own);
        return goes;
    }
    /// To the last operation; ADDs alone are where gradients meet, and nobody's.
    void hand_back(const primitives<count>& told, const primitives<count>& own) {
        for (const auto member : primitive_members<count>) {
            if (member == &primitives<count>::add || told.*member == own.*member || out_.operations.empty()) continue;
            out_.operations.back().done.backward.*member += told.*member - own.*member;
            out_.operations.back().goes_back = true;
        }
    }

    operator_graph& out_;
    std::vector<std::int32_t> open_;
    std::vector<call_of_module> calls_;
    std::unordered_map<std::string, std::int32_t> by_path_;
    std::vector<std::int32_t> tensor_of_;   ///< by storage
    std::vector<std::int32_t> parameters_;  ///< tensors, by the parameter's number
    parameter_names names_;
    std::vector<graph_input> beside_;
    std::vector<value> saved_, kept_;
    std::uint64_t besides_ = 0, integers_ = 0;  ///< bytes kept beside tensors, of integers
    ledger before_{};
};

}  // namespace detail

/// The graph of a forward pass; of a training step what autograd keeps is marked.
///
/// Throws `overflow_error` where there are more modules than can be listed.
[[nodiscard]] inline operator_graph graph_of(const model& m, workload load) {
    operator_graph out;
    const storage_types types = types_of(m, load);
    load.typed = true;
    detail::graph_listener ear{out};
    trace t{resolved(load, types), &ear};
    const value given = m.forward(t);
    t.gradient_arrives(given);
    out.returned = ear.tensor_of(given);
    ear.finish(t);
    out.total = whole_figures_of(t.sums(), types);
    return out;
}

}  // namespace llmcost
