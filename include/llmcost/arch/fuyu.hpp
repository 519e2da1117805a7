// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/persimmon.hpp>
#include <llmcost/config/processor.hpp>
#include <llmcost/forward/composite.hpp>
#include <llmcost/forward/multimodal.hpp>

// Fuyu. Persimmon with image patches as tokens.
//
// Source: transformers/models/fuyu

namespace llmcost::arch {

namespace fuyu_detail {

enum family_config_index : std::uint8_t { patch_size, num_channels, largest_height, largest_width };
inline constexpr family_key family_keys[]{
    {"patch_size", 30},
    {"num_channels", 3},
    {.default_value = 1080, .type = family_key_type::computed},
    {.default_value = 1920, .type = family_key_type::computed},
};

/// Returns the image shapes. Larger images than `size` (default 1920 by 1080) are shrunk with equal factors, rounded
/// down.
///
/// Incomplete patches are padded.
/// Source: transformers/models/fuyu/image_processing_fuyu.py, `resize`, `preprocess_with_tokenizer_info`.
constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    const std::int64_t max_high = m.family[largest_height], max_wide = m.family[largest_width];
    std::int64_t height = load.image_height, width = load.image_width;
    if (height == 0) {
        height = max_high;
        width = max_wide;
    }
    if (height > max_high || width > max_wide) {
        const double rows = static_cast<double>(max_high) / static_cast<double>(height);
        const double columns = static_cast<double>(max_wide) / static_cast<double>(width);
        const double factor = rows < columns ? rows : columns;
        height = static_cast<std::int64_t>(static_cast<double>(height) * factor);
        width = static_cast<std::int64_t>(static_cast<double>(width) * factor);
    }
    const std::int64_t side = m.family[patch_size], rows = (height + side - 1) / side,
                       columns = (width + side - 1) / side;
    return {.image = {.num_tokens = rows * columns, .height = rows * side, .width = columns * side}};
}

constexpr void parse_processor_config(config_view json, model& m) {
    expect_resized(json);
    expect_side(json, "patch_size", m.family[patch_size], "the patch_size of the configuration");
    const auto size = json.optional_object("size");
    if (!size) return;
    m.family[largest_height] = size->positive("height");
    m.family[largest_width] = size->positive("width");
    if (m.family[largest_height] % m.family[patch_size] != 0 || m.family[largest_width] % m.family[patch_size] != 0)
        throw_invalid_value(json, "size", "sides that are multiples of patch_size");
}

/// Traces the model. Patches are projected directly, without a vision encoder.
constexpr tensor base(const layer_context& ctx, trace& t) {
    return forward_text_after_encoder(ctx, t, "language_model", [&](const tensor& token_embeddings) {
        const recorder::not_executed_guard no_pixels{t, !has_images(t)};
        const std::int64_t side = ctx.model.family[patch_size], values = side * side * ctx.model.family[num_channels];
        const tensor patches =
            t.input({images_in(t), compute_media_shapes(ctx.model, t.load()).image.num_tokens, values});
        const tensor features = t.call("vision_embed_tokens", linear{values, ctx.config.hidden_size, true}, patches);
        return t.masked_scatter(token_embeddings, features);
    });
}

/// Parses `config.json`. A flat file passes on the keys of `init_kwargs`, and half of each head is rotary, independent
/// of its value.
constexpr void parse_config(config_view json, model& m) {
    (void)checked_size(json, "patch_size", m.family[patch_size] * m.family[patch_size], m.family[num_channels]);
    if (json.optional_object("text_config")) return;
    if (const auto rope = json.find("rope_parameters"); rope && !rope->is_null())
        throw_unsupported(json, "rope_parameters", "not supported outside of text_config");
    m.config.rotary_dim = m.config.head_dim / 2;
}

}  // namespace fuyu_detail

inline constexpr model_spec fuyu = [](model_spec spec) {
    spec.model_type = "fuyu";
    spec.class_prefix = "Fuyu";
    spec.base_model = fuyu_detail::base;
    spec.parse_composite_config = fuyu_detail::parse_config;
    spec.compute_media_shapes = fuyu_detail::compute_media_shapes;
    spec.parse_image_processor = fuyu_detail::parse_processor_config;
    spec.modalities.has_images = true;
    spec.family_keys = fuyu_detail::family_keys;
    spec.supported_heads = language_heads;
    spec.defaults.head = head_kind::causal_lm;
    spec.text_model = {.key = "text_config", .default_spec = &persimmon, .is_flat = true};
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
