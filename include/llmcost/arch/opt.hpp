// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/reading/reader.hpp>
#include <llmcost/walks/decoder.hpp>

namespace llmcost::arch {

namespace opt_detail {

enum own : std::uint8_t { norm_affine, norms_after_sums, final_norm };
inline constexpr own_key keys[]{
    {"layer_norm_elementwise_affine", 1, own_value::boolean},  // norms have parameters
    {.value = own_value::computed},                            // norms follow the residual sums
    {.value = own_value::computed},                            // a norm after the last layer
};

constexpr value call_layer_norm(const site& here, trace& t, literal name, const value& x) {
    const bool affine = here.dims.own[norm_affine] != 0;
    return t.call(name, norm<norm_kind::layer>{here.dims.hidden_size, {}, affine, affine}, x);
}

/// Queries are scaled before they meet keys, and scores again.
constexpr value attend(const site& here, trace& t, const value& x) {
    const std::int64_t width = here.dims.hidden_size;
    qkv of = project_qkv(here, t, x);
    of.q = t.mul(of.q);
    split_heads(here, of);
    heads_first(of);
    remember(here, t, of);
    return t.call("out_proj", linear{width, width, here.dims.attention_bias}, look_up(here, t, of));
}

/// A layer of the reference has the feed-forward block's children among its own.
template <class L>
struct of_feed_forward : L {
    static constexpr role what = role::mlp;
};

/// Attention and feed-forward block, the latter over rows of tokens.
constexpr value layer(const site& here, trace& t, const value& x) {
    const sizes& dims = here.dims;
    const std::int64_t width = dims.hidden_size, inner = dims.intermediate_size;
    const bool after = dims.own[norms_after_sums] != 0;
    value h = after ? x : call_layer_norm(here, t, "self_attn_layer_norm", x);
    h = t.add(x, drop(t, mixed(here, t, h), dropout_of::hidden));
    if (after) h = call_layer_norm(here, t, "self_attn_layer_norm", h);
    const value rows = t.reshape(h, {-1, width});
    h = after ? rows : call_layer_norm(here, t, "final_layer_norm", rows);
    h = t.call("fc1", of_feed_forward<linear>{{width, inner, dims.mlp_bias}}, h);
    h = t.call("activation_fn", of_feed_forward<activation_module>{{dims.hidden_act}}, h);
    h = t.call("fc2", of_feed_forward<linear>{{inner, width, dims.mlp_bias}}, h);
    h = t.add(rows, drop(t, h, dropout_of::hidden)).view({x.dim(0), x.dim(1), width});
    return after ? call_layer_norm(here, t, "final_layer_norm", h) : h;
}

/// A mask of ones makes the positions, in floats unless a caller has made it of integers; the table has two rows more.
constexpr value positions(const site& here, trace& t, bool has_mask) {
    const workload& load = t.load();
    const std::int64_t held = here.dims.max_position_embeddings;
    if (!has_mask) {
        const value ones = t.constant({load.batch, load.past + load.sequence});
        (void)t.add(t.mul(t.cumsum(ones, 1), ones));
    }
    t.positions(held, load.past + load.sequence);
    const embedding table{.rows = held + 2,
                          .width = here.dims.hidden_size,
                          .named = here.type("LearnedPositionalEmbedding"),
                          .makes_indices = true};
    return t.call("embed_positions", table, extents{load.batch, load.sequence});
}

constexpr value look_up_words(const site& here, trace& t) {
    const workload& load = t.load();
    return t.call("embed_tokens", embedding{here.dims.vocab_size, here.dims.embedding_size},
                  extents{load.batch, load.sequence});
}

/// The decoder over words that may have been replaced.
constexpr value decode(const site& here, trace& t, value x, bool has_mask = false) {
    const sizes& dims = here.dims;
    const decoder_context shared = masks_and_tables(here, t);
    const value places = positions(here, t, has_mask);
    const bool projects = dims.embedding_size != dims.hidden_size;
    if (projects) x = t.call("project_in", linear{dims.embedding_size, dims.hidden_size}, x);
    x = describe_layers(here, t, shared, t.add(x, places));
    if (dims.own[final_norm]) x = call_layer_norm(here, t, "final_layer_norm", x);
    return projects ? t.call("project_out", linear{dims.hidden_size, dims.embedding_size}, x) : x;
}

constexpr value decoder(const site& here, trace& t) { return decode(here, t, look_up_words(here, t)); }

constexpr value base(const site& here, trace& t) {
    return describe_within({.name = "decoder", .type = here.type("Decoder")}, decoder, here, t);
}

constexpr void read(config_view config, sizes& s) {
    plan_one_mask(config, s);
    share_among_heads(config, s, {"num_attention_heads"});
    s.embedding_size = config.positive("word_embed_proj_dim", s.hidden_size);
    s.attention_bias = s.output_bias = s.mlp_bias = config.boolean("enable_bias", true);
    s.own[norms_after_sums] = !config.boolean("do_layer_norm_before", true);
    s.own[final_norm] = s.own[norms_after_sums] == 0 && !config.boolean("_remove_final_layer_norm", false);
}

inline constexpr dropout_key dropout_rates[]{
    {dropout_of::hidden, "dropout", 0.1}, {dropout_of::attention, "attention_dropout"}, {dropout_of::drawn, "layerdrop"}};

}  // namespace opt_detail

// transformers/models/opt: configuration_opt.py, modeling_opt.py; learned positions, scaled queries
inline constexpr architecture opt = [](architecture a) {
    a.model_type = "opt", a.prefix = "OPT", a.read = opt_detail::read, a.own = opt_detail::keys;
    a.drops = opt_detail::dropout_rates;
    a.base = opt_detail::base, a.layer = opt_detail::layer, a.attend = opt_detail::attend, a.rotated = rotation::none;
    a.heads = {head_kind::none, head_kind::causal_lm, head_kind::sequence_classification, head_kind::question_answering};
    a.keys[0] = {"intermediate_size", "ffn_dim", key_rule::written_only};
    a.keys[1] = {"hidden_act", "activation_function", key_rule::written_only};
    a.defaults.vocab_size = 50272, a.defaults.hidden_size = 768, a.defaults.intermediate_size = 3072;
    a.defaults.num_hidden_layers = 12, a.defaults.num_attention_heads = 12, a.defaults.max_position_embeddings = 2048;
    a.defaults.hidden_act = activation::relu, a.defaults.tie_word_embeddings = true;
    a.keys[2] = no_key_value_heads;
    return a;
}(shared_decoder);

}  // namespace llmcost::arch
