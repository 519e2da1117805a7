// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/config/image_stages.hpp>
#include <llmcost/forward/images.hpp>
#include <llmcost/forward/vision_transformer.hpp>

// DINOv2: scaled residual branches of its layers, and its configuration (arXiv 2304.07193).
namespace llmcost::dinov2_layers {

enum family_config_index : std::uint8_t { registers, ratio, gated, drops, registered, masked };

inline constexpr family_key family_keys[]{
    {.type = family_key_type::computed},
    {"mlp_ratio", 4},
    {"use_swiglu_ffn", 0, family_key_type::boolean},
    {.type = family_key_type::computed},  // 1 = a drop path module in training
    {.type = family_key_type::computed},  // 1 = a tensor of registers exists, even if empty
    {"use_mask_token", 1, family_key_type::boolean}};

/// Layer scale: one factor per feature for the output of a block.
struct layer_scale {
    std::int64_t width;
    literal prefix;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {prefix, "LayerScale"}; }
    constexpr tensor forward(trace& t, const tensor& x) const { return t.mul(x, t.param("lambda1", {width})); }
};

constexpr void parse_config(config_view json, model_config& config) {
    parse_vit(json, config);
    if (config.vision.image_height != config.vision.image_width)
        throw_unsupported(json, "image_size", "interpolated positions of non-square images are not supported");
    config.family[drops] = json.real("drop_path_rate", 0.0) > 0.0;
    config.intermediate_size = checked_size(json, "mlp_ratio", config.hidden_size, config.family[ratio]);
    if (config.family[gated]) config.intermediate_size = (config.intermediate_size * 2 / 3 + 7) / 8 * 8;
}

}  // namespace llmcost::dinov2_layers
