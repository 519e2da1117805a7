// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/cli/commands/default_command.hpp>
#include <llmcost/json.hpp>

#include "registry.hpp"

// Arguments, one per line, asked of small models: whatever they are, the answer or the error is text that steers no
// terminal.
namespace {

const std::vector<llmcost::model>& models() {
    static const std::vector<llmcost::model> small = [] {
        std::vector<llmcost::model> out;
        for (
            const char* text : {
                R"({"model_type":"llama","vocab_size":97,"hidden_size":8,"intermediate_size":16,"num_hidden_layers":2,
                     "num_attention_heads":2,"num_key_value_heads":1,"tie_word_embeddings":true})",
                R"({"model_type":"gemma2","vocab_size":97,"hidden_size":8,"intermediate_size":16,"num_hidden_layers":3,
                     "num_attention_heads":2,"num_key_value_heads":1,"head_dim":4,"sliding_window":5})",
                R"({"model_type":"mixtral","vocab_size":97,"hidden_size":8,"intermediate_size":16,"num_hidden_layers":2,
                     "num_attention_heads":2,"num_key_value_heads":1,"num_local_experts":4,"num_experts_per_tok":2})",
                R"({"model_type":"t5","vocab_size":97,"d_model":8,"d_kv":4,"d_ff":16,"num_layers":2,"num_heads":2})",
                R"({"model_type":"gpt2","vocab_size":97,"n_embd":8,"n_layer":2,"n_head":2,"n_positions":40})",
            })
            out.push_back(llmcost::parse_config(text, "small").read_with([](llmcost::config_view root) {
                return parts::registry.read(root);
            }));
        return out;
    }();
    return small;
}

void check(std::string_view text) {
    for (const char c : text)
        if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') std::abort();
}

}  // namespace

// libFuzzer: clang++ -std=c++20 -g -O1 -fsanitize=fuzzer,address,undefined -Iinclude tests/fuzz/query_fuzz.cpp
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const llmcost::model& subject = models()[(data[0] - std::size_t{'0'}) % models().size()];
    std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
    std::vector<std::string_view> args;
    while (!rest.empty()) {
        const std::size_t end = rest.find('\n');
        args.push_back(rest.substr(0, end));
        rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
    try {
        const llmcost::cli::arguments read("", llmcost::cli::page_options, args);
        llmcost::cli::parsed_model source{
            .found = {llmcost::parse_config("{}", "small"), {"small", "no configuration"}}};
        source.subject = subject;
        check(llmcost::cli::answer(llmcost::cli::understand(read, source)));
    } catch (const llmcost::error& e) {
        check(llmcost::printable(e.what()));
    } catch (const llmcost::overflow_error&) {
        return 0;
    } catch (const llmcost::workload_error&) {
        return 0;
    }
    return 0;
}
