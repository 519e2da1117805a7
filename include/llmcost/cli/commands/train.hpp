// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/cli/args/schedule_options.hpp>
#include <llmcost/cli/args/sweep.hpp>
#include <llmcost/cli/pages/memory_sweep.hpp>
#include <llmcost/cli/pages/train_page.hpp>
#include <llmcost/cli/request/adapter_option.hpp>
#include <llmcost/cli/request/memory_fit.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/cli/request/request.hpp>

// `llmcost train`: the memory of a training step. `train_page.hpp` has the output.
//
// The steps of the command are those of `serve.hpp`: parse, validate, compute, print.
namespace llmcost::cli {

namespace option {

inline constexpr option_spec precision{.name = "--precision",
                                       .value = "TYPE",
                                       .type = value_type::choice,
                                       .choices = "fp32|bf16|bf16-mixed|fp16-mixed|fp8-mixed",
                                       .help = "fp32, bf16, bf16-mixed, fp16-mixed or fp8-mixed (default fp32)"};
inline constexpr option_spec implementation{.name = "--attention-implementation",
                                            .value = "TYPE",
                                            .type = value_type::choice,
                                            .choices = "eager|sdpa",
                                            .help = "eager, or sdpa (fused) (default eager)"};
inline constexpr option_spec loss{.name = "--loss",
                                  .value = "TYPE",
                                  .type = value_type::choice,
                                  .choices = "labels|sum|fused",
                                  .help =
                                      "labels: the model's loss; sum: sum of the outputs; fused: fused linear "
                                      "cross-entropy (default labels)"};
inline constexpr option_spec dropout{.name = "--dropout",
                                     .value = "0|keep",
                                     .type = value_type::choice,
                                     .choices = "0|keep",
                                     .help = "keep: use the dropout rates of the configuration (default 0)"};
inline constexpr option_spec step_seconds{.name = "--step-seconds",
                                          .value = "S",
                                          .type = value_type::text,
                                          .help = "measured step time; reports MFU and HFU for --device"};

}  // namespace option

/// The options of a training step that accept lists.
inline constexpr std::array training_lists{accepts_list(option::batch), accepts_list(option::sequence),
                                           accepts_list(option::encoder_sequence)};

namespace detail {

/// Parses schedule and loss of a training step. Throws: `usage`.
inline training_plan parse_training_plan(const arguments& args) {
    training_plan plan;
    plan.schedule = read_schedule(args, args.choice(option::precision) == 1);
    plan.loss = static_cast<training_loss>(args.choice(option::loss));
    return plan;
}
/// The workload of a training step. Throws: `usage`.
inline workload training_workload(const arguments& args) {
    workload load;
    load.batch = args.number(option::batch, 1);
    load.sequence = args.number(option::sequence, 1024);
    load.encoder_sequence = args.number(option::encoder_sequence, 0, 0);
    parse_multimodal_inputs(args, load);
    const int precision = args.choice(option::precision);
    const bool uses_bfloat16 = precision == precision_bf16 || precision == precision_fp8_mixed;
    load.weights = load.activations = uses_bfloat16 ? dtype::bfloat16 : dtype::float32;
    load.autocast = precision == precision_bf16_mixed || precision == precision_fp16_mixed;
    load.uses_cpu_kernels = true;
    load.has_dropout = args.choice(option::dropout) == 1;
    load.implementation = static_cast<attention_implementation>(args.choice(option::implementation));
    return load;
}
/// Throws: `usage` if the dropout rates of the configuration are not supported. They are never ignored silently.
inline void require_supported_dropout(const model& m, const workload& load) {
    if (!load.has_dropout) return;
    const std::string type = quote(std::string_view(m.spec->model_type));
    if (!m.has_dropout_positions())
        throw_usage("--dropout", "keep is not supported: the dropout positions of " + type + " are unknown; use 0");
    if (m.config.dropout_positions.contains(dropout_position::stochastic))
        throw_usage("--dropout",
                    "keep is not supported: layerdrop, router jitter or a rate of 1 makes the cost of a step random; "
                    "use 0");
}
/// Throws: `usage` if Liger has no fused linear cross-entropy for the model.
inline void require_supported_fused_loss(const model& m, const workload& load, const training_plan& plan) {
    if (plan.loss != training_loss::fused) return;
    const auto reject = [](const char* reason) {
        throw_usage("--loss", std::string("fused is not supported ") + reason);
    };
    if (load.autocast) reject("with autocast; use --precision fp32 or bf16");
    if (m.config.head != head_kind::causal_lm || m.config.encoder.num_hidden_layers > 0)
        reject("for this model, which is not a decoder-only language model");
    if (m.text_model_spec().process_logits != nullptr)
        reject("for this model, which changes its logits after the head");
}
/// Throws: `usage` if neither a recorded step nor source code describes the training step.
inline void require_supported_training(const arguments& args, const model& m, const workload& load,
                                       const training_plan& plan) {
    require_supported_dropout(m, load);
    require_supported_fused_loss(m, load, plan);
    if (args.choice(option::precision) == precision_fp8_mixed && plan.adapter_config.kind != adapter_kind::none)
        throw_usage("--precision", "fp8-mixed cannot be combined with --adapter");
}
/// Parses the measured time of a step, and finds the peak FLOP/s of the device. Throws: `usage`.
inline measured_step read_step_time(const arguments& args, int precision) {
    measured_step out;
    if (!args.has(option::step_seconds)) return out;
    out.seconds = parse_real("--step-seconds", args.text(option::step_seconds), 1e-9, 1e9);
    const device* const target_device = args.has(option::device) ? find_device(args.text(option::device)) : nullptr;
    if (target_device == nullptr)
        throw_usage("--step-seconds", "requires --device, whose peak FLOP/s is the reference of MFU");
    const dtype type = precisions[precision].products;
    out.peak = target_device->peak(type);
    out.device_title = printable(target_device->title);
    out.type = type;
    if (out.peak <= 0)
        throw_usage("--step-seconds",
                    "the datasheet of " + out.device_title + " has no peak FLOP/s for " + name_of(type));
    return out;
}

/// The memory categories at the peak for all workloads of a command line with lists, as a table.
inline command_output run_training_sweep(const arguments& args, const program& io, const workload_sweep& work,
                                         const parsed_model& read, const training_plan& plan,
                                         const memory_limit& limit) {
    std::vector<std::string_view> names(std::begin(memory_category_names), std::end(memory_category_names));
    names.emplace_back("total");
    const auto complete = [&](const arguments& combination_args) {
        workload step_load = training_workload(combination_args);
        complete_workload(read.subject, combination_args, step_load);
        return step_load;
    };
    return swept_bytes(args, io, work, read.found.name_of_model.name, limit, names, complete,
                       [&](const arguments&, const workload& step_load) {
                           const memory_bytes peak = train(read.subject, step_load, plan).memory.peak.bytes;
                           std::vector<count> bytes(std::begin(peak.by_category), std::end(peak.by_category));
                           bytes.emplace_back(peak.total);
                           return bytes;
                       });
}

/// Completes a plan with the model: workload, adapter and quantized base weights. Throws: `usage`.
inline void finish_training_plan(training_plan& plan, requested_adapter& adapter, const arguments& args,
                                 const streams& io, const parsed_model& read, workload& load) {
    complete_workload(read.subject, args, load);
    check_workload(read.subject, {.base_workload = load});
    resolve_adapter(adapter, args, read.subject, io.err);
    plan.adapter_config = adapter.file.adapts;
    require_supported_training(args, read.subject, load, plan);
    plan.base_quantization = base_of(adapter, read, load);
}

/// The memory of a training step. `read` must outlive the result. Throws: `usage`.
inline training_response compute_training(const arguments& args, const parsed_model& read, const workload& load,
                                          const training_plan& plan, const requested_adapter& adapter,
                                          const memory_limit& limit) {
    const int precision = args.choice(option::precision);
    training_response t{read,
                        load,
                        plan,
                        precision,
                        adapter.label,
                        limit,
                        read_step_time(args, precision),
                        train(read.subject, load, plan)};
    if (plan.schedule.recompute == recompute_mode::selective && !t.run.has_attention_shape)
        throw_usage("--recompute", "selective is not supported: this model has no known attention to recompute");
    if (!adapter.none() && t.run.memory.num_trainable == 0) throw_usage("--adapter", "matches no module of this model");
    return t;
}

inline std::string print(const training_response& response, output_format format) {
    switch (format) {
        case output_format::json: return train_json(response);
        case output_format::text: return train_page(response);
        default: return written(train_table(response), format);
    }
}

}  // namespace detail

/// Runs `llmcost train`.
[[nodiscard]] inline command_output run_train(const arguments& args, const program& io) {
    training_plan plan = detail::parse_training_plan(args);
    requested_adapter adapter = read_adapter(args);
    const workload_sweep sweep(args, training_lists);
    workload load = detail::training_workload(sweep.at(0));
    check_plot(args, true, {});
    const memory_limit limit = parse_memory_limit(args);
    const parsed_model read = io.read(args, io);
    detail::finish_training_plan(plan, adapter, args, io, read, load);
    if (sweep.has_axes()) return detail::run_training_sweep(args, io, sweep, read, plan, limit);

    const detail::training_response response = detail::compute_training(args, read, load, plan, adapter, limit);
    command_output out{detail::print(response, static_cast<output_format>(args.choice(option::format))),
                       exit_code_of_fit(limit, response.needed())};
    if (!args.text(option::plot).empty())
        out.file = {std::string(args.text(option::plot)), detail::train_picture(response).document()};
    return out;
}

/// The options of a training step: section "Training", then "Parallelism".
inline constexpr std::array training_options =
    concatenate(with_section("Training", concatenate(std::array{option::optimizer, option::adapter, option::precision,
                                                                option::implementation, option::loss, option::dropout},
                                                     schedule_options)),
                with_section("Parallelism", sharding_options));

inline constexpr std::array train_options =
    concatenate(with_section("Model", model_options), with_section("Workload", training_lists),
                with_section("Multimodal inputs", multimodal_options), training_options,
                with_section("Hardware", concatenate(memory_limit_options, std::array{option::step_seconds})),
                with_section("Output", std::array{option::format, option::plot}), help_option);

inline constexpr std::array<command_example, 6> train_examples{{
    {"llmcost train --model meta-llama/Llama-3.2-1B --batch 4 --sequence 512", "full fine-tuning with AdamW"},
    {"llmcost train --model mistralai/Mistral-7B-v0.1 --adapter lora:r=16 --precision bf16 --memory 24GB",
     "LoRA fine-tuning in 24 GB"},
    {"llmcost train --model Qwen/Qwen3-8B --recompute full --optimizer adamw8bit --device h100_sxm",
     "activation checkpointing and an 8-bit optimizer"},
    {"llmcost train --model Qwen/Qwen3-0.6B --batch 1,2,4,8 --memory 24GB",
     "a table of batch sizes, with those that fit"},
    {"llmcost train --model Qwen/Qwen3-0.6B --plot step.svg", "memory over time as a chart"},
    {"llmcost train --model Qwen/Qwen3-0.6B --precision bf16-mixed --format json", "the memory timeline as JSON"},
}};

inline constexpr command train_command{
    .name = "train",
    .summary = "Compute the memory of a training step",
    .usage = "(--model NAME | --config FILE) [options]",
    .description =
        "Computes the memory of a training step: peak memory by category, memory per layer, and memory\n"
        "after the forward pass, the backward pass and the optimizer step. The categories are those of\n"
        "PyTorch's memory tracker. Reference: eager PyTorch on the CPU; adapters as in PEFT.\n"
        "LIST: 1,8,64..512:x2. A list prints a table.\n"
        "Exit code 8: the step does not fit into --memory or --device.\n",
    .options = train_options,
    .run = run_train,
    .examples = train_examples};

}  // namespace llmcost::cli
