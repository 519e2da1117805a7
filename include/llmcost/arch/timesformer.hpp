// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/vit.hpp>
#include <llmcost/reading/images.hpp>
#include <llmcost/walks/videos.hpp>

namespace llmcost::arch {

namespace timesformer_detail {

enum own : std::uint8_t { frames, drops };
inline constexpr own_key keys[]{{"num_frames", 8}, {.value = own_value::computed}};

[[nodiscard]] constexpr video_sizes own_video(const sizes& dims) noexcept {
    return {dims.own[frames], dims.vision.image_height, dims.vision.image_width};
}
constexpr media_shapes show(const model& m, const workload& load) { return show_one_video(load, own_video(m.dims), false); }

/// Patches of all frames, positions of places, then positions of frames: (B, 1 + places · frames, width).
constexpr value embed(const site& here, trace& t) {
    const vision_sizes& image = here.dims.vision;
    const std::int64_t width = here.dims.hidden_size, n = here.dims.own[frames], batch = t.load().batch;
    const std::int64_t places = image.image_height / image.patch_size * (image.image_width / image.patch_size);
    const module_info embeddings{.name = "embeddings", .type = here.type("Embeddings"), .what = role::embedding};
    const module_info patches{.name = "patch_embeddings", .type = here.type("PatchEmbeddings")};
    const value pixels = pixels_of_videos(here, t, own_video(here.dims));
    t.enter(embeddings);
    const value token = t.param("cls_token", {1, 1, width});
    const value positions = t.param("position_embeddings", {1, places + 1, width});
    const value times = t.param("time_embeddings", {1, n, width});
    t.enter(patches);
    const value all = pixels.view({batch * n, image.num_channels, image.image_height, image.image_width});
    const value h = t.call("projection", patch_convolution{image, width}, all);
    const value tokens = t.leave(patches, as_tokens(h));
    value x = t.add(t.cat({token.expand({batch * n, 1, width}), tokens}, 1), positions);
    x = dropout(t, "pos_drop", x);
    const value first = t.select(t.slice(x, 0, batch), 1).unsqueeze(1);
    x = t.reshape(t.slice(x, 1, places), {batch, n, places, width}).permute({0, 2, 1, 3});
    x = dropout(t, "time_drop", t.add(t.reshape(x, {batch * places, n, width}), times));
    x = t.reshape(x.view({batch, places, n, width}), {batch, places * n, width});
    return t.leave(embeddings, t.cat({first, x}, 1));
}

struct self_attention {
    const site& here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("SelfAttention"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, heads = here.dims.num_attention_heads, d = width / heads;
        const value all = t.call("qkv", linear{width, 3 * width, here.dims.attention_bias}, x);
        const value each = t.select_each(t.reshape(all, {x.dim(0), x.dim(1), 3, heads, d}).permute({2, 0, 3, 1, 4}), 0, 3);
        const recorder::fused_guard fused{t, fused_attention(each, heads, all_positions(x.dim(1)).where, x.dim(1))};
        const value scores = t.mul(t.matmul_operator(each, each.transpose(-2, -1)));
        const value seen = dropout(t, "attn_drop", t.softmax_method(scores), dropout_of::attention);
        return t.reshape(t.matmul_operator(seen, each).transpose(1, 2), {x.dim(0), x.dim(1), width});
    }
};

struct attention {
    const site& here;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {"TimeSformer", "Attention"}; }
    constexpr value describe(trace& t, const value& x) const {
        const module_info output{.name = "output", .type = here.type("SelfOutput")};
        const std::int64_t width = here.dims.hidden_size;
        const value h = t.call("attention", self_attention{here}, x);
        t.enter(output);
        return t.leave(output, dropout(t, "dropout", t.call("dense", linear{width, width, true}, h)));
    }
};

/// Attention between the frames of a place, then between the places of a frame, each with a copy of the class token.
struct layer {
    const site& here;
    bool drops_path;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Layer"); }
    constexpr value describe(trace& t, const value& x) const {
        const vision_sizes& image = here.dims.vision;
        const std::int64_t width = here.dims.hidden_size, inner = here.dims.intermediate_size, n = here.dims.own[frames];
        const std::int64_t batch = x.dim(0), tokens = x.dim(1) - 1;
        const std::int64_t columns = image.image_width / image.patch_size, rows = tokens / n / columns;
        const norm<norm_kind::layer> layer_norm{width};
        const drop_path_module path{here.row.prefix, drops_path};
        const extents grid{batch, rows, columns, n, width}, in_line{batch, tokens, width};
        value h = t.reshape(t.reshape(t.slice(x, 1, tokens), grid), {batch * rows * columns, n, width});
        h = t.call("temporal_attention", attention{here}, t.call("temporal_layernorm", layer_norm, h));
        h = t.reshape(t.reshape(t.call("drop_path", path, h), grid), in_line);
        h = t.call("temporal_dense", linear{width, width, true}, h);
        const value over_time = t.add(t.slice(x, 1, tokens), h);

        const value first = t.select(x, 1).unsqueeze(1);
        const value each = t.reshape(t.copy(first.expand({batch, n, width})), {batch * n, 1, width});
        h = t.reshape(t.reshape(over_time, grid).permute({0, 3, 1, 2, 4}), {batch * n, rows * columns, width});
        h = t.call("layernorm_before", layer_norm, t.cat({each, h}, 1));
        h = t.call("drop_path", path, t.call("attention", attention{here}, h));
        const value summary = t.mean(t.reshape(t.select(h, 1), {batch, n, width}), 1, true);
        h = t.reshape(t.slice(h, 1, rows * columns), {batch, n, rows, columns, width}).permute({0, 2, 3, 1, 4});
        h = t.reshape(h, in_line);
        const value middle = t.add(t.cat({first, over_time}, 1), t.cat({summary, h}, 1));
        return t.add(middle, t.call("drop_path", path, feed(t, inner, t.call("layernorm_after", layer_norm, middle))));
    }

private:
    constexpr value feed(trace& t, std::int64_t inner, value h) const {
        const std::int64_t width = here.dims.hidden_size;
        const module_info intermediate{.name = "intermediate", .type = here.type("Intermediate"), .what = role::mlp};
        const module_info output{.name = "output", .type = here.type("Output"), .what = role::mlp};
        t.enter(intermediate);
        h = t.call("dense", linear{width, inner, true}, h);
        h = t.call("intermediate_act_fn", activation_module{here.dims.hidden_act}, h);
        h = t.leave(intermediate, dropout(t, "dropout", h));
        t.enter(output);
        return t.leave(output, dropout(t, "dropout", t.call("dense", linear{inner, width, true}, h)));
    }
};

constexpr value base(const site& here, trace& t) {
    const module_info encoder{.name = "encoder", .type = here.type("Encoder")};
    value x = embed(here, t);
    t.enter(encoder);
    // rates grow from zero in the first layer
    x = t.call({"layer", 0}, layer{here, false}, x);
    for (repetition each = t.repeat(here.dims.num_hidden_layers - 1, x, 1); each.next();)
        x = t.call({"layer", each.index()}, layer{here, here.dims.own[drops] != 0}, x);
    t.leave(encoder);
    return t.call("layernorm", norm<norm_kind::layer>{here.dims.hidden_size}, x);
}
constexpr value classify(const site& here, trace& t, const value& x) { return classify_linear(here, t, t.select(x, 1)); }

}  // namespace timesformer_detail

/// A vision transformer whose attention goes over time and over space in turn.
///
/// Source: transformers/models/timesformer/modeling_timesformer.py.
constexpr value describe_timesformer(const site& here, trace& t) {
    return describe_video_model(here, t, timesformer_detail::base, timesformer_detail::classify);
}

constexpr void read_timesformer(config_view config, sizes& s) {
    s.vision = read_images(config, 224);
    s.vision.patch_size = config.positive("patch_size", 16);
    if (s.vision.image_height != s.vision.image_width)
        fail_unsupported(config, "image_size", "no row describes oblong images");
    if (s.vision.image_height < s.vision.patch_size) fail_value(config, "patch_size", "at most the image's size");
    if (s.hidden_size % s.num_attention_heads != 0) fail_value(config, "num_attention_heads", "a divisor of hidden_size");
    if (config.string("attention_type", "divided_space_time") != "divided_space_time")
        fail_unsupported(config, "attention_type", "only divided_space_time is described");
    s.attention_bias = config.boolean("qkv_bias", true);
    s.own[timesformer_detail::drops] = config.real("drop_path_rate", 0.0) > 0.0;
}

// transformers/models/timesformer: configuration_timesformer.py, modeling_timesformer.py
inline constexpr architecture timesformer{
    .model_type = "timesformer",
    .prefix = "Timesformer",
    .describe = describe_timesformer,
    .read = read_timesformer,
    .own = timesformer_detail::keys,
    .drops = vit_detail::dropout_rates,
    .media = timesformer_detail::show,
    .reads = {.text = false, .videos = true},
    .rotated = rotation::none,
    .heads = {head_kind::none, head_kind::video_classification},
    .names = {.base = "timesformer"},
    .defaults = video_defaults(activation::gelu),
};

}  // namespace llmcost::arch
