// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/distributed/ddp_buckets.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/memory/tape.hpp>

namespace llmcost {

LLMCOST_INLINE std::vector<ddp_bucket> ddp_buckets_of(const tape& pass, const std::vector<std::int32_t>& gradient_order,
                                                      std::uint64_t limit_bytes) {
    constexpr std::uint64_t mebibyte = 1024 * 1024, first_limit = mebibyte, other_limit = 25 * mebibyte;
    struct open_bucket {
        ddp_bucket bucket;
        bool is_first = true;  ///< of its type
    };
    std::vector<ddp_bucket> out;
    std::vector<open_bucket> open;  // one for each type
    for (const std::int32_t i : gradient_order) {
        const tape_parameter& p = pass.parameters[static_cast<std::size_t>(i)];
        auto place = std::ranges::find(open, p.type, [](const open_bucket& o) { return o.bucket.type; });
        if (place == open.end()) {
            open.push_back({.bucket = {.bytes = 0, .type = p.type}});
            place = open.end() - 1;
        }
        place->bucket.bytes += p.bytes;
        place->bucket.parameters.push_back(i);
        const std::uint64_t limit = limit_bytes > 0 ? limit_bytes : place->is_first ? first_limit : other_limit;
        if (place->bucket.bytes < limit) continue;
        out.push_back(std::exchange(place->bucket, {.bytes = 0, .type = p.type}));
        place->is_first = false;
    }
    for (open_bucket& o : open)
        if (!o.bucket.parameters.empty()) out.push_back(std::move(o.bucket));
    return out;
}

}  // namespace llmcost
