// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/base/workload.hpp>
#include <llmcost/trace/collective.hpp>
#include <llmcost/trace/listener.hpp>
#include <llmcost/trace/scope.hpp>
#include <llmcost/trace/scoped_value.hpp>
#include <llmcost/trace/selection.hpp>
#include <llmcost/trace/storage_table.hpp>
#include <llmcost/trace/tensor.hpp>
#include <llmcost/trace/trace_totals.hpp>

namespace llmcost {

class loop;

/// The accounting of a trace: workload, scope query, repetition count, storages, totals, and the listener.
///
/// A `trace` has one and converts to it, so that model code constructs guards from a trace:
/// `const trace::no_grad_guard frozen{t};`.
class recorder {
    struct expert_share {
        std::int64_t used_parts = 1, total_parts = 1;
    };

public:
    constexpr explicit recorder(const workload& load, listener* listener = nullptr, scope_query query = {})
        : load_(load),
          listener_(listener),
          selection_(query),
          is_in_scope_(selection_.is_in_scope()),
          is_grad_enabled_(load.training) {
        if (!load.is_valid())
            throw_description_error("workload: batch and sequence must be at least 1, all numbers at most 2147483647");
        if (load.training && load.past > 0) throw_description_error("a training step has no past");
    }

    // ---- state

    [[nodiscard]] constexpr const workload& load() const noexcept { return load_; }
    [[nodiscard]] constexpr const trace_totals& totals() const noexcept { return sums_; }
    /// Whether the trace has met the queried scope.
    [[nodiscard]] constexpr bool has_match() const noexcept { return selection_.has_match(); }
    /// Whether the scope matched only parameters that are counted under other names.
    [[nodiscard]] constexpr bool only_tied() const noexcept { return selection_.has_only_tied_parameters(); }
    [[nodiscard]] constexpr bool has_listener() const noexcept { return listener_ != nullptr; }
    /// Whether the queried scope is in a numbered layer, so that layers with equal specs have different figures.
    [[nodiscard]] constexpr bool selects_layer() const noexcept { return selection_.selects_layer(); }
    /// How often the current operations are repeated.
    [[nodiscard]] constexpr count multiplier() const noexcept { return multiplier_; }
    [[nodiscard]] constexpr bool is_not_executed() const noexcept { return not_executed_depth_ != 0; }
    /// Whether a parameter that is declared now has no gradient in a training step.
    [[nodiscard]] constexpr bool has_no_gradients() const noexcept {
        return not_executed_depth_ != 0 && training_mode_depth_ == 0;
    }
    /// Whether the cache is discarded after the pass.
    [[nodiscard]] constexpr bool discards_cache() const noexcept { return discarded_cache_depth_ != 0; }
    [[nodiscard]] constexpr bool is_training() const noexcept { return load_.training; }
    /// Marks the tensors that the next operation saves as gradients, which its backward passes on unchanged.
    constexpr void save_gradients() const {
        if (listener_ != nullptr && not_executed_depth_ == 0) listener_->on_gradients_saved();
    }
    /// Element type of activations: that of the workload, float32 if unspecified.
    [[nodiscard]] constexpr dtype activation_type() const noexcept {
        return (load_.training || load_.uses_workload_dtypes) && load_.activations != dtype::unspecified
                   ? load_.activations
                   : dtype::float32;
    }

    // ---- scopes

    constexpr void enter(const module_info& m) {
        if (selection_.has_query()) {
            selection_.enter(m);
            is_in_scope_ = selection_.is_in_scope();
        }
        if (listener_ != nullptr) listener_->on_module_enter(*this, m);
    }
    constexpr void leave(const module_info& m) {
        if (listener_ != nullptr) listener_->on_module_leave(*this, m);
        if (selection_.has_query()) {
            selection_.leave(m);
            is_in_scope_ = selection_.is_in_scope();
        }
    }

    /// While it lives, parameters are declared but nothing is executed: a module that this forward pass does not call.
    struct not_executed_guard : scoped_value<int> {
        constexpr explicit not_executed_guard(recorder& r, bool is_enabled = true) noexcept
            : scoped_value(r.not_executed_depth_, r.not_executed_depth_ + int{is_enabled}) {}
    };
    /// While it lives, modules that are not executed run in training mode: auxiliary classifiers.
    struct training_mode_guard : scoped_value<int> {
        constexpr explicit training_mode_guard(recorder& r, bool is_enabled = true) noexcept
            : scoped_value(r.training_mode_depth_, r.training_mode_depth_ + int{is_enabled}) {}
    };
    /// While it lives, results do not contribute to the loss: they are saved for backward, but have no backward.
    struct detach_guard : scoped_value<int> {
        constexpr explicit detach_guard(recorder& r, bool is_enabled = true) noexcept
            : scoped_value(r.detach_depth_, r.detach_depth_ + int{is_enabled}) {}
    };
    /// While it lives, cached tensors are discarded after the pass: a model head that does not return the cache.
    struct discarded_cache_guard : scoped_value<int> {
        constexpr explicit discarded_cache_guard(recorder& r, bool is_enabled = true) noexcept
            : scoped_value(r.discarded_cache_depth_, r.discarded_cache_depth_ + int{is_enabled}) {}
    };
    /// While it lives, the called modules share parameters with earlier ones: their work counts, their parameters do
    /// not.
    struct shared_parameters_guard : scoped_value<count> {
        constexpr explicit shared_parameters_guard(recorder& r, bool is_enabled = true) noexcept
            : scoped_value(r.parameter_multiplier_, is_enabled ? count{} : r.parameter_multiplier_) {}
    };
    /// While it lives, the workload is replaced: a submodel that reads other tokens than the model.
    struct workload_guard : scoped_value<workload> {
        constexpr workload_guard(recorder& r, const workload& load) noexcept : scoped_value(r.load_, load) {}
    };
    /// While it lives, gradients are disabled (`torch.no_grad`).
    struct no_grad_guard : scoped_value<bool> {
        constexpr explicit no_grad_guard(recorder& r, bool is_enabled = true) noexcept
            : scoped_value(r.is_grad_enabled_, r.is_grad_enabled_ && !is_enabled) {}
    };
    /// While it lives, operations are the implementation of one call: counted, but not written, saved or reported.
    struct function_internals_guard {
        constexpr explicit function_internals_guard(recorder& r) noexcept
            : no_grad_(r),
              listener_(r.listener_, nullptr),
              written_(r.sums_.written_elements, r.sums_.written_elements) {}

    private:
        no_grad_guard no_grad_;
        scoped_value<listener*> listener_;
        scoped_value<count> written_;
    };
    /// While it lives, experts process all tokens, although only `used` of `total_parts` parts are routed to them.
    struct dense_experts_guard : scoped_value<expert_share> {
        constexpr dense_experts_guard(recorder& r, std::int64_t used, std::int64_t total_parts) noexcept
            : scoped_value(r.routed_, expert_share{used, total_parts}) {}
    };

    /// While it lives, operations belong to one fused kernel.
    class fused_kernel_guard;
    /// While it lives, operations are the implementation of one call of a PyTorch function.
    class function_call_guard;

    // ---- tensors

    /// Declares a parameter that is not trained (`requires_grad=False`).
    ///
    /// One token uses `used` of `total_parts` equal parts (experts).
    constexpr tensor frozen_parameter(literal name, shape sizes, std::int64_t used = 1, std::int64_t total_parts = 1) {
        tensor v = empty_tensor(sizes, activation_type());
        declare_parameter(name, v, count(used), count(total_parts));
        return v;
    }
    /// Declares a trained parameter of the given element type.
    constexpr tensor trainable_parameter(literal name, shape sizes, dtype type, std::int64_t used = 1,
                                         std::int64_t total_parts = 1) {
        tensor v = empty_tensor(sizes, type);
        v.requires_grad = true;
        count_gradient_sum(v, parameter_multiplier_);
        declare_parameter(name, v, count(used), count(total_parts));
        return v;
    }
    /// Declares a parameter whose tensor another module has declared before.
    constexpr tensor tied_parameter(literal name, shape sizes, bool is_trainable) {
        tensor v = empty_tensor(sizes, activation_type());
        v.requires_grad = is_trainable;
        (void)selection_.match_parameter(name, true);
        if (listener_ != nullptr) {
            assign_parameter_id(v);
            notify_parameter(name, v, true);
        }
        return v;
    }
    /// The next operation reads this parameter in addition to its inputs: the bias of a product, the weight of a norm.
    constexpr void read_parameter_in_next_op(const tensor& parameter) {
        has_pending_parameter_ = has_pending_parameter_ || (is_grad_enabled_ && parameter.requires_grad);
        if (listener_ != nullptr && not_executed_depth_ == 0) listener_->on_parameter_read(*this, parameter);
    }
    /// An input of the model (pixels): it has a storage, but no operation writes it.
    constexpr tensor input(shape sizes) {
        tensor v = empty_tensor(sizes, activation_type());
        v.storage_id = storage_table_.add();
        return v;
    }
    /// Records the logits of a router, which a load-balancing loss reads after the layers.
    constexpr void record_router_logits(const tensor& v) const {
        if (listener_ != nullptr && not_executed_depth_ == 0) listener_->on_router_logits(*this, v);
    }
    /// Whether the load-balancing loss is computed after the loss over labels.
    [[nodiscard]] constexpr bool defers_load_balancing_loss(const load_balancing_sizes& balance) const {
        return listener_ != nullptr && not_executed_depth_ == 0 && listener_->on_load_balancing_loss(*this, balance);
    }
    /// Records a tensor that is passed to the current module.
    constexpr void record_module_input(const tensor& v) const {
        if (listener_ != nullptr && not_executed_depth_ == 0) listener_->on_module_input(*this, v);
    }
    /// Declares a buffer of the module, in bytes. A module that is called again has declared it before.
    constexpr void register_buffer(count bytes) const {
        if (listener_ != nullptr && parameter_multiplier_ != count{}) listener_->on_buffer(*this, bytes);
    }

    /// Appends a tensor to the cache.
    constexpr void add_to_cache(const tensor& v) {
        if (not_executed_depth_ != 0 || discarded_cache_depth_ != 0) return;
        if (is_in_scope_) sums_.cache_elements += count(v.numel) * multiplier_;
        if (listener_ != nullptr) listener_->on_cache_append(*this, v);
    }

    /// Counts encoder output for images, videos or audio that replaces placeholder tokens of the text.
    constexpr void add_to_encoder_cache(const tensor& v) {
        if (not_executed_depth_ == 0 && is_in_scope_) sums_.encoder_cache_elements += count(v.numel) * multiplier_;
    }
    /// Declares an empty cache entry for a layer without cached tensors.
    constexpr void add_empty_cache_entry() const {
        if (not_executed_depth_ == 0 && discarded_cache_depth_ == 0 && listener_ != nullptr)
            listener_->on_cache_entry_empty(*this);
    }
    /// Begins another cache entry of the current layer.
    constexpr void begin_cache_entry() const {
        if (listener_ != nullptr) listener_->on_cache_entry_begin(*this);
    }

    // ---- operations

    /// Records one executed operation and gives its output a storage.
    ///
    /// With `in_place`, the operation writes into the existing storage of `out`.
    constexpr void record_op(op kind, count work, count rows, tensor& out, const tensor* const* in, int n,
                             bool in_place = false) {
        if (!in_place) {
            out.storage_id = storage_table_.add();
            out.storage_numel = out.numel;
            out.requires_grad = false;
        }
        if (is_grad_enabled_) {
            for (int i = 0; i < n; ++i) out.requires_grad = out.requires_grad || in[i]->requires_grad;
            out.requires_grad = out.requires_grad || has_pending_parameter_;
            has_pending_parameter_ = false;
        }
        if (not_executed_depth_ != 0) return;
        if (is_in_scope_) {
            op_count& done = sums_.operations[static_cast<std::size_t>(kind)];
            if (work != count{}) done.work += work * multiplier_;
            if (rows != count{}) done.rows += rows * multiplier_;
            if (!in_place) sums_.written_elements += count(out.numel) * multiplier_;
            if (routed_.used_parts != routed_.total_parts) sums_.unrouted_flops += unrouted_flops_of(kind, work, rows);
            if (out.requires_grad) {
                const op_cost& p = op_cost_of(kind);
                if (detach_depth_ == 0) record_backward(kind, work, rows, out, in, n);
                if (in_place)
                    save_overwritten_input(p.saved, rows, out, in, n);
                else
                    save_for_op(p.saved, rows, out, in, n);
            }
        }
        if (listener_ != nullptr) listener_->on_op(*this, operation{kind, work, rows, in, n, out});
    }

    /// Adds FLOPs that FlopCounterMode reports for backward in addition to the rule of the operation.
    constexpr void add_backward_torch_flops(count n) {
        if (has_backward()) sums_.backward_torch_flops += n * multiplier_;
    }
    /// Adds a backward cost in addition to the rule of the operation.
    constexpr void add_backward_cost(const primitives<count>& cost) {
        if (!has_backward() || selection_.has_query()) return;
        for (const auto primitive : primitive_members<count>)
            sums_.backward.*primitive += cost.*primitive * multiplier_;
    }
    /// Adds a gradient from outside the recorded operations: the loss, a `torch.autograd.Function`.
    constexpr void accumulate_gradient(const tensor& v) {
        if (v.requires_grad) add_backward_cost({.add = num_real_numbers(v)});
    }
    /// Makes a tensor require a gradient although no operation has done so.
    constexpr void require_grad(tensor& v) {
        if (is_grad_enabled_ && !v.requires_grad) {
            v.requires_grad = true;
            count_gradient_sum(v, multiplier_);
        }
    }
    /// Records a `torch.autograd.Function`: `out` was computed without gradients, and its backward reaches all inputs.
    constexpr void record_autograd_function(tensor& out, const tensor* const* in, int n) {
        require_grad(out);
        for (int i = 0; i < n; ++i) accumulate_gradient(*in[i]);
        if (listener_ != nullptr && not_executed_depth_ == 0) listener_->on_autograd_function(*this, out, in, n);
    }
    constexpr void record_autograd_function(tensor& out, const tensor& in) {
        const tensor* const one[1] = {&in};
        record_autograd_function(out, one, 1);
    }
    /// The next operation is a collective.
    constexpr void announce_collective(const collective_call& call) {
        if (listener_ != nullptr && not_executed_depth_ == 0) listener_->on_collective(*this, call);
    }
    /// `source[...] = part`, in place: the gradient of `part` is a slice of the gradient of `source`.
    constexpr void copy_into_slice(tensor& source, const tensor& part) {
        if (!part.requires_grad) return;
        accumulate_gradient(part);
        require_grad(source);
        if (listener_ != nullptr && not_executed_depth_ == 0) listener_->on_slice_written(*this, source, part);
    }
    /// `Tensor.slice`, `Tensor.select`: a view whose gradient has the size of the source, padded with zeros.
    ///
    /// Not needed if all parts of a `split`, `chunk` or `unbind` are read: their gradients are concatenated.
    constexpr tensor slice_with_gradient(const tensor& source, const tensor& part, std::int64_t num_reads = 1) {
        const count n(num_reads);
        if (source.requires_grad) {
            if (listener_ != nullptr && not_executed_depth_ == 0) listener_->on_slice(*this, source);
            add_backward_cost({.add = num_real_numbers(source) * n});
            count_gradient_sum(part, multiplier_ * n);
        }
        return part;
    }
    /// Returns a tensor that is cut into `n` parts, one after the other, and adds the cost of summing their gradients.
    constexpr const tensor& split_sequentially(const tensor& source, std::int64_t n) {
        if (source.requires_grad) add_backward_cost({.add = num_real_numbers(source) * count(n - 1)});
        return source;
    }
    /// Saves a tensor for backward in addition to the rules of operations: a `torch.autograd.Function`, a time step.
    constexpr void save_for_backward(const tensor& v) {
        if (not_executed_depth_ == 0 && is_in_scope_ && is_grad_enabled_ && v.requires_grad) save_tensor(v);
    }
    /// Adds bytes that the next operation saves for backward and that are not in a tensor.
    constexpr void save_bytes_for_backward(count bytes) {
        if (not_executed_depth_ != 0 || !is_in_scope_ || !is_grad_enabled_) return;
        if (listener_ != nullptr) listener_->on_bytes_saved(*this, bytes);
        sums_.saved_bytes += bytes * multiplier_;
    }
    /// Adds `n` 64-bit integers created by the pass that the next operation saves for backward: labels, indices.
    constexpr void save_integers_for_backward(count n) const {
        if (listener_ != nullptr && not_executed_depth_ == 0 && is_in_scope_ && is_grad_enabled_)
            listener_->on_integers_saved(*this, n * count(8));
    }
    /// Adds bytes created by the pass that the next operation saves for backward and that are no floating-point
    /// numbers: masks.
    constexpr void save_mask_for_backward(count bytes) const {
        if (listener_ != nullptr && not_executed_depth_ == 0 && is_in_scope_ && is_grad_enabled_)
            listener_->on_integers_saved(*this, bytes);
    }
    /// Adds temporary bytes of the next operation's kernels: in its forward, and in its backward.
    constexpr void add_temporary_bytes(count forward, count backward) const {
        if (listener_ != nullptr && not_executed_depth_ == 0 && is_in_scope_)
            listener_->on_temporary_bytes(*this, forward, backward);
    }
    /// Adds floating-point elements written in addition to an output: scalars converted to tensors, second results.
    constexpr void add_written_elements(std::uint64_t elements) {
        if (not_executed_depth_ == 0 && is_in_scope_) sums_.written_elements += count(elements) * multiplier_;
    }
    /// Records the output of a leaf module.
    constexpr void record_module_output(const tensor& v) {
        if (not_executed_depth_ != 0) return;
        if (is_in_scope_) sums_.module_output_elements += count(v.numel) * multiplier_;
        if (listener_ != nullptr) listener_->on_module_output(*this, v);
    }
    constexpr void record_module_output(const tensor_pair& values) {
        record_module_output(values.first);
        if (not_executed_depth_ == 0 && is_in_scope_)
            sums_.module_output_elements += count(values.second.numel) * multiplier_;
    }

private:
    friend class loop;

    constexpr void assign_parameter_id(tensor& parameter) noexcept { parameter.storage_id = --last_parameter_id_; }
    constexpr void notify_parameter(literal name, const tensor& v, bool tied) {
        parameter_multiplier_ != count{} ? listener_->on_parameter(*this, name, v, tied)
                                         : listener_->on_parameter_reuse(*this, name, v);
    }
    constexpr void declare_parameter(literal name, tensor& v, count used, count total_parts) {
        if (is_in_scope_ || selection_.match_parameter(name, false)) {
            const count n = count(v.numel) * parameter_multiplier_;
            sums_.parameters += n;
            sums_.active_parameters += n * used / total_parts;
        }
        if (listener_ != nullptr) {
            assign_parameter_id(v);
            notify_parameter(name, v, false);
        }
    }
    [[nodiscard]] static constexpr count bytes_of(const tensor& v) {
        return count(v.storage_numel) * count(bits_of(v.type)) / count(8);
    }
    /// ADD and MULT of an operation for tokens that are not routed to the experts.
    [[nodiscard]] constexpr count unrouted_flops_of(op kind, count work, count rows) const {
        const op_cost& p = op_cost_of(kind);
        const auto charged = [](const primitives<std::int8_t>& price) { return count(price.add + price.mult); };
        if (p.per_row.add + p.per_row.mult < 0)  // only ADD has a negative coefficient per row
            return (work * charged(p.per_work) - rows * count(-p.per_row.add - p.per_row.mult)) * multiplier_ *
                   count(routed_.total_parts - routed_.used_parts) / count(routed_.total_parts);
        return (work * charged(p.per_work) + rows * charged(p.per_row)) * multiplier_ *
               count(routed_.total_parts - routed_.used_parts) / count(routed_.total_parts);
    }
    constexpr void save_tensor(const tensor& v) {
        // PyTorch tools that count saved bytes skip complex tensors
        if (!v.is_stored() || v.type == dtype::complex64) {
            if (listener_ != nullptr && v.storage_id != tensor::no_storage_id) listener_->on_backward_read(*this, v);
            return;
        }
        if (listener_ != nullptr) listener_->on_tensor_saved(*this, v);
        if (storage_table_.is_saved(v.storage_id)) return;
        storage_table_.set_saved(v.storage_id, true);
        sums_.saved_bytes += bytes_of(v) * storage_table_.multiplier_of(v.storage_id);
    }
    /// Bytes of the mean of a norm: float32, or on the CPU the wider of the input's and the weights' types.
    [[nodiscard]] constexpr count statistic_bytes(const tensor& x) const noexcept {
        const int input = bits_of(x.type), weights = bits_of(activation_type());
        return count(!load_.uses_cpu_kernels ? 4 : (input > weights ? input : weights) / 8);
    }
    constexpr void save_for_op(saved_tensors rule, count rows, const tensor& out, const tensor* const* in, int n) {
        switch (rule) {
            case saved_tensors::none: return;
            case saved_tensors::input: return save_tensor(*in[0]);
            case saved_tensors::output: return save_tensor(out);
            case saved_tensors::input_and_output:
                save_tensor(*in[0]);
                save_tensor(out);
                return;
            case saved_tensors::both_inputs:
                save_tensor(*in[0]);
                save_tensor(*in[1]);
                return;
            case saved_tensors::second_input: return save_tensor(*in[1]);
            case saved_tensors::other_operand:
                if (n > 1 && in[1]->requires_grad) save_tensor(*in[0]);
                if (n > 1 && in[0]->requires_grad) save_tensor(*in[1]);
                return;
            case saved_tensors::divisor_or_both:
                if (n > 1) save_tensor(*in[1]);
                if (n > 1 && in[1]->requires_grad) save_tensor(*in[0]);
                return;
            case saved_tensors::input_and_row_statistics:
                save_tensor(*in[0]);
                save_bytes_for_backward(rows * count(2) * statistic_bytes(*in[0]));
                return;
        }
    }
    /// Clones the input of an in-place operation if its backward needs the overwritten values.
    ///
    /// Source: torch VariableType, `original_self`.
    constexpr void save_overwritten_input(saved_tensors rule, count rows, const tensor& out, const tensor* const* in,
                                          int n) {
        tensor clone = *in[0];
        clone.storage_id = storage_table_.add();
        clone.storage_numel = clone.numel;
        const tensor* const cloned[2] = {&clone, n > 1 ? in[1] : nullptr};
        save_for_op(rule, rows, out, cloned, n);
    }
    /// Number of real numbers: a complex element counts as two.
    [[nodiscard]] static constexpr count num_real_numbers(const tensor& v) {
        return v.type == dtype::complex64 ? count(v.numel) * count(2) : count(v.numel);
    }
    [[nodiscard]] constexpr bool has_backward() const noexcept {
        return is_grad_enabled_ && is_in_scope_ && not_executed_depth_ == 0 && detach_depth_ == 0;
    }
    /// Counts the ADDs that the first gradient of a tensor does not need.
    ///
    /// Gradients meet across modules, so only a complete model has this figure.
    constexpr void count_gradient_sum(const tensor& v, count times) {
        if (has_backward() && !selection_.has_query()) sums_.unsummed_gradients += num_real_numbers(v) * times;
    }
    constexpr void record_backward(op kind, count work, count rows, const tensor& out, const tensor* const* in, int n) {
        const int torch_flops = op_cost_of(kind).torch_flops;
        for (int i = 0; i < n && i < 2 && torch_flops != 0; ++i)
            if (in[i]->requires_grad) sums_.backward_torch_flops += work * count(torch_flops) * multiplier_;
        if (selection_.has_query()) return;
        count_gradient_sum(out, multiplier_);
        if (const primitives<std::int8_t>* const parameters = parameter_gradient_cost_of(kind);
            parameters != nullptr && n > 0 && !in[0]->requires_grad)
            return add_op_cost(*parameters, work * multiplier_);
        const backward_op_cost& p = backward_op_cost_of(kind);
        add_op_cost(p.per_row, rows * multiplier_);
        for (int i = 0; i < n; ++i) {
            if (!in[i]->requires_grad) continue;
            const primitives<std::int8_t>& operand_cost = i == 0 ? p.first : p.second;
            if (i < 2) add_op_cost(operand_cost, work * multiplier_);
            const count numbers = num_real_numbers(*in[i]) * multiplier_;
            sums_.backward.mult += numbers * count(p.mult_per_element);
            if (p.gradient_size == gradient_size_kind::as_input) sums_.backward.add += numbers;
            if (p.gradient_size == gradient_size_kind::as_output)
                sums_.backward.add += num_real_numbers(out) * multiplier_;
        }
    }
    constexpr void add_op_cost(const primitives<std::int8_t>& price, count work) {
        for (std::size_t i = 0; i < num_primitives; ++i) {
            const std::int8_t n = price.*primitive_members<std::int8_t>[i];
            // only ADD has a negative coefficient per row
            detail::add_cost(sums_.backward.*primitive_members<count>[i], sums_.unsummed_gradients, n, work);
        }
    }

    workload load_;
    listener* listener_;
    scope_selection selection_;
    trace_totals sums_{};
    count multiplier_{1};
    count parameter_multiplier_{1};
    storage_table storage_table_{};
    expert_share routed_{};
    std::int32_t last_parameter_id_ = tensor::no_storage_id;
    int not_executed_depth_ = 0;
    int training_mode_depth_ = 0;
    int detach_depth_ = 0;
    int discarded_cache_depth_ = 0;
    bool is_in_scope_;
    bool is_grad_enabled_;
    bool has_pending_parameter_ =
        false;  ///< the next operation reads a parameter that needs a gradient, in addition to its inputs
};

}  // namespace llmcost
