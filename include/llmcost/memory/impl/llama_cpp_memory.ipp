// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/memory/llama_cpp_memory.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/graph/kv_cache_entries.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/memory/ggml_graph.hpp>
#include <llmcost/memory/inference.hpp>
#include <llmcost/memory/llama_cpp_graph.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/trace/layer_plan.hpp>

namespace llmcost::detail {

[[nodiscard]] LLMCOST_INLINE std::int64_t padded(std::int64_t n, std::int64_t multiple) {
    return (n + multiple - 1) / multiple * multiple;
}

LLMCOST_INLINE std::int64_t layer_of_path(std::string_view path) {
    while (!path.empty()) {
        const std::size_t dot = path.find('.');
        const std::string_view part = path.substr(0, dot);
        const bool is_number = !part.empty() && std::ranges::all_of(part, [](char c) { return c >= '0' && c <= '9'; });
        if (is_number) {
            std::int64_t n = 0;
            for (const char c : part) n = n * 10 + (c - '0');
            return n;
        }
        path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
    }
    return -1;
}

LLMCOST_INLINE count elements_of_shape(const std::vector<std::int64_t>& sizes) {
    count n = 1;
    for (const std::int64_t size : sizes) n *= count(size);
    return n;
}

LLMCOST_INLINE bool is_multimodal_parameter(std::string_view parameter) {
    for (const std::string_view part : {"vision_tower.", "visual.", "vision_model.", "audio_tower.",
                                        "multi_modal_projector.", "embed_vision.", "embed_audio."})
        if (parameter.find(part) != std::string_view::npos) return true;
    return false;
}

LLMCOST_INLINE bool is_expert_parameter(std::string_view parameter) {
    return parameter.find(".experts.") != std::string_view::npos;
}

/// Adds the weights of all devices.
LLMCOST_INLINE void add_weights(const model& m, const std::vector<llama_cpp_weight>& weights,
                                const llama_cpp_placement& placement, llama_cpp_memory& memory) {
    const auto bytes_on = [&](std::int32_t backend) -> count& {
        return memory.devices[static_cast<std::size_t>(backend)].model;
    };
    for (const llama_cpp_weight& weight : weights) {
        if (is_multimodal_parameter(weight.parameter)) continue;
        if (weight.device == llama_cpp_weight::each_device) {
            for (std::int32_t d = 0; d <= placement.host(); ++d)
                if (std::find(placement.layers.begin(), placement.layers.end(), d) != placement.layers.end())
                    bytes_on(d) += weight.bytes;
            continue;
        }
        if (weight.device != llama_cpp_weight::by_layer) {
            bytes_on(weight.device == llama_cpp_weight::host ? placement.host() : weight.device) += weight.bytes;
            continue;
        }
        const std::int64_t layer = layer_of_path(weight.parameter);
        if (layer >= 0) {
            const auto index = static_cast<std::size_t>(
                std::min<std::int64_t>(layer, static_cast<std::int64_t>(placement.layers.size()) - 1));
            const bool is_expert = is_expert_parameter(weight.parameter);
            bytes_on(is_expert ? placement.experts[index] : placement.layers[index]) += weight.bytes;
            continue;
        }
        const bool is_input =
            weight.parameter.find("embed") != std::string::npos || weight.parameter.find("wte") != std::string::npos;
        bytes_on(is_input ? placement.host() : placement.output) += weight.bytes;
        const bool is_head = is_input && m.config.tie_word_embeddings && placement.output != placement.host() &&
                             weight.elements == count(m.config.vocab_size) * count(m.config.hidden_size);
        if (is_head) bytes_on(placement.output) += weight.bytes;
    }
}

/// The bytes after a quantized tensor, up to a multiple of 512 elements of its last row.
///
/// Source: ggml/src/ggml-cuda/ggml-cuda.cu, `ggml_backend_cuda_buffer_type_get_alloc_size` (`MATRIX_ROW_PADDING`).
[[nodiscard]] LLMCOST_INLINE count row_padding(count row, const ggml_block& type, bool is_on_device) {
    constexpr std::uint64_t multiple = 512;
    const std::uint64_t rest = row.to_64() % multiple;
    return is_on_device && type.elements > 1 && rest != 0 ? type.bytes_of(count(multiple - rest)) : count{};
}

/// Adds the KV cache and the recurrent states of all layers.
LLMCOST_INLINE void add_caches(const model& m, const workload& load, const llama_cpp_options& options,
                               const llama_cpp_placement& placement, llama_cpp_memory& memory) {
    workload prefill = load;
    prefill.batch = 1;
    prefill.past = 0;
    prefill.sequence = 1;
    const std::vector<kv_cache_entry> one = list_kv_cache(m, prefill);
    prefill.sequence = 2;
    const std::vector<kv_cache_entry> two = list_kv_cache(m, prefill);
    const count batch(load.batch);
    for (std::size_t i = 0; i < one.size() && i < two.size(); ++i) {
        const std::int64_t layer = std::max<std::int64_t>(layer_of_path(one[i].path), 0);
        const auto index = std::min(static_cast<std::size_t>(layer), placement.layers.size() - 1);
        llama_cpp_buffers& device = memory.devices[static_cast<std::size_t>(placement.layers[index])];
        const bool is_on_device = placement.layers[index] != placement.host();
        const bool is_sliding =
            memory.sliding_cells > 0 && m.config.layers[layer].token_mixer != token_mixer_kind::full_attention;
        const count cells(is_sliding ? memory.sliding_cells : memory.cells);
        std::size_t num_tensors = 0;
        bool is_first_state = true;
        for (std::size_t k = 0; k < one[i].tensors.size(); ++k) {
            const std::vector<std::int64_t>& sizes = one[i].tensors[k];
            const count elements = elements_of_shape(sizes), elements_of_two = elements_of_shape(two[i].tensors[k]);
            if (elements_of_two > elements) {
                // A latent cache has keys only: values are a view of them.
                const bool is_value = num_tensors++ == 1 && m.config.mla.kv_lora_rank == 0;
                const ggml_block& type = is_value ? options.values : options.keys;
                const count row = elements_of_two - elements;
                device.kv_cache += batch * cells * type.bytes_of(row) + row_padding(row, type, is_on_device);
                continue;
            }
            // The newest column of a convolution's input is not stored.
            const std::int64_t kernel = std::max(m.config.ssm.conv_kernel, m.config.delta.conv_kernel);
            const bool is_convolution = is_first_state && kernel > 1 && sizes.back() == kernel;
            const count stored = is_convolution ? elements / count(kernel) * count(kernel - 1) : elements;
            device.recurrent_state += batch * stored * count(4);
            is_first_state = false;
        }
    }
}

/// Mean bytes per element of the matrices in layers, of routed experts or of all other modules. 2 without any.
[[nodiscard]] LLMCOST_INLINE double mean_bytes_per_weight(const model& m, const std::vector<llama_cpp_weight>& weights,
                                                          bool of_experts) {
    count bytes, elements;
    for (const llama_cpp_weight& weight : weights) {
        // Vectors are stored in float32 and are not copied with the matrices.
        const bool is_matrix = weight.elements >= count(m.config.hidden_size) * count(32);
        if (layer_of_path(weight.parameter) < 0 || !is_matrix || is_expert_parameter(weight.parameter) != of_experts)
            continue;
        bytes += weight.bytes;
        elements += weight.elements;
    }
    if (elements == count{}) return 2;
    return static_cast<double>(bytes.to_64()) / static_cast<double>(elements.to_64());
}

/// Adds the compute buffers of all devices.
LLMCOST_INLINE void add_compute(const model& m, const workload& load, const llama_cpp_options& options,
                                const std::vector<llama_cpp_weight>& weights, const llama_cpp_placement& placement,
                                llama_cpp_memory& memory) {
    const std::int64_t context = memory.cells * load.batch;
    const std::int64_t num_batch = std::min(context, options.num_batch);
    const std::int64_t num_tokens = std::min(num_batch, options.num_ubatch);
    memory.has_exact_compute = llama_cpp_architecture_of(m).has_graph;
    if (!memory.has_exact_compute) {
        workload batch = load;
        batch.batch = 1;
        batch.sequence = std::min(num_tokens, memory.cells);
        batch.past = memory.cells - batch.sequence;
        batch.activations = dtype::float32;
        memory.devices.front().compute = peak_activation_bytes(m, batch);
        return;
    }

    llama_cpp_batch batch;
    batch.num_tokens = padded(num_tokens, load.batch);
    batch.num_outputs = num_tokens;
    batch.cells = memory.cells;
    batch.sliding_cells = memory.sliding_cells;
    batch.num_streams = load.batch;
    batch.keys = options.keys;
    batch.values = options.values;
    batch.has_flash_attention = options.has_flash_attention;
    const bool can_rotate = m.config.head_dim % 64 == 0;
    batch.rotates_keys = can_rotate && options.keys.elements > 1;
    batch.rotates_values = can_rotate && options.values.elements > 1;
    batch.bytes_per_weight = mean_bytes_per_weight(m, weights, false);
    batch.bytes_per_expert_weight = mean_bytes_per_weight(m, weights, true);

    ggml_backends backends;
    backends.num_devices = placement.num_devices;
    // Pipeline parallelism of layers: src/llama-context.cpp, `pipeline_parallel`; GGML_SCHED_MAX_COPIES.
    const bool is_pipeline =
        placement.num_devices > 1 && placement.is_complete && options.cpu_expert_layers == 0 && !options.has_overrides;
    backends.num_copies = is_pipeline ? 4 : 1;
    const std::vector<std::uint64_t> buffers = compute_buffer_bytes(llama_cpp_graph(m, placement, batch), backends);
    for (std::size_t i = 0; i < buffers.size(); ++i) memory.devices[i].compute = count(buffers[i]);
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE detail::llama_cpp_placement llama_cpp_placement_of(const model& m, const llama_cpp_options& options) {
    const std::int64_t num_layers = m.config.num_hidden_layers;
    const std::int64_t on_devices =
        options.gpu_layers < 0 ? num_layers + 1 : std::min(options.gpu_layers, num_layers + 1);
    detail::llama_cpp_placement placement;
    placement.num_devices = on_devices == 0 ? 0 : static_cast<std::int32_t>(options.tensor_split.size());
    placement.is_complete = placement.num_devices > 0 && on_devices == num_layers + 1;

    std::vector<float> ends;
    float sum = 0;
    for (const double share : options.tensor_split) ends.push_back(sum += static_cast<float>(share));
    for (float& end : ends) end /= sum;
    const std::int64_t first = num_layers + 1 - on_devices;
    const auto backend_of = [&](std::int64_t layer) {
        if (layer < first) return placement.host();
        const float position = static_cast<float>(layer - first) / static_cast<float>(on_devices);
        return static_cast<std::int32_t>(std::ranges::upper_bound(ends, position) - ends.begin());
    };
    for (std::int64_t i = 0; i < num_layers; ++i) {
        placement.layers.push_back(backend_of(i));
        placement.experts.push_back(i < options.cpu_expert_layers ? placement.host() : placement.layers.back());
    }
    placement.output = backend_of(num_layers);
    return placement;
}

LLMCOST_INLINE detail::llama_cpp_placement placement_with_overrides(detail::llama_cpp_placement placement,
                                                                    const std::vector<llama_cpp_weight>& weights,
                                                                    bool& ignores_overrides) {
    std::vector<std::int64_t> experts(placement.layers.size()), experts_on_host(placement.layers.size());
    for (const llama_cpp_weight& weight : weights) {
        const std::int64_t layer = detail::layer_of_path(weight.parameter);
        const bool is_expert = layer >= 0 && layer < static_cast<std::int64_t>(placement.layers.size()) &&
                               detail::is_expert_parameter(weight.parameter);
        if (is_expert) {
            ++experts[static_cast<std::size_t>(layer)];
            experts_on_host[static_cast<std::size_t>(layer)] += weight.device == llama_cpp_weight::host ? 1 : 0;
        }
        if (weight.device >= 0 || (!is_expert && weight.device == llama_cpp_weight::host)) ignores_overrides = true;
    }
    for (std::size_t i = 0; i < experts.size(); ++i) {
        if (experts_on_host[i] == 0) continue;
        if (experts_on_host[i] == experts[i])
            placement.experts[i] = placement.host();
        else
            ignores_overrides = true;
    }
    return placement;
}

LLMCOST_INLINE llama_cpp_memory llama_cpp_memory_of(const model& m, const workload& load,
                                                    const llama_cpp_options& options,
                                                    const std::vector<llama_cpp_weight>& weights) {
    llama_cpp_memory memory;
    detail::llama_cpp_placement placement = llama_cpp_placement_of(m, options);
    if (options.has_overrides)
        placement = placement_with_overrides(std::move(placement), weights, memory.ignores_overrides);
    for (std::int32_t i = 0; i < placement.num_devices; ++i) memory.devices.push_back({"GPU" + std::to_string(i)});
    memory.devices.push_back({"CPU"});

    constexpr std::int64_t cell_multiple = 256;
    memory.cells = detail::padded(load.past + load.sequence, cell_multiple);
    if (detail::llama_cpp_architecture_of(m).has_sliding_cache && m.config.sliding_window > 0) {
        const std::int64_t num_ubatch = std::min({memory.cells * load.batch, options.num_batch, options.num_ubatch});
        memory.sliding_cells =
            detail::padded(std::min(memory.cells, m.config.sliding_window + num_ubatch), cell_multiple);
        if (options.has_full_sliding_cache) memory.sliding_cells = memory.cells;
    }
    detail::add_weights(m, weights, placement, memory);
    detail::add_caches(m, load, options, placement, memory);
    detail::add_compute(m, load, options, weights, placement, memory);
    if (memory.ignores_overrides) memory.has_exact_compute = false;
    // Source: tools/mtmd/clip.cpp, `clip_ctx`: the first device, if there is one.
    (options.offloads_multimodal ? memory.devices.front() : memory.devices.back()).multimodal =
        options.multimodal_bytes;
    memory.devices.back().output = count(load.batch) * count(m.config.vocab_size) * count(4);
    return memory;
}

}  // namespace llmcost
