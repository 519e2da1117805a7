// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/gemma3.hpp>
#include <llmcost/walks/encoder_decoder.hpp>
#include <llmcost/walks/encoder_model.hpp>

namespace llmcost::arch {

namespace t5gemma2_detail {

inline constexpr own_key keys[]{{.value = own_value::computed}};  // tokens that an image becomes, as Gemma 3 has them

/// Words times a constant, of which one is a vector of its own, written in place; the decoder's are the encoder's.
struct words_with_end_of_image {
    site here;
    bool tied;

    static constexpr role what = role::embedding;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return here.type("TextScaledWordEmbedding"); }
    constexpr value describe(trace& t, const extents& ids) const {
        const embedding words{here.dims.vocab_size, here.dims.hidden_size, true, type(), tied};
        const value x = words.describe(t, ids);
        const extents width{here.dims.hidden_size};
        t.gradient_arrives(tied ? t.tied("eoi_embedding", width) : t.param("eoi_embedding", width));
        return x;
    }
};

struct feed_forward {
    site here;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("MLP"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, inner = here.dims.intermediate_size;
        const activation_module act{here.dims.hidden_act};
        const value gate = t.call("act_fn", act, t.call("gate_proj", linear{width, inner}, x));
        const value h = t.mul(gate, t.call("up_proj", linear{width, inner}, x));
        return t.call("down_proj", linear{inner, width}, dropout(t, "dropout", h));
    }
};
constexpr value feed(const site& here, trace& t, const value& x) { return t.call("mlp", feed_forward{here}, x); }

/// Norms before and after each block, one dropout module behind both.
constexpr value layer(const site& here, trace& t, const value& x) {
    const decoder_names& n = here.row.names;
    value h = normed(here, t, n.norm_after_attention, mixed(here, t, normed(here, t, n.norm_before_attention, x)));
    const value middle = t.add(x, dropout(t, "dropout", h));
    h = here.row.feed(here, t, normed(here, t, n.norm_before_feed_forward, middle));
    return t.add(middle, dropout(t, "dropout", normed(here, t, n.norm_after_feed_forward, h)));
}

constexpr qkv turned(const site& here, trace& t, const value& x) {
    qkv of = project_qkv(here, t, x);
    split_heads(here, of), heads_first(of);
    norm_queries_and_keys(here, t, of, here.dims.head_dim, here.dims.head_dim);
    turn(here, t, of);
    return of;
}
constexpr value attend_all(const site& here, trace& t, const value& x) {
    return join(here, t, look_around(here, t, turned(here, t, x), true));
}

/// Keys and values of the encoder's states by the same projections, unturned, behind the decoder's own.
constexpr value attend_merged(const site& here, trace& t, const value& x) {
    const shared_values& s = *here.shared;
    const value& source = s.own[0];
    const std::int64_t groups = here.dims.num_key_value_heads, d = here.dims.head_dim, batch = x.dim(0);
    const context across{.sequence = source.dim(1), .causal = false};
    qkv of = turned(here, t, x);
    remember(here, t, of);
    value k, v;
    if (encoder_is_done(t.load())) {
        k = v = trace::buffer({batch, groups, source.dim(1), d});
        t.cache(k), t.cache(v);
    } else {
        const recorder::called_again_guard again{t};
        const auto split = [&](literal name) {
            return project(here, t, name, groups * d, source).view({batch, source.dim(1), groups, d}).transpose(1, 2);
        };
        k = split(here.row.names.k), v = split(here.row.names.v);
        k = norm_of(here, t, here.row.names.k_norm, d, k);
        k = update_cache(t, k, across), v = update_cache(t, v, across);
    }
    of.k = t.cat({of.k, k}, 2), of.v = t.cat({of.v, v}, 2);
    const value found = eager_attention(t, of.q, of.k, of.v, s.where, {.mask = &s.mask, .beside = source.dim(1)});
    return join(here, t, t.contiguous(t.reshape(found, {batch, x.dim(1), -1})));
}

/// Tables of those kinds of layers that there are, dropout, layers, norm, dropout.
constexpr value walk(const site& here, trace& t, decoder_context shared, value x) {
    const std::int64_t layers = here.dims.num_hidden_layers;
    if (here.dims.layers.has(mixer_kind::full_attention, layers)) make_rotary_tables(here, t, shared.full);
    if (here.dims.layers.has(mixer_kind::sliding_attention, layers)) make_rotary_tables(here, t, shared.sliding, true);
    x = describe_layers(here, t, shared, dropout(t, "dropout", x));
    return dropout(t, "dropout", normed(here, t, "norm", x));
}

/// A tower over all images, and what brings its patches to the width of the text.
constexpr value describe_images(const site& here, trace& t, const value& words) {
    const recorder::idle_guard no_pixels{t, !sees_images(t)};
    const recorder::workload_guard shown{t, pictures(t.load(), images_in(t), 0, 0)};
    const value states = describe_tower(here, t, 0, "vision_tower", role::vision);
    const value features = t.call("multi_modal_projector", gemma3_detail::projector_of_pools{here}, states);
    return t.masked_scatter(words, features);
}

/// Layers that slide read a mask, whether the text is long enough to need one or not.
constexpr value describe_text_encoder(const site& whole, trace& t) {
    const site here = whole.component(1);
    const workload& load = t.load();
    const module_info m{.name = "text_model", .type = here.type("TextEncoder")};
    t.enter(m);
    value x = t.call("embed_tokens", words_with_end_of_image{here, false}, extents{load.batch, load.sequence});
    x = describe_images(whole, t, t.leave(m, x));
    t.enter(m);
    decoder_context shared;
    shared.full.where = shared.sliding.where = all_positions(load.sequence).where;
    shared.sliding.mask = eager_mask(t, shared.sliding.where, load.batch);
    return t.leave(m, walk(here, t, shared, x));
}

constexpr value describe_encoder(const site& here, trace& t) {
    const workload load = t.load();
    const module_info encoder{.name = "encoder", .type = here.type("Encoder"), .what = role::encoder};
    t.enter(encoder);
    value x;
    {
        const recorder::idle_guard done{t, encoder_is_done(load)};
        const recorder::workload_guard own{t, encoder_load(load)};
        x = describe_text_encoder(here, t);
    }
    t.leave(encoder, x);
    return encoder_is_done(load) ? t.input({load.batch, encoder_length(load), here.dims.hidden_size}) : x;
}

/// Masks of both kinds, each beside one over the encoder's states.
constexpr value describe_decoder_of(const site& here, trace& t, const value& source) {
    const workload& load = t.load();
    const module_info decoder{.name = "decoder", .type = here.type("Decoder"), .what = role::decoder};
    t.enter(decoder);
    const words_with_end_of_image words{here, here.dims.tie_word_embeddings};
    const value x = t.call("embed_tokens", words, extents{load.batch, load.sequence});
    decoder_context shared = masks(here, t);
    const context across{.sequence = load.sequence, .past = source.dim(1) - load.sequence, .causal = false};
    const value beside = eager_mask(t, across, load.batch);
    for (shared_values* const each : {&shared.full, &shared.sliding})
        each->mask = t.cat({each->mask, beside}, -1), each->own[0] = source;
    return t.leave(decoder, walk(here, t, shared, x));
}

constexpr value base(const site& here, trace& t) {
    const value source = describe_encoder(here, t);
    return describe_decoder_of(here.text(), t, source);
}

/// The same workload with the tokens of images among those that the encoder reads, or has read.
[[nodiscard]] constexpr workload shown_to_encoder(const model& m, workload load) {
    if (load.images == 0) return load;
    const std::int64_t tokens = load.images * gemma3_detail::show(m, load).image.tokens;
    if (load.past == 0) load.sequence -= tokens;
    load.encoder_sequence = encoder_length(load) + tokens;
    return load;
}

constexpr value describe(const site& here, trace& t) {
    const recorder::workload_guard shown{t, shown_to_encoder(here.whole, t.load())};
    const class_name type = here.type("Model");
    if (here.dims.head == head_kind::none) return describe_within({.type = type}, base, here, t);
    const module_info whole{.type = here.type(name_of(here.dims.head))};
    const module_info lm_head{.name = "lm_head", .type = here.type("LMHead"), .what = role::head};
    t.enter(whole);
    const value x = describe_within({.name = "model", .type = type}, base, here, t);
    const recorder::idle_guard unused{t, t.load().head == logits::none};
    const linear words{here.dims.hidden_size, here.dims.vocab_size, false, here.dims.tie_word_embeddings};
    t.enter(lm_head);
    value scores = t.leave(lm_head, t.call("out_proj", words, kept_positions(t, x)));
    if (here.dims.logits_soft_cap) scores = t.mul(t.tanh(t.div(scores)));
    return t.leave(whole, t.returns(x, scores));
}

constexpr void read(config_view config, sizes& s) {
    check_window_is_given(config);
    read_gemma_layers(config, s, false, false, config.positive("sliding_window_pattern", 6));
    s.attention_soft_cap = false;  // its attention has the key and does not pass it on
    if (s.hidden_size % s.num_attention_heads != 0) fail_value(config, "num_attention_heads", "a divisor of hidden_size");
}

inline constexpr architecture decoder = [](architecture a) {
    a.model_type = "t5gemma2_decoder", a.prefix = "T5Gemma2", a.read = read, a.layer = layer, a.feed = feed, a.heads = {};
    a.attend = attend_merged, a.names.attention_type = "MergedAttention", a.names.model_type = "Decoder";
    a.names.norm_before_attention = "pre_self_attn_layernorm", a.names.norm_after_attention = "post_self_attn_layernorm";
    a.defaults.vocab_size = 262208;
    return a;
}(gemma3_text);
inline constexpr architecture text_encoder = [](architecture a) {
    a.model_type = "t5gemma2_text", a.attend = attend_all, a.names.attention_type = "SelfAttention";
    a.names.layer_type = "EncoderLayer", a.names.model_type = "TextEncoder";
    return a;
}(decoder);

/// The encoder's configuration holds a text's and a tower's.
constexpr void read_whole(config_view config, model& m) {
    const config_view nothing{&detail::no_keys, 0};
    const auto given = config.optional_object("encoder");
    const config_view encoder = given ? *given : nothing;
    const auto text = encoder.optional_object("text_config"), vision = encoder.optional_object("vision_config");
    const config_view tower = vision ? *vision : nothing;
    if (tower.string("model_type", siglip_vision_model.model_type) != siglip_vision_model.model_type)
        fail_unsupported(tower, "model_type", "no row describes this tower inside of an encoder");
    m.beside[0] = {&siglip_vision_model, read_sizes(siglip_vision_model, tower, true)};
    m.beside[1] = {&text_encoder, read_sizes(text_encoder, text ? *text : nothing, true)};
    m.own[gemma3_detail::tokens_per_image] = encoder.positive("mm_tokens_per_image", 256);
    if (const auto part = config.optional_object("decoder"))
        m.dims.logits_soft_cap = part->optional_real("final_logit_softcapping").has_value();
    if (m.beside[1].dims.hidden_size != m.dims.hidden_size || m.beside[1].dims.vocab_size != m.dims.vocab_size)
        fail_value(config, "decoder", "of the encoder's width and vocabulary");
    if (!config.boolean("is_encoder_decoder", true)) fail_value(config, "is_encoder_decoder", "true");
}

}  // namespace t5gemma2_detail

// transformers/models/t5gemma2: Gemma 3 twice, the decoder's layers look at themselves and at the encoder in one attention
inline constexpr architecture t5gemma2 = [](architecture a) {
    a.model_type = "t5gemma2", a.prefix = "T5Gemma2", a.describe = t5gemma2_detail::describe;
    a.read_whole = t5gemma2_detail::read_whole, a.defaults.tie_word_embeddings = true;
    a.own = t5gemma2_detail::keys, a.media = gemma3_detail::show, a.read_processor = gemma3_detail::read_processor,
    a.reads.images = true;
    a.text = {.key = "decoder", .otherwise = &t5gemma2_detail::decoder, .always = true};
    return a;
}(shared_composite);

}  // namespace llmcost::arch
