// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/trace/recorder_state.hpp>
#include <llmcost/trace/storages.hpp>
#include <llmcost/trace/value.hpp>
#include <llmcost/trace/value_guard.hpp>

namespace llmcost {

class repetition;
struct layer_plan;

/// The accounting half of a trace: where the walk is, how often what it sees happens, and the sums so far.
class recorder : public recorder_state {
    struct routed_share {
        std::int64_t used = 1, of = 1;
    };

public:
    constexpr explicit recorder(const workload& load, listener* ear = nullptr, scope_query asked = {})
        : recorder_state(load, ear, asked) {}

    // ---- scopes

    constexpr void enter(const module_info& m) {
        if (selection_.selecting()) selection_.enter(m), active_ = selection_.active();
        if (policy_ != nullptr) policy_->enter(m);
        if (listener_ != nullptr) listener_->enter(*this, m);
    }
    constexpr void leave(const module_info& m) {
        if (listener_ != nullptr) listener_->leave(*this, m);
        if (policy_ != nullptr) policy_->leave(m);
        if (selection_.selecting()) selection_.leave(m), active_ = selection_.active();
    }

    /// While it lives, parameters are declared but nothing is executed: a module that this forward does not call.
    struct idle_guard : value_guard<int> {
        constexpr explicit idle_guard(recorder& r, bool on = true) noexcept : value_guard(r.idle_, r.idle_ + int{on}) {}
    };
    /// While it lives, what is computed does not reach the loss: kept by autograd, never gone back through.
    struct off_loss_guard : value_guard<int> {
        constexpr explicit off_loss_guard(recorder& r, bool on = true) noexcept
            : value_guard(r.off_loss_, r.off_loss_ + int{on}) {}
    };
    /// While it lives, nobody holds what is cached when the run is over: a head that does not return it.
    struct dropped_cache_guard : value_guard<int> {
        constexpr explicit dropped_cache_guard(recorder& r, bool on = true) noexcept
            : value_guard(r.dropped_cache_, r.dropped_cache_ + int{on}) {}
    };
    /// While it lives, what is called are modules that were called before: their work counts, their parameters do not.
    struct called_again_guard : value_guard<count> {
        constexpr explicit called_again_guard(recorder& r, bool on = true) noexcept
            : value_guard(r.parameter_times_, on ? count{} : r.parameter_times_) {}
    };
    /// While it lives, the workload is another one: of a stack that reads other tokens than the model is asked for.
    struct workload_guard : value_guard<workload> {
        constexpr workload_guard(recorder& r, const workload& load) noexcept : value_guard(r.load_, load) {}
    };
    /// While it lives, nothing asks for gradients (`torch.no_grad`).
    struct no_grad_guard : value_guard<bool> {
        constexpr explicit no_grad_guard(recorder& r, bool on = true) noexcept : value_guard(r.grad_, r.grad_ && !on) {}
    };
    /// While it lives, what is executed is the inside of one call: counted, but neither written, kept nor told.
    struct inside_guard {
        constexpr explicit inside_guard(recorder& r) noexcept
            : quiet_(r), ear_(r.listener_, nullptr), written_(r.sums_.written, r.sums_.written) {}

    private:
        no_grad_guard quiet_;
        value_guard<listener*> ear_;
        value_guard<count> written_;
    };
    /// While it lives, experts run over all tokens, `used` of `of` parts of which were sent to them.
    struct unrouted_guard : value_guard<routed_share> {
        constexpr unrouted_guard(recorder& r, std::int64_t used, std::int64_t of) noexcept
            : value_guard(r.routed_, routed_share{used, of}) {}
    };

    /// While it lives, what is executed is a part that engines run as one kernel.
    class fused_guard;
    /// While it lives, what is executed is the inside of one call of a function of PyTorch's.
    class call_guard;

    // ---- tensors

    /// Declares a parameter; `used` of `of` equal parts meet one token (experts).
    constexpr value param(literal name, extents sizes, std::int64_t used = 1, std::int64_t of = 1) {
        if (policy_ == nullptr) return added_param(name, sizes, activation_type(), used, of);
        const bool copies = policy_->copies(), trains = copies || policy_->trains(name);
        if (copies) (void)frozen(name, sizes);
        return trains ? added_param(name, sizes, activation_type(), used, of) : frozen(name, sizes, used, of);
    }
    /// Declares a parameter that gradients do not train (`requires_grad=False`).
    constexpr value frozen(literal name, extents sizes, std::int64_t used = 1, std::int64_t of = 1) {
        value v = dense(sizes, activation_type());
        declared(name, v, count(used), count(of));
        return v;
    }
    /// Declares a parameter that gradients train, of whatever type.
    constexpr value added_param(literal name, extents sizes, dtype type, std::int64_t used = 1, std::int64_t of = 1) {
        value v = dense(sizes, type);
        v.requires_grad = true;
        wants_gradient(v, parameter_times_);
        declared(name, v, count(used), count(of));
        return v;
    }
    /// Declares a parameter whose tensor another module has named before.
    constexpr value tied(literal name, extents sizes) {
        if (policy_ != nullptr && policy_->copies()) return added_param(name, sizes, activation_type());
        value v = dense(sizes, activation_type());
        v.requires_grad = policy_ == nullptr || policy_->trains(name);
        (void)selection_.meets_parameter(name, true);
        if (listener_ != nullptr) number(v), tell_parameter(name, v, true);
        return v;
    }
    /// The operation that comes next reads this parameter beside its inputs: a bias that a product adds, a norm's weight.
    constexpr void beside(const value& parameter) {
        beside_ = beside_ || (grad_ && parameter.requires_grad);
        if (listener_ != nullptr) listener_->read_beside(*this, parameter);
    }
    /// A tensor that the caller hands in (pixels): a storage, but nothing that the pass writes.
    constexpr value input(extents sizes) {
        value v = dense(sizes, activation_type());
        v.storage = storages_.next();
        return v;
    }
    /// A module owns a buffer of so many bytes.
    constexpr void owns_buffer(count bytes) const {
        if (listener_ != nullptr) listener_->buffer(*this, bytes);
    }
    /// A buffer or an integer tensor: no storage of its own that anybody counts.
    [[nodiscard]] static constexpr value buffer(extents sizes) { return dense(sizes); }

    /// What the cache holds after the run.
    constexpr void cache(const value& v) {
        if (idle_ != 0 || dropped_cache_ != 0) return;
        if (active_) sums_.cache += count(v.elements) * times_;
        if (listener_ != nullptr) listener_->cached(*this, v);
    }

    /// What an encoder made of images, videos or sound, for the places of words.
    constexpr void keep_encoded(const value& v) {
        if (idle_ == 0 && active_) sums_.encoder_cache += count(v.elements) * times_;
    }
    /// A layer that keeps nothing has a place in the cache all the same.
    constexpr void cache_nothing() const {
        if (idle_ == 0 && dropped_cache_ == 0 && listener_ != nullptr) listener_->cached_nothing(*this);
    }
    /// What this layer keeps from here on has another place in the cache.
    constexpr void cache_apart() const {
        if (listener_ != nullptr) listener_->cached_apart(*this);
    }

    // ---- operations

    /// Writes down one executed operation and gives its output a storage.
    ///
    /// `in_place` writes into the storage that `out` already has, which is nothing new.
    constexpr void record(op kind, count work, count rows, value& out, const value* const* in, int n,
                          bool in_place = false) {
        if (!in_place) {
            out.storage = storages_.next();
            out.storage_elements = out.elements;
            out.requires_grad = false;
        }
        if (grad_) {
            for (int i = 0; i < n; ++i) out.requires_grad = out.requires_grad || in[i]->requires_grad;
            out.requires_grad = out.requires_grad || beside_;
            beside_ = false;
        }
        if (idle_ != 0) return;
        if (active_) {
            amount& done = sums_.operations[static_cast<std::size_t>(kind)];
            if (work != count{}) done.work += work * times_;
            if (rows != count{}) done.rows += rows * times_;
            if (!in_place) sums_.written += count(out.elements) * times_;
            if (routed_.used != routed_.of) sums_.unrouted_flops += flops_beyond(kind, work, rows);
            if (out.requires_grad) {
                const op_price& p = price_of(kind);
                if (off_loss_ == 0) go_back(kind, work, rows, out, in, n);
                if (in_place)
                    keep_overwritten(p.kept, rows, out, in, n);
                else
                    keep(p.kept, rows, out, in, n);
            }
        }
        if (listener_ != nullptr) listener_->executed(*this, operation{kind, work, rows, in, n, out});
    }

    /// What FlopCounterMode says of backward beyond an operation's own rule.
    constexpr void backward_torch_flops(count n) {
        if (goes_back()) sums_.backward_torch_flops += n * times_;
    }
    /// What backward executes beyond an operation's own rule.
    constexpr void backward(const primitives<count>& more) {
        if (!goes_back() || selection_.selecting()) return;
        for (const auto primitive : primitive_members<count>) sums_.backward.*primitive += more.*primitive * times_;
    }
    /// A gradient that arrives from what is no operation here: the loss, a `torch.autograd.Function`.
    constexpr void gradient_arrives(const value& v) {
        if (v.requires_grad) backward({.add = numbers_of(v)});
    }
    /// Lets a tensor need a gradient that no operation has made so.
    constexpr void require_grad(value& v) {
        if (grad_ && !v.requires_grad) v.requires_grad = true, wants_gradient(v, times_);
    }
    /// A `torch.autograd.Function`: what was made of these inputs while nobody asked for gradients goes back to all of them.
    constexpr void goes_through(value& out, const value* const* in, int n) {
        require_grad(out);
        for (int i = 0; i < n; ++i) gradient_arrives(*in[i]);
        if (listener_ != nullptr && idle_ == 0) listener_->goes_through(*this, out, in, n);
    }
    constexpr void goes_through(value& out, const value& in) {
        const value* const one[1] = {&in};
        goes_through(out, one, 1);
    }
    /// `whole[...] = part`, in place: the part's gradient is a slice of the whole's.
    constexpr void copy_into(value& whole, const value& part) {
        if (!part.requires_grad) return;
        gradient_arrives(part);
        require_grad(whole);
        if (listener_ != nullptr && idle_ == 0) listener_->written_into(*this, whole, part);
    }
    /// `Tensor.slice`, `Tensor.select`: a view whose gradient arrives as large as the whole, zeros around it.
    ///
    /// Parts of a `split`, `chunk` or `unbind` that are all read need no such note: their gradients are joined.
    constexpr value cut(const value& whole, const value& part, std::int64_t as_often = 1) {
        const count n(as_often);
        if (whole.requires_grad) backward({.add = numbers_of(whole) * n}), wants_gradient(part, times_ * n);
        return part;
    }
    /// The whole of a tensor that is cut into `n` parts, one after the other.
    constexpr const value& cut_apart(const value& whole, std::int64_t n) {
        if (whole.requires_grad) backward({.add = numbers_of(whole) * count(n - 1)});
        return whole;
    }
    /// What is kept for backward beyond the rules of operations: by a `torch.autograd.Function`, by a step through time.
    constexpr void save_for_backward(const value& v) {
        if (idle_ == 0 && active_ && grad_ && v.requires_grad) save(v);
    }
    /// Bytes that the next operation keeps for backward beside tensors.
    constexpr void save_besides(count bytes) {
        if (idle_ != 0 || !active_ || !grad_) return;
        if (listener_ != nullptr) listener_->saved_besides(*this, bytes);
        sums_.saved_bytes += bytes * times_;
    }
    /// So many integers of 64 bits, made by the pass, that the next operation keeps for backward: labels, indices.
    constexpr void save_integers(count n) const {
        if (listener_ != nullptr && idle_ == 0 && active_ && grad_) listener_->saved_integers(*this, n * count(8));
    }
    /// Floating elements written beside an output: scalars made into tensors, second results.
    constexpr void written(std::uint64_t elements) {
        if (idle_ == 0 && active_) sums_.written += count(elements) * times_;
    }
    /// What a module without children returned.
    constexpr void returned(const value& v) {
        if (idle_ != 0) return;
        if (active_) sums_.out += count(v.elements) * times_;
        if (listener_ != nullptr) listener_->returned(*this, v);
    }
    constexpr void returned(const two_values& values) {
        returned(values.first);
        if (idle_ == 0 && active_) sums_.out += count(values.second.elements) * times_;
    }

    // ---- repetition

    /// `n` modules of a kind, numbered from `first`.
    [[nodiscard]] constexpr repetition repeat(std::int64_t n, value& x, std::int64_t first = 0);
    /// `n` modules of the kinds that a plan says.
    [[nodiscard]] constexpr repetition repeat(std::int64_t n, const layer_plan& plan, value& x);
    /// One module called `n` times in a row: its parameters once, its work `n` times.
    [[nodiscard]] constexpr repetition again(std::int64_t n, value& x);
    /// `n` equal steps through time, no modules inside: one walk, whoever listens.
    [[nodiscard]] constexpr repetition steps(std::int64_t n, value& x);

private:
    friend class repetition;

    constexpr void number(value& parameter) noexcept { parameter.storage = --last_parameter_; }
    constexpr void tell_parameter(literal name, const value& v, bool tied) {
        parameter_times_ != count{} ? listener_->parameter(*this, name, v, tied)
                                    : listener_->parameter_again(*this, name, v);
    }
    constexpr void declared(literal name, value& v, count used, count of) {
        if (active_ || selection_.meets_parameter(name, false)) {
            const count n = count(v.elements) * parameter_times_;
            sums_.parameters += n;
            sums_.active_parameters += n * used / of;
        }
        if (listener_ != nullptr) number(v), tell_parameter(name, v, false);
    }
    [[nodiscard]] static constexpr count bytes_of(const value& v) {
        return count(v.storage_elements) * count(bits_of(v.type)) / count(8);
    }
    /// ADD and MULT of an operation for tokens that were not sent to the experts that run over them.
    [[nodiscard]] constexpr count flops_beyond(op kind, count work, count rows) const {
        const op_price& p = price_of(kind);
        const auto charged = [](const primitives<std::int8_t>& price) { return count(price.add + price.mult); };
        if (p.per_row.add + p.per_row.mult < 0)  // sums have less of something than rows, and that is ADD
            return (work * charged(p.per_work) - rows * count(-p.per_row.add - p.per_row.mult)) * times_ *
                   count(routed_.of - routed_.used) / count(routed_.of);
        return (work * charged(p.per_work) + rows * charged(p.per_row)) * times_ * count(routed_.of - routed_.used) /
               count(routed_.of);
    }
    constexpr void save(const value& v) {
        // complex numbers are no floating-point tensors to those who count saved bytes
        if (!v.is_stored() || v.type == dtype::complex64) {
            if (listener_ != nullptr && v.storage != value::no_storage) listener_->read_in_backward(*this, v);
            return;
        }
        if (listener_ != nullptr) listener_->saved(*this, v);
        if (storages_.is_saved(v.storage)) return;
        storages_.set_saved(v.storage, true);
        sums_.saved_bytes += bytes_of(v) * storages_.times_of(v.storage);
    }
    /// Bytes of a norm's mean: float32, on the CPU as wide as its input or its weights.
    [[nodiscard]] constexpr count statistic_bytes(const value& x) const noexcept {
        const int input = bits_of(x.type), weights = bits_of(activation_type());
        return count(!load_.on_cpu ? 4 : (input > weights ? input : weights) / 8);
    }
    constexpr void keep(keeps what, count rows, const value& out, const value* const* in, int n) {
        switch (what) {
            case keeps::nothing: return;
            case keeps::input: return save(*in[0]);
            case keeps::result: return save(out);
            case keeps::input_and_result: save(*in[0]), save(out); return;
            case keeps::operands: save(*in[0]), save(*in[1]); return;
            case keeps::second_input: return save(*in[1]);
            case keeps::other_operand:
                if (n > 1 && in[1]->requires_grad) save(*in[0]);
                if (n > 1 && in[0]->requires_grad) save(*in[1]);
                return;
            case keeps::dividend:
                if (n > 1) save(*in[1]);
                if (n > 1 && in[1]->requires_grad) save(*in[0]);
                return;
            case keeps::input_and_2_rows:
                save(*in[0]);
                save_besides(rows * count(2) * statistic_bytes(*in[0]));
                return;
        }
    }
    /// What an operation in place overwrites and backward needs is cloned first (torch VariableType, `original_self`).
    constexpr void keep_overwritten(keeps what, count rows, const value& out, const value* const* in, int n) {
        value clone = *in[0];
        clone.storage = storages_.next();
        clone.storage_elements = clone.elements;
        const value* const cloned[2] = {&clone, n > 1 ? in[1] : nullptr};
        keep(what, rows, out, cloned, n);
    }
    /// Elements, a complex one as two.
    [[nodiscard]] static constexpr count numbers_of(const value& v) {
        return v.type == dtype::complex64 ? count(v.elements) * count(2) : count(v.elements);
    }
    [[nodiscard]] constexpr bool goes_back() const noexcept { return grad_ && active_ && idle_ == 0 && off_loss_ == 0; }
    /// A tensor whose gradients meet: as many ADDs as elements arrive, but for the first of each.
    ///
    /// They meet across modules, so that only a whole model has this figure.
    constexpr void wants_gradient(const value& v, count times) {
        if (goes_back() && !selection_.selecting()) sums_.sole_gradients += numbers_of(v) * times;
    }
    constexpr void go_back(op kind, count work, count rows, const value& out, const value* const* in, int n) {
        const int torch_flops = price_of(kind).torch_flops;
        for (int i = 0; i < n && i < 2 && torch_flops != 0; ++i)
            if (in[i]->requires_grad) sums_.backward_torch_flops += work * count(torch_flops) * times_;
        if (selection_.selecting()) return;
        wants_gradient(out, times_);
        const backward_price& p = backward_of(kind);
        charge(p.per_row, rows * times_);
        for (int i = 0; i < n; ++i) {
            if (!in[i]->requires_grad) continue;
            const primitives<std::int8_t>& own = i == 0 ? p.first : p.second;
            if (i < 2) charge(own, work * times_);
            const count numbers = numbers_of(*in[i]) * times_;
            sums_.backward.mult += numbers * count(p.mult_per_element);
            if (p.gradient == arrives::as_input) sums_.backward.add += numbers;
            if (p.gradient == arrives::as_output) sums_.backward.add += numbers_of(out) * times_;
        }
    }
    constexpr void charge(const primitives<std::int8_t>& price, count work) {
        for (std::size_t i = 0; i < primitive_kinds; ++i) {
            const std::int8_t n = price.*primitive_members<std::int8_t>[i];
            // only sums have less of something than rows, and that is ADD
            detail::add_charge(sums_.backward.*primitive_members<count>[i], sums_.sole_gradients, n, work);
        }
    }

    count parameter_times_{1};
    storage_book storages_{};
    routed_share routed_{};
    std::int32_t last_parameter_ = value::no_storage;
    bool beside_ = false;  ///< a parameter that wants a gradient is read by the next operation beside its inputs
};

}  // namespace llmcost
