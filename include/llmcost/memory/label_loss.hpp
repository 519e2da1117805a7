// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <llmcost/trace/trace.hpp>

namespace llmcost {

/// Cross-entropy of logits (..., classes) and one label per row: a scalar.
///
/// Source: transformers/loss/loss_utils.py, `ForCausalLMLoss` and similar.
struct label_loss {
    bool in_float = true;  ///< converts the logits to float32
    bool shifts = true;    ///< copies the labels, each to the previous token

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "CrossEntropyLoss"}; }
    constexpr tensor forward(trace& t, const tensor& scores) const {
        // Autocast on the CPU computes cross-entropy in float32 (ATen, autocast_mode.cpp). On a CUDA device,
        // `cross_entropy_loss` gives `log_softmax` the type of the logits, and only `nll_loss` converts to float32
        // (ATen, LossNLL.cpp).
        const bool converts = in_float || (t.load().autocast && !t.load().has_cuda_autocast());
        const tensor float_logits = converts ? t.to(scores, dtype::float32) : scores;
        const tensor rows = t.reshape(float_logits, {-1, float_logits.dim(-1)});
        const tensor x = t.log_softmax_of_type(rows);
        if (shifts) t.save_integers_for_backward(count(static_cast<std::uint64_t>(rows.dim(0))));
        return t.nll_loss(x);
    }
};

/// Load-balancing loss of the logits (tokens, experts) of all routers: a scalar.
///
/// For each router: ADD 2·experts, a softmax and its sum over tokens. The numbers of tokens per expert have no
/// gradient. Source: transformers/models/mixtral/modeling_mixtral.py, `load_balancing_loss_func`.
inline tensor compute_load_balancing_loss(trace& t, const load_balancing_sizes& balance,
                                          const std::vector<tensor>& router_logits) {
    const shape per_expert{balance.num_experts};
    tensor tokens_per_expert = t.full(per_expert), probability_sum = trace::buffer(per_expert);
    for (const tensor& logits : router_logits) {
        const tensor probabilities = t.softmax(logits);
        (void)t.topk(probabilities, balance.num_experts_per_tok);
        tokens_per_expert = t.add_scalar(tokens_per_expert);
        probability_sum = t.add(probability_sum, t.sum(t.to(probabilities, dtype::float32), 0));
    }
    const tensor mean_tokens = t.div_scalar(tokens_per_expert), mean_probabilities = t.div_scalar(probability_sum);
    const tensor product = t.mul(mean_tokens, mean_probabilities.unsqueeze(0));
    return t.mul_scalar(t.sum(product.view({balance.num_experts}), 0));
}

}  // namespace llmcost
