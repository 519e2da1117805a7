// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/bundled/all.hpp>
#include <llmcost/cli/commands/program.hpp>
#include <llmcost/kernels/kernel_library.hpp>
#include <llmcost/memory/quantized_weights.hpp>
#include <llmcost/memory/read_quantization.hpp>
#include <llmcost/serving/default_execution.hpp>
#include <llmcost/serving/server.hpp>
#include <llmcost/serving/stored_weights.hpp>
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
json run_json(std::string line) {
    line += " --offline --format json --calibration " + where_measured;
    std::istringstream line_stream(line), in;
    std::vector<std::string> parts;
    for (std::string name; line_stream >> name;) parts.push_back(name);
    const std::vector<std::string_view> args(parts.begin(), parts.end());
    std::ostringstream out, err;
    const int code =
        cli::run_commands(args, parts::full_program({out, err, in, [](const char*) { return nullptr; }, false, false}));
    INFO(line, ": ", err.str());
    REQUIRE(code == 0);
    return json::parse(out.str());
}

/// One request for the command and for the library.
struct deployment_request {
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

const std::vector<deployment_request> questions{
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
    for (const deployment_request& q : questions) {
        INFO(q.options());
        const config_document file = parse_config(find_bundled(q.model)->json, q.model);
        const model m = file.read_with([](config_view root) { return parts::registry.read(root); });
        const engine serving_engine = *q.engine != 0 ? *find_engine(q.engine) : engine{};
        kernel_library kernels(q.device, std::string(serving_engine.kernel_software), "", where_measured);
        const checkpoint_types types = *q.dtype != 0 ? checkpoint_types{.products = find_operand_type(q.dtype)}
                                                     : file.read_with([&](config_view root) {
                                                           return checkpoint_types_of(root, m.config.dtype_of_weights);
                                                       });
        execution execution_config = execution_of(serving_engine, kernels.target_device(), types,
                                                  make_parallel_config(m, q.tensor, q.data, q.expert));
        const quantization plan = file.read_with([](config_view root) { return parse_quantization(root); });
        stored_bytes stored;
        if (*q.dtype == 0 && !plan.none()) {
            stored = to_weight_parts(quantized_weights(m, plan));
            execution_config.stored_weight_bytes = stored_weight_parts_of(m, stored);
            execution_config.stored_parameters = &stored;
        }

        for (const std::int64_t past : {0, 700}) {
            const workload load{.batch = 16, .sequence = past == 0 ? 300 : 1, .past = past, .head = logits::last};
            const timed_step step = time_step(m, {load}, execution_config, kernels.target_device(), kernels);
            const json j = run_json("latency --batch 16 --sequence " + std::to_string(load.sequence) + " --past " +
                                    std::to_string(past) + q.options());
            CHECK(j["seconds"].get<double>() == step.seconds);
            CHECK(j["lower"].get<double>() == step.lower);
            CHECK(j["upper"].get<double>() == step.upper);
            CHECK(j["weight_bytes_per_device"].get<double>() == step.weights);
            CHECK(j["cache_bytes_per_device"].get<double>() == step.cache);
            CHECK(j["cache_dtype"] == std::string(execution_config.kv_cache_type->name));
        }

        server llm_server(m, execution_config, serving_engine, kernels.target_device(), kernels);
        const serving_metrics f = llm_server({.input_tokens = 500, .output_tokens = 100, .concurrency = 8});
        const json j = run_json("serve --input 500 --output 100 --concurrency 8" + q.options());
        CHECK(j["ttft_seconds"].get<double>() == f.ttft_seconds);
        CHECK(j["tpot_seconds"].get<double>() == f.tpot_seconds);
        CHECK(j["tokens_per_second"].get<double>() == f.tokens_per_second);
        CHECK(j["capacity"].get<double>() == f.max_num_running);
    }
}

TEST_CASE("groups of requests in one step are priced as the command prices them") {
    const engine& serving_engine = *find_engine("vllm");
    kernel_library kernels("rtx_4090", "vllm", "", where_measured);
    const config_document file = parse_config(find_bundled("meta-llama/Llama-3.1-8B")->json, "llama");
    const model m = file.read_with([](config_view root) { return parts::registry.read(root); });
    const execution execution_config = execution_of(serving_engine, kernels.target_device(),
                                                    checkpoint_types_of(file.root(), m.config.dtype_of_weights));
    const timed_step step = time_step(m,
                                      {{.batch = 2, .sequence = 256, .head = logits::last},
                                       {.batch = 20, .sequence = 1, .past = 900, .head = logits::last}},
                                      execution_config, kernels.target_device(), kernels);
    CHECK(run_json("latency --ragged 256@0x2,1@900x20 --model meta-llama/Llama-3.1-8B --device rtx_4090 --engine vllm")
              ["seconds"] == step.seconds);
}

TEST_CASE("an execution has what its engine, device and checkpoint imply") {
    const operand_type* const fp8 = find_operand_type("fp8");
    const device& h100 = *find_device("h100");
    const execution trtllm = execution_of(*find_engine("trtllm"), h100, {.products = fp8});
    CHECK(trtllm.has_static_scales);
    CHECK(trtllm.kv_cache_type == fp8);
    CHECK(trtllm.expert_type == fp8);
    CHECK(trtllm.decode_attention_type == find_operand_type("bfloat16"));
    CHECK(trtllm.prefill_attention_type == find_operand_type("bfloat16"));
    CHECK(!execution_of(*find_engine("vllm"), h100, {.products = fp8}).has_static_scales);
    CHECK(execution_of(*find_engine("sglang"), h100, {.products = fp8}).prefill_attention_type == fp8);
    CHECK(execution_of({}, h100, {.products = fp8, .cache = find_operand_type("bfloat16")}).kv_cache_type ==
          find_operand_type("bfloat16"));
    // one recipe has 8-bit weights next to weights of 4 bits, which have no scales
    const checkpoint_types packed{.products = find_operand_type("int4_wo")};
    CHECK(execution_of(*find_engine("trtllm"), h100, packed).kv_cache_type == fp8);
    CHECK(execution_of(*find_engine("vllm"), h100, packed).kv_cache_type == find_operand_type("bfloat16"));
    CHECK(supports_device(*find_engine("vllm"), *find_device("mi300x")));
    CHECK(!supports_device(*find_engine("trtllm"), *find_device("mi300x")));
}

// T4 and V100 multiply no bfloat16; a processor neither of the types of 16 bits
TEST_CASE("weights of 32 bits are run in what the device multiplies, others as they are stored") {
    const auto stored = [](dtype type) { return checkpoint_types_of(parse_config("{}", "none").root(), type); };
    for (const dtype storage_type : {dtype::float32, dtype::unspecified}) {
        CHECK(execution_of({}, *find_device("h100"), stored(storage_type)).linear_type ==
              find_operand_type("bfloat16"));
        CHECK(execution_of({}, *find_device("t4"), stored(storage_type)).linear_type == find_operand_type("float16"));
        CHECK(execution_of({}, *find_device("t4"), stored(storage_type)).kv_cache_type == find_operand_type("float16"));
    }
    CHECK(execution_of({}, *find_device("h100"), stored(dtype::float16)).linear_type == find_operand_type("float16"));
    CHECK(execution_of({}, *find_device("t4"), stored(dtype::bfloat16)).linear_type == find_operand_type("bfloat16"));
    device vectors_alone = *find_device("h200");
    vectors_alone.bf16 = vectors_alone.fp16 = 0;
    CHECK(execution_of({}, vectors_alone, stored(dtype::float32)).linear_type == find_operand_type("float32"));
}

TEST_CASE("what a checkpoint is stored in is read, and another method is an error with its place") {
    const auto stored = [](std::string_view quantized) {
        const config_document file = parse_config(R"({"quantization_config": )" + std::string(quantized) + "}", "c");
        return file.read_with([](config_view root) { return checkpoint_types_of(root, dtype::bfloat16); });
    };
    CHECK(stored(R"({"quant_method": "fp8", "weight_block_size": [128, 128]})").products ==
          find_operand_type("fp8_block"));
    CHECK(stored(R"({"quant_method": "gptq", "bits": 8})").products == find_operand_type("int8"));
    CHECK(stored(R"({"quant_method": "fbgemm_fp8"})").products == find_operand_type("fp8"));
    CHECK(stored(R"({"quant_method": "modelopt_mxfp8"})").products == find_operand_type("mxfp8"));
    CHECK(stored(R"({"quant_method": "modelopt_fp4", "quant_algo": "NVFP4"})").products == find_operand_type("nvfp4"));
    // vLLM, compressed_tensors.py, `_is_wNa16_group_channel`: weights without quantized inputs are weight-only
    const auto integers = [&](const std::string& inputs) {
        return stored(R"({"quant_method": "compressed-tensors", "config_groups": {"group_0": {"input_activations": )" +
                      inputs + R"(, "weights": {"num_bits": 8, "type": "int"}}}})")
            .products;
    };
    CHECK(integers("null") == find_operand_type("int8_wo"));
    CHECK(integers(R"({"num_bits": 8, "type": "int"})") == find_operand_type("int8"));
    CHECK(stored(R"({"quant_method": "mxfp4"})").products == find_operand_type("bfloat16"));
    CHECK(stored(R"({"quant_method": "mxfp4"})").experts == find_operand_type("w4a16_mxfp4"));
    CHECK(
        stored(R"({"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights": {"num_bits": 4}}}})")
            .products == find_operand_type("int4_wo"));
    CHECK_THROWS_WITH_AS((void)stored(R"({"quant_method": "hqq"})"),
                         "c: /quantization_config/quant_method: unsupported method (expected fp8, modelopt, "
                         "compressed-tensors with config_groups, mxfp4, awq or gptq): \"hqq\"",
                         error);
}

TEST_CASE("experts are spread over all devices, in as many groups as are asked for") {
    const auto load_model = [](std::string_view name) {
        const config_document file = parse_config(find_bundled(name)->json, "m");
        return file.read_with([](config_view root) { return parts::registry.read(root); });
    };
    const parallel_config expert_sharding = make_parallel_config(load_model("Qwen/Qwen3-30B-A3B"), 2, 4, 4);
    CHECK(expert_sharding.world_size() == 8);
    CHECK(expert_sharding.expert_parallel_size == 4);
    CHECK(expert_sharding.expert_tensor_parallel_size == 2);
    CHECK(make_parallel_config(load_model("meta-llama/Llama-3.1-8B"), 8).expert_tensor_parallel_size == 1);
}
