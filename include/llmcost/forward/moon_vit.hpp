// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/forward/attention.hpp>

// MoonViT: layers whose queries and keys rotate by row and column.
namespace llmcost::moon_vit {

/// A layer of the tower: norms, attention whose queries and keys are turned, two projections.
struct layer {
    layer_context ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("VisionEncoderLayer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const norm_module layer_norm{norm_kind::layer, ctx.config.hidden_size};
        const tensor middle = t.add(x, t.call("attn", attention_module{ctx}, t.call("norm1", layer_norm, x)));
        const mlp_module block{mlp_kind::plain,
                               ctx.config.hidden_size,
                               ctx.config.intermediate_size,
                               ctx.config.hidden_act,
                               ctx.class_of("VisionMLP"),
                               true,
                               {.up = "fc1", .down = "fc2", .act = "act"}};
        return t.add(middle, t.call("mlp", block, t.call("norm2", layer_norm, middle)));
    }
};

}  // namespace llmcost::moon_vit
