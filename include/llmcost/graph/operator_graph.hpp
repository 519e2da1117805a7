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

#include <llmcost/analysis/counts.hpp>
#include <llmcost/graph/parameter_names.hpp>

namespace llmcost {

/// The name of a tensor's element type; `unspecified` is that of ids, which have 64 bits.
[[nodiscard]] constexpr literal element_name(dtype type) noexcept {
    return type == dtype::unspecified ? literal("int64") : name_of(type);
}

/// Where a tensor of a graph comes from.
enum class tensor_origin : std::uint8_t {
    operation,  ///< an operation of the pass made it
    parameter,
    handed_in,  ///< ids, pixels, masks, buffers of modules, what earlier passes left in the cache
};

/// A tensor: a storage with the sizes in which it was made.
struct graph_tensor {
    std::string name;  ///< of a parameter its full name; else empty
    std::vector<std::int64_t> sizes{};
    dtype type = dtype::float32;
    std::uint64_t bytes = 0;
    tensor_origin origin = tensor_origin::operation;
    std::int32_t producer = -1;             ///< the operation that made it, or wrote into it last
    std::vector<std::int32_t> consumers{};  ///< operations that read it, in order
    bool is_cached = false;                 ///< the cache holds it after the run
    bool is_saved = false;                  ///< autograd keeps it until backward
};

/// A tensor as an operation reads it: a view has sizes of its own.
struct graph_input {
    std::int32_t tensor = -1;
    std::int32_t producer = -1;  ///< the operation whose result is read; -1: a parameter, or handed in
    std::vector<std::int64_t> sizes{};
    dtype type = dtype::float32;
    std::uint64_t bytes = 0;  ///< what an expansion repeats once
    bool is_view = false;     ///< in other sizes than it was made in
    bool wants_gradient = false;
};

/// One executed operation.
struct graph_operation {
    op kind{};
    std::int32_t module = -1;  ///< of `modules`
    std::uint64_t times = 1;   ///< steps through time that it stands for
    std::vector<graph_input> inputs{};
    std::int32_t output = -1;  ///< of `tensors`
    std::vector<std::int64_t> sizes{};
    dtype type = dtype::float32;
    bool in_place = false;  ///< it writes into a tensor that was there
    bool goes_back = false;
    figures done{};  ///< what it executes and keeps, of all its times; of backward what is its own
    std::uint64_t bytes_read = 0, bytes_written = 0;
};

/// A module of the reference; `operations` from `first` to `end` are its own and its children's.
struct graph_module {
    std::string path;  ///< empty for the whole model
    std::string type;  ///< class name
    role what = role::none;
    std::int32_t parent = -1;
    std::int64_t index = -1;  ///< its place in a list
    int depth = 0;
    bool leaf = false;
    std::int32_t first = 0, end = 0;
    std::uint64_t parameters = 0;       ///< elements of its own, tied ones where they are named first
    std::vector<std::int32_t> owned{};  ///< those tensors
    std::vector<std::int32_t> again{};  ///< operations of later calls
    std::vector<std::int32_t> calls{};  ///< where later calls begin
};

/// A forward pass as a graph: modules in the order of their first call, operations in the order of their execution.
///
/// Every tensor that an operation reads is a parameter, was handed in, or has its producer before it.
struct operator_graph {
    std::vector<graph_module> modules;
    std::vector<graph_operation> operations;
    std::vector<graph_tensor> tensors;
    std::int32_t returned = -1;  ///< the tensor that the model gives out
    figures total{};             ///< of the whole model; of backward also what is added where gradients of a tensor meet
};

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
        for (const value& v : saved_)
            if (const std::int32_t t = tensor_of(v); t >= 0) tensor(t).is_saved = true;
        saved_.clear();
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
    std::vector<value> saved_;
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
