// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

namespace telechat_detail {

/// Queries by a projection, keys and values by another.
constexpr value attend(const site& here, trace& t, const value& x) {
    const std::int64_t d = here.dims.head_dim, narrow = here.dims.num_key_value_heads * d;
    const value q = project(here, t, "query", here.dims.num_attention_heads * d, x);
    const value both = project(here, t, "key_value", 2 * narrow, x);
    return join(here, t, attend_with(here, t, {q, t.slice(both, -1, narrow), t.slice(both, -1, narrow)}));
}

/// A gated block whose last projection alone has a bias.
constexpr value feed(const site& here, trace& t, const value& x) {
    const std::int64_t width = here.dims.hidden_size, inner = here.dims.intermediate_size;
    const module_info block{.name = here.row.names.feed_forward, .type = here.type("MLP"), .what = role::mlp};
    t.enter(block);
    const value gate = activate(t, activation::silu, t.call("gate_proj", linear{width, inner}, x));
    const value h = t.mul(gate, t.call("up_proj", linear{width, inner}, x));
    return t.leave(block, t.call("down_proj", linear{inner, width, true}, h));
}

constexpr void read(config_view config, sizes& s) {
    plan_one_mask(config, s);
    s.output_bias = true;
    for (const literal key : {"apply_residual_connection_post_layernorm", "embed_layernorm"})
        if (config.boolean(key, false)) fail_unsupported(config, key, "no row describes this place of a norm");
}

}  // namespace telechat_detail

// modeling_telechat.py of Tele-AI/telechat-7B, modeling_telechat2.py of TeleChat2-7B: Llama under BLOOM's names
inline constexpr architecture telechat = [](architecture a) {
    a.model_type = "telechat", a.prefix = "Telechat", a.remote_code = true, a.read = telechat_detail::read, a.drops = {};
    a.attend = telechat_detail::attend, a.feed = telechat_detail::feed, a.heads = language_heads;
    a.names.base = "transformer", a.names.embed_tokens = "word_embeddings", a.names.layers = "h", a.names.norm = "ln_f";
    a.names.layer_type = "Block", a.names.attention = "self_attention", a.names.o = "dense";
    a.keys[0] = no_attention_bias, a.keys[1] = no_mlp_bias;
    a.keys[2] = {"num_hidden_layers", "n_layer"}, a.keys[3] = {"num_attention_heads", "n_head"};
    a.keys[4] = {"intermediate_size", "ffn_hidden_size"}, a.keys[5] = {"max_position_embeddings", "seq_length"};
    a.defaults.vocab_size = 160256, a.defaults.intermediate_size = 12288, a.defaults.num_hidden_layers = 30;
    a.defaults.max_position_embeddings = 8192;
    return a;
}(llama);

}  // namespace llmcost::arch
