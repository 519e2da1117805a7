// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bert.hpp>

namespace llmcost::arch {

namespace mobilebert_detail {

enum own : std::uint8_t {
    trigrams,
    has_bottleneck,
    narrow_width,
    attends_narrow,
    shares_queries,
    feed_forwards,
    activates_pooler,
    spelled_norms
};
inline constexpr own_key keys[]{
    {"trigram_input", 1, own_value::boolean},
    {"use_bottleneck", 1, own_value::boolean},
    {"intra_bottleneck_size", 128},
    {"use_bottleneck_attention", 0, own_value::boolean},
    {"key_query_shared_bottleneck", 1, own_value::boolean},
    {"num_feedforward_networks", 4},
    {"classifier_activation", 1, own_value::boolean},
    {.value = own_value::computed},  // `normalization_type`: a scale and a bias alone
};

/// The width inside of layers.
[[nodiscard]] constexpr std::int64_t inside(const site& here) {
    return here.dims.own[has_bottleneck] != 0 ? here.dims.own[narrow_width] : here.dims.hidden_size;
}

/// A scale and a bias, which take the place of a norm.
struct no_norm {
    std::int64_t width;

    static constexpr role what = role::norm;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return {"", "NoNorm"}; }
    constexpr value describe(trace& t, const value& x) const {
        const value bias = t.param("bias", {width}), weight = t.param("weight", {width});
        return t.add(t.mul(x, weight), bias);
    }
};
constexpr value normed(const site& here, trace& t, const value& x) {
    if (here.dims.own[spelled_norms] != 0) return t.call("LayerNorm", no_norm{x.dim(-1)}, x);
    return t.call("LayerNorm", norm<norm_kind::layer>{x.dim(-1)}, x);
}

/// Each word beside those before and after it, then positions and segments.
constexpr value sum_embeddings(const site& here, trace& t) {
    const std::int64_t width = here.dims.hidden_size, narrow = here.dims.embedding_size, sequence = t.load().sequence;
    const std::int64_t wide = here.dims.own[trigrams] != 0 ? 3 * narrow : narrow;
    value x = word_embeddings(here, t);
    if (here.dims.own[trigrams] != 0) {
        const value after = t.pad(t.slice(x, 1, sequence - 1), 1, 1);
        x = t.cat({after, x, t.pad(t.slice(x, 1, sequence - 1), 1, 1)}, 2);
    }
    {
        const recorder::idle_guard unused{t, wide == width && narrow == width};
        const value h = t.call("embedding_transformation", linear{wide, width, true}, x);
        if (!t.idle()) x = h;
    }
    t.positions(here.dims.max_position_embeddings, sequence);
    const embedding places{here.dims.max_position_embeddings, width}, kinds{here.dims.type_vocab_size, width};
    x = t.add(x, t.call("position_embeddings", places, extents{1, sequence}));
    x = t.add(x, t.call("token_type_embeddings", kinds, extents{t.load().batch, sequence}));
    return dropout(t, "dropout", mobilebert_detail::normed(here, t, x));
}
constexpr value embed(const site& here, trace& t) { return embed_within(here, t, sum_embeddings); }

/// A projection and a norm, after the sum with what went around where there is any.
constexpr value project(const site& here, trace& t, const module_info& m, std::int64_t width, const value& x,
                        const value* around, bool drops = false) {
    t.enter(m);
    value h = t.call("dense", linear{x.dim(-1), width, true}, x);
    if (drops) h = dropout(t, "dropout", h);
    if (around != nullptr) h = t.add(h, *around);
    return t.leave(m, mobilebert_detail::normed(here, t, h));
}

constexpr value widen(const site& here, trace& t, const value& x) {
    const module_info m{.name = "intermediate", .type = here.type("Intermediate"), .what = role::mlp};
    t.enter(m);
    const value h = t.call("dense", linear{x.dim(-1), here.dims.intermediate_size, true}, x);
    return t.leave(m, t.call("intermediate_act_fn", activation_module{here.dims.hidden_act}, h));
}

/// What attention reads: queries with keys, values, and what goes around.
struct attention_inputs {
    value queries, values, around;
};
constexpr attention_inputs narrowed(const site& here, trace& t, const value& x) {
    if (here.dims.own[has_bottleneck] == 0) return {x, x, x};
    const module_info m{.name = "bottleneck", .type = {"", "Bottleneck"}};
    const module_info input{.name = "input", .type = {"", "BottleneckLayer"}};
    const module_info shared{.name = "attention", .type = {"", "BottleneckLayer"}};
    const std::int64_t width = here.dims.own[narrow_width];
    t.enter(m);
    const value narrow = project(here, t, input, width, x, nullptr);
    value queries = x;
    if (here.dims.own[shares_queries] != 0) {
        const recorder::idle_guard unused{t, here.dims.own[attends_narrow] != 0};
        queries = project(here, t, shared, width, x, nullptr);
    }
    t.leave(m);
    if (here.dims.own[attends_narrow] != 0) return {narrow, narrow, narrow};
    return {queries, x, narrow};
}

constexpr value attend_to(const site& here, trace& t, const attention_inputs& in) {
    const std::int64_t width = inside(here), heads = here.dims.num_attention_heads;
    const bool plain = here.dims.own[has_bottleneck] == 0;
    const module_info attention{.name = "attention", .type = here.type("Attention"), .what = role::attn};
    const module_info self{.name = "self", .type = here.type("SelfAttention")};
    t.enter(attention);
    t.enter(self);
    const auto split = [&](literal name, const value& from) {
        const value all = t.call(name, linear{from.dim(-1), width, true}, from);
        return all.view({from.dim(0), from.dim(1), heads, width / heads}).transpose(1, 2);
    };
    qkv of;
    of.q = split("query", in.queries), of.k = split("key", in.queries), of.v = split("value", in.values);
    const value mixed = t.leave(self, look_around(here, t, of, false));
    const module_info output{.name = "output", .type = here.type("SelfOutput")};
    return t.leave(attention, project(here, t, output, width, mixed, &in.around, plain));
}

constexpr value layer(const site& here, trace& t, const value& x) {
    const std::int64_t width = inside(here);
    value a = attend_to(here, t, narrowed(here, t, x));
    for (repetition each = t.repeat(here.dims.own[feed_forwards] - 1, a); each.next();) {
        const module_info ffn{.name = "ffn", .index = each.index(), .type = {"", "FFNLayer"}, .what = role::mlp};
        t.enter(ffn);
        a = t.leave(ffn, project(here, t, {.name = "output", .type = {"", "FFNOutput"}}, width, widen(here, t, a), &a));
    }
    const value h = widen(here, t, a);
    const module_info output{.name = "output", .type = here.type("Output"), .what = role::mlp};
    if (here.dims.own[has_bottleneck] == 0) return project(here, t, output, width, h, &a, true);
    t.enter(output);
    value out = t.add(t.call("dense", linear{here.dims.intermediate_size, width, true}, h), a);
    out = mobilebert_detail::normed(here, t, out);
    const module_info bottleneck{.name = "bottleneck", .type = {"", "OutputBottleneck"}};
    return t.leave(output, project(here, t, bottleneck, here.dims.hidden_size, out, &x, true));
}

/// The first state, or a dense layer over it.
constexpr value pool(const site& here, trace& t, const value& x) {
    const bool plain = here.dims.own[activates_pooler] == 0;
    const module_info pooler{.name = "pooler", .type = here.type("Pooler"), .leaf = plain};
    const std::int64_t width = here.dims.hidden_size;
    t.enter(pooler);
    const value first = t.select(x, 1);
    if (plain) return t.leave(pooler, first);
    return t.leave(pooler, t.tanh(t.call("dense", linear{width, width, true}, first)));
}

/// A weight of a module that is not called.
constexpr value weight_of(trace& t, literal name, extents of, bool tied) {
    const module_info m{.name = name, .type = {"", "Linear"}, .leaf = true};
    t.enter(m);
    const value weight = tied ? t.tied("weight", of) : t.param("weight", of);
    t.leave(m);
    return weight;
}

/// Scores of words by the word embeddings with more features beside them, joined in every pass.
constexpr value score_words(const site& here, trace& t, const value& x) {
    const sizes& dims = here.dims;
    const std::int64_t width = dims.hidden_size, narrow = dims.embedding_size, words = dims.vocab_size;
    const bool tied = dims.tie_word_embeddings;
    const module_info predictions{.name = "predictions", .type = here.type("LMPredictionHead")};
    const module_info transform{.name = "transform", .type = here.type("PredictionHeadTransform")};
    t.enter(predictions);
    declare_word_bias(dims, t);
    t.enter(transform);
    value h = t.call("dense", linear{width, width, true}, x);
    h = t.call("transform_act_fn", activation_module{dims.hidden_act}, h);
    h = t.leave(transform, t.call("LayerNorm", norm<norm_kind::layer>{width}, h));
    const value more = weight_of(t, "dense", {width - narrow, words}, false);
    const module_info decoder{.name = "decoder", .type = {"", "Linear"}, .leaf = true};
    t.enter(decoder);
    const value weight = tied ? t.tied("weight", {words, narrow}) : t.param("weight", {words, narrow});
    const value bias = tied ? t.tied("bias", {words}) : t.param("bias", {words});
    t.leave(decoder);
    h = t.matmul(h, t.cat({weight.transpose(0, 1), more}, 0));
    t.in_place(op::add, h, bias);
    return t.leave(predictions, h);
}
constexpr value score_in_cls(const site& here, trace& t, const two_values& out) {
    const bool sentences = here.dims.head == head_kind::next_sentence, pretrains = here.dims.head == head_kind::pretraining;
    const literal type = sentences ? "OnlyNSPHead" : pretrains ? "PreTrainingHeads" : "OnlyMLMHead";
    const module_info cls{.name = "cls", .type = here.type(type), .what = role::head};
    const linear is_next{here.dims.hidden_size, 2, true};
    t.enter(cls);
    if (sentences) return t.leave(cls, t.call("seq_relationship", is_next, out.second));
    const value words = score_words(here, t, out.first);
    if (pretrains) {
        const recorder::off_loss_guard unread{t};
        (void)t.call("seq_relationship", is_next, out.second);
    }
    return t.leave(cls, words);
}
constexpr value score(const site& here, trace& t, const two_values& out) { return score_states(here, t, out, score_in_cls); }
constexpr value describe(const site& here, trace& t) {
    return describe_encoder(here, t, {score, bert_detail::heads.pooled, pool});
}

constexpr void read(config_view config, sizes& s) {
    read_encoder_of_heads(config, s);
    if (config.boolean("is_decoder", false))
        fail_unsupported(config, "is_decoder", "no row describes this type as a decoder");
    s.embedding_size = config.positive("embedding_size", s.embedding_size);
    const string_ref kind = config.string("normalization_type", "no_norm");
    s.own[spelled_norms] = kind == "no_norm";
    if (kind != "no_norm" && kind != "layer_norm") fail_value(config, "normalization_type", "\"no_norm\" or \"layer_norm\"");
    const bool narrow = s.own[has_bottleneck] != 0;
    const std::int64_t width = narrow ? s.own[narrow_width] : s.hidden_size;
    if (width % s.num_attention_heads != 0) fail_value(config, "num_attention_heads", "a divisor of the width of layers");
    s.head_dim = width / s.num_attention_heads;
    if (narrow && s.own[attends_narrow] == 0 && s.own[shares_queries] == 0 && width != s.hidden_size)
        fail_value(config, "key_query_shared_bottleneck", "true, where attention does not read the bottleneck");
    if (!narrow && s.own[attends_narrow] == 0 && s.own[narrow_width] == 0) fail_value(config, "use_bottleneck", "true");
    if (s.embedding_size > s.hidden_size) fail_value(config, "embedding_size", "at most hidden_size");
    (void)checked_width(config, "embedding_size", 3, s.embedding_size);
}

inline constexpr dropout_key dropout_rates[]{{dropout_of::hidden, "hidden_dropout_prob"},
                                             {dropout_of::attention, "attention_probs_dropout_prob", 0.1},
                                             {dropout_of::classifier, "classifier_dropout", as_hidden}};

}  // namespace mobilebert_detail

// transformers/models/mobilebert: BERT whose layers are narrow inside, with several feed-forward blocks each
inline constexpr architecture mobilebert = [](architecture a) {
    a.model_type = "mobilebert", a.prefix = "MobileBert", a.describe = mobilebert_detail::describe;
    a.read = mobilebert_detail::read, a.own = mobilebert_detail::keys, a.embed = mobilebert_detail::embed;
    a.layer = mobilebert_detail::layer;
    a.heads = {head_kind::none,
               head_kind::masked_lm,
               head_kind::pretraining,
               head_kind::next_sentence,
               head_kind::sequence_classification,
               head_kind::token_classification,
               head_kind::question_answering,
               head_kind::multiple_choice};
    a.names.base = "mobilebert";
    a.defaults.hidden_size = a.defaults.intermediate_size = 512, a.defaults.num_hidden_layers = 24;
    a.defaults.num_attention_heads = 4, a.defaults.embedding_size = 128, a.defaults.hidden_act = activation::relu;
    a.defaults.head = head_kind::pretraining;
    a.drops = mobilebert_detail::dropout_rates;
    return a;
}(bert);

}  // namespace llmcost::arch
