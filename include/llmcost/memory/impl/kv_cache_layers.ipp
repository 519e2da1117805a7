// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/memory/kv_cache_layers.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/graph/kv_cache_entries.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/trace/layer_plan.hpp>

namespace llmcost::detail {

/// Elements of a tensor.
[[nodiscard]] LLMCOST_INLINE count tensor_elements(const std::vector<std::int64_t>& sizes) {
    count n = 1;
    for (const std::int64_t size : sizes) n = n * count(size);
    return n;
}

/// Bytes of the states of a recurrent layer: the convolution state, then recurrent states.
[[nodiscard]] LLMCOST_INLINE count state_bytes_of(const std::vector<std::vector<std::int64_t>>& states, dtype type,
                                                  dtype recurrent_type) {
    count bytes;
    for (std::size_t i = 0; i < states.size(); ++i) {
        const bool is_convolution = i == 0 && states.size() > 1;
        std::vector<std::int64_t> sizes = states[i];
        if (is_convolution) --sizes.back();
        bytes += bytes_of(tensor_elements(sizes), is_convolution ? type : recurrent_type);
    }
    return bytes;
}

LLMCOST_INLINE count index_key_bytes(count elements) { return elements + elements / count(128) * count(4); }

/// The index of a layer: 3 of `model.layers.3`; 0 outside of a list.
[[nodiscard]] LLMCOST_INLINE std::int64_t layer_index(const std::string& path) {
    std::int64_t index = 0;
    (void)std::from_chars(path.data() + path.rfind('.') + 1, path.data() + path.size(), index);
    return index;
}

/// The cache entries after a prefill of `num_tokens` tokens of one sequence.
[[nodiscard]] LLMCOST_INLINE std::vector<kv_cache_entry> kv_cache_after_prefill(const model& m, workload load,
                                                                                std::int64_t num_tokens) {
    load.batch = 1;
    load.past = 0;
    load.sequence = num_tokens;
    return list_kv_cache(m, load);
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE std::vector<kv_cache_layer> kv_cache_layers_of(const model& m, const workload& load, layer_range range) {
    const storage_types types = storage_types_of(m, load);
    const dtype recurrent_type =
        m.config.recurrent_state_dtype == dtype::unspecified ? types.activations : m.config.recurrent_state_dtype;
    const std::vector<kv_cache_entry> one = detail::kv_cache_after_prefill(m, load, 1);
    const std::vector<kv_cache_entry> two = detail::kv_cache_after_prefill(m, load, 2);
    // Two windows and a chunk: every window is exceeded.
    const std::int64_t num_tokens = std::max<std::int64_t>(4 * m.config.sliding_window, 4) + 1;
    const std::vector<kv_cache_entry> many = detail::kv_cache_after_prefill(m, load, num_tokens);
    const bool has_chunks = m.config.layers.contains(token_mixer_kind::chunked_attention, m.config.num_hidden_layers);

    std::vector<kv_cache_layer> layers;
    for (std::size_t i = 0; i < one.size() && i < two.size() && i < many.size(); ++i) {
        if (!range.contains(detail::layer_index(one[i].path))) continue;
        kv_cache_layer layer;
        std::vector<std::vector<std::int64_t>> states;
        count elements_per_token, elements_of_many, index_bytes_per_token;
        for (std::size_t k = 0; k < one[i].tensors.size(); ++k) {
            const count first = detail::tensor_elements(one[i].tensors[k]),
                        second = detail::tensor_elements(two[i].tensors[k]);
            if (second == first) {
                states.push_back(one[i].tensors[k]);
                continue;
            }
            if (one[i].is_index_key[k]) {
                index_bytes_per_token += detail::index_key_bytes(second - first);
                continue;
            }
            elements_per_token += second - first;
            elements_of_many += detail::tensor_elements(many[i].tensors[k]);
        }
        layer.bytes_per_token = bytes_of(elements_per_token, types.cache) + index_bytes_per_token;
        layer.has_index_keys = index_bytes_per_token != count{};
        if (elements_of_many < elements_per_token * count(num_tokens)) {
            layer.window = static_cast<std::int64_t>((elements_of_many / elements_per_token).to_64()) + 1;
            layer.is_chunked = has_chunks;
        }
        layer.state_bytes = detail::state_bytes_of(states, types.activations, recurrent_type);
        if (const auto compressed_attention_of = m.text_model_spec().compressed_attention_of)
            layer.compressed = compressed_attention_of(m.config, detail::layer_index(one[i].path));
        if (layer.bytes_per_token != count{} || layer.state_bytes != count{}) layers.push_back(layer);
    }
    return layers;
}

}  // namespace llmcost
