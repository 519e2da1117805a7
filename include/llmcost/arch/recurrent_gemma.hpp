// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/gemma.hpp>
#include <llmcost/layers/causal_convolution.hpp>

namespace llmcost::arch {

namespace recurrent_gemma_detail {

enum family_config_index : std::uint8_t { kernel };
inline constexpr family_key family_keys[]{{"conv1d_width", 4}};

/// Whether the modules hold states of their own: `use_cache`, which a training step has not.
constexpr bool has_cached_states(const trace& t) { return !t.is_training(); }

/// `torch.sqrt` with a backward of its own, which keeps what comes in (`SqrtBoundDerivative`).
constexpr tensor bounded_sqrt(trace& t, const tensor& a) {
    tensor plain = a;
    plain.requires_grad = false;
    tensor out = t.sqrt(plain);
    if (!a.requires_grad) return out;
    t.save_for_backward(a);
    t.record_autograd_function(out, a);
    t.add_backward_cost({.mult = count(a.numel), .div = count(a.numel), .sqrt = count(a.numel), .cmp = count(a.numel)});
    return out;
}

/// A gate of each head's part of x: (heads, B · S, width) -> the sigmoid, (B, S, heads · width).
constexpr tensor gate_of(trace& t, const tensor& x, const tensor& weight, const tensor& bias, shape to) {
    const tensor all = t.bmm(op::batched_matmul_bias, x, weight, 0, &bias);
    t.accumulate_gradient(bias.unsqueeze(1).expand({all.dim(0), all.dim(1), all.dim(2)}));
    return t.sigmoid(t.reshape(all.transpose(0, 1), to));
}

/// The recurrence h = a h + x over all steps, each result written into a tensor that exists.
constexpr tensor scan(trace& t, const tensor& x, const tensor& decay) {
    const std::int64_t batch = x.dim(0), sequence = x.dim(1), width = x.dim(2);
    const dtype type = dtype::float32;
    if (sequence == 1) {
        if (!has_cached_states(t)) return x;
        tensor state = t.mul(t.to(decay, type), trace::buffer({batch, 1, width}));
        t.add_(state, t.to(x, type));
        return t.to(state, x.type);
    }
    tensor state = has_cached_states(t) ? trace::buffer({batch, width}) : t.full({batch, width}, type);
    tensor all = t.zeros_like(x);
    const auto step = [&] {
        state = t.mul(t.to(t.select(decay, 1), type), state);
        state = t.add(state, t.to(t.select(x, 1), type));
        t.copy_into_slice(all, t.to(state, x.type));
    };
    step();
    for (loop layer_loop = t.loop_time_steps(sequence - 1, state); layer_loop.next();) step();
    return all;
}

/// The real-gated linear recurrent unit; (B, S, width) -> the same.
///
/// Source: `RecurrentGemmaRglru`.
struct gated_unit {
    const layer_context& ctx;

    static constexpr role module_role = role::mixer;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Rglru"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = x.dim(2), heads = ctx.config.num_attention_heads, d = width / heads;
        const shape sizes{x.dim(0), x.dim(1), width};
        const tensor rate = t.param("recurrent_param", {width});
        const tensor in_weight = t.param("input_gate_weight", {heads, d, d}),
                     in_bias = t.param("input_gate_bias", {heads, d});
        const tensor weight = t.param("recurrent_gate_weight", {heads, d, d});
        const tensor bias = t.param("recurrent_gate_bias", {heads, d});
        const tensor split = t.reshape(x, {x.dim(0) * x.dim(1), heads, d}).permute({1, 0, 2});
        const tensor in_gate = gate_of(t, split, in_weight, in_bias, sizes);
        const tensor gate = gate_of(t, split, weight, bias, sizes);
        const tensor scaled_gate = t.mul_scalar(gate);
        const tensor log_decay = t.mul(scaled_gate, t.softplus(rate));
        const tensor decay = t.exp(log_decay);
        const tensor squared = t.exp(t.mul_scalar(log_decay));
        const tensor gated = t.mul(x, in_gate);
        // the first position's factor is one: a mask multiplies, and another is added
        const tensor rest = t.sub_scalar(squared);
        if (rest.requires_grad) t.add_backward_cost({.neg = count(rest.numel)});
        const tensor factor = t.add_scalar(times_mask(t, bounded_sqrt(t, rest)));
        const tensor scaled = t.mul(gated, t.to(factor, x.type));
        return scan(t, scaled, times_mask(t, decay));
    }

private:
    /// A product with a mask of truth values.
    static constexpr tensor times_mask(trace& t, const tensor& x) { return t.mul_scalar(x); }
};

/// Two branches: an activation, and a short convolution before the recurrence.
///
/// Source: `RecurrentGemmaRecurrentBlock`.
struct griffin_block {
    const layer_context& ctx;

    static constexpr role module_role = role::mixer;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("RecurrentBlock"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, taps = ctx.config.family[kernel];
        const tensor y = t.call("act_fn", activation_module{ctx.config.hidden_act},
                                t.call("linear_y", linear{width, width, true}, x));
        const tensor h = t.call("linear_x", linear{width, width, true}, x).transpose(1, 2);
        const tensor mixed = convolved(t, h, taps).transpose(1, 2);
        const tensor out = t.mul(t.call("rg_lru", gated_unit{ctx}, mixed), y);
        return t.call("linear_out", linear{width, width, true}, out);
    }

private:
    constexpr tensor convolved(trace& t, const tensor& x, std::int64_t taps) const {
        const std::int64_t batch = x.dim(0), width = x.dim(1), sequence = x.dim(2);
        const module_info conv{.name = "conv_1d", .class_of_module = {"", "Conv1d"}, .is_leaf = true};
        if (has_cached_states(t) && sequence == 1) {
            const convolution_weights conv_weights = declare_conv_weights(t, "conv_1d", width, taps, true);
            const tensor features = t.cat({trace::buffer({batch, width, taps - 1}), x}, -1);
            const tensor sum = t.sum(t.mul(features, conv_weights.weight.select(1)), -1);
            t.read_parameter_in_next_op(conv_weights.bias);
            return t.add_scalar(sum).unsqueeze(-1);
        }
        if (has_cached_states(t)) (void)t.full({batch, width, taps - 1}, x.type);  // `F.pad` by less than nothing
        t.enter(conv);
        const tensor weight = t.param("weight", {width, 1, taps});
        t.read_parameter_in_next_op(t.param("bias", {width}));
        const tensor padded_output = t.leave(conv, t.conv(x, weight, true, width, 1, taps - 1));
        return t.slice(padded_output, -1, sequence);
    }
};

constexpr tensor recurrent_block(const layer_context& ctx, trace& t, const tensor& x) {
    return t.call(ctx.spec.names.recurrent_block, griffin_block{ctx}, x);
}

/// Each layer makes its own rotary tables.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    attention_inputs inputs = *ctx.inputs;
    layer_context layer_ctx = ctx;
    layer_ctx.inputs = &inputs;
    query_key_value qkv = project_qkv(ctx, t, x);
    split_heads(ctx, qkv);
    transpose_heads(qkv);
    compute_rotary_embeddings(ctx, t, inputs);
    apply_rotary(layer_ctx, t, qkv);
    update_kv_cache(layer_ctx, t, qkv);
    return output_projection(ctx, t, scaled_dot_product_attention(layer_ctx, t, qkv));
}

constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const tensor h = mix_tokens(ctx, t, apply_norm(ctx, t, "temporal_pre_norm", x));
    const tensor middle = t.add(h, x);
    return t.add(ctx.spec.mlp(ctx, t, apply_norm(ctx, t, "channel_pre_norm", middle)), middle);
}

/// Creates the states of the recurrent layers and the mask, and scales embeddings by a factor that is rounded to
/// bfloat16.
constexpr tensor base(const layer_context& ctx, trace& t) {
    const workload& load = t.load();
    const std::int64_t width = ctx.config.hidden_size;
    tensor x = ctx.spec.embed_tokens(ctx, t);
    if (has_cached_states(t) && load.past == 0)
        for (std::int64_t i = 0; i < ctx.config.num_hidden_layers; ++i) {
            if (ctx.config.layers[i].token_mixer != token_mixer_kind::recurrent) continue;
            (void)t.full({load.batch, width});
            (void)t.full({load.batch, width, ctx.config.family[kernel] - 1}, x.type);
        }
    decoder_inputs c;
    c.sliding.pattern = attention_pattern_of(t, ctx.config.sliding_window);
    c.sliding.mask = eager_mask(t, c.sliding.pattern, load.batch);
    t.register_buffer({1}, dtype::bfloat16);  // `normalizer`
    tensor factor = trace::buffer({1});
    factor.type = dtype::bfloat16;
    x = t.mul(x, t.to(factor, x.type));
    return apply_norm(ctx, t, ctx.spec.names.norm, forward_layers(ctx, t, c, x));
}

/// What this type returns has no `past_key_values`.
constexpr tensor forward(const layer_context& ctx, trace& t) {
    const trace::discarded_cache_guard dropped{t};
    return forward_decoder(ctx, t);
}

constexpr void parse_config(config_view json, model_config& config) {
    config.logits_soft_cap = true;
    config.output_bias = config.mlp_bias = true;
    config.intermediate_size /= 2;
    if (config.intermediate_size < 1) throw_invalid_value(json, "intermediate_size", "at least 2");
    if (config.rope_scaling != rope_scaling_kind::none)
        throw_unsupported(json, "rope_parameters", "unsupported RoPE type; expected default");
    const double part = detail::parse_partial_rotary_factor(json, 0.5);
    config.rotary_dim = (static_cast<std::int64_t>(static_cast<double>(config.head_dim) * part) + 1) / 2 * 2;
    // the state of a convolution is as wide as the model (`RecurrentGemmaRecurrentBlock`)
    const auto lru = json.optional_integer("lru_width");
    if (lru && *lru != config.hidden_size)
        throw_invalid_value(json, "lru_width", "hidden_size, as states are that wide");
    if (config.hidden_size % config.num_attention_heads != 0)
        throw_invalid_value(json, "num_attention_heads", "a divisor of lru_width");
    const auto list = json.optional_array("block_types");
    if (list && list->size() == 0) throw_invalid_value(json, "block_types", "a non-empty list of strings");
    set_layers(json, config, [&](std::int64_t i) {
        const std::int64_t n = list ? static_cast<std::int64_t>(list->size()) : 3;
        const bool recurs = list ? (*list)[static_cast<std::size_t>(i % n)].as_string() == "recurrent" : i % n != 2;
        return layer_spec{recurs ? token_mixer_kind::recurrent : token_mixer_kind::sliding_attention};
    });
    // the reference reads the cache length from an attention layer (cache_utils.py, `get_seq_length`)
    if (!config.layers.contains(token_mixer_kind::sliding_attention, config.num_hidden_layers))
        throw_invalid_value(json, "block_types", "a list that gives one of the layers attention");
}

}  // namespace recurrent_gemma_detail

// transformers/models/recurrent_gemma: configuration_recurrent_gemma.py, modeling_recurrent_gemma.py; gated linear
// recurrences, every third layer sliding attention
inline constexpr model_spec recurrent_gemma = [](model_spec spec) {
    spec.model_type = "recurrent_gemma";
    spec.class_prefix = "RecurrentGemma";
    spec.supported_heads = language_heads;
    spec.forward = recurrent_gemma_detail::forward;
    spec.base_model = recurrent_gemma_detail::base;
    spec.embed_tokens = embed_tokens;
    spec.decoder_layer = recurrent_gemma_detail::decoder_layer;
    spec.recurrent_block = recurrent_gemma_detail::recurrent_block;
    spec.attention = recurrent_gemma_detail::attention;
    spec.parse_config = recurrent_gemma_detail::parse_config;
    spec.family_keys = recurrent_gemma_detail::family_keys;
    spec.supported_layers = attention_layers | token_mixer_kind::recurrent;
    spec.has_partial_rotary = true;
    spec.names.norm = "final_norm";
    spec.names.attention = spec.names.recurrent_block = "temporal_block";
    spec.names.mlp = "mlp_block";
    spec.names.mlp_class = "Mlp";
    spec.config_keys.add("hidden_act", "hidden_activation", key_rule::family_name_only);
    spec.config_keys.add("sliding_window", "attention_window_size", key_rule::family_name_first);
    spec.config_keys.add("max_position_embeddings", key_rule::absent);
    spec.defaults = model_config{.vocab_size = 256000,
                                 .hidden_size = 2560,
                                 .intermediate_size = 7680,
                                 .num_hidden_layers = 26,
                                 .num_attention_heads = 10,
                                 .sliding_window = 2048,
                                 .hidden_act = activation::gelu_pytorch_tanh,
                                 .tie_word_embeddings = true};
    return spec;
}(gemma);

}  // namespace llmcost::arch
