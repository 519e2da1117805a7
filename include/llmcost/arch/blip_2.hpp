// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/opt.hpp>
#include <llmcost/arch/t5.hpp>
#include <llmcost/reading/image.hpp>
#include <llmcost/walks/composite.hpp>
#include <llmcost/walks/media.hpp>
#include <llmcost/walks/tower.hpp>

namespace llmcost::arch {

namespace blip_2_detail {

/// Queries, keys and values of one projection, each read by itself.
constexpr value attend_packed(const site& here, trace& t, const value& x) {
    const std::int64_t width = here.dims.hidden_size, heads = here.dims.num_attention_heads, d = width / heads;
    const value all = t.call("qkv", linear{width, 3 * width, here.dims.attention_bias}, x);
    const value apart = t.reshape(all, {x.dim(0), x.dim(1), 3, heads, d}).permute({2, 0, 3, 1, 4});
    const value q = t.select(apart, 0), k = t.select(apart, 0), v = t.select(apart, 0);
    const value mixed = eager_attention(t, q, k, v, all_positions(x.dim(1)).where, {});
    return t.call("projection", linear{width, width, true}, t.contiguous(t.reshape(mixed, {x.dim(0), x.dim(1), -1})));
}

/// A class token and patches with places, layers, a norm; the class token behind the norm again pools, beside them.
constexpr value tower_base(const site& here, trace& t) {
    const std::int64_t width = here.dims.hidden_size, places = patches_of(here.dims.vision) + 1;
    const value pixels = pixels_of(here, t);
    const module_info embeddings{.name = "embeddings", .type = here.type("VisionEmbeddings"), .what = role::embedding};
    const norm<norm_kind::layer> layer_norm{width};
    t.enter(embeddings);
    const value token = t.param("class_embedding", {1, 1, width});
    const value learned = t.param("position_embedding", {1, places, width});
    const value patches = embed_patches(here, t, "patch_embedding", true, pixels);
    const value with = t.cat({token.expand({pixels.dim(0), 1, width}), patches}, 1);
    const value x = encode(here, t, t.leave(embeddings, t.add(with, t.slice(learned, 1, places))));
    const value out = t.call("post_layernorm", layer_norm, x);
    const recorder::off_loss_guard unread{t};
    const recorder::called_again_guard again{t};
    (void)t.call("post_layernorm", layer_norm, t.select(out, 1));
    return out;
}

constexpr void read_tower(config_view config, sizes& s) {
    read_square_image(config, s, 224, 14);
    share_among_heads(config, s, {"num_attention_heads"});
    s.attention_bias = config.boolean("qkv_bias", true);
}

inline constexpr architecture tower = [](architecture a) {
    a.prefix = "Blip2", a.base = tower_base, a.read = read_tower, a.attend = attend_packed, a.heads = {};
    a.names.attention_type = "Attention", a.names.mlp_type = "MLP";
    a.defaults.hidden_size = 1408, a.defaults.intermediate_size = 6144, a.defaults.num_hidden_layers = 39;
    a.defaults.num_attention_heads = 16, a.defaults.hidden_act = activation::gelu;
    return a;
}(shared_tower);

enum former_own : std::uint8_t { crosses_every, reads_text, words, positions };
inline constexpr own_key former_keys[]{{"cross_attention_frequency", 2},
                                       {"use_qformer_text_input", 0, own_value::boolean},
                                       {"vocab_size", 30522},
                                       {"max_position_embeddings", 512}};

/// Queries look at all of a sequence: at their own, or at what a tower saw.
struct looking {
    const site& here;
    std::int64_t source;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("QFormerMultiHeadAttention"); }
    constexpr value describe(trace& t, const value& x, const value& from) const {
        const std::int64_t width = here.dims.hidden_size, heads = here.dims.num_attention_heads;
        const auto split = [&](literal name, const value& of, std::int64_t in) {
            const value all = t.call(name, linear{in, width, true}, of);
            return all.view({of.dim(0), of.dim(1), heads, width / heads}).transpose(1, 2);
        };
        const value q = split("query", x, width), k = split("key", from, source), v = split("value", from, source);
        const value mixed = eager_attention(t, q, k, v, all_positions(from.dim(1)).where, {});
        return t.contiguous(t.reshape(mixed, {x.dim(0), x.dim(1), -1}));
    }
};

/// What queries find, projected and normed with what they were.
struct former_attention {
    const site& here;
    std::int64_t source;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("QFormerAttention"); }
    constexpr value describe(trace& t, const value& x, const value& from) const {
        const std::int64_t width = here.dims.hidden_size;
        const value found = t.call("attention", looking{here, source}, x, from);
        return t.call("output", bert_layers::output_block{width, width, here.type("QFormerSelfOutput")}, found, x);
    }
};

struct former_cross_attention : former_attention {
    static constexpr role what = role::cross_attn;
};

struct former_intermediate {
    const site& here;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("QFormerIntermediate"); }
    constexpr value describe(trace& t, const value& x) const {
        const value h = t.call("dense", linear{here.dims.hidden_size, here.dims.intermediate_size, true}, x);
        return t.call("intermediate_act_fn", activation_module{here.dims.hidden_act}, h);
    }
};

/// What a layer's kind says of itself: its queries look at what was seen.
constexpr std::uint8_t crosses = 1;

/// Every so many layers look at what was seen.
constexpr void plan_former(config_view, sizes& s) {
    for (std::int64_t i = 0; i < s.num_hidden_layers; ++i)
        (void)s.layers.set(i, {.own = i % s.own[crosses_every] == 0 ? crosses : std::uint8_t{0}});
}

/// Attention, a look at what was seen for queries of every so many layers; queries and words have blocks of their own.
struct former_layer {
    site here;
    std::int64_t queries;
    std::int64_t source;
    const value& seen;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("QFormerLayer"); }
    constexpr value describe(trace& t, const value& x) const {
        const value all = t.call("attention", former_attention{here, here.dims.hidden_size}, x, x);
        value asked = t.slice(all, 1, queries);
        if (here.kind.own == crosses)
            asked = t.call("crossattention", former_cross_attention{{here, source}}, asked, seen);
        const bool has_words = here.dims.own[reads_text] != 0;
        const std::int64_t length = all.dim(1) - queries;
        if (has_words && length == 0) {
            const recorder::idle_guard without_words{t};
            (void)feed_forward(t, "intermediate", "output", asked);
        }
        asked = feed_forward(t, "intermediate_query", "output_query", asked);
        if (length == 0) return asked;
        return t.cat({asked, feed_forward(t, "intermediate", "output", t.slice(all, 1, length))}, 1);
    }
    constexpr value feed_forward(trace& t, literal up, literal down, const value& x) const {
        const bert_layers::feed_forward_output out{
            {here.dims.intermediate_size, here.dims.hidden_size, here.type("QFormerOutput")}};
        return t.call(down, out, t.call(up, former_intermediate{here}, x), x);
    }
};

/// Layers over learned queries, and over an instruction's words behind them: states of the queries.
constexpr value ask(const site& here, trace& t, value x, const value& seen, std::int64_t queries) {
    const module_info encoder{.name = "encoder", .type = here.type("QFormerEncoder")};
    const std::int64_t source = here.whole.beside[0].dims.hidden_size;
    t.enter(encoder);
    const shared_values nothing;
    for (repetition each = t.repeat(here.dims.num_hidden_layers, here.dims.layers, x); each.next();)
        x = t.call({"layer", each.index()}, former_layer{here.at(each, nothing), queries, source, seen}, x);
    return t.leave(encoder, x);
}

inline constexpr architecture former = [](architecture a) {
    a.prefix = "Blip2", a.own = former_keys, a.heads = {}, a.read = plan_former, a.kinds.own = crosses;
    a.defaults.hidden_act = activation::gelu;
    return a;
}(shared_tower);

enum own : std::uint8_t { queries };
inline constexpr own_key keys[]{{"num_query_tokens", 32}};

constexpr media_shapes show(const model& m, const workload&) {
    const vision_sizes& image = m.beside[0].dims.vision;
    return {.image = {.tokens = m.own[queries], .height = image.image_height, .width = image.image_width}};
}

/// States of learned queries behind a norm.
constexpr value query(const site& here, trace& t, const value& seen) {
    const site there = here.component(1);
    const std::int64_t n = here.whole.own[queries], width = there.dims.hidden_size;
    const value learned = t.param("query_tokens", {1, n, width}).expand({seen.dim(0), n, width});
    const module_info model{.name = "qformer", .type = there.type("QFormerModel")};
    t.enter(model);
    const value first = dropout(t, "dropout", t.call("layernorm", norm<norm_kind::layer>{width}, learned));
    return t.leave(model, ask(there, t, first, seen, n));
}

/// OPT under its own head: words, what stands among them, layers; the whole makes a mask, `generate` calls the text alone.
template <class Place>
constexpr value describe_opt(const site& text, trace& t, const Place& place) {
    const module_info whole{.name = "language_model", .type = text.type("ForCausalLM")};
    const module_info model{.name = "model", .type = text.type("Model")};
    const module_info decoder{.name = "decoder", .type = text.type("Decoder")};
    t.enter(whole), t.enter(model), t.enter(decoder);
    value x = opt_detail::look_up_words(text, t);
    t.leave(decoder, x), t.leave(model, x), t.leave(whole, x);
    x = place(x);
    t.enter(whole), t.enter(model), t.enter(decoder);
    x = opt_detail::decode(text, t, x, t.load().past == 0);
    t.leave(decoder, x), t.leave(model, x);
    return t.leave(whole, t.returns(x, describe_head(text, t, x)));
}

/// T5 under its own head: words of the encoder in the shared table, what stands among them, both stacks.
template <class Place>
constexpr value describe_t5(const site& text, trace& t, const Place& place) {
    const module_info whole{.name = "language_model", .type = text.type("ForConditionalGeneration")};
    value words;
    {
        const recorder::idle_guard done{t, encoder_is_done(t.load())};
        t.enter(whole);
        const embedding table{text.dims.vocab_size, text.dims.hidden_size};
        words = t.leave(whole, t.call("shared", table, extents{t.load().batch, encoder_length(t.load())}));
        words = place(words);
    }
    t.enter(whole);
    const value x = t5_detail::describe_both_over(text, t, &words);
    return t.leave(whole, t.returns(x, t5_detail::describe_scores(text, t, x)));
}

/// A tower, queries that look at it, and a text; of OPT or T5, as the configuration has it.
template <value (*Query)(const site&, trace&, const value&), std::int64_t Frames = 1>
constexpr value describe(const site& here, trace& t) {
    const module_info whole{.type = here.type(name_of(here.dims.head))};
    const site text = here.text();
    t.enter(whole);
    const auto place = [&](const value& x) {
        const recorder::idle_guard no_pixels{t, !sees_images(t)};
        const recorder::workload_guard shown{t, pictures(t.load(), images_in(t) * Frames, 0, 0)};
        const value seen = describe_tower(here, t, 0, "vision_model", role::vision);
        const value found = Query(here, t, seen);
        const projector_linear projection{here.component(1).dims.hidden_size, here.dims.hidden_size, true};
        return t.masked_scatter(x, t.call("language_projection", projection, found));
    };
    return t.leave(whole, here.whole.text == &opt ? describe_opt(text, t, place) : describe_t5(text, t, place));
}

constexpr void read(config_view config, model& m) {
    if (m.text != &opt && m.text != &t5)
        fail_unsupported(config, "text_config", "no row describes another text model than OPT or T5 under this one");
}

}  // namespace blip_2_detail

// transformers/models/blip_2: a tower, queries that look at it, OPT
inline constexpr architecture blip_2 = [](architecture a) {
    a.model_type = "blip-2", a.prefix = "Blip2", a.describe = blip_2_detail::describe<blip_2_detail::query>;
    a.own = blip_2_detail::keys, a.media = blip_2_detail::show, a.reads.images = a.shows_encoder = true;
    a.read_whole = blip_2_detail::read, a.heads = {head_kind::conditional_generation};
    a.text = {.key = "text_config", .otherwise = &opt, .ties = true, .second = &t5};
    a.beside[0] = {.key = "vision_config", .otherwise = &blip_2_detail::tower, .always = true};
    a.beside[1] = {.key = "qformer_config", .otherwise = &blip_2_detail::former, .always = true};
    a.keys[0] = {"tie_word_embeddings", "", key_rule::absent};
    return a;
}(shared_composite);

}  // namespace llmcost::arch
