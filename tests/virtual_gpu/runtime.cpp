// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// CUDA's runtime of a virtual GPU: what of it llmcost calls, with the errors that the real one documents.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

#include "board.hpp"
#include "memory.hpp"
#include "streams.hpp"

namespace virtual_gpu {

namespace {

cudaError_t last_error = cudaSuccess;

bool on_device(const void* p) { return allocation_of(p) != nullptr; }
/// Whether an error took the context with it, so that every later call gives it again.
bool breaks_all(cudaError_t code) { return code == cudaErrorIllegalAddress || code == cudaErrorLaunchFailure; }

/// What a copy reads and writes on the GPU; complains where its direction is another.
work copy_of(void* to, const void* source, std::size_t bytes, cudaMemcpyKind kind) {
    work w;
    w.seconds = seconds_of(static_cast<double>(bytes) * 2);
    const bool writes = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    const bool reads = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if (writes) w.touches.push_back({to, bytes, true, "what a copy writes"});
    if (reads) w.touches.push_back({source, bytes, false, "what a copy reads"});
    if (kind == cudaMemcpyDefault || writes != on_device(to) || reads != on_device(source))
        complain("a copy goes another way than it says");
    w.compute = [=] { std::memcpy(to, source, bytes); };
    return w;
}

}  // namespace

cudaError_t record_error(cudaError_t code) {
    if (breaks_all(last_error)) return last_error;
    if (code != cudaSuccess) last_error = code;
    return code;
}

std::string complaints_of(const std::function<void()>& mistake) {
    mistake();
    std::string all;
    for (const std::string& c : take_complaints()) all += c + '\n';
    last_error = cudaSuccess;
    return all;
}

}  // namespace virtual_gpu

using namespace virtual_gpu;

extern "C" {

// ---- errors

cudaError_t cudaGetLastError() {
    const cudaError_t code = last_error;
    if (!breaks_all(code)) last_error = cudaSuccess;
    return code;
}
const char* cudaGetErrorString(cudaError_t code) {
    switch (code) {
        case cudaSuccess: return "no error";
        case cudaErrorInvalidValue: return "invalid argument";
        case cudaErrorMemoryAllocation: return "out of memory";
        case cudaErrorInvalidConfiguration: return "invalid configuration argument";
        case cudaErrorInvalidDevice: return "invalid device ordinal";
        case cudaErrorNoKernelImageForDevice: return "no kernel image is available for execution on the device";
        case cudaErrorInvalidResourceHandle: return "invalid resource handle";
        case cudaErrorIllegalAddress: return "an illegal memory access was encountered";
        case cudaErrorLaunchFailure: return "unspecified launch failure";
        case cudaErrorStreamCaptureUnsupported: return "operation not permitted when stream is capturing";
        case cudaErrorStreamCaptureInvalidated: return "operation failed due to a previous error during capture";
        case cudaErrorStreamCaptureUnmatched: return "the capture was not initiated in this stream";
        default: return "another error";
    }
}

// ---- the board

cudaError_t cudaGetDeviceCount(int* count) {
    *count = at_hand().gpus;
    return *count > 0 ? cudaSuccess : record_error(cudaErrorNoDevice);
}
cudaError_t cudaGetDevice(int* device) {
    *device = current_gpu();
    return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
    if (device < 0 || device >= at_hand().gpus) return record_error(cudaErrorInvalidDevice);
    make_current(device);
    return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
    if (device < 0 || device >= at_hand().gpus) return record_error(cudaErrorInvalidDevice);
    *properties = {};
    std::snprintf(properties->name, sizeof properties->name, "%s", at_hand().name);
    properties->major = at_hand().major;
    properties->minor = at_hand().minor;
    properties->multiProcessorCount = at_hand().multiprocessors;
    properties->totalGlobalMem = at_hand().memory_bytes;
    properties->l2CacheSize = static_cast<int>(at_hand().cache_bytes);
    properties->memoryBusWidth = at_hand().memory_bus_bits;
    return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
    if (device < 0 || device >= at_hand().gpus) return record_error(cudaErrorInvalidDevice);
    switch (attribute) {
        case cudaDevAttrClockRate: *value = at_hand().clock_kilohertz; break;
        case cudaDevAttrMemoryClockRate: *value = at_hand().memory_clock_kilohertz; break;
        case cudaDevAttrL2CacheSize: *value = static_cast<int>(at_hand().cache_bytes); break;
        default:
            complain("an attribute is asked for that nobody knows here");
            return record_error(cudaErrorInvalidValue);
    }
    return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
    *version = CUDART_VERSION;
    return cudaSuccess;
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void*) {
    *attributes = {};
    return at_hand().major * 10 + at_hand().minor < 75 ? record_error(cudaErrorNoKernelImageForDevice) : cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
    if (const cudaError_t code = outside_capture(); code != cudaSuccess) return code;
    waited_for_all();
    return record_error(cudaSuccess);
}

// ---- memory

cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
    if (const cudaError_t code = outside_capture(); code != cudaSuccess) return code;
    *pointer = allocate_memory(bytes);
    return *pointer != nullptr || bytes == 0 ? cudaSuccess : record_error(cudaErrorMemoryAllocation);
}
cudaError_t cudaFree(void* memory) {
    if (const cudaError_t code = outside_capture(); code != cudaSuccess) return code;
    if (memory == nullptr) return cudaSuccess;
    waited_for_all();
    return gave_back(memory) ? record_error(cudaSuccess) : record_error(cudaErrorInvalidValue);
}
cudaError_t cudaMemGetInfo(std::size_t* available, std::size_t* all) {
    *all = at_hand().memory_bytes;
    *available = *all - std::min(*all, allocated_bytes() + at_hand().context_bytes);
    return cudaSuccess;
}
cudaError_t cudaMemcpy(void* to, const void* source, std::size_t bytes, cudaMemcpyKind kind) {
    if (const cudaError_t code = outside_capture(); code != cudaSuccess) return code;
    const cudaError_t code = submit(nullptr, copy_of(to, source, bytes, kind));
    // from the host it returns once the host's memory is read: the device's may be written later
    if (code == cudaSuccess && kind == cudaMemcpyDeviceToHost) waited_for(nullptr);
    return code;
}
cudaError_t cudaMemcpyAsync(void* to, const void* source, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t owner) {
    return submit(owner, copy_of(to, source, bytes, kind));
}
cudaError_t cudaMemset(void* target, int value, std::size_t bytes) {
    if (const cudaError_t code = outside_capture(); code != cudaSuccess) return code;
    return cudaMemsetAsync(target, value, bytes, nullptr);
}
cudaError_t cudaMemsetAsync(void* target, int value, std::size_t bytes, cudaStream_t owner) {
    return submit(owner, {seconds_of(static_cast<double>(bytes)), {{target, bytes, true, "what is set"}}, [=] {
                              std::memset(target, value, bytes);
                          }});
}

// ---- streams

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* output, unsigned flags) {
    if (flags != cudaStreamNonBlocking && flags != cudaStreamDefault) return record_error(cudaErrorInvalidValue);
    *output = new CUstream_st{.gpu = current_gpu(), .blocking = flags == cudaStreamDefault};
    begin_stream(**output);
    born(*output, "a stream");
    return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    if (!alive(stream, "a stream")) return record_error(cudaErrorInvalidResourceHandle);
    if (stream->captures) complain("a stream is destroyed while it captures");
    dies(stream);
    end_stream(*stream);
    delete stream;
    return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    CUstream_st* s = stream_of(stream);
    if (s == nullptr) return record_error(cudaErrorInvalidResourceHandle);
    if (s->captures) {
        s->spoilt = true;
        return record_error(cudaErrorStreamCaptureUnsupported);
    }
    waited_for(stream);
    return record_error(cudaSuccess);
}
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
    if (stream == nullptr) return record_error(cudaErrorStreamCaptureUnsupported);  // the GPU's own cannot be captured
    if (!alive(stream, "a stream")) return record_error(cudaErrorInvalidResourceHandle);
    if (stream->captures) return record_error(cudaErrorIllegalState);
    stream->captures = true;
    stream->spoilt = false;
    stream->mode = mode;
    stream->graph = new CUgraph_st;
    capturing().push_back(stream);
    return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
    *graph = nullptr;
    if (stream == nullptr || !alive(stream, "a stream")) return record_error(cudaErrorInvalidResourceHandle);
    if (!stream->captures) return record_error(cudaErrorIllegalState);
    stream->captures = false;
    std::erase(capturing(), stream);
    CUgraph_st* made = std::exchange(stream->graph, nullptr);
    if (stream->spoilt) {
        delete made;
        return record_error(cudaErrorStreamCaptureInvalidated);
    }
    born(made, "a graph");
    *graph = made;
    return cudaSuccess;
}

// ---- graphs

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) {
    if (!alive(graph, "a graph")) return record_error(cudaErrorInvalidValue);
    *executable = new CUgraphExec_st{graph->nodes};
    born(*executable, "an executable graph");
    return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t owner) {
    CUstream_st* s = stream_of(owner);
    if (s == nullptr || !alive(graph, "an executable graph")) return record_error(cudaErrorInvalidResourceHandle);
    if (s->captures) complain("a graph is launched on a stream that captures");
    constexpr std::size_t num_edge_nodes =
        4;  // of a graph's many copies of an operator, its first ones and last ones are computed
    cudaError_t code = cudaSuccess;
    for (std::size_t i = 0; i < graph->nodes.size() && code == cudaSuccess; ++i) {
        const bool computes = i < num_edge_nodes || i + num_edge_nodes >= graph->nodes.size();
        code = perform(*s, graph->nodes[i], computes && !graph->launched);
    }
    graph->launched = true;
    return code;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    return destroyed(graph, "a graph") ? cudaSuccess : record_error(cudaErrorInvalidValue);
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
    return destroyed(graph, "an executable graph") ? cudaSuccess : record_error(cudaErrorInvalidValue);
}

// ---- events

cudaError_t cudaEventCreate(cudaEvent_t* output) {
    *output = new CUevent_st;
    born(*output, "an event");
    return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
    return destroyed(event, "an event") ? cudaSuccess : record_error(cudaErrorInvalidResourceHandle);
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t owner) {
    CUstream_st* s = stream_of(owner);
    if (s == nullptr || !alive(event, "an event")) return record_error(cudaErrorInvalidResourceHandle);
    if (s->captures) complain("an event is recorded in a capture: nobody does so here");
    *event = {.recorded = true, .seconds = now(), .stream = s->number, .submitted = submitted_to(*s)};
    return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    if (const cudaError_t code = outside_capture(); code != cudaSuccess) return code;
    if (!alive(event, "an event")) return record_error(cudaErrorInvalidResourceHandle);
    finished_until(event->stream, event->submitted);
    event->waited = true;
    return record_error(cudaSuccess);
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
    if (!alive(begin, "an event") || !alive(end, "an event") || !begin->recorded || !end->recorded)
        return record_error(cudaErrorInvalidResourceHandle);
    if (!end->waited && !begin->waited) return record_error(cudaErrorNotReady);
    *milliseconds = static_cast<float>(1e3 * (end->seconds - begin->seconds));
    return cudaSuccess;
}

}  // extern "C"
