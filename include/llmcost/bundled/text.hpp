// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/bundled/bundled_config.hpp>

namespace llmcost {

/// Encoders, and encoders with decoders, of text.
// clang-format off
inline constexpr bundled_config bundled_text[]{
    {"allenai/longformer-base-4096"sv, "its own config.json"sv,
     R"({"model_type":"longformer","attention_probs_dropout_prob":0.1,"attention_window":[512,512,512,512,512,512,512,512,512,)"
     R"(512,512,512],"hidden_act":"gelu","hidden_dropout_prob":0.1,"hidden_size":768,"intermediate_size":3072,)"
     R"("max_position_embeddings":4098,"num_attention_heads":12,"num_hidden_layers":12,"pad_token_id":1,"type_vocab_size":1,)"
     R"("vocab_size":50265})"sv, 148711257},
    {"almanach/camembert-base"sv, "its own config.json"sv,
     R"({"model_type":"camembert","architectures":["CamembertForMaskedLM"],"attention_probs_dropout_prob":0.1,)"
     R"("hidden_act":"gelu","hidden_dropout_prob":0.1,"hidden_size":768,"intermediate_size":3072,)"
     R"("max_position_embeddings":514,"num_attention_heads":12,"num_hidden_layers":12,"pad_token_id":1,"type_vocab_size":1,)"
     R"("vocab_size":32005})"sv, 110655493},
    {"andreasmadsen/efficient_mlm_m0.15"sv, "its own config.json"sv,
     R"({"model_type":"roberta-prelayernorm","architectures":["RobertaPreLayerNormForMaskedLM"],)"
     R"("attention_probs_dropout_prob":0.1,"classifier_dropout":null,"hidden_act":"gelu","hidden_dropout_prob":0.1,)"
     R"("hidden_size":1024,"intermediate_size":4096,"max_position_embeddings":514,"num_attention_heads":16,)"
     R"("num_hidden_layers":24,"pad_token_id":1,"torch_dtype":"float32","type_vocab_size":1,"use_cache":true,)"
     R"("vocab_size":50265})"sv, 355414105},
    {"answerdotai/ModernBERT-base"sv, "its own config.json"sv,
     R"({"model_type":"modernbert","architectures":["ModernBertForMaskedLM"],"attention_bias":false,"attention_dropout":0.0,)"
     R"("classifier_activation":"gelu","classifier_bias":false,"classifier_dropout":0.0,"classifier_pooling":"mean",)"
     R"("decoder_bias":true,"embedding_dropout":0.0,"global_attn_every_n_layers":3,"hidden_activation":"gelu",)"
     R"("hidden_size":768,"intermediate_size":1152,"local_attention":128,"max_position_embeddings":8192,"mlp_bias":false,)"
     R"("mlp_dropout":0.0,"norm_bias":false,"num_attention_heads":12,"num_hidden_layers":22,"tie_word_embeddings":true,)"
     R"("torch_dtype":"float32","vocab_size":50368})"sv, 149655232},
    {"BAAI/Emu3-Chat-hf"sv, "its own config.json"sv,
     R"({"model_type":"emu3","architectures":["Emu3ForConditionalGeneration"],"text_config":{"max_position_embeddings":131072,)"
     R"("rope_scaling":{"rope_type":"default"}},"torch_dtype":"float32","vq_config":{}})"sv, 8762751807},
    {"Callidior/bert2bert-base-arxiv-titlegen"sv, "its own config.json"sv,
     R"({"model_type":"encoder-decoder","architectures":["EncoderDecoderModel"],"decoder":{"add_cross_attention":true,)"
     R"("attention_probs_dropout_prob":0.1,"chunk_size_feed_forward":0,"hidden_act":"gelu","hidden_dropout_prob":0.1,)"
     R"("hidden_size":768,"id2label":{"0":"LABEL_0","1":"LABEL_1"},"intermediate_size":3072,"is_decoder":true,)"
     R"("max_position_embeddings":512,"model_type":"bert","num_attention_heads":12,"num_hidden_layers":12,)"
     R"("tie_word_embeddings":true,"type_vocab_size":2,"vocab_size":30522},"encoder":{"add_cross_attention":false,)"
     R"("attention_probs_dropout_prob":0.1,"chunk_size_feed_forward":0,"hidden_act":"gelu","hidden_dropout_prob":0.1,)"
     R"("hidden_size":768,"id2label":{"0":"LABEL_0","1":"LABEL_1"},"intermediate_size":3072,"is_decoder":false,)"
     R"("max_position_embeddings":512,"model_type":"bert","num_attention_heads":12,"num_hidden_layers":12,)"
     R"("tie_word_embeddings":true,"type_vocab_size":2,"vocab_size":30522}})"sv, 247363386},
    {"distilbert/distilbert-base-cased"sv, "its own config.json"sv,
     R"({"model_type":"distilbert","activation":"gelu","architectures":["DistilBertForMaskedLM"],"attention_dropout":0.1,)"
     R"("dim":768,"dropout":0.1,"hidden_dim":3072,"max_position_embeddings":512,"n_heads":12,"n_layers":6,"qa_dropout":0.1,)"
     R"("seq_classif_dropout":0.2,"vocab_size":28996})"sv, 65812036},
    {"EuroBERT/EuroBERT-2.1B"sv, "its own config.json"sv,
     R"({"model_type":"eurobert","architectures":["EuroBertForMaskedLM"],"attention_bias":false,"attention_dropout":0.0,)"
     R"("hidden_act":"silu","hidden_dropout":0.0,"hidden_size":2304,"intermediate_size":6144,"max_position_embeddings":8192,)"
     R"("num_attention_heads":18,"num_hidden_layers":32,"num_key_value_heads":6,"rope_scaling":null,)"
     R"("tie_word_embeddings":false,"torch_dtype":"float32","vocab_size":128256})"sv, 2403092736},
    {"facebook/data2vec-text-base"sv, "its own config.json"sv,
     R"({"model_type":"data2vec-text","architectures":["Data2VecTextModel"],"attention_probs_dropout_prob":0.1,)"
     R"("hidden_act":"gelu","hidden_dropout_prob":0.1,"hidden_size":768,"intermediate_size":3072,)"
     R"("max_position_embeddings":514,"num_attention_heads":12,"num_hidden_layers":12,"pad_token_id":1,)"
     R"("torch_dtype":"float32","type_vocab_size":1,"use_cache":true,"vocab_size":50265})"sv, 124645632},
    {"facebook/data2vec-vision-base-ft1k"sv, "its own config.json"sv,
     R"({"model_type":"data2vec-vision","architectures":["Data2VecVisionForImageClassification"],)"
     R"("attention_probs_dropout_prob":0.0,"drop_path_rate":0.1,"hidden_act":"gelu","hidden_dropout_prob":0.0,)"
     R"("hidden_size":768,"image_size":224,"intermediate_size":3072,"layer_scale_init_value":0.1,"num_attention_heads":12,)"
     R"("num_channels":3,"num_hidden_layers":12,"patch_size":16,"torch_dtype":"float32",)"
     R"("use_absolute_position_embeddings":false,"use_mask_token":false,"use_mean_pooling":true,)"
     R"("use_relative_position_bias":true,"use_shared_relative_position_bias":false,"num_labels":1000})"sv, 86530984},
    {"facebook/esm1b_t33_650M_UR50S"sv, "its own config.json"sv,
     R"({"model_type":"esm","architectures":["EsmForMaskedLM"],"attention_probs_dropout_prob":0.0,)"
     R"("emb_layer_norm_before":true,"hidden_act":"gelu","hidden_dropout_prob":0.0,"hidden_size":1280,)"
     R"("intermediate_size":5120,"is_folding_model":false,"max_position_embeddings":1026,"num_attention_heads":20,)"
     R"("num_hidden_layers":33,"pad_token_id":1,"position_embedding_type":"absolute","token_dropout":true,)"
     R"("torch_dtype":"float32","use_cache":true,"vocab_size":33})"sv, 652359094},
    {"facebook/m2m100-12B-last-ckpt"sv, "its own config.json"sv,
     R"({"model_type":"m2m_100","activation_dropout":0.0,"activation_function":"relu",)"
     R"("architectures":["M2M100ForConditionalGeneration"],"attention_dropout":0.1,"d_model":4096,)"
     R"("decoder_attention_heads":16,"decoder_ffn_dim":16384,"decoder_layerdrop":0.05,"decoder_layers":24,"dropout":0.1,)"
     R"("encoder_attention_heads":16,"encoder_ffn_dim":16384,"encoder_layerdrop":0.05,"encoder_layers":24,)"
     R"("max_position_embeddings":1024,"num_hidden_layers":24,"pad_token_id":1,"torch_dtype":"float32","use_cache":true,)"
     R"("vocab_size":128112})"sv, 11802198016},
    {"facebook/mbart-large-50-many-to-many-mmt"sv, "its own config.json"sv,
     R"({"model_type":"mbart","activation_dropout":0.0,"activation_function":"relu",)"
     R"("architectures":["MBartForConditionalGeneration"],"attention_dropout":0.0,"classifier_dropout":0.0,"d_model":1024,)"
     R"("decoder_attention_heads":16,"decoder_ffn_dim":4096,"decoder_layerdrop":0.0,"decoder_layers":12,"dropout":0.1,)"
     R"("encoder_attention_heads":16,"encoder_ffn_dim":4096,"encoder_layerdrop":0.0,"encoder_layers":12,)"
     R"("max_position_embeddings":1024,"num_hidden_layers":12,"use_cache":true,"vocab_size":250054,"num_labels":3})"sv, 610879488},
    {"facebook/wmt19-de-en"sv, "its own config.json"sv,
     R"({"model_type":"fsmt","architectures":["FSMTForConditionalGeneration"],"activation_dropout":0.0,)"
     R"("activation_function":"relu","attention_dropout":0.1,"d_model":1024,"dropout":0.2,"max_position_embeddings":1024,)"
     R"("num_hidden_layers":6,"src_vocab_size":42024,"tgt_vocab_size":42024,"encoder_attention_heads":16,)"
     R"("encoder_ffn_dim":8192,"encoder_layerdrop":0,"encoder_layers":6,"decoder_attention_heads":16,"decoder_ffn_dim":4096,)"
     R"("decoder_layerdrop":0,"decoder_layers":6,"pad_token_id":1,"tie_word_embeddings":true})"sv, 271847424},
    {"FacebookAI/xlm-roberta-base"sv, "its own config.json"sv,
     R"({"model_type":"xlm-roberta","architectures":["XLMRobertaForMaskedLM"],"attention_probs_dropout_prob":0.1,)"
     R"("hidden_act":"gelu","hidden_dropout_prob":0.1,"hidden_size":768,"intermediate_size":3072,)"
     R"("max_position_embeddings":514,"num_attention_heads":12,"num_hidden_layers":12,"pad_token_id":1,"type_vocab_size":1,)"
     R"("use_cache":true,"vocab_size":250002})"sv, 278295186},
    {"Finnish-NLP/convbert-base-finnish"sv, "its own config.json"sv,
     R"({"model_type":"convbert","architectures":["ConvBertModel"],"attention_probs_dropout_prob":0.1,"conv_kernel_size":9,)"
     R"("embedding_size":768,"head_ratio":2,"hidden_act":"gelu","hidden_dropout_prob":0.1,"hidden_size":768,)"
     R"("intermediate_size":3072,"max_position_embeddings":512,"num_attention_heads":12,"num_groups":1,"num_hidden_layers":12,)"
     R"("torch_dtype":"float32","type_vocab_size":2,"vocab_size":50265})"sv, 120843144},
    {"funnel-transformer/small"sv, "its own config.json"sv,
     R"({"model_type":"funnel","activation_dropout":0.0,"architectures":["FunnelModel"],"attention_dropout":0.1,)"
     R"("attention_type":"relative_shift","block_repeats":[1,1,1],"block_sizes":[4,4,4],"d_head":64,"d_inner":3072,)"
     R"("d_model":768,"hidden_act":"gelu_new","hidden_dropout":0.1,"max_position_embeddings":512,"n_head":12,)"
     R"("num_decoder_layers":2,"pool_q_only":true,"pooling_type":"mean","separate_cls":true,"truncate_seq":true,)"
     R"("vocab_size":30522})"sv, 130973184},
    {"google/bigbird-base-trivia-itc"sv, "its own config.json"sv,
     R"({"model_type":"big_bird","architectures":["BigBirdForQuestionAnswering"],"attention_type":"block_sparse",)"
     R"("block_size":64,"hidden_act":"gelu_new","hidden_size":768,"intermediate_size":3072,"max_position_embeddings":4096,)"
     R"("num_attention_heads":12,"num_hidden_layers":12,"num_random_blocks":3,"rescale_embeddings":false,"type_vocab_size":16,)"
     R"("use_bias":true,"use_cache":true,"vocab_size":50358})"sv, 131614466},
    {"google/bigbird-pegasus-large-arxiv"sv, "its own config.json"sv,
     R"({"model_type":"bigbird_pegasus","activation_dropout":0.0,"activation_function":"gelu_new",)"
     R"("architectures":["BigBirdPegasusForConditionalGeneration"],"attention_dropout":0.0,"attention_type":"block_sparse",)"
     R"("block_size":64,"classifier_dropout":0.0,"d_model":1024,"decoder_attention_heads":16,"decoder_ffn_dim":4096,)"
     R"("decoder_layerdrop":0.0,"decoder_layers":16,"dropout":0.1,"encoder_attention_heads":16,"encoder_ffn_dim":4096,)"
     R"("encoder_layerdrop":0.0,"encoder_layers":16,"max_position_embeddings":4096,"num_hidden_layers":16,)"
     R"("num_random_blocks":3,"use_bias":false,"use_cache":true,"vocab_size":96103})"sv, 576891904},
    {"google/fnet-base"sv, "its own config.json"sv,
     R"({"model_type":"fnet","architectures":["FNetForPreTraining"],"hidden_act":"gelu_new","hidden_dropout_prob":0.1,)"
     R"("hidden_size":768,"intermediate_size":3072,"max_position_embeddings":512,"num_hidden_layers":12,)"
     R"("torch_dtype":"float32","type_vocab_size":4,"use_tpu_fourier_optimizations":false,"vocab_size":32000})"sv, 83486722},
    {"google/mt5-base"sv, "its own config.json"sv,
     R"({"model_type":"mt5","architectures":["MT5ForConditionalGeneration"],"d_ff":2048,"d_kv":64,"d_model":768,)"
     R"("dropout_rate":0.1,"feed_forward_proj":"gated-gelu","num_decoder_layers":12,"num_heads":12,"num_layers":12,)"
     R"("relative_attention_num_buckets":32,"tie_word_embeddings":false,"use_cache":true,"vocab_size":250112})"sv, 582401280},
    {"google/pegasus-arxiv"sv, "its own config.json"sv,
     R"({"model_type":"pegasus","activation_dropout":0.1,"activation_function":"relu",)"
     R"("architectures":["PegasusForConditionalGeneration"],"attention_dropout":0.1,"d_model":1024,)"
     R"("decoder_attention_heads":16,"decoder_ffn_dim":4096,"decoder_layerdrop":0.0,"decoder_layers":16,"dropout":0.1,)"
     R"("encoder_attention_heads":16,"encoder_ffn_dim":4096,"encoder_layerdrop":0.0,"encoder_layers":16,)"
     R"("max_position_embeddings":1024,"num_hidden_layers":16,"vocab_size":96103,"num_labels":3})"sv, 570797056},
    {"google/pegasus-x-base-arxiv"sv, "its own config.json"sv,
     R"({"model_type":"pegasus_x","activation_dropout":0.1,"activation_function":"relu",)"
     R"("architectures":["PegasusXForConditionalGeneration"],"attention_dropout":0.1,"block_size":512,)"
     R"("classifier_dropout":0.0,"d_model":768,"decoder_attention_heads":12,"decoder_ffn_dim":3072,"decoder_layerdrop":0.0,)"
     R"("decoder_layers":12,"dropout":0.1,"encoder_attention_heads":12,"encoder_ffn_dim":3072,"encoder_layerdrop":0.0,)"
     R"("encoder_layers":12,"max_position_embeddings":16384,"num_global_tokens":128,"num_hidden_layers":12,)"
     R"("stagger_local_blocks":true,"torch_dtype":"float32","use_cache":true,"vocab_size":96103,"num_labels":3})"sv, 272292096},
    {"google/rembert"sv, "its own config.json"sv,
     R"({"model_type":"rembert","attention_probs_dropout_prob":0,"hidden_act":"gelu","hidden_dropout_prob":0,)"
     R"("hidden_size":1152,"input_embedding_size":256,"intermediate_size":4608,"max_position_embeddings":512,)"
     R"("num_attention_heads":18,"num_hidden_layers":32,"output_embedding_size":1664,"tie_word_embeddings":false,)"
     R"("type_vocab_size":2,"use_cache":true,"vocab_size":250300})"sv, 993263548},
    {"Helsinki-NLP/opus-mt-ROMANCE-en"sv, "its own config.json"sv,
     R"({"model_type":"marian","activation_dropout":0.0,"activation_function":"swish","architectures":["MarianMTModel"],)"
     R"("attention_dropout":0.0,"classifier_dropout":0.0,"d_model":512,"decoder_attention_heads":8,"decoder_ffn_dim":2048,)"
     R"("decoder_layerdrop":0.0,"decoder_layers":6,"decoder_vocab_size":65001,"dropout":0.1,"encoder_attention_heads":8,)"
     R"("encoder_ffn_dim":2048,"encoder_layerdrop":0.0,"encoder_layers":6,"max_position_embeddings":512,"num_hidden_layers":6,)"
     R"("share_encoder_decoder_embeddings":true,"use_cache":true,"vocab_size":65001,"num_labels":3})"sv, 77943296},
    {"impira/layoutlm-document-qa"sv, "its own config.json"sv,
     R"({"model_type":"layoutlm","architectures":["LayoutLMForQuestionAnswering"],"attention_probs_dropout_prob":0.1,)"
     R"("hidden_act":"gelu","hidden_dropout_prob":0.1,"hidden_size":768,"intermediate_size":3072,)"
     R"("max_2d_position_embeddings":1024,"max_position_embeddings":514,"num_attention_heads":12,"num_hidden_layers":12,)"
     R"("type_vocab_size":1,"use_cache":true,"vocab_size":50265})"sv, 127792898},
    {"jinaai/jina-embeddings-v3-hf"sv, "its own config.json"sv,
     R"({"model_type":"jina_embeddings_v3","architectures":["JinaEmbeddingsV3Model"],"attention_probs_dropout_prob":0.1,)"
     R"("hidden_act":"gelu","hidden_dropout_prob":0.1,"hidden_size":1024,"intermediate_size":4096,)"
     R"("max_position_embeddings":8194,"num_attention_heads":16,"num_hidden_layers":24,"torch_dtype":"bfloat16",)"
     R"("type_vocab_size":1,"use_cache":true,"vocab_size":250002})"sv, 559364096},
    {"microsoft/prophetnet-large-uncased-cnndm"sv, "its own config.json"sv,
     R"({"model_type":"prophetnet","activation_function":"gelu","architectures":["ProphetNetForConditionalGeneration"],)"
     R"("decoder_ffn_dim":4096,"encoder_ffn_dim":4096,"hidden_size":1024,"max_position_embeddings":512,"ngram":2,)"
     R"("num_buckets":32,"num_decoder_attention_heads":16,"num_decoder_layers":12,"num_encoder_attention_heads":16,)"
     R"("num_encoder_layers":12,"pad_token_id":0,"relative_max_distance":128,"vocab_size":30522,"num_labels":3})"sv, 391321600},
    {"naver-clova-ix/donut-base"sv, "its own config.json"sv,
     R"({"model_type":"vision-encoder-decoder","architectures":["VisionEncoderDecoderModel"],)"
     R"("decoder":{"activation_dropout":0.0,"activation_function":"gelu","attention_dropout":0.0,)"
     R"("cross_attention_hidden_size":null,"d_model":1024,"decoder_attention_heads":16,"decoder_ffn_dim":4096,)"
     R"("decoder_layerdrop":0.0,"decoder_layers":4,"dropout":0.1,"encoder_attention_heads":16,"encoder_ffn_dim":4096,)"
     R"("encoder_layerdrop":0.0,"encoder_layers":12,"id2label":{"0":"LABEL_0","1":"LABEL_1"},"max_position_embeddings":1536,)"
     R"("model_type":"mbart","num_hidden_layers":12,"tie_word_embeddings":true,"torch_dtype":null,"vocab_size":57525},)"
     R"("encoder":{"depths":[2,2,14,2],"drop_path_rate":0.1,"embed_dim":128,"hidden_act":"gelu","hidden_size":1024,)"
     R"("id2label":{"0":"LABEL_0","1":"LABEL_1"},"image_size":[2560,1920],"mlp_ratio":4.0,"model_type":"donut-swin",)"
     R"("num_channels":3,"num_heads":[4,8,16,32],"patch_size":4,"qkv_bias":true,"tie_word_embeddings":true,"torch_dtype":null,)"
     R"("use_absolute_embeddings":false,"window_size":10,"attention_probs_dropout_prob":0.0,"hidden_dropout_prob":0.0},)"
     R"("torch_dtype":"float32"})"sv, 201852024},
    {"nomic-ai/nomic-embed-text-v1.5"sv, "its own config.json"sv,
     R"({"model_type":"nomic_bert","architectures":["NomicBertModel"],"attention_probs_dropout_prob":0.0,"head_dim":64,)"
     R"("hidden_act":"silu","hidden_dropout_prob":0.0,"hidden_size":768,"intermediate_size":3072,)"
     R"("max_position_embeddings":2048,"num_attention_heads":12,"num_hidden_layers":12,)"
     R"("rope_parameters":{"rope_type":"default"},"torch_dtype":"float32","type_vocab_size":2,"use_cache":true,)"
     R"("vocab_size":30528})"sv, 136731648},
    {"Qwen/Qwen3-ASR-1.7B"sv, "its own config.json"sv,
     R"({"model_type":"qwen3_asr","architectures":["Qwen3ASRForConditionalGeneration"]})"sv, 2039626880},
    {"squeezebert/squeezebert-mnli-headless"sv, "its own config.json"sv,
     R"({"model_type":"squeezebert","attention_probs_dropout_prob":0.1,"embedding_size":768,"hidden_act":"gelu",)"
     R"("hidden_dropout_prob":0.1,"hidden_size":768,"intermediate_size":3072,"max_position_embeddings":512,)"
     R"("num_attention_heads":12,"num_hidden_layers":12,"type_vocab_size":2,"vocab_size":30528,"q_groups":4,"k_groups":4,)"
     R"("v_groups":4,"post_attention_groups":1,"intermediate_groups":4,"output_groups":4})"sv, 51716928},
    {"Stancld/longt5-tglobal-large-16384-pubmed-3k_steps"sv, "its own config.json"sv,
     R"({"model_type":"longt5","architectures":["LongT5ForConditionalGeneration"],"d_ff":2816,"d_kv":64,"d_model":1024,)"
     R"("dropout_rate":0.1,"encoder_attention_type":"transient-global","feed_forward_proj":"gated-gelu",)"
     R"("global_block_size":16,"local_radius":127,"num_decoder_layers":24,"num_heads":16,"num_layers":24,)"
     R"("relative_attention_num_buckets":32,"tie_word_embeddings":false,"torch_dtype":"float32","use_cache":true,)"
     R"("vocab_size":32100})"sv, 750247424},
    {"studio-ousia/luke-base"sv, "its own config.json"sv,
     R"({"model_type":"luke","architectures":["LukeForMaskedLM"],"attention_probs_dropout_prob":0.1,"entity_emb_size":256,)"
     R"("entity_vocab_size":500000,"hidden_act":"gelu","hidden_dropout_prob":0.1,"hidden_size":768,"intermediate_size":3072,)"
     R"("max_position_embeddings":514,"num_attention_heads":12,"num_hidden_layers":12,"pad_token_id":1,)"
     R"("torch_dtype":"float32","type_vocab_size":1,"use_cache":true,"use_entity_aware_attention":true,"vocab_size":50267})"sv, 314446971},
    {"TiffanyH/Philosophy_ROCBert"sv, "its own config.json"sv,
     R"({"model_type":"roc_bert","architectures":["RoCBertForSequenceClassification"],"attention_probs_dropout_prob":0.1,)"
     R"("classifier_dropout":null,"concat_input":true,"enable_pronunciation":true,"enable_shape":true,"hidden_act":"gelu",)"
     R"("hidden_dropout_prob":0.1,"hidden_size":768,"intermediate_size":3072,"max_position_embeddings":512,)"
     R"("num_attention_heads":12,"num_hidden_layers":12,"pronunciation_embed_dim":768,"pronunciation_vocab_size":910,)"
     R"("shape_embed_dim":512,"shape_vocab_size":24858,"torch_dtype":"float32","type_vocab_size":2,"use_cache":true,)"
     R"("vocab_size":21128})"sv, 117268994},
    {"uclanlp/plbart-base"sv, "its own config.json"sv,
     R"({"model_type":"plbart","activation_dropout":0.0,"activation_function":"gelu",)"
     R"("architectures":["PLBartForConditionalGeneration"],"attention_dropout":0.1,"classifier_dropout":0.0,"d_model":768,)"
     R"("decoder_attention_heads":12,"decoder_ffn_dim":3072,"decoder_layerdrop":0.0,"decoder_layers":6,"dropout":0.1,)"
     R"("encoder_attention_heads":12,"encoder_ffn_dim":3072,"encoder_layerdrop":0.0,"encoder_layers":6,)"
     R"("max_position_embeddings":1024,"num_hidden_layers":6,"use_cache":true,"vocab_size":50005})"sv, 139220736},
    {"Xenova/blenderbot_small-90M"sv, "its own config.json"sv,
     R"({"model_type":"blenderbot-small","activation_dropout":0.0,"activation_function":"gelu",)"
     R"("architectures":["BlenderbotSmallForConditionalGeneration"],"attention_dropout":0.0,"classifier_dropout":0.0,)"
     R"("d_model":512,"decoder_attention_heads":16,"decoder_ffn_dim":2048,"decoder_layerdrop":0.0,"decoder_layers":8,)"
     R"("dropout":0.1,"encoder_attention_heads":16,"encoder_ffn_dim":2048,"encoder_layerdrop":0.0,"encoder_layers":8,)"
     R"("max_position_embeddings":512,"num_hidden_layers":8,"use_cache":true,"vocab_size":54944,"num_labels":3})"sv, 87508992},
};
// clang-format on

}  // namespace llmcost
