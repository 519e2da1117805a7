// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/config/image_stages.hpp>
#include <llmcost/forward/images.hpp>
#include <llmcost/layers/norm.hpp>

// PVT, SegFormer: stages of attention whose keys and values have a reduced resolution (arXiv 2102.12122, 2105.15203).
namespace llmcost::spatial_reduction {

inline constexpr std::int64_t maximum = 4;  // stages: five lists of numbers, two of them in one

enum family_config_index : std::uint8_t {
    drops,
    widths,
    depths = widths + maximum,
    heads = depths + maximum,
    inners = heads + maximum,
    reductions = inners + maximum,  ///< with the stage's patch size and stride: three numbers of 20 bits
};

[[nodiscard]] constexpr std::int64_t reduction(const model_config& config, std::int64_t i) {
    return stage_entry(config, reductions, i) >> 40;
}

[[nodiscard]] constexpr std::int64_t patch(const model_config& config, std::int64_t i) {
    return stage_entry(config, reductions, i) >> 20 & 0xfffff;
}

[[nodiscard]] constexpr std::int64_t stride(const model_config& config, std::int64_t i) {
    return stage_entry(config, reductions, i) & 0xfffff;
}

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
    const overlapping_patches patches{ctx.class_of("OverlapPatchEmbeddings"), x.dim(1),
                                      stage_entry(ctx.config, widths, i), patch(ctx.config, i), stride(ctx.config, i)};
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
    for (loop layer_loop = t.loop_modules(stage_entry(ctx.config, depths, i) - 1, x, 1); layer_loop.next();)
        x = t.call({"blocks", layer_loop.index()}, Layer{ctx, i, rows, columns, drops_path}, x);
    return x;
}

/// A layer of PVT: attention and an MLP, each after a norm; training drops branches of whole images.
template <class Attention, class Expand>
constexpr tensor pvt_layer(const layer_context& ctx, trace& t, const Attention& attention, literal mlp_class,
                           bool drops_path, std::int64_t inner, const Expand& expand, const tensor& x) {
    const std::int64_t width = x.dim(2);
    const norm_module layer_norm{norm_kind::layer, width};
    const drop_path_module path{ctx.spec.class_prefix, drops_path};
    const module_info mlp{.name = "mlp", .class_of_module = ctx.class_of(mlp_class), .module_role = role::mlp};
    tensor h = t.call("attention", attention, t.call("layer_norm_1", layer_norm, x));
    const tensor middle = t.add(t.call("drop_path", path, h), x);
    h = t.call("layer_norm_2", layer_norm, middle);
    t.enter(mlp);
    h = expand(t.call("dense1", linear{width, inner, true}, h));
    h = t.call("intermediate_act_fn", activation_module{ctx.config.hidden_act}, h);
    h = t.call("dense2", linear{inner, width, true}, dropout(t, "dropout", h));
    h = t.leave(mlp, dropout(t, "dropout", h));
    return t.add(middle, t.call("drop_path", path, h));
}

/// Parses the sizes of all stages. `ratio_key`: the key of the reduction of keys and values.
constexpr void parse_stage_sizes(config_view json, model_config& config, literal ratio_key,
                                 std::initializer_list<std::int64_t> default_widths,
                                 std::initializer_list<std::int64_t> mlp_ratios,
                                 std::initializer_list<std::int64_t> default_patches) {
    const std::int64_t n = config.num_hidden_layers =
        parse_stages(json, "hidden_sizes", default_widths, config.family, widths, maximum);
    if (json.positive("num_encoder_blocks", 4) != n)
        throw_invalid_value(json, "num_encoder_blocks", "as many as hidden_sizes has");
    parse_stages_of(json, "depths", {2, 2, 2, 2}, config.family, depths, n, maximum);
    parse_stages_of(json, "num_attention_heads", {1, 2, 5, 8}, config.family, heads, n, maximum);
    parse_stages_of(json, "mlp_ratios", mlp_ratios, config.family, inners, n, maximum);
    family_config sr_ratios, patches, steps;
    parse_stages_of(json, ratio_key, {8, 4, 2, 1}, sr_ratios, 0, n, maximum);
    parse_stages_of(json, "patch_sizes", default_patches, patches, 0, n, maximum);
    parse_stages_of(json, "strides", {4, 2, 2, 2}, steps, 0, n, maximum);
    for (std::size_t index = 0; index < static_cast<std::size_t>(n); ++index) {
        for (const std::int64_t factor : {sr_ratios[index], patches[index], steps[index]})
            if (factor > 0xfffff) throw_unsupported(json, "strides", "strides above 1048575 are not supported");
        config.family[inners + index] =
            checked_size(json, "mlp_ratios", config.family[inners + index], config.family[widths + index]);
        config.family[reductions + index] = (sr_ratios[index] << 20 | patches[index]) << 20 | steps[index];
        if (config.family[widths + index] % config.family[heads + index] != 0)
            throw_invalid_value(json, "num_attention_heads", "divisors of hidden_sizes");
    }
}

constexpr void parse_stages_into(config_view json, model_config& config,
                                 std::initializer_list<std::int64_t> mlp_ratios) {
    config.vision = parse_image_size(json, 224);
    parse_stage_sizes(json, config, "sr_ratios", {32, 64, 160, 256}, mlp_ratios, {7, 3, 3, 3});
}

}  // namespace llmcost::spatial_reduction
