// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/command.hpp>
#include <llmcost/cli/args/device_options.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/commands/plan_rl.hpp>
#include <llmcost/cli/commands/plan_text.hpp>
#include <llmcost/cli/commands/plan_training.hpp>
#include <llmcost/cli/commands/serve_request.hpp>
#include <llmcost/cli/commands/simulate_request.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/latency/operand_types.hpp>
#include <llmcost/memory/parallel_config.hpp>
#include <llmcost/serving/engines.hpp>
#include <llmcost/serving/multimodal_step.hpp>
#include <llmcost/serving/server.hpp>
#include <llmcost/simulation/deployment_search.hpp>
#include <llmcost/simulation/request.hpp>

// `llmcost plan`: the deployment that meets latency targets with the fewest devices.
//
// The steps of the command are those of `serve.hpp`: parse, validate, compute, print.
namespace llmcost::cli {

namespace option {

inline constexpr option_spec min_slo_attainment{.name = "--keep",
                                                .value = "X",
                                                .type = value_type::number,
                                                .help = "fraction of requests that must meet --slo (default 0.99)"};
inline constexpr option_spec engines_tried =
    with_help(option::engine, "trtllm, vllm or sglang (default: all that support the device)");
inline constexpr option_spec no_disaggregation{.name = "--no-separate", .help = "exclude disaggregated prefill/decode"};
inline constexpr option_spec tp_of_plan = with_help(option::tp, "tensor-parallel size (default: 1, 2, 4, 8)");
inline constexpr option_spec pp_of_plan =
    with_help(option::pp, "pipeline-parallel size (default: 1, 2, 4 ... as possible)");
inline constexpr option_spec dp_of_plan =
    with_help(option::dp, "data-parallel attention ranks that share experts (default: 1, 2, 4, 8)");
inline constexpr option_spec types_tried = [] {
    option_spec row = with_help(option::linear_dtype, "weight types of linear layers (default: as the checkpoint)");
    row.value = "TYPE,...";
    return row;
}();
inline constexpr option_spec caches_tried = [] {
    option_spec row =
        with_help(option::kv_cache_dtype, "KV cache types (default: fp8 with fp8 and nvfp4, else 16 bits)");
    row.value = "TYPE,...";
    return row;
}();
inline constexpr option_spec save{.name = "--save",
                                  .value = "DIR",
                                  .type = value_type::directory,
                                  .help =
                                      "write launch.sh, kubernetes.yaml (with labels of llm-d) and dynamo.yaml of the "
                                      "first deployment"};
inline constexpr option_spec ep_of_plan = with_help(option::ep, "expert-parallel size (default: 1 and all devices)");

}  // namespace option

inline constexpr std::array plan_options = concatenate(
    with_section("Targets", std::array{option::bounds, option::min_slo_attainment, option::slo_at}),
    with_section("Workload", std::array{option::clients, option::rate, option::trace, option::lengths_in,
                                        option::lengths_out, option::num_requests, option::burstiness, option::turns,
                                        option::pause, option::seed, option::prefix_hit, option::trace_block}),
    with_section("Multimodal inputs", request_multimodal_options),
    with_section("Search space",
                 std::array{option::devices, option::engines_tried, option::tp_of_plan, option::pp_of_plan,
                            option::dp_of_plan, option::ep_of_plan, option::types_tried, option::caches_tried,
                            option::no_disaggregation, option::top_of_plan}),
    with_section("Training", training_plan_options), with_section("Reinforcement learning", rl_plan_options),
    with_section("Hardware and engine", std::array{option::device, option::engine_version, option::calibration,
                                                   option::execution, option::network}),
    with_section("Precision", std::array{option::experts_dtype, option::quantization, option::routing}),
    with_section("Cost", cost_options), with_section("Model", model_options),
    with_section("Output", std::array{option::format, option::plot, option::save}), help_option);

namespace detail {

/// Collects the deployments that the model, the engines and the devices support.
class deployment_collector {
public:
    explicit deployment_collector(const program& io) : io_(&io) {}

    /// Adds the deployment of a command line, or stores its usage error. `stored` is the type of `as_stored`.
    void add(const arguments& args, const operand_type* stored);
    /// Whether an engine supports a parallel configuration.
    [[nodiscard]] bool may_support(const engine& engine, const parallel_config& parallel) const noexcept;
    /// The collected deployments with their servers. Throws: `usage` if there are none.
    [[nodiscard]] std::deque<deployed_server> take();

private:
    const program* io_;
    std::deque<deployed_server> servers_;
    std::string problem_;
    bool has_experts_ = true;
};

}  // namespace detail

/// Runs `llmcost plan`.
[[nodiscard]] command_output run_plan(const arguments& args, const program& io);

inline constexpr std::array<command_example, 4> plan_examples{{
    {"llmcost plan --model Qwen/Qwen3-8B --device h200 --rate 20 --slo ttft=1s,tpot=30ms", "20 requests per second"},
    {"llmcost plan --model Qwen/Qwen3-8B --device h200 --devices 16 --trace requests.csv --slo ttft=1s,tpot=30ms",
     "a recorded trace on up to 16 devices"},
    {"llmcost plan --training --model meta-llama/Llama-3.1-70B --device h100 --devices 64 --network ib_ndr --tokens "
     "15T",
     "the fastest parallel configuration of a training job on 64 devices"},
    {"llmcost plan --rl --model Qwen/Qwen3-8B --device h100 --devices 8 --train-batch-size 256 --rollout-n 8",
     "GRPO on 8 devices"},
}};

inline constexpr command plan_command{
    .name = "plan",
    .summary = "Find the deployment that meets latency targets with the fewest devices",
    .usage =
        "(--model NAME | --config FILE) --device NAME --slo LIST\n[--concurrency N | --rate X | --trace FILE] "
        "[options]\n(--model NAME | --config FILE) --device NAME --training --devices N [options]",
    .description =
        "Finds the deployment that meets latency targets with the fewest devices. Searches engine,\n"
        "tensor/pipeline/data/expert parallelism, scheduler limits and disaggregated prefill/decode,\n"
        "simulates the most promising candidates, and prints the launch command of each engine.\n"
        "Exit code 8: no deployment meets the targets. The closest one is printed.\n"
        "With --training: the fastest parallel configuration of a training job on --devices devices\n"
        "that fits into their memory, and its launch in torchtitan, Megatron-LM, DeepSpeed and NeMo.\n"
        "Exit code 8: nothing fits. The configuration with the least memory is printed.\n"
        "With --rl: trainer and rollout engine of GRPO or PPO, colocated or on separate devices: time and\n"
        "memory of each phase of an iteration.\n",
    .options = plan_options,
    .run = run_plan,
    .examples = plan_examples};

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/plan.ipp>  // IWYU pragma: export
#endif
