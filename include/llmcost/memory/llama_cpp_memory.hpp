// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/memory/llama_cpp_graph.hpp>
#include <llmcost/model/model_spec.hpp>

// The buffers that llama.cpp allocates, and that its log lists.
namespace llmcost {

/// Options of llama.cpp that affect memory, with its defaults.
///
/// Source: common/common.h, `common_params`; include/llama.h, `llama_context_params`.
struct llama_cpp_options {
    std::int64_t num_ubatch = 512;        ///< `--ubatch-size`: tokens of a physical batch
    std::int64_t num_batch = 2048;        ///< tokens of a logical batch
    ggml_block keys{};                    ///< `--cache-type-k`; float16
    ggml_block values{};                  ///< `--cache-type-v`; float16
    bool has_flash_attention = true;      ///< `--flash-attn`; llama.cpp enables it if the devices support it
    bool has_full_sliding_cache = false;  ///< `--swa-full`: sliding layers store all tokens
    std::int64_t gpu_layers = -1;  ///< `--gpu-layers`: layers on devices, with the output as the last one; -1: all
    std::vector<double> tensor_split{1};  ///< `--tensor-split`: share of the layers on each device
    std::int64_t cpu_expert_layers = 0;   ///< `--n-cpu-moe`: first layers, whose experts stay on the host
    count multimodal_bytes{};             ///< `--mmproj`: tensors of the encoder's file
    bool offloads_multimodal = true;      ///< false: `--no-mmproj-offload`, the encoder stays on the host
    bool has_overrides = false;           ///< `--override-tensor`: some weights have a device of their own
};

/// Stored bytes of one parameter.
struct llama_cpp_weight {
    std::string parameter;  ///< module path of the reference
    count bytes{};
    count elements{};
    std::int32_t device = by_layer;  ///< `--override-tensor`: index of the device; `host`, `by_layer` or `each_device`

    static constexpr std::int32_t by_layer = -1;
    static constexpr std::int32_t host = -2;
    /// A copy on each device with layers: rotary frequencies. Source: src/llama-model-loader.cpp, `create_tensor`
    /// (`TENSOR_DUPLICATED`).
    static constexpr std::int32_t each_device = -3;
};

/// The buffers of one device, in bytes.
struct llama_cpp_buffers {
    std::string device;  ///< `GPU0`, or `CPU`
    count model{};       ///< weights
    count kv_cache{};
    count recurrent_state{};  ///< convolution and recurrent states, always float32
    count compute{};          ///< intermediate tensors and inputs of the largest batch
    count output{};           ///< logits of one position per sequence, for the caller
    count multimodal{};       ///< weights of the encoder of images or audio
    count draft{};            ///< all buffers of the draft model

    [[nodiscard]] count total() const {
        return model + kv_cache + recurrent_state + compute + output + multimodal + draft;
    }
};

/// The buffers of all devices. The host is the last one.
struct llama_cpp_memory {
    std::vector<llama_cpp_buffers> devices{};
    std::int64_t cells = 0;          ///< tokens of the cache of a sequence
    std::int64_t sliding_cells = 0;  ///< tokens of the cache of sliding layers; 0: no such cache
    bool has_exact_compute = false;  ///< the graph of the architecture is known; false: estimated from the trace
    bool ignores_overrides = false;  ///< the graph runs operations of overridden weights on the device of their layer

    /// The sum of a buffer over all devices.
    [[nodiscard]] count sum(count llama_cpp_buffers::*buffer) const {
        count bytes;
        for (const llama_cpp_buffers& device : devices) bytes += device.*buffer;
        return bytes;
    }
};

namespace detail {

/// The index of the layer to which a path belongs: its first number. -1: none.
[[nodiscard]] std::int64_t layer_of_path(std::string_view path);

[[nodiscard]] count elements_of_shape(const std::vector<std::int64_t>& sizes);

/// Whether a parameter belongs to an encoder of images or audio, which is a file of its own (`--mmproj`).
[[nodiscard]] bool is_multimodal_parameter(std::string_view parameter);

[[nodiscard]] bool is_expert_parameter(std::string_view parameter);

}  // namespace detail

/// The backend of each layer of a model.
///
/// Source: src/llama-model.cpp, `llama_model_base::load_tensors` (`get_layer_buft_list`); common/arg.cpp,
/// `--n-cpu-moe`.
[[nodiscard]] detail::llama_cpp_placement llama_cpp_placement_of(const model& m, const llama_cpp_options& options);

/// The backend of each layer, with experts on the host where `--override-tensor` moves all experts of a layer.
///
/// Sets `ignores_overrides` if other weights are moved.
[[nodiscard]] detail::llama_cpp_placement placement_with_overrides(detail::llama_cpp_placement placement,
                                                                   const std::vector<llama_cpp_weight>& weights,
                                                                   bool& ignores_overrides);

/// The buffers for `load.batch` sequences of `load.past + load.sequence` tokens each.
///
///     cells = ceil(tokens / 256) · 256
///     sliding cells = ceil(min(cells, window + num_ubatch) / 256) · 256
///     KV cache = batch · Σ over layers (cells of the layer · bytes of its keys and values)
///     output = batch · vocab_size · 4
///
/// `weights`: the tensors of the file. The input embeddings stay on the host. A tied head is a second copy on the
/// output's device. Source: llama.cpp b11434: src/llama-context.cpp, `llama_context`, `sched_reserve`,
/// `output_reserve`; src/llama-kv-cache.cpp, src/llama-kv-cache-iswa.cpp, src/llama-memory-recurrent.cpp.
[[nodiscard]] llama_cpp_memory llama_cpp_memory_of(const model& m, const workload& load,
                                                   const llama_cpp_options& options,
                                                   const std::vector<llama_cpp_weight>& weights);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/memory/impl/llama_cpp_memory.ipp>  // IWYU pragma: export
#endif
