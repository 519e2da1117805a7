// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/trace/trace.hpp>

namespace llmcost {

/// The first GPTs' linear layer, its weight stored (in, out) and never without a bias: x (…, in) -> (…, out).
///
/// MULT rows·in·out, ADD the same. Source: transformers/pytorch_utils.py, `Conv1D`.
struct conv_1d {
    std::int64_t in;
    std::int64_t out;

    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return {"", "Conv1D"}; }
    constexpr value describe(trace& t, const value& x) const {
        const value weight = t.param("weight", {in, out});
        const value bias = t.param("bias", {out});
        leaf_policy* const policy = t.policy();
        extents to;
        for (to.rank = 0; to.rank + 1 < x.rank; ++to.rank) to.size[to.rank] = x.size[to.rank];
        to.size[to.rank++] = out;
        if (policy == nullptr) return t.addmm(bias, x.view({-1, in}), weight).view(to);
        const value y = t.addmm(bias, policy->reads(t, x).view({-1, in}), weight).view(to);
        return policy->gives(t, x, weight, true, &bias, y);
    }
};

}  // namespace llmcost
