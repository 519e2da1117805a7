// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/experts.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/decoder.hpp>
#include <llmcost/forward/layers.hpp>
#include <llmcost/forward/masks_and_rotary.hpp>
#include <llmcost/forward/per_layer_inputs.hpp>
#include <llmcost/forward/shared_kv_states.hpp>

namespace llmcost::arch {

namespace gemma4_detail {

// clang-format off
enum family_config_index : std::uint8_t {
    shared_layers, full_head_dim, full_key_value_heads, input_rows, input_width, keys_are_values, widens_shared, has_experts
};
// clang-format on

inline constexpr family_key family_keys[]{
    {"num_kv_shared_layers", 0, family_key_type::non_negative},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {"vocab_size_per_layer_input", 262144},
    {"hidden_size_per_layer_input", 256, family_key_type::non_negative},
    {"attention_k_eq_v", 0, family_key_type::boolean},
    {"use_double_wide_mlp", 0, family_key_type::boolean},
    {"enable_moe_block", 0, family_key_type::boolean},
};

using shared_kv::reuses;
using shared_kv::shared_kv_states;
using shared_kv::stores;

struct head_sizes {
    std::int64_t dim, groups;
};

constexpr head_sizes heads_of(const model_config& config, token_mixer_kind kind) {
    if (kind == token_mixer_kind::sliding_attention) return {config.head_dim, config.num_key_value_heads};
    return {config.family[full_head_dim], config.family[full_key_value_heads]};
}

/// Keys and values of this layer, or of the layer that it shares them with.
constexpr query_key_value keys_and_values(const layer_context& ctx, trace& t, const tensor& x) {
    const auto [d, groups] = heads_of(ctx.config, ctx.layer.token_mixer);
    const shape split{x.dim(0), x.dim(1), groups, d};
    const attention_inputs& s = *ctx.inputs;
    query_key_value qkv;
    qkv.key = project(ctx, t, "k_proj", groups * d, x).view(split);
    const bool one =
        ctx.config.family[keys_are_values] != 0 && ctx.layer.token_mixer != token_mixer_kind::sliding_attention;
    qkv.value = one ? qkv.key : project(ctx, t, "v_proj", groups * d, x).view(split);
    qkv.key = apply_rotary_before_transpose(t, apply_norm(ctx, t, "k_norm", d, qkv.key), s.cos, s.sin).transpose(1, 2);
    qkv.value = norm_without_weight(ctx, t, "v_norm", qkv.value).transpose(1, 2);
    update_kv_cache(ctx, t, qkv);
    return qkv;
}

struct attention {
    layer_context ctx;
    shared_kv_states* kv_states;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("TextAttention"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t heads = ctx.config.num_attention_heads, d = heads_of(ctx.config, ctx.layer.token_mixer).dim;
        tensor q = project(ctx, t, "q_proj", heads * d, x).view({x.dim(0), x.dim(1), heads, d});
        q = apply_rotary_before_transpose(t, apply_norm(ctx, t, "q_norm", d, q), ctx.inputs->cos, ctx.inputs->sin)
                .transpose(1, 2);
        if ((ctx.layer.family_tag & reuses) != 0) t.add_empty_cache_entry();
        query_key_value qkv =
            (ctx.layer.family_tag & reuses) != 0 ? kv_states->select(ctx.layer) : keys_and_values(ctx, t, x);
        if ((ctx.layer.family_tag & stores) != 0) kv_states->select(ctx.layer) = qkv;
        const attention_inputs& s = *ctx.inputs;
        const tensor found =
            attention_forward(t, q, qkv.key, qkv.value, s.pattern, {.mask = s.mask.rank != 0 ? &s.mask : nullptr});
        return output_projection(ctx, t, t.contiguous(t.reshape(found, {x.dim(0), x.dim(1), -1})));
    }
};

/// Top-k router: softmax probabilities, normalized to a sum of one, times a learned scale per expert.
struct top_k_router {
    layer_context ctx;

    static constexpr role module_role = role::router;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("TextRouter"); }
    constexpr tensor forward(trace& t, const tensor& tokens) const {
        const moe_config& moe = ctx.config.moe;
        const tensor scale = t.param("scale", {ctx.config.hidden_size}),
                     of_experts = t.param("per_expert_scale", {moe.num_experts});
        const tensor h = t.mul_scalar(t.mul(norm_without_weight(ctx, t, "norm", tokens), scale));
        const tensor scores = t.call("proj", linear{ctx.config.hidden_size, moe.num_experts}, h);
        tensor weights = t.topk(t.softmax(t.to(scores, dtype::float32)), moe.num_experts_per_tok);
        t.div_(weights, t.sum(weights, -1, true));
        return t.mul(weights, t.gather(of_experts, {tokens.dim(0), moe.num_experts_per_tok}));
    }
};

/// Adds the experts, applied to the input of the MLP, to the MLP's output.
constexpr tensor mixed_with_experts(const layer_context& ctx, trace& t, const tensor& dense, const tensor& residual) {
    const tensor first = apply_norm(ctx, t, "post_feedforward_layernorm_1", dense);
    const tensor tokens = t.reshape(residual, {-1, ctx.config.hidden_size});
    const tensor weights = t.call("router", top_k_router{ctx}, tokens);
    const tensor routed = call_experts(ctx, t, apply_norm(ctx, t, "pre_feedforward_layernorm_2", tokens), weights);
    const tensor shaped = t.reshape(routed, {residual.dim(0), residual.dim(1), ctx.config.hidden_size});
    return t.add(first, apply_norm(ctx, t, "post_feedforward_layernorm_2", shaped));
}

struct layer {
    layer_context ctx;
    const tensor& inputs;  ///< per-layer inputs of all layers
    shared_kv_states* kv_states;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("TextDecoderLayer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, per_layer_width = ctx.config.family[input_width];
        tensor h = t.call("self_attn", attention{ctx, kv_states}, apply_norm(ctx, t, "input_layernorm", x));
        const tensor middle = t.add(x, apply_norm(ctx, t, "post_attention_layernorm", h));
        h = default_mlp(ctx, t, apply_norm(ctx, t, "pre_feedforward_layernorm", middle));
        if (ctx.config.family[has_experts] != 0) h = mixed_with_experts(ctx, t, h, middle);
        tensor out = t.add(middle, apply_norm(ctx, t, "post_feedforward_layernorm", h));
        if (per_layer_width != 0) {
            h = t.call("act_fn", activation_module{ctx.config.hidden_act},
                       t.call("per_layer_input_gate", linear{width, per_layer_width}, out));
            h = t.call("per_layer_projection", linear{per_layer_width, width}, t.mul(h, t.select(inputs, 2)));
            out = t.add(out, apply_norm(ctx, t, "post_per_layer_input_norm", h));
        }
        t.register_buffer({1}, t.activation_type());  // `layer_scalar`
        t.mul_(out);
        return out;
    }
};

/// Masks of bidirectional attention: only sliding-window layers have one, and only if the window excludes tokens.
///
/// Source: transformers/masking_utils.py, `create_bidirectional_sliding_window_mask` and
/// `_ignore_bidirectional_mask_sdpa`.
constexpr decoder_inputs masks_that_hide(const layer_context& ctx, trace& t) {
    decoder_inputs c;
    c.full.pattern = attention_pattern_of(t, 0);
    c.sliding.pattern = attention_pattern_of(t, ctx.config.sliding_window);
    c.full.pattern.is_causal = c.sliding.pattern.is_causal = false;
    const bool slides = ctx.config.layers.contains(token_mixer_kind::sliding_attention, ctx.config.num_hidden_layers);
    const attention_pattern& read = slides ? c.sliding.pattern : c.full.pattern;
    const bool made = slides || ctx.spec.mask_policy != mask_kind::present;
    if (made && read.key_length() >= ctx.config.sliding_window) c.sliding.mask = eager_mask(t, read, t.load().batch);
    return c;
}

constexpr decoder_inputs make_attention_masks(const layer_context& ctx, trace& t) {
    return ctx.config.is_bidirectional ? masks_that_hide(ctx, t) : make_masks(ctx, t);
}

/// Prepares rotary tables for each layer kind that is present, with the size of its heads.
constexpr decoder_inputs with_tables_of_kinds(const layer_context& ctx, trace& t, decoder_inputs c) {
    const auto make = [&](token_mixer_kind kind, attention_inputs& inputs) {
        if (!ctx.config.layers.contains(kind, ctx.config.num_hidden_layers)) return;
        const rotary_table table{heads_of(ctx.config, kind).dim, ctx.class_of(ctx.spec.names.rotary_class),
                                 rotary_frequencies{ctx.config, kind == token_mixer_kind::sliding_attention}};
        const tensor_pair made = t.call("rotary_emb", table, t.load().sequence);
        inputs.cos = made.first;
        inputs.sin = made.second;
    };
    make(token_mixer_kind::full_attention, c.full);
    make(token_mixer_kind::sliding_attention, c.sliding);
    return c;
}

constexpr decoder_inputs prepare_inputs(const layer_context& ctx, trace& t) {
    return with_tables_of_kinds(ctx, t, make_attention_masks(ctx, t));
}

/// Restricts the inputs of layers with shared keys to the last token, if only its logits are needed.
///
/// Source: `_maybe_slice_kv_shared_inputs`.
constexpr void select_last_token(trace& t, attention_inputs& s) {
    s.pattern.cached_length = s.pattern.key_length() - 1;
    s.pattern.num_previous_tokens += s.pattern.query_length - 1;
    s.pattern.query_length = 1;
    if (s.mask.rank != 0) s.mask = t.slice(s.mask, 2, 1);
    if (s.cos.rank != 0) {
        s.cos = t.slice(s.cos, 1, 1);
        s.sin = t.slice(s.sin, 1, 1);
    }
}

/// Traces all layers and the final norm. `inputs` are the optional per-layer inputs.
constexpr tensor forward_language_model(const layer_context& ctx, trace& t, tensor x, tensor inputs,
                                        decoder_inputs shared) {
    const std::int64_t layers = ctx.config.num_hidden_layers, first = layers - ctx.config.family[shared_layers];
    shared_kv_states kv_states;
    const auto call = [&](const layer_context& place, const tensor& h) {
        return t.call({"layers", place.layer_index}, layer{place, inputs, &kv_states}, h);
    };
    x = shared_kv::forward_layer_range(ctx, t, shared, x, 0, first, call);
    if (first < layers && t.load().head == logits::last && t.load().sequence > 1) {
        select_last_token(t, shared.full);
        select_last_token(t, shared.sliding);
        x = t.slice(x, 1, 1);
        if (inputs.rank != 0) inputs = t.slice(inputs, 1, 1);
    }
    return apply_norm(ctx, t, "norm", shared_kv::forward_layer_range(ctx, t, shared, x, first, layers, call));
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    const tensor x = ctx.spec.embed_tokens(ctx, t);
    tensor inputs;
    if (ctx.config.family[input_width] != 0) {
        inputs = embed_per_layer_inputs(ctx, t, ctx.config.family[input_rows], ctx.config.family[input_width]);
        inputs = projected_inputs(ctx, t, x, inputs, false);
    }
    const decoder_inputs shared = ctx.spec.prepare_inputs(ctx, t);
    return forward_language_model(ctx, t, x, inputs, shared);
}

// ---- configuration

/// Parses head sizes from `per_layer_config`. All layers of one kind must have the same sizes.
constexpr head_sizes overridden(config_view json, config_view layers, const model_config& config,
                                token_mixer_kind kind) {
    head_sizes found{0, 0};
    for (std::int64_t i = 0; i < config.num_hidden_layers; ++i) {
        if (config.layers[i].token_mixer != kind) continue;
        head_sizes layer_heads{config.head_dim, config.num_key_value_heads};
        for (const config_view entry : layers) {
            std::int64_t number = 0;
            for (const char c : entry.key()) {
                if (c < '0' || c > '9' || number > max_input / 10)
                    throw_unsupported(json, "per_layer_config", "unsupported key; expected a layer index");
                number = number * 10 + (c - '0');
            }
            if (number != i) continue;
            for (const config_view changed : entry.as_object())
                if (changed.key() != "head_dim" && changed.key() != "num_key_value_heads")
                    throw_unsupported(entry, "unsupported per-layer key");
            layer_heads = {entry.positive("head_dim", layer_heads.dim),
                           entry.positive("num_key_value_heads", layer_heads.groups)};
        }
        if (found.dim != 0 && (found.dim != layer_heads.dim || found.groups != layer_heads.groups))
            throw_unsupported(json, "per_layer_config", "different head sizes of one layer type are not supported");
        found = layer_heads;
    }
    return found.dim != 0 ? found : head_sizes{config.head_dim, config.num_key_value_heads};
}

constexpr void parse_heads(config_view json, model_config& config) {
    const auto layers = json.optional_object("per_layer_config");
    head_sizes full{json.positive("global_head_dim", 512), config.num_key_value_heads};
    if (config.family[keys_are_values] != 0) full.groups = json.positive("num_global_key_value_heads", full.groups);
    if (layers) {
        const head_sizes sliding = overridden(json, *layers, config, token_mixer_kind::sliding_attention);
        full = overridden(json, *layers, config, token_mixer_kind::full_attention);
        config.head_dim = config.rotary_dim = sliding.dim;
        config.num_key_value_heads = sliding.groups;
    }
    config.family[full_head_dim] = full.dim;
    config.family[full_key_value_heads] = full.groups;
    (void)checked_size(json, "global_head_dim", config.num_attention_heads, full.dim);
    if (full.dim % 2 != 0) throw_invalid_value(json, "global_head_dim", "an even number");
    for (const std::int64_t groups : {full.groups, config.num_key_value_heads})
        if (config.num_attention_heads % groups != 0)
            throw_invalid_value(json, "num_global_key_value_heads", "a divisor of num_attention_heads");
}

}  // namespace gemma4_detail

/// Parses `config.json`. Every sixth layer and the last have full attention, with separate head sizes.
constexpr void parse_gemma4(config_view json, model_config& config) {
    require_sliding_window(json);
    const literal cap = "final_logit_softcapping";
    config.logits_soft_cap = json.optional_real(cap).has_value();
    if (const auto bidirectional_mode = json.optional_string("use_bidirectional_attention")) {
        if (*bidirectional_mode != "all" && *bidirectional_mode != "vision")
            throw_invalid_value(json, "use_bidirectional_attention", "all, vision or null");
        config.is_bidirectional = *bidirectional_mode == "all";
        if (config.is_bidirectional) config.sliding_window = config.sliding_window / 2 + 1;  // equal in both directions
    }
    const bool listed = parse_layer_types(json, config);
    layer_plan listed_layers = config.layers;
    set_layers(json, config, [&](std::int64_t i) {
        const bool full = listed ? listed_layers[i].token_mixer == token_mixer_kind::full_attention : (i + 1) % 6 == 0;
        const bool last = i == config.num_hidden_layers - 1;
        return layer_spec{full || last ? token_mixer_kind::full_attention : token_mixer_kind::sliding_attention};
    });
    const auto check_rotary = [&](token_mixer_kind kind, literal key) {
        if (config.layers.contains(kind, config.num_hidden_layers) && !rotates_layers(json, key, true))
            throw_invalid_value(json, "rope_parameters", "parameters for each layer type");
    };
    check_rotary(token_mixer_kind::full_attention, "full_attention");
    check_rotary(token_mixer_kind::sliding_attention, "sliding_attention");
    gemma4_detail::parse_heads(json, config);
    const shared_kv::sharing shares(json, config, config.family[gemma4_detail::shared_layers]);
    listed_layers = config.layers;
    const std::int64_t expanded_width = checked_size(json, "intermediate_size", 2, config.intermediate_size);
    set_layers(json, config, [&](std::int64_t i) {
        const std::uint8_t family_tag = shares.family_tag_of(i);
        const bool wider = config.family[gemma4_detail::widens_shared] != 0 && family_tag == shared_kv::reuses;
        return layer_spec{.token_mixer = listed_layers[i].token_mixer,
                          .family_tag = family_tag,
                          .intermediate_size = wider ? static_cast<std::int32_t>(expanded_width) : 0};
    });
}

constexpr void parse_gemma4_text(config_view json, model_config& config) {
    parse_gemma4(json, config);
    if (config.family[gemma4_detail::shared_layers] > 0 && config.family[gemma4_detail::input_width] == 0)
        throw_invalid_value(json, "hidden_size_per_layer_input", "at least 1 if layers share keys");
    (void)checked_size(json, "hidden_size_per_layer_input", config.num_hidden_layers,
                       config.family[gemma4_detail::input_width]);
    if (config.family[gemma4_detail::has_experts] == 0) return;
    config.moe.num_experts = json.positive("num_experts");
    config.moe.num_experts_per_tok = json.positive("top_k_experts");
    config.moe.intermediate_size = json.positive("moe_intermediate_size");
    if (config.moe.num_experts_per_tok > config.moe.num_experts)
        throw_invalid_value(json, "top_k_experts", "at most the number of experts");
}

// The text model of Gemma 4. Derived from the default decoder, with these differences:
//  - head sizes per layer kind;
//  - late layers that share keys and values of earlier layers;
//  - per-layer inputs, and experts in addition to the MLP.
//
// Source: transformers/models/gemma4
inline constexpr model_spec gemma4_text = [](model_spec spec) {
    spec.supported_heads = language_heads;
    spec.has_rotary_per_token_mixer = true;
    spec.model_type = "gemma4_text";
    spec.class_prefix = "Gemma4";
    spec.parse_config = parse_gemma4_text;
    spec.family_keys = gemma4_detail::family_keys;
    spec.base_model = gemma4_detail::base;
    spec.prepare_inputs = gemma4_detail::prepare_inputs;
    spec.embed_tokens = scaled_embedding_with_buffer;
    spec.norm = norm_kind::rms_power;
    spec.mask_policy = mask_kind::full_and_sliding;
    spec.supported_layers.max_family_tag = shared_kv::reuses;
    spec.names.model_class = "TextModel";
    spec.names.mlp_class = "TextMLP";
    spec.names.rotary_class = "TextRotaryEmbedding";
    spec.names.embedding_class = "TextScaledWordEmbedding";
    spec.names.experts_class = "TextExperts";
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.config_keys.add("hidden_act", "hidden_activation", key_rule::family_name_only);
    spec.defaults.vocab_size = 262144;
    spec.defaults.hidden_size = 2304;
    spec.defaults.intermediate_size = 9216;
    spec.defaults.num_hidden_layers = 30;
    spec.defaults.num_attention_heads = 8;
    spec.defaults.num_key_value_heads = 4;
    spec.defaults.head_dim = 256;
    spec.defaults.max_position_embeddings = 131072;
    spec.defaults.sliding_window = 512;
    spec.defaults.hidden_act = activation::gelu_pytorch_tanh;
    spec.defaults.tie_word_embeddings = true;
    return spec;
}(default_decoder);

}  // namespace llmcost::arch
