// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// cuDNN's backend of a virtual GPU: attributes are set before descriptors are finalised and read after, operands lie in
// memory. What it plans is never computed; whether the real one plans it, attention_plans.cu tells.
#include <cudnn.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "board.hpp"
#include "memory.hpp"
#include "streams.hpp"

struct cudnnContext {
    cudaStream_t stream = nullptr;
};

using namespace virtual_gpu;

namespace {

struct attribute {
    cudnnBackendAttributeType_t type = CUDNN_TYPE_INT64;
    std::int64_t count = 0;
    std::vector<unsigned char> bytes;
};
struct descriptor {
    cudnnBackendDescriptorType_t kind;
    std::map<cudnnBackendAttributeName_t, attribute> attributes{};
    bool finalised = false;
    int engine = 0;  ///< of a configuration that a heuristic found
};

constexpr std::int64_t workspace_bytes = std::int64_t{1} << 20, engines = 2;
constexpr const char* name = "a descriptor of cuDNN";

std::size_t width_of(cudnnBackendAttributeType_t type) {
    switch (type) {
        case CUDNN_TYPE_INT64: return sizeof(std::int64_t);
        case CUDNN_TYPE_BOOLEAN: return sizeof(bool);
        case CUDNN_TYPE_VOID_PTR:
        case CUDNN_TYPE_HANDLE:
        case CUDNN_TYPE_BACKEND_DESCRIPTOR: return sizeof(void*);
        default: return sizeof(std::int32_t);  // an enumeration
    }
}
cudnnStatus_t refused(cudnnStatus_t code, const std::string& reason) {
    set_error_message("cuDNN: " + reason);
    return code;
}
cudnnStatus_t bad(const std::string& reason) { return refused(CUDNN_STATUS_BAD_PARAM, reason); }

descriptor& get_descriptor(cudnnBackendDescriptor_t handle) { return *static_cast<descriptor*>(handle); }

template <class T>
std::vector<T> values(const descriptor& d, cudnnBackendAttributeName_t attribute_name) {
    const auto entry = d.attributes.find(attribute_name);
    if (entry == d.attributes.end()) return {};
    std::vector<T> all;
    for (std::size_t i = 0; i < static_cast<std::size_t>(entry->second.count); ++i) {
        T one;
        std::memcpy(&one, &entry->second.bytes[i * sizeof(T)], sizeof one);
        all.push_back(one);
    }
    return all;
}
template <class T>
T value(const descriptor& d, cudnnBackendAttributeName_t attribute_name, T default_value) {
    const std::vector<T> all = values<T>(d, attribute_name);
    return all.empty() ? default_value : all[0];
}

/// What has to be set before a descriptor of a kind is finalised.
std::vector<cudnnBackendAttributeName_t> needed(cudnnBackendDescriptorType_t kind) {
    switch (kind) {
        case CUDNN_BACKEND_TENSOR_DESCRIPTOR:
            return {CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_ATTR_TENSOR_STRIDES,
                    CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT};
        case CUDNN_BACKEND_POINTWISE_DESCRIPTOR: return {CUDNN_ATTR_POINTWISE_MODE, CUDNN_ATTR_POINTWISE_MATH_PREC};
        case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR:
            return {CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, CUDNN_ATTR_OPERATION_POINTWISE_XDESC,
                    CUDNN_ATTR_OPERATION_POINTWISE_YDESC};
        case CUDNN_BACKEND_REDUCTION_DESCRIPTOR: return {CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_ATTR_REDUCTION_OPERATOR};
        case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR:
            return {CUDNN_ATTR_OPERATION_REDUCTION_DESC, CUDNN_ATTR_OPERATION_REDUCTION_XDESC,
                    CUDNN_ATTR_OPERATION_REDUCTION_YDESC};
        case CUDNN_BACKEND_MATMUL_DESCRIPTOR: return {CUDNN_ATTR_MATMUL_COMP_TYPE};
        case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR:
            return {CUDNN_ATTR_OPERATION_MATMUL_DESC, CUDNN_ATTR_OPERATION_MATMUL_ADESC,
                    CUDNN_ATTR_OPERATION_MATMUL_BDESC, CUDNN_ATTR_OPERATION_MATMUL_CDESC};
        case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
            return {CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_ATTR_OPERATIONGRAPH_HANDLE};
        case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR:
            return {CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, CUDNN_ATTR_ENGINEHEUR_MODE};
        case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR:
            return {CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, CUDNN_ATTR_EXECUTION_PLAN_HANDLE};
        case CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR:
            return {CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS,
                    CUDNN_ATTR_VARIANT_PACK_WORKSPACE};
        default: return {};
    }
}

/// A tensor's bytes, from its first element to its last.
std::size_t bytes_of(const descriptor& tensor) {
    const auto sizes = values<std::int64_t>(tensor, CUDNN_ATTR_TENSOR_DIMENSIONS),
               strides = values<std::int64_t>(tensor, CUDNN_ATTR_TENSOR_STRIDES);
    std::int64_t last = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) last += (sizes[i] - 1) * strides[i];
    const auto type = value<cudnnDataType_t>(tensor, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_DATA_FLOAT);
    const bool is_half_precision = type == CUDNN_DATA_HALF || type == CUDNN_DATA_BFLOAT16;
    return static_cast<std::size_t>(last + 1) * (is_half_precision ? 2 : 4);
}

/// Tensors of a graph's operations that are neither virtual nor twice, by their numbers.
std::map<std::int64_t, const descriptor*> tensors_of(const descriptor& graph) {
    std::map<std::int64_t, const descriptor*> all;
    for (cudnnBackendDescriptor_t operation : values<cudnnBackendDescriptor_t>(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS))
        for (const auto& [attribute_name, a] : get_descriptor(operation).attributes) {
            if (a.type != CUDNN_TYPE_BACKEND_DESCRIPTOR) continue;
            const descriptor& d =
                get_descriptor(value<cudnnBackendDescriptor_t>(get_descriptor(operation), attribute_name, nullptr));
            if (d.kind != CUDNN_BACKEND_TENSOR_DESCRIPTOR || value(d, CUDNN_ATTR_TENSOR_IS_VIRTUAL, false)) continue;
            all[value<std::int64_t>(d, CUDNN_ATTR_TENSOR_UNIQUE_ID, 0)] = &d;
        }
    return all;
}

/// Whether there is a fused kernel: heads of at most 256 elements, a multiple of eight, from compute capability 8.0 on.
cudnnStatus_t check_support(const descriptor& graph) {
    if (at_hand().major < 8) return refused(CUDNN_STATUS_NOT_SUPPORTED_ARCH_MISMATCH, "no fused attention before 8.0");
    for (const auto& [number, tensor] : tensors_of(graph)) {
        const auto sizes = values<std::int64_t>(*tensor, CUDNN_ATTR_TENSOR_DIMENSIONS);
        if (value(*tensor, CUDNN_ATTR_TENSOR_IS_BY_VALUE, false)) continue;
        const auto strides = values<std::int64_t>(*tensor, CUDNN_ATTR_TENSOR_STRIDES);
        const std::int64_t width = strides[3] == 1 ? sizes[3] : sizes[2];
        if (width % 8 != 0 || width > 256) return refused(CUDNN_STATUS_NOT_SUPPORTED, "heads of that width");
    }
    return CUDNN_STATUS_SUCCESS;
}

}  // namespace

extern "C" {

cudnnStatus_t cudnnCreate(cudnnHandle_t* output) {
    if (outside_capture() != cudaSuccess) return CUDNN_STATUS_NOT_INITIALIZED;
    *output = new cudnnContext;
    born(*output, "cuDNN");
    return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
    return destroyed(handle, "cuDNN") ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
}
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
    if (!alive(handle, "cuDNN") || stream_of(stream) == nullptr) return CUDNN_STATUS_BAD_PARAM;
    handle->stream = stream;
    return CUDNN_STATUS_SUCCESS;
}
const char* cudnnGetErrorString(cudnnStatus_t code) {
    if (code == CUDNN_STATUS_SUCCESS) return "CUDNN_STATUS_SUCCESS";
    return code == CUDNN_STATUS_BAD_PARAM ? "CUDNN_STATUS_BAD_PARAM" : "CUDNN_STATUS_NOT_SUPPORTED";
}
void cudnnGetLastErrorString(char* message, std::size_t maximum) {
    std::strncpy(message, last_error_message().c_str(), maximum - 1);
}

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t kind, cudnnBackendDescriptor_t* output) {
    *output = new descriptor{kind};
    born(*output, name);
    return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t handle) {
    return destroyed(static_cast<descriptor*>(handle), name) ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
}
cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t handle, cudnnBackendAttributeName_t attribute_name,
                                       cudnnBackendAttributeType_t type, std::int64_t count, const void* source) {
    if (!alive(handle, name)) return CUDNN_STATUS_BAD_PARAM;
    if (get_descriptor(handle).finalised) return bad("an attribute is set behind the end");
    if (source == nullptr || count < 1) return bad("an attribute without values");
    attribute a{type, count, {}};
    const auto* bytes = static_cast<const unsigned char*>(source);
    a.bytes.assign(bytes, bytes + static_cast<std::size_t>(count) * width_of(type));
    get_descriptor(handle).attributes[attribute_name] = std::move(a);
    return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t handle) {
    if (!alive(handle, name)) return CUDNN_STATUS_BAD_PARAM;
    descriptor& d = get_descriptor(handle);
    for (const cudnnBackendAttributeName_t attribute_name : needed(d.kind))
        if (!d.attributes.contains(attribute_name))
            return bad("attribute " + std::to_string(attribute_name) + " was not set");
    for (const auto& [attribute_name, a] : d.attributes) {
        if (a.type != CUDNN_TYPE_BACKEND_DESCRIPTOR) continue;
        for (cudnnBackendDescriptor_t operand : values<cudnnBackendDescriptor_t>(d, attribute_name)) {
            if (!alive(operand, name)) return CUDNN_STATUS_BAD_PARAM;
            if (!get_descriptor(operand).finalised) return bad("a descriptor is used that was not finalised");
        }
    }
    if (d.kind == CUDNN_BACKEND_TENSOR_DESCRIPTOR) {
        const auto sizes = values<std::int64_t>(d, CUDNN_ATTR_TENSOR_DIMENSIONS);
        if (sizes.size() != values<std::int64_t>(d, CUDNN_ATTR_TENSOR_STRIDES).size())
            return bad("sizes without strides");
        for (const std::int64_t size : sizes)
            if (size < 1) return bad("a tensor without elements");
    }
    if (d.kind == CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR) {
        const cudnnStatus_t code = check_support(
            get_descriptor(value<cudnnBackendDescriptor_t>(d, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, nullptr)));
        if (code != CUDNN_STATUS_SUCCESS) return code;
    }
    if (d.kind == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR &&
        get_descriptor(value<cudnnBackendDescriptor_t>(d, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, nullptr)).engine ==
            0)
        return refused(CUDNN_STATUS_NOT_SUPPORTED, "the first engine does not take it, so that the second is asked");
    const bool pack = d.kind == CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR;
    if (pack && values<void*>(d, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS).size() !=
                    values<std::int64_t>(d, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS).size())
        return bad("a variant pack with more numbers or more pointers");
    d.finalised = true;
    return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t handle, cudnnBackendAttributeName_t attribute_name,
                                       cudnnBackendAttributeType_t, std::int64_t num_requested, std::int64_t* count,
                                       void* out) {
    if (!alive(handle, name)) return CUDNN_STATUS_BAD_PARAM;
    descriptor& d = get_descriptor(handle);
    if (!d.finalised) return bad("an attribute is read before the end");
    if (attribute_name == CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE) {
        *count = 1;
        std::memcpy(out, &workspace_bytes, sizeof workspace_bytes);
        return CUDNN_STATUS_SUCCESS;
    }
    if (attribute_name != CUDNN_ATTR_ENGINEHEUR_RESULTS) return bad("an attribute that nobody reads here");
    *count = engines;
    const auto graph = value<cudnnBackendDescriptor_t>(d, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, nullptr);
    for (std::int64_t i = 0; i < std::min(num_requested, engines); ++i) {
        const cudnnBackendDescriptor_t engine = static_cast<cudnnBackendDescriptor_t*>(out)[i];
        if (!alive(engine, name) || get_descriptor(engine).kind != CUDNN_BACKEND_ENGINECFG_DESCRIPTOR)
            return CUDNN_STATUS_BAD_PARAM;
        // what an engine is of is the heuristic's to say
        attribute a{CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, std::vector<unsigned char>(sizeof graph)};
        std::memcpy(a.bytes.data(), &graph, sizeof graph);
        get_descriptor(engine).attributes[CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH] = std::move(a);
        get_descriptor(engine).engine = static_cast<int>(i);
        get_descriptor(engine).finalised = true;
    }
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan, cudnnBackendDescriptor_t pack) {
    if (!alive(handle, "cuDNN") || !alive(plan, name) || !alive(pack, name)) return CUDNN_STATUS_BAD_PARAM;
    if (!get_descriptor(plan).finalised || !get_descriptor(pack).finalised)
        return bad("what is executed was not finalised");
    const auto engine =
        value<cudnnBackendDescriptor_t>(get_descriptor(plan), CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, nullptr);
    if (!alive(engine, name)) return CUDNN_STATUS_BAD_PARAM;
    const auto graph =
        value<cudnnBackendDescriptor_t>(get_descriptor(engine), CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, nullptr);
    if (!alive(graph, name)) return CUDNN_STATUS_BAD_PARAM;
    const auto numbers = values<std::int64_t>(get_descriptor(pack), CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
    const auto pointers = values<void*>(get_descriptor(pack), CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
    std::map<std::int64_t, void*> bindings;
    for (std::size_t i = 0; i < numbers.size(); ++i) bindings[numbers[i]] = pointers[i];
    work w;
    double bytes = 0;
    const auto tensors = tensors_of(get_descriptor(graph));
    if (bindings.size() != numbers.size() || bindings.size() != tensors.size())
        return bad("a variant pack with other tensors than the graph");
    for (const auto& [number, tensor] : tensors) {
        const auto entry = bindings.find(number);
        if (entry == bindings.end() || entry->second == nullptr)
            return bad("a variant pack without a tensor of the graph");
        const bool of_host = value(*tensor, CUDNN_ATTR_TENSOR_IS_BY_VALUE, false);
        if (of_host != (allocation_of(entry->second) == nullptr))
            return bad("a tensor of the host's memory, or of the GPU's");
        if (of_host) continue;
        const auto alignment = value<std::int64_t>(*tensor, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, 1);
        if (reinterpret_cast<std::uintptr_t>(entry->second) % static_cast<std::uintptr_t>(alignment) != 0)
            return bad("a tensor that is less aligned than was said");
        // which of them are written, the operations say; the last is what the graph is for
        w.touches.push_back(
            {entry->second, bytes_of(*tensor), number == tensors.rbegin()->first, "a tensor of cuDNN's"});
        bytes += static_cast<double>(bytes_of(*tensor));
    }
    w.touches.push_back({value<void*>(get_descriptor(pack), CUDNN_ATTR_VARIANT_PACK_WORKSPACE, nullptr),
                         static_cast<std::size_t>(workspace_bytes), true, "the workspace of cuDNN"});
    w.seconds = seconds_of(bytes);
    return submit(handle->stream, std::move(w)) == cudaSuccess ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_EXECUTION_FAILED;
}

}  // extern "C"
