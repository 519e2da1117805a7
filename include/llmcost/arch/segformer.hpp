// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/pvt.hpp>
#include <llmcost/forward/encoder.hpp>

namespace llmcost::arch {

namespace segformer_detail {

using pvt_detail::family_config_index, pvt_detail::maximum, pvt_detail::drops, pvt_detail::widths, pvt_detail::depths,
    pvt_detail::heads, pvt_detail::inners, pvt_detail::reductions;

enum extra_config_index : std::uint8_t { as_images = reductions + maximum };  ///< the last stage returns an image, too
inline constexpr family_key family_keys[]{{.type = family_key_type::computed}};

/// Patches that overlap, as tokens, and a norm.
struct overlapping_patches {
    class_name named;
    std::int64_t in, out, patch, stride;

    static constexpr role module_role = role::embedding;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, const tensor& x, std::int64_t& rows, std::int64_t& columns) const {
        const tensor h = t.call("proj", convolution_2d{in, out, patch, stride, patch / 2}, x);
        rows = h.dim(2);
        columns = h.dim(3);
        return t.call("layer_norm", norm_module{norm_kind::layer, out}, as_tokens(h));
    }
};
constexpr tensor embed(const layer_context& ctx, trace& t, std::int64_t i, literal name, const tensor& x,
                       std::int64_t& rows, std::int64_t& columns) {
    const overlapping_patches patches{ctx.class_of("OverlapPatchEmbeddings"), x.dim(1), of_stage(ctx.config, widths, i),
                                      pvt_detail::patch(ctx.config, i), pvt_detail::stride(ctx.config, i)};
    const module_info m{.name = name, .class_of_module = patches.named, .module_role = role::embedding};
    t.enter(m);
    return t.leave(m, patches.forward(t, x, rows, columns));
}

/// A convolution for each channel over tokens in rows and columns.
struct depth_wise {
    class_name named;
    std::int64_t width, rows, columns;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor image = x.transpose(1, 2).view({x.dim(0), width, rows, columns});
        return as_tokens(t.call("dwconv", convolution_2d{width, width, 3, 1, 1, width}, image));
    }
};

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
        const std::int64_t width = x.dim(2), count = of_stage(ctx.config, heads, stage), batch = x.dim(0);
        const std::int64_t sr_ratio = pvt_detail::reduction(ctx.config, stage);
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
        const std::int64_t width = x.dim(2), inner = of_stage(ctx.config, inners, stage);
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

/// Tokens in rows and columns -> (B, width, rows, columns), a copy.
constexpr tensor as_image(trace& t, const tensor& x, std::int64_t rows, std::int64_t columns) {
    return t.contiguous(t.reshape(x, {x.dim(0), rows, columns, -1}).permute({0, 3, 1, 2}));
}

/// Layers of a stage; rates of dropped paths grow from zero in the first layer of all.
template <class Layer>
constexpr tensor layers_of(const layer_context& ctx, trace& t, std::int64_t i, std::int64_t rows, std::int64_t columns,
                           tensor x) {
    const bool drops_path = ctx.config.family[drops] != 0;
    x = t.call({"blocks", 0}, Layer{ctx, i, rows, columns, drops_path && i > 0}, x);
    for (loop layer_loop = t.loop_modules(of_stage(ctx.config, depths, i) - 1, x, 1); layer_loop.next();)
        x = t.call({"blocks", layer_loop.index()}, Layer{ctx, i, rows, columns, drops_path}, x);
    return x;
}

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

constexpr void parse_stages_into(config_view json, model_config& config, std::initializer_list<std::int64_t> ratios) {
    config.vision = parse_image_size(json, 224);
    const std::int64_t n = config.num_hidden_layers =
        parse_stages(json, "hidden_sizes", {32, 64, 160, 256}, config.family, widths, maximum);
    if (json.positive("num_encoder_blocks", 4) != n)
        throw_invalid_value(json, "num_encoder_blocks", "as many as hidden_sizes has");
    parse_stages_of(json, "depths", {2, 2, 2, 2}, config.family, depths, n, maximum);
    parse_stages_of(json, "num_attention_heads", {1, 2, 5, 8}, config.family, heads, n, maximum);
    parse_stages_of(json, "mlp_ratios", ratios, config.family, inners, n, maximum);
    family_config sr_ratios, patches, steps;
    parse_stages_of(json, "sr_ratios", {8, 4, 2, 1}, sr_ratios, 0, n, maximum);
    parse_stages_of(json, "patch_sizes", {7, 3, 3, 3}, patches, 0, n, maximum);
    parse_stages_of(json, "strides", {4, 2, 2, 2}, steps, 0, n, maximum);
    for (std::size_t at = 0; at < static_cast<std::size_t>(n); ++at) {
        for (const std::int64_t factor : {sr_ratios[at], patches[at], steps[at]})
            if (factor > 0xfffff) throw_unsupported(json, "strides", "strides above 1048575 are not supported");
        config.family[inners + at] =
            checked_size(json, "mlp_ratios", config.family[inners + at], config.family[widths + at]);
        config.family[reductions + at] = (sr_ratios[at] << 20 | patches[at]) << 20 | steps[at];
        if (config.family[widths + at] % config.family[heads + at] != 0)
            throw_invalid_value(json, "num_attention_heads", "divisors of hidden_sizes");
    }
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
