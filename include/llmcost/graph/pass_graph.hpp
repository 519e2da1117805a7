// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <llmcost/analysis/counts.hpp>

namespace llmcost {

/// The name of an element type; `unspecified` is that of token ids, which are int64.
[[nodiscard]] constexpr literal element_name(dtype type) noexcept {
    return type == dtype::unspecified ? literal("int64") : name_of(type);
}

/// The origin of a tensor in a graph.
enum class tensor_origin : std::uint8_t {
    operation,  ///< the output of an operation
    parameter,
    input,  ///< token ids, pixels, masks, module buffers, the cache of earlier passes
};

/// A tensor: a storage with the sizes of its creation.
struct graph_tensor {
    std::string name;  ///< full name of a parameter; empty for other tensors
    std::vector<std::int64_t> sizes{};
    dtype type = dtype::float32;
    std::uint64_t bytes = 0;
    tensor_origin source = tensor_origin::operation;
    std::int32_t producer = -1;             ///< the operation that wrote it last
    std::vector<std::int32_t> consumers{};  ///< operations that read it, in order
    bool is_cached = false;                 ///< in the cache after the pass
    bool is_saved = false;                  ///< saved for backward
};

/// A tensor as an operation reads it. A view has its own sizes.
struct graph_input {
    std::int32_t tensor = -1;
    std::int32_t producer = -1;  ///< the operation that wrote the value; -1: a parameter or an input of the model
    std::vector<std::int64_t> sizes{};
    dtype type = dtype::float32;
    std::uint64_t bytes = 0;  ///< bytes; broadcast elements count once
    bool is_view = false;     ///< has other sizes than at its creation
    bool requires_grad = false;
};

/// The phase of an operation: forward, backward, or sums of gradients in backward.
enum class graph_pass : std::uint8_t { forward, backward, gradient_sum };

/// One executed operation.
struct graph_operation {
    op kind{};
    std::int32_t module = -1;          ///< index in `operator_graph::modules`
    std::uint64_t num_time_steps = 1;  ///< number of time steps that it represents
    std::vector<graph_input> inputs{};
    std::int32_t output = -1;  ///< index in `operator_graph::tensors`
    std::vector<std::int64_t> sizes{};
    dtype type = dtype::float32;
    bool in_place = false;  ///< writes into an existing tensor
    bool has_backward = false;
    model_metrics metrics_of_op{};  ///< metrics over all repetitions; `backward` is the part of its own rule
    std::uint64_t bytes_read = 0, bytes_written = 0;
    std::vector<graph_input> saved{};  ///< inputs of its backward in addition to the arriving gradient
    graph_pass pass = graph_pass::forward;
    std::int32_t backward_of = -1;              ///< of a backward operation: the forward operation
    std::vector<std::int32_t> extra_outputs{};  ///< of a backward operation: gradients in addition to `output`
};

/// A backward without an operation.
///
/// Either a `torch.autograd.Function` that computes `output` without gradients and all input gradients at once, or a
/// write of `inputs` into slices of `output`, whose gradients are slices of that of `output`.
struct graph_function {
    std::int32_t position = 0;   ///< number of preceding operations
    bool writes_output = false;  ///< writes its inputs into its output
    std::int32_t module = -1;
    std::int32_t output = -1;
    std::vector<graph_input> inputs{}, saved{};
};

/// A module of the reference. Operations from `first` to `end` belong to it and its children.
struct graph_module {
    std::string path;  ///< empty for the model
    std::string type;  ///< class name
    role module_role = role::none;
    std::int32_t parent = -1;
    std::int64_t index = -1;  ///< index in its list
    int depth = 0;
    bool is_leaf = false;
    std::int32_t first = 0, end = 0;
    std::uint64_t parameters = 0;  ///< elements of its own parameters; tied ones count where they are declared first
    std::vector<std::int32_t> parameter_ids{};     ///< tensor indices of its own parameters
    std::vector<std::int32_t> reuse_operations{};  ///< operations of later calls
    std::vector<std::int32_t> calls{};             ///< first operations of later calls
};

/// A forward pass as a graph: modules in order of their first call, operations in order of execution.
///
/// Each tensor that an operation reads is a parameter, an input of the model, or the output of an earlier operation.
struct operator_graph {
    std::vector<graph_module> modules;
    std::vector<graph_operation> operations;
    std::vector<graph_tensor> tensors;
    std::int32_t output = -1;  ///< index of the model's output
    std::vector<graph_function> functions{};
    std::vector<std::int32_t> gradients{};  ///< of parameters, if the graph contains backward
    model_metrics total_metrics{};          ///< metrics of the complete model; `backward` includes sums of gradients
};

}  // namespace llmcost
