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

// `llmcost train`: its options; train_page.hpp writes the answer.
namespace llmcost::cli {

namespace option {

// clang-format off
inline constexpr option_spec
    precision      {"--precision", value_type::choice, "fp32|bf16|bf16-mixed|fp16-mixed|fp8-mixed", "of weights and activations (fp32)"},
    implementation {"--attention-implementation", value_type::choice, "eager|sdpa", "scores written out, or one fused call"},
    loss           {"--loss",      value_type::choice, "labels|sum|fused", "the model's own, the sum of what it returns, or head and loss in one"},
    dropout        {"--dropout",   value_type::choice, "0|keep", "nothing is dropped, or the configuration's rates hold"},
    step_seconds   {"--step-seconds", value_type::text, "S", "a step took so long: MFU and HFU on --device"};
// clang-format on

}  // namespace option

/// The numbers of a training step, which may be lists.
inline constexpr std::array training_lists{accepts_list(option::batch), accepts_list(option::sequence),
                                           accepts_list(option::encoder_sequence)};

namespace detail {

/// How a command line asks for a model to be trained.
inline training_plan parse_training_plan(const arguments& args) {
    training_plan plan;
    plan.schedule = read_schedule(args, args.choice(option::precision) == 1);
    plan.loss = static_cast<training_loss>(args.choice(option::loss));
    return plan;
}
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
/// Refuses what no walk says of dropout: rates are never taken for 0 silently.
inline void require_supported_dropout(const model& m, const workload& load) {
    if (!load.has_dropout) return;
    const std::string type = quote(std::string_view(m.spec->model_type));
    if (!m.has_dropout_positions())
        throw_usage("--dropout",
                    "keep: where " + type + " drops something is not described yet; 0 leaves all of it out");
    if (m.config.dropout_positions.contains(dropout_position::stochastic))
        throw_usage("--dropout",
                    "keep: this configuration draws which layers run, makes noise on routers or drops everything, "
                    "so that no two steps are alike; 0 leaves all of it out");
}
/// Refuses a fused loss where it is not what Liger puts in the place of head and loss.
inline void require_supported_fused_loss(const model& m, const workload& load, const training_plan& plan) {
    if (plan.loss != training_loss::fused) return;
    const auto no = [](const char* reason) { throw_usage("--loss", std::string("fused: ") + reason); };
    if (load.autocast) no("what a fused loss casts under autocast is not described");
    if (m.config.head != head_kind::causal_lm || m.config.encoder.num_hidden_layers > 0)
        no("only a decoder under a language model's head has one");
    if (m.text_model_spec().process_logits != nullptr) no("this model changes its scores behind the head");
}
/// Refuses what no recording and no source says of a step.
inline void require_supported_training(const arguments& args, const model& m, const workload& load,
                                       const training_plan& plan) {
    require_supported_dropout(m, load);
    require_supported_fused_loss(m, load, plan);
    if (args.choice(option::precision) == precision_fp8_mixed && plan.adapter_config.kind != adapter_kind::none)
        throw_usage("--precision", "fp8-mixed: adapters beside layers of float8 are not described");
}
/// How long a step took, and where.
inline measured_step read_step_time(const arguments& args, int precision) {
    measured_step out;
    if (!args.has(option::step_seconds)) return out;
    out.seconds = parse_real("--step-seconds", args.text(option::step_seconds), 1e-9, 1e9);
    const device* const target_device = args.has(option::device) ? find_device(args.text(option::device)) : nullptr;
    if (target_device == nullptr) throw_usage("--step-seconds", "needs --device, whose peak MFU is a share of");
    const dtype type = precisions[precision].products;
    out.peak = target_device->peak(type);
    out.device_title = printable(target_device->title);
    out.type = type;
    if (out.peak <= 0)
        throw_usage("--step-seconds", "the datasheet of " + out.device_title + " says no peak of " + name_of(type));
    return out;
}

/// Categories at the peak over workloads.
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

/// What of a plan depends on the model; refuses what nobody says of it.
inline void finish_training_plan(training_plan& plan, requested_adapter& adapter, const arguments& args,
                                 const streams& io, const parsed_model& read, workload& load) {
    complete_workload(read.subject, args, load);
    check_workload(read.subject, {.base_workload = load});
    resolve_adapter(adapter, args, read.subject, io.err);
    plan.adapter_config = adapter.file.adapts;
    require_supported_training(args, read.subject, load, plan);
    plan.base_quantization = base_of(adapter, read, load);
}

/// Trains a model, which outlives what comes of it.
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
        throw_usage("--recompute", "selective makes attention again, and this model's is not known to be one");
    if (!adapter.none() && t.run.memory.num_trainable == 0) throw_usage("--adapter", "trains nothing of this model");
    return t;
}

}  // namespace detail

/// What `llmcost train` prints.
[[nodiscard]] inline command_output run_train(const arguments& args, const program& io) {
    training_plan plan = detail::parse_training_plan(args);
    requested_adapter adapter = read_adapter(args);
    const workload_sweep work(args, training_lists);
    workload load = detail::training_workload(work.at(0));
    check_plot(args, true, {});
    const memory_limit limit = parse_memory_limit(args);
    const parsed_model read = io.read(args, io);
    detail::finish_training_plan(plan, adapter, args, io, read, load);
    if (work.has_axes()) return detail::run_training_sweep(args, io, work, read, plan, limit);
    const detail::training_response t = detail::compute_training(args, read, load, plan, adapter, limit);
    const auto format = static_cast<output_format>(args.choice(option::format));
    const exit_code code = exit_code_of_fit(limit, t.needed());
    command_output out{format == output_format::json   ? detail::train_json(t)
                       : format == output_format::text ? detail::train_page(t)
                                                       : written(detail::train_table(t), format),
                       code};
    if (!args.text(option::plot).empty())
        out.file = {std::string(args.text(option::plot)), detail::train_picture(t).document()};
    return out;
}

/// How a model is trained.
inline constexpr std::array training_options =
    concatenate(std::array{option::optimizer, option::adapter, option::precision, option::implementation, option::loss,
                           option::dropout},
                schedule_options);

inline constexpr std::array train_options =
    concatenate(model_options, training_lists,
                std::array{option::image, option::images, option::video, option::videos, option::audio},
                training_options, std::array{option::step_seconds, option::format, option::plot},
                with_section("Memory", memory_limit_options), help_option);

inline constexpr std::array<command_example, 6> train_examples{{
    {"llmcost train --model meta-llama/Llama-3.2-1B --batch 4 --sequence 512", "full fine-tuning with AdamW"},
    {"llmcost train --model mistralai/Mistral-7B-v0.1 --adapter lora:r=16 --precision bf16 --memory 24GB",
     "will it fit?"},
    {"llmcost train --model Qwen/Qwen3-8B --recompute full --optimizer adamw8bit --device h100_sxm",
     "with less memory"},
    {"llmcost train --model Qwen/Qwen3-0.6B --batch 1,2,4,8 --memory 24GB", "the largest batch, by looking"},
    {"llmcost train --model Qwen/Qwen3-0.6B --plot step.svg", "its timeline as a picture"},
    {"llmcost train --model Qwen/Qwen3-0.6B --precision bf16-mixed --format json", "every moment, for a script"},
}};

inline constexpr command train_command{
    .name = "train",
    .summary = "what a training step holds and executes",
    .usage = "(--model NAME | --config FILE) [option]...",
    .description =
        "Memory of a training step by category, as PyTorch's memory tracker tells it\n"
        "apart: at the peak, over its layers, and after each phase. Eager PyTorch, kernels\n"
        "of the CPU; adapters as PEFT puts them into a model.\n",
    .options = train_options,
    .run = run_train,
    .examples = train_examples};

}  // namespace llmcost::cli
