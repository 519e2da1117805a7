// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/cli/adapter_option.hpp>
#include <llmcost/cli/question.hpp>
#include <llmcost/cli/room.hpp>
#include <llmcost/cli/schedule_options.hpp>
#include <llmcost/cli/subject.hpp>
#include <llmcost/cli/sweep.hpp>
#include <llmcost/cli/swept_bytes.hpp>
#include <llmcost/cli/train_page.hpp>

// `llmcost train`: its options; train_page.hpp writes the answer.
namespace llmcost::cli {

namespace option {

// clang-format off
inline constexpr option_row
    precision      {"--precision", value_kind::choice, "fp32|bf16|bf16-mixed|fp16-mixed|fp8-mixed", "of weights and activations (fp32)"},
    implementation {"--attention-implementation", value_kind::choice, "eager|sdpa", "scores written out, or one fused call"},
    loss           {"--loss",      value_kind::choice, "labels|sum|fused", "the model's own, the sum of what it returns, or head and loss in one"},
    dropout        {"--dropout",   value_kind::choice, "0|keep", "nothing is dropped, or the configuration's rates hold"},
    step_seconds   {"--step-seconds", value_kind::text, "S", "a step took so long: MFU and HFU on --device"};
// clang-format on

}  // namespace option

/// The numbers of a training step, which may be lists.
inline constexpr std::array training_lists{listed(option::batch), listed(option::sequence),
                                           listed(option::encoder_sequence)};

namespace detail {

/// How a command line asks for a model to be trained.
inline training_plan read_training_plan(const arguments& given) {
    training_plan plan;
    plan.step = read_schedule(given, given.choice(option::precision) == 1);
    plan.loss = static_cast<training_loss>(given.choice(option::loss));
    return plan;
}
inline workload training_workload(const arguments& given) {
    workload load;
    load.batch = given.number(option::batch, 1);
    load.sequence = given.number(option::sequence, 1024);
    load.encoder_sequence = given.number(option::encoder_sequence, 0, 0);
    read_media(given, load);
    const int precision = given.choice(option::precision);
    const bool narrow = precision == precision_bf16 || precision == precision_fp8_mixed;
    load.weights = load.activations = narrow ? dtype::bfloat16 : dtype::float32;
    load.autocast = precision == precision_bf16_mixed || precision == precision_fp16_mixed, load.on_cpu = true;
    load.keeps_dropout = given.choice(option::dropout) == 1;
    load.implementation = static_cast<attention_implementation>(given.choice(option::implementation));
    return load;
}
/// Refuses what no walk says of dropout: rates are never taken for 0 silently.
inline void check_dropout(const model& m, const workload& load) {
    if (!load.keeps_dropout) return;
    const std::string type = in_quotes(std::string_view(m.kind->model_type));
    if (!m.describes_dropout())
        refuse("--dropout", "keep: where " + type + " drops something is not described yet; 0 leaves all of it out");
    if (m.dims.drops.has(dropout_of::drawn))
        refuse("--dropout",
               "keep: this configuration draws which layers run, makes noise on routers or drops everything, "
               "so that no two steps are alike; 0 leaves all of it out");
}
/// Refuses a fused loss where it is not what Liger puts in the place of head and loss.
inline void check_fused_loss(const model& m, const workload& load, const training_plan& plan) {
    if (plan.loss != training_loss::fused) return;
    const auto no = [](const char* why) { refuse("--loss", std::string("fused: ") + why); };
    if (load.autocast) no("what a fused loss casts under autocast is not described");
    if (m.dims.head != head_kind::causal_lm || m.dims.encoder.num_hidden_layers > 0)
        no("only a decoder under a language model's head has one");
    if (m.text_row().finish != nullptr) no("this model changes its scores behind the head");
}
/// Refuses what no recording and no source says of a step.
inline void check_training(const arguments& given, const model& m, const workload& load, const training_plan& plan) {
    check_dropout(m, load);
    check_fused_loss(m, load, plan);
    if (given.choice(option::precision) == precision_fp8_mixed && plan.adapts.kind != adapter_kind::none)
        refuse("--precision", "fp8-mixed: adapters beside layers of float8 are not described");
}
/// How long a step took, and where.
inline step_time read_step_time(const arguments& given, int precision) {
    step_time out;
    if (!given.has(option::step_seconds)) return out;
    out.seconds = read_real("--step-seconds", given.text(option::step_seconds), 1e-9, 1e9);
    const device* const on = given.has(option::device) ? find_device(given.text(option::device)) : nullptr;
    if (on == nullptr) refuse("--step-seconds", "needs --device, whose peak MFU is a share of");
    const dtype type = precisions[precision].products;
    out.peak = on->peak(type), out.of = printable(on->title), out.type = type;
    if (out.peak <= 0) refuse("--step-seconds", "the datasheet of " + out.of + " says no peak of " + name_of(type));
    return out;
}

/// Categories at the peak over workloads.
inline answered swept_training(const arguments& given, const program& io, const sweep& work, const read_subject& read,
                               const training_plan& plan, const room_asked& room) {
    std::vector<std::string_view> names(std::begin(memory_category_names), std::end(memory_category_names));
    names.emplace_back("total");
    const auto complete = [&](const arguments& each) {
        workload asked = training_workload(each);
        complete_workload(read.subject, each, asked);
        return asked;
    };
    return swept_bytes(given, io, work, read.found.who.name, room, names, complete,
                       [&](const arguments&, const workload& asked) {
                           const memory_bytes peak = train(read.subject, asked, plan).memory.peak.bytes;
                           std::vector<count> bytes(std::begin(peak.of), std::end(peak.of));
                           bytes.emplace_back(peak.total);
                           return bytes;
                       });
}

/// What of a plan depends on the model; refuses what nobody says of it.
inline void settle_training(training_plan& plan, asked_adapter& adapter, const arguments& given, const streams& io,
                            const read_subject& read, workload& load) {
    complete_workload(read.subject, given, load);
    check_workload(read.subject, {.base = load});
    settle_adapter(adapter, given, read.subject, io.err);
    plan.adapts = adapter.file.adapts;
    check_training(given, read.subject, load, plan);
    plan.base = base_of(adapter, read, load);
}

/// Trains a model, which outlives what comes of it.
inline trained trained_of(const arguments& given, const read_subject& read, const workload& load, const training_plan& plan,
                          const asked_adapter& adapter, const room_asked& room) {
    const int precision = given.choice(option::precision);
    trained t{
        read, load, plan, precision, adapter.words, room, read_step_time(given, precision), train(read.subject, load, plan)};
    if (plan.step.recompute == recomputation::selective && !t.run.knows_attention)
        refuse("--recompute", "selective makes attention again, and this model's is not known to be one");
    if (!adapter.none() && t.run.memory.trainable == 0) refuse("--adapter", "trains nothing of this model");
    return t;
}

}  // namespace detail

/// What `llmcost train` prints.
[[nodiscard]] inline answered train_answer(const arguments& given, const program& io) {
    training_plan plan = detail::read_training_plan(given);
    asked_adapter adapter = read_adapter(given);
    const sweep work(given, training_lists);
    workload load = detail::training_workload(work.at(0));
    check_plot(given, true, {});
    const room_asked room = read_room(given);
    const read_subject read = io.read(given, io);
    detail::settle_training(plan, adapter, given, io, read, load);
    if (work.any()) return detail::swept_training(given, io, work, read, plan, room);
    const detail::trained t = detail::trained_of(given, read, load, plan, adapter, room);
    const auto format = static_cast<output_format>(given.choice(option::format));
    const exit_code code = code_of(room, t.needed());
    answered out{format == output_format::json   ? detail::train_json(t)
                 : format == output_format::text ? detail::train_page(t)
                                                 : written(detail::train_table(t), format),
                 code};
    if (!given.text(option::plot).empty())
        out.file = {std::string(given.text(option::plot)), detail::train_picture(t).document()};
    return out;
}

/// How a model is trained.
inline constexpr std::array training_options = joined(
    std::array{option::optimizer, option::adapter, option::precision, option::implementation, option::loss, option::dropout},
    schedule_options);

inline constexpr std::array train_options =
    joined(model_options, training_lists,
           std::array{option::image, option::images, option::video, option::videos, option::audio}, training_options,
           std::array{option::step_seconds, option::format, option::plot}, titled("Memory", room_options), help_option);

inline constexpr std::array<example_row, 6> train_examples{{
    {"llmcost train --model meta-llama/Llama-3.2-1B --batch 4 --sequence 512", "full fine-tuning with AdamW"},
    {"llmcost train --model mistralai/Mistral-7B-v0.1 --adapter lora:r=16 --precision bf16 --memory 24GB", "will it fit?"},
    {"llmcost train --model Qwen/Qwen3-8B --recompute full --optimizer adamw8bit --device h100_sxm", "with less memory"},
    {"llmcost train --model Qwen/Qwen3-0.6B --batch 1,2,4,8 --memory 24GB", "the largest batch, by looking"},
    {"llmcost train --model Qwen/Qwen3-0.6B --plot step.svg", "its timeline as a picture"},
    {"llmcost train --model Qwen/Qwen3-0.6B --precision bf16-mixed --format json", "every moment, for a script"},
}};

inline constexpr command train_command{
    .name = "train",
    .meaning = "what a training step holds and executes",
    .usage = "(--model NAME | --config FILE) [option]...",
    .about =
        "Memory of a training step by category, as PyTorch's memory tracker tells it\n"
        "apart: at the peak, over its layers, and after each phase. Eager PyTorch, kernels\n"
        "of the CPU; adapters as PEFT puts them into a model.\n",
    .options = train_options,
    .answer = train_answer,
    .examples = train_examples};

}  // namespace llmcost::cli
