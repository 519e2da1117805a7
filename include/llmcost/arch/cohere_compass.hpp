// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/cohere.hpp>
#include <llmcost/arch/qwen3_vl.hpp>
#include <llmcost/config/rope.hpp>
#include <llmcost/forward/deepstack.hpp>

namespace llmcost::arch {

namespace cohere_compass_detail {

enum family_config_index : std::uint8_t { rotates_full_layers, rotates_sliding_layers };

inline constexpr family_key family_keys[]{
    {.default_value = 1, .type = family_key_type::computed},  // full-attention layers apply RoPE
    {.default_value = 1, .type = family_key_type::computed},  // sliding-window layers apply RoPE
};

/// Prepares both masks, and rotary tables for the layer kinds that are present and apply RoPE.
constexpr decoder_inputs prepare_inputs(const layer_context& ctx, trace& t) {
    const std::int64_t layers = ctx.config.num_hidden_layers;
    const auto has = [&](token_mixer_kind kind) { return ctx.config.layers.contains(kind, layers); };
    decoder_inputs c = make_masks(ctx, t);
    if (has(token_mixer_kind::full_attention) && ctx.config.family[rotates_full_layers] != 0)
        compute_rotary_embeddings(ctx, t, c.full);
    if (has(token_mixer_kind::sliding_attention) && ctx.config.family[rotates_sliding_layers] != 0)
        compute_rotary_embeddings(ctx, t, c.sliding);
    return c;
}

constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    query_key_value qkv = project_qkv(ctx, t, x);
    split_heads(ctx, qkv);
    transpose_heads(qkv);
    const bool slides = ctx.layer.token_mixer == token_mixer_kind::sliding_attention;
    if (ctx.config.family[slides ? rotates_sliding_layers : rotates_full_layers] != 0) apply_rotary(ctx, t, qkv);
    update_kv_cache(ctx, t, qkv);
    return output_projection(ctx, t, scaled_dot_product_attention(ctx, t, qkv));
}

/// Returns true if layers of this kind apply RoPE. `rope_parameters` has an entry per layer kind, or null.
constexpr bool reads_turning(config_view json, literal kind) {
    const auto all = json.optional_object("rope_parameters");
    if (!all) throw_missing_key(json, "rope_parameters", "RoPE parameters, or null, for each layer type");
    const auto rope_parameters = all->find(kind);
    if (!rope_parameters) throw_missing_key(*all, kind, "RoPE parameters or null");
    if (rope_parameters->is_null()) return false;
    const auto sections = rope_parameters->optional_array("mrope_section");
    if (sections && sections->size() < 3)
        throw_invalid_value(*rope_parameters, "mrope_section", "frequencies of three axes");
    return true;
}

constexpr void parse_config(config_view json, model_config& config) {
    if (config.sliding_window == 0)
        throw_invalid_value(json, "sliding_window", "a number of tokens, which the reference's mask requires");
    if (!parse_layer_types(json, config)) config.layers.fill({token_mixer_kind::full_attention});
    if (config.layers.contains(token_mixer_kind::full_attention, config.num_hidden_layers))
        config.family[rotates_full_layers] = reads_turning(json, "full_attention") ? 1 : 0;
    if (config.layers.contains(token_mixer_kind::sliding_attention, config.num_hidden_layers))
        config.family[rotates_sliding_layers] = reads_turning(json, "sliding_attention") ? 1 : 0;
    if (config.head == head_kind::sequence_classification && json.string("pooling", "eos") != "eos")
        throw_unsupported(json, "pooling", "unsupported pooling; expected the last token");
}

// the image size limits of Qwen3-VL precede these keys
enum model_config_index : std::uint8_t { scales = 4 };

inline constexpr family_key model_keys[]{deepstack::bound_keys[0],
                                         deepstack::bound_keys[1],
                                         deepstack::bound_keys[2],
                                         deepstack::bound_keys[3],
                                         {.type = family_key_type::computed}};

/// Parses `config.json`. Logits are scaled if the text configuration contains a scale.
constexpr void parse_config(config_view json, model& m) {
    const auto text = json.optional_object(m.spec->text_model.key);
    deepstack::parse_config(json, m);
    m.family[scales] = text && text->optional_real("logit_scale") ? 1 : 0;
}

constexpr tensor process_logits(const layer_context& ctx, trace& t, const tensor& logits) {
    return ctx.model.family[scales] != 0 ? t.mul_scalar(logits) : logits;
}

}  // namespace cohere_compass_detail

// The text model. Derived from Cohere, with three-axis RoPE. Each layer kind has its own tables or no RoPE.
//
// Source: transformers/models/cohere_compass
inline constexpr model_spec cohere_compass_text = [](model_spec spec) {
    spec.model_type = "cohere_compass_text";
    spec.class_prefix = "CohereCompass";
    spec.parse_config = cohere_compass_detail::parse_config;
    spec.base_model = deepstack::read_base;
    spec.supported_layers.max_family_tag = deepstack::deep_layer;
    spec.forward = forward_text_decoder;
    spec.family_keys = cohere_compass_detail::family_keys;
    spec.prepare_inputs = cohere_compass_detail::prepare_inputs;
    spec.attention = cohere_compass_detail::attention;
    spec.rotary = rotary_style::rotate_half;
    spec.rotary_axes = rotary_axis_layout::interleaved;
    spec.mask_policy = mask_kind::full_and_sliding;
    spec.supported_heads = classifying_decoder_heads;
    spec.names.model_class = "TextModel";
    spec.defaults.sliding_window = 4096;
    return spec;
}(cohere);

// The vision encoder, which is that of Qwen3-VL.
//
// Source: transformers/models/cohere_compass
inline constexpr submodel_spec cohere_compass_vision = [](model_spec spec) {
    spec.model_type = "cohere_compass_vision";
    spec.class_prefix = "CohereCompass";
    return spec;
}(qwen3_vl_vision);

inline constexpr model_spec cohere_compass = [](model_spec spec) {
    spec.model_type = "cohere_compass";
    spec.class_prefix = "CohereCompass";
    spec.family_keys = cohere_compass_detail::model_keys;
    spec.parse_composite_config = cohere_compass_detail::parse_config;
    spec.process_logits = cohere_compass_detail::process_logits;
    spec.text_model.default_spec = &cohere_compass_text;
    spec.components[0].default_spec = &cohere_compass_vision;
    return spec;
}(qwen3_vl);

}  // namespace llmcost::arch
