// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/image_stages.hpp>
#include <llmcost/forward/images.hpp>

namespace llmcost::arch {

namespace levit_detail {

inline constexpr std::int64_t stages = 3;  // the reference shrinks images twice

enum family_config_index : std::uint8_t {
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

inline constexpr family_key family_keys[]{
    {"kernel_size", 3}, {"stride", 2}, {"padding", 1, family_key_type::non_negative}, {"patch_size", 16}};

/// A linear layer and a norm over the batch's tokens.
struct normed_linear {
    std::int64_t in, out;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "MLPLayerWithBN"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor h = t.call("linear", linear{in, out}, x);
        const tensor rows = h.view({h.dim(0) * h.dim(1), out});
        return t.call("batch_norm", batch_norm_2d{out, "BatchNorm1d"}, rows).view({h.dim(0), h.dim(1), out});
    }
};

struct mlp_layer {
    const layer_context& ctx;
    std::int64_t width, inner_width;

    static constexpr role module_role = role::mlp;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("MLPLayer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        tensor h = t.call("linear_up", normed_linear{width, inner_width}, x);
        h = t.call("activation", activation_module{activation::hardswish}, h);
        return t.call("linear_down", normed_linear{inner_width, width}, h);
    }
};

/// Attention over a square of so many rows; queries skip rows by steps.
struct attention_sizes {
    std::int64_t in, out, key_dim, heads, ratio, rows, step = 1;
};

constexpr tensor compute_attention(trace& t, const attention_sizes& attention_config, const tensor& q, const tensor& k,
                                   const tensor& v, const tensor& biases) {
    const std::int64_t heads = attention_config.heads, queries = q.dim(2);
    const attention_pattern pattern{.query_length = queries, .is_causal = false};
    const recorder::fused_kernel_guard fused{t, fused_attention_kernel(q, heads, pattern, k.dim(2))};
    const tensor scores = t.add(t.mul_scalar(t.matmul_operator(q, k.transpose(-2, -1))), biases);
    const tensor mixed = t.matmul_operator(t.softmax_method(scores), v).transpose(1, 2);
    return t.reshape(mixed, {q.dim(0), queries, attention_config.ratio * attention_config.key_dim * heads});
}

/// Returns the attention biases, one per relative position along both sides, expanded to queries and keys. The first
/// inference pass caches the expanded biases; later passes read the cache, without gradients. Training mode expands
/// them in each pass.
constexpr tensor spread_biases(trace& t, const attention_sizes& attention_config, std::int64_t queries) {
    const std::int64_t keys = attention_config.rows * attention_config.rows;
    t.register_integer_buffer(queries * keys);  // `attention_bias_idxs`
    const recorder::not_executed_guard spread_before{t, !t.load().is_train_mode};
    const tensor learned = t.param("attention_biases", {attention_config.heads, keys});
    if (t.load().is_train_mode) return t.gather(learned, {attention_config.heads, queries, keys});
    tensor biases = trace::buffer({attention_config.heads, queries, keys});
    biases.type = t.activation_type();
    return biases;
}

struct attention {
    const layer_context& ctx;
    attention_sizes attention_config;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Attention"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t heads = attention_config.heads, d = attention_config.key_dim,
                           expanded_width = attention_config.ratio * d;
        const tensor biases = spread_biases(t, attention_config, x.dim(1));
        const tensor all =
            t.call("queries_keys_values", normed_linear{attention_config.in, (expanded_width + 2 * d) * heads}, x)
                .view({x.dim(0), x.dim(1), heads, expanded_width + 2 * d});
        const auto part = [&](std::int64_t width) { return all.slice(3, width).permute({0, 2, 1, 3}); };
        tensor h = compute_attention(t, attention_config, part(d), part(d), part(expanded_width), biases);
        h = t.call("activation", activation_module{activation::hardswish}, h);
        return t.call("projection", normed_linear{expanded_width * heads, attention_config.out}, h);
    }
};

/// Every so many rows and columns of tokens.
struct subsample {
    const layer_context& ctx;
    std::int64_t rows, step;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Subsample"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t num_rows = (rows - 1) / step + 1;
        const tensor grid = x.view({x.dim(0), rows, rows, x.dim(2)});
        return t.reshape(t.slice(t.slice(grid, 1, num_rows, step), 2, num_rows, step),
                         {x.dim(0), num_rows * num_rows, x.dim(2)});
    }
};

/// Attention whose queries are fewer than its keys.
struct shrinking_attention {
    const layer_context& ctx;
    attention_sizes attention_config;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("AttentionSubsample"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t heads = attention_config.heads, d = attention_config.key_dim,
                           expanded_width = attention_config.ratio * d, batch = x.dim(0);
        const std::int64_t num_rows = (attention_config.rows - 1) / attention_config.step + 1,
                           queries = num_rows * num_rows;
        const tensor biases = spread_biases(t, attention_config, queries);
        const tensor kv = t.call("keys_values", normed_linear{attention_config.in, (expanded_width + d) * heads}, x)
                              .view({batch, x.dim(1), heads, expanded_width + d});
        const tensor k = kv.slice(3, d).permute({0, 2, 1, 3}), v = kv.slice(3, expanded_width).permute({0, 2, 1, 3});
        const tensor picked =
            t.call("queries_subsample", subsample{ctx, attention_config.rows, attention_config.step}, x);
        const tensor q = t.call("queries", normed_linear{attention_config.in, d * heads}, picked)
                             .view({batch, queries, heads, d})
                             .permute({0, 2, 1, 3});
        tensor h = compute_attention(t, attention_config, q, k, v, biases);
        h = t.call("activation", activation_module{activation::hardswish}, h);
        return t.call("projection", normed_linear{expanded_width * heads, attention_config.out}, h);
    }
};

/// What a module gives, added to what it was given.
template <class Inside>
constexpr tensor add_residual(const layer_context& ctx, trace& t, std::int64_t index, const Inside& block,
                              const tensor& x) {
    const module_info m{.name = "layers", .index = index, .class_of_module = ctx.class_of("ResidualLayer")};
    t.enter(m);
    return t.leave(m, t.add(x, t.call("module", block, x)));
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
    tensor tokens;
    std::int64_t rows;
};

constexpr grid stage(const layer_context& ctx, trace& t, std::int64_t i, grid x) {
    const model_config& config = ctx.config;
    const std::int64_t width = stage_entry(config, widths, i), depth = stage_entry(config, depths, i),
                       wider = stage_entry(config, inner, i);
    const std::int64_t each_depth = wider > 0 ? 2 : 1;
    const module_info module{.name = "stages", .index = i, .class_of_module = ctx.class_of("Stage")};
    const attention_sizes attends{
        width, width, stage_entry(config, key_dims, i), stage_entry(config, heads, i), stage_entry(config, ratios, i),
        x.rows};
    tensor& h = x.tokens;
    t.enter(module);
    for (loop layer_loop = t.loop_modules(depth, h); layer_loop.next();) {
        const std::int64_t block_index = layer_loop.index() * each_depth;
        h = add_residual(ctx, t, block_index, attention{ctx, attends}, h);
        if (wider > 0) h = add_residual(ctx, t, block_index + 1, mlp_layer{ctx, width, width * wider}, h);
    }
    if (i + 1 < stages) {
        const auto last = shrinking_sizes::unpacked(config.family[down + static_cast<std::size_t>(i)]);
        const std::int64_t next = stage_entry(config, widths, i + 1), block_index = depth * each_depth;
        const attention_sizes shrinks{width, next, last.key_dim, last.heads, last.ratio, x.rows, last.step};
        h = t.call({"layers", block_index}, shrinking_attention{ctx, shrinks}, h);
        x.rows = (x.rows - 1) / last.step + 1;
        if (last.inner > 0) h = add_residual(ctx, t, block_index + 1, mlp_layer{ctx, next, next * last.inner}, h);
    }
    t.leave(module);
    return x;
}

/// Four convolutions, each of which halves the image.
constexpr tensor embed(const layer_context& ctx, trace& t) {
    constexpr literal blocks[]{"embedding_layer_1", "embedding_layer_2", "embedding_layer_3", "embedding_layer_4"};
    constexpr literal acts[]{"activation_layer_1", "activation_layer_2", "activation_layer_3"};
    const module_info patches{
        .name = "patch_embeddings", .class_of_module = ctx.class_of("PatchEmbeddings"), .module_role = role::embedding};
    tensor x = image_input(ctx, t);
    t.enter(patches);
    for (int i = 0; i < 4; ++i) {
        const std::int64_t width = ctx.config.family[widths] / (8 >> i);
        const module_info block{.name = blocks[i], .class_of_module = ctx.class_of("ConvEmbeddings")};
        const convolution_2d convolution{
            x.dim(1), width, ctx.config.family[kernel], ctx.config.family[stride], ctx.config.family[padding],
            1,        false};
        t.enter(block);
        x = t.leave(block, t.call("batch_norm", batch_norm_2d{width}, t.call("convolution", convolution, x)));
        if (i < 3) x = t.call(acts[i], activation_module{activation::hardswish}, x);
    }
    return t.leave(patches, as_tokens(x));
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    const module_info encoder{.name = "encoder", .class_of_module = ctx.class_of("Encoder")};
    grid x{embed(ctx, t), ctx.config.vision.image_height / ctx.config.family[patch]};
    t.enter(encoder);
    for (std::int64_t i = 0; i < stages; ++i) x = stage(ctx, t, i, x);
    t.leave(encoder);
    const recorder::detach_guard unread{t};
    (void)t.mean(x.tokens, 1);
    return x.tokens;
}

constexpr tensor score_by(const layer_context& ctx, trace& t, literal name, const tensor& x) {
    if (ctx.config.num_labels == 0) return t.call(name, identity{"Identity"}, x);
    const module_info layer{
        .name = name, .class_of_module = ctx.class_of("ClassificationLayer"), .module_role = role::head};
    t.enter(layer);
    const tensor h = t.call("batch_norm", batch_norm_2d{x.dim(1), "BatchNorm1d"}, x);
    return t.leave(layer, t.call("linear", linear{x.dim(1), ctx.config.num_labels, true}, h));
}

constexpr tensor score(const layer_context& ctx, trace& t, const tensor& x) {
    const tensor mean = t.mean(x, 1), labels = score_by(ctx, t, "classifier", mean);
    if (ctx.config.head != head_kind::image_classification_with_teacher) return labels;
    return t.div_scalar(t.add(labels, score_by(ctx, t, "classifier_distill", mean)));
}

constexpr shrinking_sizes parse_shrinking(config_view json, const family_config& family, std::int64_t i) {
    const auto index = static_cast<std::size_t>(i);
    shrinking_sizes s{family[key_dims], family[widths + index] / family[key_dims], 4, 2, 2};
    const auto found = json.find("down_ops");  // the configuration class computes it from other keys
    if (found && !found->is_null()) {
        if (!found->is_array() || static_cast<std::int64_t>(found->size()) <= i)
            throw_invalid_value(json, "down_ops", "a list with an entry for each stage");
        const config_view entry = (*found)[static_cast<std::uint32_t>(i)];
        if (!entry.is_array() || entry.size() != 6 || entry[0].as_string() != "Subsample")
            throw_unsupported(json, "down_ops", "unsupported end of a stage");
        s = {entry[1].as_positive(), entry[2].as_positive(), entry[3].as_positive(), entry[4].as_non_negative(),
             entry[5].as_positive()};
    }
    if (s.heads < 1 || s.key_dim > 0x7ffff || s.heads > 0xfffff || s.ratio > 0xff || s.inner > 0xff || s.step > 0xff)
        throw_invalid_value(json, "down_ops", "numbers in the supported range");
    return s;
}

}  // namespace levit_detail

/// Convolutions, then attention over places with a bias for each distance, in stages.
///
/// Source: transformers/models/levit/modeling_levit.py. The first pass spreads the biases; later ones find them.
constexpr tensor forward_levit(const layer_context& ctx, trace& t) {
    return forward_image_model(ctx, t, "levit", levit_detail::base, levit_detail::score);
}

constexpr void parse_levit(config_view json, model_config& config) {
    using namespace levit_detail;
    const std::int64_t side = json.positive("image_size", 224);
    config.vision = {side, side, config.family[patch], json.positive("num_channels", 3)};
    if (parse_stages(json, "depths", {4, 4, 4}, config.family, depths) != stages)
        throw_unsupported(json, "depths", "unsupported number of stages; expected 3");
    const auto lists = [&](literal key, std::initializer_list<std::int64_t> defaults, std::size_t offset,
                           bool zeros = false) {
        parse_stages_of(json, key, defaults, config.family, offset, stages, stages, zeros);
    };
    lists("hidden_sizes", {128, 256, 384}, widths);
    lists("num_attention_heads", {4, 8, 12}, heads);
    lists("key_dim", {16, 16, 16}, key_dims);
    lists("mlp_ratio", {2, 2, 2}, inner, true);
    lists("attention_ratio", {2, 2, 2}, ratios);
    if (config.family[widths] < 8) throw_invalid_value(json, "hidden_sizes", "at least eight features");
    for (std::int64_t i = 0; i + 1 < stages; ++i)
        config.family[down + static_cast<std::size_t>(i)] = parse_shrinking(json, config.family, i).packed();
    std::int64_t rows = side;
    for (int i = 0; i < 4; ++i) {
        if (rows + 2 * config.family[padding] < config.family[kernel])
            throw_invalid_value(json, "image_size", "an image that the kernels fit into");
        rows = (rows + 2 * config.family[padding] - config.family[kernel]) / config.family[stride] + 1;
    }
    if (rows != side / config.family[patch])
        throw_invalid_value(json, "patch_size", "as many pixels as four convolutions make one of");
    config.num_attention_heads = config.num_key_value_heads = 0;
}

// transformers/models/levit: configuration_levit.py, modeling_levit.py
inline constexpr model_spec levit{
    .model_type = "levit",
    .class_prefix = "Levit",
    .forward = forward_levit,
    .parse_config = parse_levit,
    .family_keys = levit_detail::family_keys,
    .rotary = rotary_style::none,
    .supported_heads = {head_kind::none, head_kind::image_classification, head_kind::image_classification_with_teacher},
    .config_keys = {{"num_attention_heads", "", key_rule::absent}},
    .defaults = image_defaults(activation::relu),
};

}  // namespace llmcost::arch
