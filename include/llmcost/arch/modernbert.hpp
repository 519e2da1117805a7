// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/reading/encoder.hpp>
#include <llmcost/reading/reader.hpp>
#include <llmcost/walks/encoder_model.hpp>

namespace llmcost::arch {

namespace modernbert_detail {

enum own : std::uint8_t { norm_bias, classifier_bias, decoder_bias, classifier_act, pools_mean, drops_attention };
inline constexpr own_key keys[]{
    {"norm_bias", 0, own_value::boolean},
    {"classifier_bias", 0, own_value::boolean},
    {"decoder_bias", 1, own_value::boolean},
    {.otherwise = static_cast<std::int64_t>(activation::gelu), .value = own_value::computed},
    {.value = own_value::computed},  // `classifier_pooling`
    {.value = own_value::computed},  // a dropout behind attention, else nothing
};

/// The word of the first layer, whose input is normed already.
inline constexpr std::uint8_t first = 1;

constexpr value call_norm(const site& here, trace& t, literal name, const value& x) {
    return llmcost::call_norm(t, name, norm_kind::layer, here.dims.hidden_size, {}, x, here.dims.own[norm_bias] != 0);
}

constexpr value norm_words(const site& here, trace& t) {
    const value words = look_up_tokens(here, t, "tok_embeddings", here.dims.vocab_size);
    return dropout(t, "drop", call_norm(here, t, "norm", words), dropout_of::embeddings);
}
constexpr value embed(const site& here, trace& t) { return embed_within(here, t, norm_words); }
constexpr decoder_context prepare(const site& here, trace& t) { return all_or_around(here, t, here.dims.sliding_window); }

constexpr value attend(const site& here, trace& t, const value& x) {
    const std::int64_t width = here.dims.hidden_size, heads = here.dims.num_attention_heads, d = here.dims.head_dim;
    const bool bias = here.dims.attention_bias;
    const value all = t.call("Wqkv", linear{width, 3 * heads * d, bias}, x).view({x.dim(0), x.dim(1), 3, heads, d});
    qkv of{all.select(2), all.select(2), all.select(2)};
    heads_first(of);
    turn(here, t, of);
    const value out = t.call("Wo", linear{width, width, bias}, look_around(here, t, of, true));
    if (here.dims.own[drops_attention] == 0) return t.call("out_drop", identity{}, out);
    return dropout(t, "out_drop", out, dropout_of::attention);
}

constexpr value layer(const site& here, trace& t, const value& x) {
    const std::int64_t width = here.dims.hidden_size, inner = here.dims.intermediate_size;
    const bool bias = here.dims.mlp_bias;
    const value normed =
        here.kind.own == first ? t.call("attn_norm", identity{"Identity"}, x) : call_norm(here, t, "attn_norm", x);
    const value middle = t.add(x, mix_by_attention(here, t, normed));
    const value ready = call_norm(here, t, "mlp_norm", middle);
    const module_info mlp{.name = "mlp", .type = here.type("MLP"), .what = role::mlp};
    t.enter(mlp);
    const value half = t.call("Wi", linear{width, 2 * inner, bias}, ready).slice(-1, inner);
    const value h = t.mul(t.call("act", activation_module{here.dims.hidden_act}, half), half);
    const value dropped = dropout(t, "drop", h, dropout_of::inner);
    return t.add(middle, t.leave(mlp, t.call("Wo", linear{inner, width, bias}, dropped)));
}

constexpr value base(const site& here, trace& t) {
    const value x = here.row.embed(here, t);
    const decoder_context shared = here.row.prepare(here, t);
    return call_norm(here, t, "final_norm", describe_layers(here, t, shared, x));
}

/// The first state of a text, or the mean of all by a mask of ones.
constexpr value pool(const site& here, trace& t, const value& x) {
    if (here.dims.own[pools_mean] == 0) return t.select(x, 1);
    return t.div(t.sum(t.mul(x, dense({x.dim(0), x.dim(1), 1}, x.type)), 1), dense({x.dim(0), 1}, x.type));
}

/// A dense layer, an activation and a norm under every head.
constexpr value transform(const site& here, trace& t, const value& x) {
    const module_info head{.name = "head", .type = here.type("PredictionHead"), .what = role::head};
    const std::int64_t width = here.dims.hidden_size;
    t.enter(head);
    value h = t.call("dense", linear{width, width, here.dims.own[classifier_bias] != 0}, x);
    h = t.call("act", activation_module{static_cast<activation>(here.dims.own[classifier_act])}, h);
    return t.leave(head, call_norm(here, t, "norm", h));
}

constexpr value score(const site& here, trace& t, const two_values& out) {
    const sizes& dims = here.dims;
    const auto classify = [&](std::int64_t labels, const value& x) {
        const value h = dropout(t, "drop", transform(here, t, x), dropout_of::classifier);
        return t.call("classifier", head_linear{{dims.hidden_size, labels, true}}, h);
    };
    switch (dims.head) {
        case head_kind::sequence_classification: return classify(dims.num_labels, pool(here, t, out.first));
        case head_kind::token_classification: return classify(dims.num_labels, out.first);
        // the first states are copied, picked by an index
        case head_kind::multiple_choice: return classify(1, t.gather(out.first, {out.first.dim(0), dims.hidden_size}));
        case head_kind::question_answering:
            return answer_scores(t, dropout(t, "drop", transform(here, t, out.first), dropout_of::classifier), "classifier");
        default: break;
    }
    const linear words{dims.hidden_size, dims.vocab_size, dims.own[decoder_bias] != 0, dims.tie_word_embeddings};
    return t.call("decoder", head_linear{words}, transform(here, t, kept_positions(t, out.first)));
}
constexpr value describe(const site& here, trace& t) { return describe_encoder(here, t, {.score = score}); }

/// Every third layer sees all, or every so many, unless the file lists them; windows are given by their whole width.
constexpr void plan(config_view config, sizes& s) {
    s.sliding_window = config.non_negative("sliding_window", config.non_negative("local_attention", 128) / 2);
    const std::int64_t every = config.positive("global_attn_every_n_layers", 3);
    const bool listed = read_layer_types(config, s);
    const layer_plan given = s.layers;
    plan_layers(config, s, [&](std::int64_t i) {
        const bool full = listed ? given[i].mixer == mixer_kind::full_attention : i % every == 0;
        return layer_kind{.mixer = full ? mixer_kind::full_attention : mixer_kind::sliding_attention,
                          .own = i == 0 ? first : std::uint8_t{0}};
    });
}

constexpr void read(config_view config, sizes& s) {
    read_encoder(config, s);
    plan(config, s);
    s.rotary_dim = s.head_dim;
    if (const auto name = config.optional_string("classifier_activation"))
        s.own[classifier_act] = static_cast<std::int64_t>(activation_named(config, "classifier_activation", *name));
    const string_ref pooling = config.string("classifier_pooling", "cls");
    s.own[pools_mean] = pooling == "mean";
    if (pooling != "mean" && pooling != "cls") fail_value(config, "classifier_pooling", "\"cls\" or \"mean\"");
    if (s.head == head_kind::multiple_choice && pooling == "mean")
        fail_unsupported(config, "classifier_pooling", "the reference makes no choices by a mean without a mask");
    s.own[drops_attention] = config.real("attention_dropout", 0) > 0;
}

inline constexpr dropout_key dropout_rates[]{{dropout_of::embeddings, "embedding_dropout"},
                                             {dropout_of::inner, "mlp_dropout"},
                                             {dropout_of::attention, "attention_dropout"},
                                             {dropout_of::classifier, "classifier_dropout"}};

}  // namespace modernbert_detail

// transformers/models/modernbert: configuration_modernbert.py, modeling_modernbert.py
inline constexpr architecture modernbert = [](architecture a) {
    a.model_type = "modernbert", a.prefix = "ModernBert", a.describe = modernbert_detail::describe;
    a.read = modernbert_detail::read, a.own = modernbert_detail::keys, a.base = modernbert_detail::base;
    a.embed = modernbert_detail::embed, a.prepare = modernbert_detail::prepare, a.layer = modernbert_detail::layer;
    a.attend = modernbert_detail::attend, a.mix = mix_by_attention, a.rotated = rotation::half;
    a.rotary_per_mixer = true;
    a.kinds = attention_kinds, a.kinds.own = modernbert_detail::first;
    a.heads = {head_kind::none,
               head_kind::masked_lm,
               head_kind::sequence_classification,
               head_kind::token_classification,
               head_kind::question_answering,
               head_kind::multiple_choice};
    a.names.layers = "layers", a.names.layer_type = "EncoderLayer", a.names.attention = "attn";
    a.keys[0] = {"hidden_act", "hidden_activation", key_rule::written_only};
    a.defaults.vocab_size = 50368, a.defaults.hidden_size = 768, a.defaults.intermediate_size = 1152;
    a.defaults.num_hidden_layers = 22, a.defaults.num_attention_heads = 12, a.defaults.max_position_embeddings = 8192;
    a.defaults.hidden_act = activation::gelu, a.defaults.head = head_kind::masked_lm;
    a.defaults.tie_word_embeddings = true;
    a.keys[1] = no_key_value_heads;
    a.drops = modernbert_detail::dropout_rates;
    return a;
}(shared_encoder);

}  // namespace llmcost::arch
