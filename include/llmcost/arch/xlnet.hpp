// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/layers/einsum.hpp>
#include <llmcost/reading/encoder.hpp>
#include <llmcost/reading/reader.hpp>
#include <llmcost/walks/encoder_model.hpp>

namespace llmcost::arch {

namespace xlnet_detail {

enum own : std::uint8_t { summary, looks_back, same_length, clamps };
inline constexpr own_key keys[]{
    {.value = own_value::computed},  // `summary_form`
    {.value = own_value::computed},  // `attn_type`
    {"same_length", 0, own_value::boolean},
    {.value = own_value::computed},  // `clamp_len`
};

/// Sines and cosines of all distances, (distances, batch, width), one for all sequences.
constexpr value make_distances(const site& here, trace& t) {
    const std::int64_t sequence = t.load().sequence, batch = t.load().batch, half = (here.dims.hidden_size + 1) / 2;
    const std::int64_t distances = here.dims.own[looks_back] != 0 ? sequence + 1 : 2 * sequence;
    const value exponents = t.div(t.constant({half}));
    const value frequencies = t.mul(t.unary(op::reciprocal, t.binary(op::power, trace::buffer({}), exponents)));
    value places = t.constant({distances});
    if (here.dims.own[clamps] != 0) places = t.unary(op::clamp, places);
    const value angles = t.mul(places.unsqueeze(1), frequencies);
    const value both = t.cat({t.unary(op::sin, angles), t.unary(op::cos, angles)}, -1).unsqueeze(1);
    return dropout(t, "dropout", both.expand({distances, batch, 2 * half}));
}

/// What hides later tokens, but not a token from itself: (S, S, 1, 1).
constexpr value make_mask(const site& here, trace& t) {
    const std::int64_t sequence = t.load().sequence;
    value mask = t.constant({sequence, sequence});  // ones, cut to a triangle in place
    if (here.dims.own[same_length] != 0) t.in_place(op::add, mask, t.where(mask));
    const dtype type = t.activation_type();
    const value hidden = t.constant({sequence, sequence}, type), self = t.neg(t.constant({sequence, sequence}, type));
    (void)t.add(hidden, self);
    return t.constant({sequence, sequence}, type).view({sequence, sequence, 1, 1});
}

/// Scores by distance are shifted, so that each query's begin at its own place (`rel_shift_bnij`).
constexpr value shifted(trace& t, const value& x) {
    const std::int64_t batch = x.dim(0), heads = x.dim(1), queries = x.dim(2), distances = x.dim(3);
    value h = t.slice(t.reshape(x, {batch, heads, distances, queries}), 2, distances - 1);
    h = t.reshape(h, {batch, heads, queries, distances - 1});
    return t.gather(h, {batch, heads, queries, queries});
}

/// Contents and distances meet queries apart; x (S, batch, width).
struct attention {
    const site& here;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("RelativeAttention"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, heads = here.dims.num_attention_heads, d = here.dims.head_dim;
        const auto weight = [&](literal name) { return t.param(name, {width, heads, d}); };
        const value wq = weight("q"), wk = weight("k"), wv = weight("v"), wo = weight("o"), wr = weight("r");
        const value at_places = t.param("r_r_bias", {heads, d}), at_contents = t.param("r_w_bias", {heads, d});
        {
            const recorder::idle_guard no_segments{t};
            (void)t.param("r_s_bias", {heads, d}), (void)t.param("seg_embed", {2, heads, d});
        }
        const value q = einsum(t, "ibh,hnd->ibnd", x, wq), k = einsum(t, "ibh,hnd->ibnd", x, wk);
        const value v = einsum(t, "ibh,hnd->ibnd", x, wv),
                    r = einsum(t, "ibh,hnd->ibnd", t.to(here.shared->own[0], wr.type), wr);
        value mixed;
        {
            const recorder::fused_guard fused{
                t, fused_attention(dense({x.dim(1), heads, x.dim(0), d}), heads, all_positions(x.dim(0)).where, x.dim(0))};
            const value contents = einsum(t, "ibnd,jbnd->bnij", t.add(q, at_contents), k);
            const value places = shifted(t, einsum(t, "ibnd,jbnd->bnij", t.add(q, at_places), r));
            value scores = t.mul(t.add(t.add(contents, places)));  // no segments: a zero
            if (here.shared->mask.rank != 0) scores = t.sub(scores, t.mul(here.shared->mask.permute({2, 3, 0, 1})));
            const value seen = dropout(t, "dropout", t.softmax(scores), dropout_of::attention);
            mixed = einsum(t, "bnij,jbnd->ibnd", seen, v);
        }
        const value out = dropout(t, "dropout", einsum(t, "ibnd,hnd->ibh", mixed, wo));
        return t.call("layer_norm", norm<norm_kind::layer>{width}, t.add(out, x));
    }
};

constexpr value layer(const site& here, trace& t, const value& x) {
    const std::int64_t width = here.dims.hidden_size, inner = here.dims.intermediate_size;
    const value a = t.call("rel_attn", attention{here}, x);
    const module_info ff{.name = "ff", .type = here.type("FeedForward"), .what = role::mlp};
    t.enter(ff);
    value h = t.call("layer_1", linear{width, inner, true}, a);
    h = dropout(t, "dropout", t.call("activation_function", activation_module{here.dims.hidden_act}, h));
    h = dropout(t, "dropout", t.call("layer_2", linear{inner, width, true}, h));
    return t.leave(ff, t.call("layer_norm", norm<norm_kind::layer>{width}, t.add(h, a)));
}

/// Tokens stand in front of sequences inside of the model.
constexpr value base(const site& here, trace& t) {
    const std::int64_t batch = t.load().batch, sequence = t.load().sequence, width = here.dims.hidden_size;
    shared_values shared;
    {
        const recorder::idle_guard nothing_is_predicted_apart{t};
        (void)t.param("mask_emb", {1, 1, width});
    }
    if (here.dims.own[looks_back] != 0) shared.mask = make_mask(here, t);
    value x = t.call("word_embedding", embedding{here.dims.vocab_size, width}, extents{sequence, batch});
    x = dropout(t, "dropout", x);
    shared.own[0] = make_distances(here, t);
    for (repetition each = t.repeat(here.dims.num_hidden_layers, x); each.next();)
        x = t.call({"layer", each.index()}, decoder_layer{here.at(each, shared)}, x);
    return t.contiguous(dropout(t, "dropout", x).permute({1, 0, 2}));
}

constexpr value score(const site& here, trace& t, const two_values& out) {
    const sizes& dims = here.dims;
    const std::int64_t width = dims.hidden_size;
    const bool chooses = dims.head == head_kind::multiple_choice;
    if (dims.head == head_kind::token_classification)
        return t.call("classifier", head_linear{{width, dims.num_labels, true}}, out.first);
    if (chooses || dims.head == head_kind::sequence_classification) {
        const sequence_summary sum{summary_form::unpacked(dims.own[summary]), width, dims.num_labels,
                                   here.type("SequenceSummary")};
        const value h = t.call("sequence_summary", sum, out.first);
        return t.call("logits_proj", head_linear{{width, chooses ? 1 : dims.num_labels, true}}, h);
    }
    const linear words{width, dims.vocab_size, true, dims.tie_word_embeddings};
    return t.call("lm_loss", head_linear{words}, kept_positions(t, out.first));
}
constexpr value describe(const site& here, trace& t) { return describe_encoder(here, t, {.score = score}); }

constexpr void read(config_view config, sizes& s) {
    read_encoder(config, s);
    if (config.positive("d_head", s.head_dim) != s.head_dim) fail_value(config, "d_head", "d_model / n_head");
    if (s.hidden_size % 2 != 0) fail_unsupported(config, "d_model", "an odd width has no sine for each cosine");
    const string_ref kind = config.string("attn_type", "bi");
    s.own[looks_back] = kind == "uni";
    if (kind != "uni" && kind != "bi") fail_value(config, "attn_type", "\"bi\" or \"uni\"");
    if (config.boolean("bi_data", false))
        fail_unsupported(config, "bi_data", "no row describes data read in both directions");
    s.own[clamps] = config.signed_size("clamp_len", -1) > 0;
    s.own[summary] = read_summary(config, {.projects = true, .drops_last = true, .activates = true});
    const summary_form how = summary_form::unpacked(s.own[summary]);
    if (how.projects && how.to_labels) fail_value(config, "summary_proj_to_labels", "false");
}

inline constexpr dropout_key dropout_rates[]{{dropout_of::hidden, "dropout", 0.1}, {dropout_of::attention, "dropout", 0.1}};

}  // namespace xlnet_detail

// transformers/models/xlnet: configuration_xlnet.py, modeling_xlnet.py
inline constexpr architecture xlnet = [](architecture a) {
    a.model_type = "xlnet", a.prefix = "XLNet", a.describe = xlnet_detail::describe, a.read = xlnet_detail::read;
    a.own = xlnet_detail::keys, a.base = xlnet_detail::base, a.layer = xlnet_detail::layer;
    a.heads = {head_kind::none, head_kind::causal_lm, head_kind::sequence_classification, head_kind::token_classification,
               head_kind::multiple_choice};
    a.names.base = "transformer", a.names.causal_lm_type = "LMHeadModel";
    a.keys[0] = {"hidden_size", "d_model", key_rule::standard_first};
    a.keys[1] = {"num_attention_heads", "n_head", key_rule::standard_first};
    a.keys[2] = {"num_hidden_layers", "n_layer", key_rule::standard_first};
    a.keys[3] = {"vocab_size", "n_token", key_rule::standard_first};
    a.keys[4] = {"intermediate_size", "d_inner", key_rule::written_only};
    a.keys[5] = {"hidden_act", "ff_activation", key_rule::written_only};
    a.defaults.vocab_size = 32000, a.defaults.hidden_size = 1024, a.defaults.intermediate_size = 4096;
    a.defaults.num_hidden_layers = 24, a.defaults.num_attention_heads = 16, a.defaults.hidden_act = activation::gelu;
    a.defaults.tie_word_embeddings = true;
    a.keys[6] = no_key_value_heads;
    a.drops = xlnet_detail::dropout_rates;
    return a;
}(shared_encoder);

}  // namespace llmcost::arch
