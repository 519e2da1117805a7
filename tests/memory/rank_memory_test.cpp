// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/analysis/counts.hpp>
#include <llmcost/json.hpp>
#include <llmcost/memory/rank_memory.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include "registry.hpp"

using namespace llmcost;

namespace {

constexpr double bytes_per_gibibyte = 1024.0 * 1024 * 1024;

model golden_model(const std::string& golden) {
    return read_config_file(LLMCOST_TEST_DIR "/golden/" + golden + ".json").read_with([](config_view root) {
        return parts::registry.read(root);
    });
}

model model_from_json(const std::string& text) {
    return parse_config(text, "config.json").read_with([](config_view root) { return parts::registry.read(root); });
}

model llama_8b() {
    return model_from_json(
        R"({"model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
        "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256, "max_position_embeddings": 131072,
        "tie_word_embeddings": false, "torch_dtype": "bfloat16"})");
}

model qwen3_32b() {
    return model_from_json(
        R"({"model_type": "qwen3", "hidden_size": 5120, "intermediate_size": 25600, "num_hidden_layers": 64,
        "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 151936,
        "max_position_embeddings": 40960, "tie_word_embeddings": false, "torch_dtype": "bfloat16"})");
}

constexpr workload long_prompt{.sequence = 8192,
                               .past = 0,
                               .head = logits::last,
                               .weights = dtype::bfloat16,
                               .activations = dtype::bfloat16,
                               .cache = dtype::bfloat16};

engine_memory_profile vllm_of_version(const char* version) {
    return profile_with_defaults(*find_engine_memory_profile("vllm"), version, 0, "");
}

inference_sharding tensor_parallel(const model& m, std::int64_t n) { return {.parallel = make_parallel_config(m, n)}; }

/// The memory of vLLM's log line "Model loading took".
count loaded_bytes(const inference_memory& memory) { return memory.weight_bytes + memory.table_bytes; }

double gibibytes(count bytes) { return static_cast<double>(bytes.to_64()) / bytes_per_gibibyte; }

}  // namespace

// vLLM's log, "Model loading took": 14.9888 GiB of Llama-3.1-8B, 30.59 GiB of Qwen3-32B with 2 devices, 1.12 GiB of
// Qwen3-0.6B (vllm-memory-estimator@8b0e21d, validation_db.json; vllm-project/vllm issues)
TEST_CASE("loaded weights have rotary tables of all positions") {
    CHECK(gibibytes(loaded_bytes(rank_memory(llama_8b(), long_prompt, vllm_of_version("")).largest(long_prompt))) ==
          doctest::Approx(14.9888).epsilon(1e-5));
    const model m = qwen3_32b();
    CHECK(gibibytes(rank_memory(m, long_prompt, vllm_of_version(""), tensor_parallel(m, 2))
                        .largest(long_prompt)
                        .weight_bytes) == doctest::Approx(30.59).epsilon(3e-3));
    CHECK(gibibytes(rank_memory(golden_model("Qwen__Qwen3-0.6B"), long_prompt, vllm_of_version(""))
                        .largest(long_prompt)
                        .weight_bytes) == doctest::Approx(1.12).epsilon(5e-3));
}

// peak_activation_gib of the profile run on an H100: 4.76, 5.56, 5.64, 7.38
TEST_CASE("the sampler of the profile run determines the activation peak before vLLM 0.17") {
    const auto check_peak = [](const model& m, double gib) {
        const rank_memory ranks(m, long_prompt, vllm_of_version("0.13.0"));
        CHECK(gibibytes(ranks.largest(long_prompt).peak_activation_bytes) == doctest::Approx(gib).epsilon(4e-3));
    };
    check_peak(llama_8b(), 4.76);
    check_peak(golden_model("Qwen__Qwen3-0.6B"), 5.56);
    check_peak(qwen3_32b(), 5.64);
    check_peak(golden_model("openai__gpt-oss-20b"), 7.38);
    const model m = llama_8b();
    CHECK(rank_memory(m, long_prompt, vllm_of_version("0.20.0")).largest(long_prompt).peak_activation_bytes <
          rank_memory(m, long_prompt, vllm_of_version("v0.16.0+cu130")).largest(long_prompt).peak_activation_bytes);
}

TEST_CASE("versions are compared by their numbers") {
    CHECK(detail::is_earlier_version("0.9.1", {0, 17}));
    CHECK(detail::is_earlier_version("v0.16.0rc1.dev3+g12", {0, 17}));
    CHECK_FALSE(detail::is_earlier_version("0.17", {0, 17}));
    CHECK_FALSE(detail::is_earlier_version("1.0.0", {0, 17}));
}

TEST_CASE("devices below 70 GiB and the A100 have smaller steps") {
    const engine_memory_profile& profile = *find_engine_memory_profile("vllm");
    CHECK(profile_with_defaults(profile, "", std::uint64_t{80} << 30, "h100_sxm").max_num_seqs == 1024);
    CHECK(profile_with_defaults(profile, "", std::uint64_t{80} << 30, "a100_80gb").max_num_seqs == 256);
    CHECK(profile_with_defaults(profile, "", std::uint64_t{24} << 30, "rtx_4090").max_num_batched_tokens == 2048);
}

// vllm/distributed/utils.py, `get_pp_indices`: 61 layers over 4 stages are 15, 15, 16 and 15
TEST_CASE("stages before the last have the remaining layers") {
    constexpr layer_range expected[]{{0, 15}, {15, 15}, {30, 16}, {46, 15}};
    for (std::int64_t stage = 0; stage < 4; ++stage) {
        const layer_range range = layers_of_stage(61, 4, stage);
        CHECK(range.first == expected[stage].first);
        CHECK(range.size == expected[stage].size);
    }
}

TEST_CASE("the weights of all stages are those of the model") {
    for (const model& m : {llama_8b(), qwen3_32b()}) {
        engine_memory_profile engine = *find_engine_memory_profile("none");
        const rank_memory undivided(m, long_prompt, engine),
            stages(m, long_prompt, engine, {.parallel = {}, .pipeline_parallel_size = 4});
        count sum, cache;
        for (std::int64_t s = 0; s < stages.num_stages(); ++s) {
            sum += stages.of_stage(long_prompt, s).weight_bytes;
            cache += stages.of_stage(long_prompt, s).kv_cache_bytes;
        }
        CHECK(sum == count_model(m, long_prompt).weight_bytes);
        CHECK(sum == undivided.largest(long_prompt).weight_bytes);
        CHECK(cache == undivided.largest(long_prompt).kv_cache_bytes);
    }
}

TEST_CASE("tensor parallelism divides matrices and replicates norms") {
    const model m = llama_8b();
    const engine_memory_profile engine = *find_engine_memory_profile("none");
    const count norms = count(std::uint64_t{65} * 4096 * 2), all = count_model(m, long_prompt).weight_bytes;
    for (const std::int64_t n : {2, 4, 8}) {
        CAPTURE(n);
        const inference_memory rank = rank_memory(m, long_prompt, engine, tensor_parallel(m, n)).largest(long_prompt);
        CHECK(rank.weight_bytes == (all - norms) / count(n) + norms);
        CHECK(rank.kv_cache_bytes == count_model(m, long_prompt).cache_bytes / count(n));
    }
    // 8 key/value heads: each of 16 ranks has one
    const inference_memory rank = rank_memory(m, long_prompt, engine, tensor_parallel(m, 16)).largest(long_prompt);
    CHECK(rank.kv_cache_bytes == count_model(m, long_prompt).cache_bytes / count(8));
}

TEST_CASE("less memory never holds more of the KV cache") {
    const model m = golden_model("Qwen__Qwen3-0.6B");
    const rank_memory ranks(m, long_prompt, vllm_of_version(""));
    std::int64_t previous = 0;
    for (std::uint64_t gib = 4; gib <= 96; gib *= 2) {
        const maybe<kv_cache_capacity> capacity = ranks.capacity(long_prompt, 0, gib << 30);
        REQUIRE(capacity);
        CHECK(capacity->num_tokens >= previous);
        previous = capacity->num_tokens;
    }
    CHECK(previous > 0);
}
