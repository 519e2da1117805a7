// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/arch/qwen2_vl.hpp>
#include <llmcost/config/processor.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/packed_sequences.hpp>
#include <llmcost/forward/qwen_vision.hpp>

namespace llmcost::arch {

namespace qwen2_5_vl_detail {

using qwen_vision::encode_windowed_images, qwen_vision::merge, qwen_vision::patch, qwen_vision::window,
    qwen_vision::window_names, qwen_vision::within_windows;

// 2.5: as wide as `hidden_size`, onto `out_hidden_size`
inline constexpr family_key keys_2_5[]{
    {"patch_size", 14},        {"temporal_patch_size", 2},          {"in_channels", 3},   {"spatial_merge_size", 2},
    {"out_hidden_size", 3584}, {.type = family_key_type::computed}, {"window_size", 112},
};

constexpr tensor encode_images_2_5(const layer_context& ctx, trace& t) {
    constexpr window_names names{{"Qwen2_5_", "VisionPatchEmbed"}, "Qwen2_5_VL", "Qwen2_5_VLRMSNorm"};
    return encode_windowed_images(
        ctx, t, names, ctx.config.hidden_size / ctx.config.num_attention_heads,
        [](const layer_context& layer_ctx, const packed_attention_pattern& made, const packed_sequences& runs) {
            return packed_attention{
                {"Qwen2_5_VL", "VisionAttention"}, layer_ctx.config.num_attention_heads, made, runs};
        });
}

/// Parses the vision layers: `fullatt_block_indexes` lists those with full attention.
constexpr void parse_tower_2_5(config_view json, model_config& config) {
    const auto full_attention_blocks = json.find("fullatt_block_indexes");
    const auto is_full_attention = [&](std::int64_t layer) {
        if (!full_attention_blocks || full_attention_blocks->is_null()) return layer % 8 == 7 && layer < 32;
        for (const config_view entry : *full_attention_blocks)
            if (entry.as_non_negative() == layer) return true;
        return false;
    };
    for (std::int64_t i = 0; i < config.num_hidden_layers; ++i)
        set_layer(json, config, i, {.family_tag = is_full_attention(i) ? std::uint8_t{0} : within_windows});
    if (config.family[window] < config.family[merge] * config.family[patch])
        throw_invalid_value(json, "window_size", "at least spatial_merge_size * patch_size");
}

}  // namespace qwen2_5_vl_detail

// transformers/models/qwen2_5_vl: the same text model
inline constexpr model_spec qwen2_5_vl_text = [](model_spec spec) {
    spec.model_type = "qwen2_5_vl_text";
    spec.class_prefix = "Qwen2_5_VL";
    return spec;
}(qwen2_vl_text);

inline constexpr submodel_spec qwen2_5_vl_vision = [](model_spec spec) {
    spec.model_type = "qwen2_5_vl_vision";
    spec.class_prefix = "Qwen2_5_";
    spec.base_model = qwen2_5_vl_detail::encode_images_2_5;
    spec.family_keys = qwen2_5_vl_detail::keys_2_5;
    spec.parse_config = qwen2_5_vl_detail::parse_tower_2_5;
    spec.supported_layers.max_family_tag = qwen_vision::within_windows;
    spec.defaults.intermediate_size = 3420;
    spec.defaults.hidden_act = activation::silu;
    return spec;
}(qwen2_vl_vision);

// transformers/models/qwen2_5_vl
inline constexpr model_spec qwen2_5_vl = [](model_spec spec) {
    spec.model_type = "qwen2_5_vl";
    spec.class_prefix = "Qwen2_5_VL";
    spec.base_model = qwen_vision::forward_vision_language<true>;
    spec.text_model.default_spec = &qwen2_5_vl_text;
    spec.components[0].default_spec = &qwen2_5_vl_vision;
    return spec;
}(qwen2_vl);

}  // namespace llmcost::arch
