// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/latency/elementwise.hpp>
#include <llmcost/latency/operand_types.hpp>
#include <llmcost/latency/vector_units.hpp>

// The work of each operator type as a function of its sizes.
namespace llmcost::detail {

constexpr double real(std::int64_t n) noexcept { return static_cast<double>(n); }

/// The fraction of a matrix unit's peak that rows of `elements` elements permit.
///
/// It depends on the largest power of two that divides the bytes of a row. cuBLAS uses narrower loads, or another
/// kernel, for rows that are not aligned to 16 bytes. Without padding, a vocabulary of 50,257 tokens takes seven times
/// as long as one of 50,304.
///
/// Source: NVIDIA, Matrix Multiplication Background User's Guide, "Tensor Core Requirements"; fractions: PyTorch 2.11
/// on an H200, products of GPT-2's head (50,257) and BERT's (30,522), tests/torch/h200_steps.jsonl.gz.
constexpr double aligned_fraction(std::int64_t elements, const operand_type& o) {
    const auto bytes = static_cast<std::int64_t>(real(elements) * o.weight_bytes);
    return bytes % 16 == 0 ? 1 : bytes % 8 == 0 ? 0.75 : bytes % 4 == 0 ? 0.29 : 0.14;
}
/// Whether a type is multiplied by matrix units as it is stored.
constexpr bool has_alignment(const operand_type& o) {
    return o.unit != &device::fp32 && (o.weight_bytes == 2 || o.weight_bytes == 1) &&
           o.weight_bytes == o.activation_bytes;
}
/// Sizes m, n, k. FLOPs: 2·m·n·k. Bytes: both operands, and a result in the activation type. Rows of the operands have
/// k elements, those of the result n.
constexpr kernel_work gemm_work(const std::int64_t* s, const operand_type& o, string_ref /*variant*/) {
    const double m = real(s[0]), n = real(s[1]), k = real(s[2]);
    kernel_work work{2 * m * n * k, o.activation_bytes * (m * k + m * n) + o.weight_bytes * n * k, o.unit};
    if (has_alignment(o)) {
        const double of_result = aligned_fraction(s[1], o), of_operands = aligned_fraction(s[2], o);
        work.aligned_fraction = of_result < of_operands ? of_result : of_operands;
    }
    return work;
}
/// A batch of products with separate operands.
constexpr kernel_work batched_gemm_work(const std::int64_t* s, const operand_type& o, string_ref variant) {
    kernel_work one = gemm_work(s + 1, o, variant);
    one.flops *= real(s[0]);
    one.bytes *= real(s[0]);
    one.aligned_fraction = 1;  // the layout of activations is not known
    return one;
}

/// Query-key pairs under a causal mask: `fresh` new tokens after `past` cached ones, with an optional sliding window.
constexpr double visible_pairs(double fresh, double past, double window) {
    const double all = fresh * past + fresh * (fresh + 1) / 2;
    if (window <= 0 || window >= past + fresh) return all;
    const double growing = window > past ? window - past : 0;  // tokens with fewer than `window` keys
    return growing * past + growing * (growing + 1) / 2 + (fresh - growing) * window;
}
/// Bytes of an element of the KV cache; 2 for an unknown type.
constexpr double cached_bytes(string_ref variant) {
    const operand_type* row = find_operand_type(variant);
    return row == nullptr ? 2 : row->weight_bytes;
}
/// Divides work into tiles of 64 queries, each processed by one unit with all its keys.
///
/// In each head, the last tile is the largest and the first the smallest.
/// Source: FlashAttention-2, arXiv 2307.08691, section 3.3.
constexpr void divide_in_tiles(kernel_work& work, double of_pair, double heads, double fresh, double past) {
    constexpr std::int64_t queries = 64;
    const std::int64_t tiles = (static_cast<std::int64_t>(fresh) + queries - 1) / queries;
    work.num_tiles = heads * real(tiles);
    work.max_tile_flops = of_pair * real(queries) * (past + fresh);
    work.min_tile_flops = of_pair * real(queries) * (past + (tiles > 1 ? real(queries) : fresh));
}
/// Fused attention. FLOPs: 4·batch·heads·head_dim·pairs. Bytes: queries, output, visible keys and values.
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
        divide_in_tiles(work, 4 * real(s[4]), real(s[0]) * real(s[2]), real(s[1]),
                        real(s[6]));  // a window bounds the keys of a tile
    return work;
}
constexpr kernel_work generation_attention_work(const std::int64_t* s, const operand_type& o, string_ref variant) {
    return attention_work(real(s[0]), 1 + real(s[6]), real(s[1]), s + 2, o, variant);
}

/// Bidirectional attention. FLOPs: 4·batch·heads·head_dim·queries·length.
constexpr kernel_work full_attention_work(const std::int64_t* s, const operand_type& o, string_ref /*variant*/) {
    const double batch = real(s[0]), queries = real(s[1]), heads = real(s[2]), kv_heads = real(s[3]),
                 width = real(s[4]);
    const double length = real(s[5]);
    return {4 * batch * heads * width * queries * length,
            2 * batch * width * (2 * queries * heads + 2 * length * kv_heads), o.unit};
}

// DeepSeek V2 and V3: queries and keys of 128 + 64 elements, values of 128, a latent of 512 + 64.
constexpr kernel_work context_mla_work(const std::int64_t* s, const operand_type& o, string_ref variant) {
    const double batch = real(s[0]), fresh = real(s[1]), heads = real(s[2]), past = real(s[3]);
    kernel_work work{2 * batch * heads * visible_pairs(fresh, past, 0) * (192 + 128),
                     2 * batch * heads * (fresh * (192 + 128) + (past + fresh) * (192 + 128)) +
                         batch * fresh * 576 * cached_bytes(variant),
                     o.unit};
    divide_in_tiles(work, 2 * (192 + 128), batch * heads, fresh, past);
    return work;
}
/// In the latent space: every head reads the 576 elements of a token as keys, and the first 512 as values.
constexpr kernel_work generation_mla_work(const std::int64_t* s, const operand_type& o, string_ref variant) {
    const double batch = real(s[0]), past = real(s[1]), heads = real(s[2]), fresh = 1 + real(s[3]);
    return {2 * batch * heads * visible_pairs(fresh, past, 0) * (576 + 512),
            batch * ((past + fresh) * 576 * cached_bytes(variant) + 2 * fresh * heads * (576 + 512)), o.unit};
}

/// Linear attention with a state (key_dim, value_dim) per head, read and written once in 32 bits.
///
/// Several tokens are processed in chunks of C tokens. FLOPs per head and token: 2·C·(key_dim + value_dim) within the
/// chunk, 4·key_dim·value_dim for the state. `delta` adds a product of keys and a product with the inverse of their
/// system: 2·C·(2·key_dim + value_dim).
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

/// Routed experts of one device: tokens · top_k rows, divided over expert-parallel ranks, with three matrices
/// (hidden, inner).
///
/// Bytes: all experts that receive rows. A power-law distribution activates fewer, so the minimum is certain only for
/// `balanced`.
constexpr kernel_work moe_work(const std::int64_t* s, const operand_type& o, string_ref variant) {
    const double tokens = real(s[0]), hidden = real(s[1]), top_k = real(s[3]), tp = real(s[5]), ep = real(s[6]);
    const double inner = real(s[2]) / tp, experts = real(s[4]) / ep, rows = tokens * top_k / ep;
    const double active_experts = rows < experts ? rows : experts;
    return {6 * rows * hidden * inner,
            3 * active_experts * hidden * inner * o.weight_bytes + o.activation_bytes * hidden * (tokens + rows) +
                2 * o.activation_bytes * rows * inner,
            o.unit, false, variant == "balanced" ? 1.0 : 0.0};
}

/// Ring collective: each device sends (g - 1) / g of the message, twice in an all-reduce. A switch may save half.
constexpr kernel_work collective_work(const std::int64_t* s, const operand_type& o, string_ref variant) {
    const double devices = real(s[1]), bytes = real(s[0]) * o.weight_bytes * (devices - 1) / devices;
    const bool twice = variant == "all_reduce";
    return {0, twice ? 2 * bytes : bytes, nullptr, true, 0.5};
}
constexpr kernel_work all_reduce_work(const std::int64_t* s, const operand_type& o, string_ref /*variant*/) {
    return collective_work(s, o, "all_reduce");
}

/// Copies of a token that leave a device, of `groups` devices or nodes.
///
/// `low_latency`: one copy for each selected expert. `high_throughput`: one copy for each group with selected experts,
/// which are drawn independently: g · (1 − (1 − 1/g)^k). A part of 1/g stays.
/// Source: deepseek-ai/DeepEP @0297fc80, csrc/kernels/internode_ll.cu, intranode.cu and internode.cu.
constexpr double sent_copies(double top_k, double groups, string_ref variant) {
    double copies = top_k;
    if (variant == "high_throughput") {
        double missed = 1;
        for (double i = 0; i < top_k; ++i) missed *= 1 - 1 / groups;
        copies = groups * (1 - missed);
    }
    return copies * (groups - 1) / groups;
}
/// Bytes of an element that is dispatched or combined: 8 bits with a float32 scale for 128 elements, or 16 bits.
/// Source: deepseek-ai/DeepEP @0297fc80, csrc/kernels/internode_ll.cu, `num_bytes_per_msg`.
constexpr double dispatched_bytes(const operand_type& o) {
    return o.unit == &device::fp8 ? 1 + 4.0 / 128 : o.activation_bytes;
}
/// Tokens from a device to the experts of other devices, or their results back, over links.
constexpr kernel_work expert_all_to_all_work(const std::int64_t* s, const operand_type& o, string_ref variant) {
    return {.bytes = sent_copies(real(s[2]), real(s[3]), variant) * dispatched_bytes(o) * real(s[0]) * real(s[1]),
            .uses_links = true,
            .min_fraction = 0.5};
}
/// Tokens from a device to the experts of other nodes, or their results back. Transfers within nodes are concurrent.
constexpr kernel_work network_all_to_all_work(const std::int64_t* s, const operand_type& o, string_ref variant) {
    return {.bytes = sent_copies(real(s[2]), real(s[3]), variant) * dispatched_bytes(o) * real(s[0]) * real(s[1]),
            .uses_links = true,
            .uses_network = true};
}

/// One step of a tree collective between nodes: the part of a message that each device sends.
constexpr kernel_work network_work(const std::int64_t* s, const operand_type& o, string_ref /*variant*/) {
    const double nodes = real(s[1]);
    double steps = 1;
    for (double reached = 2; reached < nodes; reached *= 2) ++steps;
    return {.bytes = real(s[0]) * o.weight_bytes / real(s[2]) * (nodes - 1) / nodes / steps,
            .uses_links = true,
            .uses_network = true};
}

/// m · k elements of two bytes, read once.
constexpr kernel_work read_work(const std::int64_t* s, const operand_type& /*operand*/, string_ref /*variant*/) {
    return {0, 2 * real(s[0]) * real(s[1]), nullptr};
}
/// m · k elements of two bytes read, quantized elements written.
constexpr kernel_work quantise_work(const std::int64_t* s, const operand_type& o, string_ref /*variant*/) {
    return {0, (2 + o.weight_bytes) * real(s[0]) * real(s[1]), nullptr};
}
/// m · k elements read and written.
constexpr kernel_work row_work(const std::int64_t* s, const operand_type& o, string_ref /*variant*/) {
    return {0, 2 * o.weight_bytes * real(s[0]) * real(s[1]), nullptr};
}
/// m · k elements written. Bytes: `moved`, by default that of the operation. `products` belong to fused sums.
constexpr kernel_work map_work(const std::int64_t* s, const operand_type& o, string_ref variant) {
    const double moved = s[2] != 0 ? real(s[2]) : find_elementwise_operation(variant).moved * real(s[0]) * real(s[1]);
    return {.flops = 2 * real(s[4]),
            .bytes = o.weight_bytes * moved,
            .compute_unit = s[4] != 0 ? o.unit : nullptr,
            .additions = real(s[3])};
}
constexpr typical_interval around_map(string_ref variant) { return find_elementwise_operation(variant).interval; }
/// n sequential operations in each thread: few threads take the time of the chain, many that of the vector units.
constexpr kernel_work primitive_work(const std::int64_t* s, const operand_type& /*operand*/, string_ref variant) {
    const double chain = additions_per_operation(variant) * real(s[0]);
    return {.additions = chain * real(s[1]), .dependent_additions = chain};
}
/// A sequence of empty kernels: 4 µs for each launch after the first one.
constexpr kernel_work launch_work(const std::int64_t* s, const operand_type& /*operand*/, string_ref /*variant*/) {
    return {.sequential_seconds = 4e-6 * (real(s[0]) - 1)};
}

}  // namespace llmcost::detail
