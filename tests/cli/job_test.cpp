// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "../golden/golden_file.hpp"
#include "program.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/cli/request/totals.hpp>
#include <llmcost/json.hpp>

#include "registry.hpp"

using namespace llmcost::testing;
using llmcost::count;
using llmcost::workload;

namespace {

std::string exact(const std::string& line) { return printed(line + " --format csv"); }

/// The sum of a stretch as the program takes it, step by step if `walked`.
llmcost::model_metrics summed(const llmcost::model& m, workload load, std::int64_t steps, bool is_step_by_step) {
    const llmcost::cli::metric_function compute_metrics = [&](const workload& w) {
        return llmcost::cli::metric_list{llmcost::count_model(m, w)};
    };
    if (!is_step_by_step) return llmcost::cli::sum_of({"decode", {{load, steps}}, true}, compute_metrics).front();
    llmcost::model_metrics sum = llmcost::count_model(m, load);
    for (std::int64_t i = 1; i < steps; ++i) {
        load.past += 1;
        const llmcost::model_metrics f = llmcost::count_model(m, load);
        for (const auto member : llmcost::cli::detail::work_figures) sum.*member += f.*member;
        sum.cache_elements = f.cache_elements;
        sum.cache_bytes = f.cache_bytes;
    }
    return sum;
}

}  // namespace

// three runs of the golden in one batch: their sums, parameters once
TEST_CASE("a ragged batch is the sum of its groups") {
    const golden_file g =
        read_golden(std::filesystem::path(LLMCOST_TEST_DIR "/golden/meta-llama__Llama-3.2-1B.golden"));
    std::string requests, sums;
    std::uint64_t add = 0, mult = 0, exp = 0, act = 0, written = 0, torch = 0, cache = 0;
    for (const golden_run& run : g.runs) {
        requests += (requests.empty() ? "" : ",") + std::to_string(run.sequence) + '@' + std::to_string(run.past) +
                    'x' + std::to_string(run.batch);
        add += run.total[figure::add];
        mult += run.total[figure::mult];
        exp += run.total[figure::exp];
        act += run.total[figure::out];
        written += run.total[figure::written];
        torch += run.torch_flops;
        cache += run.cache->total;
    }
    for (const std::uint64_t n : {add, mult, exp, act, written, torch, cache}) sums += ',' + std::to_string(n);
    CHECK(exact(llama + " --ragged " + requests + " add mult exp act written torch_flops cache params") ==
          "scope,add,mult,exp,act,written,torch_flops,cache,params\nall" + sums + ",1235814400\n");
    CHECK(printed(llama + " --ragged 512@0x4,1@8000x60 params attn") ==
          "attn with requests 512@0x4,1@8000x60:\n    PARAMS:\t167.77\t(10^6)\n");
}

TEST_CASE("a whole request is its prefill, its steps and their sum") {
    // cache: 16 layers x 2 x 8 heads x 64 elements per token; parameters once
    CHECK(exact(llama + " --input 100 --output 20 cache params") ==
          "scope,phase,cache,params\nall,prefill,1638400,1235814400\nall,decode,1949696,1235814400\nall,total,1949696,"
          "1235814400\n");
    // one token written: nothing after the prefill
    CHECK(exact(llama + " --input 100 --output 1 cache mult attn").find("\nattn,decode,1638400,0\n") !=
          std::string::npos);
    // the prefill is a pass with the logits of the last position
    const std::string pass = exact(llama + " --sequence 100 --logits last mult");
    const std::string generation = exact(llama + " --input 100 --output 3 mult");
    const std::string prefill = pass.substr(pass.find("all,") + 4);
    CHECK(generation.find("all,prefill," + prefill) != std::string::npos);
    std::uint64_t sum = 0;
    for (const char* past : {"100", "101"}) {
        const std::string step = exact(llama + " --sequence 1 --past " + past + " mult");
        sum += std::stoull(step.substr(step.find("all,") + 4));
    }
    CHECK(generation.find("all,decode," + std::to_string(sum) + '\n') != std::string::npos);
    CHECK(generation.find("all,total," + std::to_string(sum + std::stoull(prefill)) + '\n') != std::string::npos);
}

TEST_CASE("a closed sum over steps is the sum step by step") {
    llmcost::model m{parts::registry.find("llama"), parts::registry.find("llama")->defaults};
    m.config.num_key_value_heads = 8;
    m.config.head_dim = m.config.rotary_dim = 128;
    const workload load{.batch = 2, .sequence = 1, .past = 77, .head = llmcost::logits::last};
    for (const std::int64_t steps : {1, 2, 3, 11, 12, 13, 14, 15, 500})
        CHECK(summed(m, load, steps, false) == summed(m, load, steps, true));
}

// no model: figures with bends and jumps where windows and chunks have them
TEST_CASE("bends and jumps of figures are found") {
    const auto check = [](auto f, std::int64_t steps) {
        std::int64_t readings = 0;
        const llmcost::cli::metric_function compute_metrics = [&](const workload& w) {
            ++readings;
            llmcost::model_metrics one;
            one.mult = count(f(w.past));
            one.add = count(3) * one.mult + count(7);
            return llmcost::cli::metric_list{one};
        };
        const llmcost::model_metrics sum =
            llmcost::cli::sum_of({"decode", {{{.sequence = 1, .past = 5}, steps}}, true}, compute_metrics).front();
        count mult, add;
        for (std::int64_t i = 0; i < steps; ++i) {
            mult += count(f(5 + i));
            add += count(3) * count(f(5 + i)) + count(7);
        }
        CHECK(sum.mult == mult);
        CHECK(sum.add == add);
        return readings;
    };
    for (const std::int64_t steps : {50, 1000, 4099}) {
        check([](std::int64_t p) { return 3 * p + 1; }, steps);
        check([](std::int64_t p) { return std::min<std::int64_t>(p, 512); }, steps);
        check([](std::int64_t p) { return std::max<std::int64_t>(p, 700) * 5; }, steps);
        check([](std::int64_t p) { return p % 64; }, steps);
        check([](std::int64_t p) { return (p + 63) / 64; }, steps);
        check([](std::int64_t p) { return p * p; }, steps);
        check(
            [](std::int64_t p) { return std::min<std::int64_t>(p, 40) + std::min<std::int64_t>(p, 900) + 100'000 - p; },
            steps);
    }
    CHECK(check([](std::int64_t p) { return std::min<std::int64_t>(p, 4096); }, 1'000'000) < 400);
}

TEST_CASE("every model of a golden, over more tokens than a window of 50 sees") {
    int sliding = 0;
    for (const auto& path : golden_paths(LLMCOST_TEST_DIR "/golden")) {
        llmcost::config_document document =
            llmcost::read_config_file(path.parent_path() / (path.stem().string() + ".json"));
        if (parts::registry.find(document.root().string("model_type")) == nullptr) continue;
        const auto window = document.root().find("sliding_window");
        if (window && !window->is_null()) {
            document.set("sliding_window", "50");
            ++sliding;
        }
        const llmcost::model m =
            document.read_with([](llmcost::config_view root) { return parts::registry.read(root); });
        const workload load{
            .batch = 2, .sequence = 1, .past = 30, .encoder_sequence = 9, .head = llmcost::logits::last};
        bool is_equal = false;
        try {
            is_equal = summed(m, load, 200, false) == summed(m, load, 200, true);
        } catch (const llmcost::workload_error&) {
            continue;  // fewer positions, or masks that refuse an extension
        }
        CHECK_MESSAGE(is_equal, path.stem());
    }
    CHECK(sliding >= 5);
}

// the decoder begins with one token; its steps are those of single passes
TEST_CASE("a whole request of an encoder-decoder") {
    const std::string t5 = "--config " + config_of("google-t5__t5-small") + " --format csv mult ";
    const std::string generation = printed(t5 + "--input 30 --output 20");
    std::uint64_t sum = 0;
    const auto pass = [&](int past) {
        const std::string step =
            printed(t5 + "--sequence 1 --logits last --encoder-sequence 30 --past " + std::to_string(past));
        return std::stoull(step.substr(step.find("all,") + 4));
    };
    for (int past = 1; past < 20; ++past) sum += pass(past);
    CHECK(generation == "scope,phase,mult\nall,prefill," + std::to_string(pass(0)) + "\nall,decode," +
                            std::to_string(sum) + "\nall,total," + std::to_string(pass(0) + sum) + '\n');
}

TEST_CASE("what has no cache writes no tokens") {
    const outcome got =
        llmcost_line("--config " + config_of("google-bert__bert-base-uncased") + " --input 5 --output 2");
    CHECK(got.code == 2);
    CHECK(got.err == "llmcost: --output: not supported: this model has no KV cache and generates no tokens\n");
}
