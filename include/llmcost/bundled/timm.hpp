// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/bundled/bundled_config.hpp>

// Written by tests/golden/timm_test.cpp from configs/models/timm.
namespace llmcost {

// clang-format off
namespace detail {

inline constexpr std::string_view custom_model_timm_vit =
    R"json({"comment":"timm/models/vision_transformer.py; images of another size need positions of another number: --set sizes.resolution=N","class":"VisionTransformer","configuration":{"architectures":{"vit_tiny_patch16_224":"vit_tiny_patch16_224","vit_small_patch16_224":"vit_small_patch16_224","vit_small_patch32_224":"vit_small_patch32_224","vit_base_patch16_224":"vit_base_patch16_224","vit_base_patch32_224":"vit_base_patch32_224","vit_base_patch16_384":"vit_base_patch16_384","vit_large_patch16_224":"vit_large_patch16_224","vit_huge_patch14_224":"vit_huge_patch14_224"}},"image_size":"resolution","sizes":{"num_classes":1000,"resolution":224,"patch_size":16,"num_hidden_layers":12,"num_attention_heads":12,"hidden_size":768,"patches":"resolution // patch_size * (resolution // patch_size)"},"variants":{"vit_tiny_patch16_224":{"num_attention_heads":3,"hidden_size":192},"vit_small_patch16_224":{"num_attention_heads":6,"hidden_size":384},"vit_small_patch32_224":{"num_attention_heads":6,"hidden_size":384,"patch_size":32},"vit_base_patch16_224":{},"vit_base_patch32_224":{"patch_size":32},"vit_base_patch16_384":{"resolution":384},"vit_large_patch16_224":{"num_hidden_layers":24,"num_attention_heads":16,"hidden_size":1024},"vit_huge_patch14_224":{"patch_size":14,"num_hidden_layers":32,"num_attention_heads":16,"hidden_size":1280}},"inputs":{"images":{"shape":["batch",3,"image_height","image_width"]}},"blocks":{"Attention":{"layers":[{"type":"Linear","name":"qkv","in_features":"hidden_size","out_features":"3 * hidden_size"},{"function":"reshape","shape":["batch",-1,3,"num_attention_heads","hidden_size // num_attention_heads"]},{"function":"permute","dims":[2,0,3,1,4]},{"function":"chunk","dim":0,"output":["query","key","value"]},{"function":"squeeze","input":"query","dim":0},{"type":"Identity","name":"q_norm","output":"query"},{"function":"squeeze","input":"key","dim":0},{"type":"Identity","name":"k_norm","output":"key"},{"function":"squeeze","input":"value","dim":0,"output":"value"},{"type":"Dropout","name":"attn_drop","p":0,"idle":true},{"function":"scaled_dot_product_attention","input":["query","key","value"]},{"function":"transpose","dim0":1,"dim1":2},{"function":"reshape","shape":["batch",-1,"hidden_size"]},{"type":"Identity","name":"norm"},{"type":"Linear","name":"proj","in_features":"hidden_size","out_features":"hidden_size"},{"type":"Dropout","name":"proj_drop","p":0}]},"Mlp":{"layers":[{"type":"Linear","name":"fc1","in_features":"hidden_size","out_features":"4 * hidden_size"},{"type":"GELU","name":"act"},{"type":"Dropout","name":"drop1","p":0},{"type":"Identity","name":"norm"},{"type":"Linear","name":"fc2","in_features":"4 * hidden_size","out_features":"hidden_size"},{"type":"Dropout","name":"drop2","p":0}]},"Block":{"layers":[{"residual":[{"type":"LayerNorm","name":"norm1","normalized_shape":"hidden_size"},{"type":"Attention","name":"attn","role":"attn"},{"type":"Identity","name":"ls1"},{"type":"Identity","name":"drop_path1"}]},{"residual":[{"type":"LayerNorm","name":"norm2","normalized_shape":"hidden_size"},{"type":"Mlp","name":"mlp","role":"mlp"},{"type":"Identity","name":"ls2"},{"type":"Identity","name":"drop_path2"}]}]}},"layers":[{"if":"image_height != resolution or image_width != resolution","then":[{"refuse":"the model's images have the sides sizes.resolution, for whose patches it has positions"}]},{"type":"PatchEmbed","name":"patch_embed","role":"embedding","layers":[{"type":"Conv2d","name":"proj","in_channels":3,"out_channels":"hidden_size","kernel_size":"patch_size","stride":"patch_size"},{"function":"flatten","start_dim":2},{"function":"transpose","dim0":1,"dim1":2},{"type":"Identity","name":"norm"}],"output":"patches"},{"parameter":"cls_token","shape":[1,1,"hidden_size"],"output":"token"},{"parameter":"pos_embed","shape":[1,"patches + 1","hidden_size"],"output":"positions"},{"function":"expand","input":"token","shape":["batch",-1,-1],"output":"token"},{"function":"cat","input":["token","patches"],"dim":1},{"function":"add","input":["previous","positions"]},{"type":"Dropout","name":"pos_drop","p":0},{"type":"Identity","name":"patch_drop"},{"type":"Identity","name":"norm_pre"},{"type":"Sequential","name":"blocks","layers":[{"type":"Block","repeat":"num_hidden_layers"}]},{"type":"LayerNorm","name":"norm","normalized_shape":"hidden_size"},{"function":"select","dim":1},{"type":"Identity","name":"fc_norm"},{"type":"Dropout","name":"head_drop","p":0},{"type":"Linear","name":"head","role":"head","in_features":"hidden_size","out_features":"num_classes"}]})json"sv;

}  // namespace detail

/// Models of timm, each a variant of its family's description.
inline constexpr bundled_config bundled_timm[] = {
    {"timm/vit_base_patch16_224"sv, "timm 1.0.31"sv, detail::custom_model_timm_vit, 86567656, "vit_base_patch16_224"sv},
    {"timm/vit_base_patch16_384"sv, "timm 1.0.31"sv, detail::custom_model_timm_vit, 86859496, "vit_base_patch16_384"sv},
    {"timm/vit_base_patch32_224"sv, "timm 1.0.31"sv, detail::custom_model_timm_vit, 88224232, "vit_base_patch32_224"sv},
    {"timm/vit_huge_patch14_224"sv, "timm 1.0.31"sv, detail::custom_model_timm_vit, 632045800, "vit_huge_patch14_224"sv},
    {"timm/vit_large_patch16_224"sv, "timm 1.0.31"sv, detail::custom_model_timm_vit, 304326632, "vit_large_patch16_224"sv},
    {"timm/vit_small_patch16_224"sv, "timm 1.0.31"sv, detail::custom_model_timm_vit, 22050664, "vit_small_patch16_224"sv},
    {"timm/vit_small_patch32_224"sv, "timm 1.0.31"sv, detail::custom_model_timm_vit, 22878952, "vit_small_patch32_224"sv},
    {"timm/vit_tiny_patch16_224"sv, "timm 1.0.31"sv, detail::custom_model_timm_vit, 5717416, "vit_tiny_patch16_224"sv},
};
// clang-format on

}  // namespace llmcost
