// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/chinese_clip.hpp>
#include <llmcost/walks/encoder_decoder.hpp>

namespace llmcost::arch {

namespace blip_detail {

enum own : std::uint8_t { projection };
inline constexpr own_key keys[]{{"projection_dim", 512}};

/// Attention over all patches from one projection, with a dropout module between softmax and values.
constexpr value attend_patches(const site& here, trace& t, const value& x) {
    const std::int64_t batch = x.dim(0), n = x.dim(1), width = here.dims.hidden_size, heads = here.dims.num_attention_heads;
    const value all = t.call("qkv", linear{width, 3 * width, true}, x);
    const value split = t.reshape(all, {batch, n, 3, heads, width / heads}).permute({2, 0, 3, 1, 4});
    const value q = t.select(split, 0), k = t.select(split, 0), v = t.select(split, 0);
    value mixed;
    {
        const recorder::fused_guard fused{t, fused_attention(q, heads, all_positions(n).where, n)};
        const value scores = t.softmax(t.mul(t.matmul(q, k.transpose(-1, -2))));
        mixed = t.matmul(dropout(t, "dropout", scores, dropout_of::attention), v).permute({0, 2, 1, 3});
    }
    return t.call("projection", linear{width, width, true}, t.reshape(mixed, {batch, n, width}));
}

/// Patches behind a class token; layers, a norm, and the class token behind the same norm once more.
constexpr two_values states_and_pool(const site& here, trace& t, bool reads_pool) {
    const std::int64_t width = here.dims.hidden_size, positions = patches_of(here.dims.vision) + 1;
    const value pixels = pixels_of(here, t);
    const module_info embeddings{.name = "embeddings", .type = here.type("VisionEmbeddings"), .what = role::embedding};
    t.enter(embeddings);
    const value token = t.param("class_embedding", {1, 1, width});
    const value places = t.param("position_embedding", {1, positions, width});
    const value patches = embed_patches(here, t, "patch_embedding", true, pixels);
    value x = t.cat({token.expand({pixels.dim(0), 1, width}), patches}, 1);
    x = t.leave(embeddings, t.add(x, t.slice(places, 1, positions)));
    const norm<norm_kind::layer> layer_norm{width};
    x = t.call("post_layernorm", layer_norm, encode(here, t, x));
    const recorder::off_loss_guard unread{t, !reads_pool};
    const recorder::called_again_guard again{t};
    return {x, t.call("post_layernorm", layer_norm, t.select(x, 1))};
}

/// Words, to which positions are added in place, and a norm.
constexpr value sum_embeddings(const site& here, trace& t) {
    value x = word_embeddings(here, t);
    t.in_place(op::add, x, position_embeddings(here, t));
    return norm_embeddings(here, t, x);
}
constexpr value embed(const site& here, trace& t) { return embed_within(here, t, sum_embeddings); }

/// Whether the text is a decoder's, which reads images: under a language model's head.
[[nodiscard]] constexpr bool writes(const site& here) noexcept { return here.dims.head == head_kind::conditional_generation; }

constexpr decoder_context prepare(const site& here, trace& t) {
    decoder_context c;
    c.full.where = all_positions(t.load().sequence).where;
    if (writes(here)) c.full.where = context_of(t, 0), c.full.mask = eager_mask(t, c.full.where, t.load().batch);
    if (here.shared != nullptr) c.full.own[0] = here.shared->own[0];
    return c;
}

constexpr value attend(const site& here, trace& t, const value& x) {
    const encoder_reach reach = bert_layers::reach_of(here);
    value q, k, v;
    project_in_heads(t, x, here.dims.hidden_size, here.dims.num_attention_heads, {}, q, k, v);
    if (reach.where.causal) k = update_cache(t, k, reach.where), v = update_cache(t, v, reach.where);
    return look_up_dividing(t, q, k, v, reach);
}

/// Attention to an image's states, whose keys and values come from the cache after the first pass.
struct cross_self {
    const site& here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("SelfAttention"); }
    constexpr value describe(trace& t, const value& x) const {
        const value& source = here.shared->own[0];
        const std::int64_t width = here.dims.hidden_size, heads = here.dims.num_attention_heads, d = width / heads;
        const auto split = [&](literal name, const value& from) {
            const value all = t.call(name, linear{from.dim(2), width, true}, from);
            return all.view({from.dim(0), from.dim(1), heads, d}).transpose(1, 2);
        };
        const value q = split("query", x);
        const context across{.sequence = source.dim(1), .causal = false};
        const bool from_cache = encoder_is_done(t.load());
        value k, v;
        {
            const recorder::idle_guard unused{t, from_cache};
            k = split("key", source), v = split("value", source);
        }
        if (from_cache) {
            k = v = trace::buffer({x.dim(0), heads, source.dim(1), d});
            t.cache(k), t.cache(v);
        } else {
            k = update_cache(t, k, across), v = update_cache(t, v, across);
        }
        return look_up_dividing(t, q, k, v, {.where = across});
    }
};
struct cross_block {
    const site& here;

    static constexpr role what = role::cross_attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Attention"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size;
        const value h = t.call("self", cross_self{here}, x);
        return t.call("output", bert_layers::output_block{width, width, here.type("SelfOutput")}, h, x);
    }
};

/// A BERT layer that reads images where the text is a decoder's; else it holds what would read them.
constexpr value layer(const site& here, trace& t, const value& x) {
    const value a = t.call("attention", bert_layers::attention_block{here}, x);
    if (!here.dims.is_decoder) return feed_as_bert(here, t, a);
    if (writes(here)) return feed_as_bert(here, t, t.call("crossattention", cross_block{here}, a));
    {
        const recorder::idle_guard no_image{t};
        shared_values nothing = *here.shared;
        nothing.own[0] = trace::buffer({x.dim(0), 1, here.component(0).dims.hidden_size});
        site there = here;
        there.shared = &nothing;
        (void)t.call("crossattention", cross_block{there}, a);
    }
    return feed_as_bert(here, t, a);
}

/// Scores of every text and image.
constexpr value describe_pair(const site& here, trace& t) {
    const module_info whole{.type = here.type("Model")};
    const site text = here.text(), tower = here.component(0);
    const std::int64_t width = here.whole.own[projection];
    t.enter(whole);
    const value scale = t.param("logit_scale", {});
    const value first = pool_text(here, t, [&] { return pool_first(text, t, text.row.base(text, t)); });
    const value image = pool_images(here, t, [&] { return states_and_pool(tower, t, true).second; });
    const value seen = t.call("visual_projection", projector_linear{tower.dims.hidden_size, width}, image);
    const value read = t.call("text_projection", projector_linear{text.dims.hidden_size, width}, first);
    return t.leave(whole, score_pairs(t, direction(t, read), direction(t, seen), scale));
}

/// A text that reads an image through attention to its states.
constexpr value describe_writer(const site& here, trace& t) {
    const module_info whole{.type = {here.row.prefix, name_of(here.dims.head)}};
    t.enter(whole);
    shared_values read;
    {
        const recorder::idle_guard done{t, encoder_is_done(t.load())};
        const site tower = here.component(0);
        read.own[0] = pool_images(here, t, [&] { return states_and_pool(tower, t, false).first; });
    }
    const site plain = here.text(), text{plain.whole, plain.row, plain.dims, &read};
    const module_info decoder{.name = "text_decoder", .type = text.type("LMHeadModel"), .what = role::decoder};
    t.enter(decoder);
    const value x = describe_within({.name = "bert", .type = text.type("Model")}, text.row.base, text, t);
    const recorder::idle_guard unused{t, t.load().head == logits::none};
    const value scores = score_in_cls(text, t, {kept_positions(t, x), {}});
    return t.leave(whole, t.leave(decoder, t.returns(x, scores)));
}

constexpr value describe(const site& here, trace& t) { return writes(here) ? describe_writer(here, t) : describe_pair(here, t); }

constexpr media_shapes show(const model& m, const workload& load) {
    if (m.dims.head == head_kind::conditional_generation && load.images > 1)
        report_description("a text reads one image, through attention to it");
    return show_pair(m, load);
}

constexpr void read_text(config_view config, sizes& s) {
    s.is_decoder = config.boolean("is_decoder", true);
    read_encoder(config, s);
}
constexpr void read_whole(config_view config, model& m) {
    if (m.dims.head == head_kind::conditional_generation && !m.dims.is_decoder)
        fail_unsupported(config, "text_config", "no row describes a text that writes without is_decoder");
}
constexpr void read_image(config_view config, sizes& s) {
    read_square_image(config, s, 384, 16);
    s.vision.num_channels = 3;
    share_among_heads(config, s, {"num_attention_heads"});
}

inline constexpr architecture texts = [](architecture a) {
    a.prefix = "BlipText", a.embed = embed, a.prepare = prepare, a.layer = layer, a.attend = attend;
    a.read = read_text, a.drops = {};
    a.defaults.vocab_size = 30524, a.defaults.num_attention_heads = 8;
    return a;
}(bert);

}  // namespace blip_detail

// transformers/models/blip: `BlipVisionModel`, CLIP's tower with one projection for queries, keys and values
inline constexpr architecture blip_vision_model = [](architecture a) {
    a.model_type = "blip_vision_model", a.prefix = "Blip", a.read = blip_detail::read_image;
    a.base = [](const site& here, trace& t) { return blip_detail::states_and_pool(here, t, false).first; };
    a.attend = blip_detail::attend_patches, a.tokens_ahead = 1, a.defaults.hidden_act = activation::gelu;
    return a;
}(shared_tower);

// transformers/models/blip: modeling_blip.py, modeling_blip_text.py; BERT beside images, or reading them
inline constexpr architecture blip = [](architecture a) {
    a.model_type = "blip", a.prefix = "Blip", a.describe = blip_detail::describe, a.read_whole = blip_detail::read_whole;
    a.heads = composite_heads, a.defaults.head = head_kind::conditional_generation;
    a.own = blip_detail::keys, a.media = blip_detail::show, a.defaults.tie_word_embeddings = true;
    a.text.otherwise = &blip_detail::texts, a.beside[0].otherwise = &blip_vision_model;
    return a;
}(shared_pair);

}  // namespace llmcost::arch
