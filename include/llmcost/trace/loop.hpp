// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/trace/layer_plan.hpp>
#include <llmcost/trace/recorder.hpp>

namespace llmcost {

class trace;

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
    friend class trace;
    // modules have parameters of their own; calls share those of one module
    enum class loop_body : std::uint8_t { modules, calls };

    constexpr loop(recorder& r, std::int64_t n, tensor& x, loop_body body, bool listed, std::int64_t first = 0,
                   const layer_plan* plan = nullptr)
        : recorder_(r),
          hidden_states_(x),
          plan_(plan),
          first_(first),
          num_iterations_(n),
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
        storage_table& book = recorder_.storage_table_;
        if (is_open_) {
            const bool saved = book.is_saved(hidden_states_.storage_id);
            book.release_from(storage_mark_);
            if (hidden_states_.storage_id >= storage_mark_) {
                const std::int32_t old_storage_id = hidden_states_.storage_id;
                book.move_to_new_id(hidden_states_, saved);
                if (recorder_.listener_ != nullptr)
                    recorder_.listener_->on_storage_renamed(recorder_, old_storage_id, hidden_states_.storage_id);
            }
            if (body_ == loop_body::calls) recorder_.parameter_multiplier_ = count{};
            ++index_;
        } else {
            storage_mark_ = book.mark();
        }
        is_open_ = index_ < num_iterations_;
        if (is_open_ && plan_ != nullptr) kind_ = plan_->spec_index(index_);
        if (!is_open_) recorder_.parameter_multiplier_ = parameters_;
        return is_open_;
    }

    // ---- folded: one trace represents all; the input is each predecessor's output, the output is the last one's

    constexpr bool next_folded() {
        if (is_open_) close();
        if (num_remaining_ == 0) {
            while (group_ < groups_ && group_sizes_[group_] == 0) ++group_;
            if (group_ == groups_) return is_open_ = false;
            kind_ = static_cast<std::uint8_t>(group_);
            index_ = group_first_index_[group_];
            num_remaining_ = num_folded_ = group_sizes_[group_++];
        }
        open();
        return is_open_ = true;
    }
    constexpr void open() {
        storage_table& book = recorder_.storage_table_;
        first_input_ = hidden_states_;
        times_ = recorder_.multiplier_;
        is_input_saved_ = book.is_saved(hidden_states_.storage_id);
        storage_mark_ = book.mark();
        if (recorder_.is_training()) {
            sums_ = recorder_.sums_;
            book.save_state(saved_);
        }
        recorder_.multiplier_ *= count(num_folded_);
        recorder_.parameter_multiplier_ = parameters_ * count(body_ == loop_body::modules ? num_folded_
                                                              : has_traced_once_          ? 0
                                                                                          : 1);
        book.push_multiplier(recorder_.multiplier_);
        if (hidden_states_.is_stored()) hidden_states_.storage_id = book.add();
        input_ = hidden_states_.storage_id;
    }
    constexpr void close() {
        storage_table& book = recorder_.storage_table_;
        const bool input_saved = book.is_saved(input_), output_saved = book.is_saved(hidden_states_.storage_id);
        if (recorder_.is_in_scope_ && input_saved) {
            if (is_input_saved_) recorder_.sums_.saved_bytes -= recorder::bytes_of(first_input_) * times_;
            book.set_saved(first_input_.storage_id,
                           true);  // input of the first iteration, which the rest of the model may read
            if (output_saved && hidden_states_.storage_id != input_)
                recorder_.sums_.saved_bytes -= recorder::bytes_of(hidden_states_) * times_ * count(num_folded_ - 1);
        }
        recorder_.multiplier_ = times_;
        recorder_.parameter_multiplier_ = parameters_;
        book.pop_multiplier();
        book.release_from(storage_mark_);
        if (num_folded_ > 1 &&
            hidden_states_.type != first_input_.type) {  // the first iteration has another element type than the others
            recorder_.sums_ = sums_;
            hidden_states_ = first_input_;
            if (recorder_.is_training()) book.restore_state(saved_);
            num_folded_ = 1;
            return;
        }
        if (hidden_states_.is_stored()) book.move_to_new_id(hidden_states_, output_saved);
        if (hidden_states_.is_stored() && !output_saved && recorder_.listener_ != nullptr)
            recorder_.listener_->on_loop_output(recorder_, hidden_states_);
        has_traced_once_ = true;
        num_remaining_ -= num_folded_;
        num_folded_ = num_remaining_;
    }

    recorder& recorder_;
    tensor& hidden_states_;
    const layer_plan* plan_;
    std::int64_t first_, num_iterations_, index_ = 0, num_remaining_ = 0, num_folded_ = 0;
    std::int64_t group_sizes_[layer_plan::max_layer_specs]{}, group_first_index_[layer_plan::max_layer_specs]{};
    tensor first_input_{};
    trace_totals sums_{};
    storage_table::saved_state saved_;  ///< used in training only
    count parameters_, times_{1};
    std::int32_t storage_mark_ = 0, input_ = tensor::no_storage_id;
    int group_ = 0, groups_ = 1;
    loop_body body_;
    std::uint8_t kind_ = 0;
    bool is_unrolled_, is_open_ = false, is_input_saved_ = false, has_traced_once_ = false;
};

}  // namespace llmcost
