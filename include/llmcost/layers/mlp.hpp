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

/// A feed-forward block of any kind: x (…, width) -> (…, width) through `inner` features.
struct any_mlp {
    mlp_kind kind;
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
        const linear wide{width, inner, bias}, down{inner, width, bias};
        if (kind == mlp_kind::plain) return t.call(names.down, down, activated(t, t.call(names.up, wide, x)));
        if (kind == mlp_kind::gated) {
            const value gate = activated(t, t.call(names.gate, wide, x));
            return t.call(names.down, down, t.mul(gate, t.call(names.up, wide, x)));
        }
        const value half = t.call(names.gate, linear{width, 2 * inner, bias}, x).slice(-1, inner);
        return t.call(names.down, down, t.mul(half, activated(t, half)));
    }

private:
    constexpr value activated(trace& t, const value& x) const {
        return is_empty(names.act) ? activate(t, act, x) : t.call(names.act, activation_module{act}, x);
    }
};

/// A feed-forward block of one kind: `mlp<mlp_kind::gated>{width, inner, activation::silu, named}`.
template <mlp_kind Kind>
struct mlp : any_mlp {
    constexpr mlp(std::int64_t from, std::int64_t through, activation function, class_name called, bool biased = false,
                  mlp_names children = {})
        : any_mlp{Kind, from, through, function, called, biased, children} {}
};

}  // namespace llmcost
