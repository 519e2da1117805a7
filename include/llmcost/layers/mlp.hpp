// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/layers/activation.hpp>
#include <llmcost/layers/linear.hpp>

namespace llmcost {

/// How a feed-forward block is wired.
enum class mlp_kind : std::uint8_t {
    gated,        ///< down(act(gate(x)) · up(x))
    fused_gated,  ///< gate and up in one projection
    plain         ///< down(act(up(x)))
};

/// Names of a feed-forward block's children in the reference; no name of an activation: a function.
struct mlp_names {
    literal gate = "gate_proj";
    literal up = "up_proj";
    literal down = "down_proj";
    literal act = "act_fn";
};

/// A feed-forward block: x (…, width) -> (…, width) through `inner` features.
template <mlp_kind Kind>
struct mlp {
    std::int64_t width;
    std::int64_t inner;
    activation act;
    class_name named;
    bool bias = false;
    mlp_names names{};

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr value describe(trace& t, const value& x) const {
        if constexpr (Kind == mlp_kind::gated) {
            const value in = t.call(names.gate, linear{width, inner, bias}, x);
            const value gate = is_empty(names.act) ? activate(t, act, in) : t.call(names.act, activation_module{act}, in);
            const value up = t.call(names.up, linear{width, inner, bias}, x);
            return t.call(names.down, linear{inner, width, bias}, t.mul(gate, up));
        } else if constexpr (Kind == mlp_kind::fused_gated) {
            const value both = t.call(names.gate, linear{width, 2 * inner, bias}, x);
            const value gate = both.slice(-1, inner), up = gate;
            return t.call(names.down, linear{inner, width, bias},
                          t.mul(up, t.call(names.act, activation_module{act}, gate)));
        } else {
            const value up = t.call(names.up, linear{width, inner, bias}, x);
            return t.call(names.down, linear{inner, width, bias}, t.call(names.act, activation_module{act}, up));
        }
    }
};

}  // namespace llmcost
