// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/layers/state_space.hpp>

namespace llmcost::arch {

namespace zamba_detail {

enum own : std::uint8_t { mixer_act };
inline constexpr own_key keys[]{
    {.value = own_value::computed},  // `hidden_mamba_act`
};

/// Words of layers that have the shared block: the one that declares it, and those that are tied.
inline constexpr std::uint8_t first = 1, tied = 2;

constexpr value call_linear(const site& here, trace& t, literal name, std::int64_t out, const value& x) {
    return t.call(name, linear{x.dim(-1), out, false, here.kind.own == tied}, x);
}

/// An RMS norm whose weight may be another layer's.
struct shared_norm {
    const site& here;
    std::int64_t width;

    static constexpr role what = role::norm;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return here.type("RMSNorm"); }
    constexpr value describe(trace& t, const value& x) const {
        const value w = here.kind.own == tied ? t.tied("weight", {width}) : t.param("weight", {width});
        const value h = t.to(x, dtype::float32);
        return t.mul(w, t.to(t.mul(h, t.rsqrt(t.add(t.mean(t.pow(h, 2), -1, true)))), x.type));
    }
};

/// Attention without positions over states and words side by side.
struct attention {
    const site& here;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Attention"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t d = here.dims.head_dim, narrow = here.dims.num_key_value_heads * d;
        qkv of;
        of.q = call_linear(here, t, "q_proj", here.dims.num_attention_heads * d, x);
        of.k = call_linear(here, t, "k_proj", narrow, x);
        of.v = call_linear(here, t, "v_proj", narrow, x);
        split_heads(here, of);
        heads_first(of);
        remember(here, t, of);
        return call_linear(here, t, "o_proj", here.dims.hidden_size, look_up(here, t, of));
    }
};

struct feed_block {
    const site& here;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("MLP"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t inner = here.dims.intermediate_size;
        const value gate =
            t.call("act_fn", activation_module{here.dims.hidden_act}, call_linear(here, t, "gate_proj", inner, x));
        const value h = t.mul(gate, call_linear(here, t, "up_proj", inner, x));
        return call_linear(here, t, "down_proj", here.dims.hidden_size, h);
    }
};

/// A transformer block without residuals, which all layers share that have one.
struct shared_block {
    const site& here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("AttentionDecoderLayer"); }
    constexpr value describe(trace& t, const value& x) const {
        value h = t.cat({x, here.shared->own[0]}, -1);
        h = t.call("input_layernorm", shared_norm{here, 2 * here.dims.hidden_size}, h);
        h = t.call("self_attn", attention{here}, h);
        return t.call("feed_forward", feed_block{here},
                      t.call("pre_ff_layernorm", shared_norm{here, here.dims.hidden_size}, h));
    }
};

/// The Mamba-1 mixer in heads that are scanned one after the other, each with time steps, B and C of its own.
struct mixer {
    const site& here;

    static constexpr role what = role::mixer;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("MambaMixer"); }
    constexpr value describe(trace& t, const value& x) const {
        const state_space_sizes& m = here.dims.ssm;
        const std::int64_t inner = m.intermediate_size, states = m.state_size, rank = m.time_step_rank;
        const std::int64_t heads = m.num_heads, d = m.head_dim, batch = x.dim(0), sequence = x.dim(1);
        const value x_proj = t.param("x_proj_weight", {heads, rank + 2 * states, d});
        const value dt_proj = t.param("dt_proj_weight", {heads, d, rank});
        const value dt_bias = t.param("dt_proj_bias", {heads, d});
        const value a_log = t.param("A_log", {heads, d, states}), skip = t.param("D", {heads, d});
        const linear in_proj{here.dims.hidden_size, 2 * inner, m.use_bias};
        const value all = t.call("in_proj", in_proj, x).transpose(1, 2).view({batch, inner, 2, sequence});
        const value half = all.slice(2, 1);
        value u = t.contiguous(half.squeeze(2));
        const value gate = t.reshape(half, {batch, heads, d, sequence}).transpose(0, 1);
        const convolution_weights kernel = declare_convolution(t, "conv1d", inner, m.conv_kernel, m.use_conv_bias);
        const auto act = static_cast<activation>(here.dims.own[mixer_act]);
        u = causal_convolution(t, u, kernel, act);
        u = t.reshape(u, {batch, heads, d, sequence}).transpose(0, 1);
        const value chosen = t.matmul_operator(x_proj.unsqueeze(1), u).transpose(-1, -2);
        const value low = chosen.slice(-1, rank).transpose(-1, -2), b = chosen.slice(-1, states);
        const value steps = t.matmul_operator(dt_proj.unsqueeze(1), low);
        const value bias = t.to(dt_bias, dtype::float32);
        const value a = t.neg(t.exp(t.to(a_log, dtype::float32)));
        const bool goes_on = has_recurrent_state(t) && sequence == 1;
        value parts[trace::most_joined];
        for (std::int64_t head = 0; head < heads; ++head) {
            selective_scan_inputs in{};
            in.u = t.select(u, 0), in.time_step = t.select(steps, 0), in.gate = t.select(gate, 0);
            in.a = t.select(a, 0), in.d = t.select(skip, 0), in.time_step_bias = t.select(bias, 0);
            in.b = t.select(b, 0), in.c = t.select(b, 0);
            parts[head] = goes_on ? selective_state_update(t, in, false) : selective_scan(t, in, false);
        }
        const value joined = t.cat(parts, static_cast<int>(heads), 1);
        // the last states, side by side, on their way to the cache
        if (!t.training() && !goes_on) (void)t.cat({trace::buffer({batch, heads, d, states})}, 1);
        if (!t.training()) t.cache(trace::buffer({batch, heads, d, states}));
        const linear out_proj{inner, here.dims.hidden_size, m.use_bias};
        return t.call("out_proj", out_proj, t.to(joined.transpose(1, 2), x.type));
    }
};

/// A Mamba layer, whose input the shared block may have added to.
constexpr value scan(const site& here, trace& t, const value& x, const value* more) {
    const value h = normed(here, t, "input_layernorm", more != nullptr ? t.add(x, *more) : x);
    return t.add(x, t.call("mamba", mixer{here}, h));
}

constexpr value layer(const site& here, trace& t, const value& x) {
    if (here.kind.own == 0) return scan(here, t, x, nullptr);
    const std::int64_t width = here.dims.hidden_size;
    const value more = t.call("linear", linear{width, width}, t.call("shared_transf", shared_block{here}, x));
    const module_info inner{.name = "mamba_decoder", .type = here.type("MambaDecoderLayer")};
    t.enter(inner);
    return t.leave(inner, scan(here, t, x, &more));
}

constexpr value base(const site& here, trace& t) {
    const value x = here.row.embed(here, t);
    decoder_context c = masks(here, t);
    c.full.own[0] = t.clone(x);
    return normed(here, t, here.row.names.norm, describe_layers(here, t, c, x));
}

constexpr void read_mixers(config_view config, sizes& s) {
    state_space_sizes& m = s.ssm;
    m.state_size = config.positive("mamba_d_state", 16);
    m.conv_kernel = config.positive("mamba_d_conv", 4);
    m.intermediate_size = checked_width(config, "mamba_expand", config.positive("mamba_expand", 2), s.hidden_size);
    m.num_heads = config.positive("n_mamba_heads", 2);
    m.time_step_rank = (s.hidden_size + 15) / 16;
    if (const auto rank = config.find("mamba_dt_rank"); rank && !(rank->is_string() && rank->as_string() == "auto"))
        m.time_step_rank = rank->as_positive();
    m.use_bias = config.boolean("mamba_proj_bias", false);
    m.use_conv_bias = config.boolean("mamba_conv_bias", true);
    if (m.intermediate_size % m.num_heads != 0)
        fail_value(config, "n_mamba_heads", "a divisor of mamba_expand * hidden_size");
    if (m.num_heads > trace::most_joined) fail_unsupported(config, "n_mamba_heads", "so many scans are not joined");
    m.head_dim = m.intermediate_size / m.num_heads;
    s.own[mixer_act] = static_cast<std::int64_t>(activation::silu);
    if (const auto act = config.optional_string("hidden_mamba_act"))
        s.own[mixer_act] = static_cast<std::int64_t>(activation_named(config, "hidden_mamba_act", *act));
}

/// Which layers have the shared block: those that a list calls hybrid, or the third, and one of each period behind it.
constexpr bool is_hybrid(config_view config, const sizes& s, std::int64_t i) {
    for (const literal key : {"layers_block_type", "layer_types"}) {
        const auto list = config.optional_array(key);
        if (!list) continue;
        if (static_cast<std::int64_t>(list->size()) != s.num_hidden_layers)
            fail_value(config, key, "a list with one kind per hidden layer");
        const string_ref word = (*list)[static_cast<std::size_t>(i)].as_string();
        if (word != "hybrid" && word != "linear_attention" && word != "mamba")
            fail_unsupported(config, key, "no layer describes one of these kinds");
        return word == "hybrid";
    }
    if (s.num_hidden_layers < 3) fail_missing(config, "layers_block_type", "a list with one kind per hidden layer");
    const std::int64_t period = config.positive("attn_layer_period", 6), at = config.non_negative("attn_layer_offset", 4);
    return i == 2 || (i > 2 && (i - 3) % period == at);
}

constexpr void read(config_view config, sizes& s) {
    const std::int64_t wide = checked_width(config, "hidden_size", 2, s.hidden_size);
    const auto given = config.optional_integer("attention_hidden_size");
    if (given && *given != 0 && *given != wide) fail_value(config, "attention_hidden_size", "2 * hidden_size");
    const auto d = config.optional_integer(config.contains("attention_head_dim") ? "attention_head_dim" : "head_dim");
    s.head_dim = d && *d != 0 ? s.head_dim : wide / s.num_attention_heads;
    if (s.head_dim == 0) fail_value(config, "num_attention_heads", "at most 2 * hidden_size");
    s.sliding_window = 0, s.attention_bias = s.output_bias = s.mlp_bias = false;
    read_mixers(config, s);
    const std::int64_t all = count_layers(config, s, [&](std::int64_t i) { return is_hybrid(config, s, i); });
    // the reference asks an attention how long the cache is, and fails to tie a block that nobody shares
    if (all < (s.tie_word_embeddings ? 2 : 1))
        fail_value(config, "layers_block_type", "hybrid layers, two where words are tied");
    bool seen = false;
    plan_layers(config, s, [&](std::int64_t i) {
        if (!is_hybrid(config, s, i)) return layer_kind{mixer_kind::recurrent};
        // `_tied_weights_keys` hold for a file that ties its words
        const bool again = s.tie_word_embeddings && seen;
        seen = true;
        return layer_kind{.mixer = mixer_kind::full_attention, .own = again ? tied : first};
    });
}

}  // namespace zamba_detail

// transformers/models/zamba: configuration_zamba.py, modeling_zamba.py; Mamba-1 layers in heads, some of which read a
// transformer block that they share
inline constexpr architecture zamba = [](architecture a) {
    a.model_type = "zamba", a.prefix = "Zamba", a.heads = classifying_decoder_heads;
    a.read = zamba_detail::read, a.own = zamba_detail::keys;
    a.base = zamba_detail::base, a.layer = zamba_detail::layer;
    a.rotated = rotation::none, a.masks = mask_rule::full_and_present;
    a.kinds = attention_kinds | mixer_kind::recurrent, a.kinds.own = zamba_detail::tied;
    a.names.norm = "final_layernorm", a.names.layer_type = "HybridLayer";
    a.names.recurrent_layer_type = "MambaDecoderLayer";
    a.keys[0] = no_attention_bias, a.keys[1] = no_mlp_bias;
    a.keys[2] = {"head_dim", "attention_head_dim", key_rule::written_first};
    a.defaults = sizes{.vocab_size = 32000,
                       .hidden_size = 3712,
                       .intermediate_size = 14848,
                       .num_hidden_layers = 76,
                       .num_attention_heads = 16,
                       .num_key_value_heads = 16,
                       .max_position_embeddings = 4096,
                       .hidden_act = activation::gelu,
                       .tie_word_embeddings = true};
    return a;
}(llama);

}  // namespace llmcost::arch
