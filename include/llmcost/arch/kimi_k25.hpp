// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/deepseek_v3.hpp>
#include <llmcost/config/processor.hpp>
#include <llmcost/forward/moon_vit.hpp>
#include <llmcost/forward/native_resolution.hpp>
#include <llmcost/forward/vision_encoder.hpp>

namespace llmcost::arch {

namespace kimi_k25_detail {

using moon_vit::layer;

enum family_config_index : std::uint8_t { normed_width, max_patches, longest };

inline constexpr family_key family_keys[]{
    {"projection_hidden_size", 1152},
    {.default_value = 16384, .type = family_key_type::computed},  // of an image
    {.default_value = 512, .type = family_key_type::computed},    // along a side
};

enum tower_config_index : std::uint8_t { table_rows, table_columns, merged_rows, merged_columns, num_frames };

inline constexpr family_key tower_keys[]{
    {"pos_emb_height", 64},
    {"pos_emb_width", 64},
    {.default_value = 2, .type = family_key_type::computed},
    {.default_value = 2, .type = family_key_type::computed},
    {"pos_emb_time", 4},
};

/// Returns the image size in pixels: bounded in patches per side and in total, padded to complete merge squares.
///
/// Source: transformers/models/kimi_k25/image_processing_kimi_k25.py, `navit_resize`.
[[nodiscard]] inline image_size padded(image_size image, std::int64_t patch, std::int64_t merged, std::int64_t maximum,
                                       std::int64_t max_side_patches) {
    const auto real = [](std::int64_t n) { return static_cast<double>(n); };
    const auto count_along = [&](std::int64_t side) { return side < patch ? 1 : side / patch; };
    const double found = real(count_along(image.height) * count_along(image.width));
    double scale = 1.0;
    for (const double candidate :
         {__builtin_sqrt(real(maximum) / found), real(max_side_patches * patch) / real(image.height),
          real(max_side_patches * patch) / real(image.width)})
        scale = candidate < scale ? candidate : scale;
    const std::int64_t step = merged * patch;
    const auto pad_side = [&](std::int64_t side) {
        auto to = static_cast<std::int64_t>(real(side) * scale);
        to = to < 1 ? 1 : to > max_side_patches * patch ? max_side_patches * patch : to;
        return (to + step - 1) / step * step;
    };
    return {pad_side(image.height), pad_side(image.width)};
}

/// Angles of columns and rows side by side for each frequency, in float32: (patches, head) twice.
struct rotary {
    layer_context ctx;
    std::int64_t patches;

    static constexpr role module_role = role::rotary;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("VisionRotaryEmbedding"); }
    constexpr tensor_pair forward(trace& t) const {
        const recorder::no_grad_guard constants{t};
        const std::int64_t frequencies = (ctx.config.head_dim / 2 + 1) / 2;
        t.register_buffer({2, frequencies}, dtype::float32);  // `inv_freq` and `original_inv_freq`
        const tensor angles = t.mul(t.full({patches, 2, 1}), trace::buffer({frequencies}));
        const tensor cos = t.mul_scalar(t.cos(angles)), sin = t.mul_scalar(t.sin(angles));
        const auto table = [&](const tensor& x) {
            const tensor side_by_side = t.reshape(t.clone(x.transpose(1, 2)), {patches, -1});  // `flip` copies
            return t.cat({side_by_side, side_by_side}, -1);
        };
        const tensor first = table(cos);
        return {first, table(sin)};
    }
};

/// Queries and keys turned in float32 before heads and patches change places: (patches, width) -> the same.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t n = x.dim(0), width = ctx.config.hidden_size, heads = ctx.config.num_attention_heads,
                       d = width / heads;
    const auto split = [&](literal name) { return t.call(name, linear{width, width, true}, x).view({n, heads, d}); };
    const tensor q = split("q_proj"), k = split("k_proj"), v = split("v_proj");
    const auto apply_rotary = [&](const tensor& states) {
        const tensor upcast = t.to(states, dtype::float32);
        return t.to(rotate<rotary_style::rotate_half>(t, upcast, ctx.inputs->cos, ctx.inputs->sin), states.type);
    };
    const tensor first = apply_rotary(q);
    const packed_sequences runs = pack_images(t.load(), ctx.config.vision.patch_size).full_images();
    return t.call("proj", linear{width, width, true},
                  packed_scaled_dot_product_attention(t, first, apply_rotary(k), v, runs));
}

/// Patches with places that are resampled from a table; layers; a norm; squares side by side: (squares, side², width).
constexpr tensor tower_base(const layer_context& ctx, trace& t) {
    const vision_config& image = ctx.config.vision;
    const std::int64_t n = pack_images(t.load(), image.patch_size).patches(), width = ctx.config.hidden_size;
    const family_config& family = ctx.config.family;
    const module_info patch_embed{
        .name = "patch_embed", .class_of_module = ctx.class_of("VisionPatchEmbed"), .module_role = role::embedding};
    const module_info positions{
        .name = "pos_emb", .class_of_module = ctx.class_of("VisionPositionEmbeddings"), .is_leaf = true};
    const convolution_2d patches{3, width, image.patch_size, image.patch_size};
    t.enter(patch_embed);
    const tensor pixels = t.input({n, 3, image.patch_size, image.patch_size});
    tensor x = t.call("proj", patches, pixels).view({n, width});
    t.enter(positions);
    const tensor table = t.param("position_embeddings", {family[table_rows], family[table_columns], width});
    const tensor places = resampled_places(t, table.view({-1, width}), n, place_taps::four, false);
    // one row more than frames, a zero for the first frame: `time_position_embeddings`
    t.register_buffer({family[num_frames] + 1, width}, dtype::float32);
    const tensor moments = t.gather(trace::buffer({1, width}), {n, width});  // a still image's is zero, and added
    x = t.leave(positions, t.add(x, t.to(t.add(places, moments), x.type)));
    x = t.leave(patch_embed, x);
    attention_inputs inputs;
    const tensor_pair tables = t.call("rotary_emb", rotary{ctx, n});
    inputs.cos = tables.first;
    inputs.sin = tables.second;
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, x); layer_loop.next();)
        x = t.call({"layers", layer_loop.index()}, layer{ctx.for_layer(layer_loop, inputs)}, x);
    x = t.call("final_layernorm", norm_module{norm_kind::layer, width}, x);
    const std::int64_t square = family[merged_rows] * family[merged_columns];
    return t.mean(t.gather(x, {n / square, 1, square, width}), 1);  // over frames
}

constexpr void parse_vision_config(config_view json, model_config& config) {
    config.vision.patch_size = json.positive("patch_size", 14);
    divide_by_heads(json, config, {"num_attention_heads"});
    const auto merged = json.optional_array("merge_kernel_size");
    if (!merged) return;
    if (merged->size() != 2)
        throw_invalid_value(json, "merge_kernel_size", "rows and columns of patches that become one");
    config.family[merged_rows] = (*merged)[0].as_positive();
    config.family[merged_columns] = (*merged)[1].as_positive();
}

inline constexpr submodel_spec tower = [](model_spec spec) {
    spec.class_prefix = "Kimi_K25";
    spec.base_model = tower_base;
    spec.parse_config = parse_vision_config;
    spec.family_keys = tower_keys;
    spec.supported_heads = {};
    spec.attention = attention;
    spec.names.attention_class = "VisionAttention";
    spec.names.o_proj = "proj";
    spec.defaults.hidden_size = 1152;
    spec.defaults.intermediate_size = 4304;
    spec.defaults.num_hidden_layers = 27;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.hidden_act = activation::gelu_pytorch_tanh;
    return spec;
}(shared_tower);

/// Patches normed, some side by side, through two projections.
struct merging_projector {
    layer_context ctx;

    static constexpr role module_role = role::projector;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("MultimodalProjection"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t in = x.dim(1) * x.dim(2);
        const tensor even = t.call("pre_norm", norm_module{norm_kind::layer, ctx.model.family[normed_width]}, x);
        const tensor h = t.call("in_proj", linear{in, in, true}, even.view({x.dim(0), -1, in}));
        return t.call("out_proj", linear{in, ctx.config.hidden_size, true}, t.call("act", gelu_module{}, h));
    }
};

constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    if (load.images == 0) return {};
    if (load.image_height == 0)
        throw_description_error("this model accepts images of any size; use --image WIDTHxHEIGHT");
    const family_config& family = m.components[0].config.family;
    const std::int64_t merged = family[merged_rows], patch = m.components[0].config.vision.patch_size;
    if (merged != family[merged_columns]) throw_description_error("patches can be merged only in squares");
    const image_size to =
        padded({load.image_height, load.image_width}, patch, merged, m.family[max_patches], m.family[longest]);
    const std::int64_t step = merged * patch;
    return {.image = {.num_tokens = (to.height / step) * (to.width / step), .height = to.height, .width = to.width}};
}

constexpr void parse_processor_config(config_view json, model& m) {
    expect_patches(json, m.components[0].config.vision.patch_size, m.components[0].config.family[merged_rows]);
    m.family[max_patches] = json.positive("max_patches", m.family[max_patches]);
    if (const auto size = json.optional_object("size")) m.family[longest] = size->positive("max_height");
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    const model_config& vision = ctx.model.components[0].config;
    return forward_text_after_packed_images(
        ctx, t, vision.family[merged_rows] * vision.family[merged_columns] * vision.vision.patch_size,
        [&](const tensor& token_embeddings) {
            const tensor states = forward_encoder_component(ctx, t, 0, "vision_tower", role::vision);
            const tensor features = t.call("mm_projector", merging_projector{ctx}, states).squeeze(1);
            return t.masked_scatter(token_embeddings, t.cat({features}, 0));
        });
}

}  // namespace kimi_k25_detail

// transformers/models/kimi_k25: patches of images and videos before DeepSeek-V3
inline constexpr model_spec kimi_k25 = [](model_spec spec) {
    spec.model_type = "kimi_k25";
    spec.class_prefix = "Kimi_K25";
    spec.base_model = kimi_k25_detail::base;
    spec.family_keys = kimi_k25_detail::family_keys;
    spec.compute_media_shapes = kimi_k25_detail::compute_media_shapes;
    spec.parse_image_processor = kimi_k25_detail::parse_processor_config;
    spec.modalities.has_images = true;
    spec.text_model = {.key = "text_config", .default_spec = &deepseek_v3, .alternative_model_type = "kimi_k2"};
    spec.components[0] = {.key = "vision_config", .default_spec = &kimi_k25_detail::tower, .ignores_model_type = true};
    spec.defaults.tie_word_embeddings = true;
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
