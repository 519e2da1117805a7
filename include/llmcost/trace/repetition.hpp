// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/trace/layer_plan.hpp>
#include <llmcost/trace/recorder.hpp>

namespace llmcost {

/// A loop over modules, or calls of one, each fed by the one before; its body is walked once for all that are alike:
///
///     for (repetition layer = t.repeat(n, x); layer.next();) x = t.call({"layers", layer.index()}, block, x);
///
/// `x` is what each hands to the next. Where a listener, or a path that names a layer, wants every module by itself, the
/// body is walked for each.
class repetition {
public:
    repetition(const repetition&) = delete;
    repetition& operator=(const repetition&) = delete;

    /// Ends one walk of the body and opens the next; false where there is none.
    constexpr bool next() { return listed_ ? next_listed() : next_folded(); }
    /// The number of the module, or of the first of those that it stands for.
    [[nodiscard]] constexpr std::int64_t index() const noexcept { return first_ + index_; }
    /// Its kind in the plan.
    [[nodiscard]] constexpr layer_kind kind() const noexcept {
        return plan_ == nullptr ? layer_kind{} : plan_->kinds[kind_];
    }

private:
    friend class recorder;
    enum class of : std::uint8_t { modules, calls };  // each module has parameters; calls share one's

    constexpr repetition(recorder& r, std::int64_t n, value& x, of what, bool listed, std::int64_t first = 0,
                         const layer_plan* plan = nullptr)
        : r_(r), x_(x), plan_(plan), first_(first), n_(n), parameters_(r.parameter_times_), what_(what), listed_(listed) {
        if (listed && n > longest_list) report_overflow();
        if (plan == nullptr || !plan->mixed()) {
            how_many_[0] = n > 0 ? n : 0;
        } else if (!listed) {
            groups_ = plan->count;
            for (std::int64_t i = n - 1; i >= 0; --i) ++how_many_[plan->number(i)], first_of_[plan->number(i)] = i;
        }
    }

    /// More modules of a kind are not walked one by one: time and memory would have no bound.
    static constexpr std::int64_t longest_list = 4096;

    // ---- one by one: what a walk made or was handed is forgotten after it, but for what it hands on

    constexpr bool next_listed() {
        storage_book& book = r_.storages_;
        if (open_) {
            const bool saved = book.is_saved(x_.storage);
            book.forget_from(mark_);
            if (x_.storage >= mark_) {
                const std::int32_t before = x_.storage;
                book.rename(x_, saved);
                if (r_.listener_ != nullptr) r_.listener_->renamed(r_, before, x_.storage);
            }
            if (what_ == of::calls) r_.parameter_times_ = count{};
            ++index_;
        } else {
            mark_ = book.mark();
        }
        open_ = index_ < n_;
        if (open_ && plan_ != nullptr) kind_ = plan_->number(index_);
        if (!open_) r_.parameter_times_ = parameters_;
        return open_;
    }

    // ---- folded: one walk stands for many; its input is each predecessor's output, its output the last one's

    constexpr bool next_folded() {
        if (open_) close();
        if (left_ == 0) {
            while (group_ < groups_ && how_many_[group_] == 0) ++group_;
            if (group_ == groups_) return open_ = false;
            kind_ = static_cast<std::uint8_t>(group_);
            index_ = first_of_[group_];
            left_ = together_ = how_many_[group_++];
        }
        open();
        return open_ = true;
    }
    constexpr void open() {
        storage_book& book = r_.storages_;
        entry_ = x_;
        times_ = r_.times_;
        saved_before_ = book.is_saved(x_.storage);
        mark_ = book.mark();
        if (r_.training()) sums_ = r_.sums_, book.copy_saved(saved_);
        r_.times_ *= count(together_);
        r_.parameter_times_ = parameters_ * count(what_ == of::modules ? together_ : walked_ ? 0 : 1);
        book.open_level(r_.times_);
        if (x_.is_stored()) x_.storage = book.next();
        input_ = x_.storage;
    }
    constexpr void close() {
        storage_book& book = r_.storages_;
        const bool input_saved = book.is_saved(input_), output_saved = book.is_saved(x_.storage);
        if (r_.active_ && input_saved) {
            if (saved_before_) r_.sums_.saved_bytes -= recorder::bytes_of(entry_) * times_;
            book.set_saved(entry_.storage, true);  // as the first one's input, whoever reads it behind the loop
            if (output_saved && x_.storage != input_)
                r_.sums_.saved_bytes -= recorder::bytes_of(x_) * times_ * count(together_ - 1);
        }
        r_.times_ = times_;
        r_.parameter_times_ = parameters_;
        book.close_level();
        book.forget_from(mark_);
        if (together_ > 1 && x_.type != entry_.type) {  // the first one gets another element type than it hands on
            r_.sums_ = sums_;
            x_ = entry_;
            if (r_.training()) book.put_back(saved_);
            together_ = 1;
            return;
        }
        if (x_.is_stored()) book.rename(x_, output_saved);
        if (x_.is_stored() && !output_saved && r_.listener_ != nullptr) r_.listener_->came_last(r_, x_);
        walked_ = true;
        left_ -= together_;
        together_ = left_;
    }

    recorder& r_;
    value& x_;
    const layer_plan* plan_;
    std::int64_t first_, n_, index_ = 0, left_ = 0, together_ = 0;
    std::int64_t how_many_[layer_plan::most_kinds]{}, first_of_[layer_plan::most_kinds]{};
    value entry_{};
    ledger sums_{};
    storage_book::saved_set saved_;  ///< of no meaning where nothing is trained
    count parameters_, times_{1};
    std::int32_t mark_ = 0, input_ = value::no_storage;
    int group_ = 0, groups_ = 1;
    of what_;
    std::uint8_t kind_ = 0;
    bool listed_, open_ = false, saved_before_ = false, walked_ = false;
};

constexpr repetition recorder::repeat(std::int64_t n, value& x, std::int64_t first) {
    return {*this, n, x, repetition::of::modules, lists_layers(), first};
}
constexpr repetition recorder::repeat(std::int64_t n, const layer_plan& plan, value& x) {
    return {*this, n, x, repetition::of::modules, lists_layers(), 0, &plan};
}
constexpr repetition recorder::again(std::int64_t n, value& x) {
    return {*this, n, x, repetition::of::calls, listener_ != nullptr};
}
constexpr repetition recorder::steps(std::int64_t n, value& x) { return {*this, n, x, repetition::of::calls, false}; }

}  // namespace llmcost
