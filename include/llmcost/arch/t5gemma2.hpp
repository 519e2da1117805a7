// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/gemma2.hpp>
#include <llmcost/arch/gemma3.hpp>
#include <llmcost/forward/encoder_decoder.hpp>
#include <llmcost/forward/encoder_model.hpp>
#include <llmcost/forward/pooled_image_tokens.hpp>

namespace llmcost::arch {

namespace t5gemma2_detail {

inline constexpr family_key family_keys[]{
    {.type = family_key_type::computed}};  // tokens that an image becomes, as Gemma 3 has them

/// Words times a constant, of which one is a vector of its own, written in place; the decoder's are the encoder's.
struct text_scaled_word_embedding {
    layer_context ctx;
    bool tied;

    static constexpr role module_role = role::embedding;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("TextScaledWordEmbedding"); }
    constexpr tensor forward(trace& t, const shape& ids) const {
        const embedding token_embedding{ctx.config.vocab_size, ctx.config.hidden_size, true, type_name(), tied};
        t.register_buffer({}, t.activation_type());  // `embed_scale`
        const tensor x = token_embedding.forward(t, ids);
        const shape width{ctx.config.hidden_size};
        t.accumulate_gradient(tied ? t.tied("eoi_embedding", width) : t.param("eoi_embedding", width));
        return x;
    }
};

struct text_mlp {
    layer_context ctx;

    static constexpr role module_role = role::mlp;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("MLP"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, inner = ctx.config.intermediate_size;
        const activation_module act{ctx.config.hidden_act};
        const tensor gate = t.call("act_fn", act, t.call("gate_proj", linear{width, inner}, x));
        const tensor h = t.mul(gate, t.call("up_proj", linear{width, inner}, x));
        return t.call("down_proj", linear{inner, width}, dropout(t, "dropout", h));
    }
};

constexpr tensor mlp(const layer_context& ctx, trace& t, const tensor& x) { return t.call("mlp", text_mlp{ctx}, x); }

/// Decoder layer with norms before and after each block, and one dropout module after both blocks.
constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const decoder_module_names& n = ctx.spec.names;
    tensor h =
        apply_norm(ctx, t, n.post_attention_norm, mix_tokens(ctx, t, apply_norm(ctx, t, n.pre_attention_norm, x)));
    const tensor middle = t.add(x, dropout(t, "dropout", h));
    h = ctx.spec.mlp(ctx, t, apply_norm(ctx, t, n.pre_mlp_norm, middle));
    return t.add(middle, dropout(t, "dropout", apply_norm(ctx, t, n.post_mlp_norm, h)));
}

constexpr query_key_value project_qkv_with_rotary(const layer_context& ctx, trace& t, const tensor& x) {
    query_key_value qkv = project_qkv(ctx, t, x);
    split_heads(ctx, qkv);
    transpose_heads(qkv);
    apply_qk_norm(ctx, t, qkv, ctx.config.head_dim, ctx.config.head_dim);
    apply_rotary(ctx, t, qkv);
    return qkv;
}

constexpr tensor attend_all(const layer_context& ctx, trace& t, const tensor& x) {
    return output_projection(ctx, t, bidirectional_sdpa(ctx, t, project_qkv_with_rotary(ctx, t, x), true));
}

/// Merged attention: keys and values of the encoder states, from the same projections and without RoPE, follow the
/// decoder's own.
constexpr tensor attend_merged(const layer_context& ctx, trace& t, const tensor& x) {
    const attention_inputs& s = *ctx.inputs;
    const tensor& source = s.family_tensors[0];
    const std::int64_t groups = ctx.config.num_key_value_heads, d = ctx.config.head_dim, batch = x.dim(0);
    const attention_pattern cross_pattern{.query_length = source.dim(1), .is_causal = false};
    query_key_value qkv = project_qkv_with_rotary(ctx, t, x);
    update_kv_cache(ctx, t, qkv);
    tensor k, v;
    if (is_encoder_cached(t.load())) {
        k = v = trace::buffer({batch, groups, source.dim(1), d});
        t.add_to_cache(k);
        t.add_to_cache(v);
    } else {
        const recorder::shared_parameters_guard shared_parameters{t};
        const auto split = [&](literal name) {
            return project(ctx, t, name, groups * d, source).view({batch, source.dim(1), groups, d}).transpose(1, 2);
        };
        k = split(ctx.spec.names.k_proj);
        v = split(ctx.spec.names.v_proj);
        k = apply_norm(ctx, t, ctx.spec.names.k_norm, d, k);
        k = update_kv_cache(t, k, cross_pattern);
        v = update_kv_cache(t, v, cross_pattern);
    }
    qkv.key = t.cat({qkv.key, k}, 2);
    qkv.value = t.cat({qkv.value, v}, 2);
    const tensor found = attention_forward(t, qkv.query, qkv.key, qkv.value, s.pattern,
                                           {.mask = &s.mask, .num_extra_keys = source.dim(1)});
    return output_projection(ctx, t, t.contiguous(t.reshape(found, {batch, x.dim(1), -1})));
}

/// Tables of those kinds of layers that there are, dropout, layers, norm, dropout.
constexpr tensor forward_stack(const layer_context& ctx, trace& t, decoder_inputs shared, tensor x) {
    const std::int64_t layers = ctx.config.num_hidden_layers;
    if (ctx.config.layers.contains(token_mixer_kind::full_attention, layers))
        compute_rotary_embeddings(ctx, t, shared.full);
    if (ctx.config.layers.contains(token_mixer_kind::sliding_attention, layers))
        compute_rotary_embeddings(ctx, t, shared.sliding, true);
    x = forward_layers(ctx, t, shared, dropout(t, "dropout", x));
    return dropout(t, "dropout", apply_norm(ctx, t, "norm", x));
}

/// A tower over all images, and what brings its patches to the width of the text.
constexpr tensor embed_images(const layer_context& ctx, trace& t, const tensor& token_embeddings) {
    const recorder::not_executed_guard no_pixels{t, !has_images(t)};
    const recorder::workload_guard encoder_workload{t, image_workload(t.load(), images_in(t), 0, 0)};
    const tensor states = forward_encoder_component(ctx, t, 0, "vision_tower", role::vision);
    const tensor features = t.call("multi_modal_projector", pooled_image_tokens::projector_of_pools{ctx}, states);
    return t.masked_scatter(token_embeddings, features);
}

/// Layers that slide read a mask, whether the text is long enough to need one or not.
constexpr tensor forward_text_encoder_stack(const layer_context& model_ctx, trace& t) {
    const layer_context ctx = model_ctx.component(1);
    const workload& load = t.load();
    const module_info m{.name = "text_model", .class_of_module = ctx.class_of("TextEncoder")};
    t.enter(m);
    tensor x = t.call("embed_tokens", text_scaled_word_embedding{ctx, false}, shape{load.batch, load.sequence});
    x = embed_images(model_ctx, t, t.leave(m, x));
    t.enter(m);
    decoder_inputs shared;
    shared.full.pattern = shared.sliding.pattern = full_pattern(load.sequence).pattern;
    shared.sliding.mask = eager_mask(t, shared.sliding.pattern, load.batch);
    return t.leave(m, forward_stack(ctx, t, shared, x));
}

constexpr tensor forward_multimodal_encoder(const layer_context& ctx, trace& t) {
    const workload load = t.load();
    const module_info encoder{
        .name = "encoder", .class_of_module = ctx.class_of("Encoder"), .module_role = role::encoder};
    t.enter(encoder);
    tensor x;
    {
        const recorder::not_executed_guard done{t, is_encoder_cached(load)};
        const recorder::workload_guard workload_scope{t, encoder_workload(load)};
        x = forward_text_encoder_stack(ctx, t);
    }
    t.leave(encoder, x);
    return is_encoder_cached(load) ? t.input({load.batch, encoder_length(load), ctx.config.hidden_size}) : x;
}

/// Runs the decoder with full and sliding masks, each concatenated with one over the encoder states.
constexpr tensor forward_cross_decoder(const layer_context& ctx, trace& t, const tensor& source) {
    const workload& load = t.load();
    const module_info decoder{
        .name = "decoder", .class_of_module = ctx.class_of("Decoder"), .module_role = role::decoder};
    t.enter(decoder);
    const text_scaled_word_embedding token_embedding{ctx, ctx.config.tie_word_embeddings};
    const tensor x = t.call("embed_tokens", token_embedding, shape{load.batch, load.sequence});
    decoder_inputs shared = make_masks(ctx, t);
    const attention_pattern cross_pattern{
        .query_length = load.sequence, .cached_length = source.dim(1) - load.sequence, .is_causal = false};
    const tensor cross_mask = eager_mask(t, cross_pattern, load.batch);
    for (attention_inputs* const inputs : {&shared.full, &shared.sliding}) {
        inputs->mask = t.cat({inputs->mask, cross_mask}, -1);
        inputs->family_tensors[0] = source;
    }
    return t.leave(decoder, forward_stack(ctx, t, shared, x));
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    const tensor source = forward_multimodal_encoder(ctx, t);
    return forward_cross_decoder(ctx.text_model(), t, source);
}

/// Returns the workload with image tokens added to the encoder input.
[[nodiscard]] constexpr workload add_image_tokens(const model& m, workload load) {
    if (load.images == 0) return load;
    const std::int64_t tokens = load.images * pooled_image_tokens::compute_media_shapes(m, load).image.num_tokens;
    if (load.past == 0) load.sequence -= tokens;
    load.encoder_sequence = encoder_length(load) + tokens;
    return load;
}

constexpr tensor forward(const layer_context& ctx, trace& t) {
    const recorder::workload_guard encoder_workload{t, add_image_tokens(ctx.model, t.load())};
    const class_name type = ctx.class_of("Model");
    if (ctx.config.head == head_kind::none) return forward_in_module({.class_of_module = type}, base, ctx, t);
    const module_info model_info{.class_of_module = ctx.class_of(name_of(ctx.config.head))};
    const module_info lm_head{.name = "lm_head", .class_of_module = ctx.class_of("LMHead"), .module_role = role::head};
    t.enter(model_info);
    const tensor x = forward_in_module({.name = "model", .class_of_module = type}, base, ctx, t);
    const recorder::not_executed_guard unused{t, t.load().head == logits::none};
    const linear token_head{ctx.config.hidden_size, ctx.config.vocab_size, false, ctx.config.tie_word_embeddings};
    t.enter(lm_head);
    tensor scores = t.leave(lm_head, t.call("out_proj", token_head, logits_to_keep(t, x)));
    if (ctx.config.logits_soft_cap) scores = t.mul_scalar(t.tanh(t.div_scalar(scores)));
    return t.leave(model_info, t.select_model_output(x, scores));
}

constexpr void parse_config(config_view json, model_config& config) {
    require_sliding_window(json);
    parse_gemma_layers(json, config, false, false, json.positive("sliding_window_pattern", 6));
    config.attention_soft_cap = false;  // its attention has the key and does not pass it on
    if (config.hidden_size % config.num_attention_heads != 0)
        throw_invalid_value(json, "num_attention_heads", "a divisor of hidden_size");
}

inline constexpr submodel_spec decoder = [](model_spec spec) {
    spec.model_type = "t5gemma2_decoder";
    spec.class_prefix = "T5Gemma2";
    spec.parse_config = parse_config;
    spec.decoder_layer = decoder_layer;
    spec.mlp = mlp;
    spec.supported_heads = {};
    spec.attention = attend_merged;
    spec.names.attention_class = "MergedAttention";
    spec.names.model_class = "Decoder";
    spec.names.pre_attention_norm = "pre_self_attn_layernorm";
    spec.names.post_attention_norm = "post_self_attn_layernorm";
    spec.defaults.vocab_size = 262208;
    return spec;
}(gemma3_text);

inline constexpr submodel_spec text_encoder = [](model_spec spec) {
    spec.model_type = "t5gemma2_text";
    spec.attention = attend_all;
    spec.names.attention_class = "SelfAttention";
    spec.names.layer_class = "EncoderLayer";
    spec.names.model_class = "TextEncoder";
    return spec;
}(decoder);

/// The encoder's configuration holds a text's and a tower's.
constexpr void parse_config(config_view json, model& m) {
    const config_view empty_json{&detail::no_keys, 0};
    const auto encoder_json = json.optional_object("encoder");
    const config_view encoder = encoder_json ? *encoder_json : empty_json;
    const auto text = encoder.optional_object("text_config"), vision = encoder.optional_object("vision_config");
    const config_view tower = vision ? *vision : empty_json;
    if (tower.string("model_type", siglip_vision_model.model_type) != siglip_vision_model.model_type)
        throw_unsupported(tower, "model_type", "unsupported vision encoder");
    m.components[0] = {&siglip_vision_model, parse_sizes(siglip_vision_model, tower, true)};
    m.components[1] = {&text_encoder, parse_sizes(text_encoder, text ? *text : empty_json, true)};
    m.family[pooled_image_tokens::tokens_per_image] = encoder.positive("mm_tokens_per_image", 256);
    if (const auto part = json.optional_object("decoder"))
        m.config.logits_soft_cap = part->optional_real("final_logit_softcapping").has_value();
    if (m.components[1].config.hidden_size != m.config.hidden_size ||
        m.components[1].config.vocab_size != m.config.vocab_size)
        throw_invalid_value(json, "decoder", "of the encoder's width and vocabulary");
    if (!json.boolean("is_encoder_decoder", true)) throw_invalid_value(json, "is_encoder_decoder", "true");
}

}  // namespace t5gemma2_detail

// transformers/models/t5gemma2: Gemma 3 twice, the decoder's layers look at themselves and at the encoder in one
// attention
inline constexpr model_spec t5gemma2 = [](model_spec spec) {
    spec.model_type = "t5gemma2";
    spec.class_prefix = "T5Gemma2";
    spec.forward = t5gemma2_detail::forward;
    spec.parse_composite_config = t5gemma2_detail::parse_config;
    spec.defaults.tie_word_embeddings = true;
    spec.family_keys = t5gemma2_detail::family_keys;
    spec.compute_media_shapes = pooled_image_tokens::compute_media_shapes;
    spec.parse_image_processor = pooled_image_tokens::parse_processor_config;
    spec.modalities.has_images = true;
    spec.text_model = {.key = "decoder", .default_spec = &t5gemma2_detail::decoder, .ignores_model_type = true};
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
