// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/bundled/bundled_config.hpp>

namespace llmcost {

/// Models that hear.
// clang-format off
inline constexpr bundled_config bundled_sound[]{
    {"BarathwajAnandan/cohere-transcribe-fp8"sv, "its own config.json"sv,
     R"({"model_type":"cohere_asr","architectures":["CohereAsrForConditionalGeneration"],"attention_bias":true,)"
     R"("dtype":"bfloat16","encoder_config":{"attention_bias":true,"conv_kernel_size":9,"convolution_bias":true,)"
     R"("dtype":"bfloat16","hidden_act":"silu","hidden_size":1280,"intermediate_size":5120,"max_position_embeddings":5000,)"
     R"("model_type":"parakeet_encoder","num_attention_heads":8,"num_hidden_layers":48,"num_key_value_heads":8,)"
     R"("num_mel_bins":128,"subsampling_conv_channels":256,"subsampling_conv_kernel_size":3,"subsampling_conv_stride":2,)"
     R"("subsampling_factor":8},"head_dim":128,"hidden_act":"relu","hidden_size":1024,"intermediate_size":4096,)"
     R"("max_position_embeddings":1024,"num_attention_heads":8,"num_hidden_layers":8,"num_key_value_heads":8,)"
     R"("tie_word_embeddings":false,"vocab_size":16384})"sv, 2065647872},
    {"CharlieKingOfTheRats/medasr-mil"sv, "its own config.json"sv,
     R"({"model_type":"lasr_ctc","architectures":["LasrForCTC"],"dtype":"float32","encoder_config":{"attention_bias":false,)"
     R"("conv_kernel_size":32,"convolution_bias":false,"hidden_act":"silu","hidden_size":512,"intermediate_size":2048,)"
     R"("max_position_embeddings":10000,"model_type":"lasr_encoder","num_attention_heads":8,"num_hidden_layers":17,)"
     R"("num_key_value_heads":8,"num_mel_bins":128,"rope_parameters":{"rope_type":"default"},"subsampling_conv_channels":256,)"
     R"("subsampling_conv_kernel_size":5,"subsampling_conv_stride":2},"use_cache":false,"vocab_size":512})"sv, 105265408},
    {"facebook/data2vec-audio-base-960h"sv, "its own config.json"sv,
     R"({"model_type":"data2vec-audio","adapter_kernel_size":3,"adapter_stride":2,"add_adapter":false,)"
     R"("architectures":["Data2VecAudioForCTC"],"classifier_proj_size":256,"conv_bias":false,"conv_dim":[512,512,512,512,512,)"
     R"(512,512],"conv_kernel":[10,3,3,3,3,2,2],"conv_pos_kernel_size":19,"conv_stride":[5,2,2,2,2,2,2],)"
     R"("feat_extract_activation":"gelu","hidden_act":"gelu","hidden_size":768,"intermediate_size":3072,"mask_time_prob":0.05,)"
     R"("num_attention_heads":12,"num_conv_pos_embedding_groups":16,"num_conv_pos_embeddings":5,"num_hidden_layers":12,)"
     R"("torch_dtype":"float32","use_weighted_layer_sum":false,"vocab_size":32})"sv, 93188896},
    {"facebook/hf-seamless-m4t-large"sv, "its own config.json"sv,
     R"({"model_type":"seamless_m4t","activation_function":"relu","adaptor_kernel_size":8,"adaptor_stride":8,)"
     R"("add_adapter":true,"architectures":["SeamlessM4TModel"],"conv_depthwise_kernel_size":31,"decoder_attention_heads":16,)"
     R"("decoder_ffn_dim":8192,"decoder_layers":24,"encoder_attention_heads":16,"encoder_ffn_dim":8192,"encoder_layers":24,)"
     R"("feature_projection_input_dim":160,"hidden_size":1024,"lang_embed_dim":256,"max_position_embeddings":1024,)"
     R"("num_adapter_layers":1,"num_attention_heads":16,"num_hidden_layers":24,"pad_token_id":0,)"
     R"("position_embeddings_type":"relative","resblock_dilation_sizes":[[1,3,5],[1,3,5],[1,3,5]],"resblock_kernel_sizes":[3,)"
     R"(7,11],"speech_encoder_attention_heads":16,"speech_encoder_hidden_act":"swish","speech_encoder_intermediate_size":4096,)"
     R"("speech_encoder_layers":24,"spkr_embed_dim":256,"t2u_decoder_attention_heads":16,"t2u_decoder_ffn_dim":8192,)"
     R"("t2u_decoder_layers":6,"t2u_encoder_attention_heads":16,"t2u_encoder_ffn_dim":8192,"t2u_encoder_layers":6,)"
     R"("t2u_vocab_size":10082,"torch_dtype":"float32","unit_embed_dim":1280,"unit_hifi_gan_vocab_size":10000,)"
     R"("upsample_initial_channel":512,"upsample_kernel_sizes":[11,8,8,4,4],"upsample_rates":[5,4,4,2,2],"use_cache":true,)"
     R"("variance_predictor_kernel_size":3,"vocab_size":256102,"vocoder_num_langs":36,"vocoder_num_spkrs":200})"sv, 2359990658},
    {"facebook/s2t-large-librispeech-asr"sv, "its own config.json"sv,
     R"({"model_type":"speech_to_text","activation_function":"relu","architectures":["Speech2TextForConditionalGeneration"],)"
     R"("conv_channels":1024,"conv_kernel_sizes":[5,5],"d_model":1024,"decoder_attention_heads":16,"decoder_ffn_dim":4096,)"
     R"("decoder_layers":6,"encoder_attention_heads":16,"encoder_ffn_dim":4096,"encoder_layers":12,"input_channels":1,)"
     R"("input_feat_per_channel":80,"max_target_positions":1024,"num_conv_layers":2,"num_hidden_layers":12,"use_cache":true,)"
     R"("vocab_size":10000})"sv, 267834368},
    {"facebook/wav2vec2-conformer-rel-pos-large-960h-ft"sv, "its own config.json"sv,
     R"({"model_type":"wav2vec2-conformer","adapter_kernel_size":3,"adapter_stride":2,"add_adapter":false,)"
     R"("architectures":["Wav2Vec2ConformerForCTC"],"classifier_proj_size":256,"conv_bias":true,)"
     R"("conv_depthwise_kernel_size":31,"conv_dim":[512,512,512,512,512,512,512],"conv_kernel":[10,3,3,3,3,2,2],)"
     R"("conv_stride":[5,2,2,2,2,2,2],"do_stable_layer_norm":true,"feat_extract_activation":"gelu",)"
     R"("feat_extract_norm":"layer","hidden_act":"swish","hidden_size":1024,"intermediate_size":4096,"mask_time_prob":0.05,)"
     R"("num_attention_heads":16,"num_conv_pos_embedding_groups":16,"num_conv_pos_embeddings":128,"num_hidden_layers":24,)"
     R"("position_embeddings_type":"relative","torch_dtype":"float32","use_weighted_layer_sum":false,"vocab_size":32})"sv, 618591904},
    {"Geneline-X/seamless-m4t-v2-sunbird-multilingual-v1"sv, "its own config.json"sv,
     R"({"model_type":"seamless_m4t_v2","activation_function":"relu","adaptor_kernel_size":8,"adaptor_stride":8,)"
     R"("add_adapter":true,"architectures":["SeamlessM4Tv2ForSpeechToText"],"conv_depthwise_kernel_size":31,)"
     R"("decoder_attention_heads":16,"decoder_ffn_dim":8192,"decoder_layers":24,"dtype":"float32",)"
     R"("encoder_attention_heads":16,"encoder_ffn_dim":8192,"encoder_layers":24,"feature_projection_input_dim":160,)"
     R"("hidden_size":1024,"left_max_position_embeddings":64,"max_position_embeddings":4096,"num_adapter_layers":1,)"
     R"("num_attention_heads":16,"num_hidden_layers":24,"pad_token_id":0,"position_embeddings_type":"relative_key",)"
     R"("right_max_position_embeddings":8,"speech_encoder_attention_heads":16,"speech_encoder_chunk_size":20000,)"
     R"("speech_encoder_hidden_act":"swish","speech_encoder_intermediate_size":4096,"speech_encoder_layers":24,)"
     R"("t2u_decoder_attention_heads":16,"t2u_decoder_ffn_dim":8192,"t2u_decoder_layers":6,"t2u_encoder_attention_heads":16,)"
     R"("t2u_encoder_ffn_dim":8192,"t2u_encoder_layers":6,"t2u_vocab_size":10082,"tie_word_embeddings":true,"use_cache":false,)"
     R"("vocab_size":256102})"sv, 1501842240},
    {"google/gemma-4-26B-A4B-it"sv, "its own config.json"sv,
     R"({"model_type":"gemma4","architectures":["Gemma4ForConditionalGeneration"],"audio_config":null,"dtype":"bfloat16",)"
     R"("text_config":{"attention_bias":false,"attention_dropout":0.0,"attention_k_eq_v":true,"dtype":"bfloat16",)"
     R"("enable_moe_block":true,"final_logit_softcapping":30.0,"global_head_dim":512,"head_dim":256,)"
     R"("hidden_activation":"gelu_pytorch_tanh","hidden_size":2816,"hidden_size_per_layer_input":0,"intermediate_size":2112,)"
     R"("layer_types":["sliding_attention","sliding_attention","sliding_attention","sliding_attention","sliding_attention",)"
     R"("full_attention","sliding_attention","sliding_attention","sliding_attention","sliding_attention","sliding_attention",)"
     R"("full_attention","sliding_attention","sliding_attention","sliding_attention","sliding_attention","sliding_attention",)"
     R"("full_attention","sliding_attention","sliding_attention","sliding_attention","sliding_attention","sliding_attention",)"
     R"("full_attention","sliding_attention","sliding_attention","sliding_attention","sliding_attention","sliding_attention",)"
     R"("full_attention"],"max_position_embeddings":262144,"moe_intermediate_size":704,"num_attention_heads":16,)"
     R"("num_experts":128,"num_global_key_value_heads":2,"num_hidden_layers":30,"num_key_value_heads":8,)"
     R"("num_kv_shared_layers":0,"rope_parameters":{"full_attention":{"rope_type":"proportional"},)"
     R"("sliding_attention":{"rope_type":"default"}},"sliding_window":1024,"tie_word_embeddings":true,"top_k_experts":8,)"
     R"("use_bidirectional_attention":"vision","use_double_wide_mlp":false,"vocab_size":262144,)"
     R"("vocab_size_per_layer_input":262144},"tie_word_embeddings":true,"vision_config":{"default_output_length":280,)"
     R"("dtype":"bfloat16","head_dim":72,"hidden_activation":"gelu_pytorch_tanh","hidden_size":1152,"id2label":{"0":"LABEL_0",)"
     R"("1":"LABEL_1"},"intermediate_size":4304,"max_position_embeddings":131072,"num_attention_heads":16,)"
     R"("num_hidden_layers":27,"num_key_value_heads":16,"patch_size":16,"pooling_kernel_size":3,)"
     R"("position_embedding_size":10240,"rope_parameters":{"rope_type":"default"},"standardize":true,)"
     R"("use_clipped_linears":false},"vision_soft_tokens_per_image":280})"sv, 25805933872},
    {"ibm-granite/granite-speech-3.3-2b"sv, "its own config.json"sv,
     R"({"model_type":"granite_speech","architectures":["GraniteSpeechForConditionalGeneration"],"downsample_rate":5,)"
     R"("encoder_config":{"context_size":200,"conv_expansion_factor":2,"conv_kernel_size":15,"dim_head":128,)"
     R"("feedforward_mult":4,"hidden_dim":1024,"input_dim":160,"max_pos_emb":512,"num_heads":8,"num_layers":16,)"
     R"("output_dim":256},"projector_config":{"cross_attention_frequency":1,"encoder_hidden_size":1024,"hidden_act":"gelu",)"
     R"("hidden_size":1024,"intermediate_size":4096,"max_position_embeddings":2048,"model_type":"blip_2_qformer",)"
     R"("num_attention_heads":16,"num_hidden_layers":2,"use_qformer_text_input":false},"text_config":{"attention_bias":false,)"
     R"("attention_dropout":0.0,"hidden_act":"silu","hidden_size":2048,"intermediate_size":8192,)"
     R"("max_position_embeddings":131072,"mlp_bias":false,"model_type":"granite","num_attention_heads":32,)"
     R"("num_hidden_layers":40,"num_key_value_heads":8,"rope_scaling":null,"tie_word_embeddings":true,)"
     R"("torch_dtype":"bfloat16","vocab_size":49160},"torch_dtype":"bfloat16","window_size":15})"sv, 3009219840},
    {"ibm-granite/granite-speech-4.1-2b-plus"sv, "its own config.json"sv,
     R"({"model_type":"granite_speech_plus","architectures":["GraniteSpeechPlusForConditionalGeneration"],"downsample_rate":5,)"
     R"("dtype":"bfloat16","encoder_config":{"cat_hidden_layers":[3],"context_size":200,"conv_expansion_factor":2,)"
     R"("conv_kernel_size":15,"dim_head":128,"feedforward_mult":4,"hidden_dim":1024,"input_dim":160,"max_pos_emb":512,)"
     R"("num_heads":8,"num_layers":16,"output_dim":348},"projector_config":{"cross_attention_frequency":1,)"
     R"("encoder_hidden_size":2048,"hidden_act":"gelu","hidden_size":1024,"intermediate_size":4096,)"
     R"("max_position_embeddings":2048,"model_type":"blip_2_qformer","num_attention_heads":16,"num_hidden_layers":2,)"
     R"("use_qformer_text_input":false},"text_config":{"attention_bias":false,"attention_dropout":0.0,"dtype":"float32",)"
     R"("hidden_act":"silu","hidden_size":2048,"intermediate_size":4096,"max_position_embeddings":4096,"mlp_bias":false,)"
     R"("model_type":"granite","num_attention_heads":16,"num_hidden_layers":40,"num_key_value_heads":4,)"
     R"("rope_parameters":{"rope_type":"default"},"tie_word_embeddings":true,"vocab_size":100353},"window_size":15})"sv, 2111812956},
    {"KBLab/asr-voxrex-bart-base"sv, "its own config.json"sv,
     R"({"model_type":"speech-encoder-decoder","architectures":["SpeechEncoderDecoderModel"],)"
     R"("decoder":{"activation_dropout":0.0,"activation_function":"gelu","attention_dropout":0.0,)"
     R"("cross_attention_hidden_size":null,"d_model":768,"decoder_attention_heads":16,"decoder_ffn_dim":3072,)"
     R"("decoder_layerdrop":0.0,"decoder_layers":6,"dropout":0.1,"encoder_attention_heads":16,"encoder_ffn_dim":3072,)"
     R"("encoder_layerdrop":0.0,"encoder_layers":6,"id2label":{"0":"LABEL_0","1":"LABEL_1","2":"LABEL_2"},)"
     R"("max_position_embeddings":1024,"model_type":"bart","num_hidden_layers":6,"tie_word_embeddings":true,)"
     R"("torch_dtype":"float32","vocab_size":50185},"encoder":{"adapter_kernel_size":3,"adapter_stride":2,"add_adapter":true,)"
     R"("classifier_proj_size":256,"conv_bias":true,"conv_dim":[512,512,512,512,512,512,512],"conv_kernel":[10,3,3,3,3,2,2],)"
     R"("conv_stride":[5,2,2,2,2,2,2],"do_stable_layer_norm":true,"feat_extract_activation":"gelu",)"
     R"("feat_extract_norm":"layer","hidden_act":"gelu","hidden_size":1024,"id2label":{"0":"LABEL_0","1":"LABEL_1"},)"
     R"("intermediate_size":4096,"mask_feature_prob":0.0,"mask_time_prob":0.0,"model_type":"wav2vec2","num_adapter_layers":3,)"
     R"("num_attention_heads":16,"num_conv_pos_embedding_groups":16,"num_conv_pos_embeddings":128,"num_hidden_layers":24,)"
     R"("output_hidden_size":1024,"torch_dtype":null,"use_weighted_layer_sum":false,"vocab_size":32},)"
     R"("tie_word_embeddings":false,"torch_dtype":"float32","use_cache":false})"sv, 431147648},
    {"microsoft/speecht5_asr"sv, "its own config.json"sv,
     R"({"model_type":"speecht5","architectures":["SpeechT5ForSpeechToText"],"conv_bias":false,"conv_dim":[512,512,512,512,)"
     R"(512,512,512],"conv_kernel":[10,3,3,3,3,2,2],"conv_stride":[5,2,2,2,2,2,2],"decoder_attention_heads":12,)"
     R"("decoder_ffn_dim":3072,"decoder_layers":6,"encoder_attention_heads":12,"encoder_ffn_dim":3072,"encoder_layers":12,)"
     R"("encoder_max_relative_position":160,"feat_extract_activation":"gelu","feat_extract_norm":"group","hidden_act":"gelu",)"
     R"("hidden_size":768,"mask_time_prob":0.05,"max_text_positions":450,"num_conv_pos_embedding_groups":16,)"
     R"("num_conv_pos_embeddings":128,"pad_token_id":1,"torch_dtype":"float32","use_cache":true,"vocab_size":81})"sv, 151165056},
    {"microsoft/unispeech-1350-en-168-es-ft-1h"sv, "its own config.json"sv,
     R"({"model_type":"unispeech","architectures":["UniSpeechForCTC"],"classifier_proj_size":256,"conv_bias":false,)"
     R"("conv_dim":[512,512,512,512,512,512,512],"conv_kernel":[10,3,3,3,3,2,2],"conv_stride":[5,2,2,2,2,2,2],)"
     R"("do_stable_layer_norm":true,"feat_extract_activation":"gelu","feat_extract_norm":"layer","hidden_act":"gelu",)"
     R"("hidden_size":1024,"intermediate_size":4096,"mask_time_prob":0.075,"num_attention_heads":16,)"
     R"("num_conv_pos_embedding_groups":16,"num_conv_pos_embeddings":128,"num_hidden_layers":24,"torch_dtype":"float32",)"
     R"("use_weighted_layer_sum":false,"vocab_size":45})"sv, 315481261},
    {"microsoft/unispeech-sat-base-100h-libri-ft"sv, "its own config.json"sv,
     R"({"model_type":"unispeech-sat","architectures":["UniSpeechSatForCTC"],"classifier_proj_size":256,"conv_bias":false,)"
     R"("conv_dim":[512,512,512,512,512,512,512],"conv_kernel":[10,3,3,3,3,2,2],"conv_stride":[5,2,2,2,2,2,2],)"
     R"("do_stable_layer_norm":false,"feat_extract_activation":"gelu","feat_extract_norm":"group","hidden_act":"gelu",)"
     R"("hidden_size":768,"intermediate_size":3072,"mask_time_prob":0.05,"num_attention_heads":12,)"
     R"("num_conv_pos_embedding_groups":16,"num_conv_pos_embeddings":128,"num_hidden_layers":12,"torch_dtype":"float32",)"
     R"("use_weighted_layer_sum":false,"vocab_size":32})"sv, 94396320},
    {"mistralai/Voxtral-Mini-3B-2507"sv, "its own config.json"sv,
     R"({"model_type":"voxtral","architectures":["VoxtralForConditionalGeneration"],)"
     R"("audio_config":{"activation_function":"gelu","head_dim":64,"hidden_size":1280,"intermediate_size":5120,)"
     R"("max_source_positions":1500,"model_type":"voxtral_encoder","num_attention_heads":20,"num_hidden_layers":32,)"
     R"("num_key_value_heads":20,"num_mel_bins":128},"projector_hidden_act":"gelu","text_config":{"attention_bias":false,)"
     R"("attention_dropout":0.0,"head_dim":128,"hidden_act":"silu","hidden_size":3072,"intermediate_size":8192,)"
     R"("max_position_embeddings":131072,"mlp_bias":false,"model_type":"llama","num_attention_heads":32,)"
     R"("num_hidden_layers":30,"num_key_value_heads":8,"rope_scaling":null,"sliding_window":null,"vocab_size":131072},)"
     R"("torch_dtype":"bfloat16"})"sv, 4676271104},
    {"openai/whisper-large-v3"sv, "its own config.json"sv,
     R"({"model_type":"whisper","architectures":["WhisperForConditionalGeneration"],"torch_dtype":"float16",)"
     R"("activation_function":"gelu","d_model":1280,"decoder_attention_heads":20,"decoder_ffn_dim":5120,)"
     R"("decoder_layers":32,"encoder_attention_heads":20,"encoder_ffn_dim":5120,"encoder_layers":32,)"
     R"("max_source_positions":1500,"max_target_positions":448,"num_mel_bins":128,"num_hidden_layers":32,)"
     R"("vocab_size":51866,"is_encoder_decoder":true})"sv, 1543490560},
    {"openai/whisper-large-v3-turbo"sv, "its own config.json"sv,
     R"({"model_type":"whisper","activation_dropout":0.0,"activation_function":"gelu",)"
     R"("architectures":["WhisperForConditionalGeneration"],"attention_dropout":0.0,"classifier_proj_size":256,"d_model":1280,)"
     R"("decoder_attention_heads":20,"decoder_ffn_dim":5120,"decoder_layerdrop":0.0,"decoder_layers":4,"dropout":0.0,)"
     R"("encoder_attention_heads":20,"encoder_ffn_dim":5120,"encoder_layerdrop":0.0,"encoder_layers":32,)"
     R"("max_source_positions":1500,"max_target_positions":448,"num_hidden_layers":32,"num_mel_bins":128,)"
     R"("torch_dtype":"float32","use_cache":false,"use_weighted_layer_sum":false,"vocab_size":51866})"sv, 808878080},
    {"Qwen/Qwen2-Audio-7B-Instruct"sv, "its own config.json"sv,
     R"({"model_type":"qwen2_audio","architectures":["Qwen2AudioForConditionalGeneration"],)"
     R"("audio_config":{"model_type":"qwen2_audio_encoder","num_mel_bins":128,"encoder_layers":32,)"
     R"("encoder_attention_heads":20,"encoder_ffn_dim":5120,"d_model":1280,"activation_function":"gelu",)"
     R"("max_source_positions":1500},"text_config":{"intermediate_size":11008,"max_position_embeddings":8192,)"
     R"("model_type":"qwen2","sliding_window":32768,"torch_dtype":"bfloat16","vocab_size":156032}})"sv, 8397094912},
    {"Xenova/wav2vec2-bert-CV16-en"sv, "its own config.json"sv,
     R"({"model_type":"wav2vec2-bert","adapter_act":"relu","adapter_kernel_size":3,"adapter_stride":2,"add_adapter":true,)"
     R"("architectures":["Wav2Vec2BertForCTC"],"classifier_proj_size":768,"conv_depthwise_kernel_size":31,)"
     R"("feature_projection_input_dim":160,"hidden_act":"swish","hidden_size":1024,"intermediate_size":4096,)"
     R"("left_max_position_embeddings":64,"mask_feature_prob":0.0,"mask_time_prob":0.0,"num_adapter_layers":1,)"
     R"("num_attention_heads":16,"num_hidden_layers":24,"output_hidden_size":1024,"position_embeddings_type":"relative_key",)"
     R"("right_max_position_embeddings":8,"use_intermediate_ffn_before_adapter":false,"use_weighted_layer_sum":false,)"
     R"("vocab_size":33})"sv, 605711201},
    {"zai-org/GLM-ASR-Nano-2512"sv, "its own config.json"sv,
     R"({"model_type":"glmasr","architectures":["GlmAsrForConditionalGeneration"],"audio_config":{"head_dim":64,)"
     R"("hidden_act":"gelu","hidden_size":1280,"intermediate_size":5120,"max_position_embeddings":1500,)"
     R"("model_type":"glmasr_encoder","num_attention_heads":20,"num_hidden_layers":32,"num_key_value_heads":20,)"
     R"("num_mel_bins":128,"rope_parameters":{"partial_rotary_factor":0.5,"rope_type":"default"}},"dtype":"bfloat16",)"
     R"("projector_hidden_act":"gelu","text_config":{"attention_bias":false,"attention_dropout":0.0,"head_dim":128,)"
     R"("hidden_act":"silu","hidden_size":2048,"intermediate_size":6144,"max_position_embeddings":8192,"mlp_bias":false,)"
     R"("model_type":"llama","num_attention_heads":16,"num_hidden_layers":28,"num_key_value_heads":4,)"
     R"("rope_parameters":{"rope_type":"default"},"vocab_size":59264}})"sv, 2136470528},
};
// clang-format on

}  // namespace llmcost
