// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// What a virtual GPU refuses, and what it complains of: each mistake is made here once.
#include <llmcost/cuda/handles.cuh>

#include <doctest/doctest.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "numbers.hpp"

using namespace llmcost::cuda;
using namespace virtual_gpu;

namespace {

/// How a process ends that makes a mistake, and then leaves: its code, or -1 where it is killed.
int end_of(const std::function<void()>& mistake, void (*leave)(int) = std::exit) {
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        for (std::FILE* f : {stdout, stderr})
            if (std::freopen("/dev/null", "w", f) == nullptr) _exit(0);
        std::signal(SIGSEGV, SIG_DFL);  // else the test program reports it as its own
        mistake();
        leave(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void store_int(int* out, int index) { out[index] = 1; }
void store_packed(uint4* out, int bytes) {
    auto* p = reinterpret_cast<uint4*>(reinterpret_cast<char*>(out) + bytes);
    p->x = 1;
}
void some_wait(int* out) {
    if (threadIdx.x % 2 == 0) __syncthreads();
    out[0] = 1;
}
void lanes_are_missing(float* out) {
    if (threadIdx.x < 16) out[threadIdx.x] = __shfl_xor_sync(0xffffffffU, 1.0f, 1);
}
void waits_elsewhere(float* out) {
    if (threadIdx.x < 32)
        out[0] = __shfl_xor_sync(0xffffffffU, 1.0f, 1);
    else
        __syncthreads();
}
/// The sum of all threads' neighbours by shared memory, with a barrier before they are read, or without.
void neighbours(int* out, bool has_barrier) {
    __shared__ int mine[64];
    mine[threadIdx.x] = static_cast<int>(threadIdx.x + blockIdx.x * 100);
    if (has_barrier) __syncthreads();
    const int mirrored = mine[63 - threadIdx.x];
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = mirrored;
}
void counts(int* out) { ++*out; }

constexpr int large_bytes = 1 << 16;

}  // namespace

TEST_CASE("a barrier that not all threads reach is complained of, and so are lanes that do not come") {
    const memory m = on_gpu(std::vector<float>(64));
    const auto as_int = static_cast<int*>(m.get());
    const auto as_float = static_cast<float*>(m.get());
    CHECK(contains(complaints_of([&] { launch(some_wait, 1, 64, nullptr, as_int); }), "wait for each other"));
    CHECK(contains(complaints_of([&] { launch(lanes_are_missing, 1, 32, nullptr, as_float); }), "wait for each other"));
    CHECK(contains(complaints_of([&] { launch(lanes_are_missing, 1, 16, nullptr, as_float); }), "wait for each other"));
    CHECK(contains(complaints_of([&] { launch(waits_elsewhere, 1, 64, nullptr, as_float); }), "wait for each other"));
}

TEST_CASE("shared memory that is read without a barrier does not come out right") {
    for (const bool has_barrier : {true, false}) {
        const memory m = on_gpu(std::vector<int>(3 * 64));
        launch(neighbours, 3, 64, nullptr, static_cast<int*>(m.get()), has_barrier);
        const auto out = from_gpu<int>(m.get(), 3 * 64);
        bool right = true;
        for (int i = 0; i < 3 * 64; ++i)
            right = right && out[static_cast<std::size_t>(i)] == i / 64 * 100 + 63 - i % 64;
        CHECK(right == has_barrier);
    }
}

TEST_CASE("an index beyond memory, or one that is not aligned, ends the program") {
    for (const std::size_t n : {std::size_t{64}, std::size_t{1} << 20}) {  // the sanitizer's memory, and pages
        const memory m = allocate(4 * n);
        const auto run_store = [&](int i) {
            return end_of([&] { launch(store_int, 1, 1, nullptr, static_cast<int*>(m.get()), i); }, _exit);
        };
        CHECK(run_store(0) == 0);
        CHECK(run_store(static_cast<int>(n) - 1) == 0);
        CHECK(run_store(static_cast<int>(n)) != 0);
        CHECK(run_store(-1) != 0);
        const auto run_packed_store = [&](int i) {
            return end_of([&] { launch(store_packed, 1, 1, nullptr, static_cast<uint4*>(m.get()), i); }, _exit);
        };
        CHECK(run_packed_store(16) == 0);
        CHECK(run_packed_store(4) != 0);
        CHECK(run_packed_store(static_cast<int>(4 * n)) != 0);
    }
    const memory m = allocate(4);
    CHECK(contains(
        complaints_of([&] { CHECK_THROWS(launch(store_int, 1, 1, nullptr, static_cast<int*>(nullptr) + 5, 0)); }),
        "lies in no memory"));
}

TEST_CASE("a program that leaves memory or complaints behind does not end well") {
    void* lost = nullptr;
    CHECK(end_of([&] { (void)cudaMalloc(&lost, 64); }) == 99);
    CHECK(end_of([] { complain("a test"); }) == 99);
    cudaStream_t stream_lost = nullptr;
    CHECK(end_of([&] { (void)cudaStreamCreateWithFlags(&stream_lost, cudaStreamNonBlocking); }) == 99);
    CHECK(end_of([] {}) == 0);
    CHECK(leaks().empty());
}

TEST_CASE("configurations beyond a GPU's limits are refused, as one that has none is") {
    const memory m = on_gpu(std::vector<int>(1));
    const auto code = [&](dim3 blocks, dim3 threads) {
        cudaLaunchConfig_t c{};
        c.gridDim = blocks;
        c.blockDim = threads;
        const cudaError_t result = cudaLaunchKernelEx(&c, counts, static_cast<int*>(m.get()));
        CHECK(cudaGetLastError() == result);
        return result;
    };
    CHECK(code(dim3(1), dim3(1024)) == cudaSuccess);
    CHECK(code(dim3(1), dim3(1025)) == cudaErrorInvalidConfiguration);
    CHECK(code(dim3(0), dim3(1)) == cudaErrorInvalidConfiguration);
    CHECK(code(dim3(1), dim3(0)) == cudaErrorInvalidConfiguration);
    CHECK(code(dim3(1, 65536), dim3(1)) == cudaErrorInvalidConfiguration);
    CHECK(code(dim3(2147483648U), dim3(1)) == cudaErrorInvalidConfiguration);
    at_hand().major = 7;
    at_hand().minor = 0;
    CHECK(code(dim3(1), dim3(1)) == cudaErrorNoKernelImageForDevice);
    at_hand().major = 9;
}

TEST_CASE("what no capture may hold is refused, and spoils the graph") {
    const memory m = on_gpu(std::vector<int>(1));
    int host = 0;
    void* extra = nullptr;
    const stream cuda_stream = make_stream();
    const std::vector<std::function<cudaError_t()>> forbidden{
        [&] { return cudaMalloc(&extra, 64); },
        [&] { return cudaFree(m.get()); },
        [&] { return cudaMemcpy(&host, m.get(), 4, cudaMemcpyDeviceToHost); },
        [&] { return cudaMemset(m.get(), 0, 4); },
        [&] { return cudaDeviceSynchronize(); },
        [&] { return cudaStreamSynchronize(cuda_stream.get()); },
    };
    for (const auto& call : forbidden) {
        check(cudaStreamBeginCapture(cuda_stream.get(), cudaStreamCaptureModeThreadLocal), "capture");
        CHECK(call() == cudaErrorStreamCaptureUnsupported);
        CHECK(cudaMemsetAsync(m.get(), 0, 4, cuda_stream.get()) == cudaErrorStreamCaptureInvalidated);
        graph g;
        CHECK(cudaStreamEndCapture(cuda_stream.get(), g.address()) == cudaErrorStreamCaptureInvalidated);
        CHECK(g.get() == nullptr);
        CHECK(cudaGetLastError() == cudaErrorStreamCaptureInvalidated);
    }
    CHECK(captured(cuda_stream.get(), [&] {
              launch(counts, 1, 1, cuda_stream.get(), static_cast<int*>(m.get()));
          }).get() != nullptr);
    CHECK_THROWS(captured(cuda_stream.get(), [&] { (void)allocate(64); }));
    (void)cudaGetLastError();
}

TEST_CASE("what is captured runs when its graph is launched, on memory that is still there") {
    const stream cuda_stream = make_stream();
    memory m = on_gpu(std::vector<int>(1));
    const graph_exec g =
        captured(cuda_stream.get(), [&] { launch(counts, 1, 1, cuda_stream.get(), static_cast<int*>(m.get())); });
    CHECK(from_gpu<int>(m.get(), 1)[0] == 0);
    const double start = now();
    check(cudaGraphLaunch(g.get(), cuda_stream.get()), "launch");
    CHECK(now() > start);
    CHECK(from_gpu<int>(m.get(), 1)[0] == 1);
    m = memory();
    CHECK(contains(complaints_of([&] { (void)cudaGraphLaunch(g.get(), cuda_stream.get()); }), "lies in no memory"));
}

TEST_CASE("handles and memory that are gone, and memory that another stream still uses") {
    memory m = on_gpu(std::vector<int>(1));
    const auto number = static_cast<int*>(m.get());
    const stream first = make_stream(), second = make_stream();
    CHECK(contains(complaints_of([&] {
                       launch(counts, 1, 1, first.get(), number);
                       launch(counts, 1, 1, second.get(), number);
                   }),
                   "while another may still use it"));
    check(cudaDeviceSynchronize(), "wait");
    CHECK(complaints_of([&] {
              launch(counts, 1, 1, first.get(), number);
              check(cudaStreamSynchronize(first.get()), "wait");
              launch(counts, 1, 1, second.get(), number);
          }).empty());
    check(cudaDeviceSynchronize(), "wait");
    const int host = 5;
    CHECK(contains(complaints_of([&] {  // memory of the host that is not pinned may reach the GPU's later
                       check(cudaMemcpy(number, &host, 4, cudaMemcpyHostToDevice), "copy");
                       launch(counts, 1, 1, first.get(), number);
                   }),
                   "while another may still use it"));
    int large[2]{};
    CHECK(
        contains(complaints_of([&] { (void)cudaMemcpy(number, large, 8, cudaMemcpyHostToDevice); }), "goes on for 4"));
    CHECK(contains(complaints_of([&] { (void)cudaMemcpy(number, large, 4, cudaMemcpyDeviceToHost); }), "another way"));
    m = memory();
    CHECK(contains(complaints_of([&] { (void)cudaFree(number); }), "twice"));
    cudaStream_t dangling = nullptr;
    {
        const stream third = make_stream();
        dangling = third.get();
    }
    CHECK(contains(complaints_of([&] { (void)cudaStreamSynchronize(dangling); }), "destroyed"));
}

TEST_CASE("memory is as large as the board's, and an address is aligned") {
    std::vector<memory> all;
    const std::size_t block_bytes = std::size_t{20} << 30;
    CHECK_THROWS_AS(
        [&] {
            for (;;) all.push_back(allocate(block_bytes));
        }(),
        not_supported);
    CHECK(all.size() == (at_hand().memory_bytes - at_hand().context_bytes) / block_bytes);
    std::size_t available = 0, total = 0;
    check(cudaMemGetInfo(&available, &total), "cudaMemGetInfo");
    CHECK(available < block_bytes);
    CHECK(total == at_hand().memory_bytes);
    for (const std::size_t bytes : {1, 300, 5000, 2000001}) {
        const memory m = allocate(bytes);
        CHECK(reinterpret_cast<std::uintptr_t>(m.get()) % 256 == 0);
    }
    CHECK(
        contains(complaints_of([&] { (void)cudaMemset(all[0].get(), 0, block_bytes + 1); }), "its memory goes on for"));
    all.clear();
    (void)peak_bytes();
    { const memory m = allocate(large_bytes); }
    CHECK(peak_bytes() == large_bytes);
}
