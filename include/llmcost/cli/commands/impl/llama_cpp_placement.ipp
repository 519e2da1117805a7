// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/llama_cpp_placement.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/commands/llama_cpp_latency.hpp>
#include <llmcost/cli/commands/llama_cpp_request.hpp>
#include <llmcost/memory/llama_cpp_memory.hpp>
#include <llmcost/memory/name_pattern.hpp>
#include <llmcost/serving/llama_cpp_step.hpp>
#include <llmcost/text/error.hpp>

namespace llmcost::cli::detail {

/// The GGUF names of the matrices of an MLP. Source: gguf-py/gguf/constants.py, `TENSOR_NAMES` (`FFN_GATE`, ...).
inline constexpr const char* mlp_tensor_names = "ffn_(up|down|gate)\\.";

/// The smallest number from 1 to `last` for which `placement_of` finds a placement, which is monotonic; nothing if
/// there is none.
template <class PlacementOf>
std::optional<placed_model> first_placement(std::int64_t last, PlacementOf placement_of) {
    std::optional<placed_model> found = placement_of(last);
    if (!found) return std::nullopt;
    std::int64_t failing = 0;
    while (last - failing > 1) {
        const std::int64_t middle = failing + (last - failing) / 2;
        if (std::optional<placed_model> smaller = placement_of(middle)) {
            last = middle;
            found = std::move(smaller);
        } else {
            failing = middle;
        }
    }
    return found;
}

LLMCOST_INLINE std::string placed_model::label() const {
    if (!override_tensor.empty()) return "-ot '" + override_tensor + '\'';
    if (options.cpu_expert_layers > 0) return "--n-cpu-moe " + std::to_string(options.cpu_expert_layers);
    return options.gpu_layers >= 0 ? "-ngl " + std::to_string(options.gpu_layers) : std::string();
}

LLMCOST_INLINE std::string mlp_override(std::int64_t num_layers) {
    // alternatives by the tens of a layer: 0 to 9, 10 to 99 without the last ten, 100 and more by tens, the last ten
    const std::int64_t last = num_layers - 1, last_ten = last / 10, full_tens = std::min<std::int64_t>(last_ten, 10);
    std::string layers = last_ten == 0 ? "" : "[0-9]";
    if (full_tens > 1) layers += "|[1-" + std::to_string(full_tens - 1) + "][0-9]";
    for (std::int64_t ten = 10; ten < last_ten; ++ten) layers += '|' + std::to_string(ten) + "[0-9]";
    if (last_ten > 0) layers += '|' + std::to_string(last_ten);
    layers += last % 10 == 0 ? "0" : "[0-" + std::to_string(last % 10) + ']';
    return "blk\\.(" + layers + ")\\." + mlp_tensor_names + "=CPU";
}

LLMCOST_INLINE placement_search::placement_search(const llama_cpp_model& m, const llama_cpp_machine& machine,
                                                  const machine_memory& available, bool balances_devices)
    : m_(m), machine_(machine), available_(available), balances_devices_(balances_devices) {
    if (!has_devices() || available.host == 0 || m.read.subject.config.moe.num_experts > 1) return;
    llama_cpp_model moved = m;
    try {
        override_tensors(moved, {{*name_pattern::parse(std::string(".*") + mlp_tensor_names), llama_cpp_weight::host}});
        mlps_on_host_ = std::move(moved.tensors);
    } catch (const error& e) {  // the GGUF names of its tensors are not known
        if (e.code() != errc::unsupported) throw;
    }
}

LLMCOST_INLINE llama_cpp_memory placement_search::memory_of(const placed_model& placed,
                                                            const cache_request& cache) const {
    std::vector<llama_cpp_weight> weights;
    for (const llama_cpp_tensor& t : placed.tensors) weights.push_back(t.weight);
    workload load;
    load.batch = cache.num_sequences;
    load.past = 0;
    load.sequence = cache.context;
    return llama_cpp_memory_of(m_.read.subject, load, placed.options, weights);
}

LLMCOST_INLINE bool placement_search::fits(const placed_model& placed, const cache_request& cache) const {
    const llama_cpp_memory needed = memory_of(placed, cache);
    const bool uses_host = needed.devices.size() == 1 || placed.options.gpu_layers >= 0 ||
                           placed.options.cpu_expert_layers > 0 || placed.options.has_overrides;
    return fits_devices(needed) && (!uses_host || needed.devices.back().total() <= count(available_.host));
}

LLMCOST_INLINE bool placement_search::fits_devices(const llama_cpp_memory& needed) const {
    return needed.devices.size() == 1 || largest_device_bytes(needed) <= count(available_.device);
}

LLMCOST_INLINE placed_model placement_search::complete(const llama_cpp_options& options) const {
    placed_model out{options, {}, m_.tensors};
    if (!has_devices()) out.options.gpu_layers = 0;
    return out;
}

LLMCOST_INLINE std::optional<placed_model> placement_search::fitted(placed_model placed,
                                                                    const cache_request& cache) const {
    if (fits_devices(memory_of(placed, cache))) return placed;
    std::vector<double>& shares = placed.options.tensor_split;
    const std::size_t num_devices = shares.size();
    const std::int64_t num_layers = m_.read.subject.config.num_hidden_layers + 1;
    const std::int64_t on_devices = placed.options.gpu_layers < 0 ? num_layers : placed.options.gpu_layers;
    if (!balances_devices_ || num_devices == 1 || on_devices < static_cast<std::int64_t>(num_devices))
        return std::nullopt;
    // layers move from the device with the most memory to the one with the least
    for (std::size_t i = 0; i < num_devices; ++i)
        shares[i] = static_cast<double>(
            on_devices / static_cast<std::int64_t>(num_devices) +
            (static_cast<std::int64_t>(i) < on_devices % static_cast<std::int64_t>(num_devices) ? 1 : 0));
    for (std::int64_t moved = 0; moved < on_devices; ++moved) {
        const llama_cpp_memory needed = memory_of(placed, cache);
        if (fits_devices(needed)) return placed;
        const auto end = needed.devices.end() - 1;
        const auto by_total = [](const llama_cpp_buffers& a, const llama_cpp_buffers& b) {
            return a.total() < b.total();
        };
        const auto fullest =
            static_cast<std::size_t>(std::max_element(needed.devices.begin(), end, by_total) - needed.devices.begin());
        const auto emptiest =
            static_cast<std::size_t>(std::min_element(needed.devices.begin(), end, by_total) - needed.devices.begin());
        if (shares[fullest] <= 1 || needed.devices[emptiest].total() > count(available_.device)) break;
        --shares[fullest];
        ++shares[emptiest];
    }
    return std::nullopt;
}

LLMCOST_INLINE std::vector<placed_model> placement_search::placements(const llama_cpp_options& options,
                                                                      const cache_request& cache) const {
    std::vector<placed_model> out;
    const placed_model on_devices = complete(options);
    const auto add = [&](std::optional<placed_model> placed) {
        if (placed && fits(*placed, cache)) out.push_back(*std::move(placed));
    };
    add(fitted(on_devices, cache));
    if (!out.empty() || !has_devices() || available_.host == 0) return out;
    const model& m = m_.read.subject;
    const std::int64_t num_layers = m.config.num_hidden_layers;
    if (m.config.moe.num_experts > 1) {
        const auto with_experts = [&](std::int64_t layers) {
            placed_model moved = on_devices;
            moved.options.cpu_expert_layers = layers;
            return fitted(std::move(moved), cache);
        };
        add(first_placement(num_layers, with_experts));
    } else {
        const auto with_mlps = [&](std::int64_t layers) {
            placed_model moved = on_devices;
            moved.options.has_overrides = true;
            moved.override_tensor = mlp_override(layers);
            moved.tensors = mlps_on_host_;
            for (llama_cpp_tensor& t : moved.tensors)
                if (llmcost::detail::layer_of_path(t.weight.parameter) >= layers)
                    t.weight.device = llama_cpp_weight::by_layer;
            return fitted(std::move(moved), cache);
        };
        if (!mlps_on_host_.empty()) add(first_placement(num_layers, with_mlps));
    }
    const auto with_layers = [&](std::int64_t layers) {
        placed_model moved = on_devices;
        moved.options.gpu_layers = num_layers + 1 - layers;
        return fitted(std::move(moved), cache);
    };
    add(first_placement(num_layers + 1, with_layers));
    return out;
}

LLMCOST_INLINE std::int64_t placement_search::max_context(const placed_model& placed,
                                                          const cache_request& cache) const {
    constexpr std::int64_t unit = 256;
    std::int64_t fitting = cache.context / unit, excess = m_.read.subject.config.context_length() / unit + 1;
    if (excess <= fitting + 1) return cache.context;
    while (excess - fitting > 1) {
        const std::int64_t middle = fitting + (excess - fitting) / 2;
        (fits(placed, {middle * unit, cache.num_sequences}) ? fitting : excess) = middle;
    }
    return std::max(cache.context, fitting * unit);
}

}  // namespace llmcost::cli::detail
