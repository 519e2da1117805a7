// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// A planner: the core alone, in a constant expression.
#include <llmcost/arch/llama.hpp>
#include <llmcost/llmcost.hpp>

// embedding and head 2 * 16*8; per layer q, k, v, o 4 * 64, gate, up, down 3 * 96, two norms of 8; a last norm of 8
constexpr llmcost::model tiny{&llmcost::arch::llama,
                              {.vocab_size = 16,
                               .hidden_size = 8,
                               .intermediate_size = 12,
                               .num_hidden_layers = 2,
                               .num_attention_heads = 2,
                               .num_key_value_heads = 2,
                               .head_dim = 4,
                               .rotary_dim = 4}};
static_assert(llmcost::count_model(tiny, {.batch = 1, .sequence = 4}).params ==
              llmcost::count(256 + 2 * (256 + 288 + 16) + 8));

int main() {}
