// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/llama_cpp_latency.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/analysis/minimal_workload.hpp>
#include <llmcost/base/config_view.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/device_options.hpp>
#include <llmcost/cli/args/engine_memory_options.hpp>
#include <llmcost/cli/args/llama_cpp_device_options.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/schedule_options.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/commands/llama_cpp_request.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/cli/request/memory_fit.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/devices/all.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/files/ggml_type.hpp>
#include <llmcost/files/gguf_mix.hpp>
#include <llmcost/files/gguf_sizes.hpp>
#include <llmcost/kernels/kernel_library.hpp>
#include <llmcost/memory/inference.hpp>
#include <llmcost/memory/llama_cpp_memory.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/report/json_writer.hpp>
#include <llmcost/report/listing.hpp>
#include <llmcost/serving/llama_cpp_step.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>
#include <llmcost/text/nearest_name.hpp>

namespace llmcost::cli::detail {

/// The name of an element type as GGUF spells it.
LLMCOST_INLINE std::string gguf_type_name(dtype type) {
    switch (type) {
        case dtype::float32: return "F32";
        case dtype::float16: return "F16";
        case dtype::bfloat16: return "BF16";
        default: return std::string(name_of(type));
    }
}

/// `--quantization` as llama.cpp's types.
struct gguf_types {
    const llmcost::detail::gguf_mix_entry* mix = nullptr;  ///< null: no mix
    bool has_q8_layers = false;  ///< Unsloth's `_XL`: only experts have the type of the mix, other matrices Q8_0
    double bits_per_weight = 0;  ///< `4.85bpw`: mean of all matrices; 0: by the mix
};

/// Parses a mix, its spelling in names of Unsloth's files (`UD-Q4_K_XL`), `mxfp4`, or bits per weight (`4.85bpw`).
LLMCOST_INLINE gguf_types parse_gguf_types(std::string_view text) {
    std::string name = lower(text);
    std::ranges::replace(name, '-', '_');
    gguf_types out;
    if (constexpr std::string_view unit = "bpw"; name.ends_with(unit)) {
        out.bits_per_weight = parse_real(option::quantization.name, text.substr(0, text.size() - unit.size()), 1, 32);
        return out;
    }
    if (name.starts_with("ud_")) name.erase(0, 3);
    if (name == "mxfp4") name = "mxfp4_moe";
    if (name.ends_with("_k_xl")) {
        out.has_q8_layers = true;
        name = name.starts_with("q8") ? "q8_0" : name.starts_with("q6") ? "q6_k" : name.substr(0, 5) + 'm';
    }
    out.mix = llmcost::detail::lookup_gguf_mix(name);
    return out;
}

/// The type of a matrix of a model whose conversion is not known.
///
/// That of the mix; Q6_K for the head, and for values and last projections of layers with more bits in the mixes `_m`.
/// Rows that are no multiple of a block have a type with smaller blocks. Source: src/llama-quant.cpp,
/// `llama_tensor_get_type`, `tensor_type_fallback`.
LLMCOST_INLINE ggml_type approximate_type(const llmcost::detail::gguf_mix_entry& mix, const tensor_shape& t,
                                          std::int64_t num_layers, bool has_q8_layers) {
    using llmcost::detail::gguf_mix;
    const std::string_view name(t.name);
    for (const std::string_view suffix : {"gate.weight", "router.weight", "norm.weight"})
        if (name.ends_with(suffix)) return ggml_type::f32;
    const std::int64_t layer = llmcost::detail::layer_of_path(name);
    ggml_type type = mix.type;
    const bool is_expert = llmcost::detail::is_expert_parameter(name);
    if (!is_expert && (has_q8_layers || mix.quant_mix == gguf_mix::mxfp4_moe)) type = ggml_type::q8_0;
    const bool has_few_bits = row_of(type).block == row_of(ggml_type::q6_k).block && type != ggml_type::q6_k;
    const bool is_m = mix.quant_mix == gguf_mix::q4_k_m || mix.quant_mix == gguf_mix::q5_k_m;
    const bool has_more_bits =
        layer < num_layers / 8 || layer >= 7 * num_layers / 8 || (layer - num_layers / 8) % 3 == 2;
    const bool is_last =
        name.find("down_proj") != std::string_view::npos || name.find("v_proj") != std::string_view::npos;
    if (has_few_bits && ((layer < 0 && name.find("embed") == std::string_view::npos) ||
                         (layer >= 0 && is_m && is_last && has_more_bits)))
        type = ggml_type::q6_k;
    const auto row = static_cast<std::uint64_t>(t.sizes.back());
    if (row % row_of(type).block == 0) return type;
    const std::uint32_t bytes = row_of(type).bytes * 32 / row_of(type).block;
    const ggml_type smaller = bytes <= row_of(ggml_type::q3_k).bytes / 8   ? ggml_type::q4_0
                              : bytes <= row_of(ggml_type::q4_k).bytes / 8 ? ggml_type::q5_0
                              : bytes <= row_of(ggml_type::q5_k).bytes / 8 ? ggml_type::q5_1
                                                                           : ggml_type::q8_0;
    return row % row_of(smaller).block == 0 ? smaller : ggml_type::f16;
}

/// A model with the weights of a mix, and whether the types of its tensors are not known.
struct read_with_mix {
    parsed_model read;
    gguf_types types{};
    bool is_approximate = false;
};

LLMCOST_INLINE read_with_mix read_mix(const arguments& args, const program& io) {
    gguf_types types = parse_gguf_types(args.text(option::quantization));
    if (types.mix == nullptr && types.bits_per_weight == 0) return {io.read(args, io)};
    arguments plain = args;
    plain.remove(option::quantization);
    parsed_model read = io.read(plain, io);
    if (types.has_q8_layers || types.bits_per_weight > 0) return {std::move(read), types, true};
    const bool has_mxfp4_experts =
        read.found.document.read_with([](config_view root) { return gguf_source_of(root).experts_are_mxfp4; });
    // the converter copies experts in MXFP4
    if (has_mxfp4_experts && types.mix->quant_mix == llmcost::detail::gguf_mix::mxfp4_moe)
        types.mix = llmcost::detail::lookup_gguf_mix("q8_0");
    plain = args;
    plain.replace(option::quantization, types.mix->name);
    try {
        return {io.read(plain, io), types};
    } catch (const error& e) {
        if (e.code() != errc::unsupported) throw;
    }
    return {std::move(read), types, true};
}

LLMCOST_INLINE llama_cpp_model read_llama_cpp_model(const arguments& args, const program& io) {
    read_with_mix found = read_mix(args, io);
    const gguf_types types = found.types;
    llama_cpp_model out{.read = std::move(found.read), .is_approximate = found.is_approximate};
    const model& m = out.read.subject;
    const dtype weight_type = storage_types_of(m, workload{}).weights;
    const bool is_stored = !out.is_approximate && out.read.stored.is_applied;
    count assigned;
    for (const tensor_shape& t : list_model(m, minimal_workload(m)).tensors) {
        llama_cpp_tensor tensor;
        tensor.weight.parameter = t.name;
        tensor.weight.elements = 1;
        for (const std::int64_t size : t.sizes) tensor.weight.elements *= count(size);
        tensor.is_matrix = t.sizes.size() > 1;
        const std::string_view name(t.name);
        tensor.is_lookup = llmcost::detail::layer_of_path(name) < 0 && tensor.is_matrix &&
                           (name.find("embed") != std::string_view::npos || name.find("wte") != std::string_view::npos);
        if (is_stored) {
            tensor.type = out.read.stored.bytes.type_of(t.name);
            tensor.weight.bytes = out.read.stored.bytes.parameter_bytes(t.name);
        } else if (out.is_approximate) {
            const bool has_mix = tensor.is_matrix && types.mix != nullptr;
            const ggml_type_row& row =
                row_of(has_mix ? approximate_type(*types.mix, t, m.config.num_hidden_layers, types.has_q8_layers)
                               : ggml_type::f32);
            tensor.type = row.name;
            tensor.weight.bytes = tensor.weight.elements / count(row.block) * count(row.bytes);
            if (tensor.is_matrix && types.mix == nullptr) {
                tensor.type = types.bits_per_weight < 16 ? "mixed" : "F16";
                const double elements = static_cast<double>(tensor.weight.elements.to_64());
                tensor.weight.bytes = count(static_cast<std::uint64_t>(elements * types.bits_per_weight / 8));
            }
        } else {
            tensor.type = gguf_type_name(weight_type);
            tensor.weight.bytes = llmcost::bytes_of(tensor.weight.elements, weight_type);
        }
        assigned += tensor.weight.bytes;
        out.tensors.push_back(std::move(tensor));
    }
    if (is_stored)
        for (llama_cpp_weight& weight : additional_weights(out.read, assigned))
            out.tensors.push_back({std::move(weight), "F32"});
    out.label = is_stored ? out.read.stored.label
                : types.mix == nullptr && out.is_approximate
                    ? "all matrices with " + formatted("%g", types.bits_per_weight) + " bits per weight"
                : out.is_approximate ? std::string(types.has_q8_layers ? "experts" : "matrices") + " in " +
                                           std::string(types.mix->name) + ", approximately"
                                     : "weights in " + gguf_type_name(weight_type);
    return out;
}

LLMCOST_INLINE count llama_cpp_model::file_bytes() const {
    count bytes;
    for (const llama_cpp_tensor& t : tensors)
        if (!llmcost::detail::is_multimodal_parameter(t.weight.parameter)) bytes += t.weight.bytes;
    return bytes;
}

LLMCOST_INLINE void override_tensors(llama_cpp_model& m, const std::vector<tensor_override>& overrides) {
    std::vector<llama_cpp_tensor> out;
    std::vector<llama_cpp_weight> weights;
    for (const llama_cpp_tensor& t : m.tensors) weights.push_back(t.weight);
    std::size_t index = 0;
    for (llama_cpp_weight& part : with_overrides(m.read, weights, overrides)) {
        // the parts of a weight follow each other, in the order of the weights
        while (m.tensors[index].weight.parameter != part.parameter) ++index;
        llama_cpp_tensor t = m.tensors[index];
        t.weight = std::move(part);
        out.push_back(std::move(t));
    }
    m.tensors = std::move(out);
}

LLMCOST_INLINE llama_cpp_machine parse_llama_cpp_machine(const arguments& args, std::string_view device_name) {
    llama_cpp_machine out;
    out.library = std::make_shared<kernel_library>(std::string(device_name), std::string(), std::string(), "none");
    const device& named = out.library->target_device("--device");
    if (std::max({named.fp32, named.fp16, named.bf16}) <= 0)
        throw_usage("--device", "the datasheet of " + printable(std::string_view(named.title)) +
                                    " has no peak of 16- or 32-bit products, which prompts need");
    const llama_cpp_backend standard = default_backend(named);
    out.processors.backend = static_cast<llama_cpp_backend>(args.choice(option::backend, static_cast<int>(standard)));
    if (standard == llama_cpp_backend::cpu && out.processors.backend != llama_cpp_backend::cpu)
        throw_usage(option::backend.name, printable(std::string_view(named.title)) + " is a CPU; expected cpu");
    const std::string_view host_name = args.text(option::host_device, "desktop_ddr5_5600");
    out.processors.host = find_device(host_name);
    if (out.processors.host == nullptr || !is_cpu(*out.processors.host)) {
        name_suggestions near(host_name);
        for (const device& d : devices)
            if (is_cpu(d)) near.add_candidate(std::string_view(d.names[0]));
        throw_usage(option::host_device.name, "no CPU " + quote(host_name) + near.suggestion_or_list());
    }
    if (standard == llama_cpp_backend::cpu)
        out.processors.host = &named;
    else
        out.processors.gpu = &named;
    return out;
}

LLMCOST_INLINE llama_cpp_speed llama_cpp_speed_of(const llama_cpp_model& m, const llama_cpp_step_tokens& tokens,
                                                  const llama_cpp_options& options, const llama_cpp_machine& machine) {
    llama_cpp_speed out;
    const bool is_generation = tokens.sequence == 1;
    if (!is_generation) out.prompt_tokens = tokens.sequence;
    out.depth = is_generation ? tokens.past : tokens.past + tokens.sequence;
    const auto time_of = [&](const llama_cpp_step_tokens& step) {
        return time_llama_cpp_step(m.read.subject, step, options, m.tensors, machine.processors);
    };
    out.generation = time_of({out.depth, 1});
    out.prompt = time_of({is_generation ? 0 : tokens.past, out.prompt_tokens});
    out.step = is_generation ? out.generation : out.prompt;
    std::vector<llama_cpp_weight> weights;
    for (const llama_cpp_tensor& t : m.tensors) weights.push_back(t.weight);
    workload load;
    load.batch = 1;
    load.past = tokens.past;
    load.sequence = tokens.sequence;
    out.memory = llama_cpp_memory_of(m.read.subject, load, options, weights);
    return out;
}

LLMCOST_INLINE std::string tokens_per_second(const llama_cpp_step_time& time, std::int64_t tokens) {
    const auto n = static_cast<double>(tokens);
    return formatted("%.1f", n / time.seconds) + " tokens/s (" + formatted("%.1f", n / time.upper) + " to " +
           formatted("%.1f", n / time.lower) + ')';
}

LLMCOST_INLINE void write_speed(json_writer& json, std::string_view key, const llama_cpp_step_time& time,
                                std::int64_t tokens) {
    const auto n = static_cast<double>(tokens);
    json.key(key).object().member("value", n / time.seconds).member("lower", n / time.upper);
    json.member("upper", n / time.lower).end_object();
}

/// Writes what a step reads and computes on each device.
LLMCOST_INLINE void write_work(json_writer& json, const std::vector<llama_cpp_work>& work) {
    constexpr std::string_view class_names[]{"f16", "bf16", "f32", "quantized"};
    json.key("work").array();
    for (std::size_t i = 0; i < work.size(); ++i) {
        const llama_cpp_work& w = work[i];
        json.object().member("device", i + 1 == work.size() ? "CPU" : "GPU" + std::to_string(i));
        json.key("products").object();
        for (std::size_t c = 0; c < std::size(class_names); ++c) {
            const llama_cpp_work::products& p = w.by_class[c];
            if (p.bytes == 0) continue;
            json.key(class_names[c]).object().member("bytes", p.bytes).member("flops", p.flops);
            json.member("weights", p.elements).end_object();
        }
        json.end_object().member("cache_bytes", w.cache_bytes).member("state_bytes", w.state_bytes);
        json.member("attention_flops", w.attention_flops).member("score_bytes", w.score_bytes);
        json.member("activation_bytes", w.activation_bytes).member("launches", w.launches).end_object();
    }
    json.end_array();
}

LLMCOST_INLINE command_output run_llama_cpp_latency(const arguments& args, const program& io) {
    for (const option_spec& o : {option::training, option::optimizer, option::ragged_batch, option::encoder_sequence})
        if (args.has(o)) throw_usage(o.name, "not supported with --engine llama.cpp");
    for (const option_spec& o : {option::tp, option::dp, option::ep})
        if (args.number(o, 1) != 1) throw_usage(o.name, "not supported with --engine llama.cpp; use --tensor-split");
    if (args.number(option::batch, 1) != 1)
        throw_usage(option::batch.name, "not supported with --engine llama.cpp; expected 1");
    if (!args.has(option::device)) throw_usage(option::device.name, "required");
    const llama_cpp_machine machine = parse_llama_cpp_machine(args, args.text(option::device));
    llama_cpp_options options = parse_llama_cpp_options(args, *find_engine_memory_profile(llama_cpp_engine_name));
    if (machine.processors.gpu == nullptr) {
        if (options.gpu_layers > 0) throw_usage(option::gpu_layers.name, "the device is a CPU; expected 0");
        options.gpu_layers = 0;
    }
    const llama_cpp_step_tokens tokens{args.number(option::past, 0, 0), args.number(option::sequence, 1)};
    llama_cpp_model m = read_llama_cpp_model(args, io);
    if (options.has_overrides) override_tensors(m, parse_tensor_overrides(args, options));
    const llama_cpp_speed speed = llama_cpp_speed_of(m, tokens, options, machine);
    const device& main_device = machine.main_device();
    const memory_limit limit = memory_limit_on(main_device);
    const count needed = largest_device_bytes(speed.memory);
    const std::string_view backend = llama_cpp_backend_names[static_cast<std::size_t>(
        machine.processors.gpu == nullptr ? llama_cpp_backend::cpu : machine.processors.backend)];
    const exit_code status = limit.is_set() ? exit_code_of_fit(limit, needed) : exit_code::ok;
    const std::string model_name = printable(m.read.found.name_of_model.name);

    if (static_cast<output_format>(args.choice(option::format)) == output_format::json) {
        json_writer json;
        json.object().member("seconds", speed.step.seconds).member("lower", speed.step.lower);
        json.member("upper", speed.step.upper).member("model", model_name);
        json.member("device", std::string_view(main_device.names[0])).member("engine", llama_cpp_engine_name);
        json.member("backend", backend).member("weights", m.label).member("is_approximate", m.is_approximate);
        json.member("file_bytes", m.file_bytes()).member("sequence", tokens.sequence).member("past", tokens.past);
        write_speed(json, "prompt_tokens_per_second", speed.prompt, speed.prompt_tokens);
        write_speed(json, "generation_tokens_per_second", speed.generation, 1);
        json.key("parts").object().member("weights", speed.step.weights_seconds);
        json.member("attention", speed.step.attention_seconds).member("overhead", speed.step.overhead_seconds);
        json.member("transfer", speed.step.transfer_seconds).end_object();
        write_work(json, speed.step.work);
        json.member("needed", needed);
        write_memory_fit(json, limit, needed);
        json.end_object();
        return {json.text() + '\n', status};
    }

    std::string out = model_name + "\nllama.cpp (" + std::string(backend) + ") on " +
                      printable(std::string_view(main_device.title)) + " · " + m.label + "\n\n";
    out += "prompt      " + tokens_per_second(speed.prompt, speed.prompt_tokens) + ", " +
           grouped(count(speed.prompt_tokens)) + " tokens\n";
    out += "generation  " + tokens_per_second(speed.generation, 1) + ", after " + grouped(count(speed.depth)) +
           " tokens\n\n";
    const auto line = [&](std::string_view label, double seconds) {
        if (seconds == 0) return;
        out += "  " + std::string(label) + std::string(22 - label.size(), ' ') + formatted("%8.3f", 1e3 * seconds) +
               " ms " + formatted("%5.1f", 100 * seconds / speed.step.seconds) + " %\n";
    };
    out += tokens.sequence == 1 ? "Time of a token:\n" : "Time of the prompt:\n";
    line("weights", speed.step.weights_seconds);
    line("attention", speed.step.attention_seconds);
    line("launches, activations", speed.step.overhead_seconds);
    line("transfers", speed.step.transfer_seconds);
    out += '\n';
    if (const std::string fit = memory_fit_text(limit, needed); !fit.empty()) out += fit + '\n';
    out += "Assumptions: " + formatted("%.1f", main_device.memory_bandwidth) +
           " GB/s of the datasheet; flash attention " + (options.has_flash_attention ? "on" : "off") +
           "; nine of ten measured speeds are within the intervals\n";
    return {out, status};
}

}  // namespace llmcost::cli::detail
