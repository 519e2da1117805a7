// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/layers/conv_1d.hpp>
#include <llmcost/reading/reader.hpp>
#include <llmcost/walks/decoder.hpp>

namespace llmcost::arch {

namespace openai_gpt_detail {

/// The word of the first layer, under whose name the activation stands that all layers call: one module, made once for the
/// whole file (modeling_openai.py, `ACT_FNS`).
inline constexpr std::uint8_t has_activation = 1;

/// Scores times a table of ones and zeros, and a low number where there are zeros.
constexpr value look_up_by_table(const site& here, trace& t, const qkv& of) {
    const context& where = here.shared->where;
    const std::int64_t sequence = of.q.dim(2);
    const recorder::fused_guard fused{t, fused_attention(of.q, of.k.dim(1), where, of.k.dim(2))};
    const bool sparse = t.load().attention == attention_scores::causal;
    value scores = t.div(t.matmul(of.q, of.k.transpose(2, 3), sparse ? where.visible_pairs() : 0));
    if (!sparse) {
        value table = trace::buffer({1, 1, sequence, sequence});
        table.type = scores.type;
        const value seen = t.mul(scores, table);
        scores = t.add(seen, t.mul(t.add(table)));
    }
    const value probabilities = dropout(t, "attn_dropout", t.softmax(scores), dropout_of::attention);
    return t.contiguous(t.matmul(probabilities, of.v).transpose(1, 2));
}

constexpr value attend(const site& here, trace& t, const value& x) {
    const std::int64_t width = here.dims.hidden_size, batch = x.dim(0), sequence = x.dim(1);
    const value all = t.call("c_attn", conv_1d{width, 3 * width}, x);
    const value part = all.slice(-1, width).view({batch, sequence, -1, here.dims.head_dim}).transpose(1, 2);
    const value flat = look_up_by_table(here, t, {part, part, part}).view({batch, sequence, width});
    return dropout(t, "resid_dropout", t.call("c_proj", conv_1d{width, width}, flat));
}

constexpr value feed(const site& here, trace& t, const value& x) {
    const std::int64_t width = here.dims.hidden_size, inner = here.dims.intermediate_size;
    value h = t.call("c_fc", conv_1d{width, inner}, x);
    if (here.kind.own == has_activation)
        for (repetition each = t.again(here.dims.num_hidden_layers, h); each.next();)
            h = t.call("act", activation_module{here.dims.hidden_act}, h);
    else if (here.dims.hidden_act == activation::relu)
        h.storage = value::no_storage;  // what it returns is kept where it is called
    return dropout(t, "dropout", t.call("c_proj", conv_1d{inner, width}, h));
}

/// Norms follow the residual sums; classes of this family's parts have no prefix.
constexpr value layer(const site& here, trace& t, const value& x) {
    const module_info attention{.name = "attn", .type = {"", "Attention"}, .what = role::attn};
    const module_info block{.name = "mlp", .type = {"", "MLP"}, .what = role::mlp};
    t.enter(attention);
    const value a = t.leave(attention, openai_gpt_detail::attend(here, t, x));
    const value middle = normed(here, t, "ln_1", t.add(x, a));
    t.enter(block);
    const value f = t.leave(block, feed(here, t, middle));
    return normed(here, t, "ln_2", t.add(middle, f));
}

/// Words, learned positions, and the zero of segments that there are none of; no cache, so that positions begin anew.
constexpr value base(const site& here, trace& t) {
    const workload& load = t.load();
    const std::int64_t held = here.dims.max_position_embeddings;
    const value words = embed_words(here, t);
    t.positions(held, load.sequence);
    const value places = t.call("positions_embed", embedding{held, here.dims.hidden_size}, extents{1, load.sequence});
    value x = dropout(t, "drop", t.add(t.add(words, places)), dropout_of::embeddings);
    shared_values shared{.where = {.sequence = load.sequence}};
    for (repetition each = t.repeat(here.dims.num_hidden_layers, here.dims.layers, x); each.next();) {
        const module_info whole{.name = "h", .index = each.index(), .type = {"", "Block"}};
        t.enter(whole);
        x = t.leave(whole, layer(here.at(each, shared), t, x));
    }
    return x;
}

constexpr void read(config_view config, sizes& s) {
    share_among_heads(config, s, {"n_head", "num_attention_heads"});
    s.intermediate_size = 4 * s.hidden_size;
    const string_ref name = config.string("afn", "gelu");
    if (name == "gelu")
        s.hidden_act = activation::gelu_new;
    else if (name == "relu")
        s.hidden_act = activation::relu;
    else if (name == "silu" || name == "swish")
        s.hidden_act = activation::silu;
    else
        fail_unsupported(config, "afn", "the reference has no such activation function");
    plan_layers(config, s, [](std::int64_t i) { return layer_kind{.own = i == 0 ? has_activation : std::uint8_t{}}; });
}

inline constexpr dropout_key dropout_rates[]{{dropout_of::hidden, "resid_pdrop", 0.1},
                                             {dropout_of::embeddings, "embd_pdrop", 0.1},
                                             {dropout_of::attention, "attn_pdrop", 0.1}};

}  // namespace openai_gpt_detail

// transformers/models/openai: configuration_openai.py, modeling_openai.py; norms behind sums, no cache
inline constexpr architecture openai_gpt = [](architecture a) {
    a.model_type = "openai-gpt", a.prefix = "OpenAIGPT", a.read = openai_gpt_detail::read;
    a.base = openai_gpt_detail::base, a.kinds.own = openai_gpt_detail::has_activation;
    a.heads = {head_kind::none, head_kind::causal_lm, head_kind::sequence_classification};
    a.norm = norm_kind::layer, a.rotated = rotation::none;
    a.names.base = "transformer", a.names.causal_lm_type = "LMHeadModel", a.names.embed_tokens = "tokens_embed";
    a.keys[0] = {"hidden_size", "n_embd", key_rule::standard_first};
    a.keys[1] = {"max_position_embeddings", "n_positions", key_rule::standard_first};
    a.keys[2] = {"num_attention_heads", "n_head", key_rule::standard_first};
    a.keys[3] = {"num_hidden_layers", "n_layer", key_rule::standard_first};
    a.keys[4] = {"hidden_act", "", key_rule::absent};
    a.defaults.vocab_size = 40478, a.defaults.hidden_size = 768, a.defaults.num_hidden_layers = 12;
    a.defaults.num_attention_heads = 12, a.defaults.max_position_embeddings = 512;
    a.defaults.tie_word_embeddings = true;
    a.keys[5] = no_key_value_heads;
    a.drops = openai_gpt_detail::dropout_rates;
    return a;
}(shared_decoder);

}  // namespace llmcost::arch
