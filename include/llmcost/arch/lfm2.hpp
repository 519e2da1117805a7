// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/layers/short_convolution.hpp>

namespace llmcost::arch {

namespace lfm2_detail {

constexpr value recur(const site& here, trace& t, const value& x) {
    const state_space_sizes& s = here.dims.ssm;
    const short_convolution layer{here.dims.hidden_size, s.conv_kernel, s.use_bias, here.row.prefix};
    return t.call(here.row.names.recurrent, layer, x);
}

}  // namespace lfm2_detail

/// Attention in the layers that `full_attn_idxs` or `layer_types` name, short convolutions in the others.
constexpr void read_lfm2(config_view config, sizes& s) {
    s.tie_word_embeddings = config.boolean("tie_embedding", s.tie_word_embeddings);
    std::int64_t inner = config.positive("block_ff_dim", s.intermediate_size);
    if (config.boolean("block_auto_adjust_ff_dim", true)) {
        inner = 2 * inner / 3;
        if (const auto factor = config.find("block_ffn_dim_multiplier"); !factor || !factor->is_null()) {
            const double adjusted = config.real("block_ffn_dim_multiplier", 1.0) * static_cast<double>(inner);
            if (!(adjusted >= 0 && adjusted <= static_cast<double>(largest_input)))
                fail_value(config, "block_ffn_dim_multiplier", "a factor that gives a width up to 2147483647");
            inner = static_cast<std::int64_t>(adjusted);
            const std::int64_t multiple = config.positive("block_multiple_of", 256);
            inner = (inner + multiple - 1) / multiple * multiple;
        }
    }
    if (inner < 1) fail_unsupported(config, "block_ff_dim", "leaves no features after its adjustment");
    s.intermediate_size = checked_width(config, "block_ff_dim", inner, 1);
    s.hidden_act = activation::silu;
    s.ssm.conv_kernel = config.positive("conv_L_cache", 3);
    s.ssm.use_bias = config.boolean("conv_bias", false);
    s.attention_bias = s.output_bias = s.mlp_bias = false;
    if (read_layer_types(config, s, mixer_kind::recurrent)) return;
    const auto listed = config.optional_array("full_attn_idxs");
    if (!listed) return s.layers.set_all({mixer_kind::full_attention});
    const layer_set attends(*listed);
    plan_layers(config, s, [&](std::int64_t i) {
        return layer_kind{attends.has(i) ? mixer_kind::full_attention : mixer_kind::recurrent};
    });
}

// transformers/models/lfm2: gated short convolutions between attention layers
inline constexpr architecture lfm2 = [](architecture a) {
    a.model_type = "lfm2", a.prefix = "Lfm2", a.read = read_lfm2, a.heads = language_heads;
    a.qk_norm = qk_norm_kind::per_head, a.masks = mask_rule::full_and_present, a.recur = lfm2_detail::recur,
    a.kinds = attention_kinds | mixer_kind::recurrent;
    a.names.norm = "embedding_norm", a.names.norm_before_attention = "operator_norm",
    a.names.norm_before_feed_forward = "ffn_norm";
    a.names.o = "out_proj", a.names.q_norm = "q_layernorm", a.names.k_norm = "k_layernorm";
    a.names.recurrent = "conv", a.names.feed_forward = "feed_forward";
    a.names.mlp = {.gate = "w1", .up = "w3", .down = "w2", .act = ""};
    a.defaults.vocab_size = 65536, a.defaults.hidden_size = 2560, a.defaults.intermediate_size = 12288;
    a.defaults.num_hidden_layers = 32, a.defaults.num_attention_heads = 32, a.defaults.num_key_value_heads = 8;
    a.defaults.max_position_embeddings = 128000, a.defaults.tie_word_embeddings = true;
    return a;
}(llama);

}  // namespace llmcost::arch
