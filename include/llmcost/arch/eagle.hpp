// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/forward/draft_head.hpp>

// EAGLE and EAGLE-2, a draft head for speculative decoding. Derived from Llama, with these differences:
//  - input: the token embedding and the last hidden state of the target model, combined by `fc`;
//  - the first layer has no norm before attention, and there is no norm after the layers;
//  - the embedding and the language model head are those of the target model.
//
// One forward pass generates one draft token. EAGLE-2 differs in the selection of the draft tokens only.
//
// Source: eagle/model/cnets1.py of SafeAILab/EAGLE; vllm/model_executor/models/llama_eagle.py.

namespace llmcost::arch {

namespace eagle_detail {

enum family_config_index : std::uint8_t { fc_bias, add_para_norm };

inline constexpr family_key family_keys[]{
    {"eagle_fc_bias", 0, family_key_type::computed},
    {"add_para_norm", 0, family_key_type::boolean},
};

constexpr tensor embed(const layer_context& ctx, trace& t) {
    return embed_draft_tokens(ctx, t, ctx.config.vocab_size, true);
}

/// The first layer has no norm before attention; others are those of Llama.
///
///     h = x + mix_tokens(x)
///     y = h + mlp(norm(h))
constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    if (ctx.layer.family_tag == 0) return pre_norm_layer(ctx, t, x);
    const tensor middle = t.add(x, mix_tokens(ctx, t, x));
    return t.add(middle, ctx.spec.mlp(ctx, t, apply_norm(ctx, t, ctx.spec.names.pre_mlp_norm, middle)));
}

/// Embedding, hidden states of the target model, `fc` and layers. Returns (B, S, hidden).
///
/// With `add_para_norm` (HASS), both inputs are normalized.
constexpr tensor base_model(const layer_context& ctx, trace& t) {
    const std::int64_t width = ctx.config.hidden_size;
    tensor embedded = ctx.spec.embed_tokens(ctx, t), states = target_hidden_states(t, width);
    if (ctx.config.family[add_para_norm] != 0) {
        embedded = apply_norm(ctx, t, "embedding_layernorm", embedded);
        states = apply_norm(ctx, t, "hidden_states_layernorm", states);
    }
    const linear fc{2 * width, width, ctx.config.family[fc_bias] != 0};
    const tensor x = t.call("fc", fc, t.cat({embedded, states}, -1));
    return forward_layers(ctx, t, ctx.spec.prepare_inputs(ctx, t), x);
}

/// The bias of `fc` is `eagle_fc_bias` (vLLM), `fusion_bias` (speculators) or `bias` (SafeAILab/EAGLE).
///
/// Throws: `config_error` for a part of the vocabulary, and for norms of speculators.
constexpr void parse_draft_keys(config_view json, model_config& config) {
    std::int64_t& has_bias = config.family[fc_bias];
    for (const literal key : {"bias", "fusion_bias", "eagle_fc_bias"})
        has_bias = json.boolean(key, has_bias != 0) ? 1 : 0;
    if (json.boolean("layernorms", false)) throw_unsupported(json, "layernorms", "additional norms are not supported");
    if (json.positive("truncated_vocab_size", config.vocab_size) != config.vocab_size)
        throw_unsupported(json, "truncated_vocab_size", "a head over a part of the vocabulary is not supported");
}

constexpr void parse_config(config_view json, model_config& config) {
    set_layers_after_first(json, config);
    (void)checked_size(json, "hidden_size", 2, config.hidden_size);
    config.tie_word_embeddings = true;  // the head is that of the target model
    parse_draft_keys(json, config);
}

/// Files of vLLM have the keys of Llama in `model`, those of speculators in `transformer_layer_config`.
///
/// Throws: `config_error` for layers of another type.
/// Source: vllm, transformers_utils/configs/eagle.py; speculators/algos.py.
constexpr void parse_nested_config(config_view json, model& m) {
    for (const literal key : {"model", "transformer_layer_config"}) {
        const auto layers = json.optional_object(key);
        if (!layers) continue;
        require_layer_type(*layers, llama);
        parse_draft_keys(json, m.config);
    }
}

}  // namespace eagle_detail

inline constexpr model_spec eagle = [](model_spec spec) {
    spec.model_type = "eagle";
    spec.class_prefix = "EagleLlama";
    spec.is_remote_code = true;
    spec.draft = draft_kind::sequential;
    spec.alternative_classes =
        "EagleLlamaForCausalLM EAGLEModel EagleModel LlamaForCausalLMEagle EagleSpeculator EagleDraftModel";
    spec.nested_config_keys = "model transformer_layer_config";
    spec.parse_composite_config = eagle_detail::parse_nested_config;
    spec.supported_heads = {head_kind::causal_lm};
    spec.supported_layers.max_family_tag = 1;
    spec.supported_layers.experts = false;
    spec.dropout_keys = {};
    spec.parse_config = eagle_detail::parse_config;
    spec.family_keys = eagle_detail::family_keys;
    spec.embed_tokens = eagle_detail::embed;
    spec.base_model = eagle_detail::base_model;
    spec.decoder_layer = eagle_detail::decoder_layer;
    return spec;
}(llama);

}  // namespace llmcost::arch
