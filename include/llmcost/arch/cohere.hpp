// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

namespace cohere_detail {

/// Where the configuration says so, queries and keys are normed, each head by a row of the weight.
constexpr value attend(const site& here, trace& t, const value& x) {
    const decoder_names& n = here.row.names;
    qkv of = project_qkv(here, t, x);
    split_heads(here, of);
    if (here.dims.qk_norm) {
        const auto per_head = [&](literal name, const value& heads) {
            const class_name named = here.type(n.norm_type);
            return call_norm(t, name, here.row.norm, here.dims.head_dim, named, heads, true, heads.dim(2));
        };
        of.q = per_head(n.q_norm, of.q), of.k = per_head(n.k_norm, of.k);
    }
    heads_first(of);
    turn(here, t, of);
    remember(here, t, of);
    return join(here, t, look_up(here, t, of));
}

/// Layers that slide rotate queries and keys, full ones know of no positions (Cohere 2).
constexpr value attend_where_sliding_turns(const site& here, trace& t, const value& x) {
    qkv of = project_qkv(here, t, x);
    split_heads(here, of);
    heads_first(of);
    if (here.kind.mixer == mixer_kind::sliding_attention) turn(here, t, of);
    remember(here, t, of);
    return join(here, t, look_up(here, t, of));
}

}  // namespace cohere_detail

constexpr void read_cohere(config_view config, sizes& s) {
    plan_one_mask(config, s);
    s.qk_norm = config.boolean("use_qk_norm", false);
}

/// Every `sliding_window_pattern`-th layer is full.
constexpr void read_cohere2(config_view config, sizes& s) {
    check_window_is_given(config);
    if (read_layer_types(config, s)) return;
    const std::int64_t pattern = config.positive("sliding_window_pattern", 4);
    plan_layers(config, s, [&](std::int64_t i) {
        return layer_kind{(i + 1) % pattern != 0 ? mixer_kind::sliding_attention : mixer_kind::full_attention};
    });
}

// transformers/models/cohere: one norm before both blocks, interleaved rotation, scaled logits
inline constexpr architecture cohere = [](architecture a) {
    a.heads = language_heads;
    a.model_type = "cohere", a.prefix = "Cohere", a.read = read_cohere, a.attend = cohere_detail::attend,
    a.norm = norm_kind::layer_spelled;
    a.layer = layer_in_parallel, a.rotated = rotation::interleaved, a.finish = multiply_logits;
    a.names.norm_type = "LayerNorm";
    a.defaults.vocab_size = 256000, a.defaults.hidden_size = 8192, a.defaults.intermediate_size = 22528;
    a.defaults.num_hidden_layers = 40, a.defaults.num_attention_heads = 64, a.defaults.max_position_embeddings = 8192;
    a.defaults.tie_word_embeddings = true;
    a.keys[0] = no_mlp_bias;
    return a;
}(llama);

// transformers/models/cohere2: three sliding layers to a full one, which rotates nothing
inline constexpr architecture cohere2 = [](architecture a) {
    a.model_type = "cohere2", a.prefix = "Cohere2", a.read = read_cohere2, a.masks = mask_rule::full_and_sliding;
    a.attend = cohere_detail::attend_where_sliding_turns, a.defaults.sliding_window = 4096;
    return a;
}(cohere);

}  // namespace llmcost::arch
