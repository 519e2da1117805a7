// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/reading/reader.hpp>
#include <llmcost/walks/decoder.hpp>

namespace llmcost::arch {

namespace modernbert_decoder_detail {

enum own : std::uint8_t { norm_bias, classifier_bias, classifier_activation };
inline constexpr own_key keys[]{
    {"norm_bias", 0, own_value::boolean},
    {"classifier_bias", 0, own_value::boolean},
    {.otherwise = static_cast<std::int64_t>(activation::gelu), .value = own_value::computed},
};

/// The word of the first layer, whose attention reads embeddings that are normed already.
inline constexpr std::uint8_t first = 1;

constexpr value norm_named(const site& here, trace& t, literal name, const value& x) {
    return t.call(name, norm<norm_kind::layer>{here.dims.hidden_size, {}, true, here.dims.own[norm_bias] != 0}, x);
}

/// Words, normed: (B, S, hidden).
struct embeddings {
    site here;

    static constexpr role what = role::embedding;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Embeddings"); }
    constexpr value describe(trace& t, const extents& ids) const {
        const value x = t.call("tok_embeddings", embedding{here.dims.vocab_size, here.dims.hidden_size}, ids);
        return dropout(t, "drop", norm_named(here, t, "norm", x), dropout_of::embeddings);
    }
};
constexpr value embed(const site& here, trace& t) {
    return t.call("embeddings", embeddings{here}, extents{t.load().batch, t.load().sequence});
}

/// Cosines and sines of the positions of every sequence, (batch, sequence, dim).
struct table_per_sequence {
    site here;
    bool sliding;

    static constexpr role what = role::rotary;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return here.type("RotaryEmbedding"); }
    constexpr two_values describe(trace& t) const {
        const trace::no_grad_guard quiet{t};
        rotary_frequencies{here.dims, sliding}.update(t, here.dims.rotary_dim);
        const std::int64_t half = here.dims.rotary_dim / 2;
        const value angles = t.mul(t.constant({t.load().batch, t.load().sequence, 1}), trace::buffer({half}));
        const value both = t.cat({angles, angles}, -1);
        const value cos = t.mul(t.unary(op::cos, both)), sin = t.mul(t.unary(op::sin, both));
        return {t.to(cos, t.activation_type()), t.to(sin, t.activation_type())};
    }
};

/// Both masks, and a table for each kind of layers that there is.
constexpr decoder_context prepare(const site& here, trace& t) {
    decoder_context c = masks(here, t);
    const auto make = [&](mixer_kind kind, shared_values& into) {
        if (!here.dims.layers.has(kind, here.dims.num_hidden_layers)) return;
        const two_values made = t.call("rotary_emb", table_per_sequence{here, kind == mixer_kind::sliding_attention});
        into.cos = made.first, into.sin = made.second;
    };
    make(mixer_kind::full_attention, c.full), make(mixer_kind::sliding_attention, c.sliding);
    return c;
}

/// x · cos + rotate_half(x) · sin in float32.
constexpr value turned(trace& t, const value& x, const value& cos, const value& sin) {
    const value plain = t.mul(t.to(x, dtype::float32), cos), again = t.to(x, dtype::float32);
    const std::int64_t half = x.dim(-1) / 2;
    const value back = t.neg(t.slice(again, -1, half));
    return t.to(t.add(plain, t.mul(t.cat({back, t.slice(again, -1, half)}, -1), sin)), x.type);
}

constexpr value attend(const site& here, trace& t, const value& x) {
    qkv of = project_qkv(here, t, x);
    split_heads(here, of);
    heads_first(of);
    const value cos = here.shared->cos.unsqueeze(1), sin = here.shared->sin.unsqueeze(1);
    of.q = turned(t, of.q, cos, sin), of.k = turned(t, of.k, cos, sin);
    remember(here, t, of);
    return dropout(t, "out_drop", join(here, t, look_up(here, t, of)), dropout_of::attention);
}

/// Wo(act(half of Wi(x)) · other half).
struct feed_forward {
    site here;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("MLP"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, inner = here.dims.intermediate_size;
        const value half = t.call("Wi", linear{width, 2 * inner, here.dims.mlp_bias}, x).slice(-1, inner);
        const value h = t.mul(t.call("act", activation_module{here.dims.hidden_act}, half), half);
        return t.call("Wo", linear{inner, width, here.dims.mlp_bias}, dropout(t, "drop", h, dropout_of::inner));
    }
};
constexpr value feed(const site& here, trace& t, const value& x) { return t.call("mlp", feed_forward{here}, x); }

constexpr value layer(const site& here, trace& t, const value& x) {
    const bool plain = here.kind.own == first;
    const value h = plain ? t.call("attn_norm", identity{"Identity"}, x) : norm_named(here, t, "attn_norm", x);
    const value middle = t.add(x, mixed(here, t, h));
    return t.add(middle, here.row.feed(here, t, norm_named(here, t, "mlp_norm", middle)));
}

constexpr value base(const site& here, trace& t) {
    const value x = here.row.embed(here, t);
    const decoder_context shared = here.row.prepare(here, t);
    return norm_named(here, t, "final_norm", describe_layers(here, t, shared, x));
}

/// A dense layer, its activation and a norm, in front of scores.
struct prediction_head {
    site here;

    static constexpr role what = role::head;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("PredictionHead"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size;
        const auto act = static_cast<activation>(here.dims.own[classifier_activation]);
        const value h = t.call("dense", linear{width, width, here.dims.own[classifier_bias] != 0}, x);
        return norm_named(here, t, "norm", t.call("act", activation_module{act}, h));
    }
};

constexpr value scores(const site& here, trace& t, const value& x) {
    const recorder::idle_guard unused{t, t.load().head == logits::none};
    const sizes& dims = here.dims;
    if (dims.head == head_kind::causal_lm) {
        const value h = t.call("lm_head", prediction_head{here}, kept_positions(t, x));
        return t.call("decoder", head_linear{{dims.hidden_size, dims.vocab_size, dims.head_bias, dims.tie_word_embeddings}},
                      h);
    }
    const value h = dropout(t, "drop", t.call("head", prediction_head{here}, x), dropout_of::classifier);
    const linear classifier{dims.hidden_size, dims.num_labels, dims.own[classifier_bias] != 0};
    return t.gather(t.call("classifier", head_linear{classifier}, h), {x.dim(0), dims.num_labels});
}

constexpr value describe(const site& here, trace& t) {
    const class_name type = here.type("Model");
    if (here.dims.head == head_kind::none) return describe_within({.type = type}, here.row.base, here, t);
    const module_info whole{.type = here.type(name_of(here.dims.head))};
    t.enter(whole);
    const value x = describe_within({.name = "model", .type = type}, here.row.base, here, t);
    return t.leave(whole, t.returns(x, scores(here, t, x)));
}

/// Layers slide over half of what ModernBERT's see, but for every so many-th one, the first one too.
constexpr void read(config_view config, sizes& s) {
    share_among_heads(config, s, {"num_attention_heads"});
    s.rotary_dim = s.head_dim;
    s.head_bias = config.boolean("decoder_bias", true);
    const auto act = config.optional_string("classifier_activation");
    if (act)
        s.own[classifier_activation] = static_cast<std::int64_t>(activation_named(config, "classifier_activation", *act));
    if (!config.contains("sliding_window")) {
        const auto seen = config.find("local_attention");
        s.sliding_window = !seen ? 64 : seen->is_null() ? 0 : seen->as_non_negative() / 2;
    } else {
        check_window_is_given(config);
    }
    const std::int64_t step = config.positive("global_attn_every_n_layers", 3);
    const bool listed = read_layer_types(config, s);
    const layer_plan given = s.layers;
    plan_layers(config, s, [&](std::int64_t i) {
        const mixer_kind by_rule = i % step == 0 ? mixer_kind::full_attention : mixer_kind::sliding_attention;
        return layer_kind{.mixer = listed ? given[i].mixer : by_rule, .own = i == 0 ? first : std::uint8_t{}};
    });
}

inline constexpr dropout_key dropout_rates[]{{dropout_of::embeddings, "embedding_dropout"},
                                             {dropout_of::inner, "mlp_dropout"},
                                             {dropout_of::attention, "attention_dropout"},
                                             {dropout_of::classifier, "classifier_dropout"}};

}  // namespace modernbert_decoder_detail

// transformers/models/modernbert_decoder: ModernBERT's blocks, causal, with projections of their own for q, k and v
inline constexpr architecture modernbert_decoder = [](architecture a) {
    namespace own = modernbert_decoder_detail;
    a.heads = classifying_decoder_heads;
    a.rotary_per_mixer = true;
    a.model_type = "modernbert-decoder", a.prefix = "ModernBertDecoder", a.read = own::read, a.own = own::keys;
    a.describe = own::describe, a.base = own::base, a.embed = own::embed, a.prepare = own::prepare, a.layer = own::layer;
    a.attend = own::attend, a.feed = own::feed, a.masks = mask_rule::full_and_sliding, a.kinds.own = own::first;
    a.norm = norm_kind::layer;
    a.names.layer_type = "Layer", a.names.attention = "attn", a.names.o = "Wo";
    a.keys[0] = {"hidden_act", "hidden_activation", key_rule::written_only};
    a.keys[1] = {"num_key_value_heads", "", key_rule::absent};
    a.defaults.vocab_size = 50368, a.defaults.hidden_size = 768, a.defaults.intermediate_size = 1152;
    a.defaults.num_hidden_layers = 22, a.defaults.num_attention_heads = 12, a.defaults.max_position_embeddings = 8192;
    a.defaults.hidden_act = activation::gelu, a.defaults.tie_word_embeddings = true;
    a.keys[2] = no_key_value_heads;
    a.drops = modernbert_decoder_detail::dropout_rates;
    return a;
}(shared_decoder);

}  // namespace llmcost::arch
