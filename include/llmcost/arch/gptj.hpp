// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/gpt2.hpp>
#include <llmcost/layers/sinusoidal_rotary.hpp>

namespace llmcost::arch {

namespace gptj_detail {

/// Scores in float32, divided by a constant.
constexpr value look_up_in_float(const site& here, trace& t, const qkv& of) {
    const context& where = here.shared->where;
    const recorder::fused_guard fused{t, fused_attention(of.q, of.k.dim(1), where, of.k.dim(2))};
    const bool sparse = t.load().attention == attention_scores::causal;
    const value rows = t.to(of.q, dtype::float32), columns = t.to(of.k, dtype::float32).transpose(2, 3);
    value scores = t.div(t.matmul(rows, columns, sparse ? where.visible_pairs() : 0));
    if (!sparse) scores = t.add(scores, here.shared->mask);
    const value probabilities = dropout(t, "attn_dropout", t.to(t.softmax(scores), of.v.type), dropout_of::attention);
    return t.contiguous(t.matmul(probabilities, of.v).transpose(1, 2));
}

/// Part of each head is rotated by sines and cosines that every layer looks up.
constexpr value attend(const site& here, trace& t, const value& x) {
    const sizes& dims = here.dims;
    const std::int64_t width = dims.hidden_size, batch = x.dim(0), sequence = x.dim(1);
    qkv of = project_qkv(here, t, x);
    split_heads(here, of);
    const value sinusoids = pick_sinusoids(t, dims.max_position_embeddings, sequence, dims.rotary_dim);
    for (value* const each : {&of.q, &of.k}) {
        const value part = rotate_every_two(t, t.slice(*each, -1, dims.rotary_dim), sinusoids);
        *each = t.cat({part, t.slice(*each, -1, dims.head_dim - dims.rotary_dim)}, -1);
    }
    heads_first(of);
    remember(here, t, of);
    const value flat = look_up_in_float(here, t, of).view({batch, sequence, width});
    return dropout(t, "resid_dropout", t.call("out_proj", linear{width, width}, flat));
}

/// Attention and feed-forward block side by side.
constexpr value layer(const site& here, trace& t, const value& x) {
    const value h = normed(here, t, "ln_1", x);
    const value a = mixed(here, t, h);
    return t.add(t.add(a, here.row.feed(here, t, h)), x);
}

constexpr value feed(const site& here, trace& t, const value& x) {
    const std::int64_t width = here.dims.hidden_size, inner = here.dims.intermediate_size;
    const module_info block{.name = "mlp", .type = here.type("MLP"), .what = role::mlp};
    t.enter(block);
    value h = t.call("act", activation_module{here.dims.hidden_act}, t.call("fc_in", linear{width, inner, true}, x));
    return t.leave(block, dropout(t, "dropout", t.call("fc_out", linear{inner, width, true}, h)));
}

constexpr value embed(const site& here, trace& t) {
    return dropout(t, "drop", embed_words(here, t), dropout_of::embeddings);
}

constexpr void read(config_view config, sizes& s) {
    plan_one_mask(config, s);
    share_among_heads(config, s, {"n_head", "num_attention_heads"});
    if (s.intermediate_size == 0) s.intermediate_size = 4 * s.hidden_size;
    s.attention_bias = false;
    s.rotary_dim = config.contains("rotary_dim") ? config.positive("rotary_dim") : 64;
    if (s.rotary_dim > s.head_dim || s.rotary_dim % 2 != 0)
        fail_value(config, "rotary_dim", "an even number up to the elements of a head");
    if (s.head == head_kind::question_answering && s.num_labels != 2)
        fail_value(config, config.contains("num_labels") ? "num_labels" : "id2label",
                   "two labels, start and end of an answer");
}

inline constexpr dropout_key dropout_rates[]{
    {dropout_of::hidden, "resid_pdrop"}, {dropout_of::embeddings, "embd_pdrop"}, {dropout_of::attention, "attn_pdrop"}};

}  // namespace gptj_detail

// transformers/models/gptj: rotated pairs instead of learned positions, blocks side by side, a head with a bias
inline constexpr architecture gptj = [](architecture a) {
    a.model_type = "gptj", a.prefix = "GPTJ", a.read = gptj_detail::read, a.own = {};
    a.embed = gptj_detail::embed, a.prepare = masks, a.layer = gptj_detail::layer;
    a.attend = gptj_detail::attend, a.feed = gptj_detail::feed, a.rotated = rotation::interleaved;
    a.heads = {head_kind::none, head_kind::causal_lm, head_kind::sequence_classification, head_kind::question_answering};
    a.names.causal_lm_type = "ForCausalLM";
    a.defaults.vocab_size = 50400, a.defaults.hidden_size = 4096, a.defaults.num_hidden_layers = 28;
    a.defaults.num_attention_heads = 16, a.defaults.max_position_embeddings = 2048;
    a.defaults.head_bias = true, a.defaults.tie_word_embeddings = false;
    a.drops = gptj_detail::dropout_rates;
    return a;
}(gpt2);

}  // namespace llmcost::arch
