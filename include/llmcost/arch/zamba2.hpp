// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/layers/state_space_dual.hpp>

namespace llmcost::arch {

namespace zamba2_detail {

enum own : std::uint8_t { blocks, rank, attention_adapters, rotates, biases, hybrids };
inline constexpr own_key keys[]{
    {"num_mem_blocks", 1},
    {"adapter_rank", 128},
    {"use_shared_attention_adapter", 0, own_value::boolean},
    {"use_mem_rope", 0, own_value::boolean},
    {"add_bias_linear", 0, own_value::boolean},
    {.value = own_value::computed},  // layers that have a shared block
};

/// Words of layers that have a shared block: the first of a block, with more adapters or with fewer, and those that are
/// tied.
inline constexpr std::uint8_t first_of_more = 1, first_of_fewer = 2, tied = 3;

/// Number of this layer among those that have a shared block.
constexpr std::int64_t turn_of(const site& here) {
    std::int64_t n = 0;
    for (std::int64_t i = 0; i < here.layer; ++i) n += here.dims.layers[i].own != 0;
    return n;
}

constexpr value call_linear(const site& here, trace& t, literal name, std::int64_t in, std::int64_t out, bool bias,
                            const value& x) {
    const bool again = here.kind.own == tied;
    return t.call(name, linear{in, out, bias, again, again}, x);
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

/// Two projections by way of a few features.
struct adapter {
    const site& here;
    std::int64_t in, out;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {"", "Sequential"}; }
    constexpr value describe(trace& t, const value& x) const {
        const value h = call_linear(here, t, "0", in, here.dims.own[rank], false, x);
        return call_linear(here, t, "1", here.dims.own[rank], out, false, h);
    }
    /// The parameters alone, which the other layers of the block call.
    constexpr void declare(trace& t, literal list, std::int64_t i) const {
        const module_info whole{.name = list, .index = i, .type = type()};
        t.enter(whole);
        for (const bool second : {false, true}) {
            const std::int64_t narrow = here.dims.own[rank];
            const module_info half{.name = second ? "1" : "0", .type = {"", "Linear"}, .leaf = true};
            const extents sizes = second ? extents{out, narrow} : extents{narrow, in};
            t.enter(half);
            (void)(here.kind.own == tied ? t.tied("weight", sizes) : t.param("weight", sizes));
            t.leave(half);
        }
        t.leave(whole);
    }
};

/// Every layer that shares a block has an adapter in it, of which each calls its own.
constexpr value adapted(const site& here, trace& t, literal list, std::int64_t in, std::int64_t out, const value& x) {
    const std::int64_t own_turn = turn_of(here), step = here.dims.own[blocks];
    value found;
    for (std::int64_t i = own_turn % step; i < here.dims.own[hybrids]; i += step) {
        const adapter one{here, in, out};
        const recorder::idle_guard unused{t, i != own_turn && !here.dims.tie_word_embeddings};  // no other layer is tied
        if (i == own_turn)
            found = t.call({list, i}, one, x);
        else
            one.declare(t, list, i);
    }
    return found;
}

/// Attention over states and words side by side, twice as wide as a layer.
struct attention {
    const site& here;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Attention"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t wide = 2 * here.dims.hidden_size, d = here.dims.head_dim;
        const auto projected = [&](literal name, literal list, std::int64_t heads) {
            const value all = call_linear(here, t, name, wide, heads * d, false, x);
            return here.dims.own[attention_adapters] ? t.add(all, adapted(here, t, list, wide, wide, x)) : all;
        };
        qkv of;
        of.q = projected("q_proj", "linear_q_adapter_list", here.dims.num_attention_heads);
        of.k = projected("k_proj", "linear_k_adapter_list", here.dims.num_key_value_heads);
        of.v = projected("v_proj", "linear_v_adapter_list", here.dims.num_key_value_heads);
        split_heads(here, of);
        heads_first(of);
        if (here.dims.own[rotates])
            for (value* const each : {&of.q, &of.k})
                *each = rotate(t, rotation::half, *each, here.shared->cos, here.shared->sin);
        remember(here, t, of);
        const value found = look_up(here, t, of);
        return call_linear(here, t, "o_proj", found.dim(-1), here.dims.hidden_size, false, found);
    }
};

struct feed_block {
    const site& here;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("MLP"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, inner = here.dims.intermediate_size;
        const bool bias = here.dims.own[biases] != 0;
        const value all = call_linear(here, t, "gate_up_proj", width, 2 * inner, bias, x);
        const value half = t.add(all, adapted(here, t, "gate_up_proj_adapter_list", width, 2 * inner, x)).slice(-1, inner);
        const value h = t.mul(t.call("act_fn", activation_module{here.dims.hidden_act}, half), half);
        return call_linear(here, t, "down_proj", inner, width, bias, h);
    }
};

/// A transformer block without residuals, which several layers share.
struct shared_block {
    const site& here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("AttentionDecoderLayer"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size;
        value h = t.cat({x, here.shared->own[0]}, -1);
        h = t.call("input_layernorm", shared_norm{here, 2 * width}, h);
        h = t.call("self_attn", attention{here}, h);
        return t.call("feed_forward", feed_block{here}, t.call("pre_ff_layernorm", shared_norm{here, width}, h));
    }
};

/// A Mamba-2 layer, whose input a shared block may have added to.
constexpr value scan(const site& here, trace& t, const value& x, const value* more) {
    const value h = normed(here, t, "input_layernorm", more != nullptr ? t.add(x, *more) : x);
    const dual_state_space mixer{here.dims.hidden_size, here.dims.ssm, activation::silu, here.type("MambaMixer"),
                                 here.type("RMSNormGated")};
    return t.add(x, t.call("mamba", mixer, h));
}

constexpr value layer(const site& here, trace& t, const value& x) {
    if (here.kind.own == 0) return scan(here, t, x, nullptr);
    const std::int64_t width = here.dims.hidden_size;
    const value found = t.call("shared_transformer", shared_block{here}, x);
    const value more = t.call("linear", linear{width, width}, found);
    const module_info inner{.name = "mamba_decoder", .type = here.type("MambaDecoderLayer")};
    t.enter(inner);
    return t.leave(inner, scan(here, t, x, &more));
}

constexpr value base(const site& here, trace& t) {
    const value x = here.row.embed(here, t);
    decoder_context c = masks(here, t);
    c.full.own[0] = t.clone(x);
    if (here.dims.own[rotates]) make_rotary_tables(here, t, c.full);
    return normed(here, t, here.row.names.norm, describe_layers(here, t, c, x));
}

constexpr void read_mixers(config_view config, sizes& s) {
    state_space_sizes& m = s.ssm;
    m.state_size = config.positive("mamba_d_state", 64);
    m.conv_kernel = config.positive("mamba_d_conv", 4);
    m.intermediate_size = checked_width(config, "mamba_expand", config.positive("mamba_expand", 2), s.hidden_size);
    m.num_heads = config.positive("n_mamba_heads", 8);
    m.n_groups = config.positive("mamba_ngroups", 1);
    m.chunk_size = config.positive("chunk_size", 256);
    m.use_bias = s.own[biases] != 0, m.use_conv_bias = true;
    if (m.intermediate_size % m.num_heads != 0)
        fail_value(config, "n_mamba_heads", "a divisor of mamba_expand * hidden_size");
    m.head_dim = m.intermediate_size / m.num_heads;
    if (m.num_heads % m.n_groups != 0) fail_value(config, "mamba_ngroups", "a divisor of n_mamba_heads");
    (void)checked_width(config, "mamba_d_state", m.n_groups, m.state_size);
}

/// Which layers have a shared block: those that a list calls hybrid, or those of the 54 that the configuration class has.
constexpr bool is_hybrid(config_view config, const sizes& s, std::int64_t i) {
    for (const literal key : {"layer_types", "layers_block_type"}) {
        const auto list = config.optional_array(key);
        if (!list) continue;
        if (static_cast<std::int64_t>(list->size()) != s.num_hidden_layers)
            fail_value(config, key, "a list with one kind per hidden layer");
        const string_ref word = (*list)[static_cast<std::size_t>(i)].as_string();
        if (word != "hybrid" && word != "linear_attention" && word != "mamba")
            fail_unsupported(config, key, "no layer describes one of these kinds");
        return word == "hybrid";
    }
    if (s.num_hidden_layers != 54) fail_missing(config, "layers_block_type", "a list with one kind per hidden layer");
    return i < 43 ? i > 0 && i % 6 == 0 : i == 47 || i == 51;
}

constexpr void read(config_view config, sizes& s) {
    if (s.intermediate_size == 0) s.intermediate_size = checked_width(config, "hidden_size", 4, s.hidden_size);
    s.head_dim = 2 * s.hidden_size / s.num_attention_heads;
    if (s.head_dim * s.num_attention_heads != 2 * s.hidden_size)
        fail_value(config, "num_attention_heads", "a divisor of 2 * hidden_size");
    if (config.optional_positive("attention_head_dim") && config.positive("attention_head_dim") != s.head_dim)
        fail_value(config, "attention_head_dim", "2 * hidden_size / num_attention_heads");
    if (s.own[attention_adapters] && s.num_key_value_heads != s.num_attention_heads)
        fail_value(config, "num_key_value_heads", "num_attention_heads, where attention has adapters");
    s.sliding_window = 0, s.attention_bias = s.output_bias = s.mlp_bias = false;
    if (config.boolean("use_long_context", false)) s.max_position_embeddings = 16384;
    if (s.own[rotates]) {
        s.frequencies = detail::read_frequency_rule(config, "full_attention"), s.rotary_dim = s.head_dim;
        if (s.head_dim % 2 != 0) fail_unsupported(config, "num_attention_heads", "heads of an odd width are not rotated");
    }
    read_mixers(config, s);
    const std::int64_t all = count_layers(config, s, [&](std::int64_t i) { return is_hybrid(config, s, i); });
    std::int64_t seen = 0;
    s.own[hybrids] = all;
    const std::int64_t apart = s.own[blocks];
    plan_layers(config, s, [&](std::int64_t i) {
        if (!is_hybrid(config, s, i)) return layer_kind{mixer_kind::recurrent};
        const bool more = seen % apart < all % apart || all % apart == 0;
        // `_tied_weights_keys` hold for a file that ties its words
        const bool again = s.tie_word_embeddings && seen >= apart;
        const std::uint8_t word = again ? tied : more ? first_of_more : first_of_fewer;
        ++seen;
        return layer_kind{.mixer = mixer_kind::full_attention, .own = word};
    });
}

}  // namespace zamba2_detail

// transformers/models/zamba2: configuration_zamba2.py, modeling_zamba2.py; Mamba-2 layers, some of which read a transformer
// block that they share, with adapters of their own
inline constexpr architecture zamba2 = [](architecture a) {
    a.model_type = "zamba2", a.prefix = "Zamba2", a.heads = classifying_decoder_heads;
    a.read = zamba2_detail::read, a.own = zamba2_detail::keys;
    a.base = zamba2_detail::base, a.layer = zamba2_detail::layer;
    a.rotated = rotation::none, a.masks = mask_rule::full_and_present;
    a.kinds = attention_kinds | mixer_kind::recurrent, a.kinds.own = zamba2_detail::tied;
    a.names.norm = "final_layernorm", a.names.layer_type = "HybridLayer";
    a.names.recurrent_layer_type = "MambaDecoderLayer";
    a.keys[0] = no_attention_bias, a.keys[1] = no_mlp_bias;
    a.keys[2] = {"head_dim", "", key_rule::absent};
    a.defaults = sizes{.vocab_size = 32000,
                       .hidden_size = 2560,
                       .num_hidden_layers = 54,
                       .num_attention_heads = 32,
                       .max_position_embeddings = 4096,
                       .hidden_act = activation::gelu,
                       .tie_word_embeddings = true};
    return a;
}(llama);

}  // namespace llmcost::arch
