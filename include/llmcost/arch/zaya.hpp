// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/mpt.hpp>
#include <llmcost/layers/causal_convolution.hpp>
#include <llmcost/reading/experts.hpp>

namespace llmcost::arch {

namespace zaya_detail {

enum own : std::uint8_t { router_width, depthwise_kernel, grouped_kernel, full_rotary, sliding_rotary };
inline constexpr own_key keys[]{
    {"router_hidden_size", 256},    {"cca_time0", 2}, {"cca_time1", 2},
    {.value = own_value::computed},  // rotated elements of heads that see everything
    {.value = own_value::computed},  // the same of heads with windows
};

/// Bits of a layer's word: it reads what the router in front made, and no router behind it reads its own.
inline constexpr std::uint8_t follows = 1, ends = 2;

constexpr value convolve(trace& t, literal name, const value& x, std::int64_t kernel, std::int64_t groups) {
    const std::int64_t channels = x.dim(1);
    const module_info conv{.name = name, .type = {"", "Conv1d"}, .leaf = true};
    t.enter(conv);
    const value weight = t.param("weight", {channels, channels / groups, kernel});
    t.beside(t.param("bias", {channels}));
    return t.leave(conv, t.convolution(x, weight, true, groups));
}

/// Queries and keys mixed by the channels of their heads and by time: x (B, C, S) -> (B, S, C).
constexpr value mix_in_time(const site& here, trace& t, const value& x) {
    const std::int64_t channels = x.dim(1), first = here.dims.own[depthwise_kernel], second = here.dims.own[grouped_kernel];
    const std::int64_t kept = first + second - 2, heads = here.dims.num_attention_heads + here.dims.num_key_value_heads;
    const extents state{x.dim(0), channels, kept};
    const bool continues = has_recurrent_state(t);
    const value all = continues ? t.cat({trace::buffer(state), x}, -1) : t.pad(x, -1, kept);
    if (!t.training()) {
        const value last = t.copy(all.slice(-1, kept));  // padded by nothing
        cache_recurrent_state(t, state, false);
        if (continues) (void)t.cat({trace::buffer(state), last}, -1);
    }
    const value by_channel = convolve(t, "conv_qk_depthwise", all, first, channels);
    return convolve(t, "conv_qk_grouped", by_channel, second, heads).transpose(1, 2);
}

/// Half of each value comes from the token in front (modeling_zaya.py, `ZayaCCAProjection`).
constexpr value values_of_two(const site& here, trace& t, const value& x) {
    const std::int64_t batch = x.dim(0), sequence = x.dim(1), width = here.dims.hidden_size;
    const std::int64_t half = here.dims.num_key_value_heads * here.dims.head_dim / 2;
    const bool bias = here.dims.attention_bias, continues = has_recurrent_state(t);
    const value now = t.call("v_proj_current", linear{width, half, bias}, x);
    const value nothing = continues ? value{} : t.constant({batch, 1, width}, x.type);
    const module_info delayed{.name = "v_proj_delayed", .type = {"", "Linear"}, .leaf = true};
    t.enter(delayed);  // called again on zeros where nothing is in front
    const value weight = t.param("weight", {half, width});
    value b;
    if (bias) b = t.param("bias", {half});
    const value fresh = t.linear(x, weight, bias ? &b : nullptr);
    value before = trace::buffer({batch, 1, half});
    if (!continues) {
        before = t.linear(nothing, weight, bias ? &b : nullptr);
        t.returned(before);
    }
    (void)t.leave(delayed, fresh);
    const value shifted = t.cat({before, t.slice(fresh, 1, sequence - 1)}, 1);
    cache_recurrent_state(t, {batch, half}, false);
    return t.cat({now, shifted}, -1);
}

/// Queries, keys and values, (B, S, heads, d) each: mixtures in time, and the mean of a query and its key beside them.
constexpr qkv project_in_time(const site& here, trace& t, const value& x) {
    const sizes& dims = here.dims;
    const std::int64_t batch = x.dim(0), sequence = x.dim(1), d = dims.head_dim, wide = dims.num_attention_heads * d;
    const std::int64_t groups = dims.num_attention_heads / dims.num_key_value_heads;
    const module_info whole{.name = "qkv_proj", .type = here.type("CCAProjection")};
    t.enter(whole);
    const value q = project(here, t, "q_proj", wide, x), k = project(here, t, "k_proj", dims.num_key_value_heads * d, x);
    const value both = t.cat({q, k}, -1);
    const value keys = repeat_kv(t, k.view({batch, sequence, -1, d}).transpose(1, 2), groups).transpose(1, 2);
    const value of_q = t.mul(t.add(q.view({batch, sequence, -1, d}), keys));
    const value of_k = t.mean(of_q.view({batch, sequence, -1, groups, d}), -2);
    const value mixed = mix_in_time(here, t, both.transpose(1, 2));
    qkv of;
    of.q = t.add(t.slice(mixed, -1, wide).view({batch, sequence, -1, d}), of_q);
    of.k = t.add(t.slice(mixed, -1, mixed.dim(-1) - wide).view({batch, sequence, -1, d}), of_k);
    of.v = values_of_two(here, t, x).view({batch, sequence, -1, d});
    t.leave(whole);
    return of;
}

/// Queries and keys scaled to one length, keys then by a temperature of their head.
struct length_norm {
    site here;

    static constexpr role what = role::norm;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return here.type("QKNorm"); }
    constexpr two_values describe(trace& t, const value& q, const value& k) const {
        const auto scaled = [&](const value& x) {
            const value length = t.unary(op::compare, t.vector_norm(x, -1, true));  // at least the smallest difference
            return t.mul(x, t.mul(t.unary(op::reciprocal, length)));
        };
        const value temperature = t.param("temp", {here.dims.num_key_value_heads});
        const value first = scaled(q);
        return {first, t.mul(scaled(k), temperature.view({1, 1, -1, 1}))};
    }
};

constexpr value attend(const site& here, trace& t, const value& x) {
    const sizes& dims = here.dims;
    const bool slides = here.kind.mixer == mixer_kind::sliding_attention;
    const std::int64_t batch = x.dim(0), kv_width = dims.num_key_value_heads * dims.head_dim;
    qkv of = project_in_time(here, t, x);
    const two_values scaled = t.call("qk_norm", length_norm{here}, of.q, of.k);
    of.q = scaled.first, of.k = scaled.second;
    heads_first(of);
    const std::int64_t rotated = dims.own[slides ? sliding_rotary : full_rotary];
    for (value* const each : {&of.q, &of.k})
        *each = rotate_part(t, rotation::half, *each, rotated, here.shared->cos, here.shared->sin, true);
    remember(here, t, of);
    if (!t.training()) {
        const std::int64_t kept = dims.own[depthwise_kernel] + dims.own[grouped_kernel] - 2;
        t.cache(trace::buffer({batch, dims.num_attention_heads * dims.head_dim + kv_width, kept}));
        t.cache(trace::buffer({batch, kv_width / 2}));
    }
    return join(here, t, look_up(here, t, of));
}

/// A small feed-forward block makes the logits.
constexpr value router_logits(const site& here, trace& t, const value& x) {
    const std::int64_t width = here.dims.own[router_width];
    const module_info block{.name = "router_mlp", .type = here.type("RouterMLP")};
    t.enter(block);
    value h = call_norm(t, "norm", norm_kind::rms, width, here.type("RMSNorm"), x);
    h = t.call("act_fn", mpt_detail::gelu{}, t.call("fc1", linear{width, width, true}, h));
    h = t.call("act_fn", mpt_detail::gelu{}, t.call("fc2", linear{width, width, true}, h));
    return t.leave(block, t.call("out_proj", linear{width, here.dims.moe.num_experts + 1}, h));
}

/// One expert of all, or none, by logits of a state that the router in front passes on: weights (n, 1).
struct router {
    site here;

    static constexpr role what = role::router;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Router"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t batch = x.dim(0), sequence = x.dim(1), width = here.dims.own[router_width];
        const std::int64_t n = here.dims.moe.num_experts + 1, k = here.dims.moe.num_experts_per_tok;
        const bool reads = (here.kind.own & follows) != 0;
        value scale;
        if (reads) scale = t.param("router_states_scale", {width});
        value state = t.call("down_proj", linear{here.dims.hidden_size, width, true}, x);
        if (reads) {
            value before = trace::buffer({batch, sequence, width});  // kept where it was made
            before.requires_grad = t.training();
            before.type = state.type;
            state = t.add(state, t.mul(before, scale));
        }
        const value next = t.clone(state);
        if ((here.kind.own & ends) == 0) t.save_for_backward(next);
        const value scores = t.softmax_method(router_logits(here, t, state));
        {
            const trace::no_grad_guard detached{t};
            (void)t.top_k(t.add(scores, trace::buffer({n})), k);
        }
        return t.where(t.gather_along(scores, {batch, sequence, k})).view({-1, k});
    }
};

constexpr value mixture(const site& here, trace& t, const value& x) {
    const value weights = t.call("gate", router{here}, x);
    const value tokens = x.view({-1, here.dims.hidden_size});
    return call_experts(here, t, tokens, weights).view({x.dim(0), x.dim(1), here.dims.hidden_size});
}

constexpr value feed(const site& here, trace& t, const value& x) { return t.call("mlp", mixture_module{here, mixture}, x); }

/// What goes through a block and around it, each shifted and scaled, then added.
struct scaled_residual {
    site here;

    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return here.type("ResidualScaling"); }
    constexpr value describe(trace& t, const value& through, const value& around) const {
        const extents width{here.dims.hidden_size};
        const value scale = t.param("hidden_states_scale", width), shift = t.param("hidden_states_bias", width);
        const value scale_around = t.param("residual_scale", width), shift_around = t.param("residual_bias", width);
        const value h = t.mul(t.add(through, shift), scale);
        return t.add(h, t.mul(t.add(around, shift_around), scale_around));
    }
};

constexpr value layer(const site& here, trace& t, const value& x) {
    const dtype type = t.activation_type();  // the residual is in float32
    value h = mixed(here, t, normed(here, t, "input_layernorm", t.to(x, type)));
    const value middle = t.call("post_attention_residual_scale", scaled_residual{here}, h, x);
    h = here.row.feed(here, t, normed(here, t, "post_attention_layernorm", t.to(middle, type)));
    return t.call("post_mlp_residual_scale", scaled_residual{here}, h, middle);
}

/// Words, shifted and scaled.
constexpr value base(const site& here, trace& t) {
    const extents width{here.dims.hidden_size};
    const value scale = t.param("input_hidden_states_scale", width), shift = t.param("input_hidden_states_bias", width);
    const value words = embed_words(here, t);
    const decoder_context shared =
        masks_and_tables_by_kind(here, t, {here.dims.own[full_rotary], here.dims.own[sliding_rotary]}, rotation::half);
    const value x = t.to(t.mul(t.add(words, shift), scale), dtype::float32);
    return normed(here, t, "norm", t.to(describe_layers(here, t, shared, x), words.type));
}

constexpr void read(config_view config, sizes& s) {
    read_experts(config, s, "num_experts");
    check_experts(config, s);
    if (s.moe.num_experts_per_tok != 1) fail_value(config, "num_experts_per_tok", "1, as the reference has no other");
    s.head_bias = config.boolean("lm_head_bias", false);
    if (s.own[depthwise_kernel] + s.own[grouped_kernel] < 3)
        fail_unsupported(config, "cca_time0", "no row describes projections that look at one token only");
    if (s.num_key_value_heads * s.head_dim % 2 != 0)
        fail_value(config, "num_key_value_heads", "heads whose values can be halved");
    const auto types = config.optional_array("layer_types");
    if (types && static_cast<std::int64_t>(types->size()) < s.num_hidden_layers)
        fail_value(config, "layer_types", "a list with one kind per hidden layer");
    plan_layers(config, s, [&](std::int64_t i) {
        const string_ref word = types ? (*types)[static_cast<std::uint32_t>(i)].as_string() : string_ref("hybrid");
        if (word != "hybrid" && word != "hybrid_sliding")
            fail_unsupported(config, "layer_types", "no layer describes one of these kinds");
        const int place = (i > 0 ? follows : 0) | (i + 1 == s.num_hidden_layers ? ends : 0);
        return layer_kind{word == "hybrid" ? mixer_kind::full_attention : mixer_kind::sliding_attention, true,
                          static_cast<std::uint8_t>(place)};
    });
    const double otherwise = config.optional_object("rope_parameters").has_value() ? 1.0 : 0.5;
    read_frequencies_of_kinds(config, s, "hybrid", "hybrid_sliding");
    if (s.layers.has(mixer_kind::full_attention, s.num_hidden_layers))
        s.own[full_rotary] = read_rotary_dim_of_kind(config, s.head_dim, "hybrid", otherwise);
    if (s.layers.has(mixer_kind::sliding_attention, s.num_hidden_layers))
        s.own[sliding_rotary] = read_rotary_dim_of_kind(config, s.head_dim, "hybrid_sliding", otherwise);
}

}  // namespace zaya_detail

// transformers/models/zaya: queries and keys convolved in time, one expert picked by a router that remembers the last one
inline constexpr architecture zaya = [](architecture a) {
    a.model_type = "zaya", a.prefix = "Zaya", a.read = zaya_detail::read, a.own = zaya_detail::keys;
    a.base = zaya_detail::base, a.layer = zaya_detail::layer, a.attend = zaya_detail::attend, a.feed = zaya_detail::feed;
    a.kinds.own = zaya_detail::follows | zaya_detail::ends, a.rotated = rotation::none, a.heads = language_heads;
    a.masks = mask_rule::present;
    a.keys[0] = no_mlp_bias;
    a.defaults.vocab_size = 262272, a.defaults.hidden_size = 2048, a.defaults.num_hidden_layers = 40;
    a.defaults.num_attention_heads = 8, a.defaults.num_key_value_heads = 2, a.defaults.head_dim = 128;
    a.defaults.max_position_embeddings = 131072, a.defaults.tie_word_embeddings = true;
    a.defaults.moe = {.num_experts = 16, .num_experts_per_tok = 1, .intermediate_size = 2048};
    return a;
}(shared_decoder);

}  // namespace llmcost::arch
