// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/devices/device.hpp>
#include <llmcost/memory/llama_cpp_memory.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/serving/llama_cpp_rates.hpp>

// The time of a step of llama.cpp.
namespace llmcost {

/// A tensor of a GGUF file.
struct llama_cpp_tensor {
    llama_cpp_weight weight{};
    std::string type{};  ///< `Q4_K`
    bool is_matrix = false;
    bool is_lookup = false;  ///< input embeddings, of which a step reads one row per token
};

/// What a step reads and computes on one backend.
struct llama_cpp_work {
    /// A class of GGUF types.
    struct products {
        double bytes = 0;     ///< weights that are read
        double flops = 0;     ///< of products with all tokens, and with padding to tiles
        double elements = 0;  ///< weights that are read
    };
    products by_class[4]{};  ///< by `ggml_type_class`
    double cache_bytes = 0;  ///< KV cache that one token reads, of all layers
    double state_bytes = 0;  ///< recurrent states, read and written
    double attention_flops = 0;
    double score_bytes = 0;       ///< float32 scores of all heads
    double activation_bytes = 0;  ///< float32 results of all products
    double launches = 0;          ///< operations
    double prompt_launches = 0;  ///< kernels of a prompt: operations, and conversions of weights and activations to F16

    llama_cpp_work& operator+=(const llama_cpp_work& other) noexcept;

    [[nodiscard]] double weight_bytes() const noexcept {
        double sum = 0;
        for (const products& p : by_class) sum += p.bytes;
        return sum;
    }
};

/// Tokens of a step.
struct llama_cpp_step_tokens {
    std::int64_t past = 0;      ///< tokens in the cache of each sequence
    std::int64_t sequence = 1;  ///< new tokens of each sequence
    std::int64_t batch = 1;     ///< sequences
};

/// The processors of a step.
struct llama_cpp_processors {
    const device* gpu = nullptr;  ///< of all devices; null: only the host
    const device* host = nullptr;
    llama_cpp_backend backend = llama_cpp_backend::cuda;
};

/// The time of a step and its parts, in seconds.
struct llama_cpp_step_time {
    double seconds = 0;
    double lower = 0;  ///< nine of ten measured times are between `lower` and `upper`
    double upper = 0;
    double weights_seconds = 0;          ///< products of weights: reading them, or computing
    double attention_seconds = 0;        ///< KV cache, scores and recurrent states
    double overhead_seconds = 0;         ///< launches, and activations between products
    double transfer_seconds = 0;         ///< between devices
    std::vector<llama_cpp_work> work{};  ///< of each device, of all physical batches; the host is the last one
};

/// The class of a GGUF type by its name.
[[nodiscard]] ggml_type_class type_class_of(std::string_view ggml_type) noexcept;

/// The default backend of a device: CUDA on NVIDIA devices, ROCm on AMD, Metal on Apple, Vulkan on other devices.
[[nodiscard]] llama_cpp_backend default_backend(const device& d) noexcept;

/// Whether a device is a CPU: it has no memory of its own.
[[nodiscard]] bool is_cpu(const device& d) noexcept;

/// The work of one physical batch on each backend.
///
/// Experts: `n` tokens read `E · (1 - (1 - k/E)^n)` of `E` experts of a layer, if routing is uniform.
[[nodiscard]] std::vector<llama_cpp_work> llama_cpp_work_of(const model& m, const llama_cpp_step_tokens& tokens,
                                                            const llama_cpp_options& options,
                                                            const std::vector<llama_cpp_tensor>& tensors);

/// The time of a step.
///
///     products of one token = weight bytes / (memory bandwidth · share)
///     products of a prompt  = max(FLOPs / (peak · share), weight bytes / (memory bandwidth · share))
///     attention             = cache bytes / (memory bandwidth · share), or FLOPs / (peak · share)
///     overhead              = operations · launch time + activation bytes / memory bandwidth
///
/// A prompt runs in physical batches of `options.num_ubatch` tokens; `tokens.batch` sequences share these batches.
/// Devices run one after the other; physical batches of a prompt overlap on several devices. Weights on the host are
/// copied to the first device for batches of 32 tokens or more. Source: ggml/src/ggml-cuda/ggml-cuda.cu,
/// `ggml_backend_cuda_device_offload_op`; src/llama-context.cpp, `llama_context` (`pipeline_parallel`).
[[nodiscard]] llama_cpp_step_time time_llama_cpp_step(const model& m, const llama_cpp_step_tokens& tokens,
                                                      const llama_cpp_options& options,
                                                      const std::vector<llama_cpp_tensor>& tensors,
                                                      const llama_cpp_processors& processors);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/serving/impl/llama_cpp_step.ipp>  // IWYU pragma: export
#endif
