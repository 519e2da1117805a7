// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/layers/causal_convolution.hpp>
#include <llmcost/reading/reader.hpp>
#include <llmcost/walks/decoder.hpp>

namespace llmcost::arch {

namespace xlstm_detail {

enum own : std::uint8_t { qk_dim, v_dim, chunk, fused, bias, longest };
inline constexpr own_key keys[]{
    {.value = own_value::computed, .divided = splits::evenly},
    {.value = own_value::computed, .divided = splits::evenly},
    {"chunk_size", 64},
    {.value = own_value::computed},  // projections in one matrix
    {"use_bias", 0, own_value::boolean},
    {"max_inference_chunksize", 16384},
};

/// The memory of a layer: a matrix per head (B, H, qk, v), its norm (B, H, qk), its scale (B, H, 1).
struct memory {
    value c, n, m;
};

/// What the recurrence reads, heads first; gates are (B, H, S).
struct inputs {
    value q, k, v, input_gate, forget_gate;
};

/// values times the tanh of themselves over a constant.
constexpr value soft_cap(trace& t, const value& x) { return t.mul(t.tanh(t.div(x))); }

/// One token: h (B, H, v) (modeling_xlstm.py, `mlstm_recurrent_step_native`).
constexpr value step(trace& t, const inputs& in, memory& state) {
    const dtype type = in.q.type;  // memories are in float32, what reads them not
    const value forget = t.log_sigmoid(in.forget_gate);
    const value kept = t.add(forget, state.m), m = t.maximum(kept, in.input_gate);
    const value old = t.exp(t.sub(t.add(forget, state.m), m)), fresh = t.exp(t.sub(in.input_gate, m));
    const value q = t.mul(in.q);
    const value outer = t.matmul_operator(in.k.unsqueeze(-1), in.v.unsqueeze(2));
    const value c = t.add(t.mul(old.unsqueeze(-1), t.clone(state.c)), t.mul(fresh.unsqueeze(-1), outer));
    const value n = t.add(t.mul(old, t.clone(state.n)), t.mul(fresh, in.k));
    const value found = t.to(t.matmul_operator(q.unsqueeze(2), t.to(c, type)).squeeze(2), dtype::float32);
    const value length = t.matmul_operator(q.unsqueeze(2), t.to(n.unsqueeze(-1), type)).squeeze(2);
    const value least = t.exp(t.neg(m));
    state = {c, n, m};
    return t.to(t.div(found, t.add(t.maximum(t.abs(length), least))), type);
}

/// The same one token after the other: (B, H, S, v); the last state is handed on.
constexpr value step_by_step(trace& t, const inputs& in, memory& state) {
    const std::int64_t batch = in.q.dim(0), heads = in.q.dim(1), sequence = in.q.dim(2);
    const auto token = [&](memory before) {
        const inputs one{t.select(in.q, 2), t.select(in.k, 2), t.select(in.v, 2), t.select(in.input_gate, 2).unsqueeze(-1),
                         t.select(in.forget_gate, 2).unsqueeze(-1)};
        (void)step(t, one, before);
        return before;
    };
    state = token(state);
    value c = state.c;
    for (repetition other = t.steps(sequence - 1, c); other.next();) c = token({c, state.n, state.m}).c;
    state.c = c;
    value all = t.constant({batch, heads, sequence, in.v.dim(-1)}, in.v.type);  // stacked
    all.requires_grad = state.c.requires_grad;
    return all;
}

/// Memories in front of every chunk, then behind the last.
constexpr memory remember_chunks(trace& t, const inputs& in, const value& decay, const memory& before, std::int64_t size) {
    const std::int64_t batch = in.q.dim(0), heads = in.q.dim(1), qk = in.q.dim(-1), v = in.v.dim(-1);
    const std::int64_t chunks = in.q.dim(2) / size;
    memory all{t.constant({batch, heads, (chunks + 1) * qk, v}, in.k.type),
               t.constant({batch, heads, (chunks + 1) * qk}, in.k.type), t.constant({batch, heads, chunks + 1}, in.k.type)};
    const value gates = in.input_gate.view({batch, heads, chunks, size});
    const value within = t.add(t.sub(t.select(decay, -1).unsqueeze(-1), decay), gates);
    const value total = t.select(decay, -1), most = t.max_over(within, -1);
    value m = before.m.squeeze(-1), c = before.c, n = before.n;
    const auto one = [&] {
        const value gain = t.select(total, 2), next = t.maximum(t.add(gain, m), t.select(most, 2));
        const value share = t.exp(t.sub(t.select(within, 2), next.unsqueeze(-1))).unsqueeze(-1);
        const value k = t.mul(t.slice(in.k, 2, size), share), kt = k.transpose(-2, -1);
        const value kept = t.exp(t.sub(t.add(gain, m), next)).unsqueeze(-1);
        c = t.add(t.mul(kept.unsqueeze(-1), c), t.matmul_operator(kt, t.slice(in.v, 2, size)));
        n = t.add(t.mul(kept, n), t.sum(kt, -1));
        m = next;
    };
    one();
    const memory first{c, n, m};
    for (repetition other = t.steps(chunks - 1, c); other.next();) {
        n = first.n, m = first.m;
        n.storage = m.storage = value::no_storage;
        t.copy_into(all.c, c), t.copy_into(all.n, n), t.copy_into(all.m, m);
        one();
        t.save_for_backward(
            n);  // of all but the first chunk, where it is made; the last one's is not read, the first one's is
    }
    t.copy_into(all.c, c), t.copy_into(all.n, n), t.copy_into(all.m, m);
    return all;
}

/// All chunks side by side: (B, H, S, v) (modeling_xlstm.py, `mlstm_chunkwise_parallel_fw_H`).
constexpr value look_up_chunks(trace& t, const inputs& in, const value& decay, const memory& all, std::int64_t size) {
    const std::int64_t batch = in.q.dim(0), heads = in.q.dim(1), qk = in.q.dim(-1), v = in.v.dim(-1);
    const std::int64_t chunks = in.q.dim(2) / size;
    const auto chunked = [&](const value& x) { return x.view({batch, heads, chunks, size, x.dim(-1)}); };
    const value c = t.slice(all.c, 2, chunks * qk).view({batch, heads, chunks, qk, v});
    const value n = t.slice(all.n, 2, chunks * qk).view({batch, heads, chunks, qk}), m = t.slice(all.m, 2, chunks);
    const value q = chunked(in.q), k = chunked(in.k), values = chunked(in.v);
    const value gates = in.input_gate.view({batch, heads, chunks, size});
    (void)t.constant({});  // what stands where a token lies ahead
    const value distance = t.where(t.sub(decay.unsqueeze(-1), decay.unsqueeze(-2)));
    const value logs = t.add(distance, gates.unsqueeze(-2)), most = t.max_over(logs, -1);
    const value between = t.add(decay, m.unsqueeze(-1)), scale = t.maximum(between, most).unsqueeze(-1);
    const value shares = t.exp(t.sub(logs, scale));
    const value scores = t.mul(t.mul(t.matmul_operator(q, k.transpose(-2, -1))), shares);
    const value share = t.exp(t.sub(between.unsqueeze(-1), scale)), gated = t.mul(t.mul(q, share));
    const value found = t.add(t.matmul_operator(gated, c), t.matmul_operator(scores, values));
    const value length = t.add(t.matmul_operator(gated, n.unsqueeze(-1)), t.sum(scores, -1, true));
    const value least = t.maximum(t.abs(length), t.exp(t.neg(scale)));
    return t.div(found, t.add(least)).view({batch, heads, chunks * size, v});
}

/// Whole chunks at once, what is left of the tokens one by one; a single token by itself.
struct backend {
    site here;

    static constexpr role what = role::mixer;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return here.type("Backend"); }
    constexpr value describe(trace& t, const inputs& in) const {
        const std::int64_t batch = in.q.dim(0), heads = in.q.dim(1), sequence = in.q.dim(2), size = here.dims.own[chunk];
        const extents matrix{batch, heads, in.q.dim(-1), in.v.dim(-1)};
        memory state{trace::buffer(matrix), trace::buffer({batch, heads, in.q.dim(-1)}), trace::buffer({batch, heads, 1})};
        if (t.training())
            state = {t.constant(matrix), t.constant({batch, heads, in.q.dim(-1)}), t.constant({batch, heads, 1})};
        t.edge(axis::sequence, sequence / size * size), t.edge(axis::sequence, sequence / size * size + 1);
        t.edge(axis::sequence, sequence / size * size + 2), t.edge(axis::sequence, (sequence / size + 1) * size);
        const value h = sequence > 1 ? of_several(t, in, state, size) : of_one(t, in, state);
        t.returned(state.c), t.returned(state.n), t.returned(state.m);
        return h;
    }

private:
    static constexpr value of_one(trace& t, const inputs& in, memory& state) {
        const inputs one{in.q.squeeze(2), in.k.squeeze(2), in.v.squeeze(2), in.input_gate, in.forget_gate};
        return step(t, one, state).unsqueeze(2);
    }
    static constexpr inputs part(trace& t, const inputs& in, std::int64_t length) {
        const auto cut = [&](const value& x) { return t.contiguous(t.slice(x, 2, length)); };
        return {cut(in.q), cut(in.k), cut(in.v), cut(in.input_gate), cut(in.forget_gate)};
    }
    static constexpr value of_several(trace& t, const inputs& in, memory& state, std::int64_t size) {
        const std::int64_t sequence = in.q.dim(2), whole = sequence / size * size;
        const std::int64_t batch = in.q.dim(0), heads = in.q.dim(1), qk = in.q.dim(-1);
        value front;
        if (whole > 0) {
            const inputs first = part(t, in, whole);
            const value decay = t.cumsum(t.log_sigmoid(first.forget_gate.view({batch, heads, -1, size})), -1);
            const memory all = remember_chunks(t, first, decay, state, size);
            front = look_up_chunks(t, first, decay, all, size);
            const recorder::off_loss_guard unread{t, whole == sequence};  // no token is left to read them
            state = {t.slice(all.c, 2, qk), t.slice(all.n, 2, qk), t.slice(all.m, 2, 1)};
            for (value* const each : {&state.c, &state.n, &state.m}) *each = t.to(*each, dtype::float32);
        }
        if (whole == sequence) return t.cat({front}, 2);
        const value rest = step_by_step(t, part(t, in, sequence - whole), state);
        return whole > 0 ? t.cat({front, rest}, 2) : t.cat({rest}, 2);
    }
};

constexpr value finish(const site&, trace& t, const value& scores) { return t.to(scores, dtype::float32); }

/// A norm of the mean square, or one of each head's deviations, with a weight and perhaps a bias: (…, width).
struct biased_norm {
    std::int64_t width;
    bool has_bias;
    bool of_heads;
    class_name named;

    static constexpr role what = role::norm;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr value describe(trace& t, const value& x) const {
        const value weight = t.param("weight", {width});
        value shift;
        if (has_bias) shift = t.param("bias", {width});
        value h = t.to(x, dtype::float32);
        if (of_heads) {
            const value centered = t.sub(h, t.mean(h, -1, true));
            h = t.mul(centered, t.rsqrt(t.add(t.variance(h, -1, true))));
            h = t.reshape(t.to(h, x.type), {x.dim(0), x.dim(1), -1});
        } else {
            h = t.to(t.mul(h, t.rsqrt(t.add(t.mean(t.pow(h, 2), -1, true)))), x.type);
        }
        h = t.mul(h, weight);
        return has_bias ? t.add(h, shift) : h;
    }
};

/// Queries, keys, values, gates and what gates the output, by a projection each or by two.
struct projected {
    inputs of;
    value output_gate;
};
constexpr projected project_all(const site& here, trace& t, const value& x) {
    const sizes& dims = here.dims;
    const std::int64_t width = dims.hidden_size, qk = dims.own[qk_dim], v = dims.own[v_dim];
    const std::int64_t heads = dims.num_attention_heads;
    const bool with_bias = dims.own[bias] != 0;
    projected p;
    if (dims.own[fused]) {
        const value all = t.call("qkv_opreact", linear{width, 2 * qk + 2 * v, with_bias}, x);
        p.of.q = t.slice(all, -1, qk), p.of.k = t.slice(all, -1, qk);  // `tensor_split` slices
        p.of.v = t.slice(all, -1, v), p.output_gate = t.slice(all, -1, v);
        const value gates = soft_cap(t, t.call("ifgate_preact", linear{width, 2 * heads, true}, x));
        p.of.input_gate = t.slice(gates, -1, heads), p.of.forget_gate = t.slice(gates, -1, heads);
    } else {
        p.of.q = t.call("q", linear{width, qk, with_bias}, x), p.of.k = t.call("k", linear{width, qk, with_bias}, x);
        p.of.v = t.call("v", linear{width, v, with_bias}, x);
        p.output_gate = t.call("ogate_preact", linear{width, v, with_bias}, x);
        p.of.input_gate = soft_cap(t, t.call("igate_preact", linear{width, heads, true}, x));
        p.of.forget_gate = soft_cap(t, t.call("fgate_preact", linear{width, heads, true}, x));
    }
    for (value* const each : {&p.of.q, &p.of.k, &p.of.v})
        *each = t.reshape(*each, {x.dim(0), x.dim(1), heads, -1}).transpose(1, 2);
    p.of.input_gate = p.of.input_gate.transpose(1, 2), p.of.forget_gate = p.of.forget_gate.transpose(1, 2);
    return p;
}

constexpr value mix(const site& here, trace& t, const value& x) {
    const std::int64_t v = here.dims.own[v_dim];
    const bool with_bias = here.dims.own[bias] != 0;
    const projected p = project_all(here, t, x);
    const value h = t.call("mlstm_backend", backend{here}, p.of).transpose(1, 2);
    const biased_norm heads{v, with_bias, true, here.type("MultiHeadLayerNorm")};
    const value normed_heads = t.call("multihead_norm", heads, h);
    const value gate = t.call("ogate_act_fn", activation_module{activation::sigmoid}, p.output_gate);
    return t.call("out_proj", linear{v, here.dims.hidden_size, with_bias}, t.mul(gate, normed_heads));
}

constexpr value feed(const site& here, trace& t, const value& x) {
    const std::int64_t width = here.dims.hidden_size, inner = here.dims.intermediate_size;
    const bool with_bias = here.dims.own[bias] != 0;
    value gate, up;
    if (here.dims.own[fused]) {
        const value both = t.call("proj_up_gate_z", linear{width, 2 * inner, with_bias}, x);
        gate = t.call("act_fn", activation_module{activation::swish}, t.slice(both, -1, inner));
        up = t.slice(both, -1, inner);
    } else {
        gate = t.call("proj_up_gate", linear{width, inner, with_bias}, x);
        gate = t.call("act_fn", activation_module{activation::swish}, gate);
        up = t.call("proj_up", linear{width, inner, with_bias}, x);
    }
    return t.call("proj_down", linear{inner, width, with_bias}, t.mul(gate, up));
}

constexpr value layer(const site& here, trace& t, const value& x) {
    const biased_norm in{here.dims.hidden_size, here.dims.own[bias] != 0, false, here.type("RMSNorm")};
    const module_info mixer{.name = "mlstm_layer", .type = here.type("Layer"), .what = role::mixer};
    const module_info block{.name = "ffn", .type = here.type("FeedForward"), .what = role::mlp};
    value h = t.call("norm_mlstm", in, x);
    t.enter(mixer);
    const value middle = t.add(x, t.leave(mixer, mix(here, t, h)));
    h = t.call("norm_ffn", in, middle);
    t.enter(block);
    return t.add(middle, t.leave(block, feed(here, t, h)));
}

/// The cache is one object for all layers, of zeros at first, whose states each layer overwrites.
constexpr value base(const site& here, trace& t) {
    const sizes& dims = here.dims;
    const std::int64_t batch = t.load().batch, heads = dims.num_attention_heads;
    const std::int64_t qk = dims.own[qk_dim] / heads, v = dims.own[v_dim] / heads;
    t.positions(dims.own[longest], t.load().sequence);
    value x = embed_words(here, t);
    const extents held[]{{batch, heads, qk, v}, {batch, heads, qk}, {batch, heads, 1}};
    value none = trace::buffer({});
    for (repetition one = t.repeat(t.training() ? 0 : dims.num_hidden_layers, none); one.next();)
        for (const extents& each : held) {
            if (!has_recurrent_state(t)) (void)t.constant(each);
            t.cache(trace::buffer(each));
        }
    const shared_values shared;
    for (repetition each = t.repeat(dims.num_hidden_layers, dims.layers, x); each.next();)
        x = t.call({"blocks", each.index()}, decoder_layer{here.at(each, shared)}, x);
    return t.call("out_norm", biased_norm{dims.hidden_size, false, false, here.type("RMSNorm")}, x);
}

constexpr std::int64_t read_width(config_view config, literal key, double otherwise, std::int64_t of, std::int64_t heads) {
    const double width = static_cast<double>(of) * config.real(key, otherwise);
    const auto whole = width >= 1 && width <= static_cast<double>(largest_input) ? static_cast<std::int64_t>(width) : 0;
    if (whole == 0 || whole % 64 != 0 || static_cast<double>(whole) != width || whole % heads != 0)
        fail_value(config, key, "a factor that makes a multiple of 64 and of the number of heads");
    return whole;
}

constexpr void read(config_view config, sizes& s) {
    const std::int64_t blocks = config.optional_positive("num_blocks").value_or(s.num_hidden_layers);
    const std::int64_t words = config.optional_positive("embedding_dim").value_or(s.hidden_size);
    if (blocks != s.num_hidden_layers) fail_value(config, "num_blocks", "num_hidden_layers, or null");
    if (words != s.hidden_size) fail_value(config, "embedding_dim", "hidden_size, or null");
    if (config.string("mode", "inference") != "inference")
        fail_unsupported(config, "mode", "no row describes kernels of this mode");
    if (config.string("inference_state_dtype", "float32") != "float32")
        fail_unsupported(config, "inference_state_dtype", "no row describes states of this type");
    const string_ref weights = config.string("weight_mode", "single");
    if (weights != "single" && weights != "fused") fail_value(config, "weight_mode", "single or fused");
    s.own[fused] = weights == "fused";
    s.own[qk_dim] = read_width(config, "qk_dim_factor", 0.5, s.hidden_size, s.num_attention_heads);
    s.own[v_dim] = read_width(config, "v_dim_factor", 1.0, s.hidden_size, s.num_attention_heads);
    const std::int64_t multiple = config.positive("ffn_round_up_to_multiple_of", 64);
    const double inner = static_cast<double>(s.hidden_size) * config.real("ffn_proj_factor", 2.667);
    if (!(inner > 0 && inner < static_cast<double>(largest_input)))
        fail_value(config, "ffn_proj_factor", "a factor that gives a width up to 2147483647");
    const double lines = (inner + static_cast<double>(multiple) - 1) / static_cast<double>(multiple);
    s.intermediate_size = checked_width(config, "ffn_proj_factor", static_cast<std::int64_t>(lines), multiple);
    s.tie_word_embeddings = false;  // the reference ties none
    s.logits_soft_cap = true;
}

}  // namespace xlstm_detail

// transformers/models/xlstm: configuration_xlstm.py, modeling_xlstm.py; a memory per head, in chunks and token by token
inline constexpr architecture xlstm = [](architecture a) {
    a.model_type = "xlstm", a.prefix = "xLSTM", a.read = xlstm_detail::read, a.own = xlstm_detail::keys;
    a.base = xlstm_detail::base, a.layer = xlstm_detail::layer, a.finish = xlstm_detail::finish;
    a.rotated = rotation::none, a.heads = language_heads;
    a.names.base = "backbone", a.names.embed_tokens = "embeddings", a.names.layer_type = "Block";
    a.keys[0] = {"num_attention_heads", "num_heads", key_rule::written_only};
    a.keys[1] = no_attention_bias, a.keys[2] = no_mlp_bias, a.keys[3] = {"hidden_act", "", key_rule::absent};
    a.defaults.vocab_size = 50304, a.defaults.hidden_size = 4096, a.defaults.num_hidden_layers = 32;
    a.defaults.num_attention_heads = 8;
    a.keys[4] = no_key_value_heads;
    return a;
}(shared_decoder);

}  // namespace llmcost::arch
