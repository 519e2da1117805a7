// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/reading/reader.hpp>
#include <llmcost/walks/decoder.hpp>

namespace llmcost::arch {

namespace moshi_detail {

/// A linear layer inside of a module, beside which the depth decoder has one per codebook.
struct wrapped_linear {
    std::int64_t in;
    std::int64_t out;
    class_name named;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr value describe(trace& t, const value& x) const { return t.call("linear", linear{in, out}, x); }
};

/// A norm whose weight is cast to float32 first.
struct float_norm {
    std::int64_t width;
    class_name named;

    static constexpr role what = role::norm;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr value describe(trace& t, const value& x) const {
        const value weight = t.param("weight", {width});
        const value h = t.to(x, dtype::float32);
        const value out = t.mul(h, t.rsqrt(t.add(t.mean(t.pow(h, 2), -1, true))));
        return t.to(t.mul(out, t.to(weight, dtype::float32)), x.type);
    }
};
constexpr value normed_in_float(const site& here, trace& t, literal name, const value& x) {
    return t.call(name, float_norm{here.dims.hidden_size, here.type("RMSNorm")}, x);
}

constexpr value layer(const site& here, trace& t, const value& x) {
    const value middle = t.add(x, mixed(here, t, normed_in_float(here, t, "input_layernorm", x)));
    return t.add(middle, here.row.feed(here, t, normed_in_float(here, t, "post_attention_layernorm", middle)));
}

constexpr value base(const site& here, trace& t) {
    const value x = here.row.embed(here, t);
    return normed_in_float(here, t, "norm", describe_layers(here, t, here.row.prepare(here, t), x));
}

/// Every layer makes rotary tables of its own.
constexpr value attend(const site& here, trace& t, const value& x) {
    const sizes& dims = here.dims;
    const std::int64_t width = dims.hidden_size, d = dims.head_dim, wide = dims.num_attention_heads * d;
    const std::int64_t narrow = dims.num_key_value_heads * d;
    const class_name named = here.type("Linear");
    qkv of;
    of.q = t.call("q_proj", wrapped_linear{width, wide, named}, x);
    of.k = t.call("k_proj", wrapped_linear{width, narrow, named}, x);
    of.v = t.call("v_proj", wrapped_linear{width, narrow, named}, x);
    split_heads(here, of);
    heads_first(of);
    const rotary_table table{dims.rotary_dim, here.type(here.row.names.rotary_type), rotary_frequencies{dims}};
    const auto tables = t.call(here.row.names.rotary, table, t.load().sequence);
    for (value* const each : {&of.q, &of.k}) *each = rotate(t, rotation::half, *each, tables.first, tables.second);
    remember(here, t, of);
    return t.call("o_proj", wrapped_linear{wide, width, named}, look_up(here, t, of));
}

/// Gate and up in one projection, told apart by a dimension of their own.
constexpr value feed(const site& here, trace& t, const value& x) {
    const std::int64_t width = here.dims.hidden_size, inner = here.dims.intermediate_size;
    const module_info block{.name = "mlp", .type = here.type("GatingMLP"), .what = role::mlp};
    t.enter(block);
    const value both = t.call("fc1", linear{width, 2 * inner}, x).view({x.dim(0), x.dim(1), 2, inner});
    const value gate = t.call("activation_fn", activation_module{here.dims.hidden_act}, t.select(both, 2));
    return t.leave(block, t.call("fc2", linear{inner, width}, t.mul(gate, t.select(both, 2))));
}

/// One word more than the vocabulary has.
constexpr value embed(const site& here, trace& t) {
    const embedding words{here.dims.vocab_size + 1, here.dims.hidden_size};
    return t.call("embed_tokens", words, extents{t.load().batch, t.load().sequence});
}

constexpr void read(config_view config, sizes& s) {
    plan_one_mask(config, s);
    if (s.hidden_size % s.num_attention_heads != 0) fail_value(config, "num_attention_heads", "a divisor of hidden_size");
    if (s.intermediate_size % 2 != 0) fail_value(config, "ffn_dim", "an even number");
    s.intermediate_size /= 2;
    s.tie_word_embeddings = false;  // the table of words is longer than the head
}

}  // namespace moshi_detail

// transformers/models/moshi: configuration_moshi.py, modeling_moshi.py; the text decoder by itself
inline constexpr architecture moshi = [](architecture a) {
    a.model_type = "moshi", a.prefix = "Moshi", a.read = moshi_detail::read, a.heads = language_heads;
    a.embed = moshi_detail::embed, a.prepare = masks, a.attend = moshi_detail::attend, a.feed = moshi_detail::feed;
    a.base = moshi_detail::base, a.layer = moshi_detail::layer;
    a.keys[0] = {"intermediate_size", "ffn_dim", key_rule::written_only};
    a.keys[1] = no_attention_bias, a.keys[2] = no_mlp_bias;
    a.defaults.vocab_size = 32000, a.defaults.hidden_size = 4096, a.defaults.intermediate_size = 22528;
    a.defaults.num_hidden_layers = 32, a.defaults.num_attention_heads = 32, a.defaults.max_position_embeddings = 3000;
    a.defaults.sliding_window = 3000;
    return a;
}(shared_decoder);

}  // namespace llmcost::arch
