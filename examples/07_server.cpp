// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// A calibrated decode step and a server's figures, as these two commands give them:
//
//     llmcost latency --model meta-llama/Llama-3.1-70B --device h200 --engine vllm --dtype fp8 --tp 4 --batch 64 --past
//     4000 llmcost serve   --model meta-llama/Llama-3.1-70B --device h200 --engine vllm --dtype fp8 --tp 4
//     --concurrency 32
//
// arguments: configs/calibrations
// expects: a step: 15.63 ms (14.57 to 18.46 ms)
// expects: 32 requests: 182.4 ms to the first token, 13.91 ms per token, 2274 tokens/s
#include <cstdio>

#include <llmcost/kernels/kernel_library.hpp>
#include <llmcost/presets.hpp>
#include <llmcost/serving/default_execution.hpp>
#include <llmcost/serving/server.hpp>
#include <llmcost/serving/timed_step.hpp>

int main(int count, char** arguments) {
    if (count != 2) return 2;
    const llmcost::model& m = llmcost::presets::llama_3_1_70b;
    const llmcost::engine& vllm = *llmcost::find_engine("vllm");

    // the kernels that were measured of it, which must outlive what is priced by them
    llmcost::kernel_library kernels("h200", "vllm", "", arguments[1]);
    const llmcost::device& h200 = kernels.target_device();

    // all that engine, device and types imply: of the cache, of attention, of scales
    const llmcost::checkpoint_types fp8{.products = llmcost::find_operand_type("fp8")};
    const llmcost::execution execution = llmcost::execution_of(vllm, h200, fp8, llmcost::make_parallel_config(m, 4));

    const llmcost::timed_step step = llmcost::time_step(
        m, {{.batch = 64, .sequence = 1, .past = 4000, .head = llmcost::logits::last}}, execution, h200, kernels);
    std::printf("a step: %.4g ms (%.4g to %.4g ms)\n", 1e3 * step.seconds, 1e3 * step.lower, 1e3 * step.upper);

    llmcost::server server(m, execution, vllm, h200, kernels);
    const llmcost::serving_metrics f = server({.input_tokens = 1024, .output_tokens = 1024, .concurrency = 32});
    std::printf("32 requests: %.4g ms to the first token, %.4g ms per token, %.0f tokens/s\n", 1e3 * f.ttft_seconds,
                1e3 * f.tpot_seconds, f.tokens_per_second);
}
