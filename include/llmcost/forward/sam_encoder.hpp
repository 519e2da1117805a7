// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/config/image.hpp>
#include <llmcost/config/layer_types.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/decoder.hpp>
#include <llmcost/forward/images.hpp>
#include <llmcost/forward/vision_encoder.hpp>
#include <llmcost/layers/einsum.hpp>

// SAM: attention within windows and over the whole image, with relative positions (arXiv 2304.02643).
namespace llmcost::sam_encoder {

enum family_config_index : std::uint8_t { output_channels, qkv_bias, learned_places, relative_places, window };

inline constexpr family_key family_keys[]{
    {"output_channels", 256},
    {"qkv_bias", 1, family_key_type::boolean},
    {"use_abs_pos", 1, family_key_type::boolean},
    {"use_rel_pos", 1, family_key_type::boolean},
    {"window_size", 14, family_key_type::non_negative},
};

/// Layer flag: windowed attention instead of attention over the full image.
inline constexpr std::uint8_t windowed = 1;

/// Two convolutions, each normed over channels: (B, H, W, width) -> (B, out, H, W).
constexpr tensor forward_neck(trace& t, literal name, class_name type, class_name norm_type, std::int64_t out,
                              const tensor& x) {
    const module_info neck{.name = name, .class_of_module = type};
    const norm_module over_channels{norm_kind::layer, out, norm_type};
    const auto normed = [&](literal called, const tensor& h) {
        return t.call(called, over_channels, h.permute({0, 2, 3, 1})).permute({0, 3, 1, 2});
    };
    t.enter(neck);
    tensor h = t.call("conv1", convolution_2d{x.dim(3), out, 1, 1, 0, 1, false}, x.permute({0, 3, 1, 2}));
    h = t.call("conv2", convolution_2d{out, out, 3, 1, 1, 1, false}, normed("layer_norm1", h));
    return t.leave(neck, normed("layer_norm2", h));
}

/// Patches on a grid with learned places, which are resampled to a grid of another side; layers, the neck: (B, out, H,
/// W).
constexpr tensor forward_vision_encoder(const layer_context& ctx, trace& t) {
    const vision_config& image = ctx.config.vision;
    const std::int64_t side = image.image_height / image.patch_size, width = ctx.config.hidden_size;
    const module_info patch_embed{
        .name = "patch_embed", .class_of_module = ctx.class_of("PatchEmbeddings"), .module_role = role::embedding};
    t.enter(patch_embed);
    const convolution_2d projection{image.num_channels, width, image.patch_size, image.patch_size};
    const tensor patches = t.call("projection", projection, image_input(ctx, t)).permute({0, 2, 3, 1});
    tensor x = t.leave(patch_embed, patches);
    if (ctx.config.family[learned_places] != 0) {
        tensor places = t.param("pos_embed", {1, side, side, width});
        if (x.dim(1) != side || x.dim(2) != side) {
            const tensor relative_width = t.to(places.permute({0, 3, 1, 2}), dtype::float32);
            places =
                t.to(t.resample(op::bicubic, relative_width, {x.dim(1), x.dim(2)}), places.type).permute({0, 2, 3, 1});
        }
        x = t.add(x, places);
    }
    x = forward_layers(ctx, t, {}, x);
    return forward_neck(t, "neck", ctx.class_of("VisionNeck"), ctx.class_of("LayerNorm"),
                        ctx.config.family[output_channels], x);
}

/// Layers that `global_attn_indexes` lists see everything; so do all without a window.
constexpr void parse_windows(config_view json, model_config& config) {
    parse_square_image(json, config, 1024, 16);
    divide_by_heads(json, config, {"num_attention_heads"});
    const auto listed = json.optional_array("global_attn_indexes");
    const auto global = [&](std::int64_t i) { return i == 2 || i == 5 || i == 8 || i == 11; };
    const layer_set global_layers = listed ? layer_set(*listed) : layer_set{};
    set_layers(json, config, [&](std::int64_t i) {
        const bool is_global = config.family[window] == 0 || (listed ? global_layers.has(i) : global(i));
        return layer_spec{.family_tag = is_global ? std::uint8_t{} : windowed};
    });
}

constexpr void parse_config(config_view json, model_config& config) {
    parse_windows(json, config);
    config.intermediate_size = parse_intermediate_size(json, config, "mlp_dim", "mlp_ratio", 4.0);
}

}  // namespace llmcost::sam_encoder
