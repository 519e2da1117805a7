// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/trace/call_guards.hpp>
#include <llmcost/trace/collective.hpp>
#include <llmcost/trace/dropout.hpp>
#include <llmcost/trace/leaf_module_policy.hpp>
#include <llmcost/trace/loop.hpp>
#include <llmcost/trace/recorder.hpp>

namespace llmcost {

/// A module: its class name, role, whether it is a leaf, and its forward function.
template <class L>
concept Layer = requires(const L& layer) {
    layer.type_name(), L::module_role, L::is_leaf;
};

/// Whether the block of a layer's role continues in the next sibling module.
template <Layer L>
inline constexpr bool continues_block_of = [] {
    if constexpr (requires { L::continues_block; }) return L::continues_block;
    return false;
}();

/// A symbolic forward pass: calls modules, executes operations and passes tensors on, as PyTorch does.
///
/// Functions have the names of PyTorch functions and follow their rules on views, copies and memory layout. Operations
/// with a scalar take one tensor. Include `trace.hpp`, which also has the definitions of the operations: products are
/// in `product_ops.hpp`, elementwise operations, row operations and copies in `tensor_ops.hpp`, spatial operations in
/// `image_ops.hpp`. Costs are counted by a `recorder`.
class trace {
public:
    constexpr explicit trace(const workload& load, listener* listener = nullptr, scope_query query = {})
        : recorder_(load, listener, query) {}

    /// The accounting of this trace, for guards, loops and functions that read totals.
    constexpr operator recorder&() noexcept { return recorder_; }
    constexpr operator const recorder&() const noexcept { return recorder_; }

    // guards of the recorder, so that model code names only `trace`
    using not_executed_guard = recorder::not_executed_guard;
    using training_mode_guard = recorder::training_mode_guard;
    using detach_guard = recorder::detach_guard;
    using discarded_cache_guard = recorder::discarded_cache_guard;
    using shared_parameters_guard = recorder::shared_parameters_guard;
    using workload_guard = recorder::workload_guard;
    using no_grad_guard = recorder::no_grad_guard;
    using function_internals_guard = recorder::function_internals_guard;
    using dense_experts_guard = recorder::dense_experts_guard;
    using fused_kernel_guard = recorder::fused_kernel_guard;
    using function_call_guard = recorder::function_call_guard;

    // ---- workload and totals

    [[nodiscard]] constexpr const workload& load() const noexcept { return recorder_.load(); }
    [[nodiscard]] constexpr bool is_training() const noexcept { return recorder_.is_training(); }
    [[nodiscard]] constexpr bool is_not_executed() const noexcept { return recorder_.is_not_executed(); }
    /// Whether the cache is discarded after the pass.
    [[nodiscard]] constexpr bool discards_cache() const noexcept { return recorder_.discards_cache(); }
    /// Element type of activations: that of the workload, float32 if unspecified.
    [[nodiscard]] constexpr dtype activation_type() const noexcept { return recorder_.activation_type(); }
    [[nodiscard]] constexpr const trace_totals& totals() const noexcept { return recorder_.totals(); }
    /// Whether the trace has met the queried scope.
    [[nodiscard]] constexpr bool has_match() const noexcept { return recorder_.has_match(); }
    /// Whether the scope matched only parameters that are counted under other names.
    [[nodiscard]] constexpr bool only_tied() const noexcept { return recorder_.only_tied(); }

    /// Whether this pass has dropout at a position.
    [[nodiscard]] constexpr bool applies_dropout(dropout_position place) const noexcept {
        return load().has_dropout && load().training && dropout_positions_.contains(place);
    }
    /// While it lives, these dropout positions have rates above zero.
    struct dropout_guard : scoped_value<dropout_set> {
        constexpr dropout_guard(trace& t, dropout_set now) noexcept : scoped_value(t.dropout_positions_, now) {}
    };
    /// While it lives, a policy changes leaf modules; null: no policy.
    struct policy_guard : scoped_value<leaf_module_policy*> {
        constexpr policy_guard(trace& t, leaf_module_policy* policy) noexcept : scoped_value(t.policy_, policy) {}
    };
    [[nodiscard]] constexpr leaf_module_policy* policy() const noexcept { return policy_; }

    // ---- regions

    /// Collects the edges of the regions in which the figures are polynomials.
    constexpr void set_region_edges(region_edges* edges) noexcept { edges_ = edges; }
    /// Declares that the forward pass changes at this position of an axis.
    constexpr void add_region_edge(workload_axis axis, std::int64_t position) noexcept {
        if (edges_ != nullptr) edges_->add(axis, position);
    }
    /// Declares that the sequence is padded to complete chunks. A single chunk is a separate region.
    constexpr void set_chunk_size(std::int64_t length) noexcept {
        if (edges_ == nullptr) return;
        if (edges_->chunk_size != 0 && edges_->chunk_size != length) edges_->is_complete = false;
        edges_->chunk_size = length;
        edges_->add(workload_axis::sequence, length + 1);
    }
    /// Declares that no polynomial holds around this workload, so that each workload is traced separately.
    constexpr void disable_closed_form() noexcept {
        if (edges_ != nullptr) edges_->is_complete = false;
    }

    /// Checks that a position table of `max_positions` entries has `requested_positions`, which may include past
    /// positions.
    ///
    /// Throws: `workload_error` if it has not.
    constexpr void check_positions(std::int64_t max_positions, std::int64_t requested_positions) {
        add_region_edge(
            requested_positions == load().past + load().sequence ? workload_axis::total : workload_axis::sequence,
            max_positions + 1);
        if (requested_positions > max_positions && !is_not_executed())
            throw_position_error(max_positions, requested_positions);
    }

    // ---- modules

    /// Calls a child module: `q = t.call("q_proj", linear{…}, x)`, in a list `x = t.call({"layers", i}, block{…}, x)`.
    template <Layer L, class... In>
    constexpr auto call(child_name name, const L& layer, const In&... in) {
        const module_info m = enter_module(name, layer.type_name(), L::module_role, L::is_leaf, continues_block_of<L>);
        if (recorder_.has_listener()) [[unlikely]]
            (record_module_input(in), ...);
        return leave(m, layer.forward(*this, in...));
    }
    constexpr void enter(const module_info& m) {
        if (policy_ != nullptr) policy_->enter(m);
        recorder_.enter(m);
    }
    constexpr void leave(const module_info& m) {
        recorder_.leave(m);
        if (policy_ != nullptr) policy_->leave(m);
    }
    /// Ends a module that began with `enter(m)`, and returns its output: `return t.leave(m, x);`
    constexpr tensor leave(const module_info& m, const tensor& out) {
        if (m.is_leaf) record_module_output(out);
        leave(m);
        return out;
    }
    constexpr tensor_pair leave(const module_info& m, const tensor_pair& out) {
        if (m.is_leaf) record_module_output(out);
        leave(m);
        return out;
    }
    /// Records a tensor that is passed to a module, whose call refers to it until it returns.
    constexpr void record_module_input(const tensor& v) const { recorder_.record_module_input(v); }
    /// Records the logits of a router, which a load-balancing loss reads after the layers.
    constexpr void record_router_logits(const tensor& v) const { recorder_.record_router_logits(v); }
    /// An argument that is no tensor has no storage.
    template <class Argument>
    static constexpr void record_module_input(const Argument&) noexcept {}
    /// Records the output of a leaf module.
    constexpr void record_module_output(const tensor& v) { recorder_.record_module_output(v); }
    constexpr void record_module_output(const tensor_pair& values) { recorder_.record_module_output(values); }
    /// The output of a model: `scores` of its head, or `hidden` if the workload computes no logits.
    [[nodiscard]] constexpr const tensor& select_model_output(const tensor& hidden,
                                                              const tensor& scores) const noexcept {
        return load().head == logits::none ? hidden : scores;
    }

    // ---- repetition

    /// A loop over `n` equal modules, numbered from `first`.
    [[nodiscard]] constexpr loop loop_modules(std::int64_t n, tensor& x, std::int64_t first = 0) {
        return {recorder_, n, x, loop::loop_body::modules, traces_every_layer(), first};
    }
    /// A loop over `n` modules with the layer specs of a plan.
    [[nodiscard]] constexpr loop loop_modules(std::int64_t n, const layer_plan& plan, tensor& x) {
        return {recorder_, n, x, loop::loop_body::modules, traces_every_layer(), 0, &plan};
    }
    /// A loop over `n` calls of one module: its parameters count once, its work `n` times.
    [[nodiscard]] constexpr loop loop_calls(std::int64_t n, tensor& x) {
        return {recorder_, n, x, loop::loop_body::calls, recorder_.has_listener()};
    }
    /// A loop over `n` equal time steps without modules. The body is traced once, even with a listener.
    [[nodiscard]] constexpr loop loop_time_steps(std::int64_t n, tensor& x) {
        return {recorder_, n, x, loop::loop_body::calls, false};
    }

    // ---- parameters, buffers, inputs

    /// Declares a parameter and returns the tensor that the module reads for it.
    ///
    /// One token uses `used` of `total_parts` equal parts (experts).
    constexpr tensor param(literal name, shape sizes, std::int64_t used = 1, std::int64_t total_parts = 1) {
        if (policy_ == nullptr && !declares_float32_parameters_) [[likely]]
            return trainable_parameter(name, sizes, activation_type(), used, total_parts);
        return float32_or_adapted_param(name, sizes, used, total_parts);
    }
    /// Declares a parameter that `from_pretrained` keeps in float32, whatever the type of the weights.
    ///
    /// Source: transformers/modeling_utils.py, `_keep_in_fp32_modules_strict`.
    constexpr tensor float32_param(literal name, shape sizes) {
        const scoped_value declared{declares_float32_parameters_, false};
        if (!load().keeps_float32_parameters) return param(name, sizes);
        const workload_guard typed{recorder_, float32_workload()};
        return param(name, sizes);
    }
    /// While it lives, parameters are declared by `float32_param`: those of a module, or of several.
    struct float32_parameters_guard : scoped_value<bool> {
        constexpr explicit float32_parameters_guard(trace& t, bool applies = true) noexcept
            : scoped_value(t.declares_float32_parameters_, applies && t.load().keeps_float32_parameters) {}
    };
    /// Declares a parameter whose tensor another module has declared, and returns the tensor that the module reads for
    /// it.
    constexpr tensor tied(literal name, shape sizes) {
        if (policy_ == nullptr) return recorder_.tied_parameter(name, sizes, true);
        sizes = policy_->shard_parameter(name, sizes);
        const tensor weight = policy_->trains_copy()
                                  ? trainable_parameter(name, sizes, activation_type())
                                  : recorder_.tied_parameter(name, sizes, policy_->is_trainable(name));
        return policy_->transform_parameter(*this, name, weight, true);
    }
    /// Declares a parameter that is not trained (`requires_grad=False`), without the policy.
    constexpr tensor frozen_parameter(literal name, shape sizes, std::int64_t used = 1, std::int64_t total_parts = 1) {
        if (!declares_float32_parameters_) [[likely]]
            return recorder_.frozen_parameter(name, sizes, used, total_parts);
        const workload_guard typed{recorder_, float32_workload()};
        return recorder_.frozen_parameter(name, sizes, used, total_parts);
    }
    /// Declares a trained parameter of the given element type, without the policy.
    constexpr tensor trainable_parameter(literal name, shape sizes, dtype type, std::int64_t used = 1,
                                         std::int64_t total_parts = 1) {
        return recorder_.trainable_parameter(name, sizes, type, used, total_parts);
    }
    /// The next operation reads this parameter in addition to its inputs: the bias of a product, the weight of a norm.
    constexpr void read_parameter_in_next_op(const tensor& parameter) {
        recorder_.read_parameter_in_next_op(parameter);
    }
    /// An input of the model (pixels): it has a storage, but no operation writes it.
    constexpr tensor input(shape sizes) { return recorder_.input(sizes); }
    /// Declares a buffer of the module, in bytes.
    constexpr void register_buffer(count bytes) const { recorder_.register_buffer(bytes); }
    /// Declares a buffer of the module with these sizes and elements.
    constexpr void register_buffer(std::initializer_list<std::int64_t> sizes, dtype type) const {
        if (!recorder_.has_listener()) return;
        count elements = 1;
        for (const std::int64_t size : sizes) elements = elements * count(size);
        register_buffer(elements * count(bits_of(type)) / count(8));
    }
    /// Declares a buffer of `n` 64-bit integers of the module: positions, indices.
    constexpr void register_integer_buffer(std::int64_t n) const { register_buffer(count(n) * count(8)); }
    /// A buffer or an integer tensor. It has no storage and is not counted.
    [[nodiscard]] static constexpr tensor buffer(shape sizes, dtype type = dtype::float32) {
        return empty_tensor(sizes, type);
    }

    // ---- cache

    /// Appends a tensor to the cache.
    constexpr void add_to_cache(const tensor& v) { recorder_.add_to_cache(v); }
    /// Counts encoder output for images, videos or audio that replaces placeholder tokens of the text.
    constexpr void add_to_encoder_cache(const tensor& v) { recorder_.add_to_encoder_cache(v); }
    /// Declares an empty cache entry for a layer without cached tensors.
    constexpr void add_empty_cache_entry() const { recorder_.add_empty_cache_entry(); }
    /// Begins another cache entry of the current layer.
    constexpr void begin_cache_entry() const { recorder_.begin_cache_entry(); }

    // ---- operations without a function of their own

    /// Records one executed operation and gives its output a storage.
    ///
    /// With `in_place`, the operation writes into the existing storage of `out`.
    constexpr void record_op(op kind, count work, count rows, tensor& out, const tensor* const* in, int n,
                             bool in_place = false) {
        recorder_.record_op(kind, work, rows, out, in, n, in_place);
    }
    /// Adds floating-point elements written in addition to an output: scalars converted to tensors, second results.
    constexpr void add_written_elements(std::uint64_t elements) { recorder_.add_written_elements(elements); }
    /// Adds temporary bytes of the next operation's kernels: in its forward, and in its backward.
    constexpr void add_temporary_bytes(count forward, count backward) const {
        recorder_.add_temporary_bytes(forward, backward);
    }

    // ---- backward

    /// Adds FLOPs that FlopCounterMode reports for backward in addition to the rule of the operation.
    constexpr void add_backward_torch_flops(count n) { recorder_.add_backward_torch_flops(n); }
    /// Adds a backward cost in addition to the rule of the operation.
    constexpr void add_backward_cost(const primitives<count>& cost) { recorder_.add_backward_cost(cost); }
    /// Adds a gradient from outside the recorded operations: the loss, a `torch.autograd.Function`.
    constexpr void accumulate_gradient(const tensor& v) { recorder_.accumulate_gradient(v); }
    /// Makes a tensor require a gradient although no operation has done so.
    constexpr void require_grad(tensor& v) { recorder_.require_grad(v); }
    /// Records a `torch.autograd.Function`: `out` was computed without gradients, and its backward reaches all inputs.
    constexpr void record_autograd_function(tensor& out, const tensor* const* in, int n) {
        recorder_.record_autograd_function(out, in, n);
    }
    constexpr void record_autograd_function(tensor& out, const tensor& in) {
        recorder_.record_autograd_function(out, in);
    }
    /// `source[...] = part`, in place: the gradient of `part` is a slice of the gradient of `source`.
    constexpr void copy_into_slice(tensor& source, const tensor& part) { recorder_.copy_into_slice(source, part); }
    /// `Tensor.slice`, `Tensor.select`: a view whose gradient has the size of the source, padded with zeros.
    ///
    /// Not needed if all parts of a `split`, `chunk` or `unbind` are read: their gradients are concatenated.
    constexpr tensor slice_with_gradient(const tensor& source, const tensor& part, std::int64_t num_reads = 1) {
        return recorder_.slice_with_gradient(source, part, num_reads);
    }
    /// Returns a tensor that is cut into `n` parts, one after the other, and adds the cost of summing their gradients.
    constexpr const tensor& split_sequentially(const tensor& source, std::int64_t n) {
        return recorder_.split_sequentially(source, n);
    }
    /// Saves a tensor for backward in addition to the rules of operations: a `torch.autograd.Function`, a time step.
    constexpr void save_for_backward(const tensor& v) { recorder_.save_for_backward(v); }
    /// Adds bytes that the next operation saves for backward and that are not in a tensor.
    constexpr void save_bytes_for_backward(count bytes) { recorder_.save_bytes_for_backward(bytes); }
    /// Adds `n` 64-bit integers created by the pass that the next operation saves for backward: labels, indices.
    constexpr void save_integers_for_backward(count n) const { recorder_.save_integers_for_backward(n); }
    /// Adds bytes of masks and random seeds that the next operation saves for backward.
    constexpr void save_mask_for_backward(count bytes) const { recorder_.save_mask_for_backward(bytes); }
    /// Marks the tensors that the next operation saves as gradients, which its backward passes on unchanged.
    constexpr void save_gradients() const { recorder_.save_gradients(); }

    // ---- elementwise

    constexpr tensor add(const tensor& a, const tensor& b) { return binary(op::add, a, b); }
    constexpr tensor sub(const tensor& a, const tensor& b) { return binary(op::sub, a, b); }
    constexpr tensor mul(const tensor& a, const tensor& b) { return binary(op::mul, a, b); }
    /// `torch.mul`, elementwise.
    constexpr tensor mul_function(const tensor& a, const tensor& b);
    constexpr tensor div(const tensor& a, const tensor& b) { return binary(op::div, a, b); }
    constexpr tensor abs(const tensor& a) { return unary(op::absolute, a); }
    constexpr tensor maximum(const tensor& a, const tensor& b) { return binary(op::maximum, a, b); }
    constexpr tensor minimum(const tensor& a, const tensor& b) { return binary(op::minimum, a, b); }
    constexpr tensor add_scalar(const tensor& a) { return unary(op::add, a); }
    constexpr tensor mul_scalar(const tensor& a) { return unary(op::mul, a); }
    constexpr tensor div_scalar(const tensor& a) { return unary(op::div, a); }
    constexpr tensor neg(const tensor& a) { return unary(op::neg, a); }
    constexpr tensor softplus(const tensor& a) { return autocast_unary(op::softplus, a); }
    constexpr tensor exp(const tensor& a) { return autocast_unary(op::exp, a); }
    constexpr tensor sigmoid(const tensor& a) { return unary(op::sigmoid, a); }
    /// `F.logsigmoid`. Its backward reads a second result of the same size.
    constexpr tensor log_sigmoid(const tensor& a);
    constexpr tensor silu(const tensor& a) { return unary(op::silu, a); }
    constexpr tensor tanh(const tensor& a) { return unary(op::tanh, a); }
    constexpr tensor rsqrt(const tensor& a) { return autocast_unary(op::rsqrt, a); }
    /// `x ** exponent` with an integer from 0 to 16, by square-and-multiply.
    constexpr tensor pow(const tensor& a, unsigned exponent);
    /// An elementwise operation that converts its input to float32 with autocast on a CUDA device.
    constexpr tensor autocast_unary(op kind, const tensor& a) {
        return needs_float32(kind, a) ? unary(kind, to(a, dtype::float32)) : unary(kind, a);
    }
    /// The input of an operation: with autocast on a CUDA device, some operations convert it to float32.
    constexpr tensor autocast_input(op kind, const tensor& a) {
        return needs_float32(kind, a) ? to(a, dtype::float32) : a;
    }
    constexpr tensor unary(op kind, const tensor& a) {
        tensor out = empty_like(a);
        record_unary(kind, count(a.numel), {}, out, a);
        return out;
    }
    constexpr tensor binary(op kind, const tensor& a, const tensor& b) {
        const tensor* const in[2] = {&a, &b};
        tensor out;
        set_elementwise_layout(in, 2, out);
        out.type = promoted_dtype(a, b);
        if (a.visible_pairs != 0) {
            out.visible_pairs = a.visible_pairs;
            out.numel = a.numel;
        }
        recorder_.record_op(kind, count(out.numel), {}, out, in, 2);
        return out;
    }

    // ---- elementwise functions of one tensor, named as in PyTorch; a scalar operand has no tensor

    constexpr tensor log(const tensor& a) { return autocast_unary(op::log, a); }
    constexpr tensor log1p(const tensor& a) { return autocast_unary(op::log1p, a); }
    constexpr tensor sqrt(const tensor& a) { return unary(op::sqrt, a); }
    constexpr tensor reciprocal(const tensor& a) { return autocast_unary(op::reciprocal, a); }
    constexpr tensor relu(const tensor& a) { return unary(op::relu, a); }
    constexpr tensor gelu(const tensor& a) { return unary(op::gelu, a); }
    constexpr tensor gelu_tanh(const tensor& a) { return unary(op::gelu_tanh, a); }
    constexpr tensor sin(const tensor& a) { return unary(op::sin, a); }
    constexpr tensor cos(const tensor& a) { return unary(op::cos, a); }
    constexpr tensor acos(const tensor& a) { return autocast_unary(op::acos, a); }
    constexpr tensor erf(const tensor& a) { return unary(op::erf, a); }
    constexpr tensor expm1(const tensor& a) { return autocast_unary(op::expm1, a); }
    constexpr tensor clamp(const tensor& a) { return unary(op::clamp, a); }
    constexpr tensor hardswish(const tensor& a) { return unary(op::hardswish, a); }
    constexpr tensor hardsigmoid(const tensor& a) { return unary(op::hardsigmoid, a); }
    constexpr tensor complex_mul(const tensor& a) { return unary(op::complex_mul, a); }
    constexpr tensor scatter(const tensor& a) { return unary(op::scatter, a); }
    constexpr tensor floor(const tensor& a) { return unary(op::compare, a); }
    constexpr tensor ceil(const tensor& a) { return unary(op::compare, a); }
    constexpr tensor round(const tensor& a) { return unary(op::compare, a); }
    constexpr tensor sign(const tensor& a) { return unary(op::compare, a); }
    constexpr tensor clamp_min(const tensor& a) { return unary(op::compare, a); }
    constexpr tensor clamp_max(const tensor& a) { return unary(op::compare, a); }
    constexpr tensor minimum_scalar(const tensor& a) { return unary(op::minimum, a); }
    constexpr tensor sub_scalar(const tensor& a) { return unary(op::sub, a); }
    /// x ** 0.5 and x ** -0.5.
    constexpr tensor pow_half(const tensor& a) { return autocast_unary(op::root_power, a); }
    constexpr tensor pow_minus_half(const tensor& a) { return autocast_unary(op::inverse_root_power, a); }
    /// x ** scalar or scalar ** x, with an exponent other than a small integer.
    constexpr tensor pow_scalar(const tensor& a) { return autocast_unary(op::power, a); }
    constexpr tensor pow(const tensor& base, const tensor& exponent) {
        return binary(op::power, autocast_input(op::power, base), exponent);
    }
    constexpr tensor complex_mul(const tensor& a, const tensor& b) { return binary(op::complex_mul, a, b); }
    constexpr tensor polar(const tensor& a, const tensor& angle) { return binary(op::polar, a, angle); }

    // ---- in place: the result overwrites the first operand

    constexpr void add_(tensor& a) { apply_inplace(op::add, a); }
    constexpr void add_(tensor& a, const tensor& b) { apply_inplace(op::add, a, b); }
    constexpr void sub_(tensor& a) { apply_inplace(op::sub, a); }
    constexpr void mul_(tensor& a) { apply_inplace(op::mul, a); }
    constexpr void mul_(tensor& a, const tensor& b) { apply_inplace(op::mul, a, b); }
    constexpr void div_(tensor& a) { apply_inplace(op::div, a); }
    constexpr void div_(tensor& a, const tensor& b) { apply_inplace(op::div, a, b); }
    constexpr void clamp_(tensor& a) { apply_inplace(op::clamp, a); }
    constexpr void relu_(tensor& a) { apply_inplace(op::relu, a); }
    constexpr void masked_fill_(tensor& a) { apply_inplace(op::where, a); }
    constexpr void copy_(tensor& a, const tensor& b) { apply_inplace(op::copy, a, b); }
    constexpr void scatter_(tensor& a, const tensor& b) { apply_inplace(op::scatter, a, b); }

    // ---- reductions and rows

    constexpr tensor sum(const tensor& a, int dim, bool keepdim = false) { return reduce(op::sum, a, dim, keepdim); }
    constexpr tensor mean(const tensor& a, int dim, bool keepdim = false) { return reduce(op::mean, a, dim, keepdim); }
    constexpr tensor std(const tensor& a, int dim, bool keepdim = false) { return reduce(op::std, a, dim, keepdim); }
    /// `Tensor.var(unbiased=False)`.
    constexpr tensor var(const tensor& a, int dim, bool keepdim = false) {
        return reduce(op::variance, a, dim, keepdim);
    }
    constexpr tensor amax(const tensor& a, int dim, bool keepdim = false) { return reduce(op::max, a, dim, keepdim); }
    constexpr tensor logsumexp(const tensor& a, int dim, bool keepdim = false) {
        return reduce(op::logsumexp, autocast_input(op::logsumexp, a), dim, keepdim);
    }
    /// `Tensor.norm(p=2)`.
    constexpr tensor vector_norm(const tensor& a, int dim, bool keepdim = false) {
        return reduce(op::vector_norm, autocast_input(op::vector_norm, a), dim, keepdim);
    }
    constexpr tensor cumsum(const tensor& a, int dim);
    /// Softmax over the last dimension. With causal scores, the row length is the number of visible keys.
    constexpr tensor softmax(const tensor& a) { return autocast_row_op(op::softmax, a); }
    /// Softmax over the last dimension, called as `Tensor.softmax` or `torch.softmax`.
    constexpr tensor softmax_method(const tensor& a);
    /// An elementwise operation, called by a PyTorch function of its own.
    constexpr tensor unary(torch_function spelled, op kind, const tensor& a) {
        const tensor* const in[1] = {&a};
        const function_call_guard call{recorder_, {spelled, in, 1}};
        return unary(kind, a);
    }
    constexpr tensor log_softmax(const tensor& a) { return autocast_row_op(op::log_softmax, a); }
    /// `torch.log_softmax(dtype=a.dtype)`: autocast does not change the type.
    constexpr tensor log_softmax_of_type(const tensor& a) {
        tensor out = contiguous_like(a);
        record_unary(op::log_softmax, count(a.numel), rows_of(a), out, a);
        return out;
    }
    /// `F.nll_loss` of log-probabilities (rows, classes): the mean over the labels, a scalar.
    ///
    /// Backward reads a second scalar, the sum of the label weights.
    constexpr tensor nll_loss(const tensor& a);
    /// `F.layer_norm` over the last `dimensions` dimensions. `tensors`: 0 none, 1 a weight, 2 weight and bias.
    constexpr tensor layer_norm(const tensor& a, int tensors, int dimensions = 1);

    // ---- copies

    constexpr tensor copy(const tensor& a) {
        tensor out = contiguous_like(a);
        record_unary(op::copy, {}, {}, out, a);
        return out;
    }
    /// Communication between ranks that leaves the sizes of a tensor as they are: of its gradient, or of both.
    constexpr tensor collective_in_place(const collective_call& call, const tensor& a) {
        if (!a.requires_grad) return a;
        recorder_.announce_collective(call);
        tensor out = a;
        recorder_.record_autograd_function(out, a);
        return out;
    }
    /// Communication between ranks: a new tensor of these sizes.
    constexpr tensor collective(const collective_call& call, const tensor& a, const shape& to) {
        recorder_.announce_collective(call);
        tensor out = empty_tensor(to, a.type);
        record_unary(op::copy, {}, {}, out, a);
        return out;
    }
    constexpr tensor contiguous(const tensor& a) { return a.is_contiguous() ? a : copy(a); }
    /// `Tensor.clone`: a copy with the layout of the original.
    constexpr tensor clone(const tensor& a);
    /// `Tensor.to(memory_format=contiguous_format)`: a copy only if the tensor is channels-last.
    ///
    /// Source: ATen, `to_will_alias`.
    constexpr tensor to_contiguous_format(const tensor& a) { return a.is_channels_last() ? copy(a) : a; }
    /// Converts memory format and element type in one copy.
    constexpr tensor to_contiguous_format(const tensor& a, dtype type);
    /// `Tensor.repeat_interleave` with one number of repetitions.
    constexpr tensor repeat_interleave(const tensor& a, int dim, std::int64_t times);
    /// `torch.zeros_like`: a new tensor with the layout of another one.
    constexpr tensor zeros_like(const tensor& a);
    /// `Tensor.reshape`: a view if possible, otherwise a copy.
    constexpr tensor reshape(const tensor& a, shape to);
    /// `Tensor.to(dtype)`. Returns the tensor itself if it has the type.
    constexpr tensor to(const tensor& a, dtype type) {
        if (a.type == type) return a;
        tensor out = empty_like(a);
        out.type = type;
        record_unary(op::copy, {}, {}, out, a);
        return out;
    }
    constexpr tensor cat(std::initializer_list<tensor> tensors, int dim);
    /// `torch.cat` of `n` tensors from a contiguous array.
    constexpr tensor cat(const tensor* tensors, int n, int dim);
    /// Maximum number of inputs of `cat`.
    static constexpr int max_cat_inputs = 64;
    /// Rows selected by integers (embedding, index, gather): a new tensor of these sizes.
    constexpr tensor gather(const tensor& source, shape to);
    /// `Tensor.gather`. Saves its source, because backward reads its sizes.
    constexpr tensor gather_with_saved_source(const tensor& source, shape to);
    /// A new tensor without gradient: zeros, ones, float positions, a mask.
    constexpr tensor full(shape to, dtype type = dtype::float32);
    /// `F.pad` with a constant along one dimension: a new tensor, channels-last if the original is.
    constexpr tensor pad(const tensor& a, int dim, std::int64_t padding);
    /// `F.pad` with a constant to the given sizes.
    constexpr tensor pad_to_shape(const tensor& a, const shape& sizes);
    /// `F.pad` with a constant along two neighboring dimensions in one call.
    constexpr tensor pad(const tensor& a, int first, std::int64_t padding, std::int64_t more_of_next);
    /// `index_add_` and similar: adds the elements of a source to an existing tensor.
    constexpr void index_add(tensor& destination, const tensor& source);
    /// An elementwise operation that overwrites its first operand (`add_`, `div_`, `clamp_`).
    constexpr void apply_inplace(op kind, tensor& a, const tensor& b) {
        const tensor previous = a;
        const tensor* const in[2] = {&previous, &b};
        recorder_.record_op(kind, count(a.numel), {}, a, in, 2, true);
    }
    constexpr void apply_inplace(op kind, tensor& a) {
        const tensor previous = a;
        const tensor* const in[1] = {&previous};
        recorder_.record_op(kind, count(a.numel), {}, a, in, 1, true);
    }
    /// `masked_fill`, or `torch.where` with one tensor: selects elements.
    constexpr tensor masked_fill(const tensor& a);
    /// `Tensor.masked_scatter`, `Tensor.index_put`: a new tensor in which rows of a source replace the masked ones.
    constexpr tensor masked_scatter(const tensor& a, const tensor& source);
    /// `torch.where` of two tensors. Each receives its part of the gradient.
    constexpr tensor where(const tensor& a, const tensor& b) { return binary(op::where, a, b); }
    constexpr tensor topk(const tensor& a, std::int64_t k);

    // ---- views whose gradient is padded with zeros

    /// `x[..., i : i + length * step : step]`, with the gradient of `slice_with_gradient`.
    constexpr tensor slice(const tensor& a, int dim, std::int64_t length, std::int64_t step = 1);
    /// `x[..., i]`.
    constexpr tensor select(const tensor& a, int dim) { return slice_with_gradient(a, a.select(dim)); }
    /// `x[..., i]` for `n` different i, each read separately.
    constexpr tensor select_repeatedly(const tensor& a, int dim, std::int64_t n);

    [[nodiscard]] static constexpr tensor contiguous_like(const tensor& a) {
        tensor out = a;
        out.make_contiguous_strides();
        return out;
    }
    /// Limits causal scores to their visible pairs.
    static constexpr void set_visible_pairs(tensor& scores, std::int64_t visible);

    // ---- products

    /// `F.linear` with a weight (out, in). With a bias and a contiguous input, it runs as a fused addmm.
    constexpr tensor linear(const tensor& x, const tensor& weight, const tensor* bias = nullptr);
    /// `torch.addmm`: bias + a · b for matrices.
    constexpr tensor addmm(const tensor& bias, const tensor& a, const tensor& b);
    /// `torch.matmul` of matrices or batches, folded into one matrix if ATen does so (`should_fold`).
    ///
    /// `visible`: number of pairs of each product that are computed (causal scores); 0: all.
    constexpr tensor matmul(const tensor& a, const tensor& b, std::int64_t visible = 0,
                            torch_function function = torch_function::matmul);
    /// `a @ b`, with the rules of `matmul`.
    constexpr tensor matmul_operator(const tensor& a, const tensor& b, std::int64_t visible = 0);
    constexpr tensor bmm(const tensor& a, const tensor& b);
    /// `torch.bmm`, or `torch.baddbmm` with scaling or an added tensor, by `kind`.
    constexpr tensor bmm(op kind, const tensor& a, const tensor& b, std::int64_t visible = 0,
                         const tensor* bias = nullptr);
    constexpr tensor bmm(torch_function function, op kind, const tensor& a, const tensor& b, std::int64_t visible = 0,
                         const tensor* bias = nullptr);

    /// `torch.linalg.solve_triangular` with a unit diagonal: a (…, k, k), b (…, k, c) -> (…, k, c), column-major.
    constexpr tensor solve_triangular(const tensor& a, const tensor& b);
    /// `F.conv1d`, `F.conv2d`, `F.conv3d`.
    ///
    /// Shapes: x (batch, channels, length…), weight (out, channels / groups, kernel…). Cost per output element: MULT K,
    /// ADD K − 1 with K = channels / groups · kernel.
    constexpr tensor conv(const tensor& x, const tensor& weight, bool bias, std::int64_t groups = 1,
                          std::int64_t stride = 1, std::int64_t padding = 0, std::int64_t dilation = 1);
    /// Convolution with separate options for each dimension.
    constexpr tensor conv(const tensor& x, const tensor& weight, bool bias, const convolution_options& options);
    /// `F.conv_transpose1d` and similar.
    ///
    /// Shapes: x (batch, channels, length…), weight (channels, out / groups, kernel…). `output_padding` is added to the
    /// sizes of the output. Cost: MULT inputs · K, ADD inputs · K − outputs, with K = out / groups · kernel.
    constexpr tensor conv_transpose(const tensor& x, const tensor& weight, bool bias,
                                    const convolution_options& options, const shape& output_padding);

    /// Converts a float32 tensor to bfloat16 if autocast is enabled.
    constexpr tensor to_autocast_dtype(const tensor& a);

    // ---- images: (batch, channels, spatial dimensions…)

    /// `F.batch_norm` over (batch, channels, …), where each channel counts as one row.
    ///
    /// With `affine`: evaluation mode with weight and bias. Without: neither, and batch statistics (`training=True`).
    constexpr tensor batch_norm(const tensor& a, bool affine = true);
    /// A batch norm of the given kind over (batch, channels, …).
    constexpr tensor batch_norm(op kind, const tensor& a);
    /// `F.instance_norm` over (batch, channels, …): a batch norm over the channels of each image.
    ///
    /// Weight and bias (null: none) are repeated for each image, and so are `mean` and `variance` if they are given.
    ///
    /// Source: ATen's Normalization.cpp, `instance_norm`.
    constexpr tensor instance_norm(const tensor& a, const tensor* weight, const tensor* bias,
                                   const tensor* mean = nullptr, const tensor* variance = nullptr);
    /// Pooling (`F.max_pool2d`, `F.avg_pool2d`, …) over (batch, channels, spatial dimensions…).
    ///
    /// With `ceil`, the last window may extend beyond the input if it begins inside it.
    constexpr tensor pool(op kind, const tensor& a, const shape& kernel, const shape& stride, const shape& padding = 0,
                          bool ceil = false, const shape& dilation = 1);
    /// Adaptive pooling (`F.adaptive_avg_pool2d`, …) to the given sizes; a size of 0 leaves a dimension unchanged.
    ///
    /// Average pooling to one element is a mean.
    constexpr tensor pool_to(op kind, const tensor& a, const shape& sides);
    /// Mean over the pixels of images: (batch, channels, height, width) -> (batch, channels).
    ///
    /// Stands for `mean([-2, -1])` and for pooling to one element.
    constexpr tensor mean_of_images(const tensor& a);
    /// `F.interpolate(mode="bilinear")` of (batch, channels, height, width): four products per output element.
    constexpr tensor bilinear(const tensor& a, std::int64_t rows, std::int64_t columns);
    /// Resampling of the given kind over (batch, channels, spatial dimensions…). `op::gather` is nearest-neighbor
    /// resampling.
    constexpr tensor resample(op kind, const tensor& a, const shape& places);
    /// `torch.linalg.vector_norm` over the pixels: (batch, height, width, channels) -> (batch, 1, 1, channels).
    constexpr tensor norm_over_places(const tensor& a);
    /// `F.group_norm` over (batch, channels, …), with or without weight and bias. Each group of channels counts as one
    /// row.
    constexpr tensor group_norm(const tensor& a, std::int64_t groups, bool affine = true);
    /// `F.pad` of images with zeros on all sides: adds `rows` and `columns` in total. Copies even if both are 0.
    constexpr tensor pad_images(const tensor& a, std::int64_t rows, std::int64_t columns);
    /// `F.avg_pool2d` or `F.max_pool2d` with a window of (`kernel`, 1) and the same stride.
    ///
    /// The last window may extend beyond the input.
    constexpr tensor pool_rows(op kind, const tensor& x, std::int64_t kernel);
    /// `F.glu`: one half of the channels times the sigmoid of the other half.
    constexpr tensor glu(const tensor& a, int dim);
    /// `torch._weight_norm` over the last dimension: `v * (g / |v|)`, with one norm per element of that dimension.
    ///
    /// The norms are written and saved for backward.
    constexpr tensor weight_norm(const tensor& v, const tensor& g);

private:
    /// Whether each layer is traced, instead of each distinct layer spec.
    [[nodiscard]] constexpr bool traces_every_layer() const noexcept {
        return recorder_.has_listener() || policy_ != nullptr || recorder_.selects_layer();
    }
    constexpr module_info enter_module(child_name name, class_name type, role module_role, bool leaf,
                                       bool continues_block) {
        const module_info m{name.name, name.index, type, module_role, leaf, continues_block};
        enter(m);
        return m;
    }

    // ---- outputs of operations

    /// The output of a unary elementwise operation: the layout of the input if it is dense, otherwise contiguous.
    [[nodiscard]] static constexpr tensor empty_like(const tensor& a) {
        tensor out = a;
        if (!a.is_contiguous()) {
            const tensor* const in[1] = {&a};
            detail::set_elementwise_strides(in, 1, out);
        }
        return out;
    }
    constexpr void record_unary(op kind, count work, count rows, tensor& out, const tensor& a) {
        const tensor* const in[1] = {&a};
        recorder_.record_op(kind, work, rows, out, in, 1);
    }
    [[nodiscard]] static constexpr tensor dense_like(const tensor& a) {
        shape e;
        e.rank = a.rank;
        for (int i = 0; i < a.rank; ++i) e.size[i] = a.size[i];
        return empty_tensor(e, a.type);
    }
    [[nodiscard]] static constexpr dtype promoted_dtype(const tensor& a, const tensor& b) noexcept {
        return a.type != b.type && bits_of(b.type) > bits_of(a.type) && b.rank > 0 ? b.type : a.type;
    }
    [[nodiscard]] static constexpr std::uint64_t length(const tensor& a, int dim) {
        const std::int64_t n = a.dim(dim);
        return n > 0 ? static_cast<std::uint64_t>(n) : 1;
    }
    [[nodiscard]] static constexpr count rows_of(const tensor& a) {
        if (a.visible_pairs != 0) return count(num_elements(a.size, a.rank - 1));
        return count(a.numel / length(a, -1));
    }
    constexpr tensor autocast_row_op(op kind, const tensor& a) {
        return needs_float32(kind, a) ? row_op(kind, to(a, dtype::float32)) : row_op(kind, a);
    }
    constexpr tensor row_op(op kind, const tensor& a) {
        tensor out = contiguous_like(a);
        record_unary(kind, count(a.numel), rows_of(a), out, a);
        return out;
    }
    constexpr tensor reduce(op kind, const tensor& a, int dim, bool keepdim) {
        const int d = a.normalize_dim(dim);
        tensor out = a;
        // these kernels convert the elements as they read them (ATen/native/ReduceOpsUtils.h, `make_reduction`)
        if (load().autocast && (kind == op::sum || kind == op::vector_norm) && load().has_cuda_autocast() &&
            bits_of(a.type) < 32)
            out.type = dtype::float32;
        out.size[d] = 1;
        out = dense_like(out);
        if (!keepdim) out = out.squeeze(d);
        record_unary(kind, count(a.numel), count(out.numel), out, a);
        return out;
    }

    // ---- parts of products

    /// Bytes of a tensor (batch, channels, …) in channels-last layout, with channels padded to 16 bytes.
    [[nodiscard]] static constexpr count channels_last_bytes(const tensor& a);
    constexpr tensor conv_implementation(const tensor& x, const tensor& weight, bool bias,
                                         const convolution_options& options);
    [[nodiscard]] constexpr bool needs_float32(op kind, const tensor& a) const noexcept {
        return load().has_cuda_autocast() && bits_of(a.type) < 32 && is_float32_in_cuda_autocast(kind);
    }
    [[nodiscard]] constexpr bool needs_autocast(const tensor& a, const tensor& b) const noexcept {
        return load().autocast && (a.type == dtype::float32 || b.type == dtype::float32);
    }
    /// Backward: grad b is the solution of the transposed system; grad a is −(grad b · outᵀ).
    constexpr void solve_triangular_backward(const tensor& a, const tensor& b, const tensor& out);
    /// Product of contiguous rows and a transposed weight; equals folding into one matrix and back.
    constexpr tensor linear_contiguous(op kind, const tensor& x, const tensor& weight);
    constexpr tensor mm(op kind, const tensor& a, const tensor& b);
    constexpr tensor flatten_batch(const tensor& a);
    static constexpr tensor unflatten_batch(const tensor& product, const tensor& a);
    static constexpr bool can_fold_batch(const tensor& a, const tensor& b);
    constexpr tensor expand_to_batch(const tensor& a, const shape& batch);
    constexpr tensor float32_or_adapted_param(literal name, shape sizes, std::int64_t used, std::int64_t total_parts) {
        if (declares_float32_parameters_) return float32_param(name, sizes);
        sizes = policy_->shard_parameter(name, sizes);
        const bool copies = policy_->trains_copy(), trains = copies || policy_->is_trainable(name);
        if (copies) (void)frozen_parameter(name, sizes);
        const tensor weight = trains ? trainable_parameter(name, sizes, activation_type(), used, total_parts)
                                     : frozen_parameter(name, sizes, used, total_parts);
        return policy_->transform_parameter(*this, name, weight, false);
    }
    /// The workload with activations in float32.
    [[nodiscard]] constexpr workload float32_workload() const noexcept {
        workload in_float32 = load();
        in_float32.activations = dtype::float32;
        return in_float32;
    }

    recorder recorder_;
    leaf_module_policy* policy_ = nullptr;
    region_edges* edges_ = nullptr;
    dropout_set dropout_positions_{};
    bool declares_float32_parameters_ = false;
};

}  // namespace llmcost
