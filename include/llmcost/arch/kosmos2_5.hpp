// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/reader.hpp>
#include <llmcost/forward/composite.hpp>
#include <llmcost/forward/latent_image_tokens.hpp>
#include <llmcost/forward/multimodal.hpp>
#include <llmcost/forward/vision_encoder.hpp>

namespace llmcost::arch {

namespace kosmos2_5_detail {

enum text_config_index : std::uint8_t { padding };

inline constexpr family_key text_keys[]{{"pad_token_id", 1, family_key_type::non_negative}};

/// Scaled token embeddings merged with image states, sinusoidal positions and segment embeddings. Text has one segment;
/// with an image, each position has its own segment index.
constexpr tensor embed(const layer_context& ctx, trace& t) {
    const workload& load = t.load();
    const std::int64_t width = ctx.config.hidden_size;
    const shape ids{load.batch, load.sequence};
    const bool with_image = ctx.inputs != nullptr && ctx.inputs->family_tensors[0].rank > 0;
    tensor found = t.call("embed_tokens", embedding{ctx.config.vocab_size, width}, ids);
    if (with_image) {
        found = t.clone(found);
        t.copy_into_slice(found, ctx.inputs->family_tensors[0]);
        t.add_to_encoder_cache(ctx.inputs->family_tensors[0]);
    }
    const tensor token_embeddings = t.mul_scalar(found);
    // the table has two rows more than configured, and positions start after the padding index
    t.check_positions(ctx.config.max_position_embeddings + 1 - ctx.config.family[padding], load.past + load.sequence);
    const module_info places{.name = "embed_positions",
                             .class_of_module = ctx.class_of("TextSinusoidalPositionalEmbedding"),
                             .is_leaf = true};
    t.enter(places);
    t.register_buffer({ctx.config.max_position_embeddings + 2, width}, t.activation_type());  // `weights`
    tensor positions = t.leave(places, t.full({load.batch, load.sequence, width}, t.activation_type()));
    const tensor segment =
        t.call("segment_emb", embedding{2, width}, shape{load.batch, with_image ? load.sequence : 1});
    t.add_(positions, segment);
    return t.add(token_embeddings, positions);
}

/// Queries scaled before their product, which is scaled by one.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = ctx.config.hidden_size;
    query_key_value qkv;
    qkv.key = project(ctx, t, "k_proj", width, x);
    qkv.value = project(ctx, t, "v_proj", width, x);
    qkv.query = project(ctx, t, "q_proj", width, x);
    split_heads(ctx, qkv);
    transpose_heads(qkv);
    qkv.query = t.mul_scalar(qkv.query);
    update_kv_cache(ctx, t, qkv);
    return output_projection(ctx, t, scaled_dot_product_attention(ctx, t, qkv));
}

/// Two projections with a norm of the wide states between them.
struct text_ffn {
    layer_context ctx;

    static constexpr role module_role = role::mlp;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("TextFFN"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, inner = ctx.config.intermediate_size;
        tensor h = t.call("fc1", linear{width, inner, true}, x);
        h = t.call("activation_fn", activation_module{ctx.config.hidden_act}, h);
        h = t.call("ffn_layernorm", norm_module{norm_kind::layer, inner}, h);
        return t.call("fc2", linear{inner, width, true}, h);
    }
};

constexpr tensor mlp(const layer_context& ctx, trace& t, const tensor& x) { return t.call("ffn", text_ffn{ctx}, x); }

constexpr void parse_text_config(config_view json, model_config& config) {
    divide_by_heads(json, config, {"num_attention_heads", "attention_heads"});
    config.attention_bias = config.output_bias = true;
    config.layers.fill({token_mixer_kind::full_attention});
}

}  // namespace kosmos2_5_detail

inline constexpr submodel_spec kosmos2_5_text_decoder = [](model_spec spec) {
    spec.class_prefix = "Kosmos2_5";
    spec.parse_config = kosmos2_5_detail::parse_text_config;
    spec.family_keys = kosmos2_5_detail::text_keys;
    spec.supported_heads = {};
    spec.rotary = rotary_style::none;
    spec.embed_tokens = kosmos2_5_detail::embed;
    spec.attention = kosmos2_5_detail::attention;
    spec.mlp = kosmos2_5_detail::mlp;
    spec.norm = norm_kind::layer;
    spec.names.model_class = "TextTransformer";
    spec.names.layer_class = "TextBlock";
    spec.names.attention_class = "TextAttention";
    spec.names.norm = "layer_norm";
    spec.names.pre_attention_norm = "self_attn_layer_norm";
    spec.names.o_proj = "out_proj";
    spec.names.pre_mlp_norm = "final_layer_norm";
    spec.config_keys.add("attention_bias", key_rule::absent);
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.config_keys.add("sliding_window", key_rule::absent);
    spec.config_keys.add("num_key_value_heads", key_rule::absent);
    spec.config_keys.add("head_dim", key_rule::absent);
    spec.config_keys.add("hidden_size", "embed_dim", key_rule::standard_name_first);
    spec.config_keys.add("num_hidden_layers", "layers", key_rule::standard_name_first);
    spec.config_keys.add("num_attention_heads", "attention_heads", key_rule::standard_name_first);
    spec.config_keys.add("intermediate_size", "ffn_dim", key_rule::family_name_only);
    spec.config_keys.add("hidden_act", "activation_function", key_rule::family_name_only);
    spec.defaults.vocab_size = 108481;
    spec.defaults.hidden_size = 1536;
    spec.defaults.intermediate_size = 6144;
    spec.defaults.num_hidden_layers = 24;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.max_position_embeddings = 4096;
    spec.defaults.hidden_act = activation::gelu;
    spec.defaults.tie_word_embeddings = true;
    return spec;
}(default_decoder);

namespace kosmos2_5_detail {

using latent_image_tokens::image_to_text, latent_image_tokens::latents, latent_image_tokens::over_length;

enum tower_config_index : std::uint8_t { patch_values, rows };

inline constexpr family_key tower_keys[]{{"patch_embed_hidden_size", 768}, {"max_num_patches", 4096}};

/// T5 attention and gated MLP, each after a norm (Pix2Struct).
struct tower_layer {
    layer_context ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("VisionLayer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const model_config& config = ctx.config;
        const std::int64_t width = config.hidden_size, inner = config.intermediate_size;
        const norm_module input_norm{norm_kind::rms_float_variance, width, ctx.class_of("LayerNorm")};
        const tensor middle =
            t.add(x, t.call("attention", attention_module{ctx}, t.call("pre_attention_layer_norm", input_norm, x)));
        const tensor h = t.call("pre_mlp_layer_norm", input_norm, middle);
        const module_info block{.name = "mlp", .class_of_module = ctx.class_of("VisionMlp"), .module_role = role::mlp};
        t.enter(block);
        const tensor gate =
            t.call("act", activation_module{config.hidden_act}, t.call("wi_0", linear{width, inner}, h));
        const tensor intermediate = dropout(t, "dropout", t.mul(gate, t.call("wi_1", linear{width, inner}, h)));
        return t.add(middle, t.leave(block, t.call("wo", linear{inner, width}, intermediate)));
    }
};

/// The lowest number where a patch is absent: (B, patches) -> (B, 1, patches, patches).
constexpr tensor hide_absent(trace& t, const tensor& present) {
    const std::int64_t n = present.dim(1);
    const tensor all = present.unsqueeze(1).unsqueeze(1).expand({present.dim(0), 1, n, n});
    return t.masked_fill(t.sub_scalar(t.to(all, t.activation_type())));
}

/// Patches with learned rows and columns, layers, a norm: an image of any shape is filled up to as many as there may
/// be.
constexpr tensor tower_base(const layer_context& ctx, trace& t) {
    const std::int64_t width = ctx.config.hidden_size, batch = t.load().batch;
    const family_config& family = ctx.config.family;
    const std::int64_t patches = family[rows];
    const shape places{batch, patches};
    const module_info embeddings{
        .name = "embeddings", .class_of_module = ctx.class_of("VisionEmbeddings"), .module_role = role::embedding};
    const tensor pixels = t.input({batch, patches, 2 + family[patch_values]});  // after its row and column index
    (void)t.sum(pixels, -1);
    const tensor present = t.full({batch, patches});  // which sums are not zero
    t.enter(embeddings);
    tensor x = t.call("patch_projection", linear{family[patch_values], width, true},
                      t.slice(pixels, -1, family[patch_values]));
    x = t.add(x, t.call("row_embedder", embedding{family[rows], width}, places));
    x = t.add(x, t.call("column_embedder", embedding{family[rows], width}, places));
    x = t.leave(embeddings, dropout(t, "dropout", x));
    const module_info encoder{.name = "encoder", .class_of_module = ctx.class_of("VisionEncoder")};
    t.enter(encoder);
    attention_inputs inputs;
    inputs.mask = hide_absent(t, present);
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, x); layer_loop.next();)
        x = t.call({"layer", layer_loop.index()}, tower_layer{ctx.for_layer(layer_loop, inputs)}, x);
    x = t.leave(encoder, x);
    return t.call("layernorm", norm_module{norm_kind::rms_float_variance, width, ctx.class_of("LayerNorm")}, x);
}

/// Self-attention with heads of size `head_dim`.
constexpr tensor attend_in_tower(const layer_context& ctx, trace& t, const tensor& x) {
    query_key_value qkv = project_qkv(ctx, t, x);
    split_heads(ctx, qkv);
    transpose_heads(qkv);
    const attention_pattern all{.query_length = x.dim(1), .is_causal = false};
    const tensor mixed = attention_forward(t, qkv.query, qkv.key, qkv.value, all, {.mask = &ctx.inputs->mask});
    return output_projection(ctx, t, t.contiguous(t.reshape(mixed, {x.dim(0), x.dim(1), -1})));
}

constexpr void parse_vision_config(config_view, model_config& config) {
    config.attention_bias = config.output_bias = false;
}

inline constexpr submodel_spec tower = [](model_spec spec) {
    spec.class_prefix = "Kosmos2_5";
    spec.base_model = tower_base;
    spec.parse_config = parse_vision_config;
    spec.family_keys = tower_keys;
    spec.supported_heads = {};
    spec.attention = attend_in_tower;
    spec.names.attention_class = "VisionAttention";
    spec.names.q_proj = "query";
    spec.names.k_proj = "key";
    spec.names.v_proj = "value";
    spec.names.o_proj = "output";
    spec.config_keys.remove("head_dim");
    spec.config_keys.add("hidden_act", "dense_act_fn", key_rule::family_name_only);
    spec.defaults.hidden_size = 1536;
    spec.defaults.intermediate_size = 3968;
    spec.defaults.num_hidden_layers = 18;
    spec.defaults.num_attention_heads = 24;
    spec.defaults.head_dim = 64;
    spec.defaults.hidden_act = activation::gelu_new;
    return spec;
}(shared_tower);

inline constexpr family_key family_keys[]{{"latent_query_num", 2048}};

/// So many queries, whatever the image.
constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    if (load.images > 1) throw_description_error("more than one image per sequence is not supported");
    return {.image = {.num_tokens = m.family[latents], .height = load.image_height, .width = load.image_width}};
}

/// The tower's states over their length, and what learned queries find in them.
constexpr tensor encode_images(const layer_context& ctx, trace& t) {
    const recorder::not_executed_guard no_pixels{t, !has_images(t)};
    const tensor features = forward_encoder_component(ctx, t, 0, "vision_model", role::vision);
    return t.call("image_to_text_projection", image_to_text{ctx, ctx.class_of("TextAttention")},
                  over_length(t, features));
}

}  // namespace kosmos2_5_detail

// transformers/models/kosmos2_5: a decoder with norms inside its blocks; Pix2Struct vision encoder; the text
// configuration sets tied weights
inline constexpr model_spec kosmos_2_5 = [](model_spec spec) {
    spec.model_type = "kosmos-2.5";
    spec.class_prefix = "Kosmos2_5";
    spec.forward = latent_image_tokens::forward<kosmos2_5_detail::encode_images>;
    spec.family_keys = kosmos2_5_detail::family_keys;
    spec.compute_media_shapes = kosmos2_5_detail::compute_media_shapes;
    spec.modalities.has_images = true;
    spec.text_model = {.key = "text_config",
                       .default_spec = &kosmos2_5_text_decoder,
                       .ignores_model_type = true,
                       .ties_embeddings = true};
    spec.components[0] = {.key = "vision_config", .default_spec = &kosmos2_5_detail::tower, .ignores_model_type = true};
    spec.config_keys.add("tie_word_embeddings", key_rule::absent);
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
