// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/model/model_spec.hpp>

// The KV cache of each layer, as inference engines allocate it.
namespace llmcost {

/// The cache of one layer for one sequence.
///
/// An attention layer stores `bytes_per_token` for each token in its window. A recurrent layer stores `state_bytes`.
struct kv_cache_layer {
    count bytes_per_token{};
    std::int64_t window = 0;            ///< tokens; 0: all tokens
    bool is_chunked = false;            ///< the window begins at a multiple of its size: Llama 4
    count state_bytes{};                ///< convolution and recurrent states
    compressed_attention compressed{};  ///< compressed entries; their layers have pages of fixed sizes (`block_pool`)
    bool has_index_keys = false;        ///< `bytes_per_token` includes keys of the indexer of sparse attention

    friend constexpr bool operator==(const kv_cache_layer&, const kv_cache_layer&) = default;
};

/// Size of the KV cache of one sequence: `bytes_per_token` · tokens + `bytes_per_sequence`.
struct kv_cache_size {
    count bytes_per_token{};
    count bytes_per_sequence{};  ///< independent of the length: states of recurrent layers
};

/// Consecutive decoder layers: `first` to `first + size − 1`.
struct layer_range {
    std::int64_t first = 0;
    std::int64_t size = 0;

    [[nodiscard]] constexpr bool contains(std::int64_t layer) const noexcept {
        return layer >= first && layer - first < size;
    }
};

inline constexpr layer_range all_layers{.first = 0, .size = max_input};

namespace detail {

/// Bytes of the index keys of a token: 8 bits per element, and a float32 scale for each 128 elements.
///
/// Source: vllm/model_executor/models/deepseek_v2.py, `Indexer` (`head_dim + head_dim // quant_block_size * 4`).
[[nodiscard]] count index_key_bytes(count elements);

}  // namespace detail

/// The cache of each layer of a model. Layers without a cache, and those outside of `range`, are omitted.
///
/// The tensors of three prefills determine a layer: what the second token adds is `bytes_per_token`, what does not grow
/// is a state, and what stops to grow has a window. Convolution states have one column less than in Transformers: the
/// newest input is not stored. Recurrent states have the element type of `mamba_ssm_dtype` or `mamba_ssm_cache_dtype`.
/// Keys of an indexer of sparse attention have 8 bits, and a float32 scale for each 128 elements.
/// Source: vllm/model_executor/layers/mamba/mamba_utils.py, `MambaStateShapeCalculator`, `MambaStateDtypeCalculator`;
/// transformers/cache_utils.py, `DynamicSlidingWindowLayer` (stores window − 1 tokens).
[[nodiscard]] std::vector<kv_cache_layer> kv_cache_layers_of(const model& m, const workload& load,
                                                             layer_range range = all_layers);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/memory/impl/kv_cache_layers.ipp>  // IWYU pragma: export
#endif
