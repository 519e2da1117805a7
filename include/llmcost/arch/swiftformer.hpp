// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/image_stages.hpp>
#include <llmcost/forward/images.hpp>

namespace llmcost::arch {

namespace swiftformer_detail {

enum family_config_index : std::uint8_t {
    kernel,
    stride,
    padding,
    ratio,  ///< features inside of a block to those around it
    scales,
    drops,
    shrinks,  ///< bit mask of the stages followed by downsampling
    widths,
    depths = widths + max_stages
};
inline constexpr dropout_key dropout_rates[]{{dropout_position::hidden, "drop_mlp_rate"},
                                             {dropout_position::mlp, "drop_conv_encoder_rate"}};
inline constexpr family_key family_keys[]{{"down_patch_size", 3},
                                          {"down_stride", 2},
                                          {"down_pad", 1, family_key_type::non_negative},
                                          {.type = family_key_type::computed},
                                          {"use_layer_scale", 1, family_key_type::boolean},
                                          {.type = family_key_type::computed},
                                          {.type = family_key_type::computed}};

/// A depthwise convolution and two pointwise ones, scaled, with a residual connection.
struct convolutions {
    class_name named;
    std::int64_t width, inner;
    bool drops_path;  ///< by a dropout module

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor scale = t.param("layer_scale", {width, 1, 1});
        tensor h = t.call("depth_wise_conv", convolution_2d{width, width, 3, 1, 1, width}, x);
        h = t.call("point_wise_conv1", convolution_2d{width, inner}, t.call("norm", batch_norm_2d{width}, h));
        h = t.mul(scale, t.call("point_wise_conv2", convolution_2d{inner, width}, t.call("act", gelu_module{}, h)));
        return t.add(
            x, drops_path ? dropout(t, "drop_path", h, dropout_position::mlp) : t.call("drop_path", identity{}, h));
    }
};

/// Rows over their length, which is at least the smallest difference (`F.normalize`).
constexpr tensor normalize(trace& t, const tensor& x) {
    const tensor length = t.clamp_min(t.vector_norm(x, -1, true));
    return t.div(x, length.expand({x.dim(0), x.dim(1), x.dim(2)}));
}

/// All queries are weighed into one, with which every key is multiplied: (B, places, width) -> the same.
struct additive_attention {
    class_name named;
    std::int64_t width;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor weight = t.param("w_g", {width, 1});
        const linear square{width, width, true};
        const tensor unscaled = t.call("to_query", square, x), family_keys = t.call("to_key", square, x);
        const tensor query = normalize(t, unscaled), key = normalize(t, family_keys);
        const tensor weights = t.softmax_method(t.mul_scalar(t.matmul_operator(query, weight)));
        const tensor global_query = t.sum(t.mul(weights, query), 1).unsqueeze(1);
        const tensor operand = t.copy(global_query.expand({x.dim(0), x.dim(1), width}));
        return t.call("final", square, t.add(t.call("proj", square, t.mul(operand, key)), query));
    }
};

/// A norm followed by two pointwise convolutions.
struct conv_mlp {
    const layer_context& ctx;
    std::int64_t width;

    static constexpr role module_role = role::mlp;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Mlp"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t inner = times_ratio(ctx.config, ratio, width);
        tensor h = t.call("fc1", convolution_2d{width, inner}, t.call("norm1", batch_norm_2d{width}, x));
        h = dropout(t, "drop", t.call("act", activation_module{ctx.config.hidden_act}, h));
        return dropout(t, "drop", t.call("fc2", convolution_2d{inner, width}, h));
    }
};

/// The last block of a stage.
struct attending_block {
    const layer_context& ctx;
    std::int64_t width;
    bool drops_path;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("EncoderBlock"); }
    constexpr tensor forward(trace& t, tensor x) const {
        const bool scaled = ctx.config.family[scales] != 0;
        const tensor first = scaled ? t.param("layer_scale_1", {width, 1, 1}) : tensor{};
        const tensor second = scaled ? t.param("layer_scale_2", {width, 1, 1}) : tensor{};
        const drop_path_module path{ctx.spec.class_prefix, drops_path};
        x = t.call("local_representation", convolutions{ctx.class_of("LocalRepresentation"), width, width, false}, x);
        const std::int64_t batch = x.dim(0), rows = x.dim(2), columns = x.dim(3);
        const tensor tokens = t.reshape(x.permute({0, 2, 3, 1}), {batch, rows * columns, width});
        tensor h = t.call("attn", additive_attention{ctx.class_of("EfficientAdditiveAttention"), width}, tokens);
        h = t.reshape(h, {batch, rows, columns, width}).permute({0, 3, 1, 2});
        x = t.add(x, t.call("drop_path", path, scaled ? t.mul(first, h) : h));
        h = t.call("linear", conv_mlp{ctx, width}, x);
        return t.add(x, t.call("drop_path", path, scaled ? t.mul(second, h) : h));
    }
};

constexpr tensor stage(const layer_context& ctx, trace& t, std::int64_t i, std::int64_t number, tensor x) {
    const module_info module{.name = "network", .index = number, .class_of_module = ctx.class_of("Stage")};
    const std::int64_t width = stage_entry(ctx.config, widths, i), depth = stage_entry(ctx.config, depths, i);
    const convolutions conv_encoder{ctx.class_of("ConvEncoder"), width, times_ratio(ctx.config, ratio, width), true};
    t.enter(module);
    for (loop layer_loop = t.loop_modules(depth - 1, x); layer_loop.next();)
        x = t.call({"blocks", layer_loop.index()}, conv_encoder, x);
    // rates grow from zero in the first block of all
    const bool drops_path = ctx.config.family[drops] != 0 && (i > 0 || depth > 1);
    return t.leave(module, t.call({"blocks", depth - 1}, attending_block{ctx, width, drops_path}, x));
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    const module_info embed{
        .name = "patch_embed", .class_of_module = ctx.class_of("PatchEmbedding"), .module_role = role::embedding};
    const module_info patches{.name = "patch_embedding", .class_of_module = {"", "Sequential"}};
    const module_info encoder{.name = "encoder", .class_of_module = ctx.class_of("Encoder")};
    const std::int64_t first = stage_entry(ctx.config, widths, 0), half = first / 2,
                       last = ctx.config.num_hidden_layers - 1;
    const family_config& family = ctx.config.family;
    const activation_module relu{activation::relu};
    tensor x = image_input(ctx, t);
    t.enter(embed);
    t.enter(patches);
    x = t.call("1", batch_norm_2d{half}, t.call("0", convolution_2d{x.dim(1), half, 3, 2, 1}, x));
    x = t.call("3", convolution_2d{half, first, 3, 2, 1}, t.call("2", relu, x));
    x = t.call("5", relu, t.call("4", batch_norm_2d{first}, x));
    t.leave(patches, x);
    t.leave(embed, x);
    t.enter(encoder);
    std::int64_t number = 0;
    for (std::int64_t i = 0; i <= last; ++i) {
        x = stage(ctx, t, i, number++, x);
        if (i == last || (family[shrinks] >> i & 1) == 0) continue;
        const module_info downsample_info{
            .name = "network", .index = number++, .class_of_module = ctx.class_of("Embeddings")};
        const std::int64_t expanded_width = stage_entry(ctx.config, widths, i + 1);
        t.enter(downsample_info);
        const convolution_2d convolution{x.dim(1), expanded_width, family[kernel], family[stride], family[padding]};
        x = t.leave(downsample_info, t.call("norm", batch_norm_2d{expanded_width}, t.call("proj", convolution, x)));
    }
    return t.leave(encoder, x);
}

/// Returns the mean of the logits of two heads.
constexpr tensor classify(const layer_context& ctx, trace& t, const tensor& x) {
    const tensor normed = t.call("norm", batch_norm_2d{x.dim(1)}, x);
    const tensor h = t.mean(t.reshape(normed, {x.dim(0), x.dim(1), -1}), -1);
    const auto head = [&](literal name) {
        if (ctx.config.num_labels == 0) return t.call(name, identity{}, h);
        return t.call(name, head_linear{{x.dim(1), ctx.config.num_labels, true}}, h);
    };
    const tensor label_scores = head("head"), distilled = head("dist_head");
    return t.div_scalar(t.add(label_scores, distilled));
}

}  // namespace swiftformer_detail

/// Convolutions, and attention that adds in the last block of each stage.
///
/// Source: transformers/models/swiftformer/modeling_swiftformer.py.
constexpr tensor forward_swiftformer(const layer_context& ctx, trace& t) {
    return forward_image_model(ctx, t, "swiftformer", swiftformer_detail::base, swiftformer_detail::classify);
}

constexpr void parse_swiftformer(config_view json, model_config& config) {
    using namespace swiftformer_detail;
    config.vision = parse_image_size(json, 224);
    const std::int64_t n = config.num_hidden_layers = parse_stages(json, "depths", {3, 3, 6, 4}, config.family, depths);
    parse_stages_of(json, "embed_dims", {48, 56, 112, 220}, config.family, widths, n);
    parse_ratio(json, "mlp_ratio", 4.0, config.family, ratio);
    if (config.family[widths] < 2) throw_invalid_value(json, "embed_dims", "at least two features");
    const auto found = json.optional_array("downsamples");
    if (found ? found->size() + 1 < static_cast<std::uint32_t>(n) : n > 5)
        throw_invalid_value(json, "downsamples", "true or false for each stage");
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
        sum += config.family[depths + i];
        if (times_ratio(config, ratio, config.family[widths + i]) < 1)
            throw_invalid_value(json, "mlp_ratio", "a ratio that leaves a feature");
        if (i + 1 == static_cast<std::size_t>(n)) break;
        const bool is_downsampled = !found || (*found)[i].as_boolean();
        config.family[shrinks] |=
            std::int64_t{is_downsampled || config.family[widths + i] != config.family[widths + i + 1]} << i;
    }
    if (sum < 2) throw_invalid_value(json, "depths", "at least two blocks");
    config.family[drops] = json.real("drop_path_rate", 0.0) > 0.0;
}

// transformers/models/swiftformer: configuration_swiftformer.py, modeling_swiftformer.py
inline constexpr model_spec swiftformer = [](model_spec spec) {
    spec.model_type = "swiftformer";
    spec.class_prefix = "SwiftFormer";
    spec.forward = forward_swiftformer;
    spec.parse_config = parse_swiftformer;
    spec.family_keys = swiftformer_detail::family_keys;
    spec.dropout_keys = swiftformer_detail::dropout_rates;
    return spec;
}(image_classifier(activation::gelu));

}  // namespace llmcost::arch
