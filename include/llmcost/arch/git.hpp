// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/image.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/composite.hpp>
#include <llmcost/forward/multimodal.hpp>
#include <llmcost/forward/vision_encoder.hpp>

// GIT. Derived from the default decoder, with BERT's layers and a causal mask, and with CLIP's vision encoder.
//
// Source: transformers/models/git

namespace llmcost::arch {

namespace git_detail {

enum family_config_index : std::uint8_t { frames };
inline constexpr family_key family_keys[]{
    {.type = family_key_type::computed}};  // frames of a video with temporal embeddings; 0: none

/// Names of the temporal embeddings.
inline constexpr literal frame_names[]{"0", "1", "2",  "3",  "4",  "5",  "6",  "7",
                                       "8", "9", "10", "11", "12", "13", "14", "15"};
inline constexpr std::int64_t max_frames = sizeof frame_names / sizeof *frame_names;

/// Number of image states before the text, from the first pass or from the KV cache.
[[nodiscard]] constexpr std::int64_t states_ahead(const layer_context& ctx, const trace& t) {
    return t.load().images * (patches_of(ctx.component(0).config.vision) + 1);
}

/// Sums word and position embeddings (in place), then applies a norm.
struct embeddings {
    layer_context ctx;

    static constexpr role module_role = role::embedding;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Embeddings"); }
    constexpr tensor forward(trace& t) const {
        const workload& load = t.load();
        const std::int64_t width = ctx.config.hidden_size, places = ctx.config.max_position_embeddings;
        tensor x = t.call("word_embeddings", embedding{ctx.config.vocab_size, width}, shape{load.batch, load.sequence});
        t.register_integer_buffer(places);  // `position_ids`
        t.check_positions(places, load.past + load.sequence + (load.past > 0 ? states_ahead(ctx, t) : 0));
        const tensor position_embeddings =
            t.call("position_embeddings", embedding{places, width}, shape{1, load.sequence});
        t.add_(x, position_embeddings);
        return dropout(t, "dropout", t.call("LayerNorm", norm_module{norm_kind::layer, width}, x));
    }
};

/// Projection, dropout and a norm of the sum with the residual.
struct output_block {
    std::int64_t in;
    class_name named;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, const tensor& h, const tensor& x) const {
        const tensor out = dropout(t, "dropout", t.call("dense", linear{in, x.dim(-1), true}, h));
        return t.call("LayerNorm", norm_module{norm_kind::layer, x.dim(-1)}, t.add(out, x));
    }
};

/// Second linear layer of the MLP, with residual and norm.
struct mlp_output_block : output_block {
    static constexpr role module_role = role::mlp;
};

/// Self-attention with scores divided by the scale and with a dropout module.
struct self_attention {
    layer_context ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("SelfAttention"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        query_key_value qkv = project_qkv(ctx, t, x);
        split_heads(ctx, qkv);
        transpose_heads(qkv);
        update_kv_cache(ctx, t, qkv);
        const attention_pattern& pattern = ctx.inputs->pattern;
        const recorder::fused_kernel_guard fused{
            t, fused_attention_kernel(qkv.query, qkv.key.dim(1), pattern, qkv.key.dim(2))};
        const bool sparse = t.load().attention == attention_scores::causal;
        tensor scores =
            t.div_scalar(t.matmul(qkv.query, qkv.key.transpose(2, 3), sparse ? pattern.visible_pairs() : 0));
        if (!sparse) scores = t.add(scores, ctx.inputs->mask);
        const tensor mixed = t.matmul(dropout(t, "dropout", t.softmax(scores), dropout_position::attention), qkv.value)
                                 .permute({0, 2, 1, 3});
        return t.contiguous(mixed).view({x.dim(0), x.dim(1), ctx.config.hidden_size});
    }
};

constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const output_block out{ctx.config.hidden_size, ctx.class_of("SelfOutput")};
    return t.call("output", out, t.call("self", self_attention{ctx}, x), x);
}

/// Decoder layer: attention and MLP, each followed by residual and norm.
constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const tensor a = t.call("attention", attention_module{ctx}, x);
    const module_info intermediate{.name = "intermediate",
                                   .class_of_module = ctx.class_of("Intermediate"),
                                   .module_role = role::mlp,
                                   .continues_block = true};
    t.enter(intermediate);
    tensor h = t.call("dense", linear{ctx.config.hidden_size, ctx.config.intermediate_size, true}, a);
    h = t.leave(intermediate, t.call("intermediate_act_fn", activation_module{ctx.config.hidden_act}, h));
    return t.call("output", mlp_output_block{{ctx.config.intermediate_size, ctx.class_of("Output")}}, h, a);
}

/// CLIP's vision encoder in a separate module. The final norm applies to all states.
constexpr tensor forward_vision_transformer(const layer_context& ctx, trace& t) {
    const std::int64_t width = ctx.config.hidden_size;
    const tensor pixels = pixel_values(ctx, t);
    const module_info patches{
        .name = "embeddings", .class_of_module = ctx.class_of("VisionEmbeddings"), .module_role = role::embedding};
    t.enter(patches);
    const tensor token = t.param("class_embedding", {width}).view({1, 1, width}).expand({pixels.dim(0), 1, width});
    const tensor tokens = t.cat({token, embed_patches(ctx, t, "patch_embedding", false, pixels)}, 1);
    const tensor places = learned_positions(t, "position_embedding", patches_of(ctx.config.vision) + 1, width);
    const tensor x = t.leave(patches, t.add(tokens, places));
    const norm_module layer_norm{norm_kind::layer, width};
    return t.call("post_layernorm", layer_norm, encode(ctx, t, t.call("pre_layrnorm", layer_norm, x), "VisionEncoder"));
}
constexpr tensor tower_base(const layer_context& ctx, trace& t) {
    return forward_in_module({.name = "vision_model", .class_of_module = ctx.class_of("VisionTransformer")},
                             forward_vision_transformer, ctx, t);
}

constexpr void parse_vision_config(config_view json, model_config& config) {
    parse_square_image(json, config, 224, 16);
    divide_by_heads(json, config, {"num_attention_heads"});
}

inline constexpr dropout_key dropout_rates[]{{dropout_position::hidden, "hidden_dropout_prob", 0.1},
                                             {dropout_position::attention, "attention_probs_dropout_prob", 0.1}};

inline constexpr submodel_spec tower = [](model_spec spec) {
    spec.class_prefix = "Git";
    spec.base_model = tower_base;
    spec.parse_config = parse_vision_config;
    spec.supported_heads = {};
    spec.names.layer_class = "VisionEncoderLayer";
    spec.names.attention_class = "VisionAttention";
    spec.names.mlp_class = "VisionMLP";
    spec.defaults.hidden_act = activation::quick_gelu;
    spec.dropout_keys = tower_dropout;
    return spec;
}(shared_tower);

/// States of all images, concatenated. The states of video frames get temporal embeddings, added in place.
constexpr tensor encode_images(const layer_context& ctx, trace& t) {
    const std::int64_t num_images = t.load().images > 1 ? t.load().images : 1,
                       num_temporal_embeddings = ctx.config.family[frames];
    tensor frame_features[max_frames];
    {
        const recorder::workload_guard pictures_of_one{t, image_workload(t.load(), t.load().batch, 0, 0)};
        const trace::dropout_guard component_dropout_rates{t, ctx.component(0).config.dropout_positions};
        for (std::int64_t i = 0; i < num_images; ++i) {
            const recorder::shared_parameters_guard shared_parameters{t, i > 0};
            frame_features[i] = forward_encoder_component(ctx, t, 0, "image_encoder", role::vision);
        }
    }
    if (num_temporal_embeddings == 0) return frame_features[0];
    const module_info list{.name = "img_temporal_embedding", .class_of_module = {"", "ParameterList"}};
    t.enter(list);
    for (std::int64_t i = 0; i < num_temporal_embeddings; ++i) {
        const recorder::not_executed_guard unused{t, i >= num_images || num_images == 1};
        const tensor added = t.param(frame_names[i], {1, 1, frame_features[0].dim(2)});
        if (i < num_images) t.add_(frame_features[i], added);
    }
    t.leave(list);
    return num_images == 1 ? frame_features[0] : t.cat(frame_features, static_cast<int>(num_images), 1);
}

/// Traces the model. Image states precede the text and attend to each other; later passes run the text layers alone.
constexpr tensor base(const layer_context& ctx, trace& t) {
    tensor x = t.call("embeddings", embeddings{ctx});
    workload combined_workload = t.load();
    {
        const recorder::not_executed_guard no_pixels{t, !has_images(t)};
        const tensor features = encode_images(ctx, t);
        const module_info outer{
            .name = "visual_projection", .class_of_module = ctx.class_of("Projection"), .module_role = role::projector};
        const module_info steps{
            .name = "visual_projection", .class_of_module = {"", "Sequential"}, .module_role = role::projector};
        const std::int64_t width = ctx.config.hidden_size;
        t.enter(outer);
        t.enter(steps);
        const tensor h = t.call("0", linear{features.dim(-1), width, true}, features);
        const tensor projected = t.leave(outer, t.leave(steps, t.call("1", norm_module{norm_kind::layer, width}, h)));
        if (has_images(t)) x = t.cat({t.copy(projected), x}, 1);
    }
    (combined_workload.past > 0 ? combined_workload.past : combined_workload.sequence) += states_ahead(ctx, t);
    const recorder::workload_guard all{t, combined_workload};
    const decoder_inputs shared = ctx.spec.prepare_inputs(ctx, t);
    const module_info encoder{.name = "encoder", .class_of_module = ctx.class_of("Encoder")};
    t.enter(encoder);
    return t.leave(encoder, forward_layers(ctx, t, shared, x));
}

/// Media shapes: images are resized to the encoder's size. Their states precede the text, but are not tokens.
constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    if (load.images > 1 && load.images > m.config.family[frames])
        throw_description_error("the video has more images than temporal embeddings");
    const vision_config& image = m.components[0].config.vision;
    return {.image = {.height = image.image_height, .width = image.image_width}};
}

constexpr void parse_config(config_view json, model_config& config) {
    divide_by_heads(json, config, {"num_attention_heads"});
    config.attention_bias = config.output_bias = config.head_bias = true;
    config.layers.fill({token_mixer_kind::full_attention});
    const auto num_image_with_embedding = json.find("num_image_with_embedding");
    if (!num_image_with_embedding || num_image_with_embedding->is_null()) return;
    config.family[frames] = num_image_with_embedding->as_positive();
    if (config.family[frames] > max_frames)
        throw_unsupported(json, "num_image_with_embedding", "more than 16 images are not supported");
}

}  // namespace git_detail

inline constexpr model_spec git = [](model_spec spec) {
    spec.model_type = "git";
    spec.class_prefix = "Git";
    spec.base_model = git_detail::base;
    spec.parse_config = git_detail::parse_config;
    spec.family_keys = git_detail::family_keys;
    spec.decoder_layer = git_detail::decoder_layer;
    spec.attention = git_detail::attention;
    spec.rotary = rotary_style::none;
    spec.supported_heads = language_heads;
    spec.compute_media_shapes = git_detail::compute_media_shapes;
    spec.modalities.has_images = true;
    spec.components[0] = {.key = "vision_config", .default_spec = &git_detail::tower, .ignores_model_type = true};
    spec.names.base_model = "git";
    spec.names.layers = "layer";
    spec.names.layer_class = "Layer";
    spec.names.lm_head = "output";
    spec.names.q_proj = "query";
    spec.names.k_proj = "key";
    spec.names.v_proj = "value";
    spec.config_keys.add("attention_bias", key_rule::absent);
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.config_keys.add("sliding_window", key_rule::absent);
    spec.config_keys.add("num_key_value_heads", key_rule::absent);
    spec.config_keys.add("head_dim", key_rule::absent);
    spec.defaults.vocab_size = 30522;
    spec.defaults.hidden_size = 768;
    spec.defaults.intermediate_size = 3072;
    spec.defaults.num_hidden_layers = 6;
    spec.defaults.num_attention_heads = 12;
    spec.defaults.max_position_embeddings = 1024;
    spec.defaults.hidden_act = activation::gelu;
    spec.dropout_keys = git_detail::dropout_rates;
    return spec;
}(default_decoder);

}  // namespace llmcost::arch
