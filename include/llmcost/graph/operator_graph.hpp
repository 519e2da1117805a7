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

/// Records a graph from a trace.
class graph_listener final : public listener {
public:
    explicit graph_listener(operator_graph& out) : out_(out) {}

    void on_module_enter(const recorder&, const module_info& m) override {
        const std::int32_t parent = open_.empty() ? -1 : open_.back();
        std::string path = parent < 0 ? std::string() : module(parent).path;
        const auto append_segment = [&](std::string_view segment) {
            path.append(path.empty() ? "" : ".").append(segment);
        };
        if (!is_empty(m.name)) append_segment(m.name);
        if (m.index >= 0) append_segment(std::to_string(m.index));
        const auto [found, fresh] = by_path_.try_emplace(path, static_cast<std::int32_t>(out_.modules.size()));
        if (fresh) {
            if (out_.modules.size() == max_modules) throw_overflow_error();
            graph_module made;
            made.path = std::move(path);
            made.type = std::string(m.class_of_module.prefix) + std::string(m.class_of_module.suffix);
            made.module_role = m.module_role;
            made.parent = parent;
            made.index = m.index;
            made.is_leaf = m.is_leaf;
            made.depth = parent < 0 ? 0 : module(parent).depth + 1;
            made.first = made.end = next_operation();
            out_.modules.push_back(std::move(made));
        }
        if (!fresh) module(found->second).calls.push_back(next_operation());
        open_.push_back(found->second);
        calls_.push_back({fresh, next_operation()});
    }
    void on_module_leave(const recorder&, const module_info&) override {
        graph_module& m = module(open_.back());
        const call_of_module call = calls_.back();
        open_.pop_back();
        calls_.pop_back();
        if (call.first_call) {
            m.end = next_operation();
        } else {
            for (std::int32_t i = call.first_operation; i < next_operation(); ++i) m.reuse_operations.push_back(i);
        }
    }
    void on_parameter(const recorder&, literal name, const tensor& v, bool tied) override {
        const auto [number, fresh] = names_.declared(full_name(name), v, tied);
        if (fresh) {
            parameters_.push_back(add(v, tensor_origin::parameter, v.numel));
            tensor_node(parameters_.back()).name = full_name(name);
        }
        if (tied || open_.empty()) return;
        module(open_.back()).parameters += v.numel;
        module(open_.back()).parameter_ids.push_back(parameters_[static_cast<std::size_t>(number)]);
    }
    void on_parameter_reuse(const recorder&, literal name, const tensor& v) override {
        names_.on_reuse(full_name(name), v);
    }
    void on_cache_append(const recorder&, const tensor& v) override {
        if (const std::int32_t t = tensor_of(v); t >= 0) tensor_node(t).is_cached = true;
    }
    void on_parameter_read(const recorder&, const tensor& v) override { pending_parameters_.push_back(input_of(v)); }
    void on_tensor_saved(const recorder&, const tensor& v) override { saved_.push_back(v); }
    void on_backward_read(const recorder&, const tensor& v) override { backward_reads_.push_back(v); }
    void on_bytes_saved(const recorder& r, count bytes) override { besides_ += (bytes * r.multiplier()).to_64(); }
    void on_integers_saved(const recorder& r, count bytes) override { integers_ += (bytes * r.multiplier()).to_64(); }
    void on_loop_output(const recorder&, const tensor& v) override {
        if (!out_.operations.empty())
            set(tensor_of_, static_cast<std::size_t>(v.storage_id), out_.operations.back().output);
    }
    void on_slice_written(const recorder&, const tensor& destination, const tensor& part) override {
        graph_function made;
        made.position = next_operation();
        made.writes_output = true;
        made.module = open_.empty() ? -1 : open_.back();
        made.output = tensor_of(destination);
        made.inputs.push_back(input_of(part));
        out_.functions.push_back(std::move(made));
    }
    void on_autograd_function(const recorder&, const tensor& out, const tensor* const* in, int n) override {
        graph_function made;
        made.position = next_operation();
        made.module = open_.empty() ? -1 : open_.back();
        made.output = tensor_of(out);
        for (int i = 0; i < n; ++i) made.inputs.push_back(input_of(*in[i]));
        made.saved = take_saved_inputs(-1);
        out_.functions.push_back(std::move(made));
    }
    void on_op(const recorder& r, const operation& o) override {
        graph_operation n;
        n.kind = o.kind;
        n.module = open_.empty() ? -1 : open_.back();
        n.num_time_steps = r.multiplier().to_64();
        for (int i = 0; i < o.input_count; ++i) n.inputs.push_back(input_of(*o.inputs[i]));
        std::uint64_t parameter_bytes = 0;
        count trained;  // number of trained elements among them
        for (graph_input& i : pending_parameters_) {
            parameter_bytes += i.bytes;
            if (i.requires_grad) trained += count(num_elements(i.sizes.data(), static_cast<int>(i.sizes.size())));
            n.inputs.push_back(std::move(i));
        }
        pending_parameters_.clear();
        if (o.kind == op::gather) read_ids(n, o.output);
        n.in_place = o.input_count > 0 && o.output.is_stored() && o.inputs[0]->storage_id == o.output.storage_id;
        n.output = n.in_place ? tensor_of(o.output) : add(o.output, tensor_origin::operation, o.output.storage_numel);
        if (!n.in_place && o.output.is_stored())
            set(tensor_of_, static_cast<std::size_t>(o.output.storage_id), n.output);
        n.sizes = sizes_of(o.output);
        n.type = o.output.type;
        const trace_totals now = r.totals();
        const trace_totals op_sums = now.difference_from(previous_sums_);
        previous_sums_ = now;
        n.metrics_of_op = model_metrics_of(op_sums);
        const count times = r.multiplier();
        n.has_backward = share_backward(op_sums, o, times, trained, n.metrics_of_op.backward);
        n.bytes_read = read_by(o, times) + (count(parameter_bytes) * times).to_64();
        n.bytes_written = of_elements(o.num_elements_written() * times, o.output.type);
        for (const graph_input& i : n.inputs)
            if (i.tensor >= 0) tensor_node(i.tensor).consumers.push_back(next_operation());
        if (n.output >= 0) tensor_node(n.output).producer = next_operation();
        n.saved = take_saved_inputs(next_operation());
        out_.operations.push_back(std::move(n));
    }
    void on_storage_renamed(const recorder&, std::int32_t old_storage, std::int32_t now) override {
        const auto old_index = static_cast<std::size_t>(old_storage);
        const std::int32_t tensor_id =
            // tensors of modules that are not executed have no index
            old_index < tensor_of_.size() ? tensor_of_[old_index] : -1;
        tensor_of_.resize(static_cast<std::size_t>(now), -1);
        tensor_of_.push_back(tensor_id);
    }
    /// Ends the recording. Assigns the backward costs reported after the last operation.
    void finish(const recorder& r) { hand_back(r.totals().difference_from(previous_sums_).backward, {}); }
    /// The index of a tensor. A tensor without an index is an input of the model. Returns -1 if nothing is stored.
    [[nodiscard]] std::int32_t tensor_of(const tensor& v) {
        if (const std::int32_t p = names_.number_of(v); p >= 0) return parameters_[static_cast<std::size_t>(p)];
        if (!v.is_stored()) return -1;
        const auto s = static_cast<std::size_t>(v.storage_id);
        if (s < tensor_of_.size() && tensor_of_[s] >= 0) return tensor_of_[s];
        const std::int32_t at = add(v, tensor_origin::input, v.storage_numel);
        set(tensor_of_, s, at);
        return at;
    }

private:
    static constexpr std::size_t max_modules = 131072;

    struct call_of_module {
        bool first_call;
        std::int32_t first_operation;
    };

    [[nodiscard]] graph_module& module(std::int32_t i) { return out_.modules[static_cast<std::size_t>(i)]; }
    [[nodiscard]] graph_tensor& tensor_node(std::int32_t i) { return out_.tensors[static_cast<std::size_t>(i)]; }
    [[nodiscard]] std::int32_t next_operation() const noexcept {
        return static_cast<std::int32_t>(out_.operations.size());
    }
    [[nodiscard]] std::string full_name(literal name) const {
        const std::string path =
            open_.empty() ? std::string() : out_.modules[static_cast<std::size_t>(open_.back())].path;
        return path.empty() ? std::string(name) : path + "." + std::string(name);
    }
    static void set(std::vector<std::int32_t>& in, std::size_t at, std::int32_t to) {
        if (at >= in.size()) in.resize(at + 1, -1);
        in[at] = to;
    }
    [[nodiscard]] static std::vector<std::int64_t> sizes_of(const tensor& v) { return {v.size, v.size + v.rank}; }
    [[nodiscard]] static std::uint64_t of_elements(count elements, dtype type) {
        return bytes_of(elements, type).to_64();
    }
    std::int32_t add(const tensor& v, tensor_origin source, std::uint64_t elements) {
        const auto at = static_cast<std::int32_t>(out_.tensors.size());
        graph_tensor made;
        made.sizes = sizes_of(v);
        made.type = v.type;
        made.bytes = of_elements(count(elements), v.type);
        made.source = source;
        out_.tensors.push_back(std::move(made));
        return at;
    }
    [[nodiscard]] graph_input input_of(const tensor& v) {
        graph_input in;
        in.sizes = sizes_of(v);
        in.type = v.type;
        in.bytes = of_elements(count(v.unique_numel()), v.type);
        in.tensor = tensor_of(v);
        if (in.tensor < 0) in.tensor = add(v, tensor_origin::input, v.numel);  // no storage: a mask, positions
        in.producer = tensor_node(in.tensor).producer;
        in.is_view = tensor_node(in.tensor).sizes != in.sizes;
        in.requires_grad = v.requires_grad;
        return in;
    }
    /// The inputs that the backward of an operation or, with -1, of a function reads.
    ///
    /// A saved tensor with an unknown id is a clone of what the operation overwrites.
    [[nodiscard]] std::vector<graph_input> take_saved_inputs(std::int32_t producer) {
        std::vector<graph_input> all;
        const auto add_saved_tensor = [&](std::vector<std::int64_t> sizes, dtype type, std::uint64_t bytes) {
            graph_tensor made;
            made.sizes = std::move(sizes);
            made.type = type;
            made.bytes = bytes;
            made.producer = producer;
            made.source = producer >= 0 ? tensor_origin::operation : tensor_origin::input;
            graph_input& in = all.emplace_back();
            in.tensor = static_cast<std::int32_t>(out_.tensors.size());
            in.producer = producer;
            in.sizes = made.sizes;
            in.type = type;
            in.bytes = bytes;
            out_.tensors.push_back(std::move(made));
        };
        for (const tensor& v : saved_) {
            const auto s = static_cast<std::size_t>(v.storage_id);
            if (producer >= 0 && (s >= tensor_of_.size() || tensor_of_[s] < 0)) {
                add_saved_tensor(sizes_of(v), v.type, of_elements(count(v.storage_numel), v.type));
                set(tensor_of_, s, all.back().tensor);
            } else {
                all.push_back(input_of(v));
            }
            tensor_node(all.back().tensor).is_saved = true;
        }
        for (const tensor& v : backward_reads_) all.push_back(input_of(v));
        if (besides_ > 0) add_saved_tensor({static_cast<std::int64_t>(besides_)}, dtype::int8, besides_);
        const auto integers = static_cast<std::int64_t>(integers_ / sizeof(std::int64_t));
        if (integers_ > 0) add_saved_tensor({integers}, dtype::unspecified, integers_);
        saved_.clear();
        backward_reads_.clear();
        besides_ = integers_ = 0;
        return all;
    }
    /// Adds the integer input of a gather from parameters: token ids, positions.
    void read_ids(graph_operation& n, const tensor& picked) {
        for (const graph_input& in : n.inputs)
            if (tensor_node(in.tensor).source != tensor_origin::parameter) return;
        graph_tensor ids;
        ids.sizes = sizes_of(picked);
        ids.type = dtype::unspecified;
        ids.source = tensor_origin::input;
        if (!ids.sizes.empty()) ids.sizes.pop_back();
        ids.bytes = sizeof(std::int64_t);
        for (const std::int64_t size : ids.sizes) ids.bytes *= static_cast<std::uint64_t>(size);
        graph_input& in = n.inputs.emplace_back();
        in.tensor = static_cast<std::int32_t>(out_.tensors.size());
        in.sizes = ids.sizes;
        in.type = ids.type;
        in.bytes = ids.bytes;
        out_.tensors.push_back(std::move(ids));
    }
    [[nodiscard]] static std::uint64_t read_by(const operation& o, count times) {
        const read_pattern read_kind = op_cost_of(o.kind).read;
        count bytes;
        for (int i = 0; i < o.input_count && read_kind != read_pattern::none; ++i) {
            const bool picked = i == 0 && read_kind == read_pattern::gathered;
            bytes += bytes_of(count(picked ? o.output.numel : o.inputs[i]->unique_numel()), o.inputs[i]->type);
        }
        return (bytes * times).to_64();
    }
    /// The backward primitives of an operation, without the sums of gradients of shared inputs.
    [[nodiscard]] static primitives<count> compute_op_backward(const operation& o, count times,
                                                               count parameter_elements) {
        const backward_op_cost& price = backward_op_cost_of(o.kind);
        primitives<count> plus, minus{.add = parameter_elements};
        const auto charge = [&](const primitives<std::int8_t>& coefficients, count n) {
            for (std::size_t k = 0; k < num_primitives; ++k) {
                const auto member = primitive_members<count>[k];
                add_cost(plus.*member, minus.*member, coefficients.*primitive_members<std::int8_t>[k], n);
            }
        };
        const auto numbers_of = [&](const tensor& v) {
            return count(v.numel) * times * count(v.type == dtype::complex64 ? 2 : 1);
        };
        charge(price.per_row, o.rows * times);
        for (int i = 0; i < o.input_count; ++i) {
            const tensor& in = *o.inputs[i];
            if (!in.requires_grad) continue;
            if (i < 2) charge(i == 0 ? price.first : price.second, o.work * times);
            plus.mult += numbers_of(in) * count(price.mult_per_element);
            if (price.gradient_size == gradient_size_kind::as_output) plus.add += numbers_of(o.output);
            if (price.gradient_size != gradient_size_kind::as_input) minus.add += numbers_of(in);
        }
        for (const auto member : primitive_members<count>)  // an empty sum has no first term to omit
            plus.*member = plus.*member > minus.*member ? plus.*member - minus.*member : count{};
        return plus;
    }
    /// Distributes the backward primitives that the trace reported since the last operation.
    ///
    /// This operation gets those of its own rule. The rest belongs to a fused call, if this is one, or to the last
    /// operation. Returns whether this operation has a backward.
    bool share_backward(const trace_totals& sums, const operation& o, count times, count parameter_elements,
                        primitives<count>& op_backward) {
        bool has_backward = o.output.requires_grad && sums.unsummed_gradients != count{};
        if (has_backward && o.kind == op::attention) {
            op_backward = sums.backward;
            for (int i = 0; i < o.input_count; ++i) op_backward.add -= count(o.inputs[i]->numel) * times;
            return true;
        }
        const primitives<count> price =
            has_backward ? compute_op_backward(o, times, parameter_elements) : primitives<count>{};
        for (const auto member : primitive_members<count>)
            has_backward = has_backward && !(sums.backward.*member < price.*member);
        if (has_backward) op_backward = price;
        hand_back(sums.backward, op_backward);
        return has_backward;
    }
    /// Adds the rest to the last operation. ADDs are omitted: they are sums of gradients.
    void hand_back(const primitives<count>& recorded, const primitives<count>& op_backward) {
        for (const auto member : primitive_members<count>) {
            if (member == &primitives<count>::add || recorded.*member == op_backward.*member || out_.operations.empty())
                continue;
            out_.operations.back().metrics_of_op.backward.*member += recorded.*member - op_backward.*member;
            out_.operations.back().has_backward = true;
        }
    }

    operator_graph& out_;
    std::vector<std::int32_t> open_;
    std::vector<call_of_module> calls_;
    std::unordered_map<std::string, std::int32_t> by_path_;
    std::vector<std::int32_t> tensor_of_;   ///< tensor index by storage id
    std::vector<std::int32_t> parameters_;  ///< tensor index by parameter number
    parameter_names names_;
    std::vector<graph_input> pending_parameters_;
    std::vector<tensor> saved_, backward_reads_;
    std::uint64_t besides_ = 0, integers_ = 0;  ///< saved bytes that are not in a tensor, and bytes of integers
    trace_totals previous_sums_{};
};

}  // namespace detail

/// The graph of a forward pass. For a training step, saved tensors are marked.
///
/// Throws: `overflow_error` if there are too many modules.
[[nodiscard]] inline operator_graph graph_of(const model& m, workload load) {
    operator_graph out;
    const storage_types types = storage_types_of(m, load);
    load.uses_workload_dtypes = true;
    detail::graph_listener listener{out};
    trace t{with_storage_types(load, types), &listener};
    const tensor output = m.forward(t);
    t.accumulate_gradient(output);
    out.output = listener.tensor_of(output);
    listener.finish(t);
    out.total_metrics = full_model_metrics_of(t.totals(), types);
    return out;
}

}  // namespace llmcost
