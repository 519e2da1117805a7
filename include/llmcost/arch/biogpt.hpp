// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/opt.hpp>

namespace llmcost::arch {

namespace biogpt_detail {

constexpr value attend(const site& here, trace& t, const value& x) {
    qkv of = project_qkv(here, t, x);
    split_heads(here, of);
    heads_first(of);
    remember(here, t, of);
    return join(here, t, look_up(here, t, of, {.float_softmax = false}));
}

/// The feed-forward block's children are the layer's own.
constexpr value layer(const site& here, trace& t, const value& x) {
    using opt_detail::of_feed_forward;
    const std::int64_t width = here.dims.hidden_size, inner = here.dims.intermediate_size;
    value h = mixed(here, t, normed(here, t, "self_attn_layer_norm", x));
    const value middle = add_dropped_residual(here, t, x, h);
    h = normed(here, t, "final_layer_norm", middle);
    h = t.call("fc1", of_feed_forward<linear>{{width, inner, true}}, h);
    h = t.call("activation_fn", of_feed_forward<activation_module>{{here.dims.hidden_act}}, h);
    h = t.call("fc2", of_feed_forward<linear>{{inner, width, true}}, drop(t, h, dropout_of::inner));
    return add_dropped_residual(here, t, middle, h);
}

/// A mask of ones that nothing else reads, and learned positions from the third row of their table on.
constexpr value embed(const site& here, trace& t) {
    const workload& load = t.load();
    const std::int64_t held = here.dims.max_position_embeddings, asked = load.past + load.sequence;
    const value words = embed_words_scaling(here, t);
    (void)t.constant({load.batch, asked});
    t.positions(held, asked);
    const embedding table{
        .rows = held + 2, .width = here.dims.hidden_size, .named = here.type("LearnedPositionalEmbedding")};
    return drop(t, t.add(words, t.call("embed_positions", table, extents{1, load.sequence})), dropout_of::hidden);
}

constexpr void read(config_view config, sizes& s) {
    plan_one_mask(config, s);
    share_among_heads(config, s, {"num_attention_heads"});
}

inline constexpr dropout_key dropout_rates[]{{dropout_of::hidden, "hidden_dropout_prob", 0.1},
                                             {dropout_of::attention, "attention_probs_dropout_prob", 0.1},
                                             {dropout_of::inner, "activation_dropout"},
                                             {dropout_of::classifier, "hidden_dropout", 0.1},
                                             {dropout_of::classifier, "classifier_dropout", as_before},
                                             {dropout_of::drawn, "layerdrop"}};

}  // namespace biogpt_detail

// transformers/models/biogpt: configuration_biogpt.py, modeling_biogpt.py; scaled words, learned positions
inline constexpr architecture biogpt = [](architecture a) {
    a.model_type = "biogpt", a.prefix = "BioGpt", a.read = biogpt_detail::read, a.heads = decoder_heads;
    a.embed = biogpt_detail::embed, a.layer = biogpt_detail::layer, a.attend = biogpt_detail::attend;
    a.norm = norm_kind::layer, a.rotated = rotation::none;
    a.names.base = "biogpt", a.names.lm_head = "output_projection", a.names.norm = "layer_norm";
    a.names.token_classifier = "classifier", a.names.o = "out_proj", a.names.embedding_type = "ScaledWordEmbedding";
    a.keys[0] = no_attention_bias, a.keys[1] = no_mlp_bias;
    a.defaults.vocab_size = 42384, a.defaults.hidden_size = 1024, a.defaults.intermediate_size = 4096;
    a.defaults.num_hidden_layers = 24, a.defaults.num_attention_heads = 16, a.defaults.max_position_embeddings = 1024;
    a.defaults.hidden_act = activation::gelu, a.defaults.tie_word_embeddings = true;
    a.defaults.attention_bias = true;
    a.keys[2] = no_key_value_heads;
    a.drops = biogpt_detail::dropout_rates;
    return a;
}(shared_decoder);

}  // namespace llmcost::arch
