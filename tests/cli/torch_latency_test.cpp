// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/cli/args/text.hpp>

// `llmcost latency --engine torch`: the kernels of eager PyTorch, compared with recordings of its profiler.
using namespace llmcost::testing;
using nlohmann::json;

namespace {

json step_json(const std::string& args, int exit_code = 0) {
    return json::parse(printed("latency --engine torch --format json " + args, {}, exit_code));
}

std::map<std::string, double> calls_of(const json& step) {
    std::map<std::string, double> calls;
    for (const json& k : step["kernels"]) calls[k["operator"].get<std::string>()] += k["calls"].get<double>();
    return calls;
}

struct recorded_step {
    std::string args;
    double device_milliseconds;
    std::map<std::string, double> calls;
};

}  // namespace

TEST_CASE("a training step launches the operators that PyTorch's profiler lists, in their number") {
    // PyTorch 2.11, Transformers 5.17 on an H200: calls of each operator and the sum of all kernels
    const std::vector<recorded_step> steps{
        {"--model Qwen/Qwen3-0.6B --batch 1 --sequence 512",
         25.97,
         {{"aten::mm", 591},
          {"aten::sum", 226},
          {"aten::mean", 113},
          {"aten::div", 113},
          {"aten::rsqrt", 113},
          {"aten::neg", 112},
          {"aten::cat", 113},
          {"aten::silu", 28},
          {"aten::silu_backward", 28},
          {"aten::_log_softmax", 1},
          {"aten::_log_softmax_backward_data", 1},
          {"aten::embedding_dense_backward", 1},
          // launches: 310 tensors do not fit into the arguments of one kernel
          {"aten::_foreach_mul_", 58},
          {"aten::_foreach_lerp_", 29},
          {"aten::_foreach_addcmul_", 29},
          {"aten::_foreach_addcdiv_", 29},
          {"aten::_scaled_dot_product_attention", 28},
          {"aten::_scaled_dot_product_attention_backward", 28}}},
        {"--model meta-llama/Llama-3.2-1B --batch 8 --sequence 2048",
         327.91,
         {{"aten::mm", 339},
          {"aten::sum", 66},
          {"aten::mean", 33},
          {"aten::rsqrt", 33},
          {"aten::neg", 64},
          {"aten::cat", 65},
          {"aten::silu", 16},
          {"aten::silu_backward", 16}}},
        {"--model openai-community/gpt2-medium --batch 4 --sequence 1024 --attention-implementation eager",
         67.80,
         {{"aten::mm", 195},
          {"aten::addmm", 96},
          {"aten::bmm", 144},
          {"aten::native_layer_norm", 49},
          {"aten::native_layer_norm_backward", 49},
          {"aten::_softmax", 24},
          {"aten::_softmax_backward_data", 24},
          {"aten::tanh", 24},
          {"aten::tanh_backward", 24},
          {"aten::cat", 72},
          {"aten::sum", 97}}},
    };
    for (const recorded_step& recorded : steps) {
        CAPTURE(recorded.args);
        const json step = step_json("--training --device h200 " + recorded.args);
        const std::map<std::string, double> calls = calls_of(step);
        for (const auto& call : recorded.calls) {
            CAPTURE(call.first);
            CHECK((calls.contains(call.first) ? calls.at(call.first) : 0) == call.second);
        }
        CHECK(std::abs(1e3 * step["device_seconds"].get<double>() / recorded.device_milliseconds - 1) < 0.08);
    }
}

TEST_CASE("the device time of a training step holds on a GPU and on models that were not fitted") {
    // PyTorch 2.11 on an H100 80GB HBM3: sum of all kernels (tests/memory/h100_runs.jsonl.gz)
    struct row {
        const char* config;
        const char* args;
        double device_milliseconds;
    };
    const row rows[]{
        {R"({"model_type": "starcoder2", "architectures": ["Starcoder2ForCausalLM"], "vocab_size": 49152,
             "hidden_size": 3072, "intermediate_size": 12288, "num_hidden_layers": 6, "num_attention_heads": 24,
             "num_key_value_heads": 2, "hidden_act": "gelu_pytorch_tanh", "use_bias": true,
             "tie_word_embeddings": true})",
         "--batch 2 --sequence 1024", 30.62},
        {R"({"model_type": "olmo2", "architectures": ["Olmo2ForCausalLM"], "vocab_size": 100352, "hidden_size": 2048,
             "intermediate_size": 8192, "num_hidden_layers": 6, "num_attention_heads": 16, "num_key_value_heads": 16,
             "tie_word_embeddings": false})",
         "--batch 4 --sequence 1024", 61.93},
        {R"({"model_type": "granite", "architectures": ["GraniteForCausalLM"], "vocab_size": 49155,
             "hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 8, "num_attention_heads": 32,
             "num_key_value_heads": 8, "tie_word_embeddings": true})",
         "--batch 1 --sequence 1024 --dtype float32 --optimizer sgd", 93.68},
        {R"({"model_type": "bloom", "architectures": ["BloomForCausalLM"], "vocab_size": 250880, "hidden_size": 1024,
             "n_layer": 8, "n_head": 16, "hidden_dropout": 0.0, "attention_dropout": 0.0})",
         "--batch 2 --sequence 512 --dtype float32 --attention-implementation eager", 66.04},
        {R"({"model_type": "glm4", "architectures": ["Glm4ForCausalLM"], "vocab_size": 65024, "hidden_size": 2048,
             "intermediate_size": 6848, "num_hidden_layers": 6, "num_attention_heads": 16, "num_key_value_heads": 2,
             "head_dim": 128, "attention_bias": true, "partial_rotary_factor": 0.5, "tie_word_embeddings": false})",
         "--batch 2 --sequence 1024 --optimizer adamw:fused", 23.06},
    };
    for (const row& r : rows) {
        CAPTURE(r.config);
        const json step = json::parse(printed(
            "latency --engine torch --format json --training --device h100_sxm --config - " + std::string(r.args),
            {.in = r.config}));
        CHECK(std::abs(1e3 * step["device_seconds"].get<double>() / r.device_milliseconds - 1) < 0.12);
    }
}

TEST_CASE("a product with rows that are not aligned to 16 bytes is several times slower") {
    // the head of GPT-2 on an H200: 25.7 ms for a vocabulary of 50,257, 3.6 ms for 50,304
    const auto head = [](const char* vocab_size) {
        const json step = step_json(
            "--training --device h200 --model openai-community/gpt2-medium --batch 4 "
            "--sequence 1024 --set vocab_size=" +
            std::string(vocab_size));
        double seconds = 0;
        for (const json& k : step["kernels"])
            for (const json& operand : k["operands"])
                if (k["operator"] == "aten::mm" && operand[1] == std::stoll(vocab_size))
                    seconds += k["calls"].get<double>() * k["seconds"].get<double>();
        return seconds;
    };
    CHECK(head("50257") > 4 * head("50304"));
}

TEST_CASE("train and latency report one time of a training step, and which of device and host limits it") {
    const std::string model = " --model Qwen/Qwen3-0.6B --device h200 --batch 4 --sequence 512 --format json";
    const json latency = json::parse(printed("latency --engine torch --training" + model));
    const json train = json::parse(printed("train" + model))["step_time"];
    CHECK(train["seconds"] == latency["seconds"]);
    CHECK(train["device_seconds"] == latency["device_seconds"]);
    CHECK(train["host_seconds"] == latency["host_seconds"]);
    CHECK(latency["seconds"] == latency["host_seconds"]);  // a small model
    const json graph = json::parse(printed("latency --engine torch --training --execution graph" + model));
    CHECK(graph["seconds"] == graph["device_seconds"]);
    CHECK(graph["host_seconds"] == 0);
    const json slow = json::parse(printed("latency --engine torch --training --host 100" + model));
    CHECK(slow["host_seconds"].get<double>() == doctest::Approx(100e-6 * slow["launches"].get<double>()));
}

TEST_CASE("latency names the changes that make a training step of PyTorch faster") {
    const json gpt2 = step_json(
        "--training --device h200 --model openai-community/gpt2-medium --batch 4 --sequence 1024 "
        "--attention-implementation eager");
    const json& faster = gpt2["faster"];
    REQUIRE(faster.size() >= 3);
    for (std::size_t i = 1; i < faster.size(); ++i)
        CHECK(faster[i - 1]["relative_time"].get<double>() <= faster[i]["relative_time"].get<double>());
    const auto time_with = [&](std::string_view change) {
        for (const json& f : faster)
            if (f["change"].get<std::string>().starts_with(change)) return f["seconds"].get<double>();
        return 0.0;
    };
    const double sdpa = step_json(
        "--training --device h200 --model openai-community/gpt2-medium --batch 4 "
        "--sequence 1024 --attention-implementation sdpa")["seconds"];
    CHECK(time_with("--attention-implementation sdpa") == sdpa);
    // the three products of the head take 10.4 of 67.8 ms
    CHECK(time_with("--set vocab_size=50304") < 0.9 * gpt2["seconds"].get<double>());
    const std::string qwen3 = "--training --device h200 --model Qwen/Qwen3-0.6B --sequence 128";
    const json small = step_json(qwen3);
    const auto change_of = [](const json& step, std::string_view name) {
        for (const json& f : step["faster"])
            if (f["change"] == std::string(name)) return f;
        return json{};
    };
    CHECK(change_of(small, "CUDA graph (--execution graph)")["seconds"] == small["device_seconds"]);
    // the compiled step that latency reports, with its interval
    for (const char* execution : {"compile", "reduce-overhead"}) {
        CAPTURE(execution);
        const json change = change_of(small, "torch.compile (--execution " + std::string(execution) + ")"),
                   compiled = step_json(qwen3 + " --execution " + execution);
        for (const char* name : {"seconds", "lower", "upper"}) CHECK(change[name] == compiled[name]);
        CHECK(change["relative_time"].get<double>() < 1);
        CHECK(compiled.at("faster").empty());
    }
    CHECK(small["faster"][0]["change"] == "torch.compile (--execution reduce-overhead)");
    // without kernels of the host, only the graph of compiled kernels is faster
    const json graph = step_json(qwen3 + " --execution graph");
    CHECK(change_of(graph, "torch.compile (--execution compile)").is_null());
    CHECK(change_of(graph, "torch.compile (--execution reduce-overhead)")["relative_time"].get<double>() < 1);
    // activation checkpointing cannot be compiled
    CHECK(!has(step_json(qwen3 + " --recompute full")["faster"].dump(), "torch.compile"));
}

TEST_CASE("gradient accumulation and recomputation repeat kernels") {
    const std::string model = "--training --device h200 --model Qwen/Qwen3-0.6B --sequence 256";
    const json once = step_json(model), recomputed = step_json(model + " --recompute full");
    const auto calls = calls_of(once), again = calls_of(recomputed);
    CHECK(again.at("aten::silu") == 2 * calls.at("aten::silu"));
    CHECK(again.at("aten::silu_backward") == calls.at("aten::silu_backward"));
    CHECK(recomputed["recomputed"]["seconds"].get<double>() > 0);
    CHECK(once["recomputed"]["seconds"] == 0);
}

TEST_CASE("options of PyTorch are refused where they have no effect") {
    const std::string base = "latency --model Qwen/Qwen3-0.6B --device h200 ";
    CHECK(has(refused(base + "--host h100"), "--host: requires --engine torch"));
    CHECK(has(refused(base + "--precision bf16"), "--precision: requires --engine torch"));
    CHECK(has(refused(base + "--engine torch --tp 2"), "expected --tp 1"));
    CHECK(has(refused(base + "--engine torch --host h300"), "h200"));
    CHECK(has(refused(base + "--engine torch --dtype fp8"), "float32, bfloat16 and float16"));
    CHECK(has(refused("train --model Qwen/Qwen3-0.6B --host h200"), "--host: requires --device"));
    CHECK(has(refused("serve --model Qwen/Qwen3-0.6B --device h200 --engine torch"), "not an inference engine"));
}

// transformers/models/rwkv/modeling_rwkv.py, `rwkv_linear_attention_cpu`: 4 exponentials and 2 maxima in each time step
// of each of 12 layers, and the exponential of `time_decay` once per layer
TEST_CASE("a loop over time steps launches its kernels once per step") {
    for (const int steps : {8, 16}) {
        CAPTURE(steps);
        const std::map<std::string, double> calls =
            calls_of(step_json("--device h200 --model RWKV/rwkv-4-169m-pile --dtype float32 --batch 1 --sequence " +
                               std::to_string(steps)));
        CHECK(calls.at("aten::exp") == 12 * (4 * steps + 1));
        CHECK(calls.at("aten::maximum") == 12 * 2 * steps);
    }
}

TEST_CASE("ops, levels, graph, report and compare have the time of latency --engine torch") {
    const auto sum_of = [](const json& rows) {
        double seconds = 0;
        for (const json& row : rows) seconds += row["seconds"].get<double>();
        return seconds;
    };
    for (const char* model : {"Qwen/Qwen3-0.6B", "openai-community/gpt2", "google-bert/bert-base-uncased",
                              "ibm-granite/granite-3.0-1b-a400m-base", "google-t5/t5-small",
                              "state-spaces/mamba-130m-hf", "google/vit-base-patch16-224", "torchvision/resnet18"}) {
        CAPTURE(model);
        const std::string name(model);
        const bool is_image = name.starts_with("google/vit") || name.starts_with("torchvision");
        const std::string sizes = (is_image ? std::string() : " --sequence 64") + " --device h200 --dtype bfloat16";
        const std::string pass = " --model " + name + sizes;
        const std::string engine = " --engine torch --format json";
        const auto parsed = [&](const std::string& command) { return json::parse(printed(command + pass + engine)); };
        const json forward = parsed("latency --logits all");
        const double device_seconds = forward["device_seconds"].get<double>();
        const auto is_total = [&](double seconds) { return seconds == doctest::Approx(device_seconds).epsilon(1e-9); };
        const json ops = parsed("ops"), levels = parsed("levels"), graph = parsed("graph --level operator");
        for (const json& answer : {ops, levels}) {
            CHECK(answer["engine"] == "torch");
            CHECK(is_total(answer["seconds"].get<double>()));
            CHECK(answer["kernels"].get<double>() == forward["launches"].get<double>());
            CHECK(answer["host_seconds"].get<double>() == doctest::Approx(forward["host_seconds"].get<double>()));
        }
        CHECK(is_total(sum_of(ops["rows"])));
        for (const char* group : {"module", "layer"})
            CHECK(is_total(sum_of(parsed("ops --group " + std::string(group))["groups"])));
        CHECK(is_total(sum_of(parsed("ops --group kind")["rows"])));
        CHECK(is_total(sum_of(levels["layers"])));
        CHECK(is_total(sum_of(levels["operators"])));
        CHECK(is_total(sum_of(graph["nodes"])));
        CHECK(is_total(sum_of(parsed("graph")["nodes"])));
        CHECK(has(printed("report --engine torch" + pass), "device time of PyTorch on H200 SXM</th>\n<td>" +
                                                               llmcost::cli::detail::duration(device_seconds) +
                                                               "</td>"));
        const json compared =
            json::parse(printed("compare " + name + " " + name + sizes + engine))["comparisons"][0]["figures"];
        const auto figure =
            std::ranges::find_if(compared, [](const json& f) { return f["name"] == "device_nanoseconds"; });
        REQUIRE(figure != compared.end());
        CHECK((*figure)["values"][0].get<double>() == doctest::Approx(1e9 * device_seconds).epsilon(1e-5));

        const json training = parsed("latency --training"), backward = parsed("graph --backward");
        const double step_seconds = training["device_seconds"].get<double>();
        const json step = parsed("ops --training"), modules = parsed("ops --training --group module");
        CHECK(sum_of(step["rows"]) == doctest::Approx(step_seconds).epsilon(1e-9));
        CHECK(sum_of(modules["groups"]) == doctest::Approx(step_seconds).epsilon(1e-9));
        CHECK(sum_of(backward["nodes"]) + backward["loss_seconds"].get<double>() +
                  backward["optimizer_seconds"].get<double>() ==
              doctest::Approx(step_seconds).epsilon(1e-9));
        double optimizer = 0;
        for (const json& row : step["rows"])
            if (row["phase"] == "optimizer") optimizer += row["seconds"].get<double>();
        CHECK(optimizer > 0);
        CHECK(optimizer == doctest::Approx(backward["optimizer_seconds"].get<double>()));
    }
}

TEST_CASE("graph --format chrome has the kernels of a step of PyTorch and their launches by the host") {
    const std::string model = " --model openai-community/gpt2 --sequence 64 --device h200 --engine torch ";
    const std::pair<const char*, const char*> steps[]{{"", "latency --logits all"},
                                                      {" --backward", "latency --training"}};
    for (const auto& [backward, latency_command] : steps)
        for (const char* execution : {"eager", "graph", "compile"}) {
            const std::string command(latency_command);
            CAPTURE(command);
            CAPTURE(execution);
            const std::string engine = model + "--execution " + execution;
            const json trace = json::parse(printed("graph --format chrome" + engine + backward)),
                       step = json::parse(printed(command + engine + " --format json"));
            double end[3]{}, sums[3]{};
            std::size_t num_kernels = 0;
            std::set<std::string> rows, phases, names;
            std::vector<double> issue_ends;
            for (const json& e : trace["traceEvents"]) {
                if (e["ph"] == "M") {
                    if (e["name"] == "thread_name") rows.insert(e["args"]["name"].get<std::string>());
                    continue;
                }
                CHECK(e["ph"] == "X");
                const auto row = e["tid"].get<std::size_t>();
                const double begins = e["ts"], event_duration = e["dur"];
                REQUIRE(row <= 2);
                CHECK(begins >= end[row] - 1e-6);  // one after the other
                end[row] = begins + event_duration;
                sums[row] += event_duration;
                if (row == 2) {
                    issue_ends.push_back(end[row]);
                    continue;
                }
                if (!issue_ends.empty()) CHECK(begins >= issue_ends[num_kernels] - 1e-6);  // after its launch
                phases.insert(e["cat"].get<std::string>());
                names.insert(e["name"].get<std::string>());
                ++num_kernels;
            }
            CHECK(static_cast<double>(num_kernels) == step["launches"].get<double>());
            CHECK(sums[1] == doctest::Approx(1e6 * step["device_seconds"].get<double>()).epsilon(1e-6));
            CHECK(sums[2] == doctest::Approx(1e6 * step["host_seconds"].get<double>()).epsilon(1e-6));
            CHECK(end[1] >= 1e6 * step["seconds"].get<double>() * 0.999999);
            const bool has_host = std::string(execution) != "graph";
            CHECK(rows == (has_host ? std::set<std::string>{"kernels", "host"} : std::set<std::string>{"kernels"}));
            CHECK(phases == (*backward == 0 ? std::set<std::string>{"forward"}
                                            : std::set<std::string>{"forward", "backward", "optimizer"}));
            for (const json& k : step["kernels"]) CHECK(names.contains(k["operator"].get<std::string>()));
        }
    const std::string trace = printed("graph --format chrome" + model);
    CHECK(has(trace, "\"module\": \"transformer.h.0.attn.c_attn\""));
    CHECK(has(trace, "\"operands\": \"[2304] [64, 768] [768, 2304]\""));
}

TEST_CASE("levels --training has the phases of latency --training by module") {
    const std::string model = " --model Qwen/Qwen3-0.6B --sequence 256 --device h200 --format json";
    for (const char* engine : {"", " --engine vllm", " --engine torch", " --engine torch --execution compile",
                               " --engine torch --recompute full --optimizer sgd"}) {
        CAPTURE(engine);
        const json latency = json::parse(printed("latency --training" + model + engine)),
                   levels = json::parse(printed("levels --training" + model + engine));
        for (const char* name : {"seconds", "lower", "upper", "optimizer_name"}) CHECK(levels[name] == latency[name]);
        std::map<std::string, double> sums;
        std::map<std::string, int> rows;
        for (const json& m : levels["modules"]) {
            ++rows[m["name"].get<std::string>()];
            for (const auto& [name, value] : m.items())
                if (value.is_number()) sums[name] += value.get<double>();
        }
        for (const char* phase : {"forward", "backward", "optimizer"})
            CHECK(sums[std::string(phase) + "_seconds"] ==
                  doctest::Approx(latency[phase]["seconds"].get<double>()).epsilon(1e-9));
        if (latency.contains("device_seconds"))
            CHECK(sums["seconds"] == doctest::Approx(latency["device_seconds"].get<double>()).epsilon(1e-9));
        for (const auto& [name, number] : rows) CHECK(number == 1);
        for (const char* name : {"model.layers.*.mlp.down_proj", "lm_head", "loss", "(optimizer)"})
            CHECK(rows.contains(name));
    }
    // a product has two in backward
    const json levels = json::parse(printed("levels --training --engine torch" + model));
    for (const json& m : levels["modules"])
        if (m["name"] == "model.layers.*.self_attn.o_proj")
            CHECK(m["backward_seconds"].get<double>() ==
                  doctest::Approx(2 * m["forward_seconds"].get<double>()).epsilon(0.2));
    CHECK(printed("levels --training --engine torch --top 2 --format csv --model Qwen/Qwen3-0.6B --device h200")
              .starts_with("module,forward_seconds,backward_seconds,optimizer_seconds,seconds\nmodel.layers.*."));
}

TEST_CASE("ops --engine torch lists operators, sorted and filtered") {
    const std::string pass = " --model openai-community/gpt2 --sequence 64 --device h200 --engine torch";
    const json rows = json::parse(printed("ops --sort time --format json" + pass))["rows"];
    for (std::size_t i = 1; i < rows.size(); ++i)
        CHECK(rows[i - 1]["seconds"].get<double>() >= rows[i]["seconds"].get<double>());
    const json filtered = json::parse(printed("ops --filter layer_norm --format json" + pass))["rows"];
    REQUIRE(filtered.size() == 1);
    CHECK(filtered[0]["operator"] == "aten::native_layer_norm");
    CHECK(filtered[0]["calls"] == 25);
    CHECK(json::parse(printed("ops --top 3 --format json" + pass))["rows"].size() == 3);
    CHECK(printed("ops --format csv" + pass).starts_with("operator,phase,dtype,operands,calls,kernels,flops,"));
    CHECK(json::parse(printed("ops --execution graph --format json" + pass))["host_seconds"] == 0);
}

TEST_CASE("options of torch require it, and torch rejects options that it does not have") {
    const std::string model = " --model openai-community/gpt2 --sequence 64";
    const std::pair<const char*, const char*> errors[]{
        {"ops --engine vllm --device h200",
         "--engine: expected torch, found 'vllm'; for the kernels of an inference engine, use llmcost latency"},
        {"ops --engine torch", "--engine: torch requires --device"},
        {"levels --engine torch", "--engine: torch requires --device"},
        {"graph --engine torch", "--engine: torch requires --device"},
        {"report --engine torch", "--engine: torch requires --device"},
        {"ops --precision bf16", "--precision: requires --engine torch"},
        {"levels --host h200 --device h200", "--host: requires --engine torch"},
        {"graph --precision bf16 --device h200", "--precision: requires --engine torch"},
        {"report --host h200 --device h200", "--host: requires --engine torch"},
        {"ops --training --device h200", "--training: requires --engine torch"},
        {"ops --optimizer sgd --device h200 --engine torch", "--optimizer: requires --training"},
        {"levels --optimizer sgd --device h200 --engine torch", "--optimizer: requires --training"},
        {"levels --training --past 8 --device h200 --engine torch", "--past: cannot be combined with --training"},
        {"levels --training --host h200 --device h200", "--host: requires --engine torch"},
        {"ops --backward --device h200 --engine torch", "--backward: cannot be combined with --engine torch"},
        {"ops --expand --device h200 --engine torch", "--expand: not supported with --engine torch"},
        {"ops --sort params --device h200 --engine torch", "--sort: expected name, flops, bytes, intensity or time"},
        {"ops --activation-dtype float32 --device h200 --engine torch",
         "--activation-dtype: cannot be combined with --engine torch"},
        {"ops --filter nothing --device h200 --engine torch", "--filter: no operator contains 'nothing'"},
        {"graph --split 2 --device h200 --engine torch", "--split: cannot be combined with --engine torch"},
        {"graph --format chakra --out x --device h200 --engine torch", "--format: chakra is not supported"},
        {"graph --tp 2 --device h200 --engine torch", "--tp: cannot be combined with --engine torch"},
        {"graph --format chrome --cuts --device h200 --engine torch", "--cuts: cannot be combined with a timeline"},
    };
    for (const auto& e : errors) {
        CAPTURE(e.first);
        CHECK(has(refused(e.first + model), e.second));
    }
}

TEST_CASE("--tf32 changes products and convolutions in float32 only") {
    const auto seconds_of = [](const std::string& args, const char* name) {
        double seconds = 0;
        const json step = step_json("--device h200 --training " + args);
        for (const json& k : step["kernels"])
            if (k["operator"] == name) seconds += k["calls"].get<double>() * k["seconds"].get<double>();
        return seconds;
    };
    const std::string gpt2 = "--model openai-community/gpt2 --sequence 512 --precision fp32",
                      resnet = "--model torchvision/resnet18 --batch 16 --precision fp32";
    // the peak of TF32 is 7.4 times that of float32 on an H200
    const double standard = seconds_of(gpt2, "aten::addmm"), on = seconds_of(gpt2 + " --tf32 on", "aten::addmm");
    CHECK(standard > 2 * on);
    CHECK(seconds_of(gpt2 + " --tf32 off", "aten::addmm") == standard);
    CHECK(seconds_of(gpt2 + " --tf32 on", "aten::gelu") == seconds_of(gpt2, "aten::gelu"));
    const double convolutions = seconds_of(resnet, "aten::cudnn_convolution");
    CHECK(seconds_of(resnet + " --tf32 on", "aten::cudnn_convolution") == convolutions);
    CHECK(seconds_of(resnet + " --tf32 off", "aten::cudnn_convolution") > 1.5 * convolutions);
    CHECK(has(refused("latency --model openai-community/gpt2 --device h200 --tf32 on"),
              "--tf32: requires --engine torch"));
    // an option of llmcost train, whose estimate is that of latency
    const std::string train =
        "train --model openai-community/gpt2 --sequence 512 --precision fp32 --device h200 --format json";
    const json step = step_json("--device h200 --training --tf32 on " + gpt2);
    CHECK(json::parse(printed(train + " --tf32 on"))["step_time"]["device_seconds"].get<double>() ==
          doctest::Approx(step["device_seconds"].get<double>()));
}

TEST_CASE("--dtype of ops and report sets the type of PyTorch's products") {
    for (const char* type : {"float32", "bfloat16"}) {
        CAPTURE(type);
        const json ops =
            json::parse(printed("ops --model openai-community/gpt2 --sequence 64 --device h200 --engine torch "
                                "--format json --filter aten::addmm --dtype " +
                                std::string(type)));
        CHECK(ops["dtype"] == type);
        CHECK(ops["rows"][0]["dtype"] == type);
    }
}
