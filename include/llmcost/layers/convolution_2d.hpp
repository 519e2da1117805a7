// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/trace/trace.hpp>

namespace llmcost {

/// `nn.Conv2d` with square kernels: x (batch, in, height, width) -> (batch, out, height′, width′).
struct convolution_2d {
    std::int64_t in;
    std::int64_t out;
    std::int64_t kernel;
    std::int64_t stride = 1;
    std::int64_t padding = 0;
    bool bias = true;
    std::int64_t groups = 1;

    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return {"", "Conv2d"}; }
    constexpr value describe(trace& t, const value& x) const {
        const value weight = t.param("weight", {out, in / groups, kernel, kernel});
        if (bias) (void)t.param("bias", {out});
        return t.convolution(x, weight, bias, groups, stride, padding);
    }
};

/// (batch, channels, rows, columns) -> (batch, rows · columns, channels), a view.
constexpr value as_tokens(const value& x) { return x.view({x.dim(0), x.dim(1), x.dim(2) * x.dim(3)}).transpose(1, 2); }

}  // namespace llmcost
