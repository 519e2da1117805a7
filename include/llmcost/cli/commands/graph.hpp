// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/command.hpp>
#include <llmcost/cli/args/device_options.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/schedule_options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/commands/graph_devices.hpp>
#include <llmcost/cli/commands/timed_operations.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/cli/request/torch_options.hpp>
#include <llmcost/graph/module_graph.hpp>
#include <llmcost/graph/pass_graph.hpp>
#include <llmcost/graph/split.hpp>

// `llmcost graph`: the graph of a pass, its cuts and pipeline splits, and exports for other programs.
namespace llmcost::cli {

/// The output formats, in the order of `--format`.
enum class graph_format { text, json, dot, graphml, edgeshard, chrome, chakra };

namespace option {

inline constexpr option_spec level{.name = "--level",
                                   .value = "LEVEL",
                                   .type = value_type::choice,
                                   .choices = "layer|module|operator",
                                   .help =
                                       "nodes of the graph: layer (items of layer lists, and modules outside of "
                                       "them), module (modules without children) or operator (default layer)"};
inline constexpr option_spec part_depth{.name = "--depth",
                                        .value = "N",
                                        .type = value_type::number,
                                        .help = "modules N levels below the model as nodes, instead of --level"};
inline constexpr option_spec graph_as{.name = "--format",
                                      .value = "FORMAT",
                                      .type = value_type::choice,
                                      .choices = "text|json|dot|graphml|edgeshard|chrome|chakra",
                                      .help =
                                          "text, json, dot, graphml, edgeshard, chrome (timeline of a step) or chakra "
                                          "(default text)"};
inline constexpr option_spec out{.name = "--out",
                                 .aliases = {"-o"},
                                 .value = "FILE",
                                 .type = value_type::file,
                                 .help =
                                     "output file; edgeshard writes FILE_module.txt and FILE_detail.txt, chakra "
                                     "FILE.0.et, FILE.1.et ... (default: standard output)"};
inline constexpr option_spec train_graph =
    with_help(option_spec{.name = "--backward"}, "include the backward pass and gradients of a training step");
inline constexpr option_spec cuts{.name = "--cuts",
                                  .help = "list the cuts into two parts, with the tensors that cross them"};

}  // namespace option

namespace detail {

/// A parsed `llmcost graph` command line with its graph.
struct graph_request {
    parsed_model read;
    workload load{};
    operator_graph graph{};
    node_graph parts{};
    std::optional<graph_device> device{};
    std::optional<deployment> torch{};  ///< of `--engine torch`
    timed_operations timed{};           ///< times of `torch`
    double link = 0;                    ///< bandwidth of the first link in bytes per second; 0: unknown
    std::optional<split_request> split_options{};
    graph_split split{};
    std::vector<pipeline_device> holds{};

    [[nodiscard]] std::string title() const;
};

void write_file(const std::string& path, const std::string& text);

}  // namespace detail

/// Runs `llmcost graph`.
[[nodiscard]] command_output run_graph(const arguments& args, const program& io);

inline constexpr std::array graph_options = concatenate(
    with_section("Model", model_options),
    with_section("Workload",
                 std::array{option::batch, option::sequence, option::past, option::encoder_sequence, option::logits}),
    with_section("Multimodal inputs", multimodal_options), with_section("Training", std::array{option::train_graph}),
    with_section("Parallelism", std::array{option::tp, option::split, option::stages, option::link}),
    with_section("Hardware and engine",
                 std::array{option::device,
                            with_help(option::engine,
                                      "trtllm, vllm or sglang: of --format chrome and chakra; torch: times of PyTorch, "
                                      "as llmcost latency"),
                            option::calibration, option::torch_execution, option::torch_host, option::tf32}),
    with_section("Precision", std::array{option::linear_dtype, option::precision, option::implementation}),
    with_section("Output", std::array{option::level, option::part_depth, option::cuts, option::graph_as, option::out}),
    help_option);

inline constexpr std::array<command_example, 5> graph_examples{{
    {"llmcost graph --model meta-llama/Llama-3.2-1B --device h200 --cuts", "layers, their times, and all cuts"},
    {"llmcost graph --model meta-llama/Llama-3.1-8B --stage-devices h200,l4,l4 --link 1Gbit/s",
     "the best pipeline split over three devices"},
    {"llmcost graph --model openai-community/gpt2 --level module --format dot | dot -Tsvg > gpt2.svg", "a drawing"},
    {"llmcost graph --model openai-community/gpt2 --backward --level operator --format json", "a training step"},
    {"llmcost graph --model Qwen/Qwen3-8B --device h200 --tp 2 --format chrome --out step.json",
     "a timeline for ui.perfetto.dev"},
}};

inline constexpr command graph_command{
    .name = "graph",
    .summary = "Export the graph of a forward pass, and find pipeline splits",
    .usage = "(--model NAME | --config FILE) [options]",
    .description =
        "Computes the graph of a forward pass or a training step: modules or operations, and the tensors\n"
        "between them. Lists its cuts, and finds the best split into pipeline stages over devices.\n"
        "Exit code 8: no split fits into the memory of the devices.\n",
    .options = graph_options,
    .run = run_graph,
    .examples = graph_examples};

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/graph.ipp>  // IWYU pragma: export
#endif
