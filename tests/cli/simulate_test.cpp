// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "../hub/hub_fixture.hpp"
#include "program.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include <cstddef>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

using namespace llmcost::testing;
using nlohmann::json;

namespace {

const std::string simulated =
    "simulate --model meta-llama/Llama-3.1-70B --device h200_sxm --dtype fp8 --tp 4 --calibration none --engine ";

json simulated_json(const std::string& line) { return json::parse(printed(line + " --format json")); }
std::string trace_file(const temporary_folder& in, const std::string& name, const std::string& text) {
    const auto path = in.path() / name;
    std::ofstream(path, std::ios::binary) << text;
    return path.string();
}
std::string failing_with_trace(const std::string& text) {
    const temporary_folder folder;
    const std::string path = trace_file(folder, "t.csv", text);
    const std::string error_text = refused(simulated + "vllm --trace " + path, {}, 6);
    return error_text.substr(error_text.find("t.csv"));
}

}  // namespace

TEST_CASE("a simulation's figures fit each other") {
    for (const char* engine : {"vllm", "sglang", "trtllm"}) {
        const json j = simulated_json(simulated + engine + " --concurrency 8 --input 500..1000 --output 50..100");
        CHECK(j["requests"] == 80);
        CHECK(j["mean_concurrency"].get<double>() <= 8);
        CHECK(j["ttft"]["p50_seconds"] <= j["ttft"]["p99_seconds"]);
        CHECK(j["ttft"]["p99_seconds"] <= j["ttft"]["most_seconds"]);
        CHECK(j["output_tokens_per_second"].get<double>() * j["seconds"].get<double>() ==
              doctest::Approx(j["output_tokens"].get<double>()));
        CHECK(j["scheduler"]["engine"] == engine);
        CHECK(j["ttft_mean_lower_seconds"] < j["ttft"]["mean_seconds"]);
        CHECK(j["method"] == "simulation");
        CHECK(j["interval_stands_on"] == "the datasheet");
    }
}

// One client alone has no queue, so that the closed form differs only by its own constants of the engine.
TEST_CASE("a client alone is told what the closed form tells, within what their constants differ") {
    const json one = simulated_json(simulated + "vllm --concurrency 1 --requests 3 --input 2000 --output 200");
    const json closed = simulated_json(
        "serve --model meta-llama/Llama-3.1-70B --device h200_sxm --dtype fp8 --tp 4 --calibration none --engine vllm "
        "--input 2000 --output 200");
    CHECK(one["tpot"]["mean_seconds"].get<double>() ==
          doctest::Approx(closed["tpot_seconds"].get<double>()).epsilon(0.08));
    CHECK(one["ttft"]["mean_seconds"].get<double>() ==
          doctest::Approx(closed["ttft_seconds"].get<double>()).epsilon(0.15));
}

TEST_CASE("requests come as a trace says, in the formats of public ones") {
    const temporary_folder folder;
    const auto simulate_trace = [&](const std::string& text) {
        return simulated_json(simulated + "vllm --trace " + trace_file(folder, "t", text));
    };
    const json plain = simulate_trace("arrival,input,output\n10,100,20\n10.5,200,30\n");
    CHECK(plain["requests"] == 2);
    CHECK(plain["input_tokens"] == 300);
    CHECK(plain["output_tokens"] == 50);
    for (const char* equivalent_trace :
         {"arrived_at,num_prefill_tokens,num_decode_tokens\n10.5,200,30\n10,100,20\n",
          "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,100,20\n"
          "2023-11-16 18:17:04.4799600,200,30\n",
          "idx,arrival_time_ns,input_toks,output_toks\n0,1000000000,100.0,20\n1,1500000000,200.0,30\n",
          "arrival,prompt_tokens,completion_tokens\n0,100,20\n0.5,200,30\n", "arrival,isl,osl\n0,100,20\n0.5,200,30\n",
          "arrival,prompt_len,output_len\n0,100,20\n0.5,200,30\n",
          "{\"created\": 1760000000, \"usage\": {\"prompt_tokens\": 100, \"completion_tokens\": 20}}\n"
          "{\"created\": 1760000000.5, \"usage\": {\"prompt_tokens\": 200, \"completion_tokens\": 30}}\n",
          "{\"response\": {\"body\": {\"created_at\": 7, \"usage\": {\"input_tokens\": 100, \"output_tokens\": 20}}}}\n"
          "{\"response\": {\"body\": {\"created_at\": 7.5, \"usage\": {\"input_tokens\": 200, \"output_tokens\": "
          "30}}}}\n",
          "{\"timestamp\": 0, \"input_length\": 100, \"output_length\": 20, \"hash_ids\": [0]}\n\n"
          "{\"timestamp\": 500, \"input_length\": 200, \"output_length\": 30, \"hash_ids\": [1]}\r\n"}) {
        const json reloaded = simulate_trace(equivalent_trace);
        CHECK(reloaded["seconds"].get<double>() == doctest::Approx(plain["seconds"].get<double>()));
        CHECK(reloaded["input_tokens"] == 300);
    }
    const json twice = simulate_trace(
        "{\"timestamp\": 0, \"input_length\": 1100, \"output_length\": 2, \"hash_ids\": [7, 8, 9]}\n"
        "{\"timestamp\": 5000, \"input_length\": 1100, \"output_length\": 2, \"hash_ids\": [7, 8, 10]}\n");
    CHECK(twice["cached_share"].get<double>() == doctest::Approx(1024.0 / 2200));
}

TEST_CASE("the sample trace of the repository is read") {
    const json j =
        json::parse(printed("simulate --model Qwen/Qwen3-8B --device h200_sxm --calibration none --engine vllm "
                            "--trace " LLMCOST_TEST_DIR "/../examples/requests.csv --format json"));
    CHECK(j["requests"] == 200);
}

TEST_CASE("a trace that cannot be read says where and why") {
    CHECK(failing_with_trace("") == "t.csv: expected a line for each request, found nothing\n");
    CHECK(failing_with_trace("input,output\n") ==
          "t.csv: line 1: expected a line for each request, found only a header\n");
    CHECK(failing_with_trace("input,outputs\n1,2\n").starts_with("t.csv: line 1: expected a column of output tokens"));
    CHECK(failing_with_trace("input,output\n1,2\n1,x\n") ==
          "t.csv: line 3: output: expected an integer number of tokens, found 'x'\n");
    CHECK(failing_with_trace("input,output\n1,2,3\n") == "t.csv: line 2: expected 2 fields, found 3\n");
    CHECK(failing_with_trace("input,output,arrival\n1,2,soon\n") ==
          "t.csv: line 2: arrival: expected a time, found 'soon'\n");
    CHECK(failing_with_trace("{\"input_length\": 5}\n").starts_with("t.csv: line 1: expected input and output"));
    CHECK(failing_with_trace("{\"input\": 5, \"output\": 2, \"hash_ids\": [-1]}\n") ==
          "t.csv: line 1: hash_ids: expected an array of non-negative integers, found '-1'\n");
    CHECK(failing_with_trace("{broken\n").starts_with("t.csv: line 1: expected a JSON object"));
}

TEST_CASE("what cannot be simulated is refused") {
    CHECK(has(refused("simulate --model Qwen/Qwen3-8B --device h200"), "--engine: required"));
    CHECK(refused(simulated + "vllm --chunked-prefill-size 3") ==
          "llmcost: --chunked-prefill-size: not supported by --engine vllm: it is an option of sglang\n");
    CHECK(has(refused(simulated + "trtllm --input 9000"), "exceeds the 8,192 tokens of a step"));
    CHECK(has(refused(simulated + "vllm --capacity_scheduler_policy MAX_UTILIZATION"), "is an option of trtllm"));
    CHECK(has(refused(simulated + "vllm --prefill 2"), "--decode: required with --prefill"));
    CHECK(has(refused(simulated + "vllm --input 9..3"), "expected LOW..HIGH"));
    CHECK(has(refused(simulated + "vllm --rate 3 --concurrency 3"), "--rate: cannot be combined with --concurrency"));
    CHECK(has(refused(simulated + "vllm --pause 3"), "--pause: requires --turns"));
    CHECK(has(refused(simulated + "vllm --network 3"), "--network: requires more devices than one node has"));
    CHECK(has(refused("simulate --model meta-llama/Llama-3.1-405B --device h200 --engine vllm", {}, 8),
              "out of memory: the KV cache of a request of "));
}

TEST_CASE("a simulation is told in words, by request and as a timeline") {
    const std::string report_text = printed(simulated + "sglang --rate 5 --requests 20 --slo ttft=1s,e2e=90s --plot");
    for (const char* part : {"20 requests, 1,024 input tokens, 1,024 output tokens, 5 requests per second", "TTFT",
                             "meet --slo", "sglang 0.5.23: prefill before decode", "running"})
        CHECK(has(report_text, part));
    std::istringstream rows(printed(simulated + "vllm --concurrency 2 --format csv"));
    std::size_t lines = 0;
    for (std::string line; std::getline(rows, line);) ++lines;
    CHECK(lines == 21);
    const temporary_folder folder;
    const std::string path = (folder.path() / "steps.json").string();
    (void)printed(simulated + "vllm --concurrency 2 --timeline " + path);
    std::ifstream in(path);
    CHECK(json::parse(in)["traceEvents"].size() > 20);
}

TEST_CASE("prompts computed elsewhere come later and disturb nobody who writes") {
    const std::string load = "vllm --concurrency 32 --input 8000 --output 100";
    const json colocated = simulated_json(simulated + load + " --replicas 2"),
               disaggregated = simulated_json(simulated + load + " --prefill 1 --decode 1 --network 25");
    CHECK(disaggregated["devices"] == colocated["devices"]);
    CHECK(disaggregated["network_gbps_per_device"] == 25);
    CHECK(has(printed(simulated + load + " --prefill 1 --decode 1"), "50 GB/s per device to the decode workers"));
    CHECK(disaggregated["itl"]["p99_seconds"].get<double>() < colocated["itl"]["p99_seconds"].get<double>());
}

TEST_CASE("decode workers of the same kind change nothing, and other kinds have their own memory, speed and price") {
    const std::string load = "vllm --concurrency 16 --input 2000 --output 50 --network 50 --prefill 2 --decode 1";
    json same = simulated_json(simulated + load),
         named = simulated_json(simulated + load + " --decode-device h200 --decode-tp 4");
    CHECK(named["decode_devices"] == 4);
    named.erase("decode_device");
    named.erase("decode_devices");
    CHECK(named == same);

    const json other = simulated_json(simulated + load + " --decode-device b200 --decode-tp 8 --price 2,5");
    CHECK(other["devices"] == 16);
    CHECK(other["decode_device"] == "b200_sxm");
    CHECK(other["price_of_all_devices"].get<double>() ==
          doctest::Approx(other["seconds"].get<double>() / 3600 * (8 * 2 + 8 * 5)));
    CHECK(other["tpot"]["mean_seconds"].get<double>() < same["tpot"]["mean_seconds"].get<double>());
    CHECK(has(refused(simulated + "vllm --decode-device h100"), "--decode-device: requires --prefill and --decode"));
    CHECK(has(refused(simulated + load + " --decode-device l4 --decode-tp 1", {}, 8), "out of memory"));
}

TEST_CASE("host memory holds what the device evicts") {
    const std::string load = " --input 8000 --output 100 --turns 4 --pause 5 --requests 120 --rate 2 --memory-share ";
    struct host_memory {
        std::string engine, memory_share, option;
    };
    for (const host_memory& o : {host_memory{"vllm", "0.3", " --kv-offloading-size 800"},
                                 {"sglang", "0.3", " --enable-hierarchical-cache --hicache-size 200"},
                                 {"trtllm", "0.1 --enable_chunked_prefill", " --host_cache_size 2e11"}}) {
        CAPTURE(o.engine);
        const json without = simulated_json(simulated + o.engine + load + o.memory_share),
                   with = simulated_json(simulated + o.engine + load + o.memory_share + o.option);
        CHECK(!without.contains("loaded_share"));
        CHECK(with["loaded_share"].get<double>() > 0);
        CHECK(with["cached_share"].get<double>() > without["cached_share"].get<double>());
        // each turn finds all turns before it: 3/4, 2/3, 1/2 and 0 of a prompt, without its last blocks
        CHECK(with["cached_share"].get<double>() < 0.61);
        CHECK(with["ttft"]["mean_seconds"].get<double>() < without["ttft"]["mean_seconds"].get<double>());
    }
    CHECK(has(refused(simulated + "vllm --hicache-ratio 2"), "it is an option of sglang"));
    CHECK(has(refused(simulated + "vllm --host-bandwidth 20"), "--host-bandwidth: requires host memory"));
    CHECK(has(refused(simulated + "vllm --kv-storage-size 20"), "--kv-storage-bandwidth: required with"));
}

TEST_CASE("a measured acceptance of each position gives the mean of accepted tokens") {
    const std::string load = "vllm --concurrency 4 --output 200 --draft 3 --acceptance ";
    // 0.5 + 0.5^2 + 0.5^3
    CHECK(simulated_json(simulated + load + "0.5,0.25,0.125") == simulated_json(simulated + load + "0.5"));
    CHECK(has(refused(simulated + load + "0.5,0.25"), "expected one fraction, or one for each of the 3 draft tokens"));
    CHECK(has(refused(simulated + load + "0.5,0.6,0.1"), "expected fractions that do not increase"));
}

TEST_CASE("stages, a model that proposes and a router are asked for by name") {
    const std::string load = "vllm --concurrency 64 --input 500 --output 200 --requests 256";
    const json unstaged = simulated_json(simulated + load), staged = simulated_json(simulated + load + " --pp 2");
    CHECK(staged["devices"] == 8);
    // twice the devices, but each half of the requests reads all weights again
    CHECK(staged["output_tokens_per_second"].get<double>() > unstaged["output_tokens_per_second"].get<double>());
    CHECK(staged["output_tokens_per_second"].get<double>() < 2 * unstaged["output_tokens_per_second"].get<double>());
    CHECK(has(printed(simulated + load + " --pp 2"), "meta-llama/Llama-3.1-70B, 8 x H200 SXM"));
    CHECK(has(refused(simulated + "vllm --pp 81"), "--pp: expected at most 80 stages"));
    // sixteen devices are two nodes: what lies between them is said, and a slower network takes longer
    CHECK(has(printed(simulated + load + " --pp 4"), "50 GB/s per device between 2 nodes of 8"));
    CHECK_FALSE(has(printed(simulated + load + " --pp 2"), "between 2 nodes"));
    const json usual = simulated_json(simulated + load + " --pp 4"),
               slower = simulated_json(simulated + load + " --pp 4 --network 5");
    CHECK(usual["network_gbps_per_device"] == 50);
    CHECK(slower["network_gbps_per_device"] == 5);
    CHECK(slower["tpot"]["mean_seconds"] > usual["tpot"]["mean_seconds"]);
    CHECK(has(refused(simulated + load + " --pp 2 --network 5"), "--network: requires more devices than one node has"));
    // what proposes tokens takes time of its own, and room in the cache
    const std::string drafts = "vllm --concurrency 4 --requests 16 --draft 3 --acceptance 0.8";
    const json none = simulated_json(simulated + "vllm --concurrency 4 --requests 16"),
               free = simulated_json(simulated + drafts),
               small = simulated_json(simulated + drafts + " --draft-model meta-llama/Llama-3.2-1B"),
               large = simulated_json(simulated + drafts + " --draft-model meta-llama/Llama-3.1-8B");
    const auto tpot = [](const json& j) { return j["tpot"]["mean_seconds"].get<double>(); };
    CHECK(tpot(free) < tpot(small));
    CHECK(tpot(small) < tpot(large));
    CHECK(tpot(small) < tpot(none));
    CHECK(has(refused(simulated + "vllm --draft-model Qwen/Qwen3-8B"), "--draft-model: requires --draft"));
    // draft heads have fewer parameters than small models, and Medusa has one pass for all draft tokens
    const temporary_folder folder;
    const std::string sizes = R"("hidden_size":8192,"vocab_size":128256,"dtype":"bfloat16",)";
    const std::string layers = sizes + R"("intermediate_size":28672,"num_attention_heads":64,"num_key_value_heads":8,)"
                                       R"("num_hidden_layers":1,"model_type":"llama",)";
    const auto head = [&](const std::string& name, const std::string& keys) {
        return " --draft-model " + trace_file(folder, name + ".json", "{" + keys + "}");
    };
    const std::string eagle3_file = head("eagle3", layers + R"("architectures":["LlamaForCausalLMEagle3"],)"
                                                            R"("draft_vocab_size":32000)"),
                      medusa_file = head("medusa", sizes + R"("architectures":["MedusaModel"],"num_heads":4)"),
                      dflash_file = head("dflash", layers + R"("architectures":["DFlashDraftModel"],"block_size":4)");
    const json eagle3 = simulated_json(simulated + drafts + eagle3_file),
               medusa = simulated_json(simulated + drafts + medusa_file),
               dflash = simulated_json(simulated + drafts + dflash_file);
    CHECK(tpot(free) < tpot(medusa));
    CHECK(tpot(medusa) < tpot(eagle3));
    CHECK(tpot(free) < tpot(dflash));
    CHECK(tpot(dflash) < tpot(eagle3));
    CHECK(tpot(eagle3) < tpot(large));
    const std::string five = simulated + "vllm --concurrency 4 --requests 16 --draft 5";
    CHECK(has(refused(five + medusa_file), "--draft: expected at most the 4 tokens of the draft head"));
    CHECK(has(refused(five + dflash_file), "--draft: expected at most the 3 tokens of the draft head"));
    CHECK(has(refused("serve --config " + (folder.path() / "eagle3.json").string() + " --device h100"),
              "serve: a draft head generates no text without its target model"));
    const std::string turns =
        "sglang --rate 4 --requests 60 --turns 3 --replicas 4 --input 2000 --output 100 --pause 1";
    CHECK(simulated_json(simulated + turns + " --router prefix")["cached_share"].get<double>() >
          simulated_json(simulated + turns)["cached_share"].get<double>());
    const std::string tight =
        "sglang --concurrency 64 --input 4000 --output 1000 --disable-radix-cache --memory-share 0.2";
    CHECK(simulated_json(simulated + tight + " --ignore-eos")["preemptions"] == 0);
    // TensorRT-LLM takes its share of the memory that the weights leave
    const std::string full = "trtllm --concurrency 64 --input 4000 --output 1000 --memory-share 0.08";
    CHECK(simulated_json(simulated + full)["preemptions"] == 0);
    CHECK(simulated_json(simulated + full + " --capacity-scheduler-policy MAX_UTILIZATION")["preemptions"] > 0);
}

TEST_CASE("first tokens over rates and throughput over speed are pictures") {
    const temporary_folder folder;
    const auto drawn = [&](const std::string& line, const std::string& name) {
        const std::string path = (folder.path() / name).string();
        (void)printed(line + " --plot " + path);
        std::ifstream in(path);
        return std::string{std::istreambuf_iterator<char>(in), {}};
    };
    const std::string load = simulated + "vllm --concurrency 8 --requests 60 --input 500 --output 50 ";
    const std::string rate = drawn(load + "--plot-of rate", "rate.svg"),
                      pareto = drawn(load + "--plot-of pareto", "pareto.svg");
    CHECK(has(rate, "TTFT over request rate"));
    CHECK(has(rate, "p99"));
    CHECK(has(pareto, "Throughput per device over speed per user"));
    const std::string plan = drawn(
        "plan --model Qwen/Qwen3-8B --device h200_sxm --calibration none --engine vllm --requests 100 "
        "--rate 5 --slo ttft=1s,tpot=30ms --slo-at 0.5",
        "plan.svg");
    CHECK(has(plan, "tokens/s per user"));
    CHECK(has(plan, "best"));
    CHECK(has(refused(load + "--plot-of rate"), "--plot-of: requires --plot"));
}

TEST_CASE("a plan keeps to its bounds with the fewest devices") {
    const std::string plan_command =
        "plan --model Qwen/Qwen3-8B --device h200_sxm --calibration none --engine vllm --requests 300 ";
    const json low_rate = simulated_json(plan_command + "--rate 5 --slo ttft=1s,tpot=30ms --slo-at 0.5");
    CHECK(low_rate["keeps"] == true);
    CHECK(low_rate["deployments"][0]["devices"] == 1);
    for (const std::string latency_metric : {"ttft", "tpot", "end_to_end"}) {
        CHECK(low_rate["deployments"][0][latency_metric + "_p50_seconds"] <=
              low_rate["deployments"][0][latency_metric + "_p90_seconds"]);
        CHECK(low_rate["deployments"][0][latency_metric + "_p95_seconds"] <=
              low_rate["deployments"][0][latency_metric + "_p99_seconds"]);
    }
    CHECK(low_rate["deployments"][0]["good_share"].get<double>() >= 0.99);
    CHECK(low_rate["deployments"][0]["command"].get<std::string>().starts_with(
        "vllm serve Qwen/Qwen3-8B --tensor-parallel-size 1"));
    // bounds hold at the end of what measured runs take, unless the middle is asked for
    const json sure = simulated_json(plan_command + "--rate 5 --slo ttft=9s,tpot=60ms");
    CHECK(sure["keeps"] == true);
    CHECK(sure["deployments"][0]["interval_stands_on"] == "the datasheet");
    CHECK(simulated_json(plan_command + "--rate 5 --slo ttft=9s,tpot=60ms --slo-at 0.5")["deployments"][0]["devices"]
              .get<double>() <= sure["deployments"][0]["devices"].get<double>());
    CHECK(low_rate["need_more_devices"].get<int>() > 0);
    CHECK(low_rate["candidates"] ==
          240);  // ten splits of eight devices, four budgets, three numbers of requests, two ways
    const json high_rate = simulated_json(plan_command + "--rate 100 --slo ttft=1s,tpot=30ms --slo-at 0.5");
    CHECK(high_rate["deployments"][0]["devices"].get<double>() > 1);
    CHECK(has(refused(plan_command + "--rate 5"), "--slo: required"));
    const outcome none = llmcost_line(plan_command + "--rate 5 --slo tpot=1us");
    CHECK(none.code == 8);
    CHECK(has(none.out, "No deployment meets the targets"));
}

TEST_CASE("a plan tries stages beside devices that share layers, and groups that share experts") {
    const auto splits = [](const std::string& line) {
        std::set<std::vector<int>> all;
        const json found =
            simulated_json("plan --device h200_sxm --calibration none --requests 50 --rate 1 --top 99 " + line);
        for (const json& d : found["deployments"])
            all.insert({d["tensor_parallel"].get<int>(), d["pipeline_parallel"].get<int>(),
                        d["data_parallel"].get<int>(), d["expert_parallel"].get<int>()});
        return all;
    };
    const std::string loose = " --slo ttft=90s,tpot=9s --no-separate --engine vllm --devices 4";
    CHECK(
        splits("--model Qwen/Qwen3-8B" + loose) ==
        std::set<std::vector<int>>{{1, 1, 1, 1}, {1, 2, 1, 1}, {1, 4, 1, 1}, {2, 1, 1, 1}, {2, 2, 1, 1}, {4, 1, 1, 1}});
    CHECK(splits("--model Qwen/Qwen3-8B --pp 3" + loose) == std::set<std::vector<int>>{{1, 3, 1, 1}});
    CHECK(splits("--model Qwen/Qwen3-30B-A3B --pp 1 --tp 2" + loose) ==
          std::set<std::vector<int>>{{2, 1, 1, 1}, {2, 1, 1, 2}, {2, 1, 2, 4}});
    CHECK(has(refused("plan --model Qwen/Qwen3-8B --device h200_sxm --pp 37 --devices 64" +
                      std::string(" --rate 1 --slo ttft=1s")),
              "--pp: expected at most 36 stages"));
}

// 810 GB of weights: sixteen devices of 80 GB in two nodes hold them, eight do not
TEST_CASE("a plan finds stages over nodes where one node is too small, and names each engine's options") {
    const std::string plan_command =
        "plan --model meta-llama/Llama-3.1-405B --device h100_sxm --devices 16 --calibration none --rate 0.2 "
        "--requests 50 "
        "--output 100 --slo ttft=9s,tpot=200ms --slo-at 0.5 --no-separate";
    const json found = simulated_json(plan_command);
    CHECK(found["keeps"] == true);
    CHECK(found["candidates"] == 3 * 14 * 4 * 3);
    std::set<std::string> commands;
    for (const json& d : found["deployments"]) {
        CHECK(d["devices"] == 16);
        CHECK(d["nodes_of_engine"] == 2);
        CHECK(d["pipeline_parallel"].get<int>() * d["tensor_parallel"].get<int>() == 16);
        if (d["pipeline_parallel"] == 2) commands.insert(d["command"].get<std::string>());
    }
    const std::string model = "meta-llama/Llama-3.1-405B";
    CHECK(commands ==
          std::set<std::string>{
              "vllm serve " + model +
                  " --tensor-parallel-size 8 --pipeline-parallel-size 2"
                  " --max-num-batched-tokens 8192 --max-num-seqs 1024",
              "python -m sglang.launch_server --model-path " + model +
                  " --tp 8 --pp-size 2 --chunked-prefill-size 8192 --max-running-requests 2048",
              "trtllm-serve " + model + " --tp_size 8 --pp_size 2 --max_num_tokens 8192 --max_batch_size 2048"});
    CHECK(has(printed(plan_command),
              "--pipeline-parallel-size 2 --max-num-batched-tokens 8192 --max-num-seqs 1024  (on 2 nodes)"));
    std::string eight = plan_command;
    eight.replace(eight.find("--devices 16"), 12, "--devices 8");
    const outcome none = llmcost_line(eight);
    CHECK(none.code == 8);
    CHECK(has(none.out, "No candidate has enough memory"));
}

TEST_CASE("a plan that nothing meets says what a single request can reach") {
    const std::string line =
        "plan --model Qwen/Qwen3-8B --device h200_sxm --calibration none --engine vllm --requests 20 --devices 2 "
        "--slo ";
    const outcome slow = llmcost_line(line + "ttft=1ms");
    CHECK(slow.code == 8);
    CHECK(has(slow.out, "No deployment meets the targets, not even for a single request"));
    CHECK(has(slow.out, "Lowest latency of a single request:\n  TTFT"));
    const json alone = json::parse(llmcost_line(line + "ttft=1ms --format json").out)["single_request"];
    const auto reachable = alone["ttft_lowest_at_quantile_seconds"].get<double>();
    CHECK(alone["ttft_lowest_seconds"].get<double>() < reachable);
    // the lowest value is a target that one client meets
    CHECK(llmcost_line(line + "ttft=" + std::to_string(1.001 * reachable) + "s --concurrency 1").code == 0);
}

TEST_CASE("a plan tries each type that is named, and says how an engine comes by it") {
    const std::string plan_command =
        "plan --model Qwen/Qwen3-8B --device h200_sxm --calibration none --requests 50 --rate 1 --slo "
        "ttft=9s,tpot=90ms "
        "--slo-at 0.5 --no-separate --tp 1 --pp 1 --top 12 ";
    const json found = simulated_json(plan_command + "--dtype bfloat16,fp8 --cache-dtype bfloat16,fp8");
    CHECK(found["candidates"] == 3 * 4 * 4 * 3);
    std::set<std::string> of_vllm;
    for (const json& d : found["deployments"]) {
        const std::string command = d["command"];
        const bool quantises = d["dtype"] == "fp8" && d["engine"] != "trtllm";
        CHECK(has(command, "--quantization fp8") == quantises);
        CHECK(has(command, d["engine"] == "trtllm" ? "--kv_cache_dtype fp8" : "--kv-cache-dtype fp8") ==
              (d["cache_dtype"] == "fp8"));
        if (d["engine"] == "vllm")
            of_vllm.insert(d["dtype"].get<std::string>() + ' ' + d["cache_dtype"].get<std::string>());
    }
    CHECK(of_vllm == std::set<std::string>{"bfloat16 bfloat16", "bfloat16 fp8", "fp8 bfloat16", "fp8 fp8"});
    const std::string page = printed(plan_command + "--engine trtllm --dtype bfloat16,fp8");
    CHECK(has(page, "weights, KV cache"));
    CHECK(has(page, "--kv_cache_dtype fp8  (needs a checkpoint in fp8)"));
    CHECK_FALSE(has(printed(plan_command), "weights, KV cache"));
    CHECK(has(refused(plan_command + "--dtype fp8,fp9"), "--dtype"));
    CHECK(has(refused(plan_command + "--dtype fp8,"), "--dtype"));
}
