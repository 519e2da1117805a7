// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/forward/draft_head.hpp>

// EAGLE-3, a draft head for speculative decoding. Derived from Llama, with these differences:
//  - input: the token embedding, and hidden states of several layers of the target model, combined by `fc`;
//  - the first layer normalizes both, and its attention reads their concatenation;
//  - the embedding is that of the target model, unless the hidden sizes differ;
//  - a language model head over a part of the vocabulary, with two tables of token ids.
//
// One forward pass generates one draft token. The first pass of a step reads hidden states of the target model; further
// passes read the states of the pass before, without `fc`. This is the first pass.
//
// Source: eagle/model/cnets.py of SafeAILab/EAGLE; vllm/model_executor/models/llama_eagle3.py.

namespace llmcost::arch {

namespace eagle3_detail {

enum family_config_index : std::uint8_t {
    target_vocab_size,
    target_hidden_size,
    num_aux_hidden_states,
    combines_hidden_states,
    norm_before_fc,
    fc_norm,
    norm_before_residual
};

inline constexpr family_key family_keys[]{
    {"vocab_size", 0, family_key_type::computed, tensor_parallel_split::sharded},
    {"target_hidden_size", 0, family_key_type::computed},
    {"num_aux_hidden_states", 0, family_key_type::computed},
    {"use_aux_hidden_state", 0, family_key_type::computed},
    {"norm_before_fc", 0, family_key_type::computed},
    {"fc_norm", 0, family_key_type::computed},
    {"norm_before_residual", 0, family_key_type::computed},
};

/// Index of the token embeddings in `attention_inputs::family_tensors`.
inline constexpr std::size_t token_embeddings = 0;

constexpr tensor embed(const layer_context& ctx, trace& t) {
    const family_config& family = ctx.config.family;
    const bool is_shared = family[target_hidden_size] == ctx.config.hidden_size;
    return embed_draft_tokens(ctx, t, family[target_vocab_size], is_shared);
}

/// Combines the hidden states of the target model: (B, S, layers · target hidden) -> (B, S, hidden).
///
/// Source: vllm, llama_eagle3.py, `combine_hidden_states`.
constexpr tensor combine_hidden_states(const layer_context& ctx, trace& t) {
    const family_config& family = ctx.config.family;
    const std::int64_t features = family[target_hidden_size];
    if (family[combines_hidden_states] == 0) return target_hidden_states(t, ctx.config.hidden_size);
    tensor states = target_hidden_states(t, family[num_aux_hidden_states] * features);
    if (family[norm_before_fc] != 0) states = apply_norm(ctx, t, "input_norm", states.dim(-1), states);
    if (family[fc_norm] != 0) {
        const std::int64_t n = family[num_aux_hidden_states];
        tensor chunks[trace::max_cat_inputs]{};
        for (std::int64_t i = 0; i < n; ++i)
            chunks[i] =
                t.call({"fc_norm", i}, norm_module{ctx.spec.norm, features, ctx.class_of(ctx.spec.names.norm_class)},
                       states.slice(-1, features));
        states = t.cat(chunks, static_cast<int>(n), -1);
    }
    return t.call("fc", linear{states.dim(-1), ctx.config.hidden_size, false}, states);
}

/// The first layer attends to [norm(embedding), norm(x)]; others are those of Llama.
///
///     h = x + mix_tokens([input_layernorm(embedding), hidden_norm(x)])
///     y = h + mlp(norm(h))
constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    if (ctx.layer.family_tag == 0) return pre_norm_layer(ctx, t, x);
    const decoder_module_names& n = ctx.spec.names;
    const tensor states = apply_norm(ctx, t, "hidden_norm", x);
    const tensor embedded = apply_norm(ctx, t, n.pre_attention_norm, ctx.inputs->family_tensors[token_embeddings]);
    const tensor mixed = mix_tokens(ctx, t, t.cat({embedded, states}, -1));
    const tensor middle = t.add(ctx.config.family[norm_before_residual] != 0 ? states : x, mixed);
    return t.add(middle, ctx.spec.mlp(ctx, t, apply_norm(ctx, t, n.pre_mlp_norm, middle)));
}

/// Embedding, combined hidden states, layers and final norm. Returns (B, S, hidden).
constexpr tensor base_model(const layer_context& ctx, trace& t) {
    // `d2t`, int64 offsets of the draft tokens, and `t2d`, one flag per token of the target model
    t.register_buffer(count(ctx.config.vocab_size) * count(8) + count(ctx.config.family[target_vocab_size]));
    const tensor embedded = ctx.spec.embed_tokens(ctx, t);
    const tensor states = combine_hidden_states(ctx, t);
    decoder_inputs shared = ctx.spec.prepare_inputs(ctx, t);
    shared.full.family_tensors[token_embeddings] = shared.sliding.family_tensors[token_embeddings] = embedded;
    return apply_norm(ctx, t, ctx.spec.names.norm, forward_layers(ctx, t, shared, states));
}

/// A key of `eagle_config`, otherwise of the configuration.
constexpr bool parse_eagle_switch(config_view json, literal key, bool default_value) {
    const auto nested = json.optional_object("eagle_config");
    return nested && nested->contains(key) ? nested->boolean(key, default_value) : json.boolean(key, default_value);
}

/// The number of layers of the target model whose hidden states the head reads.
constexpr std::int64_t parse_num_aux_hidden_states(config_view json) {
    std::int64_t n = 3;
    if (const auto nested = json.optional_object("eagle_config")) {
        const auto ids = nested->find("eagle_aux_hidden_state_layer_ids");
        if (ids && ids->is_array() && ids->size() > 0) n = ids->size();
    }
    n = json.positive("num_aux_hidden_states", n);
    if (n > trace::max_cat_inputs) throw_invalid_value(json, "num_aux_hidden_states", "at most 64");
    return n;
}

/// Keys of the draft head, which files of speculators have next to `transformer_layer_config`.
constexpr void parse_draft_keys(config_view json, model_config& config) {
    family_config& family = config.family;
    config.vocab_size = json.positive("draft_vocab_size", family[target_vocab_size]);
    if (config.vocab_size > family[target_vocab_size])
        throw_invalid_value(json, "draft_vocab_size", "at most vocab_size");
    family[target_hidden_size] = json.positive("target_hidden_size", config.hidden_size);
    family[num_aux_hidden_states] = parse_num_aux_hidden_states(json);
    (void)checked_size(json, "target_hidden_size", family[num_aux_hidden_states], family[target_hidden_size]);
    family[combines_hidden_states] = parse_eagle_switch(json, "use_aux_hidden_state", true) ? 1 : 0;
    family[norm_before_fc] = parse_eagle_switch(json, "norm_before_fc", false) ? 1 : 0;
    family[fc_norm] = json.boolean("fc_norm", false) ? 1 : 0;
    family[norm_before_residual] = json.boolean("norm_before_residual", false) ? 1 : 0;
}

constexpr void parse_config(config_view json, model_config& config) {
    set_layers_after_first(json, config);
    (void)checked_size(json, "hidden_size", 2, config.hidden_size);
    config.family[target_vocab_size] = config.vocab_size;
    config.tie_word_embeddings = false;  // the head has a vocabulary of its own
    parse_draft_keys(json, config);
}

/// Throws: `config_error` for layers of another type.
/// Source: vllm, transformers_utils/configs/speculators/algos.py, `update_eagle3`.
constexpr void parse_speculators_config(config_view json, model& m) {
    const auto layers = json.optional_object("transformer_layer_config");
    if (!layers) return;
    require_layer_type(*layers, llama);
    parse_draft_keys(json, m.config);
}

}  // namespace eagle3_detail

inline constexpr model_spec eagle3 = [](model_spec spec) {
    spec.model_type = "eagle3";
    spec.class_prefix = "Llama";
    spec.is_remote_code = true;
    spec.draft = draft_kind::sequential;
    spec.alternative_classes =
        "LlamaForCausalLMEagle3 Eagle3LlamaForCausalLM Eagle3Qwen2_5vlForCausalLM Eagle3Qwen3vlForCausalLM "
        "Eagle3DraftModel Eagle3Speculator";
    spec.nested_config_keys = "transformer_layer_config";
    spec.parse_composite_config = eagle3_detail::parse_speculators_config;
    spec.supported_heads = {head_kind::causal_lm};
    spec.supported_layers.max_family_tag = 1;
    spec.supported_layers.experts = false;
    spec.dropout_keys = {};
    spec.parse_config = eagle3_detail::parse_config;
    spec.family_keys = eagle3_detail::family_keys;
    spec.embed_tokens = eagle3_detail::embed;
    spec.base_model = eagle3_detail::base_model;
    spec.decoder_layer = eagle3_detail::decoder_layer;
    spec.attention = attention_of_any_width;
    spec.names.causal_lm_class = "ForCausalLMEagle3";
    return spec;
}(llama);

}  // namespace llmcost::arch
