// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// A step of the tiny model of core.cpp, timed.
#include <llmcost/arch/llama.hpp>
#include <llmcost/kernels/library.hpp>
#include <llmcost/llmcost.hpp>
#include <llmcost/serving/timed_step.hpp>

constexpr llmcost::model tiny{&llmcost::arch::llama,
                              {.vocab_size = 16,
                               .hidden_size = 8,
                               .intermediate_size = 12,
                               .num_hidden_layers = 2,
                               .num_attention_heads = 2,
                               .num_key_value_heads = 2,
                               .head_dim = 4,
                               .rotary_dim = 4}};

int main() {
    llmcost::kernel_library kernels("h200", "", "", "none");
    const llmcost::execution how = llmcost::execution_of({}, kernels.on());
    return llmcost::time_step(tiny, {{.sequence = 1}}, how, kernels.on(), kernels).seconds > 0 ? 0 : 1;
}
