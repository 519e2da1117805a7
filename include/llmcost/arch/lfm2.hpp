// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/layers/short_convolution.hpp>

namespace llmcost::arch {

namespace lfm2_detail {

constexpr tensor recurrent_block(const layer_context& ctx, trace& t, const tensor& x) {
    const state_space_config& s = ctx.config.ssm;
    const short_convolution layer{ctx.config.hidden_size, s.conv_kernel, s.use_bias, ctx.spec.class_prefix};
    return t.call(ctx.spec.names.recurrent_block, layer, x);
}

}  // namespace lfm2_detail

/// Attention in the layers that `full_attn_idxs` or `layer_types` name, short convolutions in the others.
constexpr void parse_lfm2(config_view json, model_config& config) {
    config.tie_word_embeddings = json.boolean("tie_embedding", config.tie_word_embeddings);
    std::int64_t inner = json.positive("block_ff_dim", config.intermediate_size);
    if (json.boolean("block_auto_adjust_ff_dim", true)) {
        inner = 2 * inner / 3;
        if (const auto factor = json.find("block_ffn_dim_multiplier"); !factor || !factor->is_null()) {
            const double adjusted = json.real("block_ffn_dim_multiplier", 1.0) * static_cast<double>(inner);
            if (!(adjusted >= 0 && adjusted <= static_cast<double>(max_input)))
                throw_invalid_value(json, "block_ffn_dim_multiplier", "a factor that gives a width up to 2147483647");
            inner = static_cast<std::int64_t>(adjusted);
            const std::int64_t multiple = json.positive("block_multiple_of", 256);
            inner = (inner + multiple - 1) / multiple * multiple;
        }
    }
    if (inner < 1) throw_unsupported(json, "block_ff_dim", "unsupported size: the adjusted size is zero");
    config.intermediate_size = checked_size(json, "block_ff_dim", inner, 1);
    config.hidden_act = activation::silu;
    config.ssm.conv_kernel = json.positive("conv_L_cache", 3);
    config.ssm.use_bias = json.boolean("conv_bias", false);
    config.attention_bias = config.output_bias = config.mlp_bias = false;
    if (parse_layer_types(json, config, token_mixer_kind::recurrent)) return;
    const auto listed = json.optional_array("full_attn_idxs");
    if (!listed) return config.layers.fill({token_mixer_kind::full_attention});
    const layer_set attends(*listed);
    set_layers(json, config, [&](std::int64_t i) {
        return layer_spec{attends.has(i) ? token_mixer_kind::full_attention : token_mixer_kind::recurrent};
    });
}

// transformers/models/lfm2: gated short convolutions between attention layers
inline constexpr model_spec lfm2 = [](model_spec spec) {
    spec.model_type = "lfm2";
    spec.class_prefix = "Lfm2";
    spec.parse_config = parse_lfm2;
    spec.supported_heads = language_heads;
    spec.qk_norm = qk_norm_kind::per_head;
    spec.mask_policy = mask_kind::full_and_present;
    spec.recurrent_block = lfm2_detail::recurrent_block;
    spec.supported_layers = attention_layers | token_mixer_kind::recurrent;
    spec.names.norm = "embedding_norm";
    spec.names.pre_attention_norm = "operator_norm";
    spec.names.pre_mlp_norm = "ffn_norm";
    spec.names.o_proj = "out_proj";
    spec.names.q_norm = "q_layernorm";
    spec.names.k_norm = "k_layernorm";
    spec.names.recurrent_block = "conv";
    spec.names.mlp = "feed_forward";
    spec.names.mlp_modules = {.gate = "w1", .up = "w3", .down = "w2", .act = ""};
    spec.defaults.vocab_size = 65536;
    spec.defaults.hidden_size = 2560;
    spec.defaults.intermediate_size = 12288;
    spec.defaults.num_hidden_layers = 32;
    spec.defaults.num_attention_heads = 32;
    spec.defaults.num_key_value_heads = 8;
    spec.defaults.max_position_embeddings = 128000;
    spec.defaults.tie_word_embeddings = true;
    return spec;
}(llama);

}  // namespace llmcost::arch
