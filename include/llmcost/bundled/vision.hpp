// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/bundled/bundled_config.hpp>

namespace llmcost {

/// Classifiers and backbones of images.
// clang-format off
inline constexpr bundled_config bundled_vision[]{
    {"apple/deeplabv3-mobilevit-small"sv, "its own config.json"sv,
     R"({"model_type":"mobilevit","architectures":["MobileViTForSemanticSegmentation"],"aspp_out_channels":256,)"
     R"("atrous_rates":[6,12,18],"conv_kernel_size":3,"expand_ratio":4.0,"hidden_act":"silu","hidden_sizes":[144,192,240],)"
     R"("image_size":512,"mlp_ratio":2.0,"neck_hidden_sizes":[16,32,64,96,128,160,640],"num_attention_heads":4,)"
     R"("num_channels":3,"output_stride":16,"patch_size":2,"qkv_bias":true,"torch_dtype":"float32","num_labels":21})"sv, 6357941},
    {"apple/mobilevitv2-1.0-imagenet1k-256"sv, "its own config.json"sv,
     R"({"model_type":"mobilevitv2","architectures":["MobileViTv2ForImageClassification"],"aspp_out_channels":512,)"
     R"("conv_kernel_size":3,"expand_ratio":2.0,"hidden_act":"swish","image_size":256,"num_channels":3,"output_stride":32,)"
     R"("patch_size":2,"torch_dtype":"float32","width_multiplier":1.0,"num_labels":1000})"sv, 4901841},
    {"facebook/convnext-base-224"sv, "its own config.json"sv,
     R"({"model_type":"convnext","architectures":["ConvNextForImageClassification"],"depths":[3,3,27,3],"drop_path_rate":0.0,)"
     R"("hidden_act":"gelu","hidden_sizes":[128,256,512,1024],"image_size":224,"layer_scale_init_value":1e-06,)"
     R"("num_channels":3,"num_stages":4,"patch_size":4,"torch_dtype":"float32","num_labels":1000})"sv, 88591464},
    {"facebook/convnextv2-atto-1k-224"sv, "its own config.json"sv,
     R"({"model_type":"convnextv2","architectures":["ConvNextV2ForImageClassification"],"depths":[2,2,6,2],)"
     R"("drop_path_rate":0.0,"hidden_act":"gelu","hidden_sizes":[40,80,160,320],"image_size":224,"num_channels":3,)"
     R"("num_stages":4,"patch_size":4,"torch_dtype":"float32","num_labels":1000})"sv, 3708400},
    {"facebook/deit-base-distilled-patch16-224"sv, "its own config.json"sv,
     R"({"model_type":"deit","architectures":["DeiTForImageClassificationWithTeacher"],"attention_probs_dropout_prob":0.0,)"
     R"("hidden_act":"gelu","hidden_dropout_prob":0.0,"hidden_size":768,"image_size":224,"intermediate_size":3072,)"
     R"("num_attention_heads":12,"num_channels":3,"num_hidden_layers":12,"patch_size":16,"num_labels":1000})"sv, 87338192},
    {"facebook/dinov2-with-registers-base-imagenet1k-1-layer"sv, "its own config.json"sv,
     R"({"model_type":"dinov2_with_registers","architectures":["Dinov2WithRegistersForImageClassification"],)"
     R"("attention_probs_dropout_prob":0.0,"drop_path_rate":0.0,"hidden_act":"gelu","hidden_dropout_prob":0.0,)"
     R"("hidden_size":768,"image_size":518,"mlp_ratio":4,"num_attention_heads":12,"num_channels":3,"num_hidden_layers":12,)"
     R"("num_register_tokens":4,"patch_size":14,"qkv_bias":true,"torch_dtype":"float32","use_swiglu_ffn":false,)"
     R"("num_labels":1000})"sv, 88120552},
    {"facebook/hiera-base-224-hf"sv, "its own config.json"sv,
     R"({"model_type":"hiera","architectures":["HieraModel"],"depths":[2,3,16,3],"drop_path_rate":0.0,"embed_dim":96,)"
     R"("embed_dim_multiplier":2.0,"hidden_act":"gelu","hidden_size":768,"image_size":[224,224],"masked_unit_attention":[true,)"
     R"(true,false,false],"masked_unit_size":[8,8],"mlp_ratio":4.0,"num_channels":3,"num_heads":[1,2,4,8],"num_query_pool":3,)"
     R"("patch_padding":[3,3],"patch_size":[7,7],"patch_stride":[4,4],"query_stride":[2,2],"torch_dtype":"float32"})"sv, 50755968},
    {"facebook/ijepa_vitg16_22k"sv, "its own config.json"sv,
     R"({"model_type":"ijepa","architectures":["IJepaModel"],"attention_probs_dropout_prob":0.0,"hidden_act":"gelu",)"
     R"("hidden_dropout_prob":0.0,"hidden_size":1408,"image_size":224,"intermediate_size":6144,"num_attention_heads":16,)"
     R"("num_channels":3,"num_hidden_layers":40,"patch_size":16,"qkv_bias":true,"torch_dtype":"float32"})"sv, 1011368576},
    {"facebook/levit-128"sv, "its own config.json"sv,
     R"({"model_type":"levit","architectures":["LevitForImageClassificationWithTeacher"],"attention_ratio":[2,2,2],)"
     R"("depths":[4,4,4],"down_ops":[["Subsample",16,8,4,2,2],["Subsample",16,16,4,2,2],[""]],"hidden_sizes":[128,256,384],)"
     R"("image_size":224,"kernel_size":3,"key_dim":[16,16,16],"mlp_ratio":[2,2,2],"num_attention_heads":[4,8,12],)"
     R"("num_channels":3,"padding":1,"patch_size":16,"stride":2,"torch_dtype":"float32","num_labels":1000})"sv, 9213936},
    {"facebook/regnet-x-002"sv, "its own config.json"sv,
     R"({"model_type":"regnet","architectures":["RegNetForImageClassification"],"depths":[1,1,4,7],)"
     R"("downsample_in_first_stage":true,"embedding_size":32,"groups_width":8,"hidden_act":"relu","hidden_sizes":[24,56,152,)"
     R"(368],"layer_type":"x","num_channels":3,"torch_dtype":"float32","num_labels":1000})"sv, 2684792},
    {"facebook/timesformer-base-finetuned-k400"sv, "its own config.json"sv,
     R"({"model_type":"timesformer","architectures":["TimesformerForVideoClassification"],)"
     R"("attention_type":"divided_space_time","drop_path_rate":0,"hidden_act":"gelu","hidden_size":768,"image_size":224,)"
     R"("intermediate_size":3072,"num_attention_heads":12,"num_channels":3,"num_frames":8,"num_hidden_layers":12,)"
     R"("patch_size":16,"qkv_bias":true,"torch_dtype":"float32","num_labels":400,"attention_probs_dropout_prob":0.0,)"
     R"("hidden_dropout_prob":0.0})"sv, 121566352},
    {"google/bit-50"sv, "its own config.json"sv,
     R"({"model_type":"bit","architectures":["BitForImageClassification"],"depths":[3,4,6,3],"drop_path_rate":0.0,)"
     R"("embedding_dynamic_padding":false,"embedding_size":64,"global_padding":null,"hidden_act":"relu","hidden_sizes":[256,)"
     R"(512,1024,2048],"layer_type":"preactivation","num_channels":3,"num_groups":32,"output_stride":32,)"
     R"("torch_dtype":"float32","width_factor":1,"num_labels":1000})"sv, 25549352},
    {"google/deeplabv3_mobilenet_v2_1.0_513"sv, "its own config.json"sv,
     R"({"model_type":"mobilenet_v2","architectures":["MobileNetV2ForSemanticSegmentation"],"depth_divisible_by":8,)"
     R"("depth_multiplier":1.0,"expand_ratio":6,"finegrained_output":true,"first_layer_is_expansion":true,)"
     R"("hidden_act":"relu6","image_size":513,"min_depth":8,"num_channels":3,"output_stride":8,"tf_padding":true,)"
     R"("torch_dtype":"float32","num_labels":21})"sv, 2525717},
    {"google/efficientnet-b0"sv, "its own config.json"sv,
     R"({"model_type":"efficientnet","architectures":["EfficientNetForImageClassification"],"depth_coefficient":1.0,)"
     R"("depth_divisor":8,"depthwise_padding":[],"expand_ratios":[1,6,6,6,6,6,6],"hidden_act":"swish","hidden_dim":1280,)"
     R"("image_size":224,"in_channels":[32,16,24,40,80,112,192],"kernel_sizes":[3,3,5,3,5,5,3],"num_block_repeats":[1,2,2,3,3,)"
     R"(4,1],"num_channels":3,"out_channels":[16,24,40,80,112,192,320],"pooling_type":"mean","squeeze_expansion_ratio":0.25,)"
     R"("strides":[1,2,2,2,1,2,1],"torch_dtype":"float32","width_coefficient":1.0,"num_labels":1000,"drop_connect_rate":0.2,)"
     R"("dropout_rate":0.2})"sv, 5288548},
    {"google/mobilenet_v1_0.75_192"sv, "its own config.json"sv,
     R"({"model_type":"mobilenet_v1","architectures":["MobileNetV1ForImageClassification"],"depth_multiplier":0.75,)"
     R"("hidden_act":"relu6","image_size":192,"min_depth":8,"num_channels":3,"tf_padding":true,"torch_dtype":"float32",)"
     R"("num_labels":1001})"sv, 2586329},
    {"hustvl/yolos-tiny"sv, "its own config.json"sv,
     R"({"model_type":"yolos","architectures":["YolosForObjectDetection"],"hidden_act":"gelu","hidden_size":192,)"
     R"("image_size":[800,1333],"intermediate_size":768,"num_attention_heads":3,"num_channels":3,"num_detection_tokens":100,)"
     R"("num_hidden_layers":12,"patch_size":16,"qkv_bias":true,"torch_dtype":"float32","use_mid_position_embeddings":false,)"
     R"("num_labels":91,"attention_probs_dropout_prob":0.0,"hidden_dropout_prob":0.0})"sv, 6488736},
    {"microsoft/cvt-13-384-22k"sv, "its own config.json"sv,
     R"({"model_type":"cvt","architectures":["CvtForImageClassification"],"cls_token":[false,false,true],"depth":[1,2,10],)"
     R"("drop_path_rate":[0.0,0.0,0.1],"embed_dim":[64,192,384],"image_size":384,"kernel_qkv":[3,3,3],"mlp_ratio":[4.0,4.0,)"
     R"(4.0],"num_channels":3,"num_heads":[1,3,6],"padding_kv":[1,1,1],"padding_q":[1,1,1],"patch_padding":[2,1,1],)"
     R"("patch_sizes":[7,3,3],"patch_stride":[4,2,2],"qkv_bias":[true,true,true],"qkv_projection_method":["dw_bn","dw_bn",)"
     R"("dw_bn"],"stride_kv":[2,2,2],"stride_q":[1,1,1],"torch_dtype":"float32","num_labels":1000})"sv, 19997480},
    {"microsoft/focalnet-base-lrf"sv, "its own config.json"sv,
     R"({"model_type":"focalnet","architectures":["FocalNetForImageClassification"],"depths":[2,2,18,2],"drop_path_rate":0.1,)"
     R"("embed_dim":128,"focal_levels":[3,3,3,3],"focal_windows":[3,3,3,3],"hidden_act":"gelu","hidden_dropout_prob":0.0,)"
     R"("image_size":224,"mlp_ratio":4.0,"normalize_modulator":false,"num_channels":3,"patch_size":4,"torch_dtype":"float32",)"
     R"("use_conv_embed":false,"use_layerscale":false,"use_post_layernorm":false,"use_post_layernorm_in_modulation":false,)"
     R"("num_labels":1000})"sv, 88749768},
    {"microsoft/resnet-101"sv, "its own config.json"sv,
     R"({"model_type":"resnet","architectures":["ResNetForImageClassification"],"depths":[3,4,23,3],)"
     R"("downsample_in_first_stage":false,"embedding_size":64,"hidden_act":"relu","hidden_sizes":[256,512,1024,2048],)"
     R"("layer_type":"bottleneck","num_channels":3,"torch_dtype":"float32","num_labels":1000})"sv, 44549160},
    {"microsoft/swinv2-base-patch4-window12-192-22k"sv, "its own config.json"sv,
     R"({"model_type":"swinv2","architectures":["Swinv2ForImageClassification"],"attention_probs_dropout_prob":0.0,)"
     R"("depths":[2,2,18,2],"drop_path_rate":0.1,"embed_dim":128,"hidden_act":"gelu","hidden_dropout_prob":0.0,)"
     R"("hidden_size":768,"image_size":192,"mlp_ratio":4.0,"num_channels":3,"num_heads":[4,8,16,32],"patch_size":4,)"
     R"("pretrained_window_sizes":[0,0,0,0],"qkv_bias":true,"torch_dtype":"float32","use_absolute_embeddings":false,)"
     R"("window_size":12,"num_labels":21841})"sv, 109280841},
    {"sail/poolformer_m36"sv, "its own config.json"sv,
     R"({"model_type":"poolformer","architectures":["PoolFormerForImageClassification"],"depths":[6,6,18,6],)"
     R"("drop_path_rate":0.0,"hidden_act":"gelu","hidden_sizes":[96,192,384,768],"mlp_ratio":4.0,"num_channels":3,)"
     R"("num_encoder_blocks":4,"num_hidden_layers":12,"padding":[2,1,1,1],"patch_sizes":[7,3,3,3],"pool_size":3,"strides":[4,)"
     R"(2,2,2],"torch_dtype":"float32","use_cache":true,"use_layer_scale":true,"num_labels":1000})"sv, 56172520},
    {"Xrenya/pvt-tiny-224"sv, "its own config.json"sv,
     R"({"model_type":"pvt","architectures":["PvtForImageClassification"],"attention_probs_dropout_prob":0.0,"depths":[2,2,2,)"
     R"(2],"drop_path_rate":0.0,"hidden_act":"gelu","hidden_dropout_prob":0.0,"hidden_sizes":[64,128,320,512],)"
     R"("image_size":224,"mlp_ratios":[8,8,4,4],"num_attention_heads":[1,2,5,8],"num_channels":3,"num_encoder_blocks":4,)"
     R"("num_labels":1000,"patch_sizes":[4,2,2,2],"sequence_reduction_ratios":[8,4,2,1],"strides":[4,2,2,2],"qkv_bias":true,)"
     R"("torch_dtype":"float32"})"sv, 13229288},
};
// clang-format on

}  // namespace llmcost
