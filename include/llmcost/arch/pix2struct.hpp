// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/layers/heads.hpp>
#include <llmcost/reading/reader.hpp>
#include <llmcost/walks/composite.hpp>
#include <llmcost/walks/encoder_decoder.hpp>
#include <llmcost/walks/encoder_model.hpp>
#include <llmcost/walks/media.hpp>
#include <llmcost/walks/tower.hpp>

namespace llmcost::arch {

namespace pix2struct_detail {

enum tower_own : std::uint8_t { patch_values, patches };
inline constexpr own_key tower_keys[]{{"patch_embed_hidden_size", 768}, {"seq_len", 4096}};
enum text_own : std::uint8_t { buckets };
inline constexpr own_key text_keys[]{{"relative_attention_num_buckets", 32}};

[[nodiscard]] constexpr norm<norm_kind::rms_float_variance> norm_over(const site& here) {
    return norm<norm_kind::rms_float_variance>{here.dims.hidden_size, {"Pix2Struct", "LayerNorm"}};
}

/// T5's gated feed-forward block.
struct gated_block {
    const site& here;
    literal named;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type(named); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, inner = here.dims.intermediate_size;
        const value gate = t.call("act", activation_module{here.dims.hidden_act}, t.call("wi_0", linear{width, inner}, x));
        const value wide = dropout(t, "dropout", t.mul(gate, t.call("wi_1", linear{width, inner}, x)));
        return t.call("wo", linear{inner, width}, wide);
    }
};

// ---- images

/// Heads as wide as `d_kv` says, whose scores are scaled by one.
constexpr value attend_in_tower(const site& here, trace& t, const value& x) {
    qkv of = project_qkv(here, t, x);
    split_heads(here, of), heads_first(of);
    const value mixed = eager_attention(t, of.q, of.k, of.v, all_positions(x.dim(1)).where, {.float_softmax = false});
    return join(here, t, t.contiguous(t.reshape(mixed, {x.dim(0), x.dim(1), -1})));
}

struct tower_layer {
    site here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("VisionLayer"); }
    constexpr value describe(trace& t, const value& x) const {
        const value normed = t.call("pre_attention_layer_norm", norm_over(here), x);
        const value middle = t.add(t.call("attention", attention_module{here}, normed), x);
        const value h = t.call("pre_mlp_layer_norm", norm_over(here), middle);
        return t.add(t.call("mlp", gated_block{here, "VisionMlp"}, h), middle);
    }
};

/// As many patches as the model was made for, whatever the image: each is its row, its column and its values.
constexpr value tower_base(const site& here, trace& t) {
    const std::int64_t width = here.dims.hidden_size, batch = t.load().batch;
    const std::int64_t values = here.dims.own[patch_values], n = here.dims.own[patches];
    const module_info embeddings{.name = "embeddings", .type = here.type("VisionEmbeddings"), .what = role::embedding};
    const module_info encoder{.name = "encoder", .type = here.type("VisionEncoder")};
    t.enter(embeddings);
    const value flattened = t.slice(t.input({batch, n, 2 + values}), -1, values);
    value x = t.call("patch_projection", linear{values, width, true}, flattened);
    const extents places{batch, n};
    const value rows = t.call("row_embedder", embedding{n, width}, places);
    const value columns = t.call("column_embedder", embedding{n, width}, places);
    x = t.leave(embeddings, dropout(t, "dropout", t.add(t.add(x, rows), columns)));
    t.enter(encoder);
    for (repetition each = t.repeat(here.dims.num_hidden_layers, x); each.next();)
        x = t.call({"layer", each.index()}, tower_layer{here}, x);
    t.leave(encoder);
    return t.call("layernorm", norm_over(here), x);
}

// ---- texts

/// Attention over the text or an image's states, whose scores are scaled by one; a bias is made in the first layer.
constexpr value attend_in_text(const site& here, trace& t, const value& x, const value* states, value& bias) {
    const bool crosses = states != nullptr;
    const value& source = crosses ? *states : x;
    const std::int64_t width = here.dims.hidden_size, heads = here.dims.num_attention_heads;
    const auto split = [&](literal name, const value& from) {
        const value all = t.call(name, linear{from.dim(2), width}, from);
        return all.view({from.dim(0), from.dim(1), heads, width / heads}).transpose(1, 2);
    };
    const value q = split("query", x);
    const bool from_cache = crosses && encoder_is_done(t.load());
    const context across{.sequence = source.dim(1), .causal = false};
    const context& where = crosses ? across : here.shared->where;
    value k, v;
    {
        const recorder::idle_guard unused{t, from_cache};
        k = split("key", source), v = split("value", source);
    }
    if (from_cache) {
        k = v = trace::buffer({x.dim(0), heads, source.dim(1), width / heads});
        t.cache(k), t.cache(v);
    } else {
        k = update_cache(t, k, where), v = update_cache(t, v, where);
    }
    if (bias.rank == 0)
        bias = crosses ? t.constant({1, heads, x.dim(1), k.dim(2)}, t.activation_type())
                       : relative_bias(t, here.dims.own[buckets], heads, x.dim(1), k.dim(2));
    const value* const mask = crosses ? nullptr : &here.shared->mask;
    const value mixed = eager_attention(t, q, k, v, where, {.bias = &bias, .mask = mask, .float_softmax = false});
    const value joined = t.contiguous(t.reshape(mixed, {x.dim(0), x.dim(1), width}));
    return t.call("output", linear{width, width}, joined);
}

/// A norm, attention, residual.
constexpr value call_attention(const site& here, trace& t, const value& x, const value* states, value& bias) {
    const module_info m{.name = "attention", .type = here.type("TextAttention")};
    const value normed = t.call("layer_norm", norm_over(here), x);
    t.enter(m);
    const value h = t.leave(m, attend_in_text(here, t, normed, states, bias));
    return t.add(x, dropout(t, "dropout", h));
}

/// Biases that the first layer makes and all read: of distances, and zeros for an image.
struct biases {
    value own, across;
};

constexpr value call_layer(const site& here, trace& t, std::int64_t index, const value& x, biases& made) {
    const module_info m{.name = "layer", .index = index, .type = here.type("TextBlock")};
    const module_info self{.name = "self_attention", .type = here.type("TextLayerSelfAttention"), .what = role::attn};
    const module_info cross{
        .name = "encoder_decoder_attention", .type = here.type("TextLayerCrossAttention"), .what = role::cross_attn};
    const module_info block{.name = "mlp", .type = here.type("TextLayerFF"), .what = role::mlp};
    t.enter(m), t.enter(self);
    value h = t.leave(self, call_attention(here, t, x, nullptr, made.own));
    t.enter(cross);
    h = t.leave(cross, call_attention(here, t, h, &here.shared->own[0], made.across));
    t.enter(block);
    value f = t.call("layer_norm", norm_over(here), h);
    f = t.call("DenseReluDense", gated_block{here, "TextDenseGatedActDense"}, f);
    return t.leave(m, t.leave(block, t.add(h, dropout(t, "dropout", f))));
}

/// A text that reads an image's states, under its scores.
constexpr value describe_text_half(const site& here, trace& t) {
    const workload& load = t.load();
    const std::int64_t width = here.dims.hidden_size;
    const module_info decoder{.name = "decoder", .type = here.type("TextModel"), .what = role::decoder};
    t.enter(decoder);
    value x = t.call("embed_tokens", embedding{here.dims.vocab_size, width}, extents{load.batch, load.sequence});
    make_padding_mask(t);
    shared_values shared{.where = context_of(t, 0)};
    shared.mask = eager_mask(t, shared.where, load.batch);
    shared.own[0] = here.shared->own[0];
    const site there{here.whole, here.row, here.dims, &shared};
    x = dropout(t, "dropout", x);
    biases made;
    x = call_layer(there, t, 0, x, made);
    for (repetition each = t.repeat(here.dims.num_hidden_layers - 1, x, 1); each.next();)
        x = call_layer(there, t, each.index(), x, made);
    x = dropout(t, "dropout", t.call("final_layer_norm", norm_over(here), x));
    const recorder::idle_guard unused{t, load.head == logits::none};
    const linear words{width, here.dims.vocab_size, false, here.dims.tie_word_embeddings};
    return t.leave(decoder, t.returns(x, t.call("lm_head", head_linear{words}, kept_positions(t, x))));
}

constexpr value describe(const site& here, trace& t) {
    const module_info whole{.type = {here.row.prefix, name_of(here.dims.head)}};
    t.enter(whole);
    shared_values read;
    {
        const recorder::idle_guard done{t, encoder_is_done(t.load())};
        read.own[0] = describe_tower(here, t, 0, "encoder", role::vision);
    }
    const site plain = here.text(), text{plain.whole, plain.row, plain.dims, &read};
    return t.leave(whole, describe_text_half(text, t));
}

/// An image of any size becomes as many patches as the model was made for.
constexpr media_shapes show(const model&, const workload& load) {
    if (load.images > 1) report_description("a text reads one image, through attention to it");
    return {.image = {.height = load.image_height, .width = load.image_width}};
}

constexpr void read_text(config_view config, sizes& s) {
    if (s.num_attention_heads * s.head_dim != s.hidden_size)
        fail_value(config, "d_kv", "hidden_size over the number of heads");
    if (!config.boolean("is_decoder", true)) fail_unsupported(config, "is_decoder", "no row describes this text as an encoder");
    s.attention_bias = s.output_bias = false;
    s.layers.set_all({mixer_kind::full_attention});
}

inline constexpr architecture tower = [](architecture a) {
    a.prefix = "Pix2Struct", a.base = tower_base, a.own = tower_keys, a.heads = {}, a.attend = attend_in_tower;
    a.read = [](config_view, sizes& s) { s.attention_bias = s.output_bias = false; };
    a.names.attention_type = "VisionAttention";
    a.names.q = "query", a.names.k = "key", a.names.v = "value", a.names.o = "output";
    a.keys[1] = {"head_dim", "d_kv", key_rule::written_only};
    a.keys[3] = {"intermediate_size", "d_ff", key_rule::written_only};
    a.keys[4] = {"hidden_act", "dense_act_fn", key_rule::written_only};
    a.defaults.intermediate_size = 2048, a.defaults.head_dim = 64, a.defaults.hidden_act = activation::gelu_new;
    return a;
}(shared_tower);

inline constexpr architecture texts = [](architecture a) {
    a.prefix = "Pix2Struct", a.read = read_text, a.own = text_keys, a.heads = {}, a.rotated = rotation::none;
    a.names.model_type = "TextModel";
    a.keys[0] = no_attention_bias, a.keys[1] = no_mlp_bias, a.keys[2] = {"sliding_window", "", key_rule::absent};
    a.keys[3] = no_key_value_heads, a.keys[4] = {"head_dim", "d_kv", key_rule::written_only};
    a.keys[5] = {"num_hidden_layers", "num_layers", key_rule::standard_first};
    a.keys[6] = {"num_attention_heads", "num_heads", key_rule::standard_first};
    a.keys[7] = {"intermediate_size", "d_ff", key_rule::written_only};
    a.keys[8] = {"hidden_act", "dense_act_fn", key_rule::written_only};
    a.defaults.vocab_size = 50244, a.defaults.hidden_size = 768, a.defaults.intermediate_size = 2048;
    a.defaults.num_hidden_layers = a.defaults.num_attention_heads = 12, a.defaults.head_dim = 64;
    a.defaults.hidden_act = activation::gelu_new;
    return a;
}(shared_decoder);

}  // namespace pix2struct_detail

// transformers/models/pix2struct: modeling_pix2struct.py, T5's blocks over patches and over a text that reads them
inline constexpr architecture pix2struct = [](architecture a) {
    a.model_type = "pix2struct", a.prefix = "Pix2Struct", a.describe = pix2struct_detail::describe;
    a.heads = {head_kind::conditional_generation}, a.media = pix2struct_detail::show, a.reads.images = true;
    a.text = {.key = "text_config", .otherwise = &pix2struct_detail::texts, .always = true};
    a.beside[0] = {.key = "vision_config", .otherwise = &pix2struct_detail::tower, .always = true};
    return a;
}(shared_composite);

}  // namespace llmcost::arch
