// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <llmcost/cuda/measured_table.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/latency/calibration.hpp>
#include <llmcost/latency/operator_types.hpp>

namespace llmcost::cuda {

/// One operator to be measured, by one kernel.
struct sweep_point {
    operator_shape shape;
    string_ref kernel;
};

/// What a sweep is made for.
struct sweep_options {
    const device* target = nullptr;  ///< its datasheet determines what takes too long, and how many units are filled
    std::vector<const operand_type*> products;  ///< operands that its products of weights take
    bool full = false;
    std::int64_t gpus = 1;
};

/// Seconds that a run may start points in: of five minutes or ten, what fitting leaves.
[[nodiscard]] constexpr double sweep_seconds(bool full) noexcept { return full ? 570 : 280; }

/// Launches in one graph: the size that counts launches, if the type has one; else ten milliseconds of them, from four
/// to twenty.
[[nodiscard]] inline int copies_of(const operator_shape& shape, double seconds) {
    for (std::size_t i = 0; i < shape.type->size_count; ++i)
        if (shape.type->sizes[i].is_launch_count) return static_cast<int>(shape.sizes[i]);
    return static_cast<int>(std::clamp(0.01 / seconds, 4.0, 20.0));
}

namespace detail {

/// The binary digits of a number, reversed after the point: 0, 1/2, 1/4, 3/4, … (van der Corput).
[[nodiscard]] constexpr double rotate_order(std::size_t i) noexcept {
    double value = 0, digit = 0.5;
    for (; i != 0; i /= 2, digit /= 2)
        if (i % 2 != 0) value += digit;
    return value;
}

/// Orders points so that any prefix covers every family, kernel, operand and variant, with sizes from their complete
/// range. It takes the first point of each group, then a share of each.
[[nodiscard]] inline std::vector<sweep_point> interleaved(const std::vector<sweep_point>& all) {
    std::map<std::tuple<const operator_type*, std::string, const operand_type*, std::string>, std::vector<std::size_t>>
        groups;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const operator_shape& s = all[i].shape;
        groups[{s.type, std::string(all[i].kernel), s.operand, std::string(s.variant)}].push_back(i);
    }
    std::vector<std::pair<double, std::size_t>> places;
    for (const auto& [key, members] : groups) {
        std::vector<std::pair<double, std::size_t>> ordered_members;
        for (std::size_t i = 0; i < members.size(); ++i) ordered_members.emplace_back(rotate_order(i), members[i]);
        std::sort(ordered_members.begin(), ordered_members.end());
        for (std::size_t i = 0; i < ordered_members.size(); ++i)
            places.emplace_back(static_cast<double>(i) / static_cast<double>(ordered_members.size()),
                                ordered_members[i].second);
    }
    std::sort(places.begin(), places.end());
    std::vector<sweep_point> out;
    for (const auto& [share, index] : places) out.push_back(all[index]);
    return out;
}

/// Collects the points that a GPU takes and that do not take too long.
class calibration_sweep_builder {
public:
    explicit calibration_sweep_builder(const sweep_options& options) : options_(options) {}

    /// A point for each of these kernels, where no tensor of it is too large.
    void add(string_ref family, string_ref operand, string_ref variant, std::initializer_list<std::int64_t> sizes,
             std::initializer_list<string_ref> kernels) {
        operator_shape s;
        s.type = find_operator_type(family);
        s.operand = find_operand_type(operand);
        s.variant = variant;
        std::copy(sizes.begin(), sizes.end(), s.sizes);
        const kernel_work work = s.work();
        if (!has_peak(*options_.target, work) || predicted_seconds(*options_.target, s, nullptr, {}) > longest) return;
        if (!work.uses_links && work.bytes > largest) return;
        for (const string_ref kernel : kernels) points_.push_back({s, kernel});
    }
    [[nodiscard]] std::vector<sweep_point> points() const { return interleaved(points_); }
    [[nodiscard]] const sweep_options& options() const { return options_; }

private:
    static constexpr double longest = 0.02;  ///< s
    static constexpr double largest = 6e9;   ///< bytes that are moved

    const sweep_options& options_;
    std::vector<sweep_point> points_;
};

template <std::size_t N>
[[nodiscard]] constexpr std::size_t subsample(const std::int64_t (&/*rows*/)[N][3], bool full) {
    return full ? N : (N + 1) / 2;
}

/// Weights as models have them by powers of two of rows, and one row more, so that the step of a tile shows; products
/// of activations by batches of heads.
inline void add_products(calibration_sweep_builder& to) {
    static constexpr std::int64_t weights[][3]{
        {4096, 4096}, {14336, 4096}, {1024, 1024},  {8192, 28672}, {2048, 8192}, {128256, 4096}, {5120, 1536},
        {1536, 7168}, {6144, 4096},  {28672, 8192}, {4096, 14336}, {1280, 8192}, {16384, 2048},  {10240, 10240}};
    const auto rows = [&](string_ref operand, std::size_t sites) {
        for (std::size_t i = 0; i < sites; ++i)
            for (std::int64_t m = 1; m <= 16384; m *= 2) {
                to.add("gemm", operand, "", {m, weights[i][0], weights[i][1]}, {"cublasLt"});
                if (m == 128 || m == 1024)
                    to.add("gemm", operand, "", {m + 1, weights[i][0], weights[i][1]}, {"cublasLt"});
            }
    };
    for (const operand_type* operand : to.options().products)
        rows(operand->name, subsample(weights, to.options().full));
    rows("float32", to.options().full ? 6 : 3);
    static constexpr std::int64_t sites[][3]{{1024, 128}, {128, 1024}, {4096, 128},
                                             {128, 4096}, {1024, 64},  {64, 1024}};
    for (const string_ref operand : {string_ref("bfloat16"), string_ref("float32")})
        for (std::size_t i = 0; i < subsample(sites, to.options().full); ++i)
            for (const std::int64_t batch : {8, 64, 512})
                for (const std::int64_t m : {1, 4, 16, 128, 1024})
                    if (to.options().full || m != 4)
                        to.add("batched_gemm", operand, "", {batch, m, sites[i][0], sites[i][1]}, {"cublasLt"});
}

/// Heads, those of keys and values, and a head's width, of models with and without shared keys.
inline void add_attention(calibration_sweep_builder& to) {
    static constexpr std::int64_t sites[][3]{{32, 8, 128}, {16, 16, 64}, {8, 4, 256},  {32, 32, 128},
                                             {64, 8, 128}, {8, 1, 128},  {16, 8, 256}, {12, 12, 64}};
    static constexpr std::int64_t encoders[][3]{{16, 16, 64}, {12, 12, 64}, {16, 16, 128}, {20, 20, 64}};
    const bool full = to.options().full;
    const auto prompt = [&](const std::int64_t(&s)[3], std::int64_t batch, std::int64_t length, std::int64_t past) {
        to.add("context_attention", "bfloat16", "bfloat16", {batch, length, s[0], s[1], s[2], 0, past},
               {"cudnn", "eager"});
    };
    for (std::size_t i = 0; i < subsample(sites, full); ++i) {
        const auto& s = sites[i];
        for (const std::int64_t batch : {1, 4, 16})
            for (const std::int64_t length : {128, 512, 1024, 2048, 4096, 8192, 16384})
                if (batch * length <= 32768) prompt(s, batch, length, 0);
        for (const std::int64_t length : {128, 512, 1024}) {
            prompt(s, 1, length, 4096);
            if (full) prompt(s, 1, length, 32768);
        }
        for (const std::int64_t batch : {1, 8, 64, 256})
            for (const std::int64_t past : {127, 511, 2047, 8191, 32767, 131071})
                to.add("generation_attention", "bfloat16", "bfloat16", {batch, past, s[0], s[1], s[2], 0},
                       {"cudnn", "eager"});
    }
    for (std::size_t i = 0; i < subsample(encoders, full); ++i) {
        const auto& s = encoders[i];
        for (const std::int64_t batch : {1, 8, 32})
            for (const std::int64_t length : {64, 256, 512, 577, 1024, 4096})  // 577 is not aligned
                if (full || length != 512)
                    to.add("full_attention", "bfloat16", "", {batch, length, s[0], s[1], s[2], length},
                           {"cudnn", "eager"});
    }
}

/// Rows from one to memory's bandwidth; `moved` is what a kernel reads and writes. Deviations of a width reach two
/// octaves
/// (`correction_table::find_position`), so a full sweep of reductions has a width between each two.
inline void add_rows(calibration_sweep_builder& to) {
    for (const std::int64_t k : {2048, 8192})
        for (std::int64_t m = 1; m <= 65536 && to.options().full; m *= 4) {
            for (const string_ref operand : {string_ref("bfloat16"), string_ref("float32")}) {
                to.add("norm", operand, "", {m, k}, {"rms_norm", "layer_norm"});
                to.add("softmax", operand, "", {m, k}, {"softmax"});
            }
            to.add("computescale", "fp8", "", {m, k}, {"absmax"});
            to.add("scale_matrix", "fp8", "", {m, k}, {"quantised"});
        }
    for (const std::int64_t k : {1024, 4096, 16384})
        for (std::int64_t m = 1; m <= 65536; m *= to.options().full ? 2 : 4) {
            for (const string_ref operand : {string_ref("bfloat16"), string_ref("float32")}) {
                to.add("norm", operand, "", {m, k}, {"rms_norm", "layer_norm"});
                to.add("softmax", operand, "", {m, k}, {"softmax"});
                const std::int64_t n = m * k;
                to.add("elementwise", operand, "map", {m, k, 2 * n}, {"scaled", "scaled_hot"});
                to.add("elementwise", operand, "add", {m, k, 3 * n}, {"added"});
                to.add("elementwise", operand, "silu_mul", {m, k, 3 * n}, {"silu_mul"});
                to.add("elementwise", operand, "gelu", {m, k, 2 * n}, {"gelu"});
                to.add("elementwise", operand, "copy", {m, k, 2 * n}, {"copied"});
                to.add("elementwise", operand, "rotary", {m, k, 2 * n + m * 128},
                       {"rotated"});  // cosines and sines of half a head
                to.add("elementwise", operand, "gather", {m, k, 2 * n}, {"gathered"});
            }
            to.add("computescale", "fp8", "", {m, k}, {"absmax"});
            to.add("scale_matrix", "fp8", "", {m, k}, {"quantised"});
        }
}

/// Chains in a few threads, whose time is that of an instruction's result; chains side by side that fill the GPU.
inline void add_primitives(calibration_sweep_builder& to) {
    const auto units = static_cast<std::int64_t>(to.options().target->num_compute_units);
    for (const vector_cost& primitive : vector_costs)
        for (const string_ref operand : {string_ref("float32"), string_ref("float16"), string_ref("bfloat16")}) {
            for (const std::int64_t n : {1024, 8192}) {
                for (const std::int64_t threads : {1, 32})  // a chain takes as long in each
                    to.add("primitive", operand, primitive.name, {n, threads}, {"chained"});
                for (const std::int64_t threads : {1024, 2048})
                    to.add("primitive", operand, primitive.name, {n, units * threads}, {"interleaved"});
            }
        }
    for (const string_ref issued : {string_ref("stream"), string_ref("graph")})
        for (const std::int64_t num_launches : {1, 2, 4, 10, 32, 100, 320, 1000})
            for (const std::int64_t blocks : {std::int64_t{1}, units})
                to.add("launch", "bfloat16", issued, {num_launches, blocks}, {"empty"});
}

/// Experts of mixtures as they are, tokens spread evenly and not.
inline void add_experts(calibration_sweep_builder& to) {
    struct mixture {
        std::int64_t hidden, inner, top_k, experts, tensor_parallel, expert_parallel;
    };
    static constexpr mixture mixtures[]{{4096, 14336, 2, 8, 2, 1},   {2048, 768, 8, 128, 1, 1},
                                        {7168, 2048, 8, 256, 1, 16}, {2880, 2880, 4, 32, 1, 1},
                                        {2048, 1408, 6, 64, 1, 1},   {4096, 1536, 8, 128, 1, 4}};
    for (std::size_t i = 0; i < (to.options().full ? std::size(mixtures) : 3); ++i)
        for (const string_ref spread : {string_ref("balanced"), string_ref("power_law_1.2")})
            for (const std::int64_t tokens : {1, 4, 16, 64, 256, 1024, 4096, 16384}) {
                const mixture& m = mixtures[i];
                to.add("moe", "bfloat16", spread,
                       {tokens, m.hidden, m.inner, m.top_k, m.experts, m.tensor_parallel, m.expert_parallel},
                       {"cublas_grouped"});
            }
}

/// Messages from a kilobyte to a gigabyte, among two GPUs and twice as many each.
inline void add_collectives(calibration_sweep_builder& to) {
    for (std::int64_t gpus = 2; gpus <= to.options().gpus; gpus *= 2)
        for (const string_ref collective_name :
             {string_ref("all_reduce"), string_ref("all_gather"), string_ref("reduce_scatter"), string_ref("alltoall")})
            for (std::int64_t n = 512; n <= std::int64_t{1} << 29; n *= to.options().full ? 2 : 4)
                to.add("nccl", "bfloat16", collective_name, {n, gpus}, {"nccl"});
}

}  // namespace detail

/// The operators of a calibration, families interleaved: products, attention, rows, experts, primitives, launches and,
/// among several GPUs, collectives. `full` has about twice as many.
[[nodiscard]] inline std::vector<sweep_point> calibration_sweep(const sweep_options& options) {
    detail::calibration_sweep_builder to(options);
    detail::add_products(to);
    detail::add_attention(to);
    detail::add_rows(to);
    detail::add_experts(to);
    detail::add_primitives(to);
    detail::add_collectives(to);
    return to.points();
}

/// What became of a sweep's points.
struct sweep_report {
    std::size_t known = 0;                       ///< measured by an earlier run
    std::size_t measured = 0;                    ///< now
    std::size_t left_out = 0;                    ///< no time was left
    std::map<std::string, std::size_t> refused;  ///< why, and how many
};

/// Measures points in their order until the budget is used: `clock()` is the seconds since the run began,
/// `known(point)` whether an earlier one has it; `measure(point)` returns why the point was refused, nothing where it
/// was not.
template <class Clock, class Known, class Measure>
[[nodiscard]] sweep_report measure_sweep(const std::vector<sweep_point>& sweep, double budget, Clock clock, Known known,
                                         Measure measure) {
    sweep_report done;
    for (const sweep_point& p : sweep) {
        if (known(p)) {
            ++done.known;
        } else if (clock() >= budget) {
            ++done.left_out;
        } else if (const std::string reason = measure(p); reason.empty()) {
            ++done.measured;
        } else {
            ++done.refused[reason];
        }
    }
    return done;
}

}  // namespace llmcost::cuda
