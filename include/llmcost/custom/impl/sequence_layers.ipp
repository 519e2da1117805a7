// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/custom/sequence_layers.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

#include <llmcost/base/inline.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/custom/arguments.hpp>
#include <llmcost/layers/activation.hpp>
#include <llmcost/layers/linear.hpp>
#include <llmcost/layers/mlp.hpp>
#include <llmcost/layers/multihead_attention.hpp>
#include <llmcost/layers/norm.hpp>
#include <llmcost/trace/dropout.hpp>
#include <llmcost/trace/loop.hpp>
#include <llmcost/trace/ops.hpp>
#include <llmcost/trace/tensor.hpp>
#include <llmcost/trace/trace.hpp>

namespace llmcost::custom::layer {

/// The kinds of recurrent cells, by number of gates.
enum class cell_kind : std::uint8_t { rnn_tanh, rnn_relu, gru, lstm };

inline constexpr std::int64_t max_recurrent_layers = 32;

/// `weight_ih_l0`, …, `bias_hh_l31_reverse`, of each layer and direction.
class recurrent_names {
public:
    consteval recurrent_names() {
        constexpr literal kinds[4]{"weight_ih_l", "weight_hh_l", "bias_ih_l", "bias_hh_l"};
        for (std::size_t i = 0; i < text_.size(); ++i) {
            const std::size_t layer = i / 8, direction = i / 4 % 2;
            std::size_t n = 0;
            const auto append = [&](literal part) {
                while (*part != '\0') text_[i][n++] = *part++;
            };
            append(kinds[i % 4]);
            if (layer >= 10) text_[i][n++] = static_cast<char>('0' + layer / 10);
            text_[i][n++] = static_cast<char>('0' + layer % 10);
            if (direction == 1) append("_reverse");
        }
    }
    [[nodiscard]] literal operator()(std::int64_t layer, std::int64_t direction, int kind) const {
        return text_[static_cast<std::size_t>(layer * 8 + direction * 4 + kind)].data();
    }

private:
    std::array<std::array<char, 28>, static_cast<std::size_t>(max_recurrent_layers) * 8> text_{};
};
inline constexpr recurrent_names names_of_recurrent;

/// The states of a cell; `cell` is used by LSTM only.
struct recurrent_state {
    tensor hidden, cell;
};

/// One position: the gates of the input, and the previous state -> the next state.
LLMCOST_INLINE recurrent_state step(trace& t, cell_kind kind, const tensor& input_gates, const recurrent_state& before,
                                    const tensor& weight, const tensor* bias) {
    const std::int64_t width = before.hidden.dim(-1);
    tensor gates = t.linear(before.hidden, weight, bias);
    if (kind == cell_kind::gru) {
        const tensor part = input_gates.slice(-1, width);
        tensor reset = gates.slice(-1, width), update = gates.slice(-1, width), candidate = gates.slice(-1, width);
        for (tensor* const gate : {&reset, &update}) {
            t.add_(*gate, part);
            t.apply_inplace(op::sigmoid, *gate);
        }
        t.mul_(candidate, reset);
        tensor fresh = t.add(part, candidate);
        t.apply_inplace(op::tanh, fresh);
        tensor hidden = t.sub(before.hidden, fresh);
        t.mul_(hidden, update);
        t.add_(hidden, fresh);
        return {hidden, {}};
    }
    t.add_(gates, input_gates);
    if (kind != cell_kind::lstm) return {kind == cell_kind::rnn_tanh ? t.tanh(gates) : t.relu(gates), {}};
    tensor in = gates.slice(-1, width), forget = gates.slice(-1, width), fresh = gates.slice(-1, width),
           out = gates.slice(-1, width);
    t.apply_inplace(op::sigmoid, in);
    t.apply_inplace(op::sigmoid, forget);
    t.apply_inplace(op::tanh, fresh);
    t.apply_inplace(op::sigmoid, out);
    tensor cell = t.mul(forget, before.cell);
    t.add_(cell, t.mul(in, fresh));
    return {t.mul(out, t.tanh(cell)), cell};
}

/// `torch.stack` of the states of all positions, or of all layers.
LLMCOST_INLINE tensor stack_states(trace& t, std::int64_t n, const tensor& state) {
    tensor out = t.full({n, state.dim(0), state.dim(1)}, state.type);
    out.requires_grad = state.requires_grad;
    return out;
}

/// Arguments: input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional.
LLMCOST_INLINE void recurrent(trace& t, const arguments& a, const operands& x, cell_kind kind) {
    const std::int64_t width = a[1], layers = a[2], directions = a[6] != 0 ? 2 : 1,
                       gates = kind == cell_kind::lstm  ? 4
                               : kind == cell_kind::gru ? 3
                                                        : 1;
    if (x[0].rank != 3) throw_description_error("expected an input of three dimensions: batch, sequence, input_size");
    if (x[0].dim(2) != a[0]) throw_description_error("input_size does not match the last dimension of the input");
    if (layers > max_recurrent_layers) throw_description_error("num_layers must be at most 32");
    if (a.results() > (kind == cell_kind::lstm ? 3 : 2))
        throw_description_error("the layer has fewer results: output, h_n, and c_n of LSTM");
    tensor input = a[4] != 0 ? x[0].transpose(0, 1) : x[0];
    const std::int64_t length = input.dim(0), batch = input.dim(1);
    const tensor zeros = t.full({layers * directions, batch, width}, input.type),
                 cells = kind == cell_kind::lstm ? t.full({layers * directions, batch, width}, input.type) : zeros;
    recurrent_state last;
    for (std::int64_t layer = 0; layer < layers; ++layer) {
        std::array<tensor, 2> outputs;
        const std::int64_t in = layer == 0 ? a[0] : width * directions;
        for (std::int64_t direction = 0; direction < directions; ++direction) {
            const auto name = [&](int parameter) { return names_of_recurrent(layer, direction, parameter); };
            const tensor weight_ih = t.param(name(0), {gates * width, in}),
                         weight_hh = t.param(name(1), {gates * width, width});
            const tensor bias_ih = a[3] != 0 ? t.param(name(2), {gates * width}) : tensor{},
                         bias_hh = a[3] != 0 ? t.param(name(3), {gates * width}) : tensor{};
            const tensor input_gates = t.linear(input, weight_ih, a[3] != 0 ? &bias_ih : nullptr);
            const tensor* const bias = a[3] != 0 ? &bias_hh : nullptr;
            const auto next = [&](const recurrent_state& before) {
                return step(t, kind, input_gates.select(0), before, weight_hh, bias);
            };
            last = next({zeros.select(0), cells.select(0)});
            tensor hidden = last.hidden;
            for (loop positions = t.loop_time_steps(length - 1, hidden); positions.next();)
                hidden = next({hidden, last.cell}).hidden;
            last.hidden = hidden;
            outputs[static_cast<std::size_t>(direction)] = stack_states(t, length, hidden);
        }
        input = directions == 2 ? t.cat({outputs[0], outputs[1]}, -1) : outputs[0];
        if (a[5] != 0 && layer + 1 < layers) input = functional_dropout(t, input, dropout_position::unconditional);
    }
    const tensor all_hidden = stack_states(t, layers * directions, last.hidden);
    const tensor all_cells = kind == cell_kind::lstm ? stack_states(t, layers * directions, last.cell) : tensor{};
    x.out[0] = a[4] != 0 ? input.transpose(0, 1) : input;
    if (a.results() > 1) x.out[1] = all_hidden;
    if (a.results() > 2) x.out[2] = all_cells;
}

LLMCOST_INLINE void lstm(trace& t, const arguments& a, const operands& x) { recurrent(t, a, x, cell_kind::lstm); }
LLMCOST_INLINE void gru(trace& t, const arguments& a, const operands& x) { recurrent(t, a, x, cell_kind::gru); }
LLMCOST_INLINE void rnn(trace& t, const arguments& a, const operands& x) {
    recurrent(t, a, x, a[7] == 0 ? cell_kind::rnn_tanh : cell_kind::rnn_relu);
}

/// The sizes of a Transformer layer.
struct transformer_sizes {
    std::int64_t width, heads, inner;
    bool has_dropout, uses_gelu, norm_first;
};

/// `first`: the position of `dim_feedforward`, before dropout, activation and norm_first.
[[nodiscard]] LLMCOST_INLINE transformer_sizes transformer_sizes_of(const arguments& a, std::size_t first) {
    if (a[0] % a[1] != 0) throw_description_error("nhead must divide d_model");
    return {a[0], a[1], a[first], a[first + 1] != 0, a[first + 2] != 0, a[first + 3] != 0};
}

/// Multihead attention to the states of an encoder.
struct multihead_cross_attention : llmcost::multihead_attention {
    static constexpr role module_role = role::cross_attn;
};

/// A Transformer layer; `memory` is null in an encoder.
struct transformer_layer {
    const transformer_sizes& sizes;
    const tensor* memory;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] class_name type_name() const {
        return {"Transformer", memory == nullptr ? "EncoderLayer" : "DecoderLayer"};
    }
    tensor forward(trace& t, const tensor& input) const {
        constexpr literal norms[]{"norm1", "norm2", "norm3"}, dropouts[]{"dropout1", "dropout2", "dropout3"};
        const llmcost::multihead_attention attention{sizes.width, sizes.heads, false};
        std::size_t part = 0;
        tensor x = input;
        const auto add_branch = [&](const auto& branch) {
            const norm_module norm{norm_kind::layer, sizes.width};
            const tensor out = branch(sizes.norm_first ? t.call(norms[part], norm, x) : x);
            const tensor dropped = drop(t, dropouts[part], out);
            x = t.add(x, dropped);
            if (!sizes.norm_first) x = t.call(norms[part], norm, x);
            ++part;
        };
        add_branch([&](const tensor& h) { return t.call("self_attn", attention, h); });
        if (memory != nullptr)
            add_branch([&](const tensor& h) {
                return t.call("multihead_attn", multihead_cross_attention{attention}, h, *memory);
            });
        add_branch([&](const tensor& h) {
            const tensor up = t.call("linear1", mlp_child<llmcost::linear>{{sizes.width, sizes.inner, true}}, h);
            const tensor active = drop(t, "dropout", sizes.uses_gelu ? t.gelu(up) : t.relu(up));
            return t.call("linear2", last_mlp_child<llmcost::linear>{{sizes.inner, sizes.width, true}}, active);
        });
        return x;
    }

private:
    tensor drop(trace& t, literal name, const tensor& x) const {
        return sizes.has_dropout ? t.call(name, dropout_module{dropout_position::unconditional}, x)
                                 : t.call(name, llmcost::identity{"Dropout"}, x);
    }
};

LLMCOST_INLINE void require_width(const arguments& a, const tensor& x) {
    if (x.rank != 3 || x.dim(2) != a[0])
        throw_description_error("expected inputs of three dimensions: batch, sequence, d_model");
}

/// Layers with an optional norm after them.
LLMCOST_INLINE tensor transformer_stack(trace& t, const transformer_sizes& sizes, std::int64_t layers, bool has_norm,
                                        tensor x, const tensor* memory) {
    for (loop layer = t.loop_modules(layers, x); layer.next();)
        x = t.call({"layers", layer.index()}, transformer_layer{sizes, memory}, x);
    return has_norm ? t.call("norm", norm_module{norm_kind::layer, sizes.width}, x) : x;
}

LLMCOST_INLINE void transformer_encoder_layer(trace& t, const arguments& a, const operands& x) {
    require_width(a, x[0]);
    const transformer_sizes sizes = transformer_sizes_of(a, 2);
    *x.out = transformer_layer{sizes, nullptr}.forward(t, x[0]);
}
LLMCOST_INLINE void transformer_decoder_layer(trace& t, const arguments& a, const operands& x) {
    require_width(a, x[0]);
    require_width(a, x[1]);
    const transformer_sizes sizes = transformer_sizes_of(a, 2);
    *x.out = transformer_layer{sizes, &x[1]}.forward(t, x[0]);
}
LLMCOST_INLINE void transformer_encoder(trace& t, const arguments& a, const operands& x) {
    require_width(a, x[0]);
    *x.out = transformer_stack(t, transformer_sizes_of(a, 4), a[2], a[3] != 0, x[0], nullptr);
}
LLMCOST_INLINE void transformer_decoder(trace& t, const arguments& a, const operands& x) {
    require_width(a, x[0]);
    require_width(a, x[1]);
    *x.out = transformer_stack(t, transformer_sizes_of(a, 4), a[2], a[3] != 0, x[0], &x[1]);
}
LLMCOST_INLINE void transformer(trace& t, const arguments& a, const operands& x) {
    require_width(a, x[0]);
    require_width(a, x[1]);
    const transformer_sizes sizes = transformer_sizes_of(a, 4);
    const module_info encoder{
        .name = "encoder", .class_of_module = {"", "TransformerEncoder"}, .module_role = role::encoder};
    const module_info decoder{
        .name = "decoder", .class_of_module = {"", "TransformerDecoder"}, .module_role = role::decoder};
    t.enter(encoder);
    const tensor memory = t.leave(encoder, transformer_stack(t, sizes, a[2], true, x[0], nullptr));
    t.enter(decoder);
    *x.out = t.leave(decoder, transformer_stack(t, sizes, a[3], true, x[1], &memory));
}

}  // namespace llmcost::custom::layer
