// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bert.hpp>

namespace llmcost::arch {

namespace albert_detail {

enum own : std::uint8_t { groups, layers_of_group };
inline constexpr own_key keys[]{{"num_hidden_groups", 1}, {"inner_group_num", 1}};

/// A linear layer of the feed-forward block, which has no module of its own.
struct feed_forward_linear : linear {
    static constexpr role what = role::mlp;
};

constexpr value attend(const site& here, trace& t, const value& x) {
    const std::int64_t width = here.dims.hidden_size;
    const value mixed = attend_as_bert(here, t, x);
    const value out = dropout(t, "output_dropout", t.call("dense", linear{width, width, true}, mixed));
    return t.call("LayerNorm", norm<norm_kind::layer>{width}, t.add(x, out));
}

constexpr value layer(const site& here, trace& t, const value& x) {
    const std::int64_t width = here.dims.hidden_size, inner = here.dims.intermediate_size;
    const value a = mix_by_attention(here, t, x);
    value h = t.call("ffn", feed_forward_linear{{width, inner, true}}, a);
    h = t.call("activation", activation_module{here.dims.hidden_act}, h);
    h = t.call("ffn_output", feed_forward_linear{{inner, width, true}}, h);
    return t.call("full_layer_layer_norm", norm<norm_kind::layer>{width}, t.add(h, a));
}

struct group {
    site here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("LayerGroup"); }
    constexpr value describe(trace& t, value x) const {
        for (repetition each = t.repeat(here.dims.own[layers_of_group], x); each.next();)
            x = t.call({"albert_layers", each.index()}, layer_of_class{here, here.type("Layer")}, x);
        return x;
    }
};

/// Groups of layers, each called as often as layers fall into it (modeling_albert.py, `AlbertTransformer.forward`).
constexpr value encode(const site& here, trace& t) {
    const sizes& dims = here.dims;
    value x = here.row.embed(here, t);
    const decoder_context shared = here.row.prepare(here, t);
    site within = here;
    within.shared = &shared.full;
    const module_info encoder{.name = "encoder", .type = here.type("Transformer")};
    t.enter(encoder);
    x = t.call("embedding_hidden_mapping_in", linear{x.dim(-1), dims.hidden_size, true}, x);
    const double per_group = static_cast<double>(dims.num_hidden_layers) / static_cast<double>(dims.own[groups]);
    std::int64_t called = 0;
    for (std::int64_t g = 0; g < dims.own[groups]; ++g) {
        // the first layer behind this group, by halves, as layers may be many
        std::int64_t end = dims.num_hidden_layers;
        for (std::int64_t low = called; low < end;) {
            const std::int64_t middle = low + (end - low) / 2;
            const bool behind = static_cast<std::int64_t>(static_cast<double>(middle) / per_group) > g;
            (behind ? end : low) = behind ? middle : middle + 1;
        }
        const std::int64_t calls = end - called;
        called = end;
        const recorder::idle_guard uncalled{t, calls == 0};
        for (repetition each = t.again(calls == 0 ? 1 : calls, x); each.next();) {
            const value out = t.call({"albert_layer_groups", g}, group{within}, x);
            if (calls != 0) x = out;
        }
    }
    return t.leave(encoder, x);
}

constexpr value pool(const site& here, trace& t, const value& x) {
    const value first = t.call("pooler", linear{here.dims.hidden_size, here.dims.hidden_size, true}, t.select(x, 1));
    return t.call("pooler_activation", activation_module{activation::tanh}, first);
}

/// Scores of words; for pretraining the order of sentences beside them.
constexpr value score_words(const site& here, trace& t, const two_values& out) {
    const module_info predictions{.name = "predictions", .type = here.type("MLMHead"), .what = role::head};
    const std::int64_t width = embedding_width(here.dims);
    t.enter(predictions);
    declare_word_bias(here.dims, t);
    value h = t.call("dense", linear{here.dims.hidden_size, width, true}, out.first);
    h = t.call("activation", activation_module{here.dims.hidden_act}, h);
    h = t.call("LayerNorm", norm<norm_kind::layer>{width}, h);
    h = t.leave(predictions, scores_of_words(here.dims, t, h));
    if (here.dims.head != head_kind::pretraining) return h;
    const recorder::off_loss_guard unread{t};
    const module_info order{.name = "sop_classifier", .type = here.type("SOPHead"), .what = role::head};
    t.enter(order);
    const linear labels{here.dims.hidden_size, here.dims.num_labels, true};
    (void)t.leave(order, t.call("classifier", labels, dropout(t, "dropout", out.second, dropout_of::classifier)));
    return h;
}
constexpr value score(const site& here, trace& t, const two_values& out) { return score_states(here, t, out, score_words); }
inline constexpr encoder_heads heads{
    .score = score,
    .pooled = {head_kind::none, head_kind::pretraining, head_kind::sequence_classification, head_kind::multiple_choice},
    .pool = pool,
};
constexpr value describe(const site& here, trace& t) { return describe_encoder(here, t, heads); }

constexpr void read(config_view config, sizes& s) {
    read_encoder_alone(config, s);
    s.embedding_size = config.positive("embedding_size", s.embedding_size);
    if (s.own[groups] > 4096) fail_value(config, "num_hidden_groups", "at most 4096 groups");
}

inline constexpr dropout_key dropout_rates[]{{dropout_of::hidden, "hidden_dropout_prob"},
                                             {dropout_of::attention, "attention_probs_dropout_prob"},
                                             {dropout_of::classifier, "classifier_dropout_prob", 0.1}};

}  // namespace albert_detail

// transformers/models/albert: BERT with narrow embeddings, whose layers are called again and again
inline constexpr architecture albert = [](architecture a) {
    a.model_type = "albert", a.prefix = "Albert", a.describe = albert_detail::describe, a.read = albert_detail::read;
    a.own = albert_detail::keys, a.base = albert_detail::encode, a.layer = albert_detail::layer;
    a.attend = albert_detail::attend, a.mix = mix_by_attention;
    a.heads = {head_kind::none,
               head_kind::masked_lm,
               head_kind::pretraining,
               head_kind::sequence_classification,
               head_kind::token_classification,
               head_kind::question_answering,
               head_kind::multiple_choice};
    a.names.base = "albert", a.names.attention = "attention";
    a.defaults.vocab_size = 30000, a.defaults.hidden_size = 4096, a.defaults.intermediate_size = 16384;
    a.defaults.num_attention_heads = 64, a.defaults.embedding_size = 128, a.defaults.hidden_act = activation::gelu_new;
    a.defaults.head = head_kind::pretraining;
    a.drops = albert_detail::dropout_rates;
    return a;
}(bert);

}  // namespace llmcost::arch
