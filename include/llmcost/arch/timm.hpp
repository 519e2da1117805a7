// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/layers/convolution.hpp>

// Words that models of timm share.
namespace llmcost::arch::timm_detail {

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

/// Runs `inside` in a module of timm's.
template <class Inside>
constexpr tensor call_in_module(trace& t, child_name at, literal type, const tensor& x, const Inside& body,
                                role module_role = role::none) {
    const module_info m{.name = at.name, .index = at.index, .class_of_module = {"", type}, .module_role = module_role};
    t.enter(m);
    return t.leave(m, body(x));
}

}  // namespace llmcost::arch::timm_detail
