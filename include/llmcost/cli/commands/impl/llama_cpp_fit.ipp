// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/llama_cpp_fit.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/device_options.hpp>
#include <llmcost/cli/args/engine_memory_options.hpp>
#include <llmcost/cli/args/llama_cpp_device_options.hpp>
#include <llmcost/cli/args/llama_cpp_options.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/commands/llama_cpp_latency.hpp>
#include <llmcost/cli/commands/llama_cpp_placement.hpp>
#include <llmcost/cli/commands/llama_cpp_request.hpp>
#include <llmcost/cli/request/memory_fit.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/memory/inference.hpp>
#include <llmcost/memory/llama_cpp_memory.hpp>
#include <llmcost/report/json_writer.hpp>
#include <llmcost/serving/llama_cpp_step.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::cli::detail {

inline constexpr std::int64_t fit_prompt_tokens = 512;

/// `--tensor-split 25,24`.
LLMCOST_INLINE std::string tensor_split_text(const std::vector<double>& shares) {
    std::string out;
    for (const double share : shares) out += (out.empty() ? "" : ",") + formatted("%g", share);
    return out;
}

/// The layers on devices, with the output as the last one.
LLMCOST_INLINE std::int64_t layers_on_devices(const llama_cpp_model& m, const llama_cpp_options& options) {
    const std::int64_t all = m.read.subject.config.num_hidden_layers + 1;
    return options.gpu_layers < 0 ? all : std::min(options.gpu_layers, all);
}

LLMCOST_INLINE std::vector<std::string> llama_server_options(const llama_cpp_fit& fit, const arguments& args) {
    std::vector<std::string> out;
    const auto add = [&](std::string_view name, std::string value) {
        out.emplace_back(name);
        out.push_back(std::move(value));
    };
    const llama_cpp_options& options = fit.placed.options;
    add("-c", std::to_string(fit.cache.context * fit.cache.num_sequences));
    // slots of a server without the option share one cache
    add("-np", std::to_string(fit.cache.num_sequences));
    add("-ngl", options.gpu_layers < 0 ? "all" : std::to_string(options.gpu_layers));
    if (options.cpu_expert_layers > 0) add("--n-cpu-moe", std::to_string(options.cpu_expert_layers));
    if (!fit.placed.override_tensor.empty()) add("-ot", '\'' + fit.placed.override_tensor + '\'');
    if (options.tensor_split.size() > 1) add("-ts", tensor_split_text(options.tensor_split));
    if (fit.key_type != "f16") add("-ctk", std::string(fit.key_type));
    if (fit.value_type != "f16") add("-ctv", std::string(fit.value_type));
    if (!options.has_flash_attention) add("-fa", "off");
    if (args.has(option::ubatch_size)) add("-ub", std::to_string(options.num_ubatch));
    if (options.has_full_sliding_cache) out.emplace_back("--swa-full");
    if (args.has(option::mmproj)) add("--mmproj", printable(args.text(option::mmproj)));
    if (!options.offloads_multimodal) out.emplace_back("--no-mmproj-offload");
    return out;
}

/// The name of the file: `--gguf`, or `Qwen3-8B-Q4_K_M.gguf`.
LLMCOST_INLINE std::string gguf_file_name(const llama_cpp_model& m, const arguments& args) {
    if (args.has(option::gguf)) return printable(args.text(option::gguf));
    std::string name = printable(m.read.found.name_of_model.name);
    name.erase(0, name.rfind('/') + 1);
    std::string type(args.text(option::quantization));
    if (type.empty()) {
        const auto matrix = std::ranges::find_if(m.tensors, &llama_cpp_tensor::is_matrix);
        if (matrix != m.tensors.end()) type = matrix->type;
    }
    std::ranges::transform(type, type.begin(),
                           [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
    return name + '-' + type + ".gguf";
}

LLMCOST_INLINE std::string llama_server_command(const llama_cpp_model& m, const llama_cpp_fit& fit,
                                                const arguments& args) {
    std::string out = "llama-server -m " + gguf_file_name(m, args);
    for (const std::string& word : llama_server_options(fit, args)) out += ' ' + word;
    return out;
}

/// Whether Ollama has settings for a placement: layers, context and one type of the KV cache.
///
/// Source: ollama, api/types.go, `Options`, `Runner`; envconfig/config.go.
LLMCOST_INLINE bool has_ollama_settings(const llama_cpp_fit& fit) {
    const bool has_cache_type =
        fit.key_type == fit.value_type && (fit.key_type == "f16" || fit.key_type == "q8_0" || fit.key_type == "q4_0");
    return has_cache_type && fit.placed.options.cpu_expert_layers == 0 && !fit.placed.options.has_overrides;
}

/// A setting of another program, as JSON.
struct named_setting {
    std::string_view name;
    std::string value;
};

/// The settings of Ollama: parameters of a Modelfile, then environment variables of `ollama serve`.
LLMCOST_INLINE std::vector<named_setting> ollama_settings(const llama_cpp_model& m, const llama_cpp_fit& fit,
                                                          const arguments& args) {
    std::vector<named_setting> out{
        {"num_ctx", std::to_string(fit.cache.context)},
        {"num_gpu", std::to_string(layers_on_devices(m, fit.placed.options))},
    };
    if (args.has(option::ubatch_size)) out.push_back({"num_batch", std::to_string(fit.placed.options.num_ubatch)});
    out.push_back({"OLLAMA_FLASH_ATTENTION", fit.placed.options.has_flash_attention ? "1" : "0"});
    out.push_back({"OLLAMA_KV_CACHE_TYPE", std::string(fit.key_type)});
    out.push_back({"OLLAMA_NUM_PARALLEL", std::to_string(fit.cache.num_sequences)});
    return out;
}

/// The settings of LM Studio.
///
/// Source: lmstudio-js, packages/lms-shared-types/src/llm/LLMLoadModelConfig.ts, `LLMLoadModelConfig`, `GPUSetting`.
LLMCOST_INLINE std::vector<named_setting> lm_studio_settings(const llama_cpp_model& m, const llama_cpp_fit& fit,
                                                             const arguments& args) {
    const llama_cpp_options& options = fit.placed.options;
    const auto num_layers = static_cast<double>(m.read.subject.config.num_hidden_layers);
    const auto on_devices = static_cast<double>(layers_on_devices(m, options));
    std::vector<named_setting> out{{"contextLength", std::to_string(fit.cache.context)},
                                   {"gpu.ratio", formatted("%.3g", std::min(on_devices / num_layers, 1.0))}};
    if (options.cpu_expert_layers > 0)
        out.push_back({"gpu.numCpuExpertLayersRatio",
                       formatted("%.3g", static_cast<double>(options.cpu_expert_layers) / num_layers)});
    out.push_back({"flashAttention", options.has_flash_attention ? "true" : "false"});
    const auto cache_type = [](std::string_view type) { return '"' + std::string(type) + '"'; };
    out.push_back({"llamaKCacheQuantizationType", cache_type(fit.key_type)});
    out.push_back({"llamaVCacheQuantizationType", cache_type(fit.value_type)});
    if (args.has(option::ubatch_size)) out.push_back({"evalBatchSize", std::to_string(options.num_ubatch)});
    return out;
}

/// Types of the KV cache by their place in `option::ggml_cache_types`.
struct cache_types {
    int keys, values;
};

LLMCOST_INLINE std::string_view cache_type_name(int choice) {
    std::string_view names = option::ggml_cache_types;
    for (int i = 0; i < choice; ++i) names.remove_prefix(names.find('|') + 1);
    return names.substr(0, names.find('|'));
}

/// The types of the KV cache to try, most precise first.
LLMCOST_INLINE std::vector<cache_types> cache_candidates(const arguments& args, const llama_cpp_options& options) {
    constexpr int f16 = 1, q8_0 = 3, q4_0 = 4;
    if (args.has(option::cache_type_k) || args.has(option::cache_type_v))
        return {{args.choice(option::cache_type_k, f16), args.choice(option::cache_type_v, f16)}};
    if (!options.has_flash_attention) return {{f16, f16}};
    return {{f16, f16}, {q8_0, q8_0}, {q4_0, q4_0}};
}

/// The placements that fit, fastest generation first; caches with more bits first among equal placements.
///
/// A type of the KV cache with fewer bits is listed only if it changes the placement or the largest context.
LLMCOST_INLINE std::vector<llama_cpp_fit> llama_cpp_fits(const arguments& args, const llama_cpp_model& m,
                                                         const llama_cpp_options& options, const cache_request& cache,
                                                         const llama_cpp_machine& machine,
                                                         const placement_search& search) {
    const bool is_fixed = args.has(option::gpu_layers) || args.has(option::cpu_moe) || options.has_overrides;
    std::vector<llama_cpp_fit> fits;
    for (const cache_types types : cache_candidates(args, options)) {
        llama_cpp_options typed = options;
        typed.keys = cache_block(types.keys);
        typed.values = cache_block(types.values);
        std::vector<placed_model> placements;
        if (!is_fixed) {
            placements = search.placements(typed, cache);
        } else if (placed_model placed = search.complete(typed); search.fits(placed, cache)) {
            for (const std::string_view rule : args.all(option::override_tensor))
                placed.override_tensor += (placed.override_tensor.empty() ? "" : ",") + printable(rule);
            placements.push_back(std::move(placed));
        }
        for (placed_model& placed : placements) {
            llama_cpp_fit fit{std::move(placed), cache_type_name(types.keys), cache_type_name(types.values), cache};
            fit.max_context = search.max_context(fit.placed, cache);
            const bool is_dominated = std::ranges::any_of(fits, [&](const llama_cpp_fit& other) {
                return other.placed.label() == fit.placed.label() && other.max_context >= fit.max_context &&
                       other.placed.options.tensor_split == fit.placed.options.tensor_split;
            });
            if (is_dominated) continue;
            fit.memory = search.memory_of(fit.placed, cache);
            const auto time_of = [&](const llama_cpp_step_tokens& tokens) {
                return time_llama_cpp_step(m.read.subject, tokens, fit.placed.options, fit.placed.tensors,
                                           machine.processors);
            };
            const std::int64_t prompt = std::min(fit_prompt_tokens, cache.context);
            fit.prompt = time_of({0, prompt});
            fit.generation = time_of({prompt, 1});
            fits.push_back(std::move(fit));
        }
    }
    const std::vector<llama_cpp_fit> unsorted = fits;
    // a cache with fewer bits is no reason to prefer an equal placement
    const auto seconds_of_placement = [&](const llama_cpp_fit& fit) {
        return std::ranges::find_if(
                   unsorted, [&](const llama_cpp_fit& other) { return other.placed.label() == fit.placed.label(); })
            ->generation.seconds;
    };
    std::ranges::stable_sort(fits, std::less{}, seconds_of_placement);
    return fits;
}

/// The fewest devices with all layers; 0: more than 16, or the host is the only processor.
LLMCOST_INLINE std::int64_t fewest_llama_cpp_devices(const llama_cpp_model& m, llama_cpp_options options,
                                                     const cache_request& cache, const llama_cpp_machine& machine,
                                                     const machine_memory& available) {
    constexpr std::size_t max_devices = 16;
    const placement_search search(m, machine, {available.device, 0}, true);
    if (machine.processors.gpu == nullptr) return 0;
    for (std::size_t n = 1; n <= max_devices; ++n) {
        options.tensor_split.assign(n, 1);
        if (!search.placements(options, cache).empty()) return static_cast<std::int64_t>(n);
    }
    return 0;
}

LLMCOST_INLINE std::string settings_text(const std::vector<named_setting>& settings) {
    std::string out;
    for (const named_setting& s : settings) out += (out.empty() ? "" : ", ") + std::string(s.name) + ' ' + s.value;
    return out;
}

LLMCOST_INLINE void write_settings(json_writer& json, std::string_view key,
                                   const std::vector<named_setting>& settings) {
    json.key(key);
    if (settings.empty()) {
        json.null();
        return;
    }
    json.object();
    for (const named_setting& s : settings) {
        std::string_view value = s.value;
        const bool is_quoted = value.starts_with('"');
        if (is_quoted) value = value.substr(1, value.size() - 2);
        json.member(s.name, value);
    }
    json.end_object();
}

LLMCOST_INLINE table llama_cpp_fit_table(const std::vector<llama_cpp_fit>& fits) {
    table t{{{"generated/s", false, true},
             {"interval", false, true},
             {"prompt/s", false, true},
             {"device GiB", false, true},
             {"CPU GiB", false, true},
             {"max context", true},
             {"KV cache"},
             {"placement"}},
            {}};
    const auto gibibytes = [](count bytes) {
        return formatted("%.1f", static_cast<double>(bytes.to_64()) / (1 << 30));
    };
    for (const llama_cpp_fit& fit : fits) {
        const auto prompt = static_cast<double>(std::min(fit_prompt_tokens, fit.cache.context));
        const bool has_devices = fit.memory.devices.size() > 1;
        std::string placement = fit.placed.label();
        if (fit.placed.options.tensor_split.size() > 1)
            placement += (placement.empty() ? "-ts " : " -ts ") + tensor_split_text(fit.placed.options.tensor_split);
        t.rows.push_back(
            {formatted("%.1f", 1 / fit.generation.seconds),
             formatted("%.1f", 1 / fit.generation.upper) + " to " + formatted("%.1f", 1 / fit.generation.lower),
             formatted("%.0f", prompt / fit.prompt.seconds),
             has_devices ? gibibytes(largest_device_bytes(fit.memory)) : "0.0",
             gibibytes(fit.memory.devices.back().total()), std::to_string(fit.max_context),
             fit.key_type == fit.value_type ? std::string(fit.key_type)
                                            : std::string(fit.key_type) + '/' + std::string(fit.value_type),
             placement});
    }
    return t;
}

LLMCOST_INLINE command_output run_llama_cpp_fit(const arguments& args, const program& io) {
    if (args.has(option::training)) throw_usage(option::training.name, "not supported with --engine llama.cpp");
    if (args.has(option::memory))
        throw_usage(option::memory.name, "not supported with --engine llama.cpp; use --device");
    if (!args.has(option::device)) throw_usage(option::device.name, "required with --engine llama.cpp");
    if (args.has(option::fit_devices) && args.has(option::tensor_split))
        throw_usage(option::fit_devices.name, "cannot be combined with --tensor-split");
    const llama_cpp_machine machine = parse_llama_cpp_machine(args, args.text(option::device));
    const device& main_device = machine.main_device();
    const bool has_devices = machine.processors.gpu != nullptr;
    const memory_limit limit = memory_limit_on(main_device);
    if (has_devices && !limit.is_set())
        throw_usage(option::device.name, printable(std::string_view(main_device.title)) +
                                             " is sold with several memory sizes; name one, e.g. apple_m3_max_64gb");
    // the CPU of unified memory has no other memory than the device
    const bool is_unified = has_devices && main_device.pcie_bandwidth == 0;
    const machine_memory available{limit.bytes, parse_ram(args, is_unified ? 0 : machine_memory::unlimited)};

    llama_cpp_options options = parse_llama_cpp_options(args, *find_engine_memory_profile(llama_cpp_engine_name));
    const std::int64_t num_devices = args.number(option::fit_devices, 1);
    if (args.has(option::fit_devices)) options.tensor_split.assign(static_cast<std::size_t>(num_devices), 1);
    if (!has_devices && options.gpu_layers > 0) throw_usage(option::gpu_layers.name, "the device is a CPU; expected 0");
    cache_request cache;
    cache.num_sequences = args.number(option::batch, 1);
    if (args.has(option::memory_sequence)) {
        if (args.has(option::local_context))
            throw_usage(option::memory_sequence.name, "cannot be combined with --context");
        cache.context = args.number(option::memory_sequence, 1) + args.number(option::past, 0, 0);
    }
    cache.context = args.number(option::local_context, cache.context);

    llama_cpp_model m = read_llama_cpp_model(args, io);
    if (options.has_overrides) override_tensors(m, parse_tensor_overrides(args, options));
    const placement_search search(m, machine, available, !args.has(option::tensor_split));
    const std::vector<llama_cpp_fit> fits = llama_cpp_fits(args, m, options, cache, machine, search);
    const bool is_complete = !fits.empty() && fits.front().placed.label().empty();
    const bool has_fixed_devices = args.has(option::fit_devices) || args.has(option::tensor_split);
    const std::int64_t min_devices = is_complete || has_fixed_devices
                                         ? static_cast<std::int64_t>(options.tensor_split.size())
                                         : fewest_llama_cpp_devices(m, options, cache, machine, available);
    const exit_code status = fits.empty() ? exit_code::does_not_fit : exit_code::ok;
    const std::string model_name = printable(m.read.found.name_of_model.name);
    const std::string_view backend = llama_cpp_backend_names[static_cast<std::size_t>(
        has_devices ? machine.processors.backend : llama_cpp_backend::cpu)];
    const auto format = static_cast<output_format>(args.choice(option::format));

    if (format == output_format::json) {
        json_writer json;
        json.object().member("model", model_name).member("device", std::string_view(main_device.names[0]));
        json.member("engine", llama_cpp_engine_name).member("backend", backend).member("weights", m.label);
        json.member("is_approximate", m.is_approximate).member("file_bytes", m.file_bytes());
        json.member("context", cache.context).member("batch", cache.num_sequences);
        json.member("available", count(limit.bytes)).member("fits", !fits.empty());
        json.member("devices", static_cast<std::int64_t>(options.tensor_split.size()));
        json.member("min_devices", min_devices).key("rows").array();
        for (const llama_cpp_fit& fit : fits) {
            json.object().member("command", llama_server_command(m, fit, args));
            json.member("gpu_layers", layers_on_devices(m, fit.placed.options));
            json.member("cpu_expert_layers", fit.placed.options.cpu_expert_layers);
            json.key("override_tensor");
            fit.placed.override_tensor.empty() ? json.null() : json.value(std::string_view(fit.placed.override_tensor));
            json.key("tensor_split").array(true);
            for (const double share : fit.placed.options.tensor_split) json.value(share);
            json.end_array().member("cache_type_k", fit.key_type).member("cache_type_v", fit.value_type);
            json.member("max_context", fit.max_context);
            write_speed(json, "prompt_tokens_per_second", fit.prompt, std::min(fit_prompt_tokens, cache.context));
            write_speed(json, "generation_tokens_per_second", fit.generation, 1);
            write_settings(json, "ollama",
                           has_ollama_settings(fit) ? ollama_settings(m, fit, args) : std::vector<named_setting>{});
            write_settings(
                json, "lm_studio",
                fit.placed.options.has_overrides ? std::vector<named_setting>{} : lm_studio_settings(m, fit, args));
            write_llama_cpp_buffers(json, fit.memory);
            json.end_object();
        }
        json.end_array().end_object();
        return {json.text() + '\n', status};
    }
    const table t = llama_cpp_fit_table(fits);
    if (format != output_format::text) return {written(t, format), status};

    std::string out = model_name + "\nllama.cpp (" + std::string(backend) + ") on ";
    if (options.tensor_split.size() > 1) out += std::to_string(options.tensor_split.size()) + " x ";
    out += printable(std::string_view(main_device.title));
    if (has_devices) out += " with " + in_bytes(count(available.device));
    if (args.has(option::ram)) out += " and " + in_bytes(count(available.host)) + " of the CPU";
    out += " · " + m.label + "\n" + grouped(count(cache.context)) + " tokens of context";
    if (cache.num_sequences > 1) out += " for each of " + grouped(count(cache.num_sequences)) + " sequences";
    out += "\n\n";
    if (fits.empty()) {
        const placed_model on_devices = search.complete(options);
        const llama_cpp_memory needed = search.memory_of(on_devices, cache);
        out += "Does not fit: " + in_bytes(largest_device_bytes(needed)) + (has_devices ? " on the device" : "") +
               " with f16 caches and all layers" + (has_devices ? " on it\n" : "\n");
    } else {
        out += written(t, format) + "\nFastest first:\n";
        for (const llama_cpp_fit& fit : fits) out += "  " + llama_server_command(m, fit, args) + '\n';
        const auto speed = [](const llama_cpp_fit& fit) {
            return formatted(" (%.1f tokens/s): ", 1 / fit.generation.seconds);
        };
        if (const auto fit = std::ranges::find_if(fits, has_ollama_settings); fit != fits.end())
            out += "Ollama" + speed(*fit) + settings_text(ollama_settings(m, *fit, args)) + '\n';
        const auto fit =
            std::ranges::find_if(fits, [](const llama_cpp_fit& one) { return !one.placed.options.has_overrides; });
        if (fit != fits.end())
            out += "LM Studio" + speed(*fit) + settings_text(lm_studio_settings(m, *fit, args)) + '\n';
    }
    if (!is_complete && !has_fixed_devices && min_devices > 1)
        out += "All layers fit into " + std::to_string(min_devices) + " x " +
               printable(std::string_view(main_device.title)) + " (--devices " + std::to_string(min_devices) + ")\n";
    if (!fits.empty())
        out += "\nAssumptions: a prompt of " + std::to_string(std::min(fit_prompt_tokens, cache.context)) +
               " tokens, and one sequence after it; nine of ten measured speeds are within the intervals\n";
    return {out, status};
}

}  // namespace llmcost::cli::detail
