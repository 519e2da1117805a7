// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/ops.hpp>
#include <llmcost/scope.hpp>
#include <llmcost/string_ref.hpp>
#include <llmcost/value.hpp>

namespace llmcost {

class recorder;

/// What a workload can be moved along; `total` is past + sequence.
enum class axis : std::uint8_t { batch, sequence, past, total };

/// Where the figures of a model bend: between `at − 1` and `at` on an axis they may follow another polynomial.
struct region_edges {
    static constexpr int most = 32;
    struct edge {
        axis along = axis::batch;
        std::int64_t at = 0;
    };
    edge of[most]{};
    int n = 0;
    std::int64_t chunk = 0;  ///< sequences are padded to a multiple of this; 0: they are not
    bool complete = true;    ///< false where there were more than can be told

    constexpr void add(axis along, std::int64_t at) noexcept {
        for (int i = 0; i < n; ++i)
            if (of[i].along == along && of[i].at == at) return;
        if (n < most)
            of[n++] = {along, at};
        else
            complete = false;
    }
};

/// One executed operation, as a listener sees it.
struct operation {
    op kind;
    count work;
    count rows;
    const value* const* inputs;
    int input_count;
    const value& output;

    /// Elements that it reads from memory if nothing is kept in caches or registers from one operation to the next.
    [[nodiscard]] constexpr count elements_read() const {
        const reads what = price_of(kind).read;
        count n;
        for (int i = 0; i < input_count && what != reads::nothing; ++i)
            n += count(i == 0 && what == reads::picked ? output.elements : inputs[i]->distinct_elements());
        return n;
    }
    /// Elements that it writes: its output, also where that lies in a tensor that was there.
    [[nodiscard]] constexpr count elements_written() const { return count(output.elements); }
};

/// Whoever wants more of a walk than its sums: scopes, tensors, operations, in the order of the forward pass.
///
/// With a listener every layer is walked by itself, so that each has its own path.
class listener {
public:
    virtual void enter(const recorder&, const module_info&) {}
    virtual void leave(const recorder&, const module_info&) {}
    virtual void parameter(const recorder&, literal /*name*/, const value&, bool /*tied*/) {}
    virtual void executed(const recorder&, const operation&) {}
    virtual void cached(const recorder&, const value&) {}

protected:
    ~listener() = default;
};

}  // namespace llmcost
