// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/arch/gemma4.hpp>
#include <llmcost/arch/gemma4_multimodal.hpp>
#include <llmcost/config/processor.hpp>
#include <llmcost/forward/multimodal.hpp>
#include <llmcost/forward/shared_kv_states.hpp>
#include <llmcost/forward/soft_token_images.hpp>

namespace llmcost::arch {

namespace gemma4_unified_detail {

/// Configuration keys of the unified model, which has neither per-layer inputs nor experts.
inline constexpr family_key text_keys[]{
    {"num_kv_shared_layers", 0, family_key_type::non_negative},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {"attention_k_eq_v", 0, family_key_type::boolean},
    {"use_double_wide_mlp", 0, family_key_type::boolean},
    {.type = family_key_type::computed},
};

}  // namespace gemma4_unified_detail

// The unified text model. Derived from Gemma 4, without per-layer inputs and experts.
//
// Source: transformers/models/gemma4_unified
inline constexpr model_spec gemma4_unified_text = [](model_spec spec) {
    spec.model_type = "gemma4_unified_text";
    spec.class_prefix = "Gemma4Unified";
    spec.parse_config = parse_gemma4;
    spec.family_keys = gemma4_unified_detail::text_keys;
    spec.defaults.max_position_embeddings = 262144;
    spec.defaults.sliding_window = 1024;
    return spec;
}(gemma4_text);

namespace gemma4_unified_detail {

using soft_token_images::media_embedder, soft_token_images::within_tokens;

enum unified_config_index : std::uint8_t {
    patch_values,
    embedded_width,
    unified_places,
    unified_vision_output_dims,
    unified_audio_output_dims,
    unified_patch,
    unified_pooled,
    unified_tokens
};

inline constexpr family_key unified_keys[]{
    {.type = family_key_type::computed}, {.type = family_key_type::computed},
    {.type = family_key_type::computed}, {.type = family_key_type::computed},
    {.type = family_key_type::computed}, {.type = family_key_type::computed},
    {.type = family_key_type::computed}, {.default_value = 280, .type = family_key_type::computed},
};

/// Patch embedding: normalizes and projects pixels, adds learned column and row embeddings.
struct patch_embedder {
    layer_context ctx;

    static constexpr role module_role = role::vision;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("VisionEmbedder"); }
    constexpr tensor forward(trace& t, const tensor& pixels) const {
        const family_config& family = ctx.model.family;
        const std::int64_t width = family[embedded_width], images = pixels.dim(0), patches = pixels.dim(1);
        const tensor table = t.param("pos_embedding", {family[unified_places], 2, width});
        const norm_module scale{norm_kind::layer, width};
        const tensor even = t.call("patch_ln1", norm_module{norm_kind::layer, family[patch_values]}, pixels);
        const tensor x =
            t.call("patch_ln2", scale, t.call("patch_dense", linear{family[patch_values], width, true}, even));
        const tensor valid = t.full({images, patches, 2, 1}, t.activation_type());
        const tensor place = t.sum(t.mul(t.gather(table, {images, patches, 2, width}), valid), -2);
        const tensor h = t.call("pos_norm", scale, t.add(x, place));
        const std::int64_t expected = family[unified_vision_output_dims];
        if (width != expected && has_images(t))
            throw_description_error("vision_config.mm_embed_dim is not output_proj_dims");
        return t.call("multimodal_embedder", media_embedder{ctx},
                      width == expected ? h : trace::buffer({images, patches, expected}));
    }
};

constexpr media_shapes compute_unified_shapes(const model& m, const workload& load) {
    if (load.images == 0) return {};
    if (m.family[unified_vision_output_dims] == 0) throw_description_error("this configuration has no image sizes");
    if (load.image_height == 0)
        throw_description_error("this model accepts images of any size; use --image WIDTHxHEIGHT");
    const std::int64_t patch = m.family[unified_patch], pooled = m.family[unified_pooled], step = patch * pooled;
    const image_size to = within_tokens({load.image_height, load.image_width}, patch, pooled, m.family[unified_tokens]);
    const std::int64_t rows = to.height / step, columns = to.width / step;
    if ((rows > columns ? rows : columns) > m.family[unified_places])
        throw_description_error("the image has more rows or columns than position embeddings");
    return {.image = {.num_tokens = rows * columns, .height = to.height, .width = to.width}};
}

/// Traces the unified model. Patches and audio frames are projected directly, without encoders.
constexpr tensor unified_base(const layer_context& ctx, trace& t) {
    const family_config& family = ctx.model.family;
    const tensor x = forward_gemma4_language_model(ctx, t, [&](const tensor& token_embeddings) {
        if (family[unified_vision_output_dims] == 0) return token_embeddings;
        const bool has_image_inputs = has_images(t);
        const recorder::not_executed_guard no_pixels{t, !has_image_inputs};
        const std::int64_t images = has_image_inputs ? images_in(t) : 1;
        const std::int64_t tokens = has_image_inputs ? compute_unified_shapes(ctx.model, t.load()).image.num_tokens : 1;
        const tensor pixels = t.input({images, family[unified_tokens], family[patch_values]});
        const tensor states = t.call("embed_vision", patch_embedder{ctx}, pixels);
        return scatter_features(t, token_embeddings, t.gather(states, {images * tokens, ctx.config.hidden_size}));
    });
    if (family[unified_audio_output_dims] != 0)
        declare_gemma4_embedder(ctx, t, "embed_audio", family[unified_audio_output_dims]);
    return x;
}

constexpr void parse_unified(config_view json, model& m) {
    parse_gemma4_logits_cap(json, m);
    if (const auto component_json = json.optional_object("vision_config")) {
        const std::int64_t patch = component_json->positive("patch_size", 16),
                           pool = component_json->positive("pooling_kernel_size", 3);
        const std::int64_t side = checked_size(*component_json, "patch_size", patch, pool);
        if (component_json->positive("model_patch_size", side) != side)
            throw_invalid_value(*component_json, "model_patch_size", "patch_size * pooling_kernel_size");
        m.family[patch_values] = checked_size(*component_json, "patch_size", checked_product(3, side), side);
        m.family[embedded_width] = component_json->positive("mm_embed_dim", 3840);
        m.family[unified_places] = component_json->positive("mm_posemb_size", 1120);
        m.family[unified_vision_output_dims] = component_json->positive("output_proj_dims", 3840);
        m.family[unified_patch] = patch;
        m.family[unified_pooled] = pool;
        m.family[unified_tokens] = component_json->positive("num_soft_tokens", 280);
    }
    if (const auto component_json = json.optional_object("audio_config"))
        m.family[unified_audio_output_dims] = component_json->positive("audio_embed_dim", 640);
}

constexpr void parse_unified_processor(config_view json, model& m) {
    if (m.family[unified_vision_output_dims] == 0) return;
    expect_patches(json, m.family[unified_patch], 1);
    expect_side(json, "pooling_kernel_size", m.family[unified_pooled], "the pooling_kernel_size of the configuration");
    m.family[unified_tokens] = json.positive("max_soft_tokens", m.family[unified_tokens]);
}

inline constexpr submodel_spec unified_text = [](model_spec spec) {
    spec.mask_policy = mask_kind::present;
    return spec;
}(gemma4_unified_text);

}  // namespace gemma4_unified_detail

// The unified model. Derived from Gemma 4, without encoders.
//
// Source: transformers/models/gemma4_unified
inline constexpr model_spec gemma4_unified = [](model_spec spec) {
    spec.model_type = "gemma4_unified";
    spec.class_prefix = "Gemma4Unified";
    spec.base_model = gemma4_unified_detail::unified_base;
    spec.parse_composite_config = gemma4_unified_detail::parse_unified;
    spec.family_keys = gemma4_unified_detail::unified_keys;
    spec.compute_media_shapes = gemma4_unified_detail::compute_unified_shapes;
    spec.parse_image_processor = gemma4_unified_detail::parse_unified_processor;
    spec.text_model.default_spec = &gemma4_unified_detail::unified_text;
    return spec;
}(gemma4);

}  // namespace llmcost::arch
