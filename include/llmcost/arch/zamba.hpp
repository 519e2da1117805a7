// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/forward/shared_transformer_block.hpp>
#include <llmcost/layers/state_space.hpp>

namespace llmcost::arch {

namespace zamba_detail {

enum family_config_index : std::uint8_t { mixer_act };

inline constexpr family_key family_keys[]{
    {.type = family_key_type::computed},  // `hidden_mamba_act`
};

/// Words of layers that have the shared block: the one that declares it, and those that are tied.
inline constexpr std::uint8_t first = 1, tied = 2;

constexpr tensor call_linear(const layer_context& ctx, trace& t, literal name, std::int64_t out, const tensor& x) {
    return t.call(name, linear{x.dim(-1), out, false, ctx.layer.family_tag == tied}, x);
}

/// Attention without positions over states concatenated with token embeddings.
struct attention {
    const layer_context& ctx;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Attention"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t d = ctx.config.head_dim, kv_width = ctx.config.num_key_value_heads * d;
        query_key_value qkv;
        qkv.query = call_linear(ctx, t, "q_proj", ctx.config.num_attention_heads * d, x);
        qkv.key = call_linear(ctx, t, "k_proj", kv_width, x);
        qkv.value = call_linear(ctx, t, "v_proj", kv_width, x);
        split_heads(ctx, qkv);
        transpose_heads(qkv);
        update_kv_cache(ctx, t, qkv);
        return call_linear(ctx, t, "o_proj", ctx.config.hidden_size, scaled_dot_product_attention(ctx, t, qkv));
    }
};

struct mlp_block {
    const layer_context& ctx;

    static constexpr role module_role = role::mlp;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("MLP"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t inner = ctx.config.intermediate_size;
        const tensor gate =
            t.call("act_fn", activation_module{ctx.config.hidden_act}, call_linear(ctx, t, "gate_proj", inner, x));
        const tensor h = t.mul(gate, call_linear(ctx, t, "up_proj", inner, x));
        return call_linear(ctx, t, "down_proj", ctx.config.hidden_size, h);
    }
};

/// The Mamba-1 mixer in heads that are scanned one by one, each with time steps, B and C of its own.
struct mixer {
    const layer_context& ctx;

    static constexpr role module_role = role::mixer;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("MambaMixer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const state_space_config& m = ctx.config.ssm;
        const std::int64_t inner = m.intermediate_size, states = m.state_size, rank = m.time_step_rank;
        const std::int64_t heads = m.num_heads, d = m.head_dim, batch = x.dim(0), sequence = x.dim(1);
        const tensor x_proj = t.param("x_proj_weight", {heads, rank + 2 * states, d});
        const tensor dt_proj = t.param("dt_proj_weight", {heads, d, rank});
        const tensor dt_bias = t.param("dt_proj_bias", {heads, d});
        const tensor a_log = t.float32_param("A_log", {heads, d, states}), skip = t.param("D", {heads, d});
        const linear in_proj{ctx.config.hidden_size, 2 * inner, m.use_bias};
        const tensor all = t.call("in_proj", in_proj, x).transpose(1, 2).view({batch, inner, 2, sequence});
        const tensor half = all.slice(2, 1);
        tensor u = t.contiguous(half.squeeze(2));
        const tensor gate = t.reshape(half, {batch, heads, d, sequence}).transpose(0, 1);
        const convolution_weights kernel = declare_conv_weights(t, "conv1d", inner, m.conv_kernel, m.use_conv_bias);
        const auto act = static_cast<activation>(ctx.config.family[mixer_act]);
        u = causal_convolution(t, u, kernel, act);
        u = t.reshape(u, {batch, heads, d, sequence}).transpose(0, 1);
        const tensor chosen = t.matmul_operator(x_proj.unsqueeze(1), u).transpose(-1, -2);
        const tensor low = chosen.slice(-1, rank).transpose(-1, -2), b = chosen.slice(-1, states);
        const tensor steps = t.matmul_operator(dt_proj.unsqueeze(1), low);
        const tensor bias = t.to(dt_bias, dtype::float32);
        const tensor a = t.neg(t.exp(t.to(a_log, dtype::float32)));
        const bool is_decode_step = has_recurrent_state(t) && sequence == 1;
        tensor parts[trace::max_cat_inputs];
        for (std::int64_t head = 0; head < heads; ++head) {
            selective_scan_inputs in{};
            in.u = t.select(u, 0);
            in.time_step = t.select(steps, 0);
            in.gate = t.select(gate, 0);
            in.a = t.select(a, 0);
            in.d = t.select(skip, 0);
            in.time_step_bias = t.select(bias, 0);
            in.b = t.select(b, 0);
            in.c = t.select(b, 0);
            parts[head] = is_decode_step ? selective_state_update(t, in, false) : selective_scan(t, in, false);
        }
        const tensor concatenated = t.cat(parts, static_cast<int>(heads), 1);
        // the last states, side by side, on their way to the cache
        if (!t.is_training() && !is_decode_step) (void)t.cat({trace::buffer({batch, heads, d, states})}, 1);
        if (!t.is_training()) t.add_to_cache(trace::buffer({batch, heads, d, states}));
        const linear out_proj{inner, ctx.config.hidden_size, m.use_bias};
        return t.call("out_proj", out_proj, t.to(concatenated.transpose(1, 2), x.type));
    }
};

constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const mixer mamba{ctx};
    if (ctx.layer.family_tag == 0) return mamba_layer(ctx, t, x, nullptr, mamba);
    const shared_transformer_block<attention, mlp_block> block{ctx, ctx.layer.family_tag == tied};
    return hybrid_layer(ctx, t, x, "shared_transf", block, mamba);
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    const tensor x = ctx.spec.embed_tokens(ctx, t);
    decoder_inputs c = make_masks(ctx, t);
    c.full.family_tensors[0] = t.clone(x);
    return apply_norm(ctx, t, ctx.spec.names.norm, forward_layers(ctx, t, c, x));
}

constexpr void parse_mixers(config_view json, model_config& config) {
    state_space_config& m = config.ssm;
    m.state_size = json.positive("mamba_d_state", 16);
    m.conv_kernel = json.positive("mamba_d_conv", 4);
    m.intermediate_size = checked_size(json, "mamba_expand", json.positive("mamba_expand", 2), config.hidden_size);
    m.num_heads = json.positive("n_mamba_heads", 2);
    m.time_step_rank = (config.hidden_size + 15) / 16;
    if (const auto rank = json.find("mamba_dt_rank"); rank && !(rank->is_string() && rank->as_string() == "auto"))
        m.time_step_rank = rank->as_positive();
    m.use_bias = json.boolean("mamba_proj_bias", false);
    m.use_conv_bias = json.boolean("mamba_conv_bias", true);
    if (m.intermediate_size % m.num_heads != 0)
        throw_invalid_value(json, "n_mamba_heads", "a divisor of mamba_expand * hidden_size");
    if (m.num_heads > trace::max_cat_inputs) throw_unsupported(json, "n_mamba_heads", "unsupported number of heads");
    m.head_dim = m.intermediate_size / m.num_heads;
    config.family[mixer_act] = static_cast<std::int64_t>(activation::silu);
    if (const auto act = json.optional_string("hidden_mamba_act"))
        config.family[mixer_act] = static_cast<std::int64_t>(activation_named(json, "hidden_mamba_act", *act));
}

/// True if a layer has the shared block. A list names hybrid layers; by default it is the third layer and one per
/// period after it.
constexpr bool is_hybrid(config_view json, const model_config& config, std::int64_t i) {
    if (const auto listed = listed_as_hybrid(json, config, i, "layers_block_type", "layer_types")) return *listed;
    if (config.num_hidden_layers < 3)
        throw_missing_key(json, "layers_block_type", "a list with one kind per hidden layer");
    const std::int64_t period = json.positive("attn_layer_period", 6),
                       offset = json.non_negative("attn_layer_offset", 4);
    return i == 2 || (i > 2 && (i - 3) % period == offset);
}

constexpr void parse_config(config_view json, model_config& config) {
    const std::int64_t expanded_width = checked_size(json, "hidden_size", 2, config.hidden_size);
    const auto attention_hidden_size = json.optional_integer("attention_hidden_size");
    if (attention_hidden_size && *attention_hidden_size != 0 && *attention_hidden_size != expanded_width)
        throw_invalid_value(json, "attention_hidden_size", "2 * hidden_size");
    const auto d = json.optional_integer(json.contains("attention_head_dim") ? "attention_head_dim" : "head_dim");
    config.head_dim = d && *d != 0 ? config.head_dim : expanded_width / config.num_attention_heads;
    if (config.head_dim == 0) throw_invalid_value(json, "num_attention_heads", "at most 2 * hidden_size");
    config.sliding_window = 0;
    config.attention_bias = config.output_bias = config.mlp_bias = false;
    parse_mixers(json, config);
    const std::int64_t all = count_layers(json, config, [&](std::int64_t i) { return is_hybrid(json, config, i); });
    // the reference reads the cache length from an attention layer, and cannot tie a block that only one layer uses
    if (all < (config.tie_word_embeddings ? 2 : 1))
        throw_invalid_value(json, "layers_block_type", "at least one hybrid layer, or two with tied word embeddings");
    bool has_shared_block = false;
    set_layers(json, config, [&](std::int64_t i) {
        if (!is_hybrid(json, config, i)) return layer_spec{token_mixer_kind::recurrent};
        // `_tied_weights_keys` hold for a configuration with tied word embeddings
        const bool is_tied = config.tie_word_embeddings && has_shared_block;
        has_shared_block = true;
        return layer_spec{.token_mixer = token_mixer_kind::full_attention, .family_tag = is_tied ? tied : first};
    });
}

}  // namespace zamba_detail

// transformers/models/zamba: configuration_zamba.py, modeling_zamba.py; Mamba-1 layers in heads, some of which read a
// transformer block that they share
inline constexpr model_spec zamba = [](model_spec spec) {
    spec.model_type = "zamba";
    spec.class_prefix = "Zamba";
    spec.supported_heads = classifying_decoder_heads;
    spec.parse_config = zamba_detail::parse_config;
    spec.family_keys = zamba_detail::family_keys;
    spec.base_model = zamba_detail::base;
    spec.decoder_layer = zamba_detail::decoder_layer;
    spec.rotary = rotary_style::none;
    spec.mask_policy = mask_kind::full_and_present;
    spec.supported_layers = attention_layers | token_mixer_kind::recurrent;
    spec.supported_layers.max_family_tag = zamba_detail::tied;
    spec.names.norm = "final_layernorm";
    spec.names.layer_class = "HybridLayer";
    spec.names.recurrent_layer_class = "MambaDecoderLayer";
    spec.config_keys.add("attention_bias", key_rule::absent);
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.config_keys.add("head_dim", "attention_head_dim", key_rule::family_name_first);
    spec.defaults = model_config{.vocab_size = 32000,
                                 .hidden_size = 3712,
                                 .intermediate_size = 14848,
                                 .num_hidden_layers = 76,
                                 .num_attention_heads = 16,
                                 .num_key_value_heads = 16,
                                 .max_position_embeddings = 4096,
                                 .hidden_act = activation::gelu,
                                 .tie_word_embeddings = true};
    return spec;
}(llama);

}  // namespace llmcost::arch
