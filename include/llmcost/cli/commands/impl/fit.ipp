// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/fit.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/analysis/minimal_workload.hpp>
#include <llmcost/base/config_view.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/maybe.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/input_labels.hpp>
#include <llmcost/cli/args/llama_cpp_device_options.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/args/workload_request.hpp>
#include <llmcost/cli/commands/device_comparison.hpp>
#include <llmcost/cli/commands/llama_cpp_fit.hpp>
#include <llmcost/cli/commands/llama_cpp_latency.hpp>
#include <llmcost/cli/commands/memory.hpp>
#include <llmcost/cli/commands/step_estimate.hpp>
#include <llmcost/cli/commands/train.hpp>
#include <llmcost/cli/pages/device_table.hpp>
#include <llmcost/cli/pages/step_time.hpp>
#include <llmcost/cli/request/adapter_option.hpp>
#include <llmcost/cli/request/memory_fit.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/cli/request/rank_options.hpp>
#include <llmcost/cli/request/request.hpp>
#include <llmcost/cli/request/stored_weights.hpp>
#include <llmcost/json.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/memory/adapter.hpp>
#include <llmcost/memory/adapter_targets.hpp>
#include <llmcost/memory/category.hpp>
#include <llmcost/memory/fit.hpp>
#include <llmcost/memory/inference.hpp>
#include <llmcost/memory/optimizer.hpp>
#include <llmcost/memory/parallel_config.hpp>
#include <llmcost/memory/quantization_names.hpp>
#include <llmcost/memory/rank_memory.hpp>
#include <llmcost/memory/read_quantization.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/report/json_report.hpp>
#include <llmcost/report/json_writer.hpp>
#include <llmcost/report/stored_bytes.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>
#include <llmcost/trace/scope.hpp>

namespace llmcost::cli::detail {

/// The parallelism of `n` tensor-parallel devices, with each routed expert divided. Throws: `usage`.
LLMCOST_INLINE inference_sharding sharding_over(const model& m, std::int64_t n) {
    const parallel_config parallel = make_parallel_config(m, n);
    if (n > 1)
        if (const literal problem = parallel_config_error(m, parallel); !is_empty(problem))
            throw_usage(option::fit_devices.name, quote(std::to_string(n)) + ": " + std::string(problem));
    return {.parallel = parallel};
}

/// The smallest power of two of devices for which each rank fits; 0 if more than 1,024 are required.
LLMCOST_INLINE std::int64_t fewest_devices(const parsed_model& read, const workload& load,
                                           const engine_memory_profile& memory_profile, std::uint64_t bytes) {
    const count available(usable_bytes_of(memory_profile, bytes));
    for (std::int64_t n = 1; n <= 1024; n *= 2) {
        const parallel_config parallel = make_parallel_config(read.subject, n);
        if (n > 1 && !is_empty(parallel_config_error(read.subject, parallel))) break;
        const rank_memory ranks = ranks_of(read.subject, read.stored, load, memory_profile, {.parallel = parallel});
        if (ranks.reserved_bytes(load, ranks.largest(load), bytes) <= available) return n;
    }
    return 0;
}

/// The stored weights with a quantization method; none if the method does not support the model.
LLMCOST_INLINE std::optional<stored_bytes> weights_quantized_by(const quantization_preset& method, model m,
                                                                dtype weights) {
    const bool routes = m.config.moe.num_experts > 1 && !method.experts.empty();
    const std::string text = R"({"quantization_config": )" + std::string(routes ? method.experts : method.plan) + '}';
    if (weights != dtype::unspecified) m.config.dtype_of_weights = weights;
    try {
        const config_document plan = parse_config(text, std::string(method.name));
        return weights_by_quantization(m, plan.read_with([](config_view root) { return parse_quantization(root); }), {})
            .bytes;
    } catch (const error&) {
        return std::nullopt;
    }
}

/// Single changes that reduce the memory of each rank of an inference step.
LLMCOST_INLINE std::vector<suggestion> serving_suggestions(const fit_request& request, const parsed_model& read,
                                                           const inference_sharding& sharding, const workload& load) {
    const model& m = read.subject;
    const count available(usable_bytes_of(request.profile, request.limit.bytes));
    std::vector<suggestion> out;
    const count now = ranks_of(read.subject, read.stored, load, request.profile, sharding).largest(load).total_bytes();
    const auto offer = [&](std::string change, const rank_memory& ranks, const workload& changed) {
        const inference_memory memory = ranks.largest(changed);
        const count needed = memory.total_bytes();
        if (needed < now)
            out.push_back(
                {std::move(change), needed, ranks.reserved_bytes(changed, memory, request.limit.bytes) <= available});
    };
    workload w = load;
    const int bits = bits_of(storage_types_of(m, load).weights);
    if (bits_of(storage_types_of(m, load).cache) > 8 && count_model(m, load).cache_elements != count{}) {
        w.cache = dtype::float8_e4m3fn;
        offer("--cache-dtype fp8", ranks_of(read.subject, read.stored, w, request.profile, sharding), w);
        w = load;
    }
    for (const auto& [type, option_text] :
         {std::pair{dtype::bfloat16, "--dtype bfloat16"}, std::pair{dtype::float8_e4m3fn, "--dtype fp8"},
          std::pair{dtype::int4, "--dtype int4"}}) {
        if (bits_of(type) >= bits) continue;
        w.weights = type;
        offer(option_text, rank_memory(m, w, request.profile, sharding), w);
        w = load;
    }
    if (read.stored.is_applied) return out;  // the checkpoint is quantized
    // the methods are ordered by size; the first that fits is enough
    for (const std::string_view name : {"fp8", "awq", "nf4"}) {
        const quantization_preset& method = *find_quantization_preset(name);
        const std::optional<stored_bytes> weights = weights_quantized_by(method, m, load.weights);
        if (!weights) continue;
        const std::size_t previous_size = out.size();
        offer("--quantization " + std::string(name),
              rank_memory(m, load, request.profile, sharding, weights->total,
                          [&](const std::string& path) { return weights->parameter_bytes(path); }),
              load);
        if (out.size() > previous_size && out.back().fits) break;
        if (out.size() > previous_size && name != "nf4") out.pop_back();
    }
    return out;
}

/// The lines of the largest batch, longest context, highest concurrency and fewest devices.
LLMCOST_INLINE std::string fit_lines(const parsed_model& read, const workload& load, const fit_response& response,
                                     bool is_training) {
    const fit_figures& f = response.figures;
    std::string out;
    const auto line = [&](std::string_view label, std::int64_t n, std::string_view description) {
        out += "  " + left(label, 24) + right(n > 0 ? grouped(count(n)) : "none", 12) + "  " +
               std::string(description) + '\n';
    };
    const input_unit unit = unit_of(read.subject, load);
    line("largest batch", f.max_batch,
         unit == input_unit::token   ? "of " + grouped(count(load.past) + count(load.sequence)) + " tokens each"
         : unit == input_unit::sound ? "of " + audio_label(load.audio_milliseconds) + " each"
                                     : std::string(inputs_name(read.subject, load)));
    if (unit == input_unit::token)
        line("longest context", f.max_context > 0 ? f.max_context + load.past : 0,
             "tokens, batch " + grouped(count(load.batch)));
    if (!is_training && f.max_concurrency > 0)
        line("highest concurrency", f.max_concurrency, "requests of that length in the KV cache");
    if (is_training && response.min_devices > 0) line("fewest devices", response.min_devices, "with --fsdp");
    if (!is_training)
        line("fewest devices", response.min_devices,
             response.min_devices == 0 ? "tensor parallelism on up to 1,024 devices is not enough"
             : response.min_devices == 1 && !has_kv_cache(read.subject) ? ""
                                                                        : "tensor-parallel");
    return out;
}

LLMCOST_INLINE std::string fit_page(const parsed_model& read, const workload& load, const fit_request& request,
                                    const fit_response& response) {
    std::string out = read.found.name_of_model.name + "\n";
    if (request.devices > 1)
        out += "per device, with tensor parallelism over " + grouped(count(request.devices)) + ":\n";
    out += memory_fit_text(request.limit, response.figures.needed, response.assumptions) + '\n' +
           fit_lines(read, load, response, request.is_training);
    if (response.figures.fits || response.suggestions.empty()) return out;
    out += "\nWith one change:\n";
    for (const suggestion& s : response.suggestions)
        out += "  " + left(s.fits ? "fits" : "", 6) + right(in_bytes(s.needed), 9) + "  " + s.change + '\n';
    if (response.combinations.empty()) return out;
    const bool has_times = response.combinations.front().step_seconds > 0;
    out += has_times ? "\nCombinations that fit, cheapest first (memory per device, step time):\n"
                     : "\nCombinations that fit, fewest devices first:\n";
    for (const training_combination& c : response.combinations)
        out += "  " + right(in_bytes(c.change.needed), 9) +
               (has_times ? right(c.step_seconds > 0 ? duration(c.step_seconds) : "—", 11) : "") + "  " +
               c.change.change + '\n';
    if (has_times)
        out +=
            "Time: as in llmcost latency --training; without dequantization of QLoRA weights and all-gathers of FSDP\n";
    return out;
}

LLMCOST_INLINE std::string fit_json(const parsed_model& read, const workload& load, const fit_request& request,
                                    const fit_response& response) {
    const fit_figures& f = response.figures;
    json_writer json;
    json.object().member("model", read.found.name_of_model.name).member("needed", f.needed);
    json.member("available", count(request.limit.bytes)).member("fits", f.fits).member("max_batch", f.max_batch);
    json.member("max_context", f.max_context > 0 ? f.max_context + load.past : 0);
    json.member("max_concurrency", f.max_concurrency)
        .member("devices", request.devices)
        .member("min_devices", response.min_devices)
        .key("suggestions")
        .array();
    for (const suggestion& s : response.suggestions)
        json.object().member("change", s.change).member("needed", s.needed).member("fits", s.fits).end_object();
    json.end_array().key("combinations").array();
    for (const training_combination& c : response.combinations) {
        json.object().member("change", c.change.change).member("needed", c.change.needed);
        json.member("devices", c.change.devices).key("step_seconds");
        c.step_seconds > 0 ? json.value(c.step_seconds) : json.null();
        json.end_object();
    }
    json.end_array().end_object();
    return json.text() + "\n";
}

/// The results as a table of one row.
LLMCOST_INLINE table fit_table(const parsed_model& read, const workload& load, const fit_request& request,
                               const fit_response& response) {
    const fit_figures& f = response.figures;
    const auto number = [](std::int64_t n) { return std::to_string(n); };
    return {{{"model"},
             {"memory"},
             {"fits"},
             {"needed_bytes", true},
             {"available_bytes", true},
             {"max_batch", true},
             {"max_context", true},
             {"max_concurrency", true},
             {"devices", true},
             {"min_devices", true}},
            {{read.found.name_of_model.name, request.limit.label, f.fits ? "true" : "false", digits(f.needed),
              std::to_string(request.limit.bytes), number(f.max_batch),
              number(f.max_context > 0 ? f.max_context + load.past : 0), number(f.max_concurrency),
              number(request.devices), number(response.min_devices)}}};
}

/// Parses the command line of `llmcost fit`, without workload and training plan. Throws: `usage`.
LLMCOST_INLINE fit_request parse_fit_request(const arguments& args) {
    fit_request request;
    request.limit = parse_memory_limit(args);
    if (!request.limit.is_set()) throw_usage("fit", "requires --device NAME or --memory SIZE");
    request.is_training = args.has(option::training);
    request.profile = parse_engine_memory_profile(args);
    for (const option_spec& o : training_options)
        if (!request.is_training && args.has(o)) throw_usage(o.name, "requires --training");
    for (const option_spec& o :
         {option::past, option::dtype, option::quantization, option::activation_dtype, option::cache_dtype,
          option::allocator, option::memory_engine_version, option::utilization, option::engine_memory,
          option::memory_num_batched_tokens, option::memory_num_seqs, option::free_memory_fraction,
          option::tokens_per_block, option::max_attention_window})
        if (request.is_training && args.has(o)) throw_usage(o.name, "cannot be combined with --training");
    if (request.is_training && args.has(option::fit_devices))
        throw_usage("--devices", "cannot be combined with --training; use --shards");
    request.devices = args.number(option::fit_devices, 1);
    request.format = static_cast<output_format>(args.choice(option::format));
    return request;
}

/// Estimates the time of each combination on the device of a command line, and sorts them by device seconds per token.
LLMCOST_INLINE void sort_by_cost(std::vector<training_combination>& combinations, const arguments& args,
                                 const program& io) {
    for (training_combination& c : combinations) {
        if (!args.has(option::device)) break;
        arguments changed = args;
        if (!c.lora.empty()) changed.replace(option::lora, c.lora);
        const step_estimate estimate =
            estimate_training_step(changed, io, c.load, c.plan, products_of(changed, c.load));
        c.step_seconds = estimate.seconds;
        if (estimate.seconds > 0) c.cost = static_cast<double>(estimate.num_devices) / estimate.inputs_per_second;
    }
    std::stable_sort(combinations.begin(), combinations.end(),
                     [](const training_combination& a, const training_combination& b) {
                         const bool is_estimated = a.step_seconds > 0;
                         if (is_estimated != (b.step_seconds > 0)) return is_estimated;
                         if (is_estimated || a.change.devices == b.change.devices) return a.cost < b.cost;
                         return a.change.devices < b.change.devices;
                     });
}

/// The largest training step for the memory limit.
LLMCOST_INLINE fit_response compute_training_fit(const fit_request& request, const parsed_model& read,
                                                 const workload& load, const training_plan& plan, const arguments& args,
                                                 const program& io) {
    fit_response response;
    response.figures = fit_training(read.subject, load, plan, request.limit.bytes);
    response.min_devices = response.figures.fits ? plan.schedule.data_parallel_size : 0;
    if (response.figures.fits) return response;
    training_suggestions suggestions(read, load, plan, request.limit.bytes);
    response.suggestions = suggestions.all();
    response.combinations = suggestions.combinations();
    sort_by_cost(response.combinations, args, io);
    for (const suggestion& s : response.suggestions)
        if (s.devices != 0 && s.fits) response.min_devices = s.devices;
    return response;
}

/// The largest inference step for the memory limit. Throws: `usage` if the model cannot be divided by `--devices`.
LLMCOST_INLINE fit_response compute_inference_fit(const fit_request& request, const parsed_model& read,
                                                  const workload& load) {
    const std::uint64_t bytes = request.limit.bytes;
    const inference_sharding sharding = sharding_over(read.subject, request.devices);
    fit_response response;
    response.figures = fit_inference(ranks_of(read.subject, read.stored, load, request.profile, sharding), load, bytes);
    response.min_devices = fewest_devices(read, load, request.profile, bytes);
    if (response.figures.fits) return response;
    response.suggestions = serving_suggestions(request, read, sharding, load);
    if (response.min_devices == 0) return response;
    const inference_sharding fitting = sharding_over(read.subject, response.min_devices);
    response.suggestions.push_back(
        {"--devices " + std::to_string(response.min_devices),
         ranks_of(read.subject, read.stored, load, request.profile, fitting).largest(load).total_bytes(), true});
    return response;
}

LLMCOST_INLINE std::string print(const fit_request& request, const fit_response& response, const parsed_model& read,
                                 const workload& load) {
    switch (request.format) {
        case output_format::json: return fit_json(read, load, request, response);
        case output_format::text: return fit_page(read, load, request, response);
        default: return written(fit_table(read, load, request, response), request.format);
    }
}

/// The largest workloads on several devices, with the time of the requested step.
LLMCOST_INLINE command_output run_fit_on_devices(const arguments& args, const program& io,
                                                 std::vector<std::string> devices) {
    reject_with_device_list(args, option::memory);
    device_comparison comparison;
    comparison.rows = device_runs(args, io, std::move(devices)).run([&](const arguments& one, const program& repeated) {
        fit_request request = parse_fit_request(one);
        workload load = request.is_training ? training_workload(one) : memory_workload(one);
        training_plan plan = parse_training_plan(one);
        requested_adapter adapter = read_adapter(one);
        const parsed_model read = repeated.read(one, repeated);
        fit_figures figures;
        step_estimate estimate;
        if (request.is_training) {
            finish_training_plan(plan, adapter, one, repeated, read, load);
            figures = fit_training(read.subject, load, plan, request.limit.bytes);
            estimate = estimate_training_step(one, repeated, load, plan, products_of(one, load));
            comparison.assumptions = assumption_line(estimate);
        } else {
            complete_workload(read.subject, one, load);
            check_workload(read.subject, {.base_workload = load});
            warn_on_weights(read, repeated);
            if (request.profile.has_token_pools) set_vision_sizes(read.found.document, request.profile.sglang);
            const inference_sharding sharding = sharding_over(read.subject, request.devices);
            figures = fit_inference(ranks_of(read.subject, read.stored, load, request.profile, sharding), load,
                                    request.limit.bytes);
            estimate = estimate_inference_step(one, repeated, load, request.devices);
            comparison.assumptions = inference_assumption_line(estimate);
        }
        comparison.model = read.found.name_of_model.name;
        comparison.title =
            (request.is_training ? "training step of " : "step of ") + input_label(read.subject, load) + '\n';
        comparison.figures = step_figures(inputs_name(read.subject, load));
        comparison.figures.insert(comparison.figures.end(), {{"max_batch", "largest batch", figure_unit::number},
                                                             {"max_context", "context", figure_unit::number}});
        device_row row{{}, request.limit, figures.needed, step_values(estimate), estimate.problem};
        row.figures.push_back(static_cast<double>(figures.max_batch));
        row.figures.push_back(figures.max_context > 0 ? static_cast<double>(figures.max_context + load.past) : 0);
        row.is_out_of_memory = !figures.fits;
        return row;
    });
    return written_devices(comparison, static_cast<output_format>(args.choice(option::format)));
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE command_output run_fit(const arguments& args, const program& io) {
    if (args.text(option::allocator) == detail::llama_cpp_engine_name) return detail::run_llama_cpp_fit(args, io);
    for (const option_spec& o : llama_cpp_fit_options)
        if (args.has(o)) throw_usage(o.name, "requires --engine llama.cpp");
    if (std::vector<std::string> devices = detail::listed_devices(args); !devices.empty())
        return detail::run_fit_on_devices(args, io, std::move(devices));
    fit_request request = detail::parse_fit_request(args);
    workload load = request.is_training ? detail::training_workload(args) : detail::memory_workload(args);
    training_plan plan = detail::parse_training_plan(args);
    requested_adapter adapter = read_adapter(args);
    const parsed_model read = io.read(args, io);
    if (request.is_training) {
        detail::finish_training_plan(plan, adapter, args, io, read, load);
    } else {
        complete_workload(read.subject, args, load);
        request.profile = detail::profile_for_model(request.profile, args, read.subject, load);
        if (request.profile.has_token_pools) detail::set_vision_sizes(read.found.document, request.profile.sglang);
        check_workload(read.subject, {.base_workload = load});
        resolve_adapter(adapter, args, read.subject, io.err);
        detail::warn_on_weights(read, io);
    }
    warn_if_context_exceeded(io.err, read.found.name_of_model.name, read.subject,
                             std::max(load.past + load.sequence, load.encoder_sequence));
    detail::fit_response response = request.is_training
                                        ? detail::compute_training_fit(request, read, load, plan, args, io)
                                        : detail::compute_inference_fit(request, read, load);
    if (request.is_training)
        response.assumptions = detail::training_assumptions(read.subject, load, plan,
                                                            detail::precision_of(args, read.subject), adapter.label);
    return {detail::print(request, response, read, load),
            response.figures.fits ? exit_code::ok : exit_code::does_not_fit};
}

}  // namespace llmcost::cli
