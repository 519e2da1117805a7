// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/segformer.hpp>

namespace llmcost::arch {

namespace pvt_v2_detail {

using segformer_detail::drops, segformer_detail::heads, segformer_detail::inners, segformer_detail::reductions,
    segformer_detail::most;

enum more : std::uint8_t { pools = reductions + most };  ///< keys and values come from 7×7 means (`linear_attention`)

/// `nn.AdaptiveAvgPool2d(7)`.
struct pool_to_seven {
    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return {"", "AdaptiveAvgPool2d"}; }
    constexpr value describe(trace& t, const value& x) const { return t.pool_to(op::average_pool, x, {7, 7}); }
};

/// Attention of all places over fewer of them: those that a convolution leaves, or 7×7 means.
struct attention {
    const site& here;
    std::int64_t stage, rows, columns;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("SelfAttention"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = x.dim(2), count = of_stage(here.dims, heads, stage), batch = x.dim(0);
        const std::int64_t fewer = pvt_detail::reduction(here.dims, stage);
        const bool means = here.dims.own[pools] != 0;
        const auto split = [&](literal name, const value& h) {
            const value all = t.call(name, linear{width, width, here.dims.attention_bias}, h);
            return all.view({batch, h.dim(1), count, width / count}).permute({0, 2, 1, 3});
        };
        const value q = split("query", x);
        value source = x;
        if (means || fewer > 1) {
            value h = t.reshape(x.permute({0, 2, 1}), {batch, width, rows, columns});
            if (means) h = t.call("pool", pool_to_seven{}, h);
            const std::int64_t kernel = means ? 1 : fewer;
            h = t.call("spatial_reduction", convolution_2d{width, width, kernel, kernel}, h);
            h = t.reshape(h, {batch, width, -1}).permute({0, 2, 1});
            source = t.call("layer_norm", norm<norm_kind::layer>{width}, h);
            if (means) source = t.call("act", gelu_module{}, source);
        }
        const value k = split("key", source), v = split("value", source);
        const context where{.sequence = q.dim(2), .causal = false};
        value mixed;
        {
            const recorder::fused_guard fused{t, fused_attention(q, count, where, k.dim(2))};
            const value seen = t.softmax(t.div(t.matmul(q, k.transpose(-1, -2))));
            mixed = t.matmul_operator(dropout(t, "attn_drop", seen, dropout_of::attention), v).transpose(1, 2);
            mixed = t.reshape(mixed, {batch, x.dim(1), width});
        }
        return dropout(t, "proj_drop", t.call("proj", linear{width, width, true}, mixed));
    }
};

struct layer {
    const site& here;
    std::int64_t stage, rows, columns;
    bool drops_path;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("BlockLayer"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = x.dim(2), inner = of_stage(here.dims, inners, stage);
        const norm<norm_kind::layer> layer_norm{width};
        const drop_path_module path{here.row.prefix, drops_path};
        const module_info mlp{.name = "mlp", .type = here.type("ConvFeedForwardNetwork"), .what = role::mlp};
        const segformer_detail::depth_wise depth_wise{here.type("DepthWiseConv"), inner, rows, columns};
        value h = t.call("attention", attention{here, stage, rows, columns}, t.call("layer_norm_1", layer_norm, x));
        const value middle = t.add(t.call("drop_path", path, h), x);
        h = t.call("layer_norm_2", layer_norm, middle);
        t.enter(mlp);
        h = t.call("dense1", linear{width, inner, true}, h);
        h = here.dims.own[pools] != 0 ? t.call("relu", activation_module{activation::relu}, h)
                                      : t.call("relu", identity{}, h);
        h = t.call("intermediate_act_fn", activation_module{here.dims.hidden_act}, t.call("dwconv", depth_wise, h));
        h = t.call("dense2", linear{inner, width, true}, dropout(t, "dropout", h));
        h = t.leave(mlp, dropout(t, "dropout", h));
        return t.add(middle, t.call("drop_path", path, h));
    }
};

constexpr value base(const site& here, trace& t) {
    const module_info encoder{.name = "encoder", .type = here.type("Encoder")};
    value x = images_of(here, t);
    t.enter(encoder);
    for (std::int64_t i = 0; i < here.dims.num_hidden_layers; ++i) {
        const module_info stage{.name = "layers", .index = i, .type = here.type("EncoderLayer")};
        std::int64_t rows = 0, columns = 0;
        t.enter(stage);
        x = segformer_detail::embed(here, t, i, "patch_embedding", x, rows, columns);
        x = segformer_detail::layers_of<layer>(here, t, i, rows, columns, x);
        x = t.leave(stage, t.call("layer_norm", norm<norm_kind::layer>{x.dim(2)}, x));
        x = segformer_detail::as_image(t, x, rows, columns);
    }
    return t.leave(encoder, x);
}

constexpr void read(config_view config, sizes& s) {
    segformer_detail::read_stages_into(config, s, {8, 8, 4, 4});
    s.attention_bias = config.boolean("qkv_bias", true);
    s.own[drops] = config.real("drop_path_rate", 0.0) > 0.0;
    s.own[pools] = config.boolean("linear_attention", false);
}

}  // namespace pvt_v2_detail

// transformers/models/pvt_v2: configuration_pvt_v2.py, modeling_pvt_v2.py
inline constexpr architecture pvt_v2 = [](architecture a) {
    a.model_type = "pvt_v2", a.prefix = "PvtV2", a.base = pvt_v2_detail::base, a.names.base = "pvt_v2";
    a.read = pvt_v2_detail::read;
    return a;
}(segformer);

}  // namespace llmcost::arch
