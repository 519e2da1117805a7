// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/hunyuan_v1_dense.hpp>
#include <llmcost/config/processor.hpp>
#include <llmcost/forward/native_resolution.hpp>
#include <llmcost/forward/vision_encoder.hpp>

namespace llmcost::arch {

namespace hunyuan_vl_detail {

// ---- the text: positions of several axes

enum text_config_index : std::uint8_t { axes };
inline constexpr family_key text_keys[]{{.default_value = 4, .type = family_key_type::computed}};

/// Cosines and sines of each axis, of which runs of elements are joined: (B, S, head) twice.
struct rotary {
    layer_context ctx;

    static constexpr role module_role = role::rotary;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("RotaryEmbedding"); }
    constexpr tensor_pair forward(trace& t) const {
        const trace::no_grad_guard quiet{t};
        const std::int64_t half = ctx.config.head_dim / 2;
        t.register_buffer(count(half * 2 * 4));
        const shape places{ctx.config.family[axes], t.load().batch, t.load().sequence, 1};
        const tensor angles = t.mul(t.full(places), trace::buffer({half}));
        const tensor cos = t.mul_scalar(t.cos(angles)), sin = t.mul_scalar(t.sin(angles));
        const auto merge_sections = [&](const tensor& x) {
            return t.to(t.cat({t.cat({x, x}, -1).select(0)}, -1), t.activation_type());
        };
        const tensor second = merge_sections(sin);
        return {merge_sections(cos), second};
    }
};

constexpr decoder_inputs prepare_inputs(const layer_context& ctx, trace& t) {
    decoder_inputs c = make_masks(ctx, t);
    const tensor_pair tables = t.call("rotary_emb", rotary{ctx});
    c.full.cos = tables.first;
    c.full.sin = tables.second;
    return c;
}

/// Queries and keys turned in float32, then normed.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    query_key_value qkv = project_qkv(ctx, t, x);
    split_heads(ctx, qkv);
    transpose_heads(qkv);
    const tensor cos = t.to(ctx.inputs->cos, dtype::float32), sin = t.to(ctx.inputs->sin, dtype::float32);
    const auto apply_rotary = [&](const tensor& states) {
        return t.to(rotate<rotary_style::rotate_half>(t, t.to(states, dtype::float32), cos, sin), states.type);
    };
    qkv.query = apply_rotary(qkv.query);
    qkv.key = apply_rotary(qkv.key);
    apply_qk_norm(ctx, t, qkv, ctx.config.head_dim, ctx.config.head_dim);
    update_kv_cache(ctx, t, qkv);
    return output_projection(ctx, t, scaled_dot_product_attention(ctx, t, qkv));
}

constexpr void parse_text_config(config_view json, model_config& config) {
    set_single_mask(json, config);
    config.rope_scaling = rope_scaling_kind::none;
    const auto rope = detail::rope_parameters(json);
    if (!rope) throw_missing_key(json, "rope_parameters", "an object with the sections of positions");
    const literal key = rope->contains("xdrope_section") ? "xdrope_section" : "mrope_section";
    const auto sections = rope->optional_array(key);
    if (!sections || sections->size() == 0) throw_missing_key(*rope, key, "elements of half a head for each axis");
    config.family[axes] = static_cast<std::int64_t>(sections->size());
}

// ---- the tower

enum family_config_index : std::uint8_t { fewest_pixels, largest };
inline constexpr family_key model_keys[]{{.default_value = 512 * 512, .type = family_key_type::computed},
                                         {.default_value = 2048 * 2048, .type = family_key_type::computed}};

enum tower_config_index : std::uint8_t { merged, longest, text_hidden_size };
inline constexpr family_key tower_keys[]{
    {"spatial_merge_size", 2}, {"max_image_size", 2048}, {"text_hidden_size", 3072}};

/// Attention within images: (1, patches, width) -> the same.
constexpr tensor attend_images(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t n = x.dim(1), width = ctx.config.hidden_size, heads = ctx.config.num_attention_heads;
    const std::int64_t d = ctx.config.head_dim;
    const auto split = [&](literal name) {
        return t.call(name, linear{width, heads * d, true}, x).view({n, heads, d});
    };
    const tensor q = split("q_proj"), k = split("k_proj"), v = split("v_proj");
    const tensor found = packed_scaled_dot_product_attention(
        t, q, k, v, pack_images(t.load(), ctx.config.vision.patch_size).full_images());
    return t.call("o_proj", linear{heads * d, width, true}, found.unsqueeze(0));
}

/// Merges squares of patches of one image. Learned tokens follow each row of patches and enclose the image.
struct patch_merger {
    layer_context ctx;

    static constexpr role module_role = role::projector;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("VisionPatchMerger"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const family_config& family = ctx.config.family;
        const std::int64_t width = ctx.config.hidden_size, side = family[merged], to = family[text_hidden_size];
        const std::int64_t rows = t.load().image_height / ctx.config.vision.patch_size, columns = x.dim(1) / rows;
        const tensor newline = t.param("image_newline", {4 * width}), begin = t.param("image_begin", {to});
        const tensor end = t.param("image_end", {to});
        (void)t.param("image_sep", {to});
        const tensor even = t.call("before_rms", norm_module{norm_kind::rms, width, ctx.class_of("RMSNorm")}, x);
        tensor h = t.reshape(even.permute({0, 2, 1}), {1, width, rows, columns});
        h = t.call("proj_act", activation_module{ctx.config.hidden_act},
                   t.call("proj_conv", convolution_2d{width, 2 * width, side, side}, h));
        h = t.call("proj_out", convolution_2d{2 * width, 4 * width}, h);
        h = t.cat({h, newline.view({1, 4 * width, 1, 1}).expand({1, 4 * width, h.dim(2), 1})}, -1);
        h = t.call("mlp", linear{4 * width, to, true}, h.view({1, 4 * width, -1}).permute({0, 2, 1}));
        h = t.cat({begin.view({1, 1, to}), h, end.view({1, 1, to})}, 1);
        return t.call("after_rms", norm_module{norm_kind::rms, to, ctx.class_of("RMSNorm")}, h);
    }
};

/// Places of one image, resampled from a square: (patches, width).
constexpr tensor places_of_image(const layer_context& ctx, trace& t, const tensor& table) {
    const std::int64_t patch = ctx.config.vision.patch_size, edge = ctx.config.family[longest] / patch;
    const std::int64_t width = ctx.config.hidden_size;
    const tensor grid = t.slice(table, 0, edge * edge).view({1, edge, edge, width}).permute({0, 3, 1, 2});
    const tensor resized =
        t.bilinear(t.to(grid, dtype::float32), t.load().image_height / patch, t.load().image_width / patch);
    return t.copy(t.to(t.reshape(resized.permute({0, 2, 3, 1}), {-1, width}), table.type));  // `repeat` for each frame
}

constexpr tensor tower_base(const layer_context& ctx, trace& t) {
    const vision_config& image = ctx.config.vision;
    const std::int64_t width = ctx.config.hidden_size, side = image.patch_size, images = t.load().batch;
    const std::int64_t n = pack_images(t.load(), side).patches(), edge = ctx.config.family[longest] / side;
    const module_info embeddings{
        .name = "embeddings", .class_of_module = ctx.class_of("VisionPatchEmbed"), .module_role = role::embedding};
    t.enter(embeddings);
    const convolution_2d projection{image.num_channels, width, side, side};
    const tensor patches =
        t.call("patch_embedding", projection, t.input({n, image.num_channels, side, side})).view({n, width});
    const module_info positions{.name = "position_embedding", .class_of_module = {"", "Embedding"}, .is_leaf = true};
    t.enter(positions);
    const tensor table = t.param("weight", {edge * edge + 1, width});
    t.leave(positions);
    tensor places = trace::buffer({n / images, width});
    places.type = table.type;
    for (loop layer_loop = t.loop_time_steps(images, places); layer_loop.next();)
        places = places_of_image(ctx, t, table);
    const tensor all = t.cat({window_tiling(places, 0, images)}, 0);
    tensor x = t.leave(embeddings, t.add(patches, all).unsqueeze(0));
    const attention_inputs none{};
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, x); layer_loop.next();)
        x = t.call({"layers", layer_loop.index()}, vision_encoder_layer{ctx.for_layer(layer_loop, none)}, x);
    const tensor item = x.slice(1, n / images);
    tensor out = trace::buffer({1});
    out.type = x.type;
    for (loop layer_loop = t.loop_calls(images, out); layer_loop.next();)
        out = t.call("patch_merger", patch_merger{ctx}, item);
    return t.cat({window_tiling(out, 1, images)}, 1);
}

constexpr void parse_vision_config(config_view json, model_config& config) {
    config.vision.patch_size = json.positive("patch_size", 16);
    config.vision.num_channels = json.positive("num_channels", 3);
    const string_ref mode = json.string("interpolate_mode", "bilinear");
    if (mode != "bilinear") throw_unsupported(json, "interpolate_mode", "unsupported interpolation of positions");
    if (config.family[longest] < config.vision.patch_size)
        throw_invalid_value(json, "max_image_size", "at least patch_size");
    (void)checked_product(config.family[longest] / config.vision.patch_size,
                          config.family[longest] / config.vision.patch_size);
}

inline constexpr submodel_spec tower = [](model_spec spec) {
    spec.model_type = "hunyuan_vl_vision";
    spec.class_prefix = "HunYuanVL";
    spec.base_model = tower_base;
    spec.parse_config = parse_vision_config;
    spec.family_keys = tower_keys;
    spec.supported_heads = {};
    spec.attention = attend_images;
    spec.names.model_class = "VisionTransformer";
    spec.names.attention_class = "VisionAttention";
    spec.names.layer_class = "VisionBlock";
    spec.names.mlp_class = "VisionMLP";
    spec.config_keys.remove("num_key_value_heads");
    spec.config_keys.remove("head_dim");
    spec.defaults.hidden_size = 1152;
    spec.defaults.intermediate_size = 4304;
    spec.defaults.num_hidden_layers = 27;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.hidden_act = activation::gelu;
    return spec;
}(shared_tower);

// ---- the complete model

constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    if (load.images == 0) return {};
    const model_config& vision = m.components[0].config;
    const std::int64_t patch = vision.vision.patch_size, side = vision.family[merged];
    media_shape image = resized_to_patches(load, patch, side, m.family[fewest_pixels], m.family[largest]);
    const std::int64_t rows = image.height / (patch * side), columns = image.width / (patch * side);
    image.num_tokens = rows * (columns + 1) + 2;
    return {.image = image};
}

constexpr void parse_processor_config(config_view json, model& m) {
    expect_patches(json, m.components[0].config.vision.patch_size, m.components[0].config.family[merged]);
    expect_side(json, "spatial_patch_size", 1, "1, as patches are not put together twice");
    parse_bounds_of_pixels(json, m.family, fewest_pixels, largest);
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    const model_config& vision = ctx.model.components[0].config;
    return forward_text_after_packed_images(
        ctx, t, vision.vision.patch_size * vision.family[merged], [&](const tensor& token_embeddings) {
            const tensor features = forward_encoder_component(ctx, t, 0, "vision_tower", role::vision);
            return scatter_features(t, token_embeddings, features.squeeze(0));
        });
}

constexpr void parse_config(config_view json, model& m) {
    if (m.components[0].config.family[text_hidden_size] != m.config.hidden_size)
        throw_invalid_value(json, "vision_config", "a text_hidden_size of the text's hidden_size");
}

}  // namespace hunyuan_vl_detail

// transformers/models/hunyuan_vl: the text model
inline constexpr model_spec hunyuan_vl_text = [](model_spec spec) {
    spec.dropout_keys = {};
    spec.model_type = "hunyuan_vl_text";
    spec.class_prefix = "HunYuanVL";
    spec.parse_config = hunyuan_vl_detail::parse_text_config;
    spec.supported_heads = {};
    spec.family_keys = hunyuan_vl_detail::text_keys;
    spec.prepare_inputs = hunyuan_vl_detail::prepare_inputs;
    spec.attention = hunyuan_vl_detail::attention;
    spec.names.model_class = "TextModel";
    spec.names.layer_class = "DenseV1DecoderLayer";
    spec.names.attention_class = "DenseV1Attention";
    spec.defaults.intermediate_size = 11008;
    spec.defaults.max_position_embeddings = 2048;
    return spec;
}(hunyuan_v1_dense);

// transformers/models/hunyuan_vl: patches of images before a dense HunYuan with positions of several axes
inline constexpr model_spec hunyuan_vl = [](model_spec spec) {
    spec.model_type = "hunyuan_vl";
    spec.class_prefix = "HunYuanVL";
    spec.base_model = hunyuan_vl_detail::base;
    spec.parse_composite_config = hunyuan_vl_detail::parse_config;
    spec.compute_media_shapes = hunyuan_vl_detail::compute_media_shapes;
    spec.parse_image_processor = hunyuan_vl_detail::parse_processor_config;
    spec.family_keys = hunyuan_vl_detail::model_keys;
    spec.modalities.has_images = true;
    spec.text_model = {.key = "text_config", .default_spec = &hunyuan_vl_text, .ignores_model_type = true};
    spec.components[0] = {
        .key = "vision_config", .default_spec = &hunyuan_vl_detail::tower, .ignores_model_type = true};
    spec.defaults.tie_word_embeddings = true;
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
