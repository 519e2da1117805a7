// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/memory/fused_loss.hpp>

#include <llmcost/base/inline.hpp>
#include <llmcost/trace/leaf_module_policy.hpp>
#include <llmcost/trace/recorder.hpp>
#include <llmcost/trace/tensor.hpp>

namespace llmcost {

LLMCOST_INLINE tensor head_policy::transform_linear_output(trace& t, const tensor& x, const tensor& weight,
                                                           bool is_transposed, const tensor* bias, const tensor& y) {
    const bool scores = t.is_not_executed() && !is_transposed && bias == nullptr && weight.dim(0) == vocab_size_;
    if (scores) {
        weight_ = weight;
        is_found_ = true;
    }
    return inner_policy_ != nullptr ? inner_policy_->transform_linear_output(t, x, weight, is_transposed, bias, y) : y;
}

}  // namespace llmcost
