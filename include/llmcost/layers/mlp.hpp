// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/layers/activation.hpp>
#include <llmcost/layers/linear.hpp>

namespace llmcost {

/// Structure of an MLP.
enum class mlp_kind : std::uint8_t {
    gated,        ///< down(act(gate(x)) · up(x))
    fused_gated,  ///< gated, with gate and up in one projection
    plain         ///< down(act(up(x)))
};

/// Names of the child modules of an MLP. With an empty `act`, the activation is a function.
struct mlp_names {
    literal gate = "gate_proj";
    literal up = "up_proj";
    literal down = "down_proj";
    literal act = "act_fn";
};

/// An MLP of any kind: x (…, width) -> (…, width), with `inner` intermediate features.
struct mlp_module {
    mlp_kind kind;
    std::int64_t width;
    std::int64_t inner;
    activation act;
    class_name named;
    bool bias = false;
    mlp_names names{};

    static constexpr role module_role = role::mlp;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const linear projection{width, inner, bias}, down{inner, width, bias};
        if (kind == mlp_kind::plain)
            return t.call(names.down, down, apply_activation(t, t.call(names.up, projection, x)));
        if (kind == mlp_kind::gated) {
            const tensor gate = apply_activation(t, t.call(names.gate, projection, x));
            return t.call(names.down, down, t.mul(gate, t.call(names.up, projection, x)));
        }
        const tensor half = t.call(names.gate, linear{width, 2 * inner, bias}, x).slice(-1, inner);
        return t.call(names.down, down, t.mul(half, apply_activation(t, half)));
    }

private:
    constexpr tensor apply_activation(trace& t, const tensor& x) const {
        return is_empty(names.act) ? activate(t, act, x) : t.call(names.act, activation_module{act}, x);
    }
};

/// A layer of an MLP whose modules are direct children of a layer, such as `fc1` in BART.
template <class L>
struct mlp_child : L {
    static constexpr role module_role = role::mlp;
    static constexpr bool continues_block = true;
};
/// The layer that ends such an MLP.
template <class L>
struct last_mlp_child : L {
    static constexpr role module_role = role::mlp;
};

}  // namespace llmcost
