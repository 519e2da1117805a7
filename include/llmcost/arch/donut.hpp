// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/arch/swin.hpp>
#include <llmcost/config/image_stages.hpp>
#include <llmcost/forward/encoder.hpp>
#include <llmcost/forward/images.hpp>
#include <llmcost/forward/swin_window.hpp>
#include <llmcost/layers/norm.hpp>

namespace llmcost::arch {

namespace donut_detail {

using swin_window::bias_of_distance, swin_window::heads, swin_window::qkv_bias, swin_window::ratio,
    swin_window::stage_sizes, swin_window::stages, swin_window::within_windows;

/// Window attention in two modules, with divided scores and the two masks added one by one.
struct divided_attention {
    const layer_context& ctx;
    const stage_sizes& stage;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Attention"); }
    constexpr tensor forward(trace& t, const tensor& x, const tensor* shift) const {
        const std::int64_t width = stage.width, heads = stage.heads, windows = x.dim(0), places = x.dim(1);
        const module_info self{.name = "self", .class_of_module = ctx.class_of("SelfAttention")};
        t.enter(self);
        const auto project = [&](literal name) {
            return swin_window::project_heads(t, name, stage, ctx.config.family[qkv_bias] != 0, x);
        };
        const tensor q = project("query"), k = project("key"), v = project("value");
        const recorder::fused_kernel_guard fused{
            t, fused_attention_kernel(q, heads, full_pattern(places).pattern, places)};
        tensor scores = t.div_scalar(t.matmul(q, k.transpose(-1, -2)));
        scores = t.add(scores, bias_of_distance(t, heads, stage.window));
        if (shift != nullptr) {
            const std::int64_t n = shift->dim(0);
            scores = t.add(scores.view({windows / n, n, heads, places, places}), shift->unsqueeze(1).unsqueeze(0));
            scores = scores.view({windows, heads, places, places});
        }
        const tensor features = dropout(t, "dropout", t.softmax(scores), dropout_position::attention);
        const tensor mixed = t.contiguous(t.matmul(features, v).permute({0, 2, 1, 3})).view({windows, places, width});
        t.leave(self, mixed);
        return project_in_output(ctx, t, "SelfOutput", width, width, mixed, dropout_position::attention);
    }
};

struct donut_block {
    const layer_context& ctx;
    const stage_sizes& stage;
    bool shifted, drops_path;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Layer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const norm_module layer_norm{norm_kind::layer, stage.width};
        const std::int64_t inner = times_ratio(ctx.config, ratio, stage.width);
        const module_info intermediate{.name = "intermediate",
                                       .class_of_module = ctx.class_of("Intermediate"),
                                       .module_role = role::mlp,
                                       .continues_block = true};
        const tensor normed = t.call("layernorm_before", layer_norm, x);
        tensor h = within_windows<divided_attention>(ctx, t, stage, shifted, false, normed);
        const tensor middle = t.add(x, t.call("drop_path", drop_path_module{"Donut", drops_path}, h));
        h = t.call("layernorm_after", layer_norm, middle);
        t.enter(intermediate);
        h = t.call("dense", linear{stage.width, inner, true}, h);
        h = t.leave(intermediate, t.call("intermediate_act_fn", activation_module{ctx.config.hidden_act}, h));
        return t.add(middle,
                     project_in_output(ctx, t, "Output", inner, stage.width, h, dropout_position::hidden, role::mlp));
    }
};

constexpr tensor donut_base(const layer_context& ctx, trace& t) {
    return swin_window::pool(ctx, t, stages<donut_block, false>(ctx, t));
}

}  // namespace donut_detail

// transformers/models/donut: configuration_donut_swin.py, modeling_donut_swin.py; no norm after its stages
inline constexpr model_spec donut_swin = [](model_spec spec) {
    spec.model_type = "donut-swin";
    spec.class_prefix = "DonutSwin";
    spec.base_model = donut_detail::donut_base;
    spec.names.base_model = "donut";
    return spec;
}(swin);

}  // namespace llmcost::arch
