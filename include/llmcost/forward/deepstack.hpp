// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/config/layer_types.hpp>
#include <llmcost/config/processor.hpp>
#include <llmcost/forward/packed_sequences.hpp>
#include <llmcost/forward/qwen_vision.hpp>

// Qwen3-VL: features of several vision layers, added to the first text layers (DeepStack, arXiv 2406.04334).
namespace llmcost::deepstack {

enum family_config_index : std::uint8_t { patch, frames, channels, merge, out_width, places, deep };

// of the complete model: bounds of the pixels of an image, and of all frames of a video
inline constexpr family_key bound_keys[]{
    {.default_value = 56 * 56, .type = family_key_type::computed},
    {.default_value = 28 * 28 * 1280, .type = family_key_type::computed},
    {.default_value = 128 * 32 * 32, .type = family_key_type::computed},
    {.default_value = 32 * 32 * 768, .type = family_key_type::computed},
};

/// The vision encoder's block of Qwen3-VL.
constexpr qwen_vision::packed_block block_of(const layer_context& ctx, const packed_attention_pattern& pattern) {
    return {ctx, pattern, ctx.class_of("VisionMLP"), {.up = "linear_fc1", .down = "linear_fc2", .act = "act_fn"}};
}

/// Layer flag: the layer outputs DeepStack features, or adds them in the text model.
constexpr std::uint8_t deep_layer = 1;

/// What a tower hands to a text model: merged patches, and those of `deep` layers.
struct deepstack_features {
    tensor last{};
    tensor deep[3]{};  ///< further layers reuse these entries
};

/// The place of a layer among those that hand something on.
[[nodiscard]] constexpr std::int64_t deep_place(const model_config& config, std::int64_t layer) noexcept {
    std::int64_t n = 0;
    for (std::int64_t i = 0; i < layer; ++i) n += config.layers[i].family_tag == deep_layer ? 1 : 0;
    return n;
}

/// The text model's first layers, one for each that hands something on, add it.
constexpr void parse_config(config_view json, model& m) {
    const layer_plan original_layers = m.config.layers;
    for (std::int64_t i = 0; i < m.config.num_hidden_layers; ++i) {
        layer_spec kind = original_layers[i];
        if (i < m.components[0].config.family[deep]) kind.family_tag = deep_layer;
        set_layer(json, m.config, i, kind);
    }
}

/// Adds DeepStack features to the states of visual tokens, in a copy (`_deepstack_process`).
constexpr tensor add_deep(trace& t, const tensor& x, const tensor& features) {
    tensor out = t.copy(x);
    const tensor visual_states = t.gather(out.view({-1, x.dim(-1)}), {features.dim(0), features.dim(1)});
    t.copy_into_slice(out, t.add(visual_states, features));
    t.add_to_encoder_cache(features);
    return out;
}

/// A text model whose first layers add DeepStack features of the vision encoder.
constexpr tensor read_base(const layer_context& ctx, trace& t) {
    tensor x = ctx.spec.embed_tokens(ctx, t);
    const decoder_inputs shared = ctx.spec.prepare_inputs(ctx, t);
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, ctx.config.layers, x); layer_loop.next();) {
        x = t.call({ctx.spec.names.layers, layer_loop.index()},
                   decoder_layer{ctx.for_layer(layer_loop, shared.for_layer(layer_loop.layer()))}, x);
        if (layer_loop.layer().family_tag == deep_layer && ctx.inputs != nullptr)
            x = add_deep(t, x, ctx.inputs->family_tensors[layer_loop.index() < 3 ? layer_loop.index() + 1 : 3]);
    }
    return apply_norm(ctx, t, ctx.spec.names.norm, x);
}

/// Returns the DeepStack features of one layer for images and videos, concatenated if the input has both.
constexpr tensor merge_deepstack_features(trace& t, const tensor& images, const tensor& videos) {
    const tensor first = t.cat({images}, 0);
    if (videos.rank == 0) return first;
    const tensor second = t.cat({videos}, 0);
    tensor merged = t.full({first.dim(0) + second.dim(0), first.dim(1)}, first.type);
    t.copy_into_slice(merged, first);
    t.copy_into_slice(merged, second);
    return merged;
}

}  // namespace llmcost::deepstack
