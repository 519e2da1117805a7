// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/layers/einsum.hpp>
#include <llmcost/reading/reader.hpp>
#include <llmcost/walks/encoder_decoder.hpp>

namespace llmcost::arch {

namespace prophetnet_detail {

enum own : std::uint8_t { decoder_layers, decoder_heads, decoder_inner, encoder_inner, streams, buckets, crosses };
inline constexpr own_key keys[]{{"num_decoder_layers", 12},
                                {"num_decoder_attention_heads", 16},
                                {"decoder_ffn_dim", 4096},
                                {"encoder_ffn_dim", 4096},
                                {"ngram", 2},
                                {"num_buckets", 32},
                                {"add_cross_attention", 1, own_value::boolean}};

/// What layers share beside the mask: that of the predicting streams.
constexpr std::size_t predicting_mask = 0;

/// Attention of the encoder over itself, or of the decoder over the encoder's states.
struct attention {
    const site& here;
    std::int64_t heads;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Attention"); }
    constexpr value describe(trace& t, const value& x, const value* source) const {
        const std::int64_t batch = x.dim(0), length = x.dim(1), width = x.dim(2), d = width / heads;
        const value& from = source != nullptr ? *source : x;
        const context all{.sequence = from.dim(1), .causal = false};
        const linear projection{width, width, true};
        const auto by_heads = [&](const value& a) { return a.view({batch, -1, heads, d}).transpose(1, 2); };
        const value q = by_heads(t.div(t.call("query_proj", projection, x)));
        const bool from_cache = source != nullptr && encoder_is_done(t.load());
        value k, v;
        {
            const recorder::idle_guard unused{t, from_cache};
            k = by_heads(t.call("key_proj", projection, from));
            v = by_heads(t.call("value_proj", projection, from));
        }
        if (from_cache) {
            k = v = trace::buffer({batch, heads, from.dim(1), d});
            t.cache(k), t.cache(v);
        } else if (source != nullptr) {
            k = update_cache(t, k, all);
            v = update_cache(t, v, all);
        }
        value mixed;
        {
            const recorder::fused_guard fused{t, fused_attention(q, heads, all, from.dim(1))};
            const value seen = t.softmax(einsum(t, "bsij,bsjk->bsik", q, k.transpose(2, 3)));
            mixed = t.reshape(einsum(t, "bsij,bsjk->bsik", seen, v).transpose(1, 2), {batch, length, width});
        }
        return t.call("out_proj", projection, mixed);
    }
};
struct cross_attention : attention {
    static constexpr role what = role::cross_attn;
};

/// Buckets of so many distances, spelled out in floating point (`compute_relative_buckets`).
constexpr void make_buckets(trace& t, std::int64_t distances) {
    const value distance = t.constant({distances});
    const value large = t.add(t.mul(t.div(t.unary(op::log, t.div(distance)))));
    (void)t.minimum(large, t.mul(t.constant({distances})));
}

/// Attention of (B, (1 + n)·S, width): the main stream over itself, and n that predict, each over the main one and itself.
struct ngram_attention {
    const site& here;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("NgramSelfAttention"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t n = here.dims.own[streams], heads = here.dims.num_attention_heads;
        const std::int64_t batch = x.dim(0), length = x.dim(1), width = x.dim(2), d = width / heads;
        const std::int64_t sequence = length / (1 + n);
        const linear projection{width, width, true};
        const auto by_heads = [&](const value& a) {
            return t.contiguous(a.view({batch, length, heads, d}).transpose(1, 2));
        };
        value q = t.call("query_proj", projection, x), k = t.call("key_proj", projection, x);
        value v = t.call("value_proj", projection, x);
        q = by_heads(t.div(q)), k = by_heads(k), v = by_heads(v);
        // chunks of all streams are alike: each stands for the main one and for those that predict
        const value stream = x.slice(1, sequence);
        q = q.slice(2, sequence), k = k.slice(2, sequence), v = v.slice(2, sequence);
        const value main_k = update_cache(t, k, here.shared->where), main_v = update_cache(t, v, here.shared->where);

        const value main_scores = einsum(t, "bntc,bncs->bnts", q, main_k.transpose(2, 3));
        const value main_distances = distances_of(t, stream).view({batch, sequence, -1, heads}).permute({0, 3, 1, 2});
        const value main_seen = seen_of(t, biased(t, main_scores, main_distances), mask_of(here.shared->mask));
        const value main_out = einsum(t, "bntc,bncs->bnts", main_seen, main_v).transpose(1, 2);
        const value main = t.call("out_proj", projection, t.reshape(main_out, {batch, 1, sequence, width}));

        const recorder::called_again_guard again{t};
        const value predict_q = stacked(t, n, q, 1), predict_k = joined(t, n, main_k, k, 1);
        const value predicting = stacked(t, n, stream, 2), predict_v = joined(t, n, main_v, v, 2);
        const value scores = einsum(t, "bnhtc,bnhsc->bnhts", predict_q, predict_k);
        const value distances = distances_of(t, predicting.transpose(1, 2)).view({batch, n, sequence, -1, heads});
        const value with_distances = biased(t, scores, distances.permute({0, 2, 1, 4, 3}));
        const value mask = here.shared->own[predicting_mask];
        const value by_streams = mask.rank != 0 ? mask.permute({0, 2, 1, 3, 4}) : mask;
        const value seen = seen_of(t, with_distances, mask_of(by_streams));
        const value out = einsum(t, "bnhts,bnhsc->bnhtc", seen, predict_v.transpose(1, 2)).transpose(2, 3);
        const value predicted = t.call("out_proj", projection, t.reshape(out, {batch, n, sequence, width}));
        return t.cat({main, predicted}, 1).view({batch, length, width});
    }

private:
    /// A number for each bucket of distances and head, which every token has for itself.
    [[nodiscard]] constexpr value distances_of(trace& t, const value& x) const {
        const std::int64_t numbers = here.dims.own[buckets] * here.dims.num_attention_heads;
        return t.call("relative_pos_embeddings", linear{x.dim(-1), numbers, true}, x);
    }
    /// Scores (…, keys) and what the distance of each pair picks of (…, buckets); without tables where there is a past.
    static constexpr value biased(trace& t, const value& scores, const value& distances) {
        if (t.load().past > 0) make_buckets(t, scores.dim(0) * scores.dim(-1));
        const value rows = t.reshape(distances, {-1, distances.dim(-1)});
        const value picked = t.gather_along(rows, {rows.dim(0), scores.dim(-1)});
        return t.add(scores, sized_as(picked, scores));
    }
    static constexpr value sized_as(const value& x, const value& other) {
        extents to;
        for (int i = 0; i < other.rank; ++i) to.size[to.rank++] = other.size[i];
        return x.view(to);
    }
    static constexpr const value* mask_of(const value& mask) { return mask.rank != 0 ? &mask : nullptr; }
    static constexpr value seen_of(trace& t, const value& scores, const value* mask) {
        const value masked = mask != nullptr ? t.add(scores, *mask) : scores;
        return t.to(t.softmax(t.to(masked, dtype::float32)), masked.type);
    }
    /// `torch.stack` of a chunk for each stream that predicts.
    static constexpr value stacked(trace& t, std::int64_t n, const value& chunk, int along) {
        value each[trace::most_joined];
        for (std::int64_t i = 0; i < n; ++i) each[i] = chunk.unsqueeze(along);
        return t.cat(each, static_cast<int>(n), along);
    }
    /// The same of chunks behind what the main stream has.
    static constexpr value joined(trace& t, std::int64_t n, const value& main, const value& chunk, int along) {
        value each[trace::most_joined];
        for (std::int64_t i = 0; i < n; ++i) each[i] = t.cat({main, chunk}, 2).unsqueeze(along);
        return t.cat(each, static_cast<int>(n), along);
    }
};

struct feed_forward {
    const site& here;
    std::int64_t inner;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("FeedForward"); }
    constexpr value describe(trace& t, const value& x) const {
        const value h = t.call("intermediate", linear{x.dim(-1), inner, true}, x);
        const value active = t.call("activation_fn", activation_module{here.dims.hidden_act}, h);
        return t.call("output", linear{inner, x.dim(-1), true}, active);
    }
};

constexpr value normed(trace& t, literal name, const value& x) { return t.call(name, norm<norm_kind::layer>{x.dim(-1)}, x); }
constexpr value feed(const site& here, trace& t, std::int64_t inner, const value& x) {
    const value h = t.call("feed_forward", feed_forward{here, inner}, x);
    return normed(t, "feed_forward_layer_norm", t.add(h, x));
}

constexpr value encoder_layer(const site& here, trace& t, const value& x) {
    const value* const itself = nullptr;
    const value h = t.call("self_attn", attention{here, here.dims.encoder.num_attention_heads}, x, itself);
    return feed(here, t, here.dims.encoder.intermediate_size, normed(t, "self_attn_layer_norm", t.add(h, x)));
}

constexpr value over_encoder(const site& here, trace& t, const value& x, const value& encoded) {
    const value h = t.call("cross_attn", cross_attention{{here, here.dims.num_attention_heads}}, x, &encoded);
    return normed(t, "cross_attn_layer_norm", t.add(h, x));
}
/// Without an encoder its attention is parameters only.
constexpr value decoder_layer(const site& here, trace& t, const value& x, const value* encoded) {
    value h = t.add(x, t.call("self_attn", ngram_attention{here}, x));
    h = normed(t, "self_attn_layer_norm", h);
    if (encoded != nullptr) {
        h = over_encoder(here, t, h, *encoded);
    } else if (here.dims.own[crosses] != 0) {
        const recorder::idle_guard no_encoder{t};
        (void)over_encoder(here, t, h, h);
    }
    return feed(here, t, here.dims.intermediate_size, h);
}

constexpr value words(const site& here, trace& t, std::int64_t length) {
    const embedding table{
        here.dims.vocab_size, here.dims.hidden_size, false, {"", "Embedding"}, here.dims.tie_word_embeddings};
    return t.call("word_embeddings", table, extents{t.load().batch, length});
}
constexpr module_info positions(const site& here) {
    return {.name = "position_embeddings", .type = here.type("PositionalEmbeddings"), .what = role::embedding, .leaf = true};
}
constexpr value position_table(const site& here, trace& t) {
    return t.param("weight", {here.dims.max_position_embeddings, here.dims.hidden_size});
}

/// Positions beyond the table are those of its last row.
constexpr value encoder(const site& here, trace& t) {
    const workload& load = t.load();
    const std::int64_t length = encoder_length(load), width = here.dims.hidden_size;
    const recorder::idle_guard done{t, encoder_is_done(load)};
    const module_info module{.name = "encoder", .type = here.type("Encoder"), .what = role::encoder};
    t.enter(module);
    value x = words(here, t, length);
    t.enter(positions(here));
    const value places = t.gather(position_table(here, t), {load.batch, length, width});
    x = normed(t, "embeddings_layer_norm", t.add(x, t.leave(positions(here), places)));
    for (repetition each = t.repeat(here.dims.encoder.num_hidden_layers, x); each.next();) {
        const module_info layer{.name = "layers", .index = each.index(), .type = here.type("EncoderLayer")};
        t.enter(layer);
        x = t.leave(layer, encoder_layer(here, t, x));
    }
    t.leave(module);
    return encoder_is_done(load) ? t.input({load.batch, length, width}) : x;
}

/// The causal mask, and what each predicting stream may see: cut out of one for as many tokens as there are positions.
constexpr void make_masks(const site& here, trace& t, shared_values& into) {
    const std::int64_t batch = t.load().batch, sequence = t.load().sequence, heads = here.dims.num_attention_heads;
    const std::int64_t n = here.dims.own[streams], held = here.dims.max_position_embeddings;
    const dtype type = t.activation_type();
    (void)t.constant({sequence, sequence}, type);  // full, then its upper triangle
    into.mask = t.constant({sequence, sequence}, type).expand({batch, heads, sequence, sequence});
    t.written(2);  // the lowest number and the zero
    const value left = t.constant({n, held, held}, type), right = t.constant({n, held, held}, type);
    const value whole = t.cat({left, right}, 2);
    const value part = whole.slice(1, sequence).slice(2, sequence);
    into.own[predicting_mask] =
        t.cat({part, part}, -1).unsqueeze(0).unsqueeze(0).expand({batch, heads, n, sequence, 2 * sequence});
}

/// Buckets of all distances that there are positions for, of the main stream and of those that predict.
constexpr void make_all_buckets(const site& here, trace& t) {
    const std::int64_t most = here.dims.max_position_embeddings - 1;
    make_buckets(t, most * most);
    make_buckets(t, 2 * most * most);
}

/// All streams of all tokens, the main one first: (B, (1 + n)·S, width).
constexpr value embed(const site& here, trace& t) {
    const workload& load = t.load();
    const std::int64_t n = here.dims.own[streams], width = here.dims.hidden_size, sequence = load.sequence;
    const bool extends = load.past > 0;
    if (!extends) make_all_buckets(here, t);
    value streams_of[trace::most_joined];
    const value x = words(here, t, sequence);
    t.enter(positions(here));
    const value table = position_table(here, t);
    const extents places = extends ? extents{1, 1, width} : extents{load.batch, sequence, width};
    const value main = t.leave(positions(here), t.gather(table, places));
    const value next = t.gather(table, places);  // of the word behind, in the decoder itself
    streams_of[0] = t.add(x, main);
    const module_info ngrams{.name = "ngram_embeddings", .type = {"", "Embedding"}, .what = role::embedding, .leaf = true};
    t.enter(ngrams);
    const value offsets = t.param("weight", {n, width});
    t.leave(ngrams);
    for (std::int64_t i = 1; i <= n; ++i) {
        const value sum = t.add(t.select(offsets, 0), next);
        streams_of[i] = extends ? t.copy(sum.expand({load.batch, 1, width})) : sum;
    }
    return normed(t, "embeddings_layer_norm", t.cat(streams_of, static_cast<int>(n + 1), 1));
}

/// Each token's position is one more than its number, and it looks up the next one, too.
///
/// With a past the reference takes one token at a time (`ProphetNetDecoder.forward`).
constexpr void check_positions(const site& here, trace& t) {
    const workload& load = t.load();
    t.positions(here.dims.max_position_embeddings - 2, load.past + load.sequence);
    if (load.past > 0 && load.sequence > 1 && !t.idle()) report_positions(1, load.sequence);
}

constexpr value decoder(const site& here, trace& t, const value* encoded) {
    const module_info module{.name = "decoder", .type = here.type("Decoder"), .what = role::decoder};
    t.enter(module);
    check_positions(here, t);
    value x = embed(here, t);
    shared_values shared{.where = context_of(t, 0)};
    if (t.load().past == 0) make_masks(here, t, shared);
    for (repetition each = t.repeat(here.dims.num_hidden_layers, x); each.next();) {
        const module_info layer{.name = "layers", .index = each.index(), .type = here.type("DecoderLayer")};
        t.enter(layer);
        x = t.leave(layer, decoder_layer(here.at(each, shared), t, x, encoded));
    }
    return t.leave(module, x);
}

/// Words that both stacks are tied to; nobody reads those that they are not.
constexpr void declare_words(const site& here, trace& t) {
    const recorder::idle_guard unread{t, !here.dims.tie_word_embeddings};
    embedding{here.dims.vocab_size, here.dims.hidden_size}.declare(t, "word_embeddings");
}
constexpr value both(const site& here, trace& t) {
    declare_words(here, t);
    const value encoded = encoder(here, t);
    return decoder(here, t, &encoded);
}
constexpr value alone(const site& here, trace& t) {
    declare_words(here, t);
    return decoder(here, t, nullptr);
}

/// Scores of the words that each stream predicts; those of the first one are what is returned first.
constexpr value score(const site& here, trace& t, const value& x) {
    const std::int64_t n = here.dims.own[streams], batch = x.dim(0), sequence = t.load().sequence;
    const recorder::idle_guard unused{t, t.load().head == logits::none};
    value predicting = t.slice(x, 1, n * sequence).view({batch, n, sequence, -1});
    if (t.load().head == logits::last) predicting = t.slice(predicting, 2, 1);
    const linear head{here.dims.hidden_size, here.dims.vocab_size, false, here.dims.tie_word_embeddings};
    const value first = t.select(t.call("lm_head", head_linear{head}, predicting), 1);
    return here.dims.head == head_kind::conditional_generation ? t.contiguous(first) : first;
}

}  // namespace prophetnet_detail

/// An encoder-decoder whose decoder has streams beside the main one, each of which predicts another word to come.
///
/// Source: transformers/models/prophetnet/modeling_prophetnet.py.
constexpr value describe_prophetnet(const site& here, trace& t) {
    using namespace prophetnet_detail;
    if (t.load().attention == attention_scores::causal)
        report_description("prophetnet: a decoding step hides nothing from its streams as a prefill does: --attention full");
    const bool causal = here.dims.head == head_kind::causal_lm, bare = here.dims.head == head_kind::none;
    const module_info whole{.type = here.type(name_of(here.dims.head))};
    const module_info base{.name = bare ? "" : "prophetnet", .type = here.type(causal ? "DecoderWrapper" : "Model")};
    if (!bare) t.enter(whole);
    const value x = describe_within(base, causal ? alone : both, here, t);
    if (bare) return t.slice(x, 1, t.load().sequence);
    return t.leave(whole, t.returns(x, score(here, t, x)));
}

constexpr void read_prophetnet(config_view config, sizes& s) {
    using namespace prophetnet_detail;
    refuse_window(config);
    s.encoder = {s.num_hidden_layers, s.num_attention_heads, s.own[encoder_inner]};
    share_among_heads(config, s, {"num_encoder_attention_heads", "num_attention_heads"});
    if (s.own[decoder_layers] > s.num_hidden_layers)
        fail_unsupported(config, "num_decoder_layers", "the cache has as many layers as the encoder, too few");
    s.num_hidden_layers = s.own[decoder_layers];
    s.num_attention_heads = s.num_key_value_heads = s.own[decoder_heads];
    s.intermediate_size = s.own[decoder_inner];
    share_among_heads(config, s, {"num_decoder_attention_heads"});
    if (s.own[streams] >= trace::most_joined) fail_unsupported(config, "ngram", "no walk joins so many streams");
    if (s.own[buckets] < 2) fail_value(config, "num_buckets", "at least 2");
    if (config.positive("relative_max_distance", 128) <= s.own[buckets] / 2)
        fail_value(config, "relative_max_distance", "more than half of num_buckets");
    (void)checked_width(config, "num_buckets", s.num_attention_heads, s.own[buckets]);
    if (config.non_negative("pad_token_id", 0) != 0)
        fail_unsupported(config, "pad_token_id", "the reference decodes with positions behind a padding token 0 only");
    if (s.own[crosses] == 0 && s.head != head_kind::causal_lm)
        fail_value(config, "add_cross_attention", "true where there is an encoder");
}

// transformers/models/prophetnet: configuration_prophetnet.py, modeling_prophetnet.py
inline constexpr architecture prophetnet{
    .model_type = "prophetnet",
    .prefix = "ProphetNet",
    .describe = describe_prophetnet,
    .read = read_prophetnet,
    .own = prophetnet_detail::keys,
    .rotated = rotation::none,
    .heads = {head_kind::none, head_kind::causal_lm, head_kind::conditional_generation},
    .keys = {{"num_attention_heads", "num_encoder_attention_heads", key_rule::standard_first},
             {"num_hidden_layers", "num_encoder_layers", key_rule::written_only},
             {"hidden_act", "activation_function", key_rule::written_only},
             no_key_value_heads},
    .defaults = {.vocab_size = 30522,
                 .hidden_size = 1024,
                 .num_hidden_layers = 12,
                 .num_attention_heads = 16,
                 .max_position_embeddings = 512,
                 .hidden_act = activation::gelu,
                 .head = head_kind::conditional_generation,
                 .tie_word_embeddings = true},
};

}  // namespace llmcost::arch
