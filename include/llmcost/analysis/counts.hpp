// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/model/model_spec.hpp>

namespace llmcost {

/// All figures of one trace, exact: primitives, parameters, cache, memory traffic, FLOPs by other definitions.
struct model_metrics : primitives<count> {
    count params{};          ///< elements of parameters; a tied tensor counts once
    count active_params{};   ///< elements of parameters that one token uses
    count unrouted_flops{};  ///< part of flops() that experts execute for tokens not routed to them
    count cache_elements{};  ///< floating-point elements in the cache after the pass
    count
        /// elements of encoder outputs for images, videos and audio that replace placeholder tokens
        encoder_cache_elements{};
    count module_output_elements{};  ///< floating-point elements that leaf modules return (ACT)
    count written_elements{};        ///< floating-point elements that operations write to new storages
    count torch_flops{};             ///< FLOPs of FlopCounterMode in forward
    count backward_torch_flops{};
    primitives<count> backward{};  ///< primitives of backward; for training steps of complete models only
    count saved_bytes{};           ///< bytes saved for backward
    count weight_bytes{};          ///< params in the element type of weights
    count cache_bytes{};           ///< cache_elements in the element type of the cache
    count encoder_cache_bytes{};   ///< encoder_cache_elements in the element type of activations

    /// FLOPS = ADD + MULT.
    [[nodiscard]] constexpr count flops() const { return add + mult; }
    /// FLOPS without the work of experts for tokens that are not routed to them.
    [[nodiscard]] constexpr count active_flops() const { return flops() - unrouted_flops; }
    /// MACS = TORCH_FLOPS / 2.
    [[nodiscard]] constexpr count macs() const { return torch_flops / count(2); }
    friend constexpr bool operator==(const model_metrics&, const model_metrics&) = default;
};

/// Element types of figures in bytes.
struct storage_types {
    dtype weights = dtype::float32;
    dtype activations = dtype::float32;
    dtype cache = dtype::float32;
};

/// The element types of a workload, with unspecified ones filled in.
///
/// Weights: the type in the configuration. Activations: that of the weights. Cache: that of the activations. If weights
/// have fewer than 16 bits, activations have the type in the configuration, or bfloat16.
[[nodiscard]] constexpr storage_types storage_types_of(const model& m, const workload& load) noexcept {
    const auto first = [](dtype a, dtype b) { return a != dtype::unspecified ? a : b; };
    storage_types t;
    t.weights = first(load.weights, first(m.config.dtype_of_weights, dtype::float32));
    const auto is_sub_16_bit = [](dtype type) { return bits_of(type) < 16; };
    const dtype default_activation_dtype =
        is_sub_16_bit(m.config.dtype_of_weights) ? dtype::bfloat16 : m.config.dtype_of_weights;
    t.activations = first(load.activations, is_sub_16_bit(t.weights) ? default_activation_dtype : t.weights);
    t.cache = first(load.cache, t.activations);
    return t;
}

/// The workload with these element types.
[[nodiscard]] constexpr workload with_storage_types(workload load, const storage_types& types) noexcept {
    load.weights = types.weights;
    load.activations = types.activations;
    load.cache = types.cache;
    return load;
}

/// Bytes of elements of a type, rounded up.
[[nodiscard]] constexpr count bytes_of(count elements, dtype type) {
    return (elements * count(bits_of(type)) + count(7)) / count(8);
}

/// The figures of trace totals.
[[nodiscard]] constexpr model_metrics model_metrics_of(const trace_totals& sums, const storage_types& types = {}) {
    model_metrics f;
    static_cast<primitives<count>&>(f) = primitives_of(sums);
    f.params = sums.parameters;
    f.active_params = sums.active_parameters;
    f.unrouted_flops = sums.unrouted_flops;
    f.cache_elements = sums.cache_elements;
    f.encoder_cache_elements = sums.encoder_cache_elements;
    f.module_output_elements = sums.module_output_elements;
    f.written_elements = sums.written_elements;
    f.torch_flops = torch_flops(sums);
    f.backward_torch_flops = sums.backward_torch_flops;
    f.saved_bytes = sums.saved_bytes;
    f.weight_bytes = bytes_of(f.params, types.weights);
    f.cache_bytes = bytes_of(f.cache_elements, types.cache);
    f.encoder_cache_bytes = bytes_of(f.encoder_cache_elements, types.activations);
    return f;
}

/// The figures of a complete model, including backward.
///
/// Gradients meet across modules, so parts of a model have no backward figures.
[[nodiscard]] constexpr model_metrics full_model_metrics_of(const trace_totals& sums, const storage_types& types = {}) {
    model_metrics f = model_metrics_of(sums, types);
    f.backward = backward(sums);
    return f;
}

namespace detail {

/// Whether the sizes of one part of a model can stem from a configuration file.
[[nodiscard]] constexpr bool has_valid_sizes(const model_config& c) {
    constexpr std::int64_t largest = max_input * 1024;  // sums and products of the sizes in a file
    for (const std::int64_t size : {c.vocab_size,
                                    c.hidden_size,
                                    c.intermediate_size,
                                    c.num_hidden_layers,
                                    c.num_attention_heads,
                                    c.num_key_value_heads,
                                    c.head_dim,
                                    c.rotary_dim,
                                    c.sliding_window,
                                    c.type_vocab_size,
                                    c.embedding_size,
                                    c.num_labels,
                                    c.mtp_layers,
                                    c.num_draft_tokens,
                                    c.moe.num_experts,
                                    c.moe.num_experts_per_tok,
                                    c.moe.intermediate_size,
                                    c.moe.shared_intermediate_size,
                                    c.encoder.num_hidden_layers,
                                    c.encoder.num_attention_heads,
                                    c.encoder.intermediate_size})
        if (static_cast<std::uint64_t>(size) > static_cast<std::uint64_t>(largest)) return false;  // or negative
    const bool lacks_heads = c.num_attention_heads == 0 && c.num_key_value_heads > 0;
    return !lacks_heads && (!c.layers.is_heterogeneous() || c.num_hidden_layers <= layer_plan::max_layers);
}

/// Throws `description_error` for sizes that a program has set and that no configuration file may have.
constexpr void validate_sizes(const model& m) {
    bool good = has_valid_sizes(m.config);
    for (const component_model& part : m.components.models)
        if (part.spec != nullptr) good = good && has_valid_sizes(part.config);
    if (!good)
        throw_description_error("a size of the model is out of range: negative, above 2^41, or no heads for keys");
}

}  // namespace detail

/// Counts one forward pass of a model, or of the part that a query selects.
///
/// A query for a parameter yields only `params` and `active_params`. Does not allocate memory.
///
/// Throws: `overflow_error` if a figure exceeds 128 bits, `scope_error` if the query matches nothing.
[[nodiscard]] constexpr model_metrics count_model(const model& m, const workload& load, scope_query query = {}) {
    detail::validate_sizes(m);
    const storage_types types = storage_types_of(m, load);
    for (;;) {
        trace t{with_storage_types(load, types), nullptr, query};
        m.trace_with_loss(t);
        if (t.only_tied()) throw_scope_error(query.text().data(), query.text().size(), true);
        if (t.has_match() || !query.is_text()) return full_model_metrics_of(t.totals(), types);
        if (!query.try_next_kind()) throw_scope_error(query.text().data(), query.text().size(), false);
    }
}

}  // namespace llmcost
