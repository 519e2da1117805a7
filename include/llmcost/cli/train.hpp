// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/cli/question.hpp>
#include <llmcost/cli/subject.hpp>
#include <llmcost/cli/tables.hpp>
#include <llmcost/memory/training_step.hpp>

// `llmcost train`: what a training step holds, category by category.
namespace llmcost::cli {

namespace detail {

inline std::vector<std::string_view> optimizer_words(const program&) {
    std::vector<std::string_view> names;
    for (const optimizer_row& o : optimizers) names.push_back(o.name);
    return names;
}

}  // namespace detail

namespace option {

// clang-format off
inline constexpr option_row
    optimizer      {"--optimizer", value_kind::text,   "NAME", "adamw, sgd, adafactor ... and adamw:fused, :single", "Training", detail::optimizer_words},
    precision      {"--precision", value_kind::choice, "fp32|bf16|bf16-mixed", "of weights and activations (fp32)"},
    implementation {"--attention-implementation", value_kind::choice, "eager|sdpa", "scores written out, or one fused call"},
    recompute      {"--recompute", value_kind::choice, "none|full", "layers made again in backward"},
    loss           {"--loss",      value_kind::choice, "labels|sum", "the model's own, or the sum of what it returns"},
    adapter        {"--adapter",   value_kind::text,   "WORD", "none, lora:r=16,targets=q_proj+v_proj ..."},
    dropout        {"--dropout",   value_kind::choice, "0|keep", "of the configuration: left out, or kept"},
    steps          {"--steps",     value_kind::number, "N",    "optimizer state exists from the first on (2)"};
// clang-format on

}  // namespace option

namespace detail {

inline const optimizer_row& optimizer_of(std::string_view name) {
    if (const optimizer_row* known = find_optimizer(name)) return *known;
    nearest_names near(name);
    for (const optimizer_row& o : optimizers) near.offer(o.name);
    refuse("--optimizer", "no optimizer " + in_quotes(name) + near.hint_or_all());
}

/// `lora:r=16,targets=q_proj+v_proj`: a kind, and what PEFT's configuration says of it.
inline adapter read_adapter(std::string_view text) {
    constexpr std::string_view where = "--adapter";
    const std::size_t colon = text.find(':');
    const std::string_view kind = text.substr(0, colon);
    adapter out;
    constexpr std::pair<std::string_view, adapter_kind> kinds[]{
        {"none", adapter_kind::none}, {"lora", adapter_kind::lora}, {"rslora", adapter_kind::lora}, {"dora", adapter_kind::dora},
        {"ia3", adapter_kind::ia3}, {"prompt", adapter_kind::prompt}, {"bitfit", adapter_kind::bitfit}};
    const auto known = std::ranges::find(kinds, kind, &std::pair<std::string_view, adapter_kind>::first);
    if (known == std::end(kinds)) {
        nearest_names near(kind);
        for (const auto& k : kinds) near.offer(k.first);
        refuse(where, "no adapter " + in_quotes(kind) + near.hint_or_all());
    }
    out.kind = known->second;
    std::string_view rest = colon == std::string_view::npos ? std::string_view{} : text.substr(colon + 1);
    while (!rest.empty()) {
        const std::size_t comma = rest.find(',');
        const std::string_view part = rest.substr(0, comma), key = part.substr(0, part.find('='));
        const std::string_view value = key.size() < part.size() ? part.substr(key.size() + 1) : std::string_view{};
        rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
        if (key == "r")
            out.rank = read_number(where, value, 1);
        else if (key == "n")
            out.tokens = read_number(where, value, 1);
        else if (key == "targets" && value == "all-linear")
            out.all_linear = true;
        else if (key == "targets")
            out.targets = parts_of(value, '+');
        else if (key == "feedforward")
            out.feedforward = parts_of(value, '+');
        else if (key == "save")
            out.saved = parts_of(value, '+');
        else if (key == "bias" && (value == "none" || value == "all" || value == "lora_only"))
            out.bias = value == "all" ? adapter_bias::all : value == "none" ? adapter_bias::none : adapter_bias::lora_only;
        else
            refuse(where, "expected r=, n=, targets=, feedforward=, save= or bias=none|all|lora_only; found " + in_quotes(part));
    }
    return out;
}

inline void put_memory(json_writer& json, std::string_view key, const memory_bytes& b) {
    json.key(key).object().member("total", count(b.total));
    for (std::size_t i = 0; i < memory_categories; ++i) json.member(memory_category_names[i], count(b.of[i]));
    json.end_object();
}

inline std::string train_json(const read_subject& read, const workload& load, const training_step& t) {
    json_writer json;
    json.object().member("model", read.found.who.name).member("batch", load.batch);
    if (!reads_pixels(read.subject)) json.member("sequence", load.sequence);
    json.member("parameters", t.counted.params).member("trainable", count(t.memory.trainable));
    json.member("saved_bytes", count(t.memory.saved_bytes)).key("torch_flops").object();
    json.member("forward", t.counted.torch_flops);
    json.member("backward", t.counted.backward_torch_flops + count(t.memory.recomputed_flops)).end_object();
    put_memory(json, "peak", t.memory.peak.bytes);
    json.key("peak_at").object().member("step", t.memory.peak.step).member("phase", t.memory.peak.phase);
    json.member("operation", t.memory.peak.at).end_object();
    put_memory(json, "own_peaks", t.memory.own_peaks);
    json.key("snapshots").object();
    put_memory(json, "after_forward", t.memory.after_forward);
    put_memory(json, "after_backward", t.memory.after_backward);
    put_memory(json, "after_step", t.memory.after_step);
    json.end_object().end_object();
    return json.text() + "\n";
}

/// The moments of a step as columns, the categories as rows.
inline table train_table(const training_step& t) {
    const memory_timeline& m = t.memory;
    table out{{{"bytes"}, {"peak", true}, {"own_peak", true}, {"after_forward", true}, {"after_backward", true}, {"after_step", true}},
              {}};
    const auto row = [&](std::string_view name, auto of) {
        out.rows.push_back({std::string(name), digits(count(of(m.peak.bytes))), digits(count(of(m.own_peaks))),
                            digits(count(of(m.after_forward))), digits(count(of(m.after_backward))),
                            digits(count(of(m.after_step)))});
    };
    for (std::size_t i = 0; i < memory_categories; ++i)
        row(memory_category_names[i], [i](const memory_bytes& b) { return b.of[i]; });
    row("total", [](const memory_bytes& b) { return b.total; });
    return out;
}

}  // namespace detail

/// What `llmcost train` prints.
[[nodiscard]] inline answered train_answer(const arguments& given, const program& io) {
    training_plan plan;
    plan.step.optimizer = &detail::optimizer_of(given.text(option::optimizer, "adamw"));
    plan.loss = static_cast<training_loss>(given.choice(option::loss));
    plan.step.recompute = static_cast<recomputation>(given.choice(option::recompute));
    plan.step.steps = static_cast<int>(given.number(option::steps, 2));
    workload load;
    load.batch = given.number(option::batch, 1);
    load.sequence = given.number(option::sequence, 1024);
    load.encoder_sequence = given.number(option::encoder_sequence, 0, 0);
    const int precision = given.choice(option::precision);
    load.autocast = precision == 2, load.on_cpu = true;
    load.implementation = static_cast<attention_implementation>(given.choice(option::implementation));
    load.weights = load.activations = precision == 1 ? dtype::bfloat16 : dtype::float32;
    plan.adapts = detail::read_adapter(given.text(option::adapter, "none"));
    const read_subject read = io.read(given, io);
    plan.adapts = with_usual_targets(plan.adapts, std::string_view(read.subject.text_row().model_type));
    const training_step t = train(read.subject, load, plan);
    const auto format = static_cast<output_format>(given.choice(option::format));
    if (format == output_format::json) return detail::train_json(read, load, t);
    return written(detail::train_table(t), format);
}

inline constexpr std::array train_options =
    joined(model_options, std::array{option::batch, option::sequence, option::encoder_sequence, option::optimizer,
                                     option::precision, option::implementation, option::recompute, option::loss,
                                     option::adapter, option::dropout, option::steps, option::format},
           help_option);

inline constexpr std::array<example_row, 1> train_examples{{
    {"llmcost train --model meta-llama/Llama-3.2-1B --batch 4 --sequence 512", "full fine-tuning with AdamW"},
}};

inline constexpr command train_command{.name = "train",
                                       .meaning = "what a training step holds and executes",
                                       .usage = "(--model NAME | --config FILE) [option]...",
                                       .about = "Memory of a training step by category, at its peak and after each phase.\n",
                                       .options = train_options,
                                       .answer = train_answer,
                                       .examples = train_examples};

}  // namespace llmcost::cli
