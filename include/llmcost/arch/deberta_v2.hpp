// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bert.hpp>

namespace llmcost::arch {

namespace deberta_v2_detail {

enum own : std::uint8_t {
    relative,
    furthest,
    buckets,
    content_to_place,
    place_to_content,
    shares_projections,
    norms_places,
    adds_places,
    kernel,
    conv_groups,
    conv_act,
    pooler_act,
    written_anew
};
inline constexpr own_key keys[]{
    {"relative_attention", 0, own_value::boolean},
    {.value = own_value::computed},  // `max_relative_positions`
    {.value = own_value::computed},  // `position_buckets`, 0: none
    {.value = own_value::computed},  // `pos_att_type`
    {.value = own_value::computed},
    {"share_att_key", 0, own_value::boolean},
    {.value = own_value::computed},  // `norm_rel_ebd`
    {"position_biased_input", 1, own_value::boolean},
    {"conv_kernel_size", 0, own_value::non_negative},
    {"conv_groups", 1},
    {.otherwise = static_cast<std::int64_t>(activation::tanh), .value = own_value::computed},
    {.otherwise = static_cast<std::int64_t>(activation::gelu), .value = own_value::computed},
    {.value = own_value::computed},  // not `legacy`
};

/// The word of a first layer that a convolution follows.
inline constexpr std::uint8_t convolved = 1;

/// Distances that have an embedding, to one side.
[[nodiscard]] constexpr std::int64_t span(const sizes& dims) {
    return dims.own[buckets] > 0 ? dims.own[buckets] : dims.own[furthest];
}

/// Whether no kind of score reads the embeddings of distances.
[[nodiscard]] constexpr bool scores_contents_alone(const sizes& dims) {
    return dims.own[content_to_place] == 0 && dims.own[place_to_content] == 0;
}

/// Words, positions, segments, a norm, and a mask of ones.
constexpr value sum_embeddings(const site& here, trace& t, const value& ones) {
    const std::int64_t width = here.dims.hidden_size;
    value x = word_embeddings(here, t);
    if (here.dims.own[adds_places] != 0)
        x = t.add(x, position_embeddings(here, t));
    else
        (void)t.zeros_like(x);
    if (here.dims.type_vocab_size > 0) x = t.add(x, segment_embeddings(here, t));
    if (x.dim(-1) != width) x = t.call("embed_proj", linear{x.dim(-1), width}, x);
    x = t.call("LayerNorm", norm<norm_kind::layer>{width}, x);
    return dropout(t, "dropout", t.mul(x, t.to(ones.unsqueeze(2), x.type)));
}

/// Distances of queries and keys in buckets, logarithmic ones beyond the middle (`make_log_bucket_position`).
constexpr void make_buckets(trace& t, std::int64_t sequence) {
    const value distance = t.constant({sequence, sequence});  // as floats
    value far = t.unary(op::log, t.div(trace::buffer({sequence, sequence})));
    far = t.mul(t.div(far, t.unary(op::log, trace::buffer({}))));
    far = t.add(t.unary(op::compare, far));  // rounded up
    (void)t.where(t.mul(far, distance));
}

/// (B, S, heads · d) -> (B · heads, S, d).
constexpr value in_heads(const site& here, trace& t, const value& x) {
    const std::int64_t heads = here.dims.num_attention_heads, d = here.dims.head_dim;
    const value split = x.view({x.dim(0), x.dim(1), heads, d}).permute({0, 2, 1, 3});
    return t.contiguous(split).view({x.dim(0) * heads, x.dim(1), d});
}
/// The root of a width times how many kinds of scores there are: a number in a tensor.
constexpr value root(trace& t, const value& of) { return t.to(t.unary(op::sqrt, t.mul(trace::buffer({}))), of.type); }

/// Embeddings of distances through a projection, one copy for each sequence.
constexpr value project_places(const site& here, trace& t, literal name, const value& places) {
    const std::int64_t width = here.dims.num_attention_heads * here.dims.head_dim, batch = t.load().batch;
    value x = in_heads(here, t, t.call(name, linear{here.dims.hidden_size, width, true}, places)).unsqueeze(0);
    const value spread = t.copy(x.expand({batch, x.dim(1), x.dim(2), x.dim(3)}));
    return spread.view({batch * x.dim(1), x.dim(2), x.dim(3)});
}
constexpr value project_places_again(const site& here, trace& t, literal name, const value& places) {
    const recorder::called_again_guard known{t};
    return project_places(here, t, name, places);
}

/// Scores of the distances that pairs have; backward reads what they were picked from.
constexpr value pick(trace& t, const value& from) {
    t.save_for_backward(from);
    return t.gather(from, {from.dim(0), from.dim(1), from.dim(1)});
}

/// Scores, of which some are hidden, as probabilities.
constexpr value hide_and_soften(trace& t, const value& scores) { return t.softmax(t.where(scores)); }

/// What differs between families whose attention this is.
struct apart_style {
    value (*soften)(trace& t, const value& scores) = hide_and_soften;
    literal dropout = "Dropout";
};

/// Scores of contents to places, and of places to contents.
constexpr value score_places(const site& here, trace& t, const value& q, const value& k, const value& distances) {
    const own_sizes& o = here.dims.own;
    const std::int64_t far = 2 * span(here.dims);
    const value kept = t.slice(distances, 0, far).unsqueeze(0);
    value place_k, place_q;
    if (o[shares_projections] != 0) {
        place_q = project_places_again(here, t, "query_proj", kept);
        place_k = project_places_again(here, t, "key_proj", kept);
    } else {
        if (o[content_to_place] != 0) place_k = project_places(here, t, "pos_key_proj", kept);
        if (o[place_to_content] != 0) place_q = project_places(here, t, "pos_query_proj", kept);
    }
    value sum;
    if (o[content_to_place] != 0) {
        const value scale = root(t, q);
        const value found = pick(t, t.bmm(q, place_k.transpose(-1, -2)));
        sum = t.add(t.div(found, scale));  // to a zero
    }
    if (o[place_to_content] != 0) {
        const value scale = root(t, k);
        const value found = pick(t, t.bmm(k, place_q.transpose(-1, -2)));
        const value scaled = t.div(found.transpose(-1, -2), scale);
        if (o[content_to_place] != 0)
            t.in_place(op::add, sum, scaled);
        else
            sum = t.add(scaled);
    }
    return sum;
}

/// Attention in which contents and places meet apart (`DisentangledSelfAttention`).
constexpr value attend_apart(const site& here, trace& t, const value& x, const apart_style& style) {
    const own_sizes& o = here.dims.own;
    const std::int64_t batch = x.dim(0), sequence = x.dim(1), heads = here.dims.num_attention_heads, d = here.dims.head_dim;
    const linear projection{here.dims.hidden_size, heads * d, true};
    const value q = in_heads(here, t, t.call("query_proj", projection, x));
    const value k = in_heads(here, t, t.call("key_proj", projection, x));
    const value v = in_heads(here, t, t.call("value_proj", projection, x));
    const recorder::fused_guard fused{
        t, fused_attention(q.view({batch, heads, sequence, d}), heads, here.shared->where, sequence)};
    value scores = t.bmm(q, t.div(k.transpose(-1, -2), root(t, q)));
    if (o[relative] != 0) {
        const bool none = scores_contents_alone(here.dims);
        const recorder::off_loss_guard unread{t, none};
        const dropout_module drops{.named = style.dropout};
        const value distances = t.call("pos_dropout", drops, here.shared->own[0]);
        value places;
        if (!none || o[shares_projections] != 0) places = score_places(here, t, q, k, distances);
        if (!none) scores = t.add(scores, places);
    }
    if (o[relative] != 0 && scores_contents_alone(here.dims)) scores = t.add(scores);  // a zero
    const value soft = style.soften(t, scores.view({batch, heads, sequence, sequence}));
    const dropout_module drops{dropout_of::attention, style.dropout};
    const value seen = t.call("dropout", drops, soft).view({batch * heads, sequence, sequence});
    const value mixed = t.bmm(seen, v).view({batch, heads, sequence, d}).permute({0, 2, 1, 3});
    return t.contiguous(mixed).view({batch, sequence, heads * d});
}

constexpr value attend(const site& here, trace& t, const value& x) { return attend_apart(here, t, x, {}); }

/// A convolution over what goes into the first layer, added to what comes out of it (`ConvLayer`).
constexpr value convolve(const site& here, trace& t, const value& in, const value& out, const value& ones) {
    const std::int64_t width = here.dims.hidden_size, k = here.dims.own[kernel], groups = here.dims.own[conv_groups];
    const module_info conv{.name = "conv", .type = {"", "ConvLayer"}};
    const module_info convolution{.name = "conv", .type = {"", "Conv1d"}, .leaf = true};
    t.enter(conv);
    value h = t.contiguous(in.permute({0, 2, 1}));
    t.enter(convolution);
    const value weight = t.param("weight", {width, width / groups, k});
    t.beside(t.param("bias", {width}));
    h = t.leave(convolution, t.convolution(h, weight, true, groups, 1, (k - 1) / 2));
    h = t.contiguous(h.permute({0, 2, 1}));
    (void)t.add(ones);  // one less the mask
    t.in_place(op::where, h);
    h = activate(t, static_cast<activation>(here.dims.own[conv_act]), dropout(t, "dropout", h));
    h = t.call("LayerNorm", norm<norm_kind::layer>{width}, t.add(out, h));
    return t.leave(conv, t.mul(h, t.to(ones.unsqueeze(2), h.type)));
}

constexpr value layer(const site& here, trace& t, const value& x) {
    const module_info attention{.name = "attention", .type = here.type("Attention"), .what = role::attn};
    const module_info self{.name = "self", .type = {"", "DisentangledSelfAttention"}};
    const std::int64_t width = here.dims.hidden_size;
    t.enter(attention);
    t.enter(self);
    const value mixed = t.leave(self, here.row.attend(here, t, x));
    const bert_layers::output_block joins{mixed.dim(-1), width, here.type("SelfOutput")};
    return feed_as_bert(here, t, t.leave(attention, t.call("output", joins, mixed, x)));
}

/// The embeddings of distances, which the encoder hands to all layers.
constexpr value embed_distances(const site& here, trace& t) {
    const std::int64_t rows = 2 * span(here.dims), width = here.dims.hidden_size;
    const recorder::off_loss_guard unread{t, scores_contents_alone(here.dims)};
    const module_info table{.name = "rel_embeddings", .type = {"", "Embedding"}, .leaf = true};
    t.enter(table);
    const value weight = t.param("weight", {rows, width});
    t.leave(table);
    return here.dims.own[norms_places] != 0 ? t.call("LayerNorm", norm<norm_kind::layer>{width}, weight) : weight;
}

constexpr value encode(const site& here, trace& t) {
    const std::int64_t batch = t.load().batch, sequence = t.load().sequence;
    const own_sizes& o = here.dims.own;
    const value ones = t.constant({batch, sequence});
    const module_info embeddings{.name = "embeddings", .type = here.type("Embeddings"), .what = role::embedding};
    t.enter(embeddings);
    const value embedded = t.leave(embeddings, sum_embeddings(here, t, ones));
    decoder_context shared = here.row.prepare(here, t);
    const module_info encoder{.name = "encoder", .type = here.type("Encoder")};
    t.enter(encoder);
    (void)t.mul(trace::buffer({batch, 1, 1, sequence}), trace::buffer({batch, 1, sequence, 1}));  // who sees whom
    if (o[relative] != 0 && o[buckets] > 0) make_buckets(t, sequence);
    if (o[relative] != 0) {
        shared.full.own[0] = embed_distances(here, t);
    } else if (o[norms_places] != 0) {
        const recorder::idle_guard no_distances{t};
        (void)t.call("LayerNorm", norm<norm_kind::layer>{here.dims.hidden_size}, embedded);
    }
    value x = embedded;
    for (repetition each = t.repeat(here.dims.num_hidden_layers, here.dims.layers, x); each.next();) {
        const value out = t.call({"layer", each.index()}, decoder_layer{here.at(each, shared.full)}, x);
        x = each.kind().own == convolved ? convolve(here, t, x, out, ones) : out;
    }
    return t.leave(encoder, x);
}

/// A dense layer and an activation over each sequence's first state, a child of the whole model.
constexpr value pool(const site& here, trace& t, const value& x) {
    const module_info pooler{.name = "pooler", .type = {"", "ContextPooler"}};
    const linear dense{here.dims.hidden_size, here.dims.hidden_size, true};
    t.enter(pooler);
    const value h = t.call("dense", dense, dropout(t, "dropout", t.select(x, 1), dropout_of::pooler));
    return t.leave(pooler, activate(t, static_cast<activation>(here.dims.own[pooler_act]), h));
}

/// The older language head.
constexpr value score_in_cls(const site& here, trace& t, const value& x) {
    const literal prefix = "LegacyDebertaV2";
    const module_info cls{.name = "cls", .type = {prefix, "OnlyMLMHead"}, .what = role::head};
    const module_info predictions{.name = "predictions", .type = {prefix, "LMPredictionHead"}};
    const module_info transform{.name = "transform", .type = {prefix, "PredictionHeadTransform"}};
    const std::int64_t width = embedding_width(here.dims);
    t.enter(cls);
    t.enter(predictions);
    declare_word_bias(here.dims, t);
    t.enter(transform);
    value h = t.call("dense", linear{here.dims.hidden_size, width, true}, x);
    h = t.call("transform_act_fn", activation_module{here.dims.hidden_act}, h);
    h = t.leave(transform, t.call("LayerNorm", norm<norm_kind::layer>{width}, h));
    return t.leave(cls, t.leave(predictions, scores_of_words(here.dims, t, h)));
}
/// The newer one multiplies by the word embeddings themselves.
constexpr value score_by_words(const site& here, trace& t, const value& x) {
    const module_info predictions{.name = "lm_predictions", .type = here.type("OnlyMLMHead"), .what = role::head};
    const module_info lm_head{.name = "lm_head", .type = here.type("LMPredictionHead")};
    const std::int64_t width = here.dims.hidden_size;
    t.enter(predictions);
    t.enter(lm_head);
    const value bias = t.param("bias", {here.dims.vocab_size});
    value h = t.call("dense", linear{width, width, true}, x);
    h = t.call("transform_act_fn", activation_module{here.dims.hidden_act}, h);
    h = t.call("LayerNorm", norm<norm_kind::layer>{width}, h);
    value words = trace::buffer({here.dims.vocab_size, width});
    words.requires_grad = true;
    return t.leave(predictions, t.leave(lm_head, t.add(t.matmul(h, words.transpose(0, 1)), bias)));
}
constexpr value score_words(const site& here, trace& t, const two_values& out) {
    return here.dims.own[written_anew] != 0 ? score_by_words(here, t, out.first) : score_in_cls(here, t, out.first);
}

constexpr value score(const site& here, trace& t, const two_values& out) {
    const bool pools = here.dims.head == head_kind::sequence_classification || here.dims.head == head_kind::multiple_choice;
    return score_states(here, t, {out.first, pools ? pool(here, t, out.first) : value{}}, score_words);
}
constexpr value describe(const site& here, trace& t) { return describe_encoder(here, t, {.score = score}); }

/// `pos_att_type`: a list of kinds, or their names in one text.
constexpr bool has_word(string_ref text, string_ref word) noexcept {
    for (std::size_t i = 0; i + word.size() <= text.size(); ++i)
        if (text.substr(i, word.size()) == word) return true;
    return false;
}
constexpr bool has_kind(config_view config, literal kind) {
    const auto found = config.find("pos_att_type");
    if (!found || found->is_null()) return false;
    if (found->is_string()) return has_word(found->as_string(), kind);
    for (const config_view entry : found->as_array())
        if (entry.as_string() == kind) return true;
    return false;
}

constexpr void read_convolution(config_view config, sizes& s) {
    own_sizes& o = s.own;
    if (o[kernel] == 0) return;
    if (o[kernel] % 2 == 0) fail_value(config, "conv_kernel_size", "an odd number");
    if (s.hidden_size % o[conv_groups] != 0) fail_value(config, "conv_groups", "a divisor of hidden_size");
    if (const auto act = config.optional_string("conv_act"))
        o[conv_act] = static_cast<std::int64_t>(activation_named(config, "conv_act", *act));
    plan_layers(config, s, [](std::int64_t i) { return layer_kind{.own = i == 0 ? convolved : std::uint8_t{0}}; });
}

constexpr void read(config_view config, sizes& s) {
    own_sizes& o = s.own;
    read_encoder_alone(config, s);
    s.type_vocab_size = config.non_negative("type_vocab_size", 0);
    s.embedding_size = config.positive("embedding_size", s.hidden_size);
    if (config.positive("attention_head_size", s.head_dim) != s.head_dim)
        fail_value(config, "attention_head_size", "hidden_size / num_attention_heads");
    const bool pools = s.head == head_kind::sequence_classification || s.head == head_kind::multiple_choice;
    if (pools && config.positive("pooler_hidden_size", s.hidden_size) != s.hidden_size)
        fail_value(config, "pooler_hidden_size", "hidden_size");
    const std::int64_t most = config.signed_size("max_relative_positions", -1);
    const std::int64_t n = config.signed_size("position_buckets", -1);
    o[furthest] = most < 1 ? s.max_position_embeddings : most;
    o[buckets] = n > 0 ? n : 0;
    (void)checked_width(config, "max_relative_positions", 2, o[furthest]);
    (void)checked_width(config, "position_buckets", 2, o[buckets]);
    o[content_to_place] = has_kind(config, "c2p"), o[place_to_content] = has_kind(config, "p2c");
    o[norms_places] = has_word(config.string("norm_rel_ebd", "none"), "layer_norm");
    if (const auto act = config.optional_string("pooler_hidden_act"))
        o[pooler_act] = static_cast<std::int64_t>(activation_named(config, "pooler_hidden_act", *act));
    o[written_anew] = !config.boolean("legacy", true);
    if (o[written_anew] != 0 && s.head == head_kind::masked_lm && s.embedding_size != s.hidden_size)
        fail_value(config, "embedding_size", "hidden_size under this head");
    read_convolution(config, s);
}

inline constexpr dropout_key dropout_rates[]{{dropout_of::hidden, "hidden_dropout_prob", 0.1},
                                             {dropout_of::attention, "attention_probs_dropout_prob", 0.1},
                                             {dropout_of::pooler, "pooler_dropout"},
                                             {dropout_of::classifier, "hidden_dropout_prob", 0.1},
                                             {dropout_of::classifier, "cls_dropout", as_before}};

}  // namespace deberta_v2_detail

// transformers/models/deberta_v2: BERT whose contents and places meet apart, no pooler below heads
inline constexpr architecture deberta_v2 = [](architecture a) {
    a.model_type = "deberta-v2", a.prefix = "DebertaV2", a.describe = deberta_v2_detail::describe;
    a.read = deberta_v2_detail::read, a.own = deberta_v2_detail::keys, a.base = deberta_v2_detail::encode;
    a.layer = deberta_v2_detail::layer, a.attend = deberta_v2_detail::attend;
    a.kinds.own = deberta_v2_detail::convolved;
    a.heads = {head_kind::none,
               head_kind::masked_lm,
               head_kind::sequence_classification,
               head_kind::token_classification,
               head_kind::question_answering,
               head_kind::multiple_choice};
    a.names.base = "deberta";
    a.defaults.vocab_size = 128100, a.defaults.hidden_size = 1536, a.defaults.intermediate_size = 6144;
    a.defaults.num_hidden_layers = a.defaults.num_attention_heads = 24, a.defaults.type_vocab_size = 0;
    a.defaults.head = head_kind::masked_lm;
    a.drops = deberta_v2_detail::dropout_rates;
    return a;
}(bert);

}  // namespace llmcost::arch
