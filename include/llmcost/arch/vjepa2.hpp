// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/layers/attention.hpp>
#include <llmcost/layers/mlp.hpp>
#include <llmcost/layers/norm.hpp>
#include <llmcost/reading/images.hpp>
#include <llmcost/walks/encoder.hpp>
#include <llmcost/walks/videos.hpp>

namespace llmcost::arch {

namespace vjepa2_detail {

enum own : std::uint8_t {
    frames,
    tubelet,
    ratio,
    drops,
    pooler_layers,
    predictor_width,
    predictor_heads,
    predictor_layers,
    predictor_masks,
    predictor_ratio
};
inline constexpr own_key keys[]{{"frames_per_clip", 64},
                                {"tubelet_size", 2},
                                {.value = own_value::computed},
                                {.value = own_value::computed},
                                {"num_pooler_layers", 3, own_value::non_negative},
                                {"pred_hidden_size", 384},
                                {"pred_num_attention_heads", 12},
                                {"pred_num_hidden_layers", 12},
                                {"pred_num_mask_tokens", 10},
                                {.value = own_value::computed}};
[[nodiscard]] constexpr video_sizes own_video(const sizes& dims) noexcept {
    return {dims.own[frames], dims.vision.image_height, dims.vision.image_width};
}
constexpr media_shapes show(const model& m, const workload& load) { return show_one_video(load, own_video(m.dims), true); }

/// A stack of layers: the encoder's, or the predictor's.
struct stack_sizes {
    std::int64_t width, heads, inner;
};

/// Turned by where a token stands along one axis: an angle for each pair of neighbours (`rotate_queries_or_keys`).
constexpr value turn_along(trace& t, const value& x) {
    const std::int64_t n = x.dim(2), d = x.dim(3), half = d / 2;
    value omega = t.constant({half}, x.type);
    t.in_place(op::div, omega);
    omega = t.mul(t.unary(op::reciprocal, t.unary(op::power, omega)));
    value angles = t.mul(omega.unsqueeze(0).expand({n, half}));
    const value sin = t.unary(op::sin, angles), cos = t.unary(op::cos, angles);
    const auto twice = [&](const value& table) {
        return t.copy(table.view({1, 1, 1, n, half}).expand({1, 1, 2, n, half})).view({1, 1, n, d});
    };
    const value sines = twice(sin), cosines = twice(cos);
    const value pairs = x.view({x.dim(0), x.dim(1), n, half, 2}), one = pairs.select(-1);
    const value swapped = t.cat({t.neg(one).unsqueeze(-1), one.unsqueeze(-1)}, -1).view({x.dim(0), x.dim(1), n, d});
    return t.add(t.mul(x, cosines), t.mul(swapped, sines));
}

/// Queries or keys turned along time, rows and columns, a third of a head each, the rest as it is.
constexpr value turn(trace& t, const value& x) {
    const std::int64_t d = x.dim(3), part = 2 * (d / 3 / 2);
    const auto turned = [&] { return turn_along(t, t.slice(x, -1, part)); };
    const value time = turned(), row = turned(), column = turned();
    if (3 * part == d) return t.cat({time, row, column}, -1);
    return t.cat({time, row, column, t.slice(x, -1, d - 3 * part)}, -1);
}

struct attention {
    const site& here;
    stack_sizes dims;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("RopeAttention"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = dims.width, heads = dims.heads, batch = x.dim(0), n = x.dim(1);
        const auto project = [&](literal name) {
            const value all = t.call(name, linear{width, width, here.dims.attention_bias}, x);
            return all.view({batch, n, heads, width / heads}).transpose(1, 2);
        };
        value q = project("query"), k = project("key");
        const value v = project("value");
        k = turn(t, k), q = turn(t, q);
        const value mixed = t.reshape(eager_attention(t, q, k, v, all_positions(n).where, {}), {batch, n, width});
        {
            const recorder::idle_guard unused{t};
            (void)dropout(t, "dropout", mixed);
        }
        return t.call("proj", linear{width, width, true}, mixed);
    }
};

constexpr mlp<mlp_kind::plain> feed_forward(const site& here, const stack_sizes& dims) {
    return {dims.width, dims.inner, here.dims.hidden_act, here.type("MLP"), true,
            {.up = "fc1", .down = "fc2", .act = "activation"}};
}

struct layer {
    const site& here;
    stack_sizes dims;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Layer"); }
    constexpr value describe(trace& t, const value& x) const {
        const norm<norm_kind::layer> layer_norm{dims.width};
        const drop_path_module path{here.row.prefix, here.dims.own[drops] != 0};
        const value h = t.call("attention", attention{here, dims}, t.call("norm1", layer_norm, x));
        const value middle = t.add(t.call("drop_path", path, h), x);
        const value fed = t.call("mlp", feed_forward(here, dims), t.call("norm2", layer_norm, middle));
        return t.add(t.call("drop_path", path, fed), middle);
    }
};

constexpr value encode_videos(const site& here, trace& t) {
    const std::int64_t width = here.dims.hidden_size, patch = here.dims.vision.patch_size;
    const tubelet_convolution tubelets{here.dims.vision.num_channels, width, here.dims.own[tubelet], patch, patch};
    const module_info encoder{.name = "encoder", .type = here.type("Encoder")};
    const module_info embeddings{.name = "embeddings", .type = here.type("Embeddings"), .what = role::embedding};
    const module_info patches{.name = "patch_embeddings", .type = here.type("PatchEmbeddings3D")};
    value pixels = channels_first(pixels_of_videos(here, t, own_video(here.dims)));
    t.enter(encoder);
    t.enter(embeddings);
    if (pixels.dim(2) < tubelets.frames) {  // few frames are repeated as often as a tubelet has some
        const std::int64_t n = pixels.dim(2) * tubelets.frames;
        pixels = t.copy(pixels.select(2).unsqueeze(2).expand({pixels.dim(0), pixels.dim(1), n, pixels.dim(3), pixels.dim(4)}));
    }
    t.enter(patches);
    value x = t.leave(patches, tubelets_as_tokens(t.call("proj", tubelets, pixels)));
    t.leave(embeddings, x);
    const stack_sizes dims{width, here.dims.num_attention_heads, times_ratio(here.dims, ratio, width)};
    for (repetition each = t.repeat(here.dims.num_hidden_layers, x); each.next();)
        x = t.call({"layer", each.index()}, layer{here, dims}, x);
    return t.leave(encoder, t.call("layernorm", norm<norm_kind::layer>{width}, x));
}

/// What predicts masked tubelets, which a classifier does not call.
constexpr void declare_predictor(const site& here, trace& t) {
    const recorder::idle_guard unused{t};
    const std::int64_t width = here.dims.own[predictor_width], wide = here.dims.hidden_size;
    const module_info predictor{.name = "predictor", .type = here.type("Predictor")};
    const module_info embeddings{.name = "embeddings", .type = here.type("PredictorEmbeddings")};
    t.enter(predictor);
    t.enter(embeddings);
    (void)t.param("mask_tokens", {here.dims.own[predictor_masks], 1, 1, width});
    value x = t.call("predictor_embeddings", linear{wide, width, true}, trace::buffer({1, 1, wide}));
    t.leave(embeddings, x);
    const stack_sizes dims{width, here.dims.own[predictor_heads], times_ratio(here.dims, predictor_ratio, width)};
    for (repetition each = t.repeat(here.dims.own[predictor_layers], x); each.next();)
        x = t.call({"layer", each.index()}, layer{here, dims}, x);
    x = t.call("layernorm", norm<norm_kind::layer>{width}, x);
    t.leave(predictor, t.call("proj", linear{width, wide, true}, x));
}

constexpr value base(const site& here, trace& t) {
    const value x = encode_videos(here, t);
    declare_predictor(here, t);
    const recorder::off_loss_guard unread{t};
    (void)t.cat({t.gather_along(x, {x.dim(0), x.dim(1), x.dim(2)})}, 0);  // tokens that no mask hides: all
    return x;
}

/// Attention of the pooler, from `queries` to x.
constexpr value attend(const site& here, trace& t, const value& queries, const value& x) {
    const std::int64_t width = here.dims.hidden_size, heads = here.dims.num_attention_heads;
    const auto project = [&](literal name, const value& h) {
        const value all = t.call(name, linear{width, width, true}, h);
        return all.view({h.dim(0), h.dim(1), heads, width / heads}).transpose(1, 2);
    };
    const value q = project("q_proj", queries), k = project("k_proj", x), v = project("v_proj", x);
    const value mixed = eager_attention(t, q, k, v, {.sequence = q.dim(2), .causal = false}, {});
    return t.contiguous(t.reshape(mixed, {queries.dim(0), queries.dim(1), width}));
}

/// Layers over all tokens.
struct pooler_layer {
    const site& here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("PoolerSelfAttentionLayer"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size;
        const norm<norm_kind::layer> layer_norm{width};
        const module_info attention{.name = "self_attn", .type = here.type("PoolerSelfAttention"), .what = role::attn};
        value h = t.call("layer_norm1", layer_norm, x);
        t.enter(attention);
        h = t.leave(attention, t.call("out_proj", linear{width, width, true}, attend(here, t, h, h)));
        const value middle = t.add(x, h);
        h = t.call("layer_norm2", layer_norm, middle);
        return t.add(middle, t.call("mlp", feed_forward(here, {width, 0, 4 * width}), h));
    }
};

/// One learned query that looks at all tokens.
constexpr value pool(const site& here, trace& t, value x) {
    const std::int64_t width = here.dims.hidden_size;
    const norm<norm_kind::layer> layer_norm{width};
    const module_info pooler{.name = "pooler", .type = here.type("AttentivePooler")};
    const module_info last{.name = "cross_attention_layer", .type = here.type("PoolerCrossAttentionLayer")};
    const module_info cross{.name = "cross_attn", .type = here.type("PoolerCrossAttention"), .what = role::attn};
    t.enter(pooler);
    const value query = t.param("query_tokens", {1, 1, width});
    for (repetition each = t.repeat(here.dims.own[pooler_layers], x); each.next();)
        x = t.call({"self_attention_layers", each.index()}, pooler_layer{here}, x);
    const value queries = t.copy(query.expand({x.dim(0), 1, width}));
    t.enter(last);
    value h = t.call("layer_norm1", layer_norm, x);
    t.enter(cross);
    h = t.leave(cross, attend(here, t, queries, h));
    const value middle = t.add(queries, h);
    h = t.call("mlp", feed_forward(here, {width, 0, 4 * width}), t.call("layer_norm2", layer_norm, middle));
    h = t.leave(last, t.add(middle, h));
    return t.leave(pooler, h.squeeze(1));
}
constexpr value classify(const site& here, trace& t, const value& x) {
    return classify_linear(here, t, pool(here, t, x));
}

}  // namespace vjepa2_detail

/// A vision transformer over tubelets, turned by time and place, under a classifier behind an attentive pooler.
///
/// Source: transformers/models/vjepa2/modeling_vjepa2.py.
constexpr value describe_vjepa2(const site& here, trace& t) {
    return describe_video_model(here, t, vjepa2_detail::base, vjepa2_detail::classify);
}

constexpr void read_vjepa2(config_view config, sizes& s) {
    using namespace vjepa2_detail;
    const std::int64_t side = config.positive("crop_size", 256);
    s.vision = {side, side, config.positive("patch_size", 16), config.positive("in_chans", 3)};
    if (side < s.vision.patch_size) fail_value(config, "patch_size", "at most crop_size");
    read_ratio(config, "mlp_ratio", 4.0, s.own, ratio);
    read_ratio(config, "pred_mlp_ratio", 4.0, s.own, predictor_ratio);
    if (times_ratio(s, ratio, s.hidden_size) < 1) fail_value(config, "mlp_ratio", "a ratio that leaves a feature");
    if (times_ratio(s, predictor_ratio, s.own[predictor_width]) < 1)
        fail_value(config, "pred_mlp_ratio", "a ratio that leaves a feature");
    if (s.hidden_size % s.num_attention_heads != 0) fail_value(config, "num_attention_heads", "a divisor of hidden_size");
    if (s.own[predictor_width] % s.own[predictor_heads] != 0)
        fail_value(config, "pred_num_attention_heads", "a divisor of pred_hidden_size");
    if (s.num_labels == 0)
        fail_value(config, config.contains("num_labels") ? "num_labels" : "id2label", "at least one label under this head");
    s.attention_bias = config.boolean("qkv_bias", true);
    s.own[drops] = config.real("drop_path_rate", 0.0) > 0.0;
}

// transformers/models/vjepa2: configuration_vjepa2.py, modeling_vjepa2.py
inline constexpr architecture vjepa2{
    .model_type = "vjepa2",
    .prefix = "VJEPA2",
    .describe = describe_vjepa2,
    .read = read_vjepa2,
    .own = vjepa2_detail::keys,
    .media = vjepa2_detail::show,
    .reads = {.text = false, .videos = true},
    .rotated = rotation::none,
    .heads = {head_kind::video_classification},
    .names = {.base = "vjepa2"},
    .defaults =
        [] {
            sizes s = video_defaults(activation::gelu);
            s.hidden_size = 1024, s.num_hidden_layers = 24, s.num_attention_heads = 16;
            return s;
        }(),
};

}  // namespace llmcost::arch
