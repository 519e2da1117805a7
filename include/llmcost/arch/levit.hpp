// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/reading/images.hpp>
#include <llmcost/walks/images.hpp>

namespace llmcost::arch {

namespace levit_detail {

inline constexpr std::int64_t stages = 3;  // the reference shrinks images twice

enum own : std::uint8_t {
    kernel,
    stride,
    padding,
    patch,
    widths,
    heads = 7,
    depths = 10,
    key_dims = 13,
    inner = 16,
    ratios = 19,
    down = 22
};
inline constexpr own_key keys[]{
    {"kernel_size", 3}, {"stride", 2}, {"padding", 1, own_value::non_negative}, {"patch_size", 16}};

/// A linear layer and a norm over the batch's tokens.
struct normed_linear {
    std::int64_t in, out;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {"", "MLPLayerWithBN"}; }
    constexpr value describe(trace& t, const value& x) const {
        const value h = t.call("linear", linear{in, out}, x);
        const value rows = h.view({h.dim(0) * h.dim(1), out});
        return t.call("batch_norm", batch_norm_2d{out, "BatchNorm1d"}, rows).view({h.dim(0), h.dim(1), out});
    }
};

struct feed_forward {
    const site& here;
    std::int64_t width, inner_width;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("MLPLayer"); }
    constexpr value describe(trace& t, const value& x) const {
        value h = t.call("linear_up", normed_linear{width, inner_width}, x);
        h = t.call("activation", activation_module{activation::hardswish}, h);
        return t.call("linear_down", normed_linear{inner_width, width}, h);
    }
};

/// Attention over a square of so many rows; queries skip rows by steps.
struct attention_sizes {
    std::int64_t in, out, key_dim, heads, ratio, rows, step = 1;
};
constexpr value mix(trace& t, const attention_sizes& dims, const value& q, const value& k, const value& v,
                    const value& biases) {
    const std::int64_t heads = dims.heads, queries = q.dim(2);
    const context where{.sequence = queries, .causal = false};
    const recorder::fused_guard fused{t, fused_attention(q, heads, where, k.dim(2))};
    const value scores = t.add(t.mul(t.matmul_operator(q, k.transpose(-2, -1))), biases);
    const value mixed = t.matmul_operator(t.softmax_method(scores), v).transpose(1, 2);
    return t.reshape(mixed, {q.dim(0), queries, dims.ratio * dims.key_dim * heads});
}
/// The table of biases, one for each distance along both sides. The first pass has spread it over queries and keys; later
/// ones read what it has kept, through which no gradient goes.
constexpr value spread_biases(trace& t, const attention_sizes& dims, std::int64_t queries) {
    const recorder::idle_guard spread_before{t};
    (void)t.param("attention_biases", {dims.heads, dims.rows * dims.rows});
    value biases = trace::buffer({dims.heads, queries, dims.rows * dims.rows});
    biases.type = t.activation_type();
    return biases;
}

struct attention {
    const site& here;
    attention_sizes dims;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Attention"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t heads = dims.heads, d = dims.key_dim, wide = dims.ratio * d;
        const value biases = spread_biases(t, dims, x.dim(1));
        const value all = t.call("queries_keys_values", normed_linear{dims.in, (wide + 2 * d) * heads}, x)
                              .view({x.dim(0), x.dim(1), heads, wide + 2 * d});
        const auto part = [&](std::int64_t width) { return all.slice(3, width).permute({0, 2, 1, 3}); };
        value h = mix(t, dims, part(d), part(d), part(wide), biases);
        h = t.call("activation", activation_module{activation::hardswish}, h);
        return t.call("projection", normed_linear{wide * heads, dims.out}, h);
    }
};

/// Every so many rows and columns of tokens.
struct subsample {
    const site& here;
    std::int64_t rows, step;

    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return here.type("Subsample"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t fewer = (rows - 1) / step + 1;
        const value grid = x.view({x.dim(0), rows, rows, x.dim(2)});
        return t.reshape(t.slice(t.slice(grid, 1, fewer, step), 2, fewer, step), {x.dim(0), fewer * fewer, x.dim(2)});
    }
};

/// Attention whose queries are fewer than its keys.
struct shrinking_attention {
    const site& here;
    attention_sizes dims;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("AttentionSubsample"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t heads = dims.heads, d = dims.key_dim, wide = dims.ratio * d, batch = x.dim(0);
        const std::int64_t fewer = (dims.rows - 1) / dims.step + 1, queries = fewer * fewer;
        const value biases = spread_biases(t, dims, queries);
        const value both =
            t.call("keys_values", normed_linear{dims.in, (wide + d) * heads}, x).view({batch, x.dim(1), heads, wide + d});
        const value k = both.slice(3, d).permute({0, 2, 1, 3}), v = both.slice(3, wide).permute({0, 2, 1, 3});
        const value picked = t.call("queries_subsample", subsample{here, dims.rows, dims.step}, x);
        const value q = t.call("queries", normed_linear{dims.in, d * heads}, picked)
                            .view({batch, queries, heads, d})
                            .permute({0, 2, 1, 3});
        value h = mix(t, dims, q, k, v, biases);
        h = t.call("activation", activation_module{activation::hardswish}, h);
        return t.call("projection", normed_linear{wide * heads, dims.out}, h);
    }
};

/// What a module gives, added to what it was given.
template <class Inside>
constexpr value residual(const site& here, trace& t, std::int64_t index, const Inside& inside, const value& x) {
    const module_info m{.name = "layers", .index = index, .type = here.type("ResidualLayer")};
    t.enter(m);
    return t.leave(m, t.add(x, t.call("module", inside, x)));
}

/// How a stage ends: fewer tokens of another width.
struct shrinking_sizes {
    std::int64_t key_dim, heads, ratio, inner, step;

    [[nodiscard]] constexpr std::int64_t packed() const noexcept {
        return (((key_dim << 20 | heads) << 8 | ratio) << 8 | inner) << 8 | step;
    }
    [[nodiscard]] static constexpr shrinking_sizes unpacked(std::int64_t n) noexcept {
        return {n >> 44, n >> 24 & 0xfffff, n >> 16 & 0xff, n >> 8 & 0xff, n & 0xff};
    }
};

/// A square of tokens, and how many rows it has.
struct grid {
    value tokens;
    std::int64_t rows;
};

constexpr grid stage(const site& here, trace& t, std::int64_t i, grid x) {
    const sizes& dims = here.dims;
    const std::int64_t width = of_stage(dims, widths, i), depth = of_stage(dims, depths, i),
                       wider = of_stage(dims, inner, i);
    const std::int64_t each_depth = wider > 0 ? 2 : 1;
    const module_info module{.name = "stages", .index = i, .type = here.type("Stage")};
    const attention_sizes attends{
        width, width, of_stage(dims, key_dims, i), of_stage(dims, heads, i), of_stage(dims, ratios, i), x.rows};
    value& h = x.tokens;
    t.enter(module);
    for (repetition each = t.repeat(depth, h); each.next();) {
        const std::int64_t at = each.index() * each_depth;
        h = residual(here, t, at, attention{here, attends}, h);
        if (wider > 0) h = residual(here, t, at + 1, feed_forward{here, width, width * wider}, h);
    }
    if (i + 1 < stages) {
        const auto last = shrinking_sizes::unpacked(dims.own[down + static_cast<std::size_t>(i)]);
        const std::int64_t next = of_stage(dims, widths, i + 1), at = depth * each_depth;
        const attention_sizes shrinks{width, next, last.key_dim, last.heads, last.ratio, x.rows, last.step};
        h = t.call({"layers", at}, shrinking_attention{here, shrinks}, h);
        x.rows = (x.rows - 1) / last.step + 1;
        if (last.inner > 0) h = residual(here, t, at + 1, feed_forward{here, next, next * last.inner}, h);
    }
    t.leave(module);
    return x;
}

/// Four convolutions, each of which halves the image.
constexpr value embed(const site& here, trace& t) {
    constexpr literal blocks[]{"embedding_layer_1", "embedding_layer_2", "embedding_layer_3", "embedding_layer_4"};
    constexpr literal acts[]{"activation_layer_1", "activation_layer_2", "activation_layer_3"};
    const module_info patches{.name = "patch_embeddings", .type = here.type("PatchEmbeddings"), .what = role::embedding};
    value x = images_of(here, t);
    t.enter(patches);
    for (int i = 0; i < 4; ++i) {
        const std::int64_t width = here.dims.own[widths] / (8 >> i);
        const module_info block{.name = blocks[i], .type = here.type("ConvEmbeddings")};
        const convolution_2d convolution{
            x.dim(1), width, here.dims.own[kernel], here.dims.own[stride], here.dims.own[padding], 1, false};
        t.enter(block);
        x = t.leave(block, t.call("batch_norm", batch_norm_2d{width}, t.call("convolution", convolution, x)));
        if (i < 3) x = t.call(acts[i], activation_module{activation::hardswish}, x);
    }
    return t.leave(patches, as_tokens(x));
}

constexpr value base(const site& here, trace& t) {
    const module_info encoder{.name = "encoder", .type = here.type("Encoder")};
    grid x{embed(here, t), here.dims.vision.image_height / here.dims.own[patch]};
    t.enter(encoder);
    for (std::int64_t i = 0; i < stages; ++i) x = stage(here, t, i, x);
    t.leave(encoder);
    const recorder::off_loss_guard unread{t};
    (void)t.mean(x.tokens, 1);
    return x.tokens;
}

constexpr value score_by(const site& here, trace& t, literal name, const value& x) {
    if (here.dims.num_labels == 0) return t.call(name, identity{"Identity"}, x);
    const module_info layer{.name = name, .type = here.type("ClassificationLayer"), .what = role::head};
    t.enter(layer);
    const value h = t.call("batch_norm", batch_norm_2d{x.dim(1), "BatchNorm1d"}, x);
    return t.leave(layer, t.call("linear", linear{x.dim(1), here.dims.num_labels, true}, h));
}
constexpr value score(const site& here, trace& t, const value& x) {
    const value mean = t.mean(x, 1), labels = score_by(here, t, "classifier", mean);
    if (here.dims.head != head_kind::image_classification_with_teacher) return labels;
    return t.div(t.add(labels, score_by(here, t, "classifier_distill", mean)));
}

constexpr shrinking_sizes read_shrinking(config_view config, const own_sizes& own, std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    shrinking_sizes s{own[key_dims], own[widths + at] / own[key_dims], 4, 2, 2};
    const auto found = config.find("down_ops");  // written beside what the configuration class makes of other keys
    if (found && !found->is_null()) {
        if (!found->is_array() || static_cast<std::int64_t>(found->size()) <= i)
            fail_value(config, "down_ops", "a list with an entry for each stage");
        const config_view entry = (*found)[static_cast<std::uint32_t>(i)];
        if (!entry.is_array() || entry.size() != 6 || entry[0].as_string() != "Subsample")
            fail_unsupported(config, "down_ops", "no row describes a stage that ends otherwise");
        s = {entry[1].as_positive(), entry[2].as_positive(), entry[3].as_positive(), entry[4].as_non_negative(),
             entry[5].as_positive()};
    }
    if (s.heads < 1 || s.key_dim > 0x7ffff || s.heads > 0xfffff || s.ratio > 0xff || s.inner > 0xff || s.step > 0xff)
        fail_value(config, "down_ops", "numbers in the range that a row describes");
    return s;
}

}  // namespace levit_detail

/// Convolutions, then attention over places with a bias for each distance, in stages.
///
/// Source: transformers/models/levit/modeling_levit.py. The first pass spreads the biases; later ones find them.
constexpr value describe_levit(const site& here, trace& t) {
    return describe_image_model(here, t, "levit", levit_detail::base, levit_detail::score);
}

constexpr void read_levit(config_view config, sizes& s) {
    using namespace levit_detail;
    const std::int64_t side = config.positive("image_size", 224);
    s.vision = {side, side, s.own[patch], config.positive("num_channels", 3)};
    if (read_stages(config, "depths", {4, 4, 4}, s.own, depths) != stages)
        fail_unsupported(config, "depths", "no row describes another number of stages than three");
    const auto lists = [&](literal key, std::initializer_list<std::int64_t> otherwise, std::size_t at, bool zeros = false) {
        read_stages_of(config, key, otherwise, s.own, at, stages, stages, zeros);
    };
    lists("hidden_sizes", {128, 256, 384}, widths), lists("num_attention_heads", {4, 8, 12}, heads);
    lists("key_dim", {16, 16, 16}, key_dims), lists("mlp_ratio", {2, 2, 2}, inner, true);
    lists("attention_ratio", {2, 2, 2}, ratios);
    if (s.own[widths] < 8) fail_value(config, "hidden_sizes", "at least eight features");
    for (std::int64_t i = 0; i + 1 < stages; ++i)
        s.own[down + static_cast<std::size_t>(i)] = read_shrinking(config, s.own, i).packed();
    std::int64_t rows = side;
    for (int i = 0; i < 4; ++i) {
        if (rows + 2 * s.own[padding] < s.own[kernel])
            fail_value(config, "image_size", "an image that the kernels fit into");
        rows = (rows + 2 * s.own[padding] - s.own[kernel]) / s.own[stride] + 1;
    }
    if (rows != side / s.own[patch]) fail_value(config, "patch_size", "as many pixels as four convolutions make one of");
    s.num_attention_heads = s.num_key_value_heads = 0;
}

// transformers/models/levit: configuration_levit.py, modeling_levit.py
inline constexpr architecture levit{
    .model_type = "levit",
    .prefix = "Levit",
    .describe = describe_levit,
    .read = read_levit,
    .own = levit_detail::keys,
    .rotated = rotation::none,
    .heads = {head_kind::none, head_kind::image_classification, head_kind::image_classification_with_teacher},
    .keys = {{"num_attention_heads", "", key_rule::absent}},
    .defaults = image_defaults(activation::relu),
};

}  // namespace llmcost::arch
