// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/forward/shared_transformer_block.hpp>
#include <llmcost/layers/state_space_dual.hpp>

namespace llmcost::arch {

namespace zamba2_detail {

enum family_config_index : std::uint8_t { blocks, rank, attention_adapters, rotates, biases, hybrids };

inline constexpr family_key family_keys[]{
    {"num_mem_blocks", 1},
    {"adapter_rank", 128},
    {"use_shared_attention_adapter", 0, family_key_type::boolean},
    {"use_mem_rope", 0, family_key_type::boolean},
    {"add_bias_linear", 0, family_key_type::boolean},
    {.type = family_key_type::computed},  // layers that have a shared block
};

/// Words of layers that have a shared block: the first of a block, with more adapters or with fewer, and those that are
/// tied.
inline constexpr std::uint8_t first_with_more_adapters = 1, first_with_fewer_adapters = 2, tied = 3;

/// Number of this layer among those that have a shared block.
constexpr std::int64_t hybrid_index_of(const layer_context& ctx) {
    std::int64_t n = 0;
    for (std::int64_t i = 0; i < ctx.layer_index; ++i) n += ctx.config.layers[i].family_tag != 0;
    return n;
}

constexpr tensor call_linear(const layer_context& ctx, trace& t, literal name, std::int64_t in, std::int64_t out,
                             bool bias, const tensor& x) {
    const bool is_tied = ctx.layer.family_tag == tied;
    return t.call(name, linear{in, out, bias, is_tied, is_tied}, x);
}

/// Two projections by way of a few features.
struct adapter {
    const layer_context& ctx;
    std::int64_t in, out;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "Sequential"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor h = call_linear(ctx, t, "0", in, ctx.config.family[rank], false, x);
        return call_linear(ctx, t, "1", ctx.config.family[rank], out, false, h);
    }
    /// The parameters alone, which the other layers of the block call.
    constexpr void declare(trace& t, literal list, std::int64_t i) const {
        const module_info model_info{.name = list, .index = i, .class_of_module = type_name()};
        t.enter(model_info);
        for (const bool second : {false, true}) {
            const std::int64_t adapter_rank = ctx.config.family[rank];
            const module_info half{.name = second ? "1" : "0", .class_of_module = {"", "Linear"}, .is_leaf = true};
            const shape sizes = second ? shape{out, adapter_rank} : shape{adapter_rank, in};
            t.enter(half);
            (void)(ctx.layer.family_tag == tied ? t.tied("weight", sizes) : t.param("weight", sizes));
            t.leave(half);
        }
        t.leave(model_info);
    }
};

/// Every layer that shares a block has an adapter in it, of which each calls its own.
constexpr tensor adapted(const layer_context& ctx, trace& t, literal list, std::int64_t in, std::int64_t out,
                         const tensor& x) {
    const std::int64_t hybrid_index = hybrid_index_of(ctx), step = ctx.config.family[blocks];
    tensor found;
    for (std::int64_t i = hybrid_index % step; i < ctx.config.family[hybrids]; i += step) {
        const adapter one{ctx, in, out};
        const recorder::not_executed_guard unused{
            t, i != hybrid_index && !ctx.config.tie_word_embeddings};  // no other layer is tied
        if (i == hybrid_index)
            found = t.call({list, i}, one, x);
        else
            one.declare(t, list, i);
    }
    return found;
}

/// Attention over states concatenated with token embeddings, twice as wide as a layer.
struct attention {
    const layer_context& ctx;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Attention"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t expanded_width = 2 * ctx.config.hidden_size, d = ctx.config.head_dim;
        const auto projected = [&](literal name, literal list, std::int64_t heads) {
            const tensor all = call_linear(ctx, t, name, expanded_width, heads * d, false, x);
            return ctx.config.family[attention_adapters]
                       ? t.add(all, adapted(ctx, t, list, expanded_width, expanded_width, x))
                       : all;
        };
        query_key_value qkv;
        qkv.query = projected("q_proj", "linear_q_adapter_list", ctx.config.num_attention_heads);
        qkv.key = projected("k_proj", "linear_k_adapter_list", ctx.config.num_key_value_heads);
        qkv.value = projected("v_proj", "linear_v_adapter_list", ctx.config.num_key_value_heads);
        split_heads(ctx, qkv);
        transpose_heads(qkv);
        if (ctx.config.family[rotates])
            for (tensor* const operand : {&qkv.query, &qkv.key})
                *operand = rotate(t, rotary_style::rotate_half, *operand, ctx.inputs->cos, ctx.inputs->sin);
        update_kv_cache(ctx, t, qkv);
        const tensor found = scaled_dot_product_attention(ctx, t, qkv);
        return call_linear(ctx, t, "o_proj", found.dim(-1), ctx.config.hidden_size, false, found);
    }
};

struct mlp_block {
    const layer_context& ctx;

    static constexpr role module_role = role::mlp;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("MLP"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, inner = ctx.config.intermediate_size;
        const bool bias = ctx.config.family[biases] != 0;
        const tensor all = call_linear(ctx, t, "gate_up_proj", width, 2 * inner, bias, x);
        const tensor half =
            t.add(all, adapted(ctx, t, "gate_up_proj_adapter_list", width, 2 * inner, x)).slice(-1, inner);
        const tensor h = t.mul(t.call("act_fn", activation_module{ctx.config.hidden_act}, half), half);
        return call_linear(ctx, t, "down_proj", inner, width, bias, h);
    }
};

constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const dual_state_space mamba{ctx.config.hidden_size, ctx.config.ssm, activation::silu, ctx.class_of("MambaMixer"),
                                 ctx.class_of("RMSNormGated")};
    if (ctx.layer.family_tag == 0) return mamba_layer(ctx, t, x, nullptr, mamba);
    const shared_transformer_block<attention, mlp_block> block{ctx, ctx.layer.family_tag == tied};
    return hybrid_layer(ctx, t, x, "shared_transformer", block, mamba);
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    const tensor x = ctx.spec.embed_tokens(ctx, t);
    decoder_inputs c = make_masks(ctx, t);
    c.full.family_tensors[0] = t.clone(x);
    if (ctx.config.family[rotates]) compute_rotary_embeddings(ctx, t, c.full);
    return apply_norm(ctx, t, ctx.spec.names.norm, forward_layers(ctx, t, c, x));
}

constexpr void parse_mixers(config_view json, model_config& config) {
    state_space_config& m = config.ssm;
    m.state_size = json.positive("mamba_d_state", 64);
    m.conv_kernel = json.positive("mamba_d_conv", 4);
    m.intermediate_size = checked_size(json, "mamba_expand", json.positive("mamba_expand", 2), config.hidden_size);
    m.num_heads = json.positive("n_mamba_heads", 8);
    m.n_groups = json.positive("mamba_ngroups", 1);
    m.chunk_size = json.positive("chunk_size", 256);
    m.use_bias = config.family[biases] != 0;
    m.use_conv_bias = true;
    if (m.intermediate_size % m.num_heads != 0)
        throw_invalid_value(json, "n_mamba_heads", "a divisor of mamba_expand * hidden_size");
    m.head_dim = m.intermediate_size / m.num_heads;
    if (m.num_heads % m.n_groups != 0) throw_invalid_value(json, "mamba_ngroups", "a divisor of n_mamba_heads");
    (void)checked_size(json, "mamba_d_state", m.n_groups, m.state_size);
}

/// Which layers have a shared block: those that a list calls hybrid, or those of the 54 that the configuration class
/// has.
constexpr bool is_hybrid(config_view json, const model_config& config, std::int64_t i) {
    if (const auto listed = listed_as_hybrid(json, config, i, "layer_types", "layers_block_type")) return *listed;
    if (config.num_hidden_layers != 54)
        throw_missing_key(json, "layers_block_type", "a list with one kind per hidden layer");
    return i < 43 ? i > 0 && i % 6 == 0 : i == 47 || i == 51;
}

constexpr void parse_config(config_view json, model_config& config) {
    if (config.intermediate_size == 0)
        config.intermediate_size = checked_size(json, "hidden_size", 4, config.hidden_size);
    config.head_dim = 2 * config.hidden_size / config.num_attention_heads;
    if (config.head_dim * config.num_attention_heads != 2 * config.hidden_size)
        throw_invalid_value(json, "num_attention_heads", "a divisor of 2 * hidden_size");
    if (json.optional_positive("attention_head_dim") && json.positive("attention_head_dim") != config.head_dim)
        throw_invalid_value(json, "attention_head_dim", "2 * hidden_size / num_attention_heads");
    if (config.family[attention_adapters] && config.num_key_value_heads != config.num_attention_heads)
        throw_invalid_value(json, "num_key_value_heads", "num_attention_heads, where attention has adapters");
    config.sliding_window = 0;
    config.attention_bias = config.output_bias = config.mlp_bias = false;
    if (json.boolean("use_long_context", false)) config.max_position_embeddings = 16384;
    if (config.family[rotates]) {
        config.rope_scaling = detail::parse_frequency_rule(json, "full_attention");
        config.rotary_dim = config.head_dim;
        if (config.head_dim % 2 != 0)
            throw_unsupported(json, "num_attention_heads", "an odd rotary head size is not supported");
    }
    parse_mixers(json, config);
    const std::int64_t all = count_layers(json, config, [&](std::int64_t i) { return is_hybrid(json, config, i); });
    std::int64_t hybrid_index = 0;
    config.family[hybrids] = all;
    const std::int64_t num_shared_blocks = config.family[blocks];
    set_layers(json, config, [&](std::int64_t i) {
        if (!is_hybrid(json, config, i)) return layer_spec{token_mixer_kind::recurrent};
        const bool has_more_adapters =
            hybrid_index % num_shared_blocks < all % num_shared_blocks || all % num_shared_blocks == 0;
        // `_tied_weights_keys` hold for a configuration with tied word embeddings
        const bool is_tied = config.tie_word_embeddings && hybrid_index >= num_shared_blocks;
        const std::uint8_t layer_variant = is_tied             ? tied
                                           : has_more_adapters ? first_with_more_adapters
                                                               : first_with_fewer_adapters;
        ++hybrid_index;
        return layer_spec{.token_mixer = token_mixer_kind::full_attention, .family_tag = layer_variant};
    });
}

}  // namespace zamba2_detail

// transformers/models/zamba2: configuration_zamba2.py, modeling_zamba2.py; Mamba-2 layers, some of which read a
// transformer block that they share, with adapters of their own
inline constexpr model_spec zamba2 = [](model_spec spec) {
    spec.model_type = "zamba2";
    spec.class_prefix = "Zamba2";
    spec.supported_heads = classifying_decoder_heads;
    spec.parse_config = zamba2_detail::parse_config;
    spec.family_keys = zamba2_detail::family_keys;
    spec.base_model = zamba2_detail::base;
    spec.decoder_layer = zamba2_detail::decoder_layer;
    spec.rotary = rotary_style::none;
    spec.mask_policy = mask_kind::full_and_present;
    spec.supported_layers = attention_layers | token_mixer_kind::recurrent;
    spec.supported_layers.max_family_tag = zamba2_detail::tied;
    spec.names.norm = "final_layernorm";
    spec.names.layer_class = "HybridLayer";
    spec.names.recurrent_layer_class = "MambaDecoderLayer";
    spec.config_keys.add("attention_bias", key_rule::absent);
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.config_keys.add("head_dim", key_rule::absent);
    spec.defaults = model_config{.vocab_size = 32000,
                                 .hidden_size = 2560,
                                 .num_hidden_layers = 54,
                                 .num_attention_heads = 32,
                                 .max_position_embeddings = 4096,
                                 .hidden_act = activation::gelu,
                                 .tie_word_embeddings = true};
    return spec;
}(llama);

}  // namespace llmcost::arch
