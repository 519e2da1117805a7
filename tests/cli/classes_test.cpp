// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <utility>

using namespace llmcost::testing;

// Configurations that name a class or an architecture, and images of other sizes than a configuration says.

TEST_CASE("a configuration of diffusers is read by the description of its class") {
    const auto flux = [](const std::string& extra_keys) {
        return R"({"_class_name": "FluxTransformer2DModel", "_diffusers_version": "0.30.0", "guidance_embeds": true)" +
               extra_keys + "}";
    };
    // what diffusers' repositories have in all, as published
    CHECK(printed("--config - --format csv params", {.in = flux("")}) == "scope,params\nall,11901408320\n");
    for (const auto& [name, parameters] : {std::pair{"black-forest-labs/FLUX.1-dev", "11901408320"},
                                           {"stable-diffusion-v1-5/stable-diffusion-v1-5", "859520964"},
                                           {"stabilityai/stable-diffusion-xl-base-1.0", "2567463684"},
                                           {"stabilityai/stable-diffusion-3-medium", "2028328000"}})
        CHECK(printed("--format csv params --model " + std::string(name)) ==
              "scope,params\nall," + std::string(parameters) + "\n");
    // an image of 1024 x 1024 adds 4096 tokens to those of the text
    CHECK(has(printed("--config - --sequence 512", {.in = flux("")}),
              "input hidden_states 1 × 4,096 × 64 · encoder_hidden_states 1 × 512 × 4,096\n"));
    const std::string products = "--config - --sequence 512 --format csv mult single_transformer_blocks.0.attn.to_q";
    CHECK(printed(products, {.in = flux("")}) == "scope,mult\nsingle_transformer_blocks.0.attn.to_q," +
                                                     std::to_string(std::int64_t{4096 + 512} * 3072 * 3072) + "\n");
    CHECK(printed(products + " --image 512x256", {.in = flux("")}) ==
          "scope,mult\nsingle_transformer_blocks.0.attn.to_q," + std::to_string(std::int64_t{512 + 512} * 3072 * 3072) +
              "\n");
    CHECK(printed("--config - --set num_layers=1 --set sizes.vae_scale_factor=16 --sequence 512 --format csv params",
                  {.in = flux("")}) == printed("--config - --format csv params", {.in = flux(R"(, "num_layers": 1)")}));
    const auto error_of = [](const std::string& config) { return refused("--config -", {.in = config}, 3); };
    CHECK(has(error_of(R"({"_class_name": "FluxTransformer3DModel"})"),
              "unsupported class \"FluxTransformer3DModel\"; nearest: FluxTransformer2DModel"));
    CHECK(has(error_of(flux(R"(, "num_layer": 3)")), "/num_layer: unsupported key; nearest: num_layers"));
    CHECK(has(error_of(R"({"_class_name": "UNet2DConditionModel", "class_embed_type": "timestep"})"),
              "/class_embed_type: expected null, found \"timestep\""));
    CHECK(has(error_of(R"({"_class_name": "UNet2DConditionModel", "down_block_types": ["DownBlock3D"]})"),
              "/down_block_types/0: unsupported value; nearest: DownBlock2D"));
    CHECK(has(error_of(R"({"_class_name": "UNet2DConditionModel", "mid_block_type": null})"),
              "/mid_block_type: null is not supported"));
    CHECK(has(error_of(R"({"_class_name": "UNet2DConditionModel", "layers_per_block": 2.5})"),
              "/layers_per_block: expected an integer"));
    CHECK(has(refused("--model facebook/DiT-XL-2-256 --image 512x512", {}, 3), "the model's images have the sides"));
}

TEST_CASE("a configuration of timm is read by its architecture") {
    const auto timm = [](const std::string& name, const std::string& extra_keys = "") {
        return R"({"architecture": ")" + name +
               R"(", "num_classes": 1000, "num_features": 2048, "global_pool": "avg")" + extra_keys + "}";
    };
    const auto all = [](const std::string& query, const std::string& config) {
        return printed("--config - --format csv " + query, {.in = config});
    };
    CHECK(all("params", timm("resnet50")) == "scope,params\nall,25557032\n");
    CHECK(all("mult", timm("resnet50")) == printed("--model torchvision/resnet50 --format csv mult"));
    CHECK(all("params", timm("convnext_tiny", R"(, "pretrained_cfg": {"input_size": [3, 288, 288]})")) ==
          "scope,params\nall,28589128\n");
    CHECK(all("mult", timm("convnext_tiny", R"(, "pretrained_cfg": {"input_size": [3, 288, 288]})")) ==
          printed("--model torchvision/convnext_tiny --image 288x288 --format csv mult"));
    CHECK(all("params", timm("vit_base_patch16_224")) == "scope,params\nall,86567656\n");
    CHECK(printed("--model timm/vit_base_patch16_224 --format csv params") == "scope,params\nall,86567656\n");
    const auto error_of = [](const std::string& config) { return refused("--config -", {.in = config}, 3); };
    CHECK(
        has(error_of(timm("resnet51")), "/architecture: unsupported timm architecture \"resnet51\"; nearest: resnet5"));
    CHECK(has(error_of(timm("resnet50", R"(, "model_args": {"in_chans": 1})")), "/model_args: expected no arguments"));
    CHECK(has(error_of(timm("resnet50", R"(, "pretrained_cfg": {"input_size": [1, 32, 32]})")),
              "/pretrained_cfg/input_size: expected 3 channels"));
    CHECK(
        has(refused("--model timm/vit_base_patch16_224 --image 384x384", {}, 3), "for whose patches it has positions"));
}

TEST_CASE("images of another size are taken by models whose reference takes them") {
    const auto mult = [](const std::string& type, const std::string& extra_keys) {
        return printed("--config - --format csv mult " + extra_keys, {.in = R"({"model_type": ")" + type + R"("})"});
    };
    CHECK(mult("resnet", "--image 224x224") == mult("resnet", ""));
    CHECK(mult("resnet", "--image 448x448") != mult("resnet", ""));
    CHECK(has(refused("--config - --image 448x448", {.in = R"({"model_type": "vit"})"}),
              "this model require its image size (224x224)"));
    CHECK(has(refused("--config - --image 448x448", {.in = R"({"model_type": "llama"})"}),
              "this model has no image input"));
}

TEST_CASE("a prompt shows images, and says what became of them") {
    const std::string qwen = "--model Qwen/Qwen2.5-VL-7B-Instruct --sequence 64 ";
    // 1920 x 1080 are 1932 x 1092 in multiples of 28: 69 x 39 tokens
    CHECK(has(printed(qwen + "--image 1920x1080"),
              "1 image of 1,920 \u00d7 1,080, resized to 1,932 \u00d7 1,092: 2,691 tokens\n"));
    CHECK(has(printed(qwen + "--image 1920x1080"), "sequence 64 + 2,691 multimodal"));
    CHECK(has(printed(qwen + "--image 1920x1080 --images 2 --format json"), "\"image_tokens\": 5382"));
    CHECK(has(printed(qwen + "--set preprocessor_config.max_pixels=1003520 --image 1920x1080 --format json"),
              "\"image_tokens\": 1222"));
    // images in the past: the step is that of a text as long
    const auto step = [](const std::string& extra_keys) {
        return printed("--model Qwen/Qwen2.5-VL-7B-Instruct --sequence 1 --past 500 --format csv flops " + extra_keys);
    };
    CHECK(step("--image 448x448") == step(""));
    CHECK(has(refused(qwen + "--images 1"), "--image WIDTHxHEIGHT"));
    CHECK(has(refused(qwen + "--image 9000x40"), "the aspect ratio exceeds 200"));
    CHECK(has(refused(qwen + "--image 448"), "expected WxH, e.g. 640x480, found '448'"));
    CHECK(has(refused(qwen + "--audio 30"), "this model has no audio input"));
    CHECK(has(refused(qwen + "--videos 1"), "requires --video"));
    CHECK(
        has(refused("--model Qwen/Qwen2.5-VL-7B-Instruct --sequence 0 --image 448x448"), "this model has text input"));
}

TEST_CASE("sound is heard in whole windows") {
    const std::string whisper = "--model openai/whisper-large-v3 --sequence 4 --format csv mult ";
    CHECK(printed(whisper + "--audio 30") == printed(whisper));
    CHECK(printed(whisper + "--audio 5.5") == printed(whisper + "--audio 30"));
    CHECK(has(printed("--model openai/whisper-large-v3 --audio 30 --sequence 4"), "30 s of sound, 3,000 frames"));
    CHECK(has(refused("--model openai/whisper-large-v3 --audio 1.00001"), "expected at most three decimal places"));
}
