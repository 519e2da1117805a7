// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/reading/reader.hpp>
#include <llmcost/walks/decoder.hpp>

namespace llmcost::arch {

namespace rwkv_detail {

/// Words of kinds of layers: the first one, behind a norm of its own, and those whose result is halved.
inline constexpr std::uint8_t first = 1, halves = 2;

/// The token before each: (B, S, width), or the state (B, width) where there is one token.
///
/// The state has no dimension for tokens and broadcasts over those of a batch: one token of each of B sequences goes on as B
/// tokens of each (modeling_rwkv.py, `extract_key_value`).
constexpr value shifted(trace& t, const value& x) {
    const module_info shift{.name = "time_shift", .type = {"", "ZeroPad2d"}, .leaf = true};
    t.enter(shift);
    if (t.training() || x.dim(1) > 1) return t.leave(shift, t.pad(x, 1, 0));  // a zero in front, the last one cut off
    t.leave(shift);
    value state = trace::buffer({t.load().batch, x.dim(2)});
    state.type = x.type;
    return state;
}
/// x and the token before, in the shares that a parameter says.
constexpr value mixed(trace& t, const value& x, const value& before, const value& share) {
    value one = trace::buffer({});
    one.type = share.type;
    const value own = t.mul(x, share);
    return t.add(own, t.mul(before, t.sub(one, share)));
}

/// What a channel remembers: a weighted sum of values, that of the weights, the largest exponent.
struct memory {
    value sum, weights, largest;

    constexpr void forget_storages() noexcept { sum.storage = weights.storage = largest.storage = value::no_storage; }
};

/// One token after the other, as the reference does without its kernel (`rwkv_linear_attention_cpu`): (B, S, width).
constexpr value remember(trace& t, const value& decay, const value& bonus, const value& key, const value& v) {
    const extents sizes{key.dim(0), key.dim(2)};
    const std::int64_t sequence = key.dim(1);
    value out = t.constant({key.dim(0), sequence, key.dim(2)}, key.type);
    memory state{trace::buffer(sizes), trace::buffer(sizes), trace::buffer(sizes)};
    if (t.training()) {
        state = {t.constant(sizes), t.constant(sizes), {}};
        const value zeros = t.constant(sizes);
        state.largest = t.unary(op::sub, zeros);
    }
    const auto step = [&](const memory& before, bool read) {
        const value k = t.to(t.select(key, 1), dtype::float32), now = t.select(v, 1);
        const value most = t.maximum(before.largest, t.add(k, bonus));
        const value old = t.exp(t.sub(before.largest, most)), fresh = t.exp(t.sub(t.add(k, bonus), most));
        const value above = t.add(t.mul(old, before.sum), t.mul(fresh, now));
        const value below = t.add(t.mul(old, before.weights), fresh);
        t.copy_into(out, t.to(t.div(above, below), out.type));
        const recorder::off_loss_guard unread{t, !read};
        const value next = t.maximum(t.add(before.largest, decay), k);
        const value kept = t.exp(t.sub(t.add(before.largest, decay), next)), added = t.exp(t.sub(k, next));
        const value sum = t.add(t.mul(kept, before.sum), t.mul(added, now));
        memory after{sum, t.add(t.mul(kept, before.weights), added), next};
        if (read)
            for (const value& x : {after.sum, after.weights, after.largest}) t.save_for_backward(x);
        after.forget_storages();  // kept where they are made, by whom reads them next
        return after;
    };
    // the first states ask for no gradient, the others do; nothing reads the last ones
    state = step(state, sequence > 1);
    value none = trace::buffer({});
    for (repetition other = t.steps(sequence - 2, none); other.next();) (void)step(state, true);
    if (sequence > 1) (void)step(state, false);
    return out;
}

constexpr value mix_tokens(const site& here, trace& t, const value& x) {
    const std::int64_t width = here.dims.hidden_size;
    const module_info attention{.name = "attention", .type = here.type("SelfAttention"), .what = role::mixer};
    t.enter(attention);
    value decay;
    {
        const recorder::off_loss_guard unread{t, x.dim(1) == 1};  // no state decays
        decay = t.neg(t.exp(t.param("time_decay", {width})));
    }
    const value bonus = t.param("time_first", {width});
    const value key_share = t.param("time_mix_key", {1, 1, width}), value_share = t.param("time_mix_value", {1, 1, width});
    const value receptance_share = t.param("time_mix_receptance", {1, 1, width});
    const value before = shifted(t, x);
    value key = mixed(t, x, before, key_share), v = mixed(t, x, before, value_share);
    value receptance = mixed(t, x, before, receptance_share);
    key = t.call("key", linear{width, width}, key), v = t.call("value", linear{width, width}, v);
    receptance = t.sigmoid(t.call("receptance", linear{width, width}, receptance));
    const value found = remember(t, decay, bonus, key, v);
    return t.leave(attention, t.call("output", linear{width, width}, t.mul(receptance, found)));
}

constexpr value mix_channels(const site& here, trace& t, const value& x) {
    const std::int64_t width = here.dims.hidden_size, inside = here.dims.intermediate_size;
    const module_info block{.name = "feed_forward", .type = here.type("FeedForward"), .what = role::mlp};
    t.enter(block);
    const value key_share = t.param("time_mix_key", {1, 1, width});
    const value receptance_share = t.param("time_mix_receptance", {1, 1, width});
    const value before = shifted(t, x);
    const value key = mixed(t, x, before, key_share), receptance = mixed(t, x, before, receptance_share);
    const value h = t.pow(t.unary(torch_function::relu_function, op::relu, t.call("key", linear{width, inside}, key)), 2);
    const value v = t.call("value", linear{inside, width}, h);
    return t.leave(block, t.mul(t.sigmoid(t.call("receptance", linear{width, width}, receptance)), v));
}

struct block {
    site here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Block"); }
    constexpr value describe(trace& t, value x) const {
        const norm<norm_kind::layer> normed{here.dims.hidden_size};
        if ((here.kind.own & first) != 0) x = t.call("pre_ln", normed, x);
        x = t.add(x, mix_tokens(here, t, t.call("ln1", normed, x)));
        return t.add(x, mix_channels(here, t, t.call("ln2", normed, x)));
    }
};

/// States of all layers in one: the token before each block, and what its channels remember.
constexpr void keep_states(const site& here, trace& t) {
    if (t.training()) return;
    const extents sizes{t.load().batch, here.dims.hidden_size, here.dims.num_hidden_layers};
    const bool starts = t.load().past == 0;
    for (int i = 0; i < 5; ++i) {
        value state = starts ? t.constant(sizes) : trace::buffer(sizes);
        if (starts && i == 4) t.in_place(op::sub, state);
        t.cache(state);
    }
}

/// Layers are rescaled once, by the first pass of all; their results are halved in each.
constexpr value base(const site& here, trace& t) {
    const workload& load = t.load();
    if (!t.training() && load.sequence == 1 && load.batch > 1) t.formless();
    const embedding words{here.dims.vocab_size, here.dims.hidden_size};
    value x = t.call("embeddings", words, extents{load.batch, load.sequence});
    keep_states(here, t);
    const shared_values nothing;
    for (repetition each = t.repeat(here.dims.num_hidden_layers, here.dims.layers, x); each.next();) {
        x = t.call({"blocks", each.index()}, block{here.at(each, nothing)}, x);
        if ((each.kind().own & halves) != 0) x = t.div(x);
    }
    return t.call("ln_out", norm<norm_kind::layer>{here.dims.hidden_size}, x);
}

constexpr value describe(const site& here, trace& t) {
    const bool bare = here.dims.head == head_kind::none;
    const module_info inside{.name = bare ? "" : "rwkv", .type = here.type("Model")};
    if (bare) return describe_within(inside, base, here, t);
    const module_info whole{.type = here.type("ForCausalLM")};
    t.enter(whole);
    const value x = describe_within(inside, base, here, t);
    const recorder::idle_guard unused{t, t.load().head == logits::none};
    const linear head{here.dims.hidden_size, here.dims.vocab_size, false, here.dims.tie_word_embeddings};
    return t.leave(whole, t.returns(x, t.call("head", head_linear{head}, kept_positions(t, x))));
}

constexpr void read(config_view config, sizes& s) {
    if (s.intermediate_size == 0) s.intermediate_size = checked_width(config, "hidden_size", 4, s.hidden_size);
    if (config.optional_positive("attention_hidden_size").value_or(s.hidden_size) != s.hidden_size)
        fail_unsupported(config, "attention_hidden_size", "states are as wide as the model");
    const std::int64_t every = config.integer("rescale_every", 6);
    plan_layers(config, s, [&](std::int64_t i) {
        const bool rescaled = every > 0 && (i + 1) % every == 0;
        return layer_kind{.mixer = mixer_kind::recurrent,
                          .own = static_cast<std::uint8_t>((i == 0 ? first : 0) | (rescaled ? halves : 0))};
    });
}

}  // namespace rwkv_detail

// transformers/models/rwkv: configuration_rwkv.py, modeling_rwkv.py
inline constexpr architecture rwkv = [] {
    architecture a{.model_type = "rwkv", .prefix = "Rwkv", .describe = rwkv_detail::describe, .read = rwkv_detail::read};
    a.rotated = rotation::none;
    a.kinds = understood_kinds{} | mixer_kind::recurrent, a.kinds.own = rwkv_detail::first | rwkv_detail::halves;
    a.defaults.vocab_size = 50277, a.defaults.hidden_size = 4096, a.defaults.num_hidden_layers = 32;
    return a;
}();

}  // namespace llmcost::arch
