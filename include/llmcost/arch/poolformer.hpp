// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/reading/images.hpp>
#include <llmcost/walks/images.hpp>

namespace llmcost::arch {

namespace poolformer_detail {

inline constexpr std::int64_t most = 4;  // stages: five lists of them

enum own : std::uint8_t {
    pool_size,
    scales,
    drops,
    ratio,  ///< features inside of a block to those around it
    widths,
    depths = widths + most,
    patches = depths + most,
    strides = patches + most,
    paddings = strides + most
};
inline constexpr own_key keys[]{{"pool_size", 3},
                                {"use_layer_scale", 1, own_value::boolean},
                                {.value = own_value::computed},
                                {.value = own_value::computed}};

/// `nn.GroupNorm` of one group.
struct whole_norm {
    std::int64_t width;
    literal prefix;

    static constexpr role what = role::norm;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return {prefix, "GroupNorm"}; }
    constexpr value describe(trace& t, const value& x) const {
        t.beside(t.param("weight", {width}));
        t.beside(t.param("bias", {width}));
        return t.group_norm(x, 1);
    }
};

/// What lies around each place, less the place itself.
struct pooling {
    std::int64_t size;
    literal prefix;

    static constexpr role what = role::mixer;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {prefix, "Pooling"}; }
    constexpr value describe(trace& t, const value& x) const {
        return t.sub(t.call("pool", average_pool_2d{size, 1, size / 2}, x), x);
    }
};

/// Two convolutions over single places.
struct output {
    const site& here;
    std::int64_t width;
    std::int64_t inner;
    bool drops_path;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Output"); }
    constexpr value describe(trace& t, const value& x) const {
        const drop_path_module drop{here.row.prefix, drops_path, true};
        value h =
            t.call("act_fn", activation_module{here.dims.hidden_act}, t.call("conv1", convolution_2d{width, inner}, x));
        h = t.call("conv2", convolution_2d{inner, width}, t.call("drop", drop, h));
        return t.call("drop", drop, h);
    }
};

struct layer {
    const site& here;
    std::int64_t width;
    std::int64_t inner;
    bool drops_path;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Layer"); }
    constexpr value describe(trace& t, const value& x) const {
        const literal prefix = here.row.prefix;
        const bool scaled = here.dims.own[scales] != 0;
        const value first = scaled ? t.param("layer_scale_1", {width}) : value{};
        const value second = scaled ? t.param("layer_scale_2", {width}) : value{};
        const drop_path_module path{prefix, drops_path};
        const auto through = [&](const value& scale, const value& h) {
            return t.call("drop_path", path, scaled ? t.mul(scale.unsqueeze(-1).unsqueeze(-1), h) : h);
        };
        const whole_norm layer_norm{width, prefix};
        const value pooled =
            t.call("pooling", pooling{here.dims.own[pool_size], prefix}, t.call("before_norm", layer_norm, x));
        const value middle = t.add(x, through(first, pooled));
        const value h = t.call("output", output{here, width, inner, drops_path}, t.call("after_norm", layer_norm, middle));
        return t.add(middle, through(second, h));
    }
};

/// A convolution that shrinks images, and no norm.
struct patch_embeddings {
    convolution_2d dims;
    literal prefix;

    static constexpr role what = role::embedding;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {prefix, "Embeddings"}; }
    constexpr value describe(trace& t, const value& x) const {
        return t.call("norm", identity{"Identity"}, t.call("projection", dims, x));
    }
};

constexpr value base(const site& here, trace& t) {
    const sizes& dims = here.dims;
    const module_info encoder{.name = "encoder", .type = here.type("Encoder")};
    t.enter(encoder);
    value x = images_of(here, t);
    for (std::int64_t i = 0; i < dims.num_hidden_layers; ++i) {
        const std::int64_t width = of_stage(dims, widths, i), in = x.dim(1), depth = of_stage(dims, depths, i);
        const convolution_2d shrinks{in, width, of_stage(dims, patches, i), of_stage(dims, strides, i),
                                     of_stage(dims, paddings, i)};
        x = t.call({"patch_embeddings", i}, patch_embeddings{shrinks, here.row.prefix}, x);
        const module_info block{.name = "block", .index = i, .type = {"", "ModuleList"}};
        t.enter(block);
        // rates grow from zero in the first layer of all to `drop_path_rate` in the last
        const std::int64_t inner = times_ratio(dims, ratio, width);
        std::int64_t first = 0;
        if (i == 0) x = t.call(module_place::item(first++), layer{here, width, inner, false}, x);
        for (repetition each = t.repeat(depth - first, x, first); each.next();)
            x = t.call(module_place::item(each.index()), layer{here, width, inner, dims.own[drops] != 0}, x);
        t.leave(block);
    }
    return t.leave(encoder, x);
}

constexpr value classify(const site& here, trace& t, const value& x) {
    const value h = t.call("norm", whole_norm{x.dim(1), here.row.prefix}, x);
    return classify_linear(here, t, t.mean_of_images(h));
}

}  // namespace poolformer_detail

/// Layers that mix places by pooling alone.
///
/// Source: transformers/models/poolformer/modeling_poolformer.py.
constexpr value describe_poolformer(const site& here, trace& t) {
    return describe_image_model(here, t, "poolformer", poolformer_detail::base, poolformer_detail::classify);
}

constexpr void read_poolformer(config_view config, sizes& s) {
    using namespace poolformer_detail;
    s.vision = read_images(config, 224);
    const std::int64_t n = s.num_hidden_layers =
        read_stages(config, "hidden_sizes", {64, 128, 320, 512}, s.own, widths, most);
    read_stages_of(config, "depths", {2, 2, 6, 2}, s.own, depths, n, most);
    read_stages_of(config, "patch_sizes", {7, 3, 3, 3}, s.own, patches, n, most);
    read_stages_of(config, "strides", {4, 2, 2, 2}, s.own, strides, n, most);
    read_stages_of(config, "padding", {2, 1, 1, 1}, s.own, paddings, n, most, true);
    if (config.positive("num_encoder_blocks", 4) != n)
        fail_value(config, "num_encoder_blocks", "as many as hidden_sizes has");
    if (s.own[pool_size] % 2 == 0) fail_value(config, "pool_size", "an odd number");
    s.own[drops] = config.real("drop_path_rate", 0.0) > 0.0;
    read_ratio(config, "mlp_ratio", 4.0, s.own, ratio);
    for (std::int64_t i = 0; i < n; ++i)
        if (times_ratio(s, ratio, of_stage(s, widths, i)) < 1)
            fail_value(config, "mlp_ratio", "a ratio that leaves a feature");
}

// transformers/models/poolformer: configuration_poolformer.py, modeling_poolformer.py
inline constexpr architecture poolformer{
    .model_type = "poolformer",
    .prefix = "PoolFormer",
    .describe = describe_poolformer,
    .read = read_poolformer,
    .own = poolformer_detail::keys,
    .drops = dropout_keys::none(),
    .rotated = rotation::none,
    .any_image = true,
    .heads = {head_kind::none, head_kind::image_classification},
    .defaults = image_defaults(activation::gelu),
};

}  // namespace llmcost::arch
