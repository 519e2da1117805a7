// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/config/experts.hpp>

namespace llmcost::arch {

namespace jetmoe_detail {

/// A projection per expert of the rows that are sorted by experts: the output of each, then all of them joined.
struct parallel_experts {
    layer_context ctx;
    std::int64_t in, out;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("ParallelExperts"); }
    constexpr tensor forward(trace& t, const tensor& rows) const {
        const moe_config& moe = ctx.config.moe;
        const tensor weight = t.param("weight", {moe.num_experts, out, in}, moe.num_experts_per_tok, moe.num_experts);
        return t.cat({t.linear(rows, t.select_repeatedly(weight, 0, moe.num_experts))}, 0);
    }
};

/// The largest k logits in float32, softmax over those; weights of the sorted rows.
struct gating {
    layer_context ctx;

    static constexpr role module_role = role::router;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("TopKGating"); }
    constexpr tensor forward(trace& t, const tensor& tokens) const {
        const moe_config& moe = ctx.config.moe;
        const tensor raw = t.call("layer", linear{ctx.config.hidden_size, moe.num_experts}, tokens);
        const tensor weights =
            t.to(t.softmax_method(t.topk(t.to(raw, dtype::float32), moe.num_experts_per_tok)), tokens.type);
        for (int twice = 0; twice < 2; ++twice)  // zeros, and a copy with ones where an expert is picked, to be counted
            (void)t.full({tokens.dim(0), moe.num_experts}, tokens.type);
        return t.gather(weights.view({-1}), {tokens.dim(0) * moe.num_experts_per_tok});
    }
};

/// Scatter-adds rows to their positions: (rows, width) -> (places, width). Allocates a second tensor of zeros.
constexpr tensor scattered(trace& t, const tensor& rows, std::int64_t places) {
    (void)t.full({places, rows.dim(1)}, rows.type);
    tensor sum = t.full({places, rows.dim(1)}, rows.type);
    t.index_add(sum, rows);
    return sum;
}

struct mixture {
    layer_context ctx;

    static constexpr role module_role = role::mlp;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("MoE"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const moe_config& moe = ctx.config.moe;
        const std::int64_t width = ctx.config.hidden_size, inner = moe.intermediate_size;
        const tensor bias = t.param("bias", {width}), tokens = t.reshape(x, {-1, width});
        const tensor weights = t.call("router", gating{ctx}, tokens);
        const tensor rows = t.gather(tokens, {weights.dim(0), width});
        const tensor half = t.call("input_linear", parallel_experts{ctx, width, 2 * inner}, rows).slice(-1, inner);
        const tensor h = t.mul(t.call("activation", activation_module{ctx.config.hidden_act}, half), half);
        const tensor out = t.call("output_linear", parallel_experts{ctx, inner, width}, h);
        const tensor sum = scattered(t, t.mul(out, weights.unsqueeze(-1)), tokens.dim(0));
        return t.add(sum.view({x.dim(0), x.dim(1), width}), bias);
    }
};
constexpr tensor mlp(const layer_context& ctx, trace& t, const tensor& x) { return t.call("mlp", mixture{ctx}, x); }

/// Queries and outputs by experts, keys and values by one projection that the heads of all experts share.
///
/// The module `experts` is never called itself: its children are, and what lies between them is the attention's.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const moe_config& moe = ctx.config.moe;
    const std::int64_t batch = x.dim(0), sequence = x.dim(1), width = ctx.config.hidden_size,
                       k = moe.num_experts_per_tok;
    const std::int64_t expanded_width = ctx.config.num_key_value_heads * ctx.config.head_dim;
    const module_info experts{.name = "experts", .class_of_module = ctx.class_of("MoA")};
    const tensor tokens = t.reshape(x, {-1, width});
    t.enter(experts);
    const tensor bias = t.param("bias", {width}), weights = t.call("router", gating{ctx}, tokens);
    t.leave(experts);
    const tensor rows = t.gather(tokens, {weights.dim(0), width});
    t.enter(experts);
    const tensor found = t.call("input_linear", parallel_experts{ctx, width, expanded_width}, rows);
    t.leave(experts);
    query_key_value qkv;
    qkv.query = scattered(t, found, weights.dim(0)).view({batch, sequence, k * expanded_width});
    qkv.key = qkv.value = t.call("kv_proj", linear{width, 2 * expanded_width}, x).slice(-1, expanded_width);
    split_heads(ctx, qkv);
    transpose_heads(qkv);
    apply_rotary(ctx, t, qkv);
    update_kv_cache(ctx, t, qkv);
    const auto repeated = [&](const tensor& v) {
        const shape all{k, v.dim(0), v.dim(1), v.dim(2), v.dim(3)};
        return t.copy(v.expand(all)).permute({1, 0, 2, 3, 4});
    };
    const auto repeat_heads = [&](const tensor& v) {
        tensor out = repeated(v);
        out = trace::contiguous_like(out);  // `Tensor.repeat` writes them in this order
        return out.view({v.dim(0), k * v.dim(1), v.dim(2), v.dim(3)});
    };
    qkv.key = repeat_heads(qkv.key);
    qkv.value = repeat_heads(qkv.value);
    const tensor features =
        t.reshape(attention_forward(t, qkv.query, qkv.key, qkv.value, ctx.inputs->pattern, {.mask = &ctx.inputs->mask}),
                  {batch * sequence * k, expanded_width});
    const tensor sorted = t.gather(features, {weights.dim(0), expanded_width});
    t.enter(experts);
    const tensor out = t.call("output_linear", parallel_experts{ctx, expanded_width, width}, sorted);
    t.leave(experts);
    const tensor sum = scattered(t, t.mul(out, weights.unsqueeze(-1)), tokens.dim(0));
    return t.add(sum.view({batch, sequence, width}), bias);
}

/// Adds load-balancing losses over three router outputs per layer: both routers, and the logits that attention returns.
constexpr tensor process_logits(const layer_context& ctx, trace& t, const tensor& logits) {
    const recorder::detach_guard unread{t};
    const std::int64_t tokens = t.load().batch * t.load().sequence;
    if (ctx.config.family[0])
        load_balancing_loss(t, 3 * ctx.config.num_hidden_layers, tokens, ctx.config.moe, dtype::float32);
    return logits;
}

inline constexpr family_key family_keys[]{
    {"output_router_logits", 0, family_key_type::boolean},
};

constexpr void parse_config(config_view json, model_config& config) {
    parse_experts(json, config, "num_local_experts");
    validate_experts(json, config);
    config.moe.intermediate_size = config.intermediate_size;
    config.num_attention_heads =
        checked_size(json, "num_experts_per_tok", config.num_key_value_heads, config.moe.num_experts_per_tok);
    config.rotary_dim = config.head_dim;
    config.attention_bias = config.output_bias = false;
    set_single_mask(json, config);
    config.layers.fill({config.layers[0].token_mixer, true});
}

}  // namespace jetmoe_detail

// transformers/models/jetmoe: configuration_jetmoe.py, modeling_jetmoe.py; experts for queries and outputs of
// attention, too
inline constexpr model_spec jetmoe = [](model_spec spec) {
    spec.model_type = "jetmoe";
    spec.class_prefix = "JetMoe";
    spec.supported_heads = classifying_decoder_heads;
    spec.parse_config = jetmoe_detail::parse_config;
    spec.family_keys = jetmoe_detail::family_keys;
    spec.attention = jetmoe_detail::attention;
    spec.mlp = jetmoe_detail::mlp;
    spec.process_logits = jetmoe_detail::process_logits;
    spec.names.attention = "self_attention";
    spec.config_keys.add("attention_bias", key_rule::absent);
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.config_keys.add("head_dim", "kv_channels", key_rule::family_name_first);
    spec.config_keys.add("hidden_act", "activation_function", key_rule::family_name_only);
    spec.config_keys.add("num_attention_heads", "num_key_value_heads",
                         key_rule::family_name_only);  // times the experts per token
    spec.defaults = model_config{.vocab_size = 32000,
                                 .hidden_size = 2048,
                                 .intermediate_size = 5632,
                                 .num_hidden_layers = 12,
                                 .num_attention_heads = 16,
                                 .num_key_value_heads = 16,
                                 .head_dim = 128,
                                 .max_position_embeddings = 4096,
                                 .tie_word_embeddings = true,
                                 .moe = {.num_experts = 8, .num_experts_per_tok = 2}};
    return spec;
}(llama);

}  // namespace llmcost::arch
