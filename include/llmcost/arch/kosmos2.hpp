// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/kosmos2_5.hpp>
#include <llmcost/config/image.hpp>
#include <llmcost/forward/latent_image_tokens.hpp>

namespace llmcost::arch {

namespace kosmos2_detail {

/// Words scaled, states of an image put among them in place, and sinusoidal positions, whose table grows with a text.
constexpr tensor embed(const layer_context& ctx, trace& t) {
    const workload& load = t.load();
    const std::int64_t width = ctx.config.hidden_size;
    tensor found = t.call("embed_tokens", embedding{ctx.config.vocab_size, width}, shape{load.batch, load.sequence});
    if (ctx.inputs != nullptr && ctx.inputs->family_tensors[0].rank > 0) {
        t.copy_into_slice(found, ctx.inputs->family_tensors[0]);
        t.add_to_encoder_cache(ctx.inputs->family_tensors[0]);
    }
    const tensor token_embeddings = t.mul_scalar(found);
    const module_info places{.name = "embed_positions",
                             .class_of_module = ctx.class_of("TextSinusoidalPositionalEmbedding"),
                             .is_leaf = true};
    t.enter(places);
    t.register_buffer({ctx.config.max_position_embeddings + 2, width}, t.activation_type());  // `weights`
    return t.add(token_embeddings, t.leave(places, t.full({load.batch, load.sequence, width}, t.activation_type())));
}

/// One mask for all texts, none for a single token (`_prepare_decoder_attention_mask`).
constexpr decoder_inputs prepare_inputs(const layer_context&, trace& t) {
    decoder_inputs made;
    made.full.pattern = attention_pattern_of(t, 0);
    const std::int64_t n = t.load().sequence, past = t.load().past;
    if (n == 1) return made;
    const tensor mask = t.full({n, n}, t.activation_type());
    made.full.mask = past > 0 ? t.cat({t.full({n, past}, t.activation_type()), mask}, -1) : mask;
    made.full.mask = made.full.mask.unsqueeze(0).unsqueeze(0).expand({t.load().batch, 1, n, past + n});
    return made;
}

/// Attention with a norm before its output projection.
struct attention {
    layer_context ctx;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {"Kosmos", "TextAttention"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size;
        query_key_value qkv;
        qkv.query = project(ctx, t, "q_proj", width, x);
        qkv.key = project(ctx, t, "k_proj", width, x);
        qkv.value = project(ctx, t, "v_proj", width, x);
        split_heads(ctx, qkv);
        transpose_heads(qkv);
        update_kv_cache(ctx, t, qkv);
        const tensor& mask = ctx.inputs->mask;
        const tensor mixed = attention_forward(t, qkv.query, qkv.key, qkv.value, ctx.inputs->pattern,
                                               {.mask = mask.rank > 0 ? &mask : nullptr});
        const tensor attention_output = t.contiguous(t.reshape(mixed, {x.dim(0), x.dim(1), -1}));
        return output_projection(ctx, t,
                                 t.call("inner_attn_ln", norm_module{norm_kind::layer, width}, attention_output));
    }
};

constexpr tensor token_mixer(const layer_context& ctx, trace& t, const tensor& x) {
    return t.call(ctx.spec.names.attention, attention{ctx}, x);
}

inline constexpr submodel_spec text = [](model_spec spec) {
    spec.class_prefix = "Kosmos2";
    spec.embed_tokens = embed;
    spec.prepare_inputs = prepare_inputs;
    spec.token_mixer = token_mixer;
    spec.defaults.vocab_size = 65037;
    spec.defaults.hidden_size = 2048;
    spec.defaults.intermediate_size = 8192;
    spec.defaults.num_attention_heads = 32;
    spec.defaults.max_position_embeddings = 2048;
    return spec;
}(kosmos2_5_text_decoder);

/// CLIP patches and layers; additionally normalizes the class token as the pooled output.
constexpr tensor tower_base(const layer_context& ctx, trace& t) {
    const std::int64_t width = ctx.config.hidden_size;
    const tensor pixels = pixel_values(ctx, t);
    const module_info inner{.name = "model", .class_of_module = ctx.class_of("VisionTransformer")};
    const module_info embeddings{
        .name = "embeddings", .class_of_module = ctx.class_of("VisionEmbeddings"), .module_role = role::embedding};
    const norm_module layer_norm{norm_kind::layer, width};
    t.enter(inner);
    t.enter(embeddings);
    const tensor token = t.param("class_embedding", {width});
    const tensor patches = embed_patches(ctx, t, "patch_embedding", false, pixels);
    const tensor tokens = t.cat({token.view({1, 1, width}).expand({pixels.dim(0), 1, width}), patches}, 1);
    const tensor places = learned_positions(t, "position_embedding", patches_of(ctx.config.vision) + 1, width);
    tensor x = t.leave(embeddings, t.add(tokens, places));
    x = encode(ctx, t, t.call("pre_layrnorm", layer_norm, x), "VisionEncoder");
    const recorder::detach_guard unread{t};
    (void)t.call("post_layernorm", layer_norm, t.select(x, 1));
    return t.leave(inner, x);
}

constexpr void parse_vision_config(config_view json, model_config& config) {
    parse_square_image(json, config, 224, 14);
    divide_by_heads(json, config, {"num_attention_heads"});
}

inline constexpr submodel_spec tower = [](model_spec spec) {
    spec.class_prefix = "Kosmos2";
    spec.base_model = tower_base;
    spec.parse_config = parse_vision_config;
    spec.supported_heads = {};
    spec.names.layer_class = "VisionEncoderLayer";
    spec.names.attention_class = "VisionAttention";
    spec.names.mlp_class = "VisionMLP";
    spec.defaults.hidden_size = 1024;
    spec.defaults.intermediate_size = 4096;
    spec.defaults.num_hidden_layers = 24;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.hidden_act = activation::quick_gelu;
    return spec;
}(shared_tower);

/// Projects image states: final norm of the vision encoder, L2 normalization, and cross-attention by learned queries.
constexpr tensor encode_images(const layer_context& ctx, trace& t) {
    const recorder::not_executed_guard no_pixels{t, !has_images(t)};
    const layer_context component_ctx = ctx.component(0);
    const module_info model{
        .name = "vision_model", .class_of_module = component_ctx.class_of("VisionModel"), .module_role = role::vision};
    const module_info inner{.name = "model", .class_of_module = component_ctx.class_of("VisionTransformer")};
    tensor x = forward_in_module(model, component_ctx.spec.base_model, component_ctx, t);
    {
        const recorder::shared_parameters_guard shared_parameters{t};
        t.enter(model);
        t.enter(inner);
        x = t.call("post_layernorm", norm_module{norm_kind::layer, component_ctx.config.hidden_size}, x);
        t.leave(inner, x);
        t.leave(model, x);
    }
    const latent_image_tokens::image_to_text resampler{ctx, {"Kosmos", "TextAttention"}, false};
    return t.call("image_to_text_projection", resampler, latent_image_tokens::over_length(t, x));
}

inline constexpr family_key family_keys[]{{"latent_query_num", 64}};

}  // namespace kosmos2_detail

// transformers/models/kosmos2: a decoder with norms inside of its blocks and its attention, CLIP's tower
inline constexpr model_spec kosmos_2 = [](model_spec spec) {
    spec.model_type = "kosmos-2";
    spec.class_prefix = "Kosmos2";
    spec.family_keys = kosmos2_detail::family_keys;
    spec.forward = latent_image_tokens::forward<kosmos2_detail::encode_images>;
    spec.text_model.default_spec = &kosmos2_detail::text;
    spec.components[0].default_spec = &kosmos2_detail::tower;
    return spec;
}(kosmos_2_5);

}  // namespace llmcost::arch
