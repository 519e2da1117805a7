// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/graph/parameter_names.hpp>
#include <llmcost/trace/collective.hpp>
#include <llmcost/trace/listener.hpp>
#include <llmcost/trace/ops.hpp>
#include <llmcost/trace/recorder.hpp>
#include <llmcost/trace/scope.hpp>
#include <llmcost/trace/tensor.hpp>

namespace llmcost {

/// A tensor of a forward pass, identified by its storage.
struct tape_tensor {
    std::uint64_t bytes = 0;
    std::uint64_t num_time_steps = 1;  ///< repetitions in a loop over time steps, each of which creates one tensor
    std::int32_t producer = -1;        ///< index of the node; -1: an input of the model
    std::int32_t last_read = -1;       ///< index of the last node that reads it
    bool requires_grad = false;
    bool is_cached = false;
    bool is_sliced = false;  ///< the gradients of its views are padded with zeros and added, not concatenated
};

/// When tensor-parallel ranks sum the gradient of a parameter that all of them have.
enum class gradient_sum_kind : std::uint8_t {
    none,
    after_backward,  ///< as soon as it is complete
    before_use       ///< before it is reduced or the optimizer reads it
};

/// A parameter: its name, its bytes and whether it is trained.
struct tape_parameter {
    std::string name;
    std::vector<std::int64_t> sizes;
    std::uint64_t elements = 0;
    std::uint64_t bytes = 0;
    bool is_trainable = false;
    std::int32_t region_id = -1;  ///< index in `tape::regions`
    gradient_sum_kind gradient_sum_over_ranks = gradient_sum_kind::none;
    bool is_distributed_expert = false;  ///< of experts that each expert-parallel rank has a part of
    /// bytes of its gradient if that is larger: of a part of an embedding, whose gradient is whole on each rank; 0:
    /// equal
    std::uint64_t whole_gradient_bytes = 0;

    [[nodiscard]] std::uint64_t gradient_bytes() const noexcept {
        return whole_gradient_bytes > 0 ? whole_gradient_bytes : bytes;
    }
    dtype type = dtype::float32;
    bool is_routed = false;  ///< of routed experts, with the sizes of an expert-parallel rank
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
    std::uint64_t element_bits = 32;        ///< bits of an element of the result
    std::uint64_t output_bytes = 0;         ///< bytes of the result only, if it is written into an existing tensor
    std::uint64_t saved_extra_bytes = 0;    ///< bytes saved for backward that are not in a tensor, over all time steps
    std::uint64_t saved_integer_bytes = 0;  ///< bytes of integers saved for backward, over all time steps
    std::uint64_t saved_view_bytes = 0;     ///< bytes of the views in `saved`, summed
    std::uint64_t torch_flops = 0;          ///< FLOPs that FlopCounterMode reports
    std::uint64_t forward_temporary_bytes = 0;   ///< bytes of temporaries in forward
    std::uint64_t backward_temporary_bytes = 0;  ///< bytes of temporaries in backward
    std::int32_t region = -1;                    ///< index of the checkpointed module that contains it; -1: none
    std::int32_t attention_id = -1;              ///< index of the core attention that contains it; -1: none
    std::int32_t kernel_id = -1;                 ///< index in `tape::kernels` of the kernel that contains it; -1: none
    std::int32_t collective_id = -1;             ///< index in `tape::collectives`; -1: no communication
    bool has_backward = false;
    bool in_place = false;
    bool is_autograd_function = false;  ///< no operation: the start of a `torch.autograd.Function`'s backward
    bool saves_gradients = false;       ///< the saved tensors are the gradients of the inputs
    std::vector<tape_edge> inputs{};
    std::vector<std::int32_t> saved{};  ///< indices of saved tensors
};

/// A collective of a pass.
struct tape_collective {
    collective_call call{};
    std::string module{};  ///< path of the module that issues it
    dtype type = dtype::float32;
    std::uint64_t in_bytes = 0, out_bytes = 0;  ///< of forward
};

/// The tensors of an operation, with their sizes and strides.
struct tape_operands {
    std::vector<tensor> inputs;  ///< in the order of `tape_node::inputs`, without the arguments of modules
    tensor output{};
    count work{};              ///< as in `operation::work`
    std::int32_t module = -1;  ///< index in `tape::modules` of the module that executes it
    bool is_causal = false;    ///< of fused attention
};

/// A forward pass as autograd records it: all operations in order, with their inputs, outputs and saved tensors.
struct tape {
    std::vector<tape_tensor> tensors;
    std::vector<tape_parameter> parameters;
    std::vector<tape_node> nodes;
    std::vector<tape_operands> operands{};  ///< by node, if the listener records them
    std::vector<std::string> modules{};     ///< paths of the modules that execute operations, with the operands
    /// paths of the modules that activation checkpointing wraps: outermost list items
    std::vector<std::string> regions;
    std::vector<fused_kernel> kernels{};  ///< attention, index selection and experts, which engines run as one kernel
    std::vector<tape_collective> collectives{};
    std::int32_t num_attentions = 0;       ///< number of core attentions
    std::uint64_t buffer_bytes = 0;        ///< bytes of module buffers
    std::int32_t output = -1;              ///< output tensor of the model; -1: none is stored
    std::int32_t loss = -1;                ///< tensor at which backward starts
    std::vector<std::int32_t> received{};  ///< tensors that other pipeline stages send
    std::vector<std::int32_t> sent{};      ///< tensors that other pipeline stages receive, whose gradients they send
};

namespace detail {

/// Records a tape from a trace.
class tape_listener final : public listener {
public:
    /// What a tape contains in addition to the operations.
    struct options {
        bool adds_load_balancing_loss = false;  ///< a load-balancing loss is added to the loss over labels
        bool records_operands = false;          ///< fills `tape::operands` and `tape::modules`
    };
    explicit tape_listener(tape& out) : out_(out) {}
    tape_listener(tape& out, const options& o)
        : out_(out), records_operands_(o.records_operands), adds_load_balancing_loss_(o.adds_load_balancing_loss) {}

    void on_module_enter(const recorder&, const module_info& m) override;
    void on_module_leave(const recorder&, const module_info&) override;
    void on_module_input(const recorder&, const tensor& v) override {
        if (v.is_stored()) open_.back().inputs.push_back(tensor_id(v));
    }
    void on_parameter(const recorder&, literal name, const tensor& v, bool tied) override;
    void on_parameter_reuse(const recorder&, literal name, const tensor& v) override {
        names_.on_reuse(path_of(name), v);
    }
    void on_cache_append(const recorder&, const tensor& v) override {
        if (const std::int32_t t = tensor_id(v); t >= 0) out_.tensors[static_cast<std::size_t>(t)].is_cached = true;
    }
    void on_slice(const recorder&, const tensor& source) override {
        if (source.is_stored()) out_.tensors[static_cast<std::size_t>(tensor_id(source))].is_sliced = true;
    }
    void on_buffer(const recorder&, count bytes) override { out_.buffer_bytes += bytes.to_64(); }
    void on_parameter_read(const recorder&, const tensor& v) override {
        pending_parameter_edges_.push_back(edge_to(v));
        if (records_operands_) pending_parameters_.push_back(v);
    }
    void on_tensor_saved(const recorder&, const tensor& v) override { saved_.push_back(v); }
    void on_bytes_saved(const recorder& r, count bytes) override {
        saved_extra_bytes_ += (bytes * r.multiplier()).to_64();
    }
    void on_integers_saved(const recorder& r, count bytes) override {
        saved_integer_bytes_ += (bytes * r.multiplier()).to_64();
    }
    void on_temporary_bytes(const recorder&, count forward, count backward) override {
        forward_temporary_bytes_ += forward.to_64();
        backward_temporary_bytes_ += backward.to_64();
    }
    void on_router_logits(const recorder&, const tensor& v) override {
        router_logits_.push_back(v);
        router_logits_indices_.push_back(tensor_id(v));
    }
    [[nodiscard]] bool on_load_balancing_loss(const recorder&, const load_balancing_sizes& balance) override {
        // a family whose routers do not report their logits computes a loss that is not connected to them
        if (!adds_load_balancing_loss_ || static_cast<std::int64_t>(router_logits_.size()) != balance.num_routers)
            return false;
        load_balancing_ = balance;
        return true;
    }
    void on_op(const recorder& r, const operation& o) override;
    void on_gradients_saved() override { has_saved_gradients_ = true; }
    void on_collective(const recorder&, const collective_call& call) override {
        pending_collective_ = call;
        has_pending_collective_ = true;
    }
    void on_autograd_function(const recorder&, const tensor& out, const tensor* const* in, int n) override;
    void on_slice_written(const recorder&, const tensor& destination, const tensor& part) override;
    void on_fused_kernel_begin(const recorder&, const fused_kernel& part) override;
    void on_fused_kernel_end(const recorder&) override;
    void on_storage_renamed(const recorder&, std::int32_t old_storage_id, std::int32_t new_storage) override;
    void on_loop_output(const recorder& r, const tensor& v) override;
    /// Logits of all routers, in the order of the layers. Their storage ids are new: those of a layer end with it.
    [[nodiscard]] std::vector<tensor> router_logits(recorder& r);
    /// The load-balancing loss that is added to the loss over labels. No routers: there is none.
    [[nodiscard]] const load_balancing_sizes& deferred_load_balancing_loss() const noexcept { return load_balancing_; }
    /// The index of a tensor. A tensor without an index is an input, or the output of `producer`.
    [[nodiscard]] std::int32_t tensor_id(const tensor& v, std::int32_t producer = -1);

private:
    struct open_module {
        std::size_t parent_path_length;  ///< length of the parent's path
        std::size_t first_parameter;
        std::size_t first_node;
        bool in_list;
        std::vector<std::int32_t> inputs{};  ///< tensors that are passed to the module
    };
    [[nodiscard]] std::string path_of(literal name) const {
        return path_.empty() ? std::string(name) : (path_ + '.').append(std::string_view(name));
    }
    [[nodiscard]] static bool wraps(const module_info& m) noexcept { return m.index >= 0 && !m.is_leaf; }
    static void set(std::vector<std::int32_t>& in, std::size_t index, std::int32_t to);
    [[nodiscard]] static std::vector<std::int64_t> sizes_of(const tensor& v) { return {v.size, v.size + v.rank}; }
    [[nodiscard]] static std::uint64_t bytes_of(const tensor& v, std::uint64_t elements) {
        return (count(elements) * count(bits_of(v.type)) / count(8)).to_64();
    }
    [[nodiscard]] std::int32_t region() const noexcept {
        return list_depth_ > 0 ? static_cast<std::int32_t>(out_.regions.size()) - 1 : -1;
    }
    [[nodiscard]] std::int32_t next_node_id() const noexcept { return static_cast<std::int32_t>(out_.nodes.size()); }
    std::int32_t add_tensor(const tensor& v, std::int32_t producer);
    /// Whether a recorded node with a backward writes a tensor.
    [[nodiscard]] bool has_backward_producer(std::int32_t tensor) const;
    void mark_read(const tape_edge& e);
    [[nodiscard]] tape_edge edge_to(const tensor& v);
    void read(std::int32_t parameter, tape_node& producer);

    /// Marks a node as the collective that was announced, if there is one.
    void record_collective(tape_node& n, const tensor& in, const tensor& out);
    /// Records the tensors of the next node.
    void record_operands(const tensor* const* inputs, int input_count, const tensor& output, count work);

    tape& out_;
    bool records_operands_ = false;
    std::vector<open_module> open_;
    std::string path_;
    int list_depth_ = 0;
    std::vector<fused_kernel_kind> open_kernels_;
    int attention_depth_ = 0;
    int kernel_depth_ = 0;
    bool is_causal_ = false;                    ///< of the last fused kernel
    std::vector<std::int32_t> tensor_indices_;  ///< tensor index by storage id
    parameter_names names_;
    std::vector<bool> is_parameter_read_;
    std::vector<tape_edge> pending_parameter_edges_;
    std::vector<tensor> pending_parameters_;  ///< of `pending_parameter_edges_`, with the operands
    std::vector<tensor> saved_;
    count flops_{};  ///< total of the trace up to the last product
    std::uint64_t saved_extra_bytes_ = 0, saved_integer_bytes_ = 0, num_runs_ = 1;
    std::uint64_t forward_temporary_bytes_ = 0, backward_temporary_bytes_ = 0;
    collective_call pending_collective_{};
    bool has_pending_collective_ = false;
    bool has_saved_gradients_ = false;
    bool adds_load_balancing_loss_ = false;
    std::vector<tensor> router_logits_;
    std::vector<std::int32_t> router_logits_indices_;
    load_balancing_sizes load_balancing_;
};

}  // namespace detail

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/memory/impl/tape.ipp>  // IWYU pragma: export
#endif
