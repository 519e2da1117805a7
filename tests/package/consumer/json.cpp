// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// A configuration from JSON, counted: the tiny model of core.cpp.
#include <llmcost/arch/llama.hpp>
#include <llmcost/config/read_model.hpp>
#include <llmcost/json.hpp>
#include <llmcost/llmcost.hpp>

// one family of the registry: a program that uses it compiles no other
constexpr llmcost::model_registry_entry rows[]{&llmcost::arch::llama};
constexpr llmcost::model_registry known{rows, 1, llmcost::parse_model_among, llmcost::parse_model_of};

int main() {
    const auto document = llmcost::parse_config(R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"],
        "vocab_size": 16, "hidden_size": 8, "intermediate_size": 12, "num_hidden_layers": 2, "num_attention_heads": 2})",
                                                "tiny");
    const llmcost::model tiny = document.read_with([](llmcost::config_view root) { return known.read(root); });
    return llmcost::count_model(tiny, {}).params == llmcost::count(256 + 2 * (256 + 288 + 16) + 8) ? 0 : 1;
}
