// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/olmo.hpp>
#include <llmcost/layers/gated_delta_net.hpp>

namespace llmcost::arch {

namespace olmo_hybrid_detail {

enum own : std::uint8_t { rotates, doubles_beta };
inline constexpr own_key keys[]{
    {.value = own_value::computed},  // there is a `rope_theta`
    {"linear_allow_neg_eigval", 1, own_value::boolean},
};

/// A gated delta net with a projection and a gate for each of its parts.
struct delta_net {
    const site& here;

    static constexpr role what = role::mixer;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("GatedDeltaNet"); }
    constexpr value describe(trace& t, const value& x) const {
        const delta_sizes& d = here.dims.delta;
        const std::int64_t width = here.dims.hidden_size, batch = x.dim(0), sequence = x.dim(1);
        const delta_rule_sizes rule{width,         d.num_key_heads,     d.num_value_heads, d.key_head_dim, d.value_head_dim,
                                    d.conv_kernel, here.dims.hidden_act};
        const std::int64_t keys_width = rule.key_dim(), values_width = rule.value_dim();
        const value a_log = t.param("A_log", {d.num_value_heads}), dt_bias = t.param("dt_bias", {d.num_value_heads});
        const auto projected = [&](literal name, std::int64_t features) { return t.call(name, linear{width, features}, x); };
        const value q = projected("q_proj", keys_width), k = projected("k_proj", keys_width);
        const value joined = t.cat({q, k, projected("v_proj", values_width)}, -1).transpose(1, 2);
        const convolution_weights kernel =
            declare_convolution(t, "conv1d", 2 * keys_width + values_width, d.conv_kernel, false);
        const value mixed = causal_convolution(t, joined, kernel, rule.act).transpose(1, 2);
        const auto heads = [&](std::int64_t all, std::int64_t each) {
            return mixed.slice(-1, all).view({batch, sequence, -1, each});
        };
        delta_rule::inputs in;
        in.query = heads(keys_width, d.key_head_dim), in.key = heads(keys_width, d.key_head_dim);
        in.value_ = heads(values_width, d.value_head_dim);
        in.beta = t.sigmoid(projected("b_proj", d.num_value_heads));
        if (here.dims.own[doubles_beta]) in.beta = t.mul(in.beta);
        const value rate = t.neg(t.exp(t.to(a_log, dtype::float32)));
        in.decay = t.mul(rate, t.softplus(t.add(t.to(projected("a_proj", d.num_value_heads), dtype::float32), dt_bias)));
        const value rows = t.reshape(delta_rule::cached(t, in, rule), {-1, d.value_head_dim});
        const value gate = t.reshape(projected("g_proj", values_width), {-1, d.value_head_dim});
        const value normed = t.call("o_norm", gated_rms_norm{d.value_head_dim, here.type("RMSNormGated")}, rows, gate);
        return t.call("o_proj", linear{values_width, width}, t.reshape(normed, {batch, sequence, -1}));
    }
};

constexpr value recur(const site& here, trace& t, const value& x) {
    return t.call(here.row.names.recurrent, delta_net{here}, x);
}

constexpr decoder_context prepare(const site& here, trace& t) {
    decoder_context c = masks(here, t);
    if (here.dims.own[rotates]) make_rotary_tables(here, t, c.full);
    return c;
}

/// Attention as in OLMo 2, perhaps without positions.
constexpr value attend(const site& here, trace& t, const value& x) {
    qkv of = project_qkv(here, t, x);
    norm_queries_and_keys(here, t, of, of.q.dim(-1), of.k.dim(-1));
    split_heads(here, of);
    heads_first(of);
    if (here.dims.own[rotates]) turn(here, t, of);
    remember(here, t, of);
    return join(here, t, look_up(here, t, of));
}

/// Norms behind the blocks of layers that attend, in front of those of the others.
constexpr value layer(const site& here, trace& t, const value& x) {
    return here.kind.mixer == mixer_kind::recurrent ? layer_normed_before(here, t, x) : layer_normed_after(here, t, x);
}

/// Whether the file says that there is no `rope_theta`.
constexpr bool denies_rope(config_view config) {
    const auto rope = detail::rope_parameters(config);
    const config_view place = rope && rope->contains("rope_theta") ? *rope : config;
    const auto theta = place.find("rope_theta");
    return theta && theta->is_null();
}

constexpr void read(config_view config, sizes& s) {
    delta_sizes& d = s.delta;
    const auto given = [&](literal key, std::int64_t otherwise) {
        const auto found = config.find(key);
        return found && !found->is_null() ? found->as_positive() : otherwise;
    };
    d.num_key_heads = given("linear_num_key_heads", s.num_attention_heads);
    d.num_value_heads = given("linear_num_value_heads", s.num_attention_heads);
    d.key_head_dim = given("linear_key_head_dim", 3 * s.hidden_size / (4 * d.num_key_heads));
    if (d.key_head_dim == 0) fail_value(config, "linear_num_key_heads", "heads of at least one element");
    d.value_head_dim = given("linear_value_head_dim", 2 * d.key_head_dim);
    d.conv_kernel = config.positive("linear_conv_kernel_dim", 4);
    if (d.num_value_heads % d.num_key_heads != 0)
        fail_value(config, "linear_num_value_heads", "a multiple of linear_num_key_heads");
    (void)checked_width(config, "linear_key_head_dim", d.num_key_heads, d.key_head_dim);
    (void)checked_width(config, "linear_value_head_dim", d.num_value_heads, d.value_head_dim);
    s.own[rotates] = !denies_rope(config);
    s.sliding_window = 0;
    if (read_layer_types(config, s, mixer_kind::recurrent)) return;
    const std::int64_t n = s.num_hidden_layers;
    plan_layers(config, s, [&](std::int64_t i) {
        const bool attends = i % 4 == 3 || (n < 4 && i == n - 1);
        return layer_kind{attends ? mixer_kind::full_attention : mixer_kind::recurrent};
    });
}

}  // namespace olmo_hybrid_detail

// transformers/models/olmo_hybrid: configuration_olmo_hybrid.py, modeling_olmo_hybrid.py; gated delta nets between OLMo 3's
// attention layers
inline constexpr architecture olmo_hybrid = [](architecture a) {
    a.model_type = "olmo_hybrid", a.prefix = "OlmoHybrid", a.heads = language_heads;
    a.read = olmo_hybrid_detail::read, a.own = olmo_hybrid_detail::keys;
    a.prepare = olmo_hybrid_detail::prepare, a.layer = olmo_hybrid_detail::layer;
    a.attend = olmo_hybrid_detail::attend, a.recur = olmo_hybrid_detail::recur;
    a.masks = mask_rule::full_and_present, a.kinds = attention_kinds | mixer_kind::recurrent;
    a.names.layer_type = "AttentionDecoderLayer", a.names.recurrent_layer_type = "LinearAttentionDecoderLayer";
    a.defaults.vocab_size = 100352, a.defaults.hidden_size = 3840, a.defaults.num_attention_heads = 30;
    a.defaults.max_position_embeddings = 65536;
    return a;
}(olmo2);

}  // namespace llmcost::arch
