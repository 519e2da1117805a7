// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/mpt.hpp>

namespace llmcost::arch {

namespace cpmant_detail {

enum own : std::uint8_t { buckets, prompt_types, prompt_length, segment_types, drops, drops_blocks };
inline constexpr own_key keys[]{
    {"position_bias_num_buckets", 512}, {"prompt_types", 32}, {"prompt_length", 32}, {"segment_types", 32},
    {.value = own_value::computed},  // attention and feed-forward block have modules for dropout
    {.value = own_value::computed},  // the blocks around them, too
};

constexpr value dropped_if(trace& t, bool drops, const value& x) { return drops ? dropout(t, "dropout", x) : x; }

/// A softmax module.
struct softmax_module {
    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return {"", "Softmax"}; }
    constexpr value describe(trace& t, const value& x) const { return t.softmax(x); }
};

/// Scores with biases, masked before the softmax and after it.
constexpr value attend(const site& here, trace& t, const value& x) {
    const sizes& dims = here.dims;
    const std::int64_t batch = x.dim(0), sequence = x.dim(1), d = dims.head_dim, inner = dims.num_attention_heads * d;
    const shared_values& s = *here.shared;
    qkv of = project_qkv(here, t, x);
    split_heads(here, of);
    heads_first(of);
    remember(here, t, of);
    const auto hidden = [&](const value& scores) {
        (void)t.constant({});  // what stands where the mask hides
        return t.where(scores);
    };
    value mixed;
    {
        const recorder::fused_guard fused{t, fused_attention(of.q, of.k.dim(1), s.where, of.k.dim(2))};
        value scores = t.div(t.matmul(of.q, of.k.transpose(2, 3)));
        scores = hidden(t.call("softmax", softmax_module{}, hidden(t.add(scores, s.own[0]))));
        mixed = t.matmul(dropped_if(t, dims.own[drops], scores), of.v);
    }
    const value flat = t.contiguous(mixed.permute({0, 2, 1, 3})).view({batch, sequence, inner});
    return t.call("attention_out", linear{inner, dims.hidden_size}, flat);
}

constexpr value attention_block(const site& here, trace& t, const value& x) {
    const value h = normed(here, t, "layernorm_before_attention", x);
    return t.add(x, dropped_if(t, here.dims.own[drops_blocks], mixed(here, t, h)));
}

constexpr value gated(const site& here, trace& t, const value& x) {
    const linear wide{here.dims.hidden_size, here.dims.intermediate_size};
    const value gate = t.call("act", mpt_detail::gelu{}, t.call("w_0", wide, x));
    return t.mul(gate, t.call("w_1", wide, x));
}

constexpr value feed_block(const site& here, trace& t, const value& x) {
    const module_info block{.name = "ffn", .type = here.type("FeedForward"), .what = role::mlp};
    const module_info inside{.name = "w_in", .type = here.type("DenseGatedACT")};
    value h = normed(here, t, "layernorm_before_ffn", x);
    t.enter(block), t.enter(inside);
    h = dropped_if(t, here.dims.own[drops], t.leave(inside, gated(here, t, h)));
    h = t.leave(block, t.call("w_out", linear{here.dims.intermediate_size, here.dims.hidden_size}, h));
    return t.add(x, dropped_if(t, here.dims.own[drops_blocks], h));
}

constexpr value layer(const site& here, trace& t, const value& x) {
    const module_info attention{.name = "self_att", .type = here.type("SelfAttentionBlock")};
    const module_info feed{.name = "ffn", .type = here.type("FFNBlock")};
    t.enter(attention);
    const value middle = t.leave(attention, attention_block(here, t, x));
    t.enter(feed);
    return t.leave(feed, feed_block(here, t, middle));
}

/// Biases of distances and segments, (batch, heads, S, S): distances in logarithmic buckets, looked up in one table.
constexpr value position_biases(const site& here, trace& t, std::int64_t batch, std::int64_t sequence) {
    const std::int64_t segments = here.dims.own[segment_types], heads = here.dims.num_attention_heads;
    const module_info whole{.name = "position_bias", .type = here.type("SegmentPositionEmbedding"), .leaf = true};
    t.enter(whole);
    const value table = t.param("relative_attention_bias", {segments * segments + here.dims.own[buckets], heads});
    {
        const trace::no_grad_guard quiet{t};
        (void)t.mul(t.div(t.unary(op::log, t.div(t.constant({sequence, sequence})))));
    }
    const value found = t.gather(table, {batch, sequence, sequence, heads});
    return t.leave(whole, t.contiguous(found.permute({0, 3, 1, 2})));
}

/// A prompt of its own stands in front of the text, whose tokens see all of it and of each other.
constexpr value base(const site& here, trace& t) {
    const sizes& dims = here.dims;
    const std::int64_t batch = t.load().batch, prompt = dims.own[prompt_length], sequence = prompt + t.load().sequence;
    const extents ids{batch, sequence};
    const std::int64_t rows = dims.vocab_size + dims.own[prompt_types] * prompt;
    const value words = t.call("input_embedding", embedding{rows, dims.hidden_size}, ids);
    const value segments = t.call("segment_embedding", embedding{dims.own[segment_types], dims.hidden_size}, ids);
    value x = t.add(words, segments);
    (void)t.constant({batch, prompt});  // a mask's part
    shared_values shared;
    shared.where = {.sequence = sequence, .causal = false};
    shared.own[0] = position_biases(here, t, batch, sequence);
    const module_info encoder{.name = "encoder", .type = here.type("Encoder")};
    t.enter(encoder);
    for (repetition each = t.repeat(dims.num_hidden_layers, dims.layers, x); each.next();)
        x = t.call({"layers", each.index()}, decoder_layer{here.at(each, shared)}, x);
    x = t.leave(encoder, normed(here, t, "output_layernorm", x));
    return t.slice(x, 1, t.load().sequence);
}

constexpr void read(config_view config, sizes& s) {
    s.tie_word_embeddings = false;  // the head is as long as the vocabulary, the table longer
    const auto p = config.find("dropout_p");
    s.own[drops] = !p || !p->is_null();
    s.own[drops_blocks] = p && !p->is_null() && p->as_real() != 0;
    const std::int64_t prompt = s.own[prompt_length];
    if (checked_product(s.own[prompt_types], prompt) > largest_input - s.vocab_size)
        fail_value(config, "prompt_types", "a number of prompts that leaves the table of tokens below 2147483648 rows");
    (void)checked_width(config, "segment_types", s.own[segment_types], s.own[segment_types]);
}

inline constexpr dropout_key dropout_rates[]{{dropout_of::hidden, "dropout_p"}};

}  // namespace cpmant_detail

// transformers/models/cpmant: configuration_cpmant.py, modeling_cpmant.py; a prompt in front, biases of segments
inline constexpr architecture cpmant = [](architecture a) {
    a.model_type = "cpmant", a.prefix = "CpmAnt", a.read = cpmant_detail::read, a.own = cpmant_detail::keys;
    a.base = cpmant_detail::base, a.layer = cpmant_detail::layer, a.attend = cpmant_detail::attend;
    a.norm = norm_kind::rms_float_variance, a.rotated = rotation::none, a.heads = language_heads;
    a.names.base = "cpmant", a.names.layer_type = "TransformerBlock", a.names.norm_type = "LayerNorm";
    a.names.attention = "self_attention", a.names.q = "project_q", a.names.k = "project_k", a.names.v = "project_v";
    a.keys[0] = {"head_dim", "dim_head", key_rule::written_only};
    a.keys[1] = {"intermediate_size", "dim_ff", key_rule::written_only};
    a.keys[2] = {"num_key_value_heads", "", key_rule::absent};
    a.keys[3] = no_attention_bias, a.keys[4] = no_mlp_bias;
    a.keys[5] = {"hidden_act", "", key_rule::absent};
    a.defaults.vocab_size = 30720, a.defaults.hidden_size = 4096, a.defaults.intermediate_size = 10240;
    a.defaults.num_hidden_layers = 48, a.defaults.num_attention_heads = 32, a.defaults.head_dim = 128;
    a.keys[6] = no_key_value_heads;
    a.drops = cpmant_detail::dropout_rates;
    return a;
}(shared_decoder);

}  // namespace llmcost::arch
