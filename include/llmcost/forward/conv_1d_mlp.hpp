// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/layers/activation.hpp>
#include <llmcost/layers/conv_1d.hpp>
#include <llmcost/model/model_spec.hpp>

// MLP with transposed projections (`Conv1D`).
namespace llmcost {

struct conv_1d_mlp {
    layer_context ctx;

    static constexpr role module_role = role::mlp;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("MLP"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, inner = ctx.config.intermediate_size;
        tensor h = t.call("c_fc", conv_1d{width, inner}, x);
        h = t.call("act", activation_module{ctx.config.hidden_act}, h);
        return dropout(t, "dropout", t.call("c_proj", conv_1d{inner, width}, h));
    }
};

}  // namespace llmcost
