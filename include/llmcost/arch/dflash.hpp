// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen3.hpp>
#include <llmcost/forward/draft_head.hpp>

// DFlash and DFlash 2, draft heads for speculative decoding with block diffusion. Derived from Qwen3, with these
// differences:
//  - context: hidden states of several layers of the target model, combined by `fc`, which give keys and values only;
//  - queries: a block of the last token and mask tokens, which attend to the context and to the block;
//  - the embedding and the language model head are those of the target model, unless the hidden sizes differ;
//  - DFlash 2: grouped dynamic convolutions around attention and MLP, and a selector of candidate tokens.
//
// One forward pass generates all draft tokens of a block. The tokens of a workload are the context: `sequence` new ones
// after `past` cached ones. The block follows them, and is not cached.
//
// Source: dflash/model.py of z-lab/dflash; specforge/modeling/draft/dflash2.py of sgl-project/SpecForge;
// vllm/model_executor/models/qwen3_dflash.py and qwen3_dflash2.py.

namespace llmcost::arch {

namespace dflash_detail {

enum family_config_index : std::uint8_t {
    target_hidden_size,
    num_target_layers,
    full_is_causal,
    sliding_is_causal,
    has_embedding_scale,
    has_logits_scale,
    conv_kernel_size,
    conv_group_size,
    selector_rank,
    selector_top_k,
    selector_vocab_size
};

inline constexpr family_key family_keys[]{
    {"target_hidden_size", 0, family_key_type::computed},
    {"target_layer_ids", 0, family_key_type::computed},
    {"is_causal", 0, family_key_type::computed},
    {"causal", 0, family_key_type::computed},
    {"input_embedding_scale", 0, family_key_type::computed},
    {"output_multiplier", 0, family_key_type::computed},
    {"conv_kernel_size", 0, family_key_type::computed},
    {"conv_group_size", 0, family_key_type::computed},
    {"selector_rank", 0, family_key_type::computed},
    {"selector_top_k", 0, family_key_type::computed},
    {"vocab_size", 0, family_key_type::computed},
};

/// Index of the context states in `attention_inputs::family_tensors`.
inline constexpr std::size_t context_states = 0;

/// Number of queries of a block: the last token, and a mask token for each draft token.
constexpr std::int64_t block_size(const model_config& config) { return config.num_draft_tokens + 1; }

/// Whether the embedding and the head are those of the target model.
constexpr bool shares_weights(const model_config& config) {
    return config.family[target_hidden_size] == config.hidden_size;
}

/// Embeddings of the block: (B, block, hidden).
constexpr tensor embed_block(const layer_context& ctx, trace& t) {
    const model_config& config = ctx.config;
    const embedding table{config.vocab_size, config.hidden_size, false, {"", "Embedding"}, shares_weights(config)};
    const tensor x = t.call(ctx.spec.names.embed_tokens, table, shape{t.load().batch, block_size(config)});
    return config.family[has_embedding_scale] != 0 ? t.mul_scalar(x) : x;
}

/// The attention pattern of the block: keys are the cached context, the new context and the block.
constexpr attention_pattern block_pattern(const layer_context& ctx, trace& t, std::int64_t window, bool is_causal) {
    attention_pattern pattern = attention_pattern_of(t, window);
    pattern.query_length = block_size(ctx.config);
    pattern.cached_length += t.load().sequence;
    pattern.num_previous_tokens += t.load().sequence;
    pattern.is_causal = is_causal;
    return pattern;
}

/// Masks of the block, and rotary tables of the new context and the block. Without mask: full, non-causal attention.
constexpr decoder_inputs prepare_inputs(const layer_context& ctx, trace& t) {
    const model_config& config = ctx.config;
    decoder_inputs c;
    c.full.pattern = block_pattern(ctx, t, 0, config.family[full_is_causal] != 0);
    c.sliding.pattern = block_pattern(ctx, t, config.sliding_window, config.family[sliding_is_causal] != 0);
    const std::int64_t layers = config.num_hidden_layers;
    if (c.full.pattern.is_causal && config.layers.contains(token_mixer_kind::full_attention, layers))
        c.full.mask = eager_mask(t, c.full.pattern, 1);
    if (config.layers.contains(token_mixer_kind::sliding_attention, layers))
        c.sliding.mask = eager_mask(t, c.sliding.pattern, 1);
    const rotary_table table{config.rotary_dim, ctx.class_of(ctx.spec.names.rotary_class), rotary_frequencies{config}};
    const auto tables = t.call(ctx.spec.names.rotary, table, t.load().sequence + block_size(config));
    c.full.cos = c.sliding.cos = tables.first;
    c.full.sin = c.sliding.sin = tables.second;
    return c;
}

/// Appends keys or values of the new context and the block to the cache: (B, K, S + block, d) -> (B, K, T, d).
///
/// Only the context remains in the cache, of a sliding layer its last window − 1 tokens.
/// Source: z-lab/dflash, `dflash_generate`, which crops the cache to the context.
constexpr tensor update_context_cache(trace& t, const tensor& states, const attention_pattern& pattern) {
    if (t.is_training()) return states;
    const std::int64_t cached = pattern.key_length() - states.dim(2), context = pattern.cached_length;
    const recorder::fused_kernel_guard appended{t, {.kind = fused_kernel_kind::cache}};
    const tensor all = cached > 0
                           ? t.cat({trace::buffer({states.dim(0), states.dim(1), cached, states.dim(3)}), states}, 2)
                           : t.cat({states}, 2);
    t.add_to_cache(all.slice(2, pattern.window > 0 && context > pattern.window - 1 ? pattern.window - 1 : context));
    return all;
}

/// Attention of the block to the context and to itself: (B, block, hidden) -> (B, block, hidden).
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const decoder_module_names& n = ctx.spec.names;
    const std::int64_t d = ctx.config.head_dim, heads = ctx.config.num_attention_heads;
    const std::int64_t kv_heads = ctx.config.num_key_value_heads, batch = x.dim(0), block = x.dim(1);
    const tensor& context = ctx.inputs->family_tensors[context_states];
    tensor query = project(ctx, t, n.q_proj, heads * d, x).view({batch, block, heads, d});
    query = apply_norm(ctx, t, n.q_norm, d, query).transpose(1, 2);
    // Context and block are projected separately, by the same weights.
    const auto project_both = [&](literal name) {
        linear projection{ctx.config.hidden_size, kv_heads * d, ctx.config.attention_bias};
        const tensor of_context = t.call(name, projection, context);
        projection.is_weight_tied = projection.is_bias_tied = true;
        return t.cat({of_context, t.call(name, projection, x)}, 1).view({batch, context.dim(1) + block, kv_heads, d});
    };
    const tensor keys = project_both(n.k_proj), values = project_both(n.v_proj).transpose(1, 2);
    const tensor key = apply_norm(ctx, t, n.k_norm, d, keys).transpose(1, 2);
    const tensor &cos = ctx.inputs->cos, &sin = ctx.inputs->sin;
    query = rotate(t, ctx.spec.rotary, query, cos.slice(1, block), sin.slice(1, block));
    const attention_pattern& pattern = ctx.inputs->pattern;
    const tensor all_keys = update_context_cache(t, rotate(t, ctx.spec.rotary, key, cos, sin), pattern);
    const tensor all_values = update_context_cache(t, values, pattern);
    attention_options options;
    const bool is_masked = pattern.is_causal || ctx.layer.token_mixer == token_mixer_kind::sliding_attention;
    if (is_masked) options.mask = &ctx.inputs->mask;
    const tensor mixed = attention_forward(t, query, all_keys, all_values, pattern, options);
    return output_projection(ctx, t, t.reshape(mixed, {batch, block, -1}));
}

/// Context states: (B, S, layers · target hidden) -> (B, S, hidden).
constexpr tensor combine_hidden_states(const layer_context& ctx, trace& t) {
    const family_config& family = ctx.config.family;
    const std::int64_t features = family[num_target_layers] * family[target_hidden_size];
    const linear fc{features, ctx.config.hidden_size, false};
    return apply_norm(ctx, t, "hidden_norm", t.call("fc", fc, target_hidden_states(t, features)));
}

/// Context, block, layers and final norm. Returns (B, block, hidden).
constexpr tensor base_model(const layer_context& ctx, trace& t) {
    const tensor block = embed_block(ctx, t), context = combine_hidden_states(ctx, t);
    decoder_inputs shared = ctx.spec.prepare_inputs(ctx, t);
    shared.full.family_tensors[context_states] = shared.sliding.family_tensors[context_states] = context;
    return apply_norm(ctx, t, ctx.spec.names.norm, forward_layers(ctx, t, shared, block));
}

/// Logits of the draft tokens: (B, block, hidden) -> (B, block − 1, vocab). The first query is the last token.
constexpr tensor draft_logits(const layer_context& ctx, trace& t, const tensor& states) {
    const model_config& config = ctx.config;
    const linear head{config.hidden_size, config.vocab_size, false, shares_weights(config)};
    tensor out = t.call(ctx.spec.names.lm_head, head_linear{head}, states);
    if (config.family[has_logits_scale] != 0) out = t.mul_scalar(out);
    return config.logits_soft_cap ? t.mul_scalar(t.tanh(t.div_scalar(out))) : out;
}

/// Candidate selector of DFlash 2. It walks over the draft tokens and adds, to the logits of the candidates of a token,
/// low-rank scores of their transitions from the token before.
///
/// Source: z-lab/dflash, `CandidateSelector`; SpecForge, `CandidateSelector.greedy_path`.
struct candidate_selector {
    layer_context ctx;

    static constexpr role module_role = role::head;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "CandidateSelector"}; }
    constexpr tensor forward(trace& t, const tensor& logits, const tensor& states) const {
        const family_config& family = ctx.config.family;
        const std::int64_t rank = family[selector_rank], k = family[selector_top_k], batch = logits.dim(0);
        const std::int64_t draft_tokens = logits.dim(1), rows = family[selector_vocab_size];
        const tensor predecessors = t.param("predecessor_codebook", {rows, rank});
        const tensor successors = t.param("successor_codebook", {rows, rank});
        const tensor unary = t.topk(logits, k);
        const tensor projected = t.call("hidden_projection", linear{ctx.config.hidden_size, rank, false}, states);
        tensor scores;
        for (std::int64_t i = 0; i < draft_tokens; ++i) {
            const tensor previous = t.gather(predecessors, {batch, rank});
            const tensor context = t.mul(previous, t.select(projected, 1));
            const tensor candidates = t.gather(successors, {batch, k, rank});
            const tensor transition = t.matmul(context.unsqueeze(1), candidates.transpose(1, 2));
            scores = t.add(t.select(unary, 1), transition.squeeze(1));
        }
        return scores;
    }
};

/// The draft head: base model, logits of the draft tokens, and the selector of DFlash 2.
constexpr tensor forward(const layer_context& ctx, trace& t) {
    const module_info all{.class_of_module = ctx.class_of(ctx.spec.names.causal_lm_class)};
    t.enter(all);
    const tensor states = ctx.spec.base_model(ctx, t);
    const recorder::not_executed_guard unused{t, t.load().head == logits::none};
    const tensor draft_states = t.slice(states, 1, ctx.config.num_draft_tokens);
    const tensor out = draft_logits(ctx, t, draft_states);
    if (ctx.config.family[selector_rank] > 0)
        (void)t.call("candidate_selector", candidate_selector{ctx}, out, draft_states);
    return t.leave(all, t.select_model_output(states, out));
}

/// One side of a grouped dynamic convolution: sum over taps of (base + delta) · x, shifted. (B, block, hidden).
///
/// Shapes: base (1, taps, groups, size), delta (B, block, taps, groups, 1).
constexpr tensor convolve(trace& t, const tensor& x, const tensor& delta, const tensor& base) {
    const std::int64_t taps = base.dim(1), groups = base.dim(2), size = base.dim(3), block = x.dim(1);
    const tensor blocks = x.view({x.dim(0), block, groups, size});
    const tensor coefficients = t.add(base, delta);
    tensor out = t.mul(t.select(coefficients, 2), blocks);
    for (std::int64_t tap = 1; tap < taps; ++tap) {
        const tensor shifted = t.pad(t.slice(blocks, 1, block - tap), 1, tap);
        out = t.add(out, t.mul(t.select(coefficients, 2), shifted));
    }
    return out.view({x.dim(0), block, groups * size});
}

/// Input side and output side of a convolution around `block`, whose dynamic coefficients are computed from the input.
///
/// Source: SpecForge, `DFlashGroupedConv`; vllm, `_grouped_conv`.
template <class Block>
constexpr tensor convolve_around(const layer_context& ctx, trace& t, literal name, const tensor& x,
                                 const Block& block) {
    const std::int64_t taps = ctx.config.family[conv_kernel_size], size = ctx.config.family[conv_group_size];
    if (taps == 0) return block(x);
    const std::int64_t width = ctx.config.hidden_size, groups = width / size;
    const module_info m{.name = name, .class_of_module = {"", "DFlashGroupedConv"}};
    t.enter(m);
    const tensor base = t.param("base_kernel", {2, taps, width});
    const tensor projected = t.call("kernel_projection", linear{width, 2 * taps * groups, false}, x);
    const tensor deltas = projected.view({x.dim(0), x.dim(1), 2, taps, groups});
    const auto side = [&](const tensor& h) {
        const tensor delta = t.select(deltas, 2).unsqueeze(-1);
        return convolve(t, h, delta, t.select(base, 0).view({1, taps, groups, size}));
    };
    return side(block(t.leave(m, side(x))));
}

/// A layer of Qwen3, with the convolutions of DFlash 2.
constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const decoder_module_names& n = ctx.spec.names;
    const tensor h = apply_norm(ctx, t, n.pre_attention_norm, x);
    const auto mix = [&](const tensor& states) { return mix_tokens(ctx, t, states); };
    const tensor middle = t.add(x, convolve_around(ctx, t, "attention_conv", h, mix));
    const tensor normed = apply_norm(ctx, t, n.pre_mlp_norm, middle);
    const auto feed = [&](const tensor& states) { return ctx.spec.mlp(ctx, t, states); };
    return t.add(middle, convolve_around(ctx, t, "mlp_conv", normed, feed));
}

/// The object that has a key: `dflash_config`, otherwise the configuration.
constexpr config_view object_with(config_view json, literal key) {
    const auto nested = json.optional_object("dflash_config");
    return nested && nested->contains(key) ? *nested : json;
}

/// Whether a scale is in the configuration.
constexpr bool has_scale(config_view json, literal key) {
    const auto found = object_with(json, key).find(key);
    return found && !found->is_null();
}

/// Sets layer kinds, the window and the causality of each kind.
///
/// Source: vllm, qwen3_dflash.py, `_resolve_layer_attention`.
constexpr void parse_attention(config_view json, model_config& config) {
    const bool use_swa = object_with(json, "use_swa").boolean("use_swa", false);
    const bool has_types = parse_layer_types(json, config);
    if (!has_types) config.layers.fill({});
    const std::int64_t layers = config.num_hidden_layers;
    const bool slides_by_type = config.layers.contains(token_mixer_kind::sliding_attention, layers);
    if (use_swa && !slides_by_type) config.layers.fill({token_mixer_kind::sliding_attention});
    config.sliding_window = object_with(json, "swa_window_size").positive("swa_window_size", config.sliding_window);
    if (!config.layers.contains(token_mixer_kind::sliding_attention, layers)) config.sliding_window = 0;
    maybe<bool> causal = json.optional_boolean("is_causal");
    if (const auto nested = json.optional_object("dflash_config"); !causal && nested)
        causal = nested->optional_boolean("causal");
    config.family[full_is_causal] = causal.value_or(false) ? 1 : 0;
    config.family[sliding_is_causal] = causal.value_or(slides_by_type) ? 1 : 0;
}

constexpr void refuse_switches(config_view json) {
    for (const literal key : {"attention_sink_bias", "attention_mode", "attention_modes", "draft_vocab_size"}) {
        const config_view place = object_with(json, key);
        const auto found = place.find(key);
        const bool is_default = !found || found->is_null() || (found->is_boolean() && !found->as_boolean()) ||
                                (found->is_string() && found->as_string() == "gqa");
        const auto vocab = json.find("vocab_size");
        if (!is_default &&
            !(found->is_integer() && vocab && vocab->is_integer() && vocab->as_integer() == found->as_integer()))
            throw_unsupported(place, key, "not supported by this draft head");
    }
}

/// Throws: `config_error` for attention sinks, attention other than grouped queries, and a draft vocabulary.
constexpr void parse_config(config_view json, model_config& config) {
    refuse_switches(json);
    parse_attention(json, config);
    family_config& family = config.family;
    family[target_hidden_size] = json.positive("target_hidden_size", config.hidden_size);
    const auto ids = object_with(json, "target_layer_ids").find("target_layer_ids");
    family[num_target_layers] = ids && ids->is_array() && ids->size() > 0 ? ids->size() : config.num_hidden_layers;
    (void)checked_size(json, "hidden_size", family[num_target_layers], family[target_hidden_size]);
    const config_view block = object_with(json, "block_size");
    config.num_draft_tokens = block.positive("block_size", 16) - 1;
    if (config.num_draft_tokens < 1 || config.num_draft_tokens > 1023)
        throw_invalid_value(block, "block_size", "2 to 1024 tokens");
    family[has_embedding_scale] = has_scale(json, "input_embedding_scale") ? 1 : 0;
    family[has_logits_scale] = has_scale(json, "output_multiplier") ? 1 : 0;
    config.logits_soft_cap = has_scale(json, "final_logit_softcapping");
    config.tie_word_embeddings = shares_weights(config);
    family[selector_vocab_size] = config.vocab_size;
}

/// The sizes of the convolutions and of the selector, which DFlash 2 requires.
constexpr void parse_dflash2(config_view json, model_config& config) {
    parse_config(json, config);
    family_config& family = config.family;
    const auto required = [&](family_config_index index, literal key) {
        family[index] = object_with(json, key).positive(key);
    };
    required(conv_kernel_size, "conv_kernel_size");
    required(conv_group_size, "conv_group_size");
    required(selector_rank, "selector_rank");
    if (family[conv_kernel_size] > block_size(config))
        throw_invalid_value(object_with(json, "conv_kernel_size"), "conv_kernel_size", "at most block_size");
    if (config.hidden_size % family[conv_group_size] != 0)
        throw_invalid_value(object_with(json, "conv_group_size"), "conv_group_size", "a divisor of hidden_size");
    // without the key: the value of SpecForge, configs/qwen3.6-27b-dflash2.json
    const config_view selector = object_with(json, "selector_top_k");
    family[selector_top_k] = selector.positive("selector_top_k", 16);
    if (family[selector_top_k] > config.vocab_size)
        throw_invalid_value(selector, "selector_top_k", "at most vocab_size");
}

}  // namespace dflash_detail

inline constexpr model_spec dflash = [](model_spec spec) {
    spec.model_type = "dflash";
    spec.class_prefix = "DFlash";
    spec.is_remote_code = true;
    spec.draft = draft_kind::one_per_query;
    spec.alternative_classes = "DFlashDraftModel DFlashQwen3ForCausalLM";
    spec.supported_heads = {head_kind::causal_lm};
    spec.supported_layers.experts = spec.supported_layers.has_intermediate_size = false;
    spec.dropout_keys = {};
    spec.parse_config = dflash_detail::parse_config;
    spec.family_keys = dflash_detail::family_keys;
    spec.forward = dflash_detail::forward;
    spec.base_model = dflash_detail::base_model;
    spec.prepare_inputs = dflash_detail::prepare_inputs;
    spec.decoder_layer = dflash_detail::decoder_layer;
    spec.attention = dflash_detail::attention;
    spec.names.causal_lm_class = "DraftModel";
    return spec;
}(qwen3);

inline constexpr model_spec dflash2 = [](model_spec spec) {
    spec.model_type = "dflash2";
    spec.class_prefix = "DFlash2";
    spec.alternative_classes = "DFlash2DraftModel DFlash2Qwen3ForCausalLM";
    spec.parse_config = dflash_detail::parse_dflash2;
    return spec;
}(dflash);

}  // namespace llmcost::arch
