// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/custom/arguments.hpp>
#include <llmcost/trace/trace.hpp>

// Recurrent layers and Transformer layers of PyTorch for custom models.
namespace llmcost::custom::layer {

/// `nn.LSTM`: input (B, S, input_size) with `batch_first`, else (S, B, input_size) -> output, h_n, c_n.
///
/// One product of all positions with `weight_ih`; per position, one with `weight_hh`, then the gates.
/// Source: ATen's RNN.cpp, `LSTMCell` and `FullLayer`, without oneDNN and cuDNN, which compute it in one kernel.
void lstm(trace& t, const arguments& a, const operands& x);
/// `nn.GRU`. Source: ATen's RNN.cpp, `GRUCell`.
void gru(trace& t, const arguments& a, const operands& x);
/// `nn.RNN`. Source: ATen's RNN.cpp, `SimpleCell`.
void rnn(trace& t, const arguments& a, const operands& x);

/// `nn.TransformerEncoderLayer` with `batch_first`: (B, S, d_model) -> (B, S, d_model).
///
/// Source: torch/nn/modules/transformer.py, without the fused kernel of inference.
void transformer_encoder_layer(trace& t, const arguments& a, const operands& x);
/// `nn.TransformerDecoderLayer` with `batch_first`: target (B, T, d_model), memory (B, S, d_model) -> target.
void transformer_decoder_layer(trace& t, const arguments& a, const operands& x);
/// `nn.TransformerEncoder`: equal layers, then an optional norm.
void transformer_encoder(trace& t, const arguments& a, const operands& x);
/// `nn.TransformerDecoder`: equal layers, then an optional norm.
void transformer_decoder(trace& t, const arguments& a, const operands& x);
/// `nn.Transformer`: source (B, S, d_model), target (B, T, d_model) -> target.
void transformer(trace& t, const arguments& a, const operands& x);

}  // namespace llmcost::custom::layer

#ifndef LLMCOST_COMPILED
#include <llmcost/custom/impl/sequence_layers.ipp>  // IWYU pragma: export
#endif
