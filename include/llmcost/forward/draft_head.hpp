// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/base/config_view.hpp>
#include <llmcost/config/layer_types.hpp>
#include <llmcost/forward/attention.hpp>
#include <llmcost/forward/decoder.hpp>
#include <llmcost/forward/layers.hpp>

// Draft heads for speculative decoding (EAGLE, Medusa, DFlash). They read hidden states of the target model.
//
// The embedding or the language model head of the target model can be shared. Shared weights are declared as tied:
// their checkpoint does not contain them, and they are no parameters of the draft head.
//
// Shapes: B = batch, S = sequence (new tokens).
namespace llmcost {

/// Token embeddings of the target model, or of the draft head itself: (B, S) -> (B, S, hidden).
constexpr tensor embed_draft_tokens(const layer_context& ctx, trace& t, std::int64_t vocab_size, bool is_shared) {
    const embedding table{vocab_size, ctx.config.hidden_size, false, {"", "Embedding"}, is_shared};
    return t.call(ctx.spec.names.embed_tokens, table, shape{t.load().batch, t.load().sequence});
}

/// Hidden states of the target model, which are an input of the draft head: (B, S, features).
constexpr tensor target_hidden_states(trace& t, std::int64_t features) {
    return t.input({t.load().batch, t.load().sequence, features});
}

/// Self-attention whose projections read `x` of any width: (B, S, width) -> (B, S, hidden).
constexpr tensor attention_of_any_width(const layer_context& ctx, trace& t, const tensor& x) {
    const decoder_module_names& n = ctx.spec.names;
    const std::int64_t d = ctx.config.head_dim;
    const auto project = [&](literal name, std::int64_t heads) {
        return t.call(name, linear{x.dim(-1), heads * d, ctx.config.attention_bias}, x);
    };
    query_key_value qkv;
    qkv.query = project(n.q_proj, ctx.config.num_attention_heads);
    qkv.key = project(n.k_proj, ctx.config.num_key_value_heads);
    qkv.value = project(n.v_proj, ctx.config.num_key_value_heads);
    return output_projection(ctx, t, attention_from_qkv(ctx, t, qkv));
}

/// Checks the `model_type` of the layers of a draft head, in the object that has their sizes.
constexpr void require_layer_type(config_view layers, const model_spec& expected) {
    if (layers.contains("model_type") && layers.string("model_type") != expected.model_type)
        throw_unsupported(layers, "model_type", "layers of this type are not supported in this draft head");
}

/// Sets the layer plan of a draft head whose first layer differs (`family_tag` 1). All layers have one mask.
constexpr void set_layers_after_first(config_view json, model_config& config) {
    set_single_mask(json, config);
    const token_mixer_kind mixer = config.layers[0].token_mixer;
    set_layers(json, config, [&](std::int64_t i) {
        return layer_spec{.token_mixer = mixer, .family_tag = static_cast<std::uint8_t>(i == 0 ? 1 : 0)};
    });
}

}  // namespace llmcost
