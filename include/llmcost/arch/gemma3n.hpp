// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/reader.hpp>
#include <llmcost/forward/decoder.hpp>
#include <llmcost/forward/layers.hpp>
#include <llmcost/forward/masks_and_rotary.hpp>
#include <llmcost/forward/per_layer_inputs.hpp>
#include <llmcost/forward/shared_kv_states.hpp>

// The text model of Gemma 3n. Derived from the default decoder, with these differences:
//  - several states between layers (AltUp);
//  - late layers that share keys and values of earlier layers;
//  - per-layer inputs.
//
// Source: transformers/models/gemma3n

namespace llmcost::arch {

namespace gemma3n_detail {

using shared_kv::reuses;
using shared_kv::stores;

/// Bit of `family_tag`, in addition to those of shared keys and values: activations are sparse.
inline constexpr std::uint8_t sparse = 4;

enum family_config_index : std::uint8_t {
    shared_layers,
    input_rows,
    input_width,
    predicted_states,
    active_state,
    scales_corrected,
    laurel_rank,
    clips_coefficients
};

inline constexpr family_key family_keys[]{
    {"num_kv_shared_layers", 15, family_key_type::non_negative},
    {"vocab_size_per_layer_input", 262144},
    {"hidden_size_per_layer_input", 256},
    {"altup_num_inputs", 4},  // states between layers; one is computed, the others are predicted
    {"altup_active_idx", 0, family_key_type::non_negative},
    {"altup_correct_scale", 1, family_key_type::boolean},
    {"laurel_rank", 64},
    {.type = family_key_type::computed},  // training clamps the prediction and correction coefficients
};

struct attention {
    layer_context ctx;
    shared_kv::shared_kv_states* kv_states;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("TextAttention"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t heads = ctx.config.num_attention_heads, d = ctx.config.head_dim;
        tensor q = project(ctx, t, "q_proj", heads * d, x).view({x.dim(0), x.dim(1), heads, d});
        q = apply_rotary_before_transpose(t, apply_norm(ctx, t, "q_norm", d, q), ctx.inputs->cos, ctx.inputs->sin)
                .transpose(1, 2);
        if ((ctx.layer.family_tag & reuses) != 0) t.add_empty_cache_entry();
        query_key_value qkv =
            (ctx.layer.family_tag & reuses) != 0 ? kv_states->select(ctx.layer) : keys_and_values(t, x);
        if ((ctx.layer.family_tag & stores) != 0) kv_states->select(ctx.layer) = qkv;
        qkv.query = q;
        return output_projection(ctx, t, scaled_dot_product_attention(ctx, t, qkv));
    }

private:
    constexpr query_key_value keys_and_values(trace& t, const tensor& x) const {
        const std::int64_t groups = ctx.config.num_key_value_heads, d = ctx.config.head_dim;
        const shape split{x.dim(0), x.dim(1), groups, d};
        query_key_value qkv;
        qkv.key = apply_norm(ctx, t, "k_norm", d, project(ctx, t, "k_proj", groups * d, x).view(split));
        qkv.key = apply_rotary_before_transpose(t, qkv.key, ctx.inputs->cos, ctx.inputs->sin).transpose(1, 2);
        qkv.value =
            norm_without_weight(ctx, t, "v_norm", project(ctx, t, "v_proj", groups * d, x).view(split)).transpose(1, 2);
        update_kv_cache(ctx, t, qkv);
        return qkv;
    }
};

/// Activation sparsity: keeps only values that exceed the mean of their row by a multiple of its standard deviation.
///
/// Source: `_gaussian_topk`. Each call computes the quantile of the normal distribution again.
constexpr tensor only_largest(trace& t, const tensor& x) {
    const tensor quantile = t.erf(t.add_scalar(t.mul_scalar(trace::buffer({1}))));  // erfinv, which has the cost of erf
    const tensor deviations = t.to(t.add_scalar(t.mul_scalar(t.mul_scalar(quantile))), x.type);
    const tensor mean = t.mean(x, -1, true), cutoff = t.add(mean, t.mul(t.std(x, -1, true), deviations));
    return t.relu(t.sub(x, cutoff));
}

struct text_mlp {
    layer_context ctx;

    static constexpr role module_role = role::mlp;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("TextMLP"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size;
        const std::int64_t inner =
            ctx.layer.intermediate_size != 0 ? ctx.layer.intermediate_size : ctx.config.intermediate_size;
        tensor gate = t.call("gate_proj", linear{width, inner}, x);
        if ((ctx.layer.family_tag & sparse) != 0) gate = only_largest(t, gate);
        gate = t.call("act_fn", activation_module{ctx.config.hidden_act}, gate);
        return t.call("down_proj", linear{inner, width}, t.mul(gate, t.call("up_proj", linear{width, inner}, x)));
    }
};

struct laurel {
    layer_context ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("TextLaurelBlock"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, rank = ctx.config.family[laurel_rank];
        const tensor h = t.call("linear_right", linear{rank, width}, t.call("linear_left", linear{width, rank}, x));
        return t.add(x, apply_norm(ctx, t, "post_laurel_norm", h));
    }
};

/// AltUp predicts and corrects the states. The layer calls its functions, not the module, so their cost belongs to the
/// layer.
struct altup {
    layer_context ctx;

    template <class Do>
    constexpr auto call_in_module(trace& t, const Do& body) const {
        const module_info m{.name = "altup", .class_of_module = ctx.class_of("TextAltUp")};
        t.enter(m);
        const auto out = body();
        t.leave(m);
        return out;
    }
    /// Router modalities tanh(router(norm(x))): (B, S, states). A layer calls this twice.
    constexpr tensor modalities(trace& t, const tensor& x, bool is_second_call) const {
        const recorder::shared_parameters_guard counted{t, is_second_call};
        const tensor in = t.mul_scalar(call_in_module(t, [&] { return apply_norm(ctx, t, "router_norm", x); }));
        const linear route{ctx.config.hidden_size, ctx.config.family[predicted_states]};
        return t.to(
            t.tanh(t.to(call_in_module(t, [&] { return t.call("modality_router", route, in); }), dtype::float32)),
            x.type);
    }
    /// Returns true if coefficients are clamped, which happens in training mode only.
    [[nodiscard]] constexpr bool clips(const trace& t) const {
        return t.load().training && t.load().has_dropout && ctx.config.family[clips_coefficients] != 0;
    }
    /// Predicts the states (n, B, S, width): each state plus a mixture of all.
    constexpr tensor predict(trace& t, const tensor& states) const {
        const std::int64_t n = ctx.config.family[predicted_states];
        const tensor routed = modalities(t, t.select(states, 0), false);
        if (clips(t)) {  // changes the weight's data outside of autograd
            tensor weight = trace::buffer({n * n, n});
            t.clamp_(weight);
        }
        const tensor all = call_in_module(t, [&] { return t.call("prediction_coefs", linear{n, n * n}, routed); });
        const tensor coefs = t.reshape(all, {routed.dim(0), routed.dim(1), n, n}).permute({0, 1, 3, 2});
        tensor out = t.matmul(states.permute({1, 2, 3, 0}), coefs).permute({3, 0, 1, 2});
        t.add_(out, states);
        return t.contiguous(out);
    }
    /// Corrects the predictions by the difference between the computed state and its own prediction.
    constexpr tensor correct(trace& t, const tensor& predictions, const tensor& computed) const {
        const std::int64_t n = ctx.config.family[predicted_states];
        const tensor routed = modalities(t, computed, true);
        const tensor difference = t.sub(computed, t.select(predictions, 0));
        const tensor repeated =
            t.copy(difference.unsqueeze(0).expand({n, difference.dim(0), difference.dim(1), difference.dim(2)}));
        const tensor coefs = t.add_scalar(call_in_module(t, [&] {
            if (!clips(t)) return t.call("correction_coefs", linear{n, n}, routed);
            const module_info m{.name = "correction_coefs", .class_of_module = {"", "Linear"}, .is_leaf = true};
            t.enter(m);
            const tensor weight = t.leave(m, t.param("weight", {n, n}));
            return t.linear(routed, t.clamp(weight));
        }));
        tensor out = t.mul_function(repeated, coefs.permute({2, 0, 1}).unsqueeze(-1));
        t.add_(out, predictions);
        return t.contiguous(out);
    }
    constexpr tensor scale(trace& t, const tensor& x) const {
        const bool scales = ctx.config.family[scales_corrected] != 0;
        const recorder::not_executed_guard unread{t, !scales};
        const tensor output_scale =
            call_in_module(t, [&] { return t.param("correct_output_scale", {ctx.config.hidden_size}); });
        return scales ? t.mul(x, output_scale) : x;
    }
};

/// Adds x in place to all states except the first: states[1:] += x.
constexpr void add_to_the_others(trace& t, tensor& states, const tensor& x) {
    tensor rest = t.slice(states, 0, states.dim(0) - 1);
    t.add_(rest, x);
    t.copy_into_slice(states, rest);
}

struct layer {
    layer_context ctx;
    const tensor& inputs;  ///< per-layer inputs of all layers
    shared_kv::shared_kv_states* kv_states;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("TextDecoderLayer"); }
    constexpr tensor forward(trace& t, const tensor& states) const {
        const std::int64_t width = ctx.config.hidden_size, per_layer_width = ctx.config.family[input_width];
        const altup mixes{ctx};
        t.register_buffer({}, t.activation_type());  // `router_input_scale`
        const tensor predictions = mixes.predict(t, states), active = t.select(predictions, 0);
        const tensor in = apply_norm(ctx, t, "input_layernorm", active), low = t.call("laurel", laurel{ctx}, in);
        tensor h = apply_norm(ctx, t, "post_attention_layernorm", t.call("self_attn", attention{ctx, kv_states}, in));
        const tensor middle = t.div_scalar(t.add(t.add(active, h), low));
        h = t.call("mlp", text_mlp{ctx}, apply_norm(ctx, t, "pre_feedforward_layernorm", middle));
        const tensor computed = t.add(middle, apply_norm(ctx, t, "post_feedforward_layernorm", h));
        tensor out = mixes.correct(t, predictions, computed);
        h = mixes.scale(t, t.clone(t.select(out, 0)));
        h = t.call("act_fn", activation_module{ctx.config.hidden_act},
                   t.call("per_layer_input_gate", linear{width, per_layer_width}, h));
        h = t.call("per_layer_projection", linear{per_layer_width, width}, t.mul(h, t.select(inputs, 2)));
        add_to_the_others(t, out, apply_norm(ctx, t, "post_per_layer_input_norm", h));
        return out;
    }
};

/// Rescales x to the magnitude of another state.
constexpr tensor as_long_as(trace& t, const tensor& x, const tensor& length) {
    const tensor rms = t.sqrt(t.clamp_min(t.mean(t.pow(x, 2), -1, true)));
    return t.div(t.mul(x, length), rms);
}

constexpr tensor length_of(trace& t, const tensor& x) { return t.pow_half(t.mean(t.pow(x, 2), -1, true)); }

/// Stacks n states: the first of `state`, and projections of the others, rescaled to its magnitude.
template <class State>
constexpr tensor stacked(const layer_context& ctx, trace& t, literal name, const State& state) {
    const std::int64_t n = ctx.config.family[predicted_states];
    const tensor length = length_of(t, state(0)), first = state(0);
    const linear projection{ctx.config.hidden_size, ctx.config.hidden_size};
    tensor all = empty_tensor({n, first.dim(0), first.dim(1), first.dim(2)}, first.type);
    const tensor* in[8]{&first};
    tensor made[8];
    for (std::int64_t i = 1; i < n; ++i) {
        made[i] = as_long_as(t, t.call({name, i - 1}, projection, state(i)), length);
        in[i] = &made[i];
    }
    t.record_op(op::cat, {}, {}, all, in, static_cast<int>(n));
    return all;
}

/// Traces the model after the embeddings, from `token_embeddings` and the per-layer embeddings.
constexpr tensor forward_language_model(const layer_context& ctx, trace& t, const tensor& token_embeddings,
                                        const tensor& per_layer_inputs) {
    const std::int64_t layers = ctx.config.num_hidden_layers;
    t.register_buffer({2}, t.activation_type());  // `per_layer_projection_scale` and `per_layer_input_scale`
    const tensor inputs = projected_inputs(ctx, t, token_embeddings, per_layer_inputs, true);
    decoder_inputs shared = make_masks(ctx, t);
    tensor x = stacked(ctx, t, "altup_projections", [&](std::int64_t) -> const tensor& { return token_embeddings; });
    if (ctx.config.layers.contains(token_mixer_kind::full_attention, layers))
        compute_rotary_embeddings(ctx, t, shared.full);
    if (ctx.config.layers.contains(token_mixer_kind::sliding_attention, layers))
        compute_rotary_embeddings(ctx, t, shared.sliding, true);
    shared_kv::shared_kv_states kv_states;
    x = shared_kv::forward_layer_range(ctx, t, shared, x, 0, layers, [&](const layer_context& place, const tensor& h) {
        return t.call({"layers", place.layer_index}, layer{place, inputs, &kv_states}, h);
    });
    const tensor all = stacked(ctx, t, "altup_unembed_projections", [&](std::int64_t) { return t.select(x, 0); });
    return apply_norm(ctx, t, "norm", t.mean(all, 0));
}

constexpr tensor get_per_layer_inputs(const layer_context& ctx, trace& t) {
    return embed_per_layer_inputs(ctx, t, ctx.config.family[input_rows], ctx.config.family[input_width]);
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    const tensor token_embeddings = ctx.spec.embed_tokens(ctx, t);
    return forward_language_model(ctx, t, token_embeddings, get_per_layer_inputs(ctx, t));
}

/// Returns true if logits have a soft cap, which is the default unless the configuration contains null.
constexpr bool caps_logits(config_view json) {
    const literal cap = "final_logit_softcapping";
    return !json.contains(cap) || json.optional_real(cap).has_value();
}

/// Parses `config.json`. Every fifth layer has full attention. MLPs have per-layer sizes; by default, the first ten are
/// sparse.
constexpr void parse_config(config_view json, model_config& config) {
    require_sliding_window(json);
    config.logits_soft_cap = caps_logits(json);
    detail::scale_full_layers_alone(json, config);
    if (config.family[predicted_states] < 2 || config.family[predicted_states] > 8)
        throw_invalid_value(json, "altup_num_inputs", "from 2 to 8");
    if (config.family[active_state] >= config.family[predicted_states])
        throw_invalid_value(json, "altup_active_idx", "one of altup_num_inputs");
    (void)checked_size(json, "hidden_size_per_layer_input", config.num_hidden_layers, config.family[input_width]);
    const std::int64_t layers = config.num_hidden_layers;
    if (!parse_layer_types(json, config))
        set_layers(json, config, [](std::int64_t i) {
            return layer_spec{(i + 1) % 5 == 0 ? token_mixer_kind::full_attention
                                               : token_mixer_kind::sliding_attention};
        });
    config.family[clips_coefficients] = !json.contains("altup_coef_clip") || json.optional_real("altup_coef_clip");
    const shared_kv::sharing shares(json, config, config.family[shared_layers]);
    const auto inner = json.find("intermediate_size");
    const bool is_per_layer = inner && inner->is_array();
    if (is_per_layer && static_cast<std::int64_t>(inner->size()) != layers)
        throw_invalid_value(json, "intermediate_size", "a number, or a list with one per hidden layer");
    if (inner && !is_per_layer) config.intermediate_size = inner->as_positive();
    const auto sparsity = json.optional_array("activation_sparsity_pattern");
    if (sparsity && static_cast<std::int64_t>(sparsity->size()) != layers)
        throw_invalid_value(json, "activation_sparsity_pattern", "a list with one number per hidden layer");
    const layer_plan listed_layers = config.layers;
    set_layers(json, config, [&](std::int64_t i) {
        const auto index = static_cast<std::size_t>(i);
        const bool zeros = sparsity ? (*sparsity)[index].as_real() > 0 : layers > 10 && i < 10;
        const auto family_tag = static_cast<std::uint8_t>(shares.family_tag_of(i) | (zeros ? sparse : 0));
        const std::int64_t expanded_width = is_per_layer ? (*inner)[index].as_positive() : 0;
        return layer_spec{.token_mixer = listed_layers[i].token_mixer,
                          .family_tag = family_tag,
                          .intermediate_size = static_cast<std::int32_t>(expanded_width)};
    });
}

}  // namespace gemma3n_detail

inline constexpr model_spec gemma3n_text = [](model_spec spec) {
    spec.supported_heads = language_heads;
    spec.has_rotary_per_token_mixer = true;
    spec.model_type = "gemma3n_text";
    spec.class_prefix = "Gemma3n";
    spec.parse_config = gemma3n_detail::parse_config;
    spec.family_keys = gemma3n_detail::family_keys;
    spec.base_model = gemma3n_detail::base;
    spec.embed_tokens = scaled_embedding_with_buffer;
    spec.norm = norm_kind::rms_power;
    spec.mask_policy = mask_kind::full_and_sliding;
    spec.supported_layers.max_family_tag = shared_kv::stores | shared_kv::reuses | gemma3n_detail::sparse;
    spec.names.model_class = "TextModel";
    spec.names.embedding_class = "TextScaledWordEmbedding";
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.config_keys.add("hidden_act", "hidden_activation", key_rule::family_name_only);
    spec.config_keys.add("intermediate_size", key_rule::absent);
    spec.defaults.vocab_size = 262400;
    spec.defaults.hidden_size = 2048;
    spec.defaults.intermediate_size = 16384;
    spec.defaults.num_hidden_layers = 35;
    spec.defaults.num_attention_heads = 8;
    spec.defaults.num_key_value_heads = 2;
    spec.defaults.head_dim = 256;
    spec.defaults.max_position_embeddings = 32768;
    spec.defaults.sliding_window = 512;
    spec.defaults.hidden_act = activation::gelu_pytorch_tanh;
    spec.defaults.tie_word_embeddings = true;
    return spec;
}(default_decoder);

}  // namespace llmcost::arch
