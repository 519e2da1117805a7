// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/reading/experts.hpp>

namespace llmcost::arch {

constexpr void read_olmoe(config_view config, sizes& s) {
    read_experts(config, s, config.contains("num_local_experts") ? "num_local_experts" : "num_experts");
    read_balance(config, s);
    s.moe.intermediate_size = s.intermediate_size;
    s.clips_qkv = config.optional_real("clip_qkv").has_value();
    check_experts(config, s);
    plan_one_mask(config, s);
    s.layers.set_all({s.layers[0].mixer, true});
}

constexpr void read_olmo(config_view config, sizes& s) {
    plan_one_mask(config, s);
    s.clips_qkv = config.optional_real("clip_qkv").has_value();
}

/// Every fourth layer is full; frequencies are scaled in these only (`convert_rope_params_to_dict`).
constexpr void read_olmo3(config_view config, sizes& s) {
    check_window_is_given(config);
    detail::scale_full_layers_alone(config, s);
    if (read_layer_types(config, s)) return;
    plan_layers(config, s, [](std::int64_t i) {
        return layer_kind{(i + 1) % 4 != 0 ? mixer_kind::sliding_attention : mixer_kind::full_attention};
    });
}

// transformers/models/olmo: norms without weights, rotation in float32, queries, keys and values perhaps clipped
inline constexpr architecture olmo = [](architecture a) {
    a.heads = classifying_decoder_heads;
    a.model_type = "olmo", a.prefix = "Olmo", a.read = read_olmo, a.norm = norm_kind::layer_weightless;
    a.names.norm_type = "LayerNorm", a.rotated = rotation::half_in_float;
    a.defaults.vocab_size = 50304;
    a.keys[0] = no_mlp_bias;
    return a;
}(llama);

// transformers/models/olmo2: norms on the blocks' outputs, and of whole queries and keys
inline constexpr architecture olmo2 = [](architecture a) {
    a.heads = classifying_decoder_heads;
    a.model_type = "olmo2", a.prefix = "Olmo2", a.layer = layer_normed_after, a.norm = norm_kind::rms_cast_last,
    a.qk_norm = qk_norm_kind::whole, a.rotated = rotation::half_in_float;
    a.defaults.vocab_size = 50304;
    a.keys[0] = no_mlp_bias;
    return a;
}(llama);

// transformers/models/olmo3: three sliding layers to a full one, rotary tables of their own
inline constexpr architecture olmo3 = [](architecture a) {
    a.model_type = "olmo3", a.prefix = "Olmo3", a.read = read_olmo3, a.masks = mask_rule::full_and_sliding;
    a.rotary_per_mixer = true, a.defaults.sliding_window = 4096;
    return a;
}(olmo2);

// transformers/models/olmoe: norms of whole queries and keys, every layer has experts
inline constexpr architecture olmoe = [](architecture a) {
    a.heads = language_heads;
    a.model_type = "olmoe", a.prefix = "Olmoe", a.read = read_olmoe, a.qk_norm = qk_norm_kind::whole;
    a.router = router_kind::softmax_top_k;
    a.defaults.vocab_size = 50304, a.defaults.hidden_size = 2048, a.defaults.intermediate_size = 2048;
    a.defaults.num_hidden_layers = 16, a.defaults.num_attention_heads = 16, a.defaults.max_position_embeddings = 4096;
    a.defaults.moe.num_experts = 64, a.defaults.moe.num_experts_per_tok = 8;
    a.keys[0] = no_mlp_bias;
    return a;
}(llama);

}  // namespace llmcost::arch
