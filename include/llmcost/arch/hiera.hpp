// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/image_stages.hpp>
#include <llmcost/forward/images.hpp>
#include <llmcost/layers/mlp.hpp>
#include <llmcost/layers/norm.hpp>

namespace llmcost::arch {

namespace hiera_detail {

inline constexpr std::int64_t maximum = 5;  // stages: three lists of so many

enum family_config_index : std::uint8_t {
    stride,
    padding,
    pools,
    pool_rows,
    pool_columns,
    area,
    masked,
    ratio,
    growth,
    drops,
    depths
};
inline constexpr std::size_t heads = depths + maximum;
inline constexpr family_key family_keys[]{
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {"num_query_pool", 3, family_key_type::non_negative},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},  // stages that attend within units, a bit for each
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
};

[[nodiscard]] constexpr std::int64_t grow(const model_config& config, double base, std::int64_t times) {
    const double factor = __builtin_bit_cast(double, config.family[growth]);
    double power = 1.0;
    for (std::int64_t i = 0; i < times; ++i) power *= factor;
    return static_cast<std::int64_t>(base * power);
}
[[nodiscard]] constexpr std::int64_t width_of(const model_config& config, std::int64_t stage) {
    return grow(config, static_cast<double>(config.embedding_size), stage);
}
[[nodiscard]] constexpr std::int64_t pool_area(const model_config& config) {
    return config.family[pool_rows] * config.family[pool_columns];
}
/// Returns the tokens per masked unit after the poolings of `stage` stages.
[[nodiscard]] constexpr std::int64_t window_of(const model_config& config, std::int64_t stage) {
    std::int64_t window = config.family[area];
    for (std::int64_t i = 0; i < stage; ++i) window /= pool_area(config);
    return window;
}
[[nodiscard]] constexpr bool within_units(const model_config& config, std::int64_t stage) {
    return (config.family[masked] >> stage & 1) != 0;
}

/// A layer: from one width to another, so many queries pooled into one, within units of tokens or among all.
struct layer_sizes {
    std::int64_t in, out, heads, pooled, window;
    bool units, drops_path;
};

struct attention {
    const layer_context& ctx;
    const layer_sizes& layer_config;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("MaskUnitAttention"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t batch = x.dim(0), heads = layer_config.heads, d = layer_config.out / heads;
        const std::int64_t unit_length = layer_config.units ? layer_config.pooled * layer_config.window : x.dim(1),
                           units = x.dim(1) / unit_length;
        const tensor all = t.call("qkv", linear{layer_config.in, 3 * layer_config.out, true}, x);
        const tensor split = t.reshape(all, {batch, unit_length, units, 3, heads, d}).permute({3, 0, 4, 2, 1, 5});
        tensor q = split.select(0);
        const tensor k = split.select(0), v = split.select(0);
        if (layer_config.pooled > 1) {
            const tensor parts =
                q.view({batch, heads, units, layer_config.pooled, unit_length / layer_config.pooled, d});
            q = t.amax(parts, 3);
        }
        tensor mixed;
        {
            const attention_pattern pattern{.query_length = q.dim(3), .is_causal = false};
            const recorder::fused_kernel_guard fused{
                t,
                fused_attention_kernel(empty_tensor({batch * units, heads, q.dim(3), d}), heads, pattern, unit_length)};
            mixed = t.matmul_operator(t.softmax_method(t.matmul_operator(t.mul_scalar(q), k.transpose(-1, -2))), v);
        }
        const tensor attention_output = t.reshape(mixed.transpose(1, 3), {batch, -1, layer_config.out});
        return t.call("proj", linear{layer_config.out, layer_config.out, true}, attention_output);
    }
};

struct layer {
    const layer_context& ctx;
    layer_sizes layer_config;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Layer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const drop_path_module path{ctx.spec.class_prefix, layer_config.drops_path};
        const std::int64_t inner = times_ratio(ctx.config, ratio, layer_config.out);
        const mlp_module block{mlp_kind::plain,
                               layer_config.out,
                               inner,
                               ctx.config.hidden_act,
                               ctx.class_of("Mlp"),
                               true,
                               {.up = "fc1", .down = "fc2", .act = "activation_fn"}};
        const tensor normed = t.call("layernorm_before", norm_module{norm_kind::layer, layer_config.in}, x);
        tensor residual = x;
        if (layer_config.in != layer_config.out) {
            residual = t.call("proj", linear{layer_config.in, layer_config.out, true}, normed);
            residual = t.amax(residual.view({x.dim(0), layer_config.pooled, -1, layer_config.out}), 1);
        }
        const tensor h = t.call("attn", attention{ctx, layer_config}, normed);
        const tensor middle = t.add(residual, t.call("drop_path", path, h));
        const tensor mlp_input = t.call("layernorm_after", norm_module{norm_kind::layer, layer_config.out}, middle);
        return t.add(middle, t.call("drop_path", path, t.call("mlp", block, mlp_input)));
    }
};

constexpr layer_sizes first_layer(const model_config& config, std::int64_t i) {
    const bool pooled = i > 0 && i <= config.family[pools];
    return {.in = width_of(config, i > 0 ? i - 1 : 0),
            .out = width_of(config, i),
            .heads = stage_entry(config, heads, i),
            .pooled = pooled ? pool_area(config) : 1,
            .window = window_of(config, i),
            .units = within_units(config, i) || within_units(config, i > 0 ? i - 1 : 0),
            // rates grow from zero in the first layer of all
            .drops_path = config.family[drops] != 0 && i > 0};
}
constexpr layer_sizes repeated_layer_sizes(const model_config& config, std::int64_t i) {
    layer_sizes repeated_layer = first_layer(config, i);
    repeated_layer.in = repeated_layer.out;
    repeated_layer.pooled = 1;
    repeated_layer.units = within_units(config, i);
    repeated_layer.drops_path = config.family[drops] != 0;
    return repeated_layer;
}

constexpr tensor stage(const layer_context& ctx, trace& t, std::int64_t i, tensor x) {
    const module_info module{.name = "stages", .index = i, .class_of_module = ctx.class_of("Stage")};
    t.enter(module);
    x = t.call({"layers", 0}, layer{ctx, first_layer(ctx.config, i)}, x);
    const layer repeated_layer{ctx, repeated_layer_sizes(ctx.config, i)};
    for (loop layer_loop = t.loop_modules(stage_entry(ctx.config, depths, i) - 1, x, 1); layer_loop.next();)
        x = t.call({"layers", layer_loop.index()}, repeated_layer, x);
    return t.leave(module, x);
}

/// Patches that may overlap, with learned positions.
constexpr tensor embed(const layer_context& ctx, trace& t) {
    const vision_config& image = ctx.config.vision;
    const std::int64_t width = ctx.config.embedding_size, step = ctx.config.family[stride];
    const std::int64_t tokens = (image.image_height / step) * (image.image_width / step);
    const module_info embeddings{
        .name = "embeddings", .class_of_module = ctx.class_of("Embeddings"), .module_role = role::embedding};
    const module_info patches{.name = "patch_embeddings", .class_of_module = ctx.class_of("PatchEmbeddings")};
    t.enter(embeddings);
    const tensor places = t.param("position_embeddings", {1, tokens, width});
    t.enter(patches);
    const convolution_2d cut{image.num_channels, width, image.patch_size, step, ctx.config.family[padding]};
    const tensor h = t.leave(patches, as_tokens(t.call("projection", cut, image_input(ctx, t))));
    return t.leave(embeddings, t.add(h, places));
}

/// Reorders tokens so that pooled tokens, and the tokens of a unit, are contiguous.
constexpr tensor unroll(const layer_context& ctx, trace& t, const tensor& x) {
    const vision_config& image = ctx.config.vision;
    const std::int64_t step = ctx.config.family[stride], width = x.dim(2), tokens = x.dim(1);
    const std::int64_t high = ctx.config.family[pool_rows], expanded_width = ctx.config.family[pool_columns];
    std::int64_t rows = image.image_height / step, columns = image.image_width / step, batch = x.dim(0);
    tensor h = x.view({batch, rows, columns, width});
    for (std::int64_t i = 1; i < ctx.config.num_hidden_layers; ++i) {
        rows /= high;
        columns /= expanded_width;
        h = h.view({batch, rows, high, columns, expanded_width, width}).permute({0, 2, 4, 1, 3, 5});
        batch *= high * expanded_width;
        h = t.reshape(h, {batch, rows, columns, width});
    }
    return t.reshape(h, {-1, tokens, width});
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    const module_info encoder{.name = "encoder", .class_of_module = ctx.class_of("Encoder")};
    const module_info pooler{.name = "pooler", .class_of_module = ctx.class_of("Pooler")};
    const module_info mean{.name = "pooler", .class_of_module = {"", "AdaptiveAvgPool1d"}, .is_leaf = true};
    tensor x = unroll(ctx, t, embed(ctx, t));
    t.enter(encoder);
    for (std::int64_t i = 0; i < ctx.config.num_hidden_layers; ++i) x = stage(ctx, t, i, x);
    t.leave(encoder);
    const recorder::detach_guard unread{t, ctx.config.head == head_kind::none};
    t.enter(pooler);
    t.enter(mean);
    const tensor h = t.leave(mean, t.mean(x.transpose(1, 2), -1));
    const tensor pooled = t.leave(pooler, t.call("layernorm", norm_module{norm_kind::layer, x.dim(2)}, h));
    return ctx.config.head == head_kind::none ? x : pooled;
}

/// Two numbers of a list, or what both are without one.
struct pair {
    std::int64_t rows, columns;
};
constexpr pair parse_pair(config_view json, literal key, std::int64_t default_value, bool zeros = false) {
    const auto found = json.find(key);
    if (!found || found->is_null()) return {default_value, default_value};
    if (!found->is_array() || found->size() != 2) throw_invalid_value(json, key, "a list of two numbers");
    const auto number = [&](std::uint32_t i) {
        return zeros ? (*found)[i].as_non_negative() : (*found)[i].as_positive();
    };
    return {number(0), number(1)};
}
constexpr std::int64_t parse_side(config_view json, literal key, std::int64_t default_value, bool zeros = false) {
    const pair sides = parse_pair(json, key, default_value, zeros);
    if (sides.rows != sides.columns) throw_unsupported(json, key, "patches with different sides are not supported");
    return sides.rows;
}

constexpr void parse_masked(config_view json, model_config& config, std::int64_t n) {
    const auto found = json.find("masked_unit_attention");
    if (!found || found->is_null()) {
        if (n > 4) throw_invalid_value(json, "masked_unit_attention", "a list with an entry for each stage");
        config.family[masked] = 3;  // the first two
        return;
    }
    if (!found->is_array() || static_cast<std::int64_t>(found->size()) < n)
        throw_invalid_value(json, "masked_unit_attention", "a list with an entry for each stage");
    for (std::int64_t i = 0; i < n; ++i)
        if ((*found)[static_cast<std::uint32_t>(i)].as_boolean()) config.family[masked] |= std::int64_t{1} << i;
}

/// Each stage's tokens must fall into units and pools without a rest.
constexpr void check_stages(config_view json, const model_config& config, pair grid) {
    const std::int64_t n = config.num_hidden_layers, pooled = pool_area(config);
    std::int64_t tokens = grid.rows * grid.columns;
    for (std::int64_t i = 1; i < n; ++i) {
        if (grid.rows % config.family[pool_rows] != 0 || grid.columns % config.family[pool_columns] != 0)
            throw_invalid_value(json, "image_size",
                                "a size whose patches are divisible by query_stride before each stage");
        grid.rows /= config.family[pool_rows];
        grid.columns /= config.family[pool_columns];
    }
    for (std::int64_t i = 0; i < n; ++i) {
        const layer_sizes first = first_layer(config, i), repeated_layer = repeated_layer_sizes(config, i);
        if (first.out < 1 || times_ratio(config, ratio, first.out) < 1)
            throw_invalid_value(json, "embed_dim_multiplier", "factors that leave a feature");
        if (first.out % first.heads != 0) throw_invalid_value(json, "num_heads", "divisors of each stage's width");
        if (first.pooled > 1 && first.in == first.out)
            throw_invalid_value(json, "embed_dim_multiplier", "another width in each stage that pools");
        const auto fits = [&](const layer_sizes& layer_config) {
            const std::int64_t unit = layer_config.pooled * layer_config.window;
            return tokens % layer_config.pooled == 0 && (!layer_config.units || (unit > 0 && tokens % unit == 0));
        };
        if (!fits(first)) throw_invalid_value(json, "masked_unit_size", "units that each stage's tokens fill");
        tokens /= first.pooled;
        if (stage_entry(config, depths, i) > 1 && !fits(repeated_layer))
            throw_invalid_value(json, "masked_unit_size", "units that each stage's tokens fill");
    }
    if (pooled < 1) throw_invalid_value(json, "query_stride", "positive numbers");
}

}  // namespace hiera_detail

/// Attention within units of places and among all, in stages whose first layer pools queries.
///
/// Source: transformers/models/hiera/modeling_hiera.py.
constexpr tensor forward_hiera(const layer_context& ctx, trace& t) {
    return forward_image_model(ctx, t, "hiera", hiera_detail::base, classify_linear);
}

constexpr void parse_hiera(config_view json, model_config& config) {
    using namespace hiera_detail;
    config.vision = parse_image_size(json, 224);
    config.vision.patch_size = parse_side(json, "patch_size", 7);
    config.family[stride] = parse_side(json, "patch_stride", 4);
    config.family[padding] = parse_side(json, "patch_padding", 3, true);
    config.embedding_size = json.positive("embed_dim", 96);
    const std::int64_t n = config.num_hidden_layers =
        parse_stages(json, "depths", {2, 3, 16, 3}, config.family, depths, maximum);
    if (n > 4 && !json.contains("num_heads")) throw_invalid_value(json, "num_heads", "one number per stage");
    if (parse_stages(json, "num_heads", {1, 2, 4, 8}, config.family, heads, maximum) < n)
        throw_invalid_value(json, "num_heads", "one number per stage");
    if (config.family[pools] >= n) throw_invalid_value(json, "num_query_pool", "less than there are stages");
    const pair pool = parse_pair(json, "query_stride", 2), unit = parse_pair(json, "masked_unit_size", 8);
    config.family[pool_rows] = pool.rows;
    config.family[pool_columns] = pool.columns;
    config.family[area] = unit.rows * unit.columns;
    std::int64_t parts = 1;
    for (std::int64_t i = 1; i < n && parts <= unit.rows; ++i) parts *= pool.rows;
    if (unit.rows % parts != 0)
        throw_invalid_value(json, "masked_unit_size", "a multiple of query_stride in all stages");
    parse_masked(json, config, n);
    parse_ratio(json, "mlp_ratio", 4.0, config.family, ratio);
    parse_ratio(json, "embed_dim_multiplier", 2.0, config.family, growth);
    config.family[drops] = json.real("drop_path_rate", 0.0) > 0.0;
    const vision_config& image = config.vision;
    const auto cut = [&](std::int64_t side) {
        return (side + 2 * config.family[padding] - image.patch_size) / config.family[stride] + 1;
    };
    const pair grid{image.image_height / config.family[stride], image.image_width / config.family[stride]};
    if (cut(image.image_height) * cut(image.image_width) != grid.rows * grid.columns || grid.rows < 1 ||
        grid.columns < 1)
        throw_invalid_value(json, "patch_padding", "a padding that leaves as many patches as patch_stride makes");
    check_stages(json, config, grid);
}

// transformers/models/hiera: configuration_hiera.py, modeling_hiera.py
inline constexpr model_spec hiera{
    .model_type = "hiera",
    .class_prefix = "Hiera",
    .forward = forward_hiera,
    .parse_config = parse_hiera,
    .family_keys = hiera_detail::family_keys,
    .dropout_keys = dropout_key_table::none(),
    .rotary = rotary_style::none,
    .supported_heads = {head_kind::none, head_kind::image_classification},
    .defaults = image_defaults(activation::gelu),
};

}  // namespace llmcost::arch
