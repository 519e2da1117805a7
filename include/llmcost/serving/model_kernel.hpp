// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <llmcost/latency/operator_types.hpp>
#include <llmcost/serving/parallel_config.hpp>

namespace llmcost {

/// How operations reach a device.
enum class launch_mode : std::uint8_t {
    cuda_graph,  ///< as an engine fuses them, in a graph that was captured before: the host issues it once
    stream,      ///< as an engine fuses them, one by one
    eager        ///< each operation by itself, one by one, as a framework executes the reference
};

/// Something of the weights of a model, or of a device's part of it: of embeddings and head, which nobody quantises, of
/// routed experts, of all else.
struct weight_parts {
    double unquantized = 0, routed = 0, others = 0;

    [[nodiscard]] constexpr double all() const noexcept { return unquantized + routed + others; }
};

/// What an engine holds tensors in, how it splits and issues a model, and what it cannot know of its input.
struct execution {
    static constexpr std::int64_t default_devices_per_node = 8;  ///< where a device's datasheet says no other number

    const operand_type* linear_type = find_operand_type("bfloat16");            ///< of linear layers
    const operand_type* expert_type = find_operand_type("bfloat16");            ///< of routed experts
    const operand_type* kv_cache_type = find_operand_type("bfloat16");          ///< of cached keys and values
    const operand_type* decode_attention_type = find_operand_type("bfloat16");  ///< in which fused attention multiplies
    const operand_type* prefill_attention_type = find_operand_type("bfloat16");  ///< and that of prompts
    const operand_type* default_type = find_operand_type("bfloat16");  ///< all else where products are quantised
    string_ref routing_distribution = "power_law_1.2";                 ///< how tokens are spread over experts
    bool has_static_scales = false;  ///< a checkpoint in fp8 brings the scales of activations along
    bool is_decode_step =
        false;  ///< new tokens behind others are a decoding step's: the newest, and proposed ones that it checks
    mixed_decode_kind mixed_decode_mode =
        mixed_decode_kind::separate_kernel;  ///< what a kernel of prompts in the step does with those
    parallel_config parallel{};
    std::int64_t devices_per_node =
        default_devices_per_node;  ///< devices that links join; between more stands a network
    launch_mode launch = launch_mode::cuda_graph;
    weight_parts stored_weight_bytes{};  ///< bytes of the whole model's weights where a checkpoint says them; else
                                         ///< those of the types above

    /// What nobody quantises: head, routers, and whatever stands between products.
    [[nodiscard]] constexpr const operand_type* unquantized_type() const noexcept {
        return linear_type->weight_bytes < linear_type->activation_bytes ? default_type : linear_type;
    }
};

/// A kernel of a model's forward pass on one device: where it stands, what it is, how often it runs.
struct model_kernel {
    std::string module_path;  ///< path of its module, `*` for the layer; of merged ones with `+`
    operator_shape shape{};
    std::int64_t num_runs = 1;
    bool is_adapter = false;                           ///< a product that an adapter puts beside a layer
    std::int64_t of_parameters[max_operator_sizes]{};  ///< what of its sizes parameters alone make: once for all groups
    std::ptrdiff_t shared_launch_index =
        separate_launch;  ///< the place in its step of the kernel in whose launch it goes

    static constexpr std::ptrdiff_t separate_launch = -1;

    /// Whether two are the same kernel, however often each runs.
    friend bool operator==(const model_kernel& a, const model_kernel& b) noexcept {
        if (a.shape.type != b.shape.type || a.shape.operand != b.shape.operand) return false;
        for (std::size_t i = 0; i < a.shape.type->size_count; ++i)
            if (a.shape.sizes[i] != b.shape.sizes[i] || a.of_parameters[i] != b.of_parameters[i]) return false;
        return a.shape.variant == b.shape.variant && a.module_path == b.module_path;
    }
};

/// A collective of so many devices, each of them the first of `apart` that stand side by side, `node` of which links
/// join: among the devices of a node, and between nodes in a tree, each device with its part of the message: as many
/// steps as the tree is high, in an all-reduce as many again down (NVIDIA/nccl @01afd20a, src/graph/tuning.cc: of 5 µs
/// each, at 0.9 of the bandwidth).
[[nodiscard]] inline std::vector<model_kernel> make_collective_kernels(literal name, std::int64_t elements,
                                                                       std::int64_t devices, std::int64_t stride,
                                                                       const operand_type* operand, std::int64_t node) {
    const std::int64_t in_node = node > stride ? node / stride : 1, nodes = (devices + in_node - 1) / in_node,
                       side_by_side = (devices + nodes - 1) / nodes;
    std::vector<model_kernel> all;
    if (side_by_side > 1) {
        model_kernel& k = all.emplace_back();
        k.shape = {.type = find_operator_type("nccl"), .sizes = {elements, side_by_side}, .operand = operand};
        k.shape.variant = name;
    }
    if (nodes == 1) return all;
    std::int64_t steps = 1;
    while (std::int64_t{1} << steps < nodes) ++steps;
    model_kernel& k = all.emplace_back();
    k.shape = {.type = find_operator_type("network"), .sizes = {elements, nodes, side_by_side}, .operand = operand};
    k.num_runs = string_ref(name) == "all_reduce" ? 2 * steps : steps;
    return all;
}

}  // namespace llmcost
