// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/janus_vq.hpp>
#include <llmcost/arch/llama.hpp>
#include <llmcost/config/image.hpp>
#include <llmcost/forward/multimodal.hpp>
#include <llmcost/forward/vision_encoder.hpp>

namespace llmcost::arch {

namespace janus_detail {

enum tower_config_index : std::uint8_t { projection_width, depth, norms_queries, drops_projection };
inline constexpr family_key tower_keys[]{
    {"projection_dim", 2048},
    {"depth", 2},
    {"use_qk_norm", 0, family_key_type::boolean},
    {.type = family_key_type::computed},  // whether dropout follows attention; otherwise an identity
};

/// A norm over all heads together, or a module that does nothing.
constexpr tensor norm_or_not(const layer_context& ctx, trace& t, literal name, const tensor& x) {
    if (ctx.config.family[norms_queries] == 0) return t.call(name, identity{"Identity"}, x);
    return t.call(name, norm_module{norm_kind::layer, ctx.config.hidden_size}, x);
}

/// CLIP attention with QK-norm, followed by dropout.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t batch = x.dim(0), n = x.dim(1), width = ctx.config.hidden_size;
    const std::int64_t heads = ctx.config.num_attention_heads, d = width / heads;
    const linear projection{width, width, ctx.config.attention_bias};
    tensor q = t.call("q_proj", projection, x), k = t.call("k_proj", projection, x);
    const tensor v = t.call("v_proj", projection, x).view({batch, n, heads, d}).transpose(1, 2);
    q = norm_or_not(ctx, t, "q_norm", t.reshape(q, {-1, width}).view({batch, n, width}));
    k = norm_or_not(ctx, t, "k_norm", t.reshape(k, {-1, width}).view({batch, n, width}));
    q = q.view({batch, n, heads, d}).transpose(1, 2);
    k = k.view({batch, n, heads, d}).transpose(1, 2);
    const attention_pattern all{.query_length = n, .is_causal = false};
    const tensor mixed = t.reshape(attention_forward(t, q, k, v, all, {}), {batch, n, width});
    const tensor out = t.call("projection_layer", linear{width, width, true}, mixed);
    return t.call("projection_dropout", identity{ctx.config.family[drops_projection] != 0 ? "Dropout" : "Identity"},
                  out);
}

/// MLP with two projections, each followed by dropout.
struct vision_mlp {
    layer_context ctx;

    static constexpr role module_role = role::mlp;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("VisionMLP"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, inner = ctx.config.intermediate_size;
        tensor h = t.call("activation_fn", activation_module{ctx.config.hidden_act},
                          t.call("fc1", linear{width, inner, true}, x));
        h = t.call("fc2", linear{inner, width, true}, dropout(t, "dropout1", h));
        return dropout(t, "dropout2", h);
    }
};

struct layer {
    layer_context ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("VisionEncoderLayer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const norm_module layer_norm{norm_kind::layer, ctx.config.hidden_size};
        const tensor middle =
            t.add(x, t.call("self_attn", attention_module{ctx}, t.call("layer_norm1", layer_norm, x)));
        return t.add(middle, t.call("mlp", vision_mlp{ctx}, t.call("layer_norm2", layer_norm, middle)));
    }
};

/// SigLIP without its pool.
constexpr tensor tower_base(const layer_context& ctx, trace& t) {
    const std::int64_t width = ctx.config.hidden_size;
    const tensor pixels = pixel_values(ctx, t);
    const module_info embeddings{
        .name = "embeddings", .class_of_module = ctx.class_of("VisionEmbeddings"), .module_role = role::embedding};
    t.enter(embeddings);
    const tensor patches = embed_patches(ctx, t, "patch_embedding", true, pixels);
    const tensor places = learned_positions(t, "position_embedding", patches_of(ctx.config.vision), width);
    tensor x = t.leave(embeddings, t.add(patches, places));
    const module_info encoder{.name = "encoder", .class_of_module = ctx.class_of("VisionEncoder")};
    t.enter(encoder);
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, x); layer_loop.next();)
        x = t.call({"layers", layer_loop.index()}, layer{ctx}, x);
    const norm_module last{norm_kind::layer, width};
    x = t.call("post_layernorm", last, t.leave(encoder, x));
    const recorder::detach_guard unread{t};
    const recorder::shared_parameters_guard shared_parameters{t};  // of the first patch, once more
    (void)t.call("post_layernorm", last, t.select(x, 1));
    return x;
}

constexpr void parse_vision_config(config_view json, model_config& config) {
    parse_square_image(json, config, 384, 16);
    divide_by_heads(json, config, {"num_attention_heads"});
    config.intermediate_size = parse_intermediate_size(json, config, "", "mlp_ratio", 4.0);
    config.family[drops_projection] = json.real("projection_dropout", 0.0) > 0;
}

inline constexpr submodel_spec tower = [](model_spec spec) {
    spec.class_prefix = "Janus";
    spec.base_model = tower_base;
    spec.parse_config = parse_vision_config;
    spec.family_keys = tower_keys;
    spec.supported_heads = {};
    spec.attention = attention;
    spec.names.attention_class = "VisionAttention";
    spec.config_keys.remove("attention_bias");
    spec.config_keys.add("intermediate_size", key_rule::absent);
    spec.defaults.hidden_size = 1024;
    spec.defaults.num_hidden_layers = 24;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.hidden_act = activation::gelu;
    return spec;
}(shared_tower);

/// A projection to another width and some more of that width.
struct aligner {
    class_name named;
    std::int64_t width;
    std::int64_t layers;
    activation act;

    static constexpr role module_role = role::projector;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        tensor h = t.call("fc1", linear{x.dim(-1), width, true}, x);
        if (layers == 1) {
            const module_info empty_list{.name = "hidden_layers", .class_of_module = {"", "ModuleList"}};
            t.enter(empty_list);
            t.leave(empty_list);
        }
        for (loop layer_loop = t.loop_modules(layers - 1, h); layer_loop.next();) {
            h = t.call("activation_fn", activation_module{act}, h);  // one module, called before each
            h = t.call({"hidden_layers", layer_loop.index()}, linear{width, width, true}, h);
        }
        return layers == 1 ? t.call("activation_fn", activation_module{act}, h) : h;
    }
};

/// Scores of codes (`JanusVQVAEHead`).
struct code_head {
    const model_config& codes;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {"Janus", "VQVAEHead"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const family_config& family = codes.family;
        tensor h = t.call("proj_out", linear{family[token_width], family[vq_projection_width], true}, x);
        h = t.call("activation_fn", activation_module{codes.hidden_act}, h);
        return t.call("vision_head", linear{family[vq_projection_width], family[num_embeddings], true}, h);
    }
};

/// What makes images by codes, which nothing calls that reads.
constexpr void declare_making(const layer_context& ctx, trace& t) {
    const recorder::not_executed_guard unused{t};
    const model_config& codes = ctx.model.components[1].config;
    (void)forward_encoder_component(ctx, t, 1, "vqmodel", role::vision);
    const shape one{t.load().batch, 1};
    const tensor code =
        t.call("generation_embeddings", embedding{codes.family[num_embeddings], codes.family[embed_dim]}, one);
    const aligner makes{ctx.class_of("VQVAEAlignerMLP"), codes.family[vq_projection_width], codes.num_hidden_layers,
                        codes.hidden_act};
    (void)t.call("generation_aligner", makes, code);
    const tensor state = t.full({t.load().batch, codes.family[token_width]}, code.type);
    (void)t.call("generation_head", code_head{codes}, state);
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    return forward_text_after_encoder(ctx, t, "language_model", [&](const tensor& token_embeddings) {
        declare_making(ctx, t);
        const recorder::not_executed_guard no_pixels{t, !has_images(t)};
        const recorder::workload_guard encoder_workload{t, image_workload(t.load(), images_in(t), 0, 0)};
        const model_config& vision = ctx.model.components[0].config;
        const aligner reads{ctx.class_of("VisionAlignerMLP"), vision.family[projection_width], vision.family[depth],
                            vision.hidden_act};
        const tensor states = forward_encoder_component(ctx, t, 0, "vision_model", role::vision);
        return t.masked_scatter(token_embeddings, t.call("aligner", reads, states));
    });
}

}  // namespace janus_detail

// transformers/models/janus: SigLIP, Llama and a VQ image autoencoder
inline constexpr model_spec janus = [](model_spec spec) {
    spec.model_type = "janus";
    spec.class_prefix = "Janus";
    spec.base_model = janus_detail::base;
    spec.compute_media_shapes = count_patch_tokens;
    spec.modalities.has_images = true;
    spec.text_model = {.key = "text_config", .default_spec = &llama};
    spec.components[0] = {.key = "vision_config", .default_spec = &janus_detail::tower, .ignores_model_type = true};
    spec.components[1] = {.key = "vq_config", .default_spec = &janus_detail::vq, .ignores_model_type = true};
    spec.defaults.tie_word_embeddings = true;
    spec.published_head = published_head_kind::untied_by_text_model;
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
