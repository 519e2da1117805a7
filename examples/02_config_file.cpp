// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// A model from a config.json, and what a broken one is answered.
//
// arguments: tests/golden/meta-llama__Llama-3.2-1B.json
// expects: llama: 1235814400 parameters
// expects: with 8 layers: 749242368 parameters
// expects: an example: /num_attention_heads: expected a positive integer, found "32"
// expects: an example: /model_type: "lama" is not supported; nearest: llama
#include <iostream>
#include <string_view>

#include <llmcost/json.hpp>
#include <llmcost/llmcost.hpp>
#include <llmcost/registry.hpp>

llmcost::model model_of(const llmcost::config_document& config) { return config.read_with(llmcost::parse_model); }

// a problem names file, JSON pointer and what was expected; problem.code() is for programs
void refuse(std::string_view text) try {
    (void)model_of(llmcost::parse_config(text, "an example"));
} catch (const llmcost::error& problem) {
    std::cout << problem.what() << '\n';
}

int main(int count, char** arguments) {
    if (count != 2) return 2;
    auto config = llmcost::read_config_file(arguments[1]);
    llmcost::model m = model_of(config);
    std::cout << m.spec->model_type << ": " << llmcost::count_model(m, {}).params.to_64() << " parameters\n";

    // eight layers less: each has 10,485,760 parameters in attention, 3 * 2048 * 8192 in its MLP, 2 * 2048 in norms
    config.set("num_hidden_layers", "8");
    m = model_of(config);
    std::cout << "with 8 layers: " << llmcost::count_model(m, {}).params.to_64() << " parameters\n";

    refuse(R"({"model_type": "llama", "num_attention_heads": "32"})");
    refuse(R"({"model_type": "lama"})");
}
