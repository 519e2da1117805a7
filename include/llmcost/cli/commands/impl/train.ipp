// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/train.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/device_options.hpp>
#include <llmcost/cli/args/input_labels.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/output_file.hpp>
#include <llmcost/cli/args/parallelism_options.hpp>
#include <llmcost/cli/args/schedule_options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/sweep.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/args/workload_request.hpp>
#include <llmcost/cli/commands/device_comparison.hpp>
#include <llmcost/cli/commands/step_estimate.hpp>
#include <llmcost/cli/commands/training_combinations.hpp>
#include <llmcost/cli/pages/device_table.hpp>
#include <llmcost/cli/pages/job_page.hpp>
#include <llmcost/cli/pages/job_picture.hpp>
#include <llmcost/cli/pages/memory_sweep.hpp>
#include <llmcost/cli/pages/step_time.hpp>
#include <llmcost/cli/pages/sweep_plot.hpp>
#include <llmcost/cli/pages/train_page.hpp>
#include <llmcost/cli/request/adapter_option.hpp>
#include <llmcost/cli/request/attention_option.hpp>
#include <llmcost/cli/request/memory_fit.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/cli/request/request.hpp>
#include <llmcost/cli/request/torch_options.hpp>
#include <llmcost/devices/all.hpp>
#include <llmcost/devices/cuda_capability.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/distributed/megatron_ranks.hpp>
#include <llmcost/distributed/pipeline_ranks.hpp>
#include <llmcost/distributed/simai_workload.hpp>
#include <llmcost/distributed/tensor_parallel_plan.hpp>
#include <llmcost/distributed/training_memory.hpp>
#include <llmcost/distributed/training_parallelism.hpp>
#include <llmcost/distributed/training_rank.hpp>
#include <llmcost/distributed/training_ranks.hpp>
#include <llmcost/distributed/training_trace.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/memory/adapter.hpp>
#include <llmcost/memory/category.hpp>
#include <llmcost/memory/parallel_config.hpp>
#include <llmcost/memory/read_adapter.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/report/chart.hpp>
#include <llmcost/report/json_report.hpp>
#include <llmcost/text/messages.hpp>
#include <llmcost/torch/compiled_memory.hpp>
#include <llmcost/torch/compiled_step.hpp>
#include <llmcost/trace/dropout.hpp>

namespace llmcost::cli::detail {

/// The format of `--format`, or JSON with `--json`. Throws: `usage` if both are given.
[[nodiscard]] LLMCOST_INLINE output_format format_of_step(const arguments& args) {
    if (args.has(option::json) && args.has(option::format)) throw_usage("--json", "cannot be combined with --format");
    return args.has(option::json) ? output_format::json : static_cast<output_format>(args.choice(option::format));
}

LLMCOST_INLINE training_plan parse_training_plan(const arguments& args) {
    training_plan plan;
    const int precision = args.choice(option::precision, precision_auto);
    plan.schedule =
        read_schedule(args, precision == precision_bf16 || precision == precision_fp16 || precision == precision_auto);
    plan.loss = static_cast<training_loss>(args.choice(option::loss));
    read_sharding(args, plan.schedule);
    return plan;
}

/// The compute capability of `--device`, or of an H100 without it. Throws: `usage` if it is unknown.
[[nodiscard]] LLMCOST_INLINE std::int32_t cuda_capability_of(const arguments& args) {
    constexpr std::int32_t hopper = 90;
    if (!args.has(option::device)) return hopper;
    const device* const target_device = find_device(args.text(option::device));
    const std::int32_t capability = target_device != nullptr ? llmcost::cuda_capability_of(*target_device) : 0;
    if (capability == 0)
        throw_usage("--on", "cuda is not supported: the compute capability of " + quote(args.text(option::device)) +
                                " is unknown; use cpu");
    return capability;
}

LLMCOST_INLINE workload training_workload(const arguments& args) {
    workload load;
    load.batch = args.number(option::batch, 1);
    load.sequence = args.number(option::sequence, 1024);
    load.encoder_sequence = args.number(option::encoder_sequence, 0, 0);
    parse_multimodal_inputs(args, load);
    if (is_compiled(args) && args.has(option::torch_device) && args.choice(option::torch_device) == 0)
        throw_usage(option::compile.name, "requires --on cuda, found cpu");
    load.uses_cpu_kernels = args.choice(option::torch_device) == 0 && !is_compiled(args);
    load.cuda_capability = load.uses_cpu_kernels ? 0 : cuda_capability_of(args);
    load.has_dropout = args.choice(option::dropout) == 1;
    return load;
}

LLMCOST_INLINE int precision_of(const arguments& args, const model& m) {
    const int precision = args.choice(option::precision, precision_auto);
    if (precision != precision_auto) return precision;
    switch (m.config.dtype_of_weights) {
        case dtype::unspecified:
        case dtype::float32:
        case dtype::float64: return precision_fp32;
        case dtype::float16: return precision_fp16;
        default: return precision_bf16;
    }
}

LLMCOST_INLINE void complete_training_workload(const arguments& args, const model& m, workload& load) {
    const int precision = precision_of(args, m);
    load.weights = load.activations = precision == precision_bf16 || precision == precision_fp8_mixed ? dtype::bfloat16
                                      : precision == precision_fp16                                   ? dtype::float16
                                                                                                      : dtype::float32;
    load.autocast = precision == precision_bf16_mixed || precision == precision_fp16_mixed;
    complete_workload(m, args, load);
    // `use_cache` is the default, and activation checkpointing turns it off (transformers/modeling_layers.py,
    // `GradientCheckpointingLayer`)
    const std::string_view recompute = args.text(option::recompute);
    load.has_training_cache = load.cuda_capability > 0 && !recompute.starts_with("full") && recompute != "operators";
    load.implementation = attention_implementation_of(args, m, load);
}

LLMCOST_INLINE void set_fsdp_types(training_schedule& schedule, workload& load) {
    if (schedule.fsdp.gathered_type == dtype::unspecified) return;
    schedule.fsdp.stored_type = load.weights == dtype::unspecified ? dtype::float32 : load.weights;
    load.weights = load.activations = schedule.fsdp.gathered_type;
}

/// Throws: `usage` for options of 16-bit weights if the configuration has float32 weights and `--precision` is auto.
LLMCOST_INLINE void finish_schedule(training_schedule& schedule, const arguments& args, int precision) {
    if (precision == precision_bf16 || precision == precision_fp16) return;
    if (schedule.has_master_weights) throw_usage("--master-weights", "requires --precision bf16");
    if (args.has(option::gradient_dtype) && args.choice(option::gradient_dtype) == 1)
        throw_usage("--gradient-dtype", "bf16 requires --precision bf16");
    schedule.has_float32_gradients = false;
}

LLMCOST_INLINE dtype products_of(const arguments& args, const workload& load) {
    const std::string_view precision = args.text(option::precision);
    if (precision.starts_with("fp8")) return dtype::float8_e4m3fn;
    if (load.autocast) return precision.starts_with("fp16") ? dtype::float16 : dtype::bfloat16;
    return load.weights == dtype::unspecified ? dtype::float32 : load.weights;
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
    if (is_compiled(args) && !is_empty(compile_conflict(plan)))
        throw_usage(option::compile.name, std::string("cannot be combined with ") + compile_conflict(plan));
    if (is_compiled(args) && args.choice(option::precision) == precision_fp8_mixed)
        throw_usage(option::compile.name, "cannot be combined with --precision fp8-mixed");
    if (is_compiled(args) && load.has_dropout)
        throw_usage(option::compile.name, "cannot be combined with --dropout keep");
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
    std::int64_t longest = 0;
    const auto complete = [&](const arguments& combination_args) {
        workload step_load = training_workload(combination_args);
        complete_training_workload(combination_args, read.subject, step_load);
        training_schedule types = plan.schedule;
        set_fsdp_types(types, step_load);
        longest = std::max({longest, step_load.sequence, step_load.encoder_sequence});
        return step_load;
    };
    command_output out = swept_bytes(
        args, io, work, read.found.name_of_model.name, limit, names, complete,
        [&](const arguments&, const workload& step_load) {
            const memory_bytes peak =
                (is_compiled(args) ? train_compiled : train)(read.subject, step_load, plan).memory.peak.bytes;
            std::vector<count> bytes(std::begin(peak.category_bytes), std::end(peak.category_bytes));
            bytes.emplace_back(peak.total);
            return bytes;
        });
    warn_if_context_exceeded(io.err, read.found.name_of_model.name, read.subject, longest);
    return out;
}

LLMCOST_INLINE void finish_training_plan(training_plan& plan, requested_adapter& adapter, const arguments& args,
                                         const streams& io, const parsed_model& read, workload& load) {
    complete_training_workload(args, read.subject, load);
    finish_schedule(plan.schedule, args, precision_of(args, read.subject));
    set_fsdp_types(plan.schedule, load);
    if (const device* const target_device =
            load.cuda_capability > 0 && args.has(option::device) ? find_device(args.text(option::device)) : nullptr;
        target_device != nullptr && target_device->num_compute_units > 0)
        plan.schedule.num_multiprocessors = static_cast<std::uint64_t>(target_device->num_compute_units);
    check_workload(read.subject, {.base_workload = load});
    resolve_adapter(adapter, args, read.subject, io.err);
    plan.adapter_config = adapter.file.adapts;
    require_supported_training(args, read.subject, load, plan);
    plan.base_quantization = base_of(adapter, read, load);
}

LLMCOST_INLINE training_response compute_training(const arguments& args, const parsed_model& read, const workload& load,
                                                  const training_plan& plan, const requested_adapter& adapter,
                                                  const memory_limit& limit) {
    const int precision = precision_of(args, read.subject);
    training_response t{read,
                        load,
                        plan,
                        precision,
                        adapter.label,
                        limit,
                        read_step_time(args, precision),
                        (is_compiled(args) ? train_compiled : train)(read.subject, load, plan)};
    t.is_compiled = is_compiled(args);
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

LLMCOST_INLINE void check_parallelism(const training_parallelism& parallel, const model& m) {
    const std::int64_t experts = m.config.moe.num_experts;
    if (const std::string problem = parallelism_error(parallel, m.config.num_hidden_layers, experts); !problem.empty())
        throw_usage(problem.find("stages") != std::string::npos ? "--pp" : "--ep", problem);
    if (parallel.expert > 1 && parallel.rules == split_rules::transformers &&
        !find_tensor_parallel_plan(m).value_or(tensor_parallel_plan{}).distributes_experts)
        throw_usage("--ep", "Transformers has no expert-parallel plan for " +
                                quote(std::string_view(m.text_model_spec().model_type)));
    if (parallel.tensor > 1 && parallel.rules != split_rules::megatron) {
        if (parallel.has_sequence_parallel && m.config.moe.num_experts > 1)
            throw_usage("--tp-plan",
                        "sequence parallelism of routed experts is only supported with --split megatron; "
                        "use --tp-plan plain");
        if (!find_tensor_parallel_plan(m))
            throw_usage("--tp", "Transformers has no tensor-parallel plan for " +
                                    quote(std::string_view(m.text_model_spec().model_type)));
        if (m.config.num_attention_heads % parallel.tensor != 0 || m.config.num_key_value_heads % parallel.tensor != 0)
            throw_usage("--tp", std::to_string(parallel.tensor) + " does not divide the " +
                                    std::to_string(m.config.num_attention_heads) + " attention heads and " +
                                    std::to_string(m.config.num_key_value_heads) + " key/value heads");
        return;
    }
    const std::int64_t expert_size = experts >= parallel.tensor ? 1 : parallel.tensor;
    const parallel_config sizes{parallel.tensor, 1, expert_size, parallel.tensor / expert_size};
    if (const std::string_view problem = parallel_config_error(m, sizes); !problem.empty())
        throw_usage("--tp", std::to_string(parallel.tensor) + ' ' + std::string(problem));
    if (parallel.has_sequence_parallel && parallel.tensor == 1 && parallel.rules == split_rules::megatron)
        throw_usage("--sequence-parallel", "requires --tp");
}

/// Throws: `usage` for options that a job with divided layers does not support. They are never ignored silently.
LLMCOST_INLINE void check_divided_plan(const arguments& args, const training_parallelism& parallel,
                                       const training_plan& plan) {
    const bool divides_layers = parallel.tensor > 1 || parallel.expert > 1;
    const std::string_view divided = parallel.tensor > 1 ? "--tp" : "--ep";
    if (divides_layers && plan.adapter_config.kind != adapter_kind::none)
        throw_usage(divided, "cannot be combined with an adapter or --freeze");
    if (divides_layers && plan.loss == training_loss::fused)
        throw_usage(divided, "cannot be combined with --loss fused");
    const bool is_resharded = args.has(option::fsdp_reshard) && args.text(option::fsdp_reshard) != "false";
    if (args.has(option::ranks) && parallel.pipeline > 1 && is_resharded)
        throw_usage("--fsdp-reshard", "expected false with --ranks and --pp: stages stay gathered during a step");
}

/// Writes the workload files of SimAI. Throws: `usage` for a job that SimAI does not support.
LLMCOST_INLINE void write_simai_workloads(const arguments& args, const std::vector<training_rank>& ranks,
                                          const std::optional<step_estimate>& estimate) {
    const training_parallelism parallel = read_training_parallelism(args);
    if (const std::string problem = simai_error(parallel); !problem.empty())
        throw_usage(option::trace_format.name, problem);
    simai_compute compute;
    constexpr double nanoseconds = 1e9;
    if (estimate && estimate->job) {
        const parallel_training_cost& cost = estimate->job->cost;
        compute.forward_nanoseconds = nanoseconds * cost.forward.seconds;
        compute.backward_nanoseconds = nanoseconds * (cost.backward.seconds + cost.recomputed.seconds);
    }
    for (const training_rank& r : ranks)
        write_output_file(std::string(args.text(option::trace_files)) + '.' + std::to_string(r.rank) + ".txt",
                          simai_workload_of(r, parallel, compute));
}

/// Writes the execution traces of ranks, if `--trace` asks for them. Throws: `usage` without the means to write them.
LLMCOST_INLINE void write_rank_traces(const arguments& args, const program& io, const std::vector<training_rank>& ranks,
                                      const std::optional<step_estimate>& estimate) {
    if (!args.has(option::trace_files)) {
        if (args.has(option::trace_format)) throw_usage(option::trace_format.name, "requires --trace");
        return;
    }
    if (ranks.empty()) throw_usage("--trace", "requires --ranks");
    if (args.choice(option::trace_format) == 1) return write_simai_workloads(args, ranks, estimate);
    if (io.chakra == nullptr)
        throw_usage("--trace", "this program was built without protobuf (Debian: protobuf-compiler libprotobuf-dev)");
    for (const training_rank& r : ranks)
        write_output_file(std::string(args.text(option::trace_files)) + '.' + std::to_string(r.rank) + ".et",
                          io.chakra(training_trace_of(r)));
}

/// Throws: `usage` for ranks of PyTorch whose collectives are not known.
LLMCOST_INLINE void check_torch_ranks(const training_parallelism& parallel, const training_schedule& schedule) {
    const bool is_known = schedule.sharding == sharding_strategy::ddp || schedule.sharding == sharding_strategy::fsdp;
    if (!is_known && schedule.data_parallel_size > 1)
        throw_usage("--ranks", "cannot be combined with --zero, except with --split megatron");
    if (parallel.pipeline > 1 && schedule.data_parallel_size > 1 && schedule.sharding == sharding_strategy::ddp &&
        has_separate_weight_gradients(schedule_of(parallel)))
        throw_usage("--ranks", "DistributedDataParallel does not reduce gradients with --schedule " +
                                   parallel.schedule + "; use --fsdp");
}

/// The ranks of `--ranks`. Throws: `usage` for jobs whose collectives are not known.
[[nodiscard]] LLMCOST_INLINE std::vector<training_rank> ranks_of_job(const arguments& args,
                                                                     const training_parallelism& parallel,
                                                                     const training_response& t,
                                                                     const megatron_settings& settings) {
    const std::vector<std::int64_t> ranks = read_ranks(args, parallel.world_size());
    const model& m = t.read.subject;
    if (parallel.rules != split_rules::megatron) {
        check_torch_ranks(parallel, t.plan.schedule);
        return training_ranks_of(m, t.load, t.plan, parallel, ranks);
    }
    if (t.plan.schedule.recompute == recompute_mode::full)
        throw_usage("--ranks", "not supported for --split megatron with --recompute full");
    if (const std::string problem = megatron_ranks_error(m, parallel, settings); !problem.empty())
        throw_usage("--ranks", problem);
    return megatron_ranks_of(m, t.load, t.plan, parallel, settings, ranks);
}

/// A training job whose ranks hold different parts of a model.
LLMCOST_INLINE command_output run_training_job(const arguments& args, const program& io,
                                               const training_parallelism& parallel, training_response response) {
    const model& m = response.read.subject;
    check_parallelism(parallel, m);
    check_divided_plan(args, parallel, response.plan);
    const megatron_settings settings = read_megatron_settings(args, response.plan.schedule);
    job_response job{std::move(response), parallel, {}};
    try {
        job.memory = training_memory_of(m, job.training.load, job.training.plan, parallel, settings);
    } catch (const error& problem) {
        throw_usage("--schedule", problem.what());
    }
    if (args.has(option::ranks)) job.training.ranks = ranks_of_job(args, parallel, job.training, settings);
    write_rank_traces(args, io, job.training.ranks, job.training.estimate);
    const auto format = format_of_step(args);
    command_output out{format == output_format::json   ? job_json(job)
                       : format == output_format::text ? job_page(job)
                                                       : written(job_table(job), format),
                       exit_code_of_fit(job.training.limit, job.needed())};
    if (!args.text(option::plot).empty())
        out.file = {std::string(args.text(option::plot)), job_picture(job).document()};
    return out;
}

/// A training step on several devices: memory, time, energy and price.
LLMCOST_INLINE command_output run_training_on_devices(const arguments& args, const program& io,
                                                      std::vector<std::string> devices) {
    for (const option_spec& o : {option::memory, option::plot, option::step_seconds}) reject_with_device_list(args, o);
    for (const option_spec& o : training_lists)
        if (args.has(o) && is_list(args.text(o)))
            throw_usage(o.name, "a list cannot be combined with several devices; expected one number");
    const std::int64_t epoch_tokens = parse_epoch_tokens(args);
    device_comparison comparison;
    comparison.rows = device_runs(args, io, std::move(devices)).run([&](const arguments& one, const program& repeated) {
        training_plan plan = parse_training_plan(one);
        requested_adapter adapter = read_adapter(one);
        workload load = training_workload(one);
        const memory_limit limit = parse_memory_limit(one);
        const parsed_model read = repeated.read(one, repeated);
        finish_training_plan(plan, adapter, one, repeated, read, load);
        const training_response response = compute_training(one, read, load, plan, adapter, limit);
        const step_estimate estimate = estimate_training_step(one, repeated, load, plan, products_of(one, load));
        comparison.model = read.found.name_of_model.name;
        comparison.title = train_title(response);
        comparison.figures = step_figures(inputs_name(read.subject, load), epoch_tokens);
        comparison.assumptions = assumption_line(estimate);
        return device_row{{}, limit, response.needed(), step_values(estimate, epoch_tokens), estimate.problem};
    });
    return written_devices(comparison, format_of_step(args));
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE command_output run_train(const arguments& args, const program& io) {
    if (std::vector<std::string> devices = detail::listed_devices(args); !devices.empty())
        return detail::run_training_on_devices(args, io, std::move(devices));
    const std::int64_t epoch_tokens = detail::parse_epoch_tokens(args);
    training_plan plan = detail::parse_training_plan(args);
    requested_adapter adapter = read_adapter(args);
    const workload_sweep sweep(args, training_lists);
    workload load = detail::training_workload(sweep.at(0));
    check_plot(args, true, {});
    const memory_limit limit = parse_memory_limit(args);
    const parsed_model read = io.read(args, io);
    detail::finish_training_plan(plan, adapter, args, io, read, load);
    if (sweep.has_axes()) return detail::run_training_sweep(args, io, sweep, read, plan, limit);
    warn_if_context_exceeded(io.err, read.found.name_of_model.name, read.subject,
                             std::max(load.sequence, load.encoder_sequence));

    if (const training_parallelism parallel = detail::read_training_parallelism(args);
        detail::divides_model(parallel) || args.has(option::microbatches)) {
        const int precision = detail::precision_of(args, read.subject);
        detail::training_response response{read, load, plan, precision, adapter.label, limit, {}, {}};
        if (args.has(option::device))
            response.estimate = detail::estimate_training_step(args, io, load, plan, detail::products_of(args, load));
        response.epoch_tokens = epoch_tokens;
        return detail::run_training_job(args, io, parallel, std::move(response));
    }
    detail::training_response response = detail::compute_training(args, read, load, plan, adapter, limit);
    if (args.has(option::device))
        response.estimate = detail::estimate_training_step(args, io, load, plan, detail::products_of(args, load));
    response.epoch_tokens = epoch_tokens;
    if (args.has(option::ranks)) {
        const training_parallelism parallel = detail::read_training_parallelism(args);
        detail::check_torch_ranks(parallel, plan.schedule);
        response.ranks =
            training_ranks_of(read.subject, load, plan, parallel, detail::read_ranks(args, parallel.world_size()));
    }
    detail::write_rank_traces(args, io, response.ranks, response.estimate);
    if (limit.is_set() && !limit.fits(response.needed()) && !response.is_compiled)
        response.fits_with = detail::find_fitting_change(read, load, plan, limit.bytes);
    command_output out{detail::print(response, detail::format_of_step(args)),
                       exit_code_of_fit(limit, response.needed())};
    if (!args.text(option::plot).empty())
        out.file = {std::string(args.text(option::plot)), detail::train_picture(response).document()};
    return out;
}

}  // namespace llmcost::cli
