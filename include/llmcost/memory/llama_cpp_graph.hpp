// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iterator>
#include <string_view>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/memory/ggml_graph.hpp>
#include <llmcost/model/model_spec.hpp>

// The compute graph that llama.cpp builds for a decoder.
namespace llmcost {

/// Bytes of a block of elements of a ggml type.
struct ggml_block {
    std::int64_t elements = 1;
    std::int64_t bytes = 2;

    [[nodiscard]] constexpr count bytes_of(count n) const { return n / count(elements) * count(bytes); }
};

}  // namespace llmcost

namespace llmcost::detail {

/// How token embeddings are scaled.
enum class embedding_scaling : std::uint8_t {
    none,
    constant,  ///< `ggml_scale`
    by_token   ///< a factor per token, which is an input: embeddings of images are not scaled
};

/// Properties of a llama.cpp architecture that affect its memory.
struct llama_cpp_architecture {
    std::string_view model_type;     ///< of Transformers
    bool has_sliding_cache = false;  ///< `hparams.swa_type`: sliding layers have a cache of their own
    bool has_graph = false;          ///< the other members describe its graph
    embedding_scaling embedding = embedding_scaling::none;
    bool has_fused_projections = false;  ///< one tensor for queries, keys and values; one for gate and up
    bool has_qk_norm = false;
    bool has_post_norms = false;        ///< norms after attention and after the MLP
    bool adds_to_residual = false;      ///< the residual is the first addend after the MLP
    bool selects_after_layers = false;  ///< output positions are selected after the last layer, not inside of it
    bool normalizes_selected = false;   ///< softmax over the selected experts' scores, not over all scores
    bool divides_by_sum = false;        ///< weights of the selected experts are divided by their sum
};

// Source: src/models/*.cpp (`load_arch_hparams`, `graph::graph`) and conversion/*.py, llama.cpp b11434.
// clang-format off
inline constexpr llama_cpp_architecture llama_cpp_architectures[]{
    {.model_type = "llama", .has_graph = true},
    {.model_type = "mistral", .has_graph = true},
    {.model_type = "mixtral", .has_graph = true, .divides_by_sum = true},
    {.model_type = "qwen2", .has_graph = true},
    {.model_type = "qwen3", .has_graph = true, .has_qk_norm = true},
    {.model_type = "qwen3_moe", .has_graph = true, .has_qk_norm = true, .divides_by_sum = true},
    {.model_type = "gemma2", .has_sliding_cache = true, .has_graph = true, .embedding = embedding_scaling::constant, .has_post_norms = true},
    {.model_type = "gemma3_text", .has_sliding_cache = true, .has_graph = true, .embedding = embedding_scaling::by_token, .has_qk_norm = true, .has_post_norms = true},
    {.model_type = "phi3", .has_graph = true, .has_fused_projections = true, .adds_to_residual = true},
    {.model_type = "gpt_oss", .has_sliding_cache = true, .has_graph = true, .selects_after_layers = true, .normalizes_selected = true},
    {.model_type = "afmoe", .has_sliding_cache = true},
    {.model_type = "cohere2", .has_sliding_cache = true},
    {.model_type = "deepseek_v4", .has_sliding_cache = true},
    {.model_type = "exaone4", .has_sliding_cache = true},
    {.model_type = "exaone_moe", .has_sliding_cache = true},
    {.model_type = "gemma3n_text", .has_sliding_cache = true},
    {.model_type = "gemma4_text", .has_sliding_cache = true},
    {.model_type = "llama4_text", .has_sliding_cache = true},
    {.model_type = "mimo_v2_flash", .has_sliding_cache = true},
    {.model_type = "olmo3", .has_sliding_cache = true},
    {.model_type = "step3p5", .has_sliding_cache = true},
};
// clang-format on

/// The architecture of a model's decoder. Unlisted types have no sliding cache, and their graph is not known.
[[nodiscard]] llama_cpp_architecture llama_cpp_architecture_of(const model& m);

/// The devices of a model's tensors. `host` is the number of devices.
struct llama_cpp_placement {
    std::int32_t num_devices = 0;
    std::vector<std::int32_t> layers{};   ///< backend of each layer
    std::vector<std::int32_t> experts{};  ///< backend of each layer's routed experts
    std::int32_t output = 0;              ///< backend of the final norm and the head
    bool is_complete = false;             ///< all layers and the output are on devices

    [[nodiscard]] std::int32_t host() const noexcept { return num_devices; }
};

/// Sizes of a batch and of the caches that it reads.
struct llama_cpp_batch {
    std::int64_t num_tokens = 512;   ///< tokens of a physical batch (`n_ubatch`)
    std::int64_t num_outputs = 512;  ///< positions with logits
    std::int64_t cells = 0;          ///< cells of a full cache, per stream
    std::int64_t sliding_cells = 0;  ///< cells of a sliding cache, per stream
    std::int64_t num_streams = 1;    ///< sequences, each with a cache of its own
    ggml_block keys{};
    ggml_block values{};
    bool has_flash_attention = true;
    bool rotates_keys = false;           ///< quantized keys are multiplied by a Hadamard matrix
    bool rotates_values = false;         ///< quantized values are multiplied by a Hadamard matrix
    double bytes_per_weight = 2;         ///< mean of the layers' matrices, for copies of weights on the host
    double bytes_per_expert_weight = 2;  ///< mean of the routed experts' matrices
};

/// The graph of a batch of tokens.
///
/// Operations that always overwrite their input are left out if they read no weight: they need no memory.
/// Source: src/llama-graph.cpp, `llm_graph_context`; src/models/llama.cpp, qwen3.cpp, gemma3.cpp, phi3.cpp,
/// openai-moe.cpp, `graph::graph`.
[[nodiscard]] ggml_graph llama_cpp_graph(const model& m, const llama_cpp_placement& placement,
                                         const llama_cpp_batch& batch);

}  // namespace llmcost::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/memory/impl/llama_cpp_graph.ipp>  // IWYU pragma: export
#endif
