// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/config/processor.hpp>
#include <llmcost/forward/fitted_images.hpp>
#include <llmcost/forward/moon_vit.hpp>

namespace llmcost::arch {

namespace muse_glimmer_detail {

using fitted_images::frames, fitted_images::max_image_tokens, fitted_images::merged, fitted_images::place_images,
    fitted_images::project_rotated_qkv, fitted_images::table_columns, fitted_images::table_rows,
    fitted_images::without_scale;

// ---- text

/// What attention finds is gated by the layer's input.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t expanded_width = ctx.config.num_attention_heads * ctx.config.head_dim;
    const tensor found = scaled_dot_product_attention(ctx, t, project_rotated_qkv(ctx, t, x));
    return output_projection(
        ctx, t, t.mul(found, t.sigmoid(t.call("gate_proj", linear{ctx.config.hidden_size, expanded_width}, x))));
}

/// Words are normed inside of their module.
constexpr tensor embed(const layer_context& ctx, trace& t) {
    const std::int64_t width = ctx.config.hidden_size;
    const module_info embedding_module{
        .name = "embed_tokens", .class_of_module = ctx.class_of("TextNormedEmbedding"), .module_role = role::embedding};
    t.enter(embedding_module);
    const tensor found =
        t.gather(t.param("weight", {ctx.config.vocab_size, width}), {t.load().batch, t.load().sequence, width});
    return t.leave(embedding_module, without_scale(ctx, t, "embed_norm", width, found));
}

/// The last norm is of another class than those of the layers.
constexpr tensor text_base(const layer_context& ctx, trace& t) {
    const tensor x = ctx.spec.embed_tokens(ctx, t);
    const decoder_inputs shared = ctx.spec.prepare_inputs(ctx, t);
    const tensor states = forward_layers(ctx, t, shared, x);
    return t.call("norm", norm_module{norm_kind::rms_power, ctx.config.hidden_size, ctx.class_of("RMSNorm")}, states);
}

// ---- tower

inline constexpr family_key tower_keys[]{
    {"pos_emb_height", 32}, {"pos_emb_width", 32}, {"merge_size", 2}, {"patch_temporal", 2}};

inline constexpr std::uint8_t windowed = 1;

/// Each image by itself, in some layers each window of it.
constexpr tensor attend_patches(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t n = x.dim(0), width = ctx.config.hidden_size, heads = ctx.config.num_attention_heads,
                       d = width / heads;
    const auto split = [&](literal name) { return t.call(name, linear{width, width, true}, x).view({n, heads, d}); };
    const tensor q = split("q_proj"), k = split("k_proj"), v = split("v_proj");
    const auto widened = [&](const tensor& states) { return t.to(states, dtype::float32); };
    const tensor cos = widened(ctx.inputs->cos), sin = widened(ctx.inputs->sin);
    const auto apply_rotary = [&](const tensor& states) {
        return t.to(rotate<rotary_style::rotate_half>(t, widened(states), cos, sin), states.type);
    };
    const tensor first = apply_rotary(q);
    const packed_images grid = pack_images(t.load(), ctx.config.vision.patch_size);
    const packed_sequences runs =
        ctx.layer.family_tag == windowed ? grid.windows(1, ctx.config.family[table_rows]) : grid.full_images();
    return t.call("proj", linear{width, width, true},
                  packed_scaled_dot_product_attention(t, first, apply_rotary(k), v, runs));
}

constexpr tensor tower_base(const layer_context& ctx, trace& t) {
    const std::int64_t patch = ctx.config.vision.patch_size, width = ctx.config.hidden_size,
                       m = ctx.config.family[merged];
    const std::int64_t n = pack_images(t.load(), patch).patches(),
                       values = ctx.config.family[frames] * 3 * patch * patch;
    const module_info embedder{.name = "patch_embedder",
                               .class_of_module = ctx.class_of("VisionPatchEmbedder"),
                               .module_role = role::embedding};
    t.enter(embedder);
    tensor x = t.call("patch_embedding", linear{values, width}, t.input({n, values}));
    tensor weights;
    {
        const recorder::no_grad_guard constants{t};
        const tensor rows = weights_of_axis(t, n, place_taps::two, false);
        const tensor columns = weights_of_axis(t, n, place_taps::two, false);
        weights =
            t.mul_scalar(t.mul(rows.unsqueeze(2), columns.unsqueeze(1)).view({n, 4}));  // nothing outside of the table
    }
    const embedding table{ctx.config.family[table_rows] * ctx.config.family[table_columns], width};
    const tensor found = t.call("position_embedding_table", table, shape{n, 4});
    x = t.leave(embedder, t.add(x, t.to(t.sum(t.mul(found, weights.view({n, 4, 1})), 1), x.type)));
    x = t.gather(t.call("ln_pre", norm_module{norm_kind::layer, width}, x), {n, width});  // in the order of windows
    attention_inputs inputs;
    const packed_position_table angles{width / ctx.config.num_attention_heads, ctx.class_of("VisionRotaryEmbedding")};
    const tensor_pair tables = t.call("rotary_emb", angles, n);
    inputs.cos = t.to(tables.first, x.type);
    inputs.sin = t.to(tables.second, x.type);
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, ctx.config.layers, x); layer_loop.next();)
        x = t.call({"layers", layer_loop.index()}, moon_vit::layer{ctx.for_layer(layer_loop, inputs)}, x);
    x = t.call("ln_post", norm_module{norm_kind::layer, width}, t.gather(x, {n, width}));
    const tensor squares = t.gather(x, {n, width}).view({-1, m * m, width});
    return t.reshape(squares.permute({0, 2, 1}), {n / (m * m), width * m * m});
}

/// Every fourth layer and the last one see everything.
constexpr void parse_vision_config(config_view json, model_config& config) {
    config.vision.patch_size = json.positive("patch_size", 14);
    divide_by_heads(json, config, {"num_attention_heads"});
    if (config.hidden_size / config.num_attention_heads % 4 != 0)
        throw_invalid_value(json, "num_attention_heads", "heads of a multiple of 4 features");
    const auto types = json.optional_array("layer_types");
    if (types && static_cast<std::int64_t>(types->size()) != config.num_hidden_layers)
        throw_invalid_value(json, "layer_types", "a list with one kind per hidden layer");
    set_layers(json, config, [&](std::int64_t i) {
        bool is_full_attention = (i + 1) % 4 == 0 || i + 1 == config.num_hidden_layers;
        if (types) {
            const string_ref name = (*types)[static_cast<std::uint32_t>(i)].as_string();
            is_full_attention = name == "full_attention";
            if (!is_full_attention && name != "window_attention")
                throw_unsupported(json, "layer_types", "unsupported layer type");
        }
        return layer_spec{.family_tag = is_full_attention ? std::uint8_t{} : windowed};
    });
}

// ---- images

inline constexpr family_key family_keys[]{
    {"out_hidden_size", 6144},
    {"projector_hidden_size", 4096},
    {.default_value = static_cast<std::int64_t>(activation::gelu), .type = family_key_type::computed},
    {.default_value = 4096, .type = family_key_type::computed}};

constexpr void parse_processor_config(config_view json, model& m) {
    expect_patches(json, m.components[0].config.vision.patch_size, m.components[0].config.family[merged]);
    m.family[max_image_tokens] = json.positive("max_image_tokens", m.family[max_image_tokens]);
}

// ---- the complete model

constexpr tensor base(const layer_context& ctx, trace& t) {
    return forward_text_after_encoder(ctx, t, "language_model", [&](const tensor& token_embeddings) {
        return place_images(ctx, t, token_embeddings);
    });
}

}  // namespace muse_glimmer_detail

inline constexpr submodel_spec muse_glimmer_vision_encoder = [](model_spec spec) {
    spec.model_type = "muse_glimmer_vision";
    spec.class_prefix = "MuseGlimmer";
    spec.base_model = muse_glimmer_detail::tower_base;
    spec.parse_config = muse_glimmer_detail::parse_vision_config;
    spec.family_keys = muse_glimmer_detail::tower_keys;
    spec.supported_heads = {};
    spec.attention = muse_glimmer_detail::attend_patches;
    spec.supported_layers.max_family_tag = muse_glimmer_detail::windowed;
    spec.names.attention_class = "VisionAttention";
    spec.defaults.hidden_size = 1536;
    spec.defaults.intermediate_size = 8960;
    spec.defaults.num_hidden_layers = 50;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.hidden_act = activation::gelu;
    return spec;
}(shared_tower);

// transformers/models/muse_glimmer: norms around blocks, gated attention, positions in layers with windows alone
inline constexpr model_spec muse_glimmer_text = [](model_spec spec) {
    spec.dropout_keys = {};
    spec.model_type = "muse_glimmer_text";
    spec.class_prefix = "MuseGlimmer";
    spec.parse_config = fitted_images::parse_text_config;
    spec.supported_heads = {};
    spec.base_model = muse_glimmer_detail::text_base;
    spec.embed_tokens = muse_glimmer_detail::embed;
    spec.decoder_layer = sandwich_norm_layer;
    spec.attention = muse_glimmer_detail::attention;
    spec.norm = norm_kind::rms_plus_one;
    spec.mask_policy = mask_kind::full_and_sliding;
    spec.supported_layers.max_family_tag = fitted_images::unturned;
    spec.process_logits = scale_logits;
    spec.names.pre_mlp_norm = "pre_feedforward_layernorm";
    spec.names.model_class = "TextModel";
    spec.names.layer_class = "TextDecoderLayer";
    spec.names.attention_class = "TextAttention";
    spec.names.norm_class = "TextCenteredRMSNorm";
    spec.names.mlp_class = "TextMLP";
    spec.names.rotary_class = "TextRotaryEmbedding";
    spec.config_keys.add("hidden_act", "hidden_activation", key_rule::family_name_only);
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.defaults.vocab_size = 202048;
    spec.defaults.hidden_size = 6656;
    spec.defaults.intermediate_size = 19968;
    spec.defaults.num_hidden_layers = 52;
    spec.defaults.num_attention_heads = 32;
    spec.defaults.num_key_value_heads = 2;
    spec.defaults.head_dim = 128;
    spec.defaults.max_position_embeddings = 131072;
    spec.defaults.sliding_window = 2048;
    return spec;
}(llama);

// transformers/models/muse_glimmer: patches of images of any shape before it
inline constexpr model_spec muse_glimmer = [](model_spec spec) {
    spec.model_type = "muse_glimmer";
    spec.class_prefix = "MuseGlimmer";
    spec.base_model = muse_glimmer_detail::base;
    spec.family_keys = muse_glimmer_detail::family_keys;
    spec.parse_composite_config = fitted_images::parse_config;
    spec.process_logits = scale_logits;
    spec.compute_media_shapes = fitted_images::compute_media_shapes;
    spec.parse_image_processor = muse_glimmer_detail::parse_processor_config;
    spec.modalities.has_images = true;
    spec.text_model = {.key = "text_config", .default_spec = &muse_glimmer_text};
    spec.components[0] = {
        .key = "vision_config", .default_spec = &muse_glimmer_vision_encoder, .ignores_model_type = true};
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
