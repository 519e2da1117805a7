// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cuda/attention.cuh>

#if defined(LLMCOST_WITH_CUDNN) && __has_include(<cudnn.h>)
#include <cudnn.h>
#endif

#if defined(CUDNN_VERSION) && CUDNN_VERSION >= 90700

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <llmcost/cuda/handles.cuh>

// Attention in one kernel, by a graph of cuDNN's backend.
namespace llmcost::cuda {

using cudnn_handle = owned<cudnnHandle_t, cudnnDestroy>;
using cudnn_descriptor = owned<cudnnBackendDescriptor_t, cudnnBackendDestroyDescriptor>;

/// A step that cuDNN refuses leaves the shape out: which shapes it takes is its own affair.
inline void check(cudnnStatus_t code, const char* call) {
    if (code == CUDNN_STATUS_SUCCESS) return;
    char message[256]{};
    cudnnGetLastErrorString(message, sizeof message);
    throw not_supported(std::string(call) + ": " + cudnnGetErrorString(code) + ' ' + message);
}

/// cuDNN's handle; without one where the library that is there does not fit the device.
[[nodiscard]] inline cudnn_handle make_cudnn() {
    cudnn_handle h;
    if (cudnnCreate(h.address()) != CUDNN_STATUS_SUCCESS) return {};
    return h;
}

/// Attention as cuDNN plans it: scores = scale · q · kᵀ, masked; softmax; times v; fused into one kernel.
///
/// Planned for a handle's device, or without a device for the properties of one.
class attention_plan {
public:
    explicit attention_plan(const attention_shape& is, cudnnHandle_t handle,
                            cudnnBackendDescriptor_t properties = nullptr)
        : handle_(handle), type_(is.type == CUDA_R_16F ? CUDNN_DATA_HALF : CUDNN_DATA_BFLOAT16) {
        scale_ = 1 / std::sqrt(static_cast<float>(is.width));
        keys_before_ = static_cast<std::int32_t>(is.length);
        queries_ = static_cast<std::int32_t>(is.fresh);
        window_ = static_cast<float>(is.window - is.length + is.fresh);
        build_graph(is);
        choose(properties);
    }
    attention_plan(const attention_plan&) = delete;  // its graph points into it
    attention_plan& operator=(const attention_plan&) = delete;
    [[nodiscard]] std::size_t workspace_bytes() const { return static_cast<std::size_t>(workspace_bytes_); }
    void launch(void* q, void* k, void* v, void* out, void* workspace, cudaStream_t cuda_stream) {
        std::vector<std::int64_t> numbers{q_number, k_number, v_number, out_number};
        std::vector<void*> data{q, k, v, out};
        for (const auto& [number, value] : by_value_) {
            numbers.push_back(number);
            data.push_back(value);
        }
        const cudnn_descriptor pack = make(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
        const auto n = static_cast<std::int64_t>(numbers.size());
        set(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, n, numbers.data());
        set(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, n, data.data());
        set(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace);
        check(cudnnBackendFinalize(pack.get()), "variant pack");
        check(cudnnSetStream(handle_, cuda_stream), "cudnnSetStream");
        check(cudnnBackendExecute(handle_, plan_.get(), pack.get()), "cudnnBackendExecute");
    }

private:
    static constexpr std::int64_t q_number = 1, k_number = 2, v_number = 3, out_number = 4;
    struct extents {
        std::int64_t size[4], stride[4];
    };

    static cudnn_descriptor make(cudnnBackendDescriptorType_t kind) {
        cudnn_descriptor d;
        check(cudnnBackendCreateDescriptor(kind, d.address()), "cudnnBackendCreateDescriptor");
        return d;
    }
    static void set(const cudnn_descriptor& d, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                    std::int64_t n, const void* values) {
        check(cudnnBackendSetAttribute(d.get(), name, type, n, values), "cudnnBackendSetAttribute");
    }
    static void set(const cudnn_descriptor& d, cudnnBackendAttributeName_t name, cudnnBackendDescriptor_t descriptor) {
        set(d, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &descriptor);
    }
    cudnnBackendDescriptor_t keep(cudnn_descriptor d, const char* label) {
        check(cudnnBackendFinalize(d.get()), label);
        descriptors_.push_back(std::move(d));
        return descriptors_.back().get();
    }

    enum class kind { in_memory, between_kernels, by_value };
    cudnnBackendDescriptor_t tensor(const extents& e, cudnnDataType_t type, kind tensor_kind, std::int64_t number) {
        cudnn_descriptor d = make(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
        const std::int64_t alignment = 16;
        const bool is_virtual = tensor_kind == kind::between_kernels, is_value = tensor_kind == kind::by_value;
        set(d, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type);
        set(d, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, e.size);
        set(d, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, e.stride);
        set(d, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &number);
        set(d, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &alignment);
        set(d, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &is_virtual);
        set(d, CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, 1, &is_value);
        return keep(std::move(d), "tensor");
    }
    cudnnBackendDescriptor_t make_virtual_tensor(const extents& e, cudnnDataType_t type = CUDNN_DATA_FLOAT) {
        return tensor(e, type, kind::between_kernels, next_number_++);
    }
    cudnnBackendDescriptor_t value(cudnnDataType_t type, void* data) {
        by_value_.emplace_back(next_number_, data);
        return tensor({{1, 1, 1, 1}, {1, 1, 1, 1}}, type, kind::by_value, next_number_++);
    }

    /// y = mode(x), mode(x, b), or x where t holds, else b.
    void pointwise(cudnnPointwiseMode_t mode, cudnnDataType_t computed, cudnnBackendDescriptor_t x,
                   cudnnBackendDescriptor_t b, cudnnBackendDescriptor_t y, cudnnBackendDescriptor_t t = nullptr,
                   std::int64_t axis = -1) {
        cudnn_descriptor descriptor = make(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
        set(descriptor, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &mode);
        set(descriptor, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1, &computed);
        if (axis >= 0) set(descriptor, CUDNN_ATTR_POINTWISE_AXIS, CUDNN_TYPE_INT64, 1, &axis);
        cudnn_descriptor d = make(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
        set(d, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, keep(std::move(descriptor), "pointwise"));
        set(d, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x);
        if (b != nullptr) set(d, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, b);
        if (t != nullptr) set(d, CUDNN_ATTR_OPERATION_POINTWISE_TDESC, t);
        set(d, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y);
        operations_.push_back(keep(std::move(d), "pointwise operation"));
    }
    void reduce(cudnnReduceTensorOp_t reduction, cudnnBackendDescriptor_t x, cudnnBackendDescriptor_t y) {
        const cudnnDataType_t computed = CUDNN_DATA_FLOAT;
        cudnn_descriptor descriptor = make(CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
        set(descriptor, CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &computed);
        set(descriptor, CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, 1, &reduction);
        cudnn_descriptor d = make(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
        set(d, CUDNN_ATTR_OPERATION_REDUCTION_DESC, keep(std::move(descriptor), "reduction"));
        set(d, CUDNN_ATTR_OPERATION_REDUCTION_XDESC, x);
        set(d, CUDNN_ATTR_OPERATION_REDUCTION_YDESC, y);
        operations_.push_back(keep(std::move(d), "reduction operation"));
    }
    void product(cudnnBackendDescriptor_t a, cudnnBackendDescriptor_t b, cudnnBackendDescriptor_t c) {
        const cudnnDataType_t computed = CUDNN_DATA_FLOAT;
        cudnn_descriptor descriptor = make(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
        set(descriptor, CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &computed);
        cudnn_descriptor d = make(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
        set(d, CUDNN_ATTR_OPERATION_MATMUL_ADESC, a);
        set(d, CUDNN_ATTR_OPERATION_MATMUL_BDESC, b);
        set(d, CUDNN_ATTR_OPERATION_MATMUL_CDESC, c);
        set(d, CUDNN_ATTR_OPERATION_MATMUL_DESC, keep(std::move(descriptor), "matmul"));
        operations_.push_back(keep(std::move(d), "matmul operation"));
    }

    /// Sets masked scores to minus infinity: a query attends to keys up to its own position, within its window.
    cudnnBackendDescriptor_t masked(cudnnBackendDescriptor_t scores, const extents& e, const attention_shape& is) {
        const auto places = [&](std::int64_t axis) {
            const cudnnBackendDescriptor_t index = make_virtual_tensor(e, CUDNN_DATA_INT32);
            pointwise(CUDNN_POINTWISE_GEN_INDEX, CUDNN_DATA_FLOAT, scores, nullptr, index, nullptr, axis);
            return index;
        };
        const auto selected = [&](cudnnPointwiseMode_t mode, cudnnBackendDescriptor_t a, cudnnBackendDescriptor_t b) {
            const cudnnBackendDescriptor_t mask = make_virtual_tensor(e, CUDNN_DATA_BOOLEAN),
                                           masked_scores = make_virtual_tensor(e);
            pointwise(mode, CUDNN_DATA_BOOLEAN, a, b, mask);
            pointwise(CUDNN_POINTWISE_BINARY_SELECT, CUDNN_DATA_FLOAT, scores, value(CUDNN_DATA_FLOAT, &lowest_),
                      masked_scores, mask);
            return masked_scores;
        };
        cudnnBackendDescriptor_t row = places(2);
        const cudnnBackendDescriptor_t column = places(3);
        if (is.length != is.fresh) {
            const cudnnBackendDescriptor_t shifted_row = make_virtual_tensor(e, CUDNN_DATA_INT32),
                                           query_position = make_virtual_tensor(e, CUDNN_DATA_INT32);
            pointwise(CUDNN_POINTWISE_ADD, CUDNN_DATA_INT32, row, value(CUDNN_DATA_INT32, &keys_before_), shifted_row);
            pointwise(CUDNN_POINTWISE_SUB, CUDNN_DATA_INT32, shifted_row, value(CUDNN_DATA_INT32, &queries_),
                      query_position);
            row = query_position;
        }
        scores = selected(CUDNN_POINTWISE_CMP_GE, row, column);
        if (is.window == 0 || is.window >= is.length) return scores;
        const cudnnBackendDescriptor_t query = places(2), key = places(3), reach = make_virtual_tensor(e);
        pointwise(CUDNN_POINTWISE_ADD, CUDNN_DATA_FLOAT, key, value(CUDNN_DATA_FLOAT, &window_), reach);
        return selected(CUDNN_POINTWISE_CMP_GT, reach, query);
    }

    void build_graph(const attention_shape& is) {
        const auto tokens = [&](std::int64_t n, std::int64_t heads) {
            return extents{{is.batch, heads, n, is.width}, {n * heads * is.width, is.width, heads * is.width, 1}};
        };
        extents keys = tokens(is.length, is.kv_heads);
        std::swap(keys.size[2], keys.size[3]);
        std::swap(keys.stride[2], keys.stride[3]);
        const extents all{{is.batch, is.heads, is.fresh, is.length},
                          {is.heads * is.fresh * is.length, is.fresh * is.length, is.length, 1}};
        const extents row_extents{{is.batch, is.heads, is.fresh, 1}, {is.heads * is.fresh, is.fresh, 1, 1}};
        const auto q = tensor(tokens(is.fresh, is.heads), type_, kind::in_memory, q_number);
        const auto k = tensor(keys, type_, kind::in_memory, k_number);
        const auto v = tensor(tokens(is.length, is.kv_heads), type_, kind::in_memory, v_number);
        const auto out = tensor(tokens(is.fresh, is.heads), type_, kind::in_memory, out_number);
        const auto raw = make_virtual_tensor(all), below = make_virtual_tensor(all), powers = make_virtual_tensor(all),
                   shares = make_virtual_tensor(all, type_);
        const auto maximum = make_virtual_tensor(row_extents), sum = make_virtual_tensor(row_extents);
        cudnnBackendDescriptor_t scores = make_virtual_tensor(all);
        product(q, k, raw);
        pointwise(CUDNN_POINTWISE_MUL, CUDNN_DATA_FLOAT, raw, value(CUDNN_DATA_FLOAT, &scale_), scores);
        if (is.causal && is.fresh > 1) scores = masked(scores, all, is);
        reduce(CUDNN_REDUCE_TENSOR_MAX, scores, maximum);
        pointwise(CUDNN_POINTWISE_SUB, CUDNN_DATA_FLOAT, scores, maximum, below);
        pointwise(CUDNN_POINTWISE_EXP, CUDNN_DATA_FLOAT, below, nullptr, powers);
        reduce(CUDNN_REDUCE_TENSOR_ADD, powers, sum);
        const auto log_sum = make_virtual_tensor(row_extents),
                   statistics = make_virtual_tensor(row_extents);  // unread, but cuDNN's pattern has them
        pointwise(CUDNN_POINTWISE_LOG, CUDNN_DATA_FLOAT, sum, nullptr, log_sum);
        pointwise(CUDNN_POINTWISE_ADD, CUDNN_DATA_FLOAT, maximum, log_sum, statistics);
        pointwise(CUDNN_POINTWISE_DIV, CUDNN_DATA_FLOAT, powers, sum, shares);
        product(shares, v, out);
    }
    /// The first of the engines that cuDNN's heuristics name, in their order, which takes the graph.
    void choose(cudnnBackendDescriptor_t properties) {
        cudnn_descriptor graph_descriptor = make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
        set(graph_descriptor, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
            static_cast<std::int64_t>(operations_.size()), operations_.data());
        if (handle_ != nullptr) set(graph_descriptor, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle_);
        const cudnnBackendDescriptor_t graph = keep(std::move(graph_descriptor), "operation graph");
        const cudnn_descriptor heuristic = make(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
        const cudnnBackendHeurMode_t mode = CUDNN_HEUR_MODE_A;
        set(heuristic, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
        set(heuristic, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
        if (properties != nullptr) set(heuristic, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, properties);
        check(cudnnBackendFinalize(heuristic.get()), "heuristic");
        std::int64_t n = 0;
        check(cudnnBackendGetAttribute(heuristic.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0,
                                       &n, nullptr),
              "engines");
        std::vector<cudnn_descriptor> engines;
        std::vector<cudnnBackendDescriptor_t> found;
        for (std::int64_t i = 0; i < n; ++i) {
            engines.push_back(make(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR));
            found.push_back(engines.back().get());
        }
        check(cudnnBackendGetAttribute(heuristic.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, n,
                                       &n, found.data()),
              "engines");
        for (std::int64_t i = 0; i < n; ++i) {
            cudnn_descriptor plan = make(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
            set(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, found[static_cast<std::size_t>(i)]);
            if (handle_ != nullptr) set(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle_);
            if (properties != nullptr) set(plan, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, properties);
            refused_ = cudnnBackendFinalize(plan.get());
            if (refused_ != CUDNN_STATUS_SUCCESS) continue;
            std::int64_t got = 0;
            check(cudnnBackendGetAttribute(plan.get(), CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1,
                                           &got, &workspace_bytes_),
                  "workspace");
            engine_ = std::move(engines[static_cast<std::size_t>(i)]);
            plan_ = std::move(plan);
            return;
        }
        throw not_supported(std::string("cuDNN has no kernel for this attention: ") + cudnnGetErrorString(refused_));
    }

    cudnnHandle_t handle_;
    cudnnDataType_t type_;
    cudnnStatus_t refused_ = CUDNN_STATUS_NOT_SUPPORTED;  ///< the status of the last engine, where there was one
    float scale_ = 1, window_ = 0, lowest_ = -std::numeric_limits<float>::infinity();
    std::int32_t keys_before_ = 0, queries_ = 0;
    std::vector<std::pair<std::int64_t, void*>> by_value_;
    std::int64_t next_number_ = 5, workspace_bytes_ = 0;
    std::vector<cudnn_descriptor> descriptors_;
    std::vector<cudnnBackendDescriptor_t> operations_;
    cudnn_descriptor engine_, plan_;
};

/// Attention by cuDNN's fused kernel; tokens of a sequence are consecutive, their heads adjacent.
class fused_attention final : public device_operator {
public:
    fused_attention(const workplace& resources, const operator_shape& shape)
        : shape_(shape), plan_(shape_, resources.cudnn) {
        sets_ = resources.sets(2 * (2 * shape_.queries() + 2 * shape_.keys()), plan_.workspace_bytes());
        buffers_.fill(shape_, sets_, [&](std::size_t bytes) { return hold(bytes); });
        workspace_ = hold(plan_.workspace_bytes());
    }
    void launch(int copy, cudaStream_t cuda_stream) override {
        const auto i = static_cast<std::size_t>(copy % sets_);
        plan_.launch(buffers_.q[i].get(), buffers_.k[i].get(), buffers_.v[i].get(), buffers_.out[i].get(),
                     workspace_.get(), cuda_stream);
    }
    [[nodiscard]] std::string kernel() const override { return "cudnn"; }

private:
    attention_shape shape_;
    attention_plan plan_;
    int sets_ = 1;
    attention_buffers buffers_;
    memory workspace_;
};

}  // namespace llmcost::cuda
#endif
