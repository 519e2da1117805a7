// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/forward/attention.hpp>
#include <llmcost/forward/encoder.hpp>
#include <llmcost/forward/wav2vec2_encoder.hpp>

// Encoders of raw samples: convolutions that shorten them, layers of text encoders, and a head.
namespace llmcost::arch {

namespace wav2vec2_detail {

using wav2vec2_encoder::attention_adapters, wav2vec2_encoder::encode_with, wav2vec2_encoder::extra_size,
    wav2vec2_encoder::is, wav2vec2_encoder::parse_adapter_layers, wav2vec2_encoder::parse_shared,
    wav2vec2_encoder::positions, wav2vec2_encoder::set_flag, wav2vec2_encoder::stable, wav2vec2_encoder::summary_width,
    wav2vec2_encoder::switches, wav2vec2_encoder::weighs_layers;

// ---- layers

constexpr tensor encode(const layer_context& ctx, trace& t, const tensor& x) {
    return encode_with(ctx, t, x, positions);
}

// ---- after the layers

constexpr tensor forward(const layer_context& ctx, trace& t) {
    return forward_audio_encoder(ctx, t, is(ctx, weighs_layers), ctx.config.family[summary_width]);
}

// ---- configurations

constexpr void parse_config(config_view json, model_config& config) {
    parse_shared(json, config);
    parse_adapter_layers(json, config);
    const auto adapter_attn_dim = json.optional_positive("adapter_attn_dim");
    set_flag(config, attention_adapters, adapter_attn_dim.has_value());
    if (!adapter_attn_dim) return;
    if ((config.family[switches] & stable) == 0) config.family[switches] &= ~attention_adapters;
    config.family[extra_size] = *adapter_attn_dim;
}

}  // namespace wav2vec2_detail

// transformers/models/wav2vec2
inline constexpr model_spec wav2vec2{
    .model_type = "wav2vec2",
    .class_prefix = "Wav2Vec2",
    .forward = wav2vec2_detail::forward,
    .base_model = wav2vec2_encoder::base,
    .decoder_layer = wav2vec2_detail::encode,
    .attention = wav2vec2_encoder::attention,
    .parse_config = wav2vec2_detail::parse_config,
    .parse_feature_extractor = parse_samples<wav2vec2_extractor>,
    .family_keys = wav2vec2_encoder::family_keys,
    .compute_media_shapes = wav2vec2_encoder::compute_media_shapes,
    .modalities = {.has_text = false, .has_audio = true},
    .rotary = rotary_style::none,
    .supported_heads = {head_kind::none, head_kind::ctc, head_kind::sequence_classification},
    .names = {.base_model = "wav2vec2"},
    .config_keys = {absent_num_key_value_heads,
                    {"head_dim", "", key_rule::absent},
                    absent_attention_bias,
                    absent_mlp_bias,
                    {"sliding_window", "", key_rule::absent},
                    {"tie_word_embeddings", "", key_rule::absent},
                    {"max_position_embeddings", "", key_rule::absent}},
    .defaults = {.vocab_size = 32,
                 .hidden_size = 768,
                 .intermediate_size = 3072,
                 .num_hidden_layers = 12,
                 .num_attention_heads = 12,
                 .hidden_act = activation::gelu,
                 .head = head_kind::none},
};

}  // namespace llmcost::arch
