// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/model/architecture.hpp>

namespace llmcost {

/// Every figure of one walk: primitives, and what is no arithmetic; exact.
struct figures : primitives<count> {
    count params{};          ///< elements of named parameters, a tied tensor once
    count active_params{};   ///< of experts, those one token meets
    count unrouted_flops{};  ///< of flops(): what experts execute for tokens that were not sent to them
    count cache{};           ///< floating elements that the cache holds after the run
    count encoder_cache{};   ///< elements that encoders made of images, videos and sound for the places of words
    count out{};             ///< floating elements that modules without children return (ACT)
    count written{};         ///< floating elements that operations write to new storage
    count torch_flops{};     ///< FlopCounterMode, forward
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
    friend constexpr bool operator==(const figures&, const figures&) = default;
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
[[nodiscard]] constexpr storage_types types_of(const model& m, const workload& load) noexcept {
    const auto first = [](dtype a, dtype b) { return a != dtype::unspecified ? a : b; };
    storage_types t;
    t.weights = first(load.weights, first(m.dims.type, dtype::float32));
    const auto is_narrow = [](dtype type) { return bits_of(type) < 16; };
    const dtype beside = is_narrow(m.dims.type) ? dtype::bfloat16 : m.dims.type;
    t.activations = first(load.activations, is_narrow(t.weights) ? beside : t.weights);
    t.cache = first(load.cache, t.activations);
    return t;
}

/// The workload with its element types filled in.
[[nodiscard]] constexpr workload resolved(workload load, const storage_types& types) noexcept {
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
[[nodiscard]] constexpr figures figures_of(const ledger& sums, const storage_types& types = {}) {
    figures f;
    static_cast<primitives<count>&>(f) = price(sums);
    f.params = sums.parameters;
    f.active_params = sums.active_parameters;
    f.unrouted_flops = sums.unrouted_flops;
    f.cache = sums.cache;
    f.encoder_cache = sums.encoder_cache;
    f.out = sums.out;
    f.written = sums.written;
    f.torch_flops = torch_flops(sums);
    f.backward_torch_flops = sums.backward_torch_flops;
    f.saved_bytes = sums.saved_bytes;
    f.weight_bytes = bytes_of(f.params, types.weights);
    f.cache_bytes = bytes_of(f.cache, types.cache);
    f.encoder_cache_bytes = bytes_of(f.encoder_cache, types.activations);
    return f;
}

/// The same of a whole model: gradients meet across modules, so that no part has figures of what backward executes.
[[nodiscard]] constexpr figures whole_figures_of(const ledger& sums, const storage_types& types = {}) {
    figures f = figures_of(sums, types);
    f.backward = backward(sums);
    return f;
}

/// Counts one forward pass of a model, or the part of it that a role or word names; of a parameter there are params and
/// active_params alone.
///
/// No allocation; throws `overflow_error` where a figure passes 128 bits, `scope_error` for a word that names nothing.
[[nodiscard]] constexpr figures count_model(const model& m, const workload& load, scope_query asked = {}) {
    const storage_types types = types_of(m, load);
    for (;;) {
        trace t{resolved(load, types), nullptr, asked};
        m.describe(t);
        if (t.only_tied()) report_scope(asked.word().data(), asked.word().size(), true);
        if (t.found() || !asked.by_word()) return whole_figures_of(t.sums(), types);
        if (!asked.understood_otherwise()) report_scope(asked.word().data(), asked.word().size(), false);
    }
}

}  // namespace llmcost
