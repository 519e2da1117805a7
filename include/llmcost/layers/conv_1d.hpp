// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/trace/trace.hpp>

namespace llmcost {

/// The linear layer of GPT and GPT-2, with a weight (in, out) and a bias: x (…, in) -> (…, out).
///
/// Cost with n inputs: MULT n·in·out, ADD n·in·out.
/// Source: transformers/pytorch_utils.py, `Conv1D`.
struct conv_1d {
    std::int64_t in;
    std::int64_t out;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "Conv1D"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor weight = t.param("weight", {in, out});
        const tensor bias = t.param("bias", {out});
        leaf_module_policy* const policy = t.policy();
        shape to;
        for (to.rank = 0; to.rank + 1 < x.rank; ++to.rank) to.size[to.rank] = x.size[to.rank];
        to.size[to.rank++] = out;
        if (policy == nullptr) return t.addmm(bias, x.view({-1, in}), weight).view(to);
        const tensor y = t.addmm(bias, policy->transform_linear_input(t, x).view({-1, in}), weight).view(to);
        return policy->transform_linear_output(t, x, weight, true, &bias, y);
    }
};

}  // namespace llmcost
