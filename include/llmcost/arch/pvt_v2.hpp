// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/segformer.hpp>
#include <llmcost/forward/spatial_reduction.hpp>

namespace llmcost::arch {

namespace pvt_v2_detail {

using spatial_reduction::drops, spatial_reduction::heads, spatial_reduction::inners, spatial_reduction::maximum,
    spatial_reduction::reductions;

enum extra_config_index : std::uint8_t {
    pools = reductions + maximum
};  ///< keys and values come from 7×7 means (`linear_attention`)

/// `nn.AdaptiveAvgPool2d(7)`.
struct pool_to_seven {
    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "AdaptiveAvgPool2d"}; }
    constexpr tensor forward(trace& t, const tensor& x) const { return t.pool_to(op::average_pool, x, {7, 7}); }
};

/// Attention of all places over fewer of them: those that a convolution leaves, or 7×7 means.
struct attention {
    const layer_context& ctx;
    std::int64_t stage, rows, columns;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("SelfAttention"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = x.dim(2), count = stage_entry(ctx.config, heads, stage), batch = x.dim(0);
        const std::int64_t sr_ratio = spatial_reduction::reduction(ctx.config, stage);
        const bool means = ctx.config.family[pools] != 0;
        const auto split = [&](literal name, const tensor& h) {
            const tensor all = t.call(name, linear{width, width, ctx.config.attention_bias}, h);
            return all.view({batch, h.dim(1), count, width / count}).permute({0, 2, 1, 3});
        };
        const tensor q = split("query", x);
        tensor source = x;
        if (means || sr_ratio > 1) {
            tensor h = t.reshape(x.permute({0, 2, 1}), {batch, width, rows, columns});
            if (means) h = t.call("pool", pool_to_seven{}, h);
            const std::int64_t kernel = means ? 1 : sr_ratio;
            h = t.call("spatial_reduction", convolution_2d{width, width, kernel, kernel}, h);
            h = t.reshape(h, {batch, width, -1}).permute({0, 2, 1});
            source = t.call("layer_norm", norm_module{norm_kind::layer, width}, h);
            if (means) source = t.call("act", gelu_module{}, source);
        }
        const tensor k = split("key", source), v = split("value", source);
        const attention_pattern pattern{.query_length = q.dim(2), .is_causal = false};
        tensor mixed;
        {
            const recorder::fused_kernel_guard fused{t, fused_attention_kernel(q, count, pattern, k.dim(2))};
            const tensor features = t.softmax(t.div_scalar(t.matmul(q, k.transpose(-1, -2))));
            mixed =
                t.matmul_operator(dropout(t, "attn_drop", features, dropout_position::attention), v).transpose(1, 2);
            mixed = t.reshape(mixed, {batch, x.dim(1), width});
        }
        return dropout(t, "proj_drop", t.call("proj", linear{width, width, true}, mixed));
    }
};

struct layer {
    const layer_context& ctx;
    std::int64_t stage, rows, columns;
    bool drops_path;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("BlockLayer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t inner = stage_entry(ctx.config, inners, stage);
        const spatial_reduction::depth_wise depth_wise{ctx.class_of("DepthWiseConv"), inner, rows, columns};
        const auto convolve = [&](const tensor& expanded) {
            const tensor h = ctx.config.family[pools] != 0
                                 ? t.call("relu", activation_module{activation::relu}, expanded)
                                 : t.call("relu", identity{}, expanded);
            return t.call("dwconv", depth_wise, h);
        };
        return spatial_reduction::pvt_layer(ctx, t, attention{ctx, stage, rows, columns}, "ConvFeedForwardNetwork",
                                            drops_path, inner, convolve, x);
    }
};

constexpr tensor base(const layer_context& ctx, trace& t) {
    const module_info encoder{.name = "encoder", .class_of_module = ctx.class_of("Encoder")};
    tensor x = image_input(ctx, t);
    t.enter(encoder);
    for (std::int64_t i = 0; i < ctx.config.num_hidden_layers; ++i) {
        const module_info stage{.name = "layers", .index = i, .class_of_module = ctx.class_of("EncoderLayer")};
        std::int64_t rows = 0, columns = 0;
        t.enter(stage);
        x = spatial_reduction::embed(ctx, t, i, "patch_embedding", x, rows, columns);
        x = spatial_reduction::layers_of<layer>(ctx, t, i, rows, columns, x);
        x = t.leave(stage, t.call("layer_norm", norm_module{norm_kind::layer, x.dim(2)}, x));
        x = spatial_reduction::as_image(t, x, rows, columns);
    }
    return t.leave(encoder, x);
}

constexpr void parse_config(config_view json, model_config& config) {
    spatial_reduction::parse_stages_into(json, config, {8, 8, 4, 4});
    config.attention_bias = json.boolean("qkv_bias", true);
    config.family[drops] = json.real("drop_path_rate", 0.0) > 0.0;
    config.family[pools] = json.boolean("linear_attention", false);
}

}  // namespace pvt_v2_detail

// transformers/models/pvt_v2: configuration_pvt_v2.py, modeling_pvt_v2.py
inline constexpr model_spec pvt_v2 = [](model_spec spec) {
    spec.model_type = "pvt_v2";
    spec.class_prefix = "PvtV2";
    spec.base_model = pvt_v2_detail::base;
    spec.names.base_model = "pvt_v2";
    spec.parse_config = pvt_v2_detail::parse_config;
    return spec;
}(segformer);

}  // namespace llmcost::arch
