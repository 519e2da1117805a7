// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/opt.hpp>

namespace llmcost::arch {

namespace xglm_detail {

/// Scaled queries over keys of all heads in one batch; scores perhaps held above the lowest number.
constexpr value attend_in_one_batch(const site& here, trace& t, const value& x, bool holds) {
    const std::int64_t batch = x.dim(0), sequence = x.dim(1), width = here.dims.hidden_size, d = here.dims.head_dim;
    const std::int64_t heads = here.dims.num_attention_heads;
    const context& where = here.shared->where;
    const value scaled = t.mul(project(here, t, "q_proj", width, x));
    qkv of{scaled, project(here, t, "k_proj", width, x), project(here, t, "v_proj", width, x)};
    split_heads(here, of);
    heads_first(of);
    remember(here, t, of);
    value found;
    {
        const recorder::fused_guard fused{t, fused_attention(of.q, heads, where, of.k.dim(2))};
        const std::int64_t length = of.k.dim(2);
        const bool sparse = t.load().attention == attention_scores::causal;
        const value q = t.reshape(of.q, {batch * heads, sequence, d}), k = t.reshape(of.k, {batch * heads, length, d});
        const value v = t.reshape(of.v, {batch * heads, length, d});
        value scores = t.bmm(op::batched_matmul, q, k.transpose(1, 2), sparse ? where.visible_pairs() : 0);
        if (!sparse) {
            scores = t.add(scores.view({batch, heads, sequence, length}), here.shared->mask);
            if (holds) scores = t.maximum(scores, t.constant({}));
            scores = scores.view({batch * heads, sequence, length});
        }
        found = t.bmm(drop(t, t.softmax(scores), dropout_of::attention), v).view({batch, heads, sequence, d});
    }
    return join(here, t, t.reshape(found.transpose(1, 2), {batch, sequence, width}));
}

constexpr value attend(const site& here, trace& t, const value& x) { return attend_in_one_batch(here, t, x, true); }

/// Children of a feed-forward block that a layer has among its own.
constexpr value feed_in_layer(const site& here, trace& t, const value& x) {
    using opt_detail::of_feed_forward;
    const std::int64_t width = here.dims.hidden_size, inner = here.dims.intermediate_size;
    value h = t.call("fc1", of_feed_forward<linear>{{width, inner, true}}, x);
    h = t.call("activation_fn", of_feed_forward<activation_module>{{here.dims.hidden_act}}, h);
    return t.call("fc2", of_feed_forward<linear>{{inner, width, true}}, drop(t, h, dropout_of::inner));
}

constexpr value layer(const site& here, trace& t, const value& x) {
    const value a = mixed(here, t, normed(here, t, "self_attn_layer_norm", x));
    const value middle = add_dropped_residual(here, t, x, a);
    const value f = feed_in_layer(here, t, normed(here, t, "final_layer_norm", middle));
    return add_dropped_residual(here, t, middle, f);
}

/// Rows of a table of sines and cosines, one for each new position.
struct sinusoids {
    std::int64_t held;
    std::int64_t width;
    class_name named;

    static constexpr role what = role::embedding;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr value describe(trace& t, std::int64_t batch, std::int64_t sequence) const {
        value table = trace::buffer({held, width});
        table.type = t.activation_type();
        return t.gather(table, {batch * sequence, width}).view({batch, sequence, width});
    }
};

constexpr value embed(const site& here, trace& t) {
    const workload& load = t.load();
    const std::int64_t held = here.dims.max_position_embeddings, width = here.dims.hidden_size;
    const value words = embed_words_scaling(here, t);
    t.positions(held, load.past + load.sequence);
    const sinusoids table{held + 2, width, here.type("SinusoidalPositionalEmbedding")};
    const value x = t.add(words, t.call("embed_positions", table, std::int64_t{1}, load.sequence));
    return drop(t, x, dropout_of::hidden);
}

constexpr void read(config_view config, sizes& s) {
    plan_one_mask(config, s);
    share_among_heads(config, s, {"attention_heads", "num_attention_heads"});
    if (config.boolean("add_cross_attention", false))
        fail_unsupported(config, "add_cross_attention", "no row describes this type with cross-attention");
}

inline constexpr dropout_key dropout_rates[]{{dropout_of::hidden, "dropout", 0.1},
                                             {dropout_of::attention, "attention_dropout", 0.1},
                                             {dropout_of::inner, "activation_dropout"},
                                             {dropout_of::drawn, "layerdrop"}};

}  // namespace xglm_detail

// transformers/models/xglm: configuration_xglm.py, modeling_xglm.py; scaled words, sinusoidal positions
inline constexpr architecture xglm = [](architecture a) {
    a.model_type = "xglm", a.prefix = "XGLM", a.read = xglm_detail::read, a.heads = language_heads;
    a.embed = xglm_detail::embed, a.layer = xglm_detail::layer, a.attend = xglm_detail::attend;
    a.norm = norm_kind::layer, a.rotated = rotation::none;
    a.names.norm = "layer_norm", a.names.o = "out_proj", a.names.embedding_type = "ScaledWordEmbedding";
    a.keys[0] = {"hidden_size", "d_model", key_rule::standard_first};
    a.keys[1] = {"num_attention_heads", "attention_heads", key_rule::standard_first};
    a.keys[2] = {"num_hidden_layers", "num_layers", key_rule::standard_first};
    a.keys[3] = {"intermediate_size", "ffn_dim", key_rule::written_only};
    a.keys[4] = {"hidden_act", "activation_function", key_rule::written_only};
    a.keys[5] = no_attention_bias, a.keys[6] = no_mlp_bias;
    a.defaults.vocab_size = 256008, a.defaults.hidden_size = 1024, a.defaults.intermediate_size = 4096;
    a.defaults.num_hidden_layers = 24, a.defaults.num_attention_heads = 16, a.defaults.max_position_embeddings = 2048;
    a.defaults.hidden_act = activation::gelu, a.defaults.tie_word_embeddings = true;
    a.defaults.attention_bias = a.defaults.output_bias = true;
    a.keys[7] = no_key_value_heads;
    a.drops = xglm_detail::dropout_rates;
    return a;
}(shared_decoder);

}  // namespace llmcost::arch
