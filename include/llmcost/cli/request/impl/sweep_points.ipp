// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/request/sweep_points.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/sweep.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::cli {

LLMCOST_INLINE shard parse_shard(std::string_view option_name, std::string_view text) {
    constexpr std::int64_t max_shards = 1'000'000;
    const std::size_t slash = text.find('/');
    if (slash == std::string_view::npos) throw_usage(option_name, "expected K/N, e.g. 3/64, found " + quote(text));
    shard part;
    part.num_shards = parse_integer(option_name, text.substr(slash + 1), 1, max_shards);
    part.index = parse_integer(option_name, text.substr(0, slash), 0, max_shards);
    if (part.index >= part.num_shards)
        throw_usage(option_name, "expected K/N with K from 0 to N - 1, found " + quote(text));
    return part;
}

LLMCOST_INLINE sweep_points::sweep_points(const arguments& args, std::vector<std::int64_t> default_sequences,
                                          std::size_t num_devices)
    : default_sequences_(std::move(default_sequences)), num_devices_(num_devices) {
    constexpr std::size_t max_values = 100'000'000;
    const auto read = [&](const option_spec& o, std::int64_t minimum, std::vector<std::int64_t>& values) {
        if (args.has(o)) values = read_list_of_numbers(o.name, args.text(o), minimum, max_values);
    };
    read(option::batch, 1, batch_);
    read(option::sequence, 1, sequence_);
    read(option::past, 0, past_);
    constexpr std::int64_t max_points = std::int64_t{1} << 53;  // exact in the numbers of every reader
    size_ = static_cast<std::int64_t>(default_sequences_.size());
    for (const std::size_t n :
         {num_devices_, batch_.size(), std::max<std::size_t>(sequence_.size(), 1), past_.size()}) {
        if (size_ > max_points / static_cast<std::int64_t>(n)) throw_usage("sweep", "expected at most 2^53 points");
        size_ *= static_cast<std::int64_t>(n);
    }
}

LLMCOST_INLINE sweep_point sweep_points::operator[](std::int64_t i) const noexcept {
    auto rest = static_cast<std::size_t>(i);
    const auto next = [&](std::size_t n) {
        const std::size_t index = rest % n;
        rest /= n;
        return index;
    };
    sweep_point point;
    point.past = past_[next(past_.size())];
    if (!sequence_.empty()) point.sequence = sequence_[next(sequence_.size())];
    point.batch = batch_[next(batch_.size())];
    point.device = next(num_devices_);
    point.model = rest;
    if (sequence_.empty()) point.sequence = default_sequences_[point.model];
    return point;
}

LLMCOST_INLINE sweep_point sweep_points::largest(std::size_t model) const noexcept {
    const auto maximum = [](const std::vector<std::int64_t>& values) {
        return *std::max_element(values.begin(), values.end());
    };
    return {.model = model,
            .batch = maximum(batch_),
            .sequence = sequence_.empty() ? default_sequences_[model] : maximum(sequence_),
            .past = maximum(past_)};
}

}  // namespace llmcost::cli
