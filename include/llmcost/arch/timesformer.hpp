// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/image_stages.hpp>
#include <llmcost/forward/videos.hpp>
#include <llmcost/forward/vision_transformer.hpp>

namespace llmcost::arch {

namespace timesformer_detail {

enum family_config_index : std::uint8_t { frames, drops };

inline constexpr family_key family_keys[]{{"num_frames", 8}, {.type = family_key_type::computed}};

[[nodiscard]] constexpr video_sizes make_video_sizes(const model_config& config) noexcept {
    return {config.family[frames], config.vision.image_height, config.vision.image_width};
}

constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    return validate_single_video(load, make_video_sizes(m.config), false);
}

/// Patches of all frames, positions of places, then positions of frames: (B, 1 + places · frames, width).
constexpr tensor embed(const layer_context& ctx, trace& t) {
    const vision_config& image = ctx.config.vision;
    const std::int64_t width = ctx.config.hidden_size, n = ctx.config.family[frames], batch = t.load().batch;
    const std::int64_t places = image.image_height / image.patch_size * (image.image_width / image.patch_size);
    const module_info embeddings{
        .name = "embeddings", .class_of_module = ctx.class_of("Embeddings"), .module_role = role::embedding};
    const module_info patches{.name = "patch_embeddings", .class_of_module = ctx.class_of("PatchEmbeddings")};
    const tensor pixels = pixels_of_videos(ctx, t, make_video_sizes(ctx.config));
    t.enter(embeddings);
    const tensor token = t.param("cls_token", {1, 1, width});
    const tensor positions = t.param("position_embeddings", {1, places + 1, width});
    const tensor times = t.param("time_embeddings", {1, n, width});
    t.enter(patches);
    const tensor all = pixels.view({batch * n, image.num_channels, image.image_height, image.image_width});
    const tensor h = t.call("projection", patch_convolution{image, width}, all);
    const tensor tokens = t.leave(patches, as_tokens(h));
    tensor x = t.add(t.cat({token.expand({batch * n, 1, width}), tokens}, 1), positions);
    x = dropout(t, "pos_drop", x);
    const tensor first = t.select(t.slice(x, 0, batch), 1).unsqueeze(1);
    x = t.reshape(t.slice(x, 1, places), {batch, n, places, width}).permute({0, 2, 1, 3});
    x = dropout(t, "time_drop", t.add(t.reshape(x, {batch * places, n, width}), times));
    x = t.reshape(x.view({batch, places, n, width}), {batch, places * n, width});
    return t.leave(embeddings, t.cat({first, x}, 1));
}

struct self_attention {
    const layer_context& ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("SelfAttention"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, heads = ctx.config.num_attention_heads, d = width / heads;
        const tensor all = t.call("qkv", linear{width, 3 * width, ctx.config.attention_bias}, x);
        const tensor operand =
            t.select_repeatedly(t.reshape(all, {x.dim(0), x.dim(1), 3, heads, d}).permute({2, 0, 3, 1, 4}), 0, 3);
        const recorder::fused_kernel_guard fused{
            t, fused_attention_kernel(operand, heads, full_pattern(x.dim(1)).pattern, x.dim(1))};
        const tensor scores = t.mul_scalar(t.matmul_operator(operand, operand.transpose(-2, -1)));
        const tensor features = dropout(t, "attn_drop", t.softmax_method(scores), dropout_position::attention);
        return t.reshape(t.matmul_operator(features, operand).transpose(1, 2), {x.dim(0), x.dim(1), width});
    }
};

/// Attention between the frames of a place, then between the places of a frame, each with a copy of the class token.
struct layer {
    const layer_context& ctx;
    bool drops_path;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Layer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const vision_config& image = ctx.config.vision;
        const std::int64_t width = ctx.config.hidden_size, inner = ctx.config.intermediate_size,
                           n = ctx.config.family[frames];
        const std::int64_t batch = x.dim(0), tokens = x.dim(1) - 1;
        const std::int64_t columns = image.image_width / image.patch_size, rows = tokens / n / columns;
        const norm_module layer_norm{norm_kind::layer, width};
        const drop_path_module path{ctx.spec.class_prefix, drops_path};
        const shape grid{batch, rows, columns, n, width}, in_line{batch, tokens, width};
        tensor h = t.reshape(t.reshape(t.slice(x, 1, tokens), grid), {batch * rows * columns, n, width});
        h = t.call("temporal_attention",
                   attention_with_output<self_attention>{ctx, class_name{"TimeSformer", "Attention"}},
                   t.call("temporal_layernorm", layer_norm, h));
        h = t.reshape(t.reshape(t.call("drop_path", path, h), grid), in_line);
        h = t.call("temporal_dense", linear{width, width, true}, h);
        const tensor over_time = t.add(t.slice(x, 1, tokens), h);

        const tensor first = t.select(x, 1).unsqueeze(1);
        const tensor operand = t.reshape(t.copy(first.expand({batch, n, width})), {batch * n, 1, width});
        h = t.reshape(t.reshape(over_time, grid).permute({0, 3, 1, 2, 4}), {batch * n, rows * columns, width});
        h = t.call("layernorm_before", layer_norm, t.cat({operand, h}, 1));
        h = t.call(
            "drop_path", path,
            t.call("attention", attention_with_output<self_attention>{ctx, class_name{"TimeSformer", "Attention"}}, h));
        const tensor summary = t.mean(t.reshape(t.select(h, 1), {batch, n, width}), 1, true);
        h = t.reshape(t.slice(h, 1, rows * columns), {batch, n, rows, columns, width}).permute({0, 2, 3, 1, 4});
        h = t.reshape(h, in_line);
        const tensor temporal = t.cat({first, over_time}, 1);
        const tensor middle = t.add(temporal, t.cat({summary, h}, 1));
        return t.add(middle, t.call("drop_path", path, mlp(t, inner, t.call("layernorm_after", layer_norm, middle))));
    }

private:
    constexpr tensor mlp(trace& t, std::int64_t inner, tensor h) const {
        const std::int64_t width = ctx.config.hidden_size;
        const module_info intermediate{.name = "intermediate",
                                       .class_of_module = ctx.class_of("Intermediate"),
                                       .module_role = role::mlp,
                                       .continues_block = true};
        const module_info output{.name = "output", .class_of_module = ctx.class_of("Output"), .module_role = role::mlp};
        t.enter(intermediate);
        h = t.call("dense", linear{width, inner, true}, h);
        h = t.call("intermediate_act_fn", activation_module{ctx.config.hidden_act}, h);
        h = t.leave(intermediate, dropout(t, "dropout", h));
        t.enter(output);
        return t.leave(output, dropout(t, "dropout", t.call("dense", linear{inner, width, true}, h)));
    }
};

constexpr tensor base(const layer_context& ctx, trace& t) {
    const module_info encoder{.name = "encoder", .class_of_module = ctx.class_of("Encoder")};
    tensor x = embed(ctx, t);
    t.enter(encoder);
    // rates grow from zero in the first layer
    x = t.call({"layer", 0}, layer{ctx, false}, x);
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers - 1, x, 1); layer_loop.next();)
        x = t.call({"layer", layer_loop.index()}, layer{ctx, ctx.config.family[drops] != 0}, x);
    t.leave(encoder);
    return t.call("layernorm", norm_module{norm_kind::layer, ctx.config.hidden_size}, x);
}

constexpr tensor classify(const layer_context& ctx, trace& t, const tensor& x) {
    return classify_linear(ctx, t, t.select(x, 1));
}

}  // namespace timesformer_detail

/// A vision transformer whose attention goes over time and over space in turn.
///
/// Source: transformers/models/timesformer/modeling_timesformer.py.
constexpr tensor forward_timesformer(const layer_context& ctx, trace& t) {
    return forward_video_model(ctx, t, timesformer_detail::base, timesformer_detail::classify);
}

constexpr void parse_timesformer(config_view json, model_config& config) {
    config.vision = parse_image_size(json, 224);
    config.vision.patch_size = json.positive("patch_size", 16);
    if (config.vision.image_height != config.vision.image_width)
        throw_unsupported(json, "image_size", "non-square images are not supported");
    if (config.vision.image_height < config.vision.patch_size)
        throw_invalid_value(json, "patch_size", "at most the image's size");
    if (config.hidden_size % config.num_attention_heads != 0)
        throw_invalid_value(json, "num_attention_heads", "a divisor of hidden_size");
    if (json.string("attention_type", "divided_space_time") != "divided_space_time")
        throw_unsupported(json, "attention_type", "unsupported attention type; expected divided_space_time");
    config.attention_bias = json.boolean("qkv_bias", true);
    config.family[timesformer_detail::drops] = json.real("drop_path_rate", 0.0) > 0.0;
}

// transformers/models/timesformer: configuration_timesformer.py, modeling_timesformer.py
inline constexpr model_spec timesformer = [](model_spec spec) {
    spec.model_type = "timesformer";
    spec.class_prefix = "Timesformer";
    spec.forward = forward_timesformer;
    spec.parse_config = parse_timesformer;
    spec.family_keys = timesformer_detail::family_keys;
    spec.compute_media_shapes = timesformer_detail::compute_media_shapes;
    spec.names.base_model = "timesformer";
    return spec;
}(video_classifier(activation::gelu));

}  // namespace llmcost::arch
