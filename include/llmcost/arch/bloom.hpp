// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/layers/alibi.hpp>
#include <llmcost/reading/reader.hpp>
#include <llmcost/walks/decoder.hpp>

namespace llmcost::arch {

namespace bloom_detail {

enum own : std::uint8_t { residual_from_norm };
inline constexpr own_key keys[]{{"apply_residual_connection_post_layernorm", 0, own_value::boolean}};

/// Context (batch, sequence, width) of scores that start from biases by distance.
constexpr value look_up_with_biases(const site& here, trace& t, const qkv& of) {
    const shared_values& s = *here.shared;
    const std::int64_t heads = of.q.dim(1), d = of.q.dim(3), batch = of.q.dim(0), sequence = of.q.dim(2);
    const recorder::fused_guard fused{t, fused_attention(of.q, heads, s.where, of.k.dim(2))};
    const bool sparse = t.load().attention == attention_scores::causal;
    const value rows = t.reshape(of.q, {batch * heads, -1, d});
    const value columns = t.reshape(of.k, {batch * heads, -1, d}).transpose(1, 2);
    const value values = t.reshape(of.v, {batch * heads, -1, d});
    // a scale of one, as heads of one element have it, is no multiplication
    const op product = d == 1 ? op::batched_matmul_bias : op::batched_matmul_bias_scaled;
    value scores = t.bmm(torch_function::baddbmm_method, product, rows, columns, sparse ? s.where.visible_pairs() : 0);
    scores = scores.view({batch, heads, sequence, s.where.length()});
    if (!sparse) scores = t.add(scores, s.mask);
    const value probabilities = t.to(t.softmax(t.to(scores, dtype::float32)), of.q.type);
    const value kept = dropout(t, "attention_dropout", probabilities, dropout_of::attention);
    const value mixed = t.bmm(kept.view({batch * heads, sequence, s.where.length()}), values);
    return t.reshape(mixed.view({batch, heads, sequence, d}).transpose(1, 2), {batch, sequence, heads * d});
}

/// Attention; the residual is added inside.
struct attention {
    site here;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Attention"); }
    constexpr value describe(trace& t, const value& x, const value& residual) const {
        const std::int64_t width = here.dims.hidden_size;
        const value fused = t.call("query_key_value", linear{width, 3 * width, true}, x);
        const value heads = fused.view({x.dim(0), x.dim(1), here.dims.num_attention_heads, 3, here.dims.head_dim});
        qkv of{t.select(heads, 3), t.select(heads, 3), t.select(heads, 3)};
        heads_first(of);
        remember(here, t, of);
        const value out = t.call("dense", linear{width, width, true}, look_up_with_biases(here, t, of));
        return t.add(residual, drop(t, out, dropout_of::hidden));
    }
};

/// GELU by its tanh approximation as a function with a backward of its own, which keeps nothing but x.
struct fused_gelu {
    class_name named;

    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr value describe(trace& t, const value& x) const {
        value out;
        {
            const trace::no_grad_guard inside{t};
            out = activate(t, activation::gelu_fast, x);
        }
        if (!x.requires_grad) return out;
        const count n(x.elements);
        t.save_for_backward(x);
        t.backward({.add = n * count(5), .mult = n * count(12), .tanh = n});  // `bloom_gelu_back`
        t.goes_through(out, x);
        return out;
    }
};

/// Feed-forward block; the residual is added inside.
struct feed_forward {
    site here;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("MLP"); }
    constexpr value describe(trace& t, const value& x, const value& residual) const {
        const std::int64_t width = here.dims.hidden_size, inner = here.dims.intermediate_size;
        const value wide = t.call("dense_h_to_4h", linear{width, inner, true}, x);
        const value h = t.call("gelu_impl", fused_gelu{here.type("Gelu")}, wide);
        const value out = t.call("dense_4h_to_h", linear{inner, width, true}, h);
        return t.add(residual, drop(t, out, dropout_of::hidden));
    }
};

constexpr value layer(const site& here, trace& t, const value& x) {
    const bool from_norm = here.dims.own[residual_from_norm] != 0;
    value h = normed(here, t, "input_layernorm", x);
    const value a = t.call("self_attention", attention{here}, h, from_norm ? h : x);
    h = normed(here, t, "post_attention_layernorm", a);
    return t.call("mlp", feed_forward{here}, h, from_norm ? h : a);
}

constexpr value embed(const site& here, trace& t) {
    return normed(here, t, "word_embeddings_layernorm", embed_words(here, t));
}

constexpr decoder_context prepare(const site& here, trace& t) {
    const context where = context_of(t, here.dims.sliding_window);
    (void)alibi_per_position(t, t.load().batch, here.dims.num_attention_heads, where.length());
    return masks_and_tables(here, t);
}

constexpr void read(config_view config, sizes& s) {
    plan_one_mask(config, s);
    share_among_heads(config, s, {"n_head", "num_attention_heads"});
    s.intermediate_size = 4 * s.hidden_size;
    if (config.boolean("slow_but_exact", false) && config.integer("pretraining_tp", 1) > 1)
        fail_unsupported(config, "slow_but_exact", "no row describes projections computed slice by slice");
}

inline constexpr dropout_key dropout_rates[]{{dropout_of::hidden, "hidden_dropout"},
                                             {dropout_of::attention, "attention_dropout"},
                                             {dropout_of::classifier, "hidden_dropout", 0},
                                             {dropout_of::classifier, "classifier_dropout", as_before}};

}  // namespace bloom_detail

// transformers/models/bloom: configuration_bloom.py, modeling_bloom.py; normed embeddings, linear biases by distance
inline constexpr architecture bloom = [](architecture a) {
    a.model_type = "bloom", a.prefix = "Bloom", a.read = bloom_detail::read, a.own = bloom_detail::keys;
    a.embed = bloom_detail::embed, a.prepare = bloom_detail::prepare, a.layer = bloom_detail::layer;
    a.norm = norm_kind::layer, a.rotated = rotation::none, a.heads = answering_decoder_heads;
    a.names.base = a.names.base_under_answers = "transformer", a.names.token_classifier = "classifier";
    a.names.embed_tokens = "word_embeddings", a.names.layers = "h", a.names.norm = "ln_f", a.names.layer_type = "Block";
    a.keys[0] = {"hidden_size", "n_embed"};
    a.keys[1] = {"num_hidden_layers", "n_layer", key_rule::standard_first};
    a.keys[2] = {"num_attention_heads", "n_head", key_rule::standard_first};
    a.defaults.vocab_size = 250880, a.defaults.hidden_size = 64, a.defaults.num_hidden_layers = 2;
    a.defaults.num_attention_heads = 8, a.defaults.tie_word_embeddings = true;
    a.keys[3] = no_key_value_heads;
    a.drops = bloom_detail::dropout_rates;
    return a;
}(shared_decoder);

}  // namespace llmcost::arch
