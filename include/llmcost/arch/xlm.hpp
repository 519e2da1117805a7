// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/reading/encoder.hpp>
#include <llmcost/reading/reader.hpp>
#include <llmcost/walks/encoder_model.hpp>

namespace llmcost::arch {

namespace xlm_detail {

enum own : std::uint8_t { summary, languages, sequences_have_places };
inline constexpr own_key keys[]{
    {.value = own_value::computed},  // `summary_form`
    {.value = own_value::computed},  // rows of a table of languages, 0: none
    {.value = own_value::computed},  // positions are looked up for each sequence (FlauBERT)
};

/// The word of the first layer, whose activation is the module that all layers call.
inline constexpr std::uint8_t first = 1;

/// Keys and values go through a cache that the model makes and throws away, so that they are copied.
struct attention {
    const site& here;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {"", "MultiHeadAttention"}; }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, batch = x.dim(0), sequence = x.dim(1);
        value q, k, v;
        project_in_heads(t, x, width, here.dims.num_attention_heads, {"q_lin", "k_lin", "v_lin"}, q, k, v);
        k = t.cat({k}, 2), v = t.cat({v}, 2);
        value mixed;
        {
            const recorder::fused_guard fused{t, fused_attention(q, k.dim(1), all_positions(sequence).where, sequence)};
            value scores = t.matmul(t.div(q), k.transpose(2, 3));
            t.in_place(op::where, scores);
            const value seen = t.to(t.softmax(t.to(scores, dtype::float32)), q.type);
            mixed = t.contiguous(t.matmul(drop(t, seen, dropout_of::attention), v).transpose(1, 2))
                        .view({batch, sequence, width});
        }
        return t.call("out_lin", linear{width, width, true}, mixed);
    }
};

struct feed_forward {
    const site& here;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {"", "TransformerFFN"}; }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, inner = here.dims.intermediate_size;
        const value h = activated(t, t.call("lin1", linear{width, inner, true}, x));
        return drop(t, t.call("lin2", linear{inner, width, true}, h), dropout_of::hidden);
    }

private:
    /// The GELU of activations.py is one module, which has its name from the first layer and is called by each.
    constexpr value activated(trace& t, value x) const {
        if (here.dims.hidden_act == activation::relu) return t.unary(torch_function::kept_relu, op::relu, x);
        if (here.dims.hidden_act != activation::gelu) return activate(t, here.dims.hidden_act, x);
        if (here.kind.own != first) {
            const recorder::idle_guard counted_there{t};
            return activate(t, activation::gelu, x);
        }
        for (repetition layer = t.again(here.dims.num_hidden_layers, x); layer.next();)
            x = t.call("act", activation_module{activation::gelu}, x);
        return x;
    }
};

/// x times a mask of tokens that are no padding, in place.
constexpr void mask_padding(trace& t, value& x) { t.in_place(op::mul, x, t.constant({x.dim(0), x.dim(1), 1}, x.type)); }

constexpr value embed(const site& here, trace& t) {
    const std::int64_t width = here.dims.hidden_size, batch = t.load().batch, sequence = t.load().sequence;
    t.positions(here.dims.max_position_embeddings, sequence);
    const value words = t.call("embeddings", embedding{here.dims.vocab_size, width}, extents{batch, sequence});
    const std::int64_t each = here.dims.own[sequences_have_places] != 0 ? batch : 1;
    const embedding table{here.dims.max_position_embeddings, width};
    const value places = t.call("position_embeddings", table, extents{each, sequence});
    if (here.dims.own[languages] != 0) {
        const recorder::idle_guard no_language_given{t};
        (void)t.call("lang_embeddings", embedding{here.dims.own[languages], width}, extents{batch, sequence});
    }
    value x = t.call("layer_norm_emb", norm<norm_kind::layer>{width}, t.add(words, places));
    x = drop(t, x, dropout_of::hidden);
    mask_padding(t, x);
    return x;
}

/// The parts of layers stand in lists of their own.
constexpr value base(const site& here, trace& t) {
    value x = here.row.embed(here, t);
    const norm<norm_kind::layer> norms{here.dims.hidden_size};
    for (repetition layer = t.repeat(here.dims.num_hidden_layers, here.dims.layers, x); layer.next();) {
        const std::int64_t i = layer.index();
        site within = here;
        within.kind = layer.kind();
        const value a = drop(t, t.call({"attentions", i}, attention{within}, x), dropout_of::hidden);
        x = t.call({"layer_norm1", i}, norms, t.add(x, a));
        x = t.call({"layer_norm2", i}, norms, t.add(x, t.call({"ffns", i}, feed_forward{within}, x)));
        mask_padding(t, x);
    }
    return x;
}

constexpr value score_words(const site& here, trace& t, const value& x) {
    const module_info layer{.name = "pred_layer", .type = here.type("PredLayer"), .what = role::head};
    const linear words{here.dims.hidden_size, here.dims.vocab_size, true, here.dims.tie_word_embeddings};
    t.enter(layer);
    return t.leave(layer, t.call("proj", words, x));
}

constexpr value score(const site& here, trace& t, const two_values& out) {
    const sizes& dims = here.dims;
    const sequence_summary sum{summary_form::unpacked(dims.own[summary]), dims.hidden_size, dims.num_labels,
                               here.type("SequenceSummary")};
    switch (dims.head) {
        case head_kind::sequence_classification: return t.call("sequence_summary", sum, out.first);
        case head_kind::multiple_choice: {
            const value labels = t.call("sequence_summary", sum, out.first);
            return t.call("logits_proj", head_linear{{dims.num_labels, 1, true}}, labels);
        }
        case head_kind::token_classification: return classify(here, t, dims.num_labels, out.first);
        default: return score_words(here, t, kept_positions(t, out.first));
    }
}
constexpr value describe(const site& here, trace& t) { return describe_encoder(here, t, {.score = score}); }

constexpr void read(config_view config, sizes& s) {
    read_encoder(config, s);
    (void)checked_width(config, "emb_dim", 4, s.hidden_size);
    s.intermediate_size = 4 * s.hidden_size;
    s.hidden_act = config.boolean("gelu_activation", true) ? activation::gelu : activation::relu;
    plan_layers(config, s, [](std::int64_t i) { return layer_kind{.own = i == 0 ? first : std::uint8_t{0}}; });
    if (!config.boolean("is_encoder", true)) fail_unsupported(config, "is_encoder", "the reference has no decoder");
    if (config.boolean("asm", false) && s.head == head_kind::causal_lm)
        fail_unsupported(config, "asm", "no layer describes an adaptive softmax");
    const std::int64_t n = config.positive("n_langs", 1);
    s.own[languages] = n > 1 && config.boolean("use_lang_emb", true) ? n : 0;
    s.own[summary] =
        read_summary(config, {.kind = summary_kind::first, .projects = true, .to_labels = true, .drops_first = true});
    const summary_form how = summary_form::unpacked(s.own[summary]);
    if (s.head == head_kind::multiple_choice && s.num_labels != s.hidden_size && !(how.projects && how.to_labels))
        fail_value(config, "summary_proj_to_labels", "true under this head");
}

constexpr void read_flaubert(config_view config, sizes& s) {
    read(config, s);
    s.own[sequences_have_places] = 1;
    if (config.boolean("pre_norm", false))
        fail_unsupported(config, "pre_norm", "the reference fails where norms stand in front of blocks");
}

inline constexpr dropout_key dropout_rates[]{{dropout_of::hidden, "dropout", 0.1},
                                             {dropout_of::attention, "attention_dropout", 0.1},
                                             {dropout_of::classifier, "dropout", 0.1},
                                             {dropout_of::drawn, "layerdrop"}};

}  // namespace xlm_detail

// transformers/models/xlm: configuration_xlm.py, modeling_xlm.py
inline constexpr architecture xlm = [](architecture a) {
    a.model_type = "xlm", a.prefix = "XLM", a.describe = xlm_detail::describe, a.read = xlm_detail::read;
    a.kinds.own = xlm_detail::first, a.own = xlm_detail::keys, a.base = xlm_detail::base, a.embed = xlm_detail::embed;
    a.heads = {head_kind::none, head_kind::causal_lm, head_kind::sequence_classification, head_kind::token_classification,
               head_kind::multiple_choice};
    a.names.base = "transformer", a.names.causal_lm_type = "WithLMHeadModel";
    a.keys[0] = {"hidden_size", "emb_dim", key_rule::standard_first};
    a.keys[1] = {"num_attention_heads", "n_heads", key_rule::standard_first};
    a.keys[2] = {"num_hidden_layers", "n_layers", key_rule::standard_first};
    a.keys[3] = {"vocab_size", "n_words", key_rule::standard_first};
    a.keys[4] = {"hidden_act", "", key_rule::absent};
    a.defaults.vocab_size = 30145, a.defaults.hidden_size = 2048, a.defaults.num_hidden_layers = 12;
    a.defaults.num_attention_heads = 16, a.defaults.max_position_embeddings = 512, a.defaults.tie_word_embeddings = true;
    a.keys[5] = no_key_value_heads;
    a.drops = xlm_detail::dropout_rates;
    return a;
}(shared_encoder);

// transformers/models/flaubert: XLM that looks up positions for every sequence
inline constexpr architecture flaubert = [](architecture a) {
    a.model_type = "flaubert", a.prefix = "Flaubert", a.read = xlm_detail::read_flaubert;
    return a;
}(xlm);

}  // namespace llmcost::arch
