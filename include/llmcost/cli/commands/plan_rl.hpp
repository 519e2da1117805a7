// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>

// `llmcost plan --rl`: trainer and rollout engine of reinforcement learning, on shared or on separate devices.
//
// The steps of the command are those of `serve.hpp`: parse, validate, compute, print.
namespace llmcost::cli {

namespace option {

inline constexpr option_spec rl{.name = "--rl",
                                .help =
                                    "plan reinforcement learning (GRPO, PPO): trainer and rollout engine on --devices "
                                    "devices"};
inline constexpr option_spec rl_algorithm{.name = "--algorithm",
                                          .aliases = {"--adv-estimator"},
                                          .value = "NAME",
                                          .type = value_type::choice,
                                          .choices = "grpo|ppo",
                                          .help = "grpo, or ppo with a critic of the size of the model (default grpo)"};
inline constexpr option_spec train_batch_size{.name = "--train-batch-size",
                                              .aliases = {"--rollout-batch-size"},
                                              .value = "N",
                                              .type = value_type::number,
                                              .help = "prompts of an iteration with --rl (default 1024)"};
inline constexpr option_spec rollout_n{.name = "--rollout-n",
                                       .aliases = {"--n-samples-per-prompt", "--num-generations"},
                                       .value = "N",
                                       .type = value_type::number,
                                       .help = "responses to a prompt with --rl (default 8)"};
inline constexpr option_spec prompt_length{.name = "--prompt-length",
                                           .aliases = {"--max-prompt-length", "--prompt-max-len"},
                                           .value = "N",
                                           .type = value_type::number,
                                           .help = "tokens of a prompt with --rl (default 512)"};
inline constexpr option_spec response_length{
    .name = "--response-length",
    .aliases = {"--max-response-length", "--max-completion-length", "--generate-max-len"},
    .value = "N|LOW..HIGH",
    .type = value_type::text,
    .help = "tokens of a response with --rl, or a range (default 1024)"};
inline constexpr option_spec mini_batch_size{
    .name = "--ppo-mini-batch-size",
    .value = "N",
    .type = value_type::number,
    .help = "prompts of a training step with --rl (default: --train-batch-size)"};
inline constexpr option_spec ppo_epochs{.name = "--ppo-epochs",
                                        .value = "N",
                                        .type = value_type::number,
                                        .help = "training passes over the responses of an iteration (default 1)"};
inline constexpr option_spec no_reference{.name = "--no-reference",
                                          .help = "no reference model: training without KL divergence"};
inline constexpr option_spec reward_model{.name = "--reward-model",
                                          .help = "a reward model of the size of the model (default: a function)"};
inline constexpr option_spec rl_placement{.name = "--placement",
                                          .value = "TYPE",
                                          .type = value_type::choice,
                                          .choices = "all|colocated|separate",
                                          .help =
                                              "devices of trainer and rollout engine: colocated, separate or all "
                                              "(default all)"};
inline constexpr option_spec rollout_devices{.name = "--rollout-devices",
                                             .value = "N",
                                             .type = value_type::number,
                                             .help =
                                                 "devices of the rollout engine, separate from the trainer (default: "
                                                 "1/4, 1/2 and 3/4 of --devices)"};
inline constexpr option_spec rollout_tp{.name = "--rollout-tp",
                                        .aliases = {"--vllm-tensor-parallel-size"},
                                        .value = "N",
                                        .type = value_type::number,
                                        .help = "tensor-parallel size of the rollout engine (default: 1, 2, 4, 8)"};
inline constexpr option_spec is_async{.name = "--async",
                                      .help = "separate devices: the rollout runs one iteration ahead of the training"};
inline constexpr option_spec offload_trainer{
    .name = "--offload", .help = "colocated: parameters and optimizer state are in host memory during the rollout"};
inline constexpr option_spec iterations{.name = "--iterations",
                                        .value = "N",
                                        .type = value_type::number,
                                        .help = "iterations with --rl; reports days and, with --price, the price"};

}  // namespace option

/// The options of `llmcost plan` that require `--rl`.
inline constexpr std::array rl_plan_options{option::rl,
                                            option::rl_algorithm,
                                            option::train_batch_size,
                                            option::rollout_n,
                                            option::prompt_length,
                                            option::response_length,
                                            option::mini_batch_size,
                                            option::ppo_epochs,
                                            option::no_reference,
                                            option::reward_model,
                                            option::rl_placement,
                                            option::rollout_devices,
                                            option::rollout_tp,
                                            option::is_async,
                                            option::offload_trainer,
                                            option::iterations};

namespace detail {

/// Whether a command line of `llmcost plan` plans reinforcement learning. Throws: `usage` for options of other plans.
[[nodiscard]] bool is_rl_plan(const arguments& args);

/// `llmcost plan --rl`.
[[nodiscard]] command_output run_rl_plan(const arguments& args, const program& io);

}  // namespace detail

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/plan_rl.ipp>  // IWYU pragma: export
#endif
