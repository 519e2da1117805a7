// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/phi3.hpp>
#include <llmcost/walks/composite.hpp>
#include <llmcost/walks/idle.hpp>

namespace llmcost::arch {

namespace phi4_multimodal_detail {

enum vision_own : std::uint8_t { patch, channels, image };
inline constexpr own_key vision_keys[]{{"patch_size", 14}, {"num_channels", 3}, {"image_size", 448}};

constexpr void describe_vision_mlp(const site& here, idle_modules& held) {
    const std::int64_t in = here.dims.hidden_size, inner = here.dims.intermediate_size;
    held.within("mlp", here.type("VisionMLP"), [&] {
        held.act("activation_fn", here.dims.hidden_act);
        held.linear("fc1", in, inner);
        held.linear("fc2", inner, in);
    });
}

/// SigLIP's encoder with a head that pools by attention.
constexpr value see(const site& here, trace& t) {
    const own_sizes& own = here.dims.own;
    const std::int64_t in = here.dims.hidden_size, rows = own[image] / own[patch];
    idle_modules held{t};
    held.within("embeddings", here.type("VisionEmbeddings"), [&] {
        held.weighted("patch_embedding", {"", "Conv2d"}, {in, own[channels], own[patch], own[patch]});
        held.embedding("position_embedding", rows * rows, in);
    });
    held.within("encoder", here.type("VisionEncoder"), [&] {
        held.list("layers", here.dims.num_hidden_layers, here.type("VisionEncoderLayer"), [&] {
            held.layer_norm("layer_norm1", in);
            held.within("self_attn", here.type("VisionAttention"), [&] {
                for (const literal name : {"k_proj", "v_proj", "q_proj", "out_proj"}) held.linear(name, in, in);
            });
            held.layer_norm("layer_norm2", in);
            describe_vision_mlp(here, held);
        });
    });
    held.layer_norm("post_layernorm", in);
    held.within("head", here.type("VisionMultiheadAttentionPoolingHead"), [&] {
        held.tensor("probe", {1, 1, in});
        held.within("attention", {"", "MultiheadAttention"}, [&] {
            held.tensor("in_proj_weight", {3 * in, in});
            held.tensor("in_proj_bias", {3 * in});
            held.weighted("out_proj", {"", "NonDynamicallyQuantizableLinear"}, {in, in});
        });
        held.layer_norm("layernorm", in);
        describe_vision_mlp(here, held);
    });
    return {};
}

enum audio_own : std::uint8_t {
    wide_channels,
    apart_channels,
    times,
    kernel,
    mels,
    reduction,
    distance,
    symmetric,
    planes,
    rate,
    conv_act,
    glu_act,
    plane_act,
    final_mels
};
inline constexpr own_key audio_keys[]{
    {"ext_pw_out_channel", 1024},
    {"depthwise_separable_out_channel", 1024},
    {"depthwise_multiplier", 1},
    {"kernel_size", 3},
    {"input_size", 80},
    {"time_reduction", 8},
    {"bias_max_distance", 1000},
    {"bias_symmetric", 0, own_value::boolean},
    {"nemo_conv_channels", 1024},
    {"downsample_rate", 1},
    {.otherwise = static_cast<std::int64_t>(activation::swish), .value = own_value::computed},
    {.otherwise = static_cast<std::int64_t>(activation::swish), .value = own_value::computed},
    {.otherwise = static_cast<std::int64_t>(activation::relu), .value = own_value::computed},
    {.value = own_value::computed},  // what the convolutions leave of mel bins
};

constexpr void read_audio(config_view config, sizes& s) {
    const auto act = [&](literal key, audio_own place) {
        if (const auto name = config.optional_string(key))
            s.own[place] = static_cast<std::int64_t>(activation_named(config, key, *name));
    };
    act("conv_activation", conv_act), act("conv_glu_type", glu_act), act("nemo_activation", plane_act);
    if (s.own[reduction] % 2 != 0) fail_value(config, "time_reduction", "an even number");
    if (s.own[reduction] >= 128) fail_unsupported(config, "time_reduction", "no row describes more than 6 convolutions");
    s.own[final_mels] = s.own[mels];
    for (std::int64_t left = s.own[reduction]; left > 1; left /= 2) s.own[final_mels] = (s.own[final_mels] + 1) / 2;
    // a saved configuration says it, too, and counts (configuration_phi4_multimodal.py, `__post_init__`)
    s.own[final_mels] = config.positive("nemo_final_size", s.own[final_mels]);
    plan_one_mask(config, s);
}

constexpr activation act_of(const site& here, audio_own which) { return static_cast<activation>(here.dims.own[which]); }

constexpr void describe_feed_forward(const site& here, idle_modules& held, literal name) {
    const std::int64_t in = here.dims.hidden_size, inner = here.dims.intermediate_size;
    held.within(name, here.type("AudioMLP"), [&] {
        held.layer_norm("layer_norm", in);
        held.act("act_fn", here.dims.hidden_act);
        held.linear("gate_up_proj", in, 2 * inner);
        held.linear("down_proj", inner, in);
        held.plain("dropout", {"", "Dropout"});
    });
}

constexpr void describe_convolution(const site& here, idle_modules& held) {
    const own_sizes& own = here.dims.own;
    const std::int64_t in = here.dims.hidden_size, wide = own[wide_channels];
    const class_name conv{"", "Conv1d"};
    held.within("conv", here.type("AudioConvModule"), [&] {
        held.layer_norm("layer_norm", in);
        held.within("glu", here.type("AudioGluPointWiseConv"), [&] {
            held.tensor("b1", {1, wide, 1});
            held.tensor("b2", {1, wide, 1});
            held.weighted("ext_pw_conv_1d", conv, {2 * wide, in, 1});
            held.act("glu_act", act_of(here, glu_act));
        });
        held.within("dw_sep_conv_1d", here.type("AudioDepthWiseSeparableConv1d"), [&] {
            held.weighted("dw_conv", conv, {in * own[times], 1, own[kernel]});
            held.weighted("pw_conv", conv, {own[apart_channels], in * own[times], 1});
        });
        held.act("act", act_of(here, conv_act));
        held.weighted("ext_pw_conv_1d", conv, {wide, in, 1});
        held.plain("dropout", {"", "Dropout"});
    });
}

/// Convolutions that halve time and frequency; the activation between them is one module.
constexpr void describe_subsampling(const site& here, idle_modules& held) {
    const own_sizes& own = here.dims.own;
    const std::int64_t p = own[planes];
    held.act("act_fn", act_of(here, plane_act));
    held.within("conv", {"", "Sequential"}, [&] {
        constexpr literal names[][2]{{"0", ""}, {"2", "3"}, {"5", "6"}, {"8", "9"}, {"11", "12"}, {"14", "15"}};
        int i = 0;
        for (std::int64_t left = own[reduction]; left > 1; left /= 2, ++i) {
            held.weighted(names[i][0], {"", "Conv2d"}, {p, 1, 3, 3});
            if (i > 0) held.weighted(names[i][1], {"", "Conv2d"}, {p, p, 1, 1});
        }
    });
    held.linear("out", p * own[final_mels], here.dims.hidden_size);
}

/// A conformer over normed frames with learned biases of distances.
constexpr value hear(const site& here, trace& t) {
    const own_sizes& own = here.dims.own;
    const std::int64_t in = here.dims.hidden_size, heads = here.dims.num_attention_heads;
    const std::int64_t wide = heads * here.dims.head_dim;
    idle_modules held{t};
    held.plain("encoder_embedding", here.type("AudioMeanVarianceNormLayer"));
    held.within("embed", here.type("AudioNemoConvSubsampling"), [&] { describe_subsampling(here, held); });
    held.within("relative_attention_bias_layer", here.type("AudioRelativeAttentionBias"),
                [&] { held.embedding("bias_values", own[distance] * (own[symmetric] != 0 ? 1 : 2), heads); });
    held.list("encoders", here.dims.num_hidden_layers, here.type("AudioConformerEncoderLayer"), [&] {
        describe_feed_forward(here, held, "feed_forward_in");
        held.within("self_attn", here.type("AudioAttention"), [&] {
            for (const literal name : {"q_proj", "k_proj", "v_proj"}) held.linear(name, in, wide);
            held.linear("o_proj", wide, in);
        });
        describe_convolution(here, held);
        describe_feed_forward(here, held, "feed_forward_out");
        held.layer_norm("layer_norm_att", in);
        held.layer_norm("layer_norm", in);
    });
    return {};
}

/// What sees and what hears, each with its projections.
constexpr void describe_towers(const site& here, trace& t, idle_modules& held) {
    const site vision = here.component(0), audio = here.component(1);
    const std::int64_t out = here.dims.hidden_size, seen = vision.dims.hidden_size;
    const std::int64_t heard = audio.dims.hidden_size * audio.dims.own[rate];
    held.within("image_embed", here.type("ImageEmbedding"), [&] {
        held.tensor("global_img_feature_extensor", {1, 1, seen});
        held.tensor("sub_img_feature_extensor", {1, 1, 1, seen});
        if (vision.dims.own[image] / vision.dims.own[patch] % 2 != 0)
            held.plain("img_processor_padding", {"", "ReflectionPad2d"});
        held.plain("drop", {"", "Dropout"});
        (void)describe_tower(here, t, 0, "img_processor", role::vision);
        held.plain("image_token_compression", {"", "AvgPool2d"});
        held.linear("img_projection_up", seen, out);
        held.linear("img_projection_down", out, out);
    });
    held.within("audio_embed", here.type("AudioEmbedding"), [&] {
        held.plain("drop", {"", "Dropout"});
        (void)describe_tower(here, t, 1, "encoder", role::audio);
        held.linear("up_proj_for_speech", heard, out);
        held.linear("down_proj_for_speech", out, out);
        held.linear("up_proj_for_vision_speech", heard, out);
        held.linear("down_proj_for_vision_speech", out, out);
    });
}

/// The text model is the model itself: what sees and hears stands beside its layers.
constexpr value base(const site& here, trace& t) {
    const site text = here.text();
    const value x = text.row.base(text, t);
    idle_modules held{t};
    held.plain("embed_dropout", {"", "Dropout"});
    held.within("embed_tokens_extend", here.type("FeatureEmbedding"), [&] { describe_towers(here, t, held); });
    return x;
}

}  // namespace phi4_multimodal_detail

// transformers/models/phi4_multimodal, Phi4MultimodalConfig: its text model is Phi-3
inline constexpr architecture phi4_multimodal_text = [](architecture a) {
    a.model_type = "phi4_multimodal", a.prefix = "Phi4Multimodal";
    a.defaults.vocab_size = 200064, a.defaults.num_key_value_heads = 8;
    a.defaults.max_position_embeddings = 131072;
    return a;
}(phi3);

// transformers/models/phi4_multimodal, Phi4MultimodalVisionConfig
inline constexpr architecture phi4_multimodal_vision{
    .model_type = "phi4_multimodal_vision",
    .prefix = "Phi4Multimodal",
    .base = phi4_multimodal_detail::see,
    .own = phi4_multimodal_detail::vision_keys,
    .rotated = rotation::none,
    .names = {.model_type = "VisionModel"},
    .defaults = {.hidden_size = 1152,
                 .intermediate_size = 4304,
                 .num_hidden_layers = 27,
                 .num_attention_heads = 16,
                 .hidden_act = activation::gelu_pytorch_tanh},
};

// transformers/models/phi4_multimodal, Phi4MultimodalAudioConfig
inline constexpr architecture phi4_multimodal_audio{
    .model_type = "phi4_multimodal_audio",
    .prefix = "Phi4Multimodal",
    .base = phi4_multimodal_detail::hear,
    .read = phi4_multimodal_detail::read_audio,
    .own = phi4_multimodal_detail::audio_keys,
    .rotated = rotation::none,
    .names = {.model_type = "AudioModel"},
    .keys = {{"num_hidden_layers", "num_blocks", key_rule::written_only},
             {"hidden_act", "activation", key_rule::written_only}},
    .defaults = {.hidden_size = 1024,
                 .intermediate_size = 1536,
                 .num_hidden_layers = 24,
                 .num_attention_heads = 16,
                 .hidden_act = activation::swish},
};

// transformers/models/phi4_multimodal: the text model's keys stand at the root
inline constexpr architecture phi4_multimodal = [](architecture a) {
    a.model_type = "phi4_multimodal", a.prefix = "Phi4Multimodal", a.base = phi4_multimodal_detail::base;
    a.heads = language_heads, a.defaults.head = head_kind::causal_lm;
    a.text = {.key = "text_config", .otherwise = &phi4_multimodal_text, .always = true, .flat = true};
    a.beside[0] = {.key = "vision_config", .otherwise = &phi4_multimodal_vision, .always = true};
    a.beside[1] = {.key = "audio_config", .otherwise = &phi4_multimodal_audio, .always = true};
    return a;
}(shared_composite);

}  // namespace llmcost::arch
