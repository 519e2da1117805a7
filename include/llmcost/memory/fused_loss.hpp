// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/trace/trace.hpp>

namespace llmcost {

/// Finds the weight of a language model's head, which is declared but not called, and asks another policy for the rest.
class head_policy final : public leaf_policy {
public:
    head_policy(std::int64_t words, leaf_policy* other) : other_(other), words_(words) {}

    void begin() override {
        if (other_ != nullptr) other_->begin();
    }
    [[nodiscard]] workload works_on(const workload& load) override {
        return other_ != nullptr ? other_->works_on(load) : load;
    }
    [[nodiscard]] value weighs(trace& t, literal name, const value& own, bool tied) override {
        return other_ != nullptr ? other_->weighs(t, name, own, tied) : own;
    }
    [[nodiscard]] value convolved(trace& t, const value& x, const value& weight, const convolution_steps& how,
                                  const value& y) override {
        return other_ != nullptr ? other_->convolved(t, x, weight, how, y) : y;
    }
    [[nodiscard]] bool remembers(trace& t, const extents& sizes, value& past) override {
        return other_ != nullptr && other_->remembers(t, sizes, past);
    }
    void enter(const module_info& m) override {
        if (other_ != nullptr) other_->enter(m);
    }
    void leave(const module_info& m) override {
        if (other_ != nullptr) other_->leave(m);
    }
    [[nodiscard]] bool trains(literal name) const override { return other_ == nullptr || other_->trains(name); }
    [[nodiscard]] bool copies() const override { return other_ != nullptr && other_->copies(); }
    [[nodiscard]] value reads(trace& t, const value& x) override { return other_ != nullptr ? other_->reads(t, x) : x; }
    [[nodiscard]] value gives(trace& t, const value& x, const value& weight, bool turned, const value* bias,
                              const value& y) override {
        const bool scores = t.idle() && !turned && bias == nullptr && weight.dim(0) == words_;
        if (scores) weight_ = weight, found_ = true;
        return other_ != nullptr ? other_->gives(t, x, weight, turned, bias, y) : y;
    }
    [[nodiscard]] extents looks_up(std::int64_t rows, const extents& ids) override {
        return other_ != nullptr ? other_->looks_up(rows, ids) : ids;
    }
    [[nodiscard]] value looked_up(trace& t, const value& table, bool scaled, const value& found) override {
        return other_ != nullptr ? other_->looked_up(t, table, scaled, found) : found;
    }
    /// The weight, (words, width); none where the head has a bias or is something else.
    [[nodiscard]] const value* weight() const noexcept { return found_ ? &weight_ : nullptr; }

private:
    leaf_policy* other_;
    std::int64_t words_;
    value weight_{};
    bool found_ = false;
};

/// Tokens whose scores exist at a time: about as many numbers as all hidden states have.
[[nodiscard]] constexpr std::int64_t tokens_of_chunk(std::int64_t tokens, std::int64_t width, std::int64_t words) noexcept {
    const std::int64_t times = (words + width - 1) / width, least = (tokens + times - 1) / times;
    std::int64_t chunk = 1;
    while (chunk < least) chunk *= 2;
    return chunk < tokens ? chunk : tokens;
}

/// A head and cross-entropy in one: scores of a chunk of tokens at a time, in one buffer; gradients are made at once, and
/// are all that is kept. Hidden states (batch, tokens, width), the head's weight (words, width).
///
/// Source: liger_kernel 0.8.5, ops/fused_linear_cross_entropy.py, `LigerFusedLinearCrossEntropyFunction` on CUDA.
struct fused_label_loss {
    const value& weight;

    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return {"", "LigerFusedLinearCrossEntropy"}; }
    constexpr value describe(trace& t, const value& states) const {
        const value x = t.reshape(states, {-1, states.dim(-1)});
        const std::int64_t tokens = x.dim(0), width = x.dim(1), words = weight.dim(0);
        const count products = count(weight.elements) * count(static_cast<std::uint64_t>(tokens));
        value loss, of_states, of_weight;
        {
            const trace::no_grad_guard inside{t};
            of_states = t.zeros_like(x);
            of_weight = weight.requires_grad ? t.constant({words, width}, weight.type) : value{};
            const value each = t.constant({tokens});
            value scores = dense({tokens_of_chunk(tokens, width, words), words}, x.type);
            const value* const read[2] = {&x, &weight};
            t.record(op::matmul, products, {}, scores, read, 2);
            const value before = of_states;
            const value* const into_states[2] = {&before, &scores};
            t.record(op::matmul, products, {}, of_states, into_states, 2, true);
            if (weight.requires_grad) add_products(t, products, scores, of_states, of_weight);
            loss = t.sum(each, 0);
        }
        of_states.requires_grad = of_weight.requires_grad = true;
        if (x.requires_grad) t.save_for_backward(of_states);
        if (weight.requires_grad) t.save_for_backward(of_weight);
        t.saves_gradients();
        const value* const in[2] = {&x, &weight};
        t.goes_through(loss, in, 2);
        return loss;
    }

private:
    /// Adds the products of a chunk's gradients and states; of 32 bits beside, then together.
    static constexpr void add_products(trace& t, count products, const value& scores, const value& of_states,
                                       value& of_weight) {
        value beside = of_weight;
        const value before = of_weight;
        const value* const in[3] = {&before, &scores, &of_states};
        if (of_weight.type != dtype::float32) return t.record(op::matmul_bias, products, {}, of_weight, in, 3, true);
        const value* const read[3] = {&scores, &of_states, &before};
        t.record(op::matmul, products, {}, beside, read, 3);
        t.in_place(op::add, of_weight, beside);
    }
};

}  // namespace llmcost
