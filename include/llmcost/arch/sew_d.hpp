// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/deberta_v2.hpp>
#include <llmcost/arch/sew.hpp>

// SEW whose layers are DeBERTa's.
namespace llmcost::arch {

namespace sew_d_detail {

using apart = deberta_v2_detail::own;

/// In the places of adapters, which these have not.
enum own : std::uint8_t {
    buckets = wav2vec2_detail::adapter_layers,
    furthest = wav2vec2_detail::adapter_kernel,
    kinds = wav2vec2_detail::adapter_stride
};
enum : std::int64_t { content_to_place = 1, place_to_content = 2, shares_projections = 4, norms_places = 8 };

struct own_table {
    own_key keys[wav2vec2_detail::adapter_width + 1];

    constexpr own_table() {
        for (std::size_t i = 0; i <= wav2vec2_detail::adapter_width; ++i) keys[i] = sew_detail::table.keys[i];
        keys[buckets] = keys[furthest] = keys[kinds] = {.value = own_value::computed};
    }
};
inline constexpr own_table table{};

/// The sizes as DeBERTa's layers read them.
constexpr sizes inner_of(const sizes& dims) {
    sizes inner = dims;
    const auto has = [&](std::int64_t kind) { return (dims.own[kinds] & kind) != 0 ? 1 : 0; };
    inner.own = {};
    inner.own[apart::relative] = 1;
    inner.own[apart::buckets] = dims.own[buckets], inner.own[apart::furthest] = dims.own[furthest];
    inner.own[apart::content_to_place] = has(content_to_place), inner.own[apart::place_to_content] = has(place_to_content);
    inner.own[apart::shares_projections] = has(shares_projections), inner.own[apart::norms_places] = has(norms_places);
    return inner;
}

/// `XSoftmax`, with a backward of its own: hidden scores are the least there is, their probabilities zeros.
constexpr value soften(trace& t, const value& scores) {
    value out;
    {
        const recorder::no_grad_guard own_backward{t};
        out = t.softmax(t.where(scores));
        t.in_place(op::where, out);
    }
    if (!scores.requires_grad) return out;
    const value* const read[]{&scores};
    t.goes_through(out, read, 1);
    t.save_for_backward(out);
    // output * (grad - sum(output * grad)), a sum for each row
    const count all(out.elements);
    t.backward({.add = all * count(2) - all / count(out.dim(-1)), .mult = all * count(2)});
    return out;
}
constexpr value attend(const site& here, trace& t, const value& x) {
    return deberta_v2_detail::attend_apart(here, t, x, {soften, "StableDropout"});
}

struct layer {
    site here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Layer"); }
    constexpr value describe(trace& t, const value& x) const { return deberta_v2_detail::layer(here, t, x); }
};

constexpr value encode(const site& here, trace& t, const value& features) {
    const module_info encoder{.name = "encoder", .type = here.type("Encoder"), .what = role::encoder};
    const module_info inner{.name = "encoder", .type = here.type("TransformerEncoder")};
    const sizes dims = inner_of(here.dims);
    const site within{here.whole, here.row, dims};
    t.enter(encoder);
    value x = sew_detail::fewer_places(here, t, features);
    t.enter(inner);
    if (here.dims.own[buckets] > 0) deberta_v2_detail::make_buckets(t, x.dim(1));
    shared_values made;
    made.where = {.sequence = x.dim(1), .causal = false};
    made.own[0] = deberta_v2_detail::embed_distances(within, t);
    for (repetition each = t.repeat(here.dims.num_hidden_layers, x); each.next();)
        x = t.call({"layer", each.index()}, layer{within.at(each, made)}, x);
    x = t.leave(inner, x);
    return t.leave(encoder, sew_detail::more_places(here, t, x, features.dim(1)));
}

constexpr void read(config_view config, sizes& s) {
    sew_detail::read(config, s);
    if (!config.boolean("relative_attention", true))
        fail_unsupported(config, "relative_attention", "no row describes these layers without distances");
    if (config.non_negative("conv_kernel_size", 0) != 0)
        fail_unsupported(config, "conv_kernel_size", "no row describes a convolution behind the first layer here");
    if (config.positive("attention_head_size", s.head_dim) != s.head_dim)
        fail_value(config, "attention_head_size", "hidden_size / num_attention_heads");
    const std::int64_t most = config.signed_size("max_relative_positions", -1);
    const std::int64_t n = config.signed_size("position_buckets", 256);
    s.own[furthest] = most < 1 ? s.max_position_embeddings : most;
    s.own[buckets] = n > 0 ? n : 0;
    (void)checked_width(config, "max_relative_positions", 2, s.own[furthest]);
    (void)checked_width(config, "position_buckets", 2, s.own[buckets]);
    const bool told = config.contains("pos_att_type");
    const bool from_contents = !told || deberta_v2_detail::has_kind(config, "c2p");
    const bool from_places = !told || deberta_v2_detail::has_kind(config, "p2c");
    if (!from_contents && !from_places)
        fail_unsupported(config, "pos_att_type", "no row describes these layers without scores of distances");
    s.own[kinds] = 0;
    if (from_contents) s.own[kinds] |= content_to_place;
    if (from_places) s.own[kinds] |= place_to_content;
    if (config.boolean("share_att_key", true)) s.own[kinds] |= shares_projections;
    if (deberta_v2_detail::has_word(config.string("norm_rel_ebd", "layer_norm"), "layer_norm")) s.own[kinds] |= norms_places;
}

}  // namespace sew_d_detail

// transformers/models/sew_d
inline constexpr architecture sew_d = [](architecture a) {
    a.model_type = "sew-d", a.prefix = "SEWD", a.names.base = "sew_d", a.read = sew_d_detail::read;
    a.layer = sew_d_detail::encode, a.attend = sew_d_detail::attend, a.own = sew_d_detail::table.keys, a.drops = {};
    a.defaults.max_position_embeddings = 512, a.defaults.hidden_act = activation::gelu_python;
    return a;
}(sew);

}  // namespace llmcost::arch
