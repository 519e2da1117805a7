// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/graph/parameter_names.hpp>
#include <llmcost/model/model_spec.hpp>

namespace llmcost {

/// A tensor of a forward pass, identified by its storage.
struct tape_tensor {
    std::uint64_t bytes = 0;
    std::uint64_t num_time_steps = 1;  ///< repetitions in a loop over time steps, each of which creates one tensor
    std::int32_t producer = -1;        ///< index of the node; -1: an input of the model
    std::int32_t last_read = -1;       ///< index of the last node that reads it
    bool requires_grad = false;
    bool is_cached = false;
};

/// A parameter: its name, its bytes and whether it is trained.
struct tape_parameter {
    std::string name;
    std::vector<std::int64_t> sizes;
    std::uint64_t elements = 0;
    std::uint64_t bytes = 0;
    bool is_trainable = false;
    std::int32_t region_id = -1;  ///< index in `tape::regions`
};

/// An input of a node, and whether it needs a gradient.
struct tape_edge {
    static constexpr std::int32_t none = -1;
    std::int32_t tensor = none;     ///< index in `tape::tensors`
    std::int32_t parameter = none;  ///< index in `tape::parameters`
    std::uint64_t bytes = 0;        ///< bytes that the operation reads, with broadcast elements repeated
    bool requires_grad = false;
};

/// One executed operation.
struct tape_node {
    op kind{};
    std::int32_t output = -1;
    std::uint64_t output_bytes = 0;         ///< bytes of the result only, if it is written into an existing tensor
    std::uint64_t saved_extra_bytes = 0;    ///< bytes saved for backward that are not in a tensor, over all time steps
    std::uint64_t saved_integer_bytes = 0;  ///< bytes of integers saved for backward, over all time steps
    std::uint64_t saved_view_bytes = 0;     ///< bytes of the views in `saved`, summed
    std::uint64_t torch_flops = 0;          ///< FLOPs that FlopCounterMode reports
    std::uint64_t backward_temporary_bytes = 0;  ///< bytes of temporaries in backward
    std::int32_t region = -1;                    ///< index of the checkpointed module that contains it; -1: none
    std::int32_t attention_id = -1;              ///< index of the core attention that contains it; -1: none
    bool has_backward = false;
    bool in_place = false;
    bool is_autograd_function = false;  ///< no operation: the start of a `torch.autograd.Function`'s backward
    bool saves_gradients = false;       ///< the saved tensors are the gradients of the inputs
    std::vector<tape_edge> inputs{};
    std::vector<std::int32_t> saved{};  ///< indices of saved tensors
};

/// A forward pass as autograd records it: all operations in order, with their inputs, outputs and saved tensors.
struct tape {
    std::vector<tape_tensor> tensors;
    std::vector<tape_parameter> parameters;
    std::vector<tape_node> nodes;
    /// paths of the modules that activation checkpointing wraps: outermost list items
    std::vector<std::string> regions;
    std::int32_t num_attentions = 0;  ///< number of core attentions
    std::uint64_t buffer_bytes = 0;   ///< bytes of module buffers
    std::int32_t output = -1;         ///< output tensor of the model; -1: none is stored
    std::int32_t loss = -1;           ///< tensor at which backward starts
};

namespace detail {

/// Records a tape from a trace.
class tape_listener final : public listener {
public:
    explicit tape_listener(tape& out) : out_(out) {}

    void on_module_enter(const recorder&, const module_info& m) override {
        open_.push_back({path_.size(), out_.parameters.size(), wraps(m)});
        const std::string_view name = m.name;
        if (!name.empty()) path_.append(path_.empty() ? "" : ".").append(name);
        if (m.index >= 0) path_.append(path_.empty() ? "" : ".").append(std::to_string(m.index));
        if (wraps(m) && lists_++ == 0) out_.regions.push_back(path_);
    }
    void on_module_leave(const recorder&, const module_info&) override {
        const open_module top = open_.back();
        open_.pop_back();
        path_.resize(top.parent_path_length);
        if (top.in_list) --lists_;
        // a parameter that no operation reads separately is read by the module's last one: the bias of a convolution
        for (std::size_t i = top.first_parameter; i < out_.parameters.size() && !out_.nodes.empty(); ++i)
            if (!read_[i]) read(static_cast<std::int32_t>(i), out_.nodes.back());
    }
    void on_parameter(const recorder&, literal name, const tensor& v, bool tied) override {
        std::string path = path_of(name);
        if (!names_.declared(path, v, tied).fresh) return;
        out_.parameters.push_back(
            {std::move(path), sizes_of(v), v.numel, bytes_of(v, v.numel), v.requires_grad, region()});
        read_.push_back(false);
    }
    void on_parameter_reuse(const recorder&, literal name, const tensor& v) override {
        names_.on_reuse(path_of(name), v);
    }
    void on_cache_append(const recorder&, const tensor& v) override {
        if (const std::int32_t t = tensor_id(v); t >= 0) out_.tensors[static_cast<std::size_t>(t)].is_cached = true;
    }
    void on_buffer(const recorder&, count bytes) override { out_.buffer_bytes += bytes.to_64(); }
    void on_parameter_read(const recorder&, const tensor& v) override {
        pending_parameter_edges_.push_back(edge_to(v));
    }
    void on_tensor_saved(const recorder&, const tensor& v) override { saved_.push_back(v); }
    void on_bytes_saved(const recorder& r, count bytes) override {
        saved_extra_bytes_ += (bytes * r.multiplier()).to_64();
    }
    void on_integers_saved(const recorder& r, count bytes) override {
        saved_integer_bytes_ += (bytes * r.multiplier()).to_64();
    }
    void on_op(const recorder& r, const operation& o) override {
        times_ = r.multiplier().to_64();
        tape_node n;
        n.kind = o.kind;
        n.region = region();
        if (o.kind == op::attention && inside_core_ == 0) ++out_.num_attentions;
        if (o.kind == op::attention || inside_core_ > 0) n.attention_id = out_.num_attentions - 1;
        n.inputs.reserve(static_cast<std::size_t>(o.input_count) + pending_parameter_edges_.size());
        n.saved.reserve(saved_.size());
        for (int i = 0; i < o.input_count; ++i) n.inputs.push_back(edge_to(*o.inputs[i]));
        for (const tape_edge& e : pending_parameter_edges_) n.inputs.push_back(e);
        n.has_backward = o.output.requires_grad;
        n.in_place = o.input_count > 0 && o.inputs[0]->storage_id == o.output.storage_id;
        n.output = n.in_place ? tensor_id(o.output) : add_tensor(o.output, next_node_id());
        n.output_bytes = bytes_of(o.output, o.output.numel);
        // a saved tensor with an unknown id is a clone of what an in-place operation overwrites
        for (const tensor& v : saved_) {
            n.saved.push_back(tensor_id(v, next_node_id()));
            n.saved_view_bytes += bytes_of(v, v.numel) * times_;
        }
        const int flops_per_product = op_cost_of(o.kind).torch_flops;
        if (flops_per_product != 0 ||
            // products inside a fused call are not reported: counts those since the last one
            o.kind == op::attention) {
            const count sum = torch_flops(r.totals());
            n.torch_flops = flops_per_product != 0 ? (o.work * count(flops_per_product) * r.multiplier()).to_64()
                            : sum > flops_         ? (sum - flops_).to_64()
                                                   : 0;
            flops_ = sum;
        }
        n.saved_extra_bytes = saved_extra_bytes_;
        n.saved_integer_bytes = saved_integer_bytes_;
        for (const tape_edge& e : n.inputs) mark_read(e);
        pending_parameter_edges_.clear();
        saved_.clear();
        saved_extra_bytes_ = saved_integer_bytes_ = 0;
        out_.nodes.push_back(std::move(n));
    }
    void on_gradients_saved() override { saves_gradients_ = true; }
    void on_autograd_function(const recorder&, const tensor& out, const tensor* const* in, int n) override {
        tape_node made;
        made.output = tensor_id(out);
        made.has_backward = made.in_place = made.is_autograd_function = true;
        made.saves_gradients = saves_gradients_;
        saves_gradients_ = false;
        for (int i = 0; i < n; ++i) made.inputs.push_back(edge_to(*in[i]));
        for (const tensor& v : saved_) {
            made.saved.push_back(tensor_id(v, next_node_id()));
            made.saved_view_bytes += bytes_of(v, v.numel) * times_;
        }
        for (const tape_edge& e : made.inputs) mark_read(e);
        saved_.clear();
        out_.nodes.push_back(std::move(made));
    }
    void on_fused_kernel_begin(const recorder&, const fused_kernel& part) override {
        fused_.push_back(part.kind == fused_kernel_kind::attention || part.kind == fused_kernel_kind::latent_attention);
        if (fused_.back() && inside_core_++ == 0) ++out_.num_attentions;
    }
    void on_fused_kernel_end(const recorder&) override {
        if (fused_.back()) --inside_core_;
        fused_.pop_back();
    }
    void on_storage_renamed(const recorder&, std::int32_t old_storage_id, std::int32_t now) override {
        const auto old_index = static_cast<std::size_t>(old_storage_id);
        const std::int32_t moved_tensor =
            // tensors of modules that are not executed have no index
            old_index < tensor_of_.size() ? tensor_of_[old_index] : -1;
        tensor_of_.resize(static_cast<std::size_t>(now), -1);
        tensor_of_.push_back(moved_tensor);
    }
    void on_loop_output(const recorder& r, const tensor& v) override {
        times_ = r.multiplier().to_64();
        (void)add_tensor(v, next_node_id() - 1);
    }
    /// The index of a tensor. A tensor without an index is an input, or the output of `producer`.
    [[nodiscard]] std::int32_t tensor_id(const tensor& v, std::int32_t producer = -1) {
        if (!v.is_stored()) return -1;
        const auto s = static_cast<std::size_t>(v.storage_id);
        return s >= tensor_of_.size() || tensor_of_[s] < 0 ? add_tensor(v, producer) : tensor_of_[s];
    }

private:
    struct open_module {
        std::size_t parent_path_length;  ///< length of the parent's path
        std::size_t first_parameter;
        bool in_list;
    };
    [[nodiscard]] std::string path_of(literal name) const {
        return path_.empty() ? std::string(name) : (path_ + '.').append(std::string_view(name));
    }
    [[nodiscard]] static bool wraps(const module_info& m) noexcept { return m.index >= 0 && !m.is_leaf; }
    static void set(std::vector<std::int32_t>& in, std::size_t at, std::int32_t to) {
        if (at >= in.size()) in.resize(at + 1, -1);
        in[at] = to;
    }
    [[nodiscard]] static std::vector<std::int64_t> sizes_of(const tensor& v) { return {v.size, v.size + v.rank}; }
    [[nodiscard]] static std::uint64_t bytes_of(const tensor& v, std::uint64_t elements) {
        return (count(elements) * count(bits_of(v.type)) / count(8)).to_64();
    }
    [[nodiscard]] std::int32_t region() const noexcept {
        return lists_ > 0 ? static_cast<std::int32_t>(out_.regions.size()) - 1 : -1;
    }
    [[nodiscard]] std::int32_t next_node_id() const noexcept { return static_cast<std::int32_t>(out_.nodes.size()); }
    std::int32_t add_tensor(const tensor& v, std::int32_t producer) {
        const auto at = static_cast<std::int32_t>(out_.tensors.size());
        out_.tensors.push_back({bytes_of(v, v.storage_numel), times_, producer, next_node_id(), v.requires_grad});
        set(tensor_of_, static_cast<std::size_t>(v.storage_id), at);
        return at;
    }
    void mark_read(const tape_edge& e) {
        if (e.tensor >= 0) out_.tensors[static_cast<std::size_t>(e.tensor)].last_read = next_node_id();
        if (e.parameter >= 0) read_[static_cast<std::size_t>(e.parameter)] = true;
    }
    [[nodiscard]] tape_edge edge_to(const tensor& v) {
        tape_edge e;
        e.bytes = bytes_of(v, v.numel);
        e.requires_grad = v.requires_grad;
        if (v.is_stored()) e.tensor = tensor_id(v);
        e.parameter = names_.number_of(v);
        return e;
    }
    void read(std::int32_t parameter, tape_node& producer) {
        tape_parameter& p = out_.parameters[static_cast<std::size_t>(parameter)];
        read_[static_cast<std::size_t>(parameter)] = true;
        producer.inputs.push_back({-1, parameter, p.bytes, p.is_trainable});
    }

    tape& out_;
    std::vector<open_module> open_;
    std::string path_;
    int lists_ = 0;
    std::vector<bool> fused_;  ///< open fused kernels: whether each is an attention
    int inside_core_ = 0;
    std::vector<std::int32_t> tensor_of_;  ///< tensor index by storage id
    parameter_names names_;
    std::vector<bool> read_;
    std::vector<tape_edge> pending_parameter_edges_;
    std::vector<tensor> saved_;
    count flops_{};  ///< total of the trace up to the last product
    std::uint64_t saved_extra_bytes_ = 0, saved_integer_bytes_ = 0, times_ = 1;
    bool saves_gradients_ = false;
};

}  // namespace detail

}  // namespace llmcost
