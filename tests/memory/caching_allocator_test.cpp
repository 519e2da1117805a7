// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/layers/attention.hpp>
#include <llmcost/memory/caching_allocator.hpp>
#include <llmcost/memory/cuda_reduction.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>

// PyTorch's caching allocator, the buffers of reductions, and the backends of attention on CUDA devices.
namespace llmcost {
namespace {

constexpr std::uint64_t mebibyte = 1U << 20U;

}  // namespace

TEST_CASE("small requests share segments of 2 MiB in multiples of 512 bytes") {
    caching_allocator allocator;
    const std::size_t first = allocator.allocate(1), second = allocator.allocate(513);
    CHECK(allocator.block_bytes(first) == 512);
    CHECK(allocator.block_bytes(second) == 1024);
    CHECK(allocator.statistics().requested_bytes == 514);
    CHECK(allocator.statistics().reserved_bytes == 2 * mebibyte);
    (void)allocator.allocate(mebibyte);
    CHECK(allocator.statistics().num_segments == 1);
    (void)allocator.allocate(mebibyte);  // 2 MiB − 1.5 KiB are not enough for a second one
    CHECK(allocator.statistics().num_segments == 2);
}

TEST_CASE("requests above 1 MiB get 20 MiB segments, and from 10 MiB on segments of their own") {
    caching_allocator allocator;
    (void)allocator.allocate(mebibyte + 1);
    CHECK(allocator.statistics().reserved_bytes == 20 * mebibyte);
    (void)allocator.allocate(10 * mebibyte);  // 18.99 MiB are free
    CHECK(allocator.statistics().num_segments == 1);
    (void)allocator.allocate(11 * mebibyte + 1);
    CHECK(allocator.statistics().reserved_bytes == 32 * mebibyte);  // rounded up to 2 MiB
    CHECK(allocator.statistics().num_segments == 2);
}

TEST_CASE("a rest of at most 1 MiB of a large block is not split off and counts as allocated") {
    caching_allocator allocator;
    const std::size_t block = allocator.allocate(11 * mebibyte);
    CHECK(allocator.block_bytes(block) == 12 * mebibyte);
    allocator.free(block);
    const std::size_t smaller = allocator.allocate(10 * mebibyte);
    CHECK(allocator.block_bytes(smaller) == 10 * mebibyte);  // a rest of 2 MiB is split off
    CHECK(allocator.statistics().peak_allocated_bytes == 12 * mebibyte);
    CHECK(allocator.statistics().reserved_bytes == 12 * mebibyte);
}

TEST_CASE("a request takes the smallest block, and free neighbors are merged") {
    caching_allocator allocator;
    const std::size_t a = allocator.allocate(4 * mebibyte), b = allocator.allocate(4 * mebibyte);
    const std::size_t c = allocator.allocate(4 * mebibyte), d = allocator.allocate(8 * mebibyte);
    CHECK(allocator.statistics().num_segments == 1);  // 4 + 4 + 4 + 8 = 20
    allocator.free(a);
    allocator.free(c);
    allocator.free(d);  // c and d are one block of 12 MiB
    (void)allocator.allocate(4 * mebibyte);
    CHECK(allocator.statistics().num_segments == 1);
    (void)allocator.allocate(12 * mebibyte);
    CHECK(allocator.statistics().num_segments == 1);
    allocator.free(b);
    CHECK(allocator.statistics().allocated_bytes == 16 * mebibyte);
    CHECK(allocator.statistics().reserved_bytes == 20 * mebibyte);
}

TEST_CASE("buffers of column sums are those of recorded steps") {
    // allocator requests of steps on an H100 (h100_runs.jsonl.gz): sums of (32 · 197) × 384 and × 1536 gradients
    CHECK(column_sum_buffer_bytes(std::uint64_t{32} * 197, 384, 132 * 2048) == 19464192);
    CHECK(column_sum_buffer_bytes(std::uint64_t{32} * 197, 1536, 132 * 2048) == 77856768);
    // 32 · 160 norms of 56 · 56 rows
    CHECK(column_sum_buffer_bytes(std::uint64_t{56} * 56, std::uint64_t{32} * 160, 132 * 2048) == 128450560);
    CHECK(column_sum_buffer_bytes(32, 1000, 132 * 2048) == 0);
    CHECK(column_sum_buffer_bytes(0, 0, 132 * 2048) == 0);
    CHECK(threads_per_multiprocessor(90) == 2048);
    CHECK(threads_per_multiprocessor(89) == 1536);
    CHECK(threads_per_multiprocessor(75) == 1024);
}

TEST_CASE("attention backends depend on device, type, heads and head size") {
    const auto backend = [](std::int32_t capability, dtype type, std::int64_t key_heads, std::int64_t d,
                            bool has_mask = false) {
        const tensor q = empty_tensor({2, 8, 64, d}, type), k = empty_tensor({2, key_heads, 64, d}, type);
        return select_sdpa_backend(capability, q, k, k, has_mask);
    };
    CHECK(backend(90, dtype::bfloat16, 8, 64) == sdpa_backend::cudnn);
    CHECK(backend(90, dtype::bfloat16, 2, 256) == sdpa_backend::cudnn);
    CHECK(backend(80, dtype::bfloat16, 2, 64) == sdpa_backend::flash);
    CHECK(backend(103, dtype::float16, 8, 64) == sdpa_backend::flash);
    CHECK(backend(90, dtype::float32, 8, 64) == sdpa_backend::efficient);
    CHECK(backend(75, dtype::float16, 8, 64) == sdpa_backend::efficient);
    CHECK(backend(90, dtype::bfloat16, 8, 512) == sdpa_backend::efficient);
    CHECK(backend(90, dtype::float32, 2, 64) == sdpa_backend::math);
    CHECK(backend(90, dtype::float32, 8, 63) == sdpa_backend::math);
    CHECK(backend(90, dtype::bfloat16, 8, 64, true) == sdpa_backend::cudnn);
    CHECK(backend(80, dtype::bfloat16, 8, 64, true) == sdpa_backend::efficient);
}

TEST_CASE("attention workspaces are those of recorded steps") {
    // largest request of an attention's backward in h100_runs.jsonl.gz
    const auto workspace = [](sdpa_backend backend, shape queries, shape keys, dtype type) {
        const tensor q = empty_tensor(queries, type), k = empty_tensor(keys, type);
        return sdpa_memory_of(backend, q, k, k).backward_bytes.to_64();
    };
    const dtype half = dtype::bfloat16, full = dtype::float32;
    CHECK(workspace(sdpa_backend::cudnn, {4, 16, 1024, 128}, {4, 16, 1024, 128}, half) == 33816832);  // OLMo 2
    CHECK(workspace(sdpa_backend::cudnn, {2, 32, 1024, 64}, {2, 8, 1024, 64}, half) == 33816832);     // Granite
    CHECK(workspace(sdpa_backend::cudnn, {32, 6, 257, 64}, {32, 6, 257, 64}, half) == 12829696);      // DINOv2
    CHECK(workspace(sdpa_backend::cudnn, {8, 12, 128, 64}, {8, 12, 128, 64}, half) == 3195136);       // BART
    // ViT: the product with the output is smaller than the accumulators
    CHECK(workspace(sdpa_backend::efficient, {32, 6, 197, 64}, {32, 6, 197, 64}, full) == 12595200 + 151296);
    const tensor q = empty_tensor({32, 6, 197, 64}, full);
    CHECK(sdpa_memory_of(sdpa_backend::efficient, q, q, q).saved_bytes == count(172032));
}

}  // namespace llmcost
