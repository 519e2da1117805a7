// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/files/gguf_sizes.hpp>
#include <llmcost/json.hpp>

#include "thrown_by.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "registry.hpp"

using llmcost::count;
using llmcost::errc;
using llmcost::testing::thrown_by;

namespace {

struct sized_model {
    explicit sized_model(const std::string& config) {
        const llmcost::config_document document = llmcost::parse_config(config, "test");
        m = document.read_with([](llmcost::config_view v) { return parts::registry.read(v); });
        source = document.read_with([](llmcost::config_view v) { return llmcost::gguf_source_of(v); });
        listing = llmcost::list_model(m, {.sequence = 3});
    }
    [[nodiscard]] llmcost::predicted_gguf sizes(const std::string& file_type) const {
        return llmcost::gguf_sizes(m, listing, file_type, source);
    }
    [[nodiscard]] count data(const std::string& file_type) const { return sizes(file_type).data_bytes; }
    [[nodiscard]] std::map<std::string, count> types(const std::string& file_type) const {
        std::map<std::string, count> out;
        for (const llmcost::bytes_by_type& t : sizes(file_type).weights.totals) out[t.type] = t.tensors;
        return out;
    }
    llmcost::model m{};
    llmcost::gguf_source source{};
    llmcost::model_listing listing{};
};

const std::string llama_3_2_1b =
    R"({"model_type":"llama","architectures":["LlamaForCausalLM"],"hidden_size":2048,"intermediate_size":8192,)"
    R"("num_hidden_layers":16,"num_attention_heads":32,"num_key_value_heads":8,"head_dim":64,"vocab_size":128256,)"
    R"("tie_word_embeddings":true,"rope_scaling":{"rope_type":"llama3","factor":32.0}})";
const std::string gemma_2_2b =
    R"({"model_type":"gemma2","architectures":["Gemma2ForCausalLM"],"hidden_size":2304,"intermediate_size":9216,)"
    R"("num_hidden_layers":26,"num_attention_heads":8,"num_key_value_heads":4,"head_dim":256,"vocab_size":256000})";
const std::string gemma_3_1b =
    R"({"model_type":"gemma3_text","architectures":["Gemma3ForCausalLM"],"hidden_size":1152,"intermediate_size":6912,)"
    R"("num_hidden_layers":26,"num_attention_heads":4,"num_key_value_heads":1,"head_dim":256,"vocab_size":262144,)"
    R"("sliding_window":512})";

using type_counts = std::map<std::string, count>;

}  // namespace

// What published files have behind metadata and table, which is as long in all files of one repository; with an
// importance matrix its facts are 256 or 288 bytes of metadata more.
TEST_CASE("sizes are those of published files") {
    struct file {
        const char* file_type;
        std::int64_t bytes;
        bool importance_matrix = false;
    };
    struct repository {
        std::string config;
        std::int64_t header;
        std::vector<file> files;
    };
    const std::string qwen3_1_7b =
        R"({"model_type":"qwen3","architectures":["Qwen3ForCausalLM"],"hidden_size":2048,"intermediate_size":6144,)"
        R"("num_hidden_layers":28,"num_attention_heads":16,"num_key_value_heads":8,"head_dim":128,"vocab_size":151936,)"
        R"("tie_word_embeddings":true})";
    const repository all[]{
        {llama_3_2_1b, 7831264, {{"f16", 2479595360}}},
        {llama_3_2_1b,
         7831552,
         {{"q8_0", 1321083008},
          {"q6_k", 1021800576},
          {"q5_k_m", 911503488},
          {"q4_k_m", 807694464},
          {"q4_k_s", 775647360},
          {"iq4_xs", 743141504, true},
          {"q4_0", 773025920, true}}},
        {gemma_2_2b,
         6046560,
         {{"q8_0", 2784495456},
          {"q6_k", 2151393120},
          {"q5_k_m", 1923278688},
          {"q4_k_m", 1708582752},
          {"q4_k_s", 1638651744},
          {"iq4_xs", 1566250848, true}}},
        {qwen3_1_7b, 5951808, {{"bf16", 3447349568}}},
        {qwen3_1_7b, 5952064, {{"q2_k", 777796160}, {"q4_k_m", 1107409472}, {"iq4_xs", 1010383424, true}}},
        // rows that are no multiple of a block take other types
        {gemma_3_1b, 6533120, {{"f16", 2006573568}, {"q8_0", 1069306368}, {"q4_k_m", 806058240}}},
    };
    for (const repository& repo : all) {
        sized_model m(repo.config);
        for (const file& f : repo.files) {
            CAPTURE(repo.config);
            CAPTURE(f.file_type);
            m.source.importance_matrix = f.importance_matrix;
            CHECK(m.data(f.file_type) == count(f.bytes - repo.header));
        }
    }
    CHECK(sized_model(llama_3_2_1b).sizes("f16").weights.find("rope_freqs.weight")->bytes == 128);
    sized_model cut(gemma_3_1b);
    cut.source.tokens = 262000;
    CHECK(cut.data("f16") == count(2006573568 - 6533120 - 144 * 1152 * 2));
}

// What llama.cpp prints of published files: how many tensors have each type.
TEST_CASE("types are those that llama.cpp prints") {
    const sized_model qwen(
        R"({"model_type":"qwen2","architectures":["Qwen2ForCausalLM"],"hidden_size":3584,"intermediate_size":18944,)"
        R"("num_hidden_layers":28,"num_attention_heads":28,"num_key_value_heads":4,"vocab_size":152064})");
    CHECK(qwen.types("q3_k_m") == type_counts{{"F32", 141}, {"Q3_K", 113}, {"Q4_K", 81}, {"Q5_K", 3}, {"Q6_K", 1}});
    const sized_model qwen_moe(
        R"({"model_type":"qwen3_moe","architectures":["Qwen3MoeForCausalLM"],"hidden_size":2048,"intermediate_size":6144,)"
        R"("num_hidden_layers":48,"num_attention_heads":32,"num_key_value_heads":4,"head_dim":128,"vocab_size":151936,)"
        R"("num_experts":128,"num_experts_per_tok":8,"moe_intermediate_size":768,"tie_word_embeddings":false})");
    CHECK(qwen_moe.types("q4_k_m") == type_counts{{"F32", 241}, {"Q4_K", 289}, {"Q6_K", 49}});
    CHECK(qwen_moe.types("q8_0") == type_counts{{"F32", 241}, {"Q8_0", 338}});
    const sized_model llama_2(
        R"({"model_type":"llama","architectures":["LlamaForCausalLM"],"hidden_size":4096,"intermediate_size":11008,)"
        R"("num_hidden_layers":32,"num_attention_heads":32,"vocab_size":32000,"tie_word_embeddings":false})");
    CHECK(llama_2.types("q4_k_m") == type_counts{{"F32", 65}, {"Q4_K", 193}, {"Q6_K", 33}});
    // experts of MXFP4 are copied from the checkpoint
    const sized_model gpt_oss(
        R"({"model_type":"gpt_oss","architectures":["GptOssForCausalLM"],"hidden_size":2880,"intermediate_size":2880,)"
        R"("num_hidden_layers":24,"num_attention_heads":64,"num_key_value_heads":8,"head_dim":64,"vocab_size":201088,)"
        R"("num_local_experts":32,"num_experts_per_tok":4,"sliding_window":128,"tie_word_embeddings":false,)"
        R"("quantization_config":{"quant_method":"mxfp4"}})");
    CHECK(gpt_oss.types("q8_0") == type_counts{{"F32", 289}, {"Q8_0", 98}, {"MXFP4", 72}});
    CHECK(thrown_by([&] { (void)gpt_oss.sizes("q4_k_m"); }, errc::unsupported).find("MXFP4 in the checkpoint") !=
          std::string::npos);
    sized_model moonlight(
        R"({"model_type":"deepseek_v3","architectures":["DeepseekV3ForCausalLM"],"hidden_size":2048,)"
        R"("intermediate_size":11264,"num_hidden_layers":27,"num_attention_heads":16,"num_key_value_heads":16,)"
        R"("q_lora_rank":null,"kv_lora_rank":512,"qk_nope_head_dim":128,"qk_rope_head_dim":64,"v_head_dim":128,)"
        R"("moe_intermediate_size":1408,"n_routed_experts":64,"num_experts_per_tok":6,"n_shared_experts":2,)"
        R"("first_k_dense_replace":1,"n_group":1,"topk_group":1,"vocab_size":163840,"tie_word_embeddings":false})");
    moonlight.source.importance_matrix = true;
    CHECK(moonlight.types("iq4_xs") == type_counts{{"F32", 134}, {"Q6_K", 1}, {"IQ4_NL", 53}, {"IQ4_XS", 242}});
    const sized_model bge(
        R"({"model_type":"bert","architectures":["BertModel"],"hidden_size":384,"intermediate_size":1536,)"
        R"("num_hidden_layers":12,"num_attention_heads":12,"vocab_size":30522,"max_position_embeddings":512,)"
        R"("type_vocab_size":2})");
    CHECK(bge.types("f16") == type_counts{{"F32", 124}, {"F16", 73}});
}

TEST_CASE("mixtures of eight experts and models of 80 layers have rules of their own") {
    const sized_model mixtral(
        R"({"model_type":"mixtral","architectures":["MixtralForCausalLM"],"hidden_size":1024,"intermediate_size":2048,)"
        R"("num_hidden_layers":8,"num_attention_heads":16,"num_key_value_heads":4,"vocab_size":512,)"
        R"("num_local_experts":8,"num_experts_per_tok":2})");
    const llmcost::stored_tensors q2 = mixtral.sizes("q2_k").weights;
    CHECK(q2.find("blk.0.attn_k.weight")->type == "Q8_0");
    CHECK(q2.find("blk.0.attn_v.weight")->type == "Q8_0");
    CHECK(q2.find("blk.0.attn_output.weight")->type == "Q5_K");
    CHECK(q2.find("blk.0.ffn_down_exps.weight")->type == "Q3_K");
    CHECK(q2.find("blk.0.ffn_gate_exps.weight")->sizes == std::vector<std::uint64_t>{8, 2048, 1024});
    const sized_model llama_70b(
        R"({"model_type":"llama","architectures":["LlamaForCausalLM"],"hidden_size":1024,"intermediate_size":2048,)"
        R"("num_hidden_layers":80,"num_attention_heads":16,"num_key_value_heads":4,"vocab_size":512})");
    CHECK(llama_70b.types("q4_k_m") == type_counts{{"F32", 161}, {"Q4_K", 441}, {"Q5_K", 40}, {"Q6_K", 81}});
}

TEST_CASE("what is not converted or quantized is refused") {
    const sized_model m(llama_3_2_1b);
    CHECK(thrown_by([&] { (void)m.sizes("q9_x"); }, errc::usage) ==
          "'q9_x' is no quantization that is known; known are f16, bf16, q8_0, q4_0, q4_1, q5_0, q5_1, q4_k_s, q4_k_m, "
          "q5_k_s, q5_k_m, q6_k, q2_k, q2_k_s, q3_k_s, q3_k_m, q3_k_l, iq1_s, iq1_m, iq2_xxs, iq2_xs, iq2_s, iq2_m, "
          "iq3_xxs, iq3_xs, iq3_s, iq3_m, iq4_nl, iq4_xs, tq1_0, tq2_0, mxfp4_moe");
    const sized_model gpt2(R"({"model_type":"gpt2","architectures":["GPT2LMHeadModel"]})");
    CHECK(thrown_by([&] { (void)gpt2.sizes("f16"); }, errc::unsupported).find("'gpt2' is converted in a way") == 0);
    const sized_model odd(
        R"({"model_type":"llama","architectures":["LlamaForCausalLM"],"hidden_size":64,"intermediate_size":80,)"
        R"("num_hidden_layers":1,"num_attention_heads":2,"vocab_size":50})");
    CHECK(thrown_by([&] { (void)odd.sizes("q8_0"); }, errc::unsupported).find("no multiple of 32") !=
          std::string::npos);
    CHECK(odd.sizes("q4_k_m").weights.find("blk.0.attn_q.weight")->type == "Q5_0");
    CHECK(odd.sizes("q4_k_m").weights.find("blk.0.ffn_down.weight")->type == "F16");
}
