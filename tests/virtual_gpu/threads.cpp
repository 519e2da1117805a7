// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "threads.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <ucontext.h>

namespace virtual_gpu {

place current_place;

namespace {

constexpr unsigned lanes = 32;
constexpr std::size_t stack_bytes = 65536;

enum class waits { not_started, none, for_block, for_lanes, no_more };

/// A stack on which one thread after the other runs; one that waits keeps it until it ends.
struct fiber {
    ucontext_t context{};
    std::unique_ptr<char[]> stack{new char[stack_bytes]};
};
struct thread_state {
    waits waiting = waits::not_started;
    fiber* current_fiber = nullptr;
    unsigned mask = 0, value = 0, lane_mask = 0, received = 0;
};

/// One block while it runs.
struct block_run {
    const std::function<void()>* kernel = nullptr;
    std::vector<thread_state> threads;
    std::vector<std::size_t> order;  ///< of those that run at all
    std::size_t num_started = 0;     ///< of that order
    bool sampled = false;            ///< few threads stand for all, where the first does not wait for others
    bool waited = false;
    std::size_t current = 0;
    fiber* current_fiber = nullptr;  ///< that runs now
    ucontext_t scheduler{};
};

block_run* running = nullptr;
std::vector<std::unique_ptr<fiber>> fibers;
std::vector<fiber*> free_fibers;

/// The first and the last.
std::vector<std::size_t> some_of(std::size_t n) {
    return n > 1 ? std::vector<std::size_t>{0, n - 1} : std::vector<std::size_t>{0};
}
std::vector<std::size_t> all_of(std::size_t n) {
    std::vector<std::size_t> all(n);
    std::iota(all.begin(), all.end(), std::size_t{0});
    return all;
}

void stand_at(std::size_t thread) {
    const dim3& n = current_place.threads;
    const auto t = static_cast<unsigned>(thread);
    current_place.thread = {t % n.x, t / n.x % n.y, t / (n.x * n.y)};
    running->current = thread;
}

/// What a fiber does for ever: threads that have not begun, until one waits, or none is left.
void run_threads() {
    for (;;) {
        while (running->num_started < running->order.size()) {
            const std::size_t mine = running->order[running->num_started++];
            running->threads[mine] = {.waiting = waits::none, .current_fiber = running->current_fiber};
            stand_at(mine);
            (*running->kernel)();
            running->threads[mine].waiting = waits::no_more;
            if (running->sampled && !running->waited && mine == 0) running->order = some_of(running->threads.size());
        }
        fiber* const mine = running->current_fiber;
        free_fibers.push_back(mine);
        swapcontext(&mine->context, &running->scheduler);
    }
}

fiber* free_fiber() {
    if (free_fibers.empty()) {
        fiber* f = fibers.emplace_back(std::make_unique<fiber>()).get();
        getcontext(&f->context);
        f->context.uc_stack.ss_sp = f->stack.get();
        f->context.uc_stack.ss_size = stack_bytes;
        makecontext(&f->context, run_threads, 0);
        free_fibers.push_back(f);
    }
    fiber* f = free_fibers.back();
    free_fibers.pop_back();
    return f;
}

void suspend(waits wait_kind) {
    thread_state& mine = running->threads[running->current];
    mine.waiting = wait_kind;
    running->waited = true;
    swapcontext(&mine.current_fiber->context, &running->scheduler);
}

/// Lanes of the warp that begins with a thread, all of which wait for each other: exchanges their values.
void exchange(block_run& run, std::size_t first, unsigned mask) {
    const auto chosen = [&](std::size_t lane) { return (mask >> lane & 1U) != 0; };
    for (std::size_t k = 0; k < lanes; ++k) {
        if (!chosen(k)) continue;
        thread_state& t = run.threads[first + k];
        const std::size_t partner = (k ^ t.lane_mask) % lanes;
        t.received = chosen(partner) ? run.threads[first + partner].value : t.value;
    }
}
/// Whether all lanes of a mask wait for each other with that mask.
bool complete(const block_run& run, std::size_t first, unsigned mask) {
    for (std::size_t k = 0; k < lanes; ++k) {
        if ((mask >> k & 1U) == 0) continue;
        if (first + k >= run.threads.size()) return false;
        const thread_state& t = run.threads[first + k];
        if (t.waiting != waits::for_lanes || t.mask != mask) return false;
    }
    return true;
}
/// Those that may go on, as what they waited for has come.
std::vector<std::size_t> released(block_run& run) {
    const std::size_t n = run.threads.size();
    std::vector<std::size_t> ready;
    if (std::all_of(run.threads.begin(), run.threads.end(),
                    [](const thread_state& t) { return t.waiting == waits::for_block; })) {
        ready = all_of(n);
    } else {
        for (std::size_t i = 0; i < n; ++i) {
            const thread_state& t = run.threads[i];
            const std::size_t first = i / lanes * lanes;
            if (t.waiting != waits::for_lanes || !complete(run, first, t.mask)) continue;
            exchange(run, first, t.mask);
            for (std::size_t k = 0, mask = t.mask; k < lanes; ++k)
                if ((mask >> k & 1U) != 0) {
                    run.threads[first + k].waiting = waits::none;
                    ready.push_back(first + k);
                }
        }
    }
    for (const std::size_t i : ready) run.threads[i].waiting = waits::none;
    return ready;
}

void go_on(block_run& run, fiber* target) {
    run.current_fiber = target;
    swapcontext(&run.scheduler, &target->context);
}

/// Runs the threads of the block where the place stands; why they stood still, empty where they ended.
std::string run_block(block_run& run) {
    running = &run;
    for (bool backwards = false;; backwards = !backwards) {
        while (run.num_started < run.order.size()) go_on(run, free_fiber());
        if (std::all_of(run.order.begin(), run.order.end(),
                        [&](std::size_t i) { return run.threads[i].waiting == waits::no_more; }))
            return {};
        std::vector<std::size_t> ready = released(run);
        if (ready.empty())  // their fibers stay taken: nothing unwinds what waits on them
            return "threads of a block wait for each other at different places, or for threads that have ended";
        // what lacks a barrier comes out right by the order of threads, but not by the opposite as well
        if (backwards) std::reverse(ready.begin(), ready.end());
        for (const std::size_t i : ready) {
            stand_at(i);
            go_on(run, run.threads[i].current_fiber);
        }
    }
}

}  // namespace

void wait_for_block() { suspend(waits::for_block); }

unsigned exchanged(unsigned mask, unsigned mine, unsigned lane_mask) {
    thread_state& t = running->threads[running->current];
    t.mask = mask;
    t.value = mine;
    t.lane_mask = lane_mask;
    suspend(waits::for_lanes);
    return running->threads[running->current].received;
}

std::string run_grid(dim3 blocks, dim3 threads, const std::function<void()>& kernel, std::uint64_t max_threads) {
    const std::size_t in_block = std::size_t{threads.x} * threads.y * threads.z;
    const std::size_t in_grid = std::size_t{blocks.x} * blocks.y * blocks.z;
    const bool is_complete = in_grid * in_block <= max_threads;
    current_place.threads = threads;
    current_place.blocks = blocks;
    for (const std::size_t index : is_complete ? all_of(in_grid) : some_of(in_grid)) {
        const auto b = static_cast<unsigned>(index);
        current_place.block = {b % blocks.x, b / blocks.x % blocks.y, b / (blocks.x * blocks.y)};
        block_run run;
        run.kernel = &kernel;
        run.sampled = !is_complete;
        run.order = all_of(in_block);
        run.threads.resize(in_block);
        if (const std::string reason = run_block(run); !reason.empty()) return reason;
    }
    return {};
}

}  // namespace virtual_gpu
