// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/gemma4.hpp>
#include <llmcost/arch/gemma4_vision.hpp>
#include <llmcost/config/processor.hpp>
#include <llmcost/forward/composite.hpp>
#include <llmcost/forward/not_executed.hpp>
#include <llmcost/forward/per_layer_inputs.hpp>
#include <llmcost/forward/soft_token_images.hpp>

namespace llmcost::arch {

namespace gemma4_media_detail {

// ---- the audio encoder, declared but not executed with text alone

enum audio_config_index : std::uint8_t { first_channels, second_channels, kernel, out_width, clips_audio };

inline constexpr family_key audio_keys[]{
    {.default_value = 128, .type = family_key_type::computed},  // `subsampling_conv_channels`
    {.default_value = 32, .type = family_key_type::computed},  {"conv_kernel_size", 5}, {"output_proj_dims", 1536},
    {"use_clipped_linears", 1, family_key_type::boolean},
};

/// Declares a linear layer inside a module that can clip its input and output.
constexpr void clippable(const layer_context& ctx, not_executed_modules& m, literal name, std::int64_t in,
                         std::int64_t out) {
    m.module({name}, ctx.class_of("ClippableLinear"), [&] {
        if (ctx.config.family[clips_audio] != 0) m.buffer({4});  // limits of the input and of the output
        m.linear({"linear"}, in, out, false);
    });
}

constexpr void declare_audio_feed_forward(const layer_context& ctx, not_executed_modules& m, literal name) {
    const std::int64_t width = ctx.config.hidden_size;
    m.module(
        {name}, ctx.class_of("AudioFeedForward"),
        [&] {
            clippable(ctx, m, "ffw_layer_1", width, 4 * width);
            clippable(ctx, m, "ffw_layer_2", 4 * width, width);
            m.norm({"pre_layer_norm"}, width, ctx.class_of("RMSNorm"));
            m.norm({"post_layer_norm"}, width, ctx.class_of("RMSNorm"));
            m.act({"act_fn"}, ctx.config.hidden_act);
        },
        role::mlp);
}

/// Declares a conformer layer: half an MLP, local attention, a light convolution, half an MLP.
constexpr void audio_layer(const layer_context& ctx, not_executed_modules& m) {
    const std::int64_t width = ctx.config.hidden_size, d = ctx.config.head_dim, heads = ctx.config.num_attention_heads;
    const class_name rms = ctx.class_of("RMSNorm");
    declare_audio_feed_forward(ctx, m, "feed_forward1");
    declare_audio_feed_forward(ctx, m, "feed_forward2");
    m.module(
        {"self_attn"}, ctx.class_of("AudioAttention"),
        [&] {
            m.buffer({});  // `softcap`
            m.parameter("per_dim_scale", {d});
            for (const literal name : {"q_proj", "k_proj", "v_proj"}) clippable(ctx, m, name, width, heads * d);
            clippable(ctx, m, "post", width, width);
            m.linear({"relative_k_proj"}, width, heads * d, false);
        },
        role::attn);
    m.module({"lconv1d"}, ctx.class_of("AudioLightConv1d"), [&] {
        clippable(ctx, m, "linear_start", width, 2 * width);
        clippable(ctx, m, "linear_end", width, width);
        m.module_with_weight({"depthwise_conv1d"}, ctx.class_of("AudioCausalConv1d"),
                             {width, 1, ctx.config.family[kernel]}, false);
        m.norm({"pre_layer_norm"}, width, rms);
        m.norm({"conv_norm"}, width, rms);
        m.act({"act_fn"}, ctx.config.hidden_act);
    });
    for (const literal name : {"norm_pre_attn", "norm_post_attn", "norm_out"}) m.norm({name}, width, rms);
}

constexpr tensor audio_base(const layer_context& ctx, trace& t) {
    not_executed_modules m{t};
    const std::int64_t first = ctx.config.family[first_channels], second = ctx.config.family[second_channels];
    const auto sample = [&](literal name, std::int64_t in, std::int64_t out) {
        m.module({name}, ctx.class_of("AudioSubSampleConvProjectionLayer"), [&] {
            m.module_with_weight({"conv"}, {"", "Conv2d"}, {out, in, 3, 3}, false);
            m.layer_norm({"norm"}, out, false);
            m.module_without_parameters({"act"}, {"", "ReLU"});
        });
    };
    m.module({"subsample_conv_projection"}, ctx.class_of("AudioSubSampleConvProjection"), [&] {
        sample("layer0", 1, first);
        sample("layer1", first, second);
        m.linear({"input_proj_linear"}, first / 4 * second, ctx.config.hidden_size, false);
    });
    m.leaf_module({"rel_pos_enc"}, ctx.class_of("AudioRelPositionalEncoding"),
                  [&] { m.buffer({ctx.config.hidden_size / 2}); });  // `inv_timescales`
    m.list("layers", ctx.config.num_hidden_layers, ctx.class_of("AudioLayer"), [&] { audio_layer(ctx, m); });
    m.linear({"output_proj"}, ctx.config.hidden_size, ctx.config.family[out_width]);
    return trace::buffer({1});
}

}  // namespace gemma4_media_detail

/// Declares the projection of an encoder that is not executed to the text width.
constexpr void declare_gemma4_embedder(const layer_context& ctx, trace& t, literal name, std::int64_t in) {
    const recorder::not_executed_guard silent{t};
    (void)t.call(name, soft_token_images::media_embedder{ctx}, trace::buffer({1, in}));
}

/// Traces the text model in parts: token embeddings and per-layer inputs, then masks, then layers.
///
/// `place` inserts media features into the token embeddings. The embeddings without image tokens are computed for the
/// per-layer inputs, and are not read.
/// Source: `Gemma4Model.forward`.
template <class Place>
constexpr tensor forward_gemma4_language_model(const layer_context& ctx, trace& t, const Place& place) {
    const layer_context text = ctx.text_model();
    const module_info m{.name = "language_model", .class_of_module = text.class_of(text.spec.names.model_class)};
    const std::int64_t per_layer_width = text.config.family[gemma4_detail::input_width];
    t.enter(m);
    tensor x = text.spec.embed_tokens(text, t);
    tensor per_layer_inputs;
    if (per_layer_width != 0)
        per_layer_inputs =
            embed_per_layer_inputs(text, t, text.config.family[gemma4_detail::input_rows], per_layer_width);
    t.leave(m);
    if (per_layer_width != 0) {
        const recorder::detach_guard unread{t};
        (void)t.where(x, trace::buffer({1, 1, text.config.hidden_size}));
    }
    x = place(x);
    const decoder_inputs made = gemma4_detail::make_attention_masks(text, t);
    t.enter(m);
    const tensor inputs = per_layer_width != 0 ? projected_inputs(text, t, x, per_layer_inputs, false) : tensor{};
    const decoder_inputs shared = gemma4_detail::with_tables_of_kinds(text, t, made);
    return t.leave(m, gemma4_detail::forward_language_model(text, t, x, inputs, shared));
}

namespace gemma4_media_detail {

using soft_token_images::media_embedder, soft_token_images::within_tokens;

enum family_config_index : std::uint8_t { vision_output_proj_dims, audio_output_proj_dims };

inline constexpr family_key family_keys[]{{.type = family_key_type::computed}, {.type = family_key_type::computed}};

constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    if (load.images == 0) return {};
    if (m.family[vision_output_proj_dims] == 0) throw_description_error("this configuration has no vision encoder");
    const family_config& family = m.components[0].config.family;
    const std::int64_t step = family[patch_side] * family[pooled_side], side = load.image_height;
    if (side == 0) throw_description_error("this model accepts images of any size; use --image WIDTHxHEIGHT");
    const image_size to =
        within_tokens({side, load.image_width}, family[patch_side], family[pooled_side], family[soft_tokens]);
    const std::int64_t longest = to.height > to.width ? to.height : to.width;
    if (longest / family[patch_side] > family[places])
        throw_description_error("the image has more rows or columns than position embeddings");
    return {.image = {.num_tokens = (to.height / step) * (to.width / step), .height = to.height, .width = to.width}};
}

/// Traces the encoders that are present, then the text model.
constexpr tensor base(const layer_context& ctx, trace& t) {
    const bool has_eyes = ctx.model.family[vision_output_proj_dims] != 0,
               has_audio_encoder = ctx.model.family[audio_output_proj_dims] != 0;
    const tensor x = forward_gemma4_language_model(ctx, t, [&](const tensor& token_embeddings) {
        if (!has_eyes) return token_embeddings;
        const bool has_image_inputs = has_images(t);
        const recorder::not_executed_guard no_pixels{t, !has_image_inputs};
        const media_shape shape = has_image_inputs ? compute_media_shapes(ctx.model, t.load()).image : media_shape{};
        const recorder::workload_guard encoder_workload{
            t, image_workload(t.load(), has_image_inputs ? images_in(t) : 1, shape.height, shape.width)};
        const tensor states = forward_encoder_component(ctx, t, 0, "vision_tower", role::vision);
        return scatter_features(t, token_embeddings, t.call("embed_vision", media_embedder{ctx}, states));
    });
    if (has_audio_encoder) (void)forward_encoder_component(ctx, t, 1, "audio_tower", role::audio);
    if (has_audio_encoder) declare_gemma4_embedder(ctx, t, "embed_audio", ctx.model.family[audio_output_proj_dims]);
    return x;
}

// ---- configuration

constexpr void parse_vision_config(config_view json, model_config& config) {
    (void)checked_size(json, "patch_size", 3 * config.family[patch_side], config.family[patch_side]);
    const auto rope = json.optional_object("rope_parameters");
    const string_ref type = rope ? rope->string("rope_type", "axial") : string_ref("axial");
    if (type != "axial" && type != "default") throw_invalid_value(*rope, "rope_type", "\"axial\"");
}

constexpr void parse_audio_config(config_view json, model_config& config) {
    if (const auto channels = json.optional_array("subsampling_conv_channels")) {
        if (channels->size() < 2) throw_invalid_value(json, "subsampling_conv_channels", "two numbers of channels");
        config.family[first_channels] = (*channels)[0].as_positive();
        config.family[second_channels] = (*channels)[1].as_positive();
    }
    (void)checked_size(json, "hidden_size", 4, config.hidden_size);
}

inline constexpr submodel_spec part = [](model_spec spec) {
    spec.class_prefix = "Gemma4";
    spec.rotary = rotary_style::none;
    spec.supported_heads = {};
    spec.config_keys.add("attention_bias", key_rule::absent);
    return spec;
}(model_spec{});

inline constexpr submodel_spec vision = [](model_spec spec) {
    spec.model_type = "gemma4_vision";
    spec.base_model = vision_base;
    spec.parse_config = parse_vision_config;
    spec.family_keys = vision_keys;
    spec.names.model_class = "VisionModel";
    spec.config_keys.add("hidden_act", "hidden_activation", key_rule::family_name_only);
    spec.defaults.hidden_size = 768;
    spec.defaults.intermediate_size = 3072;
    spec.defaults.num_hidden_layers = 16;
    spec.defaults.num_attention_heads = spec.defaults.num_key_value_heads = 12;
    spec.defaults.head_dim = 64;
    spec.defaults.hidden_act = activation::gelu_pytorch_tanh;
    return spec;
}(part);

inline constexpr submodel_spec audio = [](model_spec spec) {
    spec.model_type = "gemma4_audio";
    spec.base_model = audio_base;
    spec.parse_config = parse_audio_config;
    spec.family_keys = audio_keys;
    spec.names.model_class = "AudioModel";
    spec.config_keys.add("head_dim", key_rule::absent);
    spec.config_keys.add("num_key_value_heads", key_rule::absent);
    spec.defaults.hidden_size = 1024;
    spec.defaults.num_hidden_layers = 12;
    spec.defaults.num_attention_heads = 8;
    return spec;
}(part);

}  // namespace gemma4_media_detail

/// Parses the soft cap of the logits from the text configuration.
constexpr void parse_gemma4_logits_cap(config_view json, model& m) {
    if (const auto text = json.optional_object("text_config"))
        m.config.logits_soft_cap = text->optional_real("final_logit_softcapping").has_value();
}

namespace gemma4_media_detail {

/// Parses `config.json`. Each encoder is optional.
constexpr void parse_config(config_view json, model& m) {
    parse_gemma4_logits_cap(json, m);
    if (const auto component_json = json.optional_object("vision_config")) {
        m.components[0] = {&vision, parse_sizes(vision, *component_json, true)};
        m.family[vision_output_proj_dims] =
            component_json->positive("output_proj_dims", m.components[0].config.hidden_size);
        m.components[0].config.family[soft_tokens] =
            json.positive("vision_soft_tokens_per_image", m.components[0].config.family[soft_tokens]);
    }
    if (const auto component_json = json.optional_object("audio_config")) {
        m.components[1] = {&audio, parse_sizes(audio, *component_json, true)};
        m.family[audio_output_proj_dims] = m.components[1].config.family[out_width];
    }
}

/// Parses the processor configuration, which limits the tokens per image.
constexpr void parse_processor_config(config_view json, model& m) {
    if (m.family[vision_output_proj_dims] == 0) return;
    family_config& tower = m.components[0].config.family;
    expect_patches(json, tower[patch_side], 1);
    expect_side(json, "pooling_kernel_size", tower[pooled_side], "the pooling_kernel_size of vision_config");
    tower[soft_tokens] = json.positive("max_soft_tokens", tower[soft_tokens]);
}

/// The text model inside the multimodal model, which creates only the masks that layers use.
inline constexpr submodel_spec text = [](model_spec spec) {
    spec.mask_policy = mask_kind::present;
    return spec;
}(gemma4_text);

}  // namespace gemma4_media_detail

// The multimodal model: optional vision and audio encoders before Gemma 4.
//
// Source: transformers/models/gemma4
inline constexpr model_spec gemma4 = [](model_spec spec) {
    spec.model_type = "gemma4";
    spec.class_prefix = "Gemma4";
    spec.base_model = gemma4_media_detail::base;
    spec.parse_composite_config = gemma4_media_detail::parse_config;
    spec.family_keys = gemma4_media_detail::family_keys;
    spec.compute_media_shapes = gemma4_media_detail::compute_media_shapes;
    spec.parse_image_processor = gemma4_media_detail::parse_processor_config;
    spec.modalities.has_images = true;
    spec.text_model = {.key = "text_config", .default_spec = &gemma4_media_detail::text, .ignores_model_type = true};
    spec.defaults.tie_word_embeddings = true;
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
