// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/swinv2.hpp>
#include <llmcost/forward/swin_window.hpp>
#include <llmcost/layers/mlp.hpp>

namespace llmcost::arch {

namespace swin_detail {

using swin_window::bias_of_distance, swin_window::heads, swin_window::qkv_bias, swin_window::ratio,
    swin_window::stage_sizes, swin_window::stages, swin_window::window, swin_window::within_windows;

/// The relative position bias as a module.
struct position_bias {
    class_name named;
    std::int64_t heads, window;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t) const { return bias_of_distance(t, heads, window); }
};

/// Attention within windows: one mask of distances and of the shift.
struct attention {
    const layer_context& ctx;
    const stage_sizes& stage;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Attention"); }
    constexpr tensor forward(trace& t, const tensor& x, const tensor* shift) const {
        const std::int64_t width = stage.width, heads = stage.heads, windows = x.dim(0), places = x.dim(1);
        const auto project = [&](literal name) {
            return swin_window::project_heads(t, name, stage, ctx.config.family[qkv_bias] != 0, x);
        };
        const tensor q = project("q_proj"), k = project("k_proj"), v = project("v_proj");
        tensor mask =
            t.call("relative_position_bias", position_bias{ctx.class_of("RelativePositionBias"), heads, stage.window});
        if (shift != nullptr) {
            const std::int64_t n = shift->dim(0);
            const tensor operand = shift->unsqueeze(1).unsqueeze(0).expand({windows / n, n, 1, places, places});
            mask = t.add(mask, t.reshape(operand, {windows, 1, places, places}));
        }
        const tensor mixed = attention_forward(t, q, k, v, full_pattern(places).pattern, {.mask = &mask});
        return t.call("o_proj", linear{width, width, true}, t.contiguous(t.reshape(mixed, {windows, places, -1})));
    }
};

struct block {
    const layer_context& ctx;
    const stage_sizes& stage;
    bool shifted, drops_path;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Layer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const norm_module layer_norm{norm_kind::layer, stage.width};
        const tensor normed = t.call("layernorm_before", layer_norm, x);
        const tensor h = within_windows<attention>(ctx, t, stage, shifted, true, normed);
        const tensor middle = t.add(x, t.call("drop_path", drop_path_module{ctx.spec.class_prefix, drops_path}, h));
        const mlp_module layer_mlp{mlp_kind::plain,
                                   stage.width,
                                   times_ratio(ctx.config, ratio, stage.width),
                                   ctx.config.hidden_act,
                                   ctx.class_of("MLP"),
                                   true,
                                   {.up = "fc1", .down = "fc2", .act = "activation_fn"}};
        return t.add(dropout(t, "dropout", t.call("mlp", layer_mlp, t.call("layernorm_after", layer_norm, middle))),
                     middle);
    }
};

constexpr tensor base(const layer_context& ctx, trace& t) {
    const tensor x = stages<block, true>(ctx, t);
    return swin_window::pool(ctx, t, t.call("layernorm", norm_module{norm_kind::layer, x.dim(2)}, x));
}

}  // namespace swin_detail

/// Attention within windows that every other block shifts, in stages.
///
/// Source: transformers/models/swin/modeling_swin.py.
constexpr tensor forward_swin(const layer_context& ctx, trace& t) {
    return forward_image_model(ctx, t, ctx.spec.names.base_model, ctx.spec.base_model, classify_linear);
}

// transformers/models/swin: configuration_swin.py, modeling_swin.py
inline constexpr model_spec swin = [](model_spec spec) {
    spec.model_type = "swin";
    spec.class_prefix = "Swin";
    spec.forward = forward_swin;
    spec.base_model = swin_detail::base;
    spec.names.base_model = "swin";
    spec.parse_config = parse_swin;
    return spec;
}(swinv2);

}  // namespace llmcost::arch
