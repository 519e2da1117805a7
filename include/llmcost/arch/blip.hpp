// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/chinese_clip.hpp>
#include <llmcost/forward/encoder_decoder.hpp>

namespace llmcost::arch {

namespace blip_detail {

enum family_config_index : std::uint8_t { projection };
inline constexpr family_key family_keys[]{{"projection_dim", 512}};

/// Bidirectional attention over all patches from a fused projection, with a dropout module between softmax and values.
constexpr tensor attend_patches(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t batch = x.dim(0), n = x.dim(1), width = ctx.config.hidden_size,
                       heads = ctx.config.num_attention_heads;
    const tensor all = t.call("qkv", linear{width, 3 * width, true}, x);
    const tensor split = t.reshape(all, {batch, n, 3, heads, width / heads}).permute({2, 0, 3, 1, 4});
    const tensor q = t.select(split, 0), k = t.select(split, 0), v = t.select(split, 0);
    tensor mixed;
    {
        const recorder::fused_kernel_guard fused{t, fused_attention_kernel(q, heads, full_pattern(n).pattern, n)};
        const tensor scores = t.softmax(t.mul_scalar(t.matmul(q, k.transpose(-1, -2))));
        mixed = t.matmul(dropout(t, "dropout", scores, dropout_position::attention), v).permute({0, 2, 1, 3});
    }
    return t.call("projection", linear{width, width, true}, t.reshape(mixed, {batch, n, width}));
}

/// Vision encoder: class token and patches, layers, final norm. The pooled output is the class token after the same
/// norm again.
constexpr tensor_pair states_and_pool(const layer_context& ctx, trace& t, bool reads_pool) {
    const std::int64_t width = ctx.config.hidden_size, positions = patches_of(ctx.config.vision) + 1;
    const tensor pixels = pixel_values(ctx, t);
    const module_info embeddings{
        .name = "embeddings", .class_of_module = ctx.class_of("VisionEmbeddings"), .module_role = role::embedding};
    t.enter(embeddings);
    const tensor token = t.param("class_embedding", {1, 1, width});
    const tensor places = t.param("position_embedding", {1, positions, width});
    const tensor patches = embed_patches(ctx, t, "patch_embedding", true, pixels);
    tensor x = t.cat({token.expand({pixels.dim(0), 1, width}), patches}, 1);
    x = t.leave(embeddings, t.add(x, t.slice(places, 1, positions)));
    const norm_module layer_norm{norm_kind::layer, width};
    x = t.call("post_layernorm", layer_norm, encode(ctx, t, x));
    const recorder::detach_guard unread{t, !reads_pool};
    const recorder::shared_parameters_guard shared_parameters{t};
    return {x, t.call("post_layernorm", layer_norm, t.select(x, 1))};
}

/// Sums word and position embeddings (in place) and applies the norm.
constexpr tensor sum_embeddings(const layer_context& ctx, trace& t) {
    register_position_ids(ctx, t);
    tensor x = word_embeddings(ctx, t);
    t.add_(x, position_embeddings(ctx, t));
    return norm_embeddings(ctx, t, x);
}
constexpr tensor embed(const layer_context& ctx, trace& t) { return embed_in_module(ctx, t, sum_embeddings); }

/// Returns true if the text model is a decoder with cross-attention to the image (conditional generation).
[[nodiscard]] constexpr bool writes(const layer_context& ctx) noexcept {
    return ctx.config.head == head_kind::conditional_generation;
}

constexpr decoder_inputs prepare_inputs(const layer_context& ctx, trace& t) {
    decoder_inputs c;
    c.full.pattern = full_pattern(t.load().sequence).pattern;
    if (writes(ctx)) {
        c.full.pattern = attention_pattern_of(t, 0);
        c.full.mask = eager_mask(t, c.full.pattern, t.load().batch);
    }
    if (ctx.inputs != nullptr) c.full.family_tensors[0] = ctx.inputs->family_tensors[0];
    return c;
}

constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const bidirectional_pattern reach = bert_layers::bidirectional_pattern_of(ctx);
    tensor q, k, v;
    project_to_heads(t, x, ctx.config.hidden_size, ctx.config.num_attention_heads, {}, q, k, v);
    if (reach.pattern.is_causal) {
        k = update_kv_cache(t, k, reach.pattern);
        v = update_kv_cache(t, v, reach.pattern);
    }
    return divided_score_attention(t, q, k, v, reach);
}

/// Cross-attention to the image states. After the first pass, the KV cache provides its keys and values.
struct cross_self {
    const layer_context& ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("SelfAttention"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor& source = ctx.inputs->family_tensors[0];
        const std::int64_t width = ctx.config.hidden_size, heads = ctx.config.num_attention_heads, d = width / heads;
        const auto split = [&](literal name, const tensor& states) {
            const tensor all = t.call(name, linear{states.dim(2), width, true}, states);
            return all.view({states.dim(0), states.dim(1), heads, d}).transpose(1, 2);
        };
        const tensor q = split("query", x);
        const attention_pattern cross_pattern{.query_length = source.dim(1), .is_causal = false};
        const bool from_cache = is_encoder_cached(t.load());
        tensor k, v;
        {
            const recorder::not_executed_guard unused{t, from_cache};
            k = split("key", source);
            v = split("value", source);
        }
        if (from_cache) {
            k = v = trace::buffer({x.dim(0), heads, source.dim(1), d});
            t.add_to_cache(k);
            t.add_to_cache(v);
        } else {
            k = update_kv_cache(t, k, cross_pattern);
            v = update_kv_cache(t, v, cross_pattern);
        }
        return divided_score_attention(t, q, k, v, {.pattern = cross_pattern});
    }
};
struct cross_block {
    const layer_context& ctx;

    static constexpr role module_role = role::cross_attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Attention"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size;
        const tensor h = t.call("self", cross_self{ctx}, x);
        return t.call("output", bert_layers::output_block{width, width, ctx.class_of("SelfOutput")}, h, x);
    }
};

/// BERT layer, with cross-attention to the image in a decoder. Otherwise the cross-attention is declared but not
/// executed.
constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const tensor a = t.call("attention", bert_layers::attention_block{ctx}, x);
    if (!ctx.config.is_causal) return bert_mlp(ctx, t, a);
    if (writes(ctx)) return bert_mlp(ctx, t, t.call("crossattention", cross_block{ctx}, a));
    {
        const recorder::not_executed_guard no_image{t};
        attention_inputs no_inputs = *ctx.inputs;
        no_inputs.family_tensors[0] = trace::buffer({x.dim(0), 1, ctx.component(0).config.hidden_size});
        layer_context cross_ctx = ctx;
        cross_ctx.inputs = &no_inputs;
        (void)t.call("crossattention", cross_block{cross_ctx}, a);
    }
    return bert_mlp(ctx, t, a);
}

/// Similarity logits of every text and image.
constexpr tensor forward_image_text_model(const layer_context& ctx, trace& t) {
    const module_info model_info{.class_of_module = ctx.class_of("Model")};
    const layer_context text = ctx.text_model(), tower = ctx.component(0);
    const std::int64_t width = ctx.model.family[projection];
    t.enter(model_info);
    const tensor scale = t.param("logit_scale", {});
    const tensor first =
        forward_pooled_text(ctx, t, [&] { return pool_first_token(text, t, text.spec.base_model(text, t)); });
    const tensor image = forward_pooled_images(ctx, t, [&] { return states_and_pool(tower, t, true).second; });
    const tensor features = t.call("visual_projection", projector_linear{tower.config.hidden_size, width}, image);
    const tensor read = t.call("text_projection", projector_linear{text.config.hidden_size, width}, first);
    const tensor image_embeds = normalize_l2(t, features), text_embeds = normalize_l2(t, read);
    const tensor factor = t.exp(scale);
    return t.leave(model_info, t.mul(t.matmul(text_embeds, image_embeds.transpose(0, 1)), factor));
}

/// Image captioning: a text decoder with cross-attention to the image states.
constexpr tensor forward_conditional_generation(const layer_context& ctx, trace& t) {
    const module_info model_info{.class_of_module = {ctx.spec.class_prefix, name_of(ctx.config.head)}};
    t.enter(model_info);
    attention_inputs read;
    {
        const recorder::not_executed_guard done{t, is_encoder_cached(t.load())};
        const layer_context tower = ctx.component(0);
        read.family_tensors[0] = forward_pooled_images(ctx, t, [&] { return states_and_pool(tower, t, false).first; });
    }
    const layer_context plain = ctx.text_model(), text{plain.model, plain.spec, plain.config, &read};
    const module_info decoder{
        .name = "text_decoder", .class_of_module = text.class_of("LMHeadModel"), .module_role = role::decoder};
    t.enter(decoder);
    const tensor x =
        forward_in_module({.name = "bert", .class_of_module = text.class_of("Model")}, text.spec.base_model, text, t);
    const recorder::not_executed_guard unused{t, t.load().head == logits::none};
    const tensor scores = score_in_cls(text, t, {logits_to_keep(t, x), {}});
    return t.leave(model_info, t.leave(decoder, t.select_model_output(x, scores)));
}

constexpr tensor forward(const layer_context& ctx, trace& t) {
    return writes(ctx) ? forward_conditional_generation(ctx, t) : forward_image_text_model(ctx, t);
}

constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    if (m.config.head == head_kind::conditional_generation && load.images > 1)
        throw_description_error("more than one image per sequence is not supported");
    return expand_image_inputs(m, load);
}

constexpr void parse_text_config(config_view json, model_config& config) {
    config.is_causal = json.boolean("is_decoder", true);
    parse_encoder(json, config);
}
constexpr void parse_config(config_view json, model& m) {
    if (m.config.head == head_kind::conditional_generation && !m.config.is_causal)
        throw_unsupported(json, "text_config", "text generation without is_decoder is not supported");
}
constexpr void parse_image_config(config_view json, model_config& config) {
    parse_square_image(json, config, 384, 16);
    config.vision.num_channels = 3;
    divide_by_heads(json, config, {"num_attention_heads"});
}

inline constexpr submodel_spec texts = [](model_spec spec) {
    spec.class_prefix = "BlipText";
    spec.embed_tokens = embed;
    spec.prepare_inputs = prepare_inputs;
    spec.decoder_layer = decoder_layer;
    spec.attention = attention;
    spec.parse_config = parse_text_config;
    spec.dropout_keys = {};
    spec.defaults.vocab_size = 30524;
    spec.defaults.num_attention_heads = 8;
    return spec;
}(bert);

}  // namespace blip_detail

// The vision encoder (`BlipVisionModel`). Derived from CLIP's, with a fused projection for queries, keys and values.
//
// Source: transformers/models/blip
inline constexpr submodel_spec blip_vision_model = [](model_spec spec) {
    spec.model_type = "blip_vision_model";
    spec.class_prefix = "Blip";
    spec.parse_config = blip_detail::parse_image_config;
    spec.base_model = [](const layer_context& ctx, trace& t) {
        return blip_detail::states_and_pool(ctx, t, false).first;
    };
    spec.attention = blip_detail::attend_patches;
    spec.num_prefix_tokens = 1;
    spec.defaults.hidden_act = activation::gelu;
    return spec;
}(shared_tower);

// BLIP. A dual encoder with BERT for texts, or a text decoder with cross-attention to the image.
//
// Source: transformers/models/blip: modeling_blip.py, modeling_blip_text.py
inline constexpr model_spec blip = [](model_spec spec) {
    spec.model_type = "blip";
    spec.class_prefix = "Blip";
    spec.forward = blip_detail::forward;
    spec.parse_composite_config = blip_detail::parse_config;
    spec.supported_heads = composite_heads;
    spec.defaults.head = head_kind::conditional_generation;
    spec.family_keys = blip_detail::family_keys;
    spec.compute_media_shapes = blip_detail::compute_media_shapes;
    spec.defaults.tie_word_embeddings = true;
    spec.text_model.default_spec = &blip_detail::texts;
    spec.components[0].default_spec = &blip_vision_model;
    return spec;
}(shared_pair);

}  // namespace llmcost::arch
