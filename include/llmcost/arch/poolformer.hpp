// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/image_stages.hpp>
#include <llmcost/forward/images.hpp>

namespace llmcost::arch {

namespace poolformer_detail {

inline constexpr std::int64_t maximum = 4;  // stages: five lists of them

enum family_config_index : std::uint8_t {
    pool_size,
    scales,
    drops,
    ratio,  ///< features inside of a block to those around it
    widths,
    depths = widths + maximum,
    patches = depths + maximum,
    strides = patches + maximum,
    paddings = strides + maximum
};
inline constexpr family_key family_keys[]{{"pool_size", 3},
                                          {"use_layer_scale", 1, family_key_type::boolean},
                                          {.type = family_key_type::computed},
                                          {.type = family_key_type::computed}};

/// `nn.GroupNorm` of one group.
struct group_norm {
    std::int64_t width;
    literal prefix;

    static constexpr role module_role = role::norm;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {prefix, "GroupNorm"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        t.read_parameter_in_next_op(t.param("weight", {width}));
        t.read_parameter_in_next_op(t.param("bias", {width}));
        return t.group_norm(x, 1);
    }
};

/// What lies around each place, less the place itself.
struct pooling {
    std::int64_t size;
    literal prefix;

    static constexpr role module_role = role::mixer;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {prefix, "Pooling"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        return t.sub(t.call("pool", average_pool_2d{size, 1, size / 2}, x), x);
    }
};

/// Two convolutions over single places.
struct output {
    const layer_context& ctx;
    std::int64_t width;
    std::int64_t inner;
    bool drops_path;

    static constexpr role module_role = role::mlp;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Output"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const drop_path_module drop{ctx.spec.class_prefix, drops_path, true};
        tensor h = t.call("act_fn", activation_module{ctx.config.hidden_act},
                          t.call("conv1", convolution_2d{width, inner}, x));
        h = t.call("conv2", convolution_2d{inner, width}, t.call("drop", drop, h));
        return t.call("drop", drop, h);
    }
};

struct layer {
    const layer_context& ctx;
    std::int64_t width;
    std::int64_t inner;
    bool drops_path;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Layer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const literal prefix = ctx.spec.class_prefix;
        const bool scaled = ctx.config.family[scales] != 0;
        const tensor first = scaled ? t.param("layer_scale_1", {width}) : tensor{};
        const tensor second = scaled ? t.param("layer_scale_2", {width}) : tensor{};
        const drop_path_module path{prefix, drops_path};
        const auto scale_and_drop = [&](const tensor& scale, const tensor& h) {
            return t.call("drop_path", path, scaled ? t.mul(scale.unsqueeze(-1).unsqueeze(-1), h) : h);
        };
        const group_norm layer_norm{width, prefix};
        const tensor pooled =
            t.call("pooling", pooling{ctx.config.family[pool_size], prefix}, t.call("before_norm", layer_norm, x));
        const tensor middle = t.add(x, scale_and_drop(first, pooled));
        const tensor h =
            t.call("output", output{ctx, width, inner, drops_path}, t.call("after_norm", layer_norm, middle));
        return t.add(middle, scale_and_drop(second, h));
    }
};

/// A convolution that shrinks images, and no norm.
struct patch_embeddings {
    convolution_2d conv;
    literal prefix;

    static constexpr role module_role = role::embedding;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {prefix, "Embeddings"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        return t.call("norm", identity{"Identity"}, t.call("projection", conv, x));
    }
};

constexpr tensor base(const layer_context& ctx, trace& t) {
    const model_config& config = ctx.config;
    const module_info encoder{.name = "encoder", .class_of_module = ctx.class_of("Encoder")};
    t.enter(encoder);
    tensor x = image_input(ctx, t);
    for (std::int64_t i = 0; i < config.num_hidden_layers; ++i) {
        const std::int64_t width = stage_entry(config, widths, i), in = x.dim(1),
                           depth = stage_entry(config, depths, i);
        const convolution_2d shrinks{in, width, stage_entry(config, patches, i), stage_entry(config, strides, i),
                                     stage_entry(config, paddings, i)};
        x = t.call({"patch_embeddings", i}, patch_embeddings{shrinks, ctx.spec.class_prefix}, x);
        const module_info block{.name = "block", .index = i, .class_of_module = {"", "ModuleList"}};
        t.enter(block);
        // rates grow from zero in the first layer of all to `drop_path_rate` in the last
        const std::int64_t inner = times_ratio(config, ratio, width);
        std::int64_t first = 0;
        if (i == 0) x = t.call(child_name::indexed(first++), layer{ctx, width, inner, false}, x);
        for (loop layer_loop = t.loop_modules(depth - first, x, first); layer_loop.next();)
            x = t.call(child_name::indexed(layer_loop.index()), layer{ctx, width, inner, config.family[drops] != 0}, x);
        t.leave(block);
    }
    return t.leave(encoder, x);
}

constexpr tensor classify(const layer_context& ctx, trace& t, const tensor& x) {
    const tensor h = t.call("norm", group_norm{x.dim(1), ctx.spec.class_prefix}, x);
    return classify_linear(ctx, t, t.mean_of_images(h));
}

}  // namespace poolformer_detail

/// Layers that mix places by pooling alone.
///
/// Source: transformers/models/poolformer/modeling_poolformer.py.
constexpr tensor forward_poolformer(const layer_context& ctx, trace& t) {
    return forward_image_model(ctx, t, "poolformer", poolformer_detail::base, poolformer_detail::classify);
}

constexpr void parse_poolformer(config_view json, model_config& config) {
    using namespace poolformer_detail;
    config.vision = parse_image_size(json, 224);
    const std::int64_t n = config.num_hidden_layers =
        parse_stages(json, "hidden_sizes", {64, 128, 320, 512}, config.family, widths, maximum);
    parse_stages_of(json, "depths", {2, 2, 6, 2}, config.family, depths, n, maximum);
    parse_stages_of(json, "patch_sizes", {7, 3, 3, 3}, config.family, patches, n, maximum);
    parse_stages_of(json, "strides", {4, 2, 2, 2}, config.family, strides, n, maximum);
    parse_stages_of(json, "padding", {2, 1, 1, 1}, config.family, paddings, n, maximum, true);
    if (json.positive("num_encoder_blocks", 4) != n)
        throw_invalid_value(json, "num_encoder_blocks", "as many as hidden_sizes has");
    if (config.family[pool_size] % 2 == 0) throw_invalid_value(json, "pool_size", "an odd number");
    config.family[drops] = json.real("drop_path_rate", 0.0) > 0.0;
    parse_ratio(json, "mlp_ratio", 4.0, config.family, ratio);
    for (std::int64_t i = 0; i < n; ++i)
        if (times_ratio(config, ratio, stage_entry(config, widths, i)) < 1)
            throw_invalid_value(json, "mlp_ratio", "a ratio that leaves a feature");
}

// transformers/models/poolformer: configuration_poolformer.py, modeling_poolformer.py
inline constexpr model_spec poolformer = [](model_spec spec) {
    spec.model_type = "poolformer";
    spec.class_prefix = "PoolFormer";
    spec.forward = forward_poolformer;
    spec.parse_config = parse_poolformer;
    spec.family_keys = poolformer_detail::family_keys;
    return spec;
}(image_classifier(activation::gelu));

}  // namespace llmcost::arch
