// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen2.hpp>
#include <llmcost/config/keys.hpp>
#include <llmcost/forward/qwen_vision.hpp>
#include <llmcost/forward/vision_encoder.hpp>

namespace llmcost::arch {

namespace video_llama_3_detail {

using qwen_vision::channels, qwen_vision::patch;

inline constexpr family_key family_keys[]{
    {"patch_size", 16},
    {.default_value = 1, .type = family_key_type::computed},  // a patch is of one frame
    {"num_channels", 3},
    {.default_value = 1, .type = family_key_type::computed},  // each patch of an image is a token
};

inline constexpr family_key bound_keys[]{
    {.default_value = 56 * 56, .type = family_key_type::computed},
    {.default_value = 28 * 28 * 1280, .type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
};

/// Patches, each by a convolution of its own size; layers that turn queries and keys; a norm; each picture resampled to
/// its own size.
constexpr tensor encode_images(const layer_context& ctx, trace& t) {
    const family_config& family = ctx.config.family;
    const std::int64_t width = ctx.config.hidden_size;
    packed_attention_pattern made{.pictures = qwen_vision::grid_of(ctx, t)};
    const std::int64_t n = made.pictures.patches();
    const module_info embeddings{
        .name = "embeddings", .class_of_module = ctx.class_of("VisionEmbeddings"), .module_role = role::embedding};
    const convolution_2d patches{family[channels], width, family[patch], family[patch]};
    t.enter(embeddings);
    const tensor pixels = t.input({n, family[channels] * family[patch] * family[patch]});
    tensor x = t.call("patch_embedding", patches, pixels.view({n, family[channels], family[patch], family[patch]}))
                   .view({n, width});
    x = t.leave(embeddings, x);
    const packed_position_table table{width / ctx.config.num_attention_heads, ctx.class_of("VisionRotaryEmbedding")};
    const tensor_pair turns = t.call("rotary_pos_emb", table, n);
    made.cos = turns.first;
    made.sin = turns.second;
    const module_info encoder{.name = "encoder", .class_of_module = ctx.class_of("VisionEncoder")};
    t.enter(encoder);
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, x); layer_loop.next();)
        x = t.call({"layers", layer_loop.index()}, packed_encoder_layer{ctx, made}, x);
    x = t.leave(encoder, x);
    x = t.call("post_layernorm", norm_module{norm_kind::layer, width}, x);
    const packed_images& all = made.pictures;
    const tensor squares = x.view({all.frames, all.rows, all.columns, width}).permute({0, 3, 1, 2});
    return t.cat({t.bilinear(squares, all.rows, all.columns).permute({0, 2, 3, 1}).view({n, width})}, 0);
}

inline constexpr submodel_spec tower = [](model_spec spec) {
    spec.class_prefix = "VideoLlama3";
    spec.base_model = encode_images;
    spec.family_keys = family_keys;
    spec.supported_heads = {};
    spec.parse_config = [](config_view json, model_config& config) {
        divide_by_heads(json, config, {"num_attention_heads"});
    };
    spec.defaults.hidden_act = activation::gelu_pytorch_tanh;
    return spec;
}(shared_tower);

/// Two projections and what is between them, by their numbers.
struct readout {
    layer_context ctx;

    static constexpr role module_role = role::projector;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Projector"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size;
        const module_info steps{.name = "readout", .class_of_module = {"", "Sequential"}};
        t.enter(steps);
        const tensor h = t.call("1", gelu_module{}, t.call("0", linear{x.dim(-1), width, true}, x));
        return t.leave(steps, t.call("2", linear{width, width, true}, h));
    }
};

constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    return qwen_vision::compute_shapes_within(m, load, {});
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    return forward_text_after_encoder(ctx, t, "language_model", [&](const tensor& token_embeddings) {
        return insert_image_features(ctx, t, token_embeddings, [&] {
            return t.call("projector", readout{ctx},
                          forward_encoder_component(ctx, t, 0, "vision_model", role::vision));
        });
    });
}

}  // namespace video_llama_3_detail

// transformers/models/video_llama_3: SigLIP's layers with turned queries before Qwen2
inline constexpr model_spec video_llama_3 = [](model_spec spec) {
    spec.model_type = "video_llama_3";
    spec.class_prefix = "VideoLlama3";
    spec.base_model = video_llama_3_detail::base;
    spec.compute_media_shapes = video_llama_3_detail::compute_media_shapes;
    spec.parse_image_processor = qwen_vision::parse_processor_config;
    spec.modalities.has_images = true;
    spec.family_keys = video_llama_3_detail::bound_keys;
    spec.text_model = {.key = "text_config", .default_spec = &qwen2, .ties_embeddings = true};
    spec.components[0] = {
        .key = "vision_config", .default_spec = &video_llama_3_detail::tower, .ignores_model_type = true};
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
