// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/opt.hpp>
#include <llmcost/arch/t5.hpp>
#include <llmcost/config/image.hpp>
#include <llmcost/forward/composite.hpp>
#include <llmcost/forward/multimodal.hpp>
#include <llmcost/forward/opt_decoder.hpp>
#include <llmcost/forward/qformer.hpp>
#include <llmcost/forward/t5_stacks.hpp>
#include <llmcost/forward/vision_encoder.hpp>

// BLIP-2. A vision encoder and a Q-Former before OPT or T5.
//
// Source: transformers/models/blip_2

namespace llmcost::arch {

namespace blip_2_detail {

using qformer::forward_qformer_encoder, qformer::queries;

/// Bidirectional attention from a fused projection. Each of queries, keys and values is selected separately.
constexpr tensor attend_packed(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = ctx.config.hidden_size, heads = ctx.config.num_attention_heads, d = width / heads;
    const tensor all = t.call("qkv", linear{width, 3 * width, ctx.config.attention_bias}, x);
    const tensor qkv_heads = t.reshape(all, {x.dim(0), x.dim(1), 3, heads, d}).permute({2, 0, 3, 1, 4});
    const tensor q = t.select(qkv_heads, 0), k = t.select(qkv_heads, 0), v = t.select(qkv_heads, 0);
    const tensor mixed = attention_forward(t, q, k, v, full_pattern(x.dim(1)).pattern, {});
    return t.call("projection", linear{width, width, true}, t.contiguous(t.reshape(mixed, {x.dim(0), x.dim(1), -1})));
}

/// Vision encoder: class token, patches, positions, layers, final norm. The pooled class token is computed but not
/// read.
constexpr tensor tower_base(const layer_context& ctx, trace& t) {
    const std::int64_t width = ctx.config.hidden_size, places = patches_of(ctx.config.vision) + 1;
    const tensor pixels = pixel_values(ctx, t);
    const module_info embeddings{
        .name = "embeddings", .class_of_module = ctx.class_of("VisionEmbeddings"), .module_role = role::embedding};
    const norm_module layer_norm{norm_kind::layer, width};
    t.enter(embeddings);
    const tensor token = t.param("class_embedding", {1, 1, width});
    const tensor learned = t.param("position_embedding", {1, places, width});
    const tensor patches = embed_patches(ctx, t, "patch_embedding", true, pixels);
    const tensor tokens = t.cat({token.expand({pixels.dim(0), 1, width}), patches}, 1);
    const tensor x = encode(ctx, t, t.leave(embeddings, t.add(tokens, t.slice(learned, 1, places))));
    const tensor out = t.call("post_layernorm", layer_norm, x);
    const recorder::detach_guard unread{t};
    const recorder::shared_parameters_guard shared_parameters{t};
    (void)t.call("post_layernorm", layer_norm, t.select(out, 1));
    return out;
}

constexpr void parse_vision_config(config_view json, model_config& config) {
    parse_square_image(json, config, 224, 14);
    divide_by_heads(json, config, {"num_attention_heads"});
    config.attention_bias = json.boolean("qkv_bias", true);
}

inline constexpr family_key family_keys[]{{"num_query_tokens", 32}};

/// Traces the Q-Former for the learned queries, after dropout and norm. Returns the query states.
constexpr tensor query(const layer_context& ctx, trace& t, const tensor& features) {
    const layer_context qformer_ctx = ctx.component(1);
    const std::int64_t n = ctx.model.family[queries], width = qformer_ctx.config.hidden_size;
    const tensor learned = t.param("query_tokens", {1, n, width}).expand({features.dim(0), n, width});
    const module_info model{.name = "qformer", .class_of_module = qformer_ctx.class_of("QFormerModel")};
    t.enter(model);
    const tensor first = dropout(t, "dropout", t.call("layernorm", norm_module{norm_kind::layer, width}, learned));
    return t.leave(model, forward_qformer_encoder(qformer_ctx, t, first, features, n));
}

/// Traces OPT with its head. `place` inserts the image features into the token embeddings.
///
/// The multimodal model creates the mask in the first pass. Later, `generate` calls the text model alone.
template <class Place>
constexpr tensor forward_opt(const layer_context& text, trace& t, const Place& place) {
    const module_info model_info{.name = "language_model", .class_of_module = text.class_of("ForCausalLM")};
    const module_info model{.name = "model", .class_of_module = text.class_of("Model")};
    const module_info decoder{.name = "decoder", .class_of_module = text.class_of("Decoder")};
    t.enter(model_info);
    t.enter(model);
    t.enter(decoder);
    tensor x = opt_decoder::embed_input_ids(text, t);
    t.leave(decoder, x);
    t.leave(model, x);
    t.leave(model_info, x);
    x = place(x);
    t.enter(model_info);
    t.enter(model);
    t.enter(decoder);
    x = opt_decoder::decode(text, t, x, t.load().past == 0);
    t.leave(decoder, x);
    t.leave(model, x);
    return t.leave(model_info, t.select_model_output(x, forward_head(text, t, x)));
}

/// Traces T5 with its head. `place` inserts the image features into the encoder's token embeddings.
template <class Place>
constexpr tensor forward_t5(const layer_context& text, trace& t, const Place& place) {
    const module_info model_info{.name = "language_model",
                                 .class_of_module = text.class_of("ForConditionalGeneration")};
    tensor token_embeddings;
    {
        const recorder::not_executed_guard done{t, is_encoder_cached(t.load())};
        t.enter(model_info);
        const embedding table{text.config.vocab_size, text.config.hidden_size};
        token_embeddings =
            t.leave(model_info, t.call("shared", table, shape{t.load().batch, encoder_length(t.load())}));
        token_embeddings = place(token_embeddings);
    }
    t.enter(model_info);
    const tensor x = t5_stacks::forward_with_inputs_embeds(text, t, &token_embeddings);
    return t.leave(model_info, t.select_model_output(x, t5_stacks::compute_logits(text, t, x)));
}

constexpr void parse_config(config_view json, model& m) {
    if (m.text_spec != &opt && m.text_spec != &t5)
        throw_unsupported(json, "text_config", "unsupported text model; expected OPT or T5");
    if (m.text_spec == &t5) m.config.tie_word_embeddings = true;  // T5Config overrides the key
}

}  // namespace blip_2_detail

/// Traces the vision encoder, the Q-Former and the text model (OPT or T5).
template <tensor (*Query)(const layer_context&, trace&, const tensor&), std::int64_t Frames = 1>
constexpr tensor forward_blip_2(const layer_context& ctx, trace& t) {
    const module_info model_info{.class_of_module = ctx.class_of(name_of(ctx.config.head))};
    const layer_context text = ctx.text_model();
    t.enter(model_info);
    const auto place = [&](const tensor& x) {
        const recorder::not_executed_guard no_pixels{t, !has_images(t)};
        const recorder::workload_guard encoder_workload{t, image_workload(t.load(), images_in(t) * Frames, 0, 0)};
        const tensor features = forward_encoder_component(ctx, t, 0, "vision_model", role::vision);
        const tensor found = Query(ctx, t, features);
        const projector_linear projection{ctx.component(1).config.hidden_size, ctx.config.hidden_size, true};
        return t.masked_scatter(x, t.call("language_projection", projection, found));
    };
    return t.leave(model_info, ctx.model.text_spec == &opt ? blip_2_detail::forward_opt(text, t, place)
                                                           : blip_2_detail::forward_t5(text, t, place));
}

inline constexpr submodel_spec blip_2_qformer = [](model_spec spec) {
    spec.class_prefix = "Blip2";
    spec.family_keys = qformer::former_keys;
    spec.supported_heads = {};
    spec.parse_config = qformer::plan_former;
    spec.supported_layers.max_family_tag = qformer::crosses;
    spec.defaults.hidden_act = activation::gelu;
    return spec;
}(shared_tower);

inline constexpr submodel_spec blip_2_vision_encoder = [](model_spec spec) {
    spec.class_prefix = "Blip2";
    spec.base_model = blip_2_detail::tower_base;
    spec.parse_config = blip_2_detail::parse_vision_config;
    spec.attention = blip_2_detail::attend_packed;
    spec.supported_heads = {};
    spec.names.attention_class = "Attention";
    spec.names.mlp_class = "MLP";
    spec.defaults.hidden_size = 1408;
    spec.defaults.intermediate_size = 6144;
    spec.defaults.num_hidden_layers = 39;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.hidden_act = activation::gelu;
    return spec;
}(shared_tower);

inline constexpr model_spec blip_2 = [](model_spec spec) {
    spec.model_type = "blip-2";
    spec.class_prefix = "Blip2";
    spec.forward = forward_blip_2<blip_2_detail::query>;
    spec.family_keys = blip_2_detail::family_keys;
    spec.compute_media_shapes = qformer::compute_media_shapes;
    spec.modalities.has_images = spec.feeds_media_to_encoder = true;
    spec.parse_composite_config = blip_2_detail::parse_config;
    spec.supported_heads = {head_kind::conditional_generation};
    spec.text_model = {.key = "text_config", .default_spec = &opt, .ties_embeddings = true, .additional_spec = &t5};
    spec.components[0] = {.key = "vision_config", .default_spec = &blip_2_vision_encoder, .ignores_model_type = true};
    spec.components[1] = {.key = "qformer_config", .default_spec = &blip_2_qformer, .ignores_model_type = true};
    spec.config_keys.add("tie_word_embeddings", key_rule::absent);
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
