// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/files/gguf_sizes.hpp>
#include <llmcost/json.hpp>
#include <llmcost/report/listing.hpp>

#include <doctest/doctest.h>

#include <map>
#include <string>

#include "registry.hpp"

// Types of tensors against llama-quantize.
namespace llmcost {
namespace {

using quantized_types = std::map<std::string, int>;

quantized_types quantized_types_of(const char* config, const char* mix) {
    const model m = parse_config(config, "test").read_with([](config_view v) { return parts::registry.read(v); });
    quantized_types types;
    for (const stored_tensor& t : gguf_sizes(m, list_model(m, {.sequence = 3}), mix).weights.tensors) ++types[t.type];
    return types;
}

}  // namespace

TEST_CASE("types are those of llama-quantize for every mix") {
    const char* const shared_keys =
        R"({"model_type":"llama","architectures":["LlamaForCausalLM"],"hidden_size":1024,"intermediate_size":2048,)"
        R"("num_hidden_layers":16,"num_attention_heads":16,"num_key_value_heads":4,"vocab_size":512})";
    const char* const own_keys =
        R"({"model_type":"llama","architectures":["LlamaForCausalLM"],"hidden_size":1024,"intermediate_size":2048,)"
        R"("num_hidden_layers":24,"num_attention_heads":16,"vocab_size":512,"tie_word_embeddings":true})";
    const char* const eight_experts =
        R"({"model_type":"mixtral","architectures":["MixtralForCausalLM"],"hidden_size":1024,)"
        R"("intermediate_size":2048,"num_hidden_layers":32,"num_attention_heads":16,"num_key_value_heads":4,)"
        R"("num_local_experts":8,"vocab_size":512})";
    const char* const many_experts =
        R"({"model_type":"qwen3_moe","architectures":["Qwen3MoeForCausalLM"],"hidden_size":1024,"head_dim":64,)"
        R"("intermediate_size":2048,"moe_intermediate_size":256,"num_hidden_layers":48,"num_attention_heads":16,)"
        R"("num_key_value_heads":4,"num_experts":16,"num_experts_per_tok":4,"vocab_size":512})";
    const char* const odd_rows =
        R"({"model_type":"gemma3_text","architectures":["Gemma3ForCausalLM"],"hidden_size":1152,)"
        R"("intermediate_size":6912,"num_hidden_layers":26,"num_attention_heads":4,"num_key_value_heads":1,)"
        R"("head_dim":256,"vocab_size":512,"sliding_window":512})";
    struct quantized_file {
        const char* config;
        const char* mix;
        quantized_types types;
    };
    // llama.cpp b11434, `llama_model_quantize` with `dry_run`, without an importance matrix
    // clang-format off
    const quantized_file files[]{
        {shared_keys, "q4_0", {{"F32", 33}, {"Q4_0", 113}, {"Q6_K", 1}}},
        {shared_keys, "q4_1", {{"F32", 33}, {"Q4_1", 113}, {"Q6_K", 1}}},
        {shared_keys, "q8_0", {{"F32", 33}, {"Q8_0", 114}}},
        {shared_keys, "q5_0", {{"F32", 33}, {"Q5_0", 113}, {"Q6_K", 1}}},
        {shared_keys, "q5_1", {{"F32", 33}, {"Q5_1", 113}, {"Q6_K", 1}}},
        {shared_keys, "q2_k", {{"F32", 33}, {"Q2_K", 65}, {"Q3_K", 32}, {"Q4_K", 16}, {"Q6_K", 1}}},
        {shared_keys, "q3_k_s", {{"F32", 33}, {"Q3_K", 113}, {"Q6_K", 1}}},
        {shared_keys, "q3_k_m", {{"F32", 33}, {"Q3_K", 65}, {"Q4_K", 45}, {"Q5_K", 3}, {"Q6_K", 1}}},
        {shared_keys, "q3_k_l", {{"F32", 33}, {"Q3_K", 65}, {"Q5_K", 48}, {"Q6_K", 1}}},
        {shared_keys, "q4_k_s", {{"F32", 33}, {"Q4_K", 107}, {"Q5_K", 6}, {"Q6_K", 1}}},
        {shared_keys, "q4_k_m", {{"F32", 33}, {"Q4_K", 97}, {"Q6_K", 17}}},
        {shared_keys, "q5_k_s", {{"F32", 33}, {"Q5_K", 113}, {"Q6_K", 1}}},
        {shared_keys, "q5_k_m", {{"F32", 33}, {"Q5_K", 97}, {"Q6_K", 17}}},
        {shared_keys, "q6_k", {{"F32", 33}, {"Q6_K", 114}}},
        {shared_keys, "iq2_xxs", {{"F32", 33}, {"IQ2_XXS", 94}, {"Q2_K", 3}, {"Q4_K", 16}, {"Q5_K", 1}}},
        {shared_keys, "iq2_xs", {{"F32", 33}, {"IQ2_XS", 94}, {"Q2_K", 3}, {"Q4_K", 16}, {"Q5_K", 1}}},
        {shared_keys, "q2_k_s", {{"F32", 33}, {"Q2_K", 95}, {"Q4_K", 18}, {"Q6_K", 1}}},
        {shared_keys, "iq3_xs", {{"F32", 33}, {"IQ3_S", 41}, {"IQ3_XXS", 56}, {"Q4_K", 16}, {"Q6_K", 1}}},
        {shared_keys, "iq3_xxs", {{"F32", 33}, {"IQ2_S", 32}, {"IQ3_S", 17}, {"IQ3_XXS", 32}, {"Q3_K", 14}, {"Q4_K", 18}, {"Q5_K", 1}}},
        {shared_keys, "iq1_s", {{"F32", 33}, {"IQ1_S", 78}, {"IQ2_XXS", 16}, {"Q2_K", 3}, {"Q4_K", 16}, {"Q5_K", 1}}},
        {shared_keys, "iq4_nl", {{"F32", 33}, {"IQ4_NL", 95}, {"Q5_K", 18}, {"Q6_K", 1}}},
        {shared_keys, "iq3_s", {{"F32", 33}, {"IQ3_S", 97}, {"Q4_K", 16}, {"Q6_K", 1}}},
        {shared_keys, "iq3_m", {{"F32", 33}, {"IQ3_S", 79}, {"Q4_K", 34}, {"Q6_K", 1}}},
        {shared_keys, "iq2_s", {{"F32", 33}, {"IQ2_XS", 78}, {"IQ3_S", 19}, {"Q4_K", 16}, {"Q5_K", 1}}},
        {shared_keys, "iq2_m", {{"F32", 33}, {"IQ2_S", 78}, {"IQ3_S", 19}, {"Q4_K", 16}, {"Q5_K", 1}}},
        {shared_keys, "iq4_xs", {{"F32", 33}, {"IQ4_XS", 95}, {"Q5_K", 18}, {"Q6_K", 1}}},
        {shared_keys, "iq1_m", {{"F32", 33}, {"IQ1_M", 78}, {"IQ2_XXS", 16}, {"Q2_K", 3}, {"Q4_K", 16}, {"Q5_K", 1}}},
        {shared_keys, "tq1_0", {{"F32", 33}, {"Q4_K", 1}, {"Q6_K", 1}, {"TQ1_0", 112}}},
        {shared_keys, "tq2_0", {{"F32", 33}, {"Q4_K", 1}, {"Q6_K", 1}, {"TQ2_0", 112}}},
        {shared_keys, "mxfp4_moe", {{"F32", 33}, {"Q8_0", 114}}},
        {own_keys, "q4_0", {{"F32", 49}, {"Q4_0", 168}, {"Q6_K", 1}}},
        {own_keys, "q4_1", {{"F32", 49}, {"Q4_1", 168}, {"Q6_K", 1}}},
        {own_keys, "q8_0", {{"F32", 49}, {"Q8_0", 169}}},
        {own_keys, "q5_0", {{"F32", 49}, {"Q5_0", 168}, {"Q6_K", 1}}},
        {own_keys, "q5_1", {{"F32", 49}, {"Q5_1", 168}, {"Q6_K", 1}}},
        {own_keys, "q2_k", {{"F32", 49}, {"Q2_K", 96}, {"Q3_K", 72}, {"Q6_K", 1}}},
        {own_keys, "q3_k_s", {{"F32", 49}, {"Q3_K", 168}, {"Q6_K", 1}}},
        {own_keys, "q3_k_m", {{"F32", 49}, {"Q3_K", 96}, {"Q4_K", 69}, {"Q5_K", 3}, {"Q6_K", 1}}},
        {own_keys, "q3_k_l", {{"F32", 49}, {"Q3_K", 96}, {"Q5_K", 72}, {"Q6_K", 1}}},
        {own_keys, "q4_k_s", {{"F32", 49}, {"Q4_K", 161}, {"Q5_K", 7}, {"Q6_K", 1}}},
        {own_keys, "q4_k_m", {{"F32", 49}, {"Q4_K", 144}, {"Q6_K", 25}}},
        {own_keys, "q5_k_s", {{"F32", 49}, {"Q5_K", 168}, {"Q6_K", 1}}},
        {own_keys, "q5_k_m", {{"F32", 49}, {"Q5_K", 144}, {"Q6_K", 25}}},
        {own_keys, "q6_k", {{"F32", 49}, {"Q6_K", 169}}},
        {own_keys, "iq2_xxs", {{"F32", 49}, {"IQ2_XXS", 141}, {"Q2_K", 27}, {"Q5_K", 1}}},
        {own_keys, "iq2_xs", {{"F32", 49}, {"IQ2_XS", 141}, {"Q2_K", 27}, {"Q5_K", 1}}},
        {own_keys, "q2_k_s", {{"F32", 49}, {"Q2_K", 165}, {"Q4_K", 3}, {"Q6_K", 1}}},
        {own_keys, "iq3_xs", {{"F32", 49}, {"IQ3_S", 84}, {"IQ3_XXS", 84}, {"Q6_K", 1}}},
        {own_keys, "iq3_xxs", {{"F32", 49}, {"IQ2_S", 48}, {"IQ3_S", 48}, {"IQ3_XXS", 48}, {"Q3_K", 21}, {"Q4_K", 3}, {"Q5_K", 1}}},
        {own_keys, "iq1_s", {{"F32", 49}, {"IQ1_S", 117}, {"IQ2_XXS", 24}, {"Q2_K", 27}, {"Q5_K", 1}}},
        {own_keys, "iq4_nl", {{"F32", 49}, {"IQ4_NL", 165}, {"Q5_K", 3}, {"Q6_K", 1}}},
        {own_keys, "iq3_s", {{"F32", 49}, {"IQ3_S", 168}, {"Q6_K", 1}}},
        {own_keys, "iq3_m", {{"F32", 49}, {"IQ3_S", 117}, {"Q4_K", 51}, {"Q6_K", 1}}},
        {own_keys, "iq2_s", {{"F32", 49}, {"IQ2_XS", 117}, {"IQ3_S", 51}, {"Q5_K", 1}}},
        {own_keys, "iq2_m", {{"F32", 49}, {"IQ2_S", 117}, {"IQ3_S", 51}, {"Q5_K", 1}}},
        {own_keys, "iq4_xs", {{"F32", 49}, {"IQ4_XS", 165}, {"Q5_K", 3}, {"Q6_K", 1}}},
        {own_keys, "iq1_m", {{"F32", 49}, {"IQ1_M", 117}, {"IQ2_XXS", 24}, {"Q2_K", 27}, {"Q5_K", 1}}},
        {own_keys, "tq1_0", {{"F32", 49}, {"Q6_K", 1}, {"TQ1_0", 168}}},
        {own_keys, "tq2_0", {{"F32", 49}, {"Q6_K", 1}, {"TQ2_0", 168}}},
        {own_keys, "mxfp4_moe", {{"F32", 49}, {"Q8_0", 169}}},
        {eight_experts, "q4_0", {{"F32", 97}, {"Q4_0", 161}, {"Q6_K", 1}, {"Q8_0", 64}}},
        {eight_experts, "q4_1", {{"F32", 97}, {"Q4_1", 161}, {"Q6_K", 1}, {"Q8_0", 64}}},
        {eight_experts, "q8_0", {{"F32", 97}, {"Q8_0", 226}}},
        {eight_experts, "q5_0", {{"F32", 97}, {"Q5_0", 161}, {"Q6_K", 1}, {"Q8_0", 64}}},
        {eight_experts, "q5_1", {{"F32", 97}, {"Q5_1", 161}, {"Q6_K", 1}, {"Q8_0", 64}}},
        {eight_experts, "q2_k", {{"F32", 97}, {"Q2_K", 97}, {"Q3_K", 32}, {"Q5_K", 32}, {"Q6_K", 1}, {"Q8_0", 64}}},
        {eight_experts, "q3_k_s", {{"F32", 97}, {"Q3_K", 129}, {"Q5_K", 32}, {"Q6_K", 1}, {"Q8_0", 64}}},
        {eight_experts, "q3_k_m", {{"F32", 97}, {"Q3_K", 97}, {"Q4_K", 30}, {"Q5_K", 34}, {"Q6_K", 1}, {"Q8_0", 64}}},
        {eight_experts, "q3_k_l", {{"F32", 97}, {"Q3_K", 129}, {"Q5_K", 32}, {"Q6_K", 1}, {"Q8_0", 64}}},
        {eight_experts, "q4_k_s", {{"F32", 97}, {"Q4_K", 125}, {"Q5_K", 36}, {"Q6_K", 1}, {"Q8_0", 64}}},
        {eight_experts, "q4_k_m", {{"F32", 97}, {"Q4_K", 113}, {"Q5_K", 32}, {"Q6_K", 17}, {"Q8_0", 64}}},
        {eight_experts, "q5_k_s", {{"F32", 97}, {"Q5_K", 161}, {"Q6_K", 1}, {"Q8_0", 64}}},
        {eight_experts, "q5_k_m", {{"F32", 97}, {"Q5_K", 145}, {"Q6_K", 17}, {"Q8_0", 64}}},
        {eight_experts, "q6_k", {{"F32", 97}, {"Q6_K", 162}, {"Q8_0", 64}}},
        {eight_experts, "iq2_xxs", {{"F32", 97}, {"IQ2_XXS", 124}, {"Q2_K", 5}, {"Q4_K", 64}, {"Q5_K", 33}}},
        {eight_experts, "iq2_xs", {{"F32", 97}, {"IQ2_XS", 124}, {"Q2_K", 5}, {"Q4_K", 64}, {"Q5_K", 33}}},
        {eight_experts, "q2_k_s", {{"F32", 97}, {"Q2_K", 157}, {"Q4_K", 4}, {"Q6_K", 1}, {"Q8_0", 64}}},
        {eight_experts, "iq3_xs", {{"F32", 97}, {"IQ3_S", 49}, {"IQ3_XXS", 80}, {"Q5_K", 32}, {"Q6_K", 1}, {"Q8_0", 64}}},
        {eight_experts, "iq3_xxs", {{"F32", 97}, {"IQ2_S", 32}, {"IQ3_S", 1}, {"IQ3_XXS", 64}, {"Q3_K", 28}, {"Q4_K", 4}, {"Q5_K", 33}, {"Q8_0", 64}}},
        {eight_experts, "iq1_s", {{"F32", 97}, {"IQ1_S", 124}, {"Q2_K", 5}, {"Q4_K", 64}, {"Q5_K", 33}}},
        {eight_experts, "iq4_nl", {{"F32", 97}, {"IQ4_NL", 125}, {"Q5_K", 36}, {"Q6_K", 1}, {"Q8_0", 64}}},
        {eight_experts, "iq3_s", {{"F32", 97}, {"IQ3_S", 129}, {"Q5_K", 32}, {"Q6_K", 1}, {"Q8_0", 64}}},
        {eight_experts, "iq3_m", {{"F32", 97}, {"IQ3_S", 113}, {"Q4_K", 16}, {"Q5_K", 32}, {"Q6_K", 1}, {"Q8_0", 64}}},
        {eight_experts, "iq2_s", {{"F32", 97}, {"IQ2_XS", 124}, {"IQ3_S", 5}, {"Q4_K", 64}, {"Q5_K", 33}}},
        {eight_experts, "iq2_m", {{"F32", 97}, {"IQ2_S", 124}, {"IQ3_S", 5}, {"Q4_K", 64}, {"Q5_K", 33}}},
        {eight_experts, "iq4_xs", {{"F32", 97}, {"IQ4_XS", 125}, {"Q5_K", 36}, {"Q6_K", 1}, {"Q8_0", 64}}},
        {eight_experts, "iq1_m", {{"F32", 97}, {"IQ1_M", 124}, {"Q2_K", 5}, {"Q4_K", 64}, {"Q5_K", 33}}},
        {eight_experts, "tq1_0", {{"F32", 97}, {"Q4_K", 1}, {"Q6_K", 1}, {"Q8_0", 64}, {"TQ1_0", 160}}},
        {eight_experts, "tq2_0", {{"F32", 97}, {"Q4_K", 1}, {"Q6_K", 1}, {"Q8_0", 64}, {"TQ2_0", 160}}},
        {eight_experts, "mxfp4_moe", {{"F32", 97}, {"MXFP4", 96}, {"Q8_0", 130}}},
        {many_experts, "q4_0", {{"F32", 241}, {"Q4_0", 337}, {"Q6_K", 1}}},
        {many_experts, "q4_1", {{"F32", 241}, {"Q4_1", 337}, {"Q6_K", 1}}},
        {many_experts, "q8_0", {{"F32", 241}, {"Q8_0", 338}}},
        {many_experts, "q5_0", {{"F32", 241}, {"Q5_0", 337}, {"Q6_K", 1}}},
        {many_experts, "q5_1", {{"F32", 241}, {"Q5_1", 337}, {"Q6_K", 1}}},
        {many_experts, "q2_k", {{"F32", 241}, {"Q2_K", 193}, {"Q3_K", 96}, {"Q4_K", 48}, {"Q6_K", 1}}},
        {many_experts, "q3_k_s", {{"F32", 241}, {"Q3_K", 337}, {"Q6_K", 1}}},
        {many_experts, "q3_k_m", {{"F32", 241}, {"Q3_K", 193}, {"Q4_K", 139}, {"Q5_K", 5}, {"Q6_K", 1}}},
        {many_experts, "q3_k_l", {{"F32", 241}, {"Q3_K", 193}, {"Q5_K", 144}, {"Q6_K", 1}}},
        {many_experts, "q4_k_s", {{"F32", 241}, {"Q4_K", 327}, {"Q5_K", 10}, {"Q6_K", 1}}},
        {many_experts, "q4_k_m", {{"F32", 241}, {"Q4_K", 289}, {"Q6_K", 49}}},
        {many_experts, "q5_k_s", {{"F32", 241}, {"Q5_K", 337}, {"Q6_K", 1}}},
        {many_experts, "q5_k_m", {{"F32", 241}, {"Q5_K", 289}, {"Q6_K", 49}}},
        {many_experts, "q6_k", {{"F32", 241}, {"Q6_K", 338}}},
        {many_experts, "iq2_xxs", {{"F32", 241}, {"IQ2_XXS", 282}, {"Q2_K", 7}, {"Q4_K", 48}, {"Q5_K", 1}}},
        {many_experts, "iq2_xs", {{"F32", 241}, {"IQ2_XS", 282}, {"Q2_K", 7}, {"Q4_K", 48}, {"Q5_K", 1}}},
        {many_experts, "q2_k_s", {{"F32", 241}, {"Q2_K", 283}, {"Q4_K", 54}, {"Q6_K", 1}}},
        {many_experts, "iq3_xs", {{"F32", 241}, {"IQ3_S", 121}, {"IQ3_XXS", 168}, {"Q4_K", 48}, {"Q6_K", 1}}},
        {many_experts, "iq3_xxs", {{"F32", 241}, {"IQ2_S", 96}, {"IQ3_S", 49}, {"IQ3_XXS", 96}, {"Q3_K", 42}, {"Q4_K", 54}, {"Q5_K", 1}}},
        {many_experts, "iq1_s", {{"F32", 241}, {"IQ1_S", 234}, {"IQ2_XXS", 48}, {"Q2_K", 7}, {"Q4_K", 48}, {"Q5_K", 1}}},
        {many_experts, "iq4_nl", {{"F32", 241}, {"IQ4_NL", 283}, {"Q5_K", 54}, {"Q6_K", 1}}},
        {many_experts, "iq3_s", {{"F32", 241}, {"IQ3_S", 289}, {"Q4_K", 48}, {"Q6_K", 1}}},
        {many_experts, "iq3_m", {{"F32", 241}, {"IQ3_S", 235}, {"Q4_K", 102}, {"Q6_K", 1}}},
        {many_experts, "iq2_s", {{"F32", 241}, {"IQ2_XS", 234}, {"IQ3_S", 55}, {"Q4_K", 48}, {"Q5_K", 1}}},
        {many_experts, "iq2_m", {{"F32", 241}, {"IQ2_S", 234}, {"IQ3_S", 55}, {"Q4_K", 48}, {"Q5_K", 1}}},
        {many_experts, "iq4_xs", {{"F32", 241}, {"IQ4_XS", 283}, {"Q5_K", 54}, {"Q6_K", 1}}},
        {many_experts, "iq1_m", {{"F32", 241}, {"IQ1_M", 234}, {"IQ2_XXS", 48}, {"Q2_K", 7}, {"Q4_K", 48}, {"Q5_K", 1}}},
        {many_experts, "tq1_0", {{"F32", 241}, {"Q4_K", 1}, {"Q6_K", 1}, {"TQ1_0", 336}}},
        {many_experts, "tq2_0", {{"F32", 241}, {"Q4_K", 1}, {"Q6_K", 1}, {"TQ2_0", 336}}},
        {many_experts, "mxfp4_moe", {{"F32", 241}, {"MXFP4", 144}, {"Q8_0", 194}}},
        {odd_rows, "q4_0", {{"F32", 157}, {"Q4_0", 182}, {"Q8_0", 1}}},
        {odd_rows, "q4_1", {{"F32", 157}, {"Q4_1", 182}, {"Q8_0", 1}}},
        {odd_rows, "q8_0", {{"F32", 157}, {"Q8_0", 183}}},
        {odd_rows, "q5_0", {{"F32", 157}, {"Q5_0", 182}, {"Q8_0", 1}}},
        {odd_rows, "q5_1", {{"F32", 157}, {"Q5_1", 182}, {"Q8_0", 1}}},
        {odd_rows, "q2_k", {{"F32", 157}, {"Q3_K", 52}, {"Q4_0", 104}, {"Q5_0", 26}, {"Q8_0", 1}}},
        {odd_rows, "q3_k_s", {{"F32", 157}, {"Q3_K", 52}, {"Q4_0", 130}, {"Q8_0", 1}}},
        {odd_rows, "q3_k_m", {{"F32", 157}, {"Q4_0", 104}, {"Q4_K", 51}, {"Q5_0", 24}, {"Q5_1", 2}, {"Q5_K", 1}, {"Q8_0", 1}}},
        {odd_rows, "q3_k_l", {{"F32", 157}, {"Q4_0", 104}, {"Q5_1", 26}, {"Q5_K", 52}, {"Q8_0", 1}}},
        {odd_rows, "q4_k_s", {{"F32", 157}, {"Q4_K", 49}, {"Q5_0", 126}, {"Q5_1", 4}, {"Q5_K", 3}, {"Q8_0", 1}}},
        {odd_rows, "q4_k_m", {{"F32", 157}, {"Q4_K", 39}, {"Q5_0", 117}, {"Q6_K", 13}, {"Q8_0", 14}}},
        {odd_rows, "q5_k_s", {{"F32", 157}, {"Q5_1", 130}, {"Q5_K", 52}, {"Q8_0", 1}}},
        {odd_rows, "q5_k_m", {{"F32", 157}, {"Q5_1", 117}, {"Q5_K", 39}, {"Q6_K", 13}, {"Q8_0", 14}}},
        {odd_rows, "q6_k", {{"F32", 157}, {"Q6_K", 52}, {"Q8_0", 131}}},
        {odd_rows, "iq2_xxs", {{"F32", 157}, {"IQ2_XXS", 49}, {"IQ4_NL", 104}, {"Q2_K", 3}, {"Q5_0", 26}, {"Q8_0", 1}}},
        {odd_rows, "iq2_xs", {{"F32", 157}, {"IQ2_XS", 49}, {"IQ4_NL", 104}, {"Q2_K", 3}, {"Q5_0", 26}, {"Q8_0", 1}}},
        {odd_rows, "q2_k_s", {{"F32", 157}, {"Q2_K", 49}, {"Q4_0", 104}, {"Q4_K", 3}, {"Q5_0", 26}, {"Q8_0", 1}}},
        {odd_rows, "iq3_xs", {{"F32", 157}, {"IQ3_S", 52}, {"IQ4_NL", 104}, {"Q5_0", 26}, {"Q8_0", 1}}},
        {odd_rows, "iq3_xxs", {{"F32", 157}, {"IQ3_S", 26}, {"IQ4_NL", 104}, {"Q3_K", 23}, {"Q4_K", 3}, {"Q5_0", 26}, {"Q8_0", 1}}},
        {odd_rows, "iq1_s", {{"F32", 157}, {"IQ1_S", 23}, {"IQ2_XXS", 26}, {"IQ4_NL", 104}, {"Q2_K", 3}, {"Q5_0", 26}, {"Q8_0", 1}}},
        {odd_rows, "iq4_nl", {{"F32", 157}, {"IQ4_NL", 153}, {"Q5_1", 26}, {"Q5_K", 3}, {"Q8_0", 1}}},
        {odd_rows, "iq3_s", {{"F32", 157}, {"IQ3_S", 52}, {"IQ4_NL", 104}, {"Q5_0", 26}, {"Q8_0", 1}}},
        {odd_rows, "iq3_m", {{"F32", 157}, {"IQ3_S", 23}, {"IQ4_NL", 104}, {"Q4_K", 29}, {"Q5_0", 26}, {"Q8_0", 1}}},
        {odd_rows, "iq2_s", {{"F32", 157}, {"IQ2_XS", 23}, {"IQ3_S", 29}, {"IQ4_NL", 104}, {"Q5_0", 26}, {"Q8_0", 1}}},
        {odd_rows, "iq2_m", {{"F32", 157}, {"IQ2_S", 23}, {"IQ3_S", 29}, {"IQ4_NL", 104}, {"Q5_0", 26}, {"Q8_0", 1}}},
        {odd_rows, "iq4_xs", {{"F32", 157}, {"IQ4_NL", 104}, {"IQ4_XS", 49}, {"Q5_1", 26}, {"Q5_K", 3}, {"Q8_0", 1}}},
        {odd_rows, "iq1_m", {{"F32", 157}, {"IQ1_M", 23}, {"IQ2_XXS", 26}, {"IQ4_NL", 104}, {"Q2_K", 3}, {"Q5_0", 26}, {"Q8_0", 1}}},
        {odd_rows, "tq1_0", {{"F32", 157}, {"Q4_0", 130}, {"Q8_0", 1}, {"TQ1_0", 52}}},
        {odd_rows, "tq2_0", {{"F32", 157}, {"Q4_0", 130}, {"Q8_0", 1}, {"TQ2_0", 52}}},
        {odd_rows, "mxfp4_moe", {{"F32", 157}, {"Q8_0", 183}}},
    };
    // clang-format on
    for (const quantized_file& file : files) {
        CAPTURE(file.config);
        CAPTURE(file.mix);
        CHECK(quantized_types_of(file.config, file.mix) == file.types);
    }
}

}  // namespace llmcost
