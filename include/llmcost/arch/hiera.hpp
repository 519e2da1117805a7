// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/layers/mlp.hpp>
#include <llmcost/layers/norm.hpp>
#include <llmcost/reading/images.hpp>
#include <llmcost/walks/images.hpp>

namespace llmcost::arch {

namespace hiera_detail {

inline constexpr std::int64_t most = 5;  // stages: three lists of so many

enum own : std::uint8_t { stride, padding, pools, pool_rows, pool_columns, area, masked, ratio, growth, drops, depths };
inline constexpr std::size_t heads = depths + most;
inline constexpr own_key keys[]{
    {.value = own_value::computed}, {.value = own_value::computed}, {"num_query_pool", 3, own_value::non_negative},
    {.value = own_value::computed}, {.value = own_value::computed}, {.value = own_value::computed},
    {.value = own_value::computed},  // stages that attend within units, a bit for each
    {.value = own_value::computed}, {.value = own_value::computed}, {.value = own_value::computed},
};

[[nodiscard]] constexpr std::int64_t grow(const sizes& dims, double base, std::int64_t times) {
    const double factor = __builtin_bit_cast(double, dims.own[growth]);
    double power = 1.0;
    for (std::int64_t i = 0; i < times; ++i) power *= factor;
    return static_cast<std::int64_t>(base * power);
}
[[nodiscard]] constexpr std::int64_t width_of(const sizes& dims, std::int64_t stage) {
    return grow(dims, static_cast<double>(dims.embedding_size), stage);
}
[[nodiscard]] constexpr std::int64_t pool_area(const sizes& dims) { return dims.own[pool_rows] * dims.own[pool_columns]; }
/// Tokens of a unit, in front of a stage's pooling or behind it.
[[nodiscard]] constexpr std::int64_t window_of(const sizes& dims, std::int64_t stage) {
    std::int64_t window = dims.own[area];
    for (std::int64_t i = 0; i < stage; ++i) window /= pool_area(dims);
    return window;
}
[[nodiscard]] constexpr bool within_units(const sizes& dims, std::int64_t stage) {
    return (dims.own[masked] >> stage & 1) != 0;
}

/// A layer: from one width to another, so many queries pooled into one, within units of tokens or among all.
struct layer_sizes {
    std::int64_t in, out, heads, pooled, window;
    bool units, drops_path;
};

struct attention {
    const site& here;
    const layer_sizes& dims;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("MaskUnitAttention"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t batch = x.dim(0), heads = dims.heads, d = dims.out / heads;
        const std::int64_t each = dims.units ? dims.pooled * dims.window : x.dim(1), units = x.dim(1) / each;
        const value all = t.call("qkv", linear{dims.in, 3 * dims.out, true}, x);
        const value split = t.reshape(all, {batch, each, units, 3, heads, d}).permute({3, 0, 4, 2, 1, 5});
        value q = split.select(0);
        const value k = split.select(0), v = split.select(0);
        if (dims.pooled > 1) {
            const value parts = q.view({batch, heads, units, dims.pooled, each / dims.pooled, d});
            q = t.max_over(parts, 3);
        }
        value mixed;
        {
            const context where{.sequence = q.dim(3), .causal = false};
            const recorder::fused_guard fused{
                t, fused_attention(dense({batch * units, heads, q.dim(3), d}), heads, where, each)};
            mixed = t.matmul_operator(t.softmax_method(t.matmul_operator(t.mul(q), k.transpose(-1, -2))), v);
        }
        const value joined = t.reshape(mixed.transpose(1, 3), {batch, -1, dims.out});
        return t.call("proj", linear{dims.out, dims.out, true}, joined);
    }
};

struct layer {
    const site& here;
    layer_sizes dims;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Layer"); }
    constexpr value describe(trace& t, const value& x) const {
        const drop_path_module path{here.row.prefix, dims.drops_path};
        const std::int64_t inner = times_ratio(here.dims, ratio, dims.out);
        const mlp<mlp_kind::plain> block{dims.out,         inner, here.dims.hidden_act,
                                         here.type("Mlp"), true,  {.up = "fc1", .down = "fc2", .act = "activation_fn"}};
        const value normed = t.call("layernorm_before", norm<norm_kind::layer>{dims.in}, x);
        value around = x;
        if (dims.in != dims.out) {
            around = t.call("proj", linear{dims.in, dims.out, true}, normed);
            around = t.max_over(around.view({x.dim(0), dims.pooled, -1, dims.out}), 1);
        }
        const value h = t.call("attn", attention{here, dims}, normed);
        const value middle = t.add(around, t.call("drop_path", path, h));
        const value after = t.call("layernorm_after", norm<norm_kind::layer>{dims.out}, middle);
        return t.add(middle, t.call("drop_path", path, t.call("mlp", block, after)));
    }
};

constexpr layer_sizes first_layer(const sizes& dims, std::int64_t i) {
    const bool pooled = i > 0 && i <= dims.own[pools];
    return {.in = width_of(dims, i > 0 ? i - 1 : 0),
            .out = width_of(dims, i),
            .heads = of_stage(dims, heads, i),
            .pooled = pooled ? pool_area(dims) : 1,
            .window = window_of(dims, i),
            .units = within_units(dims, i) || within_units(dims, i > 0 ? i - 1 : 0),
            // rates grow from zero in the first layer of all
            .drops_path = dims.own[drops] != 0 && i > 0};
}
constexpr layer_sizes other_layer(const sizes& dims, std::int64_t i) {
    layer_sizes other = first_layer(dims, i);
    other.in = other.out, other.pooled = 1, other.units = within_units(dims, i), other.drops_path = dims.own[drops] != 0;
    return other;
}

constexpr value stage(const site& here, trace& t, std::int64_t i, value x) {
    const module_info module{.name = "stages", .index = i, .type = here.type("Stage")};
    t.enter(module);
    x = t.call({"layers", 0}, layer{here, first_layer(here.dims, i)}, x);
    const layer other{here, other_layer(here.dims, i)};
    for (repetition each = t.repeat(of_stage(here.dims, depths, i) - 1, x, 1); each.next();)
        x = t.call({"layers", each.index()}, other, x);
    return t.leave(module, x);
}

/// Patches that may overlap, with learned positions.
constexpr value embed(const site& here, trace& t) {
    const vision_sizes& image = here.dims.vision;
    const std::int64_t width = here.dims.embedding_size, step = here.dims.own[stride];
    const std::int64_t tokens = (image.image_height / step) * (image.image_width / step);
    const module_info embeddings{.name = "embeddings", .type = here.type("Embeddings"), .what = role::embedding};
    const module_info patches{.name = "patch_embeddings", .type = here.type("PatchEmbeddings")};
    t.enter(embeddings);
    const value places = t.param("position_embeddings", {1, tokens, width});
    t.enter(patches);
    const convolution_2d cut{image.num_channels, width, image.patch_size, step, here.dims.own[padding]};
    const value h = t.leave(patches, as_tokens(t.call("projection", cut, images_of(here, t))));
    return t.leave(embeddings, t.add(h, places));
}

/// Tokens in an order in which those that are pooled together, and units, lie one behind the other.
constexpr value unroll(const site& here, trace& t, const value& x) {
    const vision_sizes& image = here.dims.vision;
    const std::int64_t step = here.dims.own[stride], width = x.dim(2), tokens = x.dim(1);
    const std::int64_t high = here.dims.own[pool_rows], wide = here.dims.own[pool_columns];
    std::int64_t rows = image.image_height / step, columns = image.image_width / step, batch = x.dim(0);
    value h = x.view({batch, rows, columns, width});
    for (std::int64_t i = 1; i < here.dims.num_hidden_layers; ++i) {
        rows /= high, columns /= wide;
        h = h.view({batch, rows, high, columns, wide, width}).permute({0, 2, 4, 1, 3, 5});
        batch *= high * wide;
        h = t.reshape(h, {batch, rows, columns, width});
    }
    return t.reshape(h, {-1, tokens, width});
}

constexpr value base(const site& here, trace& t) {
    const module_info encoder{.name = "encoder", .type = here.type("Encoder")};
    const module_info pooler{.name = "pooler", .type = here.type("Pooler")};
    const module_info mean{.name = "pooler", .type = {"", "AdaptiveAvgPool1d"}, .leaf = true};
    value x = unroll(here, t, embed(here, t));
    t.enter(encoder);
    for (std::int64_t i = 0; i < here.dims.num_hidden_layers; ++i) x = stage(here, t, i, x);
    t.leave(encoder);
    const recorder::off_loss_guard unread{t, here.dims.head == head_kind::none};
    t.enter(pooler);
    t.enter(mean);
    const value h = t.leave(mean, t.mean(x.transpose(1, 2), -1));
    const value pooled = t.leave(pooler, t.call("layernorm", norm<norm_kind::layer>{x.dim(2)}, h));
    return here.dims.head == head_kind::none ? x : pooled;
}

/// Two numbers of a list, or what both are without one.
struct pair {
    std::int64_t rows, columns;
};
constexpr pair read_pair(config_view config, literal key, std::int64_t otherwise, bool zeros = false) {
    const auto found = config.find(key);
    if (!found || found->is_null()) return {otherwise, otherwise};
    if (!found->is_array() || found->size() != 2) fail_value(config, key, "a list of two numbers");
    const auto number = [&](std::uint32_t i) { return zeros ? (*found)[i].as_non_negative() : (*found)[i].as_positive(); };
    return {number(0), number(1)};
}
constexpr std::int64_t read_side(config_view config, literal key, std::int64_t otherwise, bool zeros = false) {
    const pair both = read_pair(config, key, otherwise, zeros);
    if (both.rows != both.columns) fail_unsupported(config, key, "no row describes oblong patches");
    return both.rows;
}

constexpr void read_masked(config_view config, sizes& s, std::int64_t n) {
    const auto found = config.find("masked_unit_attention");
    if (!found || found->is_null()) {
        if (n > 4) fail_value(config, "masked_unit_attention", "a list with an entry for each stage");
        s.own[masked] = 3;  // the first two
        return;
    }
    if (!found->is_array() || static_cast<std::int64_t>(found->size()) < n)
        fail_value(config, "masked_unit_attention", "a list with an entry for each stage");
    for (std::int64_t i = 0; i < n; ++i)
        if ((*found)[static_cast<std::uint32_t>(i)].as_boolean()) s.own[masked] |= std::int64_t{1} << i;
}

/// Each stage's tokens must fall into units and pools without a rest.
constexpr void check_stages(config_view config, const sizes& s, pair grid) {
    const std::int64_t n = s.num_hidden_layers, pooled = pool_area(s);
    std::int64_t tokens = grid.rows * grid.columns;
    for (std::int64_t i = 1; i < n; ++i) {
        if (grid.rows % s.own[pool_rows] != 0 || grid.columns % s.own[pool_columns] != 0)
            fail_value(config, "image_size", "as many patches as query_stride divides in front of each stage");
        grid.rows /= s.own[pool_rows], grid.columns /= s.own[pool_columns];
    }
    for (std::int64_t i = 0; i < n; ++i) {
        const layer_sizes first = first_layer(s, i), other = other_layer(s, i);
        if (first.out < 1 || times_ratio(s, ratio, first.out) < 1)
            fail_value(config, "embed_dim_multiplier", "factors that leave a feature");
        if (first.out % first.heads != 0) fail_value(config, "num_heads", "divisors of each stage's width");
        if (first.pooled > 1 && first.in == first.out)
            fail_value(config, "embed_dim_multiplier", "another width in each stage that pools");
        const auto fits = [&](const layer_sizes& each) {
            const std::int64_t unit = each.pooled * each.window;
            return tokens % each.pooled == 0 && (!each.units || (unit > 0 && tokens % unit == 0));
        };
        if (!fits(first)) fail_value(config, "masked_unit_size", "units that each stage's tokens fill");
        tokens /= first.pooled;
        if (of_stage(s, depths, i) > 1 && !fits(other))
            fail_value(config, "masked_unit_size", "units that each stage's tokens fill");
    }
    if (pooled < 1) fail_value(config, "query_stride", "positive numbers");
}

}  // namespace hiera_detail

/// Attention within units of places and among all, in stages whose first layer pools queries.
///
/// Source: transformers/models/hiera/modeling_hiera.py.
constexpr value describe_hiera(const site& here, trace& t) {
    return describe_image_model(here, t, "hiera", hiera_detail::base, classify_linear);
}

constexpr void read_hiera(config_view config, sizes& s) {
    using namespace hiera_detail;
    s.vision = read_images(config, 224);
    s.vision.patch_size = read_side(config, "patch_size", 7);
    s.own[stride] = read_side(config, "patch_stride", 4), s.own[padding] = read_side(config, "patch_padding", 3, true);
    s.embedding_size = config.positive("embed_dim", 96);
    const std::int64_t n = s.num_hidden_layers = read_stages(config, "depths", {2, 3, 16, 3}, s.own, depths, most);
    if (n > 4 && !config.contains("num_heads")) fail_value(config, "num_heads", "a number for each stage");
    if (read_stages(config, "num_heads", {1, 2, 4, 8}, s.own, heads, most) < n)
        fail_value(config, "num_heads", "a number for each stage");
    if (s.own[pools] >= n) fail_value(config, "num_query_pool", "less than there are stages");
    const pair pool = read_pair(config, "query_stride", 2), unit = read_pair(config, "masked_unit_size", 8);
    s.own[pool_rows] = pool.rows, s.own[pool_columns] = pool.columns, s.own[area] = unit.rows * unit.columns;
    std::int64_t parts = 1;
    for (std::int64_t i = 1; i < n && parts <= unit.rows; ++i) parts *= pool.rows;
    if (unit.rows % parts != 0) fail_value(config, "masked_unit_size", "a multiple of query_stride in all stages");
    read_masked(config, s, n);
    read_ratio(config, "mlp_ratio", 4.0, s.own, ratio);
    read_ratio(config, "embed_dim_multiplier", 2.0, s.own, growth);
    s.own[drops] = config.real("drop_path_rate", 0.0) > 0.0;
    const vision_sizes& image = s.vision;
    const auto cut = [&](std::int64_t side) { return (side + 2 * s.own[padding] - image.patch_size) / s.own[stride] + 1; };
    const pair grid{image.image_height / s.own[stride], image.image_width / s.own[stride]};
    if (cut(image.image_height) * cut(image.image_width) != grid.rows * grid.columns || grid.rows < 1 || grid.columns < 1)
        fail_value(config, "patch_padding", "a padding that leaves as many patches as patch_stride makes");
    check_stages(config, s, grid);
}

// transformers/models/hiera: configuration_hiera.py, modeling_hiera.py
inline constexpr architecture hiera{
    .model_type = "hiera",
    .prefix = "Hiera",
    .describe = describe_hiera,
    .read = read_hiera,
    .own = hiera_detail::keys,
    .drops = dropout_keys::none(),
    .rotated = rotation::none,
    .heads = {head_kind::none, head_kind::image_classification},
    .defaults = image_defaults(activation::gelu),
};

}  // namespace llmcost::arch
