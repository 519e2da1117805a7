// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/cli/args/arguments.hpp>

// The points of `llmcost sweep`: all combinations of models, devices and workloads, and their partition into shards.
namespace llmcost::cli {

/// One of `num_shards` parts of the points: consecutive points, as equal in number as possible.
struct shard {
    std::int64_t index = 0;
    std::int64_t num_shards = 1;

    /// The first point; the shard ends where the next one begins. Rows k·n/s to (k + 1)·n/s of n, without overflow.
    [[nodiscard]] constexpr std::int64_t begin(std::int64_t num_points) const noexcept { return at(num_points, index); }
    [[nodiscard]] constexpr std::int64_t end(std::int64_t num_points) const noexcept {
        return at(num_points, index + 1);
    }

private:
    [[nodiscard]] constexpr std::int64_t at(std::int64_t num_points, std::int64_t k) const noexcept {
        const std::int64_t quotient = num_points / num_shards, remainder = num_points % num_shards;
        return k * quotient + k * remainder / num_shards;
    }
};

/// Parses `K/N` with 0 <= K < N. Throws: `usage`.
[[nodiscard]] shard parse_shard(std::string_view option_name, std::string_view text);

/// The values of a point. `model` and `device` are indices.
struct sweep_point {
    std::size_t model = 0;
    std::size_t device = 0;
    std::int64_t batch = 1;
    std::int64_t sequence = 1;
    std::int64_t past = 0;

    friend constexpr bool operator==(const sweep_point&, const sweep_point&) = default;
};

/// The combinations of all lists of a command line. The last of model, device, batch, sequence and past varies fastest.
class sweep_points {
public:
    /// Parses the lists. `default_sequences` has the sequence of each model without `--sequence`. Throws: `usage`.
    sweep_points(const arguments& args, std::vector<std::int64_t> default_sequences, std::size_t num_devices);

    [[nodiscard]] std::int64_t size() const noexcept { return size_; }
    [[nodiscard]] sweep_point operator[](std::int64_t i) const noexcept;
    /// The largest batch, sequence and past tokens of a model, whether or not they are one point.
    [[nodiscard]] sweep_point largest(std::size_t model) const noexcept;

private:
    std::vector<std::int64_t> default_sequences_;
    std::size_t num_devices_ = 1;
    std::vector<std::int64_t> batch_{1};
    std::vector<std::int64_t> sequence_{};  ///< empty: the default of the model
    std::vector<std::int64_t> past_{0};
    std::int64_t size_ = 0;
};

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/request/impl/sweep_points.ipp>  // IWYU pragma: export
#endif
