// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/seamless_m4t.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/seamless_speech.hpp>

namespace llmcost::arch {

namespace seamless_m4t_v2_detail {

using seamless_speech::chunks, seamless_speech::no_places, seamless_speech::parse_speech,
    seamless_speech::position_kind, seamless_speech::relative_key;

/// The second version: learned distances or none, and chunks.
constexpr void parse_second_speech(config_view json, model_config& config) {
    parse_speech(json, config);
    const string_ref kind = json.string("position_embeddings_type", "relative_key");
    config.family[position_kind] = kind == "relative_key" ? relative_key : no_places;
    const auto size = json.find("speech_encoder_chunk_size");
    config.family[chunks] = !size || !size->is_null();
}

inline constexpr submodel_spec second_speech_encoder = [](model_spec spec) {
    spec.class_prefix = "SeamlessM4Tv2";
    spec.names.mlp_class_prefix = "SeamlessM4Tv2Conformer";
    spec.parse_config = parse_second_speech;
    spec.defaults.family[position_kind] = relative_key;
    return spec;
}(seamless_m4t_speech_encoder);

constexpr void parse_second_whole(config_view json, model& m) {
    m.components[0] = {&second_speech_encoder, parse_sizes(second_speech_encoder, json, true)};
}

}  // namespace seamless_m4t_v2_detail

// transformers/models/seamless_m4t_v2: the text-output classes; learned relative positions and chunked speech attention
inline constexpr model_spec seamless_m4t_v2 = [](model_spec spec) {
    spec.model_type = "seamless_m4t_v2";
    spec.class_prefix = "SeamlessM4Tv2";
    spec.parse_composite_config = seamless_m4t_v2_detail::parse_second_whole;
    spec.supported_heads = {head_kind::causal_lm, head_kind::conditional_generation};
    spec.defaults.max_position_embeddings = 4096;
    return spec;
}(seamless_m4t);

}  // namespace llmcost::arch
