// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/trace/layer_plan.hpp>
#include <llmcost/trace/recorder.hpp>

namespace llmcost {

/// A loop over modules, or over calls of one module, where each reads the output of the previous one:
///
///     for (loop layer = t.loop_modules(n, x); layer.next();) x = t.call({"layers", layer.index()}, block, x);
///
/// `x` is the tensor that each iteration passes to the next. Equal iterations are traced once. With a listener, or with
/// a scope query that selects a layer, each iteration is traced.
class loop {
public:
    loop(const loop&) = delete;
    loop& operator=(const loop&) = delete;

    /// Ends a trace of the body and begins the next one. Returns false after the last.
    constexpr bool next() { return is_unrolled_ ? next_unrolled() : next_folded(); }
    /// Index of the module, or of the first one in the traced group.
    [[nodiscard]] constexpr std::int64_t index() const noexcept { return first_ + index_; }
    /// Layer spec of the module in the plan.
    [[nodiscard]] constexpr layer_spec layer() const noexcept {
        return plan_ == nullptr ? layer_spec{} : plan_->specs[kind_];
    }

private:
    friend class recorder;
    // modules have parameters of their own; calls share those of one module
    enum class loop_body : std::uint8_t { modules, calls };

    constexpr loop(recorder& r, std::int64_t n, tensor& x, loop_body body, bool listed, std::int64_t first = 0,
                   const layer_plan* plan = nullptr)
        : r_(r),
          x_(x),
          plan_(plan),
          first_(first),
          n_(n),
          parameters_(r.parameter_multiplier_),
          body_(body),
          is_unrolled_(listed) {
        if (listed && n > max_unrolled) throw_overflow_error();
        if (plan == nullptr || !plan->is_heterogeneous()) {
            group_sizes_[0] = n > 0 ? n : 0;
        } else if (!listed) {
            groups_ = plan->num_specs;
            for (std::int64_t i = n - 1; i >= 0; --i) {
                ++group_sizes_[plan->spec_index(i)];
                group_first_index_[plan->spec_index(i)] = i;
            }
        }
    }

    /// Maximum number of modules that are traced one by one, which bounds time and memory.
    static constexpr std::int64_t max_unrolled = 4096;

    // ---- one by one: storages of an iteration are released after it, except the output

    constexpr bool next_unrolled() {
        storage_table& book = r_.storage_table_;
        if (open_) {
            const bool saved = book.is_saved(x_.storage_id);
            book.release_from(mark_);
            if (x_.storage_id >= mark_) {
                const std::int32_t old_storage_id = x_.storage_id;
                book.move_to_new_id(x_, saved);
                if (r_.listener_ != nullptr) r_.listener_->on_storage_renamed(r_, old_storage_id, x_.storage_id);
            }
            if (body_ == loop_body::calls) r_.parameter_multiplier_ = count{};
            ++index_;
        } else {
            mark_ = book.mark();
        }
        open_ = index_ < n_;
        if (open_ && plan_ != nullptr) kind_ = plan_->spec_index(index_);
        if (!open_) r_.parameter_multiplier_ = parameters_;
        return open_;
    }

    // ---- folded: one trace represents all; the input is each predecessor's output, the output is the last one's

    constexpr bool next_folded() {
        if (open_) close();
        if (num_remaining_ == 0) {
            while (group_ < groups_ && group_sizes_[group_] == 0) ++group_;
            if (group_ == groups_) return open_ = false;
            kind_ = static_cast<std::uint8_t>(group_);
            index_ = group_first_index_[group_];
            num_remaining_ = num_folded_ = group_sizes_[group_++];
        }
        open();
        return open_ = true;
    }
    constexpr void open() {
        storage_table& book = r_.storage_table_;
        first_input_ = x_;
        times_ = r_.multiplier_;
        saved_before_ = book.is_saved(x_.storage_id);
        mark_ = book.mark();
        if (r_.is_training()) {
            sums_ = r_.sums_;
            book.save_state(saved_);
        }
        r_.multiplier_ *= count(num_folded_);
        r_.parameter_multiplier_ = parameters_ * count(body_ == loop_body::modules ? num_folded_
                                                       : has_traced_once_          ? 0
                                                                                   : 1);
        book.push_multiplier(r_.multiplier_);
        if (x_.is_stored()) x_.storage_id = book.add();
        input_ = x_.storage_id;
    }
    constexpr void close() {
        storage_table& book = r_.storage_table_;
        const bool input_saved = book.is_saved(input_), output_saved = book.is_saved(x_.storage_id);
        if (r_.is_in_scope_ && input_saved) {
            if (saved_before_) r_.sums_.saved_bytes -= recorder::bytes_of(first_input_) * times_;
            book.set_saved(first_input_.storage_id,
                           true);  // input of the first iteration, which the rest of the model may read
            if (output_saved && x_.storage_id != input_)
                r_.sums_.saved_bytes -= recorder::bytes_of(x_) * times_ * count(num_folded_ - 1);
        }
        r_.multiplier_ = times_;
        r_.parameter_multiplier_ = parameters_;
        book.pop_multiplier();
        book.release_from(mark_);
        if (num_folded_ > 1 &&
            x_.type != first_input_.type) {  // the first iteration has another element type than the others
            r_.sums_ = sums_;
            x_ = first_input_;
            if (r_.is_training()) book.restore_state(saved_);
            num_folded_ = 1;
            return;
        }
        if (x_.is_stored()) book.move_to_new_id(x_, output_saved);
        if (x_.is_stored() && !output_saved && r_.listener_ != nullptr) r_.listener_->on_loop_output(r_, x_);
        has_traced_once_ = true;
        num_remaining_ -= num_folded_;
        num_folded_ = num_remaining_;
    }

    recorder& r_;
    tensor& x_;
    const layer_plan* plan_;
    std::int64_t first_, n_, index_ = 0, num_remaining_ = 0, num_folded_ = 0;
    std::int64_t group_sizes_[layer_plan::max_layer_specs]{}, group_first_index_[layer_plan::max_layer_specs]{};
    tensor first_input_{};
    trace_totals sums_{};
    storage_table::saved_state saved_;  ///< used in training only
    count parameters_, times_{1};
    std::int32_t mark_ = 0, input_ = tensor::no_storage_id;
    int group_ = 0, groups_ = 1;
    loop_body body_;
    std::uint8_t kind_ = 0;
    bool is_unrolled_, open_ = false, saved_before_ = false, has_traced_once_ = false;
};

constexpr loop recorder::loop_modules(std::int64_t n, tensor& x, std::int64_t first) {
    return {*this, n, x, loop::loop_body::modules, traces_every_layer(), first};
}
constexpr loop recorder::loop_modules(std::int64_t n, const layer_plan& plan, tensor& x) {
    return {*this, n, x, loop::loop_body::modules, traces_every_layer(), 0, &plan};
}
constexpr loop recorder::loop_calls(std::int64_t n, tensor& x) {
    return {*this, n, x, loop::loop_body::calls, listener_ != nullptr};
}
constexpr loop recorder::loop_time_steps(std::int64_t n, tensor& x) {
    return {*this, n, x, loop::loop_body::calls, false};
}

}  // namespace llmcost
