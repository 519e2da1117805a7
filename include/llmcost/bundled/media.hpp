// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/bundled/bundled_config.hpp>

// Models that see or hear; what a processor is told stands beside, as `preprocessor_config`.
namespace llmcost {

// clang-format off
inline constexpr bundled_config bundled_media[]{
    {"openai/whisper-large-v3"sv, "its own config.json"sv,
     R"({"model_type":"whisper","architectures":["WhisperForConditionalGeneration"],"torch_dtype":"float16",)"
     R"("activation_function":"gelu","d_model":1280,"decoder_attention_heads":20,"decoder_ffn_dim":5120,)"
     R"("decoder_layers":32,"encoder_attention_heads":20,"encoder_ffn_dim":5120,"encoder_layers":32,)"
     R"("max_source_positions":1500,"max_target_positions":448,"num_mel_bins":128,"num_hidden_layers":32,)"
     R"("vocab_size":51866,"is_encoder_decoder":true})"sv, 1543490560},
    {"Qwen/Qwen2.5-VL-7B-Instruct"sv, "its own config.json and preprocessor_config.json"sv,
     R"({"model_type":"qwen2_5_vl","architectures":["Qwen2_5_VLForConditionalGeneration"],)"
     R"("torch_dtype":"bfloat16","hidden_act":"silu","hidden_size":3584,"intermediate_size":18944,)"
     R"("max_position_embeddings":128000,"max_window_layers":28,"num_attention_heads":28,)"
     R"("num_hidden_layers":28,"num_key_value_heads":4,"rms_norm_eps":1e-06,"rope_scaling":{"type":"mrope",)"
     R"("mrope_section":[16,24,24]},"rope_theta":1000000.0,"sliding_window":32768,)"
     R"("tie_word_embeddings":false,"use_sliding_window":false,"vocab_size":152064,)"
     R"("vision_config":{"depth":32,"hidden_act":"silu","hidden_size":1280,"intermediate_size":3420,)"
     R"("num_heads":16,"in_chans":3,"out_hidden_size":3584,"patch_size":14,"spatial_merge_size":2,)"
     R"("window_size":112,"fullatt_block_indexes":[7,15,23,31],"temporal_patch_size":2},)"
     R"("preprocessor_config":{"min_pixels":3136,"max_pixels":12845056}})"sv, 8292166656},
};
// clang-format on

}  // namespace llmcost
