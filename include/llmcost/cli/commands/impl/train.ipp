// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/train.hpp>

#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/device_options.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/schedule_options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/sweep.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/args/workload_request.hpp>
#include <llmcost/cli/pages/memory_sweep.hpp>
#include <llmcost/cli/pages/sweep_plot.hpp>
#include <llmcost/cli/pages/train_page.hpp>
#include <llmcost/cli/request/adapter_option.hpp>
#include <llmcost/cli/request/memory_fit.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/cli/request/request.hpp>
#include <llmcost/devices/all.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/memory/adapter.hpp>
#include <llmcost/memory/category.hpp>
#include <llmcost/memory/read_adapter.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/report/chart.hpp>
#include <llmcost/report/json_report.hpp>
#include <llmcost/text/messages.hpp>
#include <llmcost/trace/dropout.hpp>

namespace llmcost::cli::detail {

LLMCOST_INLINE training_plan parse_training_plan(const arguments& args) {
    training_plan plan;
    plan.schedule = read_schedule(args, args.choice(option::precision) == 1);
    plan.loss = static_cast<training_loss>(args.choice(option::loss));
    return plan;
}

LLMCOST_INLINE workload training_workload(const arguments& args) {
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
LLMCOST_INLINE void require_supported_dropout(const model& m, const workload& load) {
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
LLMCOST_INLINE void require_supported_fused_loss(const model& m, const workload& load, const training_plan& plan) {
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
LLMCOST_INLINE void require_supported_training(const arguments& args, const model& m, const workload& load,
                                               const training_plan& plan) {
    require_supported_dropout(m, load);
    require_supported_fused_loss(m, load, plan);
    if (args.choice(option::precision) == precision_fp8_mixed && plan.adapter_config.kind != adapter_kind::none)
        throw_usage("--precision", "fp8-mixed cannot be combined with --adapter");
}

/// Parses the measured time of a step, and finds the peak FLOP/s of the device. Throws: `usage`.
LLMCOST_INLINE measured_step read_step_time(const arguments& args, int precision) {
    measured_step out;
    if (!args.has(option::step_seconds)) return out;
    out.seconds = parse_real("--step-seconds", args.text(option::step_seconds), 1e-9, 1e9);
    const device* const target_device = args.has(option::device) ? find_device(args.text(option::device)) : nullptr;
    if (target_device == nullptr)
        throw_usage("--step-seconds", "requires --device, because MFU is a fraction of its peak FLOP/s");
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
LLMCOST_INLINE command_output run_training_sweep(const arguments& args, const program& io, const workload_sweep& work,
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
                           std::vector<count> bytes(std::begin(peak.category_bytes), std::end(peak.category_bytes));
                           bytes.emplace_back(peak.total);
                           return bytes;
                       });
}

LLMCOST_INLINE void finish_training_plan(training_plan& plan, requested_adapter& adapter, const arguments& args,
                                         const streams& io, const parsed_model& read, workload& load) {
    complete_workload(read.subject, args, load);
    check_workload(read.subject, {.base_workload = load});
    resolve_adapter(adapter, args, read.subject, io.err);
    plan.adapter_config = adapter.file.adapts;
    require_supported_training(args, read.subject, load, plan);
    plan.base_quantization = base_of(adapter, read, load);
}

LLMCOST_INLINE training_response compute_training(const arguments& args, const parsed_model& read, const workload& load,
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

LLMCOST_INLINE std::string print(const training_response& response, output_format format) {
    switch (format) {
        case output_format::json: return train_json(response);
        case output_format::text: return train_page(response);
        default: return written(train_table(response), format);
    }
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE command_output run_train(const arguments& args, const program& io) {
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

}  // namespace llmcost::cli
