// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/config/processor.hpp>
#include <llmcost/forward/audio.hpp>
#include <llmcost/forward/audio_language.hpp>
#include <llmcost/forward/packed_sequences.hpp>
#include <llmcost/forward/qwen_vision.hpp>
#include <llmcost/forward/whisper_layers.hpp>

// Qwen2.5-Omni: an audio encoder with attention within chunks (arXiv 2503.20215).
namespace llmcost::audio_chunks {

enum audio_config_index : std::uint8_t { mels, places, half_chunk, output_dim };

/// A block over all states in one row, without positions: norm, attention within chunks, residual; norm, two layers,
/// residual.
struct audio_layer {
    layer_context ctx;
    packed_sequences runs;
    bool key_bias = false;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("AudioEncoderLayer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t rows = x.dim(0), width = x.dim(1), inner = ctx.config.intermediate_size;
        const norm_module layer_norm{norm_kind::layer, width};
        const linear projection{width, width, true};
        const tensor normed = t.call("self_attn_layer_norm", layer_norm, x);
        const module_info attention{
            .name = "self_attn", .class_of_module = ctx.class_of("AudioAttention"), .module_role = role::attn};
        t.enter(attention);
        const auto heads = [&](literal name, bool bias) {
            return t.call(name, linear{width, width, bias}, normed).view({rows, ctx.config.num_attention_heads, -1});
        };
        const tensor q = heads("q_proj", true), k = heads("k_proj", key_bias), v = heads("v_proj", true);
        const tensor mixed = t.call("out_proj", projection, packed_scaled_dot_product_attention(t, q, k, v, runs));
        const tensor middle = t.add(x, t.leave(attention, mixed));
        tensor h = t.call("final_layer_norm", layer_norm, middle);
        h = t.call("fc1", mlp_child<linear>{{width, inner, true}}, h);
        h = t.call("activation_fn", mlp_child<activation_module>{{ctx.config.hidden_act}}, h);
        return t.add(middle, t.call("fc2", last_mlp_child<linear>{{inner, width, true}}, h));
    }
};

constexpr void parse_audio_config(config_view json, model& m) {
    const auto nested_json = find_feature_extractor_config(json);
    if (!nested_json) return;
    expect_extractor(*nested_json, "WhisperFeatureExtractor");
    expect_bands(*nested_json, {"feature_size"}, m.components[1].config.family[mels]);
    expect_rate(*nested_json, m.audio_preprocessing.sampling_rate, sixteen_thousand);
    parse_filled(*nested_json, m.audio_preprocessing);
}

constexpr void parse_audio_config(config_view json, model_config& config) {
    divide_by_heads(json, config, {"encoder_attention_heads"});
    if (config.family[places] < config.family[half_chunk])
        throw_invalid_value(json, "max_source_positions", "at least n_window");
}

}  // namespace llmcost::audio_chunks
