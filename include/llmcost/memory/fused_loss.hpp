// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/base/count.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/trace/leaf_module_policy.hpp>
#include <llmcost/trace/ops.hpp>
#include <llmcost/trace/recorder.hpp>
#include <llmcost/trace/scope.hpp>
#include <llmcost/trace/tensor.hpp>
#include <llmcost/trace/trace.hpp>

namespace llmcost {

/// Finds the weight of a language model head that is declared but not called. Forwards all calls to another policy.
class head_policy final : public leaf_module_policy {
public:
    head_policy(std::int64_t vocab_size, leaf_module_policy* inner_policy)
        : inner_policy_(inner_policy), vocab_size_(vocab_size) {}

    void on_trace_begin() override {
        if (inner_policy_ != nullptr) inner_policy_->on_trace_begin();
    }
    [[nodiscard]] workload adapt_workload(const workload& load) override {
        return inner_policy_ != nullptr ? inner_policy_->adapt_workload(load) : load;
    }
    [[nodiscard]] tensor transform_parameter(trace& t, literal name, const tensor& parameter, bool tied) override {
        return inner_policy_ != nullptr ? inner_policy_->transform_parameter(t, name, parameter, tied) : parameter;
    }
    [[nodiscard]] tensor transform_convolution_output(trace& t, const tensor& x, const tensor& weight,
                                                      const convolution_options& options, const tensor& y) override {
        return inner_policy_ != nullptr ? inner_policy_->transform_convolution_output(t, x, weight, options, y) : y;
    }
    [[nodiscard]] bool provide_past_key_values(trace& t, const shape& sizes, tensor& past) override {
        return inner_policy_ != nullptr && inner_policy_->provide_past_key_values(t, sizes, past);
    }
    void enter(const module_info& m) override {
        if (inner_policy_ != nullptr) inner_policy_->enter(m);
    }
    void leave(const module_info& m) override {
        if (inner_policy_ != nullptr) inner_policy_->leave(m);
    }
    [[nodiscard]] bool is_trainable(literal name) const override {
        return inner_policy_ == nullptr || inner_policy_->is_trainable(name);
    }
    [[nodiscard]] bool trains_copy() const override { return inner_policy_ != nullptr && inner_policy_->trains_copy(); }
    [[nodiscard]] tensor transform_linear_input(trace& t, const tensor& x) override {
        return inner_policy_ != nullptr ? inner_policy_->transform_linear_input(t, x) : x;
    }
    [[nodiscard]] tensor transform_linear_output(trace& t, const tensor& x, const tensor& weight, bool is_transposed,
                                                 const tensor* bias, const tensor& y) override;
    [[nodiscard]] shape transform_embedding_ids(std::int64_t rows, const shape& ids) override {
        return inner_policy_ != nullptr ? inner_policy_->transform_embedding_ids(rows, ids) : ids;
    }
    [[nodiscard]] tensor transform_embedding_output(trace& t, const tensor& table, bool scaled,
                                                    const tensor& found) override {
        return inner_policy_ != nullptr ? inner_policy_->transform_embedding_output(t, table, scaled, found) : found;
    }
    /// The weight: (vocabulary, width). Returns null if the head has a bias or is not a linear layer.
    [[nodiscard]] const tensor* weight() const noexcept { return is_found_ ? &weight_ : nullptr; }

private:
    leaf_module_policy* inner_policy_;
    std::int64_t vocab_size_;
    tensor weight_{};
    bool is_found_ = false;
};

/// Number of tokens per chunk, chosen so that a chunk's logits have about as many elements as all hidden states.
[[nodiscard]] constexpr std::int64_t tokens_of_chunk(std::int64_t tokens, std::int64_t width,
                                                     std::int64_t vocab_size) noexcept {
    const std::int64_t times = (vocab_size + width - 1) / width, minimum = (tokens + times - 1) / times;
    std::int64_t chunk = 1;
    while (chunk < minimum) chunk *= 2;
    return chunk < tokens ? chunk : tokens;
}

/// Language model head and cross-entropy in one: computes the logits of one chunk of tokens at a time, in one buffer.
///
/// Gradients are computed in forward, and only they are saved.
/// Shapes: hidden states (batch, tokens, width), weight of the head (vocabulary, width).
///
/// Source: liger_kernel 0.8.5, ops/fused_linear_cross_entropy.py, `LigerFusedLinearCrossEntropyFunction` on CUDA.
struct fused_label_loss {
    const tensor& weight;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "LigerFusedLinearCrossEntropy"}; }
    constexpr tensor forward(trace& t, const tensor& states) const {
        const tensor x = t.reshape(states, {-1, states.dim(-1)});
        const std::int64_t tokens = x.dim(0), width = x.dim(1), vocab_size = weight.dim(0);
        const count products = count(weight.numel) * count(static_cast<std::uint64_t>(tokens));
        tensor loss, state_gradients, weight_gradient;
        {
            const trace::no_grad_guard no_grad{t};
            state_gradients = t.zeros_like(x);
            weight_gradient = weight.requires_grad ? t.full({vocab_size, width}, weight.type) : tensor{};
            const tensor operand = t.full({tokens});
            tensor scores = empty_tensor({tokens_of_chunk(tokens, width, vocab_size), vocab_size}, x.type);
            const tensor* const read[2] = {&x, &weight};
            t.record_op(op::matmul, products, {}, scores, read, 2);
            const tensor previous = state_gradients;
            const tensor* const into_states[2] = {&previous, &scores};
            t.record_op(op::matmul, products, {}, state_gradients, into_states, 2, true);
            if (weight.requires_grad) add_products(t, products, scores, state_gradients, weight_gradient);
            loss = t.sum(operand, 0);
        }
        state_gradients.requires_grad = weight_gradient.requires_grad = true;
        if (x.requires_grad) t.save_for_backward(state_gradients);
        if (weight.requires_grad) t.save_for_backward(weight_gradient);
        t.save_gradients();
        const tensor* const in[2] = {&x, &weight};
        t.record_autograd_function(loss, in, 2);
        return loss;
    }

private:
    /// Adds the products of a chunk's gradients and hidden states; float32 products need a separate tensor.
    static constexpr void add_products(trace& t, count products, const tensor& scores, const tensor& state_gradients,
                                       tensor& weight_gradient) {
        tensor product = weight_gradient;
        const tensor previous = weight_gradient;
        const tensor* const in[3] = {&previous, &scores, &state_gradients};
        if (weight_gradient.type != dtype::float32)
            return t.record_op(op::matmul_bias, products, {}, weight_gradient, in, 3, true);
        const tensor* const read[3] = {&scores, &state_gradients, &previous};
        t.record_op(op::matmul, products, {}, product, read, 3);
        t.add_(weight_gradient, product);
    }
};

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/memory/impl/fused_loss.ipp>  // IWYU pragma: export
#endif
