// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// A model as a literal: the compiler knows what it costs, and so does the program, without a file.
//
// expects: 1235814400 parameters
// expects: everything: ADD 3996241920000, MULT 3998410374400, torch FLOPs 7992665702400
// expects: without the head: ADD 3156113817600, MULT 3157871852800, DIV 747321600, SQRT 105600, EXP 747110400
// expects: cache: 52428800 elements, 104857600 bytes
#include <iostream>

#include <llmcost/llmcost.hpp>
#include <llmcost/presets.hpp>

constexpr llmcost::model llama = llmcost::presets::llama_3_2_1b;
static_assert(llmcost::count_model(llama, {}).params == 1'235'814'400);

int main() {
    // one forward pass: 16 sequences of 200 new tokens each, nothing in the cache yet
    const llmcost::workload load{.batch = 16, .sequence = 200};
    const llmcost::model_metrics all = llmcost::count_model(llama, load);

    // figures are exact integers of 128 bits; to_64 throws where one does not fit, count_text prints any
    std::cout << llmcost::count_text{all.params}.view() << " parameters\n";
    std::cout << "everything: ADD " << all.add.to_64() << ", MULT " << all.mult.to_64() << ", torch FLOPs "
              << all.torch_flops.to_64() << '\n';

    // a part is selected by its role, or by the path of a module: "attn", "model.layers.*.mlp"
    const llmcost::model_metrics f = llmcost::count_model(llama, load, llmcost::scope_query{"transformer"});
    std::cout << "without the head: ADD " << f.add.to_64() << ", MULT " << f.mult.to_64() << ", DIV " << f.div.to_64()
              << ", SQRT " << f.sqrt.to_64() << ", EXP " << f.exp.to_64() << '\n';
    std::cout << "cache: " << f.cache_elements.to_64() << " elements, " << f.cache_bytes.to_64() << " bytes\n";
}
