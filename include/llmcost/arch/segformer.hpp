// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/pvt.hpp>
#include <llmcost/forward/encoder.hpp>
#include <llmcost/forward/spatial_reduction.hpp>

namespace llmcost::arch {

namespace segformer_detail {

using spatial_reduction::as_image, spatial_reduction::depth_wise, spatial_reduction::drops, spatial_reduction::embed,
    spatial_reduction::heads, spatial_reduction::inners, spatial_reduction::layers_of, spatial_reduction::maximum,
    spatial_reduction::parse_stages_into, spatial_reduction::reductions;

enum extra_config_index : std::uint8_t { as_images = reductions + maximum };  ///< the last stage returns an image, too

inline constexpr family_key family_keys[]{{.type = family_key_type::computed}};

/// Fewer tokens, by a convolution whose windows do not overlap.
struct reduction {
    class_name named;
    std::int64_t sr_ratio, rows, columns;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = x.dim(2);
        const tensor image = t.reshape(x.transpose(1, 2), {x.dim(0), width, rows, columns});
        const tensor h = t.call("sequence_reduction", convolution_2d{width, width, sr_ratio, sr_ratio}, image);
        return t.call("layer_norm", norm_module{norm_kind::layer, width},
                      t.reshape(h, {x.dim(0), width, -1}).transpose(1, 2));
    }
};

/// Attention of all places over fewer of them.
struct attention {
    const layer_context& ctx;
    std::int64_t stage, rows, columns;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Attention"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = x.dim(2), count = stage_entry(ctx.config, heads, stage), batch = x.dim(0);
        const std::int64_t sr_ratio = spatial_reduction::reduction(ctx.config, stage);
        const auto split = [&](literal name, const tensor& h) {
            const tensor all = t.call(name, linear{width, width, true}, h);
            return all.view({batch, h.dim(1), count, width / count}).transpose(1, 2);
        };
        const tensor q = split("q_proj", x);
        const reduction sequence_reduction{ctx.class_of("SequenceReduction"), sr_ratio, rows, columns};
        const tensor source = sr_ratio > 1 ? t.call("sequence_reduction", sequence_reduction, x) : x;
        const tensor k = split("k_proj", source), v = split("v_proj", source);
        const tensor mixed = attention_forward(t, q, k, v, {.query_length = q.dim(2), .is_causal = false}, {});
        return t.call("o_proj", linear{width, width, true}, t.contiguous(t.reshape(mixed, {batch, x.dim(1), -1})));
    }
};

struct layer {
    const layer_context& ctx;
    std::int64_t stage, rows, columns;
    bool drops_path;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Layer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = x.dim(2), inner = stage_entry(ctx.config, inners, stage);
        const norm_module layer_norm{norm_kind::layer, width};
        const drop_path_module path{ctx.spec.class_prefix, drops_path};
        const module_info mlp{.name = "mlp", .class_of_module = ctx.class_of("MixMLP"), .module_role = role::mlp};
        tensor h = t.call("attention", attention{ctx, stage, rows, columns}, t.call("layernorm_before", layer_norm, x));
        const tensor middle = t.add(t.call("drop_path", path, dropout(t, "hidden_dropout", h)), x);
        h = t.call("layernorm_after", layer_norm, middle);
        t.enter(mlp);
        h = t.call("fc1", linear{width, inner, true}, h);
        h = t.call("dwconv", depth_wise{ctx.class_of("DepthWiseConv"), inner, rows, columns}, h);
        h = dropout(t, "dropout", t.call("activation_fn", activation_module{ctx.config.hidden_act}, h));
        h = t.leave(mlp, dropout(t, "dropout", t.call("fc2", linear{inner, width, true}, h)));
        return t.add(t.call("drop_path", path, h), middle);
    }
};

constexpr tensor base(const layer_context& ctx, trace& t) {
    tensor x = image_input(ctx, t);
    for (std::int64_t i = 0; i < ctx.config.num_hidden_layers; ++i) {
        const module_info stage{.name = "stages", .index = i, .class_of_module = ctx.class_of("Stage")};
        std::int64_t rows = 0, columns = 0;
        t.enter(stage);
        x = embed(ctx, t, i, "patch_embeddings", x, rows, columns);
        x = layers_of<layer>(ctx, t, i, rows, columns, x);
        x = t.call("layer_norm", norm_module{norm_kind::layer, x.dim(2)}, x);
        if (i + 1 < ctx.config.num_hidden_layers || ctx.config.family[as_images] != 0)
            x = as_image(t, x, rows, columns);
        t.leave(stage, x);
    }
    return x;
}

/// A linear layer over the mean of all places.
constexpr tensor classify(const layer_context& ctx, trace& t, const tensor& x) {
    const tensor tokens = x.rank == 4 ? t.reshape(x.permute({0, 2, 3, 1}), {x.dim(0), -1, x.dim(1)}) : x;
    return classify_linear(ctx, t, t.mean(tokens, 1));
}

constexpr void parse_config(config_view json, model_config& config) {
    parse_stages_into(json, config, {4, 4, 4, 4});
    config.family[drops] = json.real("drop_path_rate", 0.1) > 0.0;
    config.family[as_images] = json.boolean("reshape_last_stage", true);
}

}  // namespace segformer_detail

/// Vision transformers in stages without positions, whose attention reads fewer places than it writes.
///
/// Source: transformers/models/segformer/modeling_segformer.py.
constexpr tensor forward_segformer(const layer_context& ctx, trace& t) {
    return forward_image_model(ctx, t, ctx.spec.names.base_model, ctx.spec.base_model, segformer_detail::classify);
}

// transformers/models/segformer: configuration_segformer.py, modeling_segformer.py
inline constexpr model_spec segformer = [](model_spec spec) {
    spec.model_type = "segformer";
    spec.class_prefix = "Segformer";
    spec.forward = forward_segformer;
    spec.base_model = segformer_detail::base;
    spec.names.base_model = "segformer";
    spec.parse_config = segformer_detail::parse_config;
    spec.family_keys = segformer_detail::family_keys;
    spec.accepts_any_image_size = true;
    spec.defaults.num_labels = 2;
    return spec;
}(pvt);

}  // namespace llmcost::arch
