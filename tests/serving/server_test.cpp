// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "unmeasured.hpp"

#include <llmcost/kernels/library.hpp>
#include <llmcost/llmcost.hpp>
#include <llmcost/presets.hpp>
#include <llmcost/serving/server.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

using namespace llmcost;
using namespace llmcost::testing;

namespace {

unmeasured nobody;

execution in(literal type, std::int64_t tensor) {
    execution how;
    how.products = how.experts = find_operand(type);
    how.shards.tensor = tensor;
    return how;
}
server llama_70b(const engine& by = {}, std::int64_t tensor = 4) {
    return {presets::llama_3_1_70b, in("fp8", tensor), by, h200, nobody};
}

}  // namespace

// 70,553,706,496 parameters, of which 2 · 128256 · 8192 are the embedding and the head in 16 bits; 8 keys of 128 and as many
// values in 80 layers of 16 bits
TEST_CASE("memory holds weights and caches, to the byte") {
    server one = llama_70b({}, 1);
    const double words = 128256.0 * 8192.0;
    CHECK(one.weights() == 70553706496.0 - 2 * words + 2 * 2 * words);
    CHECK(one.cache_bytes(1000) == 1000.0 * 80 * 2 * 8 * 128 * 2);
    CHECK(one.capacity(1000) == doctest::Approx((0.9 * 141e9 - one.weights()) / one.cache_bytes(1000)));
    server four = llama_70b({}, 4);
    CHECK(four.weights() * 4 == doctest::Approx(one.weights()).epsilon(1e-4));  // norms are on every device
    CHECK(four.cache_bytes(1000) * 4 == one.cache_bytes(1000));
    CHECK(four.capacity(1000, 2) > 2 * four.capacity(1000));  // two stages hold half of the layers each
}

// 72.7 GB of weights; engines take 90 % unless they are told otherwise
TEST_CASE("memory that an engine's usual share leaves too small is taken whole, and holds no half of a sequence") {
    device small = h200;
    const auto on = [&] { return server(presets::llama_3_1_70b, in("fp8", 1), {}, small, nobody); };
    small.memory_gigabytes = 78;
    server tight = on();
    CHECK(tight.takes_all_memory(1000));
    CHECK(tight.capacity(1000) == doctest::Approx((78e9 - tight.weights()) / tight.cache_bytes(1000)));
    small.memory_gigabytes = (tight.weights() + 0.99 * tight.cache_bytes(1000)) / 1e9;
    server none = on();
    CHECK(none.capacity(1000) == 0);
    CHECK(std::isinf(none({.input = 900, .output = 200}).ttft));
    CHECK(none({.input = 900, .output = 200}).tokens_per_second == 0);
}

// time per token: s·(t_decode(b, input + output / 2) + b / output · t_prefill) + a + c·b; to the first: of 15 others half of
// a tenth were sent before, and each is at its prompt for its share of prompt and answer
TEST_CASE("an engine's own time is added to its kernels'") {
    const engine busy{"busy", "", false, false, false, 0.5, 1e-3, 1e-5, 0.01, 2, 0.9};
    step_plan plan(presets::llama_3_1_70b, in("fp8", 4), h200, nobody);
    const serving_load load{.input = 1000, .output = 500, .concurrency = 16};
    const double step = plan.seconds(16, 1, 1250), prompt = plan.seconds(1, 1000, 0);
    server on = llama_70b(busy);
    const serving_figures f = on(load);
    const double host = 1e-3 + 16e-5;
    CHECK(f.tpot == doctest::Approx(0.5 * (step + 15.0 / 500 * prompt) + host));
    CHECK(f.ttft_unloaded == doctest::Approx(0.01 + 0.5 * prompt + 1e-3));
    const double decoding = 0.5 * step + host, share = 0.5 * prompt / (0.5 * prompt + 500 * decoding);
    CHECK(f.ttft == doctest::Approx(0.01 + 1e-3 + 0.5 * prompt * (1 + 15 * (0.1 / 2 + share)) + 2 * decoding));
    CHECK(f.tokens_per_second == doctest::Approx(16 * 500 / (f.ttft + 499 * f.tpot)));
    CHECK(f.running == 16);
    CHECK(f.devices == 4);
}

TEST_CASE("a request alone waits for no prompt between its tokens") {
    server on = llama_70b();
    step_plan plan(presets::llama_3_1_70b, in("fp8", 4), h200, nobody);
    for (const std::int64_t output : {2, 16, 4096})
        CHECK(on({.input = 32000, .output = output}).tpot == doctest::Approx(plan.seconds(1, 1, 32000 + output / 2)));
}

// each of n stages computes a prompt for 1/n of its time while the others compute other prompts
TEST_CASE("stages compute prompts side by side") {
    server on = llama_70b();
    const serving_load prompts{.input = 8000, .output = 2, .concurrency = 64};
    double before = on(prompts).tokens_per_second;
    for (const std::int64_t stages : {2, 4, 8}) {
        serving_load split = prompts;
        split.pipeline = stages;
        const serving_figures f = on(split);
        CHECK(f.tpot < on(prompts).tpot);
        CHECK(f.tokens_per_second > before);
        CHECK(f.tokens_per_second < 1.01 * static_cast<double>(stages) * on(prompts).tokens_per_second);
        before = f.tokens_per_second;
    }
}

// Little's law: as many requests as there are at a rate answer that rate
TEST_CASE("a rate that some number of requests sustains is answered") {
    server on = llama_70b(*find_engine("trtllm"));
    for (const double n : {2.0, 50.0, 400.0}) {
        const serving_load load{.concurrency = n, .burst = 0};
        const double rate = 0.98 * on(load).tokens_per_second / static_cast<double>(load.output);
        const auto f = on.at_rate(load, rate);
        REQUIRE(f.has_value());
        CHECK(f->tokens_per_second == doctest::Approx(rate * static_cast<double>(load.output)).epsilon(0.01));
    }
}

TEST_CASE("memory never holds more of longer requests") {
    device small = h200;
    small.memory_gigabytes = 82;  // 90 % of it leave 1.1 GB beside weights
    server on(presets::llama_3_1_70b, in("fp8", 1), {}, small, nobody);
    double before = on.capacity(100);
    CHECK(before > 1);
    for (std::int64_t tokens = 200; tokens < 60000; tokens += 100) {
        const double now = on.capacity(tokens);
        CHECK(now <= before);
        before = now;
    }
    CHECK(before == 0);
}

// 4 others: 0.3 · 4 / 2 of a burst; at their prompts 1 s of 1 + 3 s each
TEST_CASE("a request waits for prompts of others, and alone for none") {
    CHECK(server::prompts_ahead({.burst = 0.3}, 5, 1, 3) == doctest::Approx(0.6 + 4 * 0.25));
    CHECK(server::prompts_ahead({.burst = 0}, 5, 1, 0) == 4);  // who only reads prompts waits for every other one
    CHECK(server::prompts_ahead({}, 1, 1, 3) == 0);
    CHECK(server::prompts_ahead({}, 0.5, 1, 3) == 0);
    CHECK(server::prompts_ahead({.burst = 0}, 5, 0, 0) == 0);
}

// TensorRT-LLM asks whether any request writes before it holds a prompt back (pyexecutor/py_executor.py, `_schedule`)
TEST_CASE("a prompt waits for steps of others only while one of them writes") {
    const engine planning{.steps_waited = 1.5};
    const serving_load patient{.batch_wait = 20};
    CHECK(server::steps_before(planning, patient, 1) == 0);
    CHECK(server::steps_before(planning, patient, 1.5) == 10.75);
    CHECK(server::steps_before(planning, patient, 64) == 21.5);
    CHECK(server::steps_before({}, {}, 64) == 0);
    server on = llama_70b();
    const serving_load at_once{.input = 1000, .output = 500, .concurrency = 16};
    serving_load later = at_once;
    later.batch_wait = 20;
    step_plan plan(presets::llama_3_1_70b, in("fp8", 4), h200, nobody);
    CHECK(on(later).ttft == doctest::Approx(on(at_once).ttft + 20 * plan.seconds(16, 1, 1250)));
    CHECK(on(later).tpot == on(at_once).tpot);
}

TEST_CASE("more requests are served faster together and slower each") {
    server on = llama_70b(*find_engine("trtllm"));
    serving_figures before = on({.concurrency = 1});
    for (double n = 2; n <= 1024; n *= 2) {
        const serving_figures f = on({.concurrency = n});
        CHECK(f.tpot >= before.tpot);
        CHECK(f.ttft >= before.ttft);
        CHECK(f.tokens_per_second >= before.tokens_per_second);
        CHECK(f.watts <= h200.watts);
        before = f;
    }
}

TEST_CASE("a longer prompt or more requests never bring the first token forward") {
    for (const engine& by : engines) {
        server on = llama_70b(by);
        for (const std::int64_t output : {1, 64, 1024}) {
            double least = 0;
            for (std::int64_t input = 128; input <= 65536; input *= 2) {
                double before = 0;
                for (double n = 1; n <= 512; n *= 2) {
                    const double ttft = on({.input = input, .output = output, .concurrency = n}).ttft;
                    CHECK(ttft >= before);
                    before = ttft;
                    if (n != 16) continue;
                    CHECK(ttft > least);
                    least = ttft;
                }
            }
        }
    }
}

TEST_CASE("what memory does not hold waits") {
    server on = llama_70b();
    const double room = on.capacity(1024 + 512);
    const serving_figures full = on({.concurrency = room}), over = on({.concurrency = 3 * room});
    CHECK(over.running == doctest::Approx(room));
    CHECK(over.tpot == doctest::Approx(full.tpot));
    CHECK(over.ttft == doctest::Approx(full.ttft + 2 * 1024 * full.tpot));  // two thirds wait for a whole answer each
}

TEST_CASE("cached prefixes, chunks and proposed tokens cost what their tokens cost") {
    server on = llama_70b();
    const serving_load plain{.input = 4096, .output = 256, .concurrency = 8};
    serving_load cached = plain, chunked = plain, drafted = plain, hopeless = plain;
    cached.prefix_hit = 0.75, chunked.chunk = 512;
    drafted.draft = 3, drafted.acceptance = 1, hopeless.draft = 3, hopeless.acceptance = 0;
    const double alone = on(plain).ttft_unloaded;
    CHECK(on(cached).ttft_unloaded < 0.5 * alone);
    CHECK(on(cached).ttft_unloaded > 0.2 * alone);
    CHECK(on(chunked).ttft_unloaded > alone);  // weights are read for each chunk
    CHECK(on(drafted).tpot < on(plain).tpot);
    CHECK(on(hopeless).tpot > on(plain).tpot);
    drafted.acceptance = 0.5;  // 1 + 1/2 + 1/4 + 1/8 tokens per step
    hopeless.acceptance = 0.5, hopeless.draft = 1;
    const serving_figures all = on(drafted);
    const auto output = static_cast<double>(drafted.output);
    CHECK(all.tokens_per_second == doctest::Approx(8 * output / (all.ttft + (output - 1) * all.tpot)));
    cached.prefix_hit = 1;  // the last token is always computed
    CHECK(on(cached).ttft_unloaded > 0);
}

TEST_CASE("proposed tokens that are all kept never cost more than writing each by itself") {
    for (const model& m : {presets::llama_3_1_70b, presets::deepseek_v3})
        for (const double concurrency : {1.0, 64.0}) {
            server on(m, in("fp8", 8), {}, h200, nobody);
            double last = on({.input = 4000, .output = 500, .concurrency = concurrency}).tpot;
            for (const std::int64_t draft : {1, 2, 3, 7, 15}) {
                const double here =
                    on({.input = 4000, .output = 500, .concurrency = concurrency, .draft = draft, .acceptance = 1}).tpot;
                CHECK(here < last);
                last = here;
            }
            // a second token is one step's, however many are proposed
            CHECK(on({.input = 4000, .output = 2, .concurrency = concurrency, .draft = 7, .acceptance = 1}).tpot >=
                  on({.input = 4000, .output = 2, .concurrency = concurrency}).tpot);
        }
}

TEST_CASE("requests that arrive at a rate are as many as Little's law says, or too many") {
    server on = llama_70b(*find_engine("vllm"));
    const serving_load load{.input = 512, .output = 128};
    const std::optional<serving_figures> calm = on.at_rate(load, 3);
    REQUIRE(calm.has_value());
    CHECK(calm->running == doctest::Approx(3 * (calm->ttft + 128 * calm->tpot)).epsilon(0.01));
    CHECK_FALSE(on.at_rate(load, 1e6).has_value());
}

TEST_CASE("an engine's chain is not answered by eager float32, nor its products by another's very operand") {
    const std::string measured = LLMCOST_TEST_DIR "/../configs/calibrations";
    const operator_shape chain{
        .family = find_family("elementwise"), .sizes = {16, 4096}, .operand = find_operand("bfloat16"), .variant = "map"};
    for (const char* device : {"a100_pcie_80gb", "h100_sxm", "l4", "rtx_4090"})
        for (const char* engine : {"vllm", "torch"})
            CHECK(kernel_library(device, engine, "", measured).find(chain) == nullptr);
    const operator_shape product{
        .family = find_family("gemm"), .sizes = {16, 4096, 4096}, .operand = find_operand("float16"), .variant = ""};
    const std::filesystem::path folder = std::filesystem::temp_directory_path() / "llmcost_own_first";
    const auto write = [&](const char* software, const char* operand) {
        const std::filesystem::path of = folder / "h100_sxm" / "gemm" / (std::string(software) + "-1");
        std::filesystem::create_directories(of);
        std::ofstream(of / (std::string(operand) + ".json"))
            << R"({"device": "h100_sxm", "source": "us", "kernels": [{"family": "gemm", "software": ")" << software
            << R"(", "operand": ")" << operand
            << R"(", "roofline": {"launch_us": 2, "compute_efficiency": 0.8, "bandwidth_efficiency": 0.9, "smoothness": 2},
                "held_out": {"rows": 10, "median": 0.05, "low": -0.2, "high": 0.2}}]})";
    };
    write("aaa", "bfloat16"), write("zzz", "float16");
    CHECK(kernel_library("h100_sxm", "aaa", "", folder.string()).find(product)->software == "aaa");
    CHECK(kernel_library("h100_sxm", "other", "", folder.string()).find(product)->software == "zzz");
    std::filesystem::remove_all(folder);
}

TEST_CASE("an engine without kernels of its own on a device takes those of the same chip, then of another generation") {
    const std::string measured = LLMCOST_TEST_DIR "/../configs/calibrations";
    const operator_shape experts{.family = find_family("moe"),
                                 .sizes = {16, 4096, 1536, 8, 128, 1, 4},
                                 .operand = find_operand("fp8_block"),
                                 .variant = "balanced"};
    kernel_library h100("h100_sxm", "trtllm", "", measured), b200("b200_sxm", "trtllm", "", measured),
        own("h200_sxm", "trtllm", "", measured), none("b200_sxm", "trtllm", "", "none");
    const kernel_calibration* there = own.find(experts);
    REQUIRE(there != nullptr);
    REQUIRE(h100.find(experts) != nullptr);
    CHECK(h100.find(experts)->software == "trtllm");
    CHECK(h100.find(experts)->error.high == there->error.high);
    REQUIRE(b200.find(experts) != nullptr);
    CHECK(b200.find(experts)->error.high > there->error.high);  // across generations less is certain
    CHECK(none.find(experts) == nullptr);
}

TEST_CASE("an all-reduce is the faster of an engine's own and NCCL's") {
    kernel_library library("h200_sxm", "vllm", "", LLMCOST_TEST_DIR "/../configs/calibrations");
    execution how;
    model_kernel k;
    k.shape = {
        .family = find_family("nccl"), .sizes = {8192, 8}, .operand = find_operand("float16"), .variant = "all_reduce"};
    const known_kernel small = with_measurements({k}, how, library).front();
    CHECK(predicted_seconds(h200, small) < predicted_seconds(h200, small.what.shape, small.known, small.where));
    k.shape.sizes[1] = 16;  // beyond a node there is NCCL alone
    CHECK(with_measurements({k}, how, library).front().other == nullptr);
}

TEST_CASE("a product with known scales saves computing them, and nothing else does") {
    kernel_library library("h200_sxm", "trtllm", "", LLMCOST_TEST_DIR "/../configs/calibrations");
    model_kernel k;
    k.shape = {.family = find_family("gemm"), .sizes = {16, 8192, 8192}, .operand = find_operand("fp8")};
    execution known = in("fp8", 1), unknown = known;
    known.static_scales = true, unknown.static_scales = false;
    const double with = predicted_seconds(h200, with_measurements({k}, known, library).front());
    const double without = predicted_seconds(h200, with_measurements({k}, unknown, library).front());
    CHECK(with < without);
    CHECK(with >= least_seconds(h200, k.shape.work()));
    for (const std::int64_t n : {1536, 8192, 10000}) {
        k.shape.sizes[1] = n;
        double before = 0;
        for (k.shape.sizes[0] = 1; k.shape.sizes[0] < 100000; k.shape.sizes[0] += 1 + k.shape.sizes[0] / 9) {
            const double seconds = predicted_seconds(h200, with_measurements({k}, known, library).front());
            CHECK(seconds >= before * (1 - 1e-9));
            before = seconds;
        }
    }
    kernel_library of_l4("l4", "trtllm", "", LLMCOST_TEST_DIR "/../configs/calibrations");
    const device& l4 = *find_device("l4");
    for (std::int64_t m = 1; m < 100000; m += 1 + m / 30) {  // where its cache ends the least time has a bend
        k.shape.sizes[0] = m, k.shape.sizes[1] = 512, k.shape.sizes[2] = 4096;
        CHECK(predicted_seconds(l4, with_measurements({k}, known, of_l4).front()) >= least_seconds(l4, k.shape.work()));
    }
    k.shape.operand = find_operand("bfloat16");
    CHECK(with_measurements({k}, known, library).front().other == nullptr);
}
