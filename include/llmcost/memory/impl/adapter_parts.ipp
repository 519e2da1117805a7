// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/memory/adapter_parts.hpp>

#include <cstdint>

#include <llmcost/base/count.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/layers/activation.hpp>
#include <llmcost/memory/adapter.hpp>
#include <llmcost/trace/dropout.hpp>
#include <llmcost/trace/leaf_module_policy.hpp>
#include <llmcost/trace/ops.hpp>
#include <llmcost/trace/recorder.hpp>
#include <llmcost/trace/scope.hpp>
#include <llmcost/trace/tensor.hpp>
#include <llmcost/trace/trace.hpp>

namespace llmcost::adapter_parts {

/// `nn.Linear` of an adapter.
[[nodiscard]] LLMCOST_INLINE tensor product(trace& t, literal name, const tensor& x, std::int64_t out,
                                            bool bias = false) {
    const part_guard part{t, name, {"", "Linear"}};
    const tensor weight = t.trainable_parameter("default.weight", {out, x.dim(-1)}, dtype::float32);
    const tensor b = bias ? t.trainable_parameter("default.bias", {out}, dtype::float32) : tensor{};
    const tensor y = t.linear(x, weight, bias ? &b : nullptr);
    t.record_module_output(y);
    return y;
}

/// The input of an adapter. Dropout is a separate module, which may return its input.
[[nodiscard]] LLMCOST_INLINE tensor read(trace& t, const tensor& x, const adapter& adapter_config) {
    const tensor x_float32 = t.to(x, dtype::float32);
    const part_guard part{t, "lora_dropout", {"", adapter_config.drops ? "Dropout" : "Identity"}};
    const tensor in =
        adapter_config.drops ? functional_dropout(t, x_float32, dropout_position::unconditional) : x_float32;
    t.record_module_output(in);
    return in;
}

LLMCOST_INLINE tensor low_rank(trace& t, const adapter& adapter_config, const tensor& x, const tensor& y,
                               std::int64_t rank) {
    const tensor low = product(t, "lora_A", read(t, x, adapter_config), rank);
    return t.to(t.add(y, t.mul_scalar(product(t, "lora_B", low, y.dim(-1), adapter_config.second_bias))), y.type);
}

LLMCOST_INLINE tensor low_rank(trace& t, const adapter& adapter_config, const tensor& x, const tensor& weight,
                               const convolution_options& options, const tensor& y, std::int64_t rank) {
    const class_name type{"", weight.rank == 3 ? "Conv1d" : "Conv2d"};
    const auto convolved = [&](literal name, const tensor& in, const shape& sizes, const convolution_options& steps,
                               bool b) {
        const part_guard part{t, name, type};
        const tensor w = t.trainable_parameter("default.weight", sizes, dtype::float32);
        if (b) t.read_parameter_in_next_op(t.trainable_parameter("default.bias", {sizes.size[0]}, dtype::float32));
        const tensor out = t.conv(in, w, b, steps);
        t.record_module_output(out);
        return out;
    };
    shape first, second;
    first.rank = second.rank = weight.rank;
    for (int i = 0; i < weight.rank; ++i) {
        first.size[i] = weight.size[i];
        second.size[i] = 1;
    }
    first.size[0] = rank;
    first.size[1] = x.dim(1);
    second.size[0] = weight.dim(0);
    second.size[1] = rank / options.groups;
    const convolution_options one{.groups = options.groups};
    const tensor low = convolved("lora_A", read(t, x, adapter_config), first,
                                 {.stride = options.stride, .padding = options.padding}, false);
    return t.to(t.add(y, t.mul_scalar(convolved("lora_B", low, second, one, adapter_config.second_bias))), y.type);
}

/// The norm of weights, and the tensors that variables of `DoraLinearLayer.forward` keep alive until it returns.
struct weight_norm {
    tensor eye, projected_eye, low, cast_weight;
    tensor norm{};

    /// The next operation is one that these variables outlive.
    void keep_alive(trace& t) const {
        for (const tensor* v : {&eye, &projected_eye, &low, &cast_weight}) t.read_parameter_in_next_op(*v);
    }
};

/// The low-rank product of the weights, for their norm. Computed in each pass, without a backward.
///
/// The product has a graph, which saves the identity matrix and its product with the first factor.
[[nodiscard]] LLMCOST_INLINE weight_norm norm_of_weights(trace& t, const tensor& weight, bool is_transposed,
                                                         const tensor& a, const tensor& b, dtype type) {
    const trace::no_grad_guard detached{t};
    const tensor eye = t.full({a.dim(1), a.dim(1)}, a.type), projected_eye = t.linear(eye, a);
    const tensor low = t.to(t.linear(projected_eye, b).transpose(0, 1), type);
    weight_norm out{eye, projected_eye, low, t.to(weight, type)};
    const tensor scaled = t.mul_scalar(low);
    out.keep_alive(t);
    out.norm = t.vector_norm(t.add(is_transposed ? out.cast_weight.transpose(0, 1) : out.cast_weight, scaled), 1);
    return out;
}

LLMCOST_INLINE tensor decomposed(trace& t, const tensor& x, const tensor& weight, bool is_transposed,
                                 const tensor* bias, const tensor& y, std::int64_t rank) {
    const tensor in = t.to(x, dtype::float32);
    const tensor a = t.trainable_parameter("lora_A.default.weight", {rank, x.dim(-1)}, dtype::float32);
    const tensor b = t.trainable_parameter("lora_B.default.weight", {y.dim(-1), rank}, dtype::float32);
    const weight_norm of_weights = norm_of_weights(t, weight, is_transposed, a, b, in.type);
    const tensor magnitude = t.trainable_parameter("lora_magnitude_vector.default.weight", {y.dim(-1)}, in.type);
    const tensor share = t.div(magnitude, of_weights.norm).view({1, y.dim(-1)});
    const tensor low = t.linear(t.linear(in, a), b);
    const tensor base = bias != nullptr ? t.sub(y, *bias) : y;
    const tensor part = t.mul(t.sub_scalar(share), base), low_part = t.mul_scalar(t.mul(share, low));
    of_weights.keep_alive(t);
    const tensor delta = t.add(part, low_part);
    return t.to(t.add(y, delta), y.type);
}

[[nodiscard]] LLMCOST_INLINE row_matrices matrices_of_rows(trace& t, const tensor& table, std::int64_t rank) {
    const tensor a = t.trainable_parameter("lora_embedding_A.default", {rank, table.dim(0)}, dtype::float32);
    const tensor b = t.trainable_parameter("lora_embedding_B.default", {table.dim(1), rank}, dtype::float32);
    return {a.transpose(0, 1), b.transpose(0, 1)};
}

[[nodiscard]] LLMCOST_INLINE tensor low_rank_embedding(trace& t, const row_matrices& m, const tensor& found) {
    shape to;
    for (to.rank = 0; to.rank < found.rank; ++to.rank) to.size[to.rank] = found.size[to.rank];
    to.size[to.rank - 1] = m.a.dim(1);
    return t.matmul(t.gather(m.a, to), m.b);
}

LLMCOST_INLINE tensor rows_of_low_rank(trace& t, const tensor& table, bool scaled, const tensor& found,
                                       std::int64_t rank) {
    const tensor low = t.mul_scalar(low_rank_embedding(t, matrices_of_rows(t, table, rank), found));
    return t.to(t.add(found, scaled ? t.mul_scalar(low) : low), found.type);
}

LLMCOST_INLINE tensor decomposed_rows(trace& t, const tensor& table, bool scaled, const tensor& found,
                                      std::int64_t rank) {
    const row_matrices m = matrices_of_rows(t, table, rank);
    const tensor magnitude =
        t.trainable_parameter("lora_magnitude_vector.default.weight", {table.dim(1)}, dtype::float32);
    const auto norm = [&] {
        const trace::no_grad_guard detached{t};
        const tensor low = t.matmul(m.a, m.b).transpose(0, 1), scaled = t.mul_scalar(low);
        t.read_parameter_in_next_op(low);  // a variable of the caller
        return t.vector_norm(t.add(table.transpose(0, 1), scaled), 1);
    };
    const tensor share = t.div(magnitude, norm());
    tensor low = t.mul_scalar(t.mul(share, low_rank_embedding(t, m, found)));
    if (scaled) low = t.mul_scalar(low);
    return t.to(t.add(t.mul(share, found), low), found.type);
}

LLMCOST_INLINE tensor factors(trace& t, const shape& sizes, const tensor& x, const tensor& x_float32) {
    const tensor ia3_weights = t.trainable_parameter("ia3_l.default", sizes, dtype::float32);
    return t.to(t.mul(x_float32, t.mul_scalar(ia3_weights.view({static_cast<std::int64_t>(ia3_weights.numel)}))),
                x.type);
}

LLMCOST_INLINE tensor added_to(trace& t, literal name, const tensor& parameter, std::int64_t rank, bool scales) {
    const part_guard part{t, name, {"", "ParamWrapper"}};
    const std::int64_t experts = parameter.rank == 3 ? parameter.dim(0) : 1, out = parameter.dim(-2),
                       in = parameter.dim(-1);
    const tensor a = t.trainable_parameter("lora_A.default.weight", {rank * experts, in}, dtype::float32);
    const tensor b = t.trainable_parameter("lora_B.default.weight", {out, rank * experts}, dtype::float32);
    if (parameter.rank == 2) {
        const tensor delta = t.to(t.mul_scalar(t.matmul(b, a)), parameter.type);
        {  // `register_parametrization` evaluates it once
            const trace::no_grad_guard tried{t};
            (void)t.add(parameter, delta);
        }
        return t.add(parameter, delta);
    }
    const tensor left = t.to(b.view({out, rank, experts}).transpose(1, 2).transpose(0, 1), parameter.type);
    const tensor right = t.to(a.view({experts, rank, in}), parameter.type);
    const op kind = scales ? op::batched_matmul_bias_scaled : op::batched_matmul_bias;
    {  // `register_parametrization` evaluates it once
        const trace::no_grad_guard tried{t};
        (void)t.bmm(kind, left, right);
    }
    return t.bmm(kind, left, right);
}

LLMCOST_INLINE tensor trained_rows(trace& t, std::int64_t tokens, const tensor& table) {
    const tensor rows =
        t.trainable_parameter("token_adapter.trainable_tokens_delta.default", {tokens, table.dim(1)}, dtype::float32);
    t.register_buffer(count(rows.numel) * count(bits_of(rows.type)) / count(8));
    return rows;
}

LLMCOST_INLINE tensor with_rows(trace& t, const tensor& table, const tensor& rows) {
    tensor out = table;
    const tensor cast_rows = t.to(rows, table.type);
    const tensor* const in[2] = {&table, &cast_rows};
    t.save_for_backward(cast_rows);
    t.save_integers_for_backward(count(static_cast<std::uint64_t>(rows.dim(0))));
    t.record_op(op::scatter, {}, {}, out, in, 2);
    return out;
}

/// `nn.Linear` with a bias, as part of a prompt encoder.
[[nodiscard]] LLMCOST_INLINE tensor layer(trace& t, const tensor& x, literal weight, literal bias, std::int64_t out) {
    const tensor w = t.trainable_parameter(weight, {out, x.dim(-1)}, dtype::float32);
    const tensor b = t.trainable_parameter(bias, {out}, dtype::float32);
    return t.linear(x, w, &b);
}

LLMCOST_INLINE tensor prompt(trace& t, const adapter& adapter_config, const tensor& text, bool for_two) {
    const part_guard part{t, "prompt_encoder.default", {"", "PromptEmbedding"}};
    const std::int64_t width = text.dim(-1), tokens = for_two ? 2 * adapter_config.tokens : adapter_config.tokens;
    tensor x = t.gather(t.trainable_parameter("embedding.weight", {tokens, width}, dtype::float32), {1, tokens, width});
    if (adapter_config.kind == adapter_kind::p_tuning) {  // p_tuning/model.py, `PromptEncoder`
        const std::int64_t hidden = adapter_config.hidden > 0 ? adapter_config.hidden : width;
        x = t.relu(layer(t, x, "mlp_head.0.weight", "mlp_head.0.bias", hidden));
        x = t.relu(layer(t, x, "mlp_head.2.weight", "mlp_head.2.bias", hidden));
        x = layer(t, x, "mlp_head.4.weight", "mlp_head.4.bias", width);
    }
    x = t.to(t.copy(x.expand({text.dim(0), tokens, width})), text.type);
    return for_two ? t.slice(x, 1, adapter_config.tokens) : x;
}

LLMCOST_INLINE tensor prefix(trace& t, const adapter& adapter_config, const tensor& text, std::int64_t layers,
                             std::int64_t width) {
    const part_guard part{t, "prompt_encoder.default", {"", "PrefixEncoder"}};
    const std::int64_t all = checked_product(2 * layers, width), expanded_width = adapter_config.projects ? width : all;
    tensor x =
        t.gather(t.trainable_parameter("embedding.weight", {adapter_config.tokens, expanded_width}, dtype::float32),
                 {text.dim(0), adapter_config.tokens, expanded_width});
    if (adapter_config.projects) {
        x = t.tanh(layer(t, x, "transform.0.weight", "transform.0.bias",
                         adapter_config.hidden > 0 ? adapter_config.hidden : width));
        x = layer(t, x, "transform.2.weight", "transform.2.bias", all);
    }
    return t.to(x, text.type).view({text.dim(0), adapter_config.tokens, 2 * layers, width});
}

LLMCOST_INLINE tensor layer_prefix(trace& t, const tensor& prefix, const shape& sizes) {
    const tensor one =
        prefix.slice(2, 1).view({sizes.size[0], sizes.size[2], sizes.size[1], sizes.size[3]}).transpose(1, 2);
    return t.cat({one}, 2);
}

}  // namespace llmcost::adapter_parts
