// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/bundled/all.hpp>
#include <llmcost/cli/program.hpp>
#include <llmcost/kernels/library.hpp>
#include <llmcost/memory/quantized_weights.hpp>
#include <llmcost/memory/read_quantization.hpp>
#include <llmcost/serving/execution_of.hpp>
#include <llmcost/serving/server.hpp>
#include <llmcost/serving/stored_parts.hpp>
#include <llmcost/serving/timed_step.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "parts.hpp"

using namespace llmcost;
using nlohmann::json;

namespace {

const std::string where_measured = LLMCOST_TEST_DIR "/../configs/calibrations";

/// What the command says, as JSON.
json said(std::string line) {
    line += " --offline --format json --calibration " + where_measured;
    std::istringstream words(line), in;
    std::vector<std::string> parts;
    for (std::string word; words >> word;) parts.push_back(word);
    const std::vector<std::string_view> args(parts.begin(), parts.end());
    std::ostringstream out, err;
    const int code =
        cli::run_commands(args, parts::whole({out, err, in, [](const char*) { return nullptr; }, false, false}));
    INFO(line, ": ", err.str());
    REQUIRE(code == 0);
    return json::parse(out.str());
}

/// The same question for the command and for the library.
struct asked {
    const char* model;
    const char* device;
    const char* engine;  ///< empty: none
    const char* dtype;   ///< empty: as the checkpoint is stored
    std::int64_t tensor = 1, data = 1, expert = 1;

    [[nodiscard]] std::string options() const {
        std::string line = std::string(" --model ") + model + " --device " + device;
        if (*engine != 0) line += std::string(" --engine ") + engine;
        if (*dtype != 0) line += std::string(" --dtype ") + dtype;
        if (expert > 1) line += " --ep " + std::to_string(expert);
        return line + " --tp " + std::to_string(tensor) + " --dp " + std::to_string(data);
    }
};

const std::vector<asked> questions{
    {"meta-llama/Llama-3.1-70B", "h200", "vllm", "fp8", 4},
    {"meta-llama/Llama-3.1-70B", "h200", "trtllm", "fp8", 4},
    {"meta-llama/Llama-3.1-70B", "h100", "sglang", "fp8", 8},
    {"meta-llama/Llama-3.1-8B", "b200", "trtllm", "nvfp4"},
    {"meta-llama/Llama-3.1-8B", "a100", "", ""},
    {"openai-community/gpt2", "t4", "vllm", ""},
    {"Qwen/Qwen3-30B-A3B", "h200", "vllm", "", 2, 2, 4},
    {"deepseek-ai/DeepSeek-V3", "h200", "sglang", "", 8},
};

}  // namespace

TEST_CASE("the library answers as the command does, to the last bit") {
    for (const asked& q : questions) {
        INFO(q.options());
        const config_document file = parse_config(find_bundled(q.model)->json, q.model);
        const model m = file.read_with([](config_view root) { return parts::rows.read(root); });
        const engine by = *q.engine != 0 ? *find_engine(q.engine) : engine{};
        kernel_library kernels(q.device, std::string(by.software), "", where_measured);
        const stored_types types =
            *q.dtype != 0 ? stored_types{.products = find_operand(q.dtype)}
                          : file.read_with([&](config_view root) { return stored_types_of(root, m.dims.type); });
        execution how = execution_of(by, kernels.on(), types, shared_over(m, q.tensor, q.data, q.expert));
        const quantization plan = file.read_with([](config_view root) { return read_quantization(root); });
        if (*q.dtype == 0 && !plan.none()) how.stored = parts_as_stored(m, as_stored(quantized_weights(m, plan)));

        for (const std::int64_t past : {0, 700}) {
            const workload load{.batch = 16, .sequence = past == 0 ? 300 : 1, .past = past, .head = logits::last};
            const timed_step step = time_step(m, {load}, how, kernels.on(), kernels);
            const json j = said("latency --batch 16 --sequence " + std::to_string(load.sequence) + " --past " +
                                std::to_string(past) + q.options());
            CHECK(j["seconds"].get<double>() == step.seconds);
            CHECK(j["lower"].get<double>() == step.lower);
            CHECK(j["upper"].get<double>() == step.upper);
            CHECK(j["weight_bytes_per_device"].get<double>() == step.weights);
            CHECK(j["cache_bytes_per_device"].get<double>() == step.cache);
            CHECK(j["cache_dtype"] == std::string(how.cache->name));
        }

        server on(m, how, by, kernels.on(), kernels);
        const serving_figures f = on({.input = 500, .output = 100, .concurrency = 8});
        const json j = said("serve --input 500 --output 100 --concurrency 8" + q.options());
        CHECK(j["ttft_seconds"].get<double>() == f.ttft);
        CHECK(j["tpot_seconds"].get<double>() == f.tpot);
        CHECK(j["tokens_per_second"].get<double>() == f.tokens_per_second);
        CHECK(j["capacity"].get<double>() == f.capacity);
    }
}

TEST_CASE("groups of requests in one step are priced as the command prices them") {
    const engine& by = *find_engine("vllm");
    kernel_library kernels("rtx_4090", "vllm", "", where_measured);
    const config_document file = parse_config(find_bundled("meta-llama/Llama-3.1-8B")->json, "llama");
    const model m = file.read_with([](config_view root) { return parts::rows.read(root); });
    const execution how = execution_of(by, kernels.on(), stored_types_of(file.root(), m.dims.type));
    const timed_step step = time_step(m,
                                      {{.batch = 2, .sequence = 256, .head = logits::last},
                                       {.batch = 20, .sequence = 1, .past = 900, .head = logits::last}},
                                      how, kernels.on(), kernels);
    CHECK(said("latency --requests 256@0x2,1@900x20 --model meta-llama/Llama-3.1-8B --device rtx_4090 --engine vllm")
              ["seconds"] == step.seconds);
}

TEST_CASE("an execution has what its engine, device and checkpoint imply") {
    const operand_row* const fp8 = find_operand("fp8");
    const device& h100 = *find_device("h100");
    const execution trtllm = execution_of(*find_engine("trtllm"), h100, {.products = fp8});
    CHECK(trtllm.static_scales);
    CHECK(trtllm.cache == fp8);
    CHECK(trtllm.experts == fp8);
    CHECK(trtllm.attention == find_operand("bfloat16"));
    CHECK(trtllm.prompts == find_operand("bfloat16"));
    CHECK(!execution_of(*find_engine("vllm"), h100, {.products = fp8}).static_scales);
    CHECK(execution_of(*find_engine("sglang"), h100, {.products = fp8}).prompts == fp8);
    CHECK(execution_of({}, h100, {.products = fp8, .cache = find_operand("bfloat16")}).cache == find_operand("bfloat16"));
    // one recipe keeps 8 bits beside weights of 4, which bring no scales along
    const stored_types packed{.products = find_operand("int4_wo")};
    CHECK(execution_of(*find_engine("trtllm"), h100, packed).cache == fp8);
    CHECK(execution_of(*find_engine("vllm"), h100, packed).cache == find_operand("bfloat16"));
    CHECK(runs_on(*find_engine("vllm"), *find_device("mi300x")));
    CHECK(!runs_on(*find_engine("trtllm"), *find_device("mi300x")));
}

// T4 and V100 multiply no bfloat16; a processor neither of the types of 16 bits
TEST_CASE("weights of 32 bits are run in what the device multiplies, others as they are stored") {
    const auto stored = [](dtype type) { return stored_types_of(parse_config("{}", "none").root(), type); };
    for (const dtype wide : {dtype::float32, dtype::unspecified}) {
        CHECK(execution_of({}, *find_device("h100"), stored(wide)).products == find_operand("bfloat16"));
        CHECK(execution_of({}, *find_device("t4"), stored(wide)).products == find_operand("float16"));
        CHECK(execution_of({}, *find_device("t4"), stored(wide)).cache == find_operand("float16"));
    }
    CHECK(execution_of({}, *find_device("h100"), stored(dtype::float16)).products == find_operand("float16"));
    CHECK(execution_of({}, *find_device("t4"), stored(dtype::bfloat16)).products == find_operand("bfloat16"));
    device vectors_alone = *find_device("h200");
    vectors_alone.bf16 = vectors_alone.fp16 = 0;
    CHECK(execution_of({}, vectors_alone, stored(dtype::float32)).products == find_operand("float32"));
}

TEST_CASE("what a checkpoint is stored in is read, and another method is an error with its place") {
    const auto stored = [](std::string_view quantized) {
        const config_document file = parse_config(R"({"quantization_config": )" + std::string(quantized) + "}", "c");
        return file.read_with([](config_view root) { return stored_types_of(root, dtype::bfloat16); });
    };
    CHECK(stored(R"({"quant_method": "fp8", "weight_block_size": [128, 128]})").products == find_operand("fp8_block"));
    CHECK(stored(R"({"quant_method": "gptq", "bits": 8})").products == find_operand("int8"));
    CHECK(stored(R"({"quant_method": "mxfp4"})").products == find_operand("bfloat16"));
    CHECK(stored(R"({"quant_method": "mxfp4"})").experts == find_operand("w4a16_mxfp4"));
    CHECK(stored(R"({"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights": {"num_bits": 4}}}})")
              .products == find_operand("int4_wo"));
    CHECK_THROWS_WITH_AS((void)stored(R"({"quant_method": "hqq"})"),
                         "c: /quantization_config/quant_method: no type of weights is known here but of fp8, modelopt, "
                         "compressed-tensors with config_groups, mxfp4, awq and gptq: \"hqq\"",
                         error);
}

TEST_CASE("experts are spread over all devices, in as many groups as are asked for") {
    const auto of = [](std::string_view name) {
        const config_document file = parse_config(find_bundled(name)->json, "m");
        return file.read_with([](config_view root) { return parts::rows.read(root); });
    };
    const sharding some = shared_over(of("Qwen/Qwen3-30B-A3B"), 2, 4, 4);
    CHECK(some.devices() == 8);
    CHECK(some.expert == 4);
    CHECK(some.expert_tensor == 2);
    CHECK(shared_over(of("meta-llama/Llama-3.1-8B"), 8).expert_tensor == 1);
}
