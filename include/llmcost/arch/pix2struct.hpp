// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/reader.hpp>
#include <llmcost/forward/composite.hpp>
#include <llmcost/forward/encoder_decoder.hpp>
#include <llmcost/forward/encoder_model.hpp>
#include <llmcost/forward/multimodal.hpp>
#include <llmcost/forward/vision_encoder.hpp>
#include <llmcost/layers/heads.hpp>

namespace llmcost::arch {

namespace pix2struct_detail {

enum tower_config_index : std::uint8_t { patch_values, patches };
inline constexpr family_key tower_keys[]{{"patch_embed_hidden_size", 768}, {"seq_len", 4096}};
enum text_config_index : std::uint8_t { buckets };
inline constexpr family_key text_keys[]{{"relative_attention_num_buckets", 32}};

[[nodiscard]] constexpr norm_module norm_over(const layer_context& ctx) {
    return norm_module{norm_kind::rms_float_variance, ctx.config.hidden_size, {"Pix2Struct", "LayerNorm"}};
}

/// T5's gated feed-forward block.
struct gated_block {
    const layer_context& ctx;
    literal named;

    static constexpr role module_role = role::mlp;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of(named); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, inner = ctx.config.intermediate_size;
        const tensor gate =
            t.call("act", activation_module{ctx.config.hidden_act}, t.call("wi_0", linear{width, inner}, x));
        const tensor gated = dropout(t, "dropout", t.mul(gate, t.call("wi_1", linear{width, inner}, x)));
        return t.call("wo", linear{inner, width}, gated);
    }
};

// ---- images

/// Self-attention with heads of size `d_kv` and a scale of one.
constexpr tensor attend_in_tower(const layer_context& ctx, trace& t, const tensor& x) {
    query_key_value qkv = project_qkv(ctx, t, x);
    split_heads(ctx, qkv);
    transpose_heads(qkv);
    const tensor mixed = attention_forward(t, qkv.query, qkv.key, qkv.value, full_pattern(x.dim(1)).pattern,
                                           {.has_float32_softmax = false});
    return output_projection(ctx, t, t.contiguous(t.reshape(mixed, {x.dim(0), x.dim(1), -1})));
}

struct tower_layer {
    layer_context ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("VisionLayer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor normed = t.call("pre_attention_layer_norm", norm_over(ctx), x);
        const tensor middle = t.add(t.call("attention", attention_module{ctx}, normed), x);
        const tensor h = t.call("pre_mlp_layer_norm", norm_over(ctx), middle);
        return t.add(t.call("mlp", gated_block{ctx, "VisionMlp"}, h), middle);
    }
};

/// As many patches as the model was made for, whatever the image: each is its row, its column and its values.
constexpr tensor tower_base(const layer_context& ctx, trace& t) {
    const std::int64_t width = ctx.config.hidden_size, batch = t.load().batch;
    const std::int64_t values = ctx.config.family[patch_values], n = ctx.config.family[patches];
    const module_info embeddings{
        .name = "embeddings", .class_of_module = ctx.class_of("VisionEmbeddings"), .module_role = role::embedding};
    const module_info encoder{.name = "encoder", .class_of_module = ctx.class_of("VisionEncoder")};
    t.enter(embeddings);
    const tensor flattened = t.slice(t.input({batch, n, 2 + values}), -1, values);
    tensor x = t.call("patch_projection", linear{values, width, true}, flattened);
    const shape places{batch, n};
    const tensor rows = t.call("row_embedder", embedding{n, width}, places);
    const tensor columns = t.call("column_embedder", embedding{n, width}, places);
    x = t.leave(embeddings, dropout(t, "dropout", t.add(t.add(x, rows), columns)));
    t.enter(encoder);
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, x); layer_loop.next();)
        x = t.call({"layer", layer_loop.index()}, tower_layer{ctx}, x);
    t.leave(encoder);
    return t.call("layernorm", norm_over(ctx), x);
}

// ---- texts

/// Attention over the text or an image's states, whose scores are scaled by one; a bias is made in the first layer.
constexpr tensor attend_in_text(const layer_context& ctx, trace& t, const tensor& x, const tensor* states,
                                tensor& bias) {
    const bool crosses = states != nullptr;
    const tensor& source = crosses ? *states : x;
    const std::int64_t width = ctx.config.hidden_size, heads = ctx.config.num_attention_heads;
    const auto split = [&](literal name, const tensor& input) {
        const tensor all = t.call(name, linear{input.dim(2), width}, input);
        return all.view({input.dim(0), input.dim(1), heads, width / heads}).transpose(1, 2);
    };
    const tensor q = split("query", x);
    const bool from_cache = crosses && is_encoder_cached(t.load());
    const attention_pattern cross_pattern{.query_length = source.dim(1), .is_causal = false};
    const attention_pattern& pattern = crosses ? cross_pattern : ctx.inputs->pattern;
    tensor k, v;
    {
        const recorder::not_executed_guard unused{t, from_cache};
        k = split("key", source);
        v = split("value", source);
    }
    if (from_cache) {
        k = v = trace::buffer({x.dim(0), heads, source.dim(1), width / heads});
        t.add_to_cache(k);
        t.add_to_cache(v);
    } else {
        k = update_kv_cache(t, k, pattern);
        v = update_kv_cache(t, v, pattern);
    }
    if (bias.rank == 0)
        bias = crosses ? t.full({1, heads, x.dim(1), k.dim(2)}, t.activation_type())
                       : relative_bias(t, ctx.config.family[buckets], heads, x.dim(1), k.dim(2));
    const tensor* const mask = crosses ? nullptr : &ctx.inputs->mask;
    const tensor mixed =
        attention_forward(t, q, k, v, pattern, {.bias = &bias, .mask = mask, .has_float32_softmax = false});
    const tensor attention_output = t.contiguous(t.reshape(mixed, {x.dim(0), x.dim(1), width}));
    return t.call("output", linear{width, width}, attention_output);
}

/// A norm, attention, residual.
constexpr tensor call_attention(const layer_context& ctx, trace& t, const tensor& x, const tensor* states,
                                tensor& bias) {
    const module_info m{.name = "attention", .class_of_module = ctx.class_of("TextAttention")};
    const tensor normed = t.call("layer_norm", norm_over(ctx), x);
    t.enter(m);
    const tensor h = t.leave(m, attend_in_text(ctx, t, normed, states, bias));
    return t.add(x, dropout(t, "dropout", h));
}

/// Biases that the first layer makes and all read: of distances, and zeros for an image.
struct biases {
    tensor self_bias, cross_bias;
};

constexpr tensor call_layer(const layer_context& ctx, trace& t, std::int64_t index, const tensor& x, biases& made) {
    const module_info m{.name = "layer", .index = index, .class_of_module = ctx.class_of("TextBlock")};
    const module_info self{
        .name = "self_attention", .class_of_module = ctx.class_of("TextLayerSelfAttention"), .module_role = role::attn};
    const module_info cross{.name = "encoder_decoder_attention",
                            .class_of_module = ctx.class_of("TextLayerCrossAttention"),
                            .module_role = role::cross_attn};
    const module_info block{.name = "mlp", .class_of_module = ctx.class_of("TextLayerFF"), .module_role = role::mlp};
    t.enter(m);
    t.enter(self);
    tensor h = t.leave(self, call_attention(ctx, t, x, nullptr, made.self_bias));
    t.enter(cross);
    h = t.leave(cross, call_attention(ctx, t, h, &ctx.inputs->family_tensors[0], made.cross_bias));
    t.enter(block);
    tensor f = t.call("layer_norm", norm_over(ctx), h);
    f = t.call("DenseReluDense", gated_block{ctx, "TextDenseGatedActDense"}, f);
    return t.leave(m, t.leave(block, t.add(h, dropout(t, "dropout", f))));
}

/// A text that reads an image's states, under its scores.
constexpr tensor forward_text_decoder_stack(const layer_context& ctx, trace& t) {
    const workload& load = t.load();
    const std::int64_t width = ctx.config.hidden_size;
    const module_info decoder{
        .name = "decoder", .class_of_module = ctx.class_of("TextModel"), .module_role = role::decoder};
    t.enter(decoder);
    tensor x = t.call("embed_tokens", embedding{ctx.config.vocab_size, width}, shape{load.batch, load.sequence});
    make_padding_mask(t);
    attention_inputs shared{.pattern = attention_pattern_of(t, 0)};
    shared.mask = eager_mask(t, shared.pattern, load.batch);
    shared.family_tensors[0] = ctx.inputs->family_tensors[0];
    const layer_context decoder_ctx{ctx.model, ctx.spec, ctx.config, &shared};
    x = dropout(t, "dropout", x);
    biases made;
    x = call_layer(decoder_ctx, t, 0, x, made);
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers - 1, x, 1); layer_loop.next();)
        x = call_layer(decoder_ctx, t, layer_loop.index(), x, made);
    x = dropout(t, "dropout", t.call("final_layer_norm", norm_over(ctx), x));
    const recorder::not_executed_guard unused{t, load.head == logits::none};
    const linear lm_head{width, ctx.config.vocab_size, false, ctx.config.tie_word_embeddings};
    return t.leave(decoder, t.select_model_output(x, t.call("lm_head", head_linear{lm_head}, logits_to_keep(t, x))));
}

constexpr tensor forward(const layer_context& ctx, trace& t) {
    const module_info model_info{.class_of_module = {ctx.spec.class_prefix, name_of(ctx.config.head)}};
    t.enter(model_info);
    attention_inputs read;
    {
        const recorder::not_executed_guard done{t, is_encoder_cached(t.load())};
        read.family_tensors[0] = forward_encoder_component(ctx, t, 0, "encoder", role::vision);
    }
    const layer_context plain = ctx.text_model(), text{plain.model, plain.spec, plain.config, &read};
    return t.leave(model_info, forward_text_decoder_stack(text, t));
}

/// An image of any size becomes as many patches as the model was made for.
constexpr media_shapes compute_media_shapes(const model&, const workload& load) {
    if (load.images > 1) throw_description_error("more than one image per sequence is not supported");
    return {.image = {.height = load.image_height, .width = load.image_width}};
}

constexpr void parse_text_config(config_view json, model_config& config) {
    if (config.num_attention_heads * config.head_dim != config.hidden_size)
        throw_invalid_value(json, "d_kv", "hidden_size over the number of heads");
    if (!json.boolean("is_decoder", true))
        throw_unsupported(json, "is_decoder", "this text model is not supported as an encoder");
    config.attention_bias = config.output_bias = false;
    config.layers.fill({token_mixer_kind::full_attention});
}

inline constexpr submodel_spec tower = [](model_spec spec) {
    spec.class_prefix = "Pix2Struct";
    spec.base_model = tower_base;
    spec.family_keys = tower_keys;
    spec.supported_heads = {};
    spec.attention = attend_in_tower;
    spec.parse_config = [](config_view, model_config& config) { config.attention_bias = config.output_bias = false; };
    spec.names.attention_class = "VisionAttention";
    spec.names.q_proj = "query";
    spec.names.k_proj = "key";
    spec.names.v_proj = "value";
    spec.names.o_proj = "output";
    spec.config_keys.remove("head_dim");
    spec.config_keys.add("head_dim", "d_kv", key_rule::family_name_only);
    spec.config_keys.add("intermediate_size", "d_ff", key_rule::family_name_only);
    spec.config_keys.add("hidden_act", "dense_act_fn", key_rule::family_name_only);
    spec.defaults.intermediate_size = 2048;
    spec.defaults.head_dim = 64;
    spec.defaults.hidden_act = activation::gelu_new;
    return spec;
}(shared_tower);

inline constexpr submodel_spec texts = [](model_spec spec) {
    spec.class_prefix = "Pix2Struct";
    spec.parse_config = parse_text_config;
    spec.family_keys = text_keys;
    spec.supported_heads = {};
    spec.rotary = rotary_style::none;
    spec.names.model_class = "TextModel";
    spec.config_keys.add("attention_bias", key_rule::absent);
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.config_keys.add("sliding_window", key_rule::absent);
    spec.config_keys.add("num_key_value_heads", key_rule::absent);
    spec.config_keys.add("head_dim", "d_kv", key_rule::family_name_only);
    spec.config_keys.add("num_hidden_layers", "num_layers", key_rule::standard_name_first);
    spec.config_keys.add("num_attention_heads", "num_heads", key_rule::standard_name_first);
    spec.config_keys.add("intermediate_size", "d_ff", key_rule::family_name_only);
    spec.config_keys.add("hidden_act", "dense_act_fn", key_rule::family_name_only);
    spec.defaults.vocab_size = 50244;
    spec.defaults.hidden_size = 768;
    spec.defaults.intermediate_size = 2048;
    spec.defaults.num_hidden_layers = spec.defaults.num_attention_heads = 12;
    spec.defaults.head_dim = 64;
    spec.defaults.hidden_act = activation::gelu_new;
    return spec;
}(default_decoder);

}  // namespace pix2struct_detail

// transformers/models/pix2struct: modeling_pix2struct.py, T5's blocks over patches and over a text that reads them
inline constexpr model_spec pix2struct = [](model_spec spec) {
    spec.model_type = "pix2struct";
    spec.class_prefix = "Pix2Struct";
    spec.forward = pix2struct_detail::forward;
    spec.supported_heads = {head_kind::conditional_generation};
    spec.compute_media_shapes = pix2struct_detail::compute_media_shapes;
    spec.modalities.has_images = true;
    spec.text_model = {.key = "text_config", .default_spec = &pix2struct_detail::texts, .ignores_model_type = true};
    spec.components[0] = {
        .key = "vision_config", .default_spec = &pix2struct_detail::tower, .ignores_model_type = true};
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
