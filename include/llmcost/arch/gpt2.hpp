// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/layers/conv_1d.hpp>
#include <llmcost/reading/reader.hpp>
#include <llmcost/walks/decoder.hpp>

namespace llmcost::arch {

namespace gpt2_detail {

enum own : std::uint8_t { upcast_attention };
inline constexpr own_key keys[]{{"reorder_and_upcast_attn", 0, own_value::boolean}};

/// Scores in float32, scaled inside of the product.
constexpr value look_up_upcast(const site& here, trace& t, const qkv& of) {
    const context& where = here.shared->where;
    const std::int64_t batch = of.q.dim(0), heads = of.q.dim(1), sequence = of.q.dim(2), length = of.k.dim(2);
    const recorder::fused_guard fused{t, fused_attention(of.q, heads, where, length)};
    const bool sparse = t.load().attention == attention_scores::causal;
    const std::int64_t d = here.dims.head_dim;
    const value rows = t.to(t.reshape(of.q, {-1, sequence, d}), dtype::float32);
    const value columns = t.to(t.reshape(of.k.transpose(2, 3), {-1, d, length}), dtype::float32);
    value scores = t.bmm(op::batched_matmul_scaled, rows, columns, sparse ? where.visible_pairs() : 0);
    t.written(scores.elements);  // an empty tensor as large, which the product does not read
    scores = scores.view({batch, heads, sequence, length});
    if (!sparse) scores = t.add(scores, here.shared->mask);
    const value probabilities = dropout(t, "attn_dropout", t.to(t.softmax(scores), of.v.type), dropout_of::attention);
    const value mixed = t.matmul(probabilities, of.v).transpose(1, 2);
    return t.contiguous(t.reshape(mixed, {batch, sequence, -1}));
}

/// Attention over one stacked projection.
constexpr value attend(const site& here, trace& t, const value& x) {
    const std::int64_t width = here.dims.hidden_size, batch = x.dim(0), sequence = x.dim(1);
    const value fused = t.call("c_attn", conv_1d{width, 3 * width}, x);
    const value part = fused.slice(-1, width).view({batch, sequence, -1, here.dims.head_dim}).transpose(1, 2);
    qkv of{part, part, part};
    remember(here, t, of);
    const value flat =
        here.dims.own[upcast_attention] ? look_up_upcast(here, t, of) : look_up(here, t, of, {.float_softmax = false});
    return dropout(t, "resid_dropout", t.call("c_proj", conv_1d{width, width}, flat));
}

struct feed_forward_block {
    site here;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("MLP"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, inner = here.dims.intermediate_size;
        value h = t.call("c_fc", conv_1d{width, inner}, x);
        h = t.call("act", activation_module{here.dims.hidden_act}, h);
        return dropout(t, "dropout", t.call("c_proj", conv_1d{inner, width}, h));
    }
};

constexpr value feed(const site& here, trace& t, const value& x) {
    return t.call(here.row.names.feed_forward, feed_forward_block{here}, x);
}

/// Words and learned positions.
constexpr value embed(const site& here, trace& t) {
    const workload& load = t.load();
    const std::int64_t held = here.dims.max_position_embeddings;
    const value words = embed_words(here, t);
    t.positions(held, load.past + load.sequence);
    const value places = t.call("wpe", embedding{.rows = held, .width = here.dims.hidden_size, .makes_indices = true},
                                extents{1, load.sequence});
    return dropout(t, "drop", t.add(words, places), dropout_of::embeddings);
}

constexpr void read(config_view config, sizes& s) {
    plan_one_mask(config, s);
    share_among_heads(config, s, {"n_head", "num_attention_heads"});
    if (s.intermediate_size == 0) s.intermediate_size = 4 * s.hidden_size;
    if (config.boolean("add_cross_attention", false))
        fail_unsupported(config, "add_cross_attention", "no row describes this type with cross-attention");
    if (s.own[upcast_attention] && (s.head_dim == 1 || !config.boolean("scale_attn_weights", true)))
        fail_unsupported(config, "reorder_and_upcast_attn", "no row describes scores that are upcast but not scaled");
}

inline constexpr dropout_key dropout_rates[]{{dropout_of::hidden, "resid_pdrop", 0.1},
                                             {dropout_of::embeddings, "embd_pdrop", 0.1},
                                             {dropout_of::attention, "attn_pdrop", 0.1},
                                             {dropout_of::classifier, "hidden_dropout", 0.1},
                                             {dropout_of::classifier, "classifier_dropout", as_before}};

}  // namespace gpt2_detail

// transformers/models/gpt2: configuration_gpt2.py, modeling_gpt2.py; learned positions, stacked transposed projections
inline constexpr architecture gpt2 = [](architecture a) {
    a.model_type = "gpt2", a.prefix = "GPT2", a.read = gpt2_detail::read, a.own = gpt2_detail::keys;
    a.drops = gpt2_detail::dropout_rates;
    a.embed = gpt2_detail::embed, a.attend = gpt2_detail::attend, a.feed = gpt2_detail::feed;
    a.norm = norm_kind::layer, a.rotated = rotation::none, a.heads = answering_decoder_heads;
    a.names.base = a.names.base_under_answers = "transformer", a.names.token_classifier = "classifier";
    a.names.causal_lm_type = "LMHeadModel", a.names.embed_tokens = "wte", a.names.layers = "h", a.names.norm = "ln_f";
    a.names.layer_type = "Block", a.names.attention = "attn";
    a.names.norm_before_attention = "ln_1", a.names.norm_before_feed_forward = "ln_2";
    a.keys[0] = {"hidden_size", "n_embd", key_rule::standard_first};
    a.keys[1] = {"max_position_embeddings", "n_positions", key_rule::standard_first};
    a.keys[2] = {"num_attention_heads", "n_head", key_rule::standard_first};
    a.keys[3] = {"num_hidden_layers", "n_layer", key_rule::standard_first};
    a.keys[4] = {"intermediate_size", "n_inner", key_rule::written_only};
    a.keys[5] = {"hidden_act", "activation_function", key_rule::written_only};
    a.defaults.vocab_size = 50257, a.defaults.hidden_size = 768, a.defaults.num_hidden_layers = 12;
    a.defaults.num_attention_heads = 12, a.defaults.max_position_embeddings = 1024;
    a.defaults.hidden_act = activation::gelu_new, a.defaults.tie_word_embeddings = true;
    a.keys[6] = no_key_value_heads;
    return a;
}(shared_decoder);

// transformers/models/auto/configuration_auto.py: GPT-2 under another name
inline constexpr architecture gpt_sw3 = [](architecture a) {
    a.model_type = "gpt-sw3";
    return a;
}(gpt2);

}  // namespace llmcost::arch
