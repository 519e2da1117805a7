// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// What a virtual GPU holds: memory and handles.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include <sanitizer/asan_interface.h>
#include <sys/mman.h>
#include <unistd.h>

#include "board.hpp"
#include "memory.hpp"

namespace virtual_gpu {

namespace {

/// Above this size, memory has guard pages on both sides and is released at once. Smaller memory is the sanitizer's.
constexpr std::size_t large = std::size_t{1} << 20;
constexpr std::size_t alignment = 256;  // "aligned for any kind of variable": CUDA C++ Programming Guide, 5.3.2

// never destroyed: what is left at the very end is counted
std::map<std::uintptr_t, allocation>& allocations = *new std::map<std::uintptr_t, allocation>;
std::map<const void*, const char*>& handles = *new std::map<const void*, const char*>;
std::size_t allocated = 0, maximum = 0;

std::size_t rounded(std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

/// Pages for so many bytes that end where the first guard page begins.
void map_pages(allocation& a) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t inner = (a.bytes + page - 1) / page * page;
    void* pages = mmap(nullptr, inner + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED || mprotect(static_cast<char*>(pages) + page, inner, PROT_READ | PROT_WRITE) != 0) {
        complain("the host has no room for " + std::to_string(a.bytes) + " bytes");
        return;
    }
    a.pages = pages;
    a.mapped = inner + 2 * page;
    a.begin = reinterpret_cast<std::uintptr_t>(pages) + page + inner - rounded(a.bytes);
    ASAN_POISON_MEMORY_REGION(reinterpret_cast<void*>(a.begin + a.bytes), rounded(a.bytes) - a.bytes);
}

}  // namespace

void* allocate_memory(std::size_t bytes) {
    if (bytes == 0) return nullptr;
    if (allocated + bytes + at_hand().context_bytes > at_hand().memory_bytes) return nullptr;
    allocation a;
    static std::size_t numbers = 0;
    a.bytes = bytes;
    a.gpu = current_gpu();
    a.number = ++numbers;
    if (bytes >= large) {
        map_pages(a);
    } else {
        void* p = nullptr;
        if (posix_memalign(&p, alignment, bytes) != 0) return nullptr;
        std::memset(p, 0xff, bytes);  // no number in any type: what is read before it is written shows
        a.begin = reinterpret_cast<std::uintptr_t>(p);
    }
    if (a.begin == 0) return nullptr;
    allocations[a.begin] = a;
    allocated += bytes;
    maximum = std::max(maximum, allocated);
    return reinterpret_cast<void*>(a.begin);
}

bool gave_back(void* memory) {
    const auto entry = allocations.find(reinterpret_cast<std::uintptr_t>(memory));
    if (entry == allocations.end()) {
        complain("memory is given back that nobody took, or twice");
        return false;
    }
    const allocation& a = entry->second;
    if (a.pages != nullptr) {
        ASAN_UNPOISON_MEMORY_REGION(reinterpret_cast<void*>(a.begin + a.bytes), rounded(a.bytes) - a.bytes);
        munmap(a.pages, a.mapped);
    } else {
        std::free(memory);
    }
    allocated -= a.bytes;
    allocations.erase(entry);
    return true;
}

allocation* allocation_of(const void* address) {
    const auto position = reinterpret_cast<std::uintptr_t>(address);
    auto next = allocations.upper_bound(position);
    if (next == allocations.begin()) return nullptr;
    allocation& a = (--next)->second;
    return position < a.begin + a.bytes ? &a : nullptr;
}

std::vector<piece> pieces() {
    std::map<std::size_t, piece> by_number;
    for (const auto& [begin, a] : allocations) by_number[a.number] = {reinterpret_cast<void*>(begin), a.bytes};
    std::vector<piece> all;
    for (const auto& [number, p] : by_number) all.push_back(p);
    return all;
}

std::size_t allocated_bytes() { return allocated; }

std::size_t peak_bytes() {
    const std::size_t peak = maximum;
    maximum = allocated;
    return peak;
}

std::size_t bytes_remaining(const void* address) {
    const allocation* a = allocation_of(address);
    return a == nullptr ? 0 : a->begin + a->bytes - reinterpret_cast<std::uintptr_t>(address);
}

bool in_memory(const touch& t) {
    const allocation* a = allocation_of(t.address);
    if (a == nullptr) {
        complain(std::string(t.label) + " lies in no memory of the GPU");
    } else if (a->gpu != current_gpu()) {
        complain(std::string(t.label) + " lies in the memory of another GPU");
    } else if (bytes_remaining(t.address) < t.bytes) {
        complain(std::string(t.label) + " has " + std::to_string(t.bytes) + " bytes, its memory goes on for " +
                 std::to_string(bytes_remaining(t.address)));
    } else {
        return true;
    }
    return false;
}

void born(const void* handle, const char* kind) { handles[handle] = kind; }

bool alive(const void* handle, const char* kind) {
    const auto entry = handles.find(handle);
    const bool lives = entry != handles.end() && std::strcmp(entry->second, kind) == 0;
    if (!lives) complain(std::string(kind) + " is used that was never made, or that was destroyed");
    return lives;
}

void dies(const void* handle) { handles.erase(handle); }

std::string leaks() {
    std::string text;
    for (const auto& [begin, a] : allocations) text += std::to_string(a.bytes) + " bytes of memory\n";
    for (const auto& [handle, kind] : handles) text += std::string(kind) + '\n';
    return text;
}

}  // namespace virtual_gpu
