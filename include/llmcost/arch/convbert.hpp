// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bert.hpp>

namespace llmcost::arch {

namespace convbert_detail {

enum own : std::uint8_t { summary, head_ratio, kernel, groups, conv_heads, conv_head_width };
inline constexpr own_key keys[]{
    {.value = own_value::computed},  // `summary_form`
    {"head_ratio", 2},
    {"conv_kernel_size", 9},
    {"num_groups", 1},
    {.value = own_value::computed},  // heads that are left
    {.value = own_value::computed},  // the width of each
};

/// A depthwise and a pointwise convolution, then a bias: (B, channels, S) -> (B, out, S).
struct separable_convolution {
    std::int64_t channels;
    std::int64_t out;
    std::int64_t kernel;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {"", "SeparableConv1D"}; }
    constexpr value describe(trace& t, const value& x) const {
        const auto convolve = [&](literal name, extents weight, std::int64_t parts, std::int64_t padding, const value& in) {
            const module_info m{.name = name, .type = {"", "Conv1d"}, .leaf = true};
            t.enter(m);
            return t.leave(m, t.convolution(in, t.param("weight", weight), false, parts, 1, padding));
        };
        const value bias = t.param("bias", {out, 1});
        value h = convolve("depthwise", {channels, 1, kernel}, channels, kernel / 2, x);
        h = convolve("pointwise", {out, channels, 1}, 1, 0, h);
        t.in_place(op::add, h, bias);
        return h;
    }
};

/// Spans of so many tokens around each, weighed by kernels that are made of each token: (B, S, heads, d).
constexpr value convolve_spans(const site& here, trace& t, const value& x, const value& queries) {
    const std::int64_t batch = x.dim(0), sequence = x.dim(1), width = here.dims.hidden_size;
    const std::int64_t k = here.dims.own[kernel], heads = here.dims.own[conv_heads], d = here.dims.own[conv_head_width];
    const std::int64_t wide = heads * d;
    const value keys = t.call("key_conv_attn_layer", separable_convolution{width, wide, k}, x.transpose(1, 2));
    const value joined = t.mul(keys.transpose(1, 2), queries);
    value kernels = t.call("conv_kernel_layer", linear{wide, heads * k, true}, joined);
    kernels = t.softmax_method(t.reshape(kernels, {-1, k})).unsqueeze(-1);
    value spans = t.call("conv_out_layer", linear{width, wide, true}, x);
    spans = t.contiguous(spans.transpose(1, 2));
    spans = t.gather(spans, {batch, wide * k, sequence});  // `unfold`
    spans = t.reshape(spans.transpose(1, 2), {batch, sequence, wide, k});
    spans = t.matmul(t.reshape(spans, {-1, d, k}), kernels);
    return t.reshape(spans, {batch, sequence, heads, d});
}

/// Half of the heads attend, the other half convolves.
constexpr value attend(const site& here, trace& t, const value& x) {
    const std::int64_t batch = x.dim(0), sequence = x.dim(1);
    const std::int64_t heads = here.dims.own[conv_heads], d = here.dims.own[conv_head_width];
    const linear projection{here.dims.hidden_size, heads * d, true};
    const value k = t.call("key", projection, x), v = t.call("value", projection, x), q = t.call("query", projection, x);
    const value spans = convolve_spans(here, t, x, q);
    const auto split = [&](const value& all) { return all.view({batch, sequence, heads, d}).transpose(1, 2); };
    const value found = look_up_dividing(t, split(q), split(k), split(v), all_positions(sequence));
    return t.cat({found.view({batch, sequence, heads, d}), spans}, 2).view({batch, sequence, 2 * heads * d});
}

/// A linear layer over groups of features, each with a weight of its own.
struct grouped_linear {
    std::int64_t in;
    std::int64_t out;
    std::int64_t parts;

    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return {"", "GroupedLinearLayer"}; }
    constexpr value describe(trace& t, const value& x) const {
        const value weight = t.param("weight", {parts, in / parts, out / parts}), bias = t.param("bias", {out});
        value h = t.reshape(x, {-1, parts, in / parts}).permute({1, 0, 2});
        h = t.matmul(h, weight).permute({1, 0, 2});
        return t.add(t.reshape(h, {x.dim(0), -1, out}), bias);
    }
};

constexpr value call_dense(const site& here, trace& t, std::int64_t in, std::int64_t out, const value& x) {
    if (here.dims.own[groups] == 1) return t.call("dense", linear{in, out, true}, x);
    return t.call("dense", grouped_linear{in, out, here.dims.own[groups]}, x);
}

constexpr value layer(const site& here, trace& t, const value& x) {
    const std::int64_t width = here.dims.hidden_size, inner = here.dims.intermediate_size;
    const value a = t.call("attention", bert_layers::attention_block{here}, x);
    const module_info intermediate{.name = "intermediate", .type = here.type("Intermediate"), .what = role::mlp};
    const module_info output{.name = "output", .type = here.type("Output"), .what = role::mlp};
    t.enter(intermediate);
    value h = call_dense(here, t, width, inner, a);
    h = t.leave(intermediate, t.call("intermediate_act_fn", activation_module{here.dims.hidden_act}, h));
    t.enter(output);
    h = dropout(t, "dropout", call_dense(here, t, inner, width, h));
    return t.leave(output, t.call("LayerNorm", norm<norm_kind::layer>{width}, t.add(h, a)));
}

constexpr value encode(const site& here, trace& t) {
    make_padding_mask(t);
    return llmcost::encode(here, t);
}

constexpr value score(const site& here, trace& t, const two_values& out) {
    if (here.dims.head == head_kind::sequence_classification)
        return classify_first_state(here, t, out.first, here.dims.hidden_act);
    if (here.dims.head == head_kind::multiple_choice) return choose_by_summary(here, t, out.first, here.dims.own[summary]);
    return score_states(here, t, out, generate_and_score);
}
constexpr value describe(const site& here, trace& t) { return describe_encoder(here, t, {.score = score}); }

constexpr void read(config_view config, sizes& s) {
    if (config.boolean("add_cross_attention", false))
        fail_unsupported(config, "add_cross_attention", "no row describes this type as a decoder");
    read_encoder_alone(config, s);
    s.embedding_size = config.positive("embedding_size", s.embedding_size);
    own_sizes& o = s.own;
    const std::int64_t left = s.num_attention_heads / o[head_ratio];
    o[conv_heads] = left < 1 ? 1 : left;
    o[conv_head_width] = s.hidden_size / o[conv_heads] / 2;
    if (o[conv_head_width] * 2 * o[conv_heads] != s.hidden_size)
        fail_value(config, "hidden_size", "twice as many features as the heads that are left share evenly");
    if (o[kernel] % 2 == 0) fail_value(config, "conv_kernel_size", "an odd number");
    if (s.hidden_size % o[groups] != 0 || s.intermediate_size % o[groups] != 0)
        fail_value(config, "num_groups", "a divisor of hidden_size and intermediate_size");
    (void)checked_width(config, "conv_kernel_size", s.hidden_size, o[kernel]);
    o[summary] = read_summary(config, {});
    check_summary(config, s, o[summary]);
}

}  // namespace convbert_detail

// transformers/models/convbert: BERT whose heads attend or convolve, no pooler
inline constexpr architecture convbert = [](architecture a) {
    a.model_type = "convbert", a.prefix = "ConvBert", a.describe = convbert_detail::describe, a.read = convbert_detail::read;
    a.own = convbert_detail::keys, a.base = convbert_detail::encode, a.embed = embed_and_project;
    a.layer = convbert_detail::layer, a.attend = convbert_detail::attend;
    a.heads = {head_kind::none,
               head_kind::masked_lm,
               head_kind::sequence_classification,
               head_kind::token_classification,
               head_kind::question_answering,
               head_kind::multiple_choice};
    a.names.base = "convbert";
    a.defaults.embedding_size = 768, a.defaults.head = head_kind::masked_lm;
    return a;
}(bert);

}  // namespace llmcost::arch
