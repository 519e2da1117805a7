// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/modernbert.hpp>
#include <llmcost/arch/siglip.hpp>
#include <llmcost/arch/ultrabert.hpp>
#include <llmcost/walks/composite.hpp>

namespace llmcost::arch {

namespace modernvbert_detail {

enum own : std::uint8_t { shuffle_factor, pools_mean, norms_images };
inline constexpr own_key keys[]{
    {"pixel_shuffle_factor", 4},
    {.value = own_value::computed},  // `classifier_pooling`
    {.value = own_value::computed},  // a norm behind the connector's projection
};

/// Squares of patches side by side, projected to the width of the text; UltraVBERT norms them.
struct connector {
    site here;

    static constexpr role what = role::projector;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Connector"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t square = here.whole.own[shuffle_factor] * here.whole.own[shuffle_factor];
        const value squares = t.constant({x.dim(0), x.dim(1) / square, x.dim(2) * square}, x.type);
        const value h = t.call("modality_projection", linear{x.dim(2) * square, here.dims.hidden_size}, squares);
        if (here.whole.own[norms_images] == 0) return h;
        return call_norm(t, "norm", norm_kind::rms, here.dims.hidden_size, here.type("RMSNorm"), h);
    }
};

constexpr value base(const site& here, trace& t) {
    {
        const recorder::idle_guard no_pixels{t};
        (void)t.call("connector", connector{here}, describe_tower(here, t, 0, "vision_model", role::vision));
    }
    return describe_text(here, t, "text_model");
}

/// A dense layer, an activation and a norm, as the text model says (`ModernVBertPredictionHead`).
constexpr value transform(const site& here, trace& t, literal name, const value& x) {
    const module_info head{.name = name, .type = here.type("PredictionHead"), .what = role::head};
    const std::int64_t width = here.dims.hidden_size;
    const own_sizes& of = here.dims.own;
    t.enter(head);
    value h = t.call("dense", linear{width, width, of[modernbert_detail::classifier_bias] != 0}, x);
    h = t.call("act", activation_module{static_cast<activation>(of[modernbert_detail::classifier_act])}, h);
    const bool bias = of[modernbert_detail::norm_bias] != 0;
    return t.leave(head, call_norm(t, "norm", norm_kind::layer, width, {}, h, bias));
}

/// Two projections through a width of their own (`UltraVBertPredictionHead`).
constexpr value narrow(const site& here, trace& t, literal name, const value& x) {
    const module_info head{.name = name, .type = here.type("PredictionHead"), .what = role::head};
    const std::int64_t width = here.dims.hidden_size, inner = here.dims.own[ultrabert_detail::head_width];
    const activation_module act{activation::gelu_pytorch_tanh};
    t.enter(head);
    const value h = t.call("act_fn", act, t.call("linear1", linear{width, inner}, x));
    return t.leave(head, t.call("act_fn", act, t.call("linear2", linear{inner, width}, h)));
}
constexpr value hand_on(const site&, trace& t, literal name, const value& x) {
    return t.call(name, identity{"Identity"}, x);
}

/// The first state of a text, or the mean of all by a mask of ones.
constexpr value pool(const site& here, trace& t, const value& x) {
    if (here.whole.own[pools_mean] == 0) return t.select(x, 1);
    return t.div(t.sum(t.mul(x, dense({x.dim(0), x.dim(1), 1}, x.type)), 1), dense({x.dim(0), 1}, x.type));
}

using head_part = value (*)(const site&, trace&, literal, const value&);

/// Bare, or under a head of words or labels, each behind a part of its own.
constexpr value describe_with(const site& here, trace& t, head_part before_words, head_part before_labels, bool word_bias) {
    const class_name type = here.type(here.row.names.model_type);
    if (here.dims.head == head_kind::none) return describe_within({.type = type}, here.row.base, here, t);
    const module_info whole{.type = here.type(name_of(here.dims.head))};
    const sizes& dims = here.dims;
    t.enter(whole);
    const value x = describe_within({.name = here.row.names.base, .type = type}, here.row.base, here, t);
    const recorder::idle_guard unused{t, t.load().head == logits::none};
    if (dims.head == head_kind::masked_lm) {
        const value h = before_words(here, t, "projection_head", kept_positions(t, x));
        const linear words{dims.hidden_size, dims.vocab_size, word_bias, dims.tie_word_embeddings};
        return t.leave(whole, t.returns(x, t.call("lm_head", head_linear{words}, h)));
    }
    const value states = dims.head == head_kind::sequence_classification ? pool(here, t, x) : x;
    const value h = dropout(t, "drop", before_labels(here, t, "head", states));
    return t.leave(whole, t.returns(x, t.call("classifier", head_linear{{dims.hidden_size, dims.num_labels, true}}, h)));
}
constexpr value describe(const site& here, trace& t) {
    return describe_with(here, t, transform, transform, here.dims.own[modernbert_detail::decoder_bias] != 0);
}
constexpr value describe_normed(const site& here, trace& t) { return describe_with(here, t, narrow, hand_on, false); }

/// Heads read keys that one text model has.
constexpr void read_over(config_view config, model& m, const architecture& text) {
    if (m.text != &text) fail_unsupported(config, "text_config", "no row describes a head over another text model");
    const string_ref pooling = config.string("classifier_pooling", "cls");
    m.own[pools_mean] = pooling == "mean";
    if (pooling != "mean" && pooling != "cls") fail_value(config, "classifier_pooling", "\"cls\" or \"mean\"");
    const std::int64_t square = m.own[shuffle_factor] * m.own[shuffle_factor];
    (void)checked_width(config, "pixel_shuffle_factor", square, m.beside[0].dims.hidden_size);
}
constexpr void read(config_view config, model& m) { read_over(config, m, modernbert); }
constexpr void read_normed(config_view config, model& m) {
    read_over(config, m, ultrabert);
    m.own[norms_images] = 1;
}

/// SigLIP without its pool, where UltraVBERT names no tower.
inline constexpr architecture siglip_without_pool = [](architecture a) {
    a.read = [](config_view config, sizes& s) {
        siglip_detail::read(config, s);
        s.own[siglip_detail::uses_head] = 0;
    };
    return a;
}(siglip_vision_model);

}  // namespace modernvbert_detail

// transformers/models/modernvbert: SigLIP in front of ModernBERT, squares of patches
inline constexpr architecture modernvbert = [](architecture a) {
    a.model_type = "modernvbert", a.prefix = "ModernVBert", a.describe = modernvbert_detail::describe;
    a.base = modernvbert_detail::base, a.read_whole = modernvbert_detail::read, a.own = modernvbert_detail::keys;
    a.heads = {head_kind::none, head_kind::masked_lm, head_kind::sequence_classification, head_kind::token_classification};
    a.defaults.head = head_kind::masked_lm;
    a.text = {.key = "text_config", .otherwise = &modernbert};
    a.beside[0] = {.key = "vision_config", .otherwise = &siglip_vision_model};
    return a;
}(shared_composite);

// transformers/models/ultravbert: the same over UltraBERT, with a norm of what the connector gives
inline constexpr architecture ultravbert = [](architecture a) {
    a.model_type = "ultravbert", a.prefix = "UltraVBert", a.describe = modernvbert_detail::describe_normed;
    a.read_whole = modernvbert_detail::read_normed, a.text.otherwise = &ultrabert;
    a.beside[0].missing = &modernvbert_detail::siglip_without_pool;
    return a;
}(modernvbert);

}  // namespace llmcost::arch
