// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/layers/convolution.hpp>

// Modules of timm models.
namespace llmcost::timm_modules {

/// `nn.ReLU(inplace=True)`.
struct relu_in_place {
    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "ReLU"}; }
    constexpr tensor forward(trace& t, tensor x) const {
        t.relu_(x);
        return x;
    }
};

/// Runs `body` in a module of timm.
template <class Body>
constexpr tensor call_in_module(trace& t, child_name child, literal type, const tensor& x, const Body& body,
                                role module_role = role::none) {
    const module_info m{
        .name = child.name, .index = child.index, .class_of_module = {"", type}, .module_role = module_role};
    t.enter(m);
    return t.leave(m, body(x));
}

}  // namespace llmcost::timm_modules
