// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/reading/images.hpp>
#include <llmcost/reading/keys.hpp>
#include <llmcost/walks/images.hpp>

namespace llmcost::arch {

namespace textnet_detail {

inline constexpr std::int64_t most = 5, most_blocks = 24;  // stages; blocks of all, two in a word

enum own : std::uint8_t {
    stem_kernel,
    stem_stride,
    stem_width,
    stem_act,  ///< -1: none
    depths,    ///< of stages, eight bits for each
    widths,
    blocks = widths + most + 1
};
inline constexpr own_key keys[]{{"stem_kernel_size", 3},
                                {"stem_stride", 2},
                                {"stem_out_channels", 64},
                                {.value = own_value::computed},
                                {.value = own_value::computed}};

/// A block's kernel and stride.
struct block_sizes {
    std::int64_t rows, columns, stride;
};
[[nodiscard]] constexpr block_sizes block_of(const sizes& dims, std::int64_t i) {
    const std::int64_t b = of_stage(dims, blocks, i / 2) >> (i % 2 * 24);
    return {b >> 16 & 0xff, b >> 8 & 0xff, b & 0xff};
}
[[nodiscard]] constexpr std::int64_t depth_of(const sizes& dims, std::int64_t stage) {
    return dims.own[depths] >> (8 * stage) & 0xff;
}

/// `nn.Conv2d` with a kernel of any sides.
struct oblong_convolution {
    std::int64_t in, out, rows, columns, stride;

    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return {"", "Conv2d"}; }
    constexpr value describe(trace& t, const value& x) const {
        const value weight = t.param("weight", {out, in, rows, columns});
        return t.convolution(x, weight, false, {.stride = stride, .padding = {(rows - 1) / 2, (columns - 1) / 2}});
    }
};

/// Convolutions side by side, of a whole kernel, a column and a row of it, and none; their sum activated.
struct branches {
    const site& here;
    std::int64_t in, out;
    block_sizes dims;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("RepConvLayer"); }
    constexpr value describe(trace& t, const value& x) const {
        const auto branch = [&](literal convolution, literal norm, std::int64_t rows, std::int64_t columns) {
            const oblong_convolution each{in, out, rows, columns, dims.stride};
            return t.call(norm, batch_norm_2d{out}, t.call(convolution, each, x));
        };
        value sum = branch("main_conv", "main_batch_norm", dims.rows, dims.columns);
        if (dims.columns != 1) sum = t.add(sum, branch("vertical_conv", "vertical_batch_norm", dims.rows, 1));
        if (dims.rows != 1) sum = t.add(sum, branch("horizontal_conv", "horizontal_batch_norm", 1, dims.columns));
        if (in == out && dims.stride == 1) sum = t.add(sum, t.call("rbr_identity", batch_norm_2d{in}, x));
        return t.call("activation_function", activation_module{activation::relu}, sum);
    }
};

/// `nn.AdaptiveAvgPool2d((2, 2))`.
struct pool_to_quarters {
    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return {"", "AdaptiveAvgPool2d"}; }
    constexpr value describe(trace& t, const value& x) const { return t.pool_to(op::average_pool, x, {2, 2}); }
};

constexpr value base(const site& here, trace& t) {
    const own_sizes& own = here.dims.own;
    const std::int64_t wide = own[stem_width];
    const module_info stem{.name = "stem", .type = here.type("ConvLayer"), .what = role::embedding};
    const module_info encoder{.name = "encoder", .type = here.type("Encoder")};
    value x = images_of(here, t);
    t.enter(stem);
    const convolution_2d first{x.dim(1), wide, own[stem_kernel], own[stem_stride], own[stem_kernel] / 2, 1, false};
    x = t.call("batch_norm", batch_norm_2d{wide}, t.call("conv", first, x));
    x = own[stem_act] < 0 ? t.call("activation", identity{}, x)
                          : t.call("activation", activation_module{static_cast<activation>(own[stem_act])}, x);
    t.leave(stem, x);
    t.enter(encoder);
    std::int64_t at = 0;
    for (std::int64_t i = 0; i < here.dims.num_hidden_layers; ++i) {
        const module_info stage{.name = "stages", .index = i, .type = here.type("Stage")};
        const std::int64_t width = of_stage(here.dims, widths, i + 1);
        t.enter(stage);
        for (std::int64_t n = 0; n < depth_of(here.dims, i); ++n)
            x = t.call({"stage", n}, branches{here, x.dim(1), width, block_of(here.dims, at++)}, x);
        t.leave(stage, x);
    }
    t.leave(encoder, x);
    const recorder::off_loss_guard unread{t};
    (void)t.call("pooler", pool_to_quarters{}, x);
    return x;
}

constexpr std::int64_t byte_sized(config_view config, literal key, config_view number) {
    const std::int64_t n = number.as_positive();
    if (n > 0xff) fail_unsupported(config, key, "no row describes numbers beyond 255");
    return n;
}

}  // namespace textnet_detail

/// Convolutions of kernels of several shapes side by side.
///
/// Source: transformers/models/textnet/modeling_textnet.py.
constexpr value describe_textnet(const site& here, trace& t) {
    return describe_image_model(here, t, "textnet", textnet_detail::base, classify_listed);
}

constexpr void read_textnet(config_view config, sizes& s) {
    using namespace textnet_detail;
    s.vision = read_images(config, 640);
    s.vision.num_channels = config.positive("stem_num_channels", 3);
    s.own[stem_act] = static_cast<std::int64_t>(activation::relu);
    if (const auto act = config.find("stem_act_func"))
        s.own[stem_act] =
            act->is_null() ? -1 : static_cast<std::int64_t>(activation_named(config, "stem_act_func", act->as_string()));
    std::int64_t at = 0;
    const auto add = [&](std::int64_t stage, block_sizes b) {
        if (at == most_blocks) fail_unsupported(config, "conv_layer_kernel_sizes", "no row describes so many blocks");
        s.own[blocks + static_cast<std::size_t>(at / 2)] |= (b.rows << 16 | b.columns << 8 | b.stride) << (at % 2 * 24);
        s.own[depths] += std::int64_t{1} << (8 * stage);
        ++at;
    };
    const auto kernels = config.optional_array("conv_layer_kernel_sizes"),
               strides = config.optional_array("conv_layer_strides");
    if (static_cast<bool>(kernels) != static_cast<bool>(strides))
        fail_value(config, "conv_layer_strides", "given where conv_layer_kernel_sizes is");
    if (!kernels) {
        constexpr std::int64_t rows[4][4]{{3, 3, 3, 0}, {3, 1, 3, 3}, {3, 3, 3, 1}, {3, 3, 1, 3}};
        constexpr std::int64_t columns[4][4]{{3, 3, 3, 0}, {3, 3, 3, 1}, {3, 3, 1, 3}, {3, 1, 3, 3}};
        constexpr std::int64_t steps[4][4]{{1, 2, 1, 0}, {2, 1, 1, 1}, {2, 1, 1, 1}, {2, 1, 1, 1}};
        for (int i = 0; i < 4; ++i)
            for (int n = 0; n < 4 && rows[i][n] != 0; ++n) add(i, {rows[i][n], columns[i][n], steps[i][n]});
        s.num_hidden_layers = 4;
    } else {
        s.num_hidden_layers = kernels->size();
        if (kernels->size() == 0 || kernels->size() > most)
            fail_unsupported(config, "conv_layer_kernel_sizes", "a row describes one to five stages");
        if (strides->size() != kernels->size()) fail_value(config, "conv_layer_strides", "a list for each stage");
        for (std::size_t i = 0; i < kernels->size(); ++i) {
            const config_view of = (*kernels)[i].as_array(), by = (*strides)[i].as_array();
            if (of.size() == 0 || of.size() != by.size()) fail_value(config, "conv_layer_strides", "one for each kernel");
            for (std::size_t n = 0; n < of.size(); ++n) {
                if (of[n].as_array().size() != 2) fail_value(config, "conv_layer_kernel_sizes", "pairs of sides");
                add(static_cast<std::int64_t>(i), {byte_sized(config, "conv_layer_kernel_sizes", of[n][0]),
                                                   byte_sized(config, "conv_layer_kernel_sizes", of[n][1]),
                                                   byte_sized(config, "conv_layer_strides", by[n])});
            }
        }
    }
    own_sizes found;
    const std::int64_t n = read_stages(config, "hidden_sizes", {64, 64, 128, 256, 512}, found, 0, most + 1);
    if (n != s.num_hidden_layers + 1) fail_value(config, "hidden_sizes", "one number more than there are stages");
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) s.own[widths + i] = found[i];
    if (found[0] != s.own[stem_width]) fail_value(config, "hidden_sizes", "stem_out_channels in front");
}

// transformers/models/textnet: configuration_textnet.py, modeling_textnet.py
inline constexpr architecture textnet{
    .model_type = "textnet",
    .prefix = "TextNet",
    .describe = describe_textnet,
    .read = read_textnet,
    .own = textnet_detail::keys,
    .drops = dropout_keys::none(),
    .rotated = rotation::none,
    .any_image = true,
    .heads = {head_kind::none, head_kind::image_classification},
    .defaults = image_defaults(activation::relu),
};

}  // namespace llmcost::arch
