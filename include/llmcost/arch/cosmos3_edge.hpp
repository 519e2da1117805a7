// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/config/keys.hpp>
#include <llmcost/config/layer_types.hpp>
#include <llmcost/config/processor.hpp>
#include <llmcost/config/rope.hpp>
#include <llmcost/forward/native_resolution.hpp>
#include <llmcost/forward/qwen_vision.hpp>
#include <llmcost/forward/vision_encoder.hpp>

namespace llmcost::arch {

namespace cosmos3_edge_detail {

enum tower_config_index : std::uint8_t { places, merged };

inline constexpr family_key tower_keys[]{{"num_patches", 256}, {"spatial_merge_size", 2}};

/// Bidirectional attention within each image: (patches, width) -> (patches, width).
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t n = x.dim(0), width = ctx.config.hidden_size, heads = ctx.config.num_attention_heads;
    const auto split = [&](literal name) {
        return t.call(name, linear{width, width, true}, x).view({n, heads, width / heads});
    };
    const tensor q = split("q_proj"), k = split("k_proj"), v = split("v_proj");
    const packed_sequences runs = pack_images(t.load(), ctx.config.vision.patch_size).full_images();
    return t.call("out_proj", linear{width, width, true}, packed_scaled_dot_product_attention(t, q, k, v, runs));
}

/// Side of the largest square with at most `count` elements.
[[nodiscard]] constexpr std::int64_t side_of(std::int64_t count) {
    std::int64_t n = 1;
    while ((n + 1) * (n + 1) <= count) ++n;
    return n;
}

/// Position embeddings of one image, interpolated from a square, in the order of the merged patches: (patches, width).
constexpr tensor places_of_image(const layer_context& ctx, trace& t, const tensor& table, const packed_images& grid) {
    const std::int64_t width = ctx.config.hidden_size, side = side_of(ctx.config.family[places]),
                       m = ctx.config.family[merged];
    const tensor square = table.view({side, side, width}).permute({2, 0, 1}).unsqueeze(0);
    const tensor resized = t.bilinear(square, grid.rows, grid.columns).squeeze(0).permute({1, 2, 0});
    const tensor blocks = t.reshape(resized, {grid.rows / m, m, grid.columns / m, m, width}).transpose(1, 2);
    return t.copy(t.reshape(blocks, {grid.rows * grid.columns, width}));  // `repeat` for each frame
}

constexpr tensor tower_base(const layer_context& ctx, trace& t) {
    const vision_config& image = ctx.config.vision;
    const std::int64_t width = ctx.config.hidden_size,
                       values = image.num_channels * image.patch_size * image.patch_size;
    const packed_images grid = pack_images(t.load(), image.patch_size);
    const module_info embeddings{
        .name = "embeddings", .class_of_module = ctx.class_of("VisionEmbeddings"), .module_role = role::embedding};
    const module_info positions{.name = "position_embedding", .class_of_module = {"", "Embedding"}, .is_leaf = true};
    t.enter(embeddings);
    const tensor patches = t.call("patch_embedding", linear{values, width, true}, t.input({grid.patches(), values}));
    t.enter(positions);
    const tensor table = t.param("weight", {ctx.config.family[places], width});
    t.leave(positions);
    tensor placed = trace::buffer({1});
    placed.type = table.type;
    for (loop layer_loop = t.loop_time_steps(grid.frames, placed); layer_loop.next();)
        placed = places_of_image(ctx, t, table, grid);
    tensor x = t.leave(embeddings, t.add(patches, t.cat({window_tiling(placed, 0, grid.frames)}, 0)));
    return t.call("post_layernorm", norm_module{norm_kind::layer, width}, encode(ctx, t, x));
}

constexpr void parse_vision_config(config_view json, model_config& config) {
    config.vision.patch_size = json.positive("patch_size", 16);
    config.vision.num_channels = json.positive("num_channels", 3);
    divide_by_heads(json, config, {"num_attention_heads"});
    const std::int64_t side = side_of(config.family[places]);
    if (side * side != config.family[places]) throw_invalid_value(json, "num_patches", "the square of a number");
}

inline constexpr submodel_spec tower = [](model_spec spec) {
    spec.model_type = "cosmos3_edge_vision";
    spec.class_prefix = "Cosmos3Edge";
    spec.base_model = tower_base;
    spec.parse_config = parse_vision_config;
    spec.family_keys = tower_keys;
    spec.supported_heads = {};
    spec.attention = attention;
    spec.names.attention_class = "VisionAttention";
    spec.names.layer_class = "VisionEncoderLayer";
    spec.defaults.hidden_size = 1152;
    spec.defaults.intermediate_size = 4304;
    spec.defaults.num_hidden_layers = 27;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.hidden_act = activation::gelu_pytorch_tanh;
    return spec;
}(shared_tower);

enum family_config_index : std::uint8_t { inner, fewest_pixels, largest };

inline constexpr family_key family_keys[]{{"projector_hidden_size", 11520},
                                          {.default_value = 256 * 256, .type = family_key_type::computed},
                                          {.default_value = 4096 * 4096, .type = family_key_type::computed}};

/// Projector: normalizes patches, merges squares of them, then applies two linear layers.
struct patch_merger {
    layer_context ctx;

    static constexpr role module_role = role::projector;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("PatchMerger"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t side = ctx.model.components[0].config.family[merged], width = x.dim(-1),
                           in = side * side * width;
        const std::int64_t expanded_width = ctx.model.family[inner];
        const tensor even =
            t.call("norm", norm_module{norm_kind::layer, width}, x.view({-1, side * side, width})).view({-1, in});
        const tensor h = t.call("act_fn", gelu_module{}, t.call("linear_fc1", linear{in, expanded_width, true}, even));
        return t.call("linear_fc2", linear{expanded_width, ctx.config.hidden_size, true}, h);
    }
};

/// Returns the image shapes. Images with a side shorter than a merged patch are enlarged first.
///
/// Source: transformers, image_processing_cosmos3_edge.py, `smart_resize`.
constexpr media_shapes compute_media_shapes(const model& m, const workload& requested_load) {
    if (requested_load.images == 0) return {};
    const model_config& vision = m.components[0].config;
    const std::int64_t patch = vision.vision.patch_size, factor = patch * vision.family[merged];
    workload load = requested_load;
    if (load.image_height > 0 && (load.image_height < factor || load.image_width < factor)) {
        const auto share = [&](std::int64_t side) { return static_cast<double>(factor) / static_cast<double>(side); };
        const double down = share(load.image_height), width_scale = share(load.image_width),
                     scale = down > width_scale ? down : width_scale;
        load.image_height = static_cast<std::int64_t>(static_cast<double>(load.image_height) * scale);
        load.image_width = static_cast<std::int64_t>(static_cast<double>(load.image_width) * scale);
    }
    return {.image =
                resized_to_patches(load, patch, vision.family[merged], m.family[fewest_pixels], m.family[largest])};
}

/// Parses the processor configuration. The processor ignores `min_pixels` and `max_pixels`.
constexpr void parse_processor_config(config_view json, model& m) {
    expect_patches(json, m.components[0].config.vision.patch_size, m.components[0].config.family[merged]);
    parse_size_bounds(json, m.family, fewest_pixels, largest);
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    return forward_text_after_encoder(ctx, t, "language_model", [&](tensor token_embeddings) {
        {
            const bool has_image_inputs = has_images(t);
            const recorder::not_executed_guard no_pixels{t, !has_image_inputs};
            const model_config& vision = ctx.model.components[0].config;
            const media_shape shape =
                has_image_inputs ? compute_media_shapes(ctx.model, t.load()).image : media_shape{};
            const recorder::workload_guard encoder_workload{
                t, packed_workload(t, shape, vision.vision.patch_size * vision.family[merged])};
            const tensor states = forward_encoder_component(ctx, t, 0, "visual", role::vision);
            token_embeddings =
                t.masked_scatter(token_embeddings, t.cat({t.call("projector", patch_merger{ctx}, states)}, 0));
        }
        qwen_vision::place_in_time(ctx, t);
        return token_embeddings;
    });
}

/// Parses `config.json`. The rotary embedding reads the second and third entry of `mrope_section`.
constexpr void parse_text_config(config_view json, model_config& config) {
    if (parse_sections(json, {3, 64}).axes < 3) fail_sections(json, "frequencies of three axes");
    set_single_mask(json, config);
}

}  // namespace cosmos3_edge_detail

// The text model. Derived from Llama, with three-axis RoPE and an MLP with two projections.
//
// Source: transformers/models/cosmos3_edge
inline constexpr model_spec cosmos3_edge_text = [](model_spec spec) {
    spec.dropout_keys = {};
    spec.model_type = "cosmos3_edge_text";
    spec.class_prefix = "Cosmos3Edge";
    spec.supported_heads = {};
    spec.parse_config = cosmos3_edge_detail::parse_text_config;
    spec.rotary_axes = rotary_axis_layout::interleaved;
    spec.dense_mlp = mlp_kind::plain;
    spec.names.mlp_modules = {.up = "fc1", .down = "fc2", .act = "activation_fn"};
    spec.names.model_class = "TextModel";
    spec.names.layer_class = "TextDecoderLayer";
    spec.names.attention_class = "TextAttention";
    spec.names.norm_class = "TextRMSNorm";
    spec.names.mlp_class = "TextMLP";
    spec.names.rotary_class = "TextRotaryEmbedding";
    spec.defaults.vocab_size = 131072;
    spec.defaults.hidden_size = 2048;
    spec.defaults.intermediate_size = 9216;
    spec.defaults.num_hidden_layers = 28;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.num_key_value_heads = 8;
    spec.defaults.head_dim = 128;
    spec.defaults.max_position_embeddings = 131072;
    spec.defaults.hidden_act = activation::relu2;
    return spec;
}(llama);

// The multimodal model: SigLIP 2 for images of any shape, then the text model.
//
// Source: transformers/models/cosmos3_edge
inline constexpr model_spec cosmos3_edge = [](model_spec spec) {
    spec.model_type = "cosmos3_edge";
    spec.class_prefix = "Cosmos3Edge";
    spec.base_model = cosmos3_edge_detail::base;
    spec.family_keys = cosmos3_edge_detail::family_keys;
    spec.compute_media_shapes = cosmos3_edge_detail::compute_media_shapes;
    spec.parse_image_processor = cosmos3_edge_detail::parse_processor_config;
    spec.modalities.has_images = true;
    spec.text_model = {.key = "text_config", .default_spec = &cosmos3_edge_text, .ignores_model_type = true};
    spec.components[0] = {
        .key = "vision_config", .default_spec = &cosmos3_edge_detail::tower, .ignores_model_type = true};
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
