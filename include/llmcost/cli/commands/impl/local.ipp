// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/local.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/llama_cpp_device_options.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/commands/llama_cpp_latency.hpp>
#include <llmcost/cli/commands/llama_cpp_placement.hpp>
#include <llmcost/cli/commands/llama_cpp_request.hpp>
#include <llmcost/cli/request/memory_fit.hpp>
#include <llmcost/devices/all.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/memory/inference.hpp>
#include <llmcost/memory/llama_cpp_memory.hpp>
#include <llmcost/report/json_writer.hpp>
#include <llmcost/report/listing.hpp>
#include <llmcost/serving/llama_cpp_step.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::cli::detail {

/// How a model runs on a machine.
struct local_placement {
    placed_model placed{};
    std::int64_t context = 0;  ///< largest power of two times the required context that fits
};

/// A row of the table.
struct local_row {
    std::string model;
    std::string quantization;
    std::string device;
    count file_bytes{};
    bool is_approximate = false;
    local_placement placement{};
    llama_cpp_step_time prompt{};
    llama_cpp_step_time generation{};
};

inline constexpr std::int64_t local_prompt_tokens = 512;

/// The placement that fits with most of the model on the device: experts on the host, else whole layers. Nothing if no
/// placement fits.
LLMCOST_INLINE std::optional<local_placement> place_locally(const llama_cpp_model& m, const llama_cpp_options& options,
                                                            std::int64_t context, const llama_cpp_machine& machine,
                                                            const machine_memory& available) {
    const placement_search search(m, machine, available);
    std::vector<placed_model> placements = search.placements(options, {context});
    if (placements.empty()) return std::nullopt;
    const bool has_rule = !placements.front().override_tensor.empty() && placements.size() > 1;
    local_placement out{std::move(has_rule ? placements.back() : placements.front()), context};
    const std::int64_t longest = m.read.subject.config.context_length();
    while (longest > 0 && out.context * 2 <= longest && search.fits(out.placed, {out.context * 2})) out.context *= 2;
    return out;
}

LLMCOST_INLINE std::optional<local_row> local_row_of(const llama_cpp_model& m, const llama_cpp_options& options,
                                                     std::int64_t context, const llama_cpp_machine& machine,
                                                     const machine_memory& available) {
    const std::optional<local_placement> placement = place_locally(m, options, context, machine, available);
    if (!placement) return std::nullopt;
    local_row row;
    row.model = printable(m.read.found.name_of_model.name);
    row.device = printable(std::string_view(machine.main_device().title));
    row.file_bytes = m.file_bytes();
    row.is_approximate = m.is_approximate;
    row.placement = *placement;
    const auto time_of = [&](const llama_cpp_step_tokens& tokens) {
        return time_llama_cpp_step(m.read.subject, tokens, row.placement.placed.options, row.placement.placed.tensors,
                                   machine.processors);
    };
    row.prompt = time_of({0, local_prompt_tokens});
    row.generation = time_of({local_prompt_tokens, 1});
    return row;
}

LLMCOST_INLINE command_output print_local(const arguments& args, const std::vector<local_row>& rows,
                                          const std::string& title, const std::string& excluded) {
    const auto format = static_cast<output_format>(args.choice(option::format));
    if (format == output_format::json) {
        json_writer json;
        json.object().key("rows").array();
        for (const local_row& row : rows) {
            json.object().member("model", row.model).member("quantization", row.quantization);
            json.member("device", row.device).member("file_bytes", row.file_bytes);
            json.member("is_approximate", row.is_approximate).member("context", row.placement.context);
            json.member("gpu_layers", row.placement.placed.options.gpu_layers);
            json.member("cpu_expert_layers", row.placement.placed.options.cpu_expert_layers);
            write_speed(json, "prompt_tokens_per_second", row.prompt, local_prompt_tokens);
            write_speed(json, "generation_tokens_per_second", row.generation, 1);
            json.end_object();
        }
        json.end_array().end_object();
        return {json.text() + '\n'};
    }
    table t{{{"model"},
             {"type"},
             {"device"},
             {"GiB", false, true},
             {"context", true},
             {"prompt/s", false, true},
             {"generated/s", false, true},
             {"interval", false, true},
             {"placement"}},
            {}};
    for (const local_row& row : rows) {
        const double prompts = static_cast<double>(local_prompt_tokens);
        t.rows.push_back(
            {row.model, row.quantization + (row.is_approximate ? " (approx.)" : ""), row.device,
             formatted("%.1f", static_cast<double>(row.file_bytes.to_64()) / (1 << 30)),
             std::to_string(row.placement.context), formatted("%.0f", prompts / row.prompt.seconds),
             formatted("%.1f", 1 / row.generation.seconds),
             formatted("%.1f", 1 / row.generation.upper) + " to " + formatted("%.1f", 1 / row.generation.lower),
             row.placement.placed.label()});
    }
    if (format != output_format::text) return {written(t, format)};
    std::string out = title + "\n\n" + written(t, format);
    if (!excluded.empty()) out += "\nDo not fit: " + excluded + '\n';
    out += "\ntokens/s with llama.cpp for a prompt of " + std::to_string(local_prompt_tokens) +
           " tokens, and for one sequence after it; interval: nine of ten measured speeds\n";
    return {out};
}

/// The options of a model, which `local` sets for each row.
LLMCOST_INLINE arguments arguments_of_model(const arguments& args, std::string_view name,
                                            std::string_view quantization) {
    arguments out = args;
    out.replace(option::model, name);
    out.replace(option::quantization, quantization);
    return out;
}

/// The popular models on one device.
LLMCOST_INLINE command_output run_models_on_device(const arguments& args, const program& io,
                                                   const llama_cpp_options& options, std::int64_t context) {
    const llama_cpp_machine machine = parse_llama_cpp_machine(args, args.text(option::device));
    const machine_memory available{memory_limit_on(machine.main_device()).bytes, parse_ram(args, 0)};
    if (machine.processors.gpu == nullptr && available.host == 0) throw_usage(option::ram.name, "required with a CPU");
    if (machine.processors.gpu != nullptr && available.device == 0)
        throw_usage(option::device.name, printable(std::string_view(machine.main_device().title)) +
                                             " is sold with several memory sizes; name one, e.g. apple_m3_max_64gb");
    std::vector<local_row> rows;
    std::string excluded;
    for (const local_model& known : local_models)
        for (const std::string_view quantization : {known.first_quantization, known.second_quantization}) {
            if (quantization.empty()) continue;
            if (args.has(option::quantization) && quantization != known.first_quantization) continue;
            const std::string_view type = args.text(option::quantization, quantization);
            const llama_cpp_model m = read_llama_cpp_model(arguments_of_model(args, known.name, type), io);
            if (std::optional<local_row> row = local_row_of(m, options, context, machine, available)) {
                row->quantization = type;
                rows.push_back(*std::move(row));
            } else {
                excluded += (excluded.empty() ? "" : ", ") + std::string(known.name) + ' ' + std::string(type);
            }
        }
    std::string title = printable(std::string_view(machine.main_device().title));
    if (available.device != 0) title += ", " + in_bytes(count(available.device));
    if (available.host != 0) title += " and " + in_bytes(count(available.host)) + " of the CPU";
    return print_local(args, rows, title, excluded);
}

/// One model on all devices with a known memory size, fastest first.
LLMCOST_INLINE command_output run_model_on_devices(const arguments& args, const program& io,
                                                   const llama_cpp_options& options, std::int64_t context) {
    const std::string_view type = args.text(option::quantization, "q4_k_m");
    arguments with_type = args;
    with_type.replace(option::quantization, type);
    const llama_cpp_model m = read_llama_cpp_model(with_type, io);
    std::vector<local_row> rows;
    const auto add_device = [&](const device& d) {
        // llama.cpp has no backend for TPUs and Gaudi; a prompt needs a peak
        const bool is_accelerator = d.vendor == string_ref("Google") || std::string_view(d.title).starts_with("Gaudi");
        if (d.memory_bytes() <= 0 || is_accelerator || std::max({d.fp32, d.fp16, d.bf16}) <= 0) return;
        const llama_cpp_machine machine = parse_llama_cpp_machine(args, std::string_view(d.names[0]));
        const machine_memory available{memory_limit_on(d).bytes, parse_ram(args, 0)};
        if (std::optional<local_row> row = local_row_of(m, options, context, machine, available)) {
            row->quantization = type;
            rows.push_back(*std::move(row));
        }
    };
    for (const device& d : devices) add_device(d);
    for (const device& d : llmcost::detail::devices_by_memory.rows) add_device(d);
    std::ranges::stable_sort(
        rows, [](const local_row& a, const local_row& b) { return a.generation.seconds < b.generation.seconds; });
    return print_local(args, rows, printable(m.read.found.name_of_model.name) + " · " + m.label, {});
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE command_output run_local(const arguments& args, const program& io) {
    const llama_cpp_options options =
        detail::parse_llama_cpp_options(args, *find_engine_memory_profile(detail::llama_cpp_engine_name));
    const std::int64_t context = args.number(option::local_context, 4096);
    const bool has_model = args.has(option::model) || args.has(option::config) || args.has(option::gguf);
    if (has_model && args.has(option::device))
        throw_usage(option::model.name, "cannot be combined with --device; use llmcost latency --engine llama.cpp");
    if (has_model) return detail::run_model_on_devices(args, io, options, context);
    if (!args.has(option::device)) throw_usage(option::device.name, "required, or --model");
    return detail::run_models_on_device(args, io, options, context);
}

}  // namespace llmcost::cli
