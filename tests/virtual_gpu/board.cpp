// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// What a virtual GPU does: work on streams, in its own time.
#include "board.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include "memory.hpp"
#include "streams.hpp"
#include "threads.hpp"

namespace virtual_gpu {

namespace {

constexpr double seconds_of_launch = 1.5e-6;

std::vector<std::string> complaints;
std::string last_message;
double seconds_passed = 1;
int gpu_in_use = 0;

/// A program that had complaints, or that kept something, does not end well.
struct verdict {
    verdict() {
        std::atexit([] {
            const std::string leaked = leaks();
            std::fprintf(stderr, "virtual GPU: at most %.3f GB were held; %zu complaints%s%s\n",
                         static_cast<double>(peak_bytes()) * 1e-9, complaints.size(),
                         leaked.empty() ? "" : "; never given back:\n", leaked.c_str());
            if (!complaints.empty() || !leaked.empty()) _exit(99);
        });
    }
} const at_the_end;

/// Pieces of work of every stream there ever was: memory outlives streams.
struct progress {
    std::uint64_t submitted = 0, finished = 0;
    bool blocking = false;
    bool destroyed = false;
};
std::map<std::uint64_t, progress>& streams() {
    static std::map<std::uint64_t, progress> all;
    return all;
}

/// Complains where another stream may still be at memory that this one uses.
void check_races(const CUstream_st& owner, const touch& t) {
    allocation* a = allocation_of(t.address);
    if (a == nullptr) return;
    for (const auto& [stream_number, used] : a->by_stream) {
        const auto entry = streams().find(stream_number);
        if (entry == streams().end()) continue;  // it was destroyed, and all that it did was waited for
        const progress& p = entry->second;
        const std::uint64_t last = t.writes ? used.last : used.last_written;
        const bool ordered = stream_number == owner.number || (owner.number == 0 && p.blocking) ||
                             (stream_number == 0 && owner.blocking);
        if (!ordered && last > p.finished)
            complain(std::string(t.label) + " is used on a stream while another may still use it");
    }
    use& mine = a->by_stream[owner.number];
    mine.last = streams()[owner.number].submitted;
    if (t.writes) mine.last_written = mine.last;
}

}  // namespace

board& at_hand() {
    static board b;
    return b;
}

void complain(const std::string& message) {
    std::fprintf(stderr, "virtual GPU: %s\n", message.c_str());
    complaints.push_back(message);
}
std::vector<std::string> take_complaints() { return std::exchange(complaints, {}); }
void set_error_message(const std::string& reason) { last_message = reason; }
const std::string& last_error_message() { return last_message; }

int current_gpu() { return gpu_in_use; }
void make_current(int gpu) { gpu_in_use = gpu; }

double now() { return seconds_passed; }
void pass(double seconds) { seconds_passed += seconds; }
double seconds_of(double bytes, double flops) {
    return seconds_of_launch + std::max(bytes / at_hand().bytes_per_second, flops / at_hand().flops_per_second);
}
std::uint64_t global_nanoseconds() {
    pass(1e-6);
    return static_cast<std::uint64_t>(seconds_passed * 1e9);
}
long long cycles() { return static_cast<long long>(seconds_passed * 1e3 * at_hand().clock_kilohertz); }

std::vector<CUstream_st*>& capturing() {
    static std::vector<CUstream_st*> all;
    return all;
}

void begin_stream(CUstream_st& s) {
    static std::uint64_t numbers = 0;
    s.number = ++numbers;
    streams()[s.number].blocking = s.blocking;
}

CUstream_st* stream_of(cudaStream_t handle) {
    static std::map<int, CUstream_st>
        default_streams;  // of each GPU; they share a number, as nothing here runs on two at once
    if (handle == nullptr) return &(default_streams[current_gpu()] = CUstream_st{.gpu = current_gpu()});
    return alive(handle, "a stream") ? handle : nullptr;
}

cudaError_t perform(CUstream_st& owner, const work& task, bool computes) {
    ++streams()[owner.number].submitted;
    bool is_mapped = true;
    for (const touch& t : task.touches) {
        is_mapped = in_memory(t) && is_mapped;
        check_races(owner, t);
    }
    pass(task.seconds);
    if (!is_mapped) return record_error(cudaErrorIllegalAddress);
    if (computes && task.compute) task.compute();
    return cudaSuccess;
}

cudaError_t submit(cudaStream_t handle, work task) {
    CUstream_st* owner = stream_of(handle);
    if (owner == nullptr || owner->gpu != current_gpu()) return record_error(cudaErrorInvalidResourceHandle);
    if (!owner->captures) return perform(*owner, task, true);
    if (owner->spoilt) return record_error(cudaErrorStreamCaptureInvalidated);
    owner->graph->nodes.push_back(std::move(task));
    return cudaSuccess;
}

cudaError_t outside_capture() {
    bool is_capturing = false;
    for (CUstream_st* s : capturing())
        if (s->mode != cudaStreamCaptureModeRelaxed) {
            s->spoilt = true;
            is_capturing = true;
        }
    return is_capturing ? record_error(cudaErrorStreamCaptureUnsupported) : cudaSuccess;
}

cudaError_t launch(const cudaLaunchConfig_t& config, std::function<void()> kernel, std::vector<touch> touches) {
    const dim3 blocks = config.gridDim, threads = config.blockDim;
    const bool block_fits = threads.x > 0 && threads.y > 0 && threads.z > 0 && threads.z <= 64 &&
                            std::uint64_t{threads.x} * threads.y * threads.z <= 1024;
    const bool grid_fits = blocks.x > 0 && blocks.y > 0 && blocks.z > 0 && blocks.y <= 65535 && blocks.z <= 65535 &&
                           blocks.x <= static_cast<unsigned>(std::numeric_limits<int>::max());
    if (!block_fits || !grid_fits || config.dynamicSmemBytes > 48 * 1024 || config.numAttrs != 0)
        return record_error(cudaErrorInvalidConfiguration);
    if (at_hand().major * 10 + at_hand().minor < 75) return record_error(cudaErrorNoKernelImageForDevice);
    double bytes = 0;
    for (const touch& t : touches) bytes += static_cast<double>(bytes_remaining(t.address));
    const std::uint64_t maximum = at_hand().max_threads;
    return submit(config.stream, {seconds_of(bytes), std::move(touches), [=] {
                                      const std::string reason = run_grid(blocks, threads, kernel, maximum);
                                      if (!reason.empty()) {
                                          complain(reason);
                                          (void)record_error(cudaErrorLaunchFailure);
                                      }
                                  }});
}

void waited_for(cudaStream_t handle) {
    if (const CUstream_st* s = stream_of(handle)) {
        progress& p = streams()[s->number];
        p.finished = p.submitted;
    }
}
void waited_for_all() {
    std::erase_if(streams(), [](const auto& s) { return s.second.destroyed; });
    for (auto& [number, p] : streams()) p.finished = p.submitted;
}
void end_stream(const CUstream_st& s) { streams()[s.number].destroyed = true; }
std::uint64_t submitted_to(const CUstream_st& s) { return streams()[s.number].submitted; }
void finished_until(std::uint64_t stream, std::uint64_t piece) {
    progress& p = streams()[stream];
    p.finished = std::max(p.finished, piece);
}

}  // namespace virtual_gpu
