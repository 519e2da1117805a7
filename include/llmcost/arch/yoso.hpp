// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/nystromformer.hpp>
#include <llmcost/forward/encoder_model.hpp>

namespace llmcost::arch {

namespace yoso_detail {

enum family_config_index : std::uint8_t { code, window };
inline constexpr family_key family_keys[]{{"hash_code_len", 9}, {.type = family_key_type::computed}};

/// `F.normalize`: each row over its length, which is at least the smallest difference.
constexpr tensor normalize(trace& t, const tensor& x) {
    return t.div(x, t.clamp_min(t.vector_norm(x, -1, true)).expand({x.dim(0), x.dim(1), x.dim(2)}));
}

/// (1 - acos(q · k) / π) to the power of the code's length, times values: `YosoCumulation`, whose backward keeps the
/// shares and makes four products of its own.
constexpr tensor cumulate(const layer_context& ctx, trace& t, const tensor& q, const tensor& k, const tensor& v) {
    tensor out;
    const count pairs = count(q.numel / static_cast<std::uint64_t>(q.dim(2))) * count(k.dim(1));
    tensor shares;
    {
        const recorder::no_grad_guard custom_backward{t};
        const tensor turns = t.div_scalar(t.acos(t.matmul(q, k.transpose(-1, -2))));
        shares = t.pow(t.sub_scalar(turns), static_cast<unsigned>(ctx.config.family[code]));
        const tensor features = trace::buffer({q.dim(0), q.dim(1)});
        shares = t.mul(t.mul(shares, features.unsqueeze(2)), features.unsqueeze(1));
        out = t.matmul(shares, v);
    }
    if (!q.requires_grad) return out;
    shares.requires_grad = true;
    t.save_for_backward(shares);
    const tensor* const read[]{&q, &k, &v};
    for (const tensor* const x : read) t.save_for_backward(*x);
    t.record_autograd_function(out, read, 3);
    // weighted = grad · vᵀ * shares; its products with constant · k and constant · q; sharesᵀ · grad
    const count work = pairs * count(q.dim(2));
    const count rows = pairs + count(q.numel) + count(k.numel) + count(v.numel);
    t.add_backward_cost(
        {.add = work * count(4) - rows, .mult = work * count(4) + pairs + count(q.numel) + count(k.numel)});
    t.add_backward_torch_flops(work * count(8));
    return out;
}

constexpr tensor embed(const layer_context& ctx, trace& t) {
    t.register_integer_buffer(2 * (ctx.config.max_position_embeddings - 2));  // `position_ids`, `token_type_ids`
    return embed_in_module(ctx, t, sum_embeddings_in_place);
}
/// A mask of ones, which layers read.
constexpr decoder_inputs prepare_inputs(const layer_context& ctx, trace& t) {
    decoder_inputs c = causal_or_bidirectional(ctx, t);
    c.full.family_tensors[0] = t.full({t.load().batch, t.load().sequence});
    return c;
}

constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = ctx.config.hidden_size, heads = ctx.config.num_attention_heads, d = width / heads;
    const std::int64_t batch = x.dim(0), sequence = x.dim(1), k = ctx.config.family[window];
    const tensor& mask = ctx.inputs->family_tensors[0];
    const shape rows{batch * heads, sequence, d};
    query_key_value qkv;
    project_to_heads(t, x, width, heads, {}, qkv.query, qkv.key, qkv.value);
    {
        const recorder::not_executed_guard not_called{t};
        (void)dropout(t, "dropout", x);
    }
    tensor convolved;
    if (k != 0) {
        const module_info conv{.name = "conv", .class_of_module = {"", "Conv2d"}, .is_leaf = true};
        const tensor features = t.mul(qkv.value, mask.unsqueeze(1).unsqueeze(3));
        t.enter(conv);
        const tensor weight = t.param("weight", {heads, 1, k, 1});
        convolved = t.leave(conv, t.conv(features, weight, false, {.groups = heads, .padding = {k / 2, 0}}));
    }
    const recorder::fused_kernel_guard fused{t,
                                             fused_attention_kernel(qkv.query, heads, ctx.inputs->pattern, sequence)};
    qkv.query = t.reshape(qkv.query, rows);
    qkv.key = t.reshape(qkv.key, rows);
    qkv.value = t.reshape(qkv.value, rows);
    const tensor ones = t.add_scalar(t.div_scalar(mask));
    (void)t.repeat_interleave(ones.unsqueeze(1), 1, heads);  // integers from then on
    const tensor q = normalize(t, qkv.query), key = normalize(t, qkv.key);
    tensor mixed = normalize(t, cumulate(ctx, t, q, key, qkv.value)).view({batch, heads, sequence, d});
    if (k != 0) t.add_(mixed, convolved);
    return t.contiguous(mixed.permute({0, 2, 1, 3})).view({batch, sequence, width});
}

constexpr void parse_config(config_view json, model_config& config) {
    parse_encoder_only(json, config);
    if (!json.boolean("use_expectation", true))
        throw_unsupported(json, "use_expectation", "hashing in a custom kernel is not supported");
    if (json.boolean("add_cross_attention", false))
        throw_unsupported(json, "add_cross_attention", "cross-attention is not supported by the reference");
    if (config.family[code] > 16)
        throw_unsupported(json, "hash_code_len", "hash codes of more than 16 bits are not supported");
    config.family[window] = json.optional_positive("conv_window").value_or(0);
    if (config.family[window] != 0 && config.family[window] % 2 == 0)
        throw_invalid_value(json, "conv_window", "an odd number");
    config.max_position_embeddings += 2;
    config.position_offset = 2;
}

}  // namespace yoso_detail

// transformers/models/yoso: Nystromformer's frame around shares by the angle of queries and keys
inline constexpr model_spec yoso = [](model_spec spec) {
    spec.model_type = "yoso";
    spec.class_prefix = "Yoso";
    spec.parse_config = yoso_detail::parse_config;
    spec.family_keys = yoso_detail::family_keys;
    spec.attention = yoso_detail::attention;
    spec.embed_tokens = yoso_detail::embed;
    spec.prepare_inputs = yoso_detail::prepare_inputs;
    spec.names.base_model = "yoso";
    spec.defaults.vocab_size = 50265;
    spec.defaults.max_position_embeddings = 4096;
    spec.defaults.type_vocab_size = 1;
    spec.defaults.hidden_act = activation::gelu;
    spec.dropout_keys = headless_encoder_dropout;
    return spec;
}(nystromformer);

}  // namespace llmcost::arch
