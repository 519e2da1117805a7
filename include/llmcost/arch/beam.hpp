// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/deepseek_v2.hpp>

// Beam. Derived from Llama, with these differences:
//  - a sigmoid gate on the attention output;
//  - scales by depth and by position, computed in float32.
//
// Source: transformers/models/beam

namespace llmcost::arch {

namespace beam_detail {

enum family_config_index : std::uint8_t { full_rotates, sliding_rotates, caps_logits };

inline constexpr family_key family_keys[]{
    {.type = family_key_type::computed},
    {.default_value = 1, .type = family_key_type::computed},
    {.default_value = 1, .type = family_key_type::computed},
};

constexpr bool rotates(const layer_context& ctx) {
    const bool slides = ctx.layer.token_mixer == token_mixer_kind::sliding_attention;
    return ctx.config.family[slides ? sliding_rotates : full_rotates] != 0;
}

/// act(gate) · up in float32.
constexpr tensor gated(const layer_context& ctx, trace& t, const tensor& gate, const tensor& up) {
    const tensor h = t.call("act_fn", activation_module{ctx.config.hidden_act}, t.to(gate, dtype::float32));
    return t.to(t.mul(h, t.to(up, dtype::float32)), gate.type);
}

struct dense_block {
    layer_context ctx;

    static constexpr role module_role = role::mlp;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("MLP"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, inner = ctx.config.intermediate_size;
        const tensor gate = t.call("gate_proj", linear{width, inner}, x),
                     up = t.call("up_proj", linear{width, inner}, x);
        return t.call("down_proj", linear{inner, width}, gated(ctx, t, gate, up));
    }
};

/// DeepSeek V3's router without the scaling constant. The sum over the experts is scaled instead.
struct top_k_router {
    layer_context ctx;

    static constexpr role module_role = role::router;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("TopKRouter"); }
    constexpr tensor_pair forward(trace& t, const tensor& tokens) const {
        const moe_config& moe = ctx.config.moe;
        const tensor weight = t.float32_param("weight", {moe.num_experts, ctx.config.hidden_size});
        const tensor float_tokens = t.to(tokens, dtype::float32);
        const tensor logits = t.linear(float_tokens, t.to(weight, dtype::float32));
        const tensor scores = t.sigmoid(logits);
        const router_config r{
            ctx.config.hidden_size, moe.num_experts, moe.num_experts_per_tok, moe.n_group, moe.topk_group, true};
        moe_router{router_kind::sigmoid_grouped, r, type_name()}.select_experts(t, scores);
        tensor weights = t.gather(scores, {tokens.dim(0), moe.num_experts_per_tok});
        if (moe.norm_topk_prob) t.div_(weights, t.add_scalar(t.sum(weights, -1, true)));
        return {logits, weights};
    }
};

struct mixture {
    layer_context ctx;

    static constexpr role module_role = role::mlp;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("MoE"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const moe_config& moe = ctx.config.moe;
        const std::int64_t width = ctx.config.hidden_size;
        const tensor tokens = x.view({-1, width});
        const tensor weights = t.call("gate", top_k_router{ctx}, tokens).second;
        const routed_experts_base all{width,
                                      moe.intermediate_size,
                                      moe.num_experts,
                                      moe.num_experts_per_tok,
                                      ctx.config.hidden_act,
                                      ctx.class_of("Experts")};
        const auto gate = [&](trace& tracer, const tensor& gate_up) {
            const tensor half = gate_up.slice(-1, gate_up.dim(-1) / 2);
            return gated(ctx, tracer, half, half);
        };
        const tensor out = t.mul_scalar(t.call("experts", with_custom_gate<false>(all, gate), tokens, weights));
        return t.reshape(out, {x.dim(0), x.dim(1), width});
    }
};

constexpr tensor mlp(const layer_context& ctx, trace& t, const tensor& x) {
    return ctx.layer.has_experts ? t.call("mlp", mixture{ctx}, x) : t.call("mlp", dense_block{ctx}, x);
}

/// Self-attention with RoPE, or with queries scaled by token position. A sigmoid gate multiplies the output.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t heads = ctx.config.num_attention_heads, d = ctx.config.head_dim;
    const tensor bias = t.param("gate_bias", {heads});
    query_key_value qkv = project_qkv(ctx, t, x);
    split_heads(ctx, qkv);
    apply_qk_norm(ctx, t, qkv, d, d);
    transpose_heads(qkv);
    if (rotates(ctx))
        apply_rotary(ctx, t, qkv);
    else
        qkv.query = t.to(t.mul(t.to(qkv.query, dtype::float32), ctx.inputs->family_tensors[0]), qkv.query.type);
    update_kv_cache(ctx, t, qkv);
    const tensor found =
        attention_forward(t, qkv.query, qkv.key, qkv.value, ctx.inputs->pattern, {.mask = &ctx.inputs->mask});
    const tensor scores =
        t.call("gate_proj", linear{ctx.config.hidden_size, heads * d}, x).view({x.dim(0), x.dim(1), heads, d});
    const tensor gate = t.sigmoid(t.add(scores, bias.view({1, 1, heads, 1})));
    return output_projection(ctx, t, t.contiguous(t.reshape(t.mul(found, gate), {x.dim(0), x.dim(1), -1})));
}

/// Query scale by position: exp(0.1 · log(1 + (position + 1) / 2048)). Shape (1, 1, sequence, 1).
constexpr tensor scale_of_queries(trace& t) {
    const tensor steps = t.div_scalar(t.add_scalar(t.full({1, t.load().sequence})));
    return t.exp(t.mul_scalar(t.log1p(steps))).view({1, 1, t.load().sequence, 1});
}

/// Prepares masks, and rotary tables or query scales, for the layer kinds that are present.
constexpr decoder_inputs prepare_inputs(const layer_context& ctx, trace& t) {
    decoder_inputs c = make_masks(ctx, t);
    bool turns = false;
    const auto make = [&](token_mixer_kind kind, attention_inputs& inputs, bool rotated) {
        if (!ctx.config.layers.contains(kind, ctx.config.num_hidden_layers)) return;
        turns = turns || rotated;
        if (rotated)
            compute_rotary_embeddings(ctx, t, inputs);
        else
            inputs.family_tensors[0] = scale_of_queries(t);
    };
    make(token_mixer_kind::full_attention, c.full, ctx.config.family[full_rotates] != 0);
    make(token_mixer_kind::sliding_attention, c.sliding, ctx.config.family[sliding_rotates] != 0);
    const recorder::not_executed_guard not_called{t};
    if (!turns) {  // a module without frequencies
        const rotary_table table{0, ctx.class_of(ctx.spec.names.rotary_class), rotary_frequencies{ctx.config}};
        (void)t.call(ctx.spec.names.rotary, table, t.load().sequence);
    }
    return c;
}

/// Residual addition with depth-dependent scales for the block output and for the residual.
constexpr tensor add_residual(const layer_context&, trace& t, const tensor& residual, const tensor& x) {
    const tensor scaled = t.mul_scalar(x);
    return t.add(scaled, t.mul_scalar(residual));
}

constexpr tensor process_logits(const layer_context& ctx, trace& t, const tensor& logits) {
    return ctx.config.family[caps_logits] != 0 ? t.mul_scalar(t.tanh(t.div_scalar(t.to(logits, dtype::float32))))
                                               : logits;
}

/// Parses `config.json`. Every sixth layer and the last have full attention without RoPE. The first three layers are
/// dense.
constexpr void parse_config(config_view json, model_config& config) {
    parse_experts(json, config, "num_experts");
    validate_experts(json, config);
    config.moe.n_group = json.positive("n_group", config.moe.n_group);
    config.moe.topk_group = json.positive("topk_group", config.moe.topk_group);
    check_groups(json, config);
    if (config.moe.num_experts / config.moe.n_group < 2)
        throw_invalid_value(json, "n_group", "at most half the number of experts");
    const bool listed = parse_layer_types(json, config);
    const layer_plan listed_layers = config.layers;
    const sparse_layer_selection sparse(json, config, 3);
    set_layers(json, config, [&](std::int64_t i) {
        const bool full = (i + 1) % 6 == 0 || i == config.num_hidden_layers - 1;
        const token_mixer_kind default_token_mixer =
            full ? token_mixer_kind::full_attention : token_mixer_kind::sliding_attention;
        return layer_spec{listed ? listed_layers[i].token_mixer : default_token_mixer, sparse.has(i)};
    });
    const auto turns = [&](token_mixer_kind kind, literal key, bool default_value) {
        return config.layers.contains(kind, config.num_hidden_layers) && rotates_layers(json, key, default_value);
    };
    config.family[full_rotates] = turns(token_mixer_kind::full_attention, "full_attention", false);
    config.family[sliding_rotates] = turns(token_mixer_kind::sliding_attention, "sliding_attention", true);
    const literal cap = "final_logit_softcapping";
    config.family[caps_logits] = !json.contains(cap) || json.optional_real(cap).has_value();
}

}  // namespace beam_detail

inline constexpr model_spec beam = [](model_spec spec) {
    spec.supported_heads = language_heads;
    spec.model_type = "beam";
    spec.class_prefix = "Beam";
    spec.parse_config = beam_detail::parse_config;
    spec.family_keys = beam_detail::family_keys;
    spec.prepare_inputs = beam_detail::prepare_inputs;
    spec.attention = beam_detail::attention;
    spec.mlp = beam_detail::mlp;
    spec.decoder_layer = sandwich_norm_layer;
    spec.add_residual = beam_detail::add_residual;
    spec.process_logits = beam_detail::process_logits;
    spec.norm = norm_kind::rms_cast_last;
    spec.rotary = rotary_style::rotate_half_float32;
    spec.mask_policy = mask_kind::present;
    spec.names.pre_mlp_norm = "pre_feedforward_layernorm";
    spec.defaults.vocab_size = 151936;
    spec.defaults.hidden_size = 5120;
    spec.defaults.intermediate_size = 20480;
    spec.defaults.num_hidden_layers = 52;
    spec.defaults.num_attention_heads = 48;
    spec.defaults.num_key_value_heads = 8;
    spec.defaults.head_dim = 128;
    spec.defaults.max_position_embeddings = 8192;
    spec.defaults.sliding_window = 512;
    spec.defaults.moe = {.num_experts = 256,
                         .num_experts_per_tok = 8,
                         .intermediate_size = 2560,
                         .n_group = 8,
                         .topk_group = 4,
                         .norm_topk_prob = true,
                         .has_group_limit = true};
    spec.names.post_attention_norm = "post_attention_layernorm";
    spec.config_keys.add("mlp_bias", key_rule::absent);
    return spec;
}(llama);

}  // namespace llmcost::arch
