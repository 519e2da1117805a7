// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/reading/reader.hpp>
#include <llmcost/walks/composite.hpp>
#include <llmcost/walks/media.hpp>
#include <llmcost/walks/tower.hpp>

namespace llmcost::arch {

namespace kosmos2_5_detail {

enum text_own : std::uint8_t { padding };
inline constexpr own_key text_keys[]{{"pad_token_id", 1, own_value::non_negative}};

/// Words scaled, states of an image among them, sinusoidal positions, and which segment they are of: a text has one, and
/// with an image every position says its own.
constexpr value embed(const site& here, trace& t) {
    const workload& load = t.load();
    const std::int64_t width = here.dims.hidden_size;
    const extents ids{load.batch, load.sequence};
    const bool with_image = here.shared != nullptr && here.shared->own[0].rank > 0;
    value found = t.call("embed_tokens", embedding{here.dims.vocab_size, width}, ids);
    if (with_image) found = t.clone(found), t.copy_into(found, here.shared->own[0]), t.keep_encoded(here.shared->own[0]);
    const value words = t.mul(found);
    // the table ends where positions, which begin behind the padding's number, meet two rows more than it names
    t.positions(here.dims.max_position_embeddings + 1 - here.dims.own[padding], load.past + load.sequence);
    const module_info places{
        .name = "embed_positions", .type = here.type("TextSinusoidalPositionalEmbedding"), .leaf = true};
    t.enter(places);
    value positions = t.leave(places, t.constant({load.batch, load.sequence, width}, t.activation_type()));
    const value segment = t.call("segment_emb", embedding{2, width}, extents{load.batch, with_image ? load.sequence : 1});
    t.in_place(op::add, positions, segment);
    return t.add(words, positions);
}

/// Queries scaled in front of their product, which is scaled by one.
constexpr value attend(const site& here, trace& t, const value& x) {
    const std::int64_t width = here.dims.hidden_size;
    qkv of;
    of.k = project(here, t, "k_proj", width, x), of.v = project(here, t, "v_proj", width, x);
    of.q = project(here, t, "q_proj", width, x);
    split_heads(here, of), heads_first(of);
    of.q = t.mul(of.q);
    remember(here, t, of);
    return join(here, t, look_up(here, t, of));
}

/// Two projections with a norm of the wide states between them.
struct feed_forward_block {
    site here;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("TextFFN"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, inner = here.dims.intermediate_size;
        value h = t.call("fc1", linear{width, inner, true}, x);
        h = t.call("activation_fn", activation_module{here.dims.hidden_act}, h);
        h = t.call("ffn_layernorm", norm<norm_kind::layer>{inner}, h);
        return t.call("fc2", linear{inner, width, true}, h);
    }
};
constexpr value feed(const site& here, trace& t, const value& x) { return t.call("ffn", feed_forward_block{here}, x); }

constexpr void read_text(config_view config, sizes& s) {
    share_among_heads(config, s, {"num_attention_heads", "attention_heads"});
    s.attention_bias = s.output_bias = true;
    s.layers.set_all({mixer_kind::full_attention});
}

inline constexpr architecture text = [](architecture a) {
    a.prefix = "Kosmos2_5", a.read = read_text, a.own = text_keys, a.heads = {}, a.rotated = rotation::none;
    a.embed = embed, a.attend = attend, a.feed = feed, a.norm = norm_kind::layer;
    a.names.model_type = "TextTransformer", a.names.layer_type = "TextBlock", a.names.attention_type = "TextAttention";
    a.names.norm = "layer_norm", a.names.norm_before_attention = "self_attn_layer_norm", a.names.o = "out_proj";
    a.names.norm_before_feed_forward = "final_layer_norm";
    a.keys[0] = no_attention_bias, a.keys[1] = no_mlp_bias, a.keys[2] = {"sliding_window", "", key_rule::absent};
    a.keys[3] = {"num_key_value_heads", "", key_rule::absent}, a.keys[4] = {"head_dim", "", key_rule::absent};
    a.keys[5] = {"hidden_size", "embed_dim", key_rule::standard_first};
    a.keys[6] = {"num_hidden_layers", "layers", key_rule::standard_first};
    a.keys[7] = {"num_attention_heads", "attention_heads", key_rule::standard_first};
    a.keys[8] = {"intermediate_size", "ffn_dim", key_rule::written_only};
    a.keys[9] = {"hidden_act", "activation_function", key_rule::written_only};
    a.defaults.vocab_size = 108481, a.defaults.hidden_size = 1536, a.defaults.intermediate_size = 6144;
    a.defaults.num_hidden_layers = 24, a.defaults.num_attention_heads = 16, a.defaults.max_position_embeddings = 4096;
    a.defaults.hidden_act = activation::gelu, a.defaults.tie_word_embeddings = true;
    return a;
}(shared_decoder);

enum tower_own : std::uint8_t { patch_values, rows };
inline constexpr own_key tower_keys[]{{"patch_embed_hidden_size", 768}, {"max_num_patches", 4096}};

/// T5's attention and gated block, each behind a norm (Pix2Struct).
struct tower_layer {
    site here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("VisionLayer"); }
    constexpr value describe(trace& t, const value& x) const {
        const sizes& dims = here.dims;
        const std::int64_t width = dims.hidden_size, inner = dims.intermediate_size;
        const norm<norm_kind::rms_float_variance> before{width, here.type("LayerNorm")};
        const value middle =
            t.add(x, t.call("attention", attention_module{here}, t.call("pre_attention_layer_norm", before, x)));
        const value h = t.call("pre_mlp_layer_norm", before, middle);
        const module_info block{.name = "mlp", .type = here.type("VisionMlp"), .what = role::mlp};
        t.enter(block);
        const value gate = t.call("act", activation_module{dims.hidden_act}, t.call("wi_0", linear{width, inner}, h));
        const value wide = dropout(t, "dropout", t.mul(gate, t.call("wi_1", linear{width, inner}, h)));
        return t.add(middle, t.leave(block, t.call("wo", linear{inner, width}, wide)));
    }
};

/// The lowest number where a patch is absent: (B, patches) -> (B, 1, patches, patches).
constexpr value hide_absent(trace& t, const value& present) {
    const std::int64_t n = present.dim(1);
    const value all = present.unsqueeze(1).unsqueeze(1).expand({present.dim(0), 1, n, n});
    return t.where(t.unary(op::sub, t.to(all, t.activation_type())));
}

/// Patches with learned rows and columns, layers, a norm: an image of any shape is filled up to as many as there may be.
constexpr value tower_base(const site& here, trace& t) {
    const std::int64_t width = here.dims.hidden_size, batch = t.load().batch;
    const own_sizes& own = here.dims.own;
    const std::int64_t patches = own[rows];
    const extents places{batch, patches};
    const module_info embeddings{.name = "embeddings", .type = here.type("VisionEmbeddings"), .what = role::embedding};
    const value pixels = t.input({batch, patches, 2 + own[patch_values]});  // behind its row and its column
    (void)t.sum(pixels, -1);
    const value present = t.constant({batch, patches});  // which sums are not zero
    t.enter(embeddings);
    value x = t.call("patch_projection", linear{own[patch_values], width, true}, t.slice(pixels, -1, own[patch_values]));
    x = t.add(x, t.call("row_embedder", embedding{own[rows], width}, places));
    x = t.add(x, t.call("column_embedder", embedding{own[rows], width}, places));
    x = t.leave(embeddings, dropout(t, "dropout", x));
    const module_info encoder{.name = "encoder", .type = here.type("VisionEncoder")};
    t.enter(encoder);
    shared_values made;
    made.mask = hide_absent(t, present);
    for (repetition each = t.repeat(here.dims.num_hidden_layers, x); each.next();)
        x = t.call({"layer", each.index()}, tower_layer{here.at(each, made)}, x);
    x = t.leave(encoder, x);
    return t.call("layernorm", norm<norm_kind::rms_float_variance>{width, here.type("LayerNorm")}, x);
}

/// Heads as wide as `head_dim` says.
constexpr value attend_in_tower(const site& here, trace& t, const value& x) {
    qkv of = project_qkv(here, t, x);
    split_heads(here, of), heads_first(of);
    const context all{.sequence = x.dim(1), .causal = false};
    const value mixed = eager_attention(t, of.q, of.k, of.v, all, {.mask = &here.shared->mask});
    return join(here, t, t.contiguous(t.reshape(mixed, {x.dim(0), x.dim(1), -1})));
}

constexpr void read_tower(config_view, sizes& s) { s.attention_bias = s.output_bias = false; }

inline constexpr architecture tower = [](architecture a) {
    a.prefix = "Kosmos2_5", a.base = tower_base, a.read = read_tower, a.own = tower_keys, a.heads = {};
    a.attend = attend_in_tower, a.names.attention_type = "VisionAttention";
    a.names.q = "query", a.names.k = "key", a.names.v = "value", a.names.o = "output";
    a.keys[1] = {"hidden_act", "dense_act_fn", key_rule::written_only};
    a.defaults.hidden_size = 1536, a.defaults.intermediate_size = 3968, a.defaults.num_hidden_layers = 18;
    a.defaults.num_attention_heads = 24, a.defaults.head_dim = 64, a.defaults.hidden_act = activation::gelu_new;
    return a;
}(shared_tower);

enum own : std::uint8_t { latents };
inline constexpr own_key keys[]{{"latent_query_num", 2048}};

/// Learned queries attend to an image's states and to themselves (`Kosmos2_5ImageToTextProjection`).
struct image_to_text {
    site here;
    class_name attention_type;
    bool scales_queries = true;  ///< in front of their product, which is scaled by one

    static constexpr role what = role::projector;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("ImageToTextProjection"); }
    constexpr value describe(trace& t, const value& seen) const {
        const std::int64_t width = here.dims.hidden_size, heads = here.dims.num_attention_heads, d = width / heads;
        const std::int64_t batch = seen.dim(0), n = here.whole.own[latents];
        const value states = t.call("dense", linear{seen.dim(-1), width, true}, seen);
        const value queries = t.param("latent_query", {n, width}).unsqueeze(0).expand({batch, n, width});
        const value all = t.cat({states, queries}, 1);
        const module_info attention{.name = "x_attn", .type = attention_type, .what = role::cross_attn};
        const linear projection{width, width, true};
        t.enter(attention);
        const auto split = [&](literal name, const value& x) {
            return t.call(name, projection, x).view({batch, x.dim(1), heads, d}).transpose(1, 2);
        };
        const value k = split("k_proj", all), v = split("v_proj", all);
        const value plain = split("q_proj", queries), q = scales_queries ? t.mul(plain) : plain;
        const context everything{.sequence = n, .past = seen.dim(1), .causal = false};
        const value mixed = eager_attention(t, q, k, v, everything, {});
        return t.leave(attention, t.call("out_proj", projection, t.reshape(mixed, {batch, n, width})));
    }
};

/// So many queries, whatever the image.
constexpr media_shapes show(const model& m, const workload& load) {
    if (load.images > 1) report_description("this model reads one image for each sequence");
    return {.image = {.tokens = m.own[latents], .height = load.image_height, .width = load.image_width}};
}

/// Rows over their length, which is at least the smallest difference (`F.normalize`).
constexpr value over_length(trace& t, const value& x) {
    const value length = t.unary(op::compare, t.vector_norm(x, -1, true));
    return t.div(x, length.expand({x.dim(0), x.dim(1), x.dim(2)}));
}

/// The tower's states over their length, and what learned queries find in them.
constexpr value look(const site& here, trace& t) {
    const recorder::idle_guard no_pixels{t, !sees_images(t)};
    const value seen = describe_tower(here, t, 0, "vision_model", role::vision);
    return t.call("image_to_text_projection", image_to_text{here, here.type("TextAttention")}, over_length(t, seen));
}

/// A text under its own head in modules of its own, which reads what was seen.
constexpr value describe_reading(const site& here, trace& t, const module_info& model, const value& seen) {
    const site text = here.text();
    const module_info inner{.name = "model", .type = text.type(text.row.names.model_type)};
    shared_values made;
    if (sees_images(t)) made.own[0] = seen;
    t.enter(model);
    value x = describe_within(inner, text.row.base, {text.whole, text.row, text.dims, &made}, t);
    if (here.dims.head != head_kind::none) x = t.returns(x, describe_head(text, t, x));
    return t.leave(model, x);
}

/// The tower and what brings it to the text, then the text.
template <value (*Look)(const site&, trace&)>
constexpr value describe(const site& here, trace& t) {
    const bool bare = here.dims.head == head_kind::none;
    const module_info whole{.type = here.type(name_of(here.dims.head))};
    const module_info model{.name = "text_model", .type = here.type(bare ? "TextModel" : "TextForCausalLM")};
    t.enter(whole);
    const value seen = Look(here, t);
    return t.leave(whole, describe_reading(here, t, model, seen));
}

}  // namespace kosmos2_5_detail

// transformers/models/kosmos2_5: a decoder with a norm inside of its blocks, Pix2Struct's tower; tied as the text says
inline constexpr architecture kosmos_2_5 = [](architecture a) {
    a.model_type = "kosmos-2.5", a.prefix = "Kosmos2_5", a.describe = kosmos2_5_detail::describe<kosmos2_5_detail::look>;
    a.own = kosmos2_5_detail::keys, a.media = kosmos2_5_detail::show, a.reads.images = true;
    a.text = {.key = "text_config", .otherwise = &kosmos2_5_detail::text, .always = true, .ties = true};
    a.beside[0] = {.key = "vision_config", .otherwise = &kosmos2_5_detail::tower, .always = true};
    a.keys[0] = {"tie_word_embeddings", "", key_rule::absent};
    return a;
}(shared_composite);

}  // namespace llmcost::arch
