// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <driver_types.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

// A simulated GPU. Its memory is the host's, its clock advances by the time that work takes. It reports errors where a
// real one would fail or hide a mistake.
namespace virtual_gpu {

/// What its driver says of it, and how much it computes.
struct board {
    const char* name = "NVIDIA H200";
    int major = 9, minor = 0;
    int multiprocessors = 132;
    int gpus = 1;
    int clock_kilohertz = 1'980'000, memory_clock_kilohertz = 3'201'000, memory_bus_bits = 6144;
    double bytes_per_second = 4e12, flops_per_second = 6e14;  ///< of what work is said to move and compute
    std::size_t memory_bytes = 150'754'820'096;
    std::size_t context_bytes = 500'000'000;  ///< of the driver and its libraries, in addition to allocations
    std::size_t cache_bytes = std::size_t{60} << 20;
    std::uint64_t max_threads = 4096;     ///< of a kernel that runs as a whole; of a larger one, few threads run
    double max_products = std::exp2(20);  ///< of a library's call that is computed; of a larger one, nothing is
};
/// The board at hand; written by tests before they use it.
[[nodiscard]] board& at_hand();

// ---- complaints: what a test has to fail by

void complain(const std::string& message);
/// Those so far; none are left behind.
[[nodiscard]] std::vector<std::string> take_complaints();
/// What is complained of a mistake, a line each; an error that took everything with it is forgotten: tests go on.
[[nodiscard]] std::string complaints_of(const std::function<void()>& mistake);
[[nodiscard]] inline bool contains(const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
}
/// A library says why it refuses a call: no complaint, as its caller may go on.
void set_error_message(const std::string& message);
/// What it said last.
[[nodiscard]] const std::string& last_error_message();

// ---- what is held: memory and handles by their addresses

void born(const void* handle, const char* kind);
/// Whether it lives; complains where it does not.
[[nodiscard]] bool alive(const void* handle, const char* kind);
void dies(const void* handle);
/// Ends what a handle points to; whether it lived.
template <class T>
[[nodiscard]] bool destroyed(T* handle, const char* kind) {
    if (!alive(handle, kind)) return false;
    dies(handle);
    delete handle;
    return true;
}
/// Memory and handles that were not released, as text; empty if there are none.
[[nodiscard]] std::string leaks();

/// Memory of the current GPU, a multiple of 256 in address; null where there is no room.
[[nodiscard]] void* allocate_memory(std::size_t bytes);
/// Gives memory back; whether it was taken.
[[nodiscard]] bool gave_back(void* memory);
[[nodiscard]] std::size_t allocated_bytes();
/// The most that were held at once since this was asked for last.
[[nodiscard]] std::size_t peak_bytes();
/// Bytes from an address to the end of the memory that it lies in; 0 where it lies in none.
[[nodiscard]] std::size_t bytes_remaining(const void* address);

// ---- streams, and work on them

/// Bytes that work reads or writes.
struct touch {
    const void* address = nullptr;
    std::size_t bytes = 0;
    bool writes = false;
    const char* label = "";
};
/// Something that a stream does, now or whenever the graph is launched that captured it.
struct work {
    double seconds = 0;
    std::vector<touch> touches;
    std::function<void()> compute;  ///< done once: a graph that is launched again only takes its time
};
/// Submits work to a stream and returns the runtime's status. Reports accesses to memory that is not allocated, and to
/// memory that another stream uses without synchronization.
[[nodiscard]] cudaError_t submit(cudaStream_t handle, work task);
/// Whether all bytes lie in one living allocation of the current GPU; complains where they do not.
bool in_memory(const touch& t);

/// A call that no stream may capture around: fails, and spoils what is captured, while one does.
[[nodiscard]] cudaError_t outside_capture();
/// A kernel on a stream of a configuration.
[[nodiscard]] cudaError_t launch(const cudaLaunchConfig_t& config, std::function<void()> kernel,
                                 std::vector<touch> touches);

/// Waits for a stream, or for all.
void waited_for(cudaStream_t stream);
void waited_for_all();

/// Remembers an error as runtimes do, and returns it.
cudaError_t record_error(cudaError_t code);

// ---- time

/// Seconds since the board was made.
[[nodiscard]] double now();
void pass(double seconds);
/// Time of work that moves bytes and computes products.
[[nodiscard]] double seconds_of(double bytes, double flops = 0);
/// As kernels read them; a look at the timer takes a microsecond.
[[nodiscard]] std::uint64_t global_nanoseconds();
[[nodiscard]] long long cycles();

[[nodiscard]] int current_gpu();
void make_current(int gpu);

}  // namespace virtual_gpu
