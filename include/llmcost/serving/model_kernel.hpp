// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/latency/operand_types.hpp>
#include <llmcost/latency/operator_types.hpp>
#include <llmcost/memory/parallel_config.hpp>
#include <llmcost/memory/sglang_options.hpp>
#include <llmcost/memory/vllm_kernels.hpp>
#include <llmcost/serving/all_to_all.hpp>

namespace llmcost {

struct stored_bytes;

/// How kernels are launched.
enum class launch_mode : std::uint8_t {
    cuda_graph,  ///< fused, in a captured graph with one launch
    stream,      ///< fused, one launch per kernel
    eager        ///< one kernel per operation, as a framework runs the reference implementation
};

/// A quantity of the weights of a model or its shard, by part: never quantized (embeddings, head), routed experts,
/// others.
struct weight_parts {
    double unquantized = 0, routed = 0, others = 0;

    [[nodiscard]] constexpr double all() const noexcept { return unquantized + routed + others; }
};

/// How an engine runs a model: element types, sharding, launch mode, and assumptions about the input.
struct execution {
    static constexpr std::int64_t default_devices_per_node = 8;  ///< if the datasheet has no other number

    const operand_type* linear_type = find_operand_type("bfloat16");    ///< of linear layers
    const operand_type* expert_type = find_operand_type("bfloat16");    ///< of routed experts
    const operand_type* kv_cache_type = find_operand_type("bfloat16");  ///< of the KV cache
    const operand_type* decode_attention_type =
        find_operand_type("bfloat16");  ///< in which decode attention multiplies
    const operand_type* prefill_attention_type =
        find_operand_type("bfloat16");                                 ///< in which prefill attention multiplies
    const operand_type* default_type = find_operand_type("bfloat16");  ///< of everything else in a quantized model
    const operand_type* convolution_type = nullptr;     ///< of convolutions; null: that of unquantized parts
    string_ref routing_distribution = "power_law_1.2";  ///< distribution of tokens over experts
    bool has_static_scales = false;                     ///< an fp8 checkpoint contains the activation scales
    bool is_decode_step = false;  ///< new tokens after cached ones are a decode step: one token, plus draft tokens
    mixed_decode_kind mixed_decode_mode =
        mixed_decode_kind::separate_kernel;  ///< how a prefill kernel of the step treats decodes
    std::int64_t vocabulary_multiple =
        1;  ///< outputs of the head of all tensor-parallel ranks are padded to a multiple
    parallel_config parallel{};
    const all_to_all_backend* expert_all_to_all = nullptr;     ///< null: `default_all_to_all_backend`
    std::int64_t devices_per_node = default_devices_per_node;  ///< devices connected by links; a network connects nodes
    launch_mode launch = launch_mode::cuda_graph;
    bool has_fused_attention = false;                 ///< eager: attention is one kernel nevertheless
    weight_parts stored_weight_bytes{};               ///< bytes of a checkpoint's weights; 0: by the types above
    const stored_bytes* stored_parameters = nullptr;  ///< bytes of each of its parameters; null: by the parts
    sglang_options sglang_vision{};                   ///< `vision_layers`, `vision_hidden_size`
    expert_weight_format stored_expert_format = expert_weight_format::unquantized;  ///< of the routed experts in it

    /// How tokens reach routed experts on other devices.
    [[nodiscard]] constexpr const all_to_all_backend& all_to_all() const noexcept {
        return expert_all_to_all != nullptr ? *expert_all_to_all
                                            : default_all_to_all_backend(parallel, devices_per_node);
    }
    /// Whether tokens of data-parallel ranks are sent to their experts, instead of gathered.
    [[nodiscard]] constexpr bool dispatches_tokens() const noexcept {
        return parallel.data_parallel_size > 1 && parallel.expert_parallel_size > 1 && !all_to_all().gathers();
    }
    /// The type of convolutions, which are never quantized.
    [[nodiscard]] constexpr const operand_type* convolution_operands() const noexcept {
        return convolution_type != nullptr ? convolution_type : unquantized_type();
    }
    /// The type of parts that are never quantized: head, routers, and operations between products.
    [[nodiscard]] constexpr const operand_type* unquantized_type() const noexcept {
        return linear_type->weight_bytes < linear_type->activation_bytes ? default_type : linear_type;
    }
};

/// A kernel of a model's forward pass on one device.
struct model_kernel {
    std::string module_path;  ///< `*` for the layer index; merged kernels joined with `+`
    operator_shape shape{};
    std::int64_t num_runs = 1;
    bool is_adapter = false;                               ///< a product of an adapter
    std::int64_t parameter_sizes[max_operator_sizes]{};    ///< parts of `sizes` that depend only on parameters: counted
                                                           ///< once for all groups
    std::ptrdiff_t shared_launch_index = separate_launch;  ///< index in the step of the kernel whose launch it shares

    static constexpr std::ptrdiff_t separate_launch = -1;

    /// Whether two kernels are equal, apart from their number of runs.
    friend bool operator==(const model_kernel& a, const model_kernel& b) noexcept {
        if (a.shape.type != b.shape.type || a.shape.operand != b.shape.operand) return false;
        for (std::size_t i = 0; i < a.shape.type->size_count; ++i)
            if (a.shape.sizes[i] != b.shape.sizes[i] || a.parameter_sizes[i] != b.parameter_sizes[i]) return false;
        return a.shape.variant == b.shape.variant && a.module_path == b.module_path;
    }
};

/// The kernels of a collective over `devices` devices with stride `stride` and `node` devices per node.
///
/// One collective within each node, and a tree between nodes, in which each device sends its part of the message.
/// The number of steps is the height of the tree, twice for an all-reduce.
/// Source: NVIDIA/nccl @01afd20a, src/graph/tuning.cc: 5 µs per step, 0.9 of the bandwidth.
[[nodiscard]] std::vector<model_kernel> make_collective_kernels(literal name, std::int64_t elements,
                                                                std::int64_t devices, std::int64_t stride,
                                                                const operand_type* operand, std::int64_t node);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/serving/impl/model_kernel.ipp>  // IWYU pragma: export
#endif
