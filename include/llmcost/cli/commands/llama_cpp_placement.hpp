// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <llmcost/cli/commands/llama_cpp_latency.hpp>
#include <llmcost/memory/llama_cpp_memory.hpp>
#include <llmcost/serving/llama_cpp_step.hpp>

// The placement of a GGUF file on the devices and the CPU of a machine: what fits, and with which options of llama.cpp.
namespace llmcost::cli::detail {

/// The memory of a machine, in bytes.
struct machine_memory {
    std::uint64_t device = 0;  ///< of each device
    std::uint64_t host = 0;    ///< 0: the host stores no layers

    static constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();
};

/// The cache of a placement.
struct cache_request {
    std::int64_t context = 4096;     ///< tokens of each sequence
    std::int64_t num_sequences = 1;  ///< `-np`
};

/// A model with options of llama.cpp.
struct placed_model {
    llama_cpp_options options{};
    std::string override_tensor{};            ///< value of `--override-tensor`; empty: none
    std::vector<llama_cpp_tensor> tensors{};  ///< of the model, on the devices of `override_tensor`

    /// `--n-cpu-moe 12`; empty: all layers are on devices.
    [[nodiscard]] std::string label() const;
};

/// Finds placements that fit into a machine.
class placement_search {
public:
    /// `balances_devices`: `--tensor-split` is chosen by the memory of each device. The arguments must outlive the
    /// search.
    placement_search(const llama_cpp_model& m, const llama_cpp_machine& machine, const machine_memory& available,
                     bool balances_devices = false);

    /// The buffers of a placement.
    [[nodiscard]] llama_cpp_memory memory_of(const placed_model& placed, const cache_request& cache) const;

    /// Whether each device and the host have enough memory.
    [[nodiscard]] bool fits(const placed_model& placed, const cache_request& cache) const;

    /// The model with all layers on devices, or on the host of a machine without devices.
    [[nodiscard]] placed_model complete(const llama_cpp_options& options) const;

    /// Placements that fit, with as few tensors on the host as possible. All layers are on devices if they fit.
    ///
    /// Otherwise the host has experts of the first layers (`--n-cpu-moe`), MLPs of the first layers
    /// (`--override-tensor`) or complete layers (`--gpu-layers`). Empty if nothing fits.
    [[nodiscard]] std::vector<placed_model> placements(const llama_cpp_options& options,
                                                       const cache_request& cache) const;

    /// The largest context that fits, a multiple of 256 tokens up to the model's context; `cache.context` if it is not
    /// known.
    [[nodiscard]] std::int64_t max_context(const placed_model& placed, const cache_request& cache) const;

private:
    /// Whether each device has enough memory.
    [[nodiscard]] bool fits_devices(const llama_cpp_memory& needed) const;
    /// The placement if it fits into the devices, with the shares of `--tensor-split` that make it fit.
    [[nodiscard]] std::optional<placed_model> fitted(placed_model placed, const cache_request& cache) const;
    [[nodiscard]] bool has_devices() const noexcept { return machine_.processors.gpu != nullptr; }

    const llama_cpp_model& m_;
    const llama_cpp_machine& machine_;
    machine_memory available_;
    bool balances_devices_;
    std::vector<llama_cpp_tensor> mlps_on_host_{};  ///< of models without experts whose GGUF names are known
};

/// The `--override-tensor` rule that keeps the MLPs of the first layers on the host.
///
///     blk\.([0-9]|1[0-3])\.ffn_(up|down|gate)\.=CPU
[[nodiscard]] std::string mlp_override(std::int64_t num_layers);

}  // namespace llmcost::cli::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/llama_cpp_placement.ipp>  // IWYU pragma: export
#endif
