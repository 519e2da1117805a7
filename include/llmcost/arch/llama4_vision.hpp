// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama4.hpp>
#include <llmcost/config/image.hpp>
#include <llmcost/config/processor.hpp>
#include <llmcost/forward/multimodal.hpp>
#include <llmcost/forward/tiles.hpp>
#include <llmcost/forward/vision_encoder.hpp>

namespace llmcost::arch {

namespace llama4_detail {

enum tower_config_index : std::uint8_t { output_width, adapter_in, adapter_out, squares };
inline constexpr family_key tower_keys[]{
    {"vision_output_dim", 7680},
    {"projector_input_dim", 4096},
    {"projector_output_dim", 4096},
    {.default_value = 2, .type = family_key_type::computed},  // patches along a side that become one token
};

/// Attention whose queries and keys are turned as complex numbers by row and column.
constexpr tensor attend_in_tower(const layer_context& ctx, trace& t, const tensor& x) {
    query_key_value qkv = project_qkv(ctx, t, x);
    split_heads(ctx, qkv);
    const tensor unit = ctx.inputs->cos.unsqueeze(2);
    for (tensor* const operand : {&qkv.query, &qkv.key}) *operand = rotate_complex(t, *operand, unit);
    transpose_heads(qkv);
    const tensor mixed =
        attention_forward(t, qkv.query, qkv.key, qkv.value, ctx.inputs->pattern, {.has_float32_softmax = false});
    return output_projection(ctx, t, t.contiguous(t.reshape(mixed, {x.dim(0), x.dim(1), -1})));
}

struct tower_layer {
    layer_context ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("VisionEncoderLayer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, inner = ctx.config.intermediate_size;
        const norm_module layer_norm{norm_kind::layer, width};
        const tensor middle =
            t.add(x, t.call("self_attn", attention_module{ctx}, t.call("input_layernorm", layer_norm, x)));
        const tensor h = t.call("post_attention_layernorm", layer_norm, middle);
        const module_info block{.name = "mlp", .class_of_module = ctx.class_of("VisionMLP"), .module_role = role::mlp};
        t.enter(block);
        const tensor up = t.call("activation_fn", gelu_module{}, t.call("fc1", linear{width, inner, true}, h));
        return t.add(middle, t.leave(block, t.call("fc2", linear{inner, width, true}, up)));
    }
};

/// Features of this width; where no image is seen, widths of a configuration need not fit.
constexpr tensor features_of_width(trace& t, const tensor& x, std::int64_t width) {
    if (x.dim(-1) == width) return x;
    if (has_images(t))
        throw_description_error(
            "vision_config: the widths of the vision encoder, its adapter and the projector differ");
    return t.full({x.dim(0), x.dim(1), width}, x.type);
}

/// Squares of patches side by side through two projections, of inner width `intermediate_size`.
constexpr tensor adapt(const layer_context& ctx, trace& t, const tensor& x) {
    const model_config& config = ctx.config;
    const module_info adapter{.name = "vision_adapter", .class_of_module = ctx.class_of("VisionPixelShuffleMLP")};
    const module_info block{.name = "mlp", .class_of_module = ctx.class_of("VisionMLP2")};
    t.enter(adapter);
    const std::int64_t side = config.vision.image_height / config.vision.patch_size;
    const tensor shuffled =
        features_of_width(t, shuffle_patches(t, x, side, side, config.family[squares]), config.intermediate_size);
    t.enter(block);
    tensor h = t.call("fc1", linear{config.intermediate_size, config.family[adapter_in]}, shuffled);
    h = features_of_width(t, t.call("activation_fn", gelu_module{}, h), config.family[adapter_out]);
    h = t.call("activation_fn", gelu_module{},
               t.call("fc2", linear{config.family[adapter_out], config.family[adapter_out]}, h));
    return t.leave(adapter, t.leave(block, h));
}

/// Patches before a class token, with learned positions; layers; the adapter.
constexpr tensor tower_base(const layer_context& ctx, trace& t) {
    const vision_config& image = ctx.config.vision;
    const std::int64_t width = ctx.config.hidden_size, batch = t.load().batch, n = patches_of(image);
    const std::int64_t pixels = image.num_channels * image.patch_size * image.patch_size;
    const norm_module layer_norm{norm_kind::layer, width};
    const module_info patches{.name = "patch_embedding",
                              .class_of_module = ctx.class_of("UnfoldConvolution"),
                              .module_role = role::embedding};
    const module_info unfold{.name = "unfold", .class_of_module = {"", "Unfold"}, .is_leaf = true};
    t.enter(patches);
    t.enter(unfold);
    const tensor cut = t.leave(unfold, t.gather(pixel_values(ctx, t), {batch, pixels, n}));
    tensor x = t.leave(patches, t.call("linear", linear{pixels, width}, cut.permute({0, 2, 1})));
    const tensor token = t.param("class_embedding", {width}).view({1, 1, width}).expand({batch, 1, width});
    x = t.cat({x, token}, 1);
    x = t.add(x, t.param("positional_embedding_vlm", {n + 1, width}));
    x = t.call("layernorm_pre", layer_norm, x);
    const module_info rotary{.name = "rotary_embedding",
                             .class_of_module = ctx.class_of("VisionRotaryEmbedding"),
                             .module_role = role::rotary,
                             .is_leaf = true};
    attention_inputs inputs;
    inputs.pattern = {.query_length = n + 1, .is_causal = false};
    inputs.cos = trace::buffer({1, n + 1, ctx.config.head_dim / 2});
    t.enter(rotary);
    t.register_buffer({n + 1, ctx.config.head_dim / 2}, dtype::complex64);  // `freqs_ci`
    t.record_module_output(inputs.cos);
    t.leave(rotary);
    const module_info encoder{.name = "model", .class_of_module = ctx.class_of("VisionEncoder")};
    t.enter(encoder);
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, x); layer_loop.next();)
        x = t.call({"layers", layer_loop.index()}, tower_layer{ctx.for_layer(layer_loop, inputs)}, x);
    x = t.call("layernorm_post", layer_norm, t.leave(encoder, x));
    return adapt(ctx, t, t.slice(x, 1, n));
}

constexpr void parse_vision_config(config_view json, model_config& config) {
    parse_square_image(json, config, 448, 14);
    divide_by_heads(json, config, {"num_attention_heads"});
    const double ratio = json.real("pixel_shuffle_ratio", 0.5);
    const std::int64_t factor = ratio > 0 && ratio <= 1 ? static_cast<std::int64_t>(1 / ratio) : 0;
    if (factor < 1 || config.vision.image_height / config.vision.patch_size % factor != 0 ||
        ratio * static_cast<double>(factor) != 1)
        throw_invalid_value(json, "pixel_shuffle_ratio", "one divided by a divisor of the patches along a side");
    config.family[squares] = factor;
}

inline constexpr submodel_spec tower = [](model_spec spec) {
    spec.class_prefix = "Llama4";
    spec.base_model = tower_base;
    spec.parse_config = parse_vision_config;
    spec.family_keys = tower_keys;
    spec.supported_heads = {};
    spec.attention = attend_in_tower;
    spec.names.attention_class = "VisionAttention";
    spec.names.o_proj = "o_proj";
    // the activation is always `nn.GELU`, whatever the key contains
    spec.config_keys.add("hidden_act", key_rule::absent);
    spec.defaults.intermediate_size = 5632;
    spec.defaults.num_hidden_layers = 34;
    spec.defaults.num_attention_heads = 16;
    return spec;
}(shared_tower);

enum cut_by : std::uint8_t { max_tiles, fills_canvas };
inline constexpr family_key model_keys[]{
    {.default_value = 16,
     .type = family_key_type::computed},  // tiles per image, in addition to the full image (image_processing_llama4.py)
    {.type = family_key_type::computed},  // as large as they may be
};

/// The canvas of tiles that scales an image up least, or where all scale it down, the one that does so least; of those
/// that scale alike the one with fewest tiles. Scales are 32-bit floats (`get_best_fit`).
[[nodiscard]] constexpr tile_grid best_canvas(std::int64_t height, std::int64_t width, std::int64_t side,
                                              const family_config& rule) {
    tile_grid best;
    float chosen = 0;  // none yet
    for (std::int64_t n = 1; n <= rule[max_tiles]; ++n)
        for (std::int64_t rows = 1; rows <= n; ++rows) {
            if (n % rows != 0) continue;
            const float high = static_cast<float>(rows * side) / static_cast<float>(height);
            const float width_scale = static_cast<float>(n / rows * side) / static_cast<float>(width);
            const float scale = high > width_scale ? width_scale : high;
            const bool better = scale >= 1 ? chosen < 1 || (rule[fills_canvas] != 0 ? scale > chosen : scale < chosen)
                                           : chosen < 1 && scale > chosen;
            if (chosen == 0 || better) {
                best = {rows, n / rows};
                chosen = scale;
            }
        }
    return best;
}

constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    const vision_config& image = m.components[0].config.vision;
    const std::int64_t side = image.image_height, factor = m.components[0].config.family[squares];
    const std::int64_t height = load.image_height > 0 ? load.image_height : side;
    const std::int64_t width = load.image_width > 0 ? load.image_width : side;
    const tile_grid canvas = best_canvas(height, width, side, m.family);
    const std::int64_t tiles = add_thumbnail(canvas);
    return {.image = {.num_tokens = tiles * (patches_of(image) / (factor * factor)),
                      .num_tiles = tiles,
                      .height = side,
                      .width = side,
                      .tile_rows = canvas.rows,
                      .tile_columns = canvas.columns}};
}

constexpr void parse_processor_config(config_view json, model& m) {
    expect_resized(json);
    expect_picture(json, m.components[0].config.vision.image_height);
    m.family[max_tiles] = json.positive("max_patches", m.family[max_tiles]);
    if (m.family[max_tiles] > max_tiles_of_image)
        throw_unsupported(json, "max_patches", "unsupported number of tiles per image");
    m.family[fills_canvas] = json.boolean("resize_to_max_canvas", false) ? 1 : 0;
}

/// Encodes tiles, projects the states once, and inserts them at the positions of image tokens.
constexpr tensor encode_images(const layer_context& ctx, trace& t, const tensor& token_embeddings) {
    const recorder::not_executed_guard no_pixels{t, !has_images(t)};
    const media_shape shape = compute_media_shapes(ctx.model, t.load()).image;
    tensor features;
    {
        const recorder::workload_guard encoder_workload{t,
                                                        image_workload(t.load(), images_in(t) * shape.num_tiles, 0, 0)};
        features = forward_encoder_component(ctx, t, 0, "vision_model", role::vision);
    }
    const std::int64_t width = ctx.model.components[0].config.family[output_width];
    const module_info projector{.name = "multi_modal_projector",
                                .class_of_module = ctx.class_of("MultiModalProjector"),
                                .module_role = role::projector};
    const tensor rows = features_of_width(t, features, width).view({-1, width});
    t.enter(projector);
    return t.masked_scatter(token_embeddings,
                            t.leave(projector, t.call("linear_1", linear{width, ctx.config.hidden_size}, rows)));
}

/// Traces the vision encoder, then the text model with its own head in a submodule.
constexpr tensor forward(const layer_context& ctx, trace& t) {
    const layer_context text = ctx.text_model();
    const module_info model_info{.class_of_module = ctx.class_of(name_of(ctx.config.head))};
    const module_info language{.name = "language_model", .class_of_module = ctx.class_of("ForCausalLM")};
    const module_info inner{.name = "model", .class_of_module = text.class_of(text.spec.names.model_class)};
    t.enter(model_info);
    t.enter(language);
    t.enter(inner);
    tensor x = t.leave(language, t.leave(inner, text.spec.embed_tokens(text, t)));
    x = encode_images(ctx, t, x);
    t.enter(language);
    t.enter(inner);
    const decoder_inputs shared = text.spec.prepare_inputs(text, t);
    x = t.leave(inner, apply_norm(text, t, text.spec.names.norm, forward_layers(text, t, shared, x)));
    return t.leave(model_info, t.leave(language, t.select_model_output(x, forward_head(text, t, x))));
}

}  // namespace llama4_detail

// transformers/models/llama4: vision encoder, text model and head; the text configuration sets tied weights
inline constexpr model_spec llama4 = [](model_spec spec) {
    spec.model_type = "llama4";
    spec.class_prefix = "Llama4";
    spec.forward = llama4_detail::forward;
    spec.supported_heads = {head_kind::conditional_generation};
    spec.compute_media_shapes = llama4_detail::compute_media_shapes;
    spec.family_keys = llama4_detail::model_keys;
    spec.parse_image_processor = llama4_detail::parse_processor_config;
    spec.modalities.has_images = true;
    spec.text_model = {
        .key = "text_config", .default_spec = &llama4_text, .ignores_model_type = true, .ties_embeddings = true};
    spec.components[0] = {.key = "vision_config", .default_spec = &llama4_detail::tower, .ignores_model_type = true};
    spec.config_keys.add("tie_word_embeddings", key_rule::absent);
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
