// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/mbart.hpp>
#include <llmcost/arch/sam.hpp>
#include <llmcost/forward/composite.hpp>
#include <llmcost/forward/multimodal.hpp>
#include <llmcost/forward/sam_encoder.hpp>

namespace llmcost::arch {

namespace pp_formulanet_detail {

enum tower_config_index : std::size_t {
    middle = sizeof sam_encoder::family_keys / sizeof *sam_encoder::family_keys,
    last
};

inline constexpr family_key tower_keys[]{
    sam_encoder::family_keys[0],      sam_encoder::family_keys[1], sam_encoder::family_keys[2],
    sam_encoder::family_keys[3],      sam_encoder::family_keys[4], {"post_conv_mid_channels", 512},
    {"post_conv_out_channels", 1024},
};

static_assert(last + 1 == sizeof tower_keys / sizeof *tower_keys);

/// Two convolutions that make the grid smaller, and two projections.
constexpr tensor tower_base(const layer_context& ctx, trace& t) {
    const family_config& family = ctx.config.family;
    const tensor features = sam_encoder::forward_vision_encoder(ctx, t);
    const std::int64_t mid_channels = family[middle], out = family[last];
    const module_info projector{.name = "multi_modal_projector",
                                .class_of_module = ctx.class_of("MultiModalProjector"),
                                .module_role = role::projector};
    t.enter(projector);
    tensor x = t.call("conv1", convolution_2d{features.dim(1), mid_channels, 3, 2, 1, 1, false}, features);
    x = as_tokens(t.call("conv2", convolution_2d{mid_channels, out, 3, 2, 1, 1, false}, x));
    x = t.call("linear_1", linear{out, out, true}, x);
    return t.leave(projector, t.call("linear_2", linear{out, ctx.model.config.hidden_size, true}, x));
}

constexpr void parse_vision_config(config_view json, model_config& config) {
    sam_encoder::parse_windows(json, config);
    if (!json.contains("image_size")) config.vision.image_height = config.vision.image_width = 512;
    if (json.positive("post_conv_in_channels", 256) != config.family[sam_encoder::output_channels])
        throw_invalid_value(json, "post_conv_in_channels", "output_channels");
}

inline constexpr submodel_spec tower = [](model_spec spec) {
    spec.class_prefix = "PPFormulaNet";
    spec.base_model = tower_base;
    spec.parse_config = parse_vision_config;
    spec.family_keys = tower_keys;
    spec.names.model_class = "VisionModel";
    spec.defaults.intermediate_size = 3072;
    spec.config_keys.remove("intermediate_size");
    spec.config_keys.add("intermediate_size", "mlp_dim", key_rule::family_name_only);
    return spec;
}(sam_vision_encoder);

inline constexpr stack_style style{.norm_first = true,
                                   .norm_last = "layer_norm",
                                   .decoder_type = "TextModel",
                                   .positions = learned_positions_after_two};

inline constexpr family_key text_keys[]{
    {"decoder_layers", 8},
    {"decoder_attention_heads", 16},
    {"decoder_ffn_dim", 2048},
    {.default_value = 1, .type = family_key_type::computed}};  // no encoder of texts

inline constexpr submodel_spec texts = [](model_spec spec) {
    spec.class_prefix = "PPFormulaNet";
    spec.family_keys = text_keys;
    spec.dropout_keys = {};
    spec.defaults.vocab_size = 50000;
    spec.defaults.hidden_size = 512;
    spec.defaults.max_position_embeddings = 2560;
    spec.defaults.tie_word_embeddings = false;
    return spec;
}(mbart);

/// MBart's decoder before SAM's encoder, whose states it reads.
constexpr tensor forward(const layer_context& ctx, trace& t) {
    const bool bare = ctx.config.head == head_kind::none;
    const module_info model_info{.class_of_module = {ctx.spec.class_prefix, name_of(ctx.config.head)}};
    const module_info base{.name = bare ? "" : "model", .class_of_module = ctx.class_of("Model")};
    const layer_context text = ctx.text_model();
    if (!bare) t.enter(model_info);
    t.enter(base);
    tensor states;
    {
        const recorder::not_executed_guard done{t, is_encoder_cached(t.load())};
        const recorder::workload_guard encoder_workload{t, image_workload(t.load(), t.load().batch, 0, 0)};
        states = forward_encoder_component(ctx, t, 0, "encoder", role::vision);
    }
    if (is_encoder_cached(t.load())) states = t.input({t.load().batch, states.dim(1), states.dim(2)});
    const tensor x = t.leave(base, forward_decoder_module(text, t, style, &states, text.config.vocab_size));
    if (bare) return x;
    const recorder::not_executed_guard unused{t, t.load().head == logits::none};
    return t.leave(model_info,
                   t.select_model_output(x, stack_lm_head_logits(text, t, x, text.config.vocab_size, false)));
}

/// Every image is made as large as the tower's own.
constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    if (load.images > 1) throw_description_error("more than one image per sequence is not supported");
    const vision_config& image = m.components[0].config.vision;
    return {.image = {.height = image.image_height, .width = image.image_width}};
}

constexpr void parse_config(config_view json, model& m) {
    const auto images = json.optional_object("vision_config");
    const std::int64_t width = images ? images->positive("decoder_hidden_size", 512) : 512;
    m.config.tie_word_embeddings = false;  // nothing is tied, whatever the key contains
    if (width != m.config.hidden_size)
        throw_invalid_value(json, "text_config", "a d_model as large as decoder_hidden_size of images");
}

}  // namespace pp_formulanet_detail

// transformers/models/pp_formulanet: modeling_pp_formulanet.py, formulas written by MBart's decoder from SAM's states
inline constexpr model_spec pp_formulanet = [](model_spec spec) {
    spec.model_type = "pp_formulanet";
    spec.class_prefix = "PPFormulaNet";
    spec.forward = pp_formulanet_detail::forward;
    spec.parse_composite_config = pp_formulanet_detail::parse_config;
    spec.compute_media_shapes = pp_formulanet_detail::compute_media_shapes;
    spec.modalities.has_images = true;
    spec.text_model = {.key = "text_config", .default_spec = &pp_formulanet_detail::texts, .ignores_model_type = true};
    spec.components[0] = {
        .key = "vision_config", .default_spec = &pp_formulanet_detail::tower, .ignores_model_type = true};
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
