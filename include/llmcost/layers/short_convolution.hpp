// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/layers/causal_convolution.hpp>
#include <llmcost/layers/linear.hpp>

namespace llmcost {

/// A gated short convolution: out(C · conv(B · x)) with B, C, x from one projection.
///
/// Source: transformers/models/lfm2/modeling_lfm2.py, `Lfm2ShortConv`.
struct short_convolution {
    std::int64_t width;
    std::int64_t kernel;
    bool bias;
    literal prefix;

    static constexpr role what = role::mixer;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {prefix, "ShortConv"}; }
    constexpr value describe(trace& t, const value& x) const {
        const convolution_weights weights = declare_convolution(t, "conv", width, kernel, bias);
        const value all = t.call("in_proj", linear{width, 3 * width, bias}, x).transpose(-1, -2);
        const value part = all.slice(-2, width);
        const value mixed = causal_convolution(t, t.mul(part, part), weights, {});
        const value gated = t.mul(part, mixed);
        return t.call("out_proj", linear{width, width, bias}, t.contiguous(gated.transpose(-1, -2)));
    }
};

}  // namespace llmcost
