// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <llmcost/serving/engines.hpp>
#include <llmcost/serving/prediction_intervals.hpp>

using namespace llmcost::testing;
using nlohmann::json;

namespace {

const std::string llama_70b =
    "serve --model meta-llama/Llama-3.1-70B --device h200_sxm --engine vllm --dtype fp8 --tp 4" + measured;

}  // namespace

TEST_CASE("a server's figures fit each other") {
    const json j = json_of(llama_70b + " --concurrency 32 --input 1000 --output 500 --price 2.5 --carbon 400");
    const double tokens = j["tokens_per_second"], tpot = j["tpot_seconds"];
    CHECK(tokens == doctest::Approx(32 * 500 / (j["ttft_seconds"].get<double>() + 499 * tpot)));
    CHECK(j["tokens_per_second_per_device"].get<double>() == doctest::Approx(tokens / 4));
    CHECK(j["requests_per_second"].get<double>() == doctest::Approx(tokens / 500));
    CHECK(j["ttft_seconds"].get<double>() > j["ttft_unloaded_seconds"].get<double>());
    CHECK(j["price_per_million_tokens"].get<double>() == doctest::Approx(1e6 / tokens / 3600 * 2.5 * 4));
    CHECK(j["grams_co2_per_million_tokens"].get<double>() ==
          doctest::Approx(1e6 * j["joules_per_token"].get<double>() / 3.6e6 * 400));
    CHECK(j["devices"] == 4);
}

TEST_CASE("a server is told in words, and as a sweep") {
    const std::string text = printed(llama_70b + " --concurrency 32 --price 2");
    CHECK(
        text.starts_with("meta-llama/Llama-3.1-70B, 4 x H200 SXM (tp 4), vLLM, weights fp8, KV cache fp8\n"
                         "1,024 input tokens, 1,024 output tokens, concurrency 32\n\n  TTFT "));
    CHECK(text.find("per million output tokens\n") != std::string::npos);
    const json sweep = json_of(llama_70b + " --sweep")["sweep"];
    CHECK(sweep.size() > 8);
    for (std::size_t i = 1; i < sweep.size(); ++i) {
        CHECK(sweep[i]["concurrency"].get<double>() > sweep[i - 1]["concurrency"].get<double>());
        CHECK(sweep[i]["tpot_seconds"].get<double>() >= sweep[i - 1]["tpot_seconds"].get<double>());
    }
    CHECK(sweep.back()["concurrency"].get<double>() == std::floor(sweep.back()["capacity"].get<double>()));
    CHECK(
        has(printed(llama_70b + " --sweep"), "concurrency        TTFT        TPOT   tokens/s  per device   J/token\n"));
}

TEST_CASE("a sweep has the money and the carbon of the single answer") {
    const std::string priced = llama_70b + " --price 2 --carbon 400";
    const std::string sweep = printed(priced + " --sweep"), one = printed(priced + " --concurrency 1");
    CHECK(has(sweep, "   J/token  price/million  g CO2/million\n"));
    const std::size_t position = one.find("price");
    REQUIRE(position != std::string::npos);
    std::istringstream money(one.substr(position)), row(sweep.substr(sweep.find("\n          1 ")));
    std::string text, figure;
    money >> text >> figure;
    std::vector<std::string> cells;
    for (std::string line; cells.empty() && std::getline(row, line);) {
        std::istringstream text(line);
        for (std::string cell; text >> cell;) cells.push_back(cell);
    }
    REQUIRE(cells.size() == 10);  // two of them are units
    CHECK(cells[8] == figure);
    const json j = json_of(priced + " --sweep")["sweep"][0], single_run = json_of(priced + " --concurrency 1");
    for (const char* name : {"price_per_million_tokens", "grams_co2_per_million_tokens"})
        CHECK(j[name].get<double>() == single_run[name].get<double>());
    CHECK(!json_of(llama_70b + " --sweep")["sweep"][0].contains("price_per_million_tokens"));
}

TEST_CASE("a level of service holds at the end of the interval, or where it is told to") {
    const json j = json_of(llama_70b + " --slo ttft=0.5s,tpot=20ms"),
               middle = json_of(llama_70b + " --slo ttft=0.5s,tpot=20ms --slo-at 0.5");
    const int maximum = j["concurrency"].get<int>();
    CHECK(j["tpot_upper_seconds"].get<double>() <= 0.02);
    CHECK(j["ttft_upper_seconds"].get<double>() <= 0.5);
    const json above_limit = json_of(llama_70b + " --concurrency " + std::to_string(maximum + 1));
    CHECK((above_limit["tpot_upper_seconds"].get<double>() > 0.02 ||
           above_limit["ttft_upper_seconds"].get<double>() > 0.5));
    CHECK(middle["concurrency"].get<int>() > maximum);
    const json intermediate = json_of(llama_70b + " --slo ttft=0.5s,tpot=20ms --slo-at 0.8");
    CHECK(intermediate["concurrency"].get<int>() >= maximum);
    CHECK(intermediate["concurrency"].get<int>() <= middle["concurrency"].get<int>());
    CHECK(has(refused("serve --model meta-llama/Llama-3.1-70B --device h200 --tp 4 --slo tpot=20ms --slo-at 0.9"),
              "--slo-at: requires --engine: only engines have a prediction interval"));
    CHECK(has(refused(llama_70b + " --slo-at 0.9"), "--slo-at: requires --slo"));
    CHECK(has(refused(llama_70b + " --slo tpot=20ms --slo-at 1"), "expected a number from 0.05 to 0.95"));
}

TEST_CASE("an answer says that it is in closed form, and a simulation that it is one") {
    CHECK(json_of(llama_70b)["method"] == "closed form");
    CHECK(has(printed(llama_70b), "Method: closed form, mean of a steady load"));
    CHECK(has(printed(llama_70b + " --sweep"), "Method: closed form"));
}

TEST_CASE("a level of service gives the most requests that keep to it") {
    const json j = json_of(llama_70b + " --slo ttft=0.5s,tpot=20ms --slo-at 0.5");
    const int maximum = j["concurrency"].get<int>();
    CHECK(j["tpot_seconds"].get<double>() <= 0.02);
    CHECK(j["ttft_seconds"].get<double>() <= 0.5);
    const json above_limit = json_of(llama_70b + " --concurrency " + std::to_string(maximum + 1));
    CHECK((above_limit["tpot_seconds"].get<double>() > 0.02 || above_limit["ttft_seconds"].get<double>() > 0.5));
    CHECK(refused(llama_70b + " --slo tpot=1ms")
              .find("--slo: no concurrency meets the targets; a single request has TTFT ") != std::string::npos);
    CHECK(refused(llama_70b + " --slo ttft=0.5s,ttft=1s") == "llmcost: --slo: ttft is given twice\n");
    CHECK(refused(llama_70b + " --slo tpot=9ms,ttft=1s,tpot=9ms") == "llmcost: --slo: tpot is given twice\n");
    for (const char* bad : {"tpot", "tpot=30", "itl=3ms", "tpot=fast", "=", "tpot=30ms,"})
        CHECK(refused(llama_70b + " --slo " + bad).find("--slo: expected ") != std::string::npos);
    CHECK(refused(llama_70b + " --slo=").find("--slo: requires a value") != std::string::npos);
}

TEST_CASE("an engine's times have the interval of its measured runs, kernels alone have none") {
    using llmcost::serving_evidence;
    const std::string line = "serve --model meta-llama/Llama-3.1-70B --tp 4 --engine vllm --device ";
    const auto check_evidence = [&](const std::string& device, serving_evidence evidence) {
        const json j = json_of(line + device);
        const llmcost::prediction_interval i = llmcost::prediction_interval_of("vllm", evidence);
        CHECK(j["interval_stands_on"] == llmcost::description_of(evidence));
        CHECK(j["ttft_lower_seconds"].get<double>() ==
              doctest::Approx(j["ttft_seconds"].get<double>() * std::exp2(i.ttft.low)));
        CHECK(j["tpot_upper_seconds"].get<double>() ==
              doctest::Approx(j["tpot_seconds"].get<double>() * std::exp2(i.tpot.high)));
    };
    check_evidence("h200" + measured, serving_evidence::measured_runs);
    check_evidence("h200 --calibration none", serving_evidence::datasheet);
    check_evidence("mi300x" + measured, serving_evidence::datasheet);
    check_evidence("h100 --dp 4 --network ib_ndr" + measured, serving_evidence::datasheet);
    CHECK(!json_of("serve --model meta-llama/Llama-3.1-70B --device h200 --tp 4").contains("ttft_lower_seconds"));
}

TEST_CASE("requests at a rate, cached prefixes, chunks, proposed tokens and stages are understood") {
    const json plain = json_of(llama_70b + " --concurrency 8");
    CHECK(json_of(llama_70b + " --rate 1")["concurrency"].get<double>() > 1);
    const std::string too_fast = refused(llama_70b + " --rate 1000"),
                      limit_text = "exceeds the capacity of the server, ";
    REQUIRE(has(too_fast, limit_text));
    const std::string highest =
        too_fast.substr(too_fast.find(limit_text) + limit_text.size(),
                        too_fast.find(" requests per second\n") - too_fast.find(limit_text) - limit_text.size());
    CHECK(json_of(llama_70b + " --rate " + highest)["requests_per_second"].get<double>() ==
          doctest::Approx(std::stod(highest)).epsilon(0.01));
    CHECK(has(refused(llama_70b + " --rate " + std::to_string(1.001 * std::stod(highest))), limit_text + highest));
    CHECK(json_of(llama_70b + " --concurrency 8 --prefix-hit 0.9")["ttft_unloaded_seconds"] <
          plain["ttft_unloaded_seconds"]);
    CHECK(json_of(llama_70b + " --concurrency 8 --chunk 128")["ttft_unloaded_seconds"] >
          plain["ttft_unloaded_seconds"]);
    CHECK(json_of(llama_70b + " --concurrency 8 --draft 3 --acceptance 0.9")["tpot_seconds"] < plain["tpot_seconds"]);
    CHECK(refused(llama_70b + " --acceptance 0.9") == "llmcost: --acceptance: requires --draft\n");
    CHECK(json_of(llama_70b + " --concurrency 8 --batch-wait 20")["ttft_seconds"].get<double>() >
          plain["ttft_seconds"].get<double>() + 19 * plain["tpot_seconds"].get<double>());
    const json stages = json_of(llama_70b + " --concurrency 8 --pp 2");
    CHECK(stages["devices"] == 8);
    CHECK(stages["weight_bytes_per_device"].get<double>() == plain["weight_bytes_per_device"].get<double>() / 2);
}

TEST_CASE("what nobody measured on a device is said") {
    const std::string line = "serve --model meta-llama/Llama-3.1-8B --device ", none = "Not measured: all kernels (";
    const std::string map =
        "Not measured on this device: elementwise bfloat16 (estimated from another device or the datasheet)\n";
    CHECK(has(printed(line + "gaudi3"), '\n' + none));
    CHECK(has(printed(line + "gaudi3 --sweep"), '\n' + none));
    CHECK(has(printed(line + "h200 --calibration none"), none));
    CHECK(has(printed(line + "h200 --calibration " LLMCOST_TEST_DIR
                             "/../configs/calibrations/l40s/gemm/trtllm-1.3.0rc20/fp8.json"),
              none));
    CHECK(has(printed(line + "h200 --engine vllm" + measured), '\n' + map));
    CHECK(json_of(line + "h200 --engine vllm" + measured)["not_measured"] == json{"elementwise bfloat16 map"});
    CHECK(json_of(line + "gaudi3 --sweep")["not_measured"].size() == 4);
    const std::string borrowed = line + "b200 --engine trtllm" + measured;
    CHECK(has(json_of(borrowed)["not_measured"].dump(), "\"generation_attention bfloat16\""));
    CHECK(has(printed("latency --training --model meta-llama/Llama-3.1-8B --device gaudi3", {}, 8), '\n' + none));

    const std::string row =
        "model_path,system,isl,osl,batch_size,tp_size\nmeta-llama/Llama-3.1-70B,gaudi3,100,100,1,8\n";
    const outcome rows = llmcost_line("serve --configs " LLMCOST_TEST_DIR "/fit/serving" + measured, {.in = row});
    CHECK(rows.code == 0);
    CHECK(rows.err == "llmcost: warning: system: no measurements on gaudi3; using its datasheet (see --calibration)\n");
}

TEST_CASE("a rate is answered as it was asked for, and nobody waits where all are served") {
    const std::string slow = llama_70b + " --rate 1 --input 1000 --output 200";
    CHECK(json_of(slow)["requests_per_second"].get<double>() == doctest::Approx(1).epsilon(0.01));
    CHECK(printed(slow).find("waiting requests") == std::string::npos);
}

TEST_CASE("whoever spreads a model over nodes says what joins them") {
    const std::string multi_node = " --model meta-llama/Llama-3.1-405B --device h100 --tp 16 --calibration none";
    for (const char* command : {"serve", "latency", "simulate --engine vllm"}) {
        CHECK(has(refused(command + multi_node),
                  "--network: required: 16 devices span 2 nodes of 8 (H100 SXM); expected GB/s"));
        CHECK(has(printed(command + multi_node + " --network ib_ndr"), "50 GB/s per device between 2 nodes of 8"));
        CHECK(has(refused(command + multi_node + " --network fast"),
                  "--network: expected GB/s per device or a network name"));
    }
    const auto seconds = [&](const std::string& network) {
        return json_of("latency" + multi_node + " --batch 64 --past 1000 --network " + network)["seconds"]
            .get<double>();
    };
    CHECK(seconds("ib_ndr") == seconds("50"));
    CHECK(seconds("50") < seconds("12.5"));
    CHECK(seconds("12.5") < seconds("1"));
    CHECK(!has(printed("latency --model meta-llama/Llama-3.1-405B --device h100 --tp 8", {}, 8), "network"));
    const std::string row =
        "model_path,system,isl,osl,batch_size,tp_size\nmeta-llama/Llama-3.1-70B,h100,100,100,1,16\n";
    const std::string rows = "serve --calibration none --configs " LLMCOST_TEST_DIR "/fit/serving";
    CHECK(has(refused_row(rows, {.in = row}), "line 2: --network: required"));
    CHECK(llmcost_line(rows + " --network roce_400", {.in = row}).code == 0);
    // a rack of GB200 is one node of 72
    CHECK(!has(printed("latency --model meta-llama/Llama-3.1-405B --device gb200 --tp 16 --calibration none"),
               "network"));
}

// ai-dynamo/aiconfigurator @095f58a5, systems/silicon_sample.csv: the run of 256 requests on two devices is there with
// the columns of both rows, and with equal times. 1,024 requests on eight devices are 128 for each.
TEST_CASE("a run whose id contradicts its columns has the devices of its id") {
    const std::string line = "serve --configs " LLMCOST_TEST_DIR "/fit/serving" + measured;
    const std::string head =
        "id,model_path,system,backend,isl,osl,batch_size,tp_size,attention_dp_size,moe_tp_size,moe_ep_size\n";
    const auto predicted = [&](const std::string& id, const std::string& columns) {
        const outcome got =
            llmcost_line(line, {.in = head + id + ",openai/gpt-oss-120b,b200_sxm,trtllm,1024,1024," + columns + '\n'});
        CHECK(got.code == 0);
        return std::pair{got.out.substr(got.out.rfind(columns) + columns.size()), has(got.err, "warning: id: ")};
    };
    const auto of_columns = predicted("2026_03_25_gpt_oss_120b_b200_sxm_trtllm_c256_tp2_0_ep2_0_1009", "128,1,2,1,2");
    const auto of_id = predicted("2026_04_06_gpt_oss_120b_b200_sxm_trtllm_c256_tp2_ep2_1741", "64,1,4,2,2");
    CHECK(!of_columns.second);
    CHECK(of_id.second);
    CHECK(of_id.first == of_columns.first);
    CHECK(predicted("2026_04_06_x_c64_tp8_ep8_1", "64,64,1,8,8").first == predicted("x_c64", "64,8,1,1,8").first);
    CHECK(predicted("2026_04_06_x_c64_tp8_ep4_1", "64,32,1,8,4").first == predicted("x_c64", "64,8,1,2,4").first);
    CHECK(predicted("dsr1_b200_trtllm_fp4_c1024_cfg192", "16,1,64,8,8").first ==
          predicted("x_c1024", "128,1,8,1,8").first);
    CHECK(predicted("x_c192_tp4_1", "48,4,1,4,1").first == predicted("x_c192", "48,1,4,4,1").first);
    CHECK(!predicted("x_c64_tp4_ep4_1", "64,4,1,1,4").second);
    // two devices for each expert: columns and id agree
    CHECK(!predicted("2026_04_06_x_c64_tp4_ep2_1", "64,4,1,2,2").second);
}

TEST_CASE("a device without a size of memory is told from one that is too small") {
    const std::string expected_error =
        ": the datasheet has no memory size, which is required for the number of requests\n";
    for (const std::string device : {"apple_m1", "epyc_9654"})
        CHECK(refused("serve --model meta-llama/Llama-3.2-1B --dtype float32 --device " + device) ==
              "llmcost: " + device + expected_error);
    CHECK(refused_row("serve --configs " LLMCOST_TEST_DIR "/fit/serving",
                      {.in = "model_path,system,isl,osl,batch_size\nmeta-llama/Llama-3.1-70B,apple_m1,10,10,1\n"}) ==
          "llmcost: line 2: apple_m1" + expected_error);
}

// 70,553,706,496 parameters in 16 bits, 2 · 80 · 8 · 128 cached elements for each of 2,048 tokens
TEST_CASE("what does not fit a device is refused, and in a table left open") {
    const std::string expected_error =
        "out of memory: weights 141.1 GB and KV cache of one request 0.671 GB per device, capacity 85 GB; "
        "increase --tp or --pp, or use a smaller --dtype\n";
    CHECK(refused("serve --model meta-llama/Llama-3.1-70B --device h100", {}, 8) ==
          "llmcost: h100_sxm: " + expected_error);
    const std::string row = "meta-llama/Llama-3.1-70B,h100_sxm,1024,1024,1,";
    const std::string line = "serve --configs " LLMCOST_TEST_DIR "/fit/serving" + measured;
    const std::string head = "model_path,system,isl,osl,batch_size,tp_size\n";
    const outcome got = llmcost_line(line, {.in = head + row + "1\n" + row + "4\n"});
    CHECK(got.code == 0);
    CHECK(got.err == "llmcost: warning: line 2: h100_sxm: " + expected_error);
    CHECK(has(got.out, '\n' + row + "1,,,\"h100_sxm: " + expected_error.substr(0, expected_error.size() - 1) + "\"\n" +
                           row + "4,"));
    CHECK(got.out.back() == '\n');
}

// 671 billion parameters in 8 bits are 88 % of four B200: TensorRT-LLM takes 0.9 of what they leave. 215.8 ms and
// 17.10 ms were measured with 16 requests (ai-dynamo/aiconfigurator @095f58a5, systems/silicon_sample.csv).
TEST_CASE("a model that fills its devices has a cache if the engine takes a share of the rest") {
    const std::string line =
        "serve --model deepseek-ai/DeepSeek-V3 --device b200 --tp 4 --engine trtllm --concurrency 16" + measured;
    const json j = json_of(line);
    CHECK(j["ttft_seconds"].get<double>() == doctest::Approx(0.2158).epsilon(0.15));
    CHECK(j["tpot_seconds"].get<double>() == doctest::Approx(0.0171).epsilon(0.15));
    // 32.8 GB of weights are 0.96 of a card, of which vLLM takes 0.92
    const std::string full =
        "serve --model Qwen/Qwen3-32B --device rtx_5090 --tp 2 --engine vllm --input 512 --output 128";
    CHECK(has(refused(full, {}, 8), "rtx_5090: out of memory: weights 32.8 GB and KV cache of one request 0.0839 GB"));
    CHECK(has(printed(line), "in 0.9 of what is left by weights,\n"));
}

// ai-dynamo/aiconfigurator @095f58a5, systems/silicon_sample.csv, dsr1_b200_sglang_fp8_agg_8192x1024_c8_cfg271:
// 15.26 ms. Its recipe has --mem-fraction-static 0.95 (SemiAnalysisAI/InferenceX, benchmarks/dsr1_fp8_b200.sh).
TEST_CASE("a run that does not fit by default had a larger memory fraction") {
    const std::string line = "serve --configs " LLMCOST_TEST_DIR "/fit/serving" + measured;
    const std::string head = "model_path,system,backend,isl,osl,batch_size,tp_size\n";
    const std::string row = "deepseek-ai/DeepSeek-V3,b200_sxm,sglang,8192,1024,8,4";
    const auto predicted_tpot = [&](const std::string& text) {
        const std::string fields = text.substr(text.rfind(row) + row.size() + 1);
        return std::stod(fields.substr(fields.find(',') + 1));
    };
    const outcome got = llmcost_line(line, {.in = head + row + '\n'});
    CHECK(got.code == 0);
    CHECK(predicted_tpot(got.out) == doctest::Approx(15.26).epsilon(0.15));
    CHECK(has(got.err, "llmcost: warning: 1 rows do not fit with the default fraction of the memory; using 0.95"));
    const std::string command =
        "serve --model deepseek-ai/DeepSeek-V3 --device b200 --tp 4 --engine sglang --calibration none --input 8192"
        " --concurrency 8";
    CHECK(refused(command, {}, 8).ends_with("or use a smaller --dtype or --memory-share 0.95\n"));
    const outcome uncalibrated =
        llmcost_line("serve --calibration none --configs " LLMCOST_TEST_DIR "/fit/serving", {.in = head + row + '\n'});
    CHECK(1e3 * json_of(command + " --memory-share 0.95")["tpot_seconds"].get<double>() ==
          doctest::Approx(predicted_tpot(uncalibrated.out)).epsilon(1e-4));
    // later rows of the same deployment have the default again, whose KV cache is too small for 64 requests
    const std::string long_row = "meta-llama/Llama-3.1-70B,h100,vllm,25000,1000,1,2\n",
                      short_row = "meta-llama/Llama-3.1-70B,h100,vllm,10000,1000,64,2\n";
    const outcome two_rows = llmcost_line(line, {.in = head + long_row + short_row}),
                  alone = llmcost_line(line, {.in = head + short_row});
    CHECK(has(two_rows.err, "1 rows do not fit with the default"));
    CHECK(two_rows.out.substr(two_rows.out.rfind("meta-llama")) == alone.out.substr(alone.out.rfind("meta-llama")));
    CHECK(!has(alone.err, "default fraction"));
}

TEST_CASE("a table needs no files of bundled models, and no types of the checkpoint if rows have them") {
    const std::filesystem::path folder = std::filesystem::temp_directory_path() / "llmcost_serve_table";
    std::filesystem::create_directories(folder);
    const std::string head = "model_path,system,isl,osl,batch_size,gemm_quant_mode\n",
                      row = "qwen/qwen3-8b,h200,99,9,1,";
    const std::string line = "serve --calibration none --configs ", in_folder = line + folder.string();
    const outcome bundled = llmcost_line(in_folder, {.in = head + row + "fp8\n"});
    CHECK(bundled.code == 0);
    CHECK(has(bundled.out, row + "fp8,"));
    CHECK(has(refused_row(in_folder, {.in = head + "x/y,h200,99,9,1,\n"}), "x__y.json: cannot be opened"));

    // vllm/model_executor/layers/quantization/quark: a method without a reader
    std::ofstream(folder / "x__y.json")
        << R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,)"
           R"( "intermediate_size": 128, "vocab_size": 1000, "quantization_config": {"quant_method": "quark"}})";
    CHECK(has(refused_row(in_folder, {.in = head + "x/y,h200,99,9,1,\n"}),
              "unsupported method (expected fp8, modelopt, compressed-tensors with config_groups, mxfp4, awq or gptq): "
              "\"quark\"; use gemm_quant_mode"));
    CHECK(llmcost_line(in_folder, {.in = head + "x/y,h200,99,9,1,fp8\n"}).code == 0);
    std::filesystem::remove_all(folder);
}

// vllm/model_executor/layers/fused_moe/unquantized_fused_moe_method.py, `_maybe_pad_weight`: on ROCm, vLLM pads experts
// of 16 bits. 115 GB of experts in 8 bits leave 0.92 of a device (VLLM_ROCM_MOE_PADDING).
TEST_CASE("experts have the memory of their type, whether it is that of the checkpoint or of an option") {
    const std::string line =
        "serve --model MiniMaxAI/MiniMax-M2.1 --device mi300x --tp 2 --engine vllm --calibration none";
    const json stored = json_of(line), requested = json_of(line + " --dtype fp8_block");
    CHECK(requested["capacity"].get<double>() == doctest::Approx(stored["capacity"].get<double>()).epsilon(0.01));
    const double used = stored["weight_bytes_per_device"].get<double>() +
                        stored["capacity"].get<double>() * 62 * 2 * 4 * 128 * 2.0 * (1024 + 512);
    CHECK(used < 0.92 * 206.1e9);
    CHECK(used > 0.85 * 206.1e9);
}

TEST_CASE("a table has the names of engines of InferenceX, and says which columns contradict each other") {
    const std::string line = "serve --calibration none --configs " LLMCOST_TEST_DIR "/fit/serving";
    const std::string head =
        "model_path,system,isl,osl,batch_size,backend,tp_size,attention_dp_size,moe_tp_size,moe_ep_size\n";
    const auto predicted = [&](const std::string& backend) {
        const std::string columns = ",100,100,1," + backend + ",1,1,1,1";
        const outcome got = llmcost_line(line, {.in = head + "openai/gpt-oss-120b,b200" + columns + '\n'});
        CHECK(got.code == 0);
        return got.out.substr(got.out.rfind(columns) + columns.size());
    };
    for (const char* name : {"trt", "dynamo-trt", "tensorrt_llm"}) CHECK(predicted(name) == predicted("trtllm"));
    CHECK(predicted("dynamo-sglang") == predicted("sglang"));
    CHECK(
        has(refused_row(line, {.in = head + "openai/gpt-oss-120b,b200,100,100,1,vllm,8,1,1,4\n"}),
            "line 2: moe_ep_size: experts on 4 devices (moe_tp_size times moe_ep_size), attention on 8 (tp_size times "
            "attention_dp_size)"));
}

TEST_CASE("a server that cannot be is refused") {
    for (const char* model : {"google-bert/bert-base-uncased", "google-t5/t5-small", "google/vit-base-patch16-224"})
        CHECK(refused("serve --device h100 --model " + std::string(model))
                  .find("supports decoder-only models with a KV cache") != std::string::npos);
    CHECK(refused("serve --device h100 --model openai-community/gpt2")
              .find("requires 2048 positions and the model has 1024 (--input, --output)\n") != std::string::npos);
    CHECK(refused(llama_70b + " --input 2000000000 --output 2000000000").find("exceed 2147483647 in total") !=
          std::string::npos);
    CHECK(refused(llama_70b + " --input 2000000 --chunk 1").find("at most 4,096 chunks") != std::string::npos);
    CHECK(refused(llama_70b + " --pp 81") == "llmcost: --pp: expected at most 80 stages, one per layer; found 81\n");
    CHECK(json_of(llama_70b + " --pp 80")["devices"] == 320);
    CHECK(refused(llama_70b + " --ep 2") == "llmcost: --ep: not supported: this model has no routed experts\n");
    CHECK(refused(llama_70b + " --sweep --rate 2").find("use only one of") != std::string::npos);
    CHECK(refused(llama_70b + " --prefix-hit 2").find("expected a number from 0 to 1") != std::string::npos);
    CHECK(refused(llama_70b + " --batch 2")
              .ends_with("; --batch is an option of llmcost compare, memory, train, fit, check, graph, latency, plan, "
                         "sweep, ops, "
                         "levels, report, why and "
                         "llmcost without a command\n"));
    const std::string help = printed("serve --help");
    CHECK(help.find("--prefix-hit X") != std::string::npos);
    CHECK(help.find("--format FORMAT  ") != std::string::npos);
    CHECK(refused(llama_70b + " --format xml").find("expected one of text, json, csv") != std::string::npos);
}

TEST_CASE("all devices of a server are counted, and its room by group and in all") {
    const std::string command_line = "serve --model meta-llama/Llama-3.2-1B --input 1000 --output 100 --device ";
    CHECK(llmcost_line(command_line + "h100 --pp 4 --tp 2")
              .out.starts_with("meta-llama/Llama-3.2-1B, 8 x H100 SXM (tp 2, pp 4), "));
    CHECK(has(llmcost_line(command_line + "h100 --dp 2").out,
              "KV cache for 2,395 requests in each of 2 data-parallel ranks, 4,790 in total\n"));
    // 79.11 GiB less 2,471,628,800 bytes of weights and 65,792 bytes of activations per token hold 295.8 and 591.7
    // requests of 8,450 tokens, 32,768 bytes each. Activations: three vectors of 8,192 and four of 2,048 in 16 bits,
    // and 256 bytes of token ids and positions.
    const std::string full =
        llmcost_line(
            "serve --model meta-llama/Llama-3.2-1B --device h100 --input 8400 --output 100 --dp 2 --concurrency 600")
            .out;
    CHECK(has(full, "KV cache for 296 requests in each of 2 data-parallel ranks, 592 in total\n"));
    CHECK(has(full, "each of 8,450 tokens (input, half of the output), in 1 of memory without weights,\n"));
    CHECK(has(printed("serve --model meta-llama/Llama-3.2-1B --device h100 --engine vllm"), ", in 0.92 of memory"));
    CHECK(has(full, "activations of a step (530 MiB) and the engine\n"));
    CHECK(has(printed("serve --model meta-llama/Llama-3.2-1B --device h100 --engine vllm"),
              "activations of the profile run ("));
    CHECK(has(full, "8 waiting requests, 592 running\n"));
    CHECK(json_of("serve --model meta-llama/Llama-3.2-1B --device h100 --input 8400 --output 100 --dp 2")["groups"] ==
          2);
}
