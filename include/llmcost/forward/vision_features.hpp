// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/config/image.hpp>
#include <llmcost/config/processor.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/contrastive.hpp>
#include <llmcost/forward/images.hpp>
#include <llmcost/forward/multimodal.hpp>
#include <llmcost/forward/pixtral_images.hpp>
#include <llmcost/forward/siglip_heads.hpp>
#include <llmcost/forward/vision_encoder.hpp>

// LLaVA: selected layers of a vision encoder, projected into the text model (arXiv 2304.08485).
namespace llmcost::vision_features {

enum family_config_index : std::uint8_t {
    projector_bias,
    projector_act,
    feature_layers,
    all_states,
    layers_read,
    longest_side
};

inline constexpr family_key family_keys[]{
    {"multimodal_projector_bias", 1, family_key_type::boolean},
    {.default_value = static_cast<std::int64_t>(activation::gelu), .type = family_key_type::computed},
    {.default_value = 1, .type = family_key_type::computed},  // layers of the tower whose states are read side by side
    {.type = family_key_type::computed},                      // of a tower: its class token's among them
    {.type = family_key_type::computed},                      // a bit for each number of layers before them
    {.type = family_key_type::computed},  // of an image before Pixtral; 0: as long as the tower's own
};

constexpr void parse_config(config_view json, model& m) {
    if (const auto name = json.optional_string("projector_hidden_act"))
        m.family[projector_act] = static_cast<std::int64_t>(activation_named(json, "projector_hidden_act", *name));
    m.family[feature_layers] = count_layers(json, "vision_feature_layer");
    m.family[layers_read] =
        parse_selected_layers(json, "vision_feature_layer", m.components[0].config.num_hidden_layers, {-2});
    const string_ref strategy = json.string("vision_feature_select_strategy", "default");
    if (strategy != "default" && strategy != "full")
        throw_invalid_value(json, "vision_feature_select_strategy", "default or full");
    m.family[all_states] = strategy == "full" ? 1 : 0;
}

/// Runs the vision encoder with this name and returns the hidden states of the selected layers. An encoder without
/// per-layer outputs returns the last states.
constexpr hidden_state_outputs encode_images(const layer_context& ctx, trace& t, literal name) {
    const std::int64_t layers = ctx.model.family[layers_read];
    hidden_state_outputs read{.layer_mask = static_cast<std::uint64_t>(layers)};
    attention_inputs tower_inputs;
    tower_inputs.hidden_states = &read;
    layer_context tower = ctx.component(0);
    tower.inputs = &tower_inputs;
    const module_info m{
        .name = name, .class_of_module = tower.class_of(tower.spec.names.model_class), .module_role = role::vision};
    const tensor last = forward_in_module(m, tower.spec.base_model, tower, t);
    if (read.count > 0) return read;
    if (!t.is_not_executed() && layers == 0)
        throw_description_error("vision_feature_layer: not a layer of the vision encoder, or a layer listed twice");
    if (!t.is_not_executed() && t.is_training() && layers != std::int64_t{1} << tower.config.num_hidden_layers)
        throw_description_error("vision_feature_layer: training is not supported with this vision encoder");
    read.states[read.count++] = last;
    return read;
}

/// States of some layers side by side, without those before patches where they are left out.
constexpr tensor side_by_side(const layer_context& ctx, trace& t, const hidden_state_outputs& read, bool all) {
    tensor layer_states[trace::max_cat_inputs];
    const std::int64_t layers = ctx.model.family[feature_layers];
    for (std::int64_t i = 0; i < layers; ++i) {
        const tensor& states = read.states[i < read.count ? i : read.count - 1];
        layer_states[i] = all ? states : t.slice(states, 1, states.dim(1) - 1);
    }
    return layers == 1 ? layer_states[0] : t.cat(layer_states, static_cast<int>(layers), -1);
}

/// Projects vision states to the hidden size of the text model.
constexpr tensor project(const layer_context& ctx, trace& t, const tensor& states) {
    const std::int64_t width = ctx.config.hidden_size;
    const projector mlp_projector{ctx.class_of("MultiModalProjector"),
                                  states.dim(-1),
                                  width,
                                  width,
                                  ctx.model.family[projector_bias] != 0,
                                  static_cast<activation>(ctx.model.family[projector_act])};
    return t.call("multi_modal_projector", mlp_projector, states);
}

}  // namespace llmcost::vision_features
