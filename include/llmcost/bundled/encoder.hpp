// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/bundled/bundled_config.hpp>

namespace llmcost {

/// Encoders, encoder-decoders and vision: BERT, RoBERTa, T5, BART, ViT.
// clang-format off
inline constexpr bundled_config bundled_encoder[] = {
    {"facebook/bart-base"sv, "its own config.json"sv,
     R"({"model_type":"bart","architectures":["BartModel"],"is_encoder_decoder":true,"vocab_size":50265,"d_model":768,)"
     R"("encoder_ffn_dim":3072,"decoder_ffn_dim":3072,"encoder_layers":6,"decoder_layers":6,"encoder_attention_heads":12,)"
     R"("decoder_attention_heads":12,"activation_function":"gelu","scale_embedding":false,"max_position_embeddings":1024,)"
     R"("torch_dtype":"float32","activation_dropout":0.1,"decoder_layerdrop":0.0,"dropout":0.1,"encoder_layerdrop":0.0,)"
     R"("num_hidden_layers":6,"num_labels":3})"sv, 139420416},
    {"facebook/bart-large"sv, "PaddleNLP 2.8.1 bart/configuration.py; the rest as facebook/bart-base"sv,
     R"({"model_type":"bart","architectures":["BartModel"],"is_encoder_decoder":true,"vocab_size":50265,)"
     R"("d_model":1024,"encoder_ffn_dim":4096,"decoder_ffn_dim":4096,"encoder_layers":12,"decoder_layers":12,)"
     R"("encoder_attention_heads":16,"decoder_attention_heads":16,"activation_function":"gelu",)"
     R"("scale_embedding":false,"max_position_embeddings":1024})"sv, 406291456},
    {"facebook/bart-large-cnn"sv, "onnx-diagnostic hub_data_cached_configs.py"sv,
     R"({"model_type":"bart","architectures":["BartForConditionalGeneration"],"is_encoder_decoder":true,)"
     R"("vocab_size":50264,"d_model":1024,"encoder_ffn_dim":4096,"decoder_ffn_dim":4096,"encoder_layers":12,)"
     R"("decoder_layers":12,"encoder_attention_heads":16,"decoder_attention_heads":16,"activation_function":"gelu",)"
     R"("scale_embedding":false,"max_position_embeddings":1024})"sv, 406290432},
    {"facebook/deit-base-patch16-224"sv, "its own config.json"sv,
     R"({"model_type":"vit","architectures":["ViTForImageClassification"],"hidden_size":768,"intermediate_size":3072,)"
     R"("num_hidden_layers":12,"num_attention_heads":12,"hidden_act":"gelu","image_size":224,"patch_size":16,"num_channels":3,)"
     R"("num_labels":1000,"attention_probs_dropout_prob":0.0,"hidden_dropout_prob":0.0})"sv, 86567656},
    {"FacebookAI/roberta-base"sv,
     "transformers 5.23.0 RobertaConfig; positions and types as FacebookAI/roberta-large"sv,
     R"({"model_type":"roberta","architectures":["RobertaForMaskedLM"],"vocab_size":50265,"type_vocab_size":1,)"
     R"("hidden_size":768,"intermediate_size":3072,"num_hidden_layers":12,"num_attention_heads":12,)"
     R"("hidden_act":"gelu","max_position_embeddings":514})"sv, 124697433},
    {"FacebookAI/roberta-large"sv, "its own config.json"sv,
     R"({"model_type":"roberta","architectures":["RobertaForMaskedLM"],"vocab_size":50265,"type_vocab_size":1,)"
     R"("hidden_size":1024,"intermediate_size":4096,"num_hidden_layers":24,"num_attention_heads":16,"hidden_act":"gelu",)"
     R"("max_position_embeddings":514,"attention_probs_dropout_prob":0.1,"hidden_dropout_prob":0.1,"pad_token_id":1})"sv, 355412057},
    {"google-bert/bert-base-cased"sv, "PaddleNLP 2.8.1 bert/configuration.py"sv,
     R"({"model_type":"bert","architectures":["BertForMaskedLM"],"vocab_size":28996,"type_vocab_size":2,)"
     R"("hidden_size":768,"intermediate_size":3072,"num_hidden_layers":12,"num_attention_heads":12,)"
     R"("hidden_act":"gelu","max_position_embeddings":512,"position_embedding_type":"absolute"})"sv, 108340804},
    {"google-bert/bert-base-multilingual-cased"sv, "onnx-diagnostic hub_data_cached_configs.py"sv,
     R"({"model_type":"bert","architectures":["BertForMaskedLM"],"vocab_size":119547,"type_vocab_size":2,)"
     R"("hidden_size":768,"intermediate_size":3072,"num_hidden_layers":12,"num_attention_heads":12,)"
     R"("hidden_act":"gelu","max_position_embeddings":512})"sv, 177974523},
    {"google-bert/bert-base-uncased"sv, "PaddleNLP 2.8.1 bert/configuration.py; the rest as its own config.json"sv,
     R"({"model_type":"bert","architectures":["BertForMaskedLM"],"vocab_size":30522,"type_vocab_size":2,)"
     R"("hidden_size":768,"intermediate_size":3072,"num_hidden_layers":12,"num_attention_heads":12,)"
     R"("hidden_act":"gelu","max_position_embeddings":512,"position_embedding_type":"absolute"})"sv, 109514298},
    {"google-bert/bert-large-cased"sv, "PaddleNLP 2.8.1 bert/configuration.py"sv,
     R"({"model_type":"bert","architectures":["BertForMaskedLM"],"vocab_size":28996,"type_vocab_size":2,)"
     R"("hidden_size":1024,"intermediate_size":4096,"num_hidden_layers":24,"num_attention_heads":16,)"
     R"("hidden_act":"gelu","max_position_embeddings":512,"position_embedding_type":"absolute"})"sv, 333610308},
    {"google-bert/bert-large-uncased"sv, "PaddleNLP 2.8.1 bert/configuration.py"sv,
     R"({"model_type":"bert","architectures":["BertForMaskedLM"],"vocab_size":30522,"type_vocab_size":2,)"
     R"("hidden_size":1024,"intermediate_size":4096,"num_hidden_layers":24,"num_attention_heads":16,)"
     R"("hidden_act":"gelu","max_position_embeddings":512,"position_embedding_type":"absolute"})"sv, 335174458},
    {"google-t5/t5-11b"sv, "PaddleNLP 2.8.1 t5/configuration.py"sv,
     R"({"model_type":"t5","architectures":["T5ForConditionalGeneration"],"is_encoder_decoder":true,)"
     R"("vocab_size":32128,"d_model":1024,"d_ff":65536,"num_layers":24,"num_decoder_layers":24,"num_heads":128,)"
     R"("d_kv":128,"feed_forward_proj":"relu","relative_attention_num_buckets":32,)"
     R"("relative_attention_max_distance":128})"sv, 11307321344},
    {"google-t5/t5-3b"sv, "PaddleNLP 2.8.1 t5/configuration.py"sv,
     R"({"model_type":"t5","architectures":["T5ForConditionalGeneration"],"is_encoder_decoder":true,)"
     R"("vocab_size":32128,"d_model":1024,"d_ff":16384,"num_layers":24,"num_decoder_layers":24,"num_heads":32,)"
     R"("d_kv":128,"feed_forward_proj":"relu","relative_attention_num_buckets":32,)"
     R"("relative_attention_max_distance":128})"sv, 2851598336},
    {"google-t5/t5-base"sv, "PaddleNLP 2.8.1 t5/configuration.py"sv,
     R"({"model_type":"t5","architectures":["T5ForConditionalGeneration"],"is_encoder_decoder":true,)"
     R"("vocab_size":32128,"d_model":768,"d_ff":3072,"num_layers":12,"num_decoder_layers":12,"num_heads":12,"d_kv":64,)"
     R"("feed_forward_proj":"relu","relative_attention_num_buckets":32,"relative_attention_max_distance":128})"sv,
     222903552},
    {"google-t5/t5-large"sv, "PaddleNLP 2.8.1 t5/configuration.py"sv,
     R"({"model_type":"t5","architectures":["T5ForConditionalGeneration"],"is_encoder_decoder":true,)"
     R"("vocab_size":32128,"d_model":1024,"d_ff":4096,"num_layers":24,"num_decoder_layers":24,"num_heads":16,)"
     R"("d_kv":64,"feed_forward_proj":"relu","relative_attention_num_buckets":32,)"
     R"("relative_attention_max_distance":128})"sv, 737668096},
    {"google-t5/t5-small"sv, "PaddleNLP 2.8.1 t5/configuration.py"sv,
     R"({"model_type":"t5","architectures":["T5ForConditionalGeneration"],"is_encoder_decoder":true,)"
     R"("vocab_size":32128,"d_model":512,"d_ff":2048,"num_layers":6,"num_decoder_layers":6,"num_heads":8,"d_kv":64,)"
     R"("feed_forward_proj":"relu","relative_attention_num_buckets":32,"relative_attention_max_distance":128})"sv,
     60506624},
    {"google/vit-base-patch16-224"sv, "transformers 5.23.0 ViTConfig; 1000 classes of ImageNet-1k"sv,
     R"({"model_type":"vit","architectures":["ViTForImageClassification"],"hidden_size":768,"intermediate_size":3072,)"
     R"("num_hidden_layers":12,"num_attention_heads":12,"hidden_act":"gelu","qkv_bias":true,"image_size":224,)"
     R"("patch_size":16,"num_channels":3,"num_labels":1000})"sv, 86567656},
    {"google/vit-large-patch16-224"sv,
     "google-research/vision_transformer 0593a59 vit_jax/configs/models.py; 1000 classes of ImageNet-1k"sv,
     R"({"model_type":"vit","architectures":["ViTForImageClassification"],"hidden_size":1024,"intermediate_size":4096,)"
     R"("num_hidden_layers":24,"num_attention_heads":16,"hidden_act":"gelu","qkv_bias":true,"image_size":224,)"
     R"("patch_size":16,"num_channels":3,"num_labels":1000})"sv, 304326632},
};
// clang-format on

}  // namespace llmcost
