// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/layers/activation.hpp>
#include <llmcost/memory/adapter.hpp>
#include <llmcost/trace/trace.hpp>

// What adapters execute, in the words of their forward passes. PEFT keeps what it adds in 32 bits
// (`autocast_adapter_dtype`).
namespace llmcost::adapter_parts {

/// A module of an adapter, while it lives.
class part_guard {
public:
    part_guard(trace& t, literal name, class_name type) : t_(t), part_{.name = name, .type = type, .leaf = true} {
        t.enter(part_);
    }
    ~part_guard() { t_.leave(part_); }
    part_guard(const part_guard&) = delete;
    part_guard& operator=(const part_guard&) = delete;

private:
    trace& t_;
    module_info part_;
};

/// `nn.Linear` of an adapter.
[[nodiscard]] inline value product(trace& t, literal name, const value& x, std::int64_t out, bool bias = false) {
    const part_guard part{t, name, {"", "Linear"}};
    const value weight = t.added_param("default.weight", {out, x.dim(-1)}, dtype::float32);
    const value b = bias ? t.added_param("default.bias", {out}, dtype::float32) : value{};
    const value y = t.linear(x, weight, bias ? &b : nullptr);
    t.returned(y);
    return y;
}
/// What an adapter reads: dropout is a module of its own, which may give back what it is given.
[[nodiscard]] inline value read(trace& t, const value& x, const adapter& of) {
    const value wide = t.to(x, dtype::float32);
    const part_guard part{t, "lora_dropout", {"", of.drops ? "Dropout" : "Identity"}};
    const value in = of.drops ? drop(t, wide, dropout_of::always) : wide;
    t.returned(in);
    return in;
}

/// LoRA beside a linear layer that read x and made y (lora/layer.py, `Linear.forward`).
[[nodiscard]] inline value low_rank(trace& t, const adapter& of, const value& x, const value& y, std::int64_t rank) {
    const value low = product(t, "lora_A", read(t, x, of), rank);
    return t.to(t.add(y, t.mul(product(t, "lora_B", low, y.dim(-1), of.second_bias))), y.type);
}
/// The same beside a convolution (`_ConvNd.forward`): the second one's kernel is one wide.
[[nodiscard]] inline value low_rank(trace& t, const adapter& of, const value& x, const value& weight,
                                    const convolution_steps& how, const value& y, std::int64_t rank) {
    const class_name type{"", weight.rank == 3 ? "Conv1d" : "Conv2d"};
    const auto convolved = [&](literal name, const value& in, const extents& sizes, const convolution_steps& steps, bool b) {
        const part_guard part{t, name, type};
        const value w = t.added_param("default.weight", sizes, dtype::float32);
        if (b) t.beside(t.added_param("default.bias", {sizes.size[0]}, dtype::float32));
        const value out = t.convolution(in, w, b, steps);
        t.returned(out);
        return out;
    };
    extents first, second;
    first.rank = second.rank = weight.rank;
    for (int i = 0; i < weight.rank; ++i) first.size[i] = weight.size[i], second.size[i] = 1;
    first.size[0] = rank, first.size[1] = x.dim(1);
    second.size[0] = weight.dim(0), second.size[1] = rank / how.groups;
    const convolution_steps one{.groups = how.groups};
    const value low = convolved("lora_A", read(t, x, of), first, {.stride = how.stride, .padding = how.padding}, false);
    return t.to(t.add(y, t.mul(convolved("lora_B", low, second, one, of.second_bias))), y.type);
}

/// The low-rank product of the weights themselves, for their norm: worked out in every pass, gone back through by none.
[[nodiscard]] inline value norm_of_weights(trace& t, const value& weight, bool turned, const value& a, const value& b,
                                           dtype type) {
    const recorder::no_grad_guard detached{t};
    const value eye = t.constant({a.dim(1), a.dim(1)}, a.type);
    const value low = t.to(t.linear(t.linear(eye, a), b).transpose(0, 1), type);
    const value whole = t.to(weight, type);
    const value scaled = t.mul(low);
    t.beside(low);  // a name of the caller's
    return t.vector_norm(t.add(turned ? whole.transpose(0, 1) : whole, scaled), 1);
}
/// DoRA beside a linear layer (lora/dora.py, `DoraLinearLayer.forward`).
[[nodiscard]] inline value decomposed(trace& t, const value& x, const value& weight, bool turned, const value* bias,
                                      const value& y, std::int64_t rank) {
    const value in = t.to(x, dtype::float32);
    const value a = t.added_param("lora_A.default.weight", {rank, x.dim(-1)}, dtype::float32);
    const value b = t.added_param("lora_B.default.weight", {y.dim(-1), rank}, dtype::float32);
    const value norm = norm_of_weights(t, weight, turned, a, b, in.type);
    const value magnitude = t.added_param("lora_magnitude_vector.default.weight", {y.dim(-1)}, in.type);
    const value share = t.div(magnitude, norm).view({1, y.dim(-1)});
    const value low = t.linear(t.linear(in, a), b);
    const value base = bias != nullptr ? t.sub(y, *bias) : y;
    const value more = t.add(t.mul(t.unary(op::sub, share), base), t.mul(t.mul(share, low)));
    return t.to(t.add(y, more), y.type);
}

/// The matrices of LoRA beside a table: columns of the first are looked up, the second is multiplied.
struct row_matrices {
    value a, b;  ///< (rows, rank) and (rank, width), both turned
};
[[nodiscard]] inline row_matrices matrices_of_rows(trace& t, const value& table, std::int64_t rank) {
    const value a = t.added_param("lora_embedding_A.default", {rank, table.dim(0)}, dtype::float32);
    const value b = t.added_param("lora_embedding_B.default", {table.dim(1), rank}, dtype::float32);
    return {a.transpose(0, 1), b.transpose(0, 1)};
}
[[nodiscard]] inline value looked_up(trace& t, const row_matrices& m, const value& found) {
    extents to;
    for (to.rank = 0; to.rank < found.rank; ++to.rank) to.size[to.rank] = found.size[to.rank];
    to.size[to.rank - 1] = m.a.dim(1);
    return t.matmul(t.gather(m.a, to), m.b);
}
/// LoRA beside a table that gave `found`; `scaled`: the table multiplies what it gives (lora/layer.py, `Embedding.forward`).
[[nodiscard]] inline value rows_of_low_rank(trace& t, const value& table, bool scaled, const value& found,
                                            std::int64_t rank) {
    const value low = t.mul(looked_up(t, matrices_of_rows(t, table, rank), found));
    return t.to(t.add(found, scaled ? t.mul(low) : low), found.type);
}
/// DoRA beside a table (lora/dora.py, `DoraEmbeddingLayer`).
[[nodiscard]] inline value decomposed_rows(trace& t, const value& table, bool scaled, const value& found,
                                           std::int64_t rank) {
    const row_matrices m = matrices_of_rows(t, table, rank);
    const value magnitude = t.added_param("lora_magnitude_vector.default.weight", {table.dim(1)}, dtype::float32);
    const auto norm = [&] {
        const recorder::no_grad_guard detached{t};
        const value low = t.matmul(m.a, m.b).transpose(0, 1), scaled = t.mul(low);
        t.beside(low);  // a name of the caller's
        return t.vector_norm(t.add(table.transpose(0, 1), scaled), 1);
    };
    const value share = t.div(magnitude, norm());
    const value low = t.mul(t.mul(share, looked_up(t, m, found)));
    return t.to(t.add(t.mul(share, found), scaled ? t.mul(low) : low), found.type);
}

/// Factors of IA3 for what goes into a layer, or comes out of one (ia3/layer.py, `Linear.forward`).
[[nodiscard]] inline value factors(trace& t, const extents& sizes, const value& x, const value& wide) {
    const value by = t.added_param("ia3_l.default", sizes, dtype::float32);
    return t.to(t.mul(wide, t.mul(by.view({static_cast<std::int64_t>(by.elements)}))), x.type);
}

/// A parameter with a low-rank product of its own added to it (lora/layer.py, `ParamWrapper`): all experts in one call.
[[nodiscard]] inline value added_to(trace& t, literal name, const value& own, std::int64_t rank, bool scales) {
    const part_guard part{t, name, {"", "ParamWrapper"}};
    const std::int64_t experts = own.rank == 3 ? own.dim(0) : 1, out = own.dim(-2), in = own.dim(-1);
    const value a = t.added_param("lora_A.default.weight", {rank * experts, in}, dtype::float32);
    const value b = t.added_param("lora_B.default.weight", {out, rank * experts}, dtype::float32);
    if (own.rank == 2) {
        const value more = t.to(t.mul(t.matmul(b, a)), own.type);
        {  // `register_parametrization` tries it once
            const recorder::no_grad_guard tried{t};
            (void)t.add(own, more);
        }
        return t.add(own, more);
    }
    const value left = t.to(b.view({out, rank, experts}).transpose(1, 2).transpose(0, 1), own.type);
    const value right = t.to(a.view({experts, rank, in}), own.type);
    const op kind = scales ? op::batched_matmul_bias_scaled : op::batched_matmul_bias;
    {  // `register_parametrization` tries it once
        const recorder::no_grad_guard tried{t};
        (void)t.bmm(kind, left, right);
    }
    return t.bmm(kind, left, right);
}

/// Rows of a table that are trained (trainable_tokens/layer.py); what they were is kept.
[[nodiscard]] inline value trained_rows(trace& t, std::int64_t tokens, const value& table) {
    const value rows = t.added_param("token_adapter.trainable_tokens_delta.default", {tokens, table.dim(1)}, dtype::float32);
    t.owns_buffer(count(rows.elements) * count(bits_of(rows.type)) / count(8));
    return rows;
}
/// A table with these rows in the place of its own: all of it is written (`Tensor.index_copy`).
[[nodiscard]] inline value with_rows(trace& t, const value& table, const value& rows) {
    value out = table;
    const value own = t.to(rows, table.type);
    const value* const in[2] = {&table, &own};
    t.save_for_backward(own);
    t.save_integers(count(static_cast<std::uint64_t>(rows.dim(0))));
    t.record(op::scatter, {}, {}, out, in, 2);
    return out;
}

/// `nn.Linear` with a bias, of what makes prompts.
[[nodiscard]] inline value layer(trace& t, const value& x, literal weight, literal bias, std::int64_t out) {
    const value w = t.added_param(weight, {out, x.dim(-1)}, dtype::float32);
    const value b = t.added_param(bias, {out}, dtype::float32);
    return t.linear(x, w, &b);
}
/// Tokens in front of a text: their embeddings, or what a perceptron makes of them, the same for every sequence. `for_two`:
/// as many for a decoder, which reads none of them.
[[nodiscard]] inline value prompt(trace& t, const adapter& of, const value& text, bool for_two) {
    const part_guard part{t, "prompt_encoder.default", {"", "PromptEmbedding"}};
    const std::int64_t width = text.dim(-1), tokens = for_two ? 2 * of.tokens : of.tokens;
    value x = t.gather(t.added_param("embedding.weight", {tokens, width}, dtype::float32), {1, tokens, width});
    if (of.kind == adapter_kind::p_tuning) {  // p_tuning/model.py, `PromptEncoder`
        const std::int64_t hidden = of.hidden > 0 ? of.hidden : width;
        x = t.unary(op::relu, layer(t, x, "mlp_head.0.weight", "mlp_head.0.bias", hidden));
        x = t.unary(op::relu, layer(t, x, "mlp_head.2.weight", "mlp_head.2.bias", hidden));
        x = layer(t, x, "mlp_head.4.weight", "mlp_head.4.bias", width);
    }
    x = t.to(t.copy(x.expand({text.dim(0), tokens, width})), text.type);
    return for_two ? t.slice(x, 1, of.tokens) : x;
}
/// Keys and values of all layers, (batch, tokens, 2 · layers, width): a table, or what a perceptron makes of one
/// (prefix_tuning/model.py, `PrefixEncoder`).
[[nodiscard]] inline value prefix(trace& t, const adapter& of, const value& text, std::int64_t layers, std::int64_t width) {
    const part_guard part{t, "prompt_encoder.default", {"", "PrefixEncoder"}};
    const std::int64_t all = checked_product(2 * layers, width), wide = of.projects ? width : all;
    value x = t.gather(t.added_param("embedding.weight", {of.tokens, wide}, dtype::float32), {text.dim(0), of.tokens, wide});
    if (of.projects) {
        x = t.tanh(layer(t, x, "transform.0.weight", "transform.0.bias", of.hidden > 0 ? of.hidden : width));
        x = layer(t, x, "transform.2.weight", "transform.2.bias", all);
    }
    return t.to(x, text.type).view({text.dim(0), of.tokens, 2 * layers, width});
}
/// Those of one layer, (batch, heads, tokens, width of a head), as a cache copies them.
[[nodiscard]] inline value of_layer(trace& t, const value& prefix, const extents& sizes) {
    const value one = prefix.slice(2, 1).view({sizes.size[0], sizes.size[2], sizes.size[1], sizes.size[3]}).transpose(1, 2);
    return t.cat({one}, 2);
}

}  // namespace llmcost::adapter_parts
