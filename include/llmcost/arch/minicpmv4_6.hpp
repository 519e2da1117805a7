// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen3_5.hpp>
#include <llmcost/config/image.hpp>
#include <llmcost/config/processor.hpp>
#include <llmcost/forward/image_slices.hpp>
#include <llmcost/forward/multimodal.hpp>
#include <llmcost/forward/tiles.hpp>
#include <llmcost/forward/vision_encoder.hpp>

namespace llmcost::arch {

namespace minicpmv4_6_detail {

using image_slices::cut, image_slices::fourfold, image_slices::insert_layer_id, image_slices::max_slice_nums,
    image_slices::picture_group, image_slices::pictures_of, image_slices::resolution;

inline constexpr family_key family_keys[]{
    {"merger_times", 1},
    {.default_value = 6, .type = family_key_type::computed},  // vision layer after which windows of patches are merged
    {.type = family_key_type::computed},  // they are not, so that an image has four times as many tokens
    {.default_value = 448,
     .type = family_key_type::computed},  // what the processor sets (image_processing_minicpmv4_6.py)
    {.default_value = 9, .type = family_key_type::computed},  // 0: images are not cut
};

enum tower_config_index : std::uint8_t { window };

inline constexpr family_key tower_keys[]{
    {.default_value = 4, .type = family_key_type::computed}};  // patches of a window

/// How many and how long what attends within itself is, in shapes that layers share.
constexpr attention_inputs lengths_of(const pictures_of& all) {
    attention_inputs inputs;
    inputs.family_tensors[0] = trace::buffer({all.wholes.num_pictures, all.wholes.rows * all.wholes.columns});
    inputs.family_tensors[1] = trace::buffer({all.slices.num_pictures, all.slices.rows * all.slices.columns});
    return inputs;
}

/// Attention within each picture, or within each window: (1, patches of all, width) -> the same.
constexpr tensor attend_within_each(const layer_context& ctx, trace& t, const tensor& x) {
    const decoder_module_names& n = ctx.spec.names;
    const std::int64_t width = ctx.config.hidden_size, heads = ctx.config.num_attention_heads, d = width / heads;
    tensor q = project(ctx, t, n.q_proj, width, x), k = project(ctx, t, n.k_proj, width, x),
           v = project(ctx, t, n.v_proj, width, x);
    tensor found[2];
    int parts = 0;
    for (int i = 0; i < 2; ++i) {
        const tensor& lengths = ctx.inputs->family_tensors[i];
        if (lengths.numel == 0) continue;
        const std::int64_t num_pictures = lengths.dim(0), length = lengths.dim(1);
        const auto one = [&](const tensor& all) {
            return all.slice(1, length).view({1, length, heads, d}).transpose(1, 2);
        };
        tensor mixed = trace::buffer({1, length, heads, d});
        for (loop layer_loop = t.loop_time_steps(num_pictures, mixed); layer_loop.next();)
            mixed = attention_forward(t, one(q), one(k), one(v), full_pattern(length).pattern, {});
        found[parts] = trace::buffer({1, num_pictures * length, heads, d});  // all of them
        found[parts].storage_id = mixed.storage_id;
        found[parts++].requires_grad = mixed.requires_grad;
    }
    return t.call(n.o_proj, linear{width, width, ctx.config.output_bias},
                  t.cat(found, parts, 1).view({1, x.dim(1), width}));
}

/// Windows of patches attend within themselves and become one patch each (`MiniCPMV4_6ViTWindowAttentionMerger`).
struct window_merger {
    layer_context ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("ViTWindowAttentionMerger"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, n = ctx.config.family[window],
                           inner = ctx.config.intermediate_size * n;
        const std::int64_t windows = x.dim(1) / n > 0 ? x.dim(1) / n : 1, patches = windows * n;
        const tensor normed = t.call("layer_norm1", norm_module{norm_kind::layer, width}, x);
        attention_inputs inputs;
        inputs.family_tensors[0] = trace::buffer({windows, n});
        inputs.family_tensors[1] = trace::buffer({0, 0});
        const tensor h =
            t.call("self_attn", attention_module{make_context(inputs)}, t.gather(normed, {1, patches, width}));
        const tensor of_windows = t.add(t.gather(x, {1, patches, width}), h).view({windows, n, width});
        const tensor mean = t.mean(of_windows, 1);
        tensor out =
            t.call("pre_norm", norm_module{norm_kind::layer, n * width}, of_windows.view({windows, n * width}));
        out = t.call("linear_1", linear{n * width, inner, true}, out);
        out = t.call("act", activation_module{activation::gelu_pytorch_tanh}, out);
        return t.add(t.call("linear_2", linear{inner, width, true}, out), mean).unsqueeze(0);
    }
    [[nodiscard]] constexpr layer_context make_context(const attention_inputs& inputs) const {
        layer_context attention_ctx = ctx;
        attention_ctx.inputs = &inputs;
        return attention_ctx;
    }
};

/// Patches of all pictures in one row with learned positions, which are found by floats.
constexpr tensor embed(const layer_context& ctx, trace& t, const pictures_of& all) {
    const vision_config& image = ctx.config.vision;
    const std::int64_t width = ctx.config.hidden_size, positions = patches_of(image), n = all.patches();
    const module_info embeddings{
        .name = "embeddings", .class_of_module = ctx.class_of("VisionEmbeddings"), .module_role = role::embedding};
    const tensor pixels = t.input({1, image.num_channels, image.patch_size, n * image.patch_size});
    t.enter(embeddings);
    const tensor patches = embed_patches(ctx, t, "patch_embedding", true, pixels);
    {
        const recorder::no_grad_guard constants{t};
        (void)t.full({num_boundaries(image.image_height / image.patch_size)});
        for (const picture_group& group : {all.wholes, all.slices})
            (void)t.div_scalar(trace::buffer({group.num_pictures, group.rows + group.columns}));
    }
    const tensor places = t.call("position_embedding", embedding{positions, width}, shape{1, n});
    return t.leave(embeddings, t.add(patches, places));
}

/// Runs the vision layers, merges windows of patches after one of them, and applies a norm.
constexpr tensor tower_base(const layer_context& ctx, trace& t) {
    const family_config& family = ctx.model.family;
    const std::int64_t layers = ctx.config.num_hidden_layers, images = images_in(t);
    pictures_of all = cut(ctx.model, t.load(), images);
    tensor x = embed(ctx, t, all);
    const bool merges = family[fourfold] == 0 && family[insert_layer_id] >= 0;
    const std::int64_t first = merges && family[insert_layer_id] < layers ? family[insert_layer_id] + 1 : layers;
    const auto run = [&](std::int64_t begin, std::int64_t to) {
        const module_info encoder{.name = "encoder", .class_of_module = ctx.class_of("VisionEncoder")};
        const attention_inputs inputs = lengths_of(all);
        t.enter(encoder);
        for (loop layer_loop = t.loop_modules(to - begin, x, begin); layer_loop.next();)
            x = t.call({"layers", layer_loop.index()}, vision_encoder_layer{ctx.for_layer(layer_loop, inputs)}, x);
        t.leave(encoder);
    };
    run(0, first);
    if (first < layers || (merges && family[insert_layer_id] == layers - 1)) {
        if (ctx.config.family[window] != 4 && has_images(t))
            throw_description_error("unsupported window size; expected 2 x 2");
        x = t.call("vit_merger", window_merger{ctx}, x);
        all = all.halved();
        if (ctx.config.family[window] != 4) x = trace::buffer({1, all.patches(), ctx.config.hidden_size});
        run(first, layers);
    } else {
        const recorder::not_executed_guard not_called{t};
        (void)t.call("vit_merger", window_merger{ctx}, x);
    }
    return t.call("post_layernorm", norm_module{norm_kind::layer, ctx.config.hidden_size}, x);
}

constexpr void parse_vision_config(config_view json, model_config& config) {
    parse_square_image(json, config, 224, 16);
    divide_by_heads(json, config, {"num_attention_heads"});
    const auto sides = json.optional_array("window_kernel_size");
    if (!sides) return;
    if (sides->size() != 2) throw_invalid_value(json, "window_kernel_size", "rows and columns of a window");
    const std::int64_t n =
        checked_size(json, "window_kernel_size", (*sides)[0].as_positive(), (*sides)[1].as_positive());
    (void)checked_size(json, "window_kernel_size", n, config.hidden_size);
    config.family[window] = n;
    (void)checked_size(json, "window_kernel_size", n, config.intermediate_size);
}

/// How large slices are and how many; what becomes one token must be as the configuration has it.
constexpr void parse_processor_config(config_view json, model& m) {
    expect_patches(json, m.components[0].config.vision.patch_size, 1);
    m.family[resolution] = json.positive("scale_resolution", m.family[resolution]);
    m.family[max_slice_nums] = json.positive("max_slice_nums", m.family[max_slice_nums]);
    if (m.family[max_slice_nums] > max_tiles_of_image)
        throw_unsupported(json, "max_slice_nums", "unsupported number of tiles per image");
    if (!json.boolean("slice_mode", true)) m.family[max_slice_nums] = 0;
    const string_ref mode = m.family[fourfold] != 0 ? "4x" : "16x";
    if (json.string("downsample_mode", mode) != mode)
        throw_invalid_value(json, "downsample_mode", "the downsample_mode of the configuration");
    if (json.string("small_image_upsize", "always") != "always")
        throw_unsupported(json, "small_image_upsize", "images without upsizing are not supported");
}

}  // namespace minicpmv4_6_detail

inline constexpr submodel_spec minicpmv4_6_vision_encoder = [](model_spec spec) {
    spec.class_prefix = "MiniCPMV4_6";
    spec.base_model = minicpmv4_6_detail::tower_base;
    spec.parse_config = minicpmv4_6_detail::parse_vision_config;
    spec.family_keys = minicpmv4_6_detail::tower_keys;
    spec.supported_heads = {};
    spec.attention = minicpmv4_6_detail::attend_within_each;
    spec.names.layer_class = "VisionEncoderLayer";
    spec.names.attention_class = "VisionAttention";
    spec.names.mlp_class = "VisionMLP";
    spec.defaults.hidden_act = activation::gelu_pytorch_tanh;
    return spec;
}(shared_tower);

// transformers/models/minicpmv4_6: SigLIP's layers with a merger among them before Qwen3.5
inline constexpr model_spec minicpmv4_6 = [](model_spec spec) {
    spec.model_type = "minicpmv4_6";
    spec.class_prefix = "MiniCPMV4_6";
    spec.base_model = image_slices::base;
    spec.family_keys = minicpmv4_6_detail::family_keys;
    spec.parse_composite_config = image_slices::parse_config;
    spec.compute_media_shapes = image_slices::compute_media_shapes;
    spec.parse_image_processor = minicpmv4_6_detail::parse_processor_config;
    spec.modalities.has_images = true;
    spec.text_model = {.key = "text_config", .default_spec = &qwen3_5_text};
    spec.components[0] = {
        .key = "vision_config", .default_spec = &minicpmv4_6_vision_encoder, .ignores_model_type = true};
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
