// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/reader.hpp>
#include <llmcost/forward/decoder.hpp>
#include <llmcost/layers/causal_convolution.hpp>

namespace llmcost::arch {

namespace xlstm_detail {

enum family_config_index : std::uint8_t { qk_dim, v_dim, chunk, fused, bias, longest };
inline constexpr family_key family_keys[]{
    {.type = family_key_type::computed, .split = tensor_parallel_split::sharded},
    {.type = family_key_type::computed, .split = tensor_parallel_split::sharded},
    {"chunk_size", 64},
    {.type = family_key_type::computed},  // projections in one matrix
    {"use_bias", 0, family_key_type::boolean},
    {"max_inference_chunksize", 16384},
};

/// The memory of a layer: a matrix per head (B, H, qk, v), its norm (B, H, qk), its scale (B, H, 1).
struct memory {
    tensor c, n, m;
};

/// What the recurrence reads, heads first; gates are (B, H, S).
struct inputs {
    tensor q, k, v, input_gate, forget_gate;
};

/// values times the tanh of themselves over a constant.
constexpr tensor soft_cap(trace& t, const tensor& x) { return t.mul_scalar(t.tanh(t.div_scalar(x))); }

/// One token: h (B, H, v) (modeling_xlstm.py, `mlstm_recurrent_step_native`).
constexpr tensor step(trace& t, const inputs& in, memory& state) {
    const dtype type = in.q.type;  // memories are in float32, what reads them not
    const tensor forget = t.log_sigmoid(in.forget_gate);
    const tensor decayed = t.add(forget, state.m), m = t.maximum(decayed, in.input_gate);
    const tensor old = t.exp(t.sub(t.add(forget, state.m), m)), fresh = t.exp(t.sub(in.input_gate, m));
    const tensor q = t.mul_scalar(in.q);
    const tensor old_c = t.mul(old.unsqueeze(-1), t.clone(state.c));
    const tensor outer = t.matmul_operator(in.k.unsqueeze(-1), in.v.unsqueeze(2));
    const tensor c = t.add(old_c, t.mul(fresh.unsqueeze(-1), outer));
    const tensor old_n = t.mul(old, t.clone(state.n));
    const tensor n = t.add(old_n, t.mul(fresh, in.k));
    const tensor found = t.to(t.matmul_operator(q.unsqueeze(2), t.to(c, type)).squeeze(2), dtype::float32);
    const tensor length = t.matmul_operator(q.unsqueeze(2), t.to(n.unsqueeze(-1), type)).squeeze(2);
    const tensor minimum = t.exp(t.neg(m));
    state = {c, n, m};
    return t.to(t.div(found, t.add_scalar(t.maximum(t.abs(length), minimum))), type);
}

/// Computes the mLSTM token by token and returns the last state: (B, H, S, v).
constexpr tensor step_by_step(trace& t, const inputs& in, memory& state) {
    const std::int64_t batch = in.q.dim(0), heads = in.q.dim(1), sequence = in.q.dim(2);
    const auto token = [&](memory previous) {
        const inputs one{t.select(in.q, 2), t.select(in.k, 2), t.select(in.v, 2),
                         t.select(in.input_gate, 2).unsqueeze(-1), t.select(in.forget_gate, 2).unsqueeze(-1)};
        (void)step(t, one, previous);
        return previous;
    };
    state = token(state);
    tensor c = state.c;
    for (loop other_loop = t.loop_time_steps(sequence - 1, c); other_loop.next();) c = token({c, state.n, state.m}).c;
    state.c = c;
    tensor all = t.full({batch, heads, sequence, in.v.dim(-1)}, in.v.type);  // stacked
    all.requires_grad = state.c.requires_grad;
    return all;
}

/// Returns the memory states before each chunk, then the one after the last chunk.
constexpr memory compute_chunk_states(trace& t, const inputs& in, const tensor& decay, const memory& previous,
                                      std::int64_t size) {
    const std::int64_t batch = in.q.dim(0), heads = in.q.dim(1), qk = in.q.dim(-1), v = in.v.dim(-1);
    const std::int64_t chunks = in.q.dim(2) / size;
    memory all{t.full({batch, heads, (chunks + 1) * qk, v}, in.k.type),
               t.full({batch, heads, (chunks + 1) * qk}, in.k.type), t.full({batch, heads, chunks + 1}, in.k.type)};
    const tensor gates = in.input_gate.view({batch, heads, chunks, size});
    const tensor intra_chunk = t.add(t.sub(t.select(decay, -1).unsqueeze(-1), decay), gates);
    const tensor total = t.select(decay, -1), maximum = t.amax(intra_chunk, -1);
    tensor m = previous.m.squeeze(-1), c = previous.c, n = previous.n;
    const auto one = [&] {
        const tensor chunk_maximum = t.select(maximum, 2), gain = t.select(total, 2);
        const tensor next = t.maximum(t.add(gain, m), chunk_maximum);
        const tensor chunk_k = t.slice(in.k, 2, size), chunk_v = t.slice(in.v, 2, size);
        const tensor share = t.exp(t.sub(t.select(intra_chunk, 2), next.unsqueeze(-1))).unsqueeze(-1);
        const tensor k = t.mul(chunk_k, share), kt = k.transpose(-2, -1);
        const tensor decayed = t.exp(t.sub(t.add(gain, m), next)).unsqueeze(-1);
        const tensor decayed_c = t.mul(decayed.unsqueeze(-1), c);
        c = t.add(decayed_c, t.matmul_operator(kt, chunk_v));
        const tensor decayed_n = t.mul(decayed, n);
        n = t.add(decayed_n, t.sum(kt, -1));
        m = next;
    };
    one();
    const memory first{c, n, m};
    for (loop other_loop = t.loop_time_steps(chunks - 1, c); other_loop.next();) {
        n = first.n;
        m = first.m;
        n.storage_id = m.storage_id = tensor::no_storage_id;
        t.copy_into_slice(all.c, c);
        t.copy_into_slice(all.n, n);
        t.copy_into_slice(all.m, m);
        one();
        t.save_for_backward(
            n);  // of all but the first chunk, where it is made; the last one's is not read, the first one's is
    }
    t.copy_into_slice(all.c, c);
    t.copy_into_slice(all.n, n);
    t.copy_into_slice(all.m, m);
    return all;
}

/// All chunks side by side: (B, H, S, v) (modeling_xlstm.py, `mlstm_chunkwise_parallel_fw_H`).
constexpr tensor chunkwise_output(trace& t, const inputs& in, const tensor& decay, const memory& all,
                                  std::int64_t size) {
    const std::int64_t batch = in.q.dim(0), heads = in.q.dim(1), qk = in.q.dim(-1), v = in.v.dim(-1);
    const std::int64_t chunks = in.q.dim(2) / size;
    const auto chunked = [&](const tensor& x) { return x.view({batch, heads, chunks, size, x.dim(-1)}); };
    const tensor c = t.slice(all.c, 2, chunks * qk).view({batch, heads, chunks, qk, v});
    const tensor n = t.slice(all.n, 2, chunks * qk).view({batch, heads, chunks, qk}), m = t.slice(all.m, 2, chunks);
    const tensor q = chunked(in.q), k = chunked(in.k), values = chunked(in.v);
    const tensor gates = in.input_gate.view({batch, heads, chunks, size});
    (void)t.full({});  // fill value of masked future tokens
    const tensor distance = t.masked_fill(t.sub(decay.unsqueeze(-1), decay.unsqueeze(-2)));
    const tensor logs = t.add(distance, gates.unsqueeze(-2)), maximum = t.amax(logs, -1);
    const tensor inter_chunk = t.add(decay, m.unsqueeze(-1)), scale = t.maximum(inter_chunk, maximum).unsqueeze(-1);
    const tensor shares = t.exp(t.sub(logs, scale));
    const tensor scores = t.mul(t.mul_scalar(t.matmul_operator(q, k.transpose(-2, -1))), shares);
    const tensor share = t.exp(t.sub(inter_chunk.unsqueeze(-1), scale)), gated = t.mul_scalar(t.mul(q, share));
    const tensor inter_chunk_output = t.matmul_operator(gated, c);
    const tensor found = t.add(inter_chunk_output, t.matmul_operator(scores, values));
    const tensor inter_chunk_length = t.matmul_operator(gated, n.unsqueeze(-1));
    const tensor length = t.abs(t.add(inter_chunk_length, t.sum(scores, -1, true)));
    const tensor minimum = t.maximum(length, t.exp(t.neg(scale)));
    return t.div(found, t.add_scalar(minimum)).view({batch, heads, chunks * size, v});
}

/// Whole chunks at once, what is left of the tokens one by one; a single token by itself.
struct backend {
    layer_context ctx;

    static constexpr role module_role = role::mixer;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Backend"); }
    constexpr tensor forward(trace& t, const inputs& in) const {
        const std::int64_t batch = in.q.dim(0), heads = in.q.dim(1), sequence = in.q.dim(2),
                           size = ctx.config.family[chunk];
        const shape matrix{batch, heads, in.q.dim(-1), in.v.dim(-1)};
        memory state{trace::buffer(matrix), trace::buffer({batch, heads, in.q.dim(-1)}),
                     trace::buffer({batch, heads, 1})};
        if (t.is_training()) state = {t.full(matrix), t.full({batch, heads, in.q.dim(-1)}), t.full({batch, heads, 1})};
        t.add_region_edge(workload_axis::sequence, sequence / size * size);
        t.add_region_edge(workload_axis::sequence, sequence / size * size + 1);
        t.add_region_edge(workload_axis::sequence, sequence / size * size + 2);
        t.add_region_edge(workload_axis::sequence, (sequence / size + 1) * size);
        const tensor h = sequence > 1 ? scan_states(t, in, state, size) : step_state(t, in, state);
        t.record_module_output(state.c);
        t.record_module_output(state.n);
        t.record_module_output(state.m);
        return h;
    }

private:
    static constexpr tensor step_state(trace& t, const inputs& in, memory& state) {
        const inputs one{in.q.squeeze(2), in.k.squeeze(2), in.v.squeeze(2), in.input_gate, in.forget_gate};
        return step(t, one, state).unsqueeze(2);
    }
    static constexpr inputs part(trace& t, const inputs& in, std::int64_t length) {
        const auto cut = [&](const tensor& x) { return t.contiguous(t.slice(x, 2, length)); };
        return {cut(in.q), cut(in.k), cut(in.v), cut(in.input_gate), cut(in.forget_gate)};
    }
    static constexpr tensor scan_states(trace& t, const inputs& in, memory& state, std::int64_t size) {
        const std::int64_t sequence = in.q.dim(2), full_length = sequence / size * size;
        const std::int64_t batch = in.q.dim(0), heads = in.q.dim(1), qk = in.q.dim(-1);
        tensor front;
        if (full_length > 0) {
            const inputs first = part(t, in, full_length);
            const tensor decay = t.cumsum(t.log_sigmoid(first.forget_gate.view({batch, heads, -1, size})), -1);
            const memory all = compute_chunk_states(t, first, decay, state, size);
            front = chunkwise_output(t, first, decay, all, size);
            const recorder::detach_guard unread{t, full_length == sequence};  // no token is left to read them
            state = {t.slice(all.c, 2, qk), t.slice(all.n, 2, qk), t.slice(all.m, 2, 1)};
            for (tensor* const x : {&state.c, &state.n, &state.m}) *x = t.to(*x, dtype::float32);
        }
        if (full_length == sequence) return t.cat({front}, 2);
        const tensor rest = step_by_step(t, part(t, in, sequence - full_length), state);
        return full_length > 0 ? t.cat({front, rest}, 2) : t.cat({rest}, 2);
    }
};

constexpr tensor process_logits(const layer_context&, trace& t, const tensor& scores) {
    return t.to(scores, dtype::float32);
}

/// A norm of the mean square, or one of each head's deviations, with a weight and perhaps a bias: (…, width).
struct biased_norm {
    std::int64_t width;
    bool has_bias;
    bool is_multi_head;
    class_name named;

    static constexpr role module_role = role::norm;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor weight = t.param("weight", {width});
        tensor shift;
        if (has_bias) shift = t.param("bias", {width});
        tensor h = t.to(x, dtype::float32);
        if (is_multi_head) {
            const tensor centered = t.sub(h, t.mean(h, -1, true));
            h = t.mul(centered, t.rsqrt(t.add_scalar(t.var(h, -1, true))));
            h = t.reshape(t.to(h, x.type), {x.dim(0), x.dim(1), -1});
        } else {
            h = t.to(t.mul(h, t.rsqrt(t.add_scalar(t.mean(t.pow(h, 2), -1, true)))), x.type);
        }
        h = t.mul(h, weight);
        return has_bias ? t.add(h, shift) : h;
    }
};

/// Queries, keys, values, gates and what gates the output, by a projection each or by two.
struct projected {
    inputs mlstm_inputs;
    tensor output_gate;
};
constexpr projected project_all(const layer_context& ctx, trace& t, const tensor& x) {
    const model_config& config = ctx.config;
    const std::int64_t width = config.hidden_size, qk = config.family[qk_dim], v = config.family[v_dim];
    const std::int64_t heads = config.num_attention_heads;
    const bool with_bias = config.family[bias] != 0;
    projected p;
    if (config.family[fused]) {
        const tensor all = t.call("qkv_opreact", linear{width, 2 * qk + 2 * v, with_bias}, x);
        p.mlstm_inputs.q = t.slice(all, -1, qk);
        p.mlstm_inputs.k = t.slice(all, -1, qk);  // `tensor_split` slices
        p.mlstm_inputs.v = t.slice(all, -1, v);
        p.output_gate = t.slice(all, -1, v);
        const tensor gates = soft_cap(t, t.call("ifgate_preact", linear{width, 2 * heads, true}, x));
        p.mlstm_inputs.input_gate = t.slice(gates, -1, heads);
        p.mlstm_inputs.forget_gate = t.slice(gates, -1, heads);
    } else {
        p.mlstm_inputs.q = t.call("q", linear{width, qk, with_bias}, x);
        p.mlstm_inputs.k = t.call("k", linear{width, qk, with_bias}, x);
        p.mlstm_inputs.v = t.call("v", linear{width, v, with_bias}, x);
        p.output_gate = t.call("ogate_preact", linear{width, v, with_bias}, x);
        p.mlstm_inputs.input_gate = soft_cap(t, t.call("igate_preact", linear{width, heads, true}, x));
        p.mlstm_inputs.forget_gate = soft_cap(t, t.call("fgate_preact", linear{width, heads, true}, x));
    }
    for (tensor* const operand : {&p.mlstm_inputs.q, &p.mlstm_inputs.k, &p.mlstm_inputs.v})
        *operand = t.reshape(*operand, {x.dim(0), x.dim(1), heads, -1}).transpose(1, 2);
    p.mlstm_inputs.input_gate = p.mlstm_inputs.input_gate.transpose(1, 2);
    p.mlstm_inputs.forget_gate = p.mlstm_inputs.forget_gate.transpose(1, 2);
    return p;
}

constexpr tensor token_mixer(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t v = ctx.config.family[v_dim];
    const bool with_bias = ctx.config.family[bias] != 0;
    const projected p = project_all(ctx, t, x);
    const tensor h = t.call("mlstm_backend", backend{ctx}, p.mlstm_inputs).transpose(1, 2);
    const biased_norm heads{v, with_bias, true, ctx.class_of("MultiHeadLayerNorm")};
    const tensor normed_heads = t.call("multihead_norm", heads, h);
    const tensor gate = t.call("ogate_act_fn", activation_module{activation::sigmoid}, p.output_gate);
    return t.call("out_proj", linear{v, ctx.config.hidden_size, with_bias}, t.mul(gate, normed_heads));
}

constexpr tensor mlp(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = ctx.config.hidden_size, inner = ctx.config.intermediate_size;
    const bool with_bias = ctx.config.family[bias] != 0;
    tensor gate, up;
    if (ctx.config.family[fused]) {
        const tensor gate_up = t.call("proj_up_gate_z", linear{width, 2 * inner, with_bias}, x);
        gate = t.call("act_fn", activation_module{activation::swish}, t.slice(gate_up, -1, inner));
        up = t.slice(gate_up, -1, inner);
    } else {
        gate = t.call("proj_up_gate", linear{width, inner, with_bias}, x);
        gate = t.call("act_fn", activation_module{activation::swish}, gate);
        up = t.call("proj_up", linear{width, inner, with_bias}, x);
    }
    return t.call("proj_down", linear{inner, width, with_bias}, t.mul(gate, up));
}

constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const biased_norm in{ctx.config.hidden_size, ctx.config.family[bias] != 0, false, ctx.class_of("RMSNorm")};
    const module_info mixer{
        .name = "mlstm_layer", .class_of_module = ctx.class_of("Layer"), .module_role = role::mixer};
    const module_info block{.name = "ffn", .class_of_module = ctx.class_of("FeedForward"), .module_role = role::mlp};
    tensor h = t.call("norm_mlstm", in, x);
    t.enter(mixer);
    const tensor middle = t.add(x, t.leave(mixer, token_mixer(ctx, t, h)));
    h = t.call("norm_ffn", in, middle);
    t.enter(block);
    return t.add(middle, t.leave(block, mlp(ctx, t, h)));
}

/// The cache is one object for all layers, of zeros at first, whose states each layer overwrites.
constexpr tensor base(const layer_context& ctx, trace& t) {
    const model_config& config = ctx.config;
    const std::int64_t batch = t.load().batch, heads = config.num_attention_heads;
    const std::int64_t qk = config.family[qk_dim] / heads, v = config.family[v_dim] / heads;
    t.check_positions(config.family[longest], t.load().sequence);
    tensor x = embed_tokens(ctx, t);
    const shape state_shapes[]{{batch, heads, qk, v}, {batch, heads, qk}, {batch, heads, 1}};
    tensor none = trace::buffer({});
    for (loop one = t.loop_modules(t.is_training() ? 0 : config.num_hidden_layers, none); one.next();)
        for (const shape& state_shape : state_shapes) {
            if (!has_recurrent_state(t)) (void)t.full(state_shape);
            t.add_to_cache(trace::buffer(state_shape));
        }
    const attention_inputs shared;
    for (loop layer_loop = t.loop_modules(config.num_hidden_layers, config.layers, x); layer_loop.next();)
        x = t.call({"blocks", layer_loop.index()}, llmcost::decoder_layer{ctx.for_layer(layer_loop, shared)}, x);
    return t.call("out_norm", biased_norm{config.hidden_size, false, false, ctx.class_of("RMSNorm")}, x);
}

constexpr std::int64_t parse_width(config_view json, literal key, double default_value, std::int64_t hidden_size,
                                   std::int64_t heads) {
    const double width = static_cast<double>(hidden_size) * json.real(key, default_value);
    const auto rounded_width =
        width >= 1 && width <= static_cast<double>(max_input) ? static_cast<std::int64_t>(width) : 0;
    if (rounded_width == 0 || rounded_width % 64 != 0 || static_cast<double>(rounded_width) != width ||
        rounded_width % heads != 0)
        throw_invalid_value(json, key, "a factor that makes a multiple of 64 and of the number of heads");
    return rounded_width;
}

constexpr void parse_config(config_view json, model_config& config) {
    const std::int64_t blocks = json.optional_positive("num_blocks").value_or(config.num_hidden_layers);
    const std::int64_t embedding_dim = json.optional_positive("embedding_dim").value_or(config.hidden_size);
    if (blocks != config.num_hidden_layers) throw_invalid_value(json, "num_blocks", "num_hidden_layers, or null");
    if (embedding_dim != config.hidden_size) throw_invalid_value(json, "embedding_dim", "hidden_size, or null");
    if (json.string("mode", "inference") != "inference") throw_unsupported(json, "mode", "unsupported kernel mode");
    if (json.string("inference_state_dtype", "float32") != "float32")
        throw_unsupported(json, "inference_state_dtype", "unsupported element type of the states");
    const string_ref weights = json.string("weight_mode", "single");
    if (weights != "single" && weights != "fused") throw_invalid_value(json, "weight_mode", "single or fused");
    config.family[fused] = weights == "fused";
    config.family[qk_dim] = parse_width(json, "qk_dim_factor", 0.5, config.hidden_size, config.num_attention_heads);
    config.family[v_dim] = parse_width(json, "v_dim_factor", 1.0, config.hidden_size, config.num_attention_heads);
    const std::int64_t multiple = json.positive("ffn_round_up_to_multiple_of", 64);
    const double inner = static_cast<double>(config.hidden_size) * json.real("ffn_proj_factor", 2.667);
    if (!(inner > 0 && inner < static_cast<double>(max_input)))
        throw_invalid_value(json, "ffn_proj_factor", "a factor that gives a width up to 2147483647");
    const double lines = (inner + static_cast<double>(multiple) - 1) / static_cast<double>(multiple);
    config.intermediate_size = checked_size(json, "ffn_proj_factor", static_cast<std::int64_t>(lines), multiple);
    config.tie_word_embeddings = false;  // the reference ties none
    config.logits_soft_cap = true;
}

}  // namespace xlstm_detail

// transformers/models/xlstm: configuration_xlstm.py, modeling_xlstm.py; a memory per head, in chunks and token by token
inline constexpr model_spec xlstm = [](model_spec spec) {
    spec.model_type = "xlstm";
    spec.class_prefix = "xLSTM";
    spec.parse_config = xlstm_detail::parse_config;
    spec.family_keys = xlstm_detail::family_keys;
    spec.base_model = xlstm_detail::base;
    spec.decoder_layer = xlstm_detail::decoder_layer;
    spec.process_logits = xlstm_detail::process_logits;
    spec.rotary = rotary_style::none;
    spec.supported_heads = language_heads;
    spec.names.base_model = "backbone";
    spec.names.embed_tokens = "embeddings";
    spec.names.layer_class = "Block";
    spec.config_keys.add("num_attention_heads", "num_heads", key_rule::family_name_only);
    spec.config_keys.add("attention_bias", key_rule::absent);
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.config_keys.add("hidden_act", key_rule::absent);
    spec.defaults.vocab_size = 50304;
    spec.defaults.hidden_size = 4096;
    spec.defaults.num_hidden_layers = 32;
    spec.defaults.num_attention_heads = 8;
    spec.config_keys.add("num_key_value_heads", key_rule::absent);
    return spec;
}(default_decoder);

}  // namespace llmcost::arch
