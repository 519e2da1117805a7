// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/cli/request/adapter_option.hpp>
#include <llmcost/memory/training_step.hpp>

#include "registry.hpp"

// A configuration of an adapter, or any other text, with small models. The result is an error or a training step.
namespace {

const std::vector<llmcost::model>& adapted_models() {
    static const std::vector<llmcost::model> small = [] {
        std::vector<llmcost::model> out;
        for (
            const char* text : {
                R"({"model_type":"llama","vocab_size":97,"hidden_size":8,"intermediate_size":16,"num_hidden_layers":2,
                     "num_attention_heads":2,"num_key_value_heads":1,"tie_word_embeddings":true})",
                R"({"model_type":"mixtral","vocab_size":97,"hidden_size":8,"intermediate_size":16,"num_hidden_layers":2,
                     "num_attention_heads":2,"num_key_value_heads":1,"num_local_experts":4,"num_experts_per_tok":2})",
                R"({"model_type":"t5","vocab_size":97,"d_model":8,"d_kv":4,"d_ff":16,"num_layers":2,"num_heads":2})",
                R"({"model_type":"gpt2","vocab_size":97,"n_embd":8,"n_layer":2,"n_head":2,"n_positions":40})",
                R"({"model_type":"deit","hidden_size":8,"num_hidden_layers":1,"num_attention_heads":2,"intermediate_size":16,
                     "image_size":32,"patch_size":16,"architectures":["DeiTForImageClassification"]})",
            })
            out.push_back(llmcost::parse_config(text, "small").read_with([](llmcost::config_view root) {
                return parts::registry.read(root);
            }));
        return out;
    }();
    return small;
}

}  // namespace

// libFuzzer: clang++ -std=c++20 -g -O1 -fsanitize=fuzzer,address,undefined -Iinclude tests/fuzz/adapter_fuzz.cpp
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const llmcost::model& subject = adapted_models()[(data[0] - std::size_t{'0'}) % adapted_models().size()];
    const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    std::ostringstream notes;
    try {
        llmcost::cli::requested_adapter adapter_request;
        if (text.starts_with('{')) {
            adapter_request.file =
                llmcost::parse_config(text, "fuzz.json", {}, llmcost::document_kind::adapter)
                    .read_with([](llmcost::config_view root) { return llmcost::parse_adapter(root); });
            adapter_request.is_file = true;
        } else {
            if (text.find('/') != std::string_view::npos || text.find('.') != std::string_view::npos)
                return 0;  // a path
            adapter_request = llmcost::cli::detail::read_adapter_option(text);
        }
        llmcost::cli::detail::resolve_adapter(adapter_request, subject, notes);
        (void)llmcost::train(subject, {.batch = 2, .sequence = 5, .uses_cpu_kernels = true},
                             {.adapter_config = adapter_request.file.adapts});
    } catch (const llmcost::error&) {
        return 0;
    } catch (const llmcost::overflow_error&) {
        return 0;
    } catch (const llmcost::workload_error&) {
        return 0;
    } catch (const llmcost::description_error&) {
        return 0;
    }
    return 0;
}
