// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/layers/causal_convolution.hpp>
#include <llmcost/layers/linear.hpp>

namespace llmcost {

/// Gated short convolution: x (batch, sequence, width) -> (batch, sequence, width).
///
///     out_proj(C · conv(B · X)), with B, C, X = in_proj(x)
///
/// Source: transformers/models/lfm2/modeling_lfm2.py, `Lfm2ShortConv`.
struct short_convolution {
    std::int64_t width;
    std::int64_t kernel;
    bool bias;
    literal prefix;

    static constexpr role module_role = role::mixer;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {prefix, "ShortConv"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const convolution_weights weights = declare_conv_weights(t, "conv", width, kernel, bias);
        const tensor all = t.call("in_proj", linear{width, 3 * width, bias}, x).transpose(-1, -2);
        const tensor part = all.slice(-2, width);
        const tensor mixed = causal_convolution(t, t.mul(part, part), weights, {});
        const tensor gated = t.mul(part, mixed);
        return t.call("out_proj", linear{width, width, bias}, t.contiguous(gated.transpose(-1, -2)));
    }
};

}  // namespace llmcost
