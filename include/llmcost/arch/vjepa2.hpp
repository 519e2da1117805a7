// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/image_stages.hpp>
#include <llmcost/forward/encoder.hpp>
#include <llmcost/forward/videos.hpp>
#include <llmcost/layers/attention.hpp>
#include <llmcost/layers/mlp.hpp>
#include <llmcost/layers/norm.hpp>

namespace llmcost::arch {

namespace vjepa2_detail {

enum family_config_index : std::uint8_t {
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
inline constexpr family_key family_keys[]{{"frames_per_clip", 64},
                                          {"tubelet_size", 2},
                                          {.type = family_key_type::computed},
                                          {.type = family_key_type::computed},
                                          {"num_pooler_layers", 3, family_key_type::non_negative},
                                          {"pred_hidden_size", 384},
                                          {"pred_num_attention_heads", 12},
                                          {"pred_num_hidden_layers", 12},
                                          {"pred_num_mask_tokens", 10},
                                          {.type = family_key_type::computed}};
[[nodiscard]] constexpr video_sizes make_video_sizes(const model_config& config) noexcept {
    return {config.family[frames], config.vision.image_height, config.vision.image_width};
}
constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    return validate_single_video(load, make_video_sizes(m.config), true);
}

/// A stack of layers: the encoder's, or the predictor's.
struct stack_sizes {
    std::int64_t width, heads, inner;
};

/// Applies RoPE along one axis, with one angle per pair of neighbours (`rotate_queries_or_keys`).
constexpr tensor apply_axis_rotary(trace& t, const tensor& x) {
    const std::int64_t n = x.dim(2), d = x.dim(3), half = d / 2;
    tensor omega = t.full({half}, x.type);
    t.div_(omega);
    omega = t.mul_scalar(t.reciprocal(t.pow_scalar(omega)));
    tensor angles = t.mul_scalar(omega.unsqueeze(0).expand({n, half}));
    const tensor sin = t.sin(angles), cos = t.cos(angles);
    const auto twice = [&](const tensor& table) {
        return t.copy(table.view({1, 1, 1, n, half}).expand({1, 1, 2, n, half})).view({1, 1, n, d});
    };
    const tensor sines = twice(sin), cosines = twice(cos);
    const tensor pairs = x.view({x.dim(0), x.dim(1), n, half, 2}), one = pairs.select(-1);
    const tensor swapped = t.cat({t.neg(one).unsqueeze(-1), one.unsqueeze(-1)}, -1).view({x.dim(0), x.dim(1), n, d});
    const tensor scaled = t.mul(x, cosines);
    return t.add(scaled, t.mul(swapped, sines));
}

/// Queries or keys turned along time, rows and columns, a third of a head each, the rest as it is.
constexpr tensor apply_rotary_3d(trace& t, const tensor& x) {
    const std::int64_t d = x.dim(3), part = 2 * (d / 3 / 2);
    const auto rotate_slice = [&] { return apply_axis_rotary(t, t.slice(x, -1, part)); };
    const tensor time = rotate_slice(), row = rotate_slice(), column = rotate_slice();
    if (3 * part == d) return t.cat({time, row, column}, -1);
    return t.cat({time, row, column, t.slice(x, -1, d - 3 * part)}, -1);
}

struct attention {
    const layer_context& ctx;
    stack_sizes stack_config;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("RopeAttention"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = stack_config.width, heads = stack_config.heads, batch = x.dim(0), n = x.dim(1);
        const auto project = [&](literal name) {
            const tensor all = t.call(name, linear{width, width, ctx.config.attention_bias}, x);
            return all.view({batch, n, heads, width / heads}).transpose(1, 2);
        };
        tensor q = project("query"), k = project("key");
        const tensor v = project("value");
        k = apply_rotary_3d(t, k);
        q = apply_rotary_3d(t, q);
        const tensor mixed = t.reshape(attention_forward(t, q, k, v, full_pattern(n).pattern, {}), {batch, n, width});
        {
            const recorder::not_executed_guard unused{t};
            (void)dropout(t, "dropout", mixed);
        }
        return t.call("proj", linear{width, width, true}, mixed);
    }
};

constexpr mlp_module make_mlp(const layer_context& ctx, const stack_sizes& stack_config) {
    return {mlp_kind::plain,
            stack_config.width,
            stack_config.inner,
            ctx.config.hidden_act,
            ctx.class_of("MLP"),
            true,
            {.up = "fc1", .down = "fc2", .act = "activation"}};
}

struct layer {
    const layer_context& ctx;
    stack_sizes stack_config;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Layer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const norm_module layer_norm{norm_kind::layer, stack_config.width};
        const drop_path_module path{ctx.spec.class_prefix, ctx.config.family[drops] != 0};
        const tensor h = t.call("attention", attention{ctx, stack_config}, t.call("norm1", layer_norm, x));
        const tensor middle = t.add(t.call("drop_path", path, h), x);
        const tensor fed = t.call("mlp", make_mlp(ctx, stack_config), t.call("norm2", layer_norm, middle));
        return t.add(t.call("drop_path", path, fed), middle);
    }
};

constexpr tensor encode_videos(const layer_context& ctx, trace& t) {
    const std::int64_t width = ctx.config.hidden_size, patch = ctx.config.vision.patch_size;
    const tubelet_convolution tubelets{ctx.config.vision.num_channels, width, ctx.config.family[tubelet], patch, patch};
    const module_info encoder{.name = "encoder", .class_of_module = ctx.class_of("Encoder")};
    const module_info embeddings{
        .name = "embeddings", .class_of_module = ctx.class_of("Embeddings"), .module_role = role::embedding};
    const module_info patches{.name = "patch_embeddings", .class_of_module = ctx.class_of("PatchEmbeddings3D")};
    tensor pixels = channels_first(pixels_of_videos(ctx, t, make_video_sizes(ctx.config)));
    t.enter(encoder);
    t.enter(embeddings);
    if (pixels.dim(2) < tubelets.frames) {  // few frames are repeated as often as a tubelet has some
        const std::int64_t n = pixels.dim(2) * tubelets.frames;
        pixels = t.copy(
            pixels.select(2).unsqueeze(2).expand({pixels.dim(0), pixels.dim(1), n, pixels.dim(3), pixels.dim(4)}));
    }
    t.enter(patches);
    tensor x = t.leave(patches, tubelets_as_tokens(t.call("proj", tubelets, pixels)));
    t.leave(embeddings, x);
    const stack_sizes stack_config{width, ctx.config.num_attention_heads, times_ratio(ctx.config, ratio, width)};
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, x); layer_loop.next();)
        x = t.call({"layer", layer_loop.index()}, layer{ctx, stack_config}, x);
    return t.leave(encoder, t.call("layernorm", norm_module{norm_kind::layer, width}, x));
}

/// What predicts masked tubelets, which a classifier does not call.
constexpr void declare_predictor(const layer_context& ctx, trace& t) {
    const recorder::not_executed_guard unused{t};
    const std::int64_t width = ctx.config.family[predictor_width], expanded_width = ctx.config.hidden_size;
    const module_info predictor{.name = "predictor", .class_of_module = ctx.class_of("Predictor")};
    const module_info embeddings{.name = "embeddings", .class_of_module = ctx.class_of("PredictorEmbeddings")};
    t.enter(predictor);
    t.enter(embeddings);
    (void)t.param("mask_tokens", {ctx.config.family[predictor_masks], 1, 1, width});
    tensor x =
        t.call("predictor_embeddings", linear{expanded_width, width, true}, trace::buffer({1, 1, expanded_width}));
    t.leave(embeddings, x);
    const stack_sizes stack_config{width, ctx.config.family[predictor_heads],
                                   times_ratio(ctx.config, predictor_ratio, width)};
    for (loop layer_loop = t.loop_modules(ctx.config.family[predictor_layers], x); layer_loop.next();)
        x = t.call({"layer", layer_loop.index()}, layer{ctx, stack_config}, x);
    x = t.call("layernorm", norm_module{norm_kind::layer, width}, x);
    t.leave(predictor, t.call("proj", linear{width, expanded_width, true}, x));
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    const tensor x = encode_videos(ctx, t);
    declare_predictor(ctx, t);
    const recorder::detach_guard unread{t};
    (void)t.cat({t.gather_with_saved_source(x, {x.dim(0), x.dim(1), x.dim(2)})}, 0);  // tokens that no mask hides: all
    return x;
}

/// Attention of the pooler, from `queries` to x.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& queries, const tensor& x) {
    const std::int64_t width = ctx.config.hidden_size, heads = ctx.config.num_attention_heads;
    const auto project = [&](literal name, const tensor& h) {
        const tensor all = t.call(name, linear{width, width, true}, h);
        return all.view({h.dim(0), h.dim(1), heads, width / heads}).transpose(1, 2);
    };
    const tensor q = project("q_proj", queries), k = project("k_proj", x), v = project("v_proj", x);
    const tensor mixed = attention_forward(t, q, k, v, {.query_length = q.dim(2), .is_causal = false}, {});
    return t.contiguous(t.reshape(mixed, {queries.dim(0), queries.dim(1), width}));
}

/// Layers over all tokens.
struct pooler_layer {
    const layer_context& ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("PoolerSelfAttentionLayer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size;
        const norm_module layer_norm{norm_kind::layer, width};
        const module_info self_attention{
            .name = "self_attn", .class_of_module = ctx.class_of("PoolerSelfAttention"), .module_role = role::attn};
        tensor h = t.call("layer_norm1", layer_norm, x);
        t.enter(self_attention);
        h = t.leave(self_attention, t.call("out_proj", linear{width, width, true}, attention(ctx, t, h, h)));
        const tensor middle = t.add(x, h);
        h = t.call("layer_norm2", layer_norm, middle);
        return t.add(middle, t.call("mlp", make_mlp(ctx, {width, 0, 4 * width}), h));
    }
};

/// One learned query that looks at all tokens.
constexpr tensor pool(const layer_context& ctx, trace& t, tensor x) {
    const std::int64_t width = ctx.config.hidden_size;
    const norm_module layer_norm{norm_kind::layer, width};
    const module_info pooler{.name = "pooler", .class_of_module = ctx.class_of("AttentivePooler")};
    const module_info last{.name = "cross_attention_layer",
                           .class_of_module = ctx.class_of("PoolerCrossAttentionLayer")};
    const module_info cross{
        .name = "cross_attn", .class_of_module = ctx.class_of("PoolerCrossAttention"), .module_role = role::attn};
    t.enter(pooler);
    const tensor query = t.param("query_tokens", {1, 1, width});
    for (loop layer_loop = t.loop_modules(ctx.config.family[pooler_layers], x); layer_loop.next();)
        x = t.call({"self_attention_layers", layer_loop.index()}, pooler_layer{ctx}, x);
    const tensor queries = t.copy(query.expand({x.dim(0), 1, width}));
    t.enter(last);
    tensor h = t.call("layer_norm1", layer_norm, x);
    t.enter(cross);
    h = t.leave(cross, attention(ctx, t, queries, h));
    const tensor middle = t.add(queries, h);
    h = t.call("mlp", make_mlp(ctx, {width, 0, 4 * width}), t.call("layer_norm2", layer_norm, middle));
    h = t.leave(last, t.add(middle, h));
    return t.leave(pooler, h.squeeze(1));
}
constexpr tensor classify(const layer_context& ctx, trace& t, const tensor& x) {
    return classify_linear(ctx, t, pool(ctx, t, x));
}

}  // namespace vjepa2_detail

/// A vision transformer over tubelets with RoPE in time and space, and a classifier after an attentive pooler.
///
/// Source: transformers/models/vjepa2/modeling_vjepa2.py.
constexpr tensor forward_vjepa2(const layer_context& ctx, trace& t) {
    return forward_video_model(ctx, t, vjepa2_detail::base, vjepa2_detail::classify);
}

constexpr void parse_vjepa2(config_view json, model_config& config) {
    using namespace vjepa2_detail;
    const std::int64_t side = json.positive("crop_size", 256);
    config.vision = {side, side, json.positive("patch_size", 16), json.positive("in_chans", 3)};
    if (side < config.vision.patch_size) throw_invalid_value(json, "patch_size", "at most crop_size");
    parse_ratio(json, "mlp_ratio", 4.0, config.family, ratio);
    parse_ratio(json, "pred_mlp_ratio", 4.0, config.family, predictor_ratio);
    if (times_ratio(config, ratio, config.hidden_size) < 1)
        throw_invalid_value(json, "mlp_ratio", "a ratio that leaves a feature");
    if (times_ratio(config, predictor_ratio, config.family[predictor_width]) < 1)
        throw_invalid_value(json, "pred_mlp_ratio", "a ratio that leaves a feature");
    if (config.hidden_size % config.num_attention_heads != 0)
        throw_invalid_value(json, "num_attention_heads", "a divisor of hidden_size");
    if (config.family[predictor_width] % config.family[predictor_heads] != 0)
        throw_invalid_value(json, "pred_num_attention_heads", "a divisor of pred_hidden_size");
    if (config.num_labels == 0)
        throw_invalid_value(json, json.contains("num_labels") ? "num_labels" : "id2label",
                            "at least one label under this head");
    config.attention_bias = json.boolean("qkv_bias", true);
    config.family[drops] = json.real("drop_path_rate", 0.0) > 0.0;
}

// transformers/models/vjepa2: configuration_vjepa2.py, modeling_vjepa2.py
inline constexpr model_spec vjepa2{
    .model_type = "vjepa2",
    .class_prefix = "VJEPA2",
    .forward = forward_vjepa2,
    .parse_config = parse_vjepa2,
    .family_keys = vjepa2_detail::family_keys,
    .compute_media_shapes = vjepa2_detail::compute_media_shapes,
    .modalities = {.has_text = false, .has_videos = true},
    .rotary = rotary_style::none,
    .supported_heads = {head_kind::video_classification},
    .names = {.base_model = "vjepa2"},
    .defaults =
        [] {
            model_config config = video_defaults(activation::gelu);
            config.hidden_size = 1024;
            config.num_hidden_layers = 24;
            config.num_attention_heads = 16;
            return config;
        }(),
};

}  // namespace llmcost::arch
