// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/reading/reader.hpp>
#include <llmcost/walks/decoder.hpp>

namespace llmcost::arch {

namespace ctrl_detail {

constexpr value attend(const site& here, trace& t, const value& x) {
    qkv of = project_qkv(here, t, x);
    split_heads(here, of);
    heads_first(of);
    remember(here, t, of);
    return join(here, t, look_up(here, t, of, {.float_softmax = false}));
}

/// Classes of this family's parts have no prefix.
constexpr value layer(const site& here, trace& t, const value& x) {
    const std::int64_t width = here.dims.hidden_size, inner = here.dims.intermediate_size;
    const module_info attention{.name = "multi_head_attention", .type = {"", "MultiHeadAttention"}, .what = role::attn};
    const module_info block{.name = "ffn", .type = {"", "Sequential"}, .what = role::mlp};
    value h = normed(here, t, "layernorm1", x);
    t.enter(attention);
    h = t.leave(attention, ctrl_detail::attend(here, t, h));
    const value middle = t.add(x, dropout(t, "dropout1", h));
    h = normed(here, t, "layernorm2", middle);
    t.enter(block);
    h = t.call("1", activation_module{activation::relu}, t.call("0", linear{width, inner, true}, h));
    h = t.leave(block, t.call("2", linear{inner, width, true}, h));
    return t.add(middle, dropout(t, "dropout2", h));
}

/// Words scaled in place, sines and cosines of their positions, and the zero of segments that there are none of.
constexpr value embed(const site& here, trace& t) {
    const workload& load = t.load();
    const std::int64_t held = here.dims.max_position_embeddings, width = here.dims.hidden_size;
    value words = embed_words(here, t);
    t.in_place(op::mul, words);
    t.positions(held, load.past + load.sequence);
    value table = trace::buffer({held, width});
    table.type = words.type;  // `self.pos_encoding.to(dtype=inputs_embeds.dtype)`
    const value places = t.gather(table, {1, load.sequence, width});
    return dropout(t, "dropout", t.add(t.add(words, places)), dropout_of::embeddings);
}

constexpr value base(const site& here, trace& t) {
    value x = here.row.embed(here, t);
    const decoder_context shared = here.row.prepare(here, t);
    for (repetition each = t.repeat(here.dims.num_hidden_layers, here.dims.layers, x); each.next();) {
        const module_info whole{.name = "h", .index = each.index(), .type = {"", "EncoderLayer"}};
        t.enter(whole);
        x = t.leave(whole, layer(here.at(each, shared.of(each.kind())), t, x));
    }
    return normed(here, t, "layernorm", x);
}

constexpr void read(config_view config, sizes& s) {
    plan_one_mask(config, s);
    share_among_heads(config, s, {"n_head", "num_attention_heads"});
}

inline constexpr dropout_key dropout_rates[]{{dropout_of::hidden, "resid_pdrop", 0.1},
                                             {dropout_of::embeddings, "embd_pdrop", 0.1}};

}  // namespace ctrl_detail

// transformers/models/ctrl: configuration_ctrl.py, modeling_ctrl.py; sinusoidal positions, a head with a bias
inline constexpr architecture ctrl = [](architecture a) {
    a.model_type = "ctrl", a.prefix = "CTRL", a.read = ctrl_detail::read, a.heads = language_heads;
    a.base = ctrl_detail::base, a.embed = ctrl_detail::embed;
    a.norm = norm_kind::layer, a.rotated = rotation::none;
    a.names.base = "transformer", a.names.causal_lm_type = "LMHeadModel", a.names.embed_tokens = "w";
    a.names.q = "Wq", a.names.k = "Wk", a.names.v = "Wv", a.names.o = "dense";
    a.keys[0] = {"hidden_size", "n_embd", key_rule::standard_first};
    a.keys[1] = {"max_position_embeddings", "n_positions", key_rule::standard_first};
    a.keys[2] = {"num_attention_heads", "n_head", key_rule::standard_first};
    a.keys[3] = {"num_hidden_layers", "n_layer", key_rule::standard_first};
    a.keys[4] = {"intermediate_size", "dff", key_rule::written_only};
    a.keys[5] = no_attention_bias, a.keys[6] = no_mlp_bias;
    a.defaults.vocab_size = 246534, a.defaults.hidden_size = 1280, a.defaults.intermediate_size = 8192;
    a.defaults.num_hidden_layers = 48, a.defaults.num_attention_heads = 16, a.defaults.max_position_embeddings = 256;
    a.defaults.tie_word_embeddings = a.defaults.head_bias = true;
    a.defaults.attention_bias = true;
    a.keys[7] = no_key_value_heads;
    a.drops = ctrl_detail::dropout_rates;
    return a;
}(shared_decoder);

}  // namespace llmcost::arch
