// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/latency/elementwise.hpp>
#include <llmcost/latency/operand_types.hpp>
#include <llmcost/latency/vector_units.hpp>

// What a kernel of each family must do, by its sizes in the family's order.
namespace llmcost::detail {

constexpr double real(std::int64_t n) noexcept { return static_cast<double>(n); }

/// m, n, k: FLOPs 2·m·n·k; bytes of both operands and of a result as wide as activations.
constexpr kernel_work gemm_work(const std::int64_t* s, const operand_type& o, string_ref /*variant*/) {
    const double m = real(s[0]), n = real(s[1]), k = real(s[2]);
    return {2 * m * n * k, o.activation_bytes * (m * k + m * n) + o.weight_bytes * n * k, o.unit};
}
/// As many products of activations, each with operands of its own.
constexpr kernel_work batched_gemm_work(const std::int64_t* s, const operand_type& o, string_ref variant) {
    kernel_work one = gemm_work(s + 1, o, variant);
    one.flops *= real(s[0]);
    one.bytes *= real(s[0]);
    return one;
}

/// Pairs of a query and a key it sees: new tokens behind `past` others, each seeing itself and at most window − 1
/// before.
constexpr double visible_pairs(double fresh, double past, double window) {
    const double all = fresh * past + fresh * (fresh + 1) / 2;
    if (window <= 0 || window >= past + fresh) return all;
    const double growing = window > past ? window - past : 0;  // tokens that see everything before them
    return growing * past + growing * (growing + 1) / 2 + (fresh - growing) * window;
}
/// Bytes of a cached element: one of eight bits, else two.
constexpr double cached_bytes(string_ref variant) {
    const operand_type* row = find_operand_type(variant);
    return row == nullptr ? 2 : row->weight_bytes;
}
/// Tiles of 64 queries, each taken through all its keys by one unit (FlashAttention-2, arXiv 2307.08691, section 3.3),
/// with so many FLOPs for each pair: in each of so many heads the last tile is the largest, the first the smallest.
constexpr void divide_in_tiles(kernel_work& work, double of_pair, double heads, double fresh, double past) {
    constexpr std::int64_t queries = 64;
    const std::int64_t tiles = (static_cast<std::int64_t>(fresh) + queries - 1) / queries;
    work.num_tiles = heads * real(tiles);
    work.max_tile_flops = of_pair * real(queries) * (past + fresh);
    work.min_tile_flops = of_pair * real(queries) * (past + (tiles > 1 ? real(queries) : fresh));
}
/// Fused attention: FLOPs 4·B·heads·head_dim·pairs; bytes of queries, output, and the keys and values that are seen.
constexpr kernel_work attention_work(double batch, double fresh, double past, const std::int64_t* layer_shape,
                                     const operand_type& o, string_ref variant) {
    const double heads = real(layer_shape[0]), kv_heads = real(layer_shape[1]), width = real(layer_shape[2]),
                 window = real(layer_shape[3]);
    const double visible_keys = window > 0 && window - 1 + fresh < past + fresh ? window - 1 + fresh : past + fresh;
    return {
        4 * batch * heads * width * visible_pairs(fresh, past, window),
        2 * batch * width * (2 * fresh * heads) + 2 * batch * width * visible_keys * kv_heads * cached_bytes(variant),
        o.unit};
}
constexpr kernel_work context_attention_work(const std::int64_t* s, const operand_type& o, string_ref variant) {
    kernel_work work = attention_work(real(s[0]), real(s[1]), real(s[6]), s + 2, o, variant);
    if (s[5] == 0)
        divide_in_tiles(work, 4 * real(s[4]), real(s[0]) * real(s[2]), real(s[1]), real(s[6]));  // a window ends it
    return work;
}
constexpr kernel_work generation_attention_work(const std::int64_t* s, const operand_type& o, string_ref variant) {
    return attention_work(real(s[0]), 1 + real(s[6]), real(s[1]), s + 2, o, variant);
}

/// Every query sees every key: FLOPs 4·B·heads·head_dim·queries·length.
constexpr kernel_work full_attention_work(const std::int64_t* s, const operand_type& o, string_ref /*variant*/) {
    const double batch = real(s[0]), queries = real(s[1]), heads = real(s[2]), kv_heads = real(s[3]),
                 width = real(s[4]);
    const double length = real(s[5]);
    return {4 * batch * heads * width * queries * length,
            2 * batch * width * (2 * queries * heads + 2 * length * kv_heads), o.unit};
}

// DeepSeek V2 and V3: 128 + 64 elements of queries and keys, 128 of values, a latent of 512 + 64
constexpr kernel_work context_mla_work(const std::int64_t* s, const operand_type& o, string_ref variant) {
    const double batch = real(s[0]), fresh = real(s[1]), heads = real(s[2]), past = real(s[3]);
    kernel_work work{2 * batch * heads * visible_pairs(fresh, past, 0) * (192 + 128),
                     2 * batch * heads * (fresh * (192 + 128) + (past + fresh) * (192 + 128)) +
                         batch * fresh * 576 * cached_bytes(variant),
                     o.unit};
    divide_in_tiles(work, 2 * (192 + 128), batch * heads, fresh, past);
    return work;
}
/// In the latent: every head reads the same 576 elements of a token, and their first 512 again as values.
constexpr kernel_work generation_mla_work(const std::int64_t* s, const operand_type& o, string_ref variant) {
    const double batch = real(s[0]), past = real(s[1]), heads = real(s[2]), fresh = 1 + real(s[3]);
    return {2 * batch * heads * visible_pairs(fresh, past, 0) * (576 + 512),
            batch * ((past + fresh) * 576 * cached_bytes(variant) + 2 * fresh * heads * (576 + 512)), o.unit};
}

/// A state of key_dim × value_dim per head, read and written once in 32 bits; several tokens by chunks, whose tokens
/// see each other as in attention. FLOPs per head and token: 2·C·(key_dim + value_dim) within the chunk of C tokens,
/// 4·key_dim·value_dim to and from the state; `delta` also corrects: a product of keys and one with the inverse of
/// their system, 2·C·(2·key_dim + value_dim).
///
/// Source: Mamba-2 (arXiv 2405.21060, section 6); Gated Delta Networks (arXiv 2412.06464, section 3.3).
constexpr kernel_work linear_attention_work(const std::int64_t* s, const operand_type& o, string_ref variant) {
    const double batch = real(s[0]), fresh = real(s[1]), heads = real(s[2]), key_heads = real(s[3]);
    const double keys = real(s[4]), values = real(s[5]), chunk = s[1] < s[6] ? fresh : real(s[6]);
    const bool corrects = variant == "delta";
    double flops_per_token = 4 * keys * values;
    if (s[1] > 1)
        flops_per_token += 2 * chunk * (keys + values + (corrects ? 2 * keys + values : 0));
    else if (corrects)
        flops_per_token += 2 * keys * values;
    return {batch * fresh * heads * flops_per_token,
            batch * (8 * heads * keys * values + 2 * fresh * o.activation_bytes * (heads * values + key_heads * keys)),
            o.unit};
}

/// Experts of one device: T·topk rows, shared by expert-parallel devices, through three matrices of hidden × inner.
///
/// Bytes: the experts that meet a row, at most all; with rows spread by a power law fewer, so that only balanced is
/// certain.
constexpr kernel_work moe_work(const std::int64_t* s, const operand_type& o, string_ref variant) {
    const double tokens = real(s[0]), hidden = real(s[1]), top_k = real(s[3]), tp = real(s[5]), ep = real(s[6]);
    const double inner = real(s[2]) / tp, experts = real(s[4]) / ep, rows = tokens * top_k / ep;
    const double active_experts = rows < experts ? rows : experts;
    return {6 * rows * hidden * inner,
            3 * active_experts * hidden * inner * o.weight_bytes + o.activation_bytes * hidden * (tokens + rows) +
                2 * o.activation_bytes * rows * inner,
            o.unit, false, variant == "balanced" ? 1.0 : 0.0};
}

/// A ring's bytes, sent by each device: (g − 1)/g of the message, twice in an all-reduce, half of which a switch may
/// do.
constexpr kernel_work collective_work(const std::int64_t* s, const operand_type& o, string_ref variant) {
    const double devices = real(s[1]), bytes = real(s[0]) * o.weight_bytes * (devices - 1) / devices;
    const bool twice = variant == "all_reduce";
    return {0, twice ? 2 * bytes : bytes, nullptr, true, 0.5};
}
constexpr kernel_work all_reduce_work(const std::int64_t* s, const operand_type& o, string_ref /*variant*/) {
    return collective_work(s, o, "all_reduce");
}

/// A device's part of a message, sent over a network in as many steps as a tree of the nodes is high: one of them.
constexpr kernel_work network_work(const std::int64_t* s, const operand_type& o, string_ref /*variant*/) {
    const double nodes = real(s[1]);
    double steps = 1;
    for (double reached = 2; reached < nodes; reached *= 2) ++steps;
    return {.bytes = real(s[0]) * o.weight_bytes / real(s[2]) * (nodes - 1) / nodes / steps,
            .uses_links = true,
            .uses_network = true};
}

/// m × k elements of two bytes, read once.
constexpr kernel_work read_work(const std::int64_t* s, const operand_type& /*operand*/, string_ref /*variant*/) {
    return {0, 2 * real(s[0]) * real(s[1]), nullptr};
}
/// m × k elements of two bytes read, quantised ones written.
constexpr kernel_work quantise_work(const std::int64_t* s, const operand_type& o, string_ref /*variant*/) {
    return {0, (2 + o.weight_bytes) * real(s[0]) * real(s[1]), nullptr};
}
/// m × k elements read and as many written.
constexpr kernel_work row_work(const std::int64_t* s, const operand_type& o, string_ref /*variant*/) {
    return {0, 2 * o.weight_bytes * real(s[0]) * real(s[1]), nullptr};
}
/// m × k elements written: bytes of all that are moved, as the operation does where nobody says; products belong to
/// sums.
constexpr kernel_work map_work(const std::int64_t* s, const operand_type& o, string_ref variant) {
    const double moved = s[2] != 0 ? real(s[2]) : find_elementwise_operation(variant).moved * real(s[0]) * real(s[1]);
    return {.flops = 2 * real(s[4]),
            .bytes = o.weight_bytes * moved,
            .compute_unit = s[4] != 0 ? o.unit : nullptr,
            .additions = real(s[3])};
}
constexpr typical_interval around_map(string_ref variant) { return find_elementwise_operation(variant).interval; }
/// n operations one behind the other in each thread.
constexpr kernel_work primitive_work(const std::int64_t* s, const operand_type& /*operand*/, string_ref variant) {
    return {.additions = additions_per_operation(variant) * real(s[0]) * real(s[1])};
}
constexpr kernel_work no_work(const std::int64_t* /*sizes*/, const operand_type& /*operand*/, string_ref /*variant*/) {
    return {};
}

}  // namespace llmcost::detail
