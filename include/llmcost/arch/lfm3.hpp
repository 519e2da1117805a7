// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/lfm2.hpp>

namespace llmcost::arch {

namespace lfm3_detail {

enum own : std::uint8_t { norms_after, gates };
inline constexpr own_key keys[]{
    {"use_sandwich_norm", 1, own_value::boolean},
    {"use_attention_gate", 1, own_value::boolean},
};

/// A gate of one number per head on what attention finds.
constexpr value attend(const site& here, trace& t, const value& x) {
    const std::int64_t d = here.dims.head_dim;
    qkv of = project_qkv(here, t, x);
    split_heads(here, of);
    norm_queries_and_keys(here, t, of, d, d);
    heads_first(of);
    for (value* const each : {&of.q, &of.k})
        *each = rotate(t, rotation::half_in_float, *each, here.shared->cos, here.shared->sin);
    remember(here, t, of);
    value found = eager_attention(t, of.q, of.k, of.v, here.shared->where, {.mask = &here.shared->mask});
    if (here.dims.own[gates]) {
        const value logits = t.call("g_proj", linear{here.dims.hidden_size, here.dims.num_attention_heads}, x);
        found = t.mul(found, t.sigmoid(logits).unsqueeze(-1));
    }
    return join(here, t, t.contiguous(t.reshape(found, {x.dim(0), x.dim(1), -1})));
}

constexpr decoder_context prepare(const site& here, trace& t) {
    return masks_and_tables_by_kind(here, t, {here.dims.head_dim, here.dims.head_dim}, rotation::half_in_float);
}

/// Norms before and behind each block, or identities behind them.
constexpr value layer(const site& here, trace& t, const value& x) {
    const bool norms = here.dims.own[norms_after] != 0;
    const auto behind = [&](literal name, const value& h) {
        return norms ? normed(here, t, name, h) : t.call(name, identity{"Identity"}, h);
    };
    value h = mixed(here, t, normed(here, t, "operator_norm", x));
    const value middle = t.add(x, behind("post_operator_norm", h));
    h = here.row.feed(here, t, normed(here, t, "ffn_norm", middle));
    return t.add(middle, behind("post_ffn_norm", h));
}

/// Rotary parameters by kind of layer, which turn whole heads.
constexpr void check_rope(config_view config, literal kind) {
    const auto all = config.optional_object("rope_parameters");
    if (!all) return;
    const config_view place = all->object(kind);
    if (detail::has_type_of_rope(place, "default") || detail::has_type_of_rope(place, "proportional")) return;
    bool known = false;
    for (const literal type : {"linear", "yarn", "llama3"}) known = known || detail::has_type_of_rope(place, type);
    if (!known) fail_unsupported(place, "rope_type", "no row describes such frequencies of one kind of layers");
    if (place.real("partial_rotary_factor", 1) != 1) fail_value(place, "partial_rotary_factor", "1, as whole heads turn");
}

constexpr mixer_kind mixer_by_rule(std::int64_t i) noexcept {
    if (i % 4 == 2) return mixer_kind::full_attention;
    return i % 4 == 0 && i > 0 ? mixer_kind::sliding_attention : mixer_kind::recurrent;
}

constexpr void read(config_view config, sizes& s) {
    s.hidden_act = activation::silu;
    s.ssm.conv_kernel = config.positive("conv_L_cache", 7);
    s.ssm.use_bias = config.boolean("conv_bias", false);
    const auto list = config.optional_array("layer_types");
    if (list && static_cast<std::int64_t>(list->size()) != s.num_hidden_layers)
        fail_value(config, "layer_types", "a list with one kind per hidden layer");
    plan_layers(config, s, [&](std::int64_t i) {
        if (!list) return layer_kind{mixer_by_rule(i)};
        const string_ref word = (*list)[static_cast<std::uint32_t>(i)].as_string();
        if (word == "conv") return layer_kind{mixer_kind::recurrent};
        if (word == "sliding_attention") return layer_kind{mixer_kind::sliding_attention};
        if (word != "full_attention") fail_unsupported(config, "layer_types", "no layer describes one of these kinds");
        return layer_kind{mixer_kind::full_attention};
    });
    if (s.head_dim % 2 != 0) fail_value(config, "head_dim", "an even number");
    if (s.layers.has(mixer_kind::full_attention, s.num_hidden_layers)) check_rope(config, "full_attention");
    if (s.layers.has(mixer_kind::sliding_attention, s.num_hidden_layers)) check_rope(config, "sliding_attention");
}

}  // namespace lfm3_detail

// transformers/models/lfm3: LFM2 with windows, gates on attention, and norms behind blocks
inline constexpr architecture lfm3 = [](architecture a) {
    a.model_type = "lfm3", a.prefix = "Lfm3", a.read = lfm3_detail::read, a.own = lfm3_detail::keys;
    a.layer = lfm3_detail::layer, a.attend = lfm3_detail::attend, a.masks = mask_rule::present;
    a.prepare = lfm3_detail::prepare, a.rotated = rotation::none;
    a.names.o = "o_proj", a.names.q_norm = "q_norm", a.names.k_norm = "k_norm";
    a.keys[0] = no_mlp_bias;
    a.defaults.vocab_size = 128000, a.defaults.hidden_size = 2048, a.defaults.intermediate_size = 7680;
    a.defaults.num_hidden_layers = 24, a.defaults.num_attention_heads = 16, a.defaults.num_key_value_heads = 4;
    a.defaults.head_dim = 128, a.defaults.sliding_window = 256;
    return a;
}(lfm2);

}  // namespace llmcost::arch
