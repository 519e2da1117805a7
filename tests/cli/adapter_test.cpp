// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

// `--adapter`: files and folders of PEFT, words in their place, what is noted and what is refused.
namespace llmcost::testing {
namespace {

const std::string small_llama_model =
    " --config " + config_of("meta-llama__Llama-3.2-1B") + " --set num_hidden_layers=2 --sequence 32";

/// A folder with an adapter_config.json in it, while it lives.
class adapter_folder {
public:
    explicit adapter_folder(const std::string& text)
        : path_(std::filesystem::temp_directory_path() / "llmcost_adapter_test") {
        std::filesystem::create_directories(path_);
        std::ofstream(file()) << text;
    }
    ~adapter_folder() { std::filesystem::remove_all(path_); }
    adapter_folder(const adapter_folder&) = delete;
    adapter_folder& operator=(const adapter_folder&) = delete;
    [[nodiscard]] std::string path() const { return path_.string(); }
    [[nodiscard]] std::string file() const { return (path_ / "adapter_config.json").string(); }

private:
    std::filesystem::path path_;
};

}  // namespace

TEST_CASE("an adapter's file, its folder and the same in words are one adapter") {
    const adapter_folder folder(
        R"({"peft_type": "LORA", "r": 16, "lora_alpha": 32, "target_modules": ["q_proj", "v_proj"], "inference_mode": true,
            "layers_to_transform": [1], "base_model_name_or_path": "meta-llama/Llama-3.2-1B"})");
    const auto peak = [](const std::string& adapter) {
        const auto json =
            nlohmann::json::parse(printed("train" + small_llama_model + " --format json --adapter " + adapter));
        return json["peak"].dump() + json["trainable"].dump();
    };
    CHECK(peak(folder.file()) == peak("lora:r=16,alpha=32,targets=q_proj+v_proj,layers=1"));
    CHECK(peak(folder.path()) ==
          peak("lora:r=16,targets=q_proj+v_proj,exclude=layers.0.self_attn.q_proj+layers.0.self_attn.v_proj"));
}

TEST_CASE("the front page counts what an adapter adds") {
    const auto totals = [](const std::string& extra_args) {
        return nlohmann::json::parse(printed(small_llama_model.substr(1) + " --format json" + extra_args))["totals"];
    };
    const auto base = totals(""), adapted = totals(" --adapter lora:r=4,targets=q_proj");
    const std::int64_t rows = 32, layers = 2, width = 2048, rank = 4;
    const auto increase = [&](const char* metric) {
        return adapted[metric].get<std::int64_t>() - base[metric].get<std::int64_t>();
    };
    CHECK(increase("params") == layers * rank * (width + width));
    CHECK(increase("mult") == layers * (rows * rank * (width + width) + rows * width));  // two products, and a scale
    CHECK(increase("add") ==
          layers * (rows * rank * (width - 1) + rows * width * (rank - 1) + rows * width));  // and a sum
    CHECK(has(printed(small_llama_model.substr(1) + " --adapter lora:r=4,targets=q_proj"),
              "adapter lora:r=4,targets=q_proj"));
    CHECK(has(printed(small_llama_model.substr(1) + " --adapter lora:r=4,targets=q_proj --tree params"), "lora_A"));
}

TEST_CASE("a frozen base keeps less for backward and has no gradients of weights") {
    const auto training = [](const std::string& extra_args) {
        return nlohmann::json::parse(
            printed(small_llama_model.substr(1) + " --format json --training" + extra_args))["training"];
    };
    const auto full = training(""), adapted = training(" --adapter lora:r=4,targets=q_proj");
    CHECK(adapted["saved_bytes"].get<std::int64_t>() < full["saved_bytes"].get<std::int64_t>());
    CHECK(adapted["torch_flops"]["backward"].get<std::int64_t>() < full["torch_flops"]["backward"].get<std::int64_t>());
}

// Measured with bitsandbytes 0.50.2 and peft 0.21.2 on a CPU. PyTorch's memory tracker reports 1366528 bytes of
// parameters; the quantization tensors take 33952 bytes in addition.
TEST_CASE("a base in 4 bits holds what bitsandbytes stores, and keeps nothing of what it reads") {
    const std::string tiny =
        " --config " + config_of("meta-llama__Llama-3.2-1B") +
        " --set hidden_size=256 --set num_hidden_layers=2 --set intermediate_size=512"
        " --set num_attention_heads=4 --set num_key_value_heads=2 --set head_dim=64 --set vocab_size=1000"
        " --batch 2 --sequence 64";
    const std::string line =
        "train" + tiny + " --attention-implementation eager --adapter qlora:r=8,targets=all-linear";
    const auto json = nlohmann::json::parse(printed(line + " --precision bf16 --format json"));
    CHECK(json["trainable"] == 65'536);
    CHECK(json["saved_bytes"] == 4'782'084);
    CHECK(json["torch_flops"]["backward"] == 399'507'456);
    CHECK(json["peak"]["PARAM"] == 1'366'528 + 33'952);
    CHECK(json["peak"]["ACT"] == 4'782'088);
    CHECK(json["peak"]["TEMP"] == 1'024'000);
    CHECK(json["peak"]["OPT"] == 524'400);
    CHECK(has(printed(line + " --precision bf16"), "frozen weights in bitsandbytes"));
    // weights, activations and dequantized weights have 16 bits in either type
    CHECK(nlohmann::json::parse(printed(line + " --precision fp16 --format json"))["peak"] == json["peak"]);
    CHECK(has(refused(line + " --precision fp32"), "qlora requires --precision bf16 or fp16"));
}

TEST_CASE("an adapted model at several workloads is a table whose rows name the adapter") {
    const std::string line = llama + " --adapter lora:r=16,targets=q_proj+v_proj --format csv";
    const std::string rows = printed(line + " --sequence 16,32 params flops");
    CHECK(rows.starts_with("name,model_type,adapter,scope,batch,sequence,past,params,flops"));
    for (const std::string sequence : {"16", "32"}) {
        std::string single_sequence = printed(line + " --sequence " + sequence + " params flops");
        single_sequence = single_sequence.substr(single_sequence.find("\nall,") + 5);
        single_sequence.pop_back();
        CHECK_MESSAGE(has(rows, ",1," + sequence + ",0," + single_sequence + ",\n"), rows, single_sequence);
    }
    CHECK(refused(llama + " " + llama + " --adapter lora:r=16 params") ==
          "llmcost: --adapter: supports only one model\n");
}

TEST_CASE("what no adapter can be is refused, and what is likely a mistake is told") {
    const std::string train = "train" + small_llama_model + " --adapter ";
    CHECK(has(refused(train + "lora:r=-3"), "--adapter: expected a whole number from 1"));
    CHECK(has(refused(train + "lora:r=99999"), "too few for rank 99999"));
    CHECK(has(refused(train + "lora:targets=q_porj"), "no module 'q_porj' in this model; nearest: q_proj"));
    CHECK(has(refused(train + "lora:targets=q_proj+"), "expected targets=NAME+NAME"));
    CHECK(has(refused(train + "lora:layers=9-1,targets=q_proj"), "--adapter: layers: expected a whole number from 9"));
    CHECK(has(refused(train + "lora:layers=7,targets=q_proj"), "no module of this model is a target of the adapter"));
    CHECK(has(refused(train + "lora:targets=all-linear,layers=1"), "cannot be combined with targets=all-linear"));
    CHECK(has(refused(train + "lorra"), "no adapter type or file 'lorra'; nearest: lora"));
    CHECK(has(refused(train + "missing.json", {}, 3), "missing.json: cannot be opened"));
    CHECK(has(refused("train --config " + config_of("google__gemma-2-2b-it") + " --adapter ln:targets=all-linear"),
              "--adapter: "));
    const adapter_folder other_metric(R"({"peft_type": "LORA", "target_modules": ["q_proj", "c_attn"]})");
    const outcome got = llmcost_line(train + other_metric.file());
    CHECK(got.code == 0);
    CHECK(got.err == "llmcost: warning: --adapter: no module 'c_attn' in this model; the other targets are trained\n");
    const adapter_folder bad(R"({"peft_type": "LORA", "rank": 8})");
    CHECK(has(refused(train + bad.file(), {}, 3), "/rank: unknown key of this kind of adapter"));
    CHECK(has(refused("--config " + bad.file(), {}, 3), "this is an adapter configuration (PEFT)"));
}

// PEFT 0.21.2 trains o_proj and down_proj of Phi-3.5: 32 layers, rank 32 for 3,072 + 3,072 and 8,192 + 3,072
TEST_CASE("targets that match only in part are trained, and the others are a warning") {
    const outcome got = llmcost_line(
        "train --model microsoft/Phi-3.5-mini-instruct --sequence 16 --format json --adapter "
        "lora:r=32,targets=q_proj+k_proj+v_proj+o_proj+gate_proj+up_proj+down_proj");
    CHECK(got.code == 0);
    CHECK(has(got.out, "\"trainable\": 17825792"));
    for (const char* name : {"q_proj", "k_proj", "v_proj", "gate_proj", "up_proj"})
        CHECK(has(got.err, std::string("no module '") + name + "' in this model"));
    CHECK(!has(got.err, "'o_proj'"));
    // a module that is not frozen is no target of PEFT
    CHECK(has(refused("train" + small_llama_model + " --adapter freeze:q_proj+nothing"), "no module 'nothing'"));
}

// Recorded training steps of Transformers 5.23 and PEFT 0.21.2
TEST_CASE("buffers of all families are counted, and all-linear leaves out the layer that computes logits") {
    const auto step = [](const std::string& config, const std::string& rest) {
        return nlohmann::json::parse(
            printed("train --config " + config_of(config) + " --attention-implementation eager --format json " + rest));
    };
    const std::string two_layers = " --set num_hidden_layers=2 --batch 2 --sequence 64";
    const nlohmann::json all_linear =
        step("FacebookAI__xlm-roberta-base", "--adapter lora:r=8,targets=all-linear" + two_layers);
    CHECK(all_linear["trainable"] == 233472);
    CHECK(all_linear["peak"]["BUFFER"] == 8224);
    CHECK(all_linear["peak"]["total"] == 1231088344);
    CHECK(step("FacebookAI__xlm-roberta-base", "--adapter bitfit" + two_layers)["peak"]["total"] == 1224883024);
    CHECK(step("Salesforce__codegen-16B-multi", "--set n_layer=2 --sequence 64 --precision fp32")["peak"]["BUFFER"] ==
          1048576);
    CHECK(step("facebook__xglm-1.7B", "--set num_layers=2 --sequence 64")["peak"]["BUFFER"] == 16793600);
}

// Recorded: the identity matrix of DoRA's norm and its product exist until the layer returns
TEST_CASE("DoRA of MLP projections has the recorded activations within 1 %") {
    const nlohmann::json json = nlohmann::json::parse(
        printed("train --config " + config_of("microsoft__Phi-3-mini-4k-instruct") +
                " --set num_hidden_layers=4 --batch 2 --sequence 256 --precision bf16 --format json --adapter "
                "dora:r=16,targets=gate_up_proj+down_proj --attention-implementation sdpa"));
    CHECK(json["peak"]["ACT"].get<double>() == doctest::Approx(1298425856).epsilon(0.01));
}

// 28 layers, queries 1,024 x 2,048, values 1,024 x 1,024
TEST_CASE("an unmerged adapter runs in a step and on a server") {
    const auto step = [](const std::string& extra_args) {
        return nlohmann::json::parse(
            printed("latency --model Qwen/Qwen3-0.6B --device h200 --calibration none --format json" + extra_args));
    };
    const auto runs = [](const nlohmann::json& j, std::string_view end) {
        std::int64_t times = 0;
        for (const auto& op : j["ops"])
            if (std::string(op["name"]).ends_with(end)) times += op["times"].get<std::int64_t>();
        return times;
    };
    const double bytes = 2.0 * 28 * 16 * (1024 + 2048 + 1024 + 1024);  // in 16 bits
    const nlohmann::json plain = step(" --batch 4"), adapted = step(" --batch 4 --adapter lora:r=16");
    CHECK(adapted["adapter"] == "lora:r=16");
    CHECK_FALSE(plain.contains("adapter"));
    CHECK(adapted["weight_bytes_per_device"].get<double>() == plain["weight_bytes_per_device"].get<double>() + bytes);
    CHECK(adapted["flops_per_device"].get<double>() == plain["flops_per_device"].get<double>() + 2 * 4 * bytes / 2);
    CHECK(adapted["seconds"].get<double>() > plain["seconds"].get<double>());
    CHECK(runs(adapted, "q_proj.lora_A") == 28);
    CHECK(runs(adapted, "v_proj.lora_B") == 28);
    CHECK(runs(adapted, "k_proj.lora_A") == 0);
    CHECK(runs(adapted, "q_proj+k_proj+v_proj") == 28);  // the base weights are merged all the same
    const std::string selected_layers = " --adapter lora:r=16,targets=q_proj,layers=0-3";
    CHECK(runs(step(selected_layers), "q_proj.lora_A") == 4);
    CHECK(runs(step(selected_layers + " --execution eager"), "q_proj.lora_A") == 4);
    const nlohmann::json fp8 = step(" --dtype fp8"), in_16 = step(" --dtype fp8 --adapter lora:r=16");
    CHECK(in_16["weight_bytes_per_device"].get<double>() == fp8["weight_bytes_per_device"].get<double>() + bytes);
    // two devices: the first product whole where the second is divided
    const nlohmann::json half = step(" --tp 2"), shared = step(" --tp 2 --adapter lora:r=16");
    CHECK(shared["weight_bytes_per_device"].get<double>() ==
          half["weight_bytes_per_device"].get<double>() + 2.0 * 28 * 16 * (1024 + 1024 + 1024 + 512));

    // 20 tokens of its own are in the cache already, or in front of a prompt
    CHECK(step(" --past 100 --adapter prompt:n=20")["flops_per_device"] == step(" --past 120")["flops_per_device"]);
    CHECK(step(" --adapter prompt:n=20 --sequence 30")["flops_per_device"] ==
          step(" --sequence 50")["flops_per_device"]);

    const std::string server =
        "serve --model Qwen/Qwen3-0.6B --device h200 --calibration none --format json --input 500 --output 50";
    const auto served = nlohmann::json::parse(printed(server + " --adapter lora:r=64,targets=all-linear"));
    CHECK(served["tpot_seconds"].get<double>() > nlohmann::json::parse(printed(server))["tpot_seconds"].get<double>());
    CHECK(served["adapter"] == "lora:r=64,targets=all-linear");

    const std::string command_line = "latency --model Qwen/Qwen3-0.6B --device h200 --adapter ";
    CHECK(has(refused(command_line + "ia3 --training"), "llmcost train"));
    CHECK(has(refused(command_line + "dora:r=8 --engine vllm"), "the engines support only plain LoRA"));
    CHECK(has(refused(command_line + "prompt:n=20 --tp 2"), "--tp 1"));
    CHECK(has(refused(command_line + "qlora:r=8"), "--quantization nf4"));
    CHECK(has(refused(command_line + "lora:r=8,targets=q_prjo"), "q_proj"));
}

}  // namespace llmcost::testing
