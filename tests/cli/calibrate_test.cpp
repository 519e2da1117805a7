// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <llmcost/files/benchmark_results.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

using namespace llmcost;
using namespace llmcost::testing;
using nlohmann::json;

namespace {

/// A folder that is removed with the object.
class result_folder {
public:
    result_folder() : root_(std::filesystem::temp_directory_path() / "llmcost_calibrate_test") {
        std::filesystem::remove_all(root_);
        std::filesystem::create_directories(root_);
    }
    ~result_folder() { std::filesystem::remove_all(root_); }
    result_folder(const result_folder&) = delete;
    result_folder& operator=(const result_folder&) = delete;

    std::string write(const std::string& name, const std::string& text) const {
        const auto path = root_ / name;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path) << text;
        return path.string();
    }
    std::string path(const std::string& name) const { return (root_ / name).string(); }

private:
    std::filesystem::path root_;
};

/// The message of an error while a file is read.
std::string problem_of_file(const std::string& path) {
    try {
        (void)read_benchmark_results(path);
    } catch (const error& e) {
        return e.what();
    }
    return {};
}

// members as vllm @1a91bc2d writes them (benchmarks/serve.py)
const std::string vllm_serve = R"({"date": "20260101-000000", "endpoint_type": "vllm", "backend": "vllm", "label": null,
    "model_id": "meta-llama/Llama-3.2-1B", "tokenizer_id": "meta-llama/Llama-3.2-1B", "num_prompts": 160,
    "request_rate": "inf", "burstiness": 1.0, "max_concurrency": 16, "duration": 20.0, "completed": 160,
    "total_input_tokens": 163840, "total_output_tokens": 20480, "request_throughput": 8.0, "output_throughput": 1024.0,
    "total_token_throughput": 9216.0, "mean_ttft_ms": 100.0, "median_ttft_ms": 90.0, "std_ttft_ms": 20.0,
    "p99_ttft_ms": 300.0, "mean_tpot_ms": 15.0, "median_tpot_ms": 14.5, "std_tpot_ms": 1.0, "p99_tpot_ms": 20.0,
    "mean_itl_ms": 15.1, "median_itl_ms": 14.0, "std_itl_ms": 5.0, "p99_itl_ms": 60.0})";

const std::string base = "calibrate --engine vllm --device h100 " + llama + measured;

}  // namespace

TEST_CASE("results of vllm bench serve") {
    const result_folder folder;
    const auto all = read_benchmark_results(folder.write("serve.json", vllm_serve));
    REQUIRE(all.size() == 1);
    const benchmark_result& r = all.front();
    CHECK(r.format == "vllm bench serve");
    CHECK(r.model == "meta-llama/Llama-3.2-1B");
    CHECK(r.input_tokens == 1024);
    CHECK(r.output_tokens == 128);
    CHECK(r.concurrency == 16);
    CHECK(r.request_rate == 0);
    CHECK(r.num_requests == 160);
    CHECK(r.ttft.mean == doctest::Approx(0.1));
    CHECK(r.ttft.p99 == doctest::Approx(0.3));
    CHECK(r.tpot.mean == doctest::Approx(0.015));
    CHECK(r.tpot.median == doctest::Approx(0.0145));
    CHECK(r.tokens_per_second == 1024);
    CHECK_FALSE(r.is_static_batch);
}

// 8 requests per second of 0.1 + 127 * 0.015 s: 16.04 in the system, by Little's law
TEST_CASE("requests at a rate are as many as Little's law says; all at once are all") {
    const result_folder folder;
    std::string paced = vllm_serve, unlimited = vllm_serve;
    paced.replace(paced.find("\"inf\""), 5, "8.0");
    paced.replace(paced.find("\"max_concurrency\": 16"), 21, "\"max_concurrency\": null");
    const benchmark_result r = read_benchmark_results(folder.write("rate.json", paced)).front();
    CHECK(r.request_rate == 8);
    CHECK(r.concurrency == doctest::Approx(8 * (0.1 + 127 * 0.015)));
    unlimited.replace(unlimited.find("\"max_concurrency\": 16"), 21, "\"max_concurrency\": null");
    CHECK(read_benchmark_results(folder.write("all.json", unlimited)).front().concurrency == 160);
}

// members as sglang @fe867456 writes them (bench_serving.py), a line for each run
TEST_CASE("results of SGLang bench_serving") {
    const result_folder folder;
    const std::string line =
        R"({"backend": "sglang", "dataset_name": "random", "request_rate": Infinity, "max_concurrency": 8, "sharegpt_output_len": null, "random_input_len": 1000, "random_output_len": 100, "random_range_ratio": 1.0, "duration": 10.0, "completed": 80, "total_input_tokens": 80000, "total_output_tokens": 8000, "total_output_tokens_retokenized": 7990, "request_throughput": 8.0, "input_throughput": 8000.0, "output_throughput": 800.0, "mean_e2e_latency_ms": 1000.0, "median_e2e_latency_ms": 990.0, "mean_ttft_ms": 50.0, "median_ttft_ms": 45.0, "std_ttft_ms": 1.0, "p99_ttft_ms": 80.0, "mean_tpot_ms": 9.5, "median_tpot_ms": 9.4, "std_tpot_ms": 0.1, "p99_tpot_ms": 11.0, "mean_itl_ms": 9.5, "concurrency": 7.9})";
    const auto all = read_benchmark_results(folder.write("sglang.jsonl", line + '\n' + line + '\n'));
    REQUIRE(all.size() == 2);
    CHECK(all[1].format == "SGLang bench_serving");
    CHECK(all[1].location.ends_with("sglang.jsonl: line 2"));
    CHECK(all[1].input_tokens == 1000);
    CHECK(all[1].concurrency == 8);
    CHECK(all[1].tpot.mean == doctest::Approx(0.0095));
}

// members as sglang @fe867456 writes them (bench_one_batch.py)
TEST_CASE("results of SGLang bench_one_batch") {
    const result_folder folder;
    const std::string line =
        R"({"run_name": "default", "batch_size": 16, "input_len": 1024, "output_len": 32, "prefill_latency": 0.2, "prefill_throughput": 81920.0, "median_decode_latency": 0.008, "median_decode_throughput": 2000.0, "total_latency": 0.45, "overall_throughput": 37546.0})";
    const auto all = read_benchmark_results(folder.write("batch.jsonl", line + '\n'));
    REQUIRE(all.size() == 1);
    CHECK(all[0].format == "SGLang bench_one_batch");
    CHECK(all[0].is_static_batch);
    CHECK(all[0].concurrency == 16);
    CHECK(all[0].ttft.mean == 0.2);
    CHECK(all[0].tpot.mean == 0.008);
}

// members as vllm @1a91bc2d writes them (benchmarks/latency.py, throughput.py): neither has lengths
TEST_CASE("results of vllm bench latency and throughput take lengths from options") {
    const result_folder folder;
    const std::string latency = folder.write(
        "latency.json", R"({"avg_latency": 1.5, "latencies": [1.4, 1.6], "percentiles": {"10": 1.4, "99": 1.6}})");
    const std::string throughput = folder.write(
        "throughput.json",
        R"({"elapsed_time": 10.0, "num_requests": 100, "total_num_tokens": 115200, "requests_per_second": 10.0, "tokens_per_second": 11520.0})");
    const benchmark_result r = read_benchmark_results(latency).front();
    CHECK(r.is_static_batch);
    CHECK(r.batch_seconds == 1.5);
    CHECK(read_benchmark_results(throughput).front().tokens_per_second == 11520);
    CHECK(has(refused(base + " --from " + latency),
              "latency.json: has no input length (vllm bench latency); use --input"));
    const std::string lengths = " --input 1024 --output 128 --concurrency 8";
    CHECK(json_of(base + " --from " + latency + ' ' + throughput + lengths)["rows"] == 2);
}

// members as aiperf @13992dbd writes them
TEST_CASE("results of AIPerf and GenAI-Perf") {
    const result_folder folder;
    const std::string metrics =
        R"("time_to_first_token": {"unit": "ms", "avg": 120.0, "p50": 110.0, "p90": 150.0, "p99": 200.0},
           "inter_token_latency": {"unit": "ms", "avg": 12.0, "p50": 11.9, "p99": 14.0},
           "request_latency": {"unit": "ms", "avg": 1308.0}, "output_sequence_length": {"unit": "tokens", "avg": 100.0},
           "input_sequence_length": {"unit": "tokens", "avg": 550.0}, "request_count": {"unit": "requests", "avg": 320.0},
           "request_throughput": {"unit": "requests/sec", "avg": 20.0},
           "output_token_throughput": {"unit": "tokens/sec", "avg": 2000.0})";
    const auto result = [&](const std::string& name, const std::string& config) {
        return read_benchmark_results(folder.write(name, "{\"input_config\": " + config + ", " + metrics + "}"))
            .front();
    };
    const benchmark_result aiperf = result("aiperf.json", R"({"loadgen": {"concurrency": 32, "request_rate": null}})");
    CHECK(aiperf.format == "AIPerf or GenAI-Perf");
    CHECK(aiperf.concurrency == 32);
    CHECK(aiperf.input_tokens == 550);
    CHECK(aiperf.output_tokens == 100);
    CHECK(aiperf.ttft.mean == doctest::Approx(0.12));
    CHECK(aiperf.ttft.p90 == doctest::Approx(0.15));
    CHECK(aiperf.tpot.mean == doctest::Approx(0.012));
    CHECK(aiperf.tokens_per_second == 2000);
    CHECK(aiperf.num_requests == 320);
    const benchmark_result genai = result("genai.json", R"({"perf_analyzer": {"stimulus": {"concurrency": 4}}})");
    CHECK(genai.concurrency == 4);
    const benchmark_result paced = result("rate.json", R"({"loadgen": {"concurrency": null, "request_rate": 25.0}})");
    CHECK(paced.request_rate == 25);
    CHECK(paced.concurrency == doctest::Approx(20 * 1.308));  // Little's law with the served rate
}

// members as InferenceX @00e51cc7 writes them (utils/process_result.py), in a list as its dashboard collects them
TEST_CASE("results of InferenceX") {
    const result_folder folder;
    const std::string one =
        R"({"hw": "h200-cw", "tp": 8, "ep": 1, "dp_attention": "false", "conc": 64, "model": "openai/gpt-oss-120b", "framework": "vllm", "precision": "fp4", "tput_per_gpu": 1000.0, "output_tput_per_gpu": 500.0, "isl": 1024, "osl": 1024, "mean_ttft": 0.25, "mean_tpot": 0.011, "mean_intvty": 90.9, "p99_ttft": 0.9})";
    std::string attention = one;
    attention.replace(attention.find("\"false\""), 7, "\"true\"");
    const auto all = read_benchmark_results(folder.write("agg.json", "[" + one + ", " + attention + "]"));
    REQUIRE(all.size() == 2);
    CHECK(all[0].format == "InferenceX");
    CHECK(all[0].engine == "vllm");
    CHECK(all[0].concurrency == 64);
    CHECK(all[0].tensor_parallel_size == 8);
    CHECK(all[0].tpot.mean == 0.011);
    CHECK(all[0].tokens_per_second == 4000);
    CHECK(all[1].tensor_parallel_size == 1);
    CHECK(all[1].data_parallel_size == 8);
}

// series as vllm @1a91bc2d exports them (v1/metrics/loggers.py); half of 10 requests below 0.1 s
TEST_CASE("metrics of Prometheus") {
    const result_folder folder;
    const std::string text = R"(# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="m"} 3.0
vllm:num_requests_running{engine="1",model_name="m"} 5.0
vllm:time_to_first_token_seconds_bucket{engine="0",le="0.1",model_name="m"} 5.0
vllm:time_to_first_token_seconds_bucket{engine="0",le="0.25",model_name="m"} 10.0
vllm:time_to_first_token_seconds_bucket{engine="0",le="+Inf",model_name="m"} 10.0
vllm:time_to_first_token_seconds_count{engine="0",model_name="m"} 10.0
vllm:time_to_first_token_seconds_sum{engine="0",model_name="m"} 1.2
vllm:inter_token_latency_seconds_count{engine="0",model_name="m"} 990.0
vllm:inter_token_latency_seconds_sum{engine="0",model_name="m"} 9.9
vllm:request_prompt_tokens_count{engine="0",model_name="m"} 10.0
vllm:request_prompt_tokens_sum{engine="0",model_name="m"} 5000.0
vllm:request_generation_tokens_count{engine="0",model_name="m"} 10.0
vllm:request_generation_tokens_sum{engine="0",model_name="m"} 1000.0
process_start_time_seconds 1.7e9
)";
    const benchmark_result r = read_benchmark_results(folder.write("metrics.prom", text)).front();
    CHECK(r.format == "Prometheus metrics");
    CHECK(r.engine == "vllm");
    CHECK(r.model == "m");
    CHECK(r.concurrency == 8);
    CHECK(r.input_tokens == 500);
    CHECK(r.output_tokens == 100);
    CHECK(r.ttft.mean == doctest::Approx(0.12));
    CHECK(r.ttft.median == doctest::Approx(0.1));
    CHECK(r.ttft.p90 == doctest::Approx(0.1 + 0.15 * 4 / 5));
    CHECK(r.tpot.mean == doctest::Approx(0.01));
    CHECK(has(problem_of_file(folder.write("idle.prom", "# HELP x y\nvllm:num_requests_running 0\n")),
              "idle.prom: no requests in these metrics; expected vllm:time_to_first_token_seconds_sum"));
    CHECK(has(problem_of_file(folder.write("broken.prom", "# HELP x y\nvllm:x{a=\"b\"} many\n")),
              "broken.prom: line 2: expected a Prometheus sample (name{labels} value), found 'vllm:x{a=\"b\"} many'"));
}

TEST_CASE("a CSV has columns of its own, or those of serve") {
    const result_folder folder;
    const auto all = read_benchmark_results(folder.write(
        "runs.csv", "isl,osl,concurrency,ttft_ms,tpot_ms,tp_size,note\n1024,128,16,100,15,2,a\n\n512,64,1,30,,,\n"));
    REQUIRE(all.size() == 2);
    CHECK(all[0].input_tokens == 1024);
    CHECK(all[0].ttft.mean == doctest::Approx(0.1));
    CHECK(all[0].tensor_parallel_size == 2);
    CHECK(all[1].location.ends_with("runs.csv: line 4"));
    CHECK(all[1].tpot.mean == 0);
    CHECK(has(problem_of_file(folder.write("wrong.csv", "isl,osl,ttft,tpot_s\n1,2,3,4\n")),
              "wrong.csv: line 1: unknown result; expected one of SGLang bench_serving, vllm bench serve"));
    CHECK(has(problem_of_file(folder.write("wrong.csv", "isl,osl,ttft,tpot_s\n1,2,3,4\n")),
              "nearest to tpot_ms: tpot_s"));
    CHECK(has(problem_of_file(folder.write("number.csv", "isl,osl,tpot_ms\n1024,128,fast\n")),
              "number.csv: line 2: tpot_ms: expected a number that is not negative, found 'fast'"));
    CHECK(has(problem_of_file(folder.write("short.csv", "isl,osl,tpot_ms\n1024,128\n")),
              "short.csv: line 2: expected 3 fields, found 2"));
}

TEST_CASE("an unknown result names the nearest format, and a broken one the member") {
    const result_folder folder;
    std::string without = vllm_serve;
    without.replace(without.find("\"mean_ttft_ms\""), 14, "\"mean_first_ms\"");
    CHECK(has(problem_of_file(folder.write("a.json", without)), "nearest: vllm bench serve, without mean_ttft_ms"));
    std::string broken = vllm_serve;
    broken.replace(broken.find("\"completed\": 160"), 16, "\"completed\": \"all\"");
    CHECK(has(problem_of_file(folder.write("b.json", broken)),
              "b.json: /completed: expected a finite number, found \"all\""));
    CHECK(has(problem_of_file(folder.write("c.json", "{}")), "expected one of SGLang bench_serving, vllm bench serve"));
    CHECK(has(problem_of_file(folder.write("d.json", "")), "d.json: is empty; expected one of"));
    CHECK(has(problem_of_file(folder.path("none.json")), "none.json"));
}

TEST_CASE("a calibration moves the constants of its engine, and serve, simulate, plan and latency read it") {
    const result_folder folder;
    const std::string out = folder.path("engine.json");
    // runs that are 40 % slower per token than predicted
    std::string runs = "isl,osl,concurrency,ttft_ms,tpot_ms\n";
    for (const int concurrency : {1, 4, 16, 64})
        for (const int input : {256, 2048}) {
            const json j =
                json_of("serve --engine vllm --device h100 " + llama + measured + " --input " + std::to_string(input) +
                        " --output 256 --concurrency " + std::to_string(concurrency));
            std::ostringstream row;
            row << input << ",256," << concurrency << ',' << 1e3 * j["ttft_seconds"].get<double>() << ','
                << 1.4e3 * j["tpot_seconds"].get<double>() << '\n';
            runs += row.str();
        }
    const std::string file = folder.write("runs.csv", runs);
    const std::string text = printed(base + " --from " + file + " --out " + out);
    CHECK(has(text, "vllm on H100 SXM, 8 runs of "));
    CHECK(has(text, "host_seconds_per_step"));
    CHECK(has(text, "no run depends on it"));
    CHECK(has(text, "Written: " + out));
    std::ifstream in(out);
    const json written_file = json::parse(in);
    CHECK(written_file["engine"] == "vllm");
    CHECK(written_file["device"] == "h100_sxm");
    CHECK(written_file["rows"] == 8);
    CHECK(written_file["held_out"]["tpot"]["rows"] == 8);
    CHECK(written_file["held_out"]["tpot"]["median"].get<double>() < 0.1);

    const std::string both_files = " --calibration " + out + ',' + measured.substr(measured.find_last_of(' ') + 1);
    const std::string load = llama + " --engine vllm --device h100 --input 1024 --output 256 --concurrency 8";
    const json shipped = json_of("serve " + load + measured), fitted = json_of("serve " + load + both_files);
    const double ratio = fitted["tpot_seconds"].get<double>() / shipped["tpot_seconds"].get<double>();
    CHECK(ratio > 1.25);
    CHECK(ratio < 1.5);
    CHECK(fitted["interval_stands_on"] == "a calibration of the engine by its own runs");
    CHECK(has(printed("serve " + load + both_files),
              "Interval: based on runs of this engine on this device (llmcost calibrate)"));
    CHECK(json_of("simulate " + load + both_files)["tpot_mean_lower_seconds"] !=
          json_of("simulate " + load + measured)["tpot_mean_lower_seconds"]);
    // the interval is that of the file
    const double high = std::exp2(written_file["held_out"]["tpot"]["high"].get<double>());
    CHECK(fitted["tpot_upper_seconds"].is_null() == shipped["tpot_upper_seconds"].is_null());
    CHECK(high > 1);

    CHECK(refused("serve " + llama + " --engine sglang --device h100 --calibration " + out) ==
          "llmcost: " + out + ": is a calibration of vllm, not of sglang\n");
    CHECK(refused("serve " + llama + " --engine vllm --device h200 --calibration " + out) ==
          "llmcost: " + out + ": is a calibration of 'h100_sxm', not of h200_sxm\n");
    CHECK(refused("latency " + llama + " --device h100 --calibration " + out) ==
          "llmcost: " + out + ": is a calibration of vllm; use --engine vllm\n");
}

TEST_CASE("a folder of calibrations may have one of the engine") {
    const result_folder folder;
    const std::string calibration = R"({"engine": "vllm", "version": "0.11", "device": "h100_sxm", "source": "a test",
        "rows": 3, "constants": {"host_seconds_per_step": 0.01}, "held_out": {
        "tpot": {"rows": 3, "median": 0.02, "low": -0.1, "high": 0.1},
        "ttft": {"rows": 3, "median": 0.05, "low": -0.2, "high": 0.3}}})";
    folder.write("all/h100_sxm/engine/vllm-0.11/engine.json", calibration);
    const std::string load = "serve " + llama + " --engine vllm --device h100 --calibration ";
    const double fitted = json_of(load + folder.path("all"))["tpot_seconds"],
                 shipped = json_of(load + "none")["tpot_seconds"];
    CHECK(fitted - shipped == doctest::Approx(0.01).epsilon(0.01));
    const auto refuses = [&](const std::string& from, const std::string& to, const std::string& message) {
        std::string changed = calibration;
        changed.replace(changed.find(from), from.size(), to);
        CHECK(has(refused(load + folder.write("bad.json", changed), {}, 3), message));
    };
    refuses("\"rows\": 3, \"con", "\"rows\": 0, \"con", "bad.json: /rows: expected a positive integer, found 0");
    refuses("host_seconds_per_step", "host_seconds",
            "bad.json: /constants/host_seconds: expected one of kernel_time_factor");
    refuses("0.01}", "-1}", "bad.json: /constants/host_seconds_per_step: expected seconds from 0 to 1000, found -1");
    refuses("\"low\": -0.1", "\"low\": 0.1", "bad.json: /held_out/tpot/low: expected from -64 to 0");
    refuses("\"source\"", "\"sauce\"", "bad.json: /sauce: expected one of engine");
}

TEST_CASE("calibrate refuses what it cannot fit") {
    const result_folder folder;
    const std::string file = folder.write("serve.json", vllm_serve);
    CHECK(has(refused("calibrate --device h100 " + llama + " --from " + file),
              "--engine: required: vllm, sglang or trtllm"));
    CHECK(has(refused(base), "--from: required: a result of vllm bench serve"));
    CHECK(has(refused("calibrate --engine vllm " + llama + " --from " + file), "--device: required"));
    const std::string other = folder.write("other.csv", "isl,osl,concurrency,tpot_ms,backend\n1024,128,1,5,sglang\n");
    CHECK(has(refused(base + " --from " + other), "other.csv: line 2: is a run of sglang; expected --engine sglang"));
    const std::string elsewhere = folder.write("else.csv", "isl,osl,concurrency,tpot_ms,system\n1024,128,1,5,b200\n");
    CHECK(has(refused(base + " --from " + elsewhere),
              "else.csv: line 2: is a run on b200_sxm; expected --device b200_sxm"));
    const std::string empty = folder.write("empty.csv", "isl,osl,concurrency,tpot_ms\n");
    CHECK(has(refused(base + " --from " + empty, {}, 3), "empty.csv: contains no results"));
    const std::string lengths = folder.write("lengths.csv", "isl,osl,concurrency,tpot_ms\n1024,128,1,\n");
    CHECK(has(refused(base + " --from " + lengths), "lengths.csv: line 2: expected a time to first token"));
}

TEST_CASE("runs of several models come with their configurations") {
    const result_folder folder;
    std::filesystem::create_directories(folder.path("configs"));
    std::filesystem::copy_file(config_of("meta-llama__Llama-3.2-1B"),
                               folder.path("configs/meta-llama__Llama-3.2-1B.json"));
    const std::string head = "model_path,system,backend,isl,osl,batch_size,tp_size,silicon_ttft_ms,silicon_tpot_ms\n";
    const std::string row = "meta-llama/Llama-3.2-1B,h100_sxm,vllm,1024,128,";
    const std::string file =
        folder.write("runs.csv", head + row + "1,1,20,3\n" + row + "16,1,60,4\n" + row + "4,7,60,4\n");
    const outcome got = llmcost_line("calibrate --engine vllm --configs " + folder.path("configs") + measured +
                                     " --from " + file + " --format json");
    CHECK(got.code == 0);
    CHECK(json::parse(got.out)["rows"] == 2);
    CHECK(has(got.err, "runs.csv: line 4: left out: "));
    // a calibration of another device does not apply to rows, which is a warning
    const std::string out = folder.path("engine.json");
    (void)printed("calibrate --engine vllm --device h200 " + llama + measured + " --from " +
                  folder.write("serve.json", vllm_serve) + " --out " + out);
    const outcome rows = llmcost_line("serve --configs " + folder.path("configs") + " --calibration " + out,
                                      {.in = head + row + "1,1,20,3\n"});
    CHECK(rows.code == 0);
    CHECK(has(rows.err, "is a calibration of 'h200_sxm', not of h100_sxm; using the shipped constants for these rows"));
}
