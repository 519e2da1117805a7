// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/clip.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/composite.hpp>
#include <llmcost/forward/contrastive.hpp>
#include <llmcost/forward/multimodal.hpp>
#include <llmcost/layers/einsum.hpp>

namespace llmcost::arch {

namespace idefics_detail {

/// Layer flag: a cross-attention block over images precedes the layer.
inline constexpr std::uint8_t reads_images = 1;

enum family_config_index : std::uint8_t {
    additional_vocab_size,
    interval,
    norms_queries,
    resamples,
    frozen_text,
    frozen_tower,
    uses_vector_alpha
};

inline constexpr family_key family_keys[]{
    {"additional_vocab_size", 0, family_key_type::non_negative},
    {"cross_layer_interval", 1},
    {"qk_layer_norms", 0, family_key_type::boolean},
    {"use_resampler", 0, family_key_type::boolean},
    {"freeze_text_layers", 1, family_key_type::boolean},
    {"freeze_vision_layers", 1, family_key_type::boolean},
    {.type = family_key_type::computed},  // of blocks that read images: one number each, or one for each feature
};

enum resampler_config_index : std::uint8_t { latents, norms_heads };

inline constexpr family_key resampler_keys[]{{"resampler_n_latents", 64},
                                             {"qk_layer_norms_perceiver", 0, family_key_type::boolean}};

/// Words, of which those of a second table overwrite the first's (`IdeficsDecoupledEmbedding`); a text has none of
/// them.
constexpr tensor embed(const layer_context& ctx, trace& t) {
    const std::int64_t width = ctx.config.hidden_size, num_additional = ctx.config.family[additional_vocab_size];
    const embedding first{ctx.config.vocab_size, width};
    const module_info m{.name = "embed_tokens",
                        .class_of_module = ctx.class_of("DecoupledEmbedding"),
                        .module_role = role::embedding,
                        .is_leaf = num_additional == 0};
    t.enter(m);
    const tensor x = first.forward(t, shape{t.load().batch, t.load().sequence});
    if (num_additional > 0) {
        const recorder::not_executed_guard additional_not_executed{t};
        (void)t.call("additional_embedding", embedding{num_additional, width}, shape{1});
    }
    return t.leave(m, x);
}

/// Concatenated logits of both embedding tables (`IdeficsDecoupledLinear`).
constexpr tensor score(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = ctx.config.hidden_size, num_additional = ctx.config.family[additional_vocab_size];
    const bool ties = ctx.config.tie_word_embeddings;
    const module_info m{.name = "lm_head",
                        .class_of_module = ctx.class_of("DecoupledLinear"),
                        .module_role = role::head,
                        .is_leaf = num_additional == 0};
    t.enter(m);
    tensor out = linear{width, ctx.config.vocab_size, false, ties}.forward(t, x);
    if (num_additional > 0)
        out = t.cat({out, t.call("additional_fc", linear{width, num_additional, false, ties}, x)}, -1);
    return t.leave(m, out);
}

/// Attention of the text to itself, each with a table of its own.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    query_key_value qkv = project_qkv(ctx, t, x);
    split_heads(ctx, qkv);
    transpose_heads(qkv);
    attention_inputs inputs = *ctx.inputs;
    compute_rotary_embeddings(ctx, t, inputs);
    layer_context rotary_ctx = ctx;
    rotary_ctx.inputs = &inputs;
    apply_rotary(rotary_ctx, t, qkv);
    update_kv_cache(ctx, t, qkv);
    return output_projection(ctx, t, scaled_dot_product_attention(ctx, t, qkv));
}

// what layers share
enum shared_config_index : std::uint8_t { image_states, image_mask };

/// Attention to images' states, made anew in every pass: (B, S, hidden) -> the same.
struct image_attention {
    layer_context ctx;

    static constexpr role module_role = role::cross_attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Attention"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, heads = ctx.config.num_attention_heads,
                           d = ctx.config.head_dim;
        const tensor &states = ctx.inputs->family_tensors[image_states], &mask = ctx.inputs->family_tensors[image_mask];
        const auto split = [&](literal name, const tensor& input) {
            const tensor all = t.call(name, linear{input.dim(2), width}, input);
            return all.view({input.dim(0), input.dim(1), heads, d}).transpose(1, 2);
        };
        tensor q = split("q_proj", x), k = split("k_proj", states);
        const tensor v = split("v_proj", states);
        if (ctx.config.family[norms_queries] != 0) {
            q = apply_norm(ctx, t, "q_layer_norm", d, q);
            k = apply_norm(ctx, t, "k_layer_norm", d, k);
        }
        const attention_pattern pattern{
            .query_length = x.dim(1), .cached_length = states.dim(1) - x.dim(1), .is_causal = false};
        const tensor mixed = attention_forward(t, q, k, v, pattern, {.mask = &mask});
        return output_projection(ctx, t, t.contiguous(t.reshape(mixed, {x.dim(0), x.dim(1), -1})));
    }
};

/// A block that reads images: both of its parts are let in by numbers that begin at zero.
struct image_block {
    layer_context ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("GatedCrossAttentionLayer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size;
        const shape sizes = ctx.config.family[uses_vector_alpha] != 0 ? shape{1, 1, width} : shape{1};
        const activation_module opens{activation::tanh};
        const tensor first = t.param("alpha_cross_attn", sizes), second = t.param("alpha_dense", sizes);
        tensor h = t.call("cross_attn", image_attention{ctx}, apply_norm(ctx, t, "input_layernorm", x));
        h = t.masked_fill(h);  // tokens that attend to no image
        const tensor middle = t.add(x, t.mul(t.call("act_cross_attn", opens, first), h));
        h = default_mlp(ctx, t, apply_norm(ctx, t, "post_attention_layernorm", middle));
        return t.add(middle, t.mul(t.call("act_dense", opens, second), h));
    }
};

/// A block of the resampler: latents attend to an image's states and to themselves, their largest score taken off.
constexpr tensor attend_latents(const layer_context& ctx, trace& t, const tensor& x, const tensor& states) {
    const std::int64_t width = ctx.config.hidden_size, heads = ctx.config.num_attention_heads, d = ctx.config.head_dim;
    const norm_module layer_norm{norm_kind::layer, width}, head_norm{norm_kind::layer, d};
    const module_info m{.name = "0", .class_of_module = ctx.class_of("PerceiverAttention"), .module_role = role::attn};
    t.enter(m);
    const tensor context_states = t.call("context_layer_norm", layer_norm, states);
    const tensor normed_latents = t.call("latents_layer_norm", layer_norm, x);
    const auto split = [&](const tensor& all) { return all.view({all.dim(0), all.dim(1), heads, d}).transpose(1, 2); };
    const linear to_heads{width, heads * d};
    const tensor queries = t.call("q_proj", to_heads, normed_latents);
    const tensor family_keys = t.call("k_proj", to_heads, t.cat({context_states, normed_latents}, -2));
    tensor q = split(queries), k = split(family_keys);
    const tensor v = split(t.call("v_proj", to_heads, t.cat({context_states, normed_latents}, -2)));
    if (ctx.config.family[norms_heads] != 0) {
        q = t.call("q_layer_norm", head_norm, q);
        k = t.call("k_layer_norm", head_norm, k);
    }
    const tensor scores = einsum(t, "bhid,bhjd->bhij", t.mul_scalar(q), k);
    tensor largest;
    {
        const recorder::no_grad_guard detached{t};
        largest = t.amax(scores, -1, true);
    }
    const tensor mixed = einsum(t, "bhij,bhjd->bhid", t.softmax_method(t.sub(scores, largest)), v);
    const tensor attention_output = t.reshape(mixed.transpose(1, 2), {x.dim(0), x.dim(1), heads * d});
    return t.leave(m, t.call("output_proj", linear{heads * d, width}, attention_output));
}

constexpr tensor perceiver_mlp(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = x.dim(2);
    const module_info m{.name = "1", .class_of_module = ctx.class_of("MLP"), .module_role = role::mlp};
    t.enter(m);
    const tensor intermediate =
        t.call("fc", linear{width, 4 * width}, t.call("ln", norm_module{norm_kind::layer, width}, x));
    return t.leave(m, t.call("c_proj", linear{4 * width, width},
                             t.call("act", activation_module{activation::relu}, intermediate)));
}

/// Learned latents read an image's states in some blocks (`IdeficsPerceiverResampler`).
constexpr tensor resample(const layer_context& ctx, trace& t, const tensor& states) {
    const std::int64_t width = ctx.config.hidden_size, n = ctx.config.family[latents];
    const tensor learned = t.param("latents", {n, width}).unsqueeze(0);
    tensor x = t.copy(learned.expand({states.dim(0), n, width}));
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, x); layer_loop.next();) {
        const module_info pair{.name = "blocks", .index = layer_loop.index(), .class_of_module = {"", "ModuleList"}};
        t.enter(pair);
        x = t.add(t.leave(pair, attend_latents(ctx, t, x, states)), x);
        t.enter(pair);
        x = t.add(t.leave(pair, perceiver_mlp(ctx, t, x)), x);
    }
    return t.call("layer_norm", norm_module{norm_kind::layer, width}, x);
}

/// Images of each sequence: the reference refuses a text without any.
[[nodiscard]] constexpr std::int64_t images_of_each(const trace& t) noexcept {
    return t.load().images > 0 ? t.load().images : 1;
}

/// Returns the concatenated image states of each sequence; passes with a KV cache read them as an input.
constexpr tensor encode_images(const layer_context& ctx, trace& t) {
    const std::int64_t batch = t.load().batch, num_images = images_of_each(t);
    const recorder::not_executed_guard cached_images{t, t.load().past > 0};
    tensor states;
    {
        const recorder::workload_guard all{t, image_workload(t.load(), batch * num_images, 0, 0)};
        states = forward_encoder_component(ctx, t, 0, "vision_model", role::vision);
    }
    if (ctx.config.family[resamples] != 0) {
        const layer_context component_ctx = ctx.component(1);
        const module_info m{.name = "perceiver_resampler",
                            .class_of_module = component_ctx.class_of("PerceiverResampler")};
        t.enter(m);
        states = t.leave(m, resample(component_ctx, t, states));
    }
    return states.view({batch, num_images * states.dim(1), states.dim(2)});
}

/// Which words see which states, as numbers to add, and which see any; zero and the lowest number are written besides.
constexpr tensor mask_states(trace& t, const tensor& states) {
    const recorder::no_grad_guard constants{t};
    t.add_written_elements(2);
    const tensor mask = t.full({states.dim(0), 1, t.load().sequence, states.dim(1)}, t.activation_type());
    (void)t.full({states.dim(0), 1, t.load().sequence}, t.activation_type());
    return mask;
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    if (t.is_training() && (ctx.config.family[frozen_text] != 0 || ctx.config.family[frozen_tower] != 0))
        throw_description_error(
            "training with frozen parts is not supported: freeze_text_layers, freeze_vision_layers");
    tensor x = ctx.spec.embed_tokens(ctx, t);
    const tensor states = encode_images(ctx, t);
    const tensor mask = mask_states(t, states);
    attention_inputs shared = ctx.spec.prepare_inputs(ctx, t).full;
    shared.family_tensors[image_states] = states;
    shared.family_tensors[image_mask] = mask;
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, ctx.config.layers, x); layer_loop.next();) {
        const layer_context component_ctx = ctx.for_layer(layer_loop, shared);
        const child_name block{"gated_cross_attn_layers", layer_loop.index() / ctx.config.family[interval]};
        if (layer_loop.layer().family_tag == reads_images) x = t.call(block, image_block{component_ctx}, x);
        x = t.call({"layers", layer_loop.index()}, decoder_layer{component_ctx}, x);
    }
    return apply_norm(ctx, t, "norm", x);
}

constexpr tensor forward(const layer_context& ctx, trace& t) {
    if (ctx.config.head == head_kind::none) return forward_without_head(ctx, t);
    const module_info model_info{.class_of_module = ctx.class_of(ctx.spec.names.causal_lm_class)};
    t.enter(model_info);
    const tensor x =
        forward_in_module({.name = "model", .class_of_module = ctx.class_of("Model")}, ctx.spec.base_model, ctx, t);
    const recorder::not_executed_guard unused{t, t.load().head == logits::none};
    return t.leave(model_info, t.select_model_output(x, score(ctx, t, logits_to_keep(t, x))));
}

/// Masks are made of causal attention; tables are made in every attention.
constexpr decoder_inputs prepare_inputs(const layer_context& ctx, trace& t) { return make_masks(ctx, t); }

/// Returns the image shape: the input size of the vision encoder. Image states take no token positions.
constexpr media_shapes compute_media_shapes(const model& m, const workload&) {
    const vision_config& image = m.components[0].config.vision;
    return {.image = {.height = image.image_height, .width = image.image_width}};
}

constexpr void parse_config(config_view json, model_config& config) {
    divide_by_heads(json, config, {"num_attention_heads"});
    if (config.num_hidden_layers % config.family[interval] != 0)
        throw_invalid_value(json, "cross_layer_interval", "a divisor of num_hidden_layers");
    set_layers(json, config, [&](std::int64_t i) {
        return layer_spec{.family_tag = i % config.family[interval] == 0 ? reads_images : std::uint8_t{}};
    });
    const string_ref gates = json.string("alpha_type", "float"), begin = json.string("alpha_initializer", "zeros");
    if (gates != "float" && gates != "vector") throw_invalid_value(json, "alpha_type", "float or vector");
    config.family[uses_vector_alpha] = gates == "vector" ? 1 : 0;
    for (const literal known : {"zeros", "ones", "normal", "gaussian", "random"})
        if (begin == known) return;
    throw_invalid_value(json, "alpha_initializer", "zeros, ones, normal, gaussian or random");
}

constexpr void parse_config(config_view json, model& m) {
    model_config& resampler_config = m.components[1].config;
    resampler_config.hidden_size = m.components[0].config.hidden_size;
    (void)checked_size(json, "perceiver_config", resampler_config.num_attention_heads, resampler_config.head_dim);
    (void)checked_size(json, "vision_config", 4, resampler_config.hidden_size);
}

inline constexpr submodel_spec tower = [](model_spec spec) {
    spec.model_type = "idefics_vision";
    spec.class_prefix = "Idefics";
    spec.base_model = [](const layer_context& ctx, trace& t) {
        return contrastive::states_and_pool(ctx, t, false, "VisionEncoder").first;
    };
    spec.parse_config = [](config_view json, model_config& config) {
        parse_square_image(json, config, 224, 14);
        divide_by_heads(json, config, {"num_attention_heads"});
    };
    spec.names.model_class = "VisionTransformer";
    spec.names.layer_class = "VisionEncoderLayer";
    spec.names.attention_class = "VisionAttention";
    spec.names.mlp_class = "VisionMLP";
    spec.supported_heads = {};
    spec.config_keys.add("hidden_size", "embed_dim", key_rule::standard_name_first);
    spec.defaults.intermediate_size = 5120;
    spec.defaults.num_hidden_layers = 32;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.hidden_act = activation::gelu;
    return spec;
}(clip_vision_model);

inline constexpr submodel_spec resampler = [](model_spec spec) {
    spec.model_type = "idefics_perciever";
    spec.class_prefix = "Idefics";
    spec.family_keys = resampler_keys;
    spec.rotary = rotary_style::none;
    spec.config_keys.add("num_hidden_layers", "resampler_depth", key_rule::family_name_only);
    spec.config_keys.add("num_attention_heads", "resampler_n_heads", key_rule::family_name_only);
    spec.config_keys.add("head_dim", "resampler_head_dim", key_rule::family_name_only);
    spec.config_keys.add("hidden_size", key_rule::absent);
    spec.supported_heads = {};
    spec.defaults.hidden_size = 768;
    spec.defaults.num_hidden_layers = 6;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.head_dim = 96;
    spec.defaults.intermediate_size = 3072;
    return spec;
}(model_spec{});

}  // namespace idefics_detail

// transformers/models/idefics: Llama with cross-attention blocks over image states; CLIP vision encoder
inline constexpr model_spec idefics = [](model_spec spec) {
    spec.model_type = "idefics";
    spec.class_prefix = "Idefics";
    spec.forward = idefics_detail::forward;
    spec.base_model = idefics_detail::base;
    spec.embed_tokens = idefics_detail::embed;
    spec.prepare_inputs = idefics_detail::prepare_inputs;
    spec.attention = idefics_detail::attention;
    spec.parse_config = idefics_detail::parse_config;
    spec.parse_composite_config = idefics_detail::parse_config;
    spec.family_keys = idefics_detail::family_keys;
    spec.compute_media_shapes = idefics_detail::compute_media_shapes;
    spec.modalities.has_images = true;
    spec.supported_layers.max_family_tag = idefics_detail::reads_images;
    spec.norm = norm_kind::rms_float_variance;
    spec.dropout_keys = {};
    spec.components[0] = {.key = "vision_config", .default_spec = &idefics_detail::tower, .ignores_model_type = true};
    spec.components[1] = {
        .key = "perceiver_config", .default_spec = &idefics_detail::resampler, .ignores_model_type = true};
    spec.names.causal_lm_class = "ForVisionText2Text";
    spec.supported_heads = language_heads;
    spec.config_keys.add("attention_bias", key_rule::absent);
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.config_keys.add("sliding_window", key_rule::absent);
    spec.config_keys.add("num_key_value_heads", key_rule::absent);
    spec.config_keys.add("head_dim", key_rule::absent);
    spec.defaults.vocab_size = 32000;
    spec.defaults.hidden_size = 4096;
    spec.defaults.intermediate_size = 11008;
    spec.defaults.num_hidden_layers = 32;
    spec.defaults.num_attention_heads = 32;
    spec.defaults.max_position_embeddings = 2048;
    return spec;
}(default_decoder);

}  // namespace llmcost::arch
