// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/files/gguf_config.hpp>
#include <llmcost/json.hpp>

#include "thrown_by.hpp"
#include "weight_files.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "registry.hpp"

using llmcost::errc;
using llmcost::testing::gguf_bytes;
using llmcost::testing::little;
using llmcost::testing::scratch_folder;
using llmcost::testing::thrown_by;

namespace {

gguf_bytes decoder_file(const std::string& a) {
    gguf_bytes f;
    f.string("general.architecture", a).integer(a + ".block_count", 3).integer(a + ".embedding_length", 64);
    f.integer(a + ".context_length", 128)
        .integer(a + ".attention.head_count", 4)
        .integer(a + ".feed_forward_length", 96);
    f.real(a + ".attention.layer_norm_rms_epsilon", 1e-5F).tensor("token_embd.weight", {64, 320}, 1, 64 * 320 * 2);
    return f;
}
llmcost::gguf_file as_file(const gguf_bytes& f) {
    const scratch_folder folder;
    llmcost::gguf_file file = llmcost::read_gguf(folder.write("x.gguf", f.file()));
    file.name = "FILE";
    return file;
}
llmcost::model as_model(const gguf_bytes& f) {
    const std::string text = llmcost::make_config(as_file(f));
    CAPTURE(text);
    // strings of sizes are literals: a model outlives its configuration
    return llmcost::parse_config(text, "from GGUF").read_with([](llmcost::config_view v) {
        return parts::registry.read(v);
    });
}
std::string refused_config(const gguf_bytes& f, errc code) {
    return thrown_by([&] { (void)llmcost::make_config(as_file(f)); }, code);
}

}  // namespace

TEST_CASE("metadata of llama is a configuration of Llama, or of Mixtral where it has experts") {
    gguf_bytes f = decoder_file("llama");
    f.integer("llama.attention.head_count_kv", 2).integer("llama.rope.dimension_count", 16);
    const llmcost::model m = as_model(f);
    CHECK(std::string(m.spec->model_type) == "llama");
    CHECK(m.config.num_hidden_layers == 3);
    CHECK(m.config.hidden_size == 64);
    CHECK(m.config.num_key_value_heads == 2);
    CHECK(m.config.head_dim == 16);
    CHECK(m.config.vocab_size == 320);
    CHECK(m.config.max_position_embeddings == 128);
    CHECK(m.config.tie_word_embeddings);
    CHECK_FALSE(m.config.attention_bias);
    CHECK(m.config.dtype_of_weights == llmcost::dtype::float16);
    gguf_bytes head = f;
    CHECK_FALSE(as_model(head.tensor("output.weight", {64, 320}, 8, 320 * 68)).config.tie_word_embeddings);
    f.integer("llama.expert_count", 8).integer("llama.expert_used_count", 2);
    CHECK(std::string(as_model(f).spec->model_type) == "mixtral");
    CHECK(as_model(f).config.moe.num_experts == 8);
}

TEST_CASE("metadata of other architectures is theirs in Transformers") {
    CHECK(std::string(as_model(decoder_file("qwen2")).spec->model_type) == "qwen2");
    CHECK(as_model(decoder_file("qwen3").integer("qwen3.attention.key_length", 32)).config.head_dim == 32);
    gguf_bytes f = decoder_file("qwen3moe");
    f.integer("qwen3moe.expert_count", 8).integer("qwen3moe.expert_used_count", 2);
    const llmcost::model moe = as_model(f.integer("qwen3moe.expert_feed_forward_length", 32));
    CHECK(moe.config.moe.intermediate_size == 32);
    CHECK(moe.config.moe.norm_topk_prob);
    const llmcost::model gemma = as_model(decoder_file("gemma2").integer("gemma2.attention.sliding_window", 16));
    CHECK(gemma.config.sliding_window == 16);
    CHECK(
        std::string(as_model(decoder_file("gemma3").integer("gemma3.attention.sliding_window", 8)).spec->model_type) ==
        "gemma3_text");
    gguf_bytes phi = decoder_file("phi3");
    phi.integer("phi3.rope.dimension_count", 12).integer("phi3.attention.sliding_window", 0);
    CHECK(as_model(phi).config.rotary_dim == 12);
    CHECK(as_model(phi).config.sliding_window == 0);
    phi.tensor("rope_factors_long.weight", {6}, 0, 24).tensor("rope_factors_short.weight", {6}, 0, 24);
    CHECK(as_model(phi).config.rope_scaling == llmcost::rope_scaling_kind::longrope);
    gguf_bytes oss = decoder_file("gpt-oss");
    oss.integer("gpt-oss.expert_count", 4).integer("gpt-oss.expert_used_count", 2);
    oss.integer("gpt-oss.expert_feed_forward_length", 48).integer("gpt-oss.attention.sliding_window", 8);
    CHECK(as_model(oss).config.moe.num_experts == 4);
}

TEST_CASE("metadata of deepseek2 is DeepSeek-V2 or V3 by what its router does") {
    gguf_bytes f = decoder_file("deepseek2");
    const std::string a = "deepseek2.";
    f.integer(a + "attention.head_count_kv", 1).integer(a + "attention.kv_lora_rank", 32);
    f.integer(a + "attention.key_length", 40).integer(a + "attention.value_length", 32);
    f.integer(a + "attention.key_length_mla", 24).integer(a + "attention.value_length_mla", 16);
    f.integer(a + "rope.dimension_count", 8).integer(a + "expert_count", 8).integer(a + "expert_used_count", 2);
    f.integer(a + "expert_shared_count", 1).integer(a + "expert_feed_forward_length", 32);
    f.integer(a + "leading_dense_block_count", 1);
    CHECK(refused_config(f, errc::missing_key)
              .starts_with("FILE: deepseek2.expert_group_count: missing, as in older files"));
    f.integer(a + "expert_group_count", 2).integer(a + "expert_group_used_count", 1);
    const llmcost::model second = as_model(f);
    CHECK(std::string(second.spec->model_type) == "deepseek_v2");
    CHECK(second.config.mla.qk_nope_head_dim == 16);
    CHECK(second.config.mla.qk_rope_head_dim == 8);
    CHECK(second.config.mla.v_head_dim == 16);
    CHECK(second.config.mla.q_lora_rank == 0);
    CHECK(second.config.num_key_value_heads == 4);
    CHECK(second.config.moe.has_group_limit);
    CHECK(std::string(as_model(f.integer(a + "expert_gating_func", 2)).spec->model_type) == "deepseek_v3");
}

TEST_CASE("metadata of bert is BERT, and not a relative that is written as BERT") {
    gguf_bytes f = decoder_file("bert");
    f.tensor("token_types.weight", {64, 2}, 0, 512).tensor("position_embd.weight", {64, 100}, 0, 25600);
    CHECK(refused_config(f, errc::unsupported).find("a relative of BERT") != std::string::npos);
    const llmcost::model m = as_model(f.string("tokenizer.ggml.model", "bert"));
    CHECK(std::string(m.spec->model_type) == "bert");
    CHECK(m.config.max_position_embeddings == 100);
    CHECK(m.config.type_vocab_size == 2);
}

TEST_CASE("metadata that no configuration is made of is refused by key") {
    CHECK(refused_config(gguf_bytes{}, errc::missing_key) ==
          "FILE: general.architecture: missing; expected an architecture of llama.cpp");
    CHECK(refused_config(decoder_file("mamba"), errc::unsupported) ==
          "FILE: general.architecture: 'mamba' is written in a way that is not read; read are llama, qwen2, qwen3, "
          "qwen3moe, "
          "gemma2, gemma3, phi3, gpt-oss, deepseek2, bert: give the model's config.json");
    gguf_bytes f;
    CHECK(refused_config(f.string("general.architecture", "llama"), errc::missing_key) ==
          "FILE: llama.attention.head_count: missing; expected a non-negative integer");
    CHECK(refused_config(f.string("llama.attention.head_count", "4"), errc::bad_value) ==
          "FILE: llama.attention.head_count: expected a non-negative integer, found another value");
    gguf_bytes layers = decoder_file("llama");
    layers.raw("llama.attention.head_count_kv", 9,
               little(4, 4) + little(3, 8) + little(2, 4) + little(2, 4) + little(4, 4));
    CHECK(refused_config(layers, errc::unsupported).find("differs from layer to layer") != std::string::npos);
    CHECK(refused_config(decoder_file("llama").integer("llama.rope.dimension_count", 8), errc::unsupported)
              .find("a part of each head") != std::string::npos);
    CHECK(refused_config(decoder_file("llama").integer("llama.attention.value_length", 8), errc::unsupported)
              .find("differs from attention.key_length") != std::string::npos);
}
