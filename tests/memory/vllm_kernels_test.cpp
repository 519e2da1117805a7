// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/json.hpp>
#include <llmcost/memory/rank_memory.hpp>
#include <llmcost/memory/vllm_kernels.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "registry.hpp"

using namespace llmcost;

namespace {

constexpr double gibibyte = 1024.0 * 1024 * 1024;
constexpr std::uint64_t h200_bytes = 150109106995;  // 139.8 GiB

double gib_of(count bytes) { return static_cast<double>(bytes.to_64()) / gibibyte; }

model model_of_text(const std::string& text) {
    return parse_config(text, "config.json").read_with([](config_view root) { return parts::registry.read(root); });
}

model llama_70b() {
    return model_of_text(
        R"({"model_type": "llama", "hidden_size": 8192, "intermediate_size": 28672, "num_hidden_layers": 80,
        "num_attention_heads": 64, "num_key_value_heads": 8, "vocab_size": 128256, "max_position_embeddings": 131072,
        "tie_word_embeddings": false, "torch_dtype": "bfloat16"})");
}

model deepseek_v3_golden() {
    return read_config_file(LLMCOST_TEST_DIR "/golden/deepseek-ai__DeepSeek-V3.json").read_with([](config_view root) {
        return parts::registry.read(root);
    });
}

constexpr workload one_token{.sequence = 1,
                             .past = 8191,
                             .head = logits::last,
                             .weights = dtype::bfloat16,
                             .activations = dtype::bfloat16,
                             .cache = dtype::bfloat16};

/// The memory of vLLM next to weights and KV cache: activations, buffers of collectives and of the device.
double other_gibibytes(const model& m, const char* version, const char* device, std::int64_t tensor_parallel_size,
                       expert_weight_format format) {
    engine_memory_profile engine =
        profile_with_defaults(*find_engine_memory_profile("vllm"), version, h200_bytes, device);
    engine.expert_weights = format;
    const rank_memory ranks(m, one_token, engine, {.parallel = make_parallel_config(m, tensor_parallel_size)});
    const inference_memory memory = ranks.largest(one_token);
    return gib_of(memory.peak_activation_bytes + memory.runtime_bytes + memory.communication_bytes);
}

}  // namespace

TEST_CASE("engine versions are read with and without suffixes") {
    CHECK(parse_engine_version("v0.11.2rc1+cu130") == engine_version{0, 11, 2});
    CHECK(parse_engine_version("0.17") == engine_version{0, 17, 0});
    CHECK(parse_engine_version("") == latest_engine_version);
}

// 0.92 · 139.8 GiB − "Model loading took" − "Available KV cache memory" of DeepSeek-R1-0528, 8 H200
// (vllm-memory-estimator@8b0e21d, validation_db.json). The logs have 79.739 and 41.60 GiB with vLLM 0.11.2. The cache
// is 43.12 with 0.13.0, 41.45 with 0.14.1, 43.08 with 0.16.0, 42.79 with 0.18.0. With 8 B200 (178.35 GiB) and
// 0.18.0: 79.88 and 79.82.
TEST_CASE("the workspace of experts stays allocated while the sampler runs") {
    const model m = deepseek_v3_golden();
    const auto other = [&](const char* version, const char* device) {
        return other_gibibytes(m, version, device, 8, expert_weight_format::float8_blocks);
    };
    CHECK(other("0.11.2", "h200_sxm") == doctest::Approx(7.28).epsilon(0.02));   // DeepGEMM
    CHECK(other("0.13.0", "h200_sxm") == doctest::Approx(5.76).epsilon(0.02));   // a function without workspace
    CHECK(other("0.14.1", "h200_sxm") == doctest::Approx(7.43).epsilon(0.025));  // Triton as a modular kernel
    CHECK(other("0.16.0", "h200_sxm") == doctest::Approx(5.80).epsilon(0.02));   // FlashInfer
    CHECK(other("0.18.0", "h200_sxm") == doctest::Approx(6.09).epsilon(0.025));  // Triton, fused all-reduce
    CHECK(other("0.18.0", "b200_sxm") == doctest::Approx(4.38).epsilon(0.02));   // FlashInfer, fused all-reduce
}

// Llama-3.3-70B-Instruct-FP8-dynamic on 4 H200 (ibid.): 16.962 and 109.09 GiB with vLLM 0.11.0, 106.17 with 0.11.2,
// 107.52 with 0.18.0
TEST_CASE("versions of vLLM have different samplers and all-reduce buffers") {
    const model m = llama_70b();
    const auto other = [&](const char* version) {
        return other_gibibytes(m, version, "h200_sxm", 4, expert_weight_format::unquantized);
    };
    CHECK(other("0.11.0") == doctest::Approx(2.56).epsilon(0.01));  // FlashInfer
    CHECK(other("0.11.2") == doctest::Approx(5.48).epsilon(0.01));  // sort
    CHECK(other("0.18.0") == doctest::Approx(4.13).epsilon(0.01));  // Triton, fused all-reduce
}

TEST_CASE("kernels of experts depend on version, weights and device") {
    const auto kernel = [](const char* version, expert_weight_format format, const char* device,
                           std::int64_t tensor_parallel_size = 1, std::int64_t expert_parallel_size = 1) {
        return expert_kernel_of(parse_engine_version(version), format, architecture_of_device(device),
                                tensor_parallel_size, expert_parallel_size);
    };
    using format = expert_weight_format;
    CHECK(kernel("0.13.0", format::unquantized, "h200_sxm") == expert_kernel::temporary_workspace);
    CHECK(kernel("0.14.1", format::unquantized, "mi300x") == expert_kernel::persistent_workspace);
    CHECK(kernel("0.14.1", format::float8_per_tensor, "h200_sxm") == expert_kernel::persistent_workspace);
    CHECK(kernel("0.16.0", format::float8_per_tensor, "h200_sxm") == expert_kernel::flashinfer);
    CHECK(kernel("0.16.0", format::float8_per_tensor, "mi300x") == expert_kernel::persistent_workspace);
    CHECK(kernel("0.18.0", format::float8_per_channel, "h200_sxm") == expert_kernel::persistent_workspace);
    CHECK(kernel("0.14.1", format::float8_blocks, "h200_sxm", 4) == expert_kernel::deep_gemm);
    CHECK(kernel("0.18.0", format::float8_blocks, "h200_sxm", 8, 8) == expert_kernel::flashinfer);
    CHECK(kernel("0.18.0", format::other, "h200_sxm") == expert_kernel::temporary_workspace);
}

// Nemotron 3 Nano 30B (6 of 128 experts per token, H 2,688, I 1,856, not gated): the KV cache loses 0.49 GiB from vLLM
// 0.13.0 to 0.14.1. Qwen3-VL-30B-A3B (8 experts per token, H 2,048, I 768): 0.50 GiB (ibid.)
TEST_CASE("a workspace has the widths of both products") {
    const engine_version version{0, 14, 1};
    const auto gib = [&](const expert_step& step) {
        return gib_of(count(2) * expert_workspace_elements(expert_kernel::persistent_workspace, version, step));
    };
    CHECK(gib({8192, 6, 128, 2688, 1856, false}) == doctest::Approx(0.49).epsilon(0.01));
    CHECK(gib({8192, 8, 128, 2048, 768, true}) == doctest::Approx(0.50).epsilon(0.01));
    CHECK(expert_workspace_elements(expert_kernel::flashinfer, version, {8192, 8, 128, 2048, 768, true}) == count{});
}

TEST_CASE("the fused all-reduce has three buffers of a multicast granule") {
    const count three_granules(std::uint64_t{3} * 512 * 1024 * 1024);
    CHECK(fused_all_reduce_bytes({0, 18, 0}, gpu_architecture::hopper, 4) == three_granules);
    CHECK(fused_all_reduce_bytes({0, 18, 0}, gpu_architecture::blackwell, 8) == three_granules);
    CHECK(fused_all_reduce_bytes({0, 16, 0}, gpu_architecture::hopper, 4) == count{});
    CHECK(fused_all_reduce_bytes({0, 18, 0}, gpu_architecture::hopper, 1) == count{});
    CHECK(fused_all_reduce_bytes({0, 18, 0}, gpu_architecture::rocm, 8) == count{});
}

TEST_CASE("the default utilization is 0.92 since vLLM 0.20") {
    const engine_memory_profile& profile = *find_engine_memory_profile("vllm");
    CHECK(profile_with_defaults(profile, "0.19.1", 0, "").gpu_memory_utilization == 0.9);
    CHECK(profile_with_defaults(profile, "0.20.0", 0, "").gpu_memory_utilization == 0.92);
}

// "Model loading took" of Qwen3-VL-30B-A3B-Instruct with vLLM 0.13.0 is 79.29 GiB on one MI300X, 58.23 GiB on an H200.
// That of Llama 4 Maverick with vLLM 0.11.2 is 126.72 GiB on 8 MI300X, 93.79 GiB on 8 H200
// (vllm-memory-estimator@8b0e21d).
TEST_CASE("experts on ROCm have padded rows and blocks that the allocator cannot reuse") {
    const auto padding = [](std::int64_t num_layers, std::int64_t hidden, std::int64_t intermediate,
                            std::int64_t num_devices) {
        model m = model_of_text(
            R"({"model_type": "qwen3_moe", "num_experts": 128, "num_experts_per_tok": 8, "num_hidden_layers": 1})");
        m.config.hidden_size = hidden;
        m.config.moe.intermediate_size = intermediate;
        const count down = count(128) * count(hidden) * count(intermediate);
        const std::vector<rank_parameter> layer{
            {.path = "experts.gate_up_proj", .elements = count(2) * down, .is_routed = true},
            {.path = "experts.down_proj", .elements = down, .is_routed = true}};
        const engine_memory_profile engine =
            profile_with_defaults(*find_engine_memory_profile("vllm"), "0.13.0", 0, "mi300x");
        const count driver = stage_padding_bytes({}, m, {}, engine).front();
        const count all =
            stage_padding_bytes(layer, m, {.parallel = make_parallel_config(m, num_devices)}, engine).front();
        return gib_of(count(static_cast<std::uint64_t>(num_layers)) * (all - driver) + driver);
    };
    CHECK(padding(48, 2048, 768, 1) == doctest::Approx(79.29 - 58.23).epsilon(0.01));
    CHECK(padding(24, 5120, 8192, 8) == doctest::Approx(126.72 - 93.79).epsilon(0.03));
    // rows of 384 bytes are no multiple of 512: 56.65 GiB of Qwen3-235B-A22B, 54.92 GiB without padding
    CHECK(padding(94, 4096, 1536, 8) == doctest::Approx(56.65 - 54.92).epsilon(0.03));
}

// Nemotron 3 Nano 30B: 30.52 GiB with vLLM 0.16.0, 31.40 GiB with 0.18.0 (ibid.); 23 layers with experts
TEST_CASE("FlashInfer pads experts that are not gated to 128 since vLLM 0.17") {
    model m = model_of_text(
        R"({"model_type": "qwen3_moe", "num_experts": 128, "num_experts_per_tok": 6, "num_hidden_layers": 1})");
    m.config.hidden_size = 2688;
    m.config.moe.intermediate_size = 1856;
    const count elements = count(128) * count(2688) * count(1856);
    const std::vector<rank_parameter> layer{{.path = "experts.up_proj", .elements = elements, .is_routed = true},
                                            {.path = "experts.down_proj", .elements = elements, .is_routed = true}};
    const auto padding = [&](const char* version) {
        engine_memory_profile engine =
            profile_with_defaults(*find_engine_memory_profile("vllm"), version, h200_bytes, "h200_sxm");
        engine.expert_weights = expert_weight_format::float8_per_tensor;
        return gib_of(count(23) * stage_padding_bytes(layer, m, {}, engine).front());
    };
    CHECK(padding("0.16.0") == 0);
    CHECK(padding("0.18.0") == doctest::Approx(31.40 - 30.52).epsilon(0.08));
}

// mxfp4.py, `create_weights`, for gpt-oss (H = I = 2,880): Triton I up to 64; Marlin H up to 256, I up to 128;
// FlashInfer both up to 256.
TEST_CASE("experts in MXFP4 are padded to multiples of their kernel") {
    model m = model_of_text(
        R"({"model_type": "gpt_oss", "num_local_experts": 32, "num_experts_per_tok": 4, "num_hidden_layers": 1})");
    m.config.hidden_size = 2880;
    m.config.moe.intermediate_size = 2880;
    const count down = count(32) * count(2880) * count(2880), bytes = down * count(17) / count(32);
    const std::vector<rank_parameter> layer{
        {.path = "experts.gate_up_proj",
         .elements = count(2) * down,
         .rank_elements = count(2) * down,
         .rank_bytes = count(2) * bytes,
         .is_routed = true},
        {.path = "experts.down_proj", .elements = down, .rank_elements = down, .rank_bytes = bytes, .is_routed = true}};
    const auto ratio = [&](const char* device, std::int64_t num_devices) {
        engine_memory_profile engine = profile_with_defaults(*find_engine_memory_profile("vllm"), "0.20.0", 0, device);
        engine.expert_weights = expert_weight_format::mxfp4;
        const inference_sharding sharding{.parallel = make_parallel_config(m, num_devices)};
        const count padding = stage_padding_bytes(layer, m, sharding, engine).front();
        return gib_of(padding) / gib_of(count(3) * bytes / count(num_devices));
    };
    CHECK(ratio("h100", 1) == 0);
    CHECK(ratio("h100", 4) == doctest::Approx(768.0 / 720 - 1));
    CHECK(ratio("b200", 1) == doctest::Approx(3072.0 * 3072 / (2880.0 * 2880) - 1));
    CHECK(ratio("a100", 1) == doctest::Approx(3072.0 * 2944 / (2880.0 * 2880) - 1));
}

// DeepSeek-R1 on 8 MI300X: `o_proj` has rows of 2,048 bytes, q_b_proj of 1,536, kv_b_proj of 512; `is_padded`:
// `stride * element_size % 512 == 0` (fp8_utils.py, `_maybe_pad_fp8_weight`)
TEST_CASE("rows of float8 linear layers have 256 bytes more on ROCm") {
    const model m = llama_70b();
    const auto padding = [&](std::int64_t columns, const char* device, expert_weight_format format) {
        engine_memory_profile engine = profile_with_defaults(*find_engine_memory_profile("vllm"), "0.13.0", 0, device);
        engine.expert_weights = format;
        const count elements = count(7168) * count(columns);
        const std::vector<rank_parameter> linear{{.path = "model.layers.0.self_attn.o_proj.weight",
                                                  .elements = elements,
                                                  .rank_elements = elements,
                                                  .rank_bytes = elements,
                                                  .row_elements = columns}};
        return stage_padding_bytes(linear, m, {}, engine).front() - stage_padding_bytes({}, m, {}, engine).front();
    };
    using format = expert_weight_format;
    CHECK(padding(2048, "mi300x", format::float8_blocks) == count(7168 * 256));
    CHECK(padding(1536, "mi300x", format::float8_per_tensor) == count(7168 * 256));
    CHECK(padding(2304, "mi300x", format::float8_blocks) == count{});
    CHECK(padding(2048, "mi300x", format::float8_per_channel) == count{});
    CHECK(padding(2048, "h200_sxm", format::float8_blocks) == count{});
}
