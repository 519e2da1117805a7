// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/layers/alibi.hpp>
#include <llmcost/reading/reader.hpp>
#include <llmcost/walks/decoder.hpp>

namespace llmcost::arch {

namespace falcon_detail {

/// How one projection holds queries, keys and values.
enum class layout : std::uint8_t {
    per_head,  ///< query, key and value of each head side by side
    grouped,   ///< the queries of a group, their key, their value
    one_key    ///< all queries, one key, one value
};

enum own : std::uint8_t { qkv_layout, norms_apart, alibi };
inline constexpr own_key keys[]{
    {.value = own_value::computed},  // `layout`
    {.value = own_value::computed},  // attention and feed-forward side by side have norms of their own
    {"alibi", 0, own_value::boolean},
};

/// A linear layer whose bias is added after the product: x (…, in) -> (…, out).
struct linear_then_bias {
    std::int64_t in;
    std::int64_t out;
    bool bias;
    literal prefix;

    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return {prefix, "Linear"}; }
    constexpr value describe(trace& t, const value& x) const {
        const value product = t.matmul_operator(x, t.param("weight", {out, in}).transpose(0, 1));
        return bias ? t.add(product, t.param("bias", {out})) : product;
    }
};

/// Queries, keys and values, (batch, sequence, heads, dim) each; a group's key is copied for all its queries.
constexpr qkv split(const site& here, trace& t, const value& fused) {
    const std::int64_t heads = here.dims.num_attention_heads, groups = here.dims.num_key_value_heads;
    const std::int64_t batch = fused.dim(0), sequence = fused.dim(1), queries = heads / groups, d = here.dims.head_dim;
    const auto held = static_cast<layout>(here.dims.own[qkv_layout]);
    if (held == layout::per_head) {
        const value all = fused.view({batch, sequence, heads, 3, d});
        return {t.select(all, 3), t.select(all, 3), t.select(all, 3)};
    }
    if (held == layout::one_key) {
        const value all = fused.view({batch, sequence, heads + 2, d});
        const value k = t.gather(all, {batch, sequence, 1, d}), v = t.gather(all, {batch, sequence, 1, d});
        return {t.slice(all, 2, heads), k, v};
    }
    const value all = fused.view({batch, sequence, groups, queries + 2, d});
    const value k = t.gather(all, {batch, sequence, groups, 1, d}), v = t.gather(all, {batch, sequence, groups, 1, d});
    const auto in_heads = [&](const value& part) {
        return t.reshape(part.expand({batch, sequence, groups, queries, d}), {batch, sequence, heads, d});
    };
    const value q = in_heads(t.slice(all, 3, queries)), spread = in_heads(k);
    return {q, spread, in_heads(v)};
}

/// Context (batch, heads, sequence, dim) of scores that are scaled in place.
constexpr value look_up_with_biases(const site& here, trace& t, const qkv& of) {
    const shared_values& s = *here.shared;
    const recorder::fused_guard fused{t, fused_attention(of.q, here.dims.num_key_value_heads, s.where, of.k.dim(2))};
    const bool sparse = t.load().attention == attention_scores::causal;
    value scores = t.matmul_operator(of.q, of.k.transpose(2, 3), sparse ? s.where.visible_pairs() : 0);
    if (here.dims.own[alibi]) {
        scores = t.add(t.to(scores, dtype::float32), s.own[0]);
        t.in_place(op::mul, scores);
    } else {
        t.in_place(op::div, scores);
    }
    if (!sparse) scores = t.add(scores, s.mask);
    value probabilities = t.softmax(t.to(scores, of.q.type));
    if (here.dims.own[alibi]) probabilities = dropout(t, "attention_dropout", probabilities, dropout_of::attention);
    return t.matmul_operator(probabilities, of.v);
}

/// Attention over one projection; positions are rotations or biases by distance.
constexpr value attend(const site& here, trace& t, const value& x) {
    const sizes& dims = here.dims;
    const std::int64_t width = dims.hidden_size;
    const std::int64_t held = (dims.num_attention_heads + 2 * dims.num_key_value_heads) * dims.head_dim;
    const linear_then_bias in{width, held, dims.attention_bias, here.row.prefix};
    qkv of = split(here, t, t.call("query_key_value", in, x));
    heads_first(of);
    if (!dims.own[alibi]) turn(here, t, of);
    remember(here, t, of);
    const value flat = t.reshape(look_up_with_biases(here, t, of).transpose(1, 2), {x.dim(0), x.dim(1), width});
    return t.call("dense", linear_then_bias{width, width, dims.output_bias, here.row.prefix}, flat);
}

struct feed_forward {
    site here;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("MLP"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, inner = here.dims.intermediate_size;
        const bool bias = here.dims.mlp_bias;
        value h = t.call("dense_h_to_4h", linear_then_bias{width, inner, bias, here.row.prefix}, x);
        h = t.call("act", activation_module{here.dims.hidden_act}, h);
        return t.call("dense_4h_to_h", linear_then_bias{inner, width, bias, here.row.prefix}, h);
    }
};

/// Attention and feed-forward side by side behind one norm or two, or one after the other.
constexpr value layer(const site& here, trace& t, const value& x) {
    const bool apart = here.dims.own[norms_apart] != 0;
    value h = normed(here, t, apart ? "ln_attn" : "input_layernorm", x);
    const value own_input = apart ? normed(here, t, "ln_mlp", x) : h;
    const value a = mixed(here, t, h);
    if (!here.dims.parallel_residual) {
        const value middle = t.add(x, drop(t, a, dropout_of::attention));
        h = normed(here, t, "post_attention_layernorm", middle);
        return t.add(middle, drop(t, t.call("mlp", feed_forward{here}, h), dropout_of::hidden));
    }
    h = t.call("mlp", feed_forward{here}, own_input);
    t.in_place(op::add, h, a);
    return t.add(x, drop(t, h, dropout_of::hidden));
}

/// A mask, into which biases by distance are chosen where there are some, (batch, heads, 1, length); rotary tables always.
constexpr decoder_context prepare(const site& here, trace& t) {
    const std::int64_t batch = t.load().batch, heads = here.dims.num_attention_heads;
    decoder_context c;
    c.full.where = context_of(t, here.dims.sliding_window);
    const std::int64_t length = c.full.where.length();
    if (here.dims.own[alibi]) c.full.own[0] = alibi_per_token(t, batch, heads, length).view({batch, heads, 1, length});
    c.full.mask = eager_mask(t, c.full.where, batch);
    if (here.dims.own[alibi])
        c.full.mask = t.where(t.div(c.full.own[0]).expand({batch, heads, c.full.where.sequence, length}));
    make_rotary_tables(here, t, c.full);
    return c.sliding = c.full, c;
}

/// The older wiring knows one key for all heads and blocks one after the other; the newer one has groups and is parallel.
constexpr void read(config_view config, sizes& s) {
    plan_one_mask(config, s);
    share_among_heads(config, s, {"num_attention_heads"});
    s.rotary_dim = s.head_dim;
    if (s.intermediate_size == 0) s.intermediate_size = 4 * s.hidden_size;
    s.attention_bias = s.output_bias = s.mlp_bias = config.boolean("bias", false);
    s.parallel_residual = config.boolean("parallel_attn", true);
    const bool grouped = config.boolean("new_decoder_architecture", false), one_key = config.boolean("multi_query", true);
    const layout held = grouped ? layout::grouped : one_key ? layout::one_key : layout::per_head;
    s.own[qkv_layout] = static_cast<std::int64_t>(held);
    s.num_key_value_heads = held == layout::one_key ? 1 : config.positive("num_kv_heads", s.num_attention_heads);
    if (grouped && s.num_attention_heads % s.num_key_value_heads != 0)
        fail_value(config, "num_kv_heads", "a divisor of num_attention_heads");
    if (held == layout::per_head && s.num_key_value_heads != s.num_attention_heads)
        fail_value(config, "num_kv_heads",
                   "num_attention_heads, where neither multi_query nor new_decoder_architecture is true");
    if (grouped && !s.parallel_residual)
        fail_value(config, "parallel_attn", "true, as new_decoder_architecture asks for it");
    const std::int64_t norms = config.positive("num_ln_in_parallel_attn", grouped ? 2 : 1);
    if (norms > 2 || (norms == 2 && !grouped && s.parallel_residual))
        fail_value(config, "num_ln_in_parallel_attn", "1, or 2 with new_decoder_architecture");
    s.own[norms_apart] = grouped && norms == 2;
}

inline constexpr dropout_key dropout_rates[]{{dropout_of::hidden, "hidden_dropout"},
                                             {dropout_of::attention, "attention_dropout"},
                                             {dropout_of::classifier, "hidden_dropout", 0},
                                             {dropout_of::classifier, "classifier_dropout", as_before}};

}  // namespace falcon_detail

// transformers/models/falcon: configuration_falcon.py, modeling_falcon.py
inline constexpr architecture falcon = [](architecture a) {
    a.model_type = "falcon", a.prefix = "Falcon", a.read = falcon_detail::read, a.own = falcon_detail::keys;
    a.prepare = falcon_detail::prepare, a.layer = falcon_detail::layer, a.attend = falcon_detail::attend;
    a.norm = norm_kind::layer, a.heads = answering_decoder_heads;
    a.names.base = a.names.base_under_answers = "transformer", a.names.token_classifier = "classifier";
    a.names.embed_tokens = "word_embeddings", a.names.layers = "h", a.names.norm = "ln_f";
    a.names.attention = "self_attention";
    a.keys[0] = {"hidden_size", "n_embed"};
    a.keys[1] = {"intermediate_size", "ffn_hidden_size", key_rule::written_only};
    a.keys[2] = {"hidden_act", "activation", key_rule::written_only};
    a.keys[3] = no_key_value_heads;
    a.defaults.vocab_size = 65024, a.defaults.hidden_size = 4544, a.defaults.num_hidden_layers = 32;
    a.defaults.num_attention_heads = 71, a.defaults.max_position_embeddings = 2048;
    a.defaults.hidden_act = activation::gelu, a.defaults.tie_word_embeddings = true;
    a.drops = falcon_detail::dropout_rates;
    return a;
}(shared_decoder);

}  // namespace llmcost::arch
