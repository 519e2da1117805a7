// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/layer_types.hpp>
#include <llmcost/config/rope.hpp>
#include <llmcost/forward/qwen_vision.hpp>

namespace llmcost::arch {

namespace paddleocr_vl_detail {

using qwen_vision::channels, qwen_vision::merge, qwen_vision::patch;

enum family_config_index : std::uint8_t { image = qwen_vision::width };

inline constexpr family_key family_keys[]{
    {"patch_size", 14},  {.default_value = 1, .type = family_key_type::computed},  // a patch is of one frame
    {"num_channels", 3}, {"spatial_merge_size", 2},
    {"image_size", 384},
};

inline constexpr family_key bound_keys[]{
    {.default_value = 384 * 384, .type = family_key_type::computed},
    {.default_value = 1536 * 1536, .type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
};

/// Patches with learned positions: (S, width).
constexpr tensor embed(const layer_context& ctx, trace& t, std::int64_t patches) {
    const family_config& family = ctx.config.family;
    const std::int64_t in = ctx.config.hidden_size, rows = family[image] / family[patch];
    const module_info embeddings{
        .name = "embeddings", .class_of_module = ctx.class_of("VisionEmbeddings"), .module_role = role::embedding};
    t.enter(embeddings);
    const tensor pixels = t.input({patches, family[channels], family[patch], family[patch]});
    const convolution_2d convolution{family[channels], in, family[patch], family[patch]};
    const tensor embedded = t.call("patch_embedding", convolution, pixels).view({patches, in});
    t.register_integer_buffer(rows * rows);  // `position_ids`
    const tensor places = resample_patch_centers(t, "position_embedding", rows * rows, in, patches);
    return t.leave(embeddings, t.add(embedded, t.to(places, embedded.type)));
}

/// Patches with learned and rotary positions, layers, a norm.
constexpr tensor encode_images(const layer_context& ctx, trace& t) {
    const std::int64_t in = ctx.config.hidden_size;
    packed_attention_pattern made{.pictures = qwen_vision::grid_of(ctx, t)};
    const module_info model{.name = "vision_model", .class_of_module = ctx.class_of("VisionTransformer")};
    const module_info encoder{.name = "encoder", .class_of_module = ctx.class_of("VisionEncoder")};
    t.enter(model);
    tensor x = embed(ctx, t, made.pictures.patches());
    t.enter(encoder);
    const packed_position_table table{in / ctx.config.num_attention_heads, ctx.class_of("VisionRotaryEmbedding")};
    const tensor_pair turns = t.call("rotary_pos_emb", table, made.pictures.patches());
    made.cos = turns.first;
    made.sin = turns.second;
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, x); layer_loop.next();)
        x = t.call({"layers", layer_loop.index()}, packed_encoder_layer{ctx, made}, x);
    x = t.leave(encoder, x);
    return t.leave(model, t.call("post_layernorm", norm_module{norm_kind::layer, in}, x));
}

/// Merges several patches into one token, image by image: (S, width) -> (S / many, out).
struct projector_of_patches {
    std::int64_t merged;
    std::int64_t out;

    static constexpr role module_role = role::projector;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {"PaddleOCR", "Projector"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t in = x.dim(1), all = in * merged * merged;
        const tensor normed = t.call("pre_norm", norm_module{norm_kind::layer, in}, x);
        const tensor blocks = t.copy(normed).view({-1, all});
        const tensor h =
            t.call("act", activation_module{activation::gelu}, t.call("linear_1", linear{all, all, true}, blocks));
        return t.cat({t.call("linear_2", linear{all, out, true}, h)}, 0);
    }
};

/// The processor makes what is thinner than a merged patch as wide as one, before it rounds.
constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    const family_config& tower = m.components[0].config.family;
    const std::int64_t factor = tower[patch] * tower[merge];
    workload enlarged = load;
    const auto enlarge = [&](std::int64_t& side, std::int64_t& other_side) {
        if (side == 0 || side >= factor) return;
        other_side = nearest_multiple(other_side * factor, side) / side;
        side = factor;  // Python's round of a quotient
    };
    enlarge(enlarged.image_height, enlarged.image_width);
    enlarge(enlarged.image_width, enlarged.image_height);
    return qwen_vision::compute_shapes_within(m, enlarged, {});
}

/// Runs the vision encoder, the patch merger and the text model.
constexpr tensor forward_vision_language(const layer_context& ctx, trace& t) {
    return forward_text_after_encoder(ctx, t, "language_model", [&](tensor token_embeddings) {
        token_embeddings = insert_image_features(ctx, t, token_embeddings, [&] {
            const tensor features = forward_encoder_component(ctx, t, 0, "visual", role::vision);
            const std::int64_t merged = ctx.component(0).config.family[merge];
            return t.call("projector", projector_of_patches{merged, ctx.config.hidden_size}, features);
        });
        qwen_vision::place_in_time(ctx, t);
        return token_embeddings;
    });
}

/// Biases everywhere or nowhere.
constexpr void parse_text_config(config_view json, model_config& config) {
    config.attention_bias = config.output_bias = config.mlp_bias = json.boolean("use_bias", false);
    set_single_mask(json, config);
    if (2 * parse_sections(json, {3, 64}).frequencies != config.rotary_dim)
        fail_sections(json, "frequencies per axis that add up to half of a head");
}

/// A text model without a part of its own is one by default, whose embeddings are tied.
constexpr void tie(config_view json, model& m) {
    if (!json.optional_object("text_config")) m.config.tie_word_embeddings = true;
}

}  // namespace paddleocr_vl_detail

// transformers/models/paddleocr_vl: Ernie 4.5 with positions of three axes
inline constexpr submodel_spec paddleocr_vl_text = [](model_spec spec) {
    spec.model_type = "paddleocr_vl_text";
    spec.class_prefix = "PaddleOCR";
    spec.parse_config = paddleocr_vl_detail::parse_text_config;
    spec.rotary_axes = rotary_axis_layout::sections;
    spec.supported_heads = {head_kind::none};
    spec.names.model_class = "TextModel";
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.config_keys.add("attention_bias", key_rule::absent);
    spec.defaults = {.vocab_size = 103424,
                     .hidden_size = 1024,
                     .intermediate_size = 3072,
                     .num_hidden_layers = 18,
                     .num_attention_heads = 16,
                     .num_key_value_heads = 2,
                     .head_dim = 128,
                     .max_position_embeddings = 131072,
                     .head = head_kind::none,
                     .tie_word_embeddings = true};
    return spec;
}(default_decoder);

// transformers/models/paddleocr_vl, PaddleOCRVisionConfig
inline constexpr submodel_spec paddleocr_vl_vision{
    .model_type = "paddleocr_vl_vision",
    .class_prefix = "PaddleOCR",
    .base_model = paddleocr_vl_detail::encode_images,
    .family_keys = paddleocr_vl_detail::family_keys,
    .rotary = rotary_style::none,
    .names = {.model_class = "VisionModel"},
    .defaults = {.hidden_size = 1152,
                 .intermediate_size = 4304,
                 .num_hidden_layers = 27,
                 .num_attention_heads = 16,
                 .hidden_act = activation::gelu_pytorch_tanh},
};

// transformers/models/paddleocr_vl: older files have the text model's keys at the root
inline constexpr model_spec paddleocr_vl = [](model_spec spec) {
    spec.model_type = "paddleocr_vl";
    spec.class_prefix = "PaddleOCRVL";
    spec.base_model = paddleocr_vl_detail::forward_vision_language;
    spec.text_model = {.key = "text_config",
                       .default_spec = &paddleocr_vl_text,
                       .ignores_model_type = true,
                       .ties_embeddings = true,
                       .is_flat = true};
    spec.components[0] = {.key = "vision_config", .default_spec = &paddleocr_vl_vision, .ignores_model_type = true};
    spec.compute_media_shapes = paddleocr_vl_detail::compute_media_shapes;
    spec.parse_image_processor = qwen_vision::parse_processor_config;
    spec.modalities.has_images = true;
    spec.family_keys = paddleocr_vl_detail::bound_keys;
    spec.parse_composite_config = paddleocr_vl_detail::tie;
    spec.defaults.tie_word_embeddings = true;
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
