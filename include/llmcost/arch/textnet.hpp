// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/image_stages.hpp>
#include <llmcost/config/keys.hpp>
#include <llmcost/forward/images.hpp>

namespace llmcost::arch {

namespace textnet_detail {

inline constexpr std::int64_t maximum = 5, max_blocks = 24;  // stages; blocks of all, two per integer

enum family_config_index : std::uint8_t {
    stem_kernel,
    stem_stride,
    stem_width,
    stem_act,  ///< -1: none
    depths,    ///< of stages, eight bits for each
    widths,
    blocks = widths + maximum + 1
};
inline constexpr family_key family_keys[]{{"stem_kernel_size", 3},
                                          {"stem_stride", 2},
                                          {"stem_out_channels", 64},
                                          {.type = family_key_type::computed},
                                          {.type = family_key_type::computed}};

/// A block's kernel and stride.
struct block_sizes {
    std::int64_t rows, columns, stride;
};
[[nodiscard]] constexpr block_sizes block_of(const model_config& config, std::int64_t i) {
    const std::int64_t b = stage_entry(config, blocks, i / 2) >> (i % 2 * 24);
    return {b >> 16 & 0xff, b >> 8 & 0xff, b & 0xff};
}
[[nodiscard]] constexpr std::int64_t depth_of(const model_config& config, std::int64_t stage) {
    return config.family[depths] >> (8 * stage) & 0xff;
}

/// `nn.Conv2d` with a kernel of any sides.
struct oblong_convolution {
    std::int64_t in, out, rows, columns, stride;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "Conv2d"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor weight = t.param("weight", {out, in, rows, columns});
        return t.conv(x, weight, false, {.stride = stride, .padding = {(rows - 1) / 2, (columns - 1) / 2}});
    }
};

/// Parallel convolutions with a full kernel, a column, a row, and an identity; their sum is activated.
struct branches {
    const layer_context& ctx;
    std::int64_t in, out;
    block_sizes block_config;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("RepConvLayer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const auto branch = [&](literal convolution, literal norm, std::int64_t rows, std::int64_t columns) {
            const oblong_convolution conv{in, out, rows, columns, block_config.stride};
            return t.call(norm, batch_norm_2d{out}, t.call(convolution, conv, x));
        };
        tensor sum = branch("main_conv", "main_batch_norm", block_config.rows, block_config.columns);
        if (block_config.columns != 1)
            sum = t.add(sum, branch("vertical_conv", "vertical_batch_norm", block_config.rows, 1));
        if (block_config.rows != 1)
            sum = t.add(sum, branch("horizontal_conv", "horizontal_batch_norm", 1, block_config.columns));
        if (in == out && block_config.stride == 1) sum = t.add(sum, t.call("rbr_identity", batch_norm_2d{in}, x));
        return t.call("activation_function", activation_module{activation::relu}, sum);
    }
};

/// `nn.AdaptiveAvgPool2d((2, 2))`.
struct pool_to_quarters {
    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "AdaptiveAvgPool2d"}; }
    constexpr tensor forward(trace& t, const tensor& x) const { return t.pool_to(op::average_pool, x, {2, 2}); }
};

constexpr tensor base(const layer_context& ctx, trace& t) {
    const family_config& family = ctx.config.family;
    const std::int64_t expanded_width = family[stem_width];
    const module_info stem{
        .name = "stem", .class_of_module = ctx.class_of("ConvLayer"), .module_role = role::embedding};
    const module_info encoder{.name = "encoder", .class_of_module = ctx.class_of("Encoder")};
    tensor x = image_input(ctx, t);
    t.enter(stem);
    const convolution_2d first{
        x.dim(1), expanded_width, family[stem_kernel], family[stem_stride], family[stem_kernel] / 2, 1, false};
    x = t.call("batch_norm", batch_norm_2d{expanded_width}, t.call("conv", first, x));
    x = family[stem_act] < 0 ? t.call("activation", identity{}, x)
                             : t.call("activation", activation_module{static_cast<activation>(family[stem_act])}, x);
    t.leave(stem, x);
    t.enter(encoder);
    std::int64_t offset = 0;
    for (std::int64_t i = 0; i < ctx.config.num_hidden_layers; ++i) {
        const module_info stage{.name = "stages", .index = i, .class_of_module = ctx.class_of("Stage")};
        const std::int64_t width = stage_entry(ctx.config, widths, i + 1);
        t.enter(stage);
        for (std::int64_t n = 0; n < depth_of(ctx.config, i); ++n)
            x = t.call({"stage", n}, branches{ctx, x.dim(1), width, block_of(ctx.config, offset++)}, x);
        t.leave(stage, x);
    }
    t.leave(encoder, x);
    const recorder::detach_guard unread{t};
    (void)t.call("pooler", pool_to_quarters{}, x);
    return x;
}

constexpr std::int64_t byte_sized(config_view json, literal key, config_view number) {
    const std::int64_t n = number.as_positive();
    if (n > 0xff) throw_unsupported(json, key, "numbers above 255 are not supported");
    return n;
}

}  // namespace textnet_detail

/// Convolutions of kernels of several shapes side by side.
///
/// Source: transformers/models/textnet/modeling_textnet.py.
constexpr tensor forward_textnet(const layer_context& ctx, trace& t) {
    return forward_image_model(ctx, t, "textnet", textnet_detail::base, classify_sequential);
}

constexpr void parse_textnet(config_view json, model_config& config) {
    using namespace textnet_detail;
    config.vision = parse_image_size(json, 640);
    config.vision.num_channels = json.positive("stem_num_channels", 3);
    config.family[stem_act] = static_cast<std::int64_t>(activation::relu);
    if (const auto act = json.find("stem_act_func"))
        config.family[stem_act] =
            act->is_null() ? -1 : static_cast<std::int64_t>(activation_named(json, "stem_act_func", act->as_string()));
    std::int64_t offset = 0;
    const auto add = [&](std::int64_t stage, block_sizes b) {
        if (offset == max_blocks) throw_unsupported(json, "conv_layer_kernel_sizes", "unsupported number of blocks");
        config.family[blocks + static_cast<std::size_t>(offset / 2)] |= (b.rows << 16 | b.columns << 8 | b.stride)
                                                                        << (offset % 2 * 24);
        config.family[depths] += std::int64_t{1} << (8 * stage);
        ++offset;
    };
    const auto kernels = json.optional_array("conv_layer_kernel_sizes"),
               strides = json.optional_array("conv_layer_strides");
    if (static_cast<bool>(kernels) != static_cast<bool>(strides))
        throw_invalid_value(json, "conv_layer_strides", "given where conv_layer_kernel_sizes is");
    if (!kernels) {
        constexpr std::int64_t rows[4][4]{{3, 3, 3, 0}, {3, 1, 3, 3}, {3, 3, 3, 1}, {3, 3, 1, 3}};
        constexpr std::int64_t columns[4][4]{{3, 3, 3, 0}, {3, 3, 3, 1}, {3, 3, 1, 3}, {3, 1, 3, 3}};
        constexpr std::int64_t steps[4][4]{{1, 2, 1, 0}, {2, 1, 1, 1}, {2, 1, 1, 1}, {2, 1, 1, 1}};
        for (int i = 0; i < 4; ++i)
            for (int n = 0; n < 4 && rows[i][n] != 0; ++n) add(i, {rows[i][n], columns[i][n], steps[i][n]});
        config.num_hidden_layers = 4;
    } else {
        config.num_hidden_layers = kernels->size();
        if (kernels->size() == 0 || kernels->size() > maximum)
            throw_unsupported(json, "conv_layer_kernel_sizes", "unsupported number of stages; expected 1 to 5");
        if (strides->size() != kernels->size())
            throw_invalid_value(json, "conv_layer_strides", "a list for each stage");
        for (std::size_t i = 0; i < kernels->size(); ++i) {
            const config_view kernel_list = (*kernels)[i].as_array(), stride_list = (*strides)[i].as_array();
            if (kernel_list.size() == 0 || kernel_list.size() != stride_list.size())
                throw_invalid_value(json, "conv_layer_strides", "one for each kernel");
            for (std::size_t n = 0; n < kernel_list.size(); ++n) {
                if (kernel_list[n].as_array().size() != 2)
                    throw_invalid_value(json, "conv_layer_kernel_sizes", "pairs of sides");
                add(static_cast<std::int64_t>(i), {byte_sized(json, "conv_layer_kernel_sizes", kernel_list[n][0]),
                                                   byte_sized(json, "conv_layer_kernel_sizes", kernel_list[n][1]),
                                                   byte_sized(json, "conv_layer_strides", stride_list[n])});
            }
        }
    }
    family_config found;
    const std::int64_t n = parse_stages(json, "hidden_sizes", {64, 64, 128, 256, 512}, found, 0, maximum + 1);
    if (n != config.num_hidden_layers + 1)
        throw_invalid_value(json, "hidden_sizes", "one number more than there are stages");
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) config.family[widths + i] = found[i];
    if (found[0] != config.family[stem_width])
        throw_invalid_value(json, "hidden_sizes", "a list that begins with stem_out_channels");
}

// transformers/models/textnet: configuration_textnet.py, modeling_textnet.py
inline constexpr model_spec textnet = [](model_spec spec) {
    spec.model_type = "textnet";
    spec.class_prefix = "TextNet";
    spec.forward = forward_textnet;
    spec.parse_config = parse_textnet;
    spec.family_keys = textnet_detail::family_keys;
    return spec;
}(image_classifier(activation::relu));

}  // namespace llmcost::arch
