// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/layers/state_space_dual.hpp>

namespace llmcost::arch {

namespace bamba_detail {

/// The keys of Mamba-2 mixers that IBM's hybrids have: heads that make up `mamba_expand` times the hidden size.
constexpr void read_mixers(config_view config, sizes& s) {
    state_space_sizes& m = s.ssm;
    m.state_size = config.positive("mamba_d_state", 256);
    m.conv_kernel = config.positive("mamba_d_conv", 4);
    m.intermediate_size = checked_width(config, "mamba_expand", config.positive("mamba_expand", 2), s.hidden_size);
    m.num_heads = config.positive("mamba_n_heads", 128);
    m.n_groups = config.positive("mamba_n_groups", 1);
    m.chunk_size = config.positive("mamba_chunk_size", 256);
    m.use_bias = config.boolean("mamba_proj_bias", false);
    m.use_conv_bias = config.boolean("mamba_conv_bias", true);
    if (m.intermediate_size % m.num_heads != 0)
        fail_value(config, "mamba_n_heads", "a divisor of mamba_expand * hidden_size");
    m.head_dim = m.intermediate_size / m.num_heads;
    const auto width = config.find("mamba_d_head");
    if (width && !(width->is_string() && width->as_string() == "auto") && width->as_positive() != m.head_dim)
        fail_value(config, "mamba_d_head", "mamba_expand * hidden_size / mamba_n_heads, or \"auto\"");
    if (m.num_heads % m.n_groups != 0) fail_value(config, "mamba_n_groups", "a divisor of mamba_n_heads");
    (void)checked_width(config, "mamba_d_state", m.n_groups, m.state_size);
}

/// Attention where `attn_layer_indices` says so; half of each head is rotated unless the rope says another part.
constexpr void read(config_view config, sizes& s) {
    read_mixers(config, s);
    s.sliding_window = 0;
    const auto rope = detail::rope_parameters(config);
    const double part =
        rope && rope->contains("partial_rotary_factor") ? detail::read_partial_rotary_factor(config, 0.5) : 0.5;
    s.rotary_dim = whole_pairs(s.head_dim, part);
    for (const literal key : {"layer_types", "layers_block_type"})
        if (config.contains(key)) fail_unsupported(config, key, "this type has attn_layer_indices instead");
    const auto listed = config.optional_array("attn_layer_indices");
    const layer_set attends = listed ? layer_set(*listed) : layer_set{};
    plan_layers(config, s, [&](std::int64_t i) {
        return layer_kind{attends.has(i) ? mixer_kind::full_attention : mixer_kind::recurrent};
    });
}

constexpr value recur(const site& here, trace& t, const value& x) {
    const dual_state_space layer{here.dims.hidden_size, here.dims.ssm, here.dims.hidden_act, here.type("Mixer"),
                                 here.type("RMSNormGated")};
    return t.call(here.row.names.recurrent, layer, x);
}

}  // namespace bamba_detail

// transformers/models/bamba: configuration_bamba.py, modeling_bamba.py; Mamba-2 mixers, half of each head rotated
inline constexpr architecture bamba = [](architecture a) {
    a.model_type = "bamba", a.prefix = "Bamba", a.read = bamba_detail::read, a.heads = language_heads;
    a.recur = bamba_detail::recur, a.kinds = attention_kinds | mixer_kind::recurrent;
    a.masks = mask_rule::full_and_present, a.joins_rotated = true;
    a.names.norm = "final_layernorm", a.names.norm_before_feed_forward = "pre_ff_layernorm";
    a.names.recurrent = "mamba", a.names.feed_forward = "feed_forward";
    a.defaults.vocab_size = 128000, a.defaults.intermediate_size = 14336, a.defaults.num_key_value_heads = 8;
    a.defaults.max_position_embeddings = 262144;
    return a;
}(llama);

}  // namespace llmcost::arch
