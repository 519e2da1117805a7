// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <llmcost/cuda/device_operator.cuh>
#include <llmcost/cuda/handles.cuh>
#include <llmcost/cuda/instructions.cuh>
#include <llmcost/cuda/sampling.hpp>

// Seconds of one launch among several, and the clock in MHz that they ended with.
namespace llmcost::cuda {

namespace detail {

/// The clock of a multiprocessor in MHz over 20 µs: its cycles by the global timer.
static __global__ void read_clock(double* megahertz) {
    std::uint64_t begin = 0, now = global_nanoseconds();
    do begin = global_nanoseconds();
    while (begin == now);  // some GPUs count in steps of a microsecond
    const long long cycles = clock64();
    do now = global_nanoseconds();
    while (now - begin < 20000);
    *megahertz = 1e3 * static_cast<double>(clock64() - cycles) / static_cast<double>(now - begin);
}

/// Nothing, for so many nanoseconds.
static __global__ void hold_back(std::uint64_t nanoseconds) {
    const std::uint64_t begin = global_nanoseconds();
    while (global_nanoseconds() - begin < nanoseconds) {
    }
}

/// Runs a timer until clocks that fell while the host prepared have risen again: three times, fewer of what takes long.
template <class Timer>
void settle(Timer& timer) {
    const auto begin = std::chrono::steady_clock::now();
    double spent = 0;
    for (int i = 0; i < 1 || spent < 0.002 || (i < 3 && spent < 0.05); ++i) {
        (void)timer();
        spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }
}

}  // namespace detail

/// Works on all multiprocessors and memory until a GPU that was idle has reached its clocks.
inline void warm_up(double seconds) {
    constexpr std::size_t n = std::size_t{1} << 24;
    const memory some = allocate(4 * n);
    const auto begin = std::chrono::steady_clock::now();
    while (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() < seconds)
        detail::fill(some, n, CUDA_R_32F, 1.0f);
}

/// Reads the clock after the work of a stream.
class clock_reader {
public:
    double operator()(cudaStream_t cuda_stream) {
        launch(detail::read_clock, 1, 1, cuda_stream, static_cast<double*>(clock_.get()));
        double megahertz = 0;
        check(cudaMemcpyAsync(&megahertz, clock_.get(), sizeof megahertz, cudaMemcpyDeviceToHost, cuda_stream),
              "cudaMemcpyAsync");
        check(cudaStreamSynchronize(cuda_stream), "cudaStreamSynchronize");
        return megahertz;
    }

private:
    memory clock_ = allocate(sizeof(double));
};

/// Copies of an operator in a graph, between two events.
class graph_timer {
public:
    graph_timer(device_operator& device_op, int copies, cudaStream_t cuda_stream)
        : copies_(copies), stream_(cuda_stream) {
        device_op.launch(0, stream_);  // modules and plans load before anything is captured
        check(cudaStreamSynchronize(stream_), "first launch");
        graph_ = captured(stream_, [&] {
            for (int i = 0; i < copies; ++i) device_op.launch(i, stream_);
        });
        detail::settle(*this);
    }
    std::pair<double, double> operator()() {
        // else the first event would pass at once, and what the host takes to submit the graph would be measured
        launch(detail::hold_back, 1, 1, stream_, 30000 + 300 * static_cast<std::uint64_t>(copies_));
        check(cudaEventRecord(start_.get(), stream_), "cudaEventRecord");
        check(cudaGraphLaunch(graph_.get(), stream_), "cudaGraphLaunch");
        check(cudaEventRecord(stop_.get(), stream_), "cudaEventRecord");
        check(cudaEventSynchronize(stop_.get()), "cudaEventSynchronize");
        float milliseconds = 0;
        check(cudaEventElapsedTime(&milliseconds, start_.get(), stop_.get()), "cudaEventElapsedTime");
        return {1e-3 * static_cast<double>(milliseconds) / copies_, clock_(stream_)};
    }

private:
    int copies_;
    cudaStream_t stream_;
    clock_reader clock_;
    event start_ = make_event(), stop_ = make_event();
    graph_exec graph_;
};

/// Copies of an operator that the host issues one by one, by the host's clock until all have ended.
class host_timer {
public:
    host_timer(device_operator& device_op, int copies, cudaStream_t cuda_stream)
        : device_op_(device_op), copies_(copies), stream_(cuda_stream) {
        detail::settle(*this);
    }
    std::pair<double, double> operator()() {
        const auto begin = std::chrono::steady_clock::now();
        for (int i = 0; i < copies_; ++i) device_op_.launch(i, stream_);
        device_op_.wait();
        check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
        const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
        return {spent.count() / copies_, clock_(stream_)};
    }

private:
    device_operator& device_op_;
    int copies_;
    cudaStream_t stream_;
    clock_reader clock_;
};

/// Samples of an operator on a stream, timed as it is issued.
[[nodiscard]] inline sampler measured(device_operator& device_op, int copies, cudaStream_t cuda_stream,
                                      sampling_rule rule = {}) {
    rule.seconds /= copies, rule.longest /= copies;  // they count those of all launches
    // copies from the host may be under way, which no stream here waits for
    check(cudaDeviceSynchronize(), "memory");
    if (device_op.issued() == issued_by::host) return sampled(host_timer(device_op, copies, cuda_stream), rule);
    return sampled(graph_timer(device_op, copies, cuda_stream), rule);
}

}  // namespace llmcost::cuda
