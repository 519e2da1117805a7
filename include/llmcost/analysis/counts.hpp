// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/model/model_spec.hpp>

namespace llmcost {

/// Every figure of one walk: primitives, and what is no arithmetic; exact.
struct model_metrics : primitives<count> {
    count params{};          ///< elements of named parameters, a tied tensor once
    count active_params{};   ///< of experts, those one token meets
    count unrouted_flops{};  ///< of flops(): what experts execute for tokens that were not sent to them
    count cache_elements{};  ///< floating elements that the cache holds after the run
    count
        encoder_cache_elements{};  ///< elements that encoders made of images, videos and sound for the places of words
    count module_output_elements{};  ///< floating elements that modules without children return (ACT)
    count written_elements{};        ///< floating elements that operations write to new storage
    count torch_flops{};             ///< FlopCounterMode, forward
    count backward_torch_flops{};
    primitives<count> backward{};  ///< what backward executes; of a whole model only, and of a training step
    count saved_bytes{};           ///< what autograd keeps until backward
    count weight_bytes{};          ///< params in the element type of the weights
    count cache_bytes{};           ///< cache in its element type
    count encoder_cache_bytes{};   ///< encoder_cache in the element type of activations

    /// FLOPS = ADD + MULT.
    [[nodiscard]] constexpr count flops() const { return add + mult; }
    /// FLOPS that a token needs: those of the experts that it was sent to, and of all else.
    [[nodiscard]] constexpr count active_flops() const { return flops() - unrouted_flops; }
    /// MACS = TORCH_FLOPS / 2.
    [[nodiscard]] constexpr count macs() const { return torch_flops / count(2); }
    friend constexpr bool operator==(const model_metrics&, const model_metrics&) = default;
};

/// Element types that figures in bytes rest on.
struct storage_types {
    dtype weights = dtype::float32;
    dtype activations = dtype::float32;
    dtype cache = dtype::float32;
};

/// The workload's element types; what it leaves open is the configuration's, activations and cache follow the weights.
///
/// Weights of fewer than 16 bits are no type of activations, which keep the configuration's then, or else are bfloat16.
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

/// The workload with its element types filled in.
[[nodiscard]] constexpr workload with_storage_types(workload load, const storage_types& types) noexcept {
    load.weights = types.weights;
    load.activations = types.activations;
    load.cache = types.cache;
    return load;
}

/// Bytes of so many elements; a fraction of a byte counts as one.
[[nodiscard]] constexpr count bytes_of(count elements, dtype type) {
    return (elements * count(bits_of(type)) + count(7)) / count(8);
}

/// The figures of a ledger: its amounts priced.
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

/// The same of a whole model: gradients meet across modules, so that no part has figures of what backward executes.
[[nodiscard]] constexpr model_metrics full_model_metrics_of(const trace_totals& sums, const storage_types& types = {}) {
    model_metrics f = model_metrics_of(sums, types);
    f.backward = backward(sums);
    return f;
}

/// Counts one forward pass of a model, or the part of it that a role or word names; of a parameter there are params and
/// active_params alone.
///
/// No allocation; throws `overflow_error` where a figure passes 128 bits, `scope_error` for a word that names nothing.
[[nodiscard]] constexpr model_metrics count_model(const model& m, const workload& load, scope_query query = {}) {
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
