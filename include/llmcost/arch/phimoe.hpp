// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/config/experts.hpp>

namespace llmcost::arch {

namespace phimoe_detail {

/// The midpoint mask of Heun's third-order method, (tokens, 1), as it is computed in training.
constexpr tensor midpoint_mask(trace& t, const tensor& gates) {
    const trace::no_grad_guard integers{t};
    (void)t.amax(gates, -1, true);
    return t.add_scalar(t.full({gates.dim(0), 1}, gates.type));
}

/// `PhimoeMultiplier`: its backward reaches the logits only, and saves the probability of the selected expert.
constexpr tensor multiplier(trace& t, const tensor& logits, const tensor& gates, const tensor& probability) {
    tensor out;
    {
        const trace::no_grad_guard custom_backward{t};
        out = t.mul(probability, midpoint_mask(t, gates));
    }
    if (!logits.requires_grad) return out;
    t.save_for_backward(probability);
    t.save_for_backward(gates);
    const count tokens(probability.numel), all(gates.numel);
    t.add_backward_cost({.add = tokens, .mult = tokens * count(2) + all});
    t.record_autograd_function(out, logits);
    return out;
}

/// Routing weight of one selected expert: a softmax over the experts whose logits are near the maximum, (tokens, 1).
///
/// In training, the expert is drawn and its probability goes through `PhimoeMultiplier`.
/// Source: transformers/models/phimoe/modeling_phimoe.py, `sparsemixer`.
constexpr tensor routing_weight(trace& t, const tensor& all, const tensor& left) {
    {
        const trace::no_grad_guard quiet{t};
        const tensor best = t.amax(left, -1, true);
        const tensor factor = t.clamp_min(t.abs(all));  // at least the best
        (void)t.div(t.sub(best, all), factor);
    }
    const tensor masked = t.masked_fill(left);
    if (t.load().is_train_mode) {
        const trace::no_grad_guard drawn{t};
        (void)t.amax(t.sub(masked, t.log(t.full({all.dim(0), all.dim(1)}, all.type))), -1);
    }
    const tensor gates = t.softmax_method(masked), probability = t.gather(gates, {all.dim(0), 1});
    return t.load().is_train_mode ? multiplier(t, all, gates, probability) : probability;
}

/// The best expert, then the best of the others.
constexpr tensor_pair route(const layer_context& ctx, trace& t, const tensor& tokens) {
    const tensor logits = t.linear(tokens, t.param("weight", {ctx.config.moe.num_experts, ctx.config.hidden_size}));
    const tensor first = routing_weight(t, logits, logits);
    const tensor others = t.scatter(logits), second = routing_weight(t, logits, others);
    t.save_integers_for_backward(count(2) * count(first.numel));  // `selected_experts` of both
    return {logits, t.cat({first, second}, -1)};
}

constexpr tensor mlp(const layer_context& ctx, trace& t, const tensor& x) {
    return moe_or_dense_mlp(ctx, t, routed_experts_block<route>, x);
}

/// Rotary tables whose frequencies are made anew in every pass, on the CPU, and copied to the model's device
/// (modeling_phimoe.py, `PhimoeRotaryEmbedding`).
struct fresh_rotary_table : rotary_table {
    constexpr tensor_pair forward(trace& t, std::int64_t sequence) const {
        {
            const trace::no_grad_guard quiet{t};
            const tensor powers = t.pow_scalar(t.div_scalar(t.full({dim / 2})));
            (void)t.copy(t.mul_scalar(t.reciprocal(powers)));
        }
        return rotary_table::forward(t, sequence);
    }
};

constexpr decoder_inputs prepare_inputs(const layer_context& ctx, trace& t) {
    decoder_inputs c = make_masks(ctx, t);
    const class_name named = ctx.class_of(ctx.spec.names.rotary_class);
    const fresh_rotary_table table{{ctx.config.rotary_dim, named, rotary_frequencies{ctx.config}}};
    const auto tables = t.call(ctx.spec.names.rotary, table, t.load().sequence);
    c.full.cos = c.sliding.cos = tables.first;
    c.full.sin = c.sliding.sin = tables.second;
    return c;
}

constexpr void parse_config(config_view json, model_config& config) {
    config.head_bias = json.boolean("lm_head_bias", false);
    parse_experts(json, config, "num_local_experts");
    parse_load_balancing(json, config);
    validate_experts(json, config);
    if (config.moe.has_load_balancing_loss && config.moe.num_experts_per_tok != 2)
        throw_invalid_value(json, "num_experts_per_tok", "2, as the router picks two and the balance counts as many");
    config.moe.num_experts_per_tok = 2;  // the key is ignored (`sparsemixer`)
    config.moe.intermediate_size = config.intermediate_size;
    if (const auto rope = detail::rope_parameters(json); rope && !detail::has_type_of_rope(*rope, "default"))
        if (rope->contains("rope_type") || rope->contains("type"))
            throw_unsupported(*rope, rope->contains("rope_type") ? "rope_type" : "type", "unsupported RoPE scaling");
    set_single_mask(json, config);
    config.layers.fill({config.layers[0].token_mixer, true});
}

}  // namespace phimoe_detail

// transformers/models/phimoe: layer norms, two experts by a softmax each, frequencies made in every pass
inline constexpr model_spec phimoe = [](model_spec spec) {
    spec.model_type = "phimoe";
    spec.class_prefix = "Phimoe";
    spec.parse_config = phimoe_detail::parse_config;
    spec.norm = norm_kind::layer;
    spec.prepare_inputs = phimoe_detail::prepare_inputs;
    spec.mlp = phimoe_detail::mlp;
    spec.supported_heads = {head_kind::none, head_kind::causal_lm, head_kind::sequence_classification};
    spec.names.router = "router";
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.defaults.vocab_size = 32064;
    spec.defaults.intermediate_size = 6400;
    spec.defaults.num_key_value_heads = 8;
    spec.defaults.max_position_embeddings = 131072;
    spec.defaults.moe.num_experts = 16;
    spec.defaults.moe.num_experts_per_tok = 2;
    spec.dropout_keys = {};  // which experts are met is drawn in training
    return spec;
}(llama);

}  // namespace llmcost::arch
