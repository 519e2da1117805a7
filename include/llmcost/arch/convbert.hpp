// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bert.hpp>

// ConvBERT. Derived from BERT, with heads for attention and for convolution, and without a pooler.
//
// Source: transformers/models/convbert

namespace llmcost::arch {

namespace convbert_detail {

enum family_config_index : std::uint8_t { summary, head_ratio, kernel, groups, conv_heads, conv_head_width };
inline constexpr family_key family_keys[]{
    {.type = family_key_type::computed},  // `summary_form`
    {"head_ratio", 2},
    {"conv_kernel_size", 9},
    {"num_groups", 1},
    {.type = family_key_type::computed},  // attention heads after the reduction
    {.type = family_key_type::computed},  // size of each head
};

/// Depthwise and pointwise convolution and a bias: (B, channels, S) -> (B, out, S).
struct separable_convolution {
    std::int64_t channels;
    std::int64_t out;
    std::int64_t kernel;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "SeparableConv1D"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const auto convolve = [&](literal name, shape weight, std::int64_t parts, std::int64_t padding,
                                  const tensor& in) {
            const module_info m{.name = name, .class_of_module = {"", "Conv1d"}, .is_leaf = true};
            t.enter(m);
            return t.leave(m, t.conv(in, t.param("weight", weight), false, parts, 1, padding));
        };
        const tensor bias = t.param("bias", {out, 1});
        tensor h = convolve("depthwise", {channels, 1, kernel}, channels, kernel / 2, x);
        h = convolve("pointwise", {out, channels, 1}, 1, 0, h);
        t.add_(h, bias);
        return h;
    }
};

/// Span-based dynamic convolution around each token, with kernels computed from the token. Returns (B, S, heads, d).
constexpr tensor convolve_spans(const layer_context& ctx, trace& t, const tensor& x, const tensor& queries) {
    const std::int64_t batch = x.dim(0), sequence = x.dim(1), width = ctx.config.hidden_size;
    const std::int64_t k = ctx.config.family[kernel], heads = ctx.config.family[conv_heads],
                       d = ctx.config.family[conv_head_width];
    const std::int64_t expanded_width = heads * d;
    const tensor family_keys =
        t.call("key_conv_attn_layer", separable_convolution{width, expanded_width, k}, x.transpose(1, 2));
    const tensor conv_attn = t.mul(family_keys.transpose(1, 2), queries);
    tensor kernels = t.call("conv_kernel_layer", linear{expanded_width, heads * k, true}, conv_attn);
    kernels = t.softmax_method(t.reshape(kernels, {-1, k})).unsqueeze(-1);
    tensor spans = t.call("conv_out_layer", linear{width, expanded_width, true}, x);
    spans = t.contiguous(spans.transpose(1, 2));
    spans = t.gather(spans, {batch, expanded_width * k, sequence});  // `unfold`
    spans = t.reshape(spans.transpose(1, 2), {batch, sequence, expanded_width, k});
    spans = t.matmul(t.reshape(spans, {-1, d, k}), kernels);
    return t.reshape(spans, {batch, sequence, heads, d});
}

/// Mixed attention: half of the heads use self-attention, the other half convolution.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t batch = x.dim(0), sequence = x.dim(1);
    const std::int64_t heads = ctx.config.family[conv_heads], d = ctx.config.family[conv_head_width];
    const linear projection{ctx.config.hidden_size, heads * d, true};
    const tensor k = t.call("key", projection, x), v = t.call("value", projection, x),
                 q = t.call("query", projection, x);
    const tensor spans = convolve_spans(ctx, t, x, q);
    const auto split = [&](const tensor& all) { return all.view({batch, sequence, heads, d}).transpose(1, 2); };
    const tensor found = divided_score_attention(t, split(q), split(k), split(v), full_pattern(sequence));
    return t.cat({found.view({batch, sequence, heads, d}), spans}, 2).view({batch, sequence, 2 * heads * d});
}

/// A linear layer over groups of features, each with its own weight.
struct grouped_linear {
    std::int64_t in;
    std::int64_t out;
    std::int64_t parts;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "GroupedLinearLayer"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor weight = t.param("weight", {parts, in / parts, out / parts}), bias = t.param("bias", {out});
        tensor h = t.reshape(x, {-1, parts, in / parts}).permute({1, 0, 2});
        h = t.matmul(h, weight).permute({1, 0, 2});
        return t.add(t.reshape(h, {x.dim(0), -1, out}), bias);
    }
};

constexpr tensor call_dense(const layer_context& ctx, trace& t, std::int64_t in, std::int64_t out, const tensor& x) {
    if (ctx.config.family[groups] == 1) return t.call("dense", linear{in, out, true}, x);
    return t.call("dense", grouped_linear{in, out, ctx.config.family[groups]}, x);
}

constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = ctx.config.hidden_size, inner = ctx.config.intermediate_size;
    const tensor a = t.call("attention", bert_layers::attention_block{ctx}, x);
    const module_info intermediate{.name = "intermediate",
                                   .class_of_module = ctx.class_of("Intermediate"),
                                   .module_role = role::mlp,
                                   .continues_block = true};
    const module_info output{.name = "output", .class_of_module = ctx.class_of("Output"), .module_role = role::mlp};
    t.enter(intermediate);
    tensor h = call_dense(ctx, t, width, inner, a);
    h = t.leave(intermediate, t.call("intermediate_act_fn", activation_module{ctx.config.hidden_act}, h));
    t.enter(output);
    h = dropout(t, "dropout", call_dense(ctx, t, inner, width, h));
    return t.leave(output, t.call("LayerNorm", norm_module{norm_kind::layer, width}, t.add(h, a)));
}

constexpr tensor encode(const layer_context& ctx, trace& t) {
    make_padding_mask(t);
    return llmcost::forward_encoder(ctx, t);
}

constexpr tensor score(const layer_context& ctx, trace& t, const tensor_pair& out) {
    if (ctx.config.head == head_kind::sequence_classification)
        return classify_first_state(ctx, t, out.first, ctx.config.hidden_act);
    if (ctx.config.head == head_kind::multiple_choice)
        return choose_by_summary(ctx, t, out.first, ctx.config.family[summary]);
    return forward_encoder_head(ctx, t, out, generate_and_score);
}
constexpr tensor forward(const layer_context& ctx, trace& t) { return forward_encoder_model(ctx, t, {.score = score}); }

constexpr void parse_config(config_view json, model_config& config) {
    if (json.boolean("add_cross_attention", false))
        throw_unsupported(json, "add_cross_attention", "this model type is not supported as a decoder");
    parse_encoder_only(json, config);
    config.embedding_size = json.positive("embedding_size", config.embedding_size);
    family_config& o = config.family;
    const std::int64_t left = config.num_attention_heads / o[head_ratio];
    o[conv_heads] = left < 1 ? 1 : left;
    o[conv_head_width] = config.hidden_size / o[conv_heads] / 2;
    if (o[conv_head_width] * 2 * o[conv_heads] != config.hidden_size)
        throw_invalid_value(json, "hidden_size", "an even multiple of the number of remaining heads");
    if (o[kernel] % 2 == 0) throw_invalid_value(json, "conv_kernel_size", "an odd number");
    if (config.hidden_size % o[groups] != 0 || config.intermediate_size % o[groups] != 0)
        throw_invalid_value(json, "num_groups", "a divisor of hidden_size and intermediate_size");
    (void)checked_size(json, "conv_kernel_size", config.hidden_size, o[kernel]);
    o[summary] = parse_sequence_summary(json, {});
    validate_sequence_summary(json, config, o[summary]);
}

}  // namespace convbert_detail

inline constexpr model_spec convbert = [](model_spec spec) {
    spec.model_type = "convbert";
    spec.class_prefix = "ConvBert";
    spec.forward = convbert_detail::forward;
    spec.parse_config = convbert_detail::parse_config;
    spec.family_keys = convbert_detail::family_keys;
    spec.base_model = convbert_detail::encode;
    spec.embed_tokens = embed_and_project;
    spec.decoder_layer = convbert_detail::decoder_layer;
    spec.attention = convbert_detail::attention;
    spec.supported_heads = {head_kind::none,
                            head_kind::masked_lm,
                            head_kind::sequence_classification,
                            head_kind::token_classification,
                            head_kind::question_answering,
                            head_kind::multiple_choice};
    spec.names.base_model = "convbert";
    spec.defaults.embedding_size = 768;
    spec.defaults.head = head_kind::masked_lm;
    return spec;
}(bert);

}  // namespace llmcost::arch
