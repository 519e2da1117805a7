// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/llama_cpp_request.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/analysis/minimal_workload.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/llama_cpp_device_options.hpp>
#include <llmcost/cli/args/llama_cpp_options.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/request/memory_fit.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/files/ggml_type.hpp>
#include <llmcost/files/gguf.hpp>
#include <llmcost/files/gguf_names.hpp>
#include <llmcost/files/gguf_sizes.hpp>
#include <llmcost/memory/inference.hpp>
#include <llmcost/memory/llama_cpp_memory.hpp>
#include <llmcost/memory/name_pattern.hpp>
#include <llmcost/report/json_writer.hpp>
#include <llmcost/report/listing.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::cli::detail {

LLMCOST_INLINE ggml_block cache_block(int choice) {
    constexpr ggml_type types[]{ggml_type::f32,  ggml_type::f16,    ggml_type::bf16, ggml_type::q8_0, ggml_type::q4_0,
                                ggml_type::q4_1, ggml_type::iq4_nl, ggml_type::q5_0, ggml_type::q5_1};
    const ggml_type_row& row = row_of(types[choice]);
    return {row.block, row.bytes};
}

LLMCOST_INLINE std::uint64_t parse_ram(const arguments& args, std::uint64_t default_bytes) {
    return args.has(option::ram) ? read_bytes(option::ram.name, args.text(option::ram)) : default_bytes;
}

LLMCOST_INLINE std::vector<double> parse_tensor_split(std::string_view text) {
    std::vector<double> shares;
    double sum = 0;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find_first_of(",/", begin), text.size());
        shares.push_back(parse_real(option::tensor_split.name, text.substr(begin, end - begin), 0, 1e9));
        sum += shares.back();
        begin = end + 1;
    }
    if (sum == 0) throw_usage(option::tensor_split.name, "expected a share above 0");
    return shares;
}

LLMCOST_INLINE llama_cpp_options parse_llama_cpp_options(const arguments& args, const engine_memory_profile& profile) {
    llama_cpp_options options;
    if (!profile.has_llama_cpp_buffers) {
        const bool has_draft_model = profile.has_token_pools || profile.has_hybrid_cache_manager;
        for (const option_spec& o : llama_cpp_option_specs) {
            const bool is_draft_model = std::string_view(o.name) == option::memory_draft_model.name;
            if (args.has(o) && !(is_draft_model && has_draft_model))
                throw_usage(o.name, is_draft_model ? "supported only with --engine vllm, sglang and llama.cpp"
                                                   : "supported only with --engine llama.cpp");
        }
        return options;
    }
    if (args.has(option::cache_dtype))
        options.keys = options.values = {1, (bits_of(args.type(option::cache_dtype)) + 7) / 8};
    options.num_ubatch = args.number(option::ubatch_size, options.num_ubatch);
    options.gpu_layers = args.number(option::gpu_layers, options.gpu_layers, 0);
    options.cpu_expert_layers = args.number(option::cpu_moe, options.cpu_expert_layers, 0);
    options.has_full_sliding_cache = args.has(option::swa_full);
    constexpr int off = 1;
    options.has_flash_attention = !args.has(option::flash_attn) || args.choice(option::flash_attn) != off;
    if (args.has(option::cache_type_k)) options.keys = cache_block(args.choice(option::cache_type_k));
    if (args.has(option::cache_type_v)) options.values = cache_block(args.choice(option::cache_type_v));
    if (!options.has_flash_attention && options.values.elements > 1)
        throw_usage(option::cache_type_v.name, "a quantized type requires flash attention");
    if (args.has(option::mmproj))
        options.multimodal_bytes = read_gguf(std::string(args.text(option::mmproj))).weights.bytes();
    options.offloads_multimodal = !args.has(option::no_mmproj_offload);
    if (args.has(option::no_mmproj_offload) && !args.has(option::mmproj))
        throw_usage(option::no_mmproj_offload.name, "requires --mmproj");
    options.has_overrides = args.has(option::override_tensor);
    if (args.has(option::tensor_split)) options.tensor_split = parse_tensor_split(args.text(option::tensor_split));
    return options;
}

LLMCOST_INLINE std::vector<tensor_override> parse_tensor_overrides(const arguments& args,
                                                                   const llama_cpp_options& options) {
    std::vector<tensor_override> overrides;
    const auto num_devices = static_cast<std::int32_t>(options.tensor_split.size());
    for (std::string_view list : args.all(option::override_tensor))
        while (!list.empty()) {
            const std::string_view rule = list.substr(0, list.find(','));
            list.remove_prefix(std::min(list.size(), rule.size() + 1));
            const std::size_t equals = rule.rfind('=');
            if (equals == std::string_view::npos || equals == 0)
                throw_usage(option::override_tensor.name, "expected REGEX=DEVICE, found " + quote(rule));
            const std::string_view device = rule.substr(equals + 1);
            std::optional<name_pattern> pattern =
                name_pattern::parse(".*(" + std::string(rule.substr(0, equals)) + ')');
            if (!pattern)
                throw_usage(option::override_tensor.name,
                            "unsupported regular expression " + quote(rule.substr(0, equals)));
            std::int32_t index = llama_cpp_weight::host;
            if (device != "CPU") {
                constexpr std::size_t max_digits = 3;
                const std::size_t digit = device.find_last_not_of("0123456789") + 1;
                index = digit < device.size() && device.size() - digit <= max_digits
                            ? static_cast<std::int32_t>(
                                  parse_integer(option::override_tensor.name, device.substr(digit), 0))
                            : num_devices;
                if (index >= num_devices)
                    throw_usage(option::override_tensor.name,
                                "no device " + quote(device) + "; expected CPU, or GPU0 to GPU" +
                                    std::to_string(num_devices - 1) + " (see --tensor-split)");
            }
            overrides.push_back({*std::move(pattern), index});
        }
    return overrides;
}

LLMCOST_INLINE std::vector<llama_cpp_weight> with_overrides(const parsed_model& read,
                                                            const std::vector<llama_cpp_weight>& weights,
                                                            const std::vector<tensor_override>& overrides) {
    const std::vector<gguf_tensor> tensors =
        gguf_tensors(read.subject, list_model(read.subject, minimal_workload(read.subject)));
    std::vector<llama_cpp_weight> out;
    for (const llama_cpp_weight& weight : weights) {
        bool is_divided = false;
        for (const gguf_tensor& tensor : tensors) {
            if (tensor.parameter != weight.parameter || weight.elements == count{}) continue;
            count elements = 1;
            for (const std::uint64_t size : tensor.sizes) elements *= count(size);
            llama_cpp_weight part{weight.parameter, weight.bytes * elements / weight.elements, elements};
            const auto rule = std::ranges::find_if(
                overrides, [&](const tensor_override& o) { return o.pattern.begins(tensor.name, false); });
            if (rule != overrides.end()) part.device = rule->device;
            out.push_back(std::move(part));
            is_divided = true;
        }
        if (!is_divided) out.push_back(weight);
    }
    return out;
}

LLMCOST_INLINE std::vector<llama_cpp_weight> additional_weights(const parsed_model& read, count assigned) {
    std::vector<llama_cpp_weight> weights;
    if (!read.stored.is_applied || assigned >= read.stored.bytes.total) return weights;
    count additional = read.stored.bytes.total - assigned;
    const gguf_source source = read.found.document.read_with([](config_view root) { return gguf_source_of(root); });
    if (const count frequencies = frequency_bytes_of(read.subject, source);
        frequencies != count{} && frequencies <= additional) {
        weights.push_back({"frequencies", frequencies, count{}, llama_cpp_weight::each_device});
        additional -= frequencies;
    }
    if (additional != count{}) weights.push_back({"additional", additional, count{}});
    return weights;
}

LLMCOST_INLINE llama_cpp_memory llama_cpp_buffers_of(const parsed_model& read, const workload& load,
                                                     const llama_cpp_options& options,
                                                     const std::vector<tensor_override>& overrides) {
    const dtype weight_type = storage_types_of(read.subject, load).weights;
    std::vector<llama_cpp_weight> weights;
    count assigned;
    for (const tensor_shape& t : list_model(read.subject, minimal_workload(read.subject)).tensors) {
        count elements = 1;
        for (const std::int64_t size : t.sizes) elements *= count(size);
        const count bytes = read.stored.is_applied ? read.stored.bytes.parameter_bytes(t.name)
                                                   : llmcost::bytes_of(elements, weight_type);
        assigned += bytes;
        weights.push_back({t.name, bytes, elements});
    }
    for (llama_cpp_weight& weight : additional_weights(read, assigned)) weights.push_back(std::move(weight));
    if (!overrides.empty()) weights = with_overrides(read, weights, overrides);
    return llama_cpp_memory_of(read.subject, load, options, weights);
}

LLMCOST_INLINE count largest_device_bytes(const llama_cpp_memory& memory) {
    count largest;
    for (std::size_t i = 0; i + 1 < memory.devices.size(); ++i) largest = std::max(largest, memory.devices[i].total());
    return memory.devices.size() > 1 ? largest : memory.devices.back().total();
}

LLMCOST_INLINE std::int64_t max_gpu_layers(const parsed_model& read, const workload& load, llama_cpp_options options,
                                           const std::vector<tensor_override>& overrides, std::uint64_t device_bytes) {
    const auto has_space = [&](std::int64_t layers) {
        options.gpu_layers = layers;
        const llama_cpp_memory memory = llama_cpp_buffers_of(read, load, options, overrides);
        return memory.devices.size() == 1 || largest_device_bytes(memory) <= count(device_bytes);
    };
    std::int64_t fitting = 0, excess = read.subject.config.num_hidden_layers + 2;
    while (excess - fitting > 1) {
        const std::int64_t middle = fitting + (excess - fitting) / 2;
        (has_space(middle) ? fitting : excess) = middle;
    }
    return fitting;
}

LLMCOST_INLINE std::optional<parsed_model> read_draft_model(arguments args, const program& io) {
    if (!args.has(option::memory_draft_model)) return std::nullopt;
    const std::string_view name = args.text(option::memory_draft_model);
    for (const option_spec& o :
         {option::config, option::gguf, option::safetensors, option::nested_config, option::read_as_type,
          option::read_as_class, option::set, option::revision, option::quantization, option::dtype})
        args.remove(o);
    args.replace(option::model, name);
    return io.read(args, io);
}

LLMCOST_INLINE void add_draft_model(const parsed_model& draft, const workload& load, const llama_cpp_options& options,
                                    llama_cpp_memory& memory, inference_memory& sums) {
    workload draft_load = load;
    draft_load.weights = dtype::unspecified;
    llama_cpp_options draft_options;
    draft_options.tensor_split = options.tensor_split;
    draft_options.num_ubatch = options.num_ubatch;
    draft_options.has_flash_attention = options.has_flash_attention;
    const llama_cpp_memory buffers = llama_cpp_buffers_of(draft, draft_load, draft_options);
    for (const llama_cpp_buffers& device : buffers.devices) {
        auto target = std::ranges::find(memory.devices, device.device, &llama_cpp_buffers::device);
        // a target model without layers on devices has no entry for them
        if (target == memory.devices.end())
            target = memory.devices.insert(memory.devices.end() - 1, llama_cpp_buffers{.device = device.device});
        target->draft += device.total();
    }
    const inference_memory of_draft = summed_buffers(buffers, count{});
    sums.weight_bytes += of_draft.weight_bytes;
    sums.kv_cache_allocated_bytes += of_draft.kv_cache_allocated_bytes;
    sums.peak_activation_bytes += of_draft.peak_activation_bytes;
    sums.runtime_bytes += of_draft.runtime_bytes;
}

LLMCOST_INLINE inference_memory summed_buffers(const llama_cpp_memory& memory, count kv_cache_bytes) {
    inference_memory out;
    out.weight_bytes = memory.sum(&llama_cpp_buffers::model) + memory.sum(&llama_cpp_buffers::multimodal);
    out.kv_cache_bytes = kv_cache_bytes;
    out.kv_cache_allocated_bytes =
        memory.sum(&llama_cpp_buffers::kv_cache) + memory.sum(&llama_cpp_buffers::recurrent_state);
    out.peak_activation_bytes = memory.sum(&llama_cpp_buffers::compute);
    out.runtime_bytes = memory.sum(&llama_cpp_buffers::output);
    return out;
}

/// The buffers of a device: name in the log, name in JSON, bytes.
struct named_buffer {
    std::string_view label;
    std::string_view member;
    count llama_cpp_buffers::*bytes;
};
inline constexpr named_buffer llama_cpp_buffer_names[]{
    {"model", "model", &llama_cpp_buffers::model},
    {"KV", "kv_cache", &llama_cpp_buffers::kv_cache},
    {"RS", "recurrent_state", &llama_cpp_buffers::recurrent_state},
    {"compute", "compute", &llama_cpp_buffers::compute},
    {"output", "output", &llama_cpp_buffers::output},
    {"CLIP model", "multimodal", &llama_cpp_buffers::multimodal},
    {"draft model", "draft", &llama_cpp_buffers::draft},
};

LLMCOST_INLINE std::string llama_cpp_cells(const llama_cpp_memory& memory) {
    const std::string cells = grouped(count(memory.cells));
    return memory.sliding_cells == 0 ? cells + " cells"
                                     : cells + " + " + grouped(count(memory.sliding_cells)) + " sliding cells";
}

LLMCOST_INLINE std::string llama_cpp_log(const llama_cpp_memory& memory) {
    std::string text;
    for (const named_buffer& buffer : llama_cpp_buffer_names)
        for (const llama_cpp_buffers& device : memory.devices) {
            const count bytes = device.*buffer.bytes;
            if (bytes == count{}) continue;
            const double mebibytes = static_cast<double>(bytes.to_64()) / (1 << 20);
            text += "  " + device.device + ' ' + std::string(buffer.label) +
                    " buffer size = " + formatted("%.2f", mebibytes) + " MiB\n";
        }
    if (memory.ignores_overrides)
        text += "  The compute buffer is estimated: operations run on the device of their layer.\n";
    else if (!memory.has_exact_compute)
        text += "  The compute buffer is estimated: the graph of this model type is not known.\n";
    return text;
}

LLMCOST_INLINE void write_llama_cpp_buffers(json_writer& json, const llama_cpp_memory& memory) {
    json.key("devices").array();
    for (const llama_cpp_buffers& device : memory.devices) {
        json.object().member("device", device.device);
        for (const named_buffer& buffer : llama_cpp_buffer_names) json.member(buffer.member, device.*buffer.bytes);
        json.member("total", device.total()).end_object();
    }
    json.end_array();
    json.member("compute_is_exact", memory.has_exact_compute);
}

}  // namespace llmcost::cli::detail
