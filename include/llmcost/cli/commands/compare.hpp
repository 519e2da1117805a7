// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/command.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/sweep.hpp>
#include <llmcost/cli/commands/memory.hpp>
#include <llmcost/cli/commands/timed_operations.hpp>
#include <llmcost/cli/pages/compare_page.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/cli/request/parse_request.hpp>
#include <llmcost/cli/request/request.hpp>
#include <llmcost/cli/request/workload_columns.hpp>
#include <llmcost/memory/inference.hpp>

// `llmcost compare`: figures of models, their differences and their ratios.
namespace llmcost::cli {

namespace detail {

/// Collects the figures of models.
class comparing final : public model_sink {
public:
    comparing(const workload_sweep& work, const arguments& args, const program& io)
        : work_(work), args_(args), io_(io), engine_memory_(parse_engine_memory_profile(args)) {}

    void add(const parsed_model& read) override;
    void fail(std::string name, std::string problem) override;
    [[nodiscard]] comparison take() && {
        return {std::move(models_), std::move(figures_), columns_of_workload(args_, work_, true), work_.has_axes()};
    }

private:
    void select_metrics(const request& q);
    [[nodiscard]] bool is_torch() const { return args_.text(option::allocator) == torch_engine_name; }
    [[nodiscard]] std::string make_workload_label(const std::vector<std::string>& values) const;
    std::vector<std::optional<count>> values_of(const request& q, const parsed_model& read,
                                                const arguments& combination_args);
    static constexpr std::string_view per_token = "cache_bytes_per_token", total_memory = "memory_bytes",
                                      device_time = "device_nanoseconds", host_time = "host_nanoseconds";

    const workload_sweep& work_;
    const arguments& args_;
    const program& io_;
    engine_memory_profile engine_memory_;
    std::vector<compared_model> models_;
    std::vector<compared_figure> figures_;
    std::exception_ptr problem_;
};

}  // namespace detail

/// Runs `llmcost compare`.
[[nodiscard]] command_output run_compare(const arguments& typed, const program& io);

/// The completions of the arguments: models, metrics and scopes.
[[nodiscard]] std::vector<std::string_view> compare_completions(const program& io);

inline constexpr std::array compare_options = concatenate(
    with_section("Model", model_options),
    with_section("Workload",
                 concatenate(swept_options, std::array{option::ragged_batch, option::logits, option::attention})),
    with_section("Multimodal inputs", multimodal_options),
    with_section(
        "Hardware and engine",
        std::array{with_help(option::allocator,
                             "engine whose memory management is used: vllm, sglang, trtllm, transformers, "
                             "pytorch or none (default vllm; pytorch for models without tokens); torch: memory "
                             "and times of PyTorch on --device"),
                   with_help(option::device,
                             "device of --engine torch: a name from llmcost devices, or a "
                             "datasheet file"),
                   option::torch_execution, option::torch_host, option::tf32, option::precision,
                   option::implementation}),
    with_section("Precision",
                 std::array{option::dtype, option::quantization, option::activation_dtype, option::cache_dtype}),
    with_section("Output", std::array{option::format, option::plot}), help_option);

inline constexpr std::array<command_example, 4> compare_examples{{
    {"llmcost compare meta-llama/Llama-3.2-1B Qwen/Qwen3-0.6B", "all metrics of two models"},
    {"llmcost compare meta-llama/Llama-3.2-1B Qwen/Qwen3-0.6B google/gemma-2-2b mult attn",
     "multiplications of attention"},
    {"llmcost compare old/config.json new/config.json --format markdown", "the cost of a change, for a review"},
    {"llmcost compare Qwen/Qwen3-8B meta-llama/Llama-3.1-8B --sequence 1024..131072:x2 flops --plot out.svg",
     "a line chart over sequence length"},
}};

inline constexpr command compare_command{
    .name = "compare",
    .summary = "Compare models: differences and ratios",
    .usage = "MODEL MODEL... [options] [METRIC...] [SCOPE]",
    .description =
        "Compares the metrics of models: values, differences from the first model, and ratios to it.\n"
        "MODEL is a name or a file, as in --model. METRIC and SCOPE are those of llmcost without a\n"
        "command. The default metrics are parameters, counts, KV cache, bytes saved for backward, and\n"
        "memory.\n"
        "LIST: 1,8,64..512:x2.\n",
    .options = compare_options,
    .run = run_compare,
    .examples = compare_examples,
    .completions = compare_completions,
    .has_model_arguments = true};

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/compare.ipp>  // IWYU pragma: export
#endif
