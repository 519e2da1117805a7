// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/experts.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/decoder.hpp>
#include <llmcost/layers/causal_convolution.hpp>

namespace llmcost::arch {

namespace zaya_detail {

enum family_config_index : std::uint8_t { router_width, depthwise_kernel, grouped_kernel, full_rotary, sliding_rotary };
inline constexpr family_key family_keys[]{
    {"router_hidden_size", 256},         {"cca_time0", 2}, {"cca_time1", 2},
    {.type = family_key_type::computed},  // rotated elements of heads that see everything
    {.type = family_key_type::computed},  // the same of heads with windows
};

/// Layer flags: the layer reads the previous router's states; no later router reads its own.
inline constexpr std::uint8_t follows = 1, ends = 2;

constexpr tensor convolve(trace& t, literal name, const tensor& x, std::int64_t kernel, std::int64_t groups) {
    const std::int64_t channels = x.dim(1);
    const module_info conv{.name = name, .class_of_module = {"", "Conv1d"}, .is_leaf = true};
    t.enter(conv);
    const tensor weight = t.param("weight", {channels, channels / groups, kernel});
    t.read_parameter_in_next_op(t.param("bias", {channels}));
    return t.leave(conv, t.conv(x, weight, true, groups));
}

/// Queries and keys mixed by the channels of their heads and by time: x (B, C, S) -> (B, S, C).
constexpr tensor time_convolution(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t channels = x.dim(1), first = ctx.config.family[depthwise_kernel],
                       second = ctx.config.family[grouped_kernel];
    const std::int64_t state_length = first + second - 2,
                       heads = ctx.config.num_attention_heads + ctx.config.num_key_value_heads;
    const shape state{x.dim(0), channels, state_length};
    const bool continues = has_recurrent_state(t);
    const tensor all = continues ? t.cat({trace::buffer(state), x}, -1) : t.pad(x, -1, state_length);
    if (!t.is_training()) {
        const tensor last = t.copy(all.slice(-1, state_length));  // padded by nothing
        cache_recurrent_state(t, state, false);
        if (continues) (void)t.cat({trace::buffer(state), last}, -1);
    }
    const tensor by_channel = convolve(t, "conv_qk_depthwise", all, first, channels);
    return convolve(t, "conv_qk_grouped", by_channel, second, heads).transpose(1, 2);
}

/// Half of each value comes from the token in front (modeling_zaya.py, `ZayaCCAProjection`).
constexpr tensor values_of_two(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t batch = x.dim(0), sequence = x.dim(1), width = ctx.config.hidden_size;
    const std::int64_t half = ctx.config.num_key_value_heads * ctx.config.head_dim / 2;
    const bool bias = ctx.config.attention_bias, continues = has_recurrent_state(t);
    const tensor now = t.call("v_proj_current", linear{width, half, bias}, x);
    const tensor zeros = continues ? tensor{} : t.full({batch, 1, width}, x.type);
    const module_info delayed{.name = "v_proj_delayed", .class_of_module = {"", "Linear"}, .is_leaf = true};
    t.enter(delayed);  // called again on zeros where nothing is in front
    const tensor weight = t.param("weight", {half, width});
    tensor b;
    if (bias) b = t.param("bias", {half});
    const tensor fresh = t.linear(x, weight, bias ? &b : nullptr);
    tensor previous = trace::buffer({batch, 1, half});
    if (!continues) {
        previous = t.linear(zeros, weight, bias ? &b : nullptr);
        t.record_module_output(previous);
    }
    (void)t.leave(delayed, fresh);
    const tensor shifted = t.cat({previous, t.slice(fresh, 1, sequence - 1)}, 1);
    cache_recurrent_state(t, {batch, half}, false);
    return t.cat({now, shifted}, -1);
}

/// Projects queries, keys and values (B, S, heads, d) with convolutions over time, and adds the mean of each query and
/// its key.
constexpr query_key_value project_in_time(const layer_context& ctx, trace& t, const tensor& x) {
    const model_config& config = ctx.config;
    const std::int64_t batch = x.dim(0), sequence = x.dim(1), d = config.head_dim,
                       expanded_width = config.num_attention_heads * d;
    const std::int64_t groups = config.num_attention_heads / config.num_key_value_heads;
    const module_info model_info{.name = "qkv_proj", .class_of_module = ctx.class_of("CCAProjection")};
    t.enter(model_info);
    const tensor q = project(ctx, t, "q_proj", expanded_width, x),
                 k = project(ctx, t, "k_proj", config.num_key_value_heads * d, x);
    const tensor query_key = t.cat({q, k}, -1);
    const tensor family_keys = repeat_kv(t, k.view({batch, sequence, -1, d}).transpose(1, 2), groups).transpose(1, 2);
    const tensor of_q = t.mul_scalar(t.add(q.view({batch, sequence, -1, d}), family_keys));
    const tensor of_k = t.mean(of_q.view({batch, sequence, -1, groups, d}), -2);
    const tensor mixed = time_convolution(ctx, t, query_key.transpose(1, 2));
    query_key_value qkv;
    qkv.query = t.add(t.slice(mixed, -1, expanded_width).view({batch, sequence, -1, d}), of_q);
    qkv.key = t.add(t.slice(mixed, -1, mixed.dim(-1) - expanded_width).view({batch, sequence, -1, d}), of_k);
    qkv.value = values_of_two(ctx, t, x).view({batch, sequence, -1, d});
    t.leave(model_info);
    return qkv;
}

/// Queries and keys scaled to one length, keys then by a temperature of their head.
struct length_norm {
    layer_context ctx;

    static constexpr role module_role = role::norm;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("QKNorm"); }
    constexpr tensor_pair forward(trace& t, const tensor& q, const tensor& k) const {
        const auto scaled = [&](const tensor& x) {
            const tensor length = t.clamp_min(t.vector_norm(x, -1, true));  // at least the smallest difference
            return t.mul(x, t.mul_scalar(t.reciprocal(length)));
        };
        const tensor temperature = t.param("temp", {ctx.config.num_key_value_heads});
        const tensor first = scaled(q);
        return {first, t.mul(scaled(k), temperature.view({1, 1, -1, 1}))};
    }
};

constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const model_config& config = ctx.config;
    const bool slides = ctx.layer.token_mixer == token_mixer_kind::sliding_attention;
    const std::int64_t batch = x.dim(0), kv_width = config.num_key_value_heads * config.head_dim;
    query_key_value qkv = project_in_time(ctx, t, x);
    const tensor_pair scaled = t.call("qk_norm", length_norm{ctx}, qkv.query, qkv.key);
    qkv.query = scaled.first;
    qkv.key = scaled.second;
    transpose_heads(qkv);
    const std::int64_t rotated = config.family[slides ? sliding_rotary : full_rotary];
    for (tensor* const operand : {&qkv.query, &qkv.key})
        *operand =
            rotate_partial(t, rotary_style::rotate_half, *operand, rotated, ctx.inputs->cos, ctx.inputs->sin, true);
    update_kv_cache(ctx, t, qkv);
    if (!t.is_training()) {
        const std::int64_t state_length = config.family[depthwise_kernel] + config.family[grouped_kernel] - 2;
        t.add_to_cache(trace::buffer({batch, config.num_attention_heads * config.head_dim + kv_width, state_length}));
        t.add_to_cache(trace::buffer({batch, kv_width / 2}));
    }
    return output_projection(ctx, t, scaled_dot_product_attention(ctx, t, qkv));
}

/// A small feed-forward block makes the logits.
constexpr tensor router_logits(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = ctx.config.family[router_width];
    const module_info block{.name = "router_mlp", .class_of_module = ctx.class_of("RouterMLP")};
    t.enter(block);
    tensor h = call_norm(t, "norm", norm_kind::rms, width, ctx.class_of("RMSNorm"), x);
    h = t.call("act_fn", gelu_module{}, t.call("fc1", linear{width, width, true}, h));
    h = t.call("act_fn", gelu_module{}, t.call("fc2", linear{width, width, true}, h));
    return t.leave(block, t.call("out_proj", linear{width, ctx.config.moe.num_experts + 1}, h));
}

/// One expert of all, or none, by logits of a state that the router in front passes on: weights (n, 1).
struct top_k_router {
    layer_context ctx;

    static constexpr role module_role = role::router;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Router"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t batch = x.dim(0), sequence = x.dim(1), width = ctx.config.family[router_width];
        const std::int64_t n = ctx.config.moe.num_experts + 1, k = ctx.config.moe.num_experts_per_tok;
        const bool reads = (ctx.layer.family_tag & follows) != 0;
        tensor scale;
        if (reads) scale = t.param("router_states_scale", {width});
        tensor state = t.call("down_proj", linear{ctx.config.hidden_size, width, true}, x);
        if (reads) {
            tensor previous = trace::buffer({batch, sequence, width});  // already saved at its producer
            previous.requires_grad = t.is_training();
            previous.type = state.type;
            state = t.add(state, t.mul(previous, scale));
        }
        const tensor next = t.clone(state);
        if ((ctx.layer.family_tag & ends) == 0) t.save_for_backward(next);
        const tensor scores = t.softmax_method(router_logits(ctx, t, state));
        {
            const trace::no_grad_guard detached{t};
            (void)t.topk(t.add(scores, correction_bias(t, n, true)), k);
        }
        return t.masked_fill(t.gather_with_saved_source(scores, {batch, sequence, k})).view({-1, k});
    }
};

constexpr tensor sparse_moe_block(const layer_context& ctx, trace& t, const tensor& x) {
    const tensor weights = t.call("gate", top_k_router{ctx}, x);
    const tensor tokens = x.view({-1, ctx.config.hidden_size});
    return call_experts(ctx, t, tokens, weights).view({x.dim(0), x.dim(1), ctx.config.hidden_size});
}

constexpr tensor mlp(const layer_context& ctx, trace& t, const tensor& x) {
    return t.call("mlp", custom_moe_module{ctx, sparse_moe_block}, x);
}

/// What goes through a block and around it, each shifted and scaled, then added.
struct scaled_residual {
    layer_context ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("ResidualScaling"); }
    constexpr tensor forward(trace& t, const tensor& hidden_states, const tensor& residual) const {
        const shape width{ctx.config.hidden_size};
        const tensor scale = t.param("hidden_states_scale", width), shift = t.param("hidden_states_bias", width);
        const tensor scale_around = t.param("residual_scale", width), shift_around = t.param("residual_bias", width);
        const tensor h = t.mul(t.add(hidden_states, shift), scale);
        return t.add(h, t.mul(t.add(residual, shift_around), scale_around));
    }
};

constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const dtype type = t.activation_type();  // the residual is in float32
    tensor h = mix_tokens(ctx, t, apply_norm(ctx, t, "input_layernorm", t.to(x, type)));
    const tensor middle = t.call("post_attention_residual_scale", scaled_residual{ctx}, h, x);
    h = ctx.spec.mlp(ctx, t, apply_norm(ctx, t, "post_attention_layernorm", t.to(middle, type)));
    return t.call("post_mlp_residual_scale", scaled_residual{ctx}, h, middle);
}

/// Words, shifted and scaled.
constexpr tensor base(const layer_context& ctx, trace& t) {
    const shape width{ctx.config.hidden_size};
    const tensor scale = t.param("input_hidden_states_scale", width),
                 shift = t.param("input_hidden_states_bias", width);
    const tensor token_embeddings = embed_tokens(ctx, t);
    const decoder_inputs shared = prepare_inputs_per_token_mixer(
        ctx, t, {ctx.config.family[full_rotary], ctx.config.family[sliding_rotary]}, rotary_style::rotate_half);
    const tensor x = t.to(t.mul(t.add(token_embeddings, shift), scale), dtype::float32);
    return apply_norm(ctx, t, "norm", t.to(forward_layers(ctx, t, shared, x), token_embeddings.type));
}

constexpr void parse_config(config_view json, model_config& config) {
    parse_experts(json, config, "num_experts");
    validate_experts(json, config);
    if (config.moe.num_experts_per_tok != 1)
        throw_invalid_value(json, "num_experts_per_tok", "1, the only value that the reference supports");
    config.head_bias = json.boolean("lm_head_bias", false);
    if (config.family[depthwise_kernel] + config.family[grouped_kernel] < 3)
        throw_unsupported(json, "cca_time0", "projections over a single token are not supported");
    if (config.num_key_value_heads * config.head_dim % 2 != 0)
        throw_invalid_value(json, "num_key_value_heads", "heads whose values can be halved");
    const auto types = json.optional_array("layer_types");
    if (types && static_cast<std::int64_t>(types->size()) < config.num_hidden_layers)
        throw_invalid_value(json, "layer_types", "a list with one kind per hidden layer");
    set_layers(json, config, [&](std::int64_t i) {
        const string_ref name = types ? (*types)[static_cast<std::uint32_t>(i)].as_string() : string_ref("hybrid");
        if (name != "hybrid" && name != "hybrid_sliding")
            throw_unsupported(json, "layer_types", "unsupported layer type");
        const int place = (i > 0 ? follows : 0) | (i + 1 == config.num_hidden_layers ? ends : 0);
        return layer_spec{name == "hybrid" ? token_mixer_kind::full_attention : token_mixer_kind::sliding_attention,
                          true, static_cast<std::uint8_t>(place)};
    });
    const double default_value = json.optional_object("rope_parameters").has_value() ? 1.0 : 0.5;
    parse_frequencies_of_kinds(json, config, "hybrid", "hybrid_sliding");
    if (config.layers.contains(token_mixer_kind::full_attention, config.num_hidden_layers))
        config.family[full_rotary] = parse_rotary_dim_of_kind(json, config.head_dim, "hybrid", default_value);
    if (config.layers.contains(token_mixer_kind::sliding_attention, config.num_hidden_layers))
        config.family[sliding_rotary] =
            parse_rotary_dim_of_kind(json, config.head_dim, "hybrid_sliding", default_value);
}

}  // namespace zaya_detail

// transformers/models/zaya: queries and keys convolved in time, one expert picked by a router that remembers the last
// one
inline constexpr model_spec zaya = [](model_spec spec) {
    spec.model_type = "zaya";
    spec.class_prefix = "Zaya";
    spec.parse_config = zaya_detail::parse_config;
    spec.family_keys = zaya_detail::family_keys;
    spec.base_model = zaya_detail::base;
    spec.decoder_layer = zaya_detail::decoder_layer;
    spec.attention = zaya_detail::attention;
    spec.mlp = zaya_detail::mlp;
    spec.supported_layers.max_family_tag = zaya_detail::follows | zaya_detail::ends;
    spec.rotary = rotary_style::none;
    spec.supported_heads = language_heads;
    spec.mask_policy = mask_kind::present;
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.defaults.vocab_size = 262272;
    spec.defaults.hidden_size = 2048;
    spec.defaults.num_hidden_layers = 40;
    spec.defaults.num_attention_heads = 8;
    spec.defaults.num_key_value_heads = 2;
    spec.defaults.head_dim = 128;
    spec.defaults.max_position_embeddings = 131072;
    spec.defaults.tie_word_embeddings = true;
    spec.defaults.moe = {.num_experts = 16, .num_experts_per_tok = 1, .intermediate_size = 2048};
    return spec;
}(default_decoder);

}  // namespace llmcost::arch
