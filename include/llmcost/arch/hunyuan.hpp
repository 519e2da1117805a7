// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

namespace hunyuan_detail {

/// Queries and keys are normed behind their rotation.
constexpr value attend(const site& here, trace& t, const value& x) {
    qkv of = project_qkv(here, t, x);
    split_heads(here, of);
    heads_first(of);
    turn(here, t, of);
    norm_queries_and_keys(here, t, of, here.dims.head_dim, here.dims.head_dim);
    remember(here, t, of);
    return join(here, t, look_up(here, t, of));
}

/// What it calls dynamic with an `alpha` are frequencies that stay as they are (`compute_ntk_alpha_rope_parameters`).
constexpr void read(config_view config, sizes& s) {
    plan_one_mask(config, s);
    if (const auto given = config.find("head_dim"); !given || given->is_null())
        fail_missing(config, "head_dim", "a positive integer");
    if (s.frequencies == frequency_rule::kept || s.frequencies == frequency_rule::picked) return;
    const auto alpha = detail::rope_parameters(config)->optional_real("alpha");
    if (alpha && *alpha != 0) s.frequencies = frequency_rule::kept;
}

}  // namespace hunyuan_detail

// transformers/models/hunyuan_v1_dense: norms of rotated queries and keys
inline constexpr architecture hunyuan_v1_dense = [](architecture a) {
    a.heads = classifying_decoder_heads;
    a.model_type = "hunyuan_v1_dense", a.prefix = "HunYuanDenseV1", a.read = hunyuan_detail::read;
    a.attend = hunyuan_detail::attend, a.names.q_norm = "query_layernorm", a.names.k_norm = "key_layernorm";
    a.defaults.vocab_size = 290943;
    a.keys[0] = no_mlp_bias;
    return a;
}(llama);

}  // namespace llmcost::arch
