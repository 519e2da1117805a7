// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/gemma.hpp>
#include <llmcost/layers/causal_convolution.hpp>

namespace llmcost::arch {

namespace recurrent_gemma_detail {

enum own : std::uint8_t { kernel };
inline constexpr own_key keys[]{{"conv1d_width", 4}};

/// Whether the modules hold states of their own: `use_cache`, which a training step has not.
constexpr bool keeps_states(const trace& t) { return !t.training(); }

/// `torch.sqrt` with a backward of its own, which keeps what comes in (`SqrtBoundDerivative`).
constexpr value bounded_sqrt(trace& t, const value& a) {
    value plain = a;
    plain.requires_grad = false;
    value out = t.unary(op::sqrt, plain);
    if (!a.requires_grad) return out;
    t.save_for_backward(a);
    t.goes_through(out, a);
    t.backward({.mult = count(a.elements), .div = count(a.elements), .sqrt = count(a.elements), .cmp = count(a.elements)});
    return out;
}

/// A gate of each head's part of x: (heads, B · S, width) -> the sigmoid, (B, S, heads · width).
constexpr value gate_of(trace& t, const value& x, const value& weight, const value& bias, extents to) {
    const value all = t.bmm(op::batched_matmul_bias, x, weight, 0, &bias);
    t.gradient_arrives(bias.unsqueeze(1).expand({all.dim(0), all.dim(1), all.dim(2)}));
    return t.sigmoid(t.reshape(all.transpose(0, 1), to));
}

/// The recurrence h = a h + x over all steps, each result written into a tensor that exists.
constexpr value scan(trace& t, const value& x, const value& decay) {
    const std::int64_t batch = x.dim(0), sequence = x.dim(1), width = x.dim(2);
    const dtype type = dtype::float32;
    if (sequence == 1) {
        if (!keeps_states(t)) return x;
        value state = t.mul(t.to(decay, type), trace::buffer({batch, 1, width}));
        t.in_place(op::add, state, t.to(x, type));
        return t.to(state, x.type);
    }
    value state = keeps_states(t) ? trace::buffer({batch, width}) : t.constant({batch, width}, type);
    value all = t.zeros_like(x);
    const auto step = [&] {
        state = t.mul(t.to(t.select(decay, 1), type), state);
        state = t.add(state, t.to(t.select(x, 1), type));
        t.copy_into(all, t.to(state, x.type));
    };
    step();
    for (repetition each = t.steps(sequence - 1, state); each.next();) step();
    return all;
}

/// The real-gated linear recurrent unit; (B, S, width) -> the same.
///
/// Source: `RecurrentGemmaRglru`.
struct gated_unit {
    const site& here;

    static constexpr role what = role::mixer;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return here.type("Rglru"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = x.dim(2), heads = here.dims.num_attention_heads, d = width / heads;
        const extents sizes{x.dim(0), x.dim(1), width};
        const value rate = t.param("recurrent_param", {width});
        const value in_weight = t.param("input_gate_weight", {heads, d, d}),
                    in_bias = t.param("input_gate_bias", {heads, d});
        const value weight = t.param("recurrent_gate_weight", {heads, d, d});
        const value bias = t.param("recurrent_gate_bias", {heads, d});
        const value split = t.reshape(x, {x.dim(0) * x.dim(1), heads, d}).permute({1, 0, 2});
        const value in_gate = gate_of(t, split, in_weight, in_bias, sizes);
        const value gate = gate_of(t, split, weight, bias, sizes);
        const value log_decay = t.mul(t.mul(gate), t.softplus(rate));
        const value decay = t.exp(log_decay);
        const value squared = t.exp(t.mul(log_decay));
        const value gated = t.mul(x, in_gate);
        // the first position's factor is one: a mask multiplies, and another is added
        const value rest = t.unary(op::sub, squared);
        if (rest.requires_grad) t.backward({.neg = count(rest.elements)});
        const value factor = t.add(times_mask(t, bounded_sqrt(t, rest)));
        const value scaled = t.mul(gated, t.to(factor, x.type));
        return scan(t, scaled, times_mask(t, decay));
    }

private:
    /// A product with a mask of truth values.
    static constexpr value times_mask(trace& t, const value& x) { return t.mul(x); }
};

/// Two branches: an activation, and a short convolution in front of the recurrence.
///
/// Source: `RecurrentGemmaRecurrentBlock`.
struct recurrent_block {
    const site& here;

    static constexpr role what = role::mixer;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("RecurrentBlock"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, taps = here.dims.own[kernel];
        const value y =
            t.call("act_fn", activation_module{here.dims.hidden_act}, t.call("linear_y", linear{width, width, true}, x));
        const value h = t.call("linear_x", linear{width, width, true}, x).transpose(1, 2);
        const value mixed = convolved(t, h, taps).transpose(1, 2);
        const value out = t.mul(t.call("rg_lru", gated_unit{here}, mixed), y);
        return t.call("linear_out", linear{width, width, true}, out);
    }

private:
    constexpr value convolved(trace& t, const value& x, std::int64_t taps) const {
        const std::int64_t batch = x.dim(0), width = x.dim(1), sequence = x.dim(2);
        const module_info conv{.name = "conv_1d", .type = {"", "Conv1d"}, .leaf = true};
        if (keeps_states(t) && sequence == 1) {
            const convolution_weights of = declare_convolution(t, "conv_1d", width, taps, true);
            const value seen = t.cat({trace::buffer({batch, width, taps - 1}), x}, -1);
            const value sum = t.sum(t.mul(seen, of.weight.select(1)), -1);
            t.beside(of.bias);
            return t.add(sum).unsqueeze(-1);
        }
        if (keeps_states(t)) (void)t.constant({batch, width, taps - 1}, x.type);  // `F.pad` by less than nothing
        t.enter(conv);
        const value weight = t.param("weight", {width, 1, taps});
        t.beside(t.param("bias", {width}));
        const value wide = t.leave(conv, t.convolution(x, weight, true, width, 1, taps - 1));
        return t.slice(wide, -1, sequence);
    }
};

constexpr value recur(const site& here, trace& t, const value& x) {
    return t.call(here.row.names.recurrent, recurrent_block{here}, x);
}

/// Each layer makes its own rotary tables.
constexpr value attend(const site& here, trace& t, const value& x) {
    shared_values made = *here.shared;
    site there = here;
    there.shared = &made;
    qkv of = project_qkv(here, t, x);
    split_heads(here, of);
    heads_first(of);
    make_rotary_tables(here, t, made);
    turn(there, t, of);
    remember(there, t, of);
    return join(here, t, look_up(there, t, of));
}

constexpr value layer(const site& here, trace& t, const value& x) {
    const value h = mixed(here, t, normed(here, t, "temporal_pre_norm", x));
    const value middle = t.add(h, x);
    return t.add(here.row.feed(here, t, normed(here, t, "channel_pre_norm", middle)), middle);
}

/// States of the recurrent layers, the mask, whoever reads it, and embeddings times a factor that is kept in bfloat16.
constexpr value base(const site& here, trace& t) {
    const workload& load = t.load();
    const std::int64_t width = here.dims.hidden_size;
    value x = here.row.embed(here, t);
    if (keeps_states(t) && load.past == 0)
        for (std::int64_t i = 0; i < here.dims.num_hidden_layers; ++i) {
            if (here.dims.layers[i].mixer != mixer_kind::recurrent) continue;
            (void)t.constant({load.batch, width}), (void)t.constant({load.batch, width, here.dims.own[kernel] - 1}, x.type);
        }
    decoder_context c;
    c.sliding.where = context_of(t, here.dims.sliding_window);
    c.sliding.mask = eager_mask(t, c.sliding.where, load.batch);
    value factor = trace::buffer({1});
    factor.type = dtype::bfloat16;
    x = t.mul(x, t.to(factor, x.type));
    return normed(here, t, here.row.names.norm, describe_layers(here, t, c, x));
}

/// What this type returns has no `past_key_values`.
constexpr value describe(const site& here, trace& t) {
    const trace::dropped_cache_guard dropped{t};
    return describe_decoder(here, t);
}

constexpr void read(config_view config, sizes& s) {
    s.logits_soft_cap = true, s.output_bias = s.mlp_bias = true;
    s.intermediate_size /= 2;
    if (s.intermediate_size < 1) fail_value(config, "intermediate_size", "at least 2");
    if (s.frequencies != frequency_rule::kept)
        fail_unsupported(config, "rope_parameters", "this type has no other frequencies than default ones");
    const double part = detail::read_partial_rotary_factor(config, 0.5);
    s.rotary_dim = (static_cast<std::int64_t>(static_cast<double>(s.head_dim) * part) + 1) / 2 * 2;
    // the state of a convolution is as wide as the model (`RecurrentGemmaRecurrentBlock`)
    const auto lru = config.optional_integer("lru_width");
    if (lru && *lru != s.hidden_size) fail_value(config, "lru_width", "hidden_size, as states are that wide");
    if (s.hidden_size % s.num_attention_heads != 0) fail_value(config, "num_attention_heads", "a divisor of lru_width");
    const auto list = config.optional_array("block_types");
    if (list && list->size() == 0) fail_value(config, "block_types", "a list of words");
    plan_layers(config, s, [&](std::int64_t i) {
        const std::int64_t n = list ? static_cast<std::int64_t>(list->size()) : 3;
        const bool recurs = list ? (*list)[static_cast<std::size_t>(i % n)].as_string() == "recurrent" : i % n != 2;
        return layer_kind{recurs ? mixer_kind::recurrent : mixer_kind::sliding_attention};
    });
    // the reference asks an attention how long the cache is (cache_utils.py, `get_seq_length`)
    if (!s.layers.has(mixer_kind::sliding_attention, s.num_hidden_layers))
        fail_value(config, "block_types", "a list that gives one of the layers attention");
}

}  // namespace recurrent_gemma_detail

// transformers/models/recurrent_gemma: configuration_recurrent_gemma.py, modeling_recurrent_gemma.py; gated linear
// recurrences, every third layer sliding attention
inline constexpr architecture recurrent_gemma = [](architecture a) {
    a.model_type = "recurrent_gemma", a.prefix = "RecurrentGemma", a.heads = language_heads;
    a.describe = recurrent_gemma_detail::describe, a.base = recurrent_gemma_detail::base;
    a.embed = embed_words, a.layer = recurrent_gemma_detail::layer, a.recur = recurrent_gemma_detail::recur;
    a.attend = recurrent_gemma_detail::attend, a.read = recurrent_gemma_detail::read, a.own = recurrent_gemma_detail::keys;
    a.kinds = attention_kinds | mixer_kind::recurrent, a.joins_rotated = true;
    a.names.norm = "final_norm", a.names.attention = a.names.recurrent = "temporal_block";
    a.names.feed_forward = "mlp_block", a.names.mlp_type = "Mlp";
    a.keys[1] = {"hidden_act", "hidden_activation", key_rule::written_only};
    a.keys[2] = {"sliding_window", "attention_window_size"};
    a.keys[3] = {"max_position_embeddings", "", key_rule::absent};
    a.defaults = sizes{.vocab_size = 256000,
                       .hidden_size = 2560,
                       .intermediate_size = 7680,
                       .num_hidden_layers = 26,
                       .num_attention_heads = 10,
                       .sliding_window = 2048,
                       .hidden_act = activation::gelu_pytorch_tanh,
                       .tie_word_embeddings = true};
    return a;
}(gemma);

}  // namespace llmcost::arch
