// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/reading/reader.hpp>
#include <llmcost/walks/decoder.hpp>

namespace llmcost::arch {

namespace mpt_detail {

/// Biases by distance of all positions that there may be, (heads, 1, positions) (modeling_mpt.py,
/// `build_mpt_alibi_tensor`).
constexpr value biases(trace& t, std::int64_t heads, std::int64_t positions) {
    std::int64_t closest = 1;
    while (closest < heads) closest *= 2;
    const value base = t.mul(t.constant({closest}));
    value slopes = t.mul(t.unary(op::reciprocal, t.unary(op::power, base)));
    if (closest != heads) slopes = t.cat({slopes}, 0).slice(0, heads);
    return t.mul(slopes.view({heads, 1, 1}), trace::buffer({positions}));
}

/// Scores, biases by distance, and the lowest number where a mask hides them.
constexpr value look_up_by_distance(const site& here, trace& t, const qkv& of) {
    const shared_values& s = *here.shared;
    const recorder::fused_guard fused{t, fused_attention(of.q, of.k.dim(1), s.where, of.k.dim(2))};
    const bool sparse = t.load().attention == attention_scores::causal;
    value scores = t.mul(t.matmul(of.q, of.k.transpose(2, 3), sparse ? s.where.visible_pairs() : 0));
    scores = t.add(scores, s.own[0].slice(-1, of.k.dim(2)));
    if (!sparse) scores = t.where(scores);
    const value probabilities = t.to(t.softmax(t.to(scores, dtype::float32)), of.v.type);
    return t.contiguous(t.matmul(drop(t, probabilities, dropout_of::attention), of.v).transpose(1, 2));
}

constexpr value attend(const site& here, trace& t, const value& x) {
    const std::int64_t width = here.dims.hidden_size, batch = x.dim(0), sequence = x.dim(1), d = here.dims.head_dim;
    value all = t.call("Wqkv", linear{width, 3 * width}, x);
    if (here.dims.clips_qkv) all = t.unary(op::clamp, all);
    const value part = all.slice(-1, width).view({batch, sequence, here.dims.num_attention_heads, d}).transpose(1, 2);
    qkv of{part, part, part};
    remember(here, t, of);
    return t.call("out_proj", linear{width, width}, look_up_by_distance(here, t, of).view({batch, sequence, width}));
}

/// PyTorch's own module of the function.
struct gelu {
    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return {"", "GELU"}; }
    constexpr value describe(trace& t, const value& x) const { return activate(t, activation::gelu, x); }
};

/// The feed-forward block adds the residual itself.
constexpr value layer(const site& here, trace& t, const value& x) {
    const std::int64_t width = here.dims.hidden_size, inner = here.dims.intermediate_size;
    const norm<norm_kind::layer> without_bias{width, {}, true, false};
    value h = mixed(here, t, t.call("norm_1", without_bias, x));
    const value middle = t.add(dropout(t, "resid_attn_dropout", h, dropout_of::attention), x);
    h = t.call("norm_2", without_bias, middle);
    const module_info block{.name = "ffn", .type = here.type("MLP"), .what = role::mlp};
    t.enter(block);
    h = t.call("act", gelu{}, t.call("up_proj", linear{width, inner}, h));
    h = drop(t, t.call("down_proj", linear{inner, width}, h), dropout_of::attention);
    return t.leave(block, t.add(h, middle));
}

constexpr value base(const site& here, trace& t) {
    const value x = embed_words(here, t);
    const std::int64_t held = here.dims.max_position_embeddings;
    t.positions(held, t.load().past + t.load().sequence);
    const value by_distance = biases(t, here.dims.num_attention_heads, held);
    decoder_context shared = masks(here, t);
    shared.full.own[0] = shared.sliding.own[0] = by_distance;
    const norm<norm_kind::layer> without_bias{here.dims.hidden_size, {}, true, false};
    return t.call("norm_f", without_bias, describe_layers(here, t, shared, x));
}

/// What a file says of its attention stands in an object; that the block may be wider means nothing to the reference.
constexpr void read(config_view config, sizes& s) {
    plan_one_mask(config, s);
    share_among_heads(config, s, {"n_heads", "num_attention_heads"});
    s.intermediate_size = 4 * s.hidden_size;
    const auto attention = config.optional_object("attn_config");
    if (attention) put_rate(s.drops, dropout_of::attention, attention->real("attn_pdrop", 0));
    s.clips_qkv = attention && attention->real("clip_qkv", 0) != 0;
}

inline constexpr dropout_key dropout_rates[]{{dropout_of::classifier, "hidden_dropout", 0.1},
                                             {dropout_of::classifier, "classifier_dropout", as_before}};

}  // namespace mpt_detail

// transformers/models/mpt: configuration_mpt.py, modeling_mpt.py; linear biases by distance, norms without biases
inline constexpr architecture mpt = [](architecture a) {
    a.model_type = "mpt", a.prefix = "Mpt", a.read = mpt_detail::read, a.heads = decoder_heads;
    a.base = mpt_detail::base, a.layer = mpt_detail::layer, a.attend = mpt_detail::attend;
    a.norm = norm_kind::layer, a.rotated = rotation::none;
    a.names.base = "transformer", a.names.token_classifier = "classifier";
    a.names.embed_tokens = "wte", a.names.layers = "blocks", a.names.layer_type = "Block", a.names.attention = "attn";
    a.keys[0] = {"hidden_size", "d_model", key_rule::standard_first};
    a.keys[1] = {"num_attention_heads", "n_heads", key_rule::standard_first};
    a.keys[2] = {"num_hidden_layers", "n_layers", key_rule::standard_first};
    a.keys[3] = {"max_position_embeddings", "max_seq_len", key_rule::written_only};
    a.defaults.vocab_size = 50368, a.defaults.hidden_size = 2048, a.defaults.num_hidden_layers = 24;
    a.defaults.num_attention_heads = 16, a.defaults.max_position_embeddings = 2048;
    a.defaults.hidden_act = activation::gelu, a.defaults.tie_word_embeddings = true;
    a.keys[4] = no_key_value_heads;
    a.drops = mpt_detail::dropout_rates;
    return a;
}(shared_decoder);

}  // namespace llmcost::arch
