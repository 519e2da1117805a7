// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/bundled/bundled_config.hpp>

namespace llmcost {

/// Models that read images and text, of organisations to the letter P.
// clang-format off
inline constexpr bundled_config bundled_image_text_to_p[]{
    {"BAAI/AltCLIP-m18"sv, "its own config.json"sv,
     R"({"model_type":"altclip","architectures":["AltCLIPModel"],"projection_dim":1024,)"
     R"("text_config":{"add_cross_attention":false,"chunk_size_feed_forward":0,"hidden_act":"gelu","hidden_size":1024,)"
     R"("id2label":{"0":"LABEL_0","1":"LABEL_1"},"intermediate_size":4096,"is_decoder":false,"max_position_embeddings":514,)"
     R"("num_attention_heads":16,"num_hidden_layers":24,"pad_token_id":1,"project_dim":1024,"tie_word_embeddings":true,)"
     R"("torch_dtype":null,"type_vocab_size":1,"vocab_size":250002},"torch_dtype":"float32",)"
     R"("vision_config":{"hidden_act":"quick_gelu","hidden_size":1280,"id2label":{"0":"LABEL_0","1":"LABEL_1"},)"
     R"("image_size":224,"intermediate_size":5120,"num_attention_heads":16,"num_channels":3,"num_hidden_layers":32,)"
     R"("patch_size":14,"tie_word_embeddings":true,"torch_dtype":null,"attention_dropout":0.0},)"
     R"("vision_config_dict":{"hidden_size":1280,"intermediate_size":5120,"num_attention_heads":16,"num_hidden_layers":32,)"
     R"("patch_size":14}})"sv, 1193017857},
    {"deepseek-community/deepseek-vl-1.3b-chat"sv, "its own config.json"sv,
     R"({"model_type":"deepseek_vl","architectures":["DeepseekVLForConditionalGeneration"],)"
     R"("text_config":{"attention_bias":false,"attention_dropout":0.0,"head_dim":128,"hidden_act":"silu","hidden_size":2048,)"
     R"("intermediate_size":5632,"max_position_embeddings":16384,"mlp_bias":false,"model_type":"llama",)"
     R"("num_attention_heads":16,"num_hidden_layers":24,"num_key_value_heads":16,"rope_scaling":null,"vocab_size":102400},)"
     R"("torch_dtype":"float16","vision_config":{"hidden_act":"gelu","hidden_size":1024,"image_size":384,)"
     R"("intermediate_size":4096,"model_type":"siglip_vision_model","num_attention_heads":16,"num_channels":3,)"
     R"("num_hidden_layers":24,"patch_size":16,"vision_use_head":false,"attention_dropout":0.0}})"sv, 1962640384},
    {"deepseek-community/deepseek-vl-7b-chat"sv, "its own config.json"sv,
     R"({"model_type":"deepseek_vl_hybrid","architectures":["DeepseekVLHybridForConditionalGeneration"],)"
     R"("high_res_vision_config":{"global_attn_indexes":[2,5,8,11],"hidden_act":"gelu","hidden_size":768,"image_size":1024,)"
     R"("intermediate_size":3072,"mlp_dim":3072,"model_type":"sam_vision_model","num_attention_heads":12,"num_channels":3,)"
     R"("num_hidden_layers":12,"output_channels":256,"patch_size":16,"qkv_bias":true,"use_abs_pos":true,"use_rel_pos":true,)"
     R"("window_size":14},"text_config":{"attention_bias":false,"attention_dropout":0.0,"head_dim":128,"hidden_act":"silu",)"
     R"("hidden_size":4096,"intermediate_size":11008,"max_position_embeddings":16384,"mlp_bias":false,"model_type":"llama",)"
     R"("num_attention_heads":32,"num_hidden_layers":30,"num_key_value_heads":32,"rope_scaling":null,"vocab_size":102400},)"
     R"("torch_dtype":"float16","vision_config":{"hidden_act":"gelu","hidden_size":1024,"image_size":384,)"
     R"("intermediate_size":4096,"model_type":"siglip_vision_model","num_attention_heads":16,"num_channels":3,)"
     R"("num_hidden_layers":24,"patch_size":16,"vision_use_head":false,"attention_dropout":0.0}})"sv, 7331390721},
    {"deepseek-community/Janus-Pro-1B"sv, "its own config.json"sv,
     R"({"model_type":"janus","architectures":["JanusForConditionalGeneration"],"text_config":{"attention_bias":false,)"
     R"("attention_dropout":0.0,"head_dim":128,"hidden_act":"silu","hidden_size":2048,"intermediate_size":5632,)"
     R"("max_position_embeddings":16384,"mlp_bias":false,"model_type":"llama","num_attention_heads":16,"num_hidden_layers":24,)"
     R"("num_key_value_heads":16,"rope_scaling":null,"torch_dtype":"bfloat16","vocab_size":102400},"torch_dtype":"bfloat16",)"
     R"("vision_config":{"attention_bias":true,"depth":2,"hidden_act":"gelu","hidden_size":1024,"image_size":384,)"
     R"("mlp_ratio":4.0,"num_attention_heads":16,"num_channels":3,"num_hidden_layers":24,"patch_size":16,)"
     R"("projection_dim":2048,"projection_dropout":0.0,"use_qk_norm":false},"vq_config":{"base_channels":128,)"
     R"("channel_multiplier":[1,1,2,2,4],"double_latent":false,"embed_dim":8,"hidden_act":"gelu","image_token_embed_dim":2048,)"
     R"("in_channels":3,"latent_channels":256,"num_embeddings":16384,"num_hidden_layers":2,"num_res_blocks":2,)"
     R"("out_channels":3,"projection_dim":2048}})"sv, 2076636811},
    {"florence-community/Florence-2-base"sv, "its own config.json"sv,
     R"({"model_type":"florence2","architectures":["Florence2ForConditionalGeneration"],"dtype":"float16",)"
     R"("text_config":{"activation_dropout":0.1,"activation_function":"gelu","attention_dropout":0.1,"d_model":768,)"
     R"("decoder_attention_heads":12,"decoder_ffn_dim":3072,"decoder_layerdrop":0.0,"decoder_layers":6,"dropout":0.1,)"
     R"("encoder_attention_heads":12,"encoder_ffn_dim":3072,"encoder_layerdrop":0.0,"encoder_layers":6,)"
     R"("max_position_embeddings":1024,"model_type":"bart","num_hidden_layers":6,"vocab_size":51328},)"
     R"("vision_config":{"activation_function":"gelu","depths":[1,1,9,1],"drop_path_rate":0.1,"embed_dim":[128,256,512,1024],)"
     R"("in_channels":3,"max_position_embeddings":50,"mlp_ratio":4.0,"num_groups":[4,8,16,32],"num_heads":[4,8,16,32],)"
     R"("patch_padding":[3,1,1,1],"patch_prenorm":[false,true,true,true],"patch_size":[7,3,3,3],"patch_stride":[4,2,2,2],)"
     R"("projection_dim":768,"qkv_bias":true,"window_size":12}})"sv, 231443968},
    {"google/gemma-3-4b-it"sv, "its own config.json"sv,
     R"({"model_type":"gemma3","architectures":["Gemma3ForConditionalGeneration"],"mm_tokens_per_image":256,)"
     R"("text_config":{"hidden_size":2560,"intermediate_size":10240,"num_hidden_layers":34,)"
     R"("rope_scaling":{"rope_type":"linear"},"sliding_window":1024},"torch_dtype":"bfloat16",)"
     R"("vision_config":{"hidden_size":1152,"image_size":896,"intermediate_size":4304,"model_type":"siglip_vision_model",)"
     R"("num_attention_heads":16,"num_hidden_layers":27,"patch_size":14,"vision_use_head":false}})"sv, 4300079472},
    {"google/siglip-base-patch16-224"sv, "its own config.json"sv,
     R"({"model_type":"siglip","architectures":["SiglipModel"],"text_config":{"hidden_size":768,"intermediate_size":3072,)"
     R"("num_attention_heads":12,"vocab_size":32000},"torch_dtype":"float32","vision_config":{"patch_size":16}})"sv, 203155970},
    {"google/siglip2-base-patch16-naflex"sv, "its own config.json"sv,
     R"({"model_type":"siglip2","architectures":["Siglip2Model"],"text_config":{"vocab_size":256000},"torch_dtype":"float32",)"
     R"("vision_config":{}})"sv, 375234050},
    {"HuggingFaceTB/SmolVLM-256M-Instruct"sv, "its own config.json"sv,
     R"({"model_type":"idefics3","architectures":["Idefics3ForConditionalGeneration"],"scale_factor":4,)"
     R"("text_config":{"attention_bias":false,"attention_dropout":0.0,"head_dim":64,"hidden_act":"silu","hidden_size":576,)"
     R"("id2label":{"0":"LABEL_0","1":"LABEL_1"},"intermediate_size":1536,"max_position_embeddings":8192,"mlp_bias":false,)"
     R"("model_type":"llama","num_attention_heads":9,"num_hidden_layers":30,"num_key_value_heads":3,"rope_scaling":null,)"
     R"("tie_word_embeddings":false,"torch_dtype":"bfloat16","vocab_size":49280},"tie_word_embeddings":false,)"
     R"("torch_dtype":"bfloat16","use_cache":true,"vision_config":{"hidden_act":"gelu_pytorch_tanh","hidden_size":768,)"
     R"("id2label":{"0":"LABEL_0","1":"LABEL_1"},"image_size":512,"intermediate_size":3072,"num_attention_heads":12,)"
     R"("num_channels":3,"num_hidden_layers":12,"patch_size":16,"tie_word_embeddings":false,"torch_dtype":null}})"sv, 256484928},
    {"HuggingFaceTB/SmolVLM2-2.2B-Instruct"sv, "its own config.json"sv,
     R"({"model_type":"smolvlm","architectures":["SmolVLMForConditionalGeneration"],"scale_factor":3,)"
     R"("text_config":{"head_dim":64,"hidden_size":2048,"intermediate_size":8192,"max_position_embeddings":8192,)"
     R"("model_type":"llama","num_hidden_layers":24,"torch_dtype":"bfloat16","vocab_size":49280},"tie_word_embeddings":false,)"
     R"("torch_dtype":"float32","use_cache":false,"vision_config":{"image_size":384,"intermediate_size":4304,)"
     R"("num_hidden_layers":27,"patch_size":14,"tie_word_embeddings":false}})"sv, 2246784880},
    {"kakaobrain/align-base"sv, "its own config.json"sv,
     R"({"model_type":"align","architectures":["AlignModel"],"projection_dim":640,"text_config":{"chunk_size_feed_forward":0,)"
     R"("hidden_act":"gelu","hidden_size":768,"id2label":{"0":"LABEL_0","1":"LABEL_1"},"intermediate_size":3072,)"
     R"("is_decoder":false,"max_position_embeddings":512,"num_attention_heads":12,"num_hidden_layers":12,)"
     R"("tie_word_embeddings":true,"torch_dtype":null,"type_vocab_size":2,"vocab_size":30522},"torch_dtype":"float32",)"
     R"("vision_config":{"depth_coefficient":3.1,"depth_divisor":8,"depthwise_padding":[],"expand_ratios":[1,6,6,6,6,6,6],)"
     R"("hidden_act":"swish","hidden_dim":640,"id2label":{"0":"LABEL_0","1":"LABEL_1"},"image_size":289,"in_channels":[32,16,)"
     R"(24,40,80,112,192],"kernel_sizes":[3,3,5,3,5,5,3],"num_block_repeats":[1,2,2,3,3,4,1],"num_channels":3,)"
     R"("num_hidden_layers":64,"out_channels":[16,24,40,80,112,192,320],"pooling_type":"mean","squeeze_expansion_ratio":0.25,)"
     R"("strides":[1,2,2,2,1,2,1],"tie_word_embeddings":true,"torch_dtype":"float32","width_coefficient":2.0,)"
     R"("drop_connect_rate":0.2}})"sv, 172117841},
    {"KamilaMila/FastVLM-0.5B"sv, "its own config.json"sv,
     R"({"model_type":"fast_vlm","architectures":["FastVlmForConditionalGeneration"],"dtype":"bfloat16",)"
     R"("multimodal_projector_bias":true,"projector_hidden_act":"gelu","text_config":{"attention_dropout":0.0,)"
     R"("dtype":"bfloat16","hidden_act":"silu","hidden_size":896,"intermediate_size":4864,"layer_types":["full_attention",)"
     R"("full_attention","full_attention","full_attention","full_attention","full_attention","full_attention",)"
     R"("full_attention","full_attention","full_attention","full_attention","full_attention","full_attention",)"
     R"("full_attention","full_attention","full_attention","full_attention","full_attention","full_attention",)"
     R"("full_attention","full_attention","full_attention","full_attention","full_attention"],)"
     R"("max_position_embeddings":131072,"max_window_layers":24,"model_type":"qwen2","num_attention_heads":14,)"
     R"("num_hidden_layers":24,"num_key_value_heads":2,"rope_scaling":null,"sliding_window":null,"tie_word_embeddings":true,)"
     R"("use_sliding_window":false,"vocab_size":152000},"vision_config":{"architecture":"fastvit_mci3","global_pool":"avg",)"
     R"("hidden_size":3072,"model_args":{"inference_mode":true},"model_type":"timm_wrapper","num_classes":0},)"
     R"("vision_feature_layer":-1,"vision_feature_select_strategy":"full"})"sv, 620361440},
    {"LanguageBind/Video-LLaVA-7B-hf"sv, "its own config.json"sv,
     R"({"model_type":"video_llava","architectures":["VideoLlavaForConditionalGeneration"],"projector_hidden_act":"gelu",)"
     R"("text_config":{"max_position_embeddings":4096,"model_type":"llama","torch_dtype":"float16","vocab_size":32064},)"
     R"("torch_dtype":"bfloat16","vision_config":{"hidden_size":1024,"intermediate_size":4096,)"
     R"("model_type":"clip_vision_model","num_attention_heads":16,"num_hidden_layers":24,"patch_size":14},)"
     R"("vision_feature_layer":-2,"vision_feature_select_strategy":"default"})"sv, 7366279168},
    {"lightonai/LightOnOCR-0.9B-16k-1025"sv, "its own config.json"sv,
     R"({"model_type":"mistral3","architectures":["LightOnOCRForConditionalGeneration"],"multimodal_projector_bias":false,)"
     R"("projector_hidden_act":"gelu","spatial_merge_size":2,"text_config":{"attention_dropout":0,"head_dim":128,)"
     R"("hidden_act":"silu","hidden_size":1024,"intermediate_size":3072,"max_position_embeddings":8192,"model_type":"qwen3",)"
     R"("num_attention_heads":16,"num_hidden_layers":28,"num_key_value_heads":8,"sliding_window":null,)"
     R"("use_sliding_window":false,"vocab_size":16384},"torch_dtype":"bfloat16","vision_config":{"head_dim":64,)"
     R"("hidden_act":"silu","hidden_size":1024,"image_size":1540,"intermediate_size":4096,"model_type":"pixtral",)"
     R"("num_attention_heads":16,"num_channels":3,"num_hidden_layers":24,"patch_size":14},"vision_feature_layer":-1})"sv, 883619840},
    {"LiquidAI/LFM2-VL-1.6B"sv, "its own config.json"sv,
     R"({"model_type":"lfm2_vl","architectures":["Lfm2VlForConditionalGeneration"],"downsample_factor":2,"dtype":"bfloat16",)"
     R"("projector_bias":true,"projector_hidden_act":"gelu","projector_hidden_size":2560,)"
     R"("text_config":{"block_auto_adjust_ff_dim":true,"block_ff_dim":12288,"block_ffn_dim_multiplier":1.0,)"
     R"("block_multiple_of":256,"conv_L_cache":3,"conv_bias":false,"dtype":"bfloat16","hidden_size":2048,)"
     R"("intermediate_size":12288,"layer_types":["conv","conv","full_attention","conv","conv","full_attention","conv","conv",)"
     R"("full_attention","conv","full_attention","conv","full_attention","conv","full_attention","conv"],)"
     R"("max_position_embeddings":128000,"model_type":"lfm2","num_attention_heads":32,"num_hidden_layers":16,)"
     R"("num_key_value_heads":8,"vocab_size":65536},"vision_config":{"dtype":"bfloat16","hidden_act":"gelu_pytorch_tanh",)"
     R"("hidden_size":1152,"intermediate_size":4304,"model_type":"siglip2_vision_model","num_attention_heads":16,)"
     R"("num_channels":3,"num_hidden_layers":26,"num_patches":256,"patch_size":16,"vision_use_head":false}})"sv, 1584804000},
    {"lkhl/VideoLLaMA3-2B-Image-HF"sv, "its own config.json"sv,
     R"({"model_type":"video_llama_3","architectures":["VideoLlama3ForConditionalGeneration"],"dtype":"bfloat16",)"
     R"("text_config":{"attention_dropout":0.0,"dtype":"bfloat16","hidden_act":"silu","hidden_size":1536,)"
     R"("intermediate_size":8960,"layer_types":["full_attention","full_attention","full_attention","full_attention",)"
     R"("full_attention","full_attention","full_attention","full_attention","full_attention","full_attention",)"
     R"("full_attention","full_attention","full_attention","full_attention","full_attention","full_attention",)"
     R"("full_attention","full_attention","full_attention","full_attention","full_attention","full_attention",)"
     R"("full_attention","full_attention","full_attention","full_attention","full_attention","full_attention"],)"
     R"("max_position_embeddings":131072,"max_window_layers":28,"model_type":"qwen2","num_attention_heads":12,)"
     R"("num_hidden_layers":28,"num_key_value_heads":2,"rope_scaling":null,"sliding_window":null,"tie_word_embeddings":true,)"
     R"("use_sliding_window":false,"vocab_size":151936},"vision_config":{"dtype":"bfloat16","hidden_act":"gelu_pytorch_tanh",)"
     R"("hidden_size":1152,"intermediate_size":4304,"num_attention_heads":16,"num_channels":3,"num_hidden_layers":27,)"
     R"("patch_size":14}})"sv, 1959993584},
    {"llava-hf/llava-1.5-7b-hf"sv, "its own config.json"sv,
     R"({"model_type":"llava","architectures":["LlavaForConditionalGeneration"],"projector_hidden_act":"gelu",)"
     R"("text_config":{"max_position_embeddings":4096,"model_type":"llama","torch_dtype":"float16","vocab_size":32064},)"
     R"("tie_word_embeddings":false,"torch_dtype":"float16","vision_config":{"hidden_size":1024,"image_size":336,)"
     R"("intermediate_size":4096,"model_type":"clip_vision_model","num_attention_heads":16,"num_hidden_layers":24,)"
     R"("patch_size":14},"vision_feature_layer":-2,"vision_feature_select_strategy":"default"})"sv, 7063427072},
    {"llava-hf/LLaVA-NeXT-Video-7B-hf"sv, "its own config.json"sv,
     R"({"model_type":"llava_next_video","architectures":["LlavaNextVideoForConditionalGeneration"],)"
     R"("image_grid_pinpoints":[[336,672],[672,336],[672,672],[1008,336],[336,1008]],"projector_hidden_act":"gelu",)"
     R"("spatial_pool_mode":"average","spatial_pool_out_channels":1024,"spatial_pool_stride":2,)"
     R"("text_config":{"rope_scaling":{"type":"linear","factor":2.5},"max_position_embeddings":4096,"model_type":"llama",)"
     R"("torch_dtype":"float16","vocab_size":32064},"tie_word_embeddings":false,"torch_dtype":"bfloat16",)"
     R"("vision_config":{"hidden_size":1024,"image_size":336,"intermediate_size":4096,"model_type":"clip_vision_model",)"
     R"("num_attention_heads":16,"num_hidden_layers":24,"patch_size":14},"vision_feature_layer":-2,)"
     R"("vision_feature_select_strategy":"default"})"sv, 7063431168},
    {"llava-hf/llava-onevision-qwen2-0.5b-ov-hf"sv, "its own config.json"sv,
     R"({"model_type":"llava_onevision","architectures":["LlavaOnevisionForConditionalGeneration"],)"
     R"("image_grid_pinpoints":[[384,384],[384,768],[384,1152],[384,1536],[384,1920],[384,2304],[768,384],[768,768],[768,)"
     R"(1152],[768,1536],[768,1920],[768,2304],[1152,384],[1152,768],[1152,1152],[1152,1536],[1152,1920],[1152,2304],[1536,)"
     R"(384],[1536,768],[1536,1152],[1536,1536],[1536,1920],[1536,2304],[1920,384],[1920,768],[1920,1152],[1920,1536],[1920,)"
     R"(1920],[1920,2304],[2304,384],[2304,768],[2304,1152],[2304,1536],[2304,1920],[2304,2304]],)"
     R"("projector_hidden_act":"gelu","text_config":{"hidden_size":896,"intermediate_size":4864,"max_window_layers":24,)"
     R"("model_type":"qwen2","num_attention_heads":14,"num_hidden_layers":24,"num_key_value_heads":2,)"
     R"("tie_word_embeddings":true,"torch_dtype":"bfloat16","vocab_size":152000},"tie_word_embeddings":false,)"
     R"("torch_dtype":"float16","vision_aspect_ratio":"anyres_max_9","vision_config":{"hidden_size":1152,"image_size":384,)"
     R"("intermediate_size":4304,"model_type":"siglip_vision_model","num_attention_heads":16,"num_hidden_layers":26,)"
     R"("patch_size":14,"vision_use_head":false},"vision_feature_layer":-1,"vision_feature_select_strategy":"full"})"sv, 893675552},
    {"merve/kosmos-2.5-ft"sv, "its own config.json"sv,
     R"({"model_type":"kosmos-2.5","architectures":["Kosmos2_5ForConditionalGeneration"],"dtype":"bfloat16",)"
     R"("latent_query_num":2048,"text_config":{"activation_function":"gelu","attention_dropout":0.0,"attention_heads":16,)"
     R"("dtype":"bfloat16","embed_dim":1536,"ffn_dim":6144,"layers":24,"max_position_embeddings":4096,"vocab_size":108481},)"
     R"("vision_config":{"dense_act_fn":"gelu_new","dtype":"bfloat16","head_dim":64,"hidden_size":1536,)"
     R"("intermediate_size":3968,"max_num_patches":4096,"num_attention_heads":24,"num_hidden_layers":18,)"
     R"("patch_embed_hidden_size":768}})"sv, 1374646272},
    {"meta-llama/Llama-3.2-11B-Vision-Instruct"sv, "its own config.json"sv,
     R"({"model_type":"mllama","architectures":["MllamaForConditionalGeneration"],"text_config":{"cross_attention_layers":[3,)"
     R"(8,13,18,23,28,33,38],"hidden_act":"silu","hidden_size":4096,"id2label":{"0":"LABEL_0","1":"LABEL_1"},)"
     R"("intermediate_size":14336,"max_position_embeddings":131072,"num_attention_heads":32,"num_hidden_layers":40,)"
     R"("num_key_value_heads":8,"rope_scaling":{"rope_type":"llama3"},"tie_word_embeddings":false,"torch_dtype":"bfloat16",)"
     R"("vocab_size":128256},"torch_dtype":"bfloat16","vision_config":{"attention_heads":16,"hidden_act":"gelu",)"
     R"("hidden_size":1280,"id2label":{"0":"LABEL_0","1":"LABEL_1"},"image_size":560,"intermediate_layers_indices":[3,7,15,23,)"
     R"(30],"intermediate_size":5120,"max_num_tiles":4,"num_channels":3,"num_global_layers":8,"num_hidden_layers":32,)"
     R"("patch_size":14,"supported_aspect_ratios":[[1,1],[1,2],[1,3],[1,4],[2,1],[2,2],[3,1],[4,1]],)"
     R"("tie_word_embeddings":true,"torch_dtype":"bfloat16","vision_output_dim":7680}})"sv, 10670220835},
    {"ModernVBERT/colmodernvbert-base"sv, "its own config.json"sv,
     R"({"model_type":"modernvbert","pixel_shuffle_factor":4,"text_config":{"attention_bias":false,"attention_dropout":0.0,)"
     R"("classifier_activation":"gelu","classifier_bias":false,"classifier_pooling":"mean","decoder_bias":true,)"
     R"("dtype":"float32","embedding_dropout":0.0,"global_attn_every_n_layers":3,"hidden_activation":"gelu","hidden_size":768,)"
     R"("intermediate_size":1152,"layer_types":["full_attention","sliding_attention","sliding_attention","full_attention",)"
     R"("sliding_attention","sliding_attention","full_attention","sliding_attention","sliding_attention","full_attention",)"
     R"("sliding_attention","sliding_attention","full_attention","sliding_attention","sliding_attention","full_attention",)"
     R"("sliding_attention","sliding_attention","full_attention","sliding_attention","sliding_attention","full_attention"],)"
     R"("local_attention":128,"max_position_embeddings":7999,"mlp_bias":false,"mlp_dropout":0.0,"model_type":"modernbert",)"
     R"("norm_bias":false,"num_attention_heads":12,"num_hidden_layers":22,)"
     R"("rope_parameters":{"full_attention":{"rope_type":"default"},"sliding_attention":{"rope_type":"default"}},)"
     R"("vocab_size":50408},"vision_config":{"hidden_act":"gelu_pytorch_tanh","hidden_size":768,"image_size":512,)"
     R"("intermediate_size":3072,"model_type":"siglip_vision_model","num_attention_heads":12,"num_channels":3,)"
     R"("num_hidden_layers":12,"patch_size":16,"attention_dropout":0.0},"tie_word_embeddings":false})"sv, 291356648},
    {"moonshotai/Kimi-K2.5"sv, "its own config.json"sv,
     R"({"model_type":"kimi_k25","architectures":["KimiK25ForConditionalGeneration"],"dtype":"bfloat16",)"
     R"("text_config":{"attention_bias":false,"attention_dropout":0.0,"dtype":"bfloat16","first_k_dense_replace":1,)"
     R"("hidden_act":"silu","hidden_size":7168,"id2label":{"0":"LABEL_0","1":"LABEL_1"},"intermediate_size":18432,)"
     R"("kv_lora_rank":512,"max_position_embeddings":262144,"model_type":"kimi_k2","moe_intermediate_size":2048,"n_group":1,)"
     R"("n_routed_experts":384,"n_shared_experts":1,"norm_topk_prob":true,"num_attention_heads":64,"num_experts_per_tok":8,)"
     R"("num_hidden_layers":61,"num_key_value_heads":64,"q_lora_rank":1536,"qk_nope_head_dim":128,"qk_rope_head_dim":64,)"
     R"("quantization_config":{"config_groups":{"group_0":{"input_activations":null,"output_activations":null,)"
     R"("targets":["Linear"],"weights":{"actorder":null,"block_structure":null,"dynamic":false,"group_size":32,"num_bits":4,)"
     R"("observer":"minmax","observer_kwargs":{},"strategy":"group","symmetric":true,"type":"int"}}},)"
     R"("format":"pack-quantized","ignore":["lm_head","re:.*self_attn.*","re:.*shared_experts.*",)"
     R"("re:.*mlp\\.(gate|up|gate_up|down)_proj.*"],"kv_cache_scheme":null,"quant_method":"compressed-tensors",)"
     R"("quantization_status":"compressed"},"rope_scaling":{"type":"yarn","factor":64.0,)"
     R"("original_max_position_embeddings":4096},"tie_word_embeddings":false,"topk_group":1,"v_head_dim":128,)"
     R"("vocab_size":163840,"num_nextn_predict_layers":0},"tie_word_embeddings":false,"vision_config":{"merge_kernel_size":[2,)"
     R"(2],"patch_size":14}})"sv, 1026879353328},
    {"OFA-Sys/chinese-clip-vit-base-patch16"sv, "its own config.json"sv,
     R"({"model_type":"chinese_clip","architectures":["ChineseCLIPModel"],"projection_dim":512,)"
     R"("text_config":{"hidden_act":"gelu","hidden_size":768,"intermediate_size":3072,"max_position_embeddings":512,)"
     R"("num_attention_heads":12,"num_hidden_layers":12,"type_vocab_size":2,"vocab_size":21128},"text_config_dict":null,)"
     R"("torch_dtype":"float32","vision_config":{"hidden_act":"quick_gelu","hidden_size":768,"id2label":{"0":"LABEL_0",)"
     R"("1":"LABEL_1"},"image_size":224,"intermediate_size":3072,"num_attention_heads":12,"num_hidden_layers":12,)"
     R"("patch_size":16,"tie_word_embeddings":true,"torch_dtype":null,"attention_dropout":0.0},)"
     R"("vision_config_dict":{"patch_size":16}})"sv, 188262913},
    {"openai/clip-vit-base-patch16"sv, "its own config.json"sv,
     R"({"model_type":"clip","architectures":["CLIPModel"],"projection_dim":512,"text_config":{"hidden_act":"quick_gelu",)"
     R"("hidden_size":512,"intermediate_size":2048,"max_position_embeddings":77,"num_attention_heads":8,)"
     R"("num_hidden_layers":12,"vocab_size":49408},"torch_dtype":"float32","vision_config":{"hidden_act":"quick_gelu",)"
     R"("hidden_size":768,"image_size":224,"intermediate_size":3072,"num_attention_heads":12,"num_channels":3,)"
     R"("num_hidden_layers":12,"patch_size":16,"attention_dropout":0.0}})"sv, 149620737},
    {"openbmb/MiniCPM-V-4_6"sv, "its own config.json"sv,
     R"({"model_type":"minicpmv4_6","architectures":["MiniCPMV4_6ForConditionalGeneration"],"tie_word_embeddings":true,)"
     R"("use_cache":true,"vision_config":{"hidden_act":"gelu_pytorch_tanh","hidden_size":1152,"image_size":980,)"
     R"("intermediate_size":4304,"num_attention_heads":16,"num_channels":3,"num_hidden_layers":27,"patch_size":14},)"
     R"("text_config":{"attention_bias":false,"attention_dropout":0.0,"full_attention_interval":4,"head_dim":256,)"
     R"("hidden_act":"silu","hidden_size":1024,"intermediate_size":3584,"layer_types":["linear_attention","linear_attention",)"
     R"("linear_attention","full_attention","linear_attention","linear_attention","linear_attention","full_attention",)"
     R"("linear_attention","linear_attention","linear_attention","full_attention","linear_attention","linear_attention",)"
     R"("linear_attention","full_attention","linear_attention","linear_attention","linear_attention","full_attention",)"
     R"("linear_attention","linear_attention","linear_attention","full_attention"],"linear_conv_kernel_dim":4,)"
     R"("linear_key_head_dim":128,"linear_num_key_heads":16,"linear_num_value_heads":16,"linear_value_head_dim":128,)"
     R"("max_position_embeddings":262144,"num_attention_heads":8,"num_hidden_layers":24,"num_key_value_heads":2,)"
     R"("rope_parameters":{"partial_rotary_factor":0.25,"rope_type":"default"},"vocab_size":248094,)"
     R"("model_type":"qwen3_5_text","tie_word_embeddings":true,"mamba_ssm_dtype":"float32","mtp_num_hidden_layers":1},)"
     R"("insert_layer_id":6})"sv, 1300428016},
    {"OpenGVLab/InternVL3-14B-hf"sv, "its own config.json"sv,
     R"({"model_type":"internvl","architectures":["InternVLForConditionalGeneration"],"downsample_ratio":0.5,)"
     R"("projector_hidden_act":"gelu","text_config":{"attention_dropout":0.0,"hidden_act":"silu","hidden_size":5120,)"
     R"("intermediate_size":13824,"max_position_embeddings":32768,"max_window_layers":70,"model_type":"qwen2",)"
     R"("num_attention_heads":40,"num_hidden_layers":48,"num_key_value_heads":8,"rope_scaling":{"factor":2.0,)"
     R"("rope_type":"dynamic"},"sliding_window":null,"torch_dtype":"bfloat16","use_sliding_window":false,"vocab_size":151674},)"
     R"("torch_dtype":"bfloat16","vision_config":{"attention_bias":true,"hidden_act":"gelu","hidden_size":1024,)"
     R"("image_size":[448,448],"intermediate_size":4096,"norm_type":"layer_norm","num_attention_heads":16,"num_channels":3,)"
     R"("num_hidden_layers":24,"patch_size":[14,14],"projection_dropout":0.0,"torch_dtype":"bfloat16",)"
     R"("use_absolute_position_embeddings":true,"use_mask_token":false,"use_mean_pooling":true,"use_qk_norm":false,)"
     R"("attention_dropout":0.0,"hidden_dropout_prob":0.0},"vision_feature_select_strategy":"default"})"sv, 15117256704},
    {"PaddlePaddle/PaddleOCR-VL"sv, "its own config.json"sv,
     R"({"model_type":"paddleocr_vl","architectures":["PaddleOCRVLForConditionalGeneration"],"head_dim":128,)"
     R"("hidden_act":"silu","hidden_size":1024,"intermediate_size":3072,"max_position_embeddings":131072,)"
     R"("num_attention_heads":16,"num_hidden_layers":18,"num_key_value_heads":2,"rope_scaling":{"mrope_section":[16,24,24],)"
     R"("rope_type":"default"},"sliding_window":null,"tie_word_embeddings":false,"torch_dtype":"bfloat16","use_bias":false,)"
     R"("use_cache":false,"vision_config":{"hidden_act":"gelu_pytorch_tanh","hidden_size":1152,"image_size":384,)"
     R"("intermediate_size":4304,"num_attention_heads":16,"num_channels":3,"num_hidden_layers":27,"patch_size":14,)"
     R"("spatial_merge_size":2,"torch_dtype":"bfloat16"},"vocab_size":103424})"sv, 799695472},
    {"PaddlePaddle/PP-Chart2Table_safetensors"sv, "its own config.json"sv,
     R"({"model_type":"pp_chart2table","architectures":["GotOcr2ForConditionalGeneration"],"tie_word_embeddings":true,)"
     R"("dtype":"bfloat16","use_cache":true,"vision_config":{"num_hidden_layers":12,"hidden_size":768,"output_channels":256,)"
     R"("hidden_act":"gelu","num_channels":3,"image_size":1024,"mlp_dim":3072,"num_attention_heads":12,"patch_size":16,)"
     R"("qkv_bias":true,"use_rel_pos":true,"use_abs_pos":true,"global_attn_indexes":[2,5,8,11],"window_size":14},)"
     R"("text_config":{"hidden_size":1024,"hidden_act":"silu","num_hidden_layers":24,"num_attention_heads":16,)"
     R"("num_key_value_heads":16,"intermediate_size":2816,"attention_dropout":0.0,"sliding_window":32768,"vocab_size":151860,)"
     R"("max_position_embeddings":32768,"rope_parameters":{"rope_type":"default"}}})"sv, 560528640},
    {"PaddlePaddle/PP-FormulaNet-L_safetensors"sv, "its own config.json"sv,
     R"({"model_type":"pp_formulanet","text_config":{"activation_function":"gelu","d_model":512,"decoder_attention_heads":16,)"
     R"("decoder_ffn_dim":2048,"decoder_layers":8,"encoder_attention_heads":16,"encoder_layers":12,)"
     R"("max_position_embeddings":1024,"num_hidden_layers":12,"tie_word_embeddings":false,"vocab_size":50000},)"
     R"("vision_config":{"image_size":768,"output_channels":256,"num_channels":3,"patch_size":16,"hidden_act":"gelu",)"
     R"("qkv_bias":true,"use_abs_pos":true,"use_rel_pos":true,"window_size":14,"hidden_size":768,"num_hidden_layers":12,)"
     R"("num_attention_heads":12,"global_attn_indexes":[2,5,8,11],"mlp_dim":3072,"post_conv_in_channels":256,)"
     R"("post_conv_mid_channels":512,"post_conv_out_channels":1024,"decoder_hidden_size":512}})"sv, 181110528},
};
// clang-format on

}  // namespace llmcost
