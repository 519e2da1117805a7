// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen2.hpp>

namespace llmcost::arch {

/// Heads share the width whatever `head_dim` says; a window only for layers from `max_window_layers` on.
constexpr void read_qwen2_vl(config_view config, sizes& s) {
    const std::int64_t given = s.head_dim;
    plan_qwen_window(config, s, 80);
    share_among_heads(config, s, {"num_attention_heads"});
    if (s.head_dim != given) fail_value(config, "head_dim", "hidden_size / num_attention_heads, or no such key");
    if (2 * read_sections(config, {3, 64}).frequencies != s.rotary_dim)
        fail_sections(config, "frequencies per axis that add up to half of a head");
    s.attention_bias = true;
    s.output_bias = false;
}

// transformers/models/qwen2_vl: the text model alone, positions of three axes
inline constexpr architecture qwen2_vl_text = [](architecture a) {
    a.model_type = "qwen2_vl_text", a.prefix = "Qwen2VL", a.read = read_qwen2_vl, a.heads = {head_kind::none};
    a.axes = rotary_axes::sections, a.names.model_type = "TextModel", a.names.mlp_prefix = "Qwen2";
    a.defaults.vocab_size = 152064, a.defaults.hidden_size = 8192, a.defaults.intermediate_size = 29568;
    a.defaults.num_hidden_layers = 80, a.defaults.num_attention_heads = 64, a.defaults.num_key_value_heads = 8;
    a.defaults.max_position_embeddings = 32768, a.defaults.sliding_window = 4096, a.defaults.head = head_kind::none;
    return a;
}(qwen2);

}  // namespace llmcost::arch
