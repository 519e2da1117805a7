// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <llmcost/analysis/counts.hpp>

namespace llmcost {

/// The name of a tensor's element type; `unspecified` is that of ids, which have 64 bits.
[[nodiscard]] constexpr literal element_name(dtype type) noexcept {
    return type == dtype::unspecified ? literal("int64") : name_of(type);
}

/// Where a tensor of a graph comes from.
enum class tensor_origin : std::uint8_t {
    operation,  ///< an operation of the pass made it
    parameter,
    input,  ///< ids, pixels, masks, buffers of modules, what earlier passes left in the cache
};

/// A tensor: a storage with the sizes in which it was made.
struct graph_tensor {
    std::string name;  ///< of a parameter its full name; else empty
    std::vector<std::int64_t> sizes{};
    dtype type = dtype::float32;
    std::uint64_t bytes = 0;
    tensor_origin source = tensor_origin::operation;
    std::int32_t producer = -1;             ///< the operation that made it, or wrote into it last
    std::vector<std::int32_t> consumers{};  ///< operations that read it, in order
    bool is_cached = false;                 ///< the cache holds it after the run
    bool is_saved = false;                  ///< autograd keeps it until backward
};

/// A tensor as an operation reads it: a view has sizes of its own.
struct graph_input {
    std::int32_t tensor = -1;
    std::int32_t producer = -1;  ///< the operation whose result is read; -1: a parameter, or handed in
    std::vector<std::int64_t> sizes{};
    dtype type = dtype::float32;
    std::uint64_t bytes = 0;  ///< what an expansion repeats once
    bool is_view = false;     ///< in other sizes than it was made in
    bool requires_grad = false;
};

/// What an operation belongs to: the forward pass, backward, or the sums of gradients that meet there.
enum class graph_pass : std::uint8_t { forward, backward, gradient_sum };

/// One executed operation.
struct graph_operation {
    op kind{};
    std::int32_t module = -1;          ///< of `modules`
    std::uint64_t num_time_steps = 1;  ///< steps through time that it stands for
    std::vector<graph_input> inputs{};
    std::int32_t output = -1;  ///< of `tensors`
    std::vector<std::int64_t> sizes{};
    dtype type = dtype::float32;
    bool in_place = false;  ///< it writes into a tensor that was there
    bool has_backward = false;
    model_metrics metrics_of_op{};  ///< what it executes and keeps, of all its times; of backward what is its own
    std::uint64_t bytes_read = 0, bytes_written = 0;
    std::vector<graph_input> saved{};  ///< what its backward reads beside the gradient that arrives
    graph_pass pass = graph_pass::forward;
    std::int32_t backward_of = -1;              ///< of backward: the operation of the forward pass
    std::vector<std::int32_t> extra_outputs{};  ///< of backward: gradients that it makes beside `output`
};

/// What goes back beside operations: a `torch.autograd.Function`, whose output was made without gradients and whose
/// inputs get theirs at once; a tensor, parts of whose gradient are those of what was written into it.
struct graph_function {
    std::int32_t position = 0;   ///< so many operations
    bool writes_output = false;  ///< its inputs into its output
    std::int32_t module = -1;
    std::int32_t output = -1;
    std::vector<graph_input> inputs{}, saved{};
};

/// A module of the reference; `operations` from `first` to `end` are its own and its children's.
struct graph_module {
    std::string path;  ///< empty for the whole model
    std::string type;  ///< class name
    role module_role = role::none;
    std::int32_t parent = -1;
    std::int64_t index = -1;  ///< its place in a list
    int depth = 0;
    bool is_leaf = false;
    std::int32_t first = 0, end = 0;
    std::uint64_t parameters = 0;                  ///< elements of its own, tied ones where they are named first
    std::vector<std::int32_t> parameter_ids{};     ///< those tensors
    std::vector<std::int32_t> reuse_operations{};  ///< operations of later calls
    std::vector<std::int32_t> calls{};             ///< where later calls begin
};

/// A forward pass as a graph: modules in the order of their first call, operations in the order of their execution.
///
/// Every tensor that an operation reads is a parameter, was handed in, or has its producer before it.
struct operator_graph {
    std::vector<graph_module> modules;
    std::vector<graph_operation> operations;
    std::vector<graph_tensor> tensors;
    std::int32_t output = -1;  ///< the tensor that the model gives out
    std::vector<graph_function> functions{};
    std::vector<std::int32_t> gradients{};  ///< of parameters, where backward stands behind the pass
    model_metrics
        total_metrics{};  ///< of the whole model; of backward also what is added where gradients of a tensor meet
};

}  // namespace llmcost
