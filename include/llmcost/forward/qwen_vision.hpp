// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/config/processor.hpp>
#include <llmcost/forward/packed_sequences.hpp>

// Qwen2-VL: images in their own resolution, with 2 x 2 patches merged into a token (arXiv 2409.12191).
namespace llmcost::qwen_vision {

enum family_config_index : std::uint8_t { patch, frames, channels, merge, width, mlp_ratio, window };

constexpr std::uint8_t out_width = width;

inline constexpr family_key bound_keys[]{
    {.default_value = 56 * 56, .type = family_key_type::computed},
    {.default_value = 28 * 28 * 1280, .type = family_key_type::computed},
    {.type = family_key_type::computed},  // frames that are small are fed as they are
    {.default_value = 28 * 28 * 768, .type = family_key_type::computed},
};

/// Returns the patch grid of all inputs of the vision encoder: images, or video frames in pairs.
[[nodiscard]] constexpr packed_images grid_of(const layer_context& ctx, const trace& t) {
    const workload& load = t.load();
    const std::int64_t side = ctx.config.family[patch];
    if (load.image_height == 0)
        return {1, ctx.config.family[merge], ctx.config.family[merge]};  // a tower that is declared only
    return {load.batch, load.image_height / side, load.image_width / side};
}

/// `nn.Conv3d` over patches that lie in rows: (S, channels · frames · side²) -> (S, width).
struct patch_embed {
    layer_context ctx;
    class_name named;
    std::int64_t out;
    bool bias = false;

    static constexpr role module_role = role::embedding;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, const tensor& pixels) const {
        const family_config& family = ctx.config.family;
        const shape kernel{family[frames], family[patch], family[patch]};
        const tensor patches = pixels.view({-1, family[channels], family[frames], family[patch], family[patch]});
        return t.call("proj", convolution_3d{family[channels], out, kernel, kernel, bias}, patches).view({-1, out});
    }
};

/// Several patches as one: a norm, two layers with an activation; (S, in) -> (S / many, out).
struct patch_merger {
    class_name named;
    std::int64_t in;
    std::int64_t num_merged_patches;
    std::int64_t out;
    const char* norm_type;  ///< empty: `nn.LayerNorm`

    static constexpr role module_role = role::projector;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor normed = is_empty(norm_type) ? t.call("ln_q", norm_module{norm_kind::layer, in}, x)
                                                  : t.call("ln_q", norm_module{norm_kind::rms, in, {"", norm_type}}, x);
        const module_info layers{.name = "mlp", .class_of_module = {"", "Sequential"}};
        t.enter(layers);
        tensor h = t.call("0", linear{num_merged_patches * in, num_merged_patches * in, true},
                          normed.view({-1, num_merged_patches * in}));
        h = t.call("1", gelu_module{}, h);
        return t.leave(layers, t.call("2", linear{num_merged_patches * in, out, true}, h));
    }
};

/// Patches that a processor passes on, in rows of channels · frames · side² values.
constexpr tensor patches_in(const layer_context& ctx, trace& t, const packed_images& pictures) {
    const family_config& family = ctx.config.family;
    return t.input({pictures.patches(), family[channels] * family[frames] * family[patch] * family[patch]});
}

/// Layer flag: attention within windows.
constexpr std::uint8_t within_windows = 1;

/// A vision block with RMS norms and a gated MLP. Most blocks attend within windows; `attention` computes the attention
/// from the layer context, the shared inputs and its segments.
template <class Attention>
struct windowed_block {
    layer_context ctx;
    const packed_attention_pattern& made;
    literal prefix;
    const Attention& attention;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {prefix, "VisionBlock"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const family_config& family = ctx.config.family;
        const std::int64_t in = ctx.config.hidden_size;
        const norm_module rms_norm{norm_kind::rms, in, {prefix, "RMSNorm"}};
        const bool all = ctx.layer.family_tag != within_windows;
        const packed_sequences runs =
            all ? made.pictures.full_images()
                : made.pictures.windows(family[merge], family[window] / family[merge] / family[patch]);
        const tensor middle = t.add(x, t.call("attn", attention(ctx, made, runs), t.call("norm1", rms_norm, x)));
        const mlp_module vision_mlp{
            mlp_kind::gated,  in, ctx.config.intermediate_size, ctx.config.hidden_act, {prefix, "MLP"}, true,
            {.act = "act_fn"}};
        return t.add(middle, t.call("mlp", vision_mlp, t.call("norm2", rms_norm, middle)));
    }
};

/// What such a tower calls its parts.
struct window_names {
    class_name embed;
    literal prefix;
    const char* norm;
};

/// Patches of several frames in the order of their windows, layers, a merger, and back to their own order.
template <class Attention>
constexpr tensor encode_windowed_images(const layer_context& ctx, trace& t, const window_names& names,
                                        std::int64_t head_dim, const Attention& attention) {
    const family_config& family = ctx.config.family;
    const std::int64_t in = ctx.config.hidden_size, unit = family[merge] * family[merge];
    packed_attention_pattern made{.pictures = grid_of(ctx, t)};
    const std::int64_t rows = made.pictures.patches();
    const auto ordered = [&](const tensor& x) {
        return t.gather(x.view({rows / unit, unit, -1}), {rows / unit, unit, x.dim(-1)}).view({rows, -1});
    };
    tensor x = ordered(t.call("patch_embed", patch_embed{ctx, names.embed, in}, patches_in(ctx, t, made.pictures)));
    const packed_position_table table{head_dim, {names.prefix, "VisionRotaryEmbedding"}};
    const tensor_pair turns = t.call("rotary_pos_emb", table, rows);
    made.cos = ordered(turns.first);
    made.sin = ordered(turns.second);
    const attention_inputs none{};
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, ctx.config.layers, x); layer_loop.next();)
        x = t.call({"blocks", layer_loop.index()},
                   windowed_block<Attention>{ctx.for_layer(layer_loop, none), made, names.prefix, attention}, x);
    const patch_merger merger{{names.prefix, "PatchMerger"}, in, unit, family[out_width], names.norm};
    const tensor merged = t.call("merger", merger, x);
    return t.gather(merged, {merged.dim(0), merged.dim(1)});
}

/// Bounds of an image's pixels, of patches as the tower has them.
constexpr void parse_processor_config(config_view json, model& m) {
    const family_config& tower = m.components[0].config.family;
    expect_patches(json, tower[patch], tower[merge]);
    parse_bounds_of_pixels(json, m.family, min_pixels, max_pixels);
}

/// Parses the processor configuration without `min_pixels` and `max_pixels`.
constexpr void parse_size_alone(config_view json, model& m) {
    const family_config& tower = m.components[0].config.family;
    expect_patches(json, tower[patch], tower[merge]);
    parse_size_bounds(json, m.family, min_pixels, max_pixels);
}

/// For what bounds of pixels hold.
struct bounds_rule {
    bool all_frames = false;  ///< of a video: for its frames together
    bool of_pairs = false;    ///< of an image, too, which is a video of one pair
};

/// What a processor makes of images and videos: sides that are multiples of merged patches, pixels within bounds.
constexpr media_shapes compute_shapes_within(const model& m, const workload& load, bounds_rule rule) {
    const family_config& tower = m.components[0].config.family;
    const std::int64_t factor = tower[patch] * tower[merge], pair = tower[frames];
    const auto merged = [&](const resized& size) { return size.height / factor * (size.width / factor); };
    media_shapes out;
    if (load.images > 0) {
        if (load.image_height == 0)
            throw_description_error("this model accepts images of any size; use --image WIDTHxHEIGHT");
        const resize_bounds to{factor, m.family[min_pixels], m.family[max_pixels], rule.of_pairs ? pair : 1,
                               rule.of_pairs};
        const resized size = smart_resize(load.image_height, load.image_width, to);
        out.image = {.num_tokens = merged(size), .height = size.height, .width = size.width};
    }
    if (load.videos > 0) {
        const std::int64_t frame_multiple = rule.all_frames ? nearest_multiple(load.video_frames, pair) : 1;
        const resize_bounds to{factor, m.family[min_video_pixels], m.family[max_video_pixels], frame_multiple,
                               rule.all_frames};
        const resized size = smart_resize(load.video_height, load.video_width, to);
        const std::int64_t grids = (load.video_frames + pair - 1) / pair;
        out.video = {
            .num_tokens = grids * merged(size), .num_tiles = grids, .height = size.height, .width = size.width};
    }
    return out;
}

constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    return compute_shapes_within(m, load, {});
}

/// Positions in time are numbers times an interval of 1.0: one for each grid (`get_vision_position_ids`).
constexpr void place_in_time(const layer_context& ctx, trace& t) {
    const workload& load = t.load();
    if (!has_vision_inputs(t)) return;
    const recorder::no_grad_guard constants{t};
    if (load.images > 0) (void)t.mul_scalar(trace::buffer({load.batch * load.images}));
    if (load.videos > 0)
        (void)t.mul_scalar(
            trace::buffer({load.batch * load.videos * ctx.spec.compute_media_shapes(ctx.model, load).video.num_tiles}));
}

/// Runs the vision encoder, which text inputs do not execute, then the text model. `WholeSeconds`: Qwen2.5-VL uses
/// integer seconds.
template <bool WholeSeconds>
constexpr tensor forward_vision_language(const layer_context& ctx, trace& t) {
    return forward_text_after_encoder(ctx, t, "language_model", [&](tensor token_embeddings) {
        token_embeddings = insert_image_features(
            ctx, t, token_embeddings, [&] { return forward_encoder_component(ctx, t, 0, "visual", role::vision); });
        if (!WholeSeconds) place_in_time(ctx, t);
        return token_embeddings;
    });
}

/// A layer over packed images: norm, attention, residual; norm, MLP, residual.
struct packed_block {
    layer_context ctx;
    const packed_attention_pattern& pattern;
    class_name mlp_class;
    mlp_names names;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("VisionBlock"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t in = ctx.config.hidden_size;
        const norm_module layer_norm{norm_kind::layer, in};
        const packed_attention attention{ctx.class_of("VisionAttention"), ctx.config.num_attention_heads, pattern,
                                         pattern.pictures.full_images()};
        const tensor middle = t.add(x, t.call("attn", attention, t.call("norm1", layer_norm, x)));
        const mlp_module vision_mlp{
            mlp_kind::plain, in, ctx.config.intermediate_size, ctx.config.hidden_act, mlp_class, true, names};
        return t.add(middle, t.call("mlp", vision_mlp, t.call("norm2", layer_norm, middle)));
    }
};

}  // namespace llmcost::qwen_vision
